//! What PyTorch gets from the page and gives back, for the scripts in `tests/golden` that compare the two.

use std::{env, fs, path::PathBuf};

use burn::tensor::Device;
use serde_json::{Value, json};
use unroll_model::{Evaluation, EvaluationSlice, Slice, Trainer, token_tensor};
use unroll_model_file::vocabulary_size;
use unroll_protocol::{
    Checkpoint, CurvePoint, Link, TokenKind,
    architecture::{Activation, NormKind},
};

use super::samples::{TEXT, file, logits, opened, settings, small, trained};
use crate::{
    kept::{archive, losses, run},
    store::Source,
};

/// With UNROLL_MODEL_FILES, writes files there and what the model says about them, for
/// tests/golden/check_model_file.py.
#[test]
fn model_files_for_pytorch() {
    let mut tied = small();
    tied.gpt.tied = true;
    let mut tanh = small();
    tanh.gpt.architecture.feed_forward = Some(Activation::GeluTanh);
    let (mut bytes, mut pairs) = (small(), small());
    bytes.gpt.tokens = TokenKind::Bytes;
    (pairs.gpt.tokens, pairs.gpt.merges) = (TokenKind::Pairs, 40);
    let forms = [("untied", small()), ("tied", tied), ("tanh", tanh)];
    for (name, link) in forms.into_iter().chain([("bytes", bytes), ("pairs", pairs)]) {
        let checkpoint = trained(&link, 30);
        let bytes = file(&checkpoint, &link, name == "tied");
        if link.gpt.tokens != TokenKind::Characters {
            tokens_for_pytorch(name, &checkpoint, &bytes);
            continue;
        }
        let text = "the cat sat";
        let last = logits(&checkpoint, text).pop().unwrap();
        assert_eq!(last.len(), vocabulary_size(&checkpoint));
        let Some(folder) = env::var_os("UNROLL_MODEL_FILES").map(PathBuf::from) else {
            continue;
        };
        fs::write(folder.join(format!("{name}.safetensors")), bytes).unwrap();
        let expected = json!({"text": text, "logits": last}).to_string();
        fs::write(folder.join(format!("{name}.json")), expected).unwrap();
    }
}

/// The same for a model whose tokens have no names of their own.
fn tokens_for_pytorch(name: &str, checkpoint: &Checkpoint, file: &[u8]) {
    let trainer = Trainer::from_checkpoint(checkpoint, &TEXT.repeat(8), &Device::flex()).unwrap();
    let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
    let long = "a".repeat(70);
    let odd = ["  two", "\u{85}x\u{a0}y", "Ⅷ½", "12abc", "…", "世界", "👩‍👩", &long, "\t\r\n"];
    let mixed = format!("the cat sat on. {} the", odd.join(" "));
    let all = tokenizer.encode(&mixed);
    let text = "the cat";
    let ids = tokenizer.encode(text);
    let tensor = token_tensor(&ids, 1, &Device::flex());
    let logits: Vec<f32> = model.forward_last(tensor).into_data().try_into_vec().unwrap();
    assert_eq!(logits.len(), vocabulary_size(checkpoint));
    let Some(folder) = env::var_os("UNROLL_MODEL_FILES").map(PathBuf::from) else { return };
    fs::write(folder.join(format!("{name}.safetensors")), file).unwrap();
    let expected = json!({"text": text, "logits": logits, "mixed": mixed, "ids": all});
    fs::write(folder.join(format!("{name}.json")), expected.to_string()).unwrap();
}

const SCRIPT: &str = include_str!("../../../../docs/train.py");

/// The script's defaults are the lab's.
#[test]
fn the_script_for_pytorch_knows_the_defaults() {
    let usual = Link::default();
    let names = ["seed", "batch", "lr", "warmup", "decay", "clip", "optimizer"];
    let values = names.map(|name| {
        let setting = unroll_protocol::link::settings().find(|s| s.name == name).unwrap();
        let value = (setting.get)(&usual).to_string();
        match value.parse::<f64>() {
            Ok(_) => format!("\"{name}\": {value}"),
            Err(_) => format!("\"{name}\": \"{value}\""),
        }
    });
    let spec = unroll_protocol::OptimizerSpec::default();
    let lines = [
        format!("COLUMNS = \"{}\"", losses::COLUMNS),
        format!("DEFAULTS = {{{}}}", values.join(", ")),
        format!(
            "BETAS, EPSILON, DECAY_STEPS, FLOOR = ({}, {}), {:e}, {}, {}",
            spec.beta1,
            spec.beta2,
            spec.epsilon,
            spec.decay_steps,
            unroll_protocol::LearningRateSchedule::FLOOR
        ),
    ];
    for line in lines {
        assert!(SCRIPT.lines().any(|found| found == line), "docs/train.py lacks: {line}");
    }
    assert!(SCRIPT.lines().count() <= 200);
}

/// The loss on held-out text, which the engine measures every 20 steps on as many windows (see
/// `engine/src/session/experiment.rs`).
fn held_out(trainer: &Trainer) -> f32 {
    let windows = 8.max(1536 / trainer.spec().gpt.context);
    let mut evaluation = Evaluation::new(trainer, windows as usize).expect("some text is held out");
    loop {
        if let EvaluationSlice::Loss(loss) = evaluation.advance() {
            return loss.into_scalar::<f32>();
        }
    }
}

