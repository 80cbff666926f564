//! The chapter's code with the live network's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::bptt::{Cell, Nudged, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&LAST];

pub const LAST: Notebook = Notebook {
    code: include_str!("code/last.py"),
    title: "The gradient at the nudged step",
    model: |_| 0,
    weights: |_| vec!["recurrent.layers.0.forward.".to_owned(), "readout.".to_owned()],
    asks,
    page,
};

fn asks(link: &Link, _: &str) -> Result<Packed, &'static str> {
    if link.bptt.truncation != 0 {
        return Err(
            "The notebook goes all the way back. Set “Truncate to” to 0 in the view “Storage.”",
        );
    }
    Ok(ask::Nudge { cell: Cell::Rnn, ..link.bptt.nudge() }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let nudged: Nudged = answer.unpack().map_err(|error| error.to_string())?;
    Ok(vec![
        ("ids", (&nudged.ids).into()),
        ("answer", nudged.answer.into()),
        ("step", nudged.step.into()),
        ("unit", nudged.unit.into()),
        ("sweep", (&nudged.sweep).into()),
    ])
}
