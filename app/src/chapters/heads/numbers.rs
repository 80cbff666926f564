//! Every head in numbers: what it looks at, what it writes, what it is worth.

use leptos::prelude::*;
use serde_json::{Value, json};
use unroll_protocol::study::heads::{HeadAt, Statistics};

use super::{name, signed, state::Page};
use crate::{
    figures::{Job, Sheet, SheetExport, exact},
    reactive::memo,
    teaching::{Term, Word},
};

/// From which share on a head is said to tend to one place.
const MUCH: f32 = 0.4;
/// From this many times the share of a head without any preference on, a head is said to prefer a place.
const PREFERS: f32 = 2.0;
/// A head whose entropy is at least this share of the most possible spreads its weight evenly.
const EVENLY: f32 = 0.95;

/// Whether a head’s share on one place is far above that of a head that spreads its weight `evenly`.
pub fn stands_out(share: f32, evenly: f32) -> bool {
    share >= PREFERS * evenly
}

/// What a head tends to look at.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    Previous,
    First,
    Itself,
    Evenly,
    Nearby,
    Mixed,
}

impl Habit {
    /// In words of three lengths, for those that are a job.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Previous => ["previous token", "previous", "prev."],
            Self::First => ["first token", "first", "first"],
            Self::Itself => ["itself"; 3],
            Self::Evenly => ["spread evenly"; 3],
            Self::Nearby => ["nearby"; 3],
            Self::Mixed => ["mixed"; 3],
        }
    }
}

/// What a head tends to look at; `alike` is what one without any preference has.
fn habit(statistics: Statistics, alike: Statistics) -> Habit {
    let Statistics { entropy, distance, first, previous } = statistics;
    if previous >= MUCH {
        Habit::Previous
    } else if first >= MUCH {
        Habit::First
    } else if distance < 0.5 {
        Habit::Itself
    } else if entropy > EVENLY * alike.entropy {
        Habit::Evenly
    } else if distance < 0.5 * alike.distance {
        Habit::Nearby
    } else {
        Habit::Mixed
    }
}

/// As the table says it.
fn habit_of(page: Page, at: HeadAt) -> Option<&'static str> {
    Some(habit(statistics(page, at)?, alike(page)?).words()[0])
}

/// The job of every head that has one, layer by layer, with its share where that is one place; none before
/// all are known.
pub fn jobs(page: Page) -> Memo<Vec<Option<Job>>> {
    memo(move || {
        let job = |at: HeadAt| {
            let numbers = statistics(page, at)?;
            let habit = habit(numbers, alike(page)?);
            let share = match habit {
                Habit::Previous => Some(numbers.previous),
                Habit::First => Some(numbers.first),
                Habit::Itself => on_itself(page, at),
                Habit::Nearby => None,
                Habit::Evenly | Habit::Mixed => return Some(None),
            };
            let percent = share.map(|share| (100.0 * share).round() as u32);
            Some(Some(Job { words: habit.words(), percent }))
        };
        HeadAt::all(page.shape.get())
            .into_iter()
            .map(job)
            .collect::<Option<_>>()
            .unwrap_or_default()
    })
}

/// The weight that tokens put on themselves, a mean over all but the first, as the statistics are.
fn on_itself(page: Page, at: HeadAt) -> Option<f32> {
    page.trace.with(|trace| {
        let trace = trace.as_ref()?;
        let weights = trace.weights.block(&[at.layer as usize - 1, at.head as usize - 1])?;
        let size = trace.tokens.len();
        let own = weights.iter().step_by(size + 1).skip(1);
        (size > 1).then(|| own.sum::<f32>() / (size - 1) as f32)
    })
}

/// Of a head without any preference, on the sentence on show.
pub fn alike(page: Page) -> Option<Statistics> {
    page.seen.with(|seen| Statistics::alike(seen.as_ref()?.trace.tokens.len()))
}

