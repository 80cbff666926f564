//! The built-in texts, all written or generated for this project (see `cargo xtask corpora`).
//!
//! All are fetched. The one that the page begins with comes while the page's wasm does: index.html
//! tells the browser of it.

use std::{cell::RefCell, sync::Arc};

use unroll_protocol::link::Corpus;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;

use crate::worker::build_id;

thread_local! {
    static FETCHED: RefCell<Vec<(Corpus, Arc<str>)>> = RefCell::default();
}

/// A built-in text, if it is here already; `None` for the learner's own.
pub fn text(corpus: Corpus) -> Option<Arc<str>> {
    FETCHED.with_borrow(|texts| Some(texts.iter().find(|(of, _)| *of == corpus)?.1.clone()))
}

/// A built-in text, fetched unless it is here already. The error is a sentence for the page.
pub async fn load(corpus: Corpus) -> Result<Arc<str>, String> {
    if let Some(text) = text(corpus) {
        return Ok(text);
    }
    let text = fetch(corpus.id()).await.ok_or_else(|| {
        format!("The text “{}” could not be loaded. Are you offline?", name(corpus))
    })?;
    FETCHED.with_borrow_mut(|texts| texts.push((corpus, text.clone())));
    Ok(text)
}

async fn fetch(id: &str) -> Option<Arc<str>> {
    let address = format!("./corpora/{id}.txt?v={}", build_id());
    let window = web_sys::window()?;
    let response = JsFuture::from(window.fetch_with_str(&address)).await.ok()?;
    let response: web_sys::Response = response.dyn_into().ok()?;
    if !response.ok() {
        return None;
    }
    let text = JsFuture::from(response.text().ok()?).await.ok()?;
    text.as_string().map(Into::into)
}

/// What the page calls it.
pub fn name(corpus: Corpus) -> &'static str {
    Corpus::CHOICES.iter().find(|choice| choice.0 == corpus.id()).map_or("", |choice| choice.1)
}

/// The probe sentence a text starts with: one that shows its structure.
pub fn probe(corpus: Corpus) -> &'static str {
    match corpus {
        Corpus::Tales => "said Fenn the fox, who had one",
        Corpus::Names => "silina\nfalveno\n",
        Corpus::Brackets => "nokq|nokq\n[bb(a)]\n",
        Corpus::Own => "",
    }
}

/// The probe for any text: the learner's own begins with its own first words.
pub fn probe_for(corpus: Corpus, text: &str) -> String {
    match corpus {
        Corpus::Own => text.trim_start().chars().take(OWN_PROBE_LENGTH).collect(),
        corpus => probe(corpus).to_owned(),
    }
}

/// The same for chapters whose models read few characters.
pub fn short_probe_for(corpus: Corpus, text: &str) -> String {
    match corpus {
        Corpus::Tales => "and the fox, who had one".to_owned(),
        corpus => probe_for(corpus, text).chars().take(SHORT_PROBE_LENGTH).collect(),
    }
}

/// Whether it is one that the text begins with, so that the learner did not touch it.
pub fn is_first_probe(probe: &str, corpus: Corpus, text: &str) -> bool {
    probe == probe_for(corpus, text) || probe == short_probe_for(corpus, text)
}

/// As many as the chapter whose model reads fewest.
const SHORT_PROBE_LENGTH: usize = 24;
/// Characters of the learner's own text that become the probe: few enough to read as tokens.
const OWN_PROBE_LENGTH: usize = 32;

#[cfg(test)]
mod tests {
    use unroll_protocol::study::{block, qkv};

    use super::*;

    #[test]
    fn short_probes_fit_the_contexts_that_they_are_for() {
        let own = "A text of the learner’s own, with as many characters as any.";
        for corpus in [Corpus::Tales, Corpus::Names, Corpus::Brackets, Corpus::Own] {
            let short = short_probe_for(corpus, own);
            let length = short.chars().count();
            assert!(length > 0 && length <= qkv::CONTEXT.min(block::CONTEXT) as usize, "{short}");
            assert!(is_first_probe(&short, corpus, own));
            assert!(is_first_probe(&probe_for(corpus, own), corpus, own));
            assert!(!is_first_probe("mine", corpus, own));
        }
    }
}
