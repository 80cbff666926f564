//! The views after the first: accuracy by gap, a weight's gradient taken apart, what each step adds to
//! it, clipping, memory.

use leptos::prelude::*;
use unroll_protocol::study::bptt::{Cell, Flow, Settings};

use super::{COPIES, Shown, WEIGHT, curves, terms::Terms};
use crate::{
    controls::{ChoiceField, SliderField, ViewSwitch, grouped},
    figures::{
        Dash, Hue, Line, Lines, LinesFigure, Matrix, MatrixFigure, ValueMap, YScale, short,
        superscript,
    },
    reactive::memo,
};

pub fn accuracy(shown: Shown) -> AnyView {
    let said = shown.read(|flow, _| curves::accuracy_said(flow));
    let bias = shown.forget_bias();
    let lines = memo(move || {
        let flow = shown.flow.get();
        curves::accuracy(flow.as_deref(), shown.settings.with(|settings| settings.gap))
    });
    view! {
        <div class="view-fill bptt-room">
            <LinesFigure
                name="bptt-accuracy"
                title=Signal::derive(move || format!("Accuracy by gap{}", bias.get()))
                lines
                provenance=shown.provenance
            />
            <p class="view-note" data-testid="bptt-accuracy-said">{said}</p>
        </div>
    }
    .into_any()
}

/// The gradient of U as a matrix to choose a weight from, and that weight's sum over the steps.
pub fn weight(shown: Shown) -> AnyView {
    let matrix = shown.read(|flow, _| {
        let of = &flow.weights;
        let units = of.whole.shape.first().copied().unwrap_or_default();
        let names: Vec<String> = (1..=units).map(|unit| unit.to_string()).collect();
        Matrix {
            row_axis: "from unit".into(),
            column_axis: "to unit".into(),
            rows: names.clone(),
            columns: names,
            values: of.whole.values.clone(),
            map: ValueMap::around(&of.whole.values),
            value_name: "gradient".into(),
            absent: String::new(),
        }
    });
    let chosen = |flow: &Flow| {
        (flow.weights.from.saturating_sub(1) as usize, flow.weights.to.saturating_sub(1) as usize)
    };
    let marked = shown.read(move |flow, _| vec![chosen(flow)]);
    let row = shown.read(move |flow, _| Some(chosen(flow).0));
    let column = shown.read(move |flow, _| Some(chosen(flow).1));
    let describe = Callback::new(|(from, to, value): (usize, usize, f32)| {
        format!("From unit {} to unit {}: {}", from + 1, to + 1, short(value.into()))
    });
    let pick = Callback::new(move |(from, to): (usize, usize)| {
        shown.store.link.update(|link| {
            link.bptt.from = from as u32 + 1;
            link.bptt.to = to as u32 + 1;
        });
    });
    let title = shown.read(|flow, _| {
        let block = if flow.weights.cell == Cell::Rnn { "U" } else { "U, candidate’s block" };
        format!("Gradient of the {}’s {block}", flow.weights.cell.label())
    });
    let missing = shown.read(|flow, settings: &Settings| {
        let units = flow.weights.whole.shape.first().copied().unwrap_or_default();
        let wanted = settings.from.max(settings.to);
        (wanted > units).then(|| {
            format!("There is no unit {wanted} in networks of {units}: the last one is shown.")
        })
    });
    let of_weight = shown.read(|flow, _| {
        let of = &flow.weights;
        format!("Weight from unit {} to unit {} of the {}", of.from, of.to, of.cell.label())
    });
    view! {
        <div class="view-fill bptt-room">
            <div class="view-bar bptt-bar">
                {switch()}
                <ChoiceField name="bptt-cell"/>
                <p class="view-note">
                    "The same U stands at every step, so its gradient is a sum over the steps. Choose a weight."
                </p>
            </div>
            <div class="view-split bptt-split">
                <MatrixFigure
                    name="bptt-weights"
                    title
                    matrix
                    provenance=shown.provenance
                    describe
                    marked
                    row
                    column
                    on_pick=pick
                />
                <LinesFigure
                    name="bptt-weight"
                    title=of_weight
                    lines=shown.read(|flow, _| gathered(flow))
                    provenance=shown.provenance
                />
            </div>
            <p class="field-error" role="status" data-testid="bptt-missing">{missing}</p>
            {terms(shown)}
        </div>
    }
    .into_any()
}

/// What each step adds to the gradient of the whole matrix.
pub fn copies(shown: Shown) -> AnyView {
    view! {
        <div class="view-fill bptt-room">
            <div class="view-bar bptt-bar">
                {switch()}
                <ChoiceField name="bptt-cell"/>
            </div>
            <LinesFigure
                name="bptt-copies"
                title="Length of what each step adds to the gradient of U".to_owned()
                lines=shown.read(|flow, _| norms(flow))
                provenance=shown.provenance
            />
            <p class="view-note">
                "The same U is used at every step, and its gradient is the sum of what the steps add. A step \
                 that adds next to nothing teaches U next to nothing."
            </p>
        </div>
    }
    .into_any()
}

/// Chooses between the two views of the weights' gradient.
fn switch() -> AnyView {
    const VIEWS: &[(&str, &str)] = &[(WEIGHT, "One weight"), (COPIES, "All of U")];
    view! { <ViewSwitch label="What the steps add to" views=VIEWS/> }.into_any()
}

/// Norms of what each step adds.
fn norms(flow: &Flow) -> Lines {
    let of = &flow.weights;
    let (hue, dash) = curves::look(of.cell);
    let points = (1..).map(f64::from).zip(of.norms.iter().map(|&norm| f64::from(norm))).collect();
    Lines {
        x_label: "step".into(),
        y_label: "length".into(),
        series: vec![Line::new(of.cell.label(), hue, dash, points)],
        y_scale: YScale::Log,
        ..Lines::default()
    }
}

