//! Normalization in a recurrent network: statistics by time step.

use leptos::prelude::*;
use unroll_protocol::{
    Array,
    study::norm::{Experiment, Steps, TRAINED_STEPS, TRIED_STEPS, ask},
};

use super::is_of;
use crate::{
    controls::{Segments, SliderField},
    course::{use_lab, use_provenance, use_setting},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, ValueMap, YScale},
    questions::use_answer,
};

pub fn view() -> AnyView {
    let lab = use_lab();
    let provenance = use_provenance();
    let time = use_setting(|link| &mut link.norm.time);
    let answered = use_answer(lab, move || {
        is_of(lab, Experiment::Time).then(|| ask::Steps { time: time.get() })
    });
    let steps = answered.answer;
    let choose = Callback::new(move |(_, column): (usize, usize)| {
        let step = column as u32 + 1;
        if step <= TRAINED_STEPS {
            time.update(|time| *time = if *time == step { 0 } else { step });
        }
    });
    let matrix = move |of: fn(&Steps) -> &Array, name: &'static str, map: fn(f32) -> ValueMap| {
        Signal::derive(move || {
            steps.get().map_or(Matrix::default(), |s| by_time(of(&s), name, map))
        })
    };
    let column = Signal::derive(move || (time.get() as usize).checked_sub(1));
    let lines = Signal::derive(move || {
        steps.get().map_or(Lines::default(), |steps| losses(&steps, time.get()))
    });
    let are_means = RwSignal::new(false);
    let choices =
        [(false, "variance"), (true, "mean")].map(|(means, id)| (means, id, id.into_any()));
    let statistic = move || {
        if are_means.get() {
            view! {
                <MatrixFigure name="norm-mean" title="Running mean of each unit’s sum"
                    matrix=matrix(|s| &s.mean, "running mean", |limit| ValueMap::Signed { limit }) provenance column on_pick=choose/>
            }
            .into_any()
        } else {
            view! {
                <MatrixFigure name="norm-variance" title="Running variance of each unit’s sum"
                    matrix=matrix(|s| &s.variance, "running variance", |limit| ValueMap::Size { limit }) provenance column on_pick=choose/>
            }
            .into_any()
        }
    };
    view! {
        <div class="view-bar">
            <fieldset class="choice-field">
                <legend>"Statistic"</legend>
                <Segments name="norm-statistic" choices=choices.into() chosen=move || are_means.get()
                    on_choose=move |means| are_means.set(means)/>
            </fieldset>
            <div class="view-bar-together norm-everywhere">
                <SliderField name="norm-time"/>
                <span>{move || if time.get() > 0 { "everywhere" } else { "(each step’s own)" }}</span>
            </div>
        </div>
        <div class="view-split norm-two">
            <div>
                {statistic}
                <p class="hint">"Click a column to use that step’s statistics everywhere."</p>
            </div>
            <div>
                <LinesFigure name="norm-time-loss" title="Loss at each time step" lines provenance
                    marker=Signal::derive(|| Some(f64::from(TRAINED_STEPS)))/>
            </div>
        </div>
        <p class="field-error" role="alert">{move || answered.problem.get()}</p>
        <p class="norm-verdict norm-time-verdict" data-testid="norm-time-verdict">
            {move || steps.get().map(|steps| verdict(&steps, time.get()))}
        </p>
    }
    .into_any()
}

/// `[units, TRAINED_STEPS]` laid out to the length that is tried; the rest is not there. `map` makes the
/// colors of what reaches as far as a limit.
fn by_time(array: &Array, name: &str, map: fn(f32) -> ValueMap) -> Matrix {
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
        map: map(limit),
        value_name: name.into(),
        absent: "no statistics: never trained this far".into(),
    }
}

fn losses(steps: &Steps, time: u32) -> Lines {
    let line = |name: String, hue, dash, values: &[f32]| {
        Line::new(
            name,
            hue,
            dash,
            values.iter().enumerate().map(|(t, v)| (t as f64 + 1.0, f64::from(*v))).collect(),
        )
    };
    let mut series = vec![
        line("BatchNorm, each step’s own".into(), Hue::Second, Dash::Solid, &steps.own),
        line("LayerNorm".into(), Hue::Third, Dash::Dashed, &steps.layer),
    ];
    if !steps.fixed.is_empty() {
        let name = format!("BatchNorm, step {time}’s everywhere");
        series.insert(1, line(name, Hue::Second, Dash::Dotted, &steps.fixed));
    }
    Lines {
        x_label: "time step t".into(),
        y_label: "loss".into(),
        series,
        y_scale: YScale::Close,
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
        " With those of step "{time}" everywhere it is "{number("norm-fixed-inside", inside(&steps.fixed))}
        ", and "{number("norm-fixed-beyond", beyond(&steps.fixed))}" beyond."
    });
    view! {
        "The variance at step 1 is "{number("norm-variance-first", first)}", at step "{trained}" "
        {number("norm-variance-last", last)}" (mean over units). Loss over steps 2 to "{trained}": "
        {number("norm-own", own)}" with each step’s own statistics. There are none beyond."{fixed}
        " LayerNorm: "{number("norm-layer-inside", layer)}", and "{number("norm-layer-beyond", beyond(&steps.layer))}
        " beyond. It keeps no statistics at all."
    }
    .into_any()
}

fn column(array: &Array, column: usize) -> Vec<f32> {
    (0..array.shape[0] as usize).filter_map(|row| array.get(&[row, column])).collect()
}
