//! The maps from numbers to colors, and the bar that explains one beside a figure.

use crate::reactive::memo;
use leptos::prelude::*;

use super::{color::Rgb, numbers::short, theme::Colors};

/// Which colors stand for which values. None is ever rescaled to the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ValueMap {
    /// 0 to 1.
    #[default]
    Probability,
    /// `-limit` to `limit`, 0 in the middle; what lies beyond has the color of its end.
    Signed { limit: f32 },
    /// 0 to `limit`, for what is never negative; what lies beyond has the color of its end.
    Size { limit: f32 },
    /// `least` to `most` by equal factors, for what is never negative and spans several powers of ten.
    Factors { least: f32, most: f32 },
    /// As far from 0 as the largest value of each row of a matrix, which says how far that is. Alone it maps
    /// shares of a row's largest.
    EachRow,
}

impl ValueMap {
    /// For signed values: as far as the largest, rounded up to two digits, which is as much as a scale
    /// has room for.
    pub fn around(values: &[f32]) -> Self {
        let most = values.iter().fold(0f32, |most, value| most.max(value.abs()));
        if most == 0.0 || !most.is_finite() {
            return Self::Signed { limit: 1.0 };
        }
        let unit = 10f64.powf(f64::from(most).log10().floor() - 1.0);
        Self::Signed { limit: ((f64::from(most) / unit - 1e-5).ceil() * unit) as f32 }
    }

    /// For signed values of which most lie close to 0: as far as a round number that holds nearly all.
    /// The few beyond have the color of its end.
    pub fn around_most(values: &[f32]) -> Self {
        let squares: f64 = values.iter().map(|&value| f64::from(value).powi(2)).sum();
        let spread = (squares / values.len().max(1) as f64).sqrt();
        Self::Signed { limit: limit(core::iter::once(2.0 * spread)) as f32 }
    }

    /// For values that are never negative: as far as a round number that holds nine of ten. The few
    /// beyond, however large, don't take the others' colors.
    pub fn size_of_most(values: &[f32]) -> Self {
        let mut sorted: Vec<f32> =
            values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f32::total_cmp);
        let nine_of_ten = &sorted[..(sorted.len() * 9).div_ceil(10)];
        Self::Size { limit: limit(nine_of_ten.last().map(|&most| most.into()).into_iter()) as f32 }
    }

    /// For lengths and the like: by equal factors, between round numbers that hold all but zeros.
    pub fn factors_of(values: &[f32]) -> Self {
        let some = || values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
        let (least, most) = (some().fold(f32::INFINITY, f32::min), some().fold(0.0, f32::max));
        if most == 0.0 {
            return Self::Size { limit: 1.0 };
        }
        // The largest round number below it is the smallest above its inverse, turned over.
        let least = 1.0 / limit(core::iter::once(1.0 / f64::from(least)));
        Self::Factors { least: least as f32, most: limit(core::iter::once(most.into())) as f32 }
    }

    pub fn color(self, value: f32, colors: &Colors) -> Rgb {
        match self {
            Self::Probability => colors.ramp.at(value),
            Self::Signed { limit } => colors.signed.at(value / limit),
            Self::Size { limit } => colors.ramp.at(value / limit),
            Self::Factors { .. } => colors.ramp.at(self.share(value)),
            Self::EachRow => colors.signed.at(value),
        }
    }

    /// Where `value` is on the scale, 0 to 1.
    pub fn share(self, value: f32) -> f32 {
        let share = match self {
            Self::Probability => value,
            Self::Signed { limit } => (value / limit + 1.0) / 2.0,
            Self::Size { limit } => value / limit,
            Self::Factors { least, most } => (value / least).ln() / (most / least).ln(),
            Self::EachRow => (value + 1.0) / 2.0,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// How deep the color of `value` is, 0 to 1.
    pub fn depth(self, value: f32) -> f32 {
        match self {
            Self::Signed { .. } | Self::EachRow => (2.0 * self.share(value) - 1.0).abs(),
            Self::Probability | Self::Size { .. } | Self::Factors { .. } => self.share(value),
        }
    }

    /// The value at `share` of the scale.
    pub fn value(self, share: f32) -> f32 {
        match self {
            Self::Probability => share,
            Self::Signed { limit } => (2.0 * share - 1.0) * limit,
            Self::Size { limit } => share * limit,
            Self::Factors { least, most } => least * (most / least).powf(share),
            Self::EachRow => 2.0 * share - 1.0,
        }
    }

    /// Whether the scale holds `value`.
    pub fn holds(self, value: f32) -> bool {
        match self {
            Self::Probability => (0.0..=1.0).contains(&value),
            Self::Signed { limit } => value.abs() <= limit,
            Self::Size { limit } | Self::Factors { most: limit, .. } => {
                (0.0..=limit).contains(&value)
            }
            Self::EachRow => true,
        }
    }

    /// The numbers at the quarters of the scale.
    pub fn ticks(self) -> [String; 5] {
        if self == Self::EachRow {
            return ["−largest", "", "0", "", "largest"].map(str::to_owned);
        }
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
            let value = f64::from(self.value(share));
            match self {
                // Between its ends it has no round numbers: two digits are as much as there is room for.
                Self::Factors { .. } => {
                    let unit = 10f64.powf(value.log10().floor() - 1.0);
                    short((value / unit).round() * unit)
                }
                _ => short(value),
            }
        })
    }
}

