//! How figures are read: with pointer, finger and arrow keys, in the same way everywhere.

use leptos::{
    attr::Attribute,
    ev::{self, MouseEvent},
    prelude::*,
};
use wasm_bindgen::JsCast;
use web_sys::{Element, EventTarget, HtmlElement};

use super::select::Pointing;
use crate::reactive::memo;

/// What reads an element: spread its [`Self::handlers`] over the element that has the focus.
///
/// A place is whatever the figure reads: a cell, a point, a value on an axis.
#[derive(Clone, Copy)]
pub struct Reading<C: Send + Sync + 'static> {
    pub pointing: Pointing<C>,
    /// The place under a pointer.
    pub hit: Callback<MouseEvent, Option<C>>,
    /// Where keys set out from; `None` while there is nothing to read.
    pub start: Callback<(), Option<C>>,
    /// Where a key leads from a place; `None` for a key that moves nothing.
    pub step: Callback<(String, C), Option<C>>,
    /// Hears of a click, Enter or Space on a place.
    pub pick: Option<Callback<C>>,
    /// Whether a finger's first tap on a place only reads it.
    pub tap_reads: bool,
    /// Whether a place is read as soon as the element has the focus.
    pub focus_reads: bool,
}

impl<C: Copy + PartialEq + Send + Sync + 'static> Reading<C> {
    pub fn handlers(self) -> impl Attribute {
        let Self { pointing, hit, start, step, pick, tap_reads, focus_reads } = self;
        let on_move = move |e: ev::PointerEvent| match hit.run(e.unchecked_into()) {
            Some(place) => pointing.point(place),
            None => pointing.leave(),
        };
        // What is said of a place may move the figure under a finger before it is lifted.
        let pressed = StoredValue::new(None::<Option<C>>);
        let on_down = move |e: ev::PointerEvent| {
            let touch = e.pointer_type() == "touch";
            let place = hit.run(e.unchecked_into());
            pressed.set_value(Some(place));
            if let Some(place) = place {
                pointing.press(place, touch);
            }
        };
        let on_click = move |e: MouseEvent| {
            let Some(pick) = pick.filter(|_| !tap_reads || pointing.press_counts()) else { return };
            let began = pressed.try_update_value(Option::take).flatten();
            if let Some(place) = began.unwrap_or_else(|| hit.run(e)) {
                pick.run(place);
            }
        };
        let on_key = move |e: ev::KeyboardEvent| {
            let Some(at) = start.run(()).filter(|_| !is_shortcut(&e)) else { return };
            let key = e.key();
            match (key.as_str(), pick) {
                ("Escape", _) => pointing.unpin(),
                ("Enter" | " ", Some(pick)) => {
                    e.prevent_default();
                    pointing.point(at);
                    pick.run(at);
                }
                _ => {
                    if let Some(to) = step.run((key, at)) {
                        e.prevent_default();
                        pointing.point(to);
                    }
                }
            }
        };
        let on_focus = move |_: ev::FocusEvent| {
            // A click focuses too, but has then pointed at its own place already.
            if focus_reads
                && pointing.shown_untracked().is_none()
                && let Some(place) = start.run(())
            {
                pointing.point(place);
            }
        };
        (
            ev::on(ev::pointermove, on_move),
            ev::on(ev::pointerdown, on_down),
            ev::on(ev::pointerleave, move |e: ev::PointerEvent| leave(&e, pointing)),
            ev::on(ev::click, on_click),
            ev::on(ev::keydown, on_key),
            ev::on(ev::focus, on_focus),
            ev::on(ev::blur, move |_| pointing.leave()),
        )
    }
}

/// A cell by its row and its place in that; of one drawn as a strip of numbers, also the number that
/// the pointer is on. All from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    pub row: usize,
    pub column: usize,
    pub unit: Option<usize>,
}

/// What reads rows of cells that are buttons, of which Tab reaches one: spread its
/// [`Self::handlers`] over what holds them all. What belongs to a cell names it as `data-cell`,
/// "row-column"; where cells are strips, their row says in `data-units` how many numbers each has.
///
/// The cell that has the focus counts as pinned: it shows whenever none is pointed at.
#[derive(Clone, Copy)]
pub struct Buttons {
    pub pointing: Pointing<At>,
    /// How many cells each row has.
    counts: Memo<Vec<usize>>,
    /// Where the focus was last.
    visited: RwSignal<(usize, usize)>,
    /// The cell that Tab reaches.
    home: Memo<(usize, usize)>,
}

