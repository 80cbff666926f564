//! The engine's session, driven natively: its answers, and what it leaves unchanged.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::Device;
use unroll_engine::session::{Marker, NoStudies, Session, Studies};
use unroll_model::{AnyStudy, Filling};
use unroll_protocol::{
    Architecture, Ask, AttentionRow, Checkpoint, Command, CommandKind, CurvePoint, Event,
    ExperimentSpec, GivenModel, GptSpec, Limits, Link, OptimizerSpec, Packed, Question, Recorded,
    RunState, SampleSpec, Sampling, Started, StudyStarted, TokenizerFile, Tokens, Trace, Weights,
    gpt::{Alike, Habits, HeadScores, Lens, Patched, Place, Written, ask},
    link::Chapter,
    study::{heads::HeadAt, tokens},
};

const TEXT: &str = "the cat sat on the mat and the dog sat on the log. ";

fn spec() -> ExperimentSpec {
    ExperimentSpec {
        gpt: GptSpec {
            layers: 2,
            heads: 2,
            width: 16,
            context: 16,
            dropout: 0.0,
            tied: false,
            architecture: Architecture::GPT2,
        },
        optimizer: OptimizerSpec { learning_rate: 1e-2, ..OptimizerSpec::default() },
        batch: 4,
        ..Link::default().experiment()
    }
}

/// A clock that advances by 10 ms whenever it is read, so that tests do not depend on the machine.
fn now() -> f64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    TICKS.fetch_add(10, Ordering::Relaxed) as f64
}

struct Driven<S: Studies = NoStudies> {
    session: Session<S>,
    events: Vec<Event>,
}

impl<S: Studies> Driven<S> {
    fn of() -> Self {
        Self { session: Session::new(Device::flex(), now), events: Vec::new() }
    }

    /// All events with which the engine answers a command at once.
    fn say(&mut self, command: Command) -> Vec<Event> {
        let mut said = Vec::new();
        pollster::block_on(self.session.handle(command, &mut |event| said.push(event)));
        self.events.extend(said.iter().cloned());
        said
    }

    fn slice(&mut self) {
        let events = &mut self.events;
        pollster::block_on(self.session.advance(&mut |event| events.push(event)));
    }

    /// Runs slices until `done` is true of all events so far, or there is no more work.
    fn until(&mut self, done: impl Fn(&[Event]) -> bool) {
        for _ in 0..100_000 {
            if done(&self.events) || !self.session.has_work() {
                return;
            }
            self.slice();
        }
        panic!("it never came");
    }

    /// Takes so many steps.
    fn steps(&mut self, count: u32) {
        self.say(Command::Steps(count));
        self.until(|_| false);
    }

    /// What was said last of the moments that are kept.
    fn recorded(&self) -> Recorded {
        let recorded = self.events.iter().rev().find_map(|event| match event {
            Event::Recorded(recorded) => Some(recorded.clone()),
            _ => None,
        });
        recorded.expect("it said what it keeps")
    }
}

impl Driven {
    fn new() -> Self {
        Self::of()
    }

    fn within(limits: Limits) -> Self {
        Self { session: Session::within(limits, Device::flex(), now), events: Vec::new() }
    }

    fn started(spec: ExperimentSpec, text: &str) -> Self {
        let mut driven = Self::new();
        driven.start(spec, text);
        driven
    }
}

impl<G: Marker> Driven<NoStudies<G>> {
    fn start(&mut self, spec: ExperimentSpec, text: &str) -> Started {
        let text = text.repeat(8);
        match self.say(Command::Start { spec, text, resume: None, workers: 1 }).remove(0) {
            Event::Started(started) => started,
            other => panic!("not started: {other:?}"),
        }
    }

    fn points(&self) -> Vec<CurvePoint> {
        let progress = self.events.iter().filter_map(|event| match event {
            Event::Progress(progress) => Some(progress.points.clone()),
            _ => None,
        });
        progress.flatten().collect()
    }

    fn train(&mut self, steps: u32) {
        let reached = |event: &Event| match event {
            Event::Progress(progress) => progress.points.iter().any(|p| p.step >= steps),
            _ => false,
        };
        self.say(Command::Run);
        self.until(|events| events.iter().any(reached));
        self.say(Command::Pause);
    }

    /// The answer to a question, with the step of the model that gave it.
    fn ask<Q: Ask>(&mut self, question: Q) -> (u32, Q::Answer) {
        match self.say(Command::ask(7, question)).remove(0) {
            Event::Answered { id: 7, step, answer, more: false } => {
                (step, answer.unpack().expect("the answer is of the question's type"))
            }
            other => panic!("no answer: {other:?}"),
        }
    }

    /// The answer of the kept moment nearest to step `at`.
    fn trace_at(&mut self, at: u32, text: &str) -> Trace {
        let question = Packed::of(&Question::from(ask::Trace { text: text.to_owned() }));
        match self.say(Command::Ask { id: 9, question, at: Some(at), off: Vec::new() }).remove(0) {
            Event::Answered { id: 9, step, answer, more: false } => {
                let trace: Trace = answer.unpack().expect("a trace");
                assert_eq!(trace.step, step);
                trace
            }
            other => panic!("no answer: {other:?}"),
        }
    }

