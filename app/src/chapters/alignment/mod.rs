//! `alignment`: a decoder that looks back at its source at every step.

mod check;
mod figure;
mod map;
mod notebooks;
mod panels;
mod said;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    AttentionRow,
    link::Chapter,
    study::alignment::{self, Reading, Settings, Source, ask, name},
    transduction::{AttentionKind, PairTask},
};

use self::figure::has_weights;
use super::Info;
use crate::{
    controls::{ChoiceField, SliderField},
    course::{ChapterFrame, StageView, further, use_lab, use_task_provenance},
    figures::{Dash, Hue, Provenance, percent, token::name_at},
    questions::{Answered, use_answer},
    reactive::memo,
    store::Store,
    teaching::{Live, live},
};
use map::{Alignment, Decoded, Gaze, Place};

#[cfg(test)]
pub use notebooks::ALL as NOTEBOOKS;
#[cfg(test)]
pub use words::NAMES;
pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Alignment,
    // Few enough that the line is yet to come.
    warm_steps: 40,
    curves: 2,
    uses_text: false,
    view: || view! { <AlignmentChapter/> }.into_any(),
};

/// What the parts of the chapter share.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    settings: Memo<Settings>,
    answered: Answered<Reading>,
    /// What the models make of the source on show.
    reading: Signal<Option<Arc<Reading>>>,
    alignment: Memo<Alignment>,
    /// The produced and the source character that are pointed at.
    pointed: RwSignal<Option<Place>>,
    pointed_key: RwSignal<Option<usize>>,
    /// The produced character on show: pointed at, chosen, or produced last.
    place: Signal<Option<Place>>,
    /// Whether the learner has just opened a cell.
    opened: StoredValue<bool>,
    provenance: Signal<Provenance>,
}

/// What the settings read: a held-out source, or the learner's own.
fn source(settings: &Settings, own: impl FnOnce() -> String) -> Source {
    match settings.example {
        0 => Source::Own(own()),
        number => Source::Example(number),
    }
}

/// Color and dashes of a model's line, the same in every figure of the chapter.
fn style(model: usize) -> (Hue, Dash) {
    if model == 0 { (Hue::First, Dash::Solid) } else { (Hue::Second, Dash::Dashed) }
}

/// The task in a few words, for exports.
fn task_name(task: PairTask) -> &'static str {
    match task {
        PairTask::Reverse => "strings reversed",
        PairTask::Dates => "dates made up",
        PairTask::Copy => "strings copied",
        PairTask::Sort => "strings sorted",
    }
}

impl Page {
    fn new() -> Self {
        let store = expect_context::<Store>();
        let lab = use_lab();
        let settings = memo(move || store.link.with(|link| link.alignment.clone()));
        let answered = use_answer(lab, move || {
            let source = settings.with(|settings| source(settings, || store.probe.get()));
            Some(ask::Reading { source })
        })
        .shown_in(lab.on_view("reads"))
        .shown_in(lab.on_view("score"))
        .shown_in(lab.on_view("expects"))
        .shown_in(lab.check_seen);
        let reading = answered.answer;
        let alignment = memo(move || {
            let shown = match settings.with(|s| s.steps) {
                0 => usize::MAX,
                steps => steps as usize,
            };
            reading.with(|r| r.as_ref().map_or_else(Alignment::default, |r| seen(r, shown)))
        });
        let (pointed, pointed_key) = (RwSignal::new(None::<Place>), RwSignal::new(None));
        let place = memo(move || {
            let pointed = pointed.get();
            settings.with(|s| {
                alignment.with(|a| {
                    let there = |place: &Place| place.1 < a.count(place.0);
                    let chosen =
                        |at: u32| Some((s.model as usize - 1, at.checked_sub(1)? as usize));
                    let last = a.count(0).checked_sub(1).map(|last| (0, last));
                    let chosen = pointed.filter(there).or(chosen(s.at).filter(there));
                    chosen.or(last.filter(|_| s.steps > 0))
                })
            })
        });
        let provenance = use_task_provenance(move || Some(task_name(settings.with(|s| s.task))));
        Self {
            store,
            settings,
            answered,
            reading,
            alignment,
            pointed,
            pointed_key,
            place: place.into(),
            opened: StoredValue::new(false),
            provenance,
        }
    }

    fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.alignment));
    }

    /// The models trained, in order.
    fn kinds(self) -> Vec<AttentionKind> {
        self.settings.with(|settings| settings.spec(0).kinds())
    }

    /// Takes the weight of a source character in a produced one apart.
    fn open(self, (model, at): Place, key: usize) {
        self.opened.set_value(true);
        // What is pointed at goes with its view.
        self.pointed.set(None);
        self.pointed_key.set(None);
        self.store.link.update(|link| {
            let s = &mut link.alignment;
            (s.model, s.at, s.key) = (model as u32 + 1, at as u32 + 1, key as u32 + 1);
            link.view = "score".to_owned();
        });
    }

    /// The model whose weights are taken apart: the one chosen, unless only the other looks back.
    fn looking(self) -> usize {
        let chosen = self.settings.with(|s| s.model as usize - 1);
        let other = 1 - chosen;
        if !has_weights(self, chosen) && has_weights(self, other) { other } else { chosen }
    }

    /// The cell taken apart, of the model that is [`Self::looking`]: produced and source character.
    /// Where none is chosen, what the character on show reads most.
    fn cell(self) -> Option<(usize, usize)> {
        let model = self.looking();
        let (at, key) = self.settings.with(|s| (s.at, s.key));
        self.alignment.with(|a| {
            let at = (at.max(1) as usize).min(a.count(model)).checked_sub(1)?;
            let row = a.row((model, at));
            let most = || (0..row.len()).max_by(|i, j| row[*i].total_cmp(&row[*j]));
            let key = key.checked_sub(1).map(|key| key as usize).or_else(most)?;
            Some((at, key))
        })
    }

    /// What the figures of the chapter show and write of what is pointed at.
    fn gaze(self) -> Gaze {
        let on_score = move || self.store.link.with(|link| link.view == "score");
        let key = Signal::derive(move || {
            let open = match on_score() {
                true => self.cell().map(|(_, key)| key),
                false => self.settings.with(|s| s.key).checked_sub(1).map(|key| key as usize),
            };
            self.pointed_key.get().or(open)
        });
        // The score on show is of a cell that is chosen, not of what is pointed at on the way there.
        let place = Signal::derive(move || match on_score() {
            true => self.cell().map(|(at, _)| (self.looking(), at)),
            false => self.place.get(),
        });
        let pinned = Signal::derive(move || {
            self.settings.with(|s| Some((s.model as usize - 1, s.at.checked_sub(1)? as usize)))
        });
        let on_pick = Callback::new(move |(model, at): Place| {
            let on_score = self.store.link.with_untracked(|link| link.view == "score");
            self.set(|s| {
                let chosen = (model as u32 + 1, at as u32 + 1);
                let again = (s.model, s.at) == chosen && !on_score;
                (s.model, s.at) = if again { (1, 0) } else { chosen };
                s.key = 0;
            });
        });
        let on_pick_key = Callback::new(move |key: usize| {
            if let Some(place) = place.get_untracked() {
                self.open(place, key);
            }
        });
        Gaze {
            alignment: self.alignment,
            place,
            key,
            pinned,
            on_point: Callback::new(move |place| self.pointed.set(place)),
            on_point_key: Callback::new(move |key| self.pointed_key.set(key)),
            on_pick,
            on_pick_key,
        }
    }
}

