//! Models of another's making: their tokenizers, and their weights piece by piece.

use serde::{Deserialize, Serialize};

use crate::GptSpec;

/// Most parameters of a model that is only asked and not trained: as 32-bit numbers they fill 800 MB.
pub const MAX_GIVEN_PARAMETERS: u64 = 200_000_000;
/// Most tokens that a given vocabulary may have.
pub const MAX_GIVEN_TOKENS: usize = 1 << 17;
/// The longest context of a given model.
pub const MAX_GIVEN_CONTEXT: u32 = 2048;

/// A tokenizer over bytes and merges of them, within words as GPT-2 cuts them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenTokens {
    /// The bytes of every token, by id.
    pub pieces: Vec<Vec<u8>>,
    /// Which tokens are merged, earlier merges first. What they become is the token with the bytes of
    /// both.
    pub merges: Vec<[u32; 2]>,
    /// The ids of tokens that no merge makes, such as `<|endoftext|>`: wherever a text has their
    /// characters, it has this token.
    pub special: Vec<u32>,
}

/// A model whose weights are about to come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenModel {
    pub gpt: GptSpec,
    pub tokens: GivenTokens,
}

/// Some of the weights: rows of equal length that lie in one parameter at equal distances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Number of the parameter in the model's own order.
    pub parameter: u32,
    /// Where the first row begins in the parameter's values, row-major.
    pub begin: u32,
    /// Values in a row.
    pub row: u32,
    /// From the beginning of one row to that of the next.
    pub stride: u32,
    #[serde(with = "crate::floats")]
    pub values: Vec<f32>,
}
