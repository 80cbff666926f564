//! The deep network with and without normalization.

use core::time::Duration;
use std::sync::Arc;

use leptos::{html, prelude::*};
use serde_json::json;
use unroll_protocol::study::norm::{
    Axis, Depth, Depths, Experiment, FEATURES, Layer, READS, Settings, Statistics, Version, ask,
};

use super::figure::{Arithmetic, CouplingFigure, amount, moved, remains, times, undone};
use super::{LOOKS, is_of};
use crate::{
    controls::{ChoiceField, FlagField, SliderField, use_timer},
    course::{Sentence, use_lab, use_provenance, use_setting},
    figures::{
        Bins, Dash, Histogram, HistogramFigure, Hue, Sheet, SheetExport, Slot, canvas::use_latest,
        exact, percent, use_visible,
    },
    questions::use_answer,
    reactive::{effect, memo},
    store::Store,
};

/// Milliseconds between two means while the sweep plays.
const SWEEP_PACE: u64 = 450;
/// What the settings ask about the learner's sentence.
pub fn question(settings: &Settings, text: String) -> ask::Layer {
    ask::Layer {
        text,
        axis: settings.axis,
        statistics: settings.statistics,
        layer: settings.layer,
        // A smaller batch has lost the pressed example.
        row: if settings.row > settings.batch { 0 } else { settings.row },
        factor: settings.factor,
    }
}

/// One layer's batch before and after its normalization.
pub fn one() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let answered = use_answer(lab, move || {
        let settings = store.link.with(|link| link.norm.clone());
        is_of(lab, Experiment::Layers).then(|| question(&settings, store.probe.get()))
    });
    let axis = use_setting(|link| &mut link.norm.axis);
    let undo = use_setting(|link| &mut link.norm.undo);
    let layer = memo(move || {
        let layer = answered.answer.get()?;
        Some(undone(&layer).filter(|_| undo.get()).map_or(layer, Arc::new))
    });
    let row = use_setting(|link| &mut link.norm.row);
    let pressed = memo(move || row.get() > 0);
    let example = use_setting(|link| &mut link.norm.example);
    let feature = use_setting(|link| &mut link.norm.feature);
    let sweep = use_setting(|link| &mut link.norm.sweep);
    let provenance = use_provenance();
    let place = Signal::derive(move || {
        let place =
            (example.get().checked_sub(1)? as usize, feature.get().checked_sub(1)? as usize);
        Some(place)
    });
    let close = Callback::new(move |()| {
        example.set(0);
        feature.set(0);
    });
    // The sentence and the figure are of one answer: what is drawn, at most once a frame and only in sight.
    let root = NodeRef::<html::Section>::new();
    let wanted = Signal::derive(move || (layer.get(), sweep.get(), undo.get()));
    let shown = use_latest(wanted, use_visible(root));
    let of_shown = move |of: fn(&Layer) -> Option<String>, undone: fn(&Layer) -> Option<String>| {
        Signal::derive(move || {
            let shown = shown.get();
            let (layer, _, undo) = &*shown;
            let layer = layer.as_deref()?;
            let say = if *undo && layer.result.is_ok() { undone } else { of };
            say(layer)
        })
    };
    let said = of_shown(verdict, undo_verdict);
    let most =
        of_shown(|l| others(l).map(|m| m.to_string()), |l| farthest(l).map(|m| m.to_string()));
    view! {
        <Sentence label="Your sentence, in pieces" problem=answered.problem/>
        <div class="view-bar norm-bar">
            <ChoiceField name="norm-axis"/>
            {move || (axis.get() == Axis::Batch).then(|| view! { <ChoiceField name="norm-statistics"/> })}
            <div class="view-bar-together">
                <SliderField name="norm-layer"/>
                // Once there is something to multiply.
                {move || pressed.get().then(|| view! { <SliderField name="norm-factor" step=0.5/> })}
                <FlagField name="norm-undo"/>
            </div>
        </div>
        <div class="view-fill norm-coupling">
            <CouplingFigure root shown said most row example feature provenance>
                <Sweep layer sweep/>
            </CouplingFigure>
            <Arithmetic layer place on_close=close/>
        </div>
    }
    .into_any()
}

/// Most that any row but the pressed one moved; `None` where none is pressed.
fn others(layer: &Layer) -> Option<f32> {
    let pressed = (layer.row as usize).checked_sub(1)?;
    let others = moved(layer).into_iter().enumerate().filter(|(row, _)| *row != pressed);
    layer.result.as_ref().ok()?;
    Some(others.map(|(_, moved)| moved).fold(0.0, f32::max))
}

