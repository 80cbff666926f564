//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Activation,
    study::block::{Norm, Shown, Without},
};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    figures::Hue,
    teaching::{Formula, Kind, MathSym, Names, Quiz, Snippet},
};

const STREAM: &str = "block-stream";

pub const SCRIPT: Script = Script {
    before: "Attention knows where each token stands, but it only mixes what is there. Stack nothing but averages, and \
             all tokens tend to become alike.",
    beats: &[
        Beat {
            title: "",
            text: "In 2015 Kaiming He and others saw 56 [layers](layer) do worse than 20, even on training \
                   images. Their cure is the [residual connection](residual-connection): a layer adds to its \
                   input instead of replacing it. In a transformer’s **block**, attention and feed-forward \
                   (which works on each token alone) add to one [stream](#block-stream hidden).\n\n\
                   ! Compare the boxes: which layer adds the longest vector?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A stream that everyone adds to",
            text: "@ figure-block-adds\n\n\
                   Think of the [residual stream](residual-stream) as each token’s notebook: every layer reads it \
                   and adds to it. Each row of the table is one term. Its length says how large it \
                   is; its bar, what it adds to a [logit](logit).\n\n\
                   ! [Find the longest term](>block-contributions): is its bar longest, too? And for other characters?\n\n\
                   + Can a layer take something back?\n\n\
                   Yes: it adds the opposite. The token, its position and what each layer found are all terms of the \
                   same sum.",
            set: |link| link.view = "stream".into(),
            asks: &["block-size"],
        },
        Beat {
            title: "One term’s way to a logit",
            text: "@ block-arithmetic\n\n\
                   The final norm centers and scales a term. The **unembedding** reads it with 24 numbers \
                   for each possible next character. Multiply place by place: the 24 products add up to the \
                   term’s part of the logit. You see the six largest, positive or negative.\n\n\
                   ! Press “›”: does the next term add more or less?",
            set: |link| {
                link.block.term = 4;
                link.view = "stream".into();
            },
            asks: &["block"],
        },
        Beat {
            title: "Without residuals",
            text: "In the second model, each layer replaces the stream. It is like whispering down a line: each \
                   person passes on only what they made of it. The [gradient](gradient) comes back the same way, \
                   right to left. Where little arrives, layers hardly learn.\n\n\
                   ! Which gradient falls to almost nothing on its way left? Compare the losses.\n\n\
                   + Is this a fair comparison?\n\n\
                   Both models begin with the same [seed](seed) and read the same batches. Only the residual \
                   connections are missing from one.",
            set: |link| {
                link.block.shown = Shown::Cut;
                link.view = "without".into();
            },
            asks: &["block-reach"],
        },
        Beat {
            title: "Norms before or after",
            text: "@ figure-block-sizes\n\n\
                   Sums grow, so a [norm](normalization) keeps what layers read in range. In 2017 it came \
                   after the addition: **post-norm** rescales the stream itself. GPT-2’s **pre-norm** gives \
                   each layer a scaled copy and leaves the stream untouched. Here the \
                   full model is post-norm.\n\n\
                   ! Choose “Without norms”: does “sum: the stream” get longer?\n\n\
                   + Why is there a new row?\n\n\
                   Each norm rescales the stream, and with it everything written earlier. It also adds its own \
                   offsets β, and they become a term of the sum.",
            set: |link| {
                (link.block.norm, link.block.without) = (Norm::Post, Without::Norms);
                link.view = "stream".into();
            },
            asks: &[],
        },
        Beat {
            title: "Who does what",
            text: "A **block** is two layers, like a good meeting: first talk, then think. In attention the \
                   tokens exchange what they know. In the [feed-forward](feed-forward) layer each works \
                   alone on what it heard. The second model now has no attention. {parted}\n\n\
                   ! Train to step 400 or beyond: do the curves part?\n\n\
                   + What can that model still predict from?\n\n\
                   No token hears of another. So it must predict from the current character and its position. \
                   That is little more than counting pairs, as in the chapter on bigrams.",
            set: |link| {
                link.block.without = Without::Attention;
                link.view = "without".into();
            },
            asks: &["block-mixes", "block-gained"],
        },
        Beat {
            title: "Which layer’s term grows longest?",
            text: "A block has two parts: **communicate, then compute**. Each row is one term of the full \
                   model’s stream; strong color means long. A dot marks where a layer’s term first grows \
                   longer than the token embedding.\n\n\
                   ! Find the [longest layer](>block-growth-verdict) in the last column: was it also the first to \
                   get its dot?\n\n\
                   + What happened in this run, and why?\n\n\
                   In this run, {woke}. At step 0 the weights are random and small, and so is what each layer \
                   adds. Then the terms grow, some sooner than others. The token embedding grows, too, and may \
                   overtake them again. Another seed may give another order.",
            set: |link| link.view = "growth".into(),
            asks: &[],
        },
        Beat {
            title: "A bend between two matrices",
            text: "The feed-forward layer multiplies by a matrix, bends, and multiplies again. In between, 96 \
                   [neurons](unit) each sum what they read. [ReLU](relu) passes positive sums and makes the others \
                   0. [GELU](gelu) passes a share of each, larger for larger sums.\n\n\
                   ! Each dot is a neuron. [Choose ReLU](>control-block-bend) (training restarts), and read below: how \
                   many are silent?",
            set: |link| link.view = "neurons".into(),
            asks: &["block-bend"],
        },
        Beat {
            title: "Many networks in one",
            text: "@ block-away\n\n\
                   A team in which anyone may be sick tomorrow can’t rely on one person. So [dropout](dropout) \
                   sets some activations to 0 at random: each training step trains a different sub-network. \
                   Here are 12, with half dropped. Each bar is one’s distance from the full network.\n\n\
                   ! Compare the bars: is their mean nearer than most?",
            set: |link| {
                link.block.dropout = 0.5;
                link.view = "dropout".into();
            },
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can read a residual stream as a sum, and say what each term adds to a logit. You can say what \
                   residual connections, norms, attention and feed-forward layers are for, and check it by leaving \
                   one out. Next comes the whole machine.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Leave out the feed-forward layers, which hold two thirds of each block’s weights. Train 400 \
                   steps. How much worse is the loss?",
            label: "Without feed-forward",
            id: "feed-forward",
            set: |link| {
                link.block.without = Without::FeedForward;
                link.view = "without".into();
            },
            sentence: None,
        },
        Trial {
            text: "Leave out the norms. Which curve falls faster at first? Does the other catch up?",
            label: "Without norms",
            id: "norms",
            set: |link| {
                link.block.without = Without::Norms;
                link.view = "without".into();
            },
            sentence: None,
        },
        Trial {
            text: "Take post-norm, and leave out the residual connections as well. How much of the gradient is left \
                   at the bottom?",
            label: "Post-norm without residuals",
            id: "post",
            set: |link| {
                (link.block.norm, link.block.shown) = (Norm::Post, Shown::Cut);
                link.view = "without".into();
            },
            sentence: None,
        },
        Trial {
            text: "SoLU is a bend that makes neurons compete: what one puts out depends on the sums of all others. \
                   Each dot is a neuron, shown at two positions. Does the same sum give the same output at both?",
            label: "SoLU",
            id: "solu",
            set: |link| {
                (link.block.activation, link.block.term) = (Activation::Solu, 4);
                link.view = "neurons".into();
            },
            sentence: None,
        },
        Trial {
            text: "Drop 60% of the activations. How far from the full network are single sub-networks now, and how \
                   far is their mean?",
            label: "Drop 60%",
            id: "dropout",
            set: |link| {
                link.block.dropout = 0.6;
                link.view = "dropout".into();
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "block-size",
            kind: Kind::Explain,
            asks: "A long term can add almost nothing to a logit. Why?",
            options: &[
                (
                    "The final norm makes long terms as short as all the others.",
                    "It divides all terms by the same number, so long ones stay long beside the others.",
                ),
                (
                    "The softmax makes it small.",
                    "Softmax comes after the logits, so it has no part in their sums.",
                ),
                (
                    "It points in a direction that this logit does not read.",
                    "The logit is an inner product. If term and unembedding are at right angles, it is 0, however \
                     long the term is.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "block-mixes",
            kind: Kind::FindError,
            asks: "“In the feed-forward layer the tokens exchange information once more.” What is wrong?",
            options: &[
                (
                    "It works on each token alone, with the same weights for all.",
                    "You could give it one token at a time and get the same outputs. Only attention carries \
                     something from one token to another.",
                ),
                (
                    "There the tokens exchange information for the first time, not once more.",
                    "They do so in attention, which comes before it.",
                ),
                (
                    "Nothing is wrong.",
                    "It does mix the numbers within one token, but never one token with another.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "block-bend",
            kind: Kind::Explain,
            asks: "Why is there a bend between the two matrices?",
            options: &[
                (
                    "It keeps the numbers between 0 and 1.",
                    "A sigmoid would do that. GELU and ReLU let large numbers pass nearly as they are.",
                ),
                (
                    "Without it the two matrices would act like a single one.",
                    "A product of two matrices is a matrix. However wide the middle is, the layer could only \
                     stretch, turn and shift.",
                ),
                (
                    "It saves weights.",
                    "The bend has no weights, and it does not change how many the matrices have.",
                ),
            ],
            right: 1,
        },
    ],
};

/// The stream before a layer, or after it.
fn stream(after: bool) -> AnyView {
    let at = if after {
        view! { <mrow><mi>"l"</mi><mo>"+"</mo><mn>"1"</mn></mrow> }.into_any()
    } else {
        view! { <mi>"l"</mi> }.into_any()
    };
    view! { <msub><MathSym part=STREAM role=Hue::Hidden>"x"</MathSym>{at}</msub> }.into_any()
}

/// The formulas' names in the code.
pub const NAMES: Names = &[("x", STREAM, Hue::Hidden)];

const SIZES: &str = "Both models read T = 24 characters at a time, and d = 24.";

pub fn more() -> AnyView {
    view! {
        <Formula label="Pre-norm: the next stream is the stream plus what a layer f makes of its norm" source="Radford et al. 2019 (GPT-2), section 2.3">
            {stream(true)}<mo>"="</mo>{stream(false)}<mo>"+"</mo><mi>"f"</mi><mo>"("</mo><mi>"LN"</mi><mo>"("</mo>
            {stream(false)}<mo>")"</mo><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/pre_norm.py") names=NAMES sizes=SIZES/>
        <Formula label="Post-norm: the next stream is the norm of the stream plus what a layer f makes of it" source="Vaswani et al. 2017, section 3.1">
            {stream(true)}<mo>"="</mo><mi>"LN"</mi><mo>"("</mo>{stream(false)}<mo>"+"</mo><mi>"f"</mi><mo>"("</mo>
            {stream(false)}<mo>")"</mo><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/post_norm.py") names=NAMES sizes=SIZES/>
        <Formula label="Feed-forward: an activation function phi between two linear layers, the inner four times as wide"
            source="Vaswani et al. 2017, section 3.3">
            <mi>"FFN"</mi><mo>"("</mo><mi>"x"</mi><mo>")"</mo><mo>"="</mo><mi>"φ"</mi><mo>"("</mo><mi>"x"</mi>
            <msub><mi>"W"</mi><mn>"1"</mn></msub><mo>"+"</mo><msub><mi>"b"</mi><mn>"1"</mn></msub><mo>")"</mo>
            <msub><mi>"W"</mi><mn>"2"</mn></msub><mo>"+"</mo><msub><mi>"b"</mi><mn>"2"</mn></msub>
        </Formula>
        <Snippet of=include_str!("code/feed_forward.py") names=&[] sizes=SIZES/>
        <Formula label="Contribution of a term t to the logit of token v: its deviation from its own mean, over sigma, times gamma, times the unembedding"
            source="Elhage et al. 2021, on the residual stream">
            <msub><mi>"c"</mi><mi>"v"</mi></msub><mo>"="</mo><munder><mo>"∑"</mo><mi>"d"</mi></munder>
            <mfrac>
                <mrow><msub><mi>"t"</mi><mi>"d"</mi></msub><mo>"−"</mo><mover><mi>"t"</mi><mo>"¯"</mo></mover></mrow>
                <mi>"σ"</mi>
            </mfrac>
            <msub><mi>"γ"</mi><mi>"d"</mi></msub><msub><mi>"u"</mi><mrow><mi>"v"</mi><mi>"d"</mi></mrow></msub>
        </Formula>
        <Snippet of=notebooks::CONTRIBUTION.code names=NAMES notebook=|| notebook(&notebooks::CONTRIBUTION)/>
        <p>
            "σ is the standard deviation of the whole stream. It is taken as it is: without one of the terms, σ would be \
            different too. So a contribution says what a term adds to this sum. It does not say what the model would do \
            without that term. For that, see the model that is retrained without it."
        </p>
        <p>
            "Residual connections: He, Zhang, Ren and Sun 2015. Post-norm is the form of 2017. GPT-2 (2019) moved the norm \
            in front of each layer. Xiong et al. 2020 showed why post-norm needs a careful warm-up of the learning rate: \
            at the start of training its gradients near the output are large."
        </p>
        <p>
            "φ is ReLU, max(0, x), in 2017. GELU is x Φ(x), with Φ the distribution function of the standard normal \
             distribution (Hendrycks and Gimpel 2016); GPT-2’s code has its tanh form. SoLU is x · softmax(x) over \
             the layer’s neurons (Elhage et al. 2022). The norm that this paper puts after it is left out here."
        </p>
        <p>
            "With post-norm the stream itself is divided at each layer. The lengths shown are what is left of each term \
            after the last block. The norms’ offsets β are a term of their own, and there is no final norm. Without \
            residual connections only the last layer’s output is left."
        </p>
        <p>
            "Dropout (Srivastava et al. 2014) sets activations to 0 at random in training and scales up the rest. Both \
            models here train with 10% dropped. At inference nothing is dropped. For a single softmax layer the full \
            network equals the normalized geometric mean of all sub-networks exactly. For deeper ones it only comes close. “Dropout” \
            shows how close it comes here to the arithmetic mean of 12."
        </p>
        <p>
            "Both models have 6 blocks, width 24 and 2 heads. They read 24 characters at a time, in batches of 8. Where \
            both have a weight, they begin with the same one. They are thin and deep so that the effects show within a \
            minute. At other sizes the effects may differ: the GPT lab trains any of these variants."
        </p>
    }
    .into_any()
}
