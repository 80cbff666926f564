//! The tokenizer of a model from elsewhere: `tokenizer.json`, as Hugging Face's tokenizers writes it, or
//! GPT-2's own `vocab.json` and `merges.txt`.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use unroll_protocol::TokenizerFile;

use super::{Tokenizer, given::GivenTokens};

/// Why files are no tokenizer that can be used. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTokenizer(pub(crate) String);

impl fmt::Display for NoTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoTokenizer {}

impl Tokenizer {
    /// The tokenizer in these files, of a model that knows `count` tokens.
    ///
    /// # Errors
    ///
    /// Where they hold none, or one of another kind than GPT-2's, or one of another model.
    pub fn from_files(files: &[TokenizerFile], count: usize) -> Result<Self, NoTokenizer> {
        let tokens = tokens(files, count)?;
        Self::given(&tokens).map_err(|error| NoTokenizer(error.to_string()))
    }
}

fn tokens(files: &[TokenizerFile], count: usize) -> Result<GivenTokens, NoTokenizer> {
    let (mut vocabulary, mut merges) = (None, None);
    for TokenizerFile { name, text } in files {
        if name.ends_with("merges.txt") {
            merges = Some((name, text));
            continue;
        }
        let is_one = name.ends_with("tokenizer.json") || name.ends_with("vocab.json");
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) if is_one => return Err(damaged(name)),
            Err(_) => continue,
        };
        if value.get("model").is_some() {
            return of_tokenizer(name, &value, count);
        }
        // Other files lie beside a model too, such as a tokenizer_config.json.
        match value {
            Value::Object(ids) if ids.values().all(Value::is_u64) => vocabulary = Some(ids),
            _ => {}
        }
    }
    let lacking = |name: &str| {
        NoTokenizer(format!(
            "Its {name} is missing. Choose the model again together with its tokenizer.json, or with \
             its vocab.json and merges.txt."
        ))
    };
    let ids = vocabulary.ok_or_else(|| lacking("vocab.json"))?;
    let (name, merges) = merges.ok_or_else(|| lacking("merges.txt"))?;
    // The first line may say which version it is.
    let lines = merges.lines().filter(|line| !line.starts_with("#version") && !line.is_empty());
    let pairs = lines.map(|line| line.split_once(' ').ok_or_else(|| damaged(name)));
    collect(&ids, pairs, None, count).and_then(|found| match found {
        // What no merge makes stands for its own text. These are few, unless merges are missing.
        found if found.special.len() > MOST_SPECIAL => Err(damaged(name)),
        found => Ok(found),
    })
}

fn damaged(file: &str) -> NoTokenizer {
    NoTokenizer(format!("Its {file} is damaged, or it does not belong to a tokenizer."))
}

