//! Rows of an embedding as points of a plane, each with its token.

use std::{fmt::Write, sync::Arc};

use crate::figures::pen::{FACE, MONO};
use crate::reactive::memo;
use leptos::{ev, html, prelude::*};
use serde_json::json;
use unroll_protocol::study::tokens::Embedding;
use wasm_bindgen::JsCast;

use super::spread::{Mark, spread};
use crate::figures::{
    Colors, Provenance, Sheet, SheetExport,
    canvas::use_size,
    decimals, exact,
    reading::is_shortcut,
    svg::escape,
    theme::use_colors,
    token::{columns, mark, short_mark},
};

/// Most tokens drawn: the most frequent.
const MOST: usize = 90;
/// Kept free at its edges, on every side, for a mark of usual size.
const EDGE: f32 = 13.0;
/// Shorter side of a drawing whose marks have their usual size; on a larger one they grow with it,
/// up to [`LARGEST`].
const USUAL: f32 = 480.0;
const LARGEST: f32 = 1.75;
/// Half the height of a mark of usual size; of a single character it is as wide as high.
const HALF: f32 = 11.0;
/// A mark farther from its point than this is led back to it, as a share of [`HALF`].
const LED: f32 = 0.9;
/// Width and height of an exported picture.
const PICTURE: (f32, f32) = (800.0, 560.0);

/// Where the points lie in a drawing: one scale for both axes, so that distances are true.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plane {
    width: f32,
    height: f32,
    /// Of the marks.
    size: f32,
    /// Drawn length of 1.
    scale: f32,
}

impl Plane {
    /// That holds points as far from the middle as `reach` on each axis.
    fn new(width: f32, height: f32, reach: (f32, f32)) -> Self {
        let size = (width.min(height) / USUAL).clamp(0.8, LARGEST);
        let room = |side: f32, reach: f32| (side / 2.0 - EDGE * size).max(1.0) / reach.max(1e-6);
        Self { width, height, size, scale: room(width, reach.0).min(room(height, reach.1)) }
    }

    fn at(self, (x, y): (f32, f32)) -> (f32, f32) {
        (self.width / 2.0 + x * self.scale, self.height / 2.0 - y * self.scale)
    }
}

/// How far the points reach from the middle, along each axis.
fn reach(embedding: &Embedding) -> (f32, f32) {
    let points = drawn(embedding).into_iter().map(|id| point(embedding, id));
    points.fold((0.0, 0.0), |(x, y), p| (f32::max(x, p.0.abs()), f32::max(y, p.1.abs())))
}

/// What stands at a point.
fn written(token: &str) -> String {
    if token.starts_with("⟨end") { "end".to_owned() } else { short_mark(token, 6) }
}

/// Half the width of a mark of usual size.
fn half_width(written: &str) -> f32 {
    match columns(written) as f32 {
        ..=1.0 => HALF,
        columns => 4.6 * columns + 5.0,
    }
}

/// A token in a drawing: where its point lies, and where its mark stands if there is room for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    id: u32,
    at: (f32, f32),
    mark: Option<(f32, f32)>,
}

impl Place {
    fn stands(self) -> (f32, f32) {
        self.mark.unwrap_or(self.at)
    }

    /// The way from the point to its mark, where that stands apart.
    fn lead(self, plane: Plane) -> Option<((f32, f32), (f32, f32))> {
        let (from, to) = (self.at, self.mark?);
        let far = (from.0 - to.0).hypot(from.1 - to.1);
        (far > LED * HALF * plane.size).then_some((from, to))
    }
}

/// Places of the tokens drawn, in order of id. Where it is crowded the selected token and the
/// frequent ones have the room.
fn places(embedding: &Embedding, plane: Plane, selected: Option<u32>) -> Vec<Place> {
    let mut ids = drawn(embedding);
    ids.sort_by_key(|&id| {
        (selected != Some(id), core::cmp::Reverse(embedding.counts[id as usize]))
    });
    let marks = ids.iter().map(|&id| {
        let wide = half_width(&written(&embedding.vocabulary[id as usize]));
        let half = (wide * plane.size, HALF * plane.size);
        Mark { at: plane.at(point(embedding, id)), half }
    });
    let marks: Vec<Mark> = marks.collect();
    let middles = spread(&marks, (plane.width, plane.height));
    let all = ids.iter().zip(&marks).zip(middles);
    let mut places: Vec<Place> =
        all.map(|((&id, mark), middle)| Place { id, at: mark.at, mark: middle }).collect();
    places.sort_unstable_by_key(|place| place.id);
    places
}

