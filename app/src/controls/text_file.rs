//! A file of text, read without holding up the page.

use core::pin::Pin;

use js_sys::{JSON, JsString, Object, Reflect, Uint8Array};
use unroll_protocol::text::{self, Accepted, Reader};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use super::{counted, grouped};
use crate::reactive::next_task;

/// Reads a file, or says why it can't be learned.
pub type Read = fn(File) -> Pin<Box<dyn Future<Output = Result<Accepted, String>>>>;

/// See [`Read`]. Of a large file only the passages that are learned are read, one after the other.
pub fn read(file: File) -> Pin<Box<dyn Future<Output = Result<Accepted, String>>>> {
    Box::pin(async move {
        let bytes = file.size();
        let mut reader = Reader::new(bytes as u64);
        for part in text::passages(bytes as u64) {
            // A folder, or a file that was deleted meanwhile.
            let trouble = |_| format!("“{}” could not be read as a file.", file.name());
            let slice = file.slice_with_f64_and_f64(part.start as f64, part.end as f64);
            let buffer = JsFuture::from(slice.map_err(trouble)?.array_buffer()).await;
            let passage = Uint8Array::new(&buffer.map_err(trouble)?).to_vec();
            reader.add(&passage).map_err(|error| error.to_string())?;
        }
        let is_object = |line: &str| JSON::parse(line).is_ok_and(|value| value.is_object());
        let unpack = |text: String| match has_json_lines(&file.name(), &text, is_object) {
            true => texts_of(&text).unwrap_or((text, None)),
            false => (text, None),
        };
        // A text of some megabytes takes the page a while to read, to check, and again to hand on.
        next_task().await;
        let read = reader.finish(unpack);
        next_task().await;
        read.map_err(|error| error.to_string())
    })
}

/// Lines of a file that tell whether all of them are objects.
const LOOKED_AT: usize = 8;

/// Whether each line of such a file is said to be a value in JSON, or the first lines of one in JSON are objects
/// each. One line alone is a file as any in JSON.
fn has_json_lines(name: &str, text: &str, is_object: impl Fn(&str) -> bool) -> bool {
    let name = name.to_ascii_lowercase();
    if [".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end)) {
        return true;
    }
    let lines = || text.split('\n').filter(|line| !line.trim().is_empty()).take(LOOKED_AT);
    name.ends_with(".json")
        && lines().nth(1).is_some()
        && lines().all(|line| line.trim_start().starts_with('{') && is_object(line))
}

/// The texts in the lines, and a sentence about them. `None` where most lines are not in JSON or hold no text.
fn texts_of(lines: &str) -> Option<(String, Option<String>)> {
    let lines = lines.split('\n').filter(|line| !line.trim().is_empty());
    let texts: Vec<Option<String>> = lines.map(text_of).collect();
    let found: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    if found.len() * 2 <= texts.len() {
        return None;
    }
    let note = match texts.len() - found.len() {
        0 => format!("Text was taken from {} of JSON.", lines_said(found.len())),
        1 => format!(
            "Text was taken from {} of JSON. 1 other line had no text and was skipped.",
            lines_said(found.len())
        ),
        without => format!(
            "Text was taken from {} of JSON. {} other lines had no text and were skipped.",
            lines_said(found.len()),
            grouped(without as u64)
        ),
    };
    Some((found.join("\n"), Some(note)))
}

fn lines_said(lines: usize) -> String {
    counted(lines as u64, "line")
}

/// The text in a line: the value itself, its field `text`, or else its longest text.
fn text_of(line: &str) -> Option<String> {
    let value = JSON::parse(line).ok()?;
    if let Some(text) = value.as_string() {
        return Some(text);
    }
    let object: Object = value.dyn_into().ok()?;
    if let Some(text) = Reflect::get(&object, &"text".into()).ok().and_then(|text| text.as_string())
    {
        return Some(text);
    }
    let values =
        Object::values(&object).into_iter().filter_map(|value| value.dyn_into::<JsString>().ok());
    values.max_by_key(JsString::length).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_json_are_told_by_the_name_or_the_first_lines() {
        // Enough of an object for this.
        let has = |name: &str, text: &str| {
            has_json_lines(name, text, |line| line.trim_end().ends_with('}'))
        };
        assert!(has("a.jsonl", "") && has("A.NDJSON", "no JSON at all"));
        let lines = "{\"text\": 1}\r\n\n{\"text\": 2}\n";
        assert!(has("a.json", lines) && has("A.JSON", lines));
        // Cut as the last passage of a large file may be, far behind the first lines.
        assert!(has("a.json", &format!("{}{{\"te", lines.repeat(LOOKED_AT))));
        assert!(!has("a.txt", lines) && !has("json", lines));
        for text in [
            "",
            "{\"text\": 1}",
            "{\n  \"text\": {}\n}",
            "[{},\n{}]",
            "{\"text\": 1},\n{\"text\": 2},",
            "{\"text\": 1}\n2\n",
        ] {
            assert!(!has("a.json", text), "{text:?}");
        }
    }
}
