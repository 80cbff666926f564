//! The encoder.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::{Execution, Seq2seq, gru::Gru};
use crate::{
    fused::{self, recurrent::look_up},
    recurrent::{Cell, steps_of},
};

/// Added to the update gate's sum at padding: large enough for a sigmoid of exactly 1, so that the
/// state is kept to the last bit and no gradient flows, whatever the weights are.
const HELD: f32 = 1e4;

/// Source sequences, padded to the longest.
#[derive(Clone, Debug)]
pub struct Source {
    rows: Vec<Vec<u32>>,
    length: usize,
    device: Device,
}

/// What the encoder made of a batch of sources of at most `S` tokens.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// `h_j`, `[batch, S, E]`, forward half first; projected if the model does that. At padding,
    /// the state carried over.
    pub states: Tensor<3>,
    /// The state after the last token, for each direction its own last token, `[batch, H or 2H]`.
    pub summary: Tensor<2>,
    /// What scores use of each state, `W_h h_j` or the state itself, `[batch, S, A or E]`.
    pub(super) keys: Option<Tensor<3>>,
    /// 0 at tokens and -inf at padding, `[batch, S]`; `None` if there is no padding.
    pub(super) padding: Option<Tensor<2>>,
}

impl Source {
    /// # Panics
    ///
    /// Panics if there is no row or one of them is empty.
    pub fn new(rows: &[Vec<u32>], device: &Device) -> Self {
        assert!(rows.iter().all(|row| !row.is_empty()), "an empty source can't be read");
        let length = rows.iter().map(Vec::len).max().expect("at least one source");
        Self { rows: rows.to_vec(), length, device: device.clone() }
    }

    pub fn batch(&self) -> usize {
        self.rows.len()
    }

    /// Number of tokens of the longest sequence.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The token ids of each sequence, without padding.
    pub fn rows(&self) -> &[Vec<u32>] {
        &self.rows
    }

    fn padding(&self) -> Option<Tensor<2>> {
        if self.rows.iter().all(|row| row.len() == self.length) {
            return None;
        }
        let places = self.rows.iter().flat_map(|row| {
            (0..self.length).map(|at| if at < row.len() { 0.0 } else { f32::NEG_INFINITY })
        });
        let data = TensorData::new(places.collect::<Vec<f32>>(), [self.batch(), self.length]);
        Some(Tensor::from_data(data, &self.device))
    }

    /// Row indices into a table with one row for padding followed by `tokens` rows for each
    /// direction. The order is step by step, and within a step direction by direction; each
    /// direction starts at the beginning or, where `backward` is true, at the end.
    fn places(&self, tokens: usize, backward: &[bool]) -> Tensor<1, Int> {
        let mut places = Vec::with_capacity(self.length * backward.len() * self.batch());
        for step in 0..self.length {
            for (direction, &backward) in backward.iter().enumerate() {
                let at = if backward { self.length - 1 - step } else { step };
                places.extend(self.rows.iter().map(|row| match row.get(at) {
                    Some(&token) => {
                        assert!((token as usize) < tokens, "no token {token} among {tokens}");
                        (1 + direction * tokens + token as usize) as i32
                    }
                    None => 0,
                }));
            }
        }
        let shape = [places.len()];
        Tensor::from_data(TensorData::new(places, shape), &self.device)
    }
}

impl Encoded {
    /// Batch and length.
    pub fn size(&self) -> [usize; 2] {
        let [batch, length, _] = self.states.dims();
        [batch, length]
    }

    /// The same source `count` times.
    pub(super) fn repeated(&self, count: usize) -> Self {
        Self {
            states: self.states.clone().repeat_dim(0, count),
            summary: self.summary.clone().repeat_dim(0, count),
            keys: self.keys.clone().map(|keys| keys.repeat_dim(0, count)),
            padding: self.padding.clone().map(|padding| padding.repeat_dim(0, count)),
        }
    }
}

