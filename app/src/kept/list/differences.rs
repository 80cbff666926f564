//! What a kept run has otherwise than the model on the page.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    link::{Corpus, settings},
};

use crate::{
    controls::{general, in_words},
    kept::{self, file::Head},
    store::Store,
};

/// The learner's own text that the model on the page learns: what it is called, and its checksum.
type OwnText = Option<(String, u32)>;

pub(super) fn own_text(store: Store, sum: Memo<u32>) -> OwnText {
    store
        .source
        .with(|source| (source.corpus == Corpus::Own).then(|| (source.name.clone(), sum.get())))
}

/// What a run has otherwise than the model on the page: "Layers: 2, not 4".
pub(super) fn differences(head: &Head, built: &Link, own: &OwnText) -> Vec<String> {
    if head.query.is_empty() {
        return Vec::new();
    }
    let kept = kept::settings(&head.query);
    let mut differences = Vec::new();
    if kept.corpus == Corpus::Own {
        // All texts of the learner's own are one setting.
        differences.extend(other_text(head, own));
    }
    for setting in settings() {
        let [theirs, ours] = [&kept, built].map(|link| (setting.get)(link));
        let mut with = built.clone();
        (setting.set)(&mut with, theirs.clone());
        if with.corpus != built.corpus || with.experiment() != built.experiment() {
            let label = general(setting.name).label;
            differences.push(format!(
                "{label}: {}, not {}",
                in_words(setting, &theirs),
                in_words(setting, &ours)
            ));
        }
    }
    differences
}

/// How a run's text of the learner's own is another than that on the page.
fn other_text(head: &Head, own: &OwnText) -> Option<String> {
    let (theirs, (name, ours)) = head.text_sum.zip(own.as_ref())?;
    (theirs != *ours).then(|| match head.text == *name {
        true => "Text: a different one with the same name".to_owned(),
        false => format!("Text: {}, not {name}", head.text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_of_the_learners_own_are_told_apart() {
        let ours = Some(("notes.txt".to_owned(), 7));
        let of = |text: &str, text_sum, ours: &OwnText| {
            let head = Head {
                step: 1,
                loss: None,
                text: text.to_owned(),
                model: String::new(),
                parameters: 1,
                losses: Vec::new(),
                query: String::new(),
                text_sum,
                at: None,
            };
            other_text(&head, ours).unwrap_or_default()
        };
        assert_eq!(of("notes.txt", Some(8), &ours), "Text: a different one with the same name");
        assert_eq!(of("story.txt", Some(8), &ours), "Text: story.txt, not notes.txt");
        // The same text, also under another name.
        assert_eq!(of("notes.txt", Some(7), &ours), "");
        assert_eq!(of("story.txt", Some(7), &ours), "");
        // Files of earlier releases do not say, and a built-in text beside one's own is another setting.
        assert_eq!(of("notes.txt", None, &ours), "");
        assert_eq!(of("notes.txt", Some(8), &None), "");
    }
}
