//! The bigram chapter: what it claims of counts and table must be true of the numbers.

mod support;

use support::{
    same_bits,
    study::{NAMES, TALES, ask, build, points, train, try_build},
};
use unroll_model::AnyStudy;
use unroll_protocol::{
    study::bigram::{Estimate, NONE, Order, Row, Scores, Spec, ask, smoothed},
    wire,
};

fn study(text: &str, seed: u32) -> AnyStudy {
    build(Spec { seed }, text)
}

fn scores(study: &mut AnyStudy, k: f32) -> Scores {
    ask(study, ask::Scores { k }).unwrap()
}

fn row_of(study: &mut AnyStudy, character: char) -> Row {
    ask(study, ask::Row { character: u32::from(character) }).unwrap()
}

/// The part of a text that is learned, and the part held out.
fn parts(text: &str) -> (Vec<char>, Vec<char>) {
    let mut characters: Vec<char> = text.chars().collect();
    let held_out = characters.split_off(characters.len() - characters.len() / 10);
    (characters, held_out)
}

#[test]
fn counts_are_those_of_the_text() {
    let mut study = study(TALES, 1);
    let (training, _) = parts(TALES);
    let followed = |a: char| training.windows(2).filter(|pair| pair[0] == a).count() as u32;
    let pair = |a, b| training.windows(2).filter(|pair| *pair == [a, b]).count() as u32;
    let vocabulary = study.started().vocabulary;
    let id = |c: char| vocabulary.iter().position(|token| *token == c.to_string()).unwrap();
    for previous in ['q', 't', ' ', '\n', '.'] {
        let row = row_of(&mut study, previous);
        assert_eq!(row.id as usize, id(previous));
        assert_eq!(row.total, followed(previous));
        for next in ['u', 'h', ' ', 'e', '"'] {
            assert_eq!(row.counts[id(next)], pair(previous, next), "{previous} {next}");
        }
        assert_eq!(row.counts.iter().sum::<u32>(), row.total);
        assert_eq!(row.pairs, training.len() as u64 - 1);
    }
    let q = row_of(&mut study, 'q');
    assert_eq!(q.counts[id('u')], q.total, "q is followed by u alone");
}

#[test]
fn the_first_loss_is_ln_v_and_the_table_comes_to_the_raw_counts() {
    for (text, seed) in [(TALES, 1), (NAMES, 7)] {
        let mut study = study(text, seed);
        let knows_nothing = (study.started().vocabulary.len() as f32).ln();
        let points = points(&mut study, 100);
        let first = points[0][0].unwrap();
        assert!((first - knows_nothing).abs() < 2e-3, "{first} {knows_nothing}");
        let early = scores(&mut study, 1.0);
        train(&mut study, 900);
        let late = scores(&mut study, 1.0);
        println!("{early:?}\n{late:?}");
        // Seeing pairs a thousand times over, the table's loss is the counts' to a thousandth.
        assert!(late.trained.training - late.counts.training < 1e-3);
        assert!(late.gap.largest < 0.02, "{:?}", late.gap);
        assert!(late.gap.mean < 2e-4, "{:?}", late.gap);
        assert!(early.gap.largest > 3.0 * late.gap.largest && early.gap.mean > late.gap.mean);
        // What lies between the two losses is the divergence, at any time.
        for scores in [&early, &late] {
            let between = scores.trained.training - scores.counts.training;
            assert!((between - scores.gap.divergence).abs() < 1e-6, "{between} {scores:?}");
        }
        // Logits of pairs never seen go on falling.
        assert!(late.gap.lowest < early.gap.lowest - 1.0, "{early:?} {late:?}");
        train(&mut study, 1000);
        let later = scores(&mut study, 1.0);
        assert!(later.gap.lowest < late.gap.lowest, "{late:?} {later:?}");
        assert!(later.gap.largest < 0.02, "{later:?}");
    }
}

