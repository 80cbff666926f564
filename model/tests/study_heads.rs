//! What the chapter `heads` says must be true of its numbers.

mod support;

use burn::module::Param;
use burn::tensor::{Tensor, TensorData};
use support::{
    device, ready, same_bits,
    study::{TALES, ask, build, train, try_build},
    values,
};
use unroll_model::{
    AnyStudy, Gpt, GptConfig, StudySlice, cross_entropy_each, head_statistics, token_tensor,
};
use unroll_protocol::{
    Initialization,
    attention::Scoring,
    study::heads::{Cost, HeadAt, Seen, Settings, Statistics, Track, Written, ask},
};

const PROBE: &str = "said Fenn the fox, who had one";

fn study(settings: &Settings, seed: u32, text: &str) -> AnyStudy {
    build(settings.spec(seed), text)
}

fn seen(study: &mut AnyStudy, text: &str, off: &[HeadAt]) -> Result<Seen, String> {
    ask(study, ask::Seen { text: text.to_owned(), off: off.to_vec(), row: None })
}

fn cost(study: &mut AnyStudy, off: &[HeadAt]) -> Result<Cost, String> {
    ask(study, ask::Cost { off: off.to_vec() })
}

fn written(study: &mut AnyStudy, off: &[HeadAt], layer: u32, query: u32) -> Written {
    let (text, off) = (PROBE.to_owned(), off.to_vec());
    ask(study, ask::Written { text, off, layer, query }).unwrap()
}

fn track(study: &mut AnyStudy, layer: u32, head: u32) -> Track {
    ask(study, ask::Track { at: at(layer, head) }).unwrap()
}

const fn at(layer: u32, head: u32) -> HeadAt {
    HeadAt { layer, head }
}

fn all() -> Vec<HeadAt> {
    (1..=2).flat_map(|layer| (1..=4).map(move |head| at(layer, head))).collect()
}

#[test]
fn distinct_heads_appear_within_the_first_steps() {
    let mut study = study(&Settings::default(), 1, TALES);
    train(&mut study, 150);
    let seen = seen(&mut study, PROBE, &[]).unwrap();
    let alike = Statistics::alike(PROBE.chars().count()).unwrap();
    let most = |of: fn(&Statistics) -> f32| seen.statistics.iter().map(of).fold(f32::MIN, f32::max);
    let least =
        |of: fn(&Statistics) -> f32| seen.statistics.iter().map(of).fold(f32::MAX, f32::min);
    assert!(most(|s| s.previous) > 3.5 * alike.previous, "{:?}", seen.statistics);
    assert!(least(|s| s.entropy) < 0.5 * alike.entropy);
    assert!(most(|s| s.entropy) > 0.7 * alike.entropy);
    // The head that misses most costs more than its uncertainty explains.
    let costs: Vec<Cost> = all().iter().map(|&at| cost(&mut study, &[at]).unwrap()).collect();
    let dearest = costs.iter().max_by(|a, b| a.change.total_cmp(&b.change)).unwrap();
    assert!(dearest.change > 4.0 * dearest.error.unwrap(), "{dearest:?}");
    // Without any head the model is worse than without any single one.
    let none = cost(&mut study, &all()).unwrap();
    assert!(none.change > dearest.change && none.off == all());
    assert_eq!((none.windows, none.tokens), (16, 1024));
}

/// The statistics again, from the weights of the trace, in `f64`.
fn by_hand(weights: &[f32], length: usize) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for query in 1..length {
        for key in 0..length {
            let a = f64::from(weights[query * length + key]);
            sums[0] -= if a > 0.0 { a * a.ln() } else { 0.0 };
            sums[1] += a * (query as f64 - key as f64);
            sums[2] += if key == 0 { a } else { 0.0 };
            sums[3] += if key + 1 == query { a } else { 0.0 };
        }
    }
    sums.map(|sum| sum / (length - 1) as f64)
}

