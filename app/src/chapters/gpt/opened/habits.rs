//! What the chosen head does with the learner's sentence, in numbers.

use core::f32::consts::LN_2;

use leptos::prelude::*;
use unroll_protocol::{
    gpt::{Habits, ask},
    study::heads::{HeadAt, Statistics},
};

use crate::{course::use_part, figures::percent, questions::use_answer, store::Store};

/// What one head does, beside one that has no preference.
fn summary(habits: &Habits, at: HeadAt) -> String {
    let both = habits.of(at).zip(Statistics::alike(habits.tokens as usize));
    let Some((found, alike)) = both else {
        return "Write a second token: the first one can only look at itself.".to_owned();
    };
    let bits = |statistics: Statistics| statistics.entropy / LN_2;
    format!(
        "On your sentence, this head looks back {:.1} tokens on average. It puts {} of its weight on the first token, \
         and {} on the previous one. Its entropy is {:.2} bits. For a head that looks at all tokens equally, these \
         numbers are {:.1}, {}, {} and {:.2}.",
        found.distance,
        percent(found.first, 0),
        percent(found.previous, 0),
        bits(found),
        alike.distance,
        percent(alike.first, 0),
        percent(alike.previous, 0),
        bits(alike),
    )
}

/// The head that the attention figure shows.
#[component]
pub fn HeadHabits() -> impl IntoView {
    let store = expect_context::<Store>();
    let habits = use_answer(store, move || Some(ask::Habits { text: store.probe.get() }));
    let part = use_part(habits.sight);
    let said = move || {
        let (layer, head) = store.link.with(|link| (link.gpt.layer, link.gpt.head));
        habits.read(|habits| {
            let layer = layer.clamp(1, habits.layers.max(1));
            let head = head.clamp(1, habits.heads.max(1));
            summary(habits, HeadAt { layer, head })
        })
    };
    // What is wrong with the sentence, the figure says.
    view! { <p class="view-note opened-habits" node_ref=part data-testid="head-habits">{said}</p> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_beside_one_without_preference() {
        let found = Statistics { entropy: LN_2, distance: 1.25, first: 0.5, previous: 0.25 };
        let other = Statistics { entropy: 0.0, ..found };
        let habits = Habits { tokens: 3, layers: 1, heads: 2, statistics: vec![other, found] };
        let at = |head| HeadAt { layer: 1, head };
        assert_eq!(
            summary(&habits, at(2)),
            "On your sentence, this head looks back 1.2 tokens on average. It puts 50% of its weight on the first \
             token, and 25% on the previous one. Its entropy is 1.00 bits. For a head that looks at all tokens \
             equally, these numbers are 0.8, 42%, 42% and 1.29."
        );
        let short = Habits { tokens: 1, statistics: Vec::new(), ..habits };
        assert!(summary(&short, at(2)).starts_with("Write a second token"));
    }
}
