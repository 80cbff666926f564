//! Figures as text: JSON and CSV with every value at full `f32` precision (the shortest digits that
//! read back as the same number), and with what made them. Pure functions, no browser.

use serde::Serialize;
use serde_json::{Map, Value, json};
use unroll_protocol::{ExperimentSpec, GptSpec, StudySpec};

use super::{curve::Curve, view::HeadView};

/// What made the numbers of a figure. On the same release, engine and text it makes them again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The chapter's experiment: model, optimizer, task, `seed`; `None` before one started.
    pub experiment: Option<Experiment>,
    /// Optimizer steps of the model on show, while that is settled: at rest, or in the past. What is
    /// exported in the middle of training may be a step older than the model is by then.
    pub step: Option<u32>,
    /// Trained parameters of the model as built.
    pub parameters: Option<u64>,
    /// What the training text is called, e.g. `tales` or a file's name.
    pub text: String,
    /// What computed, e.g. `CPU, 128-bit SIMD`.
    pub device: String,
    /// Workers among which each step was divided, where that is a choice.
    pub workers: Option<u32>,
    /// Heads of the GPT lab's model that are switched off, as a link names them.
    pub off: String,
}

/// What decides every number of a chapter's models. It becomes JSON when something is exported.
#[derive(Clone, Debug, PartialEq)]
pub enum Experiment {
    Gpt(ExperimentSpec),
    /// A model that others trained: only its shape is known here.
    Given(GptSpec),
    Study(StudySpec),
}

impl Experiment {
    fn json(&self) -> Option<Value> {
        match self {
            Self::Gpt(spec) => serde_json::to_value(spec).ok(),
            Self::Given(gpt) => Some(json!({ "opened": true, "gpt": gpt })),
            // The enum's one entry is the chapter's own spec.
            Self::Study(spec) => match serde_json::to_value(spec).ok()? {
                Value::Object(entry) => entry.into_iter().next().map(|(_, spec)| spec),
                _ => None,
            },
        }
    }
}

/// The release of the page, part of every export.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

impl Provenance {
    pub fn write_into(&self, map: &mut Map<String, Value>) {
        map.insert("experiment".into(), json!(self.experiment_json()));
        if let Some(step) = self.step {
            map.entry("step").or_insert(json!(step));
        }
        map.insert("parameters".into(), json!(self.parameters));
        map.insert("text".into(), json!(self.text));
        map.insert("device".into(), json!(self.device));
        if let Some(workers) = self.workers {
            map.insert("workers".into(), json!(workers));
        }
        if !self.off.is_empty() {
            map.insert("heads_off".into(), json!(self.off));
        }
        map.insert("release".into(), json!(RELEASE));
    }

    fn experiment_json(&self) -> Option<Value> {
        self.experiment.as_ref()?.json()
    }

    fn seed(&self) -> Option<Value> {
        self.experiment_json()?.get("seed").cloned()
    }

    /// What a figure's file is called, without its ending. Those of other moments and seeds have other names.
    pub fn file_name(&self, figure: &str) -> String {
        let step = self.step.map_or(String::new(), |step| format!("-step{step}"));
        let seed = self.seed().map_or(String::new(), |seed| format!("-seed{seed}"));
        format!("unroll-{figure}{step}{seed}")
    }

    /// One line for a caption.
    pub fn caption(&self) -> String {
        let seed = self.seed().map_or(String::new(), |seed| format!(", seed {seed}"));
        let step = self.step.map_or(String::new(), |step| format!(", step {step}"));
        let workers = match self.workers {
            Some(workers @ 2..) => format!(", {workers} workers"),
            Some(0 | 1) | None => String::new(),
        };
        let off = match self.off.as_str() {
            "" => String::new(),
            off => format!(", heads off: {off}"),
        };
        format!("Unroll {RELEASE}{seed}{step}, {}{workers}{off}", self.device)
    }
}

pub fn axis(name: &str, labels: impl Serialize) -> Value {
    json!({ "name": name, "labels": labels })
}

/// What every figure's JSON begins with: which figure it is, and the model that it shows.
pub fn head(name: &str, title: &str, provenance: &Provenance) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(name));
    map.insert("title".into(), json!(title));
    provenance.write_into(&mut map);
    map
}

/// An object's text with the last field left open, for `values` too large to go through `Value`.
pub fn open_object(map: &Map<String, Value>, field: &str) -> String {
    let mut text = Value::Object(map.clone()).to_string();
    text.pop();
    text.push_str(",\"");
    text.push_str(field);
    text.push_str("\":");
    text
}

