//! The chapter's words: what it says, and its formulas.

use leptos::prelude::*;
use unroll_protocol::{
    link::Corpus,
    study::heads::{CONTEXT, HeadAt},
};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    store::Store,
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

pub const SCRIPT: Script = Script {
    before: "One head has one row of weights for each token, so it can ask one question. Language asks many at once.",
    beats: &[
        Beat {
            title: "",
            text: "In 2017 Vaswani and others found that one wide attention per layer translated a little worse than \
                   eight narrow ones side by side. Each narrow one is a [head](head), and together they are \
                   [multi-head attention](multi-head-attention). Here a model of {shape} learns your text.\n\n\
                   ! Press Train, and watch: do its heads find jobs that nobody gave them?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "One head, one question",
            text: "Take “Ann helped Bob, so he thanked…” To guess the next word, “thanked” asks two questions: who \
                   is “he,” and who helped? But one row of [attention](attention) gives only one average. This second \
                   model reads letters, with one head in each layer.\n\n\
                   ! [Point at a letter](>probe-input): which ones does it look at?\n\n\
                   + What does an average hide?\n\n\
                   Its parts: 1 and 3 average to 2, and so do 2 and 2. From the average alone, you can’t tell \
                   which it was.",
            set: |link| link.many_heads.heads = 1,
            asks: &["heads-one-wide"],
        },
        Beat {
            title: "Many at once",
            text: "Now {heads} share the width of {width}. Each has its own [queries](#heads-query query), \
                   [keys](#heads-key key) and [values](#heads-value value), {numbers} numbers long, so each can ask \
                   a question of its own. All read the same tokens, but their rows of weights differ. {ahead}\n\n\
                   ! {differ}\n\n\
                   + One head or several: which is ahead?\n\n\
                   {compared}",
            set: |link| link.many_heads.layer = 1,
            asks: &["heads-weights"],
        },
        Beat {
            title: "A layer above",
            text: "Heads of layer 2 read each letter together with what layer 1 has written about it. So they can \
                   build on the heads below. A head with a stripe right beside the diagonal looks at the previous \
                   token.\n\n\
                   ! Look for such a stripe in the pictures. If you see none yet, keep training.",
            set: |link| link.view = "heads".into(),
            asks: &["heads-previous"],
        },
        Beat {
            title: "One cell, worked out",
            text: "A head compares its query with the key of each token it may see. The [inner \
                   product](inner-product) of the two, divided by the square root of the head’s width, is the score. \
                   [Softmax](softmax) turns the scores into weights.\n\n\
                   ! Press “1,” “2,” “3” and “4”: the panel works out one cell in full.",
            set: |link| (link.many_heads.query, link.many_heads.key) = (10, 9),
            asks: &[],
        },
        Beat {
            title: "A job in numbers",
            text: "The eye likes to see patterns, so measure too. [Entropy](entropy) says how widely a head spreads \
                   its weight: it is 0 when all weight lies on one token. The table’s first row spreads it evenly. \
                   On your sentence, {previous}.\n\n\
                   ! {jobs}",
            set: |link| link.view = "numbers".into(),
            asks: &[],
        },
        Beat {
            title: "Put together again",
            text: "The matrix [Wᴼ](#heads-out weight) turns each head’s average of {numbers} numbers into {width} \
                   numbers. All are added to the token’s [residual stream](residual-stream), the row of numbers that later \
                   layers read. In the figure the rows of heads and bias add up to the last one.\n\n\
                   ! Which head’s row is strongest in color? The lengths below tell.",
            set: |link| link.view = "written".into(),
            asks: &["heads-sharp"],
        },
        Beat {
            title: "What is a head worth?",
            text: "Take a player off the field, and see how the team does. Here head 1 of layer 1 is off: its output \
                   counts as 0.\n\n\
                   ! Click heads to switch them off and on, and watch the loss. Which one costs a lot, and which \
                   almost nothing?\n\n\
                   + How is the cost measured?\n\n\
                   The loss is measured again on [held-out](held-out) text. Its change is in [nats](nat) per \
                   character, and ± is the [standard error](standard-error). {measured}",
            set: |link| {
                link.view = "heads".into();
                link.many_heads.switching = true;
                link.many_heads.off = vec![HeadAt { layer: 1, head: 1 }];
            },
            asks: &["heads", "heads-idle"],
        },
        Beat {
            title: "A whole layer gone",
            text: "All heads of layer 1 are off. Those of layer 2 still look around, but no head below has \
                   gathered anything for them.\n\n\
                   ! [Open the view “Numbers”](@numbers) to find each head’s cost. Do the four together cost as much \
                   as the sum? Add them, then look below.\n\n\
                   + The sum, and the four together\n\n\
                   {together}",
            set: |link| {
                link.view = "heads".into();
                link.many_heads.switching = true;
                link.many_heads.off = (1..=4).map(|head| HeadAt { layer: 1, head }).collect();
            },
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can say why one average is not enough, and why several heads need no more parameters than one \
                   wide head. You can read a head’s job from its numbers, and test what it is worth. The next \
                   chapter asks how a model knows where a token stands.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Switch heads off, the cheapest first. How many can go before the loss has risen by 0.1?",
            label: "Switch heads",
            id: "heads-switch",
            set: |link| {
                link.view = "heads".into();
                link.many_heads.switching = true;
            },
            sentence: None,
        },
        Trial {
            text: "Switch all of them off, so that no token sees another anymore. How much worse is the loss, and \
                   what does the model still know?",
            label: "All off",
            id: "heads-off",
            set: |link| {
                link.view = "heads".into();
                link.many_heads.switching = true;
                link.many_heads.off = (1..=2)
                    .flat_map(|layer| (1..=4).map(move |head| HeadAt { layer, head }))
                    .collect();
            },
            sentence: None,
        },
        Trial {
            text: "Beside the four heads, train a twin with one head of the whole width. Both models have the same \
                   number of parameters. Which loss is lower?",
            label: "One head beside it",
            id: "heads-one",
            set: |link| link.twin = "heads-count:1".into(),
            sentence: None,
        },
        Trial {
            text: "Can three heads share a width of 32?",
            label: "Three heads",
            id: "heads-three",
            set: |link| link.many_heads.heads = 3,
            sentence: None,
        },
        Trial {
            text: "Train on Brackets, beside a twin from another seed. Do the same jobs go to the same heads?",
            label: "Brackets, two seeds",
            id: "heads-brackets",
            set: |link| {
                (link.corpus, link.twin) = (Corpus::Brackets, "seed:2".into());
                link.view = "heads".into();
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "heads-one-wide",
            kind: Kind::Explain,
            asks: "Why not simply make the one head wider?",
            options: &[
                (
                    "Softmax can’t handle wide vectors.",
                    "It never sees them. Softmax gets one score for each key, however wide query and key are.",
                ),
                (
                    "All its numbers would still be mixed in the same shares.",
                    "A wider value carries more numbers, but each of them is averaged with the same weights.",
                ),
                (
                    "A wider head could see past the mask, to tokens that come later.",
                    "The mask decides what a head may see. Its width has no part in that.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "heads-weights",
            kind: Kind::FindError,
            asks: "“Four heads need four times as many parameters as one.” What is wrong?",
            options: &[
                (
                    "Each head is a quarter as wide, so the number stays the same.",
                    "Four heads of 8 numbers make 32 numbers each of query, key and value. One head of width 32 \
                     makes just as many.",
                ),
                (
                    "They need sixteen times as many: four heads, each four times as wide.",
                    "That would be so if each head were four times as wide as the single head. Here each is a \
                     quarter as wide.",
                ),
                (
                    "Nothing is wrong.",
                    "It would be true if each head had the whole width, but the heads share it.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "heads-sharp",
            kind: Kind::Explain,
            asks: "A head puts nearly all its weight on one token. Why may it still change almost nothing?",
            options: &[
                (
                    "A weight near 1 makes the softmax overflow.",
                    "A weight of 1 is harmless. Softmax never gives more.",
                ),
                (
                    "Sharp heads are averaged away by the other heads.",
                    "The heads’ outputs are added, not averaged. Another head can cancel this one only by writing \
                     the opposite.",
                ),
                (
                    "The value it reads there may be small, or Wᴼ may pass little of it on.",
                    "Weights say where a head reads. What it writes is the value times Wᴼ. The column “writes \
                     (length)” shows how much.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "heads-idle",
            kind: Kind::FindError,
            asks: "“Switching this head off changes nothing, so it has learned nothing.” What is wrong?",
            options: &[
                (
                    "Another head may do the same job and stand in for it.",
                    "To find out, switch both off. If the two together cost a lot, each was the other’s reserve.",
                ),
                (
                    "Every head must cost something.",
                    "No rule says so. Many heads may cost less than the standard error of this measurement.",
                ),
                (
                    "Nothing is wrong: no cost means no knowledge.",
                    "The cost is measured with all other heads on. It says what is missed, not what was learned.",
                ),
            ],
            right: 0,
        },
    ],
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("q", "heads-query", Hue::Query),
    ("k", "heads-key", Hue::Key),
    ("v", "heads-value", Hue::Value),
    ("W_O", "heads-out", Hue::Weight),
];

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        let (d, h) = store.link.with(|link| (link.many_heads.width, link.many_heads.heads));
        format!("In the model shown, T = {CONTEXT}, d = {d}, h = {h} and d_k = {}.", d / h)
    });
    view! {
        <Formula label="Head i is attention in its own projections" source="Vaswani et al. 2017, section 3.2.2">
            <msub><mi>"head"</mi><mi>"i"</mi></msub><mo>"="</mo><mi>"Attention"</mi><mo>"("</mo>
            <msubsup><MathSym part="heads-query" role=Hue::Query>"XW"</MathSym><mi>"i"</mi><mi>"Q"</mi></msubsup><mo>","</mo>
            <msubsup><MathSym part="heads-key" role=Hue::Key>"XW"</MathSym><mi>"i"</mi><mi>"K"</mi></msubsup><mo>","</mo>
            <msubsup><MathSym part="heads-value" role=Hue::Value>"XW"</MathSym><mi>"i"</mi><mi>"V"</mi></msubsup><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/head.py") names=NAMES sizes/>
        <Formula label="The layer concatenates its heads and multiplies by W O, which is a sum over heads" source="the sum: Elhage et al. 2021">
            <mo>"["</mo><msub><mi>"head"</mi><mn>"1"</mn></msub><mo>"; … ;"</mo><msub><mi>"head"</mi><mi>"h"</mi></msub><mo>"]"</mo>
            <msup><MathSym part="heads-out" role=Hue::Weight>"W"</MathSym><mi>"O"</mi></msup>
            <mo>"+"</mo><mi>"b"</mi>
            <mo>"="</mo>
            <munder><mo>"∑"</mo><mi>"i"</mi></munder>
            <msub><mi>"head"</mi><mi>"i"</mi></msub>
            <msubsup><MathSym part="heads-out" role=Hue::Weight>"W"</MathSym><mi>"i"</mi><mi>"O"</mi></msubsup>
            <mo>"+"</mo><mi>"b"</mi>
        </Formula>
        <Snippet of=notebooks::JOINED.code names=NAMES sizes notebook=|| notebook(&notebooks::JOINED)/>
        <p>
            "With heads of width d_model / h, the projections of h heads cost as many multiplications as those of one \
             head of the whole width. "<em>"W"</em>"ᵢᴼ are the rows of Wᴼ that belong to head i. The output of a head \
             that is switched off counts as 0; the bias b stays, and so do all trained weights. So the change of \
             the loss says what this model misses. It does not say what a model trained without the head would reach."
        </p>
        <p>
            "The model is GPT-2’s architecture in small, with one change. GPT-2 adds a learned vector for each \
             position. Here queries and keys are rotated by their position instead (Su et al. 2021). The next \
             chapter compares the two."
        </p>
        <p>
            "In machine translation, Voita et al. 2019 found a few heads with clear jobs, some of them looking at a \
             neighboring token, and could remove most of the others. Michel, Levy and Neubig 2019 removed heads one \
             at a time, as here, and many cost next to nothing. A head in an early layer that looks at the previous \
             token can serve an induction head in a later layer, which looks for what followed the same token before \
             (Olsson et al. 2022). In Vaswani et al. 2017, table 3, one head translates 0.9 BLEU points worse than \
             the best number of heads, and too many heads do worse too."
        </p>
        <p>
            "An attention weight says where a head reads, not what it makes of it: a large weight on a value of \
             length near 0 moves nothing. That is why the table shows what a head writes and what it costs, beside \
             where it looks. A head that costs nothing alone may still matter: another head may do the same job."
        </p>
    }
}
