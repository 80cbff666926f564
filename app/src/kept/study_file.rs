//! A chapter's models as a file: what is written, and what is read.
//!
//! The tensors are called `<model>.<path in the model>`, as the chapter's study names them; the running
//! means of their optimizers have the same names behind a prefix, as in the lab's files.

use core::ops::Range;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use unroll_model_file::{OPTIMIZER_PREFIXES, header, to_bytes};
use unroll_protocol::{Array, Link, StudyCheckpoint, checkpoint::SavedParameter, link::Chapter};

use super::incoming::{About, Need, Refusal, metadata, readable};

/// The models of no chapter have as many numbers, with what their optimizers keep.
const MOST_NUMBERS: usize = 16 << 20;

/// The whole file in pieces. `link` has the chapter's settings, `text` is the name of what was learned.
pub fn written(
    checkpoint: &StudyCheckpoint,
    link: &Link,
    text: &str,
    with_optimizer: bool,
) -> Vec<Vec<u8>> {
    let StudyCheckpoint { step, vocabulary, parameters, .. } = checkpoint;
    // What no optimizer moves has no means.
    let parts = |which: usize| {
        parameters.iter().filter_map(move |saved| {
            let part = [&saved.value.values, &saved.first_moment, &saved.second_moment][which];
            (which == 0 || !part.is_empty()).then_some((saved, part))
        })
    };
    let prefixes = [(0, ""), (1, OPTIMIZER_PREFIXES[0]), (2, OPTIMIZER_PREFIXES[1])];
    let prefixes = &prefixes[..if with_optimizer { 3 } else { 1 }];
    let tensors = prefixes.iter().flat_map(|&(which, prefix)| {
        parts(which).map(move |(saved, _)| {
            let shape = saved.value.shape.iter().map(|&size| size as usize);
            (format!("{prefix}{}", saved.name), shape.collect())
        })
    });
    let unroll = json!({
        "chapter": link.chapter.id(),
        "settings": link.query(),
        "step": step,
        "text": text,
    });
    let about = [("unroll", unroll.to_string()), ("vocabulary", json!(vocabulary).to_string())];
    let bodies =
        prefixes.iter().flat_map(|&(which, _)| parts(which).map(|(_, part)| to_bytes(part)));
    [header(about, tensors)].into_iter().chain(bodies).collect()
}

/// A file of a chapter's models that is being read.
#[derive(Debug)]
pub struct Reading {
    /// The settings that the models were built with.
    pub link: Link,
    /// The text that they learned.
    pub text: String,
    needs: Vec<Need>,
    checkpoint: StudyCheckpoint,
}

impl Reading {
    /// Understands the head of a file of so many bytes; `None` if it is not one of a chapter's models.
    /// `settings` reads the settings of a link.
    pub fn new(
        head: &[u8],
        file: u64,
        settings: impl Fn(&str) -> Link,
    ) -> Result<Option<Self>, Refusal> {
        let (metadata, begins) = metadata(head, file)?;
        let About { unroll, vocabulary, .. } = About::new(&metadata);
        let said = |name: &str| unroll.as_ref()?.get(name);
        let Some(id) = said("chapter").and_then(Value::as_str) else { return Ok(None) };
        let chapter = Chapter::ALL.iter().copied().find(|chapter| chapter.id() == id);
        let chapter = chapter.ok_or_else(|| Refusal::Chapter(id.to_owned()))?;
        let query = said("settings").and_then(Value::as_str).unwrap_or_default();
        let link = Link { chapter, ..settings(query) };
        if link.study().is_none() {
            return Err(Refusal::Chapter(id.to_owned()));
        }
        let step = said("step").and_then(Value::as_u64).unwrap_or_default();
        let text = said("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        let vocabulary = vocabulary.and_then(|tokens| serde_json::from_value(tokens).ok());
        let all = metadata.tensors();
        let numbers: usize = all.values().map(|info| info.shape.iter().product::<usize>()).sum();
        if numbers > MOST_NUMBERS {
            return Err(Refusal::TooManyNumbers);
        }
        let mut parameters = BTreeMap::new();
        for (name, info) in &all {
            readable(name, info)?;
            let (which, bare) = match OPTIMIZER_PREFIXES.map(|prefix| name.strip_prefix(prefix)) {
                [Some(bare), _] => (1, bare),
                [_, Some(bare)] => (2, bare),
                _ => (0, &**name),
            };
            let parts: &mut [Option<_>; 3] = parameters.entry(bare).or_default();
            parts[which] = Some(info);
        }
        let mut needs = Vec::new();
        let mut saved = Vec::new();
        for (name, parts) in parameters {
            let Some(info) = parts[0] else {
                return Err(Refusal::Missing(vec![name.to_owned()]));
            };
            for (which, part) in parts.iter().enumerate() {
                needs.extend(part.map(|info| Need::new(info, begins, saved.len(), which)));
            }
            let shape = info.shape.iter().map(|&size| size as u32).collect();
            saved.push(SavedParameter {
                name: name.to_owned(),
                value: Array { shape, values: Vec::new() },
                first_moment: Vec::new(),
                second_moment: Vec::new(),
            });
        }
        let checkpoint = StudyCheckpoint {
            step: u32::try_from(step).unwrap_or(u32::MAX),
            vocabulary: vocabulary.unwrap_or_default(),
            parameters: saved,
            measured: Vec::new(),
            past: Vec::new(),
        };
        Ok(Some(Self { link, text, needs, checkpoint }))
    }

    /// What has to be read, as ranges of the file's bytes.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        Need::ranges(&self.needs)
    }

