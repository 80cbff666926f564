//! Where the tokens of a sentence stand when they are set in a row.

use super::token;

/// Where each token stands, in em from the left of the row. Known without measuring, since the
/// tokens are set in a monospaced font.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Left edge of each token, and one more: the right end of the last.
    edges: Vec<f64>,
}

/// Between two tokens, in em; of a character, and around those of a token.
const GAP: f64 = 0.1;
const CHARACTER: f64 = 0.62;
const ROOM: f64 = 0.44;

impl Row {
    /// The places of these tokens, as [`token::mark`] writes them.
    pub fn new(tokens: &[String]) -> Self {
        let mut edges = vec![0.0];
        for token in tokens {
            let last = edges[edges.len() - 1];
            edges.push(last + CHARACTER * token::columns(&token::mark(token)) + ROOM + GAP);
        }
        Self { edges }
    }

    /// Left edge of the token at `position`.
    pub fn left(&self, position: usize) -> f64 {
        self.edges.get(position).copied().unwrap_or(0.0)
    }

    /// Width of the token at `position`.
    pub fn width_of(&self, position: usize) -> f64 {
        self.left(position + 1) - self.left(position) - GAP
    }

    /// From one token to the next where each is one character.
    pub fn pitch(&self) -> f64 {
        CHARACTER + ROOM + GAP
    }

    /// Where an arc of the token at `position` stands.
    pub fn middle(&self, position: usize) -> f64 {
        self.left(position) + self.width_of(position) / 2.0
    }

    /// Where a caret stands that has so many characters of the sentence before it; `starts` says how
    /// many begin before each token, and in all.
    pub fn caret(&self, starts: &[u32], before: u32) -> f64 {
        let Some(at) = starts.iter().rposition(|start| *start <= before) else { return 0.0 };
        let gap = if at > 0 { GAP / 2.0 } else { 0.0 };
        match starts.get(at + 1) {
            // Within a token, or at its beginning.
            Some(end) if starts[at] < before => {
                let share = f64::from(before - starts[at]) / f64::from(end - starts[at]);
                self.left(at) + share * self.width_of(at)
            }
            _ => self.left(at) - gap,
        }
    }

    /// Of the whole row, in em.
    pub fn width(&self) -> f64 {
        self.edges.last().copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_stand_side_by_side() {
        let row = Row::new(&["a".into(), "the ".into(), "\u{fffd}".into()]);
        assert!((row.middle(0) - 0.53).abs() < 1e-9);
        assert!(row.middle(1) - row.width_of(1) / 2.0 > row.middle(0) + row.width_of(0) / 2.0);
        assert!(row.width() > row.middle(2));
        assert_eq!(Row::new(&[]).width(), 0.0);
    }

    #[test]
    fn a_caret_stands_between_tokens_or_within_one() {
        // The last two share one character.
        let row = Row::new(&["the".into(), "世".into(), "⟨E4⟩".into(), "⟨B8⟩⟨96⟩".into()]);
        let starts = [2, 5, 6, 7, 7];
        let at = |before| row.caret(&starts, before);
        assert_eq!((at(0), at(2)), (0.0, 0.0));
        assert!((at(3) - row.width_of(0) / 3.0).abs() < 1e-9);
        assert!((at(5) - (row.left(1) - GAP / 2.0)).abs() < 1e-9);
        assert!((at(6) - (row.left(2) - GAP / 2.0)).abs() < 1e-9);
        assert!((at(7) - (row.width() - GAP / 2.0)).abs() < 1e-9 && at(99) == at(7));
    }
}
