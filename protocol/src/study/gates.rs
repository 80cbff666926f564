//! `gates`: an LSTM or GRU with every gate visible, and gates held open or shut.

mod answer;

use core::fmt;

use serde::{Deserialize, Serialize};

pub use answer::{Followed, GateSum, Guess, Outcome, Seen, Shut, Sums, Term, Units};

use crate::link::{
    Kind, TableRow, Value,
    rows::{choice, chosen, plain},
};
use crate::question::questions;

/// Most units of the layer: all of them are drawn.
pub const MOST_UNITS: u32 = 64;
/// Most characters of a sentence that are shown.
pub const MOST_CHARACTERS: u32 = 64;
/// Most units of a [`ask::Shut`].
pub const MOST_SHUT: usize = 4;
/// Most gates held at the same time.
pub const MOST_FORCED: usize = 8;

choice! {
    /// The cell that is trained.
    CellChoice {
        Lstm = "lstm", "LSTM";
        /// Sak et al. 2014, with a projection half as wide as the cell.
        Projected = "projected", "Projected LSTM";
        Gru = "gru", "GRU";
        /// The reset gate acts before the product, as in Cho et al. 2014.
        Cho = "cho", "Cho’s GRU";
    }
}

choice! {
    /// What it learns.
    TaskChoice {
        Brackets = "brackets", "Bracket depth";
        Quotes = "quotes", "Quotations";
        Text = "text", "Next character";
    }
}

choice! {
    /// One number of every unit at every step.
    Quantity {
        Input = "i", "input gate";
        Forget = "f", "forget gate";
        Candidate = "g", "candidate";
        Output = "o", "output gate";
        Reset = "r", "reset gate";
        Update = "z", "update gate";
        /// A GRU's candidate.
        New = "n", "candidate";
        Cell = "c", "cell state";
        Hidden = "h", "hidden state";
    }
}

choice! {
    /// Which characters are read.
    SentenceChoice {
        Drawn = "drawn", "Drawn";
        Mine = "mine", "Your sentence";
    }
}

choice! {
    /// The value at which a click in edit mode holds a gate.
    HoldChoice {
        Shut = "shut", "Shut (0)";
        Open = "open", "Open (1)";
    }
}

choice! {
    /// For how long it is held.
    ReachChoice {
        Every = "every", "At every step";
        From = "from", "From the chosen step on";
    }
}

/// A gate held open or shut. In a link `f:7:0` is the forget gate of unit 7, shut at every step,
/// and `f:7:0:12` the same from step 12 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forced {
    /// A gate between 0 and 1, see [`Quantity::opens`].
    pub gate: Quantity,
    /// Counted from 1.
    pub unit: u32,
    /// Held at 1 if true, at 0 if false.
    pub open: bool,
    /// First step at which it is held, counted from 1.
    pub from: u32,
}

impl Forced {
    /// Parses the form in a link.
    pub fn parse(given: &str) -> Option<Self> {
        let mut parts = given.split(':');
        let gate = Quantity::from_id(parts.next()?).filter(|gate| gate.opens())?;
        let number = |part: &str| part.parse().ok().filter(|n| (1..=9999).contains(n));
        let unit = number(parts.next()?)?;
        let open = match parts.next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        let from = parts.next().map_or(Some(1), number)?;
        parts.next().is_none().then_some(Self { gate, unit, open, from })
    }
}

impl fmt::Display for Forced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gate, unit, open, from } = *self;
        write!(f, "{}:{unit}:{}", gate.id(), u32::from(open))?;
        if from > 1 { write!(f, ":{from}") } else { Ok(()) }
    }
}

impl Quantity {
    /// Whether it is a gate between 0 and 1.
    pub fn opens(self) -> bool {
        matches!(self, Self::Input | Self::Forget | Self::Output | Self::Reset | Self::Update)
    }

    /// The corresponding quantity of `cell`; the same one if `cell` has it.
    pub fn of(self, cell: CellChoice) -> Self {
        if cell.quantities().contains(&self) {
            return self;
        }
        match self {
            Self::Input | Self::Forget => Self::Update,
            Self::Update => Self::Forget,
            Self::Output => Self::Reset,
            Self::Reset => Self::Output,
            Self::Candidate => Self::New,
            Self::New => Self::Candidate,
            Self::Cell | Self::Hidden => Self::Hidden,
        }
    }
}

