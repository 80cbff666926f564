//! How a text becomes tokens: characters, bytes, or byte pairs learned on the text.

mod byte_pairs;
mod files;
mod given;
mod letters;

use core::fmt;
use std::{collections::BTreeMap, sync::Arc};

use unroll_protocol::{
    Tokens,
    signs::{self, Run, SIGN},
    spec::{MAX_VOCABULARY, MERGES},
};

pub use files::NoTokenizer;
pub use given::GivenTokens;

use byte_pairs::{BytePairs, LEARNED_FROM, written};

/// The character that stands for every character the vocabulary lacks; its id is 0.
pub const UNKNOWN: char = '\u{FFFD}';

/// Maps characters to ids and back. Id 0 is [`UNKNOWN`]; ids 1, 2, ... are the known characters in
/// the order of their code points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharTokenizer {
    characters: Vec<char>,
    folded: usize,
}

/// A list of characters that can't be a vocabulary. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VocabularyError {
    TooLong { characters: usize },
    NotAscending,
    ContainsUnknown,
    TooManyMerges { merges: usize },
    NoSuchToken,
    LacksByte { byte: u8 },
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { characters } => write!(
                f,
                "A vocabulary of {characters} characters is too long: the limit is {}.",
                MAX_VOCABULARY - 1
            ),
            Self::NotAscending => {
                write!(f, "The characters of a vocabulary must be distinct and in order.")
            }
            Self::ContainsUnknown => {
                write!(f, "A vocabulary can't hold the replacement character U+FFFD.")
            }
            Self::TooManyMerges { merges } => {
                write!(f, "{merges} merges of byte pairs are too many: the limit is {}.", MERGES[1])
            }
            Self::NoSuchToken => {
                write!(f, "A merge of byte pairs is of tokens that can't be.")
            }
            Self::LacksByte { byte } => write!(
                f,
                "Its tokenizer has no token for the byte {byte:02X}, so there are texts that it can't \
                 read."
            ),
        }
    }
}

impl std::error::Error for VocabularyError {}

impl CharTokenizer {
    /// The vocabulary of `text`: its distinct characters, or the most frequent of them if a
    /// vocabulary can't hold them all (ties go to smaller code points).
    pub fn from_text(text: &str) -> Self {
        let mut counts = BTreeMap::new();
        for character in text.chars().filter(|&c| c != UNKNOWN) {
            *counts.entry(character).or_insert(0usize) += 1;
        }
        let mut counted: Vec<(char, usize)> = counts.into_iter().collect();
        let folded = counted.len().saturating_sub(MAX_VOCABULARY - 1);
        if folded > 0 {
            // The sort is stable and the map was in order, which breaks ties.
            counted.sort_by_key(|&(_, count)| core::cmp::Reverse(count));
            counted.truncate(MAX_VOCABULARY - 1);
            counted.sort_unstable_by_key(|&(character, _)| character);
        }
        Self { characters: counted.into_iter().map(|(character, _)| character).collect(), folded }
    }

    /// The tokenizer whose ids 1, 2, ... are `characters`.
    pub fn from_vocabulary(characters: Vec<char>) -> Result<Self, VocabularyError> {
        if characters.len() >= MAX_VOCABULARY {
            return Err(VocabularyError::TooLong { characters: characters.len() });
        }
        if !characters.is_sorted_by(|a, b| a < b) {
            return Err(VocabularyError::NotAscending);
        }
        if characters.contains(&UNKNOWN) {
            return Err(VocabularyError::ContainsUnknown);
        }
        Ok(Self { characters, folded: 0 })
    }

    /// The id of a character, or 0 if the vocabulary lacks it.
    pub fn id(&self, character: char) -> u32 {
        self.characters.binary_search(&character).map_or(0, |index| index as u32 + 1)
    }

