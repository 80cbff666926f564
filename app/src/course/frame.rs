//! The frame of every chapter: the story beside the stage, or the stage alone where it is embedded.

use leptos::{
    context::Provider,
    html::{self, ElementType},
    prelude::*,
    tachys::html::node_ref::NodeRefContainer,
};
use unroll_protocol::{
    RunState,
    link::{Chapter, Part},
};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::{
    Beat, Further, Lab, Labs, Run, Script,
    aim::use_aim,
    cue::use_cue,
    list::part_ended_by,
    print::use_print,
    script::Telling,
    stage::{Stage, StageView},
    story::{Story, Told, use_beats, use_page_keys},
    twin::{Pane, Shown},
};
use crate::{
    chapters,
    controls::DivergedAlert,
    fetched::Settled,
    figures::{Sight, use_visible},
    questions::Questions,
    reactive::{effect, memo},
    store::{Device, Store},
    teaching::{Live, aim, prose},
};

/// A chapter's page, or its stage alone where it is embedded.
#[component]
pub fn ChapterFrame(
    /// What the chapter says.
    script: &'static Script,
    /// What heads the story in place of the chapter's title.
    #[prop(optional_no_strip)]
    headline: Option<&'static str>,
    /// What is live in it, by the names that it has there.
    #[prop(optional)]
    live: Vec<Live>,
    /// The questions that the live model answers, by id.
    #[prop(optional)]
    asks: Vec<(&'static str, ViewFn)>,
    /// Shows what the [`Further`] around it names: [`super::further`], or a part that has it.
    further: fn() -> AnyView,
    /// The beat that says why there was a training that nobody asked for.
    #[prop(optional)]
    warmed_in: usize,
    /// Formulas with their sources, and what differs between papers.
    #[prop(into, optional)]
    more: Option<ViewFn>,
    /// At most six tabs; the first is the chapter's own.
    views: Vec<StageView>,
    /// What has no body in a figure, grouped.
    #[prop(into, optional)]
    settings: Option<ViewFn>,
    /// The model in a few words: "tanh, 32 units".
    #[prop(into, optional)]
    model: Signal<String>,
    /// A line over the time bar that stays whichever view is on show.
    #[prop(into, optional)]
    foot: Option<ViewFn>,
) -> impl IntoView {
    if let Some(Pane(show)) = use_context() {
        return show(Shown { views, settings, model });
    }
    let store = expect_context::<Store>();
    let labs = expect_context::<Labs>();
    let (chapter, embedded, controls) =
        store.link.with_untracked(|l| (l.chapter, l.embed, !l.hides(Part::Controls)));
    let lab = labs.of(chapter);
    let info = chapters::info(chapter);
    // A chapter's own models take theirs when they are built.
    store.wants_head_start(if lab.is_none() { info.warm_steps } else { 0 });
    let run = chapter.has_model().then(|| Run::of(chapter));
    let testid = format!("chapter-{}", info.id.id());
    let behind = Signal::derive(move || is_behind(lab, store));
    let Settled(settled) = expect_context();
    effect(move || {
        let is_first = !settled.get_untracked();
        if is_first && run.is_none_or(|run| run.idle.get().is_none()) && !behind.get() {
            settled.set(true);
        }
    });
    // For hosts and tests: whether every picture in sight is of the model as it is now.
    let answers = move || if behind.get() { "behind" } else { "current" };

    provide_context(Telling { script, live: live.clone(), asks });
    let mut told = tell(script, live, further, warmed_in, chapter, lab);
    if let Some(more) = more {
        let body = ViewFn::from(move || {
            view! {
                <details class="disclosure course-more" data-testid="more">
                    <summary>"The formulas and where they come from"</summary>
                    <div class="course-more-text">{more.run()}</div>
                </details>
            }
        });
        told.push(Told { title: "More", body, set: None, aim: None });
    }
    let beats = use_beats(store, told.iter().map(|beat| beat.set).collect());
    use_aim(beats.number, told.iter().map(|beat| beat.aim).collect());
    let alerts = ViewFn::from(move || alerts(chapter));
    if embedded {
        // A stage that shows an idea can be led on from there. Any other leaves the keys to its host, whose
        // page they scroll: of a story that nobody sees they would change the views.
        if store.link.with_untracked(|link| link.idea > 0) {
            use_page_keys(beats, || {});
        }
        return view! {
            <main id="main" class="embed" data-testid=testid data-answers=answers>
                <Stage views settings model run alerts foot ways_back=false controls/>
            </main>
        }
        .into_any();
    }
    use_cue(beats.number);
    use_print(store, beats, behind);
    provide_context(beats);
    let what =
        headline.map(|_| format!("How language models work, in {} chapters", chapters::ALL.len()));
    // What it writes stands under the title; a figure has the height of a phone to itself.
    let is_landing =
        memo(move || headline.is_some() && store.link.with(|link| link.view == "writing"));
    if headline.is_some() {
        mark_first_look(store, is_landing);
    }
    view! {
        <main id="main" class="chapter" class:is-landing=is_landing data-testid=testid data-answers=answers>
            <Story title=headline.unwrap_or(info.title()) what before=script.before place=apart(further, Further::Place) beats told/>
            <Stage views settings model run alerts foot ways_back=true controls=true/>
        </main>
    }
    .into_any()
}

/// Has the style sheet know that the first screen is as one finds it: tools come with training. By a class, since a
/// selector that looks for all of this anew costs at each number that changes anywhere.
fn mark_first_look(store: Store, is_landing: Memo<bool>) {
    let mark = |is_first: bool| {
        if let Some(body) = document().body() {
            let _ = body.class_list().toggle_with_force("is-first-look", is_first);
        }
    };
    let is_first = memo(move || {
        is_landing.get()
            && store.link.with(|link| link.idea == 0)
            && store.step.get() == 0
            && store.state.get() != RunState::Running
            && store.device.with(|device| !matches!(device, Device::Unavailable(_)))
    });
    effect(move || mark(is_first.get()));
    on_cleanup(move || mark(false));
}

/// The script on the page: its beats with their questions, the experiments before the last. Where a
/// part of the course ends, its review comes between.
fn tell(
    script: &'static Script,
    live: Vec<Live>,
    further: fn() -> AnyView,
    warmed_in: usize,
    chapter: Chapter,
    lab: Option<Lab>,
) -> Vec<Told> {
    // Whether a question is in sight: only then the model is asked for its answer.
    let seen = RwSignal::new(Vec::<Signal<bool>>::new());
    if let Some(lab) = lab {
        effect(move || {
            lab.check_seen.set(seen.with(|seen| seen.iter().any(|seen| seen.get())));
        });
    }
    let live = StoredValue::new(live);
    let ask = move |id: &'static str| {
        let part = NodeRef::<html::Div>::new();
        let visible = use_visible(part);
        seen.update(|seen| seen.push(visible));
        view! {
            <div class="course-check" node_ref=part data-testid="check">
                {apart(further, Further::Ask(id))}
            </div>
        }
        .into_any()
    };
    // Why there was a training that nobody asked for.
    let warm = chapters::info(chapter).warm_steps;
    let store = expect_context::<Store>();
    let warmed = move || if lab.is_some() { warm } else { store.head_start() };
    let (step, state) = lab.map_or((store.step, store.state), |lab| (lab.step, lab.state));
    let done = move |steps: u32| {
        let (step, rests) = (step.get(), state.get() == RunState::Paused);
        match step {
            _ if step >= steps => format!("The first {steps} training steps were done for you."),
            // Who comes to a certain step, or stops on the way, is told nothing.
            1.. if rests => String::new(),
            _ => format!("Taking the first {steps} training steps for you…"),
        }
    };
    let beat = move |(at, beat): (usize, &'static Beat)| {
        let warms = warm > 0 && at == warmed_in;
        let body = move || {
            let text = live.with_value(|live| prose(beat.text, live));
            let warmed = move || {
                let steps = Some(warmed()).filter(|&steps| warms && steps > 0)?;
                Some(view! {
                    <p class="hint beat-warmed" data-testid="warmed">
                        {move || done(steps)}
                    </p>
                })
            };
            view! { {text} {warmed} {beat.asks.iter().map(|id| ask(id)).collect_view()} }
        };
        let aim = aim(beat.text).0;
        Told { title: beat.title, body: ViewFn::from(body), set: Some(beat.set), aim }
    };
    let mut told: Vec<Told> = script.beats.iter().enumerate().map(beat).collect();
    let extra = |title, what| Told {
        title,
        body: ViewFn::from(move || apart(further, what)),
        set: None,
        aim: None,
    };
    let last = told.len().saturating_sub(1);
    // The first chapter prepares: there is nothing to review.
    if chapter != Chapter::Start && part_ended_by(chapter).is_some() {
        told.insert(last, extra("Review", Further::Review));
    }
    told.insert(last, extra("Try it", Further::Tries));
    told
}

