//! The loss figure: how training goes, step by step.

use leptos::{ev, html, prelude::*};
use plotters::drawing::IntoDrawingArea;
use plotters_canvas::CanvasBackend;

use super::{
    canvas::{prepare, use_frame, use_size},
    curve::Curve,
    download::{Choice, ExportMenu, LocalFile},
    export::Provenance,
    loss_plot::{self, Plot, last_step_shown},
    sight::use_visible,
    theme::{Colors, use_colors},
    writers::Writers,
};

/// Training and held-out loss in nats per token over steps, with the loss of knowing nothing.
///
/// `vocabulary` is V, 0 while unknown. The axes are there before training begins.
#[component]
pub fn LossFigure(
    #[prop(into)] curve: Signal<Curve>,
    #[prop(into)] vocabulary: Signal<usize>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(canvas);
    let colors = use_colors();
    // The curve itself is never copied: what goes through `use_frame` is a count of its changes.
    let changes = Memo::new(move |n: Option<&u64>| {
        curve.track();
        n.map_or(0, |n| n + 1)
    });
    let frame = use_frame(Signal::<u64>::from(changes), use_visible(root));
    let last = Memo::new(move |_| {
        frame.track();
        curve.with_untracked(Curve::last_step)
    });
    // The step that is read; the last one while nobody points.
    let pointed = RwSignal::new(None::<u32>);
    let step = Memo::new(move |_| pointed.get().map_or(last.get(), |step| step.min(last.get())));

    Effect::new(move |_| {
        frame.track();
        let (Some(canvas), size) = (canvas.get(), size.get()) else { return };
        if prepare(&canvas, size).is_none() {
            return;
        }
        let Some(backend) = CanvasBackend::with_canvas_object(canvas) else { return };
        curve.with_untracked(|curve| {
            let plot = Plot {
                curve,
                vocabulary: vocabulary.get(),
                palette: colors.get().palette,
                scale: size.scale,
                text_scale: 1.0,
            };
            // What a canvas refuses to draw (it lost its context) comes with the next redraw.
            let _ = loss_plot::draw(&backend.into_drawing_area(), &plot);
        });
    });

    let step_at = move |x: f64| {
        let width = size.get_untracked().width - loss_plot::LEFT - loss_plot::RIGHT;
        let share = ((x - loss_plot::LEFT) / width.max(1.0)).clamp(0.0, 1.0);
        let end = last_step_shown(last.get_untracked());
        let step = (share * f64::from(end)).round() as u32;
        curve.with_untracked(|c| Some(c.points()[c.nearest(step)?].step))
    };
    let on_point = move |e: ev::PointerEvent| pointed.set(step_at(f64::from(e.offset_x())));
    let on_leave = move |e: ev::PointerEvent| {
        if e.pointer_type() != "touch" {
            pointed.set(None);
        }
    };
    let on_key = move |e: ev::KeyboardEvent| {
        let (at, last) = (step.get_untracked(), last.get_untracked());
        let page = (last / 20).max(1);
        let to = match e.key().as_str() {
            "ArrowLeft" | "ArrowDown" => at.saturating_sub(1),
            "ArrowRight" | "ArrowUp" => at + 1,
            "PageDown" => at.saturating_sub(page),
            "PageUp" => at + page,
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        e.prevent_default();
        pointed.set(curve.with_untracked(|c| Some(c.points()[c.nearest(to)?].step)));
    };
    let cursor = move || {
        let size = size.get();
        let share = f64::from(step.get()) / f64::from(last_step_shown(last.get()));
        let left = loss_plot::LEFT + share * (size.width - loss_plot::LEFT - loss_plot::RIGHT);
        let (top, bottom) = (loss_plot::TOP, loss_plot::BOTTOM);
        format!("left:{left}px;top:{top}px;bottom:{bottom}px")
    };
    let text = move || {
        frame.track();
        let step = step.get();
        curve.with_untracked(|c| reading(c, step))
    };
    view! {
        <section
            class="figure figure-loss"
            node_ref=root
            aria-label="Loss"
            data-testid="figure-loss"
            data-state=move || if last.get() == 0 { "empty" } else { "live" }
            data-step=move || last.get().to_string()
        >
            <div
                class="loss-box"
                tabindex="0"
                role="slider"
                aria-label="Step to read the loss at"
                aria-valuemin="0"
                aria-valuemax=move || last.get().to_string()
                aria-valuenow=move || step.get().to_string()
                aria-valuetext=text
                on:pointermove=on_point
                on:pointerdown=on_point
                on:pointerleave=on_leave
                on:blur=move |_| pointed.set(None)
                on:keydown=on_key
            >
                <canvas node_ref=canvas aria-hidden="true"></canvas>
                <Show when=move || pointed.get().is_some()>
                    <div class="loss-cursor" style=cursor></div>
                </Show>
                <Show when=move || last.get() == 0>
                    <p class="loss-hint hint">"Press Train: the loss falls as the model learns."</p>
                </Show>
            </div>
            <p class="readout" data-testid="loss-readout">{text}</p>
            <div class="figure-foot">
                <ExportMenu
                    figure="loss"
                    choices=choices(curve, vocabulary, provenance, colors)
                />
            </div>
        </section>
    }
}

/// What the curve says at `step`.
fn reading(curve: &Curve, step: u32) -> String {
    let Some(at) = curve.nearest(step) else { return "step 0".into() };
    let point = curve.points()[at];
    let mut text = format!("step {}: train {:.4}", point.step, point.loss);
    if let Some(smoothed) = curve.smoothed(at) {
        text += &format!(" (smoothed {smoothed:.4})");
    }
    match curve.held_out_before(point.step) {
        Some((step, loss)) if step == point.step => text += &format!(", held-out {loss:.4}"),
        Some((step, loss)) => text += &format!(", held-out {loss:.4} (step {step})"),
        None => {}
    }
    text
}

fn choices(
    curve: Signal<Curve>,
    vocabulary: Signal<usize>,
    provenance: Signal<Provenance>,
    colors: Memo<Colors>,
) -> Vec<Choice> {
    let choice = |id, label| Choice {
        id,
        label,
        make: Callback::new(move |writers: Writers| {
            let (provenance, colors) = (provenance.get_untracked(), colors.get_untracked());
            curve.with_untracked(|curve| {
                let vocabulary = vocabulary.get_untracked();
                let file = (writers.loss)(id, curve, vocabulary, &provenance, &colors)?;
                let name = format!("unroll-loss-step{}", curve.last_step());
                Some((name, LocalFile::new(file)))
            })
        }),
    };
    vec![choice("json", "JSON"), choice("csv", "CSV"), choice("svg", "SVG"), choice("png", "PNG")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::falling;

    #[test]
    fn reads_exact_values() {
        let text = reading(&falling(25), 23);
        assert!(text.starts_with("step 23: train 3.3750 (smoothed 3."), "{text}");
        assert!(text.ends_with("held-out 3.5099 (step 20)"), "{text}");
        assert_eq!(reading(&Curve::default(), 0), "step 0");
    }
}
