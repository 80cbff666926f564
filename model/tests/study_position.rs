//! What the chapter `position` says must be true of its numbers.

mod support;

use support::{
    ready, same_bits,
    study::{ask, build, measured, train},
};
use unroll_model::AnyStudy;
use unroll_protocol::{
    architecture::Positions,
    study::position::{Asked, CountFrom, LONGEST, Reading, Settings, accuracy_series, ask},
};

fn study(settings: &Settings) -> AnyStudy {
    build(settings.spec(1), "")
}

/// The last measurement on sequences of `length` symbols.
fn accuracy(study: &AnyStudy, last: &[Option<f32>], positions: Positions, length: u32) -> f32 {
    measured(study, last, &accuracy_series(positions, length))
}

fn read(study: &mut AnyStudy, asked: Asked) -> Reading {
    ask(study, ask::Reading { asked }).unwrap()
}

const ASKED: Asked = Asked { example: 1, length: 8, number: 3 };

#[test]
fn a_shift_is_one_rotation_at_every_position() {
    let mut study = study(&Settings::default());
    for (at, k) in [(0, 1), (5, 3), (4096, 4096), (1_000_000, 1_000_000), (7, 0)] {
        let clock = ask(&mut study, ask::Clock { at, k }).unwrap();
        assert_eq!((clock.at, clock.k), (at, k));
        assert!(clock.largest < 1e-6, "{} at {}, k {k}", clock.largest, clock.largest_at);
        assert!(clock.difference < 1e-6, "{} at {at}, k {k}", clock.difference);
        assert_eq!(clock.here.len(), 32);
        assert_eq!(clock.frequencies[0], 1.0);
    }
    let beyond = ask(&mut study, ask::Clock { at: u32::MAX, k: u32::MAX });
    assert!(beyond.unwrap_err().contains("beyond"));
}

#[test]
fn order_is_learned_where_positions_are_told_and_only_there() {
    let mut start = study(&Settings::default());
    let last = train(&mut start, 300);
    let of = |positions, length| accuracy(&start, &last, positions, length);
    assert!(of(Positions::Sinusoidal, LONGEST) > 0.9);
    assert!(of(Positions::Learned, LONGEST) > 0.9);
    assert!(of(Positions::None, LONGEST) < 0.5);
    // Counted from the start, the sinusoidal model goes on beyond what it was trained on.
    assert!(of(Positions::Sinusoidal, 16) > 0.75);
    assert!(of(Positions::Rotary, LONGEST) < 0.7);
    // There is no such measurement where there are no rows.
    assert!(!start.started().series.contains(&accuracy_series(Positions::Learned, 10)));

    // Counted back from the end it is the distance that counts.
    let mut end = study(&Settings { from: CountFrom::End, ..Settings::default() });
    let last = train(&mut end, 300);
    let of = |positions, length| accuracy(&end, &last, positions, length);
    assert!(of(Positions::Rotary, LONGEST) > 0.9);
    assert!(of(Positions::Rotary, 10) > 0.6);
    assert!(of(Positions::Sinusoidal, 16) < 0.5);
}

#[test]
fn without_positions_order_shows_only_through_a_causal_mask_and_two_layers() {
    let swapped = |settings: &Settings| {
        let mut study = study(settings);
        train(&mut study, 20);
        read(&mut study, ASKED).models[0].swapped
    };
    let full = Settings { layers: 2, ..Settings::default() };
    assert!(swapped(&Settings::default()) < 1e-4);
    assert!(swapped(&full) < 1e-4);
    assert!(swapped(&Settings { causal: true, ..Settings::default() }) < 1e-4);
    assert!(swapped(&Settings { causal: true, ..full }) > 1e-3);
}

#[test]
fn without_positions_two_orders_make_one_sum() {
    let mut study = study(&Settings::default());
    train(&mut study, 20);
    let reading = read(&mut study, Asked { number: 1, ..ASKED });
    let (first, other) = reading.exchanged;
    assert_ne!(reading.tokens[first as usize], reading.tokens[other as usize]);
    for model in &reading.models {
        assert_eq!(model.sums.shape, [2, 32]);
        let (before, after) = (model.sums.block(&[0]).unwrap(), model.sums.block(&[1]).unwrap());
        let most = before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let largest = model.sums.values.iter().fold(0f32, |most, sum| most.max(sum.abs()));
        let same = most <= 1e-5 * largest;
        assert_eq!(same, model.positions == Positions::None, "{most} of {largest}");
    }
}

