//! The engine outside the browser, end to end: who may talk to it, and what becomes of a run.

mod client;

use std::{
    thread,
    time::{Duration, Instant},
};

use burn::tensor::Device;
use client::{ask, connect, connect_as, engine, find, kept, note};
use unroll_engine::session::{NoStudies, Session};
use unroll_protocol::{
    Checkpoint, Command, CommandKind, DeviceKind, Event, ExperimentSpec, GptSpec, Link, RunState,
    native::{FOUND, NOTE, Note},
    wire,
};

const TEXT: &str = "the cat sat on the mat and the dog sat on the log. ";

fn spec() -> ExperimentSpec {
    let spec = Link::default().experiment();
    let gpt = GptSpec { layers: 1, heads: 2, width: 16, context: 16, ..spec.gpt };
    ExperimentSpec { gpt, batch: 4, ..spec }
}

fn text() -> String {
    TEXT.repeat(20)
}

/// The losses in some events.
fn losses(events: &[Event]) -> Vec<(u32, u32)> {
    let points = events.iter().filter_map(|event| match event {
        Event::Progress(progress) => Some(&progress.points),
        _ => None,
    });
    points.flatten().map(|point| (point.step, point.loss.to_bits())).collect()
}

fn rests(event: &Event) -> bool {
    matches!(event, Event::State { state: RunState::Paused, .. })
}

fn is_at(event: &Event, step: u32) -> bool {
    matches!(event, Event::Progress(p) if p.points.last().is_some_and(|point| point.step >= step))
}

#[test]
fn strangers_are_refused_before_anything_is_read() {
    let running = engine("strangers", 1);
    let host = running.address.to_string();
    let own = format!("http://{host}");
    let port = running.address.port();
    let wrong = "0".repeat(running.secret.len());
    let half = &running.secret[..running.secret.len() / 2];
    let elsewhere = format!("https://{host}");
    let rebound = format!("evil.example:{port}");
    let cases = [
        (&*host, &*own, &*wrong, "secret"),
        (&host, &own, half, "secret"),
        (&host, "https://evil.example", &running.secret, "own page"),
        (&host, "null", &running.secret, "own page"),
        (&host, &elsewhere, &running.secret, "own page"),
        // A foreign name that was made to lead here; its page calls itself by that name.
        (&rebound, "http://evil.example", &running.secret, "address"),
        (&rebound, &own, &running.secret, "address"),
    ];
    for (host, origin, secret, reason) in cases {
        let refused = connect_as(running.address, host, origin, secret).err();
        let (status, sentence) = refused.expect("it was let in");
        assert_eq!(status, 403, "{host} {origin}");
        assert!(sentence.contains(reason), "{host} {origin}: {sentence}");
    }
    // The same holds for what is read and written without a line.
    let secret = &running.secret;
    let heads = [
        format!("Host: {host}\r\nOrigin: {own}\r\nAuthorization: {wrong}\r\n"),
        format!("Host: {host}\r\nOrigin: {own}\r\n"),
        format!("Host: {host}\r\nSec-Fetch-Site: same-origin\r\nAuthorization: {secret}\r\n"),
        format!("Host: {host}\r\nAuthorization: {secret}\r\n"),
        format!("Host: {host}\r\nOrigin: http://evil.example\r\nAuthorization: {secret}\r\n"),
        format!("Host: {rebound}\r\nOrigin: http://{rebound}\r\nAuthorization: {secret}\r\n"),
    ];
    for head in heads {
        for path in [FOUND, NOTE] {
            assert_eq!(ask(running.address, path, &head).0, 403, "{path}: {head}");
        }
    }
    assert_eq!(ask(running.address, "", &format!("Host: {rebound}\r\n")).0, 403);
    assert_eq!(ask(running.address, "", "").0, 403, "no host at all");
    let page = ask(running.address, "", &format!("Host: localhost:{port}\r\n"));
    assert_eq!(page, (200, b"the page".to_vec()));
    // Whoever knows both is heard.
    connect(&running).until(|event| matches!(event, Event::Ready(_)));
}

