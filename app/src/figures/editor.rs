//! A sentence that is edited in its own row of tokens: a text field laid exactly over the row, so
//! that arrow keys, input methods and screen readers have what they know.

use leptos::{ev, html, prelude::*};

use crate::reactive::{effect, memo};

use super::{
    row::Row,
    second::own,
    select::{Cell, Selection},
    tint::Run,
};

/// Stands for a line break: the field is one line, as the row is.
const LINE: &str = "⏎";

/// The sentence of a figure, in somebody else's hands.
#[derive(Clone, Copy)]
pub struct Editor {
    /// What it is for: "Sentence to look at".
    pub label: &'static str,
    pub value: Signal<String>,
    /// Hears of every edit.
    pub on_input: Callback<String>,
    /// What is to be said of it; empty where nothing is.
    pub note: Signal<String>,
    /// Why there is no picture of it.
    pub problem: Signal<Option<String>>,
    /// Its tokens, where they are others than its characters.
    pub tokens: Signal<Option<Vec<Run>>>,
}

/// The field over a row of tokens. Figures hold a copy.
#[derive(Clone, Copy)]
pub(super) struct Field {
    node: NodeRef<html::Textarea>,
    /// How many characters of the sentence begin before each token, and in all.
    starts: Memo<Vec<u32>>,
    selection: Selection,
    /// The token on which the mouse went down.
    anchor: StoredValue<Option<usize>>,
    /// The characters before what is selected, and before its end, while the field has the keyboard.
    selected: RwSignal<Option<[u32; 2]>>,
}

/// UTF-16 units of the first `characters` of `text`: how a text field counts.
fn units(text: &str, characters: usize) -> u32 {
    text.chars().take(characters).map(char::len_utf16).sum::<usize>() as u32
}

/// Characters within the first `units`.
fn characters(text: &str, units: u32) -> usize {
    let mut left = units as usize;
    text.chars()
        .take_while(|c| {
            let fits = c.len_utf16() <= left;
            left = left.saturating_sub(c.len_utf16());
            fits
        })
        .count()
}

/// The token that a caret follows or stands in, with so many characters before it.
fn token_before(starts: &[u32], caret: u32) -> usize {
    let ended = starts.iter().skip(1).take_while(|end| **end <= caret).count();
    match starts.get(ended) {
        // Typed after the last token: its own tokens are still to come, one each as far as is known.
        Some(end) if ended + 1 == starts.len() => {
            (ended + caret.saturating_sub(*end) as usize).saturating_sub(1)
        }
        Some(start) if *start < caret => ended,
        _ => ended.saturating_sub(1),
    }
}

impl Field {
    pub fn new(selection: Selection, starts: Memo<Vec<u32>>) -> Self {
        let (node, anchor) = (NodeRef::new(), StoredValue::new(None));
        Self { node, starts, selection, anchor, selected: RwSignal::new(None) }
    }

    /// The mouse goes down on the token at `position`.
    pub fn press(self, position: usize) {
        self.anchor.set_value(Some(position));
    }

    /// The mouse is dragged over the token at `position`: what lies between is selected.
    pub fn drag(self, position: usize) {
        if let Some(anchor) = self.anchor.get_value() {
            self.select(anchor.min(position), anchor.max(position) + 1);
        }
    }

    /// Puts the caret after the token at `position`, and the keyboard into the field.
    pub fn place(self, position: usize) {
        self.anchor.set_value(None);
        self.select(position + 1, position + 1);
    }

    /// Selects the tokens from one to before another.
    fn select(self, from: usize, to: usize) {
        let Some(field) = self.node.get_untracked() else { return };
        let text = field.value();
        let place = |token: usize| {
            self.starts.with_untracked(|starts| {
                units(&text, starts.get(token).or(starts.last()).map_or(0, |at| *at as usize))
            })
        };
        // A field that is on the page can be focused, and has the characters that are counted.
        let _ = field.focus();
        let _ = field.set_selection_range(place(from), place(to));
        self.follow();
    }

    /// Takes up where the caret is.
    fn follow(self) -> Option<u32> {
        let field = self.node.get_untracked()?;
        let text = field.value();
        let [from, to] = [field.selection_start(), field.selection_end()]
            .map(|at| characters(&text, at.ok().flatten().unwrap_or_default()) as u32);
        self.selected.set(Some([from, to]));
        Some(to)
    }

    /// The token left of the caret is the query: what the model expects next belongs at the caret.
    fn follow_caret(self) {
        let Some(caret) = self.follow() else { return };
        let query = self.starts.with_untracked(|starts| token_before(starts, caret));
        self.selection.point(Cell { query, key: None });
    }
}

