//! How far the learner has come, kept in this browser and nowhere else.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

/// Where it is kept.
const KEY: &str = "unroll-progress";

/// Chapters seen and chapters whose question was answered.
#[derive(Clone, Copy)]
pub struct Progress {
    seen: RwSignal<Vec<Chapter>>,
    done: RwSignal<Vec<Chapter>>,
}

impl Progress {
    /// What this browser remembers; nothing, where it keeps nothing.
    pub fn read() -> Self {
        let kept = storage().and_then(|storage| storage.get_item(KEY).ok().flatten());
        let (seen, done) = parse(&kept.unwrap_or_default());
        Self { seen: RwSignal::new(seen), done: RwSignal::new(done) }
    }

    pub fn has_seen(self, chapter: Chapter) -> bool {
        self.seen.with(|seen| seen.contains(&chapter))
    }

    pub fn is_done(self, chapter: Chapter) -> bool {
        self.done.with(|done| done.contains(&chapter))
    }

    /// The chapter was opened.
    pub fn see(self, chapter: Chapter) {
        self.note(self.seen, chapter);
    }

    /// The chapter's question was answered rightly.
    pub fn finish(self, chapter: Chapter) {
        self.note(self.done, chapter);
    }

    /// Forgets everything.
    pub fn forget(self) {
        self.seen.set(Vec::new());
        self.done.set(Vec::new());
        if let Some(storage) = storage() {
            let _ = storage.remove_item(KEY);
        }
    }

    fn note(self, list: RwSignal<Vec<Chapter>>, chapter: Chapter) {
        if list.with_untracked(|list| list.contains(&chapter)) {
            return;
        }
        list.update(|list| list.push(chapter));
        let text = self.seen.with_untracked(|seen| self.done.with_untracked(|d| print(seen, d)));
        // Refused where the browser keeps nothing, as in a sandboxed frame.
        if let Some(storage) = storage() {
            let _ = storage.set_item(KEY, &text);
        }
    }
}

/// What `CheckYourself` calls when the answer was right.
pub fn use_done() -> Callback<()> {
    let progress = expect_context::<Progress>();
    let store = expect_context::<crate::store::Store>();
    let chapter = store.link.with_untracked(|link| link.chapter);
    Callback::new(move |()| progress.finish(chapter))
}

/// `local_storage` throws where the page has no origin of its own.
fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// As `tokens bigram* rnn`, a star where the question was answered.
fn print(seen: &[Chapter], done: &[Chapter]) -> String {
    let both = Chapter::ALL.iter().filter(|c| seen.contains(c) || done.contains(c));
    let words = both.map(|c| format!("{}{}", c.id(), if done.contains(c) { "*" } else { "" }));
    words.collect::<Vec<_>>().join(" ")
}

/// Whatever else stands there, as of another release, is passed over.
fn parse(kept: &str) -> (Vec<Chapter>, Vec<Chapter>) {
    let chapters = || {
        kept.split(' ').take(100).filter_map(|word| {
            let id = word.strip_suffix('*').unwrap_or(word);
            Some((Chapter::from_id(id)?, id.len() < word.len()))
        })
    };
    let done = chapters().filter(|(_, done)| *done).map(|(chapter, _)| chapter);
    (chapters().map(|(chapter, _)| chapter).collect(), done.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_back_and_survives_nonsense() {
        let (seen, done) = (vec![Chapter::Tokens, Chapter::Rnn], vec![Chapter::Rnn]);
        assert_eq!(print(&seen, &done), "tokens rnn*");
        assert_eq!(parse("tokens rnn*"), (seen, done));
        assert_eq!(parse("  * nosuch* rnn** \u{1F642}"), (vec![], vec![]));
    }
}
