//! The inspector's tables: terms, the row's keys, the value's dimensions; and its strips.

use leptos::{ev, prelude::*};
use unroll_protocol::attention::{Scoring, Term, Worked};

use super::{Naming, Shown, as_shown, fixed};
use crate::figures::{Colors, token};

/// Lines of a long table before it is opened.
const FEW: usize = 6;
/// Up to so many, a table is always shown whole.
const SHORT: usize = 8;

/// Which of `sizes` to show: all, or the few largest, in their own order.
pub fn chosen(sizes: &[f64], all: bool, always: Option<usize>) -> Vec<usize> {
    if all || sizes.len() <= SHORT {
        return (0..sizes.len()).collect();
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].abs().total_cmp(&sizes[*a].abs()));
    order.truncate(FEW);
    if let Some(always) = always.filter(|always| !order.contains(always)) {
        order.push(always);
    }
    order.sort_unstable();
    order
}

/// Whether a table of so many lines can be opened and closed.
pub fn is_long(count: usize) -> bool {
    count > SHORT
}

/// A region that scrolls by itself, by arrow keys too.
pub fn scroller(label: &'static str, table: AnyView) -> AnyView {
    let keep = |event: ev::KeyboardEvent| {
        if event.key().starts_with("Arrow") {
            event.stop_propagation();
        }
    };
    view! {
        <div class="inspector-scroll" tabindex="0" role="region" aria-label=label on:keydown=keep>{table}</div>
    }
    .into_any()
}

fn number(value: f64) -> AnyView {
    view! { <td class="number">{fixed(value)}</td> }.into_any()
}

/// A line for what a closed table leaves out.
fn rest(columns: usize, count: usize, what: &str, sum: Option<f64>) -> Option<AnyView> {
    (count > 0).then(|| {
        let words = format!("the other {count} {what}");
        match sum {
            Some(sum) => view! {
                <tr class="inspector-rest"><td colspan=columns - 1>{words}" together"</td>{number(sum)}</tr>
            }
            .into_any(),
            None => view! { <tr class="inspector-rest"><td colspan=columns>{words}</td></tr> }.into_any(),
        }
    })
}

/// What the score's terms are made of, and what each of them is.
pub fn terms_named(shown: &Shown) -> [&'static str; 3] {
    match (&shown.row.scoring, shown.naming) {
        (Scoring::Additive { .. }, _) => ["a", "b", "v tanh"],
        (Scoring::Product { .. }, Naming::Heads) => ["q", "k", "q × k"],
        (Scoring::Product { .. }, Naming::States) => ["s", "h", "s × h"],
    }
}

/// The score's terms.
pub fn terms(shown: &Shown, all: bool) -> AnyView {
    let terms = &shown.terms();
    let [q, k, product] = terms_named(shown);
    let products: Vec<f64> = terms.iter().map(|term| term.product).collect();
    let lines = chosen(&products, all, None);
    let additive = terms.iter().any(|term| term.tanh.is_some());
    let columns = if additive { 6 } else { 4 };
    let left: f64 = (0..terms.len()).filter(|i| !lines.contains(i)).map(|i| products[i]).sum();
    let left_count = terms.len() - lines.len();
    let head = if additive {
        view! {
            <th scope="col" class="role-query">{q}</th><th scope="col" class="role-key">{k}</th>
            <th scope="col">"tanh(a + b)"</th><th scope="col" class="role-weight">"× v"</th>
            <th scope="col">"Product"</th>
        }
        .into_any()
    } else {
        view! {
            <th scope="col" class="role-query">{q}</th><th scope="col" class="role-key">{k}</th>
            <th scope="col">{product}</th>
        }
        .into_any()
    };
    let body = lines.iter().map(|&i| {
        let Term { query, key, tanh, product } = terms[i];
        view! {
            <tr data-term=i.to_string()>
                <th scope="row">{i + 1}</th>
                {number(query)}{number(key)}
                {tanh.map(|(tanh, by)| view! { {number(tanh)}{number(by)} })}
                {number(product)}
            </tr>
        }
    });
    view! {
        <table class="inspector-table" data-testid="inspector-terms">
            <thead><tr>{number_of(shown)}{head}</tr></thead>
            <tbody>
                {body.collect_view()}
                {rest(columns, left_count, "products", Some(left))}
            </tbody>
        </table>
    }
    .into_any()
}

/// The head of the column that counts the numbers of a vector.
fn number_of(shown: &Shown) -> AnyView {
    match shown.naming {
        Naming::Heads => {
            view! { <th scope="col"><abbr title="dimension">"dim."</abbr></th> }.into_any()
        }
        Naming::States => {
            view! { <th scope="col"><abbr title="number">"no."</abbr></th> }.into_any()
        }
    }
}

