//! The chapter's answers as figures and sentences. Plain functions.

use unroll_protocol::study::bptt::{BATCH, Cell, Flow, LossKind, Network, Scale, Settings};

use crate::{
    controls::{grouped, tiny_share},
    course::History,
    figures::{Dash, Hue, Line, Lines, Reference, YScale, brief, percent, power_of_ten},
};

/// Shares below this are off the axis: what a 32-bit float can hold goes down to 1e-45.
const LEAST_SHARE: f64 = 1e-16;

/// Color and pattern of a network's lines, everywhere in the chapter.
pub fn look(cell: Cell) -> (Hue, Dash) {
    match cell {
        Cell::Rnn => (Hue::First, Dash::Solid),
        Cell::Lstm => (Hue::Second, Dash::Solid),
        Cell::Gru => (Hue::Third, Dash::Mixed),
    }
}

/// One value a step, from step 1.
fn by_step(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    (1..).map(f64::from).zip(values).collect()
}

fn divided(norms: &[f32], scale: Scale) -> Vec<(f64, f64)> {
    let last = norms.last().map_or(0.0, |&last| f64::from(last));
    let by = if scale == Scale::Relative && last > 0.0 { last } else { 1.0 };
    by_step(norms.iter().map(|&norm| f64::from(norm) / by))
}

/// What comes from the last step's loss alone.
const FAR: &str = "last step’s part";

/// Of the RNN's gradient where every step adds its own, what comes from the last step alone: as long at
/// the last step as the whole, which has nothing else there.
fn from_far(whole: &Network, far: &Network, scale: Scale) -> Line {
    let (hue, _) = look(whole.cell);
    let by = match scale {
        Scale::Relative => 1.0,
        Scale::Absolute => whole.hidden.last().map_or(0.0, |&last| f64::from(last)),
    };
    let points =
        divided(&far.hidden, Scale::Relative).into_iter().map(|(step, share)| (step, share * by));
    Line { faded: 0.45, ..Line::new(FAR, hue, Dash::Dashed, points.collect()) }
}

/// The main figure: norms of the gradient by each state. `far` is that of the last step's loss alone, to
/// compare with.
pub fn norms(flow: &Flow, far: Option<&Flow>, settings: &Settings) -> Lines {
    let scale = settings.scale;
    let mut series = Vec::new();
    for network in flow.networks.iter().filter(|network| settings.shown.shows(network.cell)) {
        let (hue, dash) = look(network.cell);
        let state = if network.memory.is_some() { " state" } else { "" };
        let name = format!("{}{state}", network.cell.label());
        series.push(Line::new(name, hue, dash, divided(&network.hidden, scale)));
        if let Some(memory) = &network.memory {
            let name = format!("{} cell", network.cell.label());
            let points = divided(memory, scale);
            series.push(Line::new(name, Hue::Cell, Dash::Dashed, points));
        }
    }
    if let Some((whole, far)) = flow.networks.first().zip(far.and_then(|far| far.networks.first()))
    {
        series.push(from_far(whole, far, scale));
    }
    if let Some(rescaled) = &flow.rescaled {
        let name = format!("RNN at radius {}", number(rescaled.asked));
        let points = divided(&rescaled.hidden, scale);
        series.push(Line::new(name, Hue::Gradient, Dash::Dotted, points));
    }
    let all = series.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let (mut least, mut most) = (1.0f64, f64::MIN_POSITIVE);
    for value in all.filter(|value| *value > 0.0 && value.is_finite()) {
        (least, most) = (least.min(value), most.max(value));
    }
    let decade = |value: f64, up: bool| {
        let power = value.log10();
        10f64.powf(if up { power.ceil() } else { power.floor() })
    };
    let least = decade(least.max(LEAST_SHARE * most), false);
    let length = flow.networks.first().map_or(1, |network| network.hidden.len());
    Lines {
        x_label: "step".into(),
        y_label: match scale {
            Scale::Relative => "length, as a share of the last step’s",
            Scale::Absolute => "length",
        }
        .into(),
        series,
        y_scale: YScale::Log,
        x_range: Some((1.0, length as f64)),
        y_range: Some((least, decade(most, true).max(least * 10.0))),
        // They all end at 1, and the story is in how much is left where they begin.
        names_first: true,
        ..Lines::default()
    }
}

