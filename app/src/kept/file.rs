//! A run as a file: records one after the other, each with its length and checksum, so that a torn or
//! changed file is known for what it is. No browser in here.
//!
//! The first record is a [`Head`], the second a [`Body`], then comes one for each parameter. Where tokens are
//! byte pairs, the last has the merges.

use core::ops::Range;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use unroll_protocol::{
    Architecture, Checkpoint, CurvePoint, ExperimentSpec, GptSpec, Link, OptimizerKind,
    OptimizerSpec, Packed, Tokens,
    architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    checkpoint::SavedParameter,
};

/// What every such file begins with. A byte with the version of what follows comes after it.
const MAGIC: [u8; 7] = *b"unroll\0";
/// Files of earlier versions have less in their head: see [`Reader::head`].
const VERSION: u8 = 3;
/// Losses in the head of a file.
const LOSSES: usize = 48;
/// Bytes of settings in it: a list reads the beginning of a file alone.
const LONGEST_QUERY: usize = 4096;
/// Length and checksum, before each record.
const PREFIX: usize = 8;
/// No record of ours is longer: a text of 5 MB, the largest parameter of the largest model.
const LONGEST: usize = 1 << 28;
/// The lab's models have fewer parameters, of which each is a record.
const MOST_PARAMETERS: u32 = 10_000;

/// What a list of runs says of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub step: u32,
    /// The last training loss, in nats per token.
    pub loss: Option<f32>,
    /// What the text is called.
    pub text: String,
    /// The model in a few words.
    pub model: String,
    /// Records of parameters.
    pub parameters: u32,
    /// Training losses from the first to the last, evenly spaced.
    pub losses: Vec<f32>,
    /// The settings, as in a link. Empty where a list has no room for them.
    pub query: String,
    /// The checksum of the text: two of one name may differ.
    pub text_sum: Option<u32>,
    /// When the run was kept like this, in milliseconds since 1970. A copy of the file is younger.
    pub at: Option<f64>,
}

/// What a list needs of a run's losses: so many of them, the first and the last among them.
pub fn thinned(losses: &[f32]) -> Vec<f32> {
    if losses.len() <= LOSSES {
        return losses.to_vec();
    }
    (0..LOSSES).map(|at| losses[at * (losses.len() - 1) / (LOSSES - 1)]).collect()
}

/// What a list needs of the settings.
pub fn short(query: &str) -> String {
    if query.len() <= LONGEST_QUERY { query.to_owned() } else { String::new() }
}

/// Everything else but the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// The settings, as in a link.
    pub query: String,
    pub text: String,
    pub probe: String,
    pub points: Vec<CurvePoint>,
    pub spec: SavedSpec,
    pub vocabulary: Vec<char>,
}

/// What the first files held of an [`ExperimentSpec`]. What came later is among the settings, so that
/// those files can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSpec {
    seed: u32,
    gpt: SavedGpt,
    optimizer: SavedOptimizer,
    batch: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct SavedGpt {
    layers: u32,
    heads: u32,
    width: u32,
    context: u32,
    dropout: f32,
    tied: bool,
    architecture: SavedArchitecture,
}

/// A part of the settings as the first files held it. What came later is told by the settings beside it.
macro_rules! saved {
    ($saved:ident of $whole:ident { $($field:ident: $kind:ty,)* } without $later:ident: $its_kind:ty) => {
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        struct $saved {
            $($field: $kind,)*
        }

        impl From<$whole> for $saved {
            fn from(whole: $whole) -> Self {
                let $whole { $($field,)* $later: _ } = whole;
                Self { $($field,)* }
            }
        }

        impl $saved {
            fn with(self, $later: $its_kind) -> $whole {
                let Self { $($field,)* } = self;
                $whole { $($field,)* $later }
            }
        }
    };
}

saved!(SavedArchitecture of Architecture {
    positions: Positions,
    mask: MaskKind,
    band: u32,
    norm: NormPlacement,
    residual: bool,
    attention: bool,
    scaled: bool,
    feed_forward: Option<Activation>,
} without norm_kind: NormKind);

