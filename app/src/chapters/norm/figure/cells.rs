//! A bare matrix of colored cells that shares what is pointed at with others of its shape.

use crate::reactive::{effect_with_last, memo};
use leptos::{ev, html, prelude::*, svg};

use crate::figures::{
    Colors,
    reading::{Reading, step_cell},
    select::Pointing,
};

/// Row and column, from 0.
pub type Place = (usize, usize);

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    pub rows: usize,
    pub columns: usize,
    /// Row by row; what is not finite is not there yet.
    pub values: Vec<f32>,
    /// Value of the strongest color.
    pub limit: f32,
}

impl Grid {
    pub fn value(&self, (row, column): Place) -> Option<f32> {
        let value = self.values.get(row * self.columns + column).copied();
        value.filter(|v| v.is_finite() && column < self.columns)
    }

    /// Column and row of each value that is there, in the order of [`Self::fills`].
    fn there(&self) -> Vec<Place> {
        let all = self.values.iter().enumerate().filter(|(_, value)| value.is_finite());
        all.map(|(index, _)| (index % self.columns, index / self.columns)).collect()
    }

    fn fills(&self, colors: &Colors) -> Vec<String> {
        let all = self.values.iter().filter(|value| value.is_finite());
        all.map(|value| colors.signed.at(value / self.limit).css()).collect()
    }
}

/// One SVG rectangle for each value that is there. While the same are there, only what they are filled with
/// changes: new ones are laid out anew, which takes ten times as long.
#[component]
pub fn Rectangles(grid: Memo<Grid>, colors: Memo<Colors>) -> impl IntoView {
    let root = NodeRef::<svg::G>::new();
    effect_with_last(move |drawn: Option<Option<(Vec<Place>, Vec<String>)>>| {
        let (there, fills) =
            grid.with(|grid| (grid.there(), colors.with(|colors| grid.fills(colors))));
        let root = root.get()?;
        match drawn.flatten() {
            Some((before, old)) if before == there => {
                let cells = root.children();
                for (i, fill) in fills.iter().enumerate().filter(|(i, fill)| old[*i] != **fill) {
                    if let Some(cell) = cells.item(i as u32) {
                        let _ = cell.set_attribute("fill", fill);
                    }
                }
            }
            _ => {
                let cell = |((x, y), fill): (&Place, &String)| {
                    format!(r#"<rect x="{x}" y="{y}" width="1" height="1" fill="{fill}"/>"#)
                };
                root.set_inner_html(&there.iter().zip(&fills).map(cell).collect::<String>());
            }
        }
        Some((there, fills))
    });
    view! { <g node_ref=root></g> }
}

/// The cells, in all the room of their box, read with pointer, finger or keys.
/// `lit` rows and columns are outlined.
#[component]
pub fn Cells(
    testid: &'static str,
    #[prop(into)] label: Signal<String>,
    grid: Memo<Grid>,
    colors: Memo<Colors>,
    pointing: Pointing<Place>,
    /// The cell that is worked out.
    #[prop(into)]
    pinned: Signal<Option<Place>>,
    #[prop(into)] lit_row: Signal<Option<usize>>,
    #[prop(into)] lit_column: Signal<Option<usize>>,
    on_pick: Callback<Place>,
) -> impl IntoView {
    let root = NodeRef::<html::Div>::new();
    let shape = memo(move || grid.with(|g| (g.rows.max(1), g.columns.max(1))));
    let hit = move |event: ev::MouseEvent| -> Option<Place> {
        let (rows, columns) = shape.get_untracked();
        let size = root
            .get_untracked()
            .map_or((1, 1), |root| (root.client_width().max(1), root.client_height().max(1)));
        let at = |offset: i32, size: i32, count: usize| {
            ((f64::from(offset) / f64::from(size) * count as f64).max(0.0) as usize).min(count - 1)
        };
        Some((at(event.offset_y(), size.1, rows), at(event.offset_x(), size.0, columns)))
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(hit),
        start: Callback::new(move |()| Some(pointing.shown_untracked().unwrap_or((0, 0)))),
        step: Callback::new(move |(key, at): (String, Place)| {
            step_cell(&key, at, shape.get_untracked())
        }),
        pick: Some(on_pick),
        tap_reads: false,
        focus_reads: true,
    };
    let percent = |at: usize, count: usize| at as f64 / count as f64 * 100.0;
    let outline = move |rows: (usize, usize), columns: (usize, usize), class: &'static str| {
        let (all_rows, all_columns) = shape.get();
        let style = format!(
            "top:{}%;height:{}%;left:{}%;width:{}%",
            percent(rows.0, all_rows),
            percent(rows.1, all_rows),
            percent(columns.0, all_columns),
            percent(columns.1, all_columns)
        );
        view! { <div class=class style=style></div> }
    };
    let all = move || shape.get();
    let cell = move |place: Option<Place>, class| {
        let (row, column) = place.filter(|p| p.0 < all().0 && p.1 < all().1)?;
        Some(outline((row, 1), (column, 1), class))
    };
    view! {
        <div {..reader.handlers()} class="norm-cells" node_ref=root data-testid=testid tabindex="0" role="application"
            aria-roledescription="heatmap" aria-label=label
        >
            <svg aria-hidden="true" preserveAspectRatio="none" shape-rendering="crispEdges"
                viewBox=move || format!("0 0 {} {}", all().1, all().0)>
                <Rectangles grid colors/>
            </svg>
            {move || lit_row.get().map(|row| outline((row, 1), (0, all().1), "norm-lit"))}
            {move || lit_column.get().map(|column| outline((0, all().0), (column, 1), "norm-lit"))}
            {move || cell(pinned.get(), "mark-cell pinned")}
            {move || cell(pointing.shown(), "mark-cell")}
        </div>
    }
    .into_any()
}
