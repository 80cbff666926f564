//! The chapter's text.

use leptos::prelude::*;
use unroll_protocol::study::bigram::{Estimate, Order, View};

use crate::{
    course::{Idea, trial},
    figures::Hue,
    teaching::{Formula, MathSym, Sym, Term, Word},
};

pub const IDEAS: &[Idea] = &[
    Idea {
        title: "Count every pair",
        text: "Each row is a character, each column one that may follow. The darker, the more often it did.",
        set: |_| {},
    },
    Idea {
        title: "A row is a distribution",
        text: "Divide by how often the row’s character occurs, and the row sums to 1: P(next | current).",
        set: |link| link.bigram.order = Order::Alphabetical,
    },
    Idea {
        title: "What was never seen is impossible",
        text: "Raw counts give it probability 0. Adding k to every count takes a little from the rest.",
        set: |link| (link.bigram.view, link.bigram.k) = (View::Smoothed, 5.0),
    },
    Idea {
        title: "The same by training",
        text: "A table of numbers, one for each pair, pushed by the gradient until its softmax gives the counts.",
        set: |link| link.bigram.view = View::Trained,
    },
    Idea {
        title: "It comes close, and never quite arrives",
        text: "Trained minus counted: it fades to white as training goes on, but no softmax is ever exactly 0.",
        set: |link| link.bigram.view = View::Difference,
    },
    Idea {
        title: "Drawing from it writes",
        text: "One random number picks the next letter; that letter’s row is next. It forgets all before.",
        set: |link| {
            (link.bigram.view, link.bigram.drawn) = (View::Counts, 12);
            link.view = "writing".into();
        },
    },
];

pub fn intro() -> impl IntoView {
    view! {
        <p>
            "The simplest guess at the next character: look at the present one, and count what came after it \
             everywhere else. A row of the table is the "<Sym part="next" role=Hue::Output>"probability of \
             each next character"</Sym>" after one "<Sym part="current" role=Hue::Input>"current character"</Sym>
            "."
        </p>
        <p>
            "Beside the counts, a table of "<Sym part="logits" role=Hue::Weight>"logits"</Sym>" is trained on the same \
             text by "<Term of=Word::CrossEntropy/>". Point at a cell to read it, click it for the arithmetic, and see \
             the one come to the other."
        </p>
    }
    .into_any()
}

/// Experiments with a surprise in them.
pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Set k to 0, then to 10. Which estimate gets better on the held-out text, and which worse on the training \
             text? Find the best k.",
            "k of 10",
            "k",
            |link| {
                (link.bigram.view, link.bigram.k) = (View::Smoothed, 10.0);
                link.view = "smoothing".into();
            },
        ),
        trial(
            "Show trained minus counted and go back to the start. Which rows come right first, those of frequent or of \
             rare characters? Train on: does the lowest logit ever stop?",
            "The difference",
            "difference",
            |link| link.bigram.view = View::Difference,
        ),
        trial(
            "Draw thirty letters from the counts, then the same thirty numbers from smoothed counts with k of 10. Why is \
             it so much worse?",
            "Thirty, smoothed",
            "write",
            |link| {
                (link.bigram.from, link.bigram.k, link.bigram.drawn) =
                    (Estimate::Smoothed, 10.0, 30);
                link.view = "writing".into();
            },
        ),
        trial(
            "Put a character the text never has into your sentence. What do the three estimates say of it?",
            "Your sentence, pair by pair",
            "unknown",
            |link| link.view = "sentence".into(),
        ),
        ViewFn::from(|| {
            view! {
                "Choose Brackets as the text. After which characters is nothing left to guess? What does this table know \
                 of a bracket that was opened ten characters ago?"
            }
        }),
    ]
}

/// Formulas with their sources.
pub fn more() -> AnyView {
    view! {
        <Formula label="Probability by counting with add k smoothing" source="k = 1 is Laplace’s rule of succession">
            <mi>"P"</mi><mo>"("</mo>
            <MathSym part="next" role=Hue::Output>"b"</MathSym><mo>"|"</mo>
            <MathSym part="current" role=Hue::Input>"a"</MathSym><mo>")"</mo><mo>"="</mo>
            <mfrac>
                <mrow>
                    <mi>"count"</mi><mo>"("</mo><mi>"a"</mi><mi>"b"</mi><mo>")"</mo><mo>"+"</mo><mi>"k"</mi>
                </mrow>
                <mrow>
                    <mi>"count"</mi><mo>"("</mo><mi>"a"</mi><mo>")"</mo><mo>"+"</mo><mi>"k"</mi><mi>"V"</mi>
                </mrow>
            </mfrac>
        </Formula>
        <Formula label="Probability by a softmax over a row of logits">
            <mi>"P"</mi><mo>"("</mo>
            <MathSym part="next" role=Hue::Output>"b"</MathSym><mo>"|"</mo>
            <MathSym part="current" role=Hue::Input>"a"</MathSym><mo>")"</mo><mo>"="</mo>
            <mfrac>
                <msup>
                    <mi>"e"</mi>
                    <msub><MathSym part="logits" role=Hue::Weight>"θ"</MathSym><mrow><mi>"a"</mi><mi>"b"</mi></mrow></msub>
                </msup>
                <mrow>
                    <munder><mo>"∑"</mo><mi>"c"</mi></munder>
                    <msup><mi>"e"</mi><msub><mi>"θ"</mi><mrow><mi>"a"</mi><mi>"c"</mi></mrow></msub></msup>
                </mrow>
            </mfrac>
        </Formula>
        <Formula label="Gradient of the mean cross-entropy with respect to one logit">
            <mfrac>
                <mrow><mo>"∂"</mo><mi>"L"</mi></mrow>
                <mrow><mo>"∂"</mo><msub><mi>"θ"</mi><mrow><mi>"a"</mi><mi>"b"</mi></mrow></msub></mrow>
            </mfrac>
            <mo>"="</mo>
            <mfrac><mrow><mi>"count"</mi><mo>"("</mo><mi>"a"</mi><mo>")"</mo></mrow><mi>"N"</mi></mfrac>
            <mo>"("</mo><mi>"P"</mi><mo>"("</mo><mi>"b"</mi><mo>"|"</mo><mi>"a"</mi><mo>")"</mo><mo>"−"</mo>
            <mfrac>
                <mrow><mi>"count"</mi><mo>"("</mo><mi>"a"</mi><mi>"b"</mi><mo>")"</mo></mrow>
                <mrow><mi>"count"</mi><mo>"("</mo><mi>"a"</mi><mo>")"</mo></mrow>
            </mfrac>
            <mo>")"</mo>
        </Formula>
        <p>
            "It is 0 just where the softmax equals the share counted, so training goes there. For a pair never seen it is \
             the probability itself: positive for ever, so its logit falls for ever."
        </p>
        <p>
            "Every step takes all pairs of the training text at once (N of them), as one matrix of counts. The optimizer \
             is Adam (Kingma and Ba 2015) at a learning rate of 0.05 without weight decay, which would hold the logits \
             back; the first logits are drawn by the seed, close to 0, so the loss begins at ln V."
        </p>
        <p>
            "The last tenth of the text is held out: neither counted nor trained on. Surprise is −ln p, in nats; its mean \
             over a text is the negative log-likelihood of each character."
        </p>
    }
    .into_any()
}
