//! The chapter's words: its script, and the formulas.

use leptos::prelude::*;
use unroll_protocol::study::mask::{Combine, Pattern, Preset, Trained};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("A", "mask-weights", Hue::Output),
    ("Q", "mask-query", Hue::Query),
    ("K", "mask-key", Hue::Key),
    ("V", "mask-values", Hue::Value),
    ("v", "mask-values", Hue::Value),
];

/// Formulas with their source, and what differs between papers.
pub fn more() -> impl IntoView {
    view! {
        <Formula label="Attention with a mask added to the scores" source="Vaswani et al. 2017, sections 3.2.1 and 3.2.3">
            <MathSym part="mask-weights" role=Hue::Output>"A"</MathSym><mo>"="</mo><mi>"softmax"</mi><mo>"("</mo>
            <mfrac>
                <mrow>
                    <MathSym part="mask-query" role=Hue::Query>"Q"</MathSym>
                    <msup><MathSym part="mask-key" role=Hue::Key>"K"</MathSym><mi>"T"</mi></msup>
                </mrow>
                <msqrt><msub><mi>"d"</mi><mi>"k"</mi></msub></msqrt>
            </mfrac>
            <mo>"+"</mo><mi>"M"</mi><mo>")"</mo><mo>","</mo>
            <msub><mi>"M"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"∈"</mo>
            <mo>"{"</mo><mn>"0"</mn><mo>","</mo><mo>"−"</mo><mi>"∞"</mi><mo>"}"</mo>
        </Formula>
        <Snippet of=include_str!("code/masked.py") names=NAMES sizes="Both models read T = 32 characters at a time, and d_k = 16."/>
        <Formula label="The plain average of the past as a softmax">
            <mfrac><mn>"1"</mn><mi>"t"</mi></mfrac>
            <munderover><mo>"∑"</mo><mrow><mi>"j"</mi><mo>"="</mo><mn>"1"</mn></mrow><mi>"t"</mi></munderover>
            <msub><MathSym part="mask-values" role=Hue::Value>"v"</MathSym><mi>"j"</mi></msub>
            <mo>"="</mo>
            <munder><mo>"∑"</mo><mi>"j"</mi></munder>
            <mi>"softmax"</mi>
            <msub><mrow><mo>"("</mo><msub><mi>"M"</mi><mi>"t"</mi></msub><mo>")"</mo></mrow><mi>"j"</mi></msub>
            <msub><MathSym part="mask-values" role=Hue::Value>"v"</MathSym><mi>"j"</mi></msub>
        </Formula>
        <Snippet of=notebooks::AVERAGE.code names=NAMES sizes="Both models read T = 32 characters at a time." notebook=|| notebook(&notebooks::AVERAGE)/>
        <p>
            "A row of only −∞ has no softmax: it would be 0 divided by 0. Such a mask is refused here. Libraries \
             differ. Some return NaN, which then spreads through the whole model. Some return 0 or a plain \
             average. Code that adds a large negative number in place of −∞ relies on rounding: exp of it must \
             come out as 0."
        </p>
        <p>
            "Masks combine as sets: an intersection allows what both allow, a union what either allows. A \
             decoder on padded batches needs causal ∩ padding. GPT-3 (Brown and others 2020, section 2.1) \
             alternates dense layers with layers that see a local band, similar to the Sparse Transformer \
             (Child and others 2019). Here both layers have the same mask. BERT (Devlin and others 2019) looks \
             both ways and hides some tokens, so that there is something left to predict. With a mask for any \
             graph, attention passes messages along its edges."
        </p>
        <p>
            "In PyTorch the causal mask is "<code translate="no">"torch.tril(torch.ones(T, T))"</code>
            ". With weights of shape (B, T, T) and values of shape (B, T, C), the averages are "
            <code translate="no">"weights @ values"</code>", of shape (B, T, C)."
        </p>
        <p>
            "Both models have 2 layers of 2 heads, width 32 and rotary positions, and are trained on stretches \
             of 32 characters. The last place of a stretch is not asked. Its next character lies outside, where \
             even the unmasked model could not look. For the held-out loss, each model reads 16 characters and \
             is asked for the one after them. Both write at temperature 0.8, with the same draws."
        </p>
    }
}

