//! The chapter `gates`: what it says of its numbers must be true of them.

mod support;

use support::{
    ready,
    study::{ask, build, points, train, try_build},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Array,
    study::gates::{self, CellChoice, Followed, Forced, Quantity, Sentence, TaskChoice, ask},
};

/// What the page takes by itself when the chapter opens.
const WARM: usize = 300;

fn spec(cell: CellChoice, task: TaskChoice, seed: u32) -> gates::Spec {
    gates::Settings { cell, task, ..gates::Settings::default() }.spec(seed)
}

fn seen(
    study: &mut AnyStudy,
    sentence: &Sentence,
    quantity: Quantity,
    forced: &[Forced],
) -> gates::Seen {
    let (sentence, forced) = (sentence.clone(), forced.to_vec());
    ask(study, ask::Seen { sentence, quantity, forced }).unwrap()
}

fn sums(
    study: &mut AnyStudy,
    sentence: &Sentence,
    forced: &[Forced],
    unit: u32,
    at: u32,
) -> Result<gates::Sums, String> {
    let (sentence, forced) = (sentence.clone(), forced.to_vec());
    ask(study, ask::Sums { sentence, forced, unit, at })
}

fn units(study: &mut AnyStudy) -> gates::Units {
    ask(study, ask::Units {}).unwrap()
}

fn best(units: &gates::Units) -> (Followed, usize, f32) {
    let (what, r) = &units.follows[0];
    let best = r.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
    (*what, best.0, best.1.abs())
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn near(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-6 * (1.0 + a.abs().max(b.abs())), "{a} is not {b}");
}

#[test]
fn a_unit_counts_brackets_after_the_warm_steps() {
    for cell in CellChoice::ALL.iter().copied() {
        for seed in 1..=3 {
            let mut study = build(spec(cell, TaskChoice::Brackets, seed), "");
            let values = points(&mut study, WARM);
            let (what, unit, r) = best(&units(&mut study));
            println!("{cell:?} seed {seed}: unit {} r {r:.3}", unit + 1);
            assert_eq!(what, Followed::Depth);
            assert!(r > 0.9, "{cell:?} seed {seed}: {r}");
            // The best of the last three measurements: a loss may spike for a few steps.
            let right = values.iter().filter_map(|step| step[1]).rev().take(3);
            let right = right.fold(0.0, f32::max);
            assert!(right > 0.85, "{cell:?} seed {seed}: {right} right");
        }
    }
}

