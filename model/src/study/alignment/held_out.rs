//! Held-out sources, and how often a model answers them without a mistake.

use burn::tensor::Device;
use unroll_protocol::{
    study::alignment::{LengthBin, Spec},
    transduction::PairTask,
};

use super::Refusal;
use crate::{PairBatch, Pairs, ReadError, Seq2seq, Source};

/// Sources of each length in the tasks on strings.
const OF_EACH_LENGTH: usize = 12;
/// Characters by which held-out strings exceed the longest string trained on, at most.
const BEYOND: u32 = 4;
/// Number of dates.
const DATES: usize = 144;
/// Range of lengths within one bin of dates, in characters.
const BIN: u32 = 5;
/// Number of sources decoded in one slice of work.
const PART: usize = 48;

/// The sources that accuracy is measured on, the same every time.
pub struct HeldOut {
    batch: PairBatch,
    most: usize,
    /// Characters of the longest source trained on.
    longest: usize,
    /// Number of lengths that share a bin.
    bin: u32,
}

impl HeldOut {
    pub fn new(spec: &Spec, pairs: &Pairs) -> Result<Self, Refusal> {
        let (batch, bin) = if spec.task == PairTask::Dates {
            (pairs.measured(spec.seed, DATES), BIN)
        } else {
            let longest = (spec.length + BEYOND) as usize;
            let longer = Pairs::new(spec.task, longest)?;
            (longer.measured(spec.seed, longest * OF_EACH_LENGTH), 1)
        };
        let most = batch.targets.iter().map(Vec::len).max().unwrap_or(1);
        Ok(Self { batch, most, longest: pairs.longest_source(), bin })
    }

    pub fn len(&self) -> usize {
        self.batch.sources.len()
    }

    /// For each of the next sources, beginning at `start`, whether the model answers it correctly.
    pub async fn part(
        &self,
        model: &Seq2seq,
        start: usize,
        device: &Device,
    ) -> Result<Vec<bool>, ReadError> {
        let end = (start + PART).min(self.len());
        let part = PairBatch {
            pairs: self.batch.pairs[start..end].to_vec(),
            sources: self.batch.sources[start..end].to_vec(),
            targets: self.batch.targets[start..end].to_vec(),
        };
        let source = Source::new(&part.sources, device);
        Ok(part.right(&model.decode_greedy(&source, self.most).await?))
    }

    /// The share of correct answers among sources no longer than those trained on.
    pub fn share(&self, right: &[bool]) -> f32 {
        let within = self.batch.sources.iter().zip(right);
        let within: Vec<bool> =
            within.filter(|(source, _)| source.len() <= self.longest).map(|(_, r)| *r).collect();
        within.iter().filter(|right| **right).count() as f32 / within.len().max(1) as f32
    }

    /// The shares by length, of several models.
    pub fn bins(&self, right: &[Vec<bool>]) -> Vec<LengthBin> {
        let lengths: Vec<u32> = self.batch.sources.iter().map(|s| s.len() as u32).collect();
        let (Some(least), Some(most)) = (lengths.iter().min(), lengths.iter().max()) else {
            return Vec::new();
        };
        let bins = (*least..=*most).step_by(self.bin as usize).filter_map(|from| {
            let to = (from + self.bin - 1).min(*most);
            let of: Vec<usize> =
                (0..lengths.len()).filter(|i| (from..=to).contains(&lengths[*i])).collect();
            let share = |right: &Vec<bool>| {
                of.iter().filter(|i| right[**i]).count() as f32 / of.len() as f32
            };
            (!of.is_empty()).then(|| LengthBin {
                from,
                to,
                count: of.len() as u32,
                trained: to as usize <= self.longest,
                right: right.iter().map(share).collect(),
            })
        });
        bins.collect()
    }
}