/// The text field over the row. Its text is not seen: the tokens are.
#[component]
pub(super) fn EditorField(editor: Editor, field: Field, row: Memo<Row>) -> impl IntoView {
    let Editor { label, value, on_input, problem, .. } = editor;
    let Field { node, starts, selection, selected, .. } = field;
    // Where each token is one character, the field’s own caret stands where the tokens do. Otherwise one
    // is drawn.
    let is_plain =
        memo(move || starts.with(|starts| starts.windows(2).all(|pair| pair[1] == pair[0] + 1)));
    let before = move || starts.with(|starts| starts.first().copied().unwrap_or_default());
    let pitch = move || {
        row.with(|row| match is_plain.get() {
            true => row.pitch(),
            // On average: where the field’s own caret is, an input method shows its list.
            false => {
                let end = starts.with(|starts| starts.last().copied().unwrap_or_default());
                row.width() / f64::from(end.saturating_sub(before()).max(1))
            }
        })
    };
    // The tokens come later than what was typed.
    effect(move || {
        starts.track();
        if let Some([_, caret]) = selected.get_untracked() {
            let query = starts.with_untracked(|starts| token_before(starts, caret));
            if !is_plain.get_untracked() {
                selection.point(Cell { query, key: None });
            }
        }
    });
    let drawn = move || {
        let [from, to] = selected.get().filter(|_| !is_plain.get())?;
        let at = |place| row.with(|row| starts.with(|starts| row.caret(starts, place)));
        let (left, right) = (at(from), at(to));
        let style = format!("left:{left}em;width:{}em", right - left);
        Some(view! { <i class="token-caret" class:token-range={from < to} style=style></i> })
    };
    let shown = move || value.with(|text| text.replace(['\n', '\r'], LINE));
    let on_edit = move |_: ev::Event| {
        let Some(node) = node.get_untracked() else { return };
        let text = node.value();
        if text.contains('\n') {
            // In its place stands one sign: the caret stays where it is.
            let caret = node.selection_end().ok().flatten().unwrap_or_default();
            node.set_value(&text.replace('\n', LINE));
            let _ = node.set_selection_range(caret, caret);
        }
        on_input.run(text.replace(LINE, "\n"));
        field.follow_caret();
    };
    let on_key = move |e: ev::KeyboardEvent| {
        let key = e.key();
        if matches!(
            key.as_str(),
            "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" | "Home" | "End"
        ) {
            field.follow_caret();
        }
    };
    view! {
        <div class="token-edit" class:token-edit-own=move || !is_plain.get()>
            {drawn}
            <label class="visually-hidden" for=own("probe", "input")>{label}</label>
            <textarea id=own("probe", "input") data-testid="probe-input" node_ref=node wrap="off" rows="1"
                autocomplete="off" autocapitalize="off" spellcheck="false"
                aria-describedby=format!("{} {}", own("probe", "note"), own("probe", "problem"))
                aria-invalid=move || problem.with(Option::is_some).then_some("true")
                style=move || format!(
                    "--pitch:{}em;--before:{};--cells:{}",
                    pitch(), before(), value.with(|text| text.chars().count()) + 1
                )
                prop:value=shown on:input=on_edit on:keyup=on_key
                on:selectionchange=move |_| { field.follow(); }
                on:blur=move |_| {
                    selected.try_set(None);
                    selection.leave();
                }>
            </textarea>
        </div>
    }
    .into_any()
}

/// What is to be said of the sentence, over the arcs: nothing moves for it.
#[component]
pub(super) fn EditorNotes(editor: Editor) -> impl IntoView {
    view! {
        <div class="token-notes">
            <p class="hint" id=own("probe", "note") role="status" data-testid="probe-note">{editor.note}</p>
            <p class="field-error" id=own("probe", "problem") role="alert" data-testid="probe-problem">
                {move || editor.problem.get()}
            </p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_units_go_back_and_forth() {
        let text = "a🙂b⏎";
        assert_eq!([0, 1, 2, 3, 4, 9].map(|n| units(text, n)), [0, 1, 3, 4, 5, 5]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|n| characters(text, n)), [0, 1, 1, 2, 3, 4]);
    }

    #[test]
    fn the_caret_follows_a_token_or_stands_in_one() {
        // One character each, after two that the model has no room for.
        let plain = [2, 3, 4, 5];
        assert_eq!([0, 2, 3, 4, 5, 6, 7].map(|at| token_before(&plain, at)), [0, 0, 0, 1, 2, 3, 4]);
        // “the”, then a character of three tokens, then one of two.
        let parts = [0, 3, 4, 4, 4, 5, 5];
        assert_eq!([0, 1, 3, 4, 5].map(|at| token_before(&parts, at)), [0, 0, 0, 3, 5]);
        assert_eq!(token_before(&[], 4), 0);
    }
}
