//! `position`: how a model is told where a token stands.

mod check;
mod clock;
mod compare;
mod reading;
mod relations;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Positions,
    link::Chapter,
    study::position::{Answer, DRAWN, Encoding, Question, Reading, Settings},
};

use super::Info;
use crate::{
    controls::{ChoiceField, FlagField, SliderField},
    course::{
        Answered, ChapterFrame, StageView, panel, use_answer, use_lab, use_provenance, use_seen_in,
    },
    figures::{Dash, Hue, Matrix, MatrixFigure, Provenance, ValueMap},
    store::Store,
};

pub const INFO: Info = Info {
    id: Chapter::Position,
    title: "Where am I",
    warm_steps: 200,
    uses_text: false,
    view: || view! { <PositionChapter/> }.into_any(),
};

/// What the parts of the chapter share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    settings: Memo<Settings>,
    encoding: Memo<Positions>,
    provenance: Signal<Provenance>,
    /// What every model makes of the sequence on show.
    reading: Signal<Option<Arc<Reading>>>,
    /// Why there is no such sequence, and where that is shown.
    answered: Answered,
}

impl Page {
    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.position));
    }

    /// For one part of the page that shows the sequence; it follows training while `part` is in sight.
    fn seen_in(self, part: impl Into<Signal<bool>>) -> Self {
        let reading = use_seen_in(use_lab(), self.answered.sight, part, self.reading);
        Self { reading, ..self }
    }

    fn ask<T: Clone + PartialEq + Send + Sync + 'static>(
        self,
        seen: impl Into<Signal<bool>>,
        question: fn(&Settings) -> Option<Question>,
        pick: fn(&Answer) -> Option<&T>,
    ) -> (Memo<Option<Arc<T>>>, Signal<Option<String>>) {
        let (answered, found) = ask(self.settings, question, pick);
        answered.shown_in(seen);
        (found, answered.problem)
    }
}

/// Asks `question` as long as the chapter is open, and takes what `pick` finds in the answer.
fn ask<T: Clone + PartialEq + Send + Sync + 'static>(
    settings: Memo<Settings>,
    question: fn(&Settings) -> Option<Question>,
    pick: fn(&Answer) -> Option<&T>,
) -> (Answered, Memo<Option<Arc<T>>>) {
    let asked =
        move || settings.with(|settings| question(settings).map(|question| question.into()));
    let answered = use_answer(use_lab(), asked);
    let found = Memo::new(move |_| {
        let answer = answered.answer.get()?;
        pick(<&Answer>::try_from(&*answer).ok()?).map(|found| Arc::new(found.clone()))
    });
    (answered, found)
}

/// How the line of an encoding is drawn.
fn look(positions: Positions) -> (Hue, Dash) {
    match positions {
        Positions::None => (Hue::Muted, Dash::Dotted),
        Positions::Integer => (Hue::Cell, Dash::Dashed),
        Positions::Sinusoidal => (Hue::Ink, Dash::Solid),
        // Trained like any weight.
        Positions::Learned => (Hue::Weight, Dash::Mixed),
        Positions::Rotary => (Hue::Key, Dash::Dashed),
        Positions::Alibi => (Hue::Value, Dash::Dotted),
    }
}

#[component]
fn PositionChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let settings = Memo::new(move |_| store.link.with(|link| link.position.clone()));
    let encoding = Memo::new(move |_| settings.with(|s| s.encoding));
    let (answered, reading) = ask(
        settings,
        |s| Some(Question::Reading(reading::asked(s))),
        |answer| match answer {
            Answer::Reading(reading) => Some(reading),
            _ => None,
        },
    );
    let provenance = use_provenance(lab);
    let page = Page { store, settings, encoding, provenance, reading: reading.into(), answered };
    view! {
        <ChapterFrame
            before="Attention looks at everything at once: shuffle the tokens, and nothing it computes tells."
            intro=words::intro
            ideas=words::IDEAS
            tries=words::tries()
            check=move || check::check(page)
            more=words::more
            views=vec![
                StageView::new("figure", "Figure", move || figure(page)),
                StageView::new("further", "Further", move || further(page)),
            ]
            settings=controls
            model=Signal::stored(String::new())
        />
    }
}

fn figure(page: Page) -> AnyView {
    view! {
        {compare::table(page.seen_in(use_lab().sights.figure))}
        {heatmap(page)}
        {clock::panel(page)}
    }
    .into_any()
}

