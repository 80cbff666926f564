//! Sliders and choices bound to one row of the settings table: a chapter's control in one line.

use leptos::prelude::*;
use unroll_protocol::{
    link::{Kind, Value},
    read_number,
};

use super::{
    Segments,
    field::{self, two_digits},
    format::{any, setting},
};
use crate::{figures::own, reactive::memo, store::Store};

/// Where a slider's knob can stand.
#[derive(Clone, Debug, PartialEq)]
enum Scale {
    Even {
        least: f32,
        most: f32,
        step: f32,
    },
    /// Knob positions count these values.
    Stops(Vec<f32>),
}

impl Scale {
    /// Whole numbers double from stop to stop; others take 20 stops to ten times as much.
    fn logarithmic(least: f32, most: f32, whole: bool) -> Self {
        let first = if whole { least.max(1.0) } else { least.max(f32::MIN_POSITIVE) };
        let mut stops = vec![least];
        for i in 1.. {
            let next = if whole {
                first * 2f32.powi(i)
            } else {
                two_digits(first * 10f32.powf(i as f32 / 20.0))
            };
            if next >= most {
                break;
            }
            stops.push(next);
        }
        stops.push(most);
        Self::Stops(stops)
    }

    /// `min`, `max` and `step` of the input.
    fn ends(&self) -> [f32; 3] {
        match self {
            Self::Even { least, most, step } => [*least, *most, *step],
            Self::Stops(stops) => [0.0, (stops.len() - 1) as f32, 1.0],
        }
    }

    fn value_at(&self, position: f32) -> f32 {
        match self {
            Self::Even { .. } => position,
            Self::Stops(stops) => stops[(position.max(0.0) as usize).min(stops.len() - 1)],
        }
    }

    fn position_of(&self, value: f32) -> f32 {
        match self {
            Self::Even { least, most, .. } => value.clamp(*least, *most),
            Self::Stops(stops) => {
                let away = |stop: f32| (stop.ln() - value.ln()).abs();
                let near = |a: &(usize, f32), b: &(usize, f32)| away(a.1).total_cmp(&away(b.1));
                stops.iter().copied().enumerate().min_by(near).map_or(0.0, |(i, _)| i as f32)
            }
        }
    }
}

/// A labeled slider on a number of the link, with its exact value and what it does.
#[component]
pub fn SliderField(
    /// Row of the settings table: a whole or a real number.
    name: &'static str,
    /// Left end, where it is not the table's.
    #[prop(optional)]
    least: Option<f32>,
    /// Right end, where it is not the table's. A link may hold more; the value shown says so.
    #[prop(optional)]
    most: Option<f32>,
    /// 1 for whole numbers, a hundredth of the way for others.
    #[prop(optional)]
    step: Option<f32>,
    /// Equal ways multiply by the same number.
    #[prop(optional)]
    log: bool,
    /// The value at which it does nothing.
    #[prop(optional)]
    off: Option<f32>,
    /// Called at every movement, after the link has been written.
    #[prop(optional, into)]
    on_input: Option<Callback<Value>>,
    /// Called when the knob is let go.
    #[prop(optional, into)]
    on_change: Option<Callback<Value>>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let (setting, words) = (setting(name), any(name));
    let (min, max, whole) = match setting.kind {
        Kind::Whole { min, max } => (min as f32, max as f32, true),
        Kind::Real { min, max } => (min, max, false),
        _ => unreachable!("a number in the table"),
    };
    let (least, most) = (least.unwrap_or(min), most.unwrap_or(max));
    let scale = if log {
        Scale::logarithmic(least, most, whole)
    } else {
        let usual = if whole { 1.0 } else { two_digits((most - least) / 100.0) };
        Scale::Even { least, most, step: step.unwrap_or(usual) }
    };
    let [low, high, step] = scale.ends();
    let scale = StoredValue::new(scale);
    let value = memo(move || store.link.with(setting.get));
    let position = move || {
        let value = match value.get() {
            Value::Whole(value) => value as f32,
            Value::Real(value) => value,
            _ => low,
        };
        scale.with_value(|scale| scale.position_of(value))
    };
    let shown = move || match value.get() {
        Value::Whole(whole) if off == Some(whole as f32) => "off".to_owned(),
        Value::Real(real) if off == Some(real) => "off".to_owned(),
        value => value.to_string(),
    };
    let move_to = move |event| {
        let Some(position) = read_number(&event_target_value(&event)) else { return };
        let chosen = scale.with_value(|scale| scale.value_at(position as f32));
        // The table has the last word on what is allowed.
        let Some(chosen) = setting.kind.parse(&chosen.to_string()) else { return };
        store.link.update(|link| (setting.set)(link, chosen.clone()));
        if let Some(on_input) = on_input {
            on_input.run(chosen);
        }
    };
    let let_go = move |_| {
        if let Some(on_change) = on_change {
            on_change.run(value.get_untracked());
        }
    };
    let (id, hint) = (own("control", name), own("hint", name));
    view! {
        <div class="slider-field">
            <label for=id.clone()>{words.label}</label>
            <output for=id.clone()>{shown}</output>
            <input type="range" id=id.clone() data-testid=id min=low.to_string() max=high.to_string()
                step=step.to_string() aria-describedby=hint.clone()
                aria-valuetext=shown
                prop:value=move || position().to_string() on:input=move_to on:change=let_go/>
            <p class="hint" id=hint>{words.help}</p>
        </div>
    }
    .into_any()
}

