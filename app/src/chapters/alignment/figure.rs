//! The views on one source: who reads what, one weight taken apart, and what each decoder expects.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::{
    study::alignment::{MOST_EXAMPLES, MOST_SOURCE, name},
    transduction::AttentionKind,
};
use wasm_bindgen::JsCast;

use super::map::{AlignmentFigure, ProducedChips, SourceChips, compared};
use super::{Page, exact, last, panels, style, use_row};
use crate::{
    controls::{Source, SourceBar},
    course::use_lab,
    figures::{
        BarsFigure, CellInspector, Hue, Naming, ValueMap, percent,
        scale::ScaleBar,
        since::{Since, short_name, use_since},
        theme::use_colors,
        top_bars,
    },
    reactive::{effect, memo},
};

/// The chapter's own view: who reads what, and how often that is right.
pub fn reads(page: Page) -> AnyView {
    let second = memo(move || page.kinds().len() > 1);
    let is_pair = memo(move || has_weights(page, 1));
    let any_wrong = memo(move || {
        page.alignment.with(|a| {
            let mut right = a.decoded.iter().flat_map(|d| d.right.iter().take(a.shown));
            right.any(|right| !right)
        })
    });
    let since = use_since(move || {
        page.alignment.with(|a| [0, 1].map(|model| Arc::new(compared(a, model))).to_vec())
    });
    // Of one scale, as the maps have it together.
    let scale = memo(move || {
        let moved = [0, 1].into_iter().filter_map(|model| since.moved(model));
        let moved = moved.into_iter().find(|moved| moved.shape() != (0, 0));
        moved.map_or((ValueMap::Probability, "weight".to_owned()), |moved| {
            (moved.map, short_name(&moved.value_name).to_owned())
        })
    });
    view! {
        <SourceBar source=source(page)><Stepper page/></SourceBar>
        <section class="alignment-stage" class:is-pair=is_pair class:has-aside=move || !is_pair.get() data-testid="figure-alignment"
            aria-label="The source and what was written from it"
            data-state=move || if page.alignment.with(|a| a.source.is_empty()) { "empty" } else { "live" }>
            {weights(page, 0, "alignment-weights", since)}
            {move || is_pair.get().then(|| weights(page, 1, "alignment-weights-beside", since))}
            <div class="alignment-beside">
                <Shares page/>
                {move || (second.get() && !is_pair.get()).then(|| view! {
                    <div class="alignment-other">
                        <p class="hint">"the model without attention writes"</p>
                        <ProducedChips gaze=page.gaze() model=1/>
                    </div>
                })}
                {move || any_wrong.get().then(|| view! {
                    <p class="hint alignment-wrong">
                        <span class="alignment-mark">"Red"</span>" marks a mistake."
                    </p>
                })}
                <panels::SmallLengths page/>
                <ScaleBar short=true label=Signal::derive(move || scale.get().1)
                    map=Signal::derive(move || scale.get().0)
                    value=Signal::stored(None) colors=use_colors()/>
            </div>
        </section>
    }
    .into_any()
}

/// One weight taken apart; which, is chosen in the two rows of characters.
pub fn score(page: Page) -> AnyView {
    let model = memo(move || page.looking());
    view! {
        <div class="alignment-rows">
            <span class="hint">"writes"</span>
            {move || view! { <ProducedChips gaze=page.gaze() model=model.get()/> }}
            <span class="hint">"reads"</span>
            <SourceChips gaze=page.gaze() testid="alignment-source-row"/>
        </div>
        <div class="view-scroll alignment-score"><Inspector page/></div>
    }
    .into_any()
}

/// What each decoder expects as the character on show.
pub fn expects(page: Page) -> AnyView {
    let kinds = memo(move || page.kinds());
    let row = move |(model, kind): (usize, AttentionKind)| {
        view! { <span class="hint">{name(kind)}</span> <ProducedChips gaze=page.gaze() model/> }
    };
    view! {
        <div class="alignment-rows">
            {move || kinds.get().into_iter().enumerate().map(row).collect_view()}
        </div>
        <Expected page/>
    }
    .into_any()
}

