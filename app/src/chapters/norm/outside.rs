//! An offset whose mean is taken away, with and without the gradient knowing.

use leptos::prelude::*;
use serde_json::json;
use unroll_protocol::study::norm::{Experiment, Offset, Treatment, ask};

use super::is_of;
use crate::{
    course::{Lab, use_lab, use_provenance},
    figures::{
        Dash, Hue, Line, Lines, LinesFigure, Sheet, SheetExport, exact, four_decimals, power_of_ten,
    },
    questions::use_answer,
};

/// How each treatment looks, in the order of [`Treatment::ALL`].
const LOOKS: [(Hue, Dash); 3] =
    [(Hue::First, Dash::Solid), (Hue::Second, Dash::Dashed), (Hue::Third, Dash::Dotted)];

/// The series of the length of b under a treatment.
pub fn length(treatment: Treatment) -> String {
    format!("|b|, {}", treatment.label())
}

/// One line for each treatment, of the series that `name` names.
pub fn lines(lab: Lab, name: fn(Treatment) -> String, y_label: &str) -> Lines {
    let line = |(treatment, (hue, dash)): (&Treatment, (Hue, Dash))| {
        let name = name(*treatment);
        let points = lab.history.with(|h| h.named(&name).map_or(Vec::new(), |s| s.points()));
        Line::new(treatment.label(), hue, dash, points)
    };
    Lines {
        x_label: "step".into(),
        y_label: y_label.into(),
        series: Treatment::ALL.iter().zip(LOOKS).map(line).collect(),
        x_range: Lines::steps(lab.step.get()),
        ..Lines::default()
    }
}

pub fn view() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance();
    let answered =
        use_answer(lab, move || is_of(lab, Experiment::Outside).then_some(ask::Offsets {}));
    let offsets = answered.answer;
    let sheet = Callback::new(move |()| {
        offsets.with(|offsets| offsets.as_ref().map(|o| promises_sheet(o)))
    });
    view! {
        <p class="view-note">
            "One layer: x = u + b, and then the mean of x over the data is subtracted. So b can’t change what comes out. \
             Does the gradient know that? Only b is trained here, and u stays fixed."
        </p>
        <div class="norm-three">
            <LinesFigure name="norm-bias" title="Length of b"
                lines=Signal::derive(move || lines(lab, length, "|b|")) provenance/>
            <LinesFigure name="norm-outside-loss" title="Loss"
                lines=Signal::derive(move || lines(lab, |t| t.label().to_owned(), "loss")) provenance/>
            <section class="figure norm-summary" data-testid="figure-norm-promises"
                data-state=move || if offsets.with(Option::is_some) { "live" } else { "empty" }
                aria-label="Promised fall of the loss, and actual fall">
                {move || offsets.get().map(|offsets| promises(&offsets))}
                <SheetExport name="norm-promises" title="What the gradients promised, and what happened"
                    provenance sheet/>
            </section>
        </div>
    }
    .into_any()
}

/// Euclidean norm.
fn norm(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

/// What the gradients promised, and what came of it.
fn promises(offsets: &[Offset]) -> AnyView {
    let row = |(offset, (hue, _)): (&Offset, (Hue, Dash))| {
        let id = offset.treatment.id();
        let (length, slope) = (norm(&offset.bias), norm(&offset.gradient));
        let fell = offset.first_loss - offset.loss;
        let how = match offset.treatment {
            Treatment::Past => "treated as a constant",
            Treatment::Through => "part of the gradient",
            Treatment::After => "part of the gradient, and β is added after it",
        };
        view! {
            <tr>
                <th scope="row">
                    <b style=format!("color:{}", hue.css())>{offset.treatment.label()}</b><span class="hint">": "{how}</span>
                </th>
                <td data-testid=format!("norm-length-{id}") data-value=length.to_string()>{format!("{length:.2}")}</td>
                <td data-testid=format!("norm-slope-{id}") data-value=slope.to_string()>{small(slope)}</td>
                <td data-testid=format!("norm-promised-{id}") data-value=offset.promised.to_string()>
                    {small(f64::from(offset.promised))}
                </td>
                <td data-testid=format!("norm-fell-{id}") data-value=fell.to_string()>{small(f64::from(fell))}</td>
            </tr>
        }
    };
    view! {
        <div class="figure-box" tabindex="0" role="region" aria-label="What the gradients promised">
            <table class="norm-table" data-testid="norm-promises">
                <caption class="visually-hidden">"What the gradients promised, and what happened"</caption>
                <thead><tr>
                    <th scope="col">"the mean in the gradient"</th><th scope="col">"|b|"</th><th scope="col">"|dL/db|"</th>
                    <th scope="col">"promised fall of the loss"</th><th scope="col">"actual fall"</th>
                </tr></thead>
                <tbody>{offsets.iter().zip(LOOKS).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn promises_sheet(offsets: &[Offset]) -> Sheet {
    let columns =
        ["treatment", "norm_of_b", "norm_of_gradient", "first_loss", "loss", "promised", "kept"];
    let mut sheet = Sheet::new(&columns);
    let line = |offset: &Offset| {
        vec![
            json!(offset.treatment.id()),
            json!(norm(&offset.bias)),
            json!(norm(&offset.gradient)),
            exact(offset.first_loss),
            exact(offset.loss),
            exact(offset.promised),
            exact(offset.first_loss - offset.loss),
        ]
    };
    sheet.rows = offsets.iter().map(line).collect();
    sheet
}

/// A number that may be tiny, to 4 decimals; rounding noise in powers of ten.
fn small(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if value.abs() < 0.00005 {
        power_of_ten(value, 0)
    } else {
        four_decimals(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_written_down_unrounded() {
        let offset = Offset {
            treatment: Treatment::Past,
            bias: vec![3.0, 4.0],
            gradient: vec![0.0, -1.0e-7],
            loss: 1.25,
            first_loss: 1.5,
            promised: 12.345_678,
            learning_rate: 0.1,
        };
        let sheet = promises_sheet(&[offset]);
        let norms = [json!(5.0), json!(f64::from(1.0e-7f32))];
        let rest = [json!(1.5), json!(1.25), json!(12.345_678), json!(0.25)];
        let id = [json!(Treatment::Past.id())];
        assert_eq!(sheet.rows, [[&id[..], &norms, &rest].concat()]);
        assert_eq!(sheet.columns.len(), sheet.rows[0].len());
    }
}
