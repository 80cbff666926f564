//! Where in a file the numbers of each tensor are, and how they are read out of its bytes.

use core::ops::Range;

use half::{bf16, f16};
use safetensors::{Dtype, tensor::TensorInfo};
use unroll_model_file::{LM_HEAD, OPTIMIZER_PREFIXES, Tensor};
use unroll_protocol::checkpoint::SavedParameter;

use super::{Infos, Refusal, readable};

/// Numbers to read, from where in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    dtype: Dtype,
    range: Range<u64>,
    /// Where they belong.
    pub place: usize,
    /// Whether they are parameters (0) or the optimizer's means of them (1, 2).
    which: usize,
}

impl Need {
    /// Of a tensor in a file whose numbers begin there.
    pub fn new(info: &TensorInfo, begins: u64, place: usize, which: usize) -> Self {
        let (start, end) = info.data_offsets;
        let range = begins + start as u64..begins + end as u64;
        Self { dtype: info.dtype, range, place, which }
    }

    /// What has to be read, as ranges of the file's bytes.
    pub fn ranges(needs: &[Self]) -> Vec<Range<u64>> {
        needs.iter().map(|need| need.range.clone()).collect()
    }

    /// Where the numbers are in the file.
    pub fn bytes(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Whether they are parameters, and nothing of the optimizer's.
    pub fn is_parameter(&self) -> bool {
        self.which == 0
    }

    /// Some of the numbers, out of their bytes.
    pub fn decoded(&self, bytes: &[u8]) -> Vec<f32> {
        decoded(self.dtype, bytes)
    }

    /// The numbers, out of the bytes of its range.
    pub fn numbers(&self, bytes: &[u8]) -> Result<Vec<f32>, Refusal> {
        let is_whole = bytes.len() as u64 == self.range.end - self.range.start;
        if is_whole { Ok(self.decoded(bytes)) } else { Err(Refusal::Truncated) }
    }

    /// Where its numbers go in a parameter.
    pub fn of<'a>(&self, saved: &'a mut SavedParameter) -> &'a mut Vec<f32> {
        match self.which {
            0 => &mut saved.value.values,
            1 => &mut saved.first_moment,
            _ => &mut saved.second_moment,
        }
    }
}

/// Where each tensor's numbers are; refuses a file that has too few tensors or too many.
pub fn needs(
    infos: &Infos,
    tensors: &[Tensor],
    begins: u64,
    tied: bool,
) -> Result<Vec<Need>, Refusal> {
    let has_optimizer = infos.keys().any(|name| name.starts_with(OPTIMIZER_PREFIXES[0]));
    let mut needs = Vec::new();
    let mut missing = Vec::new();
    let prefixes = [
        ("", true),
        (OPTIMIZER_PREFIXES[0], has_optimizer),
        (OPTIMIZER_PREFIXES[1], has_optimizer),
    ];
    for (which, (prefix, _)) in prefixes.iter().enumerate().filter(|(_, (_, there))| *there) {
        for (number, tensor) in tensors.iter().enumerate() {
            let name = format!("{prefix}{}", tensor.name);
            let Some(info) = infos.get(&name) else {
                missing.push(name);
                continue;
            };
            if info.shape != tensor.shape {
                let (found, expected) = (info.shape.clone(), tensor.shape.clone());
                return Err(Refusal::Shape { name, found, expected });
            }
            readable(&name, info)?;
            needs.push(Need::new(info, begins, number, which));
        }
    }
    if !missing.is_empty() {
        return Err(Refusal::Missing(missing));
    }
    let is_known = |name: &str| {
        let bare =
            OPTIMIZER_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        // Masks that old files hold, and the tied head's second name.
        let is_mask = bare.ends_with(".attn.bias") || bare.ends_with(".attn.masked_bias");
        is_mask || (tied && bare == LM_HEAD) || tensors.iter().any(|tensor| tensor.name == bare)
    };
    let unknown: Vec<String> = infos.keys().filter(|name| !is_known(name)).cloned().collect();
    if unknown.is_empty() { Ok(needs) } else { Err(Refusal::Unknown(unknown)) }
}

/// Little-endian numbers of this type.
fn decoded(dtype: Dtype, bytes: &[u8]) -> Vec<f32> {
    match dtype {
        Dtype::F16 => {
            let (halves, _) = bytes.as_chunks();
            halves.iter().map(|half| f16::from_le_bytes(*half).to_f32()).collect()
        }
        Dtype::BF16 => {
            let (halves, _) = bytes.as_chunks();
            halves.iter().map(|half| bf16::from_le_bytes(*half).to_f32()).collect()
        }
        _ => {
            let (words, _) = bytes.as_chunks();
            words.iter().map(|word| f32::from_le_bytes(*word)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kept::incoming::{
        Beside,
        samples::{changed, file, refused, small, trained},
    };

    #[test]
    fn tensors_that_are_not_the_models_are_refused_by_name() {
        let mut link = small();
        link.gpt.layers = 3;
        let whole = file(&trained(&link, 1), &link, true);
        let head = |from: &str, to: &str| {
            let found = changed(&whole, |head| head.replacen(from, to, 1));
            refused(&found, &Beside::default())
        };
        assert!(
            head("transformer.h.1.ln_2.bias", "transformer.h.1.ln_2.bios").contains("ln_2.bias")
        );
        assert!(head("transformer.wte.weight", "embed").contains("transformer.wte.weight"));
        assert!(head("\"F32\",\"shape\":[16]", "\"I32\",\"shape\":[16]").contains("type I32"));
        assert!(head("layers=3", "layers=2").contains("transformer.h.2."));
        assert!(head("layers=3", "layers=4").contains("transformer.h.3."));
    }
}
