//! The `qkv` chapter: what its page says must be true of the numbers.

mod support;

use std::time::Instant;

use support::study::{TALES, ask, build, points, train, try_build};
use unroll_model::AnyStudy;
use unroll_protocol::{
    attention::Worked,
    study::qkv::{
        CONTEXT, Experiment, HEADS, Head, LAYERS, LENGTHS, MOST_DIMENSIONS, Memory, Reader, Scale,
        Settings, Shuffle, Spec, ask,
    },
};

const SENTENCE: &str = "said Fenn the fox";
/// Steps the page takes by itself.
const WARM: usize = 200;

fn spec(experiment: Experiment) -> Spec {
    Settings { experiment, ..Settings::default() }.spec(1)
}

fn study(experiment: Experiment) -> AnyStudy {
    build(spec(experiment), TALES)
}

fn head(
    study: &mut AnyStudy,
    memory: Memory,
    causal: bool,
    [layer, head, query]: [u32; 3],
) -> Head {
    ask(study, ask::Head { text: SENTENCE.to_owned(), memory, causal, layer, head, query }).unwrap()
}

fn shuffle(study: &mut AnyStudy, draw: u32, positions: bool, causal: bool) -> Shuffle {
    ask(study, ask::Shuffle { text: SENTENCE.to_owned(), draw, positions, causal }).unwrap()
}

fn scale(study: &mut AnyStudy, dimensions: u32) -> Scale {
    ask(study, ask::Scale { dimensions, draw: 1 }).unwrap()
}

#[test]
fn every_row_sums_to_one_and_the_inspector_agrees_with_the_model() {
    let mut study = study(Experiment::Cell);
    train(&mut study, WARM);
    for (memory, causal) in [(Memory::Own, false), (Memory::Own, true), (Memory::Other, true)] {
        for layer in 0..LAYERS {
            for which in 0..HEADS {
                for query in [0, 6, 16] {
                    let head = head(&mut study, memory, causal, [layer, which, query]);
                    assert_eq!(head.row.query, query);
                    let length = head.memory_tokens.len();
                    let row = head.weights.block(&[query as usize]).unwrap();
                    assert_eq!(row, head.row.weights);
                    assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                    let allowed = &head.mask[query as usize * length..][..length];
                    assert_eq!(allowed, head.row.allowed);
                    // Exactly, in f64 from the row's vectors alone.
                    let exact = Worked::exact(&head.row);
                    for (key, worked) in exact.keys.iter().enumerate() {
                        let own = f64::from(head.row.weights[key]);
                        assert!((worked.weight - own).abs() < 1e-6, "{own} {}", worked.weight);
                        assert_eq!(worked.allowed, own != 0.0);
                    }
                    for (own, worked) in head.row.mixed.iter().zip(&exact.output) {
                        assert!((f64::from(*own) - worked).abs() < 1e-5);
                    }
                    // And on paper, with six decimals all the way.
                    let paper = Worked::on_paper(&head.row);
                    for (key, worked) in paper.keys.iter().enumerate() {
                        let own = f64::from(head.row.weights[key]);
                        assert!((worked.weight - own).abs() < 1e-5, "{own} {}", worked.weight);
                    }
                }
            }
        }
    }
}

#[test]
fn the_cell_that_the_chapter_opens_with_shows_something() {
    let mut study = study(Experiment::Cell);
    train(&mut study, WARM);
    let Settings { layer, head: which, query, key, causal, .. } = Settings::default();
    assert_eq!(key, 0, "the page chooses the key: a letter that is not the row's largest");
    // The page's first sentence.
    let text = "said Fenn the fox, who had one".to_owned();
    let question = ask::Head {
        text,
        memory: Memory::Own,
        causal,
        layer: layer - 1,
        head: which - 1,
        query: query - 1,
    };
    let head = ask(&mut study, question).unwrap();
    let mut shares: Vec<(f32, &String)> =
        head.row.weights.iter().copied().zip(&head.memory_tokens).collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let letter = |token: &String| token.chars().all(char::is_alphabetic);
    let chosen = shares[1..].iter().find(|(_, token)| letter(token));
    assert!(chosen.is_some_and(|(share, _)| *share > 0.1), "{shares:?}");
}