impl Buttons {
    pub fn new(counts: Memo<Vec<usize>>) -> Self {
        let pointing = Pointing::new(move |at: &At| {
            counts.with(|counts| counts.get(at.row).is_some_and(|count| at.column < *count))
        });
        let visited = RwSignal::new((0, 0));
        let home = memo(move || counts.with(|counts| nearest(counts, visited.get())));
        Self { pointing, counts, visited, home }
    }

    pub fn tab_index(self, row: usize, column: usize) -> &'static str {
        if self.home.get() == (row, column) { "0" } else { "-1" }
    }

    pub fn handlers(self) -> impl Attribute {
        let Self { pointing, counts, visited, .. } = self;
        let on_point = move |e: ev::PointerEvent| {
            if let Some(at) = part_under(&e) {
                pointing.point(at);
            }
        };
        let on_key = move |e: ev::KeyboardEvent| {
            let Some((row, column)) = e.target().and_then(place_of).filter(|_| !is_shortcut(&e))
            else {
                return;
            };
            let to = counts.with_untracked(|counts| {
                let count = counts.get(row).copied()?;
                let to = step_cell(&e.key(), (row, column), (counts.len(), count))?;
                Some(nearest(counts, to))
            });
            let Some((row, column)) = to else { return };
            e.prevent_default();
            let cell = format!("button[data-cell=\"{row}-{column}\"]");
            let cell = listener(&e).and_then(|all| all.query_selector(&cell).ok().flatten());
            if let Some(cell) = cell {
                // Keys read too, wherever the pointer rests.
                pointing.leave();
                // Focusing an element that is still there cannot fail.
                let _ = cell.unchecked_into::<HtmlElement>().focus();
            }
        };
        let on_focus = move |e: ev::FocusEvent| {
            if let Some((row, column)) = e.target().and_then(place_of) {
                visited.set((row, column));
                pointing.pin(At { row, column, unit: None });
            }
        };
        (
            ev::on(ev::pointermove, on_point),
            ev::on(ev::pointerdown, on_point),
            ev::on(ev::pointerleave, move |e: ev::PointerEvent| leave(&e, pointing)),
            ev::on(ev::keydown, on_key),
            ev::on(ev::focusin, on_focus),
            ev::on(ev::focusout, move |_| pointing.unpin()),
        )
    }
}

/// Row and column of the cell of [`Buttons`] that an element belongs to.
pub fn place_of(target: EventTarget) -> Option<(usize, usize)> {
    let cell = target.dyn_into::<Element>().ok()?.closest("[data-cell]").ok()??;
    let name = cell.get_attribute("data-cell")?;
    let (row, column) = name.split_once('-')?;
    row.parse().ok().zip(column.parse().ok())
}

/// The cell under the pointer, and the number of its strip.
fn part_under(e: &ev::PointerEvent) -> Option<At> {
    let (row, column) = place_of(e.target()?)?;
    let cell = e.target()?.unchecked_into::<Element>();
    let unit = || {
        let units: f64 =
            cell.closest("[data-units]").ok()??.get_attribute("data-units")?.parse().ok()?;
        let share = f64::from(e.offset_y()) / f64::from(cell.client_height().max(1));
        Some((share.clamp(0.0, 0.999) * units) as usize)
    };
    Some(At { row, column, unit: unit() })
}

/// The place that is nearest to this one among rows of so many cells.
fn nearest(counts: &[usize], (row, column): (usize, usize)) -> (usize, usize) {
    let row = row.min(counts.len().saturating_sub(1));
    (row, column.min(counts.get(row).map_or(0, |count| count.saturating_sub(1))))
}

/// Whether a key is pressed for the browser: Alt with an arrow goes back a page.
pub fn is_shortcut(e: &ev::KeyboardEvent) -> bool {
    e.ctrl_key() || e.meta_key() || e.alt_key()
}

/// A lifted finger has read something: that stays until the next tap.
pub fn leave<C: Copy + PartialEq + Send + Sync + 'static>(
    e: &ev::PointerEvent,
    pointing: Pointing<C>,
) {
    if e.pointer_type() != "touch" {
        pointing.leave();
    }
}

