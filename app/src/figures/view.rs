//! One head of one trace: the matrix that most parts of the attention figure look at.

use std::sync::Arc;

use unroll_protocol::Trace;

use super::{matrix_data::Matrix, scale::ValueMap};

/// What weights are called.
const WEIGHT: &str = "attention weight";

/// The weights of one layer and head, `[T (query), T (key)]`, with the trace they belong to.
#[derive(Clone)]
pub struct HeadView {
    trace: Arc<Trace>,
    /// What it holds instead of weights, if that is how far they have moved, and the differences' scale.
    moved: Option<(Arc<str>, ValueMap)>,
    /// From 0, within the trace.
    layer: usize,
    head: usize,
}

impl PartialEq for HeadView {
    /// Whether both look at the same head of the very same trace.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.trace, &other.trace)
            && (self.layer, self.head) == (other.layer, other.head)
    }
}

impl HeadView {
    /// `layer` and `head` count from 1 and are clamped to what the trace has. `None` if the trace
    /// holds no weights or its arrays do not fit its tokens.
    pub fn new(trace: Arc<Trace>, layer: u32, head: u32) -> Option<Self> {
        let t = trace.tokens.len();
        let &[layers, heads, queries, keys] = trace.weights.shape.as_slice() else { return None };
        let fits = trace.weights.is_consistent()
            && t > 0
            && (queries as usize, keys as usize) == (t, t)
            && layers > 0
            && heads > 0;
        let probabilities = &trace.probabilities;
        let fits = fits
            && (trace.places.len(), trace.starts.len(), trace.mask.len()) == (t, t + 1, t * t)
            && probabilities.is_consistent()
            && probabilities.shape == [queries, trace.vocabulary.len() as u32];
        fits.then(|| Self {
            layer: layer.clamp(1, layers) as usize - 1,
            head: head.clamp(1, heads) as usize - 1,
            moved: None,
            trace,
        })
    }

    /// The weights of all heads, each with the head's name.
    pub fn matrices(&self) -> Vec<Arc<Matrix>> {
        let heads = (1..=self.layers()).flat_map(|l| (1..=self.heads()).map(move |h| (l, h)));
        let one = |(layer, head): (u32, u32)| {
            Arc::new(Matrix {
                row_axis: format!("layer {layer}, head {head}, query"),
                column_axis: "key".into(),
                ..Self::to_matrix(Some(&self.of(layer, head)))
            })
        };
        heads.map(one).collect()
    }

    /// How far all its weights have moved, as [`Self::matrices`] are compared.
    pub fn compared(&self, moved: &[Arc<Matrix>]) -> Self {
        let mut trace = Trace::clone(&self.trace);
        let all = moved.iter().flat_map(|head| head.values.iter().zip(&self.trace.mask));
        // What is blocked has the weight 0 in any model.
        trace.weights.values = all.map(|(&by, &open)| if open { by } else { 0.0 }).collect();
        let named = moved.first().map(|head| (head.value_name.as_str().into(), head.map));
        Self { trace: Arc::new(trace), moved: named, ..self.clone() }
    }

    /// What its numbers are.
    pub fn value_name(&self) -> &str {
        self.moved.as_ref().map_or(WEIGHT, |moved| &moved.0)
    }

    /// The colors of its numbers.
    pub fn map(&self) -> ValueMap {
        self.moved.as_ref().map_or(ValueMap::Probability, |moved| moved.1)
    }

    /// What is shown, of which head and when.
    pub fn title(&self) -> String {
        let what = self.value_name().replacen(WEIGHT, "Attention weights", 1);
        format!("{what}, layer {}, head {}, step {}", self.layer(), self.head(), self.trace.step)
    }

    /// Where of the head the number is that is farthest from 0, of those that may be seen.
    pub fn most(&self) -> Option<(usize, usize)> {
        let size = |value: f32| if value.is_finite() { value.abs() } else { 0.0 };
        let open = self.matrix().iter().zip(&self.trace.mask).enumerate();
        let open = open.filter(|(_, (_, open))| **open).map(|(at, (value, _))| (at, size(*value)));
        let most = open.reduce(|most, one| if one.1 > most.1 { one } else { most })?;
        Some((most.0 / self.size(), most.0 % self.size()))
    }

    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Counted from 1.
    pub fn layer(&self) -> u32 {
        self.layer as u32 + 1
    }

    /// Counted from 1.
    pub fn head(&self) -> u32 {
        self.head as u32 + 1
    }

