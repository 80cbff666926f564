//! The stage: the chapter's views as tabs, the one on show, the settings, and the time bar.

use leptos::{context::Provider, ev, html, prelude::*};
use unroll_protocol::{
    Link, StudySpec,
    link::{Chapter, Part},
    study,
};
use wasm_bindgen::JsCast;

use super::{
    Labs, Run,
    aim::from_the_start,
    time_bar::TimeBar,
    twin::{self, NO_CHANGE},
    undo::WAYS_BACK,
};
use crate::{
    chapters,
    controls::TextChooser,
    fetched::{Fetch, Fetched, Settled, View, fetched, fetched_later, part},
    figures::{
        canvas::use_size,
        reading::is_shortcut,
        scroll::{self, Land, place_in},
        use_visible,
    },
    kept,
    reactive::{effect, effect_with_last, memo},
    store::{Severity, Store},
};

/// One view of a chapter: what a tab puts on the stage. It is made when it comes on show and
/// unmade when another does, so only what is on show is asked for and painted.
pub struct StageView {
    /// Its name in links.
    pub id: &'static str,
    /// What one sees, in a word or three.
    pub title: &'static str,
    pub content: ViewFn,
    /// Whether it shares the tab of the view before it, which offers it in its own words.
    shares: bool,
}

impl StageView {
    pub fn new(id: &'static str, title: &'static str, content: impl Into<ViewFn>) -> Self {
        Self { id, title, content: content.into(), shares: false }
    }

    /// A view on the tab of the one before it: the two choose between them, with a [`ViewSwitch`].
    ///
    /// [`ViewSwitch`]: crate::controls::ViewSwitch
    pub fn shared(id: &'static str, content: impl Into<ViewFn>) -> Self {
        Self { shares: true, ..Self::new(id, "", content) }
    }
}

