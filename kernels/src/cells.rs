//! The elementwise part of recurrent cells for one row of a batch, and its derivatives.
//!
//! `input` is `W x + b` and `from_state` is what the previous state adds to it. Both have a block
//! of `H` columns for each gate.

use super::{
    math::{sigmoid, tanh},
    wide::wide,
};

#[inline(always)]
fn apply(values: &mut [f32], function: impl Fn(f32) -> f32) {
    for value in values {
        *value = function(*value);
    }
}

/// `gates = input + from_state`
#[inline(always)]
fn add(input: &[f32], from_state: &[f32], gates: &mut [f32]) {
    for ((gate, input), state) in gates.iter_mut().zip(input).zip(from_state) {
        *gate = input + state;
    }
}

/// Elman's network: `s_t = tanh(sum)`.
pub fn elman_tanh(input: &[f32], from_state: &[f32], state: &mut [f32]) {
    wide!({
        add(input, from_state, state);
        apply(state, tanh);
    })
}

/// Elman's network: `s_t = sigmoid(sum)`.
pub fn elman_sigmoid(input: &[f32], from_state: &[f32], state: &mut [f32]) {
    wide!({
        add(input, from_state, state);
        apply(state, sigmoid);
    })
}

/// Gradient with respect to the sum, given the one with respect to the state.
pub fn elman_tanh_backward(state: &[f32], upstream: &[f32], delta: &mut [f32]) {
    wide!({
        for ((delta, y), upstream) in delta.iter_mut().zip(state).zip(upstream) {
            *delta = upstream * (1.0 - y * y);
        }
    })
}

/// Gradient with respect to the sum, given the one with respect to the state.
pub fn elman_sigmoid_backward(state: &[f32], upstream: &[f32], delta: &mut [f32]) {
    wide!({
        for ((delta, y), upstream) in delta.iter_mut().zip(state).zip(upstream) {
            *delta = upstream * (y - y * y);
        }
    })
}

/// `c_t = f * c_(t-1) + i * g` and `h_t = o * tanh(c_t)`, with the gates i, f, g, o and `tanh(c_t)`.
pub fn lstm(
    input: &[f32],
    from_state: &[f32],
    previous_cell: &[f32],
    gates: &mut [f32],
    cell: &mut [f32],
    squashed: &mut [f32],
    state: &mut [f32],
) {
    wide!({
        let hidden = previous_cell.len();
        add(input, from_state, gates);
        apply(&mut gates[..2 * hidden], sigmoid);
        apply(&mut gates[2 * hidden..3 * hidden], tanh);
        apply(&mut gates[3 * hidden..], sigmoid);
        let [i, f, g, o] = blocks(gates);
        for ((((cell, previous), i), f), g) in
            cell.iter_mut().zip(previous_cell).zip(i).zip(f).zip(g)
        {
            *cell = f * previous + i * g;
        }
        for (squashed, cell) in squashed.iter_mut().zip(cell) {
            *squashed = tanh(*cell);
        }
        for ((state, squashed), o) in state.iter_mut().zip(squashed).zip(o) {
            *state = o * *squashed;
        }
    })
}

/// Gradient with respect to the sums, given the one with respect to the state. `grad_cell` holds
/// the gradient with respect to `c_t` through later steps, and is replaced by the one with respect
/// to `c_(t-1)`.
pub fn lstm_backward(
    gates: &[f32],
    previous_cell: &[f32],
    squashed: &[f32],
    upstream: &[f32],
    grad_cell: &mut [f32],
    deltas: &mut [f32],
) {
    wide!({
        let [i, f, g, o] = blocks(gates);
        let [grad_i, grad_f, grad_g, grad_o] = blocks_mut(deltas);
        for (((grad_o, o), squashed), (upstream, grad_cell)) in
            grad_o.iter_mut().zip(o).zip(squashed).zip(upstream.iter().zip(&mut *grad_cell))
        {
            *grad_o = upstream * squashed * (o - o * o);
            *grad_cell += upstream * o * (1.0 - squashed * squashed);
        }
        for (((grad_i, grad_g), grad_cell), (i, g)) in
            grad_i.iter_mut().zip(grad_g).zip(&*grad_cell).zip(i.iter().zip(g))
        {
            *grad_i = grad_cell * g * (i - i * i);
            *grad_g = grad_cell * i * (1.0 - g * g);
        }
        for (((grad_f, f), previous), grad_cell) in
            grad_f.iter_mut().zip(f).zip(previous_cell).zip(grad_cell)
        {
            *grad_f = *grad_cell * previous * (f - f * f);
            *grad_cell *= f;
        }
    })
}

/// Writes r and z of either GRU into the first two blocks of `gates`.
pub fn reset_and_update(input: &[f32], from_state: &[f32], gates: &mut [f32]) {
    wide!({
        add(input, from_state, gates);
        apply(gates, sigmoid);
    })
}

