//! One head on the learner's sentence, one of its cells worked out, and what its weights are made of.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Array, AttentionRow, Link,
    attention::Worked,
    study::qkv::{Head, Memory, Models, ask},
};

use super::is_of;
use crate::{
    controls::{ChoiceField, FlagField, SliderField},
    course::{Sentence, use_lab, use_provenance, use_setting},
    figures::{CellInspector, Hue, Matrix, MatrixFigure, ValueMap, decimals, largest, percent},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
};

/// What the parts of a view of the head share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    answered: Answered<Head>,
    head: Signal<Option<Arc<Head>>>,
    /// Query and key, from 0.
    cell: Memo<Option<(usize, usize)>>,
}

fn use_page() -> Page {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let asked = memo(move || {
        let qkv = store.link.with(|link| link.qkv.clone());
        (qkv.memory, qkv.causal, qkv.layer - 1, qkv.head - 1, qkv.query.saturating_sub(1))
    });
    let answered = use_answer(lab, move || {
        let (memory, causal, layer, head, query) = asked.get();
        is_of(lab, Models::Text).then(|| ask::Head {
            text: store.probe.get(),
            memory,
            causal,
            layer,
            head,
            query,
        })
    });
    let head = answered.answer;
    let cell = Memo::new(move |before: Option<&Option<(usize, usize)>>| {
        let (query, key) = store.link.with(|link| (link.qkv.query, link.qkv.key));
        let query = query.checked_sub(1)? as usize;
        match key.checked_sub(1) {
            Some(key) => Some((query, key as usize)),
            None => {
                let before = before.copied().flatten().filter(|before| before.0 == query);
                let key =
                    head.with(|head| telling(head.as_ref()?, query, before.map(|at| at.1)))?;
                Some((query, key))
            }
        }
    });
    Page { store, answered, head, cell }
}

