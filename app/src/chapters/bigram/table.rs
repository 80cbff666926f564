//! The table of pairs, and one of its rows in full.

use leptos::{ev, html, prelude::*};
use unroll_protocol::study::bigram::{Answer, Matrix, NONE, Order, Question, Row, View, smoothed};

use super::{named, part_of, short, use_part, use_vocabulary};
use crate::{
    course::{use_fixed_answer, use_lab, use_provenance, use_setting},
    figures::{Bar, BarsFigure, Hue, Matrix as Picture, MatrixFigure, ValueMap, use_visible},
    store::Store,
    teaching::GuessFirst,
};

/// Differences of probabilities are drawn up to this.
const LARGEST_DIFFERENCE: f32 = 0.25;
/// Followers listed of the pinned row.
const LISTED: usize = 10;

/// The matrix, and the row that was picked in it.
pub fn figure() -> AnyView {
    let (store, lab) = (expect_context::<Store>(), use_lab());
    let vocabulary = use_vocabulary();
    let view = use_setting(|link| &mut link.bigram.view);
    let order = use_setting(|link| &mut link.bigram.order);
    let most = use_setting(|link| &mut link.bigram.shown);
    let k = use_setting(|link| &mut link.bigram.k);
    let row = use_setting(|link| &mut link.bigram.row);
    let next = use_setting(|link| &mut link.bigram.next);
    let (matrix_box, row_box) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let in_row = use_visible(row_box);
    let (matrix, problem) = use_part(
        lab,
        use_visible(matrix_box),
        move || Question::Matrix { order: order.get(), most: most.get() },
        |answer| if let Answer::Matrix(matrix) = answer { Some(matrix) } else { None },
    );
    let pinned = use_row(in_row);
    let picture = Memo::new(move |_| {
        let matrix = matrix.get()?;
        vocabulary.with(|v| Some(picture(&matrix, v, view.get(), k.get())))
    });
    let describe = Callback::new(move |(row, column, _): (usize, usize, f32)| {
        matrix.with(|m| {
            m.as_ref().map_or_else(String::new, |m| {
                vocabulary.with(|v| reading(m, v, (row, column), k.get()))
            })
        })
    });
    let pick = Callback::new(move |(at, column): (usize, usize)| {
        matrix.with_untracked(|m| {
            let Some(m) = m else { return };
            let (Some(&current), Some(&follower)) = (m.ids.get(at), m.ids.get(column)) else {
                return;
            };
            let (current, follower) =
                vocabulary.with_untracked(|v| (code_point(v, current), code_point(v, follower)));
            // Both at once: what shows the row is built anew in between and reads the link.
            store.link.update(|link| (link.bigram.row, link.bigram.next) = (current, follower));
        });
    });
    let place = Memo::new(move |_| {
        let id = pinned.with(|row| row.as_ref().map(|row| row.id))?;
        matrix.with(|m| m.as_ref()?.ids.iter().position(|&other| other == id))
    });
    // The cell whose arithmetic is open.
    let marked = Memo::new(move |_| {
        let column = matrix.with(|m| {
            let ids = &m.as_ref()?.ids;
            vocabulary.with(|v| ids.iter().position(|&id| code_point(v, id) == next.get()))
        });
        let chosen = column.filter(|_| next.get() > 0);
        place.get().zip(chosen).into_iter().collect::<Vec<_>>()
    });
    let cut = move || {
        let (shown, all) =
            (matrix.with(|m| m.as_ref().map(|m| m.ids.len()))?, vocabulary.with(Vec::len));
        (shown < all).then(|| {
            format!(
                "The {shown} most frequent of {all} kinds of characters; any other is in the list \
                 of rows."
            )
        })
    };
    // Who has picked a row or a cell wants to see it.
    let asks = Memo::new(move |_| row.get() == NONE && next.get() == NONE);
    let title = Memo::new(move |_| match view.get() {
        View::Counts => "P(next | current), counted".to_owned(),
        View::Smoothed => format!("P(next | current), counted with {} added to each pair", k.get()),
        View::Trained => "P(next | current), the softmax of a trained table".to_owned(),
        View::Difference => "Trained minus counted".to_owned(),
    });
    view! {
        <p class="field-error" role="alert">{move || problem.get()}</p>
        <div node_ref=matrix_box>
            <MatrixFigure
                name="bigram-matrix"
                title=title
                matrix=Signal::derive(move || picture.get().unwrap_or_default())
                provenance=use_provenance(lab)
                describe=describe
                row=place
                marked=marked
                on_pick=pick
            />
        </div>
        <p class="hint" data-testid="bigram-cut">{cut}</p>
        <div node_ref=row_box>
            {move || if asks.get() {
                view! { <GuessRow row=pinned/> }.into_any()
            } else {
                view! { <PinnedRow row=pinned/> }.into_any()
            }}
        </div>
    }
    .into_any()
}