/// The row's keys: score, exponent, weight. A click on one goes there.
pub fn keys(shown: &Shown, all: bool, go: Callback<(usize, usize)>) -> AnyView {
    let (row, paper) = (&shown.row, &shown.paper);
    let exponents: Vec<f64> = paper.keys.iter().map(|key| key.exponent).collect();
    let lines = chosen(&exponents, all, Some(shown.key));
    let left = (0..exponents.len()).filter(|at| !lines.contains(at));
    let sum: f64 = left.clone().map(|at| exponents[at]).sum();
    let left_count = left.count();
    let query = row.query as usize;
    let body = lines.into_iter().map(|at| {
        let key = paper.keys[at];
        let name = token::label_at(row.tokens.get(at).map_or("", String::as_str), at);
        view! {
            <tr class:chosen=at == shown.key data-key=at.to_string() on:click=move |_| go.run((query, at))>
                <th scope="row" class="role-key">{name}</th>
                <td class="number">{if key.allowed { fixed(key.score) } else { "blocked".into() }}</td>
                {number(key.exponent)}
                <td class="number inspector-weight" style=format!("--share:{}%", key.weight * 100.0)>
                    {fixed(key.weight)}
                </td>
            </tr>
        }
    });
    // The letter s is the decoder's state where there are states.
    let (name, score, exponent, weight, left) = match shown.naming {
        Naming::Heads => ("key", "score s", "s − m", "weight", "keys"),
        Naming::States => ("source", "score", "score − m", "weight α", "source characters"),
    };
    view! {
        <table class="inspector-table" data-testid="inspector-row">
            <thead><tr>
                <th scope="col">{name}</th><th scope="col">{score}</th>
                <th scope="col">"e"<sup>{exponent}</sup></th><th scope="col">{weight}</th>
            </tr></thead>
            <tbody>
                {body.collect_view()}
                {(left_count > 0).then(|| view! {
                    <tr class="inspector-rest">
                        <td colspan="2">{format!("the other {left_count} {left} together")}</td>
                        {number(sum)}<td></td>
                    </tr>
                })}
            </tbody>
        </table>
    }
    .into_any()
}

/// The value's dimensions: v, times the weight, plus what the other keys add, the output.
pub fn output(shown: &Shown, all: bool) -> AnyView {
    let paper: &Worked = &shown.paper;
    let shares: Vec<(f64, f64)> =
        (0..paper.output.len()).map(|dimension| shown.share(dimension)).collect();
    let sizes: Vec<f64> = shares.iter().map(|share| share.0).collect();
    let lines = chosen(&sizes, all, None);
    let left_count = sizes.len() - lines.len();
    let body = lines.into_iter().map(|dimension| {
        let ((value, share), output) = (shares[dimension], paper.output[dimension]);
        view! {
            <tr>
                <th scope="row">{dimension + 1}</th>
                {number(value)}{number(share)}{number(as_shown(output) - as_shown(share))}{number(output)}
            </tr>
        }
    });
    let (value, share, others, sum, what) = match shown.naming {
        Naming::Heads => ("v", "weight × v", "+ other keys", "= output", "dimensions"),
        Naming::States => ("h", "α × h", "+ the others", "= c", "numbers"),
    };
    let [of_value, of_output] = shown.naming.mixing();
    view! {
        <table class="inspector-table" data-testid="inspector-output">
            <thead><tr>
                {number_of(shown)}<th scope="col" class=of_value>{value}</th>
                <th scope="col">{share}</th><th scope="col">{others}</th>
                <th scope="col" class=of_output>{sum}</th>
            </tr></thead>
            <tbody>
                {body.collect_view()}
                {rest(5, left_count, what, None)}
            </tbody>
        </table>
    }
    .into_any()
}

/// A vector as colored cells in a row, named to the left. For eyes only: the numbers are in a
/// table.
pub fn strip(
    name: &'static str,
    role: &'static str,
    values: &[f64],
    limit: f64,
    colors: &Colors,
) -> AnyView {
    let mut cells = String::with_capacity(values.len() * 80);
    for (x, value) in values.iter().enumerate() {
        let fill = colors.signed.at((value / limit) as f32).css();
        let (at, text) = (x + 1, fixed(*value));
        cells += &format!(
            r#"<rect x="{x}" y="0" width="1.02" height="1" fill="{fill}"><title>{name}, dimension {at}: {text}</title></rect>"#
        );
    }
    view! {
        <div class="inspector-strip" aria-hidden="true">
            <b class=role>{name}</b>
            <svg viewBox=format!("0 0 {} 1", values.len().max(1)) preserveAspectRatio="none" inner_html=cells></svg>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_show_the_largest_and_what_is_asked_for() {
        let sizes = [0.0, -9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0];
        assert_eq!(chosen(&sizes, false, None), [1, 3, 5, 7, 8, 9]);
        assert_eq!(chosen(&sizes, false, Some(0)), [0, 1, 3, 5, 7, 8, 9]);
        assert_eq!(chosen(&sizes, true, None).len(), 10);
        assert_eq!(chosen(&sizes[..8], false, None).len(), 8);
    }
}
