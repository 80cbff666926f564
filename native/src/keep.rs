//! Runs that are too large for the page: this engine keeps their states itself, in model files.
//!
//! The page asks for a run's state every few seconds and keeps it in the browser. Of 200 million parameters that
//! is 2.4 GB with what the optimizer keeps.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unroll_model_file::Outgoing;
use unroll_protocol::{Checkpoint, ExperimentSpec, Limits, Link, Started, gpt::Settings};

/// So much training is lost at most when this process is killed.
const EVERY: Duration = Duration::from_secs(300);
/// Memory that the copies of a model, one for each thread, may take up together, unless the page asks for so many.
const COPIES: u64 = 4_000_000_000;
/// Bytes of a parameter in a copy: its value, its gradient and what AdamW keeps of it.
const EACH: u64 = 16;

/// Whether a tab could not train this model.
fn is_large(started: &Started) -> bool {
    let Started { spec, parameters, .. } = started;
    spec.validate(&Limits::TAB).is_err() || *parameters > Limits::TAB.parameters
}

/// How many of so many threads may share the steps of this model: each has a copy of it.
pub fn affordable(spec: &ExperimentSpec, threads: u32) -> u32 {
    // It is refused later.
    if spec.validate(&Limits::NATIVE).is_err() {
        return threads;
    }
    let copies = COPIES / (EACH * spec.gpt.parameter_count(0)).max(1);
    u32::try_from(copies).unwrap_or(u32::MAX).clamp(1, threads.max(1))
}

/// The file of the present run, if it is too large for the page.
pub struct Kept {
    folder: PathBuf,
    run: Option<Run>,
}

struct Run {
    file: PathBuf,
    /// The step of the state in the file; 0 before there is one.
    step: u32,
    at: Instant,
}

impl Kept {
    /// No run yet; files will be in `folder`.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, run: None }
    }

    /// Another model was built, or the present one is `same` and has other weights. Writes into the report
    /// where it is kept.
    pub fn began(&mut self, started: &mut Started, same: bool) {
        if !is_large(started) {
            self.run = None;
            return;
        }
        match &mut self.run {
            Some(run) if same => run.step = run.step.min(started.step),
            run => {
                let file = unused(&self.folder, &started.spec);
                *run = Some(Run { file, step: started.step, at: Instant::now() });
            }
        }
        started.kept = self.run.as_ref().map(|run| run.file.display().to_string());
    }

    /// Whether the run is one that is kept here.
    pub fn is_here(&self) -> bool {
        self.run.is_some()
    }

    /// How long it is until a run that is at `step` is to be written; `None` where there is nothing new.
    pub fn due_in(&self, step: u32) -> Option<Duration> {
        let run = self.run.as_ref().filter(|run| run.step != step)?;
        Some(EVERY.saturating_sub(run.at.elapsed()))
    }

    /// Writes the state, of a model that learns the text of that name. Returns a sentence.
    pub fn write(&mut self, checkpoint: &Checkpoint, text: &str) -> String {
        let Some(run) = &mut self.run else { return String::new() };
        let step = checkpoint.step;
        // What can't be written now is tried again later.
        (run.step, run.at) = (step, Instant::now());
        match write(&run.file, checkpoint, text) {
            Ok(()) => format!("Step {step} is kept in {}.", run.file.display()),
            Err(error) => format!(
                "Step {step} could not be kept in {} ({error}). Make room there, or end the engine and start \
                 it with --keep FOLDER.",
                run.file.display()
            ),
        }
    }
}

/// A file that is not there yet.
fn unused(folder: &Path, spec: &ExperimentSpec) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = |number| {
        let (layers, width) = (spec.gpt.layers, spec.gpt.width);
        folder.join(format!("gpt-{layers}-layers-width-{width}-run-{number}.safetensors"))
    };
    (1..=u32::MAX).map(name).find(|file| !file.exists()).unwrap_or_else(|| name(0))
}

