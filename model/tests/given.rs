//! Models of another's making: their tokenizers against Hugging Face's `tokenizers`, and what they
//! compute against its `transformers`. The golden files come from `tests/golden/make_gpt2.py`.

mod support;

use std::collections::HashMap;

use burn::tensor::Device;
use serde::Deserialize;
use serde_json::Value;
use support::ready;
use unroll_model::{Filling, Generator, Given, GivenError, Gpt, Tokenizer, read_all, token_tensor};

use unroll_protocol::{
    Architecture, GivenModel, GivenTokens, GptSpec, SampleSpec, Sampling, SpecError, Weights,
    architecture::Activation, gpt::Place,
};

/// What a `tokenizer.json` holds. The page reads it with more care: `app/src/kept/tokens_file.rs`.
fn tokens(json: &str) -> GivenTokens {
    let file: Value = serde_json::from_str(json).unwrap();
    // Bytes that can be printed stand for themselves, the others for 256, 257, ...
    let is_printed = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = '\u{100}'..;
    let bytes: HashMap<char, u8> = (0..=u8::MAX)
        .map(|byte| (if is_printed(byte) { byte.into() } else { others.next().unwrap() }, byte))
        .collect();
    let special: Vec<u32> = file["added_tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|token| token["id"].as_u64().unwrap() as u32)
        .collect();
    let vocabulary = file["model"]["vocab"].as_object().unwrap();
    let mut pieces = vec![Vec::new(); vocabulary.len()];
    let mut ids = HashMap::new();
    for (text, id) in vocabulary {
        let id = id.as_u64().unwrap() as u32;
        pieces[id as usize] = match special.contains(&id) {
            true => text.as_bytes().to_vec(),
            false => text.chars().map(|c| bytes[&c]).collect(),
        };
        ids.insert(text.as_str(), id);
    }
    let merges = file["model"]["merges"].as_array().unwrap().iter();
    let merges = merges.map(|pair| match pair {
        Value::String(pair) => pair.split_once(' ').map(|(a, b)| [ids[a], ids[b]]).unwrap(),
        pair => [0, 1].map(|at| ids[pair[at].as_str().unwrap()]),
    });
    GivenTokens { merges: merges.collect(), pieces, special }
}

#[derive(Deserialize)]
struct Lines {
    fragments: Vec<String>,
    separators: Vec<String>,
    ranges: Vec<[u32; 2]>,
    lines: usize,
    group: usize,
    hashes: Vec<String>,
    first: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    line: String,
    ids: Vec<u32>,
}

impl Lines {
    /// The lines, as `make_gpt2.py` makes them.
    fn all(&self) -> Vec<String> {
        let mut state = 1u64;
        let mut below = |count: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % count
        };
        let mut line = || {
            let mut line = String::new();
            for _ in 0..1 + below(16) {
                if below(4) < 3 {
                    line += &self.fragments[below(self.fragments.len())];
                } else {
                    let [first, last] = self.ranges[below(self.ranges.len())];
                    let count = 1 + below(6);
                    let one = |_| char::from_u32(first + below((last - first + 1) as usize) as u32);
                    line.extend((0..count).map(one).map(Option::unwrap));
                }
                line += &self.separators[below(self.separators.len())];
            }
            line
        };
        (0..self.lines).map(|_| line()).collect()
    }
}

fn hashed(ids: &[u32], hash: u64) -> u64 {
    let bytes = ids.iter().chain([&u32::MAX]).flat_map(|id| id.to_le_bytes());
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn ten_thousand_lines_have_the_tokens_of_tokenizers() {
    let json = include_str!("../../tests/golden/tokenizer/tokenizer.json");
    let tokenizer = Tokenizer::given(&tokens(json)).unwrap();
    let golden: Lines =
        serde_json::from_str(include_str!("../../tests/golden/tokenizer/lines.json")).unwrap();
    for Line { line, ids } in &golden.first {
        assert_eq!(&tokenizer.encode(line), ids, "{line:?}");
    }
    let lines = golden.all();
    for (number, (group, expected)) in lines.chunks(golden.group).zip(&golden.hashes).enumerate() {
        let hash = group
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, line| hashed(&tokenizer.encode(line), hash));
        assert_eq!(&format!("{hash:016x}"), expected, "among lines {}00 to {0}99", number);
        for line in group {
            assert_eq!(&tokenizer.written(&tokenizer.encode(line)), line);
        }
    }
    assert_eq!(lines.len() / golden.group, golden.hashes.len());
}

