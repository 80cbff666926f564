//! One term's way to one logit, place by place.

use leptos::prelude::*;
use unroll_protocol::study::block::Stream;

use super::{Page, stream::bar};
use crate::figures::{decimals, token::mark};

/// The mean of a term's numbers, each number less it, and all that this is multiplied by.
fn factors(stream: &Stream, term: usize) -> Option<(f64, Vec<(f64, f64)>)> {
    let term = stream.terms.block(&[term])?;
    let mean = match stream.deviation {
        Some(_) => term.iter().map(|x| f64::from(*x)).sum::<f64>() / term.len() as f64,
        None => 0.0,
    };
    let scale = stream.deviation.map_or(1.0, f64::from);
    let numbers = term.iter().zip(&stream.gamma).zip(&stream.unembedding);
    let factors = numbers
        .map(|((x, gamma), u)| (f64::from(*x) - mean, f64::from(*gamma) * f64::from(*u) / scale));
    Some((mean, factors.collect()))
}

/// The open term, if one is.
pub fn panel(page: Page) -> Option<AnyView> {
    let index = (page.term.get() as usize).checked_sub(1)?;
    let stream = page.stream.get()?;
    let name = stream.sources.get(index)?.name();
    let token = page.vocabulary.with(|v| v.get(stream.token as usize).map(|t| mark(t)))?;
    let (mean, factors) = factors(&stream, index)?;
    let total: f64 = factors.iter().map(|(x, weight)| x * weight).sum();
    // One scale for all terms, so that their bars compare.
    let all = (0..stream.sources.len()).filter_map(|term| Some(self::factors(&stream, term)?.1));
    let most = all.flatten().fold(1e-6, |most: f64, (x, weight)| most.max((x * weight).abs()));
    let how = match stream.deviation {
        Some(deviation) => view! {
            "x is the term’s number minus the term’s mean, "
            <b data-testid="block-mean" data-value=mean.to_string()>{decimals(mean, 4)}</b>
            ". The weight is γ\u{a0}·\u{a0}u\u{a0}/\u{a0}σ: the final norm’s learned γ, the unembedding’s learned u for ‘"
            {token.clone()}"’, and σ = "
            <b data-testid="block-deviation" data-value=deviation.to_string()>{decimals(deviation, 4)}</b>
            ", the spread of the whole stream."
        }
        .into_any(),
        None => view! {
            "This model has no final norm. The weight is what the unembedding learned for ‘"{token.clone()}"’, and x is the \
             term’s number as it is."
        }
        .into_any(),
    };
    let rows = factors.iter().enumerate().map(|(i, (x, weight))| {
        let part = x * weight;
        view! {
            <tr>
                <th scope="row">{i + 1}</th>
                <td>{decimals(*x, 4)}</td><td>{decimals(*weight, 4)}</td>
                <td data-part="block-product" data-value=part.to_string()>{decimals(part, 5)}</td>
                <td class="block-bars">{bar(part, most)}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    let count = stream.sources.len() as u32;
    let go = move |by: u32| move |_| page.term.update(|term| *term = (*term - 1 + by) % count + 1);
    Some(
        view! {
            <section class="block-arithmetic" data-testid="block-arithmetic" aria-label="The term worked out">
                <div class="block-head">
                    <h3>{format!("How {name} adds {} to the logit of ‘{token}’", decimals(total, 4))}</h3>
                    <button type="button" class="button" aria-label="Term above" data-testid="block-arithmetic-back"
                        on:click=go(count - 1)>"‹"</button>
                    <button type="button" class="button" aria-label="Term below" data-testid="block-arithmetic-next"
                        on:click=go(1)>"›"</button>
                    <button type="button" class="button button-quiet" data-testid="block-arithmetic-close"
                        on:click=move |_| page.term.set(0)>"Close"</button>
                </div>
                <p class="view-note">{how}</p>
                <div class="view-scroll" tabindex="0" role="region" aria-label="Place by place">
                    <table class="block-table">
                        <thead><tr>
                            <th scope="col">"place"</th><th scope="col">"x"</th><th scope="col">"weight"</th>
                            <th scope="col">"x · weight"</th>
                            <th scope="col"><span class="visually-hidden">"as a bar"</span></th>
                        </tr></thead>
                        <tbody>{rows}</tbody>
                        <tfoot><tr>
                            <th scope="row">"sum"</th><td></td><td></td>
                            <td data-testid="block-total" data-value=total.to_string()>{decimals(total, 5)}</td><td></td>
                        </tr></tfoot>
                    </table>
                </div>
            </section>
        }
        .into_any(),
    )
}
