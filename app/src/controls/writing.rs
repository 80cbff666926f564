//! What the model writes, and how boldly.

use leptos::{ev, prelude::*};
use unroll_protocol::{
    RunState,
    link::Value,
    read_number,
    signs::{Run, runs},
};

use super::{
    field::{Entry, NumberField},
    format::{general, grouped, setting},
    probe::unknown_note,
    words::{Judge, Known, use_words},
};
use crate::{
    course::use_part,
    figures::{
        Second, own, percent,
        svg::escape,
        tint,
        token::{UNKNOWN, spoken},
    },
    questions::Questions,
    reactive::{effect, effect_with_last, memo},
    store::{Store, Writing as Draft},
};

/// Hottest writing on the slider. Above it every character is as likely as any other.
const HOTTEST: f32 = 2.0;

/// Where more of its words are in its text, those no longer need to stand out.
const FLUENT: f64 = 0.7;

/// So many of its words must be real before the story says that it has found some.
const FOUND: f64 = 0.3;

/// Longest beginning that the model can be given, in UTF-16 units: what fits over its text.
const LONGEST: u32 = 60;

/// The model's writing with its temperature and top-k.
#[component]
pub fn Writing() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.writing_sight);
    let step = memo(move || store.written.with(|written| written.step));
    let known = use_words(store);
    // Where tokens need not be characters, their grounds leave no room for more.
    let set_off = memo(move || known.with(Option::is_some) && !store.has_tinted_tokens());
    let questions = Questions::from(store);
    // The last text that was written to its end, and the one before.
    let whole = RwSignal::new([String::new(), String::new()]);
    // Another model's is none of it.
    effect_with_last(move |before: Option<()>| {
        questions.generation.track();
        if before.is_some() {
            whole.set(Default::default());
        }
    });
    effect(move || {
        store.written.with(|written| {
            if written.done {
                whole.update(|[last, before]| {
                    *before = core::mem::replace(last, written.text.clone());
                });
            }
        });
    });
    // The press that begins is answered before there is anything new: the noise is about to go.
    let goes = memo(move || {
        let trains = store.state.get() == RunState::Running && questions.at.get().is_none();
        trains && store.written.with(|written| written.step == 0 && written.done)
    });
    // What stood there before stays until it is written over: of a word that is cut its end, and the rest.
    let left = move |written: &Draft| {
        let mut left = match written.done {
            _ if goes.get() => return [String::new(), written.text.clone()],
            true => String::new(),
            false => {
                let length = written.text.chars().count();
                whole.with(|[last, _]| last.chars().skip(length).collect())
            }
        };
        let cut = known.with(|known| known.as_ref().map_or(0, |known| known.cut(&left)));
        let rest = left.split_off(cut);
        [left, rest]
    };
    // The number counts its words, too: they are marked as those of the new.
    let old = move || {
        let [cut, rest] = store.written.with(left);
        let rest = known.with(|known| match known.as_ref().filter(|_| set_off.get()) {
            Some(known) => known.markup(&rest, "", &str::to_owned),
            None => escape(&rest),
        });
        with_unknown(escape(&cut) + &rest)
    };
    let real = memo(move || {
        // What a model from elsewhere learned is not here.
        let known = known.get().filter(|_| !store.is_given())?;
        store.written.with(|written| match written.done {
            true => known.share(&[&written.text]),
            // The first text of a model: nothing is said before it is whole.
            false if whole.with(|[last, _]| last.is_empty()) => None,
            // Of all that stands there, new and old: of the former text it would deny the words that are
            // in sight, and of the first few new ones it would leap with each.
            false => known.share(&[&written.text, &left(written)[1]]),
        })
    });
    effect(move || {
        // Tokens that are words come with the tokenizer.
        if real.get().is_some_and(|share| share >= FOUND) && !store.has_tinted_tokens() {
            store.found.set(true);
        }
    });
    let after = move || match step.get() {
        _ if store.is_given() => String::new(),
        0 => "before any training".to_owned(),
        step => format!("after step {}", grouped(step.into())),
    };
    let again = move || {
        store.write_again();
        store.rewritten.notify();
    };
    let begin = move |event: ev::Event| {
        let opening = event_target_value(&event);
        if let Some(sentence) = unknown_note(store, &opening) {
            store.mention(sentence);
        }
        store.opening.set(opening);
        again();
    };
    let other = move |_| {
        store.throws.update(|throws| *throws += 1);
        again();
    };
    let temperature = move || store.link.with(|link| link.gpt.temperature);
    let top_k = move |(value, entry)| {
        store.link.update(|link| (setting("topk").set)(link, value));
        if entry != Entry::Typing {
            again();
        }
    };
    // What it writes by is one setting for both runs, so it is set in the first.
    let leads = use_context::<Second>().is_none();
    let (id, hint) = (own("control", "temperature"), own("hint", "temperature"));
    let at = own("sample", "step");
    let (temperature_row, words) = (setting("temperature"), general("temperature"));
    view! {
        <div class="writing view-fill" class:is-fluent=move || real.get().is_some_and(|share| share > FLUENT)
            node_ref=part>
            <div class="writing-head" class:is-given=move || store.is_given()
                style:--share=move || real.get().map(|share| percent(share, 0))>
                <h3>"What it writes " <span class="hint" id=at.clone()>{after}</span></h3>
                {move || real.get().map(|share| view! {
                    <p class="writing-real" data-testid="writing-real"
                        title="The share of the words shown that also occur in the text the model learns from">
                        <strong>{percent(share, 0)}</strong>" of its words are real"
                    </p>
                })}
                {leads.then(|| view! {
                    <input type="text" class="writing-opening" data-testid="writing-opening" placeholder="Start with…"
                        aria-label="Start with" title="Type how the text begins, and the model goes on from there"
                        maxlength=LONGEST autocomplete="off" spellcheck="false"
                        hidden=move || step.get() == 0 && !store.is_given()
                        prop:value=move || store.opening.get() on:change=begin/>
                })}
            </div>
            // Scrolls, so it takes the focus; not live, or a screen reader would never fall silent.
            <div class="sample" tabindex="0" role="group" aria-label="Text written by the model"
                aria-describedby=at>
                <p class:has-words=set_off>
                    <span class="sample-opening">{move || store.written.with(|written| written.opening.clone())}</span>
                    <span data-testid="sample-text" data-step=step>
                        <span inner_html=move || known.with(|known| {
                            store.written.with(|written| match written.done {
                                _ if goes.get() => String::new(),
                                true => whole.with(|[_, before]| shown(written, known.as_deref(), before)),
                                false => shown(written, known.as_deref(), ""),
                            })
                        })></span>
                        <span class="caret" class:caret-on=move || goes.get() || store.written.with(|w| !w.done)
                            aria-hidden="true"></span>
                    </span>
                    <span class="sample-old" aria-hidden="true" inner_html=old></span>
                </p>
            </div>
            {drafts(store, known, set_off)}
            {leads.then(|| view! { <div class="view-bar">
                <button type="button" class="button" data-testid="write-again"
                    title="Another text, with other random draws" on:click=other>
                    "Write again"
                </button>
                <div class="field" title=words.help>
                    <label for=id.clone()>{words.label}</label>
                    <input type="range" id=id.clone() data-testid="control-temperature"
                        min="0" max=HOTTEST.to_string() step="0.05" aria-describedby=hint.clone()
                        prop:value=move || temperature().to_string()
                        on:input=move |event| {
                            if let Some(heat) = read_number(&event_target_value(&event)) {
                                let heat = Value::Real(heat as f32);
                                store.link.update(|link| (temperature_row.set)(link, heat));
                            }
                        }
                        on:change=move |_| again()/>
                    <output class="field-range" for=id>
                        {move || format!("{:.2}", temperature())}
                    </output>
                    <span class="visually-hidden" id=hint>{words.help}</span>
                </div>
                <NumberField name="topk" zero="all" on_entry=Callback::new(top_k)/>
            </div> })}
        </div>
    }
}

