//! What the model expects after a token, and what it would expect if it ended after an earlier block.

use leptos::prelude::*;
use unroll_protocol::{
    gpt::{Lens, MOST_IN_LENS, ask},
    study::heads::HeadAt,
};

use super::{super::later, row_name};
use crate::{
    course::{use_part, use_provenance},
    figures::{Matrix, MatrixFigure, Selection, ValueMap, percent, select::Cell, token::mark},
    questions::{Questions, Reply},
    reactive::{effect, memo},
    store::Store,
};

/// So many tokens are read at once: all together would hold the engine up for seconds.
const AT_ONCE: usize = 8;

/// What is read: a sentence, by a model without these heads.
type About = (String, Vec<HeadAt>);

/// What has been read so far, `[blocks + 1, tokens]`: a column for each token, in any order.
#[derive(Debug, PartialEq)]
struct Columns {
    about: About,
    tokens: Vec<String>,
    best: Vec<String>,
    /// NaN where nothing has been read yet.
    shares: Vec<f32>,
    finally: Vec<f32>,
}

impl Columns {
    fn new(about: About, part: &Lens) -> Self {
        let depths = part.shares.shape.first().map_or(0, |depths| *depths as usize);
        let cells = depths * part.tokens.len();
        let mut columns = Self {
            about,
            tokens: part.tokens.clone(),
            best: vec![String::new(); cells],
            shares: vec![f32::NAN; cells],
            finally: vec![f32::NAN; cells],
        };
        columns.put(part);
        columns
    }

    fn put(&mut self, part: &Lens) {
        let &[_, count] = part.shares.shape.as_slice() else { return };
        let (count, tokens, from) = (count as usize, self.tokens.len(), part.from as usize);
        for (at, best) in part.best.iter().enumerate() {
            let here = at / count * tokens + from + at % count;
            self.best[here].clone_from(best);
            self.shares[here] = part.shares.values[at];
            self.finally[here] = part.finally.values[at];
        }
    }

    fn depths(&self) -> usize {
        self.best.len() / self.tokens.len().max(1)
    }

    /// Of a token that the sentence doesn't have, nothing is missing.
    fn is_missing(&self, at: usize) -> bool {
        at < self.tokens.len() && self.shares.get(at).is_some_and(|share| share.is_nan())
    }

    /// The tokens to read next, by the first and their number: the one that is looked at before all others.
    fn next(&self, looked_at: Option<usize>) -> Option<[u32; 2]> {
        if let Some(at) = looked_at.filter(|at| self.is_missing(*at)) {
            return Some([at as u32, 1]);
        }
        let all = self.tokens.len();
        let from = (0..all).find(|at| self.is_missing(*at))?;
        let some = (from..all).take(AT_ONCE);
        Some([from as u32, some.take_while(|at| self.is_missing(*at)).count() as u32])
    }

    /// The share of the token that is likeliest in the end, after each block.
    fn matrix(&self) -> Matrix {
        Matrix {
            row_axis: "after".into(),
            column_axis: "token".into(),
            rows: (0..self.depths()).map(row_name).collect(),
            columns: self.tokens.clone(),
            values: self.finally.clone(),
            map: ValueMap::Probability,
            value_name: "probability of the final guess".into(),
            absent: NOT_YET.into(),
        }
    }

    fn describe(&self, depth: usize, at: usize) -> String {
        let (depths, tokens) = (self.depths(), self.tokens.len());
        if depth >= depths || at >= tokens {
            return String::new();
        }
        if self.is_missing(at) {
            return format!("At ‘{}’: {NOT_YET}.", mark(&self.tokens[at]));
        }
        let (here, last) = (depth * tokens + at, (depths - 1) * tokens + at);
        let after = if depth == 0 {
            "Before the first block".to_owned()
        } else {
            format!("After block {depth}")
        };
        let best = format!(
            "{after}, at ‘{}’: the best guess would be ‘{}’ ({})",
            mark(&self.tokens[at]),
            mark(&self.best[here]),
            percent(self.shares[here], 1)
        );
        if depth + 1 == depths {
            return format!("{best}. This is the model’s own best guess.");
        }
        if self.best[here] == self.best[last] {
            return format!("{best}, as in the end.");
        }
        format!(
            "{best}. ‘{}’, the final guess, gets {}.",
            mark(&self.best[last]),
            percent(self.finally[here], 1)
        )
    }
}

