//! The lab's model as a safetensors file, which transformers and PyTorch can read: which tensor holds which
//! parameter, and how a checkpoint is written. docs/model-files.md describes the format.
//!
//! The page saves models so, and the engine outside the browser keeps those that are too large for the page.

mod outgoing;
mod places;

pub use outgoing::{
    BYTE_TOKENS, NORM_EPSILON, OPTIMIZER_PREFIXES, Outgoing, UNKNOWN_TOKEN, activation_name,
    header, is_gpt2, is_gpt2_but_for_norms, to_bytes, vocabulary_size,
};
pub use places::{LM_HEAD, Layout, PREFIX, Place, Tensor, places, tensors};
