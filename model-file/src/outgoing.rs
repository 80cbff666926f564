//! A model as a safetensors file.

use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde_json::{Map, Value, json};
use unroll_protocol::{
    Architecture, Checkpoint, GptSpec, Link, Tokens,
    architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    link::Chapter,
};

use crate::places::{Place, Tensor, places, tensors};

/// What stands before the names of the optimizer's running means: of the gradient, and of its square. PyTorch's
/// Adam calls them so.
pub const OPTIMIZER_PREFIXES: [&str; 2] = ["optimizer.exp_avg.", "optimizer.exp_avg_sq."];
/// The character of id 0, as the file names it.
pub const UNKNOWN_TOKEN: &str = "\u{fffd}";

/// The epsilon of norms.
pub const NORM_EPSILON: f64 = 1e-5;

/// Number of bytes, which are the first tokens where tokens are bytes or pairs of them.
pub const BYTE_TOKENS: usize = 256;
/// A word as byte pairs are merged in, for Hugging Face's tokenizers: see `chunks` in `model/src/bpe.rs`. Letters,
/// digits or other signs, 64 at most with a space before them; other white space is alone.
const WORD: &str = concat!(
    r" \p{Alphabetic}{1,63}| [\p{N}&&[^\p{Alphabetic}]]{1,63}| [^\s\p{Alphabetic}\p{N}]{1,63}",
    r"|\p{Alphabetic}{1,64}|[\p{N}&&[^\p{Alphabetic}]]{1,64}|[^\s\p{Alphabetic}\p{N}]{1,64}|\s"
);

/// How many tokens a model knows, with the one for unknown characters where there is one.
pub fn vocabulary_size(checkpoint: &Checkpoint) -> usize {
    match checkpoint.spec.tokens {
        Tokens::Bytes | Tokens::Pairs { .. } => BYTE_TOKENS + checkpoint.merges.len() / 2,
        Tokens::Characters | Tokens::Given => checkpoint.vocabulary.len() + 1,
    }
}

/// A file that is about to be written: a header, then one tensor after the other.
pub struct Outgoing<'a> {
    checkpoint: &'a Checkpoint,
    places: Vec<Place>,
    tensors: Vec<Tensor>,
    with_optimizer: bool,
}

impl<'a> Outgoing<'a> {
    /// The lab's model, with the optimizer's running means or without.
    pub fn new(checkpoint: &'a Checkpoint, with_optimizer: bool) -> Self {
        let places = places(&checkpoint.spec.gpt, vocabulary_size(checkpoint));
        let tensors = tensors(&places);
        Self { checkpoint, places, tensors, with_optimizer }
    }

    /// Prefixes of the names under which each tensor is written.
    fn prefixes(&self) -> impl Iterator<Item = &'static str> {
        [""].into_iter().chain(OPTIMIZER_PREFIXES.into_iter().filter(|_| self.with_optimizer))
    }

    /// What the file begins with, see [`header`]. `link` has the settings that the model was built with,
    /// `text` is the name of what it learned.
    pub fn header(&self, link: &Link, text: &str) -> Vec<u8> {
        let tensors = self.prefixes().flat_map(|prefix| {
            let named =
                move |tensor: &Tensor| (format!("{prefix}{}", tensor.name), tensor.shape.clone());
            self.tensors.iter().map(named)
        });
        let Checkpoint { spec, vocabulary: characters, merges, .. } = self.checkpoint;
        let tokens = match spec.tokens {
            Tokens::Bytes | Tokens::Pairs { .. } => {
                tokenizer(merges).map(|tokenizer| ("tokenizer", tokenizer))
            }
            Tokens::Characters | Tokens::Given => Some(("vocabulary", vocabulary(characters))),
        };
        let about = [
            ("config", config(&spec.gpt, vocabulary_size(self.checkpoint))),
            ("unroll", self.settings(link, text)),
        ];
        header(about.into_iter().chain(tokens), tensors)
    }

    /// What only Unroll needs to go on.
    fn settings(&self, link: &Link, text: &str) -> String {
        let query = Link { chapter: Chapter::Gpt, ..link.clone() }.query();
        json!({
            "settings": query,
            "learning_rate": self.checkpoint.spec.optimizer.learning_rate,
            "step": self.checkpoint.step,
            "text": text,
            "merges": self.checkpoint.merges,
        })
        .to_string()
    }

    /// The bytes of each tensor, in the order of the header. What the checkpoint lacks is 0.
    pub fn into_bodies(self) -> impl Iterator<Item = Vec<u8>> + use<'a> {
        let count = self.tensors.len();
        let all = count * self.prefixes().count();
        (0..all).map(move |at| self.body(&self.tensors[at % count], at / count))
    }

    fn body(&self, tensor: &Tensor, which: usize) -> Vec<u8> {
        let mut values = vec![0f32; tensor.shape.iter().product()];
        for &number in &tensor.parameters {
            let Some(saved) = self.checkpoint.parameters.get(number) else { continue };
            let part = [&saved.value.values, &saved.first_moment, &saved.second_moment][which];
            if part.len() == self.places[number].count() {
                self.places[number].put(part, &mut values);
            }
        }
        to_bytes(&values)
    }
}

