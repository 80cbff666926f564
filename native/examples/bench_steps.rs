//! Milliseconds of a training step of the engine outside the browser, through its WebSocket, as a page has
//! them: `cargo run --release -p unroll-native --example bench_steps -- [THREADS]`.
//!
//! It prints one JSON object a line, among what the engine says. tests/peers/pytorch.py is the same for PyTorch.

#[allow(dead_code, reason = "tests need more of it")]
#[path = "../tests/client/mod.rs"]
mod client;

use client::{connect, engine};
use unroll_protocol::{Command, Event, RunState, gpt::Settings};

const TEXT: &str = include_str!("../../assets/corpora/tales.txt");

fn main() {
    let threads = std::env::args().nth(1).and_then(|threads| threads.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let threads = threads.unwrap_or_else(cores);
    // nanoGPT's setting for a CPU, and one of ten million parameters.
    let sizes = [("gpt-0.8m", 4, 4, 128, 64, 12, 60), ("gpt-10m", 6, 6, 384, 64, 12, 12)];
    for (name, layers, heads, width, context, batch, steps) in sizes {
        let settings = Settings { layers, heads, width, context, batch, ..Settings::default() };
        let mut page = connect(&engine("bench", threads));
        // As many threads as the engine finds worth it.
        page.begin(settings.spec(1), TEXT, 0);
        // The first steps start the threads and warm up.
        let mut all = Vec::new();
        for count in [5, steps] {
            page.say(&Command::Steps(count));
            let rests =
                |event: &Event| matches!(event, Event::State { state: RunState::Paused, .. });
            all = page.until(rests);
        }
        let mut took: Vec<f32> = all
            .iter()
            .filter_map(|event| match event {
                Event::Progress(progress) => Some(progress.milliseconds_per_step),
                _ => None,
            })
            .collect();
        took.sort_by(f32::total_cmp);
        let (median, min, max) = (took[took.len() / 2], took[0], took[took.len() - 1]);
        println!(
            "{{\"name\": \"{name}/native-engine-{threads}\", \"unit\": \"ms\", \"median\": \
             {median:.1}, \"min\": {min:.1}, \"max\": {max:.1}}}"
        );
    }
}
