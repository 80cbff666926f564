//! Text generation, with each model's own mask: there is no future to look at.

use unroll_protocol::{
    gpt::{Sampling, choose, shares},
    study::mask::{CONTEXT, MOST_WRITTEN, Writing},
};

use super::Refusal;
use crate::{
    CharTokenizer, Gpt,
    random::{Purpose, stream, unit},
    read_all, token_tensor,
};

/// Number of characters read from the end of the prompt, which leaves room for what is generated.
const PROMPT: usize = 16;
const SAMPLING: Sampling = Sampling { temperature: 0.8, ..Sampling::PLAIN };

/// What `model` generates after `prompt`. The draw for each position is the same for every model.
pub(super) async fn writing(
    model: &Gpt,
    tokenizer: &CharTokenizer,
    prompt: &str,
    length: u32,
    seed: u32,
) -> Result<Writing, Refusal> {
    let mut tokens = tokenizer.encode(prompt);
    if tokens.is_empty() {
        return Err(Refusal(
            "The sentence is empty: write the beginning that the models shall go on from."
                .to_owned(),
        ));
    }
    tokens.drain(..tokens.len().saturating_sub(PROMPT));
    let read = tokens.len();
    for place in 0..length.min(MOST_WRITTEN) {
        let window = &tokens[tokens.len().saturating_sub(CONTEXT as usize)..];
        let logits = model.forward_last(token_tensor(window, 1, &model.device()));
        let logits = read_all([logits.reshape([-1])]).await?.concat();
        let probabilities = shares(&logits, &SAMPLING)?;
        let mut rng = stream(seed, Purpose::MaskWriting, [place, 0, 0]);
        tokens.push(choose(&probabilities, unit(&mut rng)) as u32);
    }
    Ok(Writing {
        prompt: tokenizer.decode(&tokens[..read]),
        text: tokenizer.decode(&tokens[read..]),
    })
}
