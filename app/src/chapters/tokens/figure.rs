//! The main figure, the sentence in three schemes; and what merging does to text and vocabulary.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::study::tokens::{Levels, MAX_MERGES, Merge, Scheme};

use super::text::{LevelStrip, LevelsFigure, PickedRow};
use super::{ACCENTED, Shown, words::pair};
use crate::{
    controls::{SliderField, grouped},
    course::{Sentence, use_provenance},
    figures::{
        Dash, Hue, Line, Lines, LinesFigure,
        scroll::{self, Land, place_in},
        token::mark,
    },
    pointer::worded,
    reactive::{effect, memo},
};

/// The first beat that speaks of the rows of numbers, and of training.
pub const EMBEDS_FROM: u32 = 4;

/// The beat that asks for an é.
pub const ACCENT: u32 = 2;

/// The sentence in three schemes, and the row of the token that was picked.
#[component]
pub fn Tokens(shown: Shown) -> impl IntoView {
    let on_pick = Callback::new(move |(scheme, id)| shown.pick(scheme, id));
    // What a row of numbers is comes later: before, only who picks a token has one.
    let is_told = memo(move || {
        shown.store.link.with(|link| link.idea >= EMBEDS_FROM || link.tokens.token > 0)
    });
    let selected = Signal::derive(move || shown.token.get().filter(|_| is_told.get()));
    let row = move || {
        match is_told.get() {
        true => view! { <PickedRow embedding=shown.embedding/> }.into_any(),
        false => view! { <p class="hint picked-none">{worded("Click a token to see the numbers that stand for it.")}</p> }.into_any(),
    }
    };
    let about_accent = memo(move || shown.store.link.with(|link| link.idea == ACCENT));
    // The beats between are about characters and bytes, and have no merges to press.
    let merges_first =
        memo(move || shown.store.link.with(|link| !(1..=ACCENT).contains(&link.idea)));
    // What is added stands at the sentence's end, on a phone out of sight.
    let has_accent = memo(move || {
        let is_cut = |levels: &Arc<Levels>| levels.bytes.decoded.ends_with(ACCENTED);
        about_accent.get() && shown.levels.with(|levels| levels.as_ref().is_some_and(is_cut))
    });
    effect(move || {
        if has_accent.get() {
            request_animation_frame(|| {
                let _ = bring_end_into_sight();
            });
        }
    });
    view! {
        <div class="view-bar tokens-say" class:tokens-merges-first=merges_first>
            <Sentence problem=shown.problem/>
            <Show when=move || about_accent.get()>
                <button type="button" class="button" data-testid="tokens-accent"
                    aria-disabled=move || shown.is_accented().then_some("true") on:click=move |_| shown.accent()>
                    "Add é"
                </button>
            </Show>
        </div>
        <LevelsFigure levels=shown.levels scheme=shown.scheme selected on_pick
            provenance=use_provenance()>
            <Decoded shown/>
        </LevelsFigure>
        <Show when=move || merges_first.get()><Merging shown/></Show>
        {row}
    }
    .into_any()
}

/// The merges made, what they make of the sentence, and their price.
#[component]
pub fn Merges(shown: Shown) -> impl IntoView {
    let merges = memo(move || {
        shown.levels.with(|levels| levels.as_ref().map_or_else(Vec::new, |l| l.merges.clone()))
    });
    view! {
        <Merging shown/>
        <div class="view-bar"><SliderField name="tokens-merges"/></div>
        <LevelStrip levels=shown.levels which=Signal::stored(Scheme::Pairs) scheme=shown.scheme
            selected=shown.token on_pick=Callback::new(move |(scheme, id)| shown.pick(scheme, id))/>
        <ol class="merge-list tokens-scroller" tabindex="0" aria-label="Merges in order">
            <For each=move || merges.get().into_iter().rev() key=|merge| (merge.id, merge.left.clone(), merge.right.clone()) let:merge>
                <li>
                    <span class="merge-pair">{mark(&merge.left)}<i>"+"</i>{mark(&merge.right)}</span>
                    <span class="merge-id">{merge.id}</span>
                </li>
            </For>
        </ol>
        <Curves shown/>
    }
    .into_any()
}

