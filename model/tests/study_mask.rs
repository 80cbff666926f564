//! What the chapter `mask` says must be true of its numbers.

mod support;

use support::{
    ready, same_bits,
    study::{TALES, ask, build, train, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Array,
    attention::Scoring,
    study::mask::{Change, Combine, Drawn, Pattern, Preset, Settings, Trained, Writing, ask},
};

const SENTENCE: &str = "said Fenn the fox, who had one";

fn study(seed: u32, text: &str) -> AnyStudy {
    build(Settings::default().spec(seed), text)
}

fn look(text: &str, pattern: Pattern) -> ask::Look {
    ask::Look {
        text: text.to_owned(),
        pattern,
        drawn: Drawn::default(),
        model: Trained::Causal,
        layer: 0,
        head: 0,
        row: None,
        change: None,
    }
}

fn write(study: &mut AnyStudy, model: Trained, length: u32) -> Writing {
    ask(study, ask::Writing { model, prompt: SENTENCE.to_owned(), length }).unwrap()
}

fn rows(array: &Array) -> impl Iterator<Item = &[f32]> {
    array.values.chunks_exact(array.shape[1] as usize)
}

fn difference(a: &Array, b: &Array) -> f32 {
    let pairs = a.values.iter().zip(&b.values);
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

fn patterns() -> Vec<Pattern> {
    let usual = Pattern::default();
    let mut all: Vec<Pattern> = Preset::ALL.iter().map(|&base| Pattern { base, ..usual }).collect();
    all.push(Pattern { combine: Combine::And, ..usual });
    all.push(Pattern { base: Preset::Graph, combine: Combine::Or, other: Preset::Band, ..usual });
    all.push(Pattern { base: Preset::Band, band: 512, ..usual });
    all
}

#[test]
fn blocked_cells_are_exactly_0_and_rows_sum_to_1_under_any_mask() {
    let mut study = study(1, TALES);
    train(&mut study, 3);
    for pattern in patterns() {
        for (layer, head) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let seen =
                ask(&mut study, ask::Look { layer, head, ..look(SENTENCE, pattern) }).unwrap();
            assert_eq!(seen.most_blocked, 0.0);
            let length = seen.tokens.len();
            for (query, weights) in rows(&seen.weights).enumerate() {
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-5, "{pattern:?} {query}: {sum}");
                for (key, weight) in weights.iter().enumerate() {
                    if !pattern.allows(length, query, key) {
                        assert_eq!(weight.to_bits(), 0, "{pattern:?} {query} {key}");
                    } else {
                        assert!(*weight > 0.0);
                    }
                }
            }
            // The row that is followed up is the last, and its arithmetic is of the same weights.
            let last = rows(&seen.weights).last().unwrap();
            assert!(same_bits(&seen.arithmetic.weights, last));
            assert!(matches!(seen.arithmetic.scoring, Scoring::Product { .. }));
        }
    }
}

#[test]
fn the_three_averages_are_equal_to_rounding_and_attention_is_not() {
    let mut study = study(1, TALES);
    train(&mut study, 60);
    for pattern in patterns() {
        let seen = ask(&mut study, ask::Look { row: Some(7), ..look(SENTENCE, pattern) }).unwrap();
        let averages = &seen.averages;
        let largest = averages.looped.values.iter().fold(0f32, |most, v| most.max(v.abs()));
        assert!(difference(&averages.looped, &averages.product) <= 2e-6 * largest, "{pattern:?}");
        assert!(difference(&averages.looped, &averages.softmax) <= 2e-6 * largest, "{pattern:?}");
        assert!(difference(&averages.matrix, &averages.softened) <= 1e-6);
        let alone = pattern.base == Preset::Alone && pattern.combine == Combine::First;
        let far = difference(&averages.looped, &averages.attended) > 1e-3 * largest;
        assert_eq!(far, !alone, "one value is its own average: {pattern:?}");
        assert_eq!(seen.row, 7);
    }
}

