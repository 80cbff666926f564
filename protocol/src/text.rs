//! Which texts can be trained on, and what to say about others.

use core::{fmt, iter, ops::Range};
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Size of the largest text that is learned, in bytes. Training holds it as text and as token ids.
pub const MAX_BYTES: u64 = 5_000_000;

/// Passages of a file that is larger.
const PASSAGES: u64 = 100;

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
    NotUtf8 { byte: u64 },
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

/// Whether a text of so many bytes can be learned.
pub fn check_size(bytes: u64) -> Result<(), TextError> {
    match bytes {
        0 => Err(TextError::Empty),
        n if n > MAX_BYTES => Err(TextError::TooLarge { bytes }),
        _ => Ok(()),
    }
}

/// The parts of a file of so many bytes that are read: all of it, or evenly spaced passages of together
/// [`MAX_BYTES`], the first and the last bytes among them.
pub fn passages(bytes: u64) -> Vec<Range<u64>> {
    if bytes <= MAX_BYTES {
        return iter::once(0..bytes).collect();
    }
    let length = MAX_BYTES / PASSAGES;
    let starts = (0..PASSAGES).map(|passage| passage * (bytes - length) / (PASSAGES - 1));
    // Even, for the units of UTF-16.
    starts.map(|start| start & !1).map(|start| start..start + length).collect()
}

/// A file's encoding, from its byte order mark.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Utf16Little,
    Utf16Big,
}

impl Encoding {
    /// And the bytes behind the mark.
    fn of(bytes: &[u8]) -> (Self, &[u8]) {
        match bytes {
            [0xef, 0xbb, 0xbf, rest @ ..] => (Self::Utf8, rest),
            [0xff, 0xfe, rest @ ..] => (Self::Utf16Little, rest),
            [0xfe, 0xff, rest @ ..] => (Self::Utf16Big, rest),
            _ => (Self::Utf8, bytes),
        }
    }

    /// The text that starts at byte `start` of a file. A character that is cut by either end of a passage is
    /// left out.
    fn decode(self, bytes: &[u8], start: u64, is_cut: [bool; 2]) -> Result<String, TextError> {
        match self {
            Self::Utf8 => {
                let is_inside = |byte: &&u8| **byte & 0xc0 == 0x80;
                let skipped = match is_cut[0] {
                    true => bytes.iter().take(3).take_while(is_inside).count(),
                    false => 0,
                };
                let bytes = &bytes[skipped..];
                match core::str::from_utf8(bytes) {
                    Ok(text) => Ok(text.to_owned()),
                    Err(error) if is_cut[1] && error.error_len().is_none() => {
                        Ok(String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned())
                    }
                    // A zero byte says more about the file than the place of its first encoding error.
                    Err(_) if bytes.contains(&0) => Err(TextError::Binary),
                    Err(error) => {
                        let byte = start + (skipped + error.valid_up_to()) as u64;
                        Err(TextError::NotUtf8 { byte })
                    }
                }
            }
            Self::Utf16Little | Self::Utf16Big => {
                let unit = match self {
                    Self::Utf16Big => u16::from_be_bytes,
                    _ => u16::from_le_bytes,
                };
                let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
                let or_unknown = |c: Result<char, _>| c.unwrap_or(char::REPLACEMENT_CHARACTER);
                let text: String = char::decode_utf16(units).map(or_unknown).collect();
                let mut text = text.as_str();
                let half = char::REPLACEMENT_CHARACTER;
                if is_cut[0] {
                    text = text.strip_prefix(half).unwrap_or(text);
                }
                if is_cut[1] {
                    text = text.strip_suffix(half).unwrap_or(text);
                }
                Ok(text.to_owned())
            }
        }
    }
}

