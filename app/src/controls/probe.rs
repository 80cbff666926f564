//! The sentence whose attention is shown.

use leptos::{html, prelude::*};
use unroll_protocol::{Tokens, Trace};

use crate::{
    figures::{Editor, canvas::use_size, own, tint},
    reactive::{effect, memo},
    store::Store,
};

/// More than any context, in UTF-16 units. What is longer would only slow the typing down.
const LONGEST: u32 = 4000;

/// The probe sentence of the GPT lab, which acts as one types, and how the model sees it.
pub fn use_probe() -> Editor {
    let store = expect_context::<Store>();
    let cut = RwSignal::new(false);
    let on_input = move |text: String| {
        let long = text.encode_utf16().count() > LONGEST as usize;
        cut.set(long);
        // The model sees the end of what it is given, so the end is kept.
        let skip = if long { text.chars().count().saturating_sub(LONGEST as usize) } else { 0 };
        store.set_probe(text.chars().skip(skip).collect());
    };
    let note = memo(move || {
        let cut = cut.get().then(|| format!("Cut to its last {LONGEST} characters."));
        let notes: Vec<_> =
            [cut, store.probe.with(|probe| unknown_note(store, probe)), dropped_note(store)]
                .into_iter()
                .flatten()
                .collect();
        notes.join(" ")
    });
    let tokens = memo(move || {
        if !store.has_tinted_tokens() {
            return None;
        }
        let probe = store.probe.get();
        let over = |trace: &Trace| {
            let dropped = trace.starts.first().copied().unwrap_or_default();
            tint::over(&probe, &trace.tokens, dropped)
        };
        Some(store.trace.read(over).unwrap_or_else(|| tint::over(&probe, &[], 0)))
    });
    Editor {
        label: "Sentence to look at",
        value: store.probe.into(),
        on_input: Callback::new(on_input),
        note: note.into(),
        problem: store.trace.problem,
        tokens: tokens.into(),
    }
}

/// A field in which each character stands in a cell of its own, as the tokens of a sentence do, or each
/// token on a ground of its own: typed, pasted and read out as any text field.
#[component]
pub fn TokenField(
    editor: Editor,
    /// Whether it is read from its end, where a model goes on: what is out of sight is the beginning.
    #[prop(default = true)]
    ends: bool,
) -> impl IntoView {
    let Editor { label, value, on_input, note, problem, tokens } = editor;
    let whole = memo(move || tokens.with(Option::is_some));
    // A last line that is empty counts too.
    let ground = move || {
        tokens.with(|runs| runs.as_ref().map(|runs| tint::markup(runs, str::to_owned) + "\u{200b}"))
    };
    let longest =
        move || value.with(|v| v.split('\n').map(|line| line.chars().count()).max().unwrap_or(0));
    let lines = move || value.with(|v| v.split('\n').count());
    let strip = NodeRef::<html::Div>::new();
    let is_cut = RwSignal::new(false);
    if ends {
        let size = use_size(strip);
        effect(move || {
            size.track();
            let (longest, last) = (longest(), value.with(|v| last_line(v)));
            // Once the field is as wide as its new text.
            request_animation_frame(move || {
                // The field may be gone by then.
                if let Some(strip) = strip.try_get_untracked().flatten() {
                    show_end(&strip, (last + 1) as f64 / (longest + 1) as f64);
                }
            });
        });
    }
    view! {
        <div class="probe">
            <label for=own("probe", "input")>{label}</label>
            <div class="probe-strip" class:whole=whole class:cut=move || is_cut.get() node_ref=strip
                on:scroll=move |event| is_cut.set(event_target::<web_sys::Element>(&event).scroll_left() > 0)>
                {move || whole.get().then(|| view! {
                    <div class="probe-ground" aria-hidden="true" translate="no" data-testid="probe-tokens"
                        inner_html=move || ground().unwrap_or_default()></div>
                })}
                <textarea id=own("probe", "input") data-testid="probe-input" wrap="off"
                    rows=move || lines().to_string() style=move || format!("--cells:{}", longest() + 1)
                    autocomplete="off" autocapitalize="off" spellcheck="false"
                    aria-describedby=format!("{} {}", own("probe", "note"), own("probe", "problem"))
                    aria-invalid=move || problem.with(Option::is_some).then_some("true")
                    prop:value=move || value.get()
                    on:input=move |event| on_input.run(event_target_value(&event))>
                </textarea>
            </div>
            <p class="hint probe-note" id=own("probe", "note") role="status" data-testid="probe-note">{note}</p>
            <p class="field-error" id=own("probe", "problem") role="alert" data-testid="probe-problem">
                {move || problem.get()}
            </p>
        </div>
    }
    .into_any()
}

