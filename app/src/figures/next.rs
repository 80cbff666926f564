//! Two lists beside the heatmap: the keys a query looks at most, and the characters the model
//! expects after it. And the latter whole, as a figure of its own.

use std::sync::Arc;

use crate::reactive::memo;
use leptos::prelude::*;
use unroll_protocol::Trace;

use super::{
    BarsFigure, Hue,
    bars::{Bar, Bars, top_bars},
    export::Provenance,
    percent,
    select::Selection,
    token,
    view::{HeadView, largest},
};

/// Lines of each list.
const ROWS: usize = 5;
/// Lines of the figure.
const SHOWN: usize = 12;

fn query_name(view: Memo<Option<HeadView>>, selection: Selection) -> String {
    let query = selection.focus().map(|c| c.query);
    view.with(|v| {
        v.as_ref()
            .zip(query)
            .map_or("…".into(), |(v, query)| token::name_at(v.token(query), query))
    })
}

/// So many characters name a place in a sentence that is not in sight.
const LED_BY: usize = 7;

/// The sentence as far as the shown token, or the end of that.
fn so_far(view: Memo<Option<HeadView>>, selection: Selection) -> String {
    let query = selection.focus().map(|c| c.query);
    view.with(|v| {
        v.as_ref().zip(query).map_or("…".into(), |(view, query)| {
            let read: String = (0..=query).map(|at| token::mark(view.token(at))).collect();
            let left_out = read.chars().count().saturating_sub(LED_BY);
            let dots = if left_out > 0 { "…" } else { "" };
            format!("“{dots}{}”", read.chars().skip(left_out).collect::<String>())
        })
    })
}

/// What really comes after the shown token, and how likely the model found it; `at_end` where nothing does.
fn truth(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    at_end: &'static str,
) -> Option<String> {
    let query = selection.focus()?.query;
    if query + 1 == selection.size() {
        return Some(at_end.into());
    }
    view.with(|v| {
        let view = v.as_ref()?;
        let trace = view.trace();
        let next = trace.tokens.get(query + 1)?;
        let probability = view.next(query).get(*trace.places.get(query + 1)? as usize)?;
        Some(format!("✓ truly next: ‘{}’ {}", token::mark(next), percent(*probability, 1)))
    })
}

fn bars_of(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    f: fn(&HeadView, usize) -> Vec<Bar>,
) -> Memo<Vec<Bar>> {
    memo(move || {
        let query = selection.focus().map(|c| c.query);
        view.with(|v| v.as_ref().zip(query).map_or(vec![], |(v, query)| f(v, query)))
    })
}

/// The heaviest keys of the shown query with their weights.
#[component]
pub fn TopKeys(view: Memo<Option<HeadView>>, selection: Selection) -> impl IntoView {
    let bars = bars_of(view, selection, |view, query| {
        let bar = |(key, probability): (usize, f32)| Bar {
            name: format!("{} {}", token::mark(view.token(key)), key + 1),
            spoken: token::spoken(view.token(key)),
            probability,
            ..Bar::default()
        };
        view.heaviest(query, ROWS).into_iter().map(bar).collect()
    });
    view! {
        <section class="panel" data-testid="attention-top-keys">
            <h3>
                <span class="role-query">{move || query_name(view, selection)}</span>
                " looks most at"
            </h3>
            <Bars bars rows=ROWS role="role-key" />
        </section>
    }
}

/// The model's likeliest next tokens after the shown one, and how likely it found the true one.
#[component]
pub fn NextToken(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    /// Whether the sentence is out of sight: a token’s number then says little.
    #[prop(optional)]
    alone: bool,
) -> impl IntoView {
    let name = if alone { so_far } else { query_name };
    let bars = bars_of(view, selection, |view, query| {
        let vocabulary = &view.trace().vocabulary;
        let truth = view.trace().places.get(query + 1).map(|id| *id as usize);
        let bar = |(id, probability): (usize, f32)| Bar {
            name: token::mark(&vocabulary[id]),
            spoken: token::spoken(&vocabulary[id]),
            probability,
            marked: truth == Some(id),
            ..Bar::default()
        };
        largest(view.next(query), ROWS).into_iter().map(bar).collect()
    });
    let truth = move || truth(view, selection, "The sentence ends here.");
    view! {
        <section class="panel" data-testid="next-token">
            <h3>
                "After " <span class="role-query">{move || name(view, selection)}</span>
                " it expects"
            </h3>
            <Bars bars rows=ROWS role="role-next" />
            <p class="panel-note">
                {move || truth().unwrap_or_default()}
            </p>
        </section>
    }
}

/// What the tokens beyond the likeliest `top` have together.
fn others(view: Memo<Option<HeadView>>, selection: Selection, top: usize) -> Option<String> {
    let query = selection.focus()?.query;
    view.with(|v| {
        let shares = v.as_ref()?.next(query);
        let count = shares.len().checked_sub(top).filter(|count| *count > 0)?;
        let shown: f32 = largest(shares, top).iter().map(|(_, share)| share).sum();
        let rest = (1.0 - shown).max(0.0);
        Some(match count {
            1 => format!("The one other token has {}.", percent(rest, 1)),
            _ => format!("All other tokens together have {}.", percent(rest, 1)),
        })
    })
}

/// All that the model expects after the shown token, the likeliest first: those are drawn, and files
/// hold every token it knows.
#[component]
pub fn NextFigure(
    #[prop(into)] trace: Signal<Option<Arc<Trace>>>,
    selection: Selection,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let view = memo(move || HeadView::new(trace.get()?, 1, 1));
    let bars = bars_of(view, selection, |view, query| {
        let trace = view.trace();
        let truth = trace.places.get(query + 1).map(|id| *id as usize);
        top_bars(view.next(query), &trace.vocabulary, trace.vocabulary.len(), truth)
    });
    let title =
        Signal::derive(move || format!("After {} the model expects", query_name(view, selection)));
    let note = Signal::derive(move || {
        let at_end = "Your sentence ends here, so there is no right answer to compare.";
        let said = [truth(view, selection, at_end), others(view, selection, SHOWN)];
        said.into_iter().flatten().collect::<Vec<_>>().join(" ")
    });
    view! { <BarsFigure name="next" title bars top=SHOWN provenance hue=Hue::Output note /> }
}
