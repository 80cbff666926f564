//! A model out of a safetensors file: one that this page wrote, or any of GPT-2's form.

use core::{fmt, ops::Range};
use std::collections::BTreeMap;

use half::{bf16, f16};
use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde_json::Value;
use unroll_protocol::{
    Architecture, Array, Checkpoint, ExperimentSpec, GptSpec, Link, SpecError, TokenizerFile,
    Tokens,
    architecture::Activation,
    checkpoint::SavedParameter,
    given::MAX_GIVEN_PARAMETERS,
    spec::{MAX_PARAMETERS, MAX_VOCABULARY},
};

use super::{
    outgoing::{BYTES, EPSILON, OPTIMIZER, UNKNOWN, activation_name},
    places::{HEAD, Place, Tensor, places, tensors},
};

pub use super::places::PREFIX;

/// Bytes before the head, which say how long it is.
pub const PREAMBLE: u64 = 8;
/// Larger files, in GB, are not read.
const LARGEST_FILE: u64 = 2;
/// The longest head that is read.
const LONGEST_HEAD: u64 = 8 << 20;
/// Names of the token for unknown characters.
const UNKNOWN_NAMES: [&str; 5] = [UNKNOWN, "<unk>", "[UNK]", "<|unk|>", "<|endoftext|>"];
/// The width of GPT-2's heads, in all its sizes.
const HEAD_WIDTH: usize = 64;

/// Why a file can't be opened. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    NotSafetensors,
    Truncated,
    Huge,
    NoModel,
    Config {
        name: &'static str,
        value: String,
    },
    Spec(SpecError),
    TooLarge {
        parameters: u64,
    },
    Settings,
    Missing(Vec<String>),
    Unknown(Vec<String>),
    Shape {
        name: String,
        found: Vec<usize>,
        expected: Vec<usize>,
    },
    Type {
        name: String,
        dtype: String,
    },
    NoVocabulary {
        tokens: usize,
    },
    Vocabulary(String),
    /// What the engine says.
    Engine(String),
    TooManyNumbers,
    Chapter(String),
    OtherText(&'static str),
    NotZip,
    LargeZip,
    LongZip,
    NoUnzip,
    NoRun,
    NotFinite,
    /// The learner began something else while it was read.
    Late,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSafetensors => write!(f, "This is not a safetensors file, or it is damaged."),
            Self::Truncated => {
                write!(f, "This file ends too early: not all of it was saved or copied.")
            }
            Self::Huge => write!(
                f,
                "This file is larger than {LARGEST_FILE} GB. The largest models that Unroll opens have {} million \
                 parameters, which is less than 1 GB.",
                MAX_GIVEN_PARAMETERS / 1_000_000
            ),
            Self::NoModel => write!(
                f,
                "This file does not hold a GPT-2 model: it has no token embedding named transformer.wte.weight."
            ),
            Self::Config { name, value } => {
                write!(f, "Unroll can’t build a model whose “{name}” is {value}.")
            }
            Self::Spec(error) => error.fmt(f),
            Self::TooLarge { parameters } => write!(
                f,
                "This model has at least {:.1} million parameters. The lab can hold {} million at most.",
                *parameters as f64 / 1e6,
                MAX_PARAMETERS / 1_000_000
            ),
            Self::Settings => write!(f, "This model is larger than the lab’s settings allow."),
            Self::Missing(names) => {
                write!(f, "This file lacks {}, which its model needs.", listed(names))
            }
            Self::Unknown(names) => {
                write!(f, "This file holds {}, which its model has no place for.", listed(names))
            }
            Self::Shape { name, found, expected } => write!(
                f,
                "In this file {name} has the shape {found:?}, where its model needs {expected:?}."
            ),
            Self::Type { name, dtype } => write!(
                f,
                "In this file {name} holds numbers of the type {dtype}. Only F32, F16 and BF16 can \
                 be opened."
            ),
            Self::NoVocabulary { tokens } => write!(
                f,
                "This file does not say what its {tokens} tokens are. Choose it again together with its \
                 tokenizer.json, or with its vocab.json and merges.txt."
            ),
            Self::Vocabulary(sentence) | Self::Engine(sentence) => f.write_str(sentence),
            Self::TooManyNumbers => {
                write!(f, "This file holds more numbers than the models of any chapter have.")
            }
            Self::OtherText(name) => write!(
                f,
                "Its models learned “{name}”. Opening it would replace your own text on this page. If \
                 that is all right, choose “{name}” as the text, then open the file again."
            ),
            Self::NotZip => write!(f, "It isn’t a zip file, or it is damaged."),
            Self::LargeZip => write!(
                f,
                "Unzipped, it is larger than 2 GB. Unzip it yourself, then open the folder."
            ),
            Self::LongZip => write!(
                f,
                "It holds so many files that their list alone takes more than 4 MB. Unzip it yourself, then open the folder."
            ),
            Self::NoUnzip => {
                write!(f, "This browser can’t unzip it. Unzip it yourself, then open the folder.")
            }
            Self::NotFinite => {
                write!(f, "Some of its numbers can’t be used: they are NaN or infinite.")
            }
            Self::Late => write!(f, "You started something else in the meantime."),
            Self::NoRun => write!(
                f,
                "It has no model from the GPT lab. Look for files with a name like \
                 unroll-step-300.safetensors."
            ),
            Self::Chapter(id) => write!(
                f,
                "It says that its models belong to “{id}”. This version of Unroll has no such chapter, or \
                 none with model files of this kind."
            ),
        }
    }
}

/// A few names, and how many more there are.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}

/// How long the head is, from the file's first bytes.
pub fn head_length(preamble: &[u8], file: u64) -> Result<u64, Refusal> {
    // In a browser, places in a file are counted in 32 bits.
    if file > LARGEST_FILE << 30 {
        return Err(Refusal::Huge);
    }
    let length = preamble.first_chunk().map(|length| u64::from_le_bytes(*length));
    let length = length.filter(|length| *length <= LONGEST_HEAD).ok_or(Refusal::NotSafetensors)?;
    if PREAMBLE + length > file { Err(Refusal::Truncated) } else { Ok(length) }
}

