//! The chapter's words: what it is about, formulas, experiments, and one idea at a time.

use leptos::prelude::*;
use unroll_protocol::study::birnn::{CellChoice, TaskChoice};

use super::Page;
use crate::{
    course::{Idea, trial},
    teaching::{Formula, Hue, MathSym, Sym, Term, Word},
};

#[component]
pub fn Intro(page: Page) -> impl IntoView {
    view! {
        <p>
            "A network that reads forward knows only the past. A bidirectional one adds a second network \
             that reads from the end, with weights of its own. At each position the "
            <Sym part="birnn-forward" role=Hue::Hidden>"forward"</Sym>" and the "
            <Sym part="birnn-backward" role=Hue::Hidden>"backward"</Sym>" "
            <Term of=Word::HiddenState>"state"</Term>
            " are laid side by side, and the answer is read from both."
        </p>
        {move || match page.task.get() {
            TaskChoice::Look => view! {
                <p>
                    "Here random symbols come one by one, and the answer is the symbol some steps later. \
                     Nothing read so far can tell it: forward stays at chance however long it trains. \
                     Another way out is to answer late; that reaches exactly as far as the delay."
                </p>
            }.into_any(),
            TaskChoice::Fill => view! {
                <p>
                    "Here a letter of the text is hidden. The letters before it help, those after it \
                     help too. Click a letter to hide it and see what each model would put there. Every \
                     answer below the letters is given with that one letter hidden."
                </p>
            }.into_any(),
        }}
    }
}

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    view! {
        <Formula label="Forward state from the input and the state before" source="Schuster and Paliwal 1997; here with the chosen cell for f">
            <msub><MathSym part="birnn-forward" role=Hue::Hidden>"h→"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"f"</mi><mo>"("</mo>
            <mi>"W→"</mi><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"+"</mo>
            <mi>"U→"</mi>
            <msub><MathSym part="birnn-forward" role=Hue::Hidden>"h→"</MathSym><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub>
            <mo>"+"</mo><mi>"b→"</mi><mo>")"</mo>
        </Formula>
        <Formula label="Backward state from the input and the state after">
            <msub><MathSym part="birnn-backward" role=Hue::Hidden>"h←"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"f"</mi><mo>"("</mo>
            <mi>"W←"</mi><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"+"</mo>
            <mi>"U←"</mi>
            <msub><MathSym part="birnn-backward" role=Hue::Hidden>"h←"</MathSym><mrow><mi>"t"</mi><mo>"+"</mo><mn>"1"</mn></mrow></msub>
            <mo>"+"</mo><mi>"b←"</mi><mo>")"</mo>
        </Formula>
        <Formula label="Logits from both states">
            <msub><MathSym part="birnn-logit" role=Hue::Output>"y"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"V"</mi><mo>"["</mo>
            <msub><MathSym part="birnn-forward" role=Hue::Hidden>"h→"</MathSym><mi>"t"</mi></msub><mo>";"</mo>
            <msub><MathSym part="birnn-backward" role=Hue::Hidden>"h←"</MathSym><mi>"t"</mi></msub>
            <mo>"]"</mo><mo>"+"</mo><mi>"c"</mi><mo>"="</mo>
            <mi>"V→"</mi><msub><MathSym part="birnn-forward" role=Hue::Hidden>"h→"</MathSym><mi>"t"</mi></msub>
            <mo>"+"</mo>
            <mi>"V←"</mi><msub><MathSym part="birnn-backward" role=Hue::Hidden>"h←"</MathSym><mi>"t"</mi></msub>
            <mo>"+"</mo><MathSym part="birnn-bias" role=Hue::Weight>"c"</MathSym>
        </Formula>
        <p>
            "The two networks never touch on the way: no forward state depends on a backward one. So both \
             can be trained as one network by backpropagation through time, each in its own direction, and \
             they meet only in this sum. The paper gives the states of the ends, which have no neighbor, \
             a fixed start; here it is 0."
        </p>
        <p>
            "The paper's other ways to use the future are a one-way network whose answers are delayed, and \
             merging the answers of two networks trained apart. A delay of d lets a one-way state hold \
             position t's neighbors up to t + d, but it must also carry them for d steps."
        </p>
        <p>
            "One-way models here get more units than the model that reads both ways has in each direction, \
             so that they have at least as many parameters; each line of the table in the view One position is such \
             a model of its own. In the made-up task every model learns the answers 1 to 5 steps ahead at \
             once, each with its own rows of V. Accuracy is measured on sequences, or on the last tenth of \
             the text, that no model is trained on; a delayed model is not asked about the last positions, \
             which it never gets to answer."
        </p>
        <p>
            "What is given up: the first answer waits for the end of the sequence. And the next character \
             can't be asked of such a model, since it would have read it. Later papers stack such layers, \
             and put gates in place of f; both are the same wiring."
        </p>
    }
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Give all models 64 units and train. Does size take the forward model above chance?",
            "64 units",
            "size",
            |link| link.birnn.hidden = 64,
        ),
        trial(
            "Let the second model answer 5 steps late: it solves all five distances without reading \
             backward at all. What does it pay?",
            "Delay 5",
            "delay",
            |link| (link.birnn.delay, link.birnn.ahead) = (5, 5),
        ),
        trial(
            "Change a symbol in the middle and follow the change: which rows does it run through, and \
             which stay at exactly 0 behind it?",
            "Change position 8",
            "edit",
            |link| (link.birnn.editing, link.birnn.edit) = (true, 8),
        ),
        trial(
            "Hide a letter of your own sentence, first one at the end of a word, then one at its start. \
             Which side matters more?",
            "Missing letters",
            "fill",
            |link| link.birnn.task = TaskChoice::Fill,
        ),
        trial(
            "Let the delayed model read 2 letters on and train: it may come close to both ways, or even \
             pass it. In one state the two sides can act together; from both ends they only add up.",
            "Letters, 2 late",
            "late",
            |link| {
                (link.birnn.task, link.birnn.delay, link.birnn.cell) =
                    (TaskChoice::Fill, 2, CellChoice::Elman)
            },
        ),
    ]
}

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "The future is out of reach",
        text: "The answer is the symbol 3 later, all symbols are equally likely: forward can only guess, \
               1 time in 4.",
        set: |link| link.birnn.delay = 0,
    },
    Idea {
        title: "Read from the other end too",
        text: "The backward states have read everything that comes later. Point at one to see what \
               reached it.",
        set: |link| (link.birnn.delay, link.birnn.at) = (0, 6),
    },
    Idea {
        title: "What can't reach, can't change",
        text: "Position 8 is changed. Forward states before it and backward states after it stay the \
               same to the last bit.",
        set: |link| (link.birnn.editing, link.birnn.edit) = (true, 8),
    },
    Idea {
        title: "Or answer late",
        text: "Answering 2 steps late reaches 2 steps ahead: that far it is always right.",
        set: |link| (link.birnn.delay, link.birnn.ahead) = (2, 2),
    },
    Idea {
        title: "But no further than the delay",
        text: "One step more, and the delayed model is back at chance.",
        set: |link| {
            link.view = "accuracy".into();
            (link.birnn.delay, link.birnn.ahead) = (2, 3);
        },
    },
    Idea {
        title: "A missing letter",
        text: "In real text the past helps, and so does the future: both sides help most often.",
        set: |link| (link.birnn.task, link.birnn.delay) = (TaskChoice::Fill, 0),
    },
];