#[test]
fn training_goes_on_without_a_page_and_is_found_again() {
    let running = engine("found", 1);
    let mut page = connect(&running);
    let ready = page.hear().unwrap();
    let is_native =
        |event: &Event| matches!(event, Event::Ready(report) if report.kind == DeviceKind::Native);
    assert!(is_native(&ready), "{ready:?}");
    assert_eq!(find(&running), None, "nothing was built");
    page.begin(spec(), &text(), 1);
    assert_eq!(find(&running), None, "nothing was trained");
    page.say(&Command::Run);
    let heard = page.until(|event| is_at(event, 5));
    drop(page);

    // It trains on, for nobody.
    let step = || find(&running).map_or(0, |found| found.started.step);
    let left_at = losses(&heard).last().unwrap().0;
    let deadline = Instant::now() + Duration::from_secs(60);
    while step() < left_at + 50 {
        assert!(Instant::now() < deadline, "it stopped at {}", step());
        thread::yield_now();
    }
    let found = find(&running).unwrap();
    assert_eq!((found.started.spec, found.workers), (spec(), 1));
    assert_eq!(found.text, text());
    let known = found.points.last().unwrap().step;
    let all: Vec<u32> = found.points.iter().map(|point| point.step).collect();
    assert_eq!(all, (1..=known).collect::<Vec<_>>(), "no step is missing");

    // Another page takes it up while it trains.
    let mut page = connect(&running);
    assert!(is_native(&page.hear().unwrap()));
    let resume = Some(Box::new(Checkpoint::of_present(found.started.spec, known)));
    page.say(&Command::Start { spec: spec(), text: found.text, resume, workers: 0 });
    let mut events = page.until(|event| is_at(event, known + 20));
    assert!(matches!(&events[0], Event::Started(started) if started.step >= known));
    let state = events.iter().find(|event| matches!(event, Event::State { .. }));
    assert!(matches!(state, Some(Event::State { state: RunState::Running, .. })), "{state:?}");
    page.say(&Command::Pause);
    events.extend(page.until(rests));
    let steps: Vec<u32> = losses(&events).iter().map(|(step, _)| *step).collect();
    let news = known + 1..=*steps.last().unwrap();
    assert_eq!(steps, news.collect::<Vec<_>>(), "no step is missing or there twice");
}

#[test]
fn what_only_the_page_knows_of_a_run_is_there_for_the_next_page() {
    let running = engine("note", 1);
    let mut page = connect(&running);
    page.begin(spec(), &text(), 1);
    page.say(&Command::Steps(3));
    let heard = page.until(|event| is_at(event, 3));
    page.say(&Command::Save);
    let saved = page.until(|event| matches!(event, Event::Checkpoint(_)));
    let Some(Event::Checkpoint(checkpoint)) = saved.last() else { unreachable!() };
    // The run goes on in another engine, which has not seen its beginning.
    let running = engine("note", 1);
    let mut page = connect(&running);
    let resume = Some(checkpoint.clone());
    page.say(&Command::Start { spec: spec(), text: text(), resume, workers: 1 });
    page.until(|event| matches!(event, Event::Started(started) if started.step == 3));
    page.say(&Command::Steps(2));
    page.until(|event| is_at(event, 5));
    let points = heard.iter().filter_map(|event| match event {
        Event::Progress(progress) => Some(progress.points.clone()),
        _ => None,
    });
    let before: Vec<_> = points.flatten().collect();
    let first = Note { text: "Cats".into(), probe: "the cat".into(), file: None, before };
    note(&running, &first);
    let file = Some("run-1".to_owned());
    note(&running, &Note { before: Vec::new(), file: file.clone(), ..first });
    let found = find(&running).unwrap();
    let steps: Vec<u32> = found.points.iter().map(|point| point.step).collect();
    assert_eq!(steps, [1, 2, 3, 4, 5]);
    let note = found.note.unwrap();
    assert_eq!((&*note.text, &*note.probe, note.file), ("Cats", "the cat", file));
}

#[test]
fn in_place_of_a_run_that_is_gone_another_begins() {
    let running = engine("gone", 1);
    let mut page = connect(&running);
    let resume = Some(Box::new(Checkpoint::of_present(spec(), 7)));
    page.say(&Command::Start { spec: spec(), text: text(), resume, workers: 0 });
    // What the page asks for begins anew: it is not left without a model.
    let heard = page.until(|event| matches!(event, Event::Started(_)));
    let Some(Event::Started(started)) = heard.last() else { unreachable!() };
    assert_eq!(started.step, 0);
    page.begin(spec(), &text(), 1);
}

#[test]
fn the_page_that_comes_last_has_the_engine() {
    let running = engine("pages", 1);
    let mut first = connect(&running);
    first.until(|event| matches!(event, Event::Ready(_)));
    first.begin(spec(), &text(), 1);
    first.say(&Command::Run);
    first.until(|event| is_at(event, 1));
    let mut second = connect(&running);
    second.until(|event| matches!(event, Event::Ready(_)));
    let farewell = loop {
        match first.hear() {
            Ok(_) => {}
            Err(sentence) => break sentence,
        }
    };
    assert!(farewell.contains("another page"), "{farewell}");
    // Whoever is at it now can stop it.
    second.say(&Command::Pause);
    second.until(rests);
}

