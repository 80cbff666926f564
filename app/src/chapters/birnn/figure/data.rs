//! What is drawn of a sequence read in both directions, and what of it reaches what.

use std::sync::Arc;

use unroll_protocol::{
    Array,
    study::birnn::{Reader, Reading, Run},
};

use crate::figures::{
    Matrix, ValueMap,
    token::{mark, name_at},
};

/// Everything on show: the columns are positions, the rows what the models made of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    pub tokens: Vec<String>,
    /// The right answer about each position.
    pub wanted: Vec<Option<String>>,
    /// The position the models do not see while the states are read.
    pub hidden: Option<usize>,
    /// The position whose token was replaced.
    pub edit: Option<usize>,
    /// Whether each answer is given with its own position hidden.
    pub fill_in: bool,
    /// How far ahead the right answer stands, where it is one of the inputs.
    pub ahead: Option<usize>,
    pub rows: Vec<Row>,
    /// Where the states are how far they have moved: what their numbers are, and their scale.
    pub moved: Option<(String, ValueMap)>,
}

/// One row of the figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub reader: Reader,
    pub content: Content,
    /// How much each cell changed when the token was replaced: the largest difference of any of
    /// its numbers. Empty without an edit.
    pub changes: Vec<Option<f32>>,
}

/// What a row holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// States `[T, H]`; those of a backward network know what comes after.
    States { backward: bool, values: Array },
    /// The likeliest answer about each position, where there is one.
    Answers(Vec<Option<Said>>),
}

/// A model's likeliest answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub token: String,
    pub probability: f32,
    /// `None` where nothing is asked.
    pub right: Option<bool>,
}

/// The way a network reads, as a word.
pub fn direction(backward: bool) -> &'static str {
    if backward { "backward" } else { "forward" }
}

/// Exponentials over their sum.
pub fn softmax(logits: &[f32]) -> Vec<f32> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = logits.iter().map(|l| f64::from(l - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| (power / sum) as f32).collect()
}

/// Index of the largest, the first of equals.
pub fn likeliest(values: &[f32]) -> Option<usize> {
    let better = |best: usize, i: usize| if values[i] > values[best] { i } else { best };
    (0..values.len()).reduce(better)
}

impl Columns {
    /// The edited run where there is one, with how it differs from the other. Without `ahead` it is
    /// a text with letters missing.
    pub fn new(reading: &Reading, ahead: Option<usize>, hidden: Option<usize>) -> Self {
        let fill_in = ahead.is_none();
        let (edit, run) = match &reading.edited {
            Some((edit, run)) => (Some(*edit as usize), run),
            None => (None, &reading.run),
        };
        let name = |list: &[String], id: u32| list.get(id as usize).cloned().unwrap_or_default();
        let tokens: Vec<String> = run.ids.iter().map(|id| name(&reading.symbols, *id)).collect();
        let wanted = run.targets.iter().map(|t| t.map(|id| name(&reading.answers, id))).collect();
        let mut rows = Vec::new();
        for (index, readout) in reading.readouts.iter().enumerate() {
            let reader = readout.reader;
            let Some(model) = run.models.get(index) else { continue };
            let other = edit.and_then(|_| reading.run.models.get(index));
            for (backward, values) in [(false, &model.forward), (true, &model.backward)] {
                if values.values.is_empty() {
                    continue;
                }
                let before = other.map(|m| if backward { &m.backward } else { &m.forward });
                rows.push(Row {
                    reader,
                    changes: changes(values, before, tokens.len()),
                    content: Content::States { backward, values: values.clone() },
                });
            }
            let said = |t: usize| said(reading, run, index, t);
            rows.push(Row {
                reader,
                changes: changes(&model.logits, other.map(|m| &m.logits), tokens.len()),
                content: Content::Answers((0..tokens.len()).map(said).collect()),
            });
        }
        let hidden = hidden.filter(|at| fill_in && *at < tokens.len());
        Self { tokens, wanted, hidden, edit, fill_in, ahead, rows, moved: None }
    }

    /// What the states' numbers are.
    pub fn state_name(&self) -> &str {
        self.moved.as_ref().map_or("state", |moved| &moved.0)
    }

    /// Their colors.
    pub fn state_map(&self) -> ValueMap {
        self.moved.as_ref().map_or(ValueMap::Signed { limit: 1.0 }, |moved| moved.1)
    }

