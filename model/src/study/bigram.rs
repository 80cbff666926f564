//! `bigram`: P(next | current) by counting and by training a table of logits.

mod answers;
mod counts;
mod table;
mod writing;

use burn::tensor::{Device, Tensor, activation::log_softmax};
use unroll_protocol::{
    Ask, OptimizerSpec, Packed,
    study::bigram::{Curve, MOST_ADDED, Question, Spec, ask},
};

use super::{
    Built, Holder, Keeper, Refusal, StudySlice,
    learner::{steady, usable_rate},
};
use crate::{
    Named,
    data::Dataset,
    named_parameters,
    optimizer::{Optimizer, global_norm},
    read::read_all,
    tokenizer::CharTokenizer,
};
use answers::{Known, gap};
use counts::Counts;
use table::{LogitTable, shares};

/// Adam (Kingma and Ba 2015), without weight decay, which would pull the logits back to 0, and
/// without clipping. Plain gradient descent would work for frequent rows only: the rarer a row, the
/// smaller its gradient, and Adam divides that out again.
const OPTIMIZER: OptimizerSpec = OptimizerSpec { clip_norm: 0.0, ..steady(0.05) };

/// A text's counts and the table trained on it.
pub struct Study {
    tokenizer: CharTokenizer,
    /// Pairs of the training part and of the held-out part.
    training: Counts,
    held_out: Counts,
    notes: Vec<String>,
    /// `None` only while the optimizer has it.
    table: Option<LogitTable>,
    optimizer: Optimizer,
    rate: f64,
    shares: Tensor<2>,
    /// The table as it was last read back, with its step.
    known: Option<(u32, Known)>,
    curve: Option<Curve>,
}

impl super::Study for Study {
    type Spec = Spec;
    type Question = Question;

    fn new(spec: &Spec, text: &str, device: &Device) -> Result<Self, Refusal> {
        let tokenizer = CharTokenizer::from_text(text);
        let tokens = tokenizer.encode(text);
        if tokens.len() == 1 {
            return Err(Refusal(
                "The text has a single character, but counting what follows what takes at least \
                 two."
                    .to_owned(),
            ));
        }
        let mut dataset = Dataset::new(tokens, 1)?;
        let folded = tokenizer.folded();
        if folded > 0 {
            dataset.notes.push(format!(
                "The text has more kinds of characters than the table has rows: the {folded} \
                 rarest are counted as one unknown character."
            ));
        }
        let device = device.clone().inner();
        let training = Counts::new(&dataset.training, tokenizer.len());
        let held_out = Counts::new(&dataset.held_out, tokenizer.len());
        let table = LogitTable::new(tokenizer.len(), spec.seed, &device);
        Ok(Self {
            shares: shares(&training, &device),
            optimizer: Optimizer::new(&OPTIMIZER, &table),
            rate: f64::from(OPTIMIZER.learning_rate),
            table: Some(table),
            tokenizer,
            training,
            held_out,
            notes: dataset.notes,
            known: None,
            curve: None,
        })
    }

    fn built(&self) -> Built {
        let vocabulary = self.tokenizer.vocabulary();
        Built {
            parameters: (vocabulary.len() * vocabulary.len()) as u64,
            vocabulary,
            series: ["training", "held out", "gap"].map(str::to_owned).into(),
            notes: self.notes.clone(),
        }
    }

    fn step(&self) -> u32 {
        self.optimizer.steps()
    }

    async fn advance(&mut self) -> StudySlice {
        let table = self.table.take().expect("the table is back after every update");
        let computed = table.compute(&self.shares);
        let read = read_all([computed.loss, computed.log_probabilities.reshape([-1])]).await;
        let (loss, log_probabilities) = match read.as_deref() {
            Ok([loss, log_probabilities]) => (loss[0], log_probabilities),
            _ => (f32::NAN, &Vec::new()),
        };
        if !loss.is_finite() {
            self.table = Some(table);
            return StudySlice::Diverged { loss };
        }
        let probability = |index: usize| libm::exp(f64::from(log_probabilities[index]));
        let vocabulary = self.training.vocabulary();
        let held_out = self
            .held_out
            .surprise(|pair| probability(pair.previous as usize * vocabulary + pair.next as usize));
        let gap = gap(&self.training, &probability).largest;
        let values = vec![Some(loss), held_out.map(|nats| nats as f32), Some(gap as f32)];
        let norm = global_norm(&computed.gradients);
        self.table = Some(self.optimizer.update(table, computed.gradients, &norm, self.rate));
        StudySlice::Step(values)
    }

    /// A step is a single slice, so there is never a half-done one.
    fn discard(&mut self) {}

    fn set_learning_rate(&mut self, rate: f32) -> Result<(), Refusal> {
        self.rate = usable_rate(rate)?;
        Ok(())
    }

    fn named_parameters(&self, model: usize) -> Vec<Named> {
        let table = self.table.as_ref().filter(|_| model == 0);
        table.map_or_else(Vec::new, named_parameters)
    }

    fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.value(&mut self.table);
        holder.hold(&mut self.optimizer, Optimizer::spent);
    }

    fn keep(&mut self, keeper: &mut Keeper<'_>) {
        if let Some(table) = &mut self.table {
            keeper.model("table", table, &mut self.optimizer);
        }
    }

    async fn ask(&mut self, question: &Question) -> Result<Packed, Refusal> {
        if let Question::Scores(ask::Scores { k })
        | Question::Sentence(ask::Sentence { k, .. })
        | Question::Writing(ask::Writing { k, .. }) = question
            && !(0.0..=MOST_ADDED).contains(k)
        {
            return Err(Refusal(format!(
                "Smoothing can't add {k} to a count: choose 0 to {MOST_ADDED}."
            )));
        }
        if let Question::Curve(question) = question {
            let curve = self.curve.take().unwrap_or_else(|| self.draw_curve());
            let answer = question.answered(&curve);
            self.curve = Some(curve);
            return Ok(answer);
        }
        let (step, known) = match self.known.take() {
            Some((step, known)) if step == self.step() => (step, known),
            _ => (self.step(), self.read().await?),
        };
        let answer = self.answer(question, &known);
        self.known = Some((step, known));
        answer
    }
}

impl Study {
    /// Reads the table back in its present state.
    async fn read(&self) -> Result<Known, Refusal> {
        let logits = self.table.as_ref().expect("the table is back after every update").logits();
        let log_probabilities = log_softmax(logits.clone(), 1);
        let read = read_all([logits.reshape([-1]), log_probabilities.reshape([-1])]).await?;
        Ok(Known::new(read))
    }
}
