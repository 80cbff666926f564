//! Training steps on request, for `cargo xtask bench`, which times several libraries in turn.
//!
//! `cargo run --release -p unroll-model --example bench_rounds -- TEXT` reads one request a line, a
//! JSON object such as
//!
//! ```json
//! {"kind": "gpt", "layers": 4, "heads": 4, "width": 128, "context": 64, "batch": 12,
//!  "rate": 0.001, "budget": 2000, "each": 150}
//! {"kind": "lstm", "width": 64, "context": 32, "batch": 16, "rate": 0.01}
//! {"kind": "seq2seq", "width": 64, "context": 10, "batch": 32, "rate": 0.01}
//! ```
//!
//! and answers each with
//! `{"samples": [..], "losses": [..], "parameters": .., "allocations": .., "allocated": ..}`:
//! milliseconds per step, measured for about `budget` milliseconds; the loss of every step; and the
//! number and total bytes of the last step's allocations. A sample is the mean over enough steps to
//! take about 100 ms, given that one takes `each` milliseconds. A model is kept and trained further
//! until another one is requested.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    env, fs,
    io::{self, BufRead},
    process::exit,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use serde_json::{Value, json};
use unroll_model::{
    CellKind, CharTokenizer, Dataset, GradientSum, Initialization, Optimizer, Pairs, Seq2seq,
    Seq2seqConfig, SequenceConfig, SequenceModel, Slice, Split, Trainer, global_norm,
    masked_cross_entropy, token_tensor,
};
use unroll_protocol::{
    Architecture, AttentionKind, ExperimentSpec, GptSpec, OptimizerSpec, PairTask,
};

/// The system's allocator, with counters.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn count(bytes: usize) {
        ALLOCATIONS.fetch_add(1, Relaxed);
        ALLOCATED.fetch_add(bytes as u64, Relaxed);
    }

    /// Allocations and bytes so far.
    fn so_far() -> [u64; 2] {
        [&ALLOCATIONS, &ALLOCATED].map(|count| count.load(Relaxed))
    }
}

// SAFETY: every request is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count(size);
        // SAFETY: as above; `old` came from the system's allocator.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

/// A sample takes at least this long, in milliseconds.
const SAMPLE: f64 = 100.0;

/// What a request asks for.
struct Request(Value);

impl Request {
    fn number(&self, name: &str) -> f64 {
        self.0[name].as_f64().unwrap_or_else(|| fail(&format!("a request needs a number `{name}`")))
    }

    fn whole(&self, name: &str) -> usize {
        self.number(name) as usize
    }

    fn optimizer(&self) -> OptimizerSpec {
        OptimizerSpec { learning_rate: self.number("rate") as f32, ..OptimizerSpec::default() }
    }

    /// Everything but how long to train: what decides the model.
    fn model(&self) -> Value {
        let mut rest = self.0.clone();
        if let Some(object) = rest.as_object_mut() {
            object.retain(|name, _| name != "budget" && name != "each");
        }
        rest
    }
}

fn fail(sentence: &str) -> ! {
    eprintln!("{sentence}");
    exit(2)
}

/// What is in training.
enum Run {
    Gpt(Box<Trainer>),
    /// One recurrent layer and its readout, on windows of the text.
    Cell(Box<Learner<SequenceModel>>, Dataset),
    /// Two GRUs, reversing strings.
    Seq2seq(Box<Learner<Seq2seq>>, Pairs),
}

/// A model with its optimizer.
struct Learner<M> {
    model: Option<M>,
    optimizer: Optimizer,
    rate: f64,
    batch: usize,
    context: usize,
    step: u32,
}

impl<M: Module> Learner<M> {
    fn new(request: &Request, model: M) -> Box<Self> {
        Box::new(Self {
            optimizer: Optimizer::new(&request.optimizer(), &model),
            model: Some(model),
            rate: request.number("rate"),
            batch: request.whole("batch"),
            context: request.whole("context"),
            step: 0,
        })
    }

    fn parameters(&self) -> u64 {
        self.model.as_ref().expect("the model is back after every step").num_params() as u64
    }

    /// Takes a step that reduces `loss`; returns its value before the step.
    fn step(&mut self, loss: impl FnOnce(&M) -> Tensor<1>) -> f32 {
        let model = self.model.take().expect("the model is back after every step");
        let tracked = model.clone().train();
        let loss = loss(&tracked);
        let mut sum = GradientSum::default();
        sum.add(&tracked, &mut loss.backward());
        drop(tracked);
        let gradients = sum.finish();
        let norm = global_norm(&gradients);
        self.model = Some(self.optimizer.update(model, gradients, &norm, self.rate));
        self.step += 1;
        loss.into_scalar()
    }
}

