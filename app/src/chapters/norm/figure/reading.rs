//! What the figure shows of a layer's answer. Pure functions, no browser.

use unroll_protocol::{
    Array,
    study::norm::{Axis, Layer},
};

use super::cells::{Grid, Place};
use crate::figures::{four_decimals, power_of_ten};

/// Where y's colors end. Few normalized values lie beyond; the scale says how many.
pub const OUTPUT_LIMIT: f32 = 2.0;

/// Where x's colors end: a power of two, so that it moves seldom, that holds nearly all of what is
/// not pressed. The scale says which.
pub fn input_limit(layer: &Layer) -> f32 {
    let values = &layer.untouched.values;
    let squares = values.iter().map(|v| v * v).sum::<f32>() / values.len().max(1) as f32;
    (2.0 * squares.sqrt()).max(0.25).log2().ceil().exp2()
}

/// Most that any output of each row moved because one row was pressed.
pub fn moved(layer: &Layer) -> Vec<f32> {
    let Ok(result) = &layer.result else { return Vec::new() };
    apart(&result.output, &result.untouched)
}

/// Most that any output of each row differs from what came in.
pub fn remains(layer: &Layer) -> Vec<f32> {
    let Ok(result) = &layer.result else { return Vec::new() };
    apart(&result.output, &layer.input)
}

/// The largest difference in each row.
fn apart(after: &Array, before: &Array) -> Vec<f32> {
    let columns = after.shape[1] as usize;
    let both = after.values.chunks(columns).zip(before.values.chunks(columns));
    let apart = |(after, before): (&[f32], &[f32])| {
        after.iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    both.map(apart).collect()
}

/// The smallest and the largest value that is there, in words.
pub fn range(grid: &Grid) -> String {
    let there = || grid.values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (there().reduce(f32::min), there().reduce(f32::max));
    let Some((least, most)) = least.zip(most) else { return "–".into() };
    let digits = if least.abs().max(most.abs()) < 1.0 { 2 } else { 1 };
    format!("{least:.digits$} to {most:.digits$}").replace('-', "−")
}

/// Examples and features.
pub fn shape(layer: &Layer) -> Place {
    (layer.input.shape[0] as usize, layer.input.shape[1] as usize)
}

/// Which mean belongs to a cell, how far the sweep is, and whether γ and β undo it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    pub axis: Axis,
    /// Means taken so far, of all.
    swept: usize,
    all: usize,
    pub undo: bool,
}

impl Reading {
    /// A `sweep` of 0 has taken all means.
    pub fn of(layer: &Layer, sweep: u32, undo: bool) -> Self {
        let (rows, columns) = shape(layer);
        let all = if layer.axis == Axis::Batch { columns } else { rows };
        let sweep = sweep as usize;
        Self { axis: layer.axis, swept: if sweep == 0 { all } else { sweep.min(all) }, all, undo }
    }

    /// Where y's colors end: where x's do if the two are to be the same.
    pub fn output_limit(self, layer: &Layer) -> f32 {
        if self.undo { input_limit(layer) } else { OUTPUT_LIMIT }
    }

    /// For each row, what is written beside it.
    pub fn of_rows(self, layer: &Layer) -> Vec<f32> {
        if self.undo { remains(layer) } else { moved(layer) }
    }

    /// The mean that a cell belongs to.
    pub fn along(self, (row, column): Place) -> usize {
        if self.axis == Axis::Batch { column } else { row }
    }

    /// The mean being taken now, while sweeping.
    pub fn now(self) -> Option<usize> {
        (self.swept < self.all).then(|| self.swept - 1)
    }

    /// y as far as it is swept.
    pub fn output(self, layer: &Layer) -> Grid {
        let (rows, columns) = shape(layer);
        let value = |index: usize| {
            let done = self.along((index / columns, index % columns)) < self.swept;
            let result = layer.result.as_ref().ok().filter(|_| done);
            result.map_or(f32::NAN, |result| result.output.values[index])
        };
        let values = (0..rows * columns).map(value).collect();
        Grid { rows, columns, values, limit: self.output_limit(layer) }
    }

    /// μ and σ as far as they are swept, in two rows, or in two columns where rows are averaged.
    pub fn statistics(self, layer: &Layer) -> Grid {
        let limit = input_limit(layer);
        let of = |i: usize| match &layer.result {
            _ if i >= self.swept => [f32::NAN; 2],
            Ok(result) => [result.mean[i], result.variance[i].sqrt()],
            // Refused: the mean over one example is that example, and nothing is spread around it.
            Err(_) => [layer.input.values[i], 0.0],
        };
        let (rows, columns, values) = match self.axis {
            Axis::Batch => {
                let line = |which: usize| (0..self.all).map(move |i| of(i)[which]);
                (2, self.all, line(0).chain(line(1)).collect())
            }
            Axis::Layer => (self.all, 2, (0..self.all).flat_map(of).collect()),
        };
        Grid { rows, columns, values, limit }
    }

    /// The mean being taken, in words.
    pub fn sweep_sentence(self, layer: &Layer) -> Option<String> {
        let (at, result) = (self.now()?, layer.result.as_ref().ok()?);
        let (rows, columns) = shape(layer);
        let what = match self.axis {
            Axis::Batch => format!("Feature {}, over the {rows} examples", at + 1),
            Axis::Layer => format!("Example {}, over its {columns} features", at + 1),
        };
        let (mean, spread) =
            (four_decimals(result.mean[at]), four_decimals(result.variance[at].sqrt()));
        Some(format!("{what}: μ = {mean}, σ = {spread}."))
    }

