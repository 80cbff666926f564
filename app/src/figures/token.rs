//! How single tokens are written where space is scarce, and where there is room for a name.

/// The token the tokenizer gives to characters it never saw.
pub const UNKNOWN: &str = "\u{fffd}";
/// What stands for it in print: the character itself looks as if the page were broken.
const UNKNOWN_MARK: &str = "□";

/// Text that a model wrote, for reading.
pub fn readable(text: &str) -> String {
    text.replace(UNKNOWN, UNKNOWN_MARK)
}

/// The token as it stands on chips and axes: what cannot be seen gets a sign.
pub fn mark(token: &str) -> String {
    if token == UNKNOWN {
        return UNKNOWN_MARK.into();
    }
    token
        .chars()
        .map(|c| match c {
            ' ' => '␣',
            '\n' => '⏎',
            '\t' => '⇥',
            '\r' => '␍',
            c if c.is_whitespace() || c.is_control() => '·',
            c => c,
        })
        .collect()
}

/// The word for what cannot be seen, where a mark stands alone and there is room for one.
pub fn word(mark: &str) -> Option<&'static str> {
    match mark {
        "␣" => Some("space"),
        "⏎" => Some("new line"),
        _ => None,
    }
}

/// How much higher than others a token's mark is written, in pixels: the sign of a space hangs below its line, and
/// as low as that it would seem to belong to what is below.
pub fn raised(mark: &str, font: f64) -> f64 {
    if mark == "␣" { 0.2 * font } else { 0.0 }
}

/// The token at the 0-based `position` for a sentence: `‘k’ (5)`, positions counted from 1.
pub fn name_at(token: &str, position: usize) -> String {
    format!("‘{}’ ({})", mark(token), position + 1)
}

/// How many columns of a monospaced text such a word takes, as small as it is written.
pub fn word_columns(word: &str) -> f64 {
    0.75 * word.len() as f64
}

/// What a person listening hears, and the tooltip shows: `space`, `new line`, `k`.
pub fn spoken(token: &str) -> String {
    match token {
        UNKNOWN => "unknown character, never seen in the text".into(),
        " " => "space".into(),
        "\n" => "new line".into(),
        "\t" => "tab".into(),
        other => other.into(),
    }
}

/// At most `longest` signs of the token's mark, an ellipsis standing for what is left out.
pub fn short_mark(token: &str, longest: usize) -> String {
    let mark = mark(token);
    let mut before = ' ';
    let starts =
        mark.char_indices().filter(|(_, c)| !joins(core::mem::replace(&mut before, *c), *c));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    if starts.len() <= longest {
        return mark;
    }
    mark[..starts[longest.saturating_sub(1)]].to_owned() + "…"
}

/// Whether a character is drawn together with the one before it: marks, and parts of emoji.
pub fn joins(before: char, next: char) -> bool {
    let is_flag = |c| matches!(u32::from(c), 0x1f1e6..=0x1f1ff);
    before == '\u{200d}'
        || (is_flag(before) && is_flag(next))
        || matches!(u32::from(next), 0x300..=0x36f | 0x200d | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0x1f3fb..=0x1f3ff)
}

/// The signs to which a mark is cut at most, however narrow its room.
const SHORTEST: usize = 3;

/// As [`short_mark`], or as much shorter as lets it fit so many columns.
pub fn fitted_mark(token: &str, longest: usize, room: f64) -> String {
    let mut marks = (SHORTEST..longest).rev().map(|longest| short_mark(token, longest));
    let mut mark = short_mark(token, longest);
    while columns(&mark) > room {
        let Some(shorter) = marks.next() else { break };
        mark = shorter;
    }
    mark
}

/// How many columns of a monospaced font a mark takes. Signs of East Asian scripts and emoji are wider;
/// alone, one keeps to its cell.
pub fn columns(mark: &str) -> f64 {
    let is_wide = |c: char| {
        matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3
        | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f000..=0x3ffff)
    };
    let mut before = ' ';
    let column = |c: char| {
        let joined = joins(core::mem::replace(&mut before, c), c);
        if joined {
            0.0
        } else if is_wide(c) {
            1.7
        } else {
            1.0
        }
    };
    let columns: f64 = mark.chars().map(column).sum();
    if mark.chars().nth(1).is_none() { 1.0 } else { columns }
}

/// Whether the text is a name of several words (`unit 12`), not a token whose spaces matter.
fn is_name(text: &str) -> bool {
    text.contains(' ') && text.trim() == text && !text.chars().any(char::is_control)
}

/// As [`short_mark`], with the spaces between a name's words left as they are.
pub fn short_label(text: &str, longest: usize) -> String {
    let short = short_mark(text, longest);
    if is_name(text) { short.replace('␣', " ") } else { short }
}

/// As [`name_at`], a name of several words standing for itself.
pub fn label_at(text: &str, position: usize) -> String {
    if is_name(text) { text.into() } else { name_at(text, position) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_for_what_cannot_be_seen() {
        assert_eq!(mark(" "), "␣");
        assert_eq!(mark("\n"), "⏎");
        assert_eq!(mark("\u{fffd}"), "□");
        assert_eq!(mark("the "), "the␣");
        assert_eq!(mark("\u{1}"), "·");
        assert_eq!(name_at("k", 4), "‘k’ (5)");
        assert_eq!(["", "a", "世", "the", "a世"].map(columns), [1.0, 1.0, 1.0, 3.0, 2.7]);
        // One sign of three characters, and one of two.
        assert_eq!(["a👩\u{200d}👧", "e\u{301}"].map(columns), [2.7, 1.0]);
        assert_eq!(short_mark("unroll", 4), "unr…");
        assert_eq!(short_mark("é", 4), "é");
        assert_eq!(short_mark("👩\u{200d}👧ab", 3), "👩\u{200d}👧ab");
        assert_eq!(short_mark("👩\u{200d}👧ab", 2), "👩\u{200d}👧…");
        let fitted = [9.0, 5.0, 1.0].map(|room| fitted_mark("incomplete", 8, room));
        assert_eq!(fitted, ["incompl…", "inco…", "in…"]);
        assert_eq!(fitted_mark("月亮升起来了", 8, 6.0), "月亮…");
        assert_eq!([short_label("unit 12", 10), short_label(" the", 10)], ["unit 12", "␣the"]);
        assert_eq!([label_at("unit 12", 11), label_at(" ", 0)], ["unit 12", "‘␣’ (1)"]);
    }
}
