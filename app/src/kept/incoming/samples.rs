//! Models and files of models for the tests of this folder.

use std::{collections::BTreeMap, fs};

use burn::tensor::Device;
use serde_json::Value;
use unroll_model::{Slice, Trainer, token_tensor};
use unroll_model_file::Outgoing;
use unroll_protocol::{Checkpoint, Link};

use super::{Beside, Incoming, Refusal, head_length};

pub(super) const TEXT: &str = "the cat sat on the mat. the café was shut, and the cat sat on. ";

pub(super) fn settings(query: &str) -> Link {
    Link::parse_query(query.split('&').filter_map(|pair| pair.split_once('='))).0
}

pub(super) fn small() -> Link {
    settings("layers=2&heads=2&width=16&context=16&batch=2&seed=5&decay=0.2&warmup=2")
}

/// A model that was trained a little.
pub(super) fn trained(link: &Link, steps: u32) -> Checkpoint {
    let text = TEXT.repeat(8);
    let mut trainer = Trainer::new(&link.experiment(), &text, &Device::flex()).unwrap();
    for _ in 0..steps {
        while !matches!(trainer.advance(), Slice::Gradients(_)) {}
        trainer.apply();
    }
    pollster::block_on(trainer.checkpoint()).unwrap()
}

pub(super) fn file(checkpoint: &Checkpoint, link: &Link, with_optimizer: bool) -> Vec<u8> {
    let outgoing = Outgoing::new(checkpoint, with_optimizer);
    let mut bytes = outgoing.header(link, "Tales");
    outgoing.into_bodies().for_each(|body| bytes.extend(body));
    bytes
}

pub(super) fn read(
    bytes: &[u8],
    beside: &Beside,
) -> Result<(Checkpoint, Link, Vec<String>), Refusal> {
    let length = head_length(bytes, bytes.len() as u64)?;
    let head = &bytes[8..8 + length as usize];
    let mut incoming = Incoming::new(head, bytes.len() as u64, beside, settings)?;
    for (number, range) in incoming.ranges().into_iter().enumerate() {
        incoming.take(number, &bytes[range.start as usize..range.end as usize])?;
    }
    let (link, notes) = (incoming.link.clone(), incoming.notes.clone());
    Ok((incoming.checkpoint(), link, notes))
}

pub(super) fn opened(bytes: &[u8]) -> Result<Checkpoint, Refusal> {
    read(bytes, &Beside::default()).map(|(checkpoint, ..)| checkpoint)
}

/// The sentence with which a file is refused.
pub(super) fn refused(bytes: &[u8], beside: &Beside) -> String {
    read(bytes, beside).unwrap_err().to_string()
}

/// Logits at each position, by character.
pub(super) fn logits(checkpoint: &Checkpoint, text: &str) -> Vec<BTreeMap<String, f32>> {
    let trainer = Trainer::from_checkpoint(checkpoint, &TEXT.repeat(8), &Device::flex()).unwrap();
    let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
    let tokens = token_tensor(&tokenizer.encode(text), 1, &Device::flex());
    let all: Vec<f32> = model.forward(tokens).into_data().try_into_vec().unwrap();
    let vocabulary = tokenizer.vocabulary();
    let row = |row: &[f32]| vocabulary.iter().cloned().zip(row.iter().copied()).collect();
    all.chunks(vocabulary.len()).map(row).collect()
}

pub(super) fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/model_file/");
    fs::read(format!("{folder}{name}")).unwrap()
}

pub(super) fn fixture_json(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).unwrap()
}

/// The file with its head changed as text.
pub(super) fn changed(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let begins = 8 + length_of(bytes);
    let head = change(core::str::from_utf8(&bytes[8..begins]).unwrap());
    let length = (head.len() as u64).to_le_bytes();
    [&length, head.as_bytes(), &bytes[begins..]].concat()
}

pub(super) fn length_of(bytes: &[u8]) -> usize {
    head_length(bytes, bytes.len() as u64).unwrap() as usize
}
