//! Several continuations of the sentence, each drawn in another way.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    gpt::{Place, SampleSpec, Sampling, Written, ask},
};

use super::{
    Page,
    choose::named,
    picture::{Drawing, Picture, Shown},
    skyline::{Letter, Passage, Skyline},
};
use crate::{
    controls::{TokenField, grouped, use_probe},
    figures::clock,
    questions::Reply,
    reactive::{effect, memo},
};

/// Tokens of each continuation.
const LENGTH: u32 = 80;
/// While it trains, the texts are written anew no sooner than so many milliseconds after the last
/// were done: writing them takes time that training could use.
const PAUSE: f64 = 4000.0;

const fn cut(top_k: u32, top_p: f32) -> Sampling {
    Sampling { top_k, top_p, ..Sampling::PLAIN }
}

const fn heat(temperature: f32) -> Sampling {
    Sampling { temperature, ..Sampling::PLAIN }
}

/// The ways to choose; the last is the learner's own.
const WAYS: [(&str, Option<Sampling>); 7] = [
    ("Greedy", Some(Sampling::GREEDY)),
    ("Cool", Some(heat(0.5))),
    ("Unchanged", Some(Sampling::PLAIN)),
    ("Hot", Some(heat(1.6))),
    ("Top k", Some(cut(5, 1.0))),
    ("Top p", Some(cut(0, 0.9))),
    ("Yours", None),
];

/// What the texts depend on, but for the model.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    prompt: String,
    seed: u32,
    yours: Sampling,
}

impl Asked {
    fn sample(&self, row: usize) -> SampleSpec {
        SampleSpec {
            prompt: self.prompt.clone(),
            length: LENGTH,
            sampling: WAYS[row].1.unwrap_or(self.yours),
            seed: self.seed,
            place: Place::Beside(row as u32),
        }
    }
}

/// A model by its number, whether it is a moment of the past, and its step.
type Model = (u32, bool, u32);

/// A round of texts, one after the other.
#[derive(Default)]
struct Round {
    asked: Option<(Asked, Model)>,
    /// The question that is open.
    open: Option<u32>,
    done_at: f64,
    /// Texts that take the place of those on show once all of them are written, if they are to.
    next: Option<Vec<Text>>,
}

/// What is written, and after which step: a model that trains has come further by the next row.
type Text = Option<(u32, Written)>;

#[derive(Clone, Copy)]
struct Texts {
    page: Page,
    round: StoredValue<Round, LocalStorage>,
    /// What is written so far.
    written: RwSignal<Vec<Text>>,
    problem: RwSignal<String>,
    /// Whether a round is under way.
    busy: RwSignal<bool>,
}

impl Texts {
    fn new(page: Page) -> Self {
        let texts = Self {
            page,
            round: StoredValue::new_local(Round::default()),
            written: RwSignal::new(vec![None; WAYS.len()]),
            problem: RwSignal::new(String::new()),
            busy: RwSignal::new(false),
        };
        let asked = memo(move || {
            let (seed, yours) = page.store.link.with(|link| (link.seed, link.gpt.sampling()));
            let seed = seed.wrapping_mul(10_000).wrapping_add(page.draw.get());
            Asked { prompt: page.store.probe.get(), seed, yours }
        });
        let questions = page.questions;
        effect(move || {
            let past = questions.at.get();
            let model = (questions.generation.get(), past.is_some(), questions.shown());
            let running = questions.state.get() == RunState::Running;
            // Once a round ends, what has changed meanwhile counts.
            let busy = texts.busy.get();
            let asked = asked.get();
            let before = texts.round.with_value(|round| {
                let (before, of) = round.asked.clone()?;
                Some((before == asked && of.0 == model.0 && of.1 == model.1, of, round.done_at))
            });
            match before {
                Some((true, of, _)) if of == model => {}
                // While it trains, the same of a later step can wait.
                Some((true, (_, false, _), _)) if busy && running => {}
                Some((true, (_, false, _), done)) if running && clock() - done < PAUSE => {}
                _ if page.store.started.with(Option::is_none) => {}
                // What can be read stays until all of the later step are there.
                Some((true, (_, false, _), _)) => texts.begin(asked, model, true),
                _ => texts.begin(asked, model, false),
            }
        });
        on_cleanup(move || texts.forget());
        texts
    }

