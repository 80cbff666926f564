//! What it costs to record a run's moments, natively on one thread, for the lab's default model.
//!
//! `cargo run --release -p unroll-engine --features cpu --example bench_moments -- [STEPS [ROUNDS]]`
//! trains the same model anew, in turn with moments recorded as usual and with none recorded while it
//! trains (a budget of 0), in an order that changes each round, so that other load on the machine
//! affects both alike. It prints what a step takes either way, and the medians over the rounds of what
//! recording adds: to the whole run, and to its first steps, each of which is recorded. Answers to
//! [`Command::Ask`](unroll_protocol::Command::Ask) are no part of it.
//!
//! Set `MALLOC_TRIM_THRESHOLD_=4000000000 MALLOC_MMAP_THRESHOLD_=1000000000` for it: otherwise glibc
//! gives memory back to the system and asks for it again at each step, unless kept moments lie behind
//! it, so that the run without them is the slower one, by 10%. WebAssembly never gives memory back.

use std::{env, process::exit, sync::OnceLock, time::Instant};

use burn::tensor::Device;
use unroll_engine::session::Session;
use unroll_protocol::{Command, Event, Link, Recorded};

const TEXT: &str = include_str!("../../assets/corpora/tales.txt");
/// So many steps are recorded one by one.
const FIRST: u32 = 32;
/// Megabytes for moments, and what that is called.
const KINDS: [(u32, &str); 2] = [(Recorded::BUDGET, "recorded"), (0, "not-recorded")];

/// Milliseconds on a monotonic clock.
fn now() -> f64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64() * 1000.0
}

/// An engine, and how many moments it has said that it keeps.
struct Engine {
    session: Session,
    moments: usize,
}

impl Engine {
    fn new(megabytes: u32) -> Self {
        let mut engine = Self { session: Session::new(Device::flex(), now), moments: 0 };
        engine.say(Command::Budget(megabytes));
        engine
    }

    fn say(&mut self, command: Command) {
        let moments = &mut self.moments;
        pollster::block_on(self.session.handle(command, &mut |event| heard(moments, &event)));
    }

    /// Trains the model until it has taken so many steps; returns the milliseconds that takes.
    fn train_until(&mut self, step: u32) -> f64 {
        let began = now();
        self.say(Command::Until(step));
        while self.session.has_work() {
            let moments = &mut self.moments;
            pollster::block_on(self.session.advance(&mut |event| heard(moments, &event)));
        }
        now() - began
    }

    /// Milliseconds of a new model's first steps, and of the whole run.
    fn run(&mut self, steps: u32) -> [f64; 2] {
        let (spec, text) = (Link::default().experiment(), TEXT.to_owned());
        self.say(Command::Start { spec, text, resume: None, workers: 1 });
        let first = self.train_until(FIRST);
        [first, first + self.train_until(steps)]
    }
}

fn heard(moments: &mut usize, event: &Event) {
    match event {
        Event::Recorded(recorded) => *moments = recorded.steps.len(),
        Event::Refused { reason, .. } => fail(reason),
        Event::Diverged { .. } => fail("Training diverged."),
        _ => {}
    }
}

fn fail(sentence: &str) -> ! {
    eprintln!("{sentence}");
    exit(2)
}

/// A line for `cargo xtask bench`.
fn print(name: &str, unit: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let [least, median, most] = [0, values.len() / 2, values.len() - 1].map(|at| values[at]);
    println!(
        "{{\"name\": \"moments/{name}\", \"unit\": \"{unit}\", \"median\": {median:.4}, \
         \"min\": {least:.4}, \"max\": {most:.4}}}"
    );
}

fn main() {
    let mut given = env::args().skip(1).map(|number| {
        number.parse::<u32>().unwrap_or_else(|_| fail("STEPS and ROUNDS are whole numbers."))
    });
    let steps = given.next().unwrap_or(400).max(FIRST + 1);
    let rounds = given.next().unwrap_or(15).max(1);
    let mut engines = KINDS.map(|(megabytes, _)| Engine::new(megabytes));
    // Not timed: the first run of each finds caches cold.
    for engine in &mut engines {
        engine.run(FIRST + 1);
    }
    let mut took: [[Vec<f64>; 2]; 2] = Default::default();
    for round in 0..rounds {
        let order = if round.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        for kind in order {
            let run = engines[kind].run(steps);
            for (part, milliseconds) in run.into_iter().enumerate() {
                took[part][kind].push(milliseconds);
            }
        }
    }
    let [recorded, none] = engines.map(|engine| engine.moments);
    eprintln!("{steps} steps, {rounds} rounds: {recorded} moments in one, {none} in the other");
    for ((times, part), count) in took.iter().zip(["first-steps", "run"]).zip([FIRST, steps]) {
        for ((_, name), times) in KINDS.iter().zip(times) {
            let each = times.iter().map(|time| time / f64::from(count)).collect();
            print(&format!("{part}-{name}"), "ms/step", each);
        }
        let [with, without] = times;
        let added = with.iter().zip(without).map(|(with, without)| 100.0 * (with / without - 1.0));
        print(&format!("{part}-slow-down"), "%", added.collect());
    }
}
