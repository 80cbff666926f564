//! One quantity of every unit at every step, and the predictions.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    study::gates::{Forced, Guess, MOST_SHUT, Outcome, Quantity, Seen, Sentence, Shut},
};

use super::{
    Refusal, Study,
    forces::{Forces, gate},
    task::Reading,
};
use crate::{Force, Gate, RecurrentTrace, RunOptions, read_all, token_tensor};

/// `[1, T, units]` as `[units, T]`.
fn by_unit(tensor: Tensor<3>) -> Tensor<1> {
    tensor.swap_dims(1, 2).reshape([-1])
}

/// The state that a unit carries on: c, or a GRU's h.
pub fn memory(trace: &RecurrentTrace) -> Tensor<3> {
    trace.cell.clone().unwrap_or_else(|| trace.hidden.clone())
}

/// A quantity's values and, if it has two parts, those.
fn parts(trace: &RecurrentTrace, quantity: Quantity) -> Vec<Tensor<3>> {
    let value = |gate| trace.gate(gate).value;
    if let Some(gate) = gate(quantity) {
        let gate = trace.gate(gate);
        return vec![gate.value, gate.from_input, gate.from_state];
    }
    match (&trace.cell, &trace.previous_cell) {
        (Some(cell), Some(previous)) if quantity == Quantity::Cell => vec![
            cell.clone(),
            value(Gate::Input) * value(Gate::Candidate),
            value(Gate::Forget) * previous.clone(),
        ],
        (Some(_), _) if trace.unprojected.is_some() => vec![trace.hidden.clone()],
        (Some(cell), _) => {
            vec![trace.hidden.clone(), value(Gate::Output), cell.clone().tanh()]
        }
        (None, _) => {
            let update = value(Gate::Update);
            vec![
                trace.hidden.clone(),
                (update.clone().neg() + 1.0) * value(Gate::Candidate),
                update * trace.previous.clone(),
            ]
        }
    }
}

impl Study {
    /// How good the predictions are with one gate of each of `units` shut, unit by unit.
    pub async fn shut(
        &self,
        sentence: &Sentence,
        gate: Quantity,
        units: &[u32],
    ) -> Result<Shut, Refusal> {
        let gate = gate.of(self.spec.cell);
        let reading = self.task.reading(sentence, self.spec.seed)?;
        let units = &units[..units.len().min(MOST_SHUT)];
        // One run for all: row 0 is as learned, and row u has the gate of unit u - 1 of `units` shut.
        let rows = units.len() + 1;
        let mut options = RunOptions::default();
        for (row, &unit) in (1..).zip(units) {
            let forced = Forced { gate, unit: unit.saturating_add(1), open: false, from: 1 };
            let forces = self.forces(&[forced], reading.ids.len());
            if let Some(problem) = forces.left_out.first() {
                return Err(Refusal(problem.clone()));
            }
            let of_row = |force| Force { row: Some(row), ..force };
            options.forced.extend(forces.forces.into_iter().map(of_row));
        }
        let tokens = token_tensor(&reading.ids.repeat(rows), rows, &self.device);
        let probabilities = softmax(self.model().run(tokens, &options).logits, 2).reshape([-1]);
        let read = read_all([probabilities]).await?.remove(0);
        let outputs = self.task.outputs();
        let outcome = |probabilities: &[f32]| outcome(probabilities, outputs, &reading.right);
        let mut outcomes: Vec<Outcome> =
            read.chunks(reading.ids.len() * outputs).map(outcome).collect();
        let free = outcomes.remove(0);
        let step = self.training.learners()[0].steps();
        Ok(Shut { step, gate, units: units.to_vec(), free, outcomes })
    }

    /// One traced run over the reading, with the probabilities of the answers, `[T * outputs]`.
    fn run(&self, reading: &Reading, forces: &Forces) -> (RecurrentTrace, Tensor<1>) {
        let tokens = token_tensor(&reading.ids, 1, &self.device);
        let options = RunOptions { forced: forces.forces.clone(), ..RunOptions::default() };
        let mut trace = self.model().forward_traced(tokens, &options);
        let layer = trace.layers.remove(0).forward;
        (layer, softmax(trace.logits, 2).reshape([-1]))
    }

