//! Unrolling, folding back, playing; and changing one character.

use core::time::Duration;

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;

use super::{
    Shared,
    unrolled::{Lap, drawn, unrolled_of},
    words::LOOP_IN,
};
use crate::{figures::token, reactive::memo};

/// Milliseconds between two steps of playing.
const PACE: u64 = 350;

/// What is to be said of the sentence that is read, if anything.
pub fn note(shared: Shared) -> String {
    let dropped = shared.all.with(|all| all.as_ref().map_or(0, |all| all.dropped));
    let own = shared
        .store
        .probe
        .with(|p| !p.trim().is_empty() && p.trim().chars().all(|c| c == '(' || c == ')'));
    match (shared.end_only.get(), own, dropped) {
        (true, false, _) => {
            "The network has only seen ‘(’ and ‘)’, so a generated string is read instead. Write brackets to \
            have your own string judged."
                .to_owned()
        }
        (_, _, 0) => String::new(),
        (_, _, n) => format!("{n} more characters are not drawn."),
    }
}

/// The buttons that unroll the sentence.
#[component]
pub fn Unroller(
    shared: Shared,
    /// Steps of the sentence.
    length: Memo<u32>,
    /// What goes around the loop. Until the story unrolls it, this is what plays.
    lap: Lap,
) -> impl IntoView {
    let columns = shared.columns;
    let shown = memo(move || columns.get().min(length.get()));
    // One memo of both: an effect that reads a memo and what that memo reads may miss a change.
    let ends = memo(move || {
        let (shown, length) = (columns.get().min(length.get()), length.get());
        (shown == 0, shown == length)
    });
    let of_loop = memo(move || shared.store.link.with(|link| link.idea <= LOOP_IN));
    let loops = memo(move || ends.get().0 && of_loop.get());
    let has_read =
        memo(move || loops.get() && lap.count() > 0 && lap.count() == length.get() as usize);
    let playing = RwSignal::new(None::<IntervalHandle>);
    let stop = move || {
        if let Some(handle) = playing.try_update(Option::take).flatten() {
            handle.clear();
        }
    };
    on_cleanup(stop);
    let count = move || drawn(shown.get(), length.get());
    let step = move |by: i32| {
        let (shown, length) = (shown.get_untracked(), length.get_untracked());
        let next = unrolled_of(drawn(shown, length).saturating_add_signed(by), length);
        if next != columns.get_untracked() {
            columns.set(next);
        }
    };
    let play = move |_| {
        if playing.with_untracked(Option::is_some) {
            stop();
            return;
        }
        if loops.get_untracked() {
            if has_read.get_untracked() {
                lap.begin(true);
            } else {
                lap.plays.update(|plays| *plays = !*plays);
            }
            return;
        }
        if shown.get_untracked() == length.get_untracked() {
            columns.set(0);
        }
        let tick = move || {
            if shown.get_untracked() < length.get_untracked() {
                step(1);
            } else {
                stop();
            }
        };
        playing.set(set_interval_with_handle(tick, Duration::from_millis(PACE)).ok());
    };
    let at_end = move || ends.get().1.then_some("true");
    let at_start = move || ends.get().0.then_some("true");
    view! {
        <button type="button" class="button button-primary" class:rnn-later=of_loop data-testid="rnn-unroll"
            aria-disabled=at_end on:click=move |_| { stop(); step(1) }>
            "Unroll one step"
        </button>
        <button type="button" class="button" class:rnn-later=of_loop data-testid="rnn-fold-one"
            aria-disabled=at_start on:click=move |_| { stop(); step(-1) }>
            "Fold one"
        </button>
        <button type="button" class="button rnn-wide" class:rnn-later=of_loop data-testid="rnn-fold"
            aria-disabled=at_start on:click=move |_| { stop(); columns.set(0) }>
            "Fold back"
        </button>
        <button type="button" class="button" class:rnn-replays=of_loop data-testid="rnn-play" on:click=play>
            {move || match loops.get() {
                true if lap.plays.get() => "Stop",
                true if has_read.get() => "Play again",
                _ if playing.with(Option::is_some) => "Stop",
                _ => "Play",
            }}
        </button>
        <label class="rnn-scrub">
            <span class="visually-hidden">"Steps drawn"</span>
            <input type="range" min="1" max=move || length.get().max(1).to_string() step="1"
                data-testid="control-rnn-columns" prop:value=move || count().to_string()
                on:input=move |e| {
                    stop();
                    if let Ok(value) = event_target_value(&e).parse() {
                        columns.set(unrolled_of(value, length.get_untracked()));
                    }
                }/>
            // While it plays, the number changes faster than it can be said.
            <output data-testid="rnn-columns"
                aria-live=move || if lap.plays.get() && loops.get() { "off" } else { "polite" }>
                {move || match lap.count() {
                    read if read > 0 && loops.get() => format!("{read} of {} read", length.get()),
                    _ => format!("{} of {}", count(), length.get()),
                }}
            </output>
        </label>
    }
    .into_any()
}

