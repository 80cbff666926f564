//! One head as a heatmap: queries downwards, keys to the right, read with pointer, finger or keys.

use leptos::{ev, html, prelude::*};

use super::{
    canvas::use_size,
    heatmap_paint::{Geometry, Ground, hidden_canvas, paint},
    scale::{ScaleBar, ValueMap},
    select::{Cell, Selection},
    theme::Colors,
    token,
    view::HeadView,
};

/// The heatmap. Draws only when head, trace, theme or size change; what is pointed
/// at lies over it as ordinary elements.
#[component]
pub fn Heatmap(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    colors: Memo<Colors>,
) -> impl IntoView {
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(canvas);
    // Kept apart from the weights, so that a new trace of the same sentence moves nothing.
    let label = Memo::new(move |_| {
        view.with(|v| {
            let tokens = v.as_ref().map_or(&[][..], |v| &v.trace().tokens);
            tokens.iter().map(|t| t.chars().count()).max().unwrap_or(1)
        })
    });
    let geometry = Memo::new(move |_| {
        let size = size.get();
        Geometry::new(size.width, size.scale, selection.size(), label.get())
    });
    // Owned here, reused by every painting, dropped with the component.
    let cells = StoredValue::new_local(hidden_canvas());
    Effect::new(move |before: Option<Option<Ground>>| {
        let (canvas, cells) = (canvas.get()?, cells.get_value()?);
        let (size, geometry, before) = (size.get(), geometry.get(), before.flatten());
        view.with(|view| {
            colors.with(|colors| {
                paint(&canvas, &cells, size, geometry, view.as_ref(), colors, before)
            })
        })
    });

    let hit = move |e: &ev::MouseEvent| {
        geometry.get_untracked().hit(f64::from(e.offset_x()), f64::from(e.offset_y()))
    };
    let on_move = move |e: ev::PointerEvent| match hit(&e) {
        Some(cell) => selection.point(cell),
        None => selection.leave(),
    };
    let on_down = move |e: ev::PointerEvent| {
        if let Some(cell) = hit(&e) {
            selection.press(cell, e.pointer_type() == "touch");
        }
    };
    let on_click = move |e: ev::MouseEvent| {
        if let Some(cell) = hit(&e) {
            selection.click(cell);
        }
    };
    // A lifted finger has read something: it stays until the next tap.
    let on_leave = move |e: ev::PointerEvent| {
        if e.pointer_type() != "touch" {
            selection.leave();
        }
    };
    let on_key = move |e: ev::KeyboardEvent| {
        if let Some(action) = action_of(&e.key()) {
            e.prevent_default();
            perform(action, selection, view);
        }
    };
    let label = move || {
        view.with(|v| {
            v.as_ref().map_or("Attention weights".to_string(), |v| {
                format!(
                    "Attention weights of layer {}, head {}: {} queries by {} keys. Arrow keys \
                     move between cells, Enter works one out.",
                    v.layer(),
                    v.head(),
                    v.size(),
                    v.size()
                )
            })
        })
    };
    view! {
        <div class="heatmap">
            <div class="heatmap-room">
            <div
                class="heatmap-box"
                data-testid="attention-heatmap"
                tabindex="0"
                role="application"
                aria-roledescription="heatmap"
                aria-label=label
                on:pointermove=on_move
                on:pointerdown=on_down
                on:pointerleave=on_leave
                on:click=on_click
                on:keydown=on_key
                on:focus=move |_| {
                    // A click focuses too, but has then pointed at its own cell already.
                    if selection.shown_untracked().is_none() && let Some(cell) = selection.start() {
                        selection.point(cell);
                    }
                }
                on:blur=move |_| selection.leave()
            >
                <canvas node_ref=canvas aria-hidden="true"></canvas>
                <Marks view selection geometry />
            </div>
            </div>
        </div>
    }
}

enum Action {
    /// Queries down and keys right to move by.
    Move(isize, isize),
    FirstKey,
    LastKey,
    Pin,
    Unpin,
}

