//! One head on the learner's sentence, and one of its cells worked out.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Array, AttentionRow, Link,
    study::qkv::{Answer, Head, Memory, Models, Question},
};

use super::is_of;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{Answered, Sentence, use_answer, use_lab, use_provenance, use_seen_in},
    figures::{CellInspector, Matrix, MatrixFigure, ValueMap},
    store::Store,
};

/// What the experiment's parts share.
#[derive(Clone, Copy)]
pub struct Page {
    store: Store,
    answered: Answered,
    head: Signal<Option<Arc<Head>>>,
    /// Query and key, from 0.
    cell: Memo<Option<(usize, usize)>>,
}

pub fn use_page() -> Page {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let cell = Memo::new(move |_| {
        let (query, key) = store.link.with(|link| (link.qkv.query, link.qkv.key));
        Some((query.checked_sub(1)? as usize, key.checked_sub(1)? as usize))
    });
    let asked = Memo::new(move |_| {
        let qkv = store.link.with(|link| link.qkv.clone());
        (qkv.memory, qkv.layer - 1, qkv.head - 1, qkv.query.saturating_sub(1))
    });
    let answered = use_answer(lab, move || {
        let (memory, layer, head, query) = asked.get();
        is_of(lab, Models::Text)
            .then(|| Question::Head { text: store.probe.get(), memory, layer, head, query }.into())
    });
    let head = Memo::new(move |_| {
        let answer = answered.answer.get()?;
        match <&Answer>::try_from(&*answer) {
            Ok(Answer::Head(head)) => Some(Arc::new((**head).clone())),
            _ => None,
        }
    });
    Page { store, answered, head: head.into(), cell }
}

impl Page {
    /// For one part of the page, which follows training while `part` is in sight.
    fn seen_in(self, part: impl Into<Signal<bool>>) -> Self {
        Self { head: use_seen_in(use_lab(), self.answered.sight, part, self.head), ..self }
    }

    /// Works another cell out, counted from 0; that which is on show is closed.
    fn pick(self, (query, key): (usize, usize)) {
        let now = (query as u32 + 1, key as u32 + 1);
        self.store.link.update(|link: &mut Link| {
            let same = (link.qkv.query, link.qkv.key) == now;
            (link.qkv.query, link.qkv.key) = if same { (0, 0) } else { now };
        });
    }

    fn matrix(self, of: fn(&Head) -> Matrix) -> Signal<Matrix> {
        Signal::derive(move || {
            self.head.with(|head| head.as_ref().map_or(Matrix::default(), |head| of(head)))
        })
    }

    /// The cell on show, within what is there.
    fn place(self) -> Option<(usize, usize)> {
        let (query, key) = self.cell.get()?;
        self.head.with(|head| {
            let head = head.as_ref()?;
            let last = |tokens: &[String]| tokens.len().saturating_sub(1);
            Some((query.min(last(&head.tokens)), key.min(last(&head.memory_tokens))))
        })
    }
}

pub fn figure(page: Page) -> AnyView {
    let lab = use_lab();
    let page = page.seen_in(lab.sights.figure);
    let provenance = use_provenance(lab);
    let title = Signal::derive(move || {
        page.head.with(|head| {
            head.as_ref().map_or("Attention weights".to_owned(), |head| {
                let (layer, which) = (head.layer + 1, head.head + 1);
                format!("Attention weights of layer {layer}, head {which}")
            })
        })
    });
    let row = Signal::derive(move || page.place().map(|place| place.0));
    let column = Signal::derive(move || page.place().map(|place| place.1));
    let marked = Signal::derive(move || page.place().into_iter().collect::<Vec<_>>());
    let shown = Signal::derive(move || {
        page.cell.get()?;
        page.head.with(|head| head.as_ref().map(|head| Arc::new(head.row.clone())))
    });
    let shown: Memo<Option<Arc<AttentionRow>>> = Memo::new(move |_| shown.get());
    let key = Signal::derive(move || page.cell.get().map_or(0, |cell| cell.1));
    let queries =
        Signal::derive(move || page.head.with(|h| h.as_ref().map_or(0, |h| h.tokens.len())));
    let go = Callback::new(move |cell| page.pick(cell));
    let close = Callback::new(move |()| {
        page.store.link.update(|link| (link.qkv.query, link.qkv.key) = (0, 0));
    });
    view! {
        <MatrixFigure name="qkv-weights" title matrix=page.matrix(weights) provenance row column marked
            on_pick=go/>
        <p class="hint" data-testid="qkv-hint">{move || page.cell.get().is_none().then_some(
            "Click a cell, or press Enter on it, to work it out.")}</p>
        <CellInspector row=shown key go close provenance queries/>
    }
    .into_any()
}

