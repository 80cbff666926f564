//! The chapter's words, and its formulas.

use leptos::prelude::*;
use unroll_protocol::study::birnn::{CellChoice, TaskChoice};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    store::Store,
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

pub const SCRIPT: Script = Script {
    before: "LSTMs and GRUs carry the past a long way, but whatever comes later is still out of their sight.",
    beats: &[
        Beat {
            title: "",
            text: "A sound of speech is often clear only from what follows it, but a [recurrent network](recurrence) \
                   that reads forward knows only the past. In 1997 Schuster and Paliwal added a second network, which \
                   reads from the end.\n\n\
                   The models here read random symbols.\n\n\
                   ! Compare the rows: which model can name the symbol {ahead} later?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "The future is out of reach",
            text: "Each symbol here is drawn like a card from a full deck, so nothing read so far tells which \
                   one comes later. {random}\n\n\
                   ! Keep training. Does it get any better?",
            set: |link| link.birnn.delay = 0,
            asks: &["birnn-random"],
        },
        Beat {
            title: "Read from the other end too",
            text: "At each position, the second network’s [state](hidden-state) has read everything from the end back \
                   to there. In a **bidirectional RNN** the answer is read from this [backward state](#birnn-backward \
                   hidden) and the [forward state](#birnn-forward hidden) together.\n\n\
                   ! [Point at a backward state](>birnn-row-both-backward), in the row whose arrows point left: the \
                   inputs it has read light up.\n\n\
                   + What does the second network add?\n\n\
                   It has [weights](weight) of its own, and its state has read the very symbol that forward can only \
                   guess. {both}",
            set: |link| (link.birnn.delay, link.birnn.at) = (0, 6),
            asks: &["birnn-touch"],
        },
        Beat {
            title: "What can’t reach can’t change",
            text: "Change one input, and you see which states have read it. Here the symbol at position 8 is changed. \
                   A red bar below a cell marks a change. Faded cells stayed exactly the same.\n\n\
                   ! Follow the red bars: which way does each row pass the change on?",
            set: |link| (link.birnn.editing, link.birnn.edit) = (true, 8),
            asks: &["birnn"],
        },
        Beat {
            title: "Or answer late",
            text: "The **delayed** model reads only forward, but like an interpreter it waits. {waits} The \
                   price: it must hold what it has read until the answer is due.\n\n\
                   ! Compare its row with the two above: is it as good as both ways?",
            set: |link| (link.birnn.delay, link.birnn.ahead) = (2, 2),
            asks: &["birnn-late"],
        },
        Beat {
            title: "How far does it see?",
            text: "What if the answer lies beyond the delay? {beyond}\n\n\
                   ! At which distance does the delayed model’s line fall to chance? Choose a longer delay above \
                   the figure: all models start over. Where does the line fall now?",
            set: |link| {
                link.view = "accuracy".into();
                (link.birnn.delay, link.birnn.ahead) = (2, 3);
            },
            asks: &[],
        },
        Beat {
            title: "A missing letter",
            text: "In real text the past does say something about the future. How much can the other side add? Each \
                   letter is guessed as if hidden; the figure hides one. The percentages are measured on [held-out \
                   text](held-out){filled}.\n\n\
                   ! [Press any letter](>birnn-row-inputs) to hide it instead, and compare the guesses.\n\n\
                   {telling} [Open the view “Guess”](@guess) to guess first.\n\n\
                   + Who trained a model this way?\n\n\
                   In 2018 Devlin and others trained a model called BERT on hidden words.",
            set: |link| (link.birnn.task, link.birnn.delay) = (TaskChoice::Fill, 0),
            asks: &["birnn-next"],
        },
        Beat {
            title: "What you can do now",
            text: "You can say what each state of a bidirectional RNN has read, and prove it by changing one input. \
                   You know what a delay gives and costs, and why reading both ways can fill gaps but not write. Next, \
                   layers are stacked deep.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Give all models 64 units and train. Does size lift the forward model above chance?",
            label: "Give all models 64 units",
            id: "size",
            set: |link| link.birnn.hidden = 64,
            sentence: None,
        },
        Trial {
            text: "Let the delayed model answer 5 steps late, and train. At how many of the five distances is it \
                   right, without ever reading backward? What does it pay for that?",
            label: "Answer 5 steps late",
            id: "delay",
            set: |link| (link.birnn.delay, link.birnn.ahead) = (5, 5),
            sentence: None,
        },
        Trial {
            text: "Change a symbol in the middle and follow the change. Which rows does it run through, and how far? \
                   Which stay at exactly 0?",
            label: "Change the symbol at position 8",
            id: "edit",
            set: |link| (link.birnn.editing, link.birnn.edit) = (true, 8),
            sentence: None,
        },
        Trial {
            text: "Hide a letter of your own sentence: first one at the end of a word, then one at its start. Which side \
                   of the gap helps more?",
            label: "Hide letters in your sentence",
            id: "fill",
            set: |link| link.birnn.task = TaskChoice::Fill,
            sentence: None,
        },
        Trial {
            text: "Let the delayed model read 2 letters beyond the gap, and train. Can it keep up with both ways? It \
                   holds both sides of the gap in one state, while the model that reads both ways holds them in two \
                   and only adds up what each says.",
            label: "Missing letters, answered 2 late",
            id: "late",
            set: |link| {
                (link.birnn.task, link.birnn.delay, link.birnn.cell) =
                    (TaskChoice::Fill, 2, CellChoice::Elman)
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "birnn-random",
            kind: Kind::Explain,
            asks: "Why can’t the forward model learn to name the symbol that comes later?",
            options: &[
                (
                    "The answer is drawn at random, after all that it has read.",
                    "What it has read says nothing about a later draw, and no amount of training finds what is not \
                     there.",
                ),
                (
                    "Its gradient vanishes on the way back.",
                    "The way back is short here, but there is nothing in the past for the gradient to point to.",
                ),
                (
                    "It has fewer parameters than one that reads both ways.",
                    "It was given more units, so that it has at least as many parameters.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "birnn-touch",
            kind: Kind::FindError,
            asks: "“In a bidirectional RNN the forward states learn about the future from the backward states.” What is \
                   wrong?",
            options: &[
                (
                    "It is the other way around: backward states ask the forward states.",
                    "Neither asks the other. Each network reads the inputs by itself.",
                ),
                (
                    "Nothing. That is how it sees both sides.",
                    "Then a change at a later position would change forward states before it. The next part of the story lets you \
                     check this.",
                ),
                (
                    "The two networks never touch. They meet only in the answer.",
                    "No forward state depends on a backward one. Only the answer adds up what both say.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "birnn-next",
            kind: Kind::FindError,
            asks: "“A bidirectional RNN fills gaps so well that it can also write: train it to name the next \
                   character.” What is wrong?",
            options: &[
                (
                    "It would be too slow to write.",
                    "It would be slow, since it reads everything again, but the trouble begins earlier, in training.",
                ),
                (
                    "Its backward states have already read the next character.",
                    "In training it could just copy the answer. When it writes, there is nothing to copy from yet.",
                ),
                (
                    "Nothing. It only needs more training.",
                    "By copying it would reach a very low loss in training, which does not help when it must write.",
                ),
            ],
            right: 1,
        },
    ],
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("h_forward", "birnn-forward", Hue::Hidden),
    ("h_backward", "birnn-backward", Hue::Hidden),
    ("y", "birnn-logit", Hue::Output),
    ("c", "birnn-bias", Hue::Weight),
];

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store
            .link
            .with(|link| format!("In the model that reads both ways, H = {}.", link.birnn.hidden))
    });
    view! {
        <Formula label="Forward state from the input and the state before" source="Schuster and Paliwal 1997; here with the chosen cell for f">
            <msub><MathSym part="birnn-forward" role=Hue::Hidden>"h→"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"f"</mi><mo>"("</mo>
            <mi>"W→"</mi><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"+"</mo>
            <mi>"U→"</mi>
            <msub><MathSym part="birnn-forward" role=Hue::Hidden>"h→"</MathSym><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub>
            <mo>"+"</mo><mi>"b→"</mi><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/forward.py") names=NAMES sizes/>
        <Formula label="Backward state from the input and the state after">
            <msub><MathSym part="birnn-backward" role=Hue::Hidden>"h←"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"f"</mi><mo>"("</mo>
            <mi>"W←"</mi><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"+"</mo>
            <mi>"U←"</mi>
            <msub><MathSym part="birnn-backward" role=Hue::Hidden>"h←"</MathSym><mrow><mi>"t"</mi><mo>"+"</mo><mn>"1"</mn></mrow></msub>
            <mo>"+"</mo><mi>"b←"</mi><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/backward.py") names=NAMES sizes/>
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
        <Snippet of=notebooks::LOGITS.code names=NAMES sizes notebook=|| notebook(&notebooks::LOGITS)/>
        <p>
            "The two networks never touch on the way: no forward state depends on a backward one. So both are trained \
             together by backpropagation through time, each in its own direction. They meet only in this sum. At the \
             two ends there is no neighboring state to start from. The paper starts from a fixed value. Here it is 0."
        </p>
        <p>
            "Schuster and Paliwal compare two other ways to use the future. One is a one-way network whose answers are \
             delayed. The other merges the answers of two networks that were trained apart. With a delay of d, a \
             one-way state can know position t and what follows it, up to t + d. But it must carry that for up to d steps."
        </p>
        <p>
            "One-way models have more units here than the model that reads both ways has in each direction, so that \
             they have at least as many parameters. In the table of logits in the view “Position,” each \
             row is a separately trained model. In the made-up task every model learns the answers 1 to 5 \
             steps ahead at once, each with its own rows of V. Accuracy is measured on what no model is \
             trained on: other sequences, or the last tenth of the text. A delayed model is not asked about \
             the last positions, because the sequence ends before its answer is due."
        </p>
        <p>
            "What is given up: the first answer must wait for the end of the sequence. And such a model can’t be asked \
             for the next character, because it has already read it. Later papers stack such layers, and use an LSTM \
             or a GRU for f (Graves and Schmidhuber 2005 use LSTMs). The wiring is the same."
        </p>
    }
}
