//! What the machines are made of, in words.

use unroll_protocol::link::Chapter;

use super::Machine;
use crate::figures::Hue;

/// A part of a machine. It may be drawn more than once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub id: &'static str,
    pub name: &'static str,
    /// One plain sentence.
    pub does: &'static str,
    pub math: &'static str,
    pub shape: &'static str,
    /// The chapter that is about it.
    pub door: Chapter,
    /// Whether the machine before in the course lacks it.
    pub new: bool,
    pub hue: Hue,
}

/// Makes a list of parts: a line on what each is called and where it is taught, a line of math.
macro_rules! parts {
    ($($id:literal $name:literal $hue:ident $door:ident $age:ident:
       $math:literal, $shape:literal, $does:literal;)+) => {
        &[$(Part {
            id: $id, name: $name, does: $does, math: $math, shape: $shape,
            door: Chapter::$door, new: parts!(@ $age), hue: Hue::$hue,
        },)+]
    };
    (@ new) => { true };
    (@ kept) => { false };
}

/// The parts, in the order in which data passes them.
pub fn parts(machine: Machine) -> &'static [Part] {
    match machine {
        Machine::Elman => ELMAN,
        Machine::Lstm => LSTM,
        Machine::Gru => GRU,
        Machine::EncoderDecoder => ENCODER_DECODER,
        Machine::Bahdanau => BAHDANAU,
        Machine::Transformer => TRANSFORMER,
    }
}

/// What the machine brings, and what it keeps of the one before.
pub fn changed(machine: Machine) -> &'static str {
    match machine {
        Machine::Elman => {
            "New here: a state that goes from step to step through the same U. Kept: a letter comes in, chances for the next one come out. Elman’s own network of 1990 had sigmoids and no softmax."
        }
        Machine::Lstm => {
            "New here: a cell state that is only scaled and added to, and three gates. The forget gate came last, in 2000. Kept: the candidate is computed as an RNN computes its state."
        }
        Machine::Gru => {
            "New here: one gate z that both keeps and writes, and a reset gate. Kept: the state is mixed, not replaced. Gone: the cell state."
        }
        Machine::EncoderDecoder => {
            "New here: two chains, and one vector between them. Kept: each chain is a recurrent network, and what is written is read again."
        }
        Machine::Bahdanau => {
            "New here: every source state is kept, and a fresh mix of them is made for each output. Kept: an encoder that reads and a decoder that writes."
        }
        Machine::Transformer => {
            "New here: no chains at all; attention within each side, positions, and layers that add to their input. Kept: the decoder still asks the encoder."
        }
    }
}

const ELMAN: &[Part] = parts! {
    "letter" "letter" Input Tokens kept: "letterₜ", "[1]", "One letter comes in at each step.";
    "onehot" "one-hot" Input Tokens kept: "xₜ = one-hot(letterₜ)", "[|V|]", "The letter as a row of zeros with a single one.";
    "w" "W" Weight Rnn kept: "W xₜ", "[H, |V|]", "Weighs the letter. It is the same W at every step.";
    "u" "U" Weight Rnn new: "U sₜ₋₁", "[H, H]", "Weighs the state of the step before. It is the same U at every step.";
    "cell" "cell" Hidden Rnn new: "sₜ = tanh(W xₜ + U sₜ₋₁ + b)", "[H]", "Adds letter, state and bias, and squashes each sum to between −1 and 1.";
    "state" "state" Hidden Rnn new: "sₜ", "[H]", "All that the machine knows of the letters so far.";
    "v" "V" Weight Rnn kept: "V sₜ + c", "[|V|, H]", "Turns the state into a score for each letter. It is the same V at every step.";
    "softmax" "softmax" Output Bigram kept: "yₜ = softmax(V sₜ + c)", "[|V|]", "Turns the scores into chances that add up to one.";
    "next" "next letter" Output Bigram kept: "letterₜ₊₁ ~ yₜ", "[1]", "The guess at what comes next.";
};