    /// Which of [`Self::matrices`] it is.
    pub fn index(&self) -> usize {
        self.layer * self.heads() as usize + self.head
    }

    pub fn layers(&self) -> u32 {
        self.trace.weights.shape[0]
    }

    pub fn heads(&self) -> u32 {
        self.trace.weights.shape[1]
    }

    /// The same trace, another layer and head (from 1, clamped).
    pub fn of(&self, layer: u32, head: u32) -> Self {
        Self {
            trace: self.trace.clone(),
            moved: self.moved.clone(),
            layer: layer.clamp(1, self.layers()) as usize - 1,
            head: head.clamp(1, self.heads()) as usize - 1,
        }
    }

    /// T, the number of tokens.
    pub fn size(&self) -> usize {
        self.trace.tokens.len()
    }

    pub fn token(&self, position: usize) -> &str {
        self.trace.tokens.get(position).map_or("", String::as_str)
    }

    /// All weights, `[T (query), T (key)]`, row-major.
    pub fn matrix(&self) -> &[f32] {
        self.trace.weights.block(&[self.layer, self.head]).unwrap_or(&[])
    }

    /// The weights as a matrix of named cells, those that are blocked without a value; without a
    /// view only the names of the axes.
    pub fn to_matrix(view: Option<&Self>) -> Matrix {
        let tokens = view.map_or_else(Vec::new, |v| v.trace.tokens.clone());
        let cells = view.into_iter().flat_map(|v| v.matrix().iter().zip(&v.trace.mask));
        Matrix {
            row_axis: "query: the token that looks".into(),
            column_axis: "key: the token looked at".into(),
            rows: tokens.clone(),
            columns: tokens,
            values: cells.map(|(&weight, &open)| if open { weight } else { f32::NAN }).collect(),
            map: view.map_or(ValueMap::Probability, Self::map),
            value_name: view.map_or(WEIGHT, Self::value_name).into(),
            absent: "blocked".into(),
        }
    }

    /// What `query` looks at: `[T]`, summing to 1. Empty outside the sentence.
    pub fn row(&self, query: usize) -> &[f32] {
        self.trace.weights.block(&[self.layer, self.head, query]).unwrap_or(&[])
    }

    pub fn weight(&self, query: usize, key: usize) -> f32 {
        self.row(query).get(key).copied().unwrap_or(0.0)
    }

    /// Whether the model's mask keeps `query` from looking at `key`. Blocked weights are exactly 0
    /// and are drawn as absent, not as small.
    pub fn is_blocked(&self, query: usize, key: usize) -> bool {
        let size = self.size();
        key >= size || !self.trace.mask.get(query * size + key).copied().unwrap_or(false)
    }

    /// Why it does, as a clause.
    pub fn why_blocked(query: usize, key: usize) -> &'static str {
        if key > query { "it comes later" } else { "the mask leaves it out" }
    }

    /// The last key that `query` may look at.
    pub fn last_key(&self, query: usize) -> usize {
        (0..self.size()).rev().find(|key| !self.is_blocked(query, *key)).unwrap_or(query)
    }

    /// The heaviest `count` keys of `query`, heaviest first, as positions and weights.
    pub fn heaviest(&self, query: usize, count: usize) -> Vec<(usize, f32)> {
        // What is blocked never wins, not even with weight 0.
        let open: Vec<(usize, f32)> = self
            .row(query)
            .iter()
            .copied()
            .enumerate()
            .filter(|(key, _)| !self.is_blocked(query, *key))
            .collect();
        let weights: Vec<f32> = open.iter().map(|(_, weight)| *weight).collect();
        largest(&weights, count).into_iter().map(|(at, weight)| (open[at].0, weight)).collect()
    }

    /// P(next token | tokens up to `position`), `[V]`.
    pub fn next(&self, position: usize) -> &[f32] {
        self.trace.probabilities.block(&[position]).unwrap_or(&[])
    }
}

/// Indices and values of the `count` largest, largest first; the earlier of equals comes first.
pub fn largest(values: &[f32], count: usize) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(count + 1);
    for (i, &value) in values.iter().enumerate() {
        if best.len() < count || best.last().is_some_and(|&(_, least)| value > least) {
            let at = best.partition_point(|&(_, other)| other >= value);
            best.insert(at, (i, value));
            best.truncate(count);
        }
    }
    best
}

#[cfg(test)]
pub(super) mod tests {
    use unroll_protocol::Array;

    use super::*;