/// What the press did, or why there is nothing to press for, in words.
fn verdict(layer: &Layer) -> Option<String> {
    if let Err(refused) = &layer.result {
        return Some(refused.clone());
    }
    let Some(pressed) = (layer.row as usize).checked_sub(1) else {
        return Some(format!(
            "A row is {READS} characters, and a column is one of the {FEATURES} units of layer {} in {}’s network. \
             Press a row to multiply it.",
            layer.layer,
            layer.axis.label()
        ));
    };
    let all = moved(layer);
    let own = all.get(pressed).copied().unwrap_or(0.0);
    let rest: Vec<f32> =
        all.iter().enumerate().filter(|(row, _)| *row != pressed).map(|(_, m)| *m).collect();
    let most = rest.iter().copied().fold(0.0, f32::max);
    let (factor, own, count) = (times(layer.factor), amount(own), rest.len());
    let begin = format!("Example {} {factor}: it moves by up to {own}. ", layer.row);
    let how = match (layer.axis, layer.statistics) {
        (Axis::Layer, _) => "Under LayerNorm",
        (Axis::Batch, Statistics::Batch) => "Under BatchNorm",
        (Axis::Batch, Statistics::Running) => "Under BatchNorm at inference",
    };
    let moving = rest.iter().filter(|m| **m > 0.0).count();
    let others = match (count, moving) {
        (0, _) => return Some(begin + "There are no others."),
        (1, 0) => "the other row moves by exactly 0".to_owned(),
        (1, _) => format!("the other row moves too, by {}", amount(most)),
        (_, 0) => format!("the other {count} rows move by exactly 0"),
        _ if moving == count => {
            format!("all {count} other rows move too, by up to {}", amount(most))
        }
        _ => format!("{moving} of the other {count} rows move too, by up to {}", amount(most)),
    };
    Some(format!("{begin}{how} {others}."))
}

/// Most that any output differs from what came in.
fn farthest(layer: &Layer) -> Option<f32> {
    remains(layer).into_iter().reduce(f32::max)
}

/// How well γ and β undo the normalization, in words.
fn undo_verdict(layer: &Layer) -> Option<String> {
    let most = amount(farthest(layer)?);
    let rows = layer.examples.len();
    Some(match layer.axis {
        Axis::Batch => format!(
            "γ = √(σ² + ε) and β = μ undo BatchNorm: y is x again. The largest difference is {most}, which is only \
             rounding."
        ),
        Axis::Layer if rows == 1 => {
            format!(
                "There is only one row, so β alone can hold it. The largest difference is {most}."
            )
        }
        Axis::Layer if rows == 2 => format!(
            "With only two rows, one γ and one β per feature can fit both. The largest difference is {most}."
        ),
        Axis::Layer => format!(
            "LayerNorm can’t be undone here: the closest fit is off by up to {most}. Each of the {rows} rows has its \
             own μ and σ, but all share γ and β."
        ),
    })
}

/// Takes one mean after the other.
#[component]
fn Sweep(#[prop(into)] layer: Signal<Option<Arc<Layer>>>, sweep: Slot<u32>) -> impl IntoView {
    let timer = use_timer();
    let playing = RwSignal::new(false);
    let all = memo(move || {
        layer.with(|layer| {
            let shape = layer.as_ref().map(|l| (l.axis, l.input.shape.clone()));
            shape.map_or(0, |(axis, shape)| if axis == Axis::Batch { shape[1] } else { shape[0] })
        })
    });
    // From "all" it begins anew; the last of them is "all" again.
    let step =
        move || sweep.update(|at| *at = if *at + 1 >= all.get_untracked() { 0 } else { *at + 1 });
    // While it plays, every mean that is taken starts the clock for the next.
    effect(move || {
        sweep.track();
        if playing.get() {
            timer.start(Duration::from_millis(SWEEP_PACE), move || {
                step();
                playing.set(sweep.get_untracked() != 0);
            });
        }
    });
    let toggle = move |_| {
        if playing.get_untracked() {
            timer.stop();
            playing.set(false);
        } else {
            step();
            playing.set(true);
        }
    };
    let stop = move || {
        timer.stop();
        playing.set(false);
    };
    view! {
        <div class="norm-sweep" role="group" aria-label="Sweep the mean over the matrix">
            <span class="hint" data-testid="norm-sweep-at">
                {move || match sweep.get() {
                    0 => "all means".to_owned(),
                    _ if all.get() == 0 => "…".to_owned(),
                    at => format!("mean {at} of {}", all.get()),
                }}
            </span>
            <button type="button" class="button" data-testid="norm-sweep-step"
                on:click=move |_| { stop(); step(); }>"Next mean"</button>
            <button type="button" class="button" data-testid="norm-sweep-play" on:click=toggle>
                {move || if playing.get() { "Pause" } else { "Sweep" }}
            </button>
            <button type="button" class="button" data-testid="norm-sweep-all"
                aria-disabled=move || (sweep.get() == 0).then_some("true")
                on:click=move |_| { stop(); sweep.set(0); }>"All"</button>
        </div>
    }
    .into_any()
}

