//! What computes, in a few words, and why it can be trusted.

use leptos::{ev, html, prelude::*};
use unroll_protocol::{DeviceKind, DeviceReport, SelfCheck};

use super::format::{counted, four_digits, grouped};
use crate::{
    course::{Lab, Labs},
    fetched::{Fetch, View, fetched, part},
    questions::Questions,
    store::{Device, Store, cores},
};

/// The choices of memory for moments, in megabytes.
pub const MEMORY: [u32; 5] = [4, 16, 64, 256, 1024];

/// The device in a few words; opens to its name, its self-check and its speed.
#[component]
pub fn DeviceBadge(
    device: Signal<Device>,
    /// Tries again after [`Device::Unavailable`].
    retry: Callback<()>,
) -> impl IntoView {
    let summary = NodeRef::<html::Summary>::new();
    let details = NodeRef::<html::Details>::new();
    let close = move |event: ev::KeyboardEvent| {
        let open = details.get_untracked().filter(|details| details.open());
        if let Some(details) = open.filter(|_| event.key() == "Escape") {
            event.stop_propagation();
            details.set_open(false);
            if let Some(summary) = summary.get_untracked() {
                let _ = summary.focus();
            }
        }
    };
    let store = expect_context::<Store>();
    let open = RwSignal::new(false);
    let kind = move || {
        device.with(|device| match device {
            Device::Loading => "loading",
            Device::Unavailable(_) => "none",
            Device::Ready { report, .. } => match report.kind {
                DeviceKind::Cpu => "cpu",
                DeviceKind::WebGpu => "webgpu",
                DeviceKind::Native => "native",
            },
        })
    };
    view! {
        <details class="badge" node_ref=details on:keydown=close
            on:toggle=move |_| open.set(details.get_untracked().is_some_and(|details| details.open()))>
            <summary node_ref=summary data-testid="device-badge" data-device=kind
                data-working=move || store.pool.get().working data-lost=move || store.pool.get().lost>
                <span class="badge-dot" aria-hidden="true"></span>
                <span class="visually-hidden">"Computed by: "</span>
                <span class="badge-text">{move || device.with(kind_of)}</span>
                <span class="visually-hidden">{move || device.with(why)}</span>
            </summary>
            <div class="badge-details">
                {move || match device.get() {
                    Device::Loading => view! { <p>"The engine is loading."</p> }.into_any(),
                    Device::Unavailable(reason) => view! {
                        <p>{reason}</p>
                        <button type="button" class="button" data-testid="retry-engine"
                            on:click=move |_| retry.run(())>
                            "Try again"
                        </button>
                    }.into_any(),
                    Device::Ready { .. } if !open.get() => ().into_any(),
                    Device::Ready { report, note } => {
                        provide_context(Ready { report, note });
                        fetched(REPORT, "What is known of it")
                    }
                }}
            </div>
        </details>
    }
}

/// The badge's text.
fn kind_of(device: &Device) -> &'static str {
    match device {
        Device::Loading => "Starting …",
        Device::Unavailable(_) => "No engine",
        Device::Ready { report, .. } => match report.kind {
            DeviceKind::Cpu => "CPU",
            DeviceKind::WebGpu => "GPU",
            DeviceKind::Native => "Native",
        },
    }
}

/// What stands behind it for those who do not see it open.
fn why(device: &Device) -> String {
    match device {
        Device::Ready { note: Some(note), .. } => format!(" · {note}"),
        _ => String::new(),
    }
}

/// What the details are about.
#[derive(Clone)]
struct Ready {
    report: DeviceReport,
    note: Option<String>,
}

/// The details: most visits never open them.
const REPORT: Fetch = part!(device: View = report);