/// What came back over the way from the last step to the symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub name: String,
    pub hue: Hue,
    /// Of the norm at the last step, at the symbol's step.
    pub share: f64,
    /// The factor a step that would make this share, where no other gradient joins in on the way.
    pub each: Option<f64>,
    pub note: String,
}

fn seen(name: String, hue: Hue, norms: &[f32], flow: &Flow) -> Seen {
    let first = flow.symbol_at as usize;
    let at = |step: usize| norms.get(step - 1).map_or(0.0, |&norm| f64::from(norm));
    let steps = norms.len().saturating_sub(first);
    let share = at(first) / at(norms.len()).max(f64::MIN_POSITIVE);
    let arrives = share > 0.0 && steps > 0;
    let each = (arrives && flow.loss == LossKind::Last).then(|| share.powf(1.0 / steps as f64));
    let note = if arrives {
        String::new()
    } else {
        let end = norms.iter().position(|&norm| norm > 0.0).unwrap_or(norms.len().max(1) - 1);
        format!("exactly 0 before step {}", end + 1)
    };
    Seen { name, hue, share, each, note }
}

impl Seen {
    fn and(mut self, more: &str) -> Self {
        let between = if self.note.is_empty() || more.is_empty() { "" } else { "; " };
        self.note = format!("{}{between}{more}", self.note);
        self
    }

    /// What stands at the curve.
    fn at_line(&self) -> String {
        let each = self.each.map_or_else(String::new, |each| format!(", × {each:.2} per step"));
        format!("{}{each}", self.amount())
    }

    /// The share as a table has it, with no more digits than the key under the curves.
    pub fn amount(&self) -> String {
        in_digits(self.share)
    }
}

fn in_digits(share: f64) -> String {
    if share < 1.0 { power(share) } else { brief(share) }
}

/// Writes at the curves what they come to, which is in their order.
pub fn say(lines: &mut Lines, all: &[Seen]) {
    for (line, seen) in lines.series.iter_mut().zip(all) {
        line.says = seen.at_line();
    }
}

/// What each curve of the main figure comes to, from its numbers; with what makes it so, once that
/// `is_explained`.
pub fn all_seen(
    flow: &Flow,
    far: Option<&Flow>,
    settings: &Settings,
    is_explained: bool,
) -> Vec<Seen> {
    let mut all = Vec::new();
    for network in flow.networks.iter().filter(|network| settings.shown.shows(network.cell)) {
        let label = network.cell.label();
        let (hue, _) = look(network.cell);
        let mut add = |name: String, hue, norms: &[f32], more: String| {
            all.push(seen(name, hue, norms, flow).and(if is_explained { &more } else { "" }));
        };
        match &network.memory {
            None if network.cell == Cell::Rnn => {
                let more =
                    format!("size of U {:.2}; mean slope of tanh {:.2}", flow.radius, network.kept);
                add(label.into(), hue, &network.hidden, more);
            }
            None => {
                let more = format!("the update gate keeps {:.2} on average", network.kept);
                add(label.into(), hue, &network.hidden, more);
            }
            Some(memory) => {
                add(format!("{label} state"), hue, &network.hidden, String::new());
                let more = format!(
                    "the forget gate keeps {:.2} on average, and the path through the state adds to that",
                    network.kept
                );
                add(format!("{label} cell"), Hue::Cell, memory, more);
            }
        }
    }
    if let Some((far, network)) = far.and_then(|far| Some((far, far.networks.first()?))) {
        all.push(seen(FAR.into(), look(network.cell).0, &network.hidden, far));
    }
    if let Some(rescaled) = &flow.rescaled {
        let name = format!("RNN at radius {}", number(rescaled.asked));
        let more = if rescaled.asked == 0.0 {
            "U is all zeros, so no gradient goes back".to_owned()
        } else {
            format!("mean slope of tanh {:.2}", rescaled.kept)
        };
        all.push(seen(name, Hue::Gradient, &rescaled.hidden, flow).and(&more));
    }
    all
}

