//! `machine`: the whole GPT in one picture, on the learner's sentence and the lab's live model.

mod callout;
mod cells;
mod draw;
mod figure;
mod next;
mod others;
mod paint;
mod read;
mod scene;
mod sizes;
mod words;

use core::time::Duration;
use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    gpt::{Pass, Stage, ask},
    link::Chapter,
    spec::{GptSpec, feed_forward_parameters},
};

use super::{
    Info,
    gpt::{SETTINGS, use_model_name},
};
use crate::{
    controls::{Timer, TokenField, counted, grouped, use_probe, use_timer},
    course::{ChapterFrame, StageView, further, use_part, use_provenance, use_right, use_setting},
    fetched::fetched,
    figures::{Slot, token},
    questions::{Answered, Questions, use_answer},
    reactive::{effect, effect_with_last, memo},
    store::Store,
    teaching::{CheckYourself, Live, live},
};
use figure::{Choice, MachineFigure};
pub use next::number;
use others::{Machine as Kind, OtherMachine};
use scene::{is_narrow, place_of};

pub use words::SCRIPT;

pub const INFO: Info = Info {
    id: Chapter::Machine,
    warm_steps: 200,
    curves: 2,
    uses_text: true,
    view: || view! { <Machine/> }.into_any(),
};

/// What the parts of the chapter share. `Copy`: handles of the chapter's owner.
#[derive(Clone, Copy)]
struct Page {
    store: Store,
    pass: Answered<Pass>,
    choice: Choice,
    blocks: Memo<Option<u32>>,
    context: Memo<Option<u32>>,
    /// What was drawn last, as a sentence, and after which text.
    drawn: RwSignal<Option<(String, String)>>,
    /// Until what was drawn at the last step is written.
    held: Timer,
    /// Whether the picture is wider than its room.
    narrow: RwSignal<bool>,
}

/// So long what was drawn is on show beside the shares that it was drawn from.
const HELD: Duration = Duration::from_secs(2);

/// The rows that are read where the setting has no number: as many as can be told apart at a glance, and another
/// number than a head of the usual model has, so that shapes such as [4, 12, 16] say which is which.
const ROWS: u32 = 12;
/// As many on a phone.
const FEW_ROWS: u32 = 6;

/// The rows of a wide picture.
fn wide(asked: u32) -> u32 {
    if asked == 0 { ROWS } else { asked }
}

/// The rows that are read where a link names a row: so many of the last that it is among them. `all` are the
/// rows that a wide picture has, among which it is counted from 1; 0 is the last.
fn few_with(row: u32, all: u32) -> u32 {
    match row {
        0 => FEW_ROWS,
        _ => FEW_ROWS.max(all - row.min(all) + 1),
    }
}

/// The rows that a picture of the last `asked` tokens has.
fn rows_of(pass: &Pass, asked: u32, context: u32) -> u32 {
    asked.min(pass.tokens.len() as u32 + pass.dropped).min(context)
}

/// The same token's row, where another number of the last tokens is read: the first of them, if it is not.
fn same_token(row: u32, from: u32, to: u32) -> u32 {
    if row == 0 { 0 } else { (row.min(from.max(1)) + to).saturating_sub(from).max(1) }
}

