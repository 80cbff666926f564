//! Figures of text on its way to numbers: tokens, rows of an embedding, examples, probabilities.

mod chain;
mod levels;
mod lookup;
mod map;
mod spread;
mod window;

pub use chain::ChainFigure;
pub use levels::{LevelStrip, LevelsFigure};
pub use lookup::{LookupFigure, PickedRow};
pub use map::{TokenMap, parted};
pub use window::{AROUND, WindowFigure, stretch};
