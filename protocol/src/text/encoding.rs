//! Which encoding a file of text is in, from its bytes, and the text in them.

use core::ops::RangeInclusive;

use super::{TextError, controls};

/// As many bytes tell the encoding of a file: the page waits meanwhile.
const LOOKED_AT: usize = 1 << 16;

/// An encoding whose text is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Utf8,
    Utf16(Order),
    Utf32(Order),
    OneByte(&'static Page),
}

/// An encoding of Latin letters in which each character is one byte, and ASCII is as ever.
#[derive(Debug, PartialEq)]
pub(super) struct Page {
    name: &'static str,
    /// The characters of `80` to `9F`, `A0` to `BF`, and `C0` to `FF`; `U+FFFD` stands for none. An empty part
    /// is as in Unicode.
    parts: [&'static str; 3],
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Encoding {
    /// From the byte order mark, and the bytes behind it; else from the zeros that UTF-16 and UTF-32 have and
    /// no other text. `bytes` begin a file of so many.
    pub(super) fn of(bytes: &[u8], file: u64) -> (Self, &[u8]) {
        match bytes {
            [0xef, 0xbb, 0xbf, rest @ ..] => (Self::Utf8, rest),
            // Before UTF-16, whose mark begins as this one: no text has a zero next.
            [0xff, 0xfe, 0, 0, rest @ ..] => (Self::Utf32(Order::Little), rest),
            [0, 0, 0xfe, 0xff, rest @ ..] => (Self::Utf32(Order::Big), rest),
            [0xff, 0xfe, rest @ ..] => (Self::Utf16(Order::Little), rest),
            [0xfe, 0xff, rest @ ..] => (Self::Utf16(Order::Big), rest),
            _ => (Self::without_mark(bytes, file).unwrap_or(Self::Utf8), bytes),
        }
    }

    /// UTF-16 or UTF-32 where all that is looked at is text in it; see [`rank`].
    fn without_mark(bytes: &[u8], file: u64) -> Option<Self> {
        let head = &bytes[..bytes.len().min(LOOKED_AT)];
        if !head.contains(&0) || is_utf8_with_zeros(head) {
            return None;
        }
        let rank = |encoding: Self| match encoding {
            Self::Utf32(order) if file.is_multiple_of(4) => {
                rank(order.quads(head).map(char::from_u32))
            }
            Self::Utf16(order) if file.is_multiple_of(2) => {
                let head = &head[..head.len() - order.cut(head)];
                rank(char::decode_utf16(order.pairs(head)).map(Result::ok))
            }
            _ => None,
        };
        let orders = [Order::Little, Order::Big];
        [orders.map(Self::Utf32), orders.map(Self::Utf16)].into_iter().find_map(|encodings| {
            let ranked = encodings.map(|encoding| (rank(encoding), encoding));
            let (rank, best) = ranked.into_iter().max_by_key(|(rank, _)| *rank)?;
            (rank > Some((0, 0))).then_some(best)
        })
    }

    /// The text that starts at byte `start` of a file. A character that is cut by either end of a passage is
    /// left out. And how many bytes there are of the one at the end.
    pub(super) fn decode(
        self,
        bytes: &[u8],
        start: u64,
        is_cut: [bool; 2],
    ) -> Result<(String, usize), TextError> {
        let or_unknown = |c: Option<char>| c.unwrap_or(char::REPLACEMENT_CHARACTER);
        match self {
            Self::Utf8 => {
                let is_inside = |byte: &&u8| **byte & 0xc0 == 0x80;
                let skipped = match is_cut[0] {
                    true => bytes.iter().take(3).take_while(is_inside).count(),
                    false => 0,
                };
                let bytes = &bytes[skipped..];
                match core::str::from_utf8(bytes) {
                    Ok(text) => Ok((text.to_owned(), 0)),
                    Err(error) if is_cut[1] && error.error_len().is_none() => {
                        let (whole, rest) = bytes.split_at(error.valid_up_to());
                        Ok((String::from_utf8_lossy(whole).into_owned(), rest.len()))
                    }
                    // A zero byte says more about the file than the place of its first encoding error.
                    Err(_) if bytes.contains(&0) => Err(TextError::Binary),
                    Err(error) => {
                        let byte = start + (skipped + error.valid_up_to()) as u64;
                        Err(TextError::NotUtf8 { byte, likely: None })
                    }
                }
            }
            Self::Utf16(order) => {
                let rest = if is_cut[1] { order.cut(bytes) } else { 0 };
                let characters = char::decode_utf16(order.pairs(&bytes[..bytes.len() - rest]));
                let text: String = characters.map(|c| or_unknown(c.ok())).collect();
                let half = text.strip_prefix(char::REPLACEMENT_CHARACTER).filter(|_| is_cut[0]);
                Ok((half.map(str::to_owned).unwrap_or(text), rest))
            }
            Self::Utf32(order) => {
                let characters =
                    order.quads(bytes).map(|number| or_unknown(char::from_u32(number)));
                Ok((characters.collect(), bytes.len() % 4))
            }
            Self::OneByte(page) => {
                let characters = page.characters();
                let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
                let mut rest = bytes;
                // What is ASCII is copied as it is: most of it.
                while let Some(at) = rest.iter().position(|byte| !byte.is_ascii()) {
                    text.push_str(core::str::from_utf8(&rest[..at]).unwrap_or_default());
                    text.push(characters[usize::from(rest[at] & 0x7f)]);
                    rest = &rest[at + 1..];
                }
                text.push_str(core::str::from_utf8(rest).unwrap_or_default());
                Ok((text, 0))
            }
        }
    }

    /// What was done to a file in this encoding, as a sentence or more.
    pub(super) fn note(self) -> Option<String> {
        let name = match self {
            Self::Utf8 => return None,
            Self::Utf16(_) => "UTF-16",
            Self::Utf32(_) => "UTF-32",
            // Its bytes never tell for sure.
            Self::OneByte(page) => {
                return Some(format!(
                    "That file was probably in {}. It was converted to UTF-8. If letters look wrong, \
                     save it as UTF-8 and open it again.",
                    page.name
                ));
            }
        };
        Some(format!("That file was in {name}. It was converted to UTF-8."))
    }
}

impl Order {
    fn pairs(self, bytes: &[u8]) -> impl Iterator<Item = u16> {
        let unit = match self {
            Self::Little => u16::from_le_bytes,
            Self::Big => u16::from_be_bytes,
        };
        bytes.chunks_exact(2).map(move |pair| unit([pair[0], pair[1]]))
    }

    /// How many bytes at the end of UTF-16 are of a character that goes on.
    fn cut(self, bytes: &[u8]) -> usize {
        let is_half = self.pairs(bytes).last().is_some_and(|unit| (0xd800..0xdc00).contains(&unit));
        bytes.len() % 2 + if is_half { 2 } else { 0 }
    }

    fn quads(self, bytes: &[u8]) -> impl Iterator<Item = u32> {
        let unit = match self {
            Self::Little => u32::from_le_bytes,
            Self::Big => u32::from_be_bytes,
        };
        bytes.chunks_exact(4).map(move |four| unit([four[0], four[1], four[2], four[3]]))
    }
}

/// Whether it is text in UTF-8 with some zeros between: no text in UTF-16, of which they would be about half
/// where all else is ASCII.
fn is_utf8_with_zeros(bytes: &[u8]) -> bool {
    let zeros = bytes.iter().filter(|byte| **byte == 0).count();
    core::str::from_utf8(bytes).is_ok_and(|text| {
        let (_, controls) = controls(text);
        zeros * 3 < bytes.len() && (controls - zeros) * 50 <= bytes.len()
    })
}

/// How sure it is that characters were read with their bytes in this order: how many are what stands between
/// words and sentences, and how many are ASCII. With the bytes exchanged the first are rare characters, while
/// a common one in Chinese becomes ASCII. `None` if they can't be text.
fn rank(characters: impl Iterator<Item = Option<char>>) -> Option<(usize, usize)> {
    let (mut all, mut between, mut ascii, mut controls) = (0, 0, 0, 0);
    for character in characters {
        let character = character?;
        // Those for private use, and those that are none.
        if matches!(character, '\0' | '\u{e000}'..='\u{f8ff}' | '\u{fffe}' | '\u{ffff}') {
            return None;
        }
        let is_control =
            character.is_control() && !matches!(character, '\n' | '\r' | '\t' | '\x0c');
        all += 1;
        between += usize::from(matches!(character, ' ' | '\n' | '、' | '。' | '，'));
        ascii += usize::from(character.is_ascii() && !is_control);
        controls += usize::from(is_control);
    }
    (controls * 50 <= all).then_some((between, ascii))
}

/// `80` to `9F` of Windows-1252.
const MARKS: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ";
/// `C0` to `FF` of Windows-1250 and ISO-8859-2.
const CENTRAL: &str = "ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙";

/// The first is what Western European systems wrote before UTF-8; Latin-1 is a part of it.
static PAGES: [Page; 4] = [
    Page { name: "Windows-1252 (Western European)", parts: [MARKS, "", ""] },
    Page {
        name: "Windows-1250 (Central European)",
        parts: [
            "€\u{fffd}‚\u{fffd}„…†‡\u{fffd}‰Š‹ŚŤŽŹ\u{fffd}‘’“”•–—\u{fffd}™š›śťžź",
            "\u{a0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{ad}®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż",
            CENTRAL,
        ],
    },
    Page {
        name: "ISO-8859-2 (Central European)",
        parts: ["", "\u{a0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{ad}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žż", CENTRAL],
    },
    Page {
        // ISO-8859-9 is a part of it.
        name: "Windows-1254 (Turkish)",
        // Of the first part it lacks Ž and ž, which Turkish has no use for.
        parts: [MARKS, "", "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ"],
    },
];

/// The small letters beyond ASCII of languages that are written in a [`Page`].
const LANGUAGES: [&str; 17] = [
    "äöüßé",             // German
    "àâæçèéêëîïôœùûüÿ",  // French
    "áéíñóúü",           // Spanish
    "àáâãçéêíóôõúü",     // Portuguese
    "àèéìíîòóùú",        // Italian
    "àçèéíïñòóúü",       // Catalan
    "äéèëïöüêôû",        // Dutch, Afrikaans, Luxembourgish
    "åäöæøéü",           // Danish, Norwegian, Swedish, Finnish
    "áðéíóúýþæöø",       // Icelandic, Faroese
    "äöõüšž",            // Estonian
    "ąćęłńóśźż",         // Polish
    "áčďéěíňóřšťúůýž",   // Czech
    "áäčďéíĺľňóôŕšťúýž", // Slovak
    "čćđšž",             // Slovene, Croatian, Bosnian
    "áéíóöőúüű",         // Hungarian
    "ăâîşţ",             // Romanian
    "çğıöşüâîûi",        // Turkish; İ becomes i and a dot
];

impl Page {
    /// The characters of `80` to `FF`.
    fn characters(&self) -> Vec<char> {
        let part = |(part, bytes): (&&str, RangeInclusive<u8>)| match part.is_empty() {
            true => bytes.map(char::from).collect::<Vec<char>>(),
            false => part.chars().collect(),
        };
        let bytes = [0x80..=0x9f, 0xa0..=0xbf, 0xc0..=0xff];
        self.parts.iter().zip(bytes).flat_map(part).collect()
    }
}

/// What bytes may be that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Guess {
    /// No text.
    Binary,
    OneByte(&'static Page),
    /// An encoding that is not read here, by its name.
    Other(&'static str),
    /// UTF-8 with an error, or an encoding that is not known here.
    Unknown,
}

/// What the bytes of a passage are in that are not UTF-8. With `is_cut` they may begin within a character.
pub(super) fn guess(bytes: &[u8], is_cut: bool) -> Guess {
    // No encoding has a line end within a character.
    let line = bytes.iter().position(|byte| *byte == b'\n').filter(|_| is_cut);
    let whole = &bytes[line.unwrap_or(0)..];
    let whole = if whole.is_ascii() { bytes } else { whole };
    // With the letter before.
    let first = whole.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(1);
    let looked_at = &whole[first..whole.len().min(first + LOOKED_AT)];
    let is_control = |byte: u8| byte.is_ascii_control() && !b"\n\r\t\x0c".contains(&byte);
    if looked_at.iter().filter(|byte| is_control(**byte)).count() * 50 > looked_at.len() {
        return Guess::Binary;
    }
    let (mut valid, mut broken) = (0, 0);
    for chunk in looked_at.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    if valid > 0 && valid >= broken {
        return Guess::Unknown;
    }
    // In this order: every other byte of the first two may be ASCII, as beside a Western letter, and Cyrillic
    // words of even length are whole characters of the last ones.
    if let Some(name) = shift_jis(looked_at).or_else(|| big5(looked_at)) {
        Guess::Other(name)
    } else if let Some(page) = latin(looked_at) {
        Guess::OneByte(page)
    } else {
        let other = cyrillic(looked_at).or_else(|| east_asian(looked_at));
        other.map_or(Guess::Unknown, Guess::Other)
    }
}

/// The page of a text in Latin letters: the one that makes these of one language, where nearly all are so. The
/// first makes what is left of several languages, where letters with accents stand mostly alone.
fn latin(bytes: &[u8]) -> Option<&'static Page> {
    let all = high(bytes).count();
    let joined = high(bytes).filter(|[before, ..]| is_high(*before)).count();
    let [western, others @ ..] = &PAGES;
    let Fit { strange, odd, .. } = fit(western, bytes);
    let fits = others.iter().map(|page| (fit(page, bytes), page));
    let (Fit { strange: fewest, .. }, page) =
        fits.min_by_key(|(fit, _)| (fit.strange, fit.marks))?;
    // Of a text in English with some foreign names in it they tell nothing.
    let is_dense = all * 40 >= bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    // Words in Cyrillic or Chinese have no other letters.
    if is_dense && joined * 5 <= all * 3 && fewest * 20 <= all && fewest * 2 < strange {
        return Some(page);
    }
    (joined * 2 <= all && odd * 10 <= all).then_some(western)
}

/// A space that does not break stands beside others.
fn is_high(byte: u8) -> bool {
    !byte.is_ascii() && byte != 0xa0
}

/// Each byte above ASCII, between its neighbors.
fn high(bytes: &[u8]) -> impl Iterator<Item = [u8; 3]> {
    let beside = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let all = bytes.iter().enumerate().filter(|(_, byte)| is_high(**byte));
    all.map(move |(at, &byte)| [beside(at.checked_sub(1)), byte, beside(Some(at + 1))])
}

/// How well a page fits: what it makes of the bytes above ASCII.
struct Fit {
    /// Odd ones, those that hardly stand where they do, and letters that one language has not: of the language
    /// with the fewest.
    strange: usize,
    /// What is no letter, and may stand where it does.
    marks: usize,
    /// What may not stand where it does.
    odd: usize,
}

fn fit(page: &Page, bytes: &[u8]) -> Fit {
    let characters = page.characters();
    let (mut letters, mut marks, mut odd, mut rare) = ([0; 128], 0, 0, 0);
    for [before, byte, after] in high(bytes) {
        let at = usize::from(byte & 0x7f);
        let character = characters[at];
        let is_inside = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
        // An ellipsis, an apostrophe, dashes, hyphens and the point of Catalan.
        let may_be_inside = character.is_alphabetic() || "…‘’–—\u{ad}·".contains(character);
        if character == char::REPLACEMENT_CHARACTER
            || character.is_control()
            || is_inside && !may_be_inside
            || before.is_ascii_lowercase() && character.is_uppercase()
        {
            odd += 1;
        } else if character.is_alphabetic() && !"ªºµ".contains(character) {
            letters[at] += 1;
        } else {
            marks += 1;
            // Hardly a word begins with it.
            let is_rare = "¤¥¦¬¯±²³¶¸¹¼½¾".contains(character);
            rare += usize::from(is_rare && after.is_ascii_alphabetic());
        }
    }
    let foreign = |language: &&str| -> usize {
        let is_foreign =
            |c: char| !c.to_lowercase().next().is_some_and(|small| language.contains(small));
        let counts = letters.iter().zip(&characters);
        counts.filter(|(_, c)| is_foreign(**c)).map(|(count, _)| count).sum()
    };
    let foreign = LANGUAGES.iter().map(foreign).min().unwrap_or(0);
    Fit { strange: odd + rare + foreign, marks, odd }
}

/// The part of some characters of two bytes that are so.
fn share(all: &[[u8; 2]], is_so: impl Fn(u8, u8) -> bool) -> f64 {
    let count = all.iter().filter(|[lead, trail]| is_so(*lead, *trail)).count();
    count as f64 / all.len().max(1) as f64
}

fn shift_jis(bytes: &[u8]) -> Option<&'static str> {
    let all = doubles(
        bytes,
        |single| matches!(single, 0xa1..=0xdf),
        |lead| matches!(lead, 0x81..=0x9f | 0xe0..=0xfc),
        |trail| matches!(trail, 0x40..=0x7e | 0x80..=0xfc),
    )?;
    // Kana and what ends a sentence; in the others these are rare characters.
    let is_japanese = share(&all, |lead, _| matches!(lead, 0x81..=0x83)) >= 0.25;
    is_japanese.then_some("Shift-JIS (Japanese)")
}

fn big5(bytes: &[u8]) -> Option<&'static str> {
    let is_trail = |trail| matches!(trail, 0x40..=0x7e | 0xa1..=0xfe);
    let all = doubles(bytes, |_| false, |lead| matches!(lead, 0xa1..=0xf9), is_trail)?;
    // In the others, second bytes in ASCII are those of rare characters.
    (share(&all, |_, trail| trail.is_ascii()) >= 0.2).then_some("Big5 (Chinese)")
}