impl Seq2seq {
    /// Encodes the sources.
    ///
    /// # Panics
    ///
    /// Panics if a token is outside the vocabulary.
    pub fn encode(&self, source: &Source) -> Encoded {
        self.encode_as(source, Execution::on(self.device()))
    }

    /// [`encode`](Self::encode) with a choice of execution.
    pub(super) fn encode_as(&self, source: &Source, execution: Execution) -> Encoded {
        let cells: Vec<_> =
            [Some(&self.forward), self.backward.as_ref()].into_iter().flatten().collect();
        let (states, summary) = if execution == Execution::Fused {
            self.read_fused(&cells, source)
        } else {
            self.read_step_by_step(&cells, source)
        };
        let states = states.swap_dims(0, 1);
        let states = match &self.projection {
            Some(projection) => product(states, projection.val()),
            None => states,
        };
        let keys = self.attention.as_ref().map(|attention| attention.keys(&states));
        Encoded { states, summary, keys, padding: source.padding() }
    }

    /// A cell's input at padding: a row of sums that keeps the state.
    fn held(&self, device: &Device) -> Tensor<2> {
        let hidden = self.hidden();
        let mut held = vec![0.0; 3 * hidden];
        held[hidden..2 * hidden].fill(HELD);
        Tensor::from_data(TensorData::new(held, [1, 3 * hidden]), device)
    }

    /// States `[S, batch, E]` and the summary, running each direction as one operation.
    fn read_fused(&self, cells: &[&Cell], source: &Source) -> (Tensor<3>, Tensor<2>) {
        let (batch, length) = (source.batch(), source.length());
        let places = source.places(self.sources(), &[false]);
        let (mut states, mut lasts) = (Vec::new(), Vec::new());
        for (cell, backward) in cells.iter().zip([false, true]) {
            let table = Tensor::cat(vec![self.held(&source.device), cell.project_one_hot()], 0);
            let inputs = look_up(table, places.clone());
            let (rows, last) = cell.sequence(inputs, cell.zero_state(batch), backward, None);
            states.push(rows);
            lasts.push(last.hidden);
        }
        let states = Tensor::cat(states, 1);
        let [_, width] = states.dims();
        (states.reshape([length, batch, width]), Tensor::cat(lasts, 1))
    }

    /// The same, running all directions together step by step.
    fn read_step_by_step(&self, cells: &[&Cell], source: &Source) -> (Tensor<3>, Tensor<2>) {
        let (batch, length, directions) = (source.batch(), source.length(), cells.len());
        let hidden = self.forward.hidden();
        let gru = Gru::new(cells, batch);

        // W x + b of every possible token, looked up for all steps and directions at once.
        let mut table = vec![self.held(&source.device)];
        table.extend(cells.iter().map(|cell| cell.project_one_hot()));
        let places = source.places(self.sources(), &[false, true][..directions]);
        let inputs = Tensor::cat(table, 0).select(0, places);

        let mut state = Tensor::zeros([directions * batch, hidden], &source.device);
        let mut states = Vec::with_capacity(length);
        for input in steps_of(inputs, length) {
            state = gru.step(input, state);
            states.push(state.clone());
        }
        let summary = state
            .reshape([directions, batch, hidden])
            .swap_dims(0, 1)
            .reshape([batch, directions * hidden]);
        let states = Tensor::cat(states, 0);
        let states = if directions == 1 {
            states.reshape([length, batch, hidden])
        } else {
            let states = states.reshape([length, 2, batch * hidden]);
            let half = |index| states.clone().narrow(1, index, 1).reshape([length, batch, hidden]);
            Tensor::cat(vec![half(0), half(1).flip([0])], 2)
        };
        (states, summary)
    }
}

/// Multiplies every row of `[batch, T, in]` by a matrix, as one product.
pub(super) fn product(rows: Tensor<3>, matrix: Tensor<2>) -> Tensor<3> {
    let [batch, length, width] = rows.dims();
    let [_, out] = matrix.dims();
    fused::product(rows.reshape([batch * length, width]), matrix).reshape([batch, length, out])
}
