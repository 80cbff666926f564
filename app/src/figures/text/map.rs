//! Rows of an embedding as points of a plane, each with its token.

use std::sync::Arc;

use leptos::{ev, prelude::*};
use unroll_protocol::study::tokens::Embedding;
use wasm_bindgen::JsCast;

use crate::figures::token::{mark, short_mark};

/// Most tokens drawn: the most frequent.
const MOST: usize = 90;
/// Side of the drawing.
const SIDE: f32 = 400.0;
/// Kept free at its edges.
const EDGE: f32 = 28.0;

/// What the last letter of a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Vowel,
    Consonant,
    Other,
}

impl Kind {
    /// Of Latin letters; `y` counts as a consonant.
    pub fn of(token: &str) -> Self {
        let Some(last) = token.chars().next_back().filter(|c| c.is_alphabetic()) else {
            return Self::Other;
        };
        let lower = last.to_lowercase().next().unwrap_or(last);
        match lower {
            _ if "aeiouàáâãäåæèéêëìíîïòóôõöøœùúûü".contains(lower) => {
                Self::Vowel
            }
            'a'..='z' | 'ß' | 'ç' | 'ñ' | 'ý' | 'ÿ' => Self::Consonant,
            _ => Self::Other,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Vowel => "map-vowel",
            Self::Consonant => "map-consonant",
            Self::Other => "map-other",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Vowel => "ends in a vowel",
            Self::Consonant => "ends in a consonant",
            Self::Other => "ends in no letter",
        }
    }
}

/// Ids of the tokens drawn: the most frequent of those that occur, in order of id. `⟨end⟩` is one.
fn drawn(embedding: &Embedding) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..embedding.counts.len() as u32).collect();
    ids.retain(|&id| embedding.counts[id as usize] > 0);
    ids.sort_by_key(|&id| core::cmp::Reverse(embedding.counts[id as usize]));
    ids.truncate(MOST);
    ids.sort_unstable();
    ids
}

fn point(embedding: &Embedding, id: u32) -> (f32, f32) {
    let at = |axis| embedding.map.get(&[id as usize, axis]).unwrap_or_default();
    (at(0), at(1))
}

/// Of the single lower-case letters on the map, how many lie nearer to the middle of their own kind
/// than to the other's, and how many there are; `None` without two of each kind.
pub fn parted(embedding: &Embedding) -> Option<(usize, usize)> {
    let letters: Vec<(Kind, (f32, f32))> = drawn(embedding)
        .into_iter()
        .filter_map(|id| {
            let token = &embedding.vocabulary[id as usize];
            let mut characters = token.chars();
            let (first, rest) = (characters.next()?, characters.next());
            let kind = Kind::of(token);
            let single = rest.is_none() && !first.is_uppercase() && kind != Kind::Other;
            single.then(|| (kind, point(embedding, id)))
        })
        .collect();
    let middle = |kind: Kind| {
        let own = || letters.iter().filter(|letter| letter.0 == kind);
        let count = own().count() as f32;
        let sum = own().fold((0.0, 0.0), |sum, (_, p)| (sum.0 + p.0, sum.1 + p.1));
        (count >= 2.0).then_some((sum.0 / count, sum.1 / count))
    };
    let (vowels, consonants) = (middle(Kind::Vowel)?, middle(Kind::Consonant)?);
    let away = |p: (f32, f32), q: (f32, f32)| (p.0 - q.0).hypot(p.1 - q.1);
    let right = letters
        .iter()
        .filter(|(kind, p)| (away(*p, vowels) < away(*p, consonants)) == (*kind == Kind::Vowel));
    Some((right.count(), letters.len()))
}