/// Where the pointer is within the element that hears of it, in CSS pixels.
pub fn offset(e: &MouseEvent) -> (f64, f64) {
    (f64::from(e.offset_x()), f64::from(e.offset_y()))
}

/// Where a key leads from `at` among `count` places in a row. Page Up and Page Down are the story's: who
/// presents has clicked on a figure a moment ago.
pub fn step_along(key: &str, at: usize, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match key {
        "ArrowLeft" | "ArrowDown" => at.saturating_sub(1),
        "ArrowRight" | "ArrowUp" => (at + 1).min(last),
        "Home" => 0,
        "End" => last,
        _ => return None,
    })
}

/// Where a key leads from a row and column among so many.
pub fn step_cell(
    key: &str,
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
) -> Option<(usize, usize)> {
    let (last_row, last_column) = (rows.checked_sub(1)?, columns.checked_sub(1)?);
    Some(match key {
        "ArrowUp" => (row.saturating_sub(1), column),
        "ArrowDown" => ((row + 1).min(last_row), column),
        "ArrowLeft" => (row, column.saturating_sub(1)),
        "ArrowRight" => (row, (column + 1).min(last_column)),
        "Home" => (row, 0),
        "End" => (row, last_column),
        _ => return None,
    })
}

/// Where a key leads in a row of `count`: left and right, where `upright` also up and down.
fn step_row(key: &str, at: usize, count: usize, upright: bool) -> Option<usize> {
    let key = match key {
        "ArrowUp" | "ArrowDown" if !upright => return None,
        "ArrowUp" => "ArrowLeft",
        "ArrowDown" => "ArrowRight",
        key => key,
    };
    step_along(key, at, count)
}

/// Gives the focus to the `at`-th element within `row`.
pub fn focus_child(row: &Element, at: usize) {
    if let Some(child) = row.children().item(at as u32) {
        // Focusing an element that is still there cannot fail.
        let _ = child.unchecked_into::<HtmlElement>().focus();
    }
}

/// In a row of elements of which the `at`-th has the focus, the row or that element listening to
/// keys: moves the focus to a neighbor or an end, and says where to.
pub fn walk(e: &ev::KeyboardEvent, row: &Element, at: usize, upright: bool) -> Option<usize> {
    if is_shortcut(e) {
        return None;
    }
    let to = step_row(&e.key(), at, row.child_element_count() as usize, upright)?;
    e.prevent_default();
    focus_child(row, to);
    Some(to)
}

/// The element that listens.
pub fn listener(e: &ev::KeyboardEvent) -> Option<Element> {
    Some(e.current_target()?.unchecked_into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_to_neighbors_and_stop_at_the_ends() {
        let along = |key| step_along(key, 3, 40);
        assert_eq!([along("ArrowLeft"), along("ArrowUp")], [2, 4].map(Some));
        assert_eq!([along("Home"), along("End"), along("PageUp")], [Some(0), Some(39), None]);
        assert_eq!((along("x"), step_along("Home", 0, 0)), (None, None));
        let row = |key, upright| step_row(key, 1, 3, upright);
        assert_eq!([row("ArrowUp", true), row("ArrowDown", true)], [Some(0), Some(2)]);
        assert_eq!([row("ArrowUp", false), row("PageUp", true)], [None; 2]);
        let cell = |key| step_cell(key, (1, 2), (3, 4));
        let keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
        assert_eq!(keys.map(cell), [(0, 2), (2, 2), (1, 1), (1, 3)].map(Some));
        assert_eq!(["PageUp", "PageDown"].map(cell), [None; 2]);
        assert_eq!((cell("Home"), cell("End")), (Some((1, 0)), Some((1, 3))));
        assert_eq!((cell("a"), step_cell("Home", (0, 0), (0, 3))), (None, None));
    }

    #[test]
    fn a_place_that_is_gone_leads_to_the_nearest() {
        let at = |place| nearest(&[4, 2], place);
        assert_eq!([at((0, 3)), at((1, 3)), at((7, 0))], [(0, 3), (1, 1), (1, 0)]);
        assert_eq!((nearest(&[0, 0], (1, 5)), nearest(&[], (2, 2))), ((1, 0), (0, 0)));
    }
}
