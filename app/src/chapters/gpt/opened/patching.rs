//! One text's stream in place of another's, token by token and block by block.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::gpt::{Patched, ask};

use super::row_name;
use crate::{
    course::use_provenance,
    figures::{Matrix, MatrixFigure, ValueMap, percent, token::mark},
    questions::{Questions, Reply},
    reactive::memo,
    store::Store,
};

/// Sentences whose names are of one token each in GPT-2's vocabulary, so that all tokens have partners (after
/// Wang et al. 2022).
const TEXTS: [&str; 2] = [
    "When Mary and John went to the store, John gave a drink to",
    "When Mary and John went to the store, Mary gave a drink to",
];

/// What came so far: what the model says for each number of blocks.
type Rows = Vec<Arc<Patched>>;

/// `Copy`: handles of the view's owner.
#[derive(Clone, Copy)]
struct Play {
    store: Store,
    texts: [RwSignal<String>; 2],
    rows: RwSignal<Rows>,
    problem: RwSignal<String>,
    /// The question that is not answered yet.
    asked: RwSignal<Option<u32>>,
}

impl Play {
    fn start(self) {
        self.stop();
        self.rows.set(Vec::new());
        self.problem.set(String::new());
        self.ask(self.texts.map(|text| text.get_untracked()), 0);
    }

    /// Asks what the stream does after so many blocks, then after one more.
    fn ask(self, texts: [String; 2], depth: u32) {
        let [from, into] = texts.clone();
        let take = move |reply: Reply<Patched>| {
            self.asked.try_set(None);
            match reply {
                Some(Ok((_, patched))) => {
                    self.rows.try_update(|rows| rows.push(Arc::new(patched)));
                    if depth < self.blocks() {
                        self.ask(texts.clone(), depth + 1);
                    }
                }
                Some(Err(reason)) => {
                    self.problem.try_set(reason);
                }
                // The engine is gone.
                None => {}
            }
        };
        let question = ask::Patch { from, into, depth };
        self.asked.set(Some(Questions::from(self.store).ask_once(question, take)));
    }

    fn blocks(self) -> u32 {
        self.store.started.with_untracked(|s| s.as_ref().map_or(0, |s| s.spec.gpt.layers))
    }

    fn stop(self) {
        if let Some(id) = self.asked.try_update(Option::take).flatten() {
            Questions::from(self.store).forget(id);
        }
    }
}

/// The token of both texts at one place: once where they agree.
fn column([from, into]: [&String; 2]) -> String {
    if from == into { into.clone() } else { format!("{}→{}", mark(into), mark(from)) }
}

fn matrix(rows: &Rows) -> Matrix {
    let Some(first) = rows.first() else { return Matrix::default() };
    let [from, into] = &first.tokens;
    Matrix {
        row_axis: "after".into(),
        column_axis: "patched token".into(),
        rows: (0..rows.len()).map(row_name).collect(),
        columns: from.iter().zip(into).map(|(from, into)| column([from, into])).collect(),
        values: rows.iter().flat_map(|row| row.patched.iter().copied()).collect(),
        map: ValueMap::Probability,
        value_name: format!("probability of ‘{}’", mark(&first.best[0])),
        absent: String::new(),
    }
}

/// Where the stream is patched, in a sentence.
fn place_of(depth: usize) -> String {
    if depth == 0 { "before the first block".to_owned() } else { format!("after block {depth}") }
}

/// What the model says of both texts as they are.
fn summary(row: &Patched) -> String {
    let [from, into] = row.best.each_ref().map(|token| mark(token));
    let [before, after] = row.shares.map(|share| percent(share, 1));
    if from == into {
        return format!(
            "After both sentences, the model’s best guess is ‘{from}’ ({before} and {after}). So there is nothing to \
             bring back: try two other sentences."
        );
    }
    format!(
        "After the first sentence, the model’s best guess is ‘{from}’ ({before}). After the second, it is ‘{into}’, and \
         ‘{from}’ gets {after}. A strong color means that a swap brings ‘{from}’ back."
    )
}