/// The matrix as nested JSON arrays. A value that is not a number is `null`.
pub fn rows_json(matrix: &[f32], columns: usize) -> String {
    let mut text = String::with_capacity(matrix.len() * 8);
    text.push('[');
    for (i, row) in matrix.chunks(columns.max(1)).enumerate() {
        if i > 0 {
            text.push(',');
        }
        // Serializing plain numbers to a string cannot fail.
        text.push_str(&serde_json::to_string(row).unwrap_or_default());
    }
    text.push(']');
    text
}

fn attention_head(view: &HeadView, shape: Value, provenance: &Provenance) -> Map<String, Value> {
    let trace = view.trace();
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!("attention"));
    map.insert("step".into(), json!(trace.step));
    map.insert("shape".into(), shape);
    map.insert("value".into(), json!(view.value_name()));
    map.insert("dropped_tokens".into(), json!(trace.dropped));
    provenance.write_into(&mut map);
    map
}

/// The weights of one head, `values[query][key]`. Layer and head count from 1 in the file.
pub fn attention_json(view: &HeadView, provenance: &Provenance) -> String {
    let (t, tokens) = (view.size(), &view.trace().tokens);
    let mut map = attention_head(view, json!([t, t]), provenance);
    map.insert("layer".into(), json!(view.layer()));
    map.insert("head".into(), json!(view.head()));
    map.insert("axes".into(), json!([axis("query", tokens), axis("key", tokens)]));
    open_object(&map, "values") + &rows_json(view.matrix(), t) + "}"
}

/// The weights of all heads, `values[layer][head][query][key]`, in pieces: put together they are
/// one JSON document. Pieces, because all heads of a long sentence take longer to write than a
/// page may stand still.
pub fn attention_json_all(
    view: &HeadView,
    provenance: &Provenance,
) -> impl Iterator<Item = String> + use<> {
    let (layers, heads, t) = (view.layers(), view.heads(), view.size());
    let tokens = &view.trace().tokens;
    let mut map = attention_head(view, json!([layers, heads, t, t]), provenance);
    map.insert(
        "axes".into(),
        json!([
            axis("layer", (1..=layers).collect::<Vec<_>>()),
            axis("head", (1..=heads).collect::<Vec<_>>()),
            axis("query", tokens),
            axis("key", tokens)
        ]),
    );
    let opening = open_object(&map, "values");
    let view = view.clone();
    let matrices = (1..=layers).flat_map(move |l| (1..=heads).map(move |h| (l, h)));
    let bodies = matrices.map(move |(layer, head)| {
        let open = if head > 1 {
            ","
        } else if layer > 1 {
            ",["
        } else {
            "[["
        };
        let close = if head < heads {
            ""
        } else if layer < layers {
            "]"
        } else {
            "]]}"
        };
        format!("{open}{}{close}", rows_json(view.of(layer, head).matrix(), t))
    });
    core::iter::once(opening).chain(bodies)
}

/// A CSV field, quoted where it must be (RFC 4180).
pub fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// A comment line that says what made the numbers.
pub fn csv_comment(figure: &str, provenance: &Provenance) -> String {
    let experiment = serde_json::to_string(&provenance.experiment_json()).unwrap_or_default();
    format!("# {figure}; {}; experiment {experiment}\n", provenance.caption())
}

/// The weights of one head: one line a cell, `query,query_token,key,key_token,weight`, positions
/// counted from 1 and blocked cells left out.
pub fn attention_csv(view: &HeadView, provenance: &Provenance) -> String {
    let mut text = csv_comment(&view.title(), provenance);
    let value = field(view.value_name().trim_start_matches("attention "));
    text.push_str(&format!("query,query_token,key,key_token,{value}\n"));
    let labels: Vec<String> = view.trace().tokens.iter().map(|t| field(t)).collect();
    for (q, query) in labels.iter().enumerate() {
        for (k, (key, weight)) in labels.iter().zip(view.row(q)).enumerate() {
            if view.is_blocked(q, k) {
                continue;
            }
            text.push_str(&format!("{},{query},{},{key},{weight:?}\n", q + 1, k + 1));
        }
    }
    text
}

const LOSS_COLUMNS: [&str; 5] = ["step", "train", "held_out", "gradient_norm", "learning_rate"];

