//! What a chapter says, as data: its texts can be read, counted and checked without a page.

use leptos::prelude::*;

use super::{Try, machine_map::Map, progress::use_right, review::REVIEW, story::SetStage};
use crate::{
    fetched::fetched,
    teaching::{Live, Quiz, prose, quiz},
};

/// A chapter's story. The texts are marked up as [`prose`] has it.
pub struct Script {
    /// One line: what the chapter before could not do.
    pub before: &'static str,
    /// Six to eleven. The first says why anyone needed this, the last what the learner can do now.
    pub beats: &'static [Beat],
    /// Three to five experiments with a surprising result.
    pub tries: &'static [Trial],
    /// Questions whose answer is known beforehand.
    pub quizzes: &'static [Quiz],
}

/// One beat: a few sentences, and the settings and the view that show what they say.
pub struct Beat {
    /// Empty for the first, which the chapter's title heads.
    pub title: &'static str,
    pub text: &'static str,
    /// Sets what differs from the chapter's start: settings, and `view`, the name of a view other
    /// than the first.
    pub set: SetStage,
    /// The questions asked here, by id: of [`Script::quizzes`], or one that the live model answers.
    pub asks: &'static [&'static str],
}

/// An experiment, and the button that sets it up. The button comes first: the text says what to do and to
/// look for once it is pressed.
pub struct Trial {
    pub text: &'static str,
    /// Empty where there is nothing to set up.
    pub label: &'static str,
    pub id: &'static str,
    pub set: SetStage,
    /// What becomes of the learner's sentence; `None` leaves it.
    pub sentence: Option<&'static str>,
}

/// What of a story is shown apart, for the page opens without it: one of its questions, its
/// experiments, the review of a part of the course, or the map under its title.
#[derive(Clone, Copy)]
pub enum Further {
    Ask(&'static str),
    Tries,
    Review,
    /// Where the chapter is in the whole machine.
    Place,
}

/// Around a chapter whose script is wanted, not its page.
#[derive(Clone, Copy, Default)]
pub struct Borrow(StoredValue<Option<&'static Script>>);

impl Borrow {
    /// What a chapter shows in this context: nothing.
    pub fn lend(self, script: &'static Script) -> AnyView {
        self.0.set_value(Some(script));
        ().into_any()
    }

    /// The script of the chapter that has this view.
    pub fn script_of(view: fn() -> AnyView) -> Option<&'static Script> {
        Owner::new().with(|| {
            let borrow = Self::default();
            provide_context(borrow);
            let _ = view();
            borrow.0.get_value()
        })
    }
}

/// The story on the page, with what is live in it.
#[derive(Clone)]
pub struct Telling {
    pub script: &'static Script,
    pub live: Vec<Live>,
    /// The questions that the live model answers, by id.
    pub asks: Vec<(&'static str, ViewFn)>,
}

/// What the [`Further`] in the context names, of the [`Telling`] there.
pub fn further() -> AnyView {
    let Telling { script, live, asks } = expect_context();
    let id = match expect_context() {
        Further::Tries => {
            let lines = script.tries.iter().map(|trial| trial.view(&live)).collect_view();
            return view! {
                <p class="hint">"Each button sets up its experiment. The text below it says what to do next."</p>
                <ul class="try-list">{lines}</ul>
            }
            .into_any();
        }
        Further::Review => return fetched(REVIEW, "The review"),
        Further::Place => return view! { <Map/> }.into_any(),
        Further::Ask(id) => id,
    };
    if let Some(asked) = script.quizzes.iter().find(|quiz| quiz.id == id) {
        return quiz(asked, use_right(id));
    }
    asks.iter().find(|ask| ask.0 == id).map(|ask| ask.1.run()).into_any()
}

impl Trial {
    /// The experiment as a line of the list.
    fn view(&'static self, live: &[Live]) -> AnyView {
        let Self { text, label, id, set, .. } = self;
        let button = (!label.is_empty()).then(|| match self.sentence {
            Some(sentence) => view! { <Try label id=*id set=*set sentence/> }.into_any(),
            None => view! { <Try label id=*id set=*set/> }.into_any(),
        });
        view! { <li>{button} {prose(text, live)}</li> }.into_any()
    }
}

impl Script {
    /// Every question's id, in the order in which they are asked.
    pub fn asks(&self) -> Vec<&'static str> {
        self.beats.iter().flat_map(|beat| beat.asks).copied().collect()
    }
}
