//! What the chapter `alignment` says must be true of its numbers.

mod support;

use std::collections::BTreeSet;

use support::{
    device, ready, same_bits,
    study::{ask, build, train, try_build},
    values,
};
use unroll_model::{AnyStudy, END, Seq2seqConfig, Source as Sources, StudySlice, token_tensor};
use unroll_protocol::{
    attention::Scoring,
    study::alignment::{Lengths, Output, Reading, Settings, Source, ask},
    transduction::{AttentionKind, Candidate, MOST_BEAM, PairTask},
};

const ATTENTIONS: [AttentionKind; 4] =
    [AttentionKind::Additive, AttentionKind::Dot, AttentionKind::General, AttentionKind::Concat];

fn study(settings: Settings, seed: u32) -> AnyStudy {
    build(settings.spec(seed), "")
}

fn read(study: &mut AnyStudy, source: Source) -> Result<Reading, String> {
    ask(study, ask::Reading { source })
}

fn own(text: &str) -> Source {
    Source::Own(text.to_owned())
}

/// Mean weight on the source character that the reversed output repeats.
fn on_the_diagonal(study: &mut AnyStudy) -> f32 {
    let mut sum = 0.0;
    for number in 1..=10 {
        let reading = read(study, Source::Example(number)).unwrap();
        let (length, output) = (reading.source.len(), &reading.outputs[0]);
        let weights = output.weights.as_ref().unwrap();
        let rows = output.tokens.len().min(length);
        let row = |i| weights.get(&[i, length - 1 - i]).unwrap();
        sum += (0..rows).map(row).sum::<f32>() / rows as f32;
    }
    sum / 10.0
}

#[test]
fn the_line_appears_and_the_model_without_attention_trails() {
    let mut study = study(Settings::default(), 1);
    let start = train(&mut study, 1);
    assert!(start[2].unwrap() < 0.1 && start[3].unwrap() < 0.1, "{start:?}");
    assert!(on_the_diagonal(&mut study) < 0.15, "one in eight by chance");
    // What the chapter does by itself when it opens.
    let warm = train(&mut study, 99);
    let line = on_the_diagonal(&mut study);
    assert!(line > 0.25, "twice as much as by chance, though some outputs still slip: {line}");
    assert!(warm[2].unwrap() > warm[3].unwrap() + 0.2, "{warm:?}");
    // It learns by jumps: what counts is when it gets there.
    let mut trained = warm;
    while study.step() < 300 && trained[2].unwrap() < 0.95 {
        trained = train(&mut study, 25);
    }
    assert!(trained[2].unwrap() >= 0.95, "{trained:?}");
    assert!(trained[3].unwrap() < trained[2].unwrap() - 0.3, "{trained:?}");
    let taken = study.step();

    let Lengths { step, bins } = ask(&mut study, ask::Lengths {}).unwrap();
    assert_eq!((step, bins.len()), (taken, 12));
    assert!(
        bins.iter().enumerate().all(|(i, bin)| bin.from == bin.to && bin.from as usize == i + 1)
    );
    assert!(bins.iter().all(|bin| bin.trained == (bin.to <= 8) && bin.count == 12));
    // The headline is the mean over the lengths trained on.
    for model in 0..2 {
        let mean = bins[..8].iter().map(|bin| bin.right[model]).sum::<f32>() / 8.0;
        assert!((mean - trained[2 + model].unwrap()).abs() < 1e-5);
    }
    // Without attention short sources are answered, long ones are not.
    assert!(bins[0].right[1] > bins[7].right[1] + 0.3, "{bins:?}");
}

