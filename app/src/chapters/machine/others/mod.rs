//! The other machines of the course, all in one hand: data comes in at the bottom and leaves at the
//! top, time goes from left to right, an encoder stands on the left and its decoder on the right.

mod chain;
mod circuits;
mod figure;
mod files;
mod paint;
mod parts;
mod plan;
mod towers;
mod translate;

pub use figure::OtherMachine;
pub use parts::{Part, changed, parts};

use crate::figures::pen::Paint;
use plan::Plan;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Machine {
    #[default]
    Elman,
    Lstm,
    Gru,
    EncoderDecoder,
    Bahdanau,
    Transformer,
}

impl Machine {
    /// In the order of the course.
    #[cfg(test)]
    pub const ALL: [Self; 6] = [
        Self::Elman,
        Self::Lstm,
        Self::Gru,
        Self::EncoderDecoder,
        Self::Bahdanau,
        Self::Transformer,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Elman => "elman",
            Self::Lstm => "lstm",
            Self::Gru => "gru",
            Self::EncoderDecoder => "encoder-decoder",
            Self::Bahdanau => "bahdanau",
            Self::Transformer => "transformer",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Elman => "RNN",
            Self::Lstm => "LSTM",
            Self::Gru => "GRU",
            Self::EncoderDecoder => "Encoder-decoder",
            Self::Bahdanau => "Bahdanau",
            Self::Transformer => "Transformer",
        }
    }

    /// What stands above its picture.
    pub fn title(self) -> &'static str {
        match self {
            Self::Elman => "Elman’s network, unrolled over time",
            Self::Lstm => "One LSTM cell",
            Self::Gru => "One GRU cell",
            Self::EncoderDecoder => "An encoder, one vector, a decoder",
            Self::Bahdanau => "Encoder and decoder with attention",
            Self::Transformer => "The transformer of 2017",
        }
    }
}

/// The picture for who can’t see it.
pub fn spoken(machine: Machine) -> String {
    let says = match machine {
        Machine::Elman => {
            "Letters come in at the bottom, one column for each time step. In each column W leads from the letter to the cell, and V leads from the cell’s state up to the softmax and the next letter. Between the columns U leads from each state to the next cell. All columns have the same W, U and V."
        }
        Machine::Lstm => {
            "One cell. The cell state is a line from left to right: the forget gate scales it, then input gate times candidate is added. A copy goes through tanh, is scaled by the output gate, and becomes the hidden state. It leads up to the output and right to the next step. All gates read the letter and the previous hidden state."
        }
        Machine::Gru => {
            "One cell. The hidden state is a line from left to right: the update gate z scales it, then 1 minus z times the candidate is added. The candidate reads the letter, and as much of the previous state as the reset gate lets through. The result leads up to the output and right to the next step."
        }
        Machine::EncoderDecoder => {
            "On the left an encoder reads the source letters in a chain. Its last state is the one vector c in the middle. On the right a decoder gets c at every step and writes letters at the top. Each written letter is fed back in at the bottom of the next step."
        }
        Machine::Bahdanau => {
            "On the left two chains read the source in both directions and are joined into one state for each letter. The decoder on the right asks with its previous state: each source state gets a score, a softmax turns the scores into weights, and the weighted sum of the states, the context, goes into the decoder’s next state and its output."
        }
        Machine::Transformer => {
            "Two towers. On the left the encoder: embedding plus position, then six blocks of self-attention and feed-forward. On the right the decoder: embedding plus position, then six blocks of masked self-attention, cross-attention and feed-forward. Cross-attention gets its keys and values from the encoder. Add and norm follow each layer. At the end come linear and softmax."
        }
    };
    let names: Vec<&str> = parts(machine).iter().map(|part| part.name).collect();
    format!("{}. {says} Parts: {}.", machine.title(), names.join(", "))
}

/// Where everything goes in a picture of this size.
fn plan(machine: Machine, size: (f64, f64)) -> Plan {
    let mut plan = Plan::new(machine, size);
    match machine {
        Machine::Elman => chain::elman(&mut plan),
        Machine::Lstm => circuits::lstm(&mut plan),
        Machine::Gru => circuits::gru(&mut plan),
        Machine::EncoderDecoder => translate::encoder_decoder(&mut plan),
        Machine::Bahdanau => translate::bahdanau(&mut plan),
        Machine::Transformer => towers::transformer(&mut plan),
    }
    plan
}

/// The picture as the inside of an SVG of this size; the part `lit` is marked.
pub fn draw(machine: Machine, size: (f64, f64), paint: Paint, lit: Option<&str>) -> String {
    if !(size.0 >= 1.0 && size.1 >= 1.0) {
        return String::new();
    }
    paint::paint(&plan(machine, size), paint, lit)
}

#[cfg(test)]
mod tests;