/// The smallest of 1, 2, 5, 10, ... that holds every value: where colors end.
pub fn limit(values: impl Iterator<Item = f64>) -> f64 {
    let most = values.fold(0.0, |most: f64, value| most.max(value.abs()));
    let unit = 10f64.powf(most.max(1e-6).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|times| times * unit).into_iter().find(|l| *l >= most).unwrap_or(1.0)
}

/// Where a number has more characters than this, there is room for three of the five.
const MOST_WIDE: usize = 5;

/// A bar of a map's colors with numbers under it and `value` marked on it. `absent` is what
/// hatched cells are called, `beyond` says what the scale does not hold. `short` is all on one line, with
/// the numbers at the ends alone.
#[component]
pub fn ScaleBar(
    #[prop(into)] label: Signal<String>,
    map: Signal<ValueMap>,
    colors: Memo<Colors>,
    value: Signal<Option<f32>>,
    #[prop(into, optional)] absent: Signal<String>,
    #[prop(into, optional)] beyond: Signal<String>,
    #[prop(optional)] short: bool,
) -> impl IntoView {
    let map = memo(move || map.get());
    let ticks = memo(move || map.get().ticks());
    let wide =
        move || ticks.with(|ticks| ticks.iter().any(|tick| tick.chars().count() > MOST_WIDE));
    let gradient = move || {
        let map = map.get();
        let stop = |c: &Colors, i: i32| map.color(map.value(i as f32 / 20.0), c).css();
        let stops: Vec<String> = colors.with(|c| (0..=20).map(|i| stop(c, i)).collect());
        format!("background:linear-gradient(to right,{})", stops.join(","))
    };
    view! {
        <div class="scale" class:scale-short=short aria-hidden="true">
            <span>{label}</span>
            <div class="scale-map">
                <div class="scale-bar" style=gradient>
                    <div
                        class="scale-mark"
                        style=move || match value.get() {
                            Some(v) => format!("left:{}%", map.get().share(v) * 100.0),
                            None => "display:none".into(),
                        }
                    ></div>
                </div>
                <div class="scale-ticks" class:scale-wide=wide>
                    {move || ticks.get().map(|tick| view! { <span>{tick}</span> }).collect_view()}
                </div>
            </div>
            <Show when=move || absent.with(|a| !a.is_empty())>
                <span class="scale-blocked">{absent}</span>
            </Show>
            <Show when=move || beyond.with(|b| !b.is_empty())>
                <span class="scale-beyond">{beyond}</span>
            </Show>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_say_their_limits() {
        let signed = ValueMap::Signed { limit: 2.5 };
        assert_eq!(signed.ticks(), ["−2.5", "−1.25", "0", "1.25", "2.5"]);
        assert_eq!([-2.5, 0.0, 2.5, 9.0].map(|v| signed.share(v)), [0.0, 0.5, 1.0, 1.0]);
        assert!(!signed.holds(-2.6) && signed.holds(2.5));
        assert_eq!(ValueMap::around(&[0.0312, -0.0823]).ticks()[4], "0.083");
        assert_eq!(ValueMap::around(&[0.3]), ValueMap::Signed { limit: 0.3 });
        let one = ValueMap::Signed { limit: 1.0 };
        assert_eq!([0.0, f32::INFINITY].map(|most| ValueMap::around(&[most])), [one; 2]);
        assert_eq!([-1.0, 0.0, 1.0].map(|v| ValueMap::EachRow.share(v)), [0.0, 0.5, 1.0]);
        assert_eq!(ValueMap::Probability.ticks(), ["0", "0.25", "0.5", "0.75", "1"]);
        assert!(ValueMap::Probability.share(f32::NAN) == 0.0);
        assert_eq!([-2.5, 0.0, 1.25].map(|v| signed.depth(v)), [1.0, 0.0, 0.5]);
        let size = ValueMap::Size { limit: 2.0 };
        assert_eq!(size.depth(0.5), 0.25);
        assert_eq!(size.ticks(), ["0", "0.5", "1", "1.5", "2"]);
        assert_eq!([0.0, 0.5, 2.0, 9.0].map(|v| size.share(v)), [0.0, 0.25, 1.0, 1.0]);
        assert!(size.holds(2.0) && !size.holds(2.1) && !size.holds(-0.1));
    }

    #[test]
    fn sizes_have_the_colors_of_shares() {
        let colors = Colors::new(&super::super::color::Palette::DARK);
        let size = ValueMap::Size { limit: 4.0 };
        for share in [0.0, 0.25, 0.5, 1.0] {
            assert_eq!(
                size.color(4.0 * share, &colors),
                ValueMap::Probability.color(share, &colors)
            );
        }
        assert_eq!(size.color(9.0, &colors), size.color(4.0, &colors));
    }

    #[test]
    fn one_large_row_does_not_hide_the_small_ones() {
        let small = [0.15; 13];
        let values = [&small[..], &[1.8]].concat();
        assert_eq!(ValueMap::size_of_most(&values), ValueMap::Size { limit: 0.2 });
        assert_eq!(ValueMap::size_of_most(&[1.4, 1.8]), ValueMap::Size { limit: 2.0 });
        assert_eq!(ValueMap::size_of_most(&[3.0]), ValueMap::Size { limit: 5.0 });
        let ValueMap::Size { limit } = ValueMap::size_of_most(&[]) else { panic!("not of a size") };
        assert!(limit > 0.0);
    }

    #[test]
    fn lengths_of_several_powers_of_ten_are_told_apart() {
        let map = ValueMap::factors_of(&[0.018, 0.0, 1.57]);
        assert_eq!(map.ticks(), ["0.01", "0.038", "0.14", "0.53", "2"]);
        assert!([0.0, 0.01, 0.018, 1.57].into_iter().all(|value| map.holds(value)));
        assert_eq!([0.0, 0.005, 2.0, 9.0].map(|value| map.share(value)), [0.0, 0.0, 1.0, 1.0]);
        assert!((map.share(map.value(0.3)) - 0.3).abs() < 1e-5);
        assert_eq!(ValueMap::factors_of(&[0.0]), ValueMap::Size { limit: 1.0 });
    }

    #[test]
    fn limits_are_round() {
        assert_eq!(limit([0.3, -1.7].into_iter()), 2.0);
        assert_eq!(limit([0.04].into_iter()), 0.05);
        assert!(limit(core::iter::empty()) > 0.0);
    }
}
