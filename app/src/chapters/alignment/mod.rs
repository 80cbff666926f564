//! `alignment`: a decoder that looks back at its source at every step.

mod check;
mod figure;
mod panels;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    AttentionRow,
    link::Chapter,
    study::alignment::{self, Answer, Question, Reading, Settings, Source, name},
    transduction::{AttentionKind, PairTask},
};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{Answered, ChapterFrame, StageView, use_answer, use_lab, use_task_provenance},
    figures::{
        Dash, Hue, Provenance,
        alignment::{Alignment, Decoded, Place},
    },
    store::Store,
};

pub const INFO: Info = Info {
    id: Chapter::Alignment,
    title: "Attention is born",
    warm_steps: 100,
    uses_text: false,
    view: || view! { <AlignmentChapter/> }.into_any(),
};

/// What the parts of the chapter share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    settings: Memo<Settings>,
    answered: Answered,
    /// What the models make of the source on show.
    reading: Memo<Option<Arc<Reading>>>,
    alignment: Memo<Alignment>,
    /// The produced and the source character that are pointed at.
    pointed: RwSignal<Option<Place>>,
    pointed_key: RwSignal<Option<usize>>,
    /// The produced character on show: pointed at, chosen, or produced last.
    place: Signal<Option<Place>>,
    provenance: Signal<Provenance>,
}

/// What the settings read: a held-out source, or the learner's own.
fn source(settings: &Settings, own: impl FnOnce() -> String) -> Source {
    match settings.example {
        0 => Source::Own(own()),
        number => Source::Example(number),
    }
}

/// Colour and dashes of a model's line, the same in every figure of the chapter.
fn style(model: usize) -> (Hue, Dash) {
    if model == 0 { (Hue::Query, Dash::Solid) } else { (Hue::Muted, Dash::Dashed) }
}

/// The task in a few words, for exports.
fn task_name(task: PairTask) -> &'static str {
    match task {
        PairTask::Reverse => "strings reversed",
        PairTask::Dates => "dates made up",
        PairTask::Copy => "strings copied",
        PairTask::Sort => "strings sorted",
    }
}

impl Page {
    fn new() -> Self {
        let store = expect_context::<Store>();
        let lab = use_lab();
        let settings = Memo::new(move |_| store.link.with(|link| link.alignment.clone()));
        let answered = use_answer(lab, move || {
            let source = settings.with(|settings| source(settings, || store.probe.get()));
            Some(Question::Reading(source).into())
        })
        .shown_in(lab.sights.figure)
        .shown_in(lab.sights.check);
        let reading = Memo::new(move |_| {
            let answer = answered.answer.get()?;
            match <&Answer>::try_from(&*answer) {
                Ok(Answer::Reading(reading)) => Some(Arc::new((**reading).clone())),
                _ => None,
            }
        });
        let alignment = Memo::new(move |_| {
            let shown = match settings.with(|s| s.steps) {
                0 => usize::MAX,
                steps => steps as usize,
            };
            reading.with(|r| r.as_ref().map_or_else(Alignment::default, |r| seen(r, shown)))
        });
        let (pointed, pointed_key) = (RwSignal::new(None::<Place>), RwSignal::new(None));
        let place = Memo::new(move |_| {
            let pointed = pointed.get();
            settings.with(|s| {
                alignment.with(|a| {
                    let there = |place: &Place| place.1 < a.count(place.0);
                    let chosen =
                        |at: u32| Some((s.model as usize - 1, at.checked_sub(1)? as usize));
                    let last = a.count(0).checked_sub(1).map(|last| (0, last));
                    let chosen = pointed.filter(there).or(chosen(s.at).filter(there));
                    chosen.or(last.filter(|_| s.steps > 0))
                })
            })
        });
        let provenance =
            use_task_provenance(lab, move || Some(task_name(settings.with(|s| s.task))));
        Self {
            store,
            settings,
            answered,
            reading,
            alignment,
            pointed,
            pointed_key,
            place: place.into(),
            provenance,
        }
    }

    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.alignment));
    }

    /// The models trained, in order.
    fn kinds(self) -> Vec<AttentionKind> {
        self.settings.with(|settings| settings.spec(0).kinds())
    }

    /// Takes the weight of a source character in a produced one apart.
    fn open(self, (model, at): Place, key: usize) {
        self.set(|s| (s.model, s.at, s.key) = (model as u32 + 1, at as u32 + 1, key as u32 + 1));
    }
}

/// What is drawn of a reading, with `shown` characters produced so far.
fn seen(reading: &Reading, shown: usize) -> Alignment {
    let decoded = reading.outputs.iter().map(|output| {
        let wanted = reading.wanted.as_deref().unwrap_or_default();
        let right = output.tokens.iter().enumerate().map(|(i, token)| wanted.get(i) == Some(token));
        Decoded {
            name: name(output.kind).to_owned(),
            tokens: output.tokens.clone(),
            right: if wanted.is_empty() { Vec::new() } else { right.collect() },
            weights: output.weights.as_ref().map_or_else(Vec::new, |w| w.values.clone()),
        }
    });
    Alignment { source: reading.source.clone(), decoded: decoded.collect(), shown }
}

/// The row that the cell inspector shows, while a cell is open.
fn use_row(page: Page) -> Signal<Option<Arc<AttentionRow>>> {
    let lab = use_lab();
    let answered = use_answer(lab, move || {
        page.settings.with(|settings| {
            // Not while nothing is open: each answer reads the source once more.
            let (at, _) = settings.at.checked_sub(1).zip(settings.key.checked_sub(1))?;
            let source = source(settings, || page.store.probe.get());
            Some(Question::Row { source, model: settings.model - 1, at }.into())
        })
    })
    .shown_in(lab.sights.figure);
    Memo::new(move |_| {
        let open = page.settings.with(|s| s.key > 0 && s.at > 0);
        // What an attention-less model says is a refusal.
        if !open || answered.problem.with(Option::is_some) {
            return None;
        }
        let answer = answered.answer.get()?;
        match <&Answer>::try_from(&*answer) {
            Ok(Answer::Row(row)) => Some(Arc::new((**row).clone())),
            _ => None,
        }
    })
    .into()
}

#[component]
fn AlignmentChapter() -> impl IntoView {
    let page = Page::new();
    view! {
        <ChapterFrame
            before="The whole source had to fit into one vector, and the longer it was, the more got lost."
            intro=words::intro
            ideas=words::IDEAS
            tries=words::tries()
            check=move || view! { <check::Check page/> }
            more=words::more
            views=vec![
                StageView::new("figure", "Figure", move || view! { <figure::Figure page/> }),
                StageView::new("further", "Further", move || panels::further(page)),
            ]
            settings=move || view! { <Controls page/> }
            model=Signal::stored(String::new())
        />
    }
}

#[component]
fn Controls(page: Page) -> impl IntoView {
    let strings = Memo::new(move |_| page.settings.with(|s| s.task != PairTask::Dates));
    view! {
        <ChoiceField name="alignment-task"/>
        <ChoiceField name="alignment-attention"/>
        <ChoiceField name="alignment-beside"/>
        {move || strings.get().then(|| view! { <SliderField name="alignment-length"/> })}
        <SliderField name="alignment-hidden"/>
    }
    .into_any()
}

/// The last measurement of the series with this name.
fn last(series: &str) -> Option<f32> {
    use_lab().history.with(|history| history.named(series).and_then(|series| series.last()))
}

/// What to call a model's share of right answers.
fn exact(kind: AttentionKind) -> String {
    alignment::exact_series(kind)
}
