//! Sequence-to-sequence tasks: strings to reverse, copy and sort, and dates.

use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::rngs::ChaCha8Rng;
use unroll_protocol::PairTask;

use super::{
    Split, TaskError,
    dates::{self, Date},
};
use crate::{
    data::token_tensor,
    random::{Purpose, below, stream},
    seq2seq::Source,
};

/// The target token that ends a target, and that precedes its first token.
pub const END: u32 = 0;
/// The letters of generated strings.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
/// One in this many sources is held out.
const HELD_OUT: u64 = 10;

/// A task that turns a source into a target.
///
/// Whether a source is held out depends on its content alone, so that no held-out source is ever
/// trained on; for a date it depends on the date, however it is written. Source token 0 stands for
/// unknown characters and is never trained on. Sources have no end token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs {
    task: PairTask,
    longest: usize,
}

/// A source and its right answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPair {
    pub source: String,
    pub target: String,
}

/// Pairs as text and as tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct PairBatch {
    pub pairs: Vec<TextPair>,
    pub sources: Vec<Vec<u32>>,
    /// With [`END`].
    pub targets: Vec<Vec<u32>>,
}

/// A [`PairBatch`] on a device.
#[derive(Clone, Debug)]
pub struct PairTensors {
    pub source: Source,
    /// The right token before each, [`END`] before the first, `[batch, T]`.
    pub previous: Tensor<2, Int>,
    /// Targets, `[batch, T]`; [`END`] at padding.
    pub targets: Tensor<2, Int>,
    /// 1 at tokens, including end tokens, and 0 at padding, `[batch, T]`.
    pub weights: Tensor<2>,
}

impl Pairs {
    /// `longest` is the length of the longest string; it does not apply to dates.
    pub fn new(task: PairTask, longest: usize) -> Result<Self, TaskError> {
        if longest == 0 {
            return Err(TaskError::TooShort { length: longest, least: 1 });
        }
        Ok(Self { task, longest })
    }

    pub fn task(&self) -> PairTask {
        self.task
    }

    /// Number of tokens of the longest source.
    pub fn longest_source(&self) -> usize {
        match self.task {
            PairTask::Dates => dates::LONGEST,
            _ => self.longest,
        }
    }

    /// Number of tokens of the longest target, including its end token.
    pub fn longest_target(&self) -> usize {
        match self.task {
            PairTask::Dates => "1998-05-03".len() + 1,
            _ => self.longest + 1,
        }
    }

