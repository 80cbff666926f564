//! What the models score, what each says of one position, and a letter to guess.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    RunState, gpt,
    study::birnn::{self, MOST_AHEAD, Passage, Reader, Reading, TaskChoice, accuracy_series},
};

use super::figure::{likeliest, reader_id, softmax};
use super::{Page, arithmetic::Arithmetic};
use crate::{
    controls::Segments,
    figures::{
        BarsFigure, Dash, Hue, Line, Lines, LinesFigure, Reference, StepRow, percent, token::mark,
        top_bars,
    },
    questions::use_answer,
    reactive::memo,
    teaching::GuessFirst,
};

/// Color and dashes of a reader's line, the same in every figure of the chapter.
fn style(reader: Reader) -> (Hue, Dash) {
    match reader {
        Reader::Forward => (Hue::First, Dash::Solid),
        Reader::Delayed(_) => (Hue::Ink, Dash::Dashed),
        Reader::Backward => (Hue::Third, Dash::Dotted),
        Reader::Both => (Hue::Second, Dash::Solid),
    }
}

/// The models that were built.
fn readers(page: Page) -> Memo<Vec<Reader>> {
    memo(move || {
        page.lab.started.track();
        page.settings.with(|settings| settings.spec(0).readers())
    })
}

/// Which answers are on show, for [`accuracy_series`].
pub fn ahead(page: Page) -> Option<u32> {
    page.settings.with(|s| (s.task == TaskChoice::Look).then_some(s.ahead))
}

/// How often a model is right just now, beside chance.
#[component]
pub fn Share(page: Page, reader: Reader) -> impl IntoView {
    let chance = chance(page);
    let share = memo(move || {
        let series = accuracy_series(reader, ahead(page));
        if page.lab.state.get() == RunState::Paused {
            return page.last(&series);
        }
        // While it trains, of the step of the guesses: those come less often.
        page.reading.track();
        untrack(|| page.last(&series))
    });
    view! {
        <span class="birnn-share">
            <span class="birnn-meter" aria-hidden="true">
                <i class:birnn-late=matches!(reader, Reader::Delayed(_)) style=move || {
                    let width = share.get().unwrap_or(0.0) * 100.0;
                    format!("width:{width}%; color:{}", style(reader).0.css())
                }></i>
                <b style=move || format!("left:{}%", chance.get().unwrap_or(0.0) * 100.0)></b>
            </span>
            <span data-testid=format!("birnn-right-{}", reader_id(reader))>
                {move || share.get().map_or("–".to_owned(), |s| percent(s, 1))}
            </span>
        </span>
    }
    .into_any()
}

/// How often one is right who knows nothing.
fn chance(page: Page) -> Memo<Option<f32>> {
    memo(move || page.reading.with(|r| r.as_ref().map(|r| r.chance)))
}

/// What the marks of the guesses and the meters beside the models' names say.
#[component]
pub fn Legend(page: Page) -> impl IntoView {
    let chance = chance(page);
    let what = move || match ahead(page) {
        Some(_) => {
            "Italics: the sequence ends before the symbol asked for. To the right of each name: how often the \
             model is right on other sequences"
        }
        None => {
            "To the right of each name: how often the model is right about missing letters of held-out text"
        }
    };
    view! {
        <p class="view-note birnn-legend">
            "Bold: right. Wavy line: wrong. "
            <span>
                {what} ". The mark shows what always making the same guess would get: "
                <span data-testid="birnn-chance">
                    {move || chance.get().map_or("–".to_owned(), |c| percent(c, 1))}
                </span> "."
            </span>
        </p>
    }
    .into_any()
}

