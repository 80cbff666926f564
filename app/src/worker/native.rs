//! The secret of an engine outside the browser (see `unroll_protocol::native`). The page has it from the
//! address that it was opened with, and keeps it there: reloading finds the engine again.

use std::cell::RefCell;

use unroll_protocol::native::SECRET;

thread_local! {
    static GIVEN: RefCell<String> = RefCell::default();
}

/// The secret that a fragment begins with, with its name, and the fragment without it.
pub fn apart(fragment: &str) -> (&str, &str) {
    if fragment.starts_with(SECRET) {
        fragment.split_once('&').unwrap_or((fragment, ""))
    } else {
        ("", fragment)
    }
}

/// Takes the secret out of the fragment that the page was opened with, which is returned without it.
pub fn take_secret(fragment: &str) -> &str {
    let (secret, rest) = apart(fragment);
    GIVEN.set(secret.to_owned());
    rest
}

/// That secret, with its name; empty without one.
pub fn secret() -> String {
    GIVEN.with_borrow(String::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_stands_before_what_was_written() {
        assert_eq!(apart("native=ab12&w=x&m=y"), ("native=ab12", "w=x&m=y"));
        assert_eq!(apart("native=ab12"), ("native=ab12", ""));
        assert_eq!(apart("w=x"), ("", "w=x"));
        assert_eq!(apart(""), ("", ""));
    }
}
