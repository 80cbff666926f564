//! The chapters' experiments: models in training that answer questions about themselves.
//!
//! A chapter has one module here. Each implements [`Study`]; [`AnyStudy`] is what the engine runs.

mod alignment;
mod bigram;
mod birnn;
mod block;
mod bptt;
mod gates;
mod heads;
mod learner;
mod mask;
mod moment;
mod norm;
mod position;
mod qkv;
mod rnn;
mod saved;
mod seq2seq;
mod tokens;
mod training;

use core::fmt;

use burn::tensor::Device;
use unroll_protocol::{
    Packed, Question, StudyCheckpoint, StudyMoment, StudySpec, StudyStarted,
    checkpoint::SavedParameter,
};

use crate::{Named, read_parameters};
pub use moment::{Holder, Moment};
pub use saved::Keeper;
use saved::Saving;

/// More steps than any tab takes.
const MOST_STEPS: u32 = 1_000_000_000;
/// Why models are refused that read other characters.
const OTHER_TEXT: &str = "Its models learned a text with different characters or tokens than the one on this \
     page. Open that text first, then the file.";

/// Why a study can't be built or a question not be answered, as a sentence for the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: core::error::Error> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// What a slice of training brought about.
#[derive(Clone, Debug, PartialEq)]
pub enum StudySlice {
    /// The step is not done yet.
    More,
    /// A step was taken: one value for each of the study's series, where it was measured.
    Step(Vec<Option<f32>>),
    /// The loss or gradient of the next step is not a finite number, so it was not taken.
    Diverged { loss: f32 },
}

/// What was built, for [`StudyStarted`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Built {
    /// Parameters of all models together.
    pub parameters: u64,
    /// Every token as text, by id; empty where the chapter's task has no text.
    pub vocabulary: Vec<String>,
    /// Names of the values of [`StudySlice::Step`].
    pub series: Vec<String>,
    /// Things worth knowing about the text or the task, as sentences.
    pub notes: Vec<String>,
}

/// One chapter's models in training.
///
/// No call may take longer than about 50 ms on one core in wasm, an answer to a question 100 ms.
#[allow(async_fn_in_trait, reason = "a worker has one thread")]
pub trait Study: Sized {
    type Spec;
    type Question;

    /// Builds the models, untrained, for `text`, which a task without text ignores.
    fn new(spec: &Self::Spec, text: &str, device: &Device) -> Result<Self, Refusal>;

    /// What was built.
    fn built(&self) -> Built;

    /// What tells one text from another to the models: every token, by id. Empty where there is no text.
    fn vocabulary(&self) -> Vec<String> {
        self.built().vocabulary
    }

    /// Optimizer steps taken.
    fn step(&self) -> u32;

    /// One slice of the next optimizer step.
    async fn advance(&mut self) -> StudySlice;

    /// Drops a half-done step: taking it again from its beginning gives the same numbers.
    fn discard(&mut self);

    /// Changes the learning rate from the next update on.
    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal>;

    /// The parameters of one of the models, counted from 0; none if there are not so many.
    fn named_parameters(&self, model: usize) -> Vec<Named>;

    /// Passes to `holder`, always in the same order, whatever answers are computed from and training
    /// changes; [`step`](Self::step) follows from it. A half-done step stays as it is.
    fn hold(&mut self, holder: &mut Holder<'_>);

    /// Passes to `keeper`, always in the same order and under the same names, whatever training goes on
    /// from, as it is after the last whole step, and what was measured of the models last.
    fn keep(&mut self, keeper: &mut Keeper<'_>);

    /// Answers a question with the models as they are, see [`Ask`](unroll_protocol::Ask). May keep
    /// what it computed, but changes nothing that training reads.
    async fn ask(&mut self, question: &Self::Question) -> Result<Packed, Refusal>;
}

/// Any chapter's study.
pub struct AnyStudy {
    spec: StudySpec,
    kind: Kind,
}

macro_rules! of_chapters {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        #[allow(clippy::large_enum_variant, reason = "there is one for each engine")]
        enum Kind {
            $($variant($module::Study),)+
        }

        /// The same call of whichever study it is.
        macro_rules! each {
            ($kind:expr, $study:ident => $call:expr) => {
                match $kind { $(Kind::$variant($study) => $call,)+ }
            };
        }

        impl Kind {
            fn new(spec: &StudySpec, text: &str, device: &Device) -> Result<Self, Refusal> {
                Ok(match spec {
                    $(StudySpec::$variant(spec) => {
                        Self::$variant(Study::new(spec, text, device)?)
                    })+
                })
            }

            async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
                match (self, question) {
                    $((Self::$variant(study), Question::$variant(question)) => {
                        study.ask(question).await
                    })+
                    _ => Err(Refusal("The question is about another chapter.".to_owned())),
                }
            }
        }
    };
}

unroll_protocol::with_chapters!(of_chapters);

impl AnyStudy {
    /// Builds what `spec` describes for `text`.
    pub fn new(spec: &StudySpec, text: &str, device: &Device) -> Result<Self, Refusal> {
        Ok(Self { spec: spec.clone(), kind: Kind::new(spec, text, device)? })
    }

