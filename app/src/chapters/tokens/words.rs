//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::study::tokens::{Merge, Scheme};

use crate::{
    course::{Try, trial},
    figures::{Hue, token::mark},
    teaching::{Formula, MathSym, Term, Word},
};

/// A pair as it is written.
pub fn pair(merge: &Merge) -> String {
    format!("‘{}’ + ‘{}’", mark(&merge.left), mark(&merge.right))
}

pub fn intro() -> impl IntoView {
    view! {
        <p>
            "Your sentence, cut into "<Term of=Word::Token>"tokens"</Term>" in three ways. Every token has an \
             id, the number under it: its place in the "<Term of=Word::Vocabulary/>". Few ids make long \
             rows, many ids short ones. "<b>"Byte pairs"</b>" choose between: press Merge, and what stands \
             together most often in the whole text becomes one token. Click a token to see what the model \
             makes of it: a row of numbers that it learns."
        </p>
    }
}

pub fn tries() -> Vec<ViewFn> {
    vec![
        ViewFn::from(|| {
            view! {
                <p>
                    "Write é, ß, 東 or an emoji. How many bytes is one character? And which of them does the \
                     row of characters know?"
                </p>
                <Try label="Write ‘café 🙂’" id="bytes" sentence="café 🙂 über 東"
                    set=|link| link.tokens.scheme = Scheme::Bytes/>
            }
        }),
        trial(
            "Let merges cross words. What is the first pair now? After 300 merges tokens appear that \
             hold the end of one word and the beginning of the next.",
            "Across words, 300 merges",
            "across",
            |link| {
                link.tokens.scheme = Scheme::Pairs;
                link.tokens.words = false;
                link.tokens.merges = 300;
            },
        ),
        ViewFn::from(|| {
            view! {
                <p>
                    "Put a full stop behind your sentence and watch the last factor, that of the end. Then \
                     take the full stop away again."
                </p>
                <Try label="Add a full stop" id="stop" sentence="said Fenn the fox, who had one plan."
                    set=|link| {
                        link.tokens.scheme = Scheme::Characters;
                        link.view = "sentence".into();
                    }/>
            }
        }),
        trial(
            "Compare −ln p for each character with characters and with 300 merges. The model reads one \
             token either way; a longer token simply lets it see further back.",
            "The model reads 300 merges",
            "merges",
            |link| {
                link.tokens.scheme = Scheme::Pairs;
                link.tokens.merges = 300;
                link.tokens.words = true;
                link.tokens.token = 0;
                link.view = "sentence".into();
            },
        ),
        trial(
            "Two numbers for a token instead of eight: the map now shows all there is. Do the letters \
             still part by kind? How much loss does it cost?",
            "Rows of 2 numbers",
            "two",
            |link| {
                link.tokens.scheme = Scheme::Characters;
                link.tokens.width = 2;
                link.tokens.token = 0;
                link.view = "map".into();
            },
        ),
    ]
}

pub fn more() -> impl IntoView {
    view! {
        <Formula label="The probability of a text is the product of the probabilities of its tokens, each given all before it"
            source="the chain rule of probability; exact for every model">
            <mi>"p"</mi><mo>"("</mo><msub><mi>"x"</mi><mn>"1"</mn></msub><mo>","</mo><mo>"…"</mo><mo>","</mo>
            <msub><mi>"x"</mi><mi>"T"</mi></msub><mo>")"</mo><mo>"="</mo>
            <munderover><mo>"∏"</mo><mrow><mi>"t"</mi><mo>"="</mo><mn>"1"</mn></mrow><mi>"T"</mi></munderover>
            <mi>"p"</mi><mo>"("</mo><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"|"</mo>
            <msub><mi>"x"</mi><mn>"1"</mn></msub><mo>","</mo><mo>"…"</mo><mo>","</mo>
            <msub><mi>"x"</mi><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub><mo>")"</mo>
        </Formula>
        <p>
            "Over texts of all lengths these numbers only add up to 1 because each text ends in an end token. \
             Here a text is a line that is not blank; line breaks are what the end token stands for."
        </p>
        <Formula label="Logits from the row of the last token" source="log-bilinear model, Mnih and Hinton 2007, with one token of context">
            <mi>"p"</mi><mo>"("</mo><msub><mi>"x"</mi><mi>"t"</mi></msub><mo>"|"</mo>
            <msub><mi>"x"</mi><mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow></msub><mo>")"</mo><mo>"="</mo>
            <mi>"softmax"</mi><mo>"("</mo>
            <MathSym part="one-hot" role=Hue::Input>"h"</MathSym>
            <MathSym part="embedding" role=Hue::Weight>"E"</MathSym>
            <mi>"R"</mi><mo>"+"</mo><mi>"b"</mi><mo>")"</mo>
        </Formula>
        <p>
            "h is the one-hot vector of the token before, E is V × d, R is d × V and b has V numbers: all are \
             trained, by AdamW at a rate of 0.02, on 64 windows a step. No layer of this model looks further \
             back than one token."
        </p>
        <p>
            "Byte-pair encoding is Gage's (1994), who merged any two bytes to compress files. Sennrich, Haddow and \
             Birch (2016) merge characters and stay within words; GPT-2 (2019) starts from bytes and lets a \
             space belong to the word after it, as here. A word is a run of letters, of digits or of other \
             signs. Of pairs that are equally frequent the one with the smaller left id is merged first, \
             then the one with the smaller right id. In aaa the pair aa counts once, so the count is exactly \
             what the text gets shorter by. Merging stops when no pair occurs twice, or at 300."
        </p>
        <p>
            "Ids: characters count from 1 in the order of their code points, 0 is the unknown character and the \
             last id the end token. A byte is its own id, 256 the end token, 257 the first merge. Only the first \
             100 kB of a text are used here."
        </p>
        <p>
            "The map shows the rows along the two directions in which they vary most (Pearson 1901), computed \
             exactly from all d numbers; a token weighs as the square root of how often it occurs, so that \
             rare ones do not turn the picture. y counts as a consonant."
        </p>
    }
}
