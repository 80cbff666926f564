//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, AttentionRow, Link, Packed, study::alignment::ask, transduction::AttentionKind,
};

use super::source;

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&CONTEXT];

pub const CONTEXT: Notebook = Notebook {
    code: include_str!("code/context.py"),
    title: "The context for the first character",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let settings = &link.alignment;
    let kinds = settings.spec(link.seed).kinds();
    let model = kinds.iter().position(|kind| *kind != AttentionKind::None);
    let model = model
        .ok_or("No model on the page has attention. Choose a kind of attention in the settings.")?
        as u32;
    let source = source(settings, || sentence.to_owned());
    Ok(ask::Row { source, model, at: 0 }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let row: AttentionRow = answer.unpack().map_err(|error| error.to_string())?;
    Ok(vec![
        ("source", (&row.tokens).into()),
        ("scores", (&row.scores).into()),
        ("states", (&row.values).into()),
        ("weights", (&row.weights).into()),
        ("context", (&row.mixed).into()),
    ])
}
