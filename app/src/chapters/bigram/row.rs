//! One row of the table: guessed first, then in full.

use std::sync::Arc;

use leptos::{ev, prelude::*};
use unroll_protocol::study::bigram::{NONE, Order, Row, View, ask, smoothed};

use super::{chance, code_point, named, short, table::compared_with, use_vocabulary};
use crate::{
    course::{use_lab, use_provenance, use_setting},
    figures::{Bar, BarsFigure, Hue, Slot, brief, four_decimals, own, percent, power_of_ten},
    questions::{use_answer, use_fixed_answer},
    reactive::memo,
    store::Store,
    teaching::GuessFirst,
};

/// Followers listed of the pinned row.
const LISTED: usize = 10;

/// The row that is pinned, or one that says much.
pub fn use_row() -> Signal<Option<Arc<Row>>> {
    let lab = use_lab();
    let row = use_setting(|link| &mut link.bigram.row);
    use_answer(lab, move || Some(ask::Row { character: row.get() })).answer
}

/// The row that the page suggests, only for its counts: training leaves those as they are.
pub fn use_suggested_row() -> Signal<Option<Arc<Row>>> {
    use_fixed_answer(use_lab(), || Some(ask::Row { character: NONE })).answer
}

/// Answers to choose from.
const OPTIONS: usize = 4;

/// A guess at the likeliest follower in the row that the page suggests. `seen` is set once that may be on
/// show: until then the matrix has none of its counts.
#[component]
pub fn GuessRow(row: Signal<Option<Arc<Row>>>, seen: RwSignal<bool>) -> impl IntoView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    // Only for its ids, which training leaves as they are.
    let answered = use_fixed_answer(lab, || {
        Some(ask::Matrix { order: Order::Frequent, most: OPTIONS as u32 })
    });
    let matrix = answered.answer;
    // The commonest follower among the text's commonest characters, by id.
    let options = memo(move || {
        let (Some(best), Some(matrix)) = (row.with(|r| r.as_deref().map(commonest)), matrix.get())
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
            format!("Which character follows {} most often?", name(id))
        })
    };
    let labels =
        move || options.with(|options| options.iter().map(|&id| name(id)).collect::<Vec<_>>());
    let answer = move || {
        let best = row.with(|row| row.as_deref().map(commonest))?;
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
            {seen.set(true)}
        </GuessFirst>
    }
    .into_any()
}

/// The token that followed most often; the lower id of two.
fn commonest(row: &Row) -> u32 {
    let best = (0..row.counts.len()).rev().max_by_key(|&id| row.counts[id]);
    best.map_or(0, |id| id as u32)
}

