//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::study::tokens::{Merge, Scheme};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    figures::{Hue, token::mark},
    store::Store,
    teaching::{Formula, Kind, MathSym, Names, Quiz, Snippet},
};

/// A pair as it is written.
pub fn pair(merge: &Merge) -> String {
    format!("‘{}’ + ‘{}’", mark(&merge.left), mark(&merge.right))
}

pub const SCRIPT: Script = Script {
    before: "A model computes with numbers, but a text is made of characters. Something must turn one into the other.",
    beats: &[
        Beat {
            title: "",
            text: "Around 2015, translation networks knew a fixed list of words, and any other word came out \
                   as “unknown.” In 2016 Sennrich, Haddow and Birch built words from frequent pieces, so any \
                   word could be written. Such a piece of text is a [token](token).\n\n\
                   ! Press “Merge until your sentence changes”: which two tokens become one?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A character is a number",
            text: "The list of all tokens is the [vocabulary](vocabulary), and a token’s place on it is its **id**. \
                   In the simplest cut, each character is a token, and so is the **end** of a line.\n\n\
                   ! [Click a letter](>level-characters) that occurs twice: one id, so both places light up.\n\n\
                   + How many ids are there?\n\n\
                   The row of characters has {character-ids} ids here, and two of them are special. One stands for the \
                   end of a line. The other, **unknown**, stands for all characters that the training text lacks, so \
                   they can’t be told apart.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A byte is a number too",
            text: "A computer stores any text as bytes, numbers from 0 to 255. So 256 ids, and one for the end, are \
                   enough for every text in every language. The price is length: a character takes one to four \
                   bytes. {price}\n\n\
                   ! Press “Add é” and compare the rows.",
            set: |_| {},
            asks: &["tokens-bytes"],
        },
        Beat {
            title: "Frequent pairs become one token",
            text: "[Byte-pair encoding](bpe) finds the two neighboring tokens that stand together most often in the \
                   text, makes them one, and does it again. Here {merges} merges, most of them done for you, have \
                   shortened the text from {text-bytes} byte tokens to {text-pairs}, but each adds an id to the \
                   vocabulary.\n\n\
                   ! Press “Merge” and watch both curves.",
            // The next pair is in the sentence that the Tales begin with.
            set: |link| {
                link.tokens.merges = 48;
                link.view = "merges".into();
            },
            asks: &["tokens", "tokens-word"],
        },
        Beat {
            title: "An id picks a row",
            text: "An id is only a name, like the number on a locker: what counts is its row in a [table](#embedding \
                   weight). The row and the table are both called [embedding](embedding), and training changes them. A \
                   product with a [one-hot vector](one-hot) picks the row.\n\n\
                   ! [Click a number](>lookup-product) in the row “one-hot times E” to see its sum.\n\n\
                   + How does a product pick a row?\n\n\
                   A one-hot vector is a list of numbers with a [1](#one-hot input) at the id and 0 everywhere else. \
                   Multiply each row of the table by its number in that list, and add up the rows. All rows but one \
                   are multiplied by 0, so only that one is left.",
            set: |link| {
                link.tokens.token = 34;
                link.view = "embedding".into();
            },
            asks: &["tokens-ids", "tokens-table"],
        },
        Beat {
            title: "Tokens that behave alike",
            text: "Every row is a point, and its numbers say where it lies. If two tokens are often followed by the \
                   same tokens, similar rows serve both well. So training tends to move their points closer together. \
                   Train much longer, and other differences pull them apart.\n\n\
                   ! Look at the map: do vowels and consonants lie apart?\n\n\
                   + How does a row fit on a screen?\n\n\
                   A row has {width} numbers, but a screen has only two directions. So the map shows the two in which \
                   the points spread most, their [principal components](principal-component).",
            set: |link| link.view = "map".into(),
            asks: &[],
        },
        Beat {
            title: "A window makes the examples",
            text: "Cover the next token of a text, and you have an example to learn from: guess that token, the \
                   **target**. The text has the answer. What the model may look at is its [context](context).\n\n\
                   ! [Slide the window](>window-slider): each of its {window} tokens makes one example.\n\n\
                   + What does the last column say?\n\n\
                   It says how much the target surprised the model: −ln p (ln: natural logarithm). That is 0 where p \
                   is 1, and grows by 0.69 each time p halves. The average over many windows is the [loss](loss), at \
                   the bottom of the page.",
            set: |link| {
                link.tokens.at = 30;
                link.view = "window".into();
            },
            asks: &[],
        },
        Beat {
            title: "A sentence is a product",
            text: "How [probable](probability) is a sentence? Multiply the probability of its first token by that \
                   of the second given the first, and so on: the **chain rule of probability**. A \
                   [language model](language-model) gives each factor: here, one that reads byte pairs.\n\n\
                   ! Point at each card: the product falls. Press “Replay”: which factors grow, which shrink?\n\n\
                   + Why an end token, and why logarithms?\n\n\
                   Nobody knows in advance how long a sentence will be, so the model must also say when it stops: the \
                   last factor belongs to the **end token**.\n\n\
                   The product soon gets tiny, so people add up the logarithms of the factors instead. The solid \
                   part of a card’s bar shows the logarithm of its factor.",
            set: |link| {
                link.tokens.scheme = Scheme::Pairs;
                link.tokens.merges = 300;
                link.view = "sentence".into();
            },
            asks: &["tokens-chain"],
        },
        Beat {
            title: "What you can do now",
            text: "You can cut a text into characters, bytes or byte pairs, and say what each cut costs. You can say \
                   what an embedding is, and write the probability of a sentence as a product. Where do good factors \
                   come from? The next chapter begins with counting.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Write é, ß, 東 or an emoji. How many bytes does each take, and which of them are known in the row of \
                   characters?",
            label: "Write ‘café 🙂’",
            id: "bytes",
            set: |link| link.tokens.scheme = Scheme::Bytes,
            sentence: Some("café 🙂 über 東"),
        },
        Trial {
            text: "Let merges cross from one word into the next. What is the first pair now? After 300 merges, look \
                   for tokens that hold the end of one word and the beginning of the next.",
            label: "Across words, 300 merges",
            id: "across",
            set: |link| {
                link.tokens.scheme = Scheme::Pairs;
                link.tokens.words = false;
                link.tokens.merges = 300;
            },
            sentence: None,
        },
        Trial {
            text: "Put a period at the end of your sentence, then take it away again. Watch the last factor, which \
                   belongs to the end token: when is an end more probable?",
            label: "Add a period",
            id: "stop",
            set: |link| {
                link.tokens.scheme = Scheme::Characters;
                link.view = "sentence".into();
            },
            sentence: Some("said Fenn the fox, who had one plan."),
        },
        Trial {
            text: "Look up −ln p per character below the product, first with characters, then with 300 merges. Lower \
                   is better. Either way the model looks back only one token. Which cut does better, and why might \
                   that be?",
            label: "The model reads 300 merges",
            id: "merges",
            set: |link| {
                link.tokens.scheme = Scheme::Pairs;
                link.tokens.merges = 300;
                link.tokens.words = true;
                link.tokens.token = 0;
                link.view = "sentence".into();
            },
            sentence: None,
        },
        Trial {
            text: "Give each token two numbers instead of eight, so that the map shows all there is. Do vowels and \
                   consonants still lie apart? What happens to the loss, the number that says how wrong the model is?",
            label: "Rows of 2 numbers",
            id: "two",
            set: |link| {
                link.tokens.scheme = Scheme::Characters;
                link.tokens.width = 2;
                link.tokens.token = 0;
                link.view = "map".into();
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "tokens-bytes",
            kind: Kind::Explain,
            asks: "Bytes can write any text. Why do most language models still use longer tokens?",
            options: &[
                (
                    "Some languages can’t be written in bytes.",
                    "All of them can. That is what UTF-8 does: each character becomes one to four bytes.",
                ),
                (
                    "A text in bytes is long, and a model has to work once per token.",
                    "Longer tokens mean fewer steps for the same text. A model that sees a fixed number of tokens then \
                     also sees farther back.",
                ),
                ("256 ids are too many for a model to learn.", "256 is few. GPT-2 has 50,257 ids."),
            ],
            right: 1,
        },
        Quiz {
            id: "tokens-word",
            kind: Kind::FindError,
            asks: "“A token is a word.” What is wrong?",
            options: &[
                (
                    "A token can also be a piece of a word, or a single sign.",
                    "Frequency decides, not grammar. A frequent word is often one token, with the space before it, and \
                     a rare word is several.",
                ),
                (
                    "A token is always one letter.",
                    "In the row of characters, each token is one character. But a byte pair can grow into a whole \
                     word.",
                ),
                (
                    "Nothing is wrong: each word of the language has its own id on the list.",
                    "Then a word that is not on the list could not be written. This is the trouble that the chapter \
                     began with.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "tokens-ids",
            kind: Kind::Explain,
            asks: "Why doesn’t the model simply compute with the ids?",
            options: &[
                (
                    "Ids are too large for a computer to multiply.",
                    "They are small numbers, and a computer multiplies far larger ones. Their size is not the trouble.",
                ),
                (
                    "Two tokens could have the same id.",
                    "Each token of the vocabulary has its own. Only characters that are not in it share one.",
                ),
                (
                    "Ids are only names. Their size says little about a token.",
                    "Id 34 is not twice id 17 in any sense that helps the model guess. With a row of its own, each \
                     token can be placed wherever it serves best.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "tokens-chain",
            kind: Kind::FindError,
            asks: "“The chain rule is only an approximation of the probability of a sentence.” What is wrong?",
            options: &[
                (
                    "Nothing. Every model approximates.",
                    "A model does. But the rule itself holds for any probabilities at all.",
                ),
                (
                    "The rule is exact. Only what the model puts into it is approximate.",
                    "If each factor is the true probability given all tokens before it, the product is exact. This \
                     small model looks back only one token, and that is the approximation.",
                ),
                (
                    "It is exact only when the model is well trained.",
                    "Training only makes the factors better. Their product is the model’s probability of the sentence, \
                     before training as well as after.",
                ),
            ],
            right: 1,
        },
    ],
};

/// The formulas' names in the code.
pub const NAMES: Names = &[("x", "one-hot", Hue::Input), ("E", "embedding", Hue::Weight)];

pub fn more() -> impl IntoView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In the model shown, d = {}.", link.tokens.width))
    });
    view! {
        <Formula label="The probability of a text is the product of the probabilities of its tokens, each given all before it"
            source="the chain rule of probability; an identity: no assumption is made">
            <mi>"p"</mi><mo>"("</mo><msub><mi>"x"</mi><mn>"1"</mn></msub><mo>","</mo><mo>"…"</mo><mo>","</mo>
            <msub><mi>"x"</mi><mi>"T"</mi></msub><mo>")"</mo><mo>"="</mo>
            <munderover><mo>"∏"</mo><mrow><mi>"t"</mi><mo>"="</mo><mn>"1"</mn></mrow><mi>"T"</mi></munderover>
            <mi>"p"</mi><mo>"("</mo><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"|"</mo>
            <msub><mi>"x"</mi><mn>"1"</mn></msub><mo>","</mo><mo>"…"</mo><mo>","</mo>
            <msub><mi>"x"</mi><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/chain.py") names=NAMES/>
        <p>
            "Each text ends in an end token. Without it, the probabilities of all texts of all lengths could not add \
             up to 1. Here a text is a line that is not blank, and the end token stands for the line break."
        </p>
        <Formula label="Logits from the row of the last token" source="log-bilinear model, Mnih and Hinton 2007, with one token of context">
            <mi>"p"</mi><mo>"("</mo><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"|"</mo>
            <msub><mi>"x"</mi><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub><mo>")"</mo><mo>"="</mo>
            <mi>"softmax"</mi><mo>"("</mo>
            <msub>
                <MathSym part="one-hot" role=Hue::Input>"x"</MathSym>
                <mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow>
            </msub>
            <MathSym part="embedding" role=Hue::Weight>"E"</MathSym>
            <mi>"R"</mi><mo>"+"</mo><mi>"b"</mi><mo>")"</mo>
        </Formula>
        <Snippet of=notebooks::LOGITS.code names=NAMES sizes notebook=|| notebook(&notebooks::LOGITS)/>
        <p>
            "On the right, x with the index t − 1 is the one-hot vector of the token before. E has V × d numbers, R \
             has d × V, and b has V. All of them are trained by AdamW at a rate of 0.02, on 64 windows per step. A \
             logit is a row of E times a column of R, plus a bias: this is what log-bilinear means. The model never \
             looks farther back than one token."
        </p>
        <p>
            "Byte-pair encoding was described by Gage (1994), who merged any two bytes to compress files. Sennrich, \
             Haddow and Birch (2016) merge characters and stay within words. GPT-2 (Radford and others 2019) starts \
             from bytes and lets a space belong to the word after it, as here. The id count of GPT-2, 50,257, is 256 \
             bytes, 50,000 merges and one end token."
        </p>
        <p>
            "A word here is a run of letters, of digits or of other signs. Of two pairs that are equally frequent, \
             the one with the smaller left id is merged first, then the one with the smaller right id. In aaa the \
             pair aa counts once, so the count is exactly what the text gets shorter by. Merging stops when no pair \
             occurs twice, or after 300 merges."
        </p>
        <p>
            "Ids of characters count from 1 in the order of their code points. 0 is the unknown character, and the \
             last id is the end token. A byte is its own id, 256 is the end token, and 257 the first merge. A GPT has \
             no end token here: it reads the line break as a character, with id 1, so its other characters have ids \
             one higher. Only the first 100 kB of a text are used here."
        </p>
        <p>
            "The map shows the rows along the two directions in which they vary most (Pearson 1901), computed \
             exactly from all d numbers. A token is weighted by the square root of how often it occurs, so that rare \
             ones do not dominate the picture. The letter y counts as a consonant."
        </p>
    }
}
