//! The small experiments of the course's chapters: what each trains, the questions about it, and
//! their answers.
//!
//! A chapter has one module here, with three things: `Settings` (its rows of the settings table),
//! `Spec` (what decides every number it trains), and its [questions](crate::Ask).

pub mod alignment;
pub mod bigram;
pub mod birnn;
pub mod block;
pub mod bptt;
pub mod gates;
pub mod heads;
pub mod mask;
pub mod norm;
pub mod position;
pub mod qkv;
pub mod rnn;
pub mod seq2seq;
pub mod tokens;

use serde::{Deserialize, Serialize};

/// Generates the enum from the list of chapters.
macro_rules! of_chapters {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        /// What a chapter trains. Together with its text, it determines every number.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum StudySpec {
            $($variant($module::Spec),)+
        }

        $(
            impl From<$module::Spec> for StudySpec {
                fn from(spec: $module::Spec) -> Self {
                    Self::$variant(spec)
                }
            }
        )+
    };
}

crate::with_chapters!(of_chapters);

/// What was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyStarted {
    pub spec: StudySpec,
    /// Parameters of all models together.
    pub parameters: u64,
    /// Every token as text, by id; empty where the chapter's task has no text.
    pub vocabulary: Vec<String>,
    /// Names of the values of each [`StudyPoint`], in order.
    pub series: Vec<String>,
    /// Remarks about the text or the task, as sentences.
    pub notes: Vec<String>,
    /// Number of steps already taken, when resumed.
    pub step: u32,
}

/// What was measured at one optimizer step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyPoint {
    /// Number of this step, counted from 1.
    pub step: u32,
    /// One value for each series, if it was measured.
    pub values: Vec<Option<f32>>,
}

/// What happened since the last report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyProgress {
    pub points: Vec<StudyPoint>,
    /// Median milliseconds of a recent step.
    pub milliseconds_per_step: f32,
}
