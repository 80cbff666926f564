//! What tells lines apart: a color that has a meaning in the whole course, and a dash pattern.

use super::color::{Palette, Rgb};

/// A color by what it stands for, as in `tokens.css`.
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
    Input,
    /// What a model puts out: logits and probabilities.
    Output,
    /// What training changes.
    Weight,
    /// A curve of the time bar, in its order there: the loss of what trains, or of the first of the models that
    /// train side by side, then the held-out loss, or the second model. The same in every figure.
    First,
    Second,
    Third,
}

impl Hue {
    /// The color in one theme, for canvases and exports.
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
            Self::Input => palette.input,
            Self::Output => palette.output,
            Self::Weight => palette.weight,
            Self::First => palette.accent,
            Self::Second => palette.second_curve,
            Self::Third => palette.third_curve,
        }
    }

    /// The color in the page's theme, as a CSS value.
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
            Self::Input => "var(--input)",
            Self::Output => "var(--output)",
            Self::Weight => "var(--weight)",
            Self::First => "var(--accent)",
            Self::Second => "var(--second-curve)",
            Self::Third => "var(--third-curve)",
        }
    }
}

impl Hue {
    /// The role with this name: "query" for [`Hue::Query`].
    #[cfg(test)]
    pub fn named(name: &str) -> Option<Self> {
        let roles = [
            Self::Query,
            Self::Key,
            Self::Value,
            Self::Hidden,
            Self::Cell,
            Self::Gradient,
            Self::Input,
            Self::Output,
            Self::Weight,
        ];
        roles.into_iter().find(|role| role.class().strip_prefix("role-") == Some(name))
    }

    /// The class that sets `color`; none for what is not a role.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Query => "role-query",
            Self::Key => "role-key",
            Self::Value => "role-value",
            Self::Hidden => "role-hidden",
            Self::Cell => "role-cell",
            Self::Gradient => "role-gradient",
            Self::Input => "role-input",
            Self::Output => "role-output",
            Self::Weight => "role-weight",
            Self::Ink | Self::Muted | Self::First | Self::Second | Self::Third => "",
        }
    }
}

/// How a line is broken, so that no line is known by its color alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dash {
    #[default]
    Solid,
    Dashed,
    Dotted,
    Mixed,
}

impl Dash {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::color::EYES;

    const ROLES: [Hue; 9] = [
        Hue::Query,
        Hue::Key,
        Hue::Value,
        Hue::Hidden,
        Hue::Cell,
        Hue::Gradient,
        Hue::Input,
        Hue::Output,
        Hue::Weight,
    ];

    #[test]
    fn roles_stay_apart_for_color_blind_eyes() {
        for palette in [Palette::LIGHT, Palette::DARK] {
            for (i, a) in ROLES.iter().enumerate() {
                for b in &ROLES[i + 1..] {
                    for eye in &EYES[..3] {
                        let [a, b] = [a, b].map(|role| role.of(&palette).seen_by(eye));
                        let apart = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
                        assert!(apart > 0.059, "{a:?} {b:?}: {apart}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_role_has_one_name_in_classes_and_colors() {
        for role in ROLES {
            let name = role.class().strip_prefix("role-").unwrap();
            assert_eq!(role.css(), format!("var(--{name})"));
        }
    }
}
