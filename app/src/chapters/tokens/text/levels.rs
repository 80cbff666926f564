//! A sentence cut into tokens in three ways, one above the other.

use std::sync::Arc;

use crate::reactive::memo;
use leptos::prelude::*;
use serde_json::json;
use unroll_protocol::study::tokens::{Level, Levels, Merge, Piece, Scheme};

use crate::figures::{
    Provenance, Sheet, SheetExport,
    reading::{listener, walk},
    tint,
    token::{mark, spoken},
};

/// Columns an end token takes.
const END_COLUMNS: u32 = 2;

/// The three rows on one grid with a column for each byte, so that a merge closes the gap between
/// two chips where they stand.
///
/// `selected` is a scheme and an id: all its chips are marked. `on_pick` hears of a click or Enter
/// on a chip.
#[component]
pub fn LevelsFigure(
    levels: Signal<Option<Arc<Levels>>>,
    /// What the model reads.
    scheme: Signal<Scheme>,
    selected: Signal<Option<u32>>,
    on_pick: Callback<(Scheme, u32)>,
    provenance: Signal<Provenance>,
    /// What is said of the rows.
    children: Children,
) -> impl IntoView {
    let sheet = Callback::new(move |()| levels.with(|levels| levels.as_ref().map(|l| sheet(l))));
    view! {
        <section class="figure tokens-levels" data-testid="figure-tokens-levels"
            data-state=move || if levels.with(Option::is_some) { "live" } else { "empty" }
            aria-label="The sentence as characters, bytes and byte pairs">
            <Rows levels scheme selected on_pick schemes=Signal::stored(Scheme::ALL.to_vec())/>
            <div class="readout">{children()}</div>
            <SheetExport name="tokens-levels" title="A sentence in three schemes" provenance sheet/>
        </section>
    }
    .into_any()
}

/// One of the rows alone, to pick a token or to see a merge.
#[component]
pub fn LevelStrip(
    levels: Signal<Option<Arc<Levels>>>,
    which: Signal<Scheme>,
    scheme: Signal<Scheme>,
    selected: Signal<Option<u32>>,
    on_pick: Callback<(Scheme, u32)>,
) -> impl IntoView {
    let schemes = memo(move || vec![which.get()]);
    view! {
        <section class="tokens-strip" aria-label="The sentence in tokens">
            <Rows levels scheme selected on_pick schemes=schemes.into()/>
        </section>
    }
    .into_any()
}

#[component]
fn Rows(
    levels: Signal<Option<Arc<Levels>>>,
    schemes: Signal<Vec<Scheme>>,
    scheme: Signal<Scheme>,
    selected: Signal<Option<u32>>,
    on_pick: Callback<(Scheme, u32)>,
) -> impl IntoView {
    let level = move |which: Scheme| {
        memo(move || levels.with(|levels| levels.as_ref().map(|l| of(l, which).clone())))
    };
    let next = memo(move || levels.with(|levels| levels.as_ref()?.next.clone()));
    let columns = memo(move || {
        levels.with(|levels| {
            let pieces = levels.as_ref().map_or(&[][..], |levels| &levels.bytes.pieces);
            pieces.iter().map(width).sum::<u32>()
        })
    });
    let row = move |which: Scheme| {
        let shown = Shown { which, level: level(which), scheme, selected, next, on_pick };
        view! { <LevelRow shown/> }
    };
    view! {
        <div class="figure-box tokens-scroller" tabindex="0" role="group" aria-label="Sentence, scrolls sideways">
            <div class="tokens-grid" style=move || format!("--columns:{}", columns.get())>
                {move || schemes.get().into_iter().map(row).collect_view()}
            </div>
        </div>
    }
    .into_any()
}

fn of(levels: &Levels, which: Scheme) -> &Level {
    match which {
        Scheme::Characters => &levels.characters,
        Scheme::Bytes => &levels.bytes,
        Scheme::Pairs => &levels.pairs,
    }
}

fn sheet(levels: &Levels) -> Sheet {
    let mut sheet = Sheet::new(&["scheme", "place", "id", "token", "bytes"]);
    for &which in Scheme::ALL {
        let line = |(place, piece): (usize, &Piece)| {
            let text = if piece.end { "end" } else { piece.text.as_str() };
            vec![json!(which.id()), json!(place), json!(piece.id), json!(text), json!(piece.bytes)]
        };
        sheet.rows.extend(of(levels, which).pieces.iter().enumerate().map(line));
    }
    sheet
}

/// What one row shows.
#[derive(Clone, Copy)]
struct Shown {
    which: Scheme,
    level: Memo<Option<Level>>,
    scheme: Signal<Scheme>,
    selected: Signal<Option<u32>>,
    next: Memo<Option<Merge>>,
    on_pick: Callback<(Scheme, u32)>,
}

fn width(piece: &Piece) -> u32 {
    if piece.end { END_COLUMNS } else { piece.bytes }
}

