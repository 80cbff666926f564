//! The chapter's words: what it is about, formulas, experiments, and one idea at a time.

use leptos::prelude::*;
use unroll_protocol::{link::Corpus, study::heads::HeadAt};

use super::state::Page;
use crate::{
    course::{Idea, Try},
    teaching::{Formula, Hue, MathSym, Sym, Term, Word},
};

#[component]
pub fn Intro(page: Page) -> impl IntoView {
    view! {
        <p>
            "One "<Term of=Word::Attention>"attention"</Term>" row is one weighted average: look at two \
             things at once, and they are mixed. So the width is split among several heads. Each has its own "
            <Sym part="heads-query" role=Hue::Query>"queries"</Sym>", "
            <Sym part="heads-key" role=Hue::Key>"keys"</Sym>" and "
            <Sym part="heads-value" role=Hue::Value>"values"</Sym>", finds its own weights, and "
            <Sym part="heads-out" role=Hue::Weight>"W_O"</Sym>" puts together what they found."
        </p>
        <p>
            {move || {
                let (layers, heads) = page.shape.get();
                let width = page.settings.with(|s| s.width);
                format!(
                    "Here {layers} layers of {heads} heads, {} numbers each, learn your text. Nobody tells a \
                     head what to look for. Click a small picture to enlarge it, train on, and watch jobs \
                     appear. Then switch heads off: which ones did the model need?",
                    width / heads.max(1),
                )
            }}
        </p>
    }
}

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    view! {
        <Formula label="Head i is attention in its own projections" source="Vaswani et al. 2017, section 3.2.2">
            <msub><mi>"head"</mi><mi>"i"</mi></msub><mo>"="</mo><mi>"Attention"</mi><mo>"("</mo>
            <msubsup><MathSym part="heads-query" role=Hue::Query>"XW"</MathSym><mi>"i"</mi><mi>"Q"</mi></msubsup><mo>","</mo>
            <msubsup><MathSym part="heads-key" role=Hue::Key>"XW"</MathSym><mi>"i"</mi><mi>"K"</mi></msubsup><mo>","</mo>
            <msubsup><MathSym part="heads-value" role=Hue::Value>"XW"</MathSym><mi>"i"</mi><mi>"V"</mi></msubsup><mo>")"</mo>
        </Formula>
        <Formula label="The layer concatenates its heads and multiplies by W O, which is a sum over heads" source="the sum: Elhage et al. 2021">
            <mo>"["</mo><msub><mi>"head"</mi><mn>"1"</mn></msub><mo>"; … ;"</mo><msub><mi>"head"</mi><mi>"h"</mi></msub><mo>"]"</mo>
            <msup><MathSym part="heads-out" role=Hue::Weight>"W"</MathSym><mi>"O"</mi></msup>
            <mo>"+"</mo><mi>"b"</mi>
            <mo>"="</mo>
            <munder><mo>"∑"</mo><mi>"i"</mi></munder>
            <msub><mi>"head"</mi><mi>"i"</mi></msub>
            <msubsup><MathSym part="heads-out" role=Hue::Weight>"W"</MathSym><mi>"i"</mi><mi>"O"</mi></msubsup>
            <mo>"+"</mo><mi>"b"</mi>
        </Formula>
        <p>
            "With heads of width d_model / h, h heads cost as many multiplications as one head of the whole \
             width. "<em>"W"</em>"ᵢᴼ are head i's d rows of W_O. A head that is switched off counts as 0 here; \
             the bias b stays, and the weights stay as they were trained. So the loss change says what this \
             model misses, not what a model trained without the head would reach."
        </p>
        <p>
            "The model is GPT-2's architecture in small, but for how it is told where a token stands: queries \
             and keys are rotated by their position (Su et al. 2021; the next chapter compares the ways). With \
             a learned vector for each position, heads take far longer to find the previous token."
        </p>
        <p>
            "In machine translation, Voita et al. 2019 found few heads with clear jobs, some of them looking at \
             a neighboring token, and could prune most others; Michel, Levy and Neubig 2019 removed heads one \
             at a time, as here, and many cost next to nothing. A head that looks at the previous token in an \
             early layer is one half of an induction head (Olsson et al. 2022)."
        </p>
        <p>
            "An attention weight says from where a head reads, not what it makes of it: a large weight on a \
             value of length near 0 moves nothing. That is why the table has what a head writes and what it \
             costs beside where it looks. Heads that cost nothing alone may still matter: another may do the \
             same."
        </p>
    }
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        ViewFn::from(|| {
            view! {
                <span>"Switch heads off, the cheapest first. How many can go before the loss has doubled its \
                       distance from where it was?"</span>" "
                <Try label="Switch heads" id="heads-switch" set=|link| {
                    link.view = "heads".into();
                    link.many_heads.switching = true;
                }/>
            }
        }),
        ViewFn::from(|| {
            view! {
                <span>"Switch all of them off. No token sees another any more, and yet the loss stays far below \
                       ln V: what does the model still know?"</span>" "
                <Try label="All off" id="heads-off" set=|link| {
                    link.view = "heads".into();
                    link.many_heads.switching = true;
                    link.many_heads.off = (1..=2)
                        .flat_map(|layer| (1..=4).map(move |head| HeadAt { layer, head }))
                        .collect();
                }/>
            }
        }),
        ViewFn::from(|| {
            view! {
                <span>"One head with the whole width: just as many parameters. Train both equally long: whose loss \
                       is lower?"</span>" "
                <Try label="One head" id="heads-one" set=|link| link.many_heads.heads = 1/>
            }
        }),
        ViewFn::from(|| {
            view! {
                <span>"Can three heads share a width of 32?"</span>" "
                <Try label="Three heads" id="heads-three" set=|link| link.many_heads.heads = 3/>
            }
        }),
        ViewFn::from(|| {
            view! {
                <span>"Learn Brackets with another seed. Do the same jobs fall to the same heads?"</span>" "
                <Try label="Brackets" id="heads-brackets" set=|link| link.corpus = Corpus::Brackets/>
            }
        }),
    ]
}

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "One head, one question",
        text: "A single head of the whole width: each token gets one row of weights in each layer.",
        set: |link| link.many_heads.heads = 1,
    },
    Idea {
        title: "Many at once",
        text: "Four heads of 8 numbers each. The same tokens, four different rows of weights.",
        set: |link| link.many_heads.layer = 1,
    },
    Idea {
        title: "A layer above",
        text: "Heads of layer 2 read what those of layer 1 have written. Compare their pictures and numbers.",
        set: |link| {
            link.view = "heads".into();
            link.many_heads.layer = 2;
        },
    },
    Idea {
        title: "One cell, worked out",
        text: "Every weight is a softmax of products of 8 numbers: the head's own part of query and key.",
        set: |link| (link.many_heads.query, link.many_heads.key) = (10, 9),
    },
    Idea {
        title: "What is a head worth?",
        text: "Layer 1, head 1 is off: its output counts as 0. The loss on held-out text says what the model \
               misses.",
        set: |link| {
            link.view = "heads".into();
            link.many_heads.switching = true;
            link.many_heads.off = vec![HeadAt { layer: 1, head: 1 }];
        },
    },
    Idea {
        title: "A whole layer gone",
        text: "All of layer 1 is off, and layer 2 has nothing but single tokens to look at.",
        set: |link| {
            link.view = "heads".into();
            link.many_heads.switching = true;
            link.many_heads.off = (1..=4).map(|head| HeadAt { layer: 1, head }).collect();
        },
    },
];
