//! From logits to the shares that a character is drawn from. The engine and the page use the same
//! function, so the bars on the page are what the engine draws from.

use core::fmt;

use serde::{Deserialize, Serialize};

/// How boldly to choose the next token.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Divides the logits; 0 is greedy.
    pub temperature: f32,
    /// Keeps the k likeliest tokens; 0 keeps all.
    pub top_k: u32,
    /// Keeps the fewest tokens, the likeliest first, whose shares add up to at least this; 1 keeps
    /// all (Holtzman et al. 2020: nucleus sampling).
    pub top_p: f32,
    /// Keeps the tokens with at least this part of the likeliest one's share; 0 keeps all (Nguyen
    /// et al. 2024).
    pub min_p: f32,
}

impl Sampling {
    /// The model's own shares.
    pub const PLAIN: Self = Self { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0 };
    /// Always the likeliest token.
    pub const GREEDY: Self = Self { temperature: 0.0, ..Self::PLAIN };
}

/// Why there are no shares to draw from. `Display` is the sentence the page shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SamplingError {
    Temperature { value: f32 },
    NothingKnown,
    NotANumber,
}

impl fmt::Display for SamplingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Temperature { value } => write!(
                f,
                "{value} is not a usable temperature: choose 0 (always the likeliest) or more."
            ),
            Self::NothingKnown => {
                write!(f, "The vocabulary is empty, so there is nothing to write with.")
            }
            Self::NotANumber => write!(
                f,
                "The model's logits are not numbers: training diverged, so it can't write. Go back \
                 to the last good step or start again."
            ),
        }
    }
}

impl core::error::Error for SamplingError {}

/// The shares a sampler draws from: softmax of the logits divided by the temperature, cut by top k,
/// then by top p, then by min p, each on the shares that the one before left, and scaled up so that
/// they add up to 1 again. Ties between equal logits go to the lower id. At temperature 0 the
/// largest logit has the share 1.
///
/// # Errors
///
/// Where the temperature is negative or no number, or the logits give no shares.
pub fn shares(logits: &[f32], sampling: &Sampling) -> Result<Vec<f32>, SamplingError> {
    let Sampling { temperature, top_k, top_p, min_p } = *sampling;
    if !(temperature.is_finite() && temperature >= 0.0) {
        return Err(SamplingError::Temperature { value: temperature });
    }
    if logits.is_empty() {
        return Err(SamplingError::NothingKnown);
    }
    // A logit of -inf rules a token out; +inf or NaN makes no distribution.
    if logits.iter().any(|logit| logit.is_nan() || *logit == f32::INFINITY) {
        return Err(SamplingError::NotANumber);
    }
    let mut order = likeliest(logits);
    let largest = logits[order[0]];
    if largest == f32::NEG_INFINITY {
        return Err(SamplingError::NotANumber);
    }
    let kept = if temperature == 0.0 { 1 } else { top_k as usize };
    if kept > 0 {
        order.truncate(kept);
    }
    // Subtract before dividing: with a tiny temperature the logits themselves would overflow.
    let weight = |id: usize| match f64::from(logits[id]) - f64::from(largest) {
        0.0 => 1.0,
        difference => libm::exp(difference / f64::from(temperature)),
    };
    let weights: Vec<f64> = order.iter().map(|&id| weight(id)).collect();
    let mut left = weights.len();
    if top_p < 1.0 {
        let whole: f64 = weights.iter().sum();
        // A token stays if those before it do not have enough yet; the first always does.
        let before = weights.iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum - weight)
        });
        left = before.take_while(|before| *before < f64::from(top_p) * whole).count().max(1);
    }
    // The first has the weight 1.
    let bound = f64::from(min_p.min(1.0));
    left = weights[..left].iter().take_while(|weight| **weight >= bound).count().max(1);
    let whole: f64 = weights[..left].iter().sum();
    let mut shares = vec![0.0; logits.len()];
    for (&id, weight) in order.iter().zip(&weights[..left]) {
        shares[id] = (weight / whole) as f32;
    }
    Ok(shares)
}

