//! `birnn`: reading in both directions.

mod arithmetic;
mod check;
mod figure;
mod notebooks;
mod panels;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    link::Chapter,
    study::birnn::{
        Edit, MOST_AHEAD, Reader, Reading, SYMBOLS, Settings, TaskChoice, accuracy_series, ask,
    },
};

use super::Info;
use crate::{
    controls::{self, ChoiceField, SliderField},
    course::{ChapterFrame, Lab, Sentence, StageView, further, use_lab, use_task_provenance},
    figures::{self, Provenance, token::mark},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
    teaching::{Live, live},
};
use figure::{Columns, TwoWayFigure};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Birnn,
    warm_steps: 120,
    curves: 2,
    uses_text: true,
    view: || view! { <BirnnChapter/> }.into_any(),
};

/// What the parts of the chapter share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    lab: Lab,
    settings: Memo<Settings>,
    task: Memo<TaskChoice>,
    /// What the models make of the sequence on show.
    reading: Signal<Option<Arc<Reading>>>,
    provenance: Signal<Provenance>,
}

impl Page {
    /// The last measurement of the series with this name.
    fn last(self, name: &str) -> Option<f32> {
        self.lab.history.with(|history| history.named(name).and_then(|series| series.last()))
    }

    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.birnn));
    }
}

/// What the settings ask about the learner's sentence, with `edit`.
fn question(settings: &Settings, text: String, edit: Option<Edit>) -> ask::Reading {
    // The made-up task has no text: typing must not ask again.
    let text = if settings.task == TaskChoice::Fill { text } else { String::new() };
    ask::Reading {
        text,
        example: settings.example,
        ahead: settings.ahead,
        hidden: settings.at.checked_sub(1),
        edit,
    }
}

#[component]
fn BirnnChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let settings = memo(move || store.link.with(|link| link.birnn.clone()));
    let task = memo(move || settings.with(|s| s.task));
    let answered = use_answer(lab, move || {
        settings.with(|settings| {
            let edit = settings.edit.checked_sub(1).map(|position| Edit {
                position,
                letter: char::from_u32(settings.letter).filter(|letter| *letter != '\0'),
            });
            Some(question(settings, store.probe.get(), edit))
        })
    })
    .shown_in(lab.on_view("states"))
    .shown_in(lab.on_view("position"));
    let provenance =
        use_task_provenance(move || (task.get() == TaskChoice::Look).then_some("made up"));
    let page = Page { store, lab, settings, task, reading: answered.answer, provenance };
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![
                ("birnn", ViewFn::from(move || view! { <check::Check page/> })),
                ("birnn-late", ViewFn::from(move || check::late(page))),
            ]
            more=words::more
            views=vec![
                StageView::new("states", "Both ways", move || view! { <States page answered/> }),
                StageView::new("position", "Position", move || view! { <panels::Position page/> }),
                StageView::new("accuracy", "Accuracy", move || view! { <panels::Accuracy page/> }),
                StageView::new("guess", "Guess", move || view! { <panels::Guess page/> }),
            ]
            settings=|| view! { <Controls/> }
            model=Signal::derive(move || settings.with(|s| format!("{}, {} units each way", s.cell.label(), s.hidden)))
        />
    }
}

/// What the text reads off the models.
fn lives(page: Page) -> Vec<Live> {
    let steps = |number: u32| controls::counted(number.into(), "step");
    let ahead = move || page.settings.with(|s| s.ahead);
    // What a sentence of another task is about is not measured: it stands without its numbers.
    let right = move |reader: Reader, ahead: Option<u32>| {
        Some(figures::percent(page.last(&accuracy_series(reader, ahead))?, 0))
    };
    let random = move || match right(Reader::Forward, Some(ahead())) {
        Some(forward) => {
            let chance = figures::percent(1.0 / SYMBOLS as f32, 0);
            format!("The forward model is right {forward} of the time, and pure guessing {chance}.")
        }
        None => "The forward model can’t do better than pure guessing.".to_owned(),
    };
    let both = move || match right(Reader::Both, Some(ahead())) {
        Some(both) => format!("The model called “both ways” is right {both} of the time."),
        None => "So the model called “both ways” can learn to name it.".to_owned(),
    };
    let waits = move || {
        let delay = page.settings.with(|s| s.delay);
        if delay == 0 {
            return "It answers about a position only when it has read a few steps further."
                .to_owned();
        }
        let waits =
            format!("It answers about a position only when it has read {} further.", steps(delay));
        let reach = delay.min(MOST_AHEAD);
        match right(Reader::Delayed(delay), Some(reach)) {
            Some(share) => {
                let reach = steps(reach);
                format!(
                    "{waits} So it has read the symbol {reach} ahead, and names it right {share} of the time."
                )
            }
            None => waits,
        }
    };
    let beyond = move || {
        let delay = page.settings.with(|s| s.delay);
        let share = right(Reader::Delayed(delay), Some(ahead())).filter(|_| ahead() > delay);
        share.map_or_else(String::new, |share| {
            let ahead = steps(ahead());
            format!("Here it is {ahead} ahead, the delay is {delay}, and {share} of the answers are right.")
        })
    };
    let filled = move || {
        let shares = right(Reader::Forward, None).zip(right(Reader::Both, None));
        shares.map_or_else(String::new, |(forward, both)| {
            format!(": forward is right {forward} of the time, and both ways {both}")
        })
    };
    vec![
        live("ahead", move || steps(ahead())),
        live("random", random),
        live("both", both),
        live("waits", waits),
        live("beyond", beyond),
        live("filled", filled),
        live("telling", move || telling(page).unwrap_or_default()),
    ]
}

