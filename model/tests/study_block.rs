//! The chapter `block`: what it says must be true of the numbers.

mod support;

use support::{
    ready, same_bits,
    study::{TALES, ask, build, points, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Ask,
    architecture::Activation,
    study::block::{
        self, Depths, Ensemble, Growth, Norm, Settings, Shown, Source, Stream, Without, ask,
    },
};

fn study(settings: &Settings) -> AnyStudy {
    build(settings.spec(1), TALES)
}

/// Takes `steps` steps; the losses of both models at each.
fn train(study: &mut AnyStudy, steps: usize) -> Vec<[f32; 2]> {
    points(study, steps).iter().map(|values| [0, 1].map(|model| values[model].unwrap())).collect()
}

fn depths(study: &mut AnyStudy) -> Vec<Depths> {
    ask(study, ask::Depths {}).unwrap()
}

fn stream(study: &mut AnyStudy, shown: Shown, position: u32, token: u32) -> Stream {
    let text = "the cat sat on the mat".to_owned();
    ask(study, ask::Stream { text, shown, position, token }).unwrap()
}

fn ensemble(study: &mut AnyStudy, dropout: f32) -> Ensemble {
    let text = "the cat sat on the mat".to_owned();
    ask(study, ask::Ensemble { text, position: 9, dropout }).unwrap()
}

fn refused<Q: Ask>(study: &mut AnyStudy, question: Q) -> String {
    ask(study, question).err().expect("refused")
}

/// Mean loss of both models over the last steps.
fn late(losses: &[[f32; 2]]) -> [f32; 2] {
    let last = &losses[losses.len() - 50..];
    [0, 1].map(|model| last.iter().map(|loss| loss[model]).sum::<f32>() / last.len() as f32)
}

#[test]
fn contributions_add_up_to_the_logit_in_every_architecture() {
    for &norm in Norm::ALL {
        for &without in Without::ALL {
            for &activation in Activation::ALL {
                let mut study =
                    study(&Settings { norm, without, activation, ..Settings::default() });
                train(&mut study, 6);
                for shown in [Shown::Full, Shown::Cut] {
                    for (position, token) in [(0, 0), (3, 5), (12, 1)] {
                        let found = stream(&mut study, shown, position, token);
                        let terms: f64 = found.contributions.iter().map(|c| f64::from(*c)).sum();
                        let sum = terms + f64::from(found.offset);
                        let difference = (sum - f64::from(found.logit)).abs();
                        assert!(difference < 1e-4, "{norm:?} {without:?} {shown:?}: {difference}");
                        add_up(&found);
                    }
                }
            }
        }
    }
}

/// The terms at the position are the whole stream there.
fn add_up(found: &Stream) {
    let (count, width) = (found.sources.len(), found.gamma.len());
    assert_eq!(found.terms.values.len(), count * width);
    let whole =
        (0..width).map(|i| (0..count).map(|t| found.terms.values[t * width + i]).sum::<f32>());
    let length = whole.map(|x| x * x).sum::<f32>().sqrt();
    assert!((length - found.whole[found.position as usize]).abs() < 1e-3 * (1.0 + length));
    let total: f32 = found.probabilities.iter().sum();
    assert!((total - 1.0).abs() < 1e-5);
}

#[test]
fn what_is_left_out_leaves_no_term() {
    let sources = |without, norm| {
        let mut study = study(&Settings { without, norm, ..Settings::default() });
        let full = stream(&mut study, Shown::Full, 0, 0).sources;
        (full, stream(&mut study, Shown::Cut, 0, 0))
    };
    let (full, cut) = sources(Without::Residuals, Norm::Pre);
    assert_eq!(full.len(), 14);
    assert_eq!(cut.sources, [Source::FeedForward(6)]);
    let (_, cut) = sources(Without::Attention, Norm::Pre);
    assert!(!cut.sources.iter().any(|s| matches!(s, Source::Attention(_))));
    assert_eq!(cut.sources.len(), 8);
    let (_, cut) = sources(Without::FeedForward, Norm::Pre);
    assert!(!cut.sources.iter().any(|s| matches!(s, Source::FeedForward(_))));
    let (full, cut) = sources(Without::Norms, Norm::Post);
    assert_eq!(full.last(), Some(&Source::NormOffsets));
    assert!(cut.deviation.is_none() && cut.offset == 0.0);
    assert_eq!(cut.sources.len(), 14);
    // Without attention no token hears of another: its stream is its own.
    let mut study = study(&Settings { without: Without::Attention, ..Settings::default() });
    train(&mut study, 5);
    let mut probabilities = |text: &str, shown| {
        let (text, position) = (text.to_owned(), 3);
        ask(&mut study, ask::Stream { text, shown, position, token: 0 }).unwrap().probabilities
    };
    assert!(same_bits(&probabilities("abc", Shown::Cut), &probabilities("xyc", Shown::Cut)));
    assert!(!same_bits(&probabilities("abc", Shown::Full), &probabilities("xyc", Shown::Full)));
}

#[test]
fn models_begin_with_the_same_weights_and_see_the_same_batches() {
    // Switching off what makes no difference at the start: with all of it, losses are the same.
    let mut first = study(&Settings { without: Without::Norms, ..Settings::default() });
    let full = train(&mut first, 4).iter().map(|loss| loss[0]).collect::<Vec<_>>();
    for &without in Without::ALL {
        let mut other = study(&Settings { without, ..Settings::default() });
        let again: Vec<f32> = train(&mut other, 4).iter().map(|loss| loss[0]).collect();
        assert!(same_bits(&full, &again), "the full model is another beside {without:?}");
    }
}

#[test]
fn without_residuals_the_gradient_dies_and_the_loss_stands() {
    let mut study = study(&Settings::default());
    let start = depths(&mut study);
    assert_eq!(start[0].norms.len(), 7);
    let ratio = |depths: &Depths| depths.norms[0] / depths.norms[6];
    assert!(ratio(&start[0]) > 0.5, "{start:?}");
    assert!(ratio(&start[1]) < 0.05, "{start:?}");
    // What the chapter shows when it opens, and a little later.
    train(&mut study, 100);
    let early = depths(&mut study);
    assert!(ratio(&early[0]) > 0.5 && ratio(&early[1]) < 0.02, "{early:?}");
    let losses = train(&mut study, 200);
    let later = depths(&mut study);
    assert!(ratio(&later[0]) > 0.5 && ratio(&later[1]) < 1e-4, "{later:?}");
    assert!(later[1].norms.windows(2).all(|pair| pair[0] < pair[1]), "{later:?}");
    let [full, cut] = late(&losses);
    assert!(full < 2.5 && cut > 2.9, "{full} {cut}");
}

#[test]
fn a_model_without_norms_or_attention_trails() {
    for (without, at_least) in [(Without::Norms, 0.1), (Without::Attention, 0.02)] {
        let mut study = study(&Settings { without, ..Settings::default() });
        let [full, cut] = late(&train(&mut study, 350));
        assert!(cut > full + at_least, "{without:?}: {full} {cut}");
    }
}

#[test]
fn the_mean_of_sub_networks_is_nearer_to_the_full_one_than_they_are() {
    let mut study = study(&Settings::default());
    train(&mut study, 150);
    let difference =
        |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>();
    for dropout in [0.1, 0.2, 0.5] {
        let found = ensemble(&mut study, dropout);
        let rows: Vec<&[f32]> = found.each.values.chunks(found.full.len()).collect();
        assert_eq!(rows.len(), block::MASKS as usize);
        assert!(rows.windows(2).all(|pair| !same_bits(pair[0], pair[1])), "masks are the same");
        let each =
            rows.iter().map(|row| difference(row, &found.full)).sum::<f32>() / rows.len() as f32;
        let mean = difference(&found.mean, &found.full);
        assert!(mean < 0.8 * each, "at {dropout}: {mean}, each {each}");
    }
    let none = ensemble(&mut study, 0.0);
    for row in none.each.values.chunks(none.full.len()) {
        assert!(difference(row, &none.full) < 1e-5);
    }
    assert_eq!(none.position, 8);
}

#[test]
fn neurons_put_out_what_their_curve_says() {
    for &activation in Activation::ALL {
        let mut study = study(&Settings { activation, ..Settings::default() });
        train(&mut study, 3);
        let question = |layer| ask::Neurons {
            text: "the cat".to_owned(),
            shown: Shown::Full,
            position: 0,
            layer,
        };
        let found = ask(&mut study, question(2)).unwrap();
        assert_eq!(found.before.len(), 4 * block::WIDTH as usize);
        if activation == Activation::Relu {
            let relu: Vec<f32> = found.before.iter().map(|x| x.max(0.0)).collect();
            assert_eq!(found.after, relu);
        }
        if activation == Activation::Solu {
            let sum: f32 = found.before.iter().map(|x| x.exp()).sum();
            for (x, y) in found.before.iter().zip(&found.after) {
                assert!((x * x.exp() / sum - y).abs() < 1e-6);
            }
        }
        let forms = found.curves[1].iter().zip(&found.curves[2]);
        let difference = forms.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference > 1e-5 && difference < 1e-3, "{difference}");
        assert!(refused(&mut study, question(7)).contains("There is no block 7"));
        assert!(refused(&mut study, question(0)).contains("There is no block 0"));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_asking_changes_nothing() {
    let mut one = study(&Settings::default());
    let mut two = study(&Settings::default());
    let before = train(&mut one, 5);
    stream(&mut one, Shown::Cut, 0, 0);
    depths(&mut one);
    ensemble(&mut one, 0.5);
    // Half a step, dropped and taken again.
    assert_eq!(ready(one.advance()), StudySlice::More);
    one.discard();
    let after = train(&mut one, 5);
    assert_eq!([before, after].concat(), train(&mut two, 10));
    assert_eq!(depths(&mut one), depths(&mut two));
    let full = stream(&mut one, Shown::Full, 0, 0);
    assert_eq!(full, stream(&mut two, Shown::Full, 0, 0));
}

fn growth(study: &mut AnyStudy) -> Growth {
    ask(study, ask::Growth {}).unwrap()
}

#[test]
fn measured_lengths_are_those_of_the_stream() {
    for norm in [Norm::Pre, Norm::Post] {
        let mut study = study(&Settings { norm, ..Settings::default() });
        let mut expected = Vec::new();
        for steps in [0, 1, 7, 8] {
            train_some(&mut study, steps);
            let text = growth(&mut study).passage;
            assert_eq!(text.chars().count(), block::CONTEXT as usize);
            let question = ask::Stream { text, shown: Shown::Full, position: 0, token: 0 };
            let stream = ask(&mut study, question).unwrap();
            let rows = stream.sizes.values.chunks(stream.tokens.len());
            let mean = |row: &[f32]| row.iter().sum::<f32>() / row.len() as f32;
            expected.push((study.step(), rows.map(mean).collect::<Vec<f32>>()));
            assert_eq!(growth(&mut study).sources, stream.sources);
            let found = growth(&mut study);
            let (step, lengths) = found.points().next_back().unwrap();
            assert_eq!(step, study.step());
            close(lengths, &expected.last().unwrap().1);
        }
        // Asked later, the measured steps still say the same.
        let found = growth(&mut study);
        assert_eq!(found.steps, Vec::from_iter(0..=16));
        for (step, lengths) in expected {
            let (at, measured) = found.points().nth(step as usize).unwrap();
            assert_eq!(at, step);
            close(measured, &lengths);
        }
    }
}

fn close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    assert!(
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6),
        "{found:?} {expected:?}"
    );
}

