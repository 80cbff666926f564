//! `tokens`: text becomes numbers.

mod figure;
mod text;
mod views;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    link::Chapter,
    study::tokens::{self, Embedding, Levels, Scheme, Settings},
};

use super::Info;
use crate::{
    controls::{ChoiceField, FlagField, SliderField},
    course::{ChapterFrame, Idea, Lab, StageView, use_done, use_lab},
    questions::{use_answer, use_fixed_answer},
    store::Store,
    teaching::CheckYourself,
};

pub const INFO: Info = Info {
    id: Chapter::Tokens,
    warm_steps: 300,
    uses_text: true,
    view: || view! { <TokensChapter/> }.into_any(),
};

const IDEAS: &[Idea] = &[
    Idea {
        title: "A character is a number",
        text: "The top row cuts your sentence into characters. Each has an id: its place in the \
               list of all characters of the text.",
        set: |link| link.tokens.merges = 0,
    },
    Idea {
        title: "A byte is a number too",
        text: "With 256 byte values every text of the world can be written: nothing is unknown. \
               An é takes two bytes, an emoji four.",
        set: |link| {
            link.tokens.scheme = Scheme::Bytes;
            link.tokens.merges = 0;
        },
    },
    Idea {
        title: "What often stands together becomes one",
        text: "Merge the most frequent pair, again and again. Here are 40 merges: the text has \
               fewer tokens, the vocabulary 40 more.",
        set: |link| {
            link.tokens.scheme = Scheme::Pairs;
            link.tokens.merges = 40;
            link.view = "merges".into();
        },
    },
    Idea {
        title: "An id picks a row",
        text: "The embedding has one row of numbers for each id. Picking a row and multiplying a \
               one-hot vector with the whole table give the same numbers.",
        set: |link| {
            link.tokens.token = 34;
            link.view = "embedding".into();
        },
    },
    Idea {
        title: "A window makes the examples",
        text: "Slide a window over the text: each token in it is an example, and its target is the \
               next one. Eight tokens hold eight examples.",
        set: |link| {
            link.tokens.at = 30;
            link.view = "window".into();
        },
    },
    Idea {
        title: "A sentence is a product",
        text: "The probability of a whole sentence is the product of one factor for each token, \
               the end token among them, for how long it gets is not known beforehand.",
        set: |link| {
            link.tokens.scheme = Scheme::Pairs;
            link.tokens.merges = 300;
            link.view = "sentence".into();
        },
    },
];

/// What several of the chapter's views show, and what is set.
#[derive(Clone, Copy)]
struct Shown {
    store: Store,
    lab: Lab,
    settings: Memo<Settings>,
    levels: Signal<Option<Arc<Levels>>>,
    embedding: Signal<Option<Arc<Embedding>>>,
    /// Why the sentence has no tokens.
    problem: Signal<Option<String>>,
    scheme: Signal<Scheme>,
    /// Id of the token whose row is on show.
    token: Signal<Option<u32>>,
}

impl Shown {
    fn new() -> Self {
        let store = expect_context::<Store>();
        let lab = use_lab();
        let settings = Memo::new(move |_| store.link.with(|link| link.tokens.clone()));
        // About the text alone.
        let levels = use_fixed_answer(lab, move || {
            let (merges, words) = settings.with(|s| (s.merges, s.words));
            Some(tokens::ask::Levels { sentence: store.probe.get(), merges, words })
        });
        let problem = levels.problem;
        let levels = levels.answer;
        let scheme = Memo::new(move |_| settings.with(|s| s.scheme));
        let token = Memo::new(move |_| {
            let chosen = settings.with(|s| s.token).checked_sub(1);
            levels.with(|levels| {
                let levels = levels.as_ref()?;
                let level = match scheme.get() {
                    Scheme::Characters => &levels.characters,
                    Scheme::Bytes => &levels.bytes,
                    Scheme::Pairs => &levels.pairs,
                };
                // A link or a merge taken back may name an id that is not there.
                chosen
                    .filter(|id| *id < level.vocabulary)
                    .or_else(|| level.pieces.first().map(|p| p.id))
            })
        });
        let embedding =
            use_answer(lab, move || Some(tokens::ask::Embedding { token: token.get()? }));
        let embedding = ["tokens", "embedding", "map"]
            .iter()
            .fold(embedding, |embedding, view| embedding.shown_in(lab.on_view(view)));
        Self {
            store,
            lab,
            settings,
            levels,
            embedding: embedding.answer,
            problem,
            scheme: scheme.into(),
            token: token.into(),
        }
    }

