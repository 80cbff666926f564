//! Training steps, their slices, and going on from where one stopped.

mod support;

use burn::{module::Module, tensor::Tensor};
use support::{TEXT, device, gradients, ready, relative_difference, same_bits, step, tiny, values};
use unroll_model::{
    BuildError, CheckpointError, Dataset, Evaluation, EvaluationSlice, Generator, Gpt, GradientSum,
    Optimizer, SampleError, Trainer, cross_entropy, global_norm, named_parameters, token_tensor,
};
use unroll_protocol::{
    Architecture, Checkpoint, ExperimentSpec, GptSpec, LearningRateSchedule, OptimizerSpec,
    SampleSpec, Sampling, Tokens,
    architecture::NormKind,
    gpt::{Place, SamplingError},
};

fn trainer(spec: &ExperimentSpec) -> Trainer {
    Trainer::new(spec, TEXT, &device()).unwrap()
}

fn weights(model: &Gpt) -> Vec<f32> {
    values(Tensor::cat(named_parameters(model).into_iter().map(|p| p.2).collect(), 0))
}

/// A model whose batch is split, whole, and with a tied head.
fn shapes() -> impl Iterator<Item = ExperimentSpec> {
    [
        // One micro-batch.
        (2, 2, 16, 8, 5, false),
        (2, 4, 16, 8, 5, true),
        // 57 million multiply-adds a sequence: each a micro-batch of its own.
        (1, 2, 128, 120, 3, true),
        // 21 million: micro-batches of 2, 2 and 1.
        (2, 2, 128, 90, 5, false),
    ]
    .into_iter()
    .map(|(layers, heads, width, context, batch, tied)| ExperimentSpec {
        gpt: GptSpec {
            layers,
            heads,
            width,
            context,
            dropout: 0.0,
            tied,
            architecture: Architecture::GPT2,
        },
        batch,
        ..tiny()
    })
}

#[test]
fn sliced_gradients_are_the_plain_ones() {
    for spec in shapes() {
        let mut trainer = trainer(&spec);
        let model = trainer.model().train();
        let (batch, context) = (spec.batch as usize, spec.gpt.context as usize);
        let drawn = trainer.dataset().batch(spec.seed, 0, batch, context);
        let logits = model.forward(token_tensor(&drawn.inputs, batch, &device()));
        let loss = cross_entropy(logits, token_tensor(&drawn.targets, batch, &device()));
        let mut plain = GradientSum::default();
        plain.add(&model, &mut loss.backward());
        let plain = plain.finish();

        let sliced = gradients(&mut trainer);
        assert!(relative_difference(&values(loss), &values(sliced.loss)) < 1e-6);
        let norm =
            plain.iter().map(|g| values(g.clone().powi_scalar(2).sum())[0]).sum::<f32>().sqrt();
        assert!(relative_difference(&[norm], &values(sliced.gradient_norm)) < 1e-5);
        for ((name, ..), (plain, sliced)) in
            named_parameters(&model).iter().zip(plain.into_iter().zip(trainer.gradients().unwrap()))
        {
            let difference = relative_difference(&values(plain), &values(sliced.clone()));
            assert!(difference <= 1e-6, "{name} in {spec:?}: {difference}");
        }
    }
}

#[test]
fn runs_repeat_to_the_last_bit_and_seeds_matter() {
    let mut spec = tiny();
    spec.gpt.dropout = 0.1;
    let run = |spec: &ExperimentSpec| {
        let mut trainer = trainer(spec);
        let losses: Vec<f32> = (0..5).map(|_| step(&mut trainer)).collect();
        (losses, weights(&trainer.model()))
    };
    let (first, again) = (run(&spec), run(&spec));
    assert!(same_bits(&first.0, &again.0) && same_bits(&first.1, &again.1));
    spec.seed = 2;
    let other = run(&spec);
    assert!(first.0.iter().zip(&other.0).all(|(a, b)| a != b));
}

