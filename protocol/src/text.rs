//! Which texts can be trained on, and what to say about others.

mod encoding;

use core::{fmt, mem, ops::Range};
use std::borrow::Cow;

use encoding::{Encoding, Guess, guess};
use serde::{Deserialize, Serialize};

/// Size of the largest text that is learned, in bytes. Training holds it as text and as token ids.
pub const MAX_BYTES: u64 = 5_000_000;

/// Passages of a file that is larger.
const PASSAGES: u64 = 100;

/// Bytes of a file that are decoded at a time: from UTF-16 that takes the page a third of a frame. A multiple of
/// four, for UTF-16 and UTF-32.
const PIECE: u64 = 200_000;

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
    TooLarge {
        bytes: u64,
    },
    Binary,
    NotUtf8 {
        byte: u64,
        /// The encoding that it seems to be in.
        likely: Option<&'static str>,
    },
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
            Self::NotUtf8 { likely: Some(likely), .. } => write!(
                f,
                "That file is not UTF-8 text. It is probably in {likely}: save it as UTF-8 and open it \
                 again."
            ),
            Self::NotUtf8 { byte, likely: None } => write!(
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

/// The parts of a file of so many bytes that are read: all of it in pieces, or evenly spaced passages of together
/// [`MAX_BYTES`], the first and the last bytes among them.
pub fn passages(bytes: u64) -> Vec<Range<u64>> {
    if bytes <= MAX_BYTES {
        let starts = (0..bytes.max(1)).step_by(PIECE as usize);
        return starts.map(|start| start..bytes.min(start + PIECE)).collect();
    }
    let length = MAX_BYTES / PASSAGES;
    let starts = (0..PASSAGES).map(|passage| passage * (bytes - length) / (PASSAGES - 1));
    // Multiples of four, for UTF-16 and UTF-32.
    starts.map(|start| start & !3).map(|start| start..start + length).collect()
}

/// Reads a file passage by passage, so that a page can do other things between them: UTF-8, UTF-16 and UTF-32,
/// with or without a byte order mark, and encodings of Latin letters of one byte each. Of several passages the
/// lines that are cut are left out.
pub struct Reader {
    bytes: u64,
    /// Where the passages begin.
    starts: Vec<u64>,
    /// How many were read.
    read: usize,
    encoding: Encoding,
    /// Whether a mark says that it is this encoding.
    is_marked: bool,
    /// Whether it grew, so that its end was left out.
    is_shortened: bool,
    /// The bytes so far of a character that goes on in the next piece.
    begun: Vec<u8>,
    text: String,
}

impl Reader {
    /// Of a file of so many bytes.
    pub fn new(bytes: u64) -> Self {
        let starts = passages(bytes).into_iter().map(|range| range.start).collect();
        Self {
            bytes,
            starts,
            read: 0,
            encoding: Encoding::Utf8,
            is_marked: false,
            is_shortened: false,
            begun: Vec::new(),
            text: String::with_capacity(bytes.min(MAX_BYTES) as usize),
        }
    }

    /// Takes the next of the file's [`passages`].
    pub fn add(&mut self, passage: &[u8]) -> Result<(), TextError> {
        let (at, last) = (self.read, self.starts.len() - 1);
        self.read += 1;
        if self.is_shortened {
            return Ok(());
        }
        let begun = self.begun.len() as u64;
        let start = self.starts[at.min(last)];
        let is_sample = self.is_sample();
        let is_cut = [is_sample && at > 0, start + (passage.len() as u64) < self.bytes];
        let mut bytes = mem::take(&mut self.begun);
        bytes.extend_from_slice(passage);
        let mut content = &bytes[..];
        if at == 0 {
            (self.encoding, content) = Encoding::of(&bytes, self.bytes);
            self.is_marked = content.len() < bytes.len();
        }
        let start = start - begun + (bytes.len() - content.len()) as u64;
        let mut decoded = self.encoding.decode(content, start, is_cut);
        // What is ASCII so far is the same in other encodings.
        if let Err(TextError::NotUtf8 { byte, .. }) = decoded
            && !self.is_marked
            && self.text.is_ascii()
        {
            decoded = match guess(content, is_cut[0]) {
                Guess::Binary => Err(TextError::Binary),
                Guess::OneByte(page) => {
                    self.encoding = Encoding::OneByte(page);
                    self.encoding.decode(content, start, is_cut)
                }
                Guess::Other(name) => Err(TextError::NotUtf8 { byte, likely: Some(name) }),
                Guess::Unknown => decoded,
            };
        }
        let (decoded, rest) = decoded?;
        if is_sample {
            self.add_lines(&decoded, is_cut);
            return Ok(());
        }
        self.begun = content[content.len() - rest..].to_vec();
        self.text.push_str(&decoded);
        // What is converted may grow.
        if self.text.len() as u64 > MAX_BYTES {
            self.is_shortened = true;
            let room = self.text.floor_char_boundary(MAX_BYTES as usize);
            self.text.truncate(self.text[..room].rfind('\n').unwrap_or(room));
        }
        Ok(())
    }

    /// Whether passages are read instead of all.
    fn is_sample(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Adds the whole lines of a passage, behind a line end, as far as it has room for them.
    fn add_lines(&mut self, decoded: &str, is_cut: [bool; 2]) {
        let room = (MAX_BYTES / PASSAGES - 1) as usize;
        let mut whole = &decoded[..decoded.floor_char_boundary(room)];
        if is_cut[0] {
            whole = whole.split_once('\n').map_or(whole, |(_, rest)| rest);
        }
        if is_cut[1] || decoded.len() > room {
            whole = whole.rsplit_once('\n').map_or(whole, |(rest, _)| rest);
        }
        if self.read > 1 {
            self.text.push('\n');
        }
        self.text.push_str(whole);
    }

    /// Accepts the text. `unpack` takes it out of another format, and says what it took.
    pub fn finish(
        self,
        unpack: impl FnOnce(String) -> (String, Option<String>),
    ) -> Result<Accepted, TextError> {
        let is_sample = self.is_sample();
        let (text, unpacked) = unpack(self.text);
        let mut notes = Vec::new();
        if is_sample {
            notes.push(format!(
                "That file is {:.1} MB. A sample is enough for a model this small, so {:.1} MB of it are \
                 used: {PASSAGES} passages, evenly spaced.",
                self.bytes as f64 / 1e6,
                text.len() as f64 / 1e6,
            ));
        }
        notes.extend(self.encoding.note());
        if self.is_shortened {
            notes.push(format!(
                "In UTF-8 it is larger than the limit of {} MB, so its end was left out.",
                MAX_BYTES / 1_000_000
            ));
        }
        let accepted = accept(text.into())?;
        notes.extend(unpacked);
        notes.extend(accepted.notes);
        Ok(Accepted { notes, ..accepted })
    }
}

/// Accepts a file that is here as a whole.
pub fn from_bytes(bytes: &[u8]) -> Result<Accepted, TextError> {
    let mut reader = Reader::new(bytes.len() as u64);
    for part in passages(bytes.len() as u64) {
        reader.add(&bytes[part.start as usize..part.end as usize])?;
    }
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
        // UTF-8 but for one character.
        let broken = "naïve ".repeat(3).into_bytes();
        let byte = broken.len() as u64;
        assert_eq!(
            from_bytes(&[&broken[..], b"\xe9."].concat()),
            Err(TextError::NotUtf8 { byte, likely: None })
        );
        let long = "long ".repeat(1_000_001);
        assert_eq!(from_str(&long), Err(TextError::TooLarge { bytes: 5_000_005 }));
        // What is marked as UTF-8 is nothing else.
        let broken = TextError::NotUtf8 { byte: 6, likely: None };
        assert_eq!(from_bytes(b"\xef\xbb\xbfcaf\xe9"), Err(broken.clone()));
        let likely = TextError::NotUtf8 { byte: 6, likely: Some("GBK (Chinese)") };
        assert!(likely.to_string().contains("GBK"));
        for error in [
            TextError::Empty,
            TextError::Binary,
            TextError::TooLarge { bytes: 50_000_000 },
            broken,
            likely,
        ] {
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
        for whole in [0, 1, PIECE, PIECE + 1, MAX_BYTES] {
            let parts = passages(whole);
            assert!(parts.iter().all(|part| part.start % 4 == 0 && part.end - part.start <= PIECE));
            let ends = parts.iter().map(|part| part.end);
            assert!(
                parts[1..].iter().map(|part| part.start).eq(ends.clone().take(parts.len() - 1))
            );
            assert_eq!((parts[0].start, parts.last().map(|part| part.end)), (0, Some(whole)));
        }
        for bytes in [MAX_BYTES + 1, 50_000_001, 8_000_000_000] {
            let parts = passages(bytes);
            assert_eq!(parts.len() as u64, PASSAGES);
            assert!(parts.iter().all(|part| part.start % 4 == 0 && part.end <= bytes));
            assert!(parts.is_sorted_by_key(|part| part.start));
            let last = &parts[parts.len() - 1];
            assert!(parts[0].start == 0 && bytes - last.end < 4);
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
            let accepted = from_bytes(file).unwrap();
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
        let accepted = from_bytes("水🙂".repeat(1_000_000).as_bytes()).unwrap();
        assert!(accepted.text.chars().all(|c| matches!(c, '水' | '🙂' | '\n')));
        let accepted = from_bytes(&"🙂".repeat(2_000_000).encode_utf16().fold(
            vec![0xff, 0xfe],
            |mut all, unit| {
                all.extend(unit.to_le_bytes());
                all
            },
        ))
        .unwrap();
        assert!(accepted.text.chars().all(|c| matches!(c, '🙂' | '\n')));
        // Characters that grow in UTF-8: there is less of each passage, and still of the last.
        let lines = (0..200_000).map(|line| format!("{line} 水水水水水水水水水水水水\n"));
        let growing = lines.collect::<String>();
        let file: Vec<u8> =
            [0xfeff].into_iter().chain(growing.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert!(file.len() as u64 > MAX_BYTES);
        let accepted = from_bytes(&file).unwrap();
        let numbers = accepted.text.lines().map(|line| line.split_once(' ').unwrap());
        assert!(numbers.clone().all(|(_, rest)| rest.chars().count() == 12));
        let numbers: Vec<u32> = numbers.map(|(number, _)| number.parse().unwrap()).collect();
        assert!(numbers.is_sorted() && numbers[0] == 0 && numbers[numbers.len() - 1] > 199_000);
        // What breaks the encoding is named by its place in the file.
        let mut broken = line.repeat(400_000).into_bytes();
        let last = passages(broken.len() as u64)[99].clone();
        broken[last.start as usize + 1000] = 0xff;
        let byte = last.start + 1000;
        let found = from_bytes(&broken);
        assert!(
            matches!(found, Err(TextError::NotUtf8 { byte: at, likely: None }) if at.abs_diff(byte) < 4),
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
