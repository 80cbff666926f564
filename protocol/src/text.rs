//! Which texts can be trained on, and what to say about others.

use core::fmt;

use serde::{Deserialize, Serialize};

/// Size of the largest accepted text, in bytes. Training holds it as text and as token ids.
pub const MAX_BYTES: u64 = 5_000_000;

/// A text that can be trained on, with remarks for the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    pub text: String,
    /// What was changed when it was accepted, as sentences.
    pub notes: Vec<String>,
}

/// Why bytes or a string can't be trained on. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum TextError {
    Empty,
    TooLarge { bytes: u64 },
    Binary,
    NotUtf8 { byte: usize },
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "That text is empty: there is nothing to learn from."),
            Self::TooLarge { bytes } => write!(
                f,
                "That text is {:.1} MB; the limit is {} MB. A model this small learns as much from \
                 a part of it.",
                *bytes as f64 / 1e6,
                MAX_BYTES / 1_000_000
            ),
            Self::Binary => {
                write!(f, "That is not a text file (it holds binary data): choose a plain text.")
            }
            Self::NotUtf8 { byte } => write!(
                f,
                "That file is not UTF-8 text (byte {byte} breaks the encoding): save it as UTF-8 \
                 and open it again."
            ),
        }
    }
}

impl std::error::Error for TextError {}

/// Checks a file's size alone, so that a large file never has to be read.
pub fn check_size(bytes: u64) -> Result<(), TextError> {
    match bytes {
        0 => Err(TextError::Empty),
        n if n > MAX_BYTES => Err(TextError::TooLarge { bytes }),
        _ => Ok(()),
    }
}

/// Accepts a file's bytes: UTF-8 with or without a byte order mark, or UTF-16 with one.
pub fn from_bytes(bytes: &[u8]) -> Result<Accepted, TextError> {
    check_size(bytes.len() as u64)?;
    let utf16 = match bytes {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((rest, unit)) = utf16 {
        let units = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String =
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        return from_str(&text);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match core::str::from_utf8(bytes) {
        Ok(text) => from_str(text),
        // A zero byte says more about the file than the place of its first encoding error.
        Err(_) if bytes.contains(&0) => Err(TextError::Binary),
        Err(error) => Err(TextError::NotUtf8 { byte: error.valid_up_to() }),
    }
}

/// Accepts a pasted string. Line ends become `\n`; invalid Unicode is already `U+FFFD`.
pub fn from_str(text: &str) -> Result<Accepted, TextError> {
    check_size(text.len() as u64)?;
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}');
    let controls = text.chars().filter(|&c| control(c)).count();
    if text.contains('\0') || controls * 50 > text.len() {
        return Err(TextError::Binary);
    }
    let mut notes = Vec::new();
    let broken = text.chars().filter(|&c| c == char::REPLACEMENT_CHARACTER).count();
    if broken > 0 {
        notes.push(format!(
            "{broken} character{} could not be read as Unicode and count{} as unknown (\u{FFFD}).",
            if broken == 1 { "" } else { "s" },
            if broken == 1 { "s" } else { "" },
        ));
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if text.trim().is_empty() {
        return Err(TextError::Empty);
    }
    Ok(Accepted { text, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_utf8_and_utf16_and_mends_line_ends() {
        assert_eq!(from_bytes(b"\xef\xbb\xbfa\r\nb\rc").unwrap().text, "a\nb\nc");
        assert_eq!(from_bytes(b"\xff\xfeh\0i\0").unwrap().text, "hi");
        assert_eq!(from_bytes(b"\xfe\xff\0h\0i").unwrap().text, "hi");
        assert_eq!(from_bytes("naïve 🙂".as_bytes()).unwrap().text, "naïve 🙂");
    }

    #[test]
    fn refuses_what_is_no_text() {
        assert_eq!(from_bytes(b""), Err(TextError::Empty));
        assert_eq!(from_str(" \n\t"), Err(TextError::Empty));
        assert_eq!(from_bytes(b"\x7fELF\0\0\x01"), Err(TextError::Binary));
        assert_eq!(from_bytes(&[0x80, 0x00, 0xff]), Err(TextError::Binary));
        assert_eq!(from_bytes(b"caf\xe9"), Err(TextError::NotUtf8 { byte: 3 }));
        assert_eq!(check_size(50_000_000), Err(TextError::TooLarge { bytes: 50_000_000 }));
        for error in
            [TextError::Empty, TextError::Binary, TextError::TooLarge { bytes: 50_000_000 }]
        {
            assert!(error.to_string().ends_with('.'));
        }
    }

    #[test]
    fn counts_broken_characters() {
        // A lone high surrogate in UTF-16.
        let accepted = from_bytes(b"\xff\xfea\0\x00\xd8b\0").unwrap();
        assert_eq!(accepted.text, "a\u{FFFD}b");
        assert_eq!(accepted.notes.len(), 1);
        assert!(accepted.notes[0].starts_with("1 character could"));
    }
}