/// The places of `values`, those of the largest first. Of equals, the first place comes first.
pub fn likeliest(values: &[f32]) -> Vec<usize> {
    // Heapsort (Williams 1964), on a heap with the last of them at its root: the library's sorts would be
    // a hundred times as much code. Two places are never equal, so no order is left to chance.
    let mut order: Vec<usize> = (0..values.len()).collect();
    let is_later = |a: usize, b: usize| values[a].total_cmp(&values[b]).then(b.cmp(&a)).is_lt();
    let sink = |heap: &mut [usize], mut at: usize| {
        loop {
            let mut child = 2 * at + 1;
            if child + 1 < heap.len() && is_later(heap[child + 1], heap[child]) {
                child += 1;
            }
            if child >= heap.len() || !is_later(heap[child], heap[at]) {
                break;
            }
            heap.swap(at, child);
            at = child;
        }
    };
    (0..order.len() / 2).rev().for_each(|at| sink(&mut order, at));
    for end in (1..order.len()).rev() {
        order.swap(0, end);
        sink(&mut order[..end], 0);
    }
    order
}

/// How surprising a token of these logits is, in nats: minus the logarithm of its share at temperature 1
/// without cuts.
pub fn surprise(logits: &[f32], token: usize) -> f32 {
    let largest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.iter().map(|logit| libm::exp(f64::from(*logit) - largest)).sum();
    (libm::log(sum) + largest - f64::from(logits[token])) as f32
}

