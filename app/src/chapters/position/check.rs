//! The questions that the live models answer.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    study::position::{CountFrom, accuracy_series},
};

use super::{
    Page,
    compare::{LONGER, percent, share_of},
};
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
/// Shares nearer to each other than this have no first.
const CLOSE: f32 = 0.03;
/// Before this step the models may still be guessing.
const EARLY: u32 = 200;

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

/// Who goes furthest beyond what was trained; learned positions can't take part.
pub fn longest() -> AnyView {
    let lab = use_lab();
    let of = || Positions::ALL.iter().copied().filter(|of| *of != Positions::Learned);
    let shares =
        memo(move || of().map(|of| share_of(lab, of, LONGER)).collect::<Option<Vec<f32>>>());
    // Which is ahead, if one clearly is.
    let ahead = memo(move || {
        let shares = shares.get().filter(|_| lab.step.get() >= EARLY)?;
        let best = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]))?;
        let near = |(at, share): (usize, &f32)| at != best && shares[best] - share < CLOSE;
        (!shares.iter().enumerate().any(near)).then_some(best)
    });
    let question = format!(
        "At {LONGER} symbols the learned table can’t answer. Which of the others gets the most right there, as \
         trained so far?"
    );
    let too_early = Signal::derive(move || match ahead.get() {
        Some(_) => None,
        None if lab.step.get() < EARLY => {
            Some(format!("Train to step {EARLY} first: so far the models are only beginning."))
        }
        None => Some(format!(
            "Train some more first: at {LONGER} symbols no model is clearly ahead so far."
        )),
    });
    let explain = Signal::derive(move || {
        let shares = shares.get().unwrap_or_default();
        let each = of().zip(shares).map(|(of, share)| format!("{} {}", of.label(), percent(share)));
        format!("Right at {LONGER} symbols: {}.", each.collect::<Vec<_>>().join(", "))
    });
    view! {
        <CheckYourself id="position-longest" question=Signal::stored(question)
            options=Signal::stored(of().map(|of| of.label().to_owned()).collect::<Vec<_>>()) answer=ahead explain too_early
            on_right=use_right("position-longest")/>
    }
    .into_any()
}
