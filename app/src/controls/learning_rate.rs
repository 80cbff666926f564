//! The learning rate: the one setting that acts on the model while it trains.

use leptos::prelude::*;
use unroll_protocol::{link::Value, read_number};

use super::{
    field::{Entry, NumberField, two_digits},
    format::rate,
};
use crate::store::Store;

/// Ends of the slider, as powers of ten. The box takes more, for those who want to see it break.
const SLIDER: (f32, f32) = (-5.0, 0.0);
const SLIDER_STEPS: f32 = 100.0;

/// A number and a logarithmic slider, both acting at once.
#[component]
pub fn LearningRate(reset: Trigger) -> impl IntoView {
    let store = expect_context::<Store>();
    let used = move || store.link.with(|link| link.gpt.learning_rate);
    let on_entry = move |(value, entry): (Value, Entry)| {
        // Half a number must not act: `1` on the way to `1e-3` would wreck a running model.
        if let (Value::Real(rate), Entry::Stepped | Entry::Done) = (value, entry) {
            store.set_learning_rate(rate);
        }
    };
    view! {
        <NumberField name="lr" on_entry=Callback::new(on_entry) reset>
            <input type="range" class="field-slider" data-testid="slider-lr"
                aria-label="Learning rate, logarithmic"
                min="0" max=SLIDER_STEPS.to_string() step="1"
                aria-valuetext=move || rate(used())
                prop:value=move || slider_of(used()).to_string()
                on:input=move |event| {
                    if let Some(position) = read_number(&event_target_value(&event)) {
                        store.set_learning_rate(rate_of(position as _));
                    }
                }/>
        </NumberField>
    }
}

fn slider_of(rate: f32) -> f32 {
    let share = (rate.log10() - SLIDER.0) / (SLIDER.1 - SLIDER.0);
    (share * SLIDER_STEPS).round().clamp(0.0, SLIDER_STEPS)
}

fn rate_of(position: f32) -> f32 {
    let power = SLIDER.0 + (SLIDER.1 - SLIDER.0) * position / SLIDER_STEPS;
    two_digits(10f32.powf(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slider_stays_where_it_was_put() {
        for position in 0..=SLIDER_STEPS as u32 {
            assert_eq!(slider_of(rate_of(position as f32)), position as f32);
        }
        assert_eq!(slider_of(1000.0), SLIDER_STEPS);
        assert_eq!(slider_of(1e-6), 0.0);
        assert_eq!(rate_of(50.0), 3.2e-3);
    }
}