/// How often each model is right just now.
#[component]
fn Shares(page: Page) -> impl IntoView {
    let kinds = memo(move || page.kinds());
    let one = move |(model, kind): (usize, AttentionKind)| {
        let share = memo(move || last(&exact(kind)));
        view! {
            <div>
                <dt>{name(kind)}</dt>
                <dd>
                    <span class="alignment-share-of" style=format!("color:{}", style(model).0.css())
                        data-testid=format!("alignment-right-{model}")>
                        {move || share.get().map_or("–".to_owned(), |s| percent(s, 1))}
                    </span>
                    <span class="alignment-meter" aria-hidden="true">
                        <i style=move || {
                            let width = share.get().unwrap_or(0.0) * 100.0;
                            format!("width:{width}%; background:{}", style(model).0.css())
                        }></i>
                        <b><small>"95%"</small></b>
                    </span>
                </dd>
            </div>
        }
    };
    view! {
        <div class="alignment-verdict" title="Held-out sources answered without a mistake">
            <p class="hint">"correct to the last character"</p>
            <dl>{move || kinds.get().into_iter().enumerate().map(one).collect_view()}</dl>
        </div>
    }
    .into_any()
}

/// The source, and what is to be said of it.
fn source(page: Page) -> Source {
    let Page { store, settings, reading, answered, .. } = page;
    let value = Signal::derive(move || {
        if settings.with(|s| s.example) == 0 {
            return store.probe.get();
        }
        reading.with(|r| r.as_ref().map_or(String::new(), |r| r.source.concat()))
    });
    let on_input = Callback::new(move |text| {
        store.set_probe(text);
        page.set(|s| (s.example, s.key) = (0, 0));
    });
    let on_another = Callback::new(move |()| {
        page.set(|s| (s.example, s.key) = (s.example % MOST_EXAMPLES + 1, 0));
    });
    let note = memo(move || {
        let reading = reading.get()?;
        let mut notes = Vec::new();
        if reading.dropped > 0 {
            notes.push(format!(
                "Only the first {MOST_SOURCE} characters are read, {} are left out.",
                reading.dropped
            ));
        }
        if !reading.unknown.is_empty() {
            let list: Vec<_> = reading.unknown.iter().take(6).map(|c| format!("‘{c}’")).collect();
            notes.push(format!(
                "The models never met {}. Each is read as unknown, □.",
                list.join(", ")
            ));
        }
        if reading.source.len() > reading.longest_trained as usize {
            notes.push(format!(
                "Longer than any source trained on ({} characters). See how far each model gets.",
                reading.longest_trained
            ));
        }
        if reading.wanted.is_none() {
            notes.push("There is no right answer to this, so nothing is marked as wrong.".into());
        }
        Some(notes.join(" "))
    });
    Source {
        name: "alignment",
        value,
        on_input,
        on_another,
        note: note.into(),
        problem: answered.problem,
    }
}

/// One character after the other.
#[component]
fn Stepper(page: Page) -> impl IntoView {
    let length = memo(move || {
        page.alignment.with(|a| a.decoded.iter().map(|d| d.tokens.len()).max().unwrap_or(0) as u32)
    });
    let steps = memo(move || page.settings.with(|s| s.steps));
    let go = move |to: u32| page.set(|s| (s.steps, s.at, s.key) = (to, 0, 0));
    let forward = move |_| {
        let now = steps.get_untracked();
        if now < length.get_untracked() {
            go(now + 1);
        }
    };
    let back = move |_| {
        if steps.get_untracked() > 1 {
            go(steps.get_untracked() - 1);
        }
    };
    let all = move |_| {
        if steps.get_untracked() > 0 {
            go(0);
        }
    };
    let says = move || match (steps.get(), length.get()) {
        (0, _) => String::new(),
        (now, length) => format!("character {} of {length}", now.min(length)),
    };
    view! {
        <div class="alignment-steps" role="group" aria-label="Step the decoders">
            <button type="button" class="button" data-testid="alignment-back"
                aria-disabled=move || (steps.get() < 2).then_some("true") on:click=back>
                <span aria-hidden="true">"◀"</span><span class="visually-hidden">"One character back"</span>
            </button>
            <button type="button" class="button button-primary" data-testid="alignment-next"
                aria-disabled=move || (steps.get() >= length.get()).then_some("true") on:click=forward>
                "Write one more"
            </button>
            <button type="button" class="button" data-testid="alignment-all"
                aria-pressed=move || (steps.get() == 0).to_string() on:click=all>
                "Write all"
            </button>
            <span class="hint" role="status" data-testid="alignment-progress">{says}</span>
        </div>
    }
    .into_any()
}

pub fn has_weights(page: Page, model: usize) -> bool {
    page.reading.with(|r| {
        let output = r.as_ref().and_then(|r| r.outputs.get(model));
        output.is_some_and(|output| output.weights.is_some())
    })
}

