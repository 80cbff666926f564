//! Repeat the n-th symbol.

use unroll_protocol::study::position::CountFrom;

use super::{Kind, SequenceBatch, Split, Task, TaskError, draws, letters};
use crate::random::below;

/// `length` random symbols and a number `n`, at which the n-th symbol is asked for.
///
/// Which symbols occur says nothing about their order: a model without positions can at best name
/// the most common one ([`by_counting`](Self::by_counting)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NthSymbol {
    symbols: usize,
    length: usize,
    most: usize,
    from: CountFrom,
}

impl NthSymbol {
    /// Sequences of `length` symbols out of `symbols`. Number tokens go up to `most`, and those up
    /// to `length` are asked for.
    pub fn new(
        symbols: usize,
        length: usize,
        most: usize,
        from: CountFrom,
    ) -> Result<Self, TaskError> {
        if symbols < 2 {
            return Err(TaskError::TooFewSymbols { symbols });
        }
        if length == 0 || most == 0 {
            return Err(TaskError::TooShort { length: length.min(most), least: 1 });
        }
        Ok(Self { symbols, length, most, from })
    }

    /// The token of the number `n`, from 1.
    pub fn number(&self, n: usize) -> u32 {
        (self.symbols + n - 1) as u32
    }

    /// Position of the symbol that number `n` asks for, from 0.
    pub fn asked(&self, n: usize) -> usize {
        match self.from {
            CountFrom::Start => n - 1,
            CountFrom::End => self.length - n,
        }
    }

    /// The best accuracy in a batch for those who know how often each symbol occurs but nothing
    /// about order.
    pub fn by_counting(&self, batch: &SequenceBatch) -> f64 {
        let rows = batch.inputs.chunks(self.length + 1);
        let right = rows.map(|row| {
            let asked = self.most.min(self.length);
            let reach = (1..=asked).map(|n| row[self.asked(n)]);
            let mut counts = vec![0usize; self.symbols];
            for symbol in &row[..self.length] {
                counts[*symbol as usize] += 1;
            }
            // Ties go to the first symbol.
            let most = counts.iter().copied().max().unwrap_or(0);
            let guess = counts.iter().position(|&count| count == most).unwrap_or(0);
            reach.filter(|&symbol| symbol as usize == guess).count() as f64 / asked as f64
        });
        right.sum::<f64>() / batch.rows.max(1) as f64
    }
}

impl Task for NthSymbol {
    fn vocabulary(&self) -> usize {
        self.symbols + self.most
    }

    fn outputs(&self) -> usize {
        self.symbols
    }

    fn length(&self) -> usize {
        self.length + 1
    }

    fn symbols(&self) -> Vec<String> {
        let mut symbols = letters('a', self.symbols);
        symbols.extend((1..=self.most).map(|n| n.to_string()));
        symbols
    }

    fn answers(&self) -> Vec<String> {
        letters('a', self.symbols)
    }

    fn chance(&self) -> f64 {
        1.0 / self.symbols as f64
    }

    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch {
        let mut rng = draws(Kind::NthSymbol, seed, split, step);
        let mut batch = SequenceBatch::with_capacity(rows, self.length + 1);
        for _ in 0..rows {
            let start = batch.inputs.len();
            for _ in 0..self.length {
                batch.push(below(&mut rng, self.symbols) as u32, 0, false);
            }
            let n = 1 + below(&mut rng, self.most.min(self.length));
            let answer = batch.inputs[start + self.asked(n)];
            batch.push(self.number(n), answer, true);
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_nth_symbol() {
        for (from, length, most) in
            [(CountFrom::Start, 5, 8), (CountFrom::End, 5, 8), (CountFrom::End, 9, 4)]
        {
            let task = NthSymbol::new(6, length, most, from).unwrap();
            let batch = task.batch(3, Split::Training, 1, 200);
            let rows = batch.inputs.chunks(length + 1).zip(batch.targets.chunks(length + 1));
            let mut largest = 0;
            for (inputs, targets) in rows {
                let n = inputs[length] as usize - 6 + 1;
                largest = largest.max(n);
                let at = if from == CountFrom::Start { n - 1 } else { length - n };
                assert_eq!(inputs[at], targets[length]);
                assert!(inputs[..length].iter().all(|&symbol| symbol < 6));
            }
            assert_eq!(largest, most.min(length));
            assert_eq!(batch.weights.iter().sum::<f32>(), 200.0);
            let share = task.by_counting(&batch);
            assert!(share > task.chance() && share < 0.5, "{share}");
        }
        assert!(NthSymbol::new(1, 5, 5, CountFrom::Start).is_err());
        assert!(NthSymbol::new(4, 0, 5, CountFrom::Start).is_err());
    }
}
