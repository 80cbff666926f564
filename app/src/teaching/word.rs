//! The words a newcomer may lack, in two sentences each.

use super::tiny::Toy;

/// A word of the glossary.
pub struct Entry {
    #[cfg_attr(not(test), expect(dead_code, reason = "its test compares it with the row's place"))]
    pub word: Word,
    pub id: &'static str,
    /// As a heading; in running text it begins with a small letter unless it is a name.
    pub name: &'static str,
    pub says: [&'static str; 2],
    pub toy: Option<Toy>,
}

macro_rules! words {
    ($($word:ident $id:literal $name:literal $(: $toy:ident)?, $first:literal $second:literal;)*) => {
        /// Names a row of the table below.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Word { $($word),* }

        /// Every word, by name.
        pub const WORDS: &[Entry] = &[$(Entry {
            word: Word::$word,
            id: $id,
            name: $name,
            says: [$first, $second],
            toy: words!(@toy $($toy)?),
        }),*];
    };
    (@toy $toy:ident) => { Some(Toy::$toy) };
    (@toy) => { None };
}

impl Word {
    /// Rows stand in the order of the variants.
    pub fn entry(self) -> &'static Entry {
        &WORDS[self as usize]
    }
}

words! {
    Activation "activation" "Activation",
        "A number that a layer computes from its input on the way to its output."
        "Activations change with every input, weights only when the model is trained.";
    Attention "attention" "Attention": Mix,
        "A weighted average of values, with weights computed from what is being looked for and what is there."
        "The weights of one average are between 0 and 1 and add up to 1.";
    Bptt "bptt" "Backpropagation through time": Powers,
        "Working out the gradient of a recurrent model by going back through its steps, from the last to the first."
        "At each step the gradient is multiplied by that step's derivative, so over many steps it can shrink to almost nothing or grow without bound.";
    Batch "batch" "Batch": Batch,
        "The training examples that are used together for one step."
        "Their gradients are averaged, so a larger batch gives a steadier direction but costs more work.";
    Bias "bias" "Bias": Line,
        "A weight that is added to a sum and multiplies no input."
        "It moves the result up or down by the same amount whatever the input is.";
    CellState "cell-state" "Cell state": Cell,
        "The memory an LSTM carries along beside its hidden state."
        "At each step part of it is kept, as the forget gate says, and something new is added.";
    Context "context" "Context": Window,
        "The tokens a model is given to guess the next one from."
        "A window of fixed length slides over the text, and what has left it is not seen.";
    CrossEntropy "cross-entropy" "Cross-entropy": Surprise,
        "The loss −ln p, where p is the probability the model gave to what really came."
        "It is 0 when the model was sure and right, and grows without bound as p goes to 0.";
    Embedding "embedding" "Embedding": Embedding,
        "The row of numbers that stands for one token inside a model."
        "It is looked up by the token's id in a table, and the table is learned.";
    Gate "gate" "Gate": Gate,
        "A number between 0 and 1 that another number is multiplied by."
        "At 0 nothing passes, at 1 everything, and the model computes it anew at each step.";
    Gradient "gradient" "Gradient": Slope,
        "For each weight, how fast the loss changes when that weight is moved a little."
        "It points where the loss grows, so training steps the other way.";
    Clipping "gradient-clipping" "Gradient clipping": Clip,
        "Shortening a gradient that is longer than a limit, down to that limit."
        "Its direction stays the same, so one huge step cannot wreck the model.";
    HeldOut "held-out" "Held-out text",
        "Text that is kept back and never trained on."
        "The loss on it tells whether the model learned the language or only learned its training text by heart.";
    HiddenState "hidden-state" "Hidden state": Hidden,
        "The row of numbers a recurrent model hands from one step to the next."
        "Whatever the model still knows of the past has to be in it.";
    Key "key" "Key": Dot,
        "The vector by which a token can be found in attention."
        "It is compared with a query by an inner product: the larger it is, the more weight the token gets.";
    LearningRate "learning-rate" "Learning rate": Descent,
        "How far each training step moves the weights along the downhill direction."
        "Too small and learning takes forever, too large and each step jumps past the valley.";
    Logit "logit" "Logit": Logit,
        "A score a model gives to one possible answer before softmax turns all scores into probabilities."
        "It may be any number, and only the differences between the scores matter.";
    Loss "loss" "Loss": Surprise,
        "One number that says how wrong the model is on some data; lower is better."
        "Here it is cross-entropy, averaged over all guesses.";
    Mask "mask" "Mask": Mask,
        "A table that says which tokens may be looked at from where."
        "A causal mask lets each token see itself and those before it, never those after it.";
    NGram "n-gram" "N-gram": Window,
        "A run of n tokens as they stand in a text."
        "An n-gram model guesses a token from the n − 1 tokens before it, by counting what followed them.";
    Normalization "normalization" "Normalization": Normalize,
        "Shifting and scaling numbers so that their mean is 0 and their variance is 1."
        "It keeps activations in a range where the next layer can work with them.";
    OneHot "one-hot" "One-hot vector": OneHot,
        "A vector with a 1 in the place of one token's id and 0 everywhere else."
        "Multiplying it by a table picks out one row of the table.";
    Overfitting "overfitting" "Overfitting",
        "Learning what is true only of the training text, down to its accidents."
        "It shows when the loss on held-out text rises while the loss on the training text still falls.";
    Parameter "parameter" "Parameter": Line,
        "A number of the model that training changes: a weight or a bias."
        "All of them together are everything the model has learned.";
    Perplexity "perplexity" "Perplexity": Perplexity,
        "The exponential of the loss, exp(loss)."
        "A model with perplexity 8 is as unsure as if it had to choose between 8 equally likely tokens each time.";
    Probability "probability" "Probability": Softmax,
        "A number between 0 and 1 that says how strongly the model expects something."
        "Over all tokens that could come next, the probabilities add up to 1.";
    Query "query" "Query": Dot,
        "The vector with which a token asks, in attention, what it is looking for."
        "Its inner product with each key, scaled and put through softmax, gives the weights.";
    Recurrence "recurrence" "Recurrence": Hidden,
        "Computing each state from the one before it, always by the same rule."
        "So a model of fixed size can read a text of any length.";
    Seed "seed" "Seed": Seed,
        "The number that random choices start from."
        "The same seed gives the same choices again, so a run can be repeated exactly.";
    Sigmoid "sigmoid" "Sigmoid": Sigmoid,
        "The function 1 / (1 + exp(−x)), which takes any number to one between 0 and 1."
        "Far from 0 it is almost flat, and where it is flat almost no gradient comes through.";
    Smoothing "smoothing" "Smoothing": Smoothing,
        "Adding a little, k, to every count before turning counts into probabilities."
        "What was never seen then gets a small probability instead of 0.";
    Softmax "softmax" "Softmax": Softmax,
        "The function that turns scores into probabilities: exponentiate each, then divide by their sum."
        "Adding the same number to all scores changes nothing.";
    SpectralRadius "spectral-radius" "Spectral radius": Spiral,
        "The largest absolute value among a matrix's eigenvalues."
        "It decides whether multiplying by the matrix again and again shrinks a vector to nothing in the end (below 1) or lets it grow without bound (above 1).";
    Tanh "tanh" "Tanh": Tanh,
        "The function that takes any number to one between −1 and 1, with tanh(0) = 0."
        "Its slope is 1 at 0 and goes to 0 on either side, where the unit is said to be saturated.";
    Temperature "temperature" "Temperature": Temperature,
        "A number that all scores are divided by before softmax."
        "Below 1 the likeliest token gains, above 1 all tokens become more alike.";
    Token "token" "Token": Token,
        "One of the pieces a text is cut into for a model: a character, part of a word, or a word."
        "A model reads and writes tokens, never letters as such.";
    Unrolling "unrolling" "Unrolling",
        "Drawing a recurrent model once for each step, side by side."
        "All the copies share the same weights, which is why the weights' gradient is a sum over the copies.";
    Value "value" "Value": Mix,
        "The vector a token hands over, in attention, when it is looked at."
        "The output is the average of all values, each taken as often as its weight says.";
    Vocabulary "vocabulary" "Vocabulary": Vocabulary,
        "All the different tokens a model knows, each with a number of its own, its id."
        "The model gives every one of them a probability at every step.";
    Weight "weight" "Weight": Line,
        "A number of the model that an input is multiplied by."
        "Training changes it a little at each step, so that the loss falls.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_two_sentences_and_its_place() {
        for (i, entry) in WORDS.iter().enumerate() {
            assert_eq!(entry.word as usize, i);
            assert!(i == 0 || WORDS[i - 1].name.to_lowercase() < entry.name.to_lowercase());
            assert_eq!(WORDS.iter().filter(|other| other.id == entry.id).count(), 1);
            for sentence in entry.says {
                let inner = sentence.strip_suffix('.').expect(sentence);
                assert!(!inner.contains(['!', '?']) && !inner.contains(". "), "{sentence}");
            }
        }
    }
}
