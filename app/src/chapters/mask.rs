//! `mask`: who may look at whom.

mod averages;
mod check;
mod editor;
mod leak;
mod notebooks;
mod trained;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    gpt::likeliest,
    link::Chapter,
    study::mask::{CONTEXT, Change, Combine, Drawn, Preset, SERIES, Seen, Settings, Trained, ask},
};

use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{ChapterFrame, Sentence, StageView, further, use_lab, use_provenance},
    figures::{
        Bar, BarsFigure, CellInspector, Hue, Matrix, MatrixFigure, Provenance, ValueMap, percent,
        power_of_ten,
        token::{mark, name_at, spoken},
    },
    pointer::worded,
    questions::{Answered, use_answer},
    reactive::{effect, memo},
    store::Store,
    teaching::{Live, live},
};
use editor::{MaskEditor, Sheet};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Mask,
    warm_steps: 120,
    curves: 2,
    uses_text: true,
    view: || view! { <MaskChapter/> }.into_any(),
};

/// Next tokens shown.
const LIKELIEST: usize = 6;

/// What the parts of a view of the sentence under the mask share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    settings: Memo<Settings>,
    /// What the model on show makes of the sentence under the last mask that it took.
    seen: Signal<Option<Arc<Seen>>>,
    /// Why there is no picture of what is asked for, and where there is one.
    answered: Answered<Seen>,
    provenance: Signal<Provenance>,
}

/// Asks while the view that calls it is on show.
fn use_page() -> Page {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let settings = use_settings(store);
    let answered = use_answer(lab, move || {
        let look = settings.with(|settings| question(settings, store.probe.get()));
        Some(look)
    });
    Page { store, settings, seen: answered.answer, answered, provenance: use_provenance() }
}

fn use_settings(store: Store) -> Memo<Settings> {
    memo(move || store.link.with(|link| link.mask.clone()))
}

impl Page {
    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.mask));
    }

    /// A signal of something computed from what is seen.
    fn derive<T: Clone + Default + PartialEq + Send + Sync + 'static>(
        self,
        of: fn(&Seen) -> T,
    ) -> Memo<T> {
        memo(move || self.seen.with(|seen| seen.as_deref().map(of).unwrap_or_default()))
    }

    /// The same, of something that depends on `whether` as well.
    fn derive_with<T: Clone + Default + PartialEq + Send + Sync + 'static>(
        self,
        whether: Memo<bool>,
        of: fn(&Seen, bool) -> T,
    ) -> Memo<T> {
        memo(move || {
            let whether = whether.get();
            self.seen.with(|seen| seen.as_deref().map(|seen| of(seen, whether)).unwrap_or_default())
        })
    }

    /// Why the last question was refused: for want of a sentence, or for what else.
    fn problem(self, of_text: bool) -> Signal<Option<String>> {
        let no_text = memo(move || self.store.probe.with(String::is_empty));
        Signal::derive(move || self.answered.problem.get().filter(|_| no_text.get() == of_text))
    }
}

/// What the settings ask about `text`.
fn question(settings: &Settings, text: String) -> ask::Look {
    ask::Look {
        text,
        pattern: settings.pattern,
        drawn: settings.drawn.clone(),
        model: settings.model,
        layer: settings.layer.saturating_sub(1),
        head: settings.head.saturating_sub(1),
        row: settings.row.checked_sub(1),
        change: settings.change.checked_sub(1).map(|position| Change {
            position,
            letter: char::from_u32(settings.letter).filter(|letter| *letter != '\0'),
        }),
    }
}

#[component]
fn MaskChapter() -> impl IntoView {
    let settings = use_settings(expect_context::<Store>());
    let strong = RwSignal::new(String::new());
    let model = Signal::derive(move || {
        let (model, layer, head) = settings.with(|s| (s.model, s.layer, s.head));
        format!("{}, layer {layer}, head {head}", model.label())
    });
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(settings, strong)
            asks=vec![
                ("mask", ViewFn::from(|| view! { <check::Check/> })),
                ("mask-peek", ViewFn::from(check::peek)),
            ]
            more=words::more
            views=vec![
                StageView::new("mask", "The mask", move || view! { <Figure page=use_page() strong/> }),
                StageView::new("averages", "Averages", || averages::view(use_page())),
                StageView::new("leak", "Leak test", || leak::view(use_page())),
                StageView::new("trained", "Two models", trained::view),
            ]
            settings=move || view! { <Controls settings/> }
            model
        />
    }
}

