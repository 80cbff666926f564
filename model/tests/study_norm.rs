//! The `norm` chapter: what its page says must be true of the numbers.

mod support;

use support::{
    ready,
    study::{TALES, ask, build, points, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::study::norm::{
    Activation, Axis, Depths, FEATURES, LAYERS, Layer, Models, Settings, Spec, Statistics, Steps,
    TRAINED_STEPS, TRIED_STEPS, ask,
};

/// Steps the page takes by itself.
const WARM: usize = 250;

fn spec(models: Models) -> Spec {
    Spec { seed: 1, models }
}

fn study(models: Models) -> AnyStudy {
    build(spec(models), TALES)
}

/// What a newcomer sees.
fn usual() -> Models {
    Settings::default().spec(1).models
}

fn with_batch(batch: u32) -> Models {
    Models::Layers { activation: Activation::Tanh, scale: 5.0, batch }
}

/// Takes `steps` steps; the values of each, NaN where nothing was measured.
fn train(study: &mut AnyStudy, steps: usize) -> Vec<Vec<f32>> {
    let value = |value: Option<f32>| value.unwrap_or(f32::NAN);
    points(study, steps).into_iter().map(|all| all.into_iter().map(value).collect()).collect()
}

fn layer_question(axis: Axis, statistics: Statistics, row: u32, factor: f32) -> ask::Layer {
    let text = "said Fenn the fox, who had one".to_owned();
    ask::Layer { text, axis, statistics, layer: 3, row, factor }
}

fn layer(study: &mut AnyStudy, axis: Axis, statistics: Statistics, row: u32) -> Layer {
    ask(study, layer_question(axis, statistics, row, 3.0)).unwrap()
}

fn depths(study: &mut AnyStudy) -> Depths {
    ask(study, ask::Depths {}).unwrap()
}

fn steps(study: &mut AnyStudy, time: u32) -> Steps {
    ask(study, ask::Steps { time }).unwrap()
}

/// Most that an output of each row moved.
fn moved(layer: &Layer) -> Vec<f32> {
    let result = layer.result.as_ref().unwrap();
    let row = FEATURES as usize;
    let both = result.output.values.chunks(row).zip(result.untouched.values.chunks(row));
    both.map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)).collect()
}

#[test]
fn pressing_a_row_moves_the_others_only_under_batch_statistics() {
    let mut study = study(usual());
    train(&mut study, 20);
    let coupled = moved(&layer(&mut study, Axis::Batch, Statistics::Batch, 2));
    assert!(coupled.iter().all(|&moved| moved > 0.01), "{coupled:?}");
    let running = moved(&layer(&mut study, Axis::Batch, Statistics::Running, 2));
    let alone = moved(&layer(&mut study, Axis::Layer, Statistics::Batch, 2));
    for (row, (running, alone)) in running.iter().zip(&alone).enumerate() {
        if row == 1 {
            assert!(*running > 0.1, "{running}");
            // The layer divides the row's own size away, but for ε.
            assert!(*alone < 1e-3, "{alone}");
        } else {
            assert_eq!((*running, *alone), (0.0, 0.0), "row {row}");
        }
    }
    let none = layer(&mut study, Axis::Batch, Statistics::Batch, 0);
    assert_eq!(none.input, none.untouched);
    assert!(moved(&none).iter().all(|&moved| moved == 0.0));
}