impl Page {
    fn new() -> Self {
        let store = expect_context::<Store>();
        // What the lab writes is not shown here: it need not write.
        store.writing_sight.add(Signal::stored(false));
        let (block, row) =
            (use_setting(|link| &mut link.gpt.layer), use_setting(|link| &mut link.machine.row));
        let asked = use_setting(|link| &mut link.machine.rows);
        let spec = move |read: fn(&GptSpec) -> u32| {
            memo(move || {
                store
                    .started
                    .with(|started| started.as_ref().map(|started| read(&started.spec.gpt)))
            })
        };
        let (blocks, context) = (spec(|gpt| gpt.layers), spec(|gpt| gpt.context));
        // A first guess, so that a phone need not ask twice; the picture's room decides.
        let window_width = window().inner_width().ok().and_then(|width| width.as_f64());
        let narrow = RwSignal::new(window_width.is_some_and(|width| is_narrow(width, 1)));
        // The rows of a wide picture: the row that is followed is counted among them.
        let all = RwSignal::new(ROWS);
        let pass = use_answer(Questions::from(store), move || {
            let block = block.get().clamp(1, blocks.get()?.max(1)) - 1;
            let rows = match asked.get() {
                0 if narrow.get() => few_with(row.get(), all.get()),
                rows => wide(rows),
            };
            Some(ask::Pass { text: store.probe.get(), block, rows })
        });
        // How many rows are read, and how many a wide picture has.
        let counts = memo(move || {
            let (asked, context) = (asked.get(), context.get()?);
            pass.read(|pass| (pass.tokens.len() as u32, rows_of(pass, wide(asked), context)))
        });
        effect(move || {
            let now = counts.get().map_or(ROWS, |(_, all)| all);
            if asked.get() == 0 && all.get_untracked() != now {
                all.set(now);
            }
        });
        let shown = move |row: u32| match counts.get() {
            Some((read, all)) if asked.get() == 0 => same_token(row, all, read),
            _ => row,
        };
        let meant = move |row: u32| match counts.get_untracked() {
            Some((read, all)) if asked.get_untracked() == 0 => same_token(row, read, all),
            _ => row,
        };
        let choice = Choice {
            block,
            head: use_setting(|link| &mut link.gpt.head),
            row: Slot::new(move || shown(row.get()), move |at| row.set(meant(at))),
            stage: use_setting(|link| &mut link.machine.stage),
            lines: Signal::derive(move || {
                store
                    .link
                    .with(|link| link.idea == words::LINES && link.machine.stage == Stage::Whole)
            }),
        };
        let (drawn, held) = (RwSignal::new(None), use_timer());
        let page = Self { store, pass, choice, blocks, context, drawn, held, narrow };
        // Bands of one width show nothing: the beat about them begins with the head that differs most.
        let about_bands = memo(move || store.link.with(|link| link.idea == words::BANDS));
        effect_with_last(move |chosen: Option<bool>| {
            // A head that was chosen stays.
            if !about_bands.get() || choice.head.get_untracked() > 1 {
                return false;
            }
            let row = choice.row.get_untracked();
            let sharpest = move || pass.read(|pass| sharpest(pass, row)).flatten();
            match chosen {
                Some(true) => true,
                _ => sharpest().map(|head| choice.head.set(head)).is_some(),
            }
        });
        page
    }

    /// Draws the next token: what is to be said of it, the text, and the text with it.
    fn draw(self) -> Option<[String; 3]> {
        let pass = self.pass.answer.get_untracked()?;
        let text = self.store.probe.get_untracked();
        // The answer may still be about the text before.
        if pass.text != text {
            return None;
        }
        let seed = self.store.link.with_untracked(|link| link.seed);
        let next::Draw { token, number, from, to } = next::draw(&pass, seed, &text)?;
        let said = format!(
            "The random number is {number:.4}. {} has the stretch from {from:.4} to {to:.4}, so it is drawn.",
            quoted(&token)
        );
        let longer = self.store.appended(&text, &token);
        Some([said, text, longer])
    }

    /// Says what was drawn of this text.
    fn say(self, said: String, text: String) {
        self.drawn.set(Some((said, text)));
        self.choice.row.set(0);
    }

    /// Puts what was drawn after the text.
    fn put(self, said: String, longer: String) {
        self.say(said, longer.clone());
        self.store.set_probe(longer);
    }

    /// Draws the next token and puts it after the text.
    fn write(self) {
        self.held.stop();
        if let Some([said, _, longer]) = self.draw() {
            self.put(said, longer);
        }
    }