/// The place at which the cumulative sum of `shares` exceeds `draw`, a number from 0 to below 1.
pub fn choose(shares: &[f32], draw: f64) -> usize {
    let mut sum = 0.0;
    let mut last = 0;
    for (at, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        sum += f64::from(share);
        last = at;
        if draw < sum {
            return at;
        }
    }
    // Rounding can leave the sum just below 1.
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_order_whatever_the_values() {
        assert_eq!(likeliest(&[]), []);
        assert_eq!(likeliest(&[0.5, 2.0, 0.5, -1.0, 2.0]), [1, 4, 0, 2, 3]);
        for count in 1..70 {
            // Many are equal.
            let values: Vec<f32> = (0..count).map(|at| (at * at % 13) as f32).collect();
            let mut expected: Vec<usize> = (0..count).collect();
            expected.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
            assert_eq!(likeliest(&values), expected);
        }
    }

    #[test]
    fn a_surprise_is_that_of_the_share() {
        for logits in cases() {
            let shares = shares(&logits, &Sampling::PLAIN).unwrap();
            // What is too small for an f32 has lost its digits.
            let told = shares.into_iter().enumerate().filter(|(_, share)| *share > 1e-30);
            for (token, share) in told {
                let expected = -f64::from(share).ln();
                assert!((f64::from(surprise(&logits, token)) - expected).abs() < 1e-5);
            }
        }
    }

    /// Logits that look random, the same each time.
    fn cases() -> impl Iterator<Item = Vec<f32>> {
        (0..200u32).map(|case| {
            let count = 1 + case % 40;
            let scale = 10f32.powi(case as i32 % 7 - 3);
            let mixed = move |at: u32| {
                let bits = (case * 977 + at + 1).wrapping_mul(0x9e37_79b9).rotate_left(13);
                bits.wrapping_mul(0x85eb_ca6b) as f32 / u32::MAX as f32 - 0.5
            };
            (0..count).map(|at| mixed(at) * scale).collect()
        })
    }

    fn at(temperature: f32) -> Sampling {
        Sampling { temperature, ..Sampling::PLAIN }
    }

    #[test]
    fn shares_sum_to_1_and_keep_the_order() {
        for (case, logits) in cases().enumerate() {
            let sampling = Sampling {
                temperature: [0.0, 1e-6, 0.5, 1.0, 3.0][case % 5],
                top_k: case as u32 % 12,
                top_p: [1.0, 0.9, 0.5, 0.0][case % 4],
                min_p: [0.0, 0.1, 1.0][case % 3],
            };
            let shares = shares(&logits, &sampling).unwrap();
            let sum: f32 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
            let kept = shares.iter().filter(|&&p| p > 0.0).count();
            assert!(kept >= 1 && (sampling.top_k == 0 || kept <= sampling.top_k as usize));
            for (a, pa) in logits.iter().zip(&shares) {
                for (b, pb) in logits.iter().zip(&shares) {
                    assert!(a <= b || pa >= pb, "{a} {b} {pa} {pb}");
                }
            }
        }
    }

    #[test]
    fn temperature_0_is_greedy_and_1_is_softmax() {
        for logits in cases() {
            let greedy = shares(&logits, &Sampling::GREEDY).unwrap();
            let best = greedy.iter().position(|&p| p == 1.0).unwrap();
            assert!(logits.iter().all(|&logit| logit <= logits[best]));
            let plain = shares(&logits, &Sampling::PLAIN).unwrap();
            for (p, a) in plain.iter().zip(&logits) {
                let odds = (f64::from(*a) - f64::from(logits[best])).exp() * f64::from(plain[best]);
                assert!((f64::from(*p) - odds).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn each_cut_keeps_what_it_says() {
        // Shares 0.5, 0.25, 0.125, 0.125.
        let logits = [2f32, 1.0, 0.0, 0.0].map(|bits| bits * core::f32::consts::LN_2);
        let kept = |sampling| {
            let shares = shares(&logits, &sampling).unwrap();
            shares.iter().take_while(|share| **share > 0.0).count()
        };
        assert_eq!(kept(Sampling { top_k: 3, ..Sampling::PLAIN }), 3);
        for (top_p, count) in [(0.0, 1), (0.49, 1), (0.51, 2), (0.74, 2), (0.8, 3), (0.99, 4)] {
            assert_eq!(kept(Sampling { top_p, ..Sampling::PLAIN }), count, "top p {top_p}");
        }
        for (min_p, count) in [(0.2, 4), (0.24, 4), (0.3, 2), (0.6, 1), (1.0, 1)] {
            assert_eq!(kept(Sampling { min_p, ..Sampling::PLAIN }), count, "min p {min_p}");
        }
        // Each cut looks at what the one before left: 0.5 of 0.75 is two thirds.
        assert_eq!(kept(Sampling { top_k: 2, top_p: 0.66, ..Sampling::PLAIN }), 1);
        assert_eq!(kept(Sampling { top_k: 2, top_p: 0.67, ..Sampling::PLAIN }), 2);
    }

    #[test]
    fn what_makes_no_shares_is_refused() {
        let refused = |logits: &[f32], temperature| shares(logits, &at(temperature)).is_err();
        assert!(refused(&[1.0, f32::NAN], 1.0));
        assert!(refused(&[1.0, f32::INFINITY], 1.0));
        assert!(refused(&[f32::NEG_INFINITY; 2], 1.0));
        assert!(refused(&[], 1.0));
        assert!(refused(&[1.0], -0.5));
        assert!(refused(&[1.0], f32::NAN));
        assert!(refused(&[1.0], f32::INFINITY));
        assert_eq!(shares(&[0.0, f32::NEG_INFINITY], &Sampling::PLAIN).unwrap(), [1.0, 0.0]);
    }

    #[test]
    fn the_largest_come_first_and_equals_in_their_order() {
        assert_eq!(likeliest(&[1.0, 3.0, 1.0, f32::NEG_INFINITY, 3.0]), [1, 4, 0, 2, 3]);
        for values in cases() {
            let mut sorted: Vec<usize> = (0..values.len()).collect();
            sorted.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
            assert_eq!(likeliest(&values), sorted);
        }
    }

    #[test]
    fn choice_follows_the_shares_and_never_picks_0() {
        assert_eq!(choose(&[0.25, 0.0, 0.75], 0.0), 0);
        assert_eq!(choose(&[0.25, 0.0, 0.75], 0.25), 2);
        assert_eq!(choose(&[0.25, 0.0, 0.75], 0.999_999), 2);
        assert_eq!(choose(&[0.5, 0.499_999, 0.0], 0.999_999_9), 1);
    }
}
