//! All heads of all layers as small heatmaps, of which one is chosen.

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;

use super::{canvas::put_pixels, theme::Colors, view::HeadView};

/// Most pixels along a side; longer sentences show the largest weight of each block of cells.
const SIDE: usize = 64;
/// Painting goes on in the next frame after this many milliseconds,
const SLICE: f64 = 4.0;
/// and after so many heads: the browser, too, takes its time over each canvas that has changed.
const MOST_A_FRAME: usize = 18;

/// Heads that can be switched off, as a chapter has them; layers and heads count from 1.
#[derive(Clone, Copy)]
pub struct Switches {
    /// Those that are off.
    pub off: Signal<Vec<(u32, u32)>>,
    /// Whether a click on a head switches it rather than just choosing it.
    pub switching: Signal<bool>,
    pub toggle: Callback<(u32, u32)>,
}

impl Switches {
    fn is_off(self, place: (u32, u32)) -> bool {
        self.off.with(|off| off.contains(&place))
    }
}

/// A radio group of layers (down) by heads (right); writes the choice into `layer` and `head`,
/// counted from 1. `shape` is how many of each there are; without a trace their pictures are blank.
#[component]
pub fn HeadGrid(
    view: Memo<Option<HeadView>>,
    shape: Memo<Option<(u32, u32)>>,
    layer: RwSignal<u32>,
    head: RwSignal<u32>,
    colors: Memo<Colors>,
    switches: Option<Switches>,
) -> impl IntoView {
    let chosen = Memo::new(move |_| {
        let (layers, heads) = shape.get().unwrap_or((1, 1));
        (layer.get().clamp(1, layers.max(1)), head.get().clamp(1, heads.max(1)))
    });
    let choose = Callback::new(move |(l, h)| {
        layer.set(l);
        head.set(h);
    });
    view! {
        <div class="head-grid-scroller">
            {move || {
                // Built anew only when the model has another shape.
                let (layers, heads) = shape.get()?;
                Some(view! { <Grid view layers heads chosen choose colors switches /> })
            }}
        </div>
    }
}

