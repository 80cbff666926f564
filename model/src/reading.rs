//! What a reading tells about the inside of a model: what each head does with the text, and what the model would
//! say if it ended after an earlier block.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    gpt::{Habits, Lens, MOST_IN_LENS},
};

use crate::{
    attention::{head_statistics, statistics_of},
    gpt::Gpt,
    inside::likeliest,
    read::read_all,
    tokenizer::Tokenizer,
    trace::{Reading, TraceError, as_text},
};

impl Reading {
    /// What each head does with the text, in numbers.
    ///
    /// # Errors
    ///
    /// Where the device returns nothing.
    pub async fn habits(&self, model: &Gpt) -> Result<Habits, TraceError> {
        let tokens = self.read.tokens.len();
        let mut statistics = Vec::new();
        // The first query has nothing to choose from.
        if tokens > 1 {
            let weights = self.weights.iter().cloned();
            let each = weights.map(|weights| head_statistics(weights).reshape([-1]));
            statistics = statistics_of(&read_all(each).await.map_err(TraceError::Read)?.concat());
        }
        Ok(Habits {
            tokens: tokens as u32,
            layers: model.blocks.len() as u32,
            heads: model.heads() as u32,
            statistics,
        })
    }

    /// What the residual stream says before the first block and after each of them, at `count` of the last
    /// [`MOST_IN_LENS`] tokens, with `from` being the first of them.
    ///
    /// # Errors
    ///
    /// Where the device returns nothing.
    pub async fn lens(
        &self,
        model: &Gpt,
        tokenizer: &Tokenizer,
        [from, count]: [u32; 2],
    ) -> Result<Lens, TraceError> {
        let all = &self.read.tokens;
        let first = all.len().saturating_sub(MOST_IN_LENS);
        let tokens = &all[first..];
        let from = (from as usize).min(tokens.len() - 1);
        let count = (count as usize).clamp(1, tokens.len() - from);
        // All depths together: an unembedding is so large that arranging it for a product takes as long as
        // multiplying several rows by it.
        let depths = self.streams.len();
        let streams = self.streams.iter().cloned();
        let streams = streams.map(|stream| stream.narrow(1, first + from, count));
        let logits = model.logits(Tensor::cat(streams.collect(), 0));
        let read = read_all([softmax(logits, 2).reshape([-1])]).await;
        let shares = read.map_err(TraceError::Read)?.pop().unwrap_or_default();
        let rows: Vec<&[f32]> = shares.chunks(tokenizer.len()).collect();
        let best: Vec<usize> = rows.iter().map(|row| likeliest(row)).collect();
        let finally = &best[(depths - 1) * count..];
        let share = |ids: &mut dyn Iterator<Item = &usize>| Array {
            shape: vec![depths as u32, count as u32],
            values: rows.iter().zip(ids).map(|(row, id)| row[*id]).collect(),
        };
        Ok(Lens {
            tokens: as_text(tokenizer, tokens),
            dropped: self.read.dropped + first as u32,
            from: from as u32,
            shares: share(&mut best.iter()),
            finally: share(&mut finally.iter().cycle()),
            best: best.iter().map(|id| tokenizer.label(*id as u32)).collect(),
        })
    }
}
