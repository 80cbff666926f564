//! The chapter `block`: what it says must be true of the numbers.

mod support;

use std::time::Instant;

use support::{device, ready, same_bits};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Answer,
    architecture::Activation,
    study::block::{self, Depths, Norm, Question, Settings, Shown, Source, Stream, Without},
};

const TEXT: &str = include_str!("../../assets/corpora/tales.txt");

fn study(settings: &Settings) -> AnyStudy {
    AnyStudy::new(&settings.spec(1).into(), TEXT, &device()).unwrap()
}

/// Takes `steps` steps; the losses of both models at each.
fn train(study: &mut AnyStudy, steps: usize) -> Vec<[f32; 2]> {
    let mut losses = Vec::new();
    while losses.len() < steps {
        match ready(study.advance()) {
            StudySlice::More => {}
            StudySlice::Step(values) => losses.push([values[0].unwrap(), values[1].unwrap()]),
            StudySlice::Diverged { loss } => panic!("diverged at {loss}"),
        }
    }
    losses
}

#[test]
#[ignore = "prints the figures the chapter was tuned by"]
fn figures() {
    for without in Without::ALL {
        for norm in Norm::ALL {
            let settings = Settings { without: *without, norm: *norm, ..Settings::default() };
            let mut study = study(&settings);
            println!("{without:?} {norm:?}");
            println!("  gradients at 0: {:?}", depths(&mut study));
            let start = Instant::now();
            let losses = train(&mut study, 600);
            let each = start.elapsed().as_secs_f32() * 1000.0 / 600.0;
            for (i, chunk) in losses.chunks(100).enumerate() {
                let mean = |k: usize| chunk.iter().map(|l| l[k]).sum::<f32>() / chunk.len() as f32;
                println!("  {}: {:.3} {:.3}", (i + 1) * 100, mean(0), mean(1));
            }
            println!("  {each:.1} ms a step, gradients {:?}", depths(&mut study));
        }
    }
}

fn depths(study: &mut AnyStudy) -> Vec<Depths> {
    match ready(study.ask(&Question::Depths.into())).unwrap() {
        Answer::Block(block::Answer::Depths(depths)) => depths,
        other => panic!("{other:?}"),
    }
}
