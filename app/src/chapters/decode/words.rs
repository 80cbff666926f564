//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::{Link, gpt::Sampling};

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("z", "decode-logit", Hue::Output),
    ("share", "decode-share", Hue::Output),
    ("q", "decode-query", Hue::Query),
    ("K", "decode-keys", Hue::Key),
    ("V", "decode-values", Hue::Value),
];

/// Sets how the next token is chosen.
fn choose(link: &mut Link, sampling: Sampling) {
    let Sampling { temperature, top_k, top_p, min_p } = sampling;
    (link.gpt.temperature, link.gpt.top_k) = (temperature, top_k);
    (link.gpt.top_p, link.gpt.min_p) = (top_p, min_p);
}

/// Beside the six ways that are shown, one that is none of them.
const YOURS: Sampling = Sampling { temperature: 0.8, ..Sampling::PLAIN };

pub const SCRIPT: Script = Script {
    before: "You have seen how a GPT arrives at its distribution: a probability for every token. Now see \
             what is done with it.",
    beats: &[
        Beat {
            title: "",
            text: "A language model never says what comes next. It gives each of its {known} [tokens](token) a \
                   share: the token’s probability. Picking one is a separate step, called decoding. It needs no \
                   training, yet can make the text dull, lively or broken.\n\n\
                   You will meet this model again in the next chapter. {first}\n\n\
                   ! {do-first}.",
            set: |link| choose(link, Sampling::PLAIN),
            asks: &[],
        },
        Beat {
            title: "Always the first choice",
            text: "Why not take the largest share every time? This is called **greedy decoding**, and it leaves \
                   nothing to chance. But greedy text often repeats itself. A small model easily gets stuck in a \
                   loop.\n\n\
                   ! Look at the row “Greedy.” The other rows come later.\n\n\
                   + What are the numbers beside the rows?\n\n\
                   Each is explained later in the story. The number in parentheses is a [temperature](temperature). \
                   The surprise, in [nats](nat), and the [perplexity](perplexity) say how hard a text was for the model to \
                   guess: the lower, the easier.",
            set: |link| {
                link.view = "beside".into();
                choose(link, YOURS);
            },
            asks: &["decode-greedy"],
        },
        Beat {
            title: "Draw by the shares",
            text: "@ decode-note\n\n\
                   Or draw at random. Below the rows, all shares lie end to end, on a line of length 1. \
                   Pick a random number from 0 to 1, and write the token that it falls on. A share of 20% \
                   comes up one time in five.\n\n\
                   ! Press “Draw again”: where does the number fall?\n\n\
                   + Is it really random?\n\n\
                   The numbers look random, but the [seed](seed) and the text fix them, until you press “Draw \
                   again.” A link to this page remembers that too. So anyone who opens it gets the same numbers \
                   and, with the same model, the same text.",
            set: |link| choose(link, Sampling::PLAIN),
            asks: &[],
        },
        Beat {
            title: "Temperature",
            text: "The model gives each token a score, its [logit](logit), and [softmax](softmax) turns the scores \
                   into shares. Before softmax, divide all scores by one number: the **temperature**. \
                   Below 1, the largest share grows and the smallest shrinks. Above 1, the shares move closer \
                   together.\n\n\
                   ! [Move the temperature slider](>control-temperature): the order never changes.\n\n\
                   + What happens at 0?\n\n\
                   Near 0, almost only the first choice is left. You can’t divide by 0, so a temperature of 0 \
                   means greedy decoding.",
            set: |link| choose(link, Sampling { temperature: 0.5, ..Sampling::PLAIN }),
            asks: &["decode-heat"],
        },
        Beat {
            title: "Cut the tail",
            text: "Tiny shares let in absurd tokens. [Top k](top-k) keeps the k largest. [Top p](top-p) takes \
                   the largest until they add up to p. [Min p](min-p) keeps shares of at least p times the largest. Now \
                   {kept} of {known} are left, scaled to 100%.\n\n\
                   ! [Drag top k](>control-topk) to 5, then try top p: which bars grow?\n\n\
                   + Why three rules?\n\n\
                   Top k always keeps the same number of tokens. The other two keep few where the model is sure, \
                   and many where it is not.",
            set: |link| choose(link, Sampling::PLAIN),
            asks: &["decode-cut", "decode-top"],
        },
        Beat {
            title: "The same beginning, seven ways",
            text: "Here seven ways of choosing continue your sentence. The bar over a token is its surprise: −ln \
                   of its share, in nats. Low bars alone make dull text, high ones noise, and people \
                   write in between.\n\n\
                   ! Train for half a minute. Which of the seven would you then go on reading?\n\n\
                   + How are they compared?\n\n\
                   The ways that draw at random all use the same random numbers. Each surprise is measured with \
                   the model’s own shares, before any temperature or cut.",
            set: |link| {
                link.view = "beside".into();
                choose(link, YOURS);
            },
            asks: &[],
        },
        Beat {
            title: "Look farther ahead",
            text: "The likeliest first token can lead to an unlikely text. To get a whole text’s probability, \
                   multiply the shares of all its tokens. [Beam search](beam-search) follows several beginnings \
                   at once. After each token it keeps only the few most probable. The final few are colored.\n\n\
                   ! Press “Find a difference”: which text is likelier?\n\n\
                   + When does it help?\n\n\
                   Translation programs long relied on it, because the original sentence leaves little choice \
                   about what to write. For stories it is too careful: the most probable story is rarely the \
                   best one.",
            set: |link| link.view = "tree".into(),
            asks: &["decode-beam"],
        },
        Beat {
            title: "How surprising is a text?",
            text: "Surprise can be measured on any text, whoever wrote it. Its mean is the [loss](loss). Raise e \
                   to that power, and you have the **perplexity**. If it is 8, each guess is, on \
                   average, as hard as one among 8 equally likely tokens.\n\n\
                   ! Paste a text: where does the model stumble?\n\n\
                   + Where in a word is the surprise?\n\n\
                   Where a word is several tokens, its first bar is often tall and its last low.",
            set: |link| link.view = "surprise".into(),
            asks: &["decode-perplexity"],
        },
        Beat {
            title: "Don’t compute it twice",
            text: "Each new token adds one row to what the model computes. Under a causal mask, earlier rows can’t \
                   see it, so nothing in them changes. Keep their keys and values in a [KV cache](kv-cache), and \
                   only the last row has to be computed.\n\n\
                   ! Press “Write it”: which rows have a frame?\n\n\
                   + What does a cache cost?\n\n\
                   It costs memory: each new token adds one key and one value for each head in each block. And \
                   there is a limit. When the [context window](context-window) is full, the oldest token drops out \
                   and all others move up one place. A model that adds a position to each token must then compute \
                   their keys and values again.",
            set: |link| link.view = "cache".into(),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can say how temperature, top k, top p and min p change a token’s chance, and compute it by \
                   hand. You know why greedy text repeats, what beam search is for, and what a cache saves. The \
                   model’s distribution stays the same: only the choice differs.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Set the temperature to 0 and press “Write it” many times. How many tokens does it write before the text repeats itself?",
            label: "Set the temperature to 0",
            id: "loop",
            set: |link| {
                link.view.clear();
                choose(link, Sampling::GREEDY);
            },
            sentence: None,
        },
        Trial {
            text: "Raise the temperature to 2. What share do the tokens in the last row, “others together,” have now? Then cut them off with top k.",
            label: "Set the temperature to 2",
            id: "hot",
            set: |link| {
                link.view.clear();
                choose(link, Sampling { temperature: 2.0, ..Sampling::PLAIN });
            },
            sentence: None,
        },
        Trial {
            text: "Paste a line that the model learned from, then one of your own. How far apart are the two perplexities? Train the model some more, and look again.",
            label: "Open the view “Surprise”",
            id: "own",
            set: |link| link.view = "surprise".into(),
            sentence: None,
        },
        Trial {
            text: "Write with the cache until the context is full. What does the line above the picture say then? How many multiplications does one more token cost?",
            label: "Open the view “Cache”",
            id: "full",
            set: |link| link.view = "cache".into(),
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "decode-greedy",
            kind: Kind::Explain,
            asks: "Why does greedy text run into loops?",
            options: &[
                (
                    "The model forgets what it wrote.",
                    "It reads all that fits into its context, and still it loops.",
                ),
                (
                    "What has repeated once is likely to repeat again.",
                    "Seeing a repetition makes more of it likelier, and no random draw ever breaks the loop. Once everything the model can see is the same as before, its next choice must be the same too.",
                ),
                (
                    "The largest share belongs to the same token, whatever comes before it.",
                    "It changes with the text before it. Look at the rows as you write.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "decode-heat",
            kind: Kind::FindError,
            asks: "“At a higher temperature the model knows more words.” What is wrong?",
            options: &[
                (
                    "Temperature changes only the shares. The logits stay the same.",
                    "They are divided by the temperature after the model has computed them.",
                ),
                (
                    "At a higher temperature it knows fewer words, because it gets more of them wrong.",
                    "It changes nothing about what the model knows.",
                ),
                ("Nothing is wrong.", "Watch the logits in the readout as you move the slider."),
            ],
            right: 0,
        },
        Quiz {
            id: "decode-top",
            kind: Kind::Explain,
            asks: "The model is almost sure: its first choice has 97%. What do top k 5 and top p 0.9 keep?",
            options: &[
                (
                    "Both keep five tokens.",
                    "Top p counts shares, not tokens. The first one alone already has more than 0.9.",
                ),
                (
                    "Top k keeps five tokens, top p one.",
                    "Top p follows how sure the model is. Top k doesn’t.",
                ),
                ("Both keep one token.", "Top k 5 keeps five, however small their shares are."),
            ],
            right: 1,
        },
        Quiz {
            id: "decode-beam",
            kind: Kind::FindError,
            asks: "“Beam search finds the most probable continuation.” What is wrong?",
            options: &[
                (
                    "Nothing is wrong.",
                    "It drops beginnings on the way, and one of them might have gone on very well.",
                ),
                (
                    "It finds a random continuation, because its tokens are drawn.",
                    "It draws nothing: the same sentence gives the same beams.",
                ),
                (
                    "It may drop the beginning of that continuation.",
                    "To be certain, it might have to follow a huge number of beginnings. Each new token multiplies them.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "decode-perplexity",
            kind: Kind::Explain,
            asks: "A model has perplexity 1 on a text. What does that mean?",
            options: &[
                (
                    "It gave a share of 100% to every token that it had to guess.",
                    "Each surprise is −ln 1 = 0, and e to the power of 0 is 1.",
                ),
                (
                    "It has no idea: to it, every token in the vocabulary is equally likely.",
                    "A model with no idea has a perplexity as large as its vocabulary.",
                ),
                (
                    "It was wrong once.",
                    "Perplexity doesn’t count mistakes. It says how many equally likely tokens would make each guess just as hard.",
                ),
            ],
            right: 0,
        },
    ],
};

/// Where the ways to choose come from, as formulas and code.
pub fn more() -> AnyView {
    view! {
        <p>
            "Beam search is older than neural language models: Lowerre used it for speech in 1976. Temperature comes from "
            "physics, where the Boltzmann distribution has the same form as softmax. It came to neural "
            "networks with the Boltzmann machine (Hinton and Sejnowski 1983; Ackley, Hinton and Sejnowski "
            "1985). Top k was used for stories by Fan, Lewis and Dauphin (2018). Top p, or nucleus sampling, is from "
            <cite>"The Curious Case of Neural Text Degeneration"</cite>
            " (Holtzman, Buys, Du, Forbes, Choi, 2020), which also shows that what people write is not the most probable "
            "text. Min p is from "<cite>"Turning Up the Heat"</cite>" (Nguyen et al., 2024)."
        </p>
        <Formula label="A token’s share at temperature T, over the set S of those that are kept"
            source="Holtzman et al. 2020, sections 3.1 to 3.3">
            <msub><MathSym part="decode-share" role=Hue::Output>"p"</MathSym><mi>"i"</mi></msub><mo>"="</mo>
            <mfrac>
                <mrow><mi>"exp"</mi><mo>"("</mo>
                    <msub><MathSym part="decode-logit" role=Hue::Output>"z"</MathSym><mi>"i"</mi></msub>
                    <mo>"/"</mo><mi>"T"</mi><mo>")"</mo></mrow>
                <mrow><munder><mo>"∑"</mo><mrow><mi>"j"</mi><mo>"∈"</mo><mi>"S"</mi></mrow></munder>
                    <mi>"exp"</mi><mo>"("</mo>
                    <msub><MathSym part="decode-logit" role=Hue::Output>"z"</MathSym><mi>"j"</mi></msub>
                    <mo>"/"</mo><mi>"T"</mi><mo>")"</mo></mrow>
            </mfrac>
        </Formula>
        <Snippet of=include_str!("code/sampling.py") names=NAMES/>
        <p>
            "Where several are set, they are applied in this order: temperature, top k, top p, min p. Each works on the "
            "shares that the one before it left. Equal logits keep the order of the vocabulary."
        </p>
        <Formula label="One new row of attention, with the keys and values of all tokens so far"
            source="after Vaswani et al. 2017, section 3.2.1">
            <mi>"out"</mi><mo>"="</mo><mi>"softmax"</mi><mo>"("</mo>
            <mfrac>
                <mrow><MathSym part="decode-query" role=Hue::Query>"q"</MathSym>
                    <msup><MathSym part="decode-keys" role=Hue::Key>"K"</MathSym><mi>"T"</mi></msup></mrow>
                <msqrt><mi>"d"</mi></msqrt>
            </mfrac>
            <mo>")"</mo><MathSym part="decode-values" role=Hue::Value>"V"</MathSym>
        </Formula>
        <Snippet of=include_str!("code/cache.py") names=NAMES/>
        <p>
            "With rotary positions or ALiBi, and without positions, a cache could go on when the context is full: the oldest "
            "key and value are dropped. What is left then still holds what it read from the token that fell out. This page "
            "computes all rows again instead, so that it writes the same with a cache as without one, apart from rounding."
        </p>
    }
    .into_any()
}
