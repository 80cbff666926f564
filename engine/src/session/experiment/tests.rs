use burn::tensor::Device;
use unroll_protocol::{ExperimentSpec, GptSpec, Link, OptimizerSpec, Recorded};

use super::*;

const TEXT: &str = "the cat sat on the mat and the dog sat on the log. ";

fn experiment() -> Experiment {
    let link = Link::default().experiment();
    let spec = ExperimentSpec {
        gpt: GptSpec { layers: 1, heads: 2, width: 16, context: 16, dropout: 0.1, ..link.gpt },
        optimizer: OptimizerSpec { learning_rate: 1e-2, ..OptimizerSpec::default() },
        batch: 4,
        ..link
    };
    let trainer = Trainer::new(&spec, &TEXT.repeat(8), &Device::flex()).expect("a good spec");
    Experiment::new(trainer, Recorded::BUDGET)
}

fn slice(experiment: &mut Experiment, together: u32) -> Taken {
    let mut pool = Pool::new(|| 0.0);
    pollster::block_on(experiment.advance(&mut pool, together))
}

/// Runs slices until the last of `steps` steps is checked and everything due after it is done.
/// Returns how many steps were checked at a time.
fn take(experiment: &mut Experiment, steps: u32, together: u32) -> Vec<u32> {
    let mut looks = Vec::new();
    while looks.iter().sum::<u32>() < steps || experiment.is_evaluating() {
        match slice(experiment, together) {
            Taken::Steps(count) => looks.push(count),
            Taken::Diverged { loss } => panic!("diverged at a loss of {loss}"),
            Taken::Nothing | Taken::Waiting => {}
        }
    }
    looks
}

#[test]
fn steps_looked_at_together_are_the_same_steps() {
    let (mut alone, mut together) = (experiment(), experiment());
    assert_eq!(take(&mut alone, 60, 1), [1; 60]);
    let looks = take(&mut together, 60, 8);
    // Checks are due before weights are saved (after 0, 25 and 50 steps), and before a measurement
    // on held-out text (after 20, 40 and 60).
    assert_eq!(looks, [1, 8, 8, 3, 6, 8, 6, 8, 3, 8, 1]);
    assert_eq!(alone.last_good_step(), together.last_good_step());
    let points = alone.take_points();
    assert_eq!(points.len(), 60);
    assert_eq!(points, together.take_points());
}

#[test]
fn a_run_that_breaks_down_among_unseen_steps_stops_where_it_would_have() {
    let broken = |together| {
        let mut experiment = experiment();
        // A check is due after 20 steps, before the measurement on held-out text.
        take(&mut experiment, 20, together);
        experiment.set_learning_rate(1.0).expect("a rate");
        let loss = loop {
            match slice(&mut experiment, together) {
                Taken::Diverged { loss } => break loss,
                _ => assert!(experiment.trainer().step() < 200, "it never diverges"),
            }
        };
        let points = experiment.take_points();
        (loss.to_bits(), experiment.trainer().step(), experiment.last_good_step(), points)
    };
    let expected = broken(1);
    assert!(expected.1 > 22, "some good steps are ahead with the bad one: {}", expected.1);
    for together in [2, 5, 8] {
        assert_eq!(broken(together), expected, "{together} together");
    }
}

#[test]
fn settling_looks_at_every_step_taken() {
    let mut experiment = experiment();
    take(&mut experiment, 1, 8);
    while experiment.trainer().step() < 4 {
        assert!(matches!(slice(&mut experiment, 8), Taken::Nothing));
    }
    // In the middle of the next step.
    slice(&mut experiment, 8);
    assert_eq!(experiment.take_points().len(), 1);
    assert!(matches!(pollster::block_on(experiment.settle()), Taken::Steps(3)));
    let steps: Vec<u32> = experiment.take_points().iter().map(|point| point.step).collect();
    assert_eq!(steps, [2, 3, 4]);
    assert!(matches!(pollster::block_on(experiment.settle()), Taken::Nothing));
}

#[test]
fn quick_steps_are_looked_at_together_and_slow_ones_alone() {
    let expected = [(0.0, 1), (0.1, 8), (10.0, 5), (30.0, 1), (1e9, 1)];
    for (milliseconds, together) in expected {
        assert_eq!(steps_together(milliseconds), together, "{milliseconds} ms");
    }
}
