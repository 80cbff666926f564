//! A matrix of numbers with named rows and columns: the data of [`super::MatrixFigure`], as text.

use serde_json::json;

use super::{
    export::{Provenance, axis, csv_comment, field, head, open_object, rows_json},
    frame::Caption,
    motion::Between,
    numbers::short,
    scale::ValueMap,
    token,
};

/// What a [`super::MatrixFigure`] shows, `values` being `[rows, columns]`, row by row. A value that
/// is not finite is one that is not there: its cell is hatched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    pub row_axis: String,
    pub column_axis: String,
    /// Labels; tokens may stand here as they are.
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    pub values: Vec<f32>,
    pub map: ValueMap,
    /// What the numbers are, beside the scale: "attention weight".
    pub value_name: String,
    /// What a hatched cell is called: "masked".
    pub absent: String,
}

impl Matrix {
    /// Rows, columns; none of either unless there is a value for every cell.
    pub fn shape(&self) -> (usize, usize) {
        let shape = (self.rows.len(), self.columns.len());
        if self.values.len() == shape.0 * shape.1 && !self.values.is_empty() {
            shape
        } else {
            (0, 0)
        }
    }

    /// NaN outside.
    pub fn value(&self, row: usize, column: usize) -> f32 {
        if column >= self.columns.len() {
            return f32::NAN;
        }
        self.values.get(row * self.columns.len() + column).copied().unwrap_or(f32::NAN)
    }

    /// The colors of a row, which may have its own.
    pub fn map_of(&self, row: usize) -> ValueMap {
        if self.map != ValueMap::EachRow {
            return self.map;
        }
        let columns = self.columns.len();
        ValueMap::around(self.values.get(row * columns..(row + 1) * columns).unwrap_or_default())
    }

    pub fn row_name(&self, row: usize) -> String {
        self.rows.get(row).map_or(String::new(), |label| token::label_at(label, row))
    }

    pub fn column_name(&self, column: usize) -> String {
        self.columns.get(column).map_or(String::new(), |label| token::label_at(label, column))
    }

    /// The sentence that says what is in a cell, unless the figure is given a better one.
    pub fn describe(&self, row: usize, column: usize) -> String {
        let value = self.value(row, column);
        let value = if value.is_finite() {
            format!("{value:.4}")
        } else if self.absent.is_empty() {
            "nothing here".into()
        } else {
            self.absent.clone()
        };
        // "unit 12" says what it is by itself.
        let named = |axis: &str, name: String| {
            if axis.is_empty() || name.starts_with(axis) { name } else { format!("{axis} {name}") }
        };
        let row = named(&self.row_axis, self.row_name(row));
        format!("{row}, {}: {value}", named(&self.column_axis, self.column_name(column)))
    }

    /// How many values the scale does not hold, in words, or whose scale it is; empty if it holds all.
    pub fn beyond(&self) -> String {
        let count = self.values.iter().filter(|v| v.is_finite() && !self.map.holds(**v)).count();
        let (low, high) = (self.map.value(0.0), self.map.value(1.0));
        let (low, high) = (short(low.into()), short(high.into()));
        let values = if count == 1 { "value" } else { "values" };
        match self.map {
            ValueMap::EachRow => "Each row has its own scale.".to_owned(),
            _ if count == 0 => String::new(),
            ValueMap::Size { .. } | ValueMap::Factors { .. } => {
                format!("{count} {values} beyond {high}")
            }
            ValueMap::Probability | ValueMap::Signed { .. } => {
                format!("{count} {values} outside {low} to {high}")
            }
        }
    }

    /// Whether its cells have the same names as another's.
    pub fn has_cells_of(&self, other: &Self) -> bool {
        self.shape() == other.shape()
            && self.shape() != (0, 0)
            && self.rows == other.rows
            && self.columns == other.columns
    }

    pub fn has_absent(&self) -> bool {
        self.values.iter().any(|v| !v.is_finite())
    }
}

impl Between for Matrix {
    /// Where the scale becomes another one, each cell begins with the color it had.
    fn between(&self, to: &Self, share: f64) -> Option<Self> {
        let columns = to.columns.len().max(1);
        let moved = |(at, (before, after)): (usize, (&f32, &f32))| {
            if !before.is_finite() || !after.is_finite() {
                return *after;
            }
            let row = at / columns;
            let before = to.map_of(row).value(self.map_of(row).share(*before));
            before + (after - before) * share as f32
        };
        self.has_cells_of(to).then(|| Self {
            row_axis: to.row_axis.clone(),
            column_axis: to.column_axis.clone(),
            rows: to.rows.clone(),
            columns: to.columns.clone(),
            values: self.values.iter().zip(&to.values).enumerate().map(moved).collect(),
            map: to.map,
            value_name: to.value_name.clone(),
            absent: to.absent.clone(),
        })
    }
}

