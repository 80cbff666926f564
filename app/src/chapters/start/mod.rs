//! `start`: the few sums that all models share, as drawings that are moved by hand.
//!
//! The only chapter without a model: what it shows is worked out from what the learner drags.

mod board;
mod curves;
mod labels;
mod plane;
mod sums;
mod words;

use leptos::prelude::*;
use unroll_protocol::{
    link::Chapter,
    start::{MOST_STEPS, Shows},
};

use super::Info;
use crate::{
    controls::ChoiceField,
    course::{ChapterFrame, StageView, further, use_right, use_setting},
    figures::Slot,
    reactive::memo,
    teaching::{CheckYourself, Live, live},
};
use board::{BoardView, shown};

#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Start,
    warm_steps: 0,
    curves: 2,
    uses_text: false,
    view: || view! { <Start/> }.into_any(),
};

/// The numbers behind the drawings. `Copy`: handles of the chapter's owner.
#[derive(Clone, Copy)]
struct Page {
    arrows: Slot<Vec<f32>>,
    shows: Slot<Shows>,
    matrix: Slot<Vec<f32>>,
    scores: Slot<Vec<f32>>,
    nudge: Slot<Vec<f32>>,
    chain: Slot<Vec<f32>>,
    valley: Slot<Vec<f32>>,
    steps: Slot<u32>,
}

#[component]
fn Start() -> impl IntoView {
    let page = Page {
        arrows: use_setting(|link| &mut link.start.arrows),
        shows: use_setting(|link| &mut link.start.shows),
        matrix: use_setting(|link| &mut link.start.matrix),
        scores: use_setting(|link| &mut link.start.scores),
        nudge: use_setting(|link| &mut link.start.nudge),
        chain: use_setting(|link| &mut link.start.chain),
        valley: use_setting(|link| &mut link.start.valley),
        steps: use_setting(|link| &mut link.start.steps),
    };
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![("start-flip", ViewFn::from(move || flip(page)))]
            more=words::more
            views=vec![
                StageView::new("arrows", "Arrows", move || arrows(page)),
                StageView::new("matrix", "Matrix", move || {
                    view! { <BoardView board=&plane::MATRIX numbers=page.matrix/> }
                }),
                StageView::new("shares", "Shares", move || shares(page)),
                StageView::new("slope", "Slope", move || {
                    view! { <BoardView board=&curves::NUDGE numbers=page.nudge/> }
                }),
                StageView::new("chain", "Chain", move || {
                    view! { <BoardView board=&sums::CHAIN numbers=page.chain/> }
                }),
                StageView::new("valley", "Downhill", move || valley(page)),
            ]
        />
    }
}

fn arrows(page: Page) -> AnyView {
    let further = Signal::derive(move || {
        let shows = page.shows.get();
        let at = Shows::ALL.iter().position(|other| *other == shows);
        vec![at.unwrap_or_default() as f64]
    });
    view! {
        <BoardView board=&plane::ARROWS numbers=page.arrows further>
            <ChoiceField name="start-shows"/>
        </BoardView>
    }
    .into_any()
}

fn shares(page: Page) -> AnyView {
    let fit = |scores: &[f32], by: f32| {
        scores.iter().zip(sums::SHARES.knobs).all(|(score, knob)| {
            let moved = f64::from(score + by);
            knob.least <= moved && moved <= knob.most
        })
    };
    let shift = move |by: f32| {
        let scores = page.scores.get_untracked();
        // All or none: shares stay as they are only if every score moves by the same.
        if fit(&scores, by) {
            page.scores.set(scores.iter().map(|score| score + by).collect());
        }
    };
    let stuck = move |by: f32| !fit(&page.scores.get(), by);
    view! {
        <BoardView board=&sums::SHARES numbers=page.scores>
            <div class="start-buttons">
                <button type="button" class="button" data-testid="shares-up" disabled=move || stuck(1.0)
                    on:click=move |_| shift(1.0)>"Add 1 to all"</button>
                <button type="button" class="button" data-testid="shares-down" disabled=move || stuck(-1.0)
                    on:click=move |_| shift(-1.0)>"Subtract 1 from all"</button>
            </div>
        </BoardView>
    }
    .into_any()
}