    fn source_characters(&self) -> &'static str {
        match self.task {
            PairTask::Dates => dates::CHARACTERS,
            _ => LETTERS,
        }
    }

    fn target_characters(&self) -> &'static str {
        match self.task {
            PairTask::Dates => "-0123456789",
            _ => LETTERS,
        }
    }

    /// Number of source tokens.
    pub fn sources(&self) -> usize {
        self.source_characters().len() + 1
    }

    /// Number of target tokens.
    pub fn targets(&self) -> usize {
        self.target_characters().len() + 1
    }

    /// Every source token as text, by id.
    pub fn source_symbols(&self) -> Vec<String> {
        let unknown = crate::UNKNOWN.to_string();
        core::iter::once(unknown)
            .chain(self.source_characters().chars().map(String::from))
            .collect()
    }

    /// Every target token as text, by id.
    pub fn target_symbols(&self) -> Vec<String> {
        let end = "end".to_owned();
        core::iter::once(end).chain(self.target_characters().chars().map(String::from)).collect()
    }

    /// A text as source tokens: lower-cased, with 0 for every unknown character.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let id = |c: char| self.source_characters().find(c).map_or(0, |at| at as u32 + 1);
        // Exactly one token per character, which figures rely on.
        text.chars().map(|c| id(c.to_lowercase().next().unwrap_or(c))).collect()
    }

    /// Target tokens as text, up to the end token.
    pub fn decode(&self, ids: &[u32]) -> String {
        let characters = self.target_characters().as_bytes();
        let known = ids.iter().take_while(|&&id| id != END);
        known.filter_map(|&id| characters.get(id as usize - 1)).map(|&c| char::from(c)).collect()
    }

    /// A text as target tokens, without [`END`]; `None` if a character is not among them.
    pub fn encode_target(&self, text: &str) -> Option<Vec<u32>> {
        let id = |c: char| self.target_characters().find(c).map(|at| at as u32 + 1);
        text.chars().map(id).collect()
    }

    /// The right answer to a text, if there is one.
    pub fn answer(&self, text: &str) -> Option<String> {
        let text = text.to_lowercase();
        if self.task == PairTask::Dates {
            return Date::read(&text).map(Date::iso);
        }
        if text.is_empty() || !text.chars().all(|c| LETTERS.contains(c)) {
            return None;
        }
        let mut letters: Vec<char> = text.chars().collect();
        match self.task {
            PairTask::Reverse => letters.reverse(),
            PairTask::Sort => letters.sort_unstable(),
            PairTask::Copy | PairTask::Dates => {}
        }
        Some(letters.into_iter().collect())
    }

    /// The pairs of one training step, or as many held-out ones. They depend on the arguments only.
    /// All lengths of strings are equally likely.
    pub fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> PairBatch {
        let mut rng = self.draws(seed, split, step);
        let pairs = (0..rows).map(|_| {
            let length = 1 + below(&mut rng, self.longest);
            self.drawn(&mut rng, split, length)
        });
        self.tokens(pairs.collect())
    }

    /// Held-out pairs for measuring: strings of 1, 2, ... letters in turn, and random dates.
    pub fn measured(&self, seed: u32, rows: usize) -> PairBatch {
        let mut rng = self.draws(seed, Split::HeldOut, u32::MAX);
        let pairs =
            (0..rows).map(|row| self.drawn(&mut rng, Split::HeldOut, 1 + row % self.longest));
        self.tokens(pairs.collect())
    }

    /// One held-out pair for a figure; a string of the longest length.
    pub fn held_out(&self, seed: u32, number: u32) -> TextPair {
        let mut rng = self.draws(seed, Split::HeldOut, number);
        self.drawn(&mut rng, Split::HeldOut, self.longest)
    }

    fn draws(&self, seed: u32, split: Split, step: u32) -> ChaCha8Rng {
        // These numbers are part of the meaning of a share link.
        let kind = match self.task {
            PairTask::Reverse => 0,
            PairTask::Dates => 1,
            PairTask::Copy => 2,
            PairTask::Sort => 3,
        };
        let split = match split {
            Split::Training => 0,
            Split::HeldOut => 1,
        };
        stream(seed, Purpose::Pairs, [kind, split, step])
    }

    /// Draws until a pair belongs to the split.
    fn drawn(&self, rng: &mut ChaCha8Rng, split: Split, length: usize) -> TextPair {
        loop {
            let (source, target) = if self.task == PairTask::Dates {
                let date = Date::drawn(rng);
                (date.phrase(rng), date.iso())
            } else {
                let letters = LETTERS.as_bytes();
                let drawn = (0..length).map(|_| char::from(letters[below(rng, letters.len())]));
                let source: String = drawn.collect();
                let target = self.answer(&source).expect("letters alone have an answer");
                (source, target)
            };
            let said = if self.task == PairTask::Dates { &target } else { &source };
            if is_held_out(said) == (split == Split::HeldOut) {
                return TextPair { source, target };
            }
        }
    }

    fn tokens(&self, pairs: Vec<TextPair>) -> PairBatch {
        let sources = pairs.iter().map(|pair| self.encode(&pair.source)).collect();
        let targets = pairs.iter().map(|pair| {
            let mut ids = self.encode_target(&pair.target).expect("written by the task itself");
            ids.push(END);
            ids
        });
        let targets = targets.collect();
        PairBatch { pairs, sources, targets }
    }
}

/// Whether a text belongs to the held-out set, by its hash: FNV-1a, mixed once more as in
/// MurmurHash3 for the sake of texts of one letter.
fn is_held_out(text: &str) -> bool {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    ((mixed ^ mixed >> 33) >> 32).is_multiple_of(HELD_OUT)
}

impl PairBatch {
    pub fn tensors(&self, device: &Device) -> PairTensors {
        let rows = self.targets.len();
        let length = self.targets.iter().map(Vec::len).max().unwrap_or(0);
        let padded = |shift: usize| {
            let row = |row: &Vec<u32>| {
                let mut padded = vec![END; shift];
                padded.extend(row);
                padded.resize(length, END);
                padded
            };
            let ids: Vec<u32> = self.targets.iter().flat_map(row).collect();
            token_tensor(&ids, rows, device)
        };
        let weights = self
            .targets
            .iter()
            .flat_map(|row| (0..length).map(|at| if at < row.len() { 1.0 } else { 0.0 }));
        let weights = TensorData::new(weights.collect::<Vec<f32>>(), [rows, length]);
        PairTensors {
            source: Source::new(&self.sources, device),
            previous: padded(1),
            targets: padded(0),
            weights: Tensor::from_data(weights, device),
        }
    }

