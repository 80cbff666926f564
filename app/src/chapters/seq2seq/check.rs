//! Questions whose answers are how likely the live model finds the right answers, and at which
//! length it finds them.

use leptos::prelude::*;
use unroll_protocol::{
    PairTask,
    study::seq2seq::{self, Odds},
};

use super::{Page, panels::by_length};
use crate::{
    controls::grouped,
    course::{use_lab, use_right},
    figures::{percent, probability},
    questions::use_answer,
    reactive::memo,
    teaching::CheckYourself,
};

#[component]
pub fn Check(page: Page) -> impl IntoView {
    let count = RwSignal::new(0u32);
    let lab = use_lab();
    let answered = use_answer(lab, move || Some(seq2seq::ask::Odds { number: count.get() }))
        .shown_in(lab.check_seen);
    // In an order that does not give the lengths away.
    let odds = memo(move || {
        let odds = answered.answer.get()?;
        let order = if count.get().is_multiple_of(2) { [2, 0, 3, 1] } else { [1, 3, 0, 2] };
        order.into_iter().map(|at| odds.get(at).cloned()).collect::<Option<Vec<Odds>>>()
    });
    let surest = memo(move || count.get().is_multiple_of(2));
    let question = Signal::derive(move || {
        let most = if surest.get() { "most" } else { "least" };
        let what = match page.settings.with(|s| s.task) {
            PairTask::Dates => "dates",
            _ => "strings",
        };
        format!(
            "Which of these held-out {what} is the model {most} likely to answer correctly to the last \
             character, as it is now?"
        )
    });
    let options = Signal::derive(move || {
        let odds = odds.get().unwrap_or_default();
        odds.into_iter().map(|odds| odds.source).collect::<Vec<_>>()
    });
    let answer = Signal::derive(move || {
        let odds = odds.get()?;
        let by =
            |a: &usize, b: &usize| odds[*a].log_probability.total_cmp(&odds[*b].log_probability);
        if surest.get() { (0..odds.len()).max_by(by) } else { (0..odds.len()).min_by(by) }
    });
    let explain = Signal::derive(move || {
        let Some(odds) = odds.get() else { return String::new() };
        let each = odds.iter().map(|odds| {
            let probability = probability(odds.log_probability.exp());
            format!("{} → {}: {probability}", odds.source, odds.right)
        });
        format!(
            "The model’s probability of the whole right answer: {}.",
            each.collect::<Vec<_>>().join("; ")
        )
    });
    let on_another = Callback::new(move |()| count.update(|count| *count += 1));
    view! {
        <CheckYourself id="seq2seq" question options answer explain on_right=use_right("seq2seq") on_another/>
    }
}

/// The shortest sources of which fewer than half are answered correctly, guessed before the curve.
pub fn half(page: Page) -> AnyView {
    let lab = use_lab();
    // Thirds of all lengths that are measured.
    let parts = memo(move || {
        let bins = page.settings.with(|s| s.spec(0).bins());
        bins.chunks(bins.len().div_ceil(3).max(1))
            .filter_map(|part| Some((part.first()?.0, part.last()?.1)))
            .collect::<Vec<_>>()
    });
    let measured = memo(move || by_length(page, lab));
    let lost = memo(move || {
        measured.with(|measured| measured.iter().find(|(_, share)| *share < 0.5).copied())
    });
    // So far it has learned no length.
    let is_early = memo(move || measured.with(|all| all.iter().all(|(_, share)| *share < 0.5)));
    let options = Signal::derive(move || {
        let parts = parts.get();
        let named = parts.iter().map(|(from, to)| format!("Between {from} and {to} characters"));
        named.chain(["At none of these".to_owned()]).collect::<Vec<_>>()
    });
    let answer = Signal::derive(move || {
        let parts = parts.get();
        Some(match lost.get() {
            Some((bin, _)) => parts.iter().position(|part| bin.0 <= part.1)?,
            None => parts.len(),
        })
    });
    let explain = Signal::derive(move || match lost.get() {
        Some((bin, share)) => {
            let at =
                if bin.0 == bin.1 { bin.0.to_string() } else { format!("{} to {}", bin.0, bin.1) };
            format!(
                "After {} steps, {} are correct at a length of {at}. The view “By length” shows every length.",
                grouped(lab.shown().into()),
                percent(share, 0)
            )
        }
        None => "At least half are correct at every length measured.".to_owned(),
    });
    let too_early = Signal::derive(move || {
        let early = "Train some more first: so far, fewer than half of the answers are right at every length.";
        is_early.get().then(|| early.to_owned())
    });
    let question = "Type sources of different lengths above the figure. With the model as it is now, where do \
                    right answers first drop below half?";
    view! {
        <CheckYourself id="seq2seq-half" question=Signal::stored(question.to_owned()) options answer explain too_early
            on_right=use_right("seq2seq-half")/>
    }
    .into_any()
}
