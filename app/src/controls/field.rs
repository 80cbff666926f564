//! Form controls made from rows of the settings table.

use leptos::{ev, prelude::*};
use unroll_protocol::{
    Limits, Link, SpecError,
    link::{Kind, Setting, Value, Words},
    read_number,
};

use super::format::{general, rate, setting};
use crate::figures::own;
use crate::reactive::{effect, memo};
use crate::store::Store;

/// How a value got into a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Typed so far: `1` may be on its way to `12`.
    Typing,
    /// Reached with an arrow key.
    Stepped,
    /// Confirmed: Enter, or the field was left.
    Done,
}

/// A labeled number. Takes text, not `type=number`: what can't be read has to stay as it was
/// typed, beside the sentence that says what can.
#[component]
pub fn NumberField(
    /// Row of the settings table.
    name: &'static str,
    /// Something wrong with the form as a whole that is mended here.
    #[prop(into, optional)]
    problem: Option<Signal<Option<String>>>,
    /// Called with every readable value.
    #[prop(into)]
    on_entry: Callback<(Value, Entry)>,
    /// Takes back unreadable input when it is notified.
    #[prop(optional)]
    reset: Option<Trigger>,
    /// What stands for 0, where that is no number of anything.
    #[prop(optional)]
    zero: &'static str,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let (setting, words) = (setting(name), general(name));
    let value = memo(move || store.link.with(setting.get));
    let kind = move || setting.kind_within(store.limits());
    let parse = move |text: &str| match text.trim() {
        "" => None,
        text => kind().parse(if text == zero { "0" } else { text }),
    };
    let written = move || match value.get() {
        Value::Whole(0) if !zero.is_empty() => zero.to_owned(),
        value => value.to_string(),
    };
    // What stands in the field while it is not what the form holds.
    let typed = RwSignal::new(None::<String>);
    effect(move || {
        let value = value.get();
        if typed.with_untracked(|t| t.as_ref().is_some_and(|t| parse(t) != Some(value))) {
            typed.set(None);
        }
    });
    effect(move || {
        if let Some(reset) = reset {
            reset.track();
            typed.set(None);
        }
    });

    let unreadable = move || {
        let unreadable = typed.with(|t| t.as_ref().is_some_and(|t| parse(t).is_none()));
        unreadable.then(|| format!("{} is {}. It is still {}.", words.label, kind(), written()))
    };
    let wrong = memo(move || unreadable().or_else(|| problem.and_then(|p| p.get())));

    let on_input = move |event| {
        let text = event_target_value(&event);
        if let Some(value) = parse(&text) {
            on_entry.run((value, Entry::Typing));
        }
        typed.set(Some(text));
    };
    let on_change = move |event| {
        if let Some(value) = parse(&event_target_value(&event)) {
            typed.set(None);
            on_entry.run((value, Entry::Done));
        }
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        key @ ("ArrowUp" | "ArrowDown") => {
            event.prevent_default();
            if let Some(value) =
                store.link.with_untracked(|l| stepped(setting, kind(), l, key == "ArrowUp"))
            {
                typed.set(None);
                on_entry.run((value, Entry::Stepped));
            }
        }
        "Escape" => typed.set(None),
        _ => {}
    };

    let (id, hint, error) = (own("control", name), own("hint", name), own("error", name));
    let ends = move || match kind() {
        Kind::Whole { min, max } => [min.to_string(), max.to_string()],
        Kind::Real { min, max } => [min.to_string(), max.to_string()],
        _ => unreachable!("a number in the table"),
    };
    view! {
        <div class="field" class:field-wrong=move || wrong.get().is_some() title=words.help>
            <label for=id.clone()>{words.label}</label>
            <input type="text" role="spinbutton" autocomplete="off" spellcheck="false"
                inputmode=if matches!(setting.kind, Kind::Real { .. }) { "decimal" } else { "numeric" }
                id=id.clone() data-testid=id
                aria-describedby=format!("{hint} {error}")
                aria-invalid=move || wrong.get().is_some().then_some("true")
                aria-valuemin=move || ends()[0].clone() aria-valuemax=move || ends()[1].clone()
                aria-valuenow=move || value.get().to_string()
                aria-valuetext=move || (!zero.is_empty()).then(written)
                prop:value=move || typed.get().unwrap_or_else(written)
                on:input=on_input on:change=on_change on:keydown=on_key/>
            <span class="field-range" aria-hidden="true">{move || range(kind())}</span>
            <span class="visually-hidden" id=hint>{words.help}</span>
            {children.map(|children| children())}
            <p class="field-error" role="alert" id=error>{move || wrong.get()}</p>
        </div>
    }
}

/// A labeled checkbox.
#[component]
pub fn FlagField(
    /// Row of the settings table.
    name: &'static str,
    /// What the page says of it.
    words: &'static Words,
    /// Called instead of writing the link.
    #[prop(optional_no_strip, into)]
    on_entry: Option<Callback<Value>>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let setting = setting(name);
    let enter = move |value| match on_entry {
        Some(on_entry) => on_entry.run(value),
        None => store.link.update(|link| (setting.set)(link, value)),
    };
    let (id, hint) = (own("control", name), own("hint", name));
    view! {
        <div class="field field-flag" title=words.help>
            <label for=id.clone()>{words.label}</label>
            <input type="checkbox" id=id.clone() data-testid=id aria-describedby=hint.clone()
                prop:checked=move || store.link.with(setting.get) == Value::Flag(true)
                on:change=move |event| enter(Value::Flag(event_target_checked(&event)))/>
            <span class="visually-hidden" id=hint>{words.help}</span>
        </div>
    }
}