#[test]
fn a_row_never_seen_stays_as_it_began() {
    let mut study = study("abcabcabcabcabcabcabcabcz", 3);
    let before = row_of(&mut study, '\u{fffd}');
    assert_eq!(before.total, 0);
    train(&mut study, 50);
    let after = row_of(&mut study, '\u{fffd}');
    assert!(same_bits(&before.logits, &after.logits));
    assert!(after.trained.iter().all(|p| (p - 0.2).abs() < 0.02), "{after:?}");
}

#[test]
fn raw_counts_are_infinitely_surprised_by_a_held_out_pair_never_seen() {
    let mut study = study(TALES, 1);
    let (training, held_out) = parts(TALES);
    let vocabulary = study.started().vocabulary;
    let found = scores(&mut study, 0.03);
    assert_eq!(found.counts.held_out, Some(f64::INFINITY));
    assert!(found.counts.training.is_finite());
    assert!(found.smoothed.held_out.unwrap().is_finite());
    let unseen = |pair: &[char]| !training.windows(2).any(|seen| seen == pair);
    let expected = held_out.windows(2).filter(|pair| unseen(pair)).count();
    assert!(expected > 0);
    assert_eq!(found.unseen_pairs, expected as u64);
    assert_eq!(found.unseen.len() as u32, found.unseen_kinds.min(12));
    for pair in &found.unseen {
        let [a, b] =
            [pair.previous, pair.next].map(|id| vocabulary[id as usize].chars().next().unwrap());
        assert!(unseen(&[a, b]), "{a} {b}");
    }

    // By hand: mean of -ln (c + k) / (n + k V) over the held-out pairs.
    let sum: f64 = held_out
        .windows(2)
        .map(|pair| {
            let count = training.windows(2).filter(|seen| seen == &pair).count();
            let total = training[..training.len() - 1].iter().filter(|c| **c == pair[0]).count();
            let (k, v) = (f64::from(0.03f32), vocabulary.len() as f64);
            -((count as f64 + k) / (total as f64 + k * v)).ln()
        })
        .sum();
    let mean = sum / (held_out.len() - 1) as f64;
    assert!((mean - found.smoothed.held_out.unwrap()).abs() < 1e-9);
}

#[test]
fn the_best_k_is_the_lowest_point_of_the_curve() {
    let mut tales = study(TALES, 1);
    let found = ask(&mut tales, ask::Curve {}).unwrap();
    let best = found.best.unwrap();
    assert_eq!(found.raw.held_out, Some(f64::INFINITY));
    assert!((0.005..0.3).contains(&best.k), "{best:?}");
    for point in &found.points {
        assert!(point.held_out >= best.held_out, "{point:?} {best:?}");
        assert!(point.training >= found.raw.training, "smoothing never helps on what was counted");
    }
    let at_best = scores(&mut tales, best.k as f32).smoothed;
    assert!((at_best.held_out.unwrap() - best.held_out.unwrap()).abs() < 1e-6);

    // Every held-out pair of the names was seen: raw counts may then be best, and are finite.
    let mut names = study(NAMES, 1);
    let found = ask(&mut names, ask::Curve {}).unwrap();
    assert!(found.raw.held_out.unwrap().is_finite());
    let best = found.best.unwrap();
    assert!(best.held_out <= found.raw.held_out);
    assert!(found.points.iter().all(|point| point.held_out >= best.held_out));
}

#[test]
fn a_sentence_is_scored_pair_by_pair() {
    let mut study = study(TALES, 1);
    train(&mut study, 30);
    let text = "the quay";
    let found = ask(&mut study, ask::Sentence { text: text.to_owned(), k: 0.5 }).unwrap();
    assert_eq!(found.terms.len(), 7);
    let vocabulary = study.started().vocabulary;
    let mean = found.terms.iter().map(|t| -t.trained.ln()).sum::<f64>() / 7.0;
    assert!((mean - found.trained).abs() < 1e-12);
    assert!((found.uniform - (vocabulary.len() as f64).ln()).abs() < 1e-12);
    for (term, pair) in found.terms.iter().zip(text.chars().zip(text.chars().skip(1))) {
        let row = row_of(&mut study, pair.0);
        assert_eq!((term.previous, term.total), (row.id, row.total));
        assert_eq!(vocabulary[term.next as usize], pair.1.to_string());
        assert_eq!(term.count, row.counts[term.next as usize]);
        assert_eq!(Some(term.counts), smoothed(term.count, term.total, 0.0, vocabulary.len()));
        assert_eq!(Some(term.smoothed), smoothed(term.count, term.total, 0.5, vocabulary.len()));
        assert!((term.trained - f64::from(row.trained[term.next as usize])).abs() < 1e-6);
    }
}

