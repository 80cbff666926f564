//! Sequence-to-sequence tasks, and how a decoder attends to its source.

use crate::link::rows::choice;

choice! {
    /// What turns one text into another.
    PairTask {
        /// A string of letters, written backwards.
        Reverse = "reverse", "Reverse a string";
        /// A date as people write it, to ISO 8601.
        Dates = "dates", "Human date to ISO date";
        /// A string of letters, unchanged.
        Copy = "copy", "Copy a string";
        /// A string of letters, in alphabetical order.
        Sort = "sort", "Sort a string";
    }
}

choice! {
    /// How a decoder's steps attend to the encoder's states.
    AttentionKind {
        /// No attention: one vector for the whole source (Cho et al. 2014).
        None = "none", "No attention";
        /// `v · tanh(W_s s_(i-1) + W_h h_j)`, before the step (Bahdanau et al. 2015).
        Additive = "additive", "Bahdanau (additive)";
        /// `s_i · h_j`, after the step (Luong et al. 2015).
        Dot = "dot", "Luong dot";
        /// `s_iᵀ W_a h_j`, after the step.
        General = "general", "Luong general";
        /// `v · tanh(W_s s_i + W_h h_j)`, after the step.
        Concat = "concat", "Luong concat";
    }
}
