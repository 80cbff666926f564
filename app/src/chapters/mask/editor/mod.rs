//! An attention matrix whose mask can be edited: by click, by drag, and by keyboard.

mod data;

use leptos::{ev, prelude::*};

pub use data::Sheet;

use crate::{
    figures::{Hue, MatrixFigure, Provenance},
    reactive::memo,
};

/// Row and column, from 0.
type Place = (usize, usize);

/// The press of a pointer that may become a drag.
#[derive(Clone, Copy, Default)]
struct Press {
    /// Where it began, as far as it is known.
    start: Option<Place>,
    /// What the cells under it are set to, once it has moved to a second one.
    to: Option<bool>,
}

/// Weights as a heatmap, blocked cells hatched. Cells whose mask the learner wants otherwise than
/// the weights on show have it are outlined.
///
/// While `editing`, `on_paint` hears of each cell to be set, and what to; otherwise `on_pick` of
/// the cell that is chosen.
#[component]
pub fn MaskEditor(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] sheet: Signal<Sheet>,
    #[prop(into)] editing: Signal<bool>,
    #[prop(into)] row: Signal<Option<usize>>,
    #[prop(into)] provenance: Signal<Provenance>,
    on_paint: Callback<(Place, bool)>,
    on_pick: Callback<Place>,
) -> impl IntoView {
    let matrix = memo(move || sheet.with(Sheet::matrix));
    let outlined = memo(move || sheet.with(Sheet::pending));
    let pointed = StoredValue::new(None::<Place>);
    let press = StoredValue::new(None::<Press>);
    // The click at the end of a drag is not one.
    let dragged = StoredValue::new(false);

    let set = move |place: Place, to: bool| {
        if sheet.with_untracked(|s| s.wanted(place)) != Some(to) {
            on_paint.run((place, to));
        }
    };
    let toggle = move |place: Place| {
        if let Some(wanted) = sheet.with_untracked(|s| s.wanted(place)) {
            on_paint.run((place, !wanted));
        }
    };
    let on_point = Callback::new(move |place: Option<Place>| {
        pointed.set_value(place);
        let (Some(place), Some(mut now), true) =
            (place, press.get_value(), editing.get_untracked())
        else {
            return;
        };
        match now.start {
            None => now.start = Some(place),
            Some(start) if start != place => {
                let to = now.to.unwrap_or_else(|| {
                    !sheet.with_untracked(|s| s.wanted(start)).unwrap_or_default()
                });
                set(start, to);
                set(place, to);
                now.to = Some(to);
                dragged.set_value(true);
            }
            Some(_) => {}
        }
        press.set_value(Some(now));
    });
    let pick = Callback::new(move |place: Place| {
        if dragged.get_value() {
            return;
        }
        if editing.get_untracked() {
            toggle(place);
        } else {
            on_pick.run(place);
        }
    });
    let on_down = move |event: ev::PointerEvent| {
        // A finger's cell is pointed at only once it is down.
        let touch = event.pointer_type() == "touch";
        let start = if touch { None } else { pointed.get_value() };
        press.set_value(Some(Press { start, to: None }));
    };
    let ended = move |_: ev::PointerEvent| {
        press.try_set_value(None);
        // A click follows at once, before any timer.
        let forget = move || {
            dragged.try_set_value(false);
        };
        set_timeout(forget, core::time::Duration::ZERO);
    };
    let up = window_event_listener(ev::pointerup, ended);
    let cancel = window_event_listener(ev::pointercancel, ended);
    on_cleanup(move || {
        up.remove();
        cancel.remove();
    });
    let describe = Callback::new(move |(query, key, _): (usize, usize, f32)| {
        sheet.with(|sheet| sheet.describe((query, key)))
    });
    view! {
        <div class="mask-editor" class:mask-editing=move || editing.get()
            data-testid="mask-editor" on:pointerdown=on_down>
            <MatrixFigure name title matrix provenance describe marked=outlined row on_pick=pick on_point
                row_hue=Hue::Query column_hue=Hue::Key/>
        </div>
    }
    .into_any()
}
