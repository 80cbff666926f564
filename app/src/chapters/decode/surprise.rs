//! How surprising the model finds each character of a text.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::gpt::{MOST_READ, Surprise, ask};

use super::{
    Page,
    picture::{Drawing, Picture, Shown},
    skyline::{Letter, Passage, Skyline},
};
use crate::{
    controls::counted, course::use_part, figures::own, questions::use_answer, reactive::memo,
};

/// Characters of the training data that are shown at first.
const FIRST: usize = 280;

/// The end of the text that the lab learns: the held-out part, which it never trains on.
pub fn held_out(text: &str) -> String {
    let start = text.char_indices().rev().nth(FIRST - 1).map_or(0, |(at, _)| at);
    let end = &text[start..];
    // From the beginning of a line, where there is one.
    match end.find('\n') {
        Some(at) if at + 1 < end.len() / 2 => end[at + 1..].to_owned(),
        _ => end.to_owned(),
    }
}

/// At most as much of a text as is read, and whether that is all of it. A pasted book must not be
/// copied with every key.
fn cut(text: &str) -> (String, bool) {
    match text.char_indices().nth(MOST_READ) {
        Some((end, _)) => (text[..end].to_owned(), false),
        None => (text.to_owned(), true),
    }
}

#[component]
pub fn Read(page: Page) -> impl IntoView {
    let text = page.text;
    let first = page.store.source;
    // The learner's own, else the end of the training data, which may still be on its way.
    let shown =
        memo(move || text.get().unwrap_or_else(|| first.with(|source| held_out(&source.text))));
    let whole = RwSignal::new(true);
    let answer = use_answer(page.questions, move || Some(ask::Surprise { text: shown.get() }));
    let part = use_part(answer.sight);
    let drawing = Signal::derive(move || {
        // The last answer is of the text before, and stays.
        if shown.with(String::is_empty) {
            return None;
        }
        let passage = answer.read(passage)?;
        Some(Arc::new(Skyline {
            passages: vec![passage],
            planned: 0,
            tinted: page.store.has_tinted_tokens(),
        }) as Arc<dyn Drawing>) as Shown
    });
    let entered = move |event| {
        let (kept, all) = cut(&event_target_value(&event));
        whole.set(all);
        text.set(Some(kept));
    };
    let said = move || match answer.problem.get() {
        Some(problem) => problem,
        None => {
            let unit = page.unit();
            let mut said = answer.read(|answer| summary(answer, unit)).unwrap_or_default();
            let dropped = answer.read(|answer| answer.dropped).unwrap_or_default();
            if dropped > 0 {
                said.push_str(&format!(" Only the first {MOST_READ} {unit}s are read."));
            } else if !whole.get() {
                said.push_str(&format!(" Only the first {MOST_READ} characters are read."));
            }
            said
        }
    };
    // The two numbers that the story explains are seen first.
    let title = Signal::derive(move || {
        let mean = answer.read(|answer| passage(answer).mean()).flatten();
        match mean.filter(|_| shown.with(|text| !text.is_empty())) {
            Some(mean) => format!("Mean surprise {mean:.3} nats, perplexity {:.2}", mean.exp()),
            None => "How surprising each token is".to_owned(),
        }
    });
    view! {
        <div class="view-fill" node_ref=part>
            <div class="decode-text">
                <label for=own("decode", "text")>"Any text"</label>
                <textarea id=own("decode", "text") rows="3" spellcheck="false" data-testid="decode-text"
                    prop:value=move || shown.get() on:input=entered></textarea>
            </div>
            <Picture name="surprise" title drawing
                label="The text, with a bar over each token as tall as its surprise. Arrow keys move between tokens."
                hint="Point at a token to read its surprise. The taller its bar, the less the model expected it."/>
            <p class="view-note decode-note" role="status" data-testid="surprise-note">{said}</p>
        </div>
    }
    .into_any()
}

fn passage(answer: &Surprise) -> Passage {
    let letter = |(at, token): (usize, &String)| {
        let before = at.checked_sub(1);
        Letter {
            token: token.clone(),
            surprise: before.and_then(|at| answer.surprises.get(at)).copied(),
            expected: before.and_then(|at| answer.expected.get(at)).cloned(),
        }
    };
    Passage {
        name: String::new(),
        notes: Vec::new(),
        letters: answer.tokens.iter().enumerate().map(letter).collect(),
    }
}

/// The means, and how much the model saw.
fn summary(answer: &Surprise, unit: &str) -> String {
    let count = answer.surprises.len();
    let Some(mean) = passage(answer).mean() else {
        return format!("One {unit} alone: there is nothing to guess yet.");
    };
    let seen = answer.seen as usize;
    let before = match seen < count {
        true => format!(
            "Each guess uses at least {} before it, or all of them where there are fewer.",
            counted(seen as u64, unit)
        ),
        false => format!("Each guess uses all {unit}s before it."),
    };
    // What texts in other tokens can be compared by.
    let each = match unit {
        "character" => String::new(),
        _ => {
            let mean = mean * count as f64 / f64::from(answer.characters.max(1));
            format!(" That is {mean:.3} nats for each character.")
        }
    };
    format!(
        "Mean surprise {mean:.3} nats ({:.3} bits) over {}. Perplexity {:.2}: each guess is as hard, on average, as one among that many equally likely {unit}s.{each} {before}",
        mean / core::f64::consts::LN_2,
        counted(count as u64, unit),
        mean.exp()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters() {
        let long = "ä".repeat(MOST_READ + 5);
        let (kept, whole) = cut(&long);
        assert_eq!((kept.chars().count(), whole), (MOST_READ, false));
        assert_eq!(cut("ab"), ("ab".to_owned(), true));
        let text = format!("{}\nlast line", "x".repeat(FIRST));
        assert_eq!(held_out(&text).chars().count(), FIRST);
        assert_eq!(held_out("short"), "short");
    }

    #[test]
    fn the_summary_counts_what_was_guessed() {
        let answer = Surprise {
            tokens: ["a", "b", "c"].map(str::to_owned).to_vec(),
            dropped: 0,
            surprises: vec![1.0, 2.0],
            characters: 6,
            expected: vec![("b".to_owned(), 0.5), ("a".to_owned(), 0.4)],
            seen: 3,
        };
        let said = summary(&answer, "character");
        assert!(
            said.starts_with("Mean surprise 1.500 nats (2.164 bits) over 2 characters."),
            "{said}"
        );
        assert!(said.contains("Perplexity 4.48"), "{said}");
        assert!(!said.contains("for each character"), "{said}");
        let said = summary(&answer, "token");
        assert!(said.contains("over 2 tokens") && said.contains("0.500 nats for each"), "{said}");
        assert_eq!(passage(&answer).letters[0].surprise, None);
        let one =
            Surprise { tokens: vec!["a".into()], surprises: vec![], expected: vec![], ..answer };
        assert!(summary(&one, "character").contains("nothing to guess"));
    }
}
