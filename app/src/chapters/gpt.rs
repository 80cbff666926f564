//! `gpt`: a GPT that learns the learner's text, and its attention as it learns.

mod batch;
mod more;
mod notebooks;
mod opened;
mod sizes;
mod switching;
mod which;
mod words;

use leptos::prelude::*;
use unroll_protocol::{
    GptSpec, RunState, Tokens, Trace,
    link::{Chapter as ChapterId, Part},
};

use super::Info;
use crate::{
    controls::{Settings, Writing, grouped, model_name, shape_name, use_probe, written_line},
    course::{
        Borrow, ChapterFrame, Further, Progress, StageView, Telling, WayIn, further, use_part,
        use_provenance, use_right, use_setting,
    },
    fetched::{Fetch, Fetched, Settled, View, bring, fetched, fetched_later, part, use_ahead},
    figures::{
        AttentionFigure, HeadsFigure, InsideFigure, Inspection, LossFigure, NextFigure, Selection,
        SentenceFigure, percent, token::mark,
    },
    kept,
    questions::Questions,
    reactive::{effect_with_last, memo},
    store::Store,
    teaching::{CheckYourself, live, live_words},
};

#[cfg(test)]
pub use more::NAMES;
#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use opened::SCRIPT as OPENED_SCRIPT;
pub use words::SCRIPT;
use words::{FIRST, LANDING, PROMISE};

pub const INFO: Info =
    Info { id: ChapterId::Gpt, warm_steps: 0, curves: 2, uses_text: true, view: chapter };

/// The lab, with the model that it trains or with one that was opened.
fn chapter() -> AnyView {
    let store = expect_context::<Store>();
    // Made anew for each: nothing that is said of one is said of another.
    let generation = Questions::from(store).generation;
    let given = memo(move || store.is_given().then(|| generation.get()));
    let shown = move || {
        match given.get().is_some() {
        true => view! { <Fetched fetch=OPENED what="This part" style=Some(OPENED_STYLE) around=|notice| notice/> }.into_any(),
        false => view! { <Chapter/> }.into_any(),
    }
    };
    shown.into_any()
}

#[component]
fn Chapter() -> impl IntoView {
    let store = expect_context::<Store>();
    let shows = move |part| store.link.with_untracked(|link| !link.hides(part));
    // A token that is chosen stays chosen in every view of the sentence.
    let length = memo(move || store.trace.read(|trace| trace.tokens.len()).unwrap_or_default());
    let selection = Selection::new(length);
    provide_context(selection);
    let mut views = vec![
        StageView::new("attention", "Attention", later),
        StageView::new("heads", "All heads", later),
        StageView::new("next", "Next token", later),
        StageView::new("batch", "Batch", later),
    ];
    if shows(Part::Sample) {
        views.push(StageView::new("writing", "Writing", || view! { <WritingRoom/> }));
    }
    if shows(Part::Loss) {
        views.push(StageView::new("loss", "Loss", later));
    }
    use_ahead(LATER);
    offer_kept(store);
    let model = use_model_name(store);
    let progress = expect_context::<Progress>();
    let is_other = |chapter: &&ChapterId| **chapter != ChapterId::Gpt;
    let has_seen = |chapter: &ChapterId| untrack(|| progress.has_seen(*chapter));
    let (script, headline) = match ChapterId::ALL.iter().filter(is_other).any(has_seen) {
        true => (&FIRST, None),
        false => (&LANDING, Some(PROMISE)),
    };
    let weights = memo(move || {
        store.started.with(|s| {
            s.as_ref().map_or("…".into(), |s| ((s.parameters + 500) / 1000).to_string())
        })
    });
    view! {
        <ChapterFrame
            script=script
            headline
            further=rest
            more=formulas
            live=vec![
                ("begins", ViewFn::from(move || beginning(store))),
                ("way-in", ViewFn::from(move || way_in(store))),
                live("weights", move || weights.get()),
                live("untrained", move || untrained(store).to_owned()),
            ]
            views=views
            settings=|| fetched(SETTINGS, "The settings")
            model
            foot=move || shows(Part::Sample).then(|| view! { <WritingLine/> })
        />
    }
}

