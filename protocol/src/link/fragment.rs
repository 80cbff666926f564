//! What the learner wrote and drew, compressed for a URL's fragment.

use core::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use miniz_oxide::{deflate::compress_to_vec, inflate::decompress_to_vec_with_limit};

use crate::study::mask::Drawn;

/// Longest fragment put into a link, in characters.
pub const FRAGMENT_LIMIT: usize = 8192;
/// A hostile fragment could decompress to gigabytes; nothing we write decompresses to more than
/// this.
const UNPACKED_LIMIT: usize = 1 << 20;
/// First byte of the written text in its compressed form. It is independent of the version of
/// messages, because links outlive releases. Raise it only if a reader of the old form could not
/// read the new one, and keep reading the old form.
const VERSION: u8 = 5;
/// Best compression: the input is a few kilobytes.
const LEVEL: u8 = 9;

/// What the learner wrote and drew: the probe sentence, for [`super::Corpus::Own`] the training
/// text, and in the chapter `mask` the cells set by hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    pub probe: Option<String>,
    pub text: Option<String>,
    pub mask: Drawn,
}

/// Why a fragment was not used. `Display` is the sentence the page shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FragmentError {
    /// Writing: more than [`FRAGMENT_LIMIT`] characters.
    TooLong,
    /// Reading: cut short, edited, or not written by us.
    Damaged,
}

impl fmt::Display for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "What you wrote is too long for a link and is not included in it.",
            Self::Damaged => {
                "The part of the link after # is damaged, so what was written or drawn is left out."
            }
        })
    }
}

impl std::error::Error for FragmentError {}

impl Written {
    /// The fragment without `#`: `w=` with what was written, `m=` with what was drawn, joined by
    /// `&`; empty if there is neither.
    pub fn encode(&self) -> Result<String, FragmentError> {
        let mut parts = Vec::new();
        if self.probe.is_some() || self.text.is_some() {
            let written = postcard::to_extend(&(&self.probe, &self.text), vec![VERSION]);
            parts.push(part("w=", &written.expect("strings are always written")));
        }
        if !self.mask.is_empty() {
            parts.push(part("m=", &self.mask.to_bytes()));
        }
        let fragment = parts.join("&");
        if fragment.len() > FRAGMENT_LIMIT { Err(FragmentError::TooLong) } else { Ok(fragment) }
    }

    /// Parses a fragment without `#`.
    pub fn decode(fragment: &str) -> Result<Self, FragmentError> {
        let mut written = Self::default();
        if fragment.is_empty() {
            return Ok(written);
        }
        for part in fragment.split('&') {
            if let Some(body) = part.strip_prefix("w=") {
                (written.probe, written.text) =
                    read_written(&unpack(body)?).ok_or(FragmentError::Damaged)?;
            } else if let Some(body) = part.strip_prefix("m=") {
                written.mask = Drawn::from_bytes(&unpack(body)?).ok_or(FragmentError::Damaged)?;
            } else {
                return Err(FragmentError::Damaged);
            }
        }
        Ok(written)
    }
}

/// Parses bytes that hold probe and text and nothing else.
fn read_written(bytes: &[u8]) -> Option<(Option<String>, Option<String>)> {
    let body = bytes.strip_prefix(&[VERSION])?;
    match postcard::take_from_bytes(body) {
        Ok((written, [])) => Some(written),
        _ => None,
    }
}

fn part(name: &str, bytes: &[u8]) -> String {
    format!("{name}{}", URL_SAFE_NO_PAD.encode(compress_to_vec(bytes, LEVEL)))
}

fn unpack(body: &str) -> Result<Vec<u8>, FragmentError> {
    let packed = URL_SAFE_NO_PAD.decode(body).map_err(|_| FragmentError::Damaged)?;
    decompress_to_vec_with_limit(&packed, UNPACKED_LIMIT).map_err(|_| FragmentError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::mask::Pattern;

    #[test]
    fn a_sentence_survives_and_a_long_text_is_refused() {
        let written = Written {
            probe: Some("naïve 🙂 — “quoted” & more".into()),
            ..Written::default()
        };
        let fragment = written.encode().unwrap();
        assert!(fragment.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=".contains(&b)));
        assert_eq!(Written::decode(&fragment), Ok(written));
        // Without repetitions, so that it can't be compressed.
        let text: String =
            (0..6000u32).filter_map(|i| char::from_u32(0x4e00 + i * 3 % 20000)).collect();
        let long = Written { text: Some(text), ..Written::default() };
        assert_eq!(long.encode(), Err(FragmentError::TooLong));
    }

    #[test]
    fn a_drawing_fits_whatever_it_is_and_stands_beside_a_sentence() {
        // Every second cell, pseudo-randomly, so that it can't be compressed.
        let (pattern, mut mask) = (Pattern::default(), Drawn::default());
        for cell in 0..1024usize {
            if (cell * cell * 7 + cell) % 11 < 5 {
                let to = !pattern.allows(32, cell / 32, cell % 32);
                mask.set(&pattern, 32, (cell / 32, cell % 32), to);
            }
        }
        assert!(mask.len() > 300);
        for probe in [None, Some("a & b".to_owned())] {
            let written = Written { probe, text: None, mask: mask.clone() };
            let fragment = written.encode().unwrap();
            assert!(fragment.len() < 500, "{}", fragment.len());
            assert_eq!(Written::decode(&fragment), Ok(written));
        }
    }

    #[test]
    fn links_of_earlier_releases_are_read() {
        // A fragment that a page wrote while messages had version 5.
        let fragment = "w=Y2WUD8lIVcjNzMlJLXrUMLNYIS2_QkehPCNfISMxRSE_L5UBAA";
        let probe = Some("The miller’s fox, who had one".to_owned());
        assert_eq!(Written::decode(fragment), Ok(Written { probe, ..Written::default() }));
    }

    #[test]
    fn damage_and_bombs_are_refused() {
        let bomb = compress_to_vec(&vec![0u8; 64 << 20], LEVEL);
        let bomb = format!("w={}", URL_SAFE_NO_PAD.encode(bomb));
        let bad =
            ["x", "w=", "w=!!", "w=AAAA", "w=w=", "m=", "m=!!", "m=AAAA", "m=AwA", "&", "m=&m="];
        let drawn = bomb.replacen("w=", "m=", 1);
        for fragment in bad.into_iter().chain([bomb.as_str(), drawn.as_str()]) {
            assert_eq!(Written::decode(fragment), Err(FragmentError::Damaged), "{fragment:.20}");
        }
    }
}