/// Characters of a text's last line.
fn last_line(text: &str) -> usize {
    text.rsplit('\n').next().map_or(0, |line| line.chars().count())
}

/// Scrolls a field so that its last line's end, at this part of its width, is seen. While one edits it, it
/// follows the caret.
fn show_end(strip: &web_sys::HtmlElement, part: f64) {
    if !strip.matches(":focus-within").unwrap_or_default() {
        let end = f64::from(strip.scroll_width()) * part;
        strip.set_scroll_left(end as i32 - strip.client_width());
    }
}

/// Which characters of `text` in the model's sight it has never met.
pub fn unknown_note(store: Store, text: &str) -> Option<String> {
    store.started.with(|started| {
        let started = started.as_ref().filter(|s| s.spec.tokens == Tokens::Characters)?;
        // In order of their code points, behind the unknown character.
        let known = started.vocabulary.get(1..)?;
        let context = started.spec.gpt.context as usize;
        let skip = text.chars().count().saturating_sub(context);
        unknown_sentence(text.chars().skip(skip), |c| {
            known.binary_search_by(|known| known.as_str().cmp(c)).is_ok()
        })
    })
}

/// Says which of the characters seen the model does not know, if any.
pub fn unknown_sentence(
    seen: impl Iterator<Item = char>,
    knows: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut unknown = Vec::new();
    for c in seen {
        if !unknown.contains(&c) && !knows(c.encode_utf8(&mut [0; 4])) {
            unknown.push(c);
        }
    }
    let quoted = |c: &char| match c {
        '\n' => "a new line".to_owned(),
        '\t' => "a tab".to_owned(),
        c => format!("‘{c}’"),
    };
    let list: Vec<_> = unknown.iter().take(6).map(quoted).collect();
    let more = if unknown.len() > list.len() { " and others" } else { "" };
    match unknown.len() {
        0 => None,
        1 => Some(format!("{} is not in the text: the model sees it as unknown, □.", list[0])),
        _ => Some(format!(
            "{}{more} are not in the text: the model sees each as unknown, □.",
            list.join(", ")
        )),
    }
}

/// How much of the sentence the context has room for.
fn dropped_note(store: Store) -> Option<String> {
    let cut = |trace: &Trace| (trace.dropped > 0).then_some(trace.tokens.len());
    let seen = store.trace.read(cut).flatten()?;
    let unit = store.tokens().unit();
    let fits =
        store.started.with(|s| s.as_ref().is_some_and(|s| seen < s.spec.gpt.context as usize));
    Some(match fits {
        true => format!(
            "Only the last {seen} {unit}s are shown: a longer text has too many weights to draw."
        ),
        false => format!("Only the last {seen} {unit}s fit the context."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_unknown_characters_once() {
        let say = |text: &str| unknown_sentence(text.chars(), |c| "abc ".contains(c));
        assert_eq!(say("a cab"), None);
        assert!(say("caféé").unwrap().starts_with("‘f’, ‘é’ are not"));
        assert!(say("ab\n").unwrap().starts_with("a new line is not"));
        assert!(say("0123456789").unwrap().contains("‘5’ and others are"));
    }
}
