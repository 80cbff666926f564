//! `empty`: the least that a chapter needs.

use serde::{Deserialize, Serialize};

use crate::{
    link::{Kind, TableRow, rows::plain},
    question::questions,
};

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub size: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { size: 8 }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, size: self.size }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[plain!(of Empty, "empty-size", "Size", empty.size: Whole,
    Kind::Whole { min: 1, max: 64 }, "How many numbers it learns.")];

/// What determines every number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub size: u32,
}

questions! { Empty:
    /// The numbers as they are now.
    Numbers {} -> Vec<f32>,
}
