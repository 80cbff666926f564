//! The `tokens` chapter: what its figures say must be true of its numbers.

mod support;

use support::{
    same_bits,
    study::{NAMES, TALES, ask, build, points, try_build},
};
use unroll_model::AnyStudy;
use unroll_protocol::study::tokens::{
    Chain, Embedding, Level, Levels, MAX_MERGES, Scheme, Settings, Window, ask,
};

/// Steps the page takes by itself.
const WARM: usize = 300;

fn reading(scheme: Scheme, merges: u32) -> Settings {
    Settings { scheme, merges, ..Settings::default() }
}

fn study(settings: &Settings, text: &str) -> AnyStudy {
    build(settings.spec(1), text)
}

/// Takes `steps` steps; the loss of each.
fn train(study: &mut AnyStudy, steps: usize) -> Vec<f32> {
    points(study, steps).iter().map(|values| values[0].unwrap()).collect()
}

fn levels(study: &mut AnyStudy, sentence: &str, merges: u32, words: bool) -> Levels {
    ask(study, ask::Levels { sentence: sentence.to_owned(), merges, words }).unwrap()
}

fn embedding(study: &mut AnyStudy, token: u32) -> Embedding {
    ask(study, ask::Embedding { token }).unwrap()
}

fn window(study: &mut AnyStudy, at: u32, first: u32) -> Window {
    ask(study, ask::Window { at, first, around: 40 }).unwrap()
}

fn chain(study: &mut AnyStudy, sentence: &str) -> Chain {
    ask(study, ask::Chain { sentence: sentence.to_owned() }).unwrap()
}

/// Lines of a text that are not blank.
fn lines(text: &str) -> Vec<&str> {
    text.split('\n').filter(|line| !line.trim().is_empty()).collect()
}

/// Strings of all kinds of characters, the same in every run.
fn strings(count: usize) -> Vec<String> {
    const CHARACTERS: [&str; 20] = [
        "a",
        "a",
        "b",
        "the",
        " ",
        " ",
        "\n",
        ".",
        "7",
        "é",
        "e\u{301}",
        "ß",
        "ж",
        "東",
        "🙂",
        "👩\u{200d}🚀",
        "\t",
        "aaa",
        "\u{FFFD}",
        "⟨",
    ];
    let mut state = 12_345u32;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    (0..count)
        .map(|_| (0..draw(40)).map(|_| CHARACTERS[draw(CHARACTERS.len())]).collect())
        .collect()
}

#[test]
fn a_merge_shortens_the_text_by_exactly_its_count() {
    for words in [true, false] {
        let mut study = study(&Settings::default(), NAMES);
        let all = levels(&mut study, "x", MAX_MERGES, words);
        assert_eq!(all.merges.len(), MAX_MERGES as usize);
        assert_eq!(all.next, None);
        assert_eq!(all.pairs.vocabulary, 257 + MAX_MERGES);
        for merges in [0, 1, 2, 57, 299] {
            let now = levels(&mut study, "x", merges, words);
            let then = levels(&mut study, "x", merges + 1, words);
            let next = now.next.unwrap();
            assert_eq!(then.pairs.text_tokens, now.pairs.text_tokens - next.count);
            assert_eq!(then.pairs.vocabulary, now.pairs.vocabulary + 1);
            assert_eq!(then.merges.last(), Some(&next));
            assert_eq!(then.merges[..], all.merges[..merges as usize + 1]);
        }
        let [first, last] = [&all.merges[0], &all.merges[299]];
        assert!(first.count > last.count);
    }
}

#[test]
fn the_tokens_the_model_reads_are_those_counted() {
    for settings in [
        reading(Scheme::Characters, 0),
        reading(Scheme::Bytes, 0),
        reading(Scheme::Pairs, 80),
        Settings { words: false, ..reading(Scheme::Pairs, 80) },
    ] {
        let mut study = study(&settings, TALES);
        let levels = levels(&mut study, "x", settings.merges, settings.words);
        let level = match settings.scheme {
            Scheme::Characters => levels.characters,
            Scheme::Bytes => levels.bytes,
            Scheme::Pairs => levels.pairs,
        };
        let embedding = embedding(&mut study, 0);
        // The stream begins with an end token of its own.
        let total: u64 = embedding.counts.iter().map(|&count| u64::from(count)).sum();
        assert_eq!(total, level.text_tokens + 1);
        assert_eq!(embedding.vocabulary.len(), level.vocabulary as usize);
    }
}