/// Offers the run that was kept last, once the first picture is there.
fn offer_kept(store: Store) {
    let Settled(settled) = expect_context();
    let embedded = store.link.with_untracked(|link| link.embed);
    effect_with_last(move |before: Option<bool>| {
        let now = settled.get() && !embedded;
        if now && before != Some(true) {
            kept::kept(store, kept::Act::Offer);
        }
        now
    });
}

/// The lab's model in a few words.
pub fn use_model_name(store: Store) -> Signal<String> {
    Signal::derive(move || {
        let given = store.started.with(|started| {
            let started =
                started.as_ref().filter(|started| started.spec.tokens == Tokens::Given)?;
            let GptSpec { layers, heads, .. } = started.spec.gpt;
            Some(format!("Opened: {}", shape_name(layers, heads)))
        });
        let mut name = given.unwrap_or_else(|| store.built.with(model_name));
        // Also where its heads are not on show.
        match store.link.with(|link| link.off.len()) {
            0 => {}
            off => name.push_str(&format!(", {off} off")),
        }
        name
    })
}

/// What the page opens without: fetched when the first picture is there.
pub const LATER: Fetch = part!(gpt_later: View = || {
    if let Some(borrow) = use_context::<Borrow>() {
        return borrow.lend(&SCRIPT);
    }
    match use_context::<Further>() {
        Some(_) => told_later(),
        None => other_view(),
    }
});
/// What is said and shown of a model that was opened.
const OPENED: Fetch = part!(gpt_opened: View = opened::opened);
const OPENED_STYLE: &str = "opened";

/// Brings [`OPENED`] before such a model is on show.
pub async fn bring_opened() {
    bring(OPENED, OPENED_STYLE).await;
}
/// The formulas, fetched when they are opened.
const MORE: Fetch = part!(gpt_more: View = more::more);
pub const SETTINGS: Fetch = part!(gpt_settings: View = || view! { <Settings/> }.into_any());

/// What the [`Further`] around it names.
fn told_later() -> AnyView {
    let told = expect_context::<Telling>();
    let live = |ask: fn(Store) -> AnyView| ViewFn::from(move || ask(expect_context()));
    let asks = vec![
        ("gpt-sure", live(sure)),
        ("gpt-which", live(which::which)),
        ("gpt-size", live(sizes::sizes)),
    ];
    provide_context(Telling { script: &SCRIPT, asks, ..told });
    further()
}

/// Questions and experiments, once the first picture is there.
fn rest() -> AnyView {
    fetched_later(LATER, "This part")
}

/// The formulas, likewise.
fn formulas() -> AnyView {
    fetched_later(MORE, "This part")
}

fn later() -> AnyView {
    fetched(LATER, "This part")
}

/// The view on show, or what stands beside it where the page opens with it.
fn other_view() -> AnyView {
    let selection = expect_context::<Selection>();
    match expect_context::<Store>().link.with_untracked(|link| link.view.clone()).as_str() {
        "heads" => view! { <Heads/> }.into_any(),
        "writing" => view! { <Inside selection/> }.into_any(),
        "next" => view! { <Next selection/> }.into_any(),
        "batch" => view! { <batch::NextBatch/> }.into_any(),
        "loss" => view! { <Loss/> }.into_any(),
        _ => view! { <Attention selection/> }.into_any(),
    }
}

/// How the story begins, and the press that trains.
fn beginning(store: Store) -> AnyView {
    let trains = memo(move || store.state.get() == RunState::Running);
    let is_untrained = memo(move || is_untrained(store));
    // Pressed before the engine has the model.
    let pressed = RwSignal::new(false);
    let waits = memo(move || pressed.get() && store.started.with(Option::is_none));
    let press = move |_| {
        let stops = trains.get_untracked() || waits.get_untracked();
        pressed.set(!stops);
        if stops { store.pause() } else { store.run() }
    };
    let name = move || match (trains.get(), is_untrained.get()) {
        _ if waits.get() => "Starting…",
        (true, _) => "Pause",
        (false, true) => "Train this GPT",
        (false, false) => "Keep training",
    };
    view! {
        {live_words(move || begins(store))}
        <p class="beat-do" translate="no">{move || asks(store)}</p>
        {move || (!store.is_given()).then(|| view! {
            <p class="way-in">
                <button type="button" class="button" class:button-primary=is_untrained class:is-on=trains data-testid="train-first"
                    on:click=press>{name}</button>
            </p>
        })}
    }
    .into_any()
}