#[test]
fn learned_positions_end_with_a_sentence() {
    let mut study = study(&Settings::default());
    let reading = read(&mut study, Asked { length: 20, ..ASKED });
    for model in &reading.models {
        let refused = model.refusal.as_deref();
        assert_eq!(refused.is_some(), model.positions == Positions::Learned);
        assert!(refused.is_none_or(|sentence| sentence.contains("no")), "{refused:?}");
        let sums = model.weights.values.chunks(21).map(|row| row.iter().sum::<f32>());
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-5));
    }
    let row = |study: &mut AnyStudy, length| {
        let asked = Asked { length, ..ASKED };
        let positions = Positions::Learned;
        ask(study, ask::Row { positions, asked, head: 0, query: 8 })
    };
    assert!(row(&mut study, 20).unwrap_err().contains("9 rows"));
    assert!(row(&mut study, 8).is_ok());
    let products = ask::Products { positions: Positions::Learned, at: 9 };
    assert!(ask(&mut study, products).unwrap_err().contains("none for position 9"));
}

#[test]
fn rotary_and_alibi_scores_depend_on_the_offset_only() {
    let mut study = study(&Settings::default());
    train(&mut study, 30);
    for &positions in Positions::ALL {
        let scores = ask(&mut study, ask::Scores { positions }).unwrap();
        let (drift, spread) = (scores.drift[0], scores.spread[0]);
        let relative = [Positions::Rotary, Positions::Alibi].contains(&positions);
        match positions {
            Positions::None => assert!(spread < 1e-5, "{spread}"),
            _ if relative => assert!(drift < 1e-4 * spread.max(1.0), "{positions:?} {drift}"),
            _ => assert!(drift > 1e-3, "{positions:?} {drift}"),
        }
        assert!(positions == Positions::None || spread > 1e-3, "{positions:?} {spread}");
    }
}

#[test]
fn an_integer_in_every_dimension_is_normalized_away() {
    let mut study = study(&Settings::default());
    let swamping = ask(&mut study, ask::Swamping {}).unwrap();
    assert!(swamping.moved_by_all < 1e-6, "{}", swamping.moved_by_all);
    assert!(swamping.moved_by_one > 1.0);
    let last = |name: &str| {
        let line = swamping.lines.iter().find(|line| line.0 == name).unwrap();
        *line.1.last().unwrap()
    };
    assert!(last("integer, in one dimension") > 0.9);
    assert!(last("sinusoidal") < 0.8);
}

#[test]
fn what_does_not_fit_is_said() {
    // 15 dimensions in one head: neither can be paired.
    let mut odd = study(&Settings { width: 15, ..Settings::default() });
    train(&mut odd, 2);
    for positions in [Positions::Sinusoidal, Positions::Rotary] {
        let refused = ask(&mut odd, ask::Encoding { positions }).unwrap_err();
        assert!(refused.contains("15"), "{refused}");
    }
    assert!(ask(&mut odd, ask::Clock { at: 1, k: 1 }).is_err());
    let reading = read(&mut odd, ASKED);
    assert_eq!(reading.models.iter().filter(|model| model.refusal.is_some()).count(), 2);
    // 30 in two heads: only what pairs within a head can't be.
    let mut thirty = study(&Settings { width: 30, ..Settings::default() });
    let encoding = |positions| ask::Encoding { positions };
    assert!(ask(&mut thirty, encoding(Positions::Rotary)).is_err());
    assert!(ask(&mut thirty, encoding(Positions::Sinusoidal)).is_ok());
    for asked in [
        Asked { length: 0, ..ASKED },
        Asked { length: 4, number: 5, ..ASKED },
        Asked { number: 0, ..ASKED },
        Asked { length: u32::MAX, number: u32::MAX, ..ASKED },
    ] {
        assert!(ask(&mut thirty, ask::Reading { asked }).is_err());
    }
}

#[test]
fn a_seed_decides_every_bit_whatever_is_asked_or_dropped() {
    let settings = Settings::default();
    let mut quiet = study(&settings);
    let expected = train(&mut quiet, 50);
    let mut asked = study(&settings);
    let mut last = Vec::new();
    while asked.step() < 50 {
        if asked.step() % 7 == 3 {
            ready(asked.advance());
            read(&mut asked, ASKED);
            asked.discard();
        }
        last = train(&mut asked, 1);
    }
    let bits =
        |values: &[Option<f32>]| values.iter().map(|v| v.unwrap_or(-1.0)).collect::<Vec<_>>();
    assert!(same_bits(&bits(&expected), &bits(&last)));
}
