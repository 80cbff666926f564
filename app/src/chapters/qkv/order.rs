//! Three models learn a word's first letter: what does each have to tell order by?

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::qkv::{LETTERS, Models, Reader, Word, ask},
};

use super::is_of;
use crate::{
    course::{Lab, use_lab, use_task_provenance},
    figures::{
        Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, Provenance, ValueMap, percent,
    },
    questions::use_answer,
    reactive::memo,
    store::Store,
};

fn provenance() -> Signal<Provenance> {
    use_task_provenance(|| Some("words of 8 different letters"))
}

pub fn view() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let provenance = provenance();
    let draw = memo(move || store.link.with(|link| link.qkv.draw));
    let answered = use_answer(lab, move || {
        let draw = draw.get();
        is_of(lab, Models::Order).then_some(ask::Word { draw })
    });
    let word = answered.answer;
    let lines = Signal::derive(move || accuracies(lab));
    let matrix =
        Signal::derive(move || word.get().map_or(Matrix::default(), |word| answers(&word)));
    let marked = Signal::derive(move || {
        let target = word.get().map(|word| word.target as usize);
        target
            .into_iter()
            .flat_map(|t| (0..Reader::ALL.len()).map(move |r| (r, t)))
            .collect::<Vec<_>>()
    });
    let marker = Signal::derive(move || Some(f64::from(lab.shown())));
    let again = move |_| {
        store.link.update(|link: &mut Link| link.qkv.draw = link.qkv.draw % 1000 + 1);
    };
    view! {
        <p class="view-note">
            "Each word has the letters A to H, each once, in a random order. After the last letter the model must name \
             the first. Which letters there are tells nothing. Without order, one can only guess: 1 in 8 is right."
        </p>
        <div class="view-split qkv-lines">
            <div>
                <LinesFigure name="qkv-order" title="Share of unseen words whose first letter is named" lines provenance marker/>
            </div>
            <div>
                <div class="view-bar qkv-bar">
                    <p data-testid="qkv-word">{move || word.get().map(|word| view! {
                        "Word: "<b class="qkv-word">{word.letters.concat()}</b>
                    })}</p>
                    <button type="button" class="button" data-testid="qkv-word-again" on:click=again>"Another word"</button>
                </div>
                <MatrixFigure name="qkv-answers" title="Which letter came first?" matrix provenance marked/>
            </div>
        </div>
        <p class="view-note qkv-verdict" data-testid="qkv-order-verdict">{move || verdict(lab)}</p>
    }
    .into_any()
}

fn accuracies(lab: Lab) -> Lines {
    let line = |reader: &Reader| {
        let (hue, dash) = match reader {
            Reader::Bag => (Hue::First, Dash::Dotted),
            Reader::Causal => (Hue::Second, Dash::Solid),
            Reader::Positions => (Hue::Third, Dash::Dashed),
        };
        let name = format!("{} accuracy", reader.label());
        let points = lab.history.with(|h| h.named(&name).map_or(Vec::new(), |s| s.points()));
        Line::new(reader.label(), hue, dash, points)
    };
    Lines {
        x_label: "step".into(),
        y_label: "share correct".into(),
        series: Reader::ALL.iter().map(line).collect(),
        references: vec![crate::figures::Reference {
            name: "guessing".into(),
            y: 1.0 / f64::from(LETTERS),
        }],
        x_range: Lines::steps(lab.step.get()),
        y_range: Some((0.0, 1.0)),
        ..Lines::default()
    }
}

fn verdict(lab: Lab) -> Option<AnyView> {
    let last = |reader: Reader| {
        let name = format!("{} accuracy", reader.label());
        lab.history.with(|history| history.named(&name).and_then(|series| series.last()))
    };
    let part = |id: &'static str, reader: Reader| {
        last(reader).map(|share| {
            view! { <b data-testid=id data-value=share.to_string()>{percent(share, 0)}</b> }
        })
    };
    last(Reader::Bag)?;
    Some(
        view! {
            "With nothing to tell order by: "{part("qkv-order-bag", Reader::Bag)}". With a causal mask and no positions: "
            {part("qkv-order-causal", Reader::Causal)}". With positions and no mask: "
            {part("qkv-order-positions", Reader::Positions)}"."
        }
        .into_any(),
    )
}

fn answers(word: &Word) -> Matrix {
    Matrix {
        row_axis: "told by".into(),
        column_axis: "letter".into(),
        rows: Reader::ALL.iter().map(|reader| reader.label().to_owned()).collect(),
        columns: word.alphabet.clone(),
        values: word.probabilities.concat(),
        map: ValueMap::Probability,
        value_name: "probability of being the first".into(),
        absent: String::new(),
    }
}
