//! `gpt`: a GPT that learns the learner's text, and its attention as it learns.

use leptos::prelude::*;
use unroll_protocol::link::{Chapter as ChapterId, Part};

use super::Info;
use crate::{
    controls::{Settings, Writing, use_probe},
    course::{ChapterFrame, Idea, StageView, WayIn, use_part, use_provenance, use_setting},
    fetched::{Fetch, View, fetched, part, use_ahead},
    figures::{
        AttentionFigure, HeadsFigure, Inspection, LossFigure, NextFigure, Selection, SentenceFigure,
    },
    store::Store,
};

pub const INFO: Info = Info {
    id: ChapterId::Gpt,
    warm_steps: 0,
    uses_text: true,
    view: || view! { <Chapter/> }.into_any(),
};

/// What the story goes through.
const IDEAS: &[Idea] = &[
    Idea {
        title: "Where it looks",
        text: "Point at a character: the arcs show which earlier ones it looks back at, and how much. An untrained \
               model looks at all of them about alike.",
        set: |_| {},
    },
    Idea {
        title: "What comes next",
        text: "From what it gathered, it bets on the next character. These bars are the whole bet: every \
               character it knows, and the share it gives to each.",
        set: |link| link.view = "next".into(),
    },
    Idea {
        title: "Many heads at once",
        text: "Each head has its own way of looking. After some training a few of them have found a job: the \
               character before, the start of the word, the last bracket that is still open.",
        set: |link| link.view = "heads".into(),
    },
    Idea {
        title: "How it learns",
        text: "The loss is how surprised it is, on average, by the character that really comes. Training turns \
               every weight a little so that the next surprise is smaller.",
        set: |link| link.view = "loss".into(),
    },
];

#[component]
fn Chapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let shows = move |part| store.link.with_untracked(|link| !link.hide.contains(&part));
    // A token that is chosen stays chosen in every view of the sentence.
    let length =
        Memo::new(move |_| store.trace.read(|trace| trace.tokens.len()).unwrap_or_default());
    let selection = Selection::new(length);
    provide_context(selection);
    let mut views = vec![
        StageView::new("attention", "Attention", move || view! { <Attention selection/> }),
        StageView::new("heads", "All heads", later),
        StageView::new("next", "Next character", later),
    ];
    if shows(Part::Sample) {
        views.push(StageView::new("writing", "Writing", later));
    }
    if shows(Part::Loss) {
        views.push(StageView::new("loss", "Loss", later));
    }
    use_ahead(VIEWS);
    let model = Signal::derive(move || {
        store.built.with(|l| {
            let plural =
                |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            format!(
                "{}, {}, {} wide",
                plural(l.gpt.layers, "layer"),
                plural(l.gpt.heads, "head"),
                l.gpt.width
            )
        })
    });
    view! {
        <ChapterFrame
            before="Everything so far, in one machine."
            intro=|| view! {
                <p>
                    "This is a GPT that knows nothing yet. It reads one character at a time and guesses the \
                     next. Press Train, and watch what it writes turn from noise into words."
                </p>
                <Written/>
                <WayIn/>
            }
            ideas=IDEAS
            tries=tries()
            views=views
            settings=|| fetched(SETTINGS, "The settings")
            model
            foot=move || shows(Part::Sample).then(|| view! { <WritingLine/> })
        />
    }
}

/// The views that the page opens without, and the settings: fetched when the first picture is there.
const VIEWS: Fetch = part!(gpt_views: View = further);
const SETTINGS: Fetch = part!(gpt_settings: View = || view! { <Settings/> }.into_any());

fn later() -> AnyView {
    fetched(VIEWS, "This view")
}

/// The view on show, if it is not the first.
fn further() -> AnyView {
    let selection = expect_context::<Selection>();
    match expect_context::<Store>().link.with_untracked(|link| link.view.clone()).as_str() {
        "heads" => view! { <Heads/> }.into_any(),
        "next" => view! { <Next selection/> }.into_any(),
        "writing" => view! { <Writing/> }.into_any(),
        _ => view! { <Loss/> }.into_any(),
    }
}

