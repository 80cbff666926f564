//! The inside of a model: the jobs of its heads, how alike its positions are, and one text's stream in place of
//! another's.

use core::fmt;

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    architecture::MaskKind,
    gpt::{Alike, HEAD_JOBS, HeadScores, MOST_PATCHED, MOST_POSITIONS, Patched},
};

use crate::{
    data::token_tensor,
    dropout::Dropout,
    gpt::Gpt,
    loss::cross_entropy_each,
    random::{Purpose, below, stream},
    read::{ReadError, read_all},
    tokenizer::Tokenizer,
    trace::{TraceError, as_text},
};

/// The most tokens that are repeated for [`head_scores`].
const MOST_REPEATED: usize = 32;

/// Of equals, the first.
pub(crate) fn likeliest(shares: &[f32]) -> usize {
    let ranked = shares.iter().enumerate().rev();
    ranked.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at)
}

/// What each head looks at in a text of random tokens, no two of them alike, that comes twice.
///
/// # Errors
///
/// Where the model has too few tokens for that, or the device returns nothing.
pub async fn head_scores(
    model: &Gpt,
    tokenizer: &Tokenizer,
    seed: u32,
) -> Result<HeadScores, TraceError> {
    let count = MOST_REPEATED.min((model.context() - 1) / 2).min(tokenizer.len() / 2);
    let mut rng = stream(seed, Purpose::HeadScores, [0; 3]);
    let mut half = Vec::with_capacity(count);
    while half.len() < count {
        let token = below(&mut rng, tokenizer.len()) as u32;
        if !half.contains(&token) {
            half.push(token);
        }
    }
    head_scores_on(model, tokenizer, &half).await
}

/// The same in a text of these tokens.
///
/// # Errors
///
/// Where they are fewer than two, or the device returns nothing.
pub async fn head_scores_on(
    model: &Gpt,
    tokenizer: &Tokenizer,
    half: &[u32],
) -> Result<HeadScores, TraceError> {
    let beginning = [tokenizer.beginning().unwrap_or_default()];
    let tokens = [&beginning, half, half].concat();
    let (length, count) = (tokens.len(), half.len());
    if count < 2 {
        return Err(TraceError::ShortContext);
    }
    let (weights, streams) = model.weights_and_streams(token_tensor(&tokens, 1, &model.device()));
    let last = streams.last().expect("one for the embeddings").clone();
    let targets = token_tensor(&tokens[1..], 1, &model.device());
    let losses = cross_entropy_each(model.logits(last.narrow(1, 0, length - 1)), targets);
    let (layers, heads) = (weights.len(), model.heads());
    let mut tensors = vec![losses.reshape([-1])];
    tensors.extend((layers > 0).then(|| Tensor::cat(weights, 0).reshape([-1])));
    let mut read = read_all(tensors).await.map_err(TraceError::Read)?.into_iter();
    let (losses, weights) = (read.next().unwrap_or_default(), read.next().unwrap_or_default());
    // Which token looks where, by job.
    let second = count + 1..length;
    let looks = HEAD_JOBS.map(|job| -> Vec<[usize; 2]> {
        match job {
            // What the second looks at is the first in any case.
            "previous" => (2..length).map(|at| [at, at - 1]).collect(),
            "first" => (1..length).map(|at| [at, 0]).collect(),
            "itself" => (1..length).map(|at| [at, at]).collect(),
            "same" => second.clone().map(|at| [at, at - count]).collect(),
            _ => second.clone().map(|at| [at, at - count + 1]).collect(),
        }
    });
    let scores = looks.iter().flat_map(|looks| {
        weights.chunks(length * length).map(|head| {
            let sum: f64 = looks.iter().map(|[from, to]| f64::from(head[from * length + to])).sum();
            (sum / looks.len() as f64) as f32
        })
    });
    let mean = |losses: &[f32]| {
        (losses.iter().map(|loss| f64::from(*loss)).sum::<f64>() / losses.len() as f64) as f32
    };
    Ok(HeadScores {
        repeated: count as u32,
        scores: Array {
            shape: vec![HEAD_JOBS.len() as u32, layers as u32, heads as u32],
            values: scores.collect(),
        },
        losses: [mean(&losses[..count]), mean(&losses[count + 1..])],
    })
}

