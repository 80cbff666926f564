//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::heads::{Seen, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&JOINED];

pub const JOINED: Notebook = Notebook {
    code: include_str!("code/joined.py"),
    title: "What each head of layer 1 writes",
    model: |_| 0,
    weights: |_| vec!["token_embedding.".to_owned(), "blocks.0.attention".to_owned()],
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    if !link.many_heads.off.is_empty() {
        return Err("The notebook uses all heads. Switch them all on first.");
    }
    Ok(ask::Seen { text: sentence.to_owned(), off: Vec::new(), row: None }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let seen: Seen = answer.unpack().map_err(|error| error.to_string())?;
    let trace = &seen.trace;
    if trace.tokens.is_empty() {
        return Err("There is nothing to read: write a sentence first.".to_owned());
    }
    // What the model does not know is its token 0.
    let id = |token: &String| trace.vocabulary.iter().position(|known| known == token).unwrap_or(0);
    let ids: Vec<u32> = trace.tokens.iter().map(|token| id(token) as u32).collect();
    Ok(vec![
        ("ids", (&ids).into()),
        ("weights", (&trace.weights).into()),
        ("written", (&seen.written).into()),
    ])
}
