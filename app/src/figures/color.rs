//! Colors as numbers: what canvases and exported files are drawn with.
//!
//! Pages take the same colors from `assets/styles/tokens.css`; a test below keeps the two alike.

/// An sRGB color, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// From `0xrrggbb`.
    pub(super) const fn hex(code: u32) -> Self {
        Self((code >> 16) as u8, (code >> 8) as u8, code as u8)
    }

    /// As `#rrggbb`, for CSS and SVG.
    pub fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// As one pixel of an image, RGBA.
    pub fn pixel(self, opacity: u8) -> [u8; 4] {
        [self.0, self.1, self.2, opacity]
    }

    /// `share` of this color painted over `ground`.
    pub fn over(self, ground: Self, share: f64) -> Self {
        let mix =
            |a: u8, b: u8| (f64::from(a) * share + f64::from(b) * (1.0 - share)).round() as u8;
        Self(mix(self.0, ground.0), mix(self.1, ground.1), mix(self.2, ground.2))
    }

    fn to_linear(self) -> [f32; 3] {
        [self.0, self.1, self.2].map(|c| {
            let c = f32::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn to_oklab(self) -> [f32; 3] {
        oklab(self.to_linear())
    }

    /// In OKLab, as an eye sees it that `matrix` stands for.
    #[cfg(test)]
    pub(super) fn seen_by(self, matrix: &[[f32; 3]; 3]) -> [f32; 3] {
        let linear = self.to_linear();
        oklab(matrix.map(|row| (0..3).map(|c| row[c] * linear[c]).sum::<f32>().max(0.0)))
    }

    fn from_oklab([lightness, a, b]: [f32; 3]) -> Self {
        let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
        let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
        let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
        let [r, g, b] = [
            4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
            -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
            -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
        ]
        .map(|c| {
            let c = if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
            (c.clamp(0.0, 1.0) * 255.0).round() as u8
        });
        Self(r, g, b)
    }
}

/// Linear RGB in OKLab.
fn oklab([r, g, b]: [f32; 3]) -> [f32; 3] {
    let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
    let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

/// Eyes as they are, and under protanopia, deuteranopia and tritanopia: Machado, Oliveira and
/// Fernandes 2009, severity 1, on linear RGB.
#[cfg(test)]
pub(super) const EYES: [[[f32; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
];

/// The colors of one theme that canvases and exports need, named by role as in `tokens.css`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub paper: Rgb,
    pub ink: Rgb,
    pub muted: Rgb,
    pub line: Rgb,
    /// What the page itself points with.
    pub accent: Rgb,
    pub query: Rgb,
    pub key: Rgb,
    pub value: Rgb,
    pub hidden: Rgb,
    pub cell: Rgb,
    pub gradient: Rgb,
    pub input: Rgb,
    pub output: Rgb,
    pub weight: Rgb,
    pub second_curve: Rgb,
    pub third_curve: Rgb,
    pub blocked: Rgb,
    pub blocked_line: Rgb,
    /// Behind tokens: see [`super::tint`].
    pub tokens: [Rgb; super::tint::TINTS],
    /// The probability map at 0, a half and 1.
    pub probability: [Rgb; 3],
    /// The signed map at minus the limit, 0 and the limit.
    pub signed: [Rgb; 3],
}

impl Palette {
    pub const LIGHT: Self = Self {
        paper: Rgb::hex(0xffffff),
        ink: Rgb::hex(0x16181d),
        muted: Rgb::hex(0x565c68),
        line: Rgb::hex(0xdbdad5),
        accent: Rgb::hex(0x4338a8),
        query: Rgb::hex(0x0259d1),
        key: Rgb::hex(0xc93400),
        value: Rgb::hex(0x00767d),
        hidden: Rgb::hex(0x8a108f),
        cell: Rgb::hex(0x497008),
        gradient: Rgb::hex(0xd10171),
        input: Rgb::hex(0x5c3a00),
        output: Rgb::hex(0x0a0a70),
        weight: Rgb::hex(0x1c4a3c),
        second_curve: Rgb::hex(0x0b7285),
        third_curve: Rgb::hex(0xa05a00),
        blocked: Rgb::hex(0xf1f0ec),
        blocked_line: Rgb::hex(0xd2d0c9),
        tokens: [
            Rgb::hex(0xd9e8fc),
            Rgb::hex(0xd6eee0),
            Rgb::hex(0xefe6d0),
            Rgb::hex(0xfbdfdd),
            Rgb::hex(0xefe1f6),
        ],
        probability: [Rgb::hex(0xfbfcff), Rgb::hex(0x5981e7), Rgb::hex(0x1d1147)],
        signed: [Rgb::hex(0x1462c6), Rgb::hex(0xf6f5f3), Rgb::hex(0xba380a)],
    };
    pub const DARK: Self = Self {
        paper: Rgb::hex(0x121419),
        ink: Rgb::hex(0xe9ebf0),
        muted: Rgb::hex(0xa3aab8),
        line: Rgb::hex(0x363b46),
        accent: Rgb::hex(0xaaa6ff),
        query: Rgb::hex(0x89d0ff),
        key: Rgb::hex(0xff9c40),
        value: Rgb::hex(0x5dbaba),
        hidden: Rgb::hex(0xba8eff),
        cell: Rgb::hex(0xedd486),
        gradient: Rgb::hex(0xfe6b70),
        input: Rgb::hex(0xb88800),
        output: Rgb::hex(0x9cb0e8),
        weight: Rgb::hex(0xa8d0b8),
        second_curve: Rgb::hex(0x4ecadb),
        third_curve: Rgb::hex(0xe3b341),
        blocked: Rgb::hex(0x0e1014),
        blocked_line: Rgb::hex(0x3a414e),
        tokens: [
            Rgb::hex(0x27364a),
            Rgb::hex(0x223c2e),
            Rgb::hex(0x3d351d),
            Rgb::hex(0x482d2b),
            Rgb::hex(0x3d2f44),
        ],
        probability: [Rgb::hex(0x1b2130), Rgb::hex(0x4d83e8), Rgb::hex(0xf7fcff)],
        signed: [Rgb::hex(0x58a4ff), Rgb::hex(0x1c1e24), Rgb::hex(0xff7d3c)],
    };

    pub fn of(dark: bool) -> &'static Self {
        if dark { &Self::DARK } else { &Self::LIGHT }
    }
}

/// The probability map: 0 to 1 along two straight lines of one length in OKLab, so that equal
/// differences in probability look equally large wherever they are. The bend through blue makes the
/// way longer, and so small differences plainer. It is never rescaled to the data.
#[derive(Clone)]
pub struct Ramp {
    colors: [Rgb; Self::STEPS],
}

impl Ramp {
    /// More than the 8-bit colors along the line, so that looking up loses nothing.
    const STEPS: usize = 1024;

    pub fn new(palette: &Palette) -> Self {
        let [zero, half, one] = palette.probability.map(Rgb::to_oklab);
        let colors = core::array::from_fn(|i| {
            let t = 2.0 * i as f32 / (Self::STEPS - 1) as f32;
            let (from, to, t) = if t < 1.0 { (zero, half, t) } else { (half, one, t - 1.0) };
            Rgb::from_oklab(core::array::from_fn(|c| from[c] + t * (to[c] - from[c])))
        });
        Self { colors }
    }

    /// The color of `probability`; NaN and what lies outside 0..1 go to the nearer end.
    #[inline]
    pub fn at(&self, probability: f32) -> Rgb {
        let index = (probability * (Self::STEPS - 1) as f32 + 0.5) as usize;
        self.colors[index.min(Self::STEPS - 1)]
    }
}

/// The map of signed values: -1 to 1 (the value over a stated limit) along two straight lines in
/// OKLab that meet in a grey at 0. Blue against orange-red, which color-blind people tell apart
/// too; both ends are as light as each other, so that how far from 0 a value is also shows in
/// lightness alone. Like [`Ramp`] it is never rescaled.
#[derive(Clone)]
pub struct SignedRamp {
    colors: [Rgb; Self::STEPS],
}

impl SignedRamp {
    /// Odd, so that 0 has a color of its own.
    const STEPS: usize = 1023;

    pub fn new(palette: &Palette) -> Self {
        let [low, zero, high] = palette.signed.map(Rgb::to_oklab);
        let middle = (Self::STEPS / 2) as f32;
        let colors = core::array::from_fn(|i| {
            let t = (i as f32 - middle) / middle;
            let to = if t < 0.0 { low } else { high };
            Rgb::from_oklab(core::array::from_fn(|c| zero[c] + t.abs() * (to[c] - zero[c])))
        });
        Self { colors }
    }

    /// The color of `share`, the value over its limit; what lies outside -1..1 goes to the nearer
    /// end, NaN to the lower.
    #[inline]
    pub fn at(&self, share: f32) -> Rgb {
        let index = ((share + 1.0) * (Self::STEPS / 2) as f32 + 0.5) as usize;
        self.colors[index.min(Self::STEPS - 1)]
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;

    const TOKENS: &str = include_str!("../../../assets/styles/tokens.css");

    fn custom_property(theme: &str, name: &str) -> String {
        let (light, dark) = TOKENS.split_once("[data-theme=\"dark\"]").unwrap();
        let block = if theme == "dark" { dark } else { light };
        let start = block.find(&format!("--{name}: ")).unwrap_or_else(|| panic!("--{name}"));
        block[start + name.len() + 4..].split(';').next().unwrap().to_string()
    }

    #[test]
    fn agrees_with_the_style_sheet() {
        for (theme, p) in [("light", Palette::LIGHT), ("dark", Palette::DARK)] {
            for (name, color) in [
                ("paper", p.paper),
                ("ink", p.ink),
                ("muted", p.muted),
                ("line", p.line),
                ("accent", p.accent),
                ("query", p.query),
                ("key", p.key),
                ("value", p.value),
                ("hidden", p.hidden),
                ("cell", p.cell),
                ("gradient", p.gradient),
                ("input", p.input),
                ("output", p.output),
                ("weight", p.weight),
                ("second-curve", p.second_curve),
                ("third-curve", p.third_curve),
                ("blocked", p.blocked),
                ("blocked-line", p.blocked_line),
                ("token-0", p.tokens[0]),
                ("token-1", p.tokens[1]),
                ("token-2", p.tokens[2]),
                ("token-3", p.tokens[3]),
                ("token-4", p.tokens[4]),
                ("probability-0", p.probability[0]),
                ("probability-half", p.probability[1]),
                ("probability-1", p.probability[2]),
                ("signed-low", p.signed[0]),
                ("signed-zero", p.signed[1]),
                ("signed-high", p.signed[2]),
            ] {
                assert_eq!(custom_property(theme, name), color.css(), "--{name}, {theme}");
            }
        }
    }

    /// All sources of the page below a folder.
    fn sources(folder: &Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, all);
            } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "css") {
                all.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// A color that is defined nowhere leaves what it colors invisible, without a word.
    #[test]
    fn every_custom_property_that_is_used_is_defined() {
        let mut all = String::new();
        for folder in ["src", "../assets/styles"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
        }
        let length = |text: &str| {
            let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            text.find(|c| !is_named(c)).unwrap_or(text.len())
        };
        // In a style sheet or an inline style, as an attribute, or by its name in quotes.
        let defined: BTreeSet<&str> = all
            .match_indices("--")
            .filter_map(|(at, _)| {
                let (name, after) = all[at..].split_at(length(&all[at..]));
                let is_quoted = all[..at].ends_with('"') && after.starts_with('"');
                (is_quoted || after.starts_with([':', '='])).then_some(name)
            })
            .collect();
        for used in all.split("var(").skip(1).filter(|used| used.starts_with("--")) {
            let (name, after) = used.split_at(length(used));
            // Of a name that is put together its beginning is known.
            let is_part = after.starts_with(['{', '"']);
            let is_defined = match is_part {
                true => defined.iter().any(|known| known.starts_with(name)),
                false => defined.contains(name),
            };
            assert!(is_defined, "{name} is used, and defined nowhere");
        }
        assert!(defined.len() > 50, "{defined:?}");
    }

    #[test]
    fn the_map_is_even_and_goes_one_way() {
        for palette in [Palette::LIGHT, Palette::DARK] {
            let ramp = Ramp::new(&palette);
            assert_eq!(ramp.at(0.0), palette.probability[0]);
            assert_eq!(ramp.at(1.0), palette.probability[2]);
            assert_eq!(ramp.at(-1.0), ramp.at(0.0));
            assert_eq!(ramp.at(2.0), ramp.at(1.0));
            let points: Vec<[f32; 3]> =
                (0..=20).map(|i| ramp.at(i as f32 / 20.0).to_oklab()).collect();
            let direction = (points[20][0] - points[0][0]).signum();
            let steps = points.windows(2).map(|pair| {
                assert!((pair[1][0] - pair[0][0]) * direction > 0.0, "lightness turns: {pair:?}");
                (0..3).map(|c| (pair[1][c] - pair[0][c]).powi(2)).sum::<f32>().sqrt()
            });
            let steps: Vec<f32> = steps.collect();
            let mean = steps.iter().sum::<f32>() / 20.0;
            // 8 bits a channel leave a little unevenness.
            assert!(steps.iter().all(|s| (s - mean).abs() < 0.006), "{steps:?}");
        }
    }

    /// CIE L*.
    fn lightness(color: Rgb) -> f32 {
        let [r, g, b] = color.to_linear();
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    #[test]
    fn the_signed_map_is_even_and_safe_for_the_color_blind() {
        let distance =
            |a: [f32; 3], b: [f32; 3]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
        for palette in [Palette::LIGHT, Palette::DARK] {
            let ramp = SignedRamp::new(&palette);
            assert_eq!([-1.0, 0.0, 1.0].map(|v| ramp.at(v)), palette.signed);
            assert_eq!((ramp.at(-7.0), ramp.at(7.0)), (ramp.at(-1.0), ramp.at(1.0)));
            let [low, zero, high] = palette.signed.map(Rgb::to_oklab);
            let (down, up) = (distance(low, zero), distance(high, zero));
            assert!((down / up - 1.0).abs() < 0.15, "one side is plainer: {down} against {up}");
            assert!((low[0] - high[0]).abs() < 0.06, "lightness says how far from 0");
            let [below, above] = [palette.signed[0], palette.signed[2]].map(lightness);
            assert!((below - above).abs() < 1.5, "L* {below} and {above}");
            let far = (lightness(palette.signed[1]) - below).abs();
            assert!(far > 45.0, "the ends stand out from 0 by L* {far}");
            for share in [0.25, 0.5, 1.0] {
                for eye in &EYES {
                    let [a, b] = [-share, share].map(|v| ramp.at(v).seen_by(eye));
                    assert!(distance(a, b) > 0.2 * share, "{share}: {}", distance(a, b));
                }
            }
        }
    }

    #[test]
    fn text_is_readable() {
        let luminance = |c: Rgb| {
            let [r, g, b] = [c.0, c.1, c.2].map(|c| {
                let c = f32::from(c) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        for theme in ["light", "dark"] {
            let color = |name: &str| {
                let hex = custom_property(theme, name);
                luminance(Rgb::hex(u32::from_str_radix(&hex[1..], 16).unwrap()))
            };
            let contrast = |a: f32, b: f32| (a.max(b) + 0.05) / (a.min(b) + 0.05);
            for back in ["paper", "surface", "raised"] {
                for name in [
                    "ink",
                    "muted",
                    "accent",
                    "danger",
                    "query",
                    "key",
                    "value",
                    "hidden",
                    "cell",
                    "gradient",
                    "input",
                    "output",
                    "weight",
                    "second-curve",
                    "third-curve",
                ] {
                    let c = contrast(color(name), color(back));
                    assert!(c >= 4.5, "--{name} on --{back}, {theme}: {c}");
                }
                let c = contrast(color("control-line"), color(back));
                assert!(c >= 3.0, "--control-line on --{back}, {theme}: {c}");
            }
            assert!(contrast(color("accent"), color("on-accent")) >= 4.5);
            for tint in 0..5 {
                for name in ["ink", "muted"] {
                    let c = contrast(color(name), color(&format!("token-{tint}")));
                    assert!(c >= 4.5, "--{name} on --token-{tint}, {theme}: {c}");
                }
            }
        }
    }
}
