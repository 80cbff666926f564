//! A link to what is shown, and what it can't say.

use core::pin::Pin;
use std::sync::Arc;

use leptos::{ev, html, prelude::*};
use unroll_protocol::{Link, link::MOST_STEPS};

use wasm_bindgen_futures::JsFuture;

use super::{
    format::{counted, grouped, rate},
    packing,
    url::{Share, share as share_link},
};
use crate::{
    chapters,
    course::{Lab, Labs},
    fetched::{Fetch, part},
    questions::Questions,
    reactive::{effect_with_last, memo},
    store::{Severity, Store},
};

/// A button that copies the link, and beside the copied link what it does not include.
#[component]
pub fn CopyLink() -> impl IntoView {
    let (store, labs) = (expect_context::<Store>(), expect_context::<Labs>());
    let shared = Shared {
        store,
        departed: use_departure(store),
        shown: RwSignal::new(None),
        copied: RwSignal::new(false),
        button: NodeRef::new(),
    };
    let copy = move |_| {
        let lab = labs.of(store.link.with_untracked(|link| link.chapter));
        wasm_bindgen_futures::spawn_local(async move {
            match SHARE().await {
                Ok(share) => share(shared, lab).await,
                Err(_) => store.notify(
                    Severity::Failure,
                    "The part of the page that makes links could not be loaded. Are you offline?",
                ),
            }
        });
    };
    view! {
        <div class="copy-link">
            <button type="button" class="button" data-testid="copy-link" node_ref=shared.button
                aria-expanded=move || shared.shown.with(Option::is_some).to_string() on:click=copy>
                "Share"
            </button>
            {move || shared.shown.get().map(|popup| popup())}
        </div>
    }
}

/// What the button and the popup share.
#[derive(Clone, Copy)]
struct Shared {
    store: Store,
    departed: Signal<bool>,
    /// The popup, while it is open.
    shown: RwSignal<Option<Arc<dyn Fn() -> AnyView + Send + Sync>>>,
    copied: RwSignal<bool>,
    button: NodeRef<html::Button>,
}

/// Ends when the link is copied.
type Sharing = Pin<Box<dyn Future<Output = ()>>>;

/// Most visits share nothing.
const SHARE: Fetch<fn(Shared, Option<Lab>) -> Sharing> =
    part!(share: fn(Shared, Option<Lab>) -> Sharing = |shared, lab| Box::pin(copy(shared, lab)));

async fn copy(shared: Shared, lab: Option<Lab>) {
    let Shared { store, shown, copied, .. } = shared;
    let link = store.link.get_untracked();
    let (step, pace) = untrack(|| trained(store, lab));
    let warm = chapters::info(link.chapter).warm_steps;
    // So far it trains by itself.
    let step = if step != warm && step <= MOST_STEPS { step } else { 0 };
    if packing::is_underway() && packing::fetch().await.is_none() {
        store.notify(
            Severity::Failure,
            "The part of the page that puts your text into the link could not be loaded. Are you offline?",
        );
    }
    let offer = Offer {
        link: StoredValue::new(link),
        step,
        pace,
        trains: RwSignal::new(step > 0),
        framed: RwSignal::new(false),
    };
    copied.try_set(false);
    let field = Field::new();
    shown.try_set(Some(Arc::new(move || popup(shared, offer, field))));
    put_on_clipboard(shared, offer, field).await;
}

/// The step of what is on show, and how many milliseconds a step takes; 0 where the link is of another
/// model.
fn trained(store: Store, lab: Option<Lab>) -> (u32, Option<f32>) {
    match lab {
        Some(lab) => (lab.shown(), lab.milliseconds_per_step.get()),
        None if store.needs_start_over() => (0, None),
        None => {
            let pace = store.speed.get().map(|speed| speed.milliseconds_per_step);
            (Questions::from(store).shown(), pace)
        }
    }
}

