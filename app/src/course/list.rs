//! The way from chapter to chapter.

use leptos::{ev, html, prelude::*};
use unroll_protocol::link::Chapter;
use wasm_bindgen::JsValue;

use super::Progress;
use crate::{
    chapters::{self, Entry},
    controls::{read_query, share},
    store::Store,
};

/// Goes to a chapter, keeping everything the learner set.
fn go(store: Store, chapter: Chapter) {
    if store.link.with_untracked(|link| link.chapter == chapter) {
        return;
    }
    store.link.update(|link| {
        link.chapter = chapter;
        link.idea = 0;
    });
    let link = store.link.get_untracked();
    let address = untrack(|| share(store, &link)).relative();
    // Refused in a sandboxed frame, whose address nobody sees.
    let _ = window()
        .history()
        .and_then(|history| history.push_state_with_url(&JsValue::NULL, "", Some(&address)));
    window().scroll_to_with_x_and_y(0.0, 0.0);
    // Where a reader of the page by ear or keyboard begins.
    request_animation_frame(|| {
        if let Some(title) = document().get_element_by_id("chapter-title") {
            let _ = wasm_bindgen::JsCast::unchecked_into::<web_sys::HtmlElement>(title).focus();
        }
    });
}

/// Follows the browser's back and forward, notes what was seen, names the page. Call once.
pub fn use_navigation(store: Store, progress: Progress) {
    let listener = window_event_listener(ev::popstate, move |_| {
        let (link, _) = read_query();
        store.link.update(|now| {
            now.chapter = link.chapter;
            now.idea = link.idea;
        });
    });
    on_cleanup(move || listener.remove());
    let chapter = Memo::new(move |_| store.link.with(|link| link.chapter));
    Effect::new(move |_| {
        let chapter = chapter.get();
        progress.see(chapter);
        document().set_title(&format!("{} – Unroll", chapters::info(chapter).title));
    });
}

/// A link to a chapter that stays in the page.
#[component]
fn ChapterLink(
    chapter: Chapter,
    #[prop(optional)] class: &'static str,
    #[prop(optional)] testid: &'static str,
    children: Children,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let current = move || store.link.with(|link| link.chapter) == chapter;
    view! {
        <a href=format!("?chapter={}", chapter.id()) class=class data-testid=testid
            aria-current=move || current().then_some("page")
            on:click=move |event: ev::MouseEvent| {
                // A new tab or window is the browser's business.
                if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                    event.prevent_default();
                    go(store, chapter);
                }
            }>
            {children()}
        </a>
    }
    .into_any()
}

fn neighbours(chapter: Chapter) -> (Option<&'static Entry>, Option<&'static Entry>) {
    let index = chapters::ALL.iter().position(|info| info.id == chapter).unwrap_or(0);
    let before = index.checked_sub(1).and_then(|index| chapters::ALL.get(index));
    (before.copied(), chapters::ALL.get(index + 1).copied())
}

/// The bar under the page's header: where one is in the course, and all its chapters.
#[component]
pub fn CourseBar() -> impl IntoView {
    let store = expect_context::<Store>();
    let progress = expect_context::<Progress>();
    let chapter = Memo::new(move |_| store.link.with(|link| link.chapter));
    let details = NodeRef::<html::Details>::new();
    let close = move || {
        if let Some(details) = details.get_untracked() {
            details.set_open(false);
        }
    };
    Effect::new(move |_| {
        chapter.track();
        close();
    });
    let place = move || {
        let chapter = chapter.get();
        let number = chapters::ALL.iter().position(|info| info.id == chapter).unwrap_or(0) + 1;
        format!("{number} of {}", chapters::ALL.len())
    };
    let item = move |info: &'static Entry| {
        let mark = move || {
            if progress.is_done(info.id) {
                ("✓", "done")
            } else if progress.has_seen(info.id) {
                ("•", "seen")
            } else {
                ("", "new")
            }
        };
        view! {
            <li>
                <ChapterLink chapter=info.id>
                    <span class="course-mark" aria-hidden="true">{move || mark().0}</span>
                    <span class="course-title">{info.title}</span>
                    <span class="visually-hidden">{move || format!(" ({})", mark().1)}</span>
                </ChapterLink>
            </li>
        }
    };
    view! {
        <nav class="course-bar" aria-label="Chapters">
            <details class="course-list" node_ref=details
                on:keydown=move |event| if event.key() == "Escape" { close() }>
                <summary data-testid="chapter-list">
                    <span class="course-place">{place}</span>
                    <span class="course-here">{move || chapters::info(chapter.get()).title}</span>
                </summary>
                <div class="course-panel">
                    <ol>{chapters::ALL.iter().map(|info| item(info)).collect_view()}</ol>
                    <button type="button" class="button button-quiet" data-testid="forget-progress"
                        on:click=move |_| progress.forget()>
                        "Forget my progress"
                    </button>
                    <p class="hint">"Kept in this browser only."</p>
                </div>
            </details>
            {move || {
                let (before, after) = neighbours(chapter.get());
                view! {
                    <div class="course-neighbours">
                        {before.map(|info| view! {
                            <ChapterLink chapter=info.id class="button button-quiet" testid="chapter-previous">
                                <span aria-hidden="true">"‹ "</span>
                                <span class="course-neighbour">{info.title}</span>
                                <span class="visually-hidden">" (previous chapter)"</span>
                            </ChapterLink>
                        })}
                        {after.map(|info| view! {
                            <ChapterLink chapter=info.id class="button button-quiet" testid="chapter-next">
                                <span class="course-neighbour">{info.title}</span>
                                <span aria-hidden="true">" ›"</span>
                                <span class="visually-hidden">" (next chapter)"</span>
                            </ChapterLink>
                        })}
                    </div>
                }
            }}
        </nav>
    }
    .into_any()
}

/// The next chapter, at the foot of a chapter.
#[component]
pub fn Neighbours() -> impl IntoView {
    let store = expect_context::<Store>();
    let (_, after) = neighbours(store.link.with_untracked(|link| link.chapter));
    after.map(|info| {
        view! {
            <nav class="course-next" aria-label="Next chapter">
                <ChapterLink chapter=info.id class="button button-primary">
                    "Next: "{info.title}
                </ChapterLink>
            </nav>
        }
        .into_any()
    })
}

/// The way into the course, on the first screen.
#[component]
pub fn WayIn() -> impl IntoView {
    let progress = expect_context::<Progress>();
    let next = move || {
        let course = chapters::ALL.iter().filter(|info| info.id != Chapter::Gpt);
        let mut open = course.filter(|info| !progress.is_done(info.id));
        *open.next().unwrap_or(&chapters::ALL[0])
    };
    view! {
        <p class="way-in">
            "How does it come to this? "
            {move || {
                let info = next();
                view! {
                    <ChapterLink chapter=info.id testid="way-in">
                        "The course begins with counting letters: “"{info.title}"”"
                    </ChapterLink>
                }
            }}
        </p>
    }
    .into_any()
}
