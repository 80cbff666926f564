//! Edits wasm files section by section: strips what browsers do not need, and shortens the names of
//! imports.

use std::collections::HashSet;

use wasm_encoder::{
    CodeSection, Function, ImportSection, Module, RawSection,
    reencode::{Error, RoundtripReencoder, utils},
};
use wasmparser::{BinaryReader, CodeSectionReader, KnownCustom, Name, Parser, Payload, TypeRef};

type Result<T> = std::result::Result<T, Error>;

/// What happens to a section.
enum Fate {
    Kept,
    Left,
    Imports(ImportSection),
    Code(CodeSection),
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
            Fate::Imports(imports) => module.section(&imports),
            Fate::Code(code) => module.section(&code),
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

/// What is compiled into an engine and can't be reached: burn chooses by the type of a tensor's
/// elements while it runs, and no tensor of ours has doubles, half floats or quantized numbers.
const UNREACHED: [&str; 8] = [
    "burn_autodiff::ops::qtensor::",
    "burn_backend::backend::ops::qtensor::",
    "burn_backend::quantization::",
    "burn_dispatch::ops::qtensor::",
    "burn_flex::ops::qtensor::",
    "burn_std::tensor::quantization::",
    "gemm_f16::",
    "gemm_f64::",
];

/// `wasm` with a trap in place of each function that is [`UNREACHED`] by its name. Without names
/// nothing changes.
pub fn without_unreached(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut imported = 0;
    let mut unreached = HashSet::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CustomSection(custom) => {
                let KnownCustom::Name(names) = custom.as_known() else { continue };
                for part in names {
                    let Name::Function(functions) = part? else { continue };
                    for function in functions {
                        let function = function?;
                        if UNREACHED.iter().any(|start| function.name.starts_with(start)) {
                            unreached.insert(function.index);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    rewrite(wasm, |payload| {
        let Payload::CodeSectionStart { range, .. } = payload else { return Ok(Fate::Kept) };
        let data = &wasm[range.start as usize..range.end as usize];
        let bodies = CodeSectionReader::new(BinaryReader::new(data, range.start))?;
        let mut code = CodeSection::new();
        for (body, index) in bodies.into_iter().zip(imported..) {
            if unreached.contains(&index) {
                let mut trap = Function::new([]);
                trap.instructions().unreachable().end();
                code.function(&trap);
            } else {
                code.raw(body?.as_bytes());
            }
        }
        Ok(Fate::Code(code))
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
        Ok(Fate::Imports(renamed))
    })?;
    Ok((wasm, shortened))
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        CustomSection, EntityType, FunctionSection, MemoryType, NameMap, NameSection, TypeSection,
    };

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
    fn what_is_not_reached_becomes_a_trap_and_keeps_its_number() {
        let number = |value| {
            let mut function = Function::new([]);
            function.instructions().i32_const(value).drop().end();
            function
        };
        let mut trap = Function::new([]);
        trap.instructions().unreachable().end();
        let names = ["imported", "gemm_f32::x", "gemm_f64::x", "of::gemm_f64::x"];
        let module = |bodies: [&Function; 3], named: bool| {
            let (mut types, mut imports) = (TypeSection::new(), ImportSection::new());
            let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
            types.ty().function([], []);
            imports.import("m", "f", EntityType::Function(0));
            for body in bodies {
                functions.function(0);
                code.function(body);
            }
            let mut map = NameMap::new();
            for (index, name) in names.iter().enumerate() {
                map.append(index as u32, name);
            }
            let mut section = NameSection::new();
            section.functions(&map);
            let mut module = Module::new();
            module.section(&types).section(&imports).section(&functions).section(&code);
            if named {
                module.section(&section);
            }
            module.finish()
        };
        let [one, two, three] = [1, 2, 3].map(number);
        let whole = [&one, &two, &three];
        assert_eq!(
            without_unreached(&module(whole, true)).unwrap(),
            module([&one, &trap, &three], true)
        );
        assert_eq!(without_unreached(&module(whole, false)).unwrap(), module(whole, false));
    }

    #[test]
    fn what_is_no_whole_file_is_refused() {
        let whole = module(&[("m", "f", FUNCTION)]);
        for broken in [&whole[..whole.len() - 1], b"\0as", &[0; 8], b"\0asm\x01\0\0\0\x02\x05"] {
            assert!(without_names(broken).is_err());
            assert!(without_unreached(broken).is_err());
            assert!(with_short_imports(broken, "", "m").is_err());
        }
    }
}
