//! The questions that the live models answer.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    study::position::{CountFrom, accuracy_series},
};

use super::{Page, compare::percent};
use crate::{
    course::{use_lab, use_right},
    reactive::memo,
    teaching::CheckYourself,
};

/// Who is compared, and at which length.
const ASKED: [(Positions, Positions, u32); 4] = [
    (Positions::Sinusoidal, Positions::Rotary, 16),
    (Positions::Integer, Positions::Sinusoidal, 24),
    (Positions::None, Positions::Learned, 8),
    (Positions::Rotary, Positions::Alibi, 8),
];
/// Shares nearer to each other than this are called alike.
const ALIKE: f32 = 0.1;
/// Before this step the models may still be guessing.
pub const EARLY: u32 = 200;

pub fn check(page: Page) -> AnyView {
    let round = RwSignal::new(0usize);
    let now = move || ASKED[round.get() % ASKED.len()];
    let lab = use_lab();
    let shares = memo(move || {
        let (a, b, length) = now();
        lab.history.with(|history| {
            let last = |of| history.named(&accuracy_series(of, length)).and_then(|s| s.last());
            Some((last(a)?, last(b)?))
        })
    });
    let alike = |(a, b): (f32, f32)| (a - b).abs() < ALIKE;
    // Models that still guess are alike for no reason.
    let is_early = memo(move || lab.step.get() < EARLY && shares.get().is_none_or(alike));
    let question = Signal::derive(move || {
        let (a, b, length) = now();
        let from = match page.settings.with(|s| s.from) {
            CountFrom::Start => "from the start",
            CountFrom::End => "back from the end",
        };
        format!(
            "The models count {from}. As trained so far, which gets more right at {length} symbols: {} or {}?",
            a.label(),
            b.label()
        )
    });
    let too_early = Signal::derive(move || {
        let (a, b, _) = now();
        is_early.get().then(|| {
            format!(
                "Train to step {EARLY} first: it is too early to compare {} and {}.",
                a.label(),
                b.label()
            )
        })
    });
    let options = Signal::derive(move || {
        let (a, b, _) = now();
        vec![
            a.label().to_owned(),
            b.label().to_owned(),
            "Within 10 points of each other".to_owned(),
        ]
    });
    let answer = Signal::derive(move || {
        let both = shares.get()?;
        Some(if alike(both) { 2 } else { usize::from(both.1 > both.0) })
    });
    let explain = Signal::derive(move || {
        let (Some((first, second)), (a, b, length)) = (shares.get(), now()) else {
            return String::new();
        };
        format!(
            "At {length} symbols {} gets {} right, and {} gets {}. Would it be the same counting from the other end? Change that in the settings.",
            a.label(),
            percent(first),
            b.label(),
            percent(second)
        )
    });
    view! {
        <CheckYourself id="position" question options answer explain too_early on_right=use_right("position")
            on_another=Callback::new(move |()| round.update(|round| *round += 1))/>
    }
    .into_any()
}