    /// One id for each character.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        text.chars().map(|character| self.id(character)).collect()
    }

    /// The character of an id; [`UNKNOWN`] for 0 and for ids outside the vocabulary.
    pub fn character(&self, id: u32) -> char {
        let index = (id as usize).checked_sub(1);
        index.and_then(|index| self.characters.get(index)).copied().unwrap_or(UNKNOWN)
    }

    /// The text of `ids`.
    pub fn decode(&self, ids: &[u32]) -> String {
        ids.iter().map(|&id| self.character(id)).collect()
    }

    /// Every token as text, by id.
    pub fn vocabulary(&self) -> Vec<String> {
        (0..self.len() as u32).map(|id| self.character(id).to_string()).collect()
    }

    /// The known characters, of ids 1, 2, ...
    pub fn characters(&self) -> &[char] {
        &self.characters
    }

    /// Number of tokens, the unknown character included.
    #[allow(clippy::len_without_is_empty, reason = "the unknown character is always there")]
    pub fn len(&self) -> usize {
        self.characters.len() + 1
    }

    /// Number of distinct characters of the text that did not fit and became unknown.
    pub fn folded(&self) -> usize {
        self.folded
    }
}

/// How one model reads and writes. A clone is cheap where there is much to learn.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    Characters(CharTokenizer),
    /// Bytes and their merges; none where each byte is a token.
    Bytes(Arc<BytePairs>),
}

/// A sentence as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub tokens: Vec<u32>,
    /// How many characters of the sentence begin before each token, and in all.
    pub starts: Vec<u32>,
}

impl Tokenizer {
    /// Tokens of this kind, learned on a text.
    ///
    /// # Panics
    ///
    /// Panics where tokens are to be given: there is nothing to learn.
    pub fn learn(tokens: Tokens, text: &str) -> Self {
        match tokens {
            Tokens::Given => unreachable!("no spec that can be built has given tokens"),
            Tokens::Characters => Self::Characters(CharTokenizer::from_text(text)),
            Tokens::Bytes => Self::Bytes(Arc::new(BytePairs::learn("", 0))),
            Tokens::Pairs { merges } => {
                Self::Bytes(Arc::new(BytePairs::learn(text, merges as usize)))
            }
        }
    }

    /// One that came with a model.
    ///
    /// # Errors
    ///
    /// Where a byte is no token, or a merge is of what is no token or makes none.
    pub fn given(tokens: &GivenTokens) -> Result<Self, VocabularyError> {
        BytePairs::given(tokens).map(|pairs| Self::Bytes(Arc::new(pairs)))
    }

    /// What was learned before: the known characters, or what was merged, two by two.
    pub fn restore(
        tokens: Tokens,
        characters: Vec<char>,
        merges: &[u32],
    ) -> Result<Self, VocabularyError> {
        let most = match tokens {
            Tokens::Characters => {
                return CharTokenizer::from_vocabulary(characters).map(Self::Characters);
            }
            Tokens::Bytes | Tokens::Given => 0,
            Tokens::Pairs { merges } => merges.min(MERGES[1]) as usize,
        };
        match merges.as_chunks() {
            (merges, []) => {
                BytePairs::from_merges(merges, most).map(|pairs| Self::Bytes(Arc::new(pairs)))
            }
            _ => Err(VocabularyError::NoSuchToken),
        }
    }

