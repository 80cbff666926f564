//! A decoder-only transformer as in GPT-2 (Radford et al. 2019), and its variants.

use burn::{
    module::Module,
    nn::{Embedding, Linear},
    tensor::{Device, Int, Tensor},
};
use unroll_protocol::{
    Architecture, GptSpec, Initialization,
    architecture::{MaskKind, NormPlacement, Positions},
    study::heads::HeadAt,
};

use crate::{
    attention::{AttentionRules, AttentionTrace, Mask},
    block::{Block, BlockConfig, LayerTrace},
    deviations::Deviations,
    dropout::Dropout,
    fused::{self, linear, normalize, product},
    norm::Norm,
    parameters::matrix,
    position::{Rotation, added},
    random::{Normals, Purpose, stream},
};

/// Configuration of a [`Gpt`].
#[derive(Clone, Copy, Debug)]
pub struct GptConfig {
    /// Shape of the model.
    pub spec: GptSpec,
    /// Number of tokens it knows.
    pub vocabulary: usize,
    pub initialization: Initialization,
    /// Decides every initial weight.
    pub seed: u32,
}

/// Token embeddings, positions, blocks, a final norm and a head without bias. The head is either a
/// matrix of its own or, if tied, the token embedding (Press and Wolf 2017).
#[derive(Module, Debug)]
pub struct Gpt {
    pub token_embedding: Embedding,
    /// `[context, width]`, if positions are learned.
    pub position_embedding: Option<Embedding>,
    pub blocks: Vec<Block>,
    /// Present only if blocks normalize their inputs.
    pub final_norm: Option<Norm>,
    /// `None` if tied.
    pub head: Option<Linear>,
    #[module(skip)]
    architecture: Architecture,
    heads: usize,
    context: usize,
}

/// What a block's attention keeps of the tokens it has read: keys and values, each
/// `[batch, heads, T, d]`.
pub type KeysAndValues = [Tensor<4>; 2];

/// What one token more reads and computes, with those before it in a cache.
#[derive(Clone, Debug)]
pub struct GptRow {
    /// For each block that has attention, the token's queries, `[batch, heads, 1, d]`, and its row
    /// of weights, `[batch, heads, 1, T]`.
    pub attention: Vec<[Tensor<4>; 2]>,
    /// `[batch, 1, vocabulary]`
    pub logits: Tensor<3>,
}

/// Intermediate results of a model.
#[derive(Clone, Debug)]
pub struct GptTrace {
    /// Token embeddings, scaled if the kind of positions requires it, `[batch, T, width]`.
    pub tokens: Tensor<3>,
    /// What was added for the positions, `[T, width]`, if anything.
    pub positions: Option<Tensor<2>>,
    /// The sum of both, `[batch, T, width]`.
    pub embeddings: Tensor<3>,
    /// One for each block.
    pub layers: Vec<LayerTrace>,
    /// The rules of attention, in every layer.
    pub rules: AttentionRules,
    /// The input of the head, `[batch, T, width]`.
    pub final_norm: Tensor<3>,
    /// `[batch, T, vocabulary]`
    pub logits: Tensor<3>,
}

impl GptConfig {
    /// Draws the initial weights as GPT-2 does: from N(0, 0.02²), scaled down by `sqrt(2 * layers)`
    /// in the layers that write into the residual stream, because that many of them add up in it.
    /// Biases are 0 and norms are the identity. The draws are the same on every device. Another
    /// [`Initialization`] takes the same draws, scaled otherwise.
    ///
    /// Where positions are fixed vectors, such as sines up to 1 or integers, token embeddings of
    /// 0.02 would be lost beside them: there they are drawn from N(0, 1 / width) and multiplied by
    /// `sqrt(width)`, as in Vaswani et al. 2017, section 3.4.
    ///
    /// # Panics
    ///
    /// Panics if the heads do not divide the width; [`GptSpec::validate`] checks this.
    pub fn init(&self, device: &Device) -> Gpt {
        let GptSpec { layers, heads, width, context, tied, architecture, .. } = self.spec;
        let (width, heads, context) = (width as usize, heads as usize, context as usize);
        let mut draws = Normals::new(stream(self.seed, Purpose::Weights, [0; 3]));
        let deviations = Deviations { initialization: self.initialization, layers };
        let block = BlockConfig { width, heads, architecture, deviations };
        let vocabulary = self.vocabulary;
        let usual = if adds_vectors(architecture) { 1.0 / (width as f64).sqrt() } else { 0.02 };
        let deviation = deviations.embedding(usual);
        let learned_deviation = deviations.embedding(0.02);
        let head_shape = [width, vocabulary];
        let learned = architecture.positions == Positions::Learned;
        let normed = architecture.norm == NormPlacement::Pre;
        Gpt {
            token_embedding: Embedding {
                weight: matrix([vocabulary, width], deviation, &mut draws, device),
            },
            position_embedding: learned.then(|| Embedding {
                weight: matrix([context, width], learned_deviation, &mut draws, device),
            }),
            blocks: (0..layers).map(|_| block.init(&mut draws, device)).collect(),
            final_norm: normed.then(|| Norm::new(architecture.norm_kind, width, device)),
            head: (!tied).then(|| Linear {
                weight: matrix(head_shape, deviations.inner(head_shape), &mut draws, device),
                bias: None,
            }),
            architecture,
            heads,
            context,
        }
    }
}