/// What the learner should know of the sequence on show.
#[component]
pub fn Notes(page: Page) -> impl IntoView {
    let note = memo(move || {
        let reading = page.reading.get()?;
        let length = reading.run.ids.len();
        let (at, edit, delay, task) =
            page.settings.with(|s| (s.at as usize, s.edit as usize, s.delay as usize, s.task));
        let mut notes = Vec::new();
        if reading.dropped > 0 {
            notes.push(format!("Only the first {length} characters are read."));
        }
        if delay >= length {
            notes.push(format!(
                "A delay of {delay} is longer than this sequence of {length}: the delayed model \
                 never gets to answer. Use a shorter delay or a longer sentence."
            ));
        }
        if at > length {
            notes.push(format!("Position {at} is beyond the end, so nothing is pinned or hidden."));
        }
        if edit > length {
            notes.push(format!("Position {edit} is beyond the end, so nothing is changed."));
        } else if edit > 0 {
            let same = reading.edited.as_ref().is_some_and(|e| e.1.ids == reading.run.ids);
            if same {
                notes.push(
                    "The same character stands there already, so nothing changes.".to_owned(),
                );
            } else if edit == at && task == TaskChoice::Fill {
                notes.push(
                    "The changed letter is the hidden one: no model sees it, so no state changes."
                        .to_owned(),
                );
            }
        }
        (!notes.is_empty()).then(|| notes.join(" "))
    });
    view! { <p class="hint birnn-notes" role="status" data-testid="birnn-notes">{note}</p> }
}

/// The view of one position: what two models say about it, and how one answer's logit is made.
#[component]
pub fn Position(page: Page) -> impl IntoView {
    let tokens = Signal::derive(move || {
        let tokens = |reading: &Reading| {
            let run = reading.edited.as_ref().map_or(&reading.run, |(_, run)| run);
            let name = |id: &u32| reading.symbols.get(*id as usize).cloned().unwrap_or_default();
            run.ids.iter().map(name).collect()
        };
        page.reading.with(|reading| reading.as_deref().map(tokens).unwrap_or_default())
    });
    let chosen =
        Signal::derive(move || page.settings.with(|s| s.at).checked_sub(1).map(|at| at as usize));
    let choose = Callback::new(move |at: usize| page.set(|s| s.at = at as u32 + 1));
    view! {
        <StepRow label="Position" tokens chosen on_choose=choose/>
        <SideBySide page/>
        <Arithmetic page/>
    }
    .into_any()
}

/// Where an answer is given and what it is about: `at position 1, about position 4`.
pub fn of_position(page: Page, at: u32) -> String {
    let length = page.reading.with(|r| r.as_ref().map_or(0, |r| r.run.ids.len()));
    let at = at + 1;
    match ahead(page).map(|ahead| at + ahead) {
        Some(about) if about as usize > length => {
            format!("at position {at}, about a symbol after the end")
        }
        Some(about) => format!("at position {at}, about position {about}"),
        None => format!("about position {at}"),
    }
}

/// What two models say about the chosen position, beside each other.
#[component]
fn SideBySide(page: Page) -> impl IntoView {
    let position = memo(move || page.settings.with(|s| s.at).checked_sub(1));
    let bars = move |reader: Reader| {
        Signal::derive(move || {
            let bars = page.reading.with(|reading| {
                let reading = reading.as_ref()?;
                let at = position.get()? as usize;
                let model = reading.readouts.iter().position(|r| r.reader == reader)?;
                let run = reading.edited.as_ref().map_or(&reading.run, |(_, run)| run);
                let logits = run.models.get(model)?.logits.block(&[at])?;
                let right = run.targets.get(at)?.map(|id| id as usize);
                Some(top_bars(&softmax(logits), &reading.answers, 6, right))
            });
            bars.unwrap_or_default()
        })
    };
    let title = move |who: &'static str| {
        Signal::derive(move || match position.get() {
            Some(at) => format!("{who}, {}", of_position(page, at)),
            None => format!("{who}: click a position"),
        })
    };
    let top = move || if page.task.get() == TaskChoice::Look { 4 } else { 6 };
    let both = move || {
        let top = top();
        view! {
            <div>
                <BarsFigure name="birnn-bars-forward" title=title("Forward only") top hue=Hue::First
                    bars=bars(Reader::Forward) provenance=page.provenance/>
            </div>
            <div>
                <BarsFigure name="birnn-bars-both" title=title("Both ways") top hue=Hue::Second
                    bars=bars(Reader::Both) provenance=page.provenance/>
            </div>
        }
    };
    view! { <div class="view-split birnn-beside" data-ahead=move || ahead(page)>{both}</div> }
        .into_any()
}