/// Another encoding of Chinese, Japanese or Korean.
fn east_asian(bytes: &[u8]) -> Option<&'static str> {
    let is_trail = |trail| matches!(trail, 0x40..=0x7e | 0x80..=0xfe);
    let all = doubles(bytes, |_| false, |lead| matches!(lead, 0x81..=0xfe), is_trail)?;
    if share(&all, |lead, trail| matches!(lead, 0xa4 | 0xa5) && trail > 0xa0) >= 0.25 {
        return Some("EUC-JP (Japanese)");
    }
    // Characters are in the order of their sound: in Chinese many come after C8, where Korean ends.
    let letters = share(&all, |lead, _| lead >= 0xb0);
    let early = share(&all, |lead, _| matches!(lead, 0xb0..=0xc8));
    Some(match letters > 0.0 && early >= 0.95 * letters {
        true => "EUC-KR (Korean)",
        false => "GBK (Chinese)",
    })
}

/// The characters of two bytes. `None` where bytes above ASCII are no characters, or most of those of two bytes
/// stand alone. The last one may be cut.
fn doubles(
    bytes: &[u8],
    is_single: impl Fn(u8) -> bool,
    is_lead: impl Fn(u8) -> bool,
    is_trail: impl Fn(u8) -> bool,
) -> Option<Vec<[u8; 2]>> {
    let (mut all, mut joined, mut at, mut end) = (Vec::new(), 0, 0, None);
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() || is_single(byte) {
            at += 1;
            continue;
        }
        let Some(&trail) = bytes.get(at + 1) else { break };
        if !is_lead(byte) || !is_trail(trail) {
            return None;
        }
        all.push([byte, trail]);
        joined += usize::from(end == Some(at));
        at += 2;
        end = Some(at);
    }
    (joined * 2 >= all.len() && joined > 0).then_some(all)
}

