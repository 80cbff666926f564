//! The built-in texts, all written or generated for this project (see `cargo xtask corpora`).

use unroll_protocol::link::Corpus;

/// A built-in text; `None` for the learner's own.
pub fn text(corpus: Corpus) -> Option<&'static str> {
    match corpus {
        Corpus::Tales => Some(include_str!("../../assets/corpora/tales.txt")),
        Corpus::Names => Some(include_str!("../../assets/corpora/names.txt")),
        Corpus::Brackets => Some(include_str!("../../assets/corpora/brackets.txt")),
        Corpus::Own => None,
    }
}

/// What the page calls it.
pub fn name(corpus: Corpus) -> &'static str {
    Corpus::CHOICES.iter().find(|choice| choice.0 == corpus.id()).map_or("", |choice| choice.1)
}

/// The probe sentence a text starts with: one that shows its structure.
pub fn probe(corpus: Corpus) -> &'static str {
    match corpus {
        Corpus::Tales => "said Fenn the fox, who had one",
        Corpus::Names => "silina\nfalveno\n",
        Corpus::Brackets => "nokq|nokq\n[bb(a)]\n",
        Corpus::Own => "",
    }
}

/// The probe for any text: the learner's own begins with its own first words.
pub fn probe_for(corpus: Corpus, text: &str) -> String {
    match corpus {
        Corpus::Own => text.trim_start().chars().take(OWN_PROBE_LENGTH).collect(),
        corpus => probe(corpus).to_owned(),
    }
}

/// Characters of the learner's own text that become the probe: few enough to read as tokens.
const OWN_PROBE_LENGTH: usize = 32;
