//! The built page, as files.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a file is to browsers, by how its name ends.
const TYPES: [(&str, &str); 8] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("txt", "text/plain; charset=utf-8"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("woff2", "font/woff2"),
];

/// A file of the site.
pub struct File {
    pub kind: &'static str,
    pub bytes: Vec<u8>,
}

/// The file at `path`, an address on this server without its query; `None` if the site has none there.
pub fn file(site: &Path, path: &str) -> Option<File> {
    let path = place(site, path)?;
    let ending = path.extension()?.to_str()?;
    let kind = TYPES.iter().find(|(known, _)| *known == ending);
    let kind = kind.map_or("application/octet-stream", |(_, kind)| kind);
    Some(File { kind, bytes: fs::read(path).ok()? })
}

/// Whether the name of the file at `path` holds a hash of what is in it.
pub fn has_hash(path: &str) -> bool {
    // Behind the last hyphen, up to the ending or to `_bg`; of 16 digits, but for leading zeros.
    let hash = path.rsplit('-').next().and_then(|end| end.split(['.', '_']).next());
    hash.is_some_and(|hash| hash.len() > 11 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The names of all files, as addresses have them.
pub fn list(site: &Path) -> Vec<String> {
    let (mut folders, mut names) = (vec![String::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        // What can't be read is not listed.
        for entry in fs::read_dir(site.join(&folder)).into_iter().flatten().flatten() {
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => folders.push(name + "/"),
                false => names.push(name),
            }
        }
    }
    names.sort();
    names
}

/// Where in the site that is. Nothing outside it can be named: no name of ours needs more than these
/// characters, and none begins with a dot.
fn place(site: &Path, path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix('/')?;
    let path = if path.is_empty() { "index.html" } else { path };
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name =
        |name: &str| !name.is_empty() && !name.starts_with('.') && name.bytes().all(usual);
    path.split('/').all(is_name).then(|| site.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_hash_are_told_from_others() {
        for path in ["/controls-a82e9b2003dc27a.css", "/unroll-app-c45ce2466fd56913_bg.wasm"] {
            assert!(has_hash(path), "{path}");
        }
        for path in
            ["/", "/index.html", "/engine_cpu_bg.wasm", "/part-face.js", "/corpora/tales.txt"]
        {
            assert!(!has_hash(path), "{path}");
        }
    }

    #[test]
    fn all_files_are_listed() {
        let site = Path::new(env!("CARGO_MANIFEST_DIR"));
        let names = list(site);
        assert!(
            names.iter().any(|name| name == "src/site.rs")
                && names.iter().any(|name| name == "Cargo.toml")
        );
    }

    #[test]
    fn nothing_outside_the_site_can_be_named() {
        let site = Path::new("/site");
        let at = |path| place(site, path);
        assert_eq!(at("/"), Some("/site/index.html".into()));
        assert_eq!(at("/corpora/tales.txt"), Some("/site/corpora/tales.txt".into()));
        let outside = [
            "",
            "x",
            "//etc/passwd",
            "/../x",
            "/a/../../x",
            "/%2e%2e/x",
            "/a\\b",
            "/c:x",
            "/.git/x",
            "/a//b",
            "/a/",
        ];
        for path in outside {
            assert_eq!(at(path), None, "{path}");
        }
    }
}
