//! The shape of a model that another program wrote: read off its tensors and its `config.json`.

use serde_json::Value;
use unroll_model_file::{LM_HEAD, NORM_EPSILON, PREFIX, activation_name};
use unroll_protocol::{Architecture, GptSpec, architecture::Activation};

use super::{Beside, Infos, Refusal};

/// The width of GPT-2's heads, in all its sizes.
const HEAD_WIDTH: usize = 64;

/// How the names of tensors begin in models of other forms, some of which have relatives with the same names.
const OTHERS: [(&str, &str); 12] = [
    ("model.layers.", "Llama"),
    ("gpt_neox.", "GPT-NeoX"),
    ("transformer.h.0.attn.attention.", "GPT-Neo"),
    ("transformer.h.0.attn.q_proj.", "GPT-J"),
    ("transformer.h.0.self_attention.", "BLOOM"),
    ("decoder.layers.", "OPT"),
    ("model.decoder.layers.", "OPT"),
    ("bert.", "BERT"),
    ("encoder.layer.", "BERT"),
    ("roberta.", "RoBERTa"),
    ("encoder.block.", "T5"),
    ("backbone.layers.", "Mamba"),
];

/// Refuses a model that another program wrote if its `config.json` says that it is of another form than
/// GPT-2’s, or if its tensors do.
pub fn of_our_form(config: Option<&Value>, infos: &Infos) -> Result<(), Refusal> {
    let said = |pointer: &str| config.and_then(|config| config.pointer(pointer)?.as_str());
    let name = said("/model_type").or(said("/architectures/0"));
    let told = name.filter(|name| !name.to_ascii_lowercase().starts_with("gpt2"));
    let other = told.map(|name| format!("“{name}”")).or_else(|| {
        let begins = |part: &str| infos.keys().any(|name| name.starts_with(part));
        let (_, name) = OTHERS.iter().find(|(part, _)| begins(part))?;
        Some((*name).to_owned())
    });
    other.map_or(Ok(()), |name| Err(Refusal::Foreign(name)))
}