/// The stage.
#[component]
pub fn Stage(
    views: Vec<StageView>,
    /// What remains to be set beside the figure, grouped; `None` where nothing does.
    settings: Option<ViewFn>,
    /// The model in a few words.
    model: Signal<String>,
    /// `None` where there is no model.
    run: Option<Run>,
    /// What is wrong with the run, where something is.
    alerts: ViewFn,
    /// A line over the time bar that stays whichever view is on show.
    foot: Option<ViewFn>,
    /// Whether changes can be undone.
    ways_back: bool,
    /// Whether settings and the time bar are there.
    controls: bool,
) -> impl IntoView {
    let store = expect_context::<Store>();
    let labs = expect_context::<Labs>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    let uses_text = chapters::info(chapter).uses_text
        && !store.link.with_untracked(|link| link.hides(Part::Text));
    // What comes from elsewhere learns nothing here, and has no twin.
    let given = memo(move || chapter.shows_lab() && store.is_given());
    let names: Vec<&'static str> = views.iter().map(|view| view.id).collect();
    let known = names.clone();
    let current = memo(move || {
        let at = store.link.with(|link| known.iter().position(|id| *id == link.view));
        at.unwrap_or(0)
    });
    let unknown = store.link.with_untracked(|link| link.view.clone());
    if !unknown.is_empty() && !names.contains(&unknown.as_str()) {
        let sentence = format!(
            "The link says view=“{unknown}”, which this chapter does not have; its first view is shown."
        );
        store.notify(Severity::Refusal, sentence);
        store.link.update(|link| link.view.clear());
    }
    store.views.set_value(names.clone());
    let names = StoredValue::new(names);
    let choose = move |index: usize| {
        let id = names.with_value(|names| names[index]);
        let view = if index == 0 { "" } else { id };
        if store.link.with_untracked(|link| link.view != view) {
            store.link.update(|link| link.view = view.to_owned());
        }
    };
    // The views that have a tab, and the tab of the view on show.
    let own: Vec<usize> = (0..views.len()).filter(|at| !views[*at].shares).collect();
    let own = StoredValue::new(own);
    let tab_on = memo(move || {
        let at = current.get();
        own.with_value(|own| own.partition_point(|tab| *tab <= at) - 1)
    });
    // Arrow keys move along the tabs, as in every tab list.
    let tabs = NodeRef::<html::Div>::new();
    let on_key = move |event: ev::KeyboardEvent| {
        if is_shortcut(&event) {
            return;
        }
        let (now, count) = (tab_on.get_untracked(), own.with_value(Vec::len));
        let next = match event.key().as_str() {
            "ArrowLeft" => (now + count - 1) % count,
            "ArrowRight" => (now + 1) % count,
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        choose(own.with_value(|own| own[next]));
        if let Some(tab) = tabs.get_untracked().and_then(|tabs| tabs.children().item(next as u32)) {
            let _ = tab.unchecked_into::<web_sys::HtmlElement>().focus();
        }
    };
    // On a phone the tabs scroll: the chosen one is in sight, with the edge of its neighbor.
    let room = use_size(tabs);
    effect(move || {
        let (at, _) = (tab_on.get(), room.get());
        request_animation_frame(move || {
            if let Some(tabs) = tabs.try_get_untracked().flatten() {
                show_tab(&tabs, at as u32);
            }
        });
    });
    let root = NodeRef::<html::Section>::new();
    let seen = use_visible(root);
    if let Some(lab) = labs.of(chapter) {
        effect(move || {
            let on_show = names.with_value(|names| names[current.get()]);
            lab.stage.set(if seen.get() { on_show } else { "" });
        });
    }
    let tab = |(tab, &at): (usize, &usize)| {
        let on = move || tab_on.get() == tab;
        let view = &views[at];
        view! {
            <button type="button" class="view-tab" role="tab" id=format!("view-{}", view.id) data-title=view.title
                data-testid=format!("view-{}", view.id) aria-controls="stage-view"
                aria-selected=move || if on() { "true" } else { "false" }
                tabindex=move || if on() { "0" } else { "-1" }
                on:click=move |_| choose(at)>
                {view.title}
            </button>
        }
    };
    let tabs_view = own.with_value(|own| own.iter().enumerate().map(tab).collect_view());
    let contents: Vec<(&'static str, ViewFn)> =
        views.into_iter().map(|view| (view.id, view.content)).collect();
    let contents = StoredValue::new(contents);
    let on_show = move || {
        let (id, content) = contents.with_value(|contents| contents[current.get()].clone());
        view! { <div class="view" data-view=id>{untrack(|| content.run())}</div> }.into_any()
    };
    // Each view and each beat begins at the view's top, though its box is that of the one before.
    let box_of_view = NodeRef::<html::Div>::new();
    let beat = memo(move || store.link.with(|link| link.idea));
    effect_with_last(move |before: Option<(usize, u32)>| {
        let now = (current.get(), beat.get());
        if before.is_some_and(|before| before != now)
            && let Some(view) = box_of_view.get_untracked().and_then(|it| it.first_element_child())
        {
            from_the_start(&view);
        }
        now
    });
    let open = RwSignal::new(None::<&'static str>);
    let more = RwSignal::new(false);
    let toggle = move |panel: &'static str| {
        more.set(false);
        open.update(|open| *open = if *open == Some(panel) { None } else { Some(panel) });
        if open.get_untracked() == Some(panel) {
            // Where Escape closes it, and the next Tab is its first control. It is hidden until then.
            request_animation_frame(move || focus_on(&format!("{panel}-panel")));
        }
    };
    let opener = move |panel: &'static str,
                       kind: &'static str,
                       short: &'static str,
                       label: Signal<String>| {
        view! {
            <button type="button" class="stage-open" data-testid=format!("{panel}-open") id=format!("{panel}-open")
                title=move || format!("{kind}: {}", label.get())
                aria-expanded=move || if open.get() == Some(panel) { "true" } else { "false" }
                aria-controls=format!("{panel}-panel") on:click=move |_| toggle(panel)>
                {(panel == "settings").then(|| view! {
                    <svg class="stage-sliders" viewBox="0 0 16 16" aria-hidden="true">
                        <path d="M1 4h8m4 0h2M1 12h2m4 0h8"/><circle cx="11" cy="4" r="2"/><circle cx="5" cy="12" r="2"/>
                    </svg>
                })}
                <span class="stage-open-long"><span class="stage-open-kind">{kind}": "</span>{label}</span>
                <span class="stage-open-short" aria-hidden="true">{short}</span>
                <span class="stage-caret" aria-hidden="true">"▼"</span>
            </button>
        }
    };
    let close = move || {
        let Some(panel) = open.get_untracked() else { return };
        open.set(None);
        // On a phone that button is behind another.
        focus_on(&format!("{panel}-open"));
        focus_on("stage-more-open");
    };
    let Settled(settled) = expect_context();
    let panel = move |id: &'static str, title: &'static str, content: ViewFn| {
        // Made when it is opened, or once the first picture is there.
        let made = Memo::new(move |before: Option<&bool>| {
            before == Some(&true) || settled.get() || open.get() == Some(id)
        });
        view! {
            <section class="stage-panel" id=format!("{id}-panel") aria-label=title data-testid=format!("{id}-panel")
                tabindex="-1"
                hidden=move || open.get() != Some(id)
                on:keydown=move |event: ev::KeyboardEvent| if event.key() == "Escape" {
                    event.stop_propagation();
                    close();
                }>
                <div class="stage-panel-head">
                    <h2>{title}</h2>
                    <button type="button" class="stage-close" aria-label="Close" data-testid=format!("{id}-close")
                        on:click=move |_| close()>
                        "×"
                    </button>
                </div>
                {move || made.get().then(|| untrack(|| content.run()))}
            </section>
        }
    };
    // Of a task that is made up the text decides nothing.
    let learns_text =
        memo(move || uses_text && !given.get() && store.link.with(|link| !is_made_up(link)));
    let has_twin = memo(move || store.link.with(|link| !link.twin.is_empty()));
    let toggle_twin = move |_| {
        store.link.update(|link| {
            link.twin = if link.twin.is_empty() { NO_CHANGE.to_owned() } else { String::new() };
        });
    };
    let text = Signal::derive(move || store.source.with(|source| source.name.clone()));
    view! {
        <section class="stage" aria-label="Stage" data-testid="stage" node_ref=root
            data-trains=if run.is_some() { "yes" } else { "never" }>
            <div class="views">
                <div class="view-tabs" role="tablist" aria-label="Views" node_ref=tabs on:keydown=on_key>
                    {tabs_view}
                </div>
                {controls.then(|| view! {
                    <div class="stage-tools">
                        // On a phone they are behind one button.
                        <button type="button" class="stage-icon stage-more-open" data-testid="stage-more" id="stage-more-open"
                            aria-label="More" title="Text, model and more" aria-controls="stage-more"
                            aria-expanded=move || more.get().to_string() on:click=move |_| more.update(|more| *more = !*more)>
                            "⋯"
                        </button>
                        <div class="stage-more" id="stage-more" class:stage-more-on=more>
                            {ways_back.then(|| view! {
                                <div class="ways-back">{fetched_later(WAYS_BACK, "Undo")}</div>
                            })}
                            {move || (run.is_some() && ways_back && !given.get()).then(|| view! {
                                <button type="button" class="stage-open stage-twin" data-testid="twin-open"
                                    title="Train a second run beside this one, with one thing changed"
                                    aria-pressed=move || has_twin.get().to_string() on:click=toggle_twin>
                                    <span class="stage-open-long">"Twin"</span>
                                    <span class="stage-open-short" aria-hidden="true"></span>
                                </button>
                            })}
                            <div class="stage-openers">
                                {move || learns_text.get().then(|| opener("source", "Text", "Text", text))}
                                {settings.is_some().then(|| opener("settings", "Settings", "Model", model))}
                            </div>
                        </div>
                    </div>
                })}
            </div>
            <div class="stage-pair" class:stage-twins=has_twin>
            <div class="stage-view" id="stage-view" role="tabpanel" node_ref=box_of_view
                aria-labelledby=move || {
                    let tab = own.with_value(|own| own[tab_on.get()]);
                    format!("view-{}", names.with_value(|names| names[tab]))
                }>
                {on_show}
                {controls.then(|| view! {
                    {uses_text.then(|| panel("source", "The text it learns", ViewFn::from(text_chooser)))}
                    {settings.clone().map(|settings| {
                        panel("settings", "The model", ViewFn::from(move || view! { {notes(chapter)} {settings.run()} {model_file(chapter)} }))
                    })}
                })}
            </div>
            {run.map(|run| move || has_twin.get().then(|| view! {
                <Provider value=run>
                    <Fetched fetch=TWIN what="The twin" style=Some("twin") around=|notice| notice/>
                </Provider>
            }))}
            </div>
            <div class="stage-alerts">{alerts.run()}</div>
            {foot.map(|foot| foot.run())}
            {run.filter(|_| controls).map(|run| view! { <TimeBar run/> })}
        </section>
    }
    .into_any()
}

/// Whether the chapter on show trains its models on a made-up task in place of the text.
fn is_made_up(link: &Link) -> bool {
    match link.study() {
        Some(StudySpec::Gates(spec)) => spec.task != study::gates::TaskChoice::Text,
        Some(StudySpec::Birnn(spec)) => spec.task == study::birnn::TaskChoice::Look,
        _ => false,
    }
}

const TWIN: Fetch = part!(twin: View = twin::twin);

const TEXT_CHOOSER: Fetch = part!(text_chooser: View = || view! { <TextChooser/> }.into_any());

fn text_chooser() -> AnyView {
    fetched(TEXT_CHOOSER, "The choice of texts")
}

/// Gives the keyboard to the element with this id.
fn focus_on(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        let _ = element.unchecked_into::<web_sys::HtmlElement>().focus();
    }
}

/// The way to save a chapter's models and to open others; the lab's has one in its settings.
fn model_file(chapter: Chapter) -> Option<AnyView> {
    expect_context::<Labs>().of(chapter)?;
    Some(fetched_later(kept::STUDY_FILE, "The part for model files"))
}

/// What a chapter's model says of itself.
fn notes(chapter: Chapter) -> Option<AnyView> {
    let lab = expect_context::<Labs>().of(chapter)?;
    let notes = view! {
        <p class="hint lab-notes" data-testid="lab-notes">
            {move || lab.started.with(|started| started.as_ref().map(|s| s.notes.join(" ")))}
        </p>
    };
    Some(notes.into_any())
}

/// Scrolls the tabs so that the one at this place is seen whole, and a little of what is beside it.
fn show_tab(tabs: &web_sys::Element, at: u32) {
    const BESIDE: f64 = 32.0;
    if let Some(tab) = tabs.children().item(at) {
        scroll::across(tabs, place_in(tabs, &tab)[0], Land::AtEdge(BESIDE));
    }
}
