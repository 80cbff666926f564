//! Text generation by the model as it was at the start.

use unroll_model::{Generator, Gpt, Trainer};
use unroll_protocol::{CommandKind, Event, SampleSpec};

/// Milliseconds between two [`Event::Generated`] of one text.
const TOLD_EVERY: f64 = 60.0;

/// A text being generated.
pub struct Writing {
    id: u32,
    step: u32,
    generator: Generator,
    /// A copy from the start, even if training continues meanwhile.
    model: Gpt,
    told_at: f64,
}

impl Writing {
    pub fn new(id: u32, trainer: &Trainer, sample: &SampleSpec, now: f64) -> Result<Self, String> {
        let context = trainer.spec().gpt.context as usize;
        let generator = Generator::new(trainer.tokenizer(), sample, context)
            .map_err(|error| error.to_string())?;
        Ok(Self { id, step: trainer.step(), generator, model: trainer.model(), told_at: now })
    }

    /// Generates one more token. Returns whether it was the last.
    pub async fn advance(&mut self, now: fn() -> f64, post: &mut impl FnMut(Event)) -> bool {
        if !self.generator.is_done()
            && let Err(error) = self.generator.advance(&self.model).await
        {
            let reason = error.to_string();
            post(Event::Refused { command: CommandKind::Generate, reason });
            return true;
        }
        let done = self.generator.is_done();
        let now = now();
        if done || now - self.told_at >= TOLD_EVERY {
            self.told_at = now;
            let Self { id, step, ref generator, .. } = *self;
            post(Event::Generated { id, step, text: generator.text(), done });
        }
        done
    }
}
