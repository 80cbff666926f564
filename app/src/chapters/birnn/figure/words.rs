//! What a cell of the figure says, and which cells have to do with each other.

use super::{At, Columns, Content, Row, data::direction};
use crate::figures::{
    decimals,
    token::{mark, spoken},
};

/// What one cell shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellText {
    pub shown: String,
    pub label: String,
    pub right: Option<bool>,
    pub change: Option<f32>,
    /// The change as a share of the largest in its row.
    pub share: Option<f32>,
    /// Nothing is asked about the position.
    pub unasked: bool,
}

pub fn cell_text(columns: &Columns, row: usize, column: usize) -> CellText {
    let place = columns.place(column);
    let Some(index) = row.checked_sub(1) else {
        let hidden = columns.hidden == Some(column);
        let token = columns.tokens.get(column).map_or("", String::as_str);
        return CellText {
            shown: if hidden { "▢".into() } else { mark(token) },
            label: format!(
                "input {}: {}{}",
                column + 1,
                spoken(token),
                if hidden { ", hidden from the models" } else { "" }
            ),
            ..CellText::default()
        };
    };
    let Some(row) = columns.rows.get(index) else { return CellText::default() };
    let change = row.changes.get(column).copied().flatten();
    let most = row.changes.iter().flatten().copied().fold(0f32, f32::max);
    let share = change.filter(|_| most > 0.0).map(|change| change / most);
    let name = row.reader.name();
    match &row.content {
        Content::States { backward, .. } => CellText {
            shown: String::new(),
            label: format!("{name}: {} state at {place}", direction(*backward)),
            change,
            share,
            ..CellText::default()
        },
        Content::Answers(answers) => match answers.get(column).and_then(Option::as_ref) {
            Some(said) => CellText {
                shown: said.token.clone(),
                label: format!(
                    "{name} about {place}: {}{}",
                    said.token,
                    match said.right {
                        Some(true) => ", right",
                        Some(false) => ", wrong",
                        None => ", not asked",
                    }
                ),
                right: said.right,
                unasked: said.right.is_none(),
                change,
                share,
            },
            None => CellText {
                shown: "–".into(),
                label: format!("{name} about {place}: no answer, the sequence ends too early"),
                ..CellText::default()
            },
        },
    }
}

/// Whether the cell is connected with the one that is read: an input with what it reaches, all else
/// with the inputs that reach it. `None` where the two have nothing to do with each other.
pub fn connection(columns: &Columns, read: Option<At>, row: usize, column: usize) -> Option<bool> {
    let read = read?;
    match (read.row.checked_sub(1), row.checked_sub(1)) {
        (None, Some(index)) => {
            let reached = columns.rows.get(index)?;
            let hidden = columns.hidden == Some(read.column)
                && matches!(reached.content, Content::States { .. });
            Some(!hidden && columns.reaches(reached, column, read.column))
        }
        (Some(index), None) => Some(columns.reaches(columns.rows.get(index)?, read.column, column)),
        _ => (read.row == row && read.column == column).then_some(true),
    }
}

/// Whether the input at `column` is the right answer of the cell that is read.
pub fn is_target(columns: &Columns, read: At, column: usize) -> bool {
    let row = read.row.checked_sub(1).and_then(|index| columns.rows.get(index));
    let answers = row.is_some_and(|row| matches!(row.content, Content::Answers(_)));
    answers && columns.ahead.is_some_and(|ahead| read.column + ahead == column)
}

/// What each model guesses about the position.
fn guesses(columns: &Columns, column: usize) -> String {
    let guess = |row: &Row| {
        let Content::Answers(answers) = &row.content else { return None };
        let said = answers.get(column)?.as_ref()?;
        Some(format!("{} ‘{}’ ({:.2})", row.reader.name(), said.token, said.probability))
    };
    let each: Vec<String> = columns.rows.iter().filter_map(guess).collect();
    format!("The models’ guesses: {}.", each.join("; "))
}

/// What is read, in a sentence with its numbers.
pub fn sentence(columns: &Columns, read: Option<At>, editing: bool) -> String {
    let Some(At { row, column, unit }) = read else {
        return match (editing, columns.edit) {
            (true, None) => "Change mode: click an input and type another character.".to_owned(),
            (_, Some(edit)) => format!(
                "Input {} is changed. The taller a red bar, the larger the change. Faded cells stayed \
                 exactly the same.",
                edit + 1
            ),
            (false, None) => {
                "Point at a cell, and the inputs that can reach it light up. Click to pin a position."
                    .to_owned()
            }
        };
    };
    let place = columns.place(column);
    let Some(row) = row.checked_sub(1).and_then(|index| columns.rows.get(index)) else {
        let hidden = columns.hidden == Some(column);
        let what = if hidden { ", hidden from the models" } else { "" };
        let wanted = columns.wanted.get(column).and_then(Option::as_ref);
        let wanted = wanted.filter(|_| !columns.fill_in);
        let wanted =
            wanted.map_or(String::new(), |w| format!(" The right answer here is ‘{}’.", mark(w)));
        if hidden && columns.fill_in {
            return format!("Hidden: {place}. {}", guesses(columns, column));
        }
        return format!("Input {place}{what}.{wanted} What it can reach is lit.");
    };
    let change = match row.changes.get(column).copied().flatten() {
        None => String::new(),
        Some(0.0) => " Changed by exactly 0.".to_owned(),
        Some(change) => format!(" Changed by up to {change:.6}."),
    };
    let reach = columns.reach_in_words(row, column);
    match &row.content {
        Content::States { backward, values } => {
            let state = values.block(&[column]).unwrap_or(&[]);
            let unit = unit.unwrap_or(0).min(state.len().saturating_sub(1));
            let value = state.get(unit).copied().unwrap_or(f32::NAN);
            format!(
                "{}, {} state at {place}, unit {} of {}: {}. It has read positions {reach}.{change}",
                row.reader.name(),
                direction(*backward),
                unit + 1,
                state.len(),
                decimals(value, 3),
            )
        }
        Content::Answers(answers) => match answers.get(column).and_then(Option::as_ref) {
            None => format!(
                "{} has no answer about {place}: the sequence ends before it is due.",
                row.reader.name()
            ),
            Some(said) => {
                let right = columns.wanted.get(column).and_then(Option::as_ref);
                let right = right.map_or("nothing is asked here".to_owned(), |right| {
                    format!("the right answer is ‘{}’", mark(right))
                });
                format!(
                    "{} about {place}: ‘{}’ with probability {:.4}; {right}. It sees positions {reach}.{change}",
                    row.reader.name(),
                    said.token,
                    said.probability,
                )
            }
        },
    }
}
