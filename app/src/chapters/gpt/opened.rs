//! The lab with a model that others trained: what is said of it, and the views into its inside.

mod habits;
mod jobs;
mod lens;
mod patching;
mod positions;
mod words;

use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::gpt::{HeadScores, ask};

use super::{Attention, SETTINGS, WritingLine, later, use_model_name};
use crate::{
    controls::{ViewSwitch, Writing, grouped},
    course::{ChapterFrame, StageView, begin_at_title, further, use_part},
    fetched::fetched,
    figures::{Selection, percent, token::readable},
    questions::{Answered, Questions, use_answer},
    reactive::{memo, next_task},
    store::Store,
    teaching::{Live, live},
};

#[cfg(test)]
pub use words::SCRIPT;

/// The lab's frame for such a model. The former view is taken away in one task of the page, and this is made in
/// the next: together they would hold it up for too long.
pub fn opened() -> AnyView {
    let is_time = RwSignal::new(false);
    spawn_local(async move {
        next_task().await;
        is_time.try_set(true);
        begin_at_title();
    });
    (move || is_time.get().then(frame)).into_any()
}

fn frame() -> AnyView {
    let store = expect_context::<Store>();
    // A token that is chosen stays chosen in every view of the sentence.
    let length = memo(move || store.trace.read(|trace| trace.tokens.len()).unwrap_or_default());
    let selection = Selection::new(length);
    provide_context(selection);
    let questions = Questions::from(store);
    // The attention comes first: it is what one sees.
    let is_seen = memo(move || store.trace.of.get() == Some(questions.generation.get()));
    let scores = use_answer(questions, move || {
        is_seen.get().then(|| ask::Jobs { seed: store.link.with(|link| link.seed) })
    });
    let mut all = vec![("written", ViewFn::from(|| view! { <Written/> }))];
    all.extend(lives(store, scores));
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=all
            views=vec![
                StageView::new("attention", "Attention", move || view! {
                    <Attention selection/>
                    <habits::HeadHabits/>
                }),
                StageView::new("heads", "All heads", later),
                StageView::new("jobs", "Head jobs", move || view! { <jobs::Jobs scores/> }),
                StageView::shared("positions", || view! { <positions::Positions/> }),
                StageView::new("next", "Next token", move || view! { <lens::Next selection/> }),
                StageView::new("patching", "Patching", || view! { <patching::Patching/> }),
                StageView::new("writing", "Writing", || view! { <Writing/> }),
            ]
            settings=|| fetched(SETTINGS, "The settings")
            model=use_model_name(store)
            foot=|| view! { <WritingLine/> }
        />
    }
    .into_any()
}

/// Chooses between what is shown of the model whatever the sentence is.
fn switch() -> AnyView {
    const VIEWS: &[(&str, &str)] = &[("jobs", "Jobs"), ("positions", "Positions")];
    view! { <ViewSwitch label="Heads or positions" views=VIEWS/> }.into_any()
}

/// What the model writes, live, in the story.
#[component]
fn Written() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.writing_sight);
    view! {
        <p class="story-sample" node_ref=part>
            {move || store.written.with(|written| readable(&written.text))}
            <span class="caret" class:caret-on=move || store.written.with(|w| !w.done) aria-hidden="true"></span>
        </p>
    }
}

/// What the text reads off the model.
fn lives(store: Store, scores: Answered<HeadScores>) -> Vec<Live> {
    let of_model = move |read: fn(&unroll_protocol::Started) -> String| {
        move || store.started.with(|s| s.as_deref().map_or_else(|| "…".to_owned(), read))
    };
    let of_scores = move |read: fn(&HeadScores) -> String| {
        move || scores.read(read).unwrap_or_else(|| "…".to_owned())
    };
    vec![
        live("weights", of_model(|s| millions(s.parameters))),
        live("blocks", of_model(|s| s.spec.gpt.layers.to_string())),
        live("heads", of_model(|s| s.spec.gpt.heads.to_string())),
        live("vocabulary", of_model(|s| grouped(s.vocabulary.len() as u64))),
        live(
            "sinks",
            of_scores(|scores| {
                let (sinks, all) = jobs::sinks(scores);
                format!("{sinks} of its {all} heads")
            }),
        ),
        live("random", of_scores(|scores| scores.repeated.to_string())),
        live(
            "copies",
            of_scores(|scores| {
                let [first, second] = scores.losses;
                format!("{first:.2} in the first half and {second:.2} in the second")
            }),
        ),
        live(
            "best",
            of_scores(|scores| match jobs::best(scores, jobs::INDUCTION) {
                Some((layer, head, share)) => format!(
                    "Head {head} of layer {layer} does this most: on average, {} of its weight is there",
                    percent(share, 0)
                ),
                None => "…".to_owned(),
            }),
        ),
    ]
}

/// Where the stream is read, as a row is named.
fn row_name(depth: usize) -> String {
    if depth == 0 { "embedding".to_owned() } else { format!("block {depth}") }
}

/// Parameters in millions, to three digits: `124`, `0.09`.
fn millions(parameters: u64) -> String {
    let millions = parameters as f64 / 1e6;
    match millions {
        10.0.. => format!("{millions:.0}"),
        1.0.. => format!("{millions:.1}"),
        _ => format!("{millions:.2}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn gpt_2_has_124_million_parameters() {
        assert_eq!([124_439_808, 81_912_576].map(super::millions), ["124", "82"]);
        assert_eq!([4_567_890, 90_000].map(super::millions), ["4.6", "0.09"]);
    }
}