    /// The tokens of a text.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        match self {
            Self::Characters(characters) => characters.encode(text),
            Self::Bytes(pairs) => pairs.encode(text),
        }
    }

    /// The tokens of a sentence that the model may be writing itself: where tokens are bytes, a
    /// [sign](signs) in it is the byte that it stands for.
    pub fn read(&self, sentence: &str) -> Sentence {
        let mut read = Sentence { tokens: Vec::new(), starts: vec![0] };
        let mut at = 0;
        let mut push = |token, characters: u32| {
            at += characters;
            read.tokens.push(token);
            read.starts.push(at);
        };
        match self {
            Self::Characters(characters) => {
                characters.encode(sentence).into_iter().for_each(|token| push(token, 1));
            }
            Self::Bytes(pairs) => {
                for run in signs::runs(sentence) {
                    match run {
                        Run::Text(text) => {
                            pairs.encode(text).into_iter().for_each(|id| push(id, pairs.begun(id)));
                        }
                        Run::Bytes(bytes) => pairs
                            .merged(&bytes)
                            .into_iter()
                            .for_each(|id| push(id, (SIGN * pairs.piece(id).len()) as u32)),
                    }
                }
            }
        }
        read
    }

    /// The text of tokens as it is being written: an unfinished character at its end is held back.
    pub fn written(&self, ids: &[u32]) -> String {
        match self {
            Self::Characters(characters) => characters.decode(ids),
            Self::Bytes(pairs) => written(&pairs.bytes(ids)),
        }
    }

    /// The text of tokens in figures: bytes that are no characters have their signs.
    pub fn shown(&self, ids: &[u32]) -> String {
        match self {
            Self::Characters(characters) => characters.decode(ids),
            Self::Bytes(pairs) => signs::label(&pairs.bytes(ids)),
        }
    }

    /// A token in figures.
    pub fn label(&self, id: u32) -> String {
        match self {
            Self::Characters(characters) => characters.character(id).to_string(),
            Self::Bytes(pairs) => pairs.label(id),
        }
    }

    /// Every token, by id.
    pub fn vocabulary(&self) -> Vec<String> {
        (0..self.len() as u32).map(|id| self.label(id)).collect()
    }

    /// Number of tokens.
    #[allow(clippy::len_without_is_empty, reason = "there is always a token")]
    pub fn len(&self) -> usize {
        match self {
            Self::Characters(characters) => characters.len(),
            Self::Bytes(pairs) => pairs.len(),
        }
    }

    /// How many characters of a text begin within these tokens of it.
    pub fn characters_in(&self, ids: &[u32]) -> u64 {
        match self {
            Self::Characters(_) => ids.len() as u64,
            Self::Bytes(pairs) => ids.iter().map(|id| u64::from(pairs.begun(*id))).sum(),
        }
    }

    /// The token that stands for no text at all: a line break, or the first that is known.
    pub fn beginning(&self) -> Option<u32> {
        match self {
            Self::Characters(characters) => match characters.id('\n') {
                0 => characters.characters().first().map(|first| characters.id(*first)),
                line_break => Some(line_break),
            },
            Self::Bytes(pairs) => Some(pairs.beginning()),
        }
    }

    /// The known characters, of ids 1, 2, ...; none where tokens are bytes.
    pub fn characters(&self) -> &[char] {
        match self {
            Self::Characters(characters) => characters.characters(),
            Self::Bytes(_) => &[],
        }
    }

    /// What was merged, in order.
    pub fn merges(&self) -> &[[u32; 2]] {
        match self {
            Self::Characters(_) => &[],
            Self::Bytes(pairs) => pairs.merges(),
        }
    }

    /// What there is to say about what was learned on `text`, as asked for.
    pub fn notes(&self, asked: Tokens, text: &str) -> Vec<String> {
        match (self, asked) {
            (Self::Characters(characters), _) if characters.folded() > 0 => {
                let folded = characters.folded();
                let (kinds, are) = if folded == 1 { ("kind", "is") } else { ("kinds", "are") };
                vec![format!(
                    "The text has more kinds of characters than the vocabulary holds: the {folded} \
                     rarest {kinds} {are} read as one unknown character. Choose bytes or byte pairs as \
                     tokens, and nothing is unknown."
                )]
            }
            (Self::Bytes(pairs), Tokens::Pairs { merges }) => {
                let made = pairs.merges().len();
                let few = (made < merges as usize).then(|| {
                    format!(
                        "Only {made} byte pairs occur twice in this text, so there are no more merges."
                    )
                });
                let part = (text.len() > LEARNED_FROM).then(|| {
                    "The byte pairs were learned on the first 1 MB of the text.".to_owned()
                });
                few.into_iter().chain(part).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_code_points_and_unknown_is_0() {
        let tokenizer = CharTokenizer::from_text("banana");
        assert_eq!(tokenizer.vocabulary(), ["\u{FFFD}", "a", "b", "n"]);
        assert_eq!(tokenizer.encode("nab?"), [3, 1, 2, 0]);
        assert_eq!(tokenizer.decode(&[3, 1, 2, 0, 99]), "nab\u{FFFD}\u{FFFD}");
        assert_eq!((tokenizer.len(), tokenizer.folded()), (4, 0));
    }

    #[test]
    fn a_text_round_trips_through_its_own_vocabulary() {
        let text = "Grüße, 世界!\n🙂 e\u{301}";
        let tokenizer = CharTokenizer::from_text(text);
        assert_eq!(tokenizer.decode(&tokenizer.encode(text)), text);
    }

    #[test]
    fn the_rarest_of_too_many_characters_become_unknown() {
        // 600 distinct characters; the last 100 code points occur twice, so they stay.
        let all: Vec<char> = ('\u{4E00}'..).take(600).collect();
        let text: String = all.iter().chain(&all[500..]).collect();
        let tokenizer = CharTokenizer::from_text(&text);
        assert_eq!((tokenizer.len(), tokenizer.folded()), (MAX_VOCABULARY, 89));
        assert_ne!(tokenizer.id(all[599]), 0);
        assert_ne!(tokenizer.id(all[410]), 0);
        assert_eq!(tokenizer.id(all[411]), 0);
        assert!(tokenizer.characters().is_sorted());
    }

    #[test]
    fn an_empty_text_and_the_unknown_character_itself_know_nothing() {
        assert_eq!(CharTokenizer::from_text("").len(), 1);
        assert_eq!(CharTokenizer::from_text("\u{FFFD}").len(), 1);
    }

    #[test]
    fn hostile_vocabularies_are_refused() {
        let refused = |characters: Vec<char>| CharTokenizer::from_vocabulary(characters).is_err();
        assert!(refused(vec!['b', 'a']));
        assert!(refused(vec!['a', 'a']));
        assert!(refused(vec!['a', UNKNOWN]));
        assert!(refused(('\u{4E00}'..).take(512).collect()));
        let tokenizer = CharTokenizer::from_text("hello");
        let again = CharTokenizer::from_vocabulary(tokenizer.characters().to_vec());
        assert_eq!(again, Ok(tokenizer));
    }

    #[test]
    fn nothing_is_unknown_to_bytes_and_pairs() {
        let text = "Grüße, 世界!\n🙂 e\u{301} ⟨C3⟩ fn main() {}";
        for tokens in [Tokens::Bytes, Tokens::Pairs { merges: 20 }] {
            // Learned on something else.
            let tokenizer = Tokenizer::learn(tokens, "the then there the then there");
            let ids = tokenizer.encode(text);
            assert_eq!(
                (tokenizer.written(&ids), tokenizer.shown(&ids)),
                (text.into(), text.into())
            );
            assert_eq!(tokenizer.characters_in(&ids), text.chars().count() as u64);
            assert_eq!(tokenizer.vocabulary().len(), tokenizer.len());
        }
    }

    #[test]
    fn a_sentence_knows_where_its_tokens_begin() {
        let characters = Tokenizer::learn(Tokens::Characters, "ab");
        let read = characters.read("ab?");
        assert_eq!((read.tokens, read.starts), (vec![1, 2, 0], vec![0, 1, 2, 3]));
        let bytes = Tokenizer::learn(Tokens::Bytes, "");
        let read = bytes.read("a世⟨E4⟩⟨B8⟩");
        assert_eq!(read.tokens, [97, 0xe4, 0xb8, 0x96, 0xe4, 0xb8]);
        assert_eq!(read.starts, [0, 1, 2, 2, 2, 6, 10]);
        assert_eq!(bytes.shown(&read.tokens), "a世⟨E4⟩⟨B8⟩");
        assert_eq!(bytes.written(&read.tokens), "a世");
        let pairs = Tokenizer::learn(Tokens::Pairs { merges: 16 }, &"the 世 ".repeat(9));
        let read = pairs.read("the 世");
        assert_eq!(read.starts.last(), Some(&5));
        let ids = pairs.read("⟨E4⟩⟨B8⟩").tokens;
        assert_eq!(pairs.shown(&ids), "⟨E4⟩⟨B8⟩");
    }

    #[test]
    fn a_text_of_few_pairs_says_so() {
        let asked = Tokens::Pairs { merges: 16 };
        let tokenizer = Tokenizer::learn(asked, "abab");
        assert_eq!(tokenizer.merges(), [[97, 98]]);
        assert!(tokenizer.notes(asked, "abab")[0].starts_with("Only 1 byte"));
        let restored =
            Tokenizer::restore(asked, Vec::new(), tokenizer.merges().as_flattened()).expect("ours");
        assert_eq!(restored.encode("abba"), [256, 98, 97]);
        for merges in [&[97, 98][..], &[97]] {
            assert!(Tokenizer::restore(Tokens::Bytes, Vec::new(), merges).is_err());
        }
    }
}