/// Reads a file passage by passage, so that a page can do other things between them. UTF-8 with or without a
/// byte order mark, or UTF-16 with one. Of several passages the lines that are cut are left out.
pub struct Reader {
    bytes: u64,
    /// Where the passages begin.
    starts: Vec<u64>,
    /// How many were read.
    read: usize,
    encoding: Encoding,
    text: String,
}

impl Reader {
    /// Of a file of so many bytes.
    pub fn new(bytes: u64) -> Self {
        let starts = passages(bytes).into_iter().map(|range| range.start).collect();
        Self { bytes, starts, read: 0, encoding: Encoding::Utf8, text: String::new() }
    }

    /// Takes the next of the file's [`passages`].
    pub fn add(&mut self, passage: &[u8]) -> Result<(), TextError> {
        let (at, last) = (self.read, self.starts.len() - 1);
        self.read += 1;
        let mut content = passage;
        if at == 0 {
            (self.encoding, content) = Encoding::of(passage);
        }
        let is_cut = [at > 0, at < last];
        let start = self.starts[at.min(last)] + (passage.len() - content.len()) as u64;
        let decoded = self.encoding.decode(content, start, is_cut)?;
        // UTF-16 may grow. A line end comes between two passages.
        let room = if last > 0 { MAX_BYTES as usize / self.starts.len() - 1 } else { usize::MAX };
        let mut whole = &decoded[..decoded.floor_char_boundary(room)];
        if is_cut[0] {
            whole = whole.split_once('\n').map_or(whole, |(_, rest)| rest);
        }
        if is_cut[1] || decoded.len() > room {
            whole = whole.rsplit_once('\n').map_or(whole, |(rest, _)| rest);
        }
        if at > 0 {
            self.text.push('\n');
        }
        self.text.push_str(whole);
        Ok(())
    }

    /// Accepts the text. `unpack` takes it out of another format, and says what it took.
    pub fn finish(
        self,
        unpack: impl FnOnce(String) -> (String, Option<String>),
    ) -> Result<Accepted, TextError> {
        let (text, unpacked) = unpack(self.text);
        let mut notes = Vec::new();
        if self.starts.len() > 1 {
            notes.push(format!(
                "That file is {:.1} MB. A sample is enough for a model this small, so {:.1} MB of it are \
                 used: {PASSAGES} passages, evenly spaced.",
                self.bytes as f64 / 1e6,
                text.len() as f64 / 1e6,
            ));
        }
        if self.encoding != Encoding::Utf8 {
            notes.push("That file was in UTF-16. It was converted to UTF-8.".to_owned());
        }
        let accepted = accept(text.into())?;
        notes.extend(unpacked);
        notes.extend(accepted.notes);
        Ok(Accepted { notes, ..accepted })
    }
}

/// Accepts a small file that is here as a whole.
pub fn from_bytes(bytes: &[u8]) -> Result<Accepted, TextError> {
    let mut reader = Reader::new(bytes.len() as u64);
    reader.add(bytes)?;
    reader.finish(|text| (text, None))
}

/// Whether a text has zero bytes, and how many control characters that no text needs. The page waits: eight
/// bytes at a time where none of them can be of one, else byte by byte. Those above ASCII are `C2 80` to
/// `C2 9F`.
fn controls(text: &str) -> (bool, usize) {
    let (mut zeros, mut controls, mut before) = (false, 0, 0);
    for chunk in text.as_bytes().chunks(8) {
        if before != 0xc2 && <[u8; 8]>::try_from(chunk).is_ok_and(is_plain) {
            before = 0;
            continue;
        }
        for &byte in chunk {
            let ascii = byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | b'\x0c');
            let above = before == 0xc2 && (0x80..0xa0).contains(&byte);
            zeros |= byte == 0;
            controls += usize::from(ascii || byte == 0x7f || above);
            before = byte;
        }
    }
    (zeros, controls)
}

