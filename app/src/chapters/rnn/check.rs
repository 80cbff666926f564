//! A question about one changed character, answered by the live network.

use leptos::prelude::*;
use unroll_protocol::study::rnn::{self, Edit};

use super::Shared;
use crate::{course::use_done, figures::token, questions::use_answer, teaching::CheckYourself};

/// Fewest steps that leave four different answers.
const LEAST: usize = 6;

#[component]
pub fn Check(shared: Shared) -> impl IntoView {
    let done = use_done();
    let turn = RwSignal::new(0usize);
    // Step (from 0), the character there and the one put in its place, and the steps there are.
    let asked = Memo::new(move |_| {
        let turn = turn.get();
        shared.all.with(|all| {
            let all = all.as_ref()?;
            let length = all.run.ids.len();
            if length < LEAST {
                return None;
            }
            // Neither of the first two nor of the last two: those would give away the answer.
            let t = 2 + (length / 2 + 5 * turn) % (length - 4);
            let read = all.tokens.get(all.run.ids[t] as usize)?.clone();
            let letter = match read.as_str() {
                "(" if all.end_only => ')',
                ")" if all.end_only => '(',
                "x" => 'e',
                _ => 'x',
            };
            Some((t, read, letter, length))
        })
    });
    let answered = use_answer(shared.lab, move || {
        let (t, _, letter, _) = asked.get()?;
        Some(rnn::ask::Unrolled {
            text: shared.store.probe.get(),
            edit: Some(Edit { position: t as u32, letter }),
            example: shared.store.link.with(|link| link.rnn.example),
        })
    })
    .shown_in(shared.lab.check_seen);
    let counts =
        move || asked.get().map(|(t, _, _, length)| [1, length - t - 1, length - t, length]);
    // How many states the live network moved.
    let moved = Memo::new(move |_| {
        let (t, _, _, length) = asked.get()?;
        let all = answered.answer.get()?;
        let (position, edited) = all.edited.as_ref()?;
        let fits = *position as usize == t && edited.ids.len() == length;
        fits.then(|| {
            let moved = |t: &usize| all.run.states.block(&[*t]) != edited.states.block(&[*t]);
            (0..length).filter(moved).count()
        })
    });
    let question = Signal::derive(move || match asked.get() {
        Some((t, read, letter, length)) => format!(
            "The character at t = {}, ‘{}’, is replaced by ‘{letter}’. How many of the {length} states \
             s₁ … s{} change?",
            t + 1,
            token::mark(&read),
            subscript(length),
        ),
        None => format!("Write a sentence of at least {LEAST} characters to be asked about it."),
    });
    let options = Signal::derive(move || {
        let Some(([one, after, with, every], (t, ..))) = counts().zip(asked.get()) else {
            return Vec::new();
        };
        let at = subscript(t + 1);
        vec![
            format!("{one}: s{at} alone"),
            format!("{after}: those after s{at}"),
            format!("{with}: s{at} and all after it"),
            format!("{every}: all of them"),
        ]
    });
    let answer = Signal::derive(move || {
        let moved = moved.get()?;
        counts()?.iter().position(|count| *count == moved)
    });
    let explain = Signal::derive(move || match (asked.get(), moved.get()) {
        (Some((t, _, _, length)), Some(moved)) => format!(
            "The network just read both sentences: {moved} of {length} states differ. s{} is the first \
             that reads the new character; each later one is made of the one before it through U. \
             Nothing runs backwards, so the {t} before it are the same to the last bit.",
            subscript(t + 1),
        ),
        _ => String::new(),
    });
    view! {
        <CheckYourself id="rnn" question options answer explain on_right=done
            on_another=Callback::new(move |()| turn.update(|turn| *turn += 1))/>
    }
    .into_any()
}

/// A number in subscript digits.
fn subscript(number: usize) -> String {
    let low = |digit: char| char::from_u32('₀' as u32 + digit as u32 - '0' as u32).unwrap_or(digit);
    number.to_string().chars().map(low).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn subscripts_have_every_digit() {
        assert_eq!(super::subscript(1_024), "₁₀₂₄");
    }
}