/// The view of how often the models are right: while training, and of the made-up symbols by how
/// far ahead they lie.
#[component]
pub fn Accuracy(page: Page) -> impl IntoView {
    let content = move || {
        match page.task.get() {
        TaskChoice::Look => view! {
            <div class="view-bar" role="group" aria-label="How many steps late the delayed model answers">
                <span aria-hidden="true">"Delay"</span>
                <Segments name="birnn-late-by" choices=delays()
                    chosen=move || page.settings.with(|s| s.delay) on_choose=move |delay| page.set(|s| s.delay = delay)/>
            </div>
            <div class="view-split birnn-curves">
                <div><Reach page/></div>
                <div><Curves page/></div>
            </div>
            <p class="view-note">
                "At every position each model gives one answer for each distance. Click a distance to show it on \
                 the stage."
            </p>
        }
        .into_any(),
        TaskChoice::Fill => view! { <Curves page/> }.into_any(),
    }
    };
    content.into_any()
}

/// As far as the answers lie. The settings and links have more.
fn delays() -> Vec<(u32, &'static str, AnyView)> {
    (0..)
        .zip(["0", "1", "2", "3", "4", "5"])
        .map(|(delay, id)| (delay, id, id.into_any()))
        .collect()
}

fn reference(page: Page) -> Vec<Reference> {
    let chance = page.reading.with(|r| r.as_ref().map(|r| r.chance));
    let chance = chance.map(|chance| Reference { name: "chance".into(), y: chance.into() });
    chance.into_iter().collect()
}

/// Share of right answers over the training.
#[component]
fn Curves(page: Page) -> impl IntoView {
    let readers = readers(page);
    let lines = memo(move || {
        let series = readers.get().into_iter().map(|reader| {
            let (hue, dash) = style(reader);
            let points = page.lab.history.with(|history| {
                let series = history.named(&accuracy_series(reader, ahead(page)));
                series.map(|series| series.points()).unwrap_or_default()
            });
            Line::new(reader.name(), hue, dash, points)
        });
        Lines {
            x_label: "training step".into(),
            y_label: "share right".into(),
            series: series.collect(),
            references: reference(page),
            x_range: Lines::steps(page.lab.history.with(|history| history.last_step())),
            y_range: Some((0.0, 1.0)),
            is_share: true,
            ..Lines::default()
        }
    });
    let title = memo(move || match ahead(page) {
        Some(k) => format!("Right about the symbol {k} ahead, while training"),
        None => "Right about missing letters, while training".to_owned(),
    });
    view! {
        <LinesFigure name="birnn-curves" title lines provenance=page.provenance
            hint="The first measurement comes with the first step."/>
    }
}

/// Share of right answers against how far ahead they lie.
#[component]
fn Reach(page: Page) -> impl IntoView {
    let readers = readers(page);
    let lines = memo(move || {
        page.lab.history.track();
        let series = readers.get().into_iter().map(|reader| {
            let (hue, dash) = style(reader);
            let point =
                |k: u32| Some((f64::from(k), page.last(&accuracy_series(reader, Some(k)))?.into()));
            Line::new(reader.name(), hue, dash, (1..=MOST_AHEAD).filter_map(point).collect())
        });
        Lines {
            x_label: "steps ahead".into(),
            y_label: "share right".into(),
            series: series.collect(),
            references: reference(page),
            x_range: Some((1.0, f64::from(MOST_AHEAD))),
            y_range: Some((0.0, 1.0)),
            is_share: true,
            ..Lines::default()
        }
    });
    let marker = Signal::derive(move || Some(page.settings.with(|s| f64::from(s.ahead))));
    let on_pick = Callback::new(move |x: f64| {
        page.set(|settings| settings.ahead = (x.round() as u32).clamp(1, MOST_AHEAD));
    });
    view! {
        <LinesFigure name="birnn-reach" title="How far ahead each model can answer" lines marker on_pick
            provenance=page.provenance hint="The first measurement comes with the first step."/>
    }
}