/// The row that is pinned, or one that says much.
fn use_row(seen: Signal<bool>) -> Memo<Option<Row>> {
    let lab = use_lab();
    let row = use_setting(|link| &mut link.bigram.row);
    use_part(
        lab,
        seen,
        move || Question::Row { character: row.get() },
        |answer| if let Answer::Row(row) = answer { Some(row) } else { None },
    )
    .0
}

/// The code point of a token, by which links name it.
fn code_point(vocabulary: &[String], id: u32) -> u32 {
    vocabulary.get(id as usize).and_then(|token| token.chars().next()).map_or(0, u32::from)
}

/// The share counted; `None` where nothing ever followed the row's token.
fn counted(matrix: &Matrix, row: usize, column: usize, k: f32, vocabulary: usize) -> Option<f64> {
    let count = matrix.counts[row * matrix.ids.len() + column];
    smoothed(count, matrix.totals[row], f64::from(k), vocabulary)
}

fn picture(matrix: &Matrix, vocabulary: &[String], view: View, k: f32) -> Picture {
    let n = matrix.ids.len();
    let labels: Vec<String> = matrix
        .ids
        .iter()
        .map(|&id| vocabulary.get(id as usize).cloned().unwrap_or_default())
        .collect();
    let value = |row: usize, column: usize| {
        let trained = matrix.trained.values[row * n + column];
        let share = |k| {
            counted(matrix, row, column, k, vocabulary.len()).map_or(f32::NAN, |share| share as f32)
        };
        match view {
            View::Counts => share(0.0),
            View::Smoothed => share(k),
            View::Trained => trained,
            View::Difference => trained - share(0.0),
        }
    };
    let (map, value_name) = if view == View::Difference {
        (ValueMap::Signed { limit: LARGEST_DIFFERENCE }, "trained − counted")
    } else {
        (ValueMap::Probability, "probability of the next character")
    };
    Picture {
        row_axis: "current character".to_owned(),
        column_axis: "next character".to_owned(),
        rows: labels.clone(),
        columns: labels,
        values: (0..n * n).map(|i| value(i / n, i % n)).collect(),
        map,
        value_name: value_name.to_owned(),
        absent: "nothing ever followed it".to_owned(),
    }
}

/// What a cell says.
fn reading(matrix: &Matrix, vocabulary: &[String], at: (usize, usize), k: f32) -> String {
    let (row, column) = at;
    let (Some(&current), Some(&next)) = (matrix.ids.get(row), matrix.ids.get(column)) else {
        return String::new();
    };
    let n = matrix.ids.len();
    let (count, total) = (matrix.counts[row * n + column], matrix.totals[row]);
    let probability = |k| {
        counted(matrix, row, column, k, vocabulary.len())
            .map_or_else(|| "unknown".to_owned(), |share| format!("{share:.4}"))
    };
    format!(
        "After {}, {} came {count} of {total} times: {}. Smoothed {}, trained {:.4}.",
        named(vocabulary, current),
        named(vocabulary, next),
        probability(0.0),
        probability(k),
        matrix.trained.values[row * n + column],
    )
}

/// Answers to choose from.
const OPTIONS: usize = 4;