/// Whether each scheme gives the sentence back, and which characters it lost.
#[component]
fn Decoded(shown: Shown) -> impl IntoView {
    let sentence = move || {
        let written = shown.store.probe.get();
        written.split('\n').filter(|l| !l.trim().is_empty()).collect::<Vec<_>>().join("\n")
    };
    let said = move || {
        let sentence = sentence();
        shown.levels.with(|levels| {
            let Levels { characters, bytes, pairs, .. } = &**levels.as_ref()?;
            let unknown: Vec<String> = characters
                .pieces
                .iter()
                .filter_map(|piece| piece.unknown)
                .map(|character| format!("‘{character}’"))
                .collect();
            // While the answer to a new sentence is on its way there is nothing to say.
            if bytes.decoded != sentence || pairs.decoded != sentence {
                return None;
            }
            Some(if unknown.is_empty() {
                "Put together, each row is your sentence again. Same token, same color. But colors repeat: trust the id."
                    .to_owned()
            } else {
                format!(
                    "As characters {} cannot come back: the text never has it, so only the unknown \
                     character □ is left. Bytes can write every text.",
                    unknown.join(", "),
                )
            })
        })
    };
    view! { <p class="hint" role="status" data-testid="tokens-decoded">{said}</p> }.into_any()
}

/// The next merge, and the way back.
#[component]
fn Merging(shown: Shown) -> impl IntoView {
    let with = move |read: fn(&Levels) -> Option<Merge>| {
        memo(move || shown.levels.with(|levels| levels.as_ref().and_then(|l| read(l))))
    };
    let next = with(|levels| levels.next.clone());
    let last = with(|levels| levels.merges.last().cloned());
    let made = move || shown.levels.with(|levels| levels.as_ref().map_or(0, |l| l.merges.len()));
    // Whether it merges on by itself.
    let seeking = RwSignal::new(false);
    let merge = move || {
        if next.with_untracked(Option::is_some) {
            bring_pair_into_sight();
            let made = untrack(made) as u32;
            // From what is on show, so that quick presses are never lost.
            shown.set(|settings| settings.merges = (settings.merges + 1).min(made + 20));
        }
    };
    let forward = move |_| {
        seeking.set(false);
        merge();
    };
    effect(move || {
        if !seeking.get() {
            return;
        }
        let asked = shown.settings.with(|s| s.merges) as usize;
        let is_last = shown.levels.with(|levels| {
            let levels = levels.as_ref()?;
            let is_behind = levels.merges.len() < asked && levels.next.is_some();
            let changes = (levels.sentence_next as usize) < levels.pairs.pieces.len();
            (!is_behind).then_some(changes || levels.next.is_none())
        });
        if let Some(is_last) = is_last {
            if is_last {
                seeking.set(false);
            }
            merge();
        }
    });
    let back = move |_| {
        seeking.set(false);
        let made = untrack(made) as u32;
        shown.set(|settings| settings.merges = settings.merges.min(made).saturating_sub(1));
    };
    let offered = move || match next.get() {
        Some(next) => format!("Merge {}, {} times", pair(&next), grouped(next.count)),
        None => "No pair is left to merge".to_owned(),
    };
    let said = move || {
        let (last, levels) = (last.get()?, shown.levels.get()?);
        let (count, tokens) = (grouped(last.count), grouped(levels.pairs.text_tokens));
        let text = shown.store.source.with(|source| format!("training text ({})", source.name));
        // What was merged last is part of no other token yet.
        let told = if levels.pairs.pieces.iter().any(|piece| piece.id == last.id) {
            format!("The {text} got {count} tokens shorter")
        } else {
            format!("Not in your sentence, but {count} times in the {text}")
        };
        Some(format!("Last: {} became id {}. {told}: {tokens} tokens now.", pair(&last), last.id))
    };
    view! {
        <div class="view-bar tokens-merging">
            <div class="view-bar tokens-presses">
                <button type="button" class="button button-primary" data-testid="merge"
                    aria-disabled=move || next.with(Option::is_none).then_some("true")
                    on:click=forward>
                    {offered}
                </button>
                <button type="button" class="button" data-testid="merge-on"
                    aria-disabled=move || next.with(Option::is_none).then_some("true")
                    on:click=move |_| seeking.set(true)>
                    "Merge until your sentence changes"
                </button>
                <button type="button" class="button" data-testid="unmerge"
                    aria-disabled=move || (made() == 0).then_some("true") on:click=back>
                    "Undo the last merge"
                </button>
            </div>
            <p class="tokens-last" role="status" data-testid="merge-last">{said}</p>
        </div>
    }
    .into_any()
}

