//! What one feed-forward layer's neurons do with their sums.

use leptos::prelude::*;
use unroll_protocol::{
    architecture::Activation,
    study::block::{CONTEXT, CURVES, Neurons, Source, ask, grid},
};

use super::{Page, models};
use crate::{
    controls::Segments,
    course::{Sentence, use_setting},
    figures::{Dash, Hue, Line, Lines, LinesFigure, Stroke},
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
    // With SoLU another position makes another curve: one of the two is for comparison.
    let positions = memo(move || {
        let count = page.store.probe.with(|text| text.chars().count() as u32).clamp(1, CONTEXT);
        let here = match page.position.get() {
            0 => count,
            position => position.min(count),
        };
        (here, other(here, count))
    });
    let beside = use_answer(page.lab, move || {
        let compares = page.store.link.with(|link| link.block.activation == Activation::Solu);
        let (text, shown) = (page.store.probe.get(), page.shown.get());
        let (position, layer) = (positions.get().1, layer.get());
        compares.then_some(ask::Neurons { text, shown, position, layer })
    });
    let lines = memo(move || {
        neurons.with(|n| match n {
            Some(n) if n.activation == Activation::Solu => {
                let beside = beside.read(own);
                rivals(own(n), beside.unwrap_or_default(), positions.get())
            }
            Some(n) => lines(n),
            None => Lines::default(),
        })
    });
    let verdict = move || {
        neurons.with(|n| {
            let n = n.as_ref()?;
            // Of interest where both are drawn.
            let forms = (n.activation == Activation::GeluTanh).then(|| {
                let gap = |(a, b): (&f32, &f32)| (a - b).abs();
                n.curves[1].iter().zip(&n.curves[2]).map(gap).fold(0f32, f32::max)
            });
            let off = n.after.iter().filter(|after| after.abs() < 1e-3).count();
            Some(view! {
                <span data-testid="block-off" data-value=off.to_string()>
                    {format!("Silent at this position, with an output between −0.001 and 0.001: {off} of {} neurons. ", n.after.len())}
                </span>
                {forms.map(|forms| view! {
                    <span data-testid="block-forms" data-value=forms.to_string()>
                        {format!("GELU and its tanh form differ by at most {forms:.5} between −4 and 4.")}
                    </span>
                })}
            })
        })
    };
    let activation = memo(move || page.store.link.with(|link| link.block.activation));
    let title = Signal::derive(move || {
        format!("Neurons of feed-forward {}: {}", layer.get(), activation.get().label())
    });
    view! {
        <Sentence label="Your sentence" problem=Signal::stored(None::<String>)/>
        <div class="view-bar">{models(page)}{bends()}</div>
        <LinesFigure name="block-neurons" title lines provenance=page.provenance/>
        <p class="block-verdict" data-testid="block-neurons-verdict">{verdict}</p>
        <p class="field-error" role="status" data-testid="block-neurons-problem">
            {move || answered.problem.get()}
        </p>
    }
    .into_any()
}

/// The two bends that the story compares; the settings have more.
fn bends() -> AnyView {
    let activation = use_setting(|link| &mut link.block.activation);
    let choices =
        [Activation::Gelu, Activation::Relu].map(|bend| (bend, bend.id(), bend.label().into_any()));
    view! {
        <fieldset class="choice-field" data-testid="control-block-bend">
            <legend>"Bend"</legend>
            <Segments name="control-block-bend" choices=choices.into() chosen=move || activation.get()
                on_choose=move |bend| activation.set(bend)/>
        </fieldset>
    }
    .into_any()
}

/// How far apart two positions are that are compared: in the course’s own sentence a letter and a space.
const APART: u32 = 6;

/// The position that is compared with this one, of so many.
fn other(position: u32, count: u32) -> u32 {
    match position {
        _ if position > APART => position - APART,
        _ if position < count => count,
        _ => 1,
    }
}

/// What each neuron puts out, by the sum into it.
fn own(neurons: &Neurons) -> Vec<(f64, f64)> {
    let pairs = neurons.before.iter().zip(&neurons.after);
    let mut own: Vec<(f64, f64)> = pairs.map(|(x, y)| (f64::from(*x), f64::from(*y))).collect();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    own
}

/// The neurons on the curve of their activation function, beside the others.
fn lines(neurons: &Neurons) -> Lines {
    let own = own(neurons);
    let reach = reach(&own);
    let looks = [(Hue::Muted, Dash::Dashed), (Hue::Ink, Dash::Solid), (Hue::Third, Dash::Dashed)];
    let curves = CURVES.iter().zip(&neurons.curves).zip(looks);
    // Where the layer does not use it, the tanh form would be a second name for one line.
    let curves = curves.filter(|((curve, _), _)| {
        **curve != Activation::GeluTanh || neurons.activation == Activation::GeluTanh
    });
    let curves = curves.map(|((curve, values), (hue, dash))| {
        let points = grid().map(f64::from).zip(values.iter().map(|v| f64::from(*v)));
        let near = points.filter(|(x, _)| x.abs() <= reach);
        // Without points: each dot in the figure is a neuron.
        Line { stroke: Stroke::Smooth, ..Line::new(curve.label(), hue, dash, near.collect()) }
    });
    let count = own.len();
    let own = dots(format!("the {count} neurons"), Hue::First, own);
    Lines { series: curves.chain([own]).collect(), x_range: Some((-reach, reach)), ..axes() }
}

/// How far from 0 the axis of sums goes on both sides: as far as the neurons, rounded up to halves.
fn reach(own: &[(f64, f64)]) -> f64 {
    let most = own.iter().fold(0f64, |most, (x, _)| most.max(x.abs()));
    ((2.0 * most).ceil() / 2.0).max(0.5)
}

/// The neurons at two positions: where they compete, the same sum has two outputs.
fn rivals(
    here: Vec<(f64, f64)>,
    beside: Vec<(f64, f64)>,
    (position, neighbor): (u32, u32),
) -> Lines {
    let line = |position: u32, hue, points| dots(format!("position {position}"), hue, points);
    Lines {
        series: vec![line(position, Hue::First, here), line(neighbor, Hue::Second, beside)],
        ..axes()
    }
}

fn dots(name: String, hue: Hue, points: Vec<(f64, f64)>) -> Line {
    Line { stroke: Stroke::Points, ..Line::new(name, hue, Dash::Solid, points) }
}

fn axes() -> Lines {
    Lines {
        x_label: "incoming sum".into(),
        y_label: "what the neuron puts out".into(),
        ..Lines::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_holds_the_neurons() {
        assert_eq!(reach(&[(-0.7, 0.0), (0.9, 0.8)]), 1.0);
        assert_eq!(reach(&[(-1.2, 0.0), (0.9, 0.8)]), 1.5);
        assert_eq!(reach(&[]), 0.5);
    }
}
