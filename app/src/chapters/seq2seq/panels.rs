//! What could come at each step, what is right by length, what the vector holds on the way, and
//! searching.

use leptos::prelude::*;
use serde_json::json;
use unroll_protocol::{
    PairTask,
    study::seq2seq::{self, Prefix, RIGHT, Reading, length_series},
    transduction::Search,
};

use super::{MOST_EXAMPLE, Page, Steps, source};
use crate::{
    controls::{SliderField, SourceBar},
    course::{Lab, use_lab},
    figures::{
        BarsFigure, Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, Reference, Second,
        Sheet, SheetExport, ValueMap, percent, search_figure, token, top_bars,
    },
    questions::{Questions, Reply},
    reactive::memo,
};

/// What was written, beside what is right.
#[component]
pub fn Outcome(page: Page) -> impl IntoView {
    let lab = use_lab();
    let Steps { count, shown, .. } = Steps::new(page);
    let outcome = memo(move || {
        let reading = page.reading.get()?;
        let all = shown.get() >= count.get();
        Some(said(&reading, (!all).then(|| shown.get())))
    });
    let share = memo(move || lab.history.with(|h| h.named(RIGHT).and_then(|s| s.last())));
    view! {
        <p class="view-note seq2seq-outcome" role="status">
            <strong data-testid="seq2seq-outcome">{outcome}</strong>
            " "
            <span title="To the last character, on held-out sources no longer than those trained on">
                "Held-out sources answered correctly: "
                <span data-testid="seq2seq-right">
                    {move || share.get().map_or("–".to_owned(), |s| percent(s, 1))}
                </span>
            </span>
        </p>
    }
}

/// What was written beside what is right, or what the first steps wrote, where only these are on show.
fn said(reading: &Reading, steps: Option<usize>) -> String {
    let all = reading.greedy();
    let (written, begins) = match steps {
        Some(steps) => {
            let ids = reading.written.iter().take(steps).filter(|id| **id != 0);
            let symbol = |id: &u32| reading.symbols.get(*id as usize).cloned().unwrap_or_default();
            (ids.map(symbol).collect::<String>(), "Written so far: ")
        }
        None => (all.to_string(), "Written: "),
    };
    let end = match &reading.right {
        Some(right) if steps.is_none() && *right == written => "That is right.".to_owned(),
        Some(right) => format!("Correct answer: {right}."),
        None => "There is no right answer to this source.".to_owned(),
    };
    match (written.is_empty(), steps) {
        (true, Some(_)) => format!("Nothing written so far. {end}"),
        (true, None) => format!("Nothing written. {end}"),
        _ => format!("{begins}{written}. {end}"),
    }
}

/// What the decoder expects in each step, and the likeliest of one.
pub fn odds(page: Page) -> AnyView {
    let Steps { chosen, .. } = Steps::new(page);
    let at = memo(move || page.settings.with(|s| s.at));
    let bars = Signal::derive(move || {
        let bars = page.reading.with(|reading| {
            let reading = reading.as_ref()?;
            let step = chosen.get()?;
            let row = reading.probabilities.block(&[step])?;
            let right = reading.right.as_ref().and_then(|right| {
                let token = right.chars().nth(step).map(String::from);
                let past = step > right.chars().count();
                let token = token.or((!past).then(|| reading.symbols[0].clone()))?;
                reading.symbols.iter().position(|symbol| *symbol == token)
            });
            Some(top_bars(row, &reading.symbols, 10, right))
        });
        bars.unwrap_or_default()
    });
    let title = Signal::derive(move || match (chosen.get(), at.get()) {
        (Some(step), 0) => format!("Step {}, where it is least sure", step + 1),
        (Some(step), _) => format!("Step {}", step + 1),
        (None, _) => "Probabilities of a step".to_owned(),
    });
    let matrix = Signal::derive(move || {
        let Some(reading) = page.reading.get() else { return Matrix::default() };
        let symbol = |id: &u32| reading.symbols.get(*id as usize).cloned().unwrap_or_default();
        Matrix {
            row_axis: "step".to_owned(),
            column_axis: "could be written".to_owned(),
            rows: reading.written.iter().map(symbol).collect(),
            columns: reading.symbols.clone(),
            values: reading.probabilities.values.clone(),
            map: ValueMap::Probability,
            value_name: "probability".to_owned(),
            absent: String::new(),
        }
    });
    let marked = Signal::derive(move || {
        page.reading.with(|reading| {
            let written = reading.iter().flat_map(|r| r.written.iter().enumerate());
            written.map(|(step, &id)| (step, id as usize)).collect::<Vec<_>>()
        })
    });
    let on_pick = Callback::new(move |(step, _): (usize, usize)| {
        page.set(|s| s.at = step as u32 + 1);
    });
    view! {
        <div class="view-side has-aside">
            <div>
                <MatrixFigure name="seq2seq-odds" title="One row per step, with what was written outlined"
                    matrix marked row=chosen on_pick provenance=page.provenance/>
            </div>
            <div>
                <BarsFigure name="seq2seq-bars" title top=10 hue=Hue::Output bars
                    provenance=page.provenance/>
            </div>
        </div>
    }
    .into_any()
}

