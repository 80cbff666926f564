//! A window over a text, and the training examples it makes.

use std::sync::Arc;

use crate::reactive::memo;
use leptos::{ev, prelude::*};
use serde_json::json;
use unroll_protocol::study::tokens::{Piece, Window};

use crate::{
    controls::grouped,
    figures::{
        Provenance, Sheet, SheetExport,
        drag::dragging,
        exact,
        reading::is_shortcut,
        svg::escape,
        tint,
        token::{mark, spoken},
    },
};

/// Tokens of the text on show.
pub const AROUND: u32 = 72;

/// Where the stretch on show begins, for a window of `length` at `at`: as it was, while the window
/// is on it.
pub fn stretch(before: Option<u32>, at: u32, length: u32) -> u32 {
    match before {
        Some(first) if at >= first && at + length < first + AROUND => first,
        _ => at.saturating_sub(AROUND / 3),
    }
}

/// The text as chips with the window on them, dragged by pointer or moved by keys, and below it one
/// line for each example.
///
/// `on_move` hears where the window shall begin; it may be beyond the end.
#[component]
pub fn WindowFigure(
    window: Signal<Option<Arc<Window>>>,
    /// Whether its tokens need not be characters, so that each has a color.
    tinted: Signal<bool>,
    on_move: Callback<u32>,
    provenance: Signal<Provenance>,
) -> impl IntoView {
    let sheet = Callback::new(move |()| window.with(|w| w.as_ref().map(|w| sheet(w))));
    let pieces = memo(move || {
        window.with(|w| w.as_ref().map_or_else(Default::default, |w| (w.first, w.pieces.clone())))
    });
    let place =
        memo(move || window.with(|w| w.as_ref().map_or((0, 0, 0), |w| (w.at, w.length, w.last))));
    // Where in the window the pointer took hold of it.
    let held = RwSignal::new(None::<u32>);
    let take = move |event: &ev::PointerEvent| {
        let index = index_under(event)?;
        let (at, length, last) = place.get_untracked();
        let inside = (at..at + length).contains(&index);
        if inside {
            event.prevent_default();
            return Some(index - at);
        }
        on_move.run(index.min(last));
        Some(0)
    };
    let drag = move |event: &ev::PointerEvent, held: u32| {
        let Some(index) = index_under(event) else { return };
        let (at, length, last) = place.get_untracked();
        let (first, shown) = pieces.with_untracked(|(first, pieces)| (*first, pieces.len() as u32));
        // Within the stretch on show: another one under a held pointer would be another text.
        let most = (first + shown).saturating_sub(length + 1).min(last);
        let to = index.saturating_sub(held).clamp(first.min(most), most);
        if to != at {
            on_move.run(to);
        }
    };
    let keys = move |event: ev::KeyboardEvent| {
        if is_shortcut(&event) {
            return;
        }
        let (at, length, last) = place.get_untracked();
        let stride = if event.shift_key() { length } else { 1 };
        let to = match event.key().as_str() {
            "ArrowLeft" | "ArrowUp" => at.saturating_sub(stride),
            "ArrowRight" | "ArrowDown" => (at + stride).min(last),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        on_move.run(to);
    };
    let spoken_place = move || {
        let (at, ..) = place.get();
        window.with(|w| {
            let row = w.as_ref().map_or(&[][..], |w| &w.row);
            let (target, inputs) = row.split_last()?;
            let inputs: Vec<_> = inputs.iter().map(name).collect();
            Some(format!("from token {at}: {}; then {}", inputs.join(" "), name(target)))
        })
    };
    let chips = move || {
        let (first, pieces) = pieces.get();
        pieces
            .into_iter()
            .enumerate()
            .map(|(offset, piece)| {
                let index = first + offset as u32;
                let within = memo(move || {
                    let (at, length, _) = place.get();
                    (at..at + length).contains(&index)
                });
                let target = memo(move || {
                    let (at, length, _) = place.get();
                    index == at + length
                });
                let ground = tint::css(&piece.text);
                let style = move || tinted.get().then(|| format!("--ground:{ground}"));
                view! {
                    <span class="ribbon-token" data-index=index style=style class:ribbon-end=piece.end
                        class:ribbon-in=within class:ribbon-target=target>
                        {text(&piece)}
                    </span>
                }
                .into_any()
            })
            .collect_view()
    };
    view! {
        <section class="figure tokens-window" data-testid="figure-tokens-window"
            data-state=move || if window.with(Option::is_some) { "live" } else { "empty" }
            aria-label="The window on the text">
            <div {..dragging(held, take, drag)} class="ribbon" class:ribbon-held=move || held.get().is_some()
                role="slider" tabindex="0" data-testid="window-ribbon"
                aria-label="Window on the text: arrow keys move it by a token, with Shift by a window"
                aria-valuemin="0" aria-valuemax=move || place.get().2 aria-valuenow=move || place.get().0
                aria-valuetext=spoken_place on:keydown=keys>
                {chips}
            </div>
            <label class="window-whole">
                <span>
                    "In the whole text: token "
                    <span class="number" data-testid="window-at">{move || grouped(place.get().0.into())}</span>
                    // Before the first token stands an end, token 0, that is no part of the text.
                    " of " <span class="number" data-testid="window-tokens">
                        {move || grouped((place.get().2 + place.get().1).into())}
                    </span>
                </span>
                <input type="range" min="0" max=move || place.get().2 data-testid="window-slider"
                    prop:value=move || place.get().0.to_string()
                    on:input=move |event| {
                        if let Ok(to) = event_target_value(&event).parse() {
                            on_move.run(to);
                        }
                    }/>
            </label>
            <Examples window tinted/>
            <SheetExport name="tokens-window" title="The examples of one window" provenance sheet/>
        </section>
    }
    .into_any()
}

fn text(piece: &Piece) -> String {
    if piece.end { "end".to_owned() } else { mark(&piece.text) }
}

/// Tokens in a row as markup; those that are `tinted` need not be characters.
fn read_before(pieces: &[Piece], tinted: bool) -> String {
    if !tinted {
        return escape(&pieces.iter().map(text).collect::<String>());
    }
    let line = |line: &[Piece]| {
        let ended = line.last().filter(|piece| piece.end).map(text).unwrap_or_default();
        let tokens = line.iter().filter(|piece| !piece.end).map(|piece| piece.text.clone());
        tint::markup(&tint::runs(&tokens.collect::<Vec<_>>()), mark) + &ended
    };
    pieces.split_inclusive(|piece| piece.end).map(line).collect()
}

fn name(piece: &Piece) -> String {
    if piece.end { "end token".to_owned() } else { spoken(&piece.text) }
}

fn sheet(window: &Window) -> Sheet {
    let mut sheet = Sheet::new(&["t", "last_given", "target", "probability"]);
    let line = |(t, pair): (usize, &[Piece])| {
        let probability = window.probabilities.get(t).map_or(json!(null), |p| exact(*p));
        vec![json!(t + 1), json!(text(&pair[0])), json!(text(&pair[1])), probability]
    };
    sheet.rows = window.row.windows(2).enumerate().map(line).collect();
    sheet
}

/// The token of the text under the pointer, wherever the pointer went down.
fn index_under(event: &ev::PointerEvent) -> Option<u32> {
    let (x, y) = (event.client_x() as f32, event.client_y() as f32);
    let element = document().element_from_point(x, y)?;
    element.closest("[data-index]").ok()??.get_attribute("data-index")?.parse().ok()
}

/// One line for each example of the window.
#[component]
fn Examples(window: Signal<Option<Arc<Window>>>, tinted: Signal<bool>) -> impl IntoView {
    let row = memo(move || window.with(|w| w.as_ref().map_or_else(Vec::new, |w| w.row.clone())));
    let probability = move |index: usize| {
        memo(move || {
            window.with(|w| w.as_ref()?.probabilities.get(index).copied()).unwrap_or_default()
        })
    };
    let lines = move || {
        let row = row.get();
        (1..row.len())
            .map(|t| {
                let p = probability(t - 1);
                let (earlier, last) = (&row[..t - 1], &row[t - 1]);
                view! {
                    <tr>
                        <td class="number">{t}</td>
                        <td class="example-reads">
                            <span class="example-earlier" inner_html=read_before(earlier, tinted.get())></span>
                            <b data-part="last" class="role-input">{text(last)}</b>
                        </td>
                        <td class="example-target">{text(&row[t])}</td>
                        <td class="example-p" data-testid=format!("example-{t}")>{move || format!("{:.4}", p.get())}</td>
                        <td class="example-bar" aria-hidden="true">
                            <i style=move || format!("width:{:.1}%", p.get() * 100.0)></i>
                        </td>
                        <td class="number">{move || format!("{:.3}", -p.get().ln())}</td>
                    </tr>
                }
                .into_any()
            })
            .collect_view()
    };
    let mean = move || {
        window.with(|w| {
            let w = w.as_ref()?;
            let total: f32 = w.probabilities.iter().map(|p| -p.ln()).sum();
            Some(format!(
                "{} tokens, {} examples; their mean surprise is {:.3}. A step of training takes {} \
                 such rows from random places: {} examples.",
                w.length,
                w.length,
                total / w.length.max(1) as f32,
                w.rows,
                grouped((w.rows * w.length).into()),
            ))
        })
    };
    view! {
        <div class="figure-box tokens-scroller" tabindex="0" role="group" aria-label="Examples, scrolls sideways">
            <table class="examples" data-testid="window-examples">
                <thead>
                    <tr>
                        <th scope="col">"t"</th>
                        <th scope="col">"given"</th>
                        <th scope="col">"target"</th>
                        <th scope="col" colspan="2">"p(target)"</th>
                        <th scope="col">"surprise (−ln p)"</th>
                    </tr>
                </thead>
                <tbody>{lines}</tbody>
            </table>
        </div>
        <p class="readout hint" data-testid="window-mean">{mean}</p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stretch_stays_while_the_window_is_on_it() {
        assert_eq!(stretch(None, 0, 8), 0);
        assert_eq!(stretch(Some(0), 50, 8), 0);
        assert_eq!(stretch(Some(0), 64, 8), 40);
        assert_eq!(stretch(Some(40), 39, 8), 15);
    }
}
