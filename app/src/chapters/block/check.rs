//! The questions that the live models answer.

use leptos::prelude::*;
use unroll_protocol::study::block::{CONTEXT, Shown, Source, Stream, ask};

use super::{Page, depths, growth, stream::seen};
use crate::{
    course::use_right,
    figures::{decimals, token::mark},
    questions::use_answer,
    reactive::memo,
    teaching::CheckYourself,
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

/// The position that the question goes to after `round` others, from 1 to `count`: not the one on show (0 is
/// the last).
fn elsewhere(round: u32, count: u32, on_show: u32) -> u32 {
    let count = count.max(1);
    let on_show = if on_show == 0 { count } else { on_show };
    match 1 + (2 + 5 * round) % count {
        position if position == on_show => 1 + position % count,
        position => position,
    }
}

pub fn check(page: Page) -> AnyView {
    let round = StoredValue::new(0u32);
    // Asked about the full model: without residuals nothing is left but the last term.
    let answered = use_answer(page.lab, move || {
        let (text, position, token) =
            (page.store.probe.get(), page.position.get(), page.token.get());
        Some(ask::Stream { text, shown: Shown::Full, position, token })
    })
    .shown_in(page.lab.check_seen);
    let stream = answered.answer;
    let token = move |stream: &Stream| {
        page.vocabulary.with(|v| v.get(stream.token as usize).map(|t| mark(t))).unwrap_or_default()
    };
    let question = Signal::derive(move || match stream.get() {
        Some(stream) => format!(
            "Add up the terms on the stage. After ‘{}’, what adds most to the full model’s logit of ‘{}’?",
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
        let parts = parts.map(|(name, sum)| format!("{name}: {}", decimals(sum, 3)));
        format!(
            "{}. The rest of the logit of {} comes from the norms’ offsets.",
            parts.collect::<Vec<_>>().join("; "),
            decimals(stream.logit, 3)
        )
    });
    let options = Signal::stored(GROUPS.map(str::to_owned).to_vec());
    // The stage goes there, too: it shows what the question is about.
    let another = Callback::new(move |()| {
        let count = page.store.probe.with_untracked(|text| text.chars().count() as u32);
        let on_show = untrack(|| page.position.get());
        page.position.set(elsewhere(round.get_value(), count.min(CONTEXT), on_show));
        round.update_value(|round| *round += 1);
    });
    view! {
        <CheckYourself id="block" question options answer explain on_right=use_right("block")
            on_another=another/>
    }
    .into_any()
}

/// How much of the gradient reaches the first block of the second model.
pub fn reach(page: Page) -> AnyView {
    let reach = memo(move || depths::reach(page, 1));
    let question = Signal::derive(move || {
        format!(
            "The second model is built {}. Take its gradient after the last block. How much is left of it before \
             the first?",
            page.cut()
        )
    });
    let options = ["At least half", "Between a half and a hundredth", "Less than a hundredth"];
    let answer = Signal::derive(move || {
        reach.get().map(|reach| match reach {
            reach if reach >= 0.5 => 0,
            reach if reach >= 0.01 => 1,
            _ => 2,
        })
    });
    let explain = Signal::derive(move || {
        let (Some(cut), Some(full)) = (reach.get(), depths::reach(page, 0)) else {
            return String::new();
        };
        depths::left(cut, full)
    });
    view! {
        <CheckYourself id="block-reach" question options=Signal::stored(options.map(str::to_owned).to_vec()) answer
            explain on_right=use_right("block-reach")/>
    }
    .into_any()
}

/// Which kind of term gained the most length in training.
pub fn gained(page: Page) -> AnyView {
    let most = memo(move || page.growth.with(|g| growth::gained_most(g.as_ref()?)));
    let options = [
        "The token embedding",
        "The position embedding",
        "The output of an attention layer",
        "The output of a feed-forward layer",
    ];
    let answer = Signal::derive(move || {
        most.get().and_then(|(source, ..)| match source {
            Source::Token => Some(0),
            Source::Position => Some(1),
            Source::Attention(_) => Some(2),
            Source::FeedForward(_) => Some(3),
            Source::NormOffsets => None,
        })
    });
    let explain = Signal::derive(move || {
        let Some((source, first, last)) = most.get() else { return String::new() };
        let name = source.name();
        format!(
            "It is “{name}”. At step 0 its mean length was {first:.2}. By now it is {last:.2}. The next part of the \
             story shows all terms."
        )
    });
    let question =
        "Every layer and both embeddings add a term to the full model’s stream. Which kind of term has gained the \
             most length since step 0?"
            .to_owned();
    let too_early = move || {
        let is_untrained = page.lab.step.get() == 0;
        is_untrained.then(|| "Train the full model first: so far no term has changed.".to_owned())
    };
    view! {
        <CheckYourself id="block-gained" question=Signal::stored(question) too_early=Signal::derive(too_early)
            options=Signal::stored(options.map(str::to_owned).to_vec()) answer explain
            on_right=use_right("block-gained")/>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::elsewhere;

    #[test]
    fn the_next_question_is_about_another_position() {
        for count in 2..40 {
            for (round, on_show) in (0..20).flat_map(|round| (0..=count).map(move |at| (round, at)))
            {
                let shown = if on_show == 0 { count } else { on_show };
                let asked = elsewhere(round, count, on_show);
                assert!(
                    (1..=count).contains(&asked) && asked != shown,
                    "{round}, {count}, {on_show}"
                );
            }
        }
        assert_eq!(elsewhere(3, 0, 0), 1);
    }
}
