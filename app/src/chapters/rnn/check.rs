//! What the live network answers: what one changed character moves, and how many weights the copies
//! share.

use leptos::prelude::*;
use unroll_protocol::study::rnn::{self, Edit};

use super::Shared;
use crate::{
    controls::grouped, course::use_right, figures::token, questions::use_answer, reactive::memo,
    teaching::CheckYourself,
};

/// Fewest steps that leave four different answers.
const LEAST: usize = 6;

#[component]
pub fn Check(shared: Shared) -> impl IntoView {
    let done = use_right("rnn");
    let turn = RwSignal::new(0usize);
    // Step (from 0), the character there and the one put in its place, and the steps there are.
    let asked = memo(move || {
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
    let moved = memo(move || {
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
             that reads the new character. Each later one is made from the one before it, through U. \
             Nothing runs backward, so the {t} states before it are the same to the last bit.",
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

/// Fewest steps of a sentence with three different answers.
const LEAST_COPIES: usize = 3;

/// How many different weights do all copies of U hold?
pub fn weights(shared: Shared) -> AnyView {
    // Units, and steps.
    let shape = memo(move || {
        shared.all.with(|all| {
            let all = all.as_ref()?;
            let steps = all.run.ids.len();
            (steps >= LEAST_COPIES).then_some((*all.u.shape.first()? as usize, steps))
        })
    });
    let number = |of: usize| grouped(of as u64);
    let question = move || match shape.get() {
        Some((units, steps)) => format!(
            "Your sentence has {steps} steps, and a copy of U stands at each. U has {units} rows and \
             {units} columns. How many different weights do all these copies hold?"
        ),
        None => {
            format!("Write a sentence of at least {LEAST_COPIES} characters to be asked about it.")
        }
    };
    let options = move || {
        let (units, steps) = shape.get()?;
        let one = units * units;
        Some(vec![
            format!("{}: a new U at every step", number(one * steps)),
            format!("{}: a new U at every step but the first", number(one * (steps - 1))),
            format!("{}: one U for all steps", number(one)),
        ])
    };
    let explain = move || {
        shape.get().map_or_else(String::new, |(units, steps)| {
            format!(
                "All {steps} copies are one matrix: {units} × {units} = {}. A sentence twice as long \
                 would use the same {} weights twice as often.",
                number(units * units),
                number(units * units),
            )
        })
    };
    view! {
        <CheckYourself id="rnn-weights" question=Signal::derive(question)
            options=Signal::derive(move || options().unwrap_or_default())
            answer=Signal::derive(move || shape.get().map(|_| 2))
            explain=Signal::derive(explain) on_right=use_right("rnn-weights")/>
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
