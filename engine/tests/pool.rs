//! A pool of workers, driven natively in whatever order a test wants.

use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
};

use burn::tensor::Device;
use unroll_engine::{
    pool::{Helper, Numbers, Parcel},
    session::Session,
};
use unroll_model::Shard;
use unroll_protocol::{
    Checkpoint, Command, CurvePoint, Event, ExperimentSpec, PoolReport,
    gpt::{Settings, ask},
};

const TEXT: &str = "the cat sat on the mat and the dog sat on the log. ";

fn spec() -> ExperimentSpec {
    let small = Settings { layers: 2, heads: 2, width: 16, context: 16, ..Settings::default() };
    Settings { batch: 5, dropout: 0.1, ..small }.spec(3)
}

/// A clock that advances by 10 ms whenever it is read.
fn now() -> f64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    TICKS.fetch_add(10, Ordering::Relaxed) as f64
}

type Post = Rc<RefCell<VecDeque<Parcel>>>;

/// A first worker with its helpers, all on this thread.
struct Pool {
    session: Session,
    helpers: Vec<Option<(Helper, Post)>>,
    events: Vec<Event>,
}

impl Pool {
    /// A run with `workers` workers a step, of which `helpers` are connected.
    fn started(spec: ExperimentSpec, workers: u32, helpers: usize) -> Self {
        let session = Session::new(Device::flex(), now);
        let mut pool = Self { session, helpers: Vec::new(), events: Vec::new() };
        pool.say(Command::Start { spec, text: TEXT.repeat(8), resume: None, workers });
        (0..helpers).for_each(|_| pool.add_helper());
        pool
    }

    fn add_helper(&mut self) {
        let post = Post::default();
        let queue = Rc::clone(&post);
        let send = Box::new(move |parcel| queue.borrow_mut().push_back(parcel));
        self.helpers.push(Some((Helper::new(Device::flex()), post)));
        self.session.add_helper(self.helpers.len() as u32, send);
    }

    fn say(&mut self, command: Command) {
        let events = &mut self.events;
        pollster::block_on(self.session.handle(command, &mut |event| events.push(event)));
    }

    /// One slice for every worker, the last first if `backwards`; time passes in silence if there
    /// is nothing to do.
    fn round(&mut self, backwards: bool) {
        if !backwards {
            self.lead();
        }
        for (index, helper) in self.helpers.iter_mut().enumerate() {
            let Some((helper, post)) = helper else { continue };
            while let Some(parcel) = post.borrow_mut().pop_front() {
                helper.receive(parcel).unwrap();
            }
            if let Some(parcel) = pollster::block_on(helper.advance()) {
                self.session.hear_helper(index as u32 + 1, parcel);
            }
        }
        if backwards {
            self.lead();
        }
    }

    fn lead(&mut self) {
        if self.session.is_waiting() {
            return self.session.tick();
        }
        let events = &mut self.events;
        pollster::block_on(self.session.advance(&mut |event| events.push(event)));
    }

    fn until(&mut self, done: impl Fn(&Self) -> bool) {
        for _ in 0..100_000 {
            if done(self) {
                return;
            }
            self.round(false);
        }
        panic!("it never came: {:?}", self.events.last());
    }

    fn steps(&mut self, count: u32) {
        let steps = self.points().len() + count as usize;
        self.say(Command::Steps(count));
        self.until(|pool| pool.points().len() >= steps && !pool.session.has_work());
    }

    fn points(&self) -> Vec<CurvePoint> {
        let points = self.events.iter().filter_map(|event| match event {
            Event::Progress(progress) => Some(progress.points.clone()),
            _ => None,
        });
        points.flatten().collect()
    }

    fn reports(&self) -> Vec<PoolReport> {
        let reports = self.events.iter().filter_map(|event| match event {
            Event::Pool(report) => Some(*report),
            _ => None,
        });
        reports.collect()
    }

    fn saved(&mut self) -> Checkpoint {
        self.say(Command::Save);
        match self.events.last() {
            Some(Event::Checkpoint(checkpoint)) => (**checkpoint).clone(),
            other => panic!("{other:?}"),
        }
    }
}

/// The result of a run of `steps` steps with all workers present.
fn expected(workers: u32, steps: u32) -> (Vec<CurvePoint>, Checkpoint) {
    let mut pool = Pool::started(spec(), workers, workers as usize - 1);
    pool.steps(steps);
    (pool.points(), pool.saved())
}

#[test]
fn helpers_do_their_shares_and_the_curve_is_that_of_one_worker() {
    let (alone, _) = expected(1, 20);
    for workers in [2, 3] {
        let mut pool = Pool::started(spec(), workers, workers as usize - 1);
        pool.steps(20);
        assert_eq!(pool.reports().last().unwrap(), &PoolReport { working: workers - 1, lost: 0 });
        for (one, several) in alone.iter().zip(pool.points()) {
            assert!((one.loss - several.loss).abs() < 1e-5, "{one:?} {several:?}");
        }
        assert_eq!(alone.len(), 20);
    }
}