    /// The rows of states, as they are compared: positions down, units across.
    pub fn states(&self) -> Vec<Arc<Matrix>> {
        let states = |row: &Row| {
            let Content::States { backward, values } = &row.content else { return None };
            let units = values.shape.get(1).copied().unwrap_or(0);
            Some(Arc::new(Matrix {
                row_axis: format!("{}, {} state at", row.reader.name(), direction(*backward)),
                rows: self.tokens.clone(),
                columns: (1..=units).map(|unit| format!("unit {unit}")).collect(),
                values: values.values.clone(),
                map: self.state_map(),
                value_name: self.state_name().to_owned(),
                ..Matrix::default()
            }))
        };
        self.rows.iter().filter_map(states).collect()
    }

    /// Which of [`Self::states`] a row is.
    pub fn part_of(&self, row: usize) -> Option<usize> {
        let is_states = |row: &&Row| matches!(row.content, Content::States { .. });
        self.rows.get(row).filter(is_states)?;
        Some(self.rows[..row].iter().filter(is_states).count())
    }

    /// With how far the states have moved in their place.
    pub fn compared(&self, moved: &[Arc<Matrix>]) -> Self {
        let mut columns = self.clone();
        let mut parts = moved.iter();
        for row in &mut columns.rows {
            if let Content::States { values, .. } = &mut row.content
                && let Some(part) = parts.next()
            {
                values.values.clone_from(&part.values);
            }
        }
        columns.moved = moved.first().map(|part| (part.value_name.clone(), part.map));
        columns
    }

    /// Whether the input at `input` can reach the cell of `row` at `column`.
    pub fn reaches(&self, row: &Row, column: usize, input: usize) -> bool {
        match &row.content {
            Content::States { backward: false, .. } => input <= column,
            Content::States { backward: true, .. } => input >= column,
            Content::Answers(_) => {
                row.reader.sees(column, input) && !(self.fill_in && input == column)
            }
        }
    }

    /// The positions that reach a cell, in words.
    pub fn reach_in_words(&self, row: &Row, column: usize) -> String {
        let seen: Vec<usize> =
            (0..self.tokens.len()).filter(|input| self.reaches(row, column, *input)).collect();
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for at in seen {
            match spans.last_mut() {
                Some(span) if span.1 + 1 == at => span.1 = at,
                _ => spans.push((at, at)),
            }
        }
        let span = |(from, to): &(usize, usize)| match to - from {
            0 => format!("{}", from + 1),
            _ => format!("{} to {}", from + 1, to + 1),
        };
        match spans.len() {
            0 => "none".to_owned(),
            _ => spans.iter().map(span).collect::<Vec<_>>().join(" and "),
        }
    }

    /// The token at a position with its number.
    pub fn place(&self, column: usize) -> String {
        name_at(self.tokens.get(column).map_or("", String::as_str), column)
    }

    /// The first position about which forward is wrong and both ways right.
    pub fn only_both(&self) -> Option<usize> {
        let is_right = |reader: Reader, at: usize| {
            let said = self.rows.iter().filter(|row| row.reader == reader);
            said.filter_map(|row| match &row.content {
                Content::Answers(answers) => answers.get(at)?.as_ref()?.right,
                Content::States { .. } => None,
            })
            .next()
        };
        (0..self.tokens.len()).find(|&at| {
            is_right(Reader::Forward, at) == Some(false) && is_right(Reader::Both, at) == Some(true)
        })
    }

    /// How often the answers of `row` are right, and how many are asked for.
    pub fn score(row: &Row) -> Option<(usize, usize)> {
        let Content::Answers(answers) = &row.content else { return None };
        let asked: Vec<bool> = answers.iter().flatten().filter_map(|said| said.right).collect();
        Some((asked.iter().filter(|right| **right).count(), asked.len()))
    }
}

fn said(reading: &Reading, run: &Run, model: usize, t: usize) -> Option<Said> {
    let probabilities = softmax(run.models.get(model)?.logits.block(&[t])?);
    let id = likeliest(&probabilities)?;
    Some(Said {
        token: mark(reading.answers.get(id)?),
        probability: probabilities[id],
        right: run.targets.get(t)?.map(|target| target as usize == id),
    })
}