    /// Draws the next token, lets it be read, puts it after the text, and begins with that.
    fn write_slowly(self) {
        let stage = self.choice.stage;
        // Who presses again does not wait.
        if self.held.is_running() {
            self.write();
            return stage.set(Stage::Embedding);
        }
        let Some([said, text, longer]) = self.draw() else { return stage.set(Stage::Embedding) };
        self.say(said.clone(), text.clone());
        self.held.start(HELD, move || {
            let is_there = self.store.probe.with_untracked(|probe| *probe == text);
            if is_there && stage.get_untracked() == Stage::Next {
                self.put(said, longer);
                stage.set(Stage::Embedding);
            }
        });
    }

    /// One stage further; after the last the character is written, and the next token begins.
    fn go_on(self) {
        match place_of(self.choice.stage.get_untracked()) {
            at if at >= Stage::ALL.len() => self.choice.stage.set(Stage::Embedding),
            at if at + 1 < Stage::ALL.len() => self.choice.stage.set(Stage::ALL[at + 1]),
            _ => self.write_slowly(),
        }
    }

    fn go_back(self) {
        let at = place_of(self.choice.stage.get_untracked());
        let before = if at <= 1 { Stage::Whole } else { Stage::ALL[at - 1] };
        self.choice.stage.set(before);
    }
}

/// The head, counted from 1, that gives one token the most of what this row takes in.
fn sharpest(pass: &Pass, row: u32) -> Option<u32> {
    let rows = pass.tokens.len();
    let row = if row == 0 { rows } else { (row as usize).min(rows) }.checked_sub(1)?;
    let most = |head: usize| {
        let weights = pass.head(pass.detail.block as usize, head)?.get(row * rows..)?;
        weights.iter().take(rows).copied().reduce(f32::max)
    };
    let heads = (0..pass.heads().1).filter_map(|head| Some((head, most(head)?)));
    heads.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(head, _)| head as u32 + 1)
}

fn quoted(token: &str) -> String {
    format!("‘{}’", token::mark(token))
}

#[component]
fn Machine() -> impl IntoView {
    let page = Page::new();
    view! {
        <ChapterFrame
            script=&words::SCRIPT
            further
            live=lives(page)
            asks=vec![("machine-wider", ViewFn::from(move || wider(page)))]
            more=words::more
            views=[StageView::new("gpt", "GPT", move || view! { <Gpt page/> })]
                .into_iter()
                .chain(OTHERS.map(|machines| {
                    let (id, title) = match machines {
                        [one] => (one.id(), one.label()),
                        _ => ("gates", "LSTM, GRU"),
                    };
                    StageView::new(id, title, move || others(machines))
                }))
                .collect()
            settings=|| fetched(SETTINGS, "The settings")
            model=use_model_name(page.store)
        />
    }
}

/// The other machines of the course, the newest first: a view each, but LSTM and GRU in one.
const OTHERS: [&[Kind]; 5] = [
    &[Kind::Transformer],
    &[Kind::Bahdanau],
    &[Kind::EncoderDecoder],
    &[Kind::Lstm, Kind::Gru],
    &[Kind::Elman],
];

fn others(machines: &'static [Kind]) -> AnyView {
    let drawings = machines.iter().map(|&machine| view! { <OtherMachine machine/> }).collect_view();
    match machines {
        [_] => drawings.into_any(),
        _ => view! { <div class="view-split machine-pair">{drawings}</div> }.into_any(),
    }
}

/// What the text reads off the model.
fn lives(page: Page) -> Vec<Live> {
    let of = move |read: fn(&Pass) -> String| {
        move || page.pass.read(read).unwrap_or_else(|| "…".to_owned())
    };
    vec![
        live("do-train", move || {
            match page.store.state.get() {
                RunState::Running => "Watch the numbers move while the model trains.",
                RunState::Paused => "Then press Train, and watch the numbers move.",
            }
            .to_owned()
        }),
        live("width", of(|pass| pass.width().to_string())),
        live("rows", of(|pass| pass.tokens.len().to_string())),
        live("heads", of(|pass| pass.heads().1.to_string())),
        live("neurons", of(|pass| (4 * pass.width()).to_string())),
        live("blocks", of(|pass| counted(pass.sizes.blocks.len() as u64, "block"))),
        live("known", of(|pass| pass.vocabulary.len().to_string())),
        live("total", of(|pass| grouped(pass.sizes.total()))),
    ]
}

