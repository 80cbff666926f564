//! A tokenizer that came with a model of another's making: bytes and merges of them, within words as
//! GPT-2 cuts them (Radford et al. 2019).

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{VocabularyError, byte_pairs::Merging, letters::is_letter};

/// A tokenizer over bytes and merges of them, within words as GPT-2 cuts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// The endings that are words of their own.
const CONTRACTIONS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

/// A merge of two neighboring tokens: what they become, and when.
#[derive(Clone, Copy, Debug)]
struct Merge {
    pair: [u32; 2],
    rank: u32,
    becomes: u32,
}

/// The order of merges, and the ids of bytes and of special tokens.
#[derive(Debug)]
pub struct Given {
    /// One for each byte.
    bytes: Vec<u32>,
    /// In order of their pairs.
    merges: Vec<Merge>,
    /// Texts that are tokens as they stand, such as `<|endoftext|>`; the longest first.
    special: Vec<(String, u32)>,
}

impl Given {
    /// # Errors
    ///
    /// Where a byte is no token, or a merge is of what is no token or makes none.
    pub fn new(tokens: &GivenTokens) -> Result<Self, VocabularyError> {
        let GivenTokens { pieces, merges, special } = tokens;
        let mut ids: Vec<u32> = (0..pieces.len() as u32).collect();
        let piece = |id: u32| pieces[id as usize].as_slice();
        ids.sort_by_key(|id| piece(*id));
        let find = |bytes: &[u8]| {
            let at = ids.binary_search_by_key(&bytes, |id| piece(*id)).ok()?;
            Some(ids[at])
        };
        let mut bytes = vec![0; 256];
        for (byte, id) in (0..=u8::MAX).zip(&mut bytes) {
            *id = find(&[byte]).ok_or(VocabularyError::LacksByte { byte })?;
        }
        let mut known = Vec::with_capacity(merges.len());
        for (rank, pair) in (0..).zip(merges) {
            let parts = pair.map(|id| pieces.get(id as usize));
            let [Some(left), Some(right)] = parts else { return Err(VocabularyError::NoSuchToken) };
            let becomes = find(&[left.as_slice(), right].concat());
            let becomes = becomes.ok_or(VocabularyError::NoSuchToken)?;
            known.push(Merge { pair: *pair, rank, becomes });
        }
        // Of a pair that is listed twice the later rank counts, as in `tokenizers`.
        known.sort_by_key(|merge| (merge.pair, Reverse(merge.rank)));
        known.dedup_by_key(|merge| merge.pair);
        let text =
            |id: &u32| Some((String::from_utf8(pieces.get(*id as usize)?.clone()).ok()?, *id));
        let mut special: Vec<(String, u32)> = special.iter().filter_map(text).collect();
        special.retain(|(text, _)| !text.is_empty());
        special.sort_by_key(|(text, _)| Reverse(text.len()));
        Ok(Self { bytes, merges: known, special })
    }

    fn merge(&self, pair: [u32; 2]) -> Option<&Merge> {
        let at = self.merges.binary_search_by_key(&pair, |merge| merge.pair).ok()?;
        Some(&self.merges[at])
    }
}

impl Merging for Given {
    /// The token before the first of a text: the special one, if there is one, or a line break.
    fn beginning(&self) -> u32 {
        self.special.first().map_or(self.bytes[usize::from(b'\n')], |(_, id)| *id)
    }

    /// The tokens of a text.
    fn encode(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        let mut rest = text;
        loop {
            // Of those that begin first, the longest.
            let at = |(text, id): &(String, u32)| Some((rest.find(text)?, text.len(), *id));
            let next = self.special.iter().filter_map(at).min_by_key(|(at, ..)| *at);
            let until = next.map_or(rest.len(), |(at, ..)| at);
            words(&rest[..until], |word| tokens.extend(self.merged(word.as_bytes())));
            let Some((at, length, id)) = next else { return tokens };
            tokens.push(id);
            rest = &rest[at + length..];
        }
    }

    /// The tokens of one word: of all merges that can be made, the earliest is made first, and of
    /// equal ones the leftmost.
    fn merged(&self, bytes: &[u8]) -> Vec<u32> {
        let mut tokens: Vec<u32> =
            bytes.iter().map(|byte| self.bytes[usize::from(*byte)]).collect();
        // A token that was merged into the one before it is skipped: `next` and `before` lead past it.
        let mut next: Vec<usize> = (1..=tokens.len()).collect();
        let mut before: Vec<usize> = (0..tokens.len()).map(|at| at.wrapping_sub(1)).collect();
        let mut possible = BinaryHeap::new();
        let look = |tokens: &[u32], left: usize, right: usize| {
            let pair = [*tokens.get(left)?, *tokens.get(right)?];
            let merge = self.merge(pair)?;
            Some(Reverse((merge.rank, left, right, pair, merge.becomes)))
        };
        possible.extend((1..tokens.len()).filter_map(|right| look(&tokens, right - 1, right)));
        while let Some(Reverse((_, left, right, pair, becomes))) = possible.pop() {
            // One of the two may have become another token since.
            if next[left] != right || [tokens[left], tokens[right]] != pair {
                continue;
            }
            tokens[left] = becomes;
            next[left] = next[right];
            // No pair that is still listed begins or ends here.
            next[right] = usize::MAX;
            if let Some(before) = before.get_mut(next[left]) {
                *before = left;
            }
            possible.extend(look(&tokens, before[left], left));
            possible.extend(look(&tokens, left, next[left]));
        }
        let mut kept = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            kept.push(tokens[at]);
            at = next[at];
        }
        kept
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Space,
    Letter,
    Number,
    Other,
}

