//! What the unrolled diagram shows.

use unroll_protocol::study::rnn::{Run, Unrolled};

use crate::figures::{Matrix, ValueMap, four_decimals, token, view::largest};

/// Likeliest outputs shown in a column.
pub const BARS: usize = 4;

/// One pass over a sentence, laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// Every step of the sentence, unrolled or not.
    pub columns: Vec<Column>,
    /// How many of them are unrolled; the rest is in the loop.
    pub unrolled: usize,
    /// Units of the state.
    pub hidden: usize,
    /// The step whose character was replaced, from 0.
    pub edited: Option<usize>,
    /// Optimizer steps the model had taken.
    pub step: u32,
    /// Where the states are how far they have moved: what their numbers are, and their scale.
    pub moved: Option<(String, ValueMap)>,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    pub face: Face,
    /// s_t, one value for each unit.
    pub states: Vec<f32>,
    /// s_t of the sentence as it was before the edit.
    pub before: Option<Vec<f32>>,
}

/// What a column says in letters and bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Face {
    /// x_t.
    pub token: String,
    /// The character it was before the edit.
    pub replaced: Option<String>,
    /// `None` where this step is not read out.
    pub output: Option<Output>,
    /// How far the edit moved the state: the Euclidean norm of the difference.
    pub moved: Option<f32>,
}

/// What is read out of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The likeliest classes, likeliest first.
    pub bars: Vec<(String, f32)>,
    /// What should come out, and its probability.
    pub target: Option<(String, f32)>,
}

impl Output {
    /// Cross-entropy in nats.
    pub fn loss(&self) -> Option<f32> {
        self.target.as_ref().map(|(_, p)| -p.ln())
    }
}

impl Diagram {
    /// Lays out what was computed; `columns` of it unrolled. Nothing if the arrays do not fit.
    pub fn new(all: &Unrolled, columns: u32, step: u32) -> Self {
        let (run, edited) = match &all.edited {
            Some((position, run)) => (run, Some(*position as usize)),
            None => (&all.run, None),
        };
        let hidden = run.states.shape.get(1).map_or(0, |&hidden| hidden as usize);
        let column = |t: usize| {
            let states = run.states.block(&[t])?.to_vec();
            let name = |run: &Run| {
                let id = run.ids.get(t).copied().unwrap_or(0) as usize;
                all.tokens.get(id).cloned().unwrap_or_default()
            };
            let before = edited.and(all.run.states.block(&[t])).map(<[f32]>::to_vec);
            let moved = before.as_ref().map(|before| {
                let squares = states.iter().zip(before).map(|(a, b)| (a - b) * (a - b));
                squares.sum::<f32>().sqrt()
            });
            let replaced = (edited == Some(t)).then(|| name(&all.run));
            let output = output(all, run, t);
            let face = Face { token: name(run), replaced, output, moved };
            Some(Column { face, states, before })
        };
        let columns_of: Option<Vec<Column>> = (0..run.ids.len()).map(column).collect();
        let all_columns = columns_of.unwrap_or_default();
        Self {
            unrolled: (columns as usize).min(all_columns.len()),
            columns: all_columns,
            hidden,
            edited,
            step,
            moved: None,
        }
    }

    /// What the states' numbers are.
    pub fn state_name(&self) -> &str {
        self.moved.as_ref().map_or("state", |moved| &moved.0)
    }

    /// Their colors.
    pub fn state_map(&self) -> ValueMap {
        self.moved.as_ref().map_or(ValueMap::Signed { limit: 1.0 }, |moved| moved.1)
    }

    /// All states, as they are compared: steps down, units across.
    pub fn states(&self) -> Matrix {
        Matrix {
            row_axis: "State at".into(),
            rows: self.columns.iter().map(|column| column.face.token.clone()).collect(),
            columns: (1..=self.hidden).map(|unit| format!("unit {unit}")).collect(),
            values: self.columns.iter().flat_map(|column| column.states.clone()).collect(),
            map: self.state_map(),
            value_name: self.state_name().to_owned(),
            ..Matrix::default()
        }
    }

