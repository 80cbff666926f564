//! How surprised each estimate is: on average, against k, pair by pair.

use leptos::prelude::*;
use serde_json::{Value, json};
use unroll_protocol::{
    RunState,
    study::bigram::{
        Curve, MOST_ADDED, Score, Scored, Scores as Surprises, Sentence as Scoring, Term as Pair,
        Unseen, Writing, ask,
    },
};

use super::{SmoothingField, named, nats, short, use_vocabulary, use_writing};
use crate::{
    controls::{ChoiceField, counted, grouped},
    course::{Sentence, use_lab, use_provenance, use_setting},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Reference, Sheet, SheetExport, Stroke, YScale},
    questions::{use_answer, use_fixed_answer},
    reactive::memo,
    store::Store,
    teaching::{GuessFirst, Term, Word},
};

/// Mean surprises and their course in training. `scores_seen` is whether they were on show before.
#[component]
pub fn Scores(scores_seen: RwSignal<bool>) -> impl IntoView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    let k = use_setting(|link| &mut link.bigram.k);
    let scores = use_answer(lab, move || Some(ask::Scores { k: k.get() })).answer;
    let infinite =
        move || scores.with(|s| s.as_ref().and_then(|s| Some(s.counts.held_out?.is_infinite())));
    let explain = move || {
        scores.with(|s| {
            let Some(s) = s else { return String::new() };
            let Some(held_out) = s.counts.held_out else {
                return "Nothing of this text is held out.".to_owned();
            };
            match vocabulary.with(|v| never_seen(s, v)) {
                Some(sentence) => format!("Infinitely. {sentence}"),
                None => format!("Every held-out pair was seen in training: {held_out:.4} nats."),
            }
        })
    };
    let lines = memo(move || {
        let (training, held_out) = lab.history.with(|history| {
            let of = |name| history.named(name).map_or(Vec::new(), |series| series.points());
            (of("training"), of("held out"))
        });
        let references = scores.with(|s| {
            s.as_ref().map_or(Vec::new(), |s| {
                vec![
                    Reference { name: "ln V".into(), y: s.uniform },
                    Reference { name: "raw counts, training text".into(), y: s.counts.training },
                ]
            })
        });
        Lines {
            x_label: "step".into(),
            y_label: "nats per character".into(),
            series: vec![
                Line::new("training", Hue::First, Dash::Solid, training),
                Line::new("held out", Hue::Second, Dash::Dashed, held_out),
            ],
            references,
            y_scale: YScale::Close,
            x_range: Lines::steps(lab.step.get()),
            ..Lines::default()
        }
    });
    let sheet = Callback::new(move |()| scores.with(|s| s.as_deref().map(scores_sheet)));
    let provenance = use_provenance();
    let shown = move || {
        scores_seen.set(true);
        view! {
            <div class="view-bar"><SmoothingField/></div>
            {move || scores.with(|s| {
                // In training, the table is of a step that is past by now.
                let rests = untrack(|| lab.state.get()) == RunState::Paused;
                let step = rests.then(|| untrack(|| lab.shown()));
                s.as_ref().map(|s| vocabulary.with(|v| table(s, v, step)))
            })}
            // Outside of what is built anew with each answer, or it would shut by itself.
            <details class="disclosure" data-testid="bigram-far">
                <summary>"How far from the counts?"</summary>
                {move || scores.with(|s| s.as_ref().map(|s| vocabulary.with(|v| apart(s, v))))}
                <p class="view-note">
                    "The average of −ln p over all pairs, in nats, is the "<Term of=Word::CrossEntropy>"cross-entropy"</Term>
                    ". To a model that knows nothing, all V characters are equally likely, and each costs ln V."
                </p>
                <p class="view-note" data-testid="bigram-before">
                    "The table above shows the model’s loss after its last step. The curve and the time bar show its \
                     loss just before each step."
                </p>
            </details>
            <SheetExport name="bigram-scores" title="Mean surprise of each estimate" provenance sheet/>
        }
    };
    let asked = if scores_seen.get_untracked() {
        shown().into_any()
    } else {
        view! {
            <GuessFirst
                id="bigram-held-out"
                question="The last tenth of the text was held out. How surprised are the raw counts by it on average?".to_owned()
                options=["A little more than by the rest", "As much as a model that knows nothing", "Infinitely"]
                    .map(str::to_owned).to_vec()
                answer=Signal::derive(move || infinite().map(|infinite| if infinite { 2 } else { 0 }))
                explain=Signal::derive(explain)
            >
                {shown()}
            </GuessFirst>
        }
        .into_any()
    };
    view! {
        <div class="view-split bigram-average">
            <LinesFigure name="bigram-loss" title="The table in training" lines=lines
                provenance hint="Press Train: one point per step."/>
            <div class="view-scroll">{asked}</div>
        </div>
    }
    .into_any()
}

