//! The chapter's words.

use unroll_protocol::study::qkv::{Experiment, Memory};

use super::put;
use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

pub const SCRIPT: Script = Script {
    before: "Attention let a decoder look back at every state of the encoder, but underneath there were still two \
             recurrent networks, which take one step after another.",
    beats: &[
        Beat {
            title: "",
            text: "Recurrent networks train slowly: step 100 must wait for step 99. In 2017 Vaswani and seven \
                   others built the **transformer**: attention works alone, so no step waits. Here each character \
                   of your sentence is a token. It looks at itself and those before it: the stronger the color, \
                   the more it takes.\n\n\
                   ! [Click another cell](>qkv-weights-cells): how is its share made?\n\n\
                   + What are layers, heads and a causal mask?\n\n\
                   This model has two layers. In each, attention runs twice, side by side, in two heads. You see \
                   one of the four heads. The causal mask lets a token look only at itself and those before it. The \
                   next two chapters are about masks and heads.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "An inner product in place of the little network",
            text: "@ cell-inspector\n\n\
                   Each token makes [three vectors](@vectors). Its [query](query) [q](#q query) \
                   says what it looks for; its [key](key) [k](#k key), how it is found; its [value](value) \
                   [v](#v value), what it hands over. The [inner product](inner-product) of q and k is their \
                   score, and [softmax](softmax) turns scores into shares.\n\n\
                   ! Press “1,” “2,” “3” and “4” to reach the head’s output.\n\n\
                   + How does one character find another?\n\n\
                   If its query fits the other’s key, it gets a large share of the other’s value. Each token here is \
                   one character, and in layer 1 it knows only which one it is, and where. Each vector is made \
                   with a learned matrix of its own. The cell shown first has a large share, but not the row’s \
                   largest, whose step 3 would just read e⁰ = 1.",
            set: |link| link.qkv.key = 0,
            asks: &["qkv-two"],
        },
        Beat {
            title: "Keys and values from elsewhere",
            text: "So far, queries, keys and values came from one sentence: [self-attention](self-attention). \
                   Here the keys and values come from another text: [cross-attention](cross-attention). This \
                   model was never trained for it, so look only at the shape of the matrix: rows are your \
                   tokens, columns the other text’s.\n\n\
                   ! [Make your sentence shorter](>probe-input). Must the matrix be square?\n\n\
                   + What is it good for?\n\n\
                   A translator’s question comes up in the new sentence, and the answer is in the old one. So \
                   the queries come from the new sentence, and the keys and values from the old. In the previous \
                   chapter the decoder asked the encoder’s states this way.",
            set: |link| (link.qkv.memory, link.qkv.key) = (Memory::Other, 0),
            asks: &["qkv-cross"],
        },
        Beat {
            title: "Why scores are divided",
            text: "A score adds up dₖ products (here {width}), one per number in q. With many products, \
                   scores lie far apart: softmax gives one nearly everything, and less gradient gets through. So each \
                   score is divided by the square root of dₖ.\n\n\
                   ! [Drag the width](>control-qkv-dimensions) to 256: how do the “not divided” bars change?\n\n\
                   + Why the square root?\n\n\
                   Here q and k each hold {width} random numbers, with mean 0 and variance 1. The variance says \
                   how far apart their scores lie: about dₖ before the division by √dₖ, and about 1 after it.\n\n\
                   “All widths” also shows the [entropy](entropy) of the weights: how evenly they are \
                   spread, in [nats](nat).",
            set: |link| {
                put(link, Experiment::Scale);
                link.qkv.dimensions = 16;
            },
            asks: &["qkv-root"],
        },
        Beat {
            title: "Attention alone does not see order",
            text: "Imagine cards on a table, each comparing itself with all others, wherever they lie. Attention \
                   works like that when nothing marks positions or hides later tokens. Here your sentence is \
                   shuffled: each token keeps its output from the last layer, up to rounding.\n\n\
                   ! Press “Shuffle again,” then guess below what hiding later tokens would change.",
            set: |link| {
                put(link, Experiment::Shuffle);
                link.qkv.causal = false;
            },
            asks: &["qkv"],
        },
        Beat {
            title: "A causal mask brings order in",
            text: "With a [causal mask](causal-mask), a token sees only itself and the tokens before it. A \
                   shuffle changes which tokens those are, and with them the last layer’s output. Even without positions, \
                   such a model can learn something about order.\n\n\
                   ! [Open the view “Order”](@order), and train: does the model learn it?",
            set: |link| {
                put(link, Experiment::Shuffle);
                link.qkv.causal = true;
            },
            asks: &["qkv-order"],
        },
        Beat {
            title: "One step of T² work",
            text: "A recurrent layer takes T steps, each waiting for the last. Attention waits for nothing, but \
                   makes T × T scores. Here one core computes them one after another, and that takes time. On a GPU \
                   (graphics chip) they run at once, but recurrent steps still wait, so attention trains \
                   faster.\n\n\
                   ! {steady} {slower}\n\n\
                   + Which one is slower here, and why?\n\n\
                   {cost} A GPU is the chip that most models train on. It does thousands of sums at a time, and \
                   waiting leaves it idle.",
            set: |link| put(link, Experiment::Cost),
            asks: &["qkv-cost"],
        },
        Beat {
            title: "What you can do now",
            text: "You can work out an attention weight by hand, from query and key to share. You can say why \
                   scores are divided by a square root, what attention knows of order, and what it costs. The \
                   next chapter decides who may look at whom.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Pick the first row. It sees only itself: whatever its score, its one weight is 1. Then go \
                   down one row, where there are two weights. Would they change if both scores rose by 5?",
            label: "Open the first row",
            id: "first",
            set: |link| (link.qkv.query, link.qkv.key, link.qkv.causal) = (1, 1, true),
            sentence: None,
        },
        Trial {
            text: "Take keys and values from another text. Does each row still add up to 1? Do the queries change?",
            label: "Look into another text",
            id: "other",
            set: |link| (link.qkv.memory, link.qkv.key) = (Memory::Other, 0),
            sentence: None,
        },
        Trial {
            text: "Take 256 numbers in each vector. Of 16 random keys, how many does a query still look at without \
                   the root? And with it?",
            label: "Use 256 numbers",
            id: "wide",
            set: |link| {
                put(link, Experiment::Scale);
                link.qkv.dimensions = 256;
            },
            sentence: None,
        },
        Trial {
            text: "Shuffle under a causal mask, without positions. Guess first: does any token keep its output? \
                   Shuffle a few times.",
            label: "Shuffle under a causal mask",
            id: "causal",
            set: |link| {
                put(link, Experiment::Shuffle);
                link.qkv.causal = true;
            },
            sentence: None,
        },
        Trial {
            text: "Three models learn to name a word’s first letter, and two of them get no positions. Which of \
                   those two can learn it all the same? Train, then look.",
            label: "Train the models",
            id: "order",
            set: |link| put(link, Experiment::Order),
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "qkv-two",
            kind: Kind::Explain,
            asks: "Why does each token have a key and a value, rather than one vector for both?",
            options: &[
                (
                    "What it is found by and what it hands over can then differ.",
                    "A book is found by its title, but you take home what is inside. In the last chapter one \
                     vector, h, had to serve as both.",
                ),
                (
                    "An inner product needs three vectors.",
                    "It needs two: the query and the key. The value comes in only after the weights are known.",
                ),
                (
                    "The value is the key of the next token, which the model wants to guess.",
                    "Both are made from the same token, each by a matrix of its own.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "qkv-cross",
            kind: Kind::FindError,
            asks: "“In cross-attention both texts must have the same length.” What is wrong?",
            options: &[
                (
                    "Not the same length, but they must be made of the same words.",
                    "The words may differ entirely. Only the vectors of queries and keys must fit together.",
                ),
                (
                    "Nothing is wrong.",
                    "Look at the matrix: it has a row for each query and a column for each key. Nothing forces it \
                     to be square.",
                ),
                (
                    "Each query has a row of its own: a weight for each key.",
                    "Softmax and the weighted sum work for any number of keys. Only the widths of q and k must be \
                     equal.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "qkv-root",
            kind: Kind::Explain,
            asks: "Why is it bad for learning when softmax gives one key nearly everything?",
            options: &[
                (
                    "The weights no longer add up to 1.",
                    "They always do. One is then near 1, and all the others are near 0.",
                ),
                (
                    "A small change in the scores then changes almost nothing.",
                    "Where one weight is near 1, softmax is flat, and its slope is near 0. At the start of \
                     training this slows the learning of queries and keys. “All widths” shows the slope’s size.",
                ),
                (
                    "Looking at one key is always wrong, however well that key fits the query.",
                    "It can be right, and trained heads often do it. The trouble is being stuck there by chance \
                     before anything is learned.",
                ),
            ],
            right: 1,
        },
        Quiz {
            id: "qkv-order",
            kind: Kind::FindError,
            asks: "“Without positions or a mask, shuffling the tokens leaves the output of self-attention exactly as it \
                   was.” What is wrong?",
            options: &[
                (
                    "The outputs are shuffled along with the tokens.",
                    "Each token keeps its own output and takes it to its new place. Such a layer is called \
                     equivariant. If its output did not change at all, it would be invariant.",
                ),
                (
                    "The numbers in every token’s output change, and their order with them.",
                    "Without positions or a mask they stay, but for rounding. Go back one part of the story and look.",
                ),
                (
                    "Nothing is wrong.",
                    "The list of outputs does change: its rows come in the new order.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "qkv-cost",
            kind: Kind::FindError,
            asks: "“Attention is faster on long texts because it does less work.” What is wrong?",
            options: &[
                (
                    "It does the same work as a recurrent layer.",
                    "A recurrent layer’s work grows with T, attention’s with T × T.",
                ),
                (
                    "Its work grows with T × T. What it saves is waiting.",
                    "All scores can be computed at the same time. For very long texts the T × T scores are the \
                     problem, in time and in memory.",
                ),
                (
                    "Nothing is wrong.",
                    "Double the length, and there are four times as many scores, so for long texts it does more \
                     work.",
                ),
            ],
            right: 1,
        },
    ],
};