/// A labeled list to choose one entry of.
#[component]
pub fn SelectField(
    /// Row of the settings table: a choice.
    name: &'static str,
    /// What is chosen, where that is not what the link says.
    #[prop(optional, into)]
    chosen: Option<Signal<String>>,
    /// Called instead of writing the link.
    on_entry: Callback<Value>,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let (setting, words) = (setting(name), general(name));
    let Kind::Choice(choices) = setting.kind else { unreachable!("a choice in the table") };
    let chosen =
        chosen.unwrap_or_else(|| Signal::derive(move || store.link.with(setting.get).to_string()));
    let enter = move |event| {
        if let Some(value) = setting.kind.parse(&event_target_value(&event)) {
            on_entry.run(value);
        }
    };
    let (id, hint) = (own("control", name), own("hint", name));
    view! {
        <div class="field" title=words.help>
            <label for=id.clone()>{words.label}</label>
            <select id=id.clone() data-testid=id aria-describedby=hint.clone()
                prop:value=move || chosen.get() on:change=enter>
                {choices.iter().map(|&(id, label)| view! {
                    <option value=id selected=chosen.get_untracked() == id>{label}</option>
                }).collect_view()}
            </select>
            <span class="visually-hidden" id=hint>{words.help}</span>
            {children.map(|children| children())}
        </div>
    }
    .into_any()
}

/// What a number may be, in few characters.
fn range(kind: Kind) -> String {
    match kind {
        // No one needs to read ten digits to choose a seed.
        Kind::Whole { min, max: u32::MAX } => format!("from {min}"),
        Kind::Whole { min, max } => format!("{min} – {max}"),
        Kind::Real { min, max } => format!("{} – {}", rate(min), rate(max)),
        _ => String::new(),
    }
}

/// The next value of this kind that an arrow key goes to: one that the other settings go with, if there is one.
fn stepped(setting: &Setting, kind: Kind, link: &Link, up: bool) -> Option<Value> {
    let fits = |value: &Value| {
        let mut link = link.clone();
        (setting.set)(&mut link, value.clone());
        let valid = link.experiment().gpt.validate(&Limits::NATIVE);
        !matches!(valid, Err(SpecError::HeadsDoNotDivide { .. }))
    };
    match (kind, (setting.get)(link)) {
        (Kind::Whole { min, max }, Value::Whole(mut value)) => {
            let step = if max > 64 && setting.name != "seed" { 4 } else { 1 };
            loop {
                // Steps lie on multiples, so that going up and down again ends where it began.
                value = if up {
                    (value / step).checked_add(1)?.checked_mul(step)?
                } else {
                    value.checked_sub(1)? / step * step
                };
                if !(min..=max).contains(&value) {
                    return None;
                }
                let value = Value::Whole(value);
                if fits(&value) {
                    return Some(value);
                }
            }
        }
        (Kind::Real { min, max }, Value::Real(value)) => {
            let next = match (max > 100.0, up) {
                (true, true) => two_digits(value * 1.25),
                (true, false) => two_digits(value / 1.25),
                (false, true) => hundredths(value + 0.05),
                (false, false) => hundredths(value - 0.05),
            };
            Some(Value::Real(next.clamp(min, max)))
        }
        _ => None,
    }
}

/// A number cut to two digits: what is shown is then what is used.
pub fn two_digits(number: f32) -> f32 {
    read_number(&format!("{number:.1e}")).map_or(number, |number| number as f32)
}

fn hundredths(number: f32) -> f32 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(name: &str, link: &Link, up: bool) -> Option<String> {
        let kind = setting(name).kind_within(&Limits::TAB);
        stepped(setting(name), kind, link, up).map(|value| value.to_string())
    }

    #[test]
    fn arrow_keys_never_lead_into_an_impossible_shape() {
        let mut link = Link::default();
        (link.gpt.heads, link.gpt.width) = (4, 64);
        assert_eq!(after("heads", &link, true).as_deref(), Some("8"));
        assert_eq!(after("heads", &link, false).as_deref(), Some("2"));
        assert_eq!(after("width", &link, true).as_deref(), Some("68"));
        link.gpt.heads = 16;
        assert_eq!(after("heads", &link, true), None);
        assert_eq!(after("width", &link, false).as_deref(), Some("48"));
    }

    #[test]
    fn arrow_keys_stay_in_range_and_come_back() {
        let mut link = Link { seed: 0, ..Link::default() };
        (link.gpt.layers, link.gpt.context, link.gpt.learning_rate) = (1, 6, 1000.0);
        assert_eq!(after("layers", &link, false), None);
        assert_eq!(after("context", &link, true).as_deref(), Some("8"));
        assert_eq!(after("context", &link, false).as_deref(), Some("4"));
        assert_eq!(after("seed", &link, false), None);
        assert_eq!(after("lr", &link, true).as_deref(), Some("1000"));
        assert_eq!(after("lr", &link, false).as_deref(), Some("800"));
        assert_eq!(after("dropout", &link, true).as_deref(), Some("0.05"));
        assert_eq!(after("dropout", &link, false).as_deref(), Some("0"));
    }
}
