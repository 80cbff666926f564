//! Random queries and keys: how their width affects the softmax of their products.

use unroll_protocol::study::qkv::{
    BINS, DRAWN_KEYS, DRAWN_QUERIES, MOST_DIMENSIONS, Scale, ScalePoint,
};

use super::Refusal;
use crate::random::{Normals, Purpose, stream};

/// Half the range of the histograms, in standard deviations of q · k.
const RANGE: f64 = 4.0;

/// Queries, each with its own keys, at the largest width. Fewer dimensions are the first of them.
pub(super) struct Draw {
    pub(super) number: u32,
    /// `[DRAWN_QUERIES, DRAWN_KEYS, MOST_DIMENSIONS]`: the sums of the first 1, 2, ... products.
    sums: Vec<f64>,
}

impl Draw {
    /// The draw of this number.
    pub(super) fn new(seed: u32, number: u32) -> Self {
        let (keys, most) = (DRAWN_KEYS as usize, MOST_DIMENSIONS as usize);
        let mut normals = Normals::new(stream(seed, Purpose::QkvDraw, [number, 0, 0]));
        let mut sums = Vec::with_capacity(DRAWN_QUERIES as usize * keys * most);
        for _ in 0..DRAWN_QUERIES {
            let query = normals.draw(most, 1.0);
            for _ in 0..keys {
                let key = normals.draw(most, 1.0);
                let mut sum = 0.0;
                sums.extend(query.iter().zip(key).map(|(q, k)| {
                    sum += f64::from(*q) * f64::from(k);
                    sum
                }));
            }
        }
        Self { number, sums }
    }

    /// q · k of every query with each of its keys, `[DRAWN_QUERIES, DRAWN_KEYS]`.
    fn products(&self, dimensions: u32) -> Vec<f64> {
        let at = dimensions as usize - 1;
        self.sums.chunks_exact(MOST_DIMENSIONS as usize).map(|sums| sums[at]).collect()
    }

    /// Statistics for queries and keys of `dimensions`.
    ///
    /// # Errors
    ///
    /// A sentence for a width that was not drawn.
    pub(super) fn scale(&self, dimensions: u32) -> Result<Scale, Refusal> {
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            return Err(Refusal(format!(
                "Vectors of {dimensions} numbers are not drawn here: choose 1 to {MOST_DIMENSIONS}."
            )));
        }
        let products = self.products(dimensions);
        let divisors = [1.0, f64::from(dimensions).sqrt()];
        let range = RANGE * divisors[1].max(1.0);
        let counted = divisors.map(|divisor| count(&products, divisor, range));
        let first = &products[..DRAWN_KEYS as usize];
        let doubling = core::iter::successors(Some(1), |width| Some(width * 2));
        let widths = doubling.take_while(|width| *width <= MOST_DIMENSIONS);
        let here = self.point(dimensions);
        Ok(Scale {
            dimensions,
            products: products.len() as u32,
            variance: here.variance[0],
            range: (-range as f32, range as f32),
            beyond: [counted[0].1, counted[1].1],
            counts: counted.map(|(counts, _)| counts),
            weights: divisors.map(|divisor| {
                softmax(first, divisor).into_iter().map(|weight| weight as f32).collect()
            }),
            curve: widths.map(|width| self.point(width)).collect(),
            here,
        })
    }

    fn point(&self, dimensions: u32) -> ScalePoint {
        let products = self.products(dimensions);
        let divisors = [1.0, f64::from(dimensions).sqrt()];
        let of = |measure: fn(&[f64]) -> f64| {
            divisors.map(|divisor| {
                let rows = products.chunks_exact(DRAWN_KEYS as usize);
                let sum: f64 = rows.map(|row| measure(&softmax(row, divisor))).sum();
                (sum / f64::from(DRAWN_QUERIES)) as f32
            })
        };
        let squares: f64 = products.iter().map(|product| product * product).sum();
        let variance = squares / products.len() as f64;
        ScalePoint {
            dimensions,
            variance: divisors.map(|divisor| (variance / (divisor * divisor)) as f32),
            entropy: of(entropy),
            gradient: of(slope),
        }
    }
}

fn softmax(products: &[f64], divisor: f64) -> Vec<f64> {
    let largest = products.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponents: Vec<f64> =
        products.iter().map(|product| libm::exp((product - largest) / divisor)).collect();
    let sum: f64 = exponents.iter().sum();
    exponents.into_iter().map(|exponent| exponent / sum).collect()
}

/// Entropy in nats.
fn entropy(weights: &[f64]) -> f64 {
    -weights.iter().filter(|w| **w > 0.0).map(|w| w * libm::log(*w)).sum::<f64>()
}

/// Frobenius norm of the softmax's derivative, diag(w) - w wᵀ.
fn slope(weights: &[f64]) -> f64 {
    let mut squares = 0.0;
    for (i, a) in weights.iter().enumerate() {
        for (j, b) in weights.iter().enumerate() {
            let entry = if i == j { a - a * b } else { -a * b };
            squares += entry * entry;
        }
    }
    squares.sqrt()
}

/// Counts in equal bins from `-range` to `range`, and the shares below and above.
fn count(products: &[f64], divisor: f64, range: f64) -> (Vec<f32>, (f32, f32)) {
    let (mut counts, mut beyond) = (vec![0.0; BINS as usize], (0.0, 0.0));
    for product in products {
        let share = (product / divisor / range + 1.0) / 2.0;
        if share < 0.0 {
            beyond.0 += 1.0;
        } else if share >= 1.0 {
            beyond.1 += 1.0;
        } else {
            counts[(share * f64::from(BINS)) as usize] += 1.0;
        }
    }
    (counts, beyond)
}