    fn forget(self) {
        let open = self.round.try_update_value(|round| round.open.take()).flatten();
        if let Some(open) = open {
            self.page.questions.forget(open);
        }
    }

    fn begin(self, asked: Asked, model: Model, apart: bool) {
        self.forget();
        self.round.update_value(|round| {
            round.asked = Some((asked, model));
            round.next = apart.then(|| vec![None; WAYS.len()]);
        });
        self.problem.set(String::new());
        self.busy.set(true);
        self.ask(0);
    }

    fn ask(self, row: usize) {
        let sample = self.round.with_value(|round| {
            let (asked, _) = round.asked.as_ref()?;
            (row < WAYS.len()).then(|| asked.sample(row))
        });
        let Some(sample) = sample else { return self.end() };
        let question = ask::Writing { sample };
        let open = self.page.questions.ask_once(question, move |reply| self.hear(row, reply));
        self.round.update_value(|round| round.open = Some(open));
    }

    fn hear(self, row: usize, reply: Reply<Written>) {
        match reply {
            Some(Ok((step, written))) => {
                let done = written.done;
                let apart = self.round.try_update_value(|round| {
                    let next = round.next.as_mut()?;
                    next[row] = Some((step, written.clone()));
                    Some(if done && row + 1 == WAYS.len() { round.next.take() } else { None })
                });
                match apart.flatten() {
                    None => self.written.update(|all| all[row] = Some((step, written))),
                    Some(Some(all)) => self.written.set(all),
                    Some(None) => {}
                }
                if done {
                    self.ask(row + 1);
                }
            }
            Some(Err(reason)) => {
                self.problem.set(reason);
                self.end();
            }
            None => self.end(),
        }
    }

    fn end(self) {
        self.round.update_value(|round| {
            round.open = None;
            round.done_at = clock();
        });
        self.busy.set(false);
    }

    fn skyline(self) -> Skyline {
        let yours = self.page.store.link.with(|link| link.gpt.sampling());
        let passages = self.written.with(|all| {
            let passage = |(text, (name, way)): (&Text, &(&str, Option<Sampling>))| {
                passage(name, &way.unwrap_or(yours), text.as_ref().map(|text| &text.1))
            };
            all.iter().zip(&WAYS).map(passage).collect()
        });
        let planned = LENGTH as usize;
        Skyline { passages, planned, tinted: self.page.store.has_tinted_tokens() }
    }

    /// The first and the last step of those after which the texts on show were written.
    fn steps(self) -> Option<(u32, u32)> {
        self.written.with(|all| {
            let steps = || all.iter().flatten().map(|text| text.0);
            Some((steps().min()?, steps().max()?))
        })
    }
}

/// One continuation with what is said of it.
fn passage(name: &str, sampling: &Sampling, written: Option<&Written>) -> Passage {
    let letters = written.map_or(Vec::new(), |written| {
        let surprises = written.surprises.iter().map(|surprise| Some(*surprise));
        let letter = |(token, surprise): (&String, _)| Letter {
            token: token.clone(),
            surprise,
            expected: None,
        };
        written.tokens.iter().zip(surprises).map(letter).collect()
    });
    let value = match *sampling {
        Sampling { top_k, .. } if name == "Top k" => format!(" {top_k}"),
        Sampling { top_p, .. } if name == "Top p" => format!(" {top_p}"),
        Sampling { temperature, .. } if name != "Yours" => format!(" ({temperature})"),
        _ => String::new(),
    };
    let mut passage = Passage { name: format!("{name}{value}"), notes: Vec::new(), letters };
    passage.notes = match passage.mean() {
        Some(mean) => {
            vec![format!("surprise {mean:.2} nats"), format!("perplexity {:.1}", mean.exp())]
        }
        None => Vec::new(),
    };
    passage
}