fn scores_sheet(scores: &Surprises) -> Sheet {
    let mut sheet = Sheet::new(&["estimate", "training", "held_out"]);
    // JSON has no number for it.
    let number = |surprise: f64| match surprise.is_infinite() {
        true => json!("Infinity"),
        false => json!(surprise),
    };
    let line = |name: &str, score: Score| {
        let held_out = score.held_out.map_or(Value::Null, number);
        vec![json!(name), number(score.training), held_out]
    };
    let uniform = Score { training: scores.uniform, held_out: Some(scores.uniform) };
    sheet.rows = vec![
        line("uniform", uniform),
        line("counts", scores.counts),
        line("smoothed", scores.smoothed),
        line("trained", scores.trained),
    ];
    sheet
}

/// Which held-out pairs the raw counts give no probability; `None` if there is no such pair.
fn never_seen(scores: &Surprises, vocabulary: &[String]) -> Option<String> {
    if scores.unseen.is_empty() {
        return None;
    }
    let pair = |pair: &Unseen| {
        format!("‘{}{}’", short(vocabulary, pair.previous), short(vocabulary, pair.next))
    };
    let pairs = scores.unseen.iter().map(pair).collect::<Vec<_>>().join(", ");
    let kinds = u64::from(scores.unseen_kinds);
    let more = if kinds > scores.unseen.len() as u64 { ", …" } else { "" };
    // One of them may come more than once.
    let different = match scores.unseen_pairs > kinds {
        true => format!(" ({kinds} different ones)"),
        false => String::new(),
    };
    Some(format!(
        "{} of the {} held-out pairs{different} never occur in the training text: {pairs}{more}. Their count is 0, \
         so their probability is 0, and −ln 0 is infinite. One such pair is enough.",
        grouped(scores.unseen_pairs),
        grouped(scores.held_out_pairs)
    ))
}

/// The scores as a table, and what there is to say of them; `step` is the last step taken, where it is known.
fn table(scores: &Surprises, vocabulary: &[String], step: Option<u32>) -> AnyView {
    let now = step
        .map_or_else(|| "now".to_owned(), |step| format!("after step {}", grouped(step.into())));
    let row = |name: &'static str, testid: &'static str, score: Score, of: Option<String>| {
        view! {
            <tr data-testid=testid>
                <th scope="row">{name}{of.map(|of| view! { <small>{of}</small> })}</th>
                <td>{nats(score.training)}</td>
                <td>{score.held_out.map_or_else(|| "–".to_owned(), nats)}</td>
            </tr>
        }
    };
    let uniform = Score { training: scores.uniform, held_out: Some(scores.uniform) };
    view! {
            <table class="bigram-scores" aria-label="Mean surprise of each estimate">
                <thead>
                    <tr>
                        <th scope="col">"estimate"</th>
                        <th scope="col">"training"</th>
                        <th scope="col">"held out"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("nothing known, ln V", "bigram-uniform", uniform, None)}
                    {row("raw counts", "bigram-counts", scores.counts, None)}
                    {row("smoothed counts", "bigram-smoothed", scores.smoothed, None)}
                    {row("trained table", "bigram-trained", scores.trained, Some(now))}
                </tbody>
            </table>
        {never_seen(scores, vocabulary)
            .map(|sentence| view! { <p data-testid="bigram-never-seen">"Why ∞: "{sentence}</p> })}
    }
    .into_any()
}