/// The GPT on the sentence, and the buttons that lead one token through it.
#[component]
fn Gpt(page: Page) -> impl IntoView {
    let part = use_part(page.pass.sight);
    let pass: Signal<Option<Arc<Pass>>> = page.pass.answer;
    let architecture = Signal::derive(move || {
        page.store.started.with(|started| {
            started.as_ref().map(|started| started.spec.gpt.architecture).unwrap_or_default()
        })
    });
    view! {
        <div class="view-fill" node_ref=part>
            <div class="view-bar machine-bar">
                <TokenField editor=use_probe()/>
                <Steps page/>
            </div>
            <div class="machine-said">
                <p class="view-note machine-note" class:machine-drawn=move || drawn(page).is_some() role="status"
                    data-testid="machine-note">{move || note(page)}</p>
                <More page/>
            </div>
            <MachineFigure pass architecture choice=page.choice blocks=page.blocks narrow=page.narrow provenance=use_provenance()/>
        </div>
    }
}

/// What was drawn of the text on show.
fn drawn(page: Page) -> Option<String> {
    let (said, text) = page.drawn.get()?;
    page.store.probe.with(|probe| *probe == text).then_some(said)
}

/// What is wrong, what was drawn, or what is left out: one line, so that the picture keeps its height.
fn note(page: Page) -> String {
    if let Some(said) = page.pass.problem.get().or_else(|| drawn(page)) {
        return said;
    }
    match page.pass.read(|pass| (pass.dropped, pass.tokens.len())) {
        Some((dropped, rows)) if dropped > 0 => format!(
            "The machine reads only the last {rows} {}s here, and leaves out {dropped} before them.",
            page.store.tokens().unit()
        ),
        _ => String::new(),
    }
}

/// Has the machine read more of the text than fits at a glance, or less again.
#[component]
fn More(page: Page) -> impl IntoView {
    const MOST: u32 = unroll_protocol::gpt::MOST_ROWS as u32;
    let rows = use_setting(|link| &mut link.machine.rows);
    let other = move || match rows.get() {
        MOST => {
            let few = if page.narrow.get() { FEW_ROWS } else { ROWS };
            Some((0, format!("Read the last {few}")))
        }
        _ => page
            .pass
            .read(|pass| pass.dropped > 0)
            .unwrap_or_default()
            .then(|| (MOST, "Read more of the text".to_owned())),
    };
    let row = use_setting(|link| &mut link.machine.row);
    // The row stays that of the same token; one that is left out gives way to the last.
    let read = move |wanted: u32| {
        let context = page.context.get_untracked().unwrap_or(MOST);
        let counts = page.pass.answer.with_untracked(|pass| {
            let pass = pass.as_deref()?;
            let of = |asked: u32| rows_of(pass, wide(asked), context);
            Some((of(rows.get_untracked()), of(wanted)))
        });
        if let Some((from, to)) = counts {
            let now = row.get_untracked();
            row.set(if now + to > from { same_token(now, from, to) } else { 0 });
        }
        rows.set(wanted);
    };
    move || {
        other().map(|(wanted, label)| {
            view! {
                <button type="button" class="button button-quiet" data-testid="machine-rows"
                    on:click=move |_| read(wanted)>{label}</button>
            }
        })
    }
}

