//! What the tests of the chapters' studies need.

use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    Ask, Link, StudySpec,
    link::Chapter,
    study::{norm, qkv},
};

use super::{device, ready};

pub const TALES: &str = include_str!("../../../assets/corpora/tales.txt");
pub const NAMES: &str = include_str!("../../../assets/corpora/names.txt");

/// Builds what `spec` describes for `text`; a refusal is its sentence.
pub fn try_build(spec: impl Into<StudySpec>, text: &str) -> Result<AnyStudy, String> {
    AnyStudy::new(&spec.into(), text, &device()).map_err(|refusal| refusal.to_string())
}

/// Builds what `spec` describes for `text`.
pub fn build(spec: impl Into<StudySpec>, text: &str) -> AnyStudy {
    try_build(spec, text).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Takes `steps` steps; the values of each.
pub fn points(study: &mut AnyStudy, steps: usize) -> Vec<Vec<Option<f32>>> {
    let mut points = Vec::new();
    while points.len() < steps {
        match ready(study.advance()) {
            StudySlice::More => {}
            StudySlice::Step(values) => points.push(values),
            StudySlice::Diverged { loss } => panic!("diverged with a loss of {loss}"),
        }
    }
    points
}

/// Takes `steps` steps; the values of the last.
pub fn train(study: &mut AnyStudy, steps: usize) -> Vec<Option<f32>> {
    points(study, steps).pop().expect("at least one step")
}

/// The value of the series `name` among `values`, those of a step at which it was measured.
pub fn measured(study: &AnyStudy, values: &[Option<f32>], name: &str) -> f32 {
    let series = study.started().series;
    values[series.iter().position(|series| series == name).expect(name)].expect("measured")
}

/// The answer to a question; a refusal is its sentence.
pub fn ask<Q: Ask>(study: &mut AnyStudy, question: Q) -> Result<Q::Answer, String> {
    let packed = ready(study.ask(&question.into())).map_err(|refusal| refusal.to_string())?;
    Ok(packed.unpack().expect("the answer is of the question's type"))
}

/// Every chapter's models as they are by default, and its other experiments.
pub fn specs() -> Vec<StudySpec> {
    let of = |change: fn(&mut Link)| {
        let mut link = Link::default();
        change(&mut link);
        link.study()
    };
    let chapters = Chapter::ALL.iter().map(|&chapter| Link { chapter, ..Link::default() }.study());
    let others = [
        of(|link| {
            (link.chapter, link.norm.experiment) = (Chapter::Norm, norm::Experiment::Outside);
        }),
        of(|link| (link.chapter, link.norm.experiment) = (Chapter::Norm, norm::Experiment::Time)),
        of(|link| (link.chapter, link.qkv.experiment) = (Chapter::Qkv, qkv::Experiment::Order)),
    ];
    chapters.chain(others).flatten().collect()
}

/// The bits of what was measured, by step.
pub fn bits(points: &[Vec<Option<f32>>]) -> Vec<Vec<Option<u32>>> {
    points.iter().map(|point| point.iter().map(|v| v.map(f32::to_bits)).collect()).collect()
}