    fn save(&mut self) -> Box<Checkpoint> {
        match self.say(Command::Save).remove(0) {
            Event::Checkpoint(checkpoint) => checkpoint,
            other => panic!("no checkpoint: {other:?}"),
        }
    }

    fn moment(&mut self, step: u32) -> Box<Checkpoint> {
        match self.say(Command::Moment(step)).remove(0) {
            Event::Moment(moment) => moment,
            other => panic!("no moment: {other:?}"),
        }
    }

    fn trace(&mut self, text: &str) -> Trace {
        let (step, trace) = self.ask(ask::Trace { text: text.to_owned() });
        assert_eq!(trace.step, step);
        trace
    }
}

fn refused(said: &[Event]) -> (CommandKind, String) {
    match said {
        [Event::Refused { command, reason }] => (*command, reason.clone()),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn without_a_model_everything_is_refused_with_a_sentence() {
    let sample = SampleSpec {
        prompt: String::new(),
        length: 1,
        sampling: Sampling::PLAIN,
        seed: 0,
        place: Place::Lab,
    };
    let mut driven = Driven::new();
    for command in [
        Command::Run,
        Command::Pause,
        Command::Steps(1),
        Command::SetLearningRate(0.1),
        Command::ask(0, ask::Trace { text: "a".into() }),
        Command::ask(1, ask::Writing { sample }),
        Command::Save,
        Command::RestoreLastGood,
        Command::Recall(Driven::started(spec(), TEXT).save()),
    ] {
        let kind = command.kind();
        let (command, reason) = refused(&driven.say(command));
        assert_eq!(command, kind);
        assert!(reason.ends_with('.'));
    }
    assert!(!driven.session.has_work());
}

#[test]
fn training_lowers_the_loss_and_measures_held_out_text() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(60);
    let points = driven.points();
    assert!(points.windows(2).all(|pair| pair[1].step == pair[0].step + 1));
    assert!(points[0].loss > 2.5 && points[points.len() - 1].loss < 2.0, "{points:?}");
    for point in &points {
        assert_eq!(point.held_out.is_some(), point.step % 20 == 0, "{point:?}");
    }
}

#[test]
fn pause_takes_effect_between_slices_and_changes_nothing_it_should_not() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(5);
    // In the middle of a step.
    driven.say(Command::Run);
    driven.slice();
    driven.slice();
    let before = driven.trace("the cat");
    let said = driven.say(Command::Pause);
    assert!(matches!(said.last(), Some(Event::State { state: RunState::Paused, .. })), "{said:?}");
    driven.until(|_| false);
    assert!(!driven.session.has_work());
    let after = driven.trace("the cat");
    assert_eq!((before.step, &before.weights), (after.step, &after.weights));

    // Pausing and resuming gives the same run as never pausing.
    driven.train(30);
    let mut straight = Driven::started(spec(), TEXT);
    straight.train(30);
    assert_eq!(driven.points()[..30], straight.points()[..30]);
}

#[test]
fn a_single_step_is_one_step() {
    let mut driven = Driven::started(spec(), TEXT);
    for step in 1..=3 {
        driven.say(Command::Steps(1));
        driven.until(|_| false);
        assert_eq!(driven.points().len(), step);
    }
    assert_eq!(driven.trace("cat").step, 3);
}

#[test]
fn until_names_the_step_to_stop_after() {
    let mut driven = Driven::started(spec(), TEXT);
    for (step, taken) in [(3, 3), (5, 5), (4, 5)] {
        driven.say(Command::Until(step));
        driven.until(|_| false);
        assert_eq!(driven.trace("cat").step, taken);
    }
    // Said again on the way, it is no more steps.
    driven.say(Command::Until(9));
    (0..3).for_each(|_| driven.slice());
    driven.say(Command::Until(9));
    driven.until(|_| false);
    assert_eq!(driven.trace("cat").step, 9);
}

#[test]
fn traces_are_answered_in_mid_step_and_rows_sum_to_one() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.say(Command::Run);
    driven.slice();
    let trace = driven.trace("the Ω cat");
    assert_eq!(trace.step, 0);
    assert_eq!(trace.tokens[4], "\u{FFFD}");
    assert_eq!(trace.weights.shape, [2, 2, 9, 9]);
    for layer in 0..2 {
        for head in 0..2 {
            for query in 0..9 {
                let row = trace.weights.block(&[layer, head, query]).unwrap();
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                assert!(row[query + 1..].iter().all(|weight| *weight == 0.0));
            }
        }
    }
    let empty = ask::Trace { text: String::new() };
    let (command, _) = refused(&driven.say(Command::ask(8, empty)));
    assert_eq!(command, CommandKind::Ask(8));
    let other = tokens::ask::Chain { sentence: "a".into() };
    let (command, reason) = refused(&driven.say(Command::ask(9, other)));
    assert_eq!(command, CommandKind::Ask(9));
    assert!(reason.ends_with("not this chapter's."), "{reason}");
    let damaged = Packed::of(&[200u8; 3]);
    let (command, reason) =
        refused(&driven.say(Command::Ask { id: 5, question: damaged, at: None, off: Vec::new() }));
    assert_eq!(command, CommandKind::Ask(5));
    assert!(reason.ends_with('.'), "{reason}");
}

