//! The chapter's words: introduction, formulas, experiments, ideas.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::gates::{
        CellChoice, Forced, HoldChoice, Quantity, SentenceChoice, Settings, TaskChoice,
    },
};

use crate::{
    course::{Idea, trial},
    teaching::{Formula, Hue, MathSym, Sym, Term, Word},
};

#[component]
pub fn Intro() -> impl IntoView {
    view! {
        <p>
            "An LSTM keeps a second state, the "
            <Sym part="cell-state" role=Hue::Cell>"cell state c"</Sym>
            ", that nothing overwrites by itself. At every character each unit decides with "
            <Term of=Word::Gate>"gates"</Term>
            ", numbers between 0 (shut) and 1 (open): the "
            <Sym part="forget-gate" role=Hue::Weight>"forget gate f"</Sym>
            " how much of c stays, the "
            <Sym part="input-gate" role=Hue::Input>"input gate i"</Sym>
            " how much is written, the "
            <Sym part="output-gate" role=Hue::Output>"output gate o"</Sym>
            " how much the others get to see."
        </p>
        <p>
            "This one learns to say after every character how many brackets are open. Look for the row that \
             goes up at every ( and down at every ): nobody told a unit to count. Then hold its gates and see \
             what the model still knows."
        </p>
    }
}

#[component]
pub fn More() -> impl IntoView {
    view! {
        <h3>"LSTM"</h3>
        <Formula label="The three gates are the logistic function of W x plus U h before plus b; the candidate is tanh of such a sum"
            source="Graves 2013, equations 7 to 11, without peepholes; PyTorch's parametrization">
            <MathSym part="input-gate" role=Hue::Input>"i"</MathSym> <mo>","</mo>
            <MathSym part="forget-gate" role=Hue::Weight>"f"</MathSym> <mo>","</mo>
            <MathSym part="output-gate" role=Hue::Output>"o"</MathSym>
            <mo>"="</mo> <mi>"σ"</mi> <mo>"("</mo> <mi>"W"</mi>
            <msub><mi>"x"</mi><mi>"t"</mi></msub> <mo>"+"</mo> <mi>"U"</mi>
            <msub><mi>"h"</mi><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub>
            <mo>"+"</mo> <mi>"b"</mi> <mo>")"</mo> <mo>","</mo> <mspace width="1em"/>
            <MathSym part="candidate" role=Hue::Value>"g"</MathSym>
            <mo>"="</mo> <mi>"tanh"</mi> <mo>"("</mo> <mi>"…"</mi> <mo>")"</mo>
        </Formula>
        <Formula label="c is f times c before plus i times g; h is o times tanh of c">
            <msub><MathSym part="cell-state" role=Hue::Cell>"c"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo> <MathSym part="forget-gate" role=Hue::Weight>"f"</MathSym> <mo>"*"</mo>
            <msub><MathSym part="cell-state" role=Hue::Cell>"c"</MathSym><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub>
            <mo>"+"</mo> <MathSym part="input-gate" role=Hue::Input>"i"</MathSym> <mo>"*"</mo>
            <MathSym part="candidate" role=Hue::Value>"g"</MathSym> <mo>","</mo> <mspace width="1em"/>
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"h"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo> <MathSym part="output-gate" role=Hue::Output>"o"</MathSym> <mo>"*"</mo>
            <mi>"tanh"</mi> <mo>"("</mo>
            <msub><MathSym part="cell-state" role=Hue::Cell>"c"</MathSym><mi>"t"</mi></msub> <mo>")"</mo>
        </Formula>
        <p>
            "Each of i, f, g, o has its own W, U and b. Graves's cell also lets the gates look at c (peepholes); \
             they are left out, as in PyTorch. Our forget gates start with a bias of 1 (Gers and others 2000), \
             so that a new model remembers before it has learned to."
        </p>
        <h3>"Projected LSTM"</h3>
        <Formula label="r is the projection of h" source="Sak, Senior and Beaufays 2014; PyTorch's proj_size">
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"r"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo> <msub><mi>"W"</mi><mi>"proj"</mi></msub>
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"h"</MathSym><mi>"t"</mi></msub>
        </Formula>
        <p>
            "The short vector r is both what feeds back (in place of h) and what the layer puts out. Here it is \
             half as wide as the cell. The paper's second, non-recurrent projection, which only adds to the \
             output, is optional there and left out here."
        </p>
        <h3>"GRU, in two forms"</h3>
        <Formula label="r and z are logistic gates; h is one minus z times n plus z times h before"
            source="Cho and others 2014, with z and 1 − z as in PyTorch">
            <MathSym part="reset-gate" role=Hue::Key>"r"</MathSym> <mo>","</mo>
            <MathSym part="update-gate" role=Hue::Weight>"z"</MathSym>
            <mo>"="</mo> <mi>"σ"</mi> <mo>"("</mo> <mi>"…"</mi> <mo>")"</mo> <mo>","</mo> <mspace width="1em"/>
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"h"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo> <mo>"("</mo> <mn>"1"</mn> <mo>"−"</mo>
            <MathSym part="update-gate" role=Hue::Weight>"z"</MathSym> <mo>")"</mo> <mo>"*"</mo>
            <MathSym part="candidate" role=Hue::Value>"n"</MathSym> <mo>"+"</mo>
            <MathSym part="update-gate" role=Hue::Weight>"z"</MathSym> <mo>"*"</mo>
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"h"</MathSym><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub>
        </Formula>
        <Formula label="PyTorch: n is tanh of W x plus b n plus r times, in brackets, U h plus b h n" source="PyTorch: r multiplies after the product">
            <MathSym part="candidate" role=Hue::Value>"n"</MathSym> <mo>"="</mo> <mi>"tanh"</mi> <mo>"("</mo>
            <mi>"W"</mi> <mi>"x"</mi> <mo>"+"</mo> <msub><mi>"b"</mi><mi>"n"</mi></msub> <mo>"+"</mo>
            <mrow class="gates-differs">
                <MathSym part="reset-gate" role=Hue::Key>"r"</MathSym> <mo>"*"</mo> <mo>"("</mo> <mi>"U"</mi>
                <mi>"h"</mi> <mo>"+"</mo> <msub><mi>"b"</mi><mi>"hn"</mi></msub> <mo>")"</mo>
            </mrow>
            <mo>")"</mo>
        </Formula>
        <Formula label="Cho: n is tanh of W x plus b n plus U times, in brackets, r times h" source="Cho and others 2014: r multiplies before the product">
            <MathSym part="candidate" role=Hue::Value>"n"</MathSym> <mo>"="</mo> <mi>"tanh"</mi> <mo>"("</mo>
            <mi>"W"</mi> <mi>"x"</mi> <mo>"+"</mo> <msub><mi>"b"</mi><mi>"n"</mi></msub> <mo>"+"</mo>
            <mrow class="gates-differs">
                <mi>"U"</mi> <mo>"("</mo> <MathSym part="reset-gate" role=Hue::Key>"r"</MathSym> <mo>"*"</mo>
                <mi>"h"</mi> <mo>")"</mo>
            </mrow>
            <mo>")"</mo>
        </Formula>
        <p>
            "The underlined part is all that differs: PyTorch's form needs one product with U for all gates, \
             Cho's must know r first. The paper's remark that units with short memories reset often and units \
             with long ones keep their update gate open is what the view Memory tests."
        </p>
        <p class="hint">
            "Trained on 16 strings of 32 characters a step, with Adam. Every claim above is about the model \
             in this tab; another seed counts with another unit."
        </p>
    }
}

