//! A layer's normalization: a batch before and after, what was averaged, and who moved.

mod arithmetic;
mod cells;
mod coupling;
mod reading;
mod undo;

pub use arithmetic::Arithmetic;
pub use coupling::CouplingFigure;
pub use reading::{amount, moved, remains, times};
pub use undo::undone;
