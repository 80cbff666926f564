//! `mask`.

use serde::{Deserialize, Serialize};

use crate::link::Setting;

/// What a link says about the chapter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[Setting] = &[];

/// What decides every number the chapter trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    Nothing,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Nothing,
}