/// What was chosen together with the file, and what the page has.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// transformers' `config.json`.
    pub config: Option<Value>,
    /// transformers' `vocab.json`: ids by token.
    pub vocabulary: Option<Value>,
    /// Heads of the page's present model.
    pub heads: u32,
    /// Tokens of the page's present text, by id.
    pub present: Vec<String>,
    /// What may belong to the tokenizer of a model that reads more than single characters.
    pub tokenizer: Vec<TokenizerFile>,
}

/// Numbers to read, from where in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    dtype: Dtype,
    range: Range<u64>,
    /// Where they belong.
    pub place: usize,
    /// Whether they are parameters (0) or the optimizer's means of them (1, 2).
    which: usize,
}

impl Need {
    /// Of a tensor in a file whose numbers begin there.
    pub fn new(info: &TensorInfo, begins: u64, place: usize, which: usize) -> Self {
        let (start, end) = info.data_offsets;
        let range = begins + start as u64..begins + end as u64;
        Self { dtype: info.dtype, range, place, which }
    }

    /// What has to be read, as ranges of the file's bytes.
    pub fn ranges(needs: &[Self]) -> Vec<Range<u64>> {
        needs.iter().map(|need| need.range.clone()).collect()
    }

    /// Where the numbers are in the file.
    pub fn bytes(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Whether they are parameters, and nothing of the optimizer's.
    pub fn is_parameter(&self) -> bool {
        self.which == 0
    }

    /// Some of the numbers, out of their bytes.
    pub fn decoded(&self, bytes: &[u8]) -> Vec<f32> {
        decoded(self.dtype, bytes)
    }

    /// The numbers, out of the bytes of its range.
    pub fn numbers(&self, bytes: &[u8]) -> Result<Vec<f32>, Refusal> {
        let is_whole = bytes.len() as u64 == self.range.end - self.range.start;
        if is_whole { Ok(self.decoded(bytes)) } else { Err(Refusal::Truncated) }
    }

    /// Where its numbers go in a parameter.
    pub fn of<'a>(&self, saved: &'a mut SavedParameter) -> &'a mut Vec<f32> {
        match self.which {
            0 => &mut saved.value.values,
            1 => &mut saved.first_moment,
            _ => &mut saved.second_moment,
        }
    }
}

/// A file that is being read.
pub struct Incoming {
    pub link: Link,
    /// What the learner should know about how it was understood.
    pub notes: Vec<String>,
    /// The name of the text that the model learned; empty where the file does not say.
    pub text: String,
    spec: ExperimentSpec,
    step: u32,
    places: Vec<Place>,
    tensors: Vec<Tensor>,
    needs: Vec<Need>,
    /// The file's token in place of each of ours.
    order: Vec<usize>,
    vocabulary: Vec<char>,
    /// See [`Checkpoint::merges`].
    merges: Vec<u32>,
    parameters: Vec<SavedParameter>,
}

impl Incoming {
    /// Understands the head of a file of so many bytes. `settings` reads the settings of a link.
    pub fn new(
        head: &[u8],
        file: u64,
        beside: &Beside,
        settings: impl Fn(&str) -> Link,
    ) -> Result<Self, Refusal> {
        let (metadata, begins) = metadata(head, file)?;
        let about = About::new(&metadata);
        let mut notes = Vec::new();
        let infos = infos(&metadata);
        let vocabulary = infos.get(&format!("{PREFIX}wte.weight")).ok_or(Refusal::NoModel)?;
        let count = vocabulary.shape.first().copied().unwrap_or_default();
        let own = about.unroll.as_ref().and_then(|unroll| {
            let link = settings(unroll.get("settings")?.as_str()?);
            let rate = unroll.get("learning_rate").and_then(Value::as_f64);
            let step = unroll.get("step").and_then(Value::as_u64);
            // Files of earlier releases hold models that read single characters, and no merges.
            let merges = unroll.get("merges").and_then(Value::as_array);
            let merges = merges.into_iter().flatten();
            let merges = merges.map(|id| id.as_u64()?.try_into().ok()).collect::<Option<_>>()?;
            Some((link, rate, u32::try_from(step?).ok()?, merges))
        });
        let (mut link, rate, step, merges): (_, _, _, Vec<u32>) = match own {
            Some(own) => own,
            None => {
                let config = beside.config.as_ref().or(about.config.as_ref());
                let GptSpec { layers, heads, width, context, tied, architecture, .. } =
                    foreign(&infos, config, beside, &mut notes)?;
                let mut link = Link::default();
                let gpt = &mut link.gpt;
                (gpt.layers, gpt.heads, gpt.width) = (layers, heads, width);
                (gpt.context, gpt.tied, gpt.architecture) = (context, tied, architecture);
                // Said before anything else, for it is the usual reason.
                if count > MAX_VOCABULARY {
                    return Err(Refusal::NoVocabulary { tokens: count });
                }
                let parameters = u64::from(layers).saturating_mul(12 * u64::from(width).pow(2));
                if parameters > MAX_PARAMETERS {
                    return Err(Refusal::TooLarge { parameters });
                }
                (link, None, 0, Vec::new())
            }
        };
        // What the settings can't say can't be shown either.
        if settings(&link.query()).experiment() != link.experiment() {
            return Err(Refusal::Settings);
        }
        // It may have been changed since its settings were written.
        if let Some(rate) = rate {
            link.gpt.learning_rate = rate as f32;
        }
        let spec = link.experiment();
        spec.validate().map_err(Refusal::Spec)?;
        let said = about.unroll.as_ref().and_then(|unroll| unroll.get("text")?.as_str());
        let text = said.unwrap_or_default().to_owned();
        let parameters = spec.gpt.parameter_count(count);
        if parameters > MAX_PARAMETERS {
            return Err(Refusal::TooLarge { parameters });
        }
        let places = places(&spec.gpt, count);
        let tensors = tensors(&places);
        let needs = needs(&infos, &tensors, begins, spec.gpt.tied)?;
        let named = beside.vocabulary.as_ref().or(about.vocabulary.as_ref());
        let tokens = match named {
            _ if spec.tokens != Tokens::Characters => Vec::new(),
            Some(named) => by_id(named, count)?,
            None if beside.present.len() == count => {
                notes.push(
                    "The file does not say which characters its tokens are. They are taken to be \
                     those of the text on this page, in the order of their codes."
                        .to_owned(),
                );
                beside.present.clone()
            }
            None => return Err(Refusal::NoVocabulary { tokens: count }),
        };
        let (order, vocabulary) = match spec.tokens {
            Tokens::Characters => order(&tokens)?,
            _ if count == BYTES + merges.len() / 2 => ((0..count).collect(), Vec::new()),
            _ => return Err(Refusal::NoVocabulary { tokens: count }),
        };
        let parameters = places.iter().map(|place| SavedParameter {
            name: place.parameter.clone(),
            value: Array {
                shape: place.shape.iter().map(|&size| size as u32).collect(),
                values: Vec::new(),
            },
            first_moment: vec![0.0; place.len()],
            second_moment: vec![0.0; place.len()],
        });
        let parameters = parameters.collect();
        Ok(Self {
            link,
            notes,
            text,
            spec,
            step,
            places,
            tensors,
            needs,
            order,
            vocabulary,
            merges,
            parameters,
        })
    }