    /// With how far the states have moved in their place. What an edit did to them is another difference.
    pub fn compared(&self, moved: &Matrix) -> Self {
        let mut diagram = self.clone();
        let states = moved.values.chunks(self.hidden.max(1));
        for (column, states) in diagram.columns.iter_mut().zip(states) {
            column.states = states.to_vec();
            column.before = None;
        }
        diagram.moved = Some((moved.value_name.clone(), moved.map));
        diagram
    }

    /// Steps of the sentence.
    pub fn length(&self) -> usize {
        self.columns.len()
    }

    /// Whether part of the sentence is still in the loop.
    pub fn folded(&self) -> bool {
        self.unrolled < self.length()
    }

    /// The one step that the loop shows: that of the `lap`, or the first that is not unrolled.
    pub fn loop_step(&self, lap: Option<usize>) -> usize {
        lap.unwrap_or(self.unrolled)
    }

    /// What one column says, in a sentence; `unit` from 0.
    pub fn describe(&self, t: usize, unit: Option<usize>) -> String {
        let Some(column) = self.columns.get(t) else { return String::new() };
        let face = &column.face;
        let mut text = format!("t = {}, reads {}.", t + 1, quoted(&face.token));
        if let Some(output) = &face.output {
            let bars = output.bars.iter().map(|(name, p)| format!("{} {p:.2}", quoted(name)));
            let bars: Vec<String> = bars.collect();
            let all = match bars.split_last() {
                Some((last, others)) if !others.is_empty() => {
                    format!("{} or {last}", others.join(", "))
                }
                _ => bars.concat(),
            };
            text += &format!(" Guesses {all}.");
            if let (Some((name, p)), Some(loss)) = (&output.target, output.loss()) {
                text += &format!(" Next comes {}: p = {p:.3}, loss {loss:.2}.", quoted(name));
            }
        }
        if let Some(moved) = face.moved {
            text += &match moved {
                0.0 => " The edit comes later: this state moved by exactly 0.".to_owned(),
                _ => format!(" The edit moved this state by {moved:.3}."),
            };
        }
        if let Some(value) = unit.and_then(|unit| column.states.get(unit)) {
            text += &format!(" Unit {}: {}", unit.unwrap_or(0) + 1, four_decimals(*value));
            let before = column.before.as_ref().zip(unit).and_then(|(b, unit)| b.get(unit));
            if let Some(before) = before.filter(|before| *before != value) {
                text += &format!(", before the edit {}", four_decimals(*before));
            }
            text.push('.');
        }
        text
    }
}

/// Characters in quotes, words as they are.
fn quoted(name: &str) -> String {
    if name.chars().nth(1).is_some() {
        name.to_owned()
    } else {
        format!("‘{}’", token::mark(name))
    }
}

fn output(all: &Unrolled, run: &Run, t: usize) -> Option<Output> {
    let row = if all.end_only { (t + 1).checked_sub(run.ids.len())? } else { t };
    let probabilities = run.probabilities.block(&[row])?;
    let name = |id: usize| all.classes.get(id).cloned().unwrap_or_default();
    let bars = largest(probabilities, BARS).into_iter().map(|(id, p)| (name(id), p)).collect();
    let target = run
        .targets
        .get(row)
        .copied()
        .flatten()
        .and_then(|id| Some((name(id as usize), *probabilities.get(id as usize)?)));
    Some(Output { bars, target })
}

#[cfg(test)]
pub mod tests {
    use unroll_protocol::Array;

    use super::*;

    fn array(shape: [u32; 2], values: Vec<f32>) -> Array {
        Array { shape: shape.to_vec(), values }
    }

