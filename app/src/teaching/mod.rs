//! What chapters teach with: words that explain themselves, symbols that light up together,
//! formulas and questions.
//!
//! None of it knows a model: chapters hand in signals of text and numbers.

mod check;
mod code;
mod formula;
mod glossary;
mod lit;
mod pen;
mod prose;
mod quiz;
mod term;
mod tiny;
mod word;

pub use crate::figures::Hue;
pub use check::{CheckYourself, GuessFirst, Kind};
pub use code::{Names, Snippet, sections};
#[cfg(test)]
pub use code::{Piece, pieces, shown};
pub use formula::Formula;
pub use glossary::Glossary;
pub use lit::{MathSym, Sym, provide_lit};
pub use prose::{Live, aim, live, live_words, prose};
#[cfg(test)]
pub use prose::{fold, plain};
pub use quiz::{Quiz, quiz, quiz_again};
pub use term::{Note, Term};
#[cfg(test)]
pub use word::WORDS;
pub use word::Word;
