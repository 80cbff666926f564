//! `bptt`: how the gradient goes back through time, in an RNN, an LSTM and a GRU that learn the same
//! task side by side.

mod curves;
mod formulas;
mod notebooks;
mod nudge;
mod said;
mod terms;
mod text;
mod views;

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::{
    RunState,
    link::Chapter,
    study::{
        StudySpec,
        bptt::{Cell, Flow, LossKind, Nudged, Scale, Settings, Shown as Networks},
    },
};

use super::Info;
use crate::{
    controls::{ChoiceField, FlagField, SliderField, grouped},
    course::{
        ChapterFrame, Lab, StageView, further, live_setting, use_lab, use_provenance, use_right,
    },
    figures::{LinesFigure, Provenance},
    questions::use_answer,
    reactive::{effect_with_last, last_known, memo},
    store::Store,
    teaching::{CheckYourself, Live, live},
};

#[cfg(test)]
pub use formulas::NAMES;
#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
pub use text::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Bptt,
    warm_steps: 50,
    curves: 3,
    uses_text: false,
    view: || view! { <BpttChapter/> }.into_any(),
};

/// The chapter's views, by their names in links.
const NORMS: &str = "norms";
const NUDGE: &str = "nudge";
const ACCURACY: &str = "accuracy";
const WEIGHT: &str = "weight";
const COPIES: &str = "copies";
const CLIPPING: &str = "clipping";
const MEMORY: &str = "memory";

/// The beat that explains the formulas beside the curves: before it they are not shown.
const EXPLAINED: u32 = 3;

/// What the chapter's parts read.
#[derive(Clone, Copy)]
struct Shown {
    store: Store,
    lab: Lab,
    flow: Signal<Option<Arc<Flow>>>,
    /// Which model that is of.
    flow_of: Signal<Option<u32>>,
    /// What that of the last step alone was when every step was last asked of the RNN.
    far: Signal<Option<Arc<Flow>>>,
    nudge: Signal<Option<Arc<Nudged>>>,
    settings: Memo<Settings>,
    provenance: Signal<Provenance>,
}

impl Shown {
    /// The answer about the last step's loss: what is on show, or what stands beside it.
    fn of_last(self) -> Option<Arc<Flow>> {
        self.flow.get().filter(|flow| flow.loss == LossKind::Last).or_else(|| self.far.get())
    }

    /// Something read off the last answer; its default before the first.
    fn read<T: Default + Clone + PartialEq + Send + Sync + 'static>(
        self,
        read: impl Fn(&Flow, &Settings) -> T + Send + Sync + 'static,
    ) -> Signal<T> {
        self.read_off(self.flow, read)
    }

    /// The same of the last nudge.
    fn nudged<T: Default + Clone + PartialEq + Send + Sync + 'static>(
        self,
        read: impl Fn(&Nudged, &Settings) -> T + Send + Sync + 'static,
    ) -> Signal<T> {
        self.read_off(self.nudge, read)
    }

    /// The forget bias that the LSTM on show began with, as titles say it: beats differ in it.
    fn forget_bias(self) -> Memo<String> {
        last_known(move || Some(format!(" (forget bias {})", curves::number(self.bias()?))))
    }

    /// The same as a number; `None` while the answer is of models before.
    fn bias(self) -> Option<f32> {
        self.flow.with(Option::is_some).then_some(())?;
        let is_of_it = self.flow_of.get() == Some(self.lab.generation.get());
        self.lab.started.with(|started| match &started.as_ref()?.spec {
            StudySpec::Bptt(spec) => is_of_it.then_some(spec.forget_bias),
            _ => None,
        })
    }

    fn read_off<
        A: Send + Sync + 'static,
        T: Default + Clone + PartialEq + Send + Sync + 'static,
    >(
        self,
        answer: Signal<Option<Arc<A>>>,
        read: impl Fn(&A, &Settings) -> T + Send + Sync + 'static,
    ) -> Signal<T> {
        let value = memo(move || {
            let answer = answer.get();
            answer.map_or_else(T::default, |answer| self.settings.with(|s| read(&answer, s)))
        });
        value.into()
    }
}