/// Hairlines from the points to marks that stand apart, and the points themselves, as paths.
fn leads(places: &[Place], plane: Plane) -> (String, String) {
    let (mut lines, mut points) = (String::new(), String::new());
    for ((x, y), to) in places.iter().filter_map(|place| place.lead(plane)) {
        // Writing to a String cannot fail.
        let _ = write!(lines, "M{x:.1} {y:.1}L{:.1} {:.1}", to.0, to.1);
        let _ = write!(points, "M{x:.1} {y:.1}h0");
    }
    (lines, points)
}

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

    /// What is said of one token, which may be a single character; and of all of its kind.
    fn name(self, is_single: bool) -> &'static str {
        match (self, is_single) {
            (Self::Vowel, true) => "vowel",
            (Self::Consonant, true) => "consonant",
            (Self::Other, true) => "not a letter",
            (Self::Vowel, false) => "ends in a vowel",
            (Self::Consonant, false) => "ends in a consonant",
            (Self::Other, false) => "does not end in a letter",
        }
    }
}

/// Whether a token is no more than one character, as are the marks that stand for a byte or for the end.
fn is_single(token: &str) -> bool {
    token.chars().nth(1).is_none() || token.starts_with('⟨')
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
    provenance: Signal<Provenance>,
) -> impl IntoView {
    let root = NodeRef::<html::Div>::new();
    let (size, colors) = (use_size(root), use_colors());
    let sheet = Callback::new(move |()| embedding.with(|e| e.as_ref().map(|e| sheet(e))));
    let picture = Callback::new(move |()| {
        let source = provenance.with(Provenance::caption);
        embedding.with(|e| e.as_ref().map(|e| colors.with(|colors| svg(e, &source, colors))))
    });
    let ids = memo(move || {
        embedding.with(|e| {
            e.as_ref().map_or_else(Vec::new, |e| {
                let name = |id: u32| (id, e.vocabulary[id as usize].clone());
                drawn(e).into_iter().map(name).collect::<Vec<_>>()
            })
        })
    });
    let plane = memo(move || {
        let (width, height) = (size.get().width as f32, size.get().height as f32);
        let reach = embedding.with(|e| e.as_ref().map_or((1.0, 1.0), |e| reach(e)));
        Plane::new(width, height, reach)
    });
    // Once for all tokens at each step.
    let placed = memo(move || {
        let (plane, chosen) = (plane.get(), selected.get());
        embedding.with(|e| e.as_ref().map_or_else(Vec::new, |e| places(e, plane, chosen)))
    });
    let led = memo(move || placed.with(|places| leads(places, plane.get())));
    let stop = memo(move || {
        let chosen = selected.get();
        ids.with(|ids| {
            let chosen = chosen.filter(|id| ids.iter().any(|known| known.0 == *id));
            chosen.or_else(|| ids.first().map(|first| first.0))
        })
    });
    let pointed = RwSignal::new(None::<u32>);
    let own_lead = memo(move || {
        let id = pointed.get().or(selected.get());
        placed.with(|places| {
            let own = places.iter().copied().filter(|place| Some(place.id) == id);
            leads(&own.collect::<Vec<_>>(), plane.get())
        })
    });
    let reading = move || {
        let id = pointed.get().or(selected.get())?;
        embedding.with(|e| {
            let e = e.as_ref()?;
            let token = e.vocabulary.get(id as usize)?;
            let (x, y) = point(e, id);
            let number = |v: f32| decimals(v, 2);
            Some(format!(
                "‘{}’ (id {id}): {}; {} times in the text; at {}, {}",
                mark(token),
                Kind::of(token).name(is_single(token)),
                e.counts[id as usize],
                number(x),
                number(y),
            ))
        })
    };
    let singles = memo(move || ids.with(|ids| ids.iter().all(|(_, name)| is_single(name))));
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
            <div class="figure-box" node_ref=root>
            <svg role="listbox" viewBox=move || format!("0 0 {} {}", plane.get().width, plane.get().height)
                aria-label="Map of tokens: arrow keys go from token to token, Enter picks one"
                on:keydown=move |e| walk(&e)
                on:pointerleave=move |_| pointed.set(None)>
                <line class="map-axis" x1="50%" x2="50%" y1="0" y2="100%"/>
                <line class="map-axis" y1="50%" y2="50%" x1="0" x2="100%"/>
                <path class="map-leads" d=move || led.with(|led| led.0.clone())/>
                <path class="map-points" d=move || led.with(|led| led.1.clone())/>
                <For each=move || ids.get() key=|token| token.clone() let:token>
                    {
                        let (id, name) = token;
                        let kind = Kind::of(&name);
                        let shown = written(&name);
                        let wide = half_width(&shown);
                        let own = move || {
                            placed.with(|places| {
                                let at = places.binary_search_by_key(&id, |place| place.id).ok()?;
                                places.get(at).copied()
                            })
                        };
                        let place = move || {
                            let (x, y) = own().map_or((0.0, 0.0), Place::stands);
                            format!("translate({x:.1} {y:.1}) scale({:.2})", plane.get().size)
                        };
                        let bare = move || own().is_some_and(|place| place.mark.is_none());
                        view! {
                            <g class=format!("map-token {}", kind.class()) transform=place role="option"
                                class:map-selected=move || selected.get() == Some(id)
                                class:map-bare=bare
                                aria-selected=move || (selected.get() == Some(id)).to_string()
                                aria-label=format!("{}, {}", mark(&name), kind.name(is_single(&name)))
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
                                <rect x=-wide y=-HALF width=2.0 * wide height=2.0 * HALF rx=HALF/>
                                <circle r="4"/>
                                <text text-anchor="middle" dy="5">{shown}</text>
                            </g>
                        }
                        .into_any()
                    }
                </For>
                // Over the marks, which may cover the point of a neighbor: that of the token read.
                <path class="map-leads" d=move || own_lead.with(|led| led.0.clone())/>
                <path class="map-points" d=move || own_lead.with(|led| led.1.clone())/>
            </svg>
            </div>
            <p class="tokens-legend hint">
                {[Kind::Vowel, Kind::Consonant, Kind::Other].map(|kind| view! {
                    <span class=kind.class() aria-hidden="true">{move || kind.name(singles.get())}</span>
                }).collect_view()}
                <span>{share}</span>
            </p>
            <p class="readout" data-testid="map-readout">{reading}</p>
            <SheetExport name="tokens-map" title="The rows as a map" provenance sheet picture/>
        </section>
    }
    .into_any()
}

