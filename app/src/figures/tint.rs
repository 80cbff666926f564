//! The quiet color behind a token, wherever tokens need not be characters: one sees where each ends, and
//! finds the same one again. Neighbors that happen to share a color have a gap between them, as all do.

use unroll_protocol::signs;

use super::{
    pen::Pen,
    svg::escape,
    token::{joins, mark},
};

/// As many as `tokens.css` has.
pub const TINTS: usize = 5;

/// Which color a token has: the same one everywhere.
pub fn tint(token: &str) -> usize {
    // FNV-1a; its upper bits are the better mixed ones.
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    (token.bytes().fold(0x811c_9dc5, mix) >> 16) as usize % TINTS
}

/// Whether tokens of this vocabulary need not be characters: then each has its color.
pub fn is_needed(vocabulary: &[String]) -> bool {
    vocabulary.iter().any(|token| token.chars().nth(1).is_some())
}

/// A token's color in the page's theme, as a CSS value.
pub fn css(token: &str) -> &'static str {
    ["var(--token-0)", "var(--token-1)", "var(--token-2)", "var(--token-3)", "var(--token-4)"]
        [tint(token)]
}

/// A stretch of text that can be set by itself: a token, or several that share a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub text: String,
    /// None where it is not known which these are.
    pub tokens: Vec<String>,
}

/// Whether a text ends with the first bytes of a character.
fn is_open(text: &str) -> bool {
    let Some(signs::Run::Bytes(bytes)) = signs::runs(text).pop() else { return false };
    let mut rest = bytes.as_slice();
    while let Err(error) = core::str::from_utf8(rest) {
        let Some(broken) = error.error_len() else { return true };
        rest = &rest[error.valid_up_to() + broken..];
    }
    false
}

/// Tokens as text: those that share a character are one stretch.
pub fn runs(tokens: &[String]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut group: Vec<String> = Vec::new();
    let close = |runs: &mut Vec<Run>, group: &mut Vec<String>| {
        let apart = group.concat();
        let text = signs::joined(&apart);
        if text == apart {
            // Bytes that became no character: each token stands for itself.
            let alone = |token: String| Run { text: token.clone(), tokens: vec![token] };
            runs.extend(group.drain(..).map(alone));
        } else {
            runs.push(Run { text, tokens: core::mem::take(group) });
        }
    };
    for token in tokens {
        group.push(token.clone());
        if !is_open(&signs::joined(&group.concat())) {
            close(&mut runs, &mut group);
        }
    }
    close(&mut runs, &mut group);
    runs
}

/// The tokens of a sentence, which may have been edited since they were known: those before and after
/// what was edited stay, and what is new or out of the model's sight has none.
pub fn over(sentence: &str, tokens: &[String], dropped: u32) -> Vec<Run> {
    let known = runs(tokens);
    let now: Vec<char> = sentence.chars().collect();
    let then: Vec<char> = known.iter().flat_map(|run| run.text.chars()).collect();
    let start = (dropped as usize).min(now.len());
    let count =
        |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = count(&mut now[start..].iter().zip(&then));
    let most = (now.len() - start).min(then.len()) - before;
    let after = count(&mut now.iter().rev().zip(then.iter().rev()).take(most));
    // Where the new middle begins, and where it ends.
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let (mut from, mut to) = (start, now.len());
    let mut at = 0;
    for run in known {
        let end = at + run.text.chars().count();
        if end <= before {
            from = start + end;
            head.push(run);
        } else if at >= then.len() - after {
            if tail.is_empty() {
                to = now.len() - (then.len() - at);
            }
            tail.push(run);
        }
        at = end;
    }
    let unknown = |from: usize, to: usize| {
        let text: String = now[from..to].iter().collect();
        (!text.is_empty()).then_some(Run { text, tokens: Vec::new() })
    };
    let all = unknown(0, start).into_iter().chain(head).chain(unknown(from, to)).chain(tail);
    let mut runs: Vec<Run> = Vec::new();
    for run in all {
        let next = run.text.chars().next().unwrap_or(' ');
        match runs.last_mut() {
            Some(last) if last.text.chars().next_back().is_some_and(|c| joins(c, next)) => {
                last.text.push_str(&run.text);
                last.tokens.extend(run.tokens);
            }
            _ => runs.push(run),
        }
    }
    runs
}

