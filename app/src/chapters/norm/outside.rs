//! An offset whose mean is taken away, with and without the gradient knowing.

use leptos::prelude::*;
use unroll_protocol::study::norm::{Experiment, Offset, Treatment, ask};

use super::is_of;
use crate::{
    course::{Lab, use_lab, use_provenance},
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    questions::use_answer,
};

/// One line for each treatment, of the series that `name` names.
pub fn lines(lab: Lab, name: fn(Treatment) -> String, y_label: &str) -> Lines {
    let looks =
        [(Hue::Gradient, Dash::Solid), (Hue::Ink, Dash::Dashed), (Hue::Weight, Dash::Dotted)];
    let line = |(treatment, (hue, dash)): (&Treatment, (Hue, Dash))| {
        let name = name(*treatment);
        let points = lab.history.with(|h| h.named(&name).map_or(Vec::new(), |s| s.points()));
        Line { name: treatment.label().into(), hue, dash, points }
    };
    Lines {
        x_label: "step".into(),
        y_label: y_label.into(),
        series: Treatment::ALL.iter().zip(looks).map(line).collect(),
        x_range: Lines::steps(lab.step.get()),
        ..Lines::default()
    }
}

pub fn view() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance(lab);
    let answered =
        use_answer(lab, move || is_of(lab, Experiment::Outside).then(|| ask::Offsets {}));
    let offsets = answered.answer;
    view! {
        <p class="view-note">
            "One layer: x = u + b, then its mean over the data is taken away. So b can't change what comes out. \
             Does gradient descent know? Only b is trained; u is fixed."
        </p>
        <div class="norm-three">
            <LinesFigure name="norm-bias" title="How long b has become"
                lines=Signal::derive(move || lines(lab, |t| format!("|b|, {}", t.label()), "|b|")) provenance/>
            <LinesFigure name="norm-outside-loss" title="And the loss"
                lines=Signal::derive(move || lines(lab, |t| t.label().to_owned(), "loss")) provenance/>
            {move || offsets.get().map(|offsets| promises(&offsets))}
        </div>
    }
    .into_any()
}

/// What the gradients promised, and what came of it.
fn promises(offsets: &[Offset]) -> AnyView {
    let row = |offset: &Offset| {
        let id = offset.treatment.id();
        let length = offset.bias.iter().map(|b| f64::from(*b).powi(2)).sum::<f64>().sqrt();
        let slope = offset.gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let fell = offset.first_loss - offset.loss;
        let (hue, how) = match offset.treatment {
            Treatment::Past => ("role-gradient", "taken for a constant"),
            Treatment::Through => ("", "gone through"),
            Treatment::After => ("role-weight", "gone through; β is added after"),
        };
        view! {
            <tr>
                <th scope="row">
                    <b class=hue>{offset.treatment.label()}</b><span class="hint">": "{how}</span>
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
        <div class="norm-scroll" tabindex="0" role="region" aria-label="What the gradients promised">
            <table class="norm-table" data-testid="norm-promises">
                <caption class="visually-hidden">"What the gradients promised, and what came of it"</caption>
                <thead><tr>
                    <th scope="col">"the mean in the gradient"</th><th scope="col">"|b|"</th><th scope="col">"|dL/db|"</th>
                    <th scope="col">"promised fall of the loss"</th><th scope="col">"kept"</th>
                </tr></thead>
                <tbody>{offsets.iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// A number that may be tiny, to 4 decimals; rounding noise in powers of ten.
fn small(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if value.abs() < 0.00005 {
        format!("{value:.0e}").replace('-', "−")
    } else {
        format!("{value:.4}").replace('-', "−")
    }
}
