//! A formula's code as a notebook: with the live model's own numbers, up to the number on the page.
//!
//! The file of such a snippet has two sections more than others (see
//! [`Snippet`](crate::teaching::Snippet)): one that takes what the code needs out of `weights` and
//! `page`, and one that holds the result to what the page shows. What the first of them gives, the
//! code does not make up again.

use std::{fmt::Write, rc::Rc};

use leptos::{prelude::*, task::spawn_local};
use serde_json::{Value, json};
use unroll_protocol::{
    Array, Ask, Link, Packed,
    parameters::{Parameter, Parameters, WithParameters},
};

use super::{Labs, use_provenance};
use crate::{
    chapters,
    controls::public_address,
    fetched::{Fetch, part},
    figures::{Provenance, download::File, export::RELEASE, writers::WRITERS},
    questions::{Questions, Said},
    store::Store,
    teaching::sections,
};

/// What a notebook holds of an answer, by the names under which its code finds it in `page`.
pub type Numbers = Vec<(&'static str, Held)>;

/// Numbers as a notebook holds them.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A tensor.
    Tensor(Array),
    /// A literal of Python's, as JSON writes it: a number, a text or a list of such.
    Plain(Value),
}

impl From<&Array> for Held {
    fn from(array: &Array) -> Self {
        Self::Tensor(array.clone())
    }
}

impl From<&Vec<f32>> for Held {
    fn from(values: &Vec<f32>) -> Self {
        Self::Tensor(Array { shape: vec![values.len() as u32], values: values.clone() })
    }
}

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl From<$type> for Held {
            fn from(value: $type) -> Self {
                Self::Plain(json!(value))
            }
        }
    )+};
}

plain!(u32, f32, f64, &str, &String, &Vec<u32>, &Vec<String>);

/// A notebook that a chapter offers.
pub struct Notebook {
    /// The snippet's file.
    pub code: &'static str,
    /// What it computes: "The state after your sentence".
    pub title: &'static str,
    /// Which of the chapter's models, from 0.
    pub model: fn(&Link) -> u32,
    /// The parameters that the code needs, by the beginnings of their paths in the model.
    pub weights: fn(&Link) -> Vec<String>,
    /// The question whose answer the code arrives at, by the link and the learner's sentence; or,
    /// as a sentence, why the settings on show are not what the code computes.
    pub asks: fn(&Link, &str) -> Result<Packed, &'static str>,
    /// What is taken from the answer; or why there is nothing to compute.
    pub page: fn(&Packed) -> Result<Numbers, String>,
}

/// Where the numbers of a notebook come from.
pub struct Origin {
    pub chapter: &'static str,
    /// Of training.
    pub step: u32,
    /// The page's address, with its settings.
    pub address: String,
    pub provenance: Provenance,
}