    /// Two units, three characters, the second one edited.
    pub fn unrolled() -> Unrolled {
        let run = |ids: [u32; 3], second: f32| Run {
            ids: ids.to_vec(),
            targets: vec![Some(ids[1]), Some(ids[2]), None],
            states: array([3, 2], vec![0.5, -0.5, second, 0.0, second / 2.0, 1.0]),
            probabilities: array([3, 3], [0.25, 0.5, 0.25].repeat(3)),
            ..Run::default()
        };
        Unrolled {
            tokens: ["\u{fffd}", "a", " "].map(String::from).to_vec(),
            classes: ["\u{fffd}", "a", " "].map(String::from).to_vec(),
            run: run([1, 2, 1], 0.0),
            edited: Some((1, run([1, 1, 1], 0.8))),
            ..Unrolled::default()
        }
    }

    #[test]
    fn an_edit_is_laid_beside_what_was() {
        let diagram = Diagram::new(&unrolled(), 2, 7);
        let faces: Vec<&Face> = diagram.columns.iter().map(|c| &c.face).collect();
        assert_eq!(faces[0].moved, Some(0.0));
        assert_eq!(faces[1].moved, Some(0.8));
        assert_eq!(faces[1].replaced.as_deref(), Some(" "));
        assert_eq!(faces[0].output.as_ref().unwrap().target, Some(("a".into(), 0.5)));
        assert_eq!(faces[2].output.as_ref().unwrap().target, None);
        assert!(diagram.describe(0, None).contains("exactly 0"));
        // All that are listed, also where a column has room for one alone.
        let said = diagram.describe(1, None);
        assert!(said.contains(" Guesses ‘a’ 0.50, ") && said.contains(" 0.25. Next"), "{said}");
        assert_eq!(said.matches(" or ").count(), 1, "{said}");
        let read = diagram.describe(1, Some(0));
        assert!(read.contains("Unit 1: 0.8000, before the edit 0.0000"), "{read}");
        assert_eq!(diagram.describe(9, None), "");
    }

    #[test]
    fn states_are_compared_alone() {
        let diagram = Diagram::new(&unrolled(), 2, 7);
        let states = diagram.states();
        assert_eq!(states.shape(), (3, 2));
        assert_eq!(states.describe(1, 0), "State at ‘a’ (2), unit 1: 0.8000");
        let value_name = "state, change since step 3".to_owned();
        let map = ValueMap::Signed { limit: 0.1 };
        let moved = diagram.compared(&Matrix { values: vec![0.05; 6], value_name, map, ..states });
        assert_eq!((moved.state_name(), moved.state_map()), ("state, change since step 3", map));
        assert!(moved.columns.iter().all(|c| c.states == [0.05; 2] && c.before.is_none()));
        assert_eq!(moved.columns[1].face, diagram.columns[1].face);
    }

    #[test]
    fn no_more_is_unrolled_than_there_is() {
        let two = Diagram::new(&unrolled(), 2, 0);
        assert_eq!((two.unrolled, two.folded()), (2, true));
        assert_eq!([two.loop_step(None), two.loop_step(Some(0))], [2, 0]);
        let whole = Diagram::new(&unrolled(), 64, 0);
        assert_eq!((whole.unrolled, whole.folded()), (3, false));
    }

    #[test]
    fn only_the_last_step_may_be_read_out() {
        let mut all = unrolled();
        all.end_only = true;
        for run in [&mut all.run, &mut all.edited.as_mut().unwrap().1] {
            run.probabilities = array([1, 3], vec![0.2, 0.3, 0.5]);
            run.targets = vec![Some(2)];
        }
        let diagram = Diagram::new(&all, 3, 0);
        let outputs: Vec<bool> = diagram.columns.iter().map(|c| c.face.output.is_some()).collect();
        assert_eq!(outputs, [false, false, true]);
        assert_eq!(Diagram::new(&Unrolled::default(), 3, 0).length(), 0);
    }
}
