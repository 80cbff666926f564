//! A twin: a second run beside the one on the stage, from the same seed, on the same text and batches,
//! with something changed.
//!
//! The twin is the chapter itself, made a second time around a store whose link differs in what the
//! address says under `twin`. So every chapter has twins with no code of its own. What makes another
//! model is the twin's alone; what is looked at is the same in both. The run leads and the twin follows:
//! it takes as many steps, and it shows the same moment.

mod changes;
mod follow;

use leptos::{context::Provider, ev, html, prelude::*};
use unroll_protocol::{
    Link,
    link::{Chapter, Corpus, Setting, Value, words},
};

use super::{Labs, Run, StageView};
use crate::{
    chapters,
    controls::{four_digits, grouped, in_words},
    figures::{Second, motion, provide_exporters},
    questions::Questions,
    reactive::{effect, memo},
    store::Store,
};
pub use changes::{NO_CHANGE, changes, twin_of};
use follow::{follow_link, follow_run, follow_text};

/// What a chapter puts on a stage.
pub struct Shown {
    pub views: Vec<StageView>,
    pub settings: Option<ViewFn>,
    pub model: Signal<String>,
}

/// Around a chapter that is a twin: what shows it instead of the frame.
#[derive(Clone, Copy)]
pub struct Pane(pub fn(Shown) -> AnyView);

/// The run that leads, around its twin.
#[derive(Clone, Copy)]
struct Leader {
    store: Store,
    run: Run,
    /// Its settings: those that its model was built with.
    link: Memo<Link>,
    chapter: Chapter,
}

/// The twin of the run on the stage.
pub fn twin() -> AnyView {
    let (store, run) = (expect_context::<Store>(), expect_context::<Run>());
    let chapter = store.link.with_untracked(|link| link.chapter);
    let link = memo(move || {
        let link = store.link.get();
        match chapter.shows_lab() {
            true => store.built.with(|built| link.with_experiment_of(built)),
            false => link,
        }
    });
    let leader = Leader { store, run, link, chapter };
    let twin = match chapter.shows_lab() {
        true => store.lab_beside(leader.twin()),
        false => store.with_link(leader.twin()),
    };
    follow_link(leader, twin);
    follow_text(leader, twin);
    let labs = Labs::led(twin);
    labs.visit(chapter);
    let questions = labs.of(chapter).map_or_else(|| twin.into(), Questions::from);
    let behind = memo(move || is_behind(run.questions.shown(), questions.shown()));
    view! {
        <Provider value=leader>
            <Provider value=twin>
                <Provider value=labs>
                    <Provider value=Pane(pane)>
                        <Provider value=Second { behind: behind.into() }>{content(chapter)}</Provider>
                    </Provider>
                </Provider>
            </Provider>
        </Provider>
    }
    .into_any()
}

/// Whether a twin at one step is far behind a run at another. While both train it is always a little behind,
/// and the moments that can be looked at lie a little apart.
fn is_behind(run: u32, twin: u32) -> bool {
    run.saturating_sub(twin) > (run / 10).max(5)
}

/// The chapter a second time. What its figures export is not what a page around this one asks for.
fn content(chapter: Chapter) -> AnyView {
    provide_exporters();
    chapters::view(chapter)
}

impl Leader {
    /// The twin's link.
    fn twin(self) -> Link {
        untrack(|| self.link.with(|base| self.store.link.with(|link| twin_of(base, link))))
    }

    /// What the twin has otherwise: the setting's label, its value in this run, and that in the twin.
    fn differences(self) -> Vec<(&'static str, String, String)> {
        let changes = self.store.link.with(changes);
        let said = |(setting, value): (&'static Setting, Value)| {
            let label = words().find(|words| words.name == setting.name).map(|words| words.label);
            let own = self.link.with(|link| (setting.get)(link));
            Some((label?, in_words(setting, &own), in_words(setting, &value)))
        };
        changes.into_iter().filter_map(said).collect()
    }
}

