//! The story beside the stage: a chapter told in beats, each of which sets the stage.

use core::time::Duration;

use leptos::{context::Provider, ev, html, prelude::*};
use unroll_protocol::{ExperimentSpec, Link, StudySpec};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::{
    list::Neighbors,
    print::is_printing,
    undo::{has_pages, is_text_field},
};
use crate::{
    controls::use_timer,
    figures::{canvas::use_size, motion},
    reactive::{effect, effect_with_last, memo},
    store::{Store, Way},
    teaching::{Live, live_words},
};

/// Sets what differs from a chapter's start.
pub type SetStage = fn(&mut Link);

/// One beat on the page.
pub struct Told {
    /// Empty for the first, which the chapter's title heads.
    pub title: &'static str,
    pub body: ViewFn,
    /// How the beat sets the stage; `None` leaves it as it is.
    pub set: Option<SetStage>,
    /// What in the view it speaks of, by its test id; `None` is the view from its start.
    pub aim: Option<&'static str>,
}

/// The setting that names the view on the stage.
const VIEW: &str = "view";
/// What a link may say and still be to the chapter's start.
const BARE: [&str; 6] = ["chapter", "corpus", "seed", "device", "adapter", "theme"];
/// After so long without a further movement, the beat that was scrolled to is in focus.
const SETTLED: Duration = Duration::from_millis(140);
/// How far below the column's top a beat that is brought into view begins, as a share of its height.
const LEAD: f64 = 0.2;
/// As far down, as a part of its height, one reads.
const READ: f64 = 0.3;

/// What decides the model of a link.
pub(super) fn model_of(link: &Link) -> (Option<StudySpec>, ExperimentSpec) {
    (link.study(), link.experiment())
}

/// `link` with the stage as a beat sets it. A model that the learner has made stays, unless the
/// beat is about another one: `told` is the link as the beat before has set it.
fn staged(link: &Link, told: &Link, set: SetStage) -> Link {
    let usual = Link { chapter: link.chapter, seed: link.seed, ..Link::default() };
    let mut about = usual.clone();
    set(&mut about);
    let is_about_model = model_of(&about) != model_of(&usual);
    let is_learners = model_of(link) != model_of(told);
    let mut next = link.clone().with_chapter_of(&usual);
    next.view.clear();
    set(&mut next);
    if is_about_model || !is_learners {
        return next;
    }
    for setting in unroll_protocol::link::settings() {
        let kept = (setting.get)(link);
        if setting.of == Some(link.chapter) && kept != (setting.get)(&next) {
            let mut with = next.clone();
            (setting.set)(&mut with, kept);
            if model_of(&with) != model_of(&next) {
                next = with;
            }
        }
    }
    next
}

/// The stage of the chapter on show as one of its beats sets it, for links. A link that names no beat may say
/// more, and then opens the chapter's own view.
fn usual_stage(
    chapter: unroll_protocol::link::Chapter,
    number: u32,
    set: Option<SetStage>,
) -> Link {
    let mut usual = Link { chapter, ..Link::default() };
    if let Some(set) = set {
        set(&mut usual);
    }
    if number == 0 {
        usual.view.clear();
    }
    Link { idea: number, ..usual }
}

/// How the beats set the stage. `Copy`: a handle of the frame.
#[derive(Clone, Copy)]
pub struct Beats {
    store: Store,
    sets: StoredValue<Vec<Option<SetStage>>>,
    /// The link as the last beat left it.
    told: StoredValue<Link>,
    /// Asks for the beat in focus to be brought into view.
    wanted: Trigger,
    pub number: Memo<u32>,
}

