//! The backward passes of the operations.

use burn::backend::{
    Autodiff, Flex, TensorMetadata,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::{FloatTensor, IntTensor},
};

use super::{
    Recurrent, Sequence, Squash,
    flex::{self, Aligned, Decoding, Operands},
};
use crate::fused::{
    autodiff::backward,
    flex::{FlexTensor, integers},
};
use unroll_kernels::{alignment, decoder, recurrent};

type Float<C> = FloatTensor<Autodiff<Flex, C>>;

backward!(Squashing, 1, (Squash, FlexTensor), |(function, output), upstream, _wanted| {
    [Some(flex::squash_backward(function, &output, upstream))]
});

backward!(LookingUp, 1, ([usize; 2], Vec<i32>), |(shape, rows), upstream, _wanted| {
    [Some(flex::look_up_backward(shape, &rows, upstream))]
});

backward!(
    Recurring,
    6,
    (Operands, FlexTensor, recurrent::Kept),
    |(operands, states, kept), upstream, _wanted| operands.backward(&states, &kept, upstream)
);

backward!(Aligning, 4, (Aligned, alignment::Attended), |(aligned, attended), upstream, _wanted| {
    aligned.backward(&attended, upstream).map(Some)
});

backward!(
    Writing,
    9,
    (Decoding, FlexTensor, decoder::Kept),
    |(decoding, both, kept), upstream, _wanted| {
        decoding.backward(&both, &kept, upstream).map(Some)
    }
);

impl<C: CheckpointStrategy> Recurrent for Autodiff<Flex, C> {
    fn squash(function: Squash, input: Float<C>) -> Float<C> {
        let nodes = [input.node()];
        let output = flex::squash(function, input.into_primitive());
        match Squashing.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((function, output.clone()), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn look_up(table: Float<C>, rows: IntTensor<Self>) -> Float<C> {
        let nodes = [table.node()];
        let rows = integers(&rows);
        let table = table.into_primitive();
        let shape = table.shape().dims();
        let output = flex::look_up(table, &rows);
        match LookingUp.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((shape, rows), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn sequence(
        sequence: Sequence,
        input: Float<C>,
        recurrent: Float<C>,
        candidate_bias: Float<C>,
        projection: Float<C>,
        initial: Float<C>,
        initial_cell: Float<C>,
    ) -> Float<C> {
        let tensors = [input, recurrent, candidate_bias, projection, initial, initial_cell];
        let nodes = tensors.each_ref().map(|tensor| tensor.node());
        let operands = Operands::new(sequence, tensors.map(|tensor| tensor.into_primitive()));
        let (states, kept) = operands.forward();
        match Recurring.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((operands, states.clone(), kept), states),
            OpsKind::UnTracked(prepared) => prepared.finish(states),
        }
    }

    fn additive(
        queries: Float<C>,
        keys: Float<C>,
        vector: Float<C>,
        values: Float<C>,
        padding: Float<C>,
    ) -> (Float<C>, Float<C>, Float<C>) {
        let nodes = [queries.node(), keys.node(), vector.node(), values.node()];
        let tensors = [queries, keys, vector, values, padding];
        let aligned = Aligned::new(tensors.map(|tensor| tensor.into_primitive()));
        let ([contexts, scores, weights], attended) = aligned.forward();
        let contexts = match Aligning.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((aligned, attended), contexts),
            OpsKind::UnTracked(prepared) => prepared.finish(contexts),
        };
        (contexts, Float::<C>::new(scores), Float::<C>::new(weights))
    }

    fn decode(
        input: Float<C>,
        context_weight: Float<C>,
        recurrent: Float<C>,
        candidate_bias: Float<C>,
        query_weight: Float<C>,
        initial: Float<C>,
        keys: Float<C>,
        vector: Float<C>,
        values: Float<C>,
        padding: Float<C>,
    ) -> (Float<C>, Float<C>, Float<C>, Float<C>) {
        let nodes = [
            input.node(),
            context_weight.node(),
            recurrent.node(),
            candidate_bias.node(),
            query_weight.node(),
            initial.node(),
            keys.node(),
            vector.node(),
            values.node(),
        ];
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
        let decoding = Decoding::new(tensors.map(|tensor| tensor.into_primitive()));
        let ([both, queries, scores, weights], kept) = decoding.forward();
        let both = match Writing.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((decoding, both.clone(), kept), both),
            OpsKind::UnTracked(prepared) => prepared.finish(both),
        };
        let [queries, scores, weights] = [queries, scores, weights].map(Float::<C>::new);
        (both, queries, scores, weights)
    }
}
