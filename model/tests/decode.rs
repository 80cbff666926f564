//! Choosing the next token: what follows, the likeliest continuations, surprise, and the cache.

mod support;

use support::{TEXT, device, ready, step, tiny, values};
use unroll_model::{
    Gpt, SampleError, Tokenizer, Trainer, after, cached, race, surprise, token_tensor, tree,
};
use unroll_protocol::{
    Architecture,
    architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    gpt::{Grown, MOST_BEAMS, MOST_READ, Sampling, ask, shares},
};

/// A model that has learned something, so that its logits differ.
fn trained(architecture: Architecture, tied: bool) -> Trainer {
    let mut spec = tiny();
    spec.gpt.architecture = architecture;
    spec.gpt.tied = tied;
    let mut trainer = Trainer::new(&spec, TEXT, &device()).unwrap();
    (0..15).for_each(|_| _ = step(&mut trainer));
    trainer
}

/// Every kind of positions, both masks that do not look ahead, every place and both kinds of norms,
/// tied heads, and models without attention, residuals, scale or feed-forward layers.
fn models() -> impl Iterator<Item = Trainer> {
    let plain = Architecture::GPT2;
    let positions = [
        Positions::None,
        Positions::Learned,
        Positions::Sinusoidal,
        Positions::Integer,
        Positions::Rotary,
        Positions::Alibi,
    ];
    let of_positions = positions.map(|positions| Architecture { positions, ..plain });
    let band = |positions| Architecture { mask: MaskKind::Band, band: 3, positions, ..plain };
    let others = [
        band(Positions::Learned),
        band(Positions::Alibi),
        Architecture { norm: NormPlacement::Post, ..plain },
        Architecture { norm: NormPlacement::None, scaled: false, ..plain },
        Architecture { norm_kind: NormKind::Rms, ..plain },
        Architecture { attention: false, ..plain },
        Architecture { feed_forward: None, residual: false, ..plain },
        Architecture { feed_forward: Some(Activation::Relu), ..plain },
    ];
    let all = of_positions.into_iter().chain(others);
    all.enumerate().map(|(at, architecture)| trained(architecture, at % 2 == 0))
}

#[test]
fn a_cache_gives_the_logits_of_the_whole_pass() {
    for trainer in models() {
        let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
        let tokens = tokenizer.encode(&TEXT[..8]);
        let whole = model.forward_traced(token_tensor(&tokens, 1, &device()), None);
        let (expected, known) = (values(whole.logits.clone()), tokenizer.len());
        // Grown from nothing, one token at a time.
        let mut cache = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let row = model.forward_next(token_tensor(&[*token], 1, &device()), at, &mut cache);
            let found = values(row.logits);
            for (a, b) in found.iter().zip(&expected[at * known..]) {
                assert!((a - b).abs() < 1e-5, "{:?}, token {at}: {a} {b}", model.architecture());
            }
        }
        // It holds what the whole pass computed.
        let attention = whole.layers.into_iter().filter_map(|layer| layer.attention);
        let whole = attention.map(|attention| [attention.keys, attention.values]);
        let at_once = model.cache(token_tensor(&tokens, 1, &device()));
        for (kept, whole) in cache.into_iter().chain(at_once).zip(whole.clone().chain(whole)) {
            for (kept, whole) in kept.into_iter().zip(whole) {
                let pairs = values(kept).into_iter().zip(values(whole));
                assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5));
            }
        }
    }
}