/// What `at` does on the sentence on show.
pub fn statistics(page: Page, at: HeadAt) -> Option<Statistics> {
    page.seen.with(|seen| seen.as_ref()?.statistics(at))
}

#[component]
pub fn Numbers(page: Page) -> impl IntoView {
    let heads = memo(move || {
        let (layers, heads) = page.shape.get();
        (1..=layers)
            .flat_map(|layer| (1..=heads).map(move |head| HeadAt { layer, head }))
            .collect::<Vec<_>>()
    });
    let sheet =
        Callback::new(move |()| page.seen.with(Option::is_some).then(|| sheet(page, &heads.get())));
    let too_short = move || page.seen.with(|s| s.as_ref().is_some_and(|s| s.statistics.is_empty()));
    view! {
        <div class="view-scroll heads-numbers">
            <p class="heads-summary" data-testid="heads-summary">{move || summary(page)}</p>
            <Definitions page/>
            {move || too_short().then(|| view! {
                <p class="hint" data-testid="heads-too-short">
                    "A sentence of one character has one token, which can only look at itself. There is \
                     nothing to average. Write at least two characters."
                </p>
            })}
            <div class="heads-table" tabindex="0" role="region" aria-label="Heads in numbers">
                <table data-testid="heads-table">
                    <caption class="visually-hidden">
                        "Statistics of each head on the sentence, and what switching it off costs"
                    </caption>
                    <thead>
                        <tr>
                            <td></td>
                            <th scope="colgroup">"on held-out text"</th>
                            <th scope="colgroup" colspan="6"><span class="heads-group">"on this sentence"</span></th>
                        </tr>
                        <tr>
                            <th scope="col">"head"</th>
                            <th scope="col">"cost if off"</th>
                            <th scope="col">"looks mostly at"</th>
                            <th scope="col">"entropy"</th>
                            <th scope="col">"on\u{a0}the previous"</th>
                            <th scope="col">"on\u{a0}the first"</th>
                            <th scope="col">"mean distance"</th>
                            <th scope="col">"writes (length)"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <Alike page/>
                        <For each=move || heads.get() key=|at| (at.layer, at.head) let:at>
                            <Row page at/>
                        </For>
                    </tbody>
                </table>
            </div>
            <SheetExport name="heads-numbers" title="Every head in numbers" provenance=page.provenance sheet/>
        </div>
    }
    .into_any()
}

/// The table's numbers with all their digits. What is not measured yet is left out.
fn sheet(page: Page, heads: &[HeadAt]) -> Sheet {
    let mut sheet = Sheet::new(&[
        "layer",
        "head",
        "off",
        "tends to",
        "entropy",
        "mean distance",
        "on the first",
        "on the previous",
        "writes",
        "off alone costs",
        "standard error",
    ]);
    let number = |value: Option<f32>| value.map_or(Value::Null, exact);
    let row = |&at: &HeadAt| {
        let (numbers, cost) = (statistics(page, at), page.cost_of(at));
        let of = |of: fn(Statistics) -> f32| number(numbers.map(of));
        vec![
            json!(at.layer),
            json!(at.head),
            json!(page.settings.with(|settings| settings.off.contains(&at))),
            json!(habit_of(page, at)),
            of(|s| s.entropy),
            of(|s| s.distance),
            of(|s| s.first),
            of(|s| s.previous),
            number(written(page, at)),
            number(cost.as_ref().map(|cost| cost.change)),
            number(cost.and_then(|cost| cost.error)),
        ]
    };
    sheet.rows = heads.iter().map(row).collect();
    sheet
}

/// The length of what the head adds to the residual stream.
fn written(page: Page, at: HeadAt) -> Option<f32> {
    let place = [at.layer as usize - 1, at.head as usize - 1];
    page.seen.with(|seen| seen.as_ref()?.written.get(&place))
}

