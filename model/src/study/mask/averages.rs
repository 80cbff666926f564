//! Three equivalent ways to average what a mask allows.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{Array, study::mask::Averages};

use crate::{Mask, read::ReadError, read_all};

/// The averages of `values`, `[T, d]`. `attended` is the average with the attention's own weights,
/// also `[T, d]`.
pub(super) async fn averages(
    mask: &Mask,
    values: Tensor<2>,
    attended: Tensor<2>,
) -> Result<Averages, ReadError> {
    let [length, width] = values.dims();
    let device = values.device();
    // 1 / count where allowed; with the causal mask, a lower triangle.
    let allowed = mask.bias(&device).exp();
    let matrix = allowed.clone() / allowed.sum_dim(1);
    let softened = softmax(mask.bias(&device), 1);
    let product = matrix.clone().matmul(values.clone());
    let softmax = softened.clone().matmul(values.clone());
    let read =
        read_all([values, product, matrix, softmax, softened, attended].map(|t| t.reshape([-1])));
    let mut read = read.await?.into_iter();
    let mut array = |columns: usize| Array {
        shape: vec![length as u32, columns as u32],
        values: read.next().unwrap_or_default(),
    };
    let values = array(width);
    Ok(Averages {
        looped: looped(mask, &values),
        product: array(width),
        matrix: array(length),
        softmax: array(width),
        softened: array(length),
        attended: array(width),
    })
}

/// The average by loops over rows and values.
fn looped(mask: &Mask, values: &Array) -> Array {
    let width = values.shape[1] as usize;
    let mut means = Vec::with_capacity(values.values.len());
    for query in 0..mask.queries() {
        let mut sum = vec![0.0f32; width];
        let mut count = 0.0f32;
        for (row, &allowed) in values.values.chunks_exact(width).zip(mask.row(query)) {
            if allowed {
                count += 1.0;
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
        }
        means.extend(sum.into_iter().map(|sum| sum / count));
    }
    Array { shape: values.shape.clone(), values: means }
}