    /// Changes the chapter's settings.
    fn set(self, change: impl FnOnce(&mut tokens::Settings)) {
        self.store.link.update(|link: &mut Link| change(&mut link.tokens));
    }

    /// Shows the row of a token; the model reads that scheme from then on.
    fn pick(self, scheme: Scheme, id: u32) {
        self.set(|settings| {
            settings.scheme = scheme;
            settings.token = id + 1;
        });
    }
}

#[component]
fn TokensChapter() -> impl IntoView {
    let shown = Shown::new();
    view! {
        <ChapterFrame
            before="A model computes with numbers. A text is none: something has to turn one into the other."
            intro=words::intro
            ideas=IDEAS
            tries=words::tries()
            check=move || view! { <Check shown/> }
            more=words::more
            views=vec![
                StageView::new("tokens", "Tokens", move || view! { <figure::Tokens shown/> }),
                StageView::new("merges", "Merges", move || view! { <figure::Merges shown/> }),
                StageView::new("embedding", "Row", move || view! { <views::Lookup shown/> }),
                StageView::new("map", "Map", move || view! { <views::Map shown/> }),
                StageView::new("window", "Window", move || view! { <views::Window shown/> }),
                StageView::new("sentence", "Product", move || view! { <views::Chain shown/> }),
            ]
            settings=move || view! { <Controls shown/> }
            model=Signal::derive(move || {
                let (scheme, width) = shown.settings.with(|s| (s.scheme, s.width));
                format!("{}, {width} each", scheme.label().to_ascii_lowercase())
            })
        />
    }
    .into_any()
}

#[component]
fn Controls(shown: Shown) -> impl IntoView {
    view! {
        <div class="course-controls">
            <ChoiceField name="tokens-scheme"
                on_change=Callback::new(move |_| shown.set(|settings| settings.token = 0))/>
            <FlagField name="tokens-words"/>
            <SliderField name="tokens-width"/>
            <SliderField name="tokens-window"/>
        </div>
    }
    .into_any()
}

/// What will the next click do?
#[component]
fn Check(shown: Shown) -> impl IntoView {
    let levels = shown.levels;
    // Tokens of the sentence now and after the next merge.
    let counts = Memo::new(move |_| {
        levels.with(|levels| {
            let levels = levels.as_ref()?;
            levels.next.as_ref()?;
            Some((levels.pairs.pieces.len(), levels.sentence_next as usize))
        })
    });
    let options = Memo::new(move |_| {
        let Some((now, next)) = counts.get() else { return Vec::new() };
        let fewer = (now - next).max(3);
        let most = now.saturating_sub(fewer + 1);
        (most..=now).rev().take(5).map(|count| format!("{count}")).collect::<Vec<_>>()
    });
    let answer = Memo::new(move |_| {
        let (_, next) = counts.get()?;
        options.with(|options| options.iter().position(|option| *option == next.to_string()))
    });
    let pair = move || {
        levels.with(|levels| {
            let next = levels.as_ref()?.next.as_ref()?;
            Some((words::pair(next), next.count))
        })
    };
    let question = move || match (pair(), counts.get()) {
        (Some((pair, count)), Some((now, _))) => format!(
            "The next merge makes one token of {pair}, which the text has {count} times. The row \
             of byte pairs has {now} tokens now. How many will it have then?",
        ),
        _ => "There is no pair left to merge: choose fewer merges, or a longer text.".to_owned(),
    };
    let explain = move || match (pair(), counts.get()) {
        (Some((pair, _)), Some((now, next))) if now == next => {
            format!("{pair} does not stand in your sentence, whatever the text has: still {now}.")
        }
        (Some((pair, _)), Some((now, next))) => format!(
            "{pair} can be merged {} in your sentence, and each merge makes one token of two: \
             {now} − {} = {next}.",
            match now - next {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            },
            now - next,
        ),
        _ => String::new(),
    };
    view! {
        <CheckYourself id="tokens" question=Signal::derive(question) options answer
            explain=Signal::derive(explain) on_right=use_done()
            on_another=Callback::new(move |()| {
                shown.set(|s| s.merges = (s.merges + 1).min(tokens::MAX_MERGES));
            })/>
    }
    .into_any()
}
