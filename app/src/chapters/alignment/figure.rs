//! The source field, the chips, the matrices, and what each decoder expects.

use leptos::prelude::*;
use unroll_protocol::study::alignment::{MOST_EXAMPLES, MOST_SOURCE, name};

use super::{Page, exact, last, style, use_row};
use crate::{
    course::use_lab,
    figures::{
        BarsFigure, CellInspector, Hue, Matrix, MatrixFigure, ValueMap,
        alignment::{AlignmentFigure, Place},
        token::name_at,
        top_bars,
    },
};

/// Longest text kept of what is typed; fewer characters are read.
const LONGEST: usize = 200;

#[component]
pub fn Figure(page: Page) -> impl IntoView {
    let pinned = Signal::derive(move || {
        page.settings.with(|s| Some((s.model as usize - 1, s.at.checked_sub(1)? as usize)))
    });
    let key = Signal::derive(move || {
        let open = page.settings.with(|s| s.key).checked_sub(1).map(|key| key as usize);
        page.pointed_key.get().or(open)
    });
    let on_pick = Callback::new(move |(model, at): Place| {
        page.set(|s| {
            let chosen = (model as u32 + 1, at as u32 + 1);
            let same = (s.model, s.at) == chosen;
            (s.model, s.at) = if same { (1, 0) } else { chosen };
            s.key = 0;
        });
    });
    let on_pick_key = Callback::new(move |key: usize| {
        if let Some(place) = page.place.get_untracked() {
            page.open(place, key);
        }
    });
    view! {
        <Verdict page/>
        <SourceField page/>
        <Stepper page/>
        <AlignmentFigure alignment=page.alignment place=page.place key pinned
            on_point=Callback::new(move |place| page.pointed.set(place))
            on_point_key=Callback::new(move |key| page.pointed_key.set(key))
            on_pick on_pick_key/>
        <div class="alignment-beside">
            <div class="alignment-matrices">
                {weights(page, 0, "alignment-weights", key)}
                {move || has_weights(page, 1)
                    .then(|| weights(page, 1, "alignment-weights-beside", key))}
            </div>
            <Expected page/>
        </div>
        <Inspector page/>
    }
    .into_any()
}

/// How often each model is right just now.
#[component]
fn Verdict(page: Page) -> impl IntoView {
    let kinds = Memo::new(move |_| page.kinds());
    let one = move |(model, kind)| {
        let share = Memo::new(move |_| last(&exact(kind)));
        view! {
            <div>
                <dt>{name(kind)}</dt>
                <dd>
                    <span class="alignment-meter" aria-hidden="true">
                        <i style=move || {
                            let width = share.get().unwrap_or(0.0) * 100.0;
                            format!("width:{width}%; background:{}", style(model).0.css())
                        }></i>
                        <b></b>
                    </span>
                    <span data-testid=format!("alignment-right-{model}")>
                        {move || share.get().map_or("–".to_owned(), |s| format!("{:.1} %", 100.0 * s))}
                    </span>
                </dd>
            </div>
        }
    };
    view! {
        <div class="alignment-verdict">
            <p>"Held-out sources answered without one mistake (mark: 95 %)"</p>
            <dl>{move || kinds.get().into_iter().enumerate().map(one).collect_view()}</dl>
        </div>
    }
    .into_any()
}

