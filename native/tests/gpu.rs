//! The engine on a GPU beside the engine on the CPU. A driver that computes on the CPU, such as Mesa's
//! lavapipe, is good enough: its numbers are right, and slow. `cargo xtask test vulkan` runs them. There, nothing
//! to test is a failure; elsewhere a sentence says so.
#![cfg(feature = "gpu")]

#[allow(dead_code, reason = "other tests need more of it")]
mod client;

use client::{Client, connect, engine, engine_on};
use unroll_engine::device::{About, Adapter, Interface};
use unroll_native::{Running, Wanted};
use unroll_protocol::{
    Ask, AttentionRow, Checkpoint, Command, DeviceReport, Event, ExperimentSpec, RunState,
    SelfCheck, Trace,
    architecture::{Architecture, NormKind, NormPlacement, Positions},
    gpt::{Settings, ask},
};

const TEXT: &str = include_str!("../../assets/corpora/tales.txt");
const SENTENCE: &str = "the old man and his ";
/// How far losses may be from the CPU's, relative to them, and other numbers, as in tests/webgpu.test.mjs.
const LOSSES: f32 = 2e-4;
const INSIDE: f32 = 2e-5;

const DEVICE: (Wanted, Interface) = match cfg!(target_vendor = "apple") {
    true => (Wanted::Metal, Interface::Metal),
    false => (Wanted::Vulkan, Interface::Vulkan),
};

/// What drivers offer here; a sentence if that is nothing, or a failure where there must be something.
fn adapters(test: &str) -> Vec<About> {
    let all = pollster::block_on(Adapter::all(DEVICE.1));
    if all.is_empty() {
        assert!(std::env::var_os("UNROLL_VULKAN").is_none(), "{test}: no driver here offers a GPU");
        println!("{test}: skipped, no driver here offers a GPU");
    }
    all.iter().map(|adapter| adapter.about().clone()).collect()
}

/// A line to an engine, and on what it computes.
fn ready(running: &Running) -> (Client, DeviceReport) {
    let mut page = connect(running);
    match page.hear().unwrap() {
        Event::Ready(report) => (page, report),
        other => panic!("{other:?}"),
    }
}

/// An engine on the GPU, which has checked itself.
fn gpu(name: &str) -> Client {
    let running = engine_on(name, 3, DEVICE.0, None).unwrap();
    let (page, report) = ready(&running);
    let check = report.self_check.expect("what was found is used, or the engine said why not");
    let SelfCheck { logits, loss, gradients } = check;
    println!("{}: logits {logits:.1e}, loss {loss:.1e}, gradients {gradients:.1e}", report.name);
    assert!(check.passes() && report.name.starts_with("GPU, "), "{report:?}");
    page
}

fn losses(events: &[Event]) -> Vec<f32> {
    let points = events.iter().filter_map(|event| match event {
        Event::Progress(progress) => Some(&progress.points),
        _ => None,
    });
    points.flatten().map(|point| point.loss).collect()
}

fn rests(event: &Event) -> bool {
    matches!(event, Event::State { state: RunState::Paused, .. })
}

/// Starts a model, also from where another engine has got.
fn start(page: &mut Client, spec: ExperimentSpec, resume: Option<Box<Checkpoint>>) {
    let (step, text) = (resume.as_ref().map_or(0, |resume| resume.step), TEXT.to_owned());
    page.say(&Command::Start { spec, text, resume, workers: 0 });
    page.until(|event| matches!(event, Event::Started(started) if started.step == step));
    page.until(rests);
}

/// Takes so many steps, more than one. Returns their losses.
fn steps(page: &mut Client, count: u32) -> Vec<f32> {
    page.say(&Command::Steps(count));
    let all = losses(&page.until(rests));
    assert_eq!(all.len(), count as usize);
    all
}