/// The accuracy measured last, by the range of source lengths.
pub fn by_length(page: Page, lab: Lab) -> Vec<((u32, u32), f32)> {
    let bins = page.settings.with(|s| s.spec(0).bins());
    lab.history.with(|history| {
        let last = |bin| Some((bin, history.named(&length_series(bin))?.last()?));
        bins.into_iter().filter_map(last).collect()
    })
}

/// Accuracy by source length, now and halfway through training so far.
pub fn lengths(page: Page) -> AnyView {
    let lab = use_lab();
    let is_twin = use_context::<Second>().is_some();
    // Beside a twin it is the two models that are compared, not two moments.
    let is_pair = memo(move || is_twin || page.store.link.with(|link| !link.twin.is_empty()));
    let lines = Signal::derive(move || {
        let bins = page.settings.with(|s| s.spec(0).bins());
        let step = f64::from(lab.shown());
        lab.history.with(|history| {
            let at = |until: f64| {
                let points = bins.iter().filter_map(|&bin| {
                    let series = history.named(&length_series(bin))?.points();
                    let value = series.iter().rev().find(|point| point.0 <= until)?.1;
                    Some((f64::from(bin.0 + bin.1) / 2.0, value))
                });
                points.collect::<Vec<_>>()
            };
            let half = (step / 2.0 / 20.0).floor() * 20.0;
            let mut series = vec![Line::new("correct now", Hue::Second, Dash::Solid, at(step))];
            if half >= 20.0 && !is_pair.get() {
                series.push(Line::new(
                    format!("at step {half}"),
                    Hue::Muted,
                    Dash::Dashed,
                    at(half),
                ));
            }
            Lines {
                x_label: "source length".to_owned(),
                y_label: "correct to the last character".to_owned(),
                series,
                references: vec![Reference { name: "all".to_owned(), y: 1.0 }],
                y_range: Some((0.0, 1.0)),
                is_share: true,
                x_range: bins
                    .first()
                    .zip(bins.last())
                    .map(|(first, last)| (f64::from(first.0), f64::from(last.1))),
                ..Lines::default()
            }
        })
    });
    let marker = Signal::derive(move || {
        page.settings.with(|s| (s.task != PairTask::Dates).then_some(f64::from(s.longest)))
    });
    view! {
        <LinesFigure name="seq2seq-length" title="Correct answers by source length, held out" lines
            provenance=page.provenance marker hint="Measured every 20 steps."/>
        <p class="view-note">{move || marker.get().map(|longest| format!(
            "The mark is the longest string trained on, {longest}. Measured on 32 held-out strings of each length."
        ))}</p>
    }
    .into_any()
}

/// Where the look for a source that only the beam gets right has come.
#[derive(Clone, Copy, PartialEq)]
enum Seeking {
    No,
    /// So many were looked at.
    Looked(u32),
    /// At all of them, in vain.
    Failed,
}

