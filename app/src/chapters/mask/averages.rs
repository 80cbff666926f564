//! Three equal ways to average what may be looked at, and the one that depends on the data.

use leptos::{html, prelude::*};
use unroll_protocol::{
    Array,
    study::mask::{Averages, Seen},
};

use super::{Page, exact, named_rows};
use crate::{
    figures::{Matrix, MatrixFigure, ValueMap, token::name_at, use_visible},
    teaching::{Hue, Sym, Term, Word},
};

pub fn panel(page: Page) -> AnyView {
    let root = NodeRef::<html::Section>::new();
    let page = page.seen_in(use_visible(root));
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
        <section class="panel mask-averages" node_ref=root data-testid="figure-mask-averages"
            aria-label="Three equal averages"
            data-state=move || if page.seen.with(Option::is_some) { "live" } else { "empty" }>
            <h2>"One average, three ways"</h2>
            <p>
                {name} " may look at " {counted} " tokens. The plain average of their "
                <Sym part="mask-values" role=Hue::Value>"values"</Sym>
                " can be had by a loop that adds them up, by one product with a matrix of 0 and 1/count, \
                 or by a "<Term of=Word::Softmax>"softmax"</Term>" of 0 where allowed and −∞ where not. \
                 Put scores that depend on the data in place of the 0s, and it is attention."
            </p>
            <MatrixFigure name="mask-weights" provenance=page.provenance matrix=weights
                title=Signal::derive(move || format!("Weights in the row of {}", name.get()))/>
            <div data-part="mask-values">
                <MatrixFigure name="mask-means" provenance=page.provenance matrix=results
                    title=Signal::derive(move || format!("Averages of the values for {}", name.get()))/>
            </div>
            <p>"Largest difference over all rows and numbers:"</p>
            <dl class="mask-differences">
                {difference("mask-loop-product", "loop − matrix product",
                    |s| apart(&s.averages.looped, &s.averages.product))}
                {difference("mask-loop-softmax", "loop − softmax",
                    |s| apart(&s.averages.looped, &s.averages.softmax))}
                {difference("mask-loop-attention", "loop − data-dependent weights",
                    |s| apart(&s.averages.looped, &s.averages.attended))}
            </dl>
            <p class="hint">
                "The first two are rounding: sums of the same numbers in another order. The third is what \
                 this head has learnt to look at."
            </p>
        </section>
    }
    .into_any()
}

fn row<'a>(array: &'a Array, seen: &Seen) -> &'a [f32] {
    array.block(&[seen.row as usize]).unwrap_or_default()
}

fn weights(seen: &Seen) -> Matrix {
    let ways = [&seen.averages.matrix, &seen.averages.softened, &seen.weights];
    Matrix {
        row_axis: String::new(),
        column_axis: "looked at (key)".into(),
        rows: ["matrix", "softmax", "attention"].map(String::from).to_vec(),
        columns: seen.tokens.clone(),
        values: ways.map(|array| row(array, seen)).concat(),
        map: ValueMap::Probability,
        value_name: "weight".into(),
        absent: String::new(),
    }
}

fn results(seen: &Seen) -> Matrix {
    let Averages { looped, product, softmax, attended, .. } = &seen.averages;
    let rows = [looped, product, softmax, attended].map(|array| row(array, seen));
    named_rows(&["loop", "matrix", "softmax", "attention"], "dimension", &rows, "average")
}

fn apart(a: &Array, b: &Array) -> f32 {
    let pairs = a.values.iter().zip(&b.values);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}