/// The source: a held-out one, or what the learner types.
#[component]
fn SourceField(page: Page) -> impl IntoView {
    let Page { store, settings, reading, .. } = page;
    let value = move || {
        if settings.with(|s| s.example) == 0 {
            return store.probe.get();
        }
        reading.with(|r| r.as_ref().map_or(String::new(), |r| r.source.concat()))
    };
    let on_input = move |event| {
        let text: String = event_target_value(&event).chars().take(LONGEST).collect();
        store.set_probe(text);
        page.set(|s| (s.example, s.key) = (0, 0));
    };
    let another = move |_| page.set(|s| (s.example, s.key) = (s.example % MOST_EXAMPLES + 1, 0));
    let note = Memo::new(move |_| {
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
                "The models never met {}: each is read as unknown, □.",
                list.join(", ")
            ));
        }
        if reading.source.len() > reading.longest_trained as usize {
            notes.push(format!(
                "Longer than any source trained on ({} characters): see how far each gets.",
                reading.longest_trained
            ));
        }
        if reading.wanted.is_none() {
            notes.push("There is no right answer to this, so nothing is marked as wrong.".into());
        }
        Some(notes.join(" "))
    });
    let problem = page.answered.problem;
    view! {
        <div class="alignment-source">
            <label for="alignment-source">"Source (type your own)"</label>
            <input type="text" id="alignment-source" data-testid="alignment-source"
                autocomplete="off" autocapitalize="off" spellcheck="false"
                aria-describedby="alignment-note alignment-problem"
                aria-invalid=move || problem.with(Option::is_some).then_some("true")
                prop:value=value on:input=on_input/>
            <button type="button" class="button" data-testid="alignment-another" on:click=another>
                "Another"
            </button>
            <p class="hint" id="alignment-note" role="status" data-testid="alignment-note">{note}</p>
            <p class="field-error" id="alignment-problem" role="alert" data-testid="alignment-problem">
                {move || problem.get()}
            </p>
        </div>
    }
    .into_any()
}

/// One character after the other.
#[component]
fn Stepper(page: Page) -> impl IntoView {
    let length = Memo::new(move |_| {
        page.alignment.with(|a| a.decoded.iter().map(|d| d.tokens.len()).max().unwrap_or(0) as u32)
    });
    let steps = Memo::new(move |_| page.settings.with(|s| s.steps));
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
    let says = move || match (steps.get(), length.get()) {
        (0, _) => "the whole output".to_owned(),
        (now, length) => format!("character {} of {length}", now.min(length)),
    };
    view! {
        <div class="button-row alignment-steps" role="group" aria-label="Step the decoders">
            <button type="button" class="button" data-testid="alignment-back"
                aria-disabled=move || (steps.get() < 2).then_some("true") on:click=back>
                <span aria-hidden="true">"◀"</span><span class="visually-hidden">"One character back"</span>
            </button>
            <button type="button" class="button" data-testid="alignment-next"
                aria-disabled=move || (steps.get() >= length.get()).then_some("true") on:click=forward>
                {move || if steps.get() == 0 { "Character by character " } else { "Next character " }}
                <span aria-hidden="true">"▶"</span>
            </button>
            <button type="button" class="button button-quiet" data-testid="alignment-all"
                aria-disabled=move || (steps.get() == 0).then_some("true") on:click=move |_| go(0)>
                "All at once"
            </button>
            <span class="hint" role="status" data-testid="alignment-progress">{says}</span>
        </div>
    }
    .into_any()
}

fn has_weights(page: Page, model: usize) -> bool {
    page.reading.with(|r| {
        let output = r.as_ref().and_then(|r| r.outputs.get(model));
        output.is_some_and(|output| output.weights.is_some())
    })
}

