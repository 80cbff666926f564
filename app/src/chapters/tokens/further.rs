//! The figures below: lookup, map, window, and the sentence as a product.

use leptos::{html, prelude::*};

use super::Shown;
use crate::{
    course::{use_part, use_seen},
    figures::{
        Hue,
        text::{ChainFigure, LookupFigure, TokenMap, WindowFigure, parted},
        token::mark,
        use_visible,
    },
    teaching::{Sym, Term, Word},
};

#[component]
pub fn Further(shown: Shown) -> impl IntoView {
    view! {
        <Lookup shown/>
        <Map shown/>
        <Window shown/>
        <Chain shown/>
    }
    .into_any()
}

#[component]
fn Lookup(shown: Shown) -> impl IntoView {
    let part = NodeRef::<html::Div>::new();
    let shown = shown.seen_in(use_visible(part));
    let title = move || {
        shown.embedding.with(|e| {
            let e = e.as_ref()?;
            let token = e.vocabulary.get(e.token as usize)?;
            Some(format!("‘{}’ is id {}, and picks row {}", mark(token), e.token, e.token))
        })
    };
    let unseen = move || {
        shown.embedding.with(|e| {
            let e = e.as_ref()?;
            let never = e.counts.get(e.token as usize) == Some(&0);
            never.then_some(
                "The text never has this token, so its row is still as it was drawn: no step of \
                 training ever touches it.",
            )
        })
    };
    view! {
        <div class="panel" node_ref=part>
            <h2 data-testid="lookup-title">{move || title().unwrap_or_else(|| "An id picks a row".to_owned())}</h2>
            <p>
                "The "<Term of=Word::Embedding/>" E holds a row of numbers for each id. Picking one is the \
                 same as multiplying a "<Sym part="one-hot" role=Hue::Input>"one-hot vector"</Sym>" with \
                 all of "<Sym part="embedding" role=Hue::Weight>"E"</Sym>": every row times 0, but one. \
                 Press Train and the rows move."
            </p>
            <LookupFigure embedding=shown.embedding
                on_pick=Callback::new(move |id| shown.pick(shown.scheme.get_untracked(), id))/>
            <p class="hint">{unseen}</p>
        </div>
    }
    .into_any()
}

#[component]
fn Map(shown: Shown) -> impl IntoView {
    let part = NodeRef::<html::Div>::new();
    let seen = use_visible(part);
    let shown = shown.seen_in(seen);
    let step: Signal<u32> = use_seen(shown.lab, seen, shown.lab.step.into());
    // What this model's numbers say now.
    let claim = move || {
        let (right, letters) = shown.embedding.with(|e| e.as_ref().and_then(|e| parted(e)))?;
        let told = if right * 4 >= letters * 3 {
            "Nobody told the model which is which."
        } else {
            "With these tokens, or so far, other differences weigh more."
        };
        Some(format!(
            "After {} steps {right} of {letters} letters lie nearer to the middle of their own kind, \
             vowels or consonants, than to the other's. {told}",
            step.get(),
        ))
    };
    view! {
        <div class="panel" node_ref=part>
            <h2>"Tokens that are followed alike come to lie together"</h2>
            <p>
                "Each row as a point, seen where the rows spread most (their two principal components). \
                 They start at random places; every step moves those of the tokens in its windows."
            </p>
            <TokenMap embedding=shown.embedding selected=shown.token
                on_pick=Callback::new(move |id| shown.pick(shown.scheme.get_untracked(), id))/>
            <p data-testid="map-claim">{claim}</p>
        </div>
    }
    .into_any()
}

#[component]
fn Window(shown: Shown) -> impl IntoView {
    let part = use_part(shown.in_sight[1]);
    view! {
        <div class="panel" node_ref=part>
            <h2>"The window makes the examples"</h2>
            <p>
                "Drag the window. Every token in it asks: what comes next? So one row of T tokens holds T \
                 examples. This small model reads only the "
                <Sym part="last" role=Hue::Input>"last token"</Sym>" it is given; later chapters read all \
                 of them."
            </p>
            <WindowFigure window=shown.window
                on_move=Callback::new(move |at| shown.set(|settings| settings.at = at))/>
        </div>
    }
    .into_any()
}

#[component]
fn Chain(shown: Shown) -> impl IntoView {
    let part = use_part(shown.in_sight[2]);
    view! {
        <div class="panel" node_ref=part>
            <h2>"How likely is your sentence?"</h2>
            <p>
                "As likely as all its tokens one after the other: multiply. The last factor is that of the "
                <b>"end"</b>" token, which the text has after each line, and the first is given an end too. \
                 Exact is p(token | all before it); this model takes p(token | the one before it) for it."
            </p>
            <ChainFigure chain=shown.chain/>
        </div>
    }
    .into_any()
}