#[test]
fn a_kept_moment_is_answered_as_it_was_while_training_goes_on() {
    let mut driven = Driven::started(spec(), TEXT);
    let mut undisturbed = Driven::started(spec(), TEXT);
    let text = "abc";
    let mut seen = vec![driven.trace(text)];
    for steps in [1, 2, 4] {
        driven.say(Command::Steps(steps));
        driven.until(|_| false);
        seen.push(driven.trace(text));
    }
    let kept = driven.recorded();
    assert_eq!(kept.steps, [0, 1, 2, 3, 4, 5, 6, 7]);
    let parameters = driven.events.iter().find_map(|event| match event {
        Event::Started(started) => Some(started.parameters),
        _ => None,
    });
    assert_eq!(Some(kept.bytes), parameters.map(|parameters| 8 * 4 * parameters));
    driven.say(Command::Run);
    for _ in 0..7 {
        driven.slice();
        for trace in &seen {
            assert_eq!(driven.trace_at(trace.step, text), *trace);
        }
    }
    driven.train(20);
    undisturbed.train(20);
    assert_eq!(driven.points()[..20], undisturbed.points()[..20]);
}

#[test]
fn moments_keep_within_the_budget_of_this_model_and_of_the_next() {
    let mut driven = Driven::new();
    let parameters = driven.start(spec(), TEXT).parameters;
    let most = (1_000_000 / (4 * parameters)) as usize;
    driven.steps(100);
    let all = driven.recorded();
    assert!(all.steps.len() > most, "{all:?}");
    // This one is on show.
    let question = Packed::of(&Question::from(ask::Trace { text: "the".to_owned() }));
    let at = Some(20);
    let look = || Command::Ask { id: 9, question: question.clone(), at, off: Vec::new() };
    let seen = driven.say(look());
    let said = driven.say(Command::Budget(1));
    let [Event::Recorded(left)] = said.as_slice() else {
        panic!("it did not say what is left: {said:?}");
    };
    assert_eq!((left.steps.len(), left.bytes), (most, 4 * parameters * most as u64));
    assert!(left.steps.iter().all(|step| all.steps.contains(step)), "{left:?}");
    assert!([0, 20, 100].iter().all(|step| left.steps.contains(step)), "{left:?}");
    assert_eq!(driven.say(look()), seen);
    assert_eq!(driven.say(Command::Budget(1)), []);
    driven.steps(30);
    assert_eq!(driven.recorded().steps.len(), most);

    driven.start(spec(), TEXT);
    driven.steps(100);
    assert_eq!(driven.recorded().steps.len(), most);
    let mut before_any = Driven::new();
    assert_eq!(before_any.say(Command::Budget(1)), []);
    before_any.start(spec(), TEXT);
    before_any.steps(100);
    assert_eq!(before_any.recorded(), driven.recorded());
    before_any.say(Command::Budget(2));
    before_any.steps(3);
    assert_eq!(before_any.recorded().steps.len(), most + 1, "where it rests");
}

#[test]
fn what_is_kept_changes_no_step() {
    let mut usual = Driven::started(spec(), TEXT);
    let mut none = Driven::new();
    none.say(Command::Budget(0));
    none.start(spec(), TEXT);
    for driven in [&mut usual, &mut none] {
        driven.steps(50);
    }
    assert_eq!(usual.points(), none.points());
    assert_eq!(usual.trace("the cat"), none.trace("the cat"));
    assert_eq!(none.recorded().steps, [0, 50]);
}

#[test]
fn a_chapters_models_keep_within_the_budget_too() {
    let link = Link { chapter: Chapter::Rnn, ..Link::default() };
    let mut driven = Driven::<AnyStudy>::of();
    let start = || {
        let spec = link.study().expect("a chapter with models of its own");
        Command::StartStudy { spec: Packed::of(&spec), text: TEXT.repeat(40), resume: None }
    };
    let Event::StudyStarted(started) = driven.say(start()).remove(0) else {
        panic!("not started: {:?}", driven.events);
    };
    let started: StudyStarted = started.unpack().expect("what was started");
    let most = (1_000_000 / (4 * started.parameters)) as usize;
    driven.steps(100);
    assert!(driven.recorded().steps.len() > most, "{most}");
    driven.say(Command::Budget(1));
    let left = driven.recorded();
    assert_eq!((left.steps.len(), left.steps[0], left.steps[most - 1]), (most, 0, 100));
    driven.say(start());
    driven.steps(100);
    assert_eq!(driven.recorded().steps.len(), most);
}