fn of_tokenizer(name: &str, file: &Value, count: usize) -> Result<GivenTokens, NoTokenizer> {
    let part = |path: &str| file.pointer(path).filter(|value| !value.is_null());
    // What would cut texts otherwise than GPT-2 does, by where the file says so.
    let usual: [(&str, &[Value]); 9] = [
        ("/model/type", &["BPE".into()]),
        ("/pre_tokenizer/type", &["ByteLevel".into()]),
        ("/pre_tokenizer/add_prefix_space", &[false.into()]),
        ("/pre_tokenizer/use_regex", &[true.into()]),
        ("/normalizer", &[]),
        ("/model/continuing_subword_prefix", &["".into()]),
        ("/model/end_of_word_suffix", &["".into()]),
        ("/model/byte_fallback", &[false.into()]),
        ("/model/ignore_merges", &[false.into()]),
    ];
    for (path, allowed) in usual {
        if let Some(found) = part(path).filter(|found| !allowed.contains(*found)) {
            let found = found.get("type").unwrap_or(found);
            return Err(NoTokenizer(format!(
                "Unroll reads tokenizers of GPT-2’s kind. This one has {found} as its {}.",
                path.trim_start_matches('/').replace('/', "’s ")
            )));
        }
    }
    if part("/pre_tokenizer").is_none() {
        return Err(NoTokenizer(
            "Unroll reads tokenizers of GPT-2’s kind. This one does not work on bytes.".to_owned(),
        ));
    }
    let damaged = || damaged(name);
    let ids = part("/model/vocab").and_then(Value::as_object).ok_or_else(damaged)?;
    let merges = part("/model/merges").and_then(Value::as_array).ok_or_else(damaged)?;
    let pairs = merges.iter().map(|merge| {
        let pair = match merge {
            Value::String(pair) => pair.split_once(' '),
            pair => pair.get(0).and_then(Value::as_str).zip(pair.get(1).and_then(Value::as_str)),
        };
        pair.ok_or_else(damaged)
    });
    let mut added = Vec::new();
    for token in part("/added_tokens").and_then(Value::as_array).into_iter().flatten() {
        // What would take the spaces around a token with it, or find it between other words only.
        let others = ["lstrip", "rstrip", "single_word"];
        if let Some(other) = others.iter().find(|name| token.get(name) == Some(&true.into())) {
            let content = token.get("content").and_then(Value::as_str).unwrap_or_default();
            return Err(NoTokenizer(format!(
                "Its token “{content}” has the property {other}, which Unroll can’t follow."
            )));
        }
        let id = token.get("id").and_then(Value::as_u64);
        let content = token.get("content").and_then(Value::as_str);
        added.push((content.ok_or_else(damaged)?, id.ok_or_else(damaged)?));
    }
    collect(ids, pairs, Some(added), count)
}

/// The byte that each character of a vocabulary stands for: printable ones for themselves, and the
/// others are numbered from 256 on (Radford et al. 2019, in the code).
fn alphabet() -> BTreeMap<char, u8> {
    let is_printed = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = '\u{100}'..;
    let mut stands = |byte: u8| match is_printed(byte) {
        true => Some(char::from(byte)),
        false => others.next(),
    };
    (0..=u8::MAX).filter_map(|byte| Some((stands(byte)?, byte))).collect()
}

/// Most tokens that stand for their own text, where a file does not say which do.
const MOST_SPECIAL: usize = 100;