#[test]
fn an_earlier_output_never_learns_of_a_later_token_under_a_causal_mask() {
    let mut study = study(2, TALES);
    train(&mut study, 40);
    for model in Trained::ALL {
        for position in [0, 1, 11, 29] {
            let change = Some(Change { position, letter: None });
            let asked = ask::Look { model: *model, change, ..look(SENTENCE, Pattern::default()) };
            let leak = ask(&mut study, asked).unwrap().leak.unwrap();
            let at = position as usize;
            assert!(leak.masked[..at].iter().all(|moved| *moved == 0.0), "{leak:?}");
            assert!(leak.masked[at..].iter().all(|moved| *moved > 0.0), "{leak:?}");
            assert!(leak.unmasked.iter().all(|moved| *moved > 0.0), "{leak:?}");
        }
    }
    // A band of 2 in two layers carries a change two tokens further and not one more.
    let band = Pattern { combine: Combine::And, band: 2, ..Pattern::default() };
    let change = Some(Change { position: 11, letter: Some('x') });
    let seen = ask(&mut study, ask::Look { change, ..look(SENTENCE, band) }).unwrap();
    let leak = seen.leak.unwrap();
    assert_eq!(leak.letter, "x");
    for (at, moved) in leak.masked.iter().enumerate() {
        assert_eq!(*moved > 0.0, (11..=13).contains(&at), "{at}: {moved}");
    }
    // The same character again changes nothing; beyond the end there is nothing to change.
    let change = Some(Change { position: 0, letter: Some('s') });
    let same = ask(&mut study, ask::Look { change, ..look(SENTENCE, band) }).unwrap().leak.unwrap();
    assert!(same.unmasked.iter().chain(&same.masked).all(|moved| *moved == 0.0));
    let change = Some(Change { position: 30, letter: None });
    assert_eq!(ask(&mut study, ask::Look { change, ..look(SENTENCE, band) }).unwrap().leak, None);
}

#[test]
fn what_is_drawn_by_hand_counts_and_the_models_own_mask_is_the_usual() {
    let mut study = study(1, TALES);
    train(&mut study, 20);
    let usual = ask(&mut study, look(SENTENCE, Pattern::default())).unwrap();
    assert!(same_bits(&usual.outputs.values, &usual.usual_outputs.values));
    assert!(same_bits(&usual.probabilities.values, &usual.usual_probabilities.values));
    let mut drawn = Drawn::default();
    drawn.set(&Pattern::default(), 30, (5, 9), true);
    drawn.set(&Pattern::default(), 30, (5, 0), false);
    let seen = ask(&mut study, ask::Look { drawn, ..look(SENTENCE, Pattern::default()) }).unwrap();
    let row: Vec<&[f32]> = rows(&seen.weights).collect();
    assert!(row[5][9] > 0.0 && row[5][0] == 0.0);
    // Rows before are as they were, those after read it in the second layer.
    for (at, (now, before)) in rows(&seen.outputs).zip(rows(&usual.outputs)).enumerate() {
        assert_eq!(same_bits(now, before), at < 5, "{at}");
    }
    assert!(same_bits(&seen.usual_outputs.values, &usual.outputs.values));
}

#[test]
fn trained_where_it_can_peek_the_loss_is_tiny_and_the_writing_rubbish() {
    let mut study = study(1, TALES);
    let last = train(&mut study, STEPS);
    let [causal, unmasked, unseen_causal, unseen_unmasked] = [0, 1, 2, 3].map(|i| last[i].unwrap());
    assert!(unmasked < 0.25 * causal, "{unmasked} {causal}");
    let nothing = (study.started().vocabulary.len() as f32).ln();
    assert!(unseen_causal < 0.75 * nothing, "{unseen_causal}");
    assert!(unseen_unmasked > unseen_causal + 1.0, "{unseen_unmasked} {unseen_causal}");
    // How much of what they write are words of the text; the last one may be cut.
    let known: std::collections::HashSet<&str> = words(TALES).collect();
    let count = |study: &mut AnyStudy, model| {
        let writing = write(study, model, 64);
        assert_eq!(writing.text.chars().count(), 64);
        let whole = &writing.text[..writing.text.rfind(' ').unwrap_or(0)];
        words(whole).skip(1).filter(|word| word.len() > 1 && known.contains(*word)).count()
    };
    let (causal, unmasked) =
        (count(&mut study, Trained::Causal), count(&mut study, Trained::Unmasked));
    assert!(causal >= unmasked + 3, "{causal} {unmasked}");
}