/// The chosen weight's terms, and their sum gathered from the last step back.
fn gathered(flow: &Flow) -> Lines {
    let terms = &flow.weights.terms;
    let mut sum = 0.0;
    let sums = terms.iter().enumerate().rev().map(|(index, &term)| {
        sum += f64::from(term);
        ((index + 1) as f64, sum)
    });
    let mut sums: Vec<(f64, f64)> = sums.collect();
    sums.reverse();
    let each = (1..).map(f64::from).zip(terms.iter().map(|&term| f64::from(term))).collect();
    Lines {
        x_label: "step".into(),
        y_label: "gradient".into(),
        series: vec![
            Line::new("this step’s", Hue::Muted, Dash::Solid, each),
            Line::new("sum back to t", Hue::Gradient, Dash::Dashed, sums),
        ],
        ..Lines::default()
    }
}

/// The chosen weight's sum, in digits.
fn terms(shown: Shown) -> AnyView {
    let digits = shown.read(|flow, _| {
        let of = &flow.weights;
        let units = of.whole.shape.first().copied().unwrap_or_default();
        let index = (of.from.saturating_sub(1) * units + of.to.saturating_sub(1)) as usize;
        Some(Terms::new(&of.terms, of.whole.values.get(index).copied().unwrap_or_default()))
    });
    let table = move || {
        digits.get().map(|digits| {
            let terms = digits.shown().into_iter().map(|(step, term)| {
                view! { <li><span class="bptt-step">{step}</span><span class="bptt-term">{term}</span></li> }
            });
            let unit = superscript(digits.exponent);
            let together = match digits.together() {
                0 => String::new(),
                count => format!(", the first {count} together"),
            };
            let said = format!("Each step’s part, in units of 10{unit}{together}");
            view! {
                <p class="view-note">{said.clone()}</p>
                <ol class="bptt-terms" data-testid="bptt-terms" aria-label=said>{terms.collect_view()}</ol>
                <dl class="bptt-sums"
                    title="The last digits may differ: each part is rounded to those shown, and floats add up in \
                           another order.">
                    <div><dt>"Their sum, as shown"</dt><dd data-testid="bptt-sum">{digits.sum()}</dd></div>
                    <div>
                        <dt>"By backpropagation"</dt>
                        <dd data-testid="bptt-whole">{digits.whole()}</dd>
                    </div>
                </dl>
            }
        })
    };
    view! { <div class="bptt-parts">{table}</div> }.into_any()
}

/// Where clipping acts, as measured in training.
pub fn clipping(shown: Shown) -> AnyView {
    let cell = memo(move || shown.settings.with(|settings| settings.cell));
    let clip = memo(move || shown.settings.with(|settings| settings.clip));
    let lines = memo(move || {
        shown.lab.history.with(|history| curves::clipping(history, cell.get(), clip.get()))
    });
    let said = move || {
        lines.with(|lines| {
            let [before, after] = &lines.series[..] else { return None };
            let steps = before.points.iter().zip(&after.points);
            let steps: Vec<_> = steps.map(|(before, after)| (before.0, before.1, after.1)).collect();
            let &(step, before, after) = steps.last()?;
            let most = steps.iter().map(|step| step.1).fold(0.0, f64::max);
            let clipped = steps.iter().filter(|step| step.2 < step.1).count();
            let share = || format!("{} of the {} steps so far", grouped(clipped as u64), grouped(steps.len() as u64));
            let did = match clipped {
                _ if clip.get() == 0.0 => "Clipping is off: the update used all of it.".to_owned(),
                0 => format!(
                    "No step was clipped so far: the largest norm was {}. Train longer, or lower the clip norm.",
                    curves::power(most)
                ),
                _ if after < before => {
                    format!("It was clipped to {}, as were {}.", curves::power(after), share())
                }
                _ => format!(
                    "Being below the clip norm, it was left as it is. Clipped were {}.",
                    share()
                ),
            };
            Some(format!(
                "At step {step}, the norm over all weights of the {} was {}. {did}",
                cell.get().label(),
                curves::power(before),
            ))
        })
    };
    let title = Signal::derive(move || {
        format!("Norm of the {}’s whole gradient in training", cell.get().label())
    });
    view! {
        <div class="view-fill bptt-room">
            <div class="view-bar bptt-bar">
                <ChoiceField name="bptt-cell"/>
                <SliderField name="bptt-clip" step=0.05/>
            </div>
            <LinesFigure
                name="bptt-clipping"
                title
                lines
                provenance=shown.provenance
                hint="Press Train.".to_owned()
            />
            <p class="view-note">
                "Clipping acts on the sum over all weights, just before the update, not on the gradient by step. "
                <span data-testid="bptt-clipping-said">{said}</span>
            </p>
        </div>
    }
    .into_any()
}

/// What waits for the backward pass.
pub fn memory(shown: Shown) -> AnyView {
    view! {
        <div class="view-fill bptt-room">
            <div class="view-bar bptt-bar">
                <SliderField name="bptt-truncation"/>
            </div>
            <LinesFigure
                name="bptt-memory"
                title="Activations kept after each step of the forward pass".to_owned()
                lines=shown.read(|flow, settings| curves::memory(flow, settings.truncation))
                provenance=shown.provenance
            />
            <p class="view-note">
                "States and gates must be kept until the backward pass has used them. A cut frees those \
                 before it. "
                <span data-testid="bptt-memory-said">
                    {shown.read(|flow, settings| curves::memory_said(flow, settings.truncation))}
                </span>
            </p>
        </div>
    }
    .into_any()
}
