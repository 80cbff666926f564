//! What the mask editor shows, as plain data.

use crate::figures::{Matrix, ValueMap, token};

/// Weights of one head with the mask they were computed under, and the mask that is wanted.
/// Without tokens there is nothing yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    pub tokens: Vec<String>,
    /// `T * T`, row by row.
    pub weights: Vec<f32>,
    pub allowed: Vec<bool>,
    /// Likewise; the same as `allowed` once the model has answered.
    pub wanted: Vec<bool>,
}

impl Sheet {
    /// Whether the learner wants the cell allowed; `None` outside.
    pub fn wanted(&self, (query, key): (usize, usize)) -> Option<bool> {
        let length = self.tokens.len();
        (query < length && key < length).then(|| self.wanted.get(query * length + key).copied())?
    }

    /// The weights; a blocked cell has none to color.
    pub fn matrix(&self) -> Matrix {
        let cells = self.weights.iter().zip(&self.allowed);
        Matrix {
            row_axis: "looks (query)".into(),
            column_axis: "at (key)".into(),
            rows: self.tokens.clone(),
            columns: self.tokens.clone(),
            values: cells.map(|(&w, &allowed)| if allowed { w } else { f32::NAN }).collect(),
            map: ValueMap::Probability,
            value_name: "weight".into(),
            absent: "blocked".into(),
        }
    }

    /// Cells of the mask on show that are not as wanted.
    pub fn pending(&self) -> Vec<(usize, usize)> {
        let cells = self.allowed.iter().zip(&self.wanted).enumerate();
        let length = self.tokens.len().max(1);
        cells.filter(|(_, (a, b))| a != b).map(|(i, _)| (i / length, i % length)).collect()
    }

    /// A cell in a sentence.
    pub fn describe(&self, (query, key): (usize, usize)) -> String {
        let length = self.tokens.len();
        let name = |at: usize| self.tokens.get(at).map_or(String::new(), |t| token::name_at(t, at));
        let (from, to) = (name(query), name(key));
        let cell = query * length + key;
        let (Some(&weight), Some(&allowed)) = (self.weights.get(cell), self.allowed.get(cell))
        else {
            return String::new();
        };
        let now = if allowed {
            format!("{from} looks at {to}: weight {weight:.4}")
        } else {
            format!("{from} may not look at {to}: exactly {weight}")
        };
        match self.wanted((query, key)) {
            Some(false) if allowed => format!("{now} under the previous mask; you blocked it."),
            Some(true) if !allowed => format!("{now} under the previous mask; you opened it."),
            _ => format!("{now}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_cell_is_said_to_be_0_and_a_wanted_change_is_outlined() {
        let sheet = Sheet {
            tokens: vec!["a".into(), " ".into()],
            weights: vec![1.0, 0.0, 0.25, 0.75],
            allowed: vec![true, false, true, true],
            wanted: vec![true, false, false, true],
        };
        assert_eq!(sheet.describe((0, 1)), "‘a’ (1) may not look at ‘␣’ (2): exactly 0.");
        assert!(
            sheet
                .describe((1, 0))
                .ends_with("weight 0.2500 under the previous mask; you blocked it.")
        );
        assert_eq!(sheet.pending(), [(1, 0)]);
        assert!(sheet.matrix().value(0, 1).is_nan());
        assert_eq!((sheet.wanted((1, 0)), sheet.wanted((0, 2))), (Some(false), None));
    }
}
