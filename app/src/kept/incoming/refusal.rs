//! Why a file can’t be opened, with the sentence that the page shows for each reason.

use core::fmt;

use unroll_protocol::{SpecError, given::MAX_GIVEN_PARAMETERS, spec::MAX_PARAMETERS};

use super::head::LARGEST_FILE;
use crate::kept::{archive::TAIL, run::MOST_UNPACKED};

/// Why a file can't be opened. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    NotSafetensors,
    Pickle,
    Truncated,
    Huge,
    NoModel,
    /// A model of a form that has this name.
    Foreign(String),
    Config {
        name: &'static str,
        value: String,
    },
    Spec(SpecError),
    TooLarge {
        parameters: u64,
    },
    Settings,
    Missing(Vec<String>),
    Unknown(Vec<String>),
    Shape {
        name: String,
        found: Vec<usize>,
        expected: Vec<usize>,
    },
    Type {
        name: String,
        dtype: String,
    },
    NoVocabulary {
        tokens: usize,
    },
    Vocabulary(String),
    /// What the engine says.
    Engine(String),
    TooManyNumbers,
    Chapter(String),
    OtherText(&'static str),
    NotZip,
    LargeZip,
    LongZip,
    NoUnzip,
    NoRun,
    NotFinite,
    /// The learner began something else while it was read.
    Late,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSafetensors => write!(f, "This is not a safetensors file, or it is damaged."),
            Self::Pickle => write!(
                f,
                "It looks like a Python pickle, and a pickle can run code when it is opened. So Unroll opens \
                 no pickles. Choose the .safetensors file beside it instead."
            ),
            Self::Truncated => {
                write!(f, "This file ends too early: not all of it was saved or copied.")
            }
            Self::Huge => write!(
                f,
                "This file is larger than {LARGEST_FILE} GB. The largest models that Unroll opens have {} million \
                 parameters, which is less than 1 GB.",
                MAX_GIVEN_PARAMETERS / 1_000_000
            ),
            Self::NoModel => write!(
                f,
                "This file does not hold a GPT-2 model: it has no token embedding named transformer.wte.weight."
            ),
            Self::Foreign(name) => write!(
                f,
                "This model is built like {name}, and Unroll opens only models that are built like GPT-2."
            ),
            Self::Config { name, value } => {
                write!(f, "Unroll can’t build a model whose “{name}” is {value}.")
            }
            Self::Spec(error) => error.fmt(f),
            Self::TooLarge { parameters } => write!(
                f,
                "This model has at least {:.1} million parameters. The lab can hold {} million at most.",
                *parameters as f64 / 1e6,
                MAX_PARAMETERS / 1_000_000
            ),
            Self::Settings => write!(f, "This model is larger than the lab’s settings allow."),
            Self::Missing(names) => {
                write!(f, "This file lacks {}, which its model needs.", listed(names))
            }
            Self::Unknown(names) => {
                write!(f, "This file holds {}, which its model has no place for.", listed(names))
            }
            Self::Shape { name, found, expected } => write!(
                f,
                "In this file {name} has the shape {found:?}, where its model needs {expected:?}."
            ),
            Self::Type { name, dtype } => write!(
                f,
                "In this file {name} holds numbers of the type {dtype}. Only F32, F16 and BF16 can \
                 be opened."
            ),
            Self::NoVocabulary { tokens } => write!(
                f,
                "This file does not say what its {tokens} tokens are. Choose it again together with its \
                 tokenizer.json, or with its vocab.json and merges.txt."
            ),
            Self::Vocabulary(sentence) | Self::Engine(sentence) => f.write_str(sentence),
            Self::TooManyNumbers => {
                write!(f, "This file holds more numbers than the models of any chapter have.")
            }
            Self::OtherText(name) => write!(
                f,
                "It was trained on “{name}”. Opening it would replace your own text on this page. If \
                 that is all right, choose “{name}” as the text, then open the file again."
            ),
            Self::NotZip => write!(f, "It isn’t a zip file, or it is damaged."),
            Self::LargeZip => write!(
                f,
                "Unzipped, it is larger than {} GB. Unzip it yourself, then open the folder.",
                MOST_UNPACKED / 1_000_000_000
            ),
            Self::LongZip => write!(
                f,
                "It holds so many files that their list alone takes more than {} MB. Unzip it yourself, then open the folder.",
                TAIL >> 20
            ),
            Self::NoUnzip => {
                write!(f, "This browser can’t unzip it. Unzip it yourself, then open the folder.")
            }
            Self::NotFinite => {
                write!(f, "Some of its numbers can’t be used: they are NaN or infinite.")
            }
            Self::Late => write!(f, "You started something else in the meantime."),
            Self::NoRun => write!(
                f,
                "It has no model from the GPT lab. Look for files with a name like \
                 unroll-step-300.safetensors."
            ),
            Self::Chapter(id) => write!(
                f,
                "It says that its models belong to “{id}”. This version of Unroll has no such chapter, or \
                 none with model files of this kind."
            ),
        }
    }
}

/// A few names, and how many more there are.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}
