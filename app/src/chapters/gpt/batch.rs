//! What the next step of training learns from: each sequence of its batch is many examples at once.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::gpt::{Batch, ask};

use super::is_untrained;
use crate::{
    controls::{counted, grouped},
    course::{use_part, use_provenance},
    figures::{
        Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, Reference, Stroke, ValueMap,
        svg::escape,
        tint,
        token::{mark, spoken},
    },
    questions::use_answer,
    reactive::memo,
    store::Store,
};

/// Most tokens before the guess that a sentence about it repeats.
const REPEATED: usize = 16;
/// And most characters of these.
const ROOM: usize = 20;
/// So far from knowing nothing (nats) a curve stands apart from it.
const APART: f64 = 0.25;

/// The batch as a matrix, the chosen row as examples, and the mean loss at each position.
#[component]
pub fn NextBatch() -> impl IntoView {
    let store = expect_context::<Store>();
    let asked = use_answer(store, || Some(ask::NextBatch {}));
    let part = use_part(asked.sight);
    let (batch, problem) = (asked.answer, asked.problem);
    let provenance = use_provenance();
    let wanted = RwSignal::new(0usize);
    // Another model may have fewer rows.
    let row = memo(move || {
        let rows = batch.with(|b| b.as_ref().map_or(0, |b| b.rows.len()));
        wanted.get().min(rows.saturating_sub(1))
    });
    let unit = memo(move || store.tokens().unit());
    let tinted = memo(move || store.has_tinted_tokens());
    let matrix = memo(move || batch.with(|b| b.as_ref().map(|b| matrix(b, row.get()))));
    let title = Signal::derive(move || {
        let step = batch.with(|b| b.as_ref().map(|b| grouped(b.step.into())));
        format!("What step {} learns from", step.unwrap_or_else(|| "…".into()))
    });
    let describe = Callback::new(move |(row, at, _): (usize, usize, f32)| {
        let tinted = tinted.get();
        batch.with(|b| b.as_ref().map_or(String::new(), |b| describe(b, row, at, tinted)))
    });
    let dropout =
        memo(move || store.started.with(|s| s.as_ref().is_some_and(|s| s.spec.gpt.dropout > 0.0)));
    let said = move || {
        batch.with(|b| {
            b.as_ref().map(|b| match is_untrained(store) {
                true => unlearned(b, unit.get()),
                false => summary(b, unit.get(), dropout.get()),
            })
        })
    };
    let vocabulary =
        memo(move || store.started.with(|s| s.as_ref().map_or(0, |s| s.vocabulary.len())));
    let lines = memo(move || {
        let batch = batch.get();
        batch.map_or_else(Lines::default, |batch| by_position(&batch, vocabulary.get()))
    });
    view! {
        <div class="view-fill batch-room" node_ref=part>
            <p class="view-note" role="status" data-testid="batch-said">{move || problem.get().or_else(said)}</p>
            <MatrixFigure name="batch" title matrix=Signal::derive(move || matrix.get().unwrap_or_default())
                provenance describe row=Signal::derive(move || Some(row.get()))
                on_pick=Callback::new(move |(row, _)| wanted.set(row))/>
            <div class="view-split">
                <Examples batch row unit tinted/>
                <LinesFigure name="batch-positions" title="Mean loss at positions 1, 2, 3–4, 5–8, …" lines provenance/>
            </div>
        </div>
    }
    .into_any()
}

/// Guesses in a row.
fn length_of(batch: &Batch) -> usize {
    batch.losses.shape.get(1).map_or(0, |length| *length as usize)
}