#[test]
fn whoever_is_late_slow_or_missing_the_run_is_the_same_to_the_bit() {
    let expected = expected(3, 12);
    // Nobody connects.
    let mut pool = Pool::started(spec(), 3, 0);
    pool.steps(12);
    assert_eq!((pool.points(), pool.saved()), expected);
    assert!(pool.reports().is_empty());
    // One connects late, in mid-run, and the other never does.
    let mut pool = Pool::started(spec(), 3, 0);
    pool.steps(5);
    pool.add_helper();
    pool.steps(7);
    assert_eq!(pool.reports().last().unwrap().working, 1);
    assert_eq!((pool.points(), pool.saved()), expected);
    // Helpers are faster than the first worker.
    let mut pool = Pool::started(spec(), 3, 2);
    pool.say(Command::Steps(12));
    while pool.session.has_work() {
        pool.round(true);
        pool.round(true);
    }
    assert_eq!((pool.points(), pool.saved()), expected);
}

#[test]
fn a_helper_that_dies_is_made_up_for() {
    let expected = expected(3, 12);
    // The page noticed that it died.
    let mut pool = Pool::started(spec(), 3, 2);
    pool.steps(4);
    pool.helpers[0] = None;
    pool.say(Command::HelperLost(1));
    assert_eq!(pool.reports().last().unwrap(), &PoolReport { working: 1, lost: 1 });
    pool.steps(8);
    assert_eq!((pool.points(), pool.saved()), expected);
    // It fell silent: it is given up after a while, in mid-step.
    let mut pool = Pool::started(spec(), 3, 2);
    pool.steps(4);
    pool.helpers[1] = None;
    pool.say(Command::Steps(8));
    pool.until(|pool| pool.reports().last().unwrap().lost == 1);
    pool.until(|pool| !pool.session.has_work());
    assert_eq!((pool.points(), pool.saved()), expected);
}

#[test]
fn pausing_and_asking_in_mid_step_change_nothing() {
    let expected = expected(2, 12);
    let mut pool = Pool::started(spec(), 2, 1);
    pool.say(Command::Run);
    let mut rounds = 0;
    while pool.points().len() < 12 {
        pool.say(Command::ask(rounds, ask::Trace { text: "the dog".into() }));
        assert!(matches!(pool.events.last(), Some(Event::Answered { .. })));
        (0..rounds % 7).for_each(|_| pool.round(false));
        pool.say(Command::Pause);
        assert!(!pool.session.has_work());
        pool.say(Command::Steps(1));
        while pool.session.has_work() {
            pool.round(rounds % 2 == 0);
        }
        rounds += 1;
    }
    let points = pool.points();
    assert_eq!(points[..12], expected.0);
}

#[test]
fn replicas_follow_a_start_over_a_restored_state_and_a_new_rate() {
    let mut alone = Pool::started(spec(), 2, 0);
    let mut pool = Pool::started(spec(), 2, 1);
    let other = ExperimentSpec { seed: 9, batch: 4, ..spec() };
    for pool in [&mut alone, &mut pool] {
        pool.steps(3);
        let saved = pool.saved();
        pool.say(Command::Start { spec: other, text: TEXT.repeat(9), resume: None, workers: 2 });
        pool.steps(3);
        pool.say(Command::SetLearningRate(2e-3));
        pool.steps(3);
        let resume = Some(Box::new(saved));
        pool.say(Command::Start { spec: spec(), text: TEXT.repeat(8), resume, workers: 2 });
        pool.steps(3);
        // Diverged, and back to the last good state.
        pool.say(Command::SetLearningRate(1000.0));
        pool.say(Command::Run);
        pool.until(|pool| !pool.session.has_work());
        assert!(pool.events.iter().any(|event| matches!(event, Event::Diverged { .. })));
        pool.say(Command::RestoreLastGood);
        pool.steps(3);
    }
    assert_eq!(pool.points(), alone.points());
    assert_eq!(pool.saved(), alone.saved());
    assert_eq!(pool.reports().last().unwrap(), &PoolReport { working: 1, lost: 0 });
}

#[test]
fn stale_and_hostile_messages_are_dropped() {
    let expected = expected(2, 6);
    let mut pool = Pool::started(spec(), 2, 1);
    pool.steps(3);
    let parameters = spec().gpt.parameter_count(vocabulary()) as usize;
    let forged = |length| Shard { loss: 9.0, gradient: vec![1.0; length] };
    let mut strays = vec![Parcel::Numbers(vec![1, 2, 3]), Parcel::State(vec![5, 5, 5])];
    for epoch in [0, 1, 2] {
        for step in [0, 2, 4, u32::MAX] {
            strays.push(Numbers::shard(epoch, step, &forged(parameters)));
            strays.push(Numbers::sum(epoch, step, 0.1, &forged(parameters).gradient));
        }
        // A gradient for the present step, but of another size.
        strays.push(Numbers::shard(epoch, 3, &forged(parameters + 1)));
        strays.push(Numbers::sum(epoch, 3, 0.1, &[1.0]));
        strays.push(Numbers::sum(epoch, 3, f32::NAN, &forged(parameters).gradient));
    }
    pool.say(Command::Run);
    for stray in strays {
        for number in [0, 1, 2, u32::MAX] {
            pool.session.hear_helper(number, stray.clone());
        }
        pool.helpers[0].as_mut().unwrap().0.receive(stray).unwrap();
    }
    pool.say(Command::HelperLost(0));
    pool.say(Command::HelperLost(u32::MAX));
    pool.say(Command::Pause);
    pool.steps(3);
    assert_eq!((pool.points(), pool.saved()), expected);
}

fn vocabulary() -> usize {
    let mut characters: Vec<char> = TEXT.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    characters.len() + 1
}
