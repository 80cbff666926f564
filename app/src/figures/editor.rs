//! A sentence that is edited in its own row of tokens: a text field laid exactly over the row, so
//! that arrow keys, input methods and screen readers have what they know.

use leptos::{ev, html, prelude::*};

use super::{
    row::Row,
    second::own,
    select::{Cell, Selection},
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
}

/// The field over a row of tokens, one character each. Figures hold a copy.
#[derive(Clone, Copy)]
pub(super) struct Field {
    node: NodeRef<html::Textarea>,
    /// Characters of the sentence that the model has no room for: those before the row.
    dropped: Memo<usize>,
    selection: Selection,
    /// The token on which the mouse went down.
    anchor: StoredValue<Option<usize>>,
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

impl Field {
    pub fn new(selection: Selection, dropped: Memo<usize>) -> Self {
        Self { node: NodeRef::new(), dropped, selection, anchor: StoredValue::new(None) }
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

    fn select(self, from: usize, to: usize) {
        let Some(field) = self.node.get_untracked() else { return };
        let (text, before) = (field.value(), self.dropped.get_untracked());
        // A field that is on the page can be focused, and has the characters that are counted.
        let _ = field.focus();
        let _ = field.set_selection_range(units(&text, before + from), units(&text, before + to));
    }

    /// The token left of the caret is the query: what the model expects next belongs at the caret.
    fn follow_caret(self) {
        let Some(field) = self.node.get_untracked() else { return };
        let caret = field.selection_end().ok().flatten().unwrap_or_default();
        let position = characters(&field.value(), caret);
        let position = position.saturating_sub(self.dropped.get_untracked()).saturating_sub(1);
        self.selection.point(Cell { query: position, key: None });
    }
}

/// The text field over the row. Its text is not seen: the tokens are.
#[component]
pub(super) fn EditorField(editor: Editor, field: Field, row: Memo<Row>) -> impl IntoView {
    let Editor { label, value, on_input, problem, .. } = editor;
    let Field { node, dropped, selection, .. } = field;
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
        <div class="token-edit">
            <label class="visually-hidden" for=own("probe", "input")>{label}</label>
            <textarea id=own("probe", "input") data-testid="probe-input" node_ref=node wrap="off" rows="1"
                autocomplete="off" autocapitalize="off" spellcheck="false"
                aria-describedby=format!("{} {}", own("probe", "note"), own("probe", "problem"))
                aria-invalid=move || problem.with(Option::is_some).then_some("true")
                style=move || format!(
                    "--pitch:{}em;--before:{};--cells:{}",
                    row.with(Row::pitch), dropped.get(), value.with(|text| text.chars().count()) + 1
                )
                prop:value=shown on:input=on_edit on:keyup=on_key
                on:blur=move |_| selection.leave()>
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
}
