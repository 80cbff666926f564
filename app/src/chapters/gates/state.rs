//! What the chapter's parts share: its questions to the model, and what is looked at.

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    study::gates::{
        CellChoice, Followed, Forced, MOST_FORCED, Quantity, Seen, Sentence, SentenceChoice, Sums,
        TaskChoice, Units, ask,
    },
};

use crate::{
    course::{Lab, use_lab, use_task_provenance},
    figures::{Provenance, decimals},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
};

/// `Copy`: signals owned by the chapter's view.
#[derive(Clone, Copy)]
pub struct Gates {
    pub store: Store,
    pub lab: Lab,
    pub seen: Answered<Seen>,
    pub sums: Answered<Sums>,
    pub units: Answered<Units>,
    /// The keeper of every unit, whatever is drawn: beats speak of it before they draw it.
    pub keeps: Answered<Seen>,
    /// Whether the units are ranked as they are now, rather than before the first steps.
    pub settled: Memo<bool>,
    pub sentence: Memo<Sentence>,
    pub is_drawn: Memo<bool>,
    pub cell: Memo<CellChoice>,
    pub task: Memo<TaskChoice>,
    /// What is drawn, as the cell has it.
    pub shown: Memo<Quantity>,
    /// The unit looked at, from 0.
    pub unit: Memo<usize>,
    /// The step that is pinned, from 0.
    pub at: Memo<Option<usize>>,
    /// The step of the circuit, from 0: the one that is pinned, or else an early one.
    pub step: Memo<Option<usize>>,
    pub edit: Memo<bool>,
    pub forced: Memo<Vec<Forced>>,
    pub provenance: Signal<Provenance>,
}

/// The step of the circuit while none is pinned, from 0: something has been written by then.
const FIRST_STEP: usize = 4;

impl Gates {
    pub fn new() -> Self {
        let (store, lab) = (expect_context::<Store>(), use_lab());
        let link = store.link;
        let is_drawn = memo(move || link.with(|l| l.gates.sentence == SentenceChoice::Drawn));
        let sentence = memo(move || {
            // Where it is not read, typing must not ask again.
            let written = if is_drawn.get() { String::new() } else { store.probe.get() };
            link.with(|l| l.gates.read(&written))
        });
        let cell = memo(move || link.with(|l| l.gates.cell));
        let task = memo(move || link.with(|l| l.gates.task));
        let shown = memo(move || link.with(|l| l.gates.shown.of(l.gates.cell)));
        let forced = memo(move || link.with(|l| l.gates.forced.clone()));
        let seen = use_answer(lab, move || {
            Some(ask::Seen {
                sentence: sentence.get(),
                quantity: shown.get(),
                forced: forced.get(),
            })
        })
        .shown_in(lab.on_view("units"))
        .shown_in(lab.on_view("circuit"))
        .shown_in(lab.on_view("counts"))
        .shown_in(lab.on_view("answers"));
        // Until the first steps are done nobody can read a ranking, and asking would delay them.
        let settled = memo(move || {
            lab.step.get() >= super::INFO.warm_steps || lab.state.get() == RunState::Paused
        });
        // Other views mark a unit, the first of the ranking while none is chosen, or say how well that one
        // follows whose cell is pressed.
        let ranks = memo(move || {
            let stage = lab.stage.get();
            let (is_first, is_pressed) =
                link.with(|l| (l.gates.unit.min(l.gates.units) == 0, l.gates.at > 0));
            (is_first && ["units", "circuit", "answers"].contains(&stage))
                || (is_pressed && stage == "units")
        });
        let units = use_answer(lab, move || settled.get().then_some(ask::Units {}))
            .shown_in(ranks)
            .shown_in(lab.on_view("counts"))
            .shown_in(lab.on_view("memory"))
            .shown_in(lab.check_seen);
        let keeps = use_answer(lab, move || {
            Some(ask::Seen {
                sentence: sentence.get(),
                quantity: Quantity::Forget.of(cell.get()),
                forced: forced.get(),
            })
        })
        .shown_in(memo(move || link.with(|l| matches!(l.idea, 0..=3 | 6))));
        let unit = memo(move || {
            let chosen = link.with(|l| l.gates.unit.min(l.gates.units));
            match chosen.checked_sub(1) {
                Some(unit) => unit as usize,
                None => {
                    units.read(|units| ranking(units).first().map(|r| r.0)).flatten().unwrap_or(0)
                }
            }
        });
        let at = memo(move || link.with(|l| l.gates.at.checked_sub(1).map(|at| at as usize)));
        let step = memo(move || {
            let length = seen.read(|seen| seen.tokens.len());
            at.get().or_else(|| length?.checked_sub(1).map(|last| last.min(FIRST_STEP)))
        });
        let in_circuit = lab.on_view("circuit");
        let sums = use_answer(lab, move || {
            let at = if in_circuit.get() { step.get() } else { at.get() };
            let (unit, at) = (unit.get() as u32, at? as u32);
            Some(ask::Sums { sentence: sentence.get(), forced: forced.get(), unit, at })
        })
        .shown_in(lab.on_view("units"))
        .shown_in(in_circuit);
        let provenance = use_task_provenance(move || {
            let task = task.get();
            (task != TaskChoice::Text).then(|| task.label())
        });
        let edit = memo(move || link.with(|l| l.gates.edit));
        Self {
            store,
            lab,
            seen,
            sums,
            units,
            keeps,
            settled,
            sentence,
            is_drawn,
            cell,
            task,
            shown,
            unit,
            at,
            step,
            edit,
            forced,
            provenance,
        }
    }