#[test]
fn a_discarded_step_changes_nothing() {
    let mut straight = trainer(&tiny());
    let mut interrupted = trainer(&tiny());
    for _ in 0..3 {
        let untouched = weights(&interrupted.model());
        for slices in [1, 3, 5] {
            for _ in 0..slices {
                interrupted.advance();
            }
            assert!(interrupted.is_midstep());
            interrupted.discard();
            assert!(same_bits(&untouched, &weights(&interrupted.model())));
        }
        let loss = values(gradients(&mut interrupted).loss)[0];
        interrupted.discard();
        assert_eq!(loss.to_bits(), step(&mut interrupted).to_bits());
        assert_eq!(loss.to_bits(), step(&mut straight).to_bits());
    }
    assert_eq!((interrupted.step(), interrupted.is_midstep()), (3, false));
}

#[test]
fn a_pattern_is_learned() {
    let mut spec = tiny();
    spec.optimizer.learning_rate = 1e-2;
    spec.batch = 8;
    let text = "abcdefgh".repeat(60);
    let mut trainer = Trainer::new(&spec, &text, &device()).unwrap();
    let first = step(&mut trainer);
    assert!((first - 9f32.ln()).abs() < 0.1, "an untrained model knows nothing: {first}");
    let last = (0..150).map(|_| step(&mut trainer)).last().unwrap();
    assert!(last < 0.02, "{last}");

    let mut evaluation = Evaluation::new(&trainer, 8).unwrap();
    let held_out = loop {
        if let EvaluationSlice::Loss(loss) = evaluation.advance() {
            break values(loss)[0];
        }
    };
    assert!(held_out < 0.02, "{held_out}");

    let sample = SampleSpec {
        prompt: "def".into(),
        length: 20,
        sampling: Sampling { top_k: 3, ..Sampling::PLAIN },
        seed: 5,
        place: Place::Lab,
    };
    let mut generator = Generator::new(trainer.tokenizer(), &sample, 8).unwrap();
    while !generator.is_done() {
        ready(generator.advance(&trainer.model())).unwrap();
    }
    assert_eq!(generator.text(), "ghabcdefghabcdefghab");
}

#[test]
fn evaluation_is_the_mean_over_its_windows_and_blind_to_later_training() {
    for spec in shapes() {
        let text = TEXT.repeat(12);
        let mut trainer = Trainer::new(&spec, &text, &device()).unwrap();
        let windows = trainer.dataset().held_out_windows(5, spec.gpt.context as usize);
        let model = trainer.model();
        let mean = windows
            .iter()
            .map(|window| {
                let logits = model.forward(token_tensor(&window.inputs, 1, &device()));
                values(cross_entropy(logits, token_tensor(&window.targets, 1, &device())))[0]
            })
            .sum::<f32>()
            / windows.len() as f32;
        let mut evaluation = Evaluation::new(&trainer, 5).unwrap();
        step(&mut trainer);
        let loss = loop {
            if let EvaluationSlice::Loss(loss) = evaluation.advance() {
                break values(loss)[0];
            }
        };
        assert!(relative_difference(&[mean], &[loss]) < 1e-5, "{mean} {loss}");
    }
}

#[test]
fn a_snapshot_brings_everything_back_but_the_learning_rate() {
    let mut trainer = trainer(&tiny());
    step(&mut trainer);
    let snapshot = trainer.snapshot();
    let before = weights(&trainer.model());
    let losses = [step(&mut trainer), step(&mut trainer)];
    trainer.advance();
    trainer.restore(&snapshot);
    assert_eq!((trainer.step(), snapshot.step(), trainer.is_midstep()), (1, 1, false));
    assert!(same_bits(&before, &weights(&trainer.model())));
    assert!(same_bits(&losses, &[step(&mut trainer), step(&mut trainer)]));

    trainer.set_learning_rate(0.5).unwrap();
    trainer.restore(&snapshot);
    assert_eq!(trainer.spec().optimizer.learning_rate, 0.5);
    assert!(trainer.set_learning_rate(f32::NAN).is_err());
    assert!((trainer.learning_rate_at_next_step() - 0.5 * 2.0 / 20.0).abs() < 1e-7);
}