/// What is drawn of a reading, with `shown` characters produced so far.
fn seen(reading: &Reading, shown: usize) -> Alignment {
    let decoded = reading.outputs.iter().map(|output| {
        let wanted = reading.wanted.as_deref().unwrap_or_default();
        let right = output.tokens.iter().enumerate().map(|(i, token)| wanted.get(i) == Some(token));
        Decoded {
            name: name(output.kind).to_owned(),
            tokens: output.tokens.clone(),
            right: if wanted.is_empty() { Vec::new() } else { right.collect() },
            weights: output.weights.as_ref().map_or_else(Vec::new, |w| w.values.clone()),
        }
    });
    // What it is to write, or as much as it reads; and the end.
    let wanted = reading.wanted.as_ref().map_or(reading.source.len() + 1, Vec::len);
    Alignment { source: reading.source.clone(), decoded: decoded.collect(), shown, wanted }
}

/// The row that the cell inspector shows.
fn use_row(page: Page) -> Signal<Option<Arc<AttentionRow>>> {
    let lab = use_lab();
    let asked = memo(move || Some((page.looking(), page.cell()?.0)));
    let answered = use_answer(lab, move || {
        let (model, at) = asked.get()?;
        let source = page.settings.with(|s| source(s, || page.store.probe.get()));
        Some(ask::Row { source, model: model as u32, at: at as u32 })
    });
    memo(move || {
        // What an attention-less model says is a refusal.
        if answered.problem.with(Option::is_some) {
            return None;
        }
        answered.answer.get()
    })
    .into()
}

#[component]
fn AlignmentChapter() -> impl IntoView {
    let page = Page::new();
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![("alignment", ViewFn::from(move || view! { <check::Check page/> }))]
            more=words::more
            views=vec![
                StageView::new("reads", "Who reads what", move || figure::reads(page)),
                StageView::new("score", "One score", move || figure::score(page)),
                StageView::new("expects", "Expected", move || figure::expects(page)),
                StageView::new("lengths", "By length", move || panels::lengths(page)),
                StageView::new("training", "Training", move || panels::training(page)),
                StageView::new("beam", "Beam search", move || panels::search(page)),
            ]
            settings=move || view! { <Controls page/> }
            model=Signal::derive(move || page.settings.with(model_name))
        />
    }
}