fn valley(page: Page) -> AnyView {
    let walk = move |steps: u32| {
        page.steps.set((page.steps.get_untracked() + steps).min(MOST_STEPS));
    };
    let further = Signal::derive(move || vec![f64::from(page.steps.get())]);
    let full = move || {
        let mut numbers = wide(&page.valley.get());
        numbers.extend(further.get());
        page.steps.get() >= MOST_STEPS || numbers.len() < 8 || curves::is_at_rest(&numbers)
    };
    view! {
        <BoardView board=&curves::VALLEY numbers=page.valley further>
            <div class="start-buttons">
                <button type="button" class="button" data-testid="valley-step" disabled=full
                    on:click=move |_| walk(1)>"One step"</button>
                <button type="button" class="button" data-testid="valley-walk" disabled=full
                    on:click=move |_| walk(100)>"100 steps"</button>
                <button type="button" class="button button-quiet" data-testid="valley-back"
                    disabled=move || page.steps.get() == 0 on:click=move |_| page.steps.set(0)>"Back to the start"</button>
            </div>
        </BoardView>
    }
    .into_any()
}

/// The dot product of the two arrows.
fn product(page: Page) -> f64 {
    let (a, b) = plane::two(&wide(&page.arrows.get()));
    plane::dot(a, b)
}

/// The numbers of a setting, for arithmetic.
fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().copied().map(f64::from).collect()
}

/// What the text reads off the drawings.
fn lives(page: Page) -> Vec<Live> {
    vec![
        live("dot", move || shown(product(page), 2)),
        live("share", move || {
            let (_, _, shares) = sums::softmax(&wide(&page.scores.get()));
            shares.get(1).map_or_else(String::new, |a| sums::percent(*a))
        }),
        live("chain", move || {
            let left = sums::nudges(&wide(&page.chain.get()));
            left.last().map_or_else(String::new, |left| curves::trimmed(*left))
        }),
    ]
}

/// What becomes of the dot product if b is turned around?
fn flip(page: Page) -> AnyView {
    let now = memo(move || product(page));
    let is_level = move || now.get().abs() < 0.005;
    let question = move || match is_level() {
        true => "The dot product of a and b is 0 now. Move an arrow to get a question.".to_owned(),
        false => format!(
            "The dot product of a and b is {}. Turn b around, so that it points exactly the other way. What is \
             the dot product then?",
            shown(now.get(), 2)
        ),
    };
    let options = move || match is_level() {
        true => Vec::new(),
        false => [-now.get(), 0.0, now.get()].map(|value| shown(value, 2)).to_vec(),
    };
    let explain = move || {
        format!(
            "Both numbers of b change their sign, so both products do, and with them the sum: {}.",
            shown(-now.get(), 2)
        )
    };
    view! {
        <CheckYourself id="start-flip" question=Signal::derive(question) options=Signal::derive(options)
            answer=Signal::derive(move || (!is_level()).then_some(0)) explain=Signal::derive(explain)
            on_right=use_right("start-flip")/>
    }
    .into_any()
}

/// Every drawing with the numbers that it has at the start, and what else its view sets.
#[cfg(test)]
fn boards() -> Vec<(&'static board::Board, Vec<f64>)> {
    let start = unroll_protocol::start::Settings::default();
    let of = |numbers: &[f32], further: &[f64]| {
        let numbers = numbers.iter().map(|number| f64::from(*number));
        numbers.chain(further.iter().copied()).collect::<Vec<f64>>()
    };
    let mut boards = vec![
        (&plane::MATRIX, of(&start.matrix, &[])),
        (&sums::SHARES, of(&start.scores, &[])),
        (&curves::NUDGE, of(&start.nudge, &[])),
        (&sums::CHAIN, of(&start.chain, &[])),
    ];
    boards.extend((0..3).map(|shows| (&plane::ARROWS, of(&start.arrows, &[f64::from(shows)]))));
    boards.extend([0.0, 1.0, 500.0].map(|steps| (&curves::VALLEY, of(&start.valley, &[steps]))));
    boards
}
