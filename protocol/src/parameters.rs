//! A model's parameters, as plain numbers to be taken elsewhere.

use serde::{Deserialize, Serialize};

use crate::{Array, Ask, Packed, question::Variant, wire::WireError};

/// Most numbers that are given away at once.
pub const MOST_NUMBERS: u64 = 500_000;

/// A question, and the parameters behind its answer: both of the same step, also in training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithParameters {
    /// Which of the engine's models, from 0, in the order in which the chapter lists them.
    pub model: u32,
    /// The parameters whose path begins like one of these.
    pub under: Vec<String>,
    /// A [`Question`](crate::Question).
    pub question: Packed,
}

impl From<WithParameters> for crate::Question {
    fn from(question: WithParameters) -> Self {
        Self::WithParameters(question)
    }
}

impl Ask for WithParameters {
    type Answer = Parameters;

    fn packed(&self) -> Packed {
        Packed::of(&(Variant::WithParameters as u32, self))
    }
}

impl WithParameters {
    /// The whole answer.
    pub fn with(&self, parameters: Vec<Parameter>, answer: Packed) -> Packed {
        self.answered(&Parameters { parameters, answer })
    }
}

/// What can be asked along with a question is taken apart from it in the same way for all engines.
macro_rules! opened {
    ($question:ty) => {
        impl $question {
            /// The question itself, and what else is asked along with it.
            ///
            /// # Errors
            ///
            /// If what is within can't be read.
            pub fn opened(self) -> Result<(Option<WithParameters>, Self), WireError> {
                match self {
                    Self::WithParameters(asked) => {
                        let question = asked.question.unpack()?;
                        Ok((Some(asked), question))
                    }
                    question => Ok((None, question)),
                }
            }
        }
    };
}
opened!(crate::Question);
opened!(crate::LabQuestion);

/// The answer to [`WithParameters`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    pub parameters: Vec<Parameter>,
    /// What its question was answered with.
    pub answer: Packed,
}

/// One parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Path in the model, e.g. `blocks.0.attention.query.weight`.
    pub name: String,
    pub value: Array,
}
