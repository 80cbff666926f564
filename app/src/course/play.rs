//! The run played from its first recorded moment to the present, on the stage or into a file.

use core::time::Duration;
use std::{cell::Cell, rc::Rc};

use leptos::{prelude::*, task::spawn_local};

use super::{Run, film::FILM, time_bar::place};
use crate::{
    controls::{Timer, use_timer},
    figures::{clock, download::Choice},
};

/// The lengths to choose from, in seconds.
pub const LENGTHS: [u32; 3] = [5, 10, 20];
/// How often the next moment is looked for: no model answers for many figures more quickly.
const TICK: Duration = Duration::from_millis(40);
/// How long it is said what became of a film.
const SAYS: Duration = Duration::from_secs(12);

thread_local! {
    /// The length chosen last, in whichever chapter.
    static LENGTH: Cell<u32> = const { Cell::new(10) };
}

/// What is being played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    Rest,
    Plays,
    /// Into a file: how many pictures of how many are taken. Of none before it is known.
    Films(usize, usize),
}

/// Plays a run. `Copy`: a handle of the owner it was made under.
#[derive(Clone, Copy)]
pub struct Player {
    run: Run,
    pub state: RwSignal<State>,
    /// Seconds from the first moment to the present.
    pub length: RwSignal<u32>,
    /// What became of a film, for a while.
    pub said: RwSignal<String>,
    timer: Timer,
    forgets: Timer,
    /// Whether a film is being made, though it may have been told to stop.
    films: StoredValue<bool>,
}

/// What stays the same while it is played.
#[derive(Clone, Copy)]
struct Playing {
    began: f64,
    milliseconds: f64,
    /// The present, as it was at the beginning.
    last: u32,
}

impl Player {
    pub fn new(run: Run) -> Self {
        Self {
            run,
            state: RwSignal::new(State::Rest),
            length: RwSignal::new(LENGTH.get()),
            said: RwSignal::default(),
            timer: use_timer(),
            forgets: use_timer(),
            films: StoredValue::new(false),
        }
    }

    /// Tracks it.
    pub fn is_on(self) -> bool {
        self.state.get() != State::Rest
    }

    /// In a word, for styles and tests.
    pub fn name(self) -> &'static str {
        match self.state.get() {
            State::Rest => "rests",
            State::Plays => "plays",
            State::Films(..) => "films",
        }
    }

    /// What its button does. Begins with what is written on the button.
    pub fn does(self) -> String {
        match self.state.get() {
            State::Rest => format!("Replay the run over {} seconds", self.length.get()),
            State::Plays => "Stop here (Escape)".to_owned(),
            State::Films(..) => "Stop the film (Escape)".to_owned(),
        }
    }

    pub fn choose(self, length: u32) {
        LENGTH.set(length);
        self.length.set(length);
    }

    /// Plays, or stops where it is.
    pub fn toggle(self) {
        if self.state.get_untracked() != State::Rest {
            return self.stop();
        }
        self.say(String::new());
        let (questions, last) = (self.run.questions, self.run.step.get_untracked());
        let Some(first) = questions.recorded.with_untracked(|all| all.steps.first().copied())
        else {
            return;
        };
        questions.look_at(Some(first));
        self.state.set(State::Plays);
        let milliseconds = 1000.0 * f64::from(self.length.get_untracked());
        self.go_on(first, Playing { began: clock(), milliseconds, last });
    }

    /// What is on show stays on show. A film leads back to what was on show before, by itself.
    pub fn stop(self) {
        self.timer.stop();
        if self.state.get_untracked() != State::Rest {
            self.state.set(State::Rest);
        }
    }

    /// The next moment a little later, unless somebody has looked elsewhere than at `shown` by then.
    fn go_on(self, shown: u32, playing: Playing) {
        self.timer.start(TICK, move || {
            let questions = self.run.questions;
            let recorded = questions.recorded.get_untracked();
            let at = questions.at.get_untracked();
            // A moment that is no longer there gives way to its neighbor.
            let lost = !recorded.steps.contains(&shown);
            let Some(now) = at.filter(|at| *at == shown || lost) else { return self.stop() };
            let share = (clock() - playing.began) / playing.milliseconds;
            if share >= 1.0 {
                self.stop();
                return questions.look_at(None);
            }
            // Never faster than the answers come: moments are left out instead.
            let next = if questions.behind.get_untracked() == 0 {
                due(&recorded.steps, playing.last, share).unwrap_or(now)
            } else {
                now
            };
            questions.look_at(Some(next));
            self.go_on(next, playing);
        });
    }

    /// Makes a film of the figure that `picture` draws, and hands it to the learner.
    pub fn film(self, picture: Choice) {
        if self.films.get_value() {
            return;
        }
        self.stop();
        self.say(String::new());
        self.films.set_value(true);
        self.state.set(State::Films(0, 0));
        let told = Rc::new(move |done, of| {
            let films = matches!(self.state.try_get_untracked(), Some(State::Films(..)));
            if films {
                self.state.set(State::Films(done, of));
            }
            films
        });
        let (questions, length) = (self.run.questions, self.length.get_untracked());
        spawn_local(async move {
            let said = match FILM().await {
                Ok(film) => film(picture, questions, length, told).await,
                Err(_) => "The part of the page that makes films could not be loaded. Try again."
                    .to_owned(),
            };
            // The chapter may be gone by now.
            self.films.try_set_value(false);
            if self.state.try_get_untracked().is_some() {
                self.stop();
                self.say(said);
            }
        });
    }

    fn say(self, sentence: String) {
        if sentence.is_empty() {
            self.forgets.stop();
        } else {
            self.forgets.start(SAYS, move || {
                self.said.try_set(String::new());
            });
        }
        if self.said.with_untracked(|said| *said != sentence) {
            self.said.set(sentence);
        }
    }
}

