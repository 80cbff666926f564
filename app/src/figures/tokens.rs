//! The probe sentence as a row of tokens under their arcs.

use leptos::{ev, html, prelude::*};

use super::{
    arcs::Arcs,
    canvas::use_next_frame,
    editor::{Editor, EditorField, EditorNotes, Field},
    reading::{leave, listener, walk},
    row::Row,
    scroll::{self, Land},
    select::{Cell, Selection},
    theme::Colors,
    tint, token,
    view::HeadView,
};
use crate::reactive::{effect, memo};

/// Tokens as a list box: pointing at one, or moving the focus to it, makes it the query. The strip
/// under each token is colored by the weight the query gives it. With an `editor` the row is where
/// the sentence is written, too. A `plain` row shows no weights.
#[component]
pub fn Tokens(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    colors: Memo<Colors>,
    editor: Option<Editor>,
    #[prop(optional)] plain: bool,
) -> impl IntoView {
    // Changes with the sentence only, so that the row is not built anew with every trace.
    let sentence =
        memo(move || view.with(|v| v.as_ref().map_or_else(Vec::new, |v| v.trace().tokens.clone())));
    let row = memo(move || sentence.with(|s| Row::new(s)));
    let scroller = NodeRef::<html::Div>::new();
    keep_in_sight(scroller, selection, row);
    let starts =
        memo(move || view.with(|v| v.as_ref().map_or_else(Vec::new, |v| v.trace().starts.clone())));
    let field = editor.map(|_| Field::new(selection, starts));
    let tinted = memo(move || editor.is_some_and(|editor| editor.tokens.with(Option::is_some)));
    view! {
        <div class="tokens" class:plain=plain>
        {editor.map(|editor| view! { <EditorNotes editor /> })}
        <div class="token-scroller" node_ref=scroller
            style=move || format!("--width:{}", row.with(Row::width))>
            <div class="token-track" translate="no">
                {(!plain).then(|| view! { <Arcs view selection row /> })}
                <div
                    class="token-row"
                    role="listbox"
                    aria-orientation="horizontal"
                    aria-label="Tokens of the sentence. Arrow keys choose the query token."
                    on:pointerleave=move |e: ev::PointerEvent| leave(&e, *selection)
                >
                    <For
                        each=move || 0..sentence.with(Vec::len)
                        key=|position| *position
                        children=move |position| {
                            let token = memo(move || {
                                sentence.with(|s| s.get(position).cloned().unwrap_or_default())
                            });
                            view! { <Token view selection colors row field tinted position token /> }
                        }
                    />
                </div>
                {editor.zip(field).map(|(editor, field)| view! { <EditorField editor field row /> })}
            </div>
        </div>
        </div>
    }
}

#[component]
fn Token(
    view: Memo<Option<HeadView>>,
    selection: Selection,
    colors: Memo<Colors>,
    row: Memo<Row>,
    field: Option<Field>,
    tinted: Memo<bool>,
    position: usize,
    token: Memo<String>,
) -> impl IntoView {
    let own = Cell { query: position, key: None };
    let focus = move || selection.focus();
    let is_query = memo(move || focus().is_some_and(|c| c.query == position));
    let is_key = memo(move || focus().is_some_and(|c| c.key == Some(position)));
    let blocked = memo(move || {
        let blocked =
            |query| view.with(|v| v.as_ref().is_some_and(|v| v.is_blocked(query, position)));
        focus().is_some_and(|c| blocked(c.query))
    });
    let weight = move || {
        let query = focus()?.query;
        view.with(|v| Some(v.as_ref()?.weight(query, position)))
    };
    let strip = move || match weight() {
        Some(weight) if !blocked.get() => {
            format!("background:{}", colors.with(|c| c.ramp.at(weight).css()))
        }
        _ => String::new(),
    };
    let name = move || token.with(|token| token::spoken(token));
    // Without the weight: the token that has the focus is the query, not a key.
    let label = move || format!("{}, {}", name(), position + 1);
    let on_key = move |e: ev::KeyboardEvent| match e.key().as_str() {
        "Enter" | " " => {
            e.prevent_default();
            selection.toggle_pin(own);
        }
        "Escape" => selection.unpin(),
        _ => {
            if let Some(row) = listener(&e).and_then(|own| own.parent_element()) {
                walk(&e, &row, position, false);
            }
        }
    };
    view! {
        <div
            class="token"
            class:query=is_query
            class:key=is_key
            class:blocked=blocked
            class:unknown=move || token.with(|token| token == token::UNKNOWN)
            role="option"
            data-testid=format!("token-{position}")
            title=name
            aria-label=label
            aria-selected=move || is_query.get().to_string()
            tabindex=move || if is_query.get() { "0" } else { "-1" }
            style=move || {
                let width = row.with(|t| t.width_of(position));
                let ground = if tinted.get() { token.with(|token| tint::css(token)) } else { "" };
                format!("width:{width}em;background:{ground}")
            }
            on:pointerenter=move |e: ev::PointerEvent| {
                if e.pointer_type() == "touch" {
                    return;
                }
                match field.filter(|_| e.buttons() & 1 == 1) {
                    Some(field) => field.drag(position),
                    None => selection.point(own),
                }
            }
            on:pointerdown=move |e: ev::PointerEvent| {
                selection.press(own, e.pointer_type() == "touch");
                if let Some(field) = field {
                    field.press(position);
                }
            }
            // The keyboard goes to the field, not to the token.
            on:mousedown=move |e: ev::MouseEvent| {
                if field.is_some() {
                    e.prevent_default();
                }
            }
            on:click=move |_| {
                if let Some(field) = field.filter(|_| selection.press_counts()) {
                    field.place(position);
                }
                selection.click(own);
            }
            on:focus=move |_| selection.point(own)
            on:blur=move |_| selection.leave()
            on:keydown=on_key
        >
            <span>{move || token.with(|token| token::mark(token))}</span>
            <i class="token-weight" style=strip></i>
        </div>
    }
}

/// Scrolls the row, and nothing else, so far that the query can be seen: when one is chosen, and
/// with every new sentence.
fn keep_in_sight(scroller: NodeRef<html::Div>, selection: Selection, row: Memo<Row>) {
    let (next, wanted) = (use_next_frame(), StoredValue::new(0));
    // Figures are drawn in a frame. Asked for the row's size in the middle of it, the browser would lay
    // out the page for that, and once more at the end of the frame.
    let show = move |query: usize| {
        wanted.set_value(query);
        if next.is_asked() {
            return;
        }
        next.ask(move || {
            let Some(scroller) = scroller.get_untracked() else { return };
            let query = wanted.get_value();
            let share = row.with_untracked(|t| t.middle(query) / t.width().max(f64::MIN_POSITIVE));
            let middle = share * f64::from(scroller.scroll_width());
            scroll::across(&scroller, [middle; 2], Land::InMiddle);
        });
    };
    effect(move || {
        scroller.track();
        if let Some(cell) = selection.shown() {
            show(cell.query);
        }
    });
    effect(move || {
        scroller.track();
        row.track();
        selection.track_rest();
        if let Some(cell) = selection.start() {
            show(cell.query);
        }
    });
}
