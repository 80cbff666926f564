//! What tells lines apart: a colour that has a meaning in the whole course, and a dash pattern.

use super::color::{Palette, Rgb};

/// A colour by what it stands for, as in `tokens.css`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hue {
    Ink,
    #[default]
    Muted,
    Query,
    Key,
    Value,
    Hidden,
    Cell,
    Gradient,
    Train,
    HeldOut,
}

impl Hue {
    /// The colour in one theme, for canvases and exports.
    pub fn of(self, palette: &Palette) -> Rgb {
        match self {
            Self::Ink => palette.ink,
            Self::Muted => palette.muted,
            Self::Query => palette.query,
            Self::Key => palette.key,
            Self::Value => palette.value,
            Self::Hidden => palette.hidden,
            Self::Cell => palette.cell,
            Self::Gradient => palette.gradient,
            Self::Train => palette.train_curve,
            Self::HeldOut => palette.held_out_curve,
        }
    }

    /// The colour in the page's theme, as a CSS value.
    pub fn css(self) -> &'static str {
        match self {
            Self::Ink => "var(--ink)",
            Self::Muted => "var(--muted)",
            Self::Query => "var(--query)",
            Self::Key => "var(--key)",
            Self::Value => "var(--value)",
            Self::Hidden => "var(--hidden)",
            Self::Cell => "var(--cell)",
            Self::Gradient => "var(--gradient)",
            Self::Train => "var(--train-curve)",
            Self::HeldOut => "var(--held-out-curve)",
        }
    }
}

/// How a line is broken, so that no line is known by its colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dash {
    #[default]
    Solid,
    Dashed,
    Dotted,
    Mixed,
}

impl Dash {
    /// A pattern for the `i`-th line of a plot.
    pub fn nth(i: usize) -> Self {
        [Self::Solid, Self::Dashed, Self::Mixed, Self::Dotted][i % 4]
    }

    /// Drawn and left out in turn, in CSS pixels; empty for a solid line.
    pub fn pattern(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[8.0, 5.0],
            Self::Dotted => &[2.0, 4.0],
            Self::Mixed => &[10.0, 4.0, 2.0, 4.0],
        }
    }

    /// The same for an SVG's `stroke-dasharray`.
    pub fn css(self) -> String {
        let parts: Vec<String> = self.pattern().iter().map(f64::to_string).collect();
        if parts.is_empty() { "none".into() } else { parts.join(" ") }
    }
}