fn controls() -> AnyView {
    view! {
        <ChoiceField name="position-from"/>
        <SliderField name="position-layers"/>
        <FlagField name="position-causal"/>
        <SliderField name="position-width"/>
    }
    .into_any()
}

fn further(page: Page) -> AnyView {
    view! {
        <div class="panel">{compare::curves(page)}</div>
        {panel("panel", |seen| compare::lengths(page.seen_in(seen)))}
        {panel("panel position-wide", |seen| reading::panel(page.seen_in(seen), seen))}
        {panel("panel", |seen| relations::products(page, seen))}
        {panel("panel", |seen| relations::scores(page, seen))}
        {panel("panel position-wide", |seen| relations::swamping(page, seen))}
    }
    .into_any()
}

/// The encoding on show, position by position.
fn heatmap(page: Page) -> AnyView {
    let lab = use_lab();
    let (encoding, problem) = page.ask(
        lab.sights.figure,
        |s| Some(Question::Encoding { positions: s.encoding }),
        |answer| match answer {
            Answer::Encoding(encoding) => Some(encoding),
            _ => None,
        },
    );
    let matrix = Memo::new(move |_| encoding.get().map_or(Matrix::default(), |e| drawn(&e)));
    let title = Signal::derive(move || {
        match page.encoding.get() {
            Positions::None => "Nothing is added to any embedding",
            Positions::Integer => "Integer: what is added to the embedding",
            Positions::Sinusoidal => "Sinusoidal: what is added to the embedding",
            Positions::Learned => "Learned: what is added to the embedding, as trained so far",
            Positions::Rotary => "Rotary: by what angle each pair of a query or key is turned",
            Positions::Alibi => "ALiBi: what is added to a score at each distance",
        }
        .to_owned()
    });
    let row =
        Signal::derive(move || page.settings.with(|s| (s.at < DRAWN).then_some(s.at as usize)));
    let on_pick = Callback::new(move |(row, column): (usize, usize)| {
        let paired = match page.encoding.get_untracked() {
            Positions::Sinusoidal | Positions::Learned => Some(column / 2),
            Positions::Rotary => Some(column),
            _ => None,
        };
        page.set(|settings| {
            settings.at = row as u32;
            if let Some(pair) = paired {
                settings.pair = (pair as u32 + 1).min(32);
            }
        });
    });
    view! {
        <p class="field-error" role="alert" data-testid="position-problem">{problem}</p>
        <MatrixFigure name="encoding" title matrix row on_pick provenance=page.provenance/>
        {move || (page.encoding.get() == Positions::Learned).then(|| view! {
            <p class="hint" data-testid="position-no-rows">
                "The table ends with the longest sequence trained on. Further positions have no row: not a bad \
                 one, none at all."
            </p>
        })}
    }
    .into_any()
}

fn drawn(encoding: &Encoding) -> Matrix {
    let positions = encoding.positions;
    let (rows, columns) = (encoding.values.shape[0], encoding.values.shape[1]);
    let most =
        encoding.values.values.iter().filter(|v| v.is_finite()).fold(0f32, |m, v| m.max(v.abs()));
    let (column_axis, value_name) = match positions {
        Positions::Rotary => ("pair of a head's dimensions", "angle in radians"),
        Positions::Alibi => ("head", "added to the score"),
        _ => ("dimension", "added to the embedding"),
    };
    let limit = match positions {
        Positions::None | Positions::Sinusoidal => 1.0,
        Positions::Rotary => core::f32::consts::PI,
        _ => round_up(most.max(1e-3)),
    };
    let first = if positions == Positions::Alibi { 1 } else { 0 };
    Matrix {
        row_axis: if positions == Positions::Alibi { "distance" } else { "position" }.into(),
        column_axis: column_axis.into(),
        rows: (0..rows).map(|row| row.to_string()).collect(),
        columns: (first..columns + first).map(|column| column.to_string()).collect(),
        values: encoding.values.values.clone(),
        map: ValueMap::Signed { limit },
        value_name: value_name.into(),
        absent: "no row: never trained this far".into(),
    }
}

/// The next number with one digit that is not 0, for the end of a scale.
fn round_up(number: f32) -> f32 {
    let unit = 10f32.powf(number.log10().floor());
    (number / unit).ceil() * unit
}
