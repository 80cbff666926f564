//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::bigram::{Sentence, Term, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&SOFTMAX];

pub const SOFTMAX: Notebook = Notebook {
    code: include_str!("code/softmax.py"),
    title: "How surprised the table is by your sentence",
    model: |_| 0,
    weights: |_| vec!["logits".to_owned()],
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    Ok(ask::Sentence { text: sentence.to_owned(), k: link.bigram.k }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let sentence: Sentence = answer.unpack().map_err(|error| error.to_string())?;
    if sentence.terms.is_empty() {
        return Err("Write a sentence of at least two characters first.".to_owned());
    }
    let ids = |id: fn(&Term) -> u32| sentence.terms.iter().map(id).collect::<Vec<u32>>();
    Ok(vec![
        ("before", (&ids(|term| term.previous)).into()),
        ("after", (&ids(|term| term.next)).into()),
        ("surprise", sentence.trained.into()),
    ])
}
