//! Edits wasm files: strips what browsers do not need, shortens the names of imports, and makes one
//! module of several.

use std::collections::HashSet;

use wasm_encoder::{
    CodeSection, DataCountSection, DataSection, ElementSection, Function, FunctionSection,
    ImportSection, Module, RawSection, TypeSection,
    reencode::{Error, Reencode, RoundtripReencoder, utils},
};
use wasmparser::{
    BinaryReader, CodeSectionReader, FuncType, Import, KnownCustom, Name, Parser, Payload, TypeRef,
};

type Result<T, E = std::convert::Infallible> = std::result::Result<T, Error<E>>;

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

/// What else can't be reached in the engine of the GPT lab, which the first load waits for: there every tensor
/// is made of `f32` or `i32`, the defaults of each device, so that no data is cast on its way in or out. Chapters'
/// models are made of doubles here and there.
pub const CASTS: [&str; 2] = [
    "burn_std::data::tensor::conversion::<impl burn_std::data::tensor::base::TensorData>::try_cast_clone",
    "burn_std::data::tensor::conversion::<impl burn_std::data::tensor::base::TensorData>::try_cast_inplace",
];

/// `wasm` with a trap in place of each function that is [`UNREACHED`] by its name, or begins with one of `more`.
/// Without names nothing changes.
pub fn without_unreached(wasm: &[u8], more: &[&str]) -> Result<Vec<u8>> {
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
                        if UNREACHED
                            .iter()
                            .chain(more)
                            .any(|start| function.name.starts_with(start))
                        {
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

/// One module that does what all of `pieces` do. `wasm-split-cli` makes them: each repeats the whole list
/// of the app's types, imports the same memory, table and stack pointer, writes its functions into the
/// table, and exports nothing. Only types in use are kept, no custom sections, and numbers take as few
/// bytes as they can, where the linker leaves room in each.
///
/// # Errors
///
/// Which piece, each with its name, is not of this kind, and why.
pub fn joined(pieces: &[(&str, &[u8])]) -> std::result::Result<Vec<u8>, String> {
    let mut joining = Joining::default();
    for (name, piece) in pieces {
        joining.add(piece).map_err(|error| format!("{name}: {error}"))?;
    }
    joining.finish().map_err(|error| error.to_string())
}

/// The pieces so far, and how the numbers of the last one are changed.
#[derive(Default)]
struct Joining<'a> {
    /// The types of each piece.
    types: Vec<FuncType>,
    /// Numbers of the types in use, in their new order.
    used: Vec<u32>,
    imports: Vec<Import<'a>>,
    functions: FunctionSection,
    elements: ElementSection,
    code: CodeSection,
    data: DataSection,
    /// The number that the piece's first function, element segment and data segment have now.
    first: [u32; 3],
    /// The numbers that the piece's globals have now.
    globals: Vec<u32>,
}

impl<'a> Joining<'a> {
    fn add(&mut self, piece: &'a [u8]) -> Result<(), &'static str> {
        self.first = [self.functions.len(), self.elements.len(), self.data.len()];
        self.globals.clear();
        for payload in Parser::new(0).parse_all(piece) {
            match payload? {
                Payload::TypeSection(types) => {
                    let types = types
                        .into_iter_err_on_gc_types()
                        .collect::<std::result::Result<Vec<_>, _>>()?;
                    if self.types.is_empty() {
                        self.types = types;
                    } else if self.types != types {
                        return Err(Error::UserError("its types are not those of the others"));
                    }
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        self.import(import?)?;
                    }
                }
                Payload::FunctionSection(functions) => {
                    for ty in functions {
                        let ty = self.type_index(ty?)?;
                        self.functions.function(ty);
                    }
                }
                Payload::ElementSection(section) => {
                    let mut elements = std::mem::take(&mut self.elements);
                    utils::parse_element_section(self, &mut elements, section)?;
                    self.elements = elements;
                }
                Payload::CodeSectionEntry(body) => {
                    let mut code = std::mem::take(&mut self.code);
                    utils::parse_function_body(self, &mut code, body)?;
                    self.code = code;
                }
                Payload::DataSection(section) => {
                    let mut data = std::mem::take(&mut self.data);
                    utils::parse_data_section(self, &mut data, section)?;
                    self.data = data;
                }
                Payload::ExportSection(exports) if exports.count() == 0 => {}
                Payload::Version { .. }
                | Payload::DataCountSection { .. }
                | Payload::CodeSectionStart { .. }
                | Payload::CustomSection(_)
                | Payload::End(_) => {}
                _ => return Err(Error::UserError("a section of an unexpected kind")),
            }
        }
        Ok(())
    }

    /// Adds an import, once for all pieces. Memory and table are always the first of their kind.
    fn import(&mut self, import: Import<'a>) -> Result<(), &'static str> {
        let same = |other: &Import| (other.module, other.name) == (import.module, import.name);
        let place = self.imports.iter().position(same).unwrap_or_else(|| {
            self.imports.push(import);
            self.imports.len() - 1
        });
        if self.imports[place].ty != import.ty {
            return Err(Error::UserError("an import of another type than in other pieces"));
        }
        let before = &self.imports[..place];
        let is_global = |import: &&Import| matches!(import.ty, TypeRef::Global(_));
        let kind = std::mem::discriminant(&import.ty);
        match import.ty {
            TypeRef::Global(_) => {
                self.globals.push(before.iter().filter(is_global).count() as u32);
                Ok(())
            }
            TypeRef::Memory(_) | TypeRef::Table(_)
                if before.iter().all(|other| std::mem::discriminant(&other.ty) != kind) =>
            {
                Ok(())
            }
            _ => Err(Error::UserError("an unexpected import")),
        }
    }

    fn finish(mut self) -> Result<Vec<u8>, &'static str> {
        let mut types = TypeSection::new();
        for ty in std::mem::take(&mut self.used) {
            let ty = self.types.get(ty as usize).cloned();
            let ty = ty.ok_or(Error::UserError("it uses a type that it doesn't have"))?;
            let ty = self.func_type(ty)?;
            types.ty().func_type(&ty);
        }
        let mut imports = ImportSection::new();
        for import in std::mem::take(&mut self.imports) {
            utils::parse_import(&mut self, &mut imports, import)?;
        }
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&self.functions).section(&self.elements);
        if !self.data.is_empty() {
            module.section(&DataCountSection { count: self.data.len() });
        }
        module.section(&self.code).section(&self.data);
        Ok(module.finish())
    }
}

