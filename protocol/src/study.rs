//! The small experiments of the course's chapters: what each trains, the questions about it, and
//! their answers.
//!
//! Each chapter has one module here, with four items: `Settings` (its rows of the settings table),
//! `Spec` (which determines every number it trains), `Question` and `Answer`.

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

use crate::Packed;

/// The same type of every chapter as one enum.
macro_rules! one_enum {
    ($(#[$doc:meta])* $name:ident of $type:ident: $($variant:ident $module:ident),+) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum $name {
            $($variant($module::$type),)+
        }

        $(
            impl From<$module::$type> for $name {
                fn from(inner: $module::$type) -> Self {
                    Self::$variant(inner)
                }
            }

            impl<'a> TryFrom<&'a $name> for &'a $module::$type {
                /// It is of another chapter.
                type Error = ();

                fn try_from(outer: &'a $name) -> Result<Self, ()> {
                    match outer {
                        $name::$variant(inner) => Ok(inner),
                        _ => Err(()),
                    }
                }
            }
        )+
    };
}

/// Makes the enums from the list of chapters.
macro_rules! of_chapters {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        one_enum! {
            /// What a chapter trains: with its text, it decides every number.
            StudySpec of Spec: $($variant $module),+
        }
        one_enum! {
            /// What can be asked of a chapter's models. Asking never changes them.
            Question of Question: $($variant $module),+
        }
        one_enum! {
            /// What a chapter's models answer.
            Answer of Answer: $($variant $module),+
        }

        impl Answer {
            /// The chapter's own answer as bytes, which the chapter unpacks as its own type: what is
            /// around the chapters need not know how to read all of them.
            pub fn pack(&self) -> Packed {
                match self {
                    $(Self::$variant(inner) => Packed::of(inner),)+
                }
            }
        }
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
