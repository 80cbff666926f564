//! What the chapter `mask` says must be true of its numbers.

mod support;

use support::{device, ready, same_bits};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Answer, Array, Question, StudySpec,
    attention::Scoring,
    study::mask::{
        self, Change, Combine, Drawn, Look, Pattern, Preset, Seen, Settings, Trained, Writing,
    },
};

const TALES: &str = include_str!("../../assets/corpora/tales.txt");
const SENTENCE: &str = "said Fenn the fox, who had one";

fn study(seed: u32, text: &str) -> AnyStudy {
    AnyStudy::new(&StudySpec::Mask(Settings::default().spec(seed)), text, &device()).unwrap()
}

/// Takes `steps` steps; returns the values of the last.
fn train(study: &mut AnyStudy, steps: u32) -> Vec<Option<f32>> {
    let (goal, mut last) = (study.step() + steps, Vec::new());
    while study.step() < goal {
        match ready(study.advance()) {
            StudySlice::More => {}
            StudySlice::Step(values) => last = values,
            StudySlice::Diverged { loss } => panic!("diverged: {loss}"),
        }
    }
    last
}

fn look(text: &str, pattern: Pattern) -> Look {
    Look {
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

fn ask(study: &mut AnyStudy, look: Look) -> Result<Seen, String> {
    let answer = ready(study.ask(&Question::Mask(mask::Question::Look(look))));
    match answer.map_err(|refusal| refusal.to_string())? {
        Answer::Mask(mask::Answer::Look(seen)) => Ok(*seen),
        other => panic!("{other:?}"),
    }
}

fn write(study: &mut AnyStudy, model: Trained, length: u32) -> Writing {
    let prompt = SENTENCE.to_owned();
    let question = mask::Question::Writing { model, prompt, length };
    match ready(study.ask(&Question::Mask(question))) {
        Ok(Answer::Mask(mask::Answer::Writing(writing))) => writing,
        other => panic!("{other:?}"),
    }
}

fn rows(array: &Array) -> impl Iterator<Item = &[f32]> {
    array.values.chunks_exact(array.shape[1] as usize)
}

fn apart(a: &Array, b: &Array) -> f32 {
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
fn tune() {
    for seed in [1, 2] {
        let mut s = study(seed, TALES);
        let t = std::time::Instant::now();
        for _ in 0..10 {
            let last = train(&mut s, 40);
            println!(
                "seed {seed} step {} {:?} {:.1} ms/step",
                s.step(),
                last,
                t.elapsed().as_secs_f32() * 1000.0 / s.step() as f32
            );
        }
        for m in Trained::ALL {
            let t = std::time::Instant::now();
            let w = write(&mut s, *m, 48);
            println!("{m:?}: {:?} | {:?} {:?}", w.prompt, w.text, t.elapsed());
        }
        let t = std::time::Instant::now();
        let seen = ask(
            &mut s,
            Look {
                change: Some(Change { position: 11, letter: None }),
                ..look(SENTENCE, Pattern::default())
            },
        )
        .unwrap();
        println!("look {:?}", t.elapsed());
        println!("{:?}", seen.leak);
        println!(
            "{:e} {:e} {:e}",
            apart(&seen.averages.looped, &seen.averages.product),
            apart(&seen.averages.looped, &seen.averages.softmax),
            apart(&seen.averages.looped, &seen.averages.attended)
        );
    }
}