#[test]
fn a_chapters_models_are_saved_and_gone_on_with() {
    let link = Link { chapter: Chapter::Rnn, ..Link::default() };
    let start = |resume| {
        let spec = link.study().expect("a chapter with models of its own");
        Command::StartStudy { spec: Packed::of(&spec), text: TEXT.repeat(40), resume }
    };
    let save = |driven: &mut Driven<AnyStudy>| {
        let Event::StudyCheckpoint(saved) = driven.say(Command::Save).remove(0) else {
            panic!("not saved: {:?}", driven.events);
        };
        saved
    };
    let mut whole = Driven::<AnyStudy>::of();
    whole.say(start(None));
    whole.steps(5);
    let saved = save(&mut whole);
    whole.steps(4);

    let mut again = Driven::<AnyStudy>::of();
    let Event::StudyStarted(started) = again.say(start(Some(saved.clone()))).remove(0) else {
        panic!("not started: {:?}", again.events);
    };
    let started: StudyStarted = started.unpack().expect("what was started");
    assert_eq!(started.step, 5);
    again.steps(4);
    assert_eq!(save(&mut again), save(&mut whole));
    // Its moments from before can be looked at.
    assert_eq!(again.recorded().steps, (0..=9).collect::<Vec<_>>());

    // What is no checkpoint is refused, and the models go on.
    let (command, reason) = refused(&again.say(start(Some(Packed::of(&7u8)))));
    assert_eq!(command, CommandKind::StartStudy);
    assert!(reason.ends_with('.'), "{reason}");
    again.steps(1);
    whole.steps(1);
    assert_eq!(save(&mut again), save(&mut whole));
}

#[test]
fn a_model_is_asked_without_some_heads_and_trains_with_all() {
    let asked = |driven: &mut Driven, question: Packed, off: &[(u32, u32)]| {
        let off = off.iter().map(|&(layer, head)| HeadAt { layer, head }).collect();
        match driven.say(Command::Ask { id: 3, question, at: None, off }).remove(0) {
            Event::Answered { answer, .. } => answer,
            other => panic!("no answer: {other:?}"),
        }
    };
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(10);
    let trace = |driven: &mut Driven, text: &str, off: &[(u32, u32)]| -> Trace {
        let question = ask::Trace { text: text.into() }.packed();
        asked(driven, question, off).unpack().expect("a trace")
    };
    let [whole, without, other] =
        [&[][..], &[(1, 1)], &[(1, 2), (7, 1)]].map(|off| trace(&mut driven, "the cat", off));
    // What the first layer looks at has nothing to do with what its heads write.
    assert_eq!(whole.weights.block(&[0]), without.weights.block(&[0]));
    assert_ne!(whole.weights.block(&[1]), without.weights.block(&[1]));
    assert_ne!(whole.probabilities, without.probabilities);
    assert_ne!(other.probabilities, without.probabilities);
    // Without any head, a token's bet depends on itself and its position alone.
    let all = [(1, 1), (1, 2), (2, 1), (2, 2)];
    let mut bets = |off: &[(u32, u32)]| {
        ["the cat", "sat cat"]
            .map(|text| trace(&mut driven, text, off).probabilities.block(&[6]).unwrap().to_vec())
    };
    let ([one, two], [without_one, without_two]) = (bets(&[]), bets(&all));
    assert_ne!(one, two);
    assert_eq!(without_one, without_two);
    let row = ask::Row { text: "the cat".into(), layer: 1, head: 0, query: 4 }.packed();
    let row: AttentionRow = asked(&mut driven, row, &[(1, 1)]).unpack().expect("a row");
    assert_eq!(row.weights, without.weights.block(&[1, 0, 4]).unwrap());
    let sample = |length| SampleSpec {
        prompt: "the".into(),
        length,
        sampling: Sampling::GREEDY,
        seed: 3,
        place: Place::Lab,
    };
    let mut written = |id: u32, off: &[(u32, u32)]| {
        let off = off.iter().map(|&(layer, head)| HeadAt { layer, head }).collect();
        let question = ask::Writing { sample: sample(30) }.packed();
        driven.say(Command::Ask { id, question, at: None, off });
        driven.until(|events| match events.last() {
            Some(Event::Answered { id: answered, more, .. }) => *answered == id && !more,
            _ => false,
        });
        match driven.events.last() {
            Some(Event::Answered { answer, .. }) => answer.unpack::<Written>().unwrap().surprises,
            other => panic!("nothing written: {other:?}"),
        }
    };
    assert_ne!(written(4, &[]), written(5, &all));
    // Nothing of it stays: training goes on as if nobody had asked.
    driven.train(20);
    let mut alone = Driven::started(spec(), TEXT);
    alone.train(20);
    assert_eq!(driven.points(), alone.points());
}

#[test]
fn rows_are_worked_out_in_mid_step_and_agree_with_the_trace() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(10);
    driven.say(Command::Run);
    driven.slice();
    let trace = driven.trace("the cat");
    assert_eq!(trace.mask.len(), 49);
    let row = |layer, query| ask::Row { text: "the cat".into(), layer, head: 1, query };
    let (step, ref worked_row) = driven.ask(row(1, 4));
    assert_eq!(
        (step, worked_row.query, worked_row.tokens.concat().as_str()),
        (trace.step, 4, "the cat")
    );
    assert_eq!(worked_row.weights, trace.weights.block(&[1, 1, 4]).unwrap());
    assert_eq!(worked_row.allowed, trace.mask[4 * 7..5 * 7]);
    let exact = unroll_protocol::attention::Worked::exact(worked_row);
    for (own, worked) in worked_row.weights.iter().zip(&exact.keys) {
        assert!((f64::from(*own) - worked.weight).abs() < 1e-6);
    }
    for question in [row(9, 0), row(0, 7)] {
        let (command, reason) = refused(&driven.say(Command::ask(4, question)));
        assert_eq!(command, CommandKind::Ask(4));
        assert!(reason.starts_with("There is no ") && reason.ends_with('.'), "{reason}");
    }
}

