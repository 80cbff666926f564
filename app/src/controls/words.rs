//! The words of the text that is learned, by which those in what a model writes are told from noise.
//! Fetched once the first picture is there: an untrained model writes none.

use core::pin::Pin;
use std::{collections::BTreeSet, sync::Arc};

use leptos::{prelude::*, task::spawn_local};

use crate::{
    fetched::{Fetch, Settled, part},
    figures::svg::escape,
    reactive::{effect, next_task},
    store::Store,
};

/// Bytes of a text that are looked at in one task, or twice as many.
const PIECE: usize = 1 << 15;
/// A text is one of words if each comes so often on average. Names, or random letters, do not come again,
/// so that new ones say nothing against a model.
const OFTEN: usize = 4;
/// Of fewer words nothing is said.
const FEWEST: usize = 8;

/// What tells words from noise.
pub type Known = Arc<dyn Judge>;

pub trait Judge: Send + Sync {
    /// The text as markup, with its words set off, after `write` has changed what is between them. A last
    /// word is none: it may go on, or was cut off. What is not in the text `before` it, where there is one, is new.
    fn markup(&self, text: &str, before: &str, write: &dyn Fn(&str) -> String) -> String;

    /// The share of the words of these texts that the text that was learned has, too.
    fn share(&self, texts: &[&str]) -> Option<f64>;

    /// Bytes at the beginning of a text that may be the end of a word: there something new ends.
    fn cut(&self, text: &str) -> usize;
}

/// Reads a text, as long as it is wanted.
type Read = fn(Arc<str>, Box<dyn Fn() -> bool>) -> Pin<Box<dyn Future<Output = Option<Known>>>>;

const READ: Fetch<Read> = part!(words: Read = |text, is_wanted| Box::pin(read(text, is_wanted)));

/// The words of a text, however they are capitalized.
#[derive(Default)]
struct Words {
    /// By their hashes.
    known: BTreeSet<u64>,
    /// Words of the text, counted each time that they come.
    count: usize,
}

impl Words {
    fn add(&mut self, text: &str) {
        for (piece, is_word) in pieces(text) {
            if is_word {
                self.known.insert(hash(piece));
                self.count += 1;
            }
        }
    }

    fn come_again(&self) -> bool {
        self.count >= OFTEN * self.known.len().max(1)
    }

    fn knows(&self, word: &str) -> bool {
        self.known.contains(&hash(word))
    }
}

impl Judge for Words {
    fn markup(&self, text: &str, before: &str, write: &dyn Fn(&str) -> String) -> String {
        let whole = ended(text);
        let mut markup = String::new();
        for (piece, is_word) in pieces(whole) {
            match is_word && self.knows(piece) {
                true if before.is_empty() || before.contains(piece) => {
                    markup.push_str(&format!("<b>{}</b>", escape(piece)));
                }
                true => markup.push_str(&format!(r#"<b class="is-new">{}</b>"#, escape(piece))),
                false => markup.push_str(&escape(&write(piece))),
            }
        }
        markup + &escape(&text[whole.len()..])
    }

    fn share(&self, texts: &[&str]) -> Option<f64> {
        let words = texts.iter().flat_map(|text| pieces(ended(text)));
        let words = words.filter(|(_, is_word)| *is_word);
        let (known, all) = words.fold((0, 0), |(known, all), (word, _)| {
            (known + usize::from(self.knows(word)), all + 1)
        });
        (all >= FEWEST).then(|| known as f64 / all as f64)
    }

    fn cut(&self, text: &str) -> usize {
        text.len() - text.trim_start_matches(is_of_word).len()
    }
}

/// The text but for a last word.
fn ended(text: &str) -> &str {
    text.trim_end_matches(is_of_word)
}

/// Letters, and apostrophes among them.
fn is_of_word(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '\'' | '’')
}

/// The words of a text and what is between them, in turn.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let is_word = is_of_word(rest.chars().next()?);
        let end = rest.find(|character| is_of_word(character) != is_word).unwrap_or(rest.len());
        let (piece, more) = rest.split_at(end);
        rest = more;
        Some((piece, is_word && piece.contains(char::is_alphabetic)))
    })
}

