//! The engine without a browser: commands in, events out, work in slices.
//!
//! Nothing here waits: [`Session::handle`] carries out a command at once and [`Session::advance`]
//! does one slice of the pending work (a part of a training step, a generated token, a window of
//! held-out text), so the caller can let messages in between any two slices.

mod answer;
mod experiment;
mod history;
mod measure;
mod present;
mod study;
mod writing;

use std::collections::VecDeque;

use burn::tensor::Device;
use unroll_model::{Filling, Trainer};
use unroll_protocol::{
    Checkpoint, Command, CommandKind, Event, ExperimentSpec, LabQuestion, Limits, Packed, Recorded,
    RunState, gpt, study::heads::HeadAt, text::check_size,
};

use crate::{
    meter::Meter,
    pool::{Parcel, Pool, Sender},
};
use answer::{Asked, LastRead, NOT_OURS};
use experiment::{Experiment, Taken, steps_together};
use measure::Measuring;
use present::{Present, started};
use study::StudyRun;
pub use study::{Marker, NoStudies, Studies};
use writing::Writing;

/// Milliseconds between two [`Event::Progress`] while training: faster than people can see or
/// screens can show.
const PROGRESS_EVERY: f64 = 50.0;

/// Why an engine of the chapters' models refuses what is for the lab.
const NOT_THE_LAB: &str = "This engine trains the chapters' models, not the GPT lab's.";

/// Why an engine refuses a model of another's making.
const NOT_OPENED: &str = "This engine can’t open a model that was trained elsewhere.";

/// Why a given model refuses what is for models in training.
const NOT_TRAINED: &str =
    "This model comes from elsewhere. Here you can look into it, but not train it.";

/// Whether training runs.
#[derive(Clone, Copy, PartialEq)]
enum Going {
    Paused,
    /// Runs for this many more steps, or without limit if `None`.
    Steps(Option<u32>),
}

/// An engine: at most one experiment, and the texts that its model writes one after the other. `S` is
/// what it can train for chapters.
pub struct Session<S: Studies = NoStudies> {
    device: Device,
    limits: Limits,
    now: fn() -> f64,
    present: Option<Present<S>>,
    /// A model of another's making whose weights are still coming.
    filling: Option<(Filling, S::Given)>,
    going: Going,
    /// The first is being written; the others wait.
    writings: VecDeque<Writing>,
    /// The second says that there can be one.
    measuring: Option<(Measuring, S::Lab)>,
    /// Whether generation has the next slice if there is both training and generation to do.
    writing_turn: bool,
    meter: Meter,
    told_at: f64,
    /// Megabytes for the moments of a model.
    budget: u32,
    pool: Pool,
    /// Whether the last slice could only wait for a helper.
    waiting: bool,
}

impl<S: Studies> Session<S> {
    /// An idle engine. `now` is a monotonic clock in milliseconds; it decides when events are sent,
    /// never what is computed.
    pub fn new(device: Device, now: fn() -> f64) -> Self {
        Self::within(Limits::TAB, device, now)
    }

    /// The same with models of the lab as large as these limits let them be.
    pub fn within(limits: Limits, device: Device, now: fn() -> f64) -> Self {
        unroll_model::set_clock(now);
        Self {
            device,
            limits,
            now,
            present: None,
            filling: None,
            going: Going::Paused,
            writings: VecDeque::new(),
            measuring: None,
            writing_turn: false,
            meter: Meter::default(),
            told_at: f64::NEG_INFINITY,
            budget: Recorded::BUDGET,
            pool: Pool::new(now),
            waiting: false,
        }
    }

    /// Whether all work depends on a message from a helper or the page.
    pub fn is_waiting(&self) -> bool {
        self.waiting && self.has_work() && self.writings.is_empty()
    }

    /// Helper `number`, counted from 1, can be reached through `send`.
    pub fn add_helper(&mut self, number: u32, send: Sender) {
        self.pool.add(number, send);
    }

    /// Receives a message from helper `number`.
    pub fn hear_helper(&mut self, number: u32, parcel: Parcel) {
        self.pool.receive(number, parcel);
        self.waiting = false;
    }

    /// Helpers were silent for a [`TICK`](crate::pool::TICK) while [`Self::is_waiting`].
    pub fn tick(&mut self) {
        self.pool.tick();
        self.waiting = false;
    }

    /// Who asked is gone: what is being written, opened or measured is for nobody.
    pub fn forget_questions(&mut self) {
        self.writings.clear();
        self.filling = None;
        self.measuring = None;
    }

