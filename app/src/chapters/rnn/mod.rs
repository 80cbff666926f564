//! `rnn`: one cell with a loop, unrolled step by step.

mod arithmetic;
mod check;
mod matrix;
mod notebooks;
mod recovery;
mod unrolled;
mod unroller;
mod words;
mod writing;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Link, RunState,
    link::Chapter,
    study::rnn::{self, CellChoice, Edit, MatrixChoice, ReadoutChoice, Unrolled},
};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{
        ChapterFrame, Lab, Sentence, StageView, further, use_lab, use_provenance, use_setting,
    },
    figures::{Dash, Hue, Line, Lines, LinesFigure, Provenance, Slot, YScale, motion::is_still},
    questions::{Answered, use_answer},
    reactive::{effect, memo},
    store::Store,
    teaching::{Live, live},
};
use arithmetic::SumView;
use check::Check;
use recovery::RecoveryView;
use unrolled::{Diagram, Lap, UnrolledFigure};
use unroller::{EditBar, Unroller};
use writing::WritingView;

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Rnn,
    warm_steps: 120,
    curves: 2,
    uses_text: true,
    view: || view! { <RnnChapter/> }.into_any(),
};

/// Views that show the sentence step by step.
const UNROLLED: &str = "unrolled";
const SUM: &str = "sum";

/// What the parts of the chapter share. `Copy`: signals owned by the chapter's view.
#[derive(Clone, Copy)]
pub struct Shared {
    store: Store,
    lab: Lab,
    columns: Slot<u32>,
    at: Slot<u32>,
    unit: Slot<u32>,
    matrix: Slot<MatrixChoice>,
    edit: Slot<u32>,
    letter: Slot<u32>,
    answered: Answered<Unrolled>,
    /// The last answer to what is on show.
    all: Signal<Option<Arc<Unrolled>>>,
    provenance: Signal<Provenance>,
    /// Whether only the end is read out, which has no writing.
    end_only: Memo<bool>,
    running: Memo<bool>,
}

impl Shared {
    fn new() -> Self {
        let (store, lab) = (expect_context::<Store>(), use_lab());
        let edit = use_setting(|link: &mut Link| &mut link.rnn.edit);
        let letter = use_setting(|link: &mut Link| &mut link.rnn.letter);
        let example = use_setting(|link: &mut Link| &mut link.rnn.example);
        let answered = use_answer(lab, move || {
            let position = edit.get().checked_sub(1);
            let edit = position.zip(char::from_u32(letter.get()));
            Some(rnn::ask::Unrolled {
                text: store.probe.get(),
                edit: edit.map(|(position, letter)| Edit { position, letter }),
                example: example.get(),
            })
        })
        .shown_in(lab.on_view(UNROLLED))
        .shown_in(lab.on_view(SUM));
        Self {
            store,
            lab,
            columns: use_setting(|link: &mut Link| &mut link.rnn.columns),
            at: use_setting(|link: &mut Link| &mut link.rnn.at),
            unit: use_setting(|link: &mut Link| &mut link.rnn.unit),
            matrix: use_setting(|link: &mut Link| &mut link.rnn.matrix),
            edit,
            letter,
            answered,
            all: answered.answer,
            provenance: use_provenance(),
            end_only: memo(move || store.link.with(|link| link.rnn.readout == ReadoutChoice::End)),
            running: memo(move || lab.state.get() == RunState::Running),
        }
    }
}

#[component]
fn RnnChapter() -> impl IntoView {
    let shared = Shared::new();
    // A state of fewer units may have lost the one whose arithmetic was open.
    effect(move || {
        let hidden = shared.store.link.with(|link| link.rnn.hidden);
        if shared.unit.get() > hidden {
            shared.unit.set(1);
            shared.at.set(0);
        }
    });
    let model = Signal::derive(move || {
        shared.store.link.with(|link| {
            let cell = match link.rnn.cell {
                CellChoice::Tanh => "tanh",
                CellChoice::Sigmoid => "sigmoid",
            };
            format!("{cell}, {} units", link.rnn.hidden)
        })
    });
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(shared)
            asks=vec![
                ("rnn", ViewFn::from(move || view! { <Check shared/> })),
                ("rnn-weights", ViewFn::from(move || check::weights(shared))),
            ]
            more=words::more
            views=vec![
                StageView::new(UNROLLED, "Unrolled", move || view! { <UnrolledView shared/> }),
                StageView::new(SUM, "One unit’s sum", move || view! { <SumView shared/> }),
                StageView::new("writing", "Writing", move || view! { <WritingView shared/> }),
                StageView::new("recovery", "Recovery", move || view! { <RecoveryView shared/> }),
                StageView::new("loss", "Loss", move || view! { <LossView shared/> }),
            ]
            settings=move || view! { <Controls shared/> }
            model
        />
    }
}

