//! The chapter's words.

use leptos::prelude::*;
use unroll_protocol::transduction::{AttentionKind, PairTask};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    store::Store,
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

/// `e_ij`, `alpha_ij` and the like.
fn indexed(part: &'static str, role: Hue, letter: &'static str, index: &'static str) -> AnyView {
    view! { <msub><MathSym part role>{letter}</MathSym><mi>{index}</mi></msub> }.into_any()
}

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("s", "state", Hue::Query),
    ("s_before", "state", Hue::Query),
    ("h", "annotation", Hue::Key),
    ("c", "context", Hue::Value),
    ("alpha", "weight", Hue::Weight),
];

pub fn more() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In the model shown, H = {}.", link.alignment.hidden))
    });
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
        <Snippet of=include_str!("code/score.py") names=NAMES sizes/>
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
        <Snippet of=notebooks::CONTEXT.code names=NAMES sizes notebook=|| notebook(&notebooks::CONTEXT)/>
        <Formula label="The decoder’s step" source="The same, section 3.1">
            {s()}<mo>"="</mo><mi>"GRU"</mi><mo>"("</mo>{s_before()}<mo>","</mo><mo>"["</mo>
            <msub><mi>"y"</mi><mrow><mi>"i"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub><mo>";"</mo>{c()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/step.py") names=NAMES sizes/>
        <p>
            "The output is read from the new state, the context and the character before. The paper puts a \
             maxout layer in between, which is left out here. The encoder reads both ways, and h is its two \
             states side by side. The decoder starts from the tanh of a projection of both directions’ last \
             states. The paper takes the backward direction’s only. It appeared in 2014 and was presented at \
             ICLR 2015."
        </p>
        <Formula label="Luong’s three scores" source="Luong, Pham and Manning 2015, section 3.1">
            <msub><mi>"e"</mi><mi>"ij"</mi></msub><mo>"="</mo>
            <msup>{s()}<mi>"⊤"</mi></msup>{h()}
            <mspace width="1em"/><mtext>"or"</mtext><mspace width="1em"/>
            <msup>{s()}<mi>"⊤"</mi></msup><msub><mi>"W"</mi><mi>"a"</mi></msub>{h()}
            <mspace width="1em"/><mtext>"or"</mtext><mspace width="1em"/>
            <msup><mi>"v"</mi><mi>"⊤"</mi></msup><mi>"tanh"</mi><mo>"("</mo>
            <msub><mi>"W"</mi><mi>"a"</mi></msub><mo>"["</mo>{s()}<mo>";"</mo>{h()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/luong.py") names=NAMES sizes/>
        <Formula label="Luong mixes after the step" source="The same, equation 5">
            <msub><mover><mi>"h"</mi><mo>"~"</mo></mover><mi>"i"</mi></msub><mo>"="</mo><mi>"tanh"</mi><mo>"("</mo>
            <msub><mi>"W"</mi><mi>"c"</mi></msub><mo>"["</mo>{c()}<mo>";"</mo>{s()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/mix.py") names=NAMES sizes/>
        <p>
            "Luong’s decoder takes its step first and then looks back with the new state. The three scores are \
             called dot, general and concat. For dot, both vectors must have the same width, so the encoder’s \
             two halves are projected to the decoder’s width here. The paper also feeds the mixed vector into \
             the next step, which is left out here."
        </p>
        <p>
            "Both models are trained with the right character before (teacher forcing), on 32 pairs per step, \
             with Adam. The learning rate is 0.01 for the first 60 steps and then falls as 1/√step. What you see is \
             each model reading back its own output, always taking the likeliest character. Accuracy is \
             measured on sources that are never trained on. The model with attention has a few more parameters."
        </p>
        <p>
            "What a weight tells is debated. Jain and Wallace (2019) found other weights that give nearly the \
             same answers. Wiegreffe and Pinter (2019) replied that this alone does not make weights useless \
             as explanations."
        </p>
    }
    .into_any()
}

pub const SCRIPT: Script = Script {
    before: "The decoder got one vector for the whole source, however long the source was.",
    beats: &[
        Beat {
            title: "",
            text: "In 2014, translation networks failed on long sentences. Dzmitry Bahdanau, Kyunghyun Cho and \
                   Yoshua Bengio suspected the single vector. They let the decoder look back at the source for \
                   each word, and called this a mechanism of [attention](attention). Here a model with attention \
                   (“Bahdanau”) learns beside one without. {neither}\n\n\
                   ! Press Train, and watch: do the squares form a pattern? {pattern}",
            // The next beat asks about the third row.
            set: |link| link.alignment.at = 1,
            asks: &[],
        },
        Beat {
            title: "Look before you write",
            text: "Attention is like a reading lamp. Before each character it writes, the decoder spreads the \
                   light over the source. Each character there gets a share, its [weight α](#weight weight). The \
                   task is to write the source backward, so the first look should go to the end.\n\n\
                   {first}\n\n\
                   ! Press {do-first}.",
            set: |link| link.alignment.steps = 1,
            asks: &["alignment"],
        },
        Beat {
            title: "One step on, and another look",
            text: "One character is written, so the decoder’s [state s](#state query) has changed, and with it \
                   the weights. {second} Each step mixes a vector of its own, \
                   the [context c](#context value): the weighted sum of the encoder’s [states h](#annotation \
                   key). So no single vector must hold everything.\n\n\
                   ! Press “Write one more” to go on.\n\n\
                   + What is in a state h?\n\n\
                   The encoder reads the source both ways, and h is its two states at one character, side by \
                   side. So each h has taken in its own character and those on both sides.",
            set: |link| link.alignment.steps = 2,
            asks: &["alignment-context"],
        },
        Beat {
            title: "All steps make a matrix",
            text: "Each row is a written character, and each column a source character. The stronger the color, \
                   the larger the weight. If the model has learned to reverse, the strong cells form a line from \
                   top right to bottom left. Nobody tells it which characters belong together. {line}\n\n\
                   ! Press {do-line}.",
            set: |link| link.alignment.at = 0,
            asks: &["alignment-marked"],
        },
        Beat {
            title: "One weight is simple arithmetic",
            text: "In **additive attention**, a small network compares the decoder’s state with one of the \
                   encoder’s states. Out comes a score: how well do the two go together? [Softmax](softmax) \
                   turns the scores of a row into shares that add up to 1.\n\n\
                   ! Press “1 Score,” “2 Softmax,” and “3 Context”: follow the score to the context.",
            set: |link| {
                // No key of its own: the one that is read most.
                (link.alignment.at, link.alignment.key) = (3, 0);
                // A source without the letters that name the vectors: a, b, m and v.
                link.alignment.example = 2;
                link.view = "score".to_owned();
            },
            asks: &["alignment-alpha"],
        },
        Beat {
            title: "The line may break",
            text: "Now the task is to write dates as year, month and day. In many sources the day comes early, \
                   but it is always written last. If the model has learned its task, the weights for the day jump \
                   across the source.\n\n\
                   ! Train for 250 steps, then look at the rows of the last two digits.",
            set: |link| {
                (link.alignment.task, link.alignment.at) = (PairTask::Dates, 9);
                // A day that comes first in the source, and can’t be taken for the month: the 21st of April.
                link.alignment.example = 24;
            },
            asks: &["alignment-proof"],
        },
        Beat {
            title: "Does it help with length?",
            text: "Back to letters. For each length of source, the figure shows how many [held-out](held-out) \
                   answers are correct to the last character. {right}\n\n\
                   ! {do-right} Which of the two curves falls first as the sources grow?\n\n\
                   + What happens past the dotted line?\n\n\
                   There the sources are longer than any in training, and both models soon fail. Attention can \
                   look anywhere, but the decoder’s state must steer it. It never learned to do that for so many \
                   characters.",
            set: |link| link.view = "lengths".to_owned(),
            asks: &[],
        },
        Beat {
            title: "A product can replace the network",
            text: "In 2015 Luong, Pham and Manning tried scores without a network. The simplest is the [inner \
                   product](inner-product) of the two states, which is large when they point the same way. Here \
                   it learns beside Bahdanau’s network.\n\n\
                   ! Train, then compare the two matrices, and how often each model is right.\n\n\
                   + Why do without the network?\n\n\
                   The product costs only one multiplication per number. And from here it is one step to \
                   queries, keys and values.",
            set: |link| {
                link.alignment.attention = AttentionKind::Dot;
                link.alignment.beside = AttentionKind::Additive;
            },
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can read an [alignment](alignment) matrix, and work out one weight from the scores of its \
                   row. You can say what the context vector is, and why each step gets a new one. The next \
                   chapter gives the two sides of the product their names: query and key.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Dates, written with [beam search](beam-search), which keeps several possible beginnings at once. \
                   Greedy decoding keeps only one. Train to step 100. Does beam search find a date that is more \
                   probable than the greedy one? Is it the right date? Train to step 250 and look again. Once the \
                   model is sure, what is left for a search to find?",
            label: "Dates, with beam search",
            id: "dates",
            set: |link| {
                link.alignment.task = PairTask::Dates;
                link.view = "beam".to_owned();
            },
            sentence: None,
        },
        Trial {
            text: "Sort the letters. No straight line can be right now. What does the matrix look like once the \
                   answers are correct?",
            label: "Sort the letters",
            id: "sort",
            set: |link| link.alignment.task = PairTask::Sort,
            sentence: None,
        },
        Trial {
            text: "Put Luong’s dot product beside Bahdanau’s little network. Which one finds the pattern first? \
                   Are the two matrices the same?",
            label: "Luong’s dot product beside it",
            id: "dot",
            set: |link| link.alignment.beside = AttentionKind::Dot,
            sentence: None,
        },
        Trial {
            text: "Give both models only 8 units. How much can a single vector of so few numbers hold, and how much \
                   does that matter to a model that can look back?",
            label: "Give both models 8 units",
            id: "units",
            set: |link| link.alignment.hidden = 8,
            sentence: None,
        },
        Trial {
            text: "Train on strings of at most 5 letters, then type a longer one. Attention can look anywhere, but \
                   does it still know where to look?",
            label: "Sources of at most 5 letters",
            id: "short",
            set: |link| link.alignment.length = 5,
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "alignment-context",
            kind: Kind::Explain,
            asks: "Why can attention help with long sources?",
            options: &[
                (
                    "The decoder’s state gets more numbers with every character of the source.",
                    "The state keeps its size. What grows is the number of encoder states that can be read.",
                ),
                (
                    "It never reads the characters that do not matter.",
                    "It reads every one. A softmax weight can be tiny, but in exact arithmetic it is never 0.",
                ),
                (
                    "It can read all encoder states at every step, not just one vector.",
                    "There are as many states as characters, and each context is mixed for one step only.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "alignment-marked",
            kind: Kind::FindError,
            asks: "“To train attention, somebody must mark which source character belongs to which output \
                   character.” What is wrong?",
            options: &[
                (
                    "The right answers alone teach it where to look.",
                    "The loss only asks whether each character is right. Its gradient also reaches the weights α, \
                     because softmax and the weighted sum have slopes everywhere.",
                ),
                (
                    "The marks are needed only for long sources.",
                    "They are never needed. The gradient says which weights would have made the right answer \
                     likelier.",
                ),
                (
                    "Nothing is wrong: without such marks the weights stay random.",
                    "Train and look: the weights change, though only the answers are given.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "alignment-alpha",
            kind: Kind::FindError,
            asks: "“The weight α is what goes into the small network.” What is wrong?",
            options: &[
                (
                    "The context c goes in, and the weight α is added to it afterward.",
                    "The context comes last: it is computed from the weights.",
                ),
                (
                    "The states s and h go in. α is the softmax of what comes out.",
                    "One score comes out for each h. Softmax turns the scores into weights, which say how much to take \
                     of each h.",
                ),
                (
                    "Nothing is wrong.",
                    "A weight is a share between 0 and 1 that comes out of the comparison. It does not go into it.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "alignment-proof",
            kind: Kind::FindError,
            asks: "“One source character has nearly all the weight, so the others had no influence.” What is wrong?",
            options: &[
                (
                    "That state has also taken in the characters on both sides.",
                    "What is mixed are encoder states, not bare characters. The decoder’s own state, too, holds \
                     what was read before.",
                ),
                (
                    "Attention weights say nothing at all about what the answer was made from.",
                    "They say exactly how much of each encoder state goes into this context, but that is not all \
                     that shaped the answer.",
                ),
                (
                    "Nothing is wrong.",
                    "The weight is on a state, and that state has read its neighbors. It does not stand for one \
                     character alone.",
                ),
            ],
            right: 0,
        },
    ],
};