#[test]
fn dates_are_learned_in_a_few_hundred_steps() {
    let mut study = study(Settings { task: PairTask::Dates, ..Settings::default() }, 1);
    let mut best = [0f32; 2];
    while study.step() < 300 && best[0] < 0.95 {
        let values = train(&mut study, 25);
        for (best, value) in best.iter_mut().zip(&values[2..]) {
            *best = best.max(value.unwrap());
        }
    }
    assert!(best[0] >= 0.95 && best[1] < 0.7, "{best:?}");
    // The last digit of the day is read where it stands.
    let reading = read(&mut study, own("3 may 1998")).unwrap();
    assert_eq!(reading.outputs[0].tokens.concat(), "1998-05-03end");
    let row = reading.outputs[0].weights.as_ref().unwrap().block(&[9]).unwrap();
    let most = (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
    assert!(most <= 1, "{row:?}");
}

#[test]
fn a_search_is_of_whole_dates_and_a_beam_of_one_is_the_greedy_choice() {
    let mut study = study(Settings { task: PairTask::Dates, ..Settings::default() }, 2);
    train(&mut study, 60);
    let reading = read(&mut study, Source::Example(3)).unwrap();
    let output = &reading.outputs[0];
    let search = |study: &mut AnyStudy, width| {
        ask(study, ask::Beam { source: Source::Example(3), width }).unwrap()
    };
    let one = search(&mut study, 1);
    assert_eq!(one.found, core::slice::from_ref(&one.greedy));
    assert_eq!(one.source, reading.source.concat());
    // What it writes with itself as input, with the probabilities of its own steps multiplied.
    let steps = output.tokens.len() - usize::from(output.ended);
    let greedy = one.greedy;
    assert_eq!(
        (greedy.text.as_str(), greedy.ended),
        (output.tokens[..steps].concat().as_str(), output.ended)
    );
    let chosen = output.tokens.iter().enumerate().map(|(step, token)| {
        let id = reading.symbols.iter().position(|symbol| symbol == token).unwrap();
        output.probabilities.get(&[step, id]).unwrap().ln()
    });
    assert!((greedy.log_probability - chosen.sum::<f32>()).abs() < 1e-3);
    let wide = search(&mut study, 99);
    assert_eq!(wide.found.len(), MOST_BEAM as usize);
    assert!(wide.found.is_sorted_by(|a, b| a.log_probability >= b.log_probability));
    // No two are the same, so their probabilities add up to no more than 1.
    let all: BTreeSet<_> = wide.found.iter().map(|found| (&found.text, found.ended)).collect();
    assert_eq!(all.len(), wide.found.len());
    let sum: f32 = wide.found.iter().map(|found| found.log_probability.exp()).sum();
    assert!(sum <= 1.0 + 1e-4, "{sum}");
    // A search may drop the greedy choice. Where it keeps it, it is just as likely.
    let is_greedy =
        |found: &&Candidate| (&found.text, found.ended) == (&wide.greedy.text, wide.greedy.ended);
    if let Some(kept) = wide.found.iter().find(is_greedy) {
        assert!((kept.log_probability - wide.greedy.log_probability).abs() < 1e-3);
    }
    assert_eq!(wide.greedy, greedy);
    let right = reading.wanted.unwrap();
    assert_eq!(wide.right, Some(right[..right.len() - 1].concat()));
}

#[test]
fn rows_sum_to_one_and_their_arithmetic_is_the_models_own() {
    for attention in ATTENTIONS {
        let settings = Settings { attention, length: 5, hidden: 8, ..Settings::default() };
        let mut study = study(settings, 2);
        train(&mut study, 5);
        let reading = read(&mut study, own("abcde")).unwrap();
        let Output { weights, tokens, .. } = &reading.outputs[0];
        let weights = weights.as_ref().unwrap();
        assert!(reading.outputs[1].weights.is_none());
        for (at, token) in tokens.iter().enumerate() {
            let row = weights.block(&[at]).unwrap();
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            let question = ask::Row { source: own("abcde"), model: 0, at: at as u32 };
            let shown = ask(&mut study, question).unwrap();
            assert!(same_bits(&shown.weights, row), "{attention:?}");
            assert_eq!((shown.query as usize, &shown.query_token), (at, token));
            for (key, score) in shown.scores.iter().enumerate() {
                let sum: f64 = match &shown.scoring {
                    Scoring::Additive { from_query, from_keys, vector } => {
                        let keys = from_keys.block(&[key]).unwrap();
                        let terms = vector.iter().zip(from_query.iter().zip(keys));
                        terms.map(|(v, (a, b))| f64::from(*v) * f64::from(a + b).tanh()).sum()
                    }
                    Scoring::Product { query, keys, divisor } => {
                        let terms = query.iter().zip(keys.block(&[key]).unwrap());
                        let sum: f64 = terms.map(|(q, k)| f64::from(*q) * f64::from(*k)).sum();
                        sum / f64::from(*divisor)
                    }
                };
                assert!((sum - f64::from(*score)).abs() < 1e-5, "{attention:?}: {sum} {score}");
            }
        }
    }
}

#[test]
fn padding_is_never_read() {
    for attention in ATTENTIONS {
        let config = Seq2seqConfig {
            sources: 6,
            targets: 6,
            hidden: 8,
            bidirectional: true,
            attention,
            alignment: 8,
            seed: 3,
        };
        let model = config.init(&device());
        let sources = Sources::new(&[vec![1, 2, 3, 4, 5], vec![2, 3]], &device());
        let previous = token_tensor(&[END, 1, 2, END, 3, 4], 2, &device());
        let trace = model.forward_traced(&sources, previous);
        let weights = values(trace.attention.unwrap().weights);
        // The second row's three steps, each over two characters and three of padding.
        for row in weights[15..].chunks(5) {
            assert!(same_bits(&row[2..], &[0.0; 3]), "{attention:?}: {row:?}");
            assert!((row[0] + row[1] - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run_and_a_dropped_step_leaves_no_trace() {
    let settings = || Settings { length: 4, hidden: 8, ..Settings::default() };
    let (mut a, mut b) = (study(settings(), 5), study(settings(), 5));
    let values = train(&mut a, 26);
    train(&mut b, 10);
    assert_eq!(ready(b.advance()), StudySlice::More);
    b.discard();
    assert_eq!(b.step(), 10);
    train(&mut b, 14);
    // Updated, but not yet measured.
    for _ in 0..3 {
        assert_eq!(ready(b.advance()), StudySlice::More);
    }
    b.discard();
    assert_eq!(b.step(), 24);
    assert_eq!(train(&mut b, 2), values);
    assert_eq!(read(&mut a, Source::Example(1)), read(&mut b, Source::Example(1)));
    let mut other = study(settings(), 6);
    assert_ne!(train(&mut other, 26), values);
}

#[test]
fn models_differ_in_their_attention_alone() {
    let same = Settings { beside: AttentionKind::Additive, ..Settings::default() };
    assert_eq!(study(same, 1).started().series.len(), 2, "twice the same is one");
    let started = study(Settings::default(), 1).started();
    assert_eq!(
        started.series,
        ["Bahdanau loss", "no attention loss", "Bahdanau, right", "no attention, right"]
    );
}

#[test]
fn bad_input_is_refused_with_a_sentence_or_read_as_far_as_it_goes() {
    let refused = |settings: Settings| try_build(settings.spec(1), "").err();
    assert!(refused(Settings { hidden: 0, ..Settings::default() }).is_some());
    assert!(refused(Settings { length: 0, ..Settings::default() }).is_some());
    assert!(refused(Settings { length: 99, ..Settings::default() }).is_some());
    assert!(
        refused(Settings { length: 0, task: PairTask::Dates, ..Settings::default() }).is_none()
    );

    let mut study = study(Settings { length: 4, hidden: 8, ..Settings::default() }, 1);
    train(&mut study, 1);
    assert!(read(&mut study, own("")).unwrap_err().contains("at least one character"));
    let reading = read(&mut study, own("a\u{1F642}B")).unwrap();
    assert_eq!(reading.source, ["a", "\u{fffd}", "b"]);
    assert_eq!((reading.unknown, reading.wanted), (vec!['\u{1F642}'], None));
    let long = read(&mut study, own(&"abc".repeat(30))).unwrap();
    assert_eq!((long.source.len(), long.dropped, long.longest_trained), (40, 50, 4));
    for output in &long.outputs {
        assert!(output.tokens.len() <= 60);
        assert_eq!(output.ended, output.tokens.last().is_some_and(|token| token == "end"));
    }
    let row = |model, at| ask::Row { source: own("abc"), model, at };
    assert!(ask(&mut study, row(0, 99)).unwrap_err().contains("no character 100"));
    assert!(ask(&mut study, row(1, 0)).unwrap_err().contains("no attention"));
    assert!(ask(&mut study, row(2, 0)).is_err());
}
