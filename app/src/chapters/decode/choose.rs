//! One character: the model's shares, what the settings make of them, and the number that is drawn.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    RunState,
    gpt::{After, Sampling, shares},
};

use super::{
    Page,
    bets::Bets,
    picture::{Picture, Shown},
};
use crate::{
    controls::{SliderField, TokenField, counted, use_probe},
    course::{use_part, use_right},
    figures::{percent, token},
    reactive::memo,
    teaching::{CheckYourself, Live, live},
};

/// A first choice with less than this hardly stands out.
const LEARNED: f32 = 0.1;

impl Page {
    /// What a token of the lab's model is called.
    pub fn unit(self) -> &'static str {
        self.store.tokens().unit()
    }

    /// Writes the character that the number falls on, unless the answer is still about another text.
    /// Returns it with what was known of it.
    pub fn write(self) -> Option<(Arc<Bets>, String)> {
        let bets = self.bets.get_untracked()?.ok()?;
        let text = self.store.probe.get_untracked();
        let about = |after: &After| after.text == text;
        if untrack(|| self.after.read(about)) != Some(true) {
            return None;
        }
        let longer = self.store.appended(&text, bets.character(bets.chosen));
        self.store.set_probe(longer.clone());
        let going_on = self.written.with_untracked(|(_, now)| *now == text);
        self.written.update(|(typed, now)| {
            if !going_on {
                *typed = text;
            }
            now.clone_from(&longer);
        });
        Some((bets, longer))
    }

    /// Where on the last line the characters stand that the model wrote, and how many they are. None once the
    /// text was edited.
    pub fn written_style(self) -> Option<String> {
        let probe = self.store.probe.get();
        self.written.with(|(typed, now)| {
            let written = (*now == probe).then(|| probe.strip_prefix(typed.as_str()))??;
            let written = written.rsplit('\n').next()?.chars().count();
            let line = probe.rsplit('\n').next()?.chars().count();
            Some(format!("--before:{};--written:{written}", line - written))
        })
    }
}