/// How much of the last step's gradient arrives at the letter's step, at the hidden state or along the
/// cell.
pub fn arriving(flow: &Flow, cell: Cell, along_cell: bool) -> Option<f64> {
    let network = flow.networks.iter().find(|network| network.cell == cell)?;
    let norms = if along_cell { network.memory.as_ref()? } else { &network.hidden };
    Some(seen(String::new(), Hue::Ink, norms, flow).share)
}

/// The factor a step that makes it so; see [`Seen::each`].
pub fn each_step(flow: &Flow, norms: &[f32]) -> Option<f64> {
    seen(String::new(), Hue::Ink, norms, flow).each
}

/// A share as it stands in a sentence, before what it is a part of.
pub fn amount(share: f64) -> String {
    if share >= 1.0 {
        return format!("{share:.2} times");
    }
    if share >= 0.01 {
        return format!("{:.0}% of", 100.0 * share);
    }
    match tiny_share(share) {
        Some((parts, name)) => {
            // Two digits are all that such a number has to say.
            let parts = if parts >= 100.0 { (parts / 10.0).round() * 10.0 } else { parts };
            let part = if parts == 1.0 { "part" } else { "parts" };
            format!("about {parts} {part} in a {name} of")
        }
        None if share > 0.0 => "less than 1 part in a trillion of".to_owned(),
        None => "none of".to_owned(),
    }
}

/// Accuracy by gap, as measured last. Before there is an answer, the axes for gaps to `gap`.
pub fn accuracy(flow: Option<&Flow>, gap: u32) -> Lines {
    let of = flow.map(|flow| flow.accuracy.clone()).unwrap_or_default();
    let longest = of.gaps.last().copied().unwrap_or(gap).max(2);
    let line = |(cell, shares): (&Cell, &Vec<f32>)| {
        let (hue, dash) = look(*cell);
        let points = of.gaps.iter().zip(shares);
        let points = points.map(|(&gap, &share)| (f64::from(gap), f64::from(share))).collect();
        Line::new(cell.label(), hue, dash, points)
    };
    Lines {
        x_label: "gap".into(),
        y_label: "right answers".into(),
        series: Cell::ALL.iter().zip(&of.shares).map(line).collect(),
        references: flow
            .map(|_| Reference { name: "guessing".into(), y: f64::from(of.chance) })
            .into_iter()
            .collect(),
        x_range: Some((1.0, f64::from(longest))),
        y_range: Some((0.0, 1.0)),
        is_share: true,
        ..Lines::default()
    }
}

/// What the accuracies say at the longest gap, network by network.
pub fn accuracy_said(flow: &Flow) -> String {
    let of = &flow.accuracy;
    let Some((gap, [rnn, lstm, gru])) = at_longest(flow) else {
        return "The first curves appear at step 50.".into();
    };
    let is_chance = rnn.max(lstm).max(gru) < of.chance + BETTER;
    let still = if is_chance {
        " Each point rests on so few tries that such differences may be due to chance."
    } else {
        ""
    };
    format!(
        "After {} steps, at a gap of {gap}, the RNN is right {} of the time, the LSTM {} and the GRU {}. \
         Pure guessing is right {} of the time.{still}",
        grouped(of.step.into()),
        right(rnn),
        right(lstm),
        right(gru),
        right(of.chance)
    )
}

/// A share of right answers, with the digits that the figure reads out.
fn right(share: f32) -> String {
    percent(share, 1)
}

/// The longest gap, and how often each network is right there; `None` before it is measured.
fn at_longest(flow: &Flow) -> Option<(u32, [f32; 3])> {
    let of = &flow.accuracy;
    let last: Vec<f32> = of.shares.iter().filter_map(|s| s.last().copied()).collect();
    Some((*of.gaps.last()?, last.try_into().ok()?))
}

