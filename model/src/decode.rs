//! Choosing the next token: what may follow, what would follow that, how surprising a text is, and
//! what a cache of keys and values saves.

use burn::tensor::Tensor;
use unroll_protocol::{
    Array,
    architecture::MaskKind,
    gpt::{
        After, Beam, Beams, Cached, Grown, MOST_BEAMS, MOST_ENDINGS, MOST_PLIES, MOST_READ, Race,
        Sampling, Surprise, ask, shares,
    },
};

use crate::{
    clock,
    data::token_tensor,
    gpt::{Gpt, KeysAndValues},
    read::read_all,
    sample::SampleError,
    tokenizer::Tokenizer,
    trace::{Read, TraceError, as_text, last_tokens},
};

/// Milliseconds after which each half of a [`race`] ends.
const LONGEST_RACE: f64 = 300.0;
/// Most logits that [`surprise`] holds at a time: 16 MB.
const MOST_LOGITS: usize = 1 << 22;

/// Logits of the next token after `text` with each of `endings`, whose ids outside the vocabulary are
/// left out.
///
/// # Errors
///
/// Where there is no text, or the device returns nothing.
pub async fn after(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
    endings: &[Vec<u32>],
) -> Result<After, TraceError> {
    let endings = &endings[..endings.len().min(MOST_ENDINGS)];
    let mut logits = Vec::with_capacity(endings.len());
    let start = tokenizer.read(text).tokens;
    for ending in endings {
        let known = ending.iter().filter(|id| (**id as usize) < tokenizer.len());
        let mut tokens: Vec<u32> = start.iter().chain(known).copied().collect();
        if tokens.is_empty() {
            return Err(TraceError::Empty);
        }
        tokens.drain(..tokens.len().saturating_sub(model.context()));
        logits.push(last_logits(model, &[tokens]));
    }
    let values = read_all(logits).await.map_err(TraceError::Read)?.concat();
    let shape = vec![endings.len() as u32, tokenizer.len() as u32];
    Ok(After {
        text: text.to_owned(),
        endings: endings.to_vec(),
        vocabulary: tokenizer.vocabulary(),
        logits: Array { shape, values },
    })
}

/// Logits after the last token of each of several texts of one length, one text after the other.
fn last_logits(model: &Gpt, texts: &[Vec<u32>]) -> Tensor<1> {
    let tokens = token_tensor(&texts.concat(), texts.len(), &model.device());
    model.forward_last(tokens).reshape([-1])
}

/// The tree of what may follow a text, with what beam search and greedy decoding find in it.
///
/// # Errors
///
/// Where there is no text, the device returns nothing, or the model's numbers ran away.
pub async fn tree(
    model: &Gpt,
    tokenizer: &Tokenizer,
    asked: &ask::Tree,
) -> Result<Grown, SampleError> {
    let ask::Tree { text, width, length, opened, closed } = asked;
    let mut met = Met::new();
    let beams = search(model, tokenizer, (text.as_str(), *width, *length), &mut met).await?;
    let greedy = search(model, tokenizer, (text.as_str(), 1, *length), &mut met).await?;
    let endings = endings([&beams, &greedy], opened, closed);
    let is_new = |ending: &&Vec<u32>| !met.iter().any(|(of, _)| of == *ending);
    let new: Vec<_> = endings.iter().filter(is_new).cloned().collect();
    let mut after = after(model, tokenizer, text, &new).await.map_err(|error| match error {
        TraceError::Read(error) => SampleError::Read(error),
        _ => SampleError::Empty,
    })?;
    let rows = after.logits.values.chunks(tokenizer.len()).map(<[f32]>::to_vec);
    met.extend(new.into_iter().zip(rows));
    let row =
        |ending: &Vec<u32>| met.iter().find(|(of, _)| of == ending).map(|(_, logits)| &**logits);
    after.logits.values = endings.iter().filter_map(row).flatten().copied().collect();
    after.logits.shape[0] = endings.len() as u32;
    after.endings = endings;
    Ok(Grown { after, beams, greedy })
}

