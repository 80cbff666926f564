//! What the chapter says.

use leptos::prelude::*;
use unroll_protocol::start::Shows;

use crate::{
    course::{Beat, Script, Trial},
    figures::Hue,
    teaching::{Formula, Kind, Names, Quiz, Snippet},
};

pub const SCRIPT: Script = Script {
    before: "Ten minutes, and you don’t need to know any calculus.",
    beats: &[
        Beat {
            title: "",
            text: "To read, a computer must turn words into lists of numbers and calculate with them. \
                   In 1958 Frank Rosenblatt presented the perceptron, which multiplied each number in a list by a \
                   [weight](weight) and added up the results. Every neural network in this course still does that. \
                   Here are the few calculations they all share.\n\n\
                   ! [Drag an arrow](>arrows-picture) to begin.\n\n\
                   + Do you need this chapter?\n\n\
                   You can skip it: in later chapters, the notes on new words lead back here.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A list is an arrow",
            text: "Take a list of two numbers, such as 3 and 1. Go 3 across and 1 up, and draw an arrow there. \
                   The list and the arrow say the same thing, so either is called a **vector**.\n\n\
                   ! [Drag the tips](>arrows-picture) of a and b, and watch the lists.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Adding lists",
            text: "Suppose one list says what a word is, and another, just as long, says where it stands. To say \
                   both with one list, add them, place by place: the sum carries something of both. With arrows this \
                   is a walk: first along a, then along b.\n\n\
                   ! [Drag a tip](>arrows-picture), and watch the sum.\n\n\
                   + What did the first GPT add?\n\n\
                   In the next chapter each piece of text gets a list like these, only longer: its \
                   [embedding](embedding). It says what the piece is. The first GPT added a second list to it, which \
                   says where the piece stands.",
            set: |link| link.start.shows = Shows::Sum,
            asks: &[],
        },
        Beat {
            title: "How much do they agree?",
            text: "This time, multiply place by place and add up the results. This is the **dot product**, or [inner \
                   product](inner-product): {dot} now. It says how much two lists agree, though longer arrows count \
                   for more.\n\n\
                   ! [Turn b](>arrows-picture) away from a: at which angle is the dot product 0? And beyond \
                   that?\n\n\
                   + What is the broad band?\n\n\
                   It is the shadow that b drops straight onto the line of a. Multiply its length by the length of a, \
                   and you have the dot product, with a minus sign if the shadow points away from a.\n\n\
                   The [attention](attention) in a transformer compares lists by their dot products.",
            set: |link| link.start.shows = Shows::Product,
            asks: &["start-flip"],
        },
        Beat {
            title: "Many questions at once",
            text: "A **matrix** is a stack of lists, its rows, drawn as a grid. Each row is an arrow. It \
                   asks how much the input x agrees with it; the answer is their dot product. The answers are the \
                   [matrix product](matrix-product). Training changes the rows’ numbers, the weights.\n\n\
                   ! [Drag x](>matrix-picture), then arrow 2: which answers change?",
            set: |link| link.view = "matrix".into(),
            asks: &[],
        },
        Beat {
            title: "Scores into shares",
            text: "A model scores each letter that may follow “th.” [Softmax](softmax) turns the scores into \
                   shares of one whole, the [probabilities](probability). It raises a fixed number, about 2.72, \
                   to the power of each score, and divides each result by their sum.\n\n\
                   ! “a” has {share} now. [Pull up its score](>shares-picture): what do the others do?\n\n\
                   + Why not keep the scores?\n\n\
                   A score can be any number. To pick a letter at random, we need each letter’s share of one \
                   whole. If you pull one score up, its share grows while all the others shrink.",
            set: |link| link.view = "shares".into(),
            asks: &["start-add", "start-zero"],
        },
        Beat {
            title: "How steep is it?",
            text: "The **slope** says how fast the error, drawn here as height, rises if you turn a weight up a \
                   little. The slopes of all weights are the [gradient](gradient). Nudge w by h, and divide the rise \
                   by h.\n\n\
                   ! [Make h smaller](>slope-picture) and smaller: which number does the result approach?\n\n\
                   + Which number is it?\n\n\
                   The slope at w. On this curve it is 2w, at every w.",
            set: |link| link.view = "slope".into(),
            asks: &[],
        },
        Beat {
            title: "Slopes multiply",
            text: "A model is a chain in which each link feeds the next. Here each link is a straight line, which \
                   multiplies a nudge by its slope. So the chain’s slope is the product of all slopes: the **chain \
                   rule**.\n\n\
                   ! A nudge of 1 comes out as {chain}. [Drag the dots](>chain-picture): when does it grow?\n\n\
                   + How does training use this?\n\n\
                   Training works out these products from the end back to the start, which is called \
                   [backpropagation](backpropagation).",
            set: |link| link.view = "chain".into(),
            asks: &["start-twenty"],
        },
        Beat {
            title: "One step downhill",
            text: "The height here is the [loss](loss), the error of a model with a single weight w. To go down, step \
                   against the slope. A step is the slope times a small number, the [learning rate](learning-rate). \
                   This is **gradient descent**.\n\n\
                   ! Press “One step” a few times: where are the steps long?\n\n\
                   + Where does this method come from?\n\n\
                   In 1847 Augustin-Louis Cauchy described it. Think of a walker in fog, who can’t see the whole \
                   curve: feel which way is up, and step the opposite way.\n\n\
                   Every model that trains in this course takes steps like these, with all its weights at once.",
            set: |link| link.view = "valley".into(),
            asks: &[],
        },
        Beat {
            title: "A hundred steps",
            text: "The walk stops in the nearer valley, although the other is deeper: short steps can’t climb over the \
                   hill between them.\n\n\
                   ! [Drag the start](>valley-picture) or the gray points: where does the walk end now? Then turn up \
                   the rate until the steps jump across \
                   the valley.",
            set: |link| {
                link.view = "valley".into();
                link.start.steps = 100;
            },
            asks: &["start-rate"],
        },
        Beat {
            title: "What you can do now",
            text: "You can see a list of numbers as an arrow, and say what a dot product, a matrix product and softmax \
                   work out. You know what a slope is, why slopes multiply, and how a walk downhill finds a valley.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "These two arrows are at a right angle. Tip b a little toward a, then away. What happens to the \
                   sign of the dot product?",
            label: "Set a right angle",
            id: "right-angle",
            set: |link| {
                link.start.arrows = vec![4.0, 0.0, 0.0, 3.0];
                link.start.shows = Shows::Product;
            },
            sentence: None,
        },
        Trial {
            text: "All scores are 0, so all shares are the same. Raise one score to 1, then to 4. How fast does its \
                   share grow?",
            label: "Set all scores to 0",
            id: "even",
            set: |link| {
                link.view = "shares".into();
                link.start.scores = vec![0.0; 4];
            },
            sentence: None,
        },
        Trial {
            text: "Every link halves the nudge, and after four links one sixteenth is left. Set all slopes to 1.5, and \
                   it grows instead. The chapter “Learning through time” shows what this does to a long memory.",
            label: "Set all slopes to 0.5",
            id: "halves",
            set: |link| {
                link.view = "chain".into();
                link.start.chain = vec![0.5; 4];
            },
            sentence: None,
        },
        Trial {
            text: "With this rate the steps are too long, and the walk does not come to rest. Turn the rate down until \
                   it does. Where does it end?",
            label: "Set a high rate",
            id: "wild",
            set: |link| {
                link.view = "valley".into();
                link.start.valley[6] = 0.6;
                link.start.steps = 40;
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "start-add",
            kind: Kind::Explain,
            asks: "You add 1 to every score, and no share changes. Why?",
            options: &[
                (
                    "The change is too small to see.",
                    "Add 1 to one score alone, and its share changes a lot.",
                ),
                (
                    "Every power grows by the same factor, and so does their sum.",
                    "Adding 1 to a score multiplies its power by 2.72. The sum grows by the same factor, so the \
                     division takes it out again. Only the differences between scores count.",
                ),
                (
                    "Softmax rounds the scores.",
                    "It rounds nothing. Change one score by 0.1, and all the shares move.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "start-zero",
            kind: Kind::FindError,
            asks: "“A letter with a score of 0 gets no share.” What is wrong with this sentence?",
            options: &[
                (
                    "Nothing: a score of zero means a share of zero.",
                    "Look at “o” in the drawing. Its score is 0 at the start, and it has a share.",
                ),
                (
                    "Any number to the power of 0 is 1, so the letter still has a share.",
                    "Right. No score gives a share of 0, not even a negative one. A very low score gives a very small \
                     share.",
                ),
                (
                    "A score of 0 gets the same share as every other score.",
                    "Only where all scores are 0. Otherwise a higher score gets a larger share.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "start-twenty",
            kind: Kind::FindError,
            asks: "“In a chain of twenty links with a slope of 0.8 each, the slope of the whole chain is 20 × 0.8 = \
                   16.” What is wrong with this sentence?",
            options: &[
                (
                    "Slopes are multiplied together: 0.8 to the power of 20 is about 0.01.",
                    "Right. Each link keeps 0.8 of what it gets, so after twenty links only about one hundredth is \
                     left. When slopes are below 1, long chains are hard to train.",
                ),
                (
                    "The slope of the whole chain is that of the last link, 0.8.",
                    "Then the other nineteen links would change nothing. Move slope 1 in the drawing and watch the end.",
                ),
                (
                    "The slope of the whole chain is the average, 0.8.",
                    "Slopes are multiplied, not averaged. Set all four in the drawing to 0.8, and watch the end.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "start-rate",
            kind: Kind::Explain,
            asks: "With a high learning rate the walk may jump from side to side and never come to rest. Why?",
            options: &[
                (
                    "A high rate makes the curve steeper, so the walk rolls faster.",
                    "The curve stays as it is. The rate only says how long a step is.",
                ),
                (
                    "Noise is added to each step.",
                    "Nothing in this walk is left to chance: the same start and the same rate give the same steps.",
                ),
                (
                    "Each step is so long that it lands on the far side.",
                    "Right. There, downhill points back, so the next long step jumps back. With a low enough rate, \
                     each step ends lower.",
                ),
            ],
            right: 2,
        },
    ],
};

/// The drawings' names in code.
pub const NAMES: Names = &[
    ("a", "a", Hue::Query),
    ("b", "b", Hue::Key),
    ("dot", "dot", Hue::Output),
    ("x", "x", Hue::Input),
    ("y", "y", Hue::Output),
    ("s", "s", Hue::Weight),
    ("p", "p", Hue::Output),
    ("w", "w", Hue::Input),
    ("slope", "slope", Hue::Gradient),
];

pub fn more() -> AnyView {
    view! {
        <Formula label="The dot product of two lists" source="∑ (sigma) says: add up over all i. The lengths of a and b, times the cosine of the angle θ (theta) between them, come to the same">
            <mi>"a"</mi><mo>"·"</mo><mi>"b"</mi><mo>"="</mo>
            <munder><mo>"∑"</mo><mi>"i"</mi></munder>
            <msub><mi>"a"</mi><mi>"i"</mi></msub><msub><mi>"b"</mi><mi>"i"</mi></msub>
            <mo>"="</mo>
            <mrow><mo>"‖"</mo><mi>"a"</mi><mo>"‖"</mo></mrow>
            <mrow><mo>"‖"</mo><mi>"b"</mi><mo>"‖"</mo></mrow>
            <mi>"cos"</mi><mi>"θ"</mi>
        </Formula>
        <Snippet of=include_str!("code/dot.py") names=NAMES/>
        <Formula label="The product of a matrix and a list" source="one dot product for each row i">
            <msub><mi>"y"</mi><mi>"i"</mi></msub><mo>"="</mo>
            <munder><mo>"∑"</mo><mi>"j"</mi></munder>
            <msub><mi>"W"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><msub><mi>"x"</mi><mi>"j"</mi></msub>
        </Formula>
        <Snippet of=include_str!("code/matrix.py") names=NAMES/>
        <Formula label="Softmax" source="from Boltzmann’s physics of 1868; the name is from Bridle 1990">
            <msub><mi>"p"</mi><mi>"i"</mi></msub><mo>"="</mo>
            <mfrac>
                <msup><mi>"e"</mi><msub><mi>"s"</mi><mi>"i"</mi></msub></msup>
                <mrow>
                    <munder><mo>"∑"</mo><mi>"j"</mi></munder>
                    <msup><mi>"e"</mi><msub><mi>"s"</mi><mi>"j"</mi></msub></msup>
                </mrow>
            </mfrac>
        </Formula>
        <Snippet of=include_str!("code/softmax.py") names=NAMES/>
        <Formula label="The slope of a curve at a place" source="what rise over run comes to as the nudge h goes to 0">
            <mfrac><mrow><mi>"d"</mi><mi>"f"</mi></mrow><mrow><mi>"d"</mi><mi>"w"</mi></mrow></mfrac>
            <mo>"="</mo>
            <munder><mo>"lim"</mo><mrow><mi>"h"</mi><mo>"→"</mo><mn>"0"</mn></mrow></munder>
            <mfrac>
                <mrow>
                    <mi>"f"</mi><mo>"("</mo><mi>"w"</mi><mo>"+"</mo><mi>"h"</mi><mo>")"</mo><mo>"−"</mo>
                    <mi>"f"</mi><mo>"("</mo><mi>"w"</mi><mo>")"</mo>
                </mrow>
                <mi>"h"</mi>
            </mfrac>
        </Formula>
        <Snippet of=include_str!("code/slope.py") names=NAMES/>
        <Formula label="The chain rule for two links">
            <mfrac><mrow><mi>"d"</mi><mi>"z"</mi></mrow><mrow><mi>"d"</mi><mi>"x"</mi></mrow></mfrac>
            <mo>"="</mo>
            <mfrac><mrow><mi>"d"</mi><mi>"z"</mi></mrow><mrow><mi>"d"</mi><mi>"y"</mi></mrow></mfrac>
            <mo>"·"</mo>
            <mfrac><mrow><mi>"d"</mi><mi>"y"</mi></mrow><mrow><mi>"d"</mi><mi>"x"</mi></mrow></mfrac>
        </Formula>
        <Snippet of=include_str!("code/chain.py") names=NAMES/>
        <Formula label="A step of gradient descent" source="Cauchy 1847; η (eta) is the learning rate, L the loss">
            <mi>"w"</mi><mo>"←"</mo><mi>"w"</mi><mo>"−"</mo><mi>"η"</mi>
            <mfrac><mrow><mi>"d"</mi><mi>"L"</mi></mrow><mrow><mi>"d"</mi><mi>"w"</mi></mrow></mfrac>
        </Formula>
        <Snippet of=include_str!("code/descent.py") names=NAMES/>
        <p>
            "The curve in the drawing of slopes is f(w) = w², whose slope is 2w. The curve of the walk is a smooth \
             line through the five gray points (Catmull and Rom 1974). Beyond the outer points it goes straight on. \
             Its slope is worked out exactly, not measured."
        </p>
        <p>
            "Most models in this course take better steps than these. They keep a running average of the gradient. They \
             also divide each weight’s step by the usual size of its gradient (Adam, Kingma and Ba 2015)."
        </p>
    }
    .into_any()
}