#[test]
fn tokens_put_together_again_are_the_sentence() {
    let text: String = strings(60).join("\n");
    let mut study = study(&Settings::default(), &text);
    for sentence in strings(300).iter().filter(|sentence| !sentence.trim().is_empty()) {
        if lines(sentence).is_empty() {
            continue;
        }
        let whole = lines(sentence).join("\n");
        for (merges, words) in [(0, true), (20, true), (20, false), (MAX_MERGES, true)] {
            let levels = levels(&mut study, sentence, merges, words);
            for level in [&levels.characters, &levels.bytes, &levels.pairs] {
                assert_eq!(level.decoded, whole);
                check_pieces(level, &whole);
            }
            assert_eq!(levels.bytes.pieces.len(), whole.len() + 1);
            assert_eq!(levels.characters.pieces.len(), whole.chars().count() + 1);
            assert!(levels.sentence_next <= levels.pairs.pieces.len() as u32);
        }
    }
}

/// The chips cover the sentence byte by byte, and end as often as there are lines.
fn check_pieces(level: &Level, sentence: &str) {
    let covered: u32 = level.pieces.iter().map(|piece| piece.bytes).sum();
    let ends = level.pieces.iter().filter(|piece| piece.end).count();
    assert_eq!(ends, sentence.split('\n').count());
    assert_eq!(covered as usize + ends, sentence.len() + 1);
    assert!(level.pieces.last().is_some_and(|piece| piece.end));
    assert!(level.pieces.iter().all(|piece| piece.id < level.vocabulary));
}

#[test]
fn unknown_characters_are_known_as_bytes() {
    let mut study = study(&Settings::default(), NAMES);
    let levels = levels(&mut study, "ann 🙂", 30, true);
    let unknown: Vec<_> = levels.characters.pieces.iter().filter_map(|p| p.unknown).collect();
    assert_eq!(unknown, [' ', '🙂']);
    assert_eq!(levels.characters.decoded, "ann\u{FFFD}\u{FFFD}");
    assert_eq!(levels.bytes.decoded, "ann 🙂");
    assert_eq!(levels.pairs.decoded, "ann 🙂");
    let shown: Vec<_> = levels.bytes.pieces[4..8].iter().map(|p| p.text.as_str()).collect();
    assert_eq!(shown, ["⟨F0⟩", "⟨9F⟩", "⟨99⟩", "⟨82⟩"]);
}

#[test]
fn a_row_picked_is_the_one_hot_vector_times_the_table() {
    for (scheme, token) in [(Scheme::Characters, 40), (Scheme::Bytes, 101), (Scheme::Pairs, 260)] {
        let mut study = study(&reading(scheme, 20), TALES);
        train(&mut study, 5);
        let embedding = embedding(&mut study, token);
        let width = embedding.table.shape[1] as usize;
        let row = &embedding.table.values[token as usize * width..][..width];
        assert!(same_bits(&embedding.row, row));
        assert_eq!(embedding.product, row);
        assert!(row.iter().any(|value| *value != 0.0));
    }
}

#[test]
fn rows_of_tokens_that_never_occur_never_move() {
    let mut study = study(&reading(Scheme::Bytes, 0), NAMES);
    let before = embedding(&mut study, 0);
    train(&mut study, 20);
    let after = embedding(&mut study, 0);
    for id in 0..256 {
        let row = |e: &Embedding| e.table.block(&[id]).unwrap().to_vec();
        let same = same_bits(&row(&before), &row(&after));
        assert_eq!(same, before.counts[id] == 0, "byte {id}");
    }
}

