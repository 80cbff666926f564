//! What the chapter `rnn` says must be true of its numbers.

mod support;

use support::{
    ready, same_bits,
    study::{TALES, ask, build, train, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::study::rnn::{
    CellChoice, Edit, Odd, ReadoutChoice, Settings, Unrolled, Writing, ask,
};

fn study(settings: Settings, seed: u32, text: &str) -> AnyStudy {
    build(settings.spec(seed), text)
}

fn unrolled(study: &mut AnyStudy, text: &str, edit: Option<Edit>) -> Result<Unrolled, String> {
    ask(study, ask::Unrolled { text: text.to_owned(), edit, example: 1 })
}

fn writing(study: &mut AnyStudy, temperature: f32, odd: Option<Odd>) -> Result<Writing, String> {
    ask(study, ask::Writing { prompt: "Tibb the".to_owned(), length: 30, temperature, odd })
}

/// Every state and probability again from the weights, in plain `f64`: the numbers on the page
/// must multiply out.
#[test]
fn the_unrolled_numbers_multiply_out() {
    for cell in CellChoice::ALL {
        for readout in ReadoutChoice::ALL {
            let settings =
                Settings { cell: *cell, readout: *readout, hidden: 9, ..Settings::default() };
            let mut study = study(settings, 3, TALES);
            train(&mut study, 3);
            let all = unrolled(&mut study, "(()())(()", None).unwrap();
            let (hidden, run) = (9, &all.run);
            assert_eq!(all.b.is_empty(), *cell == CellChoice::Sigmoid);
            assert_eq!(all.c.is_empty(), *cell == CellChoice::Sigmoid);
            let mut state = vec![0.0; hidden];
            for (t, id) in run.ids.iter().enumerate() {
                let sums: Vec<f64> = (0..hidden)
                    .map(|i| {
                        let w = f64::from(all.w.get(&[i, *id as usize]).unwrap());
                        let u = all.u.block(&[i]).unwrap();
                        let b = f64::from(all.b.get(i).copied().unwrap_or(0.0));
                        w + b + u.iter().zip(&state).map(|(u, s)| f64::from(*u) * s).sum::<f64>()
                    })
                    .collect();
                let f = |z: &f64| if all.tanh { z.tanh() } else { 1.0 / (1.0 + (-z).exp()) };
                state = sums.iter().map(f).collect();
                for i in 0..hidden {
                    let near = |a: f64, b: Option<f32>| (a - f64::from(b.unwrap())).abs() < 1e-5;
                    assert!(near(sums[i], run.sums.get(&[t, i])));
                    assert!(near(state[i], run.states.get(&[t, i])));
                }
                let row = if all.end_only { t.checked_sub(run.ids.len() - 1) } else { Some(t) };
                let Some(row) = row else { continue };
                let logits = (0..all.classes.len()).map(|class| {
                    let v = all.v.block(&[class]).unwrap();
                    let c = f64::from(all.c.get(class).copied().unwrap_or(0.0));
                    c + v.iter().zip(&state).map(|(v, s)| f64::from(*v) * s).sum::<f64>()
                });
                let weights: Vec<f64> = logits.map(f64::exp).collect();
                let sum: f64 = weights.iter().sum();
                for (class, weight) in weights.iter().enumerate() {
                    let shown = run.probabilities.get(&[row, class]).unwrap();
                    assert!((weight / sum - f64::from(shown)).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn an_edit_moves_later_states_and_no_earlier_one() {
    let mut study = study(Settings::default(), 1, TALES);
    train(&mut study, 40);
    let text = "Fenn the fox had a plan";
    let edit = Edit { position: 9, letter: 'b' };
    let all = unrolled(&mut study, text, Some(edit)).unwrap();
    let (position, edited) = all.edited.unwrap();
    assert_eq!(position, 9);
    for t in 0..text.len() {
        let [plain, changed] = [&all.run.states, &edited.states].map(|s| s.block(&[t]).unwrap());
        assert_eq!(same_bits(plain, changed), t < 9, "step {t}");
    }
    // The answer for the unedited text is the same whether an edit is asked for or not.
    assert_eq!(unrolled(&mut study, text, None).unwrap().run, all.run);
    // Beyond the end there is nothing to edit.
    let beyond = Edit { position: 40, letter: 'b' };
    assert_eq!(unrolled(&mut study, text, Some(beyond)).unwrap().edited, None);
}

#[test]
fn every_column_reads_one_character_and_expects_the_next() {
    let mut study = study(Settings::default(), 1, TALES);
    let text: String = TALES.chars().skip(40).take(70).collect();
    let all = unrolled(&mut study, &text, None).unwrap();
    assert_eq!((all.run.ids.len(), all.dropped), (64, 6));
    let read: String = all.run.ids.iter().map(|&id| all.tokens[id as usize].as_str()).collect();
    assert_eq!(read, text[..64]);
    let next: String =
        all.run.targets.iter().map(|id| all.classes[id.unwrap() as usize].as_str()).collect();
    assert_eq!(next, text[1..65]);
    let one = unrolled(&mut study, "T", None).unwrap();
    assert_eq!((one.run.targets, one.run.states.shape), (vec![None], vec![1, 32]));
    let unknown = unrolled(&mut study, "Ж", None).unwrap();
    assert_eq!(unknown.run.ids, [0]);
}

#[test]
fn training_is_the_same_for_the_same_seed_and_learns() {
    let run = |seed| {
        let mut study = study(Settings::default(), seed, TALES);
        let first = train(&mut study, 1);
        let last = train(&mut study, 119);
        let all = unrolled(&mut study, "Tibb the", None).unwrap();
        (first, last, all.run)
    };
    let (first, last, states) = run(1);
    assert_eq!((first.clone(), last.clone(), states), run(1));
    assert_ne!(run(2).2, run(1).2);
    // Loss and held-out loss of both, at the first step and every twentieth.
    let (first, last): (Vec<f32>, Vec<f32>) =
        (first.into_iter().flatten().collect(), last.into_iter().flatten().collect());
    assert_eq!((first.len(), last.len()), (4, 4));
    for (first, last) in first.iter().zip(&last) {
        assert!(*last < first - 1.0, "{first} to {last}");
    }
}

#[test]
fn a_dropped_step_is_taken_again_alike() {
    let take = |drop: bool| {
        let mut study = study(Settings::default(), 5, TALES);
        train(&mut study, 19);
        if drop {
            assert_eq!(ready(study.advance()), StudySlice::More);
            assert_eq!(study.step(), 19);
            study.discard();
        }
        (train(&mut study, 1), unrolled(&mut study, "the", None).unwrap())
    };
    assert_eq!(take(true), take(false));
}

#[test]
fn brackets_are_judged_at_the_end() {
    let settings = Settings { readout: ReadoutChoice::End, ..Settings::default() };
    let mut study = study(settings, 1, "");
    let values = train(&mut study, 300);
    let right: Vec<f32> = values[2..].iter().map(|value| value.unwrap()).collect();
    assert!(right[0] > 0.6 && right[1] > 0.95, "{right:?}");
    let all = unrolled(&mut study, "(())", None).unwrap();
    assert_eq!((all.run.targets, all.run.probabilities.shape), (vec![Some(1)], vec![1, 2]));
    let all = unrolled(&mut study, ")(", None).unwrap();
    assert_eq!(all.run.targets, [Some(0)]);
    // A sentence of other characters gives way to a generated string.
    let generated = unrolled(&mut study, "Tibb", None).unwrap().run.ids;
    assert!(generated.len() >= 10 && generated.len().is_multiple_of(2));
    let edit = Edit { position: 0, letter: 'x' };
    assert!(unrolled(&mut study, "()", Some(edit)).unwrap_err().contains("only seen"));
    assert!(writing(&mut study, 1.0, None).unwrap_err().contains("read out every step"));
}

#[test]
fn an_odd_character_is_forced_where_asked_and_changes_only_what_follows() {
    let mut study = study(Settings::default(), 1, TALES);
    train(&mut study, 60);
    let plain = writing(&mut study, 0.8, None).unwrap();
    let odd = Some(Odd { position: 10, letter: Some('Q') });
    let thrown = writing(&mut study, 0.8, odd).unwrap();
    assert_eq!(thrown.letter.as_deref(), Some("\u{FFFD}"), "the tales have no Q");
    let odd = Some(Odd { position: 10, letter: Some('z') });
    let thrown = writing(&mut study, 0.8, odd).unwrap();
    for (model, before) in thrown.models.iter().zip(&plain.models) {
        assert!(before.odd.is_empty());
        assert_eq!(model.plain, before.plain);
        assert_eq!((model.plain.len(), model.odd.len()), (30, 30));
        assert_eq!(model.odd[..10], model.plain[..10]);
        assert_eq!(model.odd[10].token, "z");
        assert!(model.odd[10].surprise > 3.0, "{}", model.odd[10].surprise);
    }
    // The likeliest character each time does not depend on draws.
    assert_eq!(writing(&mut study, 0.0, None), writing(&mut study, 0.0, None));
    assert!(writing(&mut study, -1.0, None).unwrap_err().contains("temperature"));
}

/// What the chapter says of the default model: the odd character costs both models something, and
/// the Elman network more.
#[test]
fn an_odd_character_costs_the_elman_network_more() {
    let mut study = study(Settings::default(), 1, TALES);
    train(&mut study, 150);
    let answer = ask(&mut study, ask::Recovery { letter: None }).unwrap();
    assert_eq!(answer.odd.shape, answer.plain.shape);
    assert!(answer.windows > 30);
    let [(elman, elman_error), (lstm, lstm_error)] = answer.total;
    assert!(elman > 3.0 * elman_error && lstm > 3.0 * lstm_error, "{:?}", answer.total);
    let (difference, error) = answer.difference;
    assert!(difference < -2.0 * error, "{difference} +- {error}");
    assert!((difference - (lstm - elman)).abs() < 1e-4);
    // The curves are the totals spread over the places.
    for (model, total) in [elman, lstm].into_iter().enumerate() {
        let [plain, odd] = [&answer.plain, &answer.odd].map(|a| a.block(&[model]).unwrap());
        let sum: f32 = odd.iter().zip(plain).map(|(odd, plain)| odd - plain).sum();
        assert!((sum - total).abs() < 1e-3);
    }
}

#[test]
fn what_can_not_be_done_is_said() {
    let refused =
        |settings: Settings, text: &str| try_build(settings.spec(1), text).err().expect("refused");
    assert!(refused(Settings::default(), "").contains("no text"));
    assert!(refused(Settings::default(), "a").contains("1 character"));
    let none = Settings { hidden: 0, ..Settings::default() };
    assert!(refused(none, TALES).contains("0 units"));
    let mut short = study(Settings::default(), 1, "ab");
    train(&mut short, 2);
    assert!(unrolled(&mut short, "", None).unwrap_err().contains("empty"));
    let refusal = ask(&mut short, ask::Recovery { letter: None }).unwrap_err();
    assert!(refusal.contains("held out"));
    let mut study = study(Settings::default(), 1, TALES);
    for rate in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(study.set_learning_rate(rate).is_err());
    }
    study.set_learning_rate(0.01).unwrap();
}

#[test]
fn runaway_numbers_stop_the_run() {
    let mut study = study(Settings::default(), 1, TALES);
    study.set_learning_rate(f32::MAX).unwrap();
    let diverged = (0..20).any(|_| matches!(ready(study.advance()), StudySlice::Diverged { .. }));
    assert!(diverged);
}
