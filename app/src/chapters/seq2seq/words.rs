//! The chapter's words: what it is about, formulas, experiments, and one idea at a time.

use leptos::prelude::*;
use unroll_protocol::PairTask;

use super::Page;
use crate::{
    course::{Idea, trial},
    teaching::{Formula, Hue, MathSym, Sym, Term, Word},
};

#[component]
pub fn Intro(page: Page) -> impl IntoView {
    let what = move || match page.settings.with(|s| s.task) {
        PairTask::Reverse => "Here it learns to write a string of letters backwards.",
        PairTask::Dates => {
            "Here it learns to write dates, in whatever way they are put, as year-month-day."
        }
        PairTask::Copy => "Here it learns to write a string of letters once more.",
        PairTask::Sort => "Here it learns to write the letters of a string in alphabetical order.",
    };
    view! {
        <p>
            "An encoder reads the source, one character a step. Its last "
            <Term of=Word::HiddenState>"state"</Term>", the vector "
            <Sym part="seq2seq-c" role=Hue::Hidden>"c"</Sym>
            ", goes to a second network, the decoder, which writes the answer until it writes "
            <em>"end"</em>". So the answer may have any length. " {what}
        </p>
        <p>
            "But whatever the decoder is to know of the source must fit into that one vector, however long \
             the source is. Train, and watch the curve: strings of few letters come out right first, and \
             long ones lag behind. A date's length says less: a phrase has many letters, its date few."
        </p>
    }
}

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
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
        <Formula label="The encoder reads the source; its last state is c" source="Cho et al. 2014, section 2.2">
            {h("j")}<mo>"="</mo><mi>"GRU"</mi><mo>"("</mo>{before("h", "j")}<mo>","</mo>
            <msub><mi>"x"</mi><mi>"j"</mi></msub><mo>")"</mo><mo>","</mo>
            {c()}<mo>"="</mo>{h("S")}
        </Formula>
        <Formula label="The decoder starts from c and is told it again in every step" source="Cho et al. 2014, appendix A.1">
            <msub><mi>"s"</mi><mn>"0"</mn></msub><mo>"="</mo><mi>"tanh"</mi><mo>"("</mo><mi>"V"</mi>{c()}
            <mo>"+"</mo><mi>"b"</mi><mo>")"</mo><mo>","</mo>
            {s()}<mo>"="</mo><mi>"GRU"</mi><mo>"("</mo>{before("s", "i")}<mo>","</mo>
            <mo>"["</mo>{before("y", "i")}<mo>";"</mo>{c()}<mo>"]"</mo><mo>")"</mo>
        </Formula>
        <Formula label="Probabilities of the next character">
            <mi>"p"</mi><mo>"("</mo><msub><mi>"y"</mi><mi>"i"</mi></msub><mo>")"</mo><mo>"="</mo>
            <mi>"softmax"</mi><mo>"("</mo>
            <msub><mi>"O"</mi><mi>"s"</mi></msub>{s()}<mo>"+"</mo>
            <msub><mi>"O"</mi><mi>"c"</mi></msub>{c()}<mo>"+"</mo>
            <msub><mi>"O"</mi><mi>"y"</mi></msub>{before("y", "i")}<mo>"+"</mo><mi>"o"</mi><mo>")"</mo>
        </Formula>
        <p>
            "In training the decoder is given the right character before each (teacher forcing), and the \
             loss is the mean cross-entropy per character. When it writes by itself, it is given its own \
             last one: a wrong character misleads those after it."
        </p>
        <p>
            "Cho et al. tell the decoder c in every step and have a maxout layer before the softmax, which \
             is left out here; the GRU is PyTorch's, whose reset gate acts after the product. Sutskever et \
             al. 2014 use deep LSTMs, give c only as the first state, and read the source from its end: \
             then the first characters to be written are the last that were read. Bahdanau et al. 2015 \
             measured what you see here on translations: quality falls as sentences grow."
        </p>
        <p>
            "One source in ten is held out, decided by what it says (a date by the date, however it is \
             written), and never trained on. Strings are of any length up to the longest, one as often as \
             another; beam search compares whole sequences by their probability, without a correction for \
             length."
        </p>
    }
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Give the vector 8 numbers and train to step 400, then 64: at which length does each curve fall?",
            "8 numbers",
            "seq2seq-narrow",
            |link| {
                link.seq2seq.hidden = 8;
                link.view = "lengths".to_owned();
            },
        ),
        trial(
            "Copy instead of reverse. The same letters must fit into the vector: guess whether it is easier \
             or harder, then train.",
            "Copy",
            "seq2seq-copy",
            |link| link.seq2seq.task = PairTask::Copy,
        ),
        trial(
            "Now copy again, but read the source from its end, so that what is written first was read last. \
             Guess first: does it help?",
            "Copy, read from the end",
            "seq2seq-backwards",
            |link| (link.seq2seq.task, link.seq2seq.backwards) = (PairTask::Copy, true),
        ),
        trial(
            "Dates: train 1500 steps. Sources are longer than any string here, up to 27 characters, yet one \
             vector will do: how much of them does the answer need?",
            "Dates",
            "seq2seq-dates",
            |link| link.seq2seq.task = PairTask::Dates,
        ),
        trial(
            "Sort: the order of the letters need not be kept at all.",
            "Sort",
            "seq2seq-sort",
            |link| link.seq2seq.task = PairTask::Sort,
        ),
    ]
}

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "Read all, then write",
        text: "The encoder reads to the end before the decoder writes its first character: source and \
               answer may differ in length.",
        set: |link| link.seq2seq.at = 1,
    },
    Idea {
        title: "One vector in between",
        text: "32 numbers, whether the source has 2 letters or 10. Point at a state to see how far a letter \
               moved it.",
        set: |_| (),
    },
    Idea {
        title: "Long sources lose",
        text: "Right answers by length: the curve falls, and beyond the longest string trained on it falls \
               further.",
        set: |link| {
            link.seq2seq.example = 2;
            link.view = "lengths".to_owned();
        },
    },
    Idea {
        title: "Narrower, worse",
        text: "8 numbers: train, and compare where the curve falls.",
        set: |link| {
            link.seq2seq.hidden = 8;
            link.view = "lengths".to_owned();
        },
    },
    Idea {
        title: "The order of reading",
        text: "Copying, read from the end: what is written first was read last. Train, then untick it in the settings and \
               compare.",
        set: |link| {
            (link.seq2seq.task, link.seq2seq.backwards) = (PairTask::Copy, true);
            link.view = "lengths".to_owned();
        },
    },
    Idea {
        title: "A date fits",
        text: "A phrase is long, but the date in it is not: what counts is what must be kept.",
        set: |link| link.seq2seq.task = PairTask::Dates,
    },
];
