//! What only the page with the link knows.

use std::hint::black_box;

/// Bytes from the operating system: 192 bits.
const BYTES: usize = 24;

/// The secret of one engine, which lives as long as the process.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A new one.
    pub fn new() -> Result<Self, String> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| format!("The system gave no random numbers ({error})."))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// As it stands in the link.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `given` is this secret. How long that takes says nothing about how far it is right.
    pub fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differing = own.iter().zip(given).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
        own.len() == given.len() && differing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_the_secret() {
        let secret = Secret::new().unwrap();
        let text = secret.text().to_owned();
        assert_eq!(text.len(), 2 * BYTES);
        assert_ne!(text, Secret::new().unwrap().text());
        assert!(secret.is(&text));
        let other = if text.ends_with('0') { '1' } else { '0' };
        let changed = format!("{}{other}", &text[..text.len() - 1]);
        for wrong in ["", &text[..text.len() - 1], &format!("{text}0"), &changed] {
            assert!(!secret.is(wrong), "{wrong}");
        }
    }
}
