//! Edits wasm files section by section: strips what browsers do not need, and shortens the names of
//! imports.

use wasm_encoder::{
    ImportSection, Module, RawSection,
    reencode::{Error, RoundtripReencoder, utils},
};
use wasmparser::{Parser, Payload, TypeRef};

type Result<T> = std::result::Result<T, Error>;

/// What happens to a section.
enum Fate {
    Kept,
    Left,
    Replaced(ImportSection),
}

/// `wasm` with each section treated as `fate` says. Sections that are kept are copied byte for
/// byte.
fn rewrite(wasm: &[u8], mut fate: impl FnMut(&Payload) -> Result<Fate>) -> Result<Vec<u8>> {
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        let Some((id, range)) = payload.as_section() else { continue };
        match fate(&payload)? {
            Fate::Kept => {
                let data = &wasm[range.start as usize..range.end as usize];
                module.section(&RawSection { id, data })
            }
            Fate::Left => &mut module,
            Fate::Replaced(imports) => module.section(&imports),
        };
    }
    Ok(module.finish())
}

/// `wasm` without the custom sections `name` (function names, for stack traces) and `producers`.
pub fn without_names(wasm: &[u8]) -> Result<Vec<u8>> {
    rewrite(wasm, |payload| {
        Ok(match payload {
            Payload::CustomSection(custom) if matches!(custom.name(), "name" | "producers") => {
                Fate::Left
            }
            _ => Fate::Kept,
        })
    })
}

/// `wasm` and `script` with short names for the functions that `wasm` imports from `module` and
/// that `script` defines, exactly once each, as `name: function`.
///
/// wasm-bindgen gives each import a long name with an incompressible hash: with some four hundred
/// of them, that is a few kilobytes in both files. Both files are from one build, so any names that
/// agree will do.
pub fn with_short_imports(wasm: &[u8], script: &str, module: &str) -> Result<(Vec<u8>, String)> {
    let mut shortened = script.to_owned();
    let wasm = rewrite(wasm, |payload| {
        let Payload::ImportSection(imports) = payload else { return Ok(Fate::Kept) };
        let mut renamed = ImportSection::new();
        for (number, import) in imports.clone().into_imports().enumerate() {
            let mut import = import?;
            let short = format!("i{number}");
            let definition = format!("{}: function", import.name);
            let is_function = matches!(import.ty, TypeRef::Func(_));
            if is_function && import.module == module && script.matches(&definition).count() == 1 {
                shortened = shortened.replacen(&definition, &format!("{short}: function"), 1);
                import.name = &short;
            }
            utils::parse_import(&mut RoundtripReencoder, &mut renamed, import)?;
        }
        Ok(Fate::Replaced(renamed))
    })?;
    Ok((wasm, shortened))
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{CustomSection, EntityType, MemoryType};

    use super::*;

    const FUNCTION: EntityType = EntityType::Function(129);

    fn module(imports: &[(&str, &str, EntityType)]) -> Vec<u8> {
        let mut section = ImportSection::new();
        for (module, name, kind) in imports {
            section.import(module, name, *kind);
        }
        let mut module = Module::new();
        module
            .section(&section)
            .section(&custom("name"))
            .section(&RawSection { id: 3, data: &[0] });
        module.finish()
    }

    fn custom(name: &str) -> CustomSection<'_> {
        CustomSection { name: name.into(), data: b"x".as_slice().into() }
    }

    #[test]
    fn both_files_get_the_same_names_and_all_else_stays() {
        let long = "__wbg_a_0123456789abcdef".repeat(9);
        let script =
            format!("x = {{ {long}: function() {{}}, b: function() {{}} }}; other: function");
        let imports = |first: &str| {
            module(&[("m", first, FUNCTION), ("else", "b", FUNCTION), ("m", "not there", FUNCTION)])
        };
        let (wasm, script) = with_short_imports(&imports(&long), &script, "m").unwrap();
        assert_eq!(wasm, imports("i0"));
        assert_eq!(script, "x = { i0: function() {}, b: function() {} }; other: function");
    }

    #[test]
    fn only_functions_of_one_definition_are_renamed() {
        let memory = MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        };
        let imports = |f: &str, g: &str| {
            let twice = ("m", "twice", FUNCTION);
            module(&[("m", f, FUNCTION), ("m", "memory", memory.into()), twice, ("m", g, FUNCTION)])
        };
        let script = "f: function memory: function twice: function twice: function g: function";
        let (wasm, script) = with_short_imports(&imports("f", "g"), script, "m").unwrap();
        assert_eq!(wasm, imports("i0", "i3"));
        assert_eq!(
            script,
            "i0: function memory: function twice: function twice: function i3: function"
        );
    }

    #[test]
    fn names_are_taken_out_and_nothing_else() {
        let whole = |names: &[&str]| {
            let mut module = Module::new();
            for name in names {
                module.section(&custom(name));
            }
            module.section(&RawSection { id: 1, data: &[0] }).section(&custom("target_features"));
            module.finish()
        };
        let expected = whole(&[]);
        assert_eq!(without_names(&whole(&["name", "producers"])).unwrap(), expected);
        assert_eq!(without_names(&expected).unwrap(), expected);
    }

    #[test]
    fn what_is_no_whole_file_is_refused() {
        let whole = module(&[("m", "f", FUNCTION)]);
        for broken in [&whole[..whole.len() - 1], b"\0as", &[0; 8], b"\0asm\x01\0\0\0\x02\x05"] {
            assert!(without_names(broken).is_err());
            assert!(with_short_imports(broken, "", "m").is_err());
        }
    }
}
