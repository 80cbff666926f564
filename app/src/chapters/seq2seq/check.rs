//! A question whose answer is how likely the live model finds the right answers.

use leptos::prelude::*;
use unroll_protocol::{
    PairTask,
    study::seq2seq::{self, Odds},
};

use super::Page;
use crate::{
    course::{use_done, use_lab},
    questions::use_answer,
    teaching::CheckYourself,
};

#[component]
pub fn Check(page: Page) -> impl IntoView {
    let count = RwSignal::new(0u32);
    let lab = use_lab();
    let answered = use_answer(lab, move || Some(seq2seq::ask::Odds { number: count.get() }))
        .shown_in(lab.check_seen);
    // In an order that does not give the lengths away.
    let odds = Memo::new(move |_| {
        let odds = answered.answer.get()?;
        let order = if count.get().is_multiple_of(2) { [2, 0, 3, 1] } else { [1, 3, 0, 2] };
        order.into_iter().map(|at| odds.get(at).cloned()).collect::<Option<Vec<Odds>>>()
    });
    let surest = Memo::new(move |_| count.get().is_multiple_of(2));
    let question = Signal::derive(move || {
        let most = if surest.get() { "most" } else { "least" };
        let what = match page.settings.with(|s| s.task) {
            PairTask::Dates => "dates",
            _ => "strings",
        };
        format!(
            "Which of these held-out {what} is the model, as it is now, {most} likely to answer right to \
             the letter?"
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
            format!("{} → {}: {:.2e}", odds.source, odds.right, odds.log_probability.exp())
        });
        format!(
            "Its probabilities of the whole right answer: {}.",
            each.collect::<Vec<_>>().join("; ")
        )
    });
    let on_another = Callback::new(move |()| count.update(|count| *count += 1));
    view! {
        <CheckYourself id="seq2seq" question options answer explain on_right=use_done() on_another/>
    }
}