fn answer<Q: Ask>(page: &mut Client, question: Q) -> Q::Answer {
    page.say(&Command::ask(1, question));
    match page.until(|event| matches!(event, Event::Answered { .. })).pop() {
        Some(Event::Answered { answer, .. }) => answer.unpack().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn save(page: &mut Client) -> Box<Checkpoint> {
    page.say(&Command::Save);
    match page.until(|event| matches!(event, Event::Checkpoint(_))).pop() {
        Some(Event::Checkpoint(checkpoint)) => checkpoint,
        other => panic!("{other:?}"),
    }
}

/// What attention computes on a sentence: all weights, and a row with its scores and its output.
fn inside(page: &mut Client) -> Vec<f32> {
    let text = SENTENCE.to_owned();
    let Trace { weights, probabilities, .. } = answer(page, ask::Trace { text: text.clone() });
    let row: AttentionRow = answer(page, ask::Row { text, layer: 0, head: 1, query: 3 });
    let scores = row.scores.iter().filter(|score| score.is_finite());
    [&weights.values, &probabilities.values, &row.mixed]
        .into_iter()
        .flatten()
        .chain(scores)
        .copied()
        .collect()
}

/// The largest difference of two lists, relative to the numbers of the second if so wanted.
fn apart(found: &[f32], expected: &[f32], relative: bool) -> f32 {
    assert_eq!(found.len(), expected.len());
    let each = found.iter().zip(expected).map(|(found, expected)| {
        let difference = (found - expected).abs();
        if relative { difference / expected.abs() } else { difference }
    });
    // NaN is the largest.
    each.max_by(f32::total_cmp).unwrap()
}

/// The same model from the same seed, on both.
fn compare(name: &str, spec: ExperimentSpec) {
    if adapters(name).is_empty() {
        return;
    }
    let [mut on_gpu, mut on_cpu] = [gpu(name), connect(&engine(name, 1))];
    let [(gpu, gpu_inside), (cpu, cpu_inside)] = [&mut on_gpu, &mut on_cpu].map(|page| {
        start(page, spec, None);
        (steps(page, 3), inside(page))
    });
    let (loss, number) = (apart(&gpu, &cpu, true), apart(&gpu_inside, &cpu_inside, false));
    println!(
        "{name}: losses {gpu:?}, on the CPU {cpu:?}, {loss:.1e} apart; {} numbers inside {number:.1e} \
         apart",
        cpu_inside.len()
    );
    assert!(loss <= LOSSES && number <= INSIDE, "losses {loss}, inside {number}");

    // What the GPU has learned goes on elsewhere.
    let checkpoint = save(&mut on_gpu);
    assert_eq!(checkpoint.step, 3);
    start(&mut on_cpu, spec, Some(checkpoint));
    // So many that the GPU's are read together, and that held-out text is measured in between.
    let [gpu, cpu] = [&mut on_gpu, &mut on_cpu].map(|page| steps(page, 21));
    let loss = apart(&gpu, &cpu, true);
    println!("{name}: the next 21 losses at most {loss:.1e} apart, the last {:?}", gpu.last());
    assert!(loss <= LOSSES, "{loss}");
}

#[test]
fn a_tiny_model_learns_as_on_the_cpu() {
    let settings =
        Settings { layers: 1, heads: 2, width: 8, context: 8, batch: 2, ..<_>::default() };
    compare("tiny", settings.spec(3));
}

#[test]
fn rows_wider_than_a_workgroup_odd_lengths_alibi_and_norms_after_too() {
    let architecture = Architecture {
        positions: Positions::Alibi,
        norm: NormPlacement::Post,
        ..Architecture::GPT2
    };
    let settings = Settings {
        layers: 1,
        heads: 2,
        width: 80,
        context: 71,
        batch: 2,
        dropout: 0.1,
        tied: true,
        architecture,
        ..Settings::default()
    };
    compare("wide", settings.spec(4));
}

#[test]
fn rms_norms_too() {
    let architecture = Architecture { norm_kind: NormKind::Rms, ..Architecture::GPT2 };
    let sizes = Settings { layers: 2, heads: 2, width: 80, context: 24, ..Settings::default() };
    compare("rms", Settings { architecture, batch: 2, ..sizes }.spec(5));
}

#[test]
fn a_program_that_computes_like_a_gpu_is_only_taken_by_name() {
    let found = adapters("software");
    let Some(first) = found.first() else { return };
    let (_, report) = ready(&engine_on("auto", 1, Wanted::Auto, None).unwrap());
    if found.iter().all(About::is_software) {
        assert!(report.self_check.is_none() && report.name.starts_with("CPU, "), "{report:?}");
    } else {
        assert!(report.self_check.is_some_and(|check| check.passes()), "{report:?}");
    }
    let (_, report) = ready(&engine_on("named", 1, Wanted::Auto, Some("1")).unwrap());
    assert!(report.name.contains(&first.to_string()), "{report:?}");
    let refused = engine_on("missing", 1, Wanted::Auto, Some("no such GPU")).err();
    assert!(refused.is_some_and(|sentence| sentence.contains("no such GPU")));
}
