//! Two models trained alike, one of which could see the answers.

use leptos::{html, prelude::*};
use unroll_protocol::study::mask::{Answer, Question, SERIES, Trained, Writing};

use super::Page;
use crate::{
    course::{use_answer, use_seen},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Reference, YScale, token, use_visible},
    teaching::{Term, Word},
};

/// Characters each model writes.
const LENGTH: u32 = 48;

/// Colour and dashes of each of [`SERIES`].
const STYLES: [(Hue, Dash); 4] = [
    (Hue::Train, Dash::Solid),
    (Hue::Train, Dash::Dashed),
    (Hue::HeldOut, Dash::Solid),
    (Hue::HeldOut, Dash::Dashed),
];

pub fn panel(page: Page) -> AnyView {
    let lab = page.lab;
    let root = NodeRef::<html::Section>::new();
    let visible = use_visible(root);
    let nothing = Memo::new(move |_| {
        let vocabulary =
            lab.started.with(|started| started.as_ref().map_or(0, |s| s.vocabulary.len()));
        (vocabulary > 1).then(|| (vocabulary as f64).ln())
    });
    let lines = Memo::new(move |_| {
        lab.history.with(|history| {
            let series = SERIES.iter().zip(STYLES).map(|(name, (hue, dash))| Line {
                name: (*name).to_owned(),
                hue,
                dash,
                points: history.named(name).map_or(Vec::new(), |series| series.points()),
            });
            let reference =
                nothing.get().map(|y| Reference { name: "all alike (ln V)".to_owned(), y });
            Lines {
                x_label: "step".into(),
                y_label: "loss".into(),
                series: series.collect(),
                references: reference.into_iter().collect(),
                y_scale: YScale::Log,
                x_range: Lines::steps(history.last_step()),
                y_range: None,
            }
        })
    });
    let losses = Memo::new(move |_| {
        let last = |name| lab.history.with(|history| history.named(name).and_then(|s| s.last()));
        SERIES.map(last)
    });
    let losses: Signal<[Option<f32>; 4]> = use_seen(lab, visible, losses.into());
    let last = move |index: usize| losses.with(|losses| losses[index]);
    let shown = move |index: usize, id: &'static str| {
        view! {
            <b data-testid=id>
                {move || last(index).map_or("–".to_owned(), |loss| format!("{loss:.4}"))}
            </b>
        }
        .into_any()
    };
    view! {
        <section class="panel mask-trained" node_ref=root data-testid="figure-mask-trained"
            aria-label="Trained with and without a mask"
            data-state=move || if last(0).is_some() { "live" } else { "empty" }>
            <h2>"Trained where the answer can be seen"</h2>
            <p>
                "Both models start from the same weights and learn from the same text; one has a causal mask, \
                 the other none. Each is asked for the next character at all places of a stretch but its last. \
                 Without a mask that character stands in sight."
            </p>
            <LinesFigure name="mask-loss" title="Loss of both models" lines provenance=page.provenance/>
            <p>
                "What they train on: causal " {shown(0, "mask-loss-causal")}
                ", unmasked " {shown(1, "mask-loss-unmasked")}
                ". On "<Term of=Word::HeldOut>"held-out"</Term>
                " characters that are not in sight: causal "
                {shown(2, "mask-unseen-causal")} ", unmasked " {shown(3, "mask-unseen-unmasked")} "."
            </p>
            <p class="hint" data-testid="mask-verdict">
                {move || verdict(losses.get(), nothing.get())}
            </p>
            <h3>"Now let them write"</h3>
            <p>"In writing there is no future to look at. Both go on from the end of your sentence:"</p>
            {Trained::ALL.iter().map(|&model| writer(page, visible, model)).collect_view()}
        </section>
    }
    .into_any()
}

/// What the measured losses say.
fn verdict(losses: [Option<f32>; 4], nothing: Option<f64>) -> String {
    let ([Some(causal), Some(unmasked), Some(seen), Some(unseen)], Some(nothing)) =
        (losses, nothing)
    else {
        return String::new();
    };
    let times = causal / unmasked.max(f32::MIN_POSITIVE);
    if unmasked >= causal || unseen <= seen {
        return "The unmasked model has not yet found out that it can look: train on.".to_owned();
    }
    let worse = if f64::from(unseen) > nothing {
        format!("worse than guessing every character alike ({nothing:.2})")
    } else {
        format!("guessing every character alike has {nothing:.2}")
    };
    format!(
        "The unmasked model's training loss is {times:.1} times lower, yet of characters it can't see it \
         knows less: {unseen:.2} against {seen:.2}; {worse}. It has learnt to copy, not to predict."
    )
}

fn writer(page: Page, visible: Signal<bool>, model: Trained) -> AnyView {
    let answered = use_answer(page.lab, move || {
        let prompt = page.store.probe.get();
        // Its refusal is said where the sentence is typed.
        (!prompt.is_empty()).then(|| Question::Writing { model, prompt, length: LENGTH }.into())
    })
    .shown_in(visible);
    let writing = Memo::new(move |_| {
        answered.answer.with(|answer| match <&Answer>::try_from(answer.as_deref()?) {
            Ok(Answer::Writing(writing)) => Some(writing.clone()),
            _ => None,
        })
    });
    let part = move |of: fn(&Writing) -> &String| {
        move || writing.with(|w| w.as_ref().map(|w| token::mark(of(w)).replace('␣', " ")))
    };
    view! {
        <div class="mask-writer">
            <h4>{format!("Trained with {}", model.label())}</h4>
            <p class="mask-text" data-testid=format!("mask-writes-{}", model.id())>
                <span class="mask-prompt">{part(|w| &w.prompt)}</span>
                <span>{part(|w| &w.text)}</span>
            </p>
            <p class="field-error" role="alert">{answered.problem}</p>
        </div>
    }
    .into_any()
}
