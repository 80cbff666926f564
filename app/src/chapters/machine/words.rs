//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::gpt::Stage;

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

/// The beat that is about the rows' lines.
pub const LINES: u32 = 2;
/// The beat that is about the bands from the values.
pub const BANDS: u32 = 4;

pub const SCRIPT: Script = Script {
    before: "You have met every part. Here they are at work.",
    beats: &[
        Beat {
            title: "",
            text: "In 2017 Vaswani and others built a translator around [attention](attention), without \
                   recurrence. A year later Radford and others kept only its [decoder](decoder), and trained it to \
                   continue text. Large [language models](language-model) still follow this plan. Here your GPT \
                   reads your sentence, one row per [token](token).\n\n\
                   ! Read a row from left to right. {do-train}",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Tokens become numbers",
            text: "A model can’t compute with letters. It looks each token up in a table of learned numbers: the \
                   {width} numbers found there are its [embedding](embedding). In GPT-2, a second table \
                   has numbers for each position: a learned [positional encoding](positional-encoding). The two \
                   are added.\n\n\
                   ! Press other tokens at the left. Do equal ones get equal numbers?\n\n\
                   + What about your model?\n\n\
                   Your model has the second table, too, unless you change it. A token in it is a single \
                   character, unless you choose another kind. The ids of characters are one higher than in the \
                   chapter about tokens: here the line break is a character, too, with id 1.\n\n\
                   Many GPTs use the first table again at the end, to score each possible next token. This is \
                   called [weight tying](weight-tying).",
            set: |link| link.machine.stage = Stage::Embedding,
            asks: &[],
        },
        Beat {
            title: "A line for each token",
            text: "From here on, each token has a line of its own: the [residual stream](residual-stream). Nothing \
                   on it is ever replaced. A part reads the line, computes something, and adds the result where \
                   you see a plus sign.\n\n\
                   ! Follow one line to the right: what does each plus sign add?",
            // The whole way, so that all lines and plus signs are there.
            set: |link| link.machine.stage = Stage::Whole,
            asks: &["machine-plus"],
        },
        Beat {
            title: "Rows look at each other",
            text: "Each row makes a [query](query), which says what it looks for, and a [key](key), by which it is \
                   found. Each query is scored against each key. The [causal mask](causal-mask) \
                   hides later rows, and [softmax](softmax) turns the remaining scores into weights. All {heads} \
                   heads do this.\n\n\
                   ! Press “Next step,” then another small map: do they match?",
            set: |link| link.machine.stage = Stage::Query,
            asks: &[],
        },
        Beat {
            title: "They pass on what they know",
            text: "What a row passes on is its [value](value). The weights say how much of each value a row takes \
                   in. Attention is the only place where rows meet.\n\n\
                   ! Follow the bands to the marked row: the wider, the more. If all look alike, train and watch.\n\n\
                   + How does this get onto the line?\n\n\
                   In each head, the values that a row takes in add up to a mix. The mixes of all heads are \
                   joined, multiplied by one more matrix, and added to the line.",
            set: |link| link.machine.stage = Stage::Mix,
            asks: &["machine-meet"],
        },
        Beat {
            title: "Each row by itself",
            text: "The [feed-forward](feed-forward) layer works on each row alone. It spreads the row over \
                   {neurons} neurons and bends each one: large numbers pass, and negative ones end near zero. Then \
                   it brings the result back to {width} numbers.\n\n\
                   ! Press another row: are as many of its neurons above 0?",
            set: |link| link.machine.stage = Stage::FeedForward,
            asks: &["machine-alone"],
        },
        Beat {
            title: "The same again",
            text: "This was one block. Your model has {blocks}, built alike, each with its own weights. The \
                   bar at the foot shows where all {total} [parameters](parameter) are.\n\n\
                   ! Press an outlined block to open it.",
            set: |link| link.machine.stage = Stage::Further,
            asks: &["machine-wider"],
        },
        Beat {
            title: "The next token",
            text: "The last row decides what comes next. After one more norm, each of the model’s {known} tokens \
                   gets a score, and softmax turns the scores into shares, or probabilities. One is \
                   drawn and added, and the machine runs again: it is [autoregressive](autoregressive).\n\n\
                   ! Which token is likeliest? Press “Write it”: is that one drawn?\n\n\
                   + Is every row computed again each time?\n\n\
                   In this picture, yes. Most GPTs in use keep the keys and values of earlier rows in a [KV \
                   cache](kv-cache).",
            set: |link| link.machine.stage = Stage::Next,
            asks: &["machine-row"],
        },
        Beat {
            title: "The machines before it",
            text: "The original transformer translates (here it reverses “said”), so it has two towers: one reads, \
                   one writes. A GPT keeps only the one that writes, and drops its cross-attention. Each drawing \
                   reads from the bottom up, and marks what was new at the time.\n\n\
                   ! Go back through the tabs, or straight to the [simple RNN](@elman).",
            set: |link| link.view = "transformer".into(),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can follow one token through a GPT, name each part, and say what its numbers mean. \
                   Each part has its own chapter.\n\n\
                   ! Point at a part, and follow the link below the picture.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Press Next step until a new token is written. Then do it again. Which row is new?",
            label: "Go to the first step",
            id: "steps",
            set: |link| link.machine.stage = Stage::Embedding,
            sentence: None,
        },
        Trial {
            text: "Press Train and watch the small maps. In a new model each row looks about equally at itself and all rows before it. Which head changes first?",
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
            text: "Put a machine of twice the width beside it, and read the counts in the bar at the foot of both. \
                   Which ones double, and which grow about fourfold?",
            label: "A machine twice as wide",
            id: "wider",
            set: |link| link.twin = format!("width:{}", 2 * link.gpt.width),
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
                    "On today’s chips the two cost about the same, so speed is not the reason.",
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
            asks: "“The query of a token holds what it passes on to others.” What is wrong?",
            options: &[
                (
                    "The query says what is looked for. The value is passed on.",
                    "Query and key decide how much. The value is what comes over.",
                ),
                (
                    "The key is passed on, to each token whose query it fits well.",
                    "The key is only compared with queries. It decides how much comes over, not what.",
                ),
                ("Nothing is wrong.", "Follow the bands in the picture: they start at the values."),
            ],
            right: 0,
        },
        Quiz {
            id: "machine-alone",
            kind: Kind::FindError,
            asks: "“In the feed-forward layer the tokens exchange what they have learned.” What is wrong?",
            options: &[
                (
                    "It works on the last row alone, the one that the next token comes from.",
                    "It works on every row, as you see in its column.",
                ),
                (
                    "Nothing is wrong.",
                    "Look at the picture: no line leads from one row to another there.",
                ),
                (
                    "Each row goes through it alone. Rows meet only in attention.",
                    "The same weights work on each row, and no row sees another.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "machine-row",
            kind: Kind::Explain,
            asks: "Every row ends in shares for its next token. Why is only the last row used for writing?",
            options: &[
                (
                    "Only the last row has a next token that is not there yet.",
                    "Each earlier row guesses a token that is there already. In training all of these guesses \
                     count.",
                ),
                (
                    "The last row has the most neurons.",
                    "Every row goes through the same layers with the same weights.",
                ),
                (
                    "The other rows are never computed, because nothing ever needs them.",
                    "They are: the last row needs their keys and values.",
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
            <cite>"Attention Is All You Need"</cite>" (Vaswani et al., 2017). A norm comes before each layer. The first GPT is from “Improving Language Understanding by Generative Pre-Training” (Radford et al., 2018). GPT-2 reads words and pieces of words, and uses its embedding table again for the output. The model that you train in the lab reads characters, unless you choose other tokens. It has a separate table for the output, unless you tie the two."</p>
        <p>"Queries, keys, values, weights and the mix are shown for one head at a time. The norm before each layer \
            has no column: what a layer reads is the line to its left, normalized. The second half of the feed-forward layer brings the neurons back to the row’s width. It has no column either: it belongs to the plus sign."</p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beat_about_the_lines_is_known_by_its_number() {
        assert_eq!(SCRIPT.beats[LINES as usize].title, "A line for each token");
    }
}
