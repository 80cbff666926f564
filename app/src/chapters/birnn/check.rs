//! Questions whose answers are what the live models do.

use leptos::prelude::*;
use unroll_protocol::study::birnn::{Edit, MOST_AHEAD, Reader, TaskChoice, accuracy_series};

use super::figure::{Columns, Content};
use super::{Page, question};
use crate::{
    course::{use_lab, use_right},
    questions::use_answer,
    reactive::memo,
    teaching::CheckYourself,
};

/// How far from the changed position the cells asked about lie.
const APART: usize = 2;
/// Characters of the learner's sentence that are read for it: it is asked anew at every step.
const READ: usize = 12;

/// One of the cells asked about.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Forward,
    Backward,
    Answer,
}

/// The cells of the `n`-th question, before or after the changed position.
fn cells(n: usize) -> [(Kind, bool); 4] {
    // Of each four exactly one is out of reach, each time another.
    match n % 2 {
        0 => [
            (Kind::Forward, true),
            (Kind::Backward, false),
            (Kind::Answer, false),
            (Kind::Backward, true),
        ],
        _ => [
            (Kind::Forward, true),
            (Kind::Answer, true),
            (Kind::Forward, false),
            (Kind::Backward, false),
        ],
    }
}

#[component]
pub fn Check(page: Page) -> impl IntoView {
    let count = RwSignal::new(0usize);
    let length = memo(move || {
        let length = page.reading.with(|r| r.as_ref().map_or(0, |r| r.run.ids.len()));
        if page.task.get() == TaskChoice::Fill { length.min(READ) } else { length }
    });
    let changed = memo(move || {
        let room = length.get().checked_sub(2 * APART).filter(|room| *room > 0)?;
        Some(APART + (4 + 3 * count.get()) % room)
    });
    let lab = use_lab();
    let answered = use_answer(lab, move || {
        let edit = Edit { position: changed.get()? as u32, letter: None };
        let text = page.store.probe.with(|probe| probe.chars().take(READ).collect());
        // Nothing is hidden here: a hidden letter could be the changed one.
        page.settings.with(|settings| {
            Some(question(&super::Settings { at: 0, ..settings.clone() }, text, Some(edit)))
        })
    })
    .shown_in(lab.check_seen);
    let reading = answered.answer;
    let place = move |after: bool| {
        let at = changed.get()?;
        Some(if after { at + APART } else { at - APART })
    };
    let name = move |(kind, after): (Kind, bool)| {
        let at = place(after).map_or(0, |at| at + 1);
        match kind {
            Kind::Forward => format!("The forward state at position {at}"),
            Kind::Backward => format!("The backward state at position {at}"),
            Kind::Answer => format!("The answer from both about position {at}"),
        }
    };
    // How much each of the cells changed in the model that reads both ways.
    let changes = memo(move || {
        let reading = reading.get()?;
        let at = changed.get()?;
        let (edit, _) = reading.edited.as_ref()?;
        let columns = Columns::new(&reading, Some(0), None);
        let change = |(kind, after): (Kind, bool)| {
            let row = columns.rows.iter().find(|row| {
                row.reader == Reader::Both
                    && match &row.content {
                        Content::States { backward: false, .. } => kind == Kind::Forward,
                        Content::States { backward: true, .. } => kind == Kind::Backward,
                        Content::Answers(_) => kind == Kind::Answer,
                    }
            })?;
            row.changes.get(place(after)?).copied().flatten()
        };
        if *edit as usize != at {
            return None;
        }
        cells(count.get()).into_iter().map(change).collect::<Option<Vec<f32>>>()
    });
    let question = Signal::derive(move || match changed.get() {
        Some(at) => format!(
            "The input at position {} of the sequence on the stage is changed. Which of these stays \
             exactly as it was?",
            at + 1
        ),
        None => {
            format!("Write a sentence of more than {} characters to be asked about it.", 2 * APART)
        }
    });
    let options = Signal::derive(move || cells(count.get()).map(name).to_vec());
    let answer = Signal::derive(move || {
        let changes = changes.get()?;
        let mut same = (0..changes.len()).filter(|i| changes[*i] == 0.0);
        same.next().filter(|_| same.next().is_none())
    });
    let explain = Signal::derive(move || {
        let Some(changes) = changes.get() else { return String::new() };
        let each = cells(count.get()).into_iter().zip(changes).map(|(cell, change)| {
            let change =
                if change == 0.0 { "exactly 0".to_owned() } else { format!("{change:.6}") };
            format!("{}: {change}", name(cell))
        });
        format!("The largest change in each, as measured: {}.", each.collect::<Vec<_>>().join("; "))
    });
    let on_another = Callback::new(move |()| count.update(|count| *count += 1));
    view! {
        <CheckYourself id="birnn" question options answer explain on_right=use_right("birnn") on_another/>
    }
}

/// How often the delayed model is right about what lies one step beyond its delay.
pub fn late(page: Page) -> AnyView {
    let delay = memo(move || {
        let (delay, task) = page.settings.with(|s| (s.delay, s.task));
        (task == TaskChoice::Look && (1..MOST_AHEAD).contains(&delay)).then_some(delay)
    });
    let measured = memo(move || {
        let delay = delay.get()?;
        let chance = page.reading.with(|reading| reading.as_ref().map(|r| r.chance))?;
        let share = |ahead| page.last(&accuracy_series(Reader::Delayed(delay), Some(ahead)));
        Some((delay, share(delay)?, share(delay + 1)?, chance))
    });
    let question = Signal::derive(move || {
        match delay.get() {
        Some(delay) => format!(
            "The delayed model answers {delay} steps late. How often is it right about the symbol {} steps ahead?",
            delay + 1
        ),
        None => "Set a delay from 1 to 4 for the made-up symbols, and guess how often it is right one step \
                 beyond."
            .to_owned(),
    }
    });
    let options =
        ["Nearly always", "Less often, but more often than chance", "About as often as chance"];
    let answer = Signal::derive(move || {
        measured.get().map(|(_, _, share, chance)| match share {
            share if share > 0.9 => 0,
            share if share > chance + 0.1 => 1,
            _ => 2,
        })
    });
    let explain = Signal::derive(move || {
        let Some((delay, within, beyond, chance)) = measured.get() else { return String::new() };
        format!(
            "It is right {:.0}% of the time about the symbol {delay} ahead, and {:.0}% about the one {} ahead. Chance \
             is {:.0}%.",
            100.0 * within,
            100.0 * beyond,
            delay + 1,
            100.0 * chance
        )
    });
    view! {
        <CheckYourself id="birnn-late" question options=Signal::stored(options.map(str::to_owned).to_vec())
            answer explain on_right=use_right("birnn-late")/>
    }
    .into_any()
}