/// How alike the vectors are that `model` learned for its positions.
///
/// # Errors
///
/// Where it learned none, or the device returns nothing.
pub async fn positions(model: &Gpt) -> Result<Alike, TraceError> {
    let learned = model.position_embedding.as_ref().ok_or(TraceError::NoPositions)?;
    let weight = learned.weight.val();
    let [context, width] = weight.dims();
    let read = read_all([weight.reshape([-1])]).await.map_err(TraceError::Read)?.concat();
    let every = context.div_ceil(MOST_POSITIONS);
    let vectors: Vec<&[f32]> = read.chunks(width).step_by(every).collect();
    let product = |[one, other]: [usize; 2]| -> f64 {
        let pairs = vectors[one].iter().zip(vectors[other]);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let count = vectors.len();
    let lengths: Vec<f64> = (0..count).map(|at| product([at, at]).sqrt()).collect();
    let cosines = (0..count * count).map(|cell| {
        let places = [cell / count, cell % count];
        (product(places) / (lengths[places[0]] * lengths[places[1]])) as f32
    });
    Ok(Alike {
        positions: (0..context as u32).step_by(every).collect(),
        cosines: Array { shape: vec![count as u32; 2], values: cosines.collect() },
    })
}

/// Why one text's stream can't be put into another. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchError {
    Empty,
    TooLong {
        tokens: usize,
    },
    Lengths([usize; 2]),
    /// There is no such block.
    Depth,
    Read(ReadError),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "Write two sentences to compare."),
            Self::TooLong { tokens } => write!(
                f,
                "A sentence of {tokens} tokens is too long for this. Write at most {MOST_PATCHED}."
            ),
            Self::Lengths([one, other]) => write!(
                f,
                "The sentences must have equally many tokens, so that each token has a partner. Now they have \
                 {one} and {other}."
            ),
            Self::Depth => write!(f, "The model has no such block."),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PatchError {}

/// How probable `model` finds what it expects after the text `from`, when it reads the text `into` with the stream of
/// one token, after `depth` blocks, taken from `from`: for each token.
///
/// # Errors
///
/// Where the texts are of unequal length, too long or empty, or there is no such block.
pub async fn patch(
    model: &Gpt,
    tokenizer: &Tokenizer,
    [from, into]: [&str; 2],
    depth: u32,
) -> Result<Patched, PatchError> {
    let ids = [from, into].map(|text| tokenizer.read(text).tokens);
    let lengths = [ids[0].len(), ids[1].len()];
    let (length, depth) = (lengths[0], depth as usize);
    if lengths.contains(&0) {
        return Err(PatchError::Empty);
    }
    if lengths[0] != lengths[1] {
        return Err(PatchError::Lengths(lengths));
    }
    if length > MOST_PATCHED.min(model.context()) {
        return Err(PatchError::TooLong { tokens: length });
    }
    if depth > model.blocks.len() {
        return Err(PatchError::Depth);
    }
    let rules = model.attention_rules(length);
    let run = |stream: Tensor<3>, blocks: core::ops::Range<usize>| {
        let blocks = model.blocks[blocks].iter();
        blocks.fold(stream, |stream, block| block.forward(stream, &rules, &Dropout::off()))
    };
    let last = |stream: Tensor<3>| {
        let [texts, ..] = stream.dims();
        softmax(model.logits(stream.narrow(1, length - 1, 1)), 2).reshape([texts as i32, -1])
    };
    let tokens = token_tensor(&ids.concat(), 2, &model.device());
    let streams = run(model.embed(tokens, &Dropout::off()), 0..depth);
    let [_, _, width] = streams.dims();
    let (source, target) = (streams.clone().narrow(0, 0, 1), streams.clone().narrow(0, 1, 1));
    // Where no token sees later ones, the streams of both texts are the same before the first that differs.
    let is_causal = model.architecture().mask != MaskKind::Full;
    let differing = ids[0].iter().zip(&ids[1]).position(|(one, other)| one != other);
    let first = if is_causal { differing.unwrap_or(length - 1) } else { 0 };
    // One text for each token from there on, with that token's stream from the other.
    let patched = (first..length).map(|at| {
        let place = [0..1, at..at + 1, 0..width];
        target.clone().slice_assign(place.clone(), source.clone().slice(place))
    });
    let patched = run(Tensor::cat(patched.collect(), 0), depth..model.blocks.len());
    let whole = run(streams, depth..model.blocks.len());
    let read = read_all([last(whole).reshape([-1])]).await.map_err(PatchError::Read)?;
    let (one, other) = read[0].split_at(tokenizer.len());
    let best = [one, other].map(likeliest);
    // Only the share of one token is wanted of each.
    let column = last(patched).narrow(1, best[0], 1).reshape([-1]);
    let read = read_all([column]).await.map_err(PatchError::Read)?.concat();
    let patched = core::iter::repeat_n(other[best[0]], first).chain(read).collect();
    Ok(Patched {
        tokens: [0, 1].map(|text: usize| as_text(tokenizer, &ids[text])),
        best: best.map(|id| tokenizer.label(id as u32)),
        shares: [one[best[0]], other[best[0]]],
        patched,
    })
}