/// `values[row][column]`; a cell without a value is `null`.
pub fn matrix_json(matrix: &Matrix, caption: &Caption, provenance: &Provenance) -> String {
    let (rows, columns) = matrix.shape();
    let mut map = head(caption.name, &caption.title, provenance);
    map.insert("shape".into(), json!([rows, columns]));
    map.insert("value".into(), json!(matrix.value_name));
    let axes = [axis(&matrix.row_axis, &matrix.rows), axis(&matrix.column_axis, &matrix.columns)];
    map.insert("axes".into(), json!(axes));
    let limits = |map: ValueMap| [map.value(0.0), map.value(1.0)];
    let scale = match matrix.map {
        ValueMap::EachRow => {
            json!((0..rows).map(|row| limits(matrix.map_of(row))).collect::<Vec<_>>())
        }
        map => json!(limits(map)),
    };
    map.insert("scale".into(), scale);
    open_object(&map, "values") + &rows_json(&matrix.values, columns) + "}"
}

/// One line a cell, positions counted from 1; cells without a value are left out.
pub fn matrix_csv(matrix: &Matrix, caption: &Caption, provenance: &Provenance) -> String {
    let name = |text: &str, otherwise: &str| {
        if text.is_empty() { otherwise.to_string() } else { text.to_string() }
    };
    let (row, column) = (name(&matrix.row_axis, "row"), name(&matrix.column_axis, "column"));
    let mut text = csv_comment(&caption.title, provenance);
    let heads = [
        row.clone(),
        format!("{row} label"),
        column.clone(),
        format!("{column} label"),
        name(&matrix.value_name, "value"),
    ];
    text.push_str(&heads.map(|head| field(&head)).join(","));
    text.push('\n');
    let columns = matrix.shape().1.max(1);
    for (i, value) in matrix.values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
        let (row, column) = (i / columns, i % columns);
        let label = |labels: &[String], i: usize| field(labels.get(i).map_or("", String::as_str));
        text.push_str(&format!(
            "{},{},{},{},{value:?}\n",
            row + 1,
            label(&matrix.rows, row),
            column + 1,
            label(&matrix.columns, column)
        ));
    }
    text
}

#[cfg(test)]
pub mod tests {
    use serde_json::Value;

    use super::*;

    pub fn small() -> Matrix {
        Matrix {
            row_axis: "unit".into(),
            column_axis: "time".into(),
            rows: vec!["u1".into(), "u2".into()],
            columns: vec!["a".into(), " ".into(), "<".into()],
            values: vec![0.5, -1.5, 0.1, f32::NAN, 1.0, -0.25],
            map: ValueMap::Signed { limit: 1.0 },
            value_name: "h".into(),
            absent: "masked".into(),
        }
    }

    pub fn caption() -> Caption {
        Caption { name: "state", title: "State".into(), marker: None, source: "here".into() }
    }

    #[test]
    fn says_what_is_in_a_cell() {
        let m = small();
        assert_eq!(m.describe(0, 1), "unit ‘u1’ (1), time ‘␣’ (2): -1.5000");
        assert_eq!(m.describe(1, 0), "unit ‘u2’ (2), time ‘a’ (1): masked");
        assert_eq!(m.beyond(), "1 value outside −1 to 1");
        let sizes = Matrix { map: ValueMap::Size { limit: 0.2 }, values: vec![0.5; 6], ..small() };
        assert_eq!(sizes.beyond(), "6 values beyond 0.2");
        let own = Matrix { map: ValueMap::EachRow, ..small() };
        assert_eq!([0, 1].map(|row| own.map_of(row).value(1.0)), [1.5, 1.0]);
        assert_eq!((own.map_of(0).share(-1.5), own.value(0, 1)), (0.0, -1.5), "numbers stay");
        assert!(m.value(0, 3).is_nan() && m.value(2, 0).is_nan());
        assert_eq!(Matrix { values: vec![1.0], ..small() }.shape(), (0, 0));
        assert_eq!(Matrix::default().shape(), (0, 0));
    }

    #[test]
    fn files_read_back() {
        let read: Value =
            serde_json::from_str(&matrix_json(&small(), &caption(), &Provenance::default()))
                .unwrap();
        assert_eq!(read["shape"], json!([2, 3]));
        assert_eq!(read["values"][1], json!([null, 1.0, -0.25]));
        assert_eq!(read["values"][0][2].as_f64().unwrap() as f32, 0.1);
        assert_eq!(read["axes"][1]["labels"], json!(["a", " ", "<"]));
        let csv = matrix_csv(&small(), &caption(), &Provenance::default());
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[1], "unit,unit label,time,time label,h");
        assert_eq!(lines[3], "1,u1,2,\" \",-1.5");
        assert_eq!(lines.len(), 2 + 5);
    }

    #[test]
    fn cells_move_from_the_color_they_had() {
        let from = small();
        let to = Matrix { map: ValueMap::Signed { limit: 2.0 }, values: vec![1.0; 6], ..small() };
        let start = from.between(&to, 0.0).unwrap();
        assert_eq!(start.value(0, 0), 1.0, "0.5 of 1 is the color of 1 of 2");
        assert_eq!(start.value(1, 0), 1.0, "a cell without a value has none to begin with");
        assert_eq!(from.between(&to, 0.5).unwrap().value(0, 2), 0.6);
        assert_eq!(from.between(&to, 1.0).unwrap(), to);
        let fewer = Matrix { rows: vec!["u1".into()], values: vec![0.0; 3], ..small() };
        assert_eq!(from.between(&fewer, 0.5), None);
        let other = Matrix { rows: vec!["u1".into(), "u7".into()], ..small() };
        assert_eq!(from.between(&other, 0.5), None, "the values of something else");
    }
}