/// What the text reads off the settings and the two models.
fn lives(settings: Memo<Settings>, strong: RwSignal<String>) -> Vec<Live> {
    let lab = use_lab();
    let number = |at: u32| if at == 0 { "…".to_owned() } else { at.to_string() };
    let loss = move |of: usize| {
        let last = memo(move || {
            lab.history.with(|history| history.named(SERIES[of]).and_then(|series| series.last()))
        });
        move || last.get().map_or_else(|| "…".to_owned(), |loss| format!("{loss:.2}"))
    };
    vec![
        live("row", move || number(settings.with(|s| s.row))),
        live("change", move || number(settings.with(|s| s.change))),
        live("strong", move || match strong.get() {
            at if at.is_empty() => "a strong cell".to_owned(),
            at => format!("a strong cell, such as {at}"),
        }),
        live("causal", loss(0)),
        live("unmasked", loss(1)),
    ]
}

/// Tokens that a row must see for one of its cells to be called strong.
const SEVERAL: usize = 4;

/// The strongest cell of the rows that see several tokens. The one from `before` stays while it is nearly as
/// strong, or once it is blocked: the story has named it.
fn strongest(seen: &Seen, before: Option<(usize, usize)>) -> Option<(usize, usize)> {
    let length = seen.tokens.len().max(1);
    let weight = |at: usize| seen.weights.values.get(at).copied().unwrap_or(0.0);
    let sees_several = |row: &[bool]| row.iter().filter(|open| **open).count() >= SEVERAL;
    let rows = seen.allowed.chunks(length).enumerate().filter(|(_, row)| sees_several(row));
    let cells = rows.flat_map(|(query, _)| query * length..(query + 1) * length);
    let most = cells.max_by(|a, b| weight(*a).total_cmp(&weight(*b)))?;
    let stays = |&(query, key): &(usize, usize)| {
        let at = query * length + key;
        let is_blocked = seen.allowed.get(at) == Some(&false);
        key < length && (is_blocked || weight(at) > 0.5 * weight(most))
    };
    before.filter(stays).or(Some((most / length, most % length)))
}

