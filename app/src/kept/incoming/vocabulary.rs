//! The tokens of a file: which character each is, and in which place the lab has it.

use std::collections::BTreeMap;

use serde_json::Value;
use unroll_model_file::UNKNOWN_TOKEN;

use super::Refusal;

/// Names of the token for unknown characters.
const UNKNOWN_NAMES: [&str; 5] = [UNKNOWN_TOKEN, "<unk>", "[UNK]", "<|unk|>", "<|endoftext|>"];

/// The tokens by id: from a list, or from an object of ids by token.
pub(super) fn by_id(named: &Value, count: usize) -> Result<Vec<String>, Refusal> {
    let damaged = || {
        Refusal::Vocabulary(format!(
            "The vocabulary must name each of the {count} tokens of the model exactly once."
        ))
    };
    let mut tokens = vec![None; count];
    match named {
        Value::Array(list) => {
            for (id, token) in list.iter().enumerate() {
                *tokens.get_mut(id).ok_or_else(damaged)? = token.as_str().map(str::to_owned);
            }
        }
        Value::Object(ids) => {
            for (token, id) in ids {
                let id = id.as_u64().and_then(|id| usize::try_from(id).ok());
                let place = id.and_then(|id| tokens.get_mut(id)).ok_or_else(damaged)?;
                if place.replace(token.clone()).is_some() {
                    return Err(damaged());
                }
            }
        }
        _ => return Err(damaged()),
    }
    tokens.into_iter().collect::<Option<_>>().ok_or_else(damaged)
}

/// Which of the file's tokens is in the place of each of ours, and our characters: the unknown one
/// first, then the others by their codes.
pub(super) fn order(tokens: &[String]) -> Result<(Vec<usize>, Vec<char>), Refusal> {
    let refused = |sentence: String| Err(Refusal::Vocabulary(sentence));
    let Some(unknown) = UNKNOWN_NAMES.iter().find_map(|name| tokens.iter().position(|t| t == name))
    else {
        return refused(
            "The model’s vocabulary has no token for unknown characters (such as <unk>), and the \
             lab needs one."
                .to_owned(),
        );
    };
    let mut characters = BTreeMap::new();
    for (id, token) in tokens.iter().enumerate().filter(|(id, _)| *id != unknown) {
        let mut inside = token.chars();
        let (Some(character), None) = (inside.next(), inside.next()) else {
            return refused(format!(
                "The model’s token “{token}” is not a single character. The lab cuts text into \
                 characters, so it can’t use this model."
            ));
        };
        if characters.insert(character, id).is_some() {
            return refused(format!("The model’s vocabulary has “{character}” twice."));
        }
    }
    let order = [unknown].into_iter().chain(characters.values().copied()).collect();
    Ok((order, characters.into_keys().collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kept::incoming::{
        Beside,
        samples::{fixture, refused},
    };

    #[test]
    fn a_vocabulary_that_cant_be_used_is_refused_with_a_sentence() {
        let bytes = fixture("model.safetensors");
        let tokens = |tokens: Value| {
            refused(&bytes, &Beside { vocabulary: Some(tokens), ..Beside::default() })
        };
        assert!(tokens(json!(["a"])).contains("each of the 10 tokens"));
        let words = ["<unk>", "a", "b", "c", "d", "e", "f", "g", "h", "the"];
        assert!(tokens(json!(words)).contains("“the” is not a single character"));
        let letters = ["z", "a", "b", "c", "d", "e", "f", "g", "h", "i"];
        assert!(tokens(json!(letters)).contains("no token for unknown"));
        let twice = ["<unk>", "a", "b", "c", "d", "e", "f", "g", "h", "a"];
        assert!(tokens(json!(twice)).contains("“a” twice"));
    }
}
