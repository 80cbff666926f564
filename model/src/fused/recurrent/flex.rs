//! The operations on burn's CPU tensors.

use burn::backend::{Flex, TensorMetadata};

use super::{Recurrent, Rule, Sequence, Squash};
use crate::fused::flex::{FlexTensor, in_order, integers, numbers, tensor};
use unroll_kernels::{alignment, decoder, recurrent, rows::add_to_rows};

fn shape<const D: usize>(tensor: &FlexTensor) -> [usize; D] {
    tensor.shape().dims()
}

/// Numbers in the shape of another tensor.
pub(super) fn shaped(values: Vec<f32>, like: &FlexTensor) -> FlexTensor {
    FlexTensor::from_data(burn::tensor::TensorData::new(values, like.shape()))
}

pub(super) fn squash(function: Squash, input: FlexTensor) -> FlexTensor {
    let input = in_order(input);
    let mut values = numbers(&input).to_vec();
    function.apply(&mut values);
    shaped(values, &input)
}

/// The gradient with respect to the input, given the output of [`squash`].
pub(super) fn squash_backward(
    function: Squash,
    output: &FlexTensor,
    upstream: FlexTensor,
) -> FlexTensor {
    let upstream = in_order(upstream);
    shaped(function.backward(numbers(output), numbers(&upstream)), output)
}

pub(super) fn look_up(table: FlexTensor, rows: &[i32]) -> FlexTensor {
    let table = in_order(table);
    let [_, width] = shape(&table);
    let table = numbers(&table);
    let mut found = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        found.extend_from_slice(&table[row as usize * width..][..width]);
    }
    tensor(found, [rows.len(), width])
}

/// The gradient with respect to a table of `[count, width]`.
pub(super) fn look_up_backward(
    [count, width]: [usize; 2],
    rows: &[i32],
    upstream: FlexTensor,
) -> FlexTensor {
    let mut sums = vec![0.0f32; count * width];
    add_to_rows(numbers(&in_order(upstream)), width, rows, &mut sums);
    tensor(sums, [count, width])
}

/// A sequence's inputs in order: input, U, `b_hn`, P, initial state and initial cell.
#[derive(Clone, Debug)]
pub(super) struct Operands {
    sequence: Sequence,
    tensors: [FlexTensor; 6],
}

impl Operands {
    pub(super) fn new(sequence: Sequence, tensors: [FlexTensor; 6]) -> Self {
        Self { sequence, tensors: tensors.map(in_order) }
    }

    fn inputs(&self) -> recurrent::Inputs<'_> {
        let [input, recurrent, candidate_bias, projection, initial, initial_cell] = &self.tensors;
        let Sequence { rule, projected, .. } = self.sequence;
        let some = |there: bool, tensor| if there { numbers(tensor) } else { &[] };
        recurrent::Inputs {
            input: numbers(input),
            recurrent: numbers(recurrent),
            candidate_bias: some(rule == Rule::Gru, candidate_bias),
            projection: some(projected, projection),
            initial: numbers(initial),
            initial_cell: some(rule == Rule::Lstm, initial_cell),
        }
    }

    pub(super) fn forward(&self) -> (FlexTensor, recurrent::Kept) {
        let (states, kept) = self.sequence.forward(&self.inputs());
        let count = states.len();
        (tensor(states, [count]), kept)
    }

    pub(super) fn backward(
        &self,
        states: &FlexTensor,
        kept: &recurrent::Kept,
        upstream: FlexTensor,
    ) -> [Option<FlexTensor>; 6] {
        let upstream = in_order(upstream);
        let inputs = self.inputs();
        let gradients = self.sequence.backward(&inputs, numbers(states), kept, numbers(&upstream));
        let recurrent::Gradients { input, recurrent, candidate_bias, projection, .. } = gradients;
        let mut tensors = self.tensors.iter();
        let Sequence { rule, projected, .. } = self.sequence;
        let there = [true, true, rule == Rule::Gru, projected, true, rule == Rule::Lstm];
        let mut there = there.into_iter();
        [input, recurrent, candidate_bias, projection, gradients.initial, gradients.initial_cell]
            .map(|values| {
                let like = tensors.next().expect("one for each");
                there.next().expect("one for each").then(|| shaped(values, like))
            })
    }
}

/// Additive attention's inputs in order: queries, keys, v, values, padding.
#[derive(Clone, Debug)]
pub(super) struct Aligned([FlexTensor; 5]);

impl Aligned {
    pub(super) fn new(tensors: [FlexTensor; 5]) -> Self {
        Self(tensors.map(in_order))
    }

    fn source(&self) -> (alignment::Additive<'_>, usize) {
        let [queries, keys, vector, values, padding] = &self.0;
        let ([_, steps, _], [_, length, _]) = (shape(queries), shape(keys));
        (source_of([keys, vector, values, padding], length), steps)
    }

    pub(super) fn forward(&self) -> ([FlexTensor; 3], alignment::Attended) {
        let (source, steps) = self.source();
        let [queries, _, _, values, _] = &self.0;
        let ([batch, ..], [_, _, mixed]) = (shape::<3>(queries), shape(values));
        let (contexts, attended) = source.forward(numbers(queries), steps);
        let contexts = tensor(contexts, [batch, steps, mixed]);
        let of = |values: &Vec<f32>| tensor(values.clone(), [batch, steps, source.length]);
        ([contexts, of(&attended.scores), of(&attended.weights)], attended)
    }

