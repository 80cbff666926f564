//! A chapter's models in training, as the session runs them.

use core::{convert::Infallible, marker::PhantomData};

use burn::tensor::Device;
use unroll_model::{AnyStudy, Moment, Refusal, StudySlice};
use unroll_protocol::{Packed, Recorded, StudyCheckpoint, StudyPoint};

use super::{experiment::Taken, history::History};

/// What an engine can train for the chapters of the course.
#[allow(async_fn_in_trait, reason = "a worker has one thread")]
pub trait Studies: Sized {
    /// What an engine shows that trains the GPT lab's model too; a type without values where it does
    /// not, so that the lab's code is left out of it.
    type Lab: Marker;
    /// The same for models of another's making.
    type Given: Marker;

    /// `None` where [`Self::Lab`] has no values.
    fn lab() -> Option<Self::Lab> {
        Self::Lab::marker()
    }
    /// `None` where [`Self::Given`] has no values.
    fn given() -> Option<Self::Given> {
        Self::Given::marker()
    }
    /// Builds what a packed [`StudySpec`](unroll_protocol::StudySpec) describes for `text`. All that only the
    /// chapters' engine reads is packed, so that the others leave out the code for it.
    fn new(spec: &Packed, text: &str, device: &Device) -> Result<Self, Refusal>;
    /// A packed [`AnyStudy::saved`] with these moments, by step.
    async fn saved(&mut self, past: Vec<(u32, &mut Self::Moment)>) -> Result<Packed, Refusal>;
    /// See [`AnyStudy::restore`]. Takes what [`saved`](Self::saved) gave.
    fn restore(&mut self, saved: &Packed) -> Result<Vec<(u32, Self::Moment)>, Refusal>;
    /// A packed [`AnyStudy::started`].
    fn started(&self) -> Packed;
    /// How many parameters the models have together.
    fn parameters(&self) -> u64;
    /// See [`AnyStudy::step`].
    fn step(&self) -> u32;
    /// See [`AnyStudy::advance`].
    async fn advance(&mut self) -> StudySlice;
    /// See [`AnyStudy::discard`].
    fn discard(&mut self);
    /// See [`AnyStudy::set_learning_rate`].
    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal>;
    /// What [`ask_at`](Self::ask_at) is asked about.
    type Moment;
    /// See [`AnyStudy::moment`].
    fn moment(&mut self) -> Self::Moment;
    /// See [`AnyStudy::ask`]. The [`Question`](unroll_protocol::Question) is packed.
    async fn ask(&mut self, question: &Packed) -> Result<Packed, Refusal>;
    /// See [`AnyStudy::ask_at`].
    async fn ask_at(
        &mut self,
        moment: &mut Self::Moment,
        question: &Packed,
    ) -> Result<Packed, Refusal>;
}

/// Whether an engine can do something: a type without values where it can't, so that the code for it is left
/// out.
pub trait Marker: Copy {
    /// `None` where there are no values.
    fn marker() -> Option<Self>;
}

impl Marker for () {
    fn marker() -> Option<()> {
        Some(())
    }
}

impl Marker for Infallible {
    fn marker() -> Option<Infallible> {
        None
    }
}

impl Studies for AnyStudy {
    type Lab = Infallible;
    type Given = Infallible;
    type Moment = Moment;

    fn new(spec: &Packed, text: &str, device: &Device) -> Result<Self, Refusal> {
        Self::new(&spec.unpack()?, text, device)
    }

    async fn saved(&mut self, past: Vec<(u32, &mut Moment)>) -> Result<Packed, Refusal> {
        let mut saved = self.saved().await?;
        for (step, moment) in past {
            saved.past.push(self.saved_at(step, moment).await?);
        }
        Ok(Packed::of(&saved))
    }

    fn restore(&mut self, saved: &Packed) -> Result<Vec<(u32, Moment)>, Refusal> {
        self.restore(&StudyCheckpoint::unpacked(saved)?)
    }

    fn started(&self) -> Packed {
        Packed::of(&self.started())
    }

    fn parameters(&self) -> u64 {
        self.started().parameters
    }

    fn step(&self) -> u32 {
        self.step()
    }

    async fn advance(&mut self) -> StudySlice {
        self.advance().await
    }

    fn discard(&mut self) {
        self.discard();
    }

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.set_learning_rate(rate)
    }

    fn moment(&mut self) -> Moment {
        self.moment()
    }

    async fn ask(&mut self, question: &Packed) -> Result<Packed, Refusal> {
        self.ask(&question.unpack()?).await
    }

    async fn ask_at(&mut self, moment: &mut Moment, question: &Packed) -> Result<Packed, Refusal> {
        self.ask_at(moment, &question.unpack()?).await
    }
}

