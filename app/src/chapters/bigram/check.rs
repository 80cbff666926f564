//! The chapter's questions to the model: which way the gradient pushes a logit of its table, and what
//! twice the probability saves.

use leptos::prelude::*;
use unroll_protocol::study::bigram::{Row, ask};

use super::{code_point, named, use_vocabulary};
use crate::{
    course::{use_lab, use_right},
    questions::use_answer,
    reactive::memo,
    store::Store,
    teaching::CheckYourself,
};

/// Letters asked about, one after another.
const ASKED: &[char] = &['t', 'o', 'a', 'i', 'h', 'n', 'r', 'e', 's', 'w'];
/// Shares nearer to each other than this are the same with four decimals.
const ALIKE: f32 = 1e-4;

/// The question.
pub fn check() -> AnyView {
    let vocabulary = use_vocabulary();
    let turn = RwSignal::new(0usize);
    let lab = use_lab();
    let answered = use_answer(lab, move || {
        let character = u32::from(ASKED[turn.get() % ASKED.len()]);
        Some(ask::Row { character })
    });
    let row = answered.shown_in(lab.check_seen).answer;
    // The row's token, the follower asked about, and its share in the text and in the table.
    let asked = memo(move || {
        row.with(|row| {
            let row = row.as_deref()?;
            let id = farthest(row, turn.get())?;
            Some((row.id, id as u32, shares(row, id)))
        })
    });
    let name = move |id: u32| vocabulary.with(|v| named(v, id));
    let store = expect_context::<Store>();
    // The pair whose arithmetic is beside the table.
    let pinned = memo(move || store.link.with(|link| (link.bigram.row, link.bigram.next)));
    let question = move || {
        asked.get().map_or_else(String::new, |(current, next, _)| {
            let pair = vocabulary.with(|v| (code_point(v, current), code_point(v, next)));
            let choose = if pinned.get() == pair { "Look at" } else { "Choose" };
            format!(
                "{choose} “After {} comes {}” beside the table. Which way does gradient descent, a step \
                 against the gradient, push this pair’s logit now?",
                name(current),
                name(next)
            )
        })
    };
    let answer = move || asked.get().map(|(.., (counted, trained))| usize::from(trained > counted));
    let explain = move || {
        asked.get().map_or_else(String::new, |(current, next, (counted, trained))| {
            let (more, up) = match trained > counted {
                true => ("which is too high", "down"),
                false => ("which is too low", "up"),
            };
            format!(
                "In the text, the share of {} after {} is {counted:.4}. The table gives it a probability of \
                 {trained:.4}, {more}. So the logit is pushed {up}.",
                name(next),
                name(current)
            )
        })
    };
    let too_early = Signal::derive(move || {
        let alike =
            asked.get().is_some_and(|(.., (counted, trained))| (counted - trained).abs() < ALIKE);
        alike.then(|| {
            "By now the table agrees with the text here. Drag the time bar back to an earlier step."
                .to_owned()
        })
    });
    view! {
        <CheckYourself id="bigram" question=Signal::derive(question)
            options=Signal::stored(["Up", "Down"].map(str::to_owned).to_vec())
            answer=Signal::derive(answer) explain=Signal::derive(explain) too_early on_right=use_right("bigram")
            on_another=Callback::new(move |()| turn.update(|turn| *turn += 1))/>
    }
    .into_any()
}

/// A follower's share in the text and in the trained table.
fn shares(row: &Row, id: usize) -> (f32, f32) {
    (row.counts[id] as f32 / row.total.max(1) as f32, row.trained[id])
}

/// The follower of which the table is farthest from the text: it expects it too rarely in one question, and
/// too often in the next.
fn farthest(row: &Row, turn: usize) -> Option<usize> {
    let gap = |id: &usize| {
        let (counted, trained) = shares(row, *id);
        if turn.is_multiple_of(2) { counted - trained } else { trained - counted }
    };
    (0..row.counts.len()).max_by(|a, b| gap(a).total_cmp(&gap(b)))
}

/// What a model pays that gives what comes twice the probability of one that knows nothing: what that one
/// pays is in the figure.
pub fn uniform(size: Memo<usize>) -> AnyView {
    // What knowing nothing costs, and what twice the probability does.
    let known = move || Some(size.get()).filter(|size| *size > 4).map(|size| (size as f64).ln());
    let twice = 2f64.ln();
    let question = move || {
        known().map_or_else(String::new, |cost| {
            format!(
                "There are V = {} characters here. A model that knows nothing gives each a probability of 1/V, so \
                 its loss is ln V = {cost:.3} nats. A second model always gives the right next character a \
                 probability of 2/V. How large is its loss?",
                size.get()
            )
        })
    };
    let options = move || {
        let cost = known()?;
        Some([cost / 2.0, cost - twice, 2.0 * cost].map(|loss| format!("{loss:.3}")).to_vec())
    };
    let explain = move || {
        known().map_or_else(String::new, |cost| {
            format!(
                "Its loss is −ln(2/V) = ln V − ln 2 = {cost:.3} − {twice:.3} = {:.3}. Doubling a probability \
                 always saves ln 2 = {twice:.3} nats, however large it was before.",
                cost - twice
            )
        })
    };
    view! {
        <CheckYourself id="bigram-uniform" question=Signal::derive(question)
            options=Signal::derive(move || options().unwrap_or_default())
            answer=Signal::derive(move || known().map(|_| 1))
            explain=Signal::derive(explain) on_right=use_right("bigram-uniform")/>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_rare_and_what_is_too_frequent_take_turns() {
        let row = Row {
            id: 0,
            total: 10,
            pairs: 10,
            counts: vec![6, 3, 1],
            logits: vec![0.0; 3],
            trained: vec![0.4, 0.35, 0.25],
        };
        assert_eq!((farthest(&row, 0), farthest(&row, 1)), (Some(0), Some(2)));
        assert_eq!(shares(&row, 2), (0.1, 0.25));
    }
}
