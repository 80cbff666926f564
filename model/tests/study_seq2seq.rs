//! What the chapter `seq2seq` says must be true of its numbers.

mod support;

use support::{
    ready, same_bits,
    study::{ask, build, measured, train, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    PairTask,
    study::seq2seq::{MOST_SOURCE, Odds, RIGHT, Reading, Settings, ask, length_series},
};

fn study(settings: &Settings, seed: u32) -> AnyStudy {
    build(settings.spec(seed), "")
}

fn at_length(study: &AnyStudy, last: &[Option<f32>], length: u32) -> f32 {
    measured(study, last, &length_series((length, length)))
}

fn read(study: &mut AnyStudy, text: Option<&str>) -> Result<Reading, String> {
    ask(study, ask::Reading { text: text.map(str::to_owned), example: 1, beam: 3 })
}

fn odds(study: &mut AnyStudy) -> Vec<Odds> {
    ask(study, ask::Odds { number: 0 }).unwrap()
}

#[test]
fn accuracy_falls_with_length() {
    let settings = Settings::default();
    let mut study = study(&settings, 1);
    // Already where the page stops by itself.
    let last = train(&mut study, 200);
    assert!(at_length(&study, &last, 1) >= 0.95);
    assert!(at_length(&study, &last, 8) <= 0.1);
    let last = train(&mut study, 400);
    let (short, middle, long) =
        (at_length(&study, &last, 2), at_length(&study, &last, 5), at_length(&study, &last, 10));
    println!("600 steps: {short} of 2, {middle} of 5, {long} of 10");
    assert!(short >= 0.95 && long <= 0.2 && short > middle && middle > long);
    // What was never trained on is worse still, or as bad.
    assert!(at_length(&study, &last, 14) <= long);
    let odds = odds(&mut study);
    assert_eq!(odds.len(), 4);
    assert!(odds.windows(2).all(|pair| pair[0].source.len() <= pair[1].source.len()));
    assert!(odds[0].log_probability > odds[3].log_probability);
}

#[test]
fn a_wider_vector_holds_longer_strings() {
    let right = |hidden: u32| {
        let mut study = study(&Settings { hidden, ..Settings::default() }, 1);
        let last = train(&mut study, 400);
        measured(&study, &last, RIGHT)
    };
    let (narrow, wide) = (right(8), right(64));
    println!("400 steps: {narrow} with 8 numbers, {wide} with 64");
    assert!(wide > narrow + 0.15);
}

#[test]
fn a_source_can_be_read_from_its_end() {
    let settings = Settings { backwards: true, task: PairTask::Copy, ..Settings::default() };
    let mut study = study(&settings, 1);
    train(&mut study, 20);
    let reading = read(&mut study, Some("abc")).unwrap();
    assert_eq!((reading.tokens.concat().as_str(), reading.right.as_deref()), ("cba", Some("abc")));
    let rights: Vec<_> = reading.prefixes.iter().filter_map(|p| p.right.as_deref()).collect();
    assert_eq!(rights, ["c", "bc", "abc"]);
    assert_eq!(reading.prefixes[2].written, reading.greedy());
}

#[test]
fn a_reading_is_one_thing_throughout() {
    let mut study = study(&Settings::default(), 3);
    train(&mut study, 60);
    let reading = read(&mut study, Some("Abc")).unwrap();
    assert_eq!(reading.tokens, ["A", "b", "c"]);
    assert_eq!(reading.right.as_deref(), Some("cba"));
    assert_eq!(reading.states.shape, [3, 32]);
    assert_eq!(reading.states.block(&[2]).unwrap(), reading.summary);
    let steps = reading.written.len();
    assert_eq!(reading.decoder.shape, [steps as u32, 32]);
    for (step, &id) in reading.written.iter().enumerate() {
        let row = reading.probabilities.block(&[step]).unwrap();
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(row.iter().all(|&p| p <= row[id as usize]));
    }
    // All that the last state gives is what the whole source gives.
    assert_eq!(reading.prefixes.len(), 3);
    assert_eq!(reading.prefixes[2].written, reading.greedy());
    assert_eq!(reading.prefixes[1].right.as_deref(), Some("ba"));
    // A beam that kept greedy's sequence gives it the probability the steps multiply to.
    let greedy = reading.search().greedy.log_probability;
    let same = reading.beam.iter().find(|found| found.text == reading.greedy());
    if let Some(same) = same {
        assert!((same.log_probability - greedy).abs() < 1e-3);
    }
    assert!(reading.beam.windows(2).all(|p| p[0].log_probability >= p[1].log_probability));
    assert_eq!(read(&mut study, Some("Abc")).unwrap(), reading);
}

#[test]
fn the_same_seed_gives_the_same_bits_and_asking_changes_nothing() {
    let settings = Settings { task: PairTask::Dates, ..Settings::default() };
    let (mut a, mut b) = (study(&settings, 5), study(&settings, 5));
    train(&mut a, 3);
    read(&mut a, None).unwrap();
    odds(&mut a);
    // A step begun and dropped, with the measurement of the first.
    for _ in 0..2 {
        assert!(matches!(ready(b.advance()), StudySlice::More));
    }
    b.discard();
    assert_eq!(b.step(), 0);
    train(&mut b, 3);
    let (a, b) = (train(&mut a, 20), train(&mut b, 20));
    let flat = |values: Vec<Option<f32>>| {
        values.into_iter().map(|v| v.unwrap_or(-1.0)).collect::<Vec<_>>()
    };
    assert!(same_bits(&flat(a), &flat(b)));
}

#[test]
fn empty_unknown_and_long_sources_are_taken_with_a_sentence() {
    let mut study = study(&Settings::default(), 1);
    let refused = read(&mut study, Some("")).unwrap_err();
    assert!(refused.contains("at least one character"), "{refused}");
    let reading = read(&mut study, Some("a b\u{1F642}")).unwrap();
    assert_eq!((reading.unknown, reading.right), (2, None));
    let reading = read(&mut study, Some(&"ab".repeat(40))).unwrap();
    assert_eq!(reading.tokens.len(), MOST_SOURCE as usize);
    assert_eq!(reading.dropped, 40);
    assert!(reading.tokens.len() as u32 > reading.longest);
    let bad = Settings { hidden: 0, ..Settings::default() }.spec(1);
    assert!(try_build(bad, "").is_err());
}
