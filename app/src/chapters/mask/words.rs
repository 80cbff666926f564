//! The chapter's words: what it is about, formulas, experiments, and one idea at a time.

use leptos::prelude::*;
use unroll_protocol::study::mask::{Combine, Pattern, Preset, Trained};

use crate::{
    course::{Idea, trial},
    teaching::{Formula, Hue, MathSym, Sym, Term, Word},
};

pub fn intro() -> impl IntoView {
    view! {
        <p>
            "Attention mixes whatever it may look at. A "<Term of=Word::Mask>"mask"</Term>
            " says what that is: before the "<Term of=Word::Softmax>"softmax"</Term>", −∞ is added to the \
             score of every blocked cell, and e to the −∞ is exactly 0. Rows are "
            <Sym part="mask-query" role=Hue::Query>"queries"</Sym>", columns are "
            <Sym part="mask-key" role=Hue::Key>"keys"</Sym>"."
        </p>
        <p>
            "Here is a small model that learns your text with a causal mask: no token sees a later one. \
             Choose another mask, or edit single cells, and see at once what the same weights now predict. \
             Then see why the mask is there: a second model trains without it."
        </p>
    }
}

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    view! {
        <Formula label="Attention with a mask added to the scores" source="Vaswani et al. 2017, sections 3.2.1 and 3.2.3">
            <MathSym part="mask-weights" role=Hue::Output>"A"</MathSym><mo>"="</mo><mi>"softmax"</mi><mo>"("</mo>
            <mfrac>
                <mrow>
                    <MathSym part="mask-query" role=Hue::Query>"Q"</MathSym>
                    <msup><MathSym part="mask-key" role=Hue::Key>"K"</MathSym><mi>"T"</mi></msup>
                </mrow>
                <msqrt><msub><mi>"d"</mi><mi>"k"</mi></msub></msqrt>
            </mfrac>
            <mo>"+"</mo><mi>"M"</mi><mo>")"</mo><mo>","</mo>
            <msub><mi>"M"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"∈"</mo>
            <mo>"{"</mo><mn>"0"</mn><mo>","</mo><mo>"−"</mo><mi>"∞"</mi><mo>"}"</mo>
        </Formula>
        <Formula label="The plain average of the past as a softmax">
            <mfrac><mn>"1"</mn><mi>"t"</mi></mfrac>
            <munderover><mo>"∑"</mo><mrow><mi>"j"</mi><mo>"="</mo><mn>"1"</mn></mrow><mi>"t"</mi></munderover>
            <msub><MathSym part="mask-values" role=Hue::Value>"v"</MathSym><mi>"j"</mi></msub>
            <mo>"="</mo>
            <munder><mo>"∑"</mo><mi>"j"</mi></munder>
            <mi>"softmax"</mi>
            <msub><mrow><mo>"("</mo><msub><mi>"M"</mi><mi>"t"</mi></msub><mo>")"</mo></mrow><mi>"j"</mi></msub>
            <msub><MathSym part="mask-values" role=Hue::Value>"v"</MathSym><mi>"j"</mi></msub>
        </Formula>
        <p>
            "A row of only −∞ has no softmax: 0 divided by 0. Such a mask is refused here. Libraries differ: \
             some return NaN, which then spreads through the whole model, some return 0 or a plain average. \
             Code that adds a large negative number instead of −∞ leaves weights that are merely tiny."
        </p>
        <p>
            "Masks combine as sets: an intersection allows what both allow, a union what either allows. A \
             decoder on padded batches needs causal ∩ padding. GPT-3 (Brown et al. 2020, section 2.1) has \
             layers whose attention is dense and layers where it is a local band, in turns, after the Sparse \
             Transformer (Child et al. 2019); here both layers have the same mask. BERT (Devlin et al. 2019) \
             looks both ways and hides some tokens instead, so that there is something left to predict. With \
             masks of any graph, attention is message passing along its edges."
        </p>
        <p>
            "Both models: 2 layers of 2 heads, width 32, rotary positions, stretches of 32 characters. The last \
             place of a stretch is not asked, because its next character lies outside, where even the unmasked \
             model could not look. The held-out measure lets each model read 16 characters and asks for the \
             one after them. Both write at temperature 0.8, with the same draws."
        </p>
    }
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "A band of 2 lets a token see one step back. How far does a change reach in two layers?",
            "Causal ∩ band of 2",
            "mask-band",
            |link| {
                link.view = "leak".into();
                link.mask.pattern = BAND;
            },
        ),
        trial(
            "The model without a mask is sure of every next character. Put a causal mask on it: what is \
             left of its certainty?",
            "Unmasked model, causal mask",
            "mask-unmasked",
            |link| link.mask.model = Trained::Unmasked,
        ),
        trial(
            "Take the mask off the causal model. It was never taught what to do with a future: do its \
             predictions get better?",
            "Causal model, no mask",
            "mask-off",
            |link| link.mask.pattern.base = Preset::Full,
        ),
        trial(
            "Begin with tokens that see only themselves and draw a chain of links backwards. Which outputs \
             does the first token reach? The leak test says.",
            "Draw a graph",
            "mask-graph",
            |link| {
                link.mask.pattern.base = Preset::Alone;
                (link.mask.editing, link.mask.change) = (true, 1);
            },
        ),
        trial(
            "Let everything be padding. Why is there no answer?",
            "Padding of 32",
            "mask-empty",
            |link| {
                link.mask.pattern.base = Preset::Padding;
                link.mask.pattern.padding = 32;
            },
        ),
    ]
}

/// The last token and the one before it.
const BAND: Pattern = Pattern {
    base: Preset::Causal,
    combine: Combine::And,
    other: Preset::Band,
    band: 2,
    padding: 4,
};

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "A causal mask",
        text: "Each token looks at itself and those before it. Hatched cells are blocked: exactly 0.",
        set: |_| {},
    },
    Idea {
        title: "An average of the past",
        text: "Row 8 averages 8 values. A loop, a matrix, and a softmax of 0 and −∞ agree to rounding; \
               attention weighs them by the data.",
        set: |link| link.view = "averages".into(),
    },
    Idea {
        title: "Nothing leaks",
        text: "Token 12 is changed. No output before it moves, to the last bit; without a mask they do.",
        set: |link| link.view = "leak".into(),
    },
    Idea {
        title: "Take it off",
        text: "The same weights, every token in sight: outputs before the changed token move.",
        set: |link| {
            link.view = "leak".into();
            link.mask.pattern.base = Preset::Full;
        },
    },
    Idea {
        title: "A band, twice",
        text: "One step back in each of two layers: the change reaches two tokens further and stops.",
        set: |link| {
            link.view = "leak".into();
            link.mask.pattern = BAND;
        },
    },
    Idea {
        title: "Trained where it could peek",
        text: "The unmasked model's loss is tiny because it copies the answer. Let it write, and it has \
               nothing to copy.",
        set: |link| {
            link.view = "trained".into();
            (link.mask.model, link.mask.pattern.base) = (Trained::Unmasked, Preset::Full);
        },
    },
];
