//! The batch that the next step learns from, read token by token.

mod support;

use support::{TEXT, device, ready, step, tiny};
use unroll_model::{Evaluation, EvaluationSlice, Trainer, next_batch, read_all};
use unroll_protocol::gpt::MOST_LEARNED;

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}

#[test]
fn its_mean_loss_is_that_of_the_step_that_learns_from_it() {
    let mut trainer = Trainer::new(&tiny(), TEXT, &device()).unwrap();
    for taken in 0..6 {
        let batch = ready(next_batch(&trainer, &trainer.model(), taken)).unwrap();
        assert_eq!(batch.step, taken + 1);
        let (context, size) = (tiny().gpt.context, tiny().batch);
        assert_eq!((batch.losses.shape.as_slice(), batch.size), (&[size, context][..], size));
        let loss = step(&mut trainer);
        assert!((mean(&batch.losses.values) - loss).abs() < 1e-5, "{loss}");
    }
}

#[test]
fn a_row_is_a_stretch_of_the_text_with_what_follows_it() {
    let trainer = Trainer::new(&tiny(), TEXT, &device()).unwrap();
    let batch = ready(next_batch(&trainer, &trainer.model(), 3)).unwrap();
    for row in &batch.rows {
        assert_eq!(row.len(), tiny().gpt.context as usize + 1);
        assert!(TEXT.contains(&row.concat()), "{row:?}");
    }
}

#[test]
fn losses_by_position_are_of_held_out_text() {
    let mut trainer = Trainer::new(&tiny(), TEXT, &device()).unwrap();
    (0..4).for_each(|_| _ = step(&mut trainer));
    let batch = ready(next_batch(&trainer, &trainer.model(), 4)).unwrap();
    // So many stretches at most, where the context is short.
    let mut evaluation = Evaluation::new(&trainer, 32).unwrap();
    let loss = loop {
        if let EvaluationSlice::Loss(loss) = evaluation.advance() {
            break ready(read_all([loss])).unwrap()[0][0];
        }
    };
    assert!(!batch.held_out.is_empty());
    assert!((mean(&batch.held_out) - loss).abs() < 1e-5, "{loss}");
}

#[test]
fn of_a_large_batch_a_part_is_read() {
    let mut spec = tiny();
    spec.batch = 64;
    spec.gpt.context = 100;
    let text = TEXT.repeat(4);
    let trainer = Trainer::new(&spec, &text, &device()).unwrap();
    let batch = ready(next_batch(&trainer, &trainer.model(), 0)).unwrap();
    assert_eq!((batch.rows.len(), batch.size), (MOST_LEARNED / 100, 64));
    assert_eq!(batch.losses.values.len(), 100 * batch.rows.len());
}
