//! The chapter's code with the live network's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::rnn::{CellChoice, ReadoutChoice, Unrolled, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&STATE, &OUTPUT];

pub const STATE: Notebook = Notebook {
    code: include_str!("code/state.py"),
    title: "The state after your sentence",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

pub const OUTPUT: Notebook = Notebook {
    code: include_str!("code/output.py"),
    title: "How surprised the network is by your last character",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    if link.rnn.cell != CellChoice::Tanh {
        return Err(
            "The notebook computes a tanh network with biases. Choose “PyTorch: tanh, biases” in the settings.",
        );
    }
    if link.rnn.readout != ReadoutChoice::Every {
        return Err(
            "The notebook needs a network that is asked at every step. Choose that in the settings.",
        );
    }
    let text = sentence.to_owned();
    Ok(ask::Unrolled { text, edit: None, example: link.rnn.example }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let seen: Unrolled = answer.unpack().map_err(|error| error.to_string())?;
    if seen.run.ids.len() < 2 {
        return Err("Write a sentence of at least two characters first.".to_owned());
    }
    Ok(vec![
        ("text", (&seen.run.ids).into()),
        ("characters", (&seen.tokens).into()),
        ("W", (&seen.w).into()),
        ("U", (&seen.u).into()),
        ("b", (&seen.b).into()),
        ("V", (&seen.v).into()),
        ("c", (&seen.c).into()),
        ("states", (&seen.run.states).into()),
        ("probabilities", (&seen.run.probabilities).into()),
    ])
}
