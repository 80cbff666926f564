//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    architecture::Positions,
    study::position::{Encoding, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&SINUSOID];

pub const SINUSOID: Notebook = Notebook {
    code: include_str!("code/sinusoid.py"),
    title: "The sinusoids of your positions",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(_: &Link, _: &str) -> Result<Packed, &'static str> {
    Ok(ask::Encoding { positions: Positions::Sinusoidal }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let encoding: Encoding = answer.unpack().map_err(|error| error.to_string())?;
    Ok(vec![("encoding", (&encoding.values).into())])
}
