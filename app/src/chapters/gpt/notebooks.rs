//! One block and the whole model as code, with the live model's numbers.

use unroll_protocol::{
    Architecture, Ask, Link, Packed, Trace,
    architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    gpt::ask,
};

use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&BLOCK, &WHOLE];

pub const BLOCK: Notebook = Notebook {
    code: include_str!("code/block.py"),
    title: "The first block of your GPT",
    model: |_| 0,
    weights: |_| {
        ["token_embedding.", "position_embedding.", "blocks.0."].map(str::to_owned).to_vec()
    },
    asks,
    page,
};

pub const WHOLE: Notebook = Notebook {
    code: include_str!("code/whole.py"),
    title: "Your whole GPT",
    model: |_| 0,
    weights: |_| vec![String::new()],
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let Architecture {
        positions,
        mask,
        norm,
        norm_kind,
        residual,
        attention,
        scaled,
        feed_forward,
        ..
    } = link.gpt.architecture;
    let is_gpt_2 = positions == Positions::Learned
        && mask == MaskKind::Causal
        && norm == NormPlacement::Pre
        && norm_kind == NormKind::Layer
        && feed_forward == Some(Activation::Gelu);
    if !(is_gpt_2 && residual && attention && scaled) {
        return Err(
            "The notebook follows GPT-2: learned positions, a causal mask, scaled scores, residual \
             connections, LayerNorm before the layers, and GELU. Choose these in the settings.",
        );
    }
    Ok(ask::Trace { text: sentence.to_owned() }.packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let trace: Trace = answer.unpack().map_err(|error| error.to_string())?;
    let &[layers, heads, ..] = trace.weights.shape.as_slice() else {
        return Err("This model has no attention.".to_owned());
    };
    Ok(vec![
        ("tokens", (&trace.tokens).into()),
        ("ids", (&trace.places).into()),
        ("vocabulary", (&trace.vocabulary).into()),
        ("layers", layers.into()),
        ("heads", heads.into()),
        ("weights", (&trace.weights).into()),
        ("probabilities", (&trace.probabilities).into()),
    ])
}
