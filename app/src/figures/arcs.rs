//! Arcs from the query token to the keys it looks at, above the row of tokens.

use std::fmt::Write;

use leptos::prelude::*;

use super::{row::Row, select::Selection, token, view::HeadView};

/// Height of the arcs, in em of the token row.
pub const HEIGHT: f64 = 3.6;
/// Weights below this draw no arc: it would be too thin to see.
const LEAST: f32 = 0.005;

/// The paths as SVG markup (numbers only), the heaviest on top. Coordinates in em; thickness (in the style
/// sheet) and opacity grow with the weight, and height with the distance, so that no two of a query's arcs
/// lie on each other.
fn paths(view: &HeadView, query: usize, row: &Row) -> String {
    let from = row.middle(query);
    let weights = view.row(query);
    let mut seen: Vec<(usize, f32)> =
        weights.iter().copied().enumerate().filter(|(_, weight)| *weight >= LEAST).collect();
    seen.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ends = [0, weights.len().saturating_sub(1)].map(|key| (row.middle(key) - from).abs());
    let farthest = ends[0].max(ends[1]).max(1.0);
    let mut markup = String::new();
    for (key, weight) in seen {
        let to = row.middle(key);
        let opacity = 0.25 + 0.75 * weight;
        let d = if key == query {
            let (left, right, top) = (from - 0.25, from + 0.25, HEIGHT - 1.7);
            format!(
                "M{left:.3} {HEIGHT}C{:.3} {top} {:.3} {top} {right:.3} {HEIGHT}",
                from - 0.9,
                from + 0.9
            )
        } else {
            let height = (HEIGHT - 0.3) * ((from - to).abs() / farthest).sqrt();
            // A cubic rises three quarters of the way to its handles.
            let handle = HEIGHT - height / 0.75;
            format!(
                "M{from:.3} {HEIGHT}C{from:.3} {handle:.3} {to:.3} {handle:.3} {to:.3} {HEIGHT}"
            )
        };
        // Writing to a String cannot fail.
        let _ = write!(
            markup,
            r#"<path d="{d}" style="--weight:{weight:.3}" stroke-opacity="{opacity:.3}"/>"#
        );
    }
    markup
}

/// What the arcs say, in words: the five heaviest.
fn in_words(view: &HeadView, query: usize) -> String {
    let keys: Vec<String> = view
        .heaviest(query, 5)
        .into_iter()
        .map(|(key, weight)| format!("{} {weight:.4}", token::name_at(view.token(key), key)))
        .collect();
    format!("Query {} looks at {}", token::name_at(view.token(query), query), keys.join(", "))
}

/// The arcs of the shown query; faint while nobody points at anything.
#[component]
pub fn Arcs(view: Memo<Option<HeadView>>, selection: Selection, row: Memo<Row>) -> impl IntoView {
    let read = move |f: fn(&HeadView, usize, &Row) -> String| {
        let query = selection.focus()?.query;
        view.with(|v| v.as_ref().map(|v| row.with(|t| f(v, query, t))))
    };
    view! {
        <svg
            class="arcs"
            class:faint=move || selection.shown().is_none()
            role="img"
            aria-label=move || read(|v, q, _| in_words(v, q)).unwrap_or("No attention yet".into())
            style=move || format!("width:{}em;height:{HEIGHT}em", row.with(Row::width))
            viewBox=move || format!("0 0 {} {HEIGHT}", row.with(Row::width))
            // Flatter where a style sheet says so: on a phone.
            preserveAspectRatio="none"
        >
            <g inner_html=move || read(paths).unwrap_or_default()></g>
        </svg>
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::figures::view;

    #[test]
    fn one_arc_a_visible_key() {
        let view = HeadView::new(Arc::new(view::tests::trace()), 1, 1).unwrap();
        let row = Row::new(&view.trace().tokens);
        assert_eq!(paths(&view, 0, &row).matches("<path").count(), 1);
        assert_eq!(paths(&view, 2, &row).matches("<path").count(), 3);
        assert_eq!(in_words(&view, 1), "Query ‘␣’ (2) looks at ‘␣’ (2) 0.9000, ‘a’ (1) 0.1000");
    }
}
