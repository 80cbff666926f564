//! How alike the vectors are that the model learned for its positions.

use leptos::prelude::*;
use unroll_protocol::gpt::{Alike, ask};

use super::switch;
use crate::{
    course::use_provenance,
    figures::{Matrix, MatrixFigure, ValueMap, decimals},
    questions::use_fixed_answer,
    reactive::memo,
    store::Store,
};

/// Positions are counted from 1 on the page.
fn matrix(alike: &Alike) -> Matrix {
    let names: Vec<String> = alike.positions.iter().map(|at| (at + 1).to_string()).collect();
    Matrix {
        row_axis: "position".into(),
        column_axis: "position".into(),
        rows: names.clone(),
        columns: names,
        values: alike.cosines.values.clone(),
        map: ValueMap::Signed { limit: 1.0 },
        value_name: "cosine".into(),
        absent: "a vector of zeros".into(),
    }
}

/// The mean cosine of two positions that have so many of the compared ones between them, and how far apart they are.
fn apart(alike: &Alike, places: usize) -> Option<(f32, u32)> {
    let count = alike.positions.len();
    let far = alike.positions.get(places)? - alike.positions[0];
    let cosines = (0..count - places).map(|at| alike.cosines.get(&[at, at + places]));
    let sum = cosines.sum::<Option<f32>>()?;
    Some((sum / (count - places) as f32, far))
}

/// What to see, and how much of it there is.
fn summary(alike: &Alike) -> String {
    let see = "A broad band along the diagonal means that nearby positions have similar vectors, so a head can \
               find what is nearby.";
    let both = apart(alike, 1).zip(apart(alike, alike.positions.len() / 2));
    let Some(((near, one), (far, half))) = both else { return see.to_owned() };
    format!(
        "{see} On average, the cosine is {} for positions {one} apart and {} for positions {half} apart.",
        decimals(near, 2),
        decimals(far, 2)
    )
}

#[component]
pub fn Positions() -> impl IntoView {
    let store = expect_context::<Store>();
    let alike = use_fixed_answer(store, || Some(ask::Positions {}));
    let shown = memo(move || alike.read(matrix).unwrap_or_default());
    let describe = Callback::new(move |(one, other, cosine): (usize, usize, f32)| {
        shown.with_untracked(|shown| {
            let [one, other] = [one, other].map(|at| shown.row_name(at));
            format!("Positions {one} and {other}: the cosine is {}.", decimals(cosine, 4))
        })
    });
    let said = move || alike.problem.get().or_else(|| alike.read(summary)).unwrap_or_default();
    view! {
        <div class="view-fill">
            <div class="view-bar">{switch()}</div>
            <MatrixFigure name="positions" title="How alike the vectors of two positions are" matrix=shown
                provenance=use_provenance() describe
                hint="Point at a cell to compare two positions. A cosine of 1 means the same direction.".to_owned()/>
            <p class="view-note" role="status" data-testid="positions-note">{said}</p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn near_and_far_are_told_apart() {
        let positions = vec![0, 16, 32, 48];
        let cosine = |cell: usize| match (cell / 4).abs_diff(cell % 4) {
            0 => 1.0,
            1 => 0.9,
            2 => -0.25,
            _ => 0.0,
        };
        let cosines = Array { shape: vec![4, 4], values: (0..16).map(cosine).collect() };
        let alike = Alike { positions, cosines };
        assert_eq!(apart(&alike, 2), Some((-0.25, 32)));
        let said = summary(&alike);
        let numbers = "On average, the cosine is 0.90 for positions 16 apart and −0.25 for positions 32 apart.";
        assert!(said.ends_with(numbers), "{said}");
        assert_eq!(matrix(&alike).rows, ["1", "17", "33", "49"]);
        // Two positions, of which one is compared, are no near and no far.
        let one =
            Alike { positions: vec![0], cosines: Array { shape: vec![1, 1], values: vec![1.0] } };
        assert!(!summary(&one).contains("On average"));
    }
}