/// The tokens of these ids, merges, and tokens that stand for their own text, if the file says which do.
fn collect<'a>(
    ids: &'a Map<String, Value>,
    pairs: impl Iterator<Item = Result<(&'a str, &'a str), NoTokenizer>>,
    added: Option<Vec<(&str, u64)>>,
    count: usize,
) -> Result<GivenTokens, NoTokenizer> {
    let alphabet = alphabet();
    let id_of = |token: &str| {
        let id = ids.get(token).and_then(Value::as_u64).and_then(|id| usize::try_from(id).ok());
        id.filter(|id| *id < count)
    };
    let foreign = || {
        NoTokenizer(format!(
            "This tokenizer belongs to another model: it has tokens that a model of {count} tokens does \
             not know."
        ))
    };
    let mut pieces = vec![Vec::new(); count];
    let names: BTreeSet<&str> = added.iter().flatten().map(|(text, _)| *text).collect();
    for text in ids.keys().filter(|text| !names.contains(text.as_str())) {
        let bytes: Option<Vec<u8>> = text.chars().map(|c| alphabet.get(&c).copied()).collect();
        pieces[id_of(text).ok_or_else(foreign)?] = bytes.ok_or_else(|| {
            NoTokenizer(format!("Its token “{text}” does not stand for bytes, as GPT-2’s do."))
        })?;
    }
    let mut merges = Vec::new();
    let mut merged = BTreeSet::new();
    for pair in pairs {
        let (left, right) = pair?;
        let whole = id_of(&format!("{left}{right}"));
        let (Some(whole), Some(left), Some(right)) = (whole, id_of(left), id_of(right)) else {
            return Err(foreign());
        };
        merged.insert(whole);
        merges.push([left as u32, right as u32]);
    }
    let mut special = Vec::new();
    if added.is_none() {
        let is_whole = |(id, piece): &(usize, &Vec<u8>)| piece.len() > 1 && !merged.contains(id);
        special.extend(pieces.iter().enumerate().filter(is_whole).map(|(id, _)| id as u32));
    }
    for (text, id) in added.into_iter().flatten() {
        let id = usize::try_from(id).ok().filter(|id| *id < count).ok_or_else(foreign)?;
        pieces[id] = text.as_bytes().to_vec();
        special.push(id as u32);
    }
    Ok(GivenTokens { pieces, merges, special })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    const TOKENIZER: &str = include_str!("../../../tests/golden/gpt2/tokenizer.json");
    const VOCABULARY: &str = include_str!("../../../tests/golden/gpt2/vocab.json");
    const MERGES: &str = include_str!("../../../tests/golden/gpt2/merges.txt");

    // A larger one, and what Hugging Face's `tokenizers` makes of 10,000 lines with it: see
    // tests/golden/make_gpt2.py.
    const LARGE: &str = include_str!("../../../tests/golden/tokenizer/tokenizer.json");
    const LINES: &str = include_str!("../../../tests/golden/tokenizer/lines.json");

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn file(name: &str, text: impl ToString) -> TokenizerFile {
        TokenizerFile { name: name.to_owned(), text: text.to_string() }
    }

    fn of_size(tokenizer: Value, count: usize) -> Result<GivenTokens, NoTokenizer> {
        tokens(&[file("tokenizer.json", tokenizer)], count)
    }

    fn of(tokenizer: Value) -> Result<GivenTokens, NoTokenizer> {
        of_size(tokenizer, 300)
    }

    fn refused(change: impl Fn(&mut Value)) -> String {
        let mut file = json(TOKENIZER);
        change(&mut file);
        of(file).unwrap_err().to_string()
    }

    #[test]
    fn both_ways_to_write_it_are_the_same_tokenizer() {
        let whole = of(json(TOKENIZER)).unwrap();
        assert_eq!((whole.pieces.len(), whole.special.as_slice()), (300, [0].as_slice()));
        let parts = [
            file("tokenizer_config.json", json!({"model_max_length": 96, "add_bos_token": false})),
            file("special_tokens_map.json", "{\"bos_token\": "),
            file("gpt2-merges.txt", MERGES),
            file("gpt2-vocab.json", VOCABULARY),
        ];
        assert_eq!(tokens(&parts, 300).unwrap(), whole);
        // A whole one says more.
        let [config, _, merges, vocabulary] = parts;
        let all = [config, file("tokenizer.json", TOKENIZER), merges, vocabulary];
        assert_eq!(tokens(&all, 300).unwrap(), whole);
        // Newer files have pairs where older ones have a space.
        let mut older = json(TOKENIZER);
        for merge in older["model"]["merges"].as_array_mut().unwrap() {
            let pair = merge.as_array().unwrap();
            *merge = format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap()).into();
        }
        assert_eq!(of(older).unwrap(), whole);
        let tokenizer = Tokenizer::given(&whole).unwrap();
        let text = "Once, there wasn't a café 🙂.<|endoftext|>";
        let ids = tokenizer.encode(text);
        assert_eq!((tokenizer.written(&ids).as_str(), ids.last()), (text, Some(&0)));
    }

    #[test]
    fn other_kinds_are_refused_and_named() {
        let word_piece = refused(|file| file["model"]["type"] = "WordPiece".into());
        assert!(word_piece.contains("\"WordPiece\" as its model’s type"), "{word_piece}");
        let split = refused(|file| file["pre_tokenizer"] = json!({"type": "Sequence"}));
        assert!(split.contains("\"Sequence\" as its pre_tokenizer’s type"), "{split}");
        let lower = refused(|file| file["normalizer"] = json!({"type": "Lowercase"}));
        assert!(lower.contains("\"Lowercase\" as its normalizer"), "{lower}");
        assert!(refused(|file| file["pre_tokenizer"] = Value::Null).contains("on bytes"));
        assert!(refused(|file| file["model"]["merges"] = Value::Null).contains("damaged"));
        assert!(refused(|file| file["model"]["merges"][3] = json!(7)).contains("damaged"));
        assert!(refused(|file| file["model"]["merges"][3] = json!(["x", "y"])).contains("another"));
        assert!(refused(|file| file["model"]["vocab"]["h"] = 300.into()).contains("another"));
        assert!(refused(|file| file["model"]["vocab"]["世"] = 3.into()).contains("“世”"));
        assert!(refused(|file| file["added_tokens"][0]["id"] = 5000.into()).contains("another"));
        for property in ["lstrip", "rstrip", "single_word"] {
            let strips = refused(|file| file["added_tokens"][0][property] = true.into());
            assert!(strips.contains(property) && strips.contains("“<|endoftext|>”"), "{strips}");
        }
        let of_parts = |parts: &[TokenizerFile]| tokens(parts, 300).unwrap_err().to_string();
        let [vocabulary, merges] = [file("vocab.json", VOCABULARY), file("merges.txt", MERGES)];
        assert!(of_parts(&[]).contains("vocab.json is missing"));
        assert!(of_parts(core::slice::from_ref(&merges)).contains("vocab.json is missing"));
        assert!(of_parts(core::slice::from_ref(&vocabulary)).contains("merges.txt is missing"));
        assert!(of_parts(&[file("tokenizer.json", &TOKENIZER[..900])]).contains("damaged"));
        let no_pair = file("merges.txt", "nopair");
        assert!(of_parts(&[vocabulary, no_pair]).contains("merges.txt is damaged"));
        // Without their merges, two hundred tokens would stand for their own text.
        let large: Vec<String> = (0..200).map(|id| format!("word{id}")).collect();
        let mut ids = json(VOCABULARY);
        for (id, text) in large.into_iter().enumerate() {
            ids[text] = (300 + id).into();
        }
        let lacking = tokens(&[file("vocab.json", ids), merges], 500);
        assert!(lacking.unwrap_err().to_string().contains("merges.txt is damaged"));
    }

    #[derive(Deserialize)]
    struct Lines {
        fragments: Vec<String>,
        separators: Vec<String>,
        ranges: Vec<[u32; 2]>,
        lines: usize,
        group: usize,
        hashes: Vec<String>,
        first: Vec<Line>,
    }

    #[derive(Deserialize)]
    struct Line {
        line: String,
        ids: Vec<u32>,
    }

    impl Lines {
        /// The lines, as `make_gpt2.py` makes them.
        fn all(&self) -> Vec<String> {
            let mut state = 1u64;
            let mut below = |count: usize| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) as usize % count
            };
            let mut line = || {
                let mut line = String::new();
                for _ in 0..1 + below(16) {
                    if below(4) < 3 {
                        line += &self.fragments[below(self.fragments.len())];
                    } else {
                        let [first, last] = self.ranges[below(self.ranges.len())];
                        let count = 1 + below(6);
                        let one =
                            |_| char::from_u32(first + below((last - first + 1) as usize) as u32);
                        line.extend((0..count).map(one).map(Option::unwrap));
                    }
                    line += &self.separators[below(self.separators.len())];
                }
                line
            };
            (0..self.lines).map(|_| line()).collect()
        }
    }

    fn hashed(ids: &[u32], hash: u64) -> u64 {
        let bytes = ids.iter().chain([&u32::MAX]).flat_map(|id| id.to_le_bytes());
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    #[test]
    fn ten_thousand_lines_have_the_tokens_of_tokenizers() {
        let tokenizer = of_size(json(LARGE), 1000).unwrap();
        let tokenizer = Tokenizer::given(&tokenizer).unwrap();
        let golden: Lines = serde_json::from_str(LINES).unwrap();
        for Line { line, ids } in &golden.first {
            assert_eq!(&tokenizer.encode(line), ids, "{line:?}");
        }
        let lines = golden.all();
        for (number, (group, expected)) in
            lines.chunks(golden.group).zip(&golden.hashes).enumerate()
        {
            let hash = group
                .iter()
                .fold(0xcbf2_9ce4_8422_2325, |hash, line| hashed(&tokenizer.encode(line), hash));
            assert_eq!(&format!("{hash:016x}"), expected, "among lines {}00 to {0}99", number);
            for line in group {
                assert_eq!(&tokenizer.written(&tokenizer.encode(line)), line);
            }
        }
        assert_eq!(lines.len() / golden.group, golden.hashes.len());
    }
}
