//! How long a model of GPT-2's size takes here, with random weights: to take over, to read, to write.
//!
//!     cargo run --release -p unroll-model --example bench_given [layers heads width vocabulary]

use std::time::Instant;

use burn::tensor::Device;
use pollster::block_on;
use unroll_model::{Filling, Generator, GivenTokens, Tokenizer, read_all, token_tensor, trace};
use unroll_protocol::{
    Architecture, GptSpec, SampleSpec, Sampling, Weights, architecture::Activation, gpt::Place,
};

/// Values of one message.
const PIECE: usize = 1 << 20;

/// Megabytes of memory: what is taken up now, and the most so far.
fn memory() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0u64) / 1000
    })
}

fn main() {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let [layers, heads, width, vocabulary] = sizes.try_into().unwrap_or([12, 12, 768, 50_257]);
    let feed_forward = Some(Activation::GeluTanh);
    let architecture = Architecture { feed_forward, ..Architecture::GPT2 };
    let gpt =
        GptSpec { layers, heads, width, context: 1024, dropout: 0.0, tied: true, architecture };
    let mut pieces: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    pieces.extend((256..vocabulary).map(|id| format!("<{id}>").into_bytes()));
    let tokens = GivenTokens { special: (256..vocabulary).collect(), pieces, merges: Vec::new() };
    let parameters = gpt.parameter_count(vocabulary as usize);
    println!(
        "{:.1} million parameters, {} MB",
        parameters as f64 / 1e6,
        4 * parameters / 1_000_000
    );

    let began = Instant::now();
    let tokenizer = Tokenizer::given(&tokens).expect("a tokenizer");
    let mut filling = Filling::with_tokenizer(gpt, tokenizer, &Device::flex()).expect("a model");
    let mut state = 1u32;
    let mut piece = |count: usize, scale: f32, shift: f32| -> Vec<f32> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        (0..count).map(|_| scale * next() + shift).collect()
    };
    for (parameter, (name, size)) in filling.sizes().into_iter().enumerate() {
        let is_gain = name.ends_with("gamma");
        for begin in (0..size).step_by(PIECE) {
            let row = PIECE.min(size - begin);
            let values = piece(row, 0.07, f32::from(u8::from(is_gain)));
            let [begin, row] = [begin, row].map(|size| size as u32);
            filling
                .put(&Weights { parameter: parameter as u32, begin, row, stride: 0, values })
                .expect("room");
        }
    }
    let given = filling.finish();
    let [now, most] = memory();
    println!(
        "taken over in {:.1} s; memory {now} MB, {most} MB at most",
        began.elapsed().as_secs_f64()
    );

    let model = &given.model;
    for length in [64usize, 256] {
        let ids: Vec<u32> = (0..length as u32).map(|at| 7 * at % 256).collect();
        let began = Instant::now();
        let logits = model.forward_last(token_tensor(&ids, 1, &model.device())).reshape([-1]);
        block_on(read_all([logits])).expect("numbers");
        println!("forward, T {length}: {:.0} ms", 1000.0 * began.elapsed().as_secs_f64());
        let text = String::from_utf8(vec![b'a'; length]).expect("a text");
        let began = Instant::now();
        let trace = block_on(trace(model, &given.tokenizer, &text, 0)).expect("a trace");
        let bytes = 4 * (trace.weights.values.len() + trace.probabilities.values.len());
        println!(
            "trace, T {length}: {:.0} ms, {} MB",
            1000.0 * began.elapsed().as_secs_f64(),
            bytes / 1_000_000
        );
    }
    let prompt = "a".repeat(32);
    let sample =
        SampleSpec { prompt, length: 65, sampling: Sampling::GREEDY, seed: 1, place: Place::Lab };
    let mut generator = Generator::new(&given.tokenizer, &sample, 1024).expect("a sampling");
    let began = Instant::now();
    block_on(generator.advance(model)).expect("a token");
    println!("first token after 32: {:.0} ms", 1000.0 * began.elapsed().as_secs_f64());
    let began = Instant::now();
    while !generator.is_done() {
        block_on(generator.advance(model)).expect("a token");
    }
    println!("then {:.1} tokens a second", 64.0 / began.elapsed().as_secs_f64());
    let [now, most] = memory();
    println!("memory {now} MB, {most} MB at most");
}