/// Beats with these ways to set the stage. A link that names one shows it as it sets the stage,
/// and what else the link says on top of that.
pub fn use_beats(store: Store, sets: Vec<Option<SetStage>>) -> Beats {
    let last = sets.len() as u32 - 1;
    let sets = StoredValue::new(sets);
    let link = store.link.get_untracked();
    let number = memo(move || store.link.with(|link| link.idea).min(last));
    let told = Link { chapter: link.chapter, seed: link.seed, ..Link::default() };
    let beats = Beats { store, sets, told: StoredValue::new(told), wanted: Trigger::new(), number };
    match store.take_way() {
        Some(Way::Address(given)) => {
            // An address that says more than the chapter, but names no beat, opens the chapter's own view.
            let names_beat = given.iter().any(|given| given == "idea");
            let says_more =
                !names_beat && given.iter().any(|given| !BARE.contains(&given.as_str()));
            beats.begin(&link, |name| {
                (name == VIEW && link.idea == 0 && says_more)
                    || given.iter().any(|given| given == name)
            });
        }
        Some(Way::Link) => beats.begin(&link, |_| false),
        None => {}
    }
    let usual = memo(move || {
        let chapter = store.link.with(|link| link.chapter);
        (chapter == link.chapter)
            .then(|| usual_stage(chapter, number.get(), beats.set_of(number.get())))
    });
    effect(move || {
        if let Some(usual) = usual.get() {
            store.usual.set(usual);
        }
    });
    beats
}

impl Beats {
    fn set_of(self, number: u32) -> Option<SetStage> {
        self.sets.with_value(|sets| sets.get(number as usize).copied().flatten())
    }

    pub fn count(self) -> u32 {
        self.sets.with_value(Vec::len) as u32
    }

    /// Begins with the beat of `link` as it sets the stage, but for what `is_given` besides. Without a beat, as
    /// where one comes back to a chapter, what the learner had set here stays too.
    fn begin(self, link: &Link, is_given: impl Fn(&str) -> bool) {
        let Some(set) = self.set_of(link.idea) else { return };
        let usual = self.told.get_value();
        let meant = staged(&usual, &usual, set);
        let mut next = link.clone();
        for setting in unroll_protocol::link::settings() {
            let [now, untouched, meant] = [link, &usual, &meant].map(|link| (setting.get)(link));
            // A chapter about the lab's model sets what is the lab's.
            let is_about =
                setting.of == Some(link.chapter) || setting.name == VIEW || meant != untouched;
            let stays = is_given(setting.name) || (link.idea == 0 && now != untouched);
            if is_about && !stays {
                (setting.set)(&mut next, meant);
            }
        }
        // A model that the link gives is the learner's, not this beat's.
        self.told.set_value(meant);
        if next != *link {
            self.store.link.set(next);
        }
    }

    /// Puts a beat in focus and sets the stage as it says.
    pub fn show(self, number: u32) {
        let number = number.min(self.count() - 1);
        let set = self.set_of(number);
        if set.is_some() && !is_printing() {
            motion::begin();
        }
        self.store.link.update(|link| {
            if let Some(set) = set {
                *link = self.told.with_value(|told| staged(link, told, set));
            }
            link.idea = number;
        });
        self.told.set_value(self.store.link.get_untracked());
    }

    /// Begins with the first beat, once the link is that of a newcomer.
    pub fn begin_anew(self) {
        self.told.set_value(self.store.link.get_untracked());
        self.show(0);
        self.wanted.notify();
    }

    /// The link as a beat tells of it: as it is, or as the beat will set it once it is in focus.
    fn told_of(self, number: u32) -> Link {
        let link = self.store.link.get();
        match self.set_of(number).filter(|_| self.number.get() != number) {
            Some(set) => self.told.with_value(|told| staged(&link, told, set)),
            None => link,
        }
    }

    /// The view that the beat sets, as links name it. One that is not in focus comes to be.
    pub(super) fn own_view(self, number: u32) -> String {
        if self.number.get_untracked() != number {
            self.show(number);
        }
        self.told.with_value(|told| told.view.clone())
    }

    /// Whether the beat has a stage of its own.
    pub fn sets_stage(self, number: u32) -> bool {
        self.set_of(number).is_some()
    }