/// Reads the model's numbers and saves the notebook; says how that goes. Fetched when the first one
/// is asked for.
type Open = fn(&'static Notebook, Store, Questions, Signal<Provenance>, RwSignal<String>);

const OPEN: Fetch<Open> = part!(notebook: Open = open);

/// Begins the title of a check that needs more than a notebook has.
const ALONE: &str = "Alone:";

/// The button that saves one.
pub fn notebook(notebook: &'static Notebook) -> AnyView {
    let store = expect_context::<Store>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    let of_lab = expect_context::<Labs>().of(chapter).map(Questions::from);
    let questions = of_lab.unwrap_or_else(|| store.into());
    let provenance = use_provenance();
    let says = RwSignal::new(String::new());
    let press = move |_| {
        spawn_local(async move {
            match OPEN().await {
                Ok(open) => open(notebook, store, questions, provenance, says),
                Err(_) => drop(says.try_set(NOT_FETCHED.to_owned())),
            }
        });
    };
    view! {
        <button type="button" class="button" data-testid="snippet-notebook" on:click=press>
            "Open as notebook"
        </button>
        <span class="hint" role="status" data-testid="notebook-says">{says}</span>
    }
    .into_any()
}

const NOT_FETCHED: &str = "The part of the page that makes files could not be loaded. Try again.";

fn open(
    notebook: &'static Notebook,
    store: Store,
    questions: Questions,
    provenance: Signal<Provenance>,
    says: RwSignal<String>,
) {
    let asked = untrack(|| {
        let sentence = store.probe.get();
        store.link.with(|link| {
            let question = (notebook.asks)(link, &sentence)?;
            Ok::<_, &str>((link.chapter, question_for(notebook, link, question)))
        })
    });
    let (chapter, question) = match asked {
        Ok(asked) => asked,
        Err(problem) => return drop(says.try_set(problem.to_owned())),
    };
    says.try_set("The model’s numbers are being read …".to_owned());
    let take = move |said: Said| {
        let (step, packed) = match said {
            Some(Ok(said)) => said,
            Some(Err(problem)) => return drop(says.try_set(problem)),
            None => return drop(says.try_set("There is no model to read. Try again.".into())),
        };
        // The learner may be elsewhere by now.
        let Some(provenance) = provenance.try_get_untracked() else { return };
        let origin = Origin {
            chapter: chapters::info(chapter).title(),
            step,
            address: public_address(),
            provenance,
        };
        spawn_local(async move {
            says.try_set(match save(notebook, &packed, &origin).await {
                Ok(name) => format!("Saved as {name}.ipynb."),
                Err(problem) => problem,
            });
        });
    };
    questions.ask(question, Rc::new(take));
}

/// The question to the engine: the notebook's own, with the parameters it is answered from.
pub fn question_for(notebook: &Notebook, link: &Link, question: Packed) -> Packed {
    let (model, under) = ((notebook.model)(link), (notebook.weights)(link));
    WithParameters { model, under, question }.packed()
}

async fn save(notebook: &Notebook, said: &Packed, origin: &Origin) -> Result<String, String> {
    let writers = WRITERS().await.map_err(|_| NOT_FETCHED)?;
    let text = compose(notebook, said, origin)?;
    let name = format!("unroll-{}", file_name(notebook.title));
    let saved = (writers.save)(name.clone(), File::Notebook(text)).await;
    saved.map_err(|_| "This browser did not let the file be made.")?;
    Ok(name)
}

/// A title in lower case, with hyphens between its words.
fn file_name(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// The notebook as the text of its file (nbformat 4.5), from the answer to [`question_for`].
///
/// # Errors
///
/// A sentence where the answer can't be read or holds nothing to compute.
pub fn compose(notebook: &Notebook, said: &Packed, origin: &Origin) -> Result<String, String> {
    let said: Parameters = said.unpack().map_err(|error| error.to_string())?;
    let page = (notebook.page)(&said.answer)?;
    let Ok([setup, shown, check, live, result]) = <[_; 5]>::try_from(sections(notebook.code))
    else {
        return Err("This code has no notebook.".to_owned());
    };
    let given: Vec<&str> = live.1.lines().flat_map(assigned).collect();
    let is_made_up = |line: &str| {
        let names = assigned(line);
        !names.is_empty() && names.iter().all(|name| given.contains(name))
    };
    let code: Vec<&str> = shown.1.lines().filter(|line| !is_made_up(line)).collect();
    // What sets the snippet up makes its numbers up, but for how they are counted.
    let precision: Vec<&str> =
        setup.1.lines().filter(|line| line.starts_with("torch.set_default_dtype")).collect();
    let mut cells = vec![
        markdown(&introduction(notebook.title, origin)),
        hidden(&numbers(&said.parameters, &page, &precision.join("\n"))),
    ];
    let section = |title: &str, code: &str| [markdown(&format!("## {title}")), python(code)];
    cells.extend(section(live.0, live.1));
    cells.extend(section(shown.0, code.join("\n").trim()));
    if !check.0.starts_with(ALONE) {
        cells.extend(section(check.0, check.1));
    }
    cells.extend(section(result.0, result.1));
    let cells: Vec<Value> = cells
        .into_iter()
        .enumerate()
        .map(|(i, mut cell)| {
            cell["id"] = json!(format!("cell-{}", i + 1));
            cell
        })
        .collect();
    let mut unroll = serde_json::Map::new();
    origin.provenance.write_into(&mut unroll);
    unroll.insert("step".into(), json!(origin.step));
    let notebook = json!({
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" },
            "language_info": { "name": "python" },
            "unroll": unroll,
        },
        "cells": cells,
    });
    Ok(notebook.to_string())
}

fn introduction(title: &str, origin: &Origin) -> String {
    let Origin { chapter, step, address, provenance } = origin;
    let steps = match step {
        0 => "before its first step of training".to_owned(),
        1 => "after 1 step of training".to_owned(),
        _ => format!("after {step} steps of training"),
    };
    let mut text = format!(
        "# {title}\n\nThe numbers below come from the model on your page, {steps}. The page is the chapter \
         “{chapter}” of Unroll {RELEASE}. It ran on {}. The last cell checks the code’s result against the page. You \
         need Python with `torch`.",
        provenance.device
    );
    if !address.is_empty() {
        text.push_str(&format!("\n\n[The page, with the same settings]({address})"));
    }
    text
}

/// The cell that holds the numbers.
fn numbers(parameters: &[Parameter], page: &Numbers, precision: &str) -> String {
    let mut text = format!(
        "# The model’s own numbers. The page computes with 32-bit numbers, and these digits give each one exactly.\n\
         import torch\n\n{precision}\n\n\n\
         def tensor(shape, numbers):\n    \
         values = torch.tensor([float(number) for number in numbers.split()], dtype=torch.float32)\n    \
         return values.to(torch.get_default_dtype()).view(shape)\n\n\n"
    );
    let mut dictionary = |name: &str, entries: Vec<(&str, String)>| {
        text.push_str(&format!("{name} = {{\n"));
        for (name, value) in entries {
            text.push_str(&format!("    {}: {value},\n", json!(name)));
        }
        text.push_str("}\n");
    };
    let weights = parameters.iter().map(|p| (p.name.as_str(), tensor(&p.value)));
    dictionary("weights", weights.collect());
    let held = page.iter().map(|(name, held)| {
        let value = match held {
            Held::Tensor(array) => tensor(array),
            Held::Plain(value) => value.to_string(),
        };
        (*name, value)
    });
    dictionary("page", held.collect());
    text.trim_end().to_owned()
}

fn tensor(array: &Array) -> String {
    let mut text = format!("tensor({:?}, \"", array.shape);
    for (i, value) in array.values.iter().enumerate() {
        let space = if i == 0 { "" } else { " " };
        // The fewest digits that name this number among all of 32 bits. Writing to a String cannot
        // fail.
        let _ = write!(text, "{space}{value:?}");
    }
    text.push_str("\")");
    text
}

/// The names that a line assigns to, if it is one of the outermost.
fn assigned(line: &str) -> Vec<&str> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let Some((left, _)) = line.split_once(" = ") else { return Vec::new() };
    let names: Vec<&str> = left.split(", ").collect();
    if names.iter().all(is_name) { names } else { Vec::new() }
}

