//! A source above, what decoders produced from it below, and lines from each produced character to
//! the source characters it was made from.

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::token::{mark, name_at, spoken};

/// What one decoder produced from a source of `S` characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    pub name: String,
    pub tokens: Vec<String>,
    /// Whether each is the right one; empty where that is not known.
    pub right: Vec<bool>,
    /// `[T, S]`, row by row; empty for a decoder without attention.
    pub weights: Vec<f32>,
}

/// Everything on show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    pub source: Vec<String>,
    pub decoded: Vec<Decoded>,
    /// Characters produced so far, of each; what comes later is not shown yet.
    pub shown: usize,
}

/// A produced character: whose, and which, from 0.
pub type Place = (usize, usize);

impl Decoded {
    /// What producing character `at` read, `S` weights; empty without attention.
    pub fn row(&self, at: usize) -> &[f32] {
        let length = self.weights.len().checked_div(self.tokens.len()).unwrap_or(0);
        self.weights.get(at * length..(at + 1) * length).unwrap_or(&[])
    }
}

impl Alignment {
    /// The weights on show for the produced character at `place`.
    pub fn row(&self, (model, at): Place) -> &[f32] {
        self.decoded.get(model).map_or(&[], |decoded| decoded.row(at))
    }

    /// How many characters of decoder `model` are on show.
    pub fn count(&self, model: usize) -> usize {
        self.decoded.get(model).map_or(0, |decoded| decoded.tokens.len().min(self.shown))
    }

    fn columns(&self) -> usize {
        let produced = self.decoded.iter().map(|decoded| decoded.tokens.len());
        produced.chain([self.source.len()]).max().unwrap_or(1).max(1)
    }
}

/// A weight in percent, short enough for a chip: nothing for what is under half a percent.
fn percent(weight: f32) -> String {
    if weight < 0.005 { String::new() } else { format!("{:.0}", 100.0 * weight) }
}

/// The sentence for what a produced character read: the three largest weights.
pub fn read_sentence(alignment: &Alignment, place: Place) -> Option<String> {
    let (model, at) = place;
    let decoded = alignment.decoded.get(model)?;
    let token = decoded.tokens.get(at)?;
    let row = decoded.row(at);
    if row.is_empty() {
        return Some(format!(
            "{} made {} from the encoder’s last states alone: it reads no source character.",
            decoded.name,
            name_at(token, at)
        ));
    }
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
    let read = order.iter().take(3).map(|&j| {
        format!("{} {:.2} %", name_at(alignment.source.get(j).map_or("", |s| s), j), 100.0 * row[j])
    });
    let read = read.collect::<Vec<_>>().join(", ");
    Some(format!("For {}, {} read {read}.", name_at(token, at), decoded.name))
}