#[test]
fn unknown_characters_cost_raw_counts_everything_and_are_named() {
    let mut study = study(TALES, 1);
    let found = ask(&mut study, ask::Sentence { text: "theΩoΩ7".into(), k: 1.0 }).unwrap();
    assert_eq!(found.unknown, ["7", "Ω"]);
    assert_eq!(found.counts, f64::INFINITY);
    assert!(found.smoothed.is_finite() && found.trained.is_finite());
    // After an unknown character smoothing knows nothing: every token alike.
    let after = &found.terms[3];
    assert_eq!((after.previous, after.total, after.counts), (0, 0, 0.0));
    let knows_nothing = 1.0 / study.started().vocabulary.len() as f64;
    assert!((after.smoothed - knows_nothing).abs() < 1e-12);
    for text in ["", "t"] {
        let question = ask::Sentence { text: text.into(), k: 1.0 };
        assert!(ask(&mut study, question).unwrap_err().contains("two characters"));
    }
    let question = ask::Sentence { text: "the ".repeat(100), k: 1.0 };
    let long = ask(&mut study, question).unwrap();
    assert_eq!((long.terms.len(), long.left_out), (120, 279));
}

#[test]
fn drawing_follows_the_segments_and_its_numbers_do_not_depend_on_what_was_drawn() {
    let mut study = study(NAMES, 1);
    train(&mut study, 300);
    let vocabulary = study.started().vocabulary;
    let asked = |from, dice, drawn| ask::Writing { from, k: 1.0, dice, drawn };
    let counted = ask(&mut study, asked(Estimate::Counts, 5, 40)).unwrap();
    let trained = ask(&mut study, asked(Estimate::Trained, 5, 40)).unwrap();
    assert_eq!(vocabulary[counted.start as usize], "\n");
    assert_eq!((counted.draws.len(), trained.draws.len()), (40, 40));
    let mut previous = counted.start;
    for (a, b) in counted.draws.iter().zip(&trained.draws) {
        assert_eq!(a.number, b.number);
        assert_eq!(a.previous, previous);
        assert!((a.segment.from..a.segment.to).contains(&a.number), "{a:?}");
        let row = row_of(&mut study, vocabulary[previous as usize].chars().next().unwrap());
        let share = f64::from(row.counts[a.segment.id as usize]) / f64::from(row.total);
        assert!((a.segment.to - a.segment.from - share).abs() < 1e-9);
        previous = a.segment.id;
    }
    // What is announced as next is what comes next.
    let before = ask(&mut study, asked(Estimate::Counts, 5, 7)).unwrap();
    assert_eq!(before.next, Some(counted.draws[7]));
    assert_eq!(before.draws, counted.draws[..7]);
    assert!((before.segments.last().unwrap().to - 1.0).abs() < 1e-9);
    assert!(before.segments.is_sorted_by(|a, b| a.to - a.from >= b.to - b.from - 1e-12));
    let other = ask(&mut study, asked(Estimate::Counts, 6, 40)).unwrap();
    assert_ne!(other.draws, counted.draws);
}

#[test]
fn raw_counts_stop_where_nothing_ever_followed() {
    // ‘c’ stands once, at the end of what is counted.
    let mut study = study("ab\nc", 1);
    let asked = |from| ask::Writing { from, k: 0.0, dice: 1, drawn: 9 };
    let stopped = ask(&mut study, asked(Estimate::Counts)).unwrap();
    assert_eq!((stopped.draws.len(), stopped.next), (1, None));
    assert!(stopped.segments.is_empty());
    let goes_on = ask(&mut study, asked(Estimate::Trained)).unwrap();
    assert_eq!(goes_on.draws.len(), 9);
}