/// What the text reads off the models.
fn lives(page: Page) -> Vec<Live> {
    // The source character that stands out, if one does, and its weight; nothing of what is not written.
    let most = move |at: usize| {
        page.alignment.with(|a| {
            let decoded = a.decoded.iter().find(|decoded| !decoded.weights.is_empty())?;
            (at < decoded.tokens.len()).then_some(())?;
            let row = decoded.row(at);
            Some(map::standing_out(row).map(|most| (most, row[most])))
        })
    };
    let read = move |at: usize, early: &str| {
        let read = most(at).and_then(|most| {
            let Some((most, weight)) = most else { return Some(early.to_owned()) };
            let source = page.alignment.with(|a| Some(name_at(a.source.get(most)?, most)))?;
            Some(format!(
                "Written character {}: {source} gets the most, {}.",
                at + 1,
                percent(weight, 1)
            ))
        });
        read.unwrap_or_else(|| "…".to_owned())
    };
    let reverses = memo(move || page.settings.with(|s| s.task == PairTask::Reverse));
    let learned = memo(move || {
        let length = page.alignment.with(|a| a.source.len());
        let most = most(0).flatten();
        let found = most.is_some_and(|(most, weight)| most + 1 == length && weight >= FOUND);
        found && reverses.get()
    });
    let first = memo(move || {
        let read = read(0, "No character stands out yet.");
        if learned.get() { read + " The decoder has learned to look there." } else { read }
    });
    let do_first = move || match learned.get() {
        true => "“Replay” to see how",
        false => "Train, and watch this change",
    };
    // The learner goes on from the second, letter by letter.
    let second = memo(move || {
        let at = page.settings.with(|s| s.steps.max(2) as usize - 1);
        read(at, "Early in training they hardly change from step to step.")
    });
    let on_line = memo(move || page.alignment.with(Alignment::on_line).filter(|_| reverses.get()));
    let is_close = memo(move || match page.kinds()[..] {
        [one, other] => {
            let shares = last(&exact(one)).zip(last(&exact(other)));
            shares.is_some_and(|(one, other)| (one - other).abs() < AHEAD)
        }
        _ => false,
    });
    let line = move || {
        on_line.get().map_or_else(String::new, |share| {
            let so_far = if share < FOUND { "So far," } else { "Yet by now" };
            let share = percent(share, 0);
            let told = if is_close.get() { ", and neither model is ahead" } else { "" };
            format!("{so_far} the cells on this line hold {share} of their rows’ weight{told}.")
        })
    };
    let do_line = move || match on_line.get() {
        None => "Train, and watch whether a pattern appears anyway",
        Some(share) if share < FOUND => "Train, and watch whether the line appears anyway",
        Some(_) => "“Replay” to watch the line appear",
    };
    let kinds = memo(move || page.kinds());
    let pattern = memo(move || said::pattern(page, on_line.get()));
    let right = memo(move || {
        let shares = kinds.get().into_iter().map(|kind| Some((kind, last(&exact(kind))?)));
        let lengths = page.settings.with(|s| match s.spec(0).length {
            0 => "Over all lengths".to_owned(),
            longest => format!("Over the lengths trained on, 1 to {longest}"),
        });
        let shares = shares.collect::<Option<Vec<_>>>();
        shares.map_or_else(String::new, |shares| how_often(&lengths, &shares))
    });
    let best = memo(move || {
        kinds.with(|kinds| kinds.iter().filter_map(|kind| last(&exact(*kind))).fold(0.0, f32::max))
    });
    let neither = move || match best.get() {
        share if share < FOUND => "So far, neither can do its task.",
        _ => "",
    };
    let do_right = move || match best.get() {
        share if share < 0.95 => "Train until one model reaches 95%.",
        _ => "",
    };
    vec![
        live("pattern", move || pattern.get().to_owned()),
        live("first", move || first.get()),
        live("do-first", move || do_first().to_owned()),
        live("second", move || second.get()),
        live("line", line),
        live("do-line", move || do_line().to_owned()),
        live("right", move || right.get()),
        live("neither", move || neither().to_owned()),
        live("do-right", move || do_right().to_owned()),
    ]
}

/// From this weight on a character is said to have been found.
const FOUND: f32 = 0.5;
/// Models whose shares of right answers are nearer to each other than this are about as good.
const AHEAD: f32 = 0.05;

/// How often each model is right over sources of these `lengths`, as a sentence.
fn how_often(lengths: &str, shares: &[(AttentionKind, f32)]) -> String {
    let who = |kind| match kind {
        AttentionKind::None => "the model without attention".to_owned(),
        kind => format!("the model with {} attention", name(kind)),
    };
    match shares {
        [(one, share)] => {
            format!("{lengths}, {} is right {} of the time so far.", who(*one), percent(*share, 0))
        }
        [(one, share), (other, its)] => format!(
            "{lengths}, {} is right {} of the time so far, and {} {}.",
            who(*one),
            percent(*share, 0),
            who(*other),
            percent(*its, 0)
        ),
        _ => String::new(),
    }
}

/// The first model in a few words.
fn model_name(settings: &Settings) -> String {
    format!("{}, {} units", name(settings.attention), settings.hidden)
}

#[component]
fn Controls(page: Page) -> impl IntoView {
    let strings = memo(move || page.settings.with(|s| s.task != PairTask::Dates));
    view! {
        <div class="course-controls">
            <ChoiceField name="alignment-task"/>
            <ChoiceField name="alignment-attention"/>
            <ChoiceField name="alignment-beside"/>
            {move || strings.get().then(|| view! { <SliderField name="alignment-length"/> })}
            <SliderField name="alignment-hidden"/>
        </div>
    }
    .into_any()
}

/// The last measurement of the series with this name.
fn last(series: &str) -> Option<f32> {
    use_lab().history.with(|history| history.named(series).and_then(|series| series.last()))
}

/// What to call a model's share of right answers.
fn exact(kind: AttentionKind) -> String {
    alignment::exact_series(kind)
}
