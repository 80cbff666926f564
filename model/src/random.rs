//! Randomness that is the same on every device, platform and release.

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// The purpose of a stream of random numbers. The discriminants are part of the meaning of a share
/// link: never change or reuse one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Weights = 1,
    Batch = 2,
    Dropout = 3,
    Sample = 4,
    RecurrentWeights = 10,
    Task = 11,
    Pairs = 12,
    BigramLogits = 25,
    BigramDraw = 26,
    RnnWriting = 30,
    RecallGaps = 35,
    NormWeights = 50,
    NormBatch = 51,
    QkvDraw = 70,
    QkvShuffle = 71,
    QkvWord = 72,
    QkvCost = 73,
    MaskWriting = 75,
    HeadScores = 76,
    Seq2seqWeights = 60,
}

/// The stream of `seed` for one purpose at one place, independent of every other stream.
pub(crate) fn stream(seed: u32, purpose: Purpose, place: [u32; 3]) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, purpose as u32, place[0], place[1], place[2]];
    for (bytes, word) in key.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// A number in `0..bound`, from 32 random bits; the bias is below `bound / 2^32`.
pub(crate) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    ((u64::from(rng.next_u32()) * bound as u64) >> 32) as usize
}

/// A number in `[0, 1)` with 53 random bits.
pub(crate) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Normally distributed numbers by the Box-Muller transform (1958).
pub(crate) struct Normals {
    rng: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normals {
    pub(crate) fn new(rng: ChaCha8Rng) -> Self {
        Self { rng, spare: None }
    }

    /// `count` draws from N(0, `deviation`²).
    pub(crate) fn draw(&mut self, count: usize, deviation: f64) -> Vec<f32> {
        (0..count).map(|_| (self.next() * deviation) as f32).collect()
    }

    /// `count` draws from U(-`bound`, `bound`), from the same stream.
    pub(crate) fn uniform(&mut self, count: usize, bound: f64) -> Vec<f32> {
        (0..count).map(|_| ((2.0 * unit(&mut self.rng) - 1.0) * bound) as f32).collect()
    }

    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 - u keeps the logarithm's argument away from 0.
        let radius = (-2.0 * libm::log(1.0 - unit(&mut self.rng))).sqrt();
        let angle = core::f64::consts::TAU * unit(&mut self.rng);
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_mean_0_and_the_deviation_asked_for() {
        let draws = Normals::new(stream(1, Purpose::Weights, [0; 3])).draw(20_000, 0.02);
        let mean = draws.iter().sum::<f32>() / 20_000.0;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 5e-4, "{mean}");
        assert!((variance.sqrt() / 0.02 - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn streams_differ_in_every_coordinate() {
        let first = |seed, purpose, place| stream(seed, purpose, place).next_u64();
        let base = first(1, Purpose::Batch, [1, 2, 3]);
        for other in [
            first(2, Purpose::Batch, [1, 2, 3]),
            first(1, Purpose::Dropout, [1, 2, 3]),
            first(1, Purpose::Batch, [2, 2, 3]),
            first(1, Purpose::Batch, [1, 3, 3]),
            first(1, Purpose::Batch, [1, 2, 4]),
        ] {
            assert_ne!(base, other);
        }
        assert_eq!(base, first(1, Purpose::Batch, [1, 2, 3]));
    }

    #[test]
    fn below_covers_its_range_and_nothing_else() {
        let mut rng = stream(3, Purpose::Batch, [0; 3]);
        let mut seen = [false; 7];
        for _ in 0..500 {
            seen[below(&mut rng, 7)] = true;
        }
        assert!(seen.iter().all(|&s| s));
    }
}
