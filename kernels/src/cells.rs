//! What recurrent cells do between two products, for one row of a batch, and its derivative.
//!
//! `input` is `W x + b` and `from_state` what the previous state adds to it, both with a block of
//! `H` columns for each gate.

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

/// Elman's: `s_t = tanh(sum)`.
pub fn elman_tanh(input: &[f32], from_state: &[f32], state: &mut [f32]) {
    wide!({
        add(input, from_state, state);
        apply(state, tanh);
    })
}

/// Elman's: `s_t = sigmoid(sum)`.
pub fn elman_sigmoid(input: &[f32], from_state: &[f32], state: &mut [f32]) {
    wide!({
        add(input, from_state, state);
        apply(state, sigmoid);
    })
}

/// The gradient by the sum from that by the state.
pub fn elman_tanh_backward(state: &[f32], upstream: &[f32], delta: &mut [f32]) {
    wide!({
        for ((delta, y), upstream) in delta.iter_mut().zip(state).zip(upstream) {
            *delta = upstream * (1.0 - y * y);
        }
    })
}

/// The gradient by the sum from that by the state.
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

/// The gradient by the sums, from that by the state; `of_cell` is the gradient by `c_t` through
/// what comes later, and then that by `c_(t-1)`.
pub fn lstm_backward(
    gates: &[f32],
    previous_cell: &[f32],
    squashed: &[f32],
    upstream: &[f32],
    of_cell: &mut [f32],
    deltas: &mut [f32],
) {
    wide!({
        let [i, f, g, o] = blocks(gates);
        let [of_i, of_f, of_g, of_o] = blocks_mut(deltas);
        for (((of_o, o), squashed), (upstream, of_cell)) in
            of_o.iter_mut().zip(o).zip(squashed).zip(upstream.iter().zip(&mut *of_cell))
        {
            *of_o = upstream * squashed * (o - o * o);
            *of_cell += upstream * o * (1.0 - squashed * squashed);
        }
        for (((of_i, of_g), of_cell), (i, g)) in
            of_i.iter_mut().zip(of_g).zip(&*of_cell).zip(i.iter().zip(g))
        {
            *of_i = of_cell * g * (i - i * i);
            *of_g = of_cell * i * (1.0 - g * g);
        }
        for (((of_f, f), previous), of_cell) in
            of_f.iter_mut().zip(f).zip(previous_cell).zip(of_cell)
        {
            *of_f = *of_cell * previous * (f - f * f);
            *of_cell *= f;
        }
    })
}

/// r and z of either GRU into the first two blocks of `gates`.
pub fn reset_and_update(input: &[f32], from_state: &[f32], gates: &mut [f32]) {
    wide!({
        add(input, from_state, gates);
        apply(gates, sigmoid);
    })
}

/// PyTorch's GRU after its gates: `n = tanh(input + r * (U h + b_hn))`, into the third block. Of
/// input and `gates` all three blocks.
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

/// Cho's GRU after its gates: `n = tanh(input + U (r * h))`, into the third block.
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

/// The gradient by the sums of z and n, from that by the state; `of_previous` becomes the part of
/// the gradient by `h_(t-1)` that comes straight from [`mix`].
pub fn mix_backward(
    gates: &[f32],
    previous: &[f32],
    upstream: &[f32],
    deltas: &mut [f32],
    of_previous: &mut [f32],
) {
    wide!({
        let [_, z, n] = blocks(gates);
        let [_, of_z, of_n] = blocks_mut(deltas);
        for (((of_z, of_n), (z, n)), (upstream, previous)) in
            of_z.iter_mut().zip(of_n).zip(z.iter().zip(n)).zip(upstream.iter().zip(previous))
        {
            *of_z = upstream * (previous - n) * (z - z * z);
            *of_n = upstream * (1.0 - z) * (1.0 - n * n);
        }
        for ((of_previous, upstream), z) in of_previous.iter_mut().zip(upstream).zip(z) {
            *of_previous = upstream * z;
        }
    })
}

/// PyTorch's GRU: the gradient by r's sum into the first block of `deltas`, whose others
/// [`mix_backward`] has filled, and the gradient by `U h + b_hn` of all blocks into `inner`.
pub fn gru_backward(gates: &[f32], before_reset: &[f32], deltas: &mut [f32], inner: &mut [f32]) {
    wide!({
        let [r, ..] = blocks::<3>(gates);
        let [of_r, of_z, of_n] = blocks_mut(deltas);
        let [inner_r, inner_z, inner_n] = blocks_mut(inner);
        for ((of_r, r), (of_n, before)) in of_r.iter_mut().zip(r).zip(of_n.iter().zip(before_reset))
        {
            *of_r = of_n * before * (r - r * r);
        }
        inner_r.copy_from_slice(of_r);
        inner_z.copy_from_slice(of_z);
        for ((inner, of_n), r) in inner_n.iter_mut().zip(of_n).zip(r) {
            *inner = *of_n * r;
        }
    })
}

/// Cho's GRU: the gradient by r's sum into the first block of `deltas`, from `of_kept`, the
/// gradient by `r * h`; what goes to `h_(t-1)` by it is added to `of_previous`.
pub fn cho_backward(
    gates: &[f32],
    previous: &[f32],
    of_kept: &[f32],
    deltas: &mut [f32],
    of_previous: &mut [f32],
) {
    wide!({
        let [r, ..] = blocks::<3>(gates);
        let [of_r, ..] = blocks_mut::<3>(deltas);
        for ((of_r, r), (of_kept, previous)) in
            of_r.iter_mut().zip(r).zip(of_kept.iter().zip(previous))
        {
            *of_r = of_kept * previous * (r - r * r);
        }
        for ((of_previous, of_kept), r) in of_previous.iter_mut().zip(of_kept).zip(r) {
            *of_previous += of_kept * r;
        }
    })
}

/// Equal parts of a row.
fn blocks<const N: usize>(row: &[f32]) -> [&[f32]; N] {
    let width = row.len() / N;
    core::array::from_fn(|block| &row[block * width..(block + 1) * width])
}

fn blocks_mut<const N: usize>(row: &mut [f32]) -> [&mut [f32]; N] {
    let width = row.len() / N;
    let mut parts = row.chunks_exact_mut(width.max(1));
    core::array::from_fn(|_| parts.next().expect("a part for each gate"))
}