/// Replaces the character of step `t`, counted from 0, by another one at once, and gives the
/// learner the field to write a different one.
pub fn begin_edit(shared: Shared, t: usize, field: NodeRef<html::Input>) {
    let read = shared.all.with_untracked(|all| {
        let all = all.as_ref()?;
        let id = *all.run.ids.get(t)? as usize;
        Some((all.tokens.get(id)?.clone(), all.end_only))
    });
    let Some((read, end_only)) = read else { return };
    if shared.edit.get_untracked() != t as u32 + 1 {
        let now = shared.letter.get_untracked();
        let letter = match read.as_str() {
            "(" if end_only => ')' as u32,
            ")" if end_only => '(' as u32,
            // Nothing would be seen of a character replaced by itself.
            "x" if now == 'x' as u32 => 'e' as u32,
            same if char::from_u32(now).is_some_and(|c| same == c.to_string()) => 'x' as u32,
            _ => now,
        };
        shared.letter.set(letter);
        shared.edit.set(t as u32 + 1);
    }
    request_animation_frame(move || {
        if let Some(field) = field.try_get_untracked().flatten() {
            // Focusing an element that is still there cannot fail.
            let _ = field.focus();
            field.select();
        }
    });
}

/// What is edited, while something is.
#[component]
pub fn EditBar(shared: Shared, field: NodeRef<html::Input>) -> impl IntoView {
    let open = memo(move || shared.edit.get() > 0);
    let was = move || {
        let t = shared.edit.get() as usize;
        shared.all.with(|all| {
            let all = all.as_ref()?;
            let id = *all.run.ids.get(t.checked_sub(1)?)? as usize;
            Some(format!("‘{}’", token::mark(all.tokens.get(id)?)))
        })
    };
    let letter = move || char::from_u32(shared.letter.get()).map(String::from).unwrap_or_default();
    let back = move || {
        let track = document().query_selector("[data-testid=rnn-track]").ok().flatten();
        if let Some(track) = track.and_then(|t| t.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = track.focus();
        }
    };
    let select = move || {
        if let Some(field) = field.get_untracked() {
            field.select();
        }
    };
    let end = move || {
        shared.edit.set(0);
        back();
    };
    let on_input = move |e: ev::Event| {
        // The last character typed, whatever stood there.
        if let Some(letter) = event_target_value(&e).chars().last() {
            shared.letter.set(letter as u32);
        }
    };
    let on_key = move |e: ev::KeyboardEvent| match e.key().as_str() {
        "Escape" => end(),
        "Enter" => back(),
        _ => {}
    };
    let moved = move || {
        shared.all.with(|all| {
            let (position, edited) = all.as_ref()?.edited.as_ref()?;
            let all = all.as_ref()?;
            let length = edited.ids.len();
            let moved = |t: usize| all.run.states.block(&[t]) != edited.states.block(&[t]);
            let earlier = (0..*position as usize).filter(|t| moved(*t)).count();
            let later = (*position as usize..length).filter(|t| moved(*t)).count();
            Some(format!(
                "Of {} state{} from there on, {later} moved; of the {position} before it, {earlier}.",
                length - *position as usize,
                if length - *position as usize == 1 { "" } else { "s" },
            ))
        })
    };
    view! {
        <Show when=move || open.get()>
            <div class="view-bar rnn-edit" data-testid="rnn-edit" role="group" aria-label="Edited character">
                <p>
                    {move || format!("At t = {} ", shared.edit.get())}
                    {move || match was() {
                        None => "there is no character: the sentence is shorter. ".into_any(),
                        Some(_) => view! { <span class="hint-more">"the network reads "</span> }.into_any(),
                    }}
                    <input type="text" node_ref=field size="2" data-testid="rnn-letter" autocomplete="off"
                        autocapitalize="off" spellcheck="false" aria-label="New character"
                        prop:value=letter on:input=on_input on:keydown=on_key
                        on:focus=move |_| select()/>
                    {move || was().map(|was| format!(" instead of {was}"))}
                </p>
                <button type="button" class="button" data-testid="rnn-undo-edit" on:click=move |_| end()>
                    <span>"Take "<span class="hint-more">"the edit "</span>"back"</span>
                </button>
                <p class="view-note" data-testid="rnn-moved">{moved}</p>
                <p class="field-error" role="alert">{move || shared.answered.problem.get()}</p>
            </div>
        </Show>
    }
    .into_any()
}