/// Norm of the weights' gradient in training, before and after clipping.
pub fn clipping(history: &History, cell: Cell, clip: f32) -> Lines {
    let of = |what: &str| {
        let series = history.named(&format!("{} {what}", cell.label()));
        series.map(|series| series.points()).unwrap_or_default()
    };
    let reference = Reference { name: "clip norm".into(), y: f64::from(clip) };
    Lines {
        x_label: "training step".into(),
        y_label: "global norm".into(),
        series: vec![
            Line::new("before", Hue::Muted, Dash::Solid, of("gradient norm")),
            Line::new("after", Hue::Gradient, Dash::Solid, of("clipped norm")),
        ],
        references: if clip > 0.0 { vec![reference] } else { Vec::new() },
        y_scale: YScale::Log,
        x_range: Lines::steps(history.last_step()),
        ..Lines::default()
    }
}

/// Kibibytes of states and gates that wait for the backward pass after each step of the forward
/// pass, in training.
pub fn memory(flow: &Flow, truncation: u32) -> Lines {
    let line = |network: &Network| {
        let (hue, dash) = look(network.cell);
        let length = network.hidden.len() as u32;
        let piece = if truncation == 0 { length } else { truncation };
        let waiting = (0..length).map(|step| {
            let numbers =
                u64::from(network.stored) * u64::from(BATCH) * u64::from(step % piece + 1);
            4.0 * numbers as f64 / 1024.0
        });
        Line::new(network.cell.label(), hue, dash, by_step(waiting))
    };
    let series: Vec<Line> = flow.networks.iter().map(line).collect();
    let most = series.iter().flat_map(|line| line.points.iter().map(|p| p.1)).fold(1.0, f64::max);
    Lines {
        x_label: "step".into(),
        y_label: "KiB kept".into(),
        series,
        y_range: Some((0.0, most)),
        ..Lines::default()
    }
}

/// What the memory figure says.
pub fn memory_said(flow: &Flow, truncation: u32) -> String {
    let said = flow.networks.iter().map(|network| {
        let length = network.hidden.len() as u32;
        let piece = if truncation == 0 { length } else { truncation.min(length) };
        let numbers = network.stored * BATCH * piece;
        format!("{} {} × {BATCH} × {piece} = {numbers}", network.cell.label(), network.stored)
    });
    format!(
        "Numbers kept per step × sequences × steps, at most: {}.",
        said.collect::<Vec<_>>().join("; ")
    )
}

/// In which part of the sequence the RNN's gradient may have faded.
pub const FADES: [&str; 4] =
    ["In the last quarter of the steps", "In the middle half", "In the first quarter", "Nowhere"];
/// So small a share has faded.
pub const FADED: f64 = 1e-3;

/// Where that is on the way back from the last step, as one of [`FADES`]; for the check.
pub fn fades(flow: &Flow) -> Option<(usize, String)> {
    let norms = &flow.networks.iter().find(|network| network.cell == Cell::Rnn)?.hidden;
    let shares = divided(norms, Scale::Relative);
    let (last, _) = *shares.last()?;
    let below = shares.iter().rfind(|(_, share)| *share < FADED);
    let part = match below {
        Some((step, _)) if 4.0 * step > 3.0 * last => 0,
        Some((step, _)) if 4.0 * step > last => 1,
        Some(_) => 2,
        None => 3,
    };
    let said = match below {
        Some((step, share)) => {
            format!("step {step} of {last} is the first below 0.001: {}", power(*share))
        }
        None => "no step is below 0.001".to_owned(),
    };
    Some((part, format!("After {} training steps, {said}.", grouped(flow.step.into()))))
}

/// From so many steps on one can say which network has failed.
pub const ENOUGH: u32 = 1000;
/// By so much a network has to beat guessing before that counts.
const BETTER: f32 = 0.2;

/// Which network answers worst at the longest gap, and how each does; `None` before that can be said.
/// Where it is not just one that fails there, by more than the noise of the measurement, why this can't
/// be asked.
pub fn first_lost(flow: &Flow) -> Option<Result<(usize, String), &'static str>> {
    let (gap, last) = at_longest(flow).filter(|_| flow.accuracy.step >= ENOUGH)?;
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| last[a].total_cmp(&last[b]));
    let [least, next, best] = order.map(|cell| last[cell]);
    if best < flow.accuracy.chance + BETTER {
        return Some(Err("All three are still guessing at the longest gap."));
    }
    // A share of 64 sequences is off by about 0.06.
    if least > 0.5 || next < 0.6 || next - least < 0.25 {
        return Some(Err(
            "No clear answer this time: at the longest gap, either none of the three fails or more than one does.",
        ));
    }
    let said = Cell::ALL.iter().zip(&last);
    let said = said.map(|(cell, &share)| format!("{} {}", cell.label(), right(share)));
    Some(Ok((
        order[0],
        format!("Right answers at a gap of {gap}: {}.", said.collect::<Vec<_>>().join(", ")),
    )))
}