/// The model after one update by gradients that are all `gradient`, and the running means of those.
fn updated(spec: &OptimizerSpec, model: Gpt, gradient: f32) -> (Gpt, Vec<f32>) {
    let mut optimizer = Optimizer::new(spec, &model);
    let parameters = named_parameters(&model);
    let gradients: Vec<_> = parameters.iter().map(|p| p.2.zeros_like() + gradient).collect();
    let norm = global_norm(&gradients);
    let model = optimizer.update(model, gradients, &norm, 0.5);
    let means = optimizer.moments().iter().flat_map(|m| values(m.first.clone())).collect();
    (model, means)
}

#[test]
fn without_weight_decay_only_gradients_move_the_weights() {
    let model = trainer(&tiny()).model();
    let spec = OptimizerSpec { weight_decay: 0.0, ..OptimizerSpec::default() };
    let (kept, _) = updated(&spec, model.clone(), 0.0);
    assert!(same_bits(&weights(&model), &weights(&kept)));

    let spec = OptimizerSpec { weight_decay: 0.1, ..spec };
    let (decayed, _) = updated(&spec, model.clone(), 0.0);
    for (before, after) in named_parameters(&model).into_iter().zip(named_parameters(&decayed)) {
        // Half of a tenth is lost, of matrices only.
        let share = if before.1.len() > 1 { 0.95 } else { 1.0 };
        let expected = values(before.2 * share);
        assert!(relative_difference(&expected, &values(after.2)) < 1e-6, "{}", before.0);
    }
}

#[test]
fn without_clipping_the_gradient_stays_as_it_is() {
    let model = trainer(&tiny()).model();
    let of = |clip_norm| {
        let spec = OptimizerSpec { clip_norm, beta1: 0.5, ..OptimizerSpec::default() };
        updated(&spec, model.clone(), 2.0).1
    };
    // The running mean is half of the gradient that was used.
    assert!(of(0.0).iter().all(|mean| *mean == 1.0));
    let clipped: f32 = of(3.0).iter().map(|mean| 4.0 * mean * mean).sum();
    assert!((clipped.sqrt() - 3.0).abs() < 1e-3, "{}", clipped.sqrt());
}

#[test]
fn each_step_is_taken_at_the_rate_that_the_schedule_shows() {
    let mut spec = tiny();
    spec.optimizer.warmup_steps = 2;
    spec.optimizer.decay_steps = 4;
    let schedule = LearningRateSchedule::new(&spec.optimizer);
    let mut trainer = trainer(&spec);
    for number in 1..=6 {
        assert_eq!(trainer.learning_rate_at_next_step(), schedule.at(number) as f32);
        step(&mut trainer);
    }
}

fn checkpoint(trainer: &Trainer) -> Checkpoint {
    ready(trainer.checkpoint()).unwrap()
}

#[test]
fn three_steps_a_checkpoint_and_three_more_are_six_steps() {
    let mut spec = tiny();
    spec.gpt.dropout = 0.2;
    spec.gpt.tied = true;
    for &kind in NormKind::ALL {
        spec.gpt.architecture.norm_kind = kind;
        let mut straight = trainer(&spec);
        (0..6).for_each(|_| _ = step(&mut straight));
        let mut first = trainer(&spec);
        (0..3).for_each(|_| _ = step(&mut first));
        let mut second = Trainer::from_checkpoint(&checkpoint(&first), TEXT, &device()).unwrap();
        assert_eq!(second.step(), 3);
        (0..3).for_each(|_| _ = step(&mut second));
        assert_eq!(checkpoint(&straight), checkpoint(&second));
    }
}

/// A text whose characters are of one byte, two, three and four.
const MIXED: &str =
    "the cat 🙂 sat. grüße 世界, 世界你好! the cat 🙂 sat on 世界 and the dog sat too. ";