    /// What is in a cell, in words.
    pub fn cell_sentence(self, layer: &Layer, place: Place) -> Option<String> {
        let index = [place.0, place.1];
        let x = layer.input.get(&index)?;
        let mut text =
            format!("Example {}, feature {}: x = {}", index[0] + 1, index[1] + 1, four_decimals(x));
        let at = self.along(place);
        if let Ok(result) = &layer.result
            && at < self.swept
        {
            let y = result.output.get(&index)?;
            text += &format!(
                "; μ = {}, σ = {}, x̂ = {}; y = {}",
                four_decimals(result.mean[at]),
                four_decimals(result.variance[at].sqrt()),
                four_decimals(result.normalized.get(&index)?),
                four_decimals(y)
            );
            let before = result.untouched.get(&index)?;
            if self.undo {
                text += &format!(", so y − x = {}", amount(y - x));
            } else if layer.row > 0 {
                let by =
                    if y == before { "exactly 0".to_owned() } else { four_decimals(y - before) };
                text += &format!(", moved by {by}");
            }
        }
        Some(text + ".")
    }
}

/// What a pressed row is multiplied by.
pub fn times(factor: f32) -> String {
    format!("×{factor}").replace('-', "−")
}

/// How far something moved, short; what did not move at all says 0.
pub fn amount(value: f32) -> String {
    match value {
        0.0 => "0".into(),
        negative if negative < 0.0 => format!("−{}", amount(-negative)),
        small if small < 0.0005 => power_of_ten(small.into(), 0),
        large if large >= 100.0 => format!("{large:.0}"),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{
        Array,
        study::norm::{Normalized, Statistics},
    };

    use super::*;

    fn layer(axis: Axis) -> Layer {
        let array = |values: [f32; 6]| Array { shape: vec![2, 3], values: values.to_vec() };
        let input = array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        Layer {
            axis,
            statistics: Statistics::Batch,
            layer: 1,
            row: 1,
            factor: 2.0,
            examples: vec!["ab".into(), "cd".into()],
            borrowed: 0,
            untouched: input.clone(),
            result: Ok(Normalized {
                mean: vec![1.0; 3],
                variance: vec![4.0; 3],
                normalized: input.clone(),
                gamma: vec![1.0; 3],
                beta: vec![0.0; 3],
                output: array([1.0, 2.0, 3.0, 4.0, 5.0, 6.5]),
                untouched: input.clone(),
            }),
            input,
        }
    }

    #[test]
    fn a_sweep_shows_what_it_has_reached() {
        let layer = layer(Axis::Batch);
        let reading = Reading::of(&layer, 2, false);
        assert_eq!(reading.now(), Some(1));
        let shown: Vec<bool> =
            reading.output(&layer).values.iter().map(|v| v.is_finite()).collect();
        assert_eq!(shown, [true, true, false, true, true, false]);
        let statistics = reading.statistics(&layer);
        assert_eq!((statistics.rows, statistics.columns), (2, 3));
        assert_eq!(statistics.value((1, 1)), Some(2.0));
        assert_eq!(statistics.value((1, 2)), None);
        assert_eq!(Reading::of(&layer, 0, false).now(), None);
        assert!(reading.sweep_sentence(&layer).unwrap().ends_with("μ = 1.0000, σ = 2.0000."));
    }

    #[test]
    fn a_range_is_of_what_is_there() {
        let of = |values: &[f32]| range(&Grid { values: values.to_vec(), ..Grid::default() });
        assert_eq!(of(&[2.25, f32::NAN, -14.16]), "−14.2 to 2.2");
        assert_eq!(of(&[0.5, -0.125]), "−0.12 to 0.50");
        assert_eq!(of(&[f32::NAN]), "–");
    }

    #[test]
    fn one_example_is_its_own_mean() {
        let input = Array { shape: vec![1, 3], values: vec![1.0, -2.0, 3.0] };
        let examples = vec!["ab".into()];
        let result = Err("refused".into());
        let layer = Layer {
            input: input.clone(),
            untouched: input,
            examples,
            result,
            ..layer(Axis::Batch)
        };
        let reading = Reading::of(&layer, 0, false);
        assert_eq!(reading.statistics(&layer).values, [1.0, -2.0, 3.0, 0.0, 0.0, 0.0]);
        assert!(reading.output(&layer).values.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn once_undone_a_row_says_how_far_it_is_from_what_came_in() {
        let layer = layer(Axis::Batch);
        let reading = Reading::of(&layer, 0, true);
        assert_eq!(reading.of_rows(&layer), [0.0, 0.5]);
        assert_eq!(reading.output(&layer).limit, input_limit(&layer));
        assert!(reading.cell_sentence(&layer, (0, 0)).unwrap().ends_with("so y − x = 0."));
        assert!(reading.cell_sentence(&layer, (1, 2)).unwrap().ends_with("so y − x = 0.500."));
    }

    #[test]
    fn rows_that_moved_and_rows_that_did_not() {
        let layer = layer(Axis::Layer);
        assert_eq!(moved(&layer), [0.0, 0.5]);
        let reading = Reading::of(&layer, 0, false);
        assert!(reading.cell_sentence(&layer, (0, 0)).unwrap().ends_with("moved by exactly 0."));
        assert!(reading.cell_sentence(&layer, (1, 2)).unwrap().ends_with("moved by 0.5000."));
        assert_eq!(amount(0.0), "0");
        assert_eq!(amount(2.0e-5), "2·10⁻⁵");
        assert_eq!(amount(-2.0e-5), "−2·10⁻⁵");
    }
}