#[test]
fn writing_goes_on_beside_training_with_the_weights_it_began_with() {
    let sample = SampleSpec {
        prompt: "the".into(),
        length: 40,
        sampling: Sampling::GREEDY,
        seed: 3,
        place: Place::Lab,
    };
    let write = || Command::ask(1, ask::Writing { sample: sample.clone() });
    let written = |driven: &Driven| {
        driven.events.iter().rev().find_map(|event| match event {
            Event::Answered { answer, more: false, step, .. } => {
                let Written { text, tokens, done, surprises } =
                    answer.unpack().expect("what was written");
                assert!(done);
                assert_eq!(
                    (surprises.len(), tokens.concat()),
                    (text.chars().count(), text.clone())
                );
                assert!(surprises.iter().all(|nats| *nats >= 0.0));
                Some((text, *step))
            }
            _ => None,
        })
    };
    let mut beside = Driven::started(spec(), TEXT);
    beside.train(20);
    beside.say(Command::Run);
    beside.say(write());
    beside.until(|events| events.iter().any(|e| matches!(e, Event::Answered { more: false, .. })));
    let mut alone = Driven::started(spec(), TEXT);
    alone.train(20);
    alone.say(write());
    alone.until(|_| false);
    let (text, step) = written(&alone).unwrap();
    assert_eq!(text.chars().count(), 40);
    assert_eq!(written(&beside), Some((text, step)));
}

#[test]
fn writing_waits_for_another_place_and_replaces_its_own() {
    let write = |id, place| {
        let prompt = "the".to_owned();
        let sample = SampleSpec { prompt, length: 20, sampling: Sampling::GREEDY, seed: 3, place };
        Command::ask(id, ask::Writing { sample })
    };
    let mut driven = Driven::started(spec(), TEXT);
    driven.say(write(1, Place::Lab));
    driven.say(write(2, Place::Beside(0)));
    driven.say(write(3, Place::Lab));
    driven.until(|_| false);
    let done = driven.events.iter().filter_map(|event| match event {
        Event::Answered { id, more: false, .. } => Some(*id),
        _ => None,
    });
    assert_eq!(done.collect::<Vec<_>>(), [2, 3]);
}

/// 13 million parameters are too many for a tab, and none for an engine outside the browser.
#[test]
fn how_large_a_model_may_be_is_up_to_the_engine() {
    let gpt = GptSpec { layers: 1, heads: 8, width: 1024, context: 16, ..spec().gpt };
    let large = ExperimentSpec { gpt, batch: 1, ..spec() };
    let start = Command::Start { spec: large, text: TEXT.repeat(8), resume: None, workers: 1 };
    let (kind, reason) = refused(&Driven::new().say(start));
    assert_eq!(kind, CommandKind::Start);
    assert!(reason.contains("native engine"), "{reason}");
    let mut native = Driven::within(Limits::NATIVE);
    let started = native.start(large, TEXT);
    assert!(started.parameters > Limits::TAB.parameters, "{}", started.parameters);
    native.steps(2);
    assert_eq!(native.recorded().steps, [2], "there is no room for two moments");
    // Nor is one that was saved there opened in a tab.
    let said = native.say(Command::Save);
    let Some(Event::Checkpoint(saved)) = said.into_iter().next() else { panic!("not saved") };
    let resume =
        Command::Start { spec: large, text: TEXT.repeat(8), resume: Some(saved), workers: 1 };
    assert!(refused(&Driven::new().say(resume.clone())).1.contains("native engine"));
    let again = Driven::within(Limits::NATIVE).say(resume).remove(0);
    assert!(matches!(&again, Event::Started(started) if started.step == 2), "{again:?}");
}

#[test]
fn a_refused_start_leaves_the_present_model_training() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.say(Command::Run);
    let mut heads = spec();
    heads.gpt.heads = 3;
    let mut huge = spec();
    huge.gpt.width = 60_000;
    for (spec, text) in [
        (heads, TEXT.to_owned()),
        (huge, TEXT.to_owned()),
        (spec(), String::new()),
        (spec(), "short".to_owned()),
        (spec(), "x".repeat(6_000_000)),
    ] {
        let (command, reason) =
            refused(&driven.say(Command::Start { spec, text, resume: None, workers: 1 }));
        assert_eq!(command, CommandKind::Start);
        assert!(reason.ends_with('.'), "{reason}");
    }
    driven.until(|events| matches!(events.last(), Some(Event::Progress(_))));
    assert!(!driven.points().is_empty());
}

