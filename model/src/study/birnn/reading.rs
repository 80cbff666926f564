//! What the models do with one sequence.

use burn::tensor::{Device, Int, Tensor, TensorData, activation::softmax};
use unroll_protocol::{
    Array,
    study::birnn::{
        Edit, MOST_AHEAD, MOST_COLUMNS, ModelRun, PASSAGE, Passage, Reader, Reading, Readout, Run,
        Spec,
    },
};

use super::{Refusal, learner::Model, task::Task};
use crate::{RunOptions, SequenceInput, read_all, token_tensor};

/// A question about a sequence.
pub struct Asked<'a> {
    pub text: &'a str,
    pub example: u32,
    pub ahead: u32,
    pub hidden: Option<u32>,
    pub edit: Option<Edit>,
}

/// Every model's states and answers on one sequence, and on the same sequence with one character
/// replaced.
pub async fn reading(
    models: &[Model<'_>],
    task: &Task,
    spec: &Spec,
    asked: Asked<'_>,
) -> Result<Reading, Refusal> {
    let Asked { text, example, ahead, hidden, edit } = asked;
    let ahead = ahead.clamp(1, MOST_AHEAD) as usize;
    let (ids, dropped) = match task {
        Task::Look(_) => (task.example(spec.seed, example).inputs, 0),
        Task::Fill { tokenizer, .. } => {
            let mut ids = tokenizer.encode(text);
            let dropped = ids.len().saturating_sub(MOST_COLUMNS as usize);
            ids.truncate(MOST_COLUMNS as usize);
            (ids, dropped as u32)
        }
    };
    if ids.is_empty() {
        return Err(Refusal("Write a sentence of at least one character to read.".to_owned()));
    }
    let symbols = task.symbols();
    let edited = match edit {
        Some(edit) if (edit.position as usize) < ids.len() => {
            let mut ids = ids.clone();
            let place = &mut ids[edit.position as usize];
            *place = replacement(task, &symbols, *place, edit.letter)?;
            Some((edit.position, ids))
        }
        _ => None,
    };

    let group = match task {
        Task::Look(_) => ahead - 1,
        Task::Fill { .. } => 0,
    };
    let outputs = task.answers().len();
    let hidden = hidden.filter(|&at| (at as usize) < ids.len());
    let asking = Asking { task, hidden: hidden.map(|at| at as usize), group, outputs };
    let mut tensors = Vec::new();
    for model in models {
        let readout = &model.learner.model.readout;
        let columns = readout.weight.val().narrow(1, group * outputs, outputs);
        tensors.push(columns.swap_dims(0, 1).reshape([-1]));
        let bias = readout.bias.as_ref().map(|bias| bias.val());
        tensors.push(bias.expect("drawn with one").narrow(0, group * outputs, outputs));
    }
    for ids in [Some(&ids), edited.as_ref().map(|edited| &edited.1)].into_iter().flatten() {
        tensors.extend(models.iter().flat_map(|model| asking.run(model, ids)));
    }
    let mut read = read_all(tensors).await?.into_iter();
    let mut next = || read.next().unwrap_or_default();

    let readouts = models.iter().map(|model| {
        let (forward, backward) = halves(&next(), outputs, model);
        let (reader, parameters, bias) = (model.reader, model.learner.parameters(), next());
        Readout { reader, parameters, forward, backward, bias }
    });
    let readouts = readouts.collect();
    let mut finished = |ids: Vec<u32>| {
        let targets = |at: usize| match task {
            Task::Look(_) => ids.get(at + ahead).copied(),
            Task::Fill { .. } => ids.get(at).copied(),
        };
        let targets = (0..ids.len()).map(targets).collect();
        let models = models.iter().map(|model| {
            let mut states = next();
            if model.reader == Reader::Backward {
                let width = states.len() / ids.len();
                let rows: Vec<&[f32]> = states.chunks(width).rev().collect();
                states = rows.concat();
            }
            let (forward, backward) = halves(&states, ids.len(), model);
            let logits = next();
            ModelRun { forward, backward, logits: array(logits.len() / outputs, logits) }
        });
        let models = models.collect();
        Run { ids, targets, models }
    };
    let run = finished(ids);
    let edited = edited.map(|(position, ids)| (position, finished(ids)));
    let chance = task.chance() as f32;
    let answers = task.answers();
    Ok(Reading { symbols, answers, readouts, run, edited, dropped, chance })
}

/// The token of `letter`, or else the one after `present`.
fn replacement(
    task: &Task,
    symbols: &[String],
    present: u32,
    letter: Option<char>,
) -> Result<u32, Refusal> {
    // A text's first token is the unknown character; its last, the mask, can't be typed.
    let (first, last) = match task {
        Task::Look(_) => (0, symbols.len()),
        Task::Fill { .. } => (1, symbols.len() - 1),
    };
    let Some(letter) = letter else {
        let next = present as usize + 1;
        return Ok(if (first..last).contains(&next) { next } else { first } as u32);
    };
    let letter = letter.to_string();
    match (symbols[..last].iter().position(|symbol| *symbol == letter), task) {
        (Some(id), _) => Ok(id as u32),
        (None, Task::Fill { .. }) => Ok(0),
        (None, Task::Look(_)) => Err(Refusal(format!(
            "‘{letter}’ is no symbol of this task: type one of {}.",
            symbols.join(", ")
        ))),
    }
}

/// An array of `rows` rows.
fn array(rows: usize, values: Vec<f32>) -> Array {
    let columns = values.len().checked_div(rows).unwrap_or(0);
    Array { shape: vec![rows as u32, columns as u32], values }
}

/// Splits `rows` rows of states, or of the weights that read them, into forward and backward
/// halves.
fn halves(values: &[f32], rows: usize, model: &Model<'_>) -> (Array, Array) {
    let whole = || array(rows, values.to_vec());
    let none = || Array { shape: vec![rows as u32, 0], values: Vec::new() };
    match model.reader {
        Reader::Forward | Reader::Delayed(_) => (whole(), none()),
        Reader::Backward => (none(), whole()),
        Reader::Both => {
            let width = values.len() / rows;
            let half = |from: usize| {
                let halves = values.chunks(width).flat_map(|row| &row[from..from + width / 2]);
                array(rows, halves.copied().collect())
            };
            (half(0), half(width / 2))
        }
    }
}

/// How a sequence is presented to the models.
struct Asking<'a> {
    task: &'a Task,
    hidden: Option<usize>,
    group: usize,
    outputs: usize,
}