/// Characters of a text that show what guessing is about: at least, and as many as are a line of a
/// wide stage.
const SHOWN: usize = 32;
const MOST_SHOWN: usize = 46;

/// The view of a letter to guess, which asks for the task of missing letters.
#[component]
pub fn Guess(page: Page) -> impl IntoView {
    let content = move || {
        match page.task.get() {
        TaskChoice::Fill => view! { <Passages page/> }.into_any(),
        TaskChoice::Look => view! {
            <div class="birnn-switch">
                {move || {
                    let (before, after) = page.store.source.with(|source| blanked(&source.text))?;
                    Some(gapped(before, "?".into_any(), after))
                }}
                <p>
                    "Which letter is in the box? Here you guess first, and then two models do: one that has read only \
                     what comes before, and one that has read both sides. So far they have been trained on made-up \
                     symbols."
                </p>
                <button type="button" class="button button-primary" data-testid="birnn-to-fill"
                    on:click=move |_| page.set(|s| s.task = TaskChoice::Fill)>
                    "Train them on missing letters"
                </button>
            </div>
        }
        .into_any(),
    }
    };
    view! { <div class="view-scroll birnn-guess">{content}</div> }.into_any()
}

/// Text around a letter that is missing: a box, with `letter` in it.
fn gapped(before: String, letter: AnyView, after: String) -> AnyView {
    view! {
        <p class="birnn-blank" translate="no" data-testid="birnn-blank">
            {before}<b class="birnn-gap">{letter}</b>{after}
        </p>
    }
    .into_any()
}

/// The start of the text as what is to come looks: what stands before a missing letter, and after it.
fn blanked(text: &str) -> Option<(String, String)> {
    let line = text.lines().find(|line| line.chars().count() >= SHOWN)?;
    let mut letters: Vec<char> = line.chars().take(MOST_SHOWN).collect();
    let is_cut = line.chars().count() > MOST_SHOWN;
    if is_cut && let Some(space) = letters.iter().rposition(|letter| *letter == ' ') {
        letters.truncate(space.max(SHOWN));
    }
    let inside = |at: &usize| letters[at - 1..=at + 1].iter().all(|letter| letter.is_alphabetic());
    let at = (SHOWN / 2..SHOWN - 1).find(inside)?;
    let after = letters[at + 1..].iter().copied().chain(is_cut.then_some('…')).collect();
    Some((letters[..at].iter().collect(), after))
}

/// Held-out passages, each with a letter to guess before the models say theirs.
#[component]
fn Passages(page: Page) -> impl IntoView {
    let number = memo(move || page.settings.with(|s| s.passage));
    let answered = use_answer(page.lab, move || Some(birnn::ask::Passage { number: number.get() }));
    let passage = answered.answer;
    // What is read, and which of it is hidden.
    let text = memo(move || {
        let number = number.get();
        passage.with(|p| {
            let p = p.as_ref().filter(|p| p.number == number)?;
            Some((p.tokens.clone(), p.missing))
        })
    });
    view! {
        // A guess belongs to one passage.
        {move || {
            let (tokens, missing) = text.get().unwrap_or_default();
            let passage = memo(move || passage.get().filter(|_| text.with(Option::is_some)));
            view! { <OneGuess page passage tokens missing=missing as usize/> }
        }}
        <button type="button" class="button" data-testid="birnn-passage-next"
            on:click=move |_| page.set(|s| s.passage = s.passage % 200 + 1)>
            "Another passage"
        </button>
    }
}

/// The right letter and what the models thought of first, in order, filled up to four.
fn options(passage: &Passage) -> Vec<usize> {
    let mut options = vec![passage.right as usize];
    let ranked = passage.models.iter().map(|(_, probabilities)| gpt::likeliest(probabilities));
    let ranked: Vec<_> = ranked.collect();
    for place in 0..passage.answers.len() {
        for ids in &ranked {
            if options.len() < 4 && !options.contains(&ids[place]) {
                options.push(ids[place]);
            }
        }
    }
    options.sort_unstable();
    options
}