#[component]
pub fn Patching() -> impl IntoView {
    let store = expect_context::<Store>();
    let play = Play {
        store,
        texts: TEXTS.map(|text| RwSignal::new(text.to_owned())),
        rows: RwSignal::new(Vec::new()),
        problem: RwSignal::new(String::new()),
        asked: RwSignal::new(None),
    };
    on_cleanup(move || play.stop());
    let field = |at: usize, label: &'static str| {
        let text = play.texts[at];
        let id = format!("patch-{at}");
        view! {
            <label for=id.clone()>{label}</label>
            <input type="text" id=id.clone() data-testid=id spellcheck="false" autocomplete="off"
                prop:value=text on:input=move |event| text.set(event_target_value(&event))
                on:keydown=move |event| if event.key() == "Enter" && !event.is_composing() { play.start() }/>
        }
    };
    let running = move || play.asked.with(Option::is_some);
    let shown = memo(move || play.rows.with(matrix));
    let title = Signal::derive(move || {
        let best = play.rows.with(|rows| rows.first().map(|row| mark(&row.best[0])));
        match best {
            Some(best) => format!(
                "What brings ‘{best}’ back: one token’s stream, taken from the first sentence"
            ),
            None => "One token’s stream, taken from the first sentence".to_owned(),
        }
    });
    let describe = Callback::new(move |(depth, at, share): (usize, usize, f32)| {
        let shown = shown.get();
        let token = shown.columns.get(at).map_or_else(String::new, |token| mark(token));
        format!("‘{token}’ patched {}: {} {}", place_of(depth), shown.value_name, percent(share, 1))
    });
    let said = move || {
        let said = play.rows.with(|rows| rows.first().map(|row| summary(row)));
        let problem = play.problem.get();
        if problem.is_empty() { said.unwrap_or_default() } else { problem }
    };
    let going = move || {
        let done = play.rows.with(Vec::len);
        running().then(|| format!("{done} of {} rows …", play.blocks() + 1))
    };
    view! {
        <div class="view-fill">
            <div class="opened-texts">
                {field(0, "First sentence (take from)")}
                {field(1, "Second sentence (put into)")}
                <div class="view-bar">
                    <button type="button" class="button button-primary" data-testid="patch-start"
                        on:click=move |_| if running() { play.stop() } else { play.start() }>
                        {move || if running() { "Stop" } else { "Patch each token" }}
                    </button>
                    <span class="hint" data-testid="patch-progress">{going}</span>
                </div>
            </div>
            <MatrixFigure name="patching" title matrix=shown provenance=use_provenance() describe/>
            <p class="view-note" role="status" data-testid="patch-note">{said}</p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(patched: &[f32]) -> Arc<Patched> {
        let texts = [["a", " John"], ["a", " Mary"]];
        Arc::new(Patched {
            tokens: texts.map(|tokens| tokens.map(str::to_owned).to_vec()),
            best: [" x", "y"].map(str::to_owned),
            shares: [0.5, 0.125],
            patched: patched.to_vec(),
        })
    }

    #[test]
    fn rows_come_one_after_the_other() {
        assert_eq!(matrix(&Vec::new()), Matrix::default());
        let found = matrix(&vec![row(&[0.1, 0.2]), row(&[0.3, 0.4])]);
        assert_eq!((found.shape(), found.columns.concat()), ((2, 2), "a␣Mary→␣John".to_owned()));
        assert_eq!((found.value(1, 0), found.value_name.as_str()), (0.3, "probability of ‘␣x’"));
        assert_eq!(
            summary(&row(&[])),
            "After the first sentence, the model’s best guess is ‘␣x’ (50.0%). After the second, it is ‘y’, and ‘␣x’ \
             gets 12.5%. A strong color means that a swap brings ‘␣x’ back."
        );
        let mut same = (*row(&[])).clone();
        same.best[1] = " x".into();
        assert!(summary(&same).contains("nothing to bring back"), "{}", summary(&same));
    }
}
