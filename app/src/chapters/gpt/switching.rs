//! Heads that are switched off in the lab's model, and what its guesses are without them.

use leptos::prelude::*;
use unroll_protocol::{Trace, gpt::ask, study::heads::HeadAt};

use super::which::loss;
use crate::{
    course::use_part,
    figures::{Switches, percent, token::mark},
    questions::{Questions, use_answer},
    reactive::memo,
    store::Store,
};

/// The heads that are off; a click on one switches it while `switching`.
pub fn switches(store: Store, switching: impl Into<Signal<bool>>) -> Switches {
    let Questions { off, .. } = store.into();
    let places = move || off.with(|off| off.iter().map(|at| (at.layer, at.head)).collect());
    let toggle = Callback::new(move |(layer, head)| {
        store.link.update(|link| HeadAt { layer, head }.toggle(&mut link.off));
    });
    Switches { off: Signal::derive(places), switching: switching.into(), toggle }
}

/// Switches heads, and says what the guesses are without those that are off.
#[component]
pub fn Switching(switching: RwSignal<bool>) -> impl IntoView {
    let store = expect_context::<Store>();
    let questions = Questions::from(store);
    let off = questions.off;
    let any_off = memo(move || off.with(|off| !off.is_empty()));
    let whole = questions.without(Signal::stored(Vec::new()));
    let whole =
        use_answer(whole, move || any_off.get().then(|| ask::Trace { text: store.probe.get() }));
    let part = use_part(whole.sight);
    let all = move || {
        let shape = store.trace.read(|trace| trace.weights.shape.clone()).unwrap_or_default();
        let [layers, heads, ..] = shape[..] else { return Vec::new() };
        HeadAt::all((layers, heads))
    };
    let set = move |heads: Vec<HeadAt>| store.link.update(|link| link.off = heads);
    let said = move || {
        if !any_off.get() {
            let hint = "Click a head to switch it off. Click it again to switch it back on.";
            return switching.get().then(|| hint.to_owned());
        }
        let effect = store
            .trace
            .answer
            .with(|without| whole.read(|whole| effect(whole, without.as_deref()?)).flatten());
        let who = off.with(|off| named(off));
        Some(format!("{who} off: {}", effect.unwrap_or_else(|| "…".to_owned())))
    };
    view! {
        <div class="view-bar" node_ref=part class:switching=move || switching.get()>
            <button type="button" class="button" data-testid="lab-switch"
                aria-pressed=move || switching.get().to_string()
                on:click=move |_| switching.update(|on| *on = !*on)>
                {move || if switching.get() { "Done" } else { "Switch heads off" }}
            </button>
            {move || switching.get().then(|| view! {
                <button type="button" class="button button-quiet" data-testid="lab-all-off"
                    on:click=move |_| set(untrack(all))>
                    "All off"
                </button>
            })}
            {move || any_off.get().then(|| view! {
                <button type="button" class="button button-quiet" data-testid="lab-all-on"
                    on:click=move |_| set(Vec::new())>
                    "All on"
                </button>
            })}
        </div>
        <p class="view-note" class:view-note-two=move || switching.get() || any_off.get() role="status" data-testid="lab-off">
            {said}
        </p>
    }
}

/// Which heads are meant, in a few words.
fn named(off: &[HeadAt]) -> String {
    match off {
        [HeadAt { layer, head }] => format!("Layer {layer}, head {head}"),
        _ => format!("{} heads", off.len()),
    }
}

/// How the guesses on the same sentence differ without some heads.
fn effect(whole: &Trace, without: &Trace) -> Option<String> {
    if whole.tokens != without.tokens || whole.step != without.step {
        return None;
    }
    let losses = loss(whole, 0).zip(loss(without, 0));
    let loss = losses.map_or_else(String::new, |((before, _), (after, _))| {
        format!("the loss on your sentence is {after:.3} instead of {before:.3} nats per token. ")
    });
    let (best, before) = last(whole).max_by(|a, b| a.1.total_cmp(&b.1))?;
    // Of a large vocabulary, only the likeliest tokens are told.
    let after = last(without).find(|(token, _)| *token == best);
    let best = mark(best);
    let now = match after {
        Some((_, share)) => format!("Now ‘{best}’ gets {}.", percent(share, 1)),
        None => format!("Now ‘{best}’ is not among the likely guesses."),
    };
    let before = percent(before, 1);
    let at_end = format!(
        "With every head on, the best guess for the next token is ‘{best}’, at {before}. {now}"
    );
    Some(loss + &at_end)
}

/// What may come after the last token, with its probability.
fn last(trace: &Trace) -> impl Iterator<Item = (&str, f32)> {
    let shares = trace.probabilities.values.rchunks(trace.vocabulary.len().max(1)).next();
    trace.vocabulary.iter().map(String::as_str).zip(shares.into_iter().flatten().copied())
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    fn trace(last: [f32; 2], vocabulary: [&str; 2]) -> Trace {
        let values = [[0.5, 0.5], last].concat();
        Trace {
            tokens: vec!["a".into(), "b".into()],
            places: vec![0, 1],
            vocabulary: vocabulary.map(String::from).to_vec(),
            probabilities: Array { shape: vec![2, 2], values },
            ..Trace::default()
        }
    }

    #[test]
    fn the_effect_names_loss_and_best_guess() {
        let whole = trace([0.75, 0.25], ["a", "b"]);
        assert_eq!(loss(&whole, 0), Some((0.5f64.ln().abs(), 1)));
        assert_eq!(
            effect(&whole, &trace([0.5, 0.5], ["a", "b"])).unwrap(),
            "the loss on your sentence is 0.693 instead of 0.693 nats per token. \
             With every head on, the best guess for the next token is ‘a’, at 75.0%. Now ‘a’ gets 50.0%."
        );
        let other = effect(&whole, &trace([0.5, 0.5], ["c", "b"])).unwrap();
        assert!(other.ends_with("Now ‘a’ is not among the likely guesses."), "{other}");
        // The answers come one after the other: they are not compared across steps.
        assert_eq!(effect(&whole, &Trace { step: 1, ..whole.clone() }), None);
        assert_eq!(named(&[HeadAt { layer: 1, head: 2 }]), "Layer 1, head 2");
    }
}