#[component]
fn OneGuess(
    page: Page,
    passage: Memo<Option<Arc<Passage>>>,
    tokens: Vec<String>,
    missing: usize,
) -> impl IntoView {
    let revealed = RwSignal::new(false);
    // Training on would change the options under the learner's hand.
    let choices = Memo::new(move |before: Option<&Vec<usize>>| match before {
        Some(before) if !before.is_empty() => before.clone(),
        _ => passage.with(|p| p.as_ref().map_or_else(Vec::new, |p| options(p))),
    });
    let option_names = Signal::derive(move || {
        let name = |p: &Passage, id: usize| p.answers.get(id).map_or_else(String::new, |a| mark(a));
        passage.with(|p| {
            let Some(p) = p else { return Vec::new() };
            choices.get().into_iter().map(|id| name(p, id)).collect()
        })
    });
    let answer = Signal::derive(move || {
        let right = passage.with(|p| p.as_ref().map(|p| p.right as usize))?;
        choices.get().iter().position(|id| *id == right)
    });
    let explain = Signal::derive(move || {
        passage.with(|p| {
            let Some(p) = p else { return String::new() };
            let name = |id: usize| p.answers.get(id).map_or_else(String::new, |a| mark(a));
            // Those whose answers are drawn below.
            let drawn =
                p.models.iter().filter(|(r, _)| matches!(r, Reader::Forward | Reader::Both));
            let each = drawn.filter_map(|(reader, probabilities)| {
                let first = likeliest(probabilities)?;
                let right = probabilities.get(p.right as usize)?;
                Some(format!(
                    "{} gave it {} and guessed ‘{}’",
                    reader.name(),
                    percent(*right, 1),
                    name(first)
                ))
            });
            format!("It was ‘{}’: {}.", name(p.right as usize), each.collect::<Vec<_>>().join("; "))
        })
    });
    let bars = move |reader: Reader| {
        Signal::derive(move || {
            passage.with(|p| {
                let Some(p) = p.as_ref().filter(|_| revealed.get()) else { return Vec::new() };
                let of = p.models.iter().find(|(r, _)| *r == reader);
                of.map_or_else(Vec::new, |(_, probabilities)| {
                    top_bars(probabilities, &p.answers, 4, Some(p.right as usize))
                })
            })
        })
    };
    let provenance = page.provenance;
    let read = |tokens: &[String]| tokens.iter().map(|t| mark(t).replace('␣', " ")).collect();
    let letter = tokens.get(missing).map_or_else(String::new, |token| mark(token));
    let letter = move || if revealed.get() { letter.clone() } else { "?".to_owned() };
    let (before, rest) = tokens.split_at(missing.min(tokens.len()));
    let after = rest.get(1..).unwrap_or_default();
    view! {
        {gapped(read(before), letter.into_any(), read(after))}
        <GuessFirst id="birnn-passage" question="Which character is in the box? Guess first."
            options=option_names answer explain>
            {move || revealed.set(true)}
        </GuessFirst>
        // Here from the start, so that nothing moves when the answers come.
        <div class="birnn-beside">
            <BarsFigure name="birnn-guess-forward" title="Forward only" top=4 hue=Hue::First
                bars=bars(Reader::Forward) provenance/>
            <BarsFigure name="birnn-guess-both" title="Both ways" top=4 hue=Hue::Second
                bars=bars(Reader::Both) provenance/>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_inside_a_word_is_left_out() {
        let text = "short\nOnce, by the slow green river, there was a mill";
        let around = ("Once, by the slow g".into(), "een river, there was a…".into());
        assert_eq!(blanked(text), Some(around));
        assert_eq!(blanked("1234 5678 ".repeat(9).as_str()), None);
        assert_eq!(blanked(""), None);
    }
}
