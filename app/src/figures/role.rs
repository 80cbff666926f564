//! What a colour stands for, the same in the whole course.

use super::color::Rgb;

/// What a symbol, a word or a part of a figure is. Every role has one hue, named as in `tokens.css`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
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
}

struct Row {
    class: &'static str,
    css: &'static str,
    light: Rgb,
    dark: Rgb,
}

impl Role {
    #[cfg(test)]
    const ALL: [Self; 9] = [
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

    const fn row(self) -> Row {
        macro_rules! row {
            ($name:literal, $light:literal, $dark:literal) => {
                Row {
                    class: concat!("role-", $name),
                    css: concat!("var(--", $name, ")"),
                    light: Rgb::hex($light),
                    dark: Rgb::hex($dark),
                }
            };
        }
        match self {
            Self::Query => row!("query", 0x0259d1, 0x89d0ff),
            Self::Key => row!("key", 0xc93400, 0xff9c40),
            Self::Value => row!("value", 0x00767d, 0x5dbaba),
            Self::Hidden => row!("hidden", 0x8a108f, 0xba8eff),
            Self::Cell => row!("cell", 0x497008, 0xedd486),
            Self::Gradient => row!("gradient", 0xd10171, 0xfe6b70),
            Self::Input => row!("input", 0x5c3a00, 0xb88800),
            Self::Output => row!("output", 0x0a0a70, 0x7890c0),
            Self::Weight => row!("weight", 0x1c4a3c, 0xa8d0b8),
        }
    }

    /// The class that sets `color`.
    pub const fn class(self) -> &'static str {
        self.row().class
    }

    /// The colour as CSS, for SVG on the page.
    pub const fn css(self) -> &'static str {
        self.row().css
    }

    /// The colour as numbers, for canvases and exports.
    pub const fn color(self, dark: bool) -> Rgb {
        let row = self.row();
        if dark { row.dark } else { row.light }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: &str = include_str!("../../../assets/styles/tokens.css");

    #[test]
    fn agrees_with_the_style_sheet() {
        let (light, dark) = TOKENS.split_once("[data-theme=\"dark\"]").unwrap();
        for role in Role::ALL {
            let name = role.class().strip_prefix("role-").unwrap();
            assert_eq!(role.css(), format!("var(--{name})"));
            for (sheet, is_dark) in [(light, false), (dark, true)] {
                let line = format!("--{name}: {};", role.color(is_dark).css());
                assert!(sheet.contains(&line), "{line} dark: {is_dark}");
            }
        }
    }

    /// Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
    const SEEN: [[[f32; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    ];

    #[test]
    fn roles_stay_apart_for_colour_blind_eyes() {
        for dark in [false, true] {
            for (i, a) in Role::ALL.iter().enumerate() {
                for b in &Role::ALL[i + 1..] {
                    for eye in &SEEN {
                        let [a, b] = [a, b].map(|role| role.color(dark).seen_by(eye));
                        let apart = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
                        assert!(apart > 0.059, "{a:?} {b:?} dark: {dark}: {apart}");
                    }
                }
            }
        }
    }
}