#[test]
fn keys_and_values_can_come_from_another_text() {
    let mut study = study(Experiment::Cell);
    let own = head(&mut study, Memory::Own, true, [1, 0, 3]);
    assert_eq!((own.tokens.len(), own.memory_tokens.len()), (17, 17));
    // Causal: 17 * 18 / 2 cells.
    assert_eq!(own.mask.iter().filter(|allowed| **allowed).count(), 153);
    let free = head(&mut study, Memory::Own, false, [1, 0, 3]);
    assert!(free.mask.iter().all(|allowed| *allowed));
    let other = head(&mut study, Memory::Other, true, [1, 0, 3]);
    assert_eq!((other.tokens.len(), other.memory_tokens.len()), (17, CONTEXT as usize));
    assert_eq!(other.memory_tokens.concat(), TALES.chars().take(24).collect::<String>());
    assert!(other.mask.iter().all(|allowed| *allowed));
    // The queries are the same: only what they look at is another.
    assert_eq!(own.queries, other.queries);
    assert_ne!(own.row.mixed, other.row.mixed);
}

#[test]
fn without_positions_and_mask_a_shuffle_only_moves_the_outputs() {
    let mut study = study(Experiment::Shuffle);
    train(&mut study, WARM);
    let most = |shuffle: &Shuffle| {
        shuffle.difference.values.iter().fold(0f32, |most, value| most.max(value.abs()))
    };
    for draw in 1..6 {
        let bag = shuffle(&mut study, draw, false, false);
        assert!(most(&bag) < 2e-6 * bag.largest.max(1.0), "{} of {}", most(&bag), bag.largest);
        assert_ne!(bag.order, (0..17).collect::<Vec<u32>>());
        let largest = bag.before.values.iter().fold(0f32, |most, value| most.max(value.abs()));
        assert_eq!((&bag.before.shape, largest), (&bag.difference.shape, bag.largest));
        for (positions, causal) in [(true, false), (false, true), (true, true)] {
            let ordered = shuffle(&mut study, draw, positions, causal);
            assert_eq!(ordered.order, bag.order);
            let most = most(&ordered);
            assert!(most > 1e-2 * ordered.largest, "{most} of {}", ordered.largest);
        }
    }
}