/// All that followed one character, counted and, where the matrix shows that, smoothed or trained; and the
/// arithmetic of one pair.
#[component]
pub fn PinnedRow(row: Signal<Option<Arc<Row>>>) -> impl IntoView {
    let vocabulary = use_vocabulary();
    let next = use_setting(|link| &mut link.bigram.next);
    let view = use_setting(|link| &mut link.bigram.view);
    let k = use_setting(|link| &mut link.bigram.k);
    // What the counts are compared with.
    let other = memo(move || match view.get() {
        View::Counts => None,
        View::Smoothed => Some("smoothed"),
        View::Trained | View::Difference => Some("trained"),
    });
    let compared = move |row: &Row, id: usize| match view.get() {
        View::Counts => None,
        View::Smoothed => Some(share(row, id, k.get())),
        View::Trained | View::Difference => Some(row.trained[id]),
    };
    // Followers, likeliest first.
    let order = memo(move || {
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
    let bars = memo(move || {
        row.with(|row| {
            let Some(row) = row else { return Vec::new() };
            // What nobody has chosen is not marked: it would look like an answer.
            let chosen = chosen(row, &vocabulary.get(), next.get(), &[]);
            let bar = |&id: &usize| Bar {
                name: vocabulary.with(|v| short(v, id as u32)),
                spoken: vocabulary.with(|v| named(v, id as u32)),
                probability: share(row, id, 0.0),
                marked: Some(id) == chosen,
                compare: compared(row, id),
            };
            // What never followed is said in one line, unless it has a share by now.
            let listed =
                |id: &&usize| other.get().is_some() || row.total == 0 || row.counts[**id] > 0;
            order.with(|order| order.iter().filter(listed).take(LISTED).map(bar).collect())
        })
    });
    let note = memo(move || {
        row.with(|row| {
            let Some(row) = row else { return String::new() };
            if other.get().is_none() {
                return if row.total > 0 { left_out(&row.counts) } else { String::new() };
            }
            let rest = order.with(|order| order.get(LISTED..).map(<[usize]>::to_vec));
            let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { return String::new() };
            let sum = |share: &dyn Fn(usize) -> f32| {
                percent(rest.iter().map(|&id| share(id)).sum::<f32>(), 1)
            };
            let before = sum(&|id| share(row, id, 0.0));
            let now = sum(&|id| compared(row, id).unwrap_or_default());
            format!("{} others together: {before} / {now}", rest.len())
        })
    });
    let title = memo(move || {
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
            Some(arithmetic(row, id, &vocabulary.get(), compared_with(view.get())))
        })
    };
    let provenance = use_provenance();
    let figure = move || {
        view! {
            <BarsFigure
                name="bigram-row"
                title=title
                bars=bars
                provenance=provenance
                note
                hue=Hue::Output
                compare_name=other.get().unwrap_or_default()
                value_name="counted"
                on_pick=Callback::new(move |at: usize| {
                    let id = order.with_untracked(|order| order.get(at).copied());
                    if let Some(id) = id {
                        next.set(vocabulary.with_untracked(|v| code_point(v, id as u32)));
                    }
                })
            />
        }
    };
    view! {
        <div class="bigram-sums" data-testid="bigram-sums">{sums}</div>
        {figure}
    }
    .into_any()
}

/// The share of one follower in its row, with `k` added to every count.
fn share(row: &Row, id: usize, k: f32) -> f32 {
    smoothed(row.counts[id], row.total, k.into(), row.counts.len()).unwrap_or(0.0) as f32
}

/// What the list of a row has no lines for, in words.
fn left_out(counts: &[u32]) -> String {
    let followed = counts.iter().filter(|count| **count > 0).count();
    let (never, less) = (counts.len() - followed, followed.saturating_sub(LISTED));
    let others = |count: usize, how: &str| {
        let s = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} other{s}: {how}."))
    };
    let said = [others(less, "less often"), others(never, "never")];
    said.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The gradient of a pair's logit: its character came `total` times among so many `pairs`.
pub fn gradient(trained: f64, share: f64, total: u32, pairs: u64) -> String {
    power_of_ten((trained - share) * f64::from(total) / pairs as f64, 2)
}

/// The factors of the gradient in words: how far the probability is off, and how often its row is met.
fn why(apart: f64, row: String) -> String {
    let off = match apart {
        ..0.0 => "too low",
        _ => "too high",
    };
    format!("{off} by {}, times how often {row} occurs", chance(apart.abs()))
}

/// The follower whose arithmetic is spelled out: the one chosen, else the likeliest.
fn chosen(row: &Row, vocabulary: &[String], next: u32, order: &[usize]) -> Option<usize> {
    let named =
        (0..row.counts.len()).find(|&id| next > 0 && code_point(vocabulary, id as u32) == next);
    named.or_else(|| order.first().copied())
}

/// One pair's share and what smoothing or training make of it, where the matrix shows that.
fn arithmetic(
    row: &Row,
    id: usize,
    vocabulary: &[String],
    (smoothed_too, trained_too): (bool, bool),
) -> AnyView {
    let store = expect_context::<Store>();
    // Written as the slider has it.
    let added = store.link.with(|link| link.bigram.k);
    let k = f64::from(added);
    let (count, total, v) = (row.counts[id], row.total, row.counts.len());
    let probability = |k| smoothed(count, total, k, v).map_or_else(|| "unknown".to_owned(), chance);
    let largest = row.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = row.logits.iter().map(|&logit| f64::from(logit - largest).exp()).sum();
    let log_sum = f64::from(largest) + sum.ln();
    let trained = f64::from(row.trained[id]);
    let share = smoothed(count, total, 0.0, v);
    // Heard, a raised number would be one of the base's digits.
    let power = |exponent: f64| {
        let exponent = four_decimals(exponent);
        view! { "e"<span class="visually-hidden">"^"</span><sup>{exponent}</sup> }
    };
    view! {
        <h3>{format!("{} after {}", named(vocabulary, id as u32), named(vocabulary, row.id))}</h3>
        <dl>
            <div><dt>"counted"</dt><dd>{format!("{count} / {total} = {}", probability(0.0))}</dd></div>
            {smoothed_too.then(|| view! {
                <div>
                    <dt>"smoothed"</dt>
                    <dd>{format!("({count} + {added}) / ({total} + {added} · {v}) = {}", probability(k))}</dd>
                </div>
            })}
            {trained_too.then(|| view! {
                <div data-part="logits"><dt>"its logit"</dt><dd>{four_decimals(row.logits[id])}</dd></div>
                <div data-part="logits">
                    <dt>"trained"</dt>
                    <dd>
                        {power(row.logits[id].into())}
                        {format!(" / {} (the row’s sum) = {}", brief(log_sum.exp()), chance(trained))}
                    </dd>
                </div>
            })}
            {share.filter(|_| trained_too).map(|share| view! {
                <div>
                    <dt>"gradient of its logit"</dt>
                    <dd>
                        {format!(
                            "({} − {}) · {total} / {} = {}",
                            chance(trained),
                            chance(share),
                            row.pairs,
                            gradient(trained, share, total, row.pairs),
                        )}
                    </dd>
                    <dd class="bigram-why">{why(trained - share, named(vocabulary, row.id))}</dd>
                </div>
            })}
        </dl>
    }
    .into_any()
}

/// The row to pin and the cell in it, from lists of all: also those the matrix has no room for, and those
/// too small to hit.
#[component]
pub fn PairChoice(suggested: Signal<Option<Arc<Row>>>) -> impl IntoView {
    let vocabulary = use_vocabulary();
    let suggestion = Signal::derive(move || {
        let id = suggested.with(|row| row.as_ref().map(|row| row.id));
        id.map_or_else(String::new, |id| vocabulary.with(|v| named(v, id)))
    });
    let row = use_setting(|link| &mut link.bigram.row);
    let next = use_setting(|link| &mut link.bigram.next);
    let list = move |name: &'static str, chosen: Slot<u32>, first: Signal<String>| {
        let choose = move |event: ev::Event| {
            if let Ok(character) = event_target_value(&event).parse() {
                chosen.set(character);
            }
        };
        view! {
            <select id=own("control", name) data-testid=format!("control-{name}") on:change=choose
                prop:value=move || chosen.get().to_string()>
                <option value="0">{first}</option>
                {move || vocabulary.with(|v| {
                    v.iter().enumerate().map(|(id, _)| {
                        let value = code_point(v, id as u32);
                        view! {
                            <option value=value.to_string() selected=move || chosen.get() == value>
                                {named(v, id as u32)}
                            </option>
                        }
                    }).collect_view()
                })}
            </select>
        }
    };
    view! {
        <div class="bigram-pick">
            <label for=own("control", "bigram-row")>"After"</label>
            {list("bigram-row", row, suggestion)}
            <label for=own("control", "bigram-next")>"comes"</label>
            {list("bigram-next", next, Signal::stored("likeliest".to_owned()))}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted() {
        assert_eq!(left_out(&[0, 5, 0]), "2 others: never.");
        assert_eq!(left_out(&[3; LISTED + 1]), "1 other: less often.");
        let counts = [[1; LISTED + 2].as_slice(), &[0]].concat();
        assert_eq!(left_out(&counts), "2 others: less often. 1 other: never.");
    }
}
