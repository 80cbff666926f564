//! Both networks go on from the sentence; one odd character can be forced on them.

use leptos::{html, prelude::*};
use unroll_protocol::{
    Link,
    study::rnn::{self, Character, Odd, Writing},
};

use super::Shared;
use crate::{
    controls::SliderField,
    course::{use_answer, use_setting},
    figures::{token, use_visible},
};

/// Characters written.
const LENGTH: u32 = 80;
/// Where the button puts the odd character.
const PLACE: u32 = 20;
/// Surprise in nats that has the strongest colour.
const STRONGEST: f32 = 6.0;

/// What the networks write, with and without the odd character.
#[component]
pub fn WritingPanel(shared: Shared) -> impl IntoView {
    let odd = use_setting(|link: &mut Link| &mut link.rnn.odd);
    let letter = use_setting(|link: &mut Link| &mut link.rnn.odd_letter);
    let temperature = use_setting(|link: &mut Link| &mut link.rnn.temperature);
    let root = NodeRef::<html::Section>::new();
    let answered = use_answer(shared.lab, move || {
        if shared.end_only.get() {
            return None;
        }
        let position = odd.get().checked_sub(1);
        let letter = char::from_u32(letter.get()).filter(|letter| *letter != '\0');
        let question = rnn::Question::Writing {
            prompt: shared.store.probe.get(),
            length: LENGTH,
            temperature: temperature.get(),
            odd: position.map(|position| Odd { position, letter }),
        };
        Some(question.into())
    })
    .shown_in(use_visible(root));
    let writing = Memo::new(move |_| {
        answered.answer.with(|answer| match <&rnn::Answer>::try_from(answer.as_deref()?) {
            Ok(rnn::Answer::Writing(writing)) => Some(writing.clone()),
            _ => None,
        })
    });
    let toggle = move |_| odd.update(|odd| *odd = if *odd == 0 { PLACE } else { 0 });
    let chosen = move || {
        let chosen = char::from_u32(letter.get()).filter(|letter| *letter != '\0');
        chosen.map_or_else(
            || writing.with(|w| w.as_ref().and_then(|w| w.letter.clone())).unwrap_or_default(),
            String::from,
        )
    };
    let text = move |model: usize, odd_one: bool| {
        writing.with(|writing| {
            let writing = writing.as_ref()?;
            let written = &writing.models[model];
            let characters = if odd_one { &written.odd } else { &written.plain };
            let forced = odd_one.then(|| odd.get_untracked().saturating_sub(1) as usize);
            (!characters.is_empty()).then(|| marked(characters, forced))
        })
    };
    let figure = move |model: usize, name: &'static str, id: &'static str| {
        view! {
            <div class="rnn-writer">
                <h3>{name}</h3>
                <p class="rnn-text" data-testid=format!("rnn-writes-{id}")>{move || text(model, false)}</p>
                <Show when=move || { odd.get() > 0 }>
                    <p class="rnn-with-odd">
                        {move || told(writing.get().as_ref(), model, odd.get().saturating_sub(1) as usize)}
                    </p>
                    <p class="rnn-text" data-testid=format!("rnn-thrown-{id}")>{move || text(model, true)}</p>
                </Show>
            </div>
        }
        .into_any()
    };
    view! {
        <section class="panel rnn-writing" node_ref=root data-testid="figure-rnn-writing" aria-label="Let it write">
            <h2>"Let it write"</h2>
            <Show when=move || !shared.end_only.get()
                fallback=|| view! {
                    <p class="hint">
                        "Asked only at the end, the network says nothing about the next character, so it \
                         can't write. Read out every step to let it."
                    </p>
                }>
                <p>
                    "Each network goes on from your sentence: it draws a character, then reads what it \
                     drew. The stronger the colour, the less it had expected that character."
                </p>
                {figure(0, "Elman network", "elman")}
                {figure(1, "LSTM", "lstm")}
                <p class="field-error" role="alert">{move || answered.problem.get()}</p>
                <div class="rnn-buttons">
                    <button type="button" class="button button-primary" data-testid="rnn-odd" on:click=toggle>
                        {move || if odd.get() > 0 { "Take the odd character out" } else { "Force one odd character" }}
                    </button>
                </div>
                <Show when=move || { odd.get() > 0 }>
                    <label class="rnn-odd-letter">
                        "Odd character "
                        <input type="text" size="2" data-testid="control-rnn-odd-letter" autocomplete="off"
                            autocapitalize="off" spellcheck="false" prop:value=chosen
                            on:input=move |e| letter.set(
                                event_target_value(&e).chars().last().map_or(0, |c| c as u32)
                            )/>
                        <span class="hint">" Empty: the rarest of the text."</span>
                    </label>
                    <SliderField name="rnn-odd" least=1.0 most=LENGTH as f32/>
                </Show>
                <SliderField name="rnn-temperature" most=2.0 step=0.05/>
            </Show>
        </section>
    }
    .into_any()
}

/// How surprising the odd character at `place` (from 0) was, and whether the two texts meet again.
fn told(writing: Option<&Writing>, model: usize, place: usize) -> String {
    let found = writing.and_then(|writing| {
        let letter = writing.letter.as_ref()?;
        let written = &writing.models[model];
        let surprise = written.odd.get(place)?.surprise;
        let pairs = written.odd.iter().zip(&written.plain);
        let agree = pairs.rev().take_while(|(odd, plain)| odd.token == plain.token).count();
        let after = match agree {
            0 => "; the two texts still differ at the end".to_owned(),
            n => format!("; the last {n} characters are the same again"),
        };
        Some(format!(" ‘{}’ (surprise {surprise:.1} nats){after}", token::mark(letter)))
    });
    format!("with the odd character{}:", found.unwrap_or_default())
}

/// Characters shaded by surprise; a break after each `⏎`.
fn marked(characters: &[Character], forced: Option<usize>) -> AnyView {
    let spans = characters.iter().enumerate().map(|(i, character)| {
        let share = (character.surprise / STRONGEST).clamp(0.0, 1.0) * 55.0;
        let sign = if character.token == " " { " ".to_owned() } else { token::mark(&character.token) };
        view! {
            <span class:rnn-forced=forced == Some(i)
                title=format!("‘{}’: −ln p = {:.2}", token::spoken(&character.token), character.surprise)
                style=format!("background:color-mix(in oklab,var(--gradient) {share:.0}%,transparent)")>
                {sign}
            </span>
        }
    });
    spans.collect_view().into_any()
}
