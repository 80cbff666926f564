//! What the chapter `bptt` shows is true of the networks it trains.

mod support;

use burn::{module::Module, tensor::Tensor};
use support::{
    device, ready, relative_difference,
    study::{ask, build, points, train, try_build},
    values,
};
use unroll_model::{
    AnyStudy, CellKind, Initialization, Recall, RunOptions, SequenceBatch, SequenceConfig, Split,
    StudySlice, Task, masked_cross_entropy,
};
use unroll_protocol::study::bptt::{self, Cell, Flow, LossKind, Nudged, Settings, ask};

fn study(settings: &Settings, seed: u32) -> AnyStudy {
    build(settings.spec(seed), "")
}

fn flow(study: &mut AnyStudy, settings: &Settings) -> Flow {
    ask(study, settings.question()).unwrap()
}

fn network(flow: &Flow, cell: Cell) -> &bptt::Network {
    flow.networks.iter().find(|network| network.cell == cell).unwrap()
}

/// The share of the last step's norm that reaches the first.
fn left(norms: &[f32]) -> f32 {
    norms[0] / norms[norms.len() - 1]
}

/// What the chapter is about. One seed here; `seeds_of_the_default` prints five.
#[test]
fn the_rnn_fails_past_some_gap_where_lstm_and_gru_do_not() {
    let settings = Settings::default();
    let mut study = study(&settings, 1);
    train(&mut study, 1000);
    let flow = flow(&mut study, &settings);
    assert_eq!((flow.step, flow.accuracy.step), (1000, 1000));
    assert_eq!(flow.accuracy.gaps.last(), Some(&30));
    let [rnn, lstm, gru] = &flow.accuracy.shares[..] else { panic!("three networks") };
    assert!(lstm.iter().chain(gru).all(|&share| share > 0.95), "{lstm:?} {gru:?}");
    // Out of 16 symbols; five seeds give 0.58 to 0.77.
    assert!(rnn[0] > 0.5, "short gaps it learns: {rnn:?}");
    assert!(rnn[rnn.len() - 1] < 0.5, "long ones it does not: {rnn:?}");
}

#[test]
#[ignore = "a minute: prints the accuracies of five seeds"]
fn seeds_of_the_default() {
    for seed in 1..=5 {
        let settings = Settings::default();
        let mut study = study(&settings, seed);
        for _ in 0..8 {
            train(&mut study, 250);
            let flow = flow(&mut study, &settings);
            println!("seed {seed} step {}", study.step());
            for (cell, shares) in Cell::ALL.iter().zip(&flow.accuracy.shares) {
                let shares = shares.iter().zip(&flow.accuracy.gaps);
                let shares: String = shares.map(|(s, g)| format!("{g}:{s:.2} ")).collect();
                println!("  {:<4} {shares}", cell.label());
            }
        }
    }
}

