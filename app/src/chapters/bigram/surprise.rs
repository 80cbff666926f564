//! How surprised each estimate is: on average, against k, pair by pair.

use leptos::{html, prelude::*};
use unroll_protocol::study::bigram::{
    Answer, Curve, MOST_ADDED, Question, Score, Scored, Scores as Surprises, Sentence as Scoring,
    Unseen, Writing,
};

use super::{named, nats, part_of, short, use_part, use_vocabulary, use_writing};
use crate::{
    controls::{ChoiceField, counted},
    course::{Sentence, panel, use_fixed_answer, use_lab, use_provenance, use_setting},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Reference, use_visible},
    store::Store,
    teaching::{GuessFirst, Term, Word},
};

fn use_scores(seen: Signal<bool>) -> Memo<Option<Surprises>> {
    let lab = use_lab();
    let k = use_setting(|link| &mut link.bigram.k);
    use_part(
        lab,
        seen,
        move || Question::Scores { k: k.get() },
        |answer| if let Answer::Scores(scores) = answer { Some(&**scores) } else { None },
    )
    .0
}

/// The table of mean surprises, and its course in training.
#[component]
pub fn Scores() -> impl IntoView {
    panel("panel", scores)
}

fn scores(seen: Signal<bool>) -> AnyView {
    let lab = use_lab();
    let vocabulary = use_vocabulary();
    let scores = use_scores(seen);
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
    let lines = Memo::new(move |_| {
        let (training, held_out) = lab.history.with(|history| {
            let of = |name| history.named(name).map_or(Vec::new(), |series| series.points());
            (of("training"), of("held out"))
        });
        let references = scores.with(|s| {
            s.as_ref().map_or(Vec::new(), |s| {
                vec![
                    Reference { name: "ln V".into(), y: s.uniform },
                    Reference { name: "raw counts".into(), y: s.counts.training },
                ]
            })
        });
        Lines {
            x_label: "step".into(),
            y_label: "nats per character".into(),
            series: vec![
                Line::new("training", Hue::Train, Dash::Solid, training),
                Line::new("held out", Hue::HeldOut, Dash::Dashed, held_out),
            ],
            references,
            x_range: Lines::steps(lab.step.get()),
            ..Lines::default()
        }
    });
    view! {
        <h2>"How surprised, on average?"</h2>
        <p>
            "The average of −ln p over all pairs, in nats, is the "<Term of=Word::CrossEntropy/>
            ". Knowing nothing, every one of V characters is as likely: ln V."
        </p>
        <GuessFirst
            id="bigram-held-out"
            question="The last tenth of the text was held out. How surprised are the raw counts by it, on average?".to_owned()
            options=["A little more than by the rest", "As much as one who knows nothing", "Infinitely"]
                .map(str::to_owned).to_vec()
            answer=Signal::derive(move || infinite().map(|infinite| if infinite { 2 } else { 0 }))
            explain=Signal::derive(explain)
        >
            {move || scores.with(|s| s.as_ref().map(|s| vocabulary.with(|v| table(s, v))))}
        </GuessFirst>
        <LinesFigure name="bigram-loss" title="The table in training" lines=lines
            provenance=use_provenance(lab) hint="Press Train: one point a step."/>
    }
    .into_any()
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
    let more = if scores.unseen_kinds as usize > scores.unseen.len() { ", …" } else { "" };
    Some(format!(
        "{} of the {} held-out pairs never occur in the training text: {pairs}{more}. Their counts are 0, so is their \
         probability, and −ln 0 is infinite: one such pair is enough.",
        scores.unseen_pairs, scores.held_out_pairs
    ))
}

