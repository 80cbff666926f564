//! The course around the chapters: which one is open, what each trains, and how one moves on.
//!
//! A chapter composes figures and controls inside a [`ChapterFrame`] and reads its own [`Lab`].
//! Everything a learner sets is in the store's link, so undo, links and the step-through work for
//! every chapter alike.

mod aim;
mod attempt;
mod cue;
mod film;
mod frame;
mod history;
mod keep;
mod lab;
mod labs;
mod list;
mod machine_map;
mod notebook;
mod opener;
mod play;
mod print;
mod progress;
mod provenance;
mod review;
mod run;
mod script;
mod scrub;
mod sentence;
mod setting;
mod stage;
mod story;
mod time_bar;
mod together;
mod twin;
mod undo;

pub use aim::bring_into_sight;
pub use attempt::Try;
pub use frame::{ChapterFrame, use_part};
pub use history::{History, SMOOTHED};
pub use lab::Lab;
pub use labs::{Labs, use_lab};
pub use list::{
    ChapterLink, ChapterMenu, Neighbors, Rail, WayIn, begin_at_title, go, use_navigation,
};
pub use notebook::{Notebook, Numbers, notebook};
#[cfg(test)]
pub use notebook::{Origin, compose, question_for};
pub use opener::opener;
pub use progress::{Progress, storage, use_right};
pub use provenance::{gpt_provenance, use_provenance, use_task_provenance};
pub use run::{MOST_CURVES, Run};
pub use script::{Beat, Borrow, Further, Script, Telling, Trial, further};
pub use sentence::{Sentence, use_other_sentence, use_sentence, use_short_sentence};
pub use setting::use_setting;
pub use stage::StageView;
pub use story::live_setting;
pub use together::use_together;
#[cfg(test)]
pub use twin::{changes, twin_of};