/// The shape of a model that another program wrote.
pub fn foreign(
    infos: &Infos,
    config: Option<&Value>,
    beside: &Beside,
    notes: &mut Vec<String>,
) -> Result<GptSpec, Refusal> {
    let said = |name: &str| config.and_then(|config| config.get(name)).filter(|v| !v.is_null());
    let size = |name: &str, axis: usize| {
        let info = infos.get(&format!("{PREFIX}{name}"));
        info.and_then(|info| info.shape.get(axis)).copied().unwrap_or_default()
    };
    let (width, context) = (size("wte.weight", 1), size("wpe.weight", 0));
    if context == 0 {
        return Err(Refusal::Missing(vec![format!("{PREFIX}wpe.weight")]));
    }
    let layers = (0..)
        .take_while(|block| infos.contains_key(&format!("{PREFIX}h.{block}.attn.c_attn.weight")))
        .count();
    let told = said("n_head").and_then(Value::as_u64);
    let heads = told.unwrap_or_else(|| {
        let heads = if width > 0 && width.is_multiple_of(HEAD_WIDTH) {
            width / HEAD_WIDTH
        } else if beside.heads > 0 && width.is_multiple_of(beside.heads as usize) {
            beside.heads as usize
        } else {
            1
        };
        notes.push(format!(
            "The file does not say how many heads each block has. The lab assumes {heads}. If that is \
             wrong, choose the file again together with its config.json."
        ));
        heads as u64
    });
    let expect = |name: &'static str, fits: &dyn Fn(&Value) -> bool| match said(name) {
        Some(value) if !fits(value) => Err(Refusal::Config { name, value: value.to_string() }),
        _ => Ok(()),
    };
    expect("layer_norm_epsilon", &|v| v.as_f64() == Some(NORM_EPSILON))?;
    expect("scale_attn_by_inverse_layer_idx", &|v| v.as_bool() == Some(false))?;
    expect("add_cross_attention", &|v| v.as_bool() == Some(false))?;
    expect("n_inner", &|v| v.as_u64() == Some(4 * width as u64))?;
    let activation = match said("activation_function") {
        // GPT-2's own.
        None => Activation::GeluTanh,
        Some(value) => {
            let name = match value.as_str() {
                Some("gelu_pytorch_tanh") => Some("gelu_new"),
                name => name,
            };
            let known = Activation::ALL.iter().find(|known| activation_name(**known) == name);
            let unknown =
                || Refusal::Config { name: "activation_function", value: value.to_string() };
            *known.filter(|_| name.is_some()).ok_or_else(unknown)?
        }
    };
    let is_tied = said("tie_word_embeddings").and_then(Value::as_bool);
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Ok(GptSpec {
        layers: number(layers),
        heads: u32::try_from(heads).unwrap_or(u32::MAX),
        width: number(width),
        context: number(context),
        dropout: 0.0,
        tied: is_tied.unwrap_or(false) || !infos.contains_key(LM_HEAD),
        architecture: Architecture {
            feed_forward: Some(activation),
            scaled: said("scale_attn_weights").and_then(Value::as_bool).unwrap_or(true),
            ..Architecture::GPT2
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use unroll_model_file::UNKNOWN_TOKEN;

    use super::*;
    use crate::kept::incoming::samples::{fixture, fixture_json, logits, read, refused};

    #[test]
    fn a_model_that_transformers_wrote_has_the_logits_that_pytorch_finds() {
        let expected = fixture_json("expected.json");
        let text = expected["text"].as_str().unwrap();
        let beside = Beside {
            config: Some(fixture_json("config.json")),
            vocabulary: Some(fixture_json("vocab.json")),
            ..Beside::default()
        };
        for (name, key) in
            [("model.safetensors", "logits"), ("bare-bf16.safetensors", "logits_bf16")]
        {
            let (checkpoint, link, notes) = read(&fixture(name), &beside).unwrap();
            assert!(notes.is_empty(), "{notes:?}");
            assert_eq!((link.gpt.layers, link.gpt.heads, link.gpt.width), (2, 2, 16));
            assert_eq!((link.gpt.context, link.gpt.tied, checkpoint.step), (16, true, 0));
            let found = logits(&checkpoint, text);
            for (row, found) in expected[key].as_array().unwrap().iter().zip(&found) {
                for (id, token) in expected["tokens"].as_array().unwrap().iter().enumerate() {
                    let token =
                        token.as_str().map(|token| token.replace("<unk>", UNKNOWN_TOKEN)).unwrap();
                    let (found, expected) = (found[&token], row[id].as_f64().unwrap() as f32);
                    assert!((found - expected).abs() < 2e-5, "{token}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn what_a_foreign_file_leaves_out_is_asked_for_or_said() {
        let bytes = fixture("model.safetensors");
        let vocabulary = Some(fixture_json("vocab.json"));
        assert!(refused(&bytes, &Beside::default()).contains("what its 10 tokens are"));
        let (_, link, notes) =
            read(&bytes, &Beside { vocabulary: vocabulary.clone(), heads: 4, ..Beside::default() })
                .unwrap();
        assert_eq!(link.gpt.heads, 4);
        assert!(notes[0].contains("assumes 4"), "{notes:?}");
        let present: Vec<String> = "\u{fffd}\n abcdefü".chars().map(String::from).collect();
        let (checkpoint, _, notes) =
            read(&bytes, &Beside { present, ..Beside::default() }).unwrap();
        assert_eq!(checkpoint.vocabulary.iter().collect::<String>(), "\n abcdefü");
        assert!(notes.iter().any(|note| note.contains("text on this page")), "{notes:?}");
        let with = |name: &str, value: Value| {
            let mut config = fixture_json("config.json");
            config[name] = value;
            let vocabulary = vocabulary.clone();
            refused(&bytes, &Beside { config: Some(config), vocabulary, ..Beside::default() })
        };
        assert!(with("activation_function", json!("silu")).contains("“activation_function” is"));
        assert!(with("layer_norm_epsilon", json!(1e-6)).contains("“layer_norm_epsilon” is"));
        assert!(with("n_inner", json!(32)).contains("“n_inner” is 32"));
        assert!(with("n_head", json!(5)).contains("5 heads do not divide"));
    }
}