/// The last token and the one before it.
const BAND: Pattern = Pattern {
    base: Preset::Causal,
    combine: Combine::And,
    other: Preset::Band,
    band: 2,
    padding: 4,
};

pub const SCRIPT: Script = Script {
    before: "Attention can compare every token with every other at once, but a model that sees the next token does \
             not have to predict it.",
    beats: &[
        Beat {
            title: "",
            text: "In an exam with the solutions beside the questions, you would copy and learn nothing. A model \
                   that reads a whole text at once sees the very character it should guess. So Vaswani and \
                   others (2017) hid what comes later behind a [mask](mask). Here a small model learns your text \
                   this way.\n\n\
                   ! [Change the mask](>mask-presets), and watch the model’s guesses.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A causal mask",
            text: "Each row is one token’s [query](#mask-query query), which looks, and each column one token’s \
                   [key](#mask-key key). A [causal mask](causal-mask) blocks what comes later: the hatched \
                   cells. There −∞ is added to the score before the [softmax](softmax), and the weight becomes \
                   exactly 0.\n\n\
                   ! Press “Edit cells” and block {strong}. What does its row guess now?\n\n\
                   + Why does −∞ make exactly 0?\n\n\
                   Softmax raises e to the power of each score. The lower the score, the closer the result is to \
                   0. For a score of −∞ (minus infinity), it is exactly 0.",
            set: |_| {},
            asks: &["mask-zero"],
        },
        Beat {
            title: "An average of the past",
            text: "Row {row} averages the tokens it may see in four ways. Three give every token the same \
                   share: a loop, a [matrix product](matrix-product), and a softmax of scores that are all 0 or \
                   −∞. Attention lets some count more. The product does all rows at once: no token waits.\n\n\
                   ! [Move the row](>control-mask-row), and compare.",
            set: |link| link.view = "averages".into(),
            asks: &["mask-wait"],
        },
        Beat {
            title: "Nothing leaks",
            text: "Does the mask really hide the future? Token {change} is changed here, and if any \
                   output before it moves at all, something has leaked. Compare the two rows: one with this \
                   mask, one with none.\n\n\
                   ! [Type another character](>control-mask-letter), or move the slider to another token. Does \
                   anything leak?",
            set: |link| link.view = "leak".into(),
            asks: &["mask-inference"],
        },
        Beat {
            title: "Without the mask",
            text: "In the row “no mask” the same model has every token in sight. There even the outputs before the \
                   changed token hear of the change. All outputs that move are outlined. Only \
                   the mask differs between the rows.\n\n\
                   ! Compare the rows: how far back does the change reach?",
            set: |link| {
                link.view = "leak".into();
                (link.mask.pattern.base, link.mask.change) = (Preset::Causal, 16);
            },
            asks: &["mask"],
        },
        Beat {
            title: "A band, twice",
            text: "@ mask-leak-reach\n\n\
                   Here each token sees only itself and the one before, yet a change travels farther. There are \
                   two layers, and in the second the neighbor already knows something of its own neighbor.\n\n\
                   ! Count how far the change reaches in the first row. Outputs that move are outlined, even where \
                   their color is faint.\n\n\
                   + Does a real model use bands?\n\n\
                   GPT-3 has such bands in every other layer, only wider.",
            set: |link| {
                link.view = "leak".into();
                link.mask.pattern = BAND;
            },
            asks: &["mask-peek"],
        },
        Beat {
            title: "Trained where it could peek",
            text: "@ figure-mask-writing\n\n\
                   Two models train on the same text: the [loss](loss) is now {causal} with the causal mask and \
                   {unmasked} without. On [held-out](held-out) text the next character is kept out of sight. \
                   At [inference](inference) it is not even there, leaving nothing to copy.\n\n\
                   ! Keep training: which model is ahead on held-out text? Then read what each writes.\n\n\
                   + Why can held-out loss be below training loss?\n\n\
                   In training, the causal model must also guess the first characters of a stretch, when it \
                   has read hardly anything. On held-out text it has always read 16 characters. And the training \
                   loss comes from one batch, so it goes up and down.",
            set: |link| {
                link.view = "trained".into();
                (link.mask.model, link.mask.pattern.base) = (Trained::Unmasked, Preset::Full);
            },
            asks: &["mask-copy"],
        },
        Beat {
            title: "What you can do now",
            text: "You can read and draw a mask, and say why it acts before the softmax. You can test a model \
                   for leaks, and you know why a very low loss can be a bad sign. The next chapter gives each \
                   token several looks at once.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "With a band of 2, a token sees one step back. How far does a change reach in two layers? Guess, \
                   then count.",
            label: "Causal ∩ band of 2",
            id: "mask-band",
            set: |link| {
                link.view = "leak".into();
                link.mask.pattern = BAND;
            },
            sentence: None,
        },
        Trial {
            text: "Train the model without a mask until its loss is low, then put a causal mask on it. How sure is \
                   it now?",
            label: "Unmasked model, causal mask",
            id: "mask-unmasked",
            set: |link| link.mask.model = Trained::Unmasked,
            sentence: None,
        },
        Trial {
            text: "The causal model never learned what to do with a future. Take its mask off. Do its predictions \
                   get better?",
            label: "Causal model, no mask",
            id: "mask-off",
            set: |link| link.mask.pattern.base = Preset::Full,
            sentence: None,
        },
        Trial {
            text: "Begin with tokens that see only themselves, then draw a chain of links backward. Which outputs \
                   does a change of the first token reach? Open the leak test to see.",
            label: "Draw a graph",
            id: "mask-graph",
            set: |link| {
                link.mask.pattern.base = Preset::Alone;
                (link.mask.editing, link.mask.change) = (true, 1);
            },
            sentence: None,
        },
        Trial {
            text: "Declare every token to be padding: filler that no token may look at. Why is there no answer?",
            label: "All padding",
            id: "mask-empty",
            set: |link| {
                link.mask.pattern.base = Preset::Padding;
                link.mask.pattern.padding = 32;
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "mask-zero",
            kind: Kind::Explain,
            asks: "Why add −∞ before the softmax, rather than set the weight to 0 after it?",
            options: &[
                (
                    "Because a weight set to 0 afterward would turn positive again in training.",
                    "It would not: it would be set to 0 again in every pass. What matters is the other weights \
                     in the row.",
                ),
                (
                    "Then the open cells share the whole 1 among themselves.",
                    "With the weight set to 0 afterward, the row would no longer add up to 1. And the blocked score \
                     would still have shrunk the others, so the future would leak.",
                ),
                ("It is faster.", "Both cost about the same. The two give different weights."),
            ],
            right: 1,
        },
        Quiz {
            id: "mask-wait",
            kind: Kind::FindError,
            asks: "“With a causal mask, each token must wait until those before it are done.” What is wrong?",
            options: &[
                (
                    "Within a layer all rows are computed at the same time.",
                    "The tokens of the past are all there in training, so one matrix product does every row. \
                     Waiting comes only when the model writes new text.",
                ),
                (
                    "Only the first token has to wait, until the last one has been computed.",
                    "It has the least to do, since it sees only itself. But no token waits for another within a \
                     layer.",
                ),
                (
                    "Nothing is wrong.",
                    "That is how a recurrent network works. Here no row needs the result of another row of the \
                     same layer.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "mask-inference",
            kind: Kind::FindError,
            asks: "“Once a causal model is trained, its mask can be dropped: when it writes, the future does not \
                   exist.” What is wrong?",
            options: &[
                (
                    "When it writes, the model can see the future.",
                    "It can’t: the next token is not there yet. Think of the tokens in the middle of what has been \
                     written.",
                ),
                (
                    "Nothing. The tokens of a prompt get the same outputs without it.",
                    "Try it: the next part of the story takes the mask off, and earlier outputs move.",
                ),
                (
                    "Earlier tokens would then see later ones, which never happened in training.",
                    "For them the rest of the prompt is a future. Their outputs change, and the last token reads \
                     those in the next layer.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "mask-copy",
            kind: Kind::Explain,
            asks: "Why can the unmasked model have a low training loss and still write badly?",
            options: &[
                (
                    "In training it can copy the answer instead of predicting it.",
                    "Copying is the easiest way to a low loss, but when it writes, there is nothing to copy.",
                ),
                (
                    "It has fewer weights.",
                    "Both models are built alike and begin with the same weights. Only the mask differs.",
                ),
                (
                    "It learned the training text by heart, and can write nothing but that text.",
                    "That is overfitting, and then it could at least recite that text. This model fails wherever the \
                     answer is not in sight.",
                ),
            ],
            right: 0,
        },
    ],
};
