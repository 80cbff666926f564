//! `heads`: every head of a small GPT: what it attends to, what it writes and what it is worth.

use core::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Architecture, Array, GptSpec, Trace,
    architecture::Positions,
    attention::AttentionRow,
    link::{Kind, TableRow, Value, rows::plain},
    question::questions,
    spec::Limits,
};

/// Most tokens the model sees at once.
pub const CONTEXT: u32 = 64;
/// Most layers, and most heads in each.
pub const MOST: u32 = 12;
/// One head, counted from 1. `Display` is its form in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadAt {
    pub layer: u32,
    pub head: u32,
}

impl HeadAt {
    /// Parses `layer.head`; `None` if no model of the course or of the lab has that head.
    pub fn parse(given: &str) -> Option<Self> {
        let (layer, head) = given.split_once('.')?;
        let number =
            |part: &str, most| part.parse().ok().filter(|number| (1..=most).contains(number));
        Some(Self {
            layer: number(layer, Limits::NATIVE.layers)?,
            head: number(head, Limits::NATIVE.heads)?,
        })
    }

    /// Every head of so many layers with so many heads in each, layer by layer.
    pub fn all((layers, heads): (u32, u32)) -> Vec<Self> {
        (1..=layers).flat_map(|layer| (1..=heads).map(move |head| Self { layer, head })).collect()
    }

    /// Its place among [`Self::all`]; `None` if it is none of them.
    pub fn place(self, (layers, heads): (u32, u32)) -> Option<usize> {
        if self.layer > layers || self.head > heads {
            return None;
        }
        Some((self.layer.checked_sub(1)? * heads + self.head.checked_sub(1)?) as usize)
    }

    /// Puts this head among those that are `off`, or takes it out.
    pub fn toggle(self, off: &mut Vec<Self>) {
        let before = off.len();
        off.retain(|other| *other != self);
        if off.len() == before {
            off.push(self);
        }
    }
}

impl fmt::Display for HeadAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer, self.head)
    }
}

/// What a link says about the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub layers: u32,
    pub heads: u32,
    pub width: u32,
    /// The head that is enlarged, counted from 1.
    pub layer: u32,
    pub head: u32,
    /// Heads that are switched off.
    pub off: Vec<HeadAt>,
    /// Whether a click switches a head off and on.
    pub switching: bool,
    /// The cell whose arithmetic is open, counted from 1; a query of 0 is none.
    pub query: u32,
    pub key: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layers: 2,
            heads: 4,
            width: 32,
            layer: 1,
            head: 1,
            off: Vec::new(),
            switching: false,
            query: 0,
            key: 1,
        }
    }
}

impl Settings {
    /// What the chapter trains.
    pub fn spec(&self, seed: u32) -> Spec {
        Spec { seed, layers: self.layers, heads: self.heads, width: self.width }
    }
}

/// The chapter's rows of the settings table.
pub(crate) const ROWS: &[TableRow] = &[
    plain!(of Heads, "heads-layers", "Layers", many_heads.layers: Whole,
        Kind::Whole { min: 1, max: MOST }, "Layers of heads. Rebuilds the model."),
    plain!(of Heads, "heads-count", "Heads in a layer", many_heads.heads: Whole,
        Kind::Whole { min: 1, max: MOST },
        "They share the width equally, so they must divide it. Rebuilds the model."),
    plain!(of Heads, "heads-width", "Width (d_model)", many_heads.width: Whole,
        Kind::Whole { min: 8, max: 192 }, "Numbers per token. Rebuilds the model."),
    plain!(of Heads, "heads-layer", "Layer shown", many_heads.layer: Whole,
        Kind::Whole { min: 1, max: MOST }, "Layer of the enlarged head."),
    plain!(of Heads, "heads-head", "Head shown", many_heads.head: Whole,
        Kind::Whole { min: 1, max: MOST }, "The enlarged head within its layer."),
    TableRow {
        name: "heads-off",
        label: "Heads switched off",
        help: "Layer and head of each head whose output counts as 0.",
        of: Some(crate::link::Chapter::Heads),
        kind: Kind::Heads,
        get: |link| Value::Heads(link.many_heads.off.clone()),
        set: |link, value| {
            if let Value::Heads(off) = value {
                link.many_heads.off = off;
            }
        },
    },
    plain!(of Heads, "heads-switching", "Switch heads", many_heads.switching: Flag, Kind::Flag,
        "Whether a click on a head switches it off or on."),
    plain!(of Heads, "heads-query", "Query", many_heads.query: Whole,
        Kind::Whole { min: 0, max: CONTEXT },
        "Query of the cell whose arithmetic is open, counted from 1; 0 is none."),
    plain!(of Heads, "heads-key", "Key", many_heads.key: Whole,
        Kind::Whole { min: 1, max: CONTEXT }, "Key of that cell."),
];

/// What decides every number the chapter trains, with the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub seed: u32,
    pub layers: u32,
    pub heads: u32,
    pub width: u32,
}

impl Spec {
    /// The model: GPT-2's architecture on a small scale, but with rotary positions, under which
    /// heads find what lies at a fixed distance in a tenth of the steps that learned positions
    /// take.
    pub fn gpt(&self) -> GptSpec {
        GptSpec {
            layers: self.layers,
            heads: self.heads,
            width: self.width,
            context: CONTEXT,
            dropout: 0.0,
            tied: false,
            architecture: Architecture { positions: Positions::Rotary, ..Architecture::GPT2 },
        }
    }
}

