//! Properties of the model that hold whatever its weights are.

mod support;

use burn::{module::Module, tensor::Tensor};
use support::{device, ready, relative_difference, same_bits, values};
use unroll_model::{
    Dropout, GptConfig, GradientSum, Tokenizer, TraceError, cross_entropy, named_parameters,
    self_check, token_tensor, trace,
};
use unroll_protocol::{Architecture, GptSpec, Initialization, Tokens};

const VOCABULARY: usize = 13;

fn configs() -> impl Iterator<Item = GptConfig> {
    [(1, 1, 8, 5, false), (2, 4, 16, 9, true), (3, 2, 24, 12, false)].into_iter().map(
        |(layers, heads, width, context, tied)| GptConfig {
            spec: GptSpec {
                layers,
                heads,
                width,
                context,
                dropout: 0.0,
                tied,
                architecture: Architecture::GPT2,
            },
            vocabulary: VOCABULARY,
            initialization: Initialization::Gpt2,
            seed: layers,
        },
    )
}

fn tokens(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| (i * i + 5 * i + 2) % VOCABULARY as u32).collect()
}

#[test]
fn parameters_are_as_many_as_the_protocol_says_and_have_distinct_names() {
    for config in configs() {
        let parameters = named_parameters(&config.init(&device()));
        let count: usize =
            parameters.iter().map(|(_, shape, _)| shape.iter().product::<usize>()).sum();
        assert_eq!(count as u64, config.spec.parameter_count(VOCABULARY));
        let mut names: Vec<&str> = parameters.iter().map(|(name, ..)| name.as_str()).collect();
        assert!(names.contains(&"blocks.0.attention.query.weight"));
        assert!(!names.contains(&"blocks.0.attention.key.bias"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), parameters.len());
    }
}

#[test]
fn the_same_seed_draws_the_same_weights() {
    let config = configs().next().unwrap();
    let weights = |seed| {
        let model = GptConfig { seed, ..config }.init(&device());
        values(Tensor::cat(named_parameters(&model).into_iter().map(|p| p.2).collect(), 0))
    };
    assert!(same_bits(&weights(4), &weights(4)));
    assert!(!same_bits(&weights(4), &weights(5)));
}

#[test]
fn tracing_changes_nothing_and_shows_what_it_should() {
    for config in configs() {
        let model = config.init(&device());
        let length = config.spec.context as usize;
        let input = || token_tensor(&tokens(2 * length), 2, &device());
        let plain = values(model.forward(input()));
        let traced = model.forward_traced(input(), None);
        assert!(same_bits(&plain, &values(traced.logits)));
        let last = values(model.forward_last(input()));
        let end = length * VOCABULARY;
        assert!(relative_difference(&plain[end - VOCABULARY..end], &last[..VOCABULARY]) < 1e-5);

        assert_eq!(traced.layers.len(), config.spec.layers as usize);
        let mut stream = traced.embeddings;
        for layer in traced.layers {
            let attention = layer.attention.unwrap();
            let scores = values(attention.scores);
            let weights = values(attention.weights.clone());
            for (row, (scores, weights)) in
                scores.chunks(length).zip(weights.chunks(length)).enumerate()
            {
                let query = row % length;
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6);
                assert!(weights[query + 1..].iter().all(|weight| weight.to_bits() == 0));
                assert!(weights[..=query].iter().all(|weight| *weight > 0.0));
                assert!(scores[query + 1..].iter().all(|score| *score == f32::NEG_INFINITY));
            }
            let mixed = attention.weights.matmul(attention.values);
            assert!(relative_difference(&values(mixed), &values(attention.mixed)) < 1e-6);
            stream = stream + layer.attention_output.unwrap() + layer.feed_forward_output.unwrap();
            assert!(relative_difference(&values(layer.output), &values(stream.clone())) < 1e-6);
        }
    }
}

#[test]
fn the_future_has_no_influence_at_all() {
    for config in configs() {
        let model = config.init(&device());
        let length = config.spec.context as usize;
        let mut tokens = tokens(length);
        let before = values(model.forward(token_tensor(&tokens, 1, &device())));
        for changed in (1..length).rev() {
            tokens[changed] = (tokens[changed] + 1) % VOCABULARY as u32;
            let after = values(model.forward(token_tensor(&tokens, 1, &device())));
            let past = changed * VOCABULARY;
            assert!(same_bits(&before[..past], &after[..past]));
            assert!(!same_bits(&before[past..], &after[past..]));
        }
    }
}