/// The activations of every layer, without normalization and with it.
pub fn depth() -> AnyView {
    let lab = use_lab();
    let axis = use_setting(|link| &mut link.norm.axis);
    let provenance = use_provenance();
    let answered =
        use_answer(lab, move || is_of(lab, Experiment::Layers).then_some(ask::Depths {}));
    let depths = answered.answer;
    let version = move || match axis.get() {
        Axis::Batch => Version::Batch,
        Axis::Layer => Version::Layer,
    };
    let title = Signal::derive(move || {
        // As many at every step.
        let examples = depths.with(|depths| depths.as_ref().map_or(0, |d| d.examples));
        format!("{examples} examples, without normalization and with {}", version().label())
    });
    let histogram = Signal::derive(move || {
        depths.with(|depths| {
            depths.as_deref().map_or(Histogram::default(), |depths| histogram(depths, version()))
        })
    });
    let sheet = Callback::new(move |()| depths.with(|depths| depths.as_deref().map(stuck_sheet)));
    view! {
        <div class="view-bar"><ChoiceField name="norm-axis"/></div>
        <div class="norm-depth">
            <HistogramFigure name="norm-depth" title histogram provenance/>
            <section class="figure norm-summary" data-testid="figure-norm-stuck"
                data-state=move || if depths.with(Option::is_some) { "live" } else { "empty" }
                aria-label="Saturated activations">
                {move || depths.get().map(|depths| stuck_table(&depths))}
                <SheetExport name="norm-stuck" title="Saturated activations by layer" provenance sheet/>
            </section>
        </div>
    }
    .into_any()
}

/// Every layer without normalization and, below it, as this version has it: all on the same axes.
fn histogram(depths: &Depths, version: Version) -> Histogram {
    let of = |version: Version, hue: Hue| {
        let layers = Version::ALL.iter().zip(&depths.versions).find(|(v, _)| **v == version);
        let layers = layers.map_or(&[][..], |(_, layers)| layers);
        let name = if version == Version::Plain { "without" } else { "with" };
        let group = move |(index, depth): (usize, &Depth)| Bins {
            name: format!("layer {}, {name}", index + 1),
            hue,
            counts: depth.counts.iter().map(|c| f64::from(*c)).collect(),
            below: f64::from(depth.below),
            above: f64::from(depth.above),
        };
        layers.iter().enumerate().map(group)
    };
    let hue = if version == Version::Batch { Hue::Second } else { Hue::Third };
    let plain: Vec<Bins> = of(Version::Plain, Hue::First).collect();
    Histogram {
        x_label: "activation".into(),
        range: (f64::from(depths.range.0), f64::from(depths.range.1)),
        across: plain.len(),
        groups: plain.into_iter().chain(of(version, hue)).collect(),
    }
}

/// Per version and layer: how much hardly passes a gradient on.
fn stuck_table(depths: &Depths) -> AnyView {
    let layers = depths.versions.first().map_or(0, Vec::len);
    let row = |((layers, version), (hue, _)): ((&Vec<Depth>, &Version), (Hue, Dash))| {
        let cell = |(at, depth): (usize, &Depth)| {
            view! {
                <td data-testid=format!("norm-stuck-{}-{}", version.id(), at + 1)
                    data-value=depth.stuck.to_string()>
                    {percent(depth.stuck, 0)}
                </td>
            }
        };
        let cells = layers.iter().enumerate().map(cell).collect_view();
        let color = format!("color:{}", hue.css());
        view! { <tr><th scope="row" style=color>{version.label()}</th>{cells}</tr> }
    };
    let rows = depths.versions.iter().zip(Version::ALL).zip(LOOKS).map(row).collect_view();
    view! {
        <div class="figure-box" tabindex="0" role="region" aria-label="Saturated activations by layer">
            <table class="norm-table" data-testid="norm-stuck">
                <caption>
                    "Stuck: the share of activations that pass on little or no gradient (tanh: beyond ±0.97, ReLU: at \
                    0)."
                </caption>
                <thead>
                    <tr><th scope="col">"layer"</th>{(1..=layers).map(|layer| view! {
                        <th scope="col">{layer}</th>
                    }).collect_view()}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// A line for each layer of each version; `stuck` is a share of 1.
fn stuck_sheet(depths: &Depths) -> Sheet {
    let mut sheet = Sheet::new(&["version", "layer", "stuck", "deviation"]);
    for (version, layers) in Version::ALL.iter().zip(&depths.versions) {
        let line = |(at, depth): (usize, &Depth)| {
            vec![json!(version.id()), json!(at + 1), exact(depth.stuck), exact(depth.deviation)]
        };
        sheet.rows.extend(layers.iter().enumerate().map(line));
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_of_every_version_has_its_line() {
        let depth = |stuck: f32| Depth {
            counts: Vec::new(),
            below: 0.0,
            above: 0.0,
            deviation: 2.0 * stuck,
            stuck,
        };
        let versions = vec![
            vec![depth(0.123_456_7), depth(0.2)],
            vec![depth(0.3), depth(0.4)],
            vec![depth(0.05), depth(0.0)],
        ];
        let sheet = stuck_sheet(&Depths { examples: 4, range: (-1.0, 1.0), versions });
        assert_eq!(sheet.rows.len(), 6);
        let version = |at: usize| json!(Version::ALL[at].id());
        let first = vec![version(0), json!(1), json!(0.123_456_7), json!(0.246_913_4)];
        assert_eq!(sheet.rows[0], first);
        assert_eq!(sheet.rows[3], [version(1), json!(2), json!(0.4), json!(0.8)]);
        assert_eq!(sheet.rows[4], [version(2), json!(1), json!(0.05), json!(0.1)]);
    }
}
