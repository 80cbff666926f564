//! Recurrent networks as a whole: forcing, gradients inside, truncation, learning.

mod support;

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use support::{device, relative_difference, same_bits, values};
use unroll_model::*;
use unroll_protocol::OptimizerSpec;

const KINDS: [CellKind; 6] = [
    CellKind::RNN,
    CellKind::MIKOLOV,
    CellKind::LSTM,
    CellKind::Lstm { projection: Some(3), forget_bias: 1.0 },
    CellKind::Gru,
    CellKind::ChoGru,
];

fn config(kind: CellKind) -> SequenceConfig {
    SequenceConfig {
        vocabulary: 9,
        outputs: 4,
        embedding: None,
        kind,
        hidden: 5,
        layers: 2,
        bidirectional: true,
        initialization: Initialization::Uniform,
        seed: 3,
    }
}

fn task() -> Recall {
    Recall::new(4, 4, 6).unwrap()
}

fn batch(device: &Device) -> BatchTensors {
    task().batch(1, Split::Training, 0, 3).tensors(device)
}

#[test]
fn a_trace_changes_nothing_and_its_parts_add_up() {
    for kind in KINDS {
        for (embedding, bidirectional) in [(None, true), (Some(3), false), (Some(40), true)] {
            let model = SequenceConfig { embedding, bidirectional, ..config(kind) }.init(&device());
            let inputs = batch(&device()).inputs;
            let plain = values(model.forward(inputs.clone()));
            let trace = model.forward_traced(inputs, &RunOptions::default());
            assert!(same_bits(&plain, &values(trace.logits)));
            for layer in &trace.layers {
                for trace in [Some(&layer.forward), layer.backward.as_ref()].into_iter().flatten() {
                    let sums = trace.from_input.clone() + trace.from_state.clone();
                    assert!(same_bits(&values(sums), &values(trace.sums.clone())));
                    for &gate in kind.gates() {
                        let part = trace.gate(gate);
                        let value = match kind.range(gate) {
                            (0.0, _) => burn::tensor::activation::sigmoid(part.sum),
                            _ => part.sum.tanh(),
                        };
                        assert!(
                            relative_difference(&values(value), &values(part.value)) < 1e-6,
                            "{kind:?} {gate:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Where gradients inside are wanted, it goes step by step.
#[test]
fn a_trace_of_a_whole_sequence_is_that_of_its_steps() {
    for kind in KINDS {
        for length in [1, 6] {
            let model = config(kind).init(&device()).train();
            let inputs = batch(&device().autodiff()).inputs.narrow(1, 0, length);
            let finals = model.run(inputs.clone(), &RunOptions::default()).finals;
            let options = RunOptions { initial: Some(finals), ..RunOptions::default() };
            let whole = model.forward_traced(inputs.clone(), &options);
            let stepwise = RunOptions { probes: true, ..options };
            let steps = model.forward_traced(inputs, &stepwise);
            let parts = |layer: &RecurrentLayerTrace| {
                let traces = [Some(&layer.forward), layer.backward.as_ref()];
                let parts = |trace: &RecurrentTrace| {
                    let trace = trace.clone();
                    let always = [
                        trace.inputs,
                        trace.previous,
                        trace.from_input,
                        trace.from_state,
                        trace.sums,
                        trace.gates,
                        trace.hidden,
                    ];
                    let some =
                        [trace.previous_cell, trace.before_reset, trace.unprojected, trace.cell];
                    always.map(Some).into_iter().chain(some).map(|part| part.map(values))
                };
                traces.into_iter().flatten().flat_map(parts).collect::<Vec<_>>()
            };
            for (whole, steps) in whole.layers.iter().zip(&steps.layers) {
                for (at, (whole, steps)) in parts(whole).iter().zip(parts(steps)).enumerate() {
                    match (whole, steps) {
                        (Some(whole), Some(steps)) => {
                            assert!(
                                same_bits(whole, &steps),
                                "{kind:?}, {length} steps, part {at}"
                            );
                        }
                        (whole, steps) => assert_eq!(whole.is_some(), steps.is_some()),
                    }
                }
            }
        }
    }
}

#[test]
fn a_sequence_in_two_halves_ends_as_in_one() {
    for kind in KINDS {
        let model = SequenceConfig { bidirectional: false, ..config(kind) }.init(&device());
        let inputs = batch(&device()).inputs;
        let whole = model.forward(inputs.clone());
        let options = RunOptions::default();
        let first = model.run(inputs.clone().narrow(1, 0, 2), &options);
        let options = RunOptions { initial: Some(first.finals), ..options };
        let second = model.run(inputs.narrow(1, 2, 4), &options);
        let joined = Tensor::cat(vec![first.logits, second.logits], 1);
        assert!(relative_difference(&values(whole), &values(joined)) < 1e-6, "{kind:?}");
    }
}

#[test]
fn a_whole_sequence_has_the_gradients_of_its_steps() {
    let device = device();
    for kind in KINDS {
        for truncation in [None, Some(4)] {
            let model = config(kind).init(&device).train();
            let batch = batch(&device.clone().autodiff());
            let options = RunOptions { truncation, ..RunOptions::default() };
            let gradients = |stepwise: bool| {
                let inputs = batch.inputs.clone();
                let (logits, finals) = match stepwise {
                    true => {
                        let options = RunOptions { probes: true, ..options.clone() };
                        let trace = model.forward_traced(inputs, &options);
                        (trace.logits, trace.finals)
                    }
                    false => {
                        let output = model.run(inputs, &options);
                        (output.logits, output.finals)
                    }
                };
                let weights = batch.weights.clone() + 0.5;
                let mut loss = masked_cross_entropy(logits, batch.targets.clone(), weights);
                // The last states count as well, in both directions and of the cell.
                for states in finals {
                    for state in [Some(states.forward), states.backward].into_iter().flatten() {
                        loss = loss + (state.hidden.clone() * state.hidden).sum();
                        if let Some(cell) = state.cell {
                            loss = loss + (cell.clone() * cell).sum();
                        }
                    }
                }
                let mut sum = GradientSum::default();
                sum.add(&model, &mut loss.backward());
                sum.finish().into_iter().map(values).collect::<Vec<_>>()
            };
            for (whole, steps) in gradients(false).iter().zip(gradients(true)) {
                let difference = relative_difference(&steps, whole);
                assert!(difference < 1e-5, "{kind:?}, {truncation:?}: {difference}");
            }
        }
    }
}

#[test]
fn the_steps_contributions_are_the_gradient() {
    let device = device();
    for kind in KINDS {
        for truncation in [None, Some(2)] {
            let model = config(kind).init(&device).train();
            let batch = batch(&device.clone().autodiff());
            let options = RunOptions { probes: true, truncation, ..RunOptions::default() };
            let trace = model.forward_traced(batch.inputs, &options);
            let weights = batch.weights.clone() + 0.5;
            let gradients = masked_cross_entropy(trace.logits, batch.targets, weights).backward();
            for (layer, cells) in trace.layers.iter().zip(&model.recurrent.layers) {
                let backward = layer.backward.as_ref().zip(cells.backward.as_ref());
                for (trace, cell) in
                    [Some((&layer.forward, &cells.forward)), backward].into_iter().flatten()
                {
                    let parts = trace.gradients(&gradients).contributions(trace);
                    let check = |what: &str, expected: Vec<f32>, steps: Vec<f32>| {
                        let mut sum = vec![0f32; expected.len()];
                        for step in steps.chunks(expected.len()) {
                            sum.iter_mut().zip(step).for_each(|(sum, x)| *sum += x);
                        }
                        let difference = relative_difference(&expected, &sum);
                        assert!(difference < 1e-5, "{kind:?}, {what}: {difference}");
                    };
                    let whole = |p: &Tensor<2>| values(p.grad(&gradients).unwrap());
                    check("W", whole(&cell.input_weight.val()), values(parts.input_weight));
                    check("U", whole(&cell.recurrent_weight.val()), values(parts.recurrent_weight));
                    if let Some(bias) = &cell.bias {
                        let expected = values(bias.val().grad(&gradients).unwrap());
                        check("b", expected, values(parts.bias.unwrap()));
                    }
                    if let Some(bias) = &cell.candidate_bias {
                        let expected = values(bias.val().grad(&gradients).unwrap());
                        check("b_hn", expected, values(parts.candidate_bias.unwrap()));
                    }
                    if let Some(projection) = &cell.projection {
                        check("P", whole(&projection.val()), values(parts.projection.unwrap()));
                    }
                }
            }
        }
    }
}

#[test]
fn truncation_stops_the_gradient_at_its_edges_only() {
    let device = device();
    let model = SequenceConfig { bidirectional: false, layers: 1, ..config(CellKind::RNN) };
    let model = model.init(&device).train();
    let norms = |truncation| {
        let batch = batch(&device.clone().autodiff());
        let options = RunOptions { probes: true, truncation, ..RunOptions::default() };
        let trace = model.forward_traced(batch.inputs, &options);
        let loss = masked_cross_entropy(trace.logits, batch.targets, batch.weights);
        let inside = trace.layers[0].forward.gradients(&loss.backward());
        values(norm_per_step(&inside.hidden))
    };
    let (whole, cut) = (norms(None), norms(Some(4)));
    assert!(whole.iter().all(|&norm| norm > 0.0));
    assert_eq!(cut[..4], [0.0; 4]);
    assert_eq!(cut[4..], whole[4..]);
}

#[test]
fn forced_gates_do_what_their_formulas_say() {
    let device = device();
    let model = |kind| SequenceConfig { bidirectional: false, layers: 1, ..config(kind) };
    let force = |gate, unit, step, value| Force {
        layer: 0,
        backward: false,
        row: None,
        gate,
        unit,
        step,
        value,
    };
    // The LSTM: unit 2 forgets nothing and writes nothing after step 1.
    let lstm = model(CellKind::LSTM).init(&device);
    let mut forced = Vec::new();
    for step in 2..6 {
        forced.push(force(Gate::Forget, Some(2), Some(step), 0.3));
        forced.push(force(Gate::Forget, Some(2), Some(step), 1.0));
        forced.push(force(Gate::Input, Some(2), Some(step), 0.0));
    }
    forced.iter().for_each(|force| force.validate(&lstm.recurrent, 6).unwrap());
    let options = RunOptions { forced, ..RunOptions::default() };
    let trace = lstm.forward_traced(batch(&device).inputs, &options);
    let plain = lstm.forward_traced(batch(&device).inputs, &RunOptions::default());
    let cells = |trace: &SequenceTrace| values(trace.layers[0].forward.cell.clone().unwrap());
    let (cells, plain_cells) = (cells(&trace), cells(&plain));
    for row in 0..3 {
        let at = |step: usize, unit: usize| (row * 6 + step) * 5 + unit;
        for step in 2..6 {
            assert_eq!(cells[at(step, 2)], cells[at(1, 2)]);
        }
        for unit in 0..5 {
            assert_eq!(cells[at(1, unit)], plain_cells[at(1, unit)]);
        }
    }
    // The GRUs: an update gate at 1 keeps the state, which is 0, whatever comes.
    for kind in [CellKind::Gru, CellKind::ChoGru] {
        let gru = model(kind).init(&device);
        let forced = vec![force(Gate::Update, None, None, 1.0)];
        let options = RunOptions { forced, ..RunOptions::default() };
        let trace = gru.forward_traced(batch(&device).inputs, &options);
        assert!(values(trace.layers[0].forward.hidden.clone()).iter().all(|&h| h == 0.0));
    }

    let error = |force: Force| force.validate(&lstm.recurrent, 6).unwrap_err().to_string();
    assert_eq!(error(force(Gate::Reset, None, None, 0.0)), "This cell has no reset gate.");
    assert_eq!(
        error(force(Gate::Forget, Some(5), None, 0.0)),
        "There is no unit 6 to force: the layer has 5."
    );
    assert_eq!(
        error(force(Gate::Forget, None, Some(6), 0.0)),
        "There is no step 7 to force: the sequence has 6."
    );
    assert_eq!(
        error(force(Gate::Forget, None, None, -0.5)),
        "The forget gate can't be -0.5: it lies between 0 and 1."
    );
    assert!(force(Gate::Forget, None, None, f32::NAN).validate(&lstm.recurrent, 6).is_err());
}

/// Trains and measures the accuracy on what was held out.
fn learn(config: SequenceConfig, task: &dyn Task, delay: usize, steps: u32, rate: f64) -> f32 {
    let device = device();
    let mut model = config.init(&device);
    let spec = OptimizerSpec { weight_decay: 0.0, clip_norm: 1.0, ..OptimizerSpec::default() };
    let mut optimizer = Optimizer::new(&spec, &model);
    for step in 0..steps {
        let batch = task.batch(1, Split::Training, step, 16).delayed(delay).unwrap();
        let batch = batch.tensors(&device);
        let tracked = model.clone().train();
        let loss =
            masked_cross_entropy(tracked.forward(batch.inputs), batch.targets, batch.weights);
        let mut sum = GradientSum::default();
        sum.add(&tracked, &mut loss.backward());
        let gradients = sum.finish();
        let norm = global_norm(&gradients);
        model = optimizer.update(model, gradients, &norm, rate);
    }
    let held_out = task.batch(1, Split::HeldOut, 0, 200).delayed(delay).unwrap();
    let held_out = held_out.tensors(&device);
    let logits = model.forward(held_out.inputs);
    values(masked_accuracy(logits, held_out.targets, held_out.weights))[0]
}

fn for_task(task: &dyn Task, kind: CellKind, hidden: usize) -> SequenceConfig {
    SequenceConfig {
        vocabulary: task.vocabulary(),
        outputs: task.outputs(),
        embedding: None,
        kind,
        hidden,
        layers: 1,
        bidirectional: false,
        initialization: Initialization::Uniform,
        seed: 1,
    }
}

#[test]
fn gated_cells_learn_to_recall_across_a_gap() {
    let task = Recall::new(4, 10, 12).unwrap();
    for kind in
        [CellKind::Lstm { projection: None, forget_bias: 1.0 }, CellKind::Gru, CellKind::ChoGru]
    {
        let accuracy = learn(for_task(&task, kind, 24), &task, 0, 300, 0.01);
        assert!(accuracy > 0.95, "{kind:?} reached {accuracy}");
    }
}

#[test]
fn the_future_is_out_of_reach_in_one_direction_without_delay() {
    let task = LookAhead::new(4, 2, 12).unwrap();
    let one = for_task(&task, CellKind::Gru, 24);
    let both = SequenceConfig { bidirectional: true, ..one };
    let alone = learn(one, &task, 0, 250, 0.01);
    assert!((alone - 0.25).abs() < 0.05, "chance is 0.25, not {alone}");
    let short = learn(one, &task, 1, 250, 0.01);
    assert!((short - 0.25).abs() < 0.05, "chance is 0.25, not {short}");
    let delayed = learn(one, &task, 2, 250, 0.01);
    assert!(delayed > 0.97, "delayed: {delayed}");
    let both = learn(both, &task, 0, 250, 0.01);
    assert!(both > 0.97, "both directions: {both}");
}

#[test]
fn counting_and_quoting_are_learned() {
    let depth = Brackets::depth(24, 4).unwrap();
    let lstm = CellKind::Lstm { projection: None, forget_bias: 1.0 };
    let accuracy = learn(for_task(&depth, lstm, 24), &depth, 0, 400, 0.01);
    assert!(accuracy > 0.97, "depth: {accuracy}");
    let quotes = Quotes::new(24).unwrap();
    let accuracy = learn(for_task(&quotes, CellKind::Gru, 24), &quotes, 0, 400, 0.01);
    assert!(accuracy > 0.97, "quotes: {accuracy}");
}
