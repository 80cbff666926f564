//! What is around the figure of every chapter.

use leptos::{
    html::{self, ElementType},
    prelude::*,
    tachys::html::node_ref::NodeRefContainer,
};
use unroll_protocol::link::Part;
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::{
    Idea, Labs,
    ideas::Ideas,
    list::Neighbours,
    transport::LabTransport,
    undo::{Undo, use_undo},
    use_lab,
};
use crate::{
    chapters,
    controls::TextChooser,
    figures::{Sight, use_visible},
    store::Store,
};

/// Which parts of a chapter's page are in sight; kept by its frame.
#[derive(Clone, Copy)]
pub struct Sights {
    /// The main figure with its controls.
    pub figure: RwSignal<bool>,
    /// The further figures, or any of them.
    pub further: RwSignal<bool>,
    /// The question to the learner.
    pub check: RwSignal<bool>,
}

impl Sights {
    /// Of a page that is not there yet.
    pub fn new() -> Self {
        let [figure, further, check] = [(); 3].map(|()| RwSignal::new(false));
        Self { figure, further, check }
    }
}

/// A chapter's page, or its figure alone where it is embedded.
#[component]
pub fn ChapterFrame(
    /// One line: what the chapter before could not do.
    before: &'static str,
    /// Short text: what this is and what to look at.
    #[prop(into)]
    intro: ViewFn,
    /// The main figure.
    #[prop(into)]
    figure: ViewFn,
    /// The few controls beside it.
    #[prop(into)]
    controls: ViewFn,
    /// Further figures, each in a panel of its own.
    #[prop(into, optional)]
    further: Option<ViewFn>,
    /// Formulas with their sources, and what differs between papers.
    #[prop(into)]
    more: ViewFn,
    /// Three to five experiments with a surprising result.
    tries: Vec<ViewFn>,
    /// A question answered from the live model.
    #[prop(into)]
    check: ViewFn,
    /// What the teacher's step goes through.
    ideas: &'static [Idea],
) -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let info = chapters::info(lab.chapter);
    let testid = format!("chapter-{}", info.id.id());
    let answers = move || answers_state(lab.behind.get() > 0);
    let (embedded, hidden) = store.link.with_untracked(|l| (l.embed, l.hide.clone()));
    if embedded {
        let shows = move |part| !hidden.contains(&part);
        // All there is.
        let main = use_region(lab.sights.figure);
        return view! {
            <main id="main" class="embed" node_ref=main data-testid=testid data-answers=answers>
                {shows(Part::Controls).then(|| view! { <LabTransport lab/> })}
                {shows(Part::Text).then(|| view! { <Ideas ideas/> })}
                {figure.run()}
                {shows(Part::Controls)
                    .then(|| view! { <div class="course-controls">{controls.run()}</div> })}
            </main>
        }
        .into_any();
    }
    let undo = use_undo(store);
    let (in_figure, in_further, in_check) = (
        use_region(lab.sights.figure),
        use_region(lab.sights.further),
        use_region(lab.sights.check),
    );
    let further = further.map(|further| further.run());
    view! {
        <main id="main" class="chapter course-chapter" data-testid=testid data-answers=answers>
            <div class="chapter-intro">
                <h1 id="chapter-title" tabindex="-1">{info.title}</h1>
                <p class="chapter-before">{before}</p>
                <div class="chapter-text">{intro.run()}</div>
            </div>
            <Ideas ideas/>
            <div class="lab course-lab">
                <div class="panel course-figure" node_ref=in_figure>
                    <LabTransport lab/>
                    {figure.run()}
                </div>
                <div class="panel course-side">
                    <h2>"Controls"</h2>
                    <div class="course-controls">{controls.run()}</div>
                    <WaysBack undo/>
                </div>
            </div>
            {further.map(|further| view! {
                <div class="course-further" node_ref=in_further>{further}</div>
            })}
            <div class="lab-below">
                <div class="panel">
                    <h2>"What to try"</h2>
                    <ol class="try-list">
                        {tries.into_iter().map(|t| view! { <li>{t.run()}</li> }).collect_view()}
                    </ol>
                </div>
                <div class="course-check" node_ref=in_check data-testid="check">{check.run()}</div>
                {info.uses_text.then(|| view! {
                    <div class="panel">
                        <h2>"The text it learns"</h2>
                        <TextChooser/>
                    </div>
                })}
                <details class="panel disclosure course-more" data-testid="more">
                    <summary>"More: the formulas and where they come from"</summary>
                    <div class="course-more-text">{more.run()}</div>
                </details>
            </div>
            <Neighbours/>
        </main>
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

/// For hosts and tests: whether every picture in sight is of the model as it is now.
pub fn answers_state(behind: bool) -> &'static str {
    if behind { "behind" } else { "current" }
}

/// A box of a chapter that knows whether it is in sight.
pub fn panel(class: &'static str, content: impl FnOnce(Signal<bool>) -> AnyView) -> AnyView {
    let root = NodeRef::<html::Div>::new();
    let content = content(use_visible(root));
    view! { <div class=class node_ref=root>{content}</div> }.into_any()
}

/// Keeps `seen` at whether the element is in sight that the reference is put on.
fn use_region<E>(seen: RwSignal<bool>) -> NodeRef<E>
where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
    NodeRef<E>: NodeRefContainer<E>,
{
    let region = NodeRef::new();
    let visible = use_visible(region);
    Effect::new(move |_| seen.set(visible.get()));
    region
}

/// Undo, and back to the chapter's start.
#[component]
fn WaysBack(undo: Undo) -> impl IntoView {
    let lab = use_lab();
    let labs = expect_context::<Labs>();
    view! {
        <div class="button-row">
            <button type="button" class="button button-quiet" data-testid="undo"
                aria-disabled=move || (!undo.is_possible()).then_some("true")
                on:click=move |_| undo.undo()>
                "Undo"
            </button>
            <button type="button" class="button button-quiet" data-testid="back-to-start"
                on:click=move |_| undo.back_to_start(&labs, lab.chapter)>
                "Back to the start"
            </button>
        </div>
    }
    .into_any()
}
