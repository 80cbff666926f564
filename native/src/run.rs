//! What is known of the engine's run, so that a page which opens later can show it.

use unroll_protocol::{
    Checkpoint, CurvePoint, Event, PoolReport, Progress, Recorded, RunState, Started,
    native::{Found, Note},
};

/// So many points of the curve are kept: more than a page can show. When there are more, every other one of
/// the older half goes.
const MOST_POINTS: usize = 100_000;

/// A start that the session was given and has not answered yet.
struct Starting {
    text: String,
    workers: u32,
}

/// The run as the session's events tell of it.
#[derive(Default)]
pub struct Known {
    starting: Option<Starting>,
    run: Option<Run>,
    pool: PoolReport,
}

struct Run {
    started: Started,
    text: String,
    workers: u32,
    /// From the first step that was taken here.
    progress: Progress,
    state: RunState,
    recorded: Recorded,
    /// That its numbers ran away, while it rests there.
    diverged: Option<Event>,
    note: Option<Note>,
    /// The step that it had when it came to this engine.
    first: u32,
}

impl Run {
    fn step(&self) -> u32 {
        self.started.step
    }

    fn forget_after(&mut self, step: u32) {
        self.progress.points.retain(|point| point.step <= step);
    }
}

fn thin(points: &mut Vec<CurvePoint>) {
    if points.len() <= MOST_POINTS {
        return;
    }
    let (half, mut at) = (points.len() / 2, 0);
    points.retain(|point| {
        at += 1;
        at > half || at % 2 == 1 || point.held_out.is_some()
    });
}

impl Known {
    /// The session is given a start: `text` is learned, and so many workers were asked for.
    pub fn is_starting(&mut self, text: String, workers: u32) {
        self.starting = Some(Starting { text, workers });
    }

    /// The present model learns at another rate from now on.
    pub fn set_learning_rate(&mut self, rate: f32) {
        if let Some(run) = &mut self.run {
            run.started.spec.optimizer.learning_rate = rate;
        }
    }

    /// The page said what only it knows.
    pub fn set_note(&mut self, note: Note) {
        if let Some(run) = &mut self.run {
            let before = run.note.take().unwrap_or_default().before;
            let before = if note.before.is_empty() { before } else { note.before };
            run.note = Some(Note { before, ..note });
        }
    }

    /// The session said something.
    pub fn heard(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                let Some(Starting { text, workers }) = self.starting.take() else { return };
                self.run = Some(Run {
                    started: started.clone(),
                    text,
                    workers,
                    progress: Progress {
                        points: Vec::new(),
                        tokens_per_second: 0.0,
                        milliseconds_per_step: 0.0,
                    },
                    state: RunState::Paused,
                    recorded: Recorded::default(),
                    diverged: None,
                    note: None,
                    first: started.step,
                });
                return;
            }
            Event::Refused { command: unroll_protocol::CommandKind::Start, .. } => {
                self.starting = None;
            }
            Event::Pool(report) => self.pool = *report,
            _ => {}
        }
        let Some(run) = &mut self.run else { return };
        match event {
            Event::Restored(started) => {
                run.started = started.clone();
                run.forget_after(started.step);
                run.diverged = None;
            }
            Event::State { state, step } => {
                run.state = *state;
                run.started.step = *step;
                if *state == RunState::Running {
                    run.diverged = None;
                }
            }
            Event::Progress(Progress { points, tokens_per_second, milliseconds_per_step }) => {
                run.progress.points.extend(points);
                thin(&mut run.progress.points);
                run.progress.tokens_per_second = *tokens_per_second;
                run.progress.milliseconds_per_step = *milliseconds_per_step;
                run.started.step = points.last().map_or(run.started.step, |point| point.step);
            }
            Event::Recorded(recorded) => run.recorded = recorded.clone(),
            Event::Diverged { .. } => run.diverged = Some(event.clone()),
            _ => {}
        }
    }

    /// The run as a page that opens shows it. A model that was never trained is none: it can be had again.
    pub fn found(&self) -> Option<Found> {
        let run = self.run.as_ref().filter(|run| run.step() > 0)?;
        let before = run.note.iter().flat_map(|note| &note.before);
        let before = before.filter(|point| point.step <= run.first.min(run.step()));
        Some(Found {
            started: run.started.clone(),
            workers: run.workers,
            text: run.text.clone(),
            points: before.copied().chain(run.progress.points.iter().copied()).collect(),
            note: run.note.as_ref().map(|note| Note { before: Vec::new(), ..note.clone() }),
        })
    }

    /// What a page has to hear that takes the run up and knows of it as far as `named` says; `None` if
    /// there is no such run any more.
    pub fn told_again(&self, named: &Checkpoint) -> Option<Vec<Event>> {
        let run = self.run.as_ref().filter(|run| run.started.spec == named.spec)?;
        let mut events = vec![
            Event::Started(run.started.clone()),
            Event::Recorded(run.recorded.clone()),
            Event::State { state: run.state, step: run.step() },
            Event::Pool(self.pool),
        ];
        let news = run.progress.points.iter().filter(|point| point.step > named.step);
        let points: Vec<_> = news.copied().collect();
        if !points.is_empty() {
            events.push(Event::Progress(Progress { points, ..run.progress }));
        }
        events.extend(run.diverged.clone());
        Some(events)
    }

    /// What the text of the run is called, as far as the page has said it.
    pub fn text_name(&self) -> &str {
        let note = self.run.as_ref().and_then(|run| run.note.as_ref());
        note.map_or("", |note| &note.text)
    }

    /// The step of the run, and whether it trains.
    pub fn step(&self) -> Option<(u32, bool)> {
        self.run.as_ref().map(|run| (run.step(), run.state == RunState::Running))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_loses_older_points_first() {
        let point = |step| CurvePoint {
            step,
            loss: 1.0,
            held_out: (step == 2).then_some(1.0),
            gradient_norm: 1.0,
            learning_rate: 0.1,
        };
        let mut points: Vec<_> = (1..=MOST_POINTS as u32 + 1).map(point).collect();
        thin(&mut points);
        assert!(points.len() < MOST_POINTS * 4 / 5, "{}", points.len());
        let steps: Vec<_> = points.iter().map(|point| point.step).collect();
        assert_eq!(steps[..4], [1, 2, 3, 5]);
        assert_eq!(steps[steps.len() - 3..], [99_999, 100_000, 100_001]);
        let before = points.clone();
        thin(&mut points);
        assert_eq!(points, before);
    }
}
