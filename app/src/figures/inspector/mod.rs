//! The cell inspector: one cell of an attention matrix, worked out number by number.

mod export;
mod steps;
mod tables;

use std::sync::Arc;

use leptos::{context::Provider, ev, html, prelude::*};
use unroll_protocol::attention::{AttentionRow, Scoring, Term, Worked, WorkedKey};
use wasm_bindgen::JsCast;

use super::{
    download::{Choice, ExportMenu, File, LocalFile},
    export::Provenance,
    percent,
    reading::is_shortcut,
    theme::use_colors,
    token,
};
use crate::{
    fetched::{Fetch, Fetched, View, part, use_ahead},
    reactive::{effect, memo},
};

/// What the parts of a cell are called where it is on show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// Queries, keys and values, of one head among many.
    #[default]
    Heads,
    /// States of a decoder and an encoder, as before those words: one attention, without mask or scale.
    States,
}

impl Naming {
    /// The classes of what is mixed, and of the mixture. Of states, those are mixed that were scored.
    fn mixing(self) -> [&'static str; 2] {
        match self {
            Self::Heads => ["role-value", "role-hidden"],
            Self::States => ["role-key", "role-value"],
        }
    }

    /// The steps in a word each, in order.
    fn steps(self) -> &'static [&'static str] {
        match self {
            Self::Heads => &["Multiply", "Scale", "Softmax", "Output"],
            Self::States => &["Score", "Softmax", "Context"],
        }
    }
}

/// A cell with its arithmetic.
#[derive(Clone, PartialEq)]
struct Shown {
    row: Arc<AttentionRow>,
    /// The row as it is read: what is worked out begins with the numbers on show.
    read: Arc<AttentionRow>,
    key: usize,
    paper: Arc<Worked>,
    naming: Naming,
}

impl Shown {
    fn new(row: Arc<AttentionRow>, key: usize, naming: Naming) -> Option<Self> {
        let key = key.min(row.tokens.len().checked_sub(1)?);
        let read = as_read(&row);
        let mut paper = Worked::on_paper(&read);
        add_up(paper.keys.iter_mut().map(|key| &mut key.exponent));
        Some(Self { row, read: Arc::new(read), key, paper: Arc::new(paper), naming })
    }

    fn of_states(&self) -> bool {
        self.naming == Naming::States
    }

    fn worked(&self) -> WorkedKey {
        self.paper.keys.get(self.key).copied().unwrap_or_default()
    }

    fn terms(&self) -> Vec<Term> {
        let mut terms = self.read.terms(self.key);
        add_up(terms.iter_mut().map(|term| &mut term.product));
        terms
    }

    /// What the cell adds to a dimension of the output: the value, and that times the weight.
    fn share(&self, dimension: usize) -> (f64, f64) {
        self.paper.share(&self.read, self.key, dimension)
    }

    fn query_name(&self) -> String {
        token::label_at(&self.row.query_token, self.row.query as usize)
    }

    fn key_name(&self, key: usize) -> String {
        token::label_at(self.row.tokens.get(key).map_or("", String::as_str), key)
    }

    /// The largest distance between the model's own numbers and those on paper: of the cell's
    /// weight, and of the row's output.
    fn apart(&self) -> (f64, f64) {
        let own = |values: &[f32], at: usize| values.get(at).map_or(0.0, |v| f64::from(*v));
        let weight = (own(&self.row.weights, self.key) - self.worked().weight).abs();
        let output = self.paper.output.iter().enumerate();
        let output = output.map(|(at, value)| (own(&self.row.mixed, at) - value).abs());
        (weight, output.fold(0.0, f64::max))
    }
}

/// Decimals on show: so many are enough to check the arithmetic.
const DECIMALS: usize = 4;

/// The number as it is shown.
fn as_shown(value: f64) -> f64 {
    let units = 10f64.powi(DECIMALS as i32);
    // Adding 0.0 removes a negative zero.
    (value * units).round() / units + 0.0
}

