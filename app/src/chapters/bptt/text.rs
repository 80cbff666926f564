//! The chapter's words.

use leptos::prelude::*;
use unroll_protocol::study::bptt::{LossKind, Shown};

use crate::{
    course::{Idea, trial},
    teaching::{Hue, Sym, Term, Word},
};

/// What this is and what to look at.
pub fn intro() -> AnyView {
    view! {
        <p>
            "An RNN, an LSTM and a GRU learn one task from one seed: remember a capital letter over a \
             gap of up to n small ones that don't matter, until a “?” asks for it. The answer is due at the last \
             step, its cause lies long before."
        </p>
        <p>
            <Term of=Word::Bptt>"Backpropagation through time"</Term>" carries the "<Term of=Word::Gradient/>" of the loss back step by step, \
             through each "<Sym part="state" role=Hue::Hidden>"state"</Sym>". In an RNN every step \
             multiplies it by a "<Sym part="jacobian" role=Hue::Weight>"Jacobian"</Sym>", tanh's slope \
             times "<Sym part="recurrent" role=Hue::Weight>"U"</Sym>". The figure shows what is left at each step, \
             read from right to left. An LSTM has a second way, along its "
            <Sym part="cell" role=Hue::Cell>"cell"</Sym>", where the factor is a forget gate."
        </p>
        <p>
            "Guess first: which curve will still be high at the symbol? Then press Train, and watch the RNN's \
             curve, then its Accuracy. They need not tell the same story."
        </p>
    }
    .into_any()
}

/// Three to five, each with a surprise.
pub fn tries() -> Vec<ViewFn> {
    vec![
        trial(
            "Train for 1000 steps. By then, does the RNN's curve still die? Look at U's spectral radius \
             beside the figure, and at what its accuracy says all the same.",
            "All three, from the start",
            "start",
            |_| {},
        ),
        trial(
            "Rescale U and drag the radius from 0 up to 4. Is 1 the border? Does more always mean more \
             gradient? Try it before and after training: tanh has a say, too.",
            "RNN, U rescaled to 1.5",
            "radius",
            |link| {
                link.bptt.shown = Shown::Rnn;
                link.bptt.rescale = true;
                link.bptt.radius = 1.5;
            },
        ),
        trial(
            "With forget bias 0 the gates start half open, and the LSTM's gradient dies on its way, too. \
             Train: can it still learn? What do its forget gates do meanwhile?",
            "LSTM with forget bias 0",
            "bias",
            |link| {
                link.bptt.forget_bias = 0.0;
                link.bptt.shown = Shown::Lstm;
            },
        ),
        trial(
            "Cut the way back after 16 steps. No gradient ever reaches a symbol 30 steps before the end. \
             Train 1000 steps: does any network recall it nevertheless?",
            "Truncate to 16",
            "truncate",
            |link| {
                link.view = super::ACCURACY.into();
                link.bptt.truncation = 16;
            },
        ),
        trial(
            "With gaps up to 8 only, train 1500 steps: is it the RNN that can't, or the distance?",
            "Gaps up to 8",
            "gaps",
            |link| {
                link.view = super::ACCURACY.into();
                link.bptt.gap = 8;
                link.bptt.length = 10;
            },
        ),
    ]
}

/// The teacher's step.
pub const IDEAS: &[Idea] = &[
    Idea {
        title: "The way back is a product",
        text: "One factor for each step. Before much training, the RNN's is well below 1: of the last \
               step's gradient next to nothing reaches the symbol.",
        set: |link| link.bptt.shown = Shown::Rnn,
    },
    Idea {
        title: "A loss at every step",
        text: "Now gradient joins in at every step. The curve looks healthy, but what comes from far \
               away is as small as before.",
        set: |link| {
            link.bptt.shown = Shown::Rnn;
            link.bptt.loss = LossKind::Every;
        },
    },
    Idea {
        title: "The radius is not the rule",
        text: "A copy of the RNN with U rescaled to 1.5. Move the radius up and down, now and after \
               training: tanh's slope has as much of a say as U.",
        set: |link| {
            link.bptt.shown = Shown::Rnn;
            link.bptt.rescale = true;
            link.bptt.radius = 1.5;
        },
    },
    Idea {
        title: "A second way back",
        text: "Along the LSTM's cell the factor is the forget gate. A bias of 3 holds it open from the \
               start, and the gradient gets through.",
        set: |link| {
            link.bptt.shown = Shown::Lstm;
            link.bptt.forget_bias = 3.0;
        },
    },
    Idea {
        title: "Half-open gates forget, too",
        text: "With bias 0 the gates begin by keeping about one half at each step, and over 31 steps \
               little is left of the gradient along the cell.",
        set: |link| {
            link.bptt.shown = Shown::Lstm;
            link.bptt.forget_bias = 0.0;
        },
    },
    Idea {
        title: "Who remembers how far",
        text: "All three on one task and seed. Train for a thousand steps and see the accuracy against \
               the gap.",
        set: |link| link.view = super::ACCURACY.into(),
    },
];
