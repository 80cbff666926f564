//! What the chapter `bptt` shows is true of the networks it trains.

use burn::tensor::Device;
mod support;
use support::ready as block_on;
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Answer, Question, StudySpec,
    study::bptt::{self, Cell, Flow, LossKind, MEASURE_EVERY, Settings},
};

fn study(settings: &Settings, seed: u32) -> AnyStudy {
    AnyStudy::new(&StudySpec::Bptt(settings.spec(seed)), "", &Device::flex()).unwrap()
}

fn train(study: &mut AnyStudy, steps: u32) -> Vec<Vec<Option<f32>>> {
    let mut points = Vec::new();
    while points.len() < steps as usize {
        match block_on(study.advance()) {
            StudySlice::More => {}
            StudySlice::Step(values) => points.push(values),
            StudySlice::Diverged { loss } => panic!("diverged with a loss of {loss}"),
        }
    }
    points
}

fn ask(study: &mut AnyStudy, settings: &Settings) -> Result<Flow, String> {
    let question = Question::Bptt(settings.question());
    match block_on(study.ask(&question)) {
        Ok(Answer::Bptt(bptt::Answer::Flow(flow))) => Ok(*flow),
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// How many seeds show it, and when: `cargo test --release -p unroll-model --test study_bptt
/// -- --ignored --nocapture seeds`.
#[test]
#[ignore = "minutes: a survey"]
fn seeds_of_the_default() {
    for seed in 1..=5 {
        let settings = Settings::default();
        let mut study = study(&settings, seed);
        let start = std::time::Instant::now();
        for _ in 0..8 {
            train(&mut study, 250);
            let flow = ask(&mut study, &settings).unwrap();
            println!("seed {seed} step {} after {:.1} s", study.step(), start.elapsed().as_secs_f32());
            for (cell, shares) in Cell::ALL.iter().zip(&flow.accuracy.shares) {
                let shares = shares.iter().zip(&flow.accuracy.gaps);
                let shares: String = shares.map(|(s, g)| format!("{g}:{s:.2} ")).collect();
                println!("  {:<4} {shares}", cell.label());
            }
        }
    }
    let _ = (LossKind::Last, MEASURE_EVERY);
}
