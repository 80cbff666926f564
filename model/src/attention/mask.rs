//! Attention masks and their set operations.

use core::fmt;

use burn::tensor::{Device, Tensor, TensorData};

/// Which keys (columns) each query (row) may attend to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    queries: usize,
    keys: usize,
    /// Row-major.
    allowed: Vec<bool>,
}

/// A query that may attend to nothing: the softmax of its scores would be 0 divided by 0. `Display`
/// is the sentence the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyRow {
    /// Counted from 0.
    pub query: usize,
}

impl fmt::Display for EmptyRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Row {} may look at nothing, so its weights, which must add up to 1, do not exist: \
             allow at least one cell in it.",
            self.query + 1
        )
    }
}

impl core::error::Error for EmptyRow {}

impl Mask {
    /// Allows the pairs for which `allows(query, key)` is true, both counted from 0.
    pub fn from_fn(queries: usize, keys: usize, allows: impl Fn(usize, usize) -> bool) -> Self {
        let cells = (0..queries).flat_map(|query| (0..keys).map(move |key| (query, key)));
        Self { queries, keys, allowed: cells.map(|(query, key)| allows(query, key)).collect() }
    }

    /// Every query may attend to every key.
    pub fn full(queries: usize, keys: usize) -> Self {
        Self::from_fn(queries, keys, |_, _| true)
    }

    /// Each token may attend to itself and to those before it.
    pub fn causal(length: usize) -> Self {
        Self::from_fn(length, length, |query, key| key <= query)
    }

    /// Each token may attend to tokens fewer than `width` away on either side; 1 is itself alone.
    pub fn local(length: usize, width: usize) -> Self {
        Self::from_fn(length, length, |query, key| query.abs_diff(key) < width)
    }

    /// No query may attend to padding: the keys that are not `real`.
    pub fn padding(queries: usize, real: &[bool]) -> Self {
        Self::from_fn(queries, real.len(), |_, key| real[key])
    }

    /// Whether nothing is blocked.
    pub fn is_full(&self) -> bool {
        self.allowed.iter().all(|&allowed| allowed)
    }

    pub fn queries(&self) -> usize {
        self.queries
    }

    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Whether `query` may attend to `key`.
    pub fn allows(&self, query: usize, key: usize) -> bool {
        self.allowed[query * self.keys + key]
    }

    /// Whether `query` may attend to each key.
    pub fn row(&self, query: usize) -> &[bool] {
        &self.allowed[query * self.keys..][..self.keys]
    }

    /// Allows what both masks allow.
    ///
    /// # Panics
    ///
    /// Panics if the sizes differ, like every operation on two masks.
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a && b)
    }

    /// Allows what either mask allows.
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a || b)
    }

    fn combine(&self, other: &Self, allows: impl Fn(bool, bool) -> bool) -> Self {
        let sizes = [(self.queries, self.keys), (other.queries, other.keys)];
        assert!(sizes[0] == sizes[1], "masks of {:?} and {:?} don't combine", sizes[0], sizes[1]);
        let pairs = self.allowed.iter().zip(&other.allowed);
        Self { allowed: pairs.map(|(&a, &b)| allows(a, b)).collect(), ..*self }
    }

    /// Fails with the first query that may attend to nothing.
    pub fn check(&self) -> Result<(), EmptyRow> {
        let empty = (0..self.queries).find(|&query| !self.row(query).contains(&true));
        empty.map_or(Ok(()), |query| Err(EmptyRow { query }))
    }

    /// What is added to scores: 0 where allowed and -inf where not, so that a blocked weight is
    /// `exp(-inf)`, which is exactly 0 and not just small. Adding, unlike filling, needs no extra
    /// work in the backward pass.
    ///
    /// # Shapes
    ///
    /// - output: `[queries, keys]`
    pub fn bias(&self, device: &Device) -> Tensor<2> {
        let bias = |&allowed: &bool| if allowed { 0.0 } else { f32::NEG_INFINITY };
        let bias: Vec<f32> = self.allowed.iter().map(bias).collect();
        let shape = [self.queries, self.keys];
        Tensor::from_data(TensorData::new(bias, shape), &device.clone().inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_exactly_the_future() {
        let bias = Mask::causal(3).bias(&Device::flex());
        let values: Vec<f32> = bias.into_data().try_into_vec().unwrap();
        let inf = f32::NEG_INFINITY;
        assert_eq!(values, [0.0, inf, inf, 0.0, 0.0, inf, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn combines_as_sets_do() {
        let (causal, local) = (Mask::causal(5), Mask::local(5, 2));
        let band = causal.intersection(&local);
        assert_eq!(band, Mask::from_fn(5, 5, |q, k| k == q || k + 1 == q));
        assert_eq!(causal.union(&local), Mask::from_fn(5, 5, |q, k| k <= q + 1));
        assert_eq!(causal.union(&Mask::full(5, 5)), Mask::full(5, 5));
        assert_eq!(causal.intersection(&Mask::full(5, 5)), causal);
        // Distributivity and absorption.
        let padding = Mask::padding(5, &[true, true, false, true, false]);
        assert_eq!(
            padding.intersection(&causal.union(&local)),
            padding.intersection(&causal).union(&padding.intersection(&local))
        );
        assert_eq!(causal.union(&causal.intersection(&padding)), causal);
    }

    #[test]
    fn a_row_that_allows_nothing_is_found() {
        assert_eq!(Mask::causal(4).check(), Ok(()));
        let padding = Mask::padding(4, &[false, true, true, true]);
        let empty = Mask::causal(4).intersection(&padding).check().unwrap_err();
        assert_eq!(empty, EmptyRow { query: 0 });
        assert!(empty.to_string().contains("Row 1 "), "{empty}");
    }
}