/// What the text reads off sentence and settings.
fn lives(shared: Shared) -> Vec<Live> {
    let store = shared.store;
    let length =
        memo(move || shared.all.with(|all| all.as_ref().map(|all| all.run.ids.len().to_string())));
    vec![
        live("units", move || store.link.with(|link| link.rnn.hidden.to_string())),
        live("length", move || length.get().unwrap_or_else(|| "…".into())),
        // Where the learner took it back, as the beat has set it.
        live("edit", move || match shared.edit.get() {
            0 => "5".into(),
            at => at.to_string(),
        }),
        live("odd", move || match store.link.with(|link| link.rnn.odd) {
            0 => "20".into(),
            at => at.to_string(),
        }),
    ]
}

/// The sentence, the buttons that unroll it, the diagram, and what is edited in it.
#[component]
fn UnrolledView(shared: Shared) -> impl IntoView {
    let Shared { lab, store, columns, at, unit, .. } = shared;
    let diagram = Signal::derive(move || {
        let columns = columns.get();
        shared.all.with(|all| {
            all.as_ref().map_or_else(Diagram::default, |all| {
                Diagram::new(all, columns, untrack(|| lab.shown()))
            })
        })
    });
    let length =
        memo(move || shared.all.with(|all| all.as_ref().map_or(0, |all| all.run.ids.len() as u32)));
    // About the edit there is another place for it.
    let problem =
        Signal::derive(move || shared.answered.problem.get().filter(|_| shared.edit.get() == 0));
    // Around the loop: by itself where a beat tells of it, and whenever the learner asks.
    let lap = Lap::new();
    let idea = memo(move || store.link.with(|link| link.idea));
    effect(move || lap.begin(idea.get() == words::LOOP_IN && !is_still()));
    let field = NodeRef::new();
    let on_edit = Callback::new(move |t: usize| unroller::begin_edit(shared, t, field));
    let on_open = Callback::new(move |()| arithmetic::open(store));
    let on_matrix = Callback::new(move |part: String| {
        shared.matrix.set(MatrixChoice::from_id(&part).unwrap_or(MatrixChoice::None));
        arithmetic::open(store);
    });
    view! {
        <div class="view-fill rnn-room">
            <Sentence label="Sentence to unroll" problem/>
            <p class="view-note rnn-note" role="status" data-testid="rnn-note">
                {move || unroller::note(shared)}
            </p>
            <UnrolledFigure diagram columns at unit on_open on_edit on_matrix lap provenance=shared.provenance>
                <Unroller shared length lap/>
            </UnrolledFigure>
            <EditBar shared field/>
        </div>
    }
    .into_any()
}

/// What builds the model anew, and which string is read.
#[component]
fn Controls(shared: Shared) -> impl IntoView {
    view! {
        <div class="course-controls">
            <SliderField name="rnn-hidden"/>
            <ChoiceField name="rnn-cell"/>
            <ChoiceField name="rnn-readout"/>
            <Show when=move || shared.end_only.get()>
                <SliderField name="rnn-example" most=40.0/>
            </Show>
        </div>
    }
    .into_any()
}

/// What was measured while training.
#[component]
fn LossView(shared: Shared) -> impl IntoView {
    let lines = Signal::derive(move || {
        let styles = [
            (Hue::First, Dash::Solid),
            (Hue::Second, Dash::Solid),
            (Hue::First, Dash::Dashed),
            (Hue::Second, Dash::Dashed),
        ];
        let end_only = shared.end_only.get();
        shared.lab.history.with(|history| {
            // Shares and losses do not belong on one axis.
            let shown = history
                .series()
                .iter()
                .zip(styles)
                .filter(|(series, _)| !end_only || series.is_share());
            Lines {
                x_label: "training steps".into(),
                y_label: if end_only { "share judged correctly" } else { "nats per character" }
                    .into(),
                series: shown
                    .map(|(series, (hue, dash))| {
                        Line::new(series.name.clone(), hue, dash, series.points())
                    })
                    .collect(),
                y_scale: if end_only { YScale::Linear } else { YScale::Close },
                y_range: end_only.then_some((0.0, 1.0)),
                x_range: Lines::steps(history.last_step()),
                ..Lines::default()
            }
        })
    });
    let title = Signal::derive(move || {
        if shared.end_only.get() { "Strings judged correctly" } else { "Loss of both networks" }
            .to_owned()
    });
    view! {
        <div class="view-fill rnn-room">
            <LinesFigure name="rnn-loss" title lines provenance=shared.provenance
                hint="Press Train: one point per step."/>
        </div>
    }
    .into_any()
}
