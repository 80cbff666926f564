//! `heads`: many heads at once, what each does, writes and is worth.

mod check;
mod notebooks;
mod numbers;
mod state;
mod track;
mod words;
mod written;

use leptos::prelude::*;
use unroll_protocol::{
    Trace,
    link::Chapter,
    study::heads::{Cost, HeadAt},
};

use super::Info;
use crate::{
    controls::SliderField,
    course::{ChapterFrame, StageView, further, live_setting, use_sentence},
    figures::{AttentionFigure, Editor, HeadsFigure, Inspection, Job, KeptCell, Switches},
    reactive::{effect, memo},
    teaching::{Live, live},
};
use state::Page;

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Heads,
    warm_steps: 150,
    curves: 2,
    uses_text: true,
    view: || view! { <HeadsChapter/> }.into_any(),
};

#[component]
fn HeadsChapter() -> impl IntoView {
    let page = Page::new();
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![
                ("heads-previous", ViewFn::from(move || view! { <check::Previous page/> })),
                ("heads", ViewFn::from(move || view! { <check::Check page/> })),
            ]
            more=words::more
            views=vec![
                StageView::new("head", "One head", move || view! { <Figure page/> }),
                StageView::new("heads", "All heads", move || view! { <AllHeads page/> }),
                StageView::new("numbers", "Numbers", move || view! { <numbers::Numbers page/> }),
                StageView::new("training", "Training", move || view! { <track::Tracked page/> }),
                StageView::new("written", "Output", move || view! { <written::WhatIsWritten page/> }),
            ]
            settings=controls
            model=Signal::derive(move || page.settings.with(|s| {
                format!("{}, {}, {} wide", plural(s.layers, "layer"), plural(s.heads, "head"), s.width)
            }))
        />
    }
}