#[test]
fn a_unit_remembers_a_quotation() {
    for cell in [CellChoice::Lstm, CellChoice::Gru] {
        for seed in 1..=2 {
            let mut study = build(spec(cell, TaskChoice::Quotes, seed), "");
            let values = points(&mut study, WARM + 100);
            let (what, unit, r) = best(&units(&mut study));
            println!("{cell:?} seed {seed}: unit {} r {r:.3}", unit + 1);
            assert_eq!(what, Followed::Quotation);
            assert!(r > 0.8, "{cell:?} seed {seed}: {r}");
            assert!(values.last().unwrap()[1].unwrap() > 0.95);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let run = |cell| {
        let mut study = build(spec(cell, TaskChoice::Brackets, 7), "");
        let values = points(&mut study, 25);
        (values, seen(&mut study, &Sentence::Drawn(1), Quantity::Hidden, &[]))
    };
    assert_eq!(run(CellChoice::Lstm), run(CellChoice::Lstm));
    assert_eq!(run(CellChoice::Cho), run(CellChoice::Cho));
}

#[test]
fn a_step_that_is_dropped_is_taken_again_alike() {
    let mut interrupted = build(spec(CellChoice::Gru, TaskChoice::Quotes, 3), "");
    assert_eq!(ready(interrupted.advance()), StudySlice::More);
    interrupted.discard();
    assert_eq!(interrupted.step(), 0);
    let mut straight = build(spec(CellChoice::Gru, TaskChoice::Quotes, 3), "");
    assert_eq!(points(&mut interrupted, 3), points(&mut straight, 3));
}

/// The gates multiply out to the states, with and without force.
#[test]
fn the_arithmetic_on_show_adds_up() {
    for cell in CellChoice::ALL.iter().copied() {
        let mut study = build(spec(cell, TaskChoice::Brackets, 1), "");
        train(&mut study, 40);
        let sentence = Sentence::Given("a(b(c)d)".into());
        let gate = cell.quantities().iter().copied().find(|q| q.opens()).unwrap();
        let forced = [Forced { gate, unit: 3, open: false, from: 4 }];
        let states = seen(&mut study, &sentence, Quantity::Hidden, &forced).values;
        let cells = seen(&mut study, &sentence, Quantity::Cell, &forced);
        let memory = &cells.memory;
        assert!(cells.from_input.is_some());
        for at in 0..8 {
            for unit in 0..10 {
                let sums = sums(&mut study, &sentence, &forced, unit, at).unwrap();
                let place = [unit as usize, at as usize];
                if let (Some(a), Some(b)) = (&cells.from_input, &cells.from_state) {
                    let sum = a.get(&place).unwrap() + b.get(&place).unwrap();
                    near(sum, cells.values.get(&place).unwrap());
                }
                near(sums.after, memory.get(&place).unwrap());
                for gate in &sums.gates {
                    let terms: f32 = gate.terms.iter().map(|t| t.weight * t.value).sum();
                    let product = terms + gate.rest + gate.state_bias.unwrap_or(0.0);
                    near(product * gate.reset.unwrap_or(1.0), gate.from_state);
                    near(gate.weight + gate.bias + gate.from_state, gate.sum);
                    let value = if gate.gate.opens() { sigmoid(gate.sum) } else { gate.sum.tanh() };
                    let held = unit == 2 && at >= 3 && gate.gate == forced[0].gate;
                    assert_eq!(gate.held, held);
                    near(gate.value, if held { 0.0 } else { value });
                }
                let values: Vec<f32> = sums.gates.iter().map(|gate| gate.value).collect();
                match cell {
                    CellChoice::Lstm | CellChoice::Projected => {
                        let [i, f, g, o] = values[..] else { panic!("four gates") };
                        near(f * sums.before + i * g, sums.after);
                        near(o * sums.after.tanh(), sums.hidden.unwrap());
                    }
                    CellChoice::Gru | CellChoice::Cho => {
                        let [_, z, n] = values[..] else { panic!("three gates") };
                        near((1.0 - z) * n + z * sums.before, sums.after);
                    }
                }
                match &sums.projected {
                    Some((terms, rest, output)) => {
                        let sum: f32 = terms.iter().map(|t| t.weight * t.value).sum();
                        near(sum + rest, *output);
                        near(*output, states.get(&place).unwrap());
                    }
                    None if cell == CellChoice::Projected => assert!(unit >= 5),
                    None => near(sums.hidden.unwrap_or(sums.after), states.get(&place).unwrap()),
                }
            }
        }
    }
}

/// An LSTM's step written out by hand on the numbers on show, one gate held.
#[test]
fn a_forced_run_is_what_a_recomputation_by_hand_gives() {
    let mut study = build(spec(CellChoice::Lstm, TaskChoice::Brackets, 1), "");
    train(&mut study, WARM);
    let sentence = Sentence::Drawn(2);
    let unit = best(&units(&mut study)).1;
    let forced = [Forced { gate: Quantity::Forget, unit: unit as u32 + 1, open: false, from: 10 }];
    let part = |study: &mut AnyStudy, quantity| seen(study, &sentence, quantity, &forced).values;
    let [i, f, g, c] = [Quantity::Input, Quantity::Forget, Quantity::Candidate, Quantity::Cell]
        .map(|quantity| part(&mut study, quantity));
    let free = seen(&mut study, &sentence, Quantity::Cell, &[]).values;
    let mut before = 0.0;
    for at in 0..32 {
        let value = |array: &Array| array.get(&[unit, at]).unwrap();
        if at >= 9 {
            assert_eq!(value(&f), 0.0);
        } else {
            assert_eq!(value(&c), value(&free), "before it is held nothing changes");
        }
        near(value(&f) * before + value(&i) * value(&g), value(&c));
        before = value(&c);
    }
    let answer = seen(&mut study, &sentence, Quantity::Forget, &forced);
    assert_eq!(answer.held.len(), 32 - 9);
    let (loss, free_loss) = (answer.loss.unwrap(), answer.free_loss.unwrap());
    println!("loss {free_loss} without, {loss} with the counting unit's forget gate shut");
    assert!(loss > free_loss + 0.5);
    // Several are shut in one run, each by itself.
    let units = vec![(unit as u32 + 1) % 10, unit as u32];
    let shut = ask::Shut { sentence: sentence.clone(), gate: Quantity::Forget, units };
    let shut = ask(&mut study, shut).unwrap();
    let other = [Forced { unit: (unit as u32 + 1) % 10 + 1, from: 1, ..forced[0] }];
    let other = seen(&mut study, &sentence, Quantity::Forget, &other);
    assert_eq!(Some(shut.outcomes[0].loss), other.loss);
    let always = [Forced { from: 1, ..forced[0] }];
    let always = seen(&mut study, &sentence, Quantity::Forget, &always);
    assert_eq!(Some(shut.outcomes[1].loss), always.loss);
    assert_eq!(Some(shut.free.loss), always.free_loss);
    assert!(shut.outcomes[1].right < shut.free.right && shut.free.asked == 32);
    let asked_without_force = seen(&mut study, &sentence, Quantity::Forget, &[]);
    assert_eq!(answer.free_guesses.unwrap(), asked_without_force.guesses);
}

#[test]
fn gates_that_are_not_there_are_left_out_with_a_sentence() {
    let small = gates::Spec { units: 4, ..spec(CellChoice::Lstm, TaskChoice::Brackets, 1) };
    let mut study = build(small, "");
    let forced = [(Quantity::Forget, 7, 1), (Quantity::Update, 1, 1), (Quantity::Input, 2, 1)]
        .map(|(gate, unit, from)| Forced { gate, unit, open: true, from });
    let late = Forced { from: 60, ..forced[2] };
    let all = [forced[0], forced[1], late, forced[2]];
    let seen = seen(&mut study, &Sentence::Given("(a)".into()), Quantity::Input, &all);
    assert_eq!(
        seen.left_out,
        [
            "Not held: the forget gate of unit 7, for there are 4 units now.",
            "Not held: the update gate of unit 1, for LSTM has no update gate.",
            "Not held: the input gate of unit 2, for it is held from step 60, and there are 3.",
        ]
    );
    assert_eq!(seen.held, [(1, 0), (1, 1), (1, 2)]);
    assert!(sums(&mut study, &Sentence::Drawn(1), &all, 4, 0).is_err());
    assert!(sums(&mut study, &Sentence::Given("()".into()), &[], 0, 2).is_err());
}

#[test]
fn odd_sentences_and_texts_are_read_or_refused_with_a_sentence() {
    let mut brackets = build(spec(CellChoice::Gru, TaskChoice::Brackets, 1), "");
    let given = |text: &str| Sentence::Given(text.into());
    let empty = ask::Seen { sentence: given(""), quantity: Quantity::Hidden, forced: vec![] };
    assert!(ask(&mut brackets, empty).unwrap_err().contains("is empty"));
    let odd = seen(&mut brackets, &given("é[世]))((((("), Quantity::Hidden, &[]);
    assert_eq!(odd.tokens.len(), 11);
    assert_eq!(odd.right[10], None, "deeper than it was taught to answer");
    assert_eq!(odd.right[5], Some(0), "nothing to close");
    let long = seen(&mut brackets, &given(&"(".repeat(100)), Quantity::Hidden, &[]);
    assert_eq!((long.tokens.len(), long.dropped), (64, 36));
    assert_eq!(odd.quantity, Quantity::Hidden);
    assert_eq!(seen(&mut brackets, &given("a"), Quantity::Forget, &[]).quantity, Quantity::Update);

    let text = |text: &str| try_build(spec(CellChoice::Lstm, TaskChoice::Text, 1), text);
    for short in ["", "x"] {
        let Err(reason) = text(short) else { panic!("{short:?} is no text to learn") };
        assert!(reason.ends_with('.'), "{reason}");
    }
    let mut two = text("xy").unwrap();
    train(&mut two, 2);
    units(&mut two);
    let mut told = text(&"\"Well,\" said Fenn (the fox). ".repeat(40)).unwrap();
    let values = points(&mut told, 60);
    assert!(values.last().unwrap()[0] < values[0][0]);
    let units = units(&mut told);
    assert_eq!(units.follows.len(), 2);
    let odd = seen(&mut told, &given("(\u{30c6})"), Quantity::Cell, &[]);
    assert_eq!(odd.tokens[1], "\u{fffd}");
    let drawn = seen(&mut told, &Sentence::Drawn(40), Quantity::Cell, &[]);
    assert_eq!(drawn.tokens.len(), 64);
    assert!(drawn.loss.unwrap() > 0.0);
}

/// The claim on the page: units whose update (forget) gate is open wider remember longer.
#[test]
fn memory_lengths_are_those_of_the_gates() {
    for cell in [CellChoice::Lstm, CellChoice::Gru] {
        let mut study = build(spec(cell, TaskChoice::Brackets, 1), "");
        train(&mut study, WARM + 100);
        let units = units(&mut study);
        let keeps = if cell == CellChoice::Gru { Quantity::Update } else { Quantity::Forget };
        let (_, means) = units.means.iter().find(|(gate, _)| *gate == keeps).unwrap();
        assert!(means.iter().all(|mean| (0.0..=1.0).contains(mean)));
        let longest = units.longest as f32;
        assert!(units.memory.iter().all(|steps| (0.0..=longest).contains(steps)));
        let mut order: Vec<usize> = (0..means.len()).collect();
        order.sort_by(|&a, &b| means[a].total_cmp(&means[b]));
        let mean = |units_of: &[usize]| {
            units_of.iter().map(|&u| units.memory[u]).sum::<f32>() / units_of.len() as f32
        };
        let (shut, open) = (mean(&order[..3]), mean(&order[7..]));
        for (gate, means) in &units.means {
            println!("{cell:?} {gate:?} {means:.2?}");
        }
        println!("{cell:?} memory {:.1?}: {shut:.1} {open:.1}", units.memory);
        assert!(open > shut, "{cell:?}: {shut} {open}");
    }
}
