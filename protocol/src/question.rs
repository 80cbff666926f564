//! Questions about a model in its present state, each with the type of its answer.
//!
//! A [`Question`] and its answer travel as bytes ([`Packed`]): whoever asks can read the answer, and
//! nobody between has to.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Packed, gpt, parameters::WithParameters, study};

/// A question. Asking never changes what training computes.
pub trait Ask: Into<Question> + Clone + PartialEq + Send + Sync + 'static {
    type Answer: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// This question, ready to travel: the bytes of the [`Question`] that it is. Made from its own
    /// fields alone, so that a page which asks this needs no code for writing all the others.
    fn packed(&self) -> Packed;

    /// The answer to this question, ready to travel.
    fn answered(&self, answer: &Self::Answer) -> Packed {
        Packed::of(answer)
    }
}

/// Makes a module `ask` with a struct for each question of one chapter, and an enum `Question` of
/// them all, from lines of `Name { fields } -> Answer,`.
macro_rules! questions {
    ($chapter:ident: $(
        $(#[$doc:meta])*
        $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty),* $(,)? } -> $answer:ty,
    )+) => {
        /// The questions, each of which is answered by the type that [`Ask`](crate::Ask) names.
        pub mod ask {
            #[allow(unused_imports, reason = "some questions need no type of their chapter")]
            use super::*;

            $(
                $(#[$doc])*
                #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
                pub struct $name {
                    $($(#[$of_field])* pub $field: $type,)*
                }

                impl From<$name> for crate::Question {
                    fn from(question: $name) -> Self {
                        Self::$chapter(super::Question::$name(question))
                    }
                }
            )+
        }

        $(
            impl crate::Ask for ask::$name {
                type Answer = $answer;

                fn packed(&self) -> crate::Packed {
                    let chapter = crate::question::Variant::$chapter as u32;
                    crate::Packed::variant([chapter, Variant::$name as u32], self)
                }
            }
        )+

        /// The variants of [`Question`], as they are numbered in its bytes.
        enum Variant {
            $($name,)+
        }

        /// Any of the chapter's questions.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum Question {
            $($name(ask::$name),)+
        }
    };
}
pub(crate) use questions;

/// Generates the enum from the list of chapters.
macro_rules! of_chapters {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        /// Any question, by the chapter whose models can answer it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Question {
            Gpt(gpt::Question),
            WithParameters(WithParameters),
            $($variant(study::$module::Question),)+
        }

        /// The variants of [`Question`], as they are numbered in its bytes.
        pub(crate) enum Variant {
            Gpt,
            WithParameters,
            $($variant,)+
        }
    };
}

crate::with_chapters!(of_chapters);

/// What of a [`Question`] is for the lab, in the same bytes. Its engines leave out the code that reads the
/// others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LabQuestion {
    Gpt(gpt::Question),
    WithParameters(WithParameters),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_the_bytes_of_the_enum() {
        let same = |packed: Packed, question: Question| {
            assert_eq!(packed, Packed::of(&question));
            assert_eq!(packed.unpack(), Ok(question));
        };
        let first = gpt::ask::Trace { text: "a".into() };
        same(first.packed(), first.into());
        let last = gpt::ask::Patch { from: "a".into(), into: "b".into(), depth: 1 };
        assert_eq!(
            last.packed().unpack(),
            Ok(LabQuestion::Gpt(gpt::Question::Patch(last.clone())))
        );
        same(last.packed(), last.clone().into());
        let of_study = study::tokens::ask::Chain { sentence: "the end".into() };
        assert!(of_study.packed().unpack::<LabQuestion>().is_err());
        same(of_study.packed(), of_study.into());
        let with = WithParameters { model: 1, under: vec!["a".into()], question: last.packed() };
        assert_eq!(with.packed().unpack(), Ok(LabQuestion::WithParameters(with.clone())));
        let (asked, question) = LabQuestion::WithParameters(with.clone()).opened().unwrap();
        assert_eq!(
            (asked, question),
            (Some(with), LabQuestion::Gpt(gpt::Question::Patch(last.clone())))
        );
    }
}
