//! A tokenizer whose tokens are bytes and merged pairs of them.

use core::fmt;

use unroll_protocol::signs;

use super::{
    VocabularyError,
    given::{Given, GivenTokens},
};
use crate::bpe::{self, BpeLearner, Encoder, Pair};

/// Merges are learned on so much of a text: enough to know its words, and soon done.
pub const LEARNED_FROM: usize = 1_000_000;
/// Bytes of the longest token: a word has at most 64 characters.
const LONGEST: usize = 256;

/// Who merges, and in which words. An engine that never meets one kind leaves out its code.
pub trait Merging: fmt::Debug + Send + Sync {
    /// The tokens of a text.
    fn encode(&self, text: &str) -> Vec<u32>;
    /// The tokens of one word, which need not be whole characters.
    fn merged(&self, bytes: &[u8]) -> Vec<u32>;
    /// The token before the first of a text.
    fn beginning(&self) -> u32;
}

impl Merging for Encoder {
    fn encode(&self, text: &str) -> Vec<u32> {
        self.encode(text).into_iter().map(own).collect()
    }

    fn merged(&self, bytes: &[u8]) -> Vec<u32> {
        self.merged(bytes).map(own).collect()
    }

    fn beginning(&self) -> u32 {
        u32::from(b'\n')
    }
}

/// Bytes and their merges, within words. Where they were learned here, the first 256 ids are the bytes.
#[derive(Debug)]
pub struct BytePairs {
    /// None that were given.
    merges: Vec<[u32; 2]>,
    merging: Box<dyn Merging>,
    /// The bytes of every id.
    pieces: Vec<Vec<u8>>,
}

/// An id here, from one of [`bpe`]: a text that is one stretch needs no end token, so later ids move up.
fn own(id: u32) -> u32 {
    if id > bpe::END { id - 1 } else { id }
}

/// The way back.
fn of_bpe(id: u32) -> u32 {
    if id >= bpe::END { id + 1 } else { id }
}

/// Whether a byte begins a character.
fn begins(byte: &u8) -> bool {
    byte & 0xc0 != 0x80
}

impl BytePairs {
    /// With so many merges, or as many as the text gives.
    pub fn learn(text: &str, merges: usize) -> Self {
        let learned_from = &text[..text.floor_char_boundary(LEARNED_FROM)];
        let mut learner = BpeLearner::new([learned_from], true, merges);
        learner.learn(merges);
        Self::new(learner.merges().iter().map(Pair::ids).collect())
    }

    /// With these merges of ids as [`bpe`] has them.
    fn new(merges: Vec<[u32; 2]>) -> Self {
        let mut pieces = bpe::pieces(&merges);
        pieces.remove(bpe::END as usize);
        let merging = Box::new(Encoder::new(&merges, true));
        Self { merges: merges.into_iter().map(|pair| pair.map(own)).collect(), merging, pieces }
    }

    /// Those that came with a model.
    pub fn given(tokens: &GivenTokens) -> Result<Self, VocabularyError> {
        let merging = Box::new(Given::new(tokens)?);
        Ok(Self { merges: Vec::new(), merging, pieces: tokens.pieces.clone() })
    }

    /// With merges that came from elsewhere.
    pub fn from_merges(merges: &[[u32; 2]], most: usize) -> Result<Self, VocabularyError> {
        if merges.len() > most {
            return Err(VocabularyError::TooManyMerges { merges: merges.len() });
        }
        let mut lengths = vec![1; 256];
        for pair in merges {
            let length = |id: &u32| lengths.get(*id as usize).copied();
            let [Some(left), Some(right)] = [length(&pair[0]), length(&pair[1])] else {
                return Err(VocabularyError::NoSuchToken);
            };
            if left + right > LONGEST {
                return Err(VocabularyError::NoSuchToken);
            }
            lengths.push(left + right);
        }
        Ok(Self::new(merges.iter().map(|pair| pair.map(of_bpe)).collect()))
    }