/// After which steps the texts were written.
fn when(first: u32, last: u32) -> String {
    let step = |step: u32| grouped(step.into());
    match (first, last) {
        (_, 0) => "Written before any training".to_owned(),
        (first, last) if first == last => format!("Written after step {}", step(last)),
        (first, last) => {
            format!("Written while it trained, between steps {} and {}", step(first), step(last))
        }
    }
}

#[component]
pub fn Beside(page: Page) -> impl IntoView {
    let texts = Texts::new(page);
    let drawing = Signal::derive(move || {
        let any = texts.written.with(|all| all.iter().any(Option::is_some));
        any.then(|| Arc::new(texts.skyline()) as Arc<dyn Drawing>) as Shown
    });
    let note = move || {
        let problem = texts.problem.get();
        if !problem.is_empty() {
            return format!(" {problem}");
        }
        let yours = page.store.link.with(|link| link.gpt.sampling());
        format!(
            " The bar over a {} shows how much it surprised the model. Beside each text stand its perplexity and, \
             where there is room, its mean surprise. The ways that draw at random all use the same random numbers. Yours: {}.",
            page.unit(),
            named(&yours)
        )
    };
    let step = move || {
        let Some((first, last)) = texts.steps() else { return String::new() };
        let said = when(first, last);
        let questions = page.questions;
        let rests = questions.state.get() == RunState::Paused;
        let now = questions.shown();
        let is_later = rests && texts.busy.get() && (first, last) != (now, now);
        if is_later { said + "; texts from the step on show are on their way." } else { said + "." }
    };
    view! {
        <div class="view-fill" data-testid="decode-beside" data-busy=move || texts.busy.get().to_string()>
            <div class="view-bar decode-bar">
                <TokenField editor=use_probe()/>
                <button type="button" class="button" data-testid="decode-again"
                    on:click=move |_| page.draw.update(|draw| *draw = *draw % 9999 + 1)>
                    "Draw again"
                </button>
            </div>
            <Picture name="beside" title="Seven ways to continue" drawing
                label="Seven continuations under each other, with a bar over each token as tall as its surprise. Arrow keys move between tokens."
                hint="Point at a token to read its surprise."/>
            <p class="view-note decode-note" data-testid="beside-note">
                <span data-testid="decode-step">{step}</span> {note}
            </p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continuation_is_read_with_its_mean() {
        let tokens = ["a", "b", "\n"].map(String::from).to_vec();
        let surprises = vec![1.0, 2.0, 3.0];
        let written = Written { text: "ab\n".into(), tokens, surprises, done: true };
        let read = passage("Top p", &cut(0, 0.9), Some(&written));
        assert_eq!(read.name, "Top p 0.9");
        assert_eq!(read.notes, ["surprise 2.00 nats", "perplexity 7.4"]);
        assert_eq!(read.letters[2].token, "\n");
        assert!(passage("Yours", &heat(0.8), None).notes.is_empty());
        assert_eq!(when(0, 0), "Written before any training");
        assert_eq!(when(42, 42), "Written after step 42");
        assert!(when(0, 42).ends_with("between steps 0 and 42"));
    }

    #[test]
    fn all_ways_share_the_draws() {
        let asked = Asked { prompt: "The".into(), seed: 10_001, yours: heat(0.7) };
        let all: Vec<SampleSpec> = (0..WAYS.len()).map(|row| asked.sample(row)).collect();
        assert!(all.iter().all(|sample| sample.seed == 10_001 && sample.prompt == "The"));
        assert_eq!(all[6].sampling, heat(0.7));
        assert!(all.windows(2).all(|two| two[0].place != two[1].place));
    }
}