    /// Takes the bytes of the range with this number.
    pub fn take(&mut self, number: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let need = &self.needs[number];
        *need.of(&mut self.checkpoint.parameters[need.place]) = need.numbers(bytes)?;
        Ok(())
    }

    /// The models, once all ranges were taken. Whether they fit is for the engine to say.
    pub fn checkpoint(&self) -> &StudyCheckpoint {
        &self.checkpoint
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use unroll_model::AnyStudy;

    use super::{super::incoming::PREAMBLE, *};

    const DOCS: &str = include_str!("../../../docs/model-files.md");
    const TEXT: &str = "the cat sat on the mat, the dog lay by the door, and the owl flew off";

    fn settings(query: &str) -> Link {
        let pairs: Vec<_> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        Link::parse_query(pairs).0
    }

    fn trained(link: &Link) -> AnyStudy {
        let spec = link.study().expect("a chapter with models");
        let mut study = AnyStudy::new(&spec, TEXT, &Device::flex()).unwrap();
        while study.step() < 2 {
            pollster::block_on(study.advance());
        }
        study
    }

    /// The file as the page reads it.
    fn read(file: &[u8]) -> Result<Option<Reading>, Refusal> {
        let head = super::super::incoming::head_length(&file[..8], file.len() as u64)? as usize;
        let begins = PREAMBLE as usize;
        let head = &file[begins..begins + head];
        let Some(mut reading) = Reading::new(head, file.len() as u64, settings)? else {
            return Ok(None);
        };
        for (number, range) in reading.ranges().into_iter().enumerate() {
            reading.take(number, &file[range.start as usize..range.end as usize])?;
        }
        Ok(Some(reading))
    }

    #[test]
    fn every_chapters_models_survive_the_trip() {
        for &chapter in Chapter::ALL {
            let link = Link { chapter, seed: 7, ..Link::default() };
            if link.study().is_none() {
                continue;
            }
            let mut study = trained(&link);
            let saved = pollster::block_on(study.saved()).unwrap();
            let row = format!("| `{}` |", chapter.id());
            let row = DOCS.lines().find(|line| line.starts_with(&row)).expect("a row in the docs");
            for saved in &saved.parameters {
                let model = saved.name.split('.').next().unwrap_or_default();
                assert!(row.contains(&format!("`{model}`")), "{row}: {model}");
            }
            for with_optimizer in [true, false] {
                let file = written(&saved, &link, "my text", with_optimizer).concat();
                let reading = read(&file).unwrap().expect("a chapter's");
                assert_eq!(reading.text, "my text");
                assert_eq!(reading.link.study(), link.study(), "{chapter:?}");
                let mut again =
                    AnyStudy::new(&link.study().unwrap(), TEXT, &Device::flex()).unwrap();
                again.restore(reading.checkpoint()).unwrap_or_else(|r| panic!("{chapter:?}: {r}"));
                let back = pollster::block_on(again.saved()).unwrap();
                assert_eq!(back.step, 2);
                if with_optimizer {
                    // What was measured is no part of a model file.
                    let back = StudyCheckpoint { measured: saved.measured.clone(), ..back.clone() };
                    assert_eq!(back, saved, "{chapter:?}");
                }
                for (back, saved) in back.parameters.iter().zip(&saved.parameters) {
                    assert_eq!((&back.name, &back.value), (&saved.name, &saved.value));
                }
            }
        }
    }

    #[test]
    fn what_is_no_chapters_file_is_told_apart() {
        let link = Link { chapter: Chapter::Rnn, ..Link::default() };
        let saved = pollster::block_on(trained(&link).saved()).unwrap();
        let whole = written(&saved, &link, "", true).concat();
        let short = &whole[..whole.len() - 1];
        assert_eq!(read(short).unwrap_err(), Refusal::Truncated);
        let other = |from: &str, to: &str| {
            let head = String::from_utf8_lossy(&whole[8..]).find(from).unwrap() + 8;
            let mut file = whole.clone();
            file[head..head + to.len()].copy_from_slice(to.as_bytes());
            read(&file)
        };
        let id = "\\\"chapter\\\":\\\"";
        let unknown = other(&format!("{id}rnn"), &format!("{id}rmm")).unwrap_err();
        assert_eq!(unknown, Refusal::Chapter("rmm".to_owned()));
        // The lab's own models have files of their own.
        let labs = other(&format!("{id}rnn"), &format!("{id}gpt")).unwrap_err();
        assert_eq!(labs, Refusal::Chapter("gpt".to_owned()));
        assert!(other("chapter", "chopper").unwrap().is_none());
    }
}