/// The open nodes: on the way to what the searches kept, and those `opened`; without those `closed`, and what
/// is behind them.
fn endings(searches: [&Beams; 2], opened: &[Vec<u32>], closed: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for beam in searches.iter().filter_map(|beams| beams.kept.last()).flatten() {
        all.extend((1..beam.tokens.len()).map(|at| beam.tokens[..at].to_vec()));
    }
    all.extend(opened.iter().cloned());
    let is_closed = |ending: &Vec<u32>| closed.iter().any(|closed| ending.starts_with(closed));
    all.retain(|ending| !is_closed(ending));
    let mut seen = Vec::new();
    all.retain(|ending| {
        !seen.contains(ending) && {
            seen.push(ending.clone());
            true
        }
    });
    all.truncate(MOST_ENDINGS);
    all
}

/// The logits after each ending that a search went on from.
type Met = Vec<(Vec<u32>, Vec<f32>)>;

/// Beam search (Lowerre 1976): after each of `length` tokens it keeps the `width` likeliest of all
/// continuations by one token of those it kept before.
async fn search(
    model: &Gpt,
    tokenizer: &Tokenizer,
    (text, width, length): (&str, u32, u32),
    met: &mut Met,
) -> Result<Beams, SampleError> {
    let tokens = tokenizer.read(text).tokens;
    let width = width.clamp(1, MOST_BEAMS) as usize;
    let mut hypotheses = vec![(Vec::new(), 0.0)];
    let mut kept = Vec::new();
    for _ in 0..length.min(MOST_PLIES) {
        let mut windows = Vec::with_capacity(hypotheses.len());
        for (ending, _) in &hypotheses {
            let mut window: Vec<u32> = tokens.iter().chain(ending).copied().collect();
            if window.is_empty() {
                return Err(SampleError::Empty);
            }
            window.drain(..window.len().saturating_sub(model.context()));
            windows.push(window);
        }
        let logits = read_all([last_logits(model, &windows)]).await.map_err(SampleError::Read)?;
        let mut candidates = Vec::new();
        for ((ending, so_far), logits) in hypotheses.iter().zip(logits[0].chunks(tokenizer.len())) {
            met.push((ending.clone(), logits.to_vec()));
            let probabilities = shares(logits, &Sampling::PLAIN)?;
            for (token, share) in probabilities.into_iter().enumerate() {
                let total = so_far + libm::log(share.into());
                candidates.push((ending, token as u32, total));
            }
        }
        // Of equals, the one from the likelier hypothesis and with the lower id is kept.
        let mut longer = Vec::with_capacity(width);
        for _ in 0..width.min(candidates.len()) {
            let ranked = candidates.iter().enumerate().rev();
            let Some((best, _)) = ranked.max_by(|(_, a), (_, b)| a.2.total_cmp(&b.2)) else {
                break;
            };
            let (ending, token, total) = candidates.remove(best);
            longer.push((ending.iter().copied().chain([token]).collect::<Vec<u32>>(), total));
        }
        hypotheses = longer;
        let told = hypotheses.iter().map(|(ending, log_probability)| Beam {
            tokens: ending.clone(),
            text: tokenizer.shown(ending),
            log_probability: *log_probability,
        });
        kept.push(told.collect());
    }
    Ok(Beams { kept })
}

