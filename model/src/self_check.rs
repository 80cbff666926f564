//! Checks that a device computes correct results.

use core::fmt;

use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData, activation::softmax},
};
use unroll_protocol::{Architecture, GptSpec, Initialization, SelfCheck};

use crate::{
    data::token_tensor,
    gpt::GptConfig,
    loss::cross_entropy,
    parameters::GradientSum,
    read::{ReadError, read_all},
};

const VOCABULARY: usize = 11;
const SEQUENCES: usize = 2;
const MODEL: GptSpec = GptSpec {
    layers: 2,
    heads: 2,
    width: 16,
    context: 8,
    dropout: 0.0,
    tied: false,
    architecture: Architecture::GPT2,
};
/// Largest error of a matrix product or softmax with a known result.
const KNOWN_TOLERANCE: f32 = 1e-4;

/// Why a device failed before it could be compared. `Display` is a sentence for the page.
#[derive(Clone, Debug, PartialEq)]
pub enum SelfCheckError {
    /// A small matrix product or softmax with a known result came out wrong.
    Wrong {
        what: &'static str,
    },
    Read(ReadError),
}

impl fmt::Display for SelfCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { what } => write!(f, "The device computes a wrong {what}."),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SelfCheckError {}

/// Compares `device` with `reference` on one training pass of a tiny GPT with the same weights,
/// after two computations whose results are known.
pub async fn self_check(reference: &Device, device: &Device) -> Result<SelfCheck, SelfCheckError> {
    known_results(device).await?;
    let expected = tiny_pass(reference).await.map_err(SelfCheckError::Read)?;
    let found = tiny_pass(device).await.map_err(SelfCheckError::Read)?;
    let mut differences =
        expected.iter().zip(&found).map(|(expected, found)| difference(expected, found));
    let mut next = || differences.next().unwrap_or(f32::NAN);
    Ok(SelfCheck { logits: next(), loss: next(), gradients: differences.fold(0.0, worse) })
}

/// Checks a matrix product and a softmax against arithmetic on the host.
async fn known_results(device: &Device) -> Result<(), SelfCheckError> {
    const N: usize = 24;
    let entry = |row: usize, column: usize| ((row * 7 + column * 5) % 11) as f32 - 5.0;
    let values = (0..N * N).map(|index| entry(index / N, index % N)).collect::<Vec<_>>();
    let matrix = Tensor::<2>::from_data(TensorData::new(values, [N, N]), device);
    let product = matrix.clone().matmul(matrix.clone());
    let soft = softmax(matrix, 1);
    let read = read_all([product.reshape([-1]), soft.reshape([-1])]).await;
    let read = read.map_err(SelfCheckError::Read)?;
    let mut product = Vec::with_capacity(N * N);
    let mut soft = Vec::with_capacity(N * N);
    for row in 0..N {
        let sum: f32 = (0..N).map(|column| libm::expf(entry(row, column))).sum();
        for column in 0..N {
            product.push((0..N).map(|k| entry(row, k) * entry(k, column)).sum());
            soft.push(libm::expf(entry(row, column)) / sum);
        }
    }
    for (what, expected, found) in [("product", product, &read[0]), ("softmax", soft, &read[1])] {
        // NaN must fail too, so this is not `>`.
        if !matches!(difference(&expected, found), d if d <= KNOWN_TOLERANCE) {
            return Err(SelfCheckError::Wrong { what });
        }
    }
    Ok(())
}

/// Logits, loss and every gradient of one pass.
async fn tiny_pass(device: &Device) -> Result<Vec<Vec<f32>>, ReadError> {
    let device = device.clone().inner();
    let config = GptConfig {
        spec: MODEL,
        vocabulary: VOCABULARY,
        initialization: Initialization::Gpt2,
        seed: 1,
    };
    let model = config.init(&device).train();
    let tokens: Vec<u32> =
        (0..SEQUENCES * MODEL.context as usize + 1).map(|i| (i * i + 3) as u32 % 11).collect();
    let inputs = token_tensor(&tokens[..tokens.len() - 1], SEQUENCES, &device);
    let targets = token_tensor(&tokens[1..], SEQUENCES, &device);
    let logits = model.forward(inputs);
    let loss = cross_entropy(logits.clone(), targets);
    let mut sum = GradientSum::default();
    sum.add(&model, &mut loss.backward());
    let mut tensors = vec![logits.reshape([-1]), loss];
    tensors.extend(sum.finish());
    read_all(tensors).await
}

/// Largest difference of any entry, relative to the largest expected entry. NaN if any is NaN.
fn difference(expected: &[f32], found: &[f32]) -> f32 {
    if expected.len() != found.len() {
        return f32::NAN;
    }
    let largest = expected.iter().fold(0f32, |most, value| most.max(value.abs()));
    let apart = expected.iter().zip(found).fold(0.0, |most, (a, b)| worse(most, (a - b).abs()));
    if apart == 0.0 { 0.0 } else { apart / largest }
}

/// The larger of two differences; NaN, which `f32::max` would drop, if either is.
fn worse(a: f32, b: f32) -> f32 {
    if a.is_nan() || a >= b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_a_nan() {
        assert!(difference(&[1.0, 2.0, 3.0], &[f32::NAN, 2.0, 3.0]).is_nan());
        assert!(difference(&[1.0, 2.0], &[1.0]).is_nan());
        assert_eq!(difference(&[1.0, -4.0], &[1.0, -3.0]), 0.25);
        assert_eq!(difference(&[0.0], &[0.0]), 0.0);
    }
}
