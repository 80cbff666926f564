//! Two sequences of the same symbols in two orders, and what attention adds up in each.

use leptos::prelude::*;
use unroll_protocol::study::position::{ModelReading, Reading};

use super::{
    Page, encodings,
    reading::{sequence, use_reading},
    round_up, typographic,
};
use crate::{
    figures::{Matrix, MatrixFigure, ValueMap, short},
    reactive::memo,
};

/// Differences up to this share of the largest sum are rounding: the same terms, added up in
/// another order.
const ROUNDING: f32 = 1e-5;

pub fn view(page: Page) -> AnyView {
    let asked = use_reading(page);
    let (reading, problem) = (asked.answer, asked.problem);
    let model = move |reading: &Reading| {
        reading.models.iter().find(|model| model.positions == page.encoding.get()).cloned()
    };
    let both = memo(move || {
        let reading = reading.get()?;
        let model = model(&reading)?;
        Some((reading, model))
    });
    let matrix = memo(move || {
        both.get().map_or(Matrix::default(), |(reading, model)| sums(&reading, &model))
    });
    let title = Signal::derive(move || {
        let number = reading.with(|r| r.as_ref().and_then(|r| r.tokens.last().cloned()));
        format!("What attention adds up for the number {}", number.unwrap_or_default())
    });
    let most =
        move || both.get().and_then(|(_, model)| apart(&model)).map(|(most, _)| most.to_string());
    view! {
        {encodings::chooser(page)}
        {sequence(page)}
        <p class="field-error" role="alert" data-testid="position-asked-problem">{move || problem.get().as_deref().map(typographic)}</p>
        <div class="view-fill">
            <MatrixFigure name="position-sums" title matrix provenance=page.provenance/>
        </div>
        <p class="view-note" data-testid="position-swap" data-most=most>
            {move || both.get().map(|(reading, model)| verdict(&reading, &model))}
        </p>
    }
    .into_any()
}

/// The sequence's tokens with those places exchanged.
fn exchanged(reading: &Reading) -> Vec<String> {
    let mut tokens = reading.tokens.clone();
    tokens.swap(reading.exchanged.0 as usize, reading.exchanged.1 as usize);
    tokens
}

/// Both sums and their difference.
fn sums(reading: &Reading, model: &ModelReading) -> Matrix {
    let (Some(before), Some(after)) = (model.sums.block(&[0]), model.sums.block(&[1])) else {
        return Matrix::default();
    };
    let difference = before.iter().zip(after).map(|(before, after)| after - before);
    let most = model.sums.values.iter().fold(0f32, |most, value| most.max(value.abs()));
    Matrix {
        row_axis: "sequence".into(),
        column_axis: "dimension".into(),
        rows: vec![reading.tokens.concat(), exchanged(reading).concat(), "difference".into()],
        columns: (0..before.len()).map(|at| at.to_string()).collect(),
        values: before.iter().chain(after).copied().chain(difference).collect(),
        map: ValueMap::Signed { limit: if most > 0.0 { round_up(most) } else { 1.0 } },
        value_name: "sum of values".into(),
        absent: String::new(),
    }
}

/// The largest difference of the two sums, and whether it is only rounding.
fn apart(model: &ModelReading) -> Option<(f32, bool)> {
    let (before, after) = (model.sums.block(&[0])?, model.sums.block(&[1])?);
    let most = before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let largest = model.sums.values.iter().fold(0f32, |most, value| most.max(value.abs()));
    Some((most, most <= ROUNDING * largest))
}

fn verdict(reading: &Reading, model: &ModelReading) -> String {
    let Some((most, same)) = apart(model) else {
        return model.refusal.as_deref().map_or_else(String::new, typographic);
    };
    let (first, second) = reading.exchanged;
    if first == second {
        return "All symbols are the same, so there is nothing to trade.".to_owned();
    }
    let places = format!("Symbols {} and {} trade places", first + 1, second + 1);
    if most == 0.0 {
        return format!("{places}, and the sum stays the same. There is no difference.");
    }
    let most = short(f64::from(most));
    if same {
        format!(
            "{places}, and the sum stays the same. The largest difference is {most}, which is only rounding: the same terms, \
             added up in another order."
        )
    } else {
        format!(
            "{places}, and the sum changes by up to {most}. So the model can tell the two orders apart."
        )
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{Array, architecture::Positions};

    use super::*;

    fn reading() -> Reading {
        let tokens = ["a", "a", "b", "2"].map(str::to_owned).to_vec();
        Reading { tokens, exchanged: (0, 2), ..Reading::default() }
    }

    fn model(values: [f32; 4]) -> ModelReading {
        ModelReading {
            positions: Positions::None,
            refusal: None,
            answer: "a".into(),
            probability: 0.5,
            weights: Array { shape: vec![0, 4], values: Vec::new() },
            swapped: 0.0,
            sums: Array { shape: vec![2, 2], values: values.to_vec() },
        }
    }

    #[test]
    fn both_sums_stand_above_their_difference() {
        let matrix = sums(&reading(), &model([1.0, 2.0, 1.5, -2.0]));
        assert_eq!(matrix.rows, ["aab2", "baa2", "difference"]);
        assert_eq!(matrix.values, [1.0, 2.0, 1.5, -2.0, 0.5, -4.0]);
    }

    #[test]
    fn rounding_is_told_from_a_difference() {
        let rounded = verdict(&reading(), &model([1.0, 2.0, 1.0, 2.000_001]));
        assert!(rounded.contains("only rounding"), "{rounded}");
        assert!(rounded.starts_with("Symbols 1 and 3 trade places"), "{rounded}");
        assert!(verdict(&reading(), &model([1.0, 2.0, 1.0, 2.5])).contains("up to 0.5"));
        let none = verdict(&reading(), &model([1.0, 2.0, 1.0, 2.0]));
        assert!(none.ends_with("There is no difference."), "{none}");
        let same = Reading { exchanged: (0, 0), ..reading() };
        assert!(verdict(&same, &model([1.0; 4])).contains("nothing to trade"));
    }

    #[test]
    fn a_model_that_can_not_read_it_says_why() {
        let none = Array { shape: vec![0, 2], values: Vec::new() };
        let refusal = Some("There is no row.".to_owned());
        let refused = ModelReading { sums: none, refusal, ..model([0.0; 4]) };
        assert_eq!(verdict(&reading(), &refused), "There is no row.");
        assert_eq!(sums(&reading(), &refused), Matrix::default());
    }
}
