//! The one place where numbers are read back from a device.

use core::fmt;

use burn::tensor::{Tensor, Transaction};

#[cfg(feature = "webgpu")]
use crate::fused::{go_together, shaders};

/// A device did not return what it computed. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadError {
    reason: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The device did not return its results: {}.", self.reason)
    }
}

impl std::error::Error for ReadError {}

/// Reads many tensors of one device in a single await, in the order given.
///
/// A single await instead of one each, because every read-back from a GPU waits for the whole
/// queue.
pub async fn read_all(
    tensors: impl IntoIterator<Item = Tensor<1>>,
) -> Result<Vec<Vec<f32>>, ReadError> {
    let tensors: Vec<_> = tensors.into_iter().map(Tensor::inner).collect();
    #[cfg(feature = "webgpu")]
    if tensors.len() > 1 && go_together(&tensors) {
        return read_joined(tensors).await;
    }
    read_each(tensors).await
}

/// Reads them as one tensor: each read-back costs a buffer, a copy and a call that waits.
#[cfg(feature = "webgpu")]
async fn read_joined(tensors: Vec<Tensor<1>>) -> Result<Vec<Vec<f32>>, ReadError> {
    let lengths: Vec<usize> = tensors.iter().map(|tensor| tensor.dims()[0]).collect();
    let (joined, starts) = shaders::joined(tensors);
    let read = read_each(vec![joined]).await?.pop().unwrap_or_default();
    let part = |(start, length): (usize, usize)| read.get(start..start + length);
    let parts = starts.into_iter().zip(lengths).map(part);
    let parts: Option<Vec<_>> = parts.map(|part| part.map(<[f32]>::to_vec)).collect();
    parts.ok_or_else(|| ReadError { reason: "less than asked for".to_owned() })
}

async fn read_each(tensors: Vec<Tensor<1>>) -> Result<Vec<Vec<f32>>, ReadError> {
    let transaction = tensors.into_iter().fold(Transaction::default(), Transaction::register);
    let read = transaction.execute_async().await;
    let read = read.map_err(|error| ReadError { reason: error.to_string() })?;
    read.into_iter()
        .map(|data| {
            data.convert::<f32>()
                .try_into_vec::<f32>()
                .map_err(|error| ReadError { reason: format!("{error:?}") })
        })
        .collect()
}