/// Whether the beam's best is right, and likelier than what greedy wrote.
fn is_only_beams(search: &Search) -> bool {
    search.found.first().is_some_and(|best| {
        search.right.as_ref() == Some(&best.text)
            && best.text != search.greedy.text
            && best.log_probability > search.greedy.log_probability
    })
}

/// Looks at one held-out source after the other, until only the beam gets it right, which then comes on show.
fn seek(page: Page, lab: Lab, seeking: RwSignal<Seeking>, looked: u32) {
    if looked == MOST_EXAMPLE {
        return seeking.set(Seeking::Failed);
    }
    seeking.set(Seeking::Looked(looked));
    let (shown, beam) = page.settings.with_untracked(|s| (s.example, s.beam));
    let example = (shown + looked) % MOST_EXAMPLE + 1;
    let take = move |reply: Reply<Reading>| {
        // The view may be closed by now.
        if seeking.try_get_untracked() != Some(Seeking::Looked(looked)) {
            return;
        }
        match reply {
            Some(Ok((_, reading))) if !is_only_beams(&reading.search()) => {
                seek(page, lab, seeking, looked + 1);
            }
            found => {
                seeking.set(Seeking::No);
                if let Some(Ok(_)) = found {
                    page.set(|s| (s.example, s.at) = (example, 0));
                }
            }
        }
    };
    let question = seq2seq::ask::Reading { text: None, example, beam };
    Questions::from(lab).ask_once(question, take);
}

/// What a search finds that the greedy choice misses.
pub fn search(page: Page) -> AnyView {
    let lab = use_lab();
    let search = memo(move || page.reading.get().map(|reading| reading.search()));
    let seeking = RwSignal::new(Seeking::No);
    let said = move || match seeking.get() {
        Seeking::No => String::new(),
        Seeking::Looked(looked) => {
            format!("Looked at {looked} of {MOST_EXAMPLE} held-out sources.")
        }
        Seeking::Failed => format!(
            "Among {MOST_EXAMPLE} held-out sources, there is none yet that only the beam gets right. Train a little, and look again."
        ),
    };
    view! {
        <SourceBar source=source(page)>
            <button type="button" class="button" data-testid="seq2seq-find"
                title="Finds a held-out source that the beam gets right and greedy decoding gets wrong"
                on:click=move |_| seek(page, lab, seeking, 0)>"Find one"</button>
        </SourceBar>
        <p class="view-note source-note" role="status" data-testid="seq2seq-found">{said}</p>
        {search_figure(
            "seq2seq-beam",
            Signal::stored(""),
            search,
            page.provenance,
            || view! { <SliderField name="seq2seq-beam"/> },
        )}
    }
    .into_any()
}

/// What is written if reading stops early.
fn prefixes(page: Page) -> AnyView {
    let rows = move || {
        let reading = page.reading.get()?;
        let row = |(index, prefix): (usize, &Prefix)| {
            let right = prefix.right.as_ref().map(|right| *right == prefix.written);
            let mark = right.map_or("–", |right| if right { "✓" } else { "✗" });
            view! {
                <tr class:is-wrong=right == Some(false)>
                    <th scope="row">{index + 1}</th>
                    <td>{token::mark(&reading.tokens[index])}</td>
                    <td class="seq2seq-text">{prefix.written.clone()}</td>
                    <td class="seq2seq-text">{prefix.right.clone().unwrap_or_default()}</td>
                    <td>{mark}</td>
                </tr>
            }
        };
        Some(reading.prefixes.iter().enumerate().map(row).collect_view())
    };
    let sheet = Callback::new(move |()| page.reading.with(|r| r.as_deref().map(prefixes_sheet)));
    view! {
        <p class="view-note">
            "The decoder writes from each state, as if the source ended there."
        </p>
        <section class="figure" data-testid="figure-seq2seq-prefixes" data-state=move || page.state()
            aria-label="Writing from each state">
            <div class="figure-box view-scroll seq2seq-table" tabindex="0" role="region" aria-label="What is written from each state">
                <table data-testid="seq2seq-prefixes">
                    <thead><tr>
                        <th scope="col">"read"</th><th scope="col">"last"</th><th scope="col">"written"</th>
                        <th scope="col">"right"</th><th scope="col">"✓"</th>
                    </tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <SheetExport name="seq2seq-prefixes" title="What is written from each state"
                provenance=page.provenance sheet/>
        </section>
    }
    .into_any()
}