fn sheet(embedding: &Embedding) -> Sheet {
    let mut sheet = Sheet::new(&["id", "token", "count", "x", "y"]);
    let line = |id: u32| {
        let (x, y) = point(embedding, id);
        let (token, count) = (&embedding.vocabulary[id as usize], embedding.counts[id as usize]);
        vec![json!(id), json!(token), json!(count), exact(x), exact(y)]
    };
    sheet.rows = drawn(embedding).into_iter().map(line).collect();
    sheet
}

fn svg(embedding: &Embedding, source: &str, colors: &Colors) -> String {
    let palette = colors.palette;
    let (width, height) = PICTURE;
    let plane = Plane::new(width, height, reach(embedding));
    let (paper, muted) = (palette.paper.css(), palette.muted.css());
    let (whole, line, foot) = (height + 28.0, palette.line.css(), height + 16.0);
    let (middle, center, source) = (width / 2.0, height / 2.0, escape(source));
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {whole}" width="{width}" height="{whole}" font-family="{FACE}" font-size="12"><title>The rows as a map</title><rect width="100%" height="100%" fill="{paper}"/><path d="M{middle} 0V{height}M0 {center}H{width}" stroke="{line}"/><text x="16" y="{foot}" fill="{muted}">{source}</text><g font-family="{MONO}" font-weight="600" font-size="16" text-anchor="middle">"#,
    );
    let places = places(embedding, plane, None);
    let (lines, points) = leads(&places, plane);
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<path d="{lines}" stroke="{muted}" stroke-width="0.75"/><path d="{points}" stroke="{muted}" stroke-width="3.5" stroke-linecap="round"/>"#,
    );
    for place in places {
        let token = &embedding.vocabulary[place.id as usize];
        let color = match Kind::of(token) {
            Kind::Vowel => palette.third_curve,
            Kind::Consonant => palette.accent,
            Kind::Other => palette.muted,
        };
        let ((x, y), color) = (place.stands(), color.css());
        let _ = match place.mark {
            Some(_) => {
                let text = written(token);
                let wide = half_width(&text) * plane.size;
                let high = HALF * plane.size;
                write!(
                    svg,
                    r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="{high:.1}" fill="{paper}" stroke="{color}"/><text x="{x:.1}" y="{:.1}" fill="{color}">{}</text>"#,
                    x - wide,
                    y - high,
                    2.0 * wide,
                    2.0 * high,
                    y + 5.0,
                    escape(&text),
                )
            }
            None => write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{color}"/>"#),
        };
    }
    svg.push_str("</g></svg>\n");
    svg
}

/// Arrow keys from token to token, in order of id.
fn walk(event: &ev::KeyboardEvent) {
    if is_shortcut(event) {
        return;
    }
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
    fn points_stay_on_the_map_and_distances_true() {
        let plane = Plane::new(800.0, 400.0, (2.0, 0.5));
        let (right, bottom) = (plane.at((2.0, 0.0)), plane.at((0.0, -0.5)));
        // The edge goes by the size of the marks.
        let edge = EDGE * 400.0 / USUAL;
        assert!((right.0 - (800.0 - edge)).abs() < 1e-3 && right.1 == 200.0, "{right:?}");
        assert!(bottom.1 < 400.0 - edge);
        assert!((right.0 - 400.0 - 4.0 * (bottom.1 - 200.0)).abs() < 1e-3);
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
