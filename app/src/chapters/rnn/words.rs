//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::study::rnn::{CellChoice, MatrixChoice, ReadoutChoice};

use super::{
    notebooks,
    unrolled::{INPUT, OUTPUT, STATE, U, V, W},
};
use crate::{
    course::{Beat, Script, Trial, notebook},
    figures::Hue,
    store::Store,
    teaching::{Formula, Kind, MathSym, Names, Quiz, Snippet},
};

/// The beat that follows the loop.
pub const LOOP_IN: u32 = 1;

pub const SCRIPT: Script = Script {
    before: "A table of pairs forgets everything but the last character.",
    beats: &[
        Beat {
            title: "",
            text: "In the late 1980s, many networks read a text through a window of fixed length. What had left \
                   the window was gone. In 1990 Jeffrey Elman gave his network a memory instead: the \
                   [state](hidden-state), a strip of numbers.\n\n\
                   ! Press “Play”: one and the same cell reads all {length} characters. Each strip is the \
                   state after one character.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "One cell and a loop",
            text: "Imagine reading with one small index card as your only memory. At each [character](#input \
                   input) you rewrite it, and it must hold all that you’ll need later. The network’s card is its \
                   [state](#state hidden), {units} numbers.\n\n\
                   ! Follow the loop: where does the state go after each character?\n\n\
                   + What do W, U and V do?\n\n\
                   The character comes in through a matrix, a table of numbers called [W](#w weight), and the \
                   previous state through another, [U](#u weight). Together they make the new state, from which a \
                   third matrix, [V](#v weight), works out what is [expected next](#output output). Applying the \
                   same rule to the network’s own last state, step after step, is called [recurrence](recurrence).",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Unroll one step",
            text: "A loop is hard to follow. So go around it once and draw the cell again for step 2 (t = 2), \
                   with its character, state and guess. This is called [unrolling](unrolling). Nothing new was \
                   built: it is the same cell, drawn twice.\n\n\
                   ! Press “Unroll one step” and watch what is copied.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "The whole sentence",
            text: "Unrolled to the end, the loop is a deep network with one [layer](layer) per character: \
                   {length} here. All arrows between columns point to the right, so no state knows what comes \
                   later.\n\n\
                   ! At the top of each column, compare the true next character with the guess.",
            set: |link| link.rnn.columns = 64,
            asks: &["rnn"],
        },
        Beat {
            title: "The same matrices everywhere",
            text: "The state goes to the next step through the matrix [U](#u weight). However often it is \
                   drawn, there is only one U. What the network learns at one place in a text, it can use at every \
                   other.\n\n\
                   ! Point at one U: every copy lights up. Does a longer sentence need more [parameters](parameter)?",
            set: |link| {
                link.rnn.columns = 8;
                link.rnn.matrix = MatrixChoice::U;
            },
            asks: &["rnn-weights"],
        },
        Beat {
            title: "One unit is one sum",
            text: "Each number of the state, a [unit](unit), comes from one sum. Add up the weight for the \
                   character, each unit of the previous state times its weight, and a [bias](bias). Then \
                   [tanh](tanh) squeezes the sum to between −1 and 1.\n\n\
                   ! Each bar begins where the one above it ended. Which term moves the sum most?\n\n\
                   + Which weights are these?\n\n\
                   They are one row of W and one row of U. From its row of W, the unit takes the weight for the \
                   character. From its row of U, it takes a weight for each unit of the previous state. The bias \
                   is a number that is always added. Choose another unit or another t, and follow the bars again.",
            set: |link| {
                link.view = super::SUM.into();
                link.rnn.columns = 8;
                link.rnn.at = 5;
                link.rnn.unit = 3;
            },
            asks: &["rnn-tanh"],
        },
        Beat {
            title: "Change one character",
            text: "At t = {edit} the network now reads a different character. Under each column, Δ says how far \
                   its state has moved. How soon Δ fades hints at how long the network remembers one character.\n\n\
                   ! After how many characters is Δ below 0.1? Then click any character and type another.",
            set: |link| {
                link.rnn.columns = 64;
                link.rnn.edit = 5;
            },
            asks: &["rnn-past"],
        },
        Beat {
            title: "Thrown off",
            text: "To write, the network draws a character, then reads it. So does an LSTM, a recurrent network with \
                   gates, which a later chapter explains. At place {odd}, one odd character is forced on both. It \
                   alone caused all that is underlined.\n\n\
                   ! Which network recovers sooner? One text may be chance: [“Recovery”](@recovery) measures it on \
                   many.\n\n\
                   + What becomes of a mistake?\n\n\
                   Whatever the network writes becomes its past, mistakes included. A model that reads its own \
                   output is called [autoregressive](autoregressive). With and without the odd character, the \
                   random numbers are the same.\n\n\
                   The LSTM trains beside this network. “Recovery” measures both on [held-out](held-out) texts, while \
                   training rests.",
            set: |link| {
                link.view = "writing".into();
                link.rnn.odd = 20;
            },
            asks: &["rnn-odd"],
        },
        Beat {
            title: "What you can do now",
            text: "You can unroll a recurrent network, say what its copies share, and work out one unit by hand. \
                   You can say how far a changed character reaches. But how does the network learn which early \
                   character mattered? The next chapter sends the error back through time.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "How many steps after the changed character does Δ fall below 0.1? Train for a while \
                   and look again. Does the network now remember for more steps, or for fewer?",
            label: "Change the first character",
            id: "first",
            set: |link| {
                link.rnn.columns = 64;
                link.rnn.edit = 1;
            },
            sentence: None,
        },
        Trial {
            text: "The twin’s whole memory is two numbers. Train both until the losses stop falling. How much \
                   lower does the larger one get, and which characters do the two numbers tell apart?",
            label: "Two units beside it",
            id: "two",
            set: |link| {
                link.rnn.columns = 64;
                link.twin = "rnn-hidden:2".into();
            },
            sentence: None,
        },
        Trial {
            text: "The network is now asked only at the end whether the brackets are balanced. Train for 600 steps. Flip a bracket in \
                   the middle: does the answer change? Then write a string of 32 brackets, twice as long as any it has \
                   trained on. Has it learned to count?",
            label: "Brackets, asked at the end",
            id: "brackets",
            set: |link| {
                link.rnn.columns = 64;
                link.rnn.readout = ReadoutChoice::End;
            },
            sentence: None,
        },
        Trial {
            text: "Use the sigmoid, which squeezes a sum into the range from 0 to 1, and no biases, as Mikolov’s \
                   network did in 2010. Go back to the start of training. Near which value are all units? Why is \
                   that a worse start than with tanh?",
            label: "Sigmoid, no biases",
            id: "sigmoid",
            set: |link| {
                link.rnn.columns = 64;
                link.rnn.cell = CellChoice::Sigmoid;
            },
            sentence: None,
        },
        Trial {
            text: "Let it write at [temperature](temperature) 0, where nothing is left to chance. Does it begin to go \
                   in circles? If so, does an odd character get it out of them?",
            label: "Temperature 0",
            id: "circles",
            set: |link| {
                link.view = "writing".into();
                link.rnn.temperature = 0.0;
                link.rnn.odd = 20;
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "rnn-past",
            kind: Kind::FindError,
            asks: "“At the end of the sentence, the network goes back and corrects its early guesses.” What is wrong?",
            options: &[
                (
                    "It corrects only its last guess.",
                    "It corrects none: each guess is made once, from the state at that step.",
                ),
                (
                    "No state ever hears of a later character.",
                    "Each state is made from the character at its step and the state before it. So an early guess \
                     stays as it was made. A later chapter reads from both ends.",
                ),
                (
                    "Nothing. The loop is there so that early guesses can be corrected.",
                    "The loop hands the state forward, to the next step, and has no way back.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "rnn-tanh",
            kind: Kind::Explain,
            asks: "Why does each sum go through tanh before it becomes part of the state?",
            options: &[
                (
                    "It keeps the numbers in bounds and adds a bend.",
                    "Without it, a state could grow at every step. And because sums of sums are only sums, many steps \
                     without a bend could do no more than one big sum over all characters.",
                ),
                (
                    "It turns the state into probabilities.",
                    "That is softmax, and it comes after V. Units between −1 and 1 need not add up to 1.",
                ),
                (
                    "It throws away what the network no longer needs.",
                    "It has no choice in this: it squeezes every sum in the same way. A gate can choose, and a later \
                     chapter has gates.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "rnn-odd",
            kind: Kind::Explain,
            asks: "Why can one odd character disturb many guesses after it?",
            options: &[
                (
                    "It changes the weights.",
                    "Weights change only in training. While the network writes, they stay as they are.",
                ),
                (
                    "The network stops to look for the mistake.",
                    "It doesn’t know that there was one, and reads the character like any other.",
                ),
                (
                    "It is mixed into the state, and each state is made from the one before.",
                    "How long it lasts depends on the weights and on what is read next. You saw the same when you \
                     changed a character and followed Δ.",
                ),
            ],
            right: 2,
        },
    ],
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("W", W, Hue::Weight),
    ("U", U, Hue::Weight),
    ("V", V, Hue::Weight),
    ("x", INPUT, Hue::Input),
    ("x_t", INPUT, Hue::Input),
    ("s", STATE, Hue::Hidden),
    ("y", OUTPUT, Hue::Output),
];

pub fn more() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In both networks, H = {}.", link.rnn.hidden))
    });
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
        <Snippet of=notebooks::STATE.code names=NAMES sizes notebook=|| notebook(&notebooks::STATE)/>
        <Formula label="Probabilities from the state"
            source="Mikolov et al. 2010; Elman 1990 had sigmoids here, and no softmax">
            <msub><MathSym part=OUTPUT role=Hue::Output>"y"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo><mi>"softmax"</mi><mo>"("</mo>
            <MathSym part=V role=Hue::Weight>"V"</MathSym>
            <msub><MathSym part=STATE role=Hue::Hidden>"s"</MathSym><mi>"t"</mi></msub>
            <mo>"+"</mo><mi>"c"</mi><mo>")"</mo>
        </Formula>
        <Snippet of=notebooks::OUTPUT.code names=NAMES sizes notebook=|| notebook(&notebooks::OUTPUT)/>
        <p>
            "x" <sub>"t"</sub> " is one-hot: a 1 at the character’s place, so W x" <sub>"t"</sub>
            " is one column of W. s" <sub>"0"</sub> " is 0. PyTorch’s nn.RNN has f = tanh and two biases, "
            "of which only the sum matters. Here they are one b."
        </p>
        <p>
            "J. L. Elman, “Finding Structure in Time” (1990), compares a window with a state and trains such a "
            "network to predict the next symbol. T. Mikolov and others (2010) made a language model of it. Theirs "
            "has the sigmoid and neither b nor c, and it starts from a state of small positive values instead of "
            "0. It was trained by plain gradient descent, with backpropagation cut after one step, which the paper "
            "itself calls not optimal. The switch here changes f and the biases only."
        </p>
        <p>
            "Both networks have the same number of units and see the same batches: 16 windows of 32 characters per "
            "step, each from the state 0. The optimizer is AdamW without decay at a rate of 0.008, with gradients "
            "clipped at norm 1. The LSTM’s forget bias starts at 1. It has about four times as many weights within "
            "the loop."
        </p>
        <p>
            "The bracket task has strings of 2 to 16 brackets, half of them balanced. Of the others, half have one "
            "bracket turned around and half have two brackets exchanged. The share judged correctly is measured on "
            "256 strings that are kept out of training."
        </p>
    }
}