/// What the popup offers.
#[derive(Clone, Copy)]
struct Offer {
    link: StoredValue<Link>,
    /// The step that the link can train to; 0 for none.
    step: u32,
    /// Milliseconds that a step takes here.
    pace: Option<f32>,
    /// Whether it is to train there.
    trains: RwSignal<bool>,
    /// Whether it is an iframe around the figure, for another page.
    framed: RwSignal<bool>,
}

impl Offer {
    /// The link as it is offered now.
    fn share(self, store: Store) -> Share {
        let step = if self.trains.get() { self.step } else { 0 };
        share_link(store, &Link { step, embed: self.framed.get(), ..self.link.get_value() })
    }

    /// What is to be copied.
    fn text(self, share: &Share) -> String {
        let address = share.absolute();
        if self.framed.get() { iframe(&address, &self.title()) } else { address }
    }

    /// The chapter and its view on show, as a reader hears them who does not see the frame.
    fn title(self) -> String {
        let chapter = self.link.with_value(|link| chapters::info(link.chapter).title());
        let tab = document().query_selector(".view-tab[aria-selected='true']").ok().flatten();
        match tab.and_then(|tab| tab.text_content()) {
            Some(view) => format!("{chapter}: {view}"),
            None => chapter.to_owned(),
        }
    }
}

