//! `tokens`: text becomes numbers.

mod figure;
mod notebooks;
mod text;
mod views;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    link::{Chapter, Corpus},
    study::tokens::{self, Embedding, Level, Levels, Scheme, Settings},
};

use super::Info;
use crate::{
    controls::{ChoiceField, FlagField, SliderField, counted, grouped},
    course::{ChapterFrame, Lab, StageView, further, use_lab, use_other_sentence, use_right},
    questions::{use_answer, use_fixed_answer},
    reactive::{effect, memo},
    store::Store,
    teaching::{CheckYourself, Live, live},
};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Tokens,
    warm_steps: 300,
    curves: 1,
    uses_text: true,
    view: || view! { <TokensChapter/> }.into_any(),
};

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
    /// The sentence as it was before an é was added.
    plain: StoredValue<Option<String>>,
}

impl Shown {
    fn new() -> Self {
        let store = expect_context::<Store>();
        let lab = use_lab();
        let settings = memo(move || store.link.with(|link| link.tokens.clone()));
        // About the text alone.
        let levels = use_fixed_answer(lab, move || {
            let (merges, words) = settings.with(|s| (s.merges, s.words));
            Some(tokens::ask::Levels { sentence: store.probe.get(), merges, words })
        });
        let problem = levels.problem;
        let levels = levels.answer;
        let scheme = memo(move || settings.with(|s| s.scheme));
        let token = memo(move || {
            let chosen = settings.with(|s| s.token).checked_sub(1);
            levels.with(|levels| {
                let levels = levels.as_ref()?;
                let level = of_scheme(levels, scheme.get());
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
            plain: StoredValue::new(None),
        }
    }

    /// Changes the chapter's settings.
    fn set(self, change: impl FnOnce(&mut tokens::Settings)) {
        self.store.link.update(|link: &mut Link| change(&mut link.tokens));
    }

    /// What this model's numbers say of vowels and consonants now.
    fn map_claim(self) -> Option<String> {
        let (right, letters) = self.embedding.with(|e| e.as_ref().and_then(|e| text::parted(e)))?;
        let told = if right * 4 >= letters * 3 {
            "Nobody told the model which letters are vowels."
        } else {
            "With other tokens, after few steps, or after very many, other differences weigh more."
        };
        Some(format!(
            "At step {}, {right} of {letters} lowercase letters lie nearer to the middle of their own kind, \
             vowels or consonants, than to the middle of the other. {told}",
            self.lab.shown(),
        ))
    }

    fn is_accented(self) -> bool {
        self.store.probe.with(|probe| probe.ends_with(ACCENTED))
    }

    /// Adds an é to the sentence.
    fn accent(self) {
        if !untrack(|| self.is_accented()) {
            let plain = self.store.probe.get_untracked();
            self.store.set_probe(format!("{plain}{ACCENTED}"));
            self.plain.set_value(Some(plain));
        }
    }

    /// Takes the é away again that was added, unless the sentence was changed.
    fn take_accent_away(self) {
        let plain = self.plain.try_update_value(Option::take).flatten();
        let is_there = |plain: &String| {
            self.store.probe.with_untracked(|probe| *probe == format!("{plain}{ACCENTED}"))
        };
        if let Some(plain) = plain.filter(is_there) {
            self.store.set_probe(plain);
        }
    }

    /// Shows the row of a token; the model reads that scheme from then on.
    fn pick(self, scheme: Scheme, id: u32) {
        self.set(|settings| {
            settings.scheme = scheme;
            settings.token = id + 1;
        });
    }
}

/// What no sentence of the Tales has.
const ACCENTED: char = 'é';

fn of_scheme(levels: &Levels, scheme: Scheme) -> &Level {
    match scheme {
        Scheme::Characters => &levels.characters,
        Scheme::Bytes => &levels.bytes,
        Scheme::Pairs => &levels.pairs,
    }
}

#[component]
fn TokensChapter() -> impl IntoView {
    let shown = Shown::new();
    keep_merges(shown);
    let is_told = memo(move || {
        let is_tales = shown.store.source.with(|source| source.corpus == Corpus::Tales);
        is_tales && shown.store.link.with(|link| link.idea == PRODUCT)
    });
    use_other_sentence(is_told.into(), |_| LINE.to_owned());
    // The model has never met it: the beats after it are about other things.
    effect(move || {
        if shown.store.link.with(|link| link.idea != figure::ACCENT) {
            shown.take_accent_away();
        }
    });
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            warmed_in=figure::EMBEDS_FROM as usize
            live=lives(shown)
            asks=vec![
                ("tokens", ViewFn::from(move || view! { <Check shown/> })),
                ("tokens-table", ViewFn::from(move || table_size(shown))),
            ]
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

/// The beat about the probability of a sentence.
const PRODUCT: u32 = 7;

/// Training raises most of its factors: it begins and ends as lines of the Tales do. The sentence that the page
/// begins with does neither, so its first factor falls as long as the model trains.
const LINE: &str = "Once, Fenn the fox had one plan.";

/// The last of the first beats, which are about one picture: what is merged in it is not the model's.
const MERGED_UNTIL: u32 = 2;

/// Keeps the learner's merges from one of the first beats to the next, which would set its own.
fn keep_merges(shown: Shown) {
    let before = StoredValue::new(None);
    effect(move || {
        let (idea, merges) = shown.store.link.with(|link| (link.idea, link.tokens.merges));
        let made = before.get_value().filter(|(last, _)| (last + 1..=MERGED_UNTIL).contains(&idea));
        let merges = made.map_or(merges, |(_, made)| made);
        before.set_value(Some((idea, merges)));
        if made.is_some() {
            shown.set(|settings| settings.merges = merges);
        }
    });
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

/// What the text reads off sentence, text and model.
fn lives(shown: Shown) -> Vec<Live> {
    let read = |of: fn(&Levels) -> u64| {
        let levels = shown.levels;
        let number = memo(move || levels.with(|levels| levels.as_ref().map(|l| of(l))));
        move || number.get().map_or_else(|| "…".into(), grouped)
    };
    vec![
        live("character-ids", read(|levels| levels.characters.vocabulary.into())),
        live("price", move || price(shown)),
        live("merges", read(|levels| levels.merges.len() as u64)),
        live("text-bytes", read(|levels| levels.bytes.text_tokens)),
        live("text-pairs", read(|levels| levels.pairs.text_tokens)),
        live("width", move || shown.settings.with(|s| s.width.to_string())),
        live("window", move || shown.settings.with(|s| s.window.to_string())),
    ]
}

/// What the sentence costs in bytes.
fn price(shown: Shown) -> String {
    let counts = shown.levels.with(|levels| {
        levels.as_ref().map(|l| [&l.characters, &l.bytes].map(|level| level.pieces.len()))
    });
    match counts {
        Some([characters, bytes]) if characters == bytes => {
            format!(
                "In your sentence each takes one, so it has {} either way, counting the end.",
                counted(bytes as u64, "token")
            )
        }
        Some([characters, bytes]) => {
            format!("Your sentence has {characters} tokens as characters and {bytes} as bytes.")
        }
        None => "…".to_owned(),
    }
}

/// How many numbers does the table hold?
fn table_size(shown: Shown) -> AnyView {
    // Rows and columns.
    let shape = memo(move || {
        let levels = shown.levels.get()?;
        let rows = of_scheme(&levels, shown.scheme.get()).vocabulary;
        Some((u64::from(rows), u64::from(shown.settings.with(|s| s.width))))
    });
    let question = move || match shape.get() {
        Some((rows, width)) => format!(
            "The model reads one of {} ids, and each id has {width} numbers. How many numbers does \
             the embedding hold?",
            grouped(rows),
        ),
        None => String::new(),
    };
    let options = move || {
        let (rows, width) = shape.get()?;
        Some([rows + width, rows * width, rows].map(grouped).to_vec())
    };
    let explain = move || {
        shape.get().map_or_else(String::new, |(rows, width)| {
            format!(
                "One row of {width} for each of {} ids: {} × {width} = {}. All of them are learned.",
                grouped(rows),
                grouped(rows),
                grouped(rows * width),
            )
        })
    };
    view! {
        <CheckYourself id="tokens-table" question=Signal::derive(question)
            options=Signal::derive(move || options().unwrap_or_default())
            answer=Signal::derive(move || shape.get().map(|_| 1))
            explain=Signal::derive(explain) on_right=use_right("tokens-table")/>
    }
    .into_any()
}

/// What will the next click do?
#[component]
fn Check(shown: Shown) -> impl IntoView {
    let levels = shown.levels;
    // Tokens of the sentence now and after the next merge.
    let counts = memo(move || {
        levels.with(|levels| {
            let levels = levels.as_ref()?;
            levels.next.as_ref()?;
            Some((levels.pairs.pieces.len(), levels.sentence_next as usize))
        })
    });
    let options = memo(move || {
        let Some((now, next)) = counts.get() else { return Vec::new() };
        let fewer = (now - next).max(3);
        let most = now.saturating_sub(fewer + 1);
        (most..=now).rev().take(5).map(|count| format!("{count}")).collect::<Vec<_>>()
    });
    let answer = memo(move || {
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
            "The next merge makes one token of {pair}, which the text has {} times. Your sentence \
             has {now} tokens in the row of byte pairs. How many will it have after the merge?",
            grouped(count),
        ),
        _ => "There is no pair left to merge. Choose fewer merges, or a longer text.".to_owned(),
    };
    let explain = move || match (pair(), counts.get()) {
        (Some((pair, _)), Some((now, next))) if now == next => {
            format!("{pair} does not occur in your sentence, so it still has {now} tokens.")
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
            explain=Signal::derive(explain) on_right=use_right("tokens")
            on_another=Callback::new(move |()| {
                shown.set(|s| s.merges = (s.merges + 1).min(tokens::MAX_MERGES));
            })/>
    }
    .into_any()
}
