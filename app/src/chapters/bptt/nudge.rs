//! The experiment on one number of the state: nudged by hand, and what backpropagation says of it.

use leptos::prelude::*;
use unroll_protocol::study::bptt::{Cell, Nudged, Settings};

use super::{Shown, curves, said as words};
use crate::{
    controls::{ChoiceField, SliderField},
    course::use_right,
    figures::{Across, ColumnStrip, Matrix, MatrixFigure, ValueMap, percent, power_of_ten, short},
    reactive::memo,
    teaching::CheckYourself,
};

/// Decimals of the losses. More would be noise: they come from 32-bit logits.
const DECIMALS: usize = 7;
/// A difference below this would have too few of them.
const FEW_DIGITS: f64 = 1e-4;
/// One below this is a power of ten.
const TINY: f64 = 1e-6;
/// Two slopes that differ by less agree.
const AGREES: f64 = 0.05;
/// The beat that explains what a slope is.
const SLOPES: u32 = 1;
/// Where the squares' colors end: four powers of ten. Further down, a small nudge's ripple is lost in the
/// rounding of 32-bit states.
const LEAST: f32 = 1e-4;
/// Height of the letters above the squares, in CSS pixels.
const LETTERS: f64 = 20.0;

/// The ripple that a nudge sends to the last step, and what it does to the loss.
pub fn view(shown: Shown, problem: Signal<Option<String>>) -> AnyView {
    let chosen = |nudged: &Nudged| {
        (nudged.unit.saturating_sub(1) as usize, nudged.step.saturating_sub(1) as usize)
    };
    let marked = shown.nudged(move |nudged, _| vec![chosen(nudged)]);
    let row = shown.nudged(move |nudged, _| Some(chosen(nudged).0));
    let column = shown.nudged(move |nudged, _| Some(chosen(nudged).1));
    let pick = Callback::new(move |(unit, step): (usize, usize)| {
        shown.store.link.update(|link| {
            link.bptt.unit = unit as u32 + 1;
            link.bptt.step = step as u32 + 1;
        });
    });
    let describe = Callback::new(move |(unit, step, change): (usize, usize, f32)| {
        let nudged = shown.nudge.get().filter(|nudged| chosen(nudged) == (unit, step));
        if let Some(nudged) = nudged {
            return match is_told(shown, &nudged) {
                true => in_a_line(&nudged),
                false => format!("Unit {}, step {}: {TOO_LITTLE}", unit + 1, step + 1),
            };
        }
        if change.is_nan() {
            return format!("Step {}: before the nudge", step + 1);
        }
        // The square shows its size alone.
        let signed = shown.nudge.get().and_then(|nudged| moved(&nudged, unit, step));
        format!("Unit {}, step {}: {}", unit + 1, step + 1, short(signed.unwrap_or(change).into()))
    });
    let title = shown.nudged(|nudged, _| {
        let Nudged { cell, unit, step, .. } = nudged;
        format!("Nudge to unit {unit} at step {step} of the {}", cell.label())
    });
    view! {
        <div class="view-fill bptt-room">
            <div class="view-bar bptt-bar">
                <ChoiceField name="bptt-cell"/>
                <SliderField name="bptt-nudge" log=true/>
                <p class="view-note">"Press a square to nudge that unit at that step."</p>
            </div>
            <p class="field-error" role="alert" data-testid="bptt-nudge-problem">{problem}</p>
            <p class="field-error" role="status" data-testid="bptt-nudge-missing">
                {shown.nudged(|_, settings| missing(settings))}
            </p>
            <p class="bptt-reaches" data-testid="bptt-reaches">{shown.nudged(|nudged, _| reaches(nudged))}</p>
            <div class="view-side has-aside bptt-side">
                <MatrixFigure
                    name="bptt-ripple"
                    title
                    matrix=shown.nudged(|nudged, _| ripple(nudged))
                    provenance=shown.provenance
                    describe
                    marked
                    row
                    column
                    on_pick=pick
                    above=letters(shown)
                />
                <div class="bptt-beside" tabindex="0" role="region" aria-label="What the nudge does to the loss">
                    {worked(shown)}
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// Which step or unit of the link the networks lack.
fn missing(settings: &Settings) -> Option<String> {
    let &Settings { step, length, unit, hidden, .. } = settings;
    if step > length {
        return Some(format!(
            "There is no step {step} in a sequence of {length}: the last one is nudged."
        ));
    }
    (unit > hidden).then(|| {
        format!("There is no unit {unit} in networks of {hidden} units: the last one is nudged.")
    })
}

fn units(nudged: &Nudged) -> usize {
    nudged.ripple.shape.last().copied().unwrap_or_default() as usize
}

/// How far a unit has moved at a step, both from 0, divided by the nudge. Before the nudge nothing can move.
fn moved(nudged: &Nudged, unit: usize, step: usize) -> Option<f32> {
    let later = step.checked_sub(nudged.step.saturating_sub(1) as usize)?;
    nudged.ripple.values.get(later * units(nudged) + unit).copied()
}

/// Whether the ripple is still there at the “?”, in words: it is where its squares have a color.
fn reaches(nudged: &Nudged) -> String {
    if nudged.step == nudged.length() {
        return "This nudge is at the “?” itself.".into();
    }
    let last = nudged.ripple.values.chunks(units(nudged).max(1)).last().unwrap_or_default();
    let most = last.iter().fold(0.0, |most: f32, moved| most.max(moved.abs()));
    let share = f64::from(most);
    let size = match most {
        _ if most < LEAST => format!("less than {} of", percent(LEAST, 2)),
        _ if most < 0.01 => format!("up to {} of", percent(most, 2)),
        _ => format!("up to {}", curves::amount(share)),
    };
    let ending = match share {
        _ if most < LEAST => "it does not arrive",
        _ if share < words::FAINT => "it arrives, but faintly",
        _ if share <= words::GROWN => "it arrives",
        _ => "it arrives, and has grown",
    };
    format!("At the “?”, the ripple is {size} the nudge: {ending}.")
}

/// The size of the ripple along the whole sequence.
fn ripple(nudged: &Nudged) -> Matrix {
    let (units, steps) = (units(nudged), nudged.length() as usize);
    let value = |(unit, step)| moved(nudged, unit, step).map_or(f32::NAN, f32::abs);
    let values = (0..units).flat_map(|unit| (0..steps).map(move |step| (unit, step)));
    Matrix {
        row_axis: "unit".into(),
        column_axis: "step".into(),
        rows: (1..=units).map(|unit| unit.to_string()).collect(),
        columns: (1..=steps).map(|step| step.to_string()).collect(),
        values: values.map(value).collect(),
        map: ValueMap::Factors { least: LEAST, most: 1.0 },
        value_name: "size of change ÷ nudge (powers of ten)".into(),
        absent: "before the nudge".into(),
    }
}

/// What a nudge does whose slope is not told.
const TOO_LITTLE: &str = "this nudge changes the loss at the “?” by too little to measure.";

/// Whether the change of the loss stands out from rounding.
fn is_measured(nudged: &Nudged) -> bool {
    let swept = nudged.swept(nudged.step).unwrap_or_default();
    nudged.measured().abs().max(swept.abs()) >= nudged.rounding
}

/// Whether its numbers are told: before slopes are explained, numbers that are mere rounding would only puzzle.
fn is_told(shown: Shown, nudged: &Nudged) -> bool {
    is_measured(nudged) || shown.store.link.with(|link| link.idea >= SLOPES)
}

/// From the two losses to the slope, line by line, and backpropagation's number below.
fn worked(shown: Shown) -> AnyView {
    let read = shown.nudged(|nudged, _| Some(nudged.clone()));
    let lines = move || {
        let nudged = read.get()?;
        let swept = nudged.swept(nudged.step)?;
        if !is_told(shown, &nudged) {
            let said = format!("At step {}, {TOO_LITTLE}", nudged.step);
            return Some(view! { <p data-testid="bptt-too-little">{said}</p> }.into_any());
        }
        let [before, after, change] = losses(&nudged);
        let lines = [
            ("Loss without the nudge", before, None),
            ("Loss with the nudge", after, None),
            ("Difference", change, None),
            (
                "Measured slope",
                slope(nudged.measured()),
                Some(("bptt-measured", nudged.measured())),
            ),
            ("By backpropagation", slope(swept), Some(("bptt-swept", swept))),
        ];
        let line = |(name, value, of): (&'static str, String, Option<(&'static str, f64)>)| {
            let (id, exact) = of.unzip();
            view! {
                <div><dt>{name}</dt>
                    <dd data-testid=id data-value=exact.map(|exact| format!("{exact:e}"))>{value}</dd></div>
            }
        };
        let lines = lines.into_iter().map(line).collect_view();
        let divided = format!(
            "The measured slope is the difference divided by the nudge, {}.",
            size(&nudged)
        );
        let of_cell = (nudged.cell == Cell::Lstm)
            .then_some("In the LSTM, h is nudged. The cell c is left as it is.");
        Some(view! {
            <dl class="bptt-sums" data-testid="bptt-nudged" data-unit=nudged.unit data-step=nudged.step
                data-nudge=size(&nudged)>
                {lines}
            </dl>
            <p class="view-note">{divided}" "{of_cell}</p>
            <p data-testid="bptt-nudge-said">{said(&nudged)}</p>
        }
        .into_any())
    };
    view! {
        <p class="view-note">"This is the loss at the “?” of one held-out sequence:"</p>
        {example(shown)}
        {lines}
    }
    .into_any()
}

/// The held-out sequence that is nudged: its tokens, the step of the letter, and the answer.
fn sequence(shown: Shown) -> Memo<Option<(Vec<String>, usize, String)>> {
    memo(move || {
        let nudged = shown.nudge.get()?;
        let token = |id: u32| {
            shown.lab.started.with(|started| started.as_ref()?.vocabulary.get(id as usize).cloned())
        };
        let tokens = nudged.ids.iter().map(|id| token(*id)).collect::<Option<Vec<_>>>()?;
        Some((tokens, nudged.symbol_at as usize, token(nudged.answer)?))
    })
}

/// What is read at each step, in line with its squares: the letter stands out, and a frame is around the “?”
/// and its squares, where the loss is.
fn letters(shown: Shown) -> ColumnStrip {
    let row = sequence(shown);
    ColumnStrip::new(LETTERS, move |across| {
        let style = move || {
            let across = across.get();
            format!("left:{:.1}px;width:{:.1}px", across.left, across.cell * across.count as f64)
        };
        let asked = move || {
            let Across { left, cell, count, .. } = across.get();
            format!("left:{:.1}px;width:{cell:.1}px", left + cell * count.saturating_sub(1) as f64)
        };
        let tokens = move || {
            let (tokens, letter, _) = row.get()?;
            let last = tokens.len();
            let token = |(token, step): (String, usize)| {
                view! { <span class:bptt-letter=step == letter class:bptt-asked=step == last>{token}</span> }
            };
            Some(tokens.into_iter().zip(1..).map(token).collect_view())
        };
        view! {
            <div class="bptt-letters" aria-hidden="true" translate="no" style=style>{tokens}</div>
            <i class="bptt-question" aria-hidden="true" style=asked></i>
        }
        .into_any()
    })
}

/// The same in a line, with its answer.
pub fn example(shown: Shown) -> AnyView {
    let row = sequence(shown);
    let tokens = move || {
        let (tokens, letter, answer) = row.get()?;
        let last = tokens.len();
        let token = |(token, step): (String, usize)| match step == letter || step == last {
            true => view! { <b>{token}</b>" " }.into_any(),
            false => view! { {token}" " }.into_any(),
        };
        let tokens = tokens.into_iter().zip(1..).map(token).collect_view();
        Some(view! { {tokens}"→ "<b>{answer}</b> })
    };
    view! { <p class="bptt-example" translate="no" data-testid="bptt-example">{tokens}</p> }
        .into_any()
}

/// The loss without the nudge, that with it, and their difference: right to the last digit on show or,
/// where that would leave it too few digits to divide, with digits of its own.
fn losses(nudged: &Nudged) -> [String; 3] {
    let one = 10f64.powi(DECIMALS as i32);
    let [before, after] = [nudged.before, nudged.after].map(|loss| (loss * one).round() / one);
    let exact = nudged.after - nudged.before;
    let change = match exact.abs() {
        size if size >= FEW_DIGITS || exact == 0.0 => format!("{:+.DECIMALS$}", after - before),
        size if size >= TINY => format!("{exact:+.places$}", places = three_digits(size)),
        _ if exact > 0.0 => format!("+{}", slope(exact)),
        _ => slope(exact),
    };
    let change = change.replace('-', "−");
    [format!("{before:.DECIMALS$}"), format!("{after:.DECIMALS$}"), change]
}

/// How large the nudge is, without the noise of 32 bits.
fn size(nudged: &Nudged) -> String {
    short((nudged.size * 1e4).round() / 1e4)
}

/// The slope that is measured, as the beat works it out.
fn in_a_line(nudged: &Nudged) -> String {
    let [_, _, change] = losses(nudged);
    format!("Loss change {change} ÷ {} = slope {}", size(nudged), slope(nudged.measured()))
}

/// How many decimals leave a number of this size three digits.
fn three_digits(size: f64) -> usize {
    (2.0 - size.log10().floor()).max(0.0) as usize
}

/// A slope of any size, to three digits.
fn slope(value: f64) -> String {
    let text = match value.abs() {
        size if (1e-4..1e4).contains(&size) => {
            format!("{value:.places$}", places = three_digits(size))
        }
        _ => power_of_ten(value, 2),
    };
    text.replacen('-', "−", 1)
}

/// Whether the measured slope is that of backpropagation, and if not, why.
fn said(nudged: &Nudged) -> String {
    let (measured, swept) = (nudged.measured(), nudged.swept(nudged.step).unwrap_or_default());
    let (off, size) = ((measured - swept).abs(), measured.abs().max(swept.abs()));
    if nudged.cut {
        return "Truncation cuts the way back between the last step and this one. So backpropagation’s number \
                is 0. The nudge does not know of the cut."
            .into();
    }
    if !is_measured(nudged) {
        return "This slope is too small to measure. The change of the loss is lost in the rounding of 32-bit \
                numbers. Backpropagation still finds it: it multiplies small factors and does not subtract two \
                losses."
            .into();
    }
    let differ = match 100.0 * off / size {
        share if share < 0.1 => "The two slopes differ by less than 0.1%.".to_owned(),
        share => format!("The two slopes differ by {share:.1}%."),
    };
    let why = match off / size {
        share if share < AGREES => "They agree.",
        _ if off < 3.0 * nudged.rounding => {
            "Rounding blurs so small a change of the loss. A larger nudge may help here."
        }
        _ => {
            "The nudge is too large. The loss follows a curve, and over so long a way it leaves the straight line. A \
             smaller nudge comes closer."
        }
    };
    format!("{differ} {why}")
}

/// Another step to nudge: in the middle of the gap, or else of its second half, or else the symbol’s.
fn elsewhere(nudged: &Nudged) -> u32 {
    let Nudged { step, symbol_at, .. } = *nudged;
    let middle = u32::midpoint(symbol_at, nudged.length());
    let late = u32::midpoint(middle, nudged.length());
    [middle, late].into_iter().find(|other| *other != step).unwrap_or(symbol_at)
}

/// What the same nudge does at another step: more, less, or about as much; and the two slopes.
fn compared(nudged: &Nudged) -> Option<(usize, String)> {
    let other = elsewhere(nudged);
    let (now, then) = (nudged.swept(nudged.step)?, nudged.swept(other)?);
    let answer = if then.abs() > 1.25 * now.abs() {
        0
    } else if then.abs() < 0.8 * now.abs() {
        1
    } else {
        2
    };
    let (step, unit, cell) = (nudged.step, nudged.unit, nudged.cell.label());
    let said = format!(
        "Unit {unit} of the {cell} has the slope {} at step {step}, and {} at step {other}. Only the size counts \
         here, not the sign: the larger slope changes the loss more.",
        slope(now),
        slope(then)
    );
    Some((answer, said))
}

/// How much a nudge does at another step, guessed first.
pub fn another_step(shown: Shown) -> AnyView {
    let read = shown.nudged(|nudged, _| compared(nudged));
    let question = shown.nudged(|nudged, _| {
        format!(
            "The nudge is at step {} now, and the loss at step {}. Nudge the same unit at step {} instead. \
             Does the loss change more or less?",
            nudged.step,
            nudged.length(),
            elsewhere(nudged)
        )
    });
    view! {
        <CheckYourself
            id="bptt-nudge"
            question
            options=Signal::stored(["More", "Less", "About as much"].map(str::to_owned).to_vec())
            answer=Signal::derive(move || read.get().map(|read| read.0))
            explain=Signal::derive(move || read.get().map_or(String::new(), |read| read.1))
            on_right=use_right("bptt-nudge")
        />
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    /// Two units, three steps; unit 2 is nudged by 0.01 at step 2.
    fn nudged(after: f64, swept: f32) -> Nudged {
        Nudged {
            trained: 50,
            cell: Cell::Rnn,
            step: 2,
            unit: 2,
            symbol_at: 1,
            size: 0.01,
            before: 2.5,
            after,
            rounding: 1e-5,
            ripple: Array { shape: vec![2, 2], values: vec![0.0, 1.0, -0.5, 0.25] },
            sweep: Array { shape: vec![3, 2], values: vec![0.0, 0.0, 0.0, swept, 0.0, 0.4] },
            ids: Vec::new(),
            answer: 0,
            cut: false,
        }
    }

    #[test]
    fn the_ripple_begins_at_the_nudge() {
        let matrix = ripple(&nudged(2.501, 0.1));
        assert_eq!(matrix.shape(), (2, 3));
        assert!((0..2).all(|unit| matrix.value(unit, 0).is_nan()), "nothing can move before");
        assert_eq!((matrix.value(1, 1), matrix.value(0, 2), matrix.value(1, 2)), (1.0, 0.5, 0.25));
        assert_eq!(moved(&nudged(2.501, 0.1), 0, 2), Some(-0.5), "its sign is read");
        assert_eq!(matrix.map.ticks(), ["10⁻⁴", "0.001", "0.01", "0.1", "1"]);
    }

    #[test]
    fn it_is_said_whether_the_ripple_arrives() {
        let says = |last: [f32; 2]| {
            let mut nudged = nudged(2.501, 0.1);
            nudged.ripple.values[2..].copy_from_slice(&last);
            reaches(&nudged)
        };
        assert_eq!(
            says([-0.5, 0.25]),
            "At the “?”, the ripple is up to 50% of the nudge: it arrives."
        );
        assert!(says([0.0, -0.02]).ends_with("up to 2% of the nudge: it arrives, but faintly."));
        let least = "less than 0.01% of the nudge: it does not arrive.";
        assert!([[0.0; 2], [9e-5, 0.0]].map(says).iter().all(|said| said.ends_with(least)));
        assert!(
            says([9.2e-4, 0.0]).ends_with("up to 0.09% of the nudge: it arrives, but faintly.")
        );
        assert!(says([3.0, 0.0]).contains("3.00 times the nudge: it arrives, and has grown."));
        let at_last = Nudged { step: 3, ..nudged(2.501, 0.1) };
        assert_eq!(reaches(&at_last), "This nudge is at the “?” itself.");
    }

    #[test]
    fn the_difference_is_that_of_the_losses_on_show() {
        assert_eq!(losses(&nudged(2.499_2, 0.1)), ["2.5000000", "2.4992000", "−0.0008000"]);
        let line = in_a_line(&nudged(2.499_2, 0.1));
        assert_eq!(line, "Loss change −0.0008000 ÷ 0.01 = slope −0.0800");
        let shown = [0.0, -0.008_671, 0.5, 12.34, -2.0e-6].map(slope);
        assert_eq!(shown, ["0", "−0.00867", "0.500", "12.3", "−2·10⁻⁶"]);
        // With the digits that the division needs.
        assert_eq!(
            in_a_line(&nudged(2.5 - 2.16e-6, 0.1)),
            "Loss change −0.00000216 ÷ 0.01 = slope −0.000216"
        );
        let tiny = Nudged { before: 0.0, ..nudged(-1.65e-8, 0.1) };
        assert_eq!(in_a_line(&tiny), "Loss change −1.65·10⁻⁸ ÷ 0.01 = slope −1.65·10⁻⁶");
    }

    #[test]
    fn agreement_is_said_and_so_is_why_there_is_none() {
        let says = |nudged: &Nudged, part: &str| {
            let said = said(nudged);
            assert!(said.contains(part), "{said}");
        };
        says(&nudged(2.501, 0.1), "They agree");
        says(&nudged(2.502, 0.1), "leaves the straight line");
        says(&nudged(2.500_000_5, 0.000_06), "blurs");
        says(&nudged(2.5, 1e-9), "too small to measure");
        assert!(!is_measured(&nudged(2.5, 1e-9)) && is_measured(&nudged(2.501, 0.1)));
        says(&Nudged { cut: true, ..nudged(2.501, 0.0) }, "Truncation");
    }

    #[test]
    fn another_step_is_compared() {
        // The middle of the gap is where the nudge is, and the middle of its second half too.
        assert_eq!(elsewhere(&nudged(2.501, 0.1)), 1);
        assert_eq!(compared(&nudged(2.501, 0.1)).unwrap().0, 1);
        assert_eq!(compared(&nudged(2.501, 0.0)).unwrap().0, 2, "no slope at either");
        let late = |swept| Nudged { step: 3, ..nudged(2.504, swept) };
        assert_eq!(compared(&late(0.1)).unwrap().0, 1);
        assert_eq!(compared(&late(0.9)).unwrap().0, 0);
    }
}