    /// What was merged, in order.
    pub fn merges(&self) -> &[[u32; 2]] {
        &self.merges
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The bytes of an id; none outside the vocabulary.
    pub fn piece(&self, id: u32) -> &[u8] {
        self.pieces.get(id as usize).map_or(&[], Vec::as_slice)
    }

    pub fn encode(&self, text: &str) -> Vec<u32> {
        self.merging.encode(text)
    }

    /// The tokens of a row of bytes.
    pub fn merged(&self, bytes: &[u8]) -> Vec<u32> {
        self.merging.merged(bytes)
    }

    /// The token before the first of a text.
    pub fn beginning(&self) -> u32 {
        self.merging.beginning()
    }

    pub fn bytes(&self, ids: &[u32]) -> Vec<u8> {
        ids.iter().flat_map(|id| self.piece(*id)).copied().collect()
    }

    /// Characters that begin within a token.
    pub fn begun(&self, id: u32) -> u32 {
        self.piece(id).iter().filter(|byte| begins(byte)).count() as u32
    }

    pub fn label(&self, id: u32) -> String {
        signs::label(self.piece(id))
    }
}

/// The text of bytes that are being written: a character at the end whose last bytes are missing is
/// held back, and each other byte that is no character is U+FFFD.
pub fn written(bytes: &[u8]) -> String {
    let tail = bytes.iter().rev().take(3).position(begins).map_or(0, |at| at + 1);
    let (whole, tail) = bytes.split_at(bytes.len() - tail);
    let mut text = String::from_utf8_lossy(whole).into_owned();
    match core::str::from_utf8(tail) {
        // More is to come.
        Err(error) if error.error_len().is_none() => {}
        _ => text += &String::from_utf8_lossy(tail),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_pairs_of_a_known_text_are_those_worked_out_by_hand() {
        // Words and their counts: low 1, " low" 2, " newest" 2. The pairs `lo` and `ow` occur three
        // times each, `lo` has the smaller id; then `low` 3. Of those that occur twice, the smallest
        // left id is the space: " low", then " n"; and so on from the end of "newest".
        let pairs = BytePairs::learn("low low low newest newest", 6);
        let byte = |c: char| u32::from(c);
        let expected = [
            [byte('l'), byte('o')],
            [256, byte('w')],
            [byte(' '), byte('n')],
            [byte(' '), 257],
            [byte('e'), byte('s')],
            [byte('e'), byte('w')],
        ];
        assert_eq!(pairs.merges(), expected);
        let labels: Vec<_> = (256..262).map(|id| pairs.label(id)).collect();
        assert_eq!(labels, ["lo", "low", " n", " low", "es", "ew"]);
        assert_eq!(pairs.encode("low newest"), [257, 258, 261, 260, byte('t')]);
    }

    #[test]
    fn an_unfinished_character_is_held_back_and_a_broken_one_shown() {
        let smile = "🙂".as_bytes();
        for cut in 1..4 {
            assert_eq!(written(&[b"ab", &smile[..cut]].concat()), "ab");
            // It can never become a character.
            assert_eq!(written(&[&smile[..cut], b"c"].concat()), "\u{fffd}c");
        }
        assert_eq!(written(&[b"ab", smile].concat()), "ab🙂");
        assert_eq!(written(&[0x80, 0x80, 0x80, 0x80]), "\u{fffd}".repeat(4));
        assert_eq!(written(&[b'a', 0xff]), "a\u{fffd}");
        assert_eq!(written(&[]), "");
    }

    #[test]
    fn hostile_merges_are_refused() {
        let refused = |merges: &[[u32; 2]]| BytePairs::from_merges(merges, 20).is_err();
        assert!(refused(&[[97, 256]]));
        assert!(refused(&[[u32::MAX, 1]]));
        assert!(refused(&[[97, 98]; 21]));
        // Each doubles the one before: the ninth would have 512 bytes.
        let doubled: Vec<_> =
            (0..9).map(|at| if at == 0 { [97; 2] } else { [255 + at; 2] }).collect();
        assert!(refused(&doubled) && !refused(&doubled[..8]));
        let pairs = BytePairs::learn("the then there 世界世界", 12);
        let again = BytePairs::from_merges(pairs.merges(), 12).expect("ours");
        assert_eq!((again.merges(), &again.pieces), (pairs.merges(), &pairs.pieces));
        assert_eq!(again.encode("there 世"), pairs.encode("there 世"));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "\\PC{0,60}", learned in "\\PC{0,80}", merges in 0usize..40) {
            let pairs = BytePairs::learn(&learned.repeat(2), merges);
            let ids = pairs.encode(&text);
            prop_assert_eq!(pairs.bytes(&ids), text.as_bytes());
            prop_assert_eq!(written(&pairs.bytes(&ids)), text.as_str());
            let begun: u32 = ids.iter().map(|id| pairs.begun(*id)).sum();
            prop_assert_eq!(begun as usize, text.chars().count());
        }

        #[test]
        fn what_is_written_only_grows(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            for end in 0..bytes.len() {
                prop_assert!(written(&bytes).starts_with(&written(&bytes[..end])));
            }
        }
    }
}
