//! A question about two heads off at once, answered by the live model.

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    study::heads::{self, Cost, HeadAt},
};

use super::{name, signed, state::Page};
use crate::{course::use_done, questions::use_answer, teaching::CheckYourself};

/// Up to this share of the sum, a cost counts as being the sum.
const ABOUT: f32 = 0.1;

/// Two heads with what each costs alone.
type Pair = [Cost; 2];

/// The `turn`-th pair of the heads that cost most alone.
fn pair(page: Page, turn: usize) -> Option<Pair> {
    let (layers, heads) = page.shape.get();
    let all = (1..=layers).flat_map(|layer| (1..=heads).map(move |head| HeadAt { layer, head }));
    let mut costs: Vec<Cost> = all.map(|at| page.cost_of(at)).collect::<Option<_>>()?;
    costs.sort_by(|a, b| b.change.total_cmp(&a.change));
    costs.truncate(4);
    let pairs: Vec<(usize, usize)> =
        (1..costs.len()).flat_map(|second| (0..second).map(move |first| (first, second))).collect();
    let (first, second) = *pairs.get(turn % pairs.len().max(1))?;
    Some([costs[first].clone(), costs[second].clone()])
}

#[component]
pub fn Check(page: Page) -> impl IntoView {
    let turn = RwSignal::new(0usize);
    let asked = Memo::new(move |_| pair(page, turn.get()));
    let answered = use_answer(page.lab, move || {
        if page.lab.state.get() == RunState::Running {
            return None;
        }
        let off = asked.get()?.iter().flat_map(|cost| cost.off.clone()).collect();
        Some(heads::ask::Cost { off })
    });
    let joint = Memo::new(move |_| {
        let (pair, cost) = (asked.get()?, answered.answer.get()?);
        let of_pair =
            pair.iter().all(|one| cost.off.contains(&one.off[0]) && one.step == cost.step);
        (of_pair && cost.off.len() == 2).then(|| Cost::clone(&cost))
    });
    let sum = move || asked.get().map(|[a, b]| a.change + b.change);
    let question = Signal::derive(move || match asked.get() {
        Some([a, b]) => format!(
            "After step {}, {} off alone costs {}, {} off alone {}. What do both off at once cost?",
            a.step,
            name(a.off[0]),
            signed(a.change),
            name(b.off[0]),
            signed(b.change),
        ),
        None => {
            "Once training rests and every head is measured, there is a question here.".to_owned()
        }
    });
    let options = Signal::derive(move || {
        let Some(sum) = sum() else { return Vec::new() };
        vec![
            format!("More than the sum of both, {}", signed(sum)),
            "The sum, give or take a tenth of it".to_owned(),
            "Less than the sum".to_owned(),
        ]
    });
    let answer = Signal::derive(move || {
        let (sum, joint) = (sum()?, joint.get()?.change);
        Some(match joint - sum {
            apart if apart.abs() <= ABOUT * sum.abs() => 1,
            apart if apart > 0.0 => 0,
            _ => 2,
        })
    });
    let explain = Signal::derive(move || {
        let (Some(sum), Some(joint)) = (sum(), joint.get()) else { return String::new() };
        let error = joint.error.map_or(String::new(), |error| format!(" ± {error:.4}"));
        let why = match answer.get() {
            Some(0) => "Each could stand in for the other while it was there.",
            Some(1) => "They do different work: losses add up.",
            _ => "Part of what the one does is of use only together with the other.",
        };
        format!(
            "Measured: {}{error}, where the sum is {}. {why}",
            signed(joint.change),
            signed(sum)
        )
    });
    view! {
        <CheckYourself id="heads" question options answer explain on_right=use_done()
            on_another=Callback::new(move |()| turn.update(|turn| *turn += 1))/>
    }
}