#[component]
fn Steps(page: Page) -> impl IntoView {
    let stage: Slot<Stage> = page.choice.stage;
    let at = move || place_of(stage.get());
    let last = Stage::ALL.len() - 1;
    let name = move || match at() {
        at if at > last => "The whole way".to_owned(),
        at => format!("{at} of {last}: {}", stage.get().label()),
    };
    // What is said keeps its room, so that nothing beside it moves from step to step.
    let longest = Stage::ALL.iter().map(|stage| stage.label()).max_by_key(|label| label.len());
    let longest = format!("{last} of {last}: {}", longest.unwrap_or_default());
    let onward = move || match at() {
        at if at > last => "First step",
        at if at == last => "Write it",
        _ => "Next step",
    };
    view! {
        <div class="machine-steps" role="group" aria-label="Follow one token">
            <button type="button" class="button" data-testid="machine-back"
                aria-label="Back" disabled=move || { at() > last } on:click=move |_| page.go_back()>
                <span>"←"<span class="machine-long">" Back"</span></span>
            </button>
            <span class="machine-stage" data-testid="machine-stage" data-longest=longest>{name}</span>
            <button type="button" class="button button-primary" data-testid="machine-on"
                on:click=move |_| page.go_on()><span data-longest="Next step">{onward}</span></button>
            <button type="button" class="button" data-testid="machine-write"
                on:click=move |_| { page.choice.stage.set(Stage::Whole); page.write(); }>
                <span>"Write"<span class="machine-long">" one " {move || page.store.tokens().unit()}</span></span>
            </button>
        </div>
    }
}

/// What becomes of the feed-forward layers' parameters in a model twice as wide.
fn wider(page: Page) -> AnyView {
    let sizes = memo(move || {
        page.pass.read(|pass| {
            let now: u64 = pass.sizes.blocks.iter().map(|block| block.feed_forward).sum();
            let (width, blocks) = (pass.width() as u64, pass.sizes.blocks.len() as u64);
            (now, blocks * feed_forward_parameters(2 * width))
        })
    });
    let known = move || sizes.get().filter(|(now, _)| *now > 0);
    let options = ["About twice as many", "About four times as many", "About eight times as many"];
    view! {
        <CheckYourself id="machine-wider"
            question=Signal::stored(
                "Suppose your model were twice as wide. How many parameters would its feed-forward layers have, compared \
                 with now?"
                    .to_owned(),
            )
            options=Signal::stored(options.map(str::to_owned).to_vec())
            too_early=Signal::derive(move || {
                let has_none = sizes.get().is_some_and(|(now, _)| now == 0);
                has_none.then(|| "Your model has no feed-forward layers, so there is nothing to ask here.".to_owned())
            })
            answer=Signal::derive(move || known().map(|(now, then)| match then as f64 / now as f64 {
                times if times < 3.0 => 0,
                times if times < 6.0 => 1,
                _ => 2,
            }))
            explain=Signal::derive(move || {
                let (now, then) = known().unwrap_or_default();
                format!(
                    "They have {} now, and would have {}. Each of their matrices gets twice as many rows and twice as \
                     many columns. “A machine twice as wide” under “Try it” puts that \
                     model beside yours.",
                    grouped(now),
                    grouped(then)
                )
            })
            on_right=use_right("machine-wider")/>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_follows_the_token_that_a_wide_picture_does() {
        assert_eq!([0, 16, 11, 3].map(|row| few_with(row, 16)), [6, 6, 6, 14]);
        assert_eq!([0, 16, 11, 3].map(|row| same_token(row, 16, 6)), [0, 6, 1, 1]);
        assert_eq!([0, 6, 1].map(|row| same_token(row, 6, 16)), [0, 16, 11]);
        // A row beyond the last is the last.
        assert_eq!((few_with(40, 16), same_token(40, 16, 6)), (6, 6));
        let pass = cells::tests::pass(6, 2);
        assert_eq!([16, 4].map(|asked| rows_of(&pass, asked, 24)), [6, 4]);
        let dropped = Pass { dropped: 20, ..pass };
        assert_eq!([24, 16, 8].map(|context| rows_of(&dropped, 16, context)), [16, 16, 8]);
    }
}
