//! A tokenizer with one token per character.

use core::fmt;
use std::collections::BTreeMap;

/// The character that stands for every character the vocabulary lacks; its id is 0.
pub const UNKNOWN: char = '\u{FFFD}';
/// Largest vocabulary, including the unknown character.
pub const MAX_VOCABULARY: usize = 512;

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
}
