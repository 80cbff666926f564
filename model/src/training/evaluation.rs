//! Loss on held-out text, in slices.

use burn::tensor::Tensor;

use super::{
    Trainer,
    pass::{sequences_per_slice, split_evenly},
};
use crate::{
    attention::AttentionRules, data::Window, dropout::Dropout, gpt::Gpt, loss::cross_entropy,
};

/// Measures the mean cross-entropy over held-out windows with the weights it was started with, even
/// if training continues meanwhile.
pub struct Evaluation {
    model: Gpt,
    rules: AttentionRules,
    windows: Vec<Window>,
    groups: Vec<usize>,
    /// Index of the current group, and the number of windows before it.
    current: usize,
    before: usize,
    /// The next block and its input; `None` before the embeddings.
    stream: Option<(usize, Tensor<3>)>,
    loss: Option<Tensor<1>>,
}

/// Result of a slice of an [`Evaluation`].
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "looked at and dropped, never stored")]
pub enum EvaluationSlice {
    /// There is more to compute.
    More,
    /// The mean loss in nats per token, `[1]`.
    Loss(Tensor<1>),
}

impl Evaluation {
    /// Starts on at most `windows` windows spread over the held-out text; `None` if there is none.
    pub fn new(trainer: &Trainer, windows: usize) -> Option<Self> {
        let spec = &trainer.spec().gpt;
        let windows = trainer.dataset().held_out_windows(windows, spec.context as usize);
        let length = windows.first()?.inputs.len();
        let model = trainer.model();
        let most = sequences_per_slice(spec, trainer.tokenizer().len());
        Some(Self {
            rules: model.attention_rules(length),
            groups: split_evenly(windows.len(), most),
            model,
            windows,
            current: 0,
            before: 0,
            stream: None,
            loss: None,
        })
    }

    /// Computes one more slice.
    pub fn advance(&mut self) -> EvaluationSlice {
        let device = self.model.device();
        let Some(&sequences) = self.groups.get(self.current) else {
            let loss = self.loss.clone().expect("there is at least one window");
            return EvaluationSlice::Loss(loss);
        };
        let group = &self.windows[self.before..self.before + sequences];
        let off = Dropout::off();
        self.stream = match self.stream.take() {
            None => Some((0, self.model.embed(Window::inputs_of(group, &device), &off))),
            Some((index, stream)) => match self.model.blocks.get(index) {
                Some(block) => Some((index + 1, block.forward(stream, &self.rules, &off))),
                None => {
                    let targets = Window::targets_of(group, &device);
                    let share = sequences as f64 / self.windows.len() as f64;
                    let loss = cross_entropy(self.model.logits(stream), targets) * share;
                    self.loss = Some(match self.loss.take() {
                        Some(earlier) => earlier + loss,
                        None => loss,
                    });
                    self.before += sequences;
                    self.current += 1;
                    None
                }
            },
        };
        EvaluationSlice::More
    }
}