#[test]
fn a_runaway_learning_rate_stops_training_and_the_way_back_works() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(30);
    let good = driven.trace("the cat");
    driven.say(Command::SetLearningRate(1000.0));
    driven.say(Command::Run);
    driven.until(|_| false);
    let Some(Event::Diverged { step, last_good, .. }) = driven.events.last().cloned() else {
        panic!("it did not diverge: {:?}", driven.events.last());
    };
    assert!(step > last_good && last_good >= good.step, "{step} {last_good}");
    let said = driven.say(Command::RestoreLastGood);
    let Event::Restored(Started { spec, step, .. }) = &said[0] else { panic!("{said:?}") };
    assert_eq!((*step, spec.optimizer.learning_rate), (last_good, 1e-2));
    assert_eq!(driven.trace("the cat").weights, good.weights);
    driven.events.clear();
    driven.train(last_good + 5);
    assert!(driven.points().iter().all(|point| point.loss < 4.0));
}

#[test]
fn weights_ruined_before_the_rate_was_lowered_are_not_the_last_good_ones() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(30);
    let good = driven.trace("the cat");
    // Several rates before the next step, as with a slider.
    driven.say(Command::SetLearningRate(10.0));
    driven.say(Command::SetLearningRate(1000.0));
    driven.say(Command::Steps(1));
    driven.until(|_| false);
    driven.say(Command::SetLearningRate(1e-2));
    driven.say(Command::Run);
    driven.until(|_| false);
    let Some(Event::Diverged { last_good, .. }) = driven.events.last().cloned() else {
        panic!("it did not diverge: {:?}", driven.events.last());
    };
    assert_eq!(last_good, good.step);
    let said = driven.say(Command::RestoreLastGood);
    let Event::Restored(Started { spec, .. }) = &said[0] else { panic!("{said:?}") };
    assert_eq!(spec.optimizer.learning_rate, 1e-2);
    assert_eq!(driven.trace("the cat").weights, good.weights);
}

#[test]
fn a_saved_model_goes_on_elsewhere_bit_for_bit_and_a_corrupted_one_is_refused() {
    let mut first = Driven::started(spec(), TEXT);
    first.train(10);
    let checkpoint = first.save();
    let step = checkpoint.step;
    let mut second = Driven::new();
    let mut corrupted = checkpoint.clone();
    corrupted.parameters[0].value.values.pop();
    let start = |resume| Command::Start { spec: spec(), text: TEXT.repeat(8), resume, workers: 1 };
    refused(&second.say(start(Some(corrupted))));
    second.say(start(Some(checkpoint)));
    assert_eq!(first.trace("cat").weights, second.trace("cat").weights);
    first.events.clear();
    first.train(step + 10);
    second.train(step + 10);
    let common = first.points().len().min(second.points().len());
    assert_eq!(first.points()[..common], second.points()[..common]);
}

#[test]
fn earlier_moments_are_recalled_from_files_bit_for_bit() {
    let mut first = Driven::started(spec(), TEXT);
    let (mut saved, mut seen) = (Vec::new(), Vec::new());
    for steps in [1, 3, 5] {
        first.steps(steps);
        saved.push(first.save());
        seen.push(first.trace("abc"));
    }
    let last = saved.pop().expect("there are three");
    let resumed = |last: &Checkpoint| {
        let mut driven = Driven::new();
        let resume = Some(Box::new(last.clone()));
        driven.say(Command::Start { spec: spec(), text: TEXT.repeat(8), resume, workers: 1 });
        driven
    };
    let (mut second, mut undisturbed) = (resumed(&last), resumed(&last));
    // While it trains, and without what the optimizer kept. The learning rate was another then.
    second.say(Command::Run);
    second.slice();
    for mut earlier in saved.iter().rev().cloned() {
        earlier.spec.optimizer.learning_rate *= 2.0;
        for saved in &mut earlier.parameters {
            (saved.first_moment, saved.second_moment) = (Vec::new(), Vec::new());
        }
        second.say(Command::Recall(earlier));
    }
    assert_eq!(second.recorded().steps[..3], [1, 4, 9]);
    for trace in &seen {
        assert_eq!(second.trace_at(trace.step, "abc"), *trace);
    }
    // What is not a moment of this run changes nothing.
    let mut wrong = vec![last.clone(), saved[0].clone(), saved[0].clone(), saved[0].clone()];
    wrong[0].step = u32::MAX;
    wrong[1].spec.seed += 1;
    wrong[2].parameters[0].value.values[0] = f32::NAN;
    wrong[3].vocabulary.pop();
    let kept = second.recorded();
    for (wrong, why) in
        wrong.into_iter().zip(["only at step", "another run", "number", "another run"])
    {
        let (command, reason) = refused(&second.say(Command::Recall(wrong)));
        assert!(command == CommandKind::Recall && reason.contains(why), "{reason}");
    }
    assert_eq!(second.recorded().steps[..3], kept.steps[..3]);
    second.train(20);
    undisturbed.train(20);
    assert_eq!(second.points()[..10], undisturbed.points()[..10]);
}