/// One model's alignment.
fn weights(page: Page, model: usize, id: &'static str, since: Since) -> AnyView {
    let title = Signal::derive(move || {
        let name = page.reading.with(|r| {
            r.as_ref().and_then(|r| r.outputs.get(model)).map_or("", |output| name(output.kind))
        });
        format!("{name}: who reads what")
    });
    let chosen = Signal::derive(move || {
        page.settings.with(|s| {
            let cell = Some((s.at.checked_sub(1)? as usize, s.key.checked_sub(1)? as usize));
            cell.filter(|_| s.model as usize == model + 1)
        })
    });
    let on_cell = Callback::new(move |(place, key)| page.open(place, key));
    // One compares all maps, as one scale explains them.
    let compare = (model == 0).then(|| {
        ViewFn::from(move || {
            since.button(
                "alignment",
                Signal::stored(String::new()),
                page.provenance,
                Signal::stored(None),
            )
        })
    });
    view! {
        <AlignmentFigure name=id title gaze=page.gaze() model since compare chosen on_cell
            provenance=page.provenance/>
    }
    .into_any()
}

/// What each decoder expects as the character on show.
#[component]
fn Expected(page: Page) -> impl IntoView {
    let at = memo(move || page.place.get().map(|place| place.1));
    let one = move |model: usize, id: &'static str| {
        let bars = Signal::derive(move || {
            let bars = page.reading.with(|reading| {
                let reading = reading.as_ref()?;
                let at = at.get()?;
                let row = reading.outputs.get(model)?.probabilities.block(&[at])?;
                let wanted = reading.wanted.as_ref().and_then(|wanted| wanted.get(at));
                let right = reading.symbols.iter().position(|symbol| Some(symbol) == wanted);
                Some(top_bars(row, &reading.symbols, 8, right))
            });
            bars.unwrap_or_default()
        });
        let title = Signal::derive(move || {
            let name = page.reading.with(|r| {
                r.as_ref().and_then(|r| r.outputs.get(model)).map_or("", |output| name(output.kind))
            });
            match at.get() {
                Some(at) => format!("{name} expects as character {}", at + 1),
                None => format!("{name}: point at a written character"),
            }
        });
        view! {
            <BarsFigure name=id title bars top=8 hue=Hue::Output provenance=page.provenance/>
        }
    };
    let second = memo(move || page.kinds().len() > 1);
    view! {
        <div class="view-split alignment-expected" class:is-one=move || !second.get()>
            {one(0, "alignment-expected")}
            {move || second.get().then(|| one(1, "alignment-expected-beside"))}
        </div>
    }
    .into_any()
}

/// The arithmetic of one weight.
#[component]
fn Inspector(page: Page) -> impl IntoView {
    let lab = use_lab();
    let row = use_row(page);
    let key = Signal::derive(move || page.cell().map_or(0, |(_, key)| key));
    let queries = Signal::derive(move || page.alignment.with(|a| a.count(page.looking())));
    let go = Callback::new(move |(at, key): (usize, usize)| {
        page.set(|s| {
            (s.model, s.at, s.key) = (page.looking() as u32 + 1, at as u32 + 1, key as u32 + 1);
        });
    });
    // Back to where cells are chosen.
    let close = Callback::new(move |()| {
        page.store.link.update(|link| {
            link.alignment.key = 0;
            link.view.clear();
        });
        // They were gone meanwhile, so the keyboard can't find back by itself.
        let matrix = page.looking() as u32;
        request_animation_frame(move || {
            let cells = document().query_selector_all(".view .alignment-cells").ok();
            let cells = cells.and_then(|all| all.item(matrix).or_else(|| all.item(0)));
            if let Some(cells) = cells {
                let _ = cells.unchecked_into::<web_sys::HtmlElement>().focus();
            }
        });
    });
    // Who has opened a cell goes on with it by keyboard: its heading takes over from here.
    let root = NodeRef::<html::Div>::new();
    effect(move || {
        let Some(root) = root.get() else { return };
        if page.opened.try_update_value(core::mem::take) == Some(true) {
            let _ = root.focus();
        }
    });
    let is_blind = memo(move || !has_weights(page, page.looking()));
    view! {
        <div tabindex="-1" node_ref=root>
            <CellInspector row key go close queries naming=Naming::States provenance=page.provenance/>
        </div>
        <p class="view-note">
            {move || if is_blind.get() {
                "Give one of the models attention. Without it, nothing is scored."
            } else if lab.shown() == 0 {
                "Nothing is learned yet. These numbers come from the first, random weights."
            } else {
                ""
            }}
        </p>
    }
    .into_any()
}