const NOT_YET: &str = "not read yet";

/// Reads a sentence part by part, each after the one before. `Copy`: handles of the view's owner.
#[derive(Clone, Copy)]
struct Reading {
    store: Store,
    /// The token that is looked at, among those that are read.
    column: Memo<Option<usize>>,
    columns: RwSignal<Option<Columns>>,
    problem: RwSignal<Option<(About, String)>>,
    /// The question that is not answered yet.
    asked: RwSignal<Option<u32>>,
}

impl Reading {
    fn about(self) -> About {
        (self.store.probe.get(), Questions::from(self.store).off.get())
    }

    /// What to ask now, if anything is missing.
    fn due(self) -> Option<ask::Lens> {
        let is_heard = Questions::from(self.store).alive.get() && self.store.watched.get();
        let about = self.about();
        let is_refused = self.problem.with(|p| p.as_ref().is_some_and(|(of, _)| *of == about));
        if !is_heard || is_refused {
            return None;
        }
        let looked_at = self.column.get_untracked();
        let [from, count] = self.columns.with(|columns| match columns {
            Some(columns) if columns.about == about => columns.next(looked_at),
            // A token that the sentence doesn't have is its last.
            _ => Some([looked_at.map_or(u32::MAX, |at| at as u32), 1]),
        })?;
        Some(ask::Lens { text: about.0, from, count })
    }

    /// Asks for the next part, one at a time.
    fn go_on(self) {
        if self.asked.with_untracked(Option::is_some) {
            return;
        }
        let (due, about) = untrack(|| (self.due(), self.about()));
        let Some(question) = due else { return };
        let take = move |reply: Reply<Lens>| {
            self.asked.set(None);
            let is_about = untrack(|| self.about()) == about;
            match reply {
                // What is on show stays until something of the new sentence is there.
                Some(Ok((_, part))) if is_about => self.columns.update(|columns| match columns {
                    Some(columns) if columns.about == about => columns.put(&part),
                    _ => *columns = Some(Columns::new(about.clone(), &part)),
                }),
                Some(Err(reason)) if is_about => self.problem.set(Some((about.clone(), reason))),
                // The sentence is another by now, or the engine is gone.
                _ => {}
            }
            self.go_on();
        };
        self.asked.set(Some(Questions::from(self.store).ask_once(question, take)));
    }

    /// Reads whatever sentence there is.
    fn start(self) {
        let behind = memo(move || self.due().is_some());
        effect(move || {
            if behind.get() {
                self.go_on();
            }
        });
        let questions = Questions::from(self.store);
        questions.count_behind(behind.into());
        on_cleanup(move || {
            if let Some(id) = self.asked.get_untracked() {
                questions.forget(id);
            }
        });
    }
}

