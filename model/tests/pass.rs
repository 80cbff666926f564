//! A forward pass in parts: its numbers are those of the model, and they add up.

mod support;

use support::{device, ready, relative_difference, same_bits};
use unroll_model::{Gpt, GptConfig, Tokenizer, TraceError, parameter_count, pass, trace};
use unroll_protocol::{
    Architecture, Array, GptSpec, Initialization, Tokens,
    architecture::{NormKind, NormPlacement, Positions},
    gpt::MOST_ROWS,
};

/// As many rows as there can be.
const ALL: u32 = MOST_ROWS as u32;
const TEXT: &str = "said Fenn the smith";

fn model(architecture: Architecture, tied: bool, context: u32) -> (Gpt, Tokenizer) {
    let tokenizer = Tokenizer::learn(Tokens::Characters, TEXT);
    let spec = GptSpec { layers: 2, heads: 2, width: 8, context, dropout: 0.0, tied, architecture };
    let config = GptConfig {
        spec,
        vocabulary: tokenizer.len(),
        initialization: Initialization::Gpt2,
        seed: 3,
    };
    (config.init(&device()), tokenizer)
}

fn sum(parts: &[&[f32]]) -> Vec<f32> {
    (0..parts[0].len()).map(|i| parts.iter().map(|part| part[i]).sum()).collect()
}

fn row(array: &Array, prefix: &[usize]) -> Vec<f32> {
    array.block(prefix).unwrap().to_vec()
}

#[test]
fn the_parts_add_up_and_are_those_of_the_trace() {
    let (model, tokenizer) = model(Architecture::GPT2, false, 16);
    let read = ready(pass(&model, &tokenizer, "the fenn", 1, ALL, 7)).unwrap();
    let whole = ready(trace(&model, &tokenizer, "the fenn", 7)).unwrap();
    assert_eq!((read.step, &read.tokens, read.dropped), (7, &whole.tokens, 0));
    assert_eq!((&read.mask, &read.vocabulary), (&whole.mask, &whole.vocabulary));
    assert!(same_bits(&read.probabilities.values, &whole.probabilities.values));
    assert!(same_bits(&read.weights.values, &whole.weights.values));
    assert_eq!(read.stream.shape, [3, 8, 8]);

    let positions = read.positions.as_ref().unwrap();
    let first = sum(&[&read.embeddings.values, &positions.values]);
    assert!(same_bits(&first, read.stream.block(&[0]).unwrap()));
    let attention = read.detail.attention.as_ref().unwrap();
    let feed_forward = read.detail.feed_forward.as_ref().unwrap();
    assert_eq!(feed_forward.hidden.shape, [8, 32]);
    let before = read.stream.block(&[1]).unwrap();
    let after = sum(&[before, &attention.output.values, &feed_forward.output.values]);
    assert!(relative_difference(&after, read.stream.block(&[2]).unwrap()) < 1e-6);
    for head in 0..2 {
        for query in 0..8 {
            let weights = row(&read.weights, &[1, head, query]);
            let values: Vec<Vec<f32>> =
                (0..8).map(|key| row(&attention.values, &[head, key])).collect();
            let mixed: Vec<f32> = (0..4)
                .map(|i| weights.iter().zip(&values).map(|(weight, value)| weight * value[i]).sum())
                .collect();
            let difference = relative_difference(&mixed, &row(&attention.mixed, &[head, query]));
            assert!(difference < 1e-5, "{difference}");
        }
    }
}

#[test]
fn every_parameter_is_counted_once() {
    let others = [
        (Architecture::GPT2, true),
        (Architecture { positions: Positions::Rotary, ..Architecture::GPT2 }, false),
        (Architecture { norm: NormPlacement::None, ..Architecture::GPT2 }, false),
        (Architecture { norm_kind: NormKind::Rms, ..Architecture::GPT2 }, false),
        (Architecture { feed_forward: None, ..Architecture::GPT2 }, false),
        (Architecture { attention: false, ..Architecture::GPT2 }, false),
    ];
    for (architecture, tied) in others {
        let (model, tokenizer) = model(architecture, tied, 16);
        let read = ready(pass(&model, &tokenizer, "the", 0, ALL, 0)).unwrap();
        assert_eq!(read.sizes.total(), parameter_count(&model), "{architecture:?}");
        assert_eq!(read.sizes.head == 0, tied);
        assert_eq!(read.detail.attention.is_some(), architecture.attention);
        assert_eq!(read.detail.feed_forward.is_some(), architecture.feed_forward.is_some());
        assert_eq!(read.heads().0, if architecture.attention { 2 } else { 0 });
        assert!(read.probabilities.is_consistent() && read.stream.is_consistent());
    }
}

#[test]
fn long_texts_are_cut_and_wrong_questions_refused() {
    let (model, tokenizer) = model(Architecture::GPT2, false, 128);
    let long = TEXT.repeat(20);
    let read = ready(pass(&model, &tokenizer, &long, 0, ALL, 0)).unwrap();
    assert_eq!(read.tokens.len(), MOST_ROWS);
    assert_eq!(read.dropped as usize, long.len() - MOST_ROWS);
    let few = ready(pass(&model, &tokenizer, &long, 0, 5, 0)).unwrap();
    let same = ready(pass(&model, &tokenizer, &long[long.len() - 5..], 0, ALL, 0)).unwrap();
    assert_eq!((few.tokens.len(), few.dropped as usize), (5, long.len() - 5));
    assert_eq!(few.probabilities, same.probabilities);
    let one = ready(pass(&model, &tokenizer, "s", 0, ALL, 0)).unwrap();
    assert_eq!(one.probabilities.shape, [1, tokenizer.len() as u32]);
    let unknown = ready(pass(&model, &tokenizer, "🦊", 0, ALL, 0)).unwrap();
    assert_eq!(unknown.tokens, ["\u{fffd}"]);
    assert_eq!(ready(pass(&model, &tokenizer, "", 0, ALL, 0)), Err(TraceError::Empty));
    assert!(matches!(ready(pass(&model, &tokenizer, "s", 2, ALL, 0)), Err(TraceError::Row(_))));
}
