//! The figures of words about layers and their training.

use unroll_protocol::LearningRateSchedule;

use super::{
    super::pen::{HEIGHT, Pen, Plot, WIDTH, four},
    pictures::plain,
};

/// Activations that dropout may set to 0.
const ACTIVE: [f64; 8] = [0.9, 0.4, 0.7, 0.2, 0.6, 0.8, 0.3, 0.5];
/// Steps a weight decays for.
const STEPS: usize = 20;
/// Steps of a training whose learning rate is drawn.
const LAST: u32 = 100;

/// A point on a bend, with its tangent. Beside it, in words, the value and the slope.
pub(super) fn bend(pen: &mut Pen, name: &str, f: fn(f64) -> f64, slope: f64, x: f64) -> String {
    let plot = Plot { x: (-4.0, 4.0), y: (-1.0, 4.2) };
    pen.axes(plot);
    pen.curve(plot, f);
    let tangent = (-60..=60).map(|i| f64::from(i) / 40.0);
    pen.path("toy-tangent", plot, tangent.map(|dx| (x + dx, f(x) + slope * dx)));
    pen.dot("toy-mark", plot.at(x, f(x)), 5.0);
    format!("{name}({}) = {}, slope {}", plain(x), four(f(x)), four(slope))
}

pub(super) fn relu(x: f64) -> f64 {
    x.max(0.0)
}

/// At 0, where there is a corner, the usual choice: 0.
pub(super) fn relu_slope(x: f64) -> f64 {
    if x > 0.0 { 1.0 } else { 0.0 }
}

/// The exact one, not the tanh that is often used in its place.
pub(super) fn gelu(x: f64) -> f64 {
    x * below(x)
}

pub(super) fn gelu_slope(x: f64) -> f64 {
    below(x) + x * density(x)
}

/// Of the standard normal distribution.
fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / core::f64::consts::TAU.sqrt()
}

/// The probability that a standard normal number is below `x`: 1/2 + φ(x) · (x + x³/3 + x⁵/15 + …).
fn below(x: f64) -> f64 {
    let terms = (1..80).scan(x, |term, i| {
        let now = *term;
        *term *= x * x / f64::from(2 * i + 1);
        Some(now)
    });
    0.5 + density(x) * terms.sum::<f64>()
}

/// Which activations go in one step, and what becomes of the others.
pub(super) fn dropout(pen: &mut Pen, step: u32, rate: f64) -> String {
    let kept = kept(step, rate);
    let left: Vec<f64> = ACTIVE
        .iter()
        .zip(kept)
        .map(|(x, kept)| if kept { x / (1.0 - rate) } else { 0.0 })
        .collect();
    // The tallest activation still fits in where half of them go.
    pen.columns(&left, 1.8, (104.0, 100.0));
    for (i, kept) in kept.into_iter().enumerate() {
        let word = if kept { "" } else { "0" };
        pen.text("middle", ((i as f64 + 0.5) * WIDTH / 8.0, HEIGHT - 6.0), word);
    }
    let gone = kept.iter().filter(|kept| !**kept).count();
    let scale = four(1.0 / (1.0 - rate));
    format!("Set to 0 in this step: {gone} of 8. The others are multiplied by {scale}")
}

/// The step is the seed, so each step drops its own and always the same.
fn kept(step: u32, rate: f64) -> [bool; 8] {
    let mut state = step.wrapping_mul(2_654_435_761);
    core::array::from_fn(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state) / 2f64.powi(32) >= rate
    })
}

/// The rate over a training of 100 steps, by the rule the course itself trains with.
pub(super) fn schedule(pen: &mut Pen, step: u32, warmup_steps: u32) -> String {
    let schedule = LearningRateSchedule { peak: 1.0, warmup_steps, decay_steps: LAST };
    let plot = Plot { x: (0.0, f64::from(LAST)), y: (0.0, 1.05) };
    pen.axes(plot);
    pen.path("toy-curve", plot, (1..=LAST).map(|step| (f64::from(step), schedule.at(step))));
    pen.dot("toy-mark", plot.at(f64::from(step), schedule.at(step)), 5.0);
    let share = four(schedule.at(step));
    if step <= warmup_steps {
        format!("Step {step}: {step} / {warmup_steps} = {share} of the peak")
    } else {
        format!("Step {step}: {share} of the peak, on the cosine")
    }
}

/// A weight that loses a share of itself at each step, and what a steady gradient gives back.
pub(super) fn decay(pen: &mut Pen, share: f64, pull: f64) -> String {
    let weights = decaying(share, pull);
    let most = weights.iter().copied().fold(1.0, f64::max);
    pen.columns(&weights, most, (100.0, 95.0));
    pen.text("start", (0.0, 122.0), "step 0");
    pen.text("end", (WIDTH, 122.0), &format!("step {STEPS}"));
    let words = if pull > 0.0 {
        format!("{} · w + {}", plain(1.0 - share), plain(pull))
    } else {
        format!("{} · w", plain(1.0 - share))
    };
    let last = four(weights[STEPS]);
    format!("At each step w becomes {words}. After {STEPS} steps it is {last}")
}

fn decaying(share: f64, pull: f64) -> Vec<f64> {
    core::iter::successors(Some(1.0), |w| Some((1.0 - share) * w + pull)).take(STEPS + 1).collect()
}

/// What is left of a gradient of 1 behind layers of this slope, without and with a way around each.
pub(super) fn around(pen: &mut Pen, slope: f64, layers: i32) -> String {
    let (through, around) = (slope.powi(layers), (1.0 + slope).powi(layers));
    // The number in full has no room beside its bar.
    let number = |x: f64| if 0.0 < x && x < 1e-4 { "≈ 0".to_owned() } else { four(x) };
    let (a, b) = (number(through), number(around));
    pen.bars(&[("without", through, &a), ("with", around, &b)], around);
    format!(
        "Without residual connections: {}^{layers} = {}. With them: {}^{layers} = {}",
        plain(slope),
        four(through),
        plain(1.0 + slope),
        four(around)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gelu_is_the_exact_one() {
        // From scipy.stats.norm.cdf.
        for (x, expected) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-4.0, 3.167_124_183e-5)] {
            assert!((below(x) - expected).abs() < 1e-13, "{x}: {}", below(x));
        }
        let nudge = 1e-5;
        for x in [-3.0, -0.7, 0.0, 2.5] {
            let measured = (gelu(x + nudge) - gelu(x - nudge)) / (2.0 * nudge);
            assert!((measured - gelu_slope(x)).abs() < 1e-8, "{x}");
        }
    }

    #[test]
    fn dropout_drops_its_share_and_the_same_ones_again() {
        let all: Vec<_> = (0..1000).flat_map(|step| kept(step, 0.3)).collect();
        let gone = all.iter().filter(|kept| !**kept).count();
        assert!((2200..2600).contains(&gone), "{gone} of 8000");
        assert_eq!(kept(7, 0.3), kept(7, 0.3));
        assert_eq!(kept(7, 0.0), [true; 8]);
        assert!((1..20).all(|step| kept(step, 0.5) != kept(step + 1, 0.5)));
    }

    #[test]
    fn a_weight_decays_to_what_its_gradient_earns() {
        assert!((decaying(0.1, 0.0)[STEPS] - 0.9f64.powi(20)).abs() < 1e-12);
        // Where pull is share times weight, the weight stays.
        assert!(decaying(0.1, 0.1).iter().all(|w| (w - 1.0).abs() < 1e-12));
    }
}
