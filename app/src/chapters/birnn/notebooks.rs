//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::birnn::{Reader, Reading, TaskChoice},
};

use super::question;
use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&LOGITS];

pub const LOGITS: Notebook = Notebook {
    code: include_str!("code/logits.py"),
    title: "Logits from both directions",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    if link.birnn.task == TaskChoice::Fill {
        return Err(
            "With “Missing letters”, the page hides a different letter at each position, so each position needs a run of its own. Choose the task “Symbols ahead” in the settings.",
        );
    }
    Ok(question(&link.birnn, sentence.to_owned(), None).packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let seen: Reading = answer.unpack().map_err(|error| error.to_string())?;
    let both = seen.readouts.iter().zip(&seen.run.models);
    let both = both.into_iter().find(|(readout, _)| readout.reader == Reader::Both);
    let (readout, run) = both.ok_or("No model on the page reads in both directions.")?;
    Ok(vec![
        ("V_forward", (&readout.forward).into()),
        ("V_backward", (&readout.backward).into()),
        ("c", (&readout.bias).into()),
        ("h_forward", (&run.forward).into()),
        ("h_backward", (&run.backward).into()),
        ("logits", (&run.logits).into()),
    ])
}