#[component]
fn Grid(
    view: Memo<Option<HeadView>>,
    layers: u32,
    heads: u32,
    chosen: Memo<(u32, u32)>,
    choose: Callback<(u32, u32)>,
    colors: Memo<Colors>,
    switches: Option<Switches>,
) -> impl IntoView {
    let places: Vec<(u32, u32)> =
        (1..=layers).flat_map(|l| (1..=heads).map(move |h| (l, h))).collect();
    let canvases: Vec<NodeRef<html::Canvas>> = places.iter().map(|_| NodeRef::new()).collect();
    let painted = use_sliced_painting(view, colors, places.clone(), canvases.clone());
    let switching = move || switches.is_some_and(|switches| switches.switching.get());
    let on_key = move |e: ev::KeyboardEvent| {
        let (l, h) = chosen.get_untracked();
        let (l, h) = match e.key().as_str() {
            "ArrowLeft" => (l, h.saturating_sub(1)),
            "ArrowRight" => (l, h + 1),
            "ArrowUp" => (l.saturating_sub(1), h),
            "ArrowDown" => (l + 1, h),
            "Home" => (l, 1),
            "End" => (l, heads),
            _ => return,
        };
        e.prevent_default();
        let (l, h) = (l.clamp(1, layers), h.clamp(1, heads));
        choose.run((l, h));
        let group: Option<web_sys::Element> = e.current_target().map(JsCast::unchecked_into);
        let place = ((l - 1) * heads + h - 1) as usize;
        if let Some(radio) = group.and_then(|g| g.children().item(place as u32)) {
            // Focusing an element that is still there cannot fail.
            let _ = radio.unchecked_into::<web_sys::HtmlElement>().focus();
        }
    };
    view! {
        <div
            class="head-grid"
            class:switching=switching
            role="radiogroup"
            aria-label=move || {
                if switching() {
                    "Layer and head. Arrow keys choose, Enter switches off and on."
                } else {
                    "Layer and head. Arrow keys choose."
                }
            }
            data-painted=move || painted.get().map(|step| step.to_string())
            style=format!("--heads:{}", heads.max(1))
            on:keydown=on_key
        >
            {places
                .into_iter()
                .zip(canvases)
                .map(|((l, h), canvas)| {
                    let checked = move || chosen.get() == (l, h);
                    let is_off = Memo::new(move |_| switches.is_some_and(|s| s.is_off((l, h))));
                    let on_click = move |_| {
                        choose.run((l, h));
                        if let Some(switches) = switches
                            && switches.switching.get_untracked()
                        {
                            switches.toggle.run((l, h));
                        }
                    };
                    view! {
                        <button
                            type="button"
                            role="radio"
                            class="head"
                            class:off=is_off
                            data-testid=format!("head-l{l}-h{h}")
                            aria-label=move || {
                                let state = if is_off.get() { ", switched off" } else { "" };
                                format!("layer {l}, head {h}{state}")
                            }
                            aria-checked=move || checked().to_string()
                            tabindex=move || if checked() { "0" } else { "-1" }
                            on:click=on_click
                        >
                            <canvas node_ref=canvas aria-hidden="true"></canvas>
                            <span>
                                {format!("L{l} H{h}")}
                                {move || is_off.get().then_some(" off")}
                            </span>
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
}

/// Paints all heads whenever the trace or the theme changes, never longer than a slice at a time.
/// A trace that comes while painting goes on is painted from the first head still to do. Returns
/// the step that all pictures are of.
fn use_sliced_painting(
    view: Memo<Option<HeadView>>,
    colors: Memo<Colors>,
    places: Vec<(u32, u32)>,
    canvases: Vec<NodeRef<html::Canvas>>,
) -> RwSignal<Option<u32>> {
    let painted = RwSignal::new(None);
    // Choosing another head changes no picture here.
    let trace = Memo::new(move |_| view.get().map(|v| v.of(1, 1)));
    let todo = StoredValue::new(0usize);
    let next = StoredValue::new(0usize);
    let frame = StoredValue::new(None::<AnimationFrameRequestHandle>);
    let work = StoredValue::new_local((places, canvases));
    let painting = Painting { trace, colors, todo, next, frame, work, painted };
    Effect::new(move |_| {
        trace.track();
        colors.track();
        work.with_value(|(_, canvases)| {
            canvases.iter().for_each(Track::track);
            todo.set_value(canvases.len());
        });
        // Not in the frame that takes the trace over: there is enough to draw in that.
        if frame.with_value(Option::is_none) {
            paint_next_frame(painting);
        }
    });
    on_cleanup(move || {
        if let Some(Some(frame)) = frame.try_get_value() {
            frame.cancel();
        }
    });
    painted
}

type Work = StoredValue<(Vec<(u32, u32)>, Vec<NodeRef<html::Canvas>>), LocalStorage>;

/// What is painted, and how far that is.
#[derive(Clone, Copy)]
struct Painting {
    trace: Memo<Option<HeadView>>,
    colors: Memo<Colors>,
    todo: StoredValue<usize>,
    next: StoredValue<usize>,
    frame: StoredValue<Option<AnimationFrameRequestHandle>>,
    work: Work,
    painted: RwSignal<Option<u32>>,
}

fn paint_slice(painting: Painting) {
    let Painting { trace, colors, todo, next, work, painted, .. } = painting;
    let Some(view) = trace.get_untracked() else { return };
    let now = || window().performance().map_or(0.0, |p| p.now());
    let begun = now();
    let mut pixels = Vec::new();
    let mut done = 0;
    work.with_value(|(places, canvases)| {
        colors.with_untracked(|colors| {
            while todo.get_value() > 0 && done < MOST_A_FRAME && now() - begun < SLICE {
                let at = next.get_value() % places.len();
                let (layer, head) = places[at];
                // `of` clamps: a trace of another shape than this grid's is on its way out.
                if let Some(canvas) = canvases[at].get_untracked() {
                    let side = thumbnail(&view.of(layer, head), colors, &mut pixels);
                    put_pixels(&canvas, &pixels, side as u32);
                }
                done += 1;
                next.set_value(at + 1);
                todo.update_value(|n| *n -= 1);
            }
        });
    });
    if todo.get_value() > 0 {
        paint_next_frame(painting);
    } else {
        painted.set(Some(view.trace().step));
    }
}

fn paint_next_frame(painting: Painting) {
    let frame = painting.frame;
    let request = request_animation_frame_with_handle(move || {
        if frame.try_set_value(None).is_none() {
            paint_slice(painting);
        }
    });
    frame.set_value(request.ok());
}

/// Writes one head's RGBA pixels over `pixels` and returns how many make a side; blocked cells stay
/// transparent.
fn thumbnail(view: &HeadView, colors: &Colors, pixels: &mut Vec<u8>) -> usize {
    let (t, mask) = (view.size(), &view.trace().mask);
    let block = t.div_ceil(SIDE);
    let side = t.div_ceil(block);
    pixels.clear();
    if block == 1 {
        pixels.resize(4 * t * t, 0);
        let cells = view.matrix().iter().zip(mask).zip(pixels.chunks_exact_mut(4));
        for ((&weight, &allowed), pixel) in cells {
            if allowed {
                pixel.copy_from_slice(&colors.ramp.pixel(weight));
            }
        }
        return side;
    }
    let mut largest = vec![f32::NAN; side * side];
    let rows = view.matrix().chunks_exact(t).zip(mask.chunks_exact(t));
    for (query, (row, mask)) in rows.enumerate() {
        let line = &mut largest[query / block * side..][..side];
        for (key, (&weight, _)) in row.iter().zip(mask).enumerate().filter(|cell| *cell.1.1) {
            // `max` lets a number win over NaN.
            line[key / block] = line[key / block].max(weight);
        }
    }
    pixels.extend(largest.iter().flat_map(|&weight| colors.ramp.pixel(weight)));
    side
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use unroll_protocol::{Array, Trace};

    use super::*;
    use crate::figures::color::Palette;

    #[test]
    fn blocks_show_their_largest_weight() {
        let t = 100u32;
        let mut values = vec![0.0; (t * t) as usize];
        values[99 * 100 + 3] = 1.0;
        let trace = Trace {
            tokens: vec!["a".into(); t as usize],
            mask: (0..t * t).map(|cell| cell % t <= cell / t).collect(),
            vocabulary: vec!["a".into()],
            weights: Array { shape: vec![1, 1, t, t], values },
            probabilities: Array { shape: vec![t, 1], values: vec![1.0; t as usize] },
            ..Trace::default()
        };
        let view = HeadView::new(Arc::new(trace), 1, 1).unwrap();
        let colors = Colors::new(&Palette::LIGHT);
        let mut pixels = Vec::new();
        let side = thumbnail(&view, &colors, &mut pixels);
        assert_eq!((side, pixels.len()), (50, 50 * 50 * 4));
        let pixel = |q: usize, k: usize| &pixels[(q * side + k) * 4..][..4];
        let one = colors.ramp.at(1.0);
        assert_eq!(pixel(49, 1), [one.0, one.1, one.2, 255]);
        assert_eq!(pixel(0, 1)[3], 0);
    }
}