/// The row with its vectors as they are shown, so that who multiplies what is shown gets what is shown.
fn as_read(row: &AttentionRow) -> AttentionRow {
    let mut row = row.clone();
    let shorten = |values: &mut [f32]| {
        values.iter_mut().for_each(|value| *value = as_shown(f64::from(*value)) as f32);
    };
    match &mut row.scoring {
        Scoring::Product { query, keys, .. } => {
            shorten(query);
            shorten(&mut keys.values);
        }
        Scoring::Additive { from_query, from_keys, vector } => {
            shorten(from_query);
            shorten(&mut from_keys.values);
            shorten(vector);
        }
    }
    shorten(&mut row.bias);
    shorten(&mut row.values.values);
    row
}

/// Rounds the parts of a sum to what is shown, up or down, so that they add up to what is shown of it.
fn add_up<'a>(parts: impl Iterator<Item = &'a mut f64>) {
    let (mut sum, mut shown) = (0.0, 0.0);
    for part in parts {
        sum += *part;
        *part = as_shown(as_shown(sum) - shown);
        shown += *part;
    }
}

/// The number with [`DECIMALS`] decimals and a true minus sign.
fn fixed(value: f64) -> String {
    if value == f64::NEG_INFINITY {
        return "−∞".into();
    }
    let value = as_shown(value);
    let text = format!("{:.*}", DECIMALS, value.abs());
    if value < 0.0 { format!("−{text}") } else { text }
}

/// The same, a negative number in brackets.
fn bracketed(value: f64) -> String {
    let text = fixed(value);
    if text.starts_with('−') { format!("({text})") } else { text }
}

/// One cell of an attention matrix with its whole arithmetic: query and key, their score term by
/// term, scale, mask, exponent, the row's sum, the weight, times the value, and the row's output.
/// It is worked out as on paper, from rounded vectors on, so that every number on show follows from those
/// before it, to the last digit or the one next to it; how far the model's own numbers are from it is said
/// at the end.
///
/// Nothing while `row` is `None`. Takes the keyboard when it opens by a learner's doing, and gives
/// it back when it closes: arrow keys go to neighbors (left and right a key, up and down a query),
/// Escape closes.
#[component]
pub fn CellInspector(
    #[prop(into)] row: Signal<Option<Arc<AttentionRow>>>,
    /// The key on show, counted from 0; beyond the row it is the last.
    #[prop(into)]
    key: Signal<usize>,
    /// Another cell is wanted: query and key, counted from 0.
    go: Callback<(usize, usize)>,
    close: Callback<()>,
    #[prop(into)] provenance: Signal<Provenance>,
    /// How many queries there are; 0 where there are as many as keys.
    #[prop(into, optional)]
    queries: Signal<usize>,
    #[prop(optional)] naming: Naming,
    /// Whether a cell is chosen whose row is still on its way.
    #[prop(into, optional)]
    expected: Signal<bool>,
) -> impl IntoView {
    use_ahead(ARITHMETIC);
    let (is_wanted, is_here) = (RwSignal::new(false), RwSignal::new(false));
    let is_chosen = memo(move || expected.get() || row.with(Option::is_some));
    effect(move || {
        if is_chosen.get() && !is_wanted.get_untracked() {
            is_wanted.set(true);
        }
    });
    let waits = memo(move || is_chosen.get() && !(is_here.get() && row.with(Option::is_some)));
    view! {
        <Provider value=Open { row, key, go, close, provenance, queries, naming, is_here }>
            {move || waits.get().then(|| waiting(naming))}
            <Show when=move || is_wanted.get()>
                <Fetched fetch=ARITHMETIC what="The arithmetic of a cell" style=Some("inspector")
                    around=move |notice| view! {
                        <div hidden=move || row.with(Option::is_none)>{notice}</div>
                    }.into_any()/>
            </Show>
        </Provider>
    }
}

/// What [`arithmetic`] is given.
#[derive(Clone, Copy)]
struct Open {
    row: Signal<Option<Arc<AttentionRow>>>,
    key: Signal<usize>,
    go: Callback<(usize, usize)>,
    close: Callback<()>,
    provenance: Signal<Provenance>,
    queries: Signal<usize>,
    naming: Naming,
    /// Set once it is there.
    is_here: RwSignal<bool>,
}