saved!(SavedOptimizer of OptimizerSpec {
    learning_rate: f32,
    warmup_steps: u32,
    decay_steps: u32,
    weight_decay: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    clip_norm: f32,
} without kind: OptimizerKind);

impl From<GptSpec> for SavedGpt {
    fn from(spec: GptSpec) -> Self {
        let GptSpec { layers, heads, width, context, dropout, tied, architecture } = spec;
        let architecture = architecture.into();
        Self { layers, heads, width, context, dropout, tied, architecture }
    }
}

impl SavedGpt {
    /// With what only the settings say.
    fn with(self, link: &Link) -> GptSpec {
        let Self { layers, heads, width, context, dropout, tied, architecture } = self;
        let architecture = architecture.with(link.gpt.architecture.norm_kind);
        GptSpec { layers, heads, width, context, dropout, tied, architecture }
    }
}

impl From<ExperimentSpec> for SavedSpec {
    fn from(spec: ExperimentSpec) -> Self {
        let ExperimentSpec { seed, initialization: _, gpt, optimizer, batch, tokens: _ } = spec;
        Self { seed, gpt: gpt.into(), optimizer: optimizer.into(), batch }
    }
}

impl SavedSpec {
    /// With what only the settings say.
    fn with(self, link: &Link) -> ExperimentSpec {
        let Self { seed, gpt, optimizer, batch } = self;
        let ExperimentSpec { initialization, tokens, .. } = link.experiment();
        let (gpt, optimizer) = (gpt.with(link), optimizer.with(link.gpt.optimizer));
        ExperimentSpec { seed, initialization, gpt, optimizer, batch, tokens }
    }
}

/// The file is not one of ours, or not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// What the file begins with.
pub fn beginning() -> Vec<u8> {
    [MAGIC.as_slice(), &[VERSION]].concat()
}

/// A record.
pub fn record(of: &impl Serialize) -> Vec<u8> {
    let content = Packed::of(of).into_bytes();
    let mut bytes = Vec::with_capacity(PREFIX + content.len());
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(checksum(&content).to_le_bytes());
    bytes.extend(content);
    bytes
}

/// FNV-1a of 32 bits, four bytes at a time: it need not withstand malice, for a checkpoint is looked
/// through by the engine.
pub fn checksum(bytes: &[u8]) -> u32 {
    let mix = |sum: u32, word: u32| (sum ^ word).wrapping_mul(0x0100_0193);
    let (words, rest) = bytes.as_chunks::<4>();
    let sum = words.iter().fold(0x811c_9dc5, |sum, word| mix(sum, u32::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, (*byte).into()))
}

/// Reads a file record by record; `read` gives a range of its bytes.
pub struct Reader<R> {
    read: R,
    length: usize,
    at: usize,
    version: u8,
}

impl<R: Fn(Range<usize>) -> Vec<u8>> Reader<R> {
    /// Of a file of so many bytes.
    pub fn new(read: R, length: usize) -> Result<Self, Damaged> {
        let mut reader = Self { read, length, at: 0, version: 0 };
        let beginning = reader.take(MAGIC.len() + 1)?;
        match beginning.strip_prefix(&MAGIC) {
            Some(&[version @ 1..=VERSION]) => Ok(Self { version, ..reader }),
            _ => Err(Damaged),
        }
    }

    /// How much of the file was read.
    pub fn at(&self) -> usize {
        self.at
    }