    /// Something of the figure's answer. Tracks it.
    pub fn seen<R>(self, read: impl FnOnce(&Seen) -> R) -> Option<R> {
        self.seen.read(read)
    }

    /// Something of the units' answer. Tracks it.
    pub fn units<R>(self, read: impl FnOnce(&Units) -> R) -> Option<R> {
        self.units.read(read)
    }

    /// What `unit` follows, and how closely over the characters on show: nothing where that never changes
    /// there. Tracks it.
    pub fn follows_here(self, unit: usize) -> Option<(Followed, f32)> {
        let asked = self.units(|units| units.follows.first().map(|(what, _)| *what)).flatten();
        self.seen(|seen| {
            let mut followed = seen.followed.iter();
            let (what, track) = followed.find(|(what, _)| asked.is_none_or(|a| a == *what))?;
            Some((*what, correlation(seen.memory.block(&[unit])?, track)?))
        })
        .flatten()
    }

    /// Something of the arithmetic. Tracks it.
    pub fn sums<R>(self, read: impl FnOnce(&Sums) -> R) -> Option<R> {
        self.sums.read(read)
    }

    /// Whether the model stands still.
    pub fn is_still(self) -> bool {
        self.lab.state.get() == RunState::Paused && self.lab.step.get() > 0
    }

    /// Looks at a unit, from 0.
    pub fn choose_unit(self, unit: usize) {
        self.store.link.update(|l| l.gates.unit = unit as u32 + 1);
    }

    /// Pins a cell, or lets go of it if it is pinned.
    pub fn pin(self, unit: usize, at: usize) {
        let pinned = self.at.get_untracked() == Some(at) && self.unit.get_untracked() == unit;
        self.store.link.update(|l| {
            l.gates.unit = unit as u32 + 1;
            l.gates.at = if pinned { 0 } else { at as u32 + 1 };
        });
    }

    /// Holds a gate, or lets go of it if it is held just so. The oldest one gives way to the ninth.
    pub fn hold(self, held: Forced) {
        self.store.link.update(|l| {
            let list = &mut l.gates.forced;
            let was = list.contains(&held);
            list.retain(|other| (other.gate, other.unit) != (held.gate, held.unit));
            if !was {
                list.push(held);
                let excess = list.len().saturating_sub(MOST_FORCED);
                list.drain(..excess);
            }
        });
    }

    /// What plays the part of the memory's keeper: f, or a GRU's z.
    pub fn keeper(self) -> Quantity {
        Quantity::Forget.of(self.cell.get())
    }
}

/// Pearson's correlation; none if `y` does not vary, and 0 if only `x` does not.
fn correlation(x: &[f32], y: &[f32]) -> Option<f32> {
    let mean = |values: &[f32]| {
        values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64
    };
    let (mx, my) = (mean(x), mean(y));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (&x, &y) in x.iter().zip(y) {
        let (x, y) = (f64::from(x) - mx, f64::from(y) - my);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    let scale = (xx * yy).sqrt();
    (yy > 1e-12).then(|| if scale > 1e-12 { (xy / scale) as f32 } else { 0.0 })
}

/// Units with their correlation on held-out characters, best first.
pub fn ranking(units: &Units) -> Vec<(usize, f32)> {
    let Some((_, r)) = units.follows.first() else { return Vec::new() };
    let mut ranking: Vec<(usize, f32)> = r.iter().copied().enumerate().collect();
    ranking.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    ranking
}

/// The bracket depth after the character at `at`, where it is more than the model has an answer for.
pub fn beyond(seen: &Seen, at: usize) -> Option<usize> {
    let (_, depths) = seen.followed.iter().find(|(what, _)| *what == Followed::Depth)?;
    let depth = *depths.get(at)? as usize;
    (seen.right.get(at)?.is_none() && depth >= seen.answers.len()).then_some(depth)
}

/// What the state of the step before adds to a gate’s sum, as it is written.
pub fn from_state(gate: Quantity) -> &'static str {
    if gate == Quantity::New { "from h" } else { "U h" }
}

/// What is followed, in words.
pub fn followed(what: Followed) -> &'static str {
    match what {
        Followed::Depth => "bracket depth",
        Followed::Quotation => "inside a quotation",
    }
}

/// The letter with what it is called in the cell: `f, forget gate`.
pub fn named(quantity: Quantity) -> String {
    format!("{}, {}", quantity.id(), quantity.label())
}

/// A number of the figure.
pub fn three(value: f32) -> String {
    decimals(value, 3)
}

#[cfg(test)]
mod tests {
    use super::correlation;

    #[test]
    fn a_correlation_has_a_sign_and_needs_change() {
        let depth = [1.0, 0.0, 1.0, 2.0];
        assert_eq!(correlation(&[2.0, 0.0, 2.0, 4.0], &depth), Some(1.0));
        assert_eq!(correlation(&[-1.0, 0.0, -1.0, -2.0], &depth), Some(-1.0));
        let grows = correlation(&[1.0, 2.0, 3.0, 4.0], &depth).unwrap();
        assert!((grows - 0.632_455_5).abs() < 1e-6, "{grows}");
        assert_eq!(correlation(&[0.5; 4], &depth), Some(0.0));
        assert_eq!(correlation(&depth, &[0.0; 4]), None);
        assert_eq!(correlation(&[], &[]), None);
    }
}