/// The way into the course: once the model writes words, it is what comes next.
fn way_in(store: Store) -> AnyView {
    let is_next = memo(move || match store.written.with(|written| written.step) {
        0 => false,
        step => step >= LEARNED || store.found.get(),
    });
    view! { <div class:way-in-next=is_next><WayIn testid="way-in"/></div> }.into_any()
}

/// Whether the model has taken no step and takes none now.
fn is_untrained(store: Store) -> bool {
    store.step.get() == 0 && store.state.get() != RunState::Running
}

/// What comes before anything that an untrained model has nothing to show of.
fn untrained(store: Store) -> &'static str {
    match is_untrained(store) {
        true => "The model knows nothing yet: press Train first. ",
        false => "",
    }
}

/// With noise, or with what has become of it.
fn begins(store: Store) -> String {
    match store.written.with(|written| written.step) {
        0 => "This GPT knows nothing yet, so what it writes is noise.".to_owned(),
        step => {
            format!("This GPT began with noise. At step {} it writes this.", grouped(step.into()))
        }
    }
}

/// From this step on, a model with the usual settings writes more words than noise, also where no words are counted.
const LEARNED: u32 = 800;

/// What to do first. A link may have opened another view than its writing.
fn asks(store: Store) -> String {
    let open = match store.link.with(|link| link.view == "writing") {
        true => "",
        false => "Open the view “Writing.” ",
    };
    let asks = match store.written.with(|written| written.step) {
        0 => "Press Train and watch: do words come out of the noise?",
        _ if store.found.get() => {
            "It has found words, though nobody told it what a word is. How? Read on."
        }
        LEARNED.. => "It has learned to write like this. How? Read on.",
        _ => "Read a little: which of its words do you know?",
    };
    format!("{open}{asks}")
}

/// What the model writes, beside where its heads look once the first picture is there.
#[component]
fn WritingRoom() -> impl IntoView {
    let store = expect_context::<Store>();
    let is_noise = memo(move || store.written.with(|written| written.step == 0));
    view! {
        <div class="writing-room view-fill" class:is-noise=is_noise>
            <Writing/>
            <div class="writing-inside">{fetched_later(LATER, "The picture of all heads")}</div>
        </div>
    }
}

/// The start of what the model writes, in one line under every view but the one that has all of it.
#[component]
fn WritingLine() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.writing_sight);
    let whole = memo(move || store.link.with(|link| link.view == "writing"));
    let label = move || {
        let when = match store.written.with(|written| written.step) {
            0 => "Untrained".to_owned(),
            step => format!("At step {}", grouped(step.into())),
        };
        match store.link.with(|link| link.off.is_empty()) {
            true => format!("{when}, it wrote"),
            false => format!("{when}, with heads off"),
        }
    };
    view! {
        <p class="stage-foot" node_ref=part hidden=move || whole.get() data-testid="writing-line">
            <span class="stage-foot-label">{label}</span>
            <span class="stage-foot-text" inner_html=move || store.written.with(written_line)></span>
        </p>
    }
}

/// The attention figure on the store's live trace.
#[component]
fn Attention(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    let layer = use_setting(|link| &mut link.gpt.layer);
    let head = use_setting(|link| &mut link.gpt.head);
    let inspection = Inspection {
        row: Signal::derive(move || store.inspecting.get().and_then(|_| store.row.answer.get())),
        problem: Signal::derive(move || {
            store.inspecting.get().and_then(|_| store.row.problem.get())
        }),
        want: Callback::new(move |cell| store.inspect(cell)),
    };
    let switches = switching::switches(store, Signal::stored(false));
    view! {
        <div class="view-fill" node_ref=part>
            <AttentionFigure trace=store.trace.answer layer head planned=use_planned(store)
                provenance=use_provenance() selection editor=use_probe() inspection switches/>
        </div>
    }
    .into_any()
}

