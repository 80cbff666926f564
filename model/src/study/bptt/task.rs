//! Recall over gaps of many lengths.

use unroll_protocol::study::bptt::SYMBOLS;

use crate::{
    Recall, SequenceBatch, Split, Task, TaskError,
    random::{Purpose, stream, unit},
};

/// Gaps at which accuracy is measured, up to the longest of a task.
const MEASURED: [usize; 12] = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50];

/// [`Recall`] with a different gap in every sequence. All sequences have the same length, with the
/// symbol at the position that the gap requires.
pub struct Gaps {
    seed: u32,
    longest: usize,
    length: usize,
    measured: Vec<usize>,
}

impl Gaps {
    pub fn new(seed: u32, longest: usize, length: usize) -> Result<Self, TaskError> {
        Recall::new(SYMBOLS as usize, longest, length)?;
        let shorter = MEASURED.into_iter().filter(|&gap| gap < longest);
        let measured = shorter.chain([longest]).collect();
        Ok(Self { seed, longest, length, measured })
    }

    /// The gaps at which accuracy is measured.
    pub fn measured(&self) -> &[usize] {
        &self.measured
    }

    /// Every token as text, by id.
    pub fn symbols(&self) -> Vec<String> {
        self.task(self.longest).symbols()
    }

    fn task(&self, gap: usize) -> Recall {
        let task = Recall::new(SYMBOLS as usize, gap, self.length);
        task.expect("shorter than the longest, which fits")
    }

    /// The batch of one training step. Gaps are drawn evenly on a log scale, so that 1 to 5 are
    /// about as frequent as 6 to 30: from long gaps alone no network learns much in a minute.
    pub fn training(&self, step: u32, rows: usize) -> SequenceBatch {
        let mut rng = stream(self.seed, Purpose::RecallGaps, [step, 0, 0]);
        let mut whole = SequenceBatch::with_capacity(rows, self.length);
        for row in 0..rows {
            let ln = libm::log((self.longest + 1) as f64);
            let gap = (libm::exp(unit(&mut rng) * ln) as usize).clamp(1, self.longest);
            let place = step.wrapping_mul(rows as u32).wrapping_add(row as u32);
            let one = self.task(gap).batch(self.seed, Split::Training, place, 1);
            whole.inputs.extend(one.inputs);
            whole.targets.extend(one.targets);
            whole.weights.extend(one.weights);
        }
        whole
    }

    /// Held-out sequences of one gap, the same each time.
    pub fn held_out(&self, gap: usize, rows: usize) -> SequenceBatch {
        self.task(gap).batch(self.seed, Split::HeldOut, gap as u32, rows)
    }

    /// Held-out sequences of the longest gap, and the step of the symbol, counted from 0.
    pub fn probe(&self, rows: usize) -> (SequenceBatch, usize) {
        (self.held_out(self.longest, rows), self.task(self.longest).position())
    }
}
