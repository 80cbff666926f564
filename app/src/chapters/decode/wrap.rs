//! Text in lines that end after words.

/// A token's line, the cells before it there and those that it takes.
pub type Stand = (usize, f64, f64);

/// Cells for the sign that a text goes on.
const GOES_ON: f64 = 2.0;

/// Where tokens of such widths stand in lines of `whole` cells. A line ends after a word with the gap behind
/// it, unless the word is longer than a line. The line `last` ends earlier: a sign there says that the text
/// goes on.
pub fn wrapped(tokens: &[(&str, f64)], whole: f64, last: Option<usize>) -> Vec<Stand> {
    let fit = |line: usize| if last == Some(line) { whole - GOES_ON } else { whole };
    let (mut line, mut end) = (0, 0.0);
    let mut stands = Vec::with_capacity(tokens.len());
    while stands.len() < tokens.len() {
        let word = &tokens[stands.len()..word_end(tokens, stands.len())];
        let wide: f64 = word.iter().map(|token| token.1).sum();
        if end > 0.0 && end + wide > fit(line) && wide <= whole {
            (line, end) = (line + 1, 0.0);
        }
        for (_, wide) in word {
            if end + wide > fit(line) {
                (line, end) = (line + 1, 0.0);
            }
            stands.push((line, end, *wide));
            end += wide;
        }
    }
    stands
}

/// Where the word that begins at a token ends, the gap behind it included.
fn word_end(tokens: &[(&str, f64)], from: usize) -> usize {
    let begins = |at: &usize| {
        let (before, this) = (tokens[at - 1].0, tokens[*at].0);
        let gap = this.starts_with(char::is_whitespace) || before.ends_with(char::is_whitespace);
        gap && !this.trim().is_empty()
    };
    (from + 1..tokens.len()).find(begins).unwrap_or(tokens.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens that begin a line.
    fn starts(tokens: &[&str], last: Option<usize>) -> Vec<usize> {
        let tokens: Vec<_> = tokens.iter().map(|token| (*token, token.len() as f64)).collect();
        let stands = wrapped(&tokens, 9.0, last);
        assert_eq!(stands.len(), tokens.len());
        (0..stands.len()).filter(|at| stands[*at].1 == 0.0).collect()
    }

    #[test]
    fn lines_end_after_words() {
        let letters: Vec<String> = "the old fox sat".chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(starts(&letters, None), [0, 8], "before “fox”");
        assert_eq!(starts(&letters, Some(0)), [0, 4, 12], "with room for a sign after “the”");
        assert_eq!(starts(&["the", " ol", "d", " fox", " ", "sat"], None), [0, 3]);
        assert_eq!(starts(&["abcdef", "ghijkl", "mno"], None), [0, 1], "longer than a line");
        assert_eq!(starts(&["a", "\n", "bcdefgh", "i"], None), [0, 2], "a line feed is a gap");
    }
}