/// The model's tensors out of its file: name, shape, values.
fn tensors() -> HashMap<String, (Vec<usize>, Vec<f32>)> {
    let file = include_bytes!("../../tests/golden/gpt2/model.safetensors");
    let (length, rest) = file.split_first_chunk().unwrap();
    let (head, body) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let head: HashMap<String, Value> = serde_json::from_slice(head).unwrap();
    let tensors = head.into_iter().filter(|(name, _)| name != "__metadata__");
    let tensors = tensors.map(|(name, info)| {
        let numbers = |key: &str| {
            info[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_u64().unwrap() as usize)
                .collect::<Vec<_>>()
        };
        let range = numbers("data_offsets");
        let halves = body[range[0]..range[1]].chunks(2);
        let values = halves.map(|half| single(u16::from_le_bytes([half[0], half[1]])));
        (name, (numbers("shape"), values.collect()))
    });
    tensors.collect()
}

/// A 16-bit float as a 32-bit one.
fn single(half: u16) -> f32 {
    let (sign, exponent, fraction) = (half >> 15, half >> 10 & 31, half & 1023);
    let size = match exponent {
        0 => f32::from(fraction) * 2f32.powi(-24),
        _ => (1.0 + f32::from(fraction) / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -size } else { size }
}

fn small() -> GivenModel {
    let json = include_str!("../../tests/golden/gpt2/tokenizer.json");
    let feed_forward = Some(Activation::GeluTanh);
    let architecture = Architecture { feed_forward, ..Architecture::GPT2 };
    let gpt = GptSpec {
        layers: 2,
        heads: 4,
        width: 48,
        context: 96,
        dropout: 0.0,
        tied: true,
        architecture,
    };
    GivenModel { gpt, tokens: tokens(json) }
}

/// The weights of the small model in pieces, as the page sends them.
fn weights() -> Vec<Weights> {
    let tensors = tensors();
    let of = |name: &str| &tensors[&format!("transformer.{name}")];
    let mut weights = Vec::new();
    let mut number = 0;
    let mut all = |values: &[f32]| {
        // In two pieces each.
        let (one, other) = values.split_at(values.len() / 2);
        for (begin, values) in [(0, one), (one.len(), other)] {
            let (begin, row) = (begin as u32, values.len() as u32);
            weights.push(Weights {
                parameter: number,
                begin,
                row,
                stride: 0,
                values: values.to_vec(),
            });
        }
        number += 1;
    };
    all(&of("wte.weight").1);
    all(&of("wpe.weight").1);
    for block in 0..2 {
        let of = |name: &str| of(&format!("h.{block}.{name}"));
        all(&of("ln_1.weight").1);
        all(&of("ln_1.bias").1);
        let (weight, bias) = (&of("attn.c_attn.weight").1, &of("attn.c_attn.bias").1);
        for part in 0..3 {
            let third: Vec<f32> =
                weight.chunks(48).skip(part).step_by(3).flatten().copied().collect();
            all(&third);
            // Softmax cancels the biases of keys.
            if part != 1 {
                all(&bias[48 * part..][..48]);
            }
        }
        for name in ["attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias"] {
            all(&of(name).1);
        }
        for name in ["mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias"] {
            all(&of(name).1);
        }
    }
    all(&of("ln_f.weight").1);
    all(&of("ln_f.bias").1);
    weights
}

fn filled() -> Given {
    let mut filling = Filling::new(&small(), &Device::flex()).unwrap();
    let weights = weights();
    for (number, weights) in weights.iter().enumerate() {
        assert!(!filling.is_complete(), "after {number} pieces");
        filling.put(weights).unwrap();
    }
    filling.finish()
}

#[derive(Deserialize)]
struct Expected {
    text: String,
    ids: Vec<u32>,
    logits: Vec<Vec<f32>>,
    weights: Vec<Vec<Vec<Vec<f32>>>>,
    greedy: Vec<u32>,
    written: String,
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("../../tests/golden/gpt2/expected.json")).unwrap()
}

