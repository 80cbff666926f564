//! The chapter's question to the learner.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    study::position::{CountFrom, accuracy_series},
};

use super::{Page, compare::percent};
use crate::{
    course::{use_done, use_lab},
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

pub fn check(page: Page) -> AnyView {
    let round = RwSignal::new(0usize);
    let now = move || ASKED[round.get() % ASKED.len()];
    let shares = Memo::new(move |_| {
        let (a, b, length) = now();
        use_lab().history.with(|history| {
            let last = |of| history.named(&accuracy_series(of, length)).and_then(|s| s.last());
            Some((last(a)?, last(b)?))
        })
    });
    let question = Signal::derive(move || {
        let (a, b, length) = now();
        let from = match page.settings.with(|s| s.from) {
            CountFrom::Start => "from the start",
            CountFrom::End => "back from the end",
        };
        format!(
            "Counting {from}, as trained so far: at {length} symbols, which model gets more right, {} or {}?",
            a.label(),
            b.label()
        )
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
        shares.get().map(|(a, b)| match (a - b).abs() < ALIKE {
            true => 2,
            false => usize::from(b > a),
        })
    });
    let explain = Signal::derive(move || {
        let (Some((first, second)), (a, b, length)) = (shares.get(), now()) else {
            return String::new();
        };
        format!(
            "At {length} symbols {} gets {} right and {} {}. Count from the other end and ask again.",
            a.label(),
            percent(first),
            b.label(),
            percent(second)
        )
    });
    view! {
        <CheckYourself id="position" question options answer explain on_right=use_done()
            on_another=Callback::new(move |()| round.update(|round| *round += 1))/>
    }
    .into_any()
}