/// Used by the GPT lab's engines: without the chapters' models they are a third smaller. `G` says whether the
/// engine can take over models of another's making, too.
pub enum NoStudies<G = Infallible> {
    Never(Infallible, PhantomData<G>),
}

impl<G: Marker> Studies for NoStudies<G> {
    type Lab = ();
    type Given = G;
    type Moment = Infallible;

    fn new(_: &Packed, _: &str, _: &Device) -> Result<Self, Refusal> {
        Err(Refusal("This engine is the GPT lab's: it trains no chapter's models.".to_owned()))
    }

    async fn saved(&mut self, _: Vec<(u32, &mut Infallible)>) -> Result<Packed, Refusal> {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn restore(&mut self, _: &Packed) -> Result<Vec<(u32, Infallible)>, Refusal> {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn started(&self) -> Packed {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn parameters(&self) -> u64 {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn step(&self) -> u32 {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    async fn advance(&mut self) -> StudySlice {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn discard(&mut self) {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn set_learning_rate(&mut self, _: f32) -> Result<(), Refusal> {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    fn moment(&mut self) -> Infallible {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    async fn ask(&mut self, _: &Packed) -> Result<Packed, Refusal> {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }

    async fn ask_at(&mut self, _: &mut Infallible, _: &Packed) -> Result<Packed, Refusal> {
        match *self {
            Self::Never(never, _) => match never {},
        }
    }
}

/// A study with its measurements since the last report, and its moments.
pub struct StudyRun<S: Studies> {
    study: S,
    points: Vec<StudyPoint>,
    history: History<S::Moment>,
}

impl<S: Studies> StudyRun<S> {
    /// `megabytes` are for its moments, of which there are some already: `past`, by step.
    pub fn new(study: S, past: Vec<(u32, S::Moment)>, megabytes: u32) -> Self {
        let history = History::new(study.parameters(), megabytes);
        let mut run = Self { study, points: Vec::new(), history };
        run.record();
        past.into_iter().for_each(|(step, moment)| run.history.recall(step, moment));
        run
    }

    /// The models as they are, with as many of their moments as there is room for, for a file.
    pub async fn saved(&mut self) -> Result<Packed, String> {
        let (step, parameters) = (self.study.step(), self.study.parameters());
        let most = Recorded::most(StudyCheckpoint::MOST_OF_PAST, parameters);
        let mut past: Vec<_> = self.history.before(step).collect();
        Recorded::thin(&mut past, |(step, _)| *step, most, None);
        self.study.saved(past).await.map_err(said)
    }

    /// Keeps the moment, unless it is kept already.
    pub fn record(&mut self) {
        let step = self.study.step();
        if !self.history.ends_with(step) {
            self.history.keep(step, self.study.moment());
        }
    }

    /// See [`History::set_budget`].
    pub fn set_budget(&mut self, megabytes: u32) {
        self.history.set_budget(megabytes);
    }

    /// See [`History::report`].
    pub fn report(&mut self) -> Option<(Vec<u32>, u64)> {
        self.history.report()
    }

    /// A report of what was built, for the page.
    pub fn started(&self) -> Packed {
        self.study.started()
    }

    pub fn step(&self) -> u32 {
        self.study.step()
    }

    /// Points since the last call.
    pub fn take_points(&mut self) -> Vec<StudyPoint> {
        core::mem::take(&mut self.points)
    }

    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), String> {
        self.study.set_learning_rate(rate).map_err(said)
    }

    /// Drops a half-done step.
    pub fn discard(&mut self) {
        self.study.discard();
    }

    /// One slice of the next step.
    pub async fn advance(&mut self) -> Taken {
        match self.study.advance().await {
            StudySlice::More => Taken::Nothing,
            StudySlice::Step(values) => {
                let step = self.study.step();
                self.points.push(StudyPoint { step, values });
                if self.history.is_due(step) {
                    self.record();
                }
                Taken::Steps(1)
            }
            StudySlice::Diverged { loss } => {
                self.study.discard();
                Taken::Diverged { loss }
            }
        }
    }

    /// The answer as it is, or as it was at the kept moment nearest to step `at`, and its step.
    pub async fn ask(
        &mut self,
        question: &Packed,
        at: Option<u32>,
    ) -> Result<(u32, Packed), String> {
        let (step, answer) = match self.history.ask(at) {
            Some((step, moment)) => (step, self.study.ask_at(moment, question).await),
            None => (self.study.step(), self.study.ask(question).await),
        };
        Ok((step, answer.map_err(said)?))
    }
}

fn said(refusal: Refusal) -> String {
    refusal.to_string()
}
