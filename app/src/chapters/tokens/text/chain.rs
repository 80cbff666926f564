//! The probability of a sentence as a product, factor by factor.

use std::sync::Arc;

use crate::reactive::memo;
use leptos::{ev, prelude::*};
use serde_json::json;
use unroll_protocol::study::tokens::{Chain, Piece};

use crate::{
    figures::{
        Provenance, Sheet, SheetExport, exact, power_of_ten,
        reading::{listener, walk},
        short, superscript,
        token::{mark, spoken},
    },
    pointer::worded,
};

/// What the factors come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// The product in 64 bits: 0 where it is below the smallest number there is.
    pub product: f64,
    /// Sum of the logarithms.
    pub sum: f64,
}

/// Product and sum of the first `count` factors.
pub fn total(log_probabilities: &[f32], count: usize) -> Total {
    let logs = || log_probabilities.iter().take(count).map(|&log| f64::from(log));
    Total { product: logs().map(f64::exp).product(), sum: logs().sum() }
}

fn text(piece: &Piece) -> String {
    if piece.end { "end".to_owned() } else { mark(&piece.text) }
}

fn name(piece: &Piece) -> String {
    if piece.end { "end token".to_owned() } else { spoken(&piece.text) }
}

/// Two digits, or a power of ten where that is shorter.
fn probability(p: f64) -> String {
    if p >= 0.01 { format!("{p:.2}") } else { power_of_ten(p, 0) }
}

/// Where a factor's fall of the product begins and how long it is, as shares of the whole fall.
fn fall(log_probabilities: &[f32], index: usize) -> [f64; 2] {
    let sum = |count| total(log_probabilities, count).sum;
    let whole = sum(log_probabilities.len()).min(-f64::MIN_POSITIVE);
    [sum(index), sum(index + 1) - sum(index)].map(|part| part / whole)
}

