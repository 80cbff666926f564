//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Activation,
    study::block::{Norm, Shown, Without},
};

use crate::{
    course::{Idea, trial},
    figures::Hue,
    teaching::{Formula, MathSym, Sym, Term, Word},
};

const STREAM: &str = "block-stream";

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "A stream that everyone adds to",
        text: "Nothing in it is ever replaced: token, position, and what each layer found are added up. So the last \
               stream, and each logit, is a sum over all of them.",
        set: |_| {},
    },
    Idea {
        title: "One term's way to a logit",
        text: "The token embedding, scaled by the final norm, read by the unembedding: 24 products and a sum.",
        set: |link| link.block.term = 1,
    },
    Idea {
        title: "Without residuals",
        text: "Now each layer replaces the stream. Only the last term is left, the gradient dies on its way back, and the \
               loss stands where knowing letter frequencies alone gets one.",
        set: |link| {
            link.block.shown = Shown::Cut;
            link.view = "without".into();
        },
    },
    Idea {
        title: "Norms before or after",
        text: "Post-norm rescales the stream itself after every layer: all that was written before is divided along, and the \
               norms' own offsets β become a term.",
        set: |link| (link.block.norm, link.block.without) = (Norm::Post, Without::Norms),
    },
    Idea {
        title: "Who does what",
        text: "Without attention no token hears of another: the best such a model can do is count pairs, as in the chapter \
               on bigrams.",
        set: |link| {
            link.block.without = Without::Attention;
            link.view = "without".into();
        },
    },
    Idea {
        title: "Many networks in one",
        text: "Dropout trains a different sub-network at every step. Each says something else; their mean is close to what \
               the full network says.",
        set: |link| {
            link.block.dropout = 0.5;
            link.view = "dropout".into();
        },
    },
];

pub fn intro() -> impl IntoView {
    view! {
        <p>
            "A transformer block is attention, then a "<strong>"feed-forward"</strong>" layer that works on each token by \
            itself. Neither replaces what it reads: each "<em>"adds"</em>" to the "
            <Sym part=STREAM role=Hue::Hidden>"residual stream"</Sym>". A "<Term of=Word::Normalization>"norm"</Term>
            " keeps what they read in range."
        </p>
        <p>
            "So the stream is a sum, and so is every "<Term of=Word::Logit/>". In the figure each row is a term, each column a "
            <Term of=Word::Token/>", the color the term's length. Long terms need not matter: click one and see what it adds \
            to the chosen logit."
        </p>
        <p>
            "Beside it a second model trains "<em>"without"</em>" something: same seed, same batches. What will it miss?"
        </p>
    }
    .into_any()
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Leave out the feed-forward layers: two thirds of each block's weights. Train 400 steps. How much worse is it?",
            "Without feed-forward",
            "feed-forward",
            |link| {
                link.block.without = Without::FeedForward;
                link.view = "without".into();
            },
        ),
        trial(
            "Leave out the norms. Which curve starts faster, and does the other catch up?",
            "Without norms",
            "norms",
            |link| {
                link.block.without = Without::Norms;
                link.view = "without".into();
            },
        ),
        trial(
            "Post-norm, and no residuals either: how much of the gradient is left at the bottom?",
            "Post-norm without residuals",
            "post",
            |link| {
                (link.block.norm, link.block.shown) = (Norm::Post, Shown::Cut);
                link.view = "without".into();
            },
        ),
        trial(
            "SoLU makes neurons compete: what one puts out depends on the others' sums. Look at the curve of the layer's own.",
            "SoLU",
            "solu",
            |link| {
                (link.block.activation, link.block.term) = (Activation::Solu, 4);
                link.view = "neurons".into();
            },
        ),
        trial(
            "Drop 60 % of the activations. Single sub-networks babble; what about their mean?",
            "Drop 60 %",
            "dropout",
            |link| {
                link.block.dropout = 0.6;
                link.view = "dropout".into();
            },
        ),
    ]
}