    fn take(&mut self, count: usize) -> Result<Vec<u8>, Damaged> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.length).ok_or(Damaged)?;
        let bytes = (self.read)(self.at..end);
        self.at = end;
        if bytes.len() == count { Ok(bytes) } else { Err(Damaged) }
    }

    /// The next record.
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<T, Damaged> {
        unpacked(self.content()?)
    }

    /// The bytes of the next record.
    fn content(&mut self) -> Result<Vec<u8>, Damaged> {
        let prefix = self.take(PREFIX)?;
        let word =
            |at: usize| prefix[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let (length, sum) = (word(0) as usize, word(4));
        if length > LONGEST {
            return Err(Damaged);
        }
        let content = self.take(length)?;
        if checksum(&content) == sum { Ok(content) } else { Err(Damaged) }
    }

    /// The head, if it is one that can be.
    pub fn head(&mut self) -> Result<Head, Damaged> {
        let mut content = self.content()?;
        // Each version added two fields at the end. One that has nothing in it is a single zero.
        content.resize(content.len() + 2 * usize::from(VERSION - self.version), 0);
        let head: Head = unpacked(content)?;
        if head.parameters <= MOST_PARAMETERS { Ok(head) } else { Err(Damaged) }
    }
}

fn unpacked<T: DeserializeOwned>(content: Vec<u8>) -> Result<T, Damaged> {
    Packed::from_bytes(content).unpack().map_err(|_| Damaged)
}

/// The checkpoint that a file holds, from what was read of it. `link` has the file's settings.
pub fn checkpoint(
    head: &Head,
    body: &Body,
    link: &Link,
    parameters: Vec<SavedParameter>,
    merges: Vec<u32>,
) -> Checkpoint {
    let (spec, vocabulary) = (body.spec.with(link), body.vocabulary.clone());
    Checkpoint { spec, step: head.step, vocabulary, merges, parameters }
}

