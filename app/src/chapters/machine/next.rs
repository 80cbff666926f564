//! Drawing the next character from the model's shares.

use unroll_protocol::gpt::Pass;

/// What was drawn after the text, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    pub token: String,
    /// Between 0 and 1.
    pub number: f64,
    /// The piece of 0 to 1 that the token has, as long as its share.
    pub from: f64,
    pub to: f64,
}

/// A number between 0 and 1 that the seed and the text before decide (SplitMix64, Steele et al.
/// 2014): the same sentence is continued in the same way.
pub fn number(seed: u32, text: &str) -> f64 {
    let mixed = text.chars().fold(u64::from(seed), |state, c| mix(state ^ u64::from(u32::from(c))));
    (mix(mixed) >> 11) as f64 / (1u64 << 53) as f64
}

fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Draws what follows the last token of `pass`, which is the end of `text`. `None` where the model
/// has no shares, as after its numbers ran away.
pub fn draw(pass: &Pass, seed: u32, text: &str) -> Option<Draw> {
    let shares = pass.probabilities.block(&[pass.tokens.len().checked_sub(1)?])?;
    let total: f64 = shares.iter().map(|&share| f64::from(share)).sum();
    if !total.is_finite() || total <= 0.0 {
        return None;
    }
    let number = number(seed, text);
    let mut from = 0.0;
    for (share, token) in shares.iter().zip(&pass.vocabulary) {
        let to = from + f64::from(*share) / total;
        if number < to {
            return Some(Draw { token: token.clone(), number, from, to });
        }
        from = to;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters::machine::cells::tests::pass;

    #[test]
    fn characters_come_as_often_as_their_shares_say() {
        let mut pass = pass(2, 2);
        pass.probabilities.values = vec![0.0, 0.0, 1.0, 0.25, 0.0, 0.75];
        let texts: Vec<String> = (0..4000).map(|i| format!("text {i}")).collect();
        let drawn: Vec<Draw> = texts.iter().filter_map(|text| draw(&pass, 1, text)).collect();
        assert_eq!(drawn.len(), texts.len());
        let first = drawn.iter().filter(|draw| draw.token == "a").count();
        assert!((900..1100).contains(&first), "{first}");
        assert!(drawn.iter().all(|draw| draw.token != "b"));
        assert!(drawn.iter().all(|draw| (draw.from..draw.to).contains(&draw.number)));
        assert_eq!(draw(&pass, 1, "x"), draw(&pass, 1, "x"));
        pass.probabilities.values = vec![f32::NAN; 6];
        assert_eq!(draw(&pass, 1, "x"), None);
    }
}
