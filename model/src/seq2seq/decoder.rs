//! The decoder.

use burn::tensor::{Int, Tensor};

use super::{AlignmentLayer, Encoded, Execution, Seq2seq, alignment::Seen, gru::Gru, is_luongs};
use crate::{
    fused::{
        self,
        recurrent::{look_up, tanh},
    },
    recurrent::{State, steps_of},
};

/// What the decoder carries from step to step.
#[derive(Clone, Debug)]
pub struct DecoderState {
    /// `s_i`, `[batch, H]`.
    pub hidden: Tensor<2>,
}

/// What `T` steps computed.
pub(super) struct Run {
    /// `s_i`, `[batch, T, H]`.
    pub(super) states: Tensor<3>,
    pub(super) last: DecoderState,
    pub(super) seen: Option<Seen>,
    /// `[batch, T, targets]`
    pub(super) logits: Tensor<3>,
}

/// Reorders `[T * batch, n]`, step by step, to `[batch, T, n]`.
fn batch_first(rows: Tensor<2>, batch: usize) -> Tensor<3> {
    let [count, width] = rows.dims();
    rows.reshape([count / batch, batch, width]).swap_dims(0, 1)
}

impl Seq2seq {
    /// The state before the first step, `s_0`.
    pub fn start(&self, encoded: &Encoded) -> DecoderState {
        DecoderState { hidden: tanh(fused::linear(&self.initial, encoded.summary.clone())) }
    }

    /// Takes one step: the logits of the token after `previous`, and the next state.
    ///
    /// # Shapes
    ///
    /// - previous, `y_(i-1)`: `[batch]`
    /// - output: `[batch, targets]`
    pub fn step(
        &self,
        encoded: &Encoded,
        state: DecoderState,
        previous: Tensor<1, Int>,
    ) -> (Tensor<2>, DecoderState) {
        let [batch] = previous.dims();
        let run = self.run(encoded, state, previous.reshape([batch, 1]));
        (run.logits.reshape([batch, self.targets()]), run.last)
    }

    /// Runs all steps, whose previous tokens are known, `[batch, T]`.
    pub(super) fn run(
        &self,
        encoded: &Encoded,
        state: DecoderState,
        previous: Tensor<2, Int>,
    ) -> Run {
        self.run_as(encoded, state, previous, Execution::on(self.device()))
    }

    /// [`run`](Self::run) with a choice of execution.
    fn run_as(
        &self,
        encoded: &Encoded,
        state: DecoderState,
        previous: Tensor<2, Int>,
        execution: Execution,
    ) -> Run {
        let [batch, length] = previous.dims();
        assert_eq!([batch], [encoded.size()[0]], "one row of tokens for each source");
        let (hidden, targets) = (self.hidden(), self.targets());
        let steps_first = previous.swap_dims(0, 1).reshape([length * batch]);
        let weight = self.decoder.input_weight.val();
        let bias = self.decoder.bias.as_ref().expect("a GRU has one").val();
        let table = weight.clone().narrow(0, 0, targets) + bias.unsqueeze::<2>();
        let inputs = look_up(table, steps_first.clone());
        let context_weight = || {
            let [rows, _] = weight.dims();
            weight.clone().narrow(0, targets, rows - targets)
        };
        // Steps that depend on nothing but the previous state.
        let plain = |inputs: Tensor<2>| {
            if execution == Execution::Fused {
                let state = State { hidden: state.hidden.clone(), cell: None };
                return self.decoder.sequence(inputs, state, false, None).0;
            }
            let gru = Gru::new(&[&self.decoder], batch);
            let mut state = state.hidden.clone();
            let steps = steps_of(inputs, length).into_iter().map(|input| {
                state = gru.step(input, state.clone());
                state.clone()
            });
            Tensor::cat(steps.collect(), 0)
        };

        let (states, seen) = match &self.attention {
            None => {
                let from_context = fused::product(encoded.summary.clone(), context_weight());
                let inputs = inputs.reshape([length, batch, 3 * hidden])
                    + from_context.reshape([1, batch, 3 * hidden]);
                (plain(inputs.reshape([length * batch, 3 * hidden])), None)
            }
            Some(attention) if !is_luongs(self.kind) && execution == Execution::Fused => {
                let attending = (attention, context_weight());
                return self.write_fused(attending, encoded, state, inputs, steps_first);
            }
            Some(attention) if !is_luongs(self.kind) => {
                let (gru, from_context) = (Gru::new(&[&self.decoder], batch), context_weight());
                let mut state = state.hidden.clone();
                let (mut states, mut seen) = (Vec::new(), Vec::new());
                for input in steps_of(inputs, length) {
                    let attended = attention.attend(
                        state.clone().reshape([batch, 1, hidden]),
                        encoded,
                        Execution::StepByStep,
                    );
                    let [_, _, width] = attended.contexts.dims();
                    let context = attended.contexts.clone().reshape([batch, width]);
                    state = gru.step(input + context.matmul(from_context.clone()), state);
                    states.push(state.clone());
                    seen.push(attended);
                }
                (Tensor::cat(states, 0), Some(joined(seen)))
            }
            Some(attention) => {
                let states = plain(inputs);
                let all = batch_first(states.clone(), batch);
                let seen = attention.attend(all, encoded, execution);
                (states, Some(seen))
            }
        };
        let last = DecoderState { hidden: states.clone().narrow(0, (length - 1) * batch, batch) };
        let states = batch_first(states, batch);
        let logits = self.read_out(&states, seen.as_ref(), encoded, steps_first);
        Run { states, last, seen, logits }
    }

