//! `cargo xtask <verb>`: every step needed to run, test and publish Unroll.
//!
//! It has only a few small dependencies, so that the first command starts within a minute of a
//! fresh clone. Each verb has its own file; what they share is in [`shell`] (running commands),
//! [`paths`] (where files are), [`setup`] (what must be installed) and [`build`] (the page and its
//! engines).

mod assets;
mod bench;
mod build;
mod corpora;
mod dist;
#[cfg(test)]
mod docs;
mod doctor;
mod lean;
mod native;
mod npm;
mod paths;
#[cfg(test)]
mod recipe;
mod screenshots;
mod serve;
mod setup;
mod shell;
mod split;
mod stamp;
mod styles;
mod test;
mod tools;
mod vectors;
mod vulkan;
mod wasm;

use std::process::ExitCode;

/// What can go wrong, as a sentence for the person at the terminal: what failed, and what to do.
type Result<T = ()> = std::result::Result<T, String>;

/// One thing `cargo xtask` does.
struct Verb {
    name: &'static str,
    options: &'static str,
    /// What it is for. A verb with an empty help is run by other programs, and is not listed.
    help: &'static str,
    run: fn(&[String]) -> Result,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "serve",
        options: "[--port N] [--no-open] [--no-webgpu]",
        help: "build the page, open it, rebuild on changes",
        run: serve::run,
    },
    Verb {
        name: "test",
        options: "[--no-webgpu] [FILTER] | vulkan",
        help: "every check; with FILTER only the tests it names; vulkan: the engine's code for GPUs",
        run: test::run,
    },
    Verb {
        name: "bench",
        options: "[--quick] [--only PATTERN] [--python PATH] [--rounds N] [--runs N]",
        help: "measure training, beside other libraries, and loading",
        run: bench::run,
    },
    Verb {
        name: "screenshots",
        options: "[--readme] [CHAPTER]",
        help: "pictures of every view, in light and dark, large and small; or those of README",
        run: screenshots::run,
    },
    Verb {
        name: "dist",
        options: "[--no-webgpu]",
        help: "the static site to publish, with its sizes",
        run: dist::run,
    },
    Verb {
        name: "engine",
        options: "[--device auto|vulkan|metal|cpu] [--adapter GPU] [--threads N] [--port N] [--listen ADDRESS] [--keep FOLDER]",
        help: "train on this computer outside the browser, watched in the page",
        run: native::run,
    },
    Verb {
        name: "webgpu",
        options: "",
        help: "build the WebGPU engine alone",
        run: build::webgpu_verb,
    },
    Verb {
        name: "corpora",
        options: "",
        help: "rewrite the generated texts in assets/corpora",
        run: assets::run,
    },
    Verb {
        name: "doctor",
        options: "",
        help: "what is installed, what is missing",
        run: doctor::run,
    },
    // Trunk runs this after each build, see Trunk.toml.
    Verb { name: "stamp", options: "[DIR]", help: "", run: stamp::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print_help();
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h")
        || rest.iter().any(|a| a == "--help" || a == "-h")
    {
        print_help();
        return ExitCode::SUCCESS;
    }
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprintln!("There is no `cargo xtask {name}`. `cargo xtask` alone lists what there is.");
        return ExitCode::from(2);
    };
    match (verb.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("\ncargo xtask {name}: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn print_help() {
    println!("Unroll's own commands. Each does the set-up it needs first.\n");
    for verb in VERBS.iter().filter(|verb| !verb.help.is_empty()) {
        println!("  cargo xtask {:<11} {}", verb.name, verb.help);
        if !verb.options.is_empty() {
            println!("{:26}{}", "", verb.options);
        }
    }
    println!(
        "\nEnvironment: CHROME (the browser for tests), CARGO_TARGET_DIR (where builds, tools and \
         sites go; `target` if unset), UNROLL_PYTHON (a Python with torch, for test and bench)."
    );
}

/// The options of a verb: flags, options with a value, and at most one positional argument.
#[derive(Debug, Default, PartialEq)]
struct Options {
    flags: Vec<String>,
    values: Vec<(String, String)>,
    word: Option<String>,
}

impl Options {
    /// Parses `arguments`. `flags` have no value; `valued` take the next argument or `=value`.
    fn parse(arguments: &[String], flags: &[&str], valued: &[&str], word: bool) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, given) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            if flags.contains(&name) && given.is_none() {
                options.flags.push(name.to_owned());
            } else if valued.contains(&name) {
                let value = given
                    .or_else(|| rest.next().cloned())
                    .ok_or_else(|| format!("{name} needs a value, as in `{name} 8080`."))?;
                options.values.push((name.to_owned(), value));
            } else if word && !argument.starts_with('-') && options.word.is_none() {
                options.word = Some(argument.clone());
            } else {
                return Err(format!(
                    "`{argument}` is not understood. `cargo xtask` alone lists the options."
                ));
            }
        }
        Ok(options)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    /// The last value given for `name`.
    fn text(&self, name: &str) -> Option<&str> {
        self.values.iter().rev().find(|(n, _)| n == name).map(|(_, text)| &**text)
    }

    /// The last value given for `name`, parsed as a number or another type.
    fn number<N: std::str::FromStr>(&self, name: &str, default: N) -> Result<N> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("{name} needs a number, not `{text}`.")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read_in_both_spellings() {
        for text in ["--no-open --port 9000 word", "word --port=9000 --no-open"] {
            let options =
                Options::parse(&words(text), &["--no-open"], &["--port"], true).expect(text);
            assert!(options.has("--no-open") && !options.has("--port"));
            assert_eq!(options.number("--port", 8080_u16), Ok(9000));
            assert_eq!(options.word.as_deref(), Some("word"));
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in ["--nope", "--port", "word other", "--no-open=1"] {
            let error =
                Options::parse(&words(text), &["--no-open"], &["--port"], true).unwrap_err();
            assert!(error.contains(text.split_whitespace().last().unwrap()), "{error}");
        }
        let options = Options::parse(&words("--port x"), &[], &["--port"], false).unwrap();
        assert!(options.number("--port", 1_u16).is_err());
    }
}
