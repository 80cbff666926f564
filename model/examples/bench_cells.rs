//! Milliseconds per training step (forward, backward, AdamW) of every kind of cell, fused against
//! a plain version that multiplies gate by gate and step by step.
//!
//! `cargo run --release -p unroll-model --example bench_cells -- [name=value ...]` with the names
//! below. The runs of all versions are interleaved, so that other load on the machine affects all
//! alike. The table shows medians and the fastest runs: on a busy machine the scheduler takes
//! slices of some 4 ms, which doubles the medians of steps about that long.

use std::{env, process::exit, time::Instant};

use burn::{
    module::{Module, Param},
    tensor::{
        Device, Int, Tensor,
        activation::{sigmoid, tanh},
    },
};
use unroll_model::{
    BatchTensors, CellKind, GradientSum, Initialization, LookAhead, Optimizer, SequenceConfig,
    SequenceModel, Split, Task, global_norm, masked_cross_entropy,
};
use unroll_protocol::OptimizerSpec;

/// The same network as it is usually written: one product for each gate and step.
#[derive(Module, Debug)]
struct Plain {
    input: Vec<Param<Tensor<2>>>,
    recurrent: Vec<Param<Tensor<2>>>,
    bias: Vec<Param<Tensor<1>>>,
    candidate_bias: Option<Param<Tensor<1>>>,
    projection: Option<Param<Tensor<2>>>,
    readout: Param<Tensor<2>>,
    readout_bias: Param<Tensor<1>>,
    #[module(skip)]
    kind: CellKind,
}

impl Plain {
    /// Takes the weights of `model`, so that both compute the same.
    fn new(model: &SequenceModel) -> Self {
        let cell = &model.recurrent.layers[0].forward;
        let hidden = cell.hidden();
        let gates = || 0..cell.kind().gates().len();
        let columns = |matrix: &Param<Tensor<2>>| {
            gates()
                .map(|gate| Param::from_tensor(matrix.val().narrow(1, gate * hidden, hidden)))
                .collect()
        };
        let vector = |bias: &Param<Tensor<1>>| Param::from_tensor(bias.val());
        Self {
            input: columns(&cell.input_weight),
            recurrent: columns(&cell.recurrent_weight),
            bias: cell
                .bias
                .iter()
                .flat_map(|bias| {
                    gates()
                        .map(|gate| Param::from_tensor(bias.val().narrow(0, gate * hidden, hidden)))
                })
                .collect(),
            candidate_bias: cell.candidate_bias.as_ref().map(vector),
            projection: cell.projection.as_ref().map(|p| Param::from_tensor(p.val())),
            readout: Param::from_tensor(model.readout.weight.val()),
            readout_bias: Param::from_tensor(model.readout.bias.as_ref().unwrap().val()),
            kind: cell.kind(),
        }
    }

    fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [batch, length] = tokens.dims();
        let device = self.readout.val().device();
        let [vocabulary, hidden] = self.input[0].val().dims();
        let [output, _] = self.recurrent[0].val().dims();
        let eye = Tensor::<2>::eye(vocabulary, &device);
        let mut h = Tensor::<2>::zeros([batch, output], &device);
        let mut c = Tensor::<2>::zeros([batch, hidden], &device);
        let mut logits = Vec::with_capacity(length);
        for step in 0..length {
            let ids = tokens.clone().narrow(1, step, 1).reshape([batch]);
            let x = eye.clone().select(0, ids);
            let from_input = |gate: usize| {
                let product = x.clone().matmul(self.input[gate].val());
                match self.bias.get(gate) {
                    Some(bias) => product + bias.val().unsqueeze::<2>(),
                    None => product,
                }
            };
            let from =
                |state: &Tensor<2>, gate: usize| state.clone().matmul(self.recurrent[gate].val());
            let sum = |state: &Tensor<2>, gate: usize| from_input(gate) + from(state, gate);
            h = match self.kind {
                CellKind::Elman { .. } if self.kind == CellKind::MIKOLOV => sigmoid(sum(&h, 0)),
                CellKind::Elman { .. } => tanh(sum(&h, 0)),
                CellKind::Lstm { .. } => {
                    let (i, f) = (sigmoid(sum(&h, 0)), sigmoid(sum(&h, 1)));
                    let (g, o) = (tanh(sum(&h, 2)), sigmoid(sum(&h, 3)));
                    c = f * c + i * g;
                    let h = o * tanh(c.clone());
                    match &self.projection {
                        Some(projection) => h.matmul(projection.val()),
                        None => h,
                    }
                }
                CellKind::Gru | CellKind::ChoGru => {
                    let (r, z) = (sigmoid(sum(&h, 0)), sigmoid(sum(&h, 1)));
                    let n = tanh(match &self.candidate_bias {
                        Some(bias) => {
                            from_input(2) + r * (from(&h, 2) + bias.val().unsqueeze::<2>())
                        }
                        None => sum(&(r * h.clone()), 2),
                    });
                    (z.clone().neg() + 1.0) * n + z * h
                }
            };
            let answer = h.clone().matmul(self.readout.val());
            logits.push(answer + self.readout_bias.val().unsqueeze::<2>());
        }
        Tensor::stack(logits, 1)
    }
}

