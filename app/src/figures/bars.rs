//! A short list of named probabilities as bars from 0 to 1, always as tall as when it is full.

use leptos::prelude::*;

/// Lines of the list.
pub const ROWS: usize = 5;

/// One line: what, where the bar ends (0 to 1), and whether it is the one that came true.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub name: String,
    pub spoken: String,
    pub probability: f32,
    pub marked: bool,
}

/// Up to [`ROWS`] bars, in the order given. `role` is the class that colours them.
#[component]
pub fn Bars(bars: Memo<Vec<Bar>>, role: &'static str) -> impl IntoView {
    let row = move |i: usize| {
        // Each line follows its own place in the list: elements stay, only numbers change.
        let bar = Memo::new(move |_| bars.with(|b| b.get(i).cloned()));
        let text = move |f: fn(&Bar) -> String| bar.with(|b| b.as_ref().map_or(String::new(), f));
        view! {
            <li class:marked=move || bar.with(|b| b.as_ref().is_some_and(|b| b.marked))>
                <span class="bar-name" title=move || text(|b| b.spoken.clone())>
                    {move || text(|b| b.name.clone())}
                </span>
                <span class="bar-track" aria-hidden="true">
                    <i style=move || {
                        let width = bar.with(|b| b.as_ref().map_or(0.0, |b| b.probability * 100.0));
                        format!("width:{width}%")
                    }></i>
                </span>
                <span class="bar-value">{move || text(|b| format!("{:.4}", b.probability))}</span>
            </li>
        }
    };
    view! { <ol class=format!("bars {role}")>{(0..ROWS).map(row).collect_view()}</ol> }
}