/// How surprising the model finds each token of `text`. Of a text longer than the context it
/// reads stretches that overlap by half, so that each token has at least that many before it.
///
/// # Errors
///
/// Where there is no text, the device returns nothing, or the model's numbers ran away.
pub async fn surprise(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
) -> Result<Surprise, SampleError> {
    let mut tokens = tokenizer.encode(text);
    let dropped = tokens.len().saturating_sub(MOST_READ) as u32;
    tokens.truncate(MOST_READ);
    if tokens.is_empty() {
        return Err(SampleError::Empty);
    }
    let (count, vocabulary) = (tokens.len(), tokenizer.len());
    let length = model.context().min(count);
    let half = (length / 2).max(1);
    // The last stretch ends with the text.
    let starts: Vec<usize> = (0..count - length).step_by(half).chain([count - length]).collect();
    let mut surprises = Vec::with_capacity(count - 1);
    let mut expected = Vec::with_capacity(count - 1);
    // A row is as long as the vocabulary.
    let most_rows = (MOST_LOGITS / vocabulary).max(1);
    for &start in &starts {
        let input = token_tensor(&tokens[start..start + length], 1, &model.device());
        let stream = model.stream(input, None);
        // What an earlier stretch has said is not said again, and nothing follows the last token.
        let end = length.min(count - 1 - start);
        let mut first = surprises.len() - start;
        while first < end {
            let rows = most_rows.min(end - first);
            let logits = model.logits(stream.clone().narrow(1, first, rows)).reshape([-1]);
            let logits = read_all([logits]).await.map_err(SampleError::Read)?.concat();
            for (row, logits) in logits.chunks(vocabulary).enumerate() {
                let bets = shares(logits, &Sampling::PLAIN)?;
                let next = tokens[start + first + row + 1];
                surprises.push(-libm::log(bets[next as usize].into()) as f32);
                let best = (0..vocabulary).rev().max_by(|&a, &b| bets[a].total_cmp(&bets[b]));
                let best = best.unwrap_or_default();
                expected.push((tokenizer.label(best as u32), bets[best]));
            }
            first += rows;
        }
    }
    let seen = if starts.len() > 1 { length - half } else { length } as u32;
    let characters = tokenizer.characters_in(&tokens[1..]) as u32;
    let tokens = as_text(tokenizer, &tokens);
    Ok(Surprise { tokens, dropped, surprises, characters, expected, seen })
}

/// The last token of `text` read with a cache, beside the same without.
///
/// # Errors
///
/// Where there is no text, tokens look at later ones, the device returns nothing, or the model's
/// numbers ran away.
pub async fn cached(model: &Gpt, tokenizer: &Tokenizer, text: &str) -> Result<Cached, SampleError> {
    let read = last_tokens(model, tokenizer, text).map_err(|_| SampleError::Empty)?;
    let Read { tokens, dropped, .. } = read;
    check_mask(model)?;
    let mut cache = filled(model, &tokens[..tokens.len() - 1]);
    let last = token_tensor(&tokens[tokens.len() - 1..], 1, &model.device());
    let row = model.forward_next(last, tokens.len() - 1, &mut cache);
    let blocks = cache.len();
    let whole = last_logits(model, core::slice::from_ref(&tokens));
    let mut wanted = vec![row.logits.reshape([-1]), whole];
    let flat = |all: Vec<Tensor<4>>| Tensor::cat(all, 0).reshape([-1]);
    if blocks > 0 {
        let part = |which: usize| row.attention.iter().map(|row| row[which].clone()).collect();
        let (queries, weights): (Vec<_>, Vec<_>) = (part(0), part(1));
        let part = |which: usize| cache.iter().map(|kept| kept[which].clone()).collect();
        let (keys, values): (Vec<_>, Vec<_>) = (part(0), part(1));
        wanted.extend([queries, weights, keys, values].map(flat));
    }
    let shape = cache.first().map(|kept| kept[0].dims());
    let [_, heads, count, width] = shape.unwrap_or([0; 4]).map(|size| size as u32);
    let mut read = read_all(wanted).await.map_err(SampleError::Read)?.into_iter();
    let mut next = || read.next().unwrap_or_default();
    let (with, without) = (next(), next());
    let pairs = with.iter().zip(&without);
    let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let of = |values, shape: &[u32]| Array { shape: shape.to_vec(), values };
    let blocks = blocks as u32;
    let queries = of(next(), &[blocks, heads, width]);
    let weights = of(next(), &[blocks, heads, count]);
    let [keys, values] = [next(), next()].map(|all| of(all, &[blocks, heads, count, width]));
    Ok(Cached {
        products: [false, true].map(|whole| products(model, tokens.len(), whole)),
        tokens: as_text(tokenizer, &tokens),
        dropped,
        blocks,
        queries,
        keys,
        values,
        weights,
        vocabulary: tokenizer.vocabulary(),
        shares: shares(&with, &Sampling::PLAIN)?,
        difference,
    })
}

/// A cache is of use only where what was computed for a token stays true when others follow.
fn check_mask(model: &Gpt) -> Result<(), SampleError> {
    match model.architecture().mask {
        MaskKind::Full => Err(SampleError::LooksAhead),
        MaskKind::Causal | MaskKind::Band => Ok(()),
    }
}

