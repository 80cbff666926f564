//! Encoder-decoders agree with PyTorch: states, alignments, logits and all gradients.

mod support;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};
use serde::Deserialize;
use support::{device, ready, relative_difference, values};
use unroll_model::{
    END, GradientSum, PairTensors, Seq2seq, Seq2seqConfig, Seq2seqTrace, Source,
    masked_cross_entropy, named_parameters, token_tensor,
};
use unroll_protocol::{AttentionKind, attention::Scoring};

#[derive(Deserialize)]
struct Golden {
    kind: String,
    both: bool,
    hidden: usize,
    alignment: usize,
    sources: usize,
    targets: usize,
    pairs: Vec<GoldenPair>,
    loss: f32,
    parameters: Vec<GoldenParameter>,
}

/// Each sequence run by itself, without padding.
#[derive(Deserialize)]
struct GoldenPair {
    source: Vec<u32>,
    target: Vec<u32>,
    states: Vec<f32>,
    summary: Vec<f32>,
    decoder: Vec<f32>,
    contexts: Vec<f32>,
    scores: Vec<f32>,
    weights: Vec<f32>,
    logits: Vec<f32>,
}

#[derive(Deserialize)]
struct GoldenParameter {
    name: String,
    value: Vec<f32>,
    gradient: Vec<f32>,
}

impl Golden {
    fn parameter(&self, name: &str) -> &GoldenParameter {
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("PyTorch's model has no parameter {name}"))
    }

    fn model(&self) -> Seq2seq {
        struct Load<'a> {
            golden: &'a Golden,
            names: std::vec::IntoIter<String>,
        }

        impl ModuleMapper for Load<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let value = &self.golden.parameter(&self.names.next().unwrap()).value;
                param.map(|old| {
                    let data = TensorData::new(value.clone(), old.shape());
                    Tensor::from_data(data, &old.device())
                })
            }
        }

        let config = Seq2seqConfig {
            sources: self.sources,
            targets: self.targets,
            hidden: self.hidden,
            bidirectional: self.both,
            attention: AttentionKind::from_id(&self.kind).unwrap(),
            alignment: self.alignment,
            seed: 0,
        };
        let model = config.init(&device());
        let names: Vec<String> = named_parameters(&model).into_iter().map(|p| p.0).collect();
        assert_eq!(names.len(), self.parameters.len(), "{}", self.kind);
        model.map(&mut Load { golden: self, names: names.into_iter() })
    }

    fn source(&self) -> Source {
        let rows: Vec<_> = self.pairs.iter().map(|pair| pair.source.clone()).collect();
        Source::new(&rows, &device())
    }

    /// Padded with the end token, like a batch of a task.
    fn tensors(&self) -> PairTensors {
        let rows = self.pairs.len();
        let length = self.pairs.iter().map(|pair| pair.target.len()).max().unwrap();
        let (mut previous, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for pair in &self.pairs {
            for at in 0..length {
                let before = at.checked_sub(1).and_then(|at| pair.target.get(at));
                previous.push(before.copied().unwrap_or(END));
                targets.push(pair.target.get(at).copied().unwrap_or(END));
                weights.push(if at < pair.target.len() { 1.0 } else { 0.0 });
            }
        }
        PairTensors {
            source: self.source(),
            previous: token_tensor(&previous, rows, &device()),
            targets: token_tensor(&targets, rows, &device()),
            weights: Tensor::from_data(TensorData::new(weights, [rows, length]), &device()),
        }
    }
}

fn cases() -> Vec<Golden> {
    let cases: Vec<Golden> =
        serde_json::from_str(include_str!("../../tests/golden/seq2seq.json")).unwrap();
    assert_eq!(cases.len(), 11);
    cases
}

fn close(what: &str, expected: &[f32], found: &[f32]) {
    let difference = relative_difference(expected, found);
    assert!(difference <= 1e-5, "{what} is off by {difference:e}");
}

