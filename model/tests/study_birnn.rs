//! What the chapter `birnn` says must be true of its numbers.

mod support;

use support::{
    ready, same_bits,
    study::{TALES, ask, build, measured, train, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Array,
    study::birnn::{
        CellChoice, Edit, MOST_AHEAD, Reader, Settings, TaskChoice, accuracy_series, ask,
    },
};

const SENTENCE: &str = "said Fenn the fox, who had one";

fn look() -> Settings {
    Settings::default()
}

fn fill() -> Settings {
    Settings { task: TaskChoice::Fill, ..Settings::default() }
}

fn study(settings: Settings, seed: u32) -> AnyStudy {
    build(settings.spec(seed), TALES)
}

/// The share of right answers after `steps` steps of training, of which the last is measured.
fn accuracy(study: &AnyStudy, last: &[Option<f32>], reader: Reader, ahead: Option<u32>) -> f32 {
    measured(study, last, &accuracy_series(reader, ahead))
}

fn question(settings: &Settings, text: &str, edit: Option<Edit>) -> ask::Reading {
    ask::Reading {
        text: text.to_owned(),
        example: settings.example,
        ahead: settings.ahead,
        hidden: settings.at.checked_sub(1),
        edit,
    }
}

fn row(array: &Array, index: usize) -> &[f32] {
    array.block(&[index]).unwrap()
}

#[test]
fn an_answer_in_the_future_is_for_both_ways_only_and_a_delay_reaches_just_as_far() {
    for (seed, delay) in [(1, 2), (2, 1), (3, 4), (4, 2)] {
        let settings = Settings { delay, ..look() };
        let mut study = study(settings, seed);
        let last = train(&mut study, 160);
        for ahead in 1..=MOST_AHEAD {
            let right = |reader| accuracy(&study, &last, reader, Some(ahead));
            let at_chance = |share: f32| (share - 0.25).abs() < 0.05;
            assert!(at_chance(right(Reader::Forward)), "{seed} {ahead}");
            assert!(right(Reader::Both) > 0.95, "{seed} {ahead}: {}", right(Reader::Both));
            let delayed = right(Reader::Delayed(delay));
            let reached = if ahead <= delay { delayed > 0.95 } else { at_chance(delayed) };
            assert!(reached, "{seed} {ahead} of {delay}: {delayed}");
        }
    }
}

#[test]
fn every_cell_solves_what_lies_ahead() {
    for (cell, steps) in [(CellChoice::Gru, 400), (CellChoice::Lstm, 600)] {
        let mut study = study(Settings { cell, delay: 0, ..look() }, 1);
        let last = train(&mut study, steps);
        assert!(accuracy(&study, &last, Reader::Both, Some(3)) > 0.95, "{cell:?}");
        assert!((accuracy(&study, &last, Reader::Forward, Some(3)) - 0.25).abs() < 0.05);
    }
}

#[test]
fn both_sides_of_a_missing_letter_say_more_than_one() {
    for seed in 1..=3 {
        let mut study = study(fill(), seed);
        let last = train(&mut study, 400);
        let right = |reader| accuracy(&study, &last, reader, None);
        let (forward, both) = (right(Reader::Forward), right(Reader::Both));
        let backward = right(Reader::Backward);
        assert!(forward > 0.28, "the past helps: {seed}: {forward}");
        assert!(both > forward + 0.08, "{seed}: {both} against {forward}");
        assert!(both > backward + 0.05, "{seed}: {both} against {backward}");
    }
}

#[test]
fn one_way_models_have_no_fewer_parameters() {
    for settings in [look(), fill()] {
        for cell in CellChoice::ALL {
            let settings = Settings { cell: *cell, delay: 0, ..settings.clone() };
            let mut study = study(settings.clone(), 1);
            let reading = ask(&mut study, question(&settings, SENTENCE, None)).unwrap();
            let [one, both, ..] = &*reading.readouts else { panic!() };
            let (one, both) = (one.parameters as f64, both.parameters as f64);
            assert!((1.0..1.1).contains(&(one / both)), "{one} {both}");
            let all: u64 = reading.readouts.iter().map(|readout| readout.parameters).sum();
            assert_eq!(all, study.started().parameters);
        }
    }
}

#[test]
fn an_edit_reaches_exactly_what_can_see_it() {
    for settings in [look(), fill()] {
        let mut study = study(settings.clone(), 2);
        train(&mut study, 20);
        for position in [0, 6, 13] {
            let edit = Some(Edit { position, letter: None });
            let plain = ask(&mut study, question(&settings, SENTENCE, None)).unwrap();
            let reading = ask(&mut study, question(&settings, SENTENCE, edit)).unwrap();
            assert_eq!(reading.run, plain.run, "the run as it is does not depend on the edit");
            let (at, edited) = reading.edited.as_ref().unwrap();
            assert_eq!(*at, position);
            let at = *at as usize;
            let length = edited.ids.len();
            for ((readout, run), other) in
                reading.readouts.iter().zip(&reading.run.models).zip(&edited.models)
            {
                // Far away an influence may fade below what a state's digits can hold.
                let check = |same: bool, seen: bool, t: usize, what: &str| {
                    assert!(if seen { !same || t.abs_diff(at) > 6 } else { same }, "{what} {t}");
                };
                for t in 0..length {
                    if readout.forward.shape[1] > 0 {
                        let same = same_bits(row(&run.forward, t), row(&other.forward, t));
                        check(same, t >= at, t, "forward state");
                    }
                    if readout.backward.shape[1] > 0 {
                        let same = same_bits(row(&run.backward, t), row(&other.backward, t));
                        check(same, t <= at, t, "backward state");
                    }
                    let Some(logits) = run.logits.block(&[t]) else { continue };
                    let same = same_bits(logits, row(&other.logits, t));
                    // A missing letter's own position is hidden from it.
                    let seen = readout.reader.sees(t, at)
                        && !(settings.task == TaskChoice::Fill && t == at);
                    check(same, seen, t, &readout.reader.name());
                }
            }
        }
    }
}

#[test]
fn the_two_directions_and_the_bias_add_up_to_the_logit() {
    for settings in [look(), fill()] {
        let mut study = study(settings.clone(), 3);
        train(&mut study, 20);
        let reading = ask(&mut study, question(&settings, SENTENCE, None)).unwrap();
        let at = settings.at as usize - 1;
        for (readout, run) in reading.readouts.iter().zip(&reading.run.models) {
            let delay = match readout.reader {
                Reader::Delayed(by) => by as usize,
                _ => 0,
            };
            for answer in 0..reading.answers.len() {
                let part = |weights: &Array, states: &Array| -> f64 {
                    let pairs = row(weights, answer).iter().zip(row(states, at + delay));
                    pairs.map(|(w, h)| f64::from(*w) * f64::from(*h)).sum()
                };
                let sum = part(&readout.forward, &run.forward)
                    + part(&readout.backward, &run.backward)
                    + f64::from(readout.bias[answer]);
                let logit = f64::from(run.logits.get(&[at, answer]).unwrap());
                assert!((sum - logit).abs() < 1e-4, "{sum} {logit}");
            }
            let answered = run.logits.shape[0] as usize;
            assert_eq!(answered, run.forward.shape[0] as usize - delay);
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run_and_a_dropped_step_leaves_no_trace() {
    for settings in [look(), fill()] {
        let (mut a, mut b) = (study(settings.clone(), 5), study(settings.clone(), 5));
        train(&mut a, 21);
        train(&mut b, 10);
        ready(b.advance());
        b.discard();
        assert_eq!(b.step(), 10);
        train(&mut b, 9);
        // Updated, but not yet measured.
        for _ in 0..settings.spec(5).readers().len() {
            assert_eq!(ready(b.advance()), StudySlice::More);
        }
        b.discard();
        assert_eq!(b.step(), 19);
        train(&mut b, 2);
        let asked = || question(&settings, SENTENCE, None);
        assert_eq!(ask(&mut a, asked()), ask(&mut b, asked()));
        let mut other = study(settings.clone(), 6);
        train(&mut other, 21);
        assert_ne!(ask(&mut a, asked()), ask(&mut other, asked()));
    }
}

#[test]
fn a_passage_is_held_out_and_misses_one_letter() {
    let mut study = study(fill(), 1);
    train(&mut study, 5);
    let held_out: String = TALES.chars().skip(TALES.chars().count() * 9 / 10).collect();
    for number in 1..=20 {
        let passage = ask(&mut study, ask::Passage { number }).unwrap();
        assert!(held_out.contains(&passage.tokens.concat()), "{number}");
        let right = &passage.answers[passage.right as usize];
        assert_eq!(*right, passage.tokens[passage.missing as usize]);
        for (_, probabilities) in &passage.models {
            assert!((probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }
}

#[test]
fn bad_input_is_refused_with_a_sentence_or_read_as_far_as_it_goes() {
    let refused = |settings: Settings, text: &str| try_build(settings.spec(1), text).err();
    let said = refused(Settings { delay: 16, ..look() }, TALES).unwrap();
    assert!(said.contains("Delayed by 16 steps") && said.contains("at most 15"), "{said}");
    assert!(refused(Settings { delay: 15, ..look() }, TALES).is_none());
    let said = refused(Settings { delay: 17, ..fill() }, TALES).unwrap();
    assert!(said.contains("at most 16"), "{said}");
    for text in ["", "a", "a text shorter than two passages"] {
        let said = refused(fill(), text).unwrap();
        assert!(said.contains("needs at least 48"), "{said}");
        assert!(refused(look(), text).is_none());
    }
    assert!(refused(Settings { hidden: 0, ..look() }, "").is_some());
    let mut repeated = build(fill().spec(1), &"a".repeat(60));
    train(&mut repeated, 2);

    let mut study = study(fill(), 1);
    train(&mut study, 2);
    let empty = ask(&mut study, question(&fill(), "", None)).unwrap_err();
    assert!(empty.contains("at least one character"), "{empty}");
    // One character, which nobody has met: hidden or not, it is read.
    for hidden in [None, Some(0), Some(9)] {
        let text = "\u{1F642}".to_owned();
        let edit = Some(Edit { position: 30, letter: Some('a') });
        let asked = ask::Reading { text, example: 1, ahead: 1, hidden, edit };
        let reading = ask(&mut study, asked).unwrap();
        assert_eq!((reading.run.ids.as_slice(), reading.edited), (&[0][..], None));
        let rows: Vec<u32> = reading.run.models.iter().map(|m| m.logits.shape[0]).collect();
        assert_eq!(rows, [1, 1, 0, 1], "too short for an answer two steps late");
    }
    let long = ask(&mut study, question(&fill(), &"na ".repeat(100), None)).unwrap();
    assert_eq!((long.run.ids.len(), long.dropped), (40, 260));

    let mut made = self::study(look(), 1);
    let edit = Some(Edit { position: 0, letter: Some('z') });
    let said = ask(&mut made, question(&look(), "", edit)).unwrap_err();
    assert!(said.contains("a, b, c, d"), "{said}");
    assert!(ask(&mut made, ask::Passage { number: 1 }).is_err());
}
