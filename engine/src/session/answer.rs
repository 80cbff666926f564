//! What the lab's model says to questions that are answered at once.

use core::{cell::RefCell, pin::Pin};

use unroll_model::{
    Gpt, Reading, Tokenizer, Trainer, keep_likeliest, named_parameters, read_parameters,
};
use unroll_protocol::{
    Ask, LabQuestion, Packed, Trace,
    gpt::{self, ask},
    study::heads::HeadAt,
};

use super::{Marker, Present, Studies, said};

pub const NOT_OURS: &str = "The model in training is not this chapter's.";
/// Why a given model can't show what it learns from.
const LEARNS_NOTHING: &str =
    "This model comes from elsewhere, and what it learned from is not here.";

/// Why a model in training is not asked about its inside: the code for that comes with opened models.
const NOT_LOOKED_INTO: &str = "Only models that are opened from files can be asked this.";

/// The lab's model that a question is about, without heads that are switched off.
pub struct Asked<'a, G> {
    pub model: Gpt,
    /// The heads that are switched off in it.
    off: &'a [HeadAt],
    pub step: u32,
    pub tokenizer: &'a Tokenizer,
    pub whose: Whose<'a, G>,
}

/// Where a model comes from.
#[derive(Clone, Copy)]
pub enum Whose<'a, G> {
    Trained(&'a Trainer),
    /// Without values where the engine takes over none, so that what follows from it is left out.
    Given(G, &'a LastRead),
}

/// The text that a given model read last, without which heads, and what it computed: a large model takes long
/// to read, and several questions are asked about each text.
pub type LastRead = RefCell<Option<(String, Vec<HeadAt>, Reading)>>;

impl<'a, G: Marker> Asked<'a, G> {
    /// The model as it is, or as it was at the kept moment nearest to step `at`, without the heads that are
    /// `off`. `None` where a chapter's models are trained.
    pub fn of<S: Studies<Given = G>>(
        present: &'a mut Present<S>,
        at: Option<u32>,
        off: &'a [HeadAt],
    ) -> Option<Self> {
        let (step, model, tokenizer, whose) = match present {
            Present::Gpt(experiment, _) => {
                let (step, model) = experiment.model_at(at);
                let trainer = experiment.trainer();
                (step, model, trainer.tokenizer(), Whose::Trained(trainer))
            }
            Present::Given(given, last_read, marker) => {
                let whose = Whose::Given(*marker, last_read);
                (0, given.model.clone(), &given.tokenizer, whose)
            }
            Present::Study(_) => return None,
        };
        Some(Self { model: model.without_heads(off), off, step, tokenizer, whose })
    }

    /// The model's reading of a text: the last one, if it is that of this text.
    fn reading(&self, text: &str) -> Result<Reading, String> {
        if let Whose::Given(_, last_read) = self.whose
            && let Some((of, without, reading)) = last_read.take()
            && of == text
            && without == self.off
        {
            return Ok(reading);
        }
        Reading::of(&self.model, self.tokenizer, text).map_err(said)
    }

    fn keep(&self, text: &str, reading: Reading) {
        if let Whose::Given(_, last_read) = self.whose {
            last_read.replace(Some((text.to_owned(), self.off.to_vec(), reading)));
        }
    }
}

/// The answer to a question about the lab's model.
pub(super) async fn answer<G: Marker>(
    subject: &Asked<'_, G>,
    question: LabQuestion,
) -> Result<Packed, String> {
    let Asked { ref model, step, tokenizer, ref whose, .. } = *subject;
    let (asked, question) = question.opened().map_err(said)?;
    let parameters = match &asked {
        Some(asked) => read_parameters(named_parameters(model), &asked.under).await?,
        None => Vec::new(),
    };
    let LabQuestion::Gpt(question) = question else {
        return Err(NOT_OURS.to_owned());
    };
    let answer = match question {
        gpt::Question::Trace(question) => {
            let reading = subject.reading(&question.text)?;
            let trace = reading.trace(model, tokenizer, step);
            let mut trace = trace.await.map_err(said)?;
            subject.keep(&question.text, reading);
            if let Whose::Given(..) = whose {
                let Trace { vocabulary, probabilities, places, .. } = &mut trace;
                keep_likeliest(vocabulary, probabilities, places);
            }
            question.answered(&trace)
        }
        gpt::Question::Row(question) => {
            let ask::Row { ref text, layer, head, query } = question;
            let cell = [layer, head, query].map(|at| at as usize);
            let row = unroll_model::inspect(model, tokenizer, text, cell);
            question.answered(&row.await.map_err(said)?)
        }
        gpt::Question::Pass(question) => {
            let ask::Pass { ref text, block, rows } = question;
            let pass = unroll_model::pass(model, tokenizer, text, block, rows, step);
            question.answered(&pass.await.map_err(said)?)
        }
        gpt::Question::After(question) => {
            let ask::After { ref text, ref endings } = question;
            let after = unroll_model::after(model, tokenizer, text, endings);
            question.answered(&after.await.map_err(said)?)
        }
        gpt::Question::Tree(question) => {
            let tree = unroll_model::tree(model, tokenizer, &question);
            question.answered(&tree.await.map_err(said)?)
        }
        gpt::Question::Surprise(question) => {
            let surprise = unroll_model::surprise(model, tokenizer, &question.text);
            question.answered(&surprise.await.map_err(said)?)
        }
        gpt::Question::Cached(question) => {
            let cached = unroll_model::cached(model, tokenizer, &question.text);
            question.answered(&cached.await.map_err(said)?)
        }
        gpt::Question::Race(question) => {
            let ask::Race { ref text, length } = question;
            let race = unroll_model::race(model, tokenizer, text, length);
            question.answered(&race.await.map_err(said)?)
        }
        gpt::Question::NextBatch(question) => {
            let Whose::Trained(trainer) = whose else { return Err(LEARNS_NOTHING.to_owned()) };
            let batch = unroll_model::next_batch(trainer, model, step);
            question.answered(&batch.await.map_err(said)?)
        }
        gpt::Question::Lens(_)
        | gpt::Question::Jobs(_)
        | gpt::Question::Habits(_)
        | gpt::Question::Positions(_)
        | gpt::Question::Patch(_) => look_inside(subject, question)?.await?,
        // Text is written bit by bit, not along with parameters.
        gpt::Question::Writing(_) => return Err(NOT_OURS.to_owned()),
    };
    Ok(match asked {
        Some(asked) => asked.with(parameters, answer),
        None => answer,
    })
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Packed, String>> + 'a>>;

/// The answer to a question about the inside of a given model. Behind a pointer, so that it is left out of
/// engines that take over none: the states of an `async` function itself all stay.
fn look_inside<'a, G: Marker>(
    subject: &'a Asked<'_, G>,
    question: gpt::Question,
) -> Result<Answering<'a>, String> {
    let (Some(_), Whose::Given(..)) = (G::marker(), &subject.whose) else {
        return Err(NOT_LOOKED_INTO.to_owned());
    };
    let Asked { model, tokenizer, .. } = subject;
    Ok(Box::pin(async move {
        Ok(match question {
            gpt::Question::Lens(question) => {
                let ask::Lens { ref text, from, count } = question;
                let reading = subject.reading(text)?;
                let lens = reading.lens(model, tokenizer, [from, count]).await.map_err(said)?;
                subject.keep(text, reading);
                question.answered(&lens)
            }
            gpt::Question::Jobs(question) => {
                let scores = unroll_model::head_scores(model, tokenizer, question.seed);
                question.answered(&scores.await.map_err(said)?)
            }
            gpt::Question::Habits(question) => {
                let reading = subject.reading(&question.text)?;
                let habits = reading.habits(model).await.map_err(said)?;
                subject.keep(&question.text, reading);
                question.answered(&habits)
            }
            gpt::Question::Positions(question) => {
                question.answered(&unroll_model::positions(model).await.map_err(said)?)
            }
            gpt::Question::Patch(question) => {
                let ask::Patch { ref from, ref into, depth } = question;
                let patched = unroll_model::patch(model, tokenizer, [from, into], depth);
                question.answered(&patched.await.map_err(said)?)
            }
            _ => return Err(NOT_OURS.to_owned()),
        })
    }))
}
