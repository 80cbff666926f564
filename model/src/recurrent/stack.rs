//! Stacked recurrent layers, in one direction or both.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    Cell, CellKind, Force, Initialization, RecurrentLayerTrace, RecurrentTrace, SequenceInput,
    State,
    cell::CellConfig,
    input::{Source, steps_of},
    watch::{Record, StepProbes, Watch},
};
use crate::{fused::has_kernels, random::Normals};

/// Configuration of [`Recurrent`] layers.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentConfig {
    pub kind: CellKind,
    /// Width of what the first layer reads.
    pub inputs: usize,
    /// Units of each cell.
    pub hidden: usize,
    pub layers: usize,
    pub bidirectional: bool,
    pub initialization: Initialization,
}

/// A stack of recurrent layers.
#[derive(Module, Debug)]
pub struct Recurrent {
    pub layers: Vec<RecurrentLayer>,
}

/// One layer. With a backward cell it is that of Schuster and Paliwal 1997: the second cell reads
/// from the end, and the two outputs are concatenated.
#[derive(Module, Debug)]
pub struct RecurrentLayer {
    pub forward: Cell,
    pub backward: Option<Cell>,
}

/// The states of one layer.
#[derive(Clone, Debug)]
pub struct LayerStates {
    pub forward: State,
    /// The backward cell's state in a bidirectional layer. As a final state, the one after the
    /// first position.
    pub backward: Option<State>,
}

impl LayerStates {
    /// The same values, detached from the autodiff graph.
    pub fn detach(self) -> Self {
        Self { forward: self.forward.detach(), backward: self.backward.map(State::detach) }
    }
}

/// How to run a sequence. The default is a plain run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The initial state of each layer; zeros if `None`.
    pub initial: Option<Vec<LayerStates>>,
    /// Cuts the gradient through the states every so many steps, as truncated backpropagation
    /// through time does, counted from where each direction starts.
    pub truncation: Option<usize>,
    /// Gates to hold. If several apply to the same gate, the last one wins.
    pub forced: Vec<Force>,
    /// In a traced run on tracked tensors, makes the gradients with respect to inner activations
    /// available; see [`RecurrentTrace::gradients`].
    pub probes: bool,
}

/// Output of a stack.
#[derive(Clone, Debug)]
pub struct RecurrentOutput {
    /// `[batch, T, output]`, twice as wide in both directions: the forward half first.
    pub outputs: Tensor<3>,
    /// The last state of every layer.
    pub finals: Vec<LayerStates>,
}

impl RecurrentConfig {
    /// Draws the weights.
    ///
    /// # Panics
    ///
    /// Panics if there is no layer or a width is 0.
    pub(crate) fn init(&self, draws: &mut Normals, device: &Device) -> Recurrent {
        let Self { kind, hidden, initialization, .. } = *self;
        assert!(self.layers > 0, "a stack has at least one layer");
        let directions = if self.bidirectional { 2 } else { 1 };
        let layers = (0..self.layers).map(|layer| {
            let below = directions * kind.output_width(hidden);
            let inputs = if layer == 0 { self.inputs } else { below };
            let config = CellConfig { kind, inputs, hidden, initialization };
            RecurrentLayer {
                forward: config.init(draws, device),
                backward: self.bidirectional.then(|| config.init(draws, device)),
            }
        });
        Recurrent { layers: layers.collect() }
    }
}

impl Recurrent {
    /// Runs the layers over a batch of sequences.
    ///
    /// # Shapes
    ///
    /// - outputs: `[batch, T, output]`, or `[batch, T, 2 * output]` in both directions
    ///
    /// # Panics
    ///
    /// Panics if the sequence is empty, if there is not one initial state for each layer and
    /// direction, or if the truncation is 0.
    pub fn forward(&self, input: SequenceInput, options: &RunOptions) -> RecurrentOutput {
        self.run(input, options, false).0
    }

    /// Like [`forward`](Self::forward), and returns the intermediate results. Both run each direction of a
    /// layer as one operation if the device [has kernels](crate::fused::has_kernels) for it, no gate is forced
    /// and no gradient inside is wanted, and step by step otherwise. All is the same to the last bit.
    pub fn forward_traced(
        &self,
        input: SequenceInput,
        options: &RunOptions,
    ) -> (RecurrentOutput, Vec<RecurrentLayerTrace>) {
        self.run(input, options, true)
    }

