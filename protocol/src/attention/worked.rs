//! The arithmetic of one row of attention, step by step.

use super::{AttentionRow, Scoring};

/// Number of decimals that [`rounded`] keeps.
pub const DECIMALS: usize = 6;

/// The number as displayed: rounded to [`DECIMALS`] decimals. Infinities are unchanged.
pub fn rounded(value: f64) -> f64 {
    const UNITS: f64 = 1e6;
    let rounded = (value * UNITS).round() / UNITS;
    // Adding 0.0 removes a negative zero. Values too large to have decimals are unchanged.
    if rounded.is_finite() { rounded + 0.0 } else { value }
}

/// The contribution of one dimension to a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The query's number, or what the query adds inside the tanh.
    pub query: f64,
    /// The key's number, likewise.
    pub key: f64,
    /// The tanh of their sum and the entry of the vector that multiplies it; `None` if query and
    /// key are multiplied.
    pub tanh: Option<(f64, f64)>,
    /// The contribution, which is summed over the dimensions.
    pub product: f64,
}

/// The computation of one key's weight from its score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkedKey {
    pub allowed: bool,
    /// The sum of the terms.
    pub sum: f64,
    /// The sum divided by the divisor.
    pub scaled: f64,
    /// What ALiBi adds.
    pub bias: f64,
    /// `scaled + bias`; -inf where the query may not attend.
    pub score: f64,
    /// e to the power of the score minus the row's largest.
    pub exponent: f64,
    pub weight: f64,
}

/// A row computed from its vectors alone. The model's own scores, weights and result are not read,
/// so that the two can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worked {
    /// One entry per key.
    pub keys: Vec<WorkedKey>,
    /// The divisor of the sums; 1 for additive scores.
    pub divisor: f64,
    /// The key with the largest score; `None` if the query may attend to nothing.
    pub largest: Option<usize>,
    /// The sum of the exponents.
    pub sum: f64,
    /// The weighted sum of the values, one number per dimension.
    pub output: Vec<f64>,
}

impl Worked {
    /// Computes in full `f64` precision.
    pub fn exact(row: &AttentionRow) -> Self {
        Self::new(row, |value| value)
    }

    /// Computes as one would on paper: every number is [`rounded`] before the next one is computed
    /// from it, so that what is shown follows from what is shown to the last digit.
    pub fn on_paper(row: &AttentionRow) -> Self {
        Self::new(row, rounded)
    }

    fn new(row: &AttentionRow, round: fn(f64) -> f64) -> Self {
        let divisor = match &row.scoring {
            Scoring::Product { divisor, .. } => round(f64::from(*divisor)),
            Scoring::Additive { .. } => 1.0,
        };
        let mut keys: Vec<WorkedKey> = (0..row.tokens.len())
            .map(|key| {
                let terms = row.terms_with(key, round);
                let sum = round(terms.iter().map(|term| term.product).sum());
                let scaled = round(sum / divisor);
                let bias = round(row.bias.get(key).map_or(0.0, |bias| f64::from(*bias)));
                let allowed = row.allowed.get(key).copied().unwrap_or(true);
                let score = if allowed { round(scaled + bias) } else { f64::NEG_INFINITY };
                WorkedKey { allowed, sum, scaled, bias, score, ..WorkedKey::default() }
            })
            .collect();
        let open = keys.iter().enumerate().filter(|(_, key)| key.allowed);
        let largest = open.max_by(|a, b| a.1.score.total_cmp(&b.1.score)).map(|(at, _)| at);
        let top = largest.map_or(0.0, |at| keys[at].score);
        for key in &mut keys {
            key.exponent = round((key.score - top).exp());
        }
        let sum = round(keys.iter().map(|key| key.exponent).sum());
        for key in keys.iter_mut().filter(|_| sum > 0.0) {
            key.weight = round(key.exponent / sum);
        }
        let width = row.values.shape.last().map_or(0, |width| *width as usize);
        let output = (0..width).map(|dimension| {
            let shares = keys.iter().enumerate();
            let shares = shares.map(|(at, key)| {
                let value = row.values.get(&[at, dimension]).unwrap_or(0.0);
                round(key.weight * round(f64::from(value)))
            });
            round(shares.sum())
        });
        let output = output.collect();
        Self { keys, divisor, largest, sum, output }
    }

