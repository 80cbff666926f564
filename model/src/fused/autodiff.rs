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
    AdamStep, Fused,
    flex::{
        self, Attention, FlexTensor, in_order, in_rows, integers, multiply, numbers, sum_of_rows,
        tensor,
    },
};
use unroll_kernels::matmul::Onto;

type Float<C> = FloatTensor<Autodiff<Flex, C>>;

/// An operation with `N` inputs whose gradients are computed from the gradient with respect to its
/// output.
macro_rules! backward {
    ($name:ident, $count:literal, $state:ty, |$kept:pat_param, $upstream:ident, $wanted:ident| $body:expr) => {
        #[derive(Debug)]
        struct $name;

        impl Backward<Flex, $count> for $name {
            type State = $state;

            fn backward(
                self,
                ops: Ops<Self::State, $count>,
                gradients: &mut Gradients,
                _: &mut Checkpointer,
            ) {
                let $upstream: FlexTensor = gradients.consume::<Flex>(&ops.node);
                let $wanted: [bool; $count] = ops.parents.each_ref().map(Option::is_some);
                let $kept = ops.state;
                let found: [Option<FlexTensor>; $count] = $body;
                for (parent, found) in ops.parents.into_iter().zip(found) {
                    if let Some((parent, found)) = parent.zip(found) {
                        gradients.register::<Flex>(parent.id, found);
                    }
                }
            }
        }
    };
}

pub(super) use backward;

backward!(Product, 2, (FlexTensor, FlexTensor), |(left, right), upstream, wanted| {
    product_gradients(left, right, upstream, wanted)
});

backward!(WithBias, 3, (FlexTensor, FlexTensor), |(input, weight), upstream, wanted| {
    let (shape, upstream) = (input.shape(), in_rows(upstream));
    let of_bias = wanted[2].then(|| sum_of_rows(upstream.clone()));
    let wanted = [wanted[0], wanted[1]];
    let [of_input, of_weight] = product_gradients(in_rows(input), weight, upstream, wanted);
    [of_input.map(|of_input| of_input.reshape(shape)), of_weight, of_bias]
});

backward!(Attending, 3, (Attention, FlexTensor), |(attention, weights), upstream, _wanted| {
    attention.backward(&weights, upstream).map(Some)
});

backward!(
    Normalizing,
    3,
    (FlexTensor, Vec<[f32; 2]>, bool, FlexTensor),
    |(input, statistics, is_centered, gamma), upstream, _wanted| {
        flex::layer_norm_backward(&input, &statistics, is_centered, &gamma, upstream).map(Some)
    }
);

backward!(Gelu, 1, FlexTensor, |slopes, upstream, _wanted| {
    let upstream = in_order(upstream);
    let products = numbers(&upstream).iter().zip(numbers(&slopes)).map(|(u, slope)| u * slope);
    let products: Vec<f32> = products.collect();
    [Some(tensor(products, [numbers(&slopes).len()]).reshape(slopes.layout().shape().clone()))]
});

backward!(Surprise, 1, (Vec<f32>, Vec<i32>), |(mut probabilities, targets), upstream, _wanted| {
    let upstream = in_order(upstream);
    let width = probabilities.len() / targets.len().max(1);
    let rows = probabilities.chunks_exact_mut(width).zip(&targets).zip(numbers(&upstream));
    for ((row, &target), upstream) in rows {
        row[target as usize] -= 1.0;
        row.iter_mut().for_each(|value| *value *= upstream);
    }
    [Some(tensor(probabilities, [targets.len(), width]))]
});

fn product_gradients(
    left: FlexTensor,
    right: FlexTensor,
    upstream: FlexTensor,
    wanted: [bool; 2],
) -> [Option<FlexTensor>; 2] {
    let of_right = wanted[1].then(|| multiply(left.transpose(0, 1), upstream.clone(), Onto::Zero));
    let of_left = wanted[0].then(|| multiply(upstream, right.transpose(0, 1), Onto::Zero));
    [of_left, of_right]
}

impl<C: CheckpointStrategy> Fused for Autodiff<Flex, C> {
    fn product(left: Float<C>, right: Float<C>) -> Float<C> {
        let nodes = [left.node(), right.node()];
        let (left, right) = (left.into_primitive(), right.into_primitive());
        let output = Flex::product(left.clone(), right.clone());
        match Product.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((left, right), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn linear(input: Float<C>, weight: Float<C>, bias: Float<C>) -> Float<C> {
        let nodes = [input.node(), weight.node(), bias.node()];
        let (input, weight) = (input.into_primitive(), weight.into_primitive());
        let output = Flex::linear(input.clone(), weight.clone(), bias.into_primitive());
        match WithBias.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((input, weight), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn attend(
        queries: Float<C>,
        keys: Float<C>,
        values: Float<C>,
        bias: Float<C>,
        keep: Float<C>,
        scale: f32,
    ) -> (Float<C>, Float<C>) {
        let nodes = [queries.node(), keys.node(), values.node()];
        let inputs = [queries, keys, values].map(|input| input.into_primitive());
        let attention = Attention::new(inputs, bias.into_primitive(), keep.into_primitive(), scale);
        let (weights, mixed) = attention.forward();
        let mixed = match Attending.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((attention, weights.clone()), mixed),
            OpsKind::UnTracked(prepared) => prepared.finish(mixed),
        };
        (Float::<C>::new(weights), mixed)
    }

    fn layer_norm(input: Float<C>, gamma: Float<C>, beta: Float<C>, is_centered: bool) -> Float<C> {
        let nodes = [input.node(), gamma.node(), beta.node()];
        let [input, gamma, beta] =
            [input, gamma, beta].map(|tensor| in_order(tensor.into_primitive()));
        let (output, statistics) = flex::layer_norm(&input, &gamma, &beta, is_centered);
        match Normalizing.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                prepared.finish((input, statistics, is_centered, gamma), output)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn gelu(input: Float<C>) -> Float<C> {
        let nodes = [input.node()];
        match Gelu.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (output, slopes) = flex::gelu(input.into_primitive(), true);
                prepared.finish(slopes.expect("they were asked for"), output)
            }
            OpsKind::UnTracked(prepared) => {
                prepared.finish(flex::gelu(input.into_primitive(), false).0)
            }
        }
    }

    fn cross_entropy(logits: Float<C>, targets: IntTensor<Self>) -> Float<C> {
        let nodes = [logits.node()];
        let targets = integers(&targets);
        let (losses, probabilities) = flex::cross_entropy(logits.into_primitive(), &targets);
        match Surprise.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((probabilities, targets), losses),
            OpsKind::UnTracked(prepared) => prepared.finish(losses),
        }
    }

    fn sum_of_squares(values: Float<C>) -> Float<C> {
        Float::<C>::new(Flex::sum_of_squares(values.into_primitive()))
    }

    fn adam(
        step: AdamStep,
        coefficient: Float<C>,
        gradient: Float<C>,
        value: Float<C>,
        first: Float<C>,
        second: Float<C>,
    ) -> (Float<C>, Float<C>, Float<C>) {
        let [coefficient, gradient, value, first, second] =
            [coefficient, gradient, value, first, second].map(|tensor| tensor.into_primitive());
        let (value, first, second) = Flex::adam(step, coefficient, gradient, value, first, second);
        (Float::<C>::new(value), Float::<C>::new(first), Float::<C>::new(second))
    }
}
