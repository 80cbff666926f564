//! The questions that the live model answers: two heads off at once, and who looks one token back.

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    study::heads::{self, Cost, HeadAt},
};

use super::{name, numbers, signed, state::Page};
use crate::{
    course::use_right,
    questions::use_answer,
    reactive::memo,
    teaching::{CheckYourself, Kind},
};

/// Up to this share of the sum, a cost counts as being the sum.
pub const ABOUT: f32 = 0.1;

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

/// As [`signed`] writes it.
fn rounded(change: f32) -> f32 {
    (change * 1e4).round() / 1e4
}

#[component]
pub fn Check(page: Page) -> impl IntoView {
    let turn = RwSignal::new(0usize);
    let asked = memo(move || pair(page, turn.get()));
    let answered = use_answer(page.lab, move || {
        if page.lab.state.get() == RunState::Running {
            return None;
        }
        let off = asked.get()?.iter().flat_map(|cost| cost.off.clone()).collect();
        Some(heads::ask::Cost { off })
    });
    let joint = memo(move || {
        let (pair, cost) = (asked.get()?, answered.answer.get()?);
        let of_pair =
            pair.iter().all(|one| cost.off.contains(&one.off[0]) && one.step == cost.step);
        (of_pair && cost.off.len() == 2).then(|| Cost::clone(&cost))
    });
    // Of the numbers as they are read.
    let sum = move || asked.get().map(|[a, b]| rounded(a.change) + rounded(b.change));
    let question = Signal::derive(move || match asked.get() {
        Some([a, b]) => format!(
            "After step {}, switching off {} alone costs {}, and {} alone {}. Their sum is {}. What does switching \
             off both at once cost?",
            a.step,
            name(a.off[0]),
            signed(a.change),
            name(b.off[0]),
            signed(b.change),
            signed(rounded(a.change) + rounded(b.change)),
        ),
        None => {
            "A question appears here when training rests and every head is measured.".to_owned()
        }
    });
    let options = Signal::derive(move || {
        if sum().is_none() {
            return Vec::new();
        }
        ["More than the sum", "About the sum, within a tenth of it", "Less than the sum"]
            .map(str::to_owned)
            .to_vec()
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
            Some(0) => {
                "This fits two heads that can stand in for each other: the loss rises once both are gone."
            }
            Some(1) => "This fits two heads that do different work: their costs add up.",
            _ => {
                "This fits two heads that work together: once one is off, the other has less left to give."
            }
        };
        format!(
            "Measured: {}{error}, where the sum is {}. {why}",
            signed(joint.change),
            signed(sum)
        )
    });
    view! {
        <CheckYourself id="heads" question options answer explain on_right=use_right("heads")
            on_another=Callback::new(move |()| turn.update(|turn| *turn += 1))/>
    }
}

/// Heads of one layer or of all with their shares on the previous token, the largest first.
pub fn on_previous(page: Page, layer: Option<u32>) -> Option<Vec<(HeadAt, f32)>> {
    let (layers, heads) = page.shape.get();
    let all = (1..=layers).filter(|of| layer.is_none_or(|layer| layer == *of));
    let all = all.flat_map(|layer| (1..=heads).map(move |head| HeadAt { layer, head }));
    let shares = all.map(|at| Some((at, numbers::statistics(page, at)?.previous)));
    let mut shares: Vec<_> = shares.collect::<Option<_>>()?;
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(shares)
}

/// No eye tells shares apart that are nearer to each other.
const NEAR: f32 = 0.15;

/// Which head of layer 1 looks one token back, read off the pictures.
#[component]
pub fn Previous(page: Page) -> impl IntoView {
    // Those that lead, the first of them first.
    let lead = memo(move || {
        let mut shares = on_previous(page, Some(1))?;
        let least = shares.first()?.1 - NEAR;
        shares.retain(|head| head.1 >= least);
        Some(shares)
    });
    let places = move || {
        let lead = lead.get().unwrap_or_default();
        lead.into_iter().map(|(at, _)| at.head as usize - 1).collect::<Vec<_>>()
    };
    let question =
        "Look at the pictures of layer 1. Which head puts the most weight on the previous token?";
    let heads = memo(move || page.shape.get().1);
    let options =
        Signal::derive(move || (1..=heads.get()).map(|head| format!("Head {head}")).collect());
    let explain = Signal::derive(move || {
        let lead = lead.get().unwrap_or_default();
        let mut each =
            lead.iter().map(|(at, share)| format!("{} {:.0}%", name(*at), 100.0 * share));
        let first = each.next().unwrap_or_default();
        let near = each.map(|near| format!(", and close to it {near}, which counts as well"));
        format!(
            "Weight on the previous token, averaged over the sentence: {first}{}. It stands just left of the \
             diagonal.",
            near.collect::<String>()
        )
    });
    view! {
        <CheckYourself id="heads-previous" kind=Kind::Look question=Signal::stored(question.to_owned()) options
            too_early=Signal::derive(move || {
                let none_leads = lead.with(|lead| lead.as_ref().is_some_and(|l| l.len() == heads.get() as usize));
                let why = match heads.get() {
                    ..2 => "Give each layer at least two heads to be asked about them.",
                    _ if none_leads => "No head of layer 1 looks at the previous token much more than the others yet. Train, and you will be asked which one does.",
                    _ => return None,
                };
                Some(why.to_owned())
            })
            answer=Signal::derive(move || places().first().copied()) ties=Signal::derive(places) explain
            on_right=use_right("heads-previous")/>
    }
}
