//! The chapters that train small experiments, in the course's order: the one list of them.

/// Calls the macro `$then` with a line for each chapter: its variant, its module, its field in a
/// [`crate::Link`], its id in links, and its title.
///
/// Whatever has one thing for each chapter is made from this list, so that a chapter that is missing
/// somewhere does not compile. What a new one needs besides is told in README.
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
            Position position position "position" "Where am I",
            Block block block "block" "The rest of the transformer",
        }
    };
}
