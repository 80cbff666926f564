//! Short names for what the app's wasm imports from its script.
//!
//! wasm-bindgen gives each import a long name with a hash in it, which no compression shortens: with
//! some four hundred of them, a few kilobytes in both files. Both files are of one build, so any
//! names do that agree.

use crate::stamp::leb128;

/// The id of wasm's section of imports.
const IMPORTS: u8 = 2;

/// `wasm` and `script` with short names for the functions that `wasm` imports from `module` and
/// `script` defines as `name: function`; `None` where `wasm` is not whole.
pub fn shorten(wasm: &[u8], script: &str, module: &str) -> Option<(Vec<u8>, String)> {
    let (header, mut rest) = wasm.split_at_checked(8)?;
    let mut shortened = header.to_vec();
    let mut script = script.to_owned();
    while let Some((&kind, after_kind)) = rest.split_first() {
        let (length, content) = leb128(after_kind)?;
        let (content, next) = content.split_at_checked(length)?;
        if kind == IMPORTS {
            let imports = rename(content, &mut script, module)?;
            shortened.push(IMPORTS);
            push_leb128(&mut shortened, imports.len());
            shortened.extend(imports);
        } else {
            shortened.extend_from_slice(&rest[..rest.len() - next.len()]);
        }
        rest = next;
    }
    Some((shortened, script))
}

/// The section of imports with short names, which `script` is given, too.
fn rename(section: &[u8], script: &mut String, module: &str) -> Option<Vec<u8>> {
    let (count, mut rest) = leb128(section)?;
    let mut renamed = section[..section.len() - rest.len()].to_vec();
    let mut definitions: Vec<(String, String)> = Vec::new();
    for number in 0..count {
        let (from, after) = text(rest)?;
        let (name, after) = text(after)?;
        let (&kind, after) = after.split_first()?;
        // A function's type is one number; the rest of other kinds is left as it is.
        let (described, next) = match kind {
            0 => (0, leb128(after)?.1),
            _ => (kind, after),
        };
        let definition = format!("{name}: function");
        let short = format!("i{number}");
        let known = described == 0 && from == module && script.matches(&definition).count() == 1;
        push_text(&mut renamed, from);
        push_text(&mut renamed, if known { &short } else { name });
        renamed.push(kind);
        if described != 0 {
            // Nothing of other kinds comes before functions; from here on names stay.
            renamed.extend_from_slice(after);
            rest = &[];
            break;
        }
        renamed.extend_from_slice(&after[..after.len() - next.len()]);
        if known {
            definitions.push((definition, format!("{short}: function")));
        }
        rest = next;
    }
    if !rest.is_empty() {
        return None;
    }
    for (long, short) in definitions {
        *script = script.replacen(&long, &short, 1);
    }
    Some(renamed)
}

/// The text that `bytes` start with, after its length, and what follows it.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, bytes) = leb128(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    Some((str::from_utf8(text).ok()?, rest))
}

fn push_text(to: &mut Vec<u8>, text: &str) {
    push_leb128(to, text.len());
    to.extend_from_slice(text.as_bytes());
}

fn push_leb128(to: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(module: &str, name: &str, described: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_text(&mut bytes, module);
        push_text(&mut bytes, name);
        bytes.extend_from_slice(described);
        bytes
    }

    fn module(imports: &[Vec<u8>]) -> Vec<u8> {
        let mut section = Vec::new();
        push_leb128(&mut section, imports.len());
        section.extend(imports.concat());
        let mut wasm = b"\0asm\x01\0\0\0".to_vec();
        wasm.push(IMPORTS);
        push_leb128(&mut wasm, section.len());
        wasm.extend(section);
        // Another section, of two bytes.
        wasm.extend([10, 2, 1, 2]);
        wasm
    }

    #[test]
    fn both_files_get_the_same_names_and_all_else_stays() {
        let function = [0, 0x81, 1];
        let long = "__wbg_a_0123456789abcdef".repeat(9);
        let script =
            format!("x = {{ {long}: function() {{}}, b: function() {{}} }}; other: function");
        let imports = |first: &str| {
            [
                import("m", first, &function),
                import("else", "b", &function),
                import("m", "not there", &function),
            ]
        };
        let (wasm, script) = shorten(&module(&imports(&long)), &script, "m").unwrap();
        assert_eq!(wasm, module(&imports("i0")));
        assert_eq!(script, "x = { i0: function() {}, b: function() {} }; other: function");
    }

    #[test]
    fn what_is_no_function_is_kept_with_all_that_follows() {
        let memory = import("m", "memory", &[2, 0, 1]);
        let imports = [import("m", "f", &[0, 1]), memory.clone(), import("m", "g", &[0, 1])];
        let script = "f: function g: function";
        let (wasm, script) = shorten(&module(&imports), script, "m").unwrap();
        assert_eq!(wasm, module(&[import("m", "i0", &[0, 1]), memory, imports[2].clone()]));
        assert_eq!(script, "i0: function g: function");
        assert_eq!(shorten(b"\0asm\x01\0\0\0\x02\x05", "", "m"), None);
    }
}