/// The panel before its numbers: the steps that the story names are in sight from the start.
fn waiting(naming: Naming) -> AnyView {
    let step = |(at, name): (usize, &&'static str)| {
        view! { <button type="button" class="button" disabled=true>{at + 1}" "<span>{*name}</span></button> }
    };
    view! {
        <section class="inspector" aria-label="One cell, worked out" data-testid="inspector-waits">
            <div class="inspector-head">
                <h3 class="hint">"One cell, worked out"</h3>
                <div class="inspector-links" role="group" aria-label="Steps">
                    {naming.steps().iter().enumerate().map(step).collect_view()}
                </div>
            </div>
        </section>
    }
    .into_any()
}

/// Not part of the page's own wasm: most visits work no cell out.
const ARITHMETIC: Fetch = part!(inspector: View = arithmetic);

fn arithmetic() -> AnyView {
    let Open { row, key, go, close, provenance, queries, naming, is_here } = expect_context();
    is_here.set(true);
    // Which of the steps the learner has gone to.
    let gone_to = RwSignal::new(None::<usize>);
    let shown = memo(move || Shown::new(row.get()?, key.get(), naming));
    let open = memo(move || shown.with(Option::is_some));
    let heading = NodeRef::<html::H3>::new();
    let came_from = StoredValue::new_local(None::<web_sys::HtmlElement>);
    effect(move || {
        let Some(heading) = heading.get() else { return };
        // Only who acts in the view asks for the cell: not a tab, a beat, or a link that opens with one.
        let asked =
            |active: &web_sys::Element| active.closest(".view").is_ok_and(|view| view.is_some());
        let active = document().active_element().filter(asked);
        if let Some(active) = active.and_then(|active| active.dyn_into().ok()) {
            came_from.set_value(Some(active));
            // An element that is no longer there cannot be focused; then nothing is.
            let _ = heading.focus();
        }
    });
    let shut = move || {
        // Closing may end this component, and all it keeps.
        let before = came_from.try_update_value(Option::take).flatten();
        close.run(());
        if let Some(before) = before {
            let _ = before.focus();
        }
    };
    let step = move |down: isize, right: isize| {
        let Some((query, keys)) = shown.with_untracked(|shown| {
            shown.as_ref().map(|shown| (shown.row.query as usize, shown.row.tokens.len()))
        }) else {
            return;
        };
        let count = match queries.get_untracked() {
            0 => keys,
            count => count,
        };
        let moved = |at: usize, by: isize, count: usize| {
            at.saturating_add_signed(by).min(count.saturating_sub(1))
        };
        let key = key.get_untracked().min(keys - 1);
        let wanted = (moved(query, down, count), moved(key, right, keys));
        if wanted != (query, key) {
            go.run(wanted);
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if is_shortcut(&event) {
            return;
        }
        match event.key().as_str() {
            "ArrowLeft" => step(0, -1),
            "ArrowRight" => step(0, 1),
            "ArrowUp" => step(-1, 0),
            "ArrowDown" => step(1, 0),
            "Escape" => shut(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let part = move |of: fn(&Shown) -> String| {
        move || shown.with(|shown| shown.as_ref().map_or(String::new(), of))
    };
    let button = move |id: &'static str, label: &'static str, sign, down, right| {
        view! {
            <button type="button" class="button" aria-label=label title=label
                data-testid=format!("inspector-{id}") on:click=move |_| step(down, right)>
                {sign}
            </button>
        }
        .into_any()
    };
    // For eyes: each button has its name.
    let word = move |role: &'static str, word: &'static str| {
        let class = format!("inspector-word {role}");
        (naming == Naming::Heads)
            .then(|| view! { <span class=class aria-hidden="true">{word}</span> })
    };
    let [key_before, key_after, query_before, query_after] = match naming {
        Naming::Heads => ["Key before", "Next key", "Query before", "Next query"],
        Naming::States => [
            "Source character before",
            "Next source character",
            "Written character before",
            "Next written character",
        ],
    };
    view! {
        <Show when=move || open.get()>
            <section class="inspector" class:inspector-states={naming == Naming::States} aria-label="One cell, worked out" data-testid="cell-inspector"
                data-query=part(|shown| shown.row.query.to_string())
                data-key=part(|shown| shown.key.to_string())
                on:keydown=on_key>
                <div class="inspector-head">
                    <h3 tabindex="-1" node_ref=heading data-testid="inspector-title">
                        <b class="role-query">{part(Shown::query_name)}</b>" looks at "
                        <b class="role-key">{part(|shown| shown.key_name(shown.key))}</b>": "
                        {part(|shown| percent(shown.worked().weight, 1))}
                        {(naming == Naming::Heads).then(|| view! {
                            <span class="hint">{part(|shown| {
                                format!(" layer {}, head {}", shown.row.layer + 1, shown.row.head + 1)
                            })}</span>
                        })}
                    </h3>
                    {steps::links(naming, gone_to)}
                    <div class="inspector-buttons" role="group" aria-label="Another cell">
                        {word("role-key", "key")}
                        {button("key-before", key_before, "←", 0, -1)}
                        {button("key-after", key_after, "→", 0, 1)}
                        {word("role-query", "query")}
                        {button("query-before", query_before, "↑", -1, 0)}
                        {button("query-after", query_after, "↓", 1, 0)}
                    </div>
                    <button type="button" class="button button-quiet inspector-close" data-testid="inspector-close"
                        on:click=move |_| shut()>"Close"</button>
                </div>
                <Announced shown/>
                {steps::steps(shown, naming, gone_to, use_colors(), go)}
                <div class="figure-foot">
                    <ExportMenu figure="inspector" choices=choices(shown, provenance)/>
                </div>
            </section>
        </Show>
    }
    .into_any()
}

/// What is said for ears, and of which numbers.
#[derive(Clone, PartialEq)]
struct Said {
    cell: (u32, usize),
    text: String,
    /// Nothing once these numbers are no longer on show.
    now: bool,
}

/// For ears: said when another cell is chosen, not at every step of training. The next step empties it, so that it
/// never tells of another step than the one on show.
#[component]
fn Announced(shown: Memo<Option<Shown>>) -> impl IntoView {
    let said = Memo::new(move |before: Option<&Option<Said>>| {
        shown.with(|shown| {
            let shown = shown.as_ref()?;
            let (query, key) = (shown.query_name(), shown.key_name(shown.key));
            let worked = shown.worked();
            let text = if worked.allowed {
                format!("{query} looks at {key}: {}", percent(worked.weight, 1))
            } else {
                format!("{query} may not look at {key}")
            };
            let cell = (shown.row.query, shown.key);
            let before = before.and_then(Option::as_ref).filter(|before| before.cell == cell);
            let now = before.is_none_or(|before| before.now && before.text == text);
            Some(Said { cell, text, now })
        })
    });
    let sentence = move || {
        said.with(|said| said.as_ref().filter(|said| said.now).map(|said| said.text.clone()))
    };
    view! { <p class="visually-hidden" role="status" data-testid="inspector-said">{sentence}</p> }
        .into_any()
}

fn choices(shown: Memo<Option<Shown>>, provenance: Signal<Provenance>) -> Vec<Choice> {
    let choice = |id, label, make: fn(&Shown, &Provenance) -> File| Choice {
        id,
        label,
        make: Callback::new(move |_| {
            let shown = shown.get_untracked()?;
            let provenance = provenance.get_untracked();
            let file = make(&shown, &provenance);
            let AttentionRow { layer, head, query, .. } = *shown.row;
            let (l, h, q, k) = (layer + 1, head + 1, query + 1, shown.key + 1);
            let name = format!("cell-layer{l}-head{h}-query{q}-key{k}");
            Some((provenance.file_name(&name), LocalFile::new(file)))
        }),
    };
    vec![
        choice("json", "JSON", |shown, provenance| File::Json(export::json(shown, provenance))),
        choice("csv", "CSV", |shown, provenance| File::Csv(export::csv(shown, provenance))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_parts_add_up() {
        let mut parts = [0.000_04, 1.0, 0.0, 0.000_04, -0.333_35, 0.000_04];
        let sum: f64 = parts.iter().sum();
        add_up(parts.iter_mut());
        assert_eq!(as_shown(parts.iter().sum()), as_shown(sum));
        // What is short already stays as it is.
        assert_eq!(parts, [0.0, 1.0, 0.0, 0.000_1, -0.333_4, 0.000_1]);
        assert_eq!(
            [fixed(-0.000_04), fixed(-2.0), bracketed(-0.5)],
            ["0.0000", "−2.0000", "(−0.5000)"]
        );
    }
}