fn report() -> AnyView {
    let (store, labs) = (expect_context::<Store>(), expect_context::<Labs>());
    let Ready { report, note } = expect_context();
    // That of the chapter on show; the lab's is the store.
    let labs = StoredValue::new(labs);
    let lab = move || {
        let chapter = store.link.with(|link| link.chapter);
        labs.with_value(|labs| labs.follow(chapter))
    };
    view! {
        <dl class="facts">
            <dt>"Device"</dt>
            <dd>{report.name}</dd>
            {note.map(|note| view! { <dt>"Why"</dt> <dd>{note}</dd> })}
            {(report.kind != DeviceKind::WebGpu).then(|| view! {
                <dt>"Workers"</dt>
                <dd data-testid="workers">{move || match lab() {
                    Some(_) => "1, enough for a chapter’s small models".to_owned(),
                    None => workers(store),
                }}</dd>
            })}
            <dt>"Speed"</dt>
            <dd>
                {move || speed(store, lab()).map_or_else(
                    || "not measured yet".to_owned(),
                    |milliseconds| format!("{} ms per step", four_digits(milliseconds)),
                )}
            </dd>
            <dt>"Moments"</dt>
            <dd data-testid="moments">{move || moments(store, lab())}</dd>
        </dl>
        {match report.self_check {
            Some(check) => view! { <Check check/> }.into_any(),
            None => view! {
                <p class="hint">"The CPU is what other devices are checked against."</p>
            }.into_any(),
        }}
        {memory(store)}
    }
    .into_any()
}

/// Milliseconds of a step of the run on show.
fn speed(store: Store, lab: Option<Lab>) -> Option<f32> {
    match lab {
        Some(lab) => lab.milliseconds_per_step.get(),
        None => store.speed.get().map(|speed| speed.milliseconds_per_step),
    }
}

/// How many moments of the run on show are recorded, and what they take.
fn moments(store: Store, lab: Option<Lab>) -> String {
    let run = lab.map_or_else(|| Questions::from(store), Questions::from);
    let recorded = run.recorded.get();
    let megabytes = recorded.bytes as f64 / 1e6;
    format!("{} recorded, {megabytes:.1} MB", grouped(recorded.steps.len() as u64))
}

/// The choice of how much memory moments may take. A list, for a slider would throw moments away on
/// its way; and not made of the form's fields, which this part would have to wait for.
fn memory(store: Store) -> impl IntoView {
    let choose = move |event| {
        if let Ok(megabytes) = event_target_value(&event).parse() {
            store.link.update(|link| link.moments = megabytes);
        }
    };
    // A link may say anything in between.
    let mut choices = MEMORY.to_vec();
    let given = store.moments.get_untracked();
    if let Err(place) = choices.binary_search(&given) {
        choices.insert(place, given);
    }
    view! {
        <div class="fields">
            <div class="field">
                <label for="control-moments">"Memory for moments"</label>
                <select id="control-moments" data-testid="control-moments" aria-describedby="hint-moments"
                    on:change=choose>
                    {choices.into_iter().map(|choice| view! {
                        <option value=choice.to_string() selected=choice == given>{format!("{choice} MB")}</option>
                    }).collect_view()}
                </select>
            </div>
        </div>
        <p class="hint" id="hint-moments">
            "The most memory that one run’s recorded moments may use. For a large model, more memory means finer \
             steps back in time. If you lower the limit, some moments may be deleted immediately, and they \
             can’t be brought back. The first, the last and the one you are looking at are always kept, even \
             above the limit. If a model is too large for a tab, the first may be deleted."
        </p>
    }
}

/// How many workers share a step, and why.
fn workers(store: Store) -> String {
    let Some(workers) = store.started.with(|s| s.as_ref().map(|s| s.workers)) else {
        return "not known yet".to_owned();
    };
    let asked = store.built.with(|link| link.gpt.workers);
    let cores = counted(u64::from(cores()), "core");
    let why = match (asked, workers) {
        (1.., _) if asked == workers => "as asked for".to_owned(),
        (1.., _) => "one for each piece of the batch".to_owned(),
        _ if store.is_on(DeviceKind::Native) => "chosen by the engine".to_owned(),
        (0, 1) => format!("enough for a model of this size on {cores}"),
        (0, _) => format!("chosen for {cores}"),
    };
    let lost = match store.pool.get().lost {
        0 => String::new(),
        lost => format!("; {lost} stopped, the others have taken over"),
    };
    format!("{workers}, {why}{lost}")
}

/// The self-check: how far this device is from the CPU.
#[component]
fn Check(check: SelfCheck) -> impl IntoView {
    let row = |what, difference: f32| {
        view! { <dt>{what}</dt> <dd>{format!("{difference:.1e}")}</dd> }
    };
    view! {
        <p class="hint">
            {format!(
                "Before it is used, the GPU computes one small model and is compared with the CPU. \
                 The largest differences ({:.0e} is allowed):",
                SelfCheck::TOLERANCE
            )}
        </p>
        <dl class="facts">
            {row("Logits", check.logits)}
            {row("Loss", check.loss)}
            {row("Gradients", check.gradients)}
        </dl>
    }
}
