//! One cell's normalization, worked out number by number.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::norm::{Axis, Layer, Statistics};

use super::cells::Place;
use crate::figures::four_decimals;

/// What the model adds to every variance.
pub const EPSILON: f32 = 1e-5;

/// Lines of arithmetic for the cell at `place`, over the half of the figure that the cell is not in;
/// nothing where there is none.
#[component]
pub fn Arithmetic(
    #[prop(into)] layer: Signal<Option<Arc<Layer>>>,
    #[prop(into)] place: Signal<Option<Place>>,
    on_close: Callback<()>,
) -> impl IntoView {
    move || {
        let (layer, place) = (layer.get()?, place.get()?);
        let lines = lines(&layer, place)?;
        let (row, column) = place;
        let is_low = 2 * row >= layer.input.shape[0] as usize;
        Some(view! {
            <section class="norm-arithmetic" class:norm-arithmetic-high=is_low data-testid="norm-arithmetic" aria-label="Arithmetic of one cell">
                <div class="norm-arithmetic-head">
                    <h4>{format!("Example {}, feature {}", row + 1, column + 1)}</h4>
                    <button type="button" class="button button-quiet" data-testid="norm-arithmetic-close"
                        on:click=move |_| on_close.run(())>"Close"</button>
                </div>
                <dl>
                    {lines.into_iter().map(|line| view! {
                        <dt class=line.role>{line.name}</dt>
                        <dd data-testid=format!("norm-line-{}", line.id) data-value=line.value.to_string()>
                            {line.text}
                        </dd>
                    }).collect_view()}
                </dl>
            </section>
        }
        .into_any())
    }
}

struct Line {
    id: &'static str,
    name: &'static str,
    role: &'static str,
    text: String,
    value: f32,
}

fn lines(layer: &Layer, (row, column): Place) -> Option<Vec<Line>> {
    let result = layer.result.as_ref().ok()?;
    let (rows, columns) = (layer.input.shape[0] as usize, layer.input.shape[1] as usize);
    let at = if layer.axis == Axis::Batch { column } else { row };
    let x = layer.input.get(&[row, column])?;
    let (mean, variance) = (*result.mean.get(at)?, *result.variance.get(at)?);
    let normalized = result.normalized.get(&[row, column])?;
    let output = result.output.get(&[row, column])?;
    let (gamma, beta) = (*result.gamma.get(column)?, *result.beta.get(column)?);
    let averaged: Vec<f32> = match layer.axis {
        Axis::Batch => (0..rows).filter_map(|r| layer.input.get(&[r, column])).collect(),
        Axis::Layer => (0..columns).filter_map(|c| layer.input.get(&[row, c])).collect(),
    };
    let over = match layer.axis {
        Axis::Batch => format!("feature {} of all {rows} examples", column + 1),
        Axis::Layer => format!("all {columns} features of example {}", row + 1),
    };
    let running = layer.axis == Axis::Batch && layer.statistics == Statistics::Running;
    let (mean_text, variance_text) = if running {
        (
            format!(
                "{} (the running mean of feature {}, kept from the batches it was trained on)",
                four_decimals(mean),
                column + 1
            ),
            format!("{} (the running variance, unbiased)", four_decimals(variance)),
        )
    } else {
        let sum = averaged.iter().map(|v| bracketed(*v)).collect::<Vec<_>>().join(" + ");
        let count = averaged.len();
        let squares = averaged
            .iter()
            .map(|v| format!("{}²", bracketed(v - mean)))
            .collect::<Vec<_>>()
            .join(" + ");
        (
            format!("({sum}) / {count} = {}, over {over}", four_decimals(mean)),
            format!("({squares}) / {count} = {}", four_decimals(variance)),
        )
    };
    let line = |id, name, role, text, value| Line { id, name, role, text, value };
    Some(vec![
        line("x", "x", "role-input", four_decimals(x), x),
        line("mean", "μ", "", mean_text, mean),
        line("variance", "σ²", "", variance_text, variance),
        line(
            "normalized",
            "x̂",
            "role-hidden",
            format!(
                "(x − μ) / √(σ² + ε) = ({} − {}) / √({} + {EPSILON:.5}) = {}",
                four_decimals(x),
                bracketed(mean),
                four_decimals(variance),
                four_decimals(normalized)
            ),
            normalized,
        ),
        line(
            "output",
            "y",
            "role-output",
            format!(
                "γ x̂ + β = {} · {} + {} = {}",
                four_decimals(gamma),
                bracketed(normalized),
                bracketed(beta),
                four_decimals(output)
            ),
            output,
        ),
    ])
}

/// A negative number in brackets.
fn bracketed(value: f32) -> String {
    if value < 0.0 { format!("({})", four_decimals(value)) } else { four_decimals(value) }
}