/// Steps in which the effect has come out: less than a minute in a browser.
const STEPS: usize = 300;

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}

#[test]
fn the_same_seed_gives_the_same_bits_also_after_a_dropped_step() {
    let run = |discard: bool| {
        let mut study = study(3, TALES);
        train(&mut study, 19);
        if discard {
            // One slice into the step, and into the measurement after it.
            for slices in [1, 2] {
                for _ in 0..slices {
                    assert_eq!(ready(study.advance()), StudySlice::More);
                }
                study.discard();
                assert_eq!(study.step(), 19);
            }
        }
        let last = train(&mut study, 3);
        let seen = ask(&mut study, look(SENTENCE, Pattern::default())).unwrap();
        let write = write(&mut study, Trained::Unmasked, 9);
        (last, seen, write)
    };
    let (plain, again, dropped) = (run(false), run(false), run(true));
    assert_eq!(plain, again);
    assert_eq!(plain, dropped);
}

#[test]
fn what_cannot_be_shown_is_refused_in_a_sentence_and_training_goes_on() {
    let mut study = study(1, TALES);
    train(&mut study, 2);
    let usual = Pattern::default();
    let padding = Pattern { base: Preset::Padding, padding: 40, ..usual };
    for (asked, says) in [
        (look("", usual), "at least one character"),
        (look(SENTENCE, padding), "Row 1 may look at nothing"),
        (ask::Look { layer: 2, ..look(SENTENCE, usual) }, "no head 1 in layer 3"),
        (ask::Look { head: 9, ..look(SENTENCE, usual) }, "no head 10 in layer 1"),
    ] {
        let refusal = ask(&mut study, asked).unwrap_err();
        assert!(refusal.contains(says) && refusal.ends_with('.'), "{refusal}");
    }
    let mut drawn = Drawn::default();
    (0..4).for_each(|key| drawn.set(&usual, 30, (3, key), false));
    let refusal = ask(&mut study, ask::Look { drawn, ..look(SENTENCE, usual) }).unwrap_err();
    assert!(refusal.contains("Row 4 may look at nothing"), "{refusal}");
    // One token, 512 tokens, a band wider than the sentence, characters never seen.
    let one = ask(&mut study, look("f", usual)).unwrap();
    assert_eq!((one.weights.values.as_slice(), one.dropped), ([1.0].as_slice(), 0));
    let long = ask(&mut study, look(&"ab c".repeat(128), usual)).unwrap();
    assert_eq!((long.tokens.len(), long.dropped), (32, 480));
    let wide = Pattern { base: Preset::Band, band: 512, ..usual };
    assert!(ask(&mut study, look("fox", wide)).unwrap().allowed.iter().all(|allowed| *allowed));
    assert!(ask(&mut study, look("🙂🙂", usual)).unwrap().tokens.iter().all(|t| t == "\u{fffd}"));
    assert_eq!(study.step(), 2);
    train(&mut study, 1);
    let refused = |text| try_build(Settings::default().spec(1), text).err();
    assert!(refused("").is_some() && refused("ab").is_some());
    for text in ["aba", "aaaa", "abcabcabcabcabcabc"] {
        let mut tiny = self::study(1, text);
        train(&mut tiny, 2);
        ask(&mut tiny, look("ab", usual)).unwrap();
    }
}