    /// Whether showing the beat leaves the model that trains as it is.
    pub fn keeps_model(self, number: u32) -> bool {
        let Some(set) = self.set_of(number) else { return false };
        let now = self.store.link.get_untracked();
        let next = self.told.with_value(|told| staged(&now, told, set));
        model_of(&next) == model_of(&now)
    }

    /// The next beat, or the one before. Whether there is one.
    pub fn step(self, forward: bool) -> bool {
        let now = self.number.get_untracked();
        let next = if forward { now + 1 } else { now.saturating_sub(1) };
        let moves = next != now && next < self.count();
        if moves {
            self.show(next);
        }
        moves
    }
}

/// Around a beat's text: which one it is.
#[derive(Clone, Copy)]
pub(super) struct InBeat(pub u32);

/// A setting in a text. In a beat that is not in focus it reads as that beat sets it.
pub fn live_setting(name: &'static str, says: fn(&Link) -> String) -> Live {
    let read = move || {
        let store = expect_context::<Store>();
        let beat = use_context::<InBeat>().zip(use_context::<Beats>());
        let says = move || match beat {
            Some((InBeat(number), beats)) => says(&beats.told_of(number)),
            None => store.link.with(says),
        };
        let said = memo(says);
        live_words(move || said.get())
    };
    (name, ViewFn::from(read))
}

/// The list of the page's keys in index.html, by its id.
pub const KEYS: &str = "keys";

/// Page Down and Page Up, as presenters send them, move the beat from anywhere on the page but a
/// text of several lines; “?” opens or closes the list of keys, but in any text field.
pub fn use_page_keys(beats: Beats, moved: impl Fn() + 'static) {
    let listener = window_event_listener(ev::keydown, move |event| {
        let step = match event.key().as_str() {
            "PageDown" => Some(true),
            "PageUp" => Some(false),
            "?" => None,
            _ => return,
        };
        let is_typed = if step.is_some() { has_pages(&event) } else { is_text_field(&event) };
        if is_typed || event.default_prevented() {
            return;
        }
        event.prevent_default();
        match step {
            Some(forward) => {
                if beats.step(forward) {
                    moved();
                }
            }
            None => {
                let keys = document().get_element_by_id(KEYS);
                let _ = keys.map(|keys| keys.unchecked_into::<HtmlElement>().toggle_popover());
            }
        }
    });
    on_cleanup(move || listener.remove());
}

