//! What a URL of the page can express, as one declarative table.
//!
//! `?chapter=gpt&seed=7&layers=2...#...`: every row of [`settings`] is a query parameter, a form
//! control and a line of documentation at once. What the learner wrote or drew goes into the
//! fragment, which browsers do not send to servers.

mod fragment;
pub(crate) mod rows;
mod table;

pub use fragment::{FRAGMENT_LIMIT, FragmentError, Written};
pub(crate) use table::TableRow;
pub use table::{Kind, MOST_STEPS, Setting, Value, Words, general_words, settings, words};

use core::fmt;

use crate::{ExperimentSpec, Recorded, StudySpec, gpt, start, study};
use rows::choice;

/// Generates [`Chapter`], [`Link`] and their per-chapter parts from the list of chapters.
macro_rules! link {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        choice! {
            /// A chapter of the course, in its order.
            Chapter {
                Start = "start", "The math to start with";
                $($variant = $id, $title;)+
                Machine = "machine", "The whole machine";
                Decode = "decode", "Choosing the next token";
                Gpt = "gpt", "The GPT lab";
            }
        }

        /// Everything a URL of the page can express.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Link {
            pub chapter: Chapter,
            pub seed: u32,
            pub device: DeviceChoice,
            pub adapter: Adapter,
            /// Megabytes that a run's moments may take up, see [`crate::Command::Budget`].
            pub moments: u32,
            pub corpus: Corpus,
            /// The story beat in focus; 0 is the first.
            pub idea: u32,
            /// The chapter's view on the stage; empty means the first.
            pub view: String,
            pub autostart: bool,
            /// How many steps the first model trains by itself.
            pub step: u32,
            /// What a second run beside this one has otherwise: see [`Self::with_twin`]. Empty without one.
            pub twin: String,
            pub embed: bool,
            pub hide: Vec<Part>,
            pub theme: Theme,
            pub start: start::Settings,
            pub gpt: gpt::Settings,
            /// Heads of the lab's model that are switched off.
            pub off: Vec<study::heads::HeadAt>,
            pub machine: gpt::MachineSettings,
            pub decode: gpt::DecodeSettings,
            $(pub $field: study::$module::Settings,)+
            /// From the fragment.
            pub written: Written,
        }

        impl Default for Link {
            fn default() -> Self {
                Self {
                    chapter: Chapter::Gpt,
                    seed: 1,
                    device: DeviceChoice::Auto,
                    adapter: Adapter::Hardware,
                    moments: Recorded::BUDGET,
                    corpus: Corpus::Tales,
                    idea: 0,
                    view: String::new(),
                    autostart: false,
                    step: 0,
                    twin: String::new(),
                    embed: false,
                    hide: Vec::new(),
                    theme: Theme::Auto,
                    start: start::Settings::default(),
                    gpt: gpt::Settings::default(),
                    off: Vec::new(),
                    machine: gpt::MachineSettings::default(),
                    decode: gpt::DecodeSettings::default(),
                    $($field: study::$module::Settings::default(),)+
                    written: Written::default(),
                }
            }
        }

        impl Link {
            /// What the chapter trains; `None` where it has no model, or the GPT lab's, whose experiment
            /// is [`Self::experiment`].
            pub fn study(&self) -> Option<StudySpec> {
                Some(match self.chapter {
                    $(Chapter::$variant => StudySpec::$variant(self.$field.spec(self.seed)),)+
                    Chapter::Start | Chapter::Machine | Chapter::Decode | Chapter::Gpt => {
                        return None;
                    },
                })
            }
        }
    };
}

crate::with_chapters!(link);

impl Chapter {
    /// Whether it is about a model, its own or the lab's: only then something can be trained.
    pub fn has_model(self) -> bool {
        self != Self::Start
    }

    /// Whether it is about the GPT lab's model, rather than models of its own.
    pub fn shows_lab(self) -> bool {
        matches!(self, Self::Machine | Self::Decode | Self::Gpt)
    }

