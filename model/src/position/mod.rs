//! Ways to tell a model where a token stands.

mod alibi;
mod rotary;
mod sinusoidal;

pub use alibi::alibi_slopes;
pub use rotary::Rotation;
pub use sinusoidal::{frequency, shift, sinusoidal};

use burn::tensor::{Device, Tensor, TensorData};
use unroll_protocol::architecture::Positions;

/// The vectors added to the embeddings of positions `first..first + length`, if they are fixed;
/// `None` for encodings that add nothing, and for learned ones.
///
/// # Shapes
///
/// - output: `[length, width]`
///
/// # Panics
///
/// Panics if `width` is odd and the encoding sinusoidal.
pub fn added(
    positions: Positions,
    first: usize,
    length: usize,
    width: usize,
    device: &Device,
) -> Option<Tensor<2>> {
    let mut values = Vec::with_capacity(length * width);
    for position in first..first + length {
        match positions {
            Positions::Sinusoidal => {
                values.extend(sinusoidal(position as f64, width).into_iter().map(|x| x as f32));
            }
            // In one dimension only: a norm removes what is added to all dimensions alike.
            Positions::Integer => {
                values.extend((0..width).map(|i| if i == 0 { position as f32 } else { 0.0 }));
            }
            Positions::None | Positions::Learned | Positions::Rotary | Positions::Alibi => {
                return None;
            }
        }
    }
    let data = TensorData::new(values, [length, width]);
    Some(Tensor::from_data(data, &device.clone().inner()))
}