/// The column with the beats. The one in focus is in full ink.
#[component]
pub fn Story(
    title: &'static str,
    /// What the page is, above the title, where it is the first that one sees.
    #[prop(optional_no_strip)]
    what: Option<String>,
    /// One line: what the chapter before could not do.
    before: &'static str,
    /// Where the chapter is in the whole machine.
    place: AnyView,
    beats: Beats,
    told: Vec<Told>,
) -> impl IntoView {
    let column = NodeRef::<html::Section>::new();
    // Only what the learner's own hand scrolls moves the beat, not what the page scrolls itself.
    let by_hand = StoredValue::new(false);
    let settled = use_timer();
    let number = beats.number;
    // The beat that was brought into view stays there until the learner does something in the column, or
    // anywhere where the whole page scrolls, as on phones.
    let pinned = StoredValue::new(false);
    // What was at the column's top when the learner last did something.
    let top = StoredValue::new_local(None::<(Element, f64)>);
    let remember = move || {
        let found = column.try_get_untracked().flatten().and_then(|column| at_top(&column));
        if found.is_some() {
            top.try_set_value(found);
        }
    };
    let release = move || {
        let column = column.try_get_untracked().flatten().filter(|_| pinned.get_value());
        if column.is_some_and(|column| matches!(Scroller::of(&column), Scroller::Page)) {
            pinned.set_value(false);
        }
    };
    let touched = move || {
        remember();
        release();
    };
    let pressed = window_event_listener(ev::pointerdown, move |_| touched());
    let typed = window_event_listener(ev::keydown, move |_| touched());
    // What it scrolls in the column is remembered there.
    let wheeled = window_event_listener(ev::wheel, move |_| release());
    on_cleanup(move || {
        pressed.remove();
        typed.remove();
        wheeled.remove();
    });
    let bring = move || {
        by_hand.set_value(false);
        pinned.set_value(true);
        request_animation_frame(move || {
            if let Some(column) = column.try_get_untracked().flatten() {
                bring_into_view(&column, number.get_untracked());
            }
        });
    };
    use_page_keys(beats, bring);
    // A link may begin with a later one.
    column.on_load(move |column| {
        let number = number.get_untracked();
        if number > 0 {
            pinned.set_value(true);
            request_animation_frame(move || bring_into_view(&column, number));
        }
    });
    effect_with_last(move |before: Option<()>| {
        beats.wanted.track();
        if before.is_some() {
            bring();
        }
    });
    // Questions come and go with the models, above the beat too.
    let list = NodeRef::<html::Div>::new();
    let (height, size) = (use_size(list), use_size(column));
    effect_with_last(move |before: Option<[f64; 2]>| {
        let now = [height.get().height, size.get().height];
        if pinned.get_value()
            && before.is_some_and(|before| before != now)
            && let Some(column) = column.get_untracked()
        {
            bring_into_view(&column, number.get_untracked());
        }
        now
    });
    // What takes some of the column's width, as a twin does, or all of it for a while, does not take the
    // reader's place: what was at the top is there again.
    effect_with_last(move |before: Option<f64>| {
        let now = size.get().width;
        if before.is_some_and(|before| before != now)
            && let Some(column) = column.get_untracked()
        {
            by_hand.set_value(false);
            top.with_value(|top| {
                top.as_ref().map(|(element, down)| bring_back(&column, element, *down))
            });
        }
        now
    });
    let scrolled = move || {
        if !by_hand.get_value() {
            return;
        }
        settled.start(SETTLED, move || {
            let found = column.try_get_untracked().flatten().and_then(|column| beat_read(&column));
            if let Some(found) = found.filter(|found| *found != number.get_untracked()) {
                beats.show(found);
            }
        });
    };
    // Where the whole page scrolls, as on phones.
    let listener = window_event_listener(ev::scroll, move |_| scrolled());
    on_cleanup(move || listener.remove());
    let hand = move || {
        by_hand.set_value(true);
        pinned.set_value(false);
    };
    let step = move |forward: bool| {
        if beats.step(forward) {
            bring();
        }
    };
    let beat = move |(i, beat): (usize, Told)| {
        let i = i as u32;
        let current = move || number.get() == i;
        let focus = move |event: ev::MouseEvent| {
            let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
            let control = target
                .and_then(|t| {
                    t.closest("a, button:not(.beat-title), input, label, summary, select").ok()
                })
                .flatten();
            if control.is_none() && (!current() || beats.set_of(i).is_some()) {
                by_hand.set_value(false);
                beats.show(i);
            }
        };
        view! {
            <section class="beat" class:beat-on=current data-testid=format!("beat-{i}") data-beat=i.to_string()
                aria-current=move || current().then_some("step") on:click=focus>
                {(!beat.title.is_empty()).then(|| view! {
                    <h2><button type="button" class="beat-title">{beat.title}</button></h2>
                })}
                <div class="beat-body"><Provider value=InBeat(i)>{beat.body.run()}</Provider></div>
            </section>
        }
    };
    let last = beats.count() - 1;
    let titles = told.iter().map(|beat| beat.title).collect::<Vec<_>>();
    let next = memo(move || {
        let title = titles.get(number.get() as usize + 1);
        title.map(|title| format!("Next: {title}")).unwrap_or_default()
    });
    view! {
        <section class="story" aria-label="Story" data-testid="story" node_ref=column
            on:scroll=move |_| { remember(); scrolled(); } on:wheel=move |_| hand() on:touchmove=move |_| hand()
            on:keydown=move |event: ev::KeyboardEvent| {
                pinned.set_value(false);
                if matches!(event.key().as_str(), "ArrowDown" | "ArrowUp" | "Home" | "End" | " ") { hand() }
            }
            // The scroll bar. What is pressed in a beat may be scrolled to by the browser, not by the hand.
            on:pointerdown=move |event: ev::PointerEvent| {
                pinned.set_value(false);
                if event.target() == event.current_target() { hand() }
            }>
            <div class="story-head">
                {what.map(|what| view! { <p class="story-what">{what}</p> })}
                <h1 id="chapter-title" tabindex="-1">{title}</h1>
                <p class="chapter-before">{before}</p>
                <div class="story-map">{place}</div>
            </div>
            <div class="beats" node_ref=list>{told.into_iter().enumerate().map(beat).collect_view()}</div>
            <Neighbors/>
            <div class="story-steps" role="group" aria-label="Sections of the story">
                // The arrow beside it does the same, and says so to everyone.
                <span class="story-next" aria-hidden="true" on:click=move |_| step(true)>{next}</span>
                <button type="button" class="story-step" data-testid="idea-back" title="Page up"
                    aria-disabled=move || (number.get() == 0).then_some("true") on:click=move |_| step(false)>
                    <span aria-hidden="true">"↑"</span><span class="visually-hidden">"Previous section"</span>
                </button>
                <span class="story-place" role="status">{move || format!("{} of {}", number.get() + 1, last + 1)}</span>
                <button type="button" class="story-step" data-testid="idea-next" title="Page down"
                    aria-disabled=move || (number.get() == last).then_some("true") on:click=move |_| step(true)>
                    <span aria-hidden="true">"↓"</span><span class="visually-hidden">"Next section"</span>
                </button>
            </div>
        </section>
    }
    .into_any()
}

