//! The views of what the model makes of tokens: lookup, map, window, and the sentence as a product.

use leptos::prelude::*;
use unroll_protocol::study::tokens::{self};

use super::Shown;
use super::text::{AROUND, ChainFigure, LevelStrip, LookupFigure, TokenMap, WindowFigure, stretch};
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
                "The text never has this token. So no step of training ever touches its row: it is \
                 still as it was drawn at random.",
            )
        })
    };
    view! {
        <Strip shown/>
        <LookupFigure embedding=shown.embedding provenance=use_provenance()
            on_pick=Callback::new(move |id| shown.pick(shown.scheme.get_untracked(), id))/>
        <p class="view-note tokens-unseen">{unseen}</p>
        <p class="view-note">
            "The "<Term of=Word::Embedding>"embedding"</Term>" E holds a row of numbers for each id. Picking a row is the \
             same as multiplying a "<Sym part="one-hot" role=Hue::Input>"one-hot vector"</Sym>" by \
             all of "<Sym part="embedding" role=Hue::Weight>"E"</Sym>": every row is times 0 except \
             one, which is times 1. Press Train and watch the numbers change."
        </p>
    }
    .into_any()
}

/// The rows as points.
#[component]
pub fn Map(shown: Shown) -> impl IntoView {
    view! {
        <TokenMap embedding=shown.embedding selected=shown.token provenance=use_provenance()
            on_pick=Callback::new(move |id| shown.pick(shown.scheme.get_untracked(), id))/>
        // After the picture, which is to be looked at first.
        <p class="tokens-claim" data-testid="map-claim">{move || shown.map_claim()}</p>
        <p class="view-note">
            "Each row is a point, drawn along the two directions in which the rows spread most: their \
             first two "<Term of=Word::PrincipalComponent>"principal components"</Term>". The points \
             start at random. Every training step moves the points of the tokens it has seen."
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
    let tinted = Signal::derive(move || shown.scheme.get() != tokens::Scheme::Characters);
    view! {
        <WindowFigure window tinted provenance=use_provenance()
            on_move=Callback::new(move |at| shown.set(|settings| settings.at = at))/>
        <p class="view-note">
            "The surprise −ln p (ln: natural logarithm) is 0 where p is 1, and grows by 0.69 each time p is halved. \
             Drag the window: a window of T tokens holds T examples. This small model reads only the "
            <Sym part="last" role=Hue::Input>"last token"</Sym>" that it is given. From the chapter “One cell, \
             again and again” on, models read all that they are given."
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
            "Each bar falls as far as the product has fallen, on a logarithmic scale. The solid part is this factor’s own. \
             “|” means “given”: the first token is predicted given the "<b>"end"</b>" token of the line before. \
             The chain rule asks for p(token | all before it). This model uses p(token | the one before it) in \
             its place. Training raises the factors of pairs that are frequent in the text, and lowers those of \
             rare pairs. If no line of the text begins as your sentence does, its first factor falls."
        </p>
    }
    .into_any()
}
