//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::seq2seq::{Reading, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&ENCODER];

pub const ENCODER: Notebook = Notebook {
    code: include_str!("code/encoder.py"),
    title: "The one vector that holds the whole source",
    model: |_| 0,
    weights: |_| vec!["forward.".to_owned()],
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let (example, beam) = (link.seq2seq.example, link.seq2seq.beam);
    let text = (example == 0).then(|| sentence.to_owned());
    Ok(ask::Reading { text, example, beam }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let reading: Reading = answer.unpack().map_err(|error| error.to_string())?;
    Ok(vec![
        ("ids", (&reading.ids).into()),
        ("source", (&reading.tokens).into()),
        ("summary", (&reading.summary).into()),
    ])
}