    /// The contribution of one key to one dimension of the output, and its value, both [`rounded`].
    pub fn share(&self, row: &AttentionRow, key: usize, dimension: usize) -> (f64, f64) {
        let value = rounded(row.values.get(&[key, dimension]).map_or(0.0, f64::from));
        let weight = self.keys.get(key).map_or(0.0, |key| key.weight);
        (value, rounded(weight * value))
    }
}

impl AttentionRow {
    /// The terms of the score with `key`, [`rounded`] at every step; empty outside the row.
    pub fn terms(&self, key: usize) -> Vec<Term> {
        self.terms_with(key, rounded)
    }

    fn terms_with(&self, key: usize, round: fn(f64) -> f64) -> Vec<Term> {
        let number = |value: &f32| round(f64::from(*value));
        match &self.scoring {
            Scoring::Product { query, keys, .. } => {
                let pairs = query.iter().zip(keys.block(&[key]).unwrap_or_default());
                let term = |(query, key)| {
                    let (query, key) = (number(query), number(key));
                    Term { query, key, tanh: None, product: round(query * key) }
                };
                pairs.map(term).collect()
            }
            Scoring::Additive { from_query, from_keys, vector } => {
                let pairs = from_query.iter().zip(from_keys.block(&[key]).unwrap_or_default());
                let term = |((query, key), by)| {
                    let (query, key, by) = (number(query), number(key), number(by));
                    let tanh = round((query + key).tanh());
                    Term { query, key, tanh: Some((tanh, by)), product: round(by * tanh) }
                };
                pairs.zip(vector).map(term).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Array;

    fn row() -> AttentionRow {
        AttentionRow {
            tokens: ["a", "b", "c"].map(String::from).to_vec(),
            scoring: Scoring::Product {
                query: vec![1.0, -2.0],
                keys: Array { shape: vec![3, 2], values: vec![0.5, 0.25, -1.0, 0.1, 9.0, 9.0] },
                divisor: 2f32.sqrt(),
            },
            bias: vec![-0.5, 0.0, 0.0],
            allowed: vec![true, true, false],
            values: Array { shape: vec![3, 1], values: vec![1.0, -3.0, 100.0] },
            ..AttentionRow::default()
        }
    }

    #[test]
    fn a_row_by_hand() {
        let exact = Worked::exact(&row());
        // q·k is 0 and -1.2; the first score is lowered by ALiBi; the third is blocked.
        let scores = [-0.5, -1.2 / 2f64.sqrt()];
        let exponents = [1.0, (scores[1] - scores[0]).exp()];
        let weight = exponents[1] / (1.0 + exponents[1]);
        assert!((exact.keys[1].weight - weight).abs() < 1e-7);
        assert_eq!(exact.largest, Some(0));
        assert_eq!(exact.keys[2].weight, 0.0);
        assert!((exact.output[0] - (1.0 - weight - 3.0 * weight)).abs() < 1e-6);
    }

    #[test]
    fn on_paper_every_line_follows_from_the_lines_before() {
        let row = row();
        let paper = Worked::on_paper(&row);
        for (at, key) in paper.keys.iter().enumerate() {
            let sum: f64 = row.terms(at).iter().map(|term| term.product).sum();
            assert_eq!(rounded(sum), key.sum);
            assert_eq!(rounded(key.sum / paper.divisor), key.scaled);
            assert_eq!(rounded(key.exponent / paper.sum), key.weight);
        }
        let shares: f64 = (0..3).map(|key| paper.share(&row, key, 0).1).sum();
        assert_eq!(rounded(shares), paper.output[0]);
        assert_eq!(rounded(-1e-9).to_string(), "0");
    }

    #[test]
    fn additive_scores() {
        let row = AttentionRow {
            tokens: vec!["a".into()],
            scoring: Scoring::Additive {
                from_query: vec![0.5, -1.0],
                from_keys: Array { shape: vec![1, 2], values: vec![0.5, 1.0] },
                vector: vec![2.0, 3.0],
            },
            ..AttentionRow::default()
        };
        let exact = Worked::exact(&row);
        assert!((exact.keys[0].sum - 2.0 * 1f64.tanh()).abs() < 1e-12);
        assert_eq!((exact.keys[0].weight, exact.sum), (1.0, 1.0));
        assert!(exact.output.is_empty());
    }

    #[test]
    fn nothing_allowed_is_no_number() {
        let row = AttentionRow { allowed: vec![false; 3], ..row() };
        let worked = Worked::exact(&row);
        assert_eq!((worked.largest, worked.sum), (None, 0.0));
        assert!(worked.keys.iter().all(|key| key.weight == 0.0));
    }
}