#[test]
fn statistics_are_those_of_the_weights_on_show() {
    let mut study = study(&Settings::default(), 2, TALES);
    train(&mut study, 60);
    for text in [PROBE, "ab", &"x".repeat(64), &TALES[..64]] {
        let seen = seen(&mut study, text, &[]).unwrap();
        let length = seen.trace.tokens.len();
        for at in all() {
            let found = seen.statistics(at).unwrap();
            let place = [at.layer as usize - 1, at.head as usize - 1];
            let weights = seen.trace.weights.block(&place).unwrap();
            let found = [found.entropy, found.distance, found.first, found.previous];
            for (expected, found) in by_hand(weights, length).into_iter().zip(found) {
                assert!((expected - f64::from(found)).abs() < 1e-4, "{text}: {expected} {found}");
            }
            assert!((0.0..=(length as f32).ln() + 1e-5).contains(&found[0]));
            assert!((0.0..=length as f32).contains(&found[1]));
            assert!(found[2..].iter().all(|share| (0.0..=1.0 + 1e-5).contains(share)));
            for row in weights.chunks(length) {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn a_head_without_preference_has_the_statistics_to_compare_with() {
    let length = 9;
    let weight = |query: usize, key: usize| {
        if key > query { 0.0 } else { 1.0 / (query as f32 + 1.0) }
    };
    let cells = (0..length).flat_map(|query| (0..length).map(move |key| weight(query, key)));
    let data = TensorData::new(cells.collect::<Vec<_>>(), [1, 1, length, length]);
    let found = values(head_statistics(Tensor::from_data(data, &device())));
    let alike = Statistics::alike(length).unwrap();
    for (a, b) in found.iter().zip([alike.entropy, alike.distance, alike.first, alike.previous]) {
        assert!((a - b).abs() < 1e-5, "{found:?} {alike:?}");
    }
}

#[test]
fn heads_and_bias_add_up_to_the_layers_output_and_one_that_is_off_adds_exactly_nothing() {
    let mut study = study(&Settings::default(), 3, TALES);
    train(&mut study, 40);
    for off in [vec![], vec![at(1, 2), at(2, 4)]] {
        for layer in [1, 2] {
            let Written { heads, bias, output, .. } = written(&mut study, &off, layer, 7);
            assert_eq!(heads.shape, [4, 32]);
            for column in 0..32 {
                let sum: f32 = (0..4).map(|head| heads.values[head * 32 + column]).sum();
                assert!((sum + bias[column] - output[column]).abs() < 1e-5);
            }
            for head in 1..=4 {
                let adds = &heads.values[(head as usize - 1) * 32..][..32];
                assert_eq!(off.contains(&at(layer, head)), adds.iter().all(|&value| value == 0.0));
            }
        }
        let seen = seen(&mut study, PROBE, &off).unwrap();
        for head in all() {
            let length = seen.written.get(&[head.layer as usize - 1, head.head as usize - 1]);
            assert_eq!(off.contains(&head), length == Some(0.0), "{head}");
        }
    }
}

/// Loss of every token, with `off` off.
fn losses(model: &Gpt, off: &[HeadAt]) -> Vec<f32> {
    let tokens: Vec<u32> = (0..64).map(|i| (i * 7 + i / 5) % 20).collect();
    let inputs = token_tensor(&tokens, 2, &device());
    let logits = model.clone().without_heads(off).forward(inputs.clone());
    values(cross_entropy_each(logits, inputs))
}

#[test]
fn a_head_that_writes_nothing_costs_exactly_nothing() {
    let gpt = Settings::default().spec(4).gpt();
    let mut model =
        GptConfig { spec: gpt, vocabulary: 20, initialization: Initialization::Gpt2, seed: 4 }
            .init(&device());
    // Head 2 of layer 1 has rows 8 to 15 of W_O.
    let output = &mut model.blocks[0].attention.as_mut().unwrap().output;
    let weight = output.weight.val();
    let zero = Tensor::zeros([8, 32], &device());
    output.weight = Param::from_tensor(weight.slice_assign([8..16, 0..32], zero));
    let on = losses(&model, &[]);
    assert!(same_bits(&on, &losses(&model, &[at(1, 2)])));
    assert!(!same_bits(&on, &losses(&model, &[at(1, 3)])));
}

#[test]
fn what_a_head_costs_is_the_difference_of_two_losses() {
    let mut study = study(&Settings::default(), 5, TALES);
    let held_out = train(&mut study, 40)[1];
    let nothing = cost(&mut study, &[]).unwrap();
    assert_eq!((nothing.change, nothing.error, nothing.before), (0.0, Some(0.0), nothing.after));
    // The curve's held-out loss is measured on the same windows.
    assert_eq!(held_out, Some(nothing.before));
    for off in [vec![at(1, 1)], vec![at(2, 3)], vec![at(1, 2), at(2, 1)]] {
        let cost = cost(&mut study, &off).unwrap();
        assert!((cost.after - cost.before - cost.change).abs() < 1e-5);
        assert_eq!((cost.before, cost.step), (nothing.before, 40));
        assert!(cost.change != 0.0 && cost.error.unwrap() > 0.0);
    }
    // A head twice is one head; one the model lacks is none.
    let twice = cost(&mut study, &[at(1, 1), at(1, 1), at(9, 9)]).unwrap();
    assert_eq!(twice, cost(&mut study, &[at(1, 1)]).unwrap());
    // Asking changes nothing.
    assert_eq!(cost(&mut study, &[]).unwrap(), nothing);
}

#[test]
fn one_head_is_tracked_from_the_start_and_asking_changes_no_bit() {
    let mut asked = study(&Settings::default(), 6, TALES);
    let mut quiet = study(&Settings::default(), 6, TALES);
    for _ in 0..6 {
        train(&mut asked, 5);
        let _ = cost(&mut asked, &[at(1, 1)]).unwrap();
        let _ = seen(&mut asked, PROBE, &[at(2, 2)]).unwrap();
    }
    train(&mut quiet, 30);
    let track = track(&mut asked, 2, 3);
    assert_eq!(track.points.iter().map(|p| p.0).collect::<Vec<_>>(), [0, 5, 10, 15, 20, 25, 30]);
    assert_eq!((track.tokens, track.length), (256, 64));
    assert_eq!(track, self::track(&mut quiet, 2, 3));
    let [a, b] = [&mut asked, &mut quiet].map(|s| seen(s, PROBE, &[]).unwrap());
    assert!(same_bits(&a.trace.weights.values, &b.trace.weights.values));
    // Untrained heads look at all about alike.
    let alike = Statistics::alike(64).unwrap();
    assert!((track.points[0].1.entropy - alike.entropy).abs() < 0.02);
}

#[test]
fn a_discarded_step_is_taken_again_alike() {
    let mut study = study(&Settings::default(), 7, TALES);
    train(&mut study, 4);
    let before = seen(&mut study, PROBE, &[]).unwrap();
    assert_eq!(ready(study.advance()), StudySlice::More);
    // Half-done, the model on show is still that of step 4.
    assert_eq!(seen(&mut study, PROBE, &[]).unwrap(), before);
    assert_eq!(cost(&mut study, &[at(1, 1)]).unwrap().step, 4);
    study.discard();
    assert_eq!(study.step(), 4);
    let again = train(&mut study, 1);
    let mut other = self::study(&Settings::default(), 7, TALES);
    assert_eq!(train(&mut other, 5), again);
}

#[test]
fn one_row_with_its_arithmetic() {
    let mut study = study(&Settings::default(), 8, TALES);
    train(&mut study, 10);
    let mut seen = |row| {
        let (text, off) = (PROBE.to_owned(), Vec::new());
        ask(&mut study, ask::Seen { text, off, row }).unwrap()
    };
    // Of a head or a query that is not there, nothing is said; the rest is.
    for nowhere in [None, Some((at(3, 1), 0)), Some((at(1, 5), 0)), Some((at(1, 1), 99))] {
        assert_eq!(seen(nowhere).row, None);
    }
    let seen = seen(Some((at(2, 3), 9)));
    let row = seen.row.unwrap();
    assert_eq!((row.layer, row.head, row.query), (1, 2, 9));
    assert_eq!(row.weights, seen.trace.weights.block(&[1, 2, 9]).unwrap());
    let Scoring::Product { query, divisor, .. } = &row.scoring else { panic!() };
    assert_eq!((query.len(), *divisor), (8, 8f32.sqrt()));
}

#[test]
fn odd_input_is_taken_or_refused_with_a_sentence() {
    let refused =
        |settings: &Settings, text: &str| try_build(settings.spec(1), text).err().expect("refused");
    let three = Settings { heads: 3, ..Settings::default() };
    assert!(refused(&three, TALES).starts_with("3 heads do not divide a width of 32"));
    let odd = Settings { heads: 8, width: 40, ..Settings::default() };
    assert!(refused(&odd, TALES).contains("even width per head"));
    assert!(refused(&Settings::default(), "").contains("no text"));
    assert!(refused(&Settings::default(), "short").contains("has 5 characters"));

    let mut study = study(&Settings::default(), 9, TALES);
    train(&mut study, 2);
    // One character: a head has nothing to choose from.
    let one = seen(&mut study, "x", &[]).unwrap();
    assert_eq!((one.statistics.len(), one.trace.tokens.len()), (0, 1));
    assert_eq!(one.statistics(at(1, 1)), None);
    // Longer than the context: its end is read, and how much is left out is told.
    let long = seen(&mut study, &"abcdefgh".repeat(64), &[]).unwrap();
    assert_eq!((long.trace.tokens.len(), long.trace.dropped), (64, 448));
    assert!(seen(&mut study, "", &[]).unwrap_err().contains("at least one character"));
    // All heads off.
    let none = seen(&mut study, PROBE, &all()).unwrap();
    assert!(none.written.values.iter().all(|&length| length == 0.0));
    assert!(none.trace.probabilities.values.iter().all(|p| p.is_finite()));
    let outside = ask::Track { at: at(3, 1) };
    assert!(ask(&mut study, outside).unwrap_err().contains("2 layers of 4 heads"));
    let beyond = ask::Written { text: "ab".into(), off: vec![], layer: 1, query: 2 };
    assert!(ask(&mut study, beyond).unwrap_err().contains("no token 3"));

    // Too short to hold anything out: trained, looked at, but not measured.
    let mut short = self::study(&Settings::default(), 1, &TALES[..65]);
    train(&mut short, 6);
    assert!(cost(&mut short, &[at(1, 1)]).unwrap_err().contains("too short"));
    assert!(seen(&mut short, PROBE, &[]).is_ok());
    let track = ask::Track { at: at(1, 1) };
    assert!(ask(&mut short, track).unwrap_err().contains("too short"));
}

#[test]
fn twelve_by_twelve_can_be_built_and_trained() {
    let settings = Settings { layers: 12, heads: 12, width: 48, ..Settings::default() };
    let mut study = study(&settings, 1, TALES);
    train(&mut study, 1);
    let seen = seen(&mut study, &TALES[..64], &[]).unwrap();
    assert_eq!(seen.trace.weights.shape, [12, 12, 64, 64]);
    assert_eq!(seen.statistics.len(), 144);
    assert!(cost(&mut study, &[at(12, 12)]).unwrap().change.is_finite());
}
