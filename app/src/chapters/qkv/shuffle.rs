//! The tokens in another order: whose output changes?

use leptos::{html, prelude::*};
use serde_json::json;
use unroll_protocol::{
    Link,
    study::qkv::{Models, Shuffle, ask},
};

use super::{is_of, lanes};
use crate::{
    controls::FlagField,
    course::{Sentence, use_lab, use_provenance},
    figures::{Matrix, MatrixFigure, Sheet, SheetExport, ValueMap, exact, use_frame, use_visible},
    questions::use_answer,
    reactive::memo,
    store::Store,
};

/// Differences up to this share of the largest output are rounding: `f32` sums in another order.
pub const ROUNDING: f32 = 1e-5;

pub fn view() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let provenance = use_provenance();
    let asked = memo(move || {
        store.link.with(|link| (link.qkv.shuffle, link.qkv.positions, link.qkv.causal))
    });
    let answered = use_answer(lab, move || {
        let (draw, positions, causal) = asked.get();
        is_of(lab, Models::Text).then(|| ask::Shuffle {
            text: store.probe.get(),
            draw,
            positions,
            causal,
        })
    });
    let root = NodeRef::<html::Section>::new();
    let shuffle = use_frame(answered.answer, use_visible(root));
    let matrix = Signal::derive(move || {
        shuffle.get().map_or(Matrix::default(), |shuffle| differences(&shuffle))
    });
    let sheet = Callback::new(move |()| shuffle.with(|s| s.as_deref().map(lanes_sheet)));
    // Where nothing moved, the strips say all there is to see.
    let moved = memo(move || shuffle.with(|s| s.as_deref().is_some_and(|s| !is_same(s))));
    let pressed = StoredValue::new(false);
    let again = move |_| {
        pressed.set_value(true);
        store.link.update(|link: &mut Link| link.qkv.shuffle = link.qkv.shuffle % 1000 + 1);
    };
    view! {
        <div class="view-bar qkv-bar">
            <FlagField name="qkv-causal"/>
            <FlagField name="qkv-positions"/>
            <button type="button" class="button" data-testid="qkv-shuffle-again" on:click=again>"Shuffle again"</button>
        </div>
        <Sentence label="Your sentence, to be shuffled" problem=answered.problem/>
        <div class="view-split qkv-moved">
            <div>
                <section class="figure qkv-shuffled" node_ref=root data-testid="figure-qkv-lanes"
                    data-state=move || if shuffle.with(Option::is_some) { "live" } else { "empty" }
                    aria-label="The tokens in both orders">
                    {lanes::lanes(shuffle, moved, pressed)}
                    <SheetExport name="qkv-lanes" title="How far each token’s output moved" provenance sheet/>
                </section>
                <p class="view-note qkv-verdict" data-testid="qkv-shuffle" data-most=move || {
                    shuffle.get().map(|shuffle| most(&shuffle).to_string())
                }>{move || shuffle.get().map(|shuffle| verdict(&shuffle))}</p>
            </div>
            {move || moved.get().then(|| view! {
                <div>
                    <MatrixFigure name="qkv-difference" title="Last layer’s output: after the shuffle minus before" matrix provenance/>
                </div>
            })}
        </div>
    }
    .into_any()
}

/// The largest difference of one token's output.
pub fn of_token(shuffle: &Shuffle, place: usize) -> f32 {
    let row = shuffle.difference.block(&[place]).unwrap_or_default();
    row.iter().fold(0.0, |most, value| most.max(value.abs()))
}

pub fn most(shuffle: &Shuffle) -> f32 {
    (0..shuffle.order.len()).map(|place| of_token(shuffle, place)).fold(0.0, f32::max)
}

/// Whether nothing but rounding moved.
pub fn is_same(shuffle: &Shuffle) -> bool {
    most(shuffle) <= ROUNDING * shuffle.largest
}

/// A line for each token in the new order; places count from 1.
fn lanes_sheet(shuffle: &Shuffle) -> Sheet {
    let mut sheet = Sheet::new(&["positions", "causal", "place", "token", "place_before", "moved"]);
    let line = |(place, from): (usize, &u32)| {
        vec![
            json!(shuffle.positions),
            json!(shuffle.causal),
            json!(place + 1),
            json!(shuffle.tokens.get(*from as usize)),
            json!(from + 1),
            exact(of_token(shuffle, place)),
        ]
    };
    sheet.rows = shuffle.order.iter().enumerate().map(line).collect();
    sheet
}

fn verdict(shuffle: &Shuffle) -> AnyView {
    let (most, largest) = (most(shuffle), shuffle.largest);
    let changed = (0..shuffle.order.len())
        .filter(|place| of_token(shuffle, *place) > ROUNDING * largest)
        .count();
    let how = match (shuffle.causal, shuffle.positions) {
        (false, false) => "Without positions and without a mask",
        (true, false) => "With a causal mask alone",
        (false, true) => "With positions",
        (true, true) => "With a causal mask and positions",
    };
    let (large, small) = if is_same(shuffle) {
        let large = match most == 0.0 {
            true => "Largest difference: 0".to_owned(),
            false => format!("Largest difference: {most:.7}, which is only rounding"),
        };
        let small = format!(
            "{how}, each token finds the same others, wherever they stand. The last layer’s outputs go up to {largest:.3}."
        );
        (large, small)
    } else {
        let count = shuffle.order.len();
        let small = format!(
            "{how}, the last layer’s outputs changed for {changed} of {count} tokens. Order matters now. Outputs go up to \
             {largest:.3}."
        );
        (format!("Largest difference: {most:.4}"), small)
    };
    view! { <strong>{large}</strong>" "<span>{small}</span> }.into_any()
}

fn differences(shuffle: &Shuffle) -> Matrix {
    let name = |from: &u32| shuffle.tokens.get(*from as usize).cloned().unwrap_or_default();
    Matrix {
        row_axis: "token".into(),
        column_axis: "dimension".into(),
        rows: shuffle.order.iter().map(name).collect(),
        columns: (1..=shuffle.difference.shape[1]).map(|at| at.to_string()).collect(),
        values: shuffle.difference.values.clone(),
        // Few are farther from 0 than twice their root mean square; how many are beyond is said beside the scale.
        map: ValueMap::Signed { limit: lanes::most_colored(&shuffle.difference.values) },
        value_name: "difference".into(),
        absent: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn each_token_is_written_down_with_both_its_places_and_how_far_it_moved() {
        let shuffle = Shuffle {
            positions: false,
            causal: true,
            tokens: ["a", "b", "c"].map(str::to_owned).to_vec(),
            order: vec![2, 0, 1],
            difference: Array {
                shape: vec![3, 2],
                values: vec![0.1, -0.3, 1.0e-7, 0.0, 0.25, 0.123_456_79],
            },
            before: Array { shape: vec![3, 2], values: vec![0.0; 6] },
            largest: 2.0,
        };
        let sheet = lanes_sheet(&shuffle);
        assert_eq!(sheet.columns.len(), 6);
        let line = |place: u32, token: &str, before: u32, moved: f64| {
            let settings = [json!(false), json!(true)];
            let of = [json!(place), json!(token), json!(before), json!(moved)];
            [&settings[..], &of].concat()
        };
        let lines = [line(1, "c", 3, 0.3), line(2, "a", 1, 1.0e-7), line(3, "b", 2, 0.25)];
        assert_eq!(sheet.rows, lines);
    }
}
