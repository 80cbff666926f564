//! The chapter's words: its script, and the formulas.

use leptos::prelude::*;
use unroll_protocol::{Link, PairTask};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, Try, notebook},
    store::Store,
    teaching::{Formula, Hue, Kind, Live, MathSym, Names, Quiz, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("h", "seq2seq-h", Hue::Hidden),
    ("c", "seq2seq-c", Hue::Hidden),
    ("s", "seq2seq-s", Hue::Hidden),
];

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In the model shown, H = {}.", link.seq2seq.hidden))
    });
    let h = |index: &'static str| {
        view! {
            <msub><MathSym part="seq2seq-h" role=Hue::Hidden>"h"</MathSym><mi>{index}</mi></msub>
        }
    };
    let s = || {
        view! {
            <msub><MathSym part="seq2seq-s" role=Hue::Hidden>"s"</MathSym><mi>"i"</mi></msub>
        }
    };
    let before = |name: &'static str, index: &'static str| {
        view! {
            <msub><mi>{name}</mi><mrow><mi>{index}</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub>
        }
    };
    let c = || view! { <MathSym part="seq2seq-c" role=Hue::Hidden>"c"</MathSym> };
    view! {
        <Formula label="The encoder reads the source, and its last state is c" source="Cho et al. 2014, section 2.2">
            {h("j")}<mo>"="</mo><mi>"GRU"</mi><mo>"("</mo>{before("h", "j")}<mo>","</mo>
            <msub><mi>"x"</mi><mi>"j"</mi></msub><mo>")"</mo><mo>","</mo>
            {c()}<mo>"="</mo>{h("S")}
        </Formula>
        <Snippet of=notebooks::ENCODER.code names=NAMES sizes notebook=|| notebook(&notebooks::ENCODER)/>
        <Formula label="The decoder starts from c and is given c again at every step" source="Cho et al. 2014, appendix A.1">
            <msub><mi>"s"</mi><mn>"0"</mn></msub><mo>"="</mo><mi>"tanh"</mi><mo>"("</mo><mi>"V"</mi>{c()}
            <mo>"+"</mo><mi>"b"</mi><mo>")"</mo><mo>","</mo>
            {s()}<mo>"="</mo><mi>"GRU"</mi><mo>"("</mo>{before("s", "i")}<mo>","</mo>
            <mo>"["</mo>{before("y", "i")}<mo>";"</mo>{c()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/decoder.py") names=NAMES sizes/>
        <Formula label="Probabilities of the next character, given all that was written before">
            <mi>"p"</mi><mo>"("</mo><msub><mi>"y"</mi><mi>"i"</mi></msub><mo>"|"</mo>
            <msub><mi>"y"</mi><mn>"1"</mn></msub><mo>"…"</mo>{before("y", "i")}<mo>","</mo>{c()}<mo>")"</mo><mo>"="</mo>
            <mi>"softmax"</mi><mo>"("</mo>
            <msub><mi>"O"</mi><mi>"s"</mi></msub>{s()}<mo>"+"</mo>
            <msub><mi>"O"</mi><mi>"c"</mi></msub>{c()}<mo>"+"</mo>
            <msub><mi>"O"</mi><mi>"y"</mi></msub>{before("y", "i")}<mo>"+"</mo><mi>"o"</mi><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/output.py") names=NAMES sizes/>
        <p>
            "In training, the decoder is always given the right character before (teacher forcing). The loss is \
             the mean cross-entropy per character. When it writes by itself, it is given its own last character, \
             and a wrong one can mislead those after it. A model that reads back its own output is called \
             autoregressive."
        </p>
        <p>
            "Kalchbrenner and Blunsom (2013) put a whole sentence into one vector and wrote a translation from \
             it. Cho and others (2014) trained the RNN encoder-decoder. It gives c to the decoder at every step, \
             as here. It also has a maxout layer before the softmax, which keeps the larger number of every \
             pair. That layer is left out here. The GRU is PyTorch’s, whose reset gate acts after the \
             product."
        </p>
        <p>
            "Sutskever, Vinyals and Le (2014) used deep LSTMs. They gave c only as the decoder’s first state, \
             and read the source from its end. In the same year Cho, van Merriënboer, Bahdanau and Bengio (“On \
             the properties of neural machine translation”) measured translations. Quality fell with the \
             sentence’s length, and with the number of unknown words in it."
        </p>
        <p>
            "One source in ten is held out and never trained on. What a source says decides whether it is held \
             out: a date is held out in every way of writing it. All lengths up to the longest are equally \
             frequent. Beam search compares whole sequences by their probability, with no correction for length."
        </p>
    }
}