fn class(character: char) -> Class {
    match character {
        c if c.is_whitespace() => Class::Space,
        c if is_letter(c) => Class::Letter,
        c if c.is_numeric() => Class::Number,
        _ => Class::Other,
    }
}

/// Cuts a text as GPT-2 does: into runs of letters, of numbers and of other signs, each with one space
/// before it, and into the white space that is left. Merges stay within a word.
fn words<'a>(text: &'a str, mut with: impl FnMut(&'a str)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let contraction = CONTRACTIONS.iter().find(|ending| rest.starts_with(**ending));
        let length = match contraction {
            Some(ending) => ending.len(),
            None if class(first) == Class::Space => of_spaces(rest),
            None => run(rest),
        };
        let (word, left) = rest.split_at(length);
        with(word);
        rest = left;
    }
}

/// The length of a run of characters of one class.
fn run(text: &str) -> usize {
    let mut characters = text.char_indices();
    let first = characters.next().map(|(_, first)| class(first));
    characters.find(|(_, c)| Some(class(*c)) != first).map_or(text.len(), |(at, _)| at)
}

/// The length of the word that begins with white space: all of it but the last character, which goes to
/// what follows if it is a space.
fn of_spaces(text: &str) -> usize {
    let spaces = run(text);
    let last = text[..spaces].chars().next_back().map_or(0, char::len_utf8);
    match spaces - last {
        _ if spaces == text.len() => spaces,
        0 if text.starts_with(' ') => 1 + run(&text[1..]),
        0 => spaces,
        others => others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        words(text, |word| found.push(word));
        found
    }

    #[test]
    fn words_are_cut_as_gpt_2_does() {
        assert_eq!(cut("the cat's 2nd hat"), ["the", " cat", "'s", " 2", "nd", " hat"]);
        assert_eq!(cut("a  b\n\n c\t d "), ["a", " ", " b", "\n\n", " c", "\t", " d", " "]);
        assert_eq!(cut("x\u{a0}y \n z"), ["x", "\u{a0}", "y", " \n", " z"]);
        assert_eq!(cut("''s 'RE 're'll"), ["''", "s", " '", "RE", " '", "re", "'ll"]);
        assert_eq!(cut("世界 ½ x²"), ["世界", " ½", " x", "²"]);
        // A vowel sign is no letter.
        assert_eq!(cut("कि"), ["क", "ि"]);
        assert!(cut("").is_empty());
    }

    /// Bytes, some merges of them, and a special token.
    fn tokens(merges: &[[u32; 2]]) -> GivenTokens {
        let mut pieces: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
        for pair in merges {
            pieces.push(pair.map(|id| pieces[id as usize].clone()).concat());
        }
        let special = vec![pieces.len() as u32];
        pieces.push(b"<|endoftext|>".to_vec());
        GivenTokens { pieces, merges: merges.to_vec(), special }
    }

    #[test]
    fn the_earliest_merge_is_made_first_and_the_leftmost_of_equals() {
        let [a, b, c] = [b'a', b'b', b'c'].map(u32::from);
        let given = Given::new(&tokens(&[[b, c], [a, b], [a, a], [258, c], [a, 256]])).unwrap();
        assert_eq!(given.encode("abc"), [260]);
        assert_eq!(given.encode("aaaaa"), [258, 258, a]);
        assert_eq!(given.encode("aabb"), [a, 257, b]);
        assert_eq!(given.encode("a<|endoftext|>bc"), [a, 261, 256]);
        assert_eq!(given.beginning(), 261);
    }

    #[test]
    fn a_long_word_takes_no_longer_than_it_should() {
        let a = u32::from(b'a');
        let given = Given::new(&tokens(&[[a, a], [256, 256], [257, 257]])).unwrap();
        assert_eq!(given.encode(&"a".repeat(1_000_000)).len(), 125_000);
    }

    #[test]
    fn what_is_no_tokenizer_is_refused() {
        let mut lacking = tokens(&[]);
        lacking.pieces[7] = b"seven".to_vec();
        assert_eq!(Given::new(&lacking).unwrap_err(), VocabularyError::LacksByte { byte: 7 });
        let mut strange = tokens(&[]);
        strange.merges = vec![[97, 98]];
        assert_eq!(Given::new(&strange).unwrap_err(), VocabularyError::NoSuchToken);
        strange.merges = vec![[97, 9999]];
        assert_eq!(Given::new(&strange).unwrap_err(), VocabularyError::NoSuchToken);
        let empty = GivenTokens { pieces: vec![], merges: vec![], special: vec![3] };
        assert_eq!(Given::new(&empty).unwrap_err(), VocabularyError::LacksByte { byte: 0 });
    }
}