/// PyTorch's GRU after its gates: writes `n = tanh(input + r * (U h + b_hn))` into the third block.
/// `input` and `gates` have all three blocks.
pub fn gru_candidate(input: &[f32], before_reset: &[f32], gates: &mut [f32]) {
    wide!({
        let hidden = before_reset.len();
        let input = &input[2 * hidden..];
        let [r, _, n] = blocks_mut(gates);
        for (((n, input), r), before) in n.iter_mut().zip(input).zip(r).zip(before_reset) {
            *n = tanh(input + *r * before);
        }
    })
}

/// Cho's GRU after its gates: writes `n = tanh(input + U (r * h))` into the third block.
pub fn cho_candidate(input: &[f32], from_kept: &[f32], gates: &mut [f32]) {
    wide!({
        let hidden = from_kept.len();
        let candidate = &mut gates[2 * hidden..];
        add(&input[2 * hidden..], from_kept, candidate);
        apply(candidate, tanh);
    })
}

/// `h_t = (1 - z) * n + z * h_(t-1)` of either GRU.
pub fn mix(gates: &[f32], previous: &[f32], state: &mut [f32]) {
    wide!({
        let [_, z, n] = blocks(gates);
        for (((state, previous), z), n) in state.iter_mut().zip(previous).zip(z).zip(n) {
            *state = (1.0 - z) * n + z * previous;
        }
    })
}

/// Gradient with respect to the sums of z and n, given the one with respect to the state.
/// `grad_previous` becomes the part of the gradient with respect to `h_(t-1)` that flows directly
/// through [`mix`].
pub fn mix_backward(
    gates: &[f32],
    previous: &[f32],
    upstream: &[f32],
    deltas: &mut [f32],
    grad_previous: &mut [f32],
) {
    wide!({
        let [_, z, n] = blocks(gates);
        let [_, grad_z, grad_n] = blocks_mut(deltas);
        for (((grad_z, grad_n), (z, n)), (upstream, previous)) in
            grad_z.iter_mut().zip(grad_n).zip(z.iter().zip(n)).zip(upstream.iter().zip(previous))
        {
            *grad_z = upstream * (previous - n) * (z - z * z);
            *grad_n = upstream * (1.0 - z) * (1.0 - n * n);
        }
        for ((grad_previous, upstream), z) in grad_previous.iter_mut().zip(upstream).zip(z) {
            *grad_previous = upstream * z;
        }
    })
}

/// PyTorch's GRU: writes the gradient with respect to r's sum into the first block of `deltas`,
/// whose other blocks [`mix_backward`] has filled, and the gradient with respect to `U h + b_hn` of
/// all blocks into `inner`.
pub fn gru_backward(gates: &[f32], before_reset: &[f32], deltas: &mut [f32], inner: &mut [f32]) {
    wide!({
        let [r, ..] = blocks::<3>(gates);
        let [grad_r, grad_z, grad_n] = blocks_mut(deltas);
        let [inner_r, inner_z, inner_n] = blocks_mut(inner);
        for ((grad_r, r), (grad_n, before)) in
            grad_r.iter_mut().zip(r).zip(grad_n.iter().zip(before_reset))
        {
            *grad_r = grad_n * before * (r - r * r);
        }
        inner_r.copy_from_slice(grad_r);
        inner_z.copy_from_slice(grad_z);
        for ((inner, grad_n), r) in inner_n.iter_mut().zip(grad_n).zip(r) {
            *inner = *grad_n * r;
        }
    })
}

/// Cho's GRU: writes the gradient with respect to r's sum into the first block of `deltas`, given
/// `grad_kept`, the gradient with respect to `r * h`, and adds what flows through it to `h_(t-1)`
/// to `grad_previous`.
pub fn cho_backward(
    gates: &[f32],
    previous: &[f32],
    grad_kept: &[f32],
    deltas: &mut [f32],
    grad_previous: &mut [f32],
) {
    wide!({
        let [r, ..] = blocks::<3>(gates);
        let [grad_r, ..] = blocks_mut::<3>(deltas);
        for ((grad_r, r), (grad_kept, previous)) in
            grad_r.iter_mut().zip(r).zip(grad_kept.iter().zip(previous))
        {
            *grad_r = grad_kept * previous * (r - r * r);
        }
        for ((grad_previous, grad_kept), r) in grad_previous.iter_mut().zip(grad_kept).zip(r) {
            *grad_previous += grad_kept * r;
        }
    })
}

/// Splits a row into equal parts.
fn blocks<const N: usize>(row: &[f32]) -> [&[f32]; N] {
    let width = row.len() / N;
    core::array::from_fn(|block| &row[block * width..(block + 1) * width])
}

fn blocks_mut<const N: usize>(row: &mut [f32]) -> [&mut [f32]; N] {
    let width = row.len() / N;
    let mut parts = row.chunks_exact_mut(width.max(1));
    core::array::from_fn(|_| parts.next().expect("a part for each gate"))
}
