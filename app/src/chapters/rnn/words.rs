//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::study::rnn::{CellChoice, MatrixChoice, ReadoutChoice};

use super::unrolled::{INPUT, OUTPUT, STATE, U, V, W};
use crate::{
    course::{Idea, trial},
    figures::Hue,
    teaching::{Formula, MathSym, Sym, Term, Word},
};

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "One cell and a loop",
        text: "The cell reads a character, mixes it with its own last state, and keeps the result as \
               its new state. Then it reads the next one.",
        set: |_| {},
    },
    Idea {
        title: "Unroll one step",
        text: "Follow the loop once round and draw what was used: a copy of the cell for t = 1. The \
               rest stays in the loop.",
        set: |link| link.rnn.columns = 1,
    },
    Idea {
        title: "The whole sentence",
        text: "Unrolled to its end, the loop is a deep network, one layer a character. Information \
               runs to the right only.",
        set: |link| link.rnn.columns = 64,
    },
    Idea {
        title: "The same matrices everywhere",
        text: "Point at a U: every copy lights up, because there is only one U. A longer sentence \
               needs no more parameters.",
        set: |link| {
            link.rnn.columns = 8;
            link.rnn.matrix = MatrixChoice::U;
        },
    },
    Idea {
        title: "One unit is one sum",
        text: "A weight from the character, a weight from each unit of the state before, a bias; \
               then tanh. All the numbers multiply out.",
        set: |link| {
            link.view = super::SUM.into();
            link.rnn.columns = 8;
            link.rnn.at = 5;
            link.rnn.unit = 3;
        },
    },
    Idea {
        title: "Change one character",
        text: "Every state from there on moves, and no earlier one: exactly 0. How soon does the \
               difference fade?",
        set: |link| {
            link.rnn.columns = 64;
            link.rnn.edit = 5;
        },
    },
    Idea {
        title: "Thrown off",
        text: "Writing, the network reads what it wrote. One odd character is in its state for a \
               while. The curves of Recovery show for how long, beside an LSTM.",
        set: |link| {
            link.view = "writing".into();
            link.rnn.odd = 20;
        },
    },
];

pub fn intro() -> impl IntoView {
    view! {
        <p>
            "This network keeps a " <Term of=Word::HiddenState>"state"</Term> ": a strip of numbers. "
            "The " <Sym part=INPUT role=Hue::Input>"character"</Sym> " it reads, through "
            <Sym part=W role=Hue::Weight>"W"</Sym> ", and its last state, through "
            <Sym part=U role=Hue::Weight>"U"</Sym> ", make the "
            <Sym part=STATE role=Hue::Hidden>"new state"</Sym> "; " <Sym part=V role=Hue::Weight>"V"</Sym>
            " reads from it what is " <Sym part=OUTPUT role=Hue::Output>"expected next"</Sym>
            ". One cell with a loop: " <Term of=Word::Unrolling>"unroll"</Term>
            " it into a row of copies, then click a character and change it. Which states notice?"
        </p>
    }
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Change the first character of a fully unrolled sentence. How many steps later is Δ below \
                 0.1? Train for a while: does the network remember longer or shorter?",
            "Set it up",
            "first",
            |link| {
                link.rnn.columns = 64;
                link.rnn.edit = 1;
            },
        ),
        trial(
            "Two numbers are all its memory. Train until the loss stands still: how far does it get, \
                 and what do the two numbers tell apart?",
            "Set it up",
            "two",
            |link| {
                link.rnn.columns = 64;
                link.rnn.hidden = 2;
            },
        ),
        trial(
            "Ask only at the end whether brackets are balanced and train 600 steps. Flip a bracket in \
                 the middle: does the answer change? Then write a string twice as long as any it learned: \
                 counting does not come for free.",
            "Set it up",
            "brackets",
            |link| {
                link.rnn.columns = 64;
                link.rnn.readout = ReadoutChoice::End;
            },
        ),
        trial(
            "Use the sigmoid without biases, as in 2010. Where do all the states stand before they learn, \
                 and why is that a worse start than tanh?",
            "Set it up",
            "sigmoid",
            |link| {
                link.rnn.columns = 64;
                link.rnn.cell = CellChoice::Sigmoid;
            },
        ),
        trial(
            "Let it write at temperature 0, where nothing is drawn by chance. Sooner or later it goes in \
                 circles. Does an odd character get it out?",
            "Set it up",
            "circles",
            |link| {
                link.view = "writing".into();
                link.rnn.temperature = 0.0;
                link.rnn.odd = 20;
            },
        ),
    ]
}

pub fn more() -> impl IntoView {
    view! {
        <Formula label="New state from the input and the last state" source="Elman 1990">
            <msub><MathSym part=STATE role=Hue::Hidden>"s"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"f"</mi><mo>"("</mo>
            <MathSym part=W role=Hue::Weight>"W"</MathSym>
            <msub><MathSym part=INPUT role=Hue::Input>"x"</MathSym><mi>"t"</mi></msub>
            <mo>"+"</mo>
            <MathSym part=U role=Hue::Weight>"U"</MathSym>
            <msub>
                <MathSym part=STATE role=Hue::Hidden>"s"</MathSym>
                <mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow>
            </msub>
            <mo>"+"</mo><mi>"b"</mi><mo>")"</mo>
        </Formula>
        <Formula label="Probabilities from the state" source="Elman 1990, Mikolov et al. 2010">
            <msub><MathSym part=OUTPUT role=Hue::Output>"y"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"softmax"</mi><mo>"("</mo>
            <MathSym part=V role=Hue::Weight>"V"</MathSym>
            <msub><MathSym part=STATE role=Hue::Hidden>"s"</MathSym><mi>"t"</mi></msub>
            <mo>"+"</mo><mi>"c"</mi><mo>")"</mo>
        </Formula>
        <p>
            "x" <sub>"t"</sub> " is one-hot: a 1 at the character's place, so W x" <sub>"t"</sub>
            " is one column of W. s" <sub>"0"</sub> " is 0. PyTorch's nn.RNN has f = tanh and two biases, "
            "of which only the sum acts; here it is one b. Mikolov's language model of 2010 has the "
            "sigmoid and neither b nor c, starts from a state of small positive values instead of 0, "
            "and was trained by plain gradient descent; the switch changes f and the biases only."
        </p>
        <p>
            "Both networks have the same number of units and see the same batches of 16 windows of 32 "
            "characters, each from the state 0 (AdamW without decay, rate 0.008, gradients clipped at "
            "norm 1). The LSTM's forget bias starts at 1; it has about four times the weights within "
            "the loop."
        </p>
        <p>
            "The bracket task: strings of 2 to 16 brackets, half of them balanced; of the others, half "
            "have one bracket turned round and half two exchanged. The share judged rightly is "
            "measured on 256 strings kept apart."
        </p>
    }
}
