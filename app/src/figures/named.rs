//! What is on the page, by name.

/// Things that come and go with the figures they are of. Where a view is made anew before the old one is
/// gone there are two of one name for a while.
pub(super) struct Named<T> {
    last: u32,
    all: Vec<(u32, &'static str, T)>,
}

impl<T: Copy> Named<T> {
    pub(super) const fn new() -> Self {
        Self { last: 0, all: Vec::new() }
    }

    /// Returns what [`Self::remove`] takes.
    pub(super) fn add(&mut self, name: &'static str, it: T) -> u32 {
        self.last += 1;
        self.all.push((self.last, name, it));
        self.last
    }

    pub(super) fn remove(&mut self, id: u32) {
        self.all.retain(|(of, ..)| *of != id);
    }

    /// The newest of this name.
    pub(super) fn find(&self, name: &str) -> Option<T> {
        self.all.iter().rev().find(|(_, of, _)| *of == name).map(|(.., it)| *it)
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.all.iter().map(|(_, name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_found_and_each_goes_by_itself() {
        let mut all = Named::new();
        let [old, other, new] =
            [("loss", 1), ("states", 2), ("loss", 3)].map(|(n, it)| all.add(n, it));
        assert_eq!(
            (all.find("loss"), all.find("states"), all.find("moon")),
            (Some(3), Some(2), None)
        );
        assert_eq!(all.names(), ["loss", "states", "loss"]);
        all.remove(old);
        assert_eq!(all.find("loss"), Some(3));
        let again = all.add("loss", 4);
        all.remove(again);
        assert_eq!(all.find("loss"), Some(3));
        all.remove(new);
        all.remove(other);
        assert!(all.names().is_empty() && all.find("loss").is_none());
    }
}