/// The directional derivative of a whole block, by central differences, for several directions.
#[test]
fn a_blocks_gradient_agrees_with_finite_differences() {
    let config = GptConfig { seed: 3, ..configs().nth(1).unwrap() };
    // A block with weights large enough for its non-linearities to matter.
    let mut model = config.init(&device());
    let block = {
        struct Enlarge;
        impl burn::module::ModuleMapper for Enlarge {
            fn map_float<const D: usize>(
                &mut self,
                param: burn::module::Param<Tensor<D>>,
            ) -> burn::module::Param<Tensor<D>> {
                param.map(|value| if D == 2 { value * 15.0 } else { value })
            }
        }
        model.blocks.remove(0).map(&mut Enlarge)
    };
    let wave = |frequency: f32, count: usize| -> Vec<f32> {
        (0..count).map(|i| (frequency * i as f32 + 1.0).sin()).collect()
    };
    let (length, width) = (6, 16);
    let tensor =
        |values: &[f32]| Tensor::<1>::from_floats(values, &device()).reshape([1, length, width]);
    let rules = model.attention_rules(length);
    let input = wave(0.7, length * width);
    let weights = wave(1.3, length * width);
    let objective =
        |input: Tensor<3>| (block.forward(input, &rules, &Dropout::off()) * tensor(&weights)).sum();
    let leaf = tensor(&input).autodiff().require_grad();
    let gradient = values(leaf.grad(&objective(leaf.clone()).backward()).unwrap());
    for frequency in [0.3, 2.1, 5.7] {
        let direction = wave(frequency, input.len());
        let at = |distance: f32| {
            let moved: Vec<f32> =
                input.iter().zip(&direction).map(|(x, d)| x + distance * d).collect();
            f64::from(values(objective(tensor(&moved)))[0])
        };
        let numeric = (at(1e-2) - at(-1e-2)) / 2e-2;
        let analytic: f64 =
            gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
        let scale = gradient.iter().map(|g| f64::from(g.abs())).fold(0.0, f64::max);
        assert!(
            (numeric - analytic).abs() < 3e-3 * scale.max(analytic.abs()),
            "{numeric} {analytic}"
        );
    }
}

#[test]
fn every_parameter_gets_a_gradient() {
    for config in configs() {
        let model = config.init(&device()).train();
        let length = config.spec.context as usize;
        let tokens = tokens(length + 1);
        let logits = model.forward(token_tensor(&tokens[..length], 1, &device()));
        let loss = cross_entropy(logits, token_tensor(&tokens[1..], 1, &device()));
        let mut sum = GradientSum::default();
        sum.add(&model, &mut loss.backward());
        for ((name, ..), gradient) in named_parameters(&model).iter().zip(sum.finish()) {
            assert!(values(gradient).iter().any(|&g| g != 0.0), "{name}");
        }
    }
}

#[test]
fn a_trace_is_consistent_and_keeps_the_last_characters() {
    let tokenizer = Tokenizer::learn(Tokens::Characters, "abcdefghijkl");
    let config = configs().nth(1).unwrap();
    let model = config.init(&device());
    let traced = ready(trace(&model, &tokenizer, "xxabcabcabcé", 3)).unwrap();
    assert_eq!((traced.step, traced.dropped), (3, 3));
    assert_eq!(traced.tokens.concat(), "bcabcabc\u{FFFD}");
    assert_eq!(traced.weights.shape, [2, 4, 9, 9]);
    assert_eq!(traced.probabilities.shape, [9, 13]);
    assert!(traced.weights.is_consistent() && traced.probabilities.is_consistent());
    for rows in [traced.weights.values.chunks(9), traced.probabilities.values.chunks(13)] {
        for row in rows {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
    assert_eq!(ready(trace(&model, &tokenizer, "", 0)).unwrap_err(), TraceError::Empty);
}

#[test]
fn a_device_agrees_with_itself() {
    let check = ready(self_check(&device(), &device())).unwrap();
    assert_eq!((check.logits, check.loss, check.gradients), (0.0, 0.0, 0.0));
    assert!(check.passes());
}

#[test]
fn other_first_weights_are_the_same_draws_on_another_scale() {
    let config = configs().next().unwrap();
    let of = |initialization| {
        let model = GptConfig { initialization, ..config }.init(&device());
        named_parameters(&model)
            .into_iter()
            .map(|(name, shape, value)| (name, shape, values(value)))
    };
    for initialization in [Initialization::Xavier, Initialization::He, Initialization::Large] {
        for ((name, shape, usual), (_, _, other)) in
            of(Initialization::Gpt2).zip(of(initialization))
        {
            if shape.len() < 2 {
                assert_eq!(usual, other, "{name}");
                continue;
            }
            let scale = other[0] / usual[0];
            let close = |(a, b): (&f32, &f32)| (a * scale - b).abs() <= 1e-5 * b.abs().max(1e-6);
            assert!(usual.iter().zip(&other).all(close), "{name}, {initialization:?}");
            let embeds = name.contains("embedding") && initialization != Initialization::Large;
            assert_eq!((scale - 1.0).abs() < 1e-5, embeds, "{name}, {initialization:?}: {scale}");
        }
    }
    for (name, shape, zero) in of(Initialization::Zero) {
        assert!(shape.len() < 2 || zero.iter().all(|value| *value == 0.0), "{name}");
    }
}
