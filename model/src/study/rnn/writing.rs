//! Text generation by both models, with one odd character forced on them.

use rand::rngs::ChaCha8Rng;
use unroll_protocol::{
    gpt::{Sampling, choose, shares},
    study::rnn::{Character, MOST_WRITTEN, Odd, Writing, Written},
};

use super::{Refusal, task::Text};
use crate::{
    LayerStates, RunOptions, SequenceModel,
    random::{Purpose, stream, unit},
    read_all, token_tensor,
};

/// Number of characters read from the end of the prompt.
const PROMPT: usize = 64;

/// The question.
pub struct Asked<'a> {
    pub prompt: &'a str,
    pub length: u32,
    pub temperature: f32,
    pub odd: Option<Odd>,
    pub seed: u32,
}

/// A model in the middle of generating text.
#[derive(Clone)]
struct Pen<'a> {
    model: &'a SequenceModel,
    states: Option<Vec<LayerStates>>,
    /// Logits of the next token.
    logits: Vec<f32>,
    written: Vec<(u32, f32)>,
}

impl Pen<'_> {
    async fn read(&mut self, tokens: &[u32]) -> Result<(), Refusal> {
        let options = RunOptions { initial: self.states.take(), ..RunOptions::default() };
        let output = self.model.run(token_tensor(tokens, 1, &self.model.device()), &options);
        self.states = Some(output.finals);
        let last = output.logits.narrow(1, tokens.len() - 1, 1).reshape([-1]);
        self.logits = read_all([last]).await?.concat();
        Ok(())
    }

    /// Appends `token`, which anyone may have chosen, and reads it.
    async fn write(&mut self, token: u32) -> Result<(), Refusal> {
        let probability = shares(&self.logits, &Sampling::PLAIN)?[token as usize];
        self.written.push((token, -probability.ln()));
        self.read(&[token]).await
    }
}

/// Lets both models generate text. The draw for each position is the same for both, with and
/// without the odd character.
pub async fn writing(
    models: [&SequenceModel; 2],
    text: &Text,
    asked: Asked<'_>,
) -> Result<Writing, Refusal> {
    let mut prompt = text.tokenizer.encode(asked.prompt);
    if prompt.is_empty() {
        return Err(Refusal(
            "The sentence is empty: write the beginning that the networks shall go on from."
                .to_owned(),
        ));
    }
    prompt.drain(..prompt.len().saturating_sub(PROMPT));
    let length = asked.length.min(MOST_WRITTEN);
    let odd = asked.odd.filter(|odd| odd.position < length);
    let letter = odd.map(|odd| text.odd_letter(odd.letter));
    let mut answer = Writing {
        letter: letter.map(|id| text.tokenizer.character(id).to_string()),
        ..Writing::default()
    };
    for (model, written) in models.into_iter().zip(&mut answer.models) {
        let mut pen = Pen { model, states: None, logits: Vec::new(), written: Vec::new() };
        pen.read(&prompt).await?;
        let mut other = None;
        for position in 0..length {
            if let (Some(odd), Some(letter)) = (odd, letter)
                && odd.position == position
            {
                let mut thrown = pen.clone();
                thrown.write(letter).await?;
                other = Some(thrown);
            }
            go_on(&mut pen, position, &asked).await?;
            if let (Some(odd), Some(other)) = (odd, &mut other)
                && position > odd.position
            {
                go_on(other, position, &asked).await?;
            }
        }
        let characters = |pen: &Pen| -> Vec<Character> {
            let characters = pen.written.iter().map(|&(token, surprise)| Character {
                token: text.tokenizer.character(token).to_string(),
                surprise,
            });
            characters.collect()
        };
        *written = Written {
            plain: characters(&pen),
            odd: other.as_ref().map(characters).unwrap_or_default(),
        };
    }
    Ok(answer)
}

/// Draws one token and appends it.
async fn go_on(pen: &mut Pen<'_>, position: u32, asked: &Asked<'_>) -> Result<(), Refusal> {
    let sampling = Sampling { temperature: asked.temperature, ..Sampling::PLAIN };
    let probabilities = shares(&pen.logits, &sampling)?;
    let mut rng: ChaCha8Rng = stream(asked.seed, Purpose::RnnWriting, [position, 0, 0]);
    let token = choose(&probabilities, unit(&mut rng)) as u32;
    pen.write(token).await
}
