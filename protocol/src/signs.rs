//! Bytes that are no whole characters, as signs that can stand in a text: `⟨C3⟩`.
//!
//! Tokens of bytes need not be whole characters. Where such a token is named, or stands at the end of
//! a sentence that a model is still writing, each byte that belongs to no character has its sign.

const OPEN: char = '⟨';
const CLOSE: char = '⟩';
/// Characters of a sign.
pub const SIGN: usize = 4;

/// Valid UTF-8 as text, each other byte as its sign.
pub fn label(bytes: &[u8]) -> String {
    let mut label = String::new();
    for chunk in bytes.utf8_chunks() {
        label += chunk.valid();
        for byte in chunk.invalid() {
            label.push(OPEN);
            for digit in [byte >> 4, byte & 15] {
                label.extend(char::from_digit(digit.into(), 16).map(|c| c.to_ascii_uppercase()));
            }
            label.push(CLOSE);
        }
    }
    label
}

/// A stretch of a text with signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run<'a> {
    Text(&'a str),
    /// What a row of signs stands for.
    Bytes(Vec<u8>),
}

/// The byte whose sign a text begins with, and what follows. Only a byte that is no character by
/// itself has a sign.
fn first(text: &str) -> Option<(u8, &str)> {
    let (digits, rest) = text.strip_prefix(OPEN)?.split_at_checked(2)?;
    let is_sign = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'));
    let byte = u8::from_str_radix(digits, 16).ok().filter(|byte| is_sign && *byte >= 0x80)?;
    Some((byte, rest.strip_prefix(CLOSE)?))
}

/// A text as rows of signs and what is between them.
pub fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let (mut rest, mut at) = (text, 0);
    while let Some(found) = rest[at..].find(OPEN) {
        at += found;
        let mut bytes = Vec::new();
        let mut after = &rest[at..];
        while let Some((byte, following)) = first(after) {
            bytes.push(byte);
            after = following;
        }
        if bytes.is_empty() {
            at += OPEN.len_utf8();
            continue;
        }
        if at > 0 {
            runs.push(Run::Text(&rest[..at]));
        }
        runs.push(Run::Bytes(bytes));
        (rest, at) = (after, 0);
    }
    if !rest.is_empty() {
        runs.push(Run::Text(rest));
    }
    runs
}

/// The text with characters in place of the signs that have become whole ones.
pub fn joined(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    for run in runs(text) {
        match run {
            Run::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            Run::Bytes(more) => bytes.extend(more),
        }
    }
    label(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_shown_as_the_bytes_they_are() {
        assert_eq!(label("aé".as_bytes()), "aé");
        assert_eq!(label(&[b'a', 0xf0, 0x9f]), "a⟨F0⟩⟨9F⟩");
        assert_eq!(label(&[0xa9]).chars().count(), SIGN);
    }

    #[test]
    fn signs_become_characters_once_they_are_whole() {
        assert_eq!(joined("a⟨F0⟩⟨9F⟩"), "a⟨F0⟩⟨9F⟩");
        assert_eq!(joined("a⟨F0⟩⟨9F⟩⟨99⟩⟨82⟩b"), "a🙂b");
        assert_eq!(joined("⟨41⟩⟨c3⟩⟨A9⟨⟩"), "⟨41⟩⟨c3⟩⟨A9⟨⟩");
        let found = [Run::Text("⟨"), Run::Bytes(vec![0xc3, 0x28 | 0x80]), Run::Text("x")];
        assert_eq!(runs("⟨⟨C3⟩⟨A8⟩x"), found);
        assert_eq!(runs(""), []);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_written_and_joined(
            bytes in proptest::collection::vec(any::<u8>(), 0..20), text in ".{0,20}",
        ) {
            let written: String = bytes.iter().map(|byte| label(&[*byte])).collect();
            prop_assert_eq!(joined(&written), label(&bytes));
            let _ = runs(&text);
        }
    }
}