/// The keys and values of `tokens`, which stand at the beginning.
pub(crate) fn filled(model: &Gpt, tokens: &[u32]) -> Vec<KeysAndValues> {
    if tokens.is_empty() {
        return Vec::new();
    }
    model.cache(token_tensor(tokens, 1, &model.device()))
}

/// Multiplications in matrix products for the logits after `count` tokens: of the last token's row
/// alone, or of all rows.
fn products(model: &Gpt, count: usize, whole: bool) -> u64 {
    let [vocabulary, width] = model.token_embedding.weight.dims();
    let rows = if whole { count } else { 1 };
    let blocks = model.blocks.iter().map(|block| {
        // Queries, keys, values and output; scores and mix.
        let attention = block.attention.as_ref().map_or(0, |_| 4 * width + 2 * count);
        let feed_forward = block.feed_forward.as_ref().map_or(0, |_| 8 * width);
        rows * width * (attention + feed_forward)
    });
    (blocks.sum::<usize>() + width * vocabulary) as u64
}

/// How fast the model goes on with `text`, always with the likeliest token, with a cache and
/// without. Each ends after `length` tokens, or when it has taken [`LONGEST_RACE`].
///
/// # Errors
///
/// Where there is no text, tokens look at later ones, there is no clock, or the device returns
/// nothing.
pub async fn race(
    model: &Gpt,
    tokenizer: &Tokenizer,
    text: &str,
    length: u32,
) -> Result<Race, SampleError> {
    let start = last_tokens(model, tokenizer, text).map_err(|_| SampleError::Empty)?.tokens;
    check_mask(model)?;
    let mut speeds = [0.0; 2];
    let mut refilled = 0;
    for (speed, with_cache) in speeds.iter_mut().zip([true, false]) {
        let mut tokens = start.clone();
        let began = clock::now().ok_or(SampleError::NoClock)?;
        let (mut written, mut took) = (0, 0.0);
        let mut cache = with_cache.then(|| filled(model, &tokens[..tokens.len() - 1]));
        while written < length && took < LONGEST_RACE {
            let logits = match &mut cache {
                Some(cache) => {
                    let last = tokens.len() - 1;
                    let token = token_tensor(&tokens[last..], 1, &model.device());
                    model.forward_next(token, last, cache).logits.reshape([-1])
                }
                None => last_logits(model, core::slice::from_ref(&tokens)),
            };
            let logits = read_all([logits]).await.map_err(SampleError::Read)?.concat();
            let bets = shares(&logits, &Sampling::GREEDY)?;
            let next = bets.iter().position(|&share| share > 0.0).unwrap_or_default();
            if tokens.len() == model.context() {
                // Every token moves one position down, and with it all that was computed from it.
                tokens.remove(0);
                if let Some(cache) = &mut cache {
                    *cache = filled(model, &tokens);
                    refilled += 1;
                }
            }
            tokens.push(next as u32);
            written += 1;
            took = clock::now().ok_or(SampleError::NoClock)? - began;
        }
        *speed = (f64::from(written) * 1000.0 / took.max(1e-3)) as f32;
    }
    let [cached, uncached] = speeds;
    Ok(Race { cached, uncached, refilled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_of_beam_search_are_open() {
        let ids = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        let beam = |text| Beam { tokens: ids(text), text: String::new(), log_probability: 0.0 };
        let beams = Beams { kept: vec![vec![beam("abc"), beam("abd")]] };
        let endings = |opened: &[_], closed: &[_]| endings([&beams; 2], opened, closed);
        assert_eq!(endings(&[], &[]), ["", "a", "ab"].map(ids));
        let opened = ["x", "ab"].map(ids);
        assert_eq!(endings(&opened, &[]), ["", "a", "ab", "x"].map(ids));
        assert_eq!(endings(&opened, &[ids("a")]), ["", "x"].map(ids));
        let many: Vec<Vec<u32>> = (0..99).map(|at| vec![at]).collect();
        assert_eq!(endings(&many, &[]).len(), MOST_ENDINGS);
    }
}
