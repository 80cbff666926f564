//! A chapter's models that are saved and put back train on as if nothing had happened.

mod support;

use std::collections::BTreeSet;

use support::{
    ready,
    study::{NAMES, TALES, bits, build, points, specs},
};
use unroll_model::{AnyStudy, StudySlice};
use unroll_protocol::{
    StudyCheckpoint, StudySpec,
    study::{bptt, norm, qkv, rnn, tokens},
};

fn saved(study: &mut AnyStudy) -> StudyCheckpoint {
    ready(study.saved()).unwrap()
}

/// Every number of it, to the bit.
fn numbers(saved: &StudyCheckpoint) -> Vec<u32> {
    let all = saved.parameters.iter().flat_map(|saved| {
        [&saved.value.values, &saved.first_moment, &saved.second_moment].into_iter().flatten()
    });
    all.map(|number| number.to_bits()).collect()
}

fn check(spec: StudySpec) {
    let about = format!("{spec:?}");
    let mut whole = build(spec.clone(), TALES);
    points(&mut whole, 3);
    let kept = saved(&mut whole);
    assert_eq!(kept.step, 3, "{about}");
    let names: BTreeSet<_> = kept.parameters.iter().map(|saved| &saved.name).collect();
    assert_eq!(names.len(), kept.parameters.len(), "{about}: {names:?}");

    let mut again = build(spec.clone(), TALES);
    let mut kept = kept;
    // The order of the file does not matter.
    kept.parameters.reverse();
    again.restore(&kept).unwrap_or_else(|refusal| panic!("{about}: {refusal}"));
    kept.parameters.reverse();
    assert_eq!(again.step(), 3, "{about}");
    assert_eq!(numbers(&saved(&mut again)), numbers(&kept), "{about}");
    let [went, goes] = [&mut whole, &mut again].map(|study| points(study, 4));
    assert_eq!(bits(&went), bits(&goes), "{about}: it trained on otherwise");
    let end = saved(&mut again);
    assert_eq!(numbers(&end), numbers(&saved(&mut whole)), "{about}");
    assert_ne!(numbers(&end), numbers(&kept), "{about}");

    // In mid-step, what is saved is from before the step; what is put back drops it.
    let mut halfway = build(spec, TALES);
    points(&mut halfway, 1);
    let before = saved(&mut halfway);
    if ready(halfway.advance()) == StudySlice::More {
        assert_eq!(numbers(&saved(&mut halfway)), numbers(&before), "{about}: in mid-step");
        halfway.restore(&kept).unwrap();
        assert_eq!(bits(&points(&mut halfway, 4)), bits(&goes), "{about}: from mid-step");
    }
}

#[test]
fn models_that_are_put_back_train_on_to_the_same_bits() {
    specs().into_iter().for_each(check);
}

#[test]
fn without_the_optimizers_means_they_begin_anew() {
    let spec = rnn::Settings::default().spec(3);
    let mut study = build(spec.clone(), TALES);
    points(&mut study, 2);
    let mut kept = saved(&mut study);
    for saved in &mut kept.parameters {
        saved.first_moment.clear();
        saved.second_moment.clear();
    }
    let mut again = build(spec, TALES);
    again.restore(&kept).unwrap();
    let back = saved(&mut again);
    for (back, kept) in back.parameters.iter().zip(&kept.parameters) {
        assert_eq!(back.value, kept.value);
        assert!(back.first_moment.iter().chain(&back.second_moment).all(|mean| *mean == 0.0));
        assert_eq!(back.first_moment.len(), kept.value.values.len());
    }
    points(&mut again, 1);
}

#[test]
fn models_have_names() {
    let names = |spec: StudySpec| -> BTreeSet<String> {
        let saved = saved(&mut build(spec, TALES));
        let name = |name: &str| name.split_once('.').unwrap().0.to_owned();
        saved.parameters.iter().map(|saved| name(&saved.name)).collect()
    };
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names(bptt::Settings::default().spec(1).into()), of(&["rnn", "lstm", "gru"]));
    let order = qkv::Spec { seed: 1, models: qkv::Models::Order };
    assert_eq!(names(order.into()), of(&["bag", "causal", "positions"]));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut study = build(rnn::Settings::default().spec(1), TALES);
    points(&mut study, 2);
    let kept = saved(&mut study);
    let hurt = |hurt: fn(&mut StudyCheckpoint)| {
        let mut kept = kept.clone();
        hurt(&mut kept);
        kept
    };
    let cases = [
        ("different characters", hurt(|kept| kept.vocabulary.truncate(5))),
        ("tensors", hurt(|kept| kept.parameters.truncate(2))),
        ("do not have", hurt(|kept| kept.parameters[1].name.push('x'))),
        ("wrong size", hurt(|kept| kept.parameters[1].value.shape[0] += 1)),
        ("wrong size", hurt(|kept| kept.parameters[1].value.values.truncate(1))),
        ("wrong size", hurt(|kept| kept.parameters[1].second_moment.truncate(1))),
        ("not a usable number", hurt(|kept| kept.parameters[0].value.values[0] = f32::NAN)),
        ("not a usable number", hurt(|kept| kept.parameters[0].first_moment[0] = f32::INFINITY)),
        ("not a usable number", hurt(|kept| kept.parameters[0].second_moment[0] = -1.0)),
        ("steps", hurt(|kept| kept.step = u32::MAX)),
    ];
    for (reason, hurt) in cases {
        let refusal = study.restore(&hurt).unwrap_err().to_string();
        assert!(refusal.contains(reason) && refusal.ends_with('.'), "{reason}: {refusal}");
        assert_eq!(numbers(&saved(&mut study)), numbers(&kept), "{reason}");
        assert_eq!(study.step(), 2);
    }
    // The characters of another text are others.
    let refused = build(rnn::Settings::default().spec(1), NAMES).restore(&kept);
    assert!(refused.unwrap_err().to_string().contains("different characters"));
}

#[test]
fn pairs_that_another_text_taught_are_refused() {
    let settings = tokens::Settings { scheme: tokens::Scheme::Pairs, ..Default::default() };
    let kept = saved(&mut build(settings.spec(1), TALES));
    build(settings.spec(1), TALES).restore(&kept).unwrap();
    let refused = build(settings.spec(1), NAMES).restore(&kept);
    assert!(refused.unwrap_err().to_string().contains("tokens"));
}

#[test]
fn a_negative_variance_is_refused() {
    let layers = norm::Settings::default().spec(1);
    let mut study = build(layers, TALES);
    let mut kept = saved(&mut study);
    let variance = kept.parameters.iter_mut().find(|saved| saved.name.ends_with("0.variance"));
    variance.expect("BatchNorm's running statistics").value.values[0] = -1.0;
    let refusal = study.restore(&kept).unwrap_err().to_string();
    assert!(refusal.contains("not a usable number"), "{refusal}");
}