/// What was written as markup; where tokens need not be characters, each is on a ground of its own. Words that
/// are not in the text before it are marked as new.
fn shown(written: &Draft, words: Option<&dyn Judge>, before: &str) -> String {
    marked_up(written, words, before, str::to_owned)
}

/// Markup in which characters that the text never had are a quiet “?”: their own sign, or a box, looks as if the
/// page had no letter for them.
fn with_unknown(markup: String) -> String {
    let sign = format!(r#"<i class="unknown" title="{}">?</i>"#, spoken(UNKNOWN));
    markup.replace(UNKNOWN, &sign)
}

/// The same in one line.
pub fn in_a_line(written: &Draft) -> String {
    line(written, None)
}

fn line(written: &Draft, words: Option<&dyn Judge>) -> String {
    marked_up(written, words, "", |text| text.replace('\n', " ⏎ "))
}

/// The text with the sign for unknown characters in place of bytes that are none.
fn without_bytes(text: &str) -> String {
    let run = |run| match run {
        Run::Text(text) => text.to_owned(),
        Run::Bytes(bytes) => UNKNOWN.repeat(bytes.len()),
    };
    runs(text).into_iter().map(run).collect()
}

fn marked_up(
    written: &Draft,
    words: Option<&dyn Judge>,
    before: &str,
    write: impl Fn(&str) -> String,
) -> String {
    with_unknown(match (written.tokens.as_slice(), words) {
        ([], None) => escape(&write(&written.text)),
        ([], Some(words)) => words.markup(&written.text, before, &write),
        // Their grounds leave no room for more.
        (tokens, _) => {
            // A byte that belongs to no character can’t be read here.
            let write = |text: &str| write(&without_bytes(text));
            tint::markup(&tint::written(tokens, written.done), write)
        }
    })
}

/// What the model wrote before: noise at the top, words further down. A press leads to that moment.
fn drafts(store: Store, words: RwSignal<Option<Known>>, set_off: Memo<bool>) -> AnyView {
    let now = memo(move || store.written.with(|written| written.step));
    let questions = Questions::from(store);
    let before = memo(move || {
        // Who looks at the past may go on from there to another moment.
        let end = questions.at.get().map_or_else(|| now.get(), |_| u32::MAX);
        let drafts = store.drafts.get().into_iter();
        drafts.filter(|draft| draft.step < end).collect::<Vec<Draft>>()
    });
    let look_at = move |step: u32| {
        let nearest = questions.recorded.with_untracked(|recorded| recorded.nearest(step));
        questions.look_at(nearest.filter(|nearest| *nearest < store.step.get_untracked()));
    };
    let row = move |draft: Draft| {
        let step = draft.step;
        let name = match step {
            0 => "untrained".to_owned(),
            step => format!("step {}", grouped(step.into())),
        };
        view! {
            <li>
                <button type="button" class="draft" title="Look at that moment"
                    aria-current=move || (now.get() == step).then_some("true") on:click=move |_| look_at(step)>
                    <span class="draft-step">{name}</span>
                    <span class="draft-text" class:has-words=set_off
                        inner_html=move || words.with(|words| {
                            escape(&draft.opening) + &line(&draft, words.as_deref())
                        })></span>
                </button>
            </li>
        }
    };
    view! {
        <ol class="drafts" aria-label="What it wrote before" data-testid="drafts">
            <For each=move || before.get() key=|draft| draft.step children=row/>
        </ol>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_tokens_is_the_same_text() {
        let text = "the 猫\n&";
        let plain = Draft { text: text.to_owned(), ..Draft::default() };
        assert_eq!(shown(&plain, None, ""), "the 猫\n&amp;");
        assert_eq!(in_a_line(&plain), "the 猫 ⏎ &amp;");
        let tokens = ["the ", "⟨E7⟩", "⟨8C⟩⟨AB⟩", "\n", "&", "⟨E7⟩"].map(str::to_owned);
        let mut cut = Draft { tokens: tokens.to_vec(), ..plain };
        let bare = |markup: String| {
            let parts = markup.split('<').map(|part| part.split_once('>').map_or(part, |(_, t)| t));
            parts.collect::<String>()
        };
        assert_eq!(bare(shown(&cut, None, "")), "the 猫\n&amp;");
        assert_eq!(
            shown(&cut, None, "").matches("<span").count(),
            4,
            "three tokens and what shares “猫”"
        );
        cut.done = true;
        assert_eq!(bare(shown(&cut, None, "")), "the 猫\n&amp;?");
        assert_eq!(bare(in_a_line(&cut)), "the 猫 ⏎ &amp;?");
    }
}
