//! What each unit follows, how open its gates are, and how long it remembers.

use burn::tensor::{Tensor, TensorData};
use unroll_protocol::study::gates::{Quantity, Units};

use super::{Refusal, Study, forces::gate, seen::memory};
use crate::{LayerStates, RunOptions, State, read_all, token_tensor};

/// Characters read before a memory is perturbed: starting from zeros, a state has to settle first.
const BEFORE: usize = 8;
/// Perturbation of a unit's memory to see how long it lasts. Small compared with a state's range,
/// large compared with rounding errors.
const CHANGE: f32 = 0.1;
/// Number of strings in which memories are perturbed.
const CHANGED: usize = 3;

impl Study {
    pub async fn units(&self) -> Result<Units, Refusal> {
        let (units, cell) = (self.spec.units as usize, self.spec.cell);
        let strings = self.task.strings(self.spec.seed)?;
        let tokens = token_tensor(&strings.ids, strings.rows, &self.device);
        let trace = self.model().forward_traced(tokens, &RunOptions::default()).layers.remove(0);
        let opening: Vec<Quantity> =
            cell.quantities().iter().copied().filter(|quantity| quantity.opens()).collect();
        let gates = opening.iter().filter_map(|&quantity| gate(quantity));
        let mut wanted = vec![memory(&trace.forward).reshape([-1])];
        wanted.extend(gates.map(|gate| {
            trace.forward.gate(gate).value.reshape([-1, units as i32]).mean_dim(0).reshape([-1])
        }));
        let mut read = read_all(wanted).await?;
        let means = read.split_off(1);
        let memories = &read[0];
        let correlations = |track: &[f32]| -> Vec<f32> {
            let of = |unit: usize| memories.iter().skip(unit).step_by(units).copied();
            (0..units).map(|unit| correlation(of(unit), track)).collect()
        };
        let follows = strings.followed.iter();
        let follows = follows.map(|(what, track)| (*what, correlations(track))).collect();
        let (memory, longest) = self.memory_lengths(&strings.ids, strings.rows).await?;
        Ok(Units {
            cell,
            step: self.training.learners()[0].steps(),
            characters: strings.ids.len() as u32,
            follows,
            means: opening.into_iter().zip(means).collect(),
            memory,
            longest: longest as u32,
        })
    }

    /// For each unit, the number of steps until less than 1/e of a perturbation of its memory is
    /// left, and the largest number that can be found.
    ///
    /// After [`BEFORE`] characters the unit's memory is raised by [`CHANGE`] and the rest of the
    /// string is read twice, with and without. Effects through other units and back count. The
    /// remainder is averaged over [`CHANGED`] strings and interpolated between steps.
    async fn memory_lengths(&self, ids: &[u32], rows: usize) -> Result<(Vec<f32>, usize), Refusal> {
        let (units, length) = (self.spec.units as usize, ids.len() / rows);
        let rows = rows.min(CHANGED);
        let before = BEFORE.min(length / 2);
        let longest = length - before;
        let part = |from: usize, to: usize| -> Vec<u32> {
            ids.chunks(length).take(rows).flat_map(|row| &row[from..to]).copied().collect()
        };
        if before == 0 {
            return Ok((vec![0.0; units], longest));
        }
        let start = token_tensor(&part(0, before), rows, &self.device);
        let start = self.model().run(start, &RunOptions::default()).finals.remove(0).forward;
        // Row 0 of each string is unperturbed; in row u the memory of unit u - 1 is perturbed.
        let copies = units + 1;
        let changes: Vec<f32> = (0..copies * units)
            .map(|i| if i / units == i % units + 1 { CHANGE } else { 0.0 })
            .collect();
        let changes = TensorData::new(changes, [1, copies, units]);
        let changes = Tensor::<3>::from_data(changes, &self.device);
        let copied = |state: Tensor<2>, changes: Option<&Tensor<3>>| {
            let [_, width] = state.dims();
            let state = state.reshape([rows, 1, width]).repeat_dim(1, copies);
            let state = match changes {
                Some(changes) => state + changes.clone(),
                None => state,
            };
            state.reshape([rows * copies, width])
        };
        let state = match start.cell {
            Some(cell) => State {
                hidden: copied(start.hidden, None),
                cell: Some(copied(cell, Some(&changes))),
            },
            None => State { hidden: copied(start.hidden, Some(&changes)), cell: None },
        };
        let rest = part(before, length);
        let rest: Vec<u32> = rest.chunks(longest).flat_map(|row| row.repeat(copies)).collect();
        let options = RunOptions {
            initial: Some(vec![LayerStates { forward: state, backward: None }]),
            ..RunOptions::default()
        };
        let tokens = token_tensor(&rest, rows * copies, &self.device);
        let trace = self.model().forward_traced(tokens, &options).layers.remove(0).forward;
        let values = read_all([memory(&trace).reshape([-1])]).await?.remove(0);
        let value = |row: usize, copy: usize, step: usize, unit: usize| {
            values[((row * copies + copy) * longest + step) * units + unit]
        };
        let left = |unit: usize, step: usize| {
            let changed = |row| value(row, unit + 1, step, unit) - value(row, 0, step, unit);
            let sum: f32 = (0..rows).map(|row| changed(row).abs()).sum();
            sum / rows as f32 / CHANGE
        };
        let length = |unit: usize| {
            let mut above = 1.0;
            for step in 0..longest {
                let now = left(unit, step);
                let limit = core::f32::consts::E.recip();
                if now < limit {
                    return step as f32 + (above - limit) / (above - now);
                }
                above = now;
            }
            longest as f32
        };
        Ok(((0..units).map(length).collect(), longest))
    }
}

/// Pearson's correlation; 0 if either does not vary.
fn correlation(x: impl Iterator<Item = f32> + Clone, y: &[f32]) -> f32 {
    let count = y.len() as f64;
    let mean = |sum: f64| sum / count;
    let (mx, my) =
        (mean(x.clone().map(f64::from).sum()), mean(y.iter().copied().map(f64::from).sum()));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, &y) in x.zip(y) {
        let (x, y) = (f64::from(x) - mx, f64::from(y) - my);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    let scale = (xx * yy).sqrt();
    if scale > 1e-12 { (xy / scale) as f32 } else { 0.0 }
}