/// Before training, the gradient dies in all of them but the LSTM with a forget bias of 1 or more;
/// with half-open forget gates it dies in the LSTM's cell, too.
#[test]
fn the_forget_bias_decides_what_comes_back_along_the_cell() {
    let of = |forget_bias: f32| {
        let settings = Settings { forget_bias, ..Settings::default() };
        let flow = flow(&mut study(&settings, 1), &settings);
        let lstm = network(&flow, Cell::Lstm);
        (left(lstm.memory.as_ref().unwrap()), lstm.kept, left(&network(&flow, Cell::Rnn).hidden))
    };
    let (half, kept, rnn) = of(0.0);
    assert!((kept - 0.5).abs() < 0.05, "{kept}");
    assert!(half < 1e-6 && rnn < 1e-6, "{half} {rnn}");
    let (one, ..) = of(1.0);
    let (three, kept, _) = of(3.0);
    assert!(one > 100.0 * half && three > 100.0 * one, "{half} {one} {three}");
    assert!(three > 0.1 && kept > 0.9, "{three} {kept}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_asking_changes_nothing() {
    let settings = Settings::default();
    let (mut a, mut b) = (study(&settings, 3), study(&settings, 3));
    let first = points(&mut a, 12);
    // Questions and a dropped half-step in between.
    train(&mut b, 5);
    flow(&mut b, &settings);
    assert_eq!(ready(b.advance()), StudySlice::More);
    flow(&mut b, &Settings { rescale: true, radius: 3.0, ..settings.clone() });
    b.discard();
    let rest = points(&mut b, 7);
    assert_eq!(first[5..], rest[..]);
    assert_eq!(flow(&mut a, &settings), flow(&mut b, &settings));
    assert_eq!(a.started().series.len(), first[0].len());
    let other = train(&mut study(&settings, 4), 1);
    assert_ne!(first[0], other);
}

#[test]
fn a_weights_gradient_is_the_sum_over_the_copies() {
    for (cell, truncation) in Cell::ALL.iter().flat_map(|&cell| [(cell, 0), (cell, 10)]) {
        let settings = Settings {
            cell,
            truncation,
            from: 3,
            to: 5,
            loss: LossKind::Every,
            ..Settings::default()
        };
        let mut study = study(&settings, 1);
        train(&mut study, 30);
        let weights = flow(&mut study, &settings).weights;
        assert_eq!(weights.whole.shape, [16, 16]);
        let whole = f64::from(weights.whole.values[2 * 16 + 4]);
        let sum: f64 = weights.terms.iter().map(|&term| f64::from(term)).sum();
        let most = weights.terms.iter().fold(0f32, |most, term| most.max(term.abs()));
        assert!((sum - whole).abs() < 1e-5 * f64::from(most), "{cell:?}: {sum} and {whole}");
        assert_eq!(weights.terms.len(), 32);
        // Before the first step the state is zero: that copy's contribution is none.
        assert_eq!((weights.terms[0], weights.norms[0]), (0.0, 0.0));
    }
}

#[test]
fn nothing_passes_a_cut() {
    for loss in LossKind::ALL {
        let settings = Settings { truncation: 10, loss: *loss, ..Settings::default() };
        let flow = flow(&mut study(&settings, 1), &settings);
        for network in &flow.networks {
            // Cuts lie before steps 11, 21 and 31; the last piece is steps 31 and 32.
            assert!(network.hidden[30..].iter().all(|&norm| norm > 0.0));
            if *loss == LossKind::Last {
                assert!(network.hidden[..30].iter().all(|&norm| norm == 0.0), "{network:?}");
            } else {
                // Every step of every piece has a loss of its own.
                assert!(network.hidden.iter().all(|&norm| norm > 0.0));
            }
        }
    }
    // Training obeys, too: with pieces of 1 step the RNN can't learn even the shortest gap.
    let settings = Settings { truncation: 1, gap: 2, length: 4, hidden: 8, ..Settings::default() };
    let mut study = study(&settings, 1);
    train(&mut study, 200);
    let accuracy = flow(&mut study, &settings).accuracy;
    assert!(accuracy.shares[0].iter().all(|&share| share < 0.5), "{accuracy:?}");
}

#[test]
fn clipping_acts_on_the_weights_gradient_and_not_on_the_curve() {
    let of = |clip: f32| {
        let settings = Settings { clip, ..Settings::default() };
        let mut study = study(&settings, 1);
        let flow = flow(&mut study, &settings);
        (flow.networks, train(&mut study, 1))
    };
    let (curve, clipped) = of(0.05);
    let (unclipped_curve, unclipped) = of(0.0);
    assert_eq!(curve, unclipped_curve);
    assert_eq!(clipped[3..6], unclipped[3..6], "before clipping");
    assert_eq!(unclipped[3..6], unclipped[6..9], "0 switches clipping off");
    for norm in &clipped[6..9] {
        assert!((norm.unwrap() - 0.05).abs() < 1e-5, "{norm:?}");
    }
}

#[test]
fn rescaled_curves_die_below_1_and_at_0_end_at_once() {
    let settings = Settings::default();
    let mut study = study(&settings, 1);
    train(&mut study, 100);
    let plain = flow(&mut study, &settings);
    assert_eq!(plain.rescaled, None);
    let mut at = |radius: f32| {
        let settings = Settings { rescale: true, radius, ..settings.clone() };
        let flow = flow(&mut study, &settings);
        assert_eq!(flow.networks, plain.networks, "the network in training stays");
        flow.rescaled.unwrap()
    };
    for radius in [0.3, 1.0, 4.0] {
        let rescaled = at(radius);
        assert!((rescaled.radius - radius).abs() < 1e-4 * radius, "{rescaled:?}");
    }
    assert!(left(&at(0.3).hidden) < 1e-12);
    assert!(left(&at(1.0).hidden) > left(&at(0.5).hidden));
    // Far above 1 tanh saturates.
    assert!(at(4.0).kept < 0.5 * at(0.5).kept);
    let zero = at(0.0);
    assert!(zero.hidden[..31].iter().all(|&norm| norm == 0.0) && zero.hidden[31] > 0.0);
    // The radius of the RNN's own U gives its own curve.
    let own = at(plain.radius);
    assert!(relative_difference(&network(&plain, Cell::Rnn).hidden, &own.hidden) < 1e-4);
}

/// dL/ds_t by the chapter's two formulas, multiplied out by hand, against autograd's.
#[test]
fn products_of_jacobians_are_the_gradients() {
    let (units, length, rows) = (6, 9, 3);
    let task = Recall::new(4, 5, length).unwrap();
    let config = SequenceConfig {
        vocabulary: task.vocabulary(),
        outputs: task.outputs(),
        embedding: None,
        kind: CellKind::RNN,
        hidden: units,
        layers: 1,
        bidirectional: false,
        initialization: Initialization::Orthogonal,
        seed: 1,
    };
    let model = config.init(&device()).train();
    for every in [false, true] {
        let mut batch = task.batch(1, Split::Training, 0, rows);
        if every {
            batch.weights.fill(1.0);
        }
        let SequenceBatch { targets, weights, .. } = batch.clone();
        let asked: f32 = weights.iter().sum();
        let tensors = batch.tensors(&device());
        let options = RunOptions { probes: true, ..RunOptions::default() };
        let run = model.forward_traced(tensors.inputs, &options);
        let logits = values(run.logits.clone().inner());
        let loss = masked_cross_entropy(run.logits, tensors.targets, tensors.weights);
        let trace = &run.layers[0].forward;
        let found = values(trace.gradients(&loss.backward()).hidden);
        let states = values(trace.hidden.clone());
        let matrix = |tensor: Tensor<2>| values(tensor.inner());
        // Held as they multiply from the right: `recurrent[j * units + i]` is U_ij.
        let recurrent = matrix(model.recurrent.layers[0].forward.recurrent_weight.val());
        let readout = matrix(model.readout.weight.val());
        let outputs = task.outputs();
        let mut expected = vec![0.0f32; found.len()];
        for row in 0..rows {
            let mut later = vec![0.0f32; units];
            for step in (0..length).rev() {
                let at = row * length + step;
                // dL_t/ds_t: the step's own loss through the readout.
                let logits = &logits[at * outputs..][..outputs];
                let total: f32 = logits.iter().map(|x| x.exp()).sum();
                let own = |unit: usize| -> f32 {
                    let terms = logits.iter().enumerate().map(|(answer, logit)| {
                        let right = if targets[at] as usize == answer { 1.0 } else { 0.0 };
                        (logit.exp() / total - right) * readout[unit * outputs + answer]
                    });
                    terms.sum::<f32>() * weights[at] / asked
                };
                // D_t = dL_t/ds_t + D_(t+1) J_(t+1)
                let now: Vec<f32> = (0..units).map(|unit| own(unit) + later[unit]).collect();
                expected[at * units..][..units].copy_from_slice(&now);
                // D_t J_t with J_t = diag(1 - s_t²) U, for the step before.
                let slope =
                    |unit: usize| 1.0 - states[at * units + unit] * states[at * units + unit];
                later = (0..units)
                    .map(|j| (0..units).map(|i| now[i] * slope(i) * recurrent[j * units + i]).sum())
                    .collect();
            }
        }
        assert!(relative_difference(&expected, &found) < 1e-5, "every step: {every}");
    }
}

#[test]
fn what_can_not_be_shown_is_said() {
    let refused = |settings: Settings| try_build(settings.spec(1), "").err().expect("a refusal");
    let default = Settings::default;
    assert!(refused(Settings { gap: 31, ..default() }).contains("A gap of 31 does not fit"));
    assert!(refused(Settings { gap: 0, ..default() }).contains("at least 1"));
    assert!(refused(Settings { hidden: 0, ..default() }).contains("at least 1"));
    assert!(refused(Settings { hidden: 5000, ..default() }).contains("too slowly"));
    assert!(refused(Settings { forget_bias: f32::NAN, ..default() }).contains("forget bias"));
    assert!(refused(Settings { clip: -1.0, ..default() }).contains("clipping"));
    let mut study = study(&default(), 1);
    for (from, to) in [(0, 1), (17, 1), (1, 17), (u32::MAX, 1)] {
        let (loss, cell) = (LossKind::Last, Cell::Rnn);
        let said = ask(&mut study, ask::Flow { loss, radius: None, cell, from, to }).unwrap_err();
        assert!(said.contains("There is no unit"), "{said}");
    }
    for radius in [-1.0, f32::NAN, f32::INFINITY] {
        let settings = Settings { rescale: true, radius, ..default() };
        let said = ask(&mut study, settings.question()).unwrap_err();
        assert!(said.contains("spectral radius"), "{said}");
    }
    assert!(ask(&mut study, default().question()).is_ok());
    assert!(study.set_learning_rate(f32::NAN).is_err());
    // A unit chosen in a wider network: the last one is shown.
    let narrow = Settings { hidden: 4, from: 9, ..default() };
    assert!(matches!(narrow.question(), ask::Flow { from: 4, to: 1, .. }));
}

fn nudged(study: &mut AnyStudy, settings: &Settings) -> Nudged {
    ask(study, settings.nudge()).unwrap()
}

/// The largest number of a sweep.
fn largest(nudged: &Nudged) -> f64 {
    f64::from(nudged.sweep.values.iter().fold(0f32, |most, value| most.max(value.abs())))
}

/// The measured slope is backpropagation's, up to five times the nudge's share of the largest slope,
/// which the loss's curve takes, and up to rounding.
#[test]
fn a_nudge_measures_what_backpropagation_gives() {
    for trained in [50, 300] {
        let mut study = study(&Settings::default(), 1);
        train(&mut study, trained);
        for (&cell, step) in
            Cell::ALL.iter().flat_map(|cell| [1, 16, 28, 31, 32].map(|s| (cell, s)))
        {
            for (unit, nudge) in [(1, 0.01), (2, 0.01), (16, 0.01), (2, 0.001)] {
                let settings = Settings { cell, step, unit, nudge, ..Settings::default() };
                let nudged = nudged(&mut study, &settings);
                assert_eq!((nudged.trained, nudged.length()), (trained as u32, 32));
                let (measured, swept) = (nudged.measured(), nudged.swept(step).unwrap());
                let allowed = 5.0 * nudged.size * largest(&nudged) + 5.0 * nudged.rounding;
                assert!(
                    (measured - swept).abs() < allowed,
                    "{cell:?} after {trained}, step {step}, unit {unit}: {measured} and {swept}"
                );
                // What arrives at the last step, times what it does there.
                let units = settings.hidden as usize;
                let ends = [&nudged.ripple.values, &nudged.sweep.values]
                    .map(|all| &all[all.len() - units..]);
                let passed =
                    ends[0].iter().zip(ends[1]).map(|(a, b)| f64::from(a * b)).sum::<f64>();
                assert!(
                    (passed - swept).abs() < allowed,
                    "{cell:?}, step {step}: {passed} and {swept}"
                );
            }
        }
    }
}

#[test]
fn a_smaller_nudge_comes_closer_and_a_large_one_does_not_agree() {
    let mut study = study(&Settings::default(), 1);
    train(&mut study, 300);
    let mut off = |nudge: f32| {
        let settings = Settings { step: 32, unit: 2, nudge, ..Settings::default() };
        let nudged = nudged(&mut study, &settings);
        let swept = nudged.swept(32).unwrap();
        (nudged.measured() - swept).abs() / swept.abs()
    };
    // The error of a difference on one side is in proportion to the nudge.
    let [one, tenth, hundredth] = [1.0, 0.1, 0.01].map(&mut off);
    assert!(one > 0.05, "{one}");
    assert!((5.0..20.0).contains(&(one / tenth)), "{one} {tenth}");
    assert!((5.0..20.0).contains(&(tenth / hundredth)), "{tenth} {hundredth}");
}

#[test]
fn the_ripple_begins_with_the_nudged_unit_alone() {
    let mut study = study(&Settings::default(), 1);
    train(&mut study, 50);
    for &cell in Cell::ALL {
        let losses = [1, 20, 32].map(|step| {
            let settings = Settings { cell, step, unit: 3, ..Settings::default() };
            let nudged = nudged(&mut study, &settings);
            assert_eq!(nudged.ripple.shape, [33 - step, 16]);
            assert_eq!(nudged.sweep.shape, [32, 16]);
            let alone: Vec<f32> = (0..16).map(|unit| if unit == 2 { 1.0 } else { 0.0 }).collect();
            assert_eq!(nudged.ripple.values[..16], alone, "{cell:?}");
            assert!((nudged.size - 0.01).abs() < 1e-6);
            nudged.before
        });
        // Wherever the run is taken up, it is the same run.
        assert!(losses.iter().all(|loss| (loss - losses[0]).abs() < 1e-6), "{losses:?}");
    }
    // Asking changes nothing.
    let settings = Settings::default();
    let (first, again) = (nudged(&mut study, &settings), nudged(&mut study, &settings));
    assert_eq!(first, again);
}

#[test]
fn a_nudge_passes_a_cut_and_the_gradient_does_not() {
    let settings = Settings { truncation: 10, ..Settings::default() };
    let mut study = study(&settings, 1);
    train(&mut study, 50);
    // Cuts lie before steps 11, 21 and 31.
    let mut at = |step: u32| nudged(&mut study, &Settings { step, ..settings.clone() });
    let (before, after) = (at(30), at(31));
    assert!(before.cut && !after.cut);
    assert_eq!(before.swept(30), Some(0.0));
    assert!(before.measured().abs() > 10.0 * before.rounding, "{}", before.measured());
    assert!(after.swept(31).unwrap() != 0.0);
}

#[test]
fn a_nudge_that_can_not_be_is_refused_in_a_sentence() {
    let settings = Settings::default();
    let mut study = study(&settings, 1);
    let mut said = |step: u32, unit: u32, size: f32| {
        ask(&mut study, ask::Nudge { cell: Cell::Rnn, step, unit, size }).unwrap_err()
    };
    for step in [0, 33, u32::MAX] {
        assert!(said(step, 1, 0.01).contains("Choose a step from 1 to 32"));
    }
    for unit in [0, 17, u32::MAX] {
        assert!(said(28, unit, 0.01).contains("There is no unit"));
    }
    for size in [0.0, f32::NAN, f32::INFINITY] {
        assert!(said(28, 1, size).contains("measures nothing"));
    }
    assert!(said(28, 1, 1e-30).contains("lost in rounding"));
    // What was chosen with longer sequences and wider networks: the last of each.
    let narrow = Settings { hidden: 4, gap: 8, length: 10, unit: 9, step: 28, ..settings };
    assert!(matches!(narrow.nudge(), ask::Nudge { step: 10, unit: 4, .. }));
}