/// What a file begins with that holds these tensors, names and shapes, and says so much about them: the header
/// after its length in eight bytes. The numbers are F32, one tensor after the other.
pub fn header<'a>(
    about: impl IntoIterator<Item = (&'a str, String)>,
    tensors: impl Iterator<Item = (String, Vec<usize>)>,
) -> Vec<u8> {
    let mut at = 0;
    let infos = tensors.map(|(name, shape)| {
        let begins = at;
        at += 4 * shape.iter().product::<usize>();
        (name, TensorInfo { dtype: Dtype::F32, shape, data_offsets: (begins, at) })
    });
    let infos = infos.collect();
    // Without it, transformers does not open the file.
    let format = [("format", "pt".to_owned())];
    let about = format.into_iter().chain(about).map(|(name, value)| (name.to_owned(), value));
    let metadata = Metadata::new(Some(about.collect()), infos)
        .expect("the tensors follow each other and have the sizes of their shapes");
    let mut json = serde_json::to_vec(&metadata).expect("names and numbers");
    // The numbers begin at a multiple of eight bytes.
    json.resize(json.len().next_multiple_of(8), b' ');
    [(json.len() as u64).to_le_bytes().to_vec(), json].concat()
}

/// Numbers as they lie in a file: F32, little-endian.
pub fn to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The vocabulary by id.
fn vocabulary(characters: &[char]) -> String {
    let characters = characters.iter().map(|character| character.to_string());
    json!([UNKNOWN_TOKEN.to_owned()].into_iter().chain(characters).collect::<Vec<_>>()).to_string()
}

/// How GPT-2's tokenizers write a byte: as a character that can be seen.
fn sign(byte: u8) -> char {
    let is_seen = |byte: &u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let before = (0..byte).filter(|byte| !is_seen(byte)).count() as u32;
    let code = if is_seen(&byte) { u32::from(byte) } else { 256 + before };
    char::from_u32(code).unwrap_or_default()
}

/// Bytes and their merges as the `tokenizer.json` of Hugging Face's tokenizers. `None` where two merges make the
/// same bytes: such a file has one id for both.
fn tokenizer(merges: &[u32]) -> Option<String> {
    let mut names: Vec<String> = (0..=u8::MAX).map(|byte| sign(byte).to_string()).collect();
    let mut pairs = Vec::new();
    for merge in merges.as_chunks::<2>().0 {
        let [left, right] = merge.map(|id| names.get(id as usize).cloned().unwrap_or_default());
        names.push(format!("{left}{right}"));
        pairs.push([left, right]);
    }
    let count = names.len();
    let ids: Map<String, Value> =
        names.into_iter().enumerate().map(|(id, name)| (name, json!(id))).collect();
    let by_bytes = |use_regex| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex});
    let words = json!({"type": "Split", "pattern": {"Regex": WORD}, "behavior": "Isolated", "invert": false});
    let whole = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [words, by_bytes(false)]},
        "post_processor": null,
        "decoder": by_bytes(true),
        "model": {
            "type": "BPE",
            "dropout": null,
            "unk_token": null,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": false,
            "byte_fallback": false,
            "ignore_merges": false,
            "vocab": ids,
            "merges": pairs,
        },
    });
    let is_whole = whole["model"]["vocab"].as_object().is_some_and(|ids| ids.len() == count);
    is_whole.then(|| whole.to_string())
}

/// What transformers calls an activation; `None` for one that it does not have.
pub fn activation_name(activation: Activation) -> Option<&'static str> {
    Some(match activation {
        Activation::Relu => "relu",
        Activation::Gelu => "gelu",
        Activation::GeluTanh => "gelu_new",
        Activation::Solu => return None,
    })
}