/// The encoding of Cyrillic in which a third of the bytes above ASCII are the most common letters, and not
/// one of these alone.
fn cyrillic(bytes: &[u8]) -> Option<&'static str> {
    // о, е, а, и, н, т.
    let encodings = [
        ("Windows-1251 (Cyrillic)", [0xee, 0xe5, 0xe0, 0xe8, 0xed, 0xf2]),
        ("KOI8-R (Cyrillic)", [0xcf, 0xc5, 0xc1, 0xc9, 0xce, 0xd4]),
        ("CP866 (Cyrillic)", [0xae, 0xa5, 0xa0, 0xa8, 0xad, 0xe2]),
    ];
    let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    let fits = |letters: &[u8]| {
        let counts = letters.iter().map(|letter| bytes.iter().filter(|b| *b == letter).count());
        let (all, most) = counts.fold((0, 0), |(all, most), count| (all + count, most.max(count)));
        all * 3 >= high && most * 3 <= high
    };
    encodings.into_iter().find(|(_, letters)| fits(letters)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{MAX_BYTES, PIECE, from_bytes},
        *,
    };

    /// A text in both orders of UTF-16 and UTF-32, without a mark, and the name of each.
    fn wide(text: &str) -> [(&'static str, Vec<u8>); 4] {
        let (units, numbers) = (|| text.encode_utf16(), || text.chars().map(u32::from));
        [
            ("UTF-16", units().flat_map(u16::to_le_bytes).collect()),
            ("UTF-16", units().flat_map(u16::to_be_bytes).collect()),
            ("UTF-32", numbers().flat_map(u32::to_le_bytes).collect()),
            ("UTF-32", numbers().flat_map(u32::to_be_bytes).collect()),
        ]
    }

    #[test]
    fn utf16_and_utf32_need_no_mark() {
        for text in [
            "hi",
            "The goat, who had one hat.\nAnd so on.",
            "Größe und naïve 🙂",
            "Жили-были старик со старухой",
            "从前有座山，山上有一座庙。\n庙里有一个老和尚。",
            "むかし むかし、おじいさんが",
            "한국어 텍스트입니다",
            "שלום עולם",
        ] {
            for (name, bytes) in wide(text) {
                let read = from_bytes(&bytes).unwrap();
                assert_eq!(read.text, text, "{name}");
                assert_eq!(
                    read.notes,
                    [format!("That file was in {name}. It was converted to UTF-8.")]
                );
            }
            let marked = format!("\u{feff}{text}");
            for (name, bytes) in wide(&marked) {
                let read = from_bytes(&bytes).unwrap();
                assert_eq!(read.text, text, "{name}");
                assert_eq!(read.notes.len(), 1);
            }
        }
        // A character that goes on behind what is looked at.
        let long = format!("a{}", "🙂".repeat(LOOKED_AT));
        let (_, bytes) = &wide(&long)[0];
        assert_eq!(from_bytes(bytes).unwrap().text, long);
    }

    #[test]
    fn zeros_alone_make_no_text() {
        for bytes in [
            &b"one\0two\0three\0four\0"[..],
            b"naive\0text",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x02\0",
            // Small numbers of two and of four bytes.
            &[1, 0, 2, 0, 3, 0, 4, 0, 11, 0, 5, 0],
            &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0],
            // A number of eight bytes, and one that is negative.
            &[0, 0, 0, 0, 0, 0, 0x59, 0x40, 0xff, 0xff, 0xff, 0xff, 0x61, 0, 0, 0],
        ] {
            assert_eq!(from_bytes(bytes), Err(TextError::Binary), "{bytes:?}");
        }
    }

    #[test]
    fn western_text_is_converted() {
        for (bytes, text) in [
            (&b"caf\xe9"[..], "café"),
            (b"\xe9t\xe9", "été"),
            (b"Gr\xf6\xdfe, \xc4pfel und 5 \x80", "Größe, Äpfel und 5 €"),
            (
                b"\xabQu\x92est-ce que c\x92est\x85\xa0?\xbb \x96 \x93na\xefve\x94",
                "«Qu’est-ce que c’est…\u{a0}?» – “naïve”",
            ),
            (b"hyv\xe4\xe4 p\xe4iv\xe4\xe4", "hyvää päivää"),
            (b"5\xa0kg", "5\u{a0}kg"),
            (b"\xbfQu\xe9 a\xf1o?\r\n\xa1Ol\xe9!", "¿Qué año?\n¡Olé!"),
        ] {
            let read = from_bytes(bytes).unwrap();
            assert_eq!(read.text, text);
            assert!(read.notes[0].starts_with("That file was probably in Windows-1252"));
        }
        let all: Vec<u8> = (0x80..=0xff).collect();
        let (text, _) = Encoding::OneByte(&PAGES[0]).decode(&all, 0, [false; 2]).unwrap();
        assert_eq!(text.chars().count(), 128);
        assert_eq!(text.matches('\u{fffd}').count(), 5);
        assert!(text.starts_with("€\u{fffd}‚ƒ") && text.ends_with("ýþÿ"));
    }

    /// A text in one of the pages.
    fn paged(page: &Page, text: &str) -> Vec<u8> {
        let characters = page.characters();
        let byte = |c: char| match c.is_ascii() {
            true => c as u8,
            false => 0x80 + characters.iter().position(|other| *other == c).unwrap() as u8,
        };
        text.chars().map(byte).collect()
    }

    #[test]
    fn pages_of_latin_letters_are_told_by_their_languages() {
        let [western, central, iso, turkish] = &PAGES;
        let both = &[central, iso][..];
        for (pages, text) in [
            (both, "Na końcu wsi stała mała chata, w której mieszkała babcia z dwoma wnukami."),
            (both, "Zażółć gęślą jaźń."),
            (both, "ŹLE WRÓŻYŁ MU KAŻDY DZIEŃ, LECZ ON SIĘ ŚMIAŁ."),
            (both, "Na kraji vesnice stál malý dům, ve kterém žila babička se dvěma vnoučaty."),
            (both, "Příliš žluťoučký kůň úpěl ďábelské ódy."),
            (
                both,
                "Na konci dediny stál malý dom, v ktorom ľudia už dávno nežili. Všetko stíchlo.",
            ),
            (both, "A falu szélén állt egy kis ház, ott élt egy öreg nő két űzött őzikével."),
            (both, "Na koncu vasi je stala majhna hiša, v kateri je živela žena s črnim mačkom."),
            (both, "La marginea satului era o casă mică, în care trăia o bătrână şi nepoţii săi."),
            (&[turkish], "Köyün ucunda küçük bir ev vardı, içinde yaşlı bir kadın yaşardı."),
            (&[turkish], "ÇOCUKLAR BAHÇEDE ŞARKI SÖYLÜYOR, İŞÇİLER DİNLENİYORDU."),
            (&[western], "Am Ende des Dorfes stand ein großes Haus, und drüben hörte man Mädchen."),
            (&[western], "Schöne Grüße!"),
            (
                &[western],
                "Au bout du village, une très vieille maison où l’été durait… ça, c’était la fête.",
            ),
            (
                &[western],
                "Al final del año, la niña volvió a su pequeño jardín. ¿Qué pasó después?",
            ),
            (&[western], "No fim da aldeia não havia ninguém: só uma maçã, três cães e o avô."),
            (
                &[western],
                "I utkanten av byn låg en liten stuga, där bodde två små flickor och en räv.",
            ),
            (&[western], "I utkanten av landsbyen lå et rødt hus, og på døra sto det «æ, ø, å»."),
            (
                &[western],
                "Í þorpinu stóð lítið hús, þar bjó gömul kona með tvö börn. Það var ágætt.",
            ),
            (&[western], "Küla ääres elas vana õpetaja, kes armastas öösel jõe ääres kõndida."),
            // Of several languages, though it could be Czech: Sřren, crčme.
            (
                &[western],
                "Then Søren ate all of the crème, which nobody had left there for him to eat up, \
                          and he never told a soul of it till the end of his days.",
            ),
        ] {
            for page in pages {
                for text in [text, &format!("Chapter 1. {text}\n")] {
                    let bytes = paged(page, text);
                    let page = pages.iter().find(|page| paged(page, text) == bytes).unwrap();
                    let read = from_bytes(&bytes).unwrap();
                    assert_eq!(read.text, text, "{}", page.name);
                    let note = format!("That file was probably in {}. It was", page.name);
                    assert!(read.notes[0].starts_with(&note), "{text}: {:?}", read.notes);
                }
            }
        }
        // What fits both is taken for the more frequent one, and is said to be only probable.
        let short = from_bytes(&paged(central, "kočka")).unwrap();
        assert_eq!(short.text, "koèka");
        assert!(
            short.notes[0].ends_with("If letters look wrong, save it as UTF-8 and open it again.")
        );
        // Of the letters of one language, but without another between them.
        for bytes in [&b"\xed\xe5\xf2"[..], b"\xed\xe5\xf2, \xe8 \xf2\xe0\xec \xed\xe5\xf2"] {
            assert!(!matches!(guess(bytes, false), Guess::OneByte(_)), "{bytes:?}");
        }
    }

    #[test]
    fn other_encodings_are_named() {
        for (name, bytes) in [
            (
                "Shift-JIS (Japanese)",
                &b"\x82\xde\x82\xa9\x82\xb5\x82\xde\x82\xa9\x82\xb5\x81A\x82\xa8\x82\xb6\x82\xa2\
                 \x82\xb3\x82\xf1\x82\xaa\x8eR\x82\xd6\x8ds\x82\xab\x82\xdc\x82\xb5\x82\xbd\x81\
                 B\n"[..],
            ),
            ("Shift-JIS (Japanese)", b"\x83R\x81[\x83q\x81[\x82\xc6\x83~\x83\x8b\x83N\n"),
            (
                "EUC-JP (Japanese)",
                b"\xa4\xe0\xa4\xab\xa4\xb7\xa4\xe0\xa4\xab\xa4\xb7\xa1\xa2\xa4\xaa\xa4\xb8\xa4\
                 \xa4\xa4\xb5\xa4\xf3\xa4\xac\xbb\xb3\xa4\xd8\xb9\xd4\xa4\xad\xa4\xde\xa4\xb7\
                 \xa4\xbf\xa1\xa3\n",
            ),
            (
                "EUC-KR (Korean)",
                b"\xbf\xbe\xb3\xaf \xbf\xbe\xc0\xfb\xbf\xa1 \xc7\xd2\xb8\xd3\xb4\xcf\xb0\xa1 \
                 \xbb\xec\xbe\xd2\xbd\xc0\xb4\xcf\xb4\xd9.\n",
            ),
            (
                "GBK (Chinese)",
                b"\xb4\xd3\xc7\xb0\xd3\xd0\xd7\xf9\xc9\xbd\xa3\xac\xc9\xbd\xc9\xcf\xd3\xd0\xd7\
                 \xf9\xc3\xed\xa3\xac\xc3\xed\xc0\xef\xd3\xd0\xb8\xf6\xc0\xcf\xba\xcd\xc9\xd0\
                 \xa1\xa3\n",
            ),
            (
                "Big5 (Chinese)",
                b"\xb1q\xabe\xa6\xb3\xaey\xa4s\xa1A\xa4s\xa4W\xa6\xb3\xaey\xbcq\xa1A\xbcq\xb8\
                 \xcc\xa6\xb3\xad\xd3\xa6\xd1\xa9M\xa9|\xa1C\n",
            ),
            (
                "Windows-1251 (Cyrillic)",
                b"\xc6\xe8\xeb\xe8-\xe1\xfb\xeb\xe8 \xf1\xf2\xe0\xf0\xe8\xea \xf1\xee \xf1\xf2\
                 \xe0\xf0\xf3\xf5\xee\xe9.\n",
            ),
            (
                "KOI8-R (Cyrillic)",
                b"\xf6\xc9\xcc\xc9-\xc2\xd9\xcc\xc9 \xd3\xd4\xc1\xd2\xc9\xcb \xd3\xcf \xd3\xd4\
                 \xc1\xd2\xd5\xc8\xcf\xca.\n",
            ),
            (
                "CP866 (Cyrillic)",
                b"\x86\xa8\xab\xa8-\xa1\xeb\xab\xa8 \xe1\xe2\xa0\xe0\xa8\xaa \xe1\xae \xe1\xe2\
                 \xa0\xe0\xe3\xe5\xae\xa9.\n",
            ),
        ] {
            // Behind ASCII, alone, and as lines that are cut at both ends.
            for before in ["", "Chapter 1\n", "a"] {
                let file = [before.as_bytes(), bytes].concat();
                let refused = from_bytes(&file).unwrap_err();
                assert!(
                    matches!(refused, TextError::NotUtf8 { likely: Some(of), .. } if of == name),
                    "{name} after {before:?}: {refused:?}"
                );
            }
            for cut in 1..4 {
                let lines = bytes.repeat(3);
                let found = guess(&lines[cut..lines.len() - cut], true);
                assert_eq!(found, Guess::Other(name), "cut by {cut}");
            }
        }
        // Letters of no language that is known here.
        assert_eq!(guess(b"\xe1\xe2\xe3\xe4 \xe5\xe6\xe7", false), Guess::Unknown);
        assert_eq!(guess(b"\x1f\x8b\x08\x01\x02\xff\x03\xfe\x90", false), Guess::Binary);
    }

    #[test]
    fn characters_go_on_from_piece_to_piece() {
        for spare in 0..8 {
            let ascii = "x".repeat(PIECE as usize - 4);
            let text = format!("{ascii}{} naïve 水🙂é{ascii}\n", "🙂".repeat(spare));
            let text = format!("{}{text}", "y".repeat(spare));
            assert_eq!(from_bytes(text.as_bytes()).unwrap().text, text);
            for (name, bytes) in wide(&text) {
                assert_eq!(from_bytes(&bytes).unwrap().text, text, "{name}, {spare}");
            }
            // What breaks the encoding is named by its place in the file.
            let broken = [text.as_bytes(), b"\xff"].concat();
            let byte = text.len() as u64;
            assert_eq!(from_bytes(&broken), Err(TextError::NotUtf8 { byte, likely: None }));
            // The first that is not ASCII is in the second piece, or at the end of the first.
            let western = [ascii.as_bytes(), &b"yyyyyyyy"[..spare], b"\xe9 \xe9t\xe9"].concat();
            assert!(from_bytes(&western).unwrap().text.ends_with("é été"), "{spare}");
        }
    }

    #[test]
    fn passages_of_a_large_file_are_converted() {
        // The first letter that is not ASCII is far behind the first passage.
        let mut western = b"plain lines alone\n".repeat(200_000);
        western.extend(b"a caf\xe9 and a line\n".repeat(150_000));
        assert!(western.len() as u64 > MAX_BYTES);
        let accepted = from_bytes(&western).unwrap();
        let lines: Vec<&str> = accepted.text.lines().collect();
        assert!(lines.iter().all(|line| ["plain lines alone", "a café and a line"].contains(line)));
        assert!(accepted.notes[0].starts_with("That file is 6."), "{:?}", accepted.notes);
        assert!(accepted.notes[1].contains("Windows-1252"), "{:?}", accepted.notes);
        // Each passage begins with a whole character, wherever that is.
        let line = "naïve 水 🙂 and plain\n";
        for (name, file) in wide(&line.repeat(130_000)) {
            let accepted = from_bytes(&file).unwrap();
            assert!(accepted.text.lines().all(|read| read == line.trim_end()), "{name}");
            assert!(accepted.notes[1].contains(name), "{:?}", accepted.notes);
        }
        // The last character may stand behind the last passage's end.
        for spare in 0..4 {
            let file = format!("{}{}é", "a line\n".repeat(900_000), "x".repeat(spare));
            assert!(from_bytes(file.as_bytes()).is_ok(), "{spare}");
        }
    }

    #[test]
    fn what_grows_beyond_the_limit_is_cut_at_a_line() {
        let line = b"\xe9 a short line\n";
        let accepted = from_bytes(&line.repeat(320_000)).unwrap();
        assert!(accepted.text.len() as u64 <= MAX_BYTES && accepted.text.len() > 4_999_000);
        assert!(accepted.text.lines().all(|line| line == "é a short line"));
        assert!(accepted.notes[1].contains("its end was left out"), "{:?}", accepted.notes);
    }
}
