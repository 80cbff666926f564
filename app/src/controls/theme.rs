//! Light or dark.

use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::link::Theme;
use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::MediaQueryListEvent;

use crate::{reactive::memo, store::Store};

/// Whether the page is dark now. Writes it to `data-theme` of the document, which every style and
/// figure goes by, and follows the system while the link leaves it to it. Call once.
pub fn use_theme(store: Store) -> Signal<bool> {
    let system = use_system_dark();
    let dark = memo(move || match store.link.with(|link| link.theme) {
        Theme::Auto => system.get(),
        Theme::Light => false,
        Theme::Dark => true,
    });
    // Rendered effects run at once: the first paint already has the right colors.
    let effect = RenderEffect::new(move |_| {
        if let Some(root) = document().document_element() {
            let _ = root.set_attribute("data-theme", if dark.get() { "dark" } else { "light" });
        }
    });
    on_cleanup(move || drop(effect));
    dark.into()
}

/// Whether the page's face has come. Canvases write in whatever is there, and do not write again by themselves.
pub fn use_face() -> Signal<bool> {
    const FACE: &str = "1em Inter";
    let fonts = document().fonts();
    let come = RwSignal::new(fonts.check(FACE).unwrap_or(true));
    if !come.get_untracked() {
        spawn_local(async move {
            // Where it can't be had, nothing changes.
            let loaded = JsFuture::from(fonts.load(FACE)).await;
            come.try_set(loaded.is_ok());
        });
    }
    come.into()
}

/// Whether the system asks for dark colors, as it changes.
fn use_system_dark() -> Signal<bool> {
    let query = window().match_media("(prefers-color-scheme: dark)").ok().flatten();
    let dark = RwSignal::new(query.as_ref().is_some_and(web_sys::MediaQueryList::matches));
    if let Some(query) = query {
        let changed = Closure::<dyn FnMut(_)>::new(move |event: MediaQueryListEvent| {
            dark.try_set(event.matches());
        });
        let function = changed.as_ref().unchecked_ref::<js_sys::Function>();
        // Fails for no known browser; the theme then stays as it was at first.
        let _ = query.add_event_listener_with_callback("change", function);
        let held = StoredValue::new_local((query, changed));
        on_cleanup(move || {
            held.try_with_value(|(query, changed)| {
                let function = changed.as_ref().unchecked_ref::<js_sys::Function>();
                let _ = query.remove_event_listener_with_callback("change", function);
            });
        });
    }
    dark.into()
}

/// The choice between light, dark and the system's colors.
#[component]
pub fn ThemeChoice() -> impl IntoView {
    let store = expect_context::<Store>();
    let choose = move |event| {
        if let Some(theme) = Theme::from_id(&event_target_value(&event)) {
            store.link.update(|link| link.theme = theme);
        }
    };
    let present = move || store.link.with(|link| link.theme.id());
    view! {
        <label class="theme-choice">
            <span class="visually-hidden">"Colors"</span>
            <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z"/></svg>
            <select data-testid="control-theme" on:change=choose prop:value=present>
                {Theme::CHOICES.iter().map(|&(id, label)| view! {
                    <option value=id selected=move || present() == id>{label}</option>
                }).collect_view()}
            </select>
        </label>
    }
}
