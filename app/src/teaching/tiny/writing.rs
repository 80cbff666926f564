//! The figures of words about a model that writes.

use super::{
    super::pen::{Pen, WIDTH},
    pictures::{TEXT, plain, visible},
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_saves_all_but_the_last() {
        assert_eq!(keys(1), (1, 1));
        assert_eq!(keys(10), (10, 55));
    }
}