    /// Two layers, two heads, three tokens, four in the vocabulary; weights unlike one another.
    pub fn trace() -> Trace {
        let mut weights = Vec::new();
        for matrix in 0..4 {
            let a = 0.1 + 0.2 * matrix as f32;
            weights.extend([1.0, 0.0, 0.0, a, 1.0 - a, 0.0, a / 2.0, a / 2.0, 1.0 - a]);
        }
        Trace {
            step: 7,
            tokens: ["a", " ", "\u{fffd}"].map(String::from).to_vec(),
            places: vec![1, 2, 0],
            starts: vec![0, 1, 2, 3],
            dropped: 0,
            mask: (0..9).map(|cell| cell % 3 <= cell / 3).collect(),
            vocabulary: ["\u{fffd}", "a", " ", "\""].map(String::from).to_vec(),
            weights: Array { shape: vec![2, 2, 3, 3], values: weights },
            probabilities: Array {
                shape: vec![3, 4],
                values: [0.1, 0.2, 0.3, 0.4].repeat(3).to_vec(),
            },
        }
    }

    #[test]
    fn clamps_layer_and_head() {
        let view = HeadView::new(Arc::new(trace()), 9, 0).unwrap();
        assert_eq!((view.layer(), view.head()), (2, 1));
        assert_eq!(view.weight(1, 0), 0.5);
        assert_eq!(view.weight(9, 0), 0.0);
        assert!(view == view.of(2, 1) && view != view.of(1, 1));
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let with = |change: fn(&mut Trace)| {
            let mut trace = trace();
            change(&mut trace);
            HeadView::new(Arc::new(trace), 1, 1).is_none()
        };
        assert!(!with(|_| {}));
        assert!(with(|t| t.tokens.clear()));
        assert!(with(|t| t.weights.shape[0] = 3));
        assert!(with(|t| t.weights = Array::default()));
        assert!(with(|t| drop(t.vocabulary.pop())));
        assert!(with(|t| t.mask.truncate(t.mask.len() - 1)));
    }

    #[test]
    fn moved_weights_are_named_and_keep_what_is_blocked() {
        let view = HeadView::new(Arc::new(trace()), 2, 1).unwrap();
        assert_eq!(view.title(), "Attention weights, layer 2, head 1, step 7");
        let moved = view.matrices().into_iter().enumerate().map(|(head, part)| {
            assert_eq!(
                part.row_axis,
                format!("layer {}, head {}, query", head / 2 + 1, head % 2 + 1)
            );
            let values = part.values.iter().map(|weight| weight - 0.75).collect();
            let value_name = format!("{}, change since step 3", part.value_name);
            Arc::new(Matrix {
                values,
                value_name,
                map: ValueMap::Signed { limit: 1.0 },
                ..Matrix::clone(&part)
            })
        });
        let moved = view.compared(&moved.collect::<Vec<_>>());
        assert_eq!((moved.layer(), moved.head(), moved.size()), (2, 1, 3));
        assert_eq!(
            moved.title(),
            "Attention weights, change since step 3, layer 2, head 1, step 7"
        );
        assert_eq!(
            (moved.row(1), moved.map()),
            (&[-0.25, -0.25, 0.0][..], ValueMap::Signed { limit: 1.0 })
        );
        assert_eq!(moved.of(2, 2).weight(1, 0), trace().weights.values[30] - 0.75);
        assert_eq!(moved.most(), Some((2, 0)), "−0.5, the first of equals");
        assert!(HeadView::to_matrix(Some(&moved)).value(0, 1).is_nan());
    }

    #[test]
    fn finds_the_heaviest() {
        assert_eq!(largest(&[0.1, 0.4, 0.1, 0.4], 3), [(1, 0.4), (3, 0.4), (0, 0.1)]);
        assert_eq!(largest(&[0.2], 5), [(0, 0.2)]);
        assert_eq!(largest(&[], 2), []);
        let view = HeadView::new(Arc::new(trace()), 1, 1).unwrap();
        // What is blocked is not among the keys looked at, not even with weight 0.
        assert_eq!(view.heaviest(0, 5), [(0, 1.0)]);
        assert!(view.is_blocked(0, 1) && !view.is_blocked(1, 1) && view.is_blocked(0, 3));
        assert_eq!([view.last_key(0), view.last_key(2)], [0, 2]);
        let both_ways = Trace { mask: vec![true; 9], ..trace() };
        let view = HeadView::new(Arc::new(both_ways), 1, 1).unwrap();
        assert_eq!((view.last_key(0), view.heaviest(0, 5).len()), (2, 3));
    }
}
