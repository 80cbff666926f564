//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::tokens::{Chain, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&LOGITS];

pub const LOGITS: Notebook = Notebook {
    code: include_str!("code/logits.py"),
    title: "The probability of your sentence",
    model: |_| 0,
    weights: |_| vec!["embedding".to_owned(), "readout".to_owned()],
    asks,
    page,
};

fn asks(_: &Link, sentence: &str) -> Result<Packed, &'static str> {
    Ok(ask::Chain { sentence: sentence.to_owned() }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let chain: Chain = answer.unpack().map_err(|error| error.to_string())?;
    let ids: Vec<u32> = chain.pieces.iter().map(|piece| piece.id).collect();
    let tokens: Vec<String> = chain.pieces.iter().map(|piece| piece.text.clone()).collect();
    Ok(vec![
        ("ids", (&ids).into()),
        ("tokens", (&tokens).into()),
        ("log_probabilities", (&chain.log_probabilities).into()),
    ])
}