/// What the model learns to write, in a few words.
pub fn task(task: PairTask) -> &'static str {
    match task {
        PairTask::Reverse => "a string of letters, backward",
        PairTask::Dates => "a date as year, month and day, however it was written",
        PairTask::Copy => "the same string of letters again",
        PairTask::Sort => "the letters of a string, in alphabetical order",
    }
}

/// The twins that beats offer: of the model with 8 numbers, and of the one that reads from the end.
const WIDER: &str = "seq2seq-hidden:32";
const OTHER_END: &str = "seq2seq-backwards:0";

/// Ends the twin that another beat has offered: it does not fit the model of this one.
fn alone(link: &mut Link, offered: &str) {
    if [WIDER, OTHER_END].contains(&link.twin.as_str()) && link.twin != offered {
        link.twin.clear();
    }
}

/// A model that copies, reading from the end, and its twin, which reads from the start.
fn from_both_ends(link: &mut Link) {
    (link.seq2seq.task, link.seq2seq.backwards) = (PairTask::Copy, true);
    link.twin = OTHER_END.to_owned();
    link.view = "lengths".to_owned();
}

/// The buttons that add these twins, in their beats.
pub fn offers() -> Vec<Live> {
    let offer = |label, id, set: fn(&mut Link)| {
        ViewFn::from(move || view! { <ul class="try-list"><li><Try label id set/></li></ul> })
    };
    let wider = |link: &mut Link| {
        link.seq2seq.hidden = 8;
        link.twin = WIDER.to_owned();
        link.view = "lengths".to_owned();
    };
    vec![
        ("wider", offer("Add a twin with 32 numbers", "seq2seq-wider", wider)),
        (
            "other-end",
            offer("Add a twin that reads from the start", "seq2seq-start", from_both_ends),
        ),
    ]
}