#[test]
fn what_is_told_of_a_cache_is_true() {
    for trainer in models() {
        let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
        let told = ready(cached(&model, tokenizer, "the cat")).unwrap();
        let attends = model.architecture().attention;
        assert!(told.difference < 1e-5, "{}", told.difference);
        assert_eq!((told.tokens.len(), told.dropped), (7, 0));
        assert_eq!(told.blocks, if attends { 2 } else { 0 });
        assert!(told.products[0] < told.products[1]);
        let sum: f32 = told.shares.iter().sum();
        assert!((sum - 1.0).abs() < 1e-5);
        if !attends {
            continue;
        }
        assert_eq!(told.keys.shape, [2, 2, 7, 8]);
        assert_eq!(told.values.shape, [2, 2, 7, 8]);
        assert_eq!(told.queries.shape, [2, 2, 8]);
        assert_eq!(told.weights.shape, [2, 2, 7]);
        for row in told.weights.values.chunks(7) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let band = model.architecture().mask == MaskKind::Band;
        assert_eq!(told.weights.values[..4].iter().all(|weight| *weight == 0.0), band);
    }
    let trainer = trained(Architecture::GPT2, false);
    let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
    let told = ready(cached(&model, tokenizer, "on the cat")).unwrap();
    assert_eq!((told.tokens.concat().as_str(), told.dropped), (" the cat", 2));
    assert_eq!(ready(cached(&model, tokenizer, "t")).unwrap().tokens, ["t"]);
    assert_eq!(ready(cached(&model, tokenizer, "")), Err(SampleError::Empty));
    let ahead = trained(Architecture { mask: MaskKind::Full, ..Architecture::GPT2 }, false);
    let refused = ready(cached(&ahead.model(), tokenizer, "the")).unwrap_err();
    assert!(refused.to_string().contains("choose a causal mask"), "{refused}");
}

#[test]
fn multiplications_are_counted() {
    let trainer = trained(Architecture::GPT2, false);
    let told = ready(cached(&trainer.model(), trainer.tokenizer(), "abc")).unwrap();
    let (width, known) = (16, trainer.tokenizer().len() as u64);
    // Four projections, scores and mix with three keys, two feed-forward products, in two blocks.
    let row = 2 * (4 * width * width + 2 * 3 * width + 8 * width * width);
    assert_eq!(told.products, [row + width * known, 3 * row + width * known]);
}

#[test]
fn logits_after_endings_are_those_of_the_joined_text() {
    let trainer = trained(Architecture::GPT2, false);
    let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
    // The last does not fit the context whole.
    let endings = ["", "a", " sat on", " sat on the mat"].map(str::to_owned);
    let ids = endings.each_ref().map(|ending| tokenizer.encode(ending));
    let told = ready(after(&model, tokenizer, "the", &ids)).unwrap();
    assert_eq!(told.vocabulary, tokenizer.vocabulary());
    assert_eq!(told.logits.shape, [4, tokenizer.len() as u32]);
    for (ending, logits) in endings.iter().zip(told.logits.values.chunks(tokenizer.len())) {
        let mut tokens = tokenizer.encode(&format!("the{ending}"));
        tokens.drain(..tokens.len().saturating_sub(8));
        let expected = values(model.forward_last(token_tensor(&tokens, 1, &device())));
        assert_eq!(logits, expected);
    }
    assert!(ready(after(&model, tokenizer, "", &[Vec::new()])).is_err());
}

/// The logarithm of the probability of `ending` after `text`, computed character by character.
fn log_probability(model: &Gpt, tokenizer: &Tokenizer, text: &str, ending: &str) -> f64 {
    let mut tokens = tokenizer.encode(text);
    let mut sum = 0.0;
    for token in tokenizer.encode(ending) {
        let window = &tokens[tokens.len().saturating_sub(8)..];
        let logits = values(model.forward_last(token_tensor(window, 1, &device())));
        let shares = shares(&logits, &Sampling::PLAIN).unwrap();
        sum += f64::from(shares[token as usize]).ln();
        tokens.push(token);
    }
    sum
}

