//! The chapter's words.

use leptos::prelude::*;
use unroll_protocol::transduction::{AttentionKind, PairTask};

use crate::{
    course::{Idea, trial},
    teaching::{Formula, Hue, MathSym, Sym, Term, Word},
};

pub fn intro() -> impl IntoView {
    view! {
        <p>
            "In 2014 Bahdanau, Cho and Bengio let the decoder look back. At every step its "
            <Sym part="state" role=Hue::Query>"state s"</Sym>" is compared with each of the encoder’s "
            <Sym part="annotation" role=Hue::Key>"states h"</Sym>", one for every source character. "
            <Term of=Word::Softmax>"Softmax"</Term>" turns the scores into "<Sym part="weight" role=Hue::Weight>"weights α"</Sym>
            " that add up to 1, and their weighted sum, the "<Sym part="context" role=Hue::Value>"context c"</Sym>
            ", is what the decoder reads for this one step. That is "<Term of=Word::Attention>"attention"</Term>"."
        </p>
        <p>
            "Nobody tells the model which character to look at: the weights are learned from right answers \
             alone. Point at a produced character and see what it was made from, press Train and watch the \
             pattern come. The model beside it learns the same task from the same batches; unless chosen \
             otherwise it has one vector for the whole source."
        </p>
    }
    .into_any()
}

/// `e_ij`, `alpha_ij` and the like.
fn indexed(part: &'static str, role: Hue, letter: &'static str, index: &'static str) -> AnyView {
    view! { <msub><MathSym part role>{letter}</MathSym><mi>{index}</mi></msub> }.into_any()
}

