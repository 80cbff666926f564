//! The chapter's questions to the model: what the table expects after one of its characters, and
//! what knowing nothing costs.

use leptos::prelude::*;
use unroll_protocol::study::bigram::{Row, ask};

use super::{named, use_vocabulary};
use crate::{
    course::{use_lab, use_right},
    questions::use_answer,
    reactive::memo,
    teaching::CheckYourself,
};

/// Letters asked about, one after another.
const ASKED: &[char] = &['t', 'o', 'a', 'i', 'h', 'n', 'r', 'e', 's', 'w'];
const OPTIONS: usize = 4;

/// The question.
pub fn check() -> AnyView {
    let vocabulary = use_vocabulary();
    let turn = RwSignal::new(0usize);
    let lab = use_lab();
    let answered = use_answer(lab, move || {
        let character = u32::from(ASKED[turn.get() % ASKED.len()]);
        Some(ask::Row { character })
    });
    let row = answered.shown_in(lab.check_seen).answer;
    let options = memo(move || row.with(|row| row.as_deref().map_or(Vec::new(), options)));
    let question = move || {
        row.with(|row| {
            let Some(row) = row else { return String::new() };
            vocabulary.with(|v| {
                format!(
                    "Which character does the trained table expect most after {}?",
                    named(v, row.id)
                )
            })
        })
    };
    let answer = move || {
        row.with(|row| {
            let row = row.as_ref()?;
            let best = |&&id: &&usize| row.trained[id];
            let most =
                options.with(|o| o.iter().max_by(|a, b| best(a).total_cmp(&best(b))).copied())?;
            options.with(|options| options.iter().position(|&id| id == most))
        })
    };
    let explain = move || {
        row.with(|row| {
            let Some(row) = row else { return String::new() };
            let said = |&id: &usize| {
                vocabulary.with(|v| {
                    let name = named(v, id as u32);
                    format!("{name} {:.4} ({} of {})", row.trained[id], row.counts[id], row.total)
                })
            };
            let all = options.with(|options| options.iter().map(said).collect::<Vec<_>>());
            format!("Its probabilities, with the counts: {}.", all.join(", "))
        })
    };
    let labels = move || {
        options.with(|options| {
            vocabulary.with(|v| options.iter().map(|&id| named(v, id as u32)).collect::<Vec<_>>())
        })
    };
    view! {
        <CheckYourself id="bigram" question=Signal::derive(question) options=Signal::derive(labels)
            answer=Signal::derive(answer) explain=Signal::derive(explain) on_right=use_right("bigram")
            on_another=Callback::new(move |()| turn.update(|turn| *turn += 1))/>
    }
    .into_any()
}

/// What a model pays that knows nothing of so many characters.
pub fn uniform(size: Memo<usize>) -> AnyView {
    let known = move || Some(size.get()).filter(|size| *size > 1);
    let question = move || {
        known().map_or_else(String::new, |size| {
            format!(
                "The vocabulary has {size} characters. A model that knows nothing gives each the same probability, \
                 1/{size}. How large is its loss, in nats?"
            )
        })
    };
    let options = move || {
        let size = known()? as f64;
        Some(vec![format!("{:.3}", 1.0 / size), format!("{:.3}", size.ln()), format!("{size:.3}")])
    };
    let explain = move || {
        known().map_or_else(String::new, |size| {
            let cost = (size as f64).ln();
            format!(
                "Whatever comes had the probability 1/{size}, so each character costs −ln(1/{size}) = ln {size} = \
                 {cost:.3}. A model whose loss is lower has learned something."
            )
        })
    };
    view! {
        <CheckYourself id="bigram-uniform" question=Signal::derive(question)
            options=Signal::derive(move || options().unwrap_or_default())
            answer=Signal::derive(move || known().map(|_| 1))
            explain=Signal::derive(explain) on_right=use_right("bigram-uniform")/>
    }
    .into_any()
}

/// The commonest follower among frequent characters that follow less: by id, so that the order
/// says nothing.
fn options(row: &Row) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..row.counts.len()).collect();
    ids.sort_by_key(|&id| (core::cmp::Reverse(row.counts[id]), id));
    ids.truncate(OPTIONS);
    ids.sort_unstable();
    ids
}