#[component]
pub fn Choose(page: Page) -> impl IntoView {
    let part = use_part(page.after.sight);
    let bets = page.bets;
    let drawing = Signal::derive(move || {
        let bets = bets.get()?.ok()?;
        Some(bets as Arc<dyn super::picture::Drawing>) as Shown
    });
    // What was written last, and after which text that stands.
    let written = RwSignal::new(None::<(String, String)>);
    let write = move |_| {
        if let Some((bets, text)) = page.write() {
            written.set(Some((said(&bets, untrack(|| page.unit())), text)));
        }
    };
    let note = move || {
        if let Some(problem) = page.after.problem.get() {
            return problem;
        }
        if let Some(Err(problem)) = bets.get() {
            return problem;
        }
        let written = written.get().filter(|(_, text)| page.store.probe.with(|now| now == text));
        match written {
            Some((said, _)) => said,
            None => bets.with(|bets| match bets {
                Some(Ok(bets)) => kept(bets, page.unit()),
                _ => String::new(),
            }),
        }
    };
    let title = Signal::derive(move || {
        let sampling = page.store.link.with(|link| link.gpt.sampling());
        format!("The next {}, {}", page.unit(), named(&sampling))
    });
    view! {
        <div class="view-fill" node_ref=part>
            <div class="view-bar decode-bar" style=move || page.written_style()>
                <TokenField editor=use_probe()/>
                <button type="button" class="button button-primary" data-testid="decode-write" on:click=write>
                    "Write it"
                </button>
                <button type="button" class="button" data-testid="decode-draw-again"
                    on:click=move |_| page.draw.update(|draw| *draw = *draw % 9999 + 1)>
                    "Draw again"
                </button>
            </div>
            <div class="decode-main has-aside">
                <Picture name="decode" title drawing
                    label="The likeliest tokens as rows with their shares, and below them all shares in a line from 0 to 1. Arrow keys move between them."
                    hint="Point at a row, or at a stretch of the line, to read it."/>
                <p class="view-note decode-note" role="status" data-testid="decode-note">{note}</p>
                <div class="decode-side">
                    <SliderField name="temperature" most=2.0 step=0.05/>
                    <SliderField name="topk" most=30.0 off=0.0/>
                    <SliderField name="topp" step=0.01 off=1.0/>
                    <SliderField name="minp" step=0.01 off=0.0/>
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// What a sampling is called.
pub fn named(sampling: &Sampling) -> String {
    let Sampling { temperature, top_k, top_p, min_p } = *sampling;
    if temperature == 0.0 {
        return "greedy".to_owned();
    }
    let cuts = [
        (top_k > 0).then(|| format!("top k {top_k}")),
        (top_p < 1.0).then(|| format!("top p {top_p}")),
        (min_p > 0.0).then(|| format!("min p {min_p}")),
    ];
    let parts =
        [format!("temperature {temperature}")].into_iter().chain(cuts.into_iter().flatten());
    parts.collect::<Vec<_>>().join(", ")
}

/// How much is left to choose from.
fn kept(bets: &Bets, unit: &str) -> String {
    let (kept, all) = (bets.kept(), bets.vocabulary.len());
    if kept == all {
        return format!("All {all} {unit}s can be drawn.");
    }
    let pairs = bets.left.iter().zip(&bets.plain);
    let held: f32 = pairs.filter(|(left, _)| **left > 0.0).map(|(_, plain)| plain).sum();
    let held = percent(held, 1);
    match kept {
        1 => format!(
            "1 {unit} of {all} is left. The model’s own share for it is {held}. Now it has 100%."
        ),
        _ => format!(
            "{kept} {unit}s of {all} are left. The model’s own shares for them add up to {held}. Now they add up to 100%."
        ),
    }
}

/// What became of the number.
fn said(bets: &Bets, unit: &str) -> String {
    let written = token::mark(bets.character(bets.chosen));
    let (from, to) = bets.stretch(bets.chosen);
    let why = match bets.is_certain() {
        true => "It was the only choice.".to_owned(),
        false => {
            format!("The number {:.4} fell on its stretch, from {from:.4} to {to:.4}.", bets.number)
        }
    };
    let surprise = bets.surprise(bets.chosen);
    format!("Written: ‘{written}’. {why} The {unit} surprised the model by {surprise:.2} nats.")
}

/// What the text reads off the model.
pub fn lives(page: Page) -> Vec<Live> {
    let of = move |read: fn(&Bets) -> String| {
        move || {
            page.bets.with(|bets| match bets {
                Some(Ok(bets)) => read(bets),
                _ => "…".to_owned(),
            })
        }
    };
    vec![
        live("known", of(|bets| bets.vocabulary.len().to_string())),
        live("first", of(first)),
        live("do-first", move || {
            page.bets
                .with(|bets| match bets {
                    Some(Ok(bets)) => do_first(bets, page.store.state.get() == RunState::Running),
                    _ => "…",
                })
                .to_owned()
        }),
        live("kept", of(|bets| bets.kept().to_string())),
    ]
}

/// The model's first choice and its share, unless the model hardly knows anything.
fn best(bets: &Bets) -> Option<(usize, f32)> {
    let shares = bets.plain.iter().copied().enumerate();
    shares.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share >= LEARNED)
}

/// What is said of that choice.
fn first(bets: &Bets) -> String {
    best(bets).map_or_else(
        || "So far no token has a large share.".to_owned(),
        |(id, share)| {
            format!(
                "Its first choice after your sentence is ‘{}’, with a share of {}.",
                token::mark(bets.character(id)),
                percent(share, 0)
            )
        },
    )
}

/// What to press: one that hardly knows anything has to train first.
fn do_first(bets: &Bets, is_training: bool) -> &'static str {
    match best(bets) {
        Some(_) => "Press “Write it” a few times",
        None if is_training => "Watch the largest share grow",
        None => "Press Train, and watch the largest share grow",
    }
}

/// How many tokens hold half of the model's bets.
pub fn how_many(page: Page) -> AnyView {
    let count = memo(move || {
        let after = page.after.answer.get()?;
        let nucleus = Sampling { top_p: 0.5, ..Sampling::PLAIN };
        let left = shares(&after.logits.values, &nucleus).ok()?;
        Some(left.iter().filter(|share| **share > 0.0).count())
    });
    let options = ["One", "2 or 3", "More than 3"].map(str::to_owned);
    view! {
        <CheckYourself id="decode-cut"
            question=Signal::derive(move || {
                let unit = page.unit();
                format!("At temperature 1, how many {unit}s does a top p of 0.5 keep after your sentence?")
            })
            options=Signal::stored(options.to_vec())
            answer=Signal::derive(move || {
                let count = count.get()?;
                Some(usize::from(count > 1) + usize::from(count > 3))
            })
            explain=Signal::derive(move || {
                let count = count.get().unwrap_or_default();
                format!("It keeps {}.", counted(count as u64, page.unit()))
            })
            on_right=use_right("decode-cut")/>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplings_have_names() {
        assert_eq!(named(&Sampling::GREEDY), "greedy");
        let all = Sampling { temperature: 0.8, top_k: 5, top_p: 0.9, min_p: 0.05 };
        assert_eq!(named(&all), "temperature 0.8, top k 5, top p 0.9, min p 0.05");
    }
}