#[test]
fn every_number_of_the_arithmetic_multiplies_out() {
    let mut study = study(usual());
    train(&mut study, 20);
    for (axis, statistics) in [
        (Axis::Batch, Statistics::Batch),
        (Axis::Batch, Statistics::Running),
        (Axis::Layer, Statistics::Batch),
    ] {
        let layer = layer(&mut study, axis, statistics, 2);
        let result = layer.result.as_ref().unwrap();
        let (rows, columns) = (layer.input.shape[0] as usize, FEATURES as usize);
        assert_eq!((layer.examples.len(), result.gamma.len()), (rows, columns));
        for row in 0..rows {
            for column in 0..columns {
                let at = if axis == Axis::Batch { column } else { row };
                let x = layer.input.get(&[row, column]).unwrap();
                let averaged: Vec<f32> = match axis {
                    Axis::Batch => {
                        (0..rows).map(|r| layer.input.get(&[r, column]).unwrap()).collect()
                    }
                    Axis::Layer => layer.input.block(&[row]).unwrap().to_vec(),
                };
                let count = averaged.len() as f32;
                let mean = averaged.iter().sum::<f32>() / count;
                let variance =
                    averaged.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / count;
                if statistics == Statistics::Batch {
                    let close = |a: f32, b: f32| (a - b).abs() <= 1e-4 * (1.0 + b.abs());
                    assert!(close(mean, result.mean[at]), "{mean} {}", result.mean[at]);
                    assert!(close(variance, result.variance[at]), "{variance}");
                }
                let normalized = (x - result.mean[at]) / (result.variance[at] + 1e-5).sqrt();
                assert!((normalized - result.normalized.get(&[row, column]).unwrap()).abs() < 1e-4);
                let output = result.gamma[column] * normalized + result.beta[column];
                assert!((output - result.output.get(&[row, column]).unwrap()).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn normalization_keeps_a_badly_begun_network_learning() {
    let mut study = study(usual());
    let before = depths(&mut study);
    for layer in 0..LAYERS as usize {
        let stuck = |version: usize| before.versions[version][layer].stuck;
        assert!(stuck(0) > 0.5, "layer {layer} of the plain network: {}", stuck(0));
        assert!(stuck(1) < 0.15 && stuck(2) < 0.15, "{} {}", stuck(1), stuck(2));
    }
    let losses = train(&mut study, WARM);
    let mean =
        |version: usize| losses[WARM - 100..].iter().map(|l| l[version]).sum::<f32>() / 100.0;
    assert!(
        mean(1) < mean(0) - 0.2 && mean(2) < mean(0) - 0.2,
        "{} {} {}",
        mean(0),
        mean(1),
        mean(2)
    );
    let total: f32 = before.versions[0][0].counts.iter().sum();
    assert_eq!(total as u32, before.examples * FEATURES);
}

#[test]
fn a_small_beginning_leaves_nothing_in_the_plain_networks_upper_layers() {
    let models = Models::Layers { activation: Activation::Relu, scale: 0.2, batch: 16 };
    let before = depths(&mut study(models));
    let deviation = |version: usize| before.versions[version].last().unwrap().deviation;
    assert!(deviation(0) < 1e-3, "{}", deviation(0));
    assert!(deviation(1) > 0.3 && deviation(2) > 0.3, "{} {}", deviation(1), deviation(2));
}

#[test]
fn a_batch_of_one_is_explained() {
    let mut study = study(with_batch(1));
    assert!(study.started().notes.iter().any(|note| note.contains("variance is 0")));
    let values = points(&mut study, 1).remove(0);
    assert!(values[0].is_some() && values[1].is_none() && values[2].is_some());
    let one = layer(&mut study, Axis::Batch, Statistics::Batch, 1);
    assert!(one.result.unwrap_err().contains("batch of at least 2"));
    assert_eq!(one.input.shape, [1, FEATURES]);
    assert!(layer(&mut study, Axis::Batch, Statistics::Running, 1).result.is_ok());
    assert!(layer(&mut study, Axis::Layer, Statistics::Batch, 1).result.is_ok());
    let refused = ask(&mut study, layer_question(Axis::Layer, Statistics::Batch, 2, 3.0));
    assert!(refused.unwrap_err().contains("there is 1 in the batch"));
}

#[test]
fn outside_the_gradient_b_grows_without_end_and_the_loss_stays() {
    let mut study = study(Models::Outside);
    let values = train(&mut study, WARM);
    // Losses, lengths of b, length of β.
    let (first, last) = (&values[0], &values[WARM - 1]);
    assert!((last[0] - first[0]).abs() < 1e-3, "{} {}", first[0], last[0]);
    assert!(last[3] > 0.9 * WARM as f32 * first[3], "b grows as evenly as it began: {}", last[3]);
    assert!(values.windows(2).all(|pair| pair[1][3] > pair[0][3]));
    assert!(
        last[4] < 1e-3 && last[5] < 1e-3,
        "with the mean known b stays: {} {}",
        last[4],
        last[5]
    );
    assert!((last[1] - first[1]).abs() < 1e-4);
    assert!(last[2] < first[2] - 0.5, "β learns: {} {}", first[2], last[2]);
    let offsets = ask(&mut study, ask::Offsets {}).unwrap();
    let [past, through, after] = &offsets[..] else { panic!("three") };
    assert!(past.promised > 10.0 && (past.first_loss - past.loss).abs() < 1e-3);
    assert!(through.promised < 1e-6);
    let kept = after.first_loss - after.loss;
    assert!(kept > 0.5 && kept <= after.promised, "{kept} {}", after.promised);
}

#[test]
fn a_recurrent_network_needs_other_statistics_at_every_step() {
    let mut study = study(Models::Time);
    train(&mut study, WARM);
    let with = steps(&mut study, 1);
    let (trained, tried) = (TRAINED_STEPS as usize, TRIED_STEPS as usize);
    assert_eq!(with.own.len(), trained, "no statistics beyond the trained steps");
    assert_eq!((with.fixed.len(), with.layer.len()), (tried, tried));
    assert!(with.held_out);
    let at = |step: usize| -> f32 {
        let units = with.variance.shape[0] as usize;
        (0..units).map(|unit| with.variance.get(&[unit, step]).unwrap()).sum::<f32>() / units as f32
    };
    assert!(at(trained - 1) > 1.5 * at(0), "{} {}", at(0), at(trained - 1));
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let (own, fixed) = (mean(&with.own[1..]), mean(&with.fixed[1..trained]));
    assert!(fixed > own + 0.15, "{fixed} {own}");
    // At step 1 itself they are the right ones.
    assert!((with.fixed[0] - with.own[0]).abs() < 1e-6);
    let beyond = (mean(&with.fixed[trained..]), mean(&with.layer[trained..]));
    assert!(beyond.1 < beyond.0 - 0.15, "{beyond:?}");
    assert!(steps(&mut study, 0).fixed.is_empty());
    assert!(ask(&mut study, ask::Steps { time: 13 }).is_err());
}

#[test]
fn the_same_seed_gives_the_same_bits_whatever_is_asked_or_dropped_in_between() {
    for models in [usual(), Models::Outside, Models::Time] {
        let (mut a, mut b) = (study(models.clone()), study(models.clone()));
        train(&mut a, 3);
        train(&mut b, 1);
        match models {
            Models::Layers { .. } => {
                ask(&mut b, layer_question(Axis::Batch, Statistics::Batch, 1, 5.0)).map(drop)
            }
            Models::Outside => ask(&mut b, ask::Offsets {}).map(drop),
            Models::Time => ask(&mut b, ask::Steps { time: 2 }).map(drop),
        }
        .unwrap();
        let half = ready(b.advance());
        if half == StudySlice::More {
            b.discard();
            train(&mut b, 1);
        }
        train(&mut b, 1);
        assert_eq!((a.step(), b.step()), (3, 3));
        assert_eq!(train(&mut a, 1), train(&mut b, 1));
    }
}

#[test]
fn bad_input_is_refused_in_words() {
    for models in [usual(), Models::Outside, Models::Time] {
        assert!(try_build(spec(models.clone()), "").err().unwrap().contains("no text"));
        assert!(try_build(spec(models.clone()), "x").is_err());
        // Texts of a single character, and of unknown ones only.
        let mut same = build(spec(models), &"a".repeat(60));
        assert!(same.started().notes.iter().any(|note| note.contains("nothing to predict")));
        train(&mut same, 2);
    }
    assert!(try_build(spec(with_batch(0)), TALES).is_err());
    let mut study = study(usual());
    for sentence in ["", "a", "𝄞𝄞𝄞𝄞𝄞𝄞"] {
        let question = ask::Layer {
            text: sentence.to_owned(),
            axis: Axis::Layer,
            statistics: Statistics::Batch,
            layer: 1,
            row: 0,
            factor: 1.0,
        };
        let layer = ask(&mut study, question).expect(sentence);
        assert_eq!(layer.examples.len(), 16);
        assert_eq!(layer.borrowed, if sentence.chars().count() < 4 { 16 } else { 13 });
    }
    let mut question = layer_question(Axis::Batch, Statistics::Batch, 17, 1.0);
    assert!(ask(&mut study, question).is_err());
    question = layer_question(Axis::Batch, Statistics::Batch, 1, f32::NAN);
    assert!(ask(&mut study, question).is_err());
    assert!(ask(&mut study, ask::Offsets {}).is_err());
    assert!(study.set_learning_rate(f32::NAN).is_err());
}
