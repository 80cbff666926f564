//! What all chapters say, held to the rules of the course.

use std::collections::BTreeSet;

use unroll_protocol::{Link, link::Chapter};

use crate::{
    course::{Script, changes, twin_of},
    teaching::{Quiz, WORDS, Word, fold, plain},
};

/// Makes [`all`] from the list of chapters: one without a script does not compile.
macro_rules! scripts {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        /// Every chapter's script, in the course's order.
        fn all() -> Vec<(&'static str, &'static Script)> {
            vec![("start", &super::start::SCRIPT), $(($id, &super::$module::SCRIPT),)+ ("machine", &super::machine::SCRIPT), ("decode", &super::decode::SCRIPT), ("gpt", &super::gpt::SCRIPT)]
        }
    };
}

unroll_protocol::with_chapters!(scripts);

/// The same, and what is said of a model that others trained.
fn told() -> Vec<(&'static str, &'static Script)> {
    all().into_iter().chain([("opened", &super::gpt::OPENED_SCRIPT)]).collect()
}

/// All that a learner reads of a script, text by text.
fn texts(script: &Script) -> Vec<&'static str> {
    let beats = script.beats.iter().flat_map(|beat| [beat.title, beat.text]);
    let tries = script.tries.iter().flat_map(|trial| [trial.text, trial.label]);
    let quizzes = script.quizzes.iter().flat_map(|quiz| {
        let options = quiz.options.iter().flat_map(|(option, reply)| [*option, *reply]);
        options.chain([quiz.asks])
    });
    let all = [script.before].into_iter().chain(beats).chain(tries).chain(quizzes);
    all.filter(|text| !text.is_empty()).collect()
}

/// The sentences of a text, in words each.
fn sentences(text: &str) -> Vec<usize> {
    let ends = |word: &str| word.trim_end_matches(['”', '’', ')']).ends_with(['.', '?', '!', ':']);
    let mut lengths = vec![0];
    for word in text.split_whitespace() {
        *lengths.last_mut().expect("never empty") += 1;
        if ends(word) {
            lengths.push(0);
        }
    }
    lengths.retain(|length| *length > 0);
    lengths
}

#[test]
fn scripts_keep_to_their_form() {
    for (chapter, script) in all() {
        let beats = script.beats;
        assert!((6..=11).contains(&beats.len()), "{chapter}: {} beats", beats.len());
        assert!(beats[0].title.is_empty() && beats[1..].iter().all(|beat| !beat.title.is_empty()));
        assert_eq!(beats.last().map(|beat| beat.title), Some("What you can do now"), "{chapter}");
        assert!((3..=5).contains(&script.tries.len()), "{chapter}: {} trials", script.tries.len());
        let asks = script.asks();
        assert!((4..=6).contains(&asks.len()), "{chapter}: {} questions", asks.len());
        assert_eq!(asks.iter().collect::<BTreeSet<_>>().len(), asks.len(), "{chapter}: {asks:?}");
        for quiz in script.quizzes {
            assert!(asks.contains(&quiz.id), "{chapter}: {} is never asked", quiz.id);
            assert!((2..=4).contains(&quiz.options.len()) && quiz.right < quiz.options.len());
        }
        let kinds: BTreeSet<_> =
            script.quizzes.iter().map(|quiz| format!("{:?}", quiz.kind)).collect();
        assert!(kinds.contains("Explain") && kinds.contains("FindError"), "{chapter}: {kinds:?}");
        assert!(asks.len() > script.quizzes.len(), "{chapter}: nothing is asked of the model");
    }
}

/// A learner came for the figure: a beat says its one thing and where to look, and folds away the rest.
#[test]
fn beats_are_short() {
    for (chapter, script) in told() {
        let mut all = 0;
        for beat in script.beats {
            let (shown, folded) = fold(beat.text);
            let read = plain(shown).0;
            let (words, most) =
                (read.split_whitespace().count(), if beat.title.is_empty() { 60 } else { 55 });
            assert!(words <= most, "{chapter}: {words} words in: {read}");
            let stops =
                read.split_whitespace().filter(|word| word.ends_with(['.', '?', '!'])).count();
            assert!(stops <= 6, "{chapter}: {stops} sentences in: {read}");
            all += words;
            let Some((label, text)) = folded else {
                assert!(
                    !beat.text.contains("\n\n+"),
                    "{chapter}: a label without a text: {}",
                    beat.text
                );
                continue;
            };
            assert!(label.split_whitespace().count() <= 9, "{chapter}: {label}");
            assert!(fold(text).1.is_none(), "{chapter}: two folds in: {}", beat.text);
            assert!(
                plain(text).0.split_whitespace().count() <= 75,
                "{chapter}: a long fold: {text}"
            );
        }
        let mean = all as f64 / script.beats.len() as f64;
        println!("{chapter:10} {mean:.1} words a beat");
        assert!(mean <= 53.0, "{chapter}: {mean} words a beat");
    }
}

