//! The tokens of a sequence in a row, of which one is chosen.

use crate::reactive::memo;
use leptos::{ev, prelude::*};

use super::{
    lines::Ruler,
    reading::{listener, walk},
    token::{mark, spoken},
};

/// Narrower buttons than this, in CSS pixels, are no goal for a finger: the row scrolls instead.
const LEAST: f64 = 22.0;

/// A button a token; arrow keys move along them, and Tab reaches the chosen one. With `over` each
/// stands over its place in a plot, the first token at x = 1.
#[component]
pub fn StepRow(
    label: &'static str,
    #[prop(into)] tokens: Signal<Vec<String>>,
    #[prop(into)] chosen: Signal<Option<usize>>,
    on_choose: Callback<usize>,
    #[prop(optional, into)] over: Option<Signal<Option<Ruler>>>,
) -> impl IntoView {
    // Stays while only numbers change.
    let tokens = memo(move || tokens.get());
    let on_key = move |e: ev::KeyboardEvent| {
        let now = chosen.get_untracked().unwrap_or(0);
        if let Some(to) = listener(&e).and_then(|row| walk(&e, &row, now, false)) {
            on_choose.run(to);
        }
    };
    let step = move |(at, token): (usize, String)| {
        let is_chosen = move || chosen.get() == Some(at);
        let tab = move || is_chosen() || at == 0 && chosen.get().is_none();
        view! {
            <button type="button" class="step" aria-pressed=move || is_chosen().to_string()
                tabindex=move || if tab() { "0" } else { "-1" }
                aria-label=format!("{} ({})", spoken(&token), at + 1)
                data-testid=format!("step-{}", at + 1) on:click=move |_| on_choose.run(at)>
                {mark(&token)}
            </button>
        }
        .into_any()
    };
    let style = move || {
        let count = tokens.with(Vec::len) as f64;
        over?.get().filter(|_| count > 1.0).and_then(|ruler| in_line(ruler, count))
    };
    view! {
        <div class="step-row" class:step-row-over=over.is_some() style=style role="group" aria-label=label
            on:keydown=on_key>
            {move || tokens.get().into_iter().enumerate().map(step).collect_view()}
        </div>
    }
    .into_any()
}

/// What lays so many tokens in line with the plot; `None` where they have no room there.
fn in_line(Ruler { start, unit, width }: Ruler, count: f64) -> Option<String> {
    if unit < LEAST {
        return None;
    }
    let (left, right) = (start + unit / 2.0, width - start - unit * (count + 0.5));
    // At the ends there is half a button less room than it would take.
    Some(format!("padding-inline:{:.1}px {:.1}px", left.max(0.0), right.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_stand_over_their_places_where_there_is_room() {
        let ruler = Ruler { start: 30.0, unit: 40.0, width: 500.0 };
        // From 50, half a button before x = 1, to 450, half of one after x = 10.
        assert_eq!(in_line(ruler, 10.0).as_deref(), Some("padding-inline:50.0px 50.0px"));
        assert_eq!(in_line(Ruler { unit: 20.0, ..ruler }, 20.0), None);
    }
}
