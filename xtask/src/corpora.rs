//! The two built-in training texts that are generated instead of written by hand.
//!
//! Both are functions of [`SEED`] alone, so the committed files in `assets/corpora` can be checked
//! against this code.

use std::collections::HashSet;

/// Generates a whole text.
pub type Generator = fn() -> String;

/// The generated files of `assets/corpora`: name and generator of each.
pub const FILES: [(&str, Generator); 2] = [("names.txt", names), ("brackets.txt", brackets)];

/// Seed of both generators.
const SEED: u64 = 0x756e_726f_6c6c;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
///
/// The state walks through all 64-bit numbers in steps of the golden ratio, 2^64 / phi, rounded to
/// an odd number; each state, its bits mixed by two rounds of xor-shift and multiplication and a
/// last xor-shift, is one output.
struct SplitMix64(u64);

impl SplitMix64 {
    /// The next 64 bits.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`, as the high half of a 128-bit product: biased by at most
    /// n / 2^64.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// One of `items`, all equally likely.
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// How many names [`names`] makes.
const NAME_COUNT: usize = 2000;
/// Letters in the shortest and in the longest name.
const NAME_LENGTHS: (usize, usize) = (3, 10);

/// The sounds of one kind of name. A sound that is listed twice is twice as likely.
struct Family {
    /// How a name starts, before its first vowel.
    onsets: &'static [&'static str],
    /// Vowels, each the middle of a syllable.
    nuclei: &'static [&'static str],
    /// What stands between two vowels: one syllable's coda, the next syllable's onset, or both.
    links: &'static [&'static str],
    /// Endings that start with a vowel and follow a link.
    open: &'static [&'static str],
    /// Endings that start with a consonant and follow a vowel.
    closed: &'static [&'static str],
}

/// Five families with invented phonologies; a name keeps to one of them.
const FAMILIES: [Family; 5] = [
    // Soft and flowing: linelle, elmora, vinela.
    Family {
        onsets: &["", "l", "m", "n", "r", "s", "v", "el", "am"],
        nuclei: &["a", "e", "i", "o", "ae"],
        links: &["l", "l", "lm", "n", "r", "v", "s", "ll", "nn"],
        open: &["a", "a", "ia", "ora", "ina", "ea", "elle"],
        closed: &["ra", "lia", "na", "mi"],
    },
    // Round and bright: damino, pravio, bantelio.
    Family {
        onsets: &["b", "c", "d", "f", "g", "pr", "t", "tr", "al", "or"],
        nuclei: &["a", "a", "e", "i", "o"],
        links: &["l", "ld", "m", "n", "r", "v", "rl", "nt", "str", "lv"],
        open: &["o", "o", "io", "ino", "ano", "ero", "ello"],
        closed: &["ro", "no", "mo", "lio"],
    },
    // Green and windy: briowyn, thareth, bryndrel.
    Family {
        onsets: &["br", "c", "d", "f", "gl", "gw", "h", "ll", "r", "th", "w"],
        nuclei: &["a", "e", "i", "o", "y", "ia", "io"],
        links: &["l", "n", "r", "th", "w", "ll", "rr", "dr", "ndr"],
        open: &["el", "el", "en", "eth", "yn", "ian", "ys"],
        closed: &["wyn", "wyn", "lwyn", "rwen", "lin", "ndel"],
    },
    // Old and stony: groldric, branmar, teirben.
    Family {
        onsets: &["b", "br", "d", "g", "gr", "h", "k", "st", "t", "th", "w", "ul"],
        nuclei: &["a", "e", "o", "u", "ei"],
        links: &["d", "g", "r", "ld", "lg", "nd", "rb", "rg", "rk", "rv"],
        open: &["ar", "en", "ic", "or", "un", "olf"],
        closed: &["ldric", "rmund", "nmar", "lgar", "rben", "ndar"],
    },
    // Quick and snowy: yaski, kultiko, jinniko.
    Family {
        onsets: &["h", "j", "k", "l", "m", "r", "s", "t", "v", "y", "z", ""],
        nuclei: &["a", "e", "i", "u", "ee", "ii"],
        links: &["l", "l", "m", "n", "r", "lk", "lt", "nk", "nn", "sk", "zh"],
        open: &["a", "i", "i", "u", "iko", "ja", "eva"],
        closed: &["nka", "ska", "ri", "lko", "nen", "lle"],
    },
];

/// 2000 invented given names, unique, one per line, in lower case and in no order.
///
/// ```text
/// name = onset nucleus [ link nucleus ] ( link open | closed )
/// ```
///
/// where all sounds of a name are from one [`Family`], and only names of 3 to 10 letters are kept.
/// Some are bound to be real names too.
pub fn names() -> String {
    let mut rng = SplitMix64(SEED);
    let mut seen = HashSet::new();
    let mut text = String::new();
    while seen.len() < NAME_COUNT {
        let name = name(&mut rng);
        if (NAME_LENGTHS.0..=NAME_LENGTHS.1).contains(&name.len()) && seen.insert(name.clone()) {
            text.push_str(&name);
            text.push('\n');
        }
    }
    text
}