/// The map. `selected` is marked; `on_pick` hears of a click or Enter on a token.
#[component]
pub fn TokenMap(
    embedding: Signal<Option<Arc<Embedding>>>,
    selected: Signal<Option<u32>>,
    on_pick: Callback<u32>,
) -> impl IntoView {
    let ids = Memo::new(move |_| {
        embedding.with(|e| {
            e.as_ref().map_or_else(Vec::new, |e| {
                let name = |id: u32| (id, e.vocabulary[id as usize].clone());
                drawn(e).into_iter().map(name).collect::<Vec<_>>()
            })
        })
    });
    let reach = Memo::new(move |_| {
        let largest = embedding.with(|e| {
            let e = e.as_ref()?;
            let far = drawn(e).into_iter().map(|id| point(e, id));
            Some(far.fold(0f32, |most, p| most.max(p.0.abs()).max(p.1.abs())))
        });
        largest.unwrap_or(1.0).max(1e-6)
    });
    let stop = Memo::new(move |_| {
        let chosen = selected.get();
        ids.with(|ids| {
            let chosen = chosen.filter(|id| ids.iter().any(|known| known.0 == *id));
            chosen.or_else(|| ids.first().map(|first| first.0))
        })
    });
    let pointed = RwSignal::new(None::<u32>);
    let reading = move || {
        let id = pointed.get().or(selected.get())?;
        embedding.with(|e| {
            let e = e.as_ref()?;
            let token = e.vocabulary.get(id as usize)?;
            let (x, y) = point(e, id);
            let number = |v: f32| format!("{v:.2}").replace('-', "−");
            Some(format!(
                "‘{}’ (id {id}) {}; {} times in the text; at {}, {}",
                mark(token),
                Kind::of(token).name(),
                e.counts[id as usize],
                number(x),
                number(y),
            ))
        })
    };
    let share = move || {
        embedding.with(|e| {
            e.as_ref().map(|e| {
                let [x, y] = e.share.map(|s| (s * 100.0).round());
                format!("The two axes keep {x}% and {y}% of the spread of the rows.")
            })
        })
    };
    view! {
        <section class="figure tokens-map" data-testid="figure-tokens-map"
            data-state=move || if embedding.with(Option::is_some) { "live" } else { "empty" }
            aria-label="The rows of the embedding as a map">
            <svg viewBox=format!("0 0 {SIDE} {SIDE}") role="listbox"
                aria-label="Map of tokens: arrow keys go from token to token, Enter picks one"
                on:keydown=move |e| walk(&e)
                on:pointerleave=move |_| pointed.set(None)>
                <line class="map-axis" x1=SIDE / 2.0 x2=SIDE / 2.0 y1="0" y2=SIDE/>
                <line class="map-axis" y1=SIDE / 2.0 y2=SIDE / 2.0 x1="0" x2=SIDE/>
                <For each=move || ids.get() key=|token| token.clone() let:token>
                    {
                        let (id, name) = token;
                        let kind = Kind::of(&name);
                        let place = move || {
                            let (x, y) = embedding.with(|e| {
                                e.as_ref().map_or((0.0, 0.0), |e| point(e, id))
                            });
                            let scale = (SIDE / 2.0 - EDGE) / reach.get();
                            format!("translate({:.1} {:.1})", SIDE / 2.0 + x * scale, SIDE / 2.0 - y * scale)
                        };
                        view! {
                            <g class=format!("map-token {}", kind.class()) transform=place role="option"
                                class:map-selected=move || selected.get() == Some(id)
                                aria-selected=move || (selected.get() == Some(id)).to_string()
                                aria-label=format!("{}, {}", mark(&name), kind.name())
                                data-testid=format!("map-{id}")
                                tabindex=move || if stop.get() == Some(id) { "0" } else { "-1" }
                                on:pointerenter=move |_| pointed.set(Some(id))
                                on:focus=move |_| pointed.set(Some(id))
                                on:blur=move |_| pointed.set(None)
                                on:click=move |_| on_pick.run(id)
                                on:keydown=move |e: ev::KeyboardEvent| {
                                    if matches!(e.key().as_str(), "Enter" | " ") {
                                        e.prevent_default();
                                        on_pick.run(id);
                                    }
                                }>
                                <circle r="11"/>
                                <text text-anchor="middle" dy="5">
                                    {if name.starts_with("⟨end") { "end".to_owned() } else { short_mark(&name, 6) }}
                                </text>
                            </g>
                        }
                        .into_any()
                    }
                </For>
            </svg>
            <p class="tokens-legend" aria-hidden="true">
                <span class="map-vowel">"● ends in a vowel"</span>
                <span class="map-consonant">"○ ends in a consonant"</span>
                <span class="map-other">"ends in no letter"</span>
            </p>
            <p class="readout" data-testid="map-readout">{reading}</p>
            <p class="hint">{share}</p>
        </section>
    }
    .into_any()
}

/// Arrow keys from token to token, in order of id.
fn walk(event: &ev::KeyboardEvent) {
    let Some(now) = event.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) else {
        return;
    };
    let is_token = |e: &web_sys::Element| e.class_list().contains("map-token");
    let to = match event.key().as_str() {
        "ArrowLeft" | "ArrowUp" => now.previous_element_sibling(),
        "ArrowRight" | "ArrowDown" => now.next_element_sibling(),
        _ => return,
    };
    event.prevent_default();
    if let Some(token) = to.filter(is_token) {
        let focus = js_sys::Reflect::get(&token, &"focus".into()).ok();
        if let Some(focus) = focus.and_then(|f| f.dyn_into::<js_sys::Function>().ok()) {
            // An element that is there can be focused.
            let _ = focus.call0(&token);
        }
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn tokens_go_by_their_last_letter() {
        let kinds = ["a", "the", " th", "É", "y", ",", "7", "", "ж"].map(Kind::of);
        use Kind::{Consonant as C, Other as O, Vowel as V};
        assert_eq!(kinds, [V, V, C, V, C, O, O, O, O]);
    }

    #[test]
    fn letters_on_the_wrong_side_are_counted() {
        let names = ["a", "e", "b", "c", "d", "A", " "];
        let map = vec![1.0, 0.0, 0.8, 0.1, -1.0, 0.0, -0.9, 0.2, 0.9, 0.0, -1.0, 0.0, 0.0, 0.0];
        let embedding = Embedding {
            vocabulary: names.map(String::from).to_vec(),
            counts: vec![3; 7],
            token: 0,
            table: Array { shape: vec![7, 2], values: map.clone() },
            row: vec![],
            product: vec![],
            map: Array { shape: vec![7, 2], values: map },
            share: [0.5, 0.5],
        };
        assert_eq!(parted(&embedding), Some((4, 5)));
        assert_eq!(drawn(&embedding).len(), 7);
    }
}