fn action_of(key: &str) -> Option<Action> {
    Some(match key {
        "ArrowUp" => Action::Move(-1, 0),
        "ArrowDown" => Action::Move(1, 0),
        "ArrowLeft" => Action::Move(0, -1),
        "ArrowRight" => Action::Move(0, 1),
        "PageUp" => Action::Move(-8, 0),
        "PageDown" => Action::Move(8, 0),
        "Home" => Action::FirstKey,
        "End" => Action::LastKey,
        "Enter" | " " => Action::Pin,
        "Escape" => Action::Unpin,
        _ => return None,
    })
}

fn perform(action: Action, selection: Selection, view: Memo<Option<HeadView>>) {
    let Some(last) = selection.size_untracked().checked_sub(1) else { return };
    let Some(Cell { query, key }) = selection.start() else { return };
    let key = key.unwrap_or(query);
    let (query, key) = match action {
        Action::Move(down, right) => {
            let moved = |at: usize, by: isize| at.saturating_add_signed(by).min(last);
            (moved(query, down), moved(key, right))
        }
        Action::FirstKey => (query, 0),
        // The last key this query may see.
        Action::LastKey => {
            (query, view.with_untracked(|v| v.as_ref().map_or(query, |v| v.last_key(query))))
        }
        Action::Pin => {
            selection.toggle_pin(Cell { query, key: Some(key) });
            return;
        }
        Action::Unpin => {
            selection.unpin();
            return;
        }
    };
    selection.point(Cell { query, key: Some(key) });
}

/// What lies over the canvas: the query's row, the key's column, the cell and its two tokens.
#[component]
fn Marks(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    geometry: Memo<Geometry>,
) -> impl IntoView {
    let focus = Memo::new(move |_| selection.focus());
    let ready = move || geometry.get().count > 0 && focus.get().is_some();
    let name = move |position: usize| {
        view.with(|v| v.as_ref().map_or(String::new(), |v| token::short_mark(v.token(position), 4)))
    };
    let row = move || {
        let (g, q) = (geometry.get(), focus.get().map_or(0, |c| c.query));
        (g, g.start(q), q)
    };
    let column = move || focus.get().and_then(|c| c.key);
    view! {
        <Show when=ready>
            <div
                class="mark-row"
                class:chosen=move || selection.shown().is_some()
                style=move || {
                    let (g, top, _) = row();
                    let (left, width, height) = (g.origin, g.side(), g.cell);
                    format!("left:{left}px;top:{top}px;width:{width}px;height:{height}px")
                }
            ></div>
            <div
                class="mark-label mark-query"
                style=move || {
                    let (g, top, _) = row();
                    format!("right:calc(100% - {}px);top:{}px", g.origin - 2.0, top + g.cell / 2.0)
                }
            >
                {move || name(row().2)}
            </div>
            {move || {
                column()
                    .map(|key| {
                        let g = geometry.get();
                        let (left, top, cell) = (g.start(key), row().1, g.cell);
                        let (middle, above) = (left + cell / 2.0, g.origin - 2.0);
                        let (origin, side) = (g.origin, g.side());
                        view! {
                            <div
                                class="mark-column"
                                style=format!(
                                    "left:{left}px;top:{origin}px;width:{cell}px;height:{side}px",
                                )
                            ></div>
                            <div
                                class="mark-cell"
                                class:pinned=move || selection.is_pinned()
                                style=format!(
                                    "left:{left}px;top:{top}px;width:{cell}px;height:{cell}px",
                                )
                            ></div>
                            <div
                                class="mark-label mark-key"
                                style=format!("left:{middle}px;bottom:calc(100% - {above}px)")
                            >
                                {name(key)}
                            </div>
                        }
                    })
            }}
        </Show>
    }
}

/// The map from colour to weight, with the weight that is being read marked on it.
#[component]
pub fn WeightScale(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    colors: Memo<Colors>,
) -> impl IntoView {
    let blocked =
        move |query, key| view.with(|v| v.as_ref().is_some_and(|v| v.is_blocked(query, key)));
    let weight = move || {
        let Cell { query, key: Some(key) } = selection.focus()? else { return None };
        view.with(|v| Some(v.as_ref()?.weight(query, key))).filter(|_| !blocked(query, key))
    };
    view! {
        <ScaleBar
            label="attention weight"
            map=Signal::stored(ValueMap::Probability)
            colors
            value=Signal::derive(weight)
            absent="blocked by the mask"
        />
    }
}
