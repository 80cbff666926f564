//! The sum behind one unit at one step, beside the matrices it takes its weights from.

use leptos::{ev, prelude::*};
use unroll_protocol::study::rnn::{Run, Unrolled};
use wasm_bindgen::JsCast;

use super::{
    SUM, Shared,
    matrix::{MatrixField, MatrixPanel},
};
use crate::figures::four_decimals;
use crate::{figures::token, reactive::memo, store::Store};

/// Products written out before the rest is gathered.
const WRITTEN: usize = 5;
/// The step that is taken apart while none is pinned: the first has no state before it.
const USUAL: usize = 5;

/// One unit's way to its value.
struct Sum {
    tanh: bool,
    /// From 1.
    t: usize,
    unit: usize,
    token: String,
    from_input: f32,
    /// Unit of the state before (from 1), weight, its value, product; largest first.
    terms: Vec<(usize, f32, f32, f32)>,
    bias: Option<f32>,
    sum: f32,
    state: f32,
}

impl Sum {
    /// `at` and `unit` count from 1. `None` outside the state, or without a sentence.
    fn new(all: &Unrolled, at: u32, unit: u32) -> Option<Self> {
        let run: &Run = all.edited.as_ref().map_or(&all.run, |edited| &edited.1);
        let t = place(at, run.ids.len()).checked_sub(1)?;
        let i = (unit as usize).checked_sub(1)?;
        let id = *run.ids.get(t)? as usize;
        let weights = all.u.block(&[i])?;
        let zeros = vec![0.0; weights.len()];
        let before = match t.checked_sub(1) {
            Some(before) => run.states.block(&[before])?,
            None => &zeros,
        };
        let terms = weights.iter().zip(before).enumerate();
        let mut terms: Vec<_> = terms.map(|(j, (u, s))| (j + 1, *u, *s, u * s)).collect();
        terms.sort_by(|a, b| b.3.abs().total_cmp(&a.3.abs()));
        Some(Self {
            tanh: all.tanh,
            t: t + 1,
            unit: i + 1,
            token: token::mark(all.tokens.get(id)?),
            from_input: all.w.get(&[i, id])?,
            terms,
            bias: all.b.get(i).copied(),
            sum: run.sums.get(&[t, i])?,
            state: run.states.get(&[t, i])?,
        })
    }
}

/// The step on show, from 1: the pinned one, where the sentence is that long. 0 without a sentence.
pub fn place(at: u32, length: usize) -> usize {
    match at as usize {
        0 => USUAL.min(length),
        at => at.min(length),
    }
}

/// Shows the sum instead of the diagram, and gives it the keyboard.
pub fn open(store: Store) {
    store.link.update(|link| link.view = SUM.into());
    focus_later("rnn-arithmetic");
}

/// Focuses what a view that is about to come on show holds.
fn focus_later(testid: &'static str) {
    request_animation_frame(move || {
        let found = document().query_selector(&format!("[data-testid={testid}]")).ok().flatten();
        if let Some(found) = found.and_then(|found| found.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Focusing an element that is still there cannot fail.
            let _ = found.focus();
        }
    });
}