#[test]
fn runs_on_bytes_and_pairs_learn_and_resume_bit_for_bit() {
    for tokens in [Tokens::Bytes, Tokens::Pairs { merges: 40 }] {
        let (spec, text) = (ExperimentSpec { tokens, ..tiny() }, MIXED.repeat(6));
        let new = || Trainer::new(&spec, &text, &device()).unwrap();
        let mut straight = new();
        let losses: Vec<f32> = (0..60).map(|_| step(&mut straight)).collect();
        assert!(losses[59] < 0.7 * losses[0], "{tokens:?}: {losses:?}");
        let mut first = new();
        (0..30).for_each(|_| _ = step(&mut first));
        let kept = checkpoint(&first);
        assert!(kept.vocabulary.is_empty());
        let mut second = Trainer::from_checkpoint(&kept, &text, &device()).unwrap();
        (0..30).for_each(|_| _ = step(&mut second));
        assert_eq!(checkpoint(&straight), checkpoint(&second));
        // Merges that the spec does not ask for, and ones of tokens that are not there.
        for merges in [[97, 98].repeat(41), vec![97, 300], vec![97]] {
            let bad = Checkpoint { merges, ..kept.clone() };
            let Err(error) = Trainer::from_checkpoint(&bad, &text, &device()) else {
                panic!("a damaged checkpoint was accepted");
            };
            assert!(error.to_string().ends_with('.'), "{error}");
        }
    }
}

#[test]
fn what_is_written_in_bytes_and_pairs_is_text() {
    for tokens in [Tokens::Bytes, Tokens::Pairs { merges: 40 }] {
        let spec = ExperimentSpec { tokens, ..tiny() };
        let mut trainer = Trainer::new(&spec, &MIXED.repeat(6), &device()).unwrap();
        (0..80).for_each(|_| _ = step(&mut trainer));
        let sample = SampleSpec {
            prompt: "世".into(),
            length: 30,
            sampling: Sampling::PLAIN,
            seed: 5,
            place: Place::Lab,
        };
        let mut generator = Generator::new(trainer.tokenizer(), &sample, 8).unwrap();
        let mut before = String::new();
        while !generator.is_done() {
            ready(generator.advance(&trainer.model())).unwrap();
            let text = generator.text();
            assert!(text.starts_with(&before), "{before:?} became {text:?}");
            assert_eq!(generator.tokens().len(), generator.surprises().len());
            before = text;
        }
        // Hot and hardly trained, it still writes characters of the text.
        assert!(before.chars().any(|c| MIXED.contains(c)), "{before:?}");
    }
}

#[test]
fn hostile_checkpoints_are_refused_with_a_sentence() {
    let good = {
        let mut trainer = trainer(&tiny());
        step(&mut trainer);
        checkpoint(&trainer)
    };
    let refused = |change: fn(&mut Checkpoint)| {
        let mut bad = good.clone();
        change(&mut bad);
        match Trainer::from_checkpoint(&bad, TEXT, &device()) {
            Ok(_) => panic!("a damaged checkpoint was accepted"),
            Err(error) => {
                assert!(error.to_string().ends_with('.'), "{error}");
                error
            }
        }
    };
    let mut late = good.clone();
    late.step = u32::MAX;
    let mut last = Trainer::from_checkpoint(&late, TEXT, &device()).unwrap();
    assert!(step(&mut last).is_finite() && step(&mut last).is_finite());
    let error = refused(|c| _ = c.parameters.pop());
    assert!(matches!(error, CheckpointError::Parameters { .. }));
    let error = refused(|c| c.parameters.swap(0, 1));
    assert!(matches!(error, CheckpointError::Name { .. }));
    let error = refused(|c| c.parameters[3].value.shape[0] += 1);
    assert!(matches!(error, CheckpointError::Shape { .. }));
    let error = refused(|c| _ = c.parameters[2].second_moment.pop());
    assert!(matches!(error, CheckpointError::Shape { .. }));
    let error = refused(|c| c.parameters[0].value.values[5] = f32::NAN);
    assert!(matches!(error, CheckpointError::NotFinite { .. }));
    let error = refused(|c| c.parameters[1].first_moment[0] = f32::INFINITY);
    assert!(matches!(error, CheckpointError::NotFinite { .. }));
    let error = refused(|c| c.parameters[1].second_moment[0] = -1e-9);
    assert!(matches!(error, CheckpointError::NotFinite { .. }));
    let error = refused(|c| c.vocabulary.reverse());
    assert!(matches!(error, CheckpointError::Vocabulary(_)));
    let error = refused(|c| c.spec.gpt.heads = 3);
    assert!(matches!(error, CheckpointError::Build(BuildError::Spec(_))));
    let error = refused(|c| c.spec.gpt.context = u32::MAX);
    assert!(matches!(error, CheckpointError::Build(BuildError::Spec(_))));
}

