//! `seq2seq`: the whole source squeezed into one vector.

mod check;
mod notebooks;
mod panels;
mod transfer;
mod words;

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::{
    PairTask,
    link::Chapter,
    study::seq2seq::{self, MOST_SOURCE, Reading, Settings},
};

use super::Info;
use crate::{
    controls::{ChoiceField, FlagField, SliderField, Source, SourceBar, counted},
    course::{ChapterFrame, StageView, further, live_setting, use_lab, use_task_provenance},
    figures::{Provenance, canvas::use_latest, percent, sight::use_visible},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
    teaching::{Live, live},
};
use transfer::{Transfer, TransferFigure, Written};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Seq2seq,
    warm_steps: 200,
    curves: 1,
    uses_text: false,
    view: || view! { <Seq2seqChapter/> }.into_any(),
};

/// Held-out sources that can come on show.
const MOST_EXAMPLE: u32 = 200;

/// What the parts of the chapter share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    settings: Memo<Settings>,
    reading: Signal<Option<Arc<Reading>>>,
    answered: Answered<Reading>,
    provenance: Signal<Provenance>,
}

impl Page {
    /// The `data-state` of what shows the reading.
    fn state(self) -> &'static str {
        if self.reading.with(Option::is_some) { "live" } else { "empty" }
    }

    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.seq2seq));
    }
}

#[component]
fn Seq2seqChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let settings = memo(move || store.link.with(|link| link.seq2seq.clone()));
    let asked = memo(move || settings.with(|s| (s.example, s.beam)));
    let answered = use_answer(lab, move || {
        let (example, beam) = asked.get();
        let text = (example == 0).then(|| store.probe.get());
        Some(seq2seq::ask::Reading { text, example, beam })
    });
    for view in ["vector", "odds", "beam", "states"] {
        answered.shown_in(lab.on_view(view));
    }
    let reading = answered.answer;
    let provenance = use_task_provenance(|| Some("made up"));
    let page = Page { store, settings, reading, answered, provenance };
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![
                ("seq2seq", ViewFn::from(move || view! { <check::Check page/> })),
                ("seq2seq-half", ViewFn::from(move || check::half(page))),
            ]
            more=words::more
            views=vec![
                StageView::new("vector", "One vector", move || view! { <Figure page/> }),
                StageView::new("odds", "Choices", move || panels::odds(page)),
                StageView::new("lengths", "By length", move || panels::lengths(page)),
                StageView::new("states", "What it holds", move || panels::states(page)),
                StageView::new("beam", "Beam search", move || panels::search(page)),
            ]
            settings=move || view! { <Controls page/> }
            model=Signal::derive(move || settings.with(model_name))
        />
    }
}

/// What the text reads off the settings and the model.
fn lives(page: Page) -> Vec<Live> {
    let lab = use_lab();
    let dates = memo(move || {
        page.settings.with(|s| s.task == PairTask::Dates).then_some(())?;
        lab.history.with(|history| history.named(seq2seq::RIGHT).and_then(|series| series.last()))
    });
    let percent = |share: f32| percent(share, 0);
    let lengths = memo(move || {
        let measured = panels::by_length(page, lab);
        let (Some(first), Some(last)) = (measured.first(), measured.last()) else {
            return "Nothing is measured yet.".to_owned();
        };
        let named = |(from, to): (u32, u32)| match from == to {
            true => from.to_string(),
            false => format!("{from} to {to}"),
        };
        format!(
            "Measured last: {} correct at a length of {}, {} at {}.",
            percent(first.1),
            named(first.0),
            percent(last.1),
            named(last.0)
        )
    });
    let mut all = vec![
        live_setting("task", |link| words::task(link.seq2seq.task).to_owned()),
        live_setting("hidden", |link| link.seq2seq.hidden.to_string()),
        live("dates", move || dates.get().map_or_else(|| "…".to_owned(), percent)),
        live("lengths", move || lengths.get()),
    ];
    all.extend(words::offers());
    all
}

/// The picture of what was read and written.
fn transfer(reading: &Reading) -> Transfer {
    let right: Option<Vec<String>> = reading
        .right
        .as_ref()
        .map(|right| right.chars().map(String::from).chain([reading.symbols[0].clone()]).collect());
    let written = reading.written.iter().enumerate().map(|(step, &id)| {
        let token = reading.symbols.get(id as usize).cloned().unwrap_or_default();
        let probability =
            reading.probabilities.block(&[step]).and_then(|row| row.get(id as usize).copied());
        let right = right.as_ref().map(|right| right.get(step) == Some(&token));
        Written { token, probability: probability.unwrap_or(0.0), right }
    });
    Transfer {
        source: reading.tokens.clone(),
        states: reading.states.clone(),
        written: written.collect(),
        decoder: reading.decoder.clone(),
    }
}

/// The model in a few words.
fn model_name(settings: &Settings) -> String {
    let backwards = if settings.backwards { ", from the end" } else { "" };
    format!("GRU, {} numbers{backwards}", settings.hidden)
}

/// Which of the decoder's steps are on show.
#[derive(Clone, Copy)]
struct Steps {
    count: Memo<usize>,
    shown: Memo<usize>,
    /// The last on show; while all is written, the one it was least sure of.
    chosen: Memo<Option<usize>>,
}

