//! An offset whose mean is taken away, with and without the gradient knowing.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::study::norm::{Answer, Experiment, Offset, Question, Treatment};

use super::is_of;
use crate::{
    course::{Lab, use_answer, use_lab, use_part, use_provenance},
    figures::{Dash, Hue, Line, Lines, LinesFigure},
};

/// One line for each treatment, of the series that `name` names.
fn lines(lab: Lab, name: fn(Treatment) -> String, y_label: &str) -> Lines {
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

pub fn figure() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance(lab);
    let answered =
        use_answer(lab, move || is_of(lab, Experiment::Outside).then(|| Question::Offsets.into()));
    let in_table = use_part::<html::Div>(answered.sight);
    let offsets = Memo::new(move |_| {
        let answer = answered.answer.get()?;
        match <&Answer>::try_from(&*answer) {
            Ok(Answer::Offsets(offsets)) => Some(Arc::new(offsets.clone())),
            _ => None,
        }
    });
    view! {
        <p>
            "One layer: x = u + b, then its mean over the data is taken away. So b can't change what comes out. \
             Does gradient descent know? Only b is trained; u is fixed."
        </p>
        <ul class="norm-key">
            <li><b class="role-gradient">"ignored"</b>": the gradient takes the mean for a constant."</li>
            <li><b>"known"</b>": the gradient goes through the mean."</li>
            <li><b class="role-weight">"β after"</b>": it does, and a second offset β is added after the mean is gone."</li>
        </ul>
        <LinesFigure name="norm-bias" title="How long b has become"
            lines=Signal::derive(move || lines(lab, |t| format!("|b|, {}", t.label()), "|b|")) provenance/>
        <LinesFigure name="norm-outside-loss" title="And the loss"
            lines=Signal::derive(move || lines(lab, |t| t.label().to_owned(), "loss")) provenance/>
        <div node_ref=in_table>{move || offsets.get().map(|offsets| promises(&offsets))}</div>
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
        view! {
            <tr>
                <th scope="row">{offset.treatment.label()}</th>
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
                    <th scope="col">"the mean is"</th><th scope="col">"|b|"</th><th scope="col">"|dL/db|"</th>
                    <th scope="col">"fall of the loss promised"</th><th scope="col">"and kept"</th>
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

pub fn controls() -> AnyView {
    view! {
        <p class="hint">
            "Nothing to set: press Train and watch b. The step size is the same for all three."
        </p>
    }
    .into_any()
}

pub fn further() -> AnyView {
    view! {
        <div class="panel">
            <h2>"Why"</h2>
            <p>
                "The gradient that ignores the mean says: raise b for the characters that are guessed too seldom. \
                 b is raised, the mean rises by exactly as much, and the difference is what it was: the same output, \
                 the same loss, the same gradient. So the next step does the same again."
            </p>
            <p>
                "If the gradient flows through the mean, its two paths cancel: dL/db is 0 but for rounding, and b \
                 stays. An offset that is to matter must come after the mean is gone. That is β."
            </p>
        </div>
    }
    .into_any()
}
