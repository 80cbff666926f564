//! Questions to the learner, answered by the live model.

use crate::reactive::{effect_with_last, memo};
use leptos::{html, prelude::*};

/// What a question asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A number or a place that the live model has.
    #[default]
    Predict,
    /// The reason for something.
    Explain,
    /// What is wrong with a sentence that many believe.
    FindError,
    /// Something to be found in the picture beside the question.
    Look,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Predict => "Predict",
            Self::Explain => "Why is that?",
            Self::FindError => "Find the error",
            Self::Look => "Look closely",
        }
    }
}

/// What was asked and answered at the press of the button. Training on does not change it.
#[derive(Clone, PartialEq)]
struct Verdict {
    question: String,
    options: Vec<String>,
    picked: usize,
    right: usize,
    explain: String,
}

/// A question: the learner guesses first, then the model's answer is laid beside it.
#[component]
pub fn CheckYourself(
    /// Names it on the page; no other question has it.
    id: &'static str,
    #[prop(optional)] kind: Kind,
    #[prop(into)] question: Signal<String>,
    /// Short, and at least two; none while `question` says what has to come first.
    #[prop(into)]
    options: Signal<Vec<String>>,
    /// Which of the options the live model's numbers say; `None` while it has none yet.
    #[prop(into)]
    answer: Signal<Option<usize>>,
    /// Options that are as right as `answer`: the numbers on show do not tell them apart.
    #[prop(optional)]
    ties: Signal<Vec<usize>>,
    /// A sentence with those numbers.
    #[prop(into)]
    explain: Signal<String>,
    /// Why the model can't answer this yet: said in the question's place, with nothing to pick.
    #[prop(optional, into)]
    too_early: Signal<Option<String>>,
    /// What is said of each option to who picks it, in place of `explain`.
    #[prop(optional)]
    replies: Signal<Vec<&'static str>>,
    #[prop(optional, into)] on_right: Option<Callback<()>>,
    #[prop(optional, into)] on_wrong: Option<Callback<()>>,
    /// Makes the next question. Without it there is one more to try once `question` has changed.
    #[prop(optional, into)]
    on_another: Option<Callback<()>>,
) -> impl IntoView {
    let verdict = RwSignal::new(None);
    let waits = move || too_early.with(Option::is_some);
    let asked = Asked {
        id,
        question: Signal::derive(move || too_early.get().unwrap_or_else(|| question.get())),
        options: Signal::derive(move || if waits() { Vec::new() } else { options.get() }),
        answer: Signal::derive(move || answer.get().filter(|_| !waits())),
        ties,
        explain,
        replies,
        verdict,
        on_right,
        on_wrong,
        on_another,
        skipped: None,
    };
    view! {
        <div class="check" role="group" data-testid=format!("check-{id}") aria-label=kind.name()>
            <p class="check-kind" aria-hidden="true">{kind.name()}</p>
            <Question asked/>
        </div>
    }
    .into_any()
}

/// A question before what answers it: the children show once the learner has guessed, or asks to
/// see them without.
#[component]
pub fn GuessFirst(
    id: &'static str,
    #[prop(into)] question: Signal<String>,
    #[prop(into)] options: Signal<Vec<String>>,
    #[prop(into)] answer: Signal<Option<usize>>,
    #[prop(into)] explain: Signal<String>,
    #[prop(optional, into)] on_right: Option<Callback<()>>,
    children: ChildrenFn,
) -> impl IntoView {
    let (verdict, skipped) = (RwSignal::new(None), RwSignal::new(false));
    let (ties, replies, on_wrong, on_another) = (Signal::default(), Signal::default(), None, None);
    let asked = Asked {
        id,
        question,
        options,
        answer,
        ties,
        explain,
        replies,
        verdict,
        on_right,
        on_wrong,
        on_another,
        skipped: Some(skipped),
    };
    let seen =
        Memo::new(move |seen: Option<&bool>| seen.copied().unwrap_or(false) || asked.is_folded());
    view! {
        <div class="check" class:check-folded=move || asked.is_folded() role="group"
            data-testid=format!("check-{id}") aria-label="Guess first">
            <p class="check-kind" aria-hidden="true">"Guess first"</p>
            <Question asked/>
        </div>
        {move || seen.get().then(|| children())}
    }
    .into_any()
}

/// The signals of one question. They belong to the chapter; `verdict` to the question's component.
#[derive(Clone, Copy)]
struct Asked {
    id: &'static str,
    question: Signal<String>,
    options: Signal<Vec<String>>,
    answer: Signal<Option<usize>>,
    ties: Signal<Vec<usize>>,
    explain: Signal<String>,
    replies: Signal<Vec<&'static str>>,
    verdict: RwSignal<Option<Verdict>>,
    on_right: Option<Callback<()>>,
    on_wrong: Option<Callback<()>>,
    on_another: Option<Callback<()>>,
    /// Whether the learner asked to see what answers it, where that can be asked.
    skipped: Option<RwSignal<bool>>,
}

impl Asked {
    /// Whether what answers it is on show: then a line is left of the question. Tracks.
    fn is_folded(self) -> bool {
        self.skipped.is_some_and(|skipped| skipped.get() || self.verdict.with(Option::is_some))
    }
}