/// The state before stays until this one is whole.
fn write(path: &Path, checkpoint: &Checkpoint, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let half = path.with_extension("part");
    let written = (|| {
        let mut file = BufWriter::new(File::create(&half)?);
        let gpt = Settings::default().with_spec(&checkpoint.spec);
        let link = Link { seed: checkpoint.spec.seed, gpt, ..Link::default() };
        let outgoing = Outgoing::new(checkpoint, true);
        file.write_all(&outgoing.header(&link, text))?;
        outgoing.into_bodies().try_for_each(|body| file.write_all(&body))?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&half, path)
    })();
    if written.is_err() {
        // It may be what fills the disk.
        let _ = fs::remove_file(&half);
    }
    written
}

#[cfg(test)]
mod tests {
    use unroll_protocol::GptSpec;

    use super::*;

    fn started(width: u32, context: u32) -> Started {
        let spec = Link::default().experiment();
        let gpt = GptSpec { layers: 1, heads: 4, width, context, ..spec.gpt };
        let spec = ExperimentSpec { gpt, ..spec };
        Started {
            spec,
            parameters: spec.gpt.parameter_count(65),
            vocabulary: Vec::new(),
            training_tokens: 0,
            held_out_tokens: 0,
            training_characters: 0,
            held_out_characters: 0,
            notes: Vec::new(),
            step: 0,
            workers: 1,
            kept: None,
        }
    }

    #[test]
    fn only_what_no_tab_could_train_is_kept_here() {
        let mut kept = Kept::new("runs".into());
        let mut small = started(64, 48);
        kept.began(&mut small, false);
        assert_eq!((small.kept, kept.is_here(), kept.due_in(9)), (None, false, None));
        for (width, context) in [(1024, 48), (16, 1024)] {
            let mut large = started(width, context);
            kept.began(&mut large, false);
            assert!(large.kept.is_some_and(|file| file.ends_with("-run-1.safetensors")));
            assert_eq!(kept.due_in(0), None, "it can be had again");
            assert!(kept.due_in(1).is_some_and(|left| left > EVERY / 2));
        }
    }

    #[test]
    fn a_run_keeps_its_file_and_another_gets_one_of_its_own() {
        let folder = std::env::temp_dir().join(format!("unroll-kept-{}", std::process::id()));
        let mut kept = Kept::new(folder.clone());
        let mut large = started(16, 1024);
        kept.began(&mut large, false);
        let of_spec = |step| Checkpoint::of_present(large.spec, step);
        let sentence = kept.write(&of_spec(7), "Tales");
        let file = large.kept.clone().unwrap();
        assert_eq!(sentence, format!("Step 7 is kept in {file}."));
        assert_eq!(kept.due_in(7), None);
        // Back at an earlier step it is the same run.
        large.step = 5;
        kept.began(&mut large, true);
        assert_eq!(large.kept.as_ref(), Some(&file));
        assert!(kept.due_in(8).is_some());
        kept.began(&mut large, false);
        assert_eq!(large.kept, Some(file.replace("-run-1.", "-run-2.")));
        let bytes = fs::read(&file).unwrap();
        let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let head = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
        assert!(head.contains("optimizer.exp_avg_sq.transformer.wte.weight"), "{head}");
        assert!(head.contains("context=1024") && head.contains("Tales"), "{head}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_none_is_said() {
        let file = std::env::temp_dir().join(format!("unroll-no-folder-{}", std::process::id()));
        fs::write(&file, "a file").unwrap();
        let mut kept = Kept::new(file.clone());
        let mut large = started(16, 1024);
        kept.began(&mut large, false);
        let sentence = kept.write(&Checkpoint::of_present(large.spec, 7), "Tales");
        assert!(sentence.contains("could not be kept"), "{sentence}");
        assert!(sentence.contains("--keep"), "{sentence}");
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn copies_of_a_large_model_take_up_no_more_than_there_may_be() {
        let threads = |width| affordable(&started(width, 64).spec, 8);
        assert_eq!(threads(64), 8);
        assert_eq!(threads(2048), 4);
        let spec = Link::default().experiment();
        let gpt = GptSpec { layers: 12, heads: 12, width: 768, context: 1024, ..spec.gpt };
        assert_eq!(affordable(&ExperimentSpec { gpt, ..spec }, 8), 2);
    }
}
