//! Text generation by the model as it was at the start.

use unroll_model::{Generator, Gpt};
use unroll_protocol::{
    Ask, CommandKind, Event,
    gpt::{Written, ask},
};

use super::answer::Asked;

/// Milliseconds between two [`Event::Answered`] of one text.
const TOLD_EVERY: f64 = 60.0;

/// Milliseconds of one turn beside training: tokens of a small model come several at a time, so that what is read
/// is not from long before the step on show.
const TURN: f64 = 8.0;

/// A text being generated.
pub struct Writing {
    id: u32,
    question: ask::Writing,
    step: u32,
    generator: Generator,
    /// A copy from the start, even if training continues meanwhile.
    model: Gpt,
    told_at: f64,
}

impl Writing {
    /// What this model writes.
    pub fn new<G>(
        id: u32,
        asked: &Asked<'_, G>,
        question: ask::Writing,
        now: f64,
    ) -> Result<Self, String> {
        let model = asked.model.clone();
        let generator = Generator::new(asked.tokenizer, &question.sample, model.context())
            .map_err(|error| error.to_string())?;
        Ok(Self { id, question, step: asked.step, generator, model, told_at: now })
    }

    /// Whether it is asked for in place of `other`, being for the same place.
    pub fn replaces(&self, other: &Self) -> bool {
        self.question.sample.place == other.question.sample.place
    }

    /// Generates tokens for one turn, at least one. Returns whether the text is whole.
    pub async fn advance(&mut self, now: fn() -> f64, post: &mut impl FnMut(Event)) -> bool {
        let until = now() + TURN;
        loop {
            if !self.generator.is_done()
                && let Err(error) = self.generator.advance(&self.model).await
            {
                let reason = error.to_string();
                post(Event::Refused { command: CommandKind::Ask(self.id), reason });
                return true;
            }
            if self.generator.is_done() || now() >= until {
                break;
            }
        }
        let done = self.generator.is_done();
        let now = now();
        if done || now - self.told_at >= TOLD_EVERY {
            self.told_at = now;
            let (text, tokens) = (self.generator.text(), self.generator.tokens());
            let surprises = self.generator.surprises().to_vec();
            let answer = self.question.answered(&Written { text, tokens, surprises, done });
            post(Event::Answered { id: self.id, step: self.step, answer, more: !done });
        }
        done
    }
}
