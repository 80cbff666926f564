//! The chapter's question to the learner.

use leptos::prelude::*;
use unroll_protocol::study::block::{Shown, Source, Stream, ask};

use super::{
    Page,
    stream::{seen, signed},
};
use crate::{
    course::use_done, figures::token::mark, questions::use_answer, teaching::CheckYourself,
};

const GROUPS: [&str; 4] = [
    "The token embedding",
    "The position embedding",
    "All attention layers together",
    "All feed-forward layers together",
];

/// What each of [`GROUPS`] adds to the logit.
fn sums(stream: &Stream) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for (source, value) in stream.sources.iter().zip(&stream.contributions) {
        let group = match source {
            Source::Token => 0,
            Source::Position => 1,
            Source::Attention(_) => 2,
            Source::FeedForward(_) => 3,
            Source::NormOffsets => continue,
        };
        sums[group] += f64::from(*value);
    }
    sums
}

pub fn check(page: Page) -> AnyView {
    let round = RwSignal::new(0u32);
    // Asked about the full model: without residuals nothing is left but the last term.
    let answered = use_answer(page.lab, move || {
        let text = page.store.probe.get();
        let count = text.chars().count().max(1) as u32;
        let position =
            1 + (2 + 5 * round.get()) % count.min(unroll_protocol::study::block::CONTEXT);
        Some(ask::Stream { text, shown: Shown::Full, position, token: 0 })
    })
    .shown_in(page.lab.check_seen);
    let stream = answered.answer;
    let token = move |stream: &Stream| {
        page.vocabulary.with(|v| v.get(stream.token as usize).map(|t| mark(t))).unwrap_or_default()
    };
    let question = Signal::derive(move || match stream.get() {
        Some(stream) => format!(
            "After ‘{}’ the full model finds ‘{}’ likeliest. Which adds most to its logit?",
            seen(&stream),
            token(&stream)
        ),
        None => "Write a sentence to be asked about it.".to_owned(),
    });
    let answer = Signal::derive(move || {
        let sums = sums(&*stream.get()?);
        (0..4).max_by(|a, b| sums[*a].total_cmp(&sums[*b]))
    });
    let explain = Signal::derive(move || {
        let Some(stream) = stream.get() else { return String::new() };
        let parts = GROUPS.iter().zip(sums(&stream));
        let parts = parts.map(|(name, sum)| format!("{name}: {}", signed(sum as f32, 3)));
        format!(
            "{}. The rest of the logit of {} is norms' offsets.",
            parts.collect::<Vec<_>>().join("; "),
            signed(stream.logit, 3)
        )
    });
    let options = Signal::stored(GROUPS.map(str::to_owned).to_vec());
    view! {
        <CheckYourself id="block" question options answer explain on_right=use_done()
            on_another=Callback::new(move |()| round.update(|round| *round += 1))/>
    }
    .into_any()
}