/// The mask over the live weights, and what comes out of the chosen row. It writes in `strong` where a strong
/// cell is.
#[component]
fn Figure(page: Page, strong: RwSignal<String>) -> impl IntoView {
    let Page { settings, seen, provenance, .. } = page;
    let named = Memo::new(move |before: Option<&Option<(usize, usize)>>| {
        seen.with(|seen| strongest(seen.as_deref()?, before.copied().flatten()))
    });
    effect(move || {
        let at = named.get();
        // `seen` changes with every step: the story only when the cell or its tokens do.
        let name = seen.with(|seen| {
            let ((query, key), seen) = (at?, seen.as_deref()?);
            let name = |at: usize| Some(name_at(seen.tokens.get(at)?, at));
            Some(format!("row {}, column {}", name(query)?, name(key)?))
        });
        let name = name.unwrap_or_default();
        if strong.with_untracked(|before| *before != name) {
            strong.set(name);
        }
    });
    let sheet = memo(move || {
        let Some(seen) = seen.get() else { return Sheet::default() };
        let wanted = settings.with(|s| s.pattern.cells(&s.drawn, seen.tokens.len()));
        Sheet {
            tokens: seen.tokens.clone(),
            weights: seen.weights.values.clone(),
            allowed: seen.allowed.clone(),
            wanted,
        }
    });
    let editing = memo(move || settings.with(|s| s.editing));
    let title = memo(move || {
        let (layer, head) = settings.with(|s| (s.layer, s.head));
        format!("Who looks at whom in layer {layer}, head {head}")
    });
    let on_paint = Callback::new(move |(place, to): ((usize, usize), bool)| {
        let length = seen.with_untracked(|seen| seen.as_ref().map_or(0, |s| s.tokens.len()));
        // What comes of an edit is seen in its row.
        page.set(|s| {
            s.drawn.set(&s.pattern, length, place, to);
            (s.row, s.cell) = (place.0 as u32 + 1, 0);
        });
    });
    let on_pick = Callback::new(move |(query, key): (usize, usize)| {
        let cell = (query as u32 + 1, key as u32 + 1);
        page.set(|s| {
            let again = (s.row, s.cell) == cell;
            (s.row, s.cell) = if again { (cell.0, 0) } else { cell };
        });
    });
    let row = page.derive(|seen| Some(seen.row as usize));
    let cell = memo(move || settings.with(|s| s.cell).checked_sub(1));
    let arithmetic =
        memo(move || cell.get().and(seen.get()).map(|seen| Arc::new(seen.arithmetic.clone())));
    let key = Signal::derive(move || cell.get().unwrap_or_default() as usize);
    let go = Callback::new(move |(query, key): (usize, usize)| {
        page.set(|s| (s.row, s.cell) = (query as u32 + 1, key as u32 + 1));
    });
    let close = Callback::new(move |()| page.set(|s| s.cell = 0));
    let problem = page.problem(false);
    let refused = memo(move || problem.with(Option::is_some));
    let guesses = page.derive(in_short);
    view! {
        <Sentence label="Sentence" problem=page.problem(true)/>
        <div class="view-bar mask-bar">
            <Presets page/>
            <Tools page/>
        </div>
        <div class="view-side has-aside mask-main" class:mask-stale=refused>
            <div>
                <MaskEditor name="mask" title sheet editing row provenance on_paint on_pick/>
                <p class="mask-guess" data-testid="mask-guess">
                    {move || problem.get().unwrap_or_else(|| guesses.get())}
                </p>
            </div>
            <div class="mask-side">
                <div class="mask-said">
                    <Refused page/>
                    <p class="hint">
                        {move || worded(if editing.get() {
                            "Click or drag cells, or use arrow keys and Space."
                        } else {
                            "Click a cell to follow its row."
                        })}
                    </p>
                    <p class="mask-blocked" data-testid="mask-blocked">{page.derive(blocked)}</p>
                    <p class="hint mask-notes" role="status" data-testid="mask-notes">{notes(page)}</p>
                </div>
                <CellInspector row=arithmetic key go close provenance/>
                // Under a mask that is refused there are none.
                <Show when=move || cell.get().is_none() && !refused.get()><Outputs page/></Show>
            </div>
        </div>
    }
}

/// Why the model did not take the mask that is wanted.
#[component]
fn Refused(page: Page) -> impl IntoView {
    let problem = page.problem(false);
    view! {
        <p class="field-error mask-problem" role="alert" data-testid="mask-problem">
            {move || problem.get().map(|said| match page.seen.with(Option::is_some) {
                true => format!("{said} The picture still shows the previous mask. Outlined cells differ from it."),
                false => said,
            })}
        </p>
    }
    .into_any()
}

/// Masks with a name.
#[component]
fn Presets(page: Page) -> impl IntoView {
    let settings = page.settings;
    let preset = move |preset: Preset| {
        // Where two masks are combined, both are on.
        let pressed = move || settings.with(|s| s.pattern.uses(preset)).to_string();
        let choose = move |_| {
            page.set(|s| {
                s.pattern.base = preset;
                s.drawn = Drawn::default();
            })
        };
        view! {
            <button type="button" class="segment" aria-pressed=pressed on:click=choose
                data-testid=format!("mask-preset-{}", preset.id())>
                {preset.label()}
            </button>
        }
    };
    view! {
        <div class="segments" role="group" aria-label="Mask" data-testid="mask-presets">
            {Preset::ALL.iter().map(|&p| preset(p)).collect_view()}
        </div>
    }
    .into_any()
}

