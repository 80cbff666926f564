//! The figures of words that come from statistics: each number is worked out from what is dragged.

use super::{
    super::pen::{HEIGHT, Pen, Plot, WIDTH, four},
    pictures::{plain, round, shares},
};

/// Of what is drawn: a standard deviation past the outermost dots fits in.
const SPAN: (f64, f64) = (-7.0, 7.0);
/// Where the dots of a correlation stand, from left to right.
const ACROSS: [f64; 4] = [-3.0, -1.0, 1.0, 3.0];

/// Dots on a line, their mean, and one standard deviation to each side of it.
pub(super) fn deviation(pen: &mut Pen, numbers: &[f64]) -> String {
    let plot = Plot { x: SPAN, y: (0.0, 1.0) };
    let (mean, spread) = (round(mean(numbers)), round(standard_deviation(numbers)));
    let (left, right) = (plot.at(mean - spread, 0.75), plot.at(mean + spread, 0.25));
    pen.rect("toy-room", left, (right.0 - left.0, right.1 - left.1));
    pen.line("toy-axis", plot.at(SPAN.0, 0.5), plot.at(SPAN.1, 0.5));
    pen.line("toy-tangent", plot.at(mean, 0.15), plot.at(mean, 0.85));
    for &number in numbers {
        pen.dot("toy-mark", plot.at(number, 0.5), 6.0);
    }
    pen.text("middle", plot.at(mean, 0.9), "mean");
    format!("Mean {}, standard deviation {}", four(mean), four(spread))
}

/// Four dots, and the line that fits them best.
pub(super) fn correlated(pen: &mut Pen, heights: &[f64]) -> String {
    let plot = Plot { x: (-4.0, 4.0), y: SPAN };
    let middle = mean(heights);
    let slope = products(&ACROSS, heights) / products(&ACROSS, &ACROSS);
    pen.axes(plot);
    let points = (-80..=80).map(|i| f64::from(i) / 20.0);
    pen.path("toy-tangent", plot, points.map(|x| (x, middle + slope * x)));
    for (&x, &y) in ACROSS.iter().zip(heights) {
        pen.dot("toy-mark", plot.at(x, y), 6.0);
    }
    match correlation(&ACROSS, heights) {
        Some(r) => format!("Correlation {}", four(round(r))),
        None => "The correlation is undefined: the dots are level, so one of the two does not vary"
            .to_owned(),
    }
}

/// What each share of a whole is surprised by, times that share, added up.
pub(super) fn entropy_of(pen: &mut Pen, parts: &[f64]) -> String {
    let whole: f64 = parts.iter().sum();
    // Parts are whole numbers: the 1 stands in only where there are none.
    let p: Vec<f64> = parts.iter().map(|part| part / whole.max(1.0)).collect();
    shares(pen, &["a", "b", "c"], &p);
    if whole == 0.0 {
        return "With no parts at all there are no shares".to_owned();
    }
    format!("Entropy {} nats; the maximum is ln 3 = {}", four(entropy(&p)), four(3f64.ln()))
}

/// Two coins: one as it is, one as somebody thinks it is.
pub(super) fn divergences(pen: &mut Pen, p: f64, q: f64) -> String {
    let (truth, belief) = ([p, 1.0 - p], [q, 1.0 - q]);
    shares(pen, &["p(a)", "p(b)", "q(a)", "q(b)"], &[truth, belief].concat());
    let (there, back) = (divergence(&truth, &belief), divergence(&belief, &truth));
    format!("KL(p ‖ q) = {} nats, KL(q ‖ p) = {}", four(round(there)), four(round(back)))
}

/// How far the mean of `n` examples lies from the true one, beside four times as many.
pub(super) fn standard_error(pen: &mut Pen, n: f64, spread: f64) -> String {
    let plot = Plot { x: SPAN, y: (0.0, 1.0) };
    let error = spread / n.sqrt();
    pen.line("toy-tangent", plot.at(0.0, 0.0), plot.at(0.0, 1.0));
    for (class, y, reach) in [("toy-pointer", 0.7, error), ("toy-ghost", 0.25, error / 2.0)] {
        pen.line(class, plot.at(-reach, y), plot.at(reach, y));
        for end in [-reach, reach] {
            pen.line(class, plot.at(end, y - 0.08), plot.at(end, y + 0.08));
        }
    }
    pen.text("start", (0.0, plot.at(0.0, 0.84).1), &format!("n = {}", plain(n)));
    pen.text("start", (0.0, HEIGHT - 14.0), &format!("n = {}", plain(4.0 * n)));
    pen.text("end", (WIDTH, plot.at(0.0, 0.84).1), &four(error));
    pen.text("end", (WIDTH, HEIGHT - 14.0), &four(error / 2.0));
    format!("Standard error: {} / √{} = {}", plain(spread), plain(n), four(error))
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Of these numbers themselves, not of a larger lot they were drawn from.
fn standard_deviation(numbers: &[f64]) -> f64 {
    (products(numbers, numbers) / numbers.len() as f64).sqrt()
}

/// How far each pair is from its means, multiplied and added up.
fn products(x: &[f64], y: &[f64]) -> f64 {
    let (across, up) = (mean(x), mean(y));
    x.iter().zip(y).map(|(x, y)| (x - across) * (y - up)).sum()
}

/// None where one of the two does not vary.
fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let vary = (products(x, x) * products(y, y)).sqrt();
    // What rounding leaves of a 0 is no variance.
    (vary > 1e-9).then(|| (products(x, y) / vary).clamp(-1.0, 1.0))
}

/// In nats. What never happens adds nothing.
fn entropy(p: &[f64]) -> f64 {
    p.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum::<f64>().abs()
}

/// Of `q` from `p`, in nats.
fn divergence(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (p / q).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn entropy_is_that_of_the_textbook() {
        close(entropy(&[0.5, 0.5]), 2f64.ln());
        close(entropy(&[1.0, 0.0, 0.0]), 0.0);
        close(entropy(&[0.25; 4]), 4f64.ln());
    }

    #[test]
    fn divergence_is_0_between_equals_and_differs_by_direction() {
        close(divergence(&[0.3, 0.7], &[0.3, 0.7]), 0.0);
        let (p, q) = ([0.5, 0.5], [0.25, 0.75]);
        close(divergence(&p, &q), 0.5 * 2f64.ln() + 0.5 * (2.0 / 3.0f64).ln());
        assert!((divergence(&p, &q) - divergence(&q, &p)).abs() > 0.01);
    }

    #[test]
    fn spread_and_correlation_are_exact() {
        close(standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), 2.0);
        close(correlation(&ACROSS, &[-3.0, -1.0, 1.0, 3.0]).unwrap(), 1.0);
        close(correlation(&ACROSS, &[1.0, 0.5, 0.0, -0.5]).unwrap(), -1.0);
        close(correlation(&ACROSS, &[1.0, -1.0, -1.0, 1.0]).unwrap(), 0.0);
        assert_eq!(correlation(&ACROSS, &[0.3; 4]), None);
    }
}