    /// Runs a decoder with Bahdanau's attention as one operation.
    ///
    /// # Shapes
    ///
    /// - inputs, `W_y y_(i-1) + b`, and previous: `[T * batch, 3H]` and `[T * batch]`, step by step
    fn write_fused(
        &self,
        (attention, context_weight): (&AlignmentLayer, Tensor<2>),
        encoded: &Encoded,
        state: DecoderState,
        inputs: Tensor<2>,
        previous: Tensor<1, Int>,
    ) -> Run {
        let ([batch, hidden], [rows, _]) = (state.hidden.dims(), inputs.dims());
        let drawn = "additive attention has it";
        let decoder = fused::recurrent::Decoder {
            input: inputs,
            context_weight,
            recurrent: self.decoder.recurrent_weight.val(),
            candidate_bias: self.decoder.candidate_bias.as_ref().expect("a GRU has one").val(),
            query_weight: attention.query.as_ref().expect(drawn).val(),
            initial: state.hidden,
            keys: encoded.keys.clone().expect("encoded by a model with attention"),
            vector: attention.vector.as_ref().expect(drawn).val(),
            values: encoded.states.clone(),
            padding: encoded.padding.clone(),
        };
        let fused::recurrent::Decoded { both, queries, scores, weights } = decoder.run();
        let [_, width] = both.dims();
        let from_previous = self.from_previous.as_ref().expect("drawn without Luong's attention");
        let logits =
            fused::linear(&self.readout, both.clone()) + look_up(from_previous.val(), previous);
        let states = both.clone().narrow(1, 0, hidden);
        let seen = Seen {
            queries: batch_first(queries, batch),
            scores: batch_first(scores, batch),
            weights: batch_first(weights, batch),
            contexts: batch_first(both.narrow(1, hidden, width - hidden), batch),
        };
        Run {
            last: DecoderState { hidden: states.clone().narrow(0, rows - batch, batch) },
            states: batch_first(states, batch),
            seen: Some(seen),
            logits: batch_first(logits, batch),
        }
    }

