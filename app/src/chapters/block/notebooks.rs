//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::block::{Shown, Stream, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&CONTRIBUTION];

pub const CONTRIBUTION: Notebook = Notebook {
    code: include_str!("code/contribution.py"),
    title: "What each term adds to one logit",
    model: |link| u32::from(link.block.shown != Shown::Full),
    weights: |_| vec!["head.".to_owned()],
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let settings = &link.block;
    let (shown, position, token) = (settings.shown, settings.position, settings.token);
    Ok(ask::Stream { text: sentence.to_owned(), shown, position, token }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let stream: Stream = answer.unpack().map_err(|error| error.to_string())?;
    let deviation = stream.deviation.ok_or(
        "The notebook divides by the σ of the final norm. The model shown has no final norm. Choose pre-norm in the settings, and show the full model.",
    )?;
    let names: Vec<String> = stream.sources.iter().map(|source| source.name()).collect();
    Ok(vec![
        ("names", (&names).into()),
        ("terms", (&stream.terms).into()),
        ("gamma", (&stream.gamma).into()),
        ("token", stream.token.into()),
        ("deviation", deviation.into()),
        ("contributions", (&stream.contributions).into()),
        ("offset", stream.offset.into()),
        ("logit", stream.logit.into()),
    ])
}
