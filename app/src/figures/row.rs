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
            let characters = token::mark(token).chars().count().max(1);
            let last = edges[edges.len() - 1];
            edges.push(last + CHARACTER * characters as f64 + ROOM + GAP);
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
}