/// The first `count` rows of one sequence, and of each the first `width` numbers.
fn part(all: &Tensor<3>, row: usize, count: usize, width: Option<usize>) -> Vec<f32> {
    let [_, _, whole] = all.dims();
    let width = width.unwrap_or(whole);
    values(all.clone().slice([row..row + 1, 0..count, 0..width]))
}

#[test]
fn padded_batches_are_what_pytorch_computes_one_by_one() {
    for golden in cases() {
        let (model, batch) = (golden.model(), golden.tensors());
        let what = format!("{}, both ways: {}", golden.kind, golden.both);
        let trace: Seq2seqTrace = model.forward_traced(&batch.source, batch.previous.clone());
        for (row, pair) in golden.pairs.iter().enumerate() {
            let (length, steps) = (pair.source.len(), pair.target.len());
            close(
                &format!("states of {what}"),
                &pair.states,
                &part(&trace.states, row, length, None),
            );
            let summary = values(trace.summary.clone().narrow(0, row, 1));
            close(&format!("summary of {what}"), &pair.summary, &summary);
            let of_steps = |all: &Tensor<3>| part(all, row, steps, None);
            close(&format!("decoder of {what}"), &pair.decoder, &of_steps(&trace.decoder));
            close(&format!("contexts of {what}"), &pair.contexts, &of_steps(&trace.contexts));
            close(&format!("logits of {what}"), &pair.logits, &of_steps(&trace.logits));
            let Some(attention) = &trace.attention else {
                assert_eq!(golden.kind, "none");
                continue;
            };
            let seen = |all: &Tensor<3>| part(all, row, steps, Some(length));
            close(&format!("scores of {what}"), &pair.scores, &seen(&attention.scores));
            close(&format!("weights of {what}"), &pair.weights, &seen(&attention.weights));
            let all = part(&attention.weights, row, steps, None);
            for weights in all.chunks(batch.source.length()) {
                assert!(weights[length..].iter().all(|&weight| weight == 0.0), "{what}");
            }
        }
    }
}

#[test]
fn gradients_are_pytorchs() {
    for golden in cases() {
        let (model, batch) = (golden.model().train(), golden.tensors());
        let logits = model.forward(&batch.source, batch.previous.clone());
        let loss = masked_cross_entropy(logits, batch.targets.clone(), batch.weights.clone());
        close("the loss", &[golden.loss], &values(loss.clone().inner()));
        close("its short form", &[golden.loss], &values(model.loss(&batch).inner()));
        let mut sum = GradientSum::default();
        sum.add(&model, &mut loss.backward());
        for ((name, ..), found) in named_parameters(&model).iter().zip(sum.finish()) {
            let what = format!("the gradient of {name} ({}, both: {})", golden.kind, golden.both);
            close(&what, &golden.parameter(name).gradient, &values(found));
        }
    }
}

#[test]
fn single_steps_are_the_steps_of_a_whole_run() {
    for golden in cases() {
        let model = golden.model();
        for (pair, row) in golden.pairs.iter().zip(0..) {
            let encoded = model.encode(&golden.source());
            let mut state = model.start(&encoded);
            let rows = golden.pairs.len();
            for (step, logits) in pair.logits.chunks(golden.targets).enumerate() {
                let before = step.checked_sub(1).map_or(END, |at| pair.target[at]);
                let previous = token_tensor(&vec![before; rows], rows, &device()).reshape([rows]);
                let (found, next) = model.step(&encoded, state, previous);
                close("a step's logits", logits, &values(found.narrow(0, row, 1)));
                state = next;
            }
        }
    }
}

