//! The figures of words about a model that writes.

use unroll_protocol::gpt::{self, Sampling};

use super::{
    super::pen::{Pen, WIDTH, four},
    pictures::{TEXT, plain, round, shares, visible},
};

/// The characters that are still seen where the next one is written.
pub(super) fn seen(pen: &mut Pen, size: usize, so_far: usize) -> String {
    let first = so_far.saturating_sub(size);
    let letters: Vec<String> = TEXT.chars().take(so_far).map(visible).collect();
    let mut cells = letters.clone();
    cells.resize(TEXT.chars().count(), String::new());
    pen.cells(45.0, 40.0, &cells, |i| (first..so_far).contains(&i));
    let x = (so_far as f64 + 0.5) * WIDTH / cells.len() as f64;
    pen.arrow("toy-pointer", (x, 118.0), (x, 90.0));
    let words = letters[first..].concat();
    match first {
        0 => format!("Seen: all {so_far} characters, “{words}”"),
        lost => format!("Seen: “{words}”. Lost: {lost} of {so_far} characters"),
    }
}

/// The keys, and as many values, that are computed until `tokens` tokens are written.
pub(super) fn computed(pen: &mut Pen, tokens: u32) -> String {
    let (kept, again) = keys(tokens);
    let numbers = [kept, again].map(f64::from);
    let words = numbers.map(plain);
    let names = ["with", "without"];
    let rows: Vec<_> = (0..2).map(|i| (names[i], numbers[i], &*words[i])).collect();
    pen.bars(&rows, f64::from(keys(MOST).1));
    format!("Keys computed for {tokens} tokens: {kept} with the cache, {again} without")
}

/// The most tokens that can be set.
pub(super) const MOST: u32 = 24;

/// With a cache each token's is computed once; without it, at each token all so far.
fn keys(tokens: u32) -> (u32, u32) {
    (tokens, (1..=tokens).sum())
}

/// What a model gives its tokens, the most probable first.
const GIVEN: [f64; 5] = [0.5, 0.25, 0.15, 0.07, 0.03];
/// Sums and sliders are as exact as that.
const NEAR: f64 = 1e-6;

/// A slider's p for a rule: what is at the edge stays.
pub(super) fn least(p: f64) -> f32 {
    (p - NEAR) as f32
}

/// What is left of the tokens and their shares, by the rules that every model here writes with.
pub(super) fn cut(pen: &mut Pen, rules: Sampling) -> String {
    let logits = GIVEN.map(|share| share.ln() as f32);
    let left = gpt::shares(&logits, &rules).expect("finite logits have shares");
    let left: Vec<f64> = left.into_iter().map(f64::from).collect();
    let kept = left.iter().filter(|share| **share > 0.0).count();
    shares(pen, &["a: 0.5", "b: 0.25", "c: 0.15", "d: 0.07", "e: 0.03"], &left);
    let (stay, sum) = (if kept == 1 { "stays" } else { "stay" }, GIVEN[..kept].iter().sum());
    format!("{kept} of 5 tokens {stay}: a has 0.5 / {} = {}", plain(round(sum)), four(left[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_saves_all_but_the_last() {
        assert_eq!(keys(1), (1, 1));
        assert_eq!(keys(10), (10, 55));
    }
}
