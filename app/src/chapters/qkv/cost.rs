//! What it costs: the time of a recurrent layer and of an attention layer against length.

use leptos::prelude::*;
use unroll_protocol::study::qkv::{Cost, LENGTHS, WIDTH, ask};

use crate::{
    course::{use_lab, use_provenance},
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    questions::use_answer,
    reactive::{effect, memo},
};

/// What is measured: each length by both, in turn.
const ALL: usize = LENGTHS.len() * 2;
const LONGEST: u32 = LENGTHS[LENGTHS.len() - 1];
/// How often, one pass after the other: what slows the machine for a moment then slows one
/// measurement of each length at most, and the quickest counts.
const PASSES: usize = 3;
/// Measurements that may follow where a time can't be right.
const MOST_MORE: usize = 12;
/// A longer sequence that takes less than this share of a shorter one's time shows that the shorter
/// one's is wrong.
const FALLS: f32 = 0.95;

/// Twice the steps of a recurrent layer take about twice the time. At less than this many times, something has
/// slowed the shorter sequence.
const STEPS: f32 = 1.6;

/// Where measuring is.
#[derive(Clone, Copy, PartialEq)]
struct Measuring {
    /// Counts all measurements, so that none is taken for another.
    round: u32,
    /// Since it began, or began again.
    done: usize,
}

/// Which of the [`ALL`] is measured next, if any.
fn next(done: usize, costs: &[Cost]) -> Option<usize> {
    if done < PASSES * ALL {
        return Some(done % ALL);
    }
    (done < PASSES * ALL + MOST_MORE).then(|| too_slow(costs)).flatten()
}

/// One that took longer than what is twice as long did. Of the two longest that a recurrent layer reads, where its
/// steps are all that counts, it is also one that took nearly as long.
fn too_slow(costs: &[Cost]) -> Option<usize> {
    let is_wrong = |at: usize| {
        let (Some(one), Some(two)) = (costs.get(at), costs.get(at + 2)) else { return false };
        let least = if at + 4 == ALL { STEPS } else { FALLS };
        two.milliseconds < least * one.milliseconds
    };
    (0..costs.len()).find(|at| is_wrong(*at))
}

/// The view, which keeps in `costs` the quickest time of each length and layer.
pub fn view(costs: RwSignal<Vec<Cost>>) -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance();
    let measuring = RwSignal::new(Measuring { round: 1, done: 0 });
    // The quickest counts, for noise only ever makes one slower.
    costs.set(Vec::new());
    // The costs change before the measuring goes on.
    let at = memo(move || costs.with_untracked(|costs| next(measuring.get().done, costs)));
    let wanted = move |at: usize| (LENGTHS[at / 2], at % 2 == 1);
    let answered = use_answer(lab, move || {
        let (length, attention) = wanted(at.get()?);
        let round = measuring.get().round;
        lab.started.with(Option::is_some).then_some(ask::Cost { length, attention, round })
    });
    effect(move || {
        let Some(cost) = answered.answer.get() else { return };
        let Measuring { round, done } = measuring.get_untracked();
        let Some(at) = at.get_untracked() else { return };
        if cost.round == round && wanted(at) == (cost.length, cost.attention) {
            costs.update(|costs| match costs.get_mut(at) {
                Some(before) if before.milliseconds <= cost.milliseconds => {}
                Some(before) => *before = *cost,
                None => costs.push(*cost),
            });
            measuring.set(Measuring { round: round + 1, done: done + 1 });
        }
    });
    let again = move |_| {
        measuring.update(|now| *now = Measuring { round: now.round + 1, done: 0 });
    };
    // All of them once it is finished.
    let count = move || match at.get() {
        Some(_) => measuring.get().done.min(ALL - 1),
        None => ALL,
    };
    let lines = Signal::derive(move || costs.with(|costs| curves(costs)));
    view! {
        <div class="view-bar qkv-bar">
            <p>"One layer of each, "{WIDTH}" units wide, timed now on this machine."</p>
            <button type="button" class="button" data-testid="qkv-cost-again" on:click=again>"Measure again"</button>
        </div>
        <div class="view-split qkv-lines">
            <div>
                <LinesFigure name="qkv-waits" title="Steps that wait" lines=Signal::stored(waits()) provenance/>
            </div>
            <div>
                <LinesFigure name="qkv-cost" title="Milliseconds to read T vectors" lines provenance hint="Measuring …"/>
            </div>
        </div>
        <p class="view-note qkv-verdict" data-testid="qkv-cost" data-count=move || count().to_string()>
            {move || {
                let done = at.get().map(|_| measuring.get().done);
                costs.with(|costs| verdict(costs, done))
            }}
        </p>
        <p class="field-error" role="alert">{move || answered.problem.get()}</p>
    }
    .into_any()
}

fn curves(costs: &[Cost]) -> Lines {
    both("ms", |attention| {
        let costs = costs.iter().filter(|cost| cost.attention == attention);
        costs.map(|cost| (f64::from(cost.length), f64::from(cost.milliseconds))).collect()
    })
}

/// What no faster chip takes away: counted, not measured.
fn waits() -> Lines {
    both("steps, one after another", |attention| {
        let steps = |length: f64| if attention { 1.0 } else { length };
        LENGTHS.map(f64::from).map(|length| (length, steps(length))).to_vec()
    })
}

