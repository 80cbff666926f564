//! The numbers of each column, row by row, and the colors that stand for them.

use unroll_protocol::gpt::Pass;

use super::scene::{Column, Part, Scene};
use crate::figures::ValueMap;

/// The numbers of one column.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    pub column: Column,
    /// `[rows, column.count]`
    pub values: &'a [f32],
    pub map: ValueMap,
    /// Whether each may be looked at, of the same shape; `None` where all may.
    pub allowed: Option<&'a [bool]>,
}

impl Cells<'_> {
    /// One number; `None` where there is none.
    pub fn get(&self, row: usize, at: usize) -> Option<f32> {
        let index = row * self.column.count + at;
        let allowed = self.allowed.is_none_or(|allowed| allowed.get(index) == Some(&true));
        self.values.get(index).copied().filter(|_| allowed && at < self.column.count)
    }
}

/// The numbers of a part of the model, of one head where each has its own.
pub fn values(pass: &Pass, part: Part, head: usize) -> Option<&[f32]> {
    let attention = || pass.detail.attention.as_ref();
    match part {
        Part::Tokens | Part::Folded(_) => None,
        Part::Embedding => Some(&pass.embeddings.values),
        Part::Position => pass.positions.as_ref().map(|positions| positions.values.as_slice()),
        Part::Query => attention()?.queries.block(&[head]),
        Part::Key => attention()?.keys.block(&[head]),
        Part::Value => attention()?.values.block(&[head]),
        Part::Weights => pass.head(pass.detail.block as usize, head),
        Part::Mix => attention()?.mixed.block(&[head]),
        Part::Attention => Some(&attention()?.output.values),
        Part::FeedForward => Some(&pass.detail.feed_forward.as_ref()?.hidden.values),
        Part::FinalNorm => Some(&pass.final_norm.values),
        Part::Next => Some(&pass.probabilities.values),
    }
}

/// The colors of a part: each has a scale that its own numbers fit.
pub fn map(part: Part, values: &[f32]) -> ValueMap {
    if part == Part::Weights { ValueMap::Probability } else { ValueMap::around_most(values) }
}

/// All columns that hold numbers.
pub fn cells<'a>(pass: &'a Pass, scene: &Scene, head: usize) -> Vec<Cells<'a>> {
    let of = |column: &Column| {
        let values = values(pass, column.part, head)?;
        if column.count == 0 {
            return None;
        }
        let allowed = (column.part == Part::Weights).then_some(pass.mask.as_slice());
        Some(Cells { column: *column, values, map: map(column.part, values), allowed })
    };
    scene.columns.iter().filter_map(of).collect()
}

#[cfg(test)]
pub mod tests {
    use unroll_protocol::{
        Array,
        gpt::{AttentionDetail, BlockSizes, Detail, FeedForwardDetail, Sizes},
    };

    use super::*;
    use crate::chapters::machine::scene::Shape;

    /// A pass whose every number is another.
    pub fn pass(rows: u32, heads: u32) -> Pass {
        let mut next = 0.0;
        let mut array = |shape: &[u32]| {
            let count = shape.iter().product::<u32>();
            let values = (0..count).map(|_| {
                next += 0.001;
                next - 1.0
            });
            Array { shape: shape.to_vec(), values: values.collect() }
        };
        let (width, d) = (8, 8 / heads);
        let block = BlockSizes { norms: 32, attention: 280, feed_forward: 552 };
        Pass {
            step: 3,
            text: "a".into(),
            tokens: (0..rows).map(|row| ["a", " ", "\n", "<"][row as usize % 4].into()).collect(),
            ids: (0..rows).collect(),
            dropped: 0,
            vocabulary: ["a", "b", "<"].map(String::from).to_vec(),
            mask: (0..rows * rows).map(|i| i % rows <= i / rows).collect(),
            embeddings: array(&[rows, width]),
            positions: Some(array(&[rows, width])),
            stream: array(&[3, rows, width]),
            weights: array(&[2, heads, rows, rows]),
            detail: Detail {
                block: 0,
                attention: Some(AttentionDetail {
                    queries: array(&[heads, rows, d]),
                    keys: array(&[heads, rows, d]),
                    values: array(&[heads, rows, d]),
                    mixed: array(&[heads, rows, d]),
                    output: array(&[rows, width]),
                }),
                feed_forward: Some(FeedForwardDetail {
                    hidden: array(&[rows, 4 * width]),
                    output: array(&[rows, width]),
                }),
            },
            final_norm: array(&[rows, width]),
            probabilities: array(&[rows, 3]),
            sizes: Sizes {
                tokens: 24,
                positions: 128,
                blocks: vec![block; 2],
                final_norm: 16,
                head: 24,
            },
        }
    }

    #[test]
    fn every_column_holds_its_own_numbers() {
        let pass = pass(5, 2);
        let scene = Scene::new(Shape::of(&pass), (1000.0, 600.0));
        let cells = cells(&pass, &scene, 1);
        assert_eq!(cells.len(), 10);
        for cells in &cells {
            assert_eq!(cells.values.len(), 5 * cells.column.count, "{:?}", cells.column.part);
        }
        let query = cells.iter().find(|cells| cells.column.part == Part::Query).unwrap();
        let queries = &pass.detail.attention.as_ref().unwrap().queries;
        assert_eq!(query.get(2, 3), queries.get(&[1, 2, 3]));
        assert_eq!((query.get(2, 4), query.get(5, 0)), (None, None));
        let weights = cells.iter().find(|cells| cells.column.part == Part::Weights).unwrap();
        assert_eq!(weights.get(1, 1), pass.weights.get(&[0, 1, 1, 1]));
        assert_eq!(weights.get(1, 2), None, "masked");
    }
}
