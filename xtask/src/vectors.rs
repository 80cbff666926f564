//! Checks that the compiler vectorized the kernels' loops for browsers.
//!
//! A loop that was left scalar computes the same numbers in four times the time, which no other
//! test notices. A change of one line, or another version of the compiler, is enough to cause it.

use std::{collections::HashMap, fs, path::Path};

use wasmparser::{FunctionBody, KnownCustom, Name, Operator, Parser, Payload, TypeRef};

use crate::{Result, paths};

/// Functions of `unroll_kernels` that a step spends its time in, by their paths. Those not listed
/// are short, or inlined into one that is.
const KERNELS: &[&str] = &[
    "matmul::multiply",
    "rows::softmax",
    "rows::layer_norm",
    "rows::layer_norm_backward",
    "rows::gelu",
    "rows::dot",
    "rows::adam",
    "cells::elman_tanh",
    "cells::lstm",
    "cells::lstm_backward",
    "cells::gru_candidate",
    "recurrent::forward::gru_row",
    "squash::Squash::apply",
    "attention::Attend::forward",
    "attention::Attend::backward",
    "alignment::Additive::attend",
    "decoder::Decoder::backward",
];

/// Counts of a function's arithmetic instructions, vector and scalar. The end of a slice is always
/// computed with scalars, even in the best code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Arithmetic {
    vector: usize,
    scalar: usize,
}

impl Arithmetic {
    fn is_vector(self) -> bool {
        self.vector > 0 && 3 * self.vector >= self.scalar
    }
}

/// Fails if a kernel in this wasm file, which must contain function names, consists of scalar code.
pub fn check(path: &Path) -> Result {
    let trouble = |error: &dyn std::fmt::Display| {
        format!("{} can't be looked into: {error}.", paths::short(path))
    };
    let wasm = fs::read(path).map_err(|error| trouble(&error))?;
    let found = kernels(&wasm).map_err(|error| trouble(&error))?;
    let mut complaints = Vec::new();
    for kernel in KERNELS {
        match found.get(kernel) {
            None => complaints.push(format!("there is no {kernel} (xtask/src/vectors.rs)")),
            Some(arithmetic) if !arithmetic.is_vector() => complaints.push(format!(
                "{kernel} has {} operations on vectors and {} on single numbers",
                arithmetic.vector, arithmetic.scalar
            )),
            Some(_) => {}
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!("{} is not what was written: {}.", paths::short(path), complaints.join("; ")))
}

/// The arithmetic of every one of [`KERNELS`] that is present.
fn kernels(wasm: &[u8]) -> wasmparser::Result<HashMap<&'static str, Arithmetic>> {
    let mut names = HashMap::new();
    let mut bodies = Vec::new();
    let mut imported = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let kind = import?.ty;
                    imported += u32::from(matches!(kind, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body),
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(sections) = section.as_known() {
                    for section in sections {
                        if let Name::Function(functions) = section? {
                            for function in functions {
                                let function = function?;
                                names.insert(function.index, function.name);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = HashMap::new();
    for (index, body) in (imported..).zip(&bodies) {
        let Some(name) = names.get(&index) else { continue };
        if let Some(kernel) = KERNELS.iter().find(|kernel| is_symbol_of(name, kernel)) {
            found.insert(*kernel, arithmetic(body)?);
        }
    }
    Ok(found)
}

/// Whether a symbol is that of a kernel function: the compiler mangles each part of its path after
/// its length and appends a hash of known length; a closure's name continues before the hash.
fn is_symbol_of(symbol: &str, path: &str) -> bool {
    let part = |part: &str| format!("{}{part}", part.len());
    let path: String = path.split("::").map(part).collect();
    symbol
        .split_once(&(part("unroll_kernels") + &path))
        .is_some_and(|(_, hash)| hash.starts_with("17h"))
}

fn arithmetic(body: &FunctionBody) -> wasmparser::Result<Arithmetic> {
    use Operator as O;
    let mut counts = Arithmetic::default();
    for operator in body.get_operators_reader()? {
        match operator? {
            O::F32x4Add | O::F32x4Sub | O::F32x4Mul | O::F32x4Div => counts.vector += 1,
            O::F32Add | O::F32Sub | O::F32Mul | O::F32Div => counts.scalar += 1,
            _ => {}
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of two functions. The second is named like a kernel and computes `(1 + 1) + 1` with
    /// scalars, and also with vectors if requested.
    fn module(vector: bool) -> Vec<u8> {
        let name = b"_ZN14unroll_kernels4rows4gelu17h0123456789abcdefE";
        let one = [0x43, 0, 0, 0x80, 0x3f];
        let mut code = vec![0];
        code.extend([&one[..], &one[..], &[0x92], &one[..], &[0x92, 0x1a]].concat());
        if vector {
            // f32x4.splat twice, f32x4.add, drop.
            let splat = [&one[..], &[0xfd, 0x13]].concat();
            code.extend([&splat[..], &splat[..], &[0xfd, 0xe4, 0x01, 0x1a]].concat());
        }
        code.push(0x0b);
        let sized = |bytes: &[u8]| [&[bytes.len() as u8][..], bytes].concat();
        let section = |id: u8, bytes: &[u8]| [&[id][..], &sized(bytes)].concat();
        let functions = [&[1, 1][..], &sized(name)].concat();
        let named = [&sized(b"name")[..], &section(1, &functions)].concat();
        [
            &b"\0asm\x01\0\0\0"[..],
            &section(1, &[1, 0x60, 0, 0]),
            &section(3, &[2, 0, 0]),
            &section(10, &[&[2][..], &sized(&[0, 0x0b]), &sized(&code)].concat()),
            &section(0, &named),
        ]
        .concat()
    }

    #[test]
    fn arithmetic_is_counted_by_kernel() {
        let scalar = kernels(&module(false)).unwrap();
        assert_eq!(scalar["rows::gelu"], Arithmetic { vector: 0, scalar: 2 });
        assert!(!scalar["rows::gelu"].is_vector());
        let vector = kernels(&module(true)).unwrap();
        assert_eq!(vector["rows::gelu"], Arithmetic { vector: 1, scalar: 2 });
        assert!(vector["rows::gelu"].is_vector());
        assert_eq!(vector.len(), 1);
    }

    #[test]
    fn symbols_are_those_of_the_function_itself() {
        let of = "decoder::Decoder::backward";
        assert!(is_symbol_of("_ZN14unroll_kernels7decoder7Decoder8backward17hcafeE", of));
        let closure = "_ZN14unroll_kernels7decoder7Decoder8backward28_$u7b$$u7b$closure17hcafeE";
        assert!(!is_symbol_of(closure, of));
        assert!(!is_symbol_of("_ZN14unroll_kernels4rows8backward17hcafeE", of));
    }
}