/// Has the chosen head shown large.
fn enlarge(store: Store) -> Callback<()> {
    Callback::new(move |()| store.link.update(|link| link.view.clear()))
}

/// Every head of every layer.
#[component]
fn Heads() -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    let layer = use_setting(|link| &mut link.gpt.layer);
    let head = use_setting(|link| &mut link.gpt.head);
    let switching = RwSignal::new(false);
    view! {
        <div class="view-fill" node_ref=part>
            <switching::Switching switching/>
            <HeadsFigure trace=store.trace.answer layer head planned=use_planned(store)
                provenance=use_provenance() switches=switching::switches(store, switching) enlarge=enlarge(store)/>
        </div>
    }
    .into_any()
}

/// What goes on in the model while it writes.
#[component]
fn Inside(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    let layer = use_setting(|link| &mut link.gpt.layer);
    let head = use_setting(|link| &mut link.gpt.head);
    view! {
        <div class="view-fill" node_ref=part>
            <InsideFigure trace=store.trace.answer layer head planned=use_planned(store)
                provenance=use_provenance() selection enlarge=enlarge(store)/>
        </div>
    }
    .into_any()
}

/// What the model expects after the chosen token.
#[component]
fn Next(selection: Selection) -> impl IntoView {
    let store = expect_context::<Store>();
    let part = use_part(store.trace.sight);
    view! {
        <div class="view-fill" node_ref=part>
            <SentenceFigure trace=store.trace.answer selection editor=use_probe()/>
            <NextFigure trace=store.trace.answer selection provenance=use_provenance()/>
        </div>
    }
    .into_any()
}

/// Layers and heads of the model that is being made.
fn use_planned(store: Store) -> Memo<Option<(u32, u32)>> {
    memo(move || store.started.with(|s| s.as_ref().map(|s| (s.spec.gpt.layers, s.spec.gpt.heads))))
}

/// The loss curve of the store's present model.
#[component]
fn Loss() -> impl IntoView {
    let store = expect_context::<Store>();
    let vocabulary =
        memo(move || store.started.with(|s| s.as_ref().map_or(0, |s| s.vocabulary.len())));
    let provenance = use_provenance();
    let at = Questions::from(store).at;
    let marker = Signal::derive(move || at.get().map(f64::from));
    let each =
        move || (store.tokens() != Tokens::Characters).then(|| per_character(store)).flatten();
    // Axes alone would fill the stage with nothing.
    let is_empty = memo(move || store.curve.with(|curve| curve.is_empty()));
    let figure = move || match is_empty.get() {
        true => view! {
            <p class="hint loss-empty" data-testid="loss-empty">
                "Press Train to see the loss fall here."
            </p>
        }
        .into_any(),
        false => view! {
            <LossFigure curve=store.curve beside=store.beside vocabulary marker provenance/>
        }
        .into_any(),
    };
    view! {
        <div class="view-fill">
            {figure}
            <p class="view-note" role="status" data-testid="loss-per-character">{each}</p>
        </div>
    }
    .into_any()
}

/// The last losses for each character of the text: by that, runs with other tokens can be compared.
fn per_character(store: Store) -> Option<String> {
    let started = store.started.get()?;
    let share = |tokens: u64, characters: u64| tokens as f64 / characters.max(1) as f64;
    let of_training = share(started.training_tokens, started.training_characters);
    let of_held_out = share(started.held_out_tokens, started.held_out_characters);
    store.curve.with(|curve| {
        let last = curve.points().len().checked_sub(1)?;
        let train = curve.smoothed(last)? * of_training;
        let held_out = curve.held_out().last().map_or(String::new(), |(_, loss)| {
            format!(", held-out {:.3}", f64::from(loss) * of_held_out)
        });
        Some(format!(
            "For each character instead of each token, the losses at the end are: train {train:.3}{held_out} nats. \
             A token holds {:.2} characters on average.",
            1.0 / of_training
        ))
    })
}

/// So many tokens name a place in the sentence.
const LED_BY: usize = 7;
/// Shares nearer to each other than this have no first: an untrained model's are alike by chance.
const CLOSE: f32 = 0.05;

