//! What the model expects after a token, and what it would expect if it ended after an earlier block.

use leptos::prelude::*;
use unroll_protocol::gpt::{Lens, ask};

use super::{super::later, row_name};
use crate::{
    course::{use_part, use_provenance},
    figures::{Matrix, MatrixFigure, Selection, ValueMap, percent, select::Cell, token::mark},
    questions::use_answer,
    reactive::memo,
    store::Store,
};

/// Blocks and tokens.
fn shape(lens: &Lens) -> (usize, usize) {
    match *lens.shares.shape.as_slice() {
        [depths, tokens] => (depths as usize, tokens as usize),
        _ => (0, 0),
    }
}

/// The share of the token that is likeliest in the end, after each block.
fn matrix(lens: &Lens) -> Matrix {
    let (depths, _) = shape(lens);
    Matrix {
        row_axis: "after".into(),
        column_axis: "token".into(),
        rows: (0..depths).map(row_name).collect(),
        columns: lens.tokens.clone(),
        values: lens.finally.values.clone(),
        map: ValueMap::Probability,
        value_name: "probability of the final guess".into(),
        absent: String::new(),
    }
}

fn describe(lens: &Lens, depth: usize, at: usize) -> String {
    let (depths, tokens) = shape(lens);
    if depth >= depths || at >= tokens {
        return String::new();
    }
    let (here, last) = (depth * tokens + at, (depths - 1) * tokens + at);
    let after = if depth == 0 {
        "Before the first block".to_owned()
    } else {
        format!("After block {depth}")
    };
    let best = format!(
        "{after}, at ‘{}’: the best guess would be ‘{}’ ({})",
        mark(&lens.tokens[at]),
        mark(&lens.best[here]),
        percent(lens.shares.values[here], 1)
    );
    if depth + 1 == depths {
        return format!("{best}. This is the model’s own best guess.");
    }
    if lens.best[here] == lens.best[last] {
        return format!("{best}, as in the end.");
    }
    format!(
        "{best}. ‘{}’, the final guess, gets {}.",
        mark(&lens.best[last]),
        percent(lens.finally.values[here], 1)
    )
}

/// The sentence, what comes after the chosen token, and the lens beside it.
#[component]
pub fn Next(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let lens = use_answer(store, move || Some(ask::Lens { text: store.probe.get() }));
    let (of_trace, of_lens) = (use_part(store.trace.sight), use_part(lens.sight));
    let answer = lens.answer;
    let shown = memo(move || answer.with(|lens| lens.as_ref().map(|lens| matrix(lens))));
    // The lens shows fewer tokens of a long text than the sentence has.
    let shift = memo(move || {
        let lens = lens.read(|lens| lens.dropped)?;
        Some(lens.saturating_sub(store.trace.read(|trace| trace.dropped)?) as usize)
    });
    let column = memo(move || selection.focus()?.query.checked_sub(shift.get()?));
    let pick = Callback::new(move |(_, at): (usize, usize)| {
        let Some(shift) = shift.get_untracked() else { return };
        selection.pin(Cell { query: at + shift, key: None });
    });
    let describe = Callback::new(move |(depth, at, _): (usize, usize, f32)| {
        answer.with(|lens| lens.as_ref().map_or_else(String::new, |lens| describe(lens, depth, at)))
    });
    let guesses = move || {
        let at = column.get()?;
        answer.with(|lens| {
            let lens = lens.as_ref()?;
            let (depths, tokens) = shape(lens);
            // The sentence may be longer by now.
            if at >= tokens {
                return None;
            }
            let line = |depth: usize| {
                let here = depth * tokens + at;
                view! {
                    <tr>
                        <td>{row_name(depth)}</td>
                        <td class="batch-next">{mark(lens.best.get(here)?)}</td>
                        <td class="number">{percent(*lens.shares.values.get(here)?, 1)}</td>
                    </tr>
                }
                .into()
            };
            let lines: Vec<_> = (0..depths).filter_map(line).collect();
            Some(lines)
        })
    };
    let problem = lens.problem;
    // The sentence and the bars are those of the lab.
    view! {
        <div class="view-fill opened-next" node_ref=of_trace>
            {later()}
            <div class="opened-lens" node_ref=of_lens>
                <MatrixFigure name="lens" title="How probable the final guess is after each block"
                    matrix=Signal::derive(move || shown.get().unwrap_or_default())
                    provenance=use_provenance() describe column on_pick=pick/>
                <div class="view-scroll batch-examples" tabindex="0" role="region"
                    aria-label="The best guess after each block">
                    <table translate="no" data-testid="lens-guesses">
                        <thead>
                            <tr>
                                <th scope="col">"after"</th>
                                <th scope="col">"best guess"</th>
                                <th scope="col">"p"</th>
                            </tr>
                        </thead>
                        <tbody>{guesses}</tbody>
                    </table>
                </div>
                <p class="view-note" role="status">{problem}</p>
            </div>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn a_cell_says_both_guesses() {
        let array = |values: &[f32]| Array { shape: vec![2, 2], values: values.to_vec() };
        let lens = Lens {
            tokens: ["a", " b"].map(str::to_owned).to_vec(),
            dropped: 0,
            best: ["x", "y", "z", "w"].map(str::to_owned).to_vec(),
            shares: array(&[0.5, 0.25, 0.75, 0.125]),
            finally: array(&[0.1, 0.2, 0.75, 0.125]),
        };
        assert_eq!(
            describe(&lens, 0, 1),
            "Before the first block, at ‘␣b’: the best guess would be ‘y’ (25.0%). ‘w’, the final guess, gets 20.0%."
        );
        assert_eq!(
            describe(&lens, 1, 0),
            "After block 1, at ‘a’: the best guess would be ‘z’ (75.0%). This is the model’s own best guess."
        );
        assert_eq!(describe(&lens, 2, 0), "");
        assert_eq!(matrix(&lens).rows, ["embedding", "block 1"]);
    }
}
