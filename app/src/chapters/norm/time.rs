//! Normalisation in a recurrent network: statistics by time step.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Array,
    study::norm::{Answer, Axis, Experiment, Question, Steps, TRAINED_STEPS, TRIED_STEPS},
};

use super::{is_of, smoothed};
use crate::{
    controls::SliderField,
    course::{panel, use_answer, use_lab, use_provenance, use_setting},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, ValueMap},
};

pub fn figure() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance(lab);
    let time = use_setting(|link| &mut link.norm.time);
    let answered = use_answer(lab, move || {
        is_of(lab, Experiment::Time).then(|| Question::Steps { time: time.get() }.into())
    })
    .shown_in(lab.sights.figure);
    let steps = Memo::new(move |_| {
        let answer = answered.answer.get()?;
        match <&Answer>::try_from(&*answer) {
            Ok(Answer::Steps(steps)) => Some(Arc::new(steps.clone())),
            _ => None,
        }
    });
    let choose = Callback::new(move |(_, column): (usize, usize)| {
        let step = column as u32 + 1;
        if step <= TRAINED_STEPS {
            time.update(|time| *time = if *time == step { 0 } else { step });
        }
    });
    let matrix = move |of: fn(&Steps) -> &Array, name: &'static str| {
        Signal::derive(move || steps.get().map_or(Matrix::default(), |s| by_time(of(&s), name)))
    };
    let column = Signal::derive(move || (time.get() as usize).checked_sub(1));
    let lines = Signal::derive(move || {
        steps.get().map_or(Lines::default(), |steps| losses(&steps, time.get()))
    });
    view! {
        <p>
            "A recurrent layer adds U h to its input, but h starts at 0: the first sums vary less than later ones. \
             Click a column: its statistics are then used at every step."
        </p>
        <MatrixFigure name="norm-variance" title="Running variance of each unit's sum, by time step"
            matrix=matrix(|s| &s.variance, "running variance") provenance column on_pick=choose/>
        <p class="field-error" role="alert">{move || answered.problem.get()}</p>
        <p class="norm-verdict" data-testid="norm-time-verdict">
            {move || steps.get().map(|steps| verdict(&steps, time.get()))}
        </p>
        <LinesFigure name="norm-time-loss" title="Loss at each time step" lines provenance
            marker=Signal::derive(|| Some(f64::from(TRAINED_STEPS)))/>
    }
    .into_any()
}

/// `[units, TRAINED_STEPS]` laid out to the length that is tried; the rest is not there.
fn by_time(array: &Array, name: &str) -> Matrix {
    let (units, trained) = (array.shape[0] as usize, array.shape[1] as usize);
    let tried = TRIED_STEPS as usize;
    let value = |i: usize| array.get(&[i / tried, i % tried]).unwrap_or(f32::NAN);
    debug_assert!(trained <= tried);
    let limit = array.values.iter().fold(0f32, |most, v| most.max(v.abs())).ceil().max(1.0);
    Matrix {
        row_axis: "unit".into(),
        column_axis: "step".into(),
        rows: (1..=units).map(|i| format!("unit {i}")).collect(),
        columns: (1..=tried).map(|i| i.to_string()).collect(),
        values: (0..units * tried).map(value).collect(),
        map: ValueMap::Signed { limit },
        value_name: name.into(),
        absent: "no statistics: never trained this far".into(),
    }
}

fn losses(steps: &Steps, time: u32) -> Lines {
    let line = |name: String, hue, dash, values: &[f32]| Line {
        name,
        hue,
        dash,
        points: values.iter().enumerate().map(|(t, v)| (t as f64 + 1.0, f64::from(*v))).collect(),
    };
    let mut series = vec![
        line("BatchNorm, each step's own".into(), Hue::Ink, Dash::Solid, &steps.own),
        line("LayerNorm".into(), Hue::Hidden, Dash::Dashed, &steps.layer),
    ];
    if !steps.fixed.is_empty() {
        let name = format!("BatchNorm, step {time}'s everywhere");
        series.insert(1, line(name, Hue::Weight, Dash::Dotted, &steps.fixed));
    }
    Lines {
        x_label: "time step t".into(),
        y_label: "loss".into(),
        series,
        x_range: Some((1.0, f64::from(TRIED_STEPS))),
        ..Lines::default()
    }
}

fn mean(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len().max(1) as f64
}

/// What these losses say, in words.
fn verdict(steps: &Steps, time: u32) -> AnyView {
    let trained = TRAINED_STEPS as usize;
    // Step 1 itself is left out: there, step 1's statistics are the right ones.
    let inside =
        |values: &[f32]| mean(values.get(1..values.len().min(trained)).unwrap_or_default());
    let beyond = |values: &[f32]| mean(values.get(trained..).unwrap_or_default());
    let (own, layer) = (inside(&steps.own), inside(&steps.layer));
    let first = mean(&column(&steps.variance, 0));
    let last = mean(&column(&steps.variance, trained - 1));
    let number = |id: &'static str, value: f64| {
        view! { <b data-testid=id data-value=value.to_string()>{format!("{value:.2}")}</b> }
    };
    let fixed = (!steps.fixed.is_empty()).then(|| view! {
        " With step "{time}"'s everywhere it is "{number("norm-fixed-inside", inside(&steps.fixed))}
        ", and "{number("norm-fixed-beyond", beyond(&steps.fixed))}" beyond."
    });
    view! {
        "The variance at step 1 is "{number("norm-variance-first", first)}", at step "{trained}" "
        {number("norm-variance-last", last)}" (mean over units). Loss over steps 2 to "{trained}": "
        {number("norm-own", own)}" with each step's own statistics, which end there."{fixed}
        " LayerNorm: "{number("norm-layer-inside", layer)}", and "{number("norm-layer-beyond", beyond(&steps.layer))}
        " beyond: it needs no statistics at all."
    }
    .into_any()
}

fn column(array: &Array, column: usize) -> Vec<f32> {
    (0..array.shape[0] as usize).filter_map(|row| array.get(&[row, column])).collect()
}

pub fn controls() -> AnyView {
    view! { <SliderField name="norm-time"/> }.into_any()
}

pub fn further() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance(lab);
    let answered = use_answer(lab, move || {
        is_of(lab, Experiment::Time).then(|| Question::Steps { time: 0 }.into())
    });
    let matrix = Signal::derive(move || {
        let answer = answered.answer.get();
        match answer.as_deref().map(<&Answer>::try_from) {
            Some(Ok(Answer::Steps(steps))) => by_time(&steps.mean, "running mean"),
            _ => Matrix::default(),
        }
    });
    let lines = Signal::derive(move || Lines {
        x_label: "step".into(),
        y_label: "loss, mean of 20 batches".into(),
        series: Axis::ALL
            .iter()
            .zip([(Hue::Ink, Dash::Solid), (Hue::Hidden, Dash::Dashed)])
            .map(|(axis, (hue, dash))| Line {
                name: axis.label().into(),
                hue,
                dash,
                points: smoothed(lab, axis.label(), 20),
            })
            .collect(),
        x_range: Lines::steps(lab.step.get()),
        ..Lines::default()
    });
    view! {
        {panel("panel", |seen| {
            answered.shown_in(seen);
            view! {
                <h2>"The means, too"</h2>
                <MatrixFigure name="norm-mean" title="Running mean of each unit's sum, by time step" matrix provenance/>
            }
            .into_any()
        })}
        <div class="panel">
            <h2>"Training"</h2>
            <LinesFigure name="norm-loss" title="Two recurrent networks, the same first weights and batches" lines provenance/>
        </div>
    }
    .into_any()
}
