//! Greedy decoding and beam search.

use burn::tensor::{Int, Tensor};

use super::{DecoderState, Seq2seq, Source};
use crate::{
    data::token_tensor,
    read::{ReadError, read_all},
    tasks::END,
};

/// A sequence found by a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// Without the end token.
    pub tokens: Vec<u32>,
    /// The natural logarithm of its probability, including the end token if it ended.
    pub log_probability: f32,
    /// Whether it ended with the end token rather than at the length limit.
    pub ended: bool,
}

impl Seq2seq {
    /// Writes the likeliest token at every step, and continues after the end token; nothing is read
    /// back.
    ///
    /// # Shapes
    ///
    /// - output: `[batch, most]`
    pub fn greedy(&self, source: &Source, most: usize) -> Tensor<2, Int> {
        let encoded = self.encode(source);
        let mut state = self.start(&encoded);
        let batch = source.batch();
        let mut previous = token_tensor(&vec![END; batch], batch, &self.device()).reshape([batch]);
        let mut written = Vec::with_capacity(most);
        for _ in 0..most {
            let (logits, next) = self.step(&encoded, state, previous);
            state = next;
            let chosen = logits.argmax(1);
            previous = chosen.clone().reshape([batch]);
            written.push(chosen);
        }
        Tensor::cat(written, 1)
    }

    /// What [`greedy`](Self::greedy) writes for each source, up to the end token, which is left
    /// out, or up to `most` tokens.
    pub async fn decode_greedy(
        &self,
        source: &Source,
        most: usize,
    ) -> Result<Vec<Vec<u32>>, ReadError> {
        let written = self.greedy(source, most).float().reshape([-1]);
        let read = read_all([written]).await?.concat();
        let row = |row: &[f32]| {
            row.iter().map(|&token| token as u32).take_while(|&token| token != END).collect()
        };
        Ok(read.chunks(most).map(row).collect())
    }

    /// Beam search (Sutskever et al. 2014, section 3.2): keeps the `width` likeliest partial
    /// sequences at every step. Returns at most `width` sequences of at most `most` tokens,
    /// likeliest first. Probabilities are not normalized by length.
    ///
    /// # Panics
    ///
    /// Panics unless there is exactly one source and the width is above 0.
    pub async fn decode_beam(
        &self,
        source: &Source,
        width: usize,
        most: usize,
    ) -> Result<Vec<Hypothesis>, ReadError> {
        assert_eq!(source.batch(), 1, "a beam is of one source");
        assert!(width > 0, "a beam keeps something");
        let encoded = self.encode(source);
        let mut hidden = self.start(&encoded).hidden;
        let mut open = vec![(Vec::<u32>::new(), 0f64)];
        let mut finished: Vec<(Vec<u32>, f64, bool)> = Vec::new();
        for step in 0..most {
            let last: Vec<u32> =
                open.iter().map(|(tokens, _)| tokens.last().copied().unwrap_or(END)).collect();
            let previous = token_tensor(&last, last.len(), &self.device()).reshape([last.len()]);
            let (logits, next) =
                self.step(&encoded.repeated(last.len()), DecoderState { hidden }, previous);
            let read = read_all([logits.reshape([-1])]).await?.concat();
            let mut grown: Vec<(usize, u32, f64)> = Vec::new();
            for (from, logits) in read.chunks(self.targets()).enumerate() {
                let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = logits.iter().map(|&x| libm::exp(f64::from(x - most))).sum();
                let rest = f64::from(most) + libm::log(sum);
                grown.extend(logits.iter().enumerate().map(|(token, &logit)| {
                    (from, token as u32, open[from].1 + f64::from(logit) - rest)
                }));
            }
            // A stable sort: ties go to the earlier partial sequence and the smaller token.
            grown.sort_by(|a, b| b.2.total_cmp(&a.2));
            grown.truncate(width);
            let mut kept = Vec::new();
            let mut going = Vec::new();
            for (from, token, probability) in grown {
                let mut tokens = open[from].0.clone();
                if token == END {
                    finished.push((tokens, probability, true));
                } else {
                    tokens.push(token);
                    if step + 1 == most {
                        finished.push((tokens, probability, false));
                    } else {
                        kept.push(from as u32);
                        going.push((tokens, probability));
                    }
                }
            }
            finished.sort_by(|a, b| b.1.total_cmp(&a.1));
            finished.truncate(width);
            // Probabilities only fall: no unfinished sequence can overtake a full list.
            let least = (finished.len() == width).then(|| finished[width - 1].1);
            let none_better = least.is_some_and(|least| going.iter().all(|(_, p)| *p <= least));
            if going.is_empty() || none_better {
                break;
            }
            let kept_rows = token_tensor(&kept, kept.len(), &self.device()).reshape([kept.len()]);
            hidden = next.hidden.select(0, kept_rows);
            open = going;
        }
        let hypothesis = |(tokens, probability, ended): (Vec<u32>, f64, bool)| Hypothesis {
            tokens,
            log_probability: probability as f32,
            ended,
        };
        Ok(finished.into_iter().map(hypothesis).collect())
    }
}
