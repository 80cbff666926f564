//! Both networks continue the sentence; one odd character can be forced on them.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::rnn::{self, Character, Odd, Writing},
};

use super::Shared;
use super::unrolled::{STRONGEST, Text, Texts, WrittenFigure, strength};
use crate::{
    controls::SliderField,
    course::{Sentence, use_setting},
    figures::{Slot, token},
    questions::use_answer,
};

/// Characters written.
const LENGTH: u32 = 80;
/// Where the button puts the odd character.
const PLACE: u32 = 20;
/// Who writes.
const NAMES: [&str; 2] = ["Elman network", "LSTM"];

/// What the networks write, with and without the odd character.
#[component]
pub fn WritingView(shared: Shared) -> impl IntoView {
    let odd = use_setting(|link: &mut Link| &mut link.rnn.odd);
    let letter = use_setting(|link: &mut Link| &mut link.rnn.odd_letter);
    let temperature = use_setting(|link: &mut Link| &mut link.rnn.temperature);
    let answered = use_answer(shared.lab, move || {
        if shared.end_only.get() {
            return None;
        }
        let position = odd.get().checked_sub(1);
        let letter = char::from_u32(letter.get()).filter(|letter| *letter != '\0');
        Some(rnn::ask::Writing {
            prompt: shared.store.probe.get(),
            length: LENGTH,
            temperature: temperature.get(),
            odd: position.map(|position| Odd { position, letter }),
        })
    });
    let writing = answered.answer;
    let toggle = move |_| odd.update(|odd| *odd = if *odd == 0 { PLACE } else { 0 });
    let rarest = Signal::derive(move || {
        writing.with(|w| w.as_ref().and_then(|w| w.letter.clone())).unwrap_or_default()
    });
    let text = move |model: usize, odd_one: bool| {
        writing.with(|writing| {
            let writing = writing.as_ref()?;
            let written = &writing.models[model];
            let characters = if odd_one { &written.odd } else { &written.plain };
            let forced = odd_one.then(|| odd.get_untracked().saturating_sub(1) as usize);
            (!characters.is_empty()).then(|| marked(characters, &written.plain, forced))
        })
    };
    let texts = Signal::derive(move || {
        let forced = odd.get().checked_sub(1).map(|place| place as usize);
        writing.with(|writing| writing.as_ref().map(|w| texts_of(w, forced)).unwrap_or_default())
    });
    let figure = move |model: usize, id: &'static str| {
        view! {
            <h3>{NAMES[model]}</h3>
            <p class="rnn-text" data-testid=format!("rnn-writes-{id}")>{move || text(model, false)}</p>
            <Show when=move || { odd.get() > 0 }>
                <p class="rnn-with-odd">
                    {move || told(writing.get().as_deref(), model, odd.get().saturating_sub(1) as usize)}
                </p>
                <p class="rnn-text" data-testid=format!("rnn-thrown-{id}")>{move || text(model, true)}</p>
            </Show>
        }
        .into_any()
    };
    view! {
        <div class="view-fill rnn-room rnn-writing">
            <Show when=move || !shared.end_only.get() fallback=no_writing>
                <Sentence label="Sentence to continue" problem=answered.problem/>
                <div class="view-bar">
                    <button type="button" class="button button-primary" data-testid="rnn-odd" on:click=toggle>
                        {move || if odd.get() > 0 { "Take it out" } else { "Force one odd character" }}
                    </button>
                    <Show when=move || { odd.get() > 0 }>
                        <OddLetter letter rarest/>
                        <SliderField name="rnn-odd" least=1.0 most=LENGTH as f32/>
                    </Show>
                    <SliderField name="rnn-temperature" most=2.0 step=0.05/>
                </div>
                <WrittenFigure name="rnn-writing" title="What both networks write" texts provenance=shared.provenance>
                    <div class="figure-box rnn-writers" tabindex="0" role="region" aria-label="What they write">
                        {figure(0, "elman")}
                        {figure(1, "lstm")}
                    </div>
                    <p class="readout">
                        <span class="hint-more">"Each network draws a character, then reads what it drew. "</span>
                        "The color is its surprise, −ln p: "
                        <span class="rnn-scaled">
                            "0"<span class="rnn-scale" aria-hidden="true"></span>
                            <span class="visually-hidden">" to "</span>{format!("{STRONGEST} nats")}
                        </span>
                    </p>
                </WrittenFigure>
            </Show>
        </div>
    }
    .into_any()
}

