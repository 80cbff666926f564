//! One term's way to one logit, dimension by dimension.

use leptos::prelude::*;

use super::{
    Page,
    stream::{bar, signed},
};
use crate::figures::token::mark;

/// The open term, if one is.
pub fn panel(page: Page) -> Option<AnyView> {
    let index = (page.term.get() as usize).checked_sub(1)?;
    let stream = page.stream.get()?;
    let term = stream.terms.block(&[index])?;
    let name = stream.sources.get(index)?.name();
    let token = page.vocabulary.with(|v| v.get(stream.token as usize).map(|t| mark(t)))?;
    let mean = match stream.deviation {
        Some(_) => term.iter().map(|x| f64::from(*x)).sum::<f64>() / term.len() as f64,
        None => 0.0,
    };
    let scale = stream.deviation.map_or(1.0, f64::from);
    let parts: Vec<f64> = term
        .iter()
        .zip(&stream.gamma)
        .zip(&stream.unembedding)
        .map(|((x, gamma), u)| (f64::from(*x) - mean) / scale * f64::from(*gamma) * f64::from(*u))
        .collect();
    let total: f64 = parts.iter().sum();
    let most = parts.iter().fold(1e-6, |most: f64, part| most.max(part.abs()));
    let how = match stream.deviation {
        Some(deviation) => view! {
            "The final norm subtracts the term’s own mean, μ = "
            <b data-testid="block-mean" data-value=mean.to_string()>{signed(mean as f32, 4)}</b>
            ", divides by the standard deviation of the whole stream, σ = "
            <b data-testid="block-deviation" data-value=deviation.to_string()>{signed(deviation, 4)}</b>
            ", and multiplies by γ. The unembedding’s column u of ‘"{token.clone()}"’ then weighs the result."
        }
        .into_any(),
        None => view! {
            "This model has no final norm, so the unembedding’s column u of ‘"{token.clone()}"’ reads the term as it is."
        }
        .into_any(),
    };
    let rows = term.iter().zip(&stream.gamma).zip(&stream.unembedding).zip(&parts).enumerate();
    let rows = rows.map(|(i, (((x, gamma), u), part))| {
        view! {
            <tr>
                <th scope="row">{i + 1}</th>
                <td>{signed(*x, 4)}</td><td>{signed(*gamma, 4)}</td><td>{signed(*u, 4)}</td>
                <td data-part="block-product" data-value=part.to_string()>{signed(*part as f32, 5)}</td>
                <td class="block-bars">{bar(*part, most)}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    Some(
        view! {
            <section class="block-arithmetic" data-testid="block-arithmetic" aria-label="The term worked out">
                <div class="block-head">
                    <h3>{format!("How {name} adds {} to the logit of ‘{token}’", signed(total as f32, 4))}</h3>
                    <button type="button" class="button button-quiet" data-testid="block-arithmetic-close"
                        on:click=move |_| page.term.set(0)>"Close"</button>
                </div>
                <p class="view-note">{how}</p>
                <div class="view-scroll" tabindex="0" role="region" aria-label="Dimension by dimension">
                    <table class="block-table">
                        <thead><tr>
                            <th scope="col">"dimension"</th><th scope="col">"x"</th><th scope="col">"γ"</th>
                            <th scope="col">"u"</th>
                            <th scope="col">{if stream.deviation.is_some() { "(x − μ) / σ · γ · u" } else { "x · u" }}</th>
                            <th scope="col"><span class="visually-hidden">"as a bar"</span></th>
                        </tr></thead>
                        <tbody>{rows}</tbody>
                        <tfoot><tr>
                            <th scope="row">"sum"</th><td></td><td></td><td></td>
                            <td data-testid="block-total" data-value=total.to_string()>{signed(total as f32, 5)}</td><td></td>
                        </tr></tfoot>
                    </table>
                </div>
            </section>
        }
        .into_any(),
    )
}
