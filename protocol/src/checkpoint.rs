//! A training state that is complete enough to resume exactly.

use serde::{Deserialize, Serialize};

use crate::{ExperimentSpec, Packed, trace::Array, wire::WireError};

/// One parameter with AdamW's running means of its gradient and of its squared gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedParameter {
    /// Path in the model, e.g. `blocks.0.attention.query.weight`.
    pub name: String,
    pub value: Array,
    #[serde(with = "crate::floats")]
    pub first_moment: Vec<f32>,
    #[serde(with = "crate::floats")]
    pub second_moment: Vec<f32>,
}

/// Everything but the text: weights, optimizer state, step and vocabulary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub spec: ExperimentSpec,
    /// Number of optimizer steps taken.
    pub step: u32,
    /// The characters of ids 1, 2, ...; id 0 is the unknown character. None where tokens are bytes or
    /// pairs of them.
    pub vocabulary: Vec<char>,
    /// The ids that became one token, two by two in the order in which they were merged: bytes are their
    /// own ids, merges are numbered from 256.
    pub merges: Vec<u32>,
    pub parameters: Vec<SavedParameter>,
}

impl Checkpoint {
    /// Names the run that an engine outside the browser has already, see [`native`](crate::native). No
    /// engine builds a model from it: it has no parameters.
    pub fn of_present(spec: ExperimentSpec, step: u32) -> Self {
        Self { spec, step, vocabulary: Vec::new(), merges: Vec::new(), parameters: Vec::new() }
    }

    /// Whether it is that.
    pub fn is_of_present(&self) -> bool {
        self.parameters.is_empty()
    }
}

/// Everything but the text of a chapter's models and what they were built by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyCheckpoint {
    /// Number of optimizer steps taken.
    pub step: u32,
    /// What tells one text from another to the models: every token, by id. Empty where there is no text.
    pub vocabulary: Vec<String>,
    /// Of all models, `<model>.<path in the model>`, in the study's own order. What no optimizer moves
    /// has empty moments.
    pub parameters: Vec<SavedParameter>,
    /// What was measured of the models last, packed, in the study's own order. Model files have none of it.
    pub measured: Vec<Packed>,
    /// Earlier moments of the same models, in order. Model files have none.
    pub past: Vec<StudyMoment>,
}

impl StudyCheckpoint {
    /// Megabytes that all moments may take up: it is written every few seconds.
    pub const MOST_OF_PAST: u32 = 4;

    /// A packed one. Those of earlier versions end with the parameters.
    pub fn unpacked(packed: &Packed) -> Result<Self, WireError> {
        packed.unpack().or_else(|error| {
            let (step, vocabulary, parameters) = packed.unpack().map_err(|_| error)?;
            Ok(Self { step, vocabulary, parameters, measured: Vec::new(), past: Vec::new() })
        })
    }
}

/// What a chapter's models were after so many steps, without what their optimizers kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyMoment {
    pub step: u32,
    /// Of all parameters, one after the other, in the order of the [`StudyCheckpoint`].
    #[serde(with = "crate::floats")]
    pub values: Vec<f32>,
    /// As in the [`StudyCheckpoint`].
    pub measured: Vec<Packed>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapters_models_of_earlier_versions_are_read_without_a_past() {
        let value = Array { shape: vec![2], values: vec![0.5, -1.0] };
        let (first_moment, second_moment) = (vec![0.1, 0.2], vec![0.3, 0.4]);
        let name = "rnn.w".to_owned();
        let parameters = vec![SavedParameter { name, value, first_moment, second_moment }];
        let vocabulary = vec!["a".to_owned()];
        let measured = vec![Packed::of(&7_u8)];
        let past =
            vec![StudyMoment { step: 4, values: vec![1.0, 2.0], measured: measured.clone() }];
        let now = StudyCheckpoint { step: 9, vocabulary, parameters, measured, past };
        assert_eq!(StudyCheckpoint::unpacked(&Packed::of(&now)), Ok(now.clone()));
        let before = Packed::of(&(now.step, &now.vocabulary, &now.parameters));
        let read = StudyCheckpoint::unpacked(&before);
        assert_eq!(
            read,
            Ok(StudyCheckpoint { measured: Vec::new(), past: Vec::new(), ..now.clone() })
        );
        let other = Packed::of(&(now.step, &now.vocabulary));
        assert_eq!(StudyCheckpoint::unpacked(&other), Err(WireError::Malformed));
    }
}