    pub async fn seen(
        &self,
        sentence: &Sentence,
        quantity: Quantity,
        forced: &[Forced],
    ) -> Result<Seen, Refusal> {
        let cell = self.spec.cell;
        let quantity = quantity.of(cell);
        let reading = self.task.reading(sentence, self.spec.seed)?;
        let length = reading.ids.len();
        let forces = self.forces(forced, length);
        let (trace, probabilities) = self.run(&reading, &forces);
        let mut wanted = vec![by_unit(memory(&trace)), probabilities];
        let parts = parts(&trace, quantity);
        let counted = parts.len();
        wanted.extend(parts.into_iter().map(by_unit));
        if !forces.is_empty() {
            let (trace, probabilities) = self.run(&reading, &Forces::default());
            wanted.extend([by_unit(memory(&trace)), probabilities]);
        }
        let mut read = read_all(wanted).await?.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let array = |values: Vec<f32>| Array {
            shape: vec![(values.len() / length) as u32, length as u32],
            values,
        };
        let (memory, probabilities, values) = (array(next()), next(), array(next()));
        let from_input = (counted > 1).then(|| array(next()));
        let from_state = (counted > 1).then(|| array(next()));
        let free = (!forces.is_empty()).then(|| (array(next()), next()));
        let (free_memory, free_probabilities) = free.unzip();

        let outputs = self.task.outputs();
        let guesses = |probabilities: &[f32]| guesses(probabilities, outputs, &reading.right);
        let free_guesses = free_probabilities.as_deref().map(guesses);
        let guesses = guesses(&probabilities);
        let units = values.shape[0];
        let held = |unit, at| forces.holds(quantity, unit as usize, at as usize);
        let cells = (0..units).flat_map(|unit| (0..length as u32).map(move |at| (unit, at)));
        Ok(Seen {
            cell,
            step: self.training.learners()[0].steps(),
            dropped: reading.dropped,
            quantity,
            values,
            from_input,
            from_state,
            memory,
            free_memory,
            answers: self.task.answers(),
            loss: loss(&guesses),
            free_loss: free_guesses.as_deref().and_then(loss),
            guesses,
            free_guesses,
            held: cells.filter(|&(unit, at)| held(unit, at)).collect(),
            tokens: reading.tokens,
            ids: reading.ids,
            right: reading.right,
            followed: reading.followed,
            left_out: forces.left_out,
        })
    }
}

/// The likeliest and the right answer of each step; `probabilities` are `[T, outputs]`.
fn guesses(probabilities: &[f32], outputs: usize, right: &[Option<u32>]) -> Vec<Guess> {
    let guess = |(row, right): (&[f32], &Option<u32>)| {
        let likeliest = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let (likeliest, &probability) = likeliest.unwrap_or((0, &f32::NAN));
        let right = right.and_then(|right| row.get(right as usize).copied());
        Guess { likeliest: likeliest as u32, probability, right }
    };
    probabilities.chunks(outputs).zip(right).map(guess).collect()
}

/// How good predictions are; `probabilities` are `[T, outputs]`.
fn outcome(probabilities: &[f32], outputs: usize, right: &[Option<u32>]) -> Outcome {
    let guesses = guesses(probabilities, outputs, right);
    let hits = guesses.iter().zip(right).filter(|(g, right)| Some(g.likeliest) == **right);
    Outcome {
        loss: loss(&guesses).unwrap_or(f32::NAN),
        right: hits.count() as u32,
        asked: right.iter().flatten().count() as u32,
    }
}

/// Mean -ln p of the right answers.
fn loss(guesses: &[Guess]) -> Option<f32> {
    let right: Vec<f64> = guesses.iter().filter_map(|g| g.right.map(f64::from)).collect();
    let sum: f64 = right.iter().map(|p| -libm::log(p.max(f64::MIN_POSITIVE))).sum();
    (!right.is_empty()).then(|| (sum / right.len() as f64) as f32)
}
