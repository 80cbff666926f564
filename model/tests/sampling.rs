//! The shares that a token is drawn with, after temperature, top k, top p and min p: agreement with
//! the library `transformers` (`tests/golden/make_sampling.py` made the values).

use serde::Deserialize;
use unroll_protocol::gpt::{Sampling, shares};

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    temperature: f32,
    top_k: u32,
    top_p: f32,
    min_p: f32,
    logits: Vec<f32>,
    shares: Vec<f32>,
}

#[test]
fn shares_are_those_of_transformers() {
    let golden: Golden =
        serde_json::from_str(include_str!("../../tests/golden/sampling.json")).unwrap();
    assert_eq!(golden.cases.len(), 22);
    for Case { temperature, top_k, top_p, min_p, logits, shares: expected } in golden.cases {
        let sampling = Sampling { temperature, top_k, top_p, min_p };
        let found = shares(&logits, &sampling).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{sampling:?}: {found} for {expected}");
            assert_eq!(*found == 0.0, *expected == 0.0, "{sampling:?}: {found} for {expected}");
        }
    }
}