/// What stands where networks write, for those that don't.
pub fn no_writing() -> AnyView {
    view! {
        <p class="view-note">
            "A network that is asked only at the end says nothing about the next character, so it can’t \
             write. Choose the readout “At every step” in the settings."
        </p>
    }
    .into_any()
}

/// The character that nobody would have expected.
#[component]
pub fn OddLetter(
    /// Its code point; 0 is the rarest character of the text.
    letter: Slot<u32>,
    /// That character, once it is known.
    rarest: Signal<String>,
) -> impl IntoView {
    let chosen = move || {
        let chosen = char::from_u32(letter.get()).filter(|letter| *letter != '\0');
        chosen.map_or_else(|| rarest.get(), String::from)
    };
    view! {
        <label class="rnn-odd-letter" title="Empty: the rarest of the text.">
            "Odd character"
            <input type="text" size="2" data-testid="control-rnn-odd-letter" autocomplete="off"
                autocapitalize="off" spellcheck="false" prop:value=chosen
                on:input=move |e| letter.set(
                    event_target_value(&e).chars().last().map_or(0, |c| c as u32)
                )/>
        </label>
    }
    .into_any()
}

/// All texts, for files.
fn texts_of(writing: &Writing, forced: Option<usize>) -> Texts {
    let text = |name: String, characters: &[Character], forced: Option<usize>| Text {
        name,
        characters: characters.iter().map(|c| (c.token.clone(), c.surprise)).collect(),
        forced,
    };
    let both = NAMES.iter().zip(&writing.models).flat_map(|(name, written)| {
        let odd = format!("{name}, with an odd character");
        [text((*name).to_owned(), &written.plain, None), text(odd, &written.odd, forced)]
    });
    Texts(both.filter(|text| !text.characters.is_empty()).collect())
}

/// How surprising the odd character at `place` (from 0) was, and how much of what follows it changed.
fn told(writing: Option<&Writing>, model: usize, place: usize) -> String {
    let found = writing.and_then(|writing| {
        let letter = writing.letter.as_ref()?;
        let written = &writing.models[model];
        let surprise = written.odd.get(place)?.surprise;
        let after = written.odd.iter().zip(&written.plain).skip(place + 1);
        let (all, changed) = (after.len(), after.filter(|(a, b)| a.token != b.token).count());
        Some(format!(
            " ‘{}’ (surprise {surprise:.1} nats); {changed} of the next {all} changed",
            token::mark(letter)
        ))
    });
    format!("with the odd character{}:", found.unwrap_or_default())
}

/// Characters shaded by surprise; a break after each `⏎`. Those that are not in the `plain` text stand out.
fn marked(characters: &[Character], plain: &[Character], forced: Option<usize>) -> AnyView {
    let spans = characters.iter().enumerate().map(|(i, character)| {
        let changed = plain.get(i).is_some_and(|plain| plain.token != character.token);
        let share = 100.0 * strength(character.surprise);
        let sign = if character.token == " " { " ".to_owned() } else { token::mark(&character.token) };
        view! {
            <span class:rnn-forced=forced == Some(i) class:rnn-changed=changed
                title=format!("‘{}’: −ln p = {:.2}", token::spoken(&character.token), character.surprise)
                style=format!("background:color-mix(in oklab,var(--gradient) {share:.0}%,transparent)")>
                {sign}
            </span>
        }
    });
    spans.collect_view().into_any()
}
