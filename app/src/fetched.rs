//! Parts of the page that are fetched when they are first shown.
//!
//! [`part!`] marks them. `cargo xtask` then divides the app's wasm (see xtask/src/split.rs): what
//! only such a part leads to goes into a file of its own, what several parts share into another.

use core::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

use crate::reactive::{effect_with_last, memo};
use js_sys::Promise;
use leptos::{prelude::*, task::spawn_local, wasm_split::SplitLoaderError};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlElement, HtmlTemplateElement};

pub type View = fn() -> AnyView;

/// Brings a part, at once where it was fetched before. After a failure a further call tries again.
pub type Fetch<T = View> = fn() -> Fetching<T>;

/// Ends when the part is here, or can't be had.
pub type Fetching<T> = Pin<Box<dyn Future<Output = Result<T, SplitLoaderError>>>>;

/// A [`Fetch`] of `$part`, a function or closure that captures nothing: `part!(name: Type = $part)`.
/// The name is that of the file, so no two parts may have the same.
#[cfg(not(debug_assertions))]
macro_rules! part {
    ($name:ident: $type:ty = $part:expr) => {{
        #[leptos::wasm_split::wasm_split($name, fallible, wasm_split_path = leptos::wasm_split)]
        fn $name() -> Result<$type, leptos::wasm_split::SplitLoaderError> {
            Ok($part)
        }
        let fetch: $crate::fetched::Fetch<$type> = || Box::pin($name());
        fetch
    }};
}

/// Builds for trying things out are not divided: `wasm-bindgen` alone makes them ready.
#[cfg(debug_assertions)]
macro_rules! part {
    ($name:ident: $type:ty = $part:expr) => {{
        let fetch: $crate::fetched::Fetch<$type> = || {
            let part: $type = $part;
            Box::pin(core::future::ready(Ok(part)))
        };
        fetch
    }};
}

pub(crate) use part;

/// Whether the first picture is there: from then on, what may soon be wanted is fetched ahead.
#[derive(Clone, Copy)]
pub struct Settled(pub RwSignal<bool>);

/// Fetches a part once the first picture is there, so that it is at hand when it is wanted.
pub fn use_ahead(fetch: Fetch) {
    let Settled(settled) = expect_context();
    effect_with_last(move |before: Option<bool>| {
        let now = settled.get();
        if now && before != Some(true) {
            // Where it fails, it is fetched again when it is wanted, and says so then.
            spawn_local(async move { drop(fetch().await) });
        }
        now
    });
}

/// Brings a part and its style sheet, so that both are at hand when they are shown.
pub async fn bring(fetch: Fetch, style: &'static str) {
    if let Some(styled) = put_on(style) {
        // Without its looks it is better than not at all.
        let _ = JsFuture::from(styled).await;
    }
    // Where it fails, it is fetched again when it is shown, and says so then.
    drop(fetch().await);
}

/// How far the fetching is.
#[derive(Clone, Copy)]
enum State {
    Underway,
    Here(View),
    Failed,
}

/// [`Fetched`] with nothing around its line, for what comes with no style sheet of its own.
pub fn fetched(fetch: Fetch, what: &'static str) -> AnyView {
    view! { <Fetched fetch what around=|notice| notice/> }.into_any()
}

/// The same once the first picture is there; nothing before.
pub fn fetched_later(fetch: Fetch, what: &'static str) -> AnyView {
    let Settled(settled) = expect_context();
    (move || settled.get().then(|| fetched(fetch, what))).into_any()
}

/// The view that `fetch` brings; until then a line that says so, in what `around` makes of it.
#[component]
pub fn Fetched(
    fetch: Fetch,
    /// What is fetched, as a sentence begins: "This chapter".
    what: &'static str,
    /// The chapter, or what else has a style sheet that is fetched beside it.
    #[prop(optional_no_strip)]
    style: Option<&'static str>,
    around: impl Fn(AnyView) -> AnyView + Send + 'static,
) -> impl IntoView {
    let state = RwSignal::new(State::Underway);
    let start = move || {
        state.set(State::Underway);
        let styled = style.and_then(put_on);
        let mut fetching = fetch();
        // Without a moment of nothing where it is here already.
        if styled.is_none()
            && let Poll::Ready(Ok(view)) =
                fetching.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            state.set(State::Here(view));
            return;
        }
        spawn_local(async move {
            let now = fetching.await.map_or(State::Failed, State::Here);
            if let Some(styled) = styled {
                // Without its looks it is better than not at all.
                let _ = JsFuture::from(styled).await;
            }
            let focused = document().active_element().map(|element| element.id());
            // The learner may be elsewhere by now.
            if state.try_set(now).is_none() {
                focus_again(focused.unwrap_or_default());
            }
        });
    };
    start();
    let notice = move || {
        match state.get() {
        State::Failed => view! {
            <div role="alert" class="alert" data-testid="fetch-failed">
                <p>
                    {what}
                    " could not be loaded. If trying again does not help, reload the page: there may be a \
                     new version."
                </p>
                <div class="button-row">
                    <button type="button" class="button" data-testid="fetch-again"
                        on:click=move |_| start()>
                        "Try again"
                    </button>
                </div>
            </div>
        }
        .into_any(),
        _ => {
            let what = inside(what);
            view! { <p class="hint fetching" role="status">"Loading "{what}" …"</p> }.into_any()
        }
    }
    };
    let here = memo(move || match state.get() {
        State::Here(view) => Some(view),
        State::Underway | State::Failed => None,
    });
    move || here.get().map_or_else(|| around(notice.into_any()), |view| view())
}

/// What begins a sentence, inside one.
fn inside(what: &str) -> String {
    let mut rest = what.chars();
    let first = rest.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

/// Takes a style sheet, a chapter's or another's, out of the page's template for them. Settles when it is
/// there, or can't be had; `None` if it was put on before.
fn put_on(name: &str) -> Option<Promise> {
    let (document, name) = (document(), format!("link[href*='-{name}-']"));
    let head = document.head()?;
    if head.query_selector(&name).ok()?.is_some() {
        return None;
    }
    let template: HtmlTemplateElement =
        document.get_element_by_id("later-styles")?.dyn_into().ok()?;
    let link = template.content().query_selector(&name).ok()??.clone_node().ok()?;
    let link: HtmlElement = link.unchecked_into();
    let settled = Promise::new(&mut |resolve, _| {
        link.set_onload(Some(&resolve));
        link.set_onerror(Some(&resolve));
    });
    head.append_child(&link).ok()?;
    Some(settled)
}

/// Puts the focus on what has this id, where it was on its predecessor.
pub fn focus_again(id: String) {
    request_animation_frame(move || {
        let focused = document().active_element().map(|element| element.tag_name());
        // Nothing else has taken it in the meantime.
        if id.is_empty() || focused.is_some_and(|name| name != "BODY") {
            return;
        }
        if let Some(element) = document().get_element_by_id(&id) {
            let _ = element.unchecked_into::<HtmlElement>().focus();
        }
    });
}
