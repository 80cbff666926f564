//! The chapter's words.

use leptos::prelude::*;
use unroll_protocol::{architecture::Positions, study::position::CountFrom};

use crate::{
    course::{Idea, trial},
    teaching::{Formula, Hue, MathSym, Term, Word},
};

pub fn intro() -> AnyView {
    view! {
        <p>
            <Term of=Word::Attention>"Attention"</Term>" adds up what it finds, and a sum has no order. If \"dog bites man\" is to differ \
             from \"man bites dog\", something has to tell each "<Term of=Word::Token/>" where it stands."
        </p>
        <p>
            "Here six small models learn a task that needs order: some symbols, then a number n; the answer is the \
             n-th symbol. They differ only in how positions are told: not at all; the plain number; sines and cosines; \
             a learned vector for each position; turned "<Term of=Word::Query>"queries"</Term>" and "
            <Term of=Word::Key>"keys"</Term>" (rotary); or scores that fall with distance (ALiBi). Choose one to see \
             what it is. Which will still work on sequences twice as long?"
        </p>
    }
    .into_any()
}

pub fn more() -> AnyView {
    view! {
        <Formula label="PE of a position in even dimensions is the sine, in odd ones the cosine, of the position times a speed"
            source="Vaswani et al. 2017, section 3.5">
            <mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>","</mo><mn>"2"</mn><mi>"i"</mi><mo>")"</mo><mo>"="</mo>
            <mi>"sin"</mi><mo>"("</mo><mi>"p"</mi><msub><mi>"ω"</mi><mi>"i"</mi></msub><mo>")"</mo><mo>","</mo>
            <mspace width="1em"/>
            <mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>","</mo><mn>"2"</mn><mi>"i"</mi><mo>"+"</mo><mn>"1"</mn><mo>")"</mo><mo>"="</mo>
            <mi>"cos"</mi><mo>"("</mo><mi>"p"</mi><msub><mi>"ω"</mi><mi>"i"</mi></msub><mo>")"</mo><mo>","</mo>
            <mspace width="1em"/>
            <msub><mi>"ω"</mi><mi>"i"</mi></msub><mo>"="</mo>
            <msup><mn>"10000"</mn><mrow><mo>"−"</mo><mn>"2"</mn><mi>"i"</mi><mo>"/"</mo><mi>"d"</mi></mrow></msup>
        </Formula>
        <Formula label="PE of p plus k is M k times PE of p; each block of M k turns a pair by k times its speed"
            source="the linear map that Vaswani et al. 2017 hypothesise models can use; angle sums of sine and cosine">
            <mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>"+"</mo><mi>"k"</mi><mo>")"</mo><mo>"="</mo>
            <msub><mi>"M"</mi><mi>"k"</mi></msub><mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>")"</mo><mo>","</mo>
            <mspace width="1em"/>
            <mtext>"blocks "</mtext>
            <mrow><mo>"("</mo><mtable>
                <mtr><mtd><mi>"cos"</mi><mi>"k"</mi><mi>"ω"</mi></mtd><mtd><mi>"sin"</mi><mi>"k"</mi><mi>"ω"</mi></mtd></mtr>
                <mtr><mtd><mo>"−"</mo><mi>"sin"</mi><mi>"k"</mi><mi>"ω"</mi></mtd><mtd><mi>"cos"</mi><mi>"k"</mi><mi>"ω"</mi></mtd></mtr>
            </mtable><mo>")"</mo></mrow>
        </Formula>
        <Formula label="Rotary: the product of a turned query and a turned key depends on the difference of their positions"
            source="Su et al. 2021, section 3.2">
            <msup><mrow><mo>"("</mo><msub><mi>"R"</mi><mi>"m"</mi></msub><MathSym part="position-query" role=Hue::Query>"q"</MathSym><mo>")"</mo></mrow><mi>"T"</mi></msup>
            <mo>"("</mo><msub><mi>"R"</mi><mi>"n"</mi></msub><MathSym part="position-key" role=Hue::Key>"k"</MathSym><mo>")"</mo><mo>"="</mo>
            <msup><MathSym part="position-query" role=Hue::Query>"q"</MathSym><mi>"T"</mi></msup>
            <msub><mi>"R"</mi><mrow><mi>"n"</mi><mo>"−"</mo><mi>"m"</mi></mrow></msub>
            <MathSym part="position-key" role=Hue::Key>"k"</MathSym>
        </Formula>
        <Formula label="ALiBi: the score falls by the head's slope with each step of distance"
            source="Press, Smith and Lewis 2022; slopes from 2^(−8/n) on for n heads">
            <msub><mi>"s"</mi><mi>"mn"</mi></msub><mo>"="</mo>
            <mfrac><mrow>
                <msup><MathSym part="position-query" role=Hue::Query>"q"</MathSym><mi>"T"</mi></msup>
                <MathSym part="position-key" role=Hue::Key>"k"</MathSym>
            </mrow><msqrt><mi>"d"</mi></msqrt></mfrac>
            <mo>"−"</mo><mi>"slope"</mi><mo>"·"</mo><mo>"|"</mo><mi>"m"</mi><mo>"−"</mo><mi>"n"</mi><mo>"|"</mo>
        </Formula>
        <p>
            "The paper adds PE to embeddings multiplied by √d; so does this page where vectors are fixed. GPT-2 learns \
             a vector for each position instead. Rotary and ALiBi add nothing to the embedding: they act inside every \
             attention layer. ALiBi was made for models that see the past only; here both sides fall alike when nothing \
             is masked. Its slopes say near or far, not which: two heads can hardly pick the n-th symbol with them, and \
             the table shows it."
        </p>
        <p>
            "A model without positions is not always blind. Under a causal mask the first token sees one token, the \
             second two: with a second layer on top, that is a trace of order. Haviv et al. (2022) trained large causal \
             models without positions and could read the position from their states. Here little of it is learned in a \
             minute, but the swap shows that the trace is there. One layer, or no mask, and it is 0."
        </p>
        <p>
            "The lengths trained on are 4 to 8 symbols, a different one at each step. Answers are measured on 96 sequences \
             of each length that no model is trained on."
        </p>
    }
    .into_any()
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Count back from the end instead. The task sounds just as hard; who wins now, and who still works at 16?",
            "Count back",
            "end",
            |link| {
                link.position.from = CountFrom::End;
                link.view = "models".into();
            },
        ),
        trial(
            "No positions, two layers, and tokens that see only the past: does a swap still leave the logits alone?",
            "Past only, two layers",
            "causal",
            |link| {
                link.position.encoding = Positions::None;
                (link.position.causal, link.position.layers) = (true, 2);
                link.view = "models".into();
            },
        ),
        trial(
            "Ask for a symbol of 20, when no sequence had more than 8. Which model has no answer at all?",
            "20 symbols",
            "long",
            |link| {
                (link.position.encoding, link.position.length) = (Positions::Learned, 20);
                link.view = "reading".into();
            },
        ),
        trial(
            "Position 1 000 000, shifted by 4096. Is the turn still right, and to how many digits?",
            "Go far",
            "far",
            |link| {
                (link.position.at, link.position.k) = (1_000_000, 4096);
                link.view = "turn".into();
            },
        ),
        trial(
            "Two heads of 15 dimensions each. Who can't be built, and why?",
            "Width 30",
            "odd",
            |link| {
                (link.position.width, link.position.encoding) = (30, Positions::Rotary);
                link.view.clear();
            },
        ),
    ]
}

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "Without positions there is no order",
        text: "Two symbols trade places and the logits stay as they were. The model can only guess the commonest symbol.",
        set: |link| {
            link.position.encoding = Positions::None;
            link.view = "models".into();
        },
    },
    Idea {
        title: "The plain number swamps the rest",
        text: "Added to one dimension, it soon outweighs all others: symbols far along look alike.",
        set: |link| link.position.encoding = Positions::Integer,
    },
    Idea {
        title: "Many clocks at once",
        text: "Sines and cosines stay between −1 and 1. Fast hands tell neighbors apart, slow ones tell far from near.",
        set: |link| (link.position.k, link.position.at) = (0, 5),
    },
    Idea {
        title: "A step is a turn",
        text: "k positions on, every hand has turned by k times its speed, wherever it began: one matrix for all positions.",
        set: |link| {
            link.position.k = 8;
            link.view = "turn".into();
        },
    },
    Idea {
        title: "A table ends",
        text: "Learned positions do well as far as they were trained. For the next position there is no row.",
        set: |link| (link.position.encoding, link.position.length) = (Positions::Learned, 12),
    },
    Idea {
        title: "Only the distance",
        text: "Rotary scores know offsets and no places. Counted back from the end, that is just what is needed.",
        set: |link| {
            (link.position.encoding, link.position.from) = (Positions::Rotary, CountFrom::End);
            link.view = "distance".into();
        },
    },
    Idea {
        title: "Longer than anything trained on",
        text: "No sequence had more than 8 symbols. Past the mark the learned table says nothing; the others go on, some better than others.",
        set: |link| link.view = "longer".into(),
    },
];