fn plural(n: u32, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// What the text reads off the model.
fn lives(page: Page) -> Vec<Live> {
    let previous = memo(move || {
        let heads = check::on_previous(page, None)?;
        let (at, share) = *heads.first()?;
        if !numbers::stands_out(share, numbers::alike(page)?.previous) {
            return Some("no head prefers the previous token yet".to_owned());
        }
        let percent = |share: f32| (100.0 * share).round();
        let next = heads.get(1).is_some_and(|next| percent(next.1) == percent(share));
        let most = if next { "" } else { ", more than any other head" };
        Some(format!(
            "{} puts {:.0}% of its weight on the previous token{most}",
            name(at),
            percent(share)
        ))
    });
    let compared = use_compared(page);
    vec![
        live("compared", move || compared.get().map_or(UNCOMPARED.to_owned(), Compared::in_full)),
        live("ahead", move || compared.get().map_or(String::new(), |c| c.in_short().to_owned())),
        live("jobs", {
            let early = memo(move || page.lab.step.get() < TELLING);
            let train = "Train for 30 seconds. Then read “looks mostly at” and the bars: which heads have a job?";
            let read = "Read “looks mostly at,” then the bars: which heads have a job?";
            move || if early.get() { train } else { read }.to_owned()
        }),
        live("differ", {
            let apart = memo(move || page.trace.with(|trace| trace.as_deref().is_some_and(apart)));
            let alike = "So far the pictures look alike. Train until they differ, then click one to enlarge it.";
            let differ = "Click a small picture to enlarge it. Where do two heads differ most?";
            move || if apart.get() { differ } else { alike }.to_owned()
        }),
        live_setting("shape", |link| {
            let (layers, heads) = (link.many_heads.layers, link.many_heads.heads);
            let each = if layers == 1 { "" } else { " each" };
            format!("{} with {}{each}", plural(layers, "layer"), plural(heads, "head"))
        }),
        live_setting("heads", |link| plural(link.many_heads.heads, "head")),
        live_setting("width", |link| link.many_heads.width.to_string()),
        live_setting("numbers", |link| {
            (link.many_heads.width / link.many_heads.heads.max(1)).to_string()
        }),
        live("measured", move || measured(page)),
        live("together", move || {
            together(page)
                .unwrap_or_else(|| "The view “Numbers” has to measure each head first.".to_owned())
        }),
        live("previous", move || previous.get().unwrap_or_else(|| "…".to_owned())),
    ]
}

/// Before this step most heads of a model with the usual settings have no job yet.
const TELLING: u32 = 800;

/// Pictures whose rows of weights are farther apart than this, on average, are seen to differ.
const APART: f32 = 0.1;

/// Whether some head looks at other tokens than the first head does.
fn apart(trace: &Trace) -> bool {
    let &[.., queries, keys] = trace.weights.shape.as_slice() else { return false };
    let size = (queries * keys).max(1) as usize;
    let mut heads = trace.weights.values.chunks(size);
    let first = heads.next().unwrap_or_default();
    heads.any(|head| {
        // Of two rows that add up to 1, the half of this is how much weight lies elsewhere.
        let sum: f32 = head.iter().zip(first).map(|(a, b)| (a - b).abs()).sum();
        sum / 2.0 > APART * queries as f32
    })
}

/// The heads that are off. A click switches one where this view is for `switching`.
fn switches(page: Page, switching: bool) -> Switches {
    let places = move |off: &[HeadAt]| off.iter().map(|at| (at.layer, at.head)).collect::<Vec<_>>();
    Switches {
        off: Signal::derive(move || page.settings.with(|s| places(&s.off))),
        switching: Signal::derive(move || switching && page.settings.with(|s| s.switching)),
        toggle: Callback::new(move |(layer, head)| page.toggle(HeadAt { layer, head })),
    }
}

/// Layers and heads of the model that is being made.
fn planned(page: Page) -> Memo<Option<(u32, u32)>> {
    memo(move || page.settings.with(|s| Some((s.layers, s.heads))))
}

/// One head on the sentence, with all others small beside it.
#[component]
fn Figure(page: Page) -> impl IntoView {
    let keep = KeptCell {
        cell: page.cell.into(),
        set: Callback::new(move |cell: Option<(usize, usize)>| {
            page.set(|s| {
                let (query, key) = cell.map_or((0, 1), |(q, k)| (q as u32 + 1, k as u32 + 1));
                (s.query, s.key) = (query, key);
            });
        }),
    };
    let inspection = Inspection {
        row: page.row,
        problem: Signal::stored(None),
        want: Callback::new(move |cell| page.wanted.set(cell)),
    };
    let sentence = use_sentence("Sentence to look at", page.problem);
    // What is left out of a sentence that is too long is said with what else there is to say of it.
    let note = Signal::derive(move || {
        let said = [cut(page).unwrap_or_default(), sentence.note.get()];
        said.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join(" ")
    });
    view! {
        <AttentionFigure trace=page.trace layer=page.layer head=page.head planned=planned(page)
            provenance=page.provenance editor=Editor { note, ..sentence } inspection
            switches=switches(page, false) keep rest=state::rest(page)/>
    }
}

/// Every head, and what switching some of them off costs.
#[component]
fn AllHeads(page: Page) -> impl IntoView {
    let enlarge = Callback::new(move |()| page.store.link.update(|link| link.view.clear()));
    let jobs = numbers::jobs(page);
    view! {
        <Switching page jobs/>
        <HeadsFigure trace=page.trace layer=page.layer head=page.head planned=planned(page)
            provenance=page.provenance switches=switches(page, true) jobs=jobs.into() enlarge/>
    }
}

/// What is left out of a sentence that is too long.
fn cut(page: Page) -> Option<String> {
    let (dropped, shown) =
        page.trace.with(|t| t.as_ref().map_or((0, 0), |t| (t.dropped as usize, t.tokens.len())));
    (dropped > 0).then(|| {
        format!(
            "The sentence has {} characters, and this model reads {shown} at a time. You see its \
             last {shown}.",
            dropped + shown
        )
    })
}

/// The edit mode in which a click on a head switches it, and what that costs.
#[component]
fn Switching(page: Page, jobs: Memo<Vec<Option<Job>>>) -> impl IntoView {
    let switching = move || page.settings.with(|s| s.switching);
    let any_off = move || page.settings.with(|s| !s.off.is_empty());
    let button = move |id: &'static str, label: &'static str, act: fn(Page)| {
        view! {
            <button type="button" class="button button-quiet" data-testid=id on:click=move |_| act(page)>
                {label}
            </button>
        }
    };
    view! {
        <div class="view-bar heads-tools" class:switching=switching>
            <button type="button" class="button" data-testid="heads-switch"
                aria-pressed=move || switching().to_string()
                on:click=move |_| page.set(|s| s.switching = !s.switching)>
                {move || if switching() { "Done switching" } else { "Switch heads off" }}
            </button>
            {move || switching().then(|| button("heads-all-off", "All off", |page| {
                let all = page.all();
                page.set(|s| s.off = all);
            }))}
            {move || any_off().then(|| button("heads-all-on", "All on", |page| {
                page.set(|s| s.off.clear());
            }))}
        // Scrolls on a phone, so it takes the focus.
        <p class="heads-cost" role="status" tabindex="0" data-testid="heads-cost" data-ready=move || {
            page.joint.with(|cost| cost.as_ref().map(|cost| cost.step.to_string()))
        }>
            {move || joint_in_words(page, jobs)}
        </p>
        <p class="field-error" data-testid="heads-cost-problem">
            {move || page.joint_problem.get().filter(|_| any_off())}
        </p>
        </div>
    }
}

fn joint_in_words(page: Page, jobs: Memo<Vec<Option<Job>>>) -> AnyView {
    let count = page.settings.with(|s| s.off.len());
    let switching = page.settings.with(|s| s.switching);
    if count == 0 {
        let hint = if switching {
            "Click a head to switch it off. Click it again to switch it on."
        } else if jobs.with(|jobs| jobs.iter().any(Option::is_some)) {
            "Under a picture: where the head mostly looks, and with what mean share of its weight in this sentence."
        } else {
            "In this sentence, no head has a clear habit yet."
        };
        return view! { <span class="hint">{hint}</span> }.into_any();
    }
    let Some(cost) = page.joint.get() else {
        return view! { <span class="hint">"Measuring on held-out text …"</span> }.into_any();
    };
    let Cost { before, after, .. } = cost;
    let all = cost.off.len() == page.all().len();
    let heads = page.shape.get_untracked().1 as usize;
    let who = match &cost.off[..] {
        _ if all => "all heads".to_owned(),
        [one] => format!("only {}", name(*one)),
        off if off.len() == heads && off.iter().all(|at| at.layer == off[0].layer) => {
            format!("layer {}", off[0].layer)
        }
        off => off.iter().map(|at| name(*at)).collect::<Vec<_>>().join(", "),
    };
    let three = |value: f32| format!("{value:.3}");
    let sign = if cost.change < 0.0 { "−" } else { "+" };
    view! {
        <span class="heads-worth">
            <strong class="number" data-testid="heads-change" data-value=cost.change.to_string()>
                {sign}{three(cost.change.abs())}
            </strong>
            {cost.error.map(|error| format!(" ± {error:.3}"))}
            " nats per character"
        </span>" "
        <span class="heads-said">
            {if all { "Loss " } else { "Loss on held-out text " }}
            <span class="number" data-testid="heads-before" data-value=before.to_string()>{three(before)}</span>
            " → "
            <span class="number" data-testid="heads-after" data-value=after.to_string()>{three(after)}</span>
            {format!(", with {who} off.")}
            {all.then_some(" No token sees another now.")}
        </span>
    }
    .into_any()
}

/// How the cost on show was measured, for the story.
fn measured(page: Page) -> String {
    let Some(Cost { windows, tokens, error, step, .. }) = page.joint.get() else {
        return String::new();
    };
    let alone =
        if error.is_none() { " A single window can’t say how uncertain it is." } else { "" };
    let before = measured_before(page, step).map_or(String::new(), |step| {
        format!(" The time bar’s held-out loss is from step {step}.")
    });
    format!(
        "Each loss is a mean over {tokens} characters in {windows} windows.{alone}{before} The training loss comes from \
         one small batch, so it may be higher."
    )
}

/// What the heads that are off cost one by one and together, once all of that is measured.
fn together(page: Page) -> Option<String> {
    let off = page.settings.with(|s| s.off.clone());
    let alone = off.iter().map(|at| Some(page.cost_of(*at)?.change)).collect::<Option<Vec<_>>>()?;
    let joint = page.joint.get().filter(|joint| joint.step == page.lab.shown())?;
    let sum: f32 = alone.iter().sum();
    let why = match joint.change - sum {
        apart if apart.abs() <= check::ABOUT * sum.abs() => {
            "That is about the same. This fits heads that do different work."
        }
        apart if apart > 0.0 => {
            "When only one is off, the others stand in for it. Switched off together, they leave a gap."
        }
        _ => "Once some of them are off, the others have less left to give.",
    };
    (off.len() > 1).then(|| {
        format!(
            "One by one they cost {} in all; together, {}. {why}",
            signed(sum),
            signed(joint.change)
        )
    })
}

/// The steps at which the model on show was measured on held-out text, each with its loss.
fn held_out(page: Page) -> Vec<(f64, f64)> {
    let history = page.lab.history;
    history.with(|history| history.named("held out").map_or_else(Vec::new, |s| s.points()))
}

/// The last of these steps, if it is before `step`.
fn measured_before(page: Page, step: u32) -> Option<f64> {
    let last = held_out(page).last()?.0;
    (last < f64::from(step)).then_some(last)
}

/// The held-out losses at one step, of several heads per layer and of one.
#[derive(Clone, Copy, PartialEq)]
struct Compared {
    step: f64,
    several: f64,
    one: f64,
}

const UNCOMPARED: &str = "Do several heads pay off? “One head beside it,” at the end of this chapter, trains both models.";

impl Compared {
    /// The text that holds: of losses that hardly differ, of several heads ahead, or of one.
    fn of<T>(self, [alike, several, one]: [T; 3]) -> T {
        match self.one - self.several {
            apart if apart.abs() < ALIKE => alike,
            apart if apart > 0.0 => several,
            _ => one,
        }
    }

    fn in_short(self) -> &'static str {
        self.of([
            "So far, the loss hardly differs from that with one head.",
            "The loss is lower than with one head.",
            "So far, the loss is higher than with one head.",
        ])
    }

    fn in_full(self) -> String {
        let Self { step, several, one } = self;
        let verdict = self.of([
            "So far, the two hardly differ: “One head beside it,” at the end of this chapter, trains both further.",
            "So far, several heads are ahead.",
            "So far, the one wide head is ahead.",
        ]);
        format!(
            "At step {step}, the loss on held-out text is {several:.3} with several heads per layer, and {one:.3} with one. {verdict}"
        )
    }
}