/// The largest difference in each row of two arrays; `None` where a row has no counterpart.
fn changes(values: &Array, before: Option<&Array>, length: usize) -> Vec<Option<f32>> {
    let Some(before) = before else { return Vec::new() };
    let change = |t: usize| {
        let (now, before) = (values.block(&[t])?, before.block(&[t])?);
        let apart = now.iter().zip(before).map(|(a, b)| (a - b).abs());
        Some(apart.fold(0f32, f32::max))
    };
    (0..length).map(change).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use unroll_protocol::study::birnn::{ModelRun, Readout};

    use super::*;

    fn array(rows: u32, values: &[f32]) -> Array {
        Array { shape: vec![rows, values.len() as u32 / rows.max(1)], values: values.to_vec() }
    }

    pub fn reading() -> Reading {
        let run = |first: f32| Run {
            ids: vec![0, 1, 1],
            targets: vec![Some(1), Some(0), None],
            models: vec![ModelRun {
                forward: array(3, &[first, 0.2, 0.3]),
                backward: array(3, &[first, 0.5, 0.6]),
                logits: array(2, &[0.0, first, 3.0, 1.0]),
            }],
        };
        Reading {
            symbols: vec!["a".into(), " ".into()],
            answers: vec!["a".into(), " ".into()],
            readouts: vec![Readout {
                reader: Reader::Both,
                parameters: 1,
                forward: Array::default(),
                backward: Array::default(),
                bias: vec![],
            }],
            run: run(1.0),
            edited: Some((0, run(0.25))),
            dropped: 0,
            chance: 0.5,
        }
    }

    #[test]
    fn changes_are_the_largest_difference_and_0_is_exact() {
        let columns = Columns::new(&reading(), Some(1), None);
        assert_eq!(columns.rows.len(), 3);
        let changes: Vec<_> = columns.rows.iter().map(|row| row.changes.clone()).collect();
        assert_eq!(changes[0], [Some(0.75), Some(0.0), Some(0.0)]);
        assert_eq!(changes[2], [Some(0.75), Some(0.0), None]);
        assert_eq!(Columns::score(&columns.rows[2]), Some((2, 2)));
        let mut plain = reading();
        plain.edited = None;
        assert!(Columns::new(&plain, Some(1), None).rows[0].changes.is_empty());
    }

    #[test]
    fn states_are_compared_and_answers_stay() {
        let columns = Columns::new(&reading(), Some(1), None);
        let states = columns.states();
        assert_eq!((states.len(), columns.part_of(1), columns.part_of(2)), (2, Some(1), None));
        assert_eq!(states[0].describe(1, 0), "both ways, forward state at ‘␣’ (2), unit 1: 0.2000");
        let moved = states.iter().map(|part| {
            let values = part.values.iter().map(|value| value - 0.2).collect();
            let map = ValueMap::Signed { limit: 0.5 };
            Arc::new(Matrix {
                values,
                map,
                value_name: "state, twin minus run".into(),
                ..Matrix::clone(part)
            })
        });
        let moved = columns.compared(&moved.collect::<Vec<_>>());
        assert_eq!(
            (moved.state_name(), moved.state_map()),
            ("state, twin minus run", ValueMap::Signed { limit: 0.5 })
        );
        let Content::States { values, .. } = &moved.rows[1].content else { panic!("no states") };
        assert_eq!(values.values, [0.25 - 0.2, 0.5 - 0.2, 0.6 - 0.2]);
        assert_eq!(moved.rows[2], columns.rows[2]);
    }

    #[test]
    fn reach_is_said_in_spans() {
        let columns = Columns::new(&reading(), None, Some(1));
        let said = |row: usize, t| columns.reach_in_words(&columns.rows[row], t);
        assert_eq!(said(0, 1), "1 to 2");
        assert_eq!(said(1, 1), "2 to 3");
        assert_eq!(said(2, 1), "1 and 3");
        assert_eq!(columns.place(1), "‘␣’ (2)");
    }

    #[test]
    fn probabilities_add_up() {
        let p = softmax(&[1e4, 0.0, -1e4]);
        assert_eq!(p, [1.0, 0.0, 0.0]);
        assert_eq!(likeliest(&[0.2, 0.5, 0.5]), Some(1));
        assert_eq!(likeliest(&[]), None);
    }
}
