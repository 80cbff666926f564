//! `gpt`: a GPT that learns the learner's text, and its attention as it learns.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    link::{Chapter as ChapterId, Part},
};

use super::Info;
use crate::{
    controls::{DivergedAlert, ProbeEditor, Settings, TextChooser, Transport, Writing},
    course::{WayIn, answers_state, use_part},
    figures::{AttentionFigure, Experiment, Inspection, LossFigure, Provenance},
    store::{Device, Store},
};

pub const INFO: Info = Info {
    id: ChapterId::Gpt,
    title: "The GPT lab",
    warm_steps: 0,
    uses_text: true,
    view: || {
        let store = expect_context::<Store>();
        if store.link.with_untracked(|link| link.embed) {
            view! { <EmbeddedChapter/> }.into_any()
        } else {
            view! { <Chapter/> }.into_any()
        }
    },
};

/// The chapter as it stands on the page.
#[component]
fn Chapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let attention = use_part(store.in_sight.trace);
    view! {
        <main id="main" class="chapter" data-testid="chapter-gpt"
            data-answers=move || answers_state(store.behind.get())>
            <div class="chapter-intro">
                <h1 id="chapter-title" tabindex="-1">"Watch a GPT learn to write"</h1>
                <p>
                    "It reads one character at a time and guesses the next. To guess, each character looks \
                     back at those before it: that is attention. Press Train and watch it find something \
                     to look at."
                </p>
                <WayIn/>
            </div>
            <div class="lab">
                <div class="panel" node_ref=attention>
                    <h2>"Attention"</h2>
                    <ProbeEditor/>
                    <Attention compact=false/>
                </div>
                <div class="lab-side">
                    <div class="panel">
                        <h2>"Training"</h2>
                        <Transport/>
                        <DivergedAlert/>
                        <Loss/>
                    </div>
                    <div class="panel">
                        <h2>"What it writes"</h2>
                        <Writing/>
                    </div>
                </div>
            </div>
            <div class="lab-below">
                <div class="panel">
                    <h2>"The text it learns"</h2>
                    <TextChooser/>
                </div>
                <div class="panel">
                    <h2>"The model"</h2>
                    <Settings/>
                </div>
                <div class="panel">
                    <h2>"What to try"</h2>
                    <Try/>
                </div>
            </div>
        </main>
    }
}

/// The chapter's figure without the shell, for other people's pages.
#[component]
fn EmbeddedChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let shows = move |part| store.link.with(|link| !link.hide.contains(&part));
    let attention = use_part(store.in_sight.trace);
    view! {
        <main id="main" class="embed" data-testid="chapter-gpt"
            data-answers=move || answers_state(store.behind.get())>
            <Show when=move || shows(Part::Controls)><Transport/></Show>
            <DivergedAlert/>
            <div class="embed-columns">
                <div class="embed-figure" node_ref=attention>
                    <Show when=move || shows(Part::Controls)><ProbeEditor/></Show>
                    <Attention compact=true/>
                </div>
                <Show when=move || shows(Part::Loss) || shows(Part::Sample)>
                    <div class="lab-side">
                        <Show when=move || shows(Part::Loss)><Loss/></Show>
                        <Show when=move || shows(Part::Sample)><Writing/></Show>
                    </div>
                </Show>
            </div>
            <Show when=move || shows(Part::Text)>
                <p class="hint">
                    "Attention of a small GPT that is trained in this frame: hover or focus a character to \
                     see what it looks back at."
                </p>
            </Show>
        </main>
    }
}

/// The attention figure on the store's live trace.
#[component]
fn Attention(compact: bool) -> impl IntoView {
    let store = expect_context::<Store>();
    let layer = use_linked(store, |link| &mut link.layer);
    let head = use_linked(store, |link| &mut link.head);
    let provenance = use_provenance(store);
    let planned = Memo::new(move |_| {
        store.started.with(|s| s.as_ref().map(|s| (s.spec.gpt.layers, s.spec.gpt.heads)))
    });
    let inspection = Inspection {
        row: store.inspected.into(),
        problem: store.inspect_problem.into(),
        want: Callback::new(move |cell| store.inspect(cell)),
    };
    view! { <AttentionFigure trace=store.trace layer head planned provenance compact inspection/> }
        .into_any()
}

/// The loss curve of the store's present model.
#[component]
fn Loss() -> impl IntoView {
    let store = expect_context::<Store>();
    let vocabulary =
        Memo::new(move |_| store.started.with(|s| s.as_ref().map_or(0, |s| s.vocabulary.len())));
    let provenance = use_provenance(store);
    view! { <LossFigure curve=store.curve vocabulary provenance/> }.into_any()
}

/// A signal of one number of the link, for figures that know no link. Written either way.
fn use_linked(store: Store, field: fn(&mut Link) -> &mut u32) -> RwSignal<u32> {
    let of_link = move |mut link: Link| *field(&mut link);
    let signal = RwSignal::new(of_link(store.link.get_untracked()));
    Effect::new(move |_| {
        let value = signal.get();
        if of_link(store.link.get_untracked()) != value {
            store.link.update(|link| *field(link) = value);
        }
    });
    Effect::new(move |_| {
        let value = of_link(store.link.get());
        if signal.get_untracked() != value {
            signal.set(value);
        }
    });
    signal
}

/// What an export says of where its numbers come from.
pub fn use_provenance(store: Store) -> Signal<Provenance> {
    Memo::new(move |_| Provenance {
        experiment: store.started.with(|s| Some(Experiment::Gpt(s.as_ref()?.spec))),
        parameters: store.started.with(|s| s.as_ref().map(|s| s.parameters)),
        text: store.source.with(|source| source.name.clone()),
        device: store.device.with(|device| match device {
            Device::Ready { report, .. } => report.name.clone(),
            Device::Loading | Device::Unavailable(_) => String::new(),
        }),
        workers: store.started.with(|s| s.as_ref().map(|s| s.workers)),
    })
    .into()
}

/// Experiments with a surprise in them.
#[component]
fn Try() -> impl IntoView {
    view! {
        <ol class="try-list">
            <li>
                "Before training, point at any character: it looks at all earlier ones about alike. Train for \
                 half a minute and point again."
            </li>
            <li>
                "Train on Brackets for a minute. In a line such as nokq|nokq the second half repeats the first. \
                 Find the head of layer 2 whose dark cells form a second line beside the diagonal: each \
                 letter looks at what came after it the last time."
            </li>
            <li>
                "Put in a word of your own as the sentence, with a character the text never has. The model \
                 sees an unknown □ and goes on."
            </li>
            <li>
                "While it trains, raise the learning rate to 3. Is what it breaks learnt again when you lower \
                 it to 0.005?"
            </li>
            <li>"Change the seed and start over: which heads find the same job again, and which swap?"</li>
        </ol>
    }
}