/// How the scores were measured, and how far the trained table is from the counts.
fn apart(scores: &Surprises, vocabulary: &[String]) -> AnyView {
    let gap = scores.gap;
    view! {
        <p data-testid="bigram-gap">
            {format!(
                "On the training text, the trained table’s loss is {:.4} nats above that of the raw counts: their ",
                gap.divergence
            )}
            <Term of=Word::KlDivergence>"KL divergence"</Term>
            {format!(
                ". Its probabilities are {:.4} off at most, {} after {}, and {:.6} on average.",
                gap.largest,
                named(vocabulary, gap.next),
                named(vocabulary, gap.previous),
                gap.mean,
            )}
            {(gap.lowest < 0.0).then(|| format!(
                " The lowest logit of a pair never seen is −{:.2} ({} after {}), and it goes on falling. Softmax \
                 would give exactly 0 only at minus infinity.",
                -gap.lowest,
                named(vocabulary, gap.lowest_next),
                named(vocabulary, gap.lowest_previous),
            ))}
        </p>
    }
    .into_any()
}

/// The largest k on the axis that shows the valley at its least; a far smaller one than all there are.
const NEAR: f64 = 1.0;

/// Surprise on held-out text against what smoothing adds.
#[component]
pub fn Smoothing() -> impl IntoView {
    let lab = use_lab();
    let k = use_setting(|link| &mut link.bigram.k);
    let curve = use_fixed_answer(lab, || Some(ask::Curve {})).answer;
    let vocabulary = use_vocabulary();
    let is_near = RwSignal::new(false);
    let best = move || curve.with(|c| c.as_ref().and_then(|c| c.best));
    // The best k is to be looked for: it is told once another one was chosen, or asked for.
    let first = k.get_untracked();
    let is_asked = RwSignal::new(false);
    let is_told = move || is_asked.get() || k.get() != first;
    let lines = memo(move || {
        let (is_told, is_near) = (is_told(), is_near.get());
        let size = vocabulary.with(Vec::len);
        curve.with(|c| {
            c.as_deref().map_or_else(Lines::default, |c| against_k(c, size, is_told, is_near))
        })
    });
    let pick = Callback::new(move |chosen: f64| {
        // Two digits are as fine as anyone can point.
        let chosen = format!("{chosen:.1e}").parse::<f32>();
        if let Ok(chosen) = chosen {
            k.set(chosen.clamp(0.0, MOST_ADDED));
        }
    });
    let sentence = move || {
        let Some(raw) = curve.with(|c| c.as_ref().map(|c| c.raw)) else { return String::new() };
        match best() {
            None => "Nothing of this text is held out, so there is no best k.".to_owned(),
            Some(_) if !is_told() => "Choose another k, and the best one appears here.".to_owned(),
            Some(best) => format!(
                "Best on held-out text: k = {}, {} nats. The raw counts (k = 0) have {}. On the training text \
                 smoothing only costs: {} nats in place of {}.",
                told(best.k) as f32,
                best.held_out.map_or_else(String::new, nats),
                raw.held_out.map_or_else(String::new, nats),
                nats(best.training),
                nats(raw.training),
            ),
        }
    };
    view! {
        <div class="view-bar">
            <SmoothingField/>
            <button type="button" class="button" data-testid="bigram-use-best"
                aria-disabled=move || best().is_none().then_some("true")
                on:click=move |_| {
                    is_asked.set(true);
                    if let Some(best) = untrack(best) {
                        k.set(told(best.k) as f32);
                    }
                }>
                "Use the best k"
            </button>
            <button type="button" class="button" data-testid="bigram-zoom"
                aria-pressed=move || is_near.get().to_string()
                on:click=move |_| is_near.update(|is_near| *is_near = !*is_near)>
                "Zoom in on small k"
            </button>
        </div>
        <LinesFigure name="bigram-smoothing" title="Surprise against k" lines=lines
            provenance=use_provenance() on_pick=pick
            marker=Signal::derive(move || (k.get() > 0.0).then(|| k.get().into()))/>
        <p class="bigram-said" data-testid="bigram-best">{sentence}</p>
        <p class="view-note">
            "Click the curve, or press Enter on it, to choose that k. The axis is logarithmic, so k = 0, the raw \
             counts, lies infinitely far to the left."
        </p>
    }
    .into_any()
}

