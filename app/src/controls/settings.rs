//! The model's settings, generated from the settings table.

use core::time::Duration;

use leptos::{ev, prelude::*};
use unroll_protocol::{Link, SpecError, TokenKind, architecture::NormPlacement, link::Value};

use super::{
    field::{Entry, FlagField, NumberField, SelectField},
    format::{counted, general, setting},
    learning_rate::LearningRate,
    schedule::{RateNow, Schedule},
    start_over::StartOver,
    timer::use_timer,
    url::share,
};
use crate::{fetched::fetched, figures::Second, kept, reactive::memo, store::Store};

/// Always in sight, in this order; the learning rate follows with its slider.
const MAIN: [&str; 6] = ["layers", "heads", "width", "context", "batch", "seed"];
/// Beside the schedule of the learning rate.
const OPTIMIZER: [&str; 3] = ["warmup", "decay", "clip"];
/// Settings that "back to the defaults" puts back.
const FORM: [&str; 25] = [
    "tokens",
    "merges",
    "layers",
    "heads",
    "width",
    "context",
    "batch",
    "lr",
    "optimizer",
    "init",
    "warmup",
    "decay",
    "clip",
    "seed",
    "dropout",
    "tied",
    "positions",
    "attends",
    "band",
    "norms",
    "norm",
    "activation",
    "residual",
    "scaled",
    "workers",
];
/// A model that was never trained is rebuilt so long after the last key: nothing is lost by it.
const SETTLED: Duration = Duration::from_millis(500);

/// The form with the model's settings, its parameter count, and the ways to a new model and back.
#[component]
pub fn Settings() -> impl IntoView {
    let store = expect_context::<Store>();
    let problem =
        memo(move || store.link.with(|link| link.experiment().validate(store.limits()).err()));
    // The control used last: a sentence about two settings stands at the one just changed.
    let touched = RwSignal::new("");
    let reset = Trigger::new();
    let hint = RwSignal::new(None::<&'static str>);
    let settled = use_timer();

    let apply = move || {
        settled.stop();
        if problem.get_untracked().is_none() {
            store.change_settings(|_| ());
        }
    };
    let enter = move |name: &'static str, value: Value, entry: Entry| {
        touched.set(name);
        store.link.update(|link| (setting(name).set)(link, value));
        match entry {
            Entry::Done => apply(),
            Entry::Typing | Entry::Stepped => settled.start(SETTLED, apply),
        }
    };
    let number = move |name: &'static str| {
        let here = Signal::derive(move || {
            let problem = problem.get()?;
            (belongs_to(&problem, touched.get()) == name).then(|| problem.to_string())
        });
        let on_entry = Callback::new(move |(value, entry)| enter(name, value, entry));
        view! { <NumberField name problem=here on_entry reset/> }
    };
    let flag = move |name: &'static str| {
        let on_entry = Callback::new(move |value| enter(name, value, Entry::Done));
        view! { <FlagField name words=general(name) on_entry/> }
    };
    let choice = move |name: &'static str| {
        let here = move || {
            let problem = problem.get()?;
            (belongs_to(&problem, touched.get()) == name).then(|| problem.to_string())
        };
        let on_entry = Callback::new(move |value| enter(name, value, Entry::Done));
        view! {
            <SelectField name on_entry>
                <p class="field-error" role="alert">{here}</p>
            </SelectField>
        }
    };
    let has_pairs = memo(move || store.link.with(|link| link.gpt.tokens == TokenKind::Pairs));
    let has_norms =
        memo(move || store.link.with(|link| link.gpt.architecture.norm != NormPlacement::None));
    let defaults = move |_| {
        let default = Link::default();
        store.link.update(|link| {
            for setting in FORM.map(setting) {
                (setting.set)(link, (setting.get)(&default));
            }
        });
        reset.notify();
        apply();
    };

    view! {
        <form class="settings" aria-label="Settings of the model" novalidate
            on:submit=|event: ev::SubmitEvent| event.prevent_default()
            on:focusin=move |event| hint.set(help_at(&event).or(hint.get_untracked()))
            on:pointerover=move |event| hint.set(help_at(&event).or(hint.get_untracked()))>
            <div class="fields">
                {choice("tokens")}
                {move || has_pairs.get().then(|| number("merges"))}
                {MAIN.map(number)}
                <LearningRate reset/>
            </div>
            <RateNow/>
            <p class="hint settings-hint" aria-hidden="true">
                {move || hint.get().unwrap_or("Point at a setting to read what it does.")}
            </p>
            <p class="parameter-count" data-testid="parameter-count" role="status">
                {move || parameters(store)}
            </p>
            <details class="disclosure" data-testid="schedule" open>
                <summary>"The rate over the steps"</summary>
                <div class="fields">{choice("optimizer")} {OPTIMIZER.map(number)}</div>
                <Schedule/>
            </details>
            <details class="disclosure">
                <summary>"More settings"</summary>
                <div class="fields">
                    {choice("init")}
                    {number("dropout")}
                    {flag("tied")}
                    {number("workers")}
                    <DeviceField/>
                </div>
            </details>
            <details class="disclosure" data-testid="architecture">
                <summary>"Architecture"</summary>
                <div class="fields">
                    {["positions", "attends", "norms"].map(choice)}
                    {move || has_norms.get().then(|| choice("norm"))}
                    {choice("activation")}
                    {number("band")}
                    {["residual", "scaled"].map(flag)}
                </div>
            </details>
            <StartOver problem=Signal::derive(move || problem.get().map(|p| p.to_string())) reset/>
            <div class="button-row">
                <button type="button" class="button button-quiet" data-testid="settings-defaults"
                    on:click=defaults>
                    "Back to the defaults"
                </button>
            </div>
            // A kept run takes the run's place, never its twin's.
            {use_context::<Second>().is_none().then(|| fetched(kept::LIST, "The list of kept runs"))}
        </form>
    }
}