#[test]
fn recorded_moments_are_handed_out_and_taken_back_bit_for_bit() {
    let mut first = Driven::started(spec(), TEXT);
    first.steps(6);
    let seen: Vec<_> = [0, 2, 5].map(|step| first.trace_at(step, "abc")).into();
    let mut moments: Vec<_> = seen.iter().map(|trace| first.moment(trace.step)).collect();
    let last = first.save();
    assert!(
        moments
            .iter()
            .all(|moment| { moment.parameters.iter().all(|saved| saved.first_moment.is_empty()) })
    );
    // Only what is recorded.
    first.train(200);
    let step = (1..200).find(|step| !first.recorded().steps.contains(step)).expect("some are not");
    let (command, reason) = refused(&first.say(Command::Moment(step)));
    assert_eq!((command, reason), (CommandKind::Moment, format!("Step {step} is not recorded.")));
    let mut second = Driven::new();
    let resume = Some(last);
    second.say(Command::Start { spec: spec(), text: TEXT.repeat(8), resume, workers: 1 });
    for moment in moments.drain(..) {
        second.say(Command::Recall(moment));
    }
    assert_eq!(second.recorded().steps, [0, 2, 5, 6]);
    for trace in &seen {
        assert_eq!(second.trace_at(trace.step, "abc"), *trace);
    }
}

#[test]
fn one_repeated_character_trains_with_a_note() {
    let mut driven = Driven::new();
    let said = driven.say(Command::Start {
        spec: spec(),
        text: "a".repeat(200),
        resume: None,
        workers: 1,
    });
    let Event::Started(started) = &said[0] else { panic!("{said:?}") };
    assert_eq!(started.notes.len(), 1, "{:?}", started.notes);
    driven.train(20);
    assert!(driven.points().iter().all(|point| point.loss.is_finite()));
}

#[test]
fn a_measurement_is_of_a_throw_away_model_and_waits_for_training() {
    let mut driven = Driven::started(spec(), TEXT);
    driven.train(5);
    let before = driven.trace("the cat");
    let measure = |spec| Command::Measure { id: 7, spec, text: TEXT.repeat(8) };
    let mut unbuildable = spec();
    unbuildable.gpt.heads = 3;
    assert_eq!(refused(&driven.say(measure(unbuildable))).0, CommandKind::Measure);
    assert!(driven.say(measure(spec())).is_empty());
    driven.events.clear();
    driven.until(|events| matches!(events.last(), Some(Event::Measured { .. })));
    let Some(Event::Measured { id: 7, milliseconds_per_step }) = driven.events.last() else {
        panic!("not measured: {:?}", driven.events);
    };
    // The tests' clock advances by 10 ms whenever any test reads it.
    assert!(milliseconds_per_step.is_finite() && *milliseconds_per_step >= 10.0);
    let after = driven.trace("the cat");
    assert_eq!((before.step, before.weights), (after.step, after.weights));
    assert!(!driven.session.has_work());
}

/// A model of another's making, with the tokenizer of tests/golden/make_gpt2.py, and its weights in pieces.
fn given() -> (GivenModel, Vec<Weights>) {
    let gpt = GptSpec { width: 8, context: 24, tied: true, ..spec().gpt };
    let file = |name: &str, text: &str| TokenizerFile { name: name.into(), text: text.into() };
    let tokenizer = vec![
        file("vocab.json", include_str!("../../tests/golden/gpt2/vocab.json")),
        file("merges.txt", include_str!("../../tests/golden/gpt2/merges.txt")),
    ];
    let model = GivenModel { gpt, tokens: 300, tokenizer };
    let sizes = Filling::new(&model, &Device::flex()).expect("a model").sizes();
    let weights = (0..).zip(sizes).map(|(parameter, (_, size))| {
        let values = (0..size).map(|at| ((at * 37 + 11) % 101) as f32 / 101.0 - 0.5);
        let row = size as u32;
        Weights { parameter, begin: 0, row, stride: row, values: values.collect() }
    });
    let weights = weights.collect();
    (model, weights)
}

