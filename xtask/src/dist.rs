//! `cargo xtask dist`: builds the static site for publishing and reports its compressed size.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{Options, Result, build, npm, paths, setup, shell, split, stamp};

/// Most bytes that a browser may have to fetch before the page works on the CPU, compressed.
const BUDGET_PAGE: u64 = 743_000;
/// How many of those may be the app's own wasm.
const BUDGET_APP: u64 = 276_000;
/// Largest compressed size of each engine: the GPT lab's on the CPU (which counts toward the page's
/// budget), the chapters', the one for models that are opened, and the one for GPUs.
const BUDGETS_ENGINE: [(&str, u64); 4] = [
    ("engine_cpu_bg.wasm", 401_000),
    ("engine_course_bg.wasm", 746_000),
    ("engine_given_bg.wasm", 471_000),
    ("engine_webgpu_bg.wasm", 2_500_000),
];
/// Largest size of a part that is fetched later, such as a chapter, and of what many chapters share.
const BUDGET_PART: u64 = 170_000;
const BUDGET_SHARED: u64 = 231_000;

pub fn run(arguments: &[String]) -> Result {
    let options = Options::parse(arguments, &["--no-webgpu"], &[], false)?;
    npm::node()?;
    setup::page()?;
    let folder = paths::target().join("dist");
    let _claim = build::site(&folder, !options.has("--no-webgpu"))?;
    let sizes = measure(&folder)?;
    print_table(&sizes);
    check(&sizes)?;
    println!("\nThe site is in {}: any static host can serve it.", folder.display());
    Ok(())
}

/// A file of the site.
#[derive(Debug)]
pub struct Size {
    /// Relative to the site, with `/` as the separator.
    pub name: String,
    pub raw: u64,
    pub brotli: u64,
}

impl Size {
    /// Whether a page that computes on the CPU fetches it before it works.
    fn first(&self) -> bool {
        // The page starts with the tales; the other texts are fetched on request.
        let is_text = self.name.starts_with("corpora/") && self.name != "corpora/tales.txt";
        // A style sheet of a chapter, or of another part, comes with it.
        let later = [
            "engine_webgpu",
            "engine_course",
            "engine_given",
            "native.js",
            "chapter-",
            "later-",
            split::PART,
        ];
        !is_text
            && !later.iter().any(|later| self.name.starts_with(later))
            && !self.is_part()
            && !self.is_shared()
    }

    /// Whether it is fetched when a part of the page is first shown, for that part.
    fn is_part(&self) -> bool {
        [split::PART, split::SHARED].iter().any(|prefix| self.name.starts_with(prefix))
            && self.suffix() == "wasm"
            && !self.is_shared()
    }

    /// Whether it is fetched with the first chapter, and holds what many of them need.
    fn is_shared(&self) -> bool {
        let rest = self.name.strip_prefix(split::SHARED);
        rest.is_some_and(|rest| !rest.contains('-')) && self.suffix() == "wasm"
    }

