//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::qkv::{Head, Models, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&ATTENTION];

pub const ATTENTION: Notebook = Notebook {
    code: include_str!("code/attention.py"),
    title: "The attention of one head, without a mask",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let settings = &link.qkv;
    if settings.spec(link.seed).models != Models::Text {
        return Err(
            "The notebook covers the model that reads your text. Open the first view to see it.",
        );
    }
    Ok(ask::Head {
        text: sentence.to_owned(),
        memory: settings.memory,
        // Masks come in the next chapter.
        causal: false,
        layer: settings.layer - 1,
        head: settings.head - 1,
        query: settings.query.saturating_sub(1),
    }
    .packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let head: Head = answer.unpack().map_err(|error| error.to_string())?;
    if head.tokens.is_empty() {
        return Err("There is nothing to read: write a sentence first.".to_owned());
    }
    Ok(vec![
        ("queries", (&head.queries).into()),
        ("keys", (&head.keys).into()),
        ("values", (&head.values).into()),
        ("tokens", (&head.tokens).into()),
        ("seen", (&head.memory_tokens).into()),
        ("weights", (&head.weights).into()),
        ("mix_of", head.row.query.into()),
        ("mix", (&head.row.mixed).into()),
    ])
}
