//! The chapter's code with the live model's numbers.

use unroll_protocol::{Ask, Link, Packed, study::mask::Seen};

use super::question;

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&AVERAGE];

pub const AVERAGE: Notebook = Notebook {
    code: include_str!("code/average.py"),
    title: "Three ways to average the past of your sentence",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    Ok(question(&link.mask, sentence.to_owned()).packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let seen: Seen = answer.unpack().map_err(|error| error.to_string())?;
    let length = seen.tokens.len();
    let is_causal = |(cell, allowed): (usize, &bool)| (cell % length <= cell / length) == *allowed;
    if !seen.allowed.iter().enumerate().all(is_causal) {
        return Err("The notebook averages the past. Choose the causal mask first.".to_owned());
    }
    Ok(vec![
        ("tokens", (&seen.tokens).into()),
        ("values", (&seen.arithmetic.values).into()),
        ("weights", (&seen.weights).into()),
        ("average", (&seen.averages.softmax).into()),
        ("attended", (&seen.averages.attended).into()),
    ])
}