/// The chips and their lines.
///
/// `place` is the produced character whose weights stand under the source, `key` a source character
/// that is pointed at. A click or Enter chooses a produced character (`on_pick`), or the cell of
/// `place` and a source character (`on_pick_key`).
#[component]
pub fn AlignmentFigure(
    alignment: Memo<Alignment>,
    place: Signal<Option<Place>>,
    key: Signal<Option<usize>>,
    pinned: Signal<Option<Place>>,
    on_point: Callback<Option<Place>>,
    on_point_key: Callback<Option<usize>>,
    on_pick: Callback<Place>,
    on_pick_key: Callback<usize>,
) -> AnyView {
    let length = Memo::new(move |_| alignment.with(|a| a.source.len()));
    let models = Memo::new(move |_| alignment.with(|a| a.decoded.len()));
    let columns = Memo::new(move |_| alignment.with(Alignment::columns));
    let weight = move |j: usize| {
        let place = place.get()?;
        alignment.with(|a| a.row(place).get(j).copied())
    };
    let source_chip = move |j: usize| {
        Chip {
            id: format!("alignment-source-{j}"),
            role: "key",
            token: Signal::derive(move || {
                alignment.with(|a| a.source.get(j).cloned().unwrap_or_default())
            }),
            share: Signal::derive(move || weight(j)),
            lit: Signal::derive(move || key.get() == Some(j)),
            pinned: Signal::stored(false),
            right: Signal::stored(None),
            waiting: Signal::stored(false),
            position: j,
            tab: Signal::derive(move || key.get().unwrap_or(0) == j),
            point: Callback::new(move |here: bool| on_point_key.run(here.then_some(j))),
            pick: Callback::new(move |()| on_pick_key.run(j)),
        }
        .view()
    };
    let produced_chip = move |model: usize, i: usize| {
        let decoded = move |f: &dyn Fn(&Decoded) -> bool| {
            alignment.with(|a| a.decoded.get(model).is_some_and(f))
        };
        Chip {
            id: format!("alignment-output-{model}-{i}"),
            role: "query",
            token: Signal::derive(move || {
                alignment.with(|a| {
                    let token = a.decoded.get(model).and_then(|d| d.tokens.get(i));
                    token.filter(|_| i < a.shown).cloned().unwrap_or_default()
                })
            }),
            share: Signal::derive(move || {
                let key = key.get()?;
                alignment.with(|a| a.row((model, i)).get(key).copied())
            }),
            lit: Signal::derive(move || place.get() == Some((model, i))),
            pinned: Signal::derive(move || pinned.get() == Some((model, i))),
            right: Signal::derive(move || {
                alignment.with(|a| a.decoded.get(model)?.right.get(i).copied())
            }),
            waiting: Signal::derive(move || {
                alignment.with(|a| i >= a.shown) && decoded(&|d| i < d.tokens.len())
            }),
            position: i,
            tab: Signal::derive(move || {
                let at = place.get().filter(|p| p.0 == model).map_or(0, |p| p.1);
                at.min(alignment.with(|a| a.count(model)).saturating_sub(1)) == i
            }),
            point: Callback::new(move |here: bool| on_point.run(here.then_some((model, i)))),
            pick: Callback::new(move |()| on_pick.run((model, i))),
        }
        .view()
    };
    let row = move |model: usize| {
        let name = Memo::new(move |_| {
            alignment.with(|a| a.decoded.get(model).map_or(String::new(), |d| d.name.clone()))
        });
        let count = Memo::new(move |_| {
            alignment.with(|a| a.decoded.get(model).map_or(0, |d| d.tokens.len()))
        });
        let verdict = move || {
            alignment.with(|a| {
                let decoded = a.decoded.get(model)?;
                let wrong = decoded.right.iter().filter(|right| !**right).count();
                match (decoded.right.is_empty() || a.shown < decoded.tokens.len(), wrong) {
                    (true, _) => None,
                    (false, 0) => Some("all right".to_owned()),
                    (false, wrong) => Some(format!("{wrong} of {} wrong", decoded.tokens.len())),
                }
            })
        };
        view! {
            <p class="alignment-name">
                <strong>{move || name.get()}</strong>
                <span class="hint" data-testid=format!("alignment-verdict-{model}")>{verdict}</span>
            </p>
            <div class="alignment-row" role="listbox" aria-orientation="horizontal"
                data-testid=format!("alignment-output-{model}")
                aria-label=move || format!("Produced by {}. Arrow keys move, Enter keeps one.", name.get())>
                <For each=move || 0..count.get() key=|i| *i children=move |i| produced_chip(model, i)/>
            </div>
        }
        .into_any()
    };
    view! {
        <section class="alignment-figure" aria-label="Source and what was produced from it"
            data-testid="figure-alignment"
            data-state=move || if length.get() == 0 { "empty" } else { "live" }>
            <div class="alignment-scroll">
                <div class="alignment-track" style=move || format!("--columns: {}", columns.get())>
                    <p class="alignment-name"><strong>"Source"</strong>
                        <span class="hint">{move || place.get().map(|_| "read, in %")}</span></p>
                    <div class="alignment-row" role="listbox" aria-orientation="horizontal"
                        data-testid="alignment-source-row"
                        aria-label="Source characters. Arrow keys move, Enter takes a weight apart.">
                        <For each=move || 0..length.get() key=|j| *j children=source_chip/>
                    </div>
                    <Threads alignment place columns/>
                    <For each=move || 0..models.get() key=|m| *m children=row/>
                </div>
            </div>
            <p class="alignment-readout" data-testid="alignment-readout">
                {move || place.get().and_then(|place| alignment.with(|a| read_sentence(a, place)))
                    .unwrap_or_else(|| "Point at a produced character to see what it was made from.".to_owned())}
            </p>
        </section>
    }
    .into_any()
}

