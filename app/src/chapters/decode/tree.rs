//! A tree of what may follow the sentence, and what beam search keeps of it.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::gpt::{Beam, Grown, ask};

use super::{
    Page,
    branches::{Tree as Branches, from_word, marked, small},
    picture::{Drawing, Picture, Shown},
};
use crate::{
    controls::{SliderField, TokenField, use_probe},
    figures::{tint, use_visible},
    questions::use_answer,
    reactive::{effect, memo},
    store::Store,
};

/// Tokens that the searches go.
const LENGTH: u32 = 6;

/// Characters of the sentence's end that the note repeats.
const REPEATED: usize = 12;

#[component]
pub fn Tree(page: Page) -> impl IntoView {
    let probe = page.store.probe;
    let (opened, closed) =
        (RwSignal::new(Vec::<Vec<u32>>::new()), RwSignal::new(Vec::<Vec<u32>>::new()));
    // Another sentence has other continuations.
    effect(move || {
        probe.track();
        opened.set(Vec::new());
        closed.set(Vec::new());
    });
    // All of it in one answer: no two probabilities of a text are of different steps.
    let grown = use_answer(page.questions, move || {
        let (text, width) = (probe.get(), page.beams.get());
        let (opened, closed) = (opened.get(), closed.get());
        Some(ask::Tree { text, width, length: LENGTH, opened, closed })
    });
    let hunt = Hunt::new(page, grown.answer);
    let part = NodeRef::<html::Div>::new();
    grown.shown_in(use_visible(part));
    let editor = use_probe();
    // The answer may still be about the sentence before, of which the tokens are no longer known.
    let sentence = memo(move || {
        let about = grown.read(|grown| grown.after.text.clone())?;
        let now = probe.with(|probe| *probe == about);
        editor.tokens.with(|tokens| match now {
            true => tokens.clone(),
            false => tokens.as_ref().map(|_| tint::over(&about, &[], 0)),
        })
    });
    let tree = memo(move || {
        let (grown, tokens) = (grown.answer.get()?, sentence.get());
        Branches::new(&grown, &opened.get(), tokens.as_deref())
    });
    let drawing =
        Signal::derive(move || tree.get().map(|tree| Arc::new(tree) as Arc<dyn Drawing>) as Shown);
    let press = move |at: usize| {
        let node = tree.with_untracked(|tree| tree.as_ref()?.nodes.get(at).cloned());
        let Some(node) = node.filter(|node| !node.ending.is_empty()) else { return };
        let ending = node.ending;
        if node.open {
            opened.update(|opened| opened.retain(|other| !other.starts_with(&ending)));
            closed.update(|closed| closed.push(ending));
        } else {
            closed.update(|closed| closed.retain(|other| !ending.starts_with(other)));
            opened.update(|opened| opened.push(ending));
        }
    };
    let note = move || {
        if let Some(problem) = grown.problem.get() {
            return problem;
        }
        let tinted = page.store.has_tinted_tokens();
        let Some(grown) = grown.answer.get() else { return String::new() };
        let Grown { after, beams, greedy } = &*grown;
        let vocabulary = &after.vocabulary;
        // Where tokens need not be characters, one sees where each ends.
        let text = move |beam: &Beam| {
            let tokens: Option<Vec<&String>> =
                beam.tokens.iter().map(|id| vocabulary.get(*id as usize)).collect();
            match tokens.filter(|_| tinted) {
                Some(tokens) => tint::barred(tokens),
                None => marked(&beam.text),
            }
        };
        beams.best().zip(greedy.best()).map_or(String::new(), |(wide, greedy)| {
            let said = compared(greedy, wide, page.beams.get(), hunt.failed.get(), text);
            match page.beams.get() {
                // Itself the greedy search: there is nothing to be found.
                1 => said,
                _ => hunt.told(said, wide.tokens == greedy.tokens),
            }
        })
    };
    view! {
        <div class="view-fill" node_ref=part>
            <div class="view-bar decode-bar">
                <TokenField editor/>
                <button type="button" class="button" data-testid="decode-differ"
                    on:click=move |_| hunt.begin()>"Find a difference"</button>
                <SliderField name="decode-beams"/>
            </div>
            <Picture name="tree" title="What may follow, at temperature 1" drawing
                label="A tree that grows from the sentence to the right. Arrow keys move between tokens. Enter opens or closes one."
                hint="Press a token to see what may follow it. Colored: the texts that beam search keeps to the end."
                on_pick=Callback::new(press)/>
            <p class="view-note decode-note" role="status" data-testid="tree-note">{note}</p>
        </div>
    }
    .into_any()
}

type Searches = Signal<Option<Arc<Grown>>>;

/// Looks for a beginning of the sentence after which both searches find different texts: it takes the last
/// character away until they do.
#[derive(Clone, Copy)]
struct Hunt {
    store: Store,
    searches: Searches,
    /// The sentence that it began with, while it looks, and whether it looks at all beginnings of it.
    from: RwSignal<Option<(String, bool)>>,
    /// The sentence that it began with, and what it left of it, while that is on show.
    found: RwSignal<Option<(String, String)>>,
    /// Whether it has looked at every beginning of the sentence on show.
    failed: RwSignal<bool>,
}