/// Whoever picks the longest option without reading is right hardly more often than by chance, a third.
#[test]
fn the_right_option_is_not_known_by_its_length() {
    let told = told();
    let quizzes: Vec<_> = told.iter().flat_map(|(_, script)| script.quizzes).collect();
    let is_longest = |quiz: &&&Quiz| {
        let length = |(option, _): &(&str, &str)| option.chars().count();
        let right = length(&quiz.options[quiz.right]);
        quiz.options.iter().all(|option| length(option) <= right)
    };
    let longest = quizzes.iter().filter(is_longest).count();
    assert!(longest * 5 <= quizzes.len() * 2, "{longest} of {}", quizzes.len());
}

#[test]
fn a_twin_that_a_trial_adds_is_another_model() {
    let mut twins = 0;
    for (chapter, script) in all() {
        for trial in script.tries {
            let chapter = Chapter::from_id(chapter).expect("the id of a chapter");
            let mut link = Link { chapter, ..Link::default() };
            (trial.set)(&mut link);
            if link.twin.is_empty() {
                continue;
            }
            assert_eq!(changes(&link).len(), link.twin.split(';').count(), "{}", trial.id);
            let twin = twin_of(&link, &link);
            assert_ne!((twin.study(), twin.experiment()), (link.study(), link.experiment()));
            twins += 1;
        }
    }
    assert!(twins > 0);
}

#[test]
fn texts_are_short_plain_and_american() {
    for (chapter, script) in told() {
        let mut lengths = Vec::new();
        let beside = (chapter == "gpt").then_some(crate::controls::OPTIMIZER);
        for text in texts(script).into_iter().chain(beside) {
            let (read, _) = plain(text);
            for length in sentences(&read) {
                assert!(length <= 32, "{chapter}: {length} words in a sentence of: {read}");
                lengths.push(length);
            }
            for word in [
                "colour",
                "learnt",
                "behaviour",
                "centre",
                "normalis",
                "initialis",
                "neighbour",
                "--",
            ] {
                assert!(!read.contains(word), "{chapter}: {word} in: {read}");
            }
            assert!(!read.contains(['\'', '"']), "{chapter}: a straight quote in: {read}");
        }
        let words: usize = lengths.iter().sum();
        let mean = words as f64 / lengths.len() as f64;
        println!("{chapter:10} {words:5} words, {mean:.1} a sentence");
        assert!(mean <= 16.0, "{chapter}: {mean} words a sentence");
    }
}

#[test]
fn every_chapter_links_its_terms_once_each() {
    for (chapter, script) in told() {
        let linked: Vec<Word> = texts(script).into_iter().flat_map(|text| plain(text).1).collect();
        assert!(linked.len() >= 4, "{chapter} links {linked:?}");
        for (i, word) in linked.iter().enumerate() {
            assert!(!linked[..i].contains(word), "{chapter} links {word:?} twice");
        }
    }
}

#[test]
fn every_word_of_the_glossary_is_linked_somewhere() {
    let scripts = all();
    let texts = scripts.iter().flat_map(|(_, script)| texts(script));
    let beside = [crate::controls::OPTIMIZER];
    let linked: Vec<Word> = texts.chain(beside).flat_map(|text| plain(text).1).collect();
    let missing: Vec<&str> =
        WORDS.iter().filter(|entry| !linked.contains(&entry.word)).map(|entry| entry.id).collect();
    println!(
        "{} of {} words are linked",
        linked.iter().map(|w| w.id()).collect::<BTreeSet<_>>().len(),
        WORDS.len()
    );
    assert_eq!(missing, [""; 0], "no chapter links these");
}
