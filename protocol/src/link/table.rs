//! The table of settings.

use core::fmt;

use super::{
    Adapter, Chapter, Corpus, DeviceChoice, Link, Part, Theme,
    rows::{chosen, plain},
};
use crate::{
    Initialization, OptimizerKind, TokenKind,
    architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    gpt,
    pool::MOST_WORKERS,
    read_number,
    spec::{Limits, MERGES},
    start,
    study::{self, gates, heads},
};

/// A row of the table as it is written in the source. It becomes a [`Setting`] and its [`Words`]:
/// the page needs every chapter's settings at once to parse a URL, but words only where it shows
/// the setting's control.
#[derive(Clone, Copy)]
pub(crate) struct TableRow {
    pub name: &'static str,
    pub label: &'static str,
    pub help: &'static str,
    pub of: Option<Chapter>,
    pub kind: Kind,
    pub get: fn(&Link) -> Value,
    pub set: fn(&mut Link, Value),
}

/// What the page says about a setting.
#[derive(Clone, Copy)]
pub struct Words {
    /// The setting's name in the query.
    pub name: &'static str,
    /// The label of its control.
    pub label: &'static str,
    /// What it does, for the control's hint and the documentation.
    pub help: &'static str,
}

/// One setting of a link.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Name in the query.
    pub name: &'static str,
    /// The only chapter it belongs to; `None` if it concerns several.
    pub of: Option<Chapter>,
    pub kind: Kind,
    pub get: fn(&Link) -> Value,
    /// Accepts only values returned by [`Kind::parse`].
    pub set: fn(&mut Link, Value),
}

impl Setting {
    /// The values of it that an engine with these limits takes.
    pub fn kind_within(&self, limits: &Limits) -> Kind {
        let most = match self.name {
            "layers" | "layer" => limits.layers,
            "heads" | "head" => limits.heads,
            "width" => limits.width,
            "context" | "band" => limits.context,
            _ => u32::MAX,
        };
        match self.kind {
            Kind::Whole { min, max } => Kind::Whole { min, max: max.min(most) },
            kind => kind,
        }
    }
}

