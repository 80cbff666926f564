//! The attention figure: a sentence, where each token looks, in every head.

use std::sync::Arc;

use leptos::{html, prelude::*};
use unroll_protocol::{AttentionRow, Trace};

use super::{
    CellInspector,
    canvas::{use_frame, use_visible},
    download::{Choice, ExportMenu, File, LocalFile},
    export::{Provenance, attention_csv, attention_json, attention_json_all},
    head_grid::HeadGrid,
    heatmap::Heatmap,
    heatmap_svg::attention_svg,
    next::{NextToken, TopKeys},
    readout::Readout,
    select::{Cell, Selection},
    table::WeightTable,
    theme::{Colors, use_colors},
    tokens::Tokens,
    view::HeadView,
};

/// Where a figure has the rows worked out that it wants to show number by number.
#[derive(Clone, Copy)]
pub struct Inspection {
    /// The row that was wanted last, of the model as it is.
    pub row: Signal<Option<Arc<AttentionRow>>>,
    /// Why there is none, as a sentence.
    pub problem: Signal<Option<String>>,
    /// Wants a row: layer, head, query, counted from 0; `None` when no row is on show any more.
    pub want: Callback<Option<[u32; 3]>>,
}

/// Attention of the traced sentence, live.
///
/// `layer` and `head` count from 1 and are written when the learner chooses a head; values beyond
/// the model's are read as its last. `planned` is the layers and heads of a model that has no trace
/// yet. `compact` leaves out what explains and exports, for embedding.
#[component]
pub fn AttentionFigure(
    #[prop(into)] trace: Signal<Option<Arc<Trace>>>,
    layer: RwSignal<u32>,
    head: RwSignal<u32>,
    #[prop(into)] planned: Signal<Option<(u32, u32)>>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(into, default = Signal::stored(false))] compact: Signal<bool>,
    /// The cell that is pinned on the heatmap is worked out below it.
    #[prop(optional)]
    inspection: Option<Inspection>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let shown = use_frame(trace, use_visible(root));
    let view = Memo::new(move |_| HeadView::new(shown.get()?, layer.get(), head.get()));
    let size = Memo::new(move |_| view.with(|v| v.as_ref().map_or(0, HeadView::size)));
    let selection = Selection::new(size);
    let colors = use_colors();
    // The model's shape is known before its first trace: the heads' room is kept free from then on.
    let shape = Memo::new(move |_| {
        view.with(|v| v.as_ref().map(|v| (v.layers(), v.heads()))).or_else(|| planned.get())
    });
    let step = move || view.with(|v| Some(v.as_ref()?.trace().step.to_string()));
    let title = move || {
        view.with(|v| match v {
            Some(v) => format!("Layer {}, head {}", v.layer(), v.head()),
            None => "Attention".into(),
        })
    };
    view! {
        <section
            class="figure figure-attention"
            node_ref=root
            aria-label="Attention"
            data-testid="figure-attention"
            data-state=move || if view.with(Option::is_some) { "live" } else { "empty" }
            data-step=step
        >
            <Tokens view selection colors />
            <Readout view selection />
            <div class="attention-body">
                <div class="attention-main">
                    <h3>
                        {title}
                        <span class="hint">
                            {move || step().map(|step| format!(" after step {step}"))}
                        </span>
                    </h3>
                    <Heatmap view selection colors />
                </div>
                <div class="attention-side">
                    <Show when=move || !compact.get()>
                        <div class="attention-lists">
                            <TopKeys view selection />
                            <NextToken view selection />
                        </div>
                    </Show>
                    <section class="panel">
                        <h3>"All heads"</h3>
                        <HeadGrid view shape layer head colors />
                    </section>
                </div>
            </div>
            {inspection.map(|inspection| inspected(view, selection, inspection, provenance))}
            <Show when=move || !compact.get()>
                <div class="figure-foot">
                    <WeightTable view selection />
                    <ExportMenu figure="attention" choices=choices(view, provenance, colors) />
                </div>
            </Show>
        </section>
    }
}

/// The pinned cell, worked out.
fn inspected(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    inspection: Inspection,
    provenance: Signal<Provenance>,
) -> AnyView {
    let Inspection { row, problem, want } = inspection;
    let cell = Memo::new(move |_| {
        let Cell { query, key } = selection.pinned()?;
        Some((query, key?))
    });
    let wanted = Memo::new(move |_| {
        let (query, _) = cell.get()?;
        view.with(|v| v.as_ref().map(|v| [v.layer() - 1, v.head() - 1, query as u32]))
    });
    Effect::new(move |_| want.run(wanted.get()));
    on_cleanup(move || want.run(None));
    let shown = Signal::derive(move || cell.get().and_then(|_| row.get()));
    let key = Signal::derive(move || cell.get().map_or(0, |cell| cell.1));
    let go = Callback::new(move |(query, key)| selection.pin(Cell { query, key: Some(key) }));
    let close = Callback::new(move |()| selection.unpin());
    view! {
        <CellInspector row=shown key go close provenance/>
        <p class="field-error" role="alert" data-testid="inspector-problem">{move || problem.get()}</p>
    }
    .into_any()
}

fn choices(
    view: Memo<Option<HeadView>>,
    provenance: Signal<Provenance>,
    colors: Memo<Colors>,
) -> Vec<Choice> {
    let choice = |id, label, make: fn(&HeadView, &Provenance, &Colors) -> Option<File>| Choice {
        id,
        label,
        make: Callback::new(move |()| {
            let view = view.get_untracked()?;
            let (provenance, colors) = (provenance.get_untracked(), colors.get_untracked());
            let file = make(&view, &provenance, &colors)?;
            let (step, l, h) = (view.trace().step, view.layer(), view.head());
            let which =
                if id == "json-all" { "all-heads".into() } else { format!("layer{l}-head{h}") };
            Some((format!("unroll-attention-step{step}-{which}"), LocalFile::new(file)))
        }),
    };
    vec![
        choice("json", "JSON, this head", |v, p, _| {
            attention_json(v.trace(), v.layer(), v.head(), p).map(File::Json)
        }),
        choice("json-all", "JSON, all heads", |v, p, _| {
            Some(File::JsonPieces(Box::new(attention_json_all(v.trace(), p))))
        }),
        choice("csv", "CSV", |v, p, _| Some(File::Csv(attention_csv(v, p)))),
        choice("svg", "SVG", |v, _, c| Some(File::Svg(attention_svg(v, c)))),
        choice("png", "PNG", |v, _, c| Some(File::Png(attention_svg(v, c)))),
    ]
}
