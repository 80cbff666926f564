//! A tree of what may follow the sentence, and what beam search keeps of it.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::gpt::{Beam, Beams, MOST_ENDINGS, ask};

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

/// The open nodes: on the way to what the searches kept, and what the learner opened; without what
/// the learner closed, and what is behind it.
fn endings(searches: &[&Beams], opened: &[Vec<u32>], closed: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for beam in searches.iter().filter_map(|beams| beams.kept.last()).flatten() {
        all.extend((1..beam.tokens.len()).map(|at| beam.tokens[..at].to_vec()));
    }
    all.extend(opened.iter().cloned());
    let is_closed = |ending: &Vec<u32>| closed.iter().any(|closed| ending.starts_with(closed));
    all.retain(|ending| !is_closed(ending));
    let mut seen = Vec::new();
    all.retain(|ending| {
        !seen.contains(ending) && {
            seen.push(ending.clone());
            true
        }
    });
    all.truncate(MOST_ENDINGS);
    all
}

#[component]
pub fn Tree(page: Page) -> impl IntoView {
    let probe = page.store.probe;
    let search = move |width: Signal<u32>| {
        use_answer(page.questions, move || {
            Some(ask::Beams { text: probe.get(), width: width.get(), length: LENGTH })
        })
    };
    let (beams, greedy) = (search(page.beams.into()), search(Signal::stored(1)));
    let (opened, closed) =
        (RwSignal::new(Vec::<Vec<u32>>::new()), RwSignal::new(Vec::<Vec<u32>>::new()));
    // Another sentence has other continuations.
    effect(move || {
        probe.track();
        opened.set(Vec::new());
        closed.set(Vec::new());
    });
    let open = memo(move || {
        let (beams, greedy) = (beams.answer.get()?, greedy.answer.get());
        let greedy = greedy.as_deref().filter(|greedy| greedy.text == beams.text);
        let searches: Vec<&Beams> = [&*beams].into_iter().chain(greedy).collect();
        Some(endings(&searches, &opened.get(), &closed.get()))
    });
    let after = use_answer(page.questions, move || {
        Some(ask::After { text: probe.get(), endings: open.get()? })
    });
    let hunt = Hunt::new(page, beams.answer, greedy.answer);
    let part = NodeRef::<html::Div>::new();
    let shown = use_visible(part);
    after.shown_in(shown);
    beams.shown_in(shown);
    greedy.shown_in(shown);
    let editor = use_probe();
    // The answer may still be about the sentence before, of which the tokens are no longer known.
    let sentence = memo(move || {
        let about = after.read(|after| after.text.clone())?;
        let now = probe.with(|probe| *probe == about);
        editor.tokens.with(|tokens| match now {
            true => tokens.clone(),
            false => tokens.as_ref().map(|_| tint::over(&about, &[], 0)),
        })
    });
    let tree = memo(move || {
        let (after, beams) = (after.answer.get()?, beams.answer.get()?);
        let tokens = sentence.get();
        let greedy = greedy.answer.get();
        Branches::new(&after, &beams, greedy.as_deref(), &opened.get(), tokens.as_deref())
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
    let problem = move || after.problem.get().or_else(|| beams.problem.get());
    let note = move || {
        if let Some(problem) = problem() {
            return problem;
        }
        let found = |beams: &Beams| beams.kept.last()?.first().cloned();
        let best = beams.read(found).flatten().zip(greedy.read(found).flatten());
        let tinted = page.store.has_tinted_tokens();
        let vocabulary =
            after.read(|after| after.vocabulary.clone()).filter(|_| tinted).unwrap_or_default();
        // Where tokens need not be characters, one sees where each ends.
        let text = move |beam: &Beam| {
            let tokens: Option<Vec<&String>> =
                beam.tokens.iter().map(|id| vocabulary.get(*id as usize)).collect();
            match tokens.filter(|_| tinted) {
                Some(tokens) => tint::barred(tokens),
                None => marked(&beam.text),
            }
        };
        best.map_or(String::new(), |(wide, greedy)| {
            let said = compared(&greedy, &wide, page.beams.get(), hunt.failed.get(), text);
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
                hint="Press a token to see what may follow it. Colored branches are those that beam search kept."
                on_pick=Callback::new(press)/>
            <p class="view-note decode-note" role="status" data-testid="tree-note">{note}</p>
        </div>
    }
    .into_any()
}

type Search = Signal<Option<Arc<Beams>>>;

/// Looks for a beginning of the sentence after which both searches find different texts: it takes the last
/// character away until they do.
#[derive(Clone, Copy)]
struct Hunt {
    store: Store,
    wide: Search,
    greedy: Search,
    /// The sentence that it began with, while it looks, and whether it looks at all beginnings of it.
    from: RwSignal<Option<(String, bool)>>,
    /// The sentence that it began with, and what it left of it, while that is on show.
    found: RwSignal<Option<(String, String)>>,
    /// Whether it has looked at every beginning of the sentence on show.
    failed: RwSignal<bool>,
}

impl Hunt {
    fn new(page: Page, wide: Search, greedy: Search) -> Self {
        let store = page.store;
        let (from, found, failed) =
            (RwSignal::new(None), RwSignal::new(None), RwSignal::new(false));
        let hunt = Self { store, wide, greedy, from, found, failed };
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
        hunt
    }

    /// Whether both searches find the same after `text`, once they have.
    fn agree(self, text: &str) -> Option<bool> {
        let best = |search: Search| {
            search.with(|beams| {
                let beams = beams.as_ref().filter(|beams| beams.text == text)?;
                Some(beams.kept.last()?.first()?.tokens.clone())
            })
        };
        Some(best(self.wide)? == best(self.greedy)?)
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
    fn the_ways_of_beam_search_are_open() {
        let beams =
            Beams { text: "the".into(), kept: vec![vec![beam("abc", 0.2), beam("abd", 0.1)]] };
        let endings = |opened: &[_], closed: &[_]| endings(&[&beams], opened, closed);
        assert_eq!(endings(&[], &[]), ["", "a", "ab"].map(ids));
        let opened = ["x", "ab"].map(ids);
        assert_eq!(endings(&opened, &[]), ["", "a", "ab", "x"].map(ids));
        assert_eq!(endings(&opened, &[ids("a")]), ["", "x"].map(ids));
        let many: Vec<Vec<u32>> = (0..99).map(|at| vec![at]).collect();
        assert_eq!(endings(&many, &[]).len(), MOST_ENDINGS);
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