impl Asking<'_> {
    /// A model's states `[T * width]`, in the order it reads, and its logits about each position,
    /// `[T * K]` or fewer, flat.
    fn run(&self, model: &Model<'_>, ids: &[u32]) -> [Tensor<1>; 2] {
        let (reader, network) = (model.reader, &model.learner.model);
        let device = &network.device();
        let length = ids.len();
        let (states, logits) = match self.task {
            Task::Look(_) => {
                let states = states(model, ids, device);
                let logits = network.forward(rows(reader, &[ids.to_vec()], device));
                (states, logits.reshape([length as i32, -1]))
            }
            Task::Fill { task, .. } => {
                let hiding = |at: usize| {
                    let mut ids = ids.to_vec();
                    ids[at] = task.mask();
                    ids
                };
                let shown = self.hidden.map_or_else(|| ids.to_vec(), hiding);
                let all: Vec<_> = (0..length).map(hiding).collect();
                let logits = network.forward(rows(reader, &all, device));
                (states(model, &shown, device), logits.reshape([(length * length) as i32, -1]))
            }
        };
        // The row and step at which each answer is given.
        let step = |at: usize| match reader {
            Reader::Forward | Reader::Both => Some(at),
            Reader::Delayed(by) => Some(at + by as usize).filter(|step| *step < length),
            Reader::Backward => Some(length - 1 - at),
        };
        let place = |at: usize| {
            let row = if matches!(self.task, Task::Fill { .. }) { at } else { 0 };
            step(at).map(|step| (row * length + step) as i32)
        };
        let places: Vec<i32> = (0..length).filter_map(place).collect();
        let logits = if places.is_empty() {
            Tensor::zeros([0], device)
        } else {
            let size = [places.len()];
            let places = Tensor::<1, Int>::from_data(TensorData::new(places, size), device);
            let columns = logits.narrow(1, self.group * self.outputs, self.outputs);
            columns.select(0, places).reshape([-1])
        };
        [states, logits]
    }
}

/// A model's states after each step, in the order it reads, flat.
fn states(model: &Model<'_>, ids: &[u32], device: &Device) -> Tensor<1> {
    let input = SequenceInput::OneHot(rows(model.reader, &[ids.to_vec()], device));
    model.learner.model.recurrent.forward(input, &RunOptions::default()).outputs.reshape([-1])
}

/// Sequences in a reader's order, `[rows, T]`.
fn rows(reader: Reader, sequences: &[Vec<u32>], device: &Device) -> Tensor<2, Int> {
    let mut ids = Vec::new();
    for sequence in sequences {
        match reader {
            Reader::Backward => ids.extend(sequence.iter().rev()),
            _ => ids.extend(sequence),
        }
    }
    token_tensor(&ids, sequences.len(), device)
}

/// A held-out passage with one letter missing, and every model's answer.
pub async fn passage(
    models: &[Model<'_>],
    task: &Task,
    spec: &Spec,
    number: u32,
) -> Result<Passage, Refusal> {
    let Task::Fill { task: fill_in, tokenizer } = task else {
        return Err(Refusal("Letters are missing only in the task on a text.".to_owned()));
    };
    let drawn = task.example(spec.seed, number);
    let ids = &drawn.targets;
    // A hidden letter with some context on either side; if there is none, whatever was hidden.
    let margin = PASSAGE as usize / 4;
    let drawn_places = || (0..ids.len()).filter(|&at| drawn.weights[at] == 1.0);
    let inner = |at: &usize| (margin..ids.len() - margin).contains(at);
    let is_letter = |at: &usize| tokenizer.character(ids[*at]).is_alphabetic();
    let missing = drawn_places().find(|at| inner(at) && is_letter(at));
    let missing = missing.or_else(|| drawn_places().next()).unwrap_or(ids.len() / 2);
    let mut given = ids.clone();
    given[missing] = fill_in.mask();

    let mut answers = Vec::new();
    for model in models {
        let device = &model.learner.model.device();
        let step = match model.reader {
            Reader::Forward | Reader::Both => missing,
            Reader::Delayed(by) => missing + by as usize,
            Reader::Backward => ids.len() - 1 - missing,
        };
        if step < ids.len() {
            let logits = model.learner.model.forward(rows(model.reader, &[given.clone()], device));
            answers.push((model.reader, softmax(logits.narrow(1, step, 1), 2).reshape([-1])));
        }
    }
    let (readers, tensors): (Vec<Reader>, Vec<Tensor<1>>) = answers.into_iter().unzip();
    let read = read_all(tensors).await?;
    Ok(Passage {
        number,
        tokens: ids.iter().map(|&id| tokenizer.character(id).to_string()).collect(),
        missing: missing as u32,
        right: ids[missing],
        answers: task.answers(),
        models: readers.into_iter().zip(read).collect(),
    })
}