#[test]
fn a_given_model_replaces_the_present_one_when_it_is_complete_and_is_only_asked() {
    let mut driven = Driven::<NoStudies<()>>::of();
    driven.start(spec(), TEXT);
    let (model, weights) = given();
    driven.say(Command::Run);
    driven.slice();
    assert_eq!(driven.say(Command::Open(Packed::of(&model))), [Event::Filled { values: 0 }]);
    let mut filled = 0;
    let (last, others) = weights.split_last().expect("weights");
    for weights in others {
        filled += weights.values.len() as u64;
        let said = driven.say(Command::Weights(Packed::of(weights)));
        assert_eq!(said, [Event::Filled { values: filled }]);
        driven.slice();
    }
    // The model that was there trains on and answers until then.
    driven.until(|events| events.iter().any(|event| matches!(event, Event::Progress(_))));
    assert_eq!(driven.trace("the cat").weights.shape, [2, 2, 7, 7]);
    let said = driven.say(Command::Weights(Packed::of(last)));
    let Some(Event::Started(started)) = said.first() else { panic!("not started: {said:?}") };
    assert_eq!((started.spec.tokens, started.parameters), (Tokens::Given, filled + 8));
    assert_eq!(started.vocabulary.len(), 300);
    assert!(said.contains(&Event::State { state: RunState::Paused, step: 0 }));

    let trace = driven.trace("Grüße");
    assert_eq!(trace.tokens, ["G", "r", "⟨C3⟩", "⟨BC⟩", "⟨C3⟩", "⟨9F⟩", "e"]);
    let written = ask::Writing {
        sample: SampleSpec {
            prompt: "a".into(),
            length: 40,
            sampling: Sampling::PLAIN,
            seed: 3,
            place: Place::Lab,
        },
    };
    driven.say(Command::ask(5, written));
    driven
        .until(|events| matches!(events.last(), Some(Event::Answered { id: 5, more: false, .. })));
    // Its inside can be looked into, too.
    let answered = |driven: &mut Driven<NoStudies<()>>, command| {
        let said = driven.say(command);
        let Some(Event::Answered { answer, .. }) = said.into_iter().next() else {
            panic!("not answered: {:?}", driven.events);
        };
        answer
    };
    let lens = ask::Lens { text: "ab".into(), from: 1, count: 8 };
    let lens: Lens = answered(&mut driven, Command::ask(6, lens)).unpack().unwrap();
    assert_eq!((lens.tokens.len(), lens.from, lens.shares.shape), (2, 1, vec![3, 1]));
    let habits = Command::ask(6, ask::Habits { text: "ab".into() });
    let habits: Habits = answered(&mut driven, habits).unpack().unwrap();
    assert_eq!((habits.tokens, habits.statistics.len()), (2, 4));
    let alike = Command::ask(6, ask::Positions {});
    let alike: Alike = answered(&mut driven, alike).unpack().unwrap();
    assert_eq!(alike.cosines.shape, [alike.positions.len() as u32; 2]);
    let jobs: HeadScores =
        answered(&mut driven, Command::ask(7, ask::Jobs { seed: 1 })).unpack().unwrap();
    assert_eq!((jobs.repeated, jobs.scores.shape.as_slice()), (11, [5, 2, 2].as_slice()));
    let patch = ask::Patch { from: "Q".into(), into: "X".into(), depth: 0 };
    let patched: Patched = answered(&mut driven, Command::ask(8, patch)).unpack().unwrap();
    assert_eq!(patched.patched, [patched.shares[0]]);
    for command in [
        Command::Run,
        Command::Steps(3),
        Command::Until(3),
        Command::Save,
        Command::SetLearningRate(0.1),
        Command::RestoreLastGood,
        Command::ask(6, ask::NextBatch {}),
    ] {
        let (_, reason) = refused(&driven.say(command));
        assert!(reason.starts_with("This model comes from elsewhere"), "{reason}");
    }
    assert_eq!(driven.trace("Grüße"), trace);
    // A model that is trained can take its place. Its inside is not looked into.
    driven.start(spec(), TEXT);
    driven.steps(2);
    let (_, reason) = refused(&driven.say(Command::ask(9, ask::Jobs { seed: 1 })));
    assert!(reason.starts_with("Only models that are opened"), "{reason}");
    assert_eq!(driven.trace("the cat").step, 2);
}

#[test]
fn a_given_model_that_can_not_be_leaves_the_present_one() {
    let mut driven = Driven::<NoStudies<()>>::of();
    driven.start(spec(), TEXT);
    driven.steps(2);
    let before = driven.trace("the cat");
    let (model, weights) = given();
    let no_model = "No model is being opened.";
    assert_eq!(refused(&driven.say(Command::Weights(Packed::of(&weights[0])))).1, no_model);
    for spoil in [f32::NAN, f32::INFINITY] {
        driven.say(Command::Open(Packed::of(&model)));
        let mut spoiled = weights[0].clone();
        spoiled.values[3] = spoil;
        let (command, reason) = refused(&driven.say(Command::Weights(Packed::of(&spoiled))));
        assert_eq!(command, CommandKind::Weights);
        assert!(reason.contains("token_embedding.weight"), "{reason}");
        // What came before it is gone, too.
        assert_eq!(refused(&driven.say(Command::Weights(Packed::of(&weights[1])))).1, no_model);
    }
    // An engine that trains takes over none.
    let mut trains = Driven::started(spec(), TEXT);
    assert_eq!(refused(&trains.say(Command::Open(Packed::of(&model)))).0, CommandKind::Open);
    let mut foreign = model.clone();
    foreign.tokens = 299;
    let (_, reason) = refused(&driven.say(Command::Open(Packed::of(&foreign))));
    assert!(reason.contains("belongs to another model"), "{reason}");
    let mut large = model;
    large.gpt.context = 1 << 20;
    assert_eq!(refused(&driven.say(Command::Open(Packed::of(&large)))).0, CommandKind::Open);
    // Nobody trains with tokens that were given.
    let (_, reason) = refused(&driven.say(Command::Start {
        spec: ExperimentSpec { tokens: Tokens::Given, ..spec() },
        text: TEXT.repeat(8),
        resume: None,
        workers: 1,
    }));
    assert!(reason.contains("kind of tokens"), "{reason}");
    assert_eq!(driven.trace("the cat"), before);
    driven.steps(1);
    assert_eq!(driven.trace("the cat").step, 3);
}