/// At which of some places in the sentence it is surest of what comes next. The end is not among them: what
/// it expects there is on show.
fn sure(store: Store) -> AnyView {
    let places = memo(move || {
        let tokens = store.trace.read(|trace| trace.tokens.clone()).unwrap_or_default();
        let named = asked_places(tokens.len()).into_iter();
        named.map(|at| (at, up_to(&tokens, at))).collect::<Vec<_>>()
    });
    let best = memo(move || {
        let share = |trace: &Trace, at: usize| {
            let row = trace.probabilities.block(&[at])?;
            Some(row.iter().copied().fold(0.0, f32::max))
        };
        let places = places.get();
        store
            .trace
            .read(|trace| places.iter().map(|place| share(trace, place.0)).collect())
            .flatten()
    });
    let answer = memo(move || best.with(|best: &Option<Vec<f32>>| clearly_largest(best.as_ref()?)));
    let too_early = move || {
        let waits = best.with(Option::is_some) && answer.get().is_none();
        let asks = places.with(|places| places.len() > 1);
        (waits && asks).then(|| {
            "Train some more, or change the sentence: so far the model is not clearly surest at any one place.".to_owned()
        })
    };
    let explain = move || {
        let best = best.get().unwrap_or_default();
        let each = places.get().into_iter().zip(best);
        let each = each.map(|((_, name), best)| format!("{name} {}", percent(best, 0)));
        format!("The probability of its best guess: {}.", each.collect::<Vec<_>>().join(", "))
    };
    view! {
        <CheckYourself id="gpt-sure"
            question=Signal::derive(move || match places.with(Vec::len) {
                0 | 1 => "Write a longer sentence to be asked about it.".to_owned(),
                _ => "Where in the sentence is the model surest of what comes next?".to_owned(),
            })
            options=Signal::derive(move || match places.get() {
                few if few.len() < 2 => Vec::new(),
                places => places.into_iter().map(|place| place.1).collect(),
            })
            answer
            too_early=Signal::derive(too_early)
            explain=Signal::derive(explain)
            on_right=use_right("gpt-sure")/>
    }
    .into_any()
}

/// Where the largest of these shares is, if it is clearly ahead of all others.
fn clearly_largest(shares: &[f32]) -> Option<usize> {
    let best = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]))?;
    let near = |(at, share): (usize, &f32)| at != best && shares[best] - share < CLOSE;
    (!shares.iter().enumerate().any(near)).then_some(best)
}

/// A place in a sentence, by the tokens that lead to it.
fn up_to(tokens: &[String], at: usize) -> String {
    let from = (at + 1).saturating_sub(LED_BY);
    let dots = if from > 0 { "…" } else { "" };
    let led_by: String = tokens[from..=at].iter().map(|token| mark(token)).collect();
    format!("after “{dots}{led_by}”")
}

/// Up to three places inside a sentence of so many tokens, evenly apart.
fn asked_places(length: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (1..4).map(|part| length * part / 4).collect();
    places.dedup();
    places.retain(|at| at + 1 < length);
    places
}

#[cfg(test)]
mod tests {
    #[test]
    fn shares_that_are_alike_have_no_largest() {
        assert_eq!(super::clearly_largest(&[0.034, 0.032, 0.033]), None);
        assert_eq!(super::clearly_largest(&[0.934, 0.44, 0.926]), None);
        assert_eq!(super::clearly_largest(&[0.3, 0.44, 0.926]), Some(2));
        assert_eq!(super::clearly_largest(&[]), None);
    }

    #[test]
    fn a_place_is_named_by_what_leads_to_it() {
        let tokens: Vec<String> = "said Fenn the".chars().map(String::from).collect();
        assert_eq!(super::up_to(&tokens, 3), "after “said”");
        assert_eq!(super::up_to(&tokens, 8), "after “…id␣Fenn”");
    }

    #[test]
    fn places_are_inside_and_differ() {
        assert_eq!(super::asked_places(30), [7, 15, 22]);
        assert_eq!(super::asked_places(2), [0]);
        for length in 0..40 {
            let places = super::asked_places(length);
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
            assert!(places.iter().all(|at| at + 1 < length), "{length}: {places:?}");
        }
    }
}