/// Whether none of the bytes is below `20`, or is `7F` or `C2`. For all at once, as one number: a difference
/// borrows the highest bit of a byte that is too small, and of none that has this bit itself.
fn is_plain(bytes: [u8; 8]) -> bool {
    const EACH: u64 = u64::MAX / 255;
    const HIGHEST: u64 = 0x80 * EACH;
    let below = |word: u64, least: u64| word.wrapping_sub(least * EACH) & !word & HIGHEST;
    let word = u64::from_ne_bytes(bytes);
    below(word, 0x20) | below(word ^ (0x7f * EACH), 1) | below(word ^ (0xc2 * EACH), 1) == 0
}

/// Accepts a pasted string. Line ends become `\n`; invalid Unicode is already `U+FFFD`.
pub fn from_str(text: &str) -> Result<Accepted, TextError> {
    accept(text.into())
}

/// Copies a text only where it has to.
fn accept(text: Cow<'_, str>) -> Result<Accepted, TextError> {
    check_size(text.len() as u64)?;
    let (zeros, controls) = controls(&text);
    if zeros || controls * 50 > text.len() {
        return Err(TextError::Binary);
    }
    let mut notes = Vec::new();
    let broken = text.matches(char::REPLACEMENT_CHARACTER).count();
    if broken > 0 {
        notes.push(format!(
            "{broken} character{} could not be read as Unicode and count{} as unknown (\u{FFFD}).",
            if broken == 1 { "" } else { "s" },
            if broken == 1 { "s" } else { "" },
        ));
    }
    let text = match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n"),
        false => text.into_owned(),
    };
    if text.trim().is_empty() {
        return Err(TextError::Empty);
    }
    Ok(Accepted { text, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of a large file.
    fn read(file: &[u8]) -> Result<Accepted, TextError> {
        let mut reader = Reader::new(file.len() as u64);
        for part in passages(file.len() as u64) {
            reader.add(&file[part.start as usize..part.end as usize])?;
        }
        reader.finish(|text| (text, None))
    }

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
        let long = "long ".repeat(1_000_001);
        assert_eq!(from_str(&long), Err(TextError::TooLarge { bytes: 5_000_005 }));
        assert_eq!(from_bytes(b"\xef\xbb\xbfcaf\xe9"), Err(TextError::NotUtf8 { byte: 6 }));
        for error in
            [TextError::Empty, TextError::Binary, TextError::TooLarge { bytes: 50_000_000 }]
        {
            assert!(error.to_string().ends_with('.'));
        }
    }

    #[test]
    fn control_characters_are_counted_as_unicode_has_them() {
        let all: String = ('\0'..='\u{2fff}').collect();
        let expected =
            all.chars().filter(|c| c.is_control() && !"\n\r\t\u{c}".contains(*c)).count();
        assert_eq!(controls(&all), (true, expected));
        assert_eq!(controls("a\tb\r\n\u{c}é"), (false, 0));
        // Wherever it stands among the eight bytes that are looked at together.
        for before in 0..17 {
            for (control, expected) in [
                ('\0', (true, 1)),
                ('\u{1}', (false, 1)),
                ('\u{7f}', (false, 1)),
                ('\u{80}', (false, 1)),
                ('\u{9f}', (false, 1)),
                ('\u{a0}', (false, 0)),
                (' ', (false, 0)),
                ('\n', (false, 0)),
                ('~', (false, 0)),
            ] {
                let text = format!(
                    "{}{control}{}",
                    "é".repeat(before / 2) + &"x".repeat(before % 2),
                    "y".repeat(20)
                );
                assert_eq!(controls(&text), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn counts_broken_characters() {
        // A lone high surrogate in UTF-16.
        let accepted = from_bytes(b"\xff\xfea\0\x00\xd8b\0").unwrap();
        assert_eq!(accepted.text, "a\u{FFFD}b");
        assert_eq!(accepted.notes.len(), 2);
        assert_eq!(accepted.notes[0], "That file was in UTF-16. It was converted to UTF-8.");
        assert!(accepted.notes[1].starts_with("1 character could"));
    }

    #[test]
    fn of_a_large_file_passages_are_read() {
        for whole in [0, MAX_BYTES] {
            assert!(passages(whole).into_iter().eq(iter::once(0..whole)));
        }
        for bytes in [MAX_BYTES + 1, 50_000_001, 8_000_000_000] {
            let parts = passages(bytes);
            assert_eq!(parts.len() as u64, PASSAGES);
            assert!(parts.iter().all(|part| part.start % 2 == 0 && part.end <= bytes));
            assert!(parts.is_sorted_by_key(|part| part.start));
            let last = &parts[parts.len() - 1];
            assert!(parts[0].start == 0 && bytes - last.end <= 1);
            let read: u64 = parts.iter().map(|part| part.end - part.start).sum();
            assert_eq!(read, MAX_BYTES);
        }
    }

    #[test]
    fn lines_and_characters_of_passages_are_whole() {
        // Lines of another length than passages, of characters of one to four bytes.
        let line = "naïve 水 🙂 and plain\n";
        let file = line.repeat(400_000);
        let utf16: Vec<u8> =
            [0xfeff].into_iter().chain(file.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        for file in [file.as_bytes(), &utf16] {
            let accepted = read(file).unwrap();
            assert!(
                accepted.text.lines().all(|read| read == line.trim_end()),
                "{:?}",
                accepted.notes
            );
            let learned = accepted.text.len();
            assert!((4_000_000..=5_000_000).contains(&learned) || file.len() == utf16.len());
            assert!(accepted.notes[0].starts_with("That file is "));
        }
        // Without lines, what is cut are characters alone.
        let accepted = read("水🙂".repeat(1_000_000).as_bytes()).unwrap();
        assert!(accepted.text.chars().all(|c| matches!(c, '水' | '🙂' | '\n')));
        let accepted =
            read(&"🙂".repeat(2_000_000).encode_utf16().fold(vec![0xff, 0xfe], |mut all, unit| {
                all.extend(unit.to_le_bytes());
                all
            }))
            .unwrap();
        assert!(accepted.text.chars().all(|c| matches!(c, '🙂' | '\n')));
        // Characters that grow in UTF-8: there is less of each passage, and still of the last.
        let lines = (0..200_000).map(|line| format!("{line} 水水水水水水水水水水水水\n"));
        let growing = lines.collect::<String>();
        let file: Vec<u8> =
            [0xfeff].into_iter().chain(growing.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert!(file.len() as u64 > MAX_BYTES);
        let accepted = read(&file).unwrap();
        let numbers = accepted.text.lines().map(|line| line.split_once(' ').unwrap());
        assert!(numbers.clone().all(|(_, rest)| rest.chars().count() == 12));
        let numbers: Vec<u32> = numbers.map(|(number, _)| number.parse().unwrap()).collect();
        assert!(numbers.is_sorted() && numbers[0] == 0 && numbers[numbers.len() - 1] > 199_000);
        // What breaks the encoding is named by its place in the file.
        let mut broken = line.repeat(400_000).into_bytes();
        let last = passages(broken.len() as u64)[99].clone();
        broken[last.start as usize + 1000] = 0xff;
        let byte = last.start + 1000;
        let found = read(&broken);
        assert!(
            matches!(found, Err(TextError::NotUtf8 { byte: at }) if at.abs_diff(byte) < 4),
            "{found:?}"
        );
    }

    #[test]
    fn another_format_is_unpacked_first() {
        let mut reader = Reader::new(3);
        reader.add(b"{1}").unwrap();
        let unpack = |text: String| (text.replace(['{', '}'], ""), Some("Unpacked.".to_owned()));
        let accepted = reader.finish(unpack).unwrap();
        assert_eq!((accepted.text.as_str(), accepted.notes), ("1", vec!["Unpacked.".to_owned()]));
    }
}