/// Whether positions are fixed vectors that are added.
fn adds_vectors(architecture: Architecture) -> bool {
    matches!(architecture.positions, Positions::Sinusoidal | Positions::Integer)
}

impl Gpt {
    /// Logits of the next token at every position.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, T, vocabulary]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than [`most_tokens`](Self::most_tokens).
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        self.logits(self.stream(tokens, None))
    }

    /// Logits of the token after the last one only.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, 1, vocabulary]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than [`most_tokens`](Self::most_tokens).
    pub fn forward_last(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [_, length] = tokens.dims();
        self.logits(self.stream(tokens, None).narrow(1, length - 1, 1))
    }

    /// Like [`forward`](Self::forward), under an attention `mask` in place of the model's own.
    pub fn forward_under(&self, tokens: Tensor<2, Int>, mask: Mask) -> Tensor<3> {
        self.logits(self.stream(tokens, Some(mask)))
    }

    /// Like [`forward`](Self::forward), or [`forward_under`](Self::forward_under) a mask, and returns the
    /// intermediate results. The logits are the same to the last bit.
    pub fn forward_traced(&self, tokens: Tensor<2, Int>, mask: Option<Mask>) -> GptTrace {
        let [_, length] = tokens.dims();
        let rules = self.rules_under(mask, length);
        let (tokens, positions) = self.embed_apart(tokens, 0);
        let embeddings = sum(tokens.clone(), positions.clone());
        let mut layers: Vec<LayerTrace> = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let input = layers.last().map_or(&embeddings, |layer| &layer.output).clone();
            layers.push(block.forward_traced(input, &rules, &Dropout::off()));
        }
        let stream = layers.last().map_or(&embeddings, |layer| &layer.output).clone();
        let final_norm = self.normalize(stream);
        let logits = self.head(final_norm.clone());
        GptTrace { tokens, positions, embeddings, layers, rules, final_norm, logits }
    }

    /// The attention weights of each block that has attention, `[batch, heads, T, T]`, and the residual stream
    /// before the first block and after each of them, `[batch, T, width]`. What
    /// [`forward_traced`](Self::forward_traced) tells of them, without the rest.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than [`most_tokens`](Self::most_tokens).
    pub(crate) fn weights_and_streams(
        &self,
        tokens: Tensor<2, Int>,
    ) -> (Vec<Tensor<4>>, Vec<Tensor<3>>) {
        let mut weights = Vec::with_capacity(self.blocks.len());
        let take = &mut |attention: AttentionTrace| weights.push(attention.weights);
        let streams = self.attend(tokens, &self.blocks, take);
        (weights, streams)
    }

    /// The keys and values of `tokens`, which stand at the beginning: one entry for each block that has
    /// attention.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than [`most_tokens`](Self::most_tokens).
    pub fn cache(&self, tokens: Tensor<2, Int>) -> Vec<KeysAndValues> {
        let mut cache = Vec::with_capacity(self.blocks.len());
        let take = &mut |attention: AttentionTrace| cache.push([attention.keys, attention.values]);
        self.attend(tokens, &self.blocks, take);
        cache
    }

    /// How a block, counted from 0, attends; `None` if the model has no such block, or it has no attention.
    /// What comes after it is not computed.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than [`most_tokens`](Self::most_tokens).
    pub(crate) fn attention_of(
        &self,
        tokens: Tensor<2, Int>,
        block: usize,
    ) -> Option<AttentionTrace> {
        let mut last = None;
        self.attend(tokens, self.blocks.get(..=block)?, &mut |attention| last = Some(attention));
        last.filter(|_| self.blocks[block].attention.is_some())
    }

    /// Has `take` take what it needs from each of these blocks that has attention, and returns the stream before
    /// the first and after each. The rest of a block's trace is dropped before the next runs, so that all of them
    /// are never in memory at once.
    fn attend(
        &self,
        tokens: Tensor<2, Int>,
        blocks: &[Block],
        take: &mut dyn FnMut(AttentionTrace),
    ) -> Vec<Tensor<3>> {
        let [_, length] = tokens.dims();
        let rules = self.attention_rules(length);
        let mut stream = self.embed(tokens, &Dropout::off());
        let mut streams = vec![stream.clone()];
        for block in blocks {
            let layer = block.forward_traced(stream, &rules, &Dropout::off());
            layer.attention.into_iter().for_each(&mut *take);
            stream = layer.output;
            streams.push(stream.clone());
        }
        streams
    }

    /// Logits after one token more, whose position is `first`. Of the tokens before it, the model
    /// reads nothing but the keys and values in `cache`, to which the token's own are added; an empty
    /// cache is filled. Equal to [`forward_last`](Self::forward_last) up to rounding, as long as no
    /// token looks at later ones.
    ///
    /// # Shapes
    ///
    /// - token: `[batch, 1]`
    ///
    /// # Panics
    ///
    /// Panics if `first` is beyond [`most_tokens`](Self::most_tokens).
    pub fn forward_next(
        &self,
        token: Tensor<2, Int>,
        first: usize,
        cache: &mut Vec<KeysAndValues>,
    ) -> GptRow {
        let band = match self.architecture.mask {
            MaskKind::Band => self.architecture.band as usize,
            MaskKind::Causal | MaskKind::Full => usize::MAX,
        };
        let mask = Mask::from_fn(1, first + 1, |_, key| first - key < band);
        let rules = self.rules_with(mask, first);
        let (token, position) = self.embed_apart(token, first);
        let mut stream = sum(token, position);
        let mut attention = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let kept = cache.get_mut(attention.len());
            let (output, row) = block.forward_next(stream, &rules, kept);
            stream = output;
            if let Some([query, key, value, weights]) = row {
                if attention.len() == cache.len() {
                    cache.push([key, value]);
                }
                attention.push([query, weights]);
            }
        }
        GptRow { attention, logits: self.logits(stream) }
    }

    /// The residual stream before the first block.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, T, width]`
    ///
    /// # Panics
    ///
    /// Panics if T is longer than [`most_tokens`](Self::most_tokens).
    pub fn embed(&self, tokens: Tensor<2, Int>, dropout: &Dropout) -> Tensor<3> {
        let (tokens, positions) = self.embed_apart(tokens, 0);
        dropout.apply(sum(tokens, positions), 0)
    }

    /// Embeddings of the tokens, `[batch, T, width]`, and of their positions, `[T, width]`, if
    /// positions are added. The first token stands at position `first`.
    pub(crate) fn embed_apart(
        &self,
        tokens: Tensor<2, Int>,
        first: usize,
    ) -> (Tensor<3>, Option<Tensor<2>>) {
        let [_, length] = tokens.dims();
        let (most, end) = (self.most_tokens(), first + length);
        assert!(
            most.is_none_or(|most| end <= most),
            "{end} tokens are longer than the context of {}",
            self.context
        );
        let mut embedded = fused::embed(&self.token_embedding, tokens);
        let [_, _, width] = embedded.dims();
        if adds_vectors(self.architecture) {
            embedded = embedded * (width as f64).sqrt();
        }
        let positions = match &self.position_embedding {
            Some(learned) => Some(learned.weight.val().narrow(0, first, length)),
            None => added(self.architecture.positions, first, length, width, &self.device()),
        };
        (embedded, positions)
    }

    /// What the attention of every layer needs for sequences of `length` tokens.
    pub fn attention_rules(&self, length: usize) -> AttentionRules {
        self.rules_with(self.mask(length), 0)
    }

    /// The attention mask for a sequence of `length` tokens.
    pub fn mask(&self, length: usize) -> Mask {
        let Architecture { mask, band, .. } = self.architecture;
        match mask {
            MaskKind::Causal => Mask::causal(length),
            MaskKind::Full => Mask::full(length, length),
            MaskKind::Band => {
                Mask::causal(length).intersection(&Mask::local(length, band as usize))
            }
        }
    }

    /// The rules of queries that stand at position `first` and behind it.
    fn rules_with(&self, mask: Mask, first: usize) -> AttentionRules {
        let (device, queries) = (self.device(), mask.queries());
        let rules = AttentionRules::new(mask, &device);
        match self.architecture.positions {
            Positions::Alibi => rules.with_alibi(self.heads, first, &device),
            Positions::Rotary => {
                let [_, width] = self.token_embedding.weight.dims();
                rules.with_rotation(Rotation::at(first, queries, width / self.heads, &device))
            }
            _ => rules,
        }
    }

    /// The rules under a mask; without one, under the model's own.
    fn rules_under(&self, mask: Option<Mask>, length: usize) -> AttentionRules {
        self.rules_with(mask.unwrap_or_else(|| self.mask(length)), 0)
    }

    /// Logits from the residual stream after the last block.
    ///
    /// # Shapes
    ///
    /// - stream: `[batch, T, width]`
    /// - output: `[batch, T, vocabulary]`
    pub fn logits(&self, stream: Tensor<3>) -> Tensor<3> {
        self.head(self.normalize(stream))
    }

    fn normalize(&self, stream: Tensor<3>) -> Tensor<3> {
        match &self.final_norm {
            Some(norm) => normalize(norm, stream),
            None => stream,
        }
    }

    fn head(&self, normed: Tensor<3>) -> Tensor<3> {
        match &self.head {
            Some(head) => linear(head, normed),
            None => {
                let weight = self.token_embedding.weight.val();
                let [vocabulary, width] = weight.dims();
                let [batch, length, _] = normed.dims();
                let rows = product(normed.reshape([batch * length, width]), weight.transpose());
                rows.reshape([batch, length, vocabulary])
            }
        }
    }

    /// The residual stream after the last block.
    ///
    /// # Shapes
    ///
    /// - tokens: `[batch, T]`
    /// - output: `[batch, T, width]`
    pub(crate) fn stream(&self, tokens: Tensor<2, Int>, mask: Option<Mask>) -> Tensor<3> {
        let [_, length] = tokens.dims();
        let rules = self.rules_under(mask, length);
        let embeddings = self.embed(tokens, &Dropout::off());
        self.blocks
            .iter()
            .fold(embeddings, |stream, block| block.forward(stream, &rules, &Dropout::off()))
    }

    /// The model with the output of the heads `off` replaced by 0: the rows of W_O that read them are 0.
    /// Heads that the model does not have are ignored.
    pub fn without_heads(mut self, off: &[HeadAt]) -> Self {
        let heads = self.heads as u32;
        for (layer, block) in (1..).zip(&mut self.blocks) {
            let Some(attention) = &mut block.attention else { continue };
            let on = (1..=heads).map(|head| !off.contains(&HeadAt { layer, head }));
            let on: Vec<bool> = on.collect();
            if on.contains(&false) {
                attention.keep_heads(&on);
            }
        }
        self
    }

    /// The model with a context of this length, for which it must have been given positions.
    pub(crate) fn with_context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Number of heads of each block that has attention.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// Length of the sequences the model was built for.
    pub fn context(&self) -> usize {
        self.context
    }

    /// Longest sequence it can read at all: learned positions end at the context, every other
    /// encoding continues.
    pub fn most_tokens(&self) -> Option<usize> {
        self.position_embedding.is_some().then_some(self.context)
    }

    /// The device that holds the weights.
    pub fn device(&self) -> Device {
        self.token_embedding.weight.device().inner()
    }
}

fn sum(tokens: Tensor<3>, positions: Option<Tensor<2>>) -> Tensor<3> {
    match positions {
        Some(positions) => tokens + positions.unsqueeze::<3>(),
        None => tokens,
    }
}