    /// Logits of all steps with few products.
    fn read_out(
        &self,
        states: &Tensor<3>,
        seen: Option<&Seen>,
        encoded: &Encoded,
        previous: Tensor<1, Int>,
    ) -> Tensor<3> {
        let ([batch, length, hidden], targets) = (states.dims(), self.targets());
        let rows = |all: Tensor<3>| {
            let [_, _, width] = all.dims();
            all.reshape([batch * length, width])
        };
        if let (Some(mix), Some(seen)) = (&self.mix, seen) {
            let both = Tensor::cat(vec![seen.contexts.clone(), states.clone()], 2);
            let mixed = tanh(fused::product(rows(both), mix.val()));
            return fused::linear(&self.readout, mixed).reshape([batch, length, targets]);
        }
        let weight = self.readout.weight.val();
        let [width, _] = weight.dims();
        let of_context = weight.clone().narrow(0, hidden, width - hidden);
        let from_state = fused::product(rows(states.clone()), weight.narrow(0, 0, hidden));
        let from_context = match seen {
            Some(seen) => {
                let from_context = fused::product(rows(seen.contexts.clone()), of_context);
                from_context.reshape([batch, length, targets])
            }
            None => {
                let from_context = fused::product(encoded.summary.clone(), of_context);
                from_context.reshape([batch, 1, targets])
            }
        };
        let bias = self.readout.bias.as_ref().expect("drawn with one").val();
        let table = self.from_previous.as_ref().expect("drawn without Luong's attention").val()
            + bias.unsqueeze::<2>();
        from_state.reshape([batch, length, targets])
            + from_context
            + batch_first(look_up(table, previous), batch)
    }
}

/// Joins what single steps saw.
fn joined(steps: Vec<Seen>) -> Seen {
    let all = |part: fn(&Seen) -> &Tensor<3>| {
        Tensor::cat(steps.iter().map(|step| part(step).clone()).collect(), 1)
    };
    Seen {
        queries: all(|seen| &seen.queries),
        scores: all(|seen| &seen.scores),
        weights: all(|seen| &seen.weights),
        contexts: all(|seen| &seen.contexts),
    }
}

#[cfg(test)]
mod tests {
    use burn::{module::Module, tensor::Device};
    use unroll_protocol::AttentionKind;

    use super::*;
    use crate::{Seq2seqConfig, data::token_tensor, parameters::GradientSum, seq2seq::Source};

    fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.inner().into_data().try_into_vec().expect("f32")
    }

    #[test]
    fn fused_is_step_by_step() {
        let device = Device::flex().autodiff();
        let rows = vec![vec![1, 4, 2], vec![3, 3, 1, 2, 0], vec![5]];
        let source = Source::new(&rows, &device);
        let previous = || token_tensor(&[0, 2, 1, 3, 0, 1, 2, 2, 0, 3, 3, 1], 3, &device);
        for &attention in AttentionKind::ALL {
            for bidirectional in [false, true] {
                let config = Seq2seqConfig {
                    sources: 6,
                    targets: 4,
                    hidden: 5,
                    bidirectional,
                    attention,
                    alignment: 7,
                    seed: 2,
                };
                let model = config.init(&device).train();
                let run = |execution: Execution| {
                    let encoded = model.encode_as(&source, execution);
                    let start = model.start(&encoded);
                    let run = model.run_as(&encoded, start, previous(), execution);
                    let weights = Tensor::<3>::ones(run.logits.dims(), &device).cumsum(2);
                    let mut gradients = (run.logits.clone() * weights).sum().backward();
                    let mut sum = GradientSum::default();
                    sum.add(&model, &mut gradients);
                    let gradients = sum.finish().into_iter().map(numbers);
                    let seen = run.seen.map(|seen| numbers(seen.weights)).unwrap_or_default();
                    let last = numbers(run.last.hidden);
                    let mut all = vec![numbers(run.logits), numbers(run.states), seen, last];
                    all.extend(gradients);
                    all
                };
                let (fused, by_step) = (run(Execution::Fused), run(Execution::StepByStep));
                for (part, (found, expected)) in fused.iter().zip(by_step).enumerate() {
                    assert_eq!(found.len(), expected.len());
                    let most = expected.iter().fold(1f32, |most, x| most.max(x.abs()));
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            (found - expected).abs() < 3e-6 * most,
                            "{attention:?}, part {part}: {found}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}
