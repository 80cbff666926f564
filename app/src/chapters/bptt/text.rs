//! The chapter's words.

use unroll_protocol::{
    Link,
    study::bptt::{LossKind, Shown},
};

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

/// A nudge so early that its ripple has all the room to die.
fn early_nudge(link: &mut Link) {
    link.view = super::NUDGE.into();
    link.bptt.step = 3;
}

/// One so late that its slope is not lost in rounding; what is asked is of an earlier step.
fn late_nudge(link: &mut Link) {
    link.view = super::NUDGE.into();
    link.bptt.step = 22;
}

pub const SCRIPT: Script = Script {
    before: "The last chapter ran a network forward through time, but did not say how it learns which early step \
             mattered for a late answer.",
    beats: &[
        Beat {
            title: "",
            text: "Early recurrent neural networks (RNNs) soon forgot what they had read. In 1991 a student, Sepp Hochreiter, \
                   worked out why.\n\n\
                   Here an RNN reads a capital letter and must name it at the “?”:\n\n\
                   {example}\n\n\
                   At step 3, one number of its state is raised. A ripple runs right.\n\n\
                   ! [Press a square](>bptt-ripple-cells) in step {late}: which ripple reaches the “?”?",
            set: early_nudge,
            asks: &[],
        },
        Beat {
            title: "Which step is to blame?",
            text: "Suppose the answer is wrong: which earlier step should change? You raised one number of the state \
                   by 0.01, a small nudge. Beside the squares you see how that changed the loss. Divide this change \
                   by the nudge, and you have a **slope**.\n\n\
                   ! [Press another square](>bptt-ripple-cells), and read its [measured slope](>bptt-nudged).\n\n\
                   + Does backpropagation agree with your slope?\n\n\
                   Your slope says how fast the loss at the “?” changes with this one number. Below it stands \
                   the slope that backpropagation gives. For a small nudge the two agree. Drag the nudge up to \
                   1, and they come apart, because the loss follows a curve and not a straight line.\n\n\
                   A square’s color says how far its unit has moved, divided by the nudge. Each mark on the scale \
                   is ten times the last.",
            set: late_nudge,
            asks: &["bptt-nudge"],
        },
        Beat {
            title: "All slopes in one sweep",
            text: "By hand, each slope takes its own run: {slopes} runs here. [Backpropagation through \
                   time](bptt) finds them all in one sweep from right to left, the **backward pass**. All slopes of \
                   one step are its [gradient](gradient). The curve shows the gradient’s length.\n\n\
                   ! Follow the curve left to the dotted line: how much reaches the letter?\n\n\
                   + How do I read this curve?\n\n\
                   The length says how large the gradient with respect to a state is overall. The scale is \
                   logarithmic: equal steps down mean the same factor. What each step adds to the gradient of one \
                   weight is in the [view “Weights,”](@weight) and what a sweep has to keep in [“Storage”](@memory).",
            set: |link| link.bptt.shown = Shown::Rnn,
            asks: &["bptt"],
        },
        Beat {
            title: "The way back is a product",
            text: "Each step back multiplies the gradient by tanh’s slopes and by [U](#recurrent weight), the weights \
                   from state to state. If each step leaves 70%, thirty leave about 0.002%: a [vanishing \
                   gradient](vanishing-gradient). While it is this small, it teaches almost nothing. {rnn-now}\n\n\
                   ! Below the table, compare [the rule of thumb](>bptt-in-words) with what is measured: do they \
                   agree?\n\n\
                   + Why does a ripple fade?\n\n\
                   Each step does two things to a ripple: U mixes the units, and tanh flattens the result. \
                   Together they are the step’s [Jacobian](jacobian): U, each row times the slope of tanh at its \
                   unit. Going forward, each step multiplies a small ripple by this matrix. On the way back, the \
                   gradient is multiplied by the same matrices, from last to first.",
            set: |link| {
                link.bptt.shown = Shown::Rnn;
            },
            asks: &["bptt-blame"],
        },
        Beat {
            title: "A healthy curve can mislead",
            text: "Now every step from the letter on has its own loss, so the curve looks healthy. But only the \
                   dashed curve comes back from the “?”. {part-now} Where it vanishes, a network learns little from \
                   the far past.\n\n\
                   ! [Switch the loss](>control-bptt-loss) to the last step: which curve is left?",
            set: |link| {
                link.bptt.shown = Shown::Rnn;
                link.bptt.loss = LossKind::Every;
            },
            asks: &[],
        },
        Beat {
            title: "It can also explode",
            text: "The dotted curve belongs to a copy of the RNN with a rescaled U. The size of this U, its [spectral \
                   radius](spectral-radius), is {radius}. Above 1, the gradient can [explode](exploding-gradient). So \
                   [clipping](gradient-clipping) shortens a gradient that is too long.\n\n\
                   ! [Drag the radius](>control-bptt-radius) up to 4, then down: well below 1, the gradient dies.\n\n\
                   + What is the spectral radius?\n\n\
                   Apply U to a ripple again and again, without tanh. The length may jump up and down. But over \
                   many steps it changes, on average, by one factor per step: U’s spectral radius.\n\n\
                   A larger U also drives tanh into its flat ends: its mean slope, beside the curve, falls. That \
                   counters growth. Near radius 1, the gradient can go either way. The [view “Clipping”](@clipping) shows how often training \
                   clips.",
            set: |link| {
                link.bptt.shown = Shown::Rnn;
                link.bptt.rescale = true;
                // Here it explodes, with the untrained networks, too.
                link.bptt.radius = 2.5;
            },
            asks: &["bptt-clip"],
        },
        Beat {
            title: "A second way back",
            text: "The [LSTM](lstm) and [GRU](gru) are newer networks. The LSTM has a second memory, the \
                   [cell](#cell cell). Straight back along it, each step multiplies the gradient by a gate, a number \
                   from 0 to 1. A forget bias of 3 starts this gate near 1. {along-open}\n\n\
                   ! [Choose “All three”](>control-bptt-shown): which curve stays highest at the letter?\n\n\
                   + Can the gradient grow along the cell?\n\n\
                   This gate, the forget gate, can’t make the gradient grow: it is at most 1. But what comes through the state is added at each step. So the factor per \
                   step, shown beside the curve, can be larger than the gate, even above 1. Each unit of the cell has \
                   a forget gate of its own.",
            set: |link| {
                link.bptt.shown = Shown::Lstm;
                link.bptt.forget_bias = 3.0;
            },
            asks: &["bptt-cell"],
        },
        Beat {
            title: "A gate that is half open forgets too",
            text: "A bias sets how open the forget gates start. At 0, as here, they are half open. Thirty halves, \
                   multiplied, make about one billionth. So a bias of 1 is common.\n\n\
                   ! Read “LSTM cell” at the dotted line: how much is left?\n\n\
                   + Is it more than a billionth?\n\n\
                   {along-half} Any excess came through the state, or through gates that training opened.",
            set: |link| {
                link.bptt.shown = Shown::Lstm;
                link.bptt.forget_bias = 0.0;
            },
            asks: &[],
        },
        Beat {
            title: "Who remembers how far?",
            text: "How often does each model name the right letter? The gap counts the letters in \
                   between. {accuracy} A tiny share of the gradient can grow in training.\n\n\
                   ! {prove} Compare the three at the longest gap.\n\n\
                   + Can a gradient of almost 0 teach anything?\n\n\
                   Hardly, while it is so small. But each share is a snapshot, and training changes it. Short gaps are \
                   usually learned first, and that can let more come back. Train, and look at the \
                   [view “Gradient”](@norms) now and then: whose share stays, and whose jumps up and down?",
            set: |link| link.view = super::ACCURACY.into(),
            asks: &["bptt-near"],
        },
        Beat {
            title: "What you can do now",
            text: "You can measure a slope by hand, and say what backpropagation saves you. You can read a \
                   gradient plot. You can say why a product of many factors can vanish or explode, and why an \
                   LSTM’s cell and forget bias help. The next chapter opens the gates.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Train to step 1000, and watch the RNN’s curve. Does it still die, or does it jump up and down? U’s spectral radius is {own-radius} now. A gradient that is long at one step of \
                   training and gone at the next teaches little: look at the RNN’s accuracy.",
            label: "Show all three",
            id: "start",
            set: |_| {},
            sentence: None,
        },
        Trial {
            text: "Drag the radius from 0 up to 4, at training step 50 and again at step 600 or later. Does a larger \
                   radius always mean more gradient? (The radius is the size of U’s \
                   largest [eigenvalue](eigenvalue).)",
            label: "RNN, U rescaled to 1.5",
            id: "radius",
            set: |link| {
                link.bptt.shown = Shown::Rnn;
                link.bptt.rescale = true;
                link.bptt.radius = 1.5;
            },
            sentence: None,
        },
        Trial {
            text: "Start the LSTM with forget bias 0 and train it. Can it still learn the task? Watch what its forget \
                   gates do as it trains.",
            label: "LSTM with forget bias 0",
            id: "bias",
            set: |link| {
                link.bptt.forget_bias = 0.0;
                link.bptt.shown = Shown::Lstm;
            },
            sentence: None,
        },
        Trial {
            text: "Cut the way back into pieces of 16 steps, which is called truncated \
                   [backpropagation](backpropagation). Then no gradient from the “?” reaches a letter 30 steps before \
                   it. Train 1000 steps: does any network recall such a letter anyway?",
            label: "Truncate to 16",
            id: "truncate",
            set: |link| {
                link.view = super::ACCURACY.into();
                link.bptt.truncation = 16;
            },
            sentence: None,
        },
        Trial {
            text: "Train 1500 steps with gaps of at most 8. Was it the RNN that failed, or the distance?",
            label: "Gaps up to 8",
            id: "gaps",
            set: |link| {
                link.view = super::ACCURACY.into();
                link.bptt.gap = 8;
                link.bptt.length = 10;
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "bptt-blame",
            kind: Kind::Explain,
            asks: "Why does a vanishing gradient keep an RNN from learning the letter?",
            options: &[
                (
                    "The letter’s step has weights of its own, and those weights never change.",
                    "All steps share the same weights, and these do change. But the letter’s step has next to no say \
                     in how.",
                ),
                (
                    "Training hears almost nothing of what that step should change.",
                    "A weight’s gradient is a sum over all steps. The letter’s step adds far less to it than the last \
                     few steps do.",
                ),
                (
                    "The loss at the last step is too small.",
                    "The loss is large while the answer is a guess. What shrinks is the gradient, on its way back to \
                     the letter.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "bptt-clip",
            kind: Kind::FindError,
            asks: "“Gradient clipping cures both: the exploding and the vanishing gradient.” What is wrong?",
            options: &[
                (
                    "Clipping only shortens. It can’t bring back a vanished gradient.",
                    "Clipping scales a long gradient down to a limit. What is already short stays as it is.",
                ),
                (
                    "Clipping cures the vanishing gradient, but does nothing for the exploding one.",
                    "It is the other way around: clipping can only make a gradient shorter.",
                ),
                (
                    "Nothing. It cures both.",
                    "Clipping never makes a gradient longer, so it can’t help where almost nothing arrives.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "bptt-cell",
            kind: Kind::Explain,
            asks: "Why can the gradient last longer along the cell than along the RNN’s state?",
            options: &[
                (
                    "The LSTM has more weights.",
                    "It has about four times as many, but a step straight back along the cell does not multiply by \
                     any of them.",
                ),
                (
                    "The cell has no tanh in it anywhere, so nothing can shrink a gradient.",
                    "There is a tanh where something is added to the cell. The way back along the cell does \
                     not pass through it, but a low forget gate can still shrink the gradient.",
                ),
                (
                    "Each step back multiplies by a gate that can stay near 1.",
                    "A factor of 0.99 leaves three quarters after thirty steps. A factor of 0.5 leaves a billionth.",
                ),
            ],
            right: 2,
        },
    ],
};
