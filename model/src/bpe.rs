//! Byte-pair encoding: the most frequent pair of neighboring tokens becomes a token of its own,
//! again and again. Gage (1994) used it for compression; Sennrich, Haddow and Birch (2016) keep
//! merges within words; GPT-2 (Radford et al. 2019) starts from bytes, so that no text is unknown.

/// Id of the token after each document. Bytes are their own ids; merges are numbered from 257.
pub const END: u32 = 256;
/// Id of the first merge.
pub const FIRST_MERGE: u32 = 257;
/// Longest word, in characters. What is longer is cut, so that merging within it stays quick.
const LONGEST_WORD: usize = 64;

/// A pair of neighboring tokens and how often it can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub left: u32,
    pub right: u32,
    /// How many tokens merging it saves. In `aaa` the pair `aa` counts once.
    pub count: u64,
}

impl Pair {
    /// Which tokens become one.
    pub fn ids(&self) -> [u32; 2] {
        [self.left, self.right]
    }
}

/// A document cut into the pieces that merges never cross: the words, or the document itself.
///
/// A word is a run of letters, of digits or of other signs; a single space belongs to the word
/// after it, as in GPT-2, and any other white space is alone.
pub fn chunks(document: &str, words: bool) -> Vec<&str> {
    let mut chunks = Vec::new();
    let (mut start, mut length) = (0, 0);
    let mut before: Option<char> = None;
    for (index, character) in document.char_indices() {
        let ends = |before| length == LONGEST_WORD || is_boundary(before, character);
        if words && before.is_some_and(ends) {
            chunks.push(&document[start..index]);
            (start, length) = (index, 0);
        }
        length += 1;
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

/// Encodes documents with merges, earlier merges first.
#[derive(Clone, Debug)]
pub struct Encoder {
    ids: usize,
    /// When a pair is merged, counted from 1; 0 for never. `[ids, ids]`
    ranks: Vec<u16>,
    words: bool,
}

impl Encoder {
    /// With the merges of these pairs, numbered from [`FIRST_MERGE`].
    pub fn new(merges: &[[u32; 2]], words: bool) -> Self {
        let ids = FIRST_MERGE as usize + merges.len();
        let mut ranks = vec![0; ids * ids];
        for (rank, [left, right]) in (1..).zip(merges) {
            ranks[*left as usize * ids + *right as usize] = rank;
        }
        Self { ids, ranks, words }
    }

    /// The tokens of a document.
    pub fn encode(&self, document: &str) -> Vec<u32> {
        let chunks = chunks(document, self.words);
        chunks.into_iter().flat_map(|chunk| self.merged(chunk.as_bytes())).collect()
    }

    /// The tokens of one chunk, which need not be whole characters.
    pub fn merged(&self, bytes: &[u8]) -> impl Iterator<Item = u32> + use<> {
        let mut tokens: Vec<u16> = bytes.iter().copied().map(u16::from).collect();
        // A merge makes pairs of its own token only, and those are merged later. So the earliest merge
        // that is left is the next one.
        loop {
            let rank = |two: &[u16]| self.ranks[two[0] as usize * self.ids + two[1] as usize];
            let ranked = tokens.windows(2).map(|two| (rank(two), [two[0], two[1]]));
            let Some((rank, pair)) = ranked.filter(|(rank, _)| *rank > 0).min() else { break };
            replace(&mut tokens, pair, FIRST_MERGE + u32::from(rank) - 1);
        }
        tokens.into_iter().map(u32::from)
    }
}

/// The bytes of every id; [`END`] has none.
pub fn pieces(merges: &[[u32; 2]]) -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    pieces.push(Vec::new());
    for merge in merges {
        let [left, right] = merge.map(|id| pieces[id as usize].as_slice());
        pieces.push([left, right].concat());
    }
    pieces
}

/// Replaces the pair from left to right; returns how often.
fn replace(tokens: &mut Vec<u16>, [left, right]: [u16; 2], id: u32) -> u64 {
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

/// Distinct strings, numbered as they come. The hash map of the standard library would be as much code
/// as the rest of the learner.
struct Known<'a> {
    strings: Vec<&'a str>,
    /// Numbers of strings, counted from 1, at or behind the place that their hash names.
    places: Vec<u32>,
}

impl<'a> Known<'a> {
    /// Room for so many.
    fn new(most: usize) -> Self {
        Self { strings: Vec::new(), places: vec![0; (2 * most + 1).next_power_of_two()] }
    }

    /// The number of a string, counted from 0.
    fn index(&mut self, string: &'a str) -> u32 {
        // FNV-1a, its upper bits folded in.
        let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = string.bytes().fold(0x811c_9dc5, mix);
        let mut place = (hash ^ (hash >> 15)) as usize;
        loop {
            place &= self.places.len() - 1;
            match self.places[place] {
                0 => {
                    self.strings.push(string);
                    self.places[place] = self.strings.len() as u32;
                    return self.places[place] - 1;
                }
                number if self.strings[number as usize - 1] == string => return number - 1,
                _ => place += 1,
            }
        }
    }
}

/// A pair that occurs, or did.
#[derive(Clone, Debug)]
struct Candidate {
    /// Its index, `left * ids + right`.
    at: u32,
    /// The chunks that it occurs in, or did.
    chunks: Vec<u32>,
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
    /// Number of possible ids.
    ids: usize,
    /// Counts of all pairs, `[ids, ids]`.
    counts: Vec<u32>,
    /// Where a pair that ever had a count stands among `candidates`, counted from 1, `[ids, ids]`.
    listed: Vec<u32>,
    candidates: Vec<Candidate>,
    merges: Vec<Pair>,
    most: usize,
    /// Number of tokens of the text, without end tokens.
    tokens: u64,
}

impl BpeLearner {
    /// No merges yet, and at most `most` to come: every byte is a token. `words` keeps merges within
    /// words.
    pub fn new<'a>(documents: impl IntoIterator<Item = &'a str>, words: bool, most: usize) -> Self {
        let ids = FIRST_MERGE as usize + most;
        let mut learner = Self {
            chunks: Vec::new(),
            documents: Vec::new(),
            ids,
            counts: vec![0; ids * ids],
            listed: vec![0; ids * ids],
            candidates: Vec::new(),
            merges: Vec::new(),
            most,
            tokens: 0,
        };
        let documents: Vec<Vec<&str>> =
            documents.into_iter().map(|document| chunks(document, words)).collect();
        let mut known = Known::new(documents.iter().map(Vec::len).sum());
        for document in documents {
            let mut indices = Vec::with_capacity(document.len());
            for chunk in document {
                learner.tokens += chunk.len() as u64;
                let index = known.index(chunk);
                if index as usize == learner.chunks.len() {
                    let tokens = chunk.bytes().map(u16::from).collect();
                    learner.chunks.push(Chunk { tokens, count: 0 });
                }
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

    /// The pair to merge next; `None` if no pair occurs twice, or once there are as many
    /// merges as there may be.
    pub fn next(&self) -> Option<Pair> {
        if self.merges.len() >= self.most {
            return None;
        }
        // Indices order pairs by their ids, so the smaller index breaks ties.
        let best = self.candidates.iter().map(|pair| (self.counts[pair.at as usize], pair.at));
        let (count, at) = best.max_by_key(|&(count, at)| (count, core::cmp::Reverse(at)))?;
        let (left, right) = (at / self.ids as u32, at % self.ids as u32);
        (count >= 2).then_some(Pair { left, right, count: u64::from(count) })
    }

    /// Makes the next merge; returns false if there is none.
    pub fn merge(&mut self) -> bool {
        let Some(pair) = self.next() else { return false };
        let id = FIRST_MERGE + self.merges.len() as u32;
        let sought = [pair.left as u16, pair.right as u16];
        let at = pair.left as usize * self.ids + pair.right as usize;
        let place = self.listed[at] as usize - 1;
        // Afterwards it occurs nowhere.
        for index in core::mem::take(&mut self.candidates[place].chunks) {
            let index = index as usize;
            if !self.chunks[index].tokens.windows(2).any(|two| two == sought) {
                continue;
            }
            self.count(index, false);
            let chunk = &mut self.chunks[index];
            self.tokens -= replace(&mut chunk.tokens, sought, id) * u64::from(chunk.count);
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
            let at = two[0] as usize * self.ids + two[1] as usize;
            if add {
                if self.listed[at] == 0 {
                    let (at, chunks) = (at as u32, Vec::new());
                    self.candidates.push(Candidate { at, chunks });
                    self.listed[at as usize] = self.candidates.len() as u32;
                }
                let chunks = &mut self.candidates[self.listed[at] as usize - 1].chunks;
                if chunks.last() != Some(&(index as u32)) {
                    chunks.push(index as u32);
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
        let mut learner = BpeLearner::new([text], words, merges);
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
        let ids: Vec<_> = merges.iter().map(Pair::ids).collect();
        assert_eq!(pieces(&ids)[258], b"low");
    }

    #[test]
    fn a_run_of_equals_counts_what_can_be_merged() {
        let learner = BpeLearner::new(["aaaaa"], true, 1);
        assert_eq!(learner.next(), Some(Pair { left: 97, right: 97, count: 2 }));
        let learner = learn("aaaaa", true, 1);
        assert_eq!(learner.text().next(), Some(vec![257, 257, 97]));
        assert_eq!((learner.tokens(), learner.next()), (3, None));
    }

    #[test]
    fn long_words_are_cut() {
        let long = "ä".repeat(2 * LONGEST_WORD + 1);
        let lengths = |words| chunks(&long, words).iter().map(|c| c.chars().count()).collect();
        let (cut, whole): (Vec<usize>, Vec<usize>) = (lengths(true), lengths(false));
        assert_eq!((cut, whole), (vec![LONGEST_WORD, LONGEST_WORD, 1], vec![129]));
    }

    #[test]
    fn encoding_a_text_makes_the_tokens_that_were_learned_on_it() {
        let text = "low low low newest newest wide 世界世界 aaaaaaa";
        for words in [true, false] {
            let learner = learn(text, words, 30);
            let ids: Vec<_> = learner.merges().iter().map(Pair::ids).collect();
            assert_eq!(Some(Encoder::new(&ids, words).encode(text)), learner.text().next());
        }
    }

    #[test]
    fn nothing_is_learned_from_nothing() {
        for text in ["", "a", "ab"] {
            assert_eq!(learn(text, true, 5).merges(), []);
        }
    }
}
