//! Masks as a learner makes them: one or two presets, and cells set by hand.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CONTEXT;
use crate::link::rows::choice;

choice! {
    /// A named mask.
    Preset {
        /// Each token attends to itself and to those before it.
        Causal = "causal", "Causal";
        /// Every token attends to every token.
        Full = "full", "Bidirectional";
        /// Each token attends to those fewer than [`Pattern::band`] positions away, before or
        /// after.
        Band = "band", "Local band";
        /// Every token attends to all but the last [`Pattern::padding`], which are padding.
        Padding = "padding", "Padding";
        /// Each token attends to itself: an empty sheet for drawing.
        Alone = "alone", "Only itself";
        /// Each token attends to itself and to random others, which are always the same.
        Graph = "graph", "A random graph";
    }
}

choice! {
    /// How two masks are combined.
    Combine {
        /// The first alone.
        First = "first", "nothing";
        /// What both allow.
        And = "and", "and also (∩)";
        /// What either allows.
        Or = "or", "or else (∪)";
    }
}

/// A mask for sentences of any length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    pub base: Preset,
    pub combine: Combine,
    pub other: Preset,
    pub band: u32,
    pub padding: u32,
}

impl Default for Pattern {
    fn default() -> Self {
        let (base, other) = (Preset::Causal, Preset::Band);
        Self { base, combine: Combine::First, other, band: 4, padding: 4 }
    }
}

/// One in this many links of a random graph is allowed.
const ONE_IN: u32 = 5;

impl Pattern {
    /// Whether `query` may attend to `key`, both from 0, in a sentence of `length` tokens.
    pub fn allows(&self, length: usize, query: usize, key: usize) -> bool {
        let says = |preset| match preset {
            Preset::Causal => key <= query,
            Preset::Full => true,
            Preset::Band => query.abs_diff(key) < self.band as usize,
            Preset::Padding => key + (self.padding as usize) < length,
            Preset::Alone => query == key,
            Preset::Graph => query == key || lot(query, key).is_multiple_of(ONE_IN),
        };
        match self.combine {
            Combine::First => says(self.base),
            Combine::And => says(self.base) && says(self.other),
            Combine::Or => says(self.base) || says(self.other),
        }
    }

    /// Whether `preset` is one of the masks in effect.
    pub fn uses(&self, preset: Preset) -> bool {
        self.base == preset || (self.combine != Combine::First && self.other == preset)
    }

    /// Every cell, `length * length`, row-major, including what is `drawn` by hand.
    pub fn cells(&self, drawn: &Drawn, length: usize) -> Vec<bool> {
        let cells = (0..length).flat_map(|query| (0..length).map(move |key| (query, key)));
        cells
            .map(|(query, key)| {
                drawn.get(query, key).unwrap_or_else(|| self.allows(length, query, key))
            })
            .collect()
    }
}

/// A pseudo-random number, by the finalizer of MurmurHash3 (Appleby 2011).
fn lot(query: usize, key: usize) -> u32 {
    let mut bits = (query as u32) << 16 | key as u32;
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

const SIDE: usize = CONTEXT as usize;
/// Number of bytes with one bit for each cell.
const BYTES: usize = SIDE * SIDE / 8;

/// Cells set by hand, which override the presets, indexed by query and key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawn(BTreeMap<(u8, u8), bool>);

impl Drawn {
    /// What was set by hand, if anything.
    pub fn get(&self, query: usize, key: usize) -> Option<bool> {
        let place = (u8::try_from(query).ok()?, u8::try_from(key).ok()?);
        self.0.get(&place).copied()
    }

    /// Sets a cell of a sentence of `length` tokens. A cell that equals what `pattern` says is not
    /// kept.
    pub fn set(
        &mut self,
        pattern: &Pattern,
        length: usize,
        (query, key): (usize, usize),
        to: bool,
    ) {
        if query >= SIDE || key >= SIDE {
            return;
        }
        let place = (query as u8, key as u8);
        if pattern.allows(length, query, key) == to {
            self.0.remove(&place);
        } else {
            self.0.insert(place, to);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of cells set by hand.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// For each of `CONTEXT * CONTEXT` cells one bit that says whether it is set by hand, followed
    /// by one bit each for the value.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 2 * BYTES];
        for (&(query, key), &to) in &self.0 {
            let (query, key) = (usize::from(query), usize::from(key));
            // Only a hostile message could contain cells outside.
            if query < SIDE && key < SIDE {
                let cell = query * SIDE + key;
                bytes[cell / 8] |= 1 << (cell % 8);
                bytes[BYTES + cell / 8] |= u8::from(to) << (cell % 8);
            }
        }
        bytes
    }

    /// Parses [`Self::to_bytes`]; `None` for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != 2 * BYTES {
            return None;
        }
        let bit = |from: usize, cell: usize| bytes[from + cell / 8] >> (cell % 8) & 1 == 1;
        let set = (0..SIDE * SIDE).filter(|&cell| bit(0, cell));
        let set = set.map(|c| (((c / SIDE) as u8, (c % SIDE) as u8), bit(BYTES, c)));
        let drawn = Self(set.collect());
        // Value bits of cells that are not set were not written by us.
        (drawn.to_bytes() == bytes).then_some(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_combine_as_sets_do_and_hands_have_the_last_word() {
        let band =
            Pattern { base: Preset::Causal, combine: Combine::And, band: 2, ..Pattern::default() };
        for (query, key) in (0..9).flat_map(|q| (0..9).map(move |k| (q, k))) {
            assert_eq!(band.allows(9, query, key), key == query || key + 1 == query);
            let either = Pattern { combine: Combine::Or, ..band };
            assert_eq!(either.allows(9, query, key), key <= query + 1);
            let wide = Pattern { base: Preset::Band, combine: Combine::First, band: 40, ..band };
            assert!(wide.allows(9, query, key));
        }
        let padded = Pattern { base: Preset::Padding, padding: 3, ..Pattern::default() };
        assert_eq!(padded.cells(&Drawn::default(), 4)[..4], [true, false, false, false]);
        let mut drawn = Drawn::default();
        drawn.set(&padded, 4, (0, 3), true);
        drawn.set(&padded, 4, (1, 0), false);
        drawn.set(&padded, 4, (2, 0), true);
        assert_eq!(drawn.len(), 2, "what the preset says anyway is not kept");
        assert_eq!(
            padded.cells(&drawn, 4)[..8],
            [true, false, false, true, false, false, false, false]
        );
        drawn.set(&padded, 4, (0, 3), false);
        drawn.set(&padded, 4, (1, 0), true);
        drawn.set(&padded, 4, (32, 0), true);
        assert!(drawn.is_empty());
    }

    #[test]
    fn a_drawing_survives_as_bytes_and_nothing_else_is_one() {
        let (pattern, mut drawn) = (Pattern::default(), Drawn::default());
        for cell in (0..32 * 32).step_by(7) {
            drawn.set(&pattern, 32, (cell / 32, cell % 32), cell % 3 == 0);
        }
        assert!(drawn.len() > 60);
        let bytes = drawn.to_bytes();
        assert_eq!(Drawn::from_bytes(&bytes), Some(drawn));
        assert_eq!(Drawn::from_bytes(&bytes[1..]), None);
        assert_eq!(Drawn::from_bytes(&[]), None);
        let mut odd = vec![0; 2 * BYTES];
        odd[BYTES] = 1;
        assert_eq!(Drawn::from_bytes(&odd), None, "a value of a cell that is not set");
    }
}