#[component]
fn LevelRow(shown: Shown) -> impl IntoView {
    let Shown { which, level, scheme, .. } = shown;
    let reads = memo(move || scheme.get() == which);
    let count = move || level.with(|level| level.as_ref().map_or(0, |level| level.pieces.len()));
    let text = move || {
        level.with(|level| level.as_ref().map(|level| format!("{} ids in all", level.vocabulary)))
    };
    // The chip that Tab goes to.
    let stop = RwSignal::new(0usize);
    // The id that the next merge gets, when the chips were last drawn.
    let known = StoredValue::new(u32::MAX);
    let chips = move || {
        let Some(level) = level.get() else { return Vec::new() };
        let (mut pair, mut merged) = (Vec::new(), 0..0);
        if which == Scheme::Pairs {
            let next = shown.next.get();
            if let Some(next) = &next {
                merged = known.get_value()..next.id;
                known.set_value(next.id);
            }
            pair = marked(&level.pieces, &next);
        }
        stop.set(0);
        let place = |index: usize| {
            let piece = level.pieces[index].clone();
            let class = match pair.get(index) {
                Some(1) => "chip chip-left",
                Some(2) => "chip chip-right",
                _ if merged.contains(&piece.id) => "chip chip-merged",
                _ => "chip",
            };
            view! { <Chip shown stop index piece class/> }.into_any()
        };
        (0..level.pieces.len()).map(place).collect()
    };
    view! {
        <div class="tokens-level" data-testid=format!("level-{}", which.id())>
            <p class="tokens-level-name">
                <strong>{which.label()}</strong>
                " "<span class="number" data-testid=format!("level-{}-count", which.id())>{count}</span>" tokens, "
                {text}
                {move || reads.get().then(|| view! { <span class="tokens-reads">"the model reads these"</span> })}
            </p>
            <div class="tokens-row" role="listbox" aria-orientation="horizontal"
                aria-label=format!("{}: arrow keys go from token to token, Enter picks one", which.label())
                on:keydown=move |e| {
                    if let Some(row) = listener(&e) {
                        walk(&e, &row, stop.get_untracked(), false);
                    }
                }>
                {chips}
            </div>
        </div>
    }
    .into_any()
}

/// Which pieces the next merge would join: 1 the left of a pair, 2 the right of one.
fn marked(pieces: &[Piece], next: &Option<Merge>) -> Vec<u8> {
    let mut parts = vec![0; pieces.len()];
    let Some(next) = next else { return parts };
    let mut index = 0;
    while index + 1 < pieces.len() {
        let two = [&pieces[index], &pieces[index + 1]];
        if two.iter().all(|piece| !piece.end)
            && two[0].text == next.left
            && two[1].text == next.right
        {
            (parts[index], parts[index + 1]) = (1, 2);
            index += 1;
        }
        index += 1;
    }
    parts
}

#[component]
fn Chip(
    shown: Shown,
    stop: RwSignal<usize>,
    index: usize,
    piece: Piece,
    class: &'static str,
) -> impl IntoView {
    let Shown { which, scheme, selected, on_pick, .. } = shown;
    let Piece { id, end, unknown, .. } = piece;
    let is_selected = memo(move || scheme.get() == which && selected.get() == Some(id));
    let name = match unknown {
        Some(character) => format!("‘{character}’, which the text never has: unknown character"),
        None if end => "end token".to_owned(),
        None => spoken(&piece.text),
    };
    let label = format!("{name}, id {id}");
    let ground = match end || unknown.is_some() {
        true => String::new(),
        false => format!(";background:{}", tint::css(&piece.text)),
    };
    view! {
        <button type="button" class=class class:chip-end=end class:chip-unknown=unknown.is_some()
            class:chip-selected=is_selected
            role="option" aria-selected=move || is_selected.get().to_string()
            data-testid=format!("chip-{}-{index}", which.id()) data-id=id
            style=format!("grid-column:span {}{ground}", width(&piece))
            title=label
            tabindex=move || if stop.get() == index { "0" } else { "-1" }
            on:focus=move |_| stop.set(index)
            on:click=move |_| on_pick.run((which, id))>
            <span class="chip-text">{if end { "end".to_owned() } else { short_byte(&mark(&piece.text)) }}</span>
            <span class="chip-id">{id}</span>
        </button>
    }
    .into_any()
}

/// A lone byte without its brackets, which a chip is too narrow for.
fn short_byte(text: &str) -> String {
    let inner = text.strip_prefix('⟨').and_then(|t| t.strip_suffix('⟩'));
    inner.filter(|inner| inner.len() == 2).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_merge_is_marked_from_left_to_right() {
        let pieces: Vec<Piece> = "aaab"
            .chars()
            .map(|c| Piece { text: c.into(), bytes: 1, ..Piece::default() })
            .collect();
        let next = Merge { id: 257, left: "a".into(), right: "a".into(), count: 1 };
        assert_eq!(marked(&pieces, &Some(next)), [1, 2, 0, 0]);
        assert_eq!(short_byte("⟨C3⟩"), "C3");
        assert_eq!(short_byte("⟨"), "⟨");
    }
}