/// The edit mode, and the way back from what was set by hand.
#[component]
fn Tools(page: Page) -> impl IntoView {
    let settings = page.settings;
    let editing = move || settings.with(|s| s.editing);
    let drawn = memo(move || settings.with(|s| s.drawn.len()));
    view! {
        <div class="mask-tools">
            <button type="button" class="button mask-edit" data-testid="mask-edit-mode"
                aria-pressed=move || editing().to_string()
                on:click=move |_| page.set(|s| s.editing = !s.editing)>
                {move || if editing() { "Done editing" } else { "Edit cells" }}
            </button>
            // Always there: nothing may move under the pointer that draws.
            <button type="button" class="button button-quiet" data-testid="mask-clear"
                aria-disabled=move || (drawn.get() == 0).then_some("true")
                on:click=move |_| page.set(|s| s.drawn = Drawn::default())>
                {move || format!("Clear {} drawn", drawn.get())}
            </button>
        </div>
    }
    .into_any()
}

/// How many cells are blocked, and the largest weight found in one.
fn blocked(seen: &Seen) -> String {
    let all = seen.allowed.len();
    let blocked = seen.allowed.iter().filter(|allowed| !**allowed).count();
    match blocked {
        0 => format!("None of {all} cells is blocked."),
        _ => format!(
            "{blocked} of {all} cells are blocked. The largest weight in any of them, in all layers \
             and heads: {}.",
            exact(seen.most_blocked)
        ),
    }
}

/// A difference: 0 is said to be exactly that, anything else has its first digits.
fn exact(value: f32) -> String {
    match value {
        0.0 => "exactly 0".to_owned(),
        1e-3.. => format!("{value:.4}"),
        _ => power_of_ten(value.into(), 3),
    }
}

/// What the learner should know of the sentence and the mask.
fn notes(page: Page) -> Memo<String> {
    memo(move || {
        let Some(seen) = page.seen.get() else { return String::new() };
        let length = seen.tokens.len();
        let pattern = page.settings.with(|s| s.pattern);
        let mut notes = Vec::new();
        if seen.dropped > 0 {
            notes.push(format!(
                "Only the first {length} of {} characters are read, because the models are trained \
                 on stretches of {CONTEXT}.",
                length + seen.dropped as usize
            ));
        }
        if pattern.uses(Preset::Band) && pattern.band as usize >= length {
            notes.push(format!(
                "A band of {} is at least as wide as these {length} tokens, so it blocks nothing.",
                pattern.band
            ));
        }
        if length == 1 {
            notes.push(
                "A single token can only look at itself, so its one weight is 1 under any mask."
                    .to_owned(),
            );
        }
        notes.join(" ")
    })
}

/// Whether the mask is another than that of the model, which is trained without one or causally.
fn is_other(seen: &Seen, unmasked: bool) -> bool {
    let length = seen.tokens.len();
    let own = |cell: usize| unmasked || cell % length <= cell / length;
    seen.allowed.iter().enumerate().any(|(cell, allowed)| *allowed != own(cell))
}

/// What comes out of the chosen row, and under another mask than the model's own, what would
/// come out under that.
#[component]
fn Outputs(page: Page) -> impl IntoView {
    let unmasked = memo(move || page.settings.with(|s| s.model == Trained::Unmasked));
    let other = page.derive_with(unmasked, is_other);
    let name = page.derive(|seen| {
        let row = seen.row as usize;
        seen.tokens.get(row).map_or(String::new(), |token| name_at(token, row))
    });
    let bars = page.derive_with(other, bars);
    let vector = page.derive(vector);
    let moved = page.derive(moved);
    move || {
        let other = other.get();
        // As the rows of the vectors below.
        let (value_name, compare_name) =
            if other { ("this mask", "training mask") } else { ("probability", "") };
        view! {
            <BarsFigure name="mask-next" title=Signal::derive(move || format!("After {} it expects", name.get()))
                bars top=LIKELIEST hue=Hue::Output provenance=page.provenance value_name compare_name/>
            // A vector tells something only beside another.
            {other.then(|| view! {
                <MatrixFigure name="mask-vector" matrix=vector provenance=page.provenance small=true
                    title=Signal::derive(move || format!("Output vector of {}", name.get()))/>
                <p class="hint" data-testid="mask-moved">{moved}</p>
            })}
        }
    }
}