/// One name of any length.
fn name(rng: &mut SplitMix64) -> String {
    let family = &FAMILIES[rng.below(FAMILIES.len())];
    let mut name = String::from(rng.pick(family.onsets));
    name.push_str(rng.pick(family.nuclei));
    if rng.below(5) < 2 {
        name.push_str(rng.pick(family.links));
        name.push_str(rng.pick(family.nuclei));
    }
    if rng.below(4) > 0 {
        name.push_str(rng.pick(family.links));
        name.push_str(rng.pick(family.open));
    } else {
        name.push_str(rng.pick(family.closed));
    }
    name
}

/// Bytes at which [`brackets`] stops adding lines.
const BRACKETS_BYTES: usize = 40_000;
/// Most characters in a line, so that a context of 64 holds at least two.
const LINE_LENGTH: usize = 29;
/// The three kinds of brackets.
const KINDS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
/// How deep brackets nest.
const DEPTH: usize = 4;
/// What stands inside brackets.
const PAYLOAD: [char; 4] = ['a', 'b', 'c', 'd'];
/// What is counted, up to 9 of a kind.
const COUNTED: [char; 3] = ['x', 'y', 'z'];
/// What is copied. These letters occur in no other kind of line, so that each line shows at once
/// what it is. With 8 letters a model of 2 layers and width 64 copies well after some 700 steps of
/// 16 sequences; with 12 it takes twice as many.
const COPIED: [char; 8] = ['k', 'l', 'm', 'n', 'o', 'p', 'q', 'r'];
/// Letters in the shortest and in the longest half of a copy line.
const COPY_LENGTHS: (usize, usize) = (4, 8);

