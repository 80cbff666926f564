//! What a link says about `start`, the chapter of drawings that are moved by hand. It has no model.

use crate::link::{
    Kind, TableRow,
    rows::{choice, chosen, numbers, plain},
};

/// The numbers behind the drawings. Each list has the length that its row of the table gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The arrows a and b: a₁, a₂, b₁, b₂.
    pub arrows: Vec<f32>,
    pub shows: Shows,
    /// The input x₁, x₂, then the rows of a matrix of three rows and two columns.
    pub matrix: Vec<f32>,
    pub scores: Vec<f32>,
    /// A place on the curve, and how far it is nudged.
    pub nudge: Vec<f32>,
    /// The slope of each link of a chain.
    pub chain: Vec<f32>,
    /// Heights of a curve at −2, −1, 0, 1 and 2, where the walk downhill begins, and its rate.
    pub valley: Vec<f32>,
    /// Steps taken downhill.
    pub steps: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            arrows: vec![3.0, 1.0, 1.0, 2.5],
            shows: Shows::Lists,
            matrix: vec![2.0, 1.0, 1.5, -0.5, -1.0, 2.0, 0.5, -1.5],
            scores: vec![2.0, 1.0, 0.0, -1.0],
            nudge: vec![0.5, 1.0],
            chain: vec![0.8, 1.5, -0.5, 0.9],
            valley: vec![3.2, 1.2, 2.2, 0.5, 3.4, -1.9, 0.1],
            steps: 0,
        }
    }
}

choice! {
    /// What the drawing of two arrows works out.
    Shows {
        Lists = "lists", "Two lists";
        Sum = "sum", "Their sum";
        Product = "product", "Their dot product";
    }
}

/// Most steps downhill that a link can ask for.
pub const MOST_STEPS: u32 = 500;

pub(crate) const ROWS: &[TableRow] = &[
    numbers!(of Start, "start-arrows", "Arrows", start.arrows: 4, -5.0, 5.0,
        "The two arrows as lists: a₁, a₂, b₁, b₂."),
    chosen!(of Start, "start-shows", "Show", start.shows: Shows,
        "What is worked out from the two arrows."),
    numbers!(of Start, "start-matrix", "Matrix", start.matrix: 8, -3.0, 3.0,
        "The input x₁, x₂, then the three rows of the matrix."),
    numbers!(of Start, "start-scores", "Scores", start.scores: 4, -4.0, 4.0,
        "The scores that become shares."),
    numbers!(of Start, "start-nudge", "Nudge", start.nudge: 2, -2.0, 2.0,
        "A place on the curve, and how far it is nudged."),
    numbers!(of Start, "start-chain", "Chain", start.chain: 4, -2.0, 2.0,
        "The slope of each of the four links."),
    numbers!(of Start, "start-valley", "Curve", start.valley: 7, -2.0, 4.0,
        "Seven numbers: the curve’s heights at −2, −1, 0, 1 and 2, the starting place, and the learning rate."),
    plain!(of Start, "start-steps", "Steps", start.steps: Whole,
        Kind::Whole { min: 0, max: MOST_STEPS }, "Steps taken downhill."),
];