#[test]
fn a_row_of_attention_multiplies_out() {
    for golden in cases() {
        let (model, batch) = (golden.model(), golden.tensors());
        let trace = model.forward_traced(&batch.source, batch.previous.clone());
        for (index, pair) in golden.pairs.iter().enumerate() {
            let length = pair.source.len();
            let tokens: Vec<String> = pair.source.iter().map(u32::to_string).collect();
            let row = ready(model.attention_row(&trace, 1, index, "b", &tokens)).unwrap();
            let Some(row) = row else {
                assert_eq!(golden.kind, "none");
                continue;
            };
            let scores: Vec<f32> = match &row.scoring {
                Scoring::Product { query, keys, divisor } => keys
                    .values
                    .chunks(query.len())
                    .map(|key| key.iter().zip(query).map(|(k, q)| k * q).sum::<f32>() / divisor)
                    .collect(),
                Scoring::Additive { from_query, from_keys, vector } => from_keys
                    .values
                    .chunks(vector.len())
                    .map(|key| {
                        let sums = key.iter().zip(from_query).zip(vector);
                        sums.map(|((k, q), v)| v * (k + q).tanh()).sum()
                    })
                    .collect(),
            };
            close("scores", &row.scores, &scores);
            close("PyTorch's scores", &pair.scores[length..2 * length], &row.scores);
            assert!((row.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            let width = row.mixed.len();
            let mixed: Vec<f32> = (0..width)
                .map(|at| {
                    let values = row.values.values.iter().skip(at).step_by(width);
                    values.zip(&row.weights).map(|(value, weight)| value * weight).sum()
                })
                .collect();
            close("the context", &row.mixed, &mixed);
        }
        assert!(ready(model.attention_row(&trace, 99, 0, "", &[])).unwrap().is_none());
    }
}

#[test]
fn searches_find_what_enumeration_finds() {
    for golden in cases().into_iter().take(10) {
        let model = golden.model();
        let source = Source::new(
            &golden.pairs[0].source.iter().map(|&t| vec![t]).collect::<Vec<_>>()[..1],
            &device(),
        );
        let most = 3;
        // All sequences of at most three tokens, each with its probability.
        let mut all = Vec::new();
        let mut open = vec![Vec::<u32>::new()];
        while let Some(tokens) = open.pop() {
            let previous: Vec<u32> = std::iter::once(END).chain(tokens.iter().copied()).collect();
            let logits = values(model.forward(&source, token_tensor(&previous, 1, &device())));
            let steps: Vec<&[f32]> = logits.chunks(golden.targets).collect();
            let log_probability = |step: usize, token: u32| {
                let total: f32 = steps[step].iter().map(|x| x.exp()).sum();
                steps[step][token as usize] - total.ln()
            };
            let so_far: f32 =
                tokens.iter().enumerate().map(|(step, &token)| log_probability(step, token)).sum();
            if tokens.len() == most {
                all.push((tokens, so_far, false));
                continue;
            }
            all.push((tokens.clone(), so_far + log_probability(tokens.len(), END), true));
            open.extend(
                (1..golden.targets as u32)
                    .map(|next| tokens.iter().copied().chain([next]).collect::<Vec<_>>()),
            );
        }
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let beam = ready(model.decode_beam(&source, 200, most)).unwrap();
        for (found, expected) in beam.iter().zip(&all) {
            assert!((found.log_probability - expected.1).abs() < 1e-4);
            assert_eq!(found.ended, expected.2);
        }
        assert_eq!(beam[0].tokens, all[0].0);
        // A narrow one may miss the best. What it keeps has the probability that its steps multiply to.
        for width in 1..5 {
            let kept = ready(model.decode_beam(&source, width, most)).unwrap();
            assert!((1..=width).contains(&kept.len()));
            assert!(kept.is_sorted_by(|a, b| a.log_probability >= b.log_probability));
            for found in &kept {
                let of = |other: &&(Vec<u32>, f32, bool)| {
                    (&other.0, other.2) == (&found.tokens, found.ended)
                };
                let (_, expected, _) = all.iter().find(of).expect("a sequence that there is");
                assert!((found.log_probability - expected).abs() < 1e-4, "{found:?} {expected}");
                assert_eq!(kept.iter().filter(|other| other.tokens == found.tokens).count(), 1);
            }
        }
        let greedy = ready(model.decode_greedy(&source, most)).unwrap();
        let narrow = ready(model.decode_beam(&source, 1, most)).unwrap();
        assert_eq!(narrow.len(), 1);
        assert_eq!(narrow[0].tokens, greedy[0]);
    }
}
