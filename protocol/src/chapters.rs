//! The chapters that train small experiments, in the course's order. This is the only list of them.

/// Calls the macro `$then` with a line for each chapter: its variant, its module, its field in a
/// [`crate::Link`], its id in links, and its title.
///
/// Everything that has one entry per chapter is generated from this list, so that a missing chapter
/// is a compile error. docs/adding-a-chapter.md says what else a new chapter needs.
#[macro_export]
macro_rules! with_chapters {
    ($then:ident) => {
        $then! {
            Tokens tokens tokens "tokens" "Text becomes numbers",
            Bigram bigram bigram "bigram" "What comes next, by counting",
            Rnn rnn rnn "rnn" "One cell, again and again",
            Bptt bptt bptt "bptt" "Learning through time",
            Gates gates gates "gates" "LSTM and GRU: gates",
            Birnn birnn birnn "birnn" "Both directions",
            Norm norm norm "norm" "Keeping activations in range",
            Seq2seq seq2seq seq2seq "seq2seq" "The bottleneck",
            Alignment alignment alignment "alignment" "Attention is born",
            Qkv qkv qkv "qkv" "Query, key, value",
            Mask mask mask "mask" "Who may look at whom",
            Heads heads many_heads "heads" "Many questions at once",
            Position position position "position" "Where am I?",
            Block block block "block" "The rest of the transformer",
        }
    };
}