#[test]
fn the_matrix_holds_the_most_frequent_and_answers_stay_small() {
    let mut study = study(TALES, 1);
    let found = ask(&mut study, ask::Matrix { order: Order::Frequent, most: 20 }).unwrap();
    assert_eq!((found.ids.len(), found.counts.len()), (20, 400));
    assert_eq!(found.trained.shape, [20, 20]);
    assert!(found.totals.is_sorted_by(|a, b| a >= b));
    let vocabulary = study.started().vocabulary;
    assert_eq!(vocabulary[found.ids[0] as usize], " ");
    let found = ask(&mut study, ask::Matrix { order: Order::Alphabetical, most: 60 }).unwrap();
    assert_eq!(found.ids.len(), vocabulary.len(), "all there are");
    assert_eq!(found.ids.last(), Some(&0), "the unknown character comes last");
    assert!(found.ids[..found.ids.len() - 1].is_sorted());

    // A text with all the kinds of characters there is room for.
    let many: String =
        (0..6000u32).map(|i| char::from_u32(0x4E00 + i * 7 % 900).unwrap()).collect();
    let mut study = self::study(&many, 1);
    train(&mut study, 2);
    assert_eq!(study.started().parameters, 512 * 512);
    assert!(study.started().notes.iter().any(|note| note.contains("unknown")));
    let found = ask(&mut study, ask::Matrix { order: Order::Frequent, most: 999 }).unwrap();
    assert_eq!(found.ids.len(), 60);
    let bytes = wire::encode(&found);
    assert!(bytes.len() < 30_000, "{}", bytes.len());
}

#[test]
fn without_a_choice_the_row_is_one_that_says_much() {
    let mut tales = study(TALES, 1);
    let chosen = ask(&mut tales, ask::Row { character: NONE }).unwrap();
    let top = *chosen.counts.iter().max().unwrap();
    assert!(chosen.total >= 5 && f64::from(top) / f64::from(chosen.total) > 0.9, "{chosen:?}");
    // So it is for a character the text lacks, and for a number that is no character.
    for character in [u32::from('Ω'), 0xD800] {
        assert_eq!(ask(&mut tales, ask::Row { character }).unwrap().id, chosen.id);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let run = |seed| {
        let mut study = study(NAMES, seed);
        let points = points(&mut study, 20);
        (points, row_of(&mut study, 'a'))
    };
    let ((points, row), (again, same)) = (run(4), run(4));
    assert_eq!(points, again);
    assert!(same_bits(&row.logits, &same.logits));
    let (_, other) = run(5);
    assert!(!same_bits(&row.logits, &other.logits));
}

#[test]
fn texts_that_are_hardly_texts() {
    let refused = |text: &str| try_build(Spec { seed: 1 }, text).err().expect("refused");
    assert!(refused("").contains("no text"));
    assert!(refused("a").contains("at least two"));
    // One pair, nothing held out.
    let mut two = study("ab", 1);
    assert_eq!(points(&mut two, 800)[0][1], None);
    let found = scores(&mut two, 1.0);
    assert_eq!((found.counts.training, found.counts.held_out), (0.0, None));
    assert!(found.trained.training < 1e-3, "{found:?}");
    assert_eq!(ask(&mut two, ask::Curve {}).unwrap().best, None);
    assert!(two.started().notes[0].contains("too short"));
    // Nothing but one character.
    let mut one = study(&"a".repeat(300), 1);
    assert!(one.started().notes[0].contains("nothing to predict"));
    assert!(train(&mut one, 300)[0].unwrap() < 1e-2);
    let found = scores(&mut one, 0.0);
    assert_eq!(found.counts.held_out, Some(0.0));
    assert_eq!(found.unseen_kinds, 0);
}

#[test]
fn a_k_that_is_none_is_refused_and_0_is_fine() {
    let mut study = study(NAMES, 1);
    for k in [-1.0, f32::NAN, f32::INFINITY, 1e9] {
        assert!(ask(&mut study, ask::Scores { k }).unwrap_err().ends_with('.'));
    }
    let found = scores(&mut study, 0.0);
    assert_eq!(found.smoothed, found.counts);
}
