//! A study asked about a moment of its past answers as it did then, and trains on as if nobody had
//! asked.

mod support;

use support::{
    ready,
    study::{TALES, bits, build, points, specs},
};
use unroll_model::{AnyStudy, Moment, StudySlice};
use unroll_protocol::{
    Ask, Packed, Question, StudyMoment, StudySpec,
    architecture::Positions,
    study::{
        alignment, bigram, birnn, block, bptt, gates, heads, mask, norm, position, qkv, rnn,
        seq2seq, tokens,
    },
};

const SENTENCE: &str = "said Fenn the fox";

fn sentence() -> String {
    SENTENCE.to_owned()
}

fn packed(question: impl Ask) -> Question {
    question.into()
}

/// What is asked of a study: whatever depends on its weights, or on what it measured of them.
fn questions(spec: &StudySpec) -> Vec<Question> {
    match spec {
        StudySpec::Tokens(_) => vec![
            packed(tokens::ask::Embedding { token: 3 }),
            packed(tokens::ask::Chain { sentence: sentence() }),
        ],
        StudySpec::Bigram(_) => vec![
            packed(bigram::ask::Matrix { order: bigram::Order::Frequent, most: 8 }),
            packed(bigram::ask::Row { character: 'd'.into() }),
            packed(bigram::ask::Scores { k: 1.0 }),
            packed(bigram::ask::Sentence { text: sentence(), k: 1.0 }),
        ],
        StudySpec::Rnn(_) => vec![
            packed(rnn::ask::Unrolled { text: sentence(), edit: None, example: 1 }),
            packed(rnn::ask::Writing {
                prompt: sentence(),
                length: 8,
                temperature: 0.8,
                odd: None,
            }),
        ],
        StudySpec::Bptt(_) => vec![
            packed(bptt::ask::Flow {
                loss: bptt::LossKind::Last,
                radius: None,
                cell: bptt::Cell::Rnn,
                from: 1,
                to: 1,
            }),
            packed(bptt::ask::Nudge { cell: bptt::Cell::Rnn, step: 20, unit: 2, size: 0.01 }),
        ],
        StudySpec::Gates(_) => {
            let read = gates::Sentence::Drawn(1);
            vec![
                packed(gates::ask::Units {}),
                packed(gates::ask::Seen {
                    sentence: read.clone(),
                    quantity: gates::Quantity::Hidden,
                    forced: vec![],
                }),
                packed(gates::ask::Sums { sentence: read, forced: vec![], unit: 1, at: 2 }),
            ]
        }
        StudySpec::Birnn(_) => {
            let (ahead, hidden, edit) = (2, None, None);
            vec![packed(birnn::ask::Reading { text: sentence(), example: 1, ahead, hidden, edit })]
        }
        StudySpec::Norm(spec) => match spec.models {
            norm::Models::Layers { .. } => vec![
                packed(norm::ask::Depths {}),
                packed(norm::ask::Layer {
                    text: sentence(),
                    axis: norm::Axis::Batch,
                    statistics: norm::Statistics::Running,
                    layer: 2,
                    row: 1,
                    factor: 2.0,
                }),
            ],
            norm::Models::Outside => vec![packed(norm::ask::Offsets {})],
            norm::Models::Time => vec![packed(norm::ask::Steps { time: 2 })],
        },
        StudySpec::Seq2seq(_) => vec![
            packed(seq2seq::ask::Reading { text: None, example: 1, beam: 2 }),
            packed(seq2seq::ask::Odds { number: 2 }),
        ],
        StudySpec::Alignment(_) => {
            let source = alignment::Source::Example(1);
            vec![
                packed(alignment::ask::Reading { source: source.clone() }),
                packed(alignment::ask::Row { source, model: 0, at: 0 }),
                packed(alignment::ask::Lengths {}),
            ]
        }
        StudySpec::Qkv(spec) => match spec.models {
            qkv::Models::Order => vec![packed(qkv::ask::Word { draw: 1 })],
            qkv::Models::Text => {
                let (memory, causal) = (qkv::Memory::Own, true);
                let (layer, head, query) = (1, 1, 9);
                vec![
                    packed(qkv::ask::Head { text: sentence(), memory, causal, layer, head, query }),
                    packed(qkv::ask::Shuffle {
                        text: sentence(),
                        draw: 1,
                        positions: true,
                        causal,
                    }),
                ]
            }
        },
        StudySpec::Mask(_) => vec![
            packed(mask::ask::Look {
                text: sentence(),
                pattern: mask::Pattern::default(),
                drawn: mask::Drawn::default(),
                model: mask::Trained::Causal,
                layer: 1,
                head: 1,
                row: Some(7),
                change: None,
            }),
            packed(mask::ask::Writing {
                model: mask::Trained::Causal,
                prompt: sentence(),
                length: 8,
            }),
        ],
        StudySpec::Heads(_) => {
            let at = heads::HeadAt { layer: 1, head: 2 };
            // Not its track: that is a history, which begins with the first slice.
            vec![
                packed(heads::ask::Seen { text: sentence(), off: vec![at], row: Some((at, 3)) }),
                packed(heads::ask::Cost { off: vec![at] }),
            ]
        }
        StudySpec::Position(_) => {
            let asked = position::Asked { example: 1, length: 12, number: 3 };
            let positions = Positions::Rotary;
            vec![
                packed(position::ask::Scores { positions }),
                packed(position::ask::Reading { asked }),
                packed(position::ask::Row { positions, asked, head: 0, query: 8 }),
            ]
        }
        StudySpec::Block(_) => {
            let (text, shown, position) = (sentence(), block::Shown::Full, 5);
            vec![
                packed(block::ask::Stream { text: text.clone(), shown, position, token: 2 }),
                packed(block::ask::Neurons { text, shown, position, layer: 1 }),
                packed(block::ask::Growth {}),
                packed(block::ask::Depths {}),
            ]
        }
    }
}