/// The losses of a model of one head per layer, once there was one, beside those of one with several
/// that is otherwise the same.
fn use_compared(page: Page) -> Memo<Option<Compared>> {
    let alike = memo(move || {
        let (layers, width) = page.settings.with(|s| (s.layers, s.width));
        page.store.link.with(|link| (layers, width, link.seed, link.corpus))
    });
    let one = RwSignal::new(None);
    let heads = memo(move || page.settings.with(|s| s.heads));
    effect(move || {
        let points = held_out(page);
        // The settings run ahead of the model.
        let layers = page.settings.with(|s| s.layers);
        if heads.get() == 1 && page.shape.get() == (layers, 1) && !points.is_empty() {
            one.set(Some((alike.get(), points)));
        }
    });
    memo(move || {
        one.with(|one| {
            let (of, points) =
                one.as_ref().filter(|_| heads.get() > 1 && page.shape.get().1 > 1)?;
            let of_one = |step| points.iter().find(|point| point.0 == step).map(|point| point.1);
            let mut now = held_out(page).into_iter().rev().filter(|_| *of == alike.get());
            now.find_map(|(step, several)| Some(Compared { step, several, one: of_one(step)? }))
        })
    })
}

/// Losses nearer to each other than this hardly differ.
const ALIKE: f64 = 0.03;

/// How the page calls a head where space is scarce.
fn name(at: HeadAt) -> String {
    format!("L{} H{}", at.layer, at.head)
}

/// With a sign that is always there.
fn signed(value: f32) -> String {
    if value < 0.0 { format!("−{:.4}", -value) } else { format!("+{value:.4}") }
}

fn controls() -> impl IntoView {
    view! {
        <div class="course-controls">
            <SliderField name="heads-layers" most=4.0/>
            <SliderField name="heads-count" most=8.0/>
            <SliderField name="heads-width" least=16.0 most=64.0 step=8.0/>
        </div>
    }
}