fn read(model: &Gpt, ids: &[u32]) -> Vec<f32> {
    let logits = model.forward(token_tensor(ids, 1, &model.device())).reshape([-1]);
    ready(read_all([logits])).unwrap().concat()
}

#[track_caller]
fn assert_near(found: &[f32], expected: impl IntoIterator<Item = f32>, tolerance: f32) {
    let expected: Vec<f32> = expected.into_iter().collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{found} instead of {expected}");
    }
}

#[test]
fn a_small_gpt_2_computes_what_transformers_does() {
    let given = filled();
    let expected = expected();
    assert_eq!(given.tokenizer.encode(&expected.text), expected.ids);
    let logits = read(&given.model, &expected.ids);
    assert_near(&logits, expected.logits.into_iter().flatten(), 1e-4);
    let trace = unroll_model::trace(&given.model, &given.tokenizer, &expected.text, 0);
    let trace = ready(trace).unwrap();
    let weights = expected.weights.into_iter().flatten().flatten().flatten();
    assert_near(&trace.weights.values, weights, 1e-5);
}

#[test]
fn it_writes_the_same_text() {
    let given = filled();
    let expected = expected();
    let sampling = Sampling { top_k: 1, ..Sampling::PLAIN };
    let length = expected.greedy.len() as u32;
    let sample = SampleSpec { prompt: expected.text, length, sampling, seed: 1, place: Place::Lab };
    let mut generator = Generator::new(&given.tokenizer, &sample, given.model.context()).unwrap();
    while !generator.is_done() {
        ready(generator.advance(&given.model)).unwrap();
    }
    assert_eq!(generator.text(), expected.written.trim_end_matches('\u{fffd}'));
    let labels = expected.greedy.iter().map(|id| given.tokenizer.label(*id));
    assert_eq!(generator.tokens(), labels.collect::<Vec<_>>());
}

#[test]
fn what_can_not_be_a_model_is_refused() {
    let device = Device::flex();
    let with = |change: fn(&mut GivenModel)| {
        let mut given = small();
        change(&mut given);
        Filling::new(&given, &device).err()
    };
    assert_eq!(with(|_| {}), None);
    let context = with(|given| given.gpt.context = 4096);
    assert!(matches!(context, Some(GivenError::Spec(SpecError::TooLargeToOpen { .. }))));
    let large = with(|given| (given.gpt.width, given.gpt.layers) = (1600, 48));
    assert!(matches!(large, Some(GivenError::Spec(SpecError::TooLargeToOpen { .. }))));
    let heads = with(|given| given.gpt.heads = 5);
    assert!(matches!(heads, Some(GivenError::Spec(SpecError::HeadsDoNotDivide { .. }))));
    assert!(matches!(
        with(|given| given.tokens.pieces.truncate(80)),
        Some(GivenError::Vocabulary(_))
    ));

    let mut filling = Filling::new(&small(), &device).unwrap();
    let piece = |parameter, begin, row, stride, values: &[f32]| Weights {
        parameter,
        begin,
        row,
        stride,
        values: values.to_vec(),
    };
    let mut refused = |weights: Weights| filling.put(&weights).unwrap_err();
    // There are 300 tokens of 48 numbers.
    for weights in [
        piece(99, 0, 1, 0, &[1.0]),
        piece(0, 14_400, 1, 0, &[1.0]),
        piece(0, 14_399, 2, 0, &[1.0; 2]),
        piece(0, u32::MAX, 1, u32::MAX, &[1.0; 3]),
        piece(0, 0, 2, 1, &[1.0; 4]),
        piece(0, 0, 2, 2, &[1.0; 3]),
        piece(0, 0, 0, 0, &[1.0]),
        piece(0, 0, 1, 1, &[]),
        piece(0, 0, 1, 14_399, &[1.0; 3]),
    ] {
        assert_eq!(refused(weights), GivenError::Outside);
    }
    let name = "token_embedding.weight".to_owned();
    assert_eq!(refused(piece(0, 5, 1, 0, &[f32::NAN])), GivenError::NotFinite { name });
    assert_eq!(filling.put(&piece(0, 0, 1, 14_399, &[1.0; 2])), Ok(2));
}
