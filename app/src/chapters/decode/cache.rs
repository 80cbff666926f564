//! One character read with the keys and values of those before it in a cache.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::gpt::{Cached, Race, ask};

use super::{
    Page,
    kept_rows::KeptRows,
    picture::{Drawing, Picture, Shown},
};
use crate::{
    controls::{TokenField, counted, grouped, use_probe},
    course::{use_part, use_setting},
    figures::power_of_ten,
    questions::use_answer,
    reactive::{effect, memo},
};

/// Characters that each half of the race writes, if there is time.
const RACE: u32 = 40;

#[component]
pub fn Cache(page: Page) -> impl IntoView {
    let probe = page.store.probe;
    let told = use_answer(page.questions, move || Some(ask::Cached { text: probe.get() }));
    let part = use_part(told.sight);
    let block = use_setting(|link| &mut link.gpt.layer);
    let head = use_setting(|link| &mut link.gpt.head);
    let rows = memo(move || {
        let at = [block.get(), head.get()].map(|at| at.saturating_sub(1) as usize);
        told.answer.with(|told| {
            KeptRows::new(told.as_deref()?, at[0], at[1], page.store.has_tinted_tokens())
        })
    });
    let drawing =
        Signal::derive(move || rows.get().map(|rows| Arc::new(rows) as Arc<dyn Drawing>) as Shown);
    let race = RwSignal::new(None::<Result<Race, String>>);
    let racing = RwSignal::new(false);
    // What was measured is of the text and the model as they were.
    effect(move || {
        probe.track();
        page.questions.generation.track();
        race.set(None);
    });
    let measure = move |_| {
        if racing.get_untracked() {
            return;
        }
        racing.set(true);
        let text = probe.get_untracked();
        page.questions.ask_once(ask::Race { text, length: RACE }, move |reply| {
            racing.try_set(false);
            race.try_set(reply.map(|said| said.map(|(_, race)| race)));
        });
    };
    let title = Signal::derive(move || {
        format!("What block {}, head {} keeps", block.get().max(1), head.get().max(1))
    });
    let note = move || {
        if let Some(problem) = told.problem.get() {
            return problem;
        }
        let unit = page.unit();
        let cost = told.read(|told| cost(told, unit)).unwrap_or_default();
        match race.get() {
            Some(Ok(race)) => format!("{} {cost}", result(&race, unit)),
            Some(Err(problem)) => problem,
            None => cost,
        }
    };
    let sizes = memo(move || {
        told.read(|told| (told.blocks.max(1), told.keys.shape.get(1).copied().unwrap_or(1)))
    });
    let turn = move |by: u32| {
        // Through the heads of a block, then on to the next block.
        let Some((blocks, heads)) = sizes.get_untracked() else { return };
        let at = (block.get_untracked().max(1) - 1) * heads + head.get_untracked().max(1) - 1;
        let at = (at + by) % (blocks * heads);
        block.set(at / heads + 1);
        head.set(at % heads + 1);
    };
    view! {
        <div class="view-fill" node_ref=part>
            <div class="view-bar decode-bar" style=move || page.written_style()>
                <TokenField editor=use_probe()/>
                <button type="button" class="button" data-testid="decode-write-cached"
                    on:click=move |_| { page.write(); }>"Write it"</button>
                <button type="button" class="button button-quiet" data-testid="decode-next-head"
                    on:click=move |_| turn(1)>"Next head"</button>
                <button type="button" class="button button-quiet" data-testid="decode-race" on:click=measure
                    aria-disabled=move || racing.get().to_string()>"Measure the speed"</button>
            </div>
            <p class="view-note decode-note" role="status" data-testid="cache-note">{note}</p>
            <Picture name="cache" title drawing
                label="Rows of tokens with their keys, the weights that the new query gives them, and their values. Keys and values that were computed just now have a frame. Arrow keys move between them."
                hint="Framed keys and values were computed just now. The others came from the cache. Point at a strip to read it."/>
        </div>
    }
    .into_any()
}

/// What was read and what was computed, with the numbers of multiplications.
fn cost(told: &Cached, unit: &str) -> String {
    let [with, without] = told.products.map(grouped);
    let before = told.tokens.len() - 1;
    if told.dropped > 0 {
        return format!(
            "The context is full: the oldest {unit} dropped out, and all others moved up one place. This page \
             then throws the cache away and computes all {} again, with {without} multiplications instead of {with}.",
            counted(told.tokens.len() as u64, "row")
        );
    }
    if before == 0 {
        return format!(
            "This is the first {unit}: the cache is still empty, so there is nothing to read from it."
        );
    }
    format!(
        "One row is computed. The keys and values of the {} before it are read from the cache: {with} multiplications \
         instead of {without}. {}",
        counted(before as u64, unit),
        match told.difference {
            0.0 => "The logits are exactly the same as without a cache.".to_owned(),
            most => format!(
                "No logit differs by more than {} from those without a cache.",
                power_of_ten(most.into(), 1)
            ),
        }
    )
}

/// How the race ended.
fn result(race: &Race, unit: &str) -> String {
    let Race { cached, uncached, refilled } = *race;
    let ratio = cached / uncached.max(f32::MIN_POSITIVE);
    let compared = match ratio {
        r if r > 1.05 => format!("{r:.1} times as fast"),
        r if r < 0.95 => format!("with the cache it takes {:.1} times as long", 1.0 / r),
        _ => "about as fast".to_owned(),
    };
    let refilled = match refilled {
        0 => String::new(),
        count => format!(
            " {} came after the context was full: then the cache must be filled again for every {unit}.",
            counted(count.into(), unit)
        ),
    };
    format!(
        "With the cache {cached:.0} {unit}s a second, without it {uncached:.0}: {compared}.{refilled}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_race_is_told_as_it_ended() {
        let told =
            |cached, uncached, refilled| result(&Race { cached, uncached, refilled }, "character");
        assert!(told(300.0, 100.0, 0).ends_with("without it 100: 3.0 times as fast."));
        assert!(told(50.0, 100.0, 0).ends_with("with the cache it takes 2.0 times as long."));
        assert!(told(101.0, 100.0, 7).contains("about as fast. 7 characters came"));
    }
}