/// The whole curve, `values[i]` holding the columns named by the second axis; a held-out loss that
/// was not measured is `null`. Losses in nats per token.
pub fn loss_json(curve: &Curve, vocabulary: usize, provenance: &Provenance) -> String {
    let steps: Vec<u32> = curve.points().iter().map(|p| p.step).collect();
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!("loss"));
    map.insert("step".into(), json!(curve.last_step()));
    map.insert("shape".into(), json!([steps.len(), LOSS_COLUMNS.len()]));
    map.insert("axes".into(), json!([axis("step", steps), axis("column", LOSS_COLUMNS)]));
    map.insert("unit".into(), json!("nats per token"));
    map.insert("knows_nothing".into(), json!((vocabulary > 0).then(|| (vocabulary as f64).ln())));
    provenance.write_into(&mut map);
    let rows: Vec<_> = curve
        .points()
        .iter()
        .map(|p| (p.step, p.loss, p.held_out, p.gradient_norm, p.learning_rate))
        .collect();
    open_object(&map, "values") + &serde_json::to_string(&rows).unwrap_or_default() + "}"
}

/// The whole curve, one line a step; a held-out loss that was not measured is left empty.
pub fn loss_csv(curve: &Curve, provenance: &Provenance) -> String {
    let mut text = csv_comment("loss in nats per token", provenance);
    text.push_str(&LOSS_COLUMNS.join(","));
    text.push('\n');
    for p in curve.points() {
        let held_out = p.held_out.map_or(String::new(), |h| format!("{h:?}"));
        text.push_str(&format!(
            "{},{:?},{held_out},{:?},{:?}\n",
            p.step, p.loss, p.gradient_norm, p.learning_rate
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::figures::{curve, view};

    fn provenance() -> Provenance {
        Provenance {
            experiment: Some(Experiment::Gpt(unroll_protocol::Link::default().experiment())),
            step: Some(7),
            parameters: Some(1234),
            text: "tales".into(),
            device: "CPU".into(),
            workers: Some(2),
            off: String::new(),
        }
    }

    #[test]
    fn files_of_other_moments_and_seeds_have_other_names() {
        let seed = unroll_protocol::Link::default().seed;
        assert_eq!(provenance().file_name("states"), format!("unroll-states-step7-seed{seed}"));
        assert_eq!(Provenance::default().file_name("states"), "unroll-states");
    }

    #[test]
    fn one_head_reads_back_exactly() {
        let view = HeadView::new(Arc::new(view::tests::trace()), 2, 1).unwrap();
        let text = attention_json(&view, &provenance());
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["shape"], json!([3, 3]));
        assert_eq!(
            (&read["layer"], &read["head"], &read["step"]),
            (&json!(2), &json!(1), &json!(7))
        );
        assert_eq!(read["axes"][1]["labels"], json!(["a", " ", "\u{fffd}"]));
        assert_eq!(read["experiment"]["seed"], json!(unroll_protocol::Link::default().seed));
        for q in 0..3 {
            for k in 0..3 {
                let value = read["values"][q][k].as_f64().unwrap() as f32;
                assert_eq!(value.to_bits(), view.weight(q, k).to_bits());
            }
        }
    }

    #[test]
    fn all_heads_are_one_document() {
        let view = HeadView::new(Arc::new(view::tests::trace()), 2, 1).unwrap();
        let text: String = attention_json_all(&view, &provenance()).collect();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["shape"], json!([2, 2, 3, 3]));
        let value = read["values"][1][0][2][1].as_f64().unwrap() as f32;
        assert_eq!(value, view.weight(2, 1));
    }

    #[test]
    fn csv_leaves_out_the_future_and_quotes() {
        let view = HeadView::new(Arc::new(view::tests::trace()), 1, 1).unwrap();
        let text = attention_csv(&view, &provenance());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + 6);
        assert_eq!(lines[2], "1,a,1,a,1.0");
        assert_eq!(lines[4], "2,\" \",2,\" \",0.9");
        assert_eq!(field("\""), "\"\"\"\"");
    }

    #[test]
    fn the_curve_reads_back() {
        let curve = curve::tests::falling(20);
        let read: Value = serde_json::from_str(&loss_json(&curve, 64, &provenance())).unwrap();
        assert_eq!(read["shape"], json!([20, 5]));
        assert_eq!(read["values"][8][2], Value::Null);
        let held_out = read["values"][9][2].as_f64().unwrap() as f32;
        assert_eq!(Some(held_out), curve.points()[9].held_out);
        assert_eq!(read["knows_nothing"], json!(64f64.ln()));
        assert_eq!(loss_csv(&curve, &provenance()).lines().count(), 22);
        let empty: Value =
            serde_json::from_str(&loss_json(&Curve::default(), 0, &provenance())).unwrap();
        assert_eq!(empty["values"], json!([]));
    }
}
