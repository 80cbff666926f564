//! The chapter's words, and its formulas.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::gates::{CellChoice, HoldChoice, Quantity, SentenceChoice, Settings, TaskChoice},
};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    store::Store,
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

/// A sentence with as many brackets open at its end as ever in training.
pub const BRACKETED: &str = "(a(b(c(d";

pub const SCRIPT: Script = Script {
    before: "A plain RNN overwrites its whole state at every step and can’t choose what to keep.",
    beats: &[
        Beat {
            title: "",
            text: "How could a network hold on to something it read long ago? In 1997 Hochreiter and Schmidhuber \
                   gave the RNN a second state, and doors to guard it: **long short-term memory**, or [LSTM](lstm).\n\n\
                   After every character, this one must say how many brackets are open. Nobody told it how.\n\n\
                   ! Which rows’ colors follow the line “open” above them? [Click one](>gates-cells-cells).",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A state that stays",
            text: "To count on your fingers, raise one at each “(”, lower one at each “)”, and hold still at a \
                   letter. The second state, the [cell state](#cell-state cell) c, has one number per unit. \
                   Here is one unit’s c beside the depth, the number of open brackets.\n\n\
                   ! Does c follow the depth? Press other units, too.\n\n\
                   + How well does a unit count?\n\n\
                   How well a unit follows is measured by its [correlation](correlation) r with the depth. At 1 it \
                   follows exactly, at −1 exactly upside down, and at 0 not at all. {best}\n\n\
                   Where the depth mostly grows, any growing unit seems to follow. So r on \
                   other characters stands beside it.\n\n\
                   In the [view “Every unit,”](@units) each row is a unit. A color that runs on to the right is memory.",
            set: |link| {
                set(link, |_| ());
                link.view = "counts".into();
            },
            asks: &[],
        },
        Beat {
            title: "The forget gate keeps it",
            text: "The doors that guard c are [gates](gate): numbers from 0 (shut) to 1 (open). The [forget \
                   gate](#forget-gate weight) f says how much of c stays. The stronger the color, the more open. \
                   {framed}\n\n\
                   An open gate only keeps c. To count, a unit must add.\n\n\
                   ! [Press another open row](>gates-cells-cells): by its correlation r, does it count?\n\n\
                   + Why would a network want to forget?\n\n\
                   The first LSTM had no such gate, and on a long stream of input its cells could grow without \
                   limit. So in 2000 Gers, Schmidhuber and Cummins added a way to forget.",
            set: |link| set(link, |s| s.shown = Quantity::Forget),
            asks: &["gates-forget"],
        },
        Beat {
            title: "The candidate says what to write",
            text: "The [candidate](#candidate value) g, between −1 and 1, says what to write, and the [input \
                   gate](#input-gate input) i how much of it. Then i · g is added to c.\n\n\
                   ! In the framed row, compare g at “(” and “)”. Then press i above: does i or g keep letters from counting?",
            set: |link| set(link, |s| s.shown = Quantity::Candidate),
            asks: &["gates-letter"],
        },
        Beat {
            title: "Every number is a sum",
            text: "This is one unit at one character. Along the top, the forget gate multiplies c, then i · g is \
                   added. On the way out [tanh](tanh) squeezes c, and what the [output gate](#output-gate output) \
                   o lets through is the state h.\n\n\
                   ! [Press a box](>gates-circuit-picture) to see its sum.\n\n\
                   + What is inside a box?\n\n\
                   Under each box are the two parts of its sum: one from the character, with the bias, and one \
                   from h of the step before. The rest of the network sees only h, not c.\n\n\
                   A gate sends its sum through the [sigmoid](sigmoid) σ, whose result lies between 0 and 1. The \
                   candidate uses tanh and may be negative.",
            set: |link| {
                link.view = "circuit".into();
                set(link, |s| {
                    s.shown = Quantity::Forget;
                    s.at = 5;
                });
            },
            asks: &["gates-count"],
        },
        Beat {
            title: "Hold a gate",
            text: "@ gates-edit-bar\n\n\
                   To learn what a part is for, stop it and see what breaks. What if the forget gate of the framed \
                   unit is held shut? Crosses mark wrong answers.\n\n\
                   ! Guess first, then hold the gate shut: use the button under your answer, or press a cell in its row.\n\n\
                   + What does this break?\n\n\
                   A unit whose forget gate is shut starts from nothing at every step. The bars show how probable \
                   the model finds the right answer. An outline shows the bar as it would be with nothing held. \
                   {outcome}\n\n\
                   Press the same cell again to let go.",
            set: |link| {
                set(link, |s| {
                    s.shown = Quantity::Forget;
                    s.edit = true;
                });
            },
            asks: &["gates-shut", "gates"],
        },
        Beat {
            title: "Two gates can be enough",
            text: "In 2014 Cho and others built a simpler cell, later named **gated recurrent unit** ([GRU](gru)), \
                   with no [cell state](cell-state). Its [update gate](#update-gate weight) z is the share of the \
                   old [hidden state](hidden-state) h that stays. The rest is a candidate n, made from h. {framed-gru} \
                   {way-gru}\n\n\
                   ! [Press the most open row](>gates-cells-cells): does its unit count?\n\n\
                   + The other gate, and how long a memory lasts\n\n\
                   The rest of h, the share 1 − z, comes from n. The [reset gate](#reset-gate key) r says how much of \
                   the old h goes into n.\n\n\
                   In the [view “Memory,”](@memory) a memory’s length is the number of steps until less than 37% of a small \
                   change is left. By z alone, that is 10 steps where z is always 0.9, and a single step where z is \
                   always 0.3. {memory}",
            set: |link| {
                set(link, |s| {
                    s.cell = CellChoice::Gru;
                    s.shown = Quantity::Update;
                });
            },
            asks: &["gates-gru"],
        },
        Beat {
            title: "What you can do now",
            text: "You can say what each gate of an LSTM does, follow its circuit, and test a unit that counts. \
                   You know how a GRU remembers with two gates. But both read only from left to right. The next \
                   chapter also reads from the other end.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Press a cell in the framed row. Now the forget gate of the counting unit is held open, so it can’t let \
                   anything go. Then open “Counting”: does its c only ever go up?",
            label: "Show the forget gates",
            id: "open",
            set: |link| {
                link.gates.shown = Quantity::Forget;
                link.gates.edit = true;
                link.gates.hold = HoldChoice::Open;
            },
            sentence: None,
        },
        Trial {
            text: "Give the layer 28 units, and hold the forget gate of its best counter shut. For how many \
                   other counters must you do the same before the answers go wrong?",
            label: "Give the layer 28 units",
            id: "many",
            set: |link| link.gates.units = 28,
            sentence: None,
        },
        Trial {
            text: "Let it learn to tell when it is inside a quotation. The same mark opens and closes one, so a unit \
                   must treat the two differently. Look at i and g at the first mark and at the second. If no unit \
                   tells them apart yet, keep training.",
            label: "Learn quotations",
            id: "quotes",
            set: |link| link.gates.task = TaskChoice::Quotes,
            sentence: None,
        },
        Trial {
            text: "A GRU has no c to count in, and its h stays between −1 and 1. Train one beside the LSTM. Where does \
                   it keep the depth? Look for the unit that follows it.",
            label: "A GRU beside it",
            id: "gru",
            set: |link| link.twin = "gates-cell:gru".into(),
            sentence: None,
        },
        Trial {
            text: "Write one more “(” at the end. Now five brackets are open, and in training there were never more \
                   than four. What does the counter do, and what does the model answer?",
            label: "Read four open brackets",
            id: "mine",
            set: |link| link.gates.sentence = SentenceChoice::Mine,
            sentence: Some(BRACKETED),
        },
    ],
    quizzes: &[
        Quiz {
            id: "gates-forget",
            kind: Kind::FindError,
            asks: "“A forget gate near 1 makes the unit forget.” What is wrong?",
            options: &[
                (
                    "Nothing. The unit then forgets the most, and the gate is named for that.",
                    "The name suggests this, but c is multiplied by f, and whatever is multiplied by 1 stays.",
                ),
                (
                    "Only the output gate decides what is forgotten.",
                    "The output gate decides what others see. What it hides is still in c.",
                ),
                (
                    "Near 1 the unit keeps what it has. It forgets near 0.",
                    "c is multiplied by f: at 1 all of it stays, at 0 nothing does.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "gates-letter",
            kind: Kind::Explain,
            asks: "A letter comes between two brackets, and the count must not change. Which values keep it as it is?",
            options: &[
                (
                    "f near 0 and i near 1",
                    "That throws the count away and writes something new in its place.",
                ),
                (
                    "f near 1, and i · g near 0",
                    "All of c stays and nothing is added. It does not matter whether i or g is near 0.",
                ),
                (
                    "o near 0, whatever the others do",
                    "The output gate hides the count from the rest of the network. It does not protect it.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "gates-count",
            kind: Kind::Explain,
            asks: "Why can c of a unit go well beyond 1, while h of the same unit never can?",
            options: &[
                (
                    "c is a running sum. h is o times tanh(c), which stays between −1 and 1.",
                    "At each step c may gain up to 1. Then tanh squeezes it on the way out, and o can only make it \
                     smaller.",
                ),
                (
                    "c has more weights than h.",
                    "Neither has weights of its own. The gates and the candidate have them, and c and h are computed \
                     from those.",
                ),
                (
                    "The forget gate can be larger than 1, so it makes c grow with every character.",
                    "A gate is a sigmoid: it never exceeds 1. c grows because i · g is added.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "gates-gru",
            kind: Kind::FindError,
            asks: "“A GRU has no cell state, so it can’t keep anything for long.” What is wrong?",
            options: &[
                (
                    "A GRU does have a cell state. It is called n.",
                    "n is a candidate. It is computed again at each step, and nothing of it stays by itself.",
                ),
                (
                    "Where z is near 1, h is copied almost unchanged from step to step.",
                    "z · h is the part that stays, as f · c is in an LSTM. One state can be both memory and output. Where \
                     z is small, n can carry something on, since it is made from the old h too.",
                ),
                (
                    "The reset gate stores it instead.",
                    "A gate stores nothing. The reset gate only says how much of the old h the candidate sees.",
                ),
            ],
            right: 1,
        },
    ],
};

/// The chapter's settings from their defaults on.
fn set(link: &mut Link, change: impl FnOnce(&mut Settings)) {
    let mut settings = Settings::default();
    change(&mut settings);
    link.gates = settings;
}

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("i", "input-gate", Hue::Input),
    ("f", "forget-gate", Hue::Weight),
    ("o", "output-gate", Hue::Output),
    ("g", "candidate", Hue::Value),
    ("c", "cell-state", Hue::Cell),
    ("h", "hidden-state", Hue::Hidden),
    ("r", "reset-gate", Hue::Key),
    ("z", "update-gate", Hue::Weight),
    ("n", "candidate", Hue::Value),
];

/// Those of the projected LSTM, whose r is not the reset gate.
const PROJECTED: Names = &[
    ("r", "hidden-state", Hue::Hidden),
    ("c", "cell-state", Hue::Cell),
    ("h", "hidden-state", Hue::Hidden),
];

#[component]
pub fn More() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In the model shown, H = {}.", link.gates.units))
    });
    view! {
        <h3>"LSTM"</h3>
        <Formula label="The three gates are the logistic function of W x plus U h before plus b; the candidate is tanh of such a sum"
            source="Graves 2013, equations 7 to 11, without peepholes; PyTorch’s parametrization">
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
        <Snippet of=include_str!("code/gates.py") names=NAMES sizes/>
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
        <Snippet of=notebooks::LSTM.code names=NAMES sizes notebook=|| notebook(&notebooks::LSTM)/>
        <p>
            "Each of i, f, g and o has its own W, U and b. Graves also lets the gates look at c, through \
             “peepholes.” They are left out here, as in PyTorch. Hochreiter and Schmidhuber (1997) had no forget \
             gate. Gers, Schmidhuber and Cummins (2000) added it and gave it a positive bias at first. Here that \
             bias is 1, so that a new model remembers before it has learned to."
        </p>
        <h3>"Projected LSTM"</h3>
        <Formula label="r is the projection of h" source="Sak, Senior and Beaufays 2014; PyTorch’s proj_size">
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"r"</MathSym><mi>"t"</mi></msub>
            <mo>"="</mo> <msub><mi>"W"</mi><mi>"proj"</mi></msub>
            <msub><MathSym part="hidden-state" role=Hue::Hidden>"h"</MathSym><mi>"t"</mi></msub>
        </Formula>
        <Snippet of=include_str!("code/projected.py") names=PROJECTED sizes/>
        <p>
            "The short vector r takes the place of h: it feeds back, and it is the layer’s output. Here it is half \
             as wide as the cell. This r is not a reset gate. The paper also has a second projection that adds to \
             the output and does not feed back. It is optional there and left out here."
        </p>
        <h3>"GRU, in two forms"</h3>
        <Formula label="r and z are logistic gates; h is one minus z times n plus z times h before"
            source="Cho and others 2014, and PyTorch; Chung and others 2014 exchange z and 1 − z">
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
        <Snippet of=include_str!("code/gru.py") names=NAMES sizes/>
        <Formula label="PyTorch: n is tanh of W x plus b n plus r times, in brackets, U h plus b h n" source="PyTorch: r multiplies after the product">
            <MathSym part="candidate" role=Hue::Value>"n"</MathSym> <mo>"="</mo> <mi>"tanh"</mi> <mo>"("</mo>
            <mi>"W"</mi> <mi>"x"</mi> <mo>"+"</mo> <msub><mi>"b"</mi><mi>"n"</mi></msub> <mo>"+"</mo>
            <mrow class="gates-differs">
                <MathSym part="reset-gate" role=Hue::Key>"r"</MathSym> <mo>"*"</mo> <mo>"("</mo> <mi>"U"</mi>
                <mi>"h"</mi> <mo>"+"</mo> <msub><mi>"b"</mi><mi>"hn"</mi></msub> <mo>")"</mo>
            </mrow>
            <mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/pytorch.py") names=NAMES sizes/>
        <Formula label="Cho: n is tanh of W x plus b n plus U times, in brackets, r times h" source="Cho and others 2014: r multiplies before the product">
            <MathSym part="candidate" role=Hue::Value>"n"</MathSym> <mo>"="</mo> <mi>"tanh"</mi> <mo>"("</mo>
            <mi>"W"</mi> <mi>"x"</mi> <mo>"+"</mo> <msub><mi>"b"</mi><mi>"n"</mi></msub> <mo>"+"</mo>
            <mrow class="gates-differs">
                <mi>"U"</mi> <mo>"("</mo> <MathSym part="reset-gate" role=Hue::Key>"r"</MathSym> <mo>"*"</mo>
                <mi>"h"</mi> <mo>")"</mo>
            </mrow>
            <mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/cho.py") names=NAMES sizes/>
        <p>
            "Only the underlined part differs. In PyTorch’s form one product with U serves all gates. In Cho’s the \
             reset gate must be known first. Cho and others remark that units with short memories reset often (r \
             near 0), and that units with long memories keep their update gate open. The view “Memory” tests \
             this on your model."
        </p>
        <p class="hint">
            "Each training step uses 16 strings of 32 characters, with Adam. What the chapter says of units is about \
             the model in this tab. With another seed, another unit may count."
        </p>
    }
}
