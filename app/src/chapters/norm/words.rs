//! The chapter's words.

use unroll_protocol::study::norm::{Axis, Experiment, Statistics};

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

pub const SCRIPT: Script = Script {
    before: "Reading both ways helps. But through many layers, the numbers soon get too large or too small to learn \
             from.",
    beats: &[
        Beat {
            title: "",
            text: "When sums grow from layer to layer, tanh units stick near 1 or −1, and training stalls. \
                   [Normalization](normalization) keeps sums in range: subtract a mean, divide by a spread. Ioffe and \
                   Szegedy did this in 2015, and every block of a GPT does too. But the mean of which numbers?\n\n\
                   ! Press “Sweep”: x becomes y. Which reaches farther from 0?",
            set: |link| link.norm.row = 0,
            asks: &[],
        },
        Beat {
            title: "Does it help?",
            text: "Three copies of a six-layer network learn to guess the next character, with the same first \
                   weights and batches. These weights are too large on purpose, so that training is hard. One copy is \
                   plain. The others use one answer each: BatchNorm or LayerNorm.\n\n\
                   ! At the last step, how far behind is the plain network?\n\n\
                   + How much did it help in 2015?\n\n\
                   One of Ioffe and Szegedy’s image models then reached the same accuracy in a fourteenth of \
                   the steps.",
            set: |link| (link.norm.row, link.view) = (0, "losses".into()),
            asks: &["norm-loss"],
        },
        Beat {
            title: "Stuck at the limit",
            text: "When its sum is far from 0, a [tanh](tanh) unit is stuck near 1 or −1, where its slope is \
                   almost 0. It is **saturated**: hardly any [gradient](gradient) passes, and the weights \
                   nearer the input hardly learn.\n\n\
                   The histograms show the units’ outputs, their [activations](activation).\n\n\
                   ! Where do the plain network’s outputs (“without”) pile up?\n\n\
                   + What pushes the sums so far from 0?\n\n\
                   Choosing the weights that a network starts with is called [initialization](initialization). \
                   Here they are too large, like a microphone turned up too far: every sound becomes the same \
                   roar.",
            set: |link| link.view = "depth".into(),
            asks: &["norm-stuck"],
        },
        Beat {
            title: "BatchNorm averages each feature over the batch",
            text: "Each row is an example, and each column a **feature**: the sums [x](#x input) of one unit. \
                   BatchNorm subtracts a column’s mean μ over the [batch](batch) and divides by its \
                   [spread](standard-deviation) σ.\n\n\
                   ! Press “Next mean”: how many cells of [y](#y output) does one mean fill?\n\n\
                   + Why should that help?\n\n\
                   While a network learns, each layer’s inputs shift, because the layers below it change. BatchNorm’s \
                   authors called this [internal covariate shift](internal-covariate-shift), and meant to reduce it. \
                   But in later tests this did not turn out to be why BatchNorm helps.",
            set: |link| (link.norm.row, link.norm.sweep) = (0, 5),
            asks: &["norm-shift"],
        },
        Beat {
            title: "LayerNorm averages each example over its features",
            text: "In 2016 Ba, Kiros and Hinton gave the other answer: LayerNorm goes along a row. It needs no other \
                   example, so it works even with a batch of one. GPTs use this one. The x here is from \
                   LayerNorm’s network.\n\n\
                   ! Press “All,” then a cell of y: whose numbers make up its μ?",
            set: |link| (link.norm.axis, link.norm.row, link.norm.sweep) = (Axis::Layer, 0, 5),
            asks: &[],
        },
        Beat {
            title: "A batch couples its examples",
            text: "When an exam is graded on a curve, one brilliant student changes everyone’s grade. BatchNorm grades \
                   like that: all examples share each column’s mean and spread. Here example 2 is multiplied by 3.\n\n\
                   ! Look beside y: which other row moves most? [Press another row](>norm-input): still that one?",
            set: |_| {},
            asks: &["norm"],
        },
        Beat {
            title: "LayerNorm does not couple them",
            text: "Now LayerNorm does the grading. Every row has a mean and a spread of its own, so the other rows \
                   move by exactly 0.\n\n\
                   ! And the pressed row: how far does its output move, now that its x is 3 times as large?",
            set: |link| link.norm.axis = Axis::Layer,
            asks: &["norm-scale"],
        },
        Beat {
            title: "After training there may be no batch",
            text: "Your answer should not depend on who else is asking, and there may be nobody else. So in training \
                   BatchNorm keeps a running average of each feature’s mean and variance, the spread squared. At \
                   [inference](inference) it uses these fixed numbers.\n\n\
                   ! Choose “In training,” then “At inference” again: which rows stop moving?\n\n\
                   + And what does LayerNorm do?\n\n\
                   It needs no fixed numbers: it works the same way in training and at inference. BatchNorm with its \
                   fixed numbers only scales and shifts each feature.",
            set: |link| link.norm.statistics = Statistics::Running,
            asks: &["norm-inference"],
        },
        Beat {
            title: "γ and β can undo it",
            text: "Mean 0 and spread 1 are not always best, so the model learns a scale γ and an offset β for each \
                   feature. Here γ is each feature’s spread and β its mean, so y is x again, up to rounding.\n\n\
                   ! Now choose LayerNorm: how close to x can y come?\n\n\
                   + What is wrong with mean 0 and spread 1?\n\n\
                   Near 0, tanh is almost a straight line, and a network of straight lines can’t do much. If the \
                   numbers were best before they were normalized, the model can learn to bring them back.",
            set: |link| (link.norm.row, link.norm.undo) = (0, true),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can say what BatchNorm and LayerNorm average over, which examples depend on each other, and \
                   what changes at inference. You can say what the scale γ and the offset β are for. In the next \
                   chapter one RNN reads, and another writes.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Under LayerNorm, multiply a row by 8. The other rows stay put, of course. How far does the pressed \
                   row itself move?",
            label: "Multiply a row by 8",
            id: "scale",
            set: |link| (link.norm.axis, link.norm.factor) = (Axis::Layer, 8.0),
            sentence: None,
        },
        Trial {
            text: "Take a batch of one example. What is the mean of each feature, and what is left once it is \
                   subtracted?",
            label: "Batch of 1",
            id: "one",
            set: |link| link.norm.batch = 1,
            sentence: None,
        },
        Trial {
            text: "Begin with very small weights instead of large ones. Drag the handle on the curve below to its left \
                   end, step 0: what becomes of the plain network’s activations from layer to layer? Then press \
                   “Live” and open “Losses”: which network leads in the first steps, and which falls behind later?",
            label: "Begin with small weights",
            id: "small",
            set: |link| {
                link.norm.scale = 0.2;
                link.view = "depth".into();
            },
            sentence: None,
        },
        Trial {
            text: "Give every student ten more points, and a grade on a curve stays the same. In the same way, an \
                   offset b that is added before the mean is subtracted changes nothing. Now let the gradient ignore \
                   the mean, so that it believes moving b would help. Keep training. Which of the two goes \
                   on changing, the length of b or the loss?",
            label: "Let the gradient ignore the mean",
            id: "outside",
            set: |link| {
                link.norm.experiment = Experiment::Outside;
                link.view = "outside".into();
            },
            sentence: None,
        },
        Trial {
            text: "An RNN begins with a state of 0, and its sums change as the state fills. So BatchNorm keeps a \
                   mean and a variance for each time step, and LayerNorm keeps none. Use BatchNorm’s pair from step 12 \
                   at every step, then those of step 1. Which choice costs more?",
            label: "Take the pair from step 12",
            id: "time",
            set: |link| {
                (link.norm.experiment, link.norm.time) = (Experiment::Time, 12);
                link.view = "time".into();
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "norm-stuck",
            kind: Kind::Explain,
            asks: "Why do the weights below a stuck tanh unit hardly learn from it?",
            options: &[
                (
                    "Its output is too large for the next layer.",
                    "Its output is at most 1, which the next layer reads without trouble.",
                ),
                (
                    "At its limit tanh is flat: a nudge changes almost nothing.",
                    "The gradient is multiplied by this slope on its way down. When the slope is near 0, almost \
                     nothing is left.",
                ),
                (
                    "Its weights have stopped at the largest value they are allowed to have.",
                    "Weights have no limit. It is the slope of tanh that is near 0.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "norm-shift",
            kind: Kind::FindError,
            asks: "“BatchNorm helps because each layer’s inputs no longer shift while the layers below learn. That is \
                   known.” What is wrong?",
            options: &[
                (
                    "Nothing. The authors proved it in their paper.",
                    "They proposed it as the reason. They showed that BatchNorm helps, not why.",
                ),
                (
                    "BatchNorm does not help at all.",
                    "It does: training got much faster in many networks. Only the reason is in doubt.",
                ),
                (
                    "In later tests BatchNorm helped even when that shift was made larger.",
                    "Santurkar and others (2018) added such shifts after BatchNorm, and it still helped. They found \
                     that it makes the loss change more smoothly as the weights move.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "norm-scale",
            kind: Kind::Explain,
            asks: "A row is multiplied by 3. Why does its output under LayerNorm hardly move?",
            options: &[
                (
                    "Its mean and its spread become 3 times as large as well.",
                    "So x − μ and σ grow by the same factor, and it cancels. Only ε, a tiny number that keeps σ from \
                     being 0, leaves a trace.",
                ),
                (
                    "γ shrinks to a third to make up for it.",
                    "γ is a weight, so it changes only in training, and for all examples alike.",
                ),
                (
                    "LayerNorm cuts off all numbers that are too large.",
                    "It cuts nothing off: it subtracts a mean and divides by a spread.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "norm-inference",
            kind: Kind::FindError,
            asks: "“Normalization only helps training. At inference you can leave it out.” What is wrong?",
            options: &[
                (
                    "Nothing. The model only gets faster.",
                    "It does save a little time, but the layers above then get numbers unlike any they were trained \
                     on.",
                ),
                (
                    "All later weights were learned for normalized numbers.",
                    "Without it every layer gets inputs on another scale, which is why BatchNorm keeps its running \
                     statistics.",
                ),
                (
                    "Only LayerNorm may be left out, since it keeps no statistics.",
                    "The layers after LayerNorm rely on it just as much.",
                ),
            ],
            right: 1,
        },
    ],
};