    /// The same without what the optimizer kept: the model is looked at, not trained.
    pub fn without_optimizer(mut self) -> Self {
        self.needs.retain(|need| need.which == 0);
        for saved in &mut self.parameters {
            (saved.first_moment, saved.second_moment) = (Vec::new(), Vec::new());
        }
        self
    }

    /// How many parameters the model has.
    pub fn parameters(&self) -> u64 {
        self.places.iter().map(|place| place.len() as u64).sum()
    }

    /// What has to be read, as ranges of the file's bytes.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        Need::ranges(&self.needs)
    }

    /// Takes the bytes of the range with this number.
    pub fn take(&mut self, number: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let values = self.needs[number].numbers(bytes)?;
        if !values.iter().all(|value| value.is_finite()) {
            return Err(Refusal::NotFinite);
        }
        for &at in &self.tensors[self.needs[number].place].parameters {
            let place = &self.places[at];
            let values = self.in_our_order(place, place.take(&values));
            *self.needs[number].of(&mut self.parameters[at]) = values;
        }
        Ok(())
    }

    /// Values whose tokens are in the order of the file, in ours.
    fn in_our_order(&self, place: &Place, values: Vec<f32>) -> Vec<f32> {
        let is_ours = self.order.iter().enumerate().all(|(ours, theirs)| ours == *theirs);
        let (Some(axis), false) = (place.tokens, is_ours) else { return values };
        let columns = place.shape[1];
        let from = |at: usize| match axis {
            0 => self.order[at / columns] * columns + at % columns,
            _ => at / columns * columns + self.order[at % columns],
        };
        (0..values.len()).map(|at| values[from(at)]).collect()
    }

    /// The model, once all ranges were taken.
    pub fn checkpoint(self) -> Checkpoint {
        let Self { spec, step, vocabulary, merges, parameters, .. } = self;
        Checkpoint { spec, step, vocabulary, merges, parameters }
    }
}

/// What the head of a file of so many bytes says, and where the numbers begin.
pub fn metadata(head: &[u8], file: u64) -> Result<(Metadata, u64), Refusal> {
    let metadata: Metadata = serde_json::from_slice(head).map_err(|_| Refusal::NotSafetensors)?;
    let begins = PREAMBLE + head.len() as u64;
    if begins + metadata.data_len() as u64 > file {
        return Err(Refusal::Truncated);
    }
    Ok((metadata, begins))
}

/// Whether numbers of this type can be read; `name` is the tensor's.
pub fn readable(name: &str, info: &TensorInfo) -> Result<(), Refusal> {
    if matches!(info.dtype, Dtype::F32 | Dtype::F16 | Dtype::BF16) {
        return Ok(());
    }
    Err(Refusal::Type { name: name.to_owned(), dtype: format!("{:?}", info.dtype) })
}

/// What the head says beside the tensors.
#[derive(Default)]
pub struct About {
    pub unroll: Option<Value>,
    pub config: Option<Value>,
    pub vocabulary: Option<Value>,
}

impl About {
    pub fn new(metadata: &Metadata) -> Self {
        let said = |name: &str| {
            let text = metadata.metadata().as_ref()?.get(name)?;
            serde_json::from_str(text).ok()
        };
        Self { unroll: said("unroll"), config: said("config"), vocabulary: said("vocabulary") }
    }
}

/// The tensors by their names, all with [`PREFIX`] where they are a model's.
pub type Infos = BTreeMap<String, TensorInfo>;

pub fn infos(metadata: &Metadata) -> Infos {
    let mut infos = Infos::new();
    for (name, info) in metadata.tensors() {
        let is_bare = ["wte.", "wpe.", "h.", "ln_f."].iter().any(|part| name.starts_with(part));
        let full = if is_bare { format!("{PREFIX}{name}") } else { name };
        infos.insert(full, info.clone());
    }
    infos
}

/// Where each tensor's numbers are; refuses a file that has too few tensors or too many.
pub fn needs(
    infos: &Infos,
    tensors: &[Tensor],
    begins: u64,
    tied: bool,
) -> Result<Vec<Need>, Refusal> {
    let has_optimizer = infos.keys().any(|name| name.starts_with(OPTIMIZER[0]));
    let mut needs = Vec::new();
    let mut missing = Vec::new();
    let prefixes = [("", true), (OPTIMIZER[0], has_optimizer), (OPTIMIZER[1], has_optimizer)];
    for (which, (prefix, _)) in prefixes.iter().enumerate().filter(|(_, (_, there))| *there) {
        for (number, tensor) in tensors.iter().enumerate() {
            let name = format!("{prefix}{}", tensor.name);
            let Some(info) = infos.get(&name) else {
                missing.push(name);
                continue;
            };
            if info.shape != tensor.shape {
                let (found, expected) = (info.shape.clone(), tensor.shape.clone());
                return Err(Refusal::Shape { name, found, expected });
            }
            readable(&name, info)?;
            needs.push(Need::new(info, begins, number, which));
        }
    }
    if !missing.is_empty() {
        return Err(Refusal::Missing(missing));
    }
    let is_known = |name: &str| {
        let bare = OPTIMIZER.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        // Masks that old files hold, and the tied head's second name.
        let is_mask = bare.ends_with(".attn.bias") || bare.ends_with(".attn.masked_bias");
        is_mask || (tied && bare == HEAD) || tensors.iter().any(|tensor| tensor.name == bare)
    };
    let unknown: Vec<String> = infos.keys().filter(|name| !is_known(name)).cloned().collect();
    if unknown.is_empty() { Ok(needs) } else { Err(Refusal::Unknown(unknown)) }
}

