//! Whether the squares form a pattern: said only once they do.

use leptos::prelude::*;
use unroll_protocol::transduction::AttentionKind;

use super::{FOUND, Page, exact, last};

/// From this share of the rows’ weight on, the cells on the line are what one sees in the map. Spread evenly
/// over a source of 8 it would be an eighth.
const DRAWN: f32 = 0.6;
/// In a shorter source a line may well be there by chance.
const LONG: usize = 4;

/// What answers “do the squares form a pattern?”; nothing before they do. `on_line` is the share on the
/// line of a reversal.
pub fn pattern(page: Page, on_line: Option<f32>) -> &'static str {
    let kinds = page.kinds().into_iter();
    let right =
        kinds.filter(|kind| *kind != AttentionKind::None).find_map(|kind| last(&exact(kind)));
    let length = page.alignment.with(|a| a.source.len());
    match is_pattern(length, on_line, right) {
        true => "Yes: the model reads right to left, and nobody told it to.",
        false => "",
    }
}

/// The source on show must have the line, and held-out sources must come out right: a model that reads
/// only this one backward has learned no pattern.
fn is_pattern(length: usize, on_line: Option<f32>, right: Option<f32>) -> bool {
    let at_least = |share: Option<f32>, least: f32| share.is_some_and(|share| share >= least);
    length >= LONG && at_least(on_line, DRAWN) && at_least(right, FOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_said_only_once_it_is_there() {
        assert!(is_pattern(8, Some(0.97), Some(0.99)));
        assert!(!is_pattern(8, Some(0.5), Some(0.99)), "the line is faint");
        assert!(!is_pattern(8, Some(0.97), Some(0.2)), "other sources come out wrong");
        assert!(!is_pattern(1, Some(1.0), Some(0.99)), "one cell is no line");
        assert!(!is_pattern(8, None, Some(0.99)), "another task, or no attention");
        assert!(!is_pattern(8, Some(0.97), None), "not measured yet");
    }
}