/// What scrolls the story: its own column, or the whole page, as on phones.
enum Scroller {
    Column,
    Page,
}

impl Scroller {
    fn of(column: &HtmlElement) -> Self {
        if column.scroll_height() > column.client_height() + 1 { Self::Column } else { Self::Page }
    }
}

/// The foot of the stage where it stands above the story, on the window.
fn stage_foot() -> f64 {
    let stage = document().query_selector(".stage").ok().flatten();
    stage.map_or(0.0, |stage| stage.get_bounding_client_rect().bottom())
}

/// Scrolls the beat to where it is read.
fn bring_into_view(column: &HtmlElement, number: u32) {
    let beat = column.query_selector(&format!("[data-beat=\"{number}\"]")).ok().flatten();
    let Some(beat) = beat else { return };
    let options = motion::scrolling();
    let top = beat.get_bounding_client_rect().top();
    match Scroller::of(column) {
        _ if number == 0 => {
            options.set_top(0.0);
            column.scroll_to_with_scroll_to_options(&options);
            window().scroll_to_with_scroll_to_options(&options);
        }
        Scroller::Column => {
            let rect = column.get_bounding_client_rect();
            let lead = rect.height() * LEAD;
            options.set_top(f64::from(column.scroll_top()) + top - rect.top() - lead);
            column.scroll_to_with_scroll_to_options(&options);
        }
        Scroller::Page => {
            let down = window().scroll_y().unwrap_or_default();
            options.set_top(down + top - stage_foot() - 16.0);
            window().scroll_to_with_scroll_to_options(&options);
        }
    }
}

/// The first line or control of the column that is in sight, and how far below its top that begins.
fn at_top(column: &HtmlElement) -> Option<(Element, f64)> {
    const PARTS: &str = "h1, h2, .beats p, .beats li, .beats button, .beats label, .beats summary";
    if column.client_height() == 0 || !matches!(Scroller::of(column), Scroller::Column) {
        return None;
    }
    let edge = column.get_bounding_client_rect().top();
    let parts = column.query_selector_all(PARTS).ok()?;
    (0..parts.length()).find_map(|i| {
        let part: Element = parts.get(i)?.unchecked_into();
        let rect = part.get_bounding_client_rect();
        (rect.height() > 0.0 && rect.bottom() > edge + 1.0).then(|| (part, rect.top() - edge))
    })
}

