//! How many workers share a step.

use serde::{Deserialize, Serialize};

use crate::ExperimentSpec;

/// Most workers that share a step: beyond it the exchange of gradients takes what computing gains.
pub const MOST_WORKERS: u32 = 8;

/// Multiply-adds of a step's forward pass below which one worker does it alone. Measured in
/// Chromium on two workers, in CPU time of the first one: at 7 million (3 ms alone) sharing saves
/// less than the exchange costs, at 42 million (10 ms alone) it saves a quarter, at 650 million
/// half.
const WORTH_SHARING: u64 = 20_000_000;

/// How the steps of a run are shared, as the engine tells whenever it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolReport {
    /// Helpers that have done their share of a step and are not lost.
    pub working: u32,
    /// Helpers that failed or fell silent; the first worker does their shares.
    pub lost: u32,
}

/// How many workers share each step of an experiment where the link asks for `asked`, 0 meaning
/// as many as are worth it on `cores` cores.
///
/// The curve of a run depends on it in its last bits, so it follows from these alone and never from
/// a measurement.
pub fn workers(spec: &ExperimentSpec, asked: u32, cores: u32) -> u32 {
    let most = spec.batch.clamp(1, MOST_WORKERS);
    if asked > 0 {
        return asked.min(most);
    }
    let work = spec.gpt.forward_multiply_adds().saturating_mul(u64::from(spec.batch));
    if work < WORTH_SHARING {
        return 1;
    }
    // One core is left to the page, but two are better shared: the page needs little.
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
