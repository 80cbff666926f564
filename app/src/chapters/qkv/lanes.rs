//! The tokens in both orders, each with its output in colors, and a line from place to place.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::qkv::Shuffle;

use super::shuffle::{most as farthest, of_token};
use crate::{
    figures::{Colors, scale::limit, theme::use_colors, token},
    reactive::memo,
};

/// Tokens of a sentence, and for each new place the old one.
type Order = (Vec<String>, Vec<u32>);

/// Both orders, and where something `moved`, how much each output changed. After the button was `pressed`, the
/// tokens of the next order go to their places.
pub fn lanes(
    shuffle: Signal<Option<Arc<Shuffle>>>,
    moved: Memo<bool>,
    pressed: StoredValue<bool>,
) -> AnyView {
    let colors = use_colors();
    // In training only colors and bars change: what is under way goes on.
    let order: Memo<Option<Order>> =
        memo(move || shuffle.with(|s| s.as_ref().map(|s| (s.tokens.clone(), s.order.clone()))));
    let most = memo(move || {
        shuffle.with(|s| s.as_deref().map_or(1.0, |s| most_colored(&s.before.values)))
    });
    let strip = move |of: fn(&Shuffle, usize) -> Vec<f32>, place: usize| {
        move || {
            let values = shuffle.with(|s| s.as_deref().map(|s| of(s, place)));
            colors.with(|colors| stripes(&values.unwrap_or_default(), most.get(), colors))
        }
    };
    let bar = move |place: usize| {
        let share = move || {
            let (moved, most) =
                shuffle.with(|s| s.as_deref().map(|s| (of_token(s, place), farthest(s))))?;
            Some(format!("height:{}%", moved / most.max(1e-9) * 100.0))
        };
        view! { <i style=share></i> }
    };
    let rows = move |(tokens, order): Order| {
        let named = |from: u32| tokens.get(from as usize).map_or("", String::as_str);
        let chip = |token: &str| view! { <span>{token::mark(token)}</span> };
        let count = order.len();
        let lines: String = (0..count)
            .map(|to| {
                let (from, to) = (f64::from(order[to]) + 0.5, to as f64 + 0.5);
                format!(r#"<line x1="{from}" y1="0" x2="{to}" y2="10"/>"#)
            })
            .collect();
        // How many columns to the right of its new place each token stood.
        let came = |to: usize| format!("--from:{}", i64::from(order[to]) - to as i64);
        let moving = pressed.try_update_value(std::mem::take).unwrap_or_default();
        let label = format!(
            "{} becomes {}",
            tokens.concat(),
            order.iter().map(|from| named(*from)).collect::<String>()
        );
        view! {
            <div class="qkv-rows" class:qkv-moving=moving style=format!("--count:{count}") role="img" aria-label=label>
                <p class="qkv-lane">"as it is"<span>{move || {
                    let most = most.get();
                    format!(", with the last layer’s output from −{most} (blue) to {most} (red)")
                }}</span></p>
                <div class="qkv-chips">{tokens.iter().map(|token| chip(token)).collect_view()}</div>
                <div class="qkv-strips">
                    {(0..count).map(|place| view! { <i style=strip(before, place)></i> }).collect_view()}
                </div>
                <svg viewBox=format!("0 0 {count} 10") preserveAspectRatio="none" inner_html=lines></svg>
                <p class="qkv-lane">"shuffled"</p>
                <div class="qkv-chips">
                    {(0..count).map(|to| view! { <span style=came(to)>{token::mark(named(order[to]))}</span> }).collect_view()}
                </div>
                <div class="qkv-strips">
                    {(0..count).map(|to| view! {
                        <b style=came(to)><i style=strip(after, to)></i></b>
                    }).collect_view()}
                </div>
                {move || moved.get().then(|| view! {
                    <p class="qkv-lane">{move || {
                        let most = shuffle.with(|s| s.as_deref().map_or(0.0, farthest));
                        format!("how far its output moved, at most {most:.4}")
                    }}</p>
                    <div class="qkv-bars">{(0..count).map(bar).collect_view()}</div>
                })}
            </div>
        }
        .into_any()
    };
    view! { <div class="figure-box qkv-lanes">{move || order.get().map(rows)}</div> }.into_any()
}

/// The output of the token that stood at `place`.
fn before(shuffle: &Shuffle, place: usize) -> Vec<f32> {
    shuffle.before.block(&[place]).unwrap_or_default().to_vec()
}

/// The output of the token that stands at `place` after the shuffle.
fn after(shuffle: &Shuffle, place: usize) -> Vec<f32> {
    let from = shuffle.order.get(place).map_or(0, |from| *from as usize);
    let change = shuffle.difference.block(&[place]).unwrap_or_default();
    before(shuffle, from).into_iter().zip(change).map(|(value, by)| value + by).collect()
}

/// Where colors end: few values are farther from 0 than twice their root mean square.
pub fn most_colored(values: &[f32]) -> f32 {
    let squares: f32 = values.iter().map(|value| value * value).sum();
    limit([f64::from(2.0 * (squares / values.len().max(1) as f32).sqrt())].into_iter()) as f32
}

/// The numbers as cells one under the other.
fn stripes(values: &[f32], most: f32, colors: &Colors) -> String {
    let share = 100.0 / values.len().max(1) as f32;
    let cell = |(at, value): (usize, &f32)| {
        let at = at as f32;
        let color = colors.signed.at(value / most).css();
        format!(",{color} {:.2}% {:.2}%", at * share, (at + 1.0) * share)
    };
    let cells: String = values.iter().enumerate().map(cell).collect();
    format!("background:linear-gradient(to bottom{cells})")
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn a_token_takes_its_output_along() {
        let array = |values: &[f32]| Array { shape: vec![2, 2], values: values.to_vec() };
        let shuffle = Shuffle {
            positions: false,
            causal: true,
            tokens: ["a", "b"].map(str::to_owned).to_vec(),
            order: vec![1, 0],
            difference: array(&[0.0, 0.0, 0.5, 0.0]),
            before: array(&[1.0, -1.0, 0.25, 2.0]),
            largest: 2.0,
        };
        assert_eq!(after(&shuffle, 0), before(&shuffle, 1));
        assert_eq!(after(&shuffle, 1), [1.5, -1.0]);
        // Twice the root of 6.0625 / 4 is 2.46.
        assert_eq!(most_colored(&shuffle.before.values), 5.0);
    }
}