    /// What was built, for the page.
    pub fn started(&self) -> StudyStarted {
        let Built { parameters, vocabulary, series, notes } =
            each!(&self.kind, study => study.built());
        let (spec, step) = (self.spec.clone(), self.step());
        StudyStarted { spec, parameters, vocabulary, series, notes, step }
    }

    /// Optimizer steps taken.
    pub fn step(&self) -> u32 {
        each!(&self.kind, study => study.step())
    }

    /// See [`Study::advance`].
    pub async fn advance(&mut self) -> StudySlice {
        each!(&mut self.kind, study => study.advance().await)
    }

    /// See [`Study::discard`].
    pub fn discard(&mut self) {
        each!(&mut self.kind, study => study.discard());
    }

    /// See [`Study::set_learning_rate`].
    pub fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        each!(&mut self.kind, study => study.set_learning_rate(rate))
    }

    /// All models after the last whole step, complete enough to go on exactly. The future owns what it
    /// reads, so training may go on meanwhile.
    ///
    /// # Errors
    ///
    /// A sentence if the device can't be read from.
    pub fn saved(&mut self) -> impl Future<Output = Result<StudyCheckpoint, Refusal>> + use<> {
        let saving = Saving::of(false, |keeper| self.keep(keeper));
        let (step, vocabulary) = (self.step(), self.vocabulary());
        async move {
            let (parameters, measured) = saving.read().await?;
            Ok(StudyCheckpoint { step, vocabulary, parameters, measured, past: Vec::new() })
        }
    }

    /// What is saved of a moment of this study, which was after so many steps. The future owns what it
    /// reads.
    ///
    /// # Errors
    ///
    /// A sentence if the device can't be read from.
    pub fn saved_at(
        &mut self,
        step: u32,
        moment: &mut Moment,
    ) -> impl Future<Output = Result<StudyMoment, Refusal>> + use<> {
        self.exchange(moment);
        let saving = Saving::of(true, |keeper| self.keep(keeper));
        self.exchange(moment);
        async move {
            let (values, measured) = saving.read_values().await?;
            Ok(StudyMoment { step, values, measured })
        }
    }

    /// Goes on from saved models of the same settings. Where the optimizer's running means are missing,
    /// they are 0. Returns the moments that were saved with them, by step.
    ///
    /// # Errors
    ///
    /// A sentence, and nothing is changed, unless they are models of this study, for a text of the same
    /// characters, with usable numbers.
    pub fn restore(&mut self, checkpoint: &StudyCheckpoint) -> Result<Vec<(u32, Moment)>, Refusal> {
        let StudyCheckpoint { step, vocabulary, parameters, measured, past } = checkpoint;
        if *vocabulary != self.vocabulary() {
            return Err(Refusal(OTHER_TEXT.to_owned()));
        }
        if *step > MOST_STEPS {
            return Err(Refusal(format!(
                "It claims {step} training steps, which is not possible."
            )));
        }
        self.discard();
        self.put_back(parameters, measured, *step)?;
        if past.is_empty() {
            return Ok(Vec::new());
        }
        // A moment is taken of the models while they are as they were then. One that can't be used is
        // left out: the run goes on all the same.
        let mut moments = Vec::new();
        for before in past.iter().filter(|before| before.step < *step) {
            let then = saved::with_values(parameters, &before.values);
            let put = |then: Vec<_>| self.put_back(&then, &before.measured, before.step).is_ok();
            if then.is_some_and(put) {
                moments.push((before.step, self.moment()));
            }
        }
        self.put_back(parameters, measured, *step)?;
        Ok(moments)
    }

    fn put_back(
        &mut self,
        parameters: &[SavedParameter],
        measured: &[Packed],
        step: u32,
    ) -> Result<(), Refusal> {
        let expected = Saving::of(false, |keeper| self.keep(keeper));
        expected.restore(parameters, measured, step, |keeper| self.keep(keeper))
    }

    fn vocabulary(&self) -> Vec<String> {
        each!(&self.kind, study => study.vocabulary())
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        each!(&mut self.kind, study => study.keep(keeper));
    }

    /// What answers are computed from at present.
    pub fn moment(&mut self) -> Moment {
        Moment::taken(|holder| each!(&mut self.kind, study => study.hold(holder)))
    }

    fn exchange(&mut self, moment: &mut Moment) {
        moment.exchanged(|holder| each!(&mut self.kind, study => study.hold(holder)));
    }

    /// Answers a question with the models as they were at a moment of this study.
    pub async fn ask_at(
        &mut self,
        moment: &mut Moment,
        question: &Question,
    ) -> Result<Packed, Refusal> {
        self.exchange(moment);
        let answer = self.ask(question).await;
        self.exchange(moment);
        answer
    }

    /// See [`Study::ask`].
    pub async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        let (asked, question) = question.clone().opened()?;
        let parameters = match &asked {
            Some(asked) => {
                let parameters =
                    each!(&self.kind, study => study.named_parameters(asked.model as usize));
                read_parameters(parameters, &asked.under).await.map_err(Refusal)?
            }
            None => Vec::new(),
        };
        let answer = self.kind.ask(&question).await?;
        Ok(match asked {
            Some(asked) => asked.with(parameters, answer),
            None => answer,
        })
    }
}