/// The sentence, what comes after the chosen token, and the lens beside it.
#[component]
pub fn Next(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    // The lens shows fewer tokens of a long text than the sentence has.
    let shift =
        memo(move || store.trace.read(|trace| trace.tokens.len().saturating_sub(MOST_IN_LENS)));
    let column = memo(move || selection.focus()?.query.checked_sub(shift.get()?));
    let reading = Reading {
        store,
        column,
        columns: RwSignal::new(None),
        problem: RwSignal::new(None),
        asked: RwSignal::new(None),
    };
    reading.start();
    let columns = reading.columns;
    let shown = memo(move || columns.with(|columns| columns.as_ref().map(Columns::matrix)));
    let pick = Callback::new(move |(_, at): (usize, usize)| {
        let Some(shift) = shift.get_untracked() else { return };
        selection.pin(Cell { query: at + shift, key: None });
    });
    let describe = Callback::new(move |(depth, at, _): (usize, usize, f32)| {
        columns.with(|columns| columns.as_ref().map(|c| c.describe(depth, at)).unwrap_or_default())
    });
    let guesses = move || {
        let at = column.get()?;
        columns.with(|columns| {
            let columns = columns.as_ref()?;
            let tokens = columns.tokens.len();
            // The sentence may be longer by now.
            if at >= tokens || columns.is_missing(at) {
                return None;
            }
            let line = |depth: usize| {
                let here = depth * tokens + at;
                view! {
                    <tr>
                        <td>{row_name(depth)}</td>
                        <td class="batch-next">{mark(&columns.best[here])}</td>
                        <td class="number">{percent(columns.shares[here], 1)}</td>
                    </tr>
                }
            };
            Some((0..columns.depths()).map(line).collect_view())
        })
    };
    let problem = move || {
        let about = reading.about();
        reading.problem.get().filter(|(of, _)| *of == about).map(|(_, reason)| reason)
    };
    // The sentence and the bars are those of the lab.
    view! {
        <div class="view-fill opened-next" node_ref=part>
            {later()}
            <div class="opened-lens">
                <MatrixFigure name="lens" title="How probable the final guess is after each block"
                    matrix=Signal::derive(move || shown.get().unwrap_or_default())
                    provenance=use_provenance() describe column on_pick=pick/>
                <div class="view-scroll batch-examples" tabindex="0" role="region"
                    aria-label="The best guess after each block">
                    <table translate="no" data-testid="lens-guesses">
                        <thead>
                            <tr>
                                <th scope="col">"after"</th>
                                <th scope="col">"best guess"</th>
                                <th scope="col">"p"</th>
                            </tr>
                        </thead>
                        <tbody>{guesses}</tbody>
                    </table>
                </div>
                <p class="view-note" role="status">{problem}</p>
            </div>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    fn part(from: u32, best: &[&str], shares: &[f32], finally: &[f32]) -> Lens {
        let array = |values: &[f32]| Array {
            shape: vec![2, values.len() as u32 / 2],
            values: values.to_vec(),
        };
        Lens {
            tokens: ["a", " b", "c"].map(str::to_owned).to_vec(),
            dropped: 0,
            from,
            best: best.iter().map(|&best| best.to_owned()).collect(),
            shares: array(shares),
            finally: array(finally),
        }
    }

    #[test]
    fn columns_come_in_any_order() {
        let about: About = ("a bc".into(), Vec::new());
        let mut columns = Columns::new(about, &part(2, &["v", "u"], &[0.5, 0.25], &[0.1, 0.25]));
        assert_eq!((columns.depths(), columns.tokens.len()), (2, 3));
        assert_eq!(columns.matrix().value(1, 2), 0.25);
        assert!(columns.matrix().has_absent() && columns.matrix().value(1, 0).is_nan());
        assert_eq!(columns.describe(1, 0), "At ‘a’: not read yet.");
        // The one that is looked at comes first, if it is missing.
        assert_eq!(columns.next(Some(1)), Some([1, 1]));
        assert_eq!([None, Some(2), Some(9)].map(|at| columns.next(at)), [Some([0, 2]); 3]);
        let others =
            part(0, &["x", "y", "z", "w"], &[0.5, 0.25, 0.75, 0.125], &[0.1, 0.2, 0.75, 0.125]);
        columns.put(&others);
        assert_eq!(columns.best.concat(), "xyvzwu");
        assert_eq!(columns.matrix().values, [0.1, 0.2, 0.1, 0.75, 0.125, 0.25]);
        assert_eq!((columns.next(None), columns.next(Some(0))), (None, None));
        assert!(!columns.matrix().has_absent());
        assert_eq!(
            columns.describe(0, 1),
            "Before the first block, at ‘␣b’: the best guess would be ‘y’ (25.0%). ‘w’, the final guess, gets 20.0%."
        );
        assert_eq!(
            columns.describe(1, 0),
            "After block 1, at ‘a’: the best guess would be ‘z’ (75.0%). This is the model’s own best guess."
        );
        assert_eq!(columns.describe(2, 0), "");
        assert_eq!(columns.matrix().rows, ["embedding", "block 1"]);
    }

    #[test]
    fn few_tokens_are_read_at_once() {
        let tokens: Vec<String> = (0..20).map(|at| at.to_string()).collect();
        let array = Array { shape: vec![1, 1], values: vec![0.5] };
        let (shares, finally, best) = (array.clone(), array, vec!["x".to_owned()]);
        let first = Lens { tokens, dropped: 0, from: 5, best, shares, finally };
        let mut columns = Columns::new(About::default(), &first);
        let mut asked = Vec::new();
        while let Some([from, count]) = columns.next(Some(5)) {
            asked.push([from, count]);
            let values = vec![0.5; count as usize];
            let array = Array { shape: vec![1, count], values };
            let best = vec!["x".to_owned(); count as usize];
            let (shares, finally) = (array.clone(), array);
            columns.put(&Lens { from, best, shares, finally, ..first.clone() });
        }
        assert_eq!(asked, [[0, 5], [6, 8], [14, 6]]);
    }
}
