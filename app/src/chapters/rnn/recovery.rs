//! How long one odd character is felt, on text that was not learned from.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::rnn::{self, Recovery},
};

use super::{
    Shared,
    writing::{OddLetter, no_writing},
};
use crate::{
    course::use_setting,
    figures::{Dash, Hue, Line, Lines, LinesFigure, Reference, token},
    questions::use_answer,
};

/// Names and looks of the two networks.
const NETWORKS: [(&str, Hue, Dash); 2] =
    [("Elman network", Hue::First, Dash::Solid), ("LSTM", Hue::Second, Dash::Dashed)];

/// The curves after an odd character. Measured while training rests: it takes longer than a step.
#[component]
pub fn RecoveryView(shared: Shared) -> impl IntoView {
    let letter = use_setting(|link: &mut Link| &mut link.rnn.odd_letter);
    let answered = use_answer(shared.lab, move || {
        let asked = !shared.end_only.get() && !shared.running.get();
        let letter = char::from_u32(letter.get()).filter(|letter| *letter != '\0');
        asked.then_some(rnn::ask::Recovery { letter })
    });
    let recovery = answered.answer;
    let lines = Signal::derive(move || Lines {
        x_label: "true characters after the odd one".into(),
        y_label: "extra loss, nats".into(),
        series: recovery.with(|r| r.as_deref().map(curves).unwrap_or_default()),
        references: vec![Reference { name: "as if nothing had happened".into(), y: 0.0 }],
        ..Lines::default()
    });
    let of_recovery =
        move || recovery.with(|r| r.as_ref().map(|r| r.letter.clone())).unwrap_or_default();
    view! {
        <Show when=move || !shared.end_only.get() fallback=no_writing>
            <div class="view-fill rnn-room" data-testid="rnn-recovery">
                <div class="view-bar"><OddLetter letter rarest=Signal::derive(of_recovery)/></div>
                <LinesFigure name="rnn-recovery" title="Who gets over it?" lines provenance=shared.provenance
                    hint="Measured when training rests."/>
                <p class="view-note" data-testid="rnn-recovery-text">{move || recovery.with(|r| r.as_deref().map(said))}</p>
                <Show when=move || shared.running.get()>
                    <p class="view-note">"Measured again when training rests."</p>
                </Show>
                <p class="field-error" role="alert">{move || answered.problem.get()}</p>
            </div>
        </Show>
    }
    .into_any()
}

/// Extra loss at each place after the odd character.
fn curves(recovery: &Recovery) -> Vec<Line> {
    let line = |(model, (name, hue, dash)): (usize, (&str, Hue, Dash))| {
        let row = |array: &unroll_protocol::Array| array.block(&[model]).unwrap_or(&[]).to_vec();
        let (odd, plain) = (row(&recovery.odd), row(&recovery.plain));
        let points = odd.iter().zip(plain).enumerate();
        let points = points.map(|(k, (odd, plain))| (k as f64 + 1.0, f64::from(odd - plain)));
        Line::new(name, hue, dash, points.collect())
    };
    NETWORKS.into_iter().enumerate().map(line).collect()
}

/// What the curves show, whatever it is.
fn said(recovery: &Recovery) -> String {
    let Recovery { letter, windows, before, total, difference, plain, .. } = recovery;
    let [(elman, elman_error), (lstm, lstm_error)] = total;
    let places = plain.shape.get(1).copied().unwrap_or(0);
    let mean = |model: usize| {
        let row = plain.block(&[model]).unwrap_or(&[]);
        row.iter().sum::<f32>() / row.len().max(1) as f32
    };
    let (difference, error) = *difference;
    let verdict = if difference.abs() < 2.0 * error {
        "On so few passages that is no clear difference.".to_owned()
    } else if difference < 0.0 {
        format!("The LSTM gets over it with {:.2} ± {error:.2} nats less.", -difference)
    } else {
        format!("Here the LSTM is thrown off more, by {difference:.2} ± {error:.2} nats.")
    };
    let caution = if mean(1) > mean(0) && difference < 0.0 {
        " The LSTM predicts worse there, so part of the difference may be that it has less to lose. Keep \
         training, and look again."
    } else {
        ""
    };
    format!(
        "Measured on {windows} passages of held-out text, with ‘{}’ put in after {before} characters. Over \
         the {places} true characters that follow, it costs the Elman network {elman:.2} ± {elman_error:.2} \
         nats and the LSTM {lstm:.2} ± {lstm_error:.2} (± is the standard error). {verdict} Without the odd \
         character, their mean losses are {:.2} and {:.2}.{caution}",
        token::mark(letter),
        mean(0),
        mean(1),
    )
}
