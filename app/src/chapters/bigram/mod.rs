//! `bigram`: what comes next, by counting pairs and by training a table.

mod check;
mod drawing;
mod notebooks;
mod row;
mod surprise;
mod table;
mod words;

use leptos::prelude::*;
use unroll_protocol::{link::Chapter, study::bigram};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{ChapterFrame, Lab, StageView, further, use_lab, use_setting},
    figures::{power_of_ten, token},
    questions::{Answered, use_answer, use_fixed_answer},
    reactive::memo,
    teaching::{Live, live},
};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Bigram,
    warm_steps: 60,
    curves: 2,
    uses_text: true,
    view: || view! { <BigramChapter/> }.into_any(),
};

/// The first beat that is about training: those before it count.
const TRAINED_IN: usize = 4;

#[component]
fn BigramChapter() -> impl IntoView {
    // What was guessed, or shown without, stays on show when the learner comes back to a view.
    let [row_seen, scores_seen] = [(); 2].map(|()| RwSignal::new(false));
    let vocabulary = use_vocabulary();
    let size = memo(move || vocabulary.with(Vec::len));
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            warmed_in=TRAINED_IN
            live=lives(vocabulary)
            asks=vec![
                ("bigram", ViewFn::from(check::check)),
                ("bigram-uniform", ViewFn::from(move || check::uniform(size))),
            ]
            more=words::more
            views=vec![
                StageView::new("table", "Table", move || view! { <table::Table row_seen/> }),
                StageView::new("writing", "Writing", || view! { <drawing::Drawing/> }),
                StageView::new("sentence", "A sentence", || view! { <surprise::Terms/> }),
                StageView::new("average", "Average", move || view! { <surprise::Scores scores_seen/> }),
                StageView::new("smoothing", "Smoothing", || view! { <surprise::Smoothing/> }),
            ]
            settings=|| view! {
                <div class="course-controls">
                    <ChoiceField name="bigram-order"/>
                    <SliderField name="bigram-shown"/>
                </div>
            }
            model=Signal::derive(move || match size.get() {
                0 => "a table".to_owned(),
                size => format!("a table, {size} × {size}"),
            })
        />
    }
}

/// The character whose row the text speaks of. The chapter asks about others.
const TOLD: char = 'd';

/// What the text reads off the counts and the table.
fn lives(vocabulary: Memo<Vec<String>>) -> Vec<Live> {
    let lab = use_lab();
    // Only for its counts, which training leaves as they are.
    let row = use_fixed_answer(lab, || Some(bigram::ask::Row { character: TOLD.into() })).answer;
    let after = memo(move || {
        let row = row.get()?;
        let most = row.counts.iter().max()?;
        let best = row.counts.iter().position(|count| count == most)?;
        let (given, next) = vocabulary.with(|v| (named(v, row.id), named(v, best as u32)));
        Some(format!("After {given}, {next} came {most} of {} times.", row.total))
    });
    let loss = memo(move || {
        lab.history.with(|history| history.named("training").and_then(|series| series.last()))
    });
    vec![
        live("after", move || after.get().unwrap_or_else(|| "…".into())),
        live("step", move || lab.shown().to_string()),
        live("loss", move || loss.get().map_or_else(|| "…".into(), |l| format!("{l:.3} nats"))),
        live("perplexity", move || {
            loss.get().map_or_else(|| "…".into(), |l| format!("{:.1}", l.exp()))
        }),
    ]
}

/// What smoothing adds to every count, in one line of a view.
#[component]
fn SmoothingField() -> impl IntoView {
    view! { <SliderField name="bigram-k" most=10.0 step=0.01/> }
}

/// What has been drawn so far, while `needed`.
fn use_writing(
    lab: Lab,
    needed: impl Fn() -> bool + Send + Sync + 'static,
) -> Answered<bigram::Writing> {
    let from = use_setting(|link| &mut link.bigram.from);
    let k = use_setting(|link| &mut link.bigram.k);
    let dice = use_setting(|link| &mut link.bigram.dice);
    let drawn = use_setting(|link| &mut link.bigram.drawn);
    use_answer(lab, move || {
        needed().then(|| {
            let (from, k, dice, drawn) = (from.get(), k.get(), dice.get(), drawn.get());
            bigram::ask::Writing { from, k, dice, drawn }
        })
    })
}

/// Every token as text, by id.
fn use_vocabulary() -> Memo<Vec<String>> {
    let lab = use_lab();
    memo(move || lab.started.with(|s| s.as_ref().map_or(Vec::new(), |s| s.vocabulary.clone())))
}

/// The code point of a token, by which links name it.
fn code_point(vocabulary: &[String], id: u32) -> u32 {
    vocabulary.get(id as usize).and_then(|token| token.chars().next()).map_or(0, u32::from)
}

/// A token in a sentence: `‘q’`, `a space`.
fn named(vocabulary: &[String], id: u32) -> String {
    vocabulary.get(id as usize).map_or_else(String::new, |token| match token.as_str() {
        " " => "a space".to_owned(),
        "\n" => "a new line".to_owned(),
        "\u{FFFD}" => "an unknown character".to_owned(),
        token => format!("‘{token}’"),
    })
}

/// A token in a narrow place: `q`, `␣`.
fn short(vocabulary: &[String], id: u32) -> String {
    vocabulary.get(id as usize).map_or_else(String::new, |token| token::short_mark(token, 2))
}

/// A probability: by its power of ten where four decimals would all be 0.
fn chance(p: f64) -> String {
    match p {
        0.0 => "0".to_owned(),
        5e-5.. => format!("{p:.4}"),
        _ => power_of_ten(p, 2),
    }
}

/// A surprise in nats, which may be infinite.
fn nats(surprise: f64) -> String {
    if surprise.is_infinite() { "∞".to_owned() } else { format!("{surprise:.4}") }
}
