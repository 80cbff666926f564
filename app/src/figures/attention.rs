//! The attention figure: a sentence, where each token looks, in every head.

use std::sync::Arc;

use leptos::{context::Provider, html, prelude::*};
use unroll_protocol::{AttentionRow, Trace};

use super::{
    CellInspector,
    canvas::use_frame,
    download::{Choice, ExportMenu, LocalFile},
    editor::Editor,
    export::{Experiment, Provenance},
    head_grid::{HeadGrid, Job, Switches, heads_later},
    heatmap::{Heatmap, WeightScale, scale_of},
    next::{NextToken, TopKeys},
    readout::Readout,
    scale::ScaleBar,
    select::{Cell, Selection},
    sight::use_visible,
    since::{Since, short_name, use_since},
    slot::Slot,
    svg::escape,
    table::WeightTable,
    theme::{Colors, use_colors},
    tint,
    tokens::Tokens,
    view::HeadView,
    writers::Writers,
};
use crate::{
    fetched::{Fetch, View, fetched_later, part},
    reactive::{effect, memo},
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

/// The pinned cell, query and key counted from 0, in somebody else's hands.
#[derive(Clone, Copy)]
pub struct KeptCell {
    pub cell: Signal<Option<(usize, usize)>>,
    pub set: Callback<Option<(usize, usize)>>,
}

/// Attention of the traced sentence, live.
///
/// `layer` and `head` count from 1 and are written when the learner chooses a head; values beyond
/// the model's are read as its last. `planned` is the layers and heads of a model that has no trace
/// yet. `selection` is what is pointed at, where other figures of the sentence share it; `editor`
/// makes the row of tokens the place where the sentence is written.
#[component]
pub fn AttentionFigure(
    #[prop(into)] trace: Signal<Option<Arc<Trace>>>,
    layer: Slot<u32>,
    head: Slot<u32>,
    #[prop(into)] planned: Signal<Option<(u32, u32)>>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(optional)] selection: Option<Selection>,
    #[prop(optional)] editor: Option<Editor>,
    /// The cell that is pinned on the heatmap is worked out beside it.
    #[prop(optional)]
    inspection: Option<Inspection>,
    /// Heads that can be switched off.
    #[prop(optional)]
    switches: Option<Switches>,
    /// Where the pinned cell is kept, if outside of the figure.
    #[prop(optional)]
    keep: Option<KeptCell>,
    /// The token that is shown while none is chosen, if not the last.
    #[prop(into, optional)]
    rest: Signal<Option<usize>>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    // In one frame, so that a cell reads the same in both.
    let both = Signal::derive(move || (trace.get(), inspection.and_then(|of| of.row.get())));
    let shown = use_frame(both, use_visible(root));
    let view = memo(move || HeadView::new(shown.get().0?, layer.get(), head.get()));
    let inspection = inspection.map(|of| Inspection {
        row: Signal::derive(move || shown.with(|both| both.1.clone())),
        ..of
    });
    let size = memo(move || view.with(|v| v.as_ref().map_or(0, HeadView::size)));
    let selection = selection.unwrap_or_else(|| Selection::resting(size, rest));
    if let Some(kept) = keep {
        use_kept_cell(selection, kept);
    }
    let colors = use_colors();
    let (since, compared) = use_compared(view);
    let step = move || view.with(|v| Some(v.as_ref()?.trace().step.to_string()));
    let title = move || {
        view.with(|v| match v {
            Some(v) => format!("Layer {}, head {}", v.layer(), v.head()),
            None => "Attention".into(),
        })
    };
    let said = move || {
        let Cell { query, key } = selection.focus()?;
        compared.with(|v| since.describe(v.as_ref()?.index(), (query, key?)))
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
            <Tokens view selection colors editor />
            <div class="attention-body">
                <div class="attention-main">
                    <Heatmap view=compared selection colors />
                </div>
                <div class="attention-side">
                    <div class="attention-lists">
                        <NextToken view selection />
                        <TopKeys view selection />
                    </div>
                    {heads_later(HeadGrid { view: compared, planned, layer, head, switches, jobs: None, words: false })}
                    <WeightScale view=compared selection colors />
                    {inspection.map(|inspection| inspected(view, selection, inspection, provenance))}
                </div>
            </div>
            <div class="attention-line">
                <h3>
                    {title} <span class="hint">{move || step().map(|step| after(provenance, &step))}</span>
                </h3>
                {readout_later(view, selection)}
            </div>
            <div class="figure-foot">
                <WeightTable view=compared selection />
                {since.button("attention", switched(switches), provenance, Signal::derive(said))}
                <ExportMenu figure="attention" choices=choices("", compared, provenance, colors) />
            </div>
        </section>
    }
}

/// All heads of `view` compared with what is held of them, and what to show: the view, or how far it is
/// from that. Whichever head is chosen, it is the same comparison.
fn use_compared(view: Memo<Option<HeadView>>) -> (Since, Memo<Option<HeadView>>) {
    let all = memo(move || view.with(|v| v.as_ref().map(|v| v.of(1, 1))));
    let since =
        use_since(move || all.with(|v| v.as_ref().map_or_else(Vec::new, HeadView::matrices)));
    let moved = memo(move || {
        let moved = since.all()?;
        all.with(|v| v.as_ref().map(|v| v.compared(&moved)))
    });
    let compared = memo(move || {
        let view = view.get()?;
        let moved =
            moved.with(|moved| moved.as_ref().map(|moved| moved.of(view.layer(), view.head())));
        Some(moved.unwrap_or(view))
    });
    (since, compared)
}

/// The heads that are off: what switching one changes is not what training changed.
fn switched(switches: Option<Switches>) -> Signal<String> {
    Signal::derive(move || switches.map_or(String::new(), |of| format!("{:?}", of.off.get())))
}

/// What is being read, as a sentence, once the first picture is there.
fn readout_later(view: Memo<Option<HeadView>>, selection: Selection) -> AnyView {
    const READOUT: Fetch = part!(readout: View = || {
        let (view, selection) = expect_context::<(Memo<Option<HeadView>>, Selection)>();
        view! { <Readout view selection/> }.into_any()
    });
    let readout = fetched_later(READOUT, "The sentence");
    view! { <Provider value=(view, selection)>{readout}</Provider> }.into_any()
}

/// Pins what is kept outside, and tells there what the learner pins.
fn use_kept_cell(selection: Selection, kept: KeptCell) {
    let outside = memo(move || kept.cell.get());
    effect(move || match outside.get() {
        Some((query, key)) => selection.pin(Cell { query, key: Some(key) }),
        // A pinned token is nobody's concern outside.
        None if untrack(|| selection.pinned()).is_some_and(|cell| cell.key.is_some()) => {
            selection.unpin();
        }
        None => {}
    });
    effect(move || {
        let pinned = selection.pinned().and_then(|cell| Some((cell.query, cell.key?)));
        // Before there are tokens, nothing can be pinned to them yet.
        if selection.size() > 0 && pinned != outside.get_untracked() {
            kept.set.run(pinned);
        }
    });
}

/// The pinned cell, worked out.
fn inspected(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    inspection: Inspection,
    provenance: Signal<Provenance>,
) -> AnyView {
    let Inspection { row, problem, want } = inspection;
    let cell = memo(move || {
        let Cell { query, key } = selection.pinned()?;
        Some((query, key?))
    });
    let wanted = memo(move || {
        let (query, _) = cell.get()?;
        view.with(|v| v.as_ref().map(|v| [v.layer() - 1, v.head() - 1, query as u32]))
    });
    effect(move || want.run(wanted.get()));
    on_cleanup(move || want.run(None));
    let shown = Signal::derive(move || cell.get().and_then(|_| row.get()));
    let key = Signal::derive(move || cell.get().map_or(0, |cell| cell.1));
    let go = Callback::new(move |(query, key)| selection.pin(Cell { query, key: Some(key) }));
    let close = Callback::new(move |()| selection.unpin());
    view! {
        <Show when=move || cell.get().is_some()>
            <div class="attention-inspector"><CellInspector row=shown key go close provenance/></div>
        </Show>
        <p class="field-error" role="alert" data-testid="inspector-problem">{move || problem.get()}</p>
    }
    .into_any()
}

/// What can be saved of one head, or of all; those for which `keep` is their beginning.
fn choices(
    keep: &str,
    view: Memo<Option<HeadView>>,
    provenance: Signal<Provenance>,
    colors: Memo<Colors>,
) -> Vec<Choice> {
    let choice = |id, label| Choice {
        id,
        label,
        make: Callback::new(move |writers: Writers| {
            let view = view.get_untracked()?;
            let (provenance, colors) = (provenance.get_untracked(), colors.get_untracked());
            let file = (writers.attention)(id, &view, &provenance, &colors)?;
            let (step, l, h) = (view.trace().step, view.layer(), view.head());
            let which =
                if id == "json-all" { "all-heads".into() } else { format!("layer{l}-head{h}") };
            Some((format!("unroll-attention-step{step}-{which}"), LocalFile::new(file)))
        }),
    };
    let all = [
        choice("json", "JSON, this head"),
        choice("json-all", "JSON, all heads"),
        choice("csv", "CSV"),
        choice("svg", "SVG"),
        choice("png", "PNG"),
    ];
    all.into_iter().filter(|choice| choice.id.starts_with(keep)).collect()
}

/// All heads of all layers, as large as there is room; a click chooses one.
#[component]
pub fn HeadsFigure(
    #[prop(into)] trace: Signal<Option<Arc<Trace>>>,
    layer: Slot<u32>,
    head: Slot<u32>,
    #[prop(into)] planned: Signal<Option<(u32, u32)>>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(optional)] switches: Option<Switches>,
    /// What stands under the pictures, layer by layer.
    #[prop(optional)]
    jobs: Option<Signal<Vec<Option<Job>>>>,
    /// The chosen head is wanted large.
    enlarge: Callback<()>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let shown = use_frame(trace, use_visible(root));
    let view = memo(move || HeadView::new(shown.get()?, layer.get(), head.get()));
    let colors = use_colors();
    let (since, compared) = use_compared(view);
    let (label, map) = scale_of(compared);
    let label = Signal::derive(move || label.with(|label| short_name(label).to_owned()));
    let chosen = move || {
        if since.is_on() {
            return compared.with(|v| {
                let v = v.as_ref()?;
                let change = since.describe(v.index(), v.most()?)?;
                // Which head it is, the picture shows.
                let change = change.split_once("query").map_or("", |(_, change)| change);
                Some(format!("Largest in this head: query{change}"))
            });
        }
        view.with(|v| {
            v.as_ref().map(|v| {
                let (layer, head, step) = (v.layer(), v.head(), v.trace().step.to_string());
                format!("Layer {layer}, head {head} is chosen{}.", after(provenance, &step))
            })
        })
    };
    view! {
        <section
            class="figure figure-heads"
            node_ref=root
            aria-label="All heads"
            data-testid="figure-heads"
            data-state=move || if view.with(Option::is_some) { "live" } else { "empty" }
            data-step=move || view.with(|v| Some(v.as_ref()?.trace().step.to_string()))
        >
            <div class="figure-box">
                {heads_later(HeadGrid { view: compared, planned, layer, head, switches, jobs, words: true })}
            </div>
            <p class="readout" translate="no" data-testid="heads-chosen">{chosen}</p>
            <div class="figure-foot">
                <ScaleBar short=true label map value=Signal::stored(None) colors/>
                <button type="button" class="figure-act" data-testid="heads-enlarge" on:click=move |_| enlarge.run(())>
                    "Show it large"
                </button>
                {since.button("heads", switched(switches), provenance, Signal::stored(None))}
                <ExportMenu figure="heads" choices=choices("json", compared, provenance, colors) />
            </div>
        </section>
    }
}

/// All heads in small, and what the model expects after the sentence: its inside, beside what it writes.
#[component]
pub fn InsideFigure(
    #[prop(into)] trace: Signal<Option<Arc<Trace>>>,
    layer: Slot<u32>,
    head: Slot<u32>,
    #[prop(into)] planned: Signal<Option<(u32, u32)>>,
    #[prop(into)] provenance: Signal<Provenance>,
    selection: Selection,
    /// The chosen head is wanted large.
    enlarge: Callback<()>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let shown = use_frame(trace, use_visible(root));
    let view = memo(move || HeadView::new(shown.get()?, layer.get(), head.get()));
    let colors = use_colors();
    // What heads that have learned nothing show, or what they read.
    let said = move || {
        let say = |view: &HeadView| {
            let trace = view.trace();
            if trace.step == 0 && is_even(trace) {
                return "Untrained: each head looks at all tokens so far about equally.".into();
            }
            let sentence = match tint::is_needed(&trace.vocabulary) {
                true => tint::markup(&tint::runs(&trace.tokens), str::to_owned),
                false => escape(&trace.tokens.concat()),
            };
            format!("Here it reads “<span translate=\"no\">{sentence}</span>”, not its own text.")
        };
        view.with(|view| view.as_ref().map(say))
    };
    let grid = HeadGrid { view, planned, layer, head, switches: None, jobs: None, words: false };
    let shape = memo(move || grid.shape());
    let style = move || {
        shape.get().map(|(layers, heads)| format!("--layers:{layers};--heads:{}", heads.max(1)))
    };
    view! {
        <section
            class="figure figure-inside"
            style=style
            node_ref=root
            aria-label="Where the model looks"
            data-testid="figure-inside"
            data-state=move || if view.with(Option::is_some) { "live" } else { "empty" }
            data-step=move || view.with(|v| Some(v.as_ref()?.trace().step.to_string()))
        >
            <h3>"Where the model looks"</h3>
            {heads_later(grid)}
            <p class="hint">
                "The model looks back with several heads at once. Each square is one head. Its rows are tokens that look, \
                 its columns the tokens looked at. A stronger color is a larger share."
            </p>
            <p inner_html=said></p>
            <NextToken view selection alone=true/>
            <div class="figure-foot">
                <button type="button" class="figure-act" data-testid="heads-enlarge" on:click=move |_| enlarge.run(())>
                    "Show the chosen head large"
                </button>
                <ExportMenu figure="inside" choices=choices("json", view, provenance, colors) />
            </div>
        </section>
    }
}

/// Whether in every head the last token gives none more than twice an even share.
fn is_even(trace: &Trace) -> bool {
    let length = trace.tokens.len().max(1);
    let last = trace.weights.values.chunks(length).skip(length - 1).step_by(length);
    last.flatten().all(|weight| *weight < 2.0 / length as f32)
}

/// When in its training a model is on show: nothing where others trained it.
fn after(provenance: Signal<Provenance>, step: &str) -> String {
    match provenance.with(|p| matches!(p.experiment, Some(Experiment::Given(_)))) {
        true => String::new(),
        false => format!(" after step {step}"),
    }
}

/// The sentence alone, each token to be chosen, beside figures of one token.
#[component]
pub fn SentenceFigure(
    #[prop(into)] trace: Signal<Option<Arc<Trace>>>,
    selection: Selection,
    editor: Editor,
) -> impl IntoView {
    let root = NodeRef::<html::Div>::new();
    let shown = use_frame(trace, use_visible(root));
    let view = memo(move || HeadView::new(shown.get()?, 1, 1));
    view! {
        <div class="figure-sentence" node_ref=root>
            <Tokens view selection colors=use_colors() editor=Some(editor) plain=true />
        </div>
    }
}
