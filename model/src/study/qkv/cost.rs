//! How long a recurrent layer and an attention layer take to read a sequence.

use burn::tensor::{Device, Tensor, TensorData};
use unroll_protocol::study::qkv::{Cost, LENGTHS, WIDTH};

use super::Refusal;
use crate::{
    AttentionRules, CellKind, Dropout, Initialization, Mask, RecurrentConfig, RunOptions,
    SequenceInput,
    attention::AttentionConfig,
    clock,
    deviations::Deviations,
    random::{Normals, Purpose, stream},
    read_all,
};

/// Shortest batch of runs, in milliseconds: clocks in a browser tick every tenth of one.
const BATCH: f64 = 5.0;
/// Most runs in a batch.
const MOST_RUNS: f64 = 100.0;
/// Most batches; the fastest counts.
const BATCHES: u32 = 4;
/// Milliseconds after which no further batch begins.
const ENOUGH: f64 = 25.0;

/// Times one layer of `WIDTH` units on `length` random vectors. The result is the mean of the
/// fastest of a few batches, since other load on the machine can only make a run slower.
pub(super) async fn cost(
    length: u32,
    attention: bool,
    round: u32,
    device: &Device,
) -> Result<Cost, Refusal> {
    if !LENGTHS.contains(&length) {
        return Err(Refusal(format!("No time is taken for a length of {length}.")));
    }
    let (steps, width) = (length as usize, WIDTH as usize);
    let mut normals = Normals::new(stream(0, Purpose::QkvCost, [0; 3]));
    let vectors = TensorData::new(normals.draw(steps * width, 1.0), [1, steps, width]);
    let vectors: Tensor<3> = Tensor::from_data(vectors, device);
    let deviations =
        Deviations { initialization: unroll_protocol::Initialization::Gpt2, layers: 1 };
    let config = AttentionConfig { width, heads: 1, scaled: true, deviations };
    let attention_layer = attention.then(|| {
        let rules = AttentionRules::new(Mask::full(steps, steps), device);
        (config.init(&mut normals, device), rules)
    });
    let recurrent = RecurrentConfig {
        kind: CellKind::RNN,
        inputs: width,
        hidden: width,
        layers: 1,
        bidirectional: false,
        initialization: Initialization::Uniform,
    };
    let recurrent = recurrent.init(&mut normals, device);
    let run = || match &attention_layer {
        Some((layer, rules)) => layer.forward(vectors.clone(), rules, &Dropout::off()),
        None => {
            let input = SequenceInput::Vectors(vectors.clone());
            recurrent.forward(input, &RunOptions::default()).outputs
        }
    };
    // The first run also allocates memory and compiles code: it only determines the size of a
    // batch.
    let began = time()?;
    read(run()).await?;
    let first = time()? - began;
    let runs =
        if first > 0.0 { (BATCH / first).clamp(1.0, MOST_RUNS) as u32 } else { MOST_RUNS as u32 };
    let (mut quickest, mut spent, mut batches) = (f64::INFINITY, first, 0);
    while batches == 0 || (spent < ENOUGH && batches < BATCHES) {
        let began = time()?;
        for _ in 0..runs {
            read(run()).await?;
        }
        let took = time()? - began;
        (quickest, spent, batches) =
            (quickest.min(took / f64::from(runs)), spent + took, batches + 1);
    }
    let runs = runs * batches;
    Ok(Cost { length, attention, round, milliseconds: quickest as f32, runs })
}

fn time() -> Result<f64, Refusal> {
    clock::now().ok_or_else(|| Refusal("There is no clock to take times with.".to_owned()))
}

/// Waits until the outputs are really computed.
async fn read(outputs: Tensor<3>) -> Result<(), Refusal> {
    let [_, length, _] = outputs.dims();
    read_all([outputs.slice([0..1, length - 1..length, 0..1]).reshape([1])]).await?;
    Ok(())
}
