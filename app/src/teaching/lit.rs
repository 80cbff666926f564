//! Text and figure are one: a term, its symbol and its part of a figure light up together.
//!
//! Every element of the page with `data-part="name"` takes part, be it HTML, SVG or MathML. The page
//! listens once, for all of them, and puts the class `is-lit` on those of the name in question.

use core::cell::RefCell;
use std::collections::BTreeSet;

use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::figures::Hue;
use crate::reactive::effect;

/// Something the text, a formula and a figure all speak of. Names are plain words: `hidden`, `w-x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(pub &'static str);

impl Part {
    /// The part an element of the page names. The page has few names, so each is kept for good.
    fn named(name: String) -> Self {
        thread_local!(static NAMES: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) });
        NAMES.with_borrow_mut(|names| {
            if let Some(name) = names.get(name.as_str()) {
                return Self(name);
            }
            let name: &'static str = name.leak();
            names.insert(name);
            Self(name)
        })
    }

    /// The part that an event is about.
    fn at(event: &web_sys::Event) -> Option<Self> {
        let element: Element = event.target()?.dyn_into().ok()?;
        Self::of(&element.closest("[data-part]").ok()??)
    }

    pub(super) fn of(element: &Element) -> Option<Self> {
        element.get_attribute("data-part").map(Self::named)
    }
}

/// What is lit now. In the context of the whole page; its signals live as long as the page.
#[derive(Clone, Copy)]
pub struct Lit {
    pointed: RwSignal<Option<Part>>,
    /// What has the focus. Apart from what is pointed at: a page that scrolls to the focus brings
    /// something else under a resting pointer.
    focused: RwSignal<Option<Part>>,
    /// What a click made stay.
    pinned: RwSignal<Option<Part>>,
}

impl Lit {
    /// The part that is lit. Tracks.
    pub fn part(self) -> Option<Part> {
        self.pointed.get().or(self.focused.get()).or(self.pinned.get())
    }

    /// Lights `part` for as long as it is pointed at; `None` when the pointer leaves.
    pub fn point(self, part: Option<Part>) {
        put(self.pointed, part);
    }

    /// The same for the keyboard.
    pub(super) fn focus(self, part: Option<Part>) {
        put(self.focused, part);
    }

    /// Lights `part` until it is asked for again, or Escape is pressed.
    fn pin(self, part: Part) {
        self.pinned.update(|pinned| *pinned = (*pinned != Some(part)).then_some(part));
    }
}

fn put(signal: RwSignal<Option<Part>>, part: Option<Part>) {
    if signal.get_untracked() != part {
        signal.set(part);
    }
}

/// What is lit, for figures that draw it themselves.
pub fn use_lit() -> Lit {
    expect_context()
}

/// Puts [`Lit`] into the context and lights what is pointed at. Call once, from the page's root.
pub fn provide_lit() {
    let [pointed, focused, pinned] = [(); 3].map(|()| RwSignal::new(None));
    let lit = Lit { pointed, focused, pinned };
    provide_context(lit);
    // Never removed: the page's root outlives every event.
    window_event_listener(ev::pointerover, move |event| lit.point(Part::at(&event)));
    window_event_listener(ev::focusin, move |event| lit.focus(Part::at(&event)));
    window_event_listener(ev::focusout, move |_| lit.focus(None));
    window_event_listener(ev::click, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let symbol = target.and_then(|target| target.closest(".sym").ok().flatten());
        if let Some(part) = symbol.and_then(|symbol| Part::of(&symbol)) {
            lit.pin(part);
        }
    });
    window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" {
            lit.point(None);
            lit.focus(None);
            lit.pinned.set(None);
        }
    });
    effect(move || press(lit.pinned.get()));
    effect(move || {
        let part = lit.part();
        mark(".is-lit", false);
        if let Some(Part(name)) = part {
            mark(&format!("[data-part=\"{name}\"]"), true);
        }
    });
}

/// Says of every symbol whether it stays lit.
fn press(pinned: Option<Part>) {
    for symbol in all(".sym[aria-pressed]") {
        let pressed = pinned.is_some() && Part::of(&symbol) == pinned;
        let _ = symbol.set_attribute("aria-pressed", if pressed { "true" } else { "false" });
    }
}

/// Puts the class on all that `selector` finds, or takes it off.
fn mark(selector: &str, lit: bool) {
    for element in all(selector) {
        let _ = element.class_list().toggle_with_force("is-lit", lit);
    }
}

/// The elements of the page that `selector` finds.
fn all(selector: &str) -> impl Iterator<Item = Element> {
    let found = document().query_selector_all(selector).ok();
    let count = found.as_ref().map_or(0, |found| found.length());
    (0..count).filter_map(move |i| found.as_ref()?.item(i)?.dyn_into().ok())
}

/// A word or symbol in running text. A press keeps its part lit.
#[component]
pub fn Sym(part: &'static str, role: Hue, children: Children) -> impl IntoView {
    view! {
        <button type="button" class=format!("sym {}", role.class()) data-part=part aria-pressed="false">
            {children()}
        </button>
    }
    .into_any()
}

/// A symbol in a formula: an `<mi>`.
#[component]
pub fn MathSym(part: &'static str, role: Hue, children: Children) -> impl IntoView {
    view! { <mi class=role.class() data-part=part>{children()}</mi> }.into_any()
}
