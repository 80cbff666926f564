//! How the terms of the full model's stream grow over training.

use unroll_protocol::{
    Array,
    study::block::{CONTEXT, Growth, Shown},
};

use super::{Passage, Refusal, Study, stream::mean_sizes};
use crate::Dataset;

/// Measurements are this share of the steps so far apart, and at first every step is measured: the
/// layers wake within a few. One takes about a fiftieth of a step's time.
const SHARE: u32 = 16;

/// The lengths at the measured steps. Those lie ever further apart, so however long the training,
/// there are fewer than 400.
pub(super) struct History {
    passage: Passage,
    /// By step, a length for each source.
    pub(super) measured: Vec<(u32, Vec<f32>)>,
}

impl History {
    /// Nothing measured yet. The passage is the start of the held-out text; a text too short to
    /// hold any out lends its own start.
    pub(super) fn new(data: &Dataset) -> Self {
        let window = data.held_out_windows(1, CONTEXT as usize).into_iter().next();
        let start = || data.training.iter().copied().take(CONTEXT as usize).collect();
        let ids = window.map_or_else(start, |window| window.inputs);
        let passage = Passage { position: ids.len().saturating_sub(1), ids, dropped: 0 };
        Self { passage, measured: Vec::new() }
    }

    /// Whether the model after `step` steps is to be measured, and was not yet.
    pub(super) fn is_due(&self, step: u32) -> bool {
        is_due(self.measured.last().map(|(last, _)| *last), step)
    }
}

fn is_due(last: Option<u32>, step: u32) -> bool {
    let next = |last: u32| last.checked_add(1.max(last / SHARE));
    last.is_none_or(|last| next(last).is_some_and(|next| step >= next))
}

impl Study {
    /// Measures the full model as it is, between two steps.
    pub(super) async fn measure(&mut self) -> Result<(), Refusal> {
        let (_, lengths) = mean_sizes(self.model(Shown::Full), &self.growth.passage).await?;
        self.growth.measured.push((self.training.step(), lengths));
        Ok(())
    }

    /// The history so far, and the model as it is now.
    pub(super) async fn grown(&self) -> Result<Growth, Refusal> {
        let History { passage, measured } = &self.growth;
        let (sources, now) = mean_sizes(self.model(Shown::Full), passage).await?;
        let step = self.training.step();
        // Asked about a moment, it knows what came later.
        let earlier =
            measured.iter().filter(|(at, lengths)| *at <= step && lengths.len() == sources.len());
        let (mut steps, values): (Vec<u32>, Vec<_>) = earlier.cloned().unzip();
        let mut values = values.concat();
        if steps.last() != Some(&step) {
            steps.push(step);
            values.extend(now);
        }
        let shape = vec![steps.len() as u32, sources.len() as u32];
        let text = passage.ids.iter().map(|id| self.tokenizer.character(*id)).collect();
        Ok(Growth { passage: text, sources, steps, lengths: Array { shape, values } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_is_bounded() {
        let (mut last, mut count) = (None, 0);
        let mut step = 0u32;
        while is_due(last, step) {
            (last, count) = (Some(step), count + 1);
            step = step.saturating_add(1.max(step / SHARE));
        }
        assert_eq!(step, u32::MAX);
        assert!((300..400).contains(&count), "{count} points after {step} steps");
    }
}
