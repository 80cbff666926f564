//! Which of two passages did the model write? The other is of the text that it never trained on.

use leptos::{html, prelude::*};
use unroll_protocol::{
    Ask, SampleSpec, Tokens, Trace,
    gpt::{Place, Written, ask},
};

use super::super::machine::number;
use crate::{
    controls::{four_digits, grouped},
    course::use_right,
    questions::Questions,
    reactive::{effect, memo},
    store::Store,
    teaching::CheckYourself,
};

/// Characters of each passage, and of the text before it, after which both go on.
const LENGTH: usize = 60;
const BEFORE: usize = 12;
/// What sticks to the foot of the story has about this height, see `.check-room`.
const FOOT: f64 = 64.0;
/// Before so many steps, the usual model writes no words.
const NOISE: u32 = 100;

/// What is drawn before the model writes.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    before: String,
    /// What the held-out text goes on with.
    real: String,
    /// Whether the model's passage stands second.
    second: bool,
    /// Of the model's writing.
    seed: u32,
}

/// Two passages after the same characters.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    drawn: Drawn,
    written: String,
    /// Steps that the writer had taken.
    step: u32,
    /// The model's loss on its own passage and on the real one, see [`loss`].
    losses: [Option<(f64, usize)>; 2],
    /// What a token is called.
    unit: &'static str,
}

/// A place in the last `held_out` characters of the text. The seed, the step and the round decide it;
/// `None` if they are too few.
fn draw(text: &str, held_out: usize, seed: u32, step: u32, round: u32) -> Option<Drawn> {
    let count = text.chars().count();
    let places = (held_out + 1).checked_sub(BEFORE + LENGTH).filter(|&places| places > 0)?;
    let number = |what: &str| number(seed, &format!("{what} {step} {round}"));
    let start = count.checked_sub(held_out)? + (number("place") * places as f64) as usize;
    let mut rest = text.chars().skip(start);
    Some(Drawn {
        before: rest.by_ref().take(BEFORE).collect(),
        real: rest.take(LENGTH).collect(),
        second: number("order") < 0.5,
        seed: (number("writing") * f64::from(u32::MAX)) as u32,
    })
}

/// The mean loss on what was read after so many characters, and on how many tokens: a whole passage, or
/// what of it fits into the context.
pub fn loss(trace: &Trace, before: usize) -> Option<(f64, usize)> {
    let read = trace.places.len();
    let first = trace.starts.iter().take_while(|start| (**start as usize) < before).count().max(1);
    let losses = (first..read).map(|at| {
        let shares = trace.probabilities.block(&[at - 1])?;
        Some(-f64::from(*shares.get(trace.places[at] as usize)?).ln())
    });
    let losses: Vec<f64> = losses.collect::<Option<_>>()?;
    let count = losses.len();
    (count > 0).then(|| (losses.iter().sum::<f64>() / count as f64, count))
}

impl Pair {
    /// The passages in the order in which they stand, as one line each.
    fn options(&self) -> Vec<String> {
        let mut both = [&self.written, &self.drawn.real];
        if self.drawn.second {
            both.swap(0, 1);
        }
        both.map(|passage| quoted(passage)).to_vec()
    }

    fn explain(&self) -> String {
        let which = if self.drawn.second { "second" } else { "first" };
        let mut said = format!(
            "The model wrote the {which} passage, after {} steps of training.",
            grouped(self.step.into())
        );
        if let [Some((own, count)), Some((real, _))] = self.losses {
            // In other tokens, passages of one length are not of one count.
            let over = match self.unit {
                "character" => format!("Over the last {count} characters, its"),
                unit => format!("For each {unit}, its"),
            };
            said += &format!(
                " {over} loss is {} on its own passage and {} on the held-out text.",
                four_digits(own as f32),
                four_digits(real as f32)
            );
        }
        said + match self.step {
            0 => " It has not trained yet, so its passage is noise.",
            _ => " Train some more and try another pair. Can you still tell?",
        }
    }
}

fn quoted(passage: &str) -> String {
    format!("“{}”", passage.replace('\n', " ⏎ "))
}

/// The question as it is played. `Copy`: handles of its component.
#[derive(Clone, Copy)]
struct Play {
    store: Store,
    /// Whether the learner has asked for passages of the present model.
    open: RwSignal<bool>,
    /// `None` while the model writes.
    pair: RwSignal<Option<Pair>>,
    problem: RwSignal<String>,
    round: StoredValue<u32>,
    /// Around the passages.
    room: NodeRef<html::Div>,
    /// What the model is asked and has not answered.
    asked: StoredValue<Vec<u32>>,
}

