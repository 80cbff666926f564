//! One block and the whole model as code, with the live model's numbers.

use unroll_protocol::{
    Architecture, Link, Packed, Question,
    architecture::{Activation, MaskKind, NormPlacement, Positions},
    gpt::{Pass, ask},
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&BLOCK, &WHOLE];

pub const BLOCK: Notebook = Notebook {
    code: include_str!("code/block.py"),
    title: "One block of your GPT",
    model: |_| 0,
    weights: |link| vec![format!("blocks.{}.", block(link))],
    asks: |link, sentence| match link.gpt.architecture {
        Architecture {
            positions:
                Positions::Learned | Positions::Sinusoidal | Positions::Integer | Positions::None,
            ..
        } => asks(link, sentence),
        _ => {
            Err("The notebook’s attention knows no positions. Choose learned ones in the settings.")
        }
    },
    page,
};

pub const WHOLE: Notebook = Notebook {
    code: include_str!("code/whole.py"),
    title: "Your whole GPT",
    model: |_| 0,
    weights: |_| vec![String::new()],
    asks: |link, sentence| match link.gpt.architecture.positions {
        Positions::Learned => asks(link, sentence),
        _ => Err("The notebook has GPT-2’s learned positions. Choose them in the settings."),
    },
    page,
};

/// The block of the layer on show, from 0.
fn block(link: &Link) -> u32 {
    link.gpt.layer.clamp(1, link.gpt.layers.max(1)) - 1
}

/// All that happens in the block on show.
fn asks(link: &Link, sentence: &str) -> Result<Question, &'static str> {
    let Architecture { mask, norm, residual, attention, scaled, feed_forward, .. } =
        link.gpt.architecture;
    let is_gpt_2 = mask == MaskKind::Causal
        && norm == NormPlacement::Pre
        && feed_forward == Some(Activation::Gelu);
    if !(is_gpt_2 && residual && attention && scaled) {
        return Err(
            "The notebook follows GPT-2: a causal mask, scaled scores, residual connections, norms \
             before the layers, GELU. Choose these in the settings.",
        );
    }
    Ok(ask::Pass { text: sentence.to_owned(), block: block(link) }.into())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let pass: Pass = answer.unpack().map_err(|error| error.to_string())?;
    let &[layers, heads, ..] = pass.weights.shape.as_slice() else {
        return Err("This model has no attention.".to_owned());
    };
    Ok(vec![
        ("tokens", (&pass.tokens).into()),
        ("ids", (&pass.ids).into()),
        ("vocabulary", (&pass.vocabulary).into()),
        ("layers", layers.into()),
        ("heads", heads.into()),
        ("block", pass.detail.block.into()),
        ("stream", (&pass.stream).into()),
        ("weights", (&pass.weights).into()),
        ("probabilities", (&pass.probabilities).into()),
    ])
}
