//! How often one token followed another.

/// A pair that occurs, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub previous: u32,
    pub next: u32,
    pub count: u32,
}

/// The pairs of neighboring tokens in a text.
#[derive(Clone, Debug)]
pub struct Counts {
    vocabulary: usize,
    /// `[V, V]`, row-major; the row is the earlier token.
    counts: Vec<u32>,
    /// Sums of the rows, `[V]`.
    totals: Vec<u32>,
    /// The pairs that occur, in the order of `counts`.
    pairs: Vec<Pair>,
    total: u64,
}

impl Counts {
    /// Counts the pairs of `tokens`, all below `vocabulary`.
    pub fn new(tokens: &[u32], vocabulary: usize) -> Self {
        let mut counts = vec![0; vocabulary * vocabulary];
        let mut totals = vec![0; vocabulary];
        for pair in tokens.windows(2) {
            counts[pair[0] as usize * vocabulary + pair[1] as usize] += 1;
            totals[pair[0] as usize] += 1;
        }
        let pair = |(index, &count): (usize, &u32)| Pair {
            previous: (index / vocabulary) as u32,
            next: (index % vocabulary) as u32,
            count,
        };
        let pairs = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(pair).collect();
        let total = tokens.len().saturating_sub(1) as u64;
        Self { vocabulary, counts, totals, pairs, total }
    }

    /// Number of tokens in the vocabulary (V).
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// How often `next` followed `previous`.
    pub fn count(&self, previous: u32, next: u32) -> u32 {
        self.row(previous)[next as usize]
    }

    /// How often each token followed `previous`, `[V]`.
    pub fn row(&self, previous: u32) -> &[u32] {
        let start = previous as usize * self.vocabulary;
        &self.counts[start..start + self.vocabulary]
    }

    /// How often anything followed `previous`.
    pub fn total_after(&self, previous: u32) -> u32 {
        self.totals[previous as usize]
    }

    /// The pairs that occur, in order.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// How many pairs the text has.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Mean of -ln `probability` over the text's pairs; `None` if it has none. Infinite if one of
    /// them has probability 0.
    pub fn surprise(&self, probability: impl Fn(&Pair) -> f64) -> Option<f64> {
        let cost = |pair: &Pair| f64::from(pair.count) * -libm::log(probability(pair));
        // Adding 0.0 turns a sum of exact zeros, which is -0, into 0.
        let sum: f64 = self.pairs.iter().map(cost).sum::<f64>() + 0.0;
        (self.total > 0).then(|| sum / self.total as f64)
    }

    /// Tokens by how often anything followed them; ties go to lower ids.
    pub fn by_frequency(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = (0..self.vocabulary as u32).collect();
        ids.sort_by_key(|&id| core::cmp::Reverse(self.total_after(id)));
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_row() {
        let counts = Counts::new(&[1, 2, 1, 2, 2, 0], 4);
        assert_eq!(counts.row(1), [0, 0, 2, 0]);
        assert_eq!(counts.row(2), [1, 1, 1, 0]);
        assert_eq!((counts.total_after(2), counts.total_after(0), counts.total()), (3, 0, 5));
        assert_eq!(counts.pairs()[0], Pair { previous: 1, next: 2, count: 2 });
        assert_eq!(counts.pairs().iter().map(|p| u64::from(p.count)).sum::<u64>(), 5);
        assert_eq!(counts.by_frequency(), [2, 1, 0, 3]);
    }

    #[test]
    fn surprise_is_infinite_only_for_what_has_probability_0() {
        let counts = Counts::new(&[0, 1, 0, 1], 2);
        assert_eq!(counts.surprise(|_| 0.5), Some(core::f64::consts::LN_2));
        assert_eq!(counts.surprise(|_| 1.0).map(f64::to_bits), Some(0f64.to_bits()));
        assert_eq!(counts.surprise(|p| f64::from(p.previous)), Some(f64::INFINITY));
        assert_eq!(Counts::new(&[1], 2).surprise(|_| 0.5), None);
    }
}