    /// Whether [`Self::advance`] has anything to do.
    pub fn has_work(&self) -> bool {
        !self.writings.is_empty()
            || self.measuring.is_some()
            || self.going != Going::Paused
            || self.present.as_ref().is_some_and(Present::is_evaluating)
    }

    /// Carries out a command. A refused command changes nothing.
    pub async fn handle(&mut self, command: Command, post: &mut impl FnMut(Event)) {
        let kind = command.kind();
        if let Err(reason) = self.carry_out(command, post).await {
            post(Event::Refused { command: kind, reason });
        }
        self.waiting = false;
        self.report_pool(post);
    }

    fn report_pool(&mut self, post: &mut impl FnMut(Event)) {
        if let Some(report) = self.pool.take_report() {
            post(Event::Pool(report));
        }
    }

    /// Answers bytes that are not a command.
    pub fn refuse_unreadable(&self, reason: String, post: &mut impl FnMut(Event)) {
        post(Event::Refused { command: CommandKind::Unreadable, reason });
    }

    async fn carry_out(
        &mut self,
        command: Command,
        post: &mut impl FnMut(Event),
    ) -> Result<(), String> {
        self.settle(post).await;
        match command {
            Command::Start { spec, text, resume, workers } => {
                self.start(&spec, text, resume, workers, post)?;
            }
            Command::StartStudy { spec, text, resume } => {
                self.start_study(&spec, &text, resume, post)?;
            }
            Command::Run => {
                self.in_training()?;
                if self.going != Going::Steps(None) {
                    self.meter.start((self.now)());
                }
                self.go(Going::Steps(None), post);
            }
            Command::Pause => {
                let present = self.present()?;
                // The weights only change at the end of a step, so a half-done step can be dropped:
                // taking it again from the beginning gives the same numbers.
                present.discard();
                self.pool.discard();
                self.go(Going::Paused, post);
            }
            Command::Steps(count) => {
                self.in_training()?;
                self.take(count.max(1), post);
            }
            Command::Until(step) => match step.saturating_sub(self.in_training()?.step()) {
                0 => self.go(Going::Paused, post),
                left => self.take(left, post),
            },
            Command::SetLearningRate(rate) => {
                self.in_training()?.set_learning_rate(rate)?;
            }
            Command::Ask { id, question, at, off } => {
                self.answer(id, &question, at, &off, post).await?;
            }
            Command::Save => match self.present()? {
                Present::Given(..) => return Err(NOT_TRAINED.to_owned()),
                Present::Gpt(experiment, _) => {
                    let checkpoint = experiment.trainer().checkpoint().await;
                    post(Event::Checkpoint(Box::new(checkpoint.map_err(said)?)));
                }
                Present::Study(study) => post(Event::StudyCheckpoint(study.saved().await?)),
            },
            Command::Measure { id, spec, text } => {
                let lab = S::lab().ok_or(NOT_THE_LAB)?;
                check_size(text.len() as u64).map_err(said)?;
                let trainer = Trainer::new_within(&self.limits, &spec, &text, &self.device);
                let trainer = trainer.map_err(said)?;
                self.measuring = Some((Measuring::new(id, trainer, (self.now)()), lab));
            }
            Command::RestoreLastGood => {
                let workers = self.pool.shards();
                let experiment = self.gpt()?;
                experiment.restore_last_good();
                let started = experiment.started(workers);
                self.pool.state_was_set();
                post(Event::Restored(started));
                self.go(Going::Paused, post);
            }
            Command::HelperLost(number) => self.pool.lose(number),
            Command::Budget(megabytes) => {
                self.budget = megabytes;
                if let Some(present) = &mut self.present {
                    present.set_budget(megabytes);
                    self.flush(post);
                }
            }
            Command::Recall(checkpoint) => {
                let recalled = self.gpt()?.recall(&checkpoint);
                recalled.map_err(|why| format!("A saved moment can’t be shown. {why}"))?;
                self.flush(post);
            }
            Command::Moment(step) => {
                let moment = self.gpt()?.moment(step);
                let moment = moment.ok_or_else(|| format!("Step {step} is not recorded."))?;
                post(Event::Moment(Box::new(moment.await.map_err(said)?)));
            }
            Command::Open(given) => {
                let marker = S::given().ok_or(NOT_OPENED)?;
                // Two that are half there would need the room of two.
                self.filling = None;
                let given = given.unpack().map_err(said)?;
                let filling = Filling::new(&given, &self.device).map_err(said)?;
                self.filling = Some((filling, marker));
                post(Event::Filled { values: 0 });
            }
            Command::Weights(weights) => self.fill(&weights, post)?,
        }
        Ok(())
    }