/// A labeled checkbox for a setting of any chapter.
#[component]
pub fn FlagField(
    /// Row of the settings table.
    name: &'static str,
    /// Called instead of writing the link.
    #[prop(optional, into)]
    on_entry: Option<Callback<Value>>,
) -> impl IntoView {
    view! { <field::FlagField name words=any(name) on_entry=on_entry/> }
}

/// A choice of the link as a row of buttons, of which one is on.
#[component]
pub fn ChoiceField(
    /// Row of the settings table: a choice.
    name: &'static str,
    /// Called after the link has been written.
    #[prop(optional, into)]
    on_change: Option<Callback<Value>>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let (setting, words) = (setting(name), any(name));
    let Kind::Choice(choices) = setting.kind else { unreachable!("a choice in the table") };
    let value = memo(move || store.link.with(setting.get));
    let choose = move |id: &'static str| {
        store.link.update(|link| (setting.set)(link, Value::Choice(id)));
        if let Some(on_change) = on_change {
            on_change.run(Value::Choice(id));
        }
    };
    let chosen = move || match value.get() {
        Value::Choice(id) => id,
        _ => "",
    };
    let (name, hint) = (format!("control-{name}"), own("hint", name));
    let (group, described) = (name.clone(), hint.clone());
    let choices = choices.iter().map(|&(id, label)| (id, id, label.into_any())).collect();
    view! {
        <fieldset class="choice-field" data-testid=group aria-describedby=described>
            <legend>{words.label}</legend>
            <Segments name choices chosen on_choose=choose/>
            <p class="hint" id=hint>{words.help}</p>
        </fieldset>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_stops_go_from_end_to_end() {
        let Scale::Stops(stops) = Scale::logarithmic(1.0, 12.0, true) else { panic!() };
        assert_eq!(stops, [1.0, 2.0, 4.0, 8.0, 12.0]);
        let scale = Scale::logarithmic(1e-4, 1.0, false);
        let [low, high, step] = scale.ends();
        assert_eq!([low, high, step], [0.0, 80.0, 1.0]);
        for position in 0..=80 {
            let position = position as f32;
            assert_eq!(scale.position_of(scale.value_at(position)), position);
        }
        assert_eq!(scale.value_at(20.0), 1e-3);
        assert_eq!(scale.position_of(0.0), 0.0);
        assert_eq!(scale.position_of(1000.0), 80.0);
    }
}
