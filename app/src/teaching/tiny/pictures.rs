//! What each tiny figure draws and says.

use unroll_protocol::gpt::Sampling;

use crate::figures::decimals;

use super::{
    super::pen::{HEIGHT, Pen, Plot, WIDTH, four},
    Toy, statistics, training, writing,
};

/// The text of the figures that need one.
pub(super) const TEXT: &str = "to be or not to be";
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const TABLE: [[f64; 4]; 5] = [
    [0.21, -0.80, 0.33, 1.02],
    [-1.14, 0.07, 0.58, -0.46],
    [0.90, 0.62, -0.27, 0.15],
    [-0.05, -1.31, 0.74, 0.40],
    [0.48, 0.11, -0.96, -0.72],
];
const SLOPES: [f64; 16] =
    [1.9, -0.4, 1.2, 0.3, 2.1, 0.8, -0.9, 1.6, 0.1, 1.4, 0.7, 2.4, -0.2, 1.1, 0.9, 1.8];

impl Toy {
    /// The picture as SVG markup, and the same in words. `v` has a number for each slider.
    pub(super) fn draw(self, v: &[f64]) -> (String, String) {
        let mut pen = Pen::default();
        let words = match self {
            Self::Around => training::around(&mut pen, v[0], v[1] as i32),
            Self::Batch => batch(&mut pen, v[0] as usize),
            Self::Cell => {
                let names = ["c before", "f · c", "i · g", "c now"];
                let new = renewed(&mut pen, names, v[0], v[1] * v[2]);
                format!("{} · 1 + {} · {} = {}", plain(v[0]), plain(v[1]), plain(v[2]), four(new))
            }
            Self::Clip => clip(&mut pen, v[0], v[1]),
            Self::ContextWindow => writing::seen(&mut pen, v[0] as usize, v[1] as usize),
            Self::Correlation => statistics::correlated(&mut pen, v),
            Self::Decay => training::decay(&mut pen, v[0], v[1]),
            Self::Descent => descent(&mut pen, v[0]),
            Self::Deviation => statistics::deviation(&mut pen, v),
            Self::Divergence => statistics::divergences(&mut pen, v[0], v[1]),
            Self::Dot => dot(&mut pen, v[0]),
            Self::Dropout => training::dropout(&mut pen, v[0] as u32, v[1]),
            Self::Embedding => embedding(&mut pen, v[0] as usize),
            Self::Entropy => statistics::entropy_of(&mut pen, v),
            Self::Gate => {
                let y = v[0] * v[1];
                pen.numbered(&[v[1], y], 2.0);
                pen.text("middle", (WIDTH / 4.0 - 44.0, 59.0), "x");
                pen.text("middle", (WIDTH * 0.75 - 44.0, 59.0), "g · x");
                format!("{} · {} = {}", plain(v[0]), plain(v[1]), four(y))
            }
            Self::Gelu => {
                training::bend(&mut pen, "GELU", training::gelu, training::gelu_slope(v[0]), v[0])
            }
            Self::Gru => {
                let share = round(1.0 - v[0]);
                let names = ["h before", "z · h", "(1 − z) · n", "h now"];
                let new = renewed(&mut pen, names, v[0], share * v[1]);
                format!("{} · 1 + {} · {} = {}", plain(v[0]), plain(share), plain(v[1]), four(new))
            }
            Self::Hidden => hidden(&mut pen, v[0]),
            Self::KvCache => writing::computed(&mut pen, v[0] as u32),
            Self::Line => {
                let plot = Plot { x: (-2.0, 2.0), y: (-3.0, 3.0) };
                pen.axes(plot);
                let line = |x: f64| v[0] * x + v[1];
                let points = (0..=200).map(|i| f64::from(i) / 50.0 - 2.0).map(|x| (x, line(x)));
                pen.path("toy-curve", plot, points);
                pen.dot("toy-mark", plot.at(1.0, line(1.0)), 5.0);
                format!("At x = 1: {} · 1 + {} = {}", plain(v[0]), plain(v[1]), four(line(1.0)))
            }
            Self::Logit => {
                let p = softmax(&[v[0], 0.0]);
                shares(&mut pen, &["a", "b"], &p);
                format!("Logits {} and 0: a has probability {}", plain(v[0]), four(p[0]))
            }
            Self::Mask => mask(&mut pen, v[0] as usize),
            Self::MinP => {
                let min_p = writing::least(v[0]);
                writing::cut(&mut pen, Sampling { min_p, ..Sampling::PLAIN })
            }
            Self::Mix => {
                let p = softmax(v);
                let mixed = p[0] * 1.0 + p[1] * 5.0 + p[2] * 9.0;
                shares(&mut pen, &["value 1", "value 5", "value 9"], &p);
                format!(
                    "{} · 1 + {} · 5 + {} · 9 = {}",
                    four(p[0]),
                    four(p[1]),
                    four(p[2]),
                    four(mixed)
                )
            }
            Self::Normalize => {
                let mean = v.iter().sum::<f64>() / 3.0;
                let variance = v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0;
                // As layers do, so that equal numbers divide by no zero.
                let scale = 1.0 / (variance + 1e-5).sqrt();
                let normal: Vec<f64> = v.iter().map(|x| (x - mean) * scale).collect();
                pen.numbered(&normal, 1.5);
                let after = normal.iter().map(|x| x * x).sum::<f64>() / 3.0;
                format!(
                    "Mean {}, variance {}; after it 0 and {}",
                    four(round(mean)),
                    four(round(variance)),
                    four(round(after))
                )
            }
            Self::OneHot => {
                let id = v[0] as usize;
                let digit = |i| if i == id { "1".to_owned() } else { "0".to_owned() };
                pen.cells(8.0, 40.0, &NAMES.map(String::from), |i| i == id);
                pen.cells(66.0, 40.0, &core::array::from_fn::<_, 5, _>(digit), |i| i == id);
                format!("{} has id {id}: the 1 stands in place {id}, counted from 0", NAMES[id])
            }
            Self::Perplexity => {
                let plot = Plot { x: (0.0, 4.0), y: (0.0, 55.0) };
                pen.axes(plot);
                pen.curve(plot, f64::exp);
                pen.dot("toy-mark", plot.at(v[0], v[0].exp()), 5.0);
                format!("exp({}) = {}", plain(v[0]), four(v[0].exp()))
            }
            Self::Powers => {
                let steps = v[1] as i32;
                let powers: Vec<f64> = (0..=steps).map(|t| v[0].powi(t)).collect();
                let most = powers.iter().copied().fold(1.0, f64::max);
                pen.columns(&powers, most, (100.0, 95.0));
                pen.text("start", (0.0, 122.0), "0 steps back");
                pen.text("end", (WIDTH, 122.0), &format!("{steps} steps back"));
                format!("{} multiplied {steps} times: {}", plain(v[0]), four(v[0].powi(steps)))
            }
            Self::Relu => {
                training::bend(&mut pen, "ReLU", training::relu, training::relu_slope(v[0]), v[0])
            }
            Self::Schedule => training::schedule(&mut pen, v[0] as u32, v[1] as u32),
            Self::Seed => {
                let mut state = v[0] as u32;
                let digits: [String; 8] = core::array::from_fn(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 16).wrapping_rem(10).to_string()
                });
                pen.cells(40.0, 44.0, &digits, |_| false);
                format!("Seed {} always gives {}", v[0], digits.join(" "))
            }
            Self::Sigmoid => {
                let y = sigmoid(v[0]);
                squash(
                    &mut pen,
                    Plot { x: (-6.0, 6.0), y: (0.0, 1.0) },
                    sigmoid,
                    v[0],
                    y * (1.0 - y),
                );
                format!("σ({}) = {}, slope {}", plain(v[0]), four(y), four(y * (1.0 - y)))
            }
            Self::Tanh => {
                let y = v[0].tanh();
                squash(
                    &mut pen,
                    Plot { x: (-6.0, 6.0), y: (-1.0, 1.0) },
                    f64::tanh,
                    v[0],
                    1.0 - y * y,
                );
                format!("tanh({}) = {}, slope {}", plain(v[0]), four(y), four(1.0 - y * y))
            }
            Self::Slope => {
                let plot = Plot { x: (-2.2, 2.2), y: (-0.2, 4.4) };
                let (w, slope) = (v[0], 2.0 * v[0]);
                pen.axes(plot);
                pen.curve(plot, |w| w * w);
                // Downhill, one tenth of the slope each way of the tangent.
                let tip = w - 0.25 * slope;
                pen.arrow("toy-arrow", plot.at(w, w * w), plot.at(tip, w * w + slope * (tip - w)));
                pen.dot("toy-mark", plot.at(w, w * w), 5.0);
                format!(
                    "Loss w² = {}, gradient 2w = {}; the arrow goes downhill",
                    four(w * w),
                    four(slope)
                )
            }
            Self::Smoothing => {
                let p = [6.0, 3.0, 0.0].map(|count: f64| (count + v[0]) / (9.0 + 3.0 * v[0]));
                shares(&mut pen, &["a: 6", "b: 3", "c: 0"], &p);
                format!("c: (0 + {k}) / (9 + 3 · {k}) = {}", four(p[2]), k = plain(v[0]))
            }
            Self::Softmax => {
                let p = softmax(v);
                shares(&mut pen, &["a", "b", "c"], &p);
                let sum: f64 = v.iter().map(|x| x.exp()).sum();
                format!("a: exp({}) / {} = {}", plain(v[0]), four(sum), four(p[0]))
            }
            Self::Spiral => spiral(&mut pen, v[0]),
            Self::StandardError => statistics::standard_error(&mut pen, v[0], v[1]),
            Self::Surprise => {
                let plot = Plot { x: (0.0, 1.0), y: (0.0, 4.7) };
                pen.axes(plot);
                pen.curve(plot, |p| -p.ln());
                let loss = (-v[0].ln()).max(0.0);
                pen.dot("toy-mark", plot.at(v[0], loss), 5.0);
                pen.text("middle", (WIDTH / 2.0, 20.0), "−ln p");
                format!("−ln({}) = {}", plain(v[0]), four(loss))
            }
            Self::Temperature => {
                let p = softmax(&[2.0 / v[0], 1.0 / v[0], 0.0]);
                shares(&mut pen, &["a: 2", "b: 1", "c: 0"], &p);
                format!("Scores 2, 1 and 0, divided by {}: a has {}", plain(v[0]), four(p[0]))
            }
            Self::Token => {
                let cuts: [&[&str]; 3] = [
                    &["u", "n", "r", "o", "l", "l", "e", "d"],
                    &["un", "roll", "ed"],
                    &["unrolled"],
                ];
                let kinds = ["characters", "parts of a word", "words"];
                let cut = cuts[v[0] as usize];
                let pieces: Vec<String> = cut.iter().map(ToString::to_string).collect();
                pen.cells(40.0, 44.0, &pieces, |_| false);
                let plural = if cut.len() == 1 { "token" } else { "tokens" };
                format!("{}: {} {plural}", kinds[v[0] as usize], cut.len())
            }
            Self::TopK => {
                let top_k = v[0] as u32;
                writing::cut(&mut pen, Sampling { top_k, ..Sampling::PLAIN })
            }
            Self::TopP => {
                let top_p = writing::least(v[0]);
                writing::cut(&mut pen, Sampling { top_p, ..Sampling::PLAIN })
            }
            Self::Vocabulary => vocabulary(&mut pen, v[0] as usize),
            Self::Window => window_of(&mut pen, v[0] as usize),
        };
        (pen.markup, words)
    }
}