impl Play {
    /// Draws a place and has the model write.
    fn start(self) {
        let store = self.store;
        let held_out = store.started.with_untracked(|s| s.as_ref().map(|s| s.held_out_characters));
        let round = self.round.get_value();
        self.round.set_value(round.wrapping_add(1));
        let (seed, sampling) = store.link.with_untracked(|link| (link.seed, link.gpt.sampling()));
        let step = store.step.get_untracked();
        let drawn = store.source.with_untracked(|source| {
            draw(&source.text, usize::try_from(held_out?).ok()?, seed, step, round)
        });
        let Some(drawn) = drawn else {
            return self.fail("Too little text is held out for a passage. Choose a longer text.");
        };
        self.forget();
        self.problem.set(String::new());
        self.pair.set(None);
        self.open.set(true);
        let (prompt, seed) = (drawn.before.clone(), drawn.seed);
        let place = Place::Guess;
        let unit = untrack(|| store.tokens().unit());
        let sample = SampleSpec { prompt, length: self.tokens(), sampling, seed, place };
        self.ask(ask::Writing { sample }, move |step, Written { text, done, .. }| {
            if done {
                let written: String = text.chars().take(LENGTH).collect();
                let mut drawn = drawn.clone();
                // Tokens are longer or shorter as it comes, and a passage must not be known by its length.
                drawn.real = drawn.real.chars().take(written.chars().count()).collect();
                self.show(Pair { drawn, written, step, losses: [None; 2], unit });
            }
        });
    }

    /// How many tokens a passage takes, or more: those it writes may be shorter than those of the text.
    fn tokens(self) -> u32 {
        self.store.started.with_untracked(|started| match started {
            Some(s) if s.spec.tokens != Tokens::Characters => {
                let each = s.training_tokens as f64 / s.training_characters.max(1) as f64;
                (1.5 * each * LENGTH as f64).ceil() as u32
            }
            _ => LENGTH as u32,
        })
    }

    /// Shows a pair, and asks how surprising the model finds each passage.
    fn show(self, pair: Pair) {
        let passages = [&pair.written, &pair.drawn.real];
        let texts = passages.map(|passage| pair.drawn.before.clone() + passage);
        self.pair.set(Some(pair));
        request_animation_frame(move || self.bring_into_sight());
        for (i, text) in texts.into_iter().enumerate() {
            self.ask(ask::Trace { text }, move |_, trace| {
                self.pair.update(|pair| {
                    if let Some(pair) = pair {
                        pair.losses[i] = loss(&trace, BEFORE);
                    }
                });
            });
        }
    }

    /// The passages come below what was pressed, which may be at the foot of the story.
    fn bring_into_sight(self) {
        let Some(room) = self.room.try_get_untracked().flatten() else { return };
        let height = window().inner_height().ok().and_then(|height| height.as_f64());
        if height.is_some_and(|height| room.get_bounding_client_rect().bottom() > height - FOOT) {
            room.scroll_into_view_with_bool(false);
        }
    }

    /// Asks the model, and takes what it answers at which step.
    fn ask<Q: Ask>(self, question: Q, take: impl Fn(u32, Q::Answer) + 'static) {
        let id = Questions::from(self.store).ask_once(question, move |reply| match reply {
            Some(Ok((step, answer))) => take(step, answer),
            Some(Err(reason)) => self.fail(&reason),
            None => self.close(),
        });
        self.asked.update_value(|asked| asked.push(id));
    }

    fn fail(self, reason: &str) {
        self.close();
        self.problem.set(reason.to_owned());
    }

    /// Waits no more for what was asked.
    fn forget(self) {
        let asked = self.asked.try_update_value(core::mem::take).unwrap_or_default();
        asked.into_iter().for_each(|id| Questions::from(self.store).forget(id));
    }

    /// Back to the button.
    fn close(self) {
        self.forget();
        self.open.try_set(false);
        self.pair.try_set(None);
    }
}