/// The row that the page chose, after a guess at its likeliest follower: the lit row of the matrix
/// has the answer.
#[component]
fn GuessRow(row: Memo<Option<Row>>) -> impl IntoView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    // Only for its ids, which training leaves as they are.
    let answered = use_fixed_answer(lab, || {
        Some(Question::Matrix { order: Order::Frequent, most: OPTIONS as u32 }.into())
    });
    let matrix = part_of(answered, |answer| match answer {
        Answer::Matrix(matrix) => Some(matrix),
        _ => None,
    });
    // The commonest follower among the text's commonest characters, by id.
    let options = Memo::new(move |_| {
        let (Some(best), Some(matrix)) = (row.with(|r| r.as_ref().map(commonest)), matrix.get())
        else {
            return Vec::new();
        };
        let others = matrix.ids.iter().copied().filter(|id| *id != best);
        let mut ids: Vec<u32> = core::iter::once(best).chain(others).take(OPTIONS).collect();
        ids.sort_unstable();
        ids
    });
    let name = move |id: u32| vocabulary.with(|v| named(v, id));
    let question = move || {
        row.with(|row| row.as_ref().map(|row| row.id)).map_or_else(String::new, |id| {
            format!("Which character follows {} most often? Its row is lit above.", name(id))
        })
    };
    let labels =
        move || options.with(|options| options.iter().map(|&id| name(id)).collect::<Vec<_>>());
    let answer = move || {
        let best = row.with(|row| row.as_ref().map(commonest))?;
        options.with(|options| options.iter().position(|&id| id == best))
    };
    let explain = move || {
        row.with(|row| {
            row.as_ref().map_or_else(String::new, |row| {
                let best = commonest(row);
                format!(
                    "After {}, {} came {} of {} times.",
                    name(row.id),
                    name(best),
                    row.counts[best as usize],
                    row.total
                )
            })
        })
    };
    view! {
        <GuessFirst id="bigram-row" question=Signal::derive(question) options=Signal::derive(labels)
            answer=Signal::derive(answer) explain=Signal::derive(explain)>
            <PinnedRow row/>
        </GuessFirst>
    }
    .into_any()
}

/// The token that followed most often; the lower id of two.
fn commonest(row: &Row) -> u32 {
    let best = (0..row.counts.len()).rev().max_by_key(|&id| row.counts[id]);
    best.map_or(0, |id| id as u32)
}

/// All that followed one character, counted beside trained, and the arithmetic of one pair.
#[component]
fn PinnedRow(row: Memo<Option<Row>>) -> impl IntoView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    let next = use_setting(|link| &mut link.bigram.next);
    // Followers, likeliest first.
    let order = Memo::new(move |_| {
        row.with(|row| {
            let Some(row) = row else { return Vec::new() };
            let mut ids: Vec<usize> = (0..row.counts.len()).collect();
            ids.sort_by(|&a, &b| {
                let key = |id: usize| (row.counts[id], row.trained[id]);
                key(b).partial_cmp(&key(a)).unwrap_or(core::cmp::Ordering::Equal)
            });
            ids
        })
    });
    let bars = Memo::new(move |_| {
        row.with(|row| {
            let Some(row) = row else { return Vec::new() };
            let share = |id: usize| {
                smoothed(row.counts[id], row.total, 0.0, row.counts.len()).unwrap_or(0.0) as f32
            };
            let chosen = chosen(row, &vocabulary.get(), next.get(), &order.get());
            let bar = |&id: &usize| Bar {
                name: vocabulary.with(|v| short(v, id as u32)),
                spoken: vocabulary.with(|v| named(v, id as u32)),
                probability: share(id),
                marked: Some(id) == chosen,
                compare: Some(row.trained[id]),
            };
            order.with(|order| order.iter().take(LISTED).map(bar).collect())
        })
    });
    let title = Memo::new(move |_| {
        row.with(|row| {
            row.as_ref().map_or_else(String::new, |row| {
                vocabulary.with(|v| format!("After {}, seen {} times", named(v, row.id), row.total))
            })
        })
    });
    let sums = move || {
        row.with(|row| {
            let row = row.as_ref()?;
            let id = chosen(row, &vocabulary.get(), next.get(), &order.get())?;
            Some(arithmetic(row, id, &vocabulary.get()))
        })
    };
    view! {
        <div class="bigram-row" data-part="next">
            <BarsFigure
                name="bigram-row"
                title=title
                bars=bars
                provenance=use_provenance(lab)
                top=LISTED
                hue=Hue::Output
                compare_name="trained"
                value_name="counted"
                on_pick=Callback::new(move |at: usize| {
                    let id = order.with_untracked(|order| order.get(at).copied());
                    if let Some(id) = id {
                        next.set(vocabulary.with_untracked(|v| code_point(v, id as u32)));
                    }
                })
            />
            <div class="bigram-sums" data-testid="bigram-sums">{sums}</div>
        </div>
    }
    .into_any()
}

