//! Count brackets.

use rand::rngs::ChaCha8Rng;

use super::{Kind, SequenceBatch, Split, Task, TaskError, draws};
use crate::random::below;

const OPEN: u32 = 0;
const CLOSE: u32 = 1;
const LETTER: u32 = 2;

/// Strings of brackets, with one of two questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brackets {
    length: usize,
    question: Question,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Depth { deepest: usize },
    Balanced,
}

impl Brackets {
    /// How many brackets are open after each character? Strings nest at most `deepest` deep, and
    /// meaningless letters stand between the brackets.
    pub fn depth(length: usize, deepest: usize) -> Result<Self, TaskError> {
        if length == 0 {
            return Err(TaskError::TooShort { length, least: 1 });
        }
        if deepest == 0 {
            return Err(TaskError::TooShallow);
        }
        Ok(Self { length, question: Question::Depth { deepest } })
    }

    /// Is the string balanced? Asked at the last step only. Half of the strings are balanced. Of
    /// the others, half have one bracket reversed, and half have equally many opening and closing
    /// brackets in the wrong order.
    pub fn balanced(length: usize) -> Result<Self, TaskError> {
        if length == 0 || !length.is_multiple_of(2) {
            return Err(TaskError::OddLength { length });
        }
        Ok(Self { length, question: Question::Balanced })
    }

    fn draw_depths(&self, deepest: usize, rng: &mut ChaCha8Rng, batch: &mut SequenceBatch) {
        let mut depth = 0;
        for _ in 0..self.length {
            let token = match below(rng, 5) {
                0 => LETTER,
                1 | 2 if depth < deepest => OPEN,
                3 | 4 if depth > 0 => CLOSE,
                // At either end there is only one way to go.
                _ if depth == 0 => OPEN,
                _ => CLOSE,
            };
            match token {
                OPEN => depth += 1,
                CLOSE => depth -= 1,
                _ => {}
            }
            batch.push(token, depth as u32, true);
        }
    }

    fn draw_balanced(&self, rng: &mut ChaCha8Rng, batch: &mut SequenceBatch) {
        let mut depth = 0;
        let mut string: Vec<u32> = Vec::with_capacity(self.length);
        for step in 0..self.length {
            let must_close = depth == self.length - step;
            let open = depth == 0 || (!must_close && below(rng, 2) == 0);
            string.push(if open { OPEN } else { CLOSE });
            depth = if open { depth + 1 } else { depth - 1 };
        }
        match below(rng, 4) {
            0 => {
                let at = below(rng, self.length);
                string[at] = OPEN + CLOSE - string[at];
            }
            1 => {
                // The shortest such strings have a single pair, and exchanging it always
                // unbalances; so does exchanging the first and last character of any string.
                let (mut open, mut close) = (0, self.length - 1);
                for _ in 0..8 {
                    let (i, j) = (below(rng, self.length), below(rng, self.length));
                    let mut tried = string.clone();
                    tried.swap(i, j);
                    if !balanced(&tried) {
                        (open, close) = (i, j);
                        break;
                    }
                }
                string.swap(open, close);
            }
            _ => {}
        }
        let answer = u32::from(balanced(&string));
        for (step, &token) in string.iter().enumerate() {
            batch.push(token, answer, step + 1 == self.length);
        }
    }
}

fn balanced(string: &[u32]) -> bool {
    let mut depth = 0i64;
    string.iter().all(|&token| {
        depth += if token == OPEN { 1 } else { -1 };
        depth >= 0
    }) && depth == 0
}

impl Task for Brackets {
    fn vocabulary(&self) -> usize {
        match self.question {
            Question::Depth { .. } => 3,
            Question::Balanced => 2,
        }
    }

    fn outputs(&self) -> usize {
        match self.question {
            Question::Depth { deepest } => deepest + 1,
            Question::Balanced => 2,
        }
    }

    fn length(&self) -> usize {
        self.length
    }

    fn symbols(&self) -> Vec<String> {
        ["(", ")", "a"][..self.vocabulary()].iter().map(|&symbol| symbol.to_owned()).collect()
    }

    fn answers(&self) -> Vec<String> {
        match self.question {
            Question::Depth { deepest } => (0..=deepest).map(|depth| depth.to_string()).collect(),
            Question::Balanced => vec!["not balanced".to_owned(), "balanced".to_owned()],
        }
    }

    fn batch(&self, seed: u32, split: Split, step: u32, rows: usize) -> SequenceBatch {
        let mut batch = SequenceBatch::with_capacity(rows, self.length);
        match self.question {
            Question::Depth { deepest } => {
                let mut rng = draws(Kind::Depth, seed, split, step);
                (0..rows).for_each(|_| self.draw_depths(deepest, &mut rng, &mut batch));
            }
            Question::Balanced => {
                let mut rng = draws(Kind::Balanced, seed, split, step);
                (0..rows).for_each(|_| self.draw_balanced(&mut rng, &mut batch));
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_counted_and_stay_in_range() {
        let task = Brackets::depth(40, 3).unwrap();
        let batch = task.batch(1, Split::Training, 0, 50);
        let mut seen = [false; 4];
        for (inputs, targets) in batch.inputs.chunks(40).zip(batch.targets.chunks(40)) {
            let mut depth = 0i64;
            for (&token, &target) in inputs.iter().zip(targets) {
                depth += [1, -1, 0][token as usize];
                assert_eq!(depth, i64::from(target));
                seen[target as usize] = true;
            }
        }
        assert_eq!(seen, [true; 4]);
    }

    #[test]
    fn half_of_the_strings_are_balanced() {
        for length in [2, 16] {
            let task = Brackets::balanced(length).unwrap();
            let batch = task.batch(1, Split::Training, 0, 2000);
            let mut right = 0;
            let mut sums_to_zero = 0;
            for (string, targets) in batch.inputs.chunks(length).zip(batch.targets.chunks(length)) {
                assert_eq!(targets[length - 1] == 1, balanced(string));
                right += targets[length - 1];
                let opened = string.iter().filter(|&&token| token == OPEN).count();
                sums_to_zero += usize::from(2 * opened == length);
            }
            assert!((900..1100).contains(&right), "{right}");
            assert!((1400..1600).contains(&sums_to_zero), "{sums_to_zero}");
        }
    }
}