fn markdown(text: &str) -> Value {
    json!({ "cell_type": "markdown", "metadata": {}, "source": text })
}

fn python(code: &str) -> Value {
    json!({
        "cell_type": "code", "metadata": {}, "source": code,
        "execution_count": null, "outputs": [],
    })
}

/// A cell that Jupyter shows folded: nobody reads thousands of numbers.
fn hidden(code: &str) -> Value {
    let mut cell = python(code);
    cell["metadata"] = json!({ "jupyter": { "source_hidden": true }, "tags": ["hide-input"] });
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "import torch\n\
        torch.manual_seed(0)\n\
        torch.set_default_dtype(torch.float64)\n\
        x = torch.randn(2)\n\n\
        # --- A product\n\
        W, b = torch.randn(3, 2), torch.randn(3)  # [3, 2]\n\
        y = W @ x  # [3]\n\n\
        # --- The same\n\
        assert y.shape == (3,)\n\n\
        # --- The layer on the page\n\
        W = weights[\"layer\"]\n\
        b, x = 0, page[\"x\"]\n\n\
        # --- The number on the page\n\
        torch.testing.assert_close(y, page[\"y\"])\n";

    fn example() -> Notebook {
        Notebook {
            code: CODE,
            title: "One product, a test",
            model: |_| 0,
            weights: |_| vec!["layer".to_owned()],
            asks: |_, _| Err("nothing"),
            page: |_| Ok(vec![("x", (&vec![0.1f32, -2e-9]).into()), ("says", "a \"b\"\n".into())]),
        }
    }

    fn origin() -> Origin {
        let provenance = Provenance { device: "CPU".to_owned(), ..Provenance::default() };
        Origin { chapter: "Tests", step: 1, address: String::new(), provenance }
    }

    fn sources() -> Vec<String> {
        let value = Array { shape: vec![3, 2], values: vec![0.0; 6] };
        let parameters = vec![Parameter { name: "layer".to_owned(), value }];
        let said = Packed::of(&Parameters { parameters, answer: Packed::default() });
        let text = compose(&example(), &said, &origin()).unwrap();
        let notebook: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(notebook["nbformat"], 4);
        let cells = notebook["cells"].as_array().unwrap();
        cells.iter().map(|cell| cell["source"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn what_is_given_is_not_made_up() {
        let sources = sources();
        assert_eq!(sources[5], "y = W @ x  # [3]");
        assert!(sources.iter().all(|source| !source.contains("randn")));
        assert!(sources[0].contains("after 1 step of training"));
    }

    #[test]
    fn numbers_are_exact() {
        let numbers = &sources()[1];
        assert!(numbers.contains("torch.set_default_dtype(torch.float64)"));
        assert!(numbers.contains("\"layer\": tensor([3, 2], \"0.0 0.0 0.0 0.0 0.0 0.0\"),"));
        assert!(numbers.contains("\"x\": tensor([2], \"0.1 -2e-9\"),"));
        assert!(numbers.contains(r#""says": "a \"b\"\n","#));
    }

    #[test]
    fn names_are_those_of_whole_lines() {
        assert_eq!(assigned("q, k = torch.randn(2, d)"), ["q", "k"]);
        assert!(assigned("    q = 1").is_empty());
        assert!(assigned("torch.testing.assert_close(y, x, rtol = 1)").is_empty());
        assert!(assigned("a == b").is_empty());
    }

    #[test]
    fn a_file_is_named_by_its_title() {
        assert_eq!(file_name("One product, a test"), "one-product-a-test");
    }
}