/// The model as transformers' `GPT2Config`, or as far as that goes.
fn config(spec: &GptSpec, vocabulary: usize) -> String {
    let Architecture { scaled, feed_forward, norm_kind, .. } = spec.architecture;
    let mut config = Map::new();
    let mut put = |name: &str, value: Value| config.insert(name.to_owned(), value);
    if is_gpt2(&spec.architecture) {
        put("model_type", json!("gpt2"));
        put("architectures", json!(["GPT2LMHeadModel"]));
    } else if is_gpt2_but_for_norms(&spec.architecture) {
        // No type of transformers', but train.py knows it.
        put("model_type", json!("gpt2-rmsnorm"));
    }
    put("vocab_size", json!(vocabulary));
    put("n_positions", json!(spec.context));
    put("n_embd", json!(spec.width));
    put("n_layer", json!(spec.layers));
    put("n_head", json!(spec.heads));
    put("activation_function", json!(feed_forward.and_then(activation_name)));
    put("scale_attn_weights", json!(scaled));
    put("tie_word_embeddings", json!(spec.tied));
    // The second as in transformers' `LlamaConfig`.
    let epsilon = match norm_kind {
        NormKind::Layer => "layer_norm_epsilon",
        NormKind::Rms => "rms_norm_eps",
    };
    put(epsilon, json!(NORM_EPSILON));
    for name in ["embd_pdrop", "attn_pdrop", "resid_pdrop"] {
        put(name, json!(spec.dropout));
    }
    // There are no tokens that begin or end a text.
    put("bos_token_id", Value::Null);
    put("eos_token_id", Value::Null);
    Value::Object(config).to_string()
}

/// Whether transformers' GPT-2 could be this model if its norms were of GPT-2's kind.
pub fn is_gpt2_but_for_norms(architecture: &Architecture) -> bool {
    is_gpt2(&Architecture { norm_kind: NormKind::Layer, ..*architecture })
}

/// Whether transformers' GPT-2 can be this model.
pub fn is_gpt2(architecture: &Architecture) -> bool {
    let Architecture {
        positions, mask, norm, norm_kind, residual, attention, feed_forward, ..
    } = *architecture;
    positions == Positions::Learned
        && mask == MaskKind::Causal
        && norm == NormPlacement::Pre
        && norm_kind == NormKind::Layer
        && residual
        && attention
        && feed_forward.and_then(activation_name).is_some()
}

#[cfg(test)]
mod tests {
    use safetensors::SafeTensors;
    use unroll_protocol::{Array, checkpoint::SavedParameter};

    use super::*;

    #[test]
    fn the_safetensors_library_reads_what_is_written() {
        let link = Link::default();
        let mut checkpoint = Checkpoint::of_present(link.experiment(), 7);
        checkpoint.vocabulary = vec!['a', 'é'];
        let places = places(&checkpoint.spec.gpt, vocabulary_size(&checkpoint));
        let saved = |(at, place): (usize, &Place)| SavedParameter {
            name: place.parameter.clone(),
            value: Array {
                shape: place.shape.iter().map(|&size| size as u32).collect(),
                values: vec![at as f32; place.count()],
            },
            first_moment: vec![-1.0; place.count()],
            second_moment: vec![0.5; place.count()],
        };
        checkpoint.parameters = places.iter().enumerate().map(saved).collect();
        for with_optimizer in [false, true] {
            let outgoing = Outgoing::new(&checkpoint, with_optimizer);
            let mut file = outgoing.header(&link, "Tales");
            assert_eq!(file.len() % 8, 0);
            outgoing.into_bodies().for_each(|body| file.extend(body));
            let read = SafeTensors::deserialize(&file).unwrap();
            let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
            let about = metadata.metadata().as_ref().unwrap();
            assert_eq!(about["vocabulary"], json!([UNKNOWN_TOKEN, "a", "é"]).to_string());
            for (at, place) in places.iter().enumerate() {
                let numbers = |prefix: &str| {
                    let tensor = read.tensor(&format!("{prefix}{}", place.tensor)).unwrap();
                    assert_eq!(tensor.shape(), place.tensor_shape());
                    let bytes = tensor.data().as_chunks::<4>().0;
                    let all: Vec<f32> =
                        bytes.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
                    place.take(&all)
                };
                assert_eq!(numbers(""), checkpoint.parameters[at].value.values);
                if with_optimizer {
                    let [first, second] = OPTIMIZER_PREFIXES.map(numbers);
                    assert_eq!(first, checkpoint.parameters[at].first_moment);
                    assert_eq!(second, checkpoint.parameters[at].second_moment);
                }
            }
            let copies = if with_optimizer { 3 } else { 1 };
            assert_eq!(read.len(), copies * tensors(&places).len());
        }
    }
}