#[test]
fn beam_search_finds_the_likeliest_of_what_it_saw() {
    let trainer = trained(Architecture::GPT2, false);
    let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
    let grow = |text: &str, width, length, opened: &[Vec<u32>]| {
        let (text, opened, closed) = (text.to_owned(), opened.to_vec(), Vec::new());
        ready(tree(&model, tokenizer, &ask::Tree { text, width, length, opened, closed }))
    };
    let search = |width, length| grow("the c", width, length, &[]).unwrap().beams;
    let (greedy, wide) = (search(1, 6), search(3, 6));
    // The tree has the logits of each open node, as if asked for by itself.
    let ids = tokenizer.encode("ooo");
    let Grown { after: told, beams, greedy: narrow } =
        grow("the c", 3, 6, core::slice::from_ref(&ids)).unwrap();
    assert_eq!((&beams, &narrow), (&wide, &greedy));
    assert_eq!((&told.endings[0], told.endings.last()), (&Vec::new(), Some(&ids)));
    let plain = ready(after(&model, tokenizer, "the c", &told.endings)).unwrap();
    assert_eq!((&plain.endings, &plain.logits.shape), (&told.endings, &told.logits.shape));
    let pairs = plain.logits.values.iter().zip(&told.logits.values);
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-4));
    assert_eq!((greedy.kept.len(), wide.kept.len()), (6, 6));
    for told in [&greedy, &wide] {
        for (at, kept) in told.kept.iter().enumerate() {
            assert!(kept.windows(2).all(|two| two[0].log_probability >= two[1].log_probability));
            for beam in kept {
                assert_eq!(beam.text, tokenizer.shown(&beam.tokens));
                assert_eq!(beam.tokens.len(), at + 1);
                let expected = log_probability(&model, tokenizer, "the c", &beam.text);
                assert!((beam.log_probability - expected).abs() < 1e-5, "{beam:?} {expected}");
                // Each grew out of one that was kept.
                let before: String = beam.text.chars().take(at).collect();
                assert!(at == 0 || told.kept[at - 1].iter().any(|beam| beam.text == before));
            }
        }
    }
    // Greedy is the likeliest character each time.
    let mut text = "the c".to_owned();
    for (at, kept) in greedy.kept.iter().enumerate() {
        let told = ready(after(&model, tokenizer, &text, &[Vec::new()])).unwrap();
        let best = shares(&told.logits.values, &Sampling::GREEDY).unwrap();
        let best = best.iter().position(|share| *share == 1.0).unwrap();
        text.push_str(&told.vocabulary[best]);
        assert_eq!(text, format!("the c{}", kept[0].text), "character {at}");
    }
    // One character on, a wide beam has all there is: its second step is the best of all pairs.
    let all = search(MOST_BEAMS, 1);
    assert_eq!(all.kept[0].len(), MOST_BEAMS as usize);
    assert_eq!(all.kept[0][0].text, greedy.kept[0][0].text);
    assert_eq!(grow("", 2, 3, &[]), Err(SampleError::Empty));
}

#[test]
fn each_character_is_as_surprising_as_its_share_says() {
    let trainer = trained(Architecture::GPT2, false);
    let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
    let text = "the dog sat on the log, and the frog";
    for length in [1, 2, 7, 8, 9, 12, 13, 36] {
        let text = &text[..length];
        let told = ready(surprise(&model, tokenizer, text)).unwrap();
        assert_eq!((told.tokens.concat().as_str(), told.dropped), (text, 0));
        assert_eq!((told.surprises.len(), told.expected.len()), (length - 1, length - 1));
        let tokens = tokenizer.encode(text);
        for at in 1..length {
            // Some stretch gave it: one of at least `seen` characters, and no more than fit.
            let seen = (told.seen as usize).min(at);
            let close = (seen..=at.min(8)).any(|back| {
                let window = token_tensor(&tokens[at - back..at], 1, &device());
                let logits = values(model.forward_last(window));
                let bets = shares(&logits, &Sampling::PLAIN).unwrap();
                let best = bets.iter().fold(0f32, |most, share| most.max(*share));
                (told.surprises[at - 1] + bets[tokens[at] as usize].ln()).abs() < 1e-5
                    && (told.expected[at - 1].1 - best).abs() < 1e-5
            });
            assert!(close, "character {at} of {length}");
        }
    }
    let long = ready(surprise(&model, tokenizer, &"the cat ".repeat(200))).unwrap();
    assert_eq!((long.tokens.len(), long.dropped), (MOST_READ, 600));
    assert_eq!(ready(surprise(&model, tokenizer, "")), Err(SampleError::Empty));
}

#[test]
fn a_race_is_run_with_and_without_a_cache() {
    fn clock() -> f64 {
        use std::{sync::OnceLock, time::Instant};
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64() * 1000.0
    }
    unroll_model::set_clock(clock);
    let trainer = trained(Architecture::GPT2, false);
    let told = ready(race(&trainer.model(), trainer.tokenizer(), "the", 12)).unwrap();
    assert!(told.cached > 0.0 && told.uncached > 0.0);
    // The context of 8 is full after 5 of the 12.
    assert_eq!(told.refilled, 7);
}
