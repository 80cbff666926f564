//! Checks the gradients of every rule, in both directions, against central differences.

use super::*;
use crate::testing::{assert_derivatives, drawn, weighted};

const RULES: [Rule; 5] = [Rule::ElmanTanh, Rule::ElmanSigmoid, Rule::Lstm, Rule::Gru, Rule::ChoGru];

fn sequences() -> Vec<Sequence> {
    let mut sequences = Vec::new();
    for rule in RULES {
        for backward in [false, true] {
            for projected in [false, true] {
                if projected && rule != Rule::Lstm {
                    continue;
                }
                let output = if projected { 2 } else { 3 };
                sequences.push(Sequence {
                    rule,
                    batch: 2,
                    steps: 4,
                    hidden: 3,
                    output,
                    backward,
                    projected,
                    truncation: None,
                });
            }
        }
    }
    sequences
}

/// Input, U, `b_hn`, P, initial state and initial cell.
fn parts(of: &Sequence) -> [Vec<f32>; 6] {
    let Sequence { rule, batch, steps, hidden, output, .. } = *of;
    let columns = rule.gates() * hidden;
    let some = |there: bool, count: usize, seed| drawn(if there { count } else { 0 }, seed);
    [
        drawn(steps * batch * columns, 1),
        drawn(output * columns, 2),
        some(rule == Rule::Gru, hidden, 3),
        some(of.projected, hidden * output, 4),
        drawn(batch * output, 5),
        some(rule == Rule::Lstm, batch * hidden, 6),
    ]
}

fn inputs(parts: &[Vec<f32>; 6]) -> Inputs<'_> {
    let [input, recurrent, candidate_bias, projection, initial, initial_cell] = parts;
    Inputs { input, recurrent, candidate_bias, projection, initial, initial_cell }
}

fn gradients(of: &Sequence, parts: &[Vec<f32>; 6], upstream: &[f32]) -> [Vec<f32>; 6] {
    let (states, kept) = of.forward(&inputs(parts));
    let found = of.backward(&inputs(parts), &states, &kept, upstream);
    let Gradients { input, recurrent, candidate_bias, projection, .. } = found;
    [input, recurrent, candidate_bias, projection, found.initial, found.initial_cell]
}

#[test]
fn the_way_back_is_the_derivative() {
    for of in sequences() {
        let parts = parts(&of);
        let upstream = drawn(of.forward(&inputs(&parts)).0.len(), 7);
        let loss =
            |parts: &[Vec<f32>; 6]| -> f64 { weighted(&of.forward(&inputs(parts)).0, &upstream) };
        let found = gradients(&of, &parts, &upstream);
        assert_derivatives(of, &parts, &found, 4e-4, loss);
    }
}

#[test]
fn truncation_is_a_run_in_pieces() {
    for of in sequences() {
        let of = Sequence { truncation: Some(3), ..of };
        let whole = parts(&of);
        let [input, recurrent, candidate_bias, projection, initial, initial_cell] = &whole;
        let all = of.forward(&inputs(&whole)).0;
        let upstream = drawn(all.len(), 7);
        let found = gradients(&of, &whole, &upstream);
        // Three steps from the start, then the last step as a run of its own from where those
        // ended.
        let pieces = |steps: usize, from: usize, initial: &[f32], cell: &[f32]| {
            let piece = Sequence { steps, truncation: None, ..of };
            let cut = |values: &[f32]| {
                let width = values.len() / of.steps;
                values[from * width..(from + steps) * width].to_vec()
            };
            let parts = [
                cut(input),
                recurrent.clone(),
                candidate_bias.clone(),
                projection.clone(),
                initial.to_vec(),
                cell.to_vec(),
            ];
            let (states, grad_cell) = upstream.split_at(of.steps * of.batch * of.output);
            (piece, parts, cut(states), grad_cell.to_vec())
        };
        let (first_at, last_at) = if of.backward { (1, 0) } else { (0, 3) };
        let (piece, parts, mut up, cell) = pieces(3, first_at, initial, initial_cell);
        let states = piece.forward(&inputs(&parts)).0;
        up.extend(cell.iter().map(|_| 0.0));
        let first = gradients(&piece, &parts, &up);
        let size = of.batch * of.output;
        let ended = if of.backward { 0 } else { 2 * size };
        let (initial, cell) = (&states[ended..ended + size], &states[3 * size..]);
        let (piece, parts, mut up, cell) = pieces(1, last_at, initial, cell);
        up.extend(cell);
        let second = gradients(&piece, &parts, &up);
        let near = |found: &[f32], expected: Vec<f32>| {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{of:?}: {found}, not {expected}");
            }
        };
        let inputs = if of.backward { [&second[0], &first[0]] } else { [&first[0], &second[0]] };
        near(&found[0], inputs.map(|part| part.as_slice()).concat());
        for part in 1..4 {
            let sums = first[part].iter().zip(&second[part]).map(|(a, b)| a + b);
            near(&found[part], sums.collect());
        }
        for part in 4..6 {
            near(&found[part], first[part].clone());
        }
    }
}