/// The ground of a stretch: a stripe for each of its tokens.
fn ground(tokens: &[String]) -> String {
    let [token] = tokens else {
        let share = |at: usize| 100 * at / tokens.len().max(1);
        let stripe = |(at, token): (usize, &String)| {
            let (from, to) = (share(at), share(at + 1));
            let end = if at + 1 == tokens.len() { 0 } else { 1 };
            let color = css(token);
            format!("{color} {from}% calc({to}% - {end}px),transparent 0 {to}%")
        };
        let stripes: Vec<String> = tokens.iter().enumerate().map(stripe).collect();
        return format!("linear-gradient(to right,{})", stripes.join(","));
    };
    css(token).to_owned()
}

/// Text as markup, each token on its ground.
pub fn markup(runs: &[Run], write: impl Fn(&str) -> String) -> String {
    let span = |run: &Run| {
        let text = escape(&write(&run.text));
        if run.tokens.is_empty() {
            return text;
        }
        // Of several lines.
        let class = if text.contains('\n') { "tint tint-lines" } else { "tint" };
        let ground = ground(&run.tokens);
        format!(r#"<span class="{class}" style="background:{ground}">{text}</span>"#)
    };
    runs.iter().map(span).collect()
}

/// What was written, up to a character of which bytes are still to come, unless none will come.
pub fn written(tokens: &[String], done: bool) -> Vec<Run> {
    let mut runs = runs(tokens);
    while !done && runs.last().is_some_and(|run| is_open(&run.text)) {
        runs.pop();
    }
    runs
}

/// Tokens in a line of plain text, where no ground can be: a bar between them.
pub fn barred<'a>(tokens: impl IntoIterator<Item = &'a String>) -> String {
    tokens.into_iter().map(|token| mark(token)).collect::<Vec<_>>().join("|")
}

/// Grounds of tokens in a drawing, gathered so that all of a color are one element.
#[derive(Default)]
pub struct Grounds([String; TINTS]);

impl Grounds {
    /// The ground of a token that has this place to itself: a gap to the next one is left.
    pub fn add(&mut self, token: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let gap = (0.08 * height).max(1.0);
        let (x, width) = (x + gap / 2.0, (width - gap).max(1.0));
        let round = (0.16 * height).min(width / 2.0);
        let (across, down) = (width - 2.0 * round, height - 2.0 * round);
        self.0[tint(token)].push_str(&format!(
            "M{:.1} {y:.1}h{across:.1}q{round:.1} 0 {round:.1} {round:.1}v{down:.1}q0 {round:.1} -{round:.1} {round:.1}h-{across:.1}q-{round:.1} 0 -{round:.1} -{round:.1}v-{down:.1}q0 -{round:.1} {round:.1} -{round:.1}z",
            x + round
        ));
    }

