//! Files of figures that are laid out as text: their numbers as a sheet, line by line.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{
    download::{Choice, ExportMenu, File, LocalFile},
    export::{Provenance, csv_comment, field, head},
};

/// What a figure shows, as lines of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl Sheet {
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }
}

/// A number with the digits it has: through text, for widening it would add more.
pub fn exact(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, |value| json!(value))
}

/// The foot of such a figure: its export menu. `picture` makes an SVG where it is drawn, too.
#[component]
pub fn SheetExport(
    /// The figure's name in test ids and files.
    name: &'static str,
    title: &'static str,
    provenance: Signal<Provenance>,
    /// `None` while there is nothing to see.
    sheet: Callback<(), Option<Sheet>>,
    #[prop(optional)] picture: Option<Callback<(), Option<String>>>,
    /// The comparison with another moment.
    #[prop(optional)]
    since: Option<ViewFn>,
) -> impl IntoView {
    let file = move |make: fn(&Sheet, &str, &str, &Provenance) -> File| {
        Callback::new(move |_| {
            let sheet = untrack(|| sheet.run(()))?;
            let provenance = provenance.get_untracked();
            let file = make(&sheet, name, title, &provenance);
            Some((provenance.file_name(name), LocalFile::new(file)))
        })
    };
    let drawn = |make: fn(String) -> File| {
        picture.map(|picture| {
            Callback::new(move |_| {
                let svg = untrack(|| picture.run(()))?;
                let name = provenance.with_untracked(|provenance| provenance.file_name(name));
                Some((name, LocalFile::new(make(svg))))
            })
        })
    };
    let sheets = [
        Choice {
            id: "json",
            label: "JSON",
            make: file(|s, n, t, p| File::Json(sheet_json(s, n, t, p))),
        },
        Choice { id: "csv", label: "CSV", make: file(|s, _, t, p| File::Csv(sheet_csv(s, t, p))) },
    ];
    let pictures = [
        drawn(File::Svg).map(|make| Choice { id: "svg", label: "SVG", make }),
        drawn(File::Png).map(|make| Choice { id: "png", label: "PNG", make }),
    ];
    let choices = sheets.into_iter().chain(pictures.into_iter().flatten()).collect();
    view! { <div class="figure-foot">{since.map(|since| since.run())} <ExportMenu figure=name choices/></div> }
        .into_any()
}

/// The sheet as JSON.
pub fn sheet_json(sheet: &Sheet, name: &str, title: &str, provenance: &Provenance) -> String {
    let mut map = head(name, title, provenance);
    map.insert("columns".into(), json!(sheet.columns));
    map.insert("rows".into(), json!(sheet.rows));
    Value::Object(map).to_string()
}

/// The sheet as CSV.
pub fn sheet_csv(sheet: &Sheet, title: &str, provenance: &Provenance) -> String {
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => field(text),
        other => other.to_string(),
    };
    let mut text = csv_comment(title, provenance);
    let names: Vec<String> = sheet.columns.iter().map(|name| field(name)).collect();
    text.push_str(&names.join(","));
    for row in &sheet.rows {
        text.push('\n');
        text.push_str(&row.iter().map(cell).collect::<Vec<_>>().join(","));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_text_its_commas() {
        let mut sheet = Sheet::new(&["token", "p"]);
        sheet.rows = vec![vec![json!(", "), exact(0.1)], vec![json!("a"), Value::Null]];
        let text = sheet_csv(&sheet, "Title", &Provenance::default());
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["token,p", "\", \",0.1", "a,"]);
        let read: Value =
            serde_json::from_str(&sheet_json(&sheet, "x", "X", &Provenance::default())).unwrap();
        assert_eq!(read["rows"][0], json!([", ", 0.1]));
    }
}