/// Scrolls the sentence to what the next merge joins, where that is out of sight.
fn bring_pair_into_sight() -> Option<()> {
    let pair = document().query_selector(".chip-left").ok()??;
    let row = pair.closest(".tokens-scroller").ok()??;
    let [[start, end], _] = place_in(&row, &pair);
    // Its right half is about as wide.
    scroll::across(&row, [start, 2.0 * end - start], Land::InMiddle);
    Some(())
}

/// Scrolls the rows to the end of the sentence.
fn bring_end_into_sight() -> Option<()> {
    let end = document().query_selector(".tokens-levels .chip-end").ok()??;
    let rows = end.closest(".tokens-scroller").ok()??;
    let [place, _] = place_in(&rows, &end);
    scroll::across(&rows, place, Land::AtEdge(0.0));
    Some(())
}

/// Ends of the axis of merges before the last, which is at as many as there can be.
const ENDS: [f64; 2] = [60.0, 150.0];

/// Tokens of the text and size of the vocabulary against merges.
#[component]
fn Curves(shown: Shown) -> impl IntoView {
    let provenance = use_provenance();
    // The size starts at all single bytes: its axis starts there, too, or its line would lie flat.
    let lines = move |name: &'static str,
                      hue: Hue,
                      from_first: bool,
                      value: fn(&Levels, usize, u64) -> f64| {
        memo(move || {
            let points = shown.levels.with(|levels| {
                let Some(levels) = levels else { return Vec::new() };
                let mut merged = 0;
                let mut points = vec![(0.0, value(levels, 0, 0))];
                for (index, merge) in levels.merges.iter().enumerate() {
                    merged += merge.count;
                    points.push(((index + 1) as f64, value(levels, index + 1, merged)));
                }
                points
            });
            let last = points.last().map_or(0.0, |point| point.0);
            // The end is moved seldom, so that a press moves the line, not the axis.
            let end = ENDS.into_iter().find(|end| last < *end).unwrap_or(f64::from(MAX_MERGES));
            let first = points.first().map_or(0.0, |point| point.1);
            let (y_label, low, top) = if from_first {
                (format!("{name}, from {}", grouped(first as u64)), first, first + end)
            } else {
                (
                    name.to_owned(),
                    0.0,
                    points.iter().map(|point| point.1).fold(0.0, f64::max) * 1.05,
                )
            };
            Lines {
                x_label: "merges".to_owned(),
                y_label,
                series: vec![Line::new(name, hue, Dash::Solid, points)],
                x_range: Some((0.0, end)),
                y_range: (top > low).then_some((low, top)),
                ..Lines::default()
            }
        })
    };
    let tokens = lines("tokens", Hue::Input, false, |levels, _, merged| {
        (levels.bytes.text_tokens - merged) as f64
    });
    let vocabulary = lines("ids", Hue::Weight, true, |levels, made, _| {
        f64::from(levels.bytes.vocabulary) + made as f64
    });
    let title = Signal::derive(move || {
        let last = shown.levels.with(|l| l.as_ref().and_then(|l| Some(l.merges.last()?.count)));
        let by =
            last.map_or_else(String::new, |by| format!(": −{} by the last merge", grouped(by)));
        format!("Tokens of the text{by}")
    });
    view! {
        <div class="view-split tokens-curves">
            <LinesFigure name="tokens-count" title lines=tokens provenance/>
            <LinesFigure name="tokens-vocabulary" title="Size of the vocabulary" lines=vocabulary provenance/>
        </div>
    }
    .into_any()
}
