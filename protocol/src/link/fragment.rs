//! What the learner wrote, small enough for a URL's fragment.

use core::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use miniz_oxide::{deflate::compress_to_vec, inflate::decompress_to_vec_with_limit};
use serde::{Deserialize, Serialize};

/// Longest fragment put into a link, in characters.
pub const FRAGMENT_LIMIT: usize = 8192;
/// A hostile fragment could unpack to gigabytes; nothing we write unpacks to more than this.
const UNPACKED_LIMIT: usize = 1 << 20;
/// Best compression: the input is a few kilobytes.
const LEVEL: u8 = 9;

/// What the learner wrote: the probe sentence and, for [`super::Corpus::Own`], the training text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    pub probe: Option<String>,
    pub text: Option<String>,
}

/// Why a fragment was not used. `Display` is the sentence the page shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FragmentError {
    /// Writing: more than [`FRAGMENT_LIMIT`] characters.
    TooLong,
    /// Reading: cut short, edited, or not ours.
    Damaged,
}

impl fmt::Display for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "What you wrote is too long for a link and is not included in it.",
            Self::Damaged => "The part of the link after # is damaged, so its text is left out.",
        })
    }
}

impl std::error::Error for FragmentError {}

impl Written {
    /// The fragment without `#`; empty when nothing was written.
    pub fn encode(&self) -> Result<String, FragmentError> {
        if *self == Self::default() {
            return Ok(String::new());
        }
        let packed = compress_to_vec(&crate::wire::encode(self), LEVEL);
        let fragment = format!("w={}", URL_SAFE_NO_PAD.encode(packed));
        if fragment.len() > FRAGMENT_LIMIT { Err(FragmentError::TooLong) } else { Ok(fragment) }
    }

    /// Reads a fragment without `#`.
    pub fn decode(fragment: &str) -> Result<Self, FragmentError> {
        if fragment.is_empty() {
            return Ok(Self::default());
        }
        let body = fragment.strip_prefix("w=").ok_or(FragmentError::Damaged)?;
        let packed = URL_SAFE_NO_PAD.decode(body).map_err(|_| FragmentError::Damaged)?;
        let bytes = decompress_to_vec_with_limit(&packed, UNPACKED_LIMIT)
            .map_err(|_| FragmentError::Damaged)?;
        crate::wire::decode(&bytes).map_err(|_| FragmentError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_survives_and_a_long_text_is_refused() {
        let written =
            Written { probe: Some("naïve 🙂 — “quoted” & more".into()), text: None };
        let fragment = written.encode().unwrap();
        assert!(fragment.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b)));
        assert_eq!(Written::decode(&fragment), Ok(written));
        // Nothing repeats, so nothing can be squeezed out.
        let text: String =
            (0..6000u32).filter_map(|i| char::from_u32(0x4e00 + i * 3 % 20000)).collect();
        let long = Written { probe: None, text: Some(text) };
        assert_eq!(long.encode(), Err(FragmentError::TooLong));
    }

    #[test]
    fn damage_and_bombs_are_refused() {
        let bomb = compress_to_vec(&vec![0u8; 64 << 20], LEVEL);
        let bomb = format!("w={}", URL_SAFE_NO_PAD.encode(bomb));
        for fragment in ["x", "w=", "w=!!", "w=AAAA", "w=w=", bomb.as_str()] {
            assert_eq!(Written::decode(fragment), Err(FragmentError::Damaged));
        }
    }
}
