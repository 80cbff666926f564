//! When to stop starting engines.

/// Engines that died in a row: what kills each of them is not tried for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deaths(u32);

impl Deaths {
    /// After so many, no further engine is started by itself.
    const MOST: u32 = 3;

    /// One more died. Whether another may be started.
    pub fn one_more(&mut self) -> bool {
        self.0 += 1;
        self.0 < Self::MOST
    }

    /// Whether this was not the first in a row: then what it was given may be what killed it.
    pub fn are_repeated(self) -> bool {
        self.0 > 1
    }

    /// What the page says when no other is started; `reason` is a sentence.
    pub fn gave_up(reason: &str) -> String {
        format!(
            "{reason} It failed {} times in a row, so it is left alone now: try a smaller model, or \
             reload the page.",
            Self::MOST
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_death_in_a_row_is_the_last() {
        let mut deaths = Deaths::default();
        assert!(deaths.one_more() && !deaths.are_repeated());
        assert!(deaths.one_more() && deaths.are_repeated());
        assert!(!deaths.one_more());
    }
}
