//! Messages between the workers of a pool.

use unroll_model::Shard;
use unroll_protocol::{Checkpoint, wire};

/// Number of words after the payload: kind, epoch, step, and one number that depends on the kind.
const TRAILER: usize = 4;
/// Marks of the two kinds; a stray message is unlikely to contain them.
const SHARD: u32 = 0x756e_7368;
const SUM: u32 = 0x756e_7375;

/// An encoded message between workers. Its buffer is transferred, not copied.
#[derive(Clone, Debug, PartialEq)]
pub enum Parcel {
    /// A [`State`], encoded.
    State(Vec<u8>),
    /// Encoded [`Numbers`]: the bits of `f32` numbers and a trailer.
    Numbers(Vec<u32>),
}

/// The state a helper should load, and its place in the pool.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Incremented whenever the state changes other than by a step.
    pub epoch: u32,
    /// The helper's shard of every step, and how many there are.
    pub shard: u32,
    pub shards: u32,
    /// The training text.
    pub text: String,
    pub checkpoint: Checkpoint,
}

/// A gradient in transit.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// To the first worker: the shard of the step that follows step `step`.
    Shard { epoch: u32, step: u32, shard: Shard },
    /// To a helper: the sum of all shards of the step that follows step `step`, to be applied with
    /// the peak learning rate `learning_rate`.
    Sum { epoch: u32, step: u32, learning_rate: f32, gradient: Vec<f32> },
}

impl State {
    /// Encodes a state without owning its text and checkpoint.
    pub fn parcel([epoch, shard, shards]: [u32; 3], text: &str, checkpoint: &Checkpoint) -> Parcel {
        Parcel::State(wire::encode(&(epoch, shard, shards, text, checkpoint)))
    }

    /// Decodes a state; `None` if the bytes are not one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (epoch, shard, shards, text, checkpoint) = wire::decode(bytes).ok()?;
        Some(Self { epoch, shard, shards, text, checkpoint })
    }
}

impl Numbers {
    /// The shard of the step that follows step `step`.
    pub fn shard(epoch: u32, step: u32, shard: &Shard) -> Parcel {
        encode(&shard.gradient, [SHARD, epoch, step, shard.loss.to_bits()])
    }

    /// The sum of all shards of the step that follows step `step`.
    pub fn sum(epoch: u32, step: u32, learning_rate: f32, gradient: &[f32]) -> Parcel {
        encode(gradient, [SUM, epoch, step, learning_rate.to_bits()])
    }

    /// Decodes a gradient; `None` if the words are not one.
    pub fn read(mut words: Vec<u32>) -> Option<Self> {
        let rest = words.len().checked_sub(TRAILER)?;
        let trailer: [u32; TRAILER] = words[rest..].try_into().ok()?;
        words.truncate(rest);
        let [kind, epoch, step, number] = trailer;
        let number = f32::from_bits(number);
        // The conversion is in place, because both types have the same size.
        let gradient: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
        match kind {
            SHARD => Some(Self::Shard { epoch, step, shard: Shard { loss: number, gradient } }),
            SUM => Some(Self::Sum { epoch, step, learning_rate: number, gradient }),
            _ => None,
        }
    }
}

fn encode(gradient: &[f32], trailer: [u32; TRAILER]) -> Parcel {
    let mut words = Vec::with_capacity(gradient.len() + TRAILER);
    words.extend(gradient.iter().map(|number| number.to_bits()));
    words.extend(trailer);
    Parcel::Numbers(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parcel: Parcel) -> Vec<u32> {
        match parcel {
            Parcel::Numbers(words) => words,
            Parcel::State(_) => panic!("a state"),
        }
    }

    #[test]
    fn gradients_survive_the_trip_bit_for_bit() {
        let shard = Shard { loss: 0.1, gradient: vec![1.0, -0.0, f32::MIN_POSITIVE / 2.0] };
        let read = Numbers::read(words(Numbers::shard(7, 3, &shard)));
        assert_eq!(read, Some(Numbers::Shard { epoch: 7, step: 3, shard: shard.clone() }));
        let read = Numbers::read(words(Numbers::sum(8, 4, 0.5, &shard.gradient)));
        let gradient = shard.gradient;
        let learning_rate = 0.5;
        assert_eq!(read, Some(Numbers::Sum { epoch: 8, step: 4, learning_rate, gradient }));
    }

    #[test]
    fn what_is_no_message_is_none() {
        for stray in [vec![], vec![SHARD, 1, 1], vec![1, 2, 3, 4, 5], vec![0; 100]] {
            assert_eq!(Numbers::read(stray), None);
        }
        assert_eq!(State::read(&[]), None);
        assert_eq!(State::read(&[wire::VERSION, 1, 2, 3, 200, 1]), None);
    }
}