#[test]
fn the_window_holds_as_many_examples_as_tokens() {
    for length in [1, 8, 16] {
        let mut study = study(&Settings { window: length, ..Settings::default() }, TALES);
        let window = window(&mut study, 30, 20);
        assert_eq!((window.at, window.first, window.length), (30, 20, length));
        assert_eq!(window.row.len(), length as usize + 1);
        assert_eq!(window.probabilities.len(), length as usize);
        assert_eq!(window.pieces[10..10 + window.row.len()], window.row[..]);
        assert!(window.probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
    }
    let mut study = study(&Settings::default(), TALES);
    let end = window(&mut study, u32::MAX, u32::MAX);
    assert_eq!(end.at, end.last);
    assert!(end.row.last().unwrap().end);
    // The text begins with the end token that its first line is given.
    assert!(window(&mut study, 0, 0).row[0].end);
}

#[test]
fn the_factors_of_a_sentence_are_those_of_the_text() {
    let mut study = study(&Settings::default(), TALES);
    train(&mut study, WARM);
    // The first line of the text, read as a sentence and by windows.
    let chain = chain(&mut study, lines(TALES)[0]);
    assert!(chain.pieces[0].end && chain.pieces.last().unwrap().end);
    assert_eq!(chain.log_probabilities.len(), chain.pieces.len() - 1);
    for (t, log) in chain.log_probabilities.iter().enumerate() {
        let window = window(&mut study, t as u32, 0);
        assert_eq!(window.row[0], chain.pieces[t]);
        assert!((window.probabilities[0] - log.exp()).abs() < 1e-5, "factor {t}");
    }
}

#[test]
fn the_model_learns_where_a_line_ends() {
    let mut study = study(&Settings::default(), TALES);
    train(&mut study, WARM);
    let mut end_after =
        |sentence: &str| chain(&mut study, sentence).log_probabilities.last().unwrap().exp();
    let (letter, stop) = (end_after("the fox"), end_after("the fox."));
    assert!(letter < 0.01 && stop > 0.1, "{letter} {stop}");
}

#[test]
fn letters_part_by_kind_within_the_warm_steps() {
    for (text, wanted) in [(TALES, 24), (NAMES, 20)] {
        let mut study = study(&Settings::default(), text);
        let losses = train(&mut study, WARM);
        assert!(losses[WARM - 1] < 2.45, "{losses:?}");
        let embedding = embedding(&mut study, 0);
        let letters: Vec<(bool, f32, f32)> = embedding
            .vocabulary
            .iter()
            .enumerate()
            .filter(|(id, name)| {
                let mut characters = name.chars();
                let letter = characters.next().is_some_and(|c| c.is_ascii_lowercase());
                letter && characters.next().is_none() && embedding.counts[*id] > 0
            })
            .map(|(id, name)| {
                let at = embedding.map.block(&[id]).unwrap();
                ("aeiou".contains(name.as_str()), at[0], at[1])
            })
            .collect();
        let middle = |vowel: bool| {
            let own: Vec<_> = letters.iter().filter(|letter| letter.0 == vowel).collect();
            let count = own.len() as f32;
            let sum = own.iter().fold((0.0, 0.0), |sum, l| (sum.0 + l.1, sum.1 + l.2));
            (sum.0 / count, sum.1 / count)
        };
        let middles = [middle(false), middle(true)];
        let right = letters.iter().filter(|(vowel, x, y)| {
            let [consonants, vowels] = middles.map(|m| (x - m.0).hypot(y - m.1));
            (vowels < consonants) == *vowel
        });
        let (right, all) = (right.count(), letters.len());
        assert!(right >= wanted, "{right} of {all}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_whatever_is_asked_meanwhile() {
    let settings = reading(Scheme::Pairs, 30);
    let mut one = study(&settings, NAMES);
    let mut two = study(&settings, NAMES);
    let alone = train(&mut one, 12);
    let mut asked = Vec::new();
    for step in 1..=12 {
        asked.extend(train(&mut two, 1));
        levels(&mut two, "falveno", step * 20, step % 2 == 0);
        chain(&mut two, "falveno");
        window(&mut two, step, 0);
        two.discard();
    }
    assert!(same_bits(&alone, &asked));
    let tables = [&mut one, &mut two].map(|study| embedding(study, 0).table.values);
    assert!(same_bits(&tables[0], &tables[1]));
    let mut other = build(settings.spec(2), NAMES);
    assert!(!same_bits(&train(&mut other, 12), &alone));
}

#[test]
fn bad_texts_and_sentences_are_refused_with_a_sentence() {
    for text in ["", " \n\t\n"] {
        let refused = try_build(Settings::default().spec(1), text).err().unwrap();
        assert!(refused.starts_with("There is no text"), "{refused}");
    }
    let mut wrong = Settings::default().spec(1);
    wrong.width = 0;
    assert!(try_build(wrong, "abc").is_err());
    let mut study = study(&Settings::default(), TALES);
    for sentence in ["", "  ", "\n\n"] {
        let sentence = sentence.to_owned();
        let question = ask::Levels { sentence: sentence.clone(), merges: 1, words: true };
        assert!(ask(&mut study, question).unwrap_err().ends_with('.'));
        assert!(ask(&mut study, ask::Chain { sentence }).is_err());
    }
    assert!(study.set_learning_rate(f32::NAN).is_err());
    assert_eq!(
        embedding(&mut study, u32::MAX).token,
        embedding(&mut study, 0).vocabulary.len() as u32 - 1
    );
}

#[test]
fn one_character_is_a_text_in_every_scheme() {
    for scheme in Scheme::ALL {
        for text in ["a", "🙂", "aaaaaaaa"] {
            let mut study = study(&reading(*scheme, 300), text);
            let losses = train(&mut study, 30);
            assert!(losses.iter().all(|loss| loss.is_finite()));
            let levels = levels(&mut study, text, 300, true);
            assert_eq!(levels.pairs.decoded, text);
            let window = window(&mut study, 5, 5);
            assert_eq!(window.row.len(), window.length as usize + 1);
            chain(&mut study, text);
            embedding(&mut study, 0);
        }
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let mut study = study(&Settings::default(), &"naïve café\n".repeat(40_000));
    assert_eq!(study.started().notes.len(), 1, "{:?}", study.started().notes);
    let levels = levels(&mut study, "x", 5, true);
    assert!(levels.text_bytes <= 100_000 && levels.text_bytes > 99_990);
}
