//! How far the learner has come, kept in this browser and nowhere else.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::Telling;

/// Where it is kept.
const KEY: &str = "unroll-progress";

/// Chapters seen, questions answered, and chapters of which all are.
#[derive(Clone, Copy)]
pub struct Progress {
    seen: RwSignal<Vec<Chapter>>,
    done: RwSignal<Vec<Chapter>>,
    /// As `rnn.shared`: the chapter and the question. What the reviews keep is there too:
    /// `rnn.shared+` was right when it was last asked in one, `rnn.shared-` was wrong, and the
    /// review at the end of `norm` was begun three times as of `norm.#3`.
    right: RwSignal<Vec<String>>,
}

/// The most words of what this browser kept that are read.
const MOST: usize = 500;

impl Progress {
    /// What this browser remembers; nothing, where it keeps nothing.
    pub fn read() -> Self {
        let kept = storage().and_then(|storage| storage.get_item(KEY).ok().flatten());
        let (seen, done, right) = parse(&kept.unwrap_or_default());
        let (seen, done) = (RwSignal::new(seen), RwSignal::new(done));
        Self { seen, done, right: RwSignal::new(right) }
    }

    pub fn has_seen(self, chapter: Chapter) -> bool {
        self.seen.with(|seen| seen.contains(&chapter))
    }

    pub fn is_done(self, chapter: Chapter) -> bool {
        self.done.with(|done| done.contains(&chapter))
    }

    /// The chapter was opened.
    pub fn see(self, chapter: Chapter) {
        note(self.seen, chapter);
        self.keep();
    }

    /// One of the questions that a chapter asks was answered correctly.
    fn answer(self, chapter: Chapter, id: &str, asks: &[&str]) {
        let named = |id: &str| format!("{}.{id}", chapter.id());
        note(self.right, named(id));
        if self.right.with_untracked(|right| asks.iter().all(|id| right.contains(&named(id)))) {
            note(self.done, chapter);
        }
        self.keep();
    }

    /// How a question went when it was last asked in a review; `None` if it never was.
    pub fn reviewed(self, chapter: Chapter, id: &str) -> Option<bool> {
        let (right, wrong) = review_words(chapter, id);
        self.right.with_untracked(|words| match words {
            _ if words.contains(&right) => Some(true),
            _ if words.contains(&wrong) => Some(false),
            _ => None,
        })
    }

    /// A question was answered in a review.
    pub fn review(self, chapter: Chapter, id: &str, is_right: bool) {
        let (right, wrong) = review_words(chapter, id);
        self.right.update(|words| {
            words.retain(|word| *word != right && *word != wrong);
            words.push(if is_right { right } else { wrong });
        });
        self.keep();
    }

    /// Whether a question was right in its chapter and again in a review.
    pub fn knows(self, chapter: Chapter, id: &str) -> bool {
        let named = format!("{}.{id}", chapter.id());
        self.right.with_untracked(|words| words.contains(&named))
            && self.reviewed(chapter, id) == Some(true)
    }

    /// Counts one more round of the review at the end of this chapter, and says its number.
    pub fn next_round(self, chapter: Chapter) -> u32 {
        let name = format!("{}.#", chapter.id());
        let number = |word: &String| word.strip_prefix(&name)?.parse::<u32>().ok();
        let before = self.right.with_untracked(|words| words.iter().find_map(number));
        let round = before.unwrap_or_default().wrapping_add(1);
        self.right.update(|words| {
            words.retain(|word| !word.starts_with(&name));
            words.push(format!("{name}{round}"));
        });
        self.keep();
        round
    }

    /// Forgets everything.
    pub fn forget(self) {
        self.seen.set(Vec::new());
        self.done.set(Vec::new());
        self.right.set(Vec::new());
        if let Some(storage) = storage() {
            let _ = storage.remove_item(KEY);
        }
    }

    fn keep(self) {
        let (seen, done, right) =
            (self.seen.get_untracked(), self.done.get_untracked(), self.right.get_untracked());
        let text = print(&seen, &done, &right);
        // Refused where the browser keeps nothing, as in a sandboxed frame.
        if let Some(storage) = storage() {
            let _ = storage.set_item(KEY, &text);
        }
    }
}

/// The words kept of a question that was right or wrong in a review.
fn review_words(chapter: Chapter, id: &str) -> (String, String) {
    let named = format!("{}.{id}", chapter.id());
    (format!("{named}+"), format!("{named}-"))
}

fn note<T: PartialEq + Send + Sync + 'static>(list: RwSignal<Vec<T>>, what: T) {
    if !list.with_untracked(|list| list.contains(&what)) {
        list.update(|list| list.push(what));
    }
}

/// What the question with this id calls when it was answered correctly. The chapter is done when all
/// that it asks were.
pub fn use_right(id: &'static str) -> Callback<()> {
    let progress = expect_context::<Progress>();
    let asks = expect_context::<Telling>().script.asks();
    let chapter = expect_context::<crate::store::Store>().link.with_untracked(|link| link.chapter);
    Callback::new(move |()| progress.answer(chapter, id, &asks))
}

/// Where the browser keeps a few words for this page. `local_storage` throws where the page has no origin of
/// its own.
pub fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// As `tokens bigram* rnn rnn.shared`, a star where all was answered.
fn print(seen: &[Chapter], done: &[Chapter], right: &[String]) -> String {
    let both = Chapter::ALL.iter().filter(|c| seen.contains(c) || done.contains(c));
    let words = both.map(|c| format!("{}{}", c.id(), if done.contains(c) { "*" } else { "" }));
    words.chain(right.iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// Whatever else stands there, as of another release, is passed over.
fn parse(kept: &str) -> (Vec<Chapter>, Vec<Chapter>, Vec<String>) {
    let words = || kept.split(' ').take(MOST);
    let chapters = || {
        words().filter_map(|word| {
            let id = word.strip_suffix('*').unwrap_or(word);
            Some((Chapter::from_id(id)?, id.len() < word.len()))
        })
    };
    let done = chapters().filter(|(_, done)| *done).map(|(chapter, _)| chapter);
    let is_question = |word: &&str| {
        let of = word.split_once('.');
        word.len() < 60
            && of.is_some_and(|(of, id)| Chapter::from_id(of).is_some() && !id.is_empty())
    };
    let right = words().filter(is_question).map(str::to_owned);
    (chapters().map(|(chapter, _)| chapter).collect(), done.collect(), right.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_back_and_survives_nonsense() {
        let (seen, done) = (vec![Chapter::Tokens, Chapter::Rnn], vec![Chapter::Rnn]);
        let right = vec!["rnn.shared".to_owned()];
        assert_eq!(print(&seen, &done, &right), "tokens rnn* rnn.shared");
        assert_eq!(parse("tokens rnn* rnn.shared"), (seen, done, right));
        let reviews = "norm rnn.shared rnn.shared+ norm.inside- norm.#3";
        let (seen, done, words) = parse(reviews);
        assert_eq!(print(&seen, &done, &words), reviews);
        assert_eq!(parse("  * nosuch* rnn** .x rnn. no.x \u{1F642}"), (vec![], vec![], vec![]));
    }
}
