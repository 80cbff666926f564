//! How long a recurrent layer and an attention layer take to read a sequence.

use burn::tensor::{Device, Tensor, TensorData};
use unroll_protocol::study::qkv::{Cost, LENGTHS, WIDTH};

use super::Refusal;
use crate::{
    AttentionRules, CellKind, Dropout, Initialization, Mask, RecurrentConfig, RunOptions,
    SequenceInput,
    attention::AttentionConfig,
    clock,
    random::{Normals, Purpose, stream},
    read_all,
};

/// Milliseconds of runs after which no other is begun.
const ENOUGH: f64 = 12.0;
/// The first run also has memory to ask for: after one that took less than this there is a second.
const LONG: f64 = 40.0;
/// Most runs.
const RUNS: u32 = 20;

/// Times one layer of `WIDTH` units on `length` random vectors: the quickest of a few runs, since
/// whatever else the machine does only ever makes one slower.
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
    let config = AttentionConfig { width, heads: 1, scaled: true, output_deviation: 0.02 };
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
    let (mut quickest, mut spent, mut runs) = (f64::INFINITY, 0.0, 0);
    while runs == 0 || (runs == 1 && spent < LONG) || (spent < ENOUGH && runs < RUNS) {
        let began = time()?;
        let output = match &attention_layer {
            Some((layer, rules)) => layer.forward(vectors.clone(), rules, &Dropout::off()),
            None => {
                let input = SequenceInput::Vectors(vectors.clone());
                recurrent.forward(input, &RunOptions::default()).outputs
            }
        };
        // Read, so that it is really computed.
        read_all([output.slice([0..1, steps - 1..steps, 0..1]).reshape([1])]).await?;
        let took = time()? - began;
        (quickest, spent, runs) = (quickest.min(took), spent + took, runs + 1);
    }
    Ok(Cost { length, attention, round, milliseconds: quickest as f32, runs })
}

fn time() -> Result<f64, Refusal> {
    clock::now().ok_or_else(|| Refusal("There is no clock to take times with.".to_owned()))
}