/// Whether a file of a run with such tokens ends with their merges.
pub fn has_merges(tokens: Tokens) -> bool {
    matches!(tokens, Tokens::Pairs { .. })
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{
        Array, Initialization, OptimizerKind, TokenKind, architecture::NormKind,
    };

    use super::*;

    fn head() -> Head {
        let (text, model) = ("Tales".into(), "2 layers".into());
        let (losses, query) = (vec![4.0, 1.5], "layers=2".into());
        let (text_sum, at) = (Some(7), Some(1e12));
        Head { step: 12, loss: Some(1.5), text, model, parameters: 1, losses, query, text_sum, at }
    }

    fn parameter() -> SavedParameter {
        SavedParameter {
            name: "head.weight".into(),
            value: Array { shape: vec![2], values: vec![-0.0, f32::NAN] },
            first_moment: vec![1.0, 2.0],
            second_moment: vec![3.0, 1e-42],
        }
    }

    /// Settings that files of the first release did not know.
    fn other() -> Link {
        let mut link = Link::default();
        link.gpt.optimizer = OptimizerKind::Muon;
        link.gpt.initialization = Initialization::Xavier;
        link.gpt.tokens = TokenKind::Pairs;
        link.gpt.architecture.norm_kind = NormKind::Rms;
        link
    }

    fn whole() -> Vec<u8> {
        let point = CurvePoint {
            step: 1,
            loss: 4.0,
            held_out: None,
            gradient_norm: 1.0,
            learning_rate: 0.1,
        };
        let body = Body {
            query: "chapter=gpt".into(),
            text: "text".into(),
            probe: "probe".into(),
            points: vec![point],
            spec: other().experiment().into(),
            vocabulary: vec!['a', 'é'],
        };
        [beginning(), record(&head()), record(&body), record(&parameter())].concat()
    }

    fn read(bytes: &[u8]) -> Result<(Head, Body, SavedParameter), Damaged> {
        let mut reader = Reader::new(|range| bytes[range].to_vec(), bytes.len())?;
        Ok((reader.head()?, reader.next()?, reader.next()?))
    }

    #[test]
    fn every_bit_of_a_run_comes_back() {
        let (read_head, body, read_parameter) = read(&whole()).unwrap();
        assert_eq!((&read_head, body.vocabulary.as_slice()), (&head(), ['a', 'é'].as_slice()));
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let (read_value, value) = (&read_parameter.value.values, &parameter().value.values);
        assert_eq!(bits(read_value), bits(value));
        assert_eq!(bits(&read_parameter.second_moment), bits(&parameter().second_moment));
        let checkpoint =
            checkpoint(&read_head, &body, &other(), vec![read_parameter], vec![97, 98]);
        assert_eq!(checkpoint.merges, [97, 98]);
        assert_eq!((checkpoint.step, checkpoint.parameters.len()), (12, 1));
        assert_eq!(checkpoint.spec, other().experiment());
    }

    #[test]
    fn files_of_the_first_release_are_still_read() {
        // What they held: the seed, the model, eight numbers of the optimizer and the batch.
        let spec = Link::default().experiment();
        let optimizer = spec.optimizer;
        let rates = (optimizer.learning_rate, optimizer.warmup_steps, optimizer.decay_steps);
        let rest = (optimizer.weight_decay, optimizer.beta1, optimizer.beta2);
        let ends = (optimizer.epsilon, optimizer.clip_norm);
        let gpt = spec.gpt;
        let form = gpt.architecture;
        let layout = (form.positions, form.mask, form.band, form.norm);
        let parts = (form.residual, form.attention, form.scaled, form.feed_forward);
        let sizes = (gpt.layers, gpt.heads, gpt.width, gpt.context);
        let gpt = (sizes, gpt.dropout, gpt.tied, layout, parts);
        let old = Packed::of(&(spec.seed, gpt, (rates, rest, ends), spec.batch));
        assert_eq!(old, Packed::of(&SavedSpec::from(spec)));
        let read: SavedSpec = old.unpack().unwrap();
        assert_eq!(read.with(&Link::default()), spec);
        // Their queries say nothing of tokens.
        assert_eq!(spec.tokens, Tokens::Characters);
    }

    #[test]
    fn heads_of_earlier_versions_have_less_in_them() {
        let read = |version: u8, head: Vec<u8>| {
            let bytes = [MAGIC.as_slice(), &[version], &head].concat();
            Reader::new(|range| bytes[range].to_vec(), bytes.len()).unwrap().head()
        };
        let Head { step, loss, text, model, parameters, losses, query, .. } = head();
        let second = Head { text_sum: None, at: None, ..head() };
        let first = Head { losses: Vec::new(), query: String::new(), ..second.clone() };
        let written = (step, loss, text, model, parameters);
        assert_eq!(read(1, record(&written)), Ok(first));
        let (step, loss, text, model, parameters) = written;
        let written = (step, loss, text, model, parameters, losses, query);
        assert_eq!(read(2, record(&written)), Ok(second));
        assert_eq!(read(3, record(&written)), Err(Damaged), "this one has all");
        assert_eq!(read(3, record(&head())), Ok(head()));
    }

    #[test]
    fn a_list_reads_few_losses_from_the_first_to_the_last() {
        let losses: Vec<f32> = (0..1000u16).map(f32::from).collect();
        let few = thinned(&losses);
        assert_eq!((few.len(), few[0], few[LOSSES - 1]), (LOSSES, 0.0, 999.0));
        assert!(few.is_sorted());
        assert_eq!(thinned(&losses[..3]), [0.0, 1.0, 2.0]);
        assert_eq!(short(&"x".repeat(LONGEST_QUERY + 1)), "");
    }

    #[test]
    fn a_damaged_file_is_known_for_what_it_is() {
        let whole = whole();
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]).err(), Some(Damaged), "cut off at {end}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            assert_eq!(read(&changed).err(), Some(Damaged), "changed at {at}");
        }
        let long = [beginning(), u32::MAX.to_le_bytes().to_vec(), vec![0; 40]].concat();
        assert_eq!(read(&long).err(), Some(Damaged));
        let many = [beginning(), record(&Head { parameters: u32::MAX, ..head() })].concat();
        assert_eq!(read(&many).err(), Some(Damaged));
        assert_eq!(read(b"GIF89a, or any other file").err(), Some(Damaged));
        let later = [MAGIC.as_slice(), &[VERSION + 1], &whole[MAGIC.len() + 1..]].concat();
        assert_eq!(read(&later).err(), Some(Damaged), "of a later release");
    }
}