/// Scrolls the column so that this part of it begins so far below its top.
fn bring_back(column: &HtmlElement, part: &Element, down: f64) {
    if column.client_height() > 0 && column.contains(Some(part)) {
        let moved =
            part.get_bounding_client_rect().top() - column.get_bounding_client_rect().top() - down;
        column.set_scroll_top(column.scroll_top() + moved.round() as i32);
    }
}

/// The beat at the line that is read: at [`READ`] of the column's height, and in the last screen on its way to
/// the foot, so that the last beat has its turn.
fn beat_read(column: &HtmlElement) -> Option<u32> {
    let rect = column.get_bounding_client_rect();
    let (top, bottom, left, all) = match Scroller::of(column) {
        Scroller::Column => {
            let all = column.scroll_height() - column.client_height();
            (rect.top(), rect.bottom(), all - column.scroll_top(), all)
        }
        Scroller::Page => {
            let page = document().document_element()?;
            let all = page.scroll_height() - page.client_height();
            let down = window().scroll_y().unwrap_or_default() as i32;
            (stage_foot(), f64::from(page.client_height()), all - down, all)
        }
    };
    let height = bottom - top;
    let line = top + height * read_at(left.into(), all.into(), height);
    let beats = column.query_selector_all("[data-beat]").ok()?;
    let mut found = None;
    for i in 0..beats.length() {
        let beat: Element = beats.get(i)?.unchecked_into();
        if beat.get_bounding_client_rect().top() <= line || found.is_none() {
            found = beat.get_attribute("data-beat")?.parse().ok();
        }
    }
    found
}

/// Where in a column of this height the line is that is read, as a share: so much is `left` to scroll of `all`.
fn read_at(left: f64, all: f64, height: f64) -> f64 {
    if all > 0.0 { (1.0 - left / all.min(height)).clamp(READ, 1.0) } else { READ }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::link::Chapter;

    use super::*;

    #[test]
    fn the_line_that_is_read_sinks_to_the_foot_in_the_last_screen_alone() {
        let long = |left| read_at(left, 4000.0, 500.0);
        assert_eq!([4000.0, 500.0, 250.0, 0.0].map(long), [READ, READ, 0.5, 1.0]);
        let short = |left| read_at(left, 200.0, 500.0);
        assert_eq!([200.0, 100.0, 0.0].map(short), [READ, 0.5, 1.0]);
        assert_eq!(read_at(0.0, 0.0, 500.0), READ);
    }

    fn rnn() -> Link {
        Link { chapter: Chapter::Rnn, ..Link::default() }
    }

    #[test]
    fn a_beat_sets_the_stage_from_the_chapters_start() {
        let mut link = rnn();
        link.rnn.columns = 3;
        link.view = "writing".into();
        let next = staged(&link, &rnn(), |link| link.rnn.at = 5);
        assert_eq!((next.rnn.columns, next.rnn.at, next.view.as_str()), (rnn().rnn.columns, 5, ""));
    }

    #[test]
    fn a_model_the_learner_made_stays_unless_the_beat_is_about_another() {
        let mut link = rnn();
        link.rnn.hidden = 7;
        link.rnn.columns = 3;
        let next = staged(&link, &rnn(), |link| link.rnn.at = 5);
        assert_eq!((next.rnn.hidden, next.rnn.columns), (7, rnn().rnn.columns));
        assert_eq!(staged(&link, &rnn(), |link| link.rnn.hidden = 2).rnn.hidden, 2);
        // One that a beat has made goes with it.
        assert_eq!(staged(&link, &link, |_| {}).rnn.hidden, rnn().rnn.hidden);
    }
}