fn prefixes_sheet(reading: &Reading) -> Sheet {
    let mut sheet = Sheet::new(&["read", "last", "written", "right"]);
    let line = |(index, prefix): (usize, &Prefix)| {
        let last = json!(reading.tokens.get(index));
        vec![json!(index + 1), last, json!(prefix.written), json!(prefix.right)]
    };
    sheet.rows = reading.prefixes.iter().enumerate().map(line).collect();
    sheet
}

/// Every number of the encoder's states, and what is written from each of them.
pub fn states(page: Page) -> AnyView {
    let matrix = Signal::derive(move || {
        let Some(reading) = page.reading.get() else { return Matrix::default() };
        let units = reading.summary.len();
        Matrix {
            row_axis: "after".to_owned(),
            column_axis: "no.".to_owned(),
            rows: reading.tokens.clone(),
            columns: (1..=units).map(|unit| format!("no. {unit}")).collect(),
            values: reading.states.values.clone(),
            map: ValueMap::Signed { limit: 1.0 },
            value_name: "state".to_owned(),
            absent: String::new(),
        }
    });
    let last = Signal::derive(move || {
        page.reading.with(|reading| reading.as_ref()?.tokens.len().checked_sub(1))
    });
    view! {
        <div class="view-side has-aside seq2seq-states">
            <div>
                <MatrixFigure name="seq2seq-states"
                    title="The state after each character. The last one, outlined, is c"
                    matrix row=last provenance=page.provenance/>
            </div>
            <div>{prefixes(page)}</div>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::transduction::Candidate;

    use super::*;

    fn reading() -> Reading {
        let prefix = |written: &str, right: Option<&str>| Prefix {
            written: written.to_owned(),
            right: right.map(str::to_owned),
        };
        Reading {
            source: "ba".to_owned(),
            tokens: vec!["b".to_owned(), "a".to_owned()],
            right: Some("ab".to_owned()),
            symbols: ["", "a", "b"].map(str::to_owned).to_vec(),
            // Greedy: "b".
            written: vec![2, 0],
            prefixes: vec![prefix("b", Some("b")), prefix("b", None)],
            ..Reading::default()
        }
    }

    #[test]
    fn no_more_is_said_to_be_written_than_is_on_show() {
        let reading = reading();
        assert_eq!(said(&reading, Some(1)), "Written so far: b. Correct answer: ab.");
        assert_eq!(said(&reading, None), "Written: b. Correct answer: ab.");
        let right = Reading { right: Some("b".to_owned()), ..reading };
        assert_eq!(said(&right, None), "Written: b. That is right.");
        assert_eq!(said(&right, Some(1)), "Written so far: b. Correct answer: b.");
    }

    #[test]
    fn only_the_beam_is_right_where_its_best_is_and_greedy_is_not() {
        let found = |text: &str, log_probability| Candidate {
            text: text.to_owned(),
            log_probability,
            ended: true,
        };
        let search = |greedy: Candidate| Search {
            right: Some("ab".to_owned()),
            greedy,
            found: vec![found("ab", -0.1), found("b", -0.2)],
            ..Search::default()
        };
        assert!(is_only_beams(&search(found("b", -0.2))));
        assert!(!is_only_beams(&search(found("ab", -0.1))), "both are right");
        assert!(!is_only_beams(&search(found("b", -0.05))), "greedy’s is likelier");
        let wrong = Search { right: Some("ba".to_owned()), ..search(found("b", -0.2)) };
        assert!(!is_only_beams(&wrong) && !is_only_beams(&Search::default()));
    }

    #[test]
    fn each_state_is_written_down_with_its_character() {
        let sheet = prefixes_sheet(&reading());
        assert_eq!(
            sheet.rows,
            [
                vec![json!(1), json!("b"), json!("b"), json!("b")],
                vec![json!(2), json!("a"), json!("b"), json!(null)],
            ]
        );
    }
}