/// A frame of the size in which every figure is whole. Neither an address nor a title has quotes.
fn iframe(address: &str, title: &str) -> String {
    let [address, title] = [address, title].map(|text| text.replace('&', "&amp;"));
    format!(r#"<iframe src="{address}" title="{title}" width="720" height="480"></iframe>"#)
}

async fn put_on_clipboard(shared: Shared, offer: Offer, field: Field) {
    let text = untrack(|| offer.text(&offer.share(shared.store)));
    shared.copied.try_set(to_clipboard(&text).await);
    if let Some(field) = field.try_get_untracked().flatten() {
        field.select();
    }
}

type Field = NodeRef<html::Input>;

fn popup(shared: Shared, offer: Offer, field: Field) -> AnyView {
    let Shared { store, departed, .. } = shared;
    // As it was when the button was pressed: the model may train on meanwhile.
    let share = memo(move || {
        offer.trains.track();
        offer.framed.track();
        untrack(|| offer.share(store))
    });
    let missing = move || {
        let share = share.get();
        untrack(|| left_out(store, &share, departed.get_untracked(), offer.trains.get()))
    };
    let copy = move || {
        shared.copied.set(false);
        wasm_bindgen_futures::spawn_local(put_on_clipboard(shared, offer, field));
    };
    let trains = move |event: ev::Event| {
        offer.trains.set(event_target_checked(&event));
        copy();
    };
    let framed = move |_| {
        offer.framed.update(|framed| *framed = !*framed);
        copy();
    };
    // The focus goes back to where it came from.
    let close = move || {
        shared.shown.set(None);
        if let Some(button) = shared.button.get_untracked() {
            let _ = button.focus();
        }
    };
    view! {
        <div class="popup" role="group" aria-label="Link to this experiment"
            on:keydown=move |event| if event.key() == "Escape" { close() }>
            <p role="status">
                {move || match (offer.framed.get(), shared.copied.get()) {
                    (false, true) => "Link copied. It opens this experiment.",
                    (false, false) => "This link opens this experiment.",
                    (true, true) => "Iframe copied. It shows this figure in a page of yours.",
                    (true, false) => "This iframe shows this figure in a page of yours.",
                }}
            </p>
            <input type="text" readonly node_ref=field data-testid="link-address"
                aria-label=move || if offer.framed.get() { "Iframe" } else { "Link" }
                prop:value=move || offer.text(&share.get())/>
            {(offer.step > 0).then(|| view! {
                <label class="popup-choice">
                    <input type="checkbox" data-testid="link-trains" prop:checked=offer.trains on:change=trains/>
                    {format!("Train to step {} when opened{}", grouped(offer.step.into()), duration(offer))}
                </label>
            })}
            {move || Some(missing()).filter(|missing| !missing.is_empty()).map(|missing| view! {
                <div data-testid="link-missing">
                    <p>"Not in the link:"</p>
                    <ul>{missing.into_iter().map(|m| view! { <li>{m}</li> }).collect_view()}</ul>
                </div>
            })}
            <button type="button" class="button" data-testid="link-framed" on:click=framed>
                {move || if offer.framed.get() { "Copy the link" } else { "Copy as iframe" }}
            </button>
            <button type="button" class="button button-quiet" on:click=move |_| close()>"Close"</button>
        </div>
    }
    .into_any()
}

/// How long the training of the link takes on this device.
fn duration(offer: Offer) -> String {
    let Some(pace) = offer.pace else { return String::new() };
    let seconds = f64::from(pace) * f64::from(offer.step) / 1000.0;
    match seconds {
        ..1.5 => " (about a second here)".to_owned(),
        ..100.0 => format!(" (about {seconds:.0} seconds here)"),
        _ => format!(" (about {:.0} minutes here)", seconds / 60.0),
    }
}

/// What someone who opens the link will miss, as sentences; `trains` is whether it trains first.
fn left_out(store: Store, share: &Share, departed: bool, trains: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if share.without_text {
        let (name, length) =
            store.source.with(|source| (source.name.clone(), source.text.chars().count()));
        missing.push(format!(
            "The text “{name}” ({}): it is too long for a link, so send it as a file.",
            counted(length as u64, "character")
        ));
    }
    if share.without_probe {
        missing.push("The sentence you typed. It is too long for a link.".to_owned());
    }
    let chapter = store.link.with(|link| link.chapter);
    if !chapter.has_model() {
        return missing;
    }
    if !chapter.shows_lab() {
        if trains {
            return missing;
        }
        missing.push(
            "What the models learned after the steps they take on their own. From the link they \
             start over and can learn the same again."
                .to_owned(),
        );
        return missing;
    }
    if departed {
        missing.push(format!(
            "Your change to the learning rate during training. From the link, it is {} from the first step on.",
            rate(store.link.with(|link| link.gpt.learning_rate))
        ));
    }
    if store.needs_start_over() {
        missing.push(
            "The model you see. The link has the settings in the form, which this model does not use yet.".to_owned(),
        );
    } else if store.step.get() > 0 && !trains {
        missing.push(
            "What the model has learned. From the link it starts untrained and can learn the same again."
                .to_owned(),
        );
    }
    missing
}

/// Whether the present run can't be had again from its settings alone, because the learning rate
/// was changed after its first step.
fn use_departure(store: Store) -> Signal<bool> {
    struct Seen {
        model: usize,
        rate: f32,
    }
    let departed = RwSignal::new(false);
    effect_with_last(move |before: Option<Seen>| {
        let rate = store.built.with(|built| built.gpt.learning_rate);
        let (model, trained) = store.started.with(|started| match started {
            Some(started) => (Arc::as_ptr(started) as usize, started.step > 0),
            None => (0, false),
        });
        match before {
            // An untrained model; a trained one has been brought back, and keeps the verdict.
            Some(before) if before.model != model && !trained => departed.set(false),
            // Before the first step any change is as if it had always been so.
            Some(before)
                if before.model == model
                    && before.rate != rate
                    && store.step.get_untracked() > 0 =>
            {
                departed.set(true);
            }
            _ => {}
        }
        Seen { model, rate }
    });
    departed.into()
}

/// Whether the browser put `text` on the clipboard: it may have none (plain http), or not allow it.
pub async fn to_clipboard(text: &str) -> bool {
    let navigator = window().navigator();
    let clipboard = js_sys::Reflect::get(&navigator, &"clipboard".into());
    if !clipboard.is_ok_and(|clipboard| clipboard.is_object()) {
        return false;
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}