/// What the model writes, live, in the story.
#[component]
fn Written() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.writing_sight);
    view! {
        <p class="story-sample" node_ref=part>
            {move || store.written.with(|written| written.text.clone())}
            <span class="caret" class:caret-on=move || store.written.with(|w| !w.done) aria-hidden="true"></span>
        </p>
    }
}

/// The start of what the model writes, in one line under every view but the one that has all of it.
#[component]
fn WritingLine() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.writing_sight);
    let whole = Memo::new(move |_| store.link.with(|link| link.view == "writing"));
    let line = move || store.written.with(|written| written.text.replace('\n', " ⏎ "));
    view! {
        <p class="stage-foot" node_ref=part hidden=move || whole.get() data-testid="writing-line">
            <span class="stage-foot-label">"It writes"</span>
            <span class="stage-foot-text">{line}</span>
        </p>
    }
}

/// The attention figure on the store's live trace.
#[component]
fn Attention(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    let layer = use_setting(|link| &mut link.gpt.layer);
    let head = use_setting(|link| &mut link.gpt.head);
    let inspection = Inspection {
        row: Signal::derive(move || store.inspecting.get().and_then(|_| store.row.answer.get())),
        problem: Signal::derive(move || {
            store.inspecting.get().and_then(|_| store.row.problem.get())
        }),
        want: Callback::new(move |cell| store.inspect(cell)),
    };
    view! {
        <div class="view-fill" node_ref=part>
            <AttentionFigure trace=store.trace.answer layer head planned=use_planned(store)
                provenance=use_provenance() selection editor=use_probe() inspection/>
        </div>
    }
    .into_any()
}

/// Every head of every layer.
#[component]
fn Heads() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    let layer = use_setting(|link| &mut link.gpt.layer);
    let head = use_setting(|link| &mut link.gpt.head);
    let enlarge = Callback::new(move |()| store.link.update(|link| link.view.clear()));
    view! {
        <div class="view-fill" node_ref=part>
            <HeadsFigure trace=store.trace.answer layer head planned=use_planned(store)
                provenance=use_provenance() enlarge/>
        </div>
    }
    .into_any()
}

/// What the model expects after the chosen character.
#[component]
fn Next(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    view! {
        <div class="view-fill" node_ref=part>
            <SentenceFigure trace=store.trace.answer selection editor=use_probe()/>
            <NextFigure trace=store.trace.answer selection provenance=use_provenance()/>
        </div>
    }
    .into_any()
}

/// Layers and heads of the model that is being made.
fn use_planned(store: Store) -> Memo<Option<(u32, u32)>> {
    Memo::new(move |_| {
        store.started.with(|s| s.as_ref().map(|s| (s.spec.gpt.layers, s.spec.gpt.heads)))
    })
}

/// The loss curve of the store's present model.
#[component]
fn Loss() -> impl IntoView {
    let store = expect_context::<Store>();
    let vocabulary =
        Memo::new(move |_| store.started.with(|s| s.as_ref().map_or(0, |s| s.vocabulary.len())));
    let provenance = use_provenance();
    view! { <LossFigure curve=store.curve vocabulary provenance/> }.into_any()
}

/// Experiments with a surprise in them.
fn tries() -> Vec<ViewFn> {
    let line = |text: &'static str| ViewFn::from(move || view! { <p>{text}</p> });
    vec![
        line(
            "Before training, point at any character: it looks at all earlier ones about alike. Train for \
                 half a minute and point again.",
        ),
        line(
            "Train on Brackets for a minute. In a line such as nokq|nokq the second half repeats the first. \
                 Find the head of layer 2 whose dark cells form a second line beside the diagonal: each \
                 letter looks at what came after it the last time.",
        ),
        line(
            "Put in a word of your own as the sentence, with a character the text never has. The model \
                 sees an unknown □ and goes on.",
        ),
        line(
            "While it trains, raise the learning rate to 3. Is what it breaks learned again when you lower \
                 it to 0.005?",
        ),
        line(
            "Change the seed and start over: which heads find the same job again, and which swap?",
        ),
    ]
}
