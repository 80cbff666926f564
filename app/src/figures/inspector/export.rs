//! A worked cell as JSON and CSV.

use serde_json::{Map, Value, json};
use unroll_protocol::attention::Scoring;

use super::{Shown, fixed};
use crate::figures::export::{Provenance, axis, csv_comment, field, open_object, rows_json};

/// The model's own numbers at full precision, and the arithmetic as it is shown under `worked`.
/// Query and key count from 0.
pub fn json(shown: &Shown, provenance: &Provenance) -> String {
    let (row, paper) = (&shown.row, &shown.paper);
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!("inspector"));
    map.insert("layer".into(), json!(row.layer + 1));
    map.insert("head".into(), json!(row.head + 1));
    map.insert("query".into(), json!(row.query));
    map.insert("query_token".into(), json!(row.query_token));
    map.insert("key".into(), json!(shown.key));
    map.insert("axes".into(), json!([axis("key", &row.tokens)]));
    map.insert("allowed".into(), json!(row.allowed));
    provenance.write_into(&mut map);
    let terms: Vec<Value> = shown.terms().iter().map(|term| match term.tanh {
        None => json!({ "query": term.query, "key": term.key, "product": term.product }),
        Some((tanh, by)) => json!({ "query": term.query, "key": term.key, "tanh": tanh, "by": by, "product": term.product }),
    }).collect();
    let list = |of: fn(&unroll_protocol::attention::WorkedKey) -> f64| -> Vec<f64> {
        paper.keys.iter().map(of).collect()
    };
    map.insert(
        "worked".into(),
        json!({
            "terms": terms,
            "divisor": paper.divisor,
            "sums": list(|key| key.sum),
            "bias": list(|key| key.bias),
            // JSON has no infinities: a blocked key's score is null.
            "scores": list(|key| key.score),
            "exponents": list(|key| key.exponent),
            "sum": paper.sum,
            "weights": list(|key| key.weight),
            "output": paper.output,
        }),
    );
    // Through text: `json!` would widen each f32 and write digits it does not have.
    let numbers = |values: &[f32]| serde_json::to_string(values).unwrap_or_default();
    let matrix = |array: &unroll_protocol::Array| {
        rows_json(&array.values, array.shape.last().map_or(1, |width| *width as usize))
    };
    let scoring = match &row.scoring {
        Scoring::Product { query, keys, divisor } => format!(
            "{{\"kind\":\"product\",\"query\":{},\"keys\":{},\"divisor\":{divisor:?}}}",
            numbers(query),
            matrix(keys)
        ),
        Scoring::Additive { from_query, from_keys, vector } => format!(
            "{{\"kind\":\"additive\",\"from_query\":{},\"from_keys\":{},\"vector\":{}}}",
            numbers(from_query),
            matrix(from_keys),
            numbers(vector)
        ),
    };
    format!(
        "{}{scoring},\"scores\":{},\"weights\":{},\"v\":{},\"output\":{}}}",
        open_object(&map, "scoring"),
        numbers(&row.scores),
        numbers(&row.weights),
        matrix(&row.values),
        numbers(&row.mixed)
    )
}

/// Every line of the arithmetic as it is shown: `step,name,value`.
pub fn csv(shown: &Shown, provenance: &Provenance) -> String {
    let (row, paper, worked) = (&shown.row, &shown.paper, shown.worked());
    let what = format!(
        "attention cell, layer {}, head {}, query {} {}, key {} {}",
        row.layer + 1,
        row.head + 1,
        row.query + 1,
        field(&row.query_token),
        shown.key + 1,
        field(row.tokens.get(shown.key).map_or("", String::as_str))
    );
    let mut text = csv_comment(&what, provenance);
    text.push_str("step,name,value\n");
    let mut line = |step: &str, name: String, value: f64| {
        text.push_str(&format!("{step},{},{}\n", field(&name), fixed(value).replace('−', "-")));
    };
    for (i, term) in shown.terms().iter().enumerate() {
        line("query", (i + 1).to_string(), term.query);
        line("key", (i + 1).to_string(), term.key);
        if let Some((tanh, by)) = term.tanh {
            line("tanh", (i + 1).to_string(), tanh);
            line("by", (i + 1).to_string(), by);
        }
        line("product", (i + 1).to_string(), term.product);
    }
    line("sum of products", String::new(), worked.sum);
    line("divisor", String::new(), paper.divisor);
    line("scaled", String::new(), worked.scaled);
    line("bias", String::new(), worked.bias);
    for (at, key) in paper.keys.iter().enumerate() {
        line("score", shown.key_name(at), key.score);
        line("exponent", shown.key_name(at), key.exponent);
        line("weight", shown.key_name(at), key.weight);
    }
    line("sum of exponentials", String::new(), paper.sum);
    for dimension in 0..paper.output.len() {
        let (value, share) = shown.share(dimension);
        line("value", (dimension + 1).to_string(), value);
        line("weight x value", (dimension + 1).to_string(), share);
        line("output", (dimension + 1).to_string(), paper.output[dimension]);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use unroll_protocol::{Array, AttentionRow};

    use super::{super::Naming, *};

    #[test]
    fn files_read_back() {
        let row = AttentionRow {
            query: 1,
            query_token: ",".into(),
            tokens: vec!["a".into(), ",".into()],
            scoring: Scoring::Product {
                query: vec![0.1],
                keys: Array { shape: vec![2, 1], values: vec![-2.0, 3.0] },
                divisor: 1.0,
            },
            bias: vec![0.0; 2],
            allowed: vec![true, false],
            scores: vec![-0.2, f32::NEG_INFINITY],
            weights: vec![1.0, 0.0],
            values: Array { shape: vec![2, 1], values: vec![0.7, 5.0] },
            mixed: vec![0.7],
            ..AttentionRow::default()
        };
        let shown = Shown::new(Arc::new(row), 0, Naming::Heads).unwrap();
        let read: Value = serde_json::from_str(&json(&shown, &Provenance::default())).unwrap();
        assert_eq!(read["scoring"]["query"][0].as_f64().unwrap() as f32, 0.1);
        assert_eq!(read["scores"][1], Value::Null);
        assert_eq!(read["worked"]["scores"], json!([-0.2, null]));
        assert_eq!(read["worked"]["output"], json!([0.7]));
        let csv = csv(&shown, &Provenance::default());
        assert!(csv.contains("sum of products,,-0.2000\n"), "{csv}");
        assert!(csv.contains("score,\"‘,’ (2)\",-∞\n"), "{csv}");
        assert_eq!(shown.apart().0, 0.0);
        assert!(shown.apart().1 < 1e-7);
    }
}
