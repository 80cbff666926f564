//! Properties of attention and of every architecture that hold whatever the weights are.

mod support;

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};
use support::{TEXT, device, ready, relative_difference, same_bits, step, tiny, values};
use unroll_model::{Gpt, GptConfig, Mask, Trainer, parameter_count, token_tensor, trace};
use unroll_protocol::{
    Architecture, ExperimentSpec, GptSpec, Initialization, Limits,
    architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    study::heads::HeadAt,
};

const VOCABULARY: usize = 11;
const LENGTH: usize = 9;

/// Every architecture there is, with a band of 3.
fn architectures() -> Vec<Architecture> {
    let mut all = Vec::new();
    let feed_forwards = Activation::ALL.iter().map(|&a| Some(a)).chain([None]);
    let feed_forwards: Vec<_> = feed_forwards.collect();
    let norms = NormPlacement::ALL.iter().map(|&norm| (norm, NormKind::Layer));
    let norms: Vec<_> = norms.chain([(NormPlacement::Post, NormKind::Rms)]).collect();
    for &positions in Positions::ALL {
        for &mask in MaskKind::ALL {
            for &(norm, norm_kind) in &norms {
                for &feed_forward in &feed_forwards {
                    for flags in 0..8 {
                        all.push(Architecture {
                            positions,
                            mask,
                            band: 3,
                            norm,
                            residual: flags & 1 == 0,
                            attention: flags & 2 == 0,
                            scaled: flags & 4 == 0,
                            feed_forward,
                            norm_kind,
                        });
                    }
                }
            }
        }
    }
    all
}

fn spec(architecture: Architecture) -> GptSpec {
    GptSpec { layers: 2, heads: 2, width: 8, context: LENGTH as u32, architecture, ..tiny().gpt }
}

/// A model whose weights are large enough for attention far from uniform.
fn model(architecture: Architecture) -> Gpt {
    struct Larger;

    impl ModuleMapper for Larger {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            if D == 2 { param.map(|value| value * 15.0) } else { param }
        }
    }

    let config = GptConfig {
        spec: spec(architecture),
        vocabulary: VOCABULARY,
        initialization: Initialization::Gpt2,
        seed: 5,
    };
    config.init(&device()).map(&mut Larger)
}

fn tokens() -> Vec<u32> {
    (0..LENGTH as u32).map(|i| (i * i * 3 + 2 * i + 1) % VOCABULARY as u32).collect()
}

fn logits(model: &Gpt, tokens: &[u32]) -> Vec<f32> {
    values(model.forward(token_tensor(tokens, 1, &device())))
}

#[test]
fn rows_sum_to_1_and_blocked_cells_are_exactly_0() {
    for architecture in architectures().into_iter().filter(|a| a.attention) {
        let model = model(architecture);
        let input = token_tensor(&[tokens(), tokens()].concat(), 2, &device());
        let traced = model.forward_traced(input, None);
        let mask = model.mask(LENGTH);
        for layer in traced.layers {
            let weights = values(layer.attention.unwrap().weights);
            assert_eq!(weights.len(), 2 * 2 * LENGTH * LENGTH);
            for (row, weights) in weights.chunks(LENGTH).enumerate() {
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-5, "{architecture:?}: a row sums to {sum}");
                for (key, &weight) in weights.iter().enumerate() {
                    let allowed = mask.allows(row % LENGTH, key);
                    assert!(weight.is_finite() && (allowed || weight == 0.0), "{architecture:?}");
                }
            }
        }
    }
}

#[test]
fn no_architecture_with_a_causal_mask_leaks() {
    for architecture in architectures().into_iter().filter(|a| a.mask != MaskKind::Full) {
        let model = model(architecture);
        let before = logits(&model, &tokens());
        for changed in 1..LENGTH {
            let mut other = tokens();
            other[changed] = (other[changed] + 4) % VOCABULARY as u32;
            let after = logits(&model, &other);
            let earlier = ..changed * VOCABULARY;
            assert!(same_bits(&before[earlier], &after[earlier]), "{architecture:?} leaks");
        }
    }
}

#[test]
fn looking_both_ways_does_leak() {
    let model = model(Architecture { mask: MaskKind::Full, ..Architecture::GPT2 });
    let before = logits(&model, &tokens());
    let mut other = tokens();
    other[LENGTH - 1] = (other[LENGTH - 1] + 4) % VOCABULARY as u32;
    let after = logits(&model, &other);
    assert!(relative_difference(&before[..VOCABULARY], &after[..VOCABULARY]) > 1e-3);
}

/// The tokens in another order, and where each one went.
fn shuffled() -> (Vec<u32>, Vec<usize>) {
    let order: Vec<usize> = (0..LENGTH).map(|i| (i * 4 + 3) % LENGTH).collect();
    (order.iter().map(|&i| tokens()[i]).collect(), order)
}

/// The largest difference between outputs of shuffled tokens and shuffled outputs.
fn order_matters(architecture: Architecture) -> f32 {
    let model = model(architecture);
    let (other, order) = shuffled();
    let before = logits(&model, &tokens());
    let moved: Vec<f32> =
        order.iter().flat_map(|&i| before[i * VOCABULARY..][..VOCABULARY].to_vec()).collect();
    relative_difference(&moved, &logits(&model, &other))
}

#[test]
fn without_positions_and_causal_mask_order_does_not_matter() {
    let unordered =
        Architecture { positions: Positions::None, mask: MaskKind::Full, ..Architecture::GPT2 };
    for architecture in architectures() {
        if architecture.positions == Positions::None && architecture.mask == MaskKind::Full {
            let difference = order_matters(architecture);
            assert!(difference < 1e-5, "{architecture:?}: {difference}");
        }
    }
    for &positions in &Positions::ALL[1..] {
        let difference = order_matters(Architecture { positions, ..unordered });
        assert!(difference > 1e-3, "{positions:?}: {difference}");
    }
    let causal = Architecture { mask: MaskKind::Causal, ..unordered };
    assert!(order_matters(causal) > 1e-3);
}

