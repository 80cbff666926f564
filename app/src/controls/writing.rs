//! What the model writes, and how boldly.

use leptos::prelude::*;
use unroll_protocol::{link::Value, read_number};

use super::{
    field::{Entry, NumberField},
    format::{general, grouped, setting},
};
use crate::{
    course::use_part,
    figures::{own, token::readable},
    questions::Questions,
    reactive::memo,
    store::{Store, Writing as Draft},
};

/// Hottest writing on the slider. Above it every character is as likely as any other.
const HOTTEST: f32 = 2.0;

/// The model's writing with its temperature and top-k.
#[component]
pub fn Writing() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.writing_sight);
    let step = memo(move || store.written.with(|written| written.step));
    let after = move || match step.get() {
        _ if store.is_given() => String::new(),
        0 => "before any training".to_owned(),
        step => format!("after step {}", grouped(step.into())),
    };
    let temperature = move || store.link.with(|link| link.gpt.temperature);
    let top_k = move |(value, entry)| {
        store.link.update(|link| (setting("topk").set)(link, value));
        if entry != Entry::Typing {
            store.write_again();
        }
    };
    let (id, hint) = (own("control", "temperature"), own("hint", "temperature"));
    let (temperature_row, words) = (setting("temperature"), general("temperature"));
    view! {
        <div class="writing view-fill" node_ref=part>
            {drafts(store)}
            <h3 class="writing-head">"What it writes " <span class="hint" id="sample-step">{after}</span></h3>
            // Scrolls, so it takes the focus; not live, or a screen reader would never fall silent.
            <div class="sample" tabindex="0" role="group" aria-label="Text written by the model"
                aria-describedby="sample-step">
                <p data-testid="sample-text" data-step=step>
                    {move || store.written.with(|written| readable(&written.text))}
                    <span class="caret" class:caret-on=move || store.written.with(|w| !w.done)
                        aria-hidden="true"></span>
                </p>
            </div>
            <div class="view-bar">
                <button type="button" class="button" data-testid="write-again"
                    on:click=move |_| store.write_again()>
                    "Write again"
                </button>
                <div class="field" title=words.help>
                    <label for=id.clone()>{words.label}</label>
                    <input type="range" id=id.clone() data-testid="control-temperature"
                        min="0" max=HOTTEST.to_string() step="0.05" aria-describedby=hint.clone()
                        prop:value=move || temperature().to_string()
                        on:input=move |event| {
                            if let Some(heat) = read_number(&event_target_value(&event)) {
                                let heat = Value::Real(heat as f32);
                                store.link.update(|link| (temperature_row.set)(link, heat));
                            }
                        }
                        on:change=move |_| store.write_again()/>
                    <output class="field-range" for=id>
                        {move || format!("{:.2}", temperature())}
                    </output>
                    <span class="visually-hidden" id=hint>{words.help}</span>
                </div>
                <NumberField name="topk" on_entry=Callback::new(top_k)/>
            </div>
        </div>
    }
}

/// What the model wrote before: noise at the top, words further down. A press leads to that moment.
fn drafts(store: Store) -> AnyView {
    let now = memo(move || store.written.with(|written| written.step));
    let questions = Questions::from(store);
    let before = memo(move || {
        // Who looks at the past may go on from there to another moment.
        let end = questions.at.get().map_or_else(|| now.get(), |_| u32::MAX);
        let drafts = store.drafts.get().into_iter();
        drafts.filter(|draft| draft.step < end).collect::<Vec<Draft>>()
    });
    let look_at = move |step: u32| {
        let nearest = questions.recorded.with_untracked(|recorded| recorded.nearest(step));
        questions.look_at(nearest.filter(|nearest| *nearest < store.step.get_untracked()));
    };
    let row = move |draft: Draft| {
        let step = draft.step;
        let name = match step {
            0 => "untrained".to_owned(),
            step => format!("step {}", grouped(step.into())),
        };
        view! {
            <li>
                <button type="button" class="draft" title="Look at that moment"
                    aria-current=move || (now.get() == step).then_some("true") on:click=move |_| look_at(step)>
                    <span class="draft-step">{name}</span>
                    <span class="draft-text">{readable(&draft.text).replace('\n', " ⏎ ")}</span>
                </button>
            </li>
        }
    };
    view! {
        <ol class="drafts" aria-label="What it wrote before" data-testid="drafts">
            <For each=move || before.get() key=|draft| draft.step children=row/>
        </ol>
    }
    .into_any()
}