const LSTM: &[Part] = parts! {
    "letter" "letter" Input Tokens kept: "xₜ", "[|V|]", "One letter comes in at each step, as a one-hot vector.";
    "hidden" "hidden state" Hidden Gates kept: "hₜ = o · tanh(cₜ)", "[H]", "What the cell shows: it goes to the output and to the next step.";
    "forget" "forget gate" Weight Gates new: "f = σ(W_f xₜ + U_f hₜ₋₁ + b_f)", "[H]", "Says how much of each number in the cell state stays.";
    "input" "input gate" Input Gates new: "i = σ(W_i xₜ + U_i hₜ₋₁ + b_i)", "[H]", "Says how much of the candidate is written.";
    "candidate" "candidate" Value Gates kept: "g = tanh(W_g xₜ + U_g hₜ₋₁ + b_g)", "[H]", "What could be written. It is computed as an RNN computes its state.";
    "cell" "cell state" Cell Gates new: "cₜ = f · cₜ₋₁ + i · g", "[H]", "The memory: a line that is only scaled and added to.";
    "squash" "tanh" Cell Gates new: "tanh(cₜ)", "[H]", "Brings the cell state to between −1 and 1.";
    "output" "output gate" Output Gates new: "o = σ(W_o xₜ + U_o hₜ₋₁ + b_o)", "[H]", "Says how much of the memory is shown.";
    "softmax" "softmax" Output Bigram kept: "yₜ = softmax(V hₜ + b)", "[|V|]", "Turns the hidden state into chances for the next letter.";
    "next" "next letter" Output Bigram kept: "letterₜ₊₁ ~ yₜ", "[1]", "The guess at what comes next.";
};

const GRU: &[Part] = parts! {
    "letter" "letter" Input Tokens kept: "xₜ", "[|V|]", "One letter comes in at each step, as a one-hot vector.";
    "hidden" "hidden state" Hidden Gates kept: "hₜ = z · hₜ₋₁ + (1 − z) · n", "[H]", "The only state: a mix of what was and what is new.";
    "update" "update gate" Weight Gates new: "z = σ(W_z xₜ + U_z hₜ₋₁ + b_z)", "[H]", "Says how much of the old state stays.";
    "rest" "the rest" Weight Gates new: "1 − z", "[H]", "The candidate’s share: whatever z does not keep.";
    "candidate" "candidate" Value Gates kept: "n = tanh(W_n xₜ + b_n + r · (U_n hₜ₋₁ + c_n))", "[H]", "What could become the state. This form is PyTorch’s.";
    "recurrent" "U h + b" Hidden Gates kept: "U_n hₜ₋₁ + c_n", "[H]", "What the old state says to the candidate.";
    "reset" "reset gate" Key Gates new: "r = σ(W_r xₜ + U_r hₜ₋₁ + b_r)", "[H]", "Says how much of the old state the candidate hears.";
    "softmax" "softmax" Output Bigram kept: "yₜ = softmax(V hₜ + b)", "[|V|]", "Turns the hidden state into chances for the next letter.";
    "next" "next letter" Output Bigram kept: "letterₜ₊₁ ~ yₜ", "[1]", "The guess at what comes next.";
};

const ENCODER_DECODER: &[Part] = parts! {
    "source" "source letter" Input Tokens kept: "x₁ … x_T", "[T]", "The text to read, one letter per step.";
    "encoder" "encoder" Hidden Seq2seq kept: "hⱼ = GRU(hⱼ₋₁, xⱼ)", "[H]", "A recurrent network that only reads. It writes nothing.";
    "context" "the one vector" Hidden Seq2seq new: "c = h_T", "[H]", "The last state. All that the decoder learns of the source is in it.";
    "previous" "previous letter" Input Seq2seq kept: "yᵢ₋₁", "[1]", "What the decoder wrote last is fed back in. It begins with a start sign.";
    "decoder" "decoder" Hidden Seq2seq new: "sᵢ = GRU(sᵢ₋₁, [yᵢ₋₁; c])", "[H]", "A second recurrent network that writes. It is given c at every step.";
    "softmax" "softmax" Output Bigram kept: "softmax(V [sᵢ; c; yᵢ₋₁] + b)", "[|V|]", "Turns state, c and previous letter into chances. The last two arrows are left out.";
    "target" "written letter" Output Seq2seq kept: "yᵢ", "[1]", "The letter that is written.";
};

