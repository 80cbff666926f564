//! What the page says to the learner, until it is dismissed or makes room.

use leptos::prelude::*;

use super::{Lasts, Notice, Severity, Store, pace::Pace};

/// Notices on the page at a time: of more, the oldest go.
const MOST: usize = 4;

impl Store {
    /// Says something in the page.
    pub fn notify(self, severity: Severity, sentence: impl Into<String>) {
        self.tell(severity, sentence.into(), Lasts::On);
    }

    /// Says in passing what is as the learner would expect.
    pub fn mention(self, sentence: String) {
        self.tell(Severity::Note, sentence, Lasts::AWhile);
    }

    /// Says something about the text: taken back when another is chosen.
    pub(super) fn note_on_text(self, sentence: String) {
        self.tell(Severity::Note, sentence, Lasts::WithText);
    }

    /// Says why a text was not taken, until another one is.
    pub fn refuse_text(self, sentence: String) {
        self.tell(Severity::Refusal, sentence, Lasts::WithText);
    }

    pub(super) fn forget_text(self) {
        self.notices.update(|notices| notices.retain(|notice| notice.lasts != Lasts::WithText));
    }

    fn tell(self, severity: Severity, sentence: String, lasts: Lasts) {
        self.notices.update(|notices| {
            let id = self.pace.try_update_value(Pace::next_notice).unwrap_or_default();
            add(notices, Notice { id, severity, sentence, lasts });
        });
    }

    /// Says something that goes on, in place of what was said of it before. `false` if the learner took
    /// that away.
    pub fn restate(self, id: &mut Option<u32>, sentence: String) -> bool {
        if let Some(before) = *id {
            let said = self.notices.with_untracked(|all| {
                all.iter().find(|notice| notice.id == before).map(|notice| notice.sentence.clone())
            });
            if said.as_ref().is_none_or(|said| *said == sentence) {
                return said.is_some();
            }
            self.dismiss(before);
        }
        self.notify(Severity::Note, sentence);
        *id = self.notices.with_untracked(|all| all.last().map(|notice| notice.id));
        true
    }

    /// Takes a notice away.
    pub fn dismiss(self, id: u32) {
        self.notices.update(|notices| notices.retain(|notice| notice.id != id));
    }
}

fn add(notices: &mut Vec<Notice>, notice: Notice) {
    // Saying the same twice helps nobody, and one text was refused last.
    notices.retain(|before| {
        let is_outdone = before.refuses_text() && notice.refuses_text();
        before.sentence != notice.sentence && !is_outdone
    });
    notices.push(notice);
    let excess = notices.len().saturating_sub(MOST);
    notices.drain(..excess);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_and_none_is_said_twice() {
        let mut notices = Vec::new();
        let mut say = |id, sentence: &str| {
            let (severity, sentence) = (Severity::Note, sentence.to_owned());
            add(&mut notices, Notice { id, severity, sentence, lasts: Lasts::On });
            notices.iter().map(|notice| notice.id).collect::<Vec<_>>()
        };
        assert_eq!((say(1, "a"), say(2, "b")), (vec![1], vec![1, 2]));
        assert_eq!(say(3, "a"), [2, 3], "said again, it is said once, as the last");
        assert_eq!((say(4, "c"), say(5, "d")), (vec![2, 3, 4], vec![2, 3, 4, 5]));
        assert_eq!(say(6, "e"), [3, 4, 5, 6], "the oldest makes room");
    }

    #[test]
    fn only_the_last_refusal_of_a_text_stays() {
        let mut notices = Vec::new();
        let mut say = |id: u32, severity, lasts| {
            let sentence = id.to_string();
            add(&mut notices, Notice { id, severity, sentence, lasts });
            notices.iter().map(|notice| notice.id).collect::<Vec<_>>()
        };
        say(1, Severity::Refusal, Lasts::WithText);
        say(2, Severity::Refusal, Lasts::On);
        assert_eq!(say(3, Severity::Note, Lasts::WithText), [1, 2, 3]);
        assert_eq!(say(4, Severity::Refusal, Lasts::WithText), [2, 3, 4]);
    }
}