#[test]
fn the_variance_of_products_is_their_width_and_scaling_saves_the_gradient() {
    let mut study = study(Experiment::Scale);
    for dimensions in [1, 16, 64, 255, MOST_DIMENSIONS] {
        let scale = scale(&mut study, dimensions);
        let here = scale.here;
        let off = here.variance[0] / dimensions as f32;
        assert!((off - 1.0).abs() < 0.35, "{dimensions}: {off}");
        assert!((here.variance[1] - off).abs() < 1e-4);
        assert_eq!(scale.products, 64 * 16);
        for (counts, beyond) in scale.counts.iter().zip(&scale.beyond) {
            assert_eq!(counts.iter().sum::<f32>() + beyond.0 + beyond.1, 1024.0);
        }
        for weights in &scale.weights {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
    let wide = scale(&mut study, MOST_DIMENSIONS);
    // ln 16 = 2.77 nats is to look at all alike.
    assert!(wide.here.entropy[0] < 0.3 && wide.here.entropy[1] > 2.0, "{:?}", wide.here);
    assert!(wide.here.gradient[0] < wide.here.gradient[1] / 1.5, "{:?}", wide.here);
    let widths: Vec<u32> = wide.curve.iter().map(|point| point.dimensions).collect();
    assert_eq!(widths, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    assert!(wide.curve.windows(2).all(|pair| pair[0].entropy[0] > pair[1].entropy[0]));
    // With the root, entropy stays about the same from 8 dimensions on.
    assert!(wide.curve[3..].iter().all(|point| (point.entropy[1] - 2.4).abs() < 0.2), "{wide:?}");
    assert!(ask(&mut study, ask::Scale { dimensions: 0, draw: 1 }).is_err());
    assert!(ask(&mut study, ask::Scale { dimensions: 257, draw: 1 }).is_err());
}

#[test]
fn a_causal_mask_alone_tells_what_came_first() {
    let mut study = study(Experiment::Order);
    let steps = points(&mut study, 240);
    for (at, step) in steps.iter().enumerate().filter(|(at, _)| at % 40 == 39) {
        println!("{at} {step:?}");
    }
    let last = steps
        .iter()
        .rev()
        .find_map(|step| step[3].map(|bag| [bag, step[4].unwrap(), step[5].unwrap()]));
    let [bag, causal, positions] = last.unwrap();
    assert!(bag < 0.25, "no order: chance is 0.125, not {bag}");
    assert!(causal > 0.9, "{causal}");
    assert!(positions > 0.9, "{positions}");
    let word = ask(&mut study, ask::Word { draw: 1 }).unwrap();
    assert_eq!(word.letters[0], word.alphabet[word.target as usize]);
    assert_eq!(word.probabilities.len(), Reader::ALL.len());
    for row in &word.probabilities {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
    assert!(word.probabilities[1][word.target as usize] > 0.5);
}

fn clock() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

#[test]
fn times_are_taken_and_a_question_stays_short() {
    unroll_model::set_clock(clock);
    let mut study = study(Experiment::Cost);
    for attention in [false, true] {
        for length in LENGTHS {
            let began = Instant::now();
            let cost = ask(&mut study, ask::Cost { length, attention, round: 1 }).unwrap();
            assert!(cost.milliseconds > 0.0 && cost.runs > 0);
            println!("{length} {attention}: {} ms, {} runs", cost.milliseconds, cost.runs);
            assert!(began.elapsed().as_millis() < 1000);
        }
    }
    assert!(ask(&mut study, ask::Cost { length: 4096, attention: true, round: 1 }).is_err());
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let run = || {
        let mut study = study(Experiment::Cell);
        let losses = points(&mut study, 5);
        (losses, head(&mut study, Memory::Own, true, [0, 0, 5]), shuffle(&mut study, 2, true, true))
    };
    assert_eq!(run(), run());
    assert_eq!(
        points(&mut study(Experiment::Order), 12),
        points(&mut study(Experiment::Order), 12)
    );
}

#[test]
fn bad_input_is_refused_with_a_sentence_and_the_model_goes_on() {
    let mut study = study(Experiment::Cell);
    let empty = ask::Head {
        text: String::new(),
        memory: Memory::Own,
        causal: true,
        layer: 0,
        head: 0,
        query: 0,
    };
    let refusal = ask(&mut study, empty).unwrap_err();
    assert!(refusal.ends_with('.'), "{refusal}");
    for (layer, head) in [(9, 0), (0, 9)] {
        let question = ask::Head {
            text: "a".into(),
            memory: Memory::Own,
            causal: true,
            layer,
            head,
            query: 0,
        };
        assert!(ask(&mut study, question).unwrap_err().starts_with("There is no "));
    }
    // A row beyond the sentence is its last, unknown characters are read as such, and what is too
    // long loses its beginning.
    let long = "Ω".repeat(512);
    let question =
        ask::Head { text: long, memory: Memory::Own, causal: true, layer: 0, head: 0, query: 400 };
    let head = ask(&mut study, question).unwrap();
    assert_eq!((head.row.query, head.dropped), (23, 488));
    assert!(head.tokens.iter().all(|token| token == "\u{fffd}"));
    assert!(ask(&mut study, ask::Word { draw: 1 }).is_err());
    train(&mut study, 1);
    assert!(try_build(spec(Experiment::Cell), "").is_err());
    assert!(try_build(spec(Experiment::Cell), "short").is_err());
    let one = ask::Shuffle { text: "a".into(), draw: 1, positions: true, causal: true };
    assert!(ask(&mut study, one).is_ok());
}
