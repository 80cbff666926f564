//! The way from chapter to chapter.

use leptos::{ev, html, prelude::*};
use unroll_protocol::link::Chapter;
use wasm_bindgen::JsValue;

use super::{Progress, machine_map::about};
use crate::{
    chapters::{self, Entry},
    controls::{read_query, share},
    fetched::{Fetch, View, fetched, part, use_ahead},
    reactive::{effect, memo},
    store::Store,
};

/// Goes to a chapter, keeping everything the learner set; to a later beat of it as a link does that
/// says no more.
pub fn go(store: Store, chapter: Chapter, idea: u32) {
    if store.link.with_untracked(|link| link.chapter == chapter) {
        return;
    }
    store.link.update(|link| {
        link.chapter = chapter;
        link.idea = idea;
        link.step = 0;
        link.view.clear();
    });
    store.go_by_link();
    let link = store.link.get_untracked();
    let address = untrack(|| share(store, &link)).own();
    // Refused in a sandboxed frame, whose address nobody sees.
    let _ = window()
        .history()
        .and_then(|history| history.push_state_with_url(&JsValue::NULL, "", Some(&address)));
    window().scroll_to_with_x_and_y(0.0, 0.0);
    begin_at_title();
}

/// Puts the focus where a reader of the page by ear or keyboard begins.
pub fn begin_at_title() {
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
            now.view = link.view;
        });
    });
    on_cleanup(move || listener.remove());
    let chapter = memo(move || store.link.with(|link| link.chapter));
    effect(move || {
        let chapter = chapter.get();
        progress.see(chapter);
        document().set_title(&format!("{} – Unroll", chapters::info(chapter).title()));
    });
}

/// A link to a chapter that stays in the page.
#[component]
pub fn ChapterLink(
    chapter: Chapter,
    #[prop(optional)] class: &'static str,
    #[prop(optional)] testid: &'static str,
    /// The beat it opens at.
    #[prop(optional)]
    idea: u32,
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
                    go(store, chapter, idea);
                }
            }>
            {children()}
        </a>
    }
    .into_any()
}

fn neighbors(chapter: Chapter) -> (Option<&'static Entry>, Option<&'static Entry>) {
    let index = chapters::ALL.iter().position(|info| info.id == chapter).unwrap_or(0);
    let before = index.checked_sub(1).and_then(|index| chapters::ALL.get(index));
    (before.copied(), chapters::ALL.get(index + 1).copied())
}

/// What the learner has done of a chapter, as a sign and a word.
fn mark(progress: Progress, chapter: Chapter) -> (&'static str, &'static str) {
    if progress.is_done(chapter) {
        ("✓", "done")
    } else if progress.has_seen(chapter) {
        ("•", "seen")
    } else {
        ("", "new")
    }
}

const MENU: Fetch = part!(menu: View = menu_panel);

/// All chapters, with what the learner has done of each.
fn menu_panel() -> AnyView {
    let progress = expect_context::<Progress>();
    let item = move |(number, info): (usize, &'static Entry)| {
        let sign = move || mark(progress, info.id);
        view! {
            <li>
                <ChapterLink chapter=info.id>
                    <span class="course-number">{number}</span>
                    <span class="course-title">{info.title()}</span>
                    <span class="course-mark" aria-hidden="true">{move || sign().0}</span>
                    <span class="course-about">{about(info.id)}</span>
                    <span class="visually-hidden">{move || format!(" ({})", sign().1)}</span>
                </ChapterLink>
            </li>
        }
    };
    let all = chapters::ALL.iter().copied().enumerate();
    let part = |(end, info): (usize, &'static Entry)| {
        let (title, entries) = part_ended_by(info.id)?;
        let entries = all.clone().skip(end + 1 - entries.len()).take(entries.len());
        Some(view! {
            <section class="course-part" aria-label=title>
                <h2>{title}</h2>
                <ol>{entries.map(item).collect_view()}</ol>
            </section>
        })
    };
    view! {
        <div class="course-parts">{all.clone().filter_map(part).collect_view()}</div>
        <p class="course-forget">
            <button type="button" class="button button-quiet" data-testid="forget-progress"
                on:click=move |_| progress.forget()>
                "Forget my progress"
            </button>
            <span class="hint">"Kept in this browser only."</span>
            // The list stands in index.html.
            <button type="button" class="button button-quiet" popovertarget=super::story::KEYS>"Keyboard"</button>
        </p>
    }
    .into_any()
}