fn train_some(study: &mut AnyStudy, steps: usize) {
    if steps > 0 {
        train(study, steps);
    }
}

#[test]
fn a_dropped_step_leaves_the_lengths_as_they_were() {
    let mut study = study(&Settings::default());
    train(&mut study, 8);
    let before = growth(&mut study);
    // The measurement of step 8, then the gradients of one model.
    assert_eq!(ready(study.advance()), StudySlice::More);
    assert_eq!(ready(study.advance()), StudySlice::More);
    study.discard();
    assert_eq!(growth(&mut study), before);
    train(&mut study, 8);
    let mut straight = self::study(&Settings::default());
    train(&mut straight, 16);
    assert_eq!(growth(&mut study), growth(&mut straight));
}

#[test]
fn layers_start_small_and_wake() {
    let mut study = study(&Settings::default());
    train(&mut study, 80);
    let found = growth(&mut study);
    let layers = found.sources.iter().position(|s| *s == Source::Attention(1)).unwrap();
    for (step, lengths) in found.points().take(8) {
        println!("{step:4} {lengths:.3?}");
    }
    let first = found.points().next().unwrap().1;
    let last = found.points().next_back().unwrap().1;
    let longest = |lengths: &[f32]| lengths.iter().copied().fold(0.0, f32::max);
    assert!(longest(&first[layers..]) < 0.5 * longest(&first[..layers]), "{first:?}");
    assert!(first[layers..].iter().zip(&last[layers..]).any(|(a, b)| *b > 2.0 * a), "{last:?}");
}