    /// Takes some weights of a given model, which replaces the present one once it is complete.
    fn fill(&mut self, weights: &Packed, post: &mut impl FnMut(Event)) -> Result<(), String> {
        let (mut filling, marker) = self.filling.take().ok_or("No model is being opened.")?;
        // What can't be used ends it: a model with a hole is none.
        let values = filling.put(&weights.unpack().map_err(said)?).map_err(said)?;
        if !filling.is_complete() {
            self.filling = Some((filling, marker));
            post(Event::Filled { values });
            return Ok(());
        }
        self.pool.start(1, String::new());
        // The model that was there makes room before the new one is put together.
        self.present = None;
        let given = filling.finish();
        let recorded = Recorded { steps: vec![0], bytes: 0 };
        let told = [Event::Started(started(&given)), Event::Recorded(recorded)];
        self.replace(Present::Given(Box::new(given), LastRead::default(), marker), told, post);
        Ok(())
    }

    /// Takes so many steps from here, then pauses.
    fn take(&mut self, count: u32, post: &mut impl FnMut(Event)) {
        if self.going == Going::Paused {
            self.meter.start((self.now)());
        }
        self.go(Going::Steps(Some(count)), post);
    }

    /// Answers a question at once, or starts to if the answer is generated text.
    async fn answer(
        &mut self,
        id: u32,
        question: &Packed,
        at: Option<u32>,
        off: &[HeadAt],
        post: &mut impl FnMut(Event),
    ) -> Result<(), String> {
        let now = (self.now)();
        let (step, answer) = match self.present()? {
            Present::Study(study) => study.ask(question, at).await?,
            present => {
                let asked = Asked::of(present, at, off).ok_or(NOT_OURS)?;
                let question = question.unpack().map_err(|_| NOT_OURS)?;
                if let LabQuestion::Gpt(gpt::Question::Writing(question)) = question {
                    let writing = Writing::new(id, &asked, question, now)?;
                    self.writings.retain(|other| !writing.replaces(other));
                    self.writings.push_back(writing);
                    return Ok(());
                }
                (asked.step, answer::answer(&asked, question).await?)
            }
        };
        post(Event::Answered { id, step, answer, more: false });
        Ok(())
    }

    /// Does one slice of work.
    pub async fn advance(&mut self, post: &mut impl FnMut(Event)) {
        let training = self.going != Going::Paused
            || self.present.as_ref().is_some_and(Present::is_evaluating);
        self.writing_turn = !self.writings.is_empty() && (!self.writing_turn || !training);
        if self.writing_turn {
            if let Some(writing) = self.writings.front_mut()
                && writing.advance(self.now, post).await
            {
                self.writings.pop_front();
            }
        } else if training {
            self.train_slice(post).await;
        } else if let Some((measuring, _)) = &mut self.measuring
            && let Some(milliseconds_per_step) = measuring.advance(self.now).await
        {
            let id = measuring.id();
            self.measuring = None;
            post(Event::Measured { id, milliseconds_per_step });
        }
        self.report_pool(post);
    }

    fn present(&mut self) -> Result<&mut Present<S>, String> {
        self.present.as_mut().ok_or_else(|| "There is no model yet.".to_owned())
    }

    fn gpt(&mut self) -> Result<&mut Experiment, String> {
        match self.present()? {
            Present::Gpt(experiment, _) => Ok(experiment),
            Present::Given(..) => Err(NOT_TRAINED.to_owned()),
            Present::Study(_) => Err("The model in training is not a GPT.".to_owned()),
        }
    }

    /// What is trained.
    fn in_training(&mut self) -> Result<&mut Present<S>, String> {
        match self.present()? {
            Present::Given(..) => Err(NOT_TRAINED.to_owned()),
            present => Ok(present),
        }
    }

    fn go(&mut self, going: Going, post: &mut impl FnMut(Event)) {
        self.going = going;
        // Where it rests it can be looked at for long: that moment can be returned to.
        if let Some(present) = self.present.as_mut().filter(|_| going == Going::Paused) {
            present.record();
        }
        self.flush(post);
        if going == Going::Paused {
            self.meter.stop();
        }
        let step = self.present.as_ref().map_or(0, Present::step);
        let state = match going {
            // A single step is over before anyone could pause it.
            Going::Paused | Going::Steps(Some(0 | 1)) => RunState::Paused,
            Going::Steps(_) => RunState::Running,
        };
        post(Event::State { state, step });
    }