/// A slider's number as it was set.
pub(super) fn plain(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    rounded.to_string().replace('-', "−")
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Probabilities as bars.
pub(super) fn shares(pen: &mut Pen, names: &[&str], p: &[f64]) {
    let numbers: Vec<String> = p.iter().map(|&p| four(p)).collect();
    let rows: Vec<_> =
        names.iter().zip(p).zip(&numbers).map(|((n, p), t)| (*n, *p, &**t)).collect();
    pen.bars(&rows, 1.0);
}

/// A state of 1, what is kept of it, what is added, and the state that comes of it, which is the answer.
fn renewed(pen: &mut Pen, names: [&str; 4], kept: f64, added: f64) -> f64 {
    let new = round(kept + added);
    pen.numbered(&[1.0, kept, added, new], 2.0);
    for (i, name) in names.into_iter().enumerate() {
        pen.text("middle", ((i as f64 + 0.5) * WIDTH / 4.0, 96.0), name);
    }
    new
}

/// A curve between two levels, with a point and the tangent there.
fn squash(pen: &mut Pen, plot: Plot, f: fn(f64) -> f64, x: f64, slope: f64) {
    pen.axes(plot);
    pen.curve(plot, f);
    let y = f(x);
    let tangent = (-60..=60).map(|i| f64::from(i) / 30.0).map(|dx| (x + dx, y + slope * dx));
    pen.path("toy-tangent", plot, tangent);
    pen.dot("toy-mark", plot.at(x, y), 5.0);
}

fn batch(pen: &mut Pen, size: usize) -> String {
    let plot = Plot { x: (-1.2, 2.7), y: (0.0, 1.0) };
    let mean = SLOPES[..size].iter().sum::<f64>() / size as f64;
    let all = SLOPES.iter().sum::<f64>() / SLOPES.len() as f64;
    pen.line("toy-axis", plot.at(-1.2, 0.3), plot.at(2.7, 0.3));
    pen.line("toy-tangent", plot.at(all, 0.1), plot.at(all, 0.9));
    for (i, &slope) in SLOPES.iter().enumerate() {
        pen.dot(if i < size { "toy-mark" } else { "toy-faint" }, plot.at(slope, 0.3), 5.0);
    }
    pen.arrow("toy-arrow", plot.at(0.0, 0.6), plot.at(mean, 0.6));
    pen.text("middle", plot.at(0.0, 0.7), "0");
    format!("Mean gradient of {size}: {}; of all 16: {}", four(mean), four(all))
}

fn clip(pen: &mut Pen, length: f64, limit: f64) -> String {
    let kept = length.min(limit);
    let (from, unit) = ((16.0, HEIGHT - 12.0), (46.0, -20.0));
    let to = |l: f64| (from.0 + unit.0 * l, from.1 + unit.1 * l);
    let edge = to(limit);
    pen.line("toy-tangent", (edge.0 - 8.0, edge.1 - 18.0), (edge.0 + 8.0, edge.1 + 18.0));
    pen.arrow("toy-ghost", from, to(length));
    pen.arrow("toy-arrow", from, to(kept));
    if length > limit {
        format!("{} · {} / {} = {}", plain(length), plain(limit), plain(length), four(kept))
    } else {
        format!("{} is within the limit and stays", plain(length))
    }
}

fn descent(pen: &mut Pen, rate: f64) -> String {
    let plot = Plot { x: (-2.2, 2.2), y: (-0.2, 4.4) };
    pen.axes(plot);
    pen.curve(plot, |w| w * w);
    let steps: Vec<f64> =
        core::iter::successors(Some(1.8), |w| Some(w - rate * 2.0 * w)).take(9).collect();
    pen.path("toy-tangent", plot, steps.iter().map(|&w| (w, w * w)));
    for &w in steps.iter().filter(|w| w.abs() < 2.1) {
        pen.dot("toy-mark", plot.at(w, w * w), 3.5);
    }
    format!("w goes from 1.8 to {}, and after 8 steps to {}", four(steps[1]), four(steps[8]))
}

fn dot(pen: &mut Pen, degrees: f64) -> String {
    let (center, length) = ((WIDTH / 2.0, HEIGHT - 14.0), 100.0);
    let angle = degrees.to_radians();
    let tip = (center.0 + length * angle.cos(), center.1 - length * angle.sin());
    pen.arrow("toy-query", center, (center.0 + length, center.1));
    pen.arrow("toy-key", center, tip);
    pen.label("toy-query toy-name", "end", (center.0 + length + 22.0, center.1 + 4.0), "q");
    let out = |x: f64| 1.12 * x;
    pen.label(
        "toy-key toy-name",
        "middle",
        (center.0 + out(tip.0 - center.0), center.1 + out(tip.1 - center.1) + 4.0),
        "k",
    );
    // Of length 2 each.
    format!("q · k = 2 · 2 · cos {degrees}° = {}", four(round(4.0 * angle.cos())))
}

/// Without what rounding leaves of a 0.
pub(super) fn round(x: f64) -> f64 {
    (x * 1e12).round() / 1e12
}

fn embedding(pen: &mut Pen, id: usize) -> String {
    for (row, values) in TABLE.iter().enumerate() {
        let y = row as f64 * HEIGHT / 5.0;
        let mut cells = vec![format!("{row} {}", NAMES[row])];
        cells.extend(values.iter().map(|x| decimals(*x, 2)));
        pen.cells(y, HEIGHT / 5.0, &cells, |_| row == id);
    }
    let row: Vec<String> = TABLE[id].iter().map(|&x| plain(x)).collect();
    format!("{} is token {id}, so its row is {}", NAMES[id], row.join(", "))
}

fn hidden(pen: &mut Pen, weight: f64) -> String {
    let mut state = 0.0;
    let states: Vec<f64> = (0..9)
        .map(|t| {
            let input = if t == 0 { 1.0 } else { 0.0 };
            state = f64::tanh(weight * state + input);
            state
        })
        .collect();
    pen.columns(&states, 1.0, (HEIGHT / 2.0, 60.0));
    format!(
        "One 1 comes in, then 0s; 8 steps later h = tanh({} · h) is {}",
        plain(weight),
        four(states[8])
    )
}

fn mask(pen: &mut Pen, token: usize) -> String {
    let height = HEIGHT / 6.0;
    for row in 1..=6 {
        let cells: Vec<String> =
            (1..=6).map(|key| if key <= row { "yes" } else { "–" }.to_owned()).collect();
        pen.cells((row as f64 - 1.0) * height, height, &cells, |key| row == token && key < row);
    }
    match token {
        1 => "Token 1 may look at itself alone".to_owned(),
        _ => format!("Token {token} may look at tokens 1 to {token}"),
    }
}

fn spiral(pen: &mut Pen, radius: f64) -> String {
    let center = (WIDTH / 2.0, HEIGHT / 2.0);
    pen.line("toy-axis", (60.0, center.1), (WIDTH - 60.0, center.1));
    pen.line("toy-axis", (center.0, 4.0), (center.0, HEIGHT - 4.0));
    let at = |t: i32| {
        let (length, angle) = (38.0 * radius.powi(t), f64::from(t) * 0.5);
        (center.0 + length * angle.cos(), center.1 - length * angle.sin())
    };
    for t in 0..16 {
        let (from, to) = (at(t), at(t + 1));
        if (0.0..=HEIGHT).contains(&to.1) && (0.0..=WIDTH).contains(&to.0) {
            pen.line("toy-tangent", from, to);
            pen.dot("toy-mark", to, 2.5);
        }
    }
    pen.arrow("toy-pointer", center, at(0));
    format!("Turned and scaled 16 times, length 1 becomes {}", four(radius.powi(16)))
}

fn vocabulary(pen: &mut Pen, read: usize) -> String {
    let mut known: Vec<char> = TEXT.chars().take(read).collect();
    known.sort_unstable();
    known.dedup();
    let letters: Vec<String> = TEXT.chars().map(visible).collect();
    pen.cells(10.0, 40.0, &letters, |i| i < read);
    let words: Vec<String> = known.iter().copied().map(visible).collect();
    pen.cells(76.0, 40.0, &words, |_| false);
    format!("{read} characters read, {} different ones", known.len())
}

fn window_of(pen: &mut Pen, start: usize) -> String {
    let letters: Vec<String> = TEXT.chars().map(visible).collect();
    pen.cells(45.0, 40.0, &letters, |i| (start..start + 4).contains(&i));
    let x = (start as f64 + 4.5) * WIDTH / 18.0;
    pen.arrow("toy-pointer", (x, 118.0), (x, 90.0));
    format!("From “{}” guess “{}”", letters[start..start + 4].concat(), letters[start + 4])
}

/// A space that can be seen.
pub(super) fn visible(letter: char) -> String {
    if letter == ' ' { "␣".to_owned() } else { letter.to_string() }
}