/// What measuring costs, beside training.
#[test]
#[ignore = "a measurement of time"]
fn measuring_is_cheap() {
    use std::time::Instant;
    let mut study = study(&Settings::default());
    train(&mut study, 20);
    let start = Instant::now();
    train(&mut study, 40);
    let steps = start.elapsed() / 40;
    let start = Instant::now();
    for _ in 0..40 {
        growth(&mut study);
    }
    let share = (start.elapsed() / 40).as_secs_f64() / steps.as_secs_f64();
    println!("one measurement takes {share:.3} of a step");
    assert!(share < 0.03);
}

#[test]
fn nonsense_is_answered_with_a_sentence() {
    let mut study = study(&Settings::default());
    let question = |text: &str, position, token| ask::Stream {
        text: text.to_owned(),
        shown: Shown::Full,
        position,
        token,
    };
    assert!(refused(&mut study, question("", 0, 0)).contains("no text"));
    assert!(refused(&mut study, question("the", 0, 4000)).contains("There is no token 4000"));
    let text = "the".to_owned();
    let off = ask::Ensemble { text: text.clone(), position: 0, dropout: f32::NAN };
    assert!(refused(&mut study, off).contains("no share"));
    // Long texts are read from their end, unknown characters as unknown; positions end with them.
    for text in ["\u{1d11e}\u{1d11e}", &"a long sentence ".repeat(40)] {
        let found = ask(&mut study, question(text, 24, 0)).unwrap();
        assert!(found.tokens.len() <= block::CONTEXT as usize);
        assert_eq!(found.position as usize, found.tokens.len() - 1);
        assert_eq!(found.tokens.len() + found.dropped as usize, text.chars().count());
    }
    let without = Settings { without: Without::FeedForward, ..Settings::default() };
    let mut study = self::study(&without);
    let none = ask::Neurons { text, shown: Shown::Cut, position: 0, layer: 1 };
    assert!(refused(&mut study, none).contains("no feed-forward layers"));
    assert!(try_build(without.spec(1), "").is_err());
    assert!(try_build(without.spec(1), "too short").is_err());
    assert!(study.set_learning_rate(f32::NAN).is_err());
}