impl Page {
    /// Works another cell out, counted from 0; that which is on show is closed.
    fn pick(self, (query, key): (usize, usize)) {
        let same = self.cell.get_untracked() == Some((query, key));
        let now = if same { (0, 0) } else { (query as u32 + 1, key as u32 + 1) };
        self.store.link.update(|link: &mut Link| (link.qkv.query, link.qkv.key) = now);
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

/// The key that tells most of a query, which may lie beyond the last: another letter with a large share, but not
/// the row's largest, which softmax turns into e⁰. In training the one from `before` stays while its share is near
/// that.
fn telling(head: &Head, query: usize, before: Option<usize>) -> Option<usize> {
    let last = head.tokens.len().checked_sub(1)?;
    let query = query.min(last);
    let row = head.weights.block(&[query])?;
    let is_itself = |key: usize| head.memory == Memory::Own && key == query;
    let order = largest(row, row.len());
    let most = order.first()?.0;
    let is_letter = |key: usize| {
        let token = head.memory_tokens.get(key);
        token.is_some_and(|token| token.chars().all(char::is_alphabetic))
    };
    let tells = |key: usize| is_letter(key) && !is_itself(key);
    let mut letters = order.iter().skip(1).filter(|(key, share)| *share > 0.0 && tells(*key));
    let Some(first) = letters.next() else { return Some(most) };
    let stays = letters.find(|(key, share)| before == Some(*key) && *share > 0.5 * first.1);
    Some(stays.unwrap_or(first).0)
}

/// The weights, and the cell that is worked out beside them.
pub fn worked() -> AnyView {
    let page = use_page();
    let provenance = use_provenance();
    let title = Signal::derive(move || {
        page.head.with(|head| {
            head.as_ref().map_or("Who looks at whom".to_owned(), |head| {
                let (layer, which) = (head.layer + 1, head.head + 1);
                format!("Who looks at whom in layer {layer}, head {which}")
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
    let shown: Memo<Option<Arc<AttentionRow>>> = memo(move || shown.get());
    let key = Signal::derive(move || page.cell.get().map_or(0, |cell| cell.1));
    let queries =
        Signal::derive(move || page.head.with(|h| h.as_ref().map_or(0, |h| h.tokens.len())));
    let go = Callback::new(move |cell| page.pick(cell));
    let close = Callback::new(move |()| {
        page.store.link.update(|link| (link.qkv.query, link.qkv.key) = (0, 0));
    });
    // As the sum beside it says it.
    let describe = Callback::new(move |(query, key, weight): (usize, usize, f32)| {
        page.head.with(|head| {
            let matrix = head.as_ref().map_or(Matrix::default(), |head| weights(head));
            let share = if weight.is_finite() { percent(weight, 1) } else { matrix.absent.clone() };
            format!("query {}, key {}: {share}", matrix.row_name(query), matrix.column_name(key))
        })
    });
    let is_chosen = memo(move || page.store.link.with(|link| link.qkv.query > 0));
    view! {
        {chosen(page)}
        <div class="view-side has-aside qkv-cell">
            <div>
                <MatrixFigure name="qkv-weights" title matrix=page.matrix(weights) provenance describe row column marked
                    row_hue=Hue::Query column_hue=Hue::Key on_pick=go square=true sole=true/>
            </div>
            <div class="qkv-worked">
                {move || shown.with(|row| row.as_deref().map(|row| in_short(row, key.get())))}
                {noted(page)}
                <p class="hint" data-testid="qkv-hint">{move || (!is_chosen.get()).then_some(
                    "Click a cell, or press Enter on it, to work it out.")}</p>
                <CellInspector row=shown key go close provenance queries expected=is_chosen/>
            </div>
        </div>
    }
    .into_any()
}

/// The way from score to share in one line; its every step stands below.
fn in_short(row: &AttentionRow, key: usize) -> AnyView {
    let paper = Worked::on_paper(row);
    let last = paper.keys.len().saturating_sub(1);
    let cell = paper.keys.get(key.min(last)).copied().unwrap_or_default();
    let two = |value: f64| decimals(value, 2);
    let way = if cell.allowed {
        view! {
            "Score "<b>{two(cell.sum)}</b>" → ÷ "{paper.divisor}" = "<b>{two(cell.scaled)}</b>
            " → share "<b>{percent(cell.weight, 1)}</b>
        }
        .into_any()
    } else {
        "The mask blocks this cell: its share is 0.".into_any()
    };
    view! { <p class="qkv-short" data-testid="qkv-short">{way}</p> }.into_any()
}

/// What is looked at: whose keys and values, which head, and the sentence.
fn chosen(page: Page) -> AnyView {
    let memory = use_setting(|link| &mut link.qkv.memory);
    view! {
        <div class="view-bar qkv-bar">
            <ChoiceField name="qkv-memory"/>
            <SliderField name="qkv-layer"/>
            <SliderField name="qkv-head"/>
            {move || (memory.get() == Memory::Own).then(|| view! { <FlagField name="qkv-causal"/> })}
        </div>
        <Sentence label="Your sentence: its queries" problem=page.answered.problem/>
        {move || page.head.with(|head| head.as_deref().and_then(other)).map(|text| view! {
            <p class="hint qkv-other" data-testid="qkv-other">{text}</p>
        })}
    }
    .into_any()
}

fn noted(page: Page) -> AnyView {
    view! {
        <p class="hint qkv-notes">{move || page.head.with(|head| head.as_deref().map(notes))}</p>
    }
    .into_any()
}

/// The text that keys and values come from, if it is not the sentence.
fn other(head: &Head) -> Option<String> {
    let text = head.memory_tokens.concat();
    (head.memory == Memory::Other).then(|| format!("Keys and values: “{text}”"))
}

/// What the learner should know of the two texts.
fn notes(head: &Head) -> String {
    let other = match head.memory {
        Memory::Own if head.causal => String::new(),
        Memory::Own => {
            "Each token may look at all tokens. The model was trained with a causal mask, so its weights on later \
             tokens may not make sense. The arithmetic is right anyway. "
                .to_owned()
        }
        Memory::Other => {
            "The other text is the start of the training text. But the model never learned to look across texts, so the \
             weights need not make sense. Only the arithmetic is the same. "
                .to_owned()
        }
    };
    match head.dropped {
        0 => other.trim_end().to_owned(),
        dropped => format!(
            "{other}The model reads 24 characters at a time, so the first {dropped} are left out."
        ),
    }
}

/// The three matrices the weights and outputs are made of.
pub fn vectors_view() -> AnyView {
    let page = use_page();
    let provenance = use_provenance();
    let row = Signal::derive(move || page.place().map(|place| place.0));
    let key = Signal::derive(move || page.place().map(|place| place.1));
    let pick_query = Callback::new(move |(row, _): (usize, usize)| {
        page.store.link.update(|link| {
            link.qkv.query = row as u32 + 1;
        });
    });
    let pick_key = Callback::new(move |(row, _): (usize, usize)| {
        page.store.link.update(|link| {
            (link.qkv.query, link.qkv.key) = (link.qkv.query.max(1), row as u32 + 1);
        });
    });
    view! {
        {chosen(page)}
        {noted(page)}
        <div class="qkv-three">
            <div class="qkv-query"><MatrixFigure name="qkv-queries" title="Q: a query for each token"
                matrix=page.matrix(|head| vectors(&head.queries, &head.tokens, "query")) provenance row row_hue=Hue::Query on_pick=pick_query/></div>
            <div class="qkv-key"><MatrixFigure name="qkv-keys" title="K: a key for each token"
                matrix=page.matrix(|head| vectors(&head.keys, &head.memory_tokens, "key")) provenance row=key row_hue=Hue::Key on_pick=pick_key/></div>
            <div class="qkv-value"><MatrixFigure name="qkv-values" title="V: a value for each token"
                matrix=page.matrix(|head| vectors(&head.values, &head.memory_tokens, "value")) provenance row=key row_hue=Hue::Value on_pick=pick_key/></div>
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
        value_name: "weight".into(),
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