pub fn controls(page: Page) -> AnyView {
    view! {
        <SliderField name="qkv-layer"/>
        <SliderField name="qkv-head"/>
        <ChoiceField name="qkv-memory"/>
        <p class="hint">{move || page.head.with(|head| match head.as_ref()?.memory {
            Memory::Own => None,
            Memory::Other => Some("The other text is the beginning of what it learns. This model was never trained \
                to look there, so expect no sense in it: only the arithmetic is the same."),
        })}</p>
        <Sentence label="Your sentence: its queries" problem=page.answered.problem/>
        <p class="hint">{move || page.head.with(|head| {
            let dropped = head.as_ref().map_or(0, |head| head.dropped);
            (dropped > 0).then(|| format!("The model reads 24 characters at a time: the first {dropped} are left out."))
        })}</p>
    }
    .into_any()
}

/// The three matrices the weights and outputs are made of.
pub fn further(page: Page) -> AnyView {
    let lab = use_lab();
    let page = page.seen_in(lab.sights.further);
    let provenance = use_provenance(lab);
    let row = Signal::derive(move || page.place().map(|place| place.0));
    let key = Signal::derive(move || page.place().map(|place| place.1));
    let pick_query = Callback::new(move |(row, _): (usize, usize)| {
        page.store.link.update(|link| {
            (link.qkv.query, link.qkv.key) = (row as u32 + 1, link.qkv.key.max(1));
        });
    });
    let pick_key = Callback::new(move |(row, _): (usize, usize)| {
        page.store.link.update(|link| {
            (link.qkv.query, link.qkv.key) = (link.qkv.query.max(1), row as u32 + 1);
        });
    });
    view! {
        <div class="panel qkv-three">
            <div class="qkv-query"><MatrixFigure name="qkv-queries" title="Q: a query for each token"
                matrix=page.matrix(|head| vectors(&head.queries, &head.tokens, "query")) provenance row on_pick=pick_query/></div>
            <div class="qkv-key"><MatrixFigure name="qkv-keys" title="K: a key for each token"
                matrix=page.matrix(|head| vectors(&head.keys, &head.memory_tokens, "key")) provenance row=key on_pick=pick_key/></div>
            <div class="qkv-value"><MatrixFigure name="qkv-values" title="V: a value for each token"
                matrix=page.matrix(|head| vectors(&head.values, &head.memory_tokens, "value")) provenance row=key on_pick=pick_key/></div>
        </div>
    }
    .into_any()
}

fn weights(head: &Head) -> Matrix {
    let cells = head.weights.values.iter().zip(&head.mask);
    Matrix {
        row_axis: "query".into(),
        column_axis: "key".into(),
        rows: head.tokens.clone(),
        columns: head.memory_tokens.clone(),
        values: cells.map(|(weight, open)| if *open { *weight } else { f32::NAN }).collect(),
        map: ValueMap::Probability,
        value_name: "attention weight".into(),
        absent: "blocked: it comes later".into(),
    }
}

fn vectors(array: &Array, tokens: &[String], what: &str) -> Matrix {
    let width = array.shape.last().copied().unwrap_or(0);
    let most = array.values.iter().fold(0f32, |most, value| most.max(value.abs()));
    Matrix {
        row_axis: "token".into(),
        column_axis: "dimension".into(),
        rows: tokens.to_vec(),
        columns: (1..=width).map(|at| at.to_string()).collect(),
        values: array.values.clone(),
        map: ValueMap::Signed { limit: most.ceil().max(1.0) },
        value_name: what.into(),
        absent: String::new(),
    }
}