fn answers(study: &mut AnyStudy, questions: &[Question]) -> Vec<Packed> {
    let answer =
        |question| ready(study.ask(question)).unwrap_or_else(|refusal| panic!("{refusal}"));
    questions.iter().map(answer).collect()
}

fn check(spec: StudySpec) {
    let about = format!("{spec:?}");
    let questions = questions(&spec);
    let mut undisturbed = build(spec.clone(), TALES);
    let mut study = build(spec, TALES);
    let mut moments = Vec::new();
    let mut values = Vec::new();
    for step in 0..3 {
        let said = answers(&mut study, &questions);
        assert_eq!(said, answers(&mut study, &questions), "{about}: asking changed something");
        moments.push((step, study.moment(), said));
        // Between its slices a step is not taken yet. The first step is measured, where any is.
        let mut slices = 0;
        let point = loop {
            match ready(study.advance()) {
                StudySlice::Step(point) => break point,
                StudySlice::Diverged { loss } => panic!("{about} diverged: {loss}"),
                StudySlice::More => slices += 1,
            }
            assert_eq!(study.step(), step);
            // The first is the present, in mid-step; the others lie back.
            for (then, moment, said) in &mut moments {
                if slices < 3 && *then == step {
                    assert!(*said == answers(&mut study, &questions), "{about}: step {step}");
                }
                if slices < 2 {
                    for (question, said) in questions.iter().zip(said.iter()) {
                        let asked = ready(study.ask_at(moment, question)).unwrap();
                        assert!(asked == *said, "{about}: {question:?} of step {then} in {step}");
                    }
                }
            }
        };
        values.push(point);
    }
    assert_eq!(study.step(), 3);
    for (then, moment, said) in &mut moments {
        for (question, said) in questions.iter().zip(said.iter()) {
            let asked = ready(study.ask_at(moment, question)).unwrap();
            assert!(asked == *said, "{about}: {question:?} of step {then}");
        }
    }
    let went = bits(&points(&mut undisturbed, 3));
    assert_eq!(bits(&values), went, "{about}: it trained otherwise");
    check_kept(&mut study, &mut moments, &questions, &about);
}

/// Moments that are saved with their study are in another one what they were.
fn check_kept(
    study: &mut AnyStudy,
    moments: &mut [(u32, Moment, Vec<Packed>)],
    questions: &[Question],
    about: &str,
) {
    let mut kept = ready(study.saved()).unwrap();
    for (step, moment, _) in moments.iter_mut() {
        kept.past.push(ready(study.saved_at(*step, moment)).unwrap());
    }
    let now = answers(study, questions);
    let mut again = build(study.started().spec, TALES);
    let mut past = again.restore(&kept).unwrap_or_else(|refusal| panic!("{about}: {refusal}"));
    let steps = |past: &[(u32, Moment)]| past.iter().map(|(step, _)| *step).collect::<Vec<_>>();
    assert_eq!(steps(&past), [0, 1, 2], "{about}");
    for ((then, moment), (_, _, said)) in past.iter_mut().zip(&*moments) {
        for (question, said) in questions.iter().zip(said) {
            let asked = ready(again.ask_at(moment, question)).unwrap();
            assert!(asked == *said, "{about}: {question:?} of step {then}, kept");
        }
    }
    assert!(answers(&mut again, questions) == now, "{about}: the present after its past");
    assert_eq!(ready(again.saved()).unwrap().parameters, kept.parameters, "{about}");
    let [went, goes] = [study, &mut again].map(|study| points(study, 2));
    assert_eq!(bits(&went), bits(&goes), "{about}: it trained on otherwise");

    // One that does not fit is left out, and one that is not of the past.
    kept.past[0].values.pop();
    kept.past[1].values[0] = f32::NAN;
    kept.past.push(StudyMoment { step: 3, ..kept.past[2].clone() });
    let left = build(again.started().spec, TALES).restore(&kept).unwrap();
    assert_eq!(steps(&left), [2], "{about}");
}

#[test]
fn a_moment_is_answered_as_it_was() {
    specs().into_iter().for_each(check);
}
