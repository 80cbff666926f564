//! What chapters teach with: words that explain themselves, symbols that light up together,
//! formulas and questions.
//!
//! None of it knows a model: chapters hand in signals of text and numbers.

mod check;
mod formula;
mod glossary;
mod lit;
mod pen;
mod term;
mod tiny;
mod word;

pub use crate::figures::Hue;
pub use check::{CheckYourself, GuessFirst};
pub use formula::Formula;
pub use glossary::Glossary;
pub use lit::{MathSym, Sym, provide_lit};
pub use term::Term;
pub use word::Word;