/// One card for each factor p(token | token before), and what they multiply to. Pointing at a card
/// reads it and the product so far; a click keeps the reading.
#[component]
pub fn ChainFigure(
    chain: Signal<Option<Arc<Chain>>>,
    provenance: Signal<Provenance>,
) -> impl IntoView {
    let sheet = Callback::new(move |()| chain.with(|c| c.as_ref().map(|c| sheet(c))));
    let pieces =
        memo(move || chain.with(|c| c.as_ref().map_or_else(Vec::new, |c| c.pieces.clone())));
    let pointed = RwSignal::new(None::<usize>);
    let pinned = RwSignal::new(None::<usize>);
    let stop = RwSignal::new(0usize);
    let read = memo(move || {
        let factors = chain.with(|c| c.as_ref().map_or(0, |c| c.log_probabilities.len()));
        pointed.get().or(pinned.get()).filter(|index| *index < factors)
    });
    let log = move |index: usize| {
        memo(move || {
            chain.with(|c| c.as_ref()?.log_probabilities.get(index).copied()).unwrap_or_default()
        })
    };
    let cards = move || {
        let pieces = pieces.get();
        pinned.set(None);
        stop.set(0);
        (1..pieces.len())
            .map(|t| {
                let index = t - 1;
                let log = log(index);
                let p = move || f64::from(log.get()).exp();
                let fallen = memo(move || {
                    chain
                        .with(|c| c.as_ref().map(|c| fall(&c.log_probabilities, index)))
                        .unwrap_or_default()
                });
                let (token, before) = (text(&pieces[t]), text(&pieces[index]));
                let spoken = format!("{} after {}", name(&pieces[t]), name(&pieces[index]));
                view! {
                    <button type="button" class="factor" class:factor-end=pieces[t].end
                        class:factor-read=move || read.get() == Some(index)
                        data-testid=format!("factor-{t}")
                        title=spoken
                        aria-pressed=move || (pinned.get() == Some(index)).to_string()
                        tabindex=move || if stop.get() == index { "0" } else { "-1" }
                        on:pointerenter=move |e: ev::PointerEvent| {
                            if e.pointer_type() != "touch" {
                                pointed.set(Some(index));
                            }
                        }
                        on:focus=move |_| { stop.set(index); pointed.set(Some(index)); }
                        on:blur=move |_| pointed.set(None)
                        on:click=move |_| pinned.update(|pinned| {
                            *pinned = (*pinned != Some(index)).then_some(index);
                        })>
                        <span class="factor-token">{token}</span>
                        <span class="factor-before">"|" {before}</span>
                        <span class="factor-bar" aria-hidden="true">
                            <i style=move || {
                                let [from, by] = fallen.get().map(|share| share * 100.0);
                                format!("--from:{from:.2}%;height:{by:.2}%")
                            }></i>
                        </span>
                        <span class="factor-value">{move || probability(p())}</span>
                    </button>
                }
                .into_any()
            })
            .collect_view()
    };
    let reading = move || {
        let index = read.get()?;
        chain.with(|c| {
            let c = c.as_ref()?;
            let log = f64::from(c.log_probabilities[index]);
            let so_far = total(&c.log_probabilities, index + 1);
            Some(format!(
                "p({} | {}) = {}, ln p = {}. The first {} factors: product {}, sum of ln p {}.",
                text(&c.pieces[index + 1]),
                text(&c.pieces[index]),
                short(log.exp()),
                short(log),
                index + 1,
                short(so_far.product),
                short(so_far.sum),
            ))
        })
    };
    let sums = memo(move || {
        chain.with(|c| c.as_ref().map(|c| total(&c.log_probabilities, c.log_probabilities.len())))
    });
    let product = move || {
        sums.get().map(|sums| match sums.product {
            0.0 => "0: too small for a 64-bit number".to_owned(),
            product => power_of_ten(product, 3),
        })
    };
    let per = move || {
        let sums = sums.get()?;
        chain.with(|c| {
            let c = c.as_ref()?;
            let (tokens, characters) = (c.log_probabilities.len(), c.characters.max(1));
            Some(format!(
                "−ln p is {} per token ({tokens} tokens) and {} per character ({characters} \
                 characters). A model that knows nothing pays ln {} = {} per token: its product is about 10{}.",
                short(round(-sums.sum / tokens as f64)),
                short(round(-sums.sum / f64::from(characters))),
                c.vocabulary,
                short(round(f64::from(c.vocabulary).ln())),
                superscript((-f64::from(c.vocabulary).log10() * tokens as f64).round() as i32),
            ))
        })
    };
    view! {
        <section class="figure tokens-chain" data-testid="figure-tokens-chain"
            data-state=move || if chain.with(Option::is_some) { "live" } else { "empty" }
            aria-label="The sentence’s probability as a product">
            <div class="figure-box factors" role="group" on:keydown=move |e| {
                    if let Some(row) = listener(&e) {
                        walk(&e, &row, stop.get_untracked(), true);
                    }
                }
                aria-label="Factors: arrow keys go from one to the next"
                on:pointerleave=move |_| pointed.set(None)>
                {cards}
            </div>
            <div class="chain-sums">
                <dl class="chain-totals">
                    <div>
                        <dt>"product"</dt>
                        <dd class="number" data-testid="chain-product">{product}</dd>
                    </div>
                    <div>
                        <dt>"sum of ln p"</dt>
                        <dd class="number" data-testid="chain-sum"
                            data-value=move || sums.get().map(|sums| sums.sum.to_string())>
                            {move || sums.get().map(|sums| short(round(sums.sum)))}
                        </dd>
                    </div>
                </dl>
                <p class="hint" data-testid="chain-per">{per}</p>
            </div>
            <p class="readout" data-testid="chain-readout">
                {move || match reading() {
                    Some(text) => text.into_any(),
                    None => view! { <span class="hint">{worded("Point at a factor to read it.")}</span> }.into_any(),
                }}
            </p>
            <SheetExport name="tokens-chain" title="A sentence as a product" provenance sheet/>
        </section>
    }
    .into_any()
}

fn sheet(chain: &Chain) -> Sheet {
    let mut sheet = Sheet::new(&["t", "before", "token", "ln_probability"]);
    let line = |(t, log): (usize, &f32)| {
        let (before, token) = (text(&chain.pieces[t]), text(&chain.pieces[t + 1]));
        vec![json!(t + 1), json!(before), json!(token), exact(*log)]
    };
    sheet.rows = chain.log_probabilities.iter().enumerate().map(line).collect();
    sheet
}

/// To three digits behind the point.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_goes_on_where_the_product_ends() {
        let logs = [0.5f32.ln(), 0.25f32.ln(), 0.125f32.ln()];
        let all = total(&logs, 3);
        assert!((all.product - 1.0 / 64.0).abs() < 1e-7);
        assert!((all.sum - (1.0f64 / 64.0).ln()).abs() < 1e-6);
        assert!((total(&logs, 1).product - 0.5).abs() < 1e-7);
        let long = total(&[-3.0; 400], 400);
        assert_eq!((long.product, long.sum), (0.0, -1200.0));
        let [from, by] = fall(&logs, 2);
        assert!((from - 0.5).abs() < 1e-6 && (by - 0.5).abs() < 1e-6, "{from} {by}");
    }

    #[test]
    fn probabilities_fit_a_card() {
        assert_eq!(probability(0.4567), "0.46");
        assert_eq!(probability(0.000_321), "3·10⁻⁴");
    }
}