/// What a guess is given: all tokens of a row up to the one `at` a place, or the last of many and an ellipsis
/// before them.
fn given(tokens: &[String], at: usize) -> (&'static str, &[String]) {
    let mut room = ROOM;
    let fits = |token: &&String| {
        let needed = mark(token).chars().count();
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let all = &tokens[(at + 1).saturating_sub(REPEATED)..=at];
    let count = all.iter().rev().take_while(fits).count().max(1);
    let dots = if count <= at { "…" } else { "" };
    (dots, &all[all.len() - count..])
}

/// The same as markup; tokens that are `tinted` need not be characters.
fn given_markup(tokens: &[String], at: usize, tinted: bool) -> String {
    let (dots, given) = given(tokens, at);
    let text = match tinted {
        true => tint::markup(&tint::runs(given), mark),
        false => escape(&given.iter().map(|token| mark(token)).collect::<String>()),
    };
    format!("{dots}{text}")
}

/// How probable the model finds each token that it has to guess; the columns are what it is given in
/// the chosen row.
fn matrix(batch: &Batch, row: usize) -> Matrix {
    let length = length_of(batch);
    Matrix {
        row_axis: "row".into(),
        column_axis: format!("last one read, in row {}", row + 1),
        rows: (1..=batch.rows.len()).map(|row| row.to_string()).collect(),
        columns: batch.rows.get(row).map_or_else(Vec::new, |row| row[..length].to_vec()),
        values: batch.losses.values.iter().map(|loss| (-loss).exp()).collect(),
        map: ValueMap::Probability,
        value_name: "probability of what comes next".into(),
        absent: String::new(),
    }
}

/// The example that ends with the token `at` of a row.
fn describe(batch: &Batch, row: usize, at: usize, tinted: bool) -> String {
    let length = length_of(batch);
    let Some(tokens) = batch.rows.get(row).filter(|tokens| at + 1 < tokens.len()) else {
        return String::new();
    };
    let (dots, given) = given(tokens, at);
    let given =
        if tinted { tint::barred(given) } else { given.iter().map(|token| mark(token)).collect() };
    let loss = batch.losses.values.get(row * length + at).copied().unwrap_or(f32::NAN);
    format!(
        "Row {}, example {}: after “{dots}{given}” comes ‘{}’. The model gave it a probability of {:.4}, so the loss is {loss:.3}.",
        row + 1,
        at + 1,
        mark(&tokens[at + 1]),
        (-loss).exp()
    )
}

/// So many rows of so many tokens.
fn extent(batch: &Batch, unit: &str) -> String {
    let (rows, losses) = (batch.rows.len(), &batch.losses.values);
    let of = match (rows as u32) < batch.size {
        true => format!("The first {rows} of {} rows", batch.size),
        false => counted(rows as u64, "row"),
    };
    format!("{of} of {}", counted(losses.len() as u64 / rows.max(1) as u64, unit))
}

/// What there is to see of a model that nobody has trained.
fn unlearned(batch: &Batch, unit: &str) -> String {
    format!(
        "{}. Untrained, the model finds each next {unit} improbable: press Train, and cells gain color.",
        extent(batch, unit)
    )
}

/// How many examples there are, and their mean loss.
fn summary(batch: &Batch, unit: &str, dropout: bool) -> String {
    let (rows, losses) = (batch.rows.len(), &batch.losses.values);
    let mean = losses.iter().map(|loss| f64::from(*loss)).sum::<f64>() / losses.len().max(1) as f64;
    let of = extent(batch, unit);
    let step = match (rows as u32) < batch.size || dropout {
        true => String::new(),
        false => format!(", the loss of step {}", grouped(batch.step.into())),
    };
    let without =
        if dropout { " Dropout is off here, so the step’s own loss differs." } else { "" };
    format!(
        "{of}, from random places in the text: {}, each from the row so far. Their mean loss is \
         {mean:.3}{step}.{without}",
        match losses.len() {
            1 => "1 guess".to_owned(),
            guesses => format!("{} guesses", grouped(guesses as u64)),
        },
    )
}

/// Means over the positions 1, 2, 3 to 4, 5 to 8 and so on, at each position: single ones are as noisy as
/// the few tokens that stand there.
fn doubling(values: &[f64]) -> Vec<(f64, f64)> {
    let mut means = Vec::new();
    let (mut first, mut length) = (0, 1);
    while first < values.len() {
        let group = &values[first..values.len().min(first + length)];
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        means.extend((1..=group.len()).map(|at| ((first + at) as f64, mean)));
        first += length;
        length = first;
    }
    means
}

/// Losses of the batch and of held-out text, by how much the model has seen.
fn by_position(batch: &Batch, vocabulary: usize) -> Lines {
    let length = length_of(batch);
    let rows = batch.rows.len().max(1) as f64;
    let own = (0..length).map(|at| {
        let column = batch.losses.values.iter().skip(at).step_by(length.max(1));
        column.map(|loss| f64::from(*loss)).sum::<f64>() / rows
    });
    let held_out: Vec<f64> = batch.held_out.iter().map(|loss| f64::from(*loss)).collect();
    let own = doubling(&own.collect::<Vec<f64>>());
    let nothing = (vocabulary.max(1) as f64).ln();
    // Where the curves lie on its line, its name would stand in theirs.
    let apart = own.iter().any(|(_, loss)| (loss - nothing).abs() > APART);
    let mut series = vec![Line::new("batch", Hue::Muted, Dash::Dotted, own)];
    if !held_out.is_empty() {
        let means = doubling(&held_out);
        series.push(Line::new("held-out", Hue::Second, Dash::Solid, means));
        let points = (1..).map(f64::from).zip(held_out).collect();
        let each = Line::new("held-out, each position", Hue::Second, Dash::Solid, points);
        series.push(Line { stroke: Stroke::Faint, ..each });
    }
    let knows_nothing = Reference { name: "knows nothing".into(), y: nothing };
    Lines {
        x_label: "position in the row".into(),
        y_label: "loss (nats)".into(),
        series,
        references: if vocabulary > 1 && apart { vec![knows_nothing] } else { Vec::new() },
        x_range: Some((1.0, length.max(2) as f64)),
        ..Lines::default()
    }
}

/// The chosen row, example by example.
#[component]
fn Examples(
    batch: Signal<Option<Arc<Batch>>>,
    row: Memo<usize>,
    unit: Memo<&'static str>,
    tinted: Memo<bool>,
) -> impl IntoView {
    let lines = move || {
        batch.with(|batch| {
            let batch = batch.as_ref()?;
            let (row, length) = (row.get(), length_of(batch));
            let (tokens, losses) = (batch.rows.get(row)?, &batch.losses.values);
            let losses = losses.get(row * length..(row + 1) * length)?;
            let line = |(at, loss): (usize, &f32)| {
                let p = (-loss).exp();
                view! {
                    <tr>
                        <td class="number">{at + 1}</td>
                        <td class="batch-given" inner_html=given_markup(tokens, at, tinted.get())></td>
                        <td class="batch-next" title=spoken(&tokens[at + 1])>{mark(&tokens[at + 1])}</td>
                        <td class="number">{format!("{p:.4}")}</td>
                        <td class="number">{format!("{loss:.3}")}</td>
                    </tr>
                }
            };
            Some(losses.iter().enumerate().map(line).collect_view())
        })
    };
    view! {
        <div class="view-scroll batch-examples" tabindex="0" role="region"
            aria-label=move || format!("The examples of row {}", row.get() + 1)>
            <table translate="no" data-testid="batch-examples">
                <caption>{move || format!("Row {}: one example for each {}", row.get() + 1, unit.get())}</caption>
                <thead>
                    <tr>
                        <th scope="col">"position"</th>
                        <th scope="col">"given"</th>
                        <th scope="col">"next"</th>
                        <th scope="col">"probability"</th>
                        <th scope="col">"loss"</th>
                    </tr>
                </thead>
                <tbody>{lines}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    fn two_rows() -> Batch {
        let row = |text: &str| text.chars().map(String::from).collect();
        Batch {
            step: 8,
            rows: vec![row("a cat"), row("dogs!")],
            size: 2,
            losses: Array {
                shape: vec![2, 4],
                values: vec![1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0, 0.0],
            },
            held_out: vec![2.0, 1.0],
        }
    }

    #[test]
    fn a_cell_is_an_example() {
        let said = describe(&two_rows(), 0, 2, false);
        assert_eq!(
            said,
            "Row 1, example 3: after “a␣c” comes ‘a’. The model gave it a probability of 0.0498, so the loss is 3.000."
        );
        assert_eq!(describe(&two_rows(), 0, 4, false), "", "nothing comes after the last");
        assert_eq!(describe(&two_rows(), 2, 0, false), "");
        let matrix = matrix(&two_rows(), 1);
        assert_eq!((matrix.shape(), matrix.columns.concat()), ((2, 4), "dogs".to_owned()));
        assert_eq!(matrix.value(1, 3), 1.0);
    }

    #[test]
    fn what_is_left_out_before_an_example_is_an_ellipsis() {
        let row = vec!["a".to_owned(); 40];
        assert_eq!(given_markup(&row, 3, false), "aaaa");
        assert_eq!(given_markup(&row, 30, false), format!("…{}", "a".repeat(REPEATED)));
    }

    #[test]
    fn losses_are_averaged_by_position() {
        let lines = by_position(&two_rows(), 10);
        assert_eq!(lines.series[0].points, [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (4.0, 2.0)]);
        assert_eq!(lines.series[1].points, [(1.0, 2.0), (2.0, 1.0)]);
        assert_eq!(lines.series[2].points, [(1.0, 2.0), (2.0, 1.0)]);
        let six = [6.0, 5.0, 4.0, 2.0, 1.0, 3.0];
        let means = [6.0, 5.0, 3.0, 3.0, 2.0, 2.0];
        assert!(doubling(&six).into_iter().eq((1..).map(f64::from).zip(means)));
        assert_eq!(lines.references.len(), 1);
        assert!(by_position(&Batch { held_out: vec![], ..two_rows() }, 1).references.is_empty());
        assert!(
            by_position(&two_rows(), 8).references.is_empty(),
            "ln 8 is 2.08: the curve is there"
        );
    }

    #[test]
    fn the_summary_says_whose_loss_it_is() {
        let said = summary(&two_rows(), "character", false);
        assert!(said.starts_with("2 rows of 4 characters"), "{said}");
        assert!(said.contains("8 guesses"), "{said}");
        assert!(said.ends_with("Their mean loss is 2.000, the loss of step 8."), "{said}");
        let said = summary(&Batch { size: 9, ..two_rows() }, "token", true);
        assert!(said.starts_with("The first 2 of 9 rows of 4 tokens"), "{said}");
        assert!(
            said.ends_with("2.000. Dropout is off here, so the step’s own loss differs."),
            "{said}"
        );
    }
}
