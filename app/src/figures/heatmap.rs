//! One head as a heatmap: queries downwards, keys to the right, read with pointer, finger or keys.

use std::sync::Arc;

use crate::reactive::memo;
use leptos::{html, prelude::*};

use super::{
    canvas::use_size,
    cells::{Cells, Marks},
    hue::Hue,
    matrix_paint::{Geometry, Look},
    reading::{Reading, offset, step_cell},
    scale::{ScaleBar, ValueMap},
    select::{Cell, Selection},
    theme::Colors,
    token,
    view::HeadView,
};

/// Cells as small as it takes for all of them to be in sight, axes in their roles' colors.
const LOOK: Look = Look {
    shrinks: true,
    tall: false,
    square: false,
    sole: false,
    row_hue: Hue::Query,
    column_hue: Hue::Key,
};

/// The heatmap in the largest square that fits. Left of the cells a whole query is pointed at.
#[component]
pub fn Heatmap(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    colors: Memo<Colors>,
) -> impl IntoView {
    let square = NodeRef::<html::Div>::new();
    let size = use_size(square);
    let matrix = memo(move || Arc::new(HeadView::to_matrix(view.get().as_ref())));
    let geometry = memo(move || matrix.with(|m| Geometry::new(m, size.get(), LOOK)));
    let hit = move |e| {
        let (g, (x, y)) = (geometry.get_untracked(), offset(&e));
        if g.is_label(x) {
            return Some(Cell { query: g.row_at(y)?, key: None });
        }
        g.hit(x, y).map(|(query, key)| Cell { query, key: Some(key) })
    };
    let step = move |(key, at): (String, Cell)| {
        let (t, from) = (selection.size_untracked(), (at.query, at.key.unwrap_or(at.query)));
        let (query, mut to) = step_cell(&key, from, (t, t))?;
        if key == "End" {
            // The last key this query may see.
            to = view.with_untracked(|v| v.as_ref().map_or(query, |v| v.last_key(query)));
        }
        Some(Cell { query, key: Some(to) })
    };
    let reading = Reading {
        pointing: *selection,
        hit: Callback::new(hit),
        start: Callback::new(move |()| selection.start()),
        step: Callback::new(step),
        pick: Some(Callback::new(move |cell| selection.toggle_pin(cell))),
        tap_reads: true,
        focus_reads: true,
    };
    let focus = memo(move || selection.focus());
    let row = Signal::derive(move || focus.get().map(|c| c.query));
    let column = Signal::derive(move || focus.get().and_then(|c| c.key));
    let chosen = move || {
        if selection.shown().is_some() { "mark-row chosen" } else { "mark-row" }
    };
    let marks = Marks {
        row,
        row_class: Signal::derive(chosen),
        column,
        column_class: "mark-column",
        cell: Signal::derive(move || row.get().zip(column.get())),
        is_pinned: Signal::derive(move || selection.is_pinned()),
    };
    let name = move |position: usize| {
        view.with(|v| v.as_ref().map_or(String::new(), |v| token::short_mark(v.token(position), 4)))
    };
    // The query's and the key's own tokens, at the edges of the cells.
    let names = move || {
        let g = geometry.get();
        let query = row.get().filter(|q| *q < g.rows)?;
        let key = column.get().filter(|k| *k < g.columns).map(|key| {
            view! { <div class="mark-label mark-key" style=g.above_column(key)>{name(key)}</div> }
        });
        let query_name = view! { <div class="mark-label mark-query" style=g.beside_row(query)>{name(query)}</div> };
        Some((query_name, key))
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
                <div class="heatmap-box" node_ref=square>
                    <Cells
                        testid="attention-heatmap".to_owned()
                        label=Signal::derive(label)
                        matrix
                        geometry
                        colors
                        marks
                        marked=Vec::new()
                        reading
                        over=move || names
                    />
                </div>
            </div>
        </div>
    }
}

/// The map from color to weight, or to what the view holds, with the one that is being read marked on it.
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
    let (label, map) = scale_of(view);
    view! {
        <ScaleBar
            label
            map
            colors
            value=Signal::derive(weight)
            absent="blocked by the mask"
        />
    }
}

/// What is beside the scale of a view's numbers, and the scale.
pub fn scale_of(view: Memo<Option<HeadView>>) -> (Signal<String>, Signal<ValueMap>) {
    let map = Signal::derive(move || {
        view.with(|v| v.as_ref().map_or_else(ValueMap::default, HeadView::map))
    });
    let name = move || {
        view.with(|v| v.as_ref().map_or("attention weight", HeadView::value_name).to_owned())
    };
    (Signal::derive(name), map)
}
