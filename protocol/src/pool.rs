//! How many workers share a step.

use serde::{Deserialize, Serialize};

use crate::ExperimentSpec;

/// Most workers that share a step: with more, exchanging gradients takes as long as computing
/// saves.
pub const MOST_WORKERS: u32 = 8;

/// Multiply-adds of a step's forward pass below which a single worker does it. Measured in Chromium
/// on two workers, as CPU time of the first: at 7 million (3 ms alone) sharing saves less than the
/// exchange costs, at 42 million (10 ms alone) it saves a quarter, at 650 million half.
const WORTH_SHARING: u64 = 20_000_000;

/// How the steps of a run are shared; sent by the engine whenever it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolReport {
    /// Helpers that have computed at least one share and are not lost.
    pub working: u32,
    /// Helpers that failed or fell silent; the first worker computes their shares.
    pub lost: u32,
}

/// How many workers share each step of an experiment if the link asks for `asked`; 0 means as many
/// as are worthwhile on `cores` cores.
///
/// A run's curve depends on this number in its last bits, so it is a function of these arguments
/// alone and never of a measurement.
pub fn workers(spec: &ExperimentSpec, asked: u32, cores: u32) -> u32 {
    let most = spec.batch.clamp(1, MOST_WORKERS);
    if asked > 0 {
        return asked.min(most);
    }
    let work = spec.gpt.forward_multiply_adds().saturating_mul(u64::from(spec.batch));
    if work < WORTH_SHARING {
        return 1;
    }
    // One core is left for the page. But two cores are better shared, because the page needs
    // little.
    let free = if cores > 2 { cores - 1 } else { cores };
    free.clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpt;

    #[test]
    fn a_core_is_left_to_the_page_where_there_are_more_than_two() {
        let spec = gpt::Settings { batch: 12, width: 128, ..gpt::Settings::default() }.spec(1);
        let automatic: Vec<u32> =
            [0, 1, 2, 3, 4, 8, 64].iter().map(|&cores| workers(&spec, 0, cores)).collect();
        assert_eq!(automatic, [1, 1, 2, 2, 3, 7, 8]);
        assert_eq!(workers(&spec, 5, 2), 5);
    }

    #[test]
    fn there_is_a_sequence_for_every_worker_and_small_models_have_one() {
        let spec = gpt::Settings { batch: 2, width: 512, ..gpt::Settings::default() }.spec(1);
        assert_eq!((workers(&spec, 0, 16), workers(&spec, 7, 16)), (2, 2));
        let small =
            gpt::Settings { layers: 1, width: 16, context: 16, ..gpt::Settings::default() }.spec(1);
        assert_eq!((workers(&small, 0, 16), workers(&small, 3, 16)), (1, 3));
    }
}
