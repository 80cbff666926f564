//! What several tests need.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub mod study;

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use burn::tensor::{Device, Tensor};
use unroll_model::{Slice, StepGradients, Trainer};
use unroll_protocol::{
    Architecture, ExperimentSpec, GptSpec, Initialization, OptimizerSpec, Tokens,
};

/// Runs a future that never has to wait, as all of them do on the CPU.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("reading from the CPU had to wait"),
    }
}

pub fn device() -> Device {
    Device::flex()
}

pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().unwrap()
}

/// Whether two slices hold the same bits, -inf and NaN included.
pub fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Largest difference relative to the largest expected entry.
pub fn relative_difference(expected: &[f32], found: &[f32]) -> f32 {
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().fold(0f32, |most, value| most.max(value.abs()));
    let difference = expected.iter().zip(found).map(|(a, b)| (a - b).abs());
    let difference = difference.inspect(|d| assert!(!d.is_nan())).fold(0f32, f32::max);
    if difference == 0.0 { 0.0 } else { difference / largest }
}

pub fn tiny() -> ExperimentSpec {
    ExperimentSpec {
        initialization: Initialization::Gpt2,
        seed: 1,
        gpt: GptSpec {
            layers: 2,
            heads: 2,
            width: 16,
            context: 8,
            dropout: 0.0,
            tied: false,
            architecture: Architecture::GPT2,
        },
        optimizer: OptimizerSpec::default(),
        batch: 4,
        tokens: Tokens::Characters,
    }
}

pub const TEXT: &str = "the cat sat on the mat. the dog sat on the log. a frog sat on a dog. \
                        so the log sat on the frog, and the mat sat on the cat, and all was well.";

/// Computes the gradients of the next step.
pub fn gradients(trainer: &mut Trainer) -> StepGradients {
    loop {
        if let Slice::Gradients(gradients) = trainer.advance() {
            return gradients;
        }
    }
}

/// Takes a step; its loss.
pub fn step(trainer: &mut Trainer) -> f32 {
    let loss = values(gradients(trainer).loss)[0];
    trainer.apply();
    loss
}