#[component]
fn BpttChapter() -> impl IntoView {
    let lab = use_lab();
    let store = expect_context::<Store>();
    let settings = memo(move || store.link.with(|link| link.bptt.clone()));
    let mut asked =
        use_answer(lab, move || Some(settings.with(Settings::question))).shown_in(lab.check_seen);
    // All but what is measured in training alone, and the nudge, which asks for itself.
    for view in [NORMS, ACCURACY, WEIGHT, COPIES, MEMORY] {
        asked = asked.shown_in(lab.on_view(view));
    }
    let nudge = use_answer(lab, move || Some(settings.with(Settings::nudge)))
        .shown_in(lab.check_seen)
        .shown_in(lab.on_view(NUDGE));
    let has_far =
        memo(move || settings.with(|s| s.loss == LossKind::Every && s.shown == Networks::Rnn));
    let far = use_answer(lab, move || {
        let last = || Settings { loss: LossKind::Last, rescale: false, ..settings.get() };
        has_far.get().then(|| last().question())
    })
    .shown_in(lab.on_view(NORMS));
    let provenance = use_provenance();
    let shown = Shown {
        store,
        lab,
        flow: asked.answer,
        flow_of: asked.of,
        far: far.answer,
        nudge: nudge.answer,
        settings,
        provenance,
    };
    let (problem, nudge_problem) = (asked.problem, nudge.problem);
    let model =
        Signal::derive(move || settings.with(|s| format!("{} units, gaps to {}", s.hidden, s.gap)));
    view! {
        <ChapterFrame
            script=&text::SCRIPT
            further
            live=lives(shown)
            asks=vec![
                ("bptt-nudge", ViewFn::from(move || nudge::another_step(shown))),
                ("bptt", ViewFn::from(move || fades(shown))),
                ("bptt-near", ViewFn::from(move || near(shown))),
            ]
            more=formulas::all
            views=vec![
                StageView::new(NORMS, "Gradient", move || main_figure(shown, problem)),
                StageView::new(NUDGE, "Nudge", move || nudge::view(shown, nudge_problem)),
                StageView::new(ACCURACY, "Accuracy", move || views::accuracy(shown)),
                StageView::new(WEIGHT, "Weights", move || views::weight(shown)),
                StageView::shared(COPIES, move || views::copies(shown)),
                StageView::new(CLIPPING, "Clipping", move || views::clipping(shown)),
                StageView::new(MEMORY, "Storage", move || views::memory(shown)),
            ]
            settings=controls
            model
        />
    }
}

/// What one curve comes to, and below it what makes it so.
fn curve_row(seen: curves::Seen) -> AnyView {
    let color = format!("color:{}", seen.hue.css());
    view! {
        <tbody data-name=seen.name.clone() data-share=format!("{:e}", seen.share)>
            <tr>
                <th scope="row" style=color>{seen.name.clone()}</th>
                <td>{seen.amount()}</td>
                <td>{seen.each.map_or_else(|| "–".to_owned(), |each| format!("× {each:.2}"))}</td>
            </tr>
            {(!seen.note.is_empty()).then(|| view! { <tr><td colspan="3">{seen.note.clone()}</td></tr> })}
        </tbody>
    }
    .into_any()
}

/// What stands beside the RNN's gradient where every step adds its own: that of the last step alone.
/// `None` while it is on its way.
fn far_beside(shown: Shown, flow: &Flow) -> Option<Option<Arc<Flow>>> {
    let is_wanted = flow.loss == LossKind::Every
        && shown.settings.with(|settings| settings.shown == Networks::Rnn);
    if is_wanted { shown.far.get().map(Some) } else { Some(None) }
}