    fn start(
        &mut self,
        spec: &ExperimentSpec,
        text: String,
        resume: Option<Box<Checkpoint>>,
        workers: u32,
        post: &mut impl FnMut(Event),
    ) -> Result<(), String> {
        let lab = S::lab().ok_or(NOT_THE_LAB)?;
        check_size(text.len() as u64).map_err(said)?;
        let Self { limits, device, .. } = &*self;
        let trainer = match resume {
            None => Trainer::new_within(limits, spec, &text, device).map_err(said)?,
            Some(checkpoint) => {
                let trainer = Trainer::from_checkpoint_within(limits, &checkpoint, &text, device);
                trainer.map_err(|error| format!("This saved model can’t be opened. {error}"))?
            }
        };
        self.pool.start(workers.min(trainer.spec().batch), text);
        let experiment = Experiment::new(trainer, self.budget);
        let told = [Event::Started(experiment.started(self.pool.shards()))];
        self.replace(Present::Gpt(Box::new(experiment), lab), told, post);
        Ok(())
    }

    fn start_study(
        &mut self,
        spec: &Packed,
        text: &str,
        resume: Option<Packed>,
        post: &mut impl FnMut(Event),
    ) -> Result<(), String> {
        // A task that generates its own examples needs no text; a study that needs one says so
        // itself.
        if !text.is_empty() {
            check_size(text.len() as u64).map_err(said)?;
        }
        let mut study = S::new(spec, text, &self.device).map_err(said)?;
        let past = match resume {
            Some(saved) => study.restore(&saved).map_err(said)?,
            None => Vec::new(),
        };
        let study = StudyRun::new(study, past, self.budget);
        self.pool.start(1, String::new());
        let told = [Event::StudyStarted(study.started())];
        self.replace(Present::Study(Box::new(study)), told, post);
        Ok(())
    }

    /// Has another model be the present one, at rest. `told` is what there is to say of it.
    fn replace(
        &mut self,
        present: Present<S>,
        told: impl IntoIterator<Item = Event>,
        post: &mut impl FnMut(Event),
    ) {
        self.writings.clear();
        self.meter = Meter::default();
        told.into_iter().for_each(&mut *post);
        self.present = Some(present);
        self.go(Going::Paused, post);
    }

    async fn train_slice(&mut self, post: &mut impl FnMut(Event)) {
        let Some(present) = &mut self.present else { return };
        let together = match self.going {
            _ if !present.reads_wait() => 1,
            Going::Steps(Some(left)) => left.max(1),
            _ => u32::MAX,
        };
        let together = together.min(steps_together(self.meter.milliseconds_per_step().into()));
        let taken = present.advance(&mut self.pool, together).await;
        self.waiting = matches!(taken, Taken::Waiting);
        self.account(taken, post);
        let evaluating = self.present.as_ref().is_some_and(Present::is_evaluating);
        if self.going == Going::Steps(Some(0)) && !evaluating {
            self.go(Going::Paused, post);
        } else if (self.now)() - self.told_at >= PROGRESS_EVERY
            || (self.going == Going::Paused && !evaluating)
        {
            self.flush(post);
        }
    }

    /// Checks the steps taken ahead, before anything is reported about the model or done to it.
    async fn settle(&mut self, post: &mut impl FnMut(Event)) {
        if let Some(present) = &mut self.present {
            let taken = present.settle().await;
            self.account(taken, post);
        }
    }

    fn account(&mut self, taken: Taken, post: &mut impl FnMut(Event)) {
        match taken {
            Taken::Nothing | Taken::Waiting => {}
            Taken::Steps(count) => {
                let now = (self.now)();
                self.meter.finish_steps(count, now);
                if let Going::Steps(Some(left)) = self.going {
                    self.going = Going::Steps(Some(left.saturating_sub(count)));
                }
            }
            Taken::Diverged { loss } => {
                let Some(present) = &self.present else { return };
                let step = present.step() + 1;
                let last_good = present.last_good_step();
                self.go(Going::Paused, post);
                post(Event::Diverged { step, loss, last_good });
            }
        }
    }

    /// Reports what happened since the last report.
    fn flush(&mut self, post: &mut impl FnMut(Event)) {
        let Some(present) = &mut self.present else { return };
        let progress = present.progress(&self.meter);
        if progress.is_some() {
            self.told_at = (self.now)();
        }
        [progress, present.recorded()].into_iter().flatten().for_each(post);
    }
}

/// An error as a sentence for the page.
fn said(error: impl ToString) -> String {
    error.to_string()
}