fn table(scores: &Surprises, vocabulary: &[String]) -> AnyView {
    let row = |name: &'static str, testid: &'static str, score: Score| {
        view! {
            <tr data-testid=testid>
                <th scope="row">{name}</th>
                <td>{nats(score.training)}</td>
                <td>{score.held_out.map_or_else(|| "–".to_owned(), nats)}</td>
            </tr>
        }
    };
    let uniform = Score { training: scores.uniform, held_out: Some(scores.uniform) };
    let gap = scores.gap;
    view! {
        <div class="bigram-scroll" tabindex="0" role="region" aria-label="Mean surprise of each estimate">
            <table class="bigram-scores">
                <thead>
                    <tr>
                        <th scope="col">"estimate"</th>
                        <th scope="col">"training"</th>
                        <th scope="col">"held out"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("knowing nothing, ln V", "bigram-uniform", uniform)}
                    {row("raw counts", "bigram-counts", scores.counts)}
                    {row("smoothed counts", "bigram-smoothed", scores.smoothed)}
                    {row("trained table", "bigram-trained", scores.trained)}
                </tbody>
            </table>
        </div>
        {never_seen(scores, vocabulary)
            .map(|sentence| view! { <p data-testid="bigram-never-seen">"Why ∞: "{sentence}</p> })}
        <p data-testid="bigram-gap">
            {format!(
                "The trained table lies {:.4} nats above the raw counts on the training text (their KL divergence); \
                 its probabilities are {:.4} off at most, {} after {}, and {:.6} on average.",
                gap.divergence,
                gap.largest,
                named(vocabulary, gap.next),
                named(vocabulary, gap.previous),
                gap.mean,
            )}
            {(gap.lowest < 0.0).then(|| format!(
                " The lowest logit of a pair never seen is {:.2} ({} after {}), and it goes on falling: only e to the \
                 minus infinity is 0.",
                gap.lowest,
                named(vocabulary, gap.lowest_next),
                named(vocabulary, gap.lowest_previous),
            ))}
        </p>
    }
    .into_any()
}

/// The largest k that the curve is drawn to.
const MOST_DRAWN_TO: f64 = 10.0;

/// Surprise on held-out text against what smoothing adds.
#[component]
pub fn Smoothing() -> impl IntoView {
    let lab = use_lab();
    let k = use_setting(|link| &mut link.bigram.k);
    let answered = use_fixed_answer(lab, || Some(Question::Curve.into()));
    let curve = part_of(answered, |answer| match answer {
        Answer::Curve(curve) => Some(curve),
        _ => None,
    });
    let lines =
        Memo::new(move |_| curve.with(|c| c.as_ref().map_or_else(Lines::default, against_k)));
    let best = move || curve.with(|c| c.as_ref().and_then(|c| c.best));
    let pick = Callback::new(move |log_k: f64| {
        // Two digits are as fine as anyone can point.
        let chosen = format!("{:.1e}", 10f64.powf(log_k)).parse::<f32>();
        if let Ok(chosen) = chosen {
            k.set(chosen.clamp(0.0, MOST_ADDED));
        }
    });
    let sentence = move || {
        let Some(raw) = curve.with(|c| c.as_ref().map(|c| c.raw)) else { return String::new() };
        match best() {
            None => "Nothing of this text is held out, so there is no best k.".to_owned(),
            Some(best) => format!(
                "Best on held-out text: k = {:.3}, {} nats; the raw counts (k = 0) have {}. On the training text \
                 smoothing only costs: {} against {}.",
                best.k,
                best.held_out.map_or_else(String::new, nats),
                raw.held_out.map_or_else(String::new, nats),
                nats(best.training),
                nats(raw.training),
            ),
        }
    };
    view! {
        <div class="panel">
            <h2>"What smoothing changes"</h2>
            <p>
                "Click the curve, or press Enter on it, to choose that k. On this axis k = 0, the raw counts, lies \
                 infinitely far to the left; the line below says what it costs."
            </p>
            <LinesFigure name="bigram-smoothing" title="Surprise against k" lines=lines
                provenance=use_provenance(lab) on_pick=pick
                marker=Signal::derive(move || (k.get() > 0.0).then(|| f64::from(k.get()).log10()))/>
            <p data-testid="bigram-best">{sentence}</p>
            <button type="button" class="button" data-testid="bigram-use-best"
                aria-disabled=move || best().is_none().then_some("true")
                on:click=move |_| {
                    // As fine as the slider is.
                    if let Some(best) = untrack(best) {
                        k.set(((best.k * 100.0).round() / 100.0).max(0.01) as f32);
                    }
                }>
                "Use the best k"
            </button>
        </div>
    }
    .into_any()
}

