//! The figures of words about a model that writes.

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

pub(super) fn top_k(pen: &mut Pen, k: usize) -> String {
    cut(pen, |i, _| i < k)
}

pub(super) fn top_p(pen: &mut Pen, p: f64) -> String {
    cut(pen, |_, before| before + NEAR < p)
}

pub(super) fn min_p(pen: &mut Pen, p: f64) -> String {
    cut(pen, |i, _| GIVEN[i] + NEAR >= p * GIVEN[0])
}

/// The shares of those that stay; which these are is asked by place, and by what those before have in all.
fn cut(pen: &mut Pen, stays: impl Fn(usize, f64) -> bool) -> String {
    let kept = (0..GIVEN.len()).filter(|&i| stays(i, GIVEN[..i].iter().sum())).count();
    let sum: f64 = GIVEN[..kept].iter().sum();
    let after = |i: usize| if i < kept { GIVEN[i] / sum } else { 0.0 };
    let names = ["a: 0.5", "b: 0.25", "c: 0.15", "d: 0.07", "e: 0.03"];
    shares(pen, &names, &core::array::from_fn::<_, 5, _>(after));
    let stay = if kept == 1 { "stays" } else { "stay" };
    format!("{kept} of 5 tokens {stay}: a has 0.5 / {} = {}", plain(round(sum)), four(after(0)))
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
