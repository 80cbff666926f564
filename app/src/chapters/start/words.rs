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
            text: "A computer can easily check whether two words are spelled alike, but not whether they mean \
                   something similar. For that, words must become numbers. In 1958 Frank Rosenblatt presented the \
                   perceptron, which multiplied each number in a list by a weight and added up the results. Every \
                   neural network in this course still does that, with longer lists.\n\n\
                   Here are the few calculations that they all share. Each is a drawing that you can move by hand, \
                   with the mouse, a finger or the sliders. You can skip this chapter: in later ones, the notes on new \
                   words lead back here.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "A list is an arrow",
            text: "What does a list of numbers look like? Take two, such as 3 and 1: go 3 across and 1 up, and draw an \
                   arrow to that place. The list and the arrow say the same thing, so both are called a **vector**.\n\n\
                   Drag the tips of a and b, and watch the lists. In the next chapter each piece of text gets a list \
                   like these, its [embedding](embedding), only longer.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Adding lists",
            text: "How can one list say two things at once? Add two lists of the same length, place by place. With \
                   arrows this is a walk: first along a, then along b.\n\n\
                   The sum carries something of both. The first GPT used it for each piece of text, adding two lists: \
                   one says what the piece is, the other says where it stands.",
            set: |link| link.start.shows = Shows::Sum,
            asks: &[],
        },
        Beat {
            title: "How much do they agree?",
            text: "This time, multiply place by place and add up the results. This is the **dot product**, or \
                   [inner product](inner-product), and it is {dot} now.\n\n\
                   Keep b about as long as it is and turn it toward a, and the number grows. Turn it away, and the \
                   number shrinks: at a right angle it is 0, and beyond that it is negative. So one number says how \
                   much two lists agree, though longer arrows count for more.\n\n\
                   The broad band is the shadow that b drops straight onto the line of a. Multiply its length by the \
                   length of a, and you have the dot product, with a minus sign if the shadow points away from a. The \
                   [attention](attention) in a transformer compares lists in this way.",
            set: |link| link.start.shows = Shows::Product,
            asks: &["start-flip"],
        },
        Beat {
            title: "Many questions at once",
            text: "A dot product gives one answer. Stack many lists as the rows of a **matrix**, take the dot product \
                   of each row with one input x, and you get as many answers as there are rows. This is a [matrix \
                   product](matrix-product), and a model spends most of its time on it.\n\n\
                   Drag x, and the answers change. Drag the tip of arrow 2, and only the second answer changes, \
                   because each row asks the input its own question. The numbers in the rows are called \
                   [weights](weight), and they are what training changes.",
            set: |link| link.view = "matrix".into(),
            asks: &[],
        },
        Beat {
            title: "Scores into shares",
            text: "What comes after “th”? A model answers with a score for each letter, and a score can be any number. \
                   To pick a letter at random, we need each letter’s share of one whole. The drawing shows \
                   four letters.\n\n\
                   [Softmax](softmax) turns scores into shares. It raises a fixed number, about 2.72, to the power of \
                   each score, and divides each result by their sum. Now each letter has a [probability](probability). \
                   The letter “a” has a share of {share}: pull its score up, and its share grows while all the others \
                   shrink.",
            set: |link| link.view = "shares".into(),
            asks: &["start-add", "start-zero"],
        },
        Beat {
            title: "How steep is it?",
            text: "Training asks the same thing about every weight: if you turn it up a little, how fast does the \
                   error rise? The answer is the **slope**. In the drawing, the height is the error.\n\n\
                   You can measure it. Move w to the right by a small nudge h, see how much the height changes, and \
                   divide this rise by the nudge. Now make the nudge smaller and smaller: the result comes closer and \
                   closer to the slope. A model has one slope for each of its weights, and the list of all of them is \
                   the [gradient](gradient).",
            set: |link| link.view = "slope".into(),
            asks: &[],
        },
        Beat {
            title: "Slopes multiply",
            text: "A model is a chain in which each link feeds the next. If you nudge the start, what arrives at the \
                   end? Here every link is a straight line, so even a large nudge works. Nudge the start by 1: link 1 \
                   multiplies the nudge by its slope, link 2 multiplies the result by its own, and so on.\n\n\
                   So the slope of the whole chain is the product of all its slopes: the **chain rule**. Training \
                   works out these products from the end back to the start, which is called \
                   [backpropagation](backpropagation). Drag the dot at the end of a line to change its slope. A nudge \
                   of 1 now comes out as {chain}.",
            set: |link| link.view = "chain".into(),
            asks: &["start-twenty"],
        },
        Beat {
            title: "One step downhill",
            text: "Let the height of this curve be the [loss](loss), the error of a model with a single weight w. We \
                   want to go down, but how, without seeing the whole curve? In 1847 Augustin-Louis Cauchy described a \
                   way. Think of a walker in fog: feel which way is up, and step the opposite way.\n\n\
                   The step is the slope times a small number, the [learning rate](learning-rate), so steep ground \
                   gives a long step and level ground gives none. Press “One step” a few times.",
            set: |link| link.view = "valley".into(),
            asks: &[],
        },
        Beat {
            title: "A hundred steps",
            text: "The walk stops in the nearer valley, although the other is deeper: with short steps it can’t climb \
                   over the hill between them.\n\n\
                   Drag the start to another place: where does the walk end now? Drag the gray points to build a curve \
                   of your own, then turn up the rate until the steps jump across the valley. Every model that trains \
                   in this course takes steps like these, with all its weights at once.",
            set: |link| {
                link.view = "valley".into();
                link.start.steps = 100;
            },
            asks: &["start-rate"],
        },
        Beat {
            title: "What you can do now",
            text: "You can see a list of numbers as an arrow, and say what a dot product, a matrix product and softmax \
                   work out. You know what a slope is, why slopes multiply, and how a walk downhill finds a valley. \
                   That is enough to start: the rest is explained where you need it.",
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
                    "A high rate makes the curve steeper.",
                    "The curve stays as it is. The rate only says how long a step is.",
                ),
                (
                    "Noise is added to each step.",
                    "Nothing in this walk is left to chance: the same start and the same rate give the same steps.",
                ),
                (
                    "The step is so long that it lands on the far side of the valley, often as high as before.",
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