fn against_k(curve: &Curve) -> Lines {
    let held_out =
        curve.points.iter().filter_map(|p| Some((p.k.log10(), p.held_out?))).collect::<Vec<_>>();
    let training = curve.points.iter().map(|p| (p.k.log10(), p.training)).collect();
    // Beyond, the surprise rises so steeply that the dip could not be seen.
    let shown = curve.points.iter().filter(|p| p.k <= MOST_DRAWN_TO);
    let all = shown.flat_map(|p| [Some(p.training), p.held_out]).flatten();
    let (low, high) = all.fold((f64::INFINITY, 0.0), |(low, high), y| (y.min(low), y.max(high)));
    let room = (high - low) * 0.08;
    Lines {
        x_label: "log10 of k".into(),
        y_label: "nats per character".into(),
        series: vec![
            Line::new("held out", Hue::HeldOut, Dash::Dashed, held_out),
            Line::new("training", Hue::Train, Dash::Solid, training),
        ],
        x_range: Some((curve.points.first().map_or(-4.0, |p| p.k.log10()), MOST_DRAWN_TO.log10())),
        y_range: (high > low).then_some((low - room, high + room)),
        ..Lines::default()
    }
}

/// A text's surprise, term by term.
#[component]
pub fn Terms() -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let root = NodeRef::<html::Div>::new();
    let seen = use_visible(root);
    let vocabulary = use_vocabulary();
    let k = use_setting(|link| &mut link.bigram.k);
    let scored = use_setting(|link| &mut link.bigram.scored);
    let (writing, _) = use_writing(lab, seen, move || scored.get() == Scored::Written);
    let text = Memo::new(move |_| match scored.get() {
        Scored::Sentence => store.probe.get(),
        Scored::Written => writing
            .with(|w| w.as_ref().map_or_else(String::new, |w| vocabulary.with(|v| written(w, v)))),
    });
    let (scoring, problem) = use_part(
        lab,
        seen,
        move || Question::Sentence { text: text.get(), k: k.get() },
        |answer| if let Answer::Sentence(scoring) = answer { Some(scoring) } else { None },
    );
    view! {
        <div class="panel" data-testid="figure-bigram-terms" node_ref=root>
            <h2>"A sentence, pair by pair"</h2>
            <ChoiceField name="bigram-scored"/>
            <Sentence problem=problem/>
            <p>"What each pair costs: −ln p of its second character, given its first."</p>
            {move || scoring.with(|s| s.as_ref().map(|s| vocabulary.with(|v| terms(s, v))))}
        </div>
    }
    .into_any()
}

/// What was drawn, as text.
fn written(writing: &Writing, vocabulary: &[String]) -> String {
    let ids = core::iter::once(writing.start).chain(writing.draws.iter().map(|d| d.segment.id));
    ids.filter_map(|id| vocabulary.get(id as usize).map(String::as_str)).collect()
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
                <td>{nats(-term.counts.ln())}</td>
                <td>{nats(-term.smoothed.ln())}</td>
                <td>{nats(-term.trained.ln())}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    let left_out = (scoring.left_out > 0)
        .then(|| format!(" {} left out.", counted(scoring.left_out.into(), "further pair")));
    view! {
        <div class="bigram-scroll bigram-terms" tabindex="0" role="region" aria-label="Surprise pair by pair">
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
                        <td>{scoring.terms.len()}</td>
                        <td>{nats(scoring.counts)}</td>
                        <td>{nats(scoring.smoothed)}</td>
                        <td>{nats(scoring.trained)}</td>
                    </tr>
                </tfoot>
            </table>
        </div>
        <p class="bigram-sum" data-testid="bigram-mean-sum">{spelled_out(scoring)}</p>
        <p class="hint">
            {format!("Knowing nothing costs ln V = {:.4} a pair.", scoring.uniform)}
            {left_out}
        </p>
    }
    .into_any()
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