/// About 40 KB of short lines in a made-up language. Each rule requires attention to one earlier
/// place. The three kinds are drawn in the ratio 3 : 2 : 4:
///
/// | kind  | example      | rule                                                                  |
/// |-------|--------------|-----------------------------------------------------------------------|
/// | nest  | `(a[bb]c)`   | a bracket closes the innermost one still open, and with its own kind  |
/// | count | `xxxx:4`     | the number says how often the letter came                             |
/// |       | `3=yyy`      | the letter comes as often as the number says                          |
/// | copy  | `kqmr\|kqmr` | the second half is the first again, and there ends the line           |
///
/// ```text
/// text  = { ( nest | count | copy ) newline }         every line shorter than 30 characters
/// nest  = group [ group ]                             of three kinds, ( ), [ ] and { }
/// group = open item { item } close                    1 to 3 items
/// item  = letter [ letter ] | group                   a to d; groups at most 4 deep
/// count = letters ":" digit | digit "=" letters       1 to 9 times the same one of x, y and z
/// copy  = half "|" half                               4 to 8 different letters from k to r
/// ```
///
/// Since no letter occurs twice in a half, what follows a letter in the second half is always what
/// followed it in the first: the induction pattern, a diagonal in the attention map. There is no
/// rule across lines.
pub fn brackets() -> String {
    let mut rng = SplitMix64(SEED);
    let mut text = String::new();
    while text.len() < BRACKETS_BYTES {
        let line = match rng.below(9) {
            0..3 => nest(&mut rng),
            3..5 => count(&mut rng),
            _ => copy(&mut rng),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// One or two groups of brackets, as in `(a[bb]c)`.
fn nest(rng: &mut SplitMix64) -> String {
    loop {
        let mut line = String::new();
        for _ in 0..1 + rng.below(2) {
            group(rng, 1, &mut line);
        }
        if line.len() <= LINE_LENGTH {
            return line;
        }
    }
}

/// Adds a pair of brackets and its contents; `depth` counts the pairs around it, itself included.
fn group(rng: &mut SplitMix64, depth: usize, line: &mut String) {
    let (open, close) = rng.pick(&KINDS);
    line.push(open);
    for _ in 0..1 + rng.below(3) {
        if depth < DEPTH && rng.below(2) == 0 {
            group(rng, depth + 1, line);
        } else {
            for _ in 0..1 + rng.below(2) {
                line.push(rng.pick(&PAYLOAD));
            }
        }
    }
    line.push(close);
}

/// A run of one letter with its length behind it or in front of it, as in `xxxx:4` and `3=yyy`.
fn count(rng: &mut SplitMix64) -> String {
    let number = 1 + rng.below(9);
    let run = String::from(rng.pick(&COUNTED)).repeat(number);
    if rng.below(2) == 0 { format!("{run}:{number}") } else { format!("{number}={run}") }
}

/// Different letters, then the same again, as in `kqmr|kqmr`.
fn copy(rng: &mut SplitMix64) -> String {
    let length = COPY_LENGTHS.0 + rng.below(COPY_LENGTHS.1 - COPY_LENGTHS.0 + 1);
    // The start of a Fisher-Yates shuffle: each letter is drawn from those still left.
    let mut letters = COPIED;
    for i in 0..length {
        letters.swap(i, i + rng.below(COPIED.len() - i));
    }
    let half: String = letters[..length].iter().collect();
    format!("{half}|{half}")
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;
    use std::path::Path;

    /// The kind of a line or, if it breaks that kind's rule, how.
    fn check(line: &str) -> Result<&'static str, String> {
        let broken = |why: &str| Err(format!("{line}: {why}"));
        if line.len() >= 30 {
            return broken("too long");
        }
        if let Some((first, second)) = line.split_once('|') {
            let distinct: HashSet<char> = first.chars().collect();
            return match first {
                _ if first != second => broken("the halves differ"),
                _ if distinct.len() != first.len() => broken("a letter comes twice"),
                _ if !(4..=8).contains(&first.len()) => broken("wrong length"),
                _ if !distinct.iter().all(|c| ('k'..='r').contains(c)) => broken("wrong letter"),
                _ => Ok("copy"),
            };
        }
        let counted = line.split_once(':').or(line.split_once('=').map(|(n, run)| (run, n)));
        if let Some((run, number)) = counted {
            let same = ["x", "y", "z"].iter().any(|letter| run == letter.repeat(run.len()));
            return match number.parse() {
                Ok(1..=9) if !same => broken("not one letter"),
                Ok(n @ 1..=9) if n == run.len() => Ok("count"),
                _ => broken("wrong number"),
            };
        }
        let mut open = Vec::new();
        for (i, c) in line.char_indices() {
            match c {
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                'a'..='d' if !open.is_empty() => {}
                _ if open.pop() == Some(c) => {}
                _ => return broken(&format!("wrong character at {i}")),
            }
            if open.len() > 4 {
                return broken("too deep");
            }
        }
        if open.is_empty() { Ok("nest") } else { broken("left open") }
    }

    /// The reference outputs for the seed 1234567 that many implementations publish.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut rng = SplitMix64(1234567);
        let outputs: [u64; 3] = std::array::from_fn(|_| rng.next());
        assert_eq!(outputs, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn draws_stay_in_their_range_and_reach_all_of_it() {
        let mut rng = SplitMix64(1);
        let drawn: HashSet<usize> = (0..200).map(|_| rng.below(7)).collect();
        assert_eq!(drawn, (0..7).collect());
    }

    #[test]
    fn texts_are_the_same_every_time() {
        for (file, text) in FILES {
            assert_eq!(text(), text(), "{file}");
        }
    }

    #[test]
    fn texts_are_the_committed_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/corpora");
        for (file, text) in FILES {
            let committed = fs::read_to_string(folder.join(file)).expect(file);
            assert!(committed == text(), "{file} is not what its generator writes");
        }
    }

    #[test]
    fn names_are_unique_short_and_lower_case() {
        let text = names();
        let distinct: HashSet<&str> = text.lines().collect();
        assert_eq!((text.lines().count(), distinct.len()), (2000, 2000));
        assert!(text.ends_with('\n'));
        for name in text.lines() {
            assert!((3..=10).contains(&name.len()), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase()), "{name}");
        }
        for length in 3..=10 {
            assert!(text.lines().any(|name| name.len() == length), "no name of {length} letters");
        }
    }

    #[test]
    fn every_line_keeps_the_rule_of_its_kind() {
        let text = brackets();
        assert!((40_000..40_030).contains(&text.len()) && text.ends_with('\n'));
        let kinds: Vec<&str> = text.lines().map(|line| check(line).unwrap()).collect();
        let share = |kind| kinds.iter().filter(|&&k| k == kind).count() as f64 / kinds.len() as f64;
        for (kind, expected) in [("nest", 3.0 / 9.0), ("count", 2.0 / 9.0), ("copy", 4.0 / 9.0)] {
            assert!((share(kind) - expected).abs() < 0.03, "{kind}: {}", share(kind));
        }
    }

    #[test]
    fn brackets_reach_their_full_depth_and_all_counts() {
        let text = brackets();
        let deep = text.lines().filter(|line| {
            line.chars()
                .scan(0, |depth, c| {
                    *depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
                    Some(*depth)
                })
                .any(|depth| depth == 4)
        });
        assert!(deep.count() > 100);
        for n in 1..=9 {
            assert!(text.contains(&format!(":{n}\n")) && text.contains(&format!("\n{n}=")), "{n}");
        }
    }

    #[test]
    fn the_check_finds_broken_lines() {
        for line in ["(a[bb]c)", "xxxx:4", "3=yyy", "kqmr|kqmr", "{(a)}[b]"] {
            assert!(check(line).is_ok(), "{line}");
        }
        let nests = ["(a]", "(a", "a)", "a", "([{([a])}])", "(e)"];
        let counts = ["xx:3", "3=xyx", "0=", "a:1"];
        let copies = ["kqmr|kqm", "kqmr|kqrm", "kkmr|kkmr", "abcd|abcd", "klm|klm"];
        let long = ["(aaaaaaaaaaaaaaaaaaaaaaaaaaaa)"];
        for line in [&nests[..], &counts, &copies, &long].concat() {
            assert!(check(line).is_err(), "{line}");
        }
    }
}