/// `x` with a subscript.
fn stream(at: &'static str) -> AnyView {
    view! { <msub><MathSym part=STREAM role=Hue::Hidden>"x"</MathSym><mi>{at}</mi></msub> }
        .into_any()
}

pub fn more() -> AnyView {
    view! {
        <Formula label="Pre-norm: the stream plus a layer of its norm" source="Radford et al. 2019 (GPT-2), section 2.3">
            {stream("l")}<mo>"="</mo>{stream("k")}<mo>"+"</mo><mi>"f"</mi><mo>"("</mo><mi>"LN"</mi><mo>"("</mo>
            {stream("k")}<mo>")"</mo><mo>")"</mo>
        </Formula>
        <Formula label="Post-norm: the norm of the stream plus a layer of it" source="Vaswani et al. 2017, section 3.1">
            {stream("l")}<mo>"="</mo><mi>"LN"</mi><mo>"("</mo>{stream("k")}<mo>"+"</mo><mi>"f"</mi><mo>"("</mo>
            {stream("k")}<mo>")"</mo><mo>")"</mo>
        </Formula>
        <Formula label="Feed-forward: an activation function phi between two linear layers, the inner four times as wide"
            source="Vaswani et al. 2017, section 3.3">
            <mi>"FFN"</mi><mo>"("</mo><mi>"x"</mi><mo>")"</mo><mo>"="</mo><mi>"φ"</mi><mo>"("</mo><mi>"x"</mi>
            <msub><mi>"W"</mi><mn>"1"</mn></msub><mo>"+"</mo><msub><mi>"b"</mi><mn>"1"</mn></msub><mo>")"</mo>
            <msub><mi>"W"</mi><mn>"2"</mn></msub><mo>"+"</mo><msub><mi>"b"</mi><mn>"2"</mn></msub>
        </Formula>
        <Formula label="Contribution of a term t to the logit of token v: its deviation from its own mean, over sigma, times gamma, times the unembedding"
            source="Elhage et al. 2021, on the residual stream">
            <msub><mi>"c"</mi><mi>"v"</mi></msub><mo>"="</mo><munder><mo>"∑"</mo><mi>"d"</mi></munder>
            <mfrac>
                <mrow><msub><mi>"t"</mi><mi>"d"</mi></msub><mo>"−"</mo><mover><mi>"t"</mi><mo>"¯"</mo></mover></mrow>
                <mi>"σ"</mi>
            </mfrac>
            <msub><mi>"γ"</mi><mi>"d"</mi></msub><msub><mi>"u"</mi><mrow><mi>"v"</mi><mi>"d"</mi></mrow></msub>
        </Formula>
        <p>
            "σ is the whole stream's, taken as it is: were a term left out, σ would change, too. The contributions say what \
            each term adds to this sum, not what the model would do without it. For that, see the model retrained without."
        </p>
        <p>
            "φ is ReLU, max(0, x), in 2017. GELU is x Φ(x) with the normal distribution function Φ (Hendrycks and Gimpel 2016); \
            GPT-2's code has its tanh form. SoLU is x · softmax(x) over the layer's neurons (Elhage et al. 2022; the norm that \
            paper puts after it is left out here)."
        </p>
        <p>
            "With post-norm the stream itself is divided at each layer. The lengths shown are what has come of each term after \
            the last block; the norms' offsets β are a term of their own, and there is no final norm. Without residuals only \
            the last layer's output is left."
        </p>
        <p>
            "Dropout (Srivastava et al. 2014) sets activations to 0 at random in training and scales up the rest. Both models \
            here train with 10 % dropped; in use nothing is. That the full network equals the (geometric) mean of all \
            sub-networks holds exactly for one softmax layer only; “Dropout” shows how close it comes here, for the \
            arithmetic mean of 12."
        </p>
        <p>
            "Both models: 6 blocks, width 24, 2 heads, 24 characters, batches of 8. Where both have a weight, they begin with \
            the same one. So thin and so deep, the effects show within a minute. At other sizes they \
            may differ: the GPT lab trains any of these variants."
        </p>
    }
    .into_any()
}
