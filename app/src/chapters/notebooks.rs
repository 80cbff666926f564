//! Every notebook, filled by the engine with the numbers of a model in training.
//!
//! With UNROLL_NOTEBOOKS the files are written into that folder, where
//! tests/golden/check_notebooks.py runs them.

use std::{env, fs, path::Path};

use burn::tensor::Device;
use serde_json::Value;
use unroll_engine::session::{NoStudies, Session, Studies};
use unroll_model::AnyStudy;
use unroll_protocol::{Command, Event, Link, Packed, link::Chapter};

use crate::{
    chapters, corpora,
    course::{Notebook, Origin, compose, question_for},
    figures::Provenance,
};

/// Steps of training before a notebook is filled: the numbers are those of no beginning.
const STEPS: u32 = 3;

/// Makes [`NOTEBOOKS`] from the list of chapters: one without any does not compile.
macro_rules! notebooks {
    ($($variant:ident $module:ident $field:ident $id:literal $title:literal,)+) => {
        const NOTEBOOKS: &[(Chapter, &[&Notebook])] = &[
            $((Chapter::$variant, super::$module::NOTEBOOKS),)+
            (Chapter::Gpt, super::gpt::NOTEBOOKS),
        ];
    };
}

unroll_protocol::with_chapters!(notebooks);

/// An engine without a browser.
struct Engine<S: Studies> {
    session: Session<S>,
    events: Vec<Event>,
}

impl<S: Studies> Engine<S> {
    /// Builds what the link describes and trains it for a few steps.
    fn trained(link: &Link, text: &str) -> Self {
        let mut engine = Self { session: Session::new(Device::flex(), || 0.0), events: Vec::new() };
        let text = text.to_owned();
        engine.handle(match link.study() {
            Some(spec) => Command::StartStudy { spec: Packed::of(&spec), text, resume: None },
            None => Command::Start { spec: link.experiment(), text, resume: None, workers: 1 },
        });
        engine.handle(Command::Steps(STEPS));
        while engine.session.has_work() {
            pollster::block_on(engine.session.advance(&mut |event| engine.events.push(event)));
        }
        engine
    }

    fn handle(&mut self, command: Command) {
        pollster::block_on(self.session.handle(command, &mut |event| self.events.push(event)));
        if let Some(Event::Refused { reason, .. }) = self.events.last() {
            panic!("{reason}");
        }
    }

    fn ask(&mut self, question: Packed) -> (u32, Packed) {
        self.handle(Command::Ask { id: 1, question, at: None, off: Vec::new() });
        match self.events.pop() {
            Some(Event::Answered { step, answer, .. }) => (step, answer),
            other => panic!("{other:?}"),
        }
    }
}

/// The notebook's file, for a link and a sentence.
fn filled<S: Studies>(link: &Link, notebook: &Notebook, text: &str, sentence: &str) -> String {
    let mut engine = Engine::<S>::trained(link, text);
    let question = (notebook.asks)(link, sentence).unwrap();
    let (step, said) = engine.ask(question_for(notebook, link, question));
    assert_eq!(step, STEPS);
    let provenance = Provenance { device: "a test".to_owned(), ..Provenance::default() };
    let chapter = chapters::info(link.chapter).title();
    let origin = Origin { chapter, step, address: String::new(), provenance };
    compose(notebook, &said, &origin).unwrap()
}

/// What stands in the notebook's cells of code.
fn code(file: &str) -> String {
    let notebook: Value = serde_json::from_str(file).unwrap();
    let cells = notebook["cells"].as_array().unwrap().iter();
    let code = cells.filter(|cell| cell["cell_type"] == "code");
    code.map(|cell| cell["source"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_chapter_has_a_notebook_of_its_live_numbers() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/corpora");
    let folder = env::var_os("UNROLL_NOTEBOOKS");
    for &(chapter, notebooks) in NOTEBOOKS {
        assert!(!notebooks.is_empty(), "{chapter:?}");
        let link = Link { chapter, ..Link::default() };
        let text = fs::read_to_string(corpora.join(format!("{}.txt", link.corpus.id()))).unwrap();
        let sentence = corpora::probe(link.corpus);
        for notebook in notebooks {
            let file = match link.study() {
                Some(_) => filled::<AnyStudy>(&link, notebook, &text, sentence),
                None => filled::<NoStudies>(&link, notebook, &text, sentence),
            };
            let code = code(&file);
            for made_up in ["randn", "randint", "manual_seed"] {
                assert!(!code.contains(made_up), "{chapter:?}, {}: {made_up}", notebook.title);
            }
            assert!(code.contains("assert"), "{chapter:?}, {}", notebook.title);
            if let Some(folder) = &folder {
                let name = format!("{}-{}.ipynb", chapter.id(), notebook.title.replace(' ', "-"));
                fs::write(Path::new(folder).join(name), file).unwrap();
            }
        }
    }
}