/// The choice of device. Engines are chosen when the page opens, so changing it opens it anew.
#[component]
fn DeviceField() -> impl IntoView {
    let store = expect_context::<Store>();
    let setting = setting("device");
    let present = store.link.with_untracked(|link| (setting.get)(link)).to_string();
    let chosen = RwSignal::new(present.clone());
    let differs = move || chosen.with(|chosen| *chosen != present);
    let address = move || {
        let mut link = store.link.get();
        if let Some(value) = setting.kind.parse(&chosen.get()) {
            (setting.set)(&mut link, value);
        }
        share(store, &link).own()
    };
    let on_entry = Callback::new(move |value: Value| chosen.set(value.to_string()));
    view! {
        <SelectField name="device" chosen on_entry>
            <p class="field-more" role="status">
                {move || differs().then(|| view! {
                    "Takes effect when you reload the page. You can then continue this run. "
                    <a href=address data-testid="device-reload">"Open it with this device"</a>
                })}
            </p>
        </SelectField>
    }
}

/// The control at which a problem of the form is shown: the one just changed, if it can mend it.
fn belongs_to(problem: &SpecError, touched: &'static str) -> &'static str {
    let mend: &[&'static str] = match problem {
        SpecError::HeadsDoNotDivide { .. } => &["heads", "width"],
        SpecError::TooManyParameters { .. } => &["width", "layers", "context"],
        SpecError::TooMuchWork { .. } => &["context", "width", "layers"],
        SpecError::TooLarge { what, .. } => match *what {
            "context" => &["context"],
            "width" => &["width"],
            "number of heads" => &["heads"],
            _ => &["layers"],
        },
        SpecError::Architecture(_) => &["positions", "width", "heads"],
        SpecError::OutOfRange { .. } | SpecError::Zero { .. } => &["dropout"],
        // Of files alone.
        SpecError::TooLargeToOpen { .. } => &["width"],
    };
    mend.iter().copied().find(|name| *name == touched).unwrap_or(mend[0])
}

fn parameters(store: Store) -> String {
    let known = store.started.with(|s| s.as_ref().map(|s| s.vocabulary.len()));
    // How many tokens a model would know that is trained after the one that was opened is not known yet.
    let Some(vocabulary) = known.filter(|_| !store.is_given()) else {
        return "… parameters".to_owned();
    };
    let count = store.link.with(|link| link.experiment().gpt.parameter_count(vocabulary));
    counted(count, "parameter")
}

/// What the table says about the control an event is about.
fn help_at(event: &web_sys::Event) -> Option<&'static str> {
    use wasm_bindgen::JsCast;
    let element: web_sys::Element = event.target()?.dyn_into().ok()?;
    let field = element.closest(".field").ok()??;
    let control = field.query_selector("[id^=control-]").ok()??;
    let id = control.id();
    let name = id.strip_prefix("control-")?;
    Some(general(name.strip_suffix("-twin").unwrap_or(name)).help)
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Limits;

    use super::*;

    #[test]
    fn a_problem_stands_at_the_control_just_changed() {
        let heads = SpecError::HeadsDoNotDivide { heads: 5, width: 64 };
        assert_eq!(belongs_to(&heads, "width"), "width");
        assert_eq!(belongs_to(&heads, "seed"), "heads");
        assert_eq!(belongs_to(&SpecError::TooMuchWork { limits: Limits::TAB }, ""), "context");
        let (value, limits) = (26, Limits::TAB);
        let heads = SpecError::TooLarge { what: "number of heads", value, most: 16, limits };
        assert_eq!(belongs_to(&heads, "width"), "heads");
    }

    #[test]
    fn the_form_names_rows_of_the_table() {
        for name in MAIN.into_iter().chain(FORM).chain(["device"]) {
            assert_eq!((setting(name).name, general(name).name), (name, name));
        }
    }
}