impl Steps {
    fn new(page: Page) -> Self {
        let at = memo(move || page.settings.with(|s| s.at as usize));
        let count = memo(move || page.reading.with(|r| r.as_ref().map_or(0, |r| r.written.len())));
        let shown = memo(move || match at.get() {
            0 => count.get(),
            at => at.min(count.get()),
        });
        let chosen = memo(move || match at.get() {
            0 => page.reading.with(|reading| {
                let reading = reading.as_ref()?;
                let of = |step: usize| {
                    let id = reading.written[step] as usize;
                    reading.probabilities.block(&[step]).and_then(|row| row.get(id).copied())
                };
                (0..reading.written.len())
                    .min_by(|a, b| of(*a).unwrap_or(0.0).total_cmp(&of(*b).unwrap_or(0.0)))
            }),
            _ => shown.get().checked_sub(1),
        });
        Self { count, shown, chosen }
    }
}

#[component]
fn Figure(page: Page) -> impl IntoView {
    let settings = page.settings;
    let bar = source(page);
    let root = NodeRef::<html::Section>::new();
    // While it trains, the figure is drawn later than it is answered: what is said is of the answer drawn.
    let drawn = use_latest(page.reading, use_visible(root));
    let page = Page { reading: Signal::derive(move || drawn.with(|r| (**r).clone())), ..page };
    let picture = memo(move || {
        let picture = page.reading.with(|r| r.as_deref().map_or_else(Transfer::default, transfer));
        Arc::new(picture)
    });
    let Steps { count, shown, chosen } = Steps::new(page);
    let at = memo(move || settings.with(|s| s.at as usize));
    // The one it was least sure of is for the other views: a shade means one thing here.
    let newest = memo(move || chosen.get().filter(|_| at.get() > 0));
    let on_pick = Callback::new(move |step: usize| page.set(|s| s.at = step as u32 + 1));
    let back = move |_| {
        let shown = shown.get_untracked();
        page.set(|s| s.at = shown.saturating_sub(1).max(1) as u32);
    };
    let forth = move |_| {
        let next = if at.get_untracked() == 0 { 1 } else { shown.get_untracked() + 1 };
        let next = next.min(count.get_untracked().max(1));
        page.set(|s| s.at = next as u32);
    };
    view! {
        <SourceBar source=bar>
            <button type="button" class="button" data-testid="seq2seq-back" on:click=back>
                <span aria-hidden="true">"◀"</span><span class="visually-hidden">"Step back"</span>
            </button>
            <button type="button" class="button button-primary" data-testid="seq2seq-forth" on:click=forth>
                {move || if at.get() == 0 { "Write step by step" } else { "Write one more" }}
            </button>
            <button type="button" class="button" data-testid="seq2seq-all"
                aria-pressed=move || (at.get() == 0).to_string()
                on:click=move |_| page.set(|s| s.at = 0)>"Write all"</button>
            <span class="hint" role="status" data-testid="seq2seq-progress">
                // The count first: what is shown follows it, and may stay the same when it changes.
                {move || {
                    let count = count.get();
                    format!("{} of {count} steps", shown.get())
                }}
            </span>
        </SourceBar>
        <panels::Outcome page/>
        <TransferFigure root transfer=picture shown chosen=newest on_pick provenance=page.provenance/>
    }
}

/// What is read, and what is to be said of it.
fn source(page: Page) -> Source {
    let Page { store, settings, reading, answered, .. } = page;
    let value = Signal::derive(move || {
        if settings.with(|s| s.example) == 0 {
            store.probe.get()
        } else {
            reading.with(|r| r.as_ref().map_or_else(String::new, |r| r.source.clone()))
        }
    });
    let on_input = Callback::new(move |text| {
        store.set_probe(text);
        page.set(|s| (s.example, s.at) = (0, 0));
    });
    let on_another = Callback::new(move |()| {
        page.set(|s| (s.example, s.at) = (s.example % MOST_EXAMPLE + 1, 0));
    });
    let note = memo(move || {
        let reading = reading.get()?;
        let mut notes = Vec::new();
        if reading.dropped > 0 {
            notes.push(format!("Only the first {MOST_SOURCE} characters are read."));
        }
        if reading.unknown > 0 {
            let read = match reading.unknown {
                1 => "It is read as the unknown token.",
                _ => "Each of these is read as the same unknown token.",
            };
            let unknown = counted(reading.unknown.into(), "character");
            notes.push(format!("{unknown} of it never occurred in training. {read}"));
        }
        if reading.tokens.len() as u32 > reading.longest {
            notes.push(format!(
                "It has {} characters. The longest in training have {}.",
                reading.tokens.len(),
                reading.longest
            ));
        }
        (!notes.is_empty()).then(|| notes.join(" "))
    });
    Source {
        name: "seq2seq",
        value,
        on_input,
        on_another,
        note: note.into(),
        problem: answered.problem,
    }
}

#[component]
fn Controls(page: Page) -> impl IntoView {
    let strings = memo(move || page.settings.with(|s| s.task != PairTask::Dates));
    view! {
        <div class="course-controls">
            <ChoiceField name="seq2seq-task"/>
            <SliderField name="seq2seq-hidden" least=4.0 most=96.0/>
            {move || strings.get().then(|| view! { <SliderField name="seq2seq-longest" least=4.0 most=16.0/> })}
            <FlagField name="seq2seq-backwards"/>
        </div>
    }
}