/// One model's alignment: produced characters downwards, source characters to the right.
fn weights(page: Page, model: usize, id: &'static str, key: Signal<Option<usize>>) -> AnyView {
    let there = Memo::new(move |_| has_weights(page, model));
    let matrix = Signal::derive(move || {
        page.alignment.with(|a| {
            let Some(decoded) = a.decoded.get(model).filter(|d| !d.weights.is_empty()) else {
                return Matrix::default();
            };
            let shown = a.count(model);
            let rows = decoded.tokens.iter().enumerate();
            let rows = rows.map(|(i, token)| if i < shown { token.clone() } else { "·".into() });
            let mut values = decoded.weights.clone();
            values.iter_mut().skip(shown * a.source.len()).for_each(|value| *value = f32::NAN);
            Matrix {
                row_axis: "produced".into(),
                column_axis: "source".into(),
                rows: rows.collect(),
                columns: a.source.clone(),
                values,
                map: ValueMap::Probability,
                value_name: "attention weight".into(),
                absent: "not produced yet".into(),
            }
        })
    });
    let title = Signal::derive(move || {
        let name = page.reading.with(|r| {
            r.as_ref().and_then(|r| r.outputs.get(model)).map_or("", |output| name(output.kind))
        });
        format!("{name}: who reads what")
    });
    let describe = Callback::new(move |(row, column, value): (usize, usize, f32)| {
        page.alignment.with_untracked(|a| {
            let source = a.source.get(column).map_or(String::new(), |s| name_at(s, column));
            match a.decoded.get(model).and_then(|d| d.tokens.get(row)) {
                Some(token) if value.is_finite() => format!(
                    "For {} it reads {source} with a weight of {value:.4}.",
                    name_at(token, row)
                ),
                _ => "Not produced yet.".to_owned(),
            }
        })
    });
    let row = Signal::derive(move || page.place.get().filter(|p| p.0 == model).map(|p| p.1));
    let on_pick = Callback::new(move |(at, key): (usize, usize)| {
        if page.alignment.with_untracked(|a| at < a.count(model)) {
            page.open((model, at), key);
        }
    });
    let on_point = Callback::new(move |cell: Option<(usize, usize)>| {
        page.pointed.set(cell.map(|(at, _)| (model, at)));
        page.pointed_key.set(cell.map(|(_, key)| key));
    });
    view! {
        <div class="alignment-matrix">
            {move || if there.get() {
                view! {
                    <MatrixFigure name=id title matrix describe row column=key on_pick on_point
                        provenance=page.provenance/>
                }.into_any()
            } else {
                view! {
                    <p class="alignment-none">
                        "Without attention there is no matrix: whatever the decoder writes, it has the \
                         encoder’s last states and nothing else."
                    </p>
                }.into_any()
            }}
        </div>
    }
    .into_any()
}

/// What each decoder expects as the character on show.
#[component]
fn Expected(page: Page) -> impl IntoView {
    let at = Memo::new(move |_| page.place.get().map(|place| place.1));
    let one = move |model: usize, id: &'static str| {
        let bars = Signal::derive(move || {
            let bars = page.reading.with(|reading| {
                let reading = reading.as_ref()?;
                let at = at.get()?;
                let row = reading.outputs.get(model)?.probabilities.block(&[at])?;
                let wanted = reading.wanted.as_ref().and_then(|wanted| wanted.get(at));
                let right = reading.symbols.iter().position(|symbol| Some(symbol) == wanted);
                Some(top_bars(row, &reading.symbols, 5, right))
            });
            bars.unwrap_or_default()
        });
        let title = Signal::derive(move || {
            let name = page.reading.with(|r| {
                r.as_ref().and_then(|r| r.outputs.get(model)).map_or("", |output| name(output.kind))
            });
            match at.get() {
                Some(at) => format!("{name} expects as character {}", at + 1),
                None => format!("{name}: point at a produced character"),
            }
        });
        view! {
            <BarsFigure name=id title bars top=5 hue=Hue::Output provenance=page.provenance/>
        }
    };
    let second = Memo::new(move |_| page.kinds().len() > 1);
    view! {
        <div class="alignment-expected">
            {one(0, "alignment-expected")}
            {move || second.get().then(|| one(1, "alignment-expected-beside"))}
        </div>
    }
    .into_any()
}

/// The arithmetic of one weight.
#[component]
fn Inspector(page: Page) -> impl IntoView {
    let row = use_row(page);
    let key = Signal::derive(move || page.settings.with(|s| s.key).saturating_sub(1) as usize);
    let queries = Signal::derive(move || {
        let model = page.settings.with(|s| s.model as usize - 1);
        page.alignment.with(|a| a.count(model))
    });
    let go = Callback::new(move |(at, key): (usize, usize)| {
        page.set(|s| (s.at, s.key) = (at as u32 + 1, key as u32 + 1));
    });
    let close = Callback::new(move |()| page.set(|s| s.key = 0));
    let lab = use_lab();
    view! {
        <CellInspector row key go close queries provenance=page.provenance/>
        {move || (page.settings.with(|s| s.key > 0) && lab.step.get() == 0).then(|| view! {
            <p class="hint">"Nothing is learnt yet: these are the first, random weights at work."</p>
        })}
    }
    .into_any()
}