const BAHDANAU: &[Part] = parts! {
    "source" "source letter" Input Tokens kept: "x₁ … x_T", "[T]", "The text to read, one letter per step.";
    "forward" "forward chain" Hidden Birnn kept: "→hⱼ = GRU(→hⱼ₋₁, xⱼ)", "[H]", "Reads from left to right.";
    "backward" "backward chain" Hidden Birnn new: "←hⱼ = GRU(←hⱼ₊₁, xⱼ)", "[H]", "Reads from right to left.";
    "states" "source states" Hidden Alignment new: "hⱼ = [→hⱼ; ←hⱼ]", "[T, 2 H]", "Both chains side by side: a letter and all that is around it. All of them are kept.";
    "score" "score" Query Alignment new: "eᵢⱼ = vᵀ tanh(W sᵢ₋₁ + U hⱼ)", "[T]", "Says how well each source state fits what the decoder is about to write.";
    "weights" "softmax" Query Alignment new: "αᵢ = softmax(eᵢ)", "[T]", "Turns the scores into weights that add up to one.";
    "context" "context" Value Alignment new: "cᵢ = Σⱼ αᵢⱼ hⱼ", "[2 H]", "The source states, each times its weight, added up. Each output gets its own.";
    "previous" "previous letter" Input Seq2seq kept: "yᵢ₋₁", "[1]", "What the decoder wrote last is fed back in.";
    "decoder" "decoder state" Hidden Alignment kept: "sᵢ = GRU(sᵢ₋₁, [yᵢ₋₁; cᵢ])", "[H]", "Asks with its previous state, then takes in the context.";
    "softmax" "softmax" Output Bigram kept: "softmax(V [sᵢ; cᵢ; yᵢ₋₁] + b)", "[|V|]", "Turns state, context and previous letter into chances.";
    "target" "written letter" Output Alignment kept: "yᵢ", "[1]", "The letter that is written.";
};

const TRANSFORMER: &[Part] = parts! {
    "source" "source letters" Input Tokens kept: "x₁ … x_T", "[T]", "The text to read, all letters at once.";
    "previous" "letters so far" Input Seq2seq kept: "y₁ … yᵢ₋₁", "[S]", "What the decoder has written, after a start sign.";
    "embedding" "embedding" Weight Tokens kept: "E[x] · √d", "[T, d]", "Looks up a row of learned numbers for each letter, and scales it by √d.";
    "position" "position" Weight Position new: "x + sin, cos(pos / 10000^(2i/d))", "[T, d]", "Adds waves that say where each letter stands.";
    "self" "self-attention" Query Heads new: "softmax(Q Kᵀ / √dₖ) V", "[T, d]", "Every source letter reads from all source letters, in many heads at once.";
    "masked" "masked self-attention" Query Mask new: "softmax(Q Kᵀ / √dₖ + mask) V", "[S, d]", "Every written letter reads from itself and from those before it.";
    "cross" "cross-attention" Query Alignment kept: "softmax(Q Kᵀ / √dₖ) V", "[S, d]", "The decoder asks; keys and values come from the encoder.";
    "feedforward" "feed-forward" Hidden Block new: "max(0, x W₁ + b₁) W₂ + b₂", "[T, d]", "Works on each letter alone: wider, then back.";
    "addnorm" "add & norm" Hidden Block new: "LayerNorm(x + Sublayer(x))", "[T, d]", "Adds what went in to what came out, then normalizes the sum.";
    "linear" "linear" Weight Block kept: "x Eᵀ", "[S, |V|]", "Turns each row into a score for each letter.";
    "softmax" "softmax" Output Bigram kept: "softmax(x Eᵀ)", "[S, |V|]", "Turns the scores into chances that add up to one.";
    "target" "written letter" Output Alignment kept: "yᵢ", "[1]", "The letter that is written.";
};