    fn suffix(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    fn is_app_wasm(&self) -> bool {
        self.name.starts_with("unroll-app") && self.suffix() == "wasm"
    }
}

/// Total size of what is fetched until the page works on the CPU.
pub fn first_load(sizes: &[Size]) -> u64 {
    sizes.iter().filter(|size| size.first()).map(|size| size.brotli).sum()
}

/// The app's own wasm, compressed.
pub fn app_wasm(sizes: &[Size]) -> u64 {
    sizes.iter().filter(|size| size.is_app_wasm()).map(|size| size.brotli).sum()
}

/// Every file of the site, with its size as served with brotli compression.
pub fn measure(folder: &Path) -> Result<Vec<Size>> {
    let mut files = Vec::new();
    stamp::list(folder, &mut files)?;
    files.sort();
    // Compressing the WebGPU engine at brotli's best quality takes a minute, so results are cached
    // by content.
    let cache = paths::target().join("brotli-sizes");
    let mut known: HashMap<String, u64> = fs::read_to_string(&cache)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            let (key, size) = line.split_once(' ')?;
            Some((key.to_owned(), size.parse().ok()?))
        })
        .collect();
    let mut keys = Vec::new();
    for file in &files {
        let bytes = fs::read(file)
            .map_err(|error| format!("{} can't be read: {error}.", file.display()))?;
        let mut hash = stamp::Hash::new();
        hash.bytes(&bytes);
        keys.push((format!("{}-{}", hash.text(), bytes.len()), bytes.len() as u64));
    }
    let unknown: Vec<usize> =
        (0..files.len()).filter(|&i| !known.contains_key(&keys[i].0)).collect();
    if !unknown.is_empty() {
        shell::step("compressing, to know the sizes", || {
            let mut command = shell::command("node");
            command.arg(paths::tests().join("brotli.mjs"));
            command.args(unknown.iter().map(|&i| &files[i]));
            let mut answers = unknown.iter();
            shell::run_lines(&mut command, |line| {
                if let (Some(&i), Ok(size)) = (answers.next(), line.parse()) {
                    known.insert(keys[i].0.clone(), size);
                }
            })
        })?;
        let text: String = known.iter().map(|(key, size)| format!("{key} {size}\n")).collect();
        // Without the cache the next run is only slower.
        let _ = fs::write(&cache, text);
    }
    let size = |(file, (key, raw)): (&PathBuf, &(String, u64))| {
        let name = file.strip_prefix(folder).unwrap_or(file).display().to_string();
        let brotli = *known.get(key).ok_or_else(|| format!("{name} could not be compressed."))?;
        Ok(Size { name: name.replace('\\', "/"), raw: *raw, brotli })
    };
    files.iter().zip(&keys).map(size).collect()
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1} KB", bytes as f64 / 1000.0)
}

fn print_table(sizes: &[Size]) {
    let width = sizes.iter().map(|size| size.name.len()).max().unwrap_or(0).max(44);
    println!("\n{:width$} {:>12} {:>12}", "file (1 KB = 1000 bytes)", "raw", "brotli");
    for size in sizes {
        let mark = if size.is_part() {
            format!("  on demand (at most {})", kilobytes(BUDGET_PART))
        } else if size.is_shared() {
            format!("  with the first of them (at most {})", kilobytes(BUDGET_SHARED))
        } else if let Some((_, budget)) = BUDGETS_ENGINE.iter().find(|(name, _)| size.name == *name)
        {
            let when = if size.first() { "" } else { "on demand " };
            format!("  {when}(at most {})", kilobytes(*budget))
        } else if size.first() {
            String::new()
        } else {
            "  on demand".to_owned()
        };
        println!(
            "{:width$} {:>12} {:>12}{mark}",
            size.name,
            kilobytes(size.raw),
            kilobytes(size.brotli)
        );
    }
    let raw = sizes.iter().filter(|size| size.first()).map(|size| size.raw).sum();
    println!(
        "{:width$} {:>12} {:>12}  (at most {})",
        "until the page works on the CPU",
        kilobytes(raw),
        kilobytes(first_load(sizes)),
        kilobytes(BUDGET_PAGE)
    );
    println!(
        "{:width$} {:>12} {:>12}  (at most {})",
        "of it the app's wasm",
        "",
        kilobytes(app_wasm(sizes)),
        kilobytes(BUDGET_APP)
    );
}