/// One model in training.
struct Run<M> {
    model: Option<M>,
    optimizer: Optimizer,
    milliseconds: Vec<f64>,
    loss: f32,
}

impl<M: Module> Run<M> {
    fn new(model: M) -> Self {
        let optimizer = Optimizer::new(&OptimizerSpec::default(), &model);
        Self { model: Some(model), optimizer, milliseconds: Vec::new(), loss: 0.0 }
    }

    fn step(&mut self, batch: &BatchTensors, forward: fn(&M, Tensor<2, Int>) -> Tensor<3>) {
        let start = Instant::now();
        let model = self.model.take().unwrap();
        let tracked = model.clone().train();
        let logits = forward(&tracked, batch.inputs.clone());
        let loss = masked_cross_entropy(logits, batch.targets.clone(), batch.weights.clone());
        let mut sum = GradientSum::default();
        sum.add(&tracked, &mut loss.backward());
        drop(tracked);
        let gradients = sum.finish();
        let norm = global_norm(&gradients);
        self.model = Some(self.optimizer.update(model, gradients, &norm, 0.001));
        self.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        self.loss = loss.into_scalar();
    }

    /// The median and the fastest run.
    fn measured(&mut self, warmup: usize) -> [f64; 2] {
        let measured = &mut self.milliseconds[warmup..];
        measured.sort_by(f64::total_cmp);
        [measured[measured.len() / 2], measured[0]]
    }
}

fn main() {
    let mut settings = [
        ("hidden", 64),
        ("length", 32),
        ("batch", 16),
        ("vocabulary", 30),
        ("layers", 1),
        ("steps", 60),
        ("warmup", 5),
    ];
    for argument in env::args().skip(1) {
        let parsed = argument.split_once('=').and_then(|(name, value)| {
            let setting = settings.iter_mut().find(|setting| setting.0 == name)?;
            setting.1 = value.parse().ok()?;
            Some(())
        });
        if parsed.is_none() {
            let names = settings.map(|(name, default)| format!("{name}={default}"));
            eprintln!("{argument} is none of {}", names.join(" "));
            exit(2);
        }
    }
    let [hidden, length, batch, vocabulary, layers, steps, warmup] =
        settings.map(|(_, value)| value);
    let device = Device::flex();
    let task = LookAhead::new(vocabulary, 1, length).expect("a task of this size");
    let kinds = [
        ("Elman (PyTorch's nn.RNN)", CellKind::RNN),
        ("Elman (Mikolov 2010)", CellKind::MIKOLOV),
        ("LSTM", CellKind::LSTM),
        (
            "LSTM, projected to half",
            CellKind::Lstm { projection: Some(hidden / 2), forget_bias: 0.0 },
        ),
        ("GRU (PyTorch's)", CellKind::Gru),
        ("GRU (Cho 2014)", CellKind::ChoGru),
    ];
    let mut fused = Vec::new();
    let mut plain = Vec::new();
    for (_, kind) in kinds {
        let config = SequenceConfig {
            vocabulary,
            outputs: vocabulary,
            embedding: None,
            kind,
            hidden,
            layers,
            bidirectional: false,
            initialization: Initialization::Uniform,
            seed: 1,
        };
        let model = config.init(&device);
        // The plain version has one layer.
        plain.extend((layers == 1).then(|| Run::new(Plain::new(&model))));
        fused.push(Run::new(model));
    }
    for step in 0..warmup + steps {
        let batch = task.batch(1, Split::Training, step as u32, batch).tensors(&device);
        for (index, fused) in fused.iter_mut().enumerate() {
            fused.step(&batch, SequenceModel::forward);
            if let Some(plain) = plain.get_mut(index) {
                plain.step(&batch, Plain::forward);
                let difference = (plain.loss - fused.loss).abs();
                assert!(
                    difference < 1e-3 * plain.loss.max(1.0),
                    "the two versions differ by {difference}"
                );
            }
        }
    }
    println!("{:<26}{:^24}{:^24}", "ms/step", "median", "fastest");
    let columns = format!("{:>8}{:>8}{:>8}", "fused", "plain", "factor");
    println!("{:<26}{columns}{columns}", "");
    for (index, (name, _)) in kinds.iter().enumerate() {
        print!("{name:<26}");
        let plain = plain.get_mut(index).map(|plain| plain.measured(warmup));
        for (which, fused) in fused[index].measured(warmup).into_iter().enumerate() {
            print!("{fused:>8.2}");
            match plain {
                Some(plain) => print!("{:>8.2}{:>8.2}", plain[which], plain[which] / fused),
                None => print!("{:>16}", ""),
            }
        }
        println!();
    }
}