#[test]
fn what_can_not_be_trained_is_refused_with_a_sentence() {
    let refused = |spec: &ExperimentSpec, text: &str| {
        Trainer::new(spec, text, &device()).err().expect("refused").to_string()
    };
    assert!(refused(&tiny(), "").contains("no text"));
    assert!(refused(&tiny(), "too few").contains("at least 9"));
    let mut spec = tiny();
    spec.gpt.heads = 3;
    assert!(refused(&spec, TEXT).contains("multiple of 3"));
    // Within the limit but for the embeddings of a large vocabulary.
    let kinds: String = ('\u{4E00}'..).take(600).collect();
    spec.gpt = GptSpec {
        layers: 1,
        heads: 8,
        width: 960,
        context: 8,
        dropout: 0.0,
        tied: false,
        architecture: Architecture::GPT2,
    };
    assert!(refused(&spec, &kinds).contains("million parameters"));
    let trainer = Trainer::new(&tiny(), &kinds, &device()).unwrap();
    assert!(trainer.notes()[0].contains("89 rarest kinds"));
}

#[test]
fn writing_slides_the_context_and_reports_bad_weights() {
    let mut spec = tiny();
    spec.optimizer.learning_rate = 1e30;
    spec.optimizer.warmup_steps = 0;
    let mut trainer = trainer(&spec);
    let sample = SampleSpec {
        prompt: String::new(),
        length: 30,
        sampling: Sampling::GREEDY,
        seed: 1,
        place: Place::Lab,
    };
    let write = |trainer: &Trainer, sample: &SampleSpec| -> Result<String, SampleError> {
        let mut generator = Generator::new(trainer.tokenizer(), sample, 8)?;
        while !generator.is_done() {
            ready(generator.advance(&trainer.model()))?;
        }
        Ok(generator.text())
    };
    let text = write(&trainer, &sample).unwrap();
    assert_eq!(text.chars().count(), 30);
    assert_eq!(write(&trainer, &SampleSpec { seed: 2, ..sample.clone() }), Ok(text));
    let negative = write(
        &trainer,
        &SampleSpec {
            sampling: Sampling { temperature: -1.0, ..Sampling::PLAIN },
            ..sample.clone()
        },
    );
    assert_eq!(negative, Err(SamplingError::Temperature { value: -1.0 }.into()));
    (0..3).for_each(|_| _ = step(&mut trainer));
    assert_eq!(write(&trainer, &sample), Err(SamplingError::NotANumber.into()));
}

#[test]
fn a_text_as_short_as_allowed_trains_without_held_out_loss() {
    let text = "abcabcabc";
    let mut trainer = Trainer::new(&tiny(), text, &device()).unwrap();
    assert!(step(&mut trainer).is_finite());
    assert!(Evaluation::new(&trainer, 8).is_none());
    assert_eq!(Dataset::new(vec![1; 9], 8).unwrap().training.len(), 9);
}
