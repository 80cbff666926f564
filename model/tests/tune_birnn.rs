mod support;
use support::{device, ready};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{StudySpec, Question, study::birnn::{self, *}};
const TALES: &str = include_str!("../../assets/corpora/tales.txt");
#[test]
#[ignore]
fn tune() {
    let env = |n: &str, d: u32| std::env::var(n).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let task = if env("FILL", 0) == 1 { TaskChoice::Fill } else { TaskChoice::Look };
    let cell = [CellChoice::Elman, CellChoice::Gru, CellChoice::Lstm][env("CELL", 1) as usize];
    let spec = Settings { task, cell, hidden: env("H", 24), delay: env("D", 2), ..Settings::default() }.spec(env("SEED", 1));
    let mut study = AnyStudy::new(&StudySpec::Birnn(spec.clone()), TALES, &device()).unwrap();
    println!("{:?}", study.started().notes);
    let n = spec.readers().len();
    let t = std::time::Instant::now();
    let steps = env("STEPS", 400);
    while study.step() < steps {
        if let StudySlice::Step(v) = ready(study.advance()) {
            if v[n].is_some() && study.step() % env("EVERY", 40) == 0 {
                let f: Vec<String> = v.iter().map(|x| format!("{:.2}", x.unwrap())).collect();
                println!("{} {:.1}s {} | {}", study.step(), t.elapsed().as_secs_f32(), f[..n].join(" "), f[n..].chunks((f.len()-n)/n).map(|c| c.join(" ")).collect::<Vec<_>>().join(" / "));
            }
        }
    }
    println!("ms/step {}", t.elapsed().as_secs_f32()*1000.0/steps as f32);
    let t = std::time::Instant::now();
    let q = Question::Birnn(birnn::Question::Reading{ text: "said Fenn the fox, who had one more idea".into(), example: 1, ahead: 3, hidden: Some(10), edit: Some(Edit{position: 5, letter: 'a'})});
    ready(study.ask(&q)).unwrap();
    println!("ask {:?}", t.elapsed());
}