/// How far the row's output is from what it is under the model's own mask.
fn moved(seen: &Seen) -> String {
    let at = seen.row as usize;
    let pair = (seen.outputs.block(&[at]), seen.usual_outputs.block(&[at]));
    let (Some(now), Some(usual)) = pair else { return String::new() };
    let apart = now.iter().zip(usual).fold(0f32, |most, (a, b)| most.max((a - b).abs()));
    format!("Largest difference between the two: {}.", exact(apart))
}

/// The likeliest next tokens after the chosen row, the true one among them.
fn bars(seen: &Seen, other: bool) -> Vec<Bar> {
    let row = seen.row as usize;
    let next = seen.tokens.get(row + 1);
    let next = next.and_then(|next| seen.vocabulary.iter().position(|token| token == next));
    let now = seen.probabilities.block(&[row]).unwrap_or_default();
    let usual = seen.usual_probabilities.block(&[row]).unwrap_or_default();
    let mut ids = likeliest(now);
    ids.truncate(LIKELIEST);
    if let (Some(next), Some(last)) = (next, ids.len().checked_sub(1))
        && !ids.contains(&next)
    {
        ids[last] = next;
    }
    let bar = |id: usize| {
        let token = seen.vocabulary.get(id).map_or("", String::as_str);
        Bar {
            name: mark(token),
            spoken: spoken(token),
            probability: now[id],
            marked: next == Some(id),
            compare: usual.get(id).copied().filter(|_| other),
        }
    };
    ids.into_iter().map(bar).collect()
}

/// The likeliest tokens after the chosen row in a line, where the list is out of sight of the mask.
fn in_short(seen: &Seen) -> String {
    let row = seen.row as usize;
    let after = seen.tokens.get(row).map_or(String::new(), |token| name_at(token, row));
    let now = seen.probabilities.block(&[row]).unwrap_or_default();
    let guess = |id: &usize| {
        let token = seen.vocabulary.get(*id).map_or("", String::as_str);
        format!("{} {}", mark(token), percent(now[*id], 0))
    };
    let guesses: Vec<String> = likeliest(now).iter().take(3).map(guess).collect();
    format!("After {after}: {}", guesses.join(" · "))
}

/// The output of the chosen row, under this mask and under the model's own.
fn vector(seen: &Seen) -> Matrix {
    let row = seen.row as usize;
    let both = [&seen.outputs, &seen.usual_outputs].map(|a| a.block(&[row]).unwrap_or_default());
    named_rows(&["this mask", "training mask"], "unit", &both, "output")
}

/// Rows of equally many signed numbers, columns counted from 1.
fn named_rows(names: &[&str], axis: &str, rows: &[&[f32]], value_name: &str) -> Matrix {
    let values = rows.concat();
    let limit = values.iter().fold(0f32, |most, v| most.max(v.abs())).max(1e-3);
    Matrix {
        row_axis: String::new(),
        column_axis: axis.into(),
        rows: names.iter().map(|&name| name.into()).collect(),
        columns: (1..=rows.first().map_or(0, |r| r.len())).map(|i| i.to_string()).collect(),
        values,
        // Rounded up to two digits, so that the scale is still while the model learns.
        map: ValueMap::Signed { limit: round_up(limit) },
        value_name: value_name.into(),
        absent: String::new(),
    }
}

/// The next of 1, 2, 5, 10, ... and their tenths.
fn round_up(value: f32) -> f32 {
    let power = 10f32.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|r| *r >= value).unwrap_or(value)
}

#[component]
fn Controls(settings: Memo<Settings>) -> impl IntoView {
    let pattern = memo(move || settings.with(|s| s.pattern));
    let uses = move |preset| move || pattern.get().uses(preset);
    view! {
        <div class="course-controls">
            <ChoiceField name="mask-combine"/>
            <Show when=move || pattern.get().combine != Combine::First>
                <ChoiceField name="mask-other"/>
            </Show>
            <Show when=uses(Preset::Band)><SliderField name="mask-band" most=32.0/></Show>
            <Show when=uses(Preset::Padding)><SliderField name="mask-padding" most=32.0/></Show>
            <ChoiceField name="mask-model"/>
            <SliderField name="mask-layer"/>
            <SliderField name="mask-head"/>
        </div>
    }
    .into_any()
}