/// The chapter's settings from their defaults on.
fn set(link: &mut Link, change: impl FnOnce(&mut Settings)) {
    let mut settings = Settings::default();
    change(&mut settings);
    link.gates = settings;
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Show f and hold the forget gate of the counting unit open instead of shut. It can no longer \
                     let go: does it count ever higher?",
            "Show the forget gates",
            "open",
            |link| {
                link.gates.shown = Quantity::Forget;
                link.gates.edit = true;
                link.gates.hold = HoldChoice::Open;
            },
        ),
        trial(
            "Give the layer 32 units and shut the memory of its best counter. Many units count alongside: \
                     how many must you shut before it loses count?",
            "32 units",
            "many",
            |link| link.gates.units = 32,
        ),
        trial(
            "Let it learn quotations. A quotation mark must do opposite things to the same unit: watch i \
                     and g at the first and at the second mark. Train on if no unit has found it yet.",
            "Learn quotations",
            "quotes",
            |link| link.gates.task = TaskChoice::Quotes,
        ),
        trial(
            "A GRU has no cell state to count in and its h stays between −1 and 1. Where does it keep \
                     the depth? Find the unit.",
            "Train a GRU",
            "gru",
            |link| {
                link.gates.cell = CellChoice::Gru;
                link.gates.shown = Quantity::Hidden;
            },
        ),
        trial(
            "Write a sentence of your own with brackets, deeper than 4. The model never saw depth 5: what \
                     does its counter do, and what does it answer?",
            "Read my sentence",
            "mine",
            |link| link.gates.sentence = SentenceChoice::Mine,
        ),
    ]
}

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "A state that stays",
        text: "c is drawn: a row for each unit, a column for each character. Colors that run on to the right \
               are memory. The lit row follows the depth of the brackets.",
        set: |link| set(link, |_| ()),
    },
    Idea {
        title: "The forget gate keeps it",
        text: "Dark is open: what was in c stays. Compare the lit row with its neighbors.",
        set: |link| set(link, |s| s.shown = Quantity::Forget),
    },
    Idea {
        title: "The candidate says what to write",
        text: "g is positive at one kind of bracket and negative at the other: up and down by one. At letters \
               nothing need be written.",
        set: |link| set(link, |s| s.shown = Quantity::Candidate),
    },
    Idea {
        title: "Every number is a sum",
        text: "One cell's arithmetic: the row of W for the character, U times the state, the gates, and \
               c = f · c + i · g multiplied out.",
        set: |link| {
            link.view = "circuit".into();
            set(link, |s| {
                s.shown = Quantity::Forget;
                s.at = 5;
            });
        },
    },
    Idea {
        title: "Hold a gate",
        text: "From character 12 on the forget gate of unit 1 is held shut. The bars below the rows show what it does to the \
               answers.",
        set: |link| {
            set(link, |s| {
                s.shown = Quantity::Forget;
                s.unit = 1;
                s.edit = true;
                s.forced = vec![Forced { gate: Quantity::Forget, unit: 1, open: false, from: 12 }];
            });
        },
    },
    Idea {
        title: "Two gates do as well",
        text: "A GRU has one state and two gates: z keeps, r resets. The dots show which units remember \
               long.",
        set: |link| {
            link.view = "memory".into();
            set(link, |s| {
                s.cell = CellChoice::Gru;
                s.shown = Quantity::Update;
            });
        },
    },
];