/// Where one is in the course; opens to all its chapters.
#[component]
pub fn ChapterMenu() -> impl IntoView {
    let store = expect_context::<Store>();
    let chapter = memo(move || store.link.with(|link| link.chapter));
    let details = NodeRef::<html::Details>::new();
    let close = move || {
        if let Some(details) = details.get_untracked() {
            details.set_open(false);
        }
    };
    effect(move || {
        chapter.track();
        close();
    });
    // Counted from 0: the first only prepares.
    let number = move || chapters::ALL.iter().position(|info| info.id == chapter.get());
    let open = RwSignal::new(false);
    use_ahead(MENU);
    view! {
        <nav class="course-menu" aria-label="Chapters">
            <details class="course-list" node_ref=details
                on:toggle=move |_| open.set(details.get_untracked().is_some_and(|d| d.open()))
                on:keydown=move |event| if event.key() == "Escape" { close() }>
                <summary data-testid="chapter-list">
                    <span class="course-place">{number}" · "</span>
                    <span class="course-here">{move || chapters::info(chapter.get()).title()}</span>
                    <span class="course-caret" aria-hidden="true">"▼"</span>
                </summary>
                <div class="course-panel">
                    {move || open.get().then(|| fetched(MENU, "The list of chapters"))}
                </div>
            </details>
        </nav>
    }
    .into_any()
}

/// The parts of the course: the chapter that begins each, and what it is about.
const PARTS: [(Chapter, &str); 4] = [
    (Chapter::Start, "Before you begin"),
    (Chapter::Tokens, "Memory"),
    (Chapter::Seq2seq, "Attention"),
    (Chapter::Machine, "The whole machine"),
];

/// What the part is about that ends with this chapter, and its chapters; `None` where another of them follows.
pub fn part_ended_by(end: Chapter) -> Option<(&'static str, &'static [&'static Entry])> {
    let all = chapters::ALL;
    let begun_at =
        |at: usize| PARTS.iter().find(|part| all.get(at).is_some_and(|i| i.id == part.0));
    let end = all.iter().position(|info| info.id == end)?;
    if end + 1 < all.len() && begun_at(end + 1).is_none() {
        return None;
    }
    let (first, part) = (0..=end).rev().find_map(|at| Some((at, begun_at(at)?)))?;
    Some((part.1, &all[first..=end]))
}

/// The whole course as a rail: a piece for each chapter, a gap between its parts. For the eye and the
/// mouse; the menu beside it says the same to everyone.
#[component]
pub fn Rail() -> impl IntoView {
    let store = expect_context::<Store>();
    let progress = expect_context::<Progress>();
    let piece = move |(place, info): (usize, &'static Entry)| {
        let here = move || store.link.with(|link| link.chapter == info.id);
        view! {
            <a class="rail-piece" href=format!("?chapter={}", info.id.id()) tabindex="-1"
                data-name=format!("{place} · {}", info.title())
                class:rail-part={PARTS[1..].iter().any(|part| part.0 == info.id)} class:rail-here=here
                class:rail-seen=move || progress.has_seen(info.id)
                class:rail-done=move || progress.is_done(info.id)
                on:click=move |event: ev::MouseEvent| {
                    if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                        event.prevent_default();
                        go(store, info.id, 0);
                    }
                }><span></span></a>
        }
    };
    view! { <div class="rail" aria-hidden="true">{chapters::ALL.iter().copied().enumerate().map(piece).collect_view()}</div> }
        .into_any()
}

/// The chapters before and after, at the foot of a story.
#[component]
pub fn Neighbors() -> impl IntoView {
    let store = expect_context::<Store>();
    let (before, after) = neighbors(store.link.with_untracked(|link| link.chapter));
    view! {
        <nav class="course-next" aria-label="Neighboring chapters">
            {match after {
                Some(info) => view! {
                    <ChapterLink chapter=info.id class="button button-primary" testid="chapter-next">
                        "Next: "{info.title()}
                    </ChapterLink>
                }.into_any(),
                // Who came here first has the course before them.
                None => view! { <WayIn testid="way-in-again"/> }.into_any(),
            }}
            {before.map(|info| view! {
                <ChapterLink chapter=info.id class="button button-quiet" testid="chapter-previous">
                    "Before: "{info.title()}
                </ChapterLink>
            })}
        </nav>
    }
    .into_any()
}

/// The way into the course, on the first screen and at the lab's end.
#[component]
pub fn WayIn(testid: &'static str) -> impl IntoView {
    let progress = expect_context::<Progress>();
    let next = move || {
        let is_open = |info: &&&Entry| info.id != Chapter::Gpt && !progress.is_done(info.id);
        // The first chapter prepares; the course opens without it.
        let course = &chapters::ALL[1..];
        let open = course.iter().find(is_open);
        (*open.unwrap_or(&course[0]), open.is_none())
    };
    view! {
        <p class="way-in">
            {move || {
                let (info, is_all_read) = next();
                let lead = match info.id == chapters::ALL[1].id {
                    _ if is_all_read => "Read the course again: ",
                    true => "See how it works: chapter\u{a0}1, ",
                    false => "Continue the course: ",
                };
                view! {
                    <ChapterLink chapter=info.id class="button" testid>
                        {lead}"“"{info.title()}"” →"
                    </ChapterLink>
                }
            }}
            <ChapterLink chapter=Chapter::Start>"Start with ten minutes of math"</ChapterLink>
        </p>
    }
    .into_any()
}
