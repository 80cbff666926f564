//! Models of another's making: the files of their tokenizers, and their weights piece by piece.

use serde::{Deserialize, Serialize};

use crate::GptSpec;

/// Most parameters of a model that is only asked and not trained: as 32-bit numbers they fill 800 MB.
pub const MAX_GIVEN_PARAMETERS: u64 = 200_000_000;
/// Most tokens that a given vocabulary may have.
pub const MAX_GIVEN_TOKENS: usize = 1 << 17;
/// The longest context of a given model.
pub const MAX_GIVEN_CONTEXT: u32 = 2048;

/// A file that says something about a tokenizer: `tokenizer.json`, `vocab.json`, `merges.txt`. The engine
/// reads it: with 50,000 tokens that takes longer than a page may stand still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenizerFile {
    pub name: String,
    pub text: String,
}

/// A model whose weights are about to come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenModel {
    pub gpt: GptSpec,
    /// Rows of its token embedding.
    pub tokens: u32,
    pub tokenizer: Vec<TokenizerFile>,
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