pub fn more() -> impl IntoView {
    let s = || indexed("state", Hue::Query, "s", "i");
    let s_before = || indexed("state", Hue::Query, "s", "i−1");
    let h = || indexed("annotation", Hue::Key, "h", "j");
    let c = || indexed("context", Hue::Value, "c", "i");
    let a = || indexed("weight", Hue::Weight, "α", "ij");
    view! {
        <Formula label="Additive score" source="Bahdanau, Cho and Bengio 2015, section 3.1 and appendix A.1.2">
            <msub><mi>"e"</mi><mi>"ij"</mi></msub><mo>"="</mo>
            <msup><mi>"v"</mi><mi>"⊤"</mi></msup><mi>"tanh"</mi><mo>"("</mo>
            <msub><mi>"W"</mi><mi>"s"</mi></msub>{s_before()}<mo>"+"</mo>
            <msub><mi>"W"</mi><mi>"h"</mi></msub>{h()}<mo>")"</mo>
        </Formula>
        <Formula label="Weights and context" source="The same, equations 5 and 6">
            {a()}<mo>"="</mo>
            <mfrac>
                <mrow><mi>"exp"</mi><mo>"("</mo><msub><mi>"e"</mi><mi>"ij"</mi></msub><mo>")"</mo></mrow>
                <mrow>
                    <msub><mo>"∑"</mo><mi>"k"</mi></msub>
                    <mi>"exp"</mi><mo>"("</mo><msub><mi>"e"</mi><mi>"ik"</mi></msub><mo>")"</mo>
                </mrow>
            </mfrac>
            <mspace width="1.5em"/>
            {c()}<mo>"="</mo><msub><mo>"∑"</mo><mi>"j"</mi></msub>{a()}{h()}
        </Formula>
        <Formula label="The decoder's step" source="The same, equation 4">
            {s()}<mo>"="</mo><mi>"GRU"</mi><mo>"("</mo>{s_before()}<mo>","</mo><mo>"["</mo>
            <msub><mi>"y"</mi><mrow><mi>"i"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub><mo>";"</mo>{c()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <p>
            "The output is read from the new state, the context and the character before; the paper puts a \
             maxout layer in between, which is left out here. The encoder reads both ways, and h is its two \
             states side by side. The decoder starts from tanh of a projection of both directions’ last states; the paper takes the \
             backward one’s only."
        </p>
        <Formula label="Luong's three scores" source="Luong, Pham and Manning 2015, section 3.1">
            <msub><mi>"e"</mi><mi>"ij"</mi></msub><mo>"="</mo>
            <msup>{s()}<mi>"⊤"</mi></msup>{h()}
            <mspace width="1em"/><mtext>"or"</mtext><mspace width="1em"/>
            <msup>{s()}<mi>"⊤"</mi></msup><msub><mi>"W"</mi><mi>"a"</mi></msub>{h()}
            <mspace width="1em"/><mtext>"or"</mtext><mspace width="1em"/>
            <msup><mi>"v"</mi><mi>"⊤"</mi></msup><mi>"tanh"</mi><mo>"("</mo>
            <msub><mi>"W"</mi><mi>"a"</mi></msub><mo>"["</mo>{s()}<mo>";"</mo>{h()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <Formula label="Luong mixes after the step" source="The same, equation 5">
            <msub><mover><mi>"h"</mi><mo>"~"</mo></mover><mi>"i"</mi></msub><mo>"="</mo><mi>"tanh"</mi><mo>"("</mo>
            <msub><mi>"W"</mi><mi>"c"</mi></msub><mo>"["</mo>{c()}<mo>";"</mo>{s()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <p>
            "Luong’s decoder takes its step first and then looks back with the new state: dot, general and \
             concat. The product of “dot” needs vectors of one width, so the encoder’s two halves are \
             projected to the decoder’s. The paper also feeds the mixed vector into the next step, \
             which is left out here."
        </p>
        <p>
            "Both models are trained on the right character before (teacher forcing), 32 pairs a step, with \
             Adam at a learning rate of 0.01, which falls with the root of the steps after the first 60. What you see is each model reading its own output back, always \
             taking the likeliest character. Measured are sources that are never trained on. The model with \
             attention has a few more parameters."
        </p>
    }
    .into_any()
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Turn dates into ISO form. The day stands somewhere in the source and last in the output: train \
             250 steps, then point at its two digits. Where does the gaze jump, and where does it go for a 0 \
             that no source character says?",
            "Dates",
            "dates",
            |link| (link.alignment.task, link.alignment.at) = (PairTask::Dates, 9),
        ),
        trial(
            "Sort the letters. There is no line the gaze could follow: what does the matrix look like when \
             the output is right?",
            "Sort",
            "sort",
            |link| link.alignment.task = PairTask::Sort,
        ),
        trial(
            "Put Luong’s dot product beside Bahdanau’s little network. Which finds the pattern first, and \
             are the two matrices the same?",
            "Dot product beside it",
            "dot",
            |link| link.alignment.beside = AttentionKind::Dot,
        ),
        trial(
            "Give both models 8 units only. How much can one vector of so few numbers still hold, and how \
             much does it matter when one may look back?",
            "8 units",
            "units",
            |link| link.alignment.hidden = 8,
        ),
        trial(
            "Train on strings of at most 5, then type a longer one. Attention can look anywhere; does it \
             still know where to look?",
            "At most 5",
            "short",
            |link| link.alignment.length = 5,
        ),
    ]
}

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "Look before you write",
        text: "For its first character the decoder weighs every source character. The output is the source \
               reversed, so it should read from the end.",
        set: |link| link.alignment.steps = 1,
    },
    Idea {
        title: "One further, and look again",
        text: "Its state has changed, so its weights change: for the next character it reads another place.",
        set: |link| link.alignment.steps = 2,
    },
    Idea {
        title: "All steps make a matrix",
        text: "A row for each produced character, a column for each source character: reversal is the line \
               from top right to bottom left. Train on and watch it sharpen.",
        set: |link| link.alignment.at = 0,
    },
    Idea {
        title: "One weight is simple arithmetic",
        text: "The decoder’s state and one of the encoder’s go through a small network that gives one score. \
               Softmax makes it a share of 1.",
        set: |link| {
            (link.alignment.at, link.alignment.key) = (3, 1);
            link.view = "score".to_owned();
        },
    },
    Idea {
        title: "The order may change",
        text: "In dates the day comes early and is written last: train, and the gaze jumps across the source.",
        set: |link| (link.alignment.task, link.alignment.at) = (PairTask::Dates, 9),
    },
    Idea {
        title: "A product does as well",
        text: "Luong’s dot product needs no little network: a state times a state. From here it is one step to \
               queries, keys and values.",
        set: |link| {
            link.alignment.attention = AttentionKind::Dot;
            link.alignment.beside = AttentionKind::Additive;
        },
    },
];
