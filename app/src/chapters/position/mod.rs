//! `position`: how a model is told where a token stands.

mod check;
mod clock;
mod clock_export;
mod clock_figure;
mod compare;
mod encodings;
mod notebooks;
mod reading;
mod relations;
mod swap;
mod words;

use leptos::prelude::*;
use unroll_protocol::{
    Ask,
    architecture::Positions,
    link::Chapter,
    study::position::{LONGEST, Settings},
};

use super::Info;
use crate::{
    controls::{ChoiceField, FlagField, SliderField},
    course::{ChapterFrame, StageView, further, use_lab, use_provenance},
    figures::{Dash, Hue, Matrix, Provenance, four_decimals},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
    teaching::{Live, live},
};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Position,
    warm_steps: 200,
    curves: 3,
    uses_text: false,
    view: || view! { <PositionChapter/> }.into_any(),
};

/// What the views share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    settings: Memo<Settings>,
    encoding: Memo<Positions>,
    provenance: Signal<Provenance>,
}

impl Page {
    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.position));
    }

    /// Asks `question` as long as the view that wants it is on show.
    fn ask<Q: Ask>(self, question: fn(&Settings) -> Option<Q>) -> Answered<Q::Answer> {
        use_answer(use_lab(), move || self.settings.with(question))
    }
}

/// How the line of an encoding is drawn. The first three are in the time bar, where none is refused.
/// Hues that are near each other to some eyes have different dashes.
fn look(positions: Positions) -> (Hue, Dash) {
    match positions {
        Positions::None => (Hue::First, Dash::Dotted),
        Positions::Integer => (Hue::Second, Dash::Dashed),
        Positions::Sinusoidal => (Hue::Third, Dash::Solid),
        Positions::Learned => (Hue::Weight, Dash::Solid),
        Positions::Rotary => (Hue::Ink, Dash::Mixed),
        Positions::Alibi => (Hue::Gradient, Dash::Mixed),
    }
}

/// How a model is told the positions, for who meets the name for the first time.
fn in_words(positions: Positions) -> &'static str {
    match positions {
        Positions::None => "told nothing",
        Positions::Integer => "adds the plain number",
        Positions::Sinusoidal => "adds clock hands, fast and slow",
        Positions::Learned => "adds a learned vector per place",
        Positions::Rotary => "turns queries and keys",
        Positions::Alibi => "weighs far symbols less",
    }
}

/// `shown`, or why there is nothing to show: figures without a model behind them are empty.
fn unless_refused(
    problem: Signal<Option<String>>,
    name: &'static str,
    shown: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let refused = memo(move || problem.get());
    let body = move || match refused.get() {
        Some(why) => {
            view! { <p class="field-error" role="alert" data-testid=name>{typographic(&why)}</p> }
                .into_any()
        }
        None => shown(),
    };
    view! { {body} }.into_any()
}

/// A cell by the numbers along the axes, which count from 0 as the formulas do.
fn numbered(matrix: Memo<Matrix>) -> Callback<(usize, usize, f32), String> {
    Callback::new(move |(row, column, value): (usize, usize, f32)| {
        matrix.with_untracked(|m| {
            let (Some(at), Some(along)) = (m.rows.get(row), m.columns.get(column)) else {
                return String::new();
            };
            let value = if value.is_finite() { four_decimals(value) } else { m.absent.clone() };
            format!("{} {at}, {} {along}: {value}", m.row_axis, m.column_axis)
        })
    })
}

/// The engine's sentences have straight apostrophes.
fn typographic(sentence: &str) -> String {
    sentence.replace('\'', "’")
}

#[component]
fn PositionChapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let settings = memo(move || store.link.with(|link| link.position.clone()));
    let encoding = memo(move || settings.with(|s| s.encoding));
    let page = Page { store, settings, encoding, provenance: use_provenance() };
    let model = Signal::derive(move || settings.with(model));
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives()
            asks=vec![("position", ViewFn::from(move || check::check(page)))]
            more=words::more
            views=vec![
                // The task first: what the encodings are for.
                StageView::new("reading", "Reading", move || reading::view(page)),
                StageView::new("encoding", "Encoding", move || encodings::view(page)),
                StageView::new("turn", "A step", move || clock::view(page)),
                StageView::new("distance", "Distance", move || relations::view(page)),
                StageView::new("swap", "Two orders", move || swap::view(page)),
                StageView::new("models", "Six models", move || compare::models(page)),
                StageView::shared("longer", move || compare::longer(page)),
            ]
            settings=controls
            model
        />
    }
}

/// What the text reads off the models.
fn lives() -> Vec<Live> {
    let lab = use_lab();
    let right = |of: Positions, length: u32| {
        let share = memo(move || compare::share_of(lab, of, length));
        move || share.get().map_or_else(|| "…".to_owned(), compare::percent)
    };
    vec![
        live("none", right(Positions::None, LONGEST)),
        live("learned", right(Positions::Learned, LONGEST)),
        live("alibi", right(Positions::Alibi, LONGEST)),
    ]
}

/// What the six models have in common, in a few words.
fn model(settings: &Settings) -> String {
    let layers = match settings.layers {
        1 => "1 layer".to_owned(),
        layers => format!("{layers} layers"),
    };
    format!("width {}, {layers}", settings.width)
}

fn controls() -> AnyView {
    view! {
        <div class="course-controls">
            <ChoiceField name="position-from"/>
            <SliderField name="position-layers"/>
            <FlagField name="position-causal"/>
            <SliderField name="position-width"/>
        </div>
    }
    .into_any()
}

/// The next number with one digit that is not 0, for the end of a scale.
fn round_up(number: f32) -> f32 {
    let unit = 10f32.powf(number.log10().floor());
    (number / unit).ceil() * unit
}