/// What each run that goes to PyTorch is called.
const RUNS: [&str; 4] = ["by-bytes-and-rms-norms", "by-pairs", "from-start", "halfway"];

/// With UNROLL_RUNS, packs runs there as the page does, and writes how they went on, for
/// tests/golden/check_train.py.
#[test]
fn runs_for_pytorch() {
    const STEPS: u32 = 20;
    let from_start = settings("layers=2&heads=2&width=32&context=24&batch=4&seed=9&warmup=6");
    let mut halfway = settings("layers=1&heads=4&width=32&context=16&batch=6&tied=1&clip=0.5");
    halfway.gpt.architecture.feed_forward = Some(Activation::GeluTanh);
    let (mut rms, mut pairs) = (from_start.clone(), from_start.clone());
    (rms.gpt.architecture.norm_kind, rms.gpt.tokens) = (NormKind::Rms, TokenKind::Bytes);
    (pairs.gpt.tokens, pairs.gpt.merges) = (TokenKind::Pairs, 40);
    let steps = [5, 30, 0, 25];
    for ((name, link), steps) in RUNS.into_iter().zip([rms, pairs, from_start, halfway]).zip(steps)
    {
        let text = TEXT.repeat(20);
        let mut trainer = Trainer::new(&link.experiment(), &text, &Device::flex()).unwrap();
        let mut points = Vec::new();
        let mut checkpoint = None;
        while trainer.step() < steps + STEPS {
            if trainer.step() == steps && checkpoint.is_none() {
                checkpoint = Some(pollster::block_on(trainer.checkpoint()).unwrap());
            }
            let learning_rate = trainer.learning_rate_at_next_step();
            if let Slice::Gradients(gradients) = trainer.advance() {
                trainer.apply();
                let is_measured = trainer.step().is_multiple_of(20);
                points.push(CurvePoint {
                    step: trainer.step(),
                    loss: gradients.loss.into_scalar::<f32>(),
                    held_out: is_measured.then(|| held_out(&trainer)),
                    gradient_norm: gradients.gradient_norm.into_scalar::<f32>(),
                    learning_rate,
                });
            }
        }
        let checkpoint = checkpoint.expect("it was at that step");
        let (before, after) = points.split_at(steps as usize);
        assert_eq!((checkpoint.step, after.len() as u32), (steps, STEPS));
        assert!(after[STEPS as usize - 1].loss < after[0].loss);
        let Some(folder) = env::var_os("UNROLL_RUNS").map(PathBuf::from) else { continue };
        let to = |kind: &str| folder.join(format!("{name}.{kind}"));
        let source = Source { corpus: link.corpus, name: "cats".into(), text: text.into() };
        let files = run::contents(&checkpoint, &link, &source, before);
        let mut archive = Vec::new();
        let packed = archive::pack(files, 0, async |piece| archive.extend(piece));
        pollster::block_on(packed).unwrap();
        fs::write(to("zip"), archive).unwrap();
        let last = logits(&pollster::block_on(trainer.checkpoint()).unwrap(), "the cat").pop();
        let rows = format!("{}\n{}", losses::COLUMNS, losses::written(&points));
        let expected = json!({"rows": rows, "step": steps, "logits": last});
        fs::write(to("json"), expected.to_string()).unwrap();
    }
}

/// With UNROLL_RUNS, once the script has continued them: every model in their folders opens, and the
/// last has the logits of the page's own.
#[test]
fn runs_from_pytorch() {
    let Some(folder) = env::var_os("UNROLL_RUNS").map(PathBuf::from) else { return };
    for name in RUNS {
        let expected = fs::read(folder.join(format!("{name}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let run = folder.join(name);
        let table = fs::read_to_string(run.join("losses.csv")).unwrap();
        let points: Vec<CurvePoint> = table.lines().filter_map(losses::read).collect();
        let rows = expected["rows"].as_str().unwrap();
        let ours: Vec<CurvePoint> = rows.lines().filter_map(losses::read).collect();
        assert_eq!(points.len(), ours.len());
        for (point, ours) in points.iter().zip(&ours) {
            assert_eq!(point.step, ours.step);
            assert!((point.loss - ours.loss).abs() < 1e-4, "{point:?} {ours:?}");
            let [theirs, ours_held_out] = [point.held_out, ours.held_out];
            assert_eq!(theirs.is_some(), point.step.is_multiple_of(20), "{point:?}");
            let apart = theirs.zip(ours_held_out).map_or(0.0, |(a, b)| (a - b).abs());
            assert!(apart < 1e-4, "{point:?} {ours:?}");
            assert!((point.gradient_norm / ours.gradient_norm - 1.0).abs() < 1e-3);
            assert!((point.learning_rate / ours.learning_rate - 1.0).abs() < 1e-6);
        }
        let mut checkpoints: Vec<Checkpoint> = fs::read_dir(run)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "safetensors"))
            .map(|path| opened(&fs::read(path).unwrap()).unwrap())
            .collect();
        checkpoints.sort_by_key(|checkpoint| checkpoint.step);
        assert!(checkpoints.len() >= 11, "{name}: {}", checkpoints.len());
        let last = checkpoints.last().expect("there are some");
        let found = logits(last, "the cat").pop().unwrap();
        for (token, found) in found {
            let ours = expected["logits"][&token].as_f64().unwrap();
            assert!((f64::from(found) - ours).abs() < 1e-3, "{token}: {found} {ours}");
        }
    }
}
