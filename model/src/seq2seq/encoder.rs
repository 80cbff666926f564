//! Reading the source.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::{Seq2seq, gru::Gru};
use crate::recurrent::steps_of;

/// Added to the update gate's sum at padding: large enough for a sigmoid of exactly 1, so that the
/// state is kept to the last bit and no gradient comes of it, whatever the weights.
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
    /// `h_j`, `[batch, S, E]`, forward half first; projected where the model does that. At padding
    /// whatever the state was.
    pub states: Tensor<3>,
    /// The state after the last token, of each direction its own last, `[batch, H or 2H]`.
    pub summary: Tensor<2>,
    /// What scores see of each state, `W_h h_j` or the state itself, `[batch, S, A or E]`.
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

    /// Tokens of the longest.
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

    /// Rows of a table of 1 row for padding and `tokens` rows for each direction: step by step, and
    /// within a step direction by direction, each in its own order.
    fn places(&self, tokens: usize, directions: usize) -> Tensor<1, Int> {
        let mut places = Vec::with_capacity(self.length * directions * self.batch());
        for step in 0..self.length {
            for direction in 0..directions {
                let at = if direction == 0 { step } else { self.length - 1 - step };
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
    /// Reads the sources.
    ///
    /// # Panics
    ///
    /// Panics if a token is not of the vocabulary.
    pub fn encode(&self, source: &Source) -> Encoded {
        let cells: Vec<_> =
            [Some(&self.forward), self.backward.as_ref()].into_iter().flatten().collect();
        let (batch, length, directions) = (source.batch(), source.length(), cells.len());
        let hidden = self.forward.hidden();
        let gru = Gru::new(&cells, batch);

        // W x + b of every token there is, then looked up for all steps and directions at once.
        let mut held = vec![0.0; 3 * hidden];
        held[hidden..2 * hidden].fill(HELD);
        let held = Tensor::from_data(TensorData::new(held, [1, 3 * hidden]), &source.device);
        let mut table = vec![held];
        table.extend(cells.iter().map(|cell| {
            let bias = cell.bias.as_ref().expect("a GRU has one").val();
            cell.input_weight.val() + bias.unsqueeze::<2>()
        }));
        let inputs = Tensor::cat(table, 0).select(0, source.places(self.sources(), directions));

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
        let states = states.swap_dims(0, 1);
        let states = match &self.projection {
            Some(projection) => product(states, projection.val()),
            None => states,
        };
        let keys = self.attention.as_ref().map(|attention| attention.keys(&states));
        Encoded { states, summary, keys, padding: source.padding() }
    }
}

/// Every row of `[batch, T, in]` times a matrix, as one product.
pub(super) fn product(rows: Tensor<3>, matrix: Tensor<2>) -> Tensor<3> {
    let [batch, length, width] = rows.dims();
    let [_, out] = matrix.dims();
    rows.reshape([batch * length, width]).matmul(matrix).reshape([batch, length, out])
}
