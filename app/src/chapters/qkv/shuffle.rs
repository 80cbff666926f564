//! The tokens in another order: whose output changes?

use leptos::prelude::*;
use serde_json::json;
use unroll_protocol::{
    Link,
    study::qkv::{Models, Shuffle, ask},
};

use super::is_of;
use crate::{
    controls::FlagField,
    course::{Sentence, use_lab, use_provenance},
    figures::{Matrix, MatrixFigure, Sheet, SheetExport, ValueMap, exact, token},
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
    let shuffle = answered.answer;
    let matrix = Signal::derive(move || {
        shuffle.get().map_or(Matrix::default(), |shuffle| differences(&shuffle))
    });
    let sheet = Callback::new(move |()| shuffle.with(|s| s.as_deref().map(lanes_sheet)));
    let again = move |_| {
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
                <section class="figure qkv-shuffled" data-testid="figure-qkv-lanes"
                    data-state=move || if shuffle.with(Option::is_some) { "live" } else { "empty" }
                    aria-label="The tokens in both orders">
                    {move || shuffle.get().map(|shuffle| lanes(&shuffle))}
                    <SheetExport name="qkv-lanes" title="How far each token’s output moved" provenance sheet/>
                </section>
                <p class="view-note qkv-verdict" data-testid="qkv-shuffle" data-most=move || {
                    shuffle.get().map(|shuffle| most(&shuffle).to_string())
                }>{move || shuffle.get().map(|shuffle| verdict(&shuffle))}</p>
            </div>
            <div>
                <MatrixFigure name="qkv-difference" title="Output after the shuffle minus output before it" matrix provenance/>
            </div>
        </div>
    }
    .into_any()
}

/// The largest difference of one token's output.
fn of_token(shuffle: &Shuffle, place: usize) -> f32 {
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

/// Both orders, a line from where each token stood to where it stands, and how much its output
/// changed.
fn lanes(shuffle: &Shuffle) -> AnyView {
    let count = shuffle.order.len();
    let chip = |token: &str| view! { <span>{token::mark(token)}</span> };
    let before = shuffle.tokens.iter().map(|token| chip(token)).collect_view();
    let after = shuffle
        .order
        .iter()
        .map(|from| chip(shuffle.tokens.get(*from as usize).map_or("", String::as_str)));
    let lines: String = shuffle
        .order
        .iter()
        .enumerate()
        .map(|(to, from)| {
            let (from, to) = (f64::from(*from) + 0.5, to as f64 + 0.5);
            format!(r#"<line x1="{from}" y1="0" x2="{to}" y2="10"/>"#)
        })
        .collect();
    let bars = (0..count).map(|place| {
        let moved = of_token(shuffle, place);
        let height = (moved / shuffle.largest.max(1e-9) * 100.0).min(100.0);
        let from = shuffle.order[place] as usize;
        let name = token::name_at(shuffle.tokens.get(from).map_or("", String::as_str), from);
        view! {
            <i title=format!("{name}: {moved:.7}") data-testid=format!("qkv-moved-{place}")
                data-value=moved.to_string() style=format!("height:{height}%")></i>
        }
    });
    view! {
        <div class="figure-box qkv-lanes" style=format!("--count:{count}") role="img" aria-label=format!(
            "{} becomes {}",
            shuffle.tokens.concat(),
            shuffle.order.iter().filter_map(|from| shuffle.tokens.get(*from as usize)).cloned().collect::<String>()
        )>
            <span class="qkv-lane">"as it is"</span>
            <div class="qkv-chips">{before}</div>
            <svg viewBox=format!("0 0 {count} 10") preserveAspectRatio="none" inner_html=lines></svg>
            <span class="qkv-lane">"shuffled"</span>
            <div class="qkv-chips">{after.collect_view()}</div>
            <span class="qkv-lane">"how far its output moved"</span>
            <div class="qkv-bars">{bars.collect_view()}</div>
        </div>
    }
    .into_any()
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
    if is_same(shuffle) {
        if most == 0.0 {
            return view! { {how}", no output changed at all. Each token finds the same others, wherever they stand." }
                .into_any();
        }
        view! {
            {how}", no output changed. The largest difference is "<b>{format!("{most:.7}")}</b>
            ", where outputs go up to "{format!("{largest:.3}")}". That is only rounding, because sums are added up in \
            another order. Each token finds the same others, wherever they stand."
        }
        .into_any()
    } else {
        view! {
            {how}", the outputs of "<b>{changed}</b>" of "{shuffle.order.len()}" tokens changed, by up to "
            <b>{format!("{most:.4}")}</b>", where outputs go up to "{format!("{largest:.3}")}". Order matters now."
        }
        .into_any()
    }
}

fn differences(shuffle: &Shuffle) -> Matrix {
    let name = |from: &u32| shuffle.tokens.get(*from as usize).cloned().unwrap_or_default();
    Matrix {
        row_axis: "token".into(),
        column_axis: "dimension".into(),
        rows: shuffle.order.iter().map(name).collect(),
        columns: (1..=shuffle.difference.shape[1]).map(|at| at.to_string()).collect(),
        values: shuffle.difference.values.clone(),
        map: ValueMap::Signed { limit: 1.0 },
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
