//! What the page and an engine outside the browser say to each other beside commands and events.
//!
//! Such an engine outlives the page: it trains on when the page is closed. A page that opens asks for
//! [`FOUND`] first. If there is a run, the page shows it, and its [`Command::Start`](crate::Command::Start)
//! has a checkpoint without parameters ([`Checkpoint::of_present`](crate::Checkpoint::of_present)), which
//! takes the run up as it is by then.

use serde::{Deserialize, Serialize};

use crate::{CurvePoint, Started};

/// Where the server of the engine has what [`Found`] holds, as an encoded `Option` of it.
pub const FOUND: &str = "engine/found";
/// Where it takes a [`Note`].
pub const NOTE: &str = "engine/note";
/// Where its WebSocket is.
pub const LINE: &str = "engine/line";
/// The protocol of that WebSocket. The page offers it and, as a second one, its secret: scripts can't set
/// other headers there.
pub const LINE_PROTOCOL: &str = "unroll";
/// What the secret is called in the link's fragment.
pub const SECRET: &str = "native=";

/// The run that an engine has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What was built, at its present step and learning rate.
    pub started: Started,
    /// Workers that the page asked for; 0 if it left that to the engine.
    pub workers: u32,
    pub text: String,
    pub points: Vec<CurvePoint>,
    pub note: Option<Note>,
}

/// What a page has to know of a run besides, and the engine does not. It is given back as it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The text's name, for people.
    pub text: String,
    /// The sentence that was looked at.
    pub probe: String,
    /// The file in which the browser keeps the run.
    pub file: Option<String>,
    /// How it was trained before this engine had it. Empty where the page has said so already.
    pub before: Vec<CurvePoint>,
}

#[cfg(test)]
mod tests {
    use crate::{
        Architecture, Checkpoint, Initialization, Link, OptimizerKind, TokenKind,
        architecture::Positions, gpt::Settings, wire,
    };

    /// A page that finds a run sets its form by it.
    #[test]
    fn a_spec_gives_back_the_settings_that_made_it() {
        let other = Settings {
            tokens: TokenKind::Pairs,
            merges: 300,
            layers: 3,
            heads: 2,
            width: 32,
            context: 24,
            batch: 5,
            initialization: Initialization::Xavier,
            optimizer: OptimizerKind::Muon,
            learning_rate: 0.02,
            warmup_steps: 7,
            weight_decay: 0.3,
            clip_norm: 2.0,
            dropout: 0.1,
            tied: true,
            architecture: Architecture { positions: Positions::Rotary, ..Architecture::GPT2 },
            ..Settings::default()
        };
        for settings in [other, Settings { tokens: TokenKind::Bytes, merges: 256, ..other }] {
            assert_eq!(Settings::default().with_spec(&settings.spec(9)), settings);
        }
    }

    #[test]
    fn a_run_that_is_there_is_named_and_not_sent() {
        let named = Checkpoint::of_present(Link::default().experiment(), 12);
        assert!(named.is_of_present() && wire::encode(&named).len() < 100);
    }
}