/// The main figure's title.
pub fn title(loss: LossKind) -> &'static str {
    match loss {
        LossKind::Last => "How much of the last step’s gradient reaches each step",
        LossKind::Every => "How much gradient reaches each step, with a loss at every step",
    }
}

/// A number of any size, short.
pub fn power(value: f64) -> String {
    if (1e-3..1e4).contains(&value.abs()) { format!("{value:.3}") } else { power_of_ten(value, 1) }
}

/// A setting's number without needless digits.
pub fn number(value: f32) -> String {
    ((f64::from(value) * 100.0).round() / 100.0).to_string()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_short() {
        let shown = [0.0, 3.01e-9, 0.0567, 2.7459, 12_345.0].map(power);
        assert_eq!(shown, ["0", "3·10⁻⁹", "0.057", "2.746", "1.2·10⁴"]);
        assert_eq!([1.0, 0.25, 1.1].map(number), ["1", "0.25", "1.1"]);
    }

    #[test]
    fn a_share_stands_in_a_sentence() {
        let said = [1.184, 0.67, 0.0051, 0.000_512, 3.01e-9, 1e-9, 1e-15, 0.0].map(amount);
        let wanted = [
            "1.18 times",
            "67% of",
            "about 5 parts in a thousand of",
            "about 510 parts in a million of",
            "about 3 parts in a billion of",
            "about 1 part in a billion of",
            "less than 1 part in a trillion of",
            "none of",
        ];
        assert_eq!(said, wanted);
    }

    /// An RNN alone, whose gradient has these lengths.
    pub fn flow(hidden: &[f32]) -> Flow {
        let network = Network {
            cell: Cell::Rnn,
            loss: 1.0,
            hidden: hidden.to_vec(),
            memory: None,
            kept: 1.0,
            stored: 1,
        };
        Flow {
            step: 0,
            loss: LossKind::Last,
            symbol_at: 1,
            networks: vec![network],
            radius: 1.0,
            rescaled: None,
            weights: unroll_protocol::study::bptt::Weights {
                cell: Cell::Rnn,
                whole: unroll_protocol::Array { shape: vec![0, 0], values: Vec::new() },
                norms: Vec::new(),
                terms: Vec::new(),
                from: 1,
                to: 1,
            },
            accuracy: Default::default(),
        }
    }

    #[test]
    fn a_curve_that_ends_is_said_to_end() {
        let of = |norms: &[f32]| seen("RNN".into(), Hue::Ink, norms, &flow(norms));
        assert_eq!(of(&[0.0, 0.0, 2.0]).note, "exactly 0 before step 3");
        let halved = of(&[0.5, 1.0, 2.0]);
        assert_eq!(halved.share, 0.25);
        assert_eq!((halved.amount().as_str(), halved.each), ("0.250", Some(0.5)));
        // Nothing at all: no step is left out, none is divided by.
        assert_eq!(of(&[0.0; 3]).share, 0.0);
        assert_eq!(arriving(&flow(&[0.5, 1.0, 2.0]), Cell::Rnn, false), Some(0.25));
        assert_eq!(arriving(&flow(&[0.5, 1.0, 2.0]), Cell::Lstm, true), None);
        // Where it has faded.
        let faded = |hidden: &[f32]| fades(&flow(hidden)).unwrap();
        assert_eq!(faded(&[0.5, 1.0, 2.0]).0, 3);
        assert_eq!(
            faded(&[0.0, 0.0, 0.001, 2.0]),
            (1, "After 0 training steps, step 3 of 4 is the first below 0.001: 5·10⁻⁴.".into())
        );
        assert_eq!(faded(&[0.0, 1.0, 1.0, 2.0]).0, 2);
    }
}
