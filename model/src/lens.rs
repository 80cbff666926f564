//! What a model would say if it ended after an earlier block.

use burn::tensor::{Tensor, activation::softmax};
use unroll_protocol::{
    Array,
    gpt::{Lens, MOST_IN_LENS},
};

use crate::{
    data::token_tensor,
    gpt::Gpt,
    inside::likeliest,
    read::read_all,
    tokenizer::Tokenizer,
    trace::{Read, TraceError, as_text, last_tokens},
};

/// The residual stream before the first block and after each of them, at the last tokens of a text. It is
/// computed once and read bit by bit: reading is the costly part.
#[derive(Clone, Debug)]
pub struct Streams {
    /// Those tokens, [`MOST_IN_LENS`] at most.
    tokens: Vec<u32>,
    /// Number of tokens of the text before those.
    dropped: u32,
    /// `[blocks + 1, tokens, width]`
    values: Tensor<3>,
}

impl Streams {
    /// # Errors
    ///
    /// Where there is no text.
    pub fn of(model: &Gpt, tokenizer: &Tokenizer, text: &str) -> Result<Self, TraceError> {
        let Read { mut tokens, dropped, .. } = last_tokens(model, tokenizer, text)?;
        let streams = model.streams(token_tensor(&tokens, 1, &model.device()));
        let first = tokens.len().saturating_sub(MOST_IN_LENS);
        let tokens = tokens.split_off(first);
        let last = streams.into_iter().map(|stream| stream.narrow(1, first, tokens.len()));
        let values = Tensor::cat(last.collect(), 0);
        Ok(Self { dropped: dropped + first as u32, values, tokens })
    }

    /// What the stream says at `count` of the tokens, with `from` being the first of them.
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
        let [depths, tokens, _] = self.values.dims();
        let from = (from as usize).min(tokens - 1);
        let count = (count as usize).clamp(1, tokens - from);
        // All depths together: an unembedding is so large that arranging it for a product takes as long as
        // multiplying several rows by it.
        let logits = model.logits(self.values.clone().narrow(1, from, count));
        let read = read_all([softmax(logits, 2).reshape([-1])]).await;
        let all = read.map_err(TraceError::Read)?.pop().unwrap_or_default();
        let rows: Vec<&[f32]> = all.chunks(tokenizer.len()).collect();
        let best: Vec<usize> = rows.iter().map(|row| likeliest(row)).collect();
        let finally = &best[(depths - 1) * count..];
        let share = |ids: &mut dyn Iterator<Item = &usize>| Array {
            shape: vec![depths as u32, count as u32],
            values: rows.iter().zip(ids).map(|(row, id)| row[*id]).collect(),
        };
        Ok(Lens {
            tokens: as_text(tokenizer, &self.tokens),
            dropped: self.dropped,
            from: from as u32,
            shares: share(&mut best.iter()),
            finally: share(&mut finally.iter().cycle()),
            best: best.iter().map(|id| tokenizer.label(*id as u32)).collect(),
        })
    }
}