/// The four numbers as cells.
fn cells(statistics: Memo<Option<Statistics>>) -> AnyView {
    let cell = move |id: &'static str, of: fn(Statistics) -> f32, share: bool| {
        let value = memo(move || statistics.get().map(of));
        let bar = move || {
            let width = value.get().filter(|_| share).unwrap_or(0.0) * 100.0;
            format!("--share:{width:.1}%")
        };
        view! {
            <td data-stat=id class:heads-share=share style=bar
                title=move || value.get().map(|value| value.to_string())>
                {move || value.get().map_or("–".to_owned(), |value| format!("{value:.3}"))}
            </td>
        }
        .into_any()
    };
    [
        cell("entropy", |s| s.entropy, false),
        cell("previous", |s| s.previous, true),
        cell("first", |s| s.first, true),
        cell("distance", |s| s.distance, false),
    ]
    .into_any()
}

/// What a head without any preference would have.
#[component]
fn Alike(page: Page) -> impl IntoView {
    let statistics = memo(move || alike(page));
    view! {
        <tr class="heads-alike" data-testid="heads-alike">
            <th scope="row">"spread evenly"</th>
            <td>"–"</td>
            <td class="hint">"for comparison"</td>
            {cells(statistics)}
            <td>"–"</td>
        </tr>
    }
}

#[component]
fn Row(page: Page, at: HeadAt) -> impl IntoView {
    let HeadAt { layer, head } = at;
    let numbers = memo(move || statistics(page, at));
    let tends_to = move || habit_of(page, at).unwrap_or("–");
    let written = move || written(page, at);
    let is_off = memo(move || page.settings.with(|s| s.off.contains(&at)));
    let cost = memo(move || page.cost_of(at));
    let choose = move |_| {
        page.layer.set(layer);
        page.head.set(head);
    };
    view! {
        <tr class:chosen=move || page.at.get() == at data-testid=format!("heads-row-{layer}-{head}")>
            <th scope="row">
                <button type="button" class="heads-choose" on:click=choose
                    aria-pressed=move || (page.at.get() == at).to_string()>
                    {name(at)}
                </button>
                {move || is_off.get().then_some(" off")}
            </th>
            <td data-stat="cost" class:heads-unsure=move || cost.get().is_some_and(|c| !is_sure(&c))>
                {move || cost.get().map_or("…".to_owned(), |cost| signed(cost.change))}
                <span class="heads-error">
                    {move || cost.get()?.error.map(|error| format!(" ± {error:.4}"))}
                </span>
            </td>
            <td>{tends_to}</td>
            {cells(numbers)}
            <td data-stat="written" title=move || written().map(|w| w.to_string())>
                {move || written().map_or("–".to_owned(), |w| format!("{w:.3}"))}
            </td>
        </tr>
    }
    .into_any()
}

/// Whether the change is more than twice its standard error.
fn is_sure(cost: &unroll_protocol::study::heads::Cost) -> bool {
    cost.error.is_some_and(|error| cost.change.abs() > 2.0 * error)
}

/// From this many times the mean distance of a head without any preference on, a head is said to look far back.
const FARTHER: f32 = 1.1;