/// A k as fine as the slider is.
fn told(k: f64) -> f64 {
    ((k * 100.0).round() / 100.0).max(0.01)
}

/// The curve, up to where smoothing leaves nothing that is known, or near its least only, which is marked
/// once it `is_told`.
fn against_k(curve: &Curve, vocabulary: usize, is_told: bool, is_near: bool) -> Lines {
    let held_out = curve.points.iter().filter_map(|p| Some((p.k, p.held_out?))).collect::<Vec<_>>();
    let training = curve.points.iter().map(|p| (p.k, p.training)).collect();
    let ends = [curve.points.first(), curve.points.last()].map(|end| end.map_or(NEAR, |p| p.k));
    // Beside all there is the valley is too shallow to be seen.
    let most =
        if is_near { curve.best.map_or(NEAR, |best| NEAR.max(10.0 * best.k)) } else { ends[1] };
    let shown = curve.points.iter().filter(|p| p.k <= most);
    let nothing = Reference { name: "knows nothing, ln V".into(), y: (vocabulary as f64).ln() };
    let references = if is_near || vocabulary == 0 { vec![] } else { vec![nothing] };
    let all = shown.flat_map(|p| [Some(p.training), p.held_out]).flatten();
    let all = all.chain(references.iter().map(|nothing| nothing.y));
    let (low, high) = all.fold((f64::INFINITY, 0.0), |(low, high), y| (y.min(low), y.max(high)));
    let room = (high - low) * 0.08;
    let mut series = vec![
        Line::new("held out", Hue::Second, Dash::Dashed, held_out),
        Line::new("training", Hue::First, Dash::Solid, training),
    ];
    let best = curve.best.filter(|best| is_told && best.k > 0.0);
    series.extend(best.and_then(|best| {
        let points = vec![(told(best.k), best.held_out?)];
        let line = Line::new("lowest", Hue::Second, Dash::Solid, points);
        Some(Line { stroke: Stroke::Marked, ..line })
    }));
    Lines {
        x_label: "smoothing k".into(),
        y_label: "nats per character".into(),
        series,
        references,
        x_log: true,
        x_range: Some((ends[0], most)),
        y_range: (high > low).then_some((low - room, high + room)),
        ..Lines::default()
    }
}

/// A text's surprise, term by term.
#[component]
pub fn Terms() -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    let k = use_setting(|link| &mut link.bigram.k);
    let scored = use_setting(|link| &mut link.bigram.scored);
    let is_drawn = memo(move || scored.get() == Scored::Written);
    let writing = use_writing(lab, move || is_drawn.get()).answer;
    let text = memo(move || match is_drawn.get() {
        false => store.probe.get(),
        true => writing
            .with(|w| w.as_ref().map_or_else(String::new, |w| vocabulary.with(|v| written(w, v)))),
    });
    let asked = use_answer(lab, move || Some(ask::Sentence { text: text.get(), k: k.get() }));
    let (scoring, problem) = (asked.answer, asked.problem);
    let sheet = Callback::new(move |()| {
        scoring.with(|s| s.as_ref().map(|s| vocabulary.with(|v| terms_sheet(s, v))))
    });
    view! {
        <div class="view-bar"><ChoiceField name="bigram-scored"/><SmoothingField/></div>
        <Sentence problem=problem/>
        <section class="figure bigram-surprise" data-testid="figure-bigram-terms"
            data-state=move || if scoring.with(Option::is_some) { "live" } else { "empty" }
            aria-label="Surprise pair by pair">
            {move || scoring.with(|s| s.as_ref().map(|s| vocabulary.with(|v| terms(s, v))))}
            <SheetExport name="bigram-terms" title="Surprise pair by pair"
                provenance=use_provenance() sheet/>
        </section>
        <p class="view-note">"The surprise at each pair, in nats: −ln p of its second character, given its first."</p>
    }
    .into_any()
}

