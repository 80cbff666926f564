//! The chapter's text.

use leptos::prelude::*;
use unroll_protocol::study::bigram::{Estimate, View};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    figures::Hue,
    teaching::{Formula, Kind, MathSym, Names, Quiz, Snippet, Term, Word},
};

pub const SCRIPT: Script = Script {
    before: "We can now write a text as numbers. But nothing yet says which number comes next.",
    beats: &[
        Beat {
            title: "",
            text: "In 1913 Andrei Markov counted by hand how often a vowel follows a vowel in 20,000 letters of \
                   Pushkin. In 1948 Claude Shannon used letter pairs to write. A table of such pairs is about the \
                   simplest [language model](language-model): for each [current character](#current input), count \
                   which one came [next](#next output).\n\n\
                   ! [Point at a cell](>bigram-matrix-cells) to read it.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Count every pair",
            text: "Two characters side by side are a **bigram**, an [n-gram](n-gram) with n = 2. Each row of the \
                   table stands for a current character, each column for a next one. A stronger color means a \
                   larger share of the row.\n\n\
                   ! One row is hidden: guess what follows its character most often.\n\n\
                   + Read one cell\n\n\
                   {after} The color of that pair’s cell shows this share.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A row is a distribution",
            text: "A frequent character has large counts everywhere. So divide each count by how often the row’s \
                   character occurs, and the row adds up to 1. Now it is a [probability](probability) distribution, \
                   written P(next | current).\n\n\
                   ! [Click a strong cell](>bigram-matrix-cells), and read its row beside the table: how much choice \
                   does the text leave?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "What was never seen is impossible",
            text: "“The zebra yawned in German” is unlikely, not impossible. Raw counts call it impossible if one of \
                   its letter pairs never occurs in the text. [Smoothing](smoothing) adds a little, k, to every \
                   count: unseen pairs gain, frequent pairs pay.\n\n\
                   ! [Drag k up](>control-bigram-k). Which rows fade first, the frequent characters (top) or the \
                   rare ones (bottom)?",
            set: |link| (link.bigram.view, link.bigram.k) = (View::Smoothed, 0.1),
            asks: &["bigram-zero"],
        },
        Beat {
            title: "The same table, by training",
            text: "Every pair starts with a [number](#logits weight) near 0, its [logit](logit). [Softmax](softmax) \
                   turns a row of logits into probabilities. Where the table expects a pair more often than the text \
                   has it, its logit should fall, and where less often, rise. The [gradient](gradient) tells which.\n\n\
                   ! [Click a cell](>bigram-matrix-cells) to read its gradient.\n\n\
                   + Why train, if counting is simpler?\n\n\
                   For pairs, counting is simpler, but training also works where counting fails. So all later chapters \
                   train.\n\n\
                   Training may turn a logit into any number, above or below 0. Each training step moves all of them a \
                   little.",
            // The pair that is asked about first.
            set: |link| {
                let bigram = &mut link.bigram;
                (bigram.view, bigram.row, bigram.next) = (View::Trained, 't' as u32, 'h' as u32);
            },
            asks: &["bigram"],
        },
        Beat {
            title: "It comes close, and never quite arrives",
            text: "The picture is now trained minus counted. As the two come closer, the color scale shrinks to \
                   ±0.02, and matching cells fade away. A dot marks a pair that was never seen.\n\n\
                   ! Train until almost everything has faded, then press “Replay”: which rows fade last? Then \
                   [click a dot](>bigram-matrix-cells): does its logit ever stop falling?\n\n\
                   + Which rows, and how probable is the pair?\n\n\
                   In the first few hundred steps, rows with little choice fade last. Such a row needs one logit far \
                   above all others. Much later, some rows tremble: the steps never let the table rest.\n\n\
                   The pair’s count is 0. But its trained probability is e (about 2.718) to the power of its logit, \
                   divided by the sum of such powers along its row.",
            set: |link| link.bigram.view = View::Difference,
            asks: &["bigram-never"],
        },
        Beat {
            title: "Drawing letters, one by one",
            text: "Every possible next letter gets a stretch of the line from 0 to 1, as wide as the letter is \
                   probable. A random number falls into one stretch: that letter is written, and its row is used next. \
                   This is **sampling**.\n\n\
                   ! Press “Keep drawing” and read: are these words?\n\n\
                   + What does the model remember?\n\n\
                   It looks at one letter, and has forgotten everything before it. With raw counts, every pair of \
                   neighbors also occurs somewhere in the text.\n\n\
                   Shannon did the same with a book: he opened it at random, read on to his last letter, and copied \
                   the one after it.",
            set: |link| {
                (link.bigram.view, link.bigram.drawn) = (View::Counts, 12);
                link.view = "writing".into();
            },
            asks: &[],
        },
        Beat {
            title: "How surprised is it?",
            text: "If the character that came had probability p, its surprise is −ln p [nats](nat) (ln: natural \
                   logarithm). That is 0 if it was certain, and large if nearly impossible. Each row shows one \
                   pair. The average over a text is the [loss](loss), or [cross-entropy](cross-entropy). On the \
                   training text, at step {step}, it was {loss}.\n\n\
                   + What if a model knows nothing?\n\n\
                   With V characters, it gives each a probability of 1/V, so its loss is ln V. Training \
                   makes the loss smaller.",
            set: |link| link.view = "sentence".into(),
            asks: &["bigram-uniform"],
        },
        Beat {
            title: "A text it has never read",
            text: "On the training text, no table of pairs can beat the raw counts. But the last tenth of the text was \
                   [held out](held-out): neither counted nor trained on.\n\n\
                   ! Guess in the figure: how surprised are the raw counts by this tenth?\n\n\
                   + What does the perplexity say?\n\n\
                   Raise e (about 2.718) to the power of the loss, and you get the [perplexity](perplexity): \
                   {perplexity} here. Your table is as unsure as if it chose among that many equally likely \
                   characters.",
            set: |link| link.view = "average".into(),
            asks: &[],
        },
        Beat {
            title: "How much doubt is best?",
            text: "With k near 0, the counts trust only what they have seen. With k near 10,000, every character is \
                   about equally likely: the model knows almost nothing. In between lies the k that guesses the held-out \
                   text best.\n\n\
                   ! [Zoom in](>bigram-zoom) and click the lowest point of “held out.” Where is the training text’s \
                   curve lowest?",
            set: |link| link.view = "smoothing".into(),
            asks: &["bigram-training"],
        },
        Beat {
            title: "What you can do now",
            text: "You can turn smoothed counts into probabilities, write by sampling, and say what logits, softmax \
                   and cross-entropy are. But this table looks back only one character: for two, it would need a row \
                   for every pair. So next comes a model with a memory.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "On the training text, the trained table’s loss minus that of the raw counts is a \
                   [KL divergence](kl-divergence). Find it in the figure, under “How far from the counts?” Press \
                   Train: how small does it get? Does the trained table’s loss on the held-out text keep falling, \
                   too?",
            label: "Show both losses",
            id: "divergence",
            set: |link| link.view = "average".into(),
            sentence: None,
        },
        Trial {
            text: "Thirty letters are drawn from smoothed counts with a k of 10. Read them. Then set “Draw from” to the \
                   raw counts: the same thirty random numbers are used again. Which reads better, and why?",
            label: "Draw thirty letters, smoothed",
            id: "write",
            set: |link| {
                (link.bigram.from, link.bigram.k, link.bigram.drawn) =
                    (Estimate::Smoothed, 10.0, 30);
                link.view = "writing".into();
            },
            sentence: None,
        },
        Trial {
            text: "The built-in texts contain no €. What do the raw counts, the smoothed counts and the trained table \
                   say about the pairs it stands in?",
            label: "Read a sentence with a €",
            id: "unknown",
            set: |link| link.view = "sentence".into(),
            sentence: Some("the fox paid one € for it"),
        },
        Trial {
            text: "Choose Brackets as the text. After which characters is there almost nothing left to guess? What can \
                   this table know about a bracket that was opened ten characters ago?",
            label: "",
            id: "brackets",
            set: |_| {},
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "bigram-zero",
            kind: Kind::Explain,
            asks: "Why is a probability of 0 so much worse than a very small one?",
            options: &[
                (
                    "It isn’t: for a single pair of letters the two are nearly the same.",
                    "For one pair the difference looks small. But the probability of a text is a product, and 0 \
                     times anything is 0.",
                ),
                (
                    "A computer can’t store 0 exactly.",
                    "It can. The trouble is what the 0 does to everything it is multiplied by.",
                ),
                (
                    "One such pair makes the whole text impossible.",
                    "The probabilities of all pairs are multiplied, so a single 0 makes the product 0. However likely \
                     the other pairs are, they can’t make up for it.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "bigram-never",
            kind: Kind::Explain,
            asks: "Why does the trained table never give exactly 0 to a pair that was never seen?",
            options: &[
                (
                    "Softmax gives a positive number for every logit.",
                    "It divides eˣ by a sum, and eˣ is above 0 for every x. So the logit can fall forever, and the \
                     probability only gets closer to 0.",
                ),
                (
                    "The training text is too short to contain every possible pair.",
                    "A longer text would still lack some pairs, and the same would happen with those.",
                ),
                (
                    "The training steps are too small.",
                    "Larger steps get closer sooner, but they don’t arrive either.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "bigram-training",
            kind: Kind::FindError,
            asks: "“The estimate with the lowest loss on the training text is the best model.” What is wrong?",
            options: &[
                (
                    "Loss should be high, not low.",
                    "Loss is surprise, so low is good. The question is on which text it is measured.",
                ),
                (
                    "Only text that was kept back shows how well it guesses new text.",
                    "On the training text no table of pairs beats the raw counts. But the raw counts may call a new \
                     text impossible.",
                ),
                (
                    "Nothing. It knows the text best.",
                    "It does know that text best. But a model is meant for texts that it has not read.",
                ),
            ],
            right: 1,
        },
    ],
};

/// The formulas' names in the code.
pub const NAMES: Names =
    &[("a", "current", Hue::Input), ("b", "next", Hue::Output), ("theta", "logits", Hue::Weight)];

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
        <Snippet of=include_str!("code/count.py") names=NAMES/>
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
        <Snippet of=notebooks::SOFTMAX.code names=NAMES notebook=|| notebook(&notebooks::SOFTMAX)/>
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
        <Snippet of=include_str!("code/gradient.py") names=NAMES/>
        <p>
            "Read it as a pull: the table’s probability minus the share counted. It is 0 exactly where the two are \
             equal, so training goes there. For a pair never seen the share is 0, and the pull is the probability \
             itself. That is always positive, so its logit never stops falling."
        </p>
        <p>
            "Every step takes all N pairs of the training text at once, as one matrix of counts. The optimizer is \
             Adam (Kingma and Ba 2015) at a learning rate of 0.05. It has no weight decay, which would hold the \
             logits back. The first logits are drawn at random, close to 0, so the loss begins near ln V."
        </p>
        <p>
            "The last tenth of the text is held out: neither counted nor trained on. Surprise is −ln p, in nats. Its \
             mean over a text is the negative log-likelihood per character. On the training text, the trained \
             table’s mean minus that of the raw counts is a "<Term of=Word::KlDivergence>"KL divergence"</Term>": what it \
             costs to believe the one distribution when the other is true."
        </p>
        <p>
            "A. A. Markov counted “Eugene Onegin” in “An example of statistical investigation of the text Eugene \
             Onegin concerning the connection of samples in chains” (1913). C. E. Shannon composed text from the \
             frequencies of single letters, pairs and triples in “A Mathematical Theory of Communication” (1948)."
        </p>
    }
    .into_any()
}
