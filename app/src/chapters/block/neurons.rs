//! What one feed-forward layer's neurons do with their sums.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Activation,
    study::block::{CURVES, Neurons, Source, ask, grid},
};

use super::Page;
use crate::{
    controls::ChoiceField,
    course::Sentence,
    figures::{Dash, Hue, Line, Lines, LinesFigure},
    questions::use_answer,
    reactive::memo,
};

pub fn view(page: Page) -> AnyView {
    // Of the block whose term is open, or of the first.
    let layer = memo(move || {
        let index = (page.term.get() as usize).checked_sub(1);
        page.stream.with(|s| match s.as_ref().and_then(|s| s.sources.get(index?)) {
            Some(Source::Attention(block) | Source::FeedForward(block)) => *block,
            _ => 1,
        })
    });
    let answered = use_answer(page.lab, move || {
        let (text, shown) = (page.store.probe.get(), page.shown.get());
        let (position, layer) = (page.position.get(), layer.get());
        Some(ask::Neurons { text, shown, position, layer })
    });
    let neurons = memo(move || answered.read(Clone::clone));
    let lines = memo(move || neurons.with(|n| n.as_ref().map_or_else(Lines::default, lines)));
    let verdict = move || {
        neurons.with(|n| {
            let n = n.as_ref()?;
            let gap = |(a, b): (&f32, &f32)| (a - b).abs();
            let forms = n.curves[1].iter().zip(&n.curves[2]).map(gap).fold(0f32, f32::max);
            let off = n.after.iter().filter(|after| after.abs() < 1e-3).count();
            Some(view! {
                <span data-testid="block-off" data-value=off.to_string()>
                    {format!("{off} of {} neurons put out nearly nothing here (less than 0.001). ", n.after.len())}
                </span>
                <span data-testid="block-forms" data-value=forms.to_string()>
                    {format!("GELU and its tanh form differ by at most {forms:.5} between −4 and 4.")}
                </span>
            })
        })
    };
    let title = Signal::derive(move || {
        format!(
            "Neurons of the feed-forward layer of block {}, at the chosen position",
            layer.get()
        )
    });
    view! {
        <Sentence label="Your sentence" problem=Signal::stored(None::<String>)/>
        <div class="view-bar"><ChoiceField name="block-shown"/></div>
        <LinesFigure name="block-neurons" title lines provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-neurons-verdict">{verdict}</p>
        <p class="field-error" role="status" data-testid="block-neurons-problem">
            {move || answered.problem.get()}
        </p>
    }
    .into_any()
}

fn lines(neurons: &Neurons) -> Lines {
    let mut own: Vec<(f64, f64)> = neurons
        .before
        .iter()
        .zip(&neurons.after)
        .map(|(before, after)| (f64::from(*before), f64::from(*after)))
        .collect();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bounds = own.first().zip(own.last()).map_or((-1.0, 1.0), |(first, last)| {
        ((first.0.min(-1.0) * 2.0).floor() / 2.0, (last.0.max(1.0) * 2.0).ceil() / 2.0)
    });
    let looks = [(Hue::Muted, Dash::Dotted), (Hue::Ink, Dash::Solid), (Hue::Third, Dash::Dashed)];
    let curves =
        CURVES.iter().zip(&neurons.curves).zip(looks).map(|((curve, values), (hue, dash))| {
            let points = grid().map(f64::from).zip(values.iter().map(|v| f64::from(*v)));
            Line::new(
                curve.label(),
                hue,
                dash,
                points.filter(|(x, _)| (bounds.0..=bounds.1).contains(x)).collect(),
            )
        });
    let name = match neurons.activation {
        Activation::Solu => "the layer’s own (SoLU)".to_owned(),
        other => format!("the layer’s own ({})", other.label()),
    };
    let own = Line::new(name, Hue::First, Dash::Mixed, own);
    Lines {
        x_label: "sum into the neuron".into(),
        y_label: "what it puts out".into(),
        series: curves.chain([own]).collect(),
        x_range: Some(bounds),
        ..Lines::default()
    }
}
