//! The one place where numbers leave a device.

use core::fmt;

use burn::tensor::{Tensor, Transaction};

/// A device did not give back what it computed. `Display` is a sentence for the page.
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
/// One await and not one for each: every read-back from a GPU waits for the whole queue.
pub async fn read_all(
    tensors: impl IntoIterator<Item = Tensor<1>>,
) -> Result<Vec<Vec<f32>>, ReadError> {
    let transaction = tensors
        .into_iter()
        .fold(Transaction::default(), |transaction, tensor| transaction.register(tensor.inner()));
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