impl Reencode for Joining<'_> {
    type Error = &'static str;

    fn function_index(&mut self, function: u32) -> Result<u32, Self::Error> {
        Ok(self.first[0] + function)
    }

    fn element_index(&mut self, element: u32) -> Result<u32, Self::Error> {
        Ok(self.first[1] + element)
    }

    fn data_index(&mut self, data: u32) -> Result<u32, Self::Error> {
        Ok(self.first[2] + data)
    }

    fn global_index(&mut self, global: u32) -> Result<u32, Self::Error> {
        let known = self.globals.get(global as usize).copied();
        known.ok_or(Error::UserError("it uses a global that it doesn't have"))
    }

    fn type_index(&mut self, ty: u32) -> Result<u32, Self::Error> {
        let known = self.used.iter().position(|&used| used == ty);
        Ok(known.unwrap_or_else(|| {
            self.used.push(ty);
            self.used.len() - 1
        }) as u32)
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        ConstExpr, CustomSection, Elements, EntityType, GlobalType, MemoryType, NameMap,
        NameSection, RefType, TableType, ValType,
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
        let imports = |f: &str, g: &str| {
            let twice = ("m", "twice", FUNCTION);
            module(&[("m", f, FUNCTION), ("m", "memory", MEMORY.into()), twice, ("m", g, FUNCTION)])
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
            without_unreached(&module(whole, true), &[]).unwrap(),
            module([&one, &trap, &three], true)
        );
        assert_eq!(
            without_unreached(&module(whole, true), &["of::"]).unwrap(),
            module([&one, &trap, &trap], true)
        );
        assert_eq!(without_unreached(&module(whole, false), &[]).unwrap(), module(whole, false));
    }

    const MEMORY: MemoryType = MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    const TABLE: TableType = TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 9,
        maximum: None,
        shared: false,
    };
    const STACK: GlobalType = GlobalType { val_type: ValType::I32, mutable: true, shared: false };

    /// A module: each function's type and body, which functions are written into which slots of the table,
    /// and where data is written.
    fn piece(
        types: &[(&[ValType], &[ValType])],
        imports: &[(&str, EntityType)],
        functions: &[(u32, Function)],
        slots: &[(i32, u32)],
        data: &[(i32, &[u8])],
    ) -> Vec<u8> {
        let (mut all_types, mut all_imports) = (TypeSection::new(), ImportSection::new());
        let (mut all, mut code) = (FunctionSection::new(), CodeSection::new());
        let (mut elements, mut all_data) = (ElementSection::new(), DataSection::new());
        for (from, to) in types {
            all_types.ty().function(from.iter().copied(), to.iter().copied());
        }
        for (name, ty) in imports {
            all_imports.import("m", name, *ty);
        }
        for (ty, body) in functions {
            all.function(*ty);
            code.function(body);
        }
        for (slot, function) in slots {
            let functions = [*function];
            let functions = Elements::Functions(functions.as_slice().into());
            elements.active(Some(0), &ConstExpr::i32_const(*slot), functions);
        }
        for (place, bytes) in data {
            all_data.active(0, &ConstExpr::i32_const(*place), bytes.iter().copied());
        }
        let mut module = Module::new();
        module.section(&all_types).section(&all_imports).section(&all).section(&elements);
        module.section(&DataCountSection { count: all_data.len() });
        module.section(&code).section(&all_data);
        module.finish()
    }

    /// The body of a function with these instructions.
    fn body(instructions: impl Fn(&mut wasm_encoder::InstructionSink)) -> Function {
        let mut function = Function::new([]);
        instructions(&mut function.instructions());
        function.instructions().end();
        function
    }

    #[test]
    fn joined_pieces_keep_their_functions_data_and_places_in_the_table() {
        const I32: &[ValType] = &[ValType::I32];
        let types: &[(&[ValType], &[ValType])] = &[(&[], &[]), (I32, I32), (&[], I32)];
        let (memory, table) = (("memory", MEMORY.into()), ("table", TABLE.into()));
        let stack = ("stack", STACK.into());
        let nothing = || body(|_| {});
        // Calls the function before it, and one of another type that is in the table.
        let calling = |function, ty| {
            body(move |code| {
                code.i32_const(5).call(function).i32_const(2).call_indirect(0, ty).drop();
            })
        };
        let same = || {
            body(|code| {
                code.local_get(0);
            })
        };
        let stacked = || {
            body(|code| {
                code.global_get(0);
            })
        };
        let one = piece(
            types,
            &[table, memory],
            &[(0, nothing())],
            &[(7, 0)],
            &[(100, b"one".as_slice())],
        );
        let other = piece(
            types,
            &[stack, table, memory],
            &[(1, same()), (2, calling(0, 1)), (2, stacked())],
            &[(2, 0), (3, 2)],
            &[(200, b"two".as_slice()), (300, b"three")],
        );
        // In the order of use: the type of `call_indirect` is known by the time its function's is.
        let expected = piece(
            types,
            &[table, memory, stack],
            &[(0, nothing()), (1, same()), (2, calling(1, 1)), (2, stacked())],
            &[(7, 0), (2, 1), (3, 3)],
            &[(100, b"one".as_slice()), (200, b"two"), (300, b"three")],
        );
        let all = |pieces: &[&[u8]]| {
            let pieces: Vec<(&str, &[u8])> =
                ["a", "b"].into_iter().zip(pieces.iter().copied()).collect();
            joined(&pieces)
        };
        assert_eq!(all(&[&one, &other]).unwrap(), expected);
        // Alone, a piece keeps only the types in use.
        let fewer = &types[1..];
        let alone = piece(fewer, &[memory], &[(1, nothing())], &[], &[]);
        let only = piece(&types[2..], &[memory], &[(0, nothing())], &[], &[]);
        assert_eq!(all(&[&alone]).unwrap(), without_data_count(&only));

        let refused = |pieces: &[&[u8]], why: &str| {
            let error = all(pieces).unwrap_err();
            assert!(error.contains(why), "{error} for {why}");
        };
        refused(&[&one, &alone], "b: its types");
        let import = |name, ty| piece(types, &[memory, (name, ty)], &[], &[], &[]);
        refused(&[&import("f", EntityType::Function(0))], "a: an unexpected import");
        refused(&[&import("other", MEMORY.into())], "a: an unexpected import");
        let immutable = GlobalType { mutable: false, ..STACK };
        let pair = [import("stack", STACK.into()), import("stack", immutable.into())];
        refused(&[&pair[0], &pair[1]], "b: an import of another type");
        let without_stack = piece(types, &[memory], &[(0, stacked())], &[], &[]);
        refused(&[&without_stack], "a: it uses a global");
        refused(&[&one[..one.len() - 1]], "a: There was an error when parsing");
    }

    #[test]
    fn every_number_of_a_joined_piece_is_that_of_its_new_place() {
        let types: &[(&[ValType], &[ValType])] = &[(&[], &[]), (&[], &[ValType::I32])];
        let (memory, stack) = (("memory", MEMORY.into()), ("stack", STACK.into()));
        let other = ("other", STACK.into());
        let body = |global: u32, ty: u32, function: u32, segment: u32| {
            body(move |code| {
                code.global_get(global).drop().ref_func(function).drop();
                code.block(wasm_encoder::BlockType::FunctionType(ty)).i32_const(1).end().drop();
                code.i32_const(0).i32_const(0).i32_const(0).memory_init(0, segment);
                code.data_drop(segment).elem_drop(segment);
            })
        };
        let data: &[(i32, &[u8])] = &[(1, b"a")];
        let first =
            piece(types, &[memory, stack, other], &[(0, body(0, 1, 0, 0))], &[(1, 0)], data);
        let second =
            piece(types, &[other, memory, stack], &[(0, body(0, 1, 0, 0))], &[(2, 0)], data);
        let expected = piece(
            types,
            &[memory, stack, other],
            // The second piece's first global is the first one's second.
            &[(0, body(0, 1, 0, 0)), (0, body(1, 1, 1, 1))],
            &[(1, 0), (2, 1)],
            &[(1, b"a".as_slice()), (1, b"a")],
        );
        assert_eq!(joined(&[("a", &first), ("b", &second)]).unwrap(), expected);
    }

    /// The same without the section that counts data.
    fn without_data_count(module: &[u8]) -> Vec<u8> {
        let left = |payload: &Payload| match payload {
            Payload::DataCountSection { .. } => Fate::Left,
            _ => Fate::Kept,
        };
        rewrite(module, |payload| Ok(left(payload))).unwrap()
    }

    #[test]
    fn what_is_no_whole_file_is_refused() {
        let whole = module(&[("m", "f", FUNCTION)]);
        for broken in [&whole[..whole.len() - 1], b"\0as", &[0; 8], b"\0asm\x01\0\0\0\x02\x05"] {
            assert!(without_names(broken).is_err());
            assert!(without_unreached(broken, &[]).is_err());
            assert!(with_short_imports(broken, "", "m").is_err());
        }
    }
}