/// The values a setting takes. `Display` completes "… is".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Whole {
        min: u32,
        max: u32,
    },
    Real {
        min: f32,
        max: f32,
    },
    /// So many numbers, separated by commas.
    Numbers {
        count: usize,
        min: f32,
        max: f32,
    },
    Choice(&'static [(&'static str, &'static str)]),
    /// Any number of the choices, separated by commas.
    Several(&'static [(&'static str, &'static str)]),
    Flag,
    /// Gates of the chapter `gates` that are held, separated by commas.
    Forced {
        most: usize,
    },
    /// Heads by layer and number, separated by commas.
    Heads,
    /// A name that only the current chapter can interpret.
    Word,
    /// What a twin has otherwise.
    Changes,
}

/// A setting's value. `Display` is its form in a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Whole(u32),
    Real(f32),
    Numbers(Vec<f32>),
    Choice(&'static str),
    Several(Vec<&'static str>),
    Flag(bool),
    Forced(Vec<gates::Forced>),
    Heads(Vec<heads::HeadAt>),
    Word(String),
}

/// The longest training that a link may ask for.
pub const MOST_STEPS: u32 = 100_000;
/// Length of the longest [`Value::Word`] that is a name.
const LONGEST_WORD: usize = 24;
/// Length of the longest one that says what a twin has otherwise.
const MOST_CHANGES: usize = 400;

impl Kind {
    /// Parses a value; `None` if it is of another kind or out of range.
    pub fn parse(self, given: &str) -> Option<Value> {
        let chosen = |choices: &'static [(&'static str, &'static str)], id: &str| {
            choices.iter().find(|c| c.0 == id).map(|c| c.0)
        };
        let real = |given: &str, min: f32, max: f32| {
            let value = read_number(given.trim())? as f32;
            (min..=max).contains(&value).then_some(value)
        };
        match self {
            Self::Whole { min, max } => {
                let value = given.trim().parse().ok()?;
                (min..=max).contains(&value).then_some(Value::Whole(value))
            }
            Self::Real { min, max } => real(given, min, max).map(Value::Real),
            Self::Numbers { count, min, max } => {
                let numbers = given.split(',').map(|given| real(given, min, max));
                let numbers: Vec<_> = numbers.collect::<Option<_>>()?;
                (numbers.len() == count).then_some(Value::Numbers(numbers))
            }
            Self::Choice(choices) => chosen(choices, given).map(Value::Choice),
            Self::Several(choices) => {
                let ids = given.split(',').filter(|id| !id.is_empty());
                ids.map(|id| chosen(choices, id)).collect::<Option<_>>().map(Value::Several)
            }
            Self::Flag => match given {
                "1" => Some(Value::Flag(true)),
                "0" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Forced { most } => {
                let given = given.split(',').filter(|gate| !gate.is_empty());
                let forced: Vec<_> = given.map(gates::Forced::parse).collect::<Option<_>>()?;
                (forced.len() <= most).then_some(Value::Forced(forced))
            }
            Self::Heads => {
                let given = given.split(',').filter(|head| !head.is_empty());
                given.map(heads::HeadAt::parse).collect::<Option<_>>().map(Value::Heads)
            }
            Self::Word | Self::Changes => {
                let (longest, signs) = match self {
                    Self::Word => (LONGEST_WORD, "-"),
                    _ => (MOST_CHANGES, "-:;,."),
                };
                let fits = given.len() <= longest
                    && given
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || signs.contains(c));
                fits.then(|| Value::Word(given.to_owned()))
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |choices: &[(&str, &str)]| choices.iter().map(|c| c.0).collect::<Vec<_>>().join(", ");
        match self {
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Real { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Numbers { count, min, max } => {
                write!(f, "{count} numbers from {min} to {max}, separated by commas")
            }
            Self::Choice(choices) => write!(f, "one of {}", list(choices)),
            Self::Several(choices) => write!(f, "any of {}, separated by commas", list(choices)),
            Self::Flag => write!(f, "0 or 1"),
            Self::Forced { most } => {
                write!(f, "up to {most} held gates such as f:7:0, separated by commas")
            }
            Self::Heads => write!(f, "heads such as 1.4 (layer 1, head 4), separated by commas"),
            Self::Word => write!(f, "the name of one of the chapter’s views"),
            Self::Changes => write!(f, "settings with their values, such as seed:2"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            // Rust prints the shortest digits that read back as the same f32.
            Self::Real(value) => value.fmt(f),
            Self::Numbers(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
                f.write_str(&numbers.join(","))
            }
            Self::Choice(id) => f.write_str(id),
            Self::Several(ids) => f.write_str(&ids.join(",")),
            Self::Flag(on) => f.write_str(if *on { "1" } else { "0" }),
            Self::Forced(forced) => {
                let gates: Vec<_> = forced.iter().map(ToString::to_string).collect();
                f.write_str(&gates.join(","))
            }
            Self::Heads(heads) => {
                let heads: Vec<_> = heads.iter().map(ToString::to_string).collect();
                f.write_str(&heads.join(","))
            }
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Builds the settings of rows at compile time.
macro_rules! settings {
    ($rows:expr) => {
        const {
            let mut settings = [$rows[0].setting(); $rows.len()];
            let mut i = 0;
            while i < settings.len() {
                settings[i] = $rows[i].setting();
                i += 1;
            }
            &{ settings }
        }
    };
}

/// Builds the words of rows, likewise.
macro_rules! words {
    ($rows:expr) => {
        const {
            let mut words = [$rows[0].words(); $rows.len()];
            let mut i = 0;
            while i < words.len() {
                words[i] = $rows[i].words();
                i += 1;
            }
            &{ words }
        }
    };
}

impl TableRow {
    const fn setting(&self) -> Setting {
        let Self { name, label: _, help: _, of, kind, get, set } = *self;
        Setting { name, of, kind, get, set }
    }

    const fn words(&self) -> Words {
        let Self { name, label, help, .. } = *self;
        Words { name, label, help }
    }
}

/// Generates the functions that iterate over the rows of all chapters, in the course's order.
macro_rules! of_chapters {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        /// Every setting, in the order of a link.
        pub fn settings() -> impl Iterator<Item = &'static Setting> + Clone {
            static GENERAL_SETTINGS: &[Setting] = settings!(GENERAL);
            static OF_CHAPTERS: &[&[Setting]] = &[$(settings!(study::$module::ROWS)),+];
            static FURTHER: [&[Setting]; 3] = [
                settings!(gpt::MACHINE_ROWS),
                settings!(gpt::DECODE_ROWS),
                settings!(start::ROWS),
            ];
            let chapters = OF_CHAPTERS.iter().chain(&FURTHER);
            GENERAL_SETTINGS.iter().chain(chapters.copied().flatten())
        }

        /// The words of every setting, in the order of [`settings`].
        pub fn words() -> impl Iterator<Item = &'static Words> + Clone {
            static OF_CHAPTERS: &[&[Words]] = &[$(words!(study::$module::ROWS)),+];
            static FURTHER: [&[Words]; 3] = [
                words!(gpt::MACHINE_ROWS),
                words!(gpt::DECODE_ROWS),
                words!(start::ROWS),
            ];
            general_words().chain(OF_CHAPTERS.iter().chain(&FURTHER).copied().flatten())
        }
    };
}

crate::with_chapters!(of_chapters);

/// The words of settings that belong to no single chapter of the course.
pub fn general_words() -> impl Iterator<Item = &'static Words> + Clone {
    static WORDS: &[Words] = words!(GENERAL);
    WORDS.iter()
}

/// Settings of the page as a whole, or of the GPT lab.
const GENERAL: &[TableRow] = &[
    chosen!("chapter", "Chapter", chapter: Chapter, "Which chapter is open."),
    chosen!("corpus", "Text", corpus: Corpus, "What the model learns to write."),
    chosen!(of Gpt, "tokens", "Tokens", gpt.tokens: TokenKind,
        "What the model reads and writes: single characters, the bytes they are stored as, or longer pieces \
         merged from byte pairs that are frequent in your text. With bytes or byte pairs nothing is unknown, \
         not even Chinese or emoji."),
    plain!(of Gpt, "merges", "Merges", gpt.merges: Whole, Kind::Whole { min: MERGES[0], max: MERGES[1] },
        "How many pairs are merged into tokens beyond the 256 bytes. More merges, longer pieces."),
    plain!(of Gpt, "layers", "Layers", gpt.layers: Whole, Kind::Whole { min: 1, max: Limits::NATIVE.layers },
        "Blocks stacked on each other. Each looks at what the one below found."),
    plain!(of Gpt, "heads", "Heads", gpt.heads: Whole, Kind::Whole { min: 1, max: Limits::NATIVE.heads },
        "Attention patterns in each layer. Must divide the width."),
    plain!(of Gpt, "width", "Width", gpt.width: Whole, Kind::Whole { min: 4, max: Limits::NATIVE.width },
        "Numbers that describe one token on its way through the layers."),
    plain!(of Gpt, "context", "Context", gpt.context: Whole, Kind::Whole { min: 4, max: Limits::NATIVE.context },
        "How many tokens the model can see at once."),
    plain!(of Gpt, "batch", "Batch", gpt.batch: Whole, Kind::Whole { min: 1, max: 64 },
        "Pieces of text whose gradients are averaged in one step."),
    plain!(of Gpt, "lr", "Learning rate", gpt.learning_rate: Real, Kind::Real { min: 1e-6, max: 1000.0 },
        "The peak of the learning rate, which scales every step. The rate rises to it over the warm-up, then \
         falls to a tenth of it by step 5000. If it is too small, the model learns slowly. If it is too \
         large, training breaks down. Can be changed while training."),
    plain!(of Gpt, "warmup", "Warm-up steps", gpt.warmup_steps: Whole, Kind::Whole { min: 0, max: 500 },
        "Steps over which the learning rate rises; 0 starts at the peak."),
    plain!(of Gpt, "decay", "Weight decay", gpt.weight_decay: Real, Kind::Real { min: 0.0, max: 1.0 },
        "Share of itself that each weight matrix loses in a step, times the learning rate; 0 is none."),
    plain!(of Gpt, "clip", "Clip norm", gpt.clip_norm: Real, Kind::Real { min: 0.0, max: 10.0 },
        "Largest length of the gradient; 0 switches clipping off."),
    chosen!(of Gpt, "optimizer", "Optimizer", gpt.optimizer: OptimizerKind,
        "The rule that turns gradients into steps. Each optimizer has its own best learning rate."),
    chosen!(of Gpt, "init", "First weights", gpt.initialization: Initialization,
        "How large the random weights are at the start. The random draws stay the same; only their scale changes."),
    plain!("seed", "Seed", seed: Whole, Kind::Whole { min: 0, max: u32::MAX },
        "Start of every random choice: the same seed gives the same run."),
    plain!(of Gpt, "dropout", "Dropout", gpt.dropout: Real, Kind::Real { min: 0.0, max: 0.9 },
        "Share of activations silenced at random while training."),
    plain!(of Gpt, "tied", "Tied head", gpt.tied: Flag, Kind::Flag,
        "Whether the output layer reuses the token embedding."),
    chosen!(of Gpt, "positions", "Positions", gpt.architecture.positions: Positions,
        "How the model is told where a token stands."),
    chosen!(of Gpt, "attends", "Attends", gpt.architecture.mask: MaskKind,
        "Who may look at whom. With “Both ways”, the model sees the very token that it should predict."),
    plain!(of Gpt, "band", "Band", gpt.architecture.band: Whole, Kind::Whole { min: 1, max: Limits::NATIVE.context },
        "In a local band: how many tokens each token sees, itself included."),
    chosen!(of Gpt, "norms", "Norms", gpt.architecture.norm: NormPlacement,
        "Before each layer, after it, or nowhere."),
    chosen!(of Gpt, "norm", "Kind of norm", gpt.architecture.norm_kind: NormKind,
        "LayerNorm subtracts each row’s mean and divides by its standard deviation. RMSNorm only divides, by \
         the row’s root mean square."),
    TableRow {
        name: "activation",
        label: "Activation",
        help: "The non-linearity of the feed-forward layers.",
        of: Some(Chapter::Gpt),
        kind: Kind::Choice(Activation::CHOICES),
        get: |link| {
            Value::Choice(link.gpt.architecture.feed_forward.unwrap_or(Activation::Gelu).id())
        },
        set: |link, value| {
            if let Value::Choice(id) = value {
                link.gpt.architecture.feed_forward = Activation::from_id(id);
            }
        },
    },
    plain!(of Gpt, "residual", "Residual connections", gpt.architecture.residual: Flag, Kind::Flag,
        "Whether what a layer computes is added to its input or replaces it."),
    plain!(of Gpt, "scaled", "Scaled scores", gpt.architecture.scaled: Flag, Kind::Flag,
        "Whether scores are divided by the square root of the head's width."),
    plain!(of Gpt, "temperature", "Temperature", gpt.temperature: Real, Kind::Real { min: 0.0, max: 10.0 },
        "How boldly the model writes: 0 always takes the likeliest character."),
    plain!(of Gpt, "topk", "Top k", gpt.top_k: Whole, Kind::Whole { min: 0, max: 512 },
        "Writes only with the k likeliest characters; 0 allows all."),
    plain!(of Gpt, "topp", "Top p", gpt.top_p: Real, Kind::Real { min: 0.0, max: 1.0 },
        "Writes only with the likeliest characters, as few as it takes for their shares to add up to at least this; 1 allows all."),
    plain!(of Gpt, "minp", "Min p", gpt.min_p: Real, Kind::Real { min: 0.0, max: 1.0 },
        "Writes only with characters whose share is at least this fraction of the largest share; 0 allows all."),
    plain!(of Gpt, "layer", "Layer shown", gpt.layer: Whole, Kind::Whole { min: 1, max: Limits::NATIVE.layers },
        "Layer of the large heatmap."),
    plain!(of Gpt, "head", "Head shown", gpt.head: Whole, Kind::Whole { min: 1, max: Limits::NATIVE.heads },
        "Head of the large heatmap."),
    TableRow {
        name: "off",
        label: "Heads switched off",
        help: "The layer and number of each head whose output counts as 0.",
        of: Some(Chapter::Gpt),
        kind: Kind::Heads,
        get: |link| Value::Heads(link.off.clone()),
        set: |link, value| {
            if let Value::Heads(off) = value {
                link.off = off;
            }
        },
    },
    chosen!("device", "Device", device: DeviceChoice, "What computes: the GPU or the CPU."),
    chosen!("adapter", "Adapter", adapter: Adapter,
        "For tests: lets WebGPU run on a software adapter."),
    plain!(of Gpt, "workers", "Workers", gpt.workers: Whole, Kind::Whole { min: 0, max: MOST_WORKERS },
        "How many workers share a step on the CPU. 0 lets the page choose. To repeat a run exactly, use the \
         same number."),
    plain!("moments", "Memory for moments", moments: Whole, Kind::Whole { min: 4, max: 1024 },
        "How many megabytes the recorded moments of a run may take up."),
    plain!("idea", "Section", idea: Whole, Kind::Whole { min: 0, max: 20 },
        "Which section of the story is in focus; 0 is the first. A link with nothing else shows it as it \
         sets the stage."),
    TableRow {
        name: "view",
        label: "View",
        help: "Which of the chapter’s views is on the stage; without it, the first.",
        of: None,
        kind: Kind::Word,
        get: |link| Value::Word(link.view.clone()),
        set: |link, value| {
            if let Value::Word(view) = value {
                link.view = view;
            }
        },
    },
    TableRow {
        name: "twin",
        label: "Twin",
        help: "Adds a second run beside this one that differs only in these settings, such as \
               “seed:2;layers:3”. “same” changes nothing yet.",
        of: None,
        kind: Kind::Changes,
        get: |link| Value::Word(link.twin.clone()),
        set: |link, value| {
            if let Value::Word(twin) = value {
                link.twin = twin;
            }
        },
    },
    plain!("autostart", "Start at once", autostart: Flag, Kind::Flag,
        "Starts training when the page opens."),
    plain!("step", "Trained to step", step: Whole, Kind::Whole { min: 0, max: MOST_STEPS },
        "Trains this many steps when the page opens, then pauses; with autostart, it trains on. On the CPU, \
         the same link leads to the same weights."),
    plain!("embed", "Embedded", embed: Flag, Kind::Flag,
        "Shows the figure alone, for an iframe in another page."),
    TableRow {
        name: "hide",
        label: "Hidden parts",
        help: "Parts an embedded figure leaves out.",
        of: None,
        kind: Kind::Several(Part::CHOICES),
        get: |link| Value::Several(link.hide.iter().map(|part| part.id()).collect()),
        set: |link, value| {
            if let Value::Several(ids) = value {
                link.hide = ids.iter().filter_map(|id| Part::from_id(id)).collect();
            }
        },
    },
    chosen!("theme", "Colors", theme: Theme, "Light or dark."),
];

#[cfg(test)]
mod tests {
    use super::super::{LinkProblem, Written};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        let default = Link::default();
        for setting in settings() {
            let value = (setting.get)(&default);
            assert_eq!(setting.kind.parse(&value.to_string()), Some(value), "{}", setting.name);
            assert_eq!(settings().filter(|s| s.name == setting.name).count(), 1);
        }
        assert_eq!(default.query(), "chapter=gpt");
    }

    /// The table as documentation.
    fn documented() -> String {
        let default = Link::default();
        let row = |(s, words): (&Setting, &Words)| {
            assert_eq!(s.name, words.name);
            let help = words.help.split_whitespace().collect::<Vec<_>>().join(" ");
            let default = (s.get)(&default).to_string();
            let default = if default.is_empty() { "none".to_owned() } else { default };
            let of = s.of.map_or("all", Chapter::id);
            format!("| `{}` | {of} | {} | {default} | {help} |\n", s.name, s.kind)
        };
        let rows: String = settings().zip(words()).map(row).collect();
        format!(
            "| name | chapter | values | default | what it does |\n|---|---|---|---|---|\n{rows}"
        )
    }

    /// `UNROLL_WRITE=1 cargo test -p unroll-protocol` rewrites the table, not what is around it.
    #[test]
    fn every_setting_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../SETTINGS.md");
        let now = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
        let (head, table) = now.split_once("| name |").expect("a table");
        let tail = table.find("\n## ").map_or("", |at| &table[at..]);
        let wanted = format!("{head}{}{tail}", documented());
        if std::env::var_os("UNROLL_WRITE").is_some() {
            std::fs::write(path, &wanted).expect("SETTINGS.md can be written");
        } else {
            assert!(now == wanted, "SETTINGS.md should hold this table:\n\n{}", documented());
        }
    }

    fn reparse(link: &Link) -> (Link, Vec<LinkProblem>) {
        let query = link.query();
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
        Link::parse(pairs, &link.written.encode().unwrap_or_default())
    }

    proptest! {
        #[test]
        fn a_link_reads_back_as_it_was(
            seed: u32, layers in 1u32..=48, lr in 1e-6f32..=1000.0, tied: bool, embed: bool,
            corpus in 0..Corpus::CHOICES.len(), parts in 0..Part::CHOICES.len(),
            probe in proptest::option::of(".{0,60}"),
            cells in proptest::collection::vec((0usize..32, 0usize..32, proptest::bool::ANY), 0..40),
        ) {
            let mut link = Link { seed, embed, ..Link::default() };
            (link.gpt.layers, link.gpt.learning_rate, link.gpt.tied) = (layers, lr, tied);
            link.corpus = Corpus::from_id(Corpus::CHOICES[corpus].0).unwrap();
            link.hide = Part::CHOICES[..parts].iter().filter_map(|c| Part::from_id(c.0)).collect();
            for (query, key, to) in cells {
                link.mask.drawn.set(&link.mask.pattern, 32, (query, key), to);
            }
            link.written = Written { probe, text: None, mask: link.mask.drawn.clone() };
            prop_assert_eq!(
                Link::default().with_experiment_of(&link).experiment(),
                link.experiment()
            );
            let same = link.clone().with_experiment_of(&Link::default());
            prop_assert_eq!(same.with_experiment_of(&link), link.clone());
            prop_assert_eq!(reparse(&link), (link, vec![]));
        }

        #[test]
        fn hostile_queries_never_panic(
            pairs in proptest::collection::vec((".{0,12}", ".{0,12}"), 0..6),
            known in 0..settings().count(), value in ".{0,20}", fragment in ".{0,80}",
        ) {
            let mut pairs: Vec<_> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            pairs.push((settings().nth(known).unwrap().name, &value));
            let (link, problems) = Link::parse(pairs, &fragment);
            for problem in problems {
                prop_assert!(problem.to_string().ends_with('.'));
            }
            prop_assert!(link.query().starts_with("chapter="));
        }
    }

    #[test]
    fn the_optimizers_settings_are_in_the_spec() {
        let defaults = Link::default().experiment().optimizer;
        assert_eq!(defaults, crate::OptimizerSpec::default(), "old links mean the same");
        let (link, problems) = Link::parse([("warmup", "0"), ("decay", "0"), ("clip", "2.5")], "");
        assert_eq!(problems, []);
        let spec = link.experiment().optimizer;
        assert_eq!((spec.warmup_steps, spec.weight_decay, spec.clip_norm), (0, 0.0, 2.5));
        for (name, value) in [
            ("warmup", "-1"),
            ("warmup", "501"),
            ("decay", "NaN"),
            ("decay", "-0.1"),
            ("decay", "1.5"),
            ("clip", "-1"),
            ("clip", "inf"),
            ("clip", "11"),
        ] {
            let (link, problems) = Link::parse([(name, value)], "");
            assert_eq!((link, problems.len()), (Link::default(), 1), "{name}={value}");
        }
    }

    #[test]
    fn memory_for_moments_is_no_matter_of_a_model() {
        for chapter in Chapter::ALL {
            let query = [("chapter", chapter.id()), ("moments", "16")];
            let (link, problems) = Link::parse(query, "");
            let usual = Link { chapter: *chapter, ..Link::default() };
            assert_eq!((link.moments, problems.as_slice()), (16, [].as_slice()));
            assert_eq!((link.study(), link.experiment()), (usual.study(), usual.experiment()));
            assert_eq!(link.query(), format!("chapter={}&moments=16", chapter.id()));
            // Neither undo nor a beat of the story takes it back.
            assert_eq!(link.clone().with_chapter_of(&usual), link);
        }
        for given in ["0", "3", "1025", "-4", "64.5"] {
            let (link, problems) = Link::parse([("moments", given)], "");
            assert_eq!((link, problems.len()), (Link::default(), 1), "{given}");
        }
    }

    #[test]
    fn what_is_not_understood_is_reported_and_left_at_its_default() {
        let query = [("layers", "99"), ("heads", "two"), ("speling", "1"), ("lr", "NaN")];
        let (link, problems) = Link::parse(query, "");
        assert_eq!(link, Link::default());
        let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 4);
        assert!(said[0].contains("a whole number from 1 to 48"), "{}", said[0]);
        assert!(said[2].contains("speling"));
    }
}