pub const SCRIPT: Script = Script {
    before: "Reading both ways helps, but so far each network gives one answer, or one for each input. What if the \
             answer has a length of its own?",
    beats: &[
        Beat {
            title: "",
            text: "A translation rarely has as many words as its source, and their order often differs. So in 2014 two \
                   groups, around Cho and around Sutskever, used two networks: one reads the whole source, and the \
                   other writes. Here you train such a pair to write {task}.\n\n\
                   ! Is the answer above the figure right? [Try a source of two letters](>seq2seq-source).",
            set: |link| alone(link, ""),
            asks: &[],
        },
        Beat {
            title: "Read all, then write",
            text: "The [encoder](encoder) reads the source, one character per step. Only then does the \
                   [decoder](decoder) write, until it writes *end*: its answer may be longer or shorter.\n\n\
                   At every step it is given the encoder’s last state, [c](#seq2seq-c hidden), and the character it \
                   just wrote.\n\n\
                   ! Press “Write one more”: where does a written character go next?\n\n\
                   + What if it guesses wrong in training?\n\n\
                   In training, the decoder’s next input is always the right character, even if it guessed wrong. This \
                   is [teacher forcing](teacher-forcing).",
            set: |link| {
                alone(link, "");
                link.seq2seq.at = 1;
            },
            asks: &["seq2seq-fed"],
        },
        Beat {
            title: "One vector in between",
            text: "All that passes from reader to writer is [one vector, c](#seq2seq-c hidden), the encoder’s \
                   last [state](hidden-state). It has {hidden} numbers, whether the source has 2 letters or \
                   10. This narrow neck is the **bottleneck** of the [encoder-decoder](encoder-decoder), or \
                   **seq2seq** model.\n\n\
                   ! [Point at the letters](>transfer-source) on the left: which of them moved the state most?\n\n\
                   + Can an early letter get lost?\n\n\
                   Yes. What a later letter pushes out of the state is gone.",
            set: |link| alone(link, ""),
            asks: &["seq2seq-half"],
        },
        Beat {
            title: "Accuracy and length",
            text: "When is one vector too small? The curve shows how many [held-out](held-out) answers are \
                   correct to the last character, by length of source. Right of the mark, sources are longer \
                   than any in training. The dashed curve is from halfway through training so far. {lengths}\n\n\
                   ! Press Train: at which length does the curve rise next?",
            set: |link| {
                alone(link, "");
                link.seq2seq.example = 2;
                link.view = "lengths".to_owned();
            },
            asks: &["seq2seq"],
        },
        Beat {
            title: "A narrower neck",
            text: "If the neck is the trouble, a narrower one should make it worse. Here the vector has only {hidden} \
                   numbers.\n\n\
                   ! Add a twin with 32 numbers, then press Train: from which length on does the narrow one fall \
                   behind?\n\n\
                   {wider}",
            set: |link| {
                alone(link, WIDER);
                link.seq2seq.hidden = 8;
                link.view = "lengths".to_owned();
            },
            asks: &["seq2seq-fits"],
        },
        Beat {
            title: "The order of reading",
            text: "Does it matter at which end the reading starts? Here the model learns to copy, and it reads from \
                   the end: the letter written first is read last.\n\n\
                   ! Add its twin, which reads from the start, then press Train. Which of the two “correct now” \
                   curves is higher?\n\n\
                   {other-end}\n\n\
                   + Did this help in translation?\n\n\
                   Yes. Sutskever’s group also read English sentences from the end, and found that their French \
                   translations improved.",
            set: |link| {
                alone(link, OTHER_END);
                (link.seq2seq.task, link.seq2seq.backwards) = (PairTask::Copy, true);
                link.view = "lengths".to_owned();
            },
            asks: &["seq2seq-order"],
        },
        Beat {
            title: "What must be kept",
            text: "The vector has to keep only what the answer needs. “The 3rd of May 1998” has 19 characters, but its \
                   answer needs only a day, a month and a year. So far {dates} of the held-out dates are correct.\n\n\
                   ! Train, then type a date of your own.",
            set: |link| {
                alone(link, "");
                link.seq2seq.task = PairTask::Dates;
            },
            asks: &["seq2seq-date"],
        },
        Beat {
            title: "A good start can end badly",
            text: "So far decoding was **greedy**: always the likeliest character. But a likely start may have \
                   only unlikely endings. [Beam search](beam-search) continues several beginnings, the \
                   **beam**, and keeps the likeliest few.\n\n\
                   ! Press “Find one”: it looks for a held-out source that only the beam gets right. How much likelier is its answer?\n\n\
                   + How likely is a whole answer?\n\n\
                   Its probability is the product of its characters’ probabilities. The table shows what the \
                   search found.",
            // After the first steps only the beam gets this one right.
            set: |link| {
                alone(link, "");
                link.seq2seq.example = 10;
                link.view = "beam".to_owned();
            },
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can say what passes from an encoder to a decoder, and why one vector of fixed size is a \
                   bottleneck. You can read a curve of accuracy against length. The next chapter lets the decoder look \
                   back at the source.",
            set: |link| alone(link, ""),
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Now no string in training is longer than 5 letters. Train, and look to the right of the mark: has \
                   the model learned to reverse, or only to reverse up to 5 letters?",
            label: "Short strings only",
            id: "seq2seq-short",
            set: |link| {
                link.seq2seq.longest = 5;
                link.view = "lengths".to_owned();
            },
            sentence: None,
        },
        Trial {
            text: "Let it copy instead of reverse. The same letters must fit into the vector. Guess whether \
                   this is easier or harder, then train.",
            label: "Copy",
            id: "seq2seq-copy",
            set: |link| link.seq2seq.task = PairTask::Copy,
            sentence: None,
        },
        Trial {
            text: "Here the decoder writes from every state on the way, as if the source ended there. After how many \
                   letters is its answer wrong for the first time? Train, and look again.",
            label: "What the state holds on the way",
            id: "seq2seq-way",
            set: |link| {
                link.seq2seq.example = 2;
                link.view = "states".to_owned();
            },
            sentence: None,
        },
        Trial {
            text: "Train on dates for 1500 steps. Their sources have up to 27 characters, more than any string \
                   here. Does accuracy still fall with length?",
            label: "Dates",
            id: "seq2seq-dates",
            set: |link| {
                link.seq2seq.task = PairTask::Dates;
                link.view = "lengths".to_owned();
            },
            sentence: None,
        },
        Trial {
            text: "Sort the letters. Now the answer does not depend on their order in the source, so is there less \
                   to keep? Train, and compare with reversing.",
            label: "Sort",
            id: "seq2seq-sort",
            set: |link| link.seq2seq.task = PairTask::Sort,
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "seq2seq-fed",
            kind: Kind::FindError,
            asks: "“A wrong letter does no harm to the next ones: the decoder still has the vector c.” What is \
                   wrong?",
            options: &[
                (
                    "The decoder has the vector c only at its first step, and forgets it soon.",
                    "In some models that is so, but here c is given again at every step: see the arrows from c. Look \
                     for what else the decoder is given.",
                ),
                (
                    "The wrong letter is its next input, and can mislead it.",
                    "At inference it reads its own output. In training it was always given the right letter, \
                     so it has never seen its own mistakes.",
                ),
                (
                    "Nothing. The letters are written independently.",
                    "They are not: each is chosen given c and all letters written before it.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "seq2seq-fits",
            kind: Kind::FindError,
            asks: "“Train long enough, and one vector can hold strings of any length.” What is wrong?",
            options: &[
                (
                    "The vector’s size is fixed. The number of strings is not.",
                    "Different strings need different vectors, and the decoder must be able to tell them apart. A \
                     fixed number of values of limited precision can do this only for so many.",
                ),
                (
                    "The encoder can’t read long strings at all, so their ends are never seen.",
                    "It can read any number of characters, one per step. The trouble is what is left of them at \
                     the end.",
                ),
                (
                    "Nothing. Training always finds room.",
                    "Longer training does help to use the room better, but it can’t make more room than the vector \
                     has.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "seq2seq-order",
            kind: Kind::Explain,
            asks: "Why might reading from the end make copying easier to learn?",
            options: &[
                (
                    "The vector then holds more numbers.",
                    "It has the same size. Only the order in which the letters are read changes.",
                ),
                ("The source becomes shorter.", "It has as many letters as before."),
                (
                    "Fewer steps lie between reading the first letters and writing them.",
                    "The first letter to be written was read last, so the gradient has a short way back to it. The \
                     last letters are farther away than before, but by then the decoder has already begun well.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "seq2seq-date",
            kind: Kind::Explain,
            asks: "A string of 20 letters and a date of 20 characters are both long. Why does the date need less \
                   room in the vector?",
            options: &[
                (
                    "Dates have more examples in training, so the model knows them better.",
                    "That could make learning easier, but it does not change how much has to be kept.",
                ),
                (
                    "Many of its characters can be guessed from the others.",
                    "After “Ma” there are few months left. There are far fewer dates than strings of 20 \
                     letters, and the vector only has to tell dates apart.",
                ),
                (
                    "The encoder skips spaces and commas.",
                    "It skips nothing: each character is one step, and each step changes the whole vector.",
                ),
            ],
            right: 1,
        },
    ],
};
