//! A model as a safetensors file.

use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde_json::{Map, Value, json};
use unroll_protocol::{
    Architecture, Checkpoint, GptSpec, Link,
    architecture::{Activation, MaskKind, NormPlacement, Positions},
    link::Chapter,
};

use super::places::{Place, Tensor, places, tensors};

/// What stands before the names of the optimizer's running means, which are those of PyTorch's Adam.
pub const OPTIMIZER: [&str; 2] = ["optimizer.exp_avg.", "optimizer.exp_avg_sq."];
/// The character of id 0, as the file names it.
pub const UNKNOWN: &str = "\u{fffd}";

/// The epsilon of layer norms.
pub const EPSILON: f64 = 1e-5;

/// A file that is about to be written: a head, then one tensor after the other.
pub struct Outgoing<'a> {
    checkpoint: &'a Checkpoint,
    places: Vec<Place>,
    tensors: Vec<Tensor>,
    with_optimizer: bool,
}

impl<'a> Outgoing<'a> {
    pub fn new(checkpoint: &'a Checkpoint, with_optimizer: bool) -> Self {
        let places = places(&checkpoint.spec.gpt, checkpoint.vocabulary.len() + 1);
        let tensors = tensors(&places);
        Self { checkpoint, places, tensors, with_optimizer }
    }

    /// Prefixes of the names under which each tensor is written.
    fn prefixes(&self) -> impl Iterator<Item = &'static str> {
        [""].into_iter().chain(OPTIMIZER.into_iter().filter(|_| self.with_optimizer))
    }

    /// What the file begins with. `link` has the settings that the model was built with, `text` is the
    /// name of what it learned.
    pub fn head(&self, link: &Link, text: &str) -> Vec<u8> {
        let tensors = self.prefixes().flat_map(|prefix| {
            let named =
                move |tensor: &Tensor| (format!("{prefix}{}", tensor.name), tensor.shape.clone());
            self.tensors.iter().map(named)
        });
        let about = [
            ("config", config(&self.checkpoint.spec.gpt, self.checkpoint.vocabulary.len() + 1)),
            ("vocabulary", vocabulary(&self.checkpoint.vocabulary)),
            ("unroll", self.settings(link, text)),
        ];
        head(about, tensors)
    }

    /// What only this page needs to go on.
    fn settings(&self, link: &Link, text: &str) -> String {
        let query = Link { chapter: Chapter::Gpt, ..link.clone() }.query();
        json!({
            "settings": query,
            "learning_rate": self.checkpoint.spec.optimizer.learning_rate,
            "step": self.checkpoint.step,
            "text": text,
        })
        .to_string()
    }

    /// The bytes of each tensor, in the order of the head.
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
            if part.len() == self.places[number].len() {
                self.places[number].put(part, &mut values);
            }
        }
        bytes(&values)
    }
}

/// What a file begins with that holds these tensors, names and shapes, and says so much about them.
pub fn head<const N: usize>(
    about: [(&str, String); N],
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

/// Numbers as they lie in a file.
pub fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The vocabulary by id.
fn vocabulary(characters: &[char]) -> String {
    let characters = characters.iter().map(|character| character.to_string());
    json!([UNKNOWN.to_owned()].into_iter().chain(characters).collect::<Vec<_>>()).to_string()
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
    let Architecture { scaled, feed_forward, .. } = spec.architecture;
    let mut config = Map::new();
    let mut put = |name: &str, value: Value| config.insert(name.to_owned(), value);
    if is_gpt2(&spec.architecture) {
        put("model_type", json!("gpt2"));
        put("architectures", json!(["GPT2LMHeadModel"]));
    }
    put("vocab_size", json!(vocabulary));
    put("n_positions", json!(spec.context));
    put("n_embd", json!(spec.width));
    put("n_layer", json!(spec.layers));
    put("n_head", json!(spec.heads));
    put("activation_function", json!(feed_forward.and_then(activation_name)));
    put("scale_attn_weights", json!(scaled));
    put("tie_word_embeddings", json!(spec.tied));
    put("layer_norm_epsilon", json!(EPSILON));
    for name in ["embd_pdrop", "attn_pdrop", "resid_pdrop"] {
        put(name, json!(spec.dropout));
    }
    // There are no tokens that begin or end a text.
    put("bos_token_id", Value::Null);
    put("eos_token_id", Value::Null);
    Value::Object(config).to_string()
}

/// Whether transformers' GPT-2 can be this model.
pub fn is_gpt2(architecture: &Architecture) -> bool {
    let Architecture { positions, mask, norm, residual, attention, feed_forward, .. } =
        *architecture;
    positions == Positions::Learned
        && mask == MaskKind::Causal
        && norm == NormPlacement::Pre
        && residual
        && attention
        && feed_forward.and_then(activation_name).is_some()
}