/// A line for each layer, against the length.
fn both(y_label: &str, points: impl Fn(bool) -> Vec<(f64, f64)>) -> Lines {
    Lines {
        x_label: "T".into(),
        y_label: y_label.into(),
        series: vec![
            Line::new("recurrent", Hue::First, Dash::Solid, points(false)),
            Line::new("attention", Hue::Second, Dash::Dashed, points(true)),
        ],
        x_range: Some((0.0, f64::from(LONGEST))),
        ..Lines::default()
    }
}

/// The milliseconds that one of the layers took, once they are measured.
fn time(costs: &[Cost], length: u32, attention: bool) -> Option<f32> {
    let found = costs.iter().find(|c| (c.length, c.attention) == (length, attention));
    found.map(|cost| cost.milliseconds)
}

/// Whether attention takes longer at the longest text, once both are measured.
pub fn is_attention_slower(costs: &[Cost]) -> Option<bool> {
    Some(time(costs, LONGEST, true)? > time(costs, LONGEST, false)?)
}

/// Which of the two layers is quicker at the longest text, and why, once both are measured.
pub fn quicker(costs: &[Cost]) -> Option<&'static str> {
    Some(if is_attention_slower(costs)? {
        "On this processor attention loses at the longest text: it needs many more products, and one core does only a \
         few at a time. On a GPU it may win."
    } else {
        "On this processor attention wins even at the longest text: all its sums take less time than so many steps \
         one after another."
    })
}

/// What the times say, in words; or how many are `done`, while it measures.
fn verdict(costs: &[Cost], done: Option<usize>) -> String {
    match done {
        Some(done) if done < PASSES * ALL => {
            let (pass, done) = (done / ALL + 1, done % ALL);
            return format!(
                "Round {pass} of {PASSES}: {done} of {ALL} measured. The fastest result counts."
            );
        }
        Some(_) => return "Measuring once more what took too long.".to_owned(),
        None => {}
    }
    let time = |length, attention| time(costs, length, attention).map_or(f64::NAN, f64::from);
    let (half, full) = (LENGTHS[LENGTHS.len() - 2], LONGEST);
    let grows = |attention| time(full, attention) / time(half, attention);
    if [false, true].into_iter().any(|attention| grows(attention) < f64::from(FALLS)) {
        return "This machine is busy: the longest sequence seems to take less time than one of half its length. \
                Measure again when it has less to do."
            .to_owned();
    }
    let quicker = LENGTHS.iter().rev().find(|length| time(**length, true) < time(**length, false));
    let who = match quicker {
        Some(length) if *length == full => {
            format!("Here attention is quicker up to T = {full}, and perhaps beyond.")
        }
        Some(length) => format!("Here attention is quicker up to T = {length}."),
        None => "Here attention is never quicker.".to_owned(),
    };
    format!(
        "From T = {half} to {full} the recurrent layer takes {:.1} times as long, {:.2} ms, and attention {:.1} times, \
         {:.2} ms. The first has twice the steps, the second four times the scores. {who} A GPU does thousands of sums at \
         once, so there the steps that must wait for each other cost far more.",
        grows(false),
        time(full, false),
        grows(true),
        time(full, true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(milliseconds: &[f32]) -> Vec<Cost> {
        let cost = |(at, &milliseconds): (usize, &f32)| Cost {
            length: LENGTHS[at / 2],
            attention: at % 2 == 1,
            round: 1,
            milliseconds,
            runs: 1,
        };
        milliseconds.iter().enumerate().map(cost).collect()
    }

    #[test]
    fn what_took_too_long_is_measured_again() {
        // Recurrent and attention, each at two lengths.
        let right = costs(&[1.0, 2.0, 2.0, 1.95]);
        let wrong = costs(&[4.0, 2.0, 0.5, 8.0]);
        assert_eq!((too_slow(&right), too_slow(&wrong)), (None, Some(0)));
        assert_eq!(next(0, &[]), Some(0));
        assert_eq!(next(ALL + 3, &wrong), Some(3), "pass after pass");
        assert_eq!((next(PASSES * ALL, &right), next(PASSES * ALL, &wrong)), (None, Some(0)));
        assert_eq!(next(PASSES * ALL + MOST_MORE, &wrong), None, "not for ever");
        // The recurrent layer at half the longest length, and at the longest.
        let longest = |half: f32, whole: f32| {
            let times = [&[1.0; ALL - 4][..], &[half, 1.0, whole, 1.0]].concat();
            too_slow(&costs(&times))
        };
        assert_eq!((longest(1.0, 2.0), longest(1.5, 2.0)), (None, Some(ALL - 4)));
        let said = |longest: f32| {
            let times = (0..ALL).map(|at| if at == ALL - 2 { longest } else { (at + 1) as f32 });
            verdict(&costs(&times.collect::<Vec<_>>()), None)
        };
        assert!(said(22.0).contains("the recurrent layer takes 2.0 times as long, 22.00 ms"));
        assert!(said(1.0).starts_with("This machine is busy"));
        assert!(verdict(&right, Some(ALL + 3)).starts_with("Round 2 of 3: 3 of 14 measured."));
    }
}