/// The norms by step, the formula behind them, and what they say.
fn main_figure(shown: Shown, problem: Signal<Option<String>>) -> AnyView {
    let store = shown.store;
    // Whoever moves the radius wants to see it.
    let turn_on = Callback::new(move |_| store.link.update(|link| link.bptt.rescale = true));
    let is_explained = memo(move || store.link.with(|link| link.idea >= EXPLAINED));
    // What the curves come to stands at them, and in a table only beside its formula or other lengths.
    let is_said = memo(move || {
        !is_explained.get() && shown.settings.with(|settings| settings.scale == Scale::Relative)
    });
    // The picture stays until all of the next one is there.
    let lines = last_known(move || {
        let flow = shown.flow.get()?;
        let far = far_beside(shown, &flow)?;
        Some(shown.settings.with(|settings| {
            let mut lines = curves::norms(&flow, far.as_deref(), settings);
            if is_said.get() {
                let all = curves::all_seen(&flow, far.as_deref(), settings, false);
                curves::say(&mut lines, &all);
            }
            lines
        }))
    });
    let marker = memo(move || shown.flow.get().map(|flow| f64::from(flow.symbol_at)));
    let loss = memo(move || shown.settings.with(|settings| settings.loss));
    // Without the RNN, the ways back of the others stand beside their curves.
    let gated = memo(move || {
        shown.settings.with(|settings| {
            let shows = |cell: &Cell| settings.shown.shows(*cell);
            let gated = [Cell::Lstm, Cell::Gru].into_iter().filter(shows);
            (!shows(&Cell::Rnn)).then(|| gated.collect::<Vec<_>>())
        })
    });
    let has_rule = memo(move || loss.get() == LossKind::Last && gated.with(Option::is_none));
    let bias = shown.forget_bias();
    let has_gate = memo(move || shown.settings.with(|settings| settings.shown.shows(Cell::Lstm)));
    let title = move || {
        let bias = if has_gate.get() { bias.get() } else { String::new() };
        format!("{}{bias}", curves::title(loss.get()))
    };
    let in_words = shown.read(said::in_words);
    let seen = shown.read(move |flow, settings| {
        let far = far_beside(shown, flow).flatten();
        curves::all_seen(flow, far.as_deref(), settings, is_explained.get())
    });
    let bar = NodeRef::<html::Div>::new();
    // On a phone the controls scroll sideways: each beat begins with those that it asks for.
    effect_with_last(move |before: Option<u32>| {
        let idea = store.link.with(|link| link.idea);
        let rescales = shown.settings.with(|settings| settings.rescale);
        if let Some(bar) = bar.get().filter(|_| rescales || before != Some(idea)) {
            bar.set_scroll_left(if rescales { bar.scroll_width() } else { 0 });
        }
        idea
    });
    let share_of = shown.read(|flow, _| {
        let last = flow.networks.first().map_or(0, |network| network.hidden.len() as u32);
        format!(
            "Gradient length {} steps back, as a share of step {last}’s",
            last.saturating_sub(flow.symbol_at)
        )
    });
    view! {
        <div class="view-fill bptt-room">
            <div class="view-bar bptt-bar" node_ref=bar>
                <ChoiceField name="bptt-shown"/>
                <ChoiceField name="bptt-loss"/>
                <FlagField name="bptt-rescale"/>
                <SliderField name="bptt-radius" step=0.05 on_input=turn_on/>
            </div>
            <p class="field-error" role="alert" data-testid="bptt-problem">{problem}</p>
            <div class="view-side has-aside bptt-side" class:bptt-said=is_said>
                <LinesFigure
                    name="bptt-norms"
                    title=Signal::derive(title)
                    lines
                    provenance=shown.provenance
                    marker
                    hint="The engine is starting.".to_owned()
                />
                <div class="bptt-beside" tabindex="0" role="region" aria-label="What the curves say">
                    <table class="bptt-seen" data-testid="bptt-seen"
                        data-step=move || shown.flow.get().map(|flow| flow.step.to_string())>
                        <caption>{share_of}</caption>
                        <thead><tr>
                            <th scope="col"><span class="visually-hidden">"network"</span></th>
                            <th scope="col">"share"</th>
                            <th scope="col">"per step"</th>
                        </tr></thead>
                        {move || seen.get().into_iter().map(curve_row).collect_view()}
                    </table>
                    <p class="view-note">
                        {move || match loss.get() {
                            LossKind::Last => "The dotted line marks the letter’s step: what arrives there can \
                                teach the network to keep it.",
                            LossKind::Every => "Every step from the letter on has a loss here, so new gradient \
                                joins in at each. Training still uses only the loss at the last step.",
                        }}
                    </p>
                    // Below what it says in words: one may read on without it.
                    <div class="bptt-formula" data-testid="bptt-formula" data-loss=move || loss.get().id()>
                        {move || is_explained.get().then(|| view! {
                            <p data-testid="bptt-in-words">{in_words}</p>
                            {move || has_rule.get().then(|| view! {
                                <details class="disclosure aside" data-testid="bptt-rule">
                                    <summary>"When does this rule hold?"</summary>
                                    <p>{said::WHEN}</p>
                                </details>
                            })}
                            <details class="disclosure">
                                <summary>"As a formula"</summary>
                                {move || match gated.get() {
                                    Some(cells) => {
                                        cells.into_iter().map(formulas::carried).collect_view().into_any()
                                    }
                                    None => view! {
                                        {formulas::recursion(loss.get())}
                                        {formulas::jacobian_is()}
                                    }
                                    .into_any(),
                                }}
                            </details>
                        })}
                    </div>
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// What is trained, and how the norms are shown.
fn controls() -> AnyView {
    view! {
        <div class="course-controls">
            <p class="hint">"What is trained. Any change restarts all three."</p>
            <SliderField name="bptt-gap"/>
            <SliderField name="bptt-length"/>
            <SliderField name="bptt-hidden"/>
            <SliderField name="bptt-forget" step=0.5/>
            <p class="hint">"What is shown."</p>
            <ChoiceField name="bptt-scale"/>
        </div>
    }
    .into_any()
}

/// What the text reads off the networks.
fn lives(shown: Shown) -> Vec<Live> {
    let now = |says: fn(&Flow) -> Option<String>| {
        let said = memo(move || shown.of_last().and_then(|flow| says(&flow)));
        move || said.get().unwrap_or_else(|| "…".into())
    };
    let accuracy = shown.read(|flow, _| curves::accuracy_said(flow));
    vec![
        live_setting("slopes", |link| (link.bptt.length * link.bptt.hidden).to_string()),
        // Near enough to the end that its ripple is still there.
        live_setting("late", |link| link.bptt.length.saturating_sub(3).to_string()),
        live("rnn-now", now(said::now)),
        live("part-now", now(said::part_now)),
        live("along-open", along_cell(shown, |bias| bias >= 2.0)),
        live("along-half", along_cell(shown, |bias| bias <= 0.5)),
        ("example", ViewFn::from(move || nudge::example(shown))),
        live("own-radius", move || {
            let radius = shown.flow.with(|flow| flow.as_ref().map(|flow| flow.radius));
            radius.map_or_else(|| "…".into(), |radius| format!("{radius:.2}"))
        }),
        live_setting("radius", |link| link.bptt.radius.to_string()),
        live("prove", move || {
            let steps = grouped(curves::ENOUGH.into());
            match shown.lab.step.get() < curves::ENOUGH {
                true => format!("Make your guess below, then train all three to step {steps}."),
                false => format!("All three have trained for at least {steps} steps."),
            }
        }),
        live("accuracy", move || accuracy.get()),
    ]
}

/// What reaches the letter along the cell, as last seen with such a forget bias: the stage may be
/// another beat's by now.
fn along_cell(
    shown: Shown,
    is_meant: fn(f32) -> bool,
) -> impl Fn() -> String + Send + Sync + Clone + 'static {
    let said = last_known(move || {
        let flow = shown.flow.get().filter(|flow| flow.loss == LossKind::Last)?;
        let bias = shown.bias()?;
        let share = curves::arriving(&flow, Cell::Lstm, true).filter(|_| is_meant(bias))?;
        Some(format!(
            "At training step {}, the cell at the letter gets {} the last step’s gradient.",
            grouped(flow.step.into()),
            curves::amount(share)
        ))
    });
    move || said.get()
}

/// Which network fails at the longest gap: asked before they are trained, and answered after.
fn near(shown: Shown) -> AnyView {
    let lost = shown.read(|flow, _| curves::first_lost(flow));
    let lab = shown.lab;
    let trains = move || lab.state.get() == RunState::Running;
    let missing = move || curves::ENOUGH.saturating_sub(lab.step.get());
    view! {
        <div class:bptt-waits=move || missing() != 0>
            <CheckYourself
                id="bptt-near"
                question=Signal::derive(|| {
                    format!(
                        "After {} steps, which of the three will be right least often at the longest gap?",
                        grouped(curves::ENOUGH.into())
                    )
                })
                options=Signal::stored(["RNN", "LSTM", "GRU"].map(str::to_owned).to_vec())
                too_early=Signal::derive(move || lost.get()?.err().map(str::to_owned))
                answer=Signal::derive(move || Some(lost.get()?.ok()?.0))
                explain=Signal::derive(move || match lost.get() {
                    Some(Ok((_, said))) => said,
                    _ => String::new(),
                })
                on_right=use_right("bptt-near")
            />
        </div>
        <div class="check" style:display=move || (missing() == 0).then_some("none")>
            <p>"Pick one, then train to find out."</p>
            <button type="button" class="button" data-testid="bptt-enough"
                aria-disabled=move || trains().then_some("true")
                on:click=move |_| if !untrack(trains) { lab.take_steps(untrack(missing)) }>
                {format!("Train to step {}", grouped(curves::ENOUGH.into()))}
            </button>
        </div>
    }
    .into_any()
}

/// Why nobody is asked for a share of the last step's gradient where every step adds its own.
fn every(shown: Shown) -> Option<String> {
    let is_every = shown.settings.with(|settings| settings.loss == LossKind::Every);
    is_every.then(|| "Set the loss to the last step only to be asked about this.".to_owned())
}

/// How far back the RNN's gradient reaches, read off its curve.
fn fades(shown: Shown) -> AnyView {
    let read = shown.read(|flow, _| curves::fades(flow));
    let question = "Go left along the RNN’s curve from the last step. Where does it first fall below 0.001, one \
                    thousandth?";
    let options = curves::FADES.map(str::to_owned).to_vec();
    view! {
        <CheckYourself
            id="bptt"
            question=Signal::derive(move || question.to_owned())
            options=Signal::stored(options)
            too_early=Signal::derive(move || every(shown))
            answer=Signal::derive(move || Some(read.get()?.0))
            explain=Signal::derive(move || read.get().map_or(String::new(), |read| read.1))
            on_right=use_right("bptt")
        />
    }
    .into_any()
}
