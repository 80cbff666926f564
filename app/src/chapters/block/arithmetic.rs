//! One term's way to one logit, place by place.

use leptos::{ev, prelude::*};
use unroll_protocol::study::block::Stream;
use web_sys::Element;

use super::{Page, stream::BarScale};
use crate::figures::{decimals, token::mark};

/// Products in sight; the rest is one sum.
const LARGEST: usize = 6;
/// Decimals of all numbers in sight, as in the table of the terms.
const PLACES: usize = 3;

/// What is folded away below them, and whether it is open; of whichever term.
pub type Folds = [(&'static str, RwSignal<bool>); 2];

pub fn folds() -> Folds {
    ["block-others", "block-factors"].map(|id| (id, RwSignal::new(false)))
}

/// One place of a term, and what it adds to the logit.
struct Product {
    place: usize,
    x: f64,
    weight: f64,
    value: f64,
}

/// The mean of a term's numbers, and all its products, the largest first.
fn products(stream: &Stream, term: usize) -> Option<(f64, Vec<Product>)> {
    let term = stream.terms.block(&[term])?;
    let mean = match stream.deviation {
        Some(_) => term.iter().map(|x| f64::from(*x)).sum::<f64>() / term.len() as f64,
        None => 0.0,
    };
    let scale = stream.deviation.map_or(1.0, f64::from);
    let numbers = term.iter().zip(&stream.gamma).zip(&stream.unembedding);
    let products = numbers.enumerate().map(|(i, ((x, gamma), u))| {
        let (x, weight) = (f64::from(*x) - mean, f64::from(*gamma) * f64::from(*u) / scale);
        Product { place: i + 1, x, weight, value: x * weight }
    });
    let mut products: Vec<Product> = products.collect();
    products.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    Some((mean, products))
}

fn sum(products: &[Product]) -> f64 {
    products.iter().map(|product| product.value).sum()
}

/// The products in units of the last decimal, rounded so that they add up to their rounded sum, as far as
/// one adds: each is off by less than one.
fn rounded(products: &[Product]) -> Vec<i64> {
    let (mut sum, mut before) = (0.0, 0);
    let own = |product: &Product| {
        sum += product.value;
        let now = (sum * 10f64.powi(PLACES as i32)).round() as i64;
        now - core::mem::replace(&mut before, now)
    };
    products.iter().map(own).collect()
}

fn written(units: i64) -> String {
    decimals(units as f64 / 10f64.powi(PLACES as i32), PLACES)
}

/// The open term, if one is.
pub fn panel(page: Page, folds: Folds) -> Option<AnyView> {
    let index = (page.term.get() as usize).checked_sub(1)?;
    let stream = page.stream.get()?;
    let name = stream.sources.get(index)?.name();
    let token = page.vocabulary.with(|v| v.get(stream.token as usize).map(|t| mark(t)))?;
    let (mean, all) = products(&stream, index)?;
    let units = rounded(&all);
    let shown = LARGEST.min(all.len());
    let (total, rest) = (sum(&all), sum(&all[shown..]));
    // One unit for all terms, so that their bars compare; each begins where its own bars do.
    let needs = |all: &[Product]| {
        let rest = sum(all.get(LARGEST..).unwrap_or_default());
        BarScale::of(all.iter().map(|product| product.value).chain([rest]))
    };
    let terms = (0..stream.sources.len()).filter_map(|term| products(&stream, term));
    let span = terms.map(|(_, all)| needs(&all).span).fold(1e-6, f64::max);
    let scale = BarScale { span, ..needs(&all) };
    let row = |(product, units): (&Product, &i64)| {
        let Product { place, x, weight, value } = product;
        view! {
            <tr>
                <th scope="row">{*place}</th>
                <td>{decimals(*x, PLACES)}</td><td>{decimals(*weight, PLACES)}</td>
                <td data-part="block-product" data-value=value.to_string()>{written(*units)}</td>
                <td class="block-bars">{scale.bar(*value)}</td>
            </tr>
        }
    };
    let mut rows = all.iter().zip(&units).map(row);
    let largest = rows.by_ref().take(shown).collect_view();
    let others = rows.collect_view();
    let rest_name = format!("the other {}", all.len() - shown);
    let head = || {
        view! {
            <thead><tr>
                <th scope="col">"place"</th><th scope="col">"x"</th><th scope="col">"weight"</th>
                <th scope="col">"x · weight"</th>
                <th scope="col"><span class="visually-hidden">"as a bar"</span></th>
            </tr></thead>
        }
    };
    let fold = |(id, open): (&'static str, RwSignal<bool>), label: String, holds: AnyView| {
        let on_toggle = move |event: ev::Event| {
            open.set(event_target::<Element>(&event).has_attribute("open"));
        };
        view! {
            <details class="disclosure aside" data-testid=id open=open.get_untracked() on:toggle=on_toggle>
                <summary>{label}</summary>
                {holds}
            </details>
        }
    };
    let [of_others, of_factors] = folds;
    let count = stream.sources.len() as u32;
    let go = move |by: u32| move |_| page.term.update(|term| *term = (*term - 1 + by) % count + 1);
    Some(
        view! {
            <section class="block-arithmetic" data-testid="block-arithmetic" aria-label="The term worked out">
                <div class="block-head">
                    <h3>{format!("How {name} adds {} to the logit of ‘{token}’", decimals(total, PLACES))}</h3>
                    <button type="button" class="button" aria-label="Term above" data-testid="block-arithmetic-back"
                        on:click=go(count - 1)>"‹"</button>
                    <button type="button" class="button" aria-label="Term below" data-testid="block-arithmetic-next"
                        on:click=go(1)>"›"</button>
                    <button type="button" class="button button-quiet" data-testid="block-arithmetic-close"
                        on:click=move |_| page.term.set(0)>"Close"</button>
                </div>
                <div class="view-scroll" tabindex="0" role="region" aria-label="Place by place">
                    <table class="block-table">
                        {head()}
                        <tbody>
                            {largest}
                            <tr>
                                <th scope="row" colspan="3">{rest_name.clone()}</th>
                                <td data-testid="block-rest" data-value=rest.to_string()>
                                    {written(units[shown..].iter().sum())}
                                </td>
                                <td class="block-bars">{scale.bar(rest)}</td>
                            </tr>
                        </tbody>
                        <tfoot><tr>
                            <th scope="row" colspan="3">"sum"</th>
                            <td data-testid="block-total" data-value=total.to_string()>{written(units.iter().sum())}</td>
                            <td></td>
                        </tr></tfoot>
                    </table>
                    {fold(of_others, format!("Show {rest_name} products"), view! {
                        <table class="block-table">{head()}<tbody>{others}</tbody></table>
                    }.into_any())}
                    {fold(of_factors, "Where do x and the weight come from?".to_owned(), view! {
                        <p>{factors(&stream, mean, token)}" Products are rounded so that they add up as written."</p>
                    }.into_any())}
                </div>
            </section>
        }
        .into_any(),
    )
}

/// What is multiplied.
fn factors(stream: &Stream, mean: f64, token: String) -> AnyView {
    match stream.deviation {
        Some(deviation) => view! {
            "x is the term’s number minus the term’s mean, "
            <b data-testid="block-mean" data-value=mean.to_string()>{decimals(mean, 4)}</b>
            ". The weight is γ\u{a0}·\u{a0}u\u{a0}/\u{a0}σ: the final norm’s learned γ, the unembedding’s learned u for ‘"
            {token}"’, and σ = "
            <b data-testid="block-deviation" data-value=deviation.to_string()>{decimals(deviation, 4)}</b>
            ", the spread of the whole stream."
        }
        .into_any(),
        None => view! {
            "This model has no final norm. The weight is what the unembedding learned for ‘"{token}"’, and x is the \
             term’s number as it is."
        }
        .into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_add_up_as_written() {
        let value = |place: usize| 0.1 / 3.0 - 0.0137 * place as f64;
        let product = |place| Product { place, x: 1.0, weight: value(place), value: value(place) };
        let products: Vec<Product> = (1..=24).map(product).collect();
        let units = rounded(&products);
        let thousandths = |value: f64| value * 1000.0;
        assert_eq!(units.iter().sum::<i64>(), thousandths(sum(&products)).round() as i64);
        for (product, units) in products.iter().zip(&units) {
            assert!((thousandths(product.value) - *units as f64).abs() < 1.0);
        }
        assert_eq!([written(-1230), written(4), written(0)], ["−1.230", "0.004", "0.000"]);
    }
}
