//! Three equal ways to average what may be looked at, and the one that depends on the data.

use leptos::prelude::*;
use unroll_protocol::{
    Array,
    study::mask::{Averages, Seen},
};

use super::{Page, Refused, exact, named_rows};
use crate::{
    controls::SliderField,
    course::Sentence,
    figures::{Matrix, MatrixFigure, ValueMap, token::name_at},
    teaching::{Hue, Sym, Term, Word},
};

/// The ways to average, by their names in both figures.
const WAYS: [&str; 4] = ["loop", "matrix", "softmax", "attention"];

pub fn view(page: Page) -> AnyView {
    let name = page.derive(|seen| {
        let row = seen.row as usize;
        seen.tokens.get(row).map_or(String::new(), |token| name_at(token, row))
    });
    let counted = page.derive(|seen| {
        let length = seen.tokens.len();
        let row = seen.row as usize;
        let cells = seen.allowed.get(row * length..(row + 1) * length).unwrap_or_default();
        let count = cells.iter().filter(|allowed| **allowed).count();
        format!("{count} of {length}")
    });
    let weights = page.derive(weights);
    let results = page.derive(results);
    let difference = move |id: &'static str, what: &'static str, of: fn(&Seen) -> f32| {
        let apart = page.derive(of);
        view! {
            <div>
                <dt>{what}</dt>
                <dd data-testid=id data-value=move || apart.get().to_string()>
                    {move || exact(apart.get())}
                </dd>
            </div>
        }
        .into_any()
    };
    view! {
        <Sentence label="Sentence" problem=page.problem(true)/>
        <Refused page/>
        <section class="view-fill mask-averages" data-testid="figure-mask-averages"
            aria-label="Three equal averages"
            data-state=move || if page.seen.with(Option::is_some) { "live" } else { "empty" }>
            <div class="view-bar mask-bar mask-row">
                <SliderField name="mask-row" least=1.0/>
                <p class="view-note">
                    {name} " may look at " {counted} " tokens. A loop, a product with a matrix of 0 and 1/count, and a "
                    <Term of=Word::Softmax>"softmax"</Term>" of 0 and −∞ give the plain average of their "
                    <Sym part="mask-values" role=Hue::Value>"values"</Sym>
                    ". Attention’s weights depend on the data."
                </p>
            </div>
            <div class="view-split">
                <div>
                    <MatrixFigure name="mask-weights" provenance=page.provenance matrix=weights
                        title=Signal::derive(move || format!("Weights in the row of {}", name.get()))/>
                </div>
                <div data-part="mask-values">
                    <MatrixFigure name="mask-means" provenance=page.provenance matrix=results
                        title=Signal::derive(move || format!("Averages of the values for {}", name.get()))/>
                </div>
            </div>
            <div class="mask-apart">
                <p class="hint">"Largest difference over all rows and numbers. The first two are only rounding error."</p>
                <dl class="mask-differences">
                    {difference("mask-loop-product", "loop − matrix product",
                        |s| apart(&s.averages.looped, &s.averages.product))}
                    {difference("mask-loop-softmax", "loop − softmax",
                        |s| apart(&s.averages.looped, &s.averages.softmax))}
                    {difference("mask-loop-attention", "loop − attention",
                        |s| apart(&s.averages.looped, &s.averages.attended))}
                </dl>
            </div>
        </section>
    }
    .into_any()
}

fn row<'a>(array: &'a Array, seen: &Seen) -> &'a [f32] {
    array.block(&[seen.row as usize]).unwrap_or_default()
}

fn weights(seen: &Seen) -> Matrix {
    let ways = [&seen.averages.matrix, &seen.averages.softened, &seen.weights];
    // The loop adds up what is allowed and divides by how many they are.
    let length = seen.tokens.len();
    let at = seen.row as usize * length;
    let allowed = seen.allowed.get(at..at + length).unwrap_or_default();
    let count = allowed.iter().filter(|allowed| **allowed).count().max(1) as f32;
    let looped = vec![1.0 / count; allowed.len()];
    let rows = [&[&looped[..]][..], &ways.map(|array| row(array, seen))].concat();
    // Hatched as in the mask, where it blocks.
    let open = |row: &[f32]| {
        let cells = row.iter().zip(allowed);
        cells.map(|(weight, &open)| if open { *weight } else { f32::NAN }).collect::<Vec<_>>()
    };
    Matrix {
        row_axis: String::new(),
        column_axis: "looked at (key)".into(),
        rows: WAYS.map(String::from).to_vec(),
        columns: seen.tokens.clone(),
        values: rows.into_iter().flat_map(open).collect(),
        map: ValueMap::Probability,
        value_name: "weight".into(),
        absent: "blocked".into(),
    }
}

fn results(seen: &Seen) -> Matrix {
    let Averages { looped, product, softmax, attended, .. } = &seen.averages;
    let rows = [looped, product, softmax, attended].map(|array| row(array, seen));
    named_rows(&WAYS, "dimension", &rows, "average")
}

fn apart(a: &Array, b: &Array) -> f32 {
    let pairs = a.values.iter().zip(&b.values);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}