/// Checks that the site is within its budgets.
pub fn check(sizes: &[Size]) -> Result {
    let required =
        ["index.html", "worker.js", "engine_cpu.js", "engine_cpu_bg.wasm", "engine_course_bg.wasm"];
    for required in required {
        if !sizes.iter().any(|size| size.name == required) {
            return Err(format!("The site lacks {required}: see the links in index.html."));
        }
    }
    let over = |what: &str, size, budget| {
        let (size_text, budget_text) = (kilobytes(size), kilobytes(budget));
        format!("{what} weighs {size_text} with brotli; {budget_text} is the most it may be.")
    };
    if app_wasm(sizes) == 0 {
        return Err("The site has no wasm of the app: see the links in index.html.".to_owned());
    }
    if app_wasm(sizes) > BUDGET_APP {
        return Err(over("The app's wasm", app_wasm(sizes), BUDGET_APP));
    }
    if first_load(sizes) > BUDGET_PAGE {
        return Err(over("What the page needs on the CPU", first_load(sizes), BUDGET_PAGE));
    }
    for size in sizes {
        let engine = BUDGETS_ENGINE.iter().find(|(name, _)| size.name == *name);
        if let Some((_, budget)) = engine.filter(|(_, budget)| size.brotli > *budget) {
            return Err(over(&size.name, size.brotli, *budget));
        }
        if size.is_part() && size.brotli > BUDGET_PART {
            return Err(over(&size.name, size.brotli, BUDGET_PART));
        }
        if size.is_shared() && size.brotli > BUDGET_SHARED {
            return Err(over("What chapters share", size.brotli, BUDGET_SHARED));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(app: u64, engine: u64) -> Vec<Size> {
        [
            ("index.html", 1_000),
            ("worker.js", 1_000),
            ("engine_cpu.js", 10_000),
            ("engine_cpu_bg.wasm", engine),
            ("engine_course_bg.wasm", 690_000),
            ("engine_webgpu_bg.wasm", 2_400_000),
            ("unroll-app-0123_bg.wasm", app),
        ]
        .map(|(name, brotli)| Size { name: name.to_owned(), raw: 2 * brotli, brotli })
        .into()
    }

    #[test]
    fn budgets_count_what_the_first_load_fetches() {
        assert_eq!(first_load(&site(240_000, 390_000)), 642_000);
        assert_eq!(check(&site(240_000, 390_000)), Ok(()));
        assert!(check(&site(BUDGET_APP + 1, 390_000)).unwrap_err().contains("The app's wasm"));
        assert!(
            check(&site(240_000, BUDGETS_ENGINE[0].1 + 1))
                .unwrap_err()
                .contains("engine_cpu_bg.wasm")
        );
        let mut sizes = site(240_000, 399_000);
        sizes.push(Size { name: "corpora/names.txt".to_owned(), raw: 2, brotli: 50_000 });
        assert_eq!(check(&sizes), Ok(()));
        sizes.push(Size { name: "chapter-rnn-0123.css".to_owned(), raw: 2, brotli: 50_000 });
        assert_eq!(check(&sizes), Ok(()));
        let too_much = BUDGET_PAGE - first_load(&sizes) + 1;
        sizes.push(Size { name: "corpora/tales.txt".to_owned(), raw: 2, brotli: too_much });
        assert!(check(&sizes).unwrap_err().contains("on the CPU"));
    }

    #[test]
    fn parts_are_no_part_of_the_first_load_but_have_budgets_of_their_own() {
        for (name, most) in [
            ("part-rnn-0123.wasm", BUDGET_PART),
            ("parts-rnn-0123.wasm", BUDGET_PART),
            ("parts-0123.wasm", BUDGET_SHARED),
        ] {
            let with = |brotli| {
                let mut sizes = site(240_000, 390_000);
                sizes.push(Size { name: name.to_owned(), raw: 2 * brotli, brotli });
                sizes
            };
            assert_eq!(first_load(&with(most)), first_load(&site(240_000, 390_000)), "{name}");
            assert_eq!(check(&with(most)), Ok(()), "{name}");
            assert!(check(&with(most + 1)).unwrap_err().contains("the most"), "{name}");
        }
        // The script that the app imports is counted with its own; the one behind that is not.
        let mut sizes = site(240_000, 390_000);
        sizes.push(Size { name: "part-pieces-0123.js".to_owned(), raw: 2, brotli: 9 });
        sizes.push(Size { name: "parts-0123.js".to_owned(), raw: 2, brotli: 1 });
        assert_eq!(first_load(&sizes), 642_001);
    }

    #[test]
    fn an_incomplete_site_is_no_small_site() {
        let mut sizes = site(240_000, 390_000);
        sizes.retain(|size| size.name != "worker.js");
        assert!(check(&sizes).unwrap_err().contains("worker.js"));
    }
}
