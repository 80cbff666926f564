//! Heads on held-out text: what they contribute, and what they did as training went on.

use burn::tensor::Tensor;
use unroll_protocol::study::heads::{CONTEXT, Cost, HeadAt, Statistics};

use super::Refusal;
use crate::{
    attention::{head_statistics, statistics_of},
    data::{Dataset, Window},
    dropout::Dropout,
    gpt::Gpt,
    loss::cross_entropy_each,
    read::{ReadError, read_all},
};

/// Windows of held-out text on which heads are recorded.
const WATCHED: usize = 4;
/// Most recorded steps; above this, every second one is dropped.
const MOST_POINTS: usize = 240;

/// A model's held-out losses with all heads on, and the inputs of its layers there: switching a
/// head off changes nothing before its own layer.
pub struct Baseline {
    pub step: u32,
    /// The residual stream before each block, `[windows, T, width]`.
    streams: Vec<Tensor<3>>,
    /// Mean loss of each window.
    losses: Vec<f32>,
}

impl Baseline {
    pub async fn new(step: u32, model: &Gpt, windows: &[Window]) -> Result<Self, ReadError> {
        let tokens = Window::inputs_of(windows, &model.device());
        let [_, length] = tokens.dims();
        let (rules, off) = (model.attention_rules(length), Dropout::off());
        let mut stream = model.embed(tokens, &off);
        let mut streams = Vec::with_capacity(model.blocks.len());
        for block in &model.blocks {
            streams.push(stream.clone());
            stream = block.forward(stream, &rules, &off);
        }
        let losses = window_losses(model, stream, windows).await?;
        Ok(Self { step, streams, losses })
    }

    /// Mean loss in nats per token; all windows have the same length.
    pub fn mean(&self) -> f32 {
        mean(&self.losses)
    }

    /// What it costs to switch off the heads `off`, all together.
    pub async fn cost(
        &self,
        model: &Gpt,
        windows: &[Window],
        off: &[HeadAt],
    ) -> Result<Cost, Refusal> {
        let losses = match off.iter().map(|at| at.layer).min() {
            Some(first) => self.losses_without(model, windows, off, first).await?,
            None => self.losses.clone(),
        };
        let changes: Vec<f32> = losses.iter().zip(&self.losses).map(|(a, b)| a - b).collect();
        let length = windows.first().map_or(0, |window| window.inputs.len());
        Ok(Cost {
            step: self.step,
            off: off.to_vec(),
            windows: windows.len() as u32,
            tokens: (windows.len() * length) as u32,
            before: self.mean(),
            after: mean(&losses),
            change: mean(&changes),
            error: standard_error(&changes),
        })
    }

    /// Mean loss of each window with the heads `off` switched off; the first of them is in layer
    /// `first`.
    async fn losses_without(
        &self,
        model: &Gpt,
        windows: &[Window],
        off: &[HeadAt],
        first: u32,
    ) -> Result<Vec<f32>, ReadError> {
        let first = first as usize - 1;
        let mut stream = self.streams[first].clone();
        let [_, length, _] = stream.dims();
        let rules = model.attention_rules(length);
        let model = model.clone().without_heads(off);
        for block in model.blocks.iter().skip(first) {
            stream = block.forward(stream, &rules, &Dropout::off());
        }
        window_losses(&model, stream, windows).await
    }
}

/// Mean loss of each window from the residual stream after the last block.
async fn window_losses(
    model: &Gpt,
    stream: Tensor<3>,
    windows: &[Window],
) -> Result<Vec<f32>, ReadError> {
    let targets = Window::targets_of(windows, &model.device());
    let losses = cross_entropy_each(model.logits(stream), targets).mean_dim(1);
    Ok(read_all([losses.reshape([-1])]).await?.concat())
}

fn mean(values: &[f32]) -> f32 {
    (values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64) as f32
}

/// Standard error of the mean; `None` for fewer than two values.
fn standard_error(values: &[f32]) -> Option<f32> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum();
    Some((squares / (count - 1.0) / count).sqrt() as f32)
}

/// Every head's statistics on the same held-out windows, at a series of steps.
pub struct Record {
    windows: Vec<Window>,
    /// Steps between two points.
    every: u32,
    /// For each point the steps taken and the heads' statistics, layer by layer.
    points: Vec<(u32, Vec<Statistics>)>,
}

impl Record {
    pub fn new(dataset: &Dataset) -> Self {
        let mut windows = dataset.held_out_windows(WATCHED, CONTEXT as usize);
        // A head has nothing to choose from in a window of a single token.
        windows.retain(|window| window.inputs.len() > 1);
        Self { windows, every: 5, points: Vec::new() }
    }

    pub fn is_due(&self, step: u32) -> bool {
        !self.windows.is_empty() && step.is_multiple_of(self.every)
    }

    /// Length of each window.
    pub fn length(&self) -> u32 {
        self.windows.first().map_or(0, |window| window.inputs.len() as u32)
    }

    /// Number of tokens in all windows.
    pub fn tokens(&self) -> u32 {
        self.windows.len() as u32 * self.length()
    }

    /// Records the heads of `model` after `step` steps, unless they are recorded already.
    pub async fn add(&mut self, step: u32, model: &Gpt) -> Result<(), ReadError> {
        let known = self.points.last().is_some_and(|(last, _)| *last >= step);
        if self.windows.is_empty() || known {
            return Ok(());
        }
        let tokens = Window::inputs_of(&self.windows, &model.device());
        let trace = model.forward_traced(tokens, None);
        let layers = trace.layers.into_iter().filter_map(|layer| layer.attention);
        let statistics = layers.map(|attention| head_statistics(attention.weights).reshape([-1]));
        let read = read_all(statistics).await?.concat();
        self.points.push((step, statistics_of(&read)));
        if self.points.len() > MOST_POINTS {
            self.every *= 2;
            let every = self.every;
            self.points.retain(|(step, _)| step.is_multiple_of(every));
        }
        Ok(())
    }

    /// The points of one head in the first `steps` steps.
    pub fn of(
        &self,
        at: HeadAt,
        heads: u32,
        steps: u32,
    ) -> Result<Vec<(u32, Statistics)>, Refusal> {
        if self.windows.is_empty() {
            return Err(Refusal(
                "The text is too short to hold any of it out, so there is nothing to watch the \
                 heads on."
                    .to_owned(),
            ));
        }
        let index = ((at.layer - 1) * heads + at.head - 1) as usize;
        let known = self.points.partition_point(|(step, _)| *step <= steps);
        let points = self.points[..known].iter();
        Ok(points.filter_map(|(step, all)| Some((*step, *all.get(index)?))).collect())
    }
}