/// The shape of a model that another program wrote.
pub fn foreign(
    infos: &Infos,
    config: Option<&Value>,
    beside: &Beside,
    notes: &mut Vec<String>,
) -> Result<GptSpec, Refusal> {
    let said = |name: &str| config.and_then(|config| config.get(name)).filter(|v| !v.is_null());
    let size = |name: &str, axis: usize| {
        let info = infos.get(&format!("{PREFIX}{name}"));
        info.and_then(|info| info.shape.get(axis)).copied().unwrap_or_default()
    };
    let (width, context) = (size("wte.weight", 1), size("wpe.weight", 0));
    if context == 0 {
        return Err(Refusal::Missing(vec![format!("{PREFIX}wpe.weight")]));
    }
    let layers = (0..)
        .take_while(|block| infos.contains_key(&format!("{PREFIX}h.{block}.attn.c_attn.weight")))
        .count();
    let told = said("n_head").and_then(Value::as_u64);
    let heads = told.unwrap_or_else(|| {
        let heads = if width > 0 && width.is_multiple_of(HEAD_WIDTH) {
            width / HEAD_WIDTH
        } else if beside.heads > 0 && width.is_multiple_of(beside.heads as usize) {
            beside.heads as usize
        } else {
            1
        };
        notes.push(format!(
            "The file does not say how many heads each block has. The lab assumes {heads}. If that is \
             wrong, choose the file again together with its config.json."
        ));
        heads as u64
    });
    let expect = |name: &'static str, fits: &dyn Fn(&Value) -> bool| match said(name) {
        Some(value) if !fits(value) => Err(Refusal::Config { name, value: value.to_string() }),
        _ => Ok(()),
    };
    expect("layer_norm_epsilon", &|v| v.as_f64() == Some(EPSILON))?;
    expect("scale_attn_by_inverse_layer_idx", &|v| v.as_bool() == Some(false))?;
    expect("add_cross_attention", &|v| v.as_bool() == Some(false))?;
    expect("n_inner", &|v| v.as_u64() == Some(4 * width as u64))?;
    let activation = match said("activation_function") {
        // GPT-2's own.
        None => Activation::GeluTanh,
        Some(value) => {
            let name = match value.as_str() {
                Some("gelu_pytorch_tanh") => Some("gelu_new"),
                name => name,
            };
            let known = Activation::ALL.iter().find(|known| activation_name(**known) == name);
            let unknown =
                || Refusal::Config { name: "activation_function", value: value.to_string() };
            *known.filter(|_| name.is_some()).ok_or_else(unknown)?
        }
    };
    let is_tied = said("tie_word_embeddings").and_then(Value::as_bool);
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Ok(GptSpec {
        layers: number(layers),
        heads: u32::try_from(heads).unwrap_or(u32::MAX),
        width: number(width),
        context: number(context),
        dropout: 0.0,
        tied: is_tied.unwrap_or(false) || !infos.contains_key(HEAD),
        architecture: Architecture {
            feed_forward: Some(activation),
            scaled: said("scale_attn_weights").and_then(Value::as_bool).unwrap_or(true),
            ..Architecture::GPT2
        },
    })
}

/// The tokens by id: from a list, or from an object of ids by token.
fn by_id(named: &Value, count: usize) -> Result<Vec<String>, Refusal> {
    let damaged = || {
        Refusal::Vocabulary(format!(
            "The vocabulary must name each of the {count} tokens of the model exactly once."
        ))
    };
    let mut tokens = vec![None; count];
    match named {
        Value::Array(list) => {
            for (id, token) in list.iter().enumerate() {
                *tokens.get_mut(id).ok_or_else(damaged)? = token.as_str().map(str::to_owned);
            }
        }
        Value::Object(ids) => {
            for (token, id) in ids {
                let id = id.as_u64().and_then(|id| usize::try_from(id).ok());
                let place = id.and_then(|id| tokens.get_mut(id)).ok_or_else(damaged)?;
                if place.replace(token.clone()).is_some() {
                    return Err(damaged());
                }
            }
        }
        _ => return Err(damaged()),
    }
    tokens.into_iter().collect::<Option<_>>().ok_or_else(damaged)
}

/// Which of the file's tokens is in the place of each of ours, and our characters: the unknown one
/// first, then the others by their codes.
fn order(tokens: &[String]) -> Result<(Vec<usize>, Vec<char>), Refusal> {
    let refused = |sentence: String| Err(Refusal::Vocabulary(sentence));
    let Some(unknown) = UNKNOWN_NAMES.iter().find_map(|name| tokens.iter().position(|t| t == name))
    else {
        return refused(
            "The model’s vocabulary has no token for unknown characters (such as <unk>), and the \
             lab needs one."
                .to_owned(),
        );
    };
    let mut characters = BTreeMap::new();
    for (id, token) in tokens.iter().enumerate().filter(|(id, _)| *id != unknown) {
        let mut inside = token.chars();
        let (Some(character), None) = (inside.next(), inside.next()) else {
            return refused(format!(
                "The model’s token “{token}” is not a single character. The lab cuts text into \
                 characters, so it can’t use this model."
            ));
        };
        if characters.insert(character, id).is_some() {
            return refused(format!("The model’s vocabulary has “{character}” twice."));
        }
    }
    let order = [unknown].into_iter().chain(characters.values().copied()).collect();
    Ok((order, characters.into_keys().collect()))
}