/// Where in the text only both sides together tell the letter, once the models rest: which letter it is
/// changes while they train. Until it is hidden, who can tell it is for the learner to find.
fn telling(page: Page) -> Option<String> {
    let rests = page.lab.state.get() == RunState::Paused && page.task.get() == TaskChoice::Fill;
    let columns = Columns::new(page.reading.get().filter(|_| rests)?.as_ref(), None, None);
    let at = columns.only_both()?;
    let letter = mark(&columns.tokens[at]);
    let is_hidden = page.settings.with(|s| s.at as usize) == at + 1;
    Some(if is_hidden {
        format!(
            "The “{letter}” hidden now is one that forward gets wrong, and both ways gets right."
        )
    } else {
        format!(
            "Begin with the “{letter}” at position {}: which gets it right, forward or both ways?",
            at + 1
        )
    })
}

/// The sequence in columns, and what decides about it.
#[component]
fn States(page: Page, answered: Answered<Reading>) -> impl IntoView {
    let Page { settings, task, reading, .. } = page;
    let columns = memo(move || {
        let ahead = settings.with(|s| s.ahead as usize);
        let ahead = (task.get() == TaskChoice::Look).then_some(ahead);
        let hidden = settings.with(|s| s.at).checked_sub(1).map(|at| at as usize);
        reading.get().map_or_else(Columns::default, |reading| {
            // Between two tasks the last answer is still of the other one.
            let made_up = reading.symbols.len() == reading.answers.len();
            if made_up != ahead.is_some() {
                return Columns::default();
            }
            Columns::new(&reading, ahead, hidden)
        })
    });
    let pinned =
        Signal::derive(move || settings.with(|s| s.at).checked_sub(1).map(|at| at as usize));
    let editing = Signal::derive(move || settings.with(|s| s.editing));
    let on_pick = Callback::new(move |column: usize| {
        page.set(|settings| {
            let at = column as u32 + 1;
            settings.at = if settings.at == at { 0 } else { at };
        });
    });
    let on_edit = Callback::new(move |(column, letter): (usize, Option<char>)| {
        // A click on what is changed already goes on to the next token.
        let next = letter.is_none().then(|| {
            columns.with_untracked(|c| {
                (c.edit == Some(column)).then(|| following(page, &c.tokens[column]))
            })
        });
        let letter = letter.or(next.flatten().flatten());
        page.set(|settings| {
            settings.edit = column as u32 + 1;
            settings.letter = letter.map_or(0, u32::from);
        });
    });
    let on_restore = Callback::new(move |()| page.set(|settings| settings.edit = 0));
    let mode = move |_| {
        page.set(|settings| {
            settings.editing = !settings.editing;
            settings.edit = 0;
        })
    };
    let beside = Callback::new(move |reader| view! { <panels::Share page reader/> }.into_any());
    view! {
        <div class="view-bar birnn-bar">
            {move || (task.get() == TaskChoice::Look).then(|| view! { <SliderField name="birnn-ahead"/> })}
            <button type="button" class="button" data-testid="birnn-edit-mode"
                aria-pressed=move || editing.get().to_string() on:click=mode>
                {move || if editing.get() { "Done changing" } else { "Change an input" }}
            </button>
            {move || settings.with(|s| s.edit > 0).then(|| view! {
                <button type="button" class="button button-quiet" data-testid="birnn-restore"
                    on:click=move |_| on_restore.run(())>
                    "Undo the change"
                </button>
            })}
            {move || (task.get() == TaskChoice::Look).then(|| view! {
                <button type="button" class="button" data-testid="birnn-another"
                    on:click=move |_| page.set(|s| {
                        s.example = s.example % 200 + 1;
                        s.edit = 0;
                    })>
                    "Another sequence"
                </button>
            })}
        </div>
        {move || match task.get() {
            TaskChoice::Fill => view! {
                <Sentence label="Reads" problem=answered.problem/>
            }.into_any(),
            TaskChoice::Look => view! {
                <p class="field-error birnn-problem" role="alert" data-testid="probe-problem">{answered.problem}</p>
            }.into_any(),
        }}
        <TwoWayFigure columns pinned editing on_pick on_edit on_restore beside provenance=page.provenance/>
        <panels::Legend page/>
        <panels::Notes page/>
    }
    .into_any()
}

/// The token after `token` among those that can be typed.
fn following(page: Page, token: &str) -> Option<char> {
    page.reading.with_untracked(|reading| {
        let reading = reading.as_ref()?;
        let typed: Vec<&String> = reading.answers.iter().filter(|a| *a != "\u{fffd}").collect();
        let at = typed.iter().position(|symbol| *symbol == token)?;
        typed[(at + 1) % typed.len()].chars().next()
    })
}

#[component]
fn Controls() -> impl IntoView {
    view! {
        <div class="course-controls">
            <ChoiceField name="birnn-task"/>
            <SliderField name="birnn-delay" most=6.0/>
            <ChoiceField name="birnn-cell"/>
            <SliderField name="birnn-hidden" least=4.0/>
        </div>
    }
    .into_any()
}
