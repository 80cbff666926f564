//! One row of an attention matrix, with everything its arithmetic needs.

mod worked;

use serde::{Deserialize, Serialize};

use crate::Array;
pub use worked::{DECIMALS, Term, Worked, WorkedKey, rounded};

/// How one query attends to `K` keys: `weights = softmax(scores)`, `mixed = Σ weights · values`.
/// Everything counts from 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AttentionRow {
    pub layer: u32,
    pub head: u32,
    pub query: u32,
    /// The query's token, as text.
    pub query_token: String,
    /// The keys' tokens, as text, `K`.
    pub tokens: Vec<String>,
    pub scoring: Scoring,
    /// What ALiBi adds to each score before the mask, `K`; 0 without ALiBi.
    pub bias: Vec<f32>,
    /// Whether the query may attend to each key, `K`.
    pub allowed: Vec<bool>,
    /// Scores including the bias; -inf where the query may not attend, `K`.
    pub scores: Vec<f32>,
    /// Sum to 1; exactly 0 where the query may not attend, `K`.
    pub weights: Vec<f32>,
    /// `[K, d_v]`
    pub values: Array,
    /// The weighted sum of the values, `d_v` numbers.
    pub mixed: Vec<f32>,
}

/// How a score is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scoring {
    /// `q · k / divisor`: scaled dot-product attention (Vaswani et al. 2017, equation 1), and with
    /// a divisor of 1 Luong's "dot" and, with `q = W_aᵀ s`, "general" (2015, equation 8).
    Product {
        /// `d_k` numbers, rotated if positions are rotary.
        query: Vec<f32>,
        /// `[K, d_k]`, likewise.
        keys: Array,
        divisor: f32,
    },
    /// `v · tanh(a + b_j)`: Bahdanau et al. 2015, section 3.1, and Luong's "concat".
    Additive {
        /// What the decoder's state contributes, `W_s s`.
        from_query: Vec<f32>,
        /// What each of the encoder's states contributes, `W_h h_j`, `[K, A]`.
        from_keys: Array,
        /// `v`, `A` numbers.
        vector: Vec<f32>,
    },
}

impl Default for Scoring {
    fn default() -> Self {
        Self::Product { query: Vec::new(), keys: Array::default(), divisor: 1.0 }
    }
}
