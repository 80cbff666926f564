//! The tokens in another order: whose output changes?

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::qkv::{Models, Shuffle, ask},
};

use super::is_of;
use crate::{
    controls::FlagField,
    course::{Sentence, use_lab, use_provenance},
    figures::{Matrix, MatrixFigure, ValueMap, token},
    questions::use_answer,
    store::Store,
};

/// Differences up to this share of the largest output are rounding: `f32` sums in another order.
pub const ROUNDING: f32 = 1e-5;

pub fn view() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let provenance = use_provenance(lab);
    let asked = Memo::new(move |_| {
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
                {move || shuffle.get().map(|shuffle| lanes(&shuffle))}
                <p class="view-note qkv-verdict" data-testid="qkv-shuffle" data-most=move || {
                    shuffle.get().map(|shuffle| most(&shuffle).to_string())
                }>{move || shuffle.get().map(|shuffle| verdict(&shuffle))}</p>
            </div>
            <div>
                <MatrixFigure name="qkv-difference" title="Output after the shuffle, less that before" matrix provenance/>
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
        <div class="qkv-lanes" style=format!("--count:{count}") role="img" aria-label=format!(
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
        view! {
            {how}" no output changed: the largest difference is "<b>{format!("{most:.7}")}</b>
            ", beside outputs of up to "{format!("{largest:.3}")}". That is only rounding, as sums are added up in another \
            order. Each token finds the same others, wherever they stand."
        }
        .into_any()
    } else {
        view! {
            {how}" the outputs of "<b>{changed}</b>" of "{shuffle.order.len()}" tokens changed, by up to "
            <b>{format!("{most:.4}")}</b>", beside outputs of up to "{format!("{largest:.3}")}". Order matters now."
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
