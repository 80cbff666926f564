//! The trained table: a `[V, V]` row-major matrix of the logits of the next token.

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData, activation::log_softmax},
};

use super::counts::Counts;
use crate::{
    parameters::{GradientSum, matrix},
    random::{Normals, Purpose, stream},
};

/// Standard deviation of the initial logits, GPT-2's. It is so small that every row begins almost
/// uniform, and the first loss is ln V to three decimals.
const DEVIATION: f64 = 0.02;

/// The only parameter.
#[derive(Module, Debug)]
pub struct LogitTable {
    logits: Param<Tensor<2>>,
}

/// Loss and gradient of one training step.
pub struct Computed {
    /// Mean cross-entropy over the training text, `[1]`.
    pub loss: Tensor<1>,
    /// Logarithms of the softmax of each row, `[V, V]`.
    pub log_probabilities: Tensor<2>,
    /// One flat gradient per parameter.
    pub gradients: Vec<Tensor<1>>,
}

impl LogitTable {
    /// A table before training.
    pub fn new(vocabulary: usize, seed: u32, device: &Device) -> Self {
        let mut draws = Normals::new(stream(seed, Purpose::BigramLogits, [0; 3]));
        Self { logits: matrix([vocabulary; 2], DEVIATION, &mut draws, device) }
    }

    /// The logits, `[V, V]`.
    pub fn logits(&self) -> Tensor<2> {
        self.logits.val()
    }

    /// Loss and gradient on the whole text at once. `shares` is how often each pair occurs, divided
    /// by the number of pairs, `[V, V]`.
    ///
    /// Equal pairs can be summed first without changing the mean of -ln P over all pairs of the
    /// text, so a step costs V² operations, whatever the length of the text.
    pub fn compute(&self, shares: &Tensor<2>) -> Computed {
        let table = self.clone().train();
        let log_probabilities = log_softmax(table.logits.val(), 1);
        let loss = (log_probabilities.clone() * shares.clone().autodiff()).sum().neg().reshape([1]);
        let mut sum = GradientSum::default();
        sum.add(&table, &mut loss.backward());
        Computed {
            loss: loss.inner(),
            log_probabilities: log_probabilities.inner(),
            gradients: sum.finish(),
        }
    }
}

/// How often each pair occurs, divided by the number of pairs, `[V, V]`.
pub fn shares(counts: &Counts, device: &Device) -> Tensor<2> {
    let vocabulary = counts.vocabulary();
    let total = counts.total() as f64;
    let mut values = vec![0.0; vocabulary * vocabulary];
    for pair in counts.pairs() {
        let index = pair.previous as usize * vocabulary + pair.next as usize;
        values[index] = (f64::from(pair.count) / total) as f32;
    }
    Tensor::from_data(TensorData::new(values, [vocabulary; 2]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cross_entropy, token_tensor};

    const TOKENS: [u32; 24] =
        [1, 2, 0, 4, 1, 2, 2, 4, 1, 3, 0, 4, 1, 2, 0, 0, 4, 1, 2, 4, 1, 3, 3, 1];
    const VOCABULARY: usize = 6;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_into_vec().unwrap()
    }

    /// A table far from uniform.
    fn table(device: &Device) -> LogitTable {
        let mut draws = Normals::new(stream(3, Purpose::BigramLogits, [0; 3]));
        LogitTable { logits: matrix([VOCABULARY; 2], 1.5, &mut draws, device) }
    }

    #[test]
    fn adding_up_equal_pairs_first_is_the_cross_entropy_of_the_text() {
        let device = Device::flex();
        let table = table(&device);
        let counts = Counts::new(&TOKENS, VOCABULARY);
        let computed = table.compute(&shares(&counts, &device));

        let trained = table.clone().train();
        let previous: Vec<i32> = TOKENS[..23].iter().map(|&t| t as i32).collect();
        let previous = Tensor::from_data(TensorData::new(previous, [23]), &device);
        let logits = trained.logits.val().select(0, previous).unsqueeze::<3>();
        let loss = cross_entropy(logits, token_tensor(&TOKENS[1..], 1, &device));
        let mut sum = GradientSum::default();
        sum.add(&trained, &mut loss.backward());
        assert!((values(loss)[0] - values(computed.loss)[0]).abs() < 1e-6);
        let expected = values(sum.finish().remove(0));
        let found = values(computed.gradients.into_iter().next().unwrap());
        for (a, b) in expected.iter().zip(&found) {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
    }

    #[test]
    fn the_gradient_of_a_row_is_softmax_less_the_share_counted_times_how_often_it_occurs() {
        let device = Device::flex();
        let counts = Counts::new(&TOKENS, VOCABULARY);
        let computed = table(&device).compute(&shares(&counts, &device));
        let log_probabilities = values(computed.log_probabilities);
        let gradient = values(computed.gradients.into_iter().next().unwrap());
        for previous in 0..VOCABULARY as u32 {
            let total = counts.total_after(previous);
            for next in 0..VOCABULARY as u32 {
                let index = previous as usize * VOCABULARY + next as usize;
                let share = f64::from(counts.count(previous, next)) / f64::from(total.max(1));
                let trained = libm::exp(f64::from(log_probabilities[index]));
                let weight = f64::from(total) / counts.total() as f64;
                let expected = weight * (trained - share);
                assert!((f64::from(gradient[index]) - expected).abs() < 1e-7);
                assert!(total > 0 || gradient[index] == 0.0, "a row never seen stays as it was");
            }
        }
    }
}