    /// Whether each of the rows produced, without end tokens, equals its target.
    pub fn right(&self, produced: &[Vec<u32>]) -> Vec<bool> {
        let rows = self.targets.iter().zip(produced);
        rows.map(|(target, produced)| target[..target.len() - 1] == produced[..]).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> Vec<Pairs> {
        PairTask::ALL.iter().map(|&task| Pairs::new(task, 12).unwrap()).collect()
    }

    #[test]
    fn batches_depend_on_their_arguments_only_and_read_back() {
        for task in all() {
            let batch = task.batch(1, Split::Training, 2, 40);
            assert_eq!(batch, task.batch(1, Split::Training, 2, 40));
            assert_ne!(batch, task.batch(1, Split::Training, 3, 40));
            assert_ne!(batch, task.batch(2, Split::Training, 2, 40));
            assert_ne!(batch, task.batch(1, Split::HeldOut, 2, 40));
            for ((pair, source), target) in
                batch.pairs.iter().zip(&batch.sources).zip(&batch.targets)
            {
                assert_eq!(task.answer(&pair.source).as_ref(), Some(&pair.target));
                assert_eq!(task.decode(target), pair.target);
                assert!(source.len() <= task.longest_source() && !source.contains(&0));
                assert!(target.len() <= task.longest_target());
                assert!(source.iter().all(|&id| (id as usize) < task.sources()));
            }
            assert_eq!(task.source_symbols().len(), task.sources());
            assert_eq!(task.target_symbols().len(), task.targets());
        }
    }

    #[test]
    fn what_is_held_out_is_never_trained_on() {
        for task in all() {
            let said = |split| {
                (0..60).flat_map(move |step| task.batch(3, split, step, 32).pairs).map(
                    move |pair| {
                        if task.task() == PairTask::Dates { pair.target } else { pair.source }
                    },
                )
            };
            let held_out: BTreeSet<_> = said(Split::HeldOut).collect();
            assert!(said(Split::Training).all(|said| !held_out.contains(&said)));
            assert!(task.measured(3, 48).pairs.iter().all(|pair| {
                is_held_out(if task.task() == PairTask::Dates {
                    &pair.target
                } else {
                    &pair.source
                })
            }));
        }
    }

    #[test]
    fn about_a_tenth_is_held_out_and_some_of_every_length() {
        let letters = || LETTERS.chars();
        let one = letters().filter(|c| is_held_out(&c.to_string())).count();
        let two = letters().flat_map(|a| letters().map(move |b| format!("{a}{b}")));
        let two = two.filter(|text| is_held_out(text)).count();
        assert!((1..=5).contains(&one), "{one} of 26");
        assert!((40..=100).contains(&two), "{two} of 676");
        let measured = all()[0].measured(1, 24);
        let lengths: Vec<_> = measured.sources.iter().map(Vec::len).collect();
        assert_eq!(lengths[..13], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1]);
    }

    #[test]
    fn answers_are_the_tasks_and_the_rest_has_none() {
        let answer = |index: usize, text| all()[index].answer(text);
        assert_eq!(answer(0, "Attention").as_deref(), Some("noitnetta"));
        assert_eq!(answer(1, "the 3rd of May 1998").as_deref(), Some("1998-05-03"));
        assert_eq!(answer(2, "copy").as_deref(), Some("copy"));
        assert_eq!(answer(3, "sort").as_deref(), Some("orst"));
        assert_eq!(answer(0, "two words"), None);
        assert_eq!(answer(0, ""), None);
        assert_eq!(answer(1, "tomorrow"), None);
        assert_eq!(all()[0].encode("aZ é"), [1, 26, 0, 0]);
        assert!(Pairs::new(PairTask::Copy, 0).is_err());
    }

    #[test]
    fn padding_counts_for_nothing() {
        let task = Pairs::new(PairTask::Copy, 4).unwrap();
        let batch = task.tokens(vec![
            TextPair { source: "ab".to_owned(), target: "ab".to_owned() },
            TextPair { source: "c".to_owned(), target: "c".to_owned() },
        ]);
        let tensors = batch.tensors(&Device::flex());
        let ids = |ids: Tensor<2, Int>| -> Vec<i32> {
            ids.into_data().convert::<i32>().try_into_vec().unwrap()
        };
        assert_eq!(ids(tensors.previous), [0, 1, 2, 0, 3, 0]);
        assert_eq!(ids(tensors.targets), [1, 2, 0, 3, 0, 0]);
        let weights: Vec<f32> = tensors.weights.into_data().try_into_vec().unwrap();
        assert_eq!(weights, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(batch.right(&[vec![1, 2], vec![3, 3]]), [true, false]);
    }
}