#[test]
fn a_page_that_takes_nothing_holds_nobody_up() {
    let running = engine("silent", 1);
    let mut silent = connect(&running);
    silent.begin(spec(), &text(), 1);
    silent.say(&Command::Run);
    // It asks for its model again and again, and reads no answer: at last its line is ended.
    let began = Instant::now();
    while silent.is_taken(&Command::Save) {
        assert!(began.elapsed() < Duration::from_secs(15), "the engine waits for it");
        thread::sleep(Duration::from_millis(1));
    }
    let step = || find(&running).map_or(0, |found| found.started.step);
    let ended_at = step();
    let mut page = connect(&running);
    page.until(|event| matches!(event, Event::Ready(_)));
    while step() < ended_at + 20 {
        assert!(began.elapsed() < Duration::from_secs(60), "training stopped at {ended_at}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_no_tab_could_train_is_kept_by_the_engine() {
    let running = engine("large", 1);
    let mut page = connect(&running);
    // A longer context than there is in a tab.
    let large = |seed| {
        let gpt = GptSpec { context: 1024, ..spec().gpt };
        ExperimentSpec { seed, gpt, batch: 1, ..spec() }
    };
    let long = TEXT.repeat(400);
    page.begin(large(1), &long, 1);
    page.say(&Command::Steps(2));
    page.until(|event| is_at(event, 2));
    let found = find(&running).unwrap();
    let first = kept("large").join("gpt-1-layers-width-16-run-1.safetensors");
    assert_eq!(found.started.kept, Some(first.display().to_string()));
    // The page is not sent it.
    page.say(&Command::Save);
    let refused =
        |event: &Event| matches!(event, Event::Refused { command: CommandKind::Save, .. });
    page.until(refused);
    assert!(!first.exists());
    // Another model takes its place, and is there when the process ends.
    page.begin(large(2), &long, 1);
    assert!(first.exists());
    page.say(&Command::Steps(1));
    page.until(|event| is_at(event, 1));
    running.keep();
    assert!(kept("large").join("gpt-1-layers-width-16-run-2.safetensors").exists());
    // What a tab can train is the page's to keep.
    page.begin(spec(), &text(), 1);
    page.say(&Command::Steps(1));
    page.until(|event| is_at(event, 1));
    page.say(&Command::Save);
    page.until(|event| matches!(event, Event::Checkpoint(_)));
    running.keep();
    assert_eq!(std::fs::read_dir(kept("large")).unwrap().count(), 2);
    std::fs::remove_dir_all(kept("large")).unwrap();
}

#[test]
fn what_is_no_command_is_refused_with_a_sentence() {
    let running = engine("unreadable", 1);
    let mut page = connect(&running);
    let mut other = wire::encode(&Command::Run);
    other[0] = wire::VERSION - 1;
    page.say_bytes(other);
    let heard = page.until(|event| matches!(event, Event::Refused { .. }));
    let Some(Event::Refused { reason, .. }) = heard.last() else { unreachable!() };
    assert!(reason.contains("Reload the page"), "{reason}");
}

/// The losses of so many steps, by a session whose steps have so many shards and no helpers.
fn alone(shards: u32, steps: u32) -> Vec<(u32, u32)> {
    let mut session = Session::<NoStudies>::new(Device::flex(), || 0.0);
    let mut events = Vec::new();
    let start = Command::Start { spec: spec(), text: text(), resume: None, workers: shards };
    for command in [start, Command::Steps(steps)] {
        pollster::block_on(session.handle(command, &mut |event| events.push(event)));
    }
    while session.has_work() {
        pollster::block_on(session.advance(&mut |event| events.push(event)));
    }
    losses(&events)
}

#[test]
fn threads_change_no_bit() {
    for workers in [1, 3] {
        let running = engine("threads", 3);
        let mut page = connect(&running);
        page.begin(spec(), &text(), workers);
        page.say(&Command::Steps(45));
        let mut heard = page.until(|event| is_at(event, 45));
        // All of them took part.
        page.say(&Command::Steps(1));
        heard.extend(page.until(rests));
        let working = heard.iter().rev().find_map(|event| match event {
            Event::Pool(report) => Some(report.working),
            _ => None,
        });
        assert_eq!(working.unwrap_or(0), workers - 1);
        assert_eq!(losses(&heard)[..45], alone(workers, 45)[..]);
    }
}
