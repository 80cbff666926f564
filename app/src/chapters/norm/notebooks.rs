//! The chapter's code with the live model's numbers.

use unroll_protocol::{
    Ask, Link, Packed,
    study::norm::{Axis, Experiment, Layer, Statistics},
};

use super::layers::question;
use crate::course::{Notebook, Numbers};

#[cfg(test)]
pub const ALL: &[&Notebook] = &[&NORMALIZE];

pub const NORMALIZE: Notebook = Notebook {
    code: include_str!("code/normalize.py"),
    title: "One layer’s batch, normalized",
    model: |_| 0,
    weights: |_| Vec::new(),
    asks,
    page,
};

fn asks(link: &Link, sentence: &str) -> Result<Packed, &'static str> {
    let settings = &link.norm;
    if settings.experiment != Experiment::Layers {
        return Err("The notebook covers the deep network. Open the first view to see it.");
    }
    if settings.axis != Axis::Batch || settings.statistics != Statistics::Batch {
        return Err(
            "The notebook computes BatchNorm as in training. On the stage, choose “BatchNorm” and “In training.”",
        );
    }
    if settings.undo {
        return Err(
            "The notebook uses the learned γ and β. Turn off “Undo it with γ and β” first.",
        );
    }
    Ok(question(settings, sentence.to_owned()).packed())
}

fn page(answer: &Packed) -> Result<Numbers, String> {
    let layer: Layer = answer.unpack().map_err(|error| error.to_string())?;
    let normalized = layer.result?;
    Ok(vec![
        ("x", (&layer.input).into()),
        ("gamma", (&normalized.gamma).into()),
        ("beta", (&normalized.beta).into()),
        ("y", (&normalized.output).into()),
    ])
}