impl Run {
    fn new(request: &Request, text: &str) -> Self {
        let device = Device::flex();
        let size = |name| request.whole(name) as u32;
        let kind = match request.0["kind"].as_str() {
            Some("gpt") => {
                let gpt = GptSpec {
                    layers: size("layers"),
                    heads: size("heads"),
                    width: size("width"),
                    context: size("context"),
                    dropout: 0.0,
                    tied: false,
                    architecture: Architecture::GPT2,
                };
                let (optimizer, batch) = (request.optimizer(), size("batch"));
                let spec = ExperimentSpec {
                    seed: 1,
                    initialization: unroll_protocol::Initialization::Gpt2,
                    gpt,
                    optimizer,
                    batch,
                    tokens: unroll_protocol::Tokens::Characters,
                };
                let trainer = Trainer::new(&spec, text, &device);
                return Self::Gpt(Box::new(trainer.unwrap_or_else(|e| fail(&e.to_string()))));
            }
            Some("seq2seq") => {
                let task = Pairs::new(PairTask::Reverse, request.whole("context"));
                let task = task.unwrap_or_else(|e| fail(&e.to_string()));
                let config = Seq2seqConfig {
                    sources: task.sources(),
                    targets: task.targets(),
                    hidden: request.whole("width"),
                    bidirectional: false,
                    attention: AttentionKind::None,
                    alignment: 1,
                    seed: 1,
                };
                return Self::Seq2seq(Learner::new(request, config.init(&device)), task);
            }
            Some("rnn") => CellKind::RNN,
            Some("lstm") => CellKind::LSTM,
            Some("gru") => CellKind::Gru,
            _ => fail("a request's kind is one of gpt, rnn, lstm, gru, seq2seq"),
        };
        let tokenizer = CharTokenizer::from_text(text);
        let data = Dataset::new(tokenizer.encode(text), request.whole("context"));
        let config = SequenceConfig {
            vocabulary: tokenizer.len(),
            outputs: tokenizer.len(),
            embedding: None,
            kind,
            hidden: request.whole("width"),
            layers: 1,
            bidirectional: false,
            initialization: Initialization::Uniform,
            seed: 1,
        };
        let data = data.unwrap_or_else(|e| fail(&e.to_string()));
        Self::Cell(Learner::new(request, config.init(&device)), data)
    }

    fn parameters(&self) -> u64 {
        match self {
            Self::Gpt(trainer) => trainer.parameter_count(),
            Self::Cell(learner, _) => learner.parameters(),
            Self::Seq2seq(learner, _) => learner.parameters(),
        }
    }

    /// Takes a step; returns the loss before it.
    fn step(&mut self) -> f32 {
        let device = Device::flex();
        match self {
            Self::Gpt(trainer) => loop {
                if let Slice::Gradients(gradients) = trainer.advance() {
                    trainer.apply();
                    return gradients.loss.into_scalar();
                }
            },
            Self::Cell(learner, data) => {
                let (rows, context) = (learner.batch, learner.context);
                let batch = data.batch(1, learner.step, rows, context);
                let [inputs, targets] =
                    [&batch.inputs, &batch.targets].map(|ids| token_tensor(ids, rows, &device));
                let weights = Tensor::ones([rows, context], &device);
                learner.step(|model| masked_cross_entropy(model.forward(inputs), targets, weights))
            }
            Self::Seq2seq(learner, task) => {
                let batch = task.batch(1, Split::Training, learner.step, learner.batch);
                let batch = batch.tensors(&device);
                learner.step(|model| model.loss(&batch))
            }
        }
    }
}

fn main() {
    let path = env::args().nth(1).unwrap_or_else(|| fail("name the file with the text"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| fail(&format!("{path}: {e}")));
    let mut current: Option<(Value, Run)> = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let request = serde_json::from_str(&line).unwrap_or_else(|e| fail(&format!("{line}: {e}")));
        let request = Request(request);
        let (_, run) = match current.take() {
            Some(kept) if kept.0 == request.model() => current.insert(kept),
            _ => current.insert((request.model(), Run::new(&request, &text))),
        };
        let budget = request.0["budget"].as_f64().unwrap_or(0.0);
        let chunk = request.0["each"].as_f64().map_or(1, |each| (SAMPLE / each).ceil() as usize);
        let chunk = chunk.clamp(1, 100_000);
        let (mut samples, mut losses) = (Vec::new(), Vec::new());
        let begin = Instant::now();
        let mut asked = [0; 2];
        loop {
            let start = Instant::now();
            losses.extend((0..chunk).map(|_| {
                let before = Counting::so_far();
                let loss = run.step();
                let after = Counting::so_far();
                asked = [after[0] - before[0], after[1] - before[1]];
                loss
            }));
            samples.push(start.elapsed().as_secs_f64() * 1e3 / chunk as f64);
            if begin.elapsed().as_secs_f64() * 1e3 >= budget {
                break;
            }
        }
        let parameters = run.parameters();
        let [allocations, allocated] = asked;
        println!(
            "{}",
            json!({
                "samples": samples, "losses": losses, "parameters": parameters,
                "allocations": allocations, "allocated": allocated,
            })
        );
    }
}
