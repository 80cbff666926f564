//! What the chapter says.

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

pub const SCRIPT: Script = Script {
    before: "Everything so far, in one machine.",
    beats: &[
        Beat {
            title: "",
            text: "{begins}\n\n\
                   It is a [language model](language-model): it reads text in pieces called [tokens](token), and \
                   guesses the next one. In training it sees what really came, and learns from its surprise.\n\n\
                   {way-in}\n\n\
                   + What do “GPT” and “real word” mean?\n\n\
                   In 2018 Radford and others trained such a model on thousands of books, which prepared it for \
                   many other tasks. Hence the name: GPT is short for generative [pre-trained](pre-training) \
                   transformer.\n\n\
                   Here a word is real, and marked, if it occurs in the text that the model learns from. The \
                   percentage is the share of such words in what you see. Such a word lights up if the text \
                   before did not have it.",
            set: |link| link.view = "writing".into(),
            asks: &[],
        },
        Beat {
            title: "Where it looks",
            text: "Before it guesses, the model looks back and gathers what may help. This is \
                   [attention](attention). In the square, rows (queries) look at columns (keys). An untrained model \
                   looks at all of them nearly equally; training changes that.\n\n\
                   ! {untrained}[Point at a token](>probe-input): the arcs show how much it looks at itself and each earlier \
                   one.",
            set: |_| {},
            asks: &["gpt-sure"],
        },
        Beat {
            title: "What comes next",
            text: "What comes next is rarely certain, so the model gives each possible token a share, its \
                   [probability](probability). A token is a single character, unless you choose others. All shares \
                   add up to 1, or 100%. Together they are a **distribution**, drawn here as bars.\n\n\
                   ! {untrained}[Point at tokens](>probe-input): where is the first bar longest?",
            set: |link| link.view = "next".into(),
            asks: &["gpt-next"],
        },
        Beat {
            title: "Many heads at once",
            text: "Each [head](head) looks in its own way, and no one tells it how. It may look for the token \
                   before, the start of the word, or the last space.\n\n\
                   ! Train, then search for a head with such a job.",
            set: |link| link.view = "heads".into(),
            asks: &[],
        },
        Beat {
            title: "What one step learns from",
            text: "Each training step takes a few stretches of text from random places: a [batch](batch). Each row \
                   is one stretch, as long as the [context window](context-window): the [block size](block-size). \
                   The stronger a cell’s color, the more probable the model found the next token.\n\n\
                   ! Train for a minute: where in a row is the [loss](loss) curve highest?\n\n\
                   + How many examples are in a row?\n\n\
                   At every token the model has to guess the next one, so a row holds as many examples as it has \
                   tokens. Press a row to read them.",
            set: |link| link.view = "batch".into(),
            asks: &["gpt-position"],
        },
        Beat {
            title: "How it learns",
            text: "The loss is the model’s average surprise at the tokens that really come next. Each step moves \
                   all [weights](weight) a little, so that the same batch would surprise it less. The test is \
                   the [held-out](held-out) text, which it never trains on.\n\n\
                   ! {untrained}[Drag the handle](>time-track) on the curve below the figure to see any earlier moment.\n\n\
                   + Can it learn its text too well?\n\n\
                   If the training loss falls but the held-out loss rises, the model is learning accidents of \
                   its text. This is [overfitting](overfitting).",
            set: |link| link.view = "loss".into(),
            asks: &[],
        },
        Beat {
            title: "How it writes",
            text: "It draws one token from its distribution, puts it after the text, and reads again. So it reads \
                   its own writing: it is [autoregressive](autoregressive), and one odd choice can lead it astray. \
                   It sees only what fits into its context window, and forgets anything earlier.",
            set: |link| link.view = "writing".into(),
            asks: &["gpt-write", "gpt-which"],
        },
        Beat {
            title: "The same machine, larger",
            text: "Yours has {weights} thousand [parameters](parameter). GPT-3 (2020) has 175 billion, reads \
                   pieces of words, and learned from far more text. Yet the plan is the same: a \
                   [decoder-only](decoder-only) transformer. You can even open GPT-2 here: “Model file” is in \
                   the settings, at the upper right (on a phone, behind “⋯”).",
            set: |_| {},
            asks: &["gpt-size"],
        },
        Beat {
            title: "What you can do now",
            text: "You can say what a GPT does: it looks back, bets on what comes next, and learns from its \
                   surprise. Each part of it has a chapter of its own in this course.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "The twin reads byte pairs: pieces of words that it finds in the text. Train both. Which of the two \
                   writes whole words first? The [view “Loss”](@loss) gives the twin’s loss per character.",
            label: "Add a twin that reads byte pairs",
            id: "pairs",
            set: |link| {
                link.view = "writing".into();
                link.twin = "tokens:pairs".into();
            },
            sentence: None,
        },
        trial(
            "copy",
            "Press the text’s name, at the upper right (on a phone, “⋯” and “Text”), and choose Brackets. Train for a minute. In a line such as nokq|nokq the second half repeats the first. Look in \
             layer 2 for a second line beside the diagonal, where each letter looks at what came after it the last \
             time.",
        ),
        Trial {
            text: "Which head does your sentence need most? Train for a minute, press “Switch heads off”, and switch off \
                   one head. The line above the heads says how the loss changes. Switch it back on, and try the next. \
                   Then switch all of them off: what happens to the text it writes?",
            label: "Show all heads",
            id: "off",
            set: |link| link.view = "heads".into(),
            sentence: None,
        },
        trial(
            "rate",
            "Open the settings, at the upper right (on a phone, “⋯” and “Model”). While it trains, type 3 as the learning rate, then 0.005. Does it relearn what it lost?",
        ),
        Trial {
            text: "The twin learns the same text, but from another seed: other random numbers. Train both. Do the same \
                   heads learn the same jobs?",
            label: "Add a twin from another seed",
            id: "seed",
            set: |link| {
                link.view = "heads".into();
                link.twin = "seed:2".into();
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "gpt-next",
            kind: Kind::FindError,
            asks: "“A GPT works out which token comes next.” What is wrong?",
            options: &[
                (
                    "It works out the whole next word, and writes that word token by token.",
                    "It looks only one token ahead, and even that one it does not settle on.",
                ),
                (
                    "It gives every token a probability. Only then is one token drawn.",
                    "The distribution is all that the model computes. How to choose from it is another \
                     matter.",
                ),
                (
                    "Nothing is wrong.",
                    "Look at the bars: nothing is settled. Each token it knows has a share.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "gpt-position",
            kind: Kind::Explain,
            asks: "Why is the loss higher at the first tokens of a row?",
            options: &[
                (
                    "The model has seen less before them.",
                    "At the first one it has seen a single token. At the last it has seen the whole row.",
                ),
                (
                    "Those positions are trained less.",
                    "Every row fills every position, so each one is trained equally often.",
                ),
                (
                    "Every row starts at the beginning of a sentence.",
                    "A row can begin anywhere in the text. Most begin in the middle of a word.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "gpt-write",
            kind: Kind::Explain,
            asks: "It reads all tokens at once. Why does it write them one at a time?",
            options: &[
                (
                    "Writing all at once would need more memory than the tab can give it.",
                    "It writes with the same weights that it reads with. Memory is not the reason.",
                ),
                (
                    "So that you can watch.",
                    "It would write one at a time even if no one were watching.",
                ),
                (
                    "Each guess needs the tokens before it to be chosen first.",
                    "When it reads, all tokens are there already. When it writes, the last one has only just \
                     been drawn.",
                ),
            ],
            right: 2,
        },
    ],
};

/// An experiment with nothing to set up.
const fn trial(id: &'static str, text: &'static str) -> Trial {
    Trial { text, label: "", id, set: |_| {}, sentence: None }
}

/// The script without what is shown once the first picture is there.
pub const FIRST: Script = Script { quizzes: &[], tries: &[], ..SCRIPT };
/// The same for who has seen no other chapter: there is no “so far”.
pub const LANDING: Script =
    Script { before: "A small language model learns to write while you watch.", ..FIRST };
/// What heads it: what the page promises.
pub const PROMISE: &str = "From noise to words, in this tab";
