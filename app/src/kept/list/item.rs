//! One run of the list: its line, the picture of its losses and its buttons.

use leptos::{html, prelude::*, task::spawn_local};

use super::{
    deletion::Bin,
    differences::{differences, own_text},
    duplicate::duplicate,
    focus::id,
    renaming::renaming,
    row::{Row, said},
};
use crate::kept::go_on;

/// Width and height of the picture of a run's losses, in pixels.
const SPARK: [f32; 2] = [96.0, 28.0];

/// One run of the list. `renamed` holds the file of the one whose name is being changed.
pub(super) fn item(
    row: Row,
    bin: Bin,
    renamed: RwSignal<Option<String>>,
    sum: Memo<u32>,
) -> AnyView {
    let store = bin.store;
    let own = store.keeping(|keeping| keeping.file.as_ref() == Some(&row.file));
    let (damaged, elsewhere) = (row.head.is_none(), row.elsewhere);
    let beside = match (row.is_twin(), elsewhere) {
        (true, true) => " (open as a twin)",
        (true, false) => " (trained as a twin)",
        (false, true) => " (open in another tab)",
        (false, false) => "",
    };
    let [title, rest] = said(&row);
    let head = row.head.clone();
    let otherwise = move || {
        let differences = head
            .as_ref()
            .filter(|_| !own)
            .map(|head| store.built.with(|built| differences(head, built, &own_text(store, sum))));
        differences.filter(|all| !all.is_empty()).map(|all| {
            view! {
                <p class="hint" data-testid="kept-differs">
                    {format!("Differs from the model on this page. {}.", all.join(". "))}
                </p>
            }
        })
    };
    let losses = row.head.map(|head| head.losses).filter(|losses| losses.len() > 1);
    let [width, height] = SPARK;
    let picture = losses.map(|losses| {
        view! {
            <svg class="kept-spark" width=width.to_string() height=height.to_string() aria-hidden="true">
                <polyline points=spark(&losses)/>
            </svg>
        }
    });
    let file = StoredValue::new(row.file);
    let name = StoredValue::new(row.name.unwrap_or_default());
    let button = NodeRef::<html::Button>::new();
    let close = Callback::new(move |()| {
        renamed.set(None);
        if let Some(button) = button.get_untracked() {
            let _ = button.focus();
        }
        // The list has waited for this.
        store.kept.notify();
    });
    let id = move |part: &str| id(part, &file.get_value());
    // Many runs have the same buttons, so each is named with its run.
    let named = move |action: &str| format!("{} {}", id(action), id("title"));
    let go = move |_| {
        renamed.set(None);
        spawn_local(async move { go_on(store, &file.get_value()).await });
    };
    let delete = move |_| {
        renamed.set(None);
        spawn_local(bin.take(vec![file.get_value()]));
    };
    let copy = move |_| spawn_local(async move { duplicate(store, &file.get_value()).await });
    let form = move || {
        let is_this = renamed.with(|renamed| renamed.as_ref() == Some(&file.get_value()));
        is_this.then(|| renaming(store, file.get_value(), name.get_value(), close))
    };
    view! {
        <li data-testid="kept-run">
            <div class="kept-line">
                <p>
                    <span translate="no"><span id=id("title")>{title}</span>{rest}</span>
                    {if own { " (the run on this page)" } else { beside }}
                </p>
                {picture}
            </div>
            {otherwise}
            {form}
            <div class="button-row">
                {(!damaged && !own).then(|| view! {
                    <button type="button" class="button" id=id("continue") aria-labelledby=named("continue") on:click=go>
                        "Continue"
                    </button>
                })}
                {(!damaged).then(|| view! {
                    <button type="button" class="button" id=id("rename") aria-labelledby=named("rename")
                        node_ref=button on:click=move |_| renamed.set(Some(file.get_value()))>
                        "Rename"
                    </button>
                    <button type="button" class="button" id=id("duplicate") aria-labelledby=named("duplicate")
                        on:click=copy>
                        "Duplicate"
                    </button>
                })}
                {(!elsewhere).then(|| view! {
                    <button type="button" class="button" id=id("delete") aria-labelledby=named("delete")
                        on:click=delete>
                        "Delete"
                    </button>
                })}
            </div>
        </li>
    }
    .into_any()
}

/// The points of a line through the losses, from the upper left to the lower right.
fn spark(losses: &[f32]) -> String {
    let [width, height] = SPARK;
    let (low, high) =
        losses.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), loss| {
            (low.min(*loss), high.max(*loss))
        });
    let range = (high - low).max(f32::MIN_POSITIVE);
    let last = (losses.len().max(2) - 1) as f32;
    let point = |(at, loss): (usize, &f32)| {
        // A line of its own width stays inside.
        let (x, y) = (at as f32 / last, (high - loss) / range);
        format!("{:.1},{:.1}", 1.0 + x * (width - 2.0), 1.0 + y * (height - 2.0))
    };
    losses.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_a_line_from_left_to_right() {
        assert_eq!(spark(&[4.0, 2.0, 3.0]), "1.0,1.0 48.0,27.0 95.0,14.0");
        // A straight one has no height.
        assert_eq!(spark(&[2.0, 2.0]), "1.0,1.0 95.0,1.0");
    }
}
