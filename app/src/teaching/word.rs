//! The words a newcomer may lack, in two sentences each.

use super::tiny::Toy;

/// A word of the glossary.
pub struct Entry {
    #[cfg_attr(not(test), expect(dead_code, reason = "its test compares it with the row’s place"))]
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

        const IDS: &[&str] = &[$($id),*];

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
    /// As links name it.
    pub fn id(self) -> &'static str {
        IDS[self as usize]
    }

    /// The word with this id.
    #[cfg(test)]
    pub fn named(id: &str) -> Option<Self> {
        WORDS.iter().find(|entry| entry.id == id).map(|entry| entry.word)
    }
}

words! {
    Activation "activation" "Activation",
        "A number that a layer computes from its input on the way to its output."
        "Activations change with every input, weights only when the model is trained.";
    Alignment "alignment" "Alignment",
        "How strongly each word that is written leans on each word that was read."
        "In an encoder-decoder with attention it is the matrix of the attention weights, one row for each written token.";
    Attention "attention" "Attention": Mix,
        "A weighted average of values, with weights computed from what is being looked for and what is there."
        "The weights of one average are between 0 and 1 and add up to 1.";
    Autoregressive "autoregressive" "Autoregressive",
        "Said of a model that writes one token at a time and, before each, reads what it has written so far."
        "The probability of a whole text is then the product of the probabilities of its tokens, each given those before it.";
    Backpropagation "backpropagation" "Backpropagation",
        "Working out the gradient for every weight in one pass, from the loss back to the input."
        "It is the chain rule of calculus, applied layer by layer, and it costs about twice as much as computing the output.";
    Bptt "bptt" "Backpropagation through time": Powers,
        "Working out the gradient of a recurrent model by going back through its steps, from the last to the first."
        "At each step the gradient is multiplied by that step’s derivative, so over many steps it can shrink to almost nothing or grow without bound.";
    Batch "batch" "Batch": Batch,
        "The training examples that are used together for one step."
        "Their gradients are averaged, so a larger batch gives a steadier direction but costs more work.";
    BeamSearch "beam-search" "Beam search",
        "Writing with several beginnings at once: each is continued, and only the most probable few are kept."
        "With a beam of one it is the greedy choice of the most probable token at each step.";
    Bias "bias" "Bias": Line,
        "A weight that is added to a sum and multiplies no input."
        "It moves the result up or down by the same amount, whatever the input is.";
    BlockSize "block-size" "Block size",
        "The number of tokens in one row of a training batch, which is the longest text the model ever sees at once."
        "Each row of T tokens holds T training examples: at each place, guess the next token.";
    Bpe "bpe" "Byte-pair encoding",
        "A way to build a vocabulary: find the most frequent pair of neighboring tokens, make it one token, and do that again and again."
        "Frequent words end up as one token, and rare ones as a few pieces.";
    CausalMask "causal-mask" "Causal mask": Mask,
        "A mask under which each token sees itself and what comes before it, and nothing that comes after."
        "Without it, a model that is to guess the next token could simply look at the answer.";
    CellState "cell-state" "Cell state": Cell,
        "The memory an LSTM carries along beside its hidden state."
        "At each step part of it is kept, as the forget gate says, and something new is added.";
    Context "context" "Context": Window,
        "The tokens a model is given to guess the next one from."
        "A window of fixed length slides over the text, and the model does not see what has left it.";
    ContextWindow "context-window" "Context window": ContextWindow,
        "The longest stretch of text a model can take in at once, counted in tokens."
        "What lies before it does not exist for the model.";
    Correlation "correlation" "Correlation": Correlation,
        "A number between −1 and 1 that says how closely two quantities rise and fall together."
        "At 1 or −1 one follows from the other by a straight line, and at 0 no straight line helps.";
    CrossAttention "cross-attention" "Cross-attention": Mix,
        "Attention whose queries come from one sequence and whose keys and values come from another."
        "In a translator the text being written looks at the text that was read.";
    CrossEntropy "cross-entropy" "Cross-entropy": Surprise,
        "The loss −ln p, where p is the probability the model gave to what really came."
        "It is 0 when the model was sure and right, and grows without bound as p goes to 0.";
    Decoder "decoder" "Decoder",
        "The part of a model that writes the output, one token after the other."
        "It reads what it has written so far, and whatever the encoder hands it.";
    DecoderOnly "decoder-only" "Decoder-only model",
        "A transformer without an encoder: one stack of blocks with a causal mask that guesses the next token."
        "Every GPT is one.";
    Dropout "dropout" "Dropout": Dropout,
        "Setting some activations to 0 at random in each training step, and scaling up the rest."
        "The model can’t rely on any one of them, so it learns less by heart.";
    Eigenvalue "eigenvalue" "Eigenvalue": Spiral,
        "A number by which a matrix stretches some direction without turning it; a complex pair of them \
         stretches and turns."
        "Multiply by the matrix again and again, and in the end the eigenvalue of largest absolute value wins.";
    Embedding "embedding" "Embedding": Embedding,
        "The row of numbers that stands for one token inside a model."
        "It is looked up by the token’s id in a table, and the table is learned.";
    Encoder "encoder" "Encoder",
        "The part of a model that reads the whole input and turns it into vectors."
        "It writes nothing itself, so it may look in both directions.";
    EncoderDecoder "encoder-decoder" "Encoder-decoder",
        "A model of two parts: one reads the input, the other writes an output of any length."
        "Machine translation was built this way from 2014 on.";
    Entropy "entropy" "Entropy": Entropy,
        "The average surprise of a distribution: the sum of −p ln p over all that can happen."
        "It is 0 when one outcome is certain, and largest when all are equally likely.";
    ExplodingGradient "exploding-gradient" "Exploding gradient": Powers,
        "A gradient that grows from step to step on its way back until the update wrecks the model."
        "It happens when the factors it is multiplied by are mostly larger than 1, and clipping holds it in check.";
    FeedForward "feed-forward" "Feed-forward layer",
        "Two matrix products with a bend between them, applied to each token by itself."
        "In a transformer block it follows attention: first tokens exchange information, then each works on what it got.";
    Gate "gate" "Gate": Gate,
        "A number between 0 and 1 that another number is multiplied by."
        "At 0 nothing passes and at 1 everything does, and the model computes it again at each step.";
    Gelu "gelu" "GELU": Gelu,
        "A smooth bend, x times the probability that a standard normal number is below x."
        "It is nearly x for large x and nearly 0 for very negative x, and GPT-2 uses it.";
    Gradient "gradient" "Gradient": Slope,
        "For each weight, how fast the loss changes when that weight is moved a little."
        "It points in the direction in which the loss grows fastest, so training steps the other way.";
    Clipping "gradient-clipping" "Gradient clipping": Clip,
        "Shortening a gradient that is longer than a limit, down to that limit."
        "Its direction stays the same, so one huge step cannot wreck the model.";
    Gru "gru" "GRU": Gru,
        "The gated recurrent unit, a simpler relative of the LSTM: it has two gates, and no cell state beside its hidden state."
        "The update gate says how much of the old state stays, and the reset gate how much of it goes into the new part.";
    Head "head" "Head",
        "One of several attentions that run side by side in a layer, each with queries, keys and values of its own."
        "Each head sees the same tokens and can look for something different.";
    HeldOut "held-out" "Held-out text",
        "Text that is kept back and never trained on."
        "The loss on it tells whether the model learned the language or only learned its training text by heart.";
    HiddenState "hidden-state" "Hidden state": Hidden,
        "The row of numbers a recurrent model hands from one step to the next."
        "Whatever the model still knows of the past has to be in it.";
    Inference "inference" "Inference",
        "Using a trained model: its weights stay as they are, and nothing is learned."
        "Some layers then behave differently: dropout, for one, is switched off.";
    Initialization "initialization" "Initialization": Seed,
        "The numbers the weights begin with, drawn at random before any training."
        "If they are too large or too small, activations or gradients explode or vanish from the start.";
    InnerProduct "inner-product" "Inner product": Dot,
        "Two rows of numbers, multiplied place by place and added up; it is also called the dot product."
        "It is large when the two point the same way, 0 when they are at right angles, and negative when the \
         angle between them is more than a right angle.";
    CovariateShift "internal-covariate-shift" "Internal covariate shift",
        "The idea that a layer learns slowly because its input keeps changing while the layers below it learn."
        "BatchNorm was built to stop it in 2015, but tests by Santurkar and others in 2018 spoke against it as \
         the reason why BatchNorm helps.";
    Jacobian "jacobian" "Jacobian": Slope,
        "The matrix of all slopes of a step: how much each output moves when each input is nudged."
        "A gradient goes back through the step by being multiplied by it.";
    Key "key" "Key": Dot,
        "The vector by which a token can be found in attention."
        "It is compared with a query by an inner product: the larger the product, the more weight the token gets.";
    KlDivergence "kl-divergence" "KL divergence": Divergence,
        "How many extra nats it costs, on average, to believe one distribution when another is true."
        "It is 0 only where the two are equal, and it is not the same in both directions.";
    KvCache "kv-cache" "KV cache": KvCache,
        "The keys and values of all tokens so far, kept so that they need not be computed again for each new token."
        "It makes writing fast, and it grows with every token.";
    LanguageModel "language-model" "Language model": Softmax,
        "A model that gives a probability to every token that could come next."
        "By drawing a token and asking again, it writes text.";
    Layer "layer" "Layer",
        "One stage of a model: it takes vectors in, computes with its own weights, and puts vectors out."
        "Deep models are many layers on top of each other.";
    LearningRate "learning-rate" "Learning rate": Descent,
        "How far each training step moves the weights along the downhill direction."
        "If it is too small, learning takes forever, and if it is too large, each step jumps past the valley.";
    Schedule "learning-rate-schedule" "Learning-rate schedule": Schedule,
        "A rule that changes the learning rate over the steps of training."
        "A common one rises for a short while and then falls along a cosine.";
    Logit "logit" "Logit": Logit,
        "A score a model gives to one possible answer before softmax turns all scores into probabilities."
        "It may be any number, and only the differences between the scores matter.";
    Loss "loss" "Loss": Surprise,
        "One number that says how wrong the model is on some data; lower is better."
        "Here it is cross-entropy, averaged over all guesses.";
    Lstm "lstm" "LSTM": Cell,
        "Long short-term memory, a recurrent cell with a second state, the cell state, that is guarded by gates."
        "The forget gate says how much of it stays, the input gate how much is added, and the output gate how much is let out to the rest of the network.";
    Mask "mask" "Mask": Mask,
        "A table that says which tokens may be looked at from where."
        "A causal mask lets each token see itself and those before it, never those after it.";
    MatrixProduct "matrix-product" "Matrix product": Dot,
        "A table of inner products: every row of the first matrix with every column of the second."
        "Nearly all the work of a neural network is in matrix products, and graphics processors are built for them.";
    MinP "min-p" "Min p": MinP,
        "A way to cut off improbable tokens before one is drawn: a token stays if its probability is at least p times the largest one."
        "If p is 0.1 and the most probable token has 50%, all tokens with 5% or more stay.";
    MultiHead "multi-head-attention" "Multi-head attention": Mix,
        "Several attentions side by side, each with narrower queries, keys and values of its own, all made \
         from the whole vector, and joined at the end."
        "One average can’t look at two places for two reasons, but several averages can.";
    NGram "n-gram" "N-gram": Window,
        "A run of n tokens as they stand in a text."
        "An n-gram model guesses a token from the n − 1 tokens before it, by counting what followed them.";
    Nat "nat" "Nat": Surprise,
        "The unit of surprise when the logarithm is natural: an event of probability p costs −ln p nats."
        "One nat is about 1.44 bits.";
    Normalization "normalization" "Normalization": Normalize,
        "Shifting and scaling numbers so that their mean is 0 and their variance is 1."
        "It keeps activations in a range where the next layer can work with them.";
    OneHot "one-hot" "One-hot vector": OneHot,
        "A vector with a 1 in the place of one token’s id and 0 everywhere else."
        "Multiplying it by a table picks out one row of the table.";
    Optimizer "optimizer" "Optimizer": Descent,
        "The rule that turns gradients into changes of the weights."
        "Adam, the usual one, gives each weight a step of its own size from the gradients it has seen so far, and AdamW adds weight decay.";
    Overfitting "overfitting" "Overfitting",
        "Learning what is true only of the training text, down to its accidents."
        "It shows when the loss on held-out text rises while the loss on the training text still falls.";
    Parameter "parameter" "Parameter": Line,
        "A number of the model that training changes: a weight or a bias."
        "All of them together are everything the model has learned.";
    Perplexity "perplexity" "Perplexity": Perplexity,
        "The exponential of the loss, exp(loss)."
        "A model with perplexity 8 is as unsure as if it had to choose between 8 equally likely tokens each time.";
    PositionalEncoding "positional-encoding" "Positional encoding",
        "Numbers that tell a model where in the text each token stands."
        "Attention by itself has no sense of order, so they are added to the embeddings or built into the scores.";
    PreTraining "pre-training" "Pre-training",
        "Training a model to guess the next token on a great deal of plain text, before it is given any task."
        "Afterwards a little more training, or just a well-written prompt, makes it do the task.";
    PrincipalComponent "principal-component" "Principal component",
        "A direction in which a cloud of points spreads most; each further one is at right angles to those before it."
        "The first two give the flat picture that loses the least.";
    Probability "probability" "Probability": Softmax,
        "A number between 0 and 1 that says how strongly the model expects something."
        "Over all tokens that could come next, the probabilities add up to 1.";
    Query "query" "Query": Dot,
        "The vector with which a token asks, in attention, what it is looking for."
        "Its inner product with each key, scaled and put through softmax, gives the weights.";
    Recurrence "recurrence" "Recurrence": Hidden,
        "Computing each state from the one before it, always by the same rule."
        "So a model of fixed size can read a text of any length.";
    Relu "relu" "ReLU": Relu,
        "The bend max(0, x): negative numbers become 0, and others stay."
        "It costs almost nothing, and its slope is 1 wherever it is on.";
    Residual "residual-connection" "Residual connection": Around,
        "A path around a layer: the layer’s output is added to its input rather than put in its place."
        "The gradient passes the addition unchanged, which is what makes very deep models trainable; it is also called a skip connection.";
    ResidualStream "residual-stream" "Residual stream",
        "The vector that runs past all layers of a transformer, one for each token, and that every layer adds to."
        "Nothing in it is ever overwritten, so the last vector is a sum over all the layers.";
    Seed "seed" "Seed": Seed,
        "The number that random choices start from."
        "The same seed gives the same choices again, so a run can be repeated exactly.";
    SelfAttention "self-attention" "Self-attention": Mix,
        "Attention whose queries, keys and values all come from the same sequence."
        "Each token gathers what it needs from the others.";
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
        "The largest absolute value among a matrix’s eigenvalues."
        "It decides whether multiplying by the matrix again and again shrinks a vector to nothing in the end (below 1) or lets it grow without bound (above 1).";
    StandardDeviation "standard-deviation" "Standard deviation": Deviation,
        "How far numbers typically lie from their mean: the square root of the variance."
        "Of numbers spread like a bell curve, about two in three lie within one standard deviation of the mean.";
    StandardError "standard-error" "Standard error": StandardError,
        "How far a measured average typically lies from the true one, because only so many examples were measured."
        "Four times as many examples halve it.";
    Tanh "tanh" "Tanh": Tanh,
        "The function that takes any number to one between −1 and 1, with tanh(0) = 0."
        "Its slope is 1 at 0 and goes to 0 on either side, where the unit is said to be saturated.";
    TeacherForcing "teacher-forcing" "Teacher forcing",
        "Training a decoder on the true tokens so far, not on the ones it would have written."
        "Training is faster and steadier, but the model never sees its own mistakes.";
    Temperature "temperature" "Temperature": Temperature,
        "A number that all scores are divided by before softmax."
        "Below 1 the likeliest token gains, and above 1 all probabilities move closer together.";
    Token "token" "Token": Token,
        "One of the pieces a text is cut into for a model: a character, part of a word, or a word."
        "In most chapters here each token is one character.";
    TopK "top-k" "Top k": TopK,
        "A way to cut off improbable tokens before one is drawn: only the k most probable ones stay, scaled to add up to 1 again."
        "It keeps the same number whether the model is sure or not, and with k = 1 nothing is left to chance.";
    TopP "top-p" "Top p": TopP,
        "A way to cut off improbable tokens before one is drawn: the most probable ones stay, just enough of them for their probabilities to reach p together."
        "Those that stay are the nucleus, hence the other name, nucleus sampling; they are few where the model is sure, and many where it is not.";
    Unit "unit" "Unit",
        "One number of a layer, computed again for each input."
        "A layer of 32 units puts out a row of 32 numbers.";
    Unrolling "unrolling" "Unrolling",
        "Drawing a recurrent model once for each step, side by side."
        "All the copies share the same weights, which is why the gradient of the weights is a sum over the copies.";
    Value "value" "Value": Mix,
        "The vector a token hands over, in attention, when it is looked at."
        "The output is the sum of all values, each multiplied by its weight.";
    VanishingGradient "vanishing-gradient" "Vanishing gradient": Powers,
        "A gradient that shrinks from step to step on its way back until almost nothing of it is left."
        "What happened long before an error then can’t be learned from it.";
    Vocabulary "vocabulary" "Vocabulary": Vocabulary,
        "All the different tokens a model knows, each with a number of its own, its id."
        "The model gives every one of them a probability at every step.";
    WarmUp "warm-up" "Warm-up": Schedule,
        "The first steps of training, in which the learning rate rises from near 0."
        "The optimizer knows little about the gradients then, and large steps could do lasting harm.";
    Weight "weight" "Weight": Line,
        "A number of the model that an input is multiplied by."
        "Training changes it a little at each step, so that the loss falls.";
    WeightDecay "weight-decay" "Weight decay": Decay,
        "Pulling every weight a little toward 0 at each step."
        "Only weights that keep earning their size stay large.";
    WeightTying "weight-tying" "Weight tying",
        "Using one table both to look up the embeddings of the tokens read and to score the tokens that could come next."
        "It saves parameters, and tokens with similar uses get similar scores.";
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
