//! Byte-pair encoding: the most frequent pair of neighboring tokens becomes a token of its own,
//! again and again. Gage (1994) used it for compression; Sennrich, Haddow and Birch (2016) keep
//! merges within words; GPT-2 (Radford et al. 2019) starts from bytes, so that no text is unknown.

use std::collections::HashMap;

/// Id of the token after each document. Bytes are their own ids; merges are numbered from 257.
pub const END: u32 = 256;
/// Id of the first merge.
pub const FIRST_MERGE: u32 = 257;
/// Most merges a [`BpeLearner`] makes.
pub const MAX_MERGES: usize = 300;

/// Number of possible ids.
const IDS: usize = FIRST_MERGE as usize + MAX_MERGES;

/// A pair of neighboring tokens and how often it can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub left: u32,
    pub right: u32,
    /// How many tokens merging it saves. In `aaa` the pair `aa` counts once.
    pub count: u64,
}

/// A document cut into the pieces that merges never cross: the words, or the document itself.
///
/// A word is a run of letters, of digits or of other signs; a single space belongs to the word
/// after it, as in GPT-2, and any other white space is alone.
pub fn chunks(document: &str, words: bool) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (index, character) in document.char_indices() {
        if words && before.is_some_and(|before| is_boundary(before, character)) {
            chunks.push(&document[start..index]);
            start = index;
        }
        before = Some(character);
    }
    if start < document.len() {
        chunks.push(&document[start..]);
    }
    chunks
}

fn is_boundary(before: char, after: char) -> bool {
    #[derive(PartialEq)]
    enum Class {
        Space,
        Letter,
        Digit,
        Other,
    }
    let class = |c: char| match c {
        c if c.is_whitespace() => Class::Space,
        c if c.is_alphabetic() => Class::Letter,
        c if c.is_numeric() => Class::Digit,
        _ => Class::Other,
    };
    match (class(before), class(after)) {
        (_, Class::Space) => true,
        (Class::Space, _) => before != ' ',
        (before, after) => before != after,
    }
}

/// Encodes a document with these merges, earlier merges first.
pub fn encode(document: &str, merges: &[Pair], words: bool) -> Vec<u32> {
    let mut ids = Vec::new();
    for chunk in chunks(document, words) {
        let mut tokens: Vec<u16> = chunk.bytes().map(u16::from).collect();
        for (index, merge) in merges.iter().enumerate() {
            if tokens.len() < 2 {
                break;
            }
            replace(&mut tokens, merge, FIRST_MERGE + index as u32);
        }
        ids.extend(tokens.into_iter().map(u32::from));
    }
    ids
}

/// The bytes of every id; [`END`] has none.
pub fn pieces(merges: &[Pair]) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    pieces.push(Vec::new());
    for merge in merges {
        let [left, right] = [merge.left, merge.right].map(|id| pieces[id as usize].as_slice());
        pieces.push([left, right].concat());
    }
    pieces
}

/// Replaces the pair from left to right; returns how often.
fn replace(tokens: &mut Vec<u16>, pair: &Pair, id: u32) -> u64 {
    let (left, right) = (pair.left as u16, pair.right as u16);
    let (mut read, mut write) = (0, 0);
    while read < tokens.len() {
        if tokens[read] == left && tokens.get(read + 1) == Some(&right) {
            tokens[write] = id as u16;
            read += 2;
        } else {
            tokens[write] = tokens[read];
            read += 1;
        }
        write += 1;
    }
    let replaced = tokens.len() - write;
    tokens.truncate(write);
    replaced as u64
}

/// One of the distinct chunks of a text.
#[derive(Clone, Debug)]
struct Chunk {
    tokens: Vec<u16>,
    /// How often it occurs in the text.
    count: u32,
}

/// Learns merges on a text, one at a time.
///
/// The next pair is the one with the highest count; ties go to the smaller left id, then to the
/// smaller right id. So the same text always gives the same merges.
#[derive(Clone, Debug)]
pub struct BpeLearner {
    chunks: Vec<Chunk>,
    /// The text as indices into `chunks`, document by document.
    documents: Vec<Vec<u32>>,
    /// Counts of all pairs, `[IDS, IDS]`.
    counts: Vec<u32>,
    /// Whether a pair ever had a count, `[IDS, IDS]`, and the list of those pairs.
    listed: Vec<bool>,
    candidates: Vec<u32>,
    merges: Vec<Pair>,
    /// Number of tokens of the text, without end tokens.
    tokens: u64,
}