/// A line from every produced character to every source character it read, as thick as the weight;
/// those of `place` stand out.
#[component]
fn Threads(
    alignment: Memo<Alignment>,
    place: Signal<Option<Place>>,
    columns: Memo<usize>,
) -> AnyView {
    // Rows with lines of one look: faint ones, and those of the place.
    let path = move |of: &dyn Fn(usize) -> bool, least: f32, most: f32| {
        let model = place.get().map_or(0, |place| place.0);
        alignment.with(|a| {
            let mut d = String::new();
            for i in (0..a.count(model)).filter(|i| of(*i)) {
                for (j, &w) in a.row((model, i)).iter().enumerate() {
                    if w >= least && w < most {
                        d.push_str(&format!("M{}.5 0L{i}.5 1", j));
                    }
                }
            }
            d
        })
    };
    let at = move || place.get().map(|place| place.1);
    let widths = [(0.05, 0.2, 1.0), (0.2, 0.5, 2.0), (0.5, 0.8, 4.0), (0.8, 2.0, 6.0)];
    let lines = widths.map(|(least, most, width)| {
        view! {
            <path class="alignment-thread" stroke-width=width / 2.0
                d=move || path(&|i| Some(i) != at(), least, most)></path>
            <path class="alignment-thread is-shown" stroke-width=width
                d=move || path(&|i| Some(i) == at(), least, most)></path>
        }
    });
    view! {
        <svg class="alignment-threads" aria-hidden="true" preserveAspectRatio="none"
            viewBox=move || format!("0 0 {} 1", columns.get())>
            {lines.collect_view()}
        </svg>
    }
    .into_any()
}

/// One character. Its signals live as long as its element.
struct Chip {
    id: String,
    /// The class of its role.
    role: &'static str,
    token: Signal<String>,
    share: Signal<Option<f32>>,
    lit: Signal<bool>,
    pinned: Signal<bool>,
    right: Signal<Option<bool>>,
    /// Not produced yet.
    waiting: Signal<bool>,
    position: usize,
    tab: Signal<bool>,
    point: Callback<bool>,
    pick: Callback<()>,
}

impl Chip {
    fn view(self) -> AnyView {
        let Self { id, role, token, share, lit, pinned, right, waiting, position, tab, .. } = self;
        let (point, pick) = (self.point, self.pick);
        let element = NodeRef::<html::Div>::new();
        let label = move || {
            let share = share.get().map(|s| format!(", {:.2} %", 100.0 * s)).unwrap_or_default();
            let wrong = if right.get() == Some(false) { ", wrong" } else { "" };
            format!("{}, {}{share}{wrong}", spoken(&token.get()), position + 1)
        };
        let is_word = move || token.with(|token| token.chars().count() > 1);
        let on_key = move |e: ev::KeyboardEvent| {
            let Some(own) = element.get_untracked() else { return };
            let parent = own.parent_element();
            let to = match e.key().as_str() {
                "ArrowLeft" => own.previous_element_sibling(),
                "ArrowRight" => own.next_element_sibling(),
                "Home" => parent.and_then(|row| row.first_element_child()),
                "End" => parent.and_then(|row| row.last_element_child()),
                "Enter" | " " => {
                    e.prevent_default();
                    pick.run(());
                    return;
                }
                _ => return,
            };
            e.prevent_default();
            if let Some(to) = to {
                // Focusing an element that is still there cannot fail.
                let _ = to.unchecked_into::<HtmlElement>().focus();
            }
        };
        view! {
            <div class=format!("alignment-chip role-{role}") role="option" data-testid=id node_ref=element
                class:is-shown=lit class:is-pinned=pinned class:is-waiting=waiting
                class:is-wrong=move || right.get() == Some(false) && !waiting.get()
                tabindex=move || if tab.get() { "0" } else { "-1" }
                aria-label=label
                aria-selected=move || lit.get().to_string()
                data-share=move || share.get().map(|s| s.to_string())
                on:pointerenter=move |e: ev::PointerEvent| {
                    if e.pointer_type() != "touch" && !waiting.get_untracked() { point.run(true) }
                }
                on:pointerleave=move |e: ev::PointerEvent| {
                    if e.pointer_type() != "touch" { point.run(false) }
                }
                on:focus=move |_| if !waiting.get_untracked() { point.run(true) }
                on:blur=move |_| point.run(false)
                on:click=move |_| if !waiting.get_untracked() { pick.run(()) }
                on:keydown=on_key>
                <span class="alignment-mark" class:is-word=is_word>{move || mark(&token.get())}</span>
                <i class="alignment-share" style=move || {
                    format!("--share: {:.3}", share.get().unwrap_or(0.0))
                }></i>
                // Drawn, not said: the name has it with two decimals.
                <small data-percent=move || share.get().map(percent)></small>
            </div>
        }
        .into_any()
    }
}
