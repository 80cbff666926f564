//! A text as documents and as tokens.

use unroll_protocol::{signs, study::tokens::Piece};

use crate::{
    CharTokenizer,
    bpe::{self, BpeLearner, Encoder, Pair},
};

/// Number of bytes of the text that are used: learning 300 merges from more would take longer than
/// the press of a button may.
const MOST_BYTES: usize = 100_000;

/// The non-blank lines of a text.
pub fn documents(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.trim().is_empty())
}

/// The beginning of a text that is used, cut at a character boundary.
pub fn used(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_BYTES)]
}

/// One tokenization, learned from one text.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    Characters(CharTokenizer),
    /// Bytes and their merges; none in the scheme of plain bytes.
    Bytes {
        encoder: Encoder,
        pieces: Vec<Vec<u8>>,
    },
}

impl Tokenizer {
    /// Characters of the text.
    pub fn characters(text: &str) -> Self {
        let line: String = documents(text).collect();
        Self::Characters(CharTokenizer::from_text(&line))
    }

    /// Bytes with these merges.
    pub fn pairs(merges: &[Pair], words: bool) -> Self {
        let merges: Vec<_> = merges.iter().map(Pair::ids).collect();
        Self::Bytes { encoder: Encoder::new(&merges, words), pieces: bpe::pieces(&merges) }
    }

    /// Bytes alone.
    pub fn bytes() -> Self {
        Self::pairs(&[], true)
    }

    /// Number of tokens, including the end token.
    pub fn vocabulary(&self) -> usize {
        match self {
            Self::Characters(tokenizer) => tokenizer.len() + 1,
            Self::Bytes { pieces, .. } => pieces.len(),
        }
    }

    /// Id of the end token, which follows each document.
    pub fn end(&self) -> u32 {
        match self {
            Self::Characters(tokenizer) => tokenizer.len() as u32,
            Self::Bytes { .. } => bpe::END,
        }
    }

    /// The tokens of a text, with an end token after each document.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        for document in documents(text) {
            match self {
                Self::Characters(tokenizer) => ids.extend(tokenizer.encode(document)),
                Self::Bytes { encoder, .. } => ids.extend(encoder.encode(document)),
            }
            ids.push(self.end());
        }
        ids
    }

    /// The text of tokens, one document per line. Invalid UTF-8 becomes U+FFFD.
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for (index, &id) in ids.iter().enumerate() {
            match self {
                // The last end token ends the text; any other marks a line break.
                _ if id == self.end() => {
                    if index + 1 < ids.len() {
                        bytes.push(b'\n');
                    }
                }
                Self::Characters(tokenizer) => {
                    let mut buffer = [0; 4];
                    let character = tokenizer.character(id).encode_utf8(&mut buffer);
                    bytes.extend_from_slice(character.as_bytes());
                }
                Self::Bytes { pieces, .. } => {
                    bytes.extend(pieces.get(id as usize).into_iter().flatten())
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The written form of a token.
    pub fn label(&self, id: u32) -> String {
        match self {
            _ if id == self.end() => "⟨end⟩".to_owned(),
            Self::Characters(tokenizer) => tokenizer.character(id).to_string(),
            Self::Bytes { pieces, .. } => {
                pieces.get(id as usize).map_or_else(String::new, |bytes| signs::label(bytes))
            }
        }
    }

    /// The written form of every token, by id.
    pub fn labels(&self) -> Vec<String> {
        (0..self.vocabulary() as u32).map(|id| self.label(id)).collect()
    }

    /// Every token as text if tokens are characters, with a line break for the end token. Empty if
    /// they are bytes, to which no character is unknown.
    pub fn known_characters(&self) -> Vec<String> {
        match self {
            Self::Characters(tokenizer) => {
                let mut known = tokenizer.vocabulary();
                known.push("\n".to_owned());
                known
            }
            Self::Bytes { .. } => Vec::new(),
        }
    }

    /// A token of which only the id is known.
    pub fn piece(&self, id: u32) -> Piece {
        let end = id == self.end();
        let bytes = match self {
            _ if end => 0,
            Self::Characters(tokenizer) => tokenizer.character(id).len_utf8(),
            Self::Bytes { pieces, .. } => pieces.get(id as usize).map_or(0, Vec::len),
        };
        Piece { id, text: self.label(id), bytes: bytes as u32, end, unknown: None }
    }

    /// The tokens of a sentence with the text they stand for.
    pub fn sentence(&self, sentence: &str) -> Vec<Piece> {
        let mut characters = documents(sentence).flat_map(str::chars);
        let ids = self.encode(sentence);
        ids.into_iter()
            .map(|id| {
                let piece = self.piece(id);
                if piece.end || !matches!(self, Self::Characters(_)) {
                    return piece;
                }
                let given = characters.next();
                let bytes = given.map_or(0, char::len_utf8) as u32;
                let unknown = given.filter(|_| id == 0);
                Piece { bytes, unknown, ..piece }
            })
            .collect()
    }
}

/// The whole text as the model reads it: an end token, then each document followed by its own.
pub fn stream(tokenizer: &Tokenizer, text: &str, learner: Option<&BpeLearner>) -> Vec<u32> {
    let mut ids = vec![tokenizer.end()];
    match learner {
        // The learner's own segmentation, which encoding would reproduce.
        Some(learner) => {
            for document in learner.text() {
                ids.extend(document);
                ids.push(tokenizer.end());
            }
        }
        None => ids.extend(tokenizer.encode(text)),
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UNKNOWN;

    #[test]
    fn bytes_are_shown_as_the_bytes_they_are() {
        let tokenizer = Tokenizer::bytes();
        let labels: Vec<_> = tokenizer.sentence("é!").into_iter().map(|p| p.text).collect();
        assert_eq!(labels, ["⟨C3⟩", "⟨A9⟩", "!", "⟨end⟩"]);
    }

    #[test]
    fn unknown_characters_keep_what_they_stand_for() {
        let tokenizer = Tokenizer::characters("banana\nbread");
        let pieces = tokenizer.sentence("b🙂d\n\n \nn");
        assert_eq!(
            pieces.iter().map(|p| p.end).collect::<Vec<_>>(),
            [false, false, false, true, false, true]
        );
        assert_eq!((pieces[1].id, pieces[1].unknown, pieces[1].bytes), (0, Some('🙂'), 4));
        assert_eq!(pieces[1].text, UNKNOWN.to_string());
        let ids: Vec<u32> = pieces.iter().map(|p| p.id).collect();
        assert_eq!(tokenizer.decode(&ids), "b\u{FFFD}d\nn");
    }
}