/// The twin's own half of the stage, and above both halves what they differ in.
fn pane(shown: Shown) -> AnyView {
    let Shown { views, settings, model } = shown;
    let leader = expect_context::<Leader>();
    let store = expect_context::<Store>();
    let run = Run::of(leader.chapter);
    follow_run(leader, run);
    let names: Vec<&'static str> = views.iter().map(|view| view.id).collect();
    let current = memo(move || {
        let at = store.link.with(|link| names.iter().position(|id| *id == link.view));
        at.unwrap_or(0)
    });
    let views = StoredValue::new(views);
    if let Some(lab) = expect_context::<Labs>().of(leader.chapter) {
        effect(move || lab.stage.set(views.with_value(|views| views[current.get()].id)));
    }
    let on_show = move || {
        let (id, content) = views.with_value(|views| {
            let view = &views[current.get()];
            (view.id, view.content.clone())
        });
        view! { <div class="view" data-view=id>{untrack(|| content.run())}</div> }.into_any()
    };
    // Whoever asks for a twin wants to change something.
    let open = RwSignal::new(leader.store.link.with_untracked(|link| link.twin == NO_CHANGE));
    let opener = NodeRef::<html::Button>::new();
    let close_panel = move || {
        open.set(false);
        if let Some(opener) = opener.get_untracked() {
            let _ = opener.focus();
        }
    };
    let end = move |_| leader.store.link.update(|link| link.twin.clear());
    let list = move |twin: bool| {
        let one = move |(label, own, theirs): (&'static str, String, String)| {
            let value = if twin { theirs } else { own };
            view! { <span class="twin-value">{label}": "<strong translate="no">{value}</strong></span> }
        };
        move || leader.differences().into_iter().map(one).collect_view()
    };
    let differs = memo(move || !leader.differences().is_empty());
    let loss_of = |run: Run| {
        move || {
            let value = run.readings.with(|all| all.first().and_then(|reading| reading.value));
            value.map_or_else(|| "–".to_owned(), four_digits)
        }
    };
    let step_of = |run: Run| move || grouped(run.questions.shown().into());
    let Second { behind } = expect_context();
    let catching_up = move || {
        behind.get().then(|| view! {
            <span class="twin-late" data-testid="twin-late">
                {format!("catching up to step {}", grouped(leader.run.questions.shown().into()))}
            </span>
        })
    };
    // On a phone the two halves are a swipe apart.
    let turn = |name: &'static str, to_twin: bool, label: &'static str| {
        view! {
            <button type="button" class="twin-turn" data-testid=name on:click=move |_| show_half(to_twin)>{label}</button>
        }
    };
    let answers = move || if run.questions.behind.get() > 0 { "behind" } else { "current" };
    view! {
        <div class="twin-bar twin-own" data-testid="twin-own">
            // Where two stages leave the story no room, its heading is here.
            <h1 class="twin-title">{leader.chapter.label()}</h1>
            <span class="twin-name">"This run"</span>
            {list(false)}
            <span class="twin-numbers" translate="no">
                "step "{step_of(leader.run)}", loss "{loss_of(leader.run)}
            </span>
            {turn("twin-there", true, "Its twin →")}
        </div>
        <div class="twin-bar" data-testid="twin-bar">
            <span class="twin-name">"Its twin"</span>
            {list(true)}
            {move || (!differs.get()).then(|| view! {
                <span class="twin-value">"the same so far"</span>
            })}
            <span class="twin-numbers" translate="no">
                "step "<span data-testid="twin-step">{step_of(run)}</span>
                ", loss "<span data-testid="twin-loss">{loss_of(run)}</span>
            </span>
            {catching_up}
            <span class="twin-tools">
                {turn("twin-back", false, "← Run")}
                {settings.is_some().then(|| view! {
                    <button type="button" class="stage-open" node_ref=opener data-testid="twin-change"
                        title=move || format!("Change the twin’s model ({})", model.get())
                        aria-expanded=move || open.get().to_string() aria-controls="twin-panel"
                        on:click=move |_| open.update(|open| *open = !*open)>
                        "Change"
                        <span class="stage-caret" aria-hidden="true">"▼"</span>
                    </button>
                })}
                <button type="button" class="stage-close" aria-label="End the twin" title="End the twin"
                    data-testid="twin-end" on:click=end>
                    "×"
                </button>
            </span>
        </div>
        // A form of its own: its radio buttons are not those of the run.
        <form class="stage-view twin-view" aria-label="The twin" data-testid="twin" data-answers=answers
            on:submit=|event| event.prevent_default()>
            {on_show}
            {settings.map(|settings| view! {
                <section class="stage-panel" id="twin-panel" aria-label="The twin’s settings"
                    data-testid="twin-panel" tabindex="-1" hidden=move || !open.get()
                    on:keydown=move |event: ev::KeyboardEvent| if event.key() == "Escape" {
                        event.stop_propagation();
                        close_panel();
                    }>
                    <div class="stage-panel-head">
                        <h2>"Change one thing in the twin"</h2>
                        <button type="button" class="stage-close" aria-label="Close" data-testid="twin-panel-close"
                            on:click=move |_| close_panel()>
                            "×"
                        </button>
                    </div>
                    {chapters::info(leader.chapter).uses_text.then(|| text_field(leader, store))}
                    {settings.run()}
                </section>
            })}
        </form>
    }
    .into_any()
}

/// Scrolls to the run's half of the stage, or to the twin's.
fn show_half(twin: bool) {
    let pair = document().query_selector(".stage-twins").ok().flatten();
    let Some(pair) = pair else { return };
    let options = motion::scrolling();
    options.set_left(if twin { f64::from(pair.scroll_width()) } else { 0.0 });
    pair.scroll_to_with_scroll_to_options(&options);
}

/// The choice of the text that the twin learns: one of the page's, or that of the run.
fn text_field(leader: Leader, twin: Store) -> AnyView {
    let own = leader.store.source.with_untracked(|source| source.corpus == Corpus::Own);
    let choices = Corpus::ALL.iter().filter(move |corpus| own || **corpus != Corpus::Own);
    let now = move || twin.link.with(|link| link.corpus.id());
    let choose = move |event| {
        if let Some(corpus) = Corpus::from_id(&event_target_value(&event)) {
            twin.link.update(|link| link.corpus = corpus);
        }
    };
    view! {
        <div class="fields">
            <div class="field">
                <label for="twin-text">"Text"</label>
                <select id="twin-text" data-testid="twin-text" prop:value=now on:change=choose>
                    {choices.map(|corpus| view! {
                        <option value=corpus.id() selected=move || now() == corpus.id()>{corpus.label()}</option>
                    }).collect_view()}
                </select>
            </div>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::is_behind;

    #[test]
    fn a_twin_that_was_added_late_is_behind_until_it_has_caught_up() {
        assert!(is_behind(300, 0) && is_behind(300, 250) && is_behind(12, 6));
        assert!(!is_behind(300, 280) && !is_behind(300, 300) && !is_behind(12, 8));
        assert!(!is_behind(0, 40), "a run that has started over");
    }
}