/// The arithmetic, and the matrix beside it.
#[component]
pub fn SumView(shared: Shared) -> impl IntoView {
    let unit = shared.unit;
    let hidden = memo(move || shared.store.link.with(|link| link.rnn.hidden));
    let length =
        memo(move || shared.all.with(|all| all.as_ref().map_or(0, |all| all.run.ids.len())));
    let at = memo(move || place(shared.at.get(), length.get()) as u32);
    let sum = Memo::new_with_compare(
        move |_| {
            let (at, unit) = (at.get(), unit.get());
            shared.all.with(|all| all.as_ref().and_then(|all| Sum::new(all, at, unit)))
        },
        |_, _| true,
    );
    let back = move || {
        shared.at.set(0);
        shared.store.link.update(|link| link.view.clear());
        focus_later("rnn-track");
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            event.prevent_default();
            back();
        }
    };
    let move_unit = move |by: i32| {
        unit.update(|unit| *unit = unit.saturating_add_signed(by).clamp(1, hidden.get_untracked()));
    };
    let move_at = move |by: i32| {
        let most = length.get_untracked().max(1) as u32;
        shared.at.set(at.get_untracked().saturating_add_signed(by).clamp(1, most));
    };
    view! {
        <div class="view-fill rnn-room" on:keydown=on_key>
            <div class="view-bar">
                <button type="button" class="button" data-testid="rnn-unpin" on:click=move |_| back()>
                    "← Diagram"
                </button>
                <Stepper name="Unit" testid="rnn-unit" value=unit.into() most=hidden.into() by=Callback::new(move_unit)/>
                <Stepper name="t" testid="rnn-at" value=at.into() most=Signal::derive(move || length.get() as u32)
                    by=Callback::new(move_at)/>
                <MatrixField shared/>
            </div>
            <div class="view-split rnn-sum-split">
                <section class="rnn-arithmetic" data-testid="rnn-arithmetic" tabindex="-1"
                    aria-label="Arithmetic of one unit">
                    <h3>{move || format!("Unit {} at t = {}", unit.get(), at.get())}</h3>
                    {move || sum.with(|sum| sum.as_ref().map(sum_table))}
                </section>
                <MatrixPanel shared/>
            </div>
        </div>
    }
    .into_any()
}

/// A whole number with a button to either side.
#[component]
fn Stepper(
    name: &'static str,
    testid: &'static str,
    value: Signal<u32>,
    most: Signal<u32>,
    by: Callback<i32>,
) -> impl IntoView {
    let words = move |way: &str| format!("{way} {}", if name == "t" { "step" } else { "unit" });
    view! {
        <div class="rnn-stepper">
            <span>{name}</span>
            <button type="button" class="button" aria-label=words("Previous") data-testid=format!("{testid}-before")
                aria-disabled=move || (value.get() <= 1).then_some("true") on:click=move |_| by.run(-1)>"‹"</button>
            <output>{value}</output>
            <button type="button" class="button" aria-label=words("Next") data-testid=format!("{testid}-next")
                aria-disabled=move || (value.get() >= most.get()).then_some("true") on:click=move |_| by.run(1)>"›"</button>
        </div>
    }
    .into_any()
}

/// Where the bars of a sum begin and end: each goes on where the one before has ended.
struct Fall {
    least: f32,
    most: f32,
    now: f32,
}

impl Fall {
    /// Of terms in the order in which they are added.
    fn new(terms: impl Iterator<Item = f32>, others: [f32; 2]) -> Self {
        let (mut least, mut most, mut now) = (0f32, 0f32, 0f32);
        let sums = terms.map(|term| {
            now += term;
            now
        });
        for value in sums.chain(others) {
            (least, most) = (least.min(value), most.max(value));
        }
        Self { least, most, now: 0.0 }
    }

    /// Where a value stands, in percent of the way.
    fn at(&self, value: f32) -> f32 {
        100.0 * (value - self.least) / (self.most - self.least).max(f32::MIN_POSITIVE)
    }

    /// The next term's bar.
    fn add(&mut self, term: f32) -> AnyView {
        let from = self.now;
        self.now += term;
        self.bar(from, self.now)
    }

    /// A bar from one value to another, with a line at 0.
    fn bar(&self, from: f32, to: f32) -> AnyView {
        let (left, right) = (self.at(from.min(to)), self.at(from.max(to)));
        let color = if to < from { "var(--signed-low)" } else { "var(--signed-high)" };
        let bar = format!("left:{left:.2}%;width:{:.2}%;background:{color}", right - left);
        let zero = format!("left:{:.2}%", self.at(0.0));
        view! { <td class="rnn-fall"><div><i style=bar></i><b style=zero></b></div></td> }
            .into_any()
    }
}