#[component]
fn Question(asked: Asked) -> impl IntoView {
    let Asked { id, verdict, on_right, on_wrong, on_another, .. } = asked;
    // Live signals fire at every step of training; the page changes only with what they say.
    let question = memo(move || asked.question.get());
    let options = memo(move || asked.options.get());
    let right = memo(move || asked.answer.get());
    let picked = RwSignal::new(None::<usize>);
    let hint = RwSignal::new("");
    let told = NodeRef::<html::P>::new();

    // Another question: the old guess is about nothing any more.
    effect_with_last(move |before: Option<String>| {
        let question = question.get();
        if before.is_some_and(|before| before != question)
            && verdict.with_untracked(Option::is_none)
        {
            picked.set(None);
        }
        question
    });
    let answered = move || verdict.with(Option::is_some);
    let is_stale = move || {
        verdict
            .with(|v| v.as_ref().is_some_and(|v| question.with(|question| *question != v.question)))
    };
    let has_another = move || answered() && (on_another.is_some() || is_stale());
    let check = move || {
        let right = asked.answer.get_untracked();
        match (picked.get_untracked(), right) {
            (None, _) => hint.set("Pick an answer first."),
            (_, None) => hint.set("The model has no answer yet: it is still working."),
            (Some(picked), Some(right)) => {
                let is_tied = asked.ties.with_untracked(|ties| ties.contains(&picked));
                let right = if is_tied { picked } else { right };
                hint.set("");
                verdict.set(Some(Verdict {
                    question: asked.question.get_untracked(),
                    options: asked.options.get_untracked(),
                    picked,
                    right,
                    explain: match asked.replies.with_untracked(|r| r.get(picked).copied()) {
                        Some(reply) => reply.to_owned(),
                        None => asked.explain.get_untracked(),
                    },
                }));
                if let Some(on_answer) = if picked == right { on_right } else { on_wrong } {
                    on_answer.run(());
                }
            }
        }
    };
    let another = move || {
        if let Some(on_another) = on_another.filter(|_| !is_stale()) {
            on_another.run(());
        }
        verdict.set(None);
        picked.set(None);
    };
    // The buttons go, and what they had of the keyboard is the verdict's.
    let focus = move || {
        if let Some(told) = told.get_untracked() {
            let _ = told.focus();
        }
    };
    let press = move |_| {
        if untrack(has_another) {
            another();
            return;
        }
        check();
        if untrack(|| answered() && !has_another()) {
            focus();
        }
    };
    let skip = move |skipped: RwSignal<bool>| {
        let show = move |_| {
            skipped.set(true);
            focus();
        };
        view! {
            <button type="button" class="button button-quiet" data-testid=format!("check-{id}-show")
                style:display=move || asked.is_folded().then_some("none") on:click=show>
                "Just show me"
            </button>
        }
    };
    let shown_question = move || {
        verdict.with(|v| v.as_ref().map(|v| v.question.clone())).unwrap_or_else(|| question.get())
    };
    let option = move |i: usize| {
        let frozen = verdict.with(|v| v.as_ref().and_then(|v| v.options.get(i).cloned()));
        frozen.or_else(|| options.with(|options| options.get(i).cloned())).unwrap_or_default()
    };
    let count = memo(move || {
        verdict
            .with(|v| v.as_ref().map(|v| v.options.len()))
            .unwrap_or_else(|| options.with(Vec::len))
    });
    // Where there is nothing to ask, there is nothing to check.
    let has_button =
        move || count.get() > 0 && (has_another() || !(answered() || asked.is_folded()));
    // In words as well as in color.
    let mark = move |i: usize| {
        verdict.with(|v| {
            let v = v.as_ref()?;
            match (v.picked == i, v.right == i) {
                (true, true) => Some("✓ your guess, and the answer"),
                (false, true) => Some("✓ the answer"),
                (true, false) => Some("✗ your guess"),
                (false, false) => None,
            }
        })
    };
    let choice = move |i: usize| {
        view! {
            <label class="check-option" class:check-right=move || mark(i).is_some_and(|m| m.starts_with('✓'))
                class:check-wrong=move || mark(i).is_some_and(|m| m.starts_with('✗'))>
                <input type="radio" name=format!("check-{id}") data-testid=format!("check-{id}-option-{i}")
                    prop:checked=move || picked.get() == Some(i) disabled=answered
                    on:change=move |_| { picked.set(Some(i)); hint.set(""); }/>
                <span>{move || option(i)}</span>
                <span class="check-mark">{move || mark(i)}</span>
            </label>
        }
    };
    let line = move || {
        if !asked.is_folded() {
            return None;
        }
        // The model may still be working on it.
        let at = verdict.with(|v| v.as_ref().map(|v| v.right)).or_else(|| right.get());
        let mut question = shown_question();
        // What comes after the question is about guessing.
        question.truncate(question.rfind('?').map_or(question.len(), |end| end + 1));
        Some(
            view! { <span class="check-line">{question} " " <strong>{at.map(option)}</strong></span> },
        )
    };
    let said = move || {
        verdict.with(|v| match v {
            Some(v) => {
                let right = v.picked == v.right;
                let word = if right { "Right. " } else { "Not this time. " };
                view! { {line} <strong>{word}</strong> {v.explain.clone()} }.into_any()
            }
            None if asked.is_folded() => line.into_any(),
            None => hint.get().into_any(),
        })
    };
    view! {
        <fieldset class="check-options">
            <legend>{shown_question}</legend>
            {move || (0..count.get()).map(choice).collect_view()}
        </fieldset>
        <div class="check-answer">
            <button type="button" class="button"
                style:display=move || (!has_button()).then_some("none")
                data-testid=move || format!("check-{id}-{}", if has_another() { "another" } else { "submit" })
                aria-disabled=move || (!answered() && right.with(Option::is_none)).then_some("true") on:click=press>
                {move || if has_another() { "Try another" } else { "Check" }}
            </button>
            {asked.skipped.map(skip)}
            <p class="check-verdict" role="status" aria-live="polite" tabindex="-1" node_ref=told
                data-testid=format!("check-{id}-verdict")
                data-right=move || verdict.with(|v| v.as_ref().map(|v| (v.picked == v.right).to_string()))>
                {said}
            </p>
        </div>
    }
    .into_any()
}