/// The follower whose arithmetic is spelled out: the one chosen, else the likeliest.
fn chosen(row: &Row, vocabulary: &[String], next: u32, order: &[usize]) -> Option<usize> {
    let named =
        (0..row.counts.len()).find(|&id| next > 0 && code_point(vocabulary, id as u32) == next);
    named.or_else(|| order.first().copied())
}

fn arithmetic(row: &Row, id: usize, vocabulary: &[String]) -> AnyView {
    let store = expect_context::<Store>();
    let k = f64::from(store.link.with(|link| link.bigram.k));
    let (count, total, v) = (row.counts[id], row.total, row.counts.len());
    let probability = |k| {
        smoothed(count, total, k, v).map_or_else(|| "unknown".to_owned(), |p| format!("{p:.4}"))
    };
    let largest = row.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = row.logits.iter().map(|&logit| f64::from(logit - largest).exp()).sum();
    let log_sum = f64::from(largest) + sum.ln();
    let trained = f64::from(row.trained[id]);
    let share = smoothed(count, total, 0.0, v);
    view! {
        <h3>{format!("{} after {}", named(vocabulary, id as u32), named(vocabulary, row.id))}</h3>
        <dl>
            <div><dt>"counted"</dt><dd>{format!("{count} / {total} = {}", probability(0.0))}</dd></div>
            <div>
                <dt>"smoothed"</dt>
                <dd>{format!("({count} + {k}) / ({total} + {k} · {v}) = {}", probability(k))}</dd>
            </div>
            <div data-part="logits">
                <dt>"trained"</dt>
                <dd>{format!("e^{:.4} / e^{log_sum:.4} = {trained:.4}", row.logits[id])}</dd>
            </div>
            {share.map(|share| view! {
                <div>
                    <dt>"gradient of its logit"</dt>
                    <dd>
                        {format!(
                            "({trained:.4} − {share:.4}) · {total} / {} = {:.2e}",
                            row.pairs,
                            (trained - share) * f64::from(total) / row.pairs as f64,
                        )
                        .replace("= -", "= −")}
                    </dd>
                </div>
            })}
        </dl>
    }
    .into_any()
}

/// The row to pin, from a list of all: also those the matrix has no room for.
#[component]
pub fn RowChoice() -> impl IntoView {
    let vocabulary = use_vocabulary();
    let row = use_setting(|link| &mut link.bigram.row);
    let choose = move |event: ev::Event| {
        if let Ok(character) = event_target_value(&event).parse() {
            row.set(character);
        }
    };
    view! {
        <div class="field">
            <label for="control-bigram-row">"Row pinned"</label>
            <select id="control-bigram-row" data-testid="control-bigram-row" on:change=choose
                prop:value=move || row.get().to_string()>
                <option value="0">"one that says much"</option>
                {move || vocabulary.with(|v| {
                    v.iter().enumerate().map(|(id, _)| {
                        let value = code_point(v, id as u32);
                        view! {
                            <option value=value.to_string() selected=move || row.get() == value>
                                {named(v, id as u32)}
                            </option>
                        }
                    }).collect_view()
                })}
            </select>
        </div>
    }
    .into_any()
}