impl BpeLearner {
    /// No merges yet: every byte is a token. `words` keeps merges within words.
    pub fn new<'a>(documents: impl IntoIterator<Item = &'a str>, words: bool) -> Self {
        let mut learner = Self {
            chunks: Vec::new(),
            documents: Vec::new(),
            counts: vec![0; IDS * IDS],
            listed: vec![false; IDS * IDS],
            candidates: Vec::new(),
            merges: Vec::new(),
            tokens: 0,
        };
        let mut known: HashMap<&str, u32> = HashMap::new();
        for document in documents {
            learner.tokens += document.len() as u64;
            let mut indices = Vec::new();
            for chunk in chunks(document, words) {
                let index = *known.entry(chunk).or_insert_with(|| {
                    let tokens = chunk.bytes().map(u16::from).collect();
                    learner.chunks.push(Chunk { tokens, count: 0 });
                    learner.chunks.len() as u32 - 1
                });
                learner.chunks[index as usize].count += 1;
                indices.push(index);
            }
            learner.documents.push(indices);
        }
        for index in 0..learner.chunks.len() {
            learner.count(index, true);
        }
        learner
    }

    /// The pair to merge next; `None` if no pair occurs twice, or at [`MAX_MERGES`].
    pub fn next(&self) -> Option<Pair> {
        if self.merges.len() >= MAX_MERGES {
            return None;
        }
        // Indices order pairs by their ids, so the smaller index breaks ties.
        let best = self.candidates.iter().map(|&at| (self.counts[at as usize], at));
        let (count, at) = best.max_by_key(|&(count, at)| (count, core::cmp::Reverse(at)))?;
        let (left, right) = (at / IDS as u32, at % IDS as u32);
        (count >= 2).then_some(Pair { left, right, count: u64::from(count) })
    }

    /// Makes the next merge; returns false if there is none.
    pub fn merge(&mut self) -> bool {
        let Some(pair) = self.next() else { return false };
        let id = FIRST_MERGE + self.merges.len() as u32;
        let sought = [pair.left as u16, pair.right as u16];
        for index in 0..self.chunks.len() {
            if !self.chunks[index].tokens.windows(2).any(|two| two == sought) {
                continue;
            }
            self.count(index, false);
            let chunk = &mut self.chunks[index];
            self.tokens -= replace(&mut chunk.tokens, &pair, id) * u64::from(chunk.count);
            self.count(index, true);
        }
        self.merges.push(pair);
        true
    }

    /// Merges until there are `merges` of them, or as many as possible.
    pub fn learn(&mut self, merges: usize) {
        while self.merges.len() < merges && self.merge() {}
    }

    /// The merges made, in order.
    pub fn merges(&self) -> &[Pair] {
        &self.merges
    }

    /// Number of tokens of the text, without end tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The text as tokens, document by document.
    pub fn text(&self) -> impl Iterator<Item = Vec<u32>> {
        self.documents.iter().map(|document| {
            let chunks = document.iter().map(|&index| &self.chunks[index as usize]);
            chunks.flat_map(|chunk| chunk.tokens.iter().copied().map(u32::from)).collect()
        })
    }

    /// Adds a chunk's pairs to the counts, or removes them.
    fn count(&mut self, index: usize, add: bool) {
        let Chunk { tokens, count } = &self.chunks[index];
        // Whether the previous pair was counted and consists of two equal tokens: then an
        // overlapping equal pair can't be merged as well.
        let mut overlaps = false;
        for (place, two) in tokens.windows(2).enumerate() {
            let same_as_before = place > 0 && tokens[place - 1] == two[0] && two[0] == two[1];
            overlaps = same_as_before && overlaps;
            if overlaps {
                overlaps = false;
                continue;
            }
            overlaps = two[0] == two[1];
            let at = two[0] as usize * IDS + two[1] as usize;
            if add {
                if !self.listed[at] {
                    self.listed[at] = true;
                    self.candidates.push(at as u32);
                }
                self.counts[at] += count;
            } else {
                self.counts[at] -= count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(text: &str, words: bool, merges: usize) -> BpeLearner {
        let mut learner = BpeLearner::new([text], words);
        learner.learn(merges);
        learner
    }

    #[test]
    fn words_take_the_space_before_them() {
        assert_eq!(
            chunks("the cat, 2nd  \u{e9}t\u{e9}", true),
            ["the", " cat", ",", " 2", "nd", " ", " \u{e9}t\u{e9}"]
        );
        assert_eq!(chunks("the cat", false), ["the cat"]);
        assert!(chunks("", true).is_empty());
    }

    #[test]
    fn merges_the_most_frequent_pair_first_and_the_smallest_of_equals() {
        let learner = learn("low low low newest newest", true, 3);
        // `lo` and `ow` both occur three times, `lo` has the smaller left id; then `low`.
        let merges = learner.merges();
        assert_eq!(merges[0], Pair { left: 108, right: 111, count: 3 });
        assert_eq!(merges[1], Pair { left: 257, right: 119, count: 3 });
        assert_eq!(merges[2].count, 2);
        assert_eq!(pieces(merges)[258], b"low");
    }

    #[test]
    fn a_run_of_equals_counts_what_can_be_merged() {
        let learner = BpeLearner::new(["aaaaa"], true);
        assert_eq!(learner.next(), Some(Pair { left: 97, right: 97, count: 2 }));
        let learner = learn("aaaaa", true, 1);
        assert_eq!(learner.text().next(), Some(vec![257, 257, 97]));
        assert_eq!((learner.tokens(), learner.next()), (3, None));
    }

    #[test]
    fn nothing_is_learned_from_nothing() {
        for text in ["", "a", "ab"] {
            assert_eq!(learn(text, true, 5).merges(), []);
        }
    }
}