/// What is shown apart.
fn apart(further: fn() -> AnyView, what: Further) -> AnyView {
    view! { <Provider value=what>{further()}</Provider> }.into_any()
}

/// What is wrong with a chapter's run.
fn alerts(chapter: Chapter) -> AnyView {
    let Some(lab) = expect_context::<Labs>().of(chapter) else {
        return view! { <DivergedAlert/> }.into_any();
    };
    view! {
        <p class="field-error" role="alert" data-testid="lab-problem">
            {move || lab.problem.get().map(|problem| {
                let kept = lab.started.with(Option::is_some);
                format!("{problem}{}", if kept { " The previous model is still here." } else { "" })
            })}
            {move || lab.diverged.get().map(|step| format!(
                "Training stopped at step {step}: the numbers ran away, as they do where the learning \
                 rate is too high. Go back to the start, or undo the last change.",
            ))}
        </p>
    }
    .into_any()
}

/// Names one more part of the page that `sight` is about: the element that the reference is put on.
pub fn use_part<E>(sight: Sight) -> NodeRef<E>
where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
    NodeRef<E>: NodeRefContainer<E>,
{
    let part = NodeRef::new();
    sight.add(use_visible(part));
    part
}

/// Whether a picture on show is of an earlier model.
fn is_behind(lab: Option<Lab>, store: Store) -> bool {
    let questions = lab.map_or_else(|| store.into(), Questions::from);
    questions.behind.get() > 0
}
