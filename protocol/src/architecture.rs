//! Properties that distinguish transformers of the same size.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::link::rows::choice;

choice! {
    /// How a model learns the positions of tokens.
    Positions {
        /// No positions.
        None = "none", "None";
        /// The position itself, as a number, added to the embedding's first dimension.
        Integer = "integer", "Integer";
        /// Vaswani et al. 2017, section 3.5.
        Sinusoidal = "sinusoidal", "Sinusoidal";
        /// A trained vector for each position, as in GPT-2 (Radford et al. 2019).
        Learned = "learned", "Learned";
        /// Queries and keys rotated by their position (Su et al. 2021).
        Rotary = "rotary", "Rotary";
        /// Scores lowered in proportion to the distance (Press, Smith and Lewis 2022).
        Alibi = "alibi", "ALiBi";
    }
}

choice! {
    /// Which tokens may attend to which.
    MaskKind {
        /// Each token attends to itself and to those before it.
        Causal = "causal", "Causal";
        /// Every token attends to every token.
        Full = "full", "Both ways";
        /// Each token attends to itself and the last few before it, as in GPT-3's banded layers.
        Band = "band", "Local band";
    }
}

choice! {
    /// Where a block's layers are normalized.
    NormPlacement {
        /// Before each layer, as in GPT-2, with one more norm before the head.
        Pre = "pre", "Pre-norm";
        /// After each residual connection, as in Vaswani et al. 2017.
        Post = "post", "Post-norm";
        /// No norms.
        None = "none", "No norm";
    }
}

choice! {
    /// What a norm does to a row of the stream.
    NormKind {
        /// Subtracts the mean and divides by the standard deviation (Ba, Kiros and Hinton 2016).
        Layer = "layer", "LayerNorm";
        /// Divides by the root of the mean square; there is no bias (Zhang and Sennrich 2019).
        Rms = "rms", "RMSNorm";
    }
}

impl NormKind {
    /// How many trained numbers a norm has for each number of a row: a gain, and a bias.
    pub fn parameters(self) -> u64 {
        match self {
            Self::Layer => 2,
            Self::Rms => 1,
        }
    }
}

choice! {
    /// The non-linearity of a block's feed-forward layer.
    Activation {
        Relu = "relu", "ReLU";
        /// `x Φ(x)` (Hendrycks and Gimpel 2016).
        Gelu = "gelu", "GELU";
        /// The tanh approximation of GELU, as in GPT-2's code.
        GeluTanh = "gelu-tanh", "GELU (tanh form)";
        /// `x softmax(x)` (Elhage et al. 2022), without the norm that the paper adds after it.
        Solu = "solu", "SoLU";
    }
}

/// The properties that distinguish transformers of the same size. The default is GPT-2's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Architecture {
    pub positions: Positions,
    pub mask: MaskKind,
    /// Number of tokens that each one sees under [`MaskKind::Band`], itself included.
    pub band: u32,
    pub norm: NormPlacement,
    /// Whether a layer's output is added to its input instead of replacing it.
    pub residual: bool,
    /// Whether blocks have an attention layer.
    pub attention: bool,
    /// Whether scores are divided by the square root of the head's width.
    pub scaled: bool,
    /// The feed-forward layer's non-linearity; `None` leaves the layer out.
    pub feed_forward: Option<Activation>,
    /// What the norms do, where there are any.
    pub norm_kind: NormKind,
}

impl Architecture {
    /// GPT-2's architecture.
    pub const GPT2: Self = Self {
        positions: Positions::Learned,
        mask: MaskKind::Causal,
        band: 8,
        norm: NormPlacement::Pre,
        residual: true,
        attention: true,
        scaled: true,
        feed_forward: Some(Activation::Gelu),
        norm_kind: NormKind::Layer,
    };
}

impl Default for Architecture {
    fn default() -> Self {
        Self::GPT2
    }
}

/// Why an architecture does not fit a model's size. `Display` is the sentence the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchitectureError {
    OddWidth { positions: Positions, width: u32 },
    EmptyBand,
}

impl fmt::Display for ArchitectureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddWidth { positions: Positions::Rotary, width } => write!(
                f,
                "Rotary positions turn pairs of a head's dimensions, and a head of width {width} \
                 can't be split into pairs: choose an even width per head."
            ),
            Self::OddWidth { width, .. } => write!(
                f,
                "Sinusoidal positions are pairs of a sine and a cosine, and a width of {width} \
                 can't be split into pairs: choose an even width."
            ),
            Self::EmptyBand => {
                write!(f, "A band of 0 tokens lets nobody look at anything: choose at least 1.")
            }
        }
    }
}

impl core::error::Error for ArchitectureError {}

impl Architecture {
    /// Checks the architecture against the widths of the residual stream and of one head.
    pub fn validate(&self, width: u32, head_width: u32) -> Result<(), ArchitectureError> {
        let positions = self.positions;
        let paired = match positions {
            Positions::Sinusoidal => width,
            Positions::Rotary => head_width,
            _ => 2,
        };
        if !paired.is_multiple_of(2) {
            return Err(ArchitectureError::OddWidth { positions, width: paired });
        }
        if self.mask == MaskKind::Band && self.band == 0 {
            return Err(ArchitectureError::EmptyBand);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_widths_are_refused_where_dimensions_come_in_pairs() {
        let with = |positions| Architecture { positions, ..Architecture::default() };
        assert!(with(Positions::Sinusoidal).validate(15, 15).is_err());
        assert!(with(Positions::Rotary).validate(30, 15).is_err());
        assert!(with(Positions::Rotary).validate(30, 10).is_ok());
        assert!(with(Positions::Learned).validate(15, 5).is_ok());
    }
}