    fn run(
        &self,
        input: SequenceInput,
        options: &RunOptions,
        traced: bool,
    ) -> (RecurrentOutput, Vec<RecurrentLayerTrace>) {
        let [batch, length] = input.size();
        assert!(batch > 0 && length > 0, "an empty sequence has no states");
        assert_ne!(options.truncation, Some(0), "a truncation after 0 steps leaves nothing");
        if let Some(initial) = &options.initial {
            assert_eq!(initial.len(), self.layers.len(), "one initial state for each layer");
        }
        let mut source = input.source();
        let mut finals = Vec::with_capacity(self.layers.len());
        let mut traces = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let initial = options.initial.as_ref().map(|initial| &initial[index]);
            let pass = |cell: &Cell, backward: bool, initial: Option<State>| {
                let forced = options.forced.iter();
                let forced: Vec<Force> = forced
                    .filter(|force| force.layer == index && force.backward == backward)
                    .copied()
                    .collect();
                let state = initial.unwrap_or_else(|| cell.zero_state(batch));
                Pass { cell, backward, length, forced: &forced, options, traced }
                    .run(&source, state)
            };
            let forward = pass(&layer.forward, false, initial.map(|i| i.forward.clone()));
            let backward = layer.backward.as_ref().map(|cell| {
                let initial = initial.map(|initial| initial.backward.clone());
                pass(cell, true, initial.map(|state| state.expect("a state for each direction")))
            });
            let (rows, state, trace) = forward;
            let mut states = LayerStates { forward: state, backward: None };
            let mut layer_trace =
                trace.map(|forward| RecurrentLayerTrace { forward, backward: None });
            let rows = match backward {
                Some((backward_rows, state, trace)) => {
                    states.backward = Some(state);
                    if let Some(layer_trace) = &mut layer_trace {
                        layer_trace.backward = trace;
                    }
                    Tensor::cat(vec![rows, backward_rows], 1)
                }
                None => rows,
            };
            finals.push(states);
            traces.extend(layer_trace);
            source = Source::Rows(rows);
        }
        let Source::Rows(rows) = source else { unreachable!("a stack has at least one layer") };
        let [_, width] = rows.dims();
        let outputs = rows.reshape([length, batch, width]).swap_dims(0, 1);
        (RecurrentOutput { outputs, finals }, traces)
    }
}

/// One cell's run over a sequence.
struct Pass<'a> {
    cell: &'a Cell,
    backward: bool,
    length: usize,
    forced: &'a [Force],
    options: &'a RunOptions,
    traced: bool,
}

impl Pass<'_> {
    /// The outputs, `[T * batch, output]` with the rows of one step together, the last state, and
    /// the trace if one was requested.
    fn run(&self, source: &Source, mut state: State) -> (Tensor<2>, State, Option<RecurrentTrace>) {
        let inputs = source.project(self.cell);
        let probed = self.traced && self.options.probes;
        if !probed && self.forced.is_empty() && has_kernels(inputs.device()) {
            let (backward, truncation) = (self.backward, self.options.truncation);
            let began = self.traced.then(|| (inputs.clone().inner(), state.clone().inner()));
            let (rows, state) = self.cell.sequence(inputs, state, backward, truncation);
            let trace = began.map(|(inputs, began)| {
                let record = self.cell.record(inputs, began, rows.clone().inner(), backward);
                RecurrentTrace::new(self.cell, source, self.length, vec![record])
            });
            return (rows, state, trace);
        }
        let mut inputs: Vec<Option<Tensor<2>>> =
            steps_of(inputs, self.length).into_iter().map(Some).collect();
        let weights = self.cell.weights();
        let mut hidden = Vec::with_capacity(self.length);
        let mut records = Vec::new();
        for count in 0..self.length {
            let step = if self.backward { self.length - 1 - count } else { count };
            if self.options.truncation.is_some_and(|every| count > 0 && count % every == 0) {
                state = state.detach();
            }
            let mut watch = Watch { step, forces: self.forced, record: None };
            if self.traced {
                let probes = self.options.probes.then(StepProbes::default);
                watch.record = Some(Record { probes, ..Record::default() });
            }
            let input = inputs[step].take().expect("each step is taken once");
            state = self.cell.step(&weights, input, state, &mut watch);
            hidden.push(state.hidden.clone());
            records.extend(watch.record);
        }
        if self.backward {
            hidden.reverse();
            records.reverse();
        }
        let trace =
            self.traced.then(|| RecurrentTrace::new(self.cell, source, self.length, records));
        (Tensor::cat(hidden, 0), state, trace)
    }
}