#[test]
fn a_band_wider_than_the_sequence_is_causal() {
    for architecture in architectures().into_iter().filter(|a| a.mask == MaskKind::Causal) {
        let causal = logits(&model(architecture), &tokens());
        for band in [LENGTH as u32, 100] {
            let band = Architecture { mask: MaskKind::Band, band, ..architecture };
            assert!(same_bits(&causal, &logits(&model(band), &tokens())), "{architecture:?}");
        }
    }
    let causal = model(Architecture::GPT2);
    let narrow = Architecture { mask: MaskKind::Band, band: 2, ..Architecture::GPT2 };
    assert!(!same_bits(&logits(&causal, &tokens()), &logits(&model(narrow), &tokens())));
}

#[test]
fn a_mask_for_one_pass_is_as_good_as_the_models_own() {
    let causal = model(Architecture::GPT2);
    let full = model(Architecture { mask: MaskKind::Full, ..Architecture::GPT2 });
    let input = || token_tensor(&tokens(), 1, &device());
    let opened = values(causal.forward_under(input(), Mask::full(LENGTH, LENGTH)));
    assert!(same_bits(&opened, &values(full.forward(input()))));
    let closed = values(full.forward_under(input(), Mask::causal(LENGTH)));
    assert!(same_bits(&closed, &values(causal.forward(input()))));
}

#[test]
fn a_head_that_is_off_contributes_exactly_0() {
    for positions in Positions::ALL {
        let model = model(Architecture { positions: *positions, ..Architecture::GPT2 });
        let input = || token_tensor(&tokens(), 1, &device());
        // Heads that no model has are none of it.
        let off = [(2, 1), (2, 8), (10, 1), (0, 1)].map(|(layer, head)| HeadAt { layer, head });
        let without = model.clone().without_heads(&off);
        let traced = without.forward_traced(input(), None);
        let (attention, computed) = (
            without.blocks[1].attention.as_ref().unwrap(),
            traced.layers[1].attention.as_ref().unwrap(),
        );
        let [_, _, length, width] = computed.mixed.dims();
        let written = attention.contributions(computed);
        assert!(values(written.clone().narrow(1, 0, 1)).iter().all(|&value| value == 0.0));
        assert!(values(written.narrow(1, 1, 1)).iter().any(|&value| value != 0.0));
        // The same as setting the rows of W_O that read it to 0.
        let mut silent = model.clone();
        let output = &mut silent.blocks[1].attention.as_mut().unwrap().output.weight;
        let mut weight = values(output.val());
        weight[..width * 8].fill(0.0);
        let data = TensorData::new(weight, [8, 8]);
        *output = Param::from_tensor(Tensor::from_data(data, &device()));
        let found = values(traced.logits);
        assert!(same_bits(&values(silent.forward(input())), &found));
        assert!(same_bits(&values(without.forward(input())), &found));
        // Written token by token, with a cache, it is the same model.
        let mut cache = without.cache(input().narrow(1, 0, length - 1));
        let last = input().narrow(1, length - 1, 1);
        let row = values(without.forward_next(last, length - 1, &mut cache).logits);
        let whole = &found[(length - 1) * VOCABULARY..];
        assert!(row.iter().zip(whole).all(|(a, b)| (a - b).abs() < 1e-5));
        assert_eq!(found.len(), length * VOCABULARY);
        // With all heads off, only the output projection's bias is left.
        let all = HeadAt::all((2, 2));
        let traced = model.clone().without_heads(&all).forward_traced(input(), None);
        for (layer, block) in traced.layers.iter().zip(&model.blocks) {
            let bias =
                values(block.attention.as_ref().unwrap().output.bias.as_ref().unwrap().val());
            let output = values(layer.attention_output.clone().unwrap());
            assert!(output.chunks(bias.len()).all(|row| row == bias));
        }
    }
}

#[test]
fn every_architecture_trains_is_counted_and_comes_back_from_a_checkpoint() {
    let all = architectures();
    assert_eq!(all.len(), 6 * 3 * 4 * 5 * 8);
    for architecture in all {
        let gpt = spec(architecture);
        assert_eq!(gpt.validate(&Limits::TAB), Ok(()));
        let experiment = ExperimentSpec { gpt, batch: 2, ..tiny() };
        let mut trainer = Trainer::new(&experiment, TEXT, &device()).unwrap();
        let vocabulary = trainer.tokenizer().len();
        let count = parameter_count(&trainer.model());
        assert_eq!(count, gpt.parameter_count(vocabulary), "{architecture:?}");
        let loss = step(&mut trainer);
        assert!(loss.is_finite() && loss > 0.0, "{architecture:?}: a loss of {loss}");
        let saved = ready(trainer.checkpoint()).unwrap();
        let mut restored = Trainer::from_checkpoint(&saved, TEXT, &device()).unwrap();
        assert_eq!(ready(restored.checkpoint()).unwrap(), saved, "{architecture:?}");
        let (next, again) = (step(&mut trainer), step(&mut restored));
        assert_eq!(next.to_bits(), again.to_bits(), "{architecture:?}");
        assert!(next.is_finite());
        // The lab's own trace works too.
        let shown = ready(trace(&trainer.model(), trainer.tokenizer(), "the cat", 2)).unwrap();
        assert_eq!(shown.tokens.len(), 7);
    }
}