/// FNV-1a of the word in small letters, without apostrophes around it.
fn hash(word: &str) -> u64 {
    let bare = word.trim_matches(|character: char| !character.is_alphabetic());
    bare.chars().flat_map(char::to_lowercase).fold(0xCBF2_9CE4_8422_2325, |hash, character| {
        (hash ^ u64::from(u32::from(character))).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The words of a text; `None` where they do not come again. A long text is read in many tasks.
async fn read(text: Arc<str>, is_wanted: Box<dyn Fn() -> bool>) -> Option<Known> {
    let mut words = Words::default();
    let mut rest = &*text;
    while !rest.is_empty() && is_wanted() {
        let piece = first_of(rest);
        words.add(piece);
        rest = &rest[piece.len()..];
        next_task().await;
    }
    words.come_again().then(|| Arc::new(words) as Known)
}

/// The words of the text that the store's model learns, once they are known.
pub fn use_words(store: Store) -> RwSignal<Option<Known>> {
    let words = RwSignal::new(None::<Known>);
    let source = store.source;
    let Settled(settled) = expect_context();
    effect(move || {
        let text = source.with(|source| source.text.clone());
        words.set(None);
        if !settled.get() {
            return;
        }
        let is_wanted = {
            let text = text.clone();
            move || source.try_with_untracked(|now| Arc::ptr_eq(&now.text, &text)) == Some(true)
        };
        spawn_local(async move {
            // Without it nothing is set off.
            let Ok(read) = READ().await else { return };
            let known = read(text, Box::new(is_wanted.clone())).await;
            if is_wanted() {
                words.try_set(known);
            }
        });
    });
    words
}

/// The beginning of a text, cut where no word is, unless none ends for long.
fn first_of(text: &str) -> &str {
    let [from, most] = [PIECE, 2 * PIECE].map(|at| text.floor_char_boundary(at));
    let end = text[from..most].find(|character| !is_of_word(character));
    &text[..end.map_or(most, |end| from + end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Words {
        let mut words = Words::default();
        words.add(text);
        words
    }

    #[test]
    fn words_of_the_text_are_set_off() {
        let words = of("The fox said: 'don't.' Élan");
        let shown = |text| words.markup(text, "", &str::to_owned);
        assert_eq!(shown("the foxy <fox."), "<b>the</b> foxy &lt;<b>fox</b>.");
        assert_eq!(shown("the fox"), "<b>the</b> fox", "it may go on, or was cut off");
        assert_eq!(shown("don't 'FOX' élan!"), "<b>don't</b> <b>'FOX'</b> <b>élan</b>!");
        assert_eq!(shown("t ' fox1"), "t ' <b>fox</b>1");
        assert_eq!(words.markup("fox\nx", "", &|text| text.replace('\n', "⏎")), "<b>fox</b>⏎x");
        let again = words.markup("the fox.", "a fo the", &str::to_owned);
        assert_eq!(again, r#"<b>the</b> <b class="is-new">fox</b>."#);
    }

    #[test]
    fn the_share_is_of_whole_words_and_of_enough() {
        let words = of("a fox and a crow");
        let text = "a fox an crow a fox and crow foxes 12 fo";
        assert_eq!(words.share(&[text]), Some(7.0 / 9.0));
        assert_eq!(words.share(&["a fox."]), None);
        let (new, old) = ("a fox an crow a fo", "xes and crow foxes 12 fo");
        let old = &old[words.cut(old)..];
        assert_eq!(words.share(&[new, old]), Some(6.0 / 8.0), "a word that is cut is none");
        assert_eq!((words.cut(" fox"), words.cut("fox"), words.cut("")), (0, 3, 0));
    }

    #[test]
    fn texts_whose_words_do_not_come_again_are_not_judged() {
        assert!(of(&"the fox and the crow ".repeat(9)).come_again());
        assert!(!of("anna berta clara dora").come_again() && !of("12 34").come_again());
        assert!(!of("").come_again());
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = "猫 isn't here ".repeat(PIECE / 8);
        let (mut parts, mut rest) = (of(""), &*text);
        while !rest.is_empty() {
            let piece = first_of(rest);
            parts.add(piece);
            rest = &rest[piece.len()..];
        }
        let whole = of(&text);
        assert_eq!((parts.count, parts.known), (whole.count, whole.known));
        assert_eq!(first_of(&"猫".repeat(PIECE)).len(), 2 * PIECE - 1, "at a character's end");
    }
}