fn sum_table(sum: &Sum) -> AnyView {
    let Sum { tanh, t, unit, token, from_input, terms, bias, sum, state } = sum;
    let (t, unit, from_input, sum, state) = (*t, *unit, *from_input, *sum, *state);
    let from_state: f32 = terms.iter().map(|term| term.3).sum();
    let written = if t == 1 { 0 } else { WRITTEN.min(terms.len()) };
    let rest: f32 = terms[written..].iter().map(|term| term.3).sum();
    let rest_count = terms.len() - written;
    let bias_value = bias.unwrap_or(0.0);
    let added = terms[..written].iter().map(|term| term.3);
    let added = core::iter::once(from_input).chain(added).chain([rest, bias_value]);
    let mut fall = Fall::new(added, [sum, state]);
    let row = |&(j, u, s, product): &(usize, f32, f32, f32), bar: Option<AnyView>| {
        view! {
            <tr class="rnn-term">
                <td>"U"<sub>{format!("{unit},{j}")}</sub>" × s"<sub>{format!("{},{j}", t - 1)}</sub></td>
                <td class="number">{four_decimals(u)}" × "{four_decimals(s)}</td>
                <td class="number">{four_decimals(product)}</td>
                {bar}
            </tr>
        }
    };
    let of_input = fall.add(from_input);
    let rows = terms[..written].iter().map(|term| row(term, Some(fall.add(term.3)))).collect_view();
    let others = terms[written..].iter().map(|term| row(term, None)).collect_view();
    let of_rest = (rest_count > 0).then(|| fall.add(rest));
    let of_bias = fall.add(bias_value);
    let (of_sum, of_state) = (fall.bar(0.0, sum), fall.bar(0.0, state));
    let rest_words = match (t, rest_count) {
        (1, n) => format!("s0 is 0, so all {n} products are 0"),
        (_, 1) => "the other one".to_owned(),
        (_, n) => format!("the other {n} together"),
    };
    let f = if *tanh { "tanh" } else { "σ" };
    view! {
        <div class="view-scroll rnn-sum-scroller" tabindex="0" role="region" aria-label="Terms of the sum">
            <table class="rnn-sum">
                <thead>
                    <tr>
                        <th scope="col">"Term"</th><th scope="col">"Product"</th><th scope="col">"Value"</th>
                        <th scope="col">"Added up"</th>
                    </tr>
                </thead>
                <tbody>
                    <tr data-part="w">
                        <th scope="row">
                            "W x"<sub>{t}</sub>": "<span class="hint-more">"column "</span>"‘"{token.clone()}"’"
                            <span class="hint-more">" of row "{unit}</span>
                        </th>
                        <td class="number">{four_decimals(from_input)}" × 1"</td>
                        <td class="number" data-testid="rnn-from-input">{four_decimals(from_input)}</td>
                        {of_input}
                    </tr>
                    <tr data-part="u">
                        <th scope="row" colspan="2">"U s"<sub>{t - 1}</sub>": row "{unit}" times the state before"</th>
                        <td class="number" data-testid="rnn-from-state">{four_decimals(from_state)}</td>
                        <td></td>
                    </tr>
                    {rows}
                    {of_rest.map(|bar| view! {
                        <tr class="rnn-term">
                            <td colspan="2">{rest_words}</td>
                            <td class="number">{four_decimals(rest)}</td>
                            {bar}
                        </tr>
                    })}
                    <tr>
                        <th scope="row">
                            {if bias.is_some() { "b: the bias" } else { "no bias" }}
                            <span class="hint-more">{bias.map(|_| " of this unit")}</span>
                        </th>
                        <td></td>
                        <td class="number" data-testid="rnn-bias">{four_decimals(bias_value)}</td>
                        {of_bias}
                    </tr>
                    <tr class="rnn-total">
                        <th scope="row">"Sum"</th>
                        <td></td>
                        <td class="number" data-testid="rnn-sum">{four_decimals(sum)}</td>
                        {of_sum}
                    </tr>
                    <tr class="rnn-total" data-part="state">
                        <th scope="row">"s"<sub>{t}</sub><span class="hint-more">" of this unit"</span></th>
                        <td class="number">{f}"("{four_decimals(sum)}")"</td>
                        <td class="number" data-testid="rnn-state">{four_decimals(state)}</td>
                        {of_state}
                    </tr>
                </tbody>
            </table>
            {(t > 1 && rest_count > 0).then(|| view! {
                <details>
                    <summary>{format!("The other {rest_count} products")}</summary>
                    <table class="rnn-sum rnn-others"><tbody>{others}</tbody></table>
                </details>
            })}
        </div>
    }
    .into_any()
}