/// What was drawn, as text.
fn written(writing: &Writing, vocabulary: &[String]) -> String {
    let ids = core::iter::once(writing.start).chain(writing.draws.iter().map(|d| d.segment.id));
    ids.filter_map(|id| vocabulary.get(id as usize).map(String::as_str)).collect()
}

/// Surprises are drawn up to this many nats: few are greater but those that are infinite.
const MOST_NATS: f64 = 8.0;

/// A surprise with a bar behind it.
fn cost(probability: f64) -> AnyView {
    let cost = -probability.ln();
    let share = (cost / MOST_NATS).min(1.0);
    view! { <td style=format!("--share:{share:.3}")>{nats(cost)}</td> }.into_any()
}

fn terms(scoring: &Scoring, vocabulary: &[String]) -> AnyView {
    let rows = scoring.terms.iter().map(|term| {
        view! {
            <tr>
                <th scope="row">
                    <span class="bigram-given">{short(vocabulary, term.previous)}</span>
                    {short(vocabulary, term.next)}
                </th>
                <td>{format!("{}/{}", term.count, term.total)}</td>
                {cost(term.counts)}
                {cost(term.smoothed)}
                {cost(term.trained)}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let left_out = (scoring.left_out > 0)
        .then(|| format!(" {} left out.", counted(scoring.left_out.into(), "further pair")));
    view! {
        <div class="figure-box bigram-terms" tabindex="0" role="group" aria-label="The pairs, one after the other">
            <table class="bigram-scores">
                <thead>
                    <tr>
                        <th scope="col">"pair"</th>
                        <th scope="col">"seen"</th>
                        <th scope="col">"counted"</th>
                        <th scope="col">"smoothed"</th>
                        <th scope="col">"trained"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
                <tfoot>
                    <tr data-testid="bigram-mean">
                        <th scope="row">"mean"</th>
                        <td>{counted(scoring.terms.len() as u64, "pair")}</td>
                        <td>{nats(scoring.counts)}</td>
                        <td>{nats(scoring.smoothed)}</td>
                        <td>{nats(scoring.trained)}</td>
                    </tr>
                </tfoot>
            </table>
        </div>
        <p class="readout">
            <span data-testid="bigram-mean-sum">{spelled_out(scoring)}</span>
            <span class="hint">
                {format!(" A model that knows nothing pays ln V = {:.4} per pair.", scoring.uniform)}
                {left_out}
            </span>
        </p>
    }
    .into_any()
}

fn terms_sheet(scoring: &Scoring, vocabulary: &[String]) -> Sheet {
    let columns = ["previous", "next", "count", "total", "p_counts", "p_smoothed", "p_trained"];
    let mut sheet = Sheet::new(&columns);
    let text = |id: u32| json!(vocabulary.get(id as usize));
    let line = |term: &Pair| {
        let counts = [json!(term.count), json!(term.total)];
        let shares = [term.counts, term.smoothed, term.trained].map(|p| json!(p));
        [text(term.previous), text(term.next)].into_iter().chain(counts).chain(shares).collect()
    };
    sheet.rows = scoring.terms.iter().map(line).collect();
    sheet
}

/// The mean of the trained table's costs as a sum, the first and the last terms in full.
fn spelled_out(scoring: &Scoring) -> String {
    const ENDS: usize = 2;
    let costs: Vec<f64> = scoring.terms.iter().map(|term| -term.trained.ln()).collect();
    let number = |cost: &f64| format!("{cost:.4}");
    let sum = if costs.len() <= 2 * ENDS + 1 {
        costs.iter().map(number).collect::<Vec<_>>().join(" + ")
    } else {
        let (first, last) = (&costs[..ENDS], &costs[costs.len() - ENDS..]);
        let ends = [first, last].map(|end| end.iter().map(number).collect::<Vec<_>>().join(" + "));
        ends.join(" + … + ")
    };
    format!(
        "Trained: {sum} = {:.4}, over {} pairs: {:.4}",
        costs.iter().sum::<f64>(),
        costs.len(),
        scoring.trained
    )
}
