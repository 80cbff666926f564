//! The `tokens` chapter: what its figures say must be true of its numbers.

mod support;

use std::time::Instant;

use support::{device, ready, same_bits};
use unroll_model::{AnyStudy, Refusal, StudySlice};
use unroll_protocol::{
    Answer, Question, StudySpec,
    study::tokens::{
        Answer as TokensAnswer, Chain, Embedding, Levels, Question as TokensQuestion, Scheme,
        Settings, Window,
    },
};

const TALES: &str = include_str!("../../assets/corpora/tales.txt");
const NAMES: &str = include_str!("../../assets/corpora/names.txt");

fn study(settings: &Settings, text: &str) -> AnyStudy {
    AnyStudy::new(&StudySpec::Tokens(settings.spec(1)), text, &device()).unwrap()
}

fn train(study: &mut AnyStudy, steps: u32) -> Vec<f32> {
    let mut losses = Vec::new();
    while study.step() < steps {
        match ready(study.advance()) {
            StudySlice::More => {}
            StudySlice::Step(values) => losses.push(values[0].unwrap()),
            StudySlice::Diverged { loss } => panic!("diverged at {loss}"),
        }
    }
    losses
}

fn ask(study: &mut AnyStudy, question: TokensQuestion) -> Result<TokensAnswer, Refusal> {
    match ready(study.ask(&Question::Tokens(question)))? {
        Answer::Tokens(answer) => Ok(answer),
        _ => panic!("another chapter answered"),
    }
}

fn levels(study: &mut AnyStudy, sentence: &str, merges: u32, words: bool) -> Levels {
    let question = TokensQuestion::Levels { sentence: sentence.to_owned(), merges, words };
    match ask(study, question).unwrap() {
        TokensAnswer::Levels(levels) => levels,
        _ => panic!("another question was answered"),
    }
}

fn embedding(study: &mut AnyStudy, token: u32) -> Embedding {
    match ask(study, TokensQuestion::Embedding { token }).unwrap() {
        TokensAnswer::Embedding(embedding) => embedding,
        _ => panic!("another question was answered"),
    }
}

fn window(study: &mut AnyStudy, at: u32) -> Window {
    match ask(study, TokensQuestion::Window { at, first: at, around: 40 }).unwrap() {
        TokensAnswer::Window(window) => window,
        _ => panic!("another question was answered"),
    }
}

fn chain(study: &mut AnyStudy, sentence: &str) -> Chain {
    let question = TokensQuestion::Chain { sentence: sentence.to_owned() };
    match ask(study, question).unwrap() {
        TokensAnswer::Chain(chain) => chain,
        _ => panic!("another question was answered"),
    }
}

#[test]
fn explore() {
    for (name, text) in [("tales", TALES), ("names", NAMES)] {
        for deviation in [8] {
            let mut study = study(&Settings { width: deviation, ..Settings::default() }, text);
            for steps in [0, 100, 200, 300, 500, 1000] {
                let started = Instant::now();
                let losses = train(&mut study, steps);
                let took = started.elapsed().as_secs_f64() * 1000.0 / losses.len().max(1) as f64;
                let e = embedding(&mut study, 3);
                let is_vowel = |c: &str| "aeiou".contains(c);
                let letters: Vec<(usize, &str)> = e
                    .vocabulary
                    .iter()
                    .enumerate()
                    .filter(|(i, c)| {
                        e.counts[*i] > 0
                            && c.len() == 1
                            && c.chars().all(|c| c.is_ascii_lowercase())
                    })
                    .map(|(i, c)| (i, c.as_str()))
                    .collect();
                let centre = |v: bool| {
                    let p: Vec<_> = letters
                        .iter()
                        .filter(|l| is_vowel(l.1) == v)
                        .map(|l| (e.map.values[2 * l.0], e.map.values[2 * l.0 + 1]))
                        .collect();
                    let n = p.len() as f32;
                    (p.iter().map(|p| p.0).sum::<f32>() / n, p.iter().map(|p| p.1).sum::<f32>() / n)
                };
                let (v, c) = (centre(true), centre(false));
                let right: Vec<&str> = letters
                    .iter()
                    .filter(|l| {
                        let p = (e.map.values[2 * l.0], e.map.values[2 * l.0 + 1]);
                        let d = |q: (f32, f32)| (p.0 - q.0).hypot(p.1 - q.1);
                        (d(v) < d(c)) != is_vowel(l.1)
                    })
                    .map(|l| l.1)
                    .collect();
                println!(
                    "{name} {steps} loss {:?} ms {took:.2} share {:?} wrong {:?} of {} apart {:.2}",
                    losses.last(),
                    e.share,
                    right,
                    letters.len(),
                    (v.0 - c.0).hypot(v.1 - c.1)
                );
            }
        }
    }
    for (words, merges) in [(true, 300), (false, 300)] {
        let settings = Settings { scheme: Scheme::Pairs, merges, words, ..Settings::default() };
        let big: String = TALES.repeat(3);
        let started = Instant::now();
        let mut s = study(&settings, &big);
        println!("new {words} {:?}", started.elapsed());
        let started = Instant::now();
        let l = levels(&mut s, "said Fenn the fox, who had one", 300, words);
        println!("levels {:?}", started.elapsed());
        for m in l.merges.iter().take(20) {
            print!("{}+{} {}, ", m.left, m.right, m.count);
        }
        println!(
            "last {:?} tokens {} {:?}",
            l.merges.last(),
            l.pairs.text_tokens,
            l.pairs.pieces.iter().map(|p| p.text.clone()).collect::<Vec<_>>()
        );
        let started = Instant::now();
        let losses = train(&mut s, 300);
        println!("300 steps {:?} {} -> {}", started.elapsed(), losses[0], losses[299]);
    }
}
