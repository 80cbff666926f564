//! The arithmetic of one unit at one step, product by product.

use burn::tensor::Tensor;
use unroll_protocol::study::gates::{CellChoice, Forced, GateSum, Quantity, Sentence, Sums, Term};

use super::{Refusal, Study, forces::gate, seen::memory};
use crate::{RunOptions, read_all, token_tensor};

/// Number of products shown one by one; the others are summed.
const SHOWN: usize = 5;

/// The largest products, the sum of the others, and how many they are.
fn largest(mut terms: Vec<Term>) -> (Vec<Term>, f32, u32) {
    let size = |term: &Term| (term.weight * term.value).abs();
    terms.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let others = terms.split_off(terms.len().min(SHOWN));
    let rest = others.iter().map(|t| f64::from(t.weight) * f64::from(t.value)).sum::<f64>();
    (terms, rest as f32, others.len() as u32)
}

impl Study {
    pub async fn sums(
        &self,
        sentence: &Sentence,
        forced: &[Forced],
        unit: usize,
        at: usize,
    ) -> Result<Sums, Refusal> {
        let spec = &self.spec;
        let reading = self.task.reading(sentence, spec.seed)?;
        let (length, units) = (reading.ids.len(), spec.units as usize);
        if unit >= units {
            return Err(Refusal(format!("There is no unit {}: the layer has {units}.", unit + 1)));
        }
        if at >= length {
            return Err(Refusal(format!("There is no step {}: there are {length}.", at + 1)));
        }
        let forces = self.forces(forced, length);
        let tokens = token_tensor(&reading.ids, 1, &self.device);
        let options = RunOptions { forced: forces.forces.clone(), ..RunOptions::default() };
        let trace = self.model().forward_traced(tokens, &options).layers.remove(0).forward;
        let cell = &self.model().recurrent.layers[0].forward;

        let row = |tensor: &Tensor<3>| tensor.clone().narrow(1, at, 1).reshape([-1]);
        let before = trace.previous_cell.clone().unwrap_or_else(|| trace.previous.clone());
        let hidden = trace.unprojected.as_ref().unwrap_or(&trace.hidden);
        let columns = cell.kind().gates().len() * units;
        let empty = || Tensor::<1>::zeros([1], &self.device);
        let read = read_all([
            row(&trace.from_state),
            row(&trace.sums),
            row(&trace.gates),
            row(&trace.previous),
            row(&before),
            row(&memory(&trace)),
            row(hidden),
            row(&trace.hidden),
            cell.input_weight.val().narrow(0, reading.ids[at] as usize, 1).reshape([-1]),
            cell.recurrent_weight.val().reshape([-1]),
            cell.bias.as_ref().map_or_else(empty, |bias| bias.val()),
            cell.candidate_bias.as_ref().map_or_else(empty, |bias| bias.val()),
            cell.projection.as_ref().map_or_else(empty, |p| p.val().reshape([-1])),
        ])
        .await?;
        let [from_state, sums, gates, previous, before, after, hidden, output, w, u, b, b_hn, p] =
            <[Vec<f32>; 13]>::try_from(read)
                .map_err(|_| Refusal("The device returned something else.".to_owned()))?;
        let is_gru = matches!(spec.cell, CellChoice::Gru | CellChoice::Cho);
        let sum = |(block, &quantity): (usize, &Quantity)| {
            let column = block * units + unit;
            let candidate = quantity == Quantity::New;
            // In Cho's form the reset gate multiplies the state before the product.
            let state = |j: usize| match spec.cell {
                CellChoice::Cho if candidate => gates[j] * previous[j],
                _ => previous[j],
            };
            let term = |j: usize| Term {
                unit: j as u32,
                weight: u[j * columns + column],
                value: state(j),
            };
            let (terms, rest, others) = largest((0..previous.len()).map(term).collect());
            let inside = candidate && spec.cell == CellChoice::Gru;
            GateSum {
                gate: quantity,
                weight: w[column],
                bias: b[column],
                terms,
                rest,
                others,
                state_bias: inside.then(|| b_hn[unit]),
                reset: inside.then(|| gates[unit]),
                from_state: from_state[column],
                sum: sums[column],
                value: gates[column],
                held: forces.holds(quantity, unit, at),
            }
        };
        let quantities = spec.cell.quantities().iter().filter(|q| gate(**q).is_some());
        let width = output.len();
        let projected = (cell.projection.is_some() && unit < width).then(|| {
            let term =
                |j: usize| Term { unit: j as u32, weight: p[j * width + unit], value: hidden[j] };
            let (terms, rest, _) = largest((0..units).map(term).collect());
            (terms, rest, output[unit])
        });
        Ok(Sums {
            cell: spec.cell,
            token: reading.tokens[at].clone(),
            unit: unit as u32,
            at: at as u32,
            gates: quantities.enumerate().map(sum).collect(),
            before: before[unit],
            after: after[unit],
            hidden: (!is_gru).then(|| hidden[unit]),
            projected,
        })
    }
}
