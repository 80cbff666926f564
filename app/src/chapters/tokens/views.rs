//! The views of what the model makes of tokens: lookup, map, window, and the sentence as a product.

use leptos::prelude::*;
use unroll_protocol::study::tokens::{self};

use super::Shown;
use super::text::{
    AROUND, ChainFigure, LevelStrip, LookupFigure, TokenMap, WindowFigure, parted, stretch,
};
use crate::{
    course::{Sentence, use_provenance},
    figures::Hue,
    questions::use_answer,
    teaching::{Sym, Term, Word},
};

/// The sentence as the model reads it: a click picks a token's row.
#[component]
fn Strip(shown: Shown) -> impl IntoView {
    view! {
        <LevelStrip levels=shown.levels which=shown.scheme scheme=shown.scheme selected=shown.token
            on_pick=Callback::new(move |(scheme, id)| shown.pick(scheme, id))/>
    }
    .into_any()
}

/// An id picks a row.
#[component]
pub fn Lookup(shown: Shown) -> impl IntoView {
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
        <Strip shown/>
        <LookupFigure embedding=shown.embedding provenance=use_provenance()
            on_pick=Callback::new(move |id| shown.pick(shown.scheme.get_untracked(), id))/>
        <p class="view-note tokens-unseen">{unseen}</p>
        <p class="view-note">
            "The "<Term of=Word::Embedding/>" E holds a row of numbers for each id. Picking one is the \
             same as multiplying a "<Sym part="one-hot" role=Hue::Input>"one-hot vector"</Sym>" with \
             all of "<Sym part="embedding" role=Hue::Weight>"E"</Sym>": every row times 0, but one. \
             Press Train and the rows move."
        </p>
    }
    .into_any()
}

/// The rows as points.
#[component]
pub fn Map(shown: Shown) -> impl IntoView {
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
            shown.lab.step.get(),
        ))
    };
    view! {
        <p class="tokens-claim" data-testid="map-claim">{claim}</p>
        <TokenMap embedding=shown.embedding selected=shown.token provenance=use_provenance()
            on_pick=Callback::new(move |id| shown.pick(shown.scheme.get_untracked(), id))/>
        <p class="view-note">
            "Each row as a point, seen where the rows spread most (their two principal components). \
             They start at random places; every step moves those of the tokens in its windows."
        </p>
    }
    .into_any()
}

/// The window over the text.
#[component]
pub fn Window(shown: Shown) -> impl IntoView {
    let settings = shown.settings;
    let first = Memo::new(move |before: Option<&u32>| {
        settings.with(|s| stretch(before.copied(), s.at, s.window))
    });
    let answered = use_answer(shown.lab, move || {
        let (at, first) = (settings.with(|s| s.at), first.get());
        Some(tokens::ask::Window { at, first, around: AROUND })
    });
    let window = answered.answer;
    view! {
        <WindowFigure window provenance=use_provenance()
            on_move=Callback::new(move |at| shown.set(|settings| settings.at = at))/>
        <p class="view-note">
            "Drag the window. Every token in it asks: what comes next? So one row of T tokens holds T \
             examples. This small model reads only the "
            <Sym part="last" role=Hue::Input>"last token"</Sym>" it is given; later chapters read all \
             of them."
        </p>
    }
    .into_any()
}

/// The sentence as a product.
#[component]
pub fn Chain(shown: Shown) -> impl IntoView {
    let answered = use_answer(shown.lab, move || {
        Some(tokens::ask::Chain { sentence: shown.store.probe.get() })
    });
    let chain = answered.answer;
    view! {
        <Sentence problem=shown.problem/>
        <ChainFigure chain provenance=use_provenance()/>
        <p class="view-note">
            "As likely as all its tokens one after the other: multiply. The last factor is that of the "
            <b>"end"</b>" token, which the text has after each line, and the first is given an end too. \
             Exact is p(token | all before it); this model takes p(token | the one before it) for it."
        </p>
    }
    .into_any()
}