/// The question, once the learner asks for two passages.
pub fn which(store: Store) -> AnyView {
    let play = Play {
        store,
        open: RwSignal::new(false),
        pair: RwSignal::new(None),
        problem: RwSignal::new(String::new()),
        round: StoredValue::new(0),
        room: NodeRef::new(),
        asked: StoredValue::new(Vec::new()),
    };
    // The passages of another model are about nothing any more.
    effect(move || {
        Questions::from(store).generation.track();
        play.close();
    });
    on_cleanup(move || play.close());
    let of_pair = move |read: fn(&Pair) -> String, else_says: &'static str| {
        Signal::derive(move || {
            play.pair.with(|pair| pair.as_ref().map_or_else(|| else_says.to_owned(), read))
        })
    };
    let question = of_pair(
        |pair| {
            format!(
                "Both passages continue {}. One is held-out text. Which one did the model write?",
                quoted(&pair.drawn.before)
            )
        },
        "The model is writing …",
    );
    let options = Signal::derive(move || {
        play.pair.with(|pair| pair.as_ref().map_or_else(|| vec!["…".to_owned(); 2], Pair::options))
    });
    let answer = Signal::derive(move || {
        play.pair.with(|pair| pair.as_ref().map(|pair| usize::from(pair.drawn.second)))
    });
    let on_right = use_right("gpt-which");
    // Who has noise beside the text need not look twice.
    let hardly_trained = memo(move || store.step.get() < NOISE);
    let asked = move || {
        play.open.get().then(|| {
            view! {
                <CheckYourself id="gpt-which" question options answer on_right
                    explain=of_pair(Pair::explain, "")
                    on_another=Callback::new(move |()| play.start())/>
            }
        })
    };
    view! {
        <p>
            "Can you tell the model’s writing from the real text? The longer it trains, the harder that gets."
            {move || hardly_trained.get().then_some(" Train for a minute first.")}
        </p>
        <button type="button" class="button" data-testid="gpt-which-show"
            aria-disabled=move || play.open.get().then_some("true")
            on:click=move |_| if !play.open.get_untracked() { play.start() }>
            {move || if play.open.get() { "Shown below" } else { "Show two passages" }}
        </button>
        <p class="hint" role="status">{play.problem}</p>
        <div class="check-room" node_ref=play.room>{asked}</div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn passages_are_of_the_held_out_text() {
        let text: String = (0..2000u32).filter_map(|i| char::from_u32(0x4e00 + i)).collect();
        let held_out: String = text.chars().skip(1800).collect();
        let mut seconds = 0;
        for round in 0..200 {
            let drawn = draw(&text, 200, 1, 30, round).expect("long enough");
            assert!(held_out.contains(&(drawn.before.clone() + &drawn.real)));
            assert_eq!(drawn.before.chars().count(), BEFORE);
            assert_eq!(drawn.real.chars().count(), LENGTH);
            seconds += u32::from(drawn.second);
        }
        assert!((70..130).contains(&seconds), "{seconds} of 200 are second");
        assert_eq!(draw(&text, 200, 1, 30, 7), draw(&text, 200, 1, 30, 7));
        assert_ne!(draw(&text, 200, 1, 30, 7), draw(&text, 200, 1, 31, 7));
    }

    #[test]
    fn short_texts_have_a_last_place_or_none() {
        let text = "a".repeat(300);
        assert!(draw(&text, BEFORE + LENGTH, 1, 0, 0).is_some());
        assert_eq!(draw(&text, BEFORE + LENGTH - 1, 1, 0, 0), None);
        assert_eq!(draw(&text, 0, 1, 0, 0), None);
    }

    #[test]
    fn the_loss_is_of_what_came() {
        let [a, b] = ["a", "b"].map(str::to_owned);
        let trace = Trace {
            tokens: vec![a.clone(), b.clone(), a.clone()],
            places: vec![0, 1, 0],
            starts: vec![0, 1, 2, 3],
            vocabulary: vec![a, b],
            probabilities: Array {
                shape: vec![3, 2],
                values: vec![0.75, 0.25, 0.5, 0.5, 1.0, 0.0],
            },
            ..Trace::default()
        };
        let expected = -(0.25f64.ln() + 0.5f64.ln()) / 2.0;
        let (mean, count) = loss(&trace, 0).expect("two characters");
        assert!((mean - expected).abs() < 1e-9);
        assert_eq!(count, 2);
        assert_eq!(loss(&trace, 2).map(|(_, count)| count), Some(1));
        assert_eq!(loss(&Trace::default(), 0), None);
    }

    #[test]
    fn the_models_passage_stands_where_the_answer_is() {
        for second in [false, true] {
            let drawn = Drawn { before: "th".into(), real: "e\nfox".into(), second, seed: 1 };
            let (written, losses) = ("at".into(), [Some((1.0, 60)); 2]);
            let pair = Pair { drawn, written, step: 0, losses, unit: "character" };
            assert_eq!(pair.options()[usize::from(second)], "“at”");
            assert_eq!(pair.options()[usize::from(!second)], "“e ⏎ fox”");
            let said = pair.explain();
            assert!(said.contains(if second { "second" } else { "first" }), "{said}");
            assert!(said.contains("its loss is 1.000 on its own passage"), "{said}");
        }
    }
}
