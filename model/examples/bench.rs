//! Milliseconds per training step, as one line of JSON on the CPU.
//!
//! `cargo run --release -p unroll-model --example bench -- [name=value ...]` with the names below.

use std::{env, process::exit, time::Instant};

use burn::tensor::Device;
use unroll_model::{Slice, Trainer};
use unroll_protocol::{Architecture, ExperimentSpec, GptSpec, OptimizerSpec};

const WARMUP_STEPS: usize = 3;

fn main() {
    let mut settings = [
        ("layers", 4),
        ("heads", 4),
        ("width", 128),
        ("context", 64),
        ("batch", 12),
        ("vocabulary", 65),
        ("tied", 0),
        ("steps", 20),
    ];
    for argument in env::args().skip(1) {
        let parsed = argument.split_once('=').and_then(|(name, value)| {
            let setting = settings.iter_mut().find(|setting| setting.0 == name)?;
            setting.1 = value.parse().ok()?;
            Some(())
        });
        if parsed.is_none() {
            let names = settings.map(|(name, default)| format!("{name}={default}"));
            eprintln!("{argument} is none of {}", names.join(" "));
            exit(2);
        }
    }
    let [layers, heads, width, context, batch, vocabulary, tied, steps] =
        settings.map(|(_, value)| value);
    let spec = ExperimentSpec {
        seed: 1,
        gpt: GptSpec {
            layers,
            heads,
            width,
            context,
            dropout: 0.0,
            tied: tied != 0,
            architecture: Architecture::GPT2,
        },
        optimizer: OptimizerSpec::default(),
        batch,
    };
    // Squares modulo a prime: no pattern to learn, and every character of the vocabulary occurs.
    let text: String = (0..100_000u64)
        .map(|i| (i * i % 7919) as u32 % (vocabulary - 1))
        .map(|kind| char::from_u32('!' as u32 + kind).expect("a small number"))
        .collect();
    let mut trainer = Trainer::new(&spec, &text, &Device::flex()).unwrap_or_else(|error| {
        eprintln!("{error}");
        exit(2);
    });

    let mut loss = 0.0;
    let mut slowest_slice = 0f64;
    let mut times: Vec<f64> = (0..WARMUP_STEPS + steps as usize)
        .map(|_| {
            let start = Instant::now();
            loop {
                let slice_start = Instant::now();
                let slice = trainer.advance();
                slowest_slice = slowest_slice.max(slice_start.elapsed().as_secs_f64() * 1e3);
                if let Slice::Gradients(gradients) = slice {
                    loss = gradients.loss.into_scalar::<f32>();
                    break;
                }
            }
            let slice_start = Instant::now();
            trainer.apply();
            slowest_slice = slowest_slice.max(slice_start.elapsed().as_secs_f64() * 1e3);
            start.elapsed().as_secs_f64() * 1e3
        })
        .skip(WARMUP_STEPS)
        .collect();
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let millions = trainer.parameter_count() as f64 / 1e6;
    println!(
        "{{\"name\":\"gpt-{millions:.1}m/native-1\",\"unit\":\"ms/step\",\"median\":{median:.2},\
         \"min\":{:.2},\"max\":{:.2},\"tokens_per_second\":{:.0},\"slowest_slice_ms\":{slowest_slice:.2},\"last_loss\":{loss:.4}}}",
        times[0],
        times[times.len() - 1],
        trainer.tokens_per_step() as f64 / median * 1e3,
    );
}
