//! Heads found by what they look at: each is tested on random tokens that come twice.

use leptos::prelude::*;
use unroll_protocol::gpt::{HEAD_JOBS, HeadScores};

use super::switch;
use crate::{
    controls::Segments,
    course::{use_part, use_provenance},
    figures::{Matrix, MatrixFigure, ValueMap, percent},
    questions::Answered,
    reactive::memo,
    store::Store,
};

/// The place of the induction heads' job among [`HEAD_JOBS`], and of the job of attention sinks.
pub const INDUCTION: usize = 4;
const FIRST: usize = 1;

/// The jobs as the learner chooses them, in the order of [`HEAD_JOBS`], and where such a head looks.
const JOBS: [(&str, &str); HEAD_JOBS.len()] = [
    ("Previous token", "the previous token"),
    ("First token", "the first token"),
    ("Itself", "the token itself"),
    ("Duplicate token", "the same token, earlier in the text"),
    ("Induction", "what came after the same token earlier"),
];
/// How many of the heads that do a job most are named.
const NAMED: usize = 4;
/// A head that puts more than this on the first token is a sink.
const SINK: f32 = 0.5;

/// Layers and heads.
fn shape(scores: &HeadScores) -> (usize, usize) {
    match *scores.scores.shape.as_slice() {
        [_, layers, heads] => (layers as usize, heads as usize),
        _ => (0, 0),
    }
}

/// The scores of one job, layer by layer.
fn of_job(scores: &HeadScores, job: usize) -> &[f32] {
    scores.scores.block(&[job]).unwrap_or_default()
}

/// How many heads put most of their weight on the first token, and how many there are.
pub fn sinks(scores: &HeadScores) -> (usize, usize) {
    let all = of_job(scores, FIRST);
    (all.iter().filter(|share| **share > SINK).count(), all.len())
}

/// The heads that do a job most, the first of all first: layer and head, counted from 1, and the score.
fn ranked(scores: &HeadScores, job: usize) -> Vec<(usize, usize, f32)> {
    let (_, heads) = shape(scores);
    let all = of_job(scores, job).iter().enumerate();
    let mut all: Vec<_> =
        all.map(|(at, share)| (at / heads.max(1) + 1, at % heads.max(1) + 1, *share)).collect();
    all.sort_by(|a, b| b.2.total_cmp(&a.2));
    all
}

/// The head that does a job most.
pub fn best(scores: &HeadScores, job: usize) -> Option<(usize, usize, f32)> {
    ranked(scores, job).first().copied()
}

fn matrix(scores: &HeadScores, job: usize) -> Matrix {
    let (layers, heads) = shape(scores);
    Matrix {
        row_axis: "layer".into(),
        column_axis: "head".into(),
        rows: (1..=layers).map(|layer| layer.to_string()).collect(),
        columns: (1..=heads).map(|head| head.to_string()).collect(),
        values: of_job(scores, job).to_vec(),
        map: ValueMap::Probability,
        value_name: format!("mean weight on {}", JOBS[job].1),
        absent: String::new(),
    }
}

/// Every head by how much it does one job; the ones that do it most, to go and see.
#[component]
pub fn Jobs(scores: Answered<HeadScores>) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(scores.sight);
    let (answer, problem) = (scores.answer, scores.problem);
    let job = RwSignal::new(INDUCTION);
    let shown =
        memo(move || answer.with(|scores| scores.as_ref().map(|scores| matrix(scores, job.get()))));
    let title =
        Signal::derive(move || format!("How much each head looks at {}", JOBS[job.get()].1));
    let describe = Callback::new(move |(layer, head, share): (usize, usize, f32)| {
        format!(
            "Layer {}, head {}: {} of its weight is on {}, on average. Press to see this head on your sentence.",
            layer + 1,
            head + 1,
            percent(share, 1),
            JOBS[job.get_untracked()].1
        )
    });
    let visit = move |layer: usize, head: usize| {
        store.link.update(|link| {
            (link.gpt.layer, link.gpt.head) = (layer as u32, head as u32);
            link.view.clear();
        });
    };
    let choices = JOBS.iter().enumerate();
    let choices = choices.map(|(at, (title, _))| (at, HEAD_JOBS[at], title.into_any())).collect();
    let most = move || {
        let ranked = answer.with(|s| s.as_ref().map(|scores| ranked(scores, job.get())));
        let button = |(layer, head, share): (usize, usize, f32)| {
            view! {
                <button type="button" class="button" on:click=move |_| visit(layer, head)>
                    {format!("Layer {layer}, head {head}: {}", percent(share, 0))}
                </button>
            }
        };
        ranked.map(|ranked| ranked.into_iter().take(NAMED).map(button).collect_view())
    };
    let said = move || {
        let said = scores.read(summary);
        problem.get().or(said).unwrap_or_default()
    };
    view! {
        <div class="view-fill" node_ref=part>
            <div class="view-bar">
                {switch()}
                <fieldset class="choice-field">
                    <legend class="visually-hidden">"Where a head looks"</legend>
                    <Segments name="head-job" ids="job" choices chosen=move || job.get()
                        on_choose=move |at| job.set(at)/>
                </fieldset>
            </div>
            <MatrixFigure name="jobs" title matrix=Signal::derive(move || shown.get().unwrap_or_default())
                provenance=use_provenance() describe
                on_pick=Callback::new(move |(layer, head)| visit(layer + 1, head + 1))/>
            <div class="view-bar" data-testid="jobs-most">{most}</div>
            <p class="view-note" role="status" data-testid="jobs-note">{said}</p>
        </div>
    }
    .into_any()
}

/// What was tested.
fn summary(scores: &HeadScores) -> String {
    let [first, second] = scores.losses;
    format!(
        "Measured on {} random tokens, followed by the same ones again. The model’s mean loss is {first:.3} nats in the first half \
         and {second:.3} in the second.",
        scores.repeated
    )
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    fn scores() -> HeadScores {
        let values = (0..20).map(|at| at as f32 / 20.0).collect();
        let scores = Array { shape: vec![5, 2, 2], values };
        HeadScores { repeated: 32, scores, losses: [10.0, 2.5] }
    }

    #[test]
    fn the_head_that_does_most_comes_first() {
        assert_eq!(best(&scores(), INDUCTION), Some((2, 2, 0.95)));
        assert_eq!(ranked(&scores(), 0).first(), Some(&(2, 2, 0.15)));
        assert_eq!(sinks(&scores()), (0, 4));
        let mut sink = scores();
        sink.scores.values[5] = 0.9;
        assert_eq!(sinks(&sink), (1, 4));
        assert_eq!(
            (best(&sink, FIRST), matrix(&sink, FIRST).value(0, 1)),
            (Some((1, 2, 0.9)), 0.9)
        );
        assert_eq!(HEAD_JOBS[INDUCTION], "induction");
        assert_eq!(HEAD_JOBS[FIRST], "first");
    }
}
