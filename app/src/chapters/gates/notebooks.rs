//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::gates::{CellChoice, Quantity, Seen, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&LSTM];

pub const LSTM: Notebook = Notebook {
    code: include_str!("code/lstm.py"),
    title: "The cell state after the whole text",
    model: |_| 0,
    weights: |_| vec!["recurrent.layers.0.forward.".to_owned()],
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let settings = &link.gates;
    if settings.cell != CellChoice::Lstm {
        return Err("The notebook computes an LSTM. Choose that cell in the settings.");
    }
    if !settings.forced.is_empty() {
        return Err("The notebook can’t hold a gate open or shut. Let go of all held gates first.");
    }
    Ok(ask::Seen {
        sentence: settings.read(sentence),
        quantity: Quantity::Cell,
        forced: Vec::new(),
    }
    .packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let seen: Seen = answer.unpack().map_err(|error| error.to_string())?;
    if seen.ids.is_empty() {
        return Err("There is nothing to read: write a sentence first.".to_owned());
    }
    Ok(vec![
        ("ids", (&seen.ids).into()),
        ("tokens", (&seen.tokens).into()),
        ("cell_states", (&seen.values).into()),
    ])
}