/// What is to be seen in this run, from its own numbers.
fn summary(page: Page) -> Option<String> {
    let alike = alike(page)?;
    let (layers, heads) = page.shape.get();
    let all = HeadAt::all((layers, heads));
    // A head that is off still has weights, but it does nothing.
    let is_on = |at: &&HeadAt| page.settings.with(|s| !s.off.contains(at));
    let on: Vec<HeadAt> = all.iter().filter(is_on).copied().collect();
    let known: Vec<(HeadAt, Statistics)> =
        on.iter().filter_map(|at| Some((*at, statistics(page, *at)?))).collect();
    let most = |of: fn(&Statistics) -> f32| {
        known.iter().max_by(|a, b| of(&a.1).total_cmp(&of(&b.1))).copied()
    };
    let previous = most(|s| s.previous).filter(|(_, s)| stands_out(s.previous, alike.previous));
    let far = most(|s| s.distance).filter(|(_, s)| s.distance > FARTHER * alike.distance);
    let sharp = most(|s| -s.entropy).filter(|(_, s)| s.entropy <= EVENLY * alike.entropy);
    let said = [
        previous.map(|(at, s)| {
            format!(
                "{} looks most at the previous token (with {:.0}% of its weight; a head that spreads it \
                 evenly: {:.0}%).",
                name(at),
                100.0 * s.previous,
                100.0 * alike.previous
            )
        }),
        far.map(|(at, s)| {
            format!(
                "{} looks farthest back ({:.1} tokens; evenly: {:.1}).",
                name(at),
                s.distance,
                alike.distance
            )
        }),
        sharp.map(|(at, s)| {
            format!(
                "{} chooses most sharply (entropy {:.2}; evenly: {:.2}).",
                name(at),
                s.entropy,
                alike.entropy
            )
        }),
    ];
    let said = said.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let whose = if on.len() == all.len() { "" } else { ", of the heads that are on" };
    let mut text = match (known.is_empty(), said.is_empty()) {
        (true, _) => "All heads are off.".to_owned(),
        (_, true) => format!("In this run, on this sentence{whose}: no head stands out yet."),
        _ => format!("In this run, on this sentence{whose}: {said}"),
    };
    let costs: Vec<_> = all.iter().filter_map(|at| page.cost_of(*at)).collect();
    if costs.len() == all.len() {
        let dearest = costs.iter().max_by(|a, b| a.change.total_cmp(&b.change))?;
        let unsure = costs.iter().filter(|cost| !is_sure(cost)).count();
        text.push_str(&format!(
            " Losing {} costs most: {}. For {unsure} of {} heads, the cost of losing that one alone can’t \
             be told from 0 here.",
            name(*dearest.off.first()?),
            signed(dearest.change),
            costs.len(),
        ));
    }
    Some(text)
}

#[component]
fn Definitions(page: Page) -> impl IntoView {
    let measured = memo(move || {
        page.costs.with(|costs| costs.first().map(|c| (c.windows, c.tokens, c.before)))
    });
    view! {
        <details class="heads-definitions">
            <summary>"What these numbers are"</summary>
            <dl>
                <dt>"looks mostly at"</dt>
                <dd>
                    "Previous token or first token: at least 40% of its weight lies there. Itself: mean distance \
                     under half a token. Spread evenly: entropy at most 5% below the first row’s. Nearby: mean \
                     distance under half the first row’s. Otherwise: mixed."
                </dd>
                <dt>"entropy"</dt>
                <dd>"−Σ a ln a of a row of weights a, in nats. It is 0 when all weight is on one token, and ln n when it is spread \
                     evenly over n."</dd>
                <dt>"mean distance"</dt>
                <dd>"Σ a · (query − key): how many tokens back it looks on average."</dd>
                <dt>"on the first, on the previous"</dt>
                <dd>"The weight on token 1, and on the token just before the query."</dd>
                <dt>"writes (length)"</dt>
                <dd>"The length of what the head adds to the residual stream, its part of Wᴼ included."</dd>
                <dt>"cost if off"</dt>
                <dd>
                    <Term of=Word::Loss>"Loss"</Term>" with the head’s output set to 0, minus loss with all \
                     heads on. "
                    {move || measured.get().map(|(windows, tokens, before)| format!(
                        "Here: {tokens} characters in {windows} windows of held-out text, loss {before:.4} \
                         with all on. ± is the standard error of the mean over windows. Faint: less than \
                         twice that. Measured again whenever training rests."
                    ))}
                </dd>
            </dl>
            <p class="hint">
                "All but the last are means over the queries of the sentence. The first token is left \
                 out, since it can only look at itself. With heads switched off, the numbers are those of the \
                 model without them."
            </p>
            <p class="field-error">{page.cost_problem}</p>
        </details>
    }
    .into_any()
}