    pub fn draw(self, pen: &mut Pen) {
        for (tint, path) in self.0.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let fill = pen.paint.tint(tint);
            pen.svg.push_str(&format!(r#"<path class="grounds" d="{path}" fill="{fill}"/>"#));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{color::Palette, pen::Paint};

    fn tokens(all: &[&str]) -> Vec<String> {
        all.iter().map(|token| (*token).to_owned()).collect()
    }

    fn texts(runs: &[Run]) -> Vec<(&str, usize)> {
        runs.iter().map(|run| (run.text.as_str(), run.tokens.len())).collect()
    }

    #[test]
    fn a_token_has_one_color_and_all_colors_are_used() {
        assert_eq!(css(" the"), css(" the"));
        let mut seen: Vec<&str> = ('a'..='z').map(|c| css(&c.to_string())).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), TINTS);
        for palette in [Palette::LIGHT, Palette::DARK] {
            assert_eq!(palette.tokens.len(), TINTS);
        }
    }

    #[test]
    fn tokens_that_share_a_character_are_one_stretch() {
        let all = tokens(&["the", " a⟨E4⟩", "⟨B8⟩", "⟨96⟩b", "猫"]);
        assert_eq!(texts(&runs(&all)), [("the", 1), (" a世b", 3), ("猫", 1)]);
        // Bytes that are no character, and a character that was given up.
        let broken = tokens(&["⟨A0⟩", "⟨E4⟩", " x", "⟨F0⟩"]);
        assert_eq!(texts(&runs(&broken)), [("⟨A0⟩", 1), ("⟨E4⟩", 1), (" x", 1), ("⟨F0⟩", 1)]);
        assert_eq!(texts(&written(&broken, false)).len(), 3, "a byte may follow");
        assert_eq!(texts(&written(&broken, true)).len(), 4);
    }

    #[test]
    fn tokens_stay_while_a_sentence_is_edited() {
        let all = tokens(&["the", " cat", " sat"]);
        assert_eq!(texts(&over("the cat sat", &all, 0)), [("the", 1), (" cat", 1), (" sat", 1)]);
        let edited = over("the c sat", &all, 0);
        assert_eq!(texts(&edited), [("the", 1), (" c", 0), (" sat", 1)]);
        assert_eq!(texts(&over("the cat sat!", &all, 0))[3], ("!", 0));
        assert_eq!(texts(&over("", &all, 0)), []);
        assert_eq!(texts(&over("at", &all, 0)), [("at", 0)]);
        assert_eq!(texts(&over("new", &[], 0)), [("new", 0)]);
        // What is out of the model's sight.
        assert_eq!(texts(&over("so the cat sat", &all, 3))[0], ("so ", 0));
        assert_eq!(texts(&over("so the cat sat", &all, 3)).len(), 4);
        // The same letters on both sides are counted once.
        let twice = tokens(&["a", "a"]);
        for sentence in ["a", "aa", "aaa"] {
            let text: String = over(sentence, &twice, 0).into_iter().map(|run| run.text).collect();
            assert_eq!(text, sentence);
        }
    }

    #[test]
    fn what_is_drawn_as_one_sign_is_not_cut() {
        let all = tokens(&["👩", "\u{200d}", "👧", "e", "\u{301}"]);
        assert_eq!(
            texts(&over("👩\u{200d}👧e\u{301}", &all, 0)),
            [("👩\u{200d}👧", 3), ("e\u{301}", 2)]
        );
    }

    #[test]
    fn markup_is_the_text_with_a_stripe_for_each_token() {
        let shown = markup(&runs(&tokens(&["<a", "⟨E4⟩", "⟨B8⟩⟨96⟩"])), str::to_owned);
        assert!(
            shown.starts_with(r#"<span class="tint" style="background:var(--token-"#),
            "{shown}"
        );
        assert!(shown.contains(">&lt;a</span>"), "{shown}");
        assert!(shown.contains("50%") && shown.ends_with(">世</span>"), "{shown}");
        assert_eq!(markup(&over("new", &[], 0), str::to_owned), "new");
        assert_eq!(barred(&tokens(&["the", " cat"])), "the|␣cat");
    }

    #[test]
    fn grounds_leave_a_gap() {
        let mut pen = Pen::new(14.0, Paint::of(&Palette::LIGHT));
        let mut grounds = Grounds::default();
        grounds.add("a", (0.0, 0.0), (20.0, 10.0));
        grounds.add("a", (20.0, 0.0), (20.0, 10.0));
        grounds.draw(&mut pen);
        assert_eq!(pen.svg.matches("<path").count(), 1);
        assert_eq!(pen.svg.matches('M').count(), 2);
        assert!(pen.svg.contains(&Palette::LIGHT.tokens[tint("a")].css()));
        // From half a pixel to half a pixel before the next.
        assert!(pen.svg.contains("M2.1 0.0h15.8"), "{}", pen.svg);
    }
}
