//! Two models trained alike, one of which could see the answers.

use std::sync::Arc;

use leptos::prelude::*;
use serde_json::json;
use unroll_protocol::study::mask::{SERIES, Trained, Writing, ask};

use crate::{
    course::{Lab, Sentence, use_lab, use_provenance},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Reference, Sheet, SheetExport, YScale, token},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
    teaching::{Term, Word},
};

/// Characters each model writes.
const LENGTH: u32 = 48;

/// Color and dashes of each of [`SERIES`].
const STYLES: [(Hue, Dash); 4] = [
    (Hue::First, Dash::Solid),
    (Hue::Second, Dash::Solid),
    (Hue::First, Dash::Dashed),
    (Hue::Second, Dash::Dashed),
];

pub fn view() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let nothing = memo(move || {
        let vocabulary =
            lab.started.with(|started| started.as_ref().map_or(0, |s| s.vocabulary.len()));
        (vocabulary > 1).then(|| (vocabulary as f64).ln())
    });
    let lines = memo(move || {
        lab.history.with(|history| {
            let series = SERIES.iter().zip(STYLES).map(|(name, (hue, dash))| {
                Line::new(
                    name.replace("unseen", "held-out").replace(" loss", ""),
                    hue,
                    dash,
                    history.named(name).map_or(Vec::new(), |series| series.points()),
                )
            });
            let reference =
                nothing.get().map(|y| Reference { name: "guessing evenly".to_owned(), y });
            Lines {
                x_label: "step".into(),
                y_label: "loss".into(),
                series: series.collect(),
                references: reference.into_iter().collect(),
                y_scale: YScale::Log,
                x_range: Lines::steps(history.last_step()),
                ..Lines::default()
            }
        })
    });
    let losses = memo(move || {
        let last = |name| lab.history.with(|history| history.named(name).and_then(|s| s.last()));
        SERIES.map(last)
    });
    let last = move |index: usize| losses.with(|losses| losses[index]);
    let shown = move |index: usize, id: &'static str| {
        view! {
            <b data-testid=id>
                {move || last(index).map_or("–".to_owned(), |loss| format!("{loss:.4}"))}
            </b>
        }
        .into_any()
    };
    let problem = Signal::derive(move || {
        let none = store.probe.with(String::is_empty);
        none.then(|| "Write at least one character for them to continue.".to_owned())
    });
    let written: Vec<_> =
        Trained::ALL.iter().map(|&model| (model, ask_for(lab, store, model))).collect();
    let writers = written.iter().map(|&(model, answered)| writer(model, answered)).collect_view();
    let written = StoredValue::new(written);
    let sheet = Callback::new(move |()| {
        let of = |&(model, answered): &(Trained, Answered<Writing>)| {
            Some((model, answered.answer.get()?))
        };
        let all = written.with_value(|written| written.iter().filter_map(of).collect::<Vec<_>>());
        (!all.is_empty()).then(|| written_sheet(&all))
    });
    let provenance = use_provenance();
    view! {
        <Sentence label="They continue" problem/>
        <section class="view-split mask-trained" data-testid="figure-mask-trained"
            aria-label="Trained with and without a mask"
            data-state=move || if last(0).is_some() { "live" } else { "empty" }>
            <div>
                <LinesFigure name="mask-loss" title="Loss of both models" lines provenance/>
            </div>
            <div class="mask-writers">
                <section class="figure" data-testid="figure-mask-writing"
                    data-state=move || if sheet.run(()).is_some() { "live" } else { "empty" }
                    aria-label="What both models write">
                    <div class="figure-box mask-texts">{writers}</div>
                    <SheetExport name="mask-writing" title="What both models write" provenance sheet/>
                </section>
                <p>
                    "Loss on their training text: causal " {shown(0, "mask-loss-causal")}
                    ", unmasked " {shown(1, "mask-loss-unmasked")}
                    ". On "<Term of=Word::HeldOut>"held-out"</Term>
                    " characters out of sight: causal "
                    {shown(2, "mask-unseen-causal")} ", unmasked " {shown(3, "mask-unseen-unmasked")} "."
                </p>
                <p class="hint" data-testid="mask-verdict">
                    {move || verdict(losses.get(), nothing.get())}
                </p>
            </div>
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
    if times < 1.2 || unseen <= seen {
        return "The unmasked model has not learned to look ahead yet. Keep training.".to_owned();
    }
    let worse = if f64::from(unseen) > nothing {
        format!("That is worse than guessing all characters evenly, which costs {nothing:.2}.")
    } else {
        format!("Guessing all characters evenly costs {nothing:.2}.")
    };
    format!(
        "The unmasked model’s training loss is {times:.1} times smaller. But on characters out of sight its loss \
         is larger: {unseen:.2} against {seen:.2}. {worse} It has learned to copy, not to predict."
    )
}

fn ask_for(lab: Lab, store: Store, model: Trained) -> Answered<Writing> {
    use_answer(lab, move || {
        let prompt = store.probe.get();
        // Nothing to go on from is no question.
        (!prompt.is_empty()).then_some(ask::Writing { model, prompt, length: LENGTH })
    })
}

fn written_sheet(written: &[(Trained, Arc<Writing>)]) -> Sheet {
    let mut sheet = Sheet::new(&["trained_with", "prompt", "written"]);
    let line = |(model, writing): &(Trained, Arc<Writing>)| {
        vec![json!(model.label()), json!(writing.prompt), json!(writing.text)]
    };
    sheet.rows = written.iter().map(line).collect();
    sheet
}

fn writer(model: Trained, answered: Answered<Writing>) -> AnyView {
    let writing = answered.answer;
    let part = move |of: fn(&Writing) -> &String| {
        move || writing.with(|w| w.as_ref().map(|w| token::mark(of(w)).replace('␣', " ")))
    };
    view! {
        <div class="mask-writer">
            <h3>{format!("Trained with {}, it writes", model.label())}</h3>
            <p class="mask-text" data-testid=format!("mask-writes-{}", model.id())>
                <span class="mask-prompt">{part(|w| &w.prompt)}</span>
                {move || part(|w| &w.text)().map(|text| view! { <mark>{text}</mark> })}
            </p>
            <p class="field-error" role="alert">{answered.problem}</p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_down_as_they_are() {
        let of = |text: &str| {
            Arc::new(Writing { prompt: "the \"fox\"".to_owned(), text: text.to_owned() })
        };
        let written: Vec<_> =
            Trained::ALL.iter().copied().zip([of(" ran,\noff"), of("eee")]).collect();
        let sheet = written_sheet(&written);
        let line = |model: Trained, text: &str| {
            vec![json!(model.label()), json!("the \"fox\""), json!(text)]
        };
        let lines = [line(Trained::ALL[0], " ran,\noff"), line(Trained::ALL[1], "eee")];
        assert_eq!(sheet.rows, lines);
    }
}