impl CellChoice {
    /// What can be shown: the cell's gates in the order of their columns, then its states.
    pub fn quantities(self) -> &'static [Quantity] {
        use Quantity::{Candidate, Cell, Forget, Hidden, Input, New, Output, Reset, Update};
        match self {
            Self::Lstm | Self::Projected => &[Input, Forget, Candidate, Output, Cell, Hidden],
            Self::Gru | Self::Cho => &[Reset, Update, New, Hidden],
        }
    }

    /// The state that is carried on without a weight, and so remembers.
    pub fn memory(self) -> Quantity {
        Quantity::Cell.of(self)
    }

    /// Width of the projection of a layer of `units`.
    pub fn projection(self, units: u32) -> Option<u32> {
        (self == Self::Projected).then(|| (units / 2).max(1))
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub cell: CellChoice,
    pub task: TaskChoice,
    /// Units of the layer.
    pub units: u32,
    pub shown: Quantity,
    /// The selected unit, counted from 1; 0 is the one that follows best.
    pub unit: u32,
    /// The step whose arithmetic is open, counted from 1; 0 is none.
    pub at: u32,
    pub sentence: SentenceChoice,
    /// Which of the task's strings is read.
    pub sample: u32,
    /// Whether a click holds a gate instead of opening the arithmetic.
    pub edit: bool,
    pub hold: HoldChoice,
    pub reach: ReachChoice,
    pub forced: Vec<Forced>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cell: CellChoice::Lstm,
            task: TaskChoice::Brackets,
            units: 10,
            shown: Quantity::Cell,
            unit: 0,
            at: 0,
            sentence: SentenceChoice::Drawn,
            sample: 1,
            edit: false,
            hold: HoldChoice::Shut,
            reach: ReachChoice::Every,
            forced: Vec::new(),
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, cell: self.cell, task: self.task, units: self.units }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    chosen!(of Gates, "gates-cell", "Cell", gates.cell: CellChoice,
        "Which cell is trained. A GRU is PyTorch’s; Cho’s differs in one place, see More."),
    chosen!(of Gates, "gates-task", "Task", gates.task: TaskChoice,
        "What it is asked after every character: how many brackets are open, whether it is inside a quotation, or what comes next in the text."),
    plain!(of Gates, "gates-units", "Units", gates.units: Whole,
        Kind::Whole { min: 1, max: MOST_UNITS },
        "How many units the layer has. Another number is another model."),
    chosen!(of Gates, "gates-shown", "Shown", gates.shown: Quantity,
        "Which gate or state is drawn for every unit at every step."),
    plain!(of Gates, "gates-unit", "Unit", gates.unit: Whole,
        Kind::Whole { min: 0, max: MOST_UNITS },
        "The unit looked at; 0 is the one that follows the task’s answer best."),
    plain!(of Gates, "gates-at", "Step", gates.at: Whole,
        Kind::Whole { min: 0, max: MOST_CHARACTERS },
        "The step whose arithmetic is open; 0 is none."),
    chosen!(of Gates, "gates-sentence", "Characters", gates.sentence: SentenceChoice,
        "What is read: a string that was drawn for the task and not learned from, or your sentence."),
    plain!(of Gates, "gates-sample", "String", gates.sample: Whole,
        Kind::Whole { min: 1, max: 99 },
        "Which of the task’s strings is read."),
    plain!(of Gates, "gates-edit", "Force gates", gates.edit: Flag, Kind::Flag,
        "Whether a click on a gate holds it."),
    chosen!(of Gates, "gates-hold", "Hold it", gates.hold: HoldChoice,
        "What a click in the edit mode holds a gate at."),
    chosen!(of Gates, "gates-reach", "For how long", gates.reach: ReachChoice,
        "Whether a gate is held at every step or from the clicked one on."),
    TableRow {
        name: "gates-forced",
        label: "Gates held",
        help: "Gates held open (1) or shut (0), each as gate:unit:value or gate:unit:value:step.",
        of: Some(crate::link::Chapter::Gates),
        kind: Kind::Forced { most: MOST_FORCED },
        get: |link| Value::Forced(link.gates.forced.clone()),
        set: |link, value| {
            if let Value::Forced(forced) = value {
                link.gates.forced = forced;
            }
        },
    },
];

/// What decides every number, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub cell: CellChoice,
    pub task: TaskChoice,
    pub units: u32,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sentence {
    /// One of the task's held-out strings.
    Drawn(u32),
    Given(String),
}

impl Settings {
    /// What the settings read; `sentence` is the learner's.
    pub fn read(&self, sentence: &str) -> Sentence {
        match self.sentence {
            SentenceChoice::Drawn => Sentence::Drawn(self.sample),
            SentenceChoice::Mine => Sentence::Given(sentence.to_owned()),
        }
    }
}

questions! {
    Gates:
    /// One quantity of every unit at every step, and the predictions, with and without held gates.
    Seen { sentence: Sentence, quantity: Quantity, forced: Vec<Forced> } -> Seen,
    /// How one unit's values at one step were computed. `unit` and `at` count from 0.
    Sums { sentence: Sentence, forced: Vec<Forced>, unit: u32, at: u32 } -> Sums,
    /// What each unit follows and how long it remembers, on held-out strings.
    Units {} -> Units,
    /// How the predictions change if one gate of one unit is shut at every step, for each of
    /// these units (from 0, at most [`MOST_SHUT`]) separately.
    Shut { sentence: Sentence, gate: Quantity, units: Vec<u32> } -> Shut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_gate_reads_back_as_it_was() {
        for text in ["f:7:0", "z:64:1:12"] {
            assert_eq!(Forced::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "f", "c:1:0", "f:0:0", "f:1:2", "f:1:1:0", "f:1:1:3:4", "f:-1:0"] {
            assert_eq!(Forced::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_quantity_has_its_part_in_every_cell() {
        for cell in CellChoice::ALL {
            for quantity in Quantity::ALL {
                assert!(cell.quantities().contains(&quantity.of(*cell)));
            }
            assert!(cell.quantities().contains(&cell.memory()));
        }
    }
}