/// Where a moment lies on the way from the first one to the last.
fn along(step: u32, first: u32, last: u32) -> f64 {
    let at = |step: u32| place(step.into(), last.into());
    (at(step) - at(first)) / (at(last) - at(first)).max(f64::MIN_POSITIVE)
}

/// The moment to be on show after this share of the time: the latest that the head of the time bar,
/// which goes evenly along the track, has passed. The present is not among them.
fn due(recorded: &[u32], last: u32, share: f64) -> Option<u32> {
    let first = *recorded.first()?;
    let passed = |step: &u32| *step < last && along(*step, first, last) <= share;
    recorded.iter().copied().take_while(passed).last()
}

/// At most `most` of the moments, the first and the last among them, each with the milliseconds until
/// the next, of so many altogether.
pub fn chosen(recorded: &[u32], most: usize, milliseconds: f64) -> Vec<(u32, f64)> {
    let (Some(first), Some(last)) = (recorded.first(), recorded.last()) else { return Vec::new() };
    let at = |step: u32| along(step, *first, *last);
    let apart = 1.0 / (most.max(2) - 1) as f64;
    let mut chosen = vec![*first];
    for step in &recorded[1..] {
        let before = chosen[chosen.len() - 1];
        if at(*step) - at(before) >= apart {
            chosen.push(*step);
        } else if step == last {
            // The last one takes the place of its neighbor.
            if chosen.len() > 1 {
                chosen.pop();
            }
            chosen.push(*step);
        }
    }
    let ends = chosen.iter().skip(1).chain(chosen.last());
    let waits = ends.zip(&chosen).map(|(end, step)| milliseconds * (at(*end) - at(*step)));
    chosen.iter().copied().zip(waits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moments of a run of 2000 steps: one a step at first, later a sixteenth apart.
    fn long() -> Vec<u32> {
        let mut steps = vec![0_u32];
        while let Some(last) = steps.last().filter(|last| **last < 2000) {
            steps.push((last + 1.max(last / 16)).min(2000));
        }
        steps
    }

    #[test]
    fn the_head_goes_evenly_along_the_track() {
        let recorded = long();
        let shown = |share| due(&recorded, 2000, share).expect("there is a first one");
        assert_eq!((shown(0.0), shown(0.03), shown(0.08)), (0, 0, 1));
        for i in 0..100 {
            let share = f64::from(i) / 100.0;
            let now = shown(share);
            let head = along(now, 0, 2000);
            assert!(head <= share, "{share}: {now} is still to come");
            let next = recorded[recorded.partition_point(|step| *step <= now)];
            assert!(next == 2000 || along(next, 0, 2000) > share, "{share}: {next} is late");
        }
        assert!(shown(1.0) < 2000, "the present comes last");
        // A run that goes on from a checkpoint begins at once, too.
        assert_eq!(due(&[500, 600, 900], 1000, 0.0), Some(500));
        assert_eq!(due(&[500, 600, 900], 1000, 0.5), Some(600));
        assert_eq!(due(&[], 1000, 0.5), None);
    }

    #[test]
    fn a_film_has_the_first_and_the_last_moment_and_its_length() {
        let recorded = long();
        assert!(recorded.len() > 100);
        for most in [2, 24, 60, 120] {
            let film = chosen(&recorded, most, 10_000.0);
            assert!((2..=most).contains(&film.len()), "{most}: {}", film.len());
            assert_eq!((film[0].0, film[film.len() - 1]), (0, (2000, 0.0)));
            assert!(film.windows(2).all(|pair| pair[0].0 < pair[1].0), "{film:?}");
            let whole: f64 = film.iter().map(|(_, wait)| wait).sum();
            assert!((whole - 10_000.0).abs() < 1e-6, "{whole}");
        }
        // All of few, for as long as the head takes from each to the next.
        let few = chosen(&[0, 1, 3], 120, 1000.0);
        assert_eq!(
            few.iter().map(|(step, wait)| (*step, wait.round())).collect::<Vec<_>>(),
            [(0, 40.0), (1, 960.0), (3, 0.0)]
        );
        assert_eq!(chosen(&[7], 120, 1000.0), [(7, 0.0)]);
    }
}