/// Little-endian numbers of this type.
fn decoded(dtype: Dtype, bytes: &[u8]) -> Vec<f32> {
    match dtype {
        Dtype::F16 => {
            let (halves, _) = bytes.as_chunks();
            halves.iter().map(|half| f16::from_le_bytes(*half).to_f32()).collect()
        }
        Dtype::BF16 => {
            let (halves, _) = bytes.as_chunks();
            halves.iter().map(|half| bf16::from_le_bytes(*half).to_f32()).collect()
        }
        _ => {
            let (words, _) = bytes.as_chunks();
            words.iter().map(|word| f32::from_le_bytes(*word)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::PathBuf};

    use burn::tensor::Device;
    use serde_json::json;
    use unroll_model::{Slice, Trainer, token_tensor};
    use unroll_protocol::{
        CurvePoint, TokenKind,
        architecture::{MaskKind, NormPlacement, Positions},
    };

    use super::*;
    use crate::{
        kept::{
            archive, losses,
            outgoing::{Outgoing, known},
            run,
        },
        store::Source,
    };

    const TEXT: &str = "the cat sat on the mat. the café was shut, and the cat sat on. ";

    fn settings(query: &str) -> Link {
        Link::parse_query(query.split('&').filter_map(|pair| pair.split_once('='))).0
    }

    fn small() -> Link {
        settings("layers=2&heads=2&width=16&context=16&batch=2&seed=5&decay=0.2&warmup=2")
    }

    /// A model that was trained a little.
    fn trained(link: &Link, steps: u32) -> Checkpoint {
        let text = TEXT.repeat(8);
        let mut trainer = Trainer::new(&link.experiment(), &text, &Device::flex()).unwrap();
        for _ in 0..steps {
            while !matches!(trainer.advance(), Slice::Gradients(_)) {}
            trainer.apply();
        }
        pollster::block_on(trainer.checkpoint()).unwrap()
    }

    fn file(checkpoint: &Checkpoint, link: &Link, with_optimizer: bool) -> Vec<u8> {
        let outgoing = Outgoing::new(checkpoint, with_optimizer);
        let mut bytes = outgoing.head(link, "Tales");
        outgoing.into_bodies().for_each(|body| bytes.extend(body));
        bytes
    }

    fn read(bytes: &[u8], beside: &Beside) -> Result<(Checkpoint, Link, Vec<String>), Refusal> {
        let length = head_length(bytes, bytes.len() as u64)?;
        let head = &bytes[8..8 + length as usize];
        let mut incoming = Incoming::new(head, bytes.len() as u64, beside, settings)?;
        for (number, range) in incoming.ranges().into_iter().enumerate() {
            incoming.take(number, &bytes[range.start as usize..range.end as usize])?;
        }
        let (link, notes) = (incoming.link.clone(), incoming.notes.clone());
        Ok((incoming.checkpoint(), link, notes))
    }

    fn opened(bytes: &[u8]) -> Result<Checkpoint, Refusal> {
        read(bytes, &Beside::default()).map(|(checkpoint, ..)| checkpoint)
    }

    /// Logits at each position, by character.
    fn logits(checkpoint: &Checkpoint, text: &str) -> Vec<BTreeMap<String, f32>> {
        let trainer =
            Trainer::from_checkpoint(checkpoint, &TEXT.repeat(8), &Device::flex()).unwrap();
        let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
        let tokens = token_tensor(&tokenizer.encode(text), 1, &Device::flex());
        let all: Vec<f32> = model.forward(tokens).into_data().try_into_vec().unwrap();
        let vocabulary = tokenizer.vocabulary();
        let row = |row: &[f32]| vocabulary.iter().cloned().zip(row.iter().copied()).collect();
        all.chunks(vocabulary.len()).map(row).collect()
    }

    fn fixture(name: &str) -> Vec<u8> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/model_file/");
        fs::read(format!("{folder}{name}")).unwrap()
    }

    fn fixture_json(name: &str) -> Value {
        serde_json::from_slice(&fixture(name)).unwrap()
    }

    #[test]
    fn every_form_of_model_comes_back_bit_for_bit() {
        let with = |change: &dyn Fn(&mut Link)| {
            let mut link = small();
            change(&mut link);
            link
        };
        let forms = [
            small(),
            with(&|link| link.gpt.tied = true),
            with(&|link| link.gpt.architecture.positions = Positions::Rotary),
            with(&|link| link.gpt.architecture.norm = NormPlacement::Post),
            with(&|link| link.gpt.architecture.norm = NormPlacement::None),
            with(&|link| link.gpt.architecture.mask = MaskKind::Band),
            with(&|link| link.gpt.architecture.feed_forward = Some(Activation::Solu)),
            with(&|link| link.gpt.tokens = TokenKind::Bytes),
            with(&|link| (link.gpt.tokens, link.gpt.merges) = (TokenKind::Pairs, 40)),
            with(&|link| {
                link.gpt.optimizer = unroll_protocol::OptimizerKind::Muon;
                link.gpt.initialization = unroll_protocol::Initialization::Xavier;
            }),
        ];
        for link in forms {
            let mut checkpoint = trained(&link, 3);
            // As it is once the learner has moved the slider.
            checkpoint.spec.optimizer.learning_rate = 0.0012;
            assert_eq!(opened(&file(&checkpoint, &link, true)).unwrap(), checkpoint);
            let bare = opened(&file(&checkpoint, &link, false)).unwrap();
            for (bare, whole) in bare.parameters.iter().zip(&checkpoint.parameters) {
                assert_eq!((&bare.name, &bare.value), (&whole.name, &whole.value));
                assert!(bare.first_moment.iter().all(|moment| *moment == 0.0));
            }
        }
    }

    #[test]
    fn training_goes_on_from_a_file_as_if_it_had_never_been_saved() {
        let link = small();
        let on = |checkpoint: &Checkpoint| {
            let text = TEXT.repeat(8);
            let mut trainer = Trainer::from_checkpoint(checkpoint, &text, &Device::flex()).unwrap();
            for _ in 0..3 {
                while !matches!(trainer.advance(), Slice::Gradients(_)) {}
                trainer.apply();
            }
            pollster::block_on(trainer.checkpoint()).unwrap()
        };
        let checkpoint = trained(&link, 4);
        assert_eq!(on(&opened(&file(&checkpoint, &link, true)).unwrap()), on(&checkpoint));
        assert_eq!(on(&checkpoint), trained(&link, 7));
    }

    #[test]
    fn a_model_that_transformers_wrote_has_the_logits_that_pytorch_finds() {
        let expected = fixture_json("expected.json");
        let text = expected["text"].as_str().unwrap();
        let beside = Beside {
            config: Some(fixture_json("config.json")),
            vocabulary: Some(fixture_json("vocab.json")),
            ..Beside::default()
        };
        for (name, key) in
            [("model.safetensors", "logits"), ("bare-bf16.safetensors", "logits_bf16")]
        {
            let (checkpoint, link, notes) = read(&fixture(name), &beside).unwrap();
            assert!(notes.is_empty(), "{notes:?}");
            assert_eq!((link.gpt.layers, link.gpt.heads, link.gpt.width), (2, 2, 16));
            assert_eq!((link.gpt.context, link.gpt.tied, checkpoint.step), (16, true, 0));
            let found = logits(&checkpoint, text);
            for (row, found) in expected[key].as_array().unwrap().iter().zip(&found) {
                for (id, token) in expected["tokens"].as_array().unwrap().iter().enumerate() {
                    let token =
                        token.as_str().map(|token| token.replace("<unk>", UNKNOWN)).unwrap();
                    let (found, expected) = (found[&token], row[id].as_f64().unwrap() as f32);
                    assert!((found - expected).abs() < 2e-5, "{token}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn what_a_foreign_file_leaves_out_is_asked_for_or_said() {
        let bytes = fixture("model.safetensors");
        let vocabulary = Some(fixture_json("vocab.json"));
        let refused = |beside: &Beside| read(&bytes, beside).unwrap_err().to_string();
        assert!(refused(&Beside::default()).contains("what its 10 tokens are"));
        let (_, link, notes) =
            read(&bytes, &Beside { vocabulary: vocabulary.clone(), heads: 4, ..Beside::default() })
                .unwrap();
        assert_eq!(link.gpt.heads, 4);
        assert!(notes[0].contains("assumes 4"), "{notes:?}");
        let present: Vec<String> = "\u{fffd}\n abcdefü".chars().map(String::from).collect();
        let (checkpoint, _, notes) =
            read(&bytes, &Beside { present, ..Beside::default() }).unwrap();
        assert_eq!(checkpoint.vocabulary.iter().collect::<String>(), "\n abcdefü");
        assert!(notes.iter().any(|note| note.contains("text on this page")), "{notes:?}");
        let with = |name: &str, value: Value| {
            let mut config = fixture_json("config.json");
            config[name] = value;
            refused(&Beside {
                config: Some(config),
                vocabulary: vocabulary.clone(),
                ..Beside::default()
            })
        };
        assert!(with("activation_function", json!("silu")).contains("“activation_function” is"));
        assert!(with("layer_norm_epsilon", json!(1e-6)).contains("“layer_norm_epsilon” is"));
        assert!(with("n_inner", json!(32)).contains("“n_inner” is 32"));
        assert!(with("n_head", json!(5)).contains("5 heads do not divide"));
        let tokens =
            |tokens: Value| refused(&Beside { vocabulary: Some(tokens), ..Beside::default() });
        assert!(tokens(json!(["a"])).contains("each of the 10 tokens"));
        let words = ["<unk>", "a", "b", "c", "d", "e", "f", "g", "h", "the"];
        assert!(tokens(json!(words)).contains("“the” is not a single character"));
        let letters = ["z", "a", "b", "c", "d", "e", "f", "g", "h", "i"];
        assert!(tokens(json!(letters)).contains("no token for unknown"));
        let twice = ["<unk>", "a", "b", "c", "d", "e", "f", "g", "h", "a"];
        assert!(tokens(json!(twice)).contains("“a” twice"));
    }

    /// The file with its head changed as text.
    fn changed(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
        let begins = 8 + length_of(bytes);
        let head = change(core::str::from_utf8(&bytes[8..begins]).unwrap());
        let length = (head.len() as u64).to_le_bytes();
        [&length, head.as_bytes(), &bytes[begins..]].concat()
    }

    fn length_of(bytes: &[u8]) -> usize {
        head_length(bytes, bytes.len() as u64).unwrap() as usize
    }

    #[test]
    fn files_that_are_wrong_are_refused_with_a_sentence() {
        let mut link = small();
        link.gpt.layers = 3;
        let whole = file(&trained(&link, 1), &link, true);
        let refused = |bytes: &[u8]| opened(bytes).map(|_| ()).unwrap_err().to_string();
        assert!(refused(b"").contains("not a safetensors file"));
        assert!(
            refused(b"PK\x03\x04 a zip archive, as torch.save writes it").contains("not a saf")
        );
        assert!(refused(&whole[..whole.len() - 1]).contains("ends too early"));
        assert!(refused(&whole[..100]).contains("ends too early"));
        let head = |from: &str, to: &str| {
            let found = changed(&whole, |head| head.replacen(from, to, 1));
            refused(&found)
        };
        assert!(
            head("transformer.h.1.ln_2.bias", "transformer.h.1.ln_2.bios").contains("ln_2.bias")
        );
        assert!(head("transformer.wte.weight", "embed").contains("transformer.wte.weight"));
        assert!(head("\"shape\":[16]", "\"shape\":[17]").contains("not a safetensors file"));
        assert!(head("\"F32\",\"shape\":[16]", "\"I32\",\"shape\":[16]").contains("type I32"));
        assert!(head("layers=3", "layers=2").contains("transformer.h.2."));
        assert!(head("layers=3", "layers=4").contains("transformer.h.3."));
        // Any cut and any changed byte of the head: a sentence or a model, never a panic.
        for end in (0..whole.len()).step_by(97) {
            assert!(opened(&whole[..end]).is_err());
        }
        let length = length_of(&whole);
        for at in (0..8 + length).step_by(7) {
            for byte in [0, b'9', b'"', 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = opened(&bytes);
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let link = small();
        let whole = trained(&link, 1);
        for value in [f32::NAN, f32::INFINITY] {
            let mut broken = [whole.clone(), whole.clone()];
            broken[0].parameters[1].value.values[3] = value;
            broken[1].parameters[1].second_moment[3] = value;
            for broken in broken {
                assert_eq!(opened(&file(&broken, &link, true)), Err(Refusal::NotFinite));
            }
        }
    }

    #[test]
    fn the_learning_rate_is_that_of_the_last_step() {
        let link = small();
        let mut later = trained(&link, 1);
        later.spec.optimizer.learning_rate = 0.001;
        let (checkpoint, found, _) = read(&file(&later, &link, true), &Beside::default()).unwrap();
        assert_eq!((checkpoint.spec, found.gpt.learning_rate), (later.spec, 0.001));
    }

    #[test]
    fn a_model_too_large_is_refused_before_its_numbers_are_read() {
        // GPT-2's own head, with no numbers behind it: without its tokenizer nobody can read with it. And
        // one of its size that reads characters.
        for (vocabulary, reason) in [(50_257, "tokenizer.json"), (65, "million parameters")] {
            let mut infos: Vec<(String, TensorInfo)> = Vec::new();
            let mut at = 0;
            let spec = settings("layers=12&heads=12&context=64").experiment().gpt;
            let spec = GptSpec { width: 768, context: 1024, tied: true, ..spec };
            for tensor in tensors(&places(&spec, vocabulary)) {
                let end = at + 4 * tensor.shape.iter().product::<usize>();
                let info =
                    TensorInfo { dtype: Dtype::F32, shape: tensor.shape, data_offsets: (at, end) };
                infos.push((tensor.name, info));
                at = end;
            }
            let head = serde_json::to_vec(&Metadata::new(None, infos).unwrap()).unwrap();
            let file = PREAMBLE + (head.len() + at) as u64;
            let refusal = Incoming::new(&head, file, &Beside::default(), settings).err().unwrap();
            assert!(refusal.to_string().contains(reason), "{refusal}");
        }
    }

    /// With UNROLL_MODEL_FILES, writes files there and what the model says about them, for
    /// tests/golden/check_model_file.py.
    #[test]
    fn model_files_for_pytorch() {
        let mut tied = small();
        tied.gpt.tied = true;
        let mut tanh = small();
        tanh.gpt.architecture.feed_forward = Some(Activation::GeluTanh);
        let (mut bytes, mut pairs) = (small(), small());
        bytes.gpt.tokens = TokenKind::Bytes;
        (pairs.gpt.tokens, pairs.gpt.merges) = (TokenKind::Pairs, 40);
        let forms = [("untied", small()), ("tied", tied), ("tanh", tanh)];
        for (name, link) in forms.into_iter().chain([("bytes", bytes), ("pairs", pairs)]) {
            let checkpoint = trained(&link, 30);
            let bytes = file(&checkpoint, &link, name == "tied");
            if link.gpt.tokens != TokenKind::Characters {
                tokens_for_pytorch(name, &checkpoint, &bytes);
                continue;
            }
            let text = "the cat sat";
            let last = logits(&checkpoint, text).pop().unwrap();
            assert_eq!(last.len(), known(&checkpoint));
            let Some(folder) = env::var_os("UNROLL_MODEL_FILES").map(PathBuf::from) else {
                continue;
            };
            fs::write(folder.join(format!("{name}.safetensors")), bytes).unwrap();
            let expected = json!({"text": text, "logits": last}).to_string();
            fs::write(folder.join(format!("{name}.json")), expected).unwrap();
        }
    }

    /// The same for a model whose tokens have no names of their own.
    fn tokens_for_pytorch(name: &str, checkpoint: &Checkpoint, file: &[u8]) {
        let trainer =
            Trainer::from_checkpoint(checkpoint, &TEXT.repeat(8), &Device::flex()).unwrap();
        let (model, tokenizer) = (trainer.model(), trainer.tokenizer());
        let long = "a".repeat(70);
        let odd = ["  two", "\u{85}x\u{a0}y", "Ⅷ½", "12abc", "…", "世界", "👩‍👩", &long, "\t\r\n"];
        let mixed = format!("the cat sat on. {} the", odd.join(" "));
        let all = tokenizer.encode(&mixed);
        let text = "the cat";
        let ids = tokenizer.encode(text);
        let tensor = token_tensor(&ids, 1, &Device::flex());
        let logits: Vec<f32> = model.forward_last(tensor).into_data().try_into_vec().unwrap();
        assert_eq!(logits.len(), known(checkpoint));
        let Some(folder) = env::var_os("UNROLL_MODEL_FILES").map(PathBuf::from) else { return };
        fs::write(folder.join(format!("{name}.safetensors")), file).unwrap();
        let expected = json!({"text": text, "logits": logits, "mixed": mixed, "ids": all});
        fs::write(folder.join(format!("{name}.json")), expected.to_string()).unwrap();
    }

    /// Files whose merges are not those of their tokens are refused, here or by the engine.
    #[test]
    fn wrong_merges_are_refused() {
        let mut link = small();
        (link.gpt.tokens, link.gpt.merges) = (TokenKind::Pairs, 40);
        let checkpoint = trained(&link, 1);
        assert!(checkpoint.merges.len() > 20);
        let whole = file(&checkpoint, &link, false);
        let with = |merges: &str| {
            let start = format!("\\\"merges\\\":[{},", checkpoint.merges[0]);
            changed(&whole, |head| {
                assert_eq!(head.matches(&start).count(), 1);
                head.replacen(&start, merges, 1)
            })
        };
        let few = opened(&with("\\\"merges\\\":[1,2,3],\\\"others\\\":[1,"));
        assert_eq!(few, Err(Refusal::NoVocabulary { tokens: known(&checkpoint) }));
        for wrong in ["-1", "1.5", "1e30", "null"] {
            let found = opened(&with(&format!("\\\"merges\\\":[{wrong},")));
            assert!(found.is_err(), "{wrong}");
        }
        // A merge of what is no token yet.
        let odd = opened(&with("\\\"merges\\\":[700,")).unwrap();
        assert!(Trainer::from_checkpoint(&odd, &TEXT.repeat(8), &Device::flex()).is_err());
    }

    const SCRIPT: &str = include_str!("../../../docs/train.py");

    /// The script's defaults are the lab's.
    #[test]
    fn the_script_for_pytorch_knows_the_defaults() {
        let usual = Link::default();
        let names = ["seed", "batch", "lr", "warmup", "decay", "clip", "optimizer"];
        let values = names.map(|name| {
            let setting = unroll_protocol::link::settings().find(|s| s.name == name).unwrap();
            let value = (setting.get)(&usual).to_string();
            match value.parse::<f64>() {
                Ok(_) => format!("\"{name}\": {value}"),
                Err(_) => format!("\"{name}\": \"{value}\""),
            }
        });
        let spec = unroll_protocol::OptimizerSpec::default();
        let lines = [
            format!("COLUMNS = \"{}\"", losses::COLUMNS),
            format!("DEFAULTS = {{{}}}", values.join(", ")),
            format!(
                "BETAS, EPSILON, DECAY_STEPS, FLOOR = ({}, {}), {:e}, {}, {}",
                spec.beta1,
                spec.beta2,
                spec.epsilon,
                spec.decay_steps,
                unroll_protocol::LearningRateSchedule::FLOOR
            ),
        ];
        for line in lines {
            assert!(SCRIPT.lines().any(|found| found == line), "docs/train.py lacks: {line}");
        }
        assert!(SCRIPT.lines().count() <= 200);
    }

    /// With UNROLL_RUNS, packs runs there as the page does, and writes how they went on, for
    /// tests/golden/check_train.py.
    #[test]
    fn runs_for_pytorch() {
        const STEPS: u32 = 20;
        let from_start = settings("layers=2&heads=2&width=32&context=24&batch=4&seed=9&warmup=6");
        let mut halfway = settings("layers=1&heads=4&width=32&context=16&batch=6&tied=1&clip=0.5");
        halfway.gpt.architecture.feed_forward = Some(Activation::GeluTanh);
        for (name, link, steps) in [("from-start", from_start, 0), ("halfway", halfway, 15)] {
            let text = TEXT.repeat(20);
            let mut trainer = Trainer::new(&link.experiment(), &text, &Device::flex()).unwrap();
            let mut points = Vec::new();
            let mut checkpoint = None;
            while trainer.step() < steps + STEPS {
                if trainer.step() == steps && checkpoint.is_none() {
                    checkpoint = Some(pollster::block_on(trainer.checkpoint()).unwrap());
                }
                let learning_rate = trainer.learning_rate_at_next_step();
                if let Slice::Gradients(gradients) = trainer.advance() {
                    trainer.apply();
                    points.push(CurvePoint {
                        step: trainer.step(),
                        loss: gradients.loss.into_scalar::<f32>(),
                        held_out: trainer.step().is_multiple_of(10).then_some(1.5),
                        gradient_norm: gradients.gradient_norm.into_scalar::<f32>(),
                        learning_rate,
                    });
                }
            }
            let checkpoint = checkpoint.expect("it was at that step");
            let (before, after) = points.split_at(steps as usize);
            assert_eq!((checkpoint.step, after.len() as u32), (steps, STEPS));
            assert!(after[STEPS as usize - 1].loss < after[0].loss);
            let Some(folder) = env::var_os("UNROLL_RUNS").map(PathBuf::from) else { continue };
            let to = |kind: &str| folder.join(format!("{name}.{kind}"));
            let source = Source { corpus: link.corpus, name: "cats".into(), text: text.into() };
            let files = run::contents(&checkpoint, &link, &source, before);
            let mut archive = Vec::new();
            let packed = archive::pack(files, 0, async |piece| archive.extend(piece));
            pollster::block_on(packed).unwrap();
            fs::write(to("zip"), archive).unwrap();
            let last = logits(&pollster::block_on(trainer.checkpoint()).unwrap(), "the cat").pop();
            let rows = format!("{}\n{}", losses::COLUMNS, losses::written(&points));
            let expected = json!({"rows": rows, "step": steps, "logits": last});
            fs::write(to("json"), expected.to_string()).unwrap();
        }
    }

    /// With UNROLL_RUNS, once the script has continued them: every model in their folders opens, and the
    /// last has the logits of the page's own.
    #[test]
    fn runs_from_pytorch() {
        let Some(folder) = env::var_os("UNROLL_RUNS").map(PathBuf::from) else { return };
        for name in ["from-start", "halfway"] {
            let expected = fs::read(folder.join(format!("{name}.json"))).unwrap();
            let expected: Value = serde_json::from_slice(&expected).unwrap();
            let run = folder.join(name);
            let table = fs::read_to_string(run.join("losses.csv")).unwrap();
            let points: Vec<CurvePoint> = table.lines().filter_map(losses::read).collect();
            let rows = expected["rows"].as_str().unwrap();
            let ours: Vec<CurvePoint> = rows.lines().filter_map(losses::read).collect();
            assert_eq!(points.len(), ours.len());
            for (point, ours) in points.iter().zip(&ours) {
                assert_eq!(point.step, ours.step);
                assert!((point.loss - ours.loss).abs() < 1e-4, "{point:?} {ours:?}");
                assert!((point.gradient_norm / ours.gradient_norm - 1.0).abs() < 1e-3);
                assert!((point.learning_rate / ours.learning_rate - 1.0).abs() < 1e-6);
            }
            let mut checkpoints: Vec<Checkpoint> = fs::read_dir(run)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|end| end == "safetensors"))
                .map(|path| opened(&fs::read(path).unwrap()).unwrap())
                .collect();
            checkpoints.sort_by_key(|checkpoint| checkpoint.step);
            assert!(checkpoints.len() >= 11, "{name}: {}", checkpoints.len());
            let last = checkpoints.last().expect("there are some");
            let found = logits(last, "the cat").pop().unwrap();
            for (token, found) in found {
                let ours = expected["logits"][&token].as_f64().unwrap();
                assert!((f64::from(found) - ours).abs() < 1e-3, "{token}: {found} {ours}");
            }
        }
    }
}