    /// Whether a setting of `owner`, or of all chapters, changes what this one shows.
    fn follows(self, owner: Option<Self>) -> bool {
        owner.is_none_or(|owner| owner == self || (owner == Self::Gpt && self.shows_lab()))
    }
}

choice! {
    /// Where the training text comes from.
    Corpus {
        Tales = "tales", "Tales";
        Names = "names", "Names";
        Brackets = "brackets", "Brackets";
        /// The text that the learner pasted, dropped or opened.
        Own = "own", "Your text";
    }
}

choice! {
    /// The device to compute on.
    DeviceChoice {
        /// The GPU if there is a real one, else the CPU.
        Auto = "auto", "Automatic";
        Cpu = "cpu", "CPU";
        WebGpu = "webgpu", "GPU (WebGPU)";
    }
}

choice! {
    /// Which adapters count as a GPU.
    Adapter {
        Hardware = "hardware", "Hardware only";
        /// Software adapters too, for tests: they are slower than the CPU engine.
        Software = "software", "Software too (tests)";
    }
}

choice! {
    /// The page's color theme.
    Theme {
        Auto = "auto", "System colors";
        Light = "light", "Light colors";
        Dark = "dark", "Dark colors";
    }
}

choice! {
    /// Parts of an embedded figure that can be hidden.
    Part {
        Controls = "controls", "Controls";
        Text = "text", "Text";
        Loss = "loss", "Loss curve";
        Sample = "sample", "Written text";
    }
}

/// A part of a URL that was not understood and keeps its default.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkProblem {
    UnknownName { name: String },
    BadValue { name: &'static str, given: String, expected: String },
    Fragment(FragmentError),
}

impl fmt::Display for LinkProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |s: &str| -> String {
            let cut: String = s.chars().take(40).collect();
            if cut.len() < s.len() { cut + "…" } else { cut }
        };
        match self {
            Self::UnknownName { name } => {
                write!(f, "The link says “{}”, which this page does not know.", short(name))
            }
            Self::BadValue { name, given, expected } => write!(
                f,
                "The link says {name}=“{}”, but {name} is {expected}; the default is used.",
                short(given)
            ),
            Self::Fragment(error) => error.fmt(f),
        }
    }
}