    /// Gradients with respect to queries, keys, v and values.
    pub(super) fn backward(
        &self,
        attended: &alignment::Attended,
        upstream: FlexTensor,
    ) -> [FlexTensor; 4] {
        let (source, steps) = self.source();
        let (queries, others) = source.backward(attended, steps, numbers(&in_order(upstream)));
        let alignment::Gradients { keys, vector, values } = others;
        let mut tensors = self.0.iter();
        [queries, keys, vector, values]
            .map(|gradient| shaped(gradient, tensors.next().expect("one for each")))
    }
}

fn source_of<'a>(
    [keys, vector, values, padding]: [&'a FlexTensor; 4],
    length: usize,
) -> alignment::Additive<'a> {
    alignment::Additive {
        length,
        keys: numbers(keys),
        vector: numbers(vector),
        values: numbers(values),
        padding: numbers(padding),
    }
}

/// A decoder's inputs in order: input, `W_c`, U, `b_hn`, `W_s`, `s_0`, keys, v, values, padding.
#[derive(Clone, Debug)]
pub(super) struct Decoding([FlexTensor; 10]);

impl Decoding {
    pub(super) fn new(tensors: [FlexTensor; 10]) -> Self {
        Self(tensors.map(in_order))
    }

    fn decoder(&self) -> decoder::Decoder<'_> {
        let [input, context_weight, recurrent, candidate_bias, query_weight, initial, ..] = &self.0;
        let [.., keys, vector, values, padding] = &self.0;
        let ([rows, _], [batch, hidden]) = (shape(input), shape(initial));
        let [_, length, _] = shape(keys);
        decoder::Decoder {
            batch,
            steps: rows / batch,
            hidden,
            source: source_of([keys, vector, values, padding], length),
            input: numbers(input),
            context_weight: numbers(context_weight),
            recurrent: numbers(recurrent),
            candidate_bias: numbers(candidate_bias),
            query_weight: numbers(query_weight),
            initial: numbers(initial),
        }
    }

    /// States and contexts, queries, scores and weights; and what the backward pass needs.
    pub(super) fn forward(&self) -> ([FlexTensor; 4], decoder::Kept) {
        let decoder = self.decoder();
        let decoder::Decoded { both, queries, kept } = decoder.forward();
        let rows = decoder.batch * decoder.steps;
        let of = |values: Vec<f32>| {
            let width = values.len() / rows;
            tensor(values, [rows, width])
        };
        let (scores, weights) = (kept.attended.scores.clone(), kept.attended.weights.clone());
        ([both, queries, scores, weights].map(of), kept)
    }

    /// Gradients with respect to all inputs but the padding.
    pub(super) fn backward(
        &self,
        both: &FlexTensor,
        kept: &decoder::Kept,
        upstream: FlexTensor,
    ) -> [FlexTensor; 9] {
        let upstream = in_order(upstream);
        let gradients = self.decoder().backward(numbers(both), kept, numbers(&upstream));
        let decoder::Gradients { source, input, context_weight, recurrent, .. } = gradients;
        let mut tensors = self.0.iter();
        [
            input,
            context_weight,
            recurrent,
            gradients.candidate_bias,
            gradients.query_weight,
            gradients.initial,
            source.keys,
            source.vector,
            source.values,
        ]
        .map(|gradient| shaped(gradient, tensors.next().expect("one for each")))
    }
}

impl Recurrent for Flex {
    fn squash(function: Squash, input: FlexTensor) -> FlexTensor {
        squash(function, input)
    }

    fn look_up(table: FlexTensor, rows: FlexTensor) -> FlexTensor {
        look_up(table, &integers(&rows))
    }

    fn sequence(
        sequence: Sequence,
        input: FlexTensor,
        recurrent: FlexTensor,
        candidate_bias: FlexTensor,
        projection: FlexTensor,
        initial: FlexTensor,
        initial_cell: FlexTensor,
    ) -> FlexTensor {
        let tensors = [input, recurrent, candidate_bias, projection, initial, initial_cell];
        Operands::new(sequence, tensors).forward().0
    }

    fn additive(
        queries: FlexTensor,
        keys: FlexTensor,
        vector: FlexTensor,
        values: FlexTensor,
        padding: FlexTensor,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        Aligned::new([queries, keys, vector, values, padding]).forward().0.into()
    }

    fn decode(
        input: FlexTensor,
        context_weight: FlexTensor,
        recurrent: FlexTensor,
        candidate_bias: FlexTensor,
        query_weight: FlexTensor,
        initial: FlexTensor,
        keys: FlexTensor,
        vector: FlexTensor,
        values: FlexTensor,
        padding: FlexTensor,
    ) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        let tensors = [
            input,
            context_weight,
            recurrent,
            candidate_bias,
            query_weight,
            initial,
            keys,
            vector,
            values,
            padding,
        ];
        Decoding::new(tensors).forward().0.into()
    }
}
