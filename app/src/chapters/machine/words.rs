//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::gpt::Stage;

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

pub const SCRIPT: Script = Script {
    before: "You have met every part. Here they are at work.",
    beats: &[
        Beat {
            title: "",
            text: "In 2017 Vaswani and others built a translator without any recurrence. Its core was \
                   [attention](attention). A year later Radford and others kept one half of it, the \
                   [decoder](decoder), and trained it to continue text. Large [language \
                   models](language-model) are still built on this plan.\n\n\
                   Here it is whole, on your sentence. It is the model of the GPT lab. Read it from left to \
                   right: each character has a row. Press Train, and watch every number change.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Characters become numbers",
            text: "Each character is looked up in a table of learned numbers, {width} for each. This is its \
                   [embedding](embedding). A second table says where it stands: the [positional \
                   encoding](positional-encoding). The two are added.",
            set: |link| link.machine.stage = Stage::Embedding,
            asks: &[],
        },
        Beat {
            title: "A line for each character",
            text: "From here on each character has a line of its own, the [residual stream](residual-stream). \
                   Nothing on it is ever replaced. A part reads the line, computes something, and adds it \
                   where you see a plus sign.",
            set: |link| link.machine.stage = Stage::Query,
            asks: &["machine-plus"],
        },
        Beat {
            title: "Rows look at each other",
            text: "Each row makes a [query](query), what it looks for, and a [key](key), what it offers. Every \
                   query meets every key. [Softmax](softmax) turns the scores of a row into weights. A row \
                   may only look back: the [causal mask](causal-mask) hides the rest.\n\n\
                   Your model does this {heads} times side by side, once for each head. Press a small map to \
                   see another head.",
            set: |link| link.machine.stage = Stage::Weights,
            asks: &[],
        },
        Beat {
            title: "They pass on what they know",
            text: "The weights say how much of each [value](value) comes over. The bands show it for your row: \
                   the wider, the more. The mixes of all heads are joined and added to the line. This is the only \
                   place where rows meet.",
            set: |link| link.machine.stage = Stage::Mix,
            asks: &["machine-meet"],
        },
        Beat {
            title: "Each row by itself",
            text: "The [feed-forward](feed-forward) layer takes every row alone. It spreads the row over \
                   {neurons} neurons, lets few of them speak, and brings the result back to {width} numbers.",
            set: |link| link.machine.stage = Stage::FeedForward,
            asks: &["machine-alone"],
        },
        Beat {
            title: "The same again",
            text: "This was one block. Your model has {blocks}, all of the same build, each with weights of its \
                   own. Press a folded block to open it. The bar at the foot shows where all {total} \
                   [parameters](parameter) are.",
            set: |link| link.machine.stage = Stage::Further,
            asks: &["machine-largest"],
        },
        Beat {
            title: "The next character",
            text: "What has gathered on the last row decides what comes next. It is compared with each of the \
                   {known} characters that the model knows. Softmax makes the scores into shares. One \
                   character is drawn, written after the text, and the whole machine runs again. This is what \
                   [autoregressive](autoregressive) means.",
            set: |link| link.machine.stage = Stage::Next,
            asks: &["machine-row"],
        },
        Beat {
            title: "The machines before it",
            text: "The original transformer has two towers, for it translates: one reads, one writes. A GPT keeps                    the one that writes. Go through the tabs, back to the simple [recurrent](recurrence) network. What                    is new in each machine is marked. Input stands below, output above, and the text runs from left                    to right.",
            set: |link| link.view = "transformer".into(),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can follow one character through a GPT, name each part, and say what its numbers mean. \
                   Each part opens into its own chapter: point at it and follow the link below the picture.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Step one character through until it is written. Then do it again. Which row has become new?",
            label: "Start at the beginning",
            id: "steps",
            set: |link| link.machine.stage = Stage::Embedding,
            sentence: None,
        },
        Trial {
            text: "Press Train and watch the small maps. Before training, each row looks about equally at all rows \
                   before it. Which head changes first?",
            label: "",
            id: "train",
            set: |_| {},
            sentence: None,
        },
        Trial {
            text: "Open the second block. Do its heads look at the same places as those of the first?",
            label: "Open block 2",
            id: "second",
            set: |link| link.gpt.layer = 2,
            sentence: None,
        },
        Trial {
            text: "In the settings, double the width. Which pieces of the bar at the foot grow twofold, and which \
                   fourfold?",
            label: "",
            id: "wider",
            set: |_| {},
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "machine-plus",
            kind: Kind::Explain,
            asks: "Why does each part add to the line instead of replacing it?",
            options: &[
                (
                    "Adding is faster than multiplying.",
                    "It is, but the parts themselves multiply a great deal. Speed is not the reason.",
                ),
                (
                    "What came before stays, and gradients have a short way back.",
                    "Each part only has to learn what to change. The gradient passes the plus signs unhindered.",
                ),
                (
                    "So that all numbers stay between 0 and 1.",
                    "Nothing keeps them there. The norms see to the size of what a part reads.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "machine-meet",
            kind: Kind::FindError,
            asks: "“The query of a character holds what it passes on to others.” What is wrong?",
            options: &[
                (
                    "The value is passed on. The query only says what is looked for.",
                    "Query and key decide how much. The value is what comes over.",
                ),
                (
                    "The key is passed on.",
                    "The key is only compared with queries. It decides how much comes over, not what.",
                ),
                ("Nothing is wrong.", "Follow the bands in the picture: they start at the values."),
            ],
            right: 0,
        },
        Quiz {
            id: "machine-alone",
            kind: Kind::FindError,
            asks: "“In the feed-forward layer the characters exchange what they have learned.” What is wrong?",
            options: &[
                (
                    "It is only for the last row.",
                    "It works on every row, as you see in its column.",
                ),
                (
                    "Nothing is wrong.",
                    "Look at the picture: no line leads from one row to another there.",
                ),
                (
                    "Each row passes it alone. Rows meet only in attention.",
                    "The same weights work on each row, and no row sees another.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "machine-row",
            kind: Kind::Explain,
            asks: "All rows end in shares for a next character. Why is only the last row used for writing?",
            options: &[
                (
                    "Only the last row has seen the whole text, and only its next character is missing.",
                    "Each earlier row guesses a character that is there already. In training all of these guesses \
                     count.",
                ),
                (
                    "The last row has the most neurons.",
                    "All rows have the same build and the same weights.",
                ),
                (
                    "The other rows are never computed.",
                    "They are: the last row looks at their keys and values.",
                ),
            ],
            right: 0,
        },
    ],
};

/// Where the plan comes from, and what the picture leaves out.
pub fn more() -> AnyView {
    view! {
        <p>"The plan is that of GPT-2: "<cite>"Language Models are Unsupervised Multitask Learners"</cite>
            " (Radford, Wu, Child, Luan, Amodei, Sutskever, 2019), after "
            <cite>"Attention Is All You Need"</cite>" (Vaswani et al., 2017). The norms stand before each layer."</p>
        <p>"Queries, keys, values, weights and the mix are shown for one head at a time. The norm before each layer \
            has no column: what a layer reads is the row on the left of it, normed. The second half of the \
            feed-forward layer, back to the width of the row, is in its plus sign."</p>
    }
    .into_any()
}