impl Hunt {
    fn new(page: Page, searches: Searches) -> Self {
        let store = page.store;
        let (from, found, failed) =
            (RwSignal::new(None), RwSignal::new(None), RwSignal::new(false));
        let hunt = Self { store, searches, from, found, failed };
        effect(move || {
            let text = store.probe.get();
            let Some((from, _)) = hunt.from.get() else { return };
            // Who types meanwhile looks elsewhere.
            if !from.starts_with(&text) {
                return hunt.from.set(None);
            }
            match hunt.agree(&text) {
                Some(true) => hunt.shorten(text),
                Some(false) => {
                    hunt.from.set(None);
                    hunt.found.set(Some((from, text)));
                }
                None => {}
            }
        });
        // Another sentence is another question.
        effect(move || {
            let now = store.probe.get();
            if found.with_untracked(|found| found.as_ref().is_some_and(|(_, left)| *left != now)) {
                found.set(None);
            }
        });
        // And so is what has learned since.
        effect(move || {
            store.probe.track();
            page.questions.shown();
            failed.set(false);
        });
        // Other views read the sentence that the learner wrote.
        on_cleanup(move || hunt.restore());
        hunt
    }

    /// Gives the sentence back that it cut, if the learner has not changed it since.
    fn restore(self) {
        let Some(now) = self.store.probe.try_get_untracked() else { return };
        let looks = self.from.try_get_untracked().flatten();
        let looks = looks.filter(|(whole, _)| whole.starts_with(&now)).map(|(whole, _)| whole);
        let found = self.found.try_get_untracked().flatten();
        let found = found.filter(|(_, left)| *left == now).map(|(whole, _)| whole);
        if let Some(whole) = found.or(looks).filter(|whole| *whole != now) {
            self.store.set_probe(whole);
        }
    }

    /// Whether both searches find the same after `text`, once they have.
    fn agree(self, text: &str) -> Option<bool> {
        self.searches.with(|grown| {
            let Grown { beams, greedy, .. } =
                &**grown.as_ref().filter(|grown| grown.after.text == text)?;
            Some(beams.best()?.tokens == greedy.best()?.tokens)
        })
    }

    fn begin(self) {
        let text = self.store.probe.get_untracked();
        match self.found.get_untracked() {
            None => self.from.set(Some((text, true))),
            // What it found is no difference any more: it looks at the whole sentence again.
            Some((whole, _)) if untrack(|| self.agree(&text)) == Some(true) => {
                self.from.set(Some((whole.clone(), true)));
                self.store.set_probe(whole);
            }
            Some((whole, _)) => {
                self.from.set(Some((whole, false)));
                self.shorten(text);
            }
        }
    }

    /// What is said of both searches, with what became of the sentence.
    fn told(self, said: String, agree: bool) -> String {
        self.found.with(|found| match found {
            None => said,
            Some(_) if agree => {
                format!("{said} Press “Find a difference” to search your whole sentence again.")
            }
            Some((whole, left)) if whole == left => {
                format!("After your whole sentence the two differ. {said}")
            }
            Some((_, left)) => {
                let end = from_word(&marked(left), REPEATED);
                format!("Your sentence is cut after “{end}”: there the two differ. {said}")
            }
        })
    }

    /// Takes a character away; from the last one it goes back to where it began.
    fn shorten(self, mut text: String) {
        text.pop();
        if text.is_empty() {
            let Some((from, all)) = self.from.try_update(Option::take).flatten() else { return };
            self.store.set_probe(from);
            // After what a new sentence leads to.
            request_animation_frame(move || _ = self.failed.try_set(all));
        } else {
            self.store.set_probe(text);
        }
    }
}

/// The best of both searches, in words.
fn compared(
    greedy: &Beam,
    wide: &Beam,
    width: u32,
    everywhere: bool,
    text: impl Fn(&Beam) -> String,
) -> String {
    let said = |beam: &Beam| {
        format!("“{}”, probability {}", text(beam), small(beam.log_probability.exp()))
    };
    if width == 1 {
        return format!("One beam is greedy: {}. Keep more beams and compare.", said(greedy));
    }
    let start = format!(
        "Greedy finds {}. Beam search with {width} beams finds {}",
        said(greedy),
        said(wide)
    );
    match wide.log_probability - greedy.log_probability {
        _ if wide.text == greedy.text && everywhere => {
            format!(
                "{start}: the same, as after every beginning of this sentence. Try another sentence."
            )
        }
        _ if wide.text == greedy.text => format!("{start}: here they agree."),
        more if more > 0.0 => format!("{start}: {:.2} times as likely.", more.exp()),
        _ => format!("{start}: less likely. A wider search does not always find a better text."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<u32> {
        text.bytes().map(u32::from).collect()
    }

    fn beam(text: &str, probability: f64) -> Beam {
        Beam { tokens: ids(text), text: text.to_owned(), log_probability: probability.ln() }
    }

    #[test]
    fn searches_are_compared_by_what_they_found() {
        let compared = |greedy: &Beam, wide: &Beam, width| {
            compared(greedy, wide, width, false, |beam| marked(&beam.text))
        };
        let said = compared(&beam("ab", 0.1), &beam("ba", 0.2), 3);
        assert!(said.ends_with("“ba”, probability 20.00%: 2.00 times as likely."), "{said}");
        assert!(compared(&beam("ab", 0.1), &beam("ab", 0.1), 3).ends_with("here they agree."));
        assert!(compared(&beam("ab", 0.1), &beam("ab", 0.1), 1).contains("One beam is greedy"));
    }
}
