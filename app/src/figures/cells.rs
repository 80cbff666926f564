//! A grid of cells with a color map: labels, outlines, and what reads it. The core of
//! [`super::MatrixFigure`] and of the attention heatmap.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    canvas::hidden_canvas,
    matrix_data::Matrix,
    matrix_paint::{Geometry, Painted, paint, paint_row_labels},
    motion::use_motion,
    reading::Reading,
    theme::Colors,
};
use crate::reactive::{effect, effect_with_last};

/// Row and column, from 0.
pub type Place = (usize, usize);

/// What is outlined on the cells: a row, a column, each with its class, and the cell that is read.
#[derive(Clone, Copy)]
pub struct Marks {
    pub row: Signal<Option<usize>>,
    pub row_class: Signal<&'static str>,
    pub column: Signal<Option<usize>>,
    pub column_class: &'static str,
    pub cell: Signal<Option<Place>>,
    pub is_pinned: Signal<bool>,
}

/// The cells of `matrix` where `geometry` has them, hatched where they have no value. Painted when
/// matrix, theme or size change; what is pointed at lies over them as ordinary elements, and `over`
/// over all.
#[component]
pub fn Cells<C: Copy + PartialEq + Send + Sync + 'static>(
    testid: String,
    #[prop(into)] label: Signal<String>,
    matrix: Memo<Arc<Matrix>>,
    geometry: Memo<Geometry>,
    colors: Memo<Colors>,
    marks: Marks,
    /// Outlined on the canvas itself.
    #[prop(into)]
    marked: Signal<Vec<Place>>,
    reading: Reading<C>,
    #[prop(optional, into)] over: ViewFn,
) -> impl IntoView {
    let (canvas, labels) = (NodeRef::<html::Canvas>::new(), NodeRef::<html::Canvas>::new());
    // Owned here, reused by every painting, dropped with the component.
    let cells = StoredValue::new_local(hidden_canvas());
    let motion = use_motion();
    effect_with_last(move |before: Option<Option<Painted>>| {
        let (canvas, cells) = (canvas.get()?, cells.get_value()?);
        let (g, before) = (geometry.get(), before.flatten());
        let matrix = motion.toward(matrix.get());
        marked.with(|marked| {
            colors.with(|colors| paint(&canvas, &cells, g, matrix, marked, colors, before))
        })
    });
    // Labels change seldom: painted apart.
    let names = Memo::new_with_compare(
        move |_| matrix.get(),
        |a: Option<&Arc<Matrix>>, b| match (a, b) {
            (Some(a), Some(b)) => {
                a.rows != b.rows || a.row_axis != b.row_axis || a.shape() != b.shape()
            }
            _ => true,
        },
    );
    effect(move || {
        let Some(canvas) = labels.get() else { return };
        let (g, matrix) = (geometry.get(), names.get());
        colors.with(|colors| paint_row_labels(&canvas, g, &matrix, colors));
    });
    let lit_row = move || {
        let g = geometry.get();
        let row = marks.row.get().filter(|r| *r < g.rows)?;
        let style = g.style(row..row + 1, 0..g.columns);
        Some(view! { <div class=marks.row_class style=style></div> })
    };
    let lit_column = move || {
        let g = geometry.get();
        let column = marks.column.get().filter(|c| *c < g.columns)?;
        let style = g.style(0..g.rows, column..column + 1);
        Some(view! { <div class=marks.column_class style=style></div> })
    };
    let cell = move || {
        let g = geometry.get();
        let (row, column) = marks.cell.get().filter(|p| p.0 < g.rows && p.1 < g.columns)?;
        let style = g.style(row..row + 1, column..column + 1);
        Some(view! { <div class="mark-cell" class:pinned=marks.is_pinned style=style></div> })
    };
    view! {
        <div
            {..reading.handlers()}
            class="matrix-track"
            data-testid=testid
            style=move || geometry.with(|g| format!(
                "width:{}px;height:{}px;--cells:{}",
                g.width,
                g.height,
                g.inset()
            ))
            tabindex="0"
            role="application"
            aria-roledescription="heatmap"
            aria-label=label
        >
            <canvas class="matrix-cells" node_ref=canvas aria-hidden="true"></canvas>
            {lit_row}
            {lit_column}
            {cell}
            <canvas
                class="matrix-rows"
                node_ref=labels
                aria-hidden="true"
                style=move || {
                    let g = geometry.get();
                    format!("width:{}px;height:{}px", (g.left - 1.0).max(0.0), g.height)
                }
            ></canvas>
            {over.run()}
        </div>
    }
}
