//! Questions whose answers are what stays the same in the live model, and where it is better than
//! the one beside it.

use leptos::prelude::*;
use unroll_protocol::study::mask::{Change, Combine, Drawn, Pattern, Preset, SERIES, Trained, ask};

use super::exact;
use crate::{
    course::{use_lab, use_right},
    figures::token::name_at,
    questions::use_answer,
    reactive::memo,
    store::Store,
    teaching::CheckYourself,
};

/// Fewest tokens that have room for the question, and most that are read for it.
const FEWEST: usize = 9;
const MOST: usize = 16;
/// Losses nearer to each other than this are called alike.
const CLOSE: f32 = 0.05;

/// The mask of the `n`-th question in words, and where the outputs lie that are asked about,
/// counted from the changed token. Which of them stays is for the model to say.
fn asked(n: usize) -> (&'static str, Pattern, [isize; 4]) {
    let usual = Pattern::default();
    match n % 3 {
        0 => (
            "causal, and no farther back than one token",
            Pattern { combine: Combine::And, band: 2, ..usual },
            [0, 1, 2, 3],
        ),
        1 => ("causal", usual, [-1, 0, 1, 3]),
        _ => (
            "a band: each token sees itself and its two neighbors",
            Pattern { base: Preset::Band, band: 2, ..usual },
            [-3, -2, 1, 2],
        ),
    }
}

#[component]
pub fn Check() -> impl IntoView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let count = RwSignal::new(0usize);
    let text =
        memo(move || -> String { store.probe.with(|probe| probe.chars().take(MOST).collect()) });
    // None where the sentence is too short.
    let position = memo(move || {
        let length = text.with(|text| text.chars().count());
        (length >= FEWEST).then(|| 4 + (3 * count.get()) % (length - FEWEST + 1))
    });
    let answered = use_answer(lab, move || {
        let position = position.get()? as u32;
        let (_, pattern, _) = asked(count.get());
        Some(ask::Look {
            text: text.get(),
            pattern,
            drawn: Drawn::default(),
            model: Trained::Causal,
            layer: 0,
            head: 0,
            row: None,
            change: Some(Change { position, letter: None }),
        })
    })
    .shown_in(lab.check_seen);
    // The places asked about and how much their outputs moved.
    let moved = memo(move || {
        let at = position.get()?;
        let seen = answered.answer.get()?;
        let leak = seen.leak.as_ref().filter(|leak| leak.position as usize == at)?;
        let (_, pattern, places) = asked(count.get());
        let same_mask = seen.allowed == pattern.cells(&Drawn::default(), seen.tokens.len());
        let place = |by: isize| {
            let place = at.checked_add_signed(by)?;
            Some((name_at(seen.tokens.get(place)?, place), *leak.masked.get(place)?))
        };
        let moved = places.map(place).into_iter().collect::<Option<Vec<_>>>();
        moved.filter(|_| same_mask)
    });
    let question = Signal::derive(move || match position.get() {
        Some(at) => {
            let token = text.with(|text| text.chars().nth(at)).map(String::from);
            format!(
                "Both layers have this mask: {}. The token {} is changed. Which output stays exactly the \
                 same?",
                asked(count.get()).0,
                name_at(&token.unwrap_or_default(), at)
            )
        }
        None => format!(
            "Write a sentence of at least {FEWEST} characters, and this question will be about it."
        ),
    });
    let options = Signal::derive(move || {
        let moved = moved.get().unwrap_or_default();
        moved.into_iter().map(|(name, _)| format!("The output of {name}")).collect::<Vec<_>>()
    });
    let answer = Signal::derive(move || {
        let moved = moved.get()?;
        let mut same = (0..moved.len()).filter(|i| moved[*i].1 == 0.0);
        same.next().filter(|_| same.next().is_none())
    });
    let explain = Signal::derive(move || {
        let moved = moved.get().unwrap_or_default();
        let each = moved.iter().map(|(name, moved)| format!("{name}: {}", exact(*moved)));
        format!(
            "The largest change of each: {}. Each layer can carry a change as far as one token may look.",
            each.collect::<Vec<_>>().join("; ")
        )
    });
    let on_another = Callback::new(move |()| count.update(|count| *count += 1));
    view! {
        <CheckYourself id="mask" question options answer explain on_right=use_right("mask") on_another/>
    }
}

/// Which model has the lower loss where none can see the answers, guessed before it is shown.
pub fn peek() -> AnyView {
    let lab = use_lab();
    // Causal and unmasked: on what they train on, then on what is not in sight.
    let losses = memo(move || {
        let last = |name| lab.history.with(|history| history.named(name).and_then(|s| s.last()));
        let [Some(causal), Some(unmasked), Some(seen), Some(unseen)] = SERIES.map(last) else {
            return None;
        };
        Some([causal, unmasked, seen, unseen])
    });
    // While the other has learned nothing else, there is nothing to guess.
    let is_early = memo(move || {
        losses.get().is_none_or(|[causal, unmasked, ..]| (causal - unmasked).abs() < CLOSE)
    });
    let answer = Signal::derive(move || {
        let [.., seen, unseen] = losses.get()?;
        Some(match seen - unseen {
            apart if apart.abs() < CLOSE => 2,
            apart if apart < 0.0 => 0,
            _ => 1,
        })
    });
    let explain = Signal::derive(move || {
        losses.get().map_or_else(String::new, |[causal, unmasked, seen, unseen]| {
            format!(
                "On held-out text with the next character hidden, the loss is {seen:.2} with the mask and \
                 {unseen:.2} without. On the training text, where the second model can peek, it is {causal:.2} with \
                 and {unmasked:.2} without."
            )
        })
    });
    let options = [
        "The model with the causal mask",
        "The model without a mask",
        "Neither: they are about the same",
    ];
    let question = "Your model trains with a causal mask. A second one trains on the same text with no mask, so it \
                    can see each next character. Now test both on held-out text, with the next character \
                    hidden. Whose loss is lower?";
    let too_early = Signal::derive(move || {
        let early = "A question about a second model, trained without a mask, comes here once both models have \
                     trained longer.";
        is_early.get().then(|| early.to_owned())
    });
    view! {
        <CheckYourself id="mask-peek" question=Signal::stored(question.to_owned())
            options=Signal::stored(options.map(str::to_owned).to_vec()) answer explain too_early
            on_right=use_right("mask-peek")/>
    }
    .into_any()
}
