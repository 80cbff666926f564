//! The head of a safetensors file: how long it is, which tensors it lists, and what it says beside them.

use std::collections::BTreeMap;

use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde_json::Value;
use unroll_model_file::PREFIX;

use super::Refusal;

/// Bytes before the head, which say how long it is.
pub const PREAMBLE: u64 = 8;
/// Larger files, in GB, are not read.
pub(super) const LARGEST_FILE: u64 = 2;
/// The longest head that is read.
const LONGEST_HEAD: u64 = 8 << 20;

/// How long the head is, from the file's first bytes.
pub fn head_length(preamble: &[u8], file: u64) -> Result<u64, Refusal> {
    // In a browser, places in a file are counted in 32 bits.
    if file > LARGEST_FILE << 30 {
        return Err(Refusal::Huge);
    }
    let length = preamble.first_chunk().map(|length| u64::from_le_bytes(*length));
    let length = length.filter(|length| *length <= LONGEST_HEAD).ok_or_else(|| unlike(preamble))?;
    if PREAMBLE + length > file { Err(Refusal::Truncated) } else { Ok(length) }
}

/// Why a file that begins like this is none: PyTorch writes pickles, in zip files since its version 1.6.
fn unlike(preamble: &[u8]) -> Refusal {
    match preamble {
        [b'P', b'K', 3, 4, ..] | [0x80, 2..=5, ..] => Refusal::Pickle,
        _ => Refusal::NotSafetensors,
    }
}

/// What the head of a file of so many bytes says, and where the numbers begin.
pub fn metadata(head: &[u8], file: u64) -> Result<(Metadata, u64), Refusal> {
    let metadata: Metadata = serde_json::from_slice(head).map_err(|_| Refusal::NotSafetensors)?;
    let begins = PREAMBLE + head.len() as u64;
    if begins + metadata.data_len() as u64 > file {
        return Err(Refusal::Truncated);
    }
    Ok((metadata, begins))
}

/// Whether numbers of this type can be read; `name` is the tensor's.
pub fn readable(name: &str, info: &TensorInfo) -> Result<(), Refusal> {
    if matches!(info.dtype, Dtype::F32 | Dtype::F16 | Dtype::BF16) {
        return Ok(());
    }
    Err(Refusal::Type { name: name.to_owned(), dtype: format!("{:?}", info.dtype) })
}

/// What the head says beside the tensors.
#[derive(Default)]
pub struct About {
    pub unroll: Option<Value>,
    pub config: Option<Value>,
    pub vocabulary: Option<Value>,
}

impl About {
    pub fn new(metadata: &Metadata) -> Self {
        let said = |name: &str| {
            let text = metadata.metadata().as_ref()?.get(name)?;
            serde_json::from_str(text).ok()
        };
        Self { unroll: said("unroll"), config: said("config"), vocabulary: said("vocabulary") }
    }
}

/// The tensors by their names, all with [`PREFIX`] where they are a model's.
pub type Infos = BTreeMap<String, TensorInfo>;

pub fn infos(metadata: &Metadata) -> Infos {
    let mut infos = Infos::new();
    for (name, info) in metadata.tensors() {
        let is_bare = ["wte.", "wpe.", "h.", "ln_f."].iter().any(|part| name.starts_with(part));
        let full = if is_bare { format!("{PREFIX}{name}") } else { name };
        infos.insert(full, info.clone());
    }
    infos
}

#[cfg(test)]
mod tests {
    use crate::kept::incoming::{
        Beside,
        samples::{changed, file, length_of, opened, refused, small, trained},
    };

    #[test]
    fn files_that_are_wrong_are_refused_with_a_sentence() {
        let link = small();
        let whole = file(&trained(&link, 1), &link, true);
        let refused = |bytes: &[u8]| refused(bytes, &Beside::default());
        assert!(refused(b"").contains("not a safetensors file"));
        // As torch.save writes them, now and before version 1.6, and Python with its own protocol.
        for pickle in
            [b"PK\x03\x04\0\0\x08\x08", b"\x80\x02\x8a\x0al\xfc\x9cF", b"\x80\x04\x95\x10\0\0\0\0"]
        {
            assert!(refused(pickle).contains("pickle can run code"), "{pickle:?}");
        }
        assert!(refused(b"\x80\x04N.").contains("pickle"));
        // A head that is as long as a pickle's first bytes say.
        let mut head = [0; 0x280 + 8];
        head[..2].copy_from_slice(&[0x80, 2]);
        assert!(refused(&head).contains("not a safetensors file"));
        assert!(refused(&whole[..whole.len() - 1]).contains("ends too early"));
        assert!(refused(&whole[..100]).contains("ends too early"));
        let longer = changed(&whole, |head| head.replacen("\"shape\":[16]", "\"shape\":[17]", 1));
        assert!(refused(&longer).contains("not a safetensors file"));
        // Any cut and any changed byte of the head: a sentence or a model, never a panic.
        for end in (0..whole.len()).step_by(97) {
            assert!(opened(&whole[..end]).is_err());
        }
        let length = length_of(&whole);
        for at in (0..8 + length).step_by(7) {
            for byte in [0, b'9', b'"', 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = opened(&bytes);
            }
        }
    }
}
