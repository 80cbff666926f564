//! Steps divided among workers compute the same as a single worker.

mod support;

use burn::tensor::Tensor;
use support::{TEXT, device, gradients, ready, relative_difference, same_bits, step, tiny, values};
use unroll_model::{Shard, ShardSlice, Trainer, named_parameters};
use unroll_protocol::{ExperimentSpec, GptSpec};

fn trainer(spec: &ExperimentSpec) -> Trainer {
    Trainer::new(spec, TEXT, &device()).unwrap()
}

fn shard(trainer: &Trainer, index: usize, count: usize) -> Shard {
    let mut pass = trainer.start_shard(index, count);
    loop {
        match pass.advance() {
            ShardSlice::More(rest) => pass = rest,
            ShardSlice::Computed(computed) => return ready(computed.read()).unwrap(),
        }
    }
}

fn sum(trainer: &Trainer, count: usize) -> Shard {
    let mut sum = shard(trainer, 0, count);
    (1..count).for_each(|index| sum.add(&shard(trainer, index, count)));
    sum
}

/// Takes a step in `count` shards; returns its loss.
fn shared_step(trainer: &mut Trainer, count: usize) -> f32 {
    let sum = sum(trainer, count);
    let loss = sum.loss;
    trainer.set_gradients(sum).unwrap();
    trainer.apply();
    loss
}

/// Micro-batches of one and of several sequences, with and without dropout.
fn specs() -> impl Iterator<Item = ExperimentSpec> {
    [(2, 16, 8, 5, 0.0), (2, 16, 8, 5, 0.3), (2, 128, 90, 5, 0.2)].into_iter().map(
        |(layers, width, context, batch, dropout)| ExperimentSpec {
            gpt: GptSpec { layers, width, context, dropout, ..tiny().gpt },
            batch,
            ..tiny()
        },
    )
}

#[test]
fn the_sum_of_shards_is_every_gradient_of_the_batch() {
    for spec in specs() {
        let mut whole = trainer(&spec);
        let expected = gradients(&mut whole);
        let names: Vec<_> = named_parameters(&whole.model()).into_iter().map(|p| p.0).collect();
        for count in [1, 2, 3, 5] {
            let sum = sum(&whole, count);
            assert!((sum.loss - values(expected.loss.clone())[0]).abs() < 1e-5);
            let mut rest = sum.gradient.as_slice();
            for (name, gradient) in names.iter().zip(whole.gradients().unwrap()) {
                let gradient = values(gradient.clone());
                let (own, others) = rest.split_at(gradient.len());
                rest = others;
                // Gradients of key biases are 0 up to rounding.
                let largest = gradient.iter().fold(0f32, |most, x| most.max(x.abs()));
                if largest > 1e-7 {
                    let difference = relative_difference(&gradient, own);
                    assert!(difference < 1e-5, "{name} of {count} shards: {difference}");
                }
            }
            assert!(rest.is_empty());
        }
    }
}

#[test]
fn twenty_steps_of_several_workers_have_the_losses_of_one() {
    for spec in specs() {
        let mut one = trainer(&spec);
        let mut others: Vec<_> = [2, 3].map(|count| (count, trainer(&spec))).into();
        for number in 1..=20 {
            let loss = step(&mut one);
            for (count, trainer) in &mut others {
                let difference = (shared_step(trainer, *count) - loss).abs();
                assert!(difference < 1e-5, "{count} workers are {difference} off at step {number}");
            }
        }
    }
}

#[test]
fn the_same_number_of_shards_is_the_same_run_to_the_bit() {
    let spec = specs().nth(1).unwrap();
    let (mut first, mut second) = (trainer(&spec), trainer(&spec));
    for _ in 0..5 {
        // It does not matter which worker computes a shard, or in what order.
        let late = shard(&second, 1, 2);
        let mut total = shard(&second, 0, 2);
        total.add(&late);
        assert_eq!(sum(&first, 2), total);
        shared_step(&mut first, 2);
        second.set_gradients(total).unwrap();
        second.apply();
    }
    let weights = |trainer: &Trainer| {
        let parameters = named_parameters(&trainer.model()).into_iter().map(|p| p.2);
        values(Tensor::cat(parameters.collect(), 0))
    };
    assert!(same_bits(&weights(&first), &weights(&second)));
}

#[test]
fn gradients_of_another_model_are_refused_and_a_half_done_step_goes_on() {
    let mut trainer = trainer(&tiny());
    trainer.advance();
    let wrong = Shard { loss: 1.0, gradient: vec![0.0; 7] };
    assert!(trainer.set_gradients(wrong).is_none());
    assert!(trainer.is_midstep() && trainer.gradients().is_none());
}