impl Link {
    /// Parses the decoded query parameters and the fragment (without `#`) of a URL. Whatever is not
    /// understood keeps its default and is reported.
    pub fn parse<'a>(
        query: impl IntoIterator<Item = (&'a str, &'a str)>,
        fragment: &str,
    ) -> (Self, Vec<LinkProblem>) {
        let (mut link, mut problems) = Self::parse_query(query);
        problems.extend(link.take_written(Written::decode(fragment)).err());
        (link, problems)
    }

    /// Applies the contents of a fragment, or reports its problem.
    pub fn take_written(
        &mut self,
        written: Result<Written, FragmentError>,
    ) -> Result<(), LinkProblem> {
        let written = written.map_err(LinkProblem::Fragment)?;
        self.mask.drawn = written.mask.clone();
        self.written = written;
        Ok(())
    }

    /// Like [`Self::parse`], for the query alone.
    pub fn parse_query<'a>(
        query: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<LinkProblem>) {
        let mut link = Self::default();
        let mut problems = Vec::new();
        for (name, given) in query {
            let Some(setting) = settings().find(|s| s.name == name) else {
                problems.push(LinkProblem::UnknownName { name: name.to_owned() });
                continue;
            };
            match setting.kind.parse(given) {
                Some(value) => (setting.set)(&mut link, value),
                None => problems.push(LinkProblem::BadValue {
                    name: setting.name,
                    given: given.to_owned(),
                    expected: setting.kind.to_string(),
                }),
            }
        }
        (link, problems)
    }

    /// The query (without `?`) with all settings that differ from their defaults and that change what
    /// the chapter shows. It needs no escaping.
    pub fn query(&self) -> String {
        self.query_beside(&Self::default())
    }

    /// Like [`Self::query`], for a reader of the link that takes `usual` for what the query leaves
    /// out: the stage as the beat in focus sets it.
    pub fn query_beside(&self, usual: &Self) -> String {
        let default = Self::default();
        let mut query = format!("chapter={}", self.chapter.id());
        for setting in settings().filter(|s| s.name != "chapter" && self.chapter.follows(s.of)) {
            let value = (setting.get)(self);
            // The beat is what determines `usual`.
            let usual = if setting.name == "idea" { &default } else { usual };
            if value != (setting.get)(usual) {
                query += &format!("&{}={value}", setting.name);
            }
        }
        query
    }

    /// This link with the experiment of `other`.
    pub fn with_experiment_of(self, other: &Self) -> Self {
        let gpt::Settings { temperature, top_k, top_p, min_p, layer, head, .. } = self.gpt;
        Self {
            seed: other.seed,
            gpt: gpt::Settings { temperature, top_k, top_p, min_p, layer, head, ..other.gpt },
            ..self
        }
    }

    /// This link with everything that belongs to its chapter alone taken from `other`.
    pub fn with_chapter_of(mut self, other: &Self) -> Self {
        let chapter = Some(self.chapter);
        for setting in settings().filter(|s| s.of == chapter) {
            (setting.set)(&mut self, (setting.get)(other));
        }
        // Drawn masks are too large for a row of the table.
        if self.chapter == Chapter::Mask {
            self.mask.drawn = other.mask.drawn.clone();
        }
        self
    }

    /// Whether an embedded figure goes without this part.
    pub fn hides(&self, part: Part) -> bool {
        self.embed && self.hide.contains(&part)
    }

    /// The experiment of the GPT lab that this link describes.
    pub fn experiment(&self) -> ExperimentSpec {
        self.gpt.spec(self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queries in today's links must keep their meaning.
    #[test]
    fn links_of_earlier_releases_are_read() {
        let queries = [
            "chapter=gpt&seed=7&layers=1&heads=2&width=32&context=32&batch=4&workers=2",
            "chapter=gpt&off=1.2,2.16&view=heads",
            "chapter=gpt&corpus=names&lr=0.003&temperature=0&topk=5&layer=2&head=3&autostart=1",
            "chapter=rnn&idea=4&rnn-columns=8&rnn-matrix=u",
            "chapter=bptt&bptt-gap=20&bptt-rescale=1&bptt-radius=1.5&theme=dark",
            "chapter=gates&gates-cell=gru&gates-task=quotes&gates-forced=z:7:0",
            "chapter=norm&norm-experiment=time&norm-time=3",
            "chapter=alignment&alignment-task=dates&alignment-beside=none&alignment-at=2",
            "chapter=qkv&qkv-experiment=scale&qkv-dimensions=256",
            "chapter=heads&heads-layers=2&heads-off=1.4&embed=1&hide=controls,text",
            "chapter=position&position-encoding=rotary&position-k=7&device=cpu",
            "chapter=start&start-arrows=1,-2.5,0,4&start-steps=7",
        ];
        for query in queries {
            let pairs = || query.split('&').filter_map(|pair| pair.split_once('='));
            let (link, problems) = Link::parse_query(pairs());
            assert_eq!(problems, [], "{query}");
            let said = link.query();
            for (name, value) in pairs() {
                let setting = settings().find(|setting| setting.name == name).unwrap();
                let usual = (setting.get)(&Link::default()).to_string();
                assert!(
                    value == usual || said.contains(&format!("{name}={value}")),
                    "{query}: {said}"
                );
            }
        }
    }

    #[test]
    fn a_link_to_a_beat_says_only_what_differs_from_its_stage() {
        let mut stage = Link { chapter: Chapter::Rnn, idea: 4, ..Link::default() };
        stage.rnn.columns = 8;
        assert_eq!(stage.query_beside(&stage), "chapter=rnn&idea=4");
        let changed = Link { rnn: study::rnn::Settings::default(), ..stage.clone() };
        assert_eq!(changed.query_beside(&stage), "chapter=rnn&idea=4&rnn-columns=0");
        assert_eq!(stage.query(), "chapter=rnn&idea=4&rnn-columns=8");
    }
}