/// What one head did, averaged over all queries but the first, which has nothing to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Entropy of a row of weights, `-Σ a ln a`, in nats: 0 if all weight is on one token, `ln n`
    /// if it is evenly spread over n.
    pub entropy: f32,
    /// Mean distance it looks back, `Σ a · (query - key)`, in tokens.
    pub distance: f32,
    /// Weight on the first token.
    pub first: f32,
    /// Weight on the token just before the query.
    pub previous: f32,
}

impl Statistics {
    /// Statistics of a head that attends evenly to everything it may see, in a sequence of `length`
    /// tokens; `None` if there is no query but the first.
    pub fn alike(length: usize) -> Option<Self> {
        let queries = 2..=length;
        let count = length.checked_sub(1).filter(|&count| count > 0)? as f64;
        let mean = |f: fn(f64) -> f64| {
            (queries.clone().map(|seen| f(seen as f64)).sum::<f64>() / count) as f32
        };
        let share = mean(|seen| 1.0 / seen);
        Some(Self {
            entropy: mean(f64::ln),
            distance: mean(|seen| (seen - 1.0) / 2.0),
            first: share,
            previous: share,
        })
    }
}

questions! {
    Heads:
    /// What every head does with a text, of which the last [`CONTEXT`] characters are read; with the arithmetic
    /// of one `row`: its head, and its query, counted from 0.
    Seen { text: String, off: Vec<HeadAt>, row: Option<(HeadAt, u32)> } -> Seen,
    /// What each head of a layer, counted from 1, writes at `query`, from 0.
    Written { text: String, off: Vec<HeadAt>, layer: u32, query: u32 } -> Written,
    /// How much switching off these heads, all together, costs on held-out text.
    Cost { off: Vec<HeadAt> } -> Cost,
    /// One head's statistics at every recorded step.
    Track { at: HeadAt } -> Track,
}

/// Every head on one text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Shared, because it holds a few megabytes.
    #[serde(with = "crate::shared")]
    pub trace: Arc<Trace>,
    pub off: Vec<HeadAt>,
    /// Head by head, layer by layer; empty if there is no query but the first.
    pub statistics: Vec<Statistics>,
    /// Mean norm of what each head adds to the residual stream, `[layers, heads]`.
    pub written: Array,
    /// The row that was asked for, unless the model or the text has no such row.
    pub row: Option<AttentionRow>,
}

impl Seen {
    /// Statistics of one head; `None` if the model has no such head or the text is too short.
    pub fn statistics(&self, at: HeadAt) -> Option<Statistics> {
        let &[layers, heads] = self.written.shape.as_slice() else { return None };
        self.statistics.get(at.place((layers, heads))?).copied()
    }
}

/// One token's update of the residual stream by one attention layer, term by term: head h adds
/// `(its d numbers) · (its d rows of W_O)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    pub layer: u32,
    pub query: u32,
    /// What each head adds, `[heads, width]`.
    pub heads: Array,
    /// What W_O's bias adds, `width` numbers.
    pub bias: Vec<f32>,
    /// The layer's output as the model computed it, `width` numbers: the sum of these.
    pub output: Vec<f32>,
}

/// The cost of switching heads off, in nats per token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub step: u32,
    pub off: Vec<HeadAt>,
    /// Number of held-out windows, and of tokens predicted in all of them.
    pub windows: u32,
    pub tokens: u32,
    /// Mean loss with all heads on.
    pub before: f32,
    /// Mean loss with these off.
    pub after: f32,
    /// Mean over the windows of the difference of their losses.
    pub change: f32,
    /// Standard error of that mean: the standard deviation of the windows' differences divided by
    /// the square root of their number. `None` for a single window.
    pub error: Option<f32>,
}

/// One head over training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    pub at: HeadAt,
    /// Number of held-out tokens it was recorded on, and the length of each window.
    pub tokens: u32,
    pub length: u32,
    /// Number of steps taken, and what the head did then.
    pub points: Vec<(u32, Statistics)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_a_link_read_back() {
        for text in ["1.1", "12.12", "48.25"] {
            assert_eq!(HeadAt::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "1", "0.1", "1.26", "49.1", "1.2.3", "a.b", "-1.1"] {
            assert_eq!(HeadAt::parse(text), None, "{text}");
        }
    }

    #[test]
    fn heads_have_places_layer_by_layer() {
        let shape = (2, 3);
        let places = HeadAt::all(shape).into_iter().map(|at| at.place(shape));
        assert!(places.eq((0..6).map(Some)));
        for (layer, head) in [(0, 1), (1, 0), (3, 1), (1, 4)] {
            assert_eq!(HeadAt { layer, head }.place(shape), None, "{layer} {head}");
        }
    }

    #[test]
    fn looking_at_all_alike() {
        let alike = Statistics::alike(3).unwrap();
        assert!((alike.entropy - (2f32.ln() + 3f32.ln()) / 2.0).abs() < 1e-6);
        assert!((alike.distance - 0.75).abs() < 1e-6);
        assert!((alike.previous - (0.5 + 1.0 / 3.0) / 2.0).abs() < 1e-6);
        assert_eq!(Statistics::alike(1), None);
        assert_eq!(Statistics::alike(0), None);
    }
}
