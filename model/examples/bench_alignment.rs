//! Time and steps until a model of the chapter `alignment` answers 95% of held-out sources without
//! a mistake, while the second model trains alongside it:
//!
//! ```sh
//! cargo run --release -p unroll-model --example bench_alignment [task] [steps] [seed]
//! ```

use std::time::Instant;

use burn::tensor::Device;
use pollster::block_on;
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{StudySpec, study::alignment::Settings, transduction::PairTask};

fn run(task: PairTask, steps: u32, seed: u32) {
    // Reversal of up to 12 characters, and dates as they are.
    let settings = Settings { task, length: 12, ..Settings::default() };
    let spec = StudySpec::Alignment(settings.spec(seed));
    let mut study = AnyStudy::new(&spec, "", &Device::flex()).expect("a usable spec");
    println!("{task:?}, seed {seed}: {}", study.started().notes.join(" "));
    let (start, mut longest) = (Instant::now(), 0.0f64);
    let mut reached = [false; 2];
    let mut last = Vec::new();
    while study.step() < steps {
        let slice = Instant::now();
        let values = loop {
            let done = block_on(study.advance());
            longest = longest.max(slice.elapsed().as_secs_f64());
            match done {
                StudySlice::More => {}
                StudySlice::Step(values) => break values,
                StudySlice::Diverged { loss } => panic!("diverged with a loss of {loss}"),
            }
        };
        let half = values.len() / 2;
        if values[half].is_none() {
            continue;
        }
        last = values[half..].iter().map(|value| value.unwrap_or(0.0)).collect();
        if study.step().is_multiple_of(100) || study.step() == 1 {
            println!("  {} {last:.3?}", study.step());
        }
        for (model, reached) in reached.iter_mut().enumerate().take(half) {
            if !*reached && last[model] >= 0.95 {
                *reached = true;
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "  model {} at 95% after {} steps, {seconds:.1} s; all {last:.3?}",
                    model + 1,
                    study.step()
                );
            }
        }
    }
    let each = start.elapsed().as_secs_f64() * 1e3 / f64::from(steps);
    println!("  {each:.1} ms a step of both models; at the end {last:.3?}");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(usual);
    let (steps, seed) = (number(1, 600), number(2, 1));
    let tasks = match arguments.first().and_then(|id| PairTask::from_id(id)) {
        Some(task) => vec![task],
        None => vec![PairTask::Reverse, PairTask::Dates],
    };
    for task in tasks {
        run(task, steps, seed);
    }
}
