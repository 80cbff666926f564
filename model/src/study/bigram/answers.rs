//! Answers about counts and table.

use unroll_protocol::{
    Array, Ask, Packed,
    study::bigram::{
        Curve, CurvePoint, Gap, MOST_SHOWN, MOST_TERMS, Matrix, NONE, Order, Question, Row, Score,
        Scores, Sentence, Term, Unseen, ask, smoothed,
    },
};

use super::{
    Study,
    counts::{Counts, Pair},
};
use crate::{study::Refusal, tokenizer::UNKNOWN};

/// Number of unseen pairs that are named.
const MOST_NAMED: usize = 12;
/// Powers of ten spanned by the curve of surprise against k, and points on each: short numbers, of which
/// each is about half as large again as the one before.
const DECADES: core::ops::Range<i32> = -4..4;
const PLACES: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
/// How often a token must have been followed for its row to count as telling.
const TELLING: u32 = 5;

/// The trained table, read back.
pub struct Known {
    /// `[V, V]`
    pub logits: Vec<f32>,
    /// Logarithms of the softmax of each row, `[V, V]`.
    log_probabilities: Vec<f32>,
}

impl Known {
    /// From the logits and their log-softmax.
    pub fn new(read: Vec<Vec<f32>>) -> Self {
        let mut read = read.into_iter();
        let mut next = || read.next().unwrap_or_default();
        Self { logits: next(), log_probabilities: next() }
    }

    /// Softmax of the logits at an index of the flat table.
    pub fn probability(&self, index: usize) -> f64 {
        libm::exp(f64::from(self.log_probabilities[index]))
    }
}

/// How far the trained `probability` (by index of the flat table) is from the counts.
pub fn gap(counts: &Counts, probability: &impl Fn(usize) -> f64) -> Gap {
    let mut gap = Gap {
        largest: 0.0,
        previous: 0,
        next: 0,
        mean: 0.0,
        divergence: 0.0,
        lowest: 0.0,
        lowest_previous: 0,
        lowest_next: 0,
    };
    let mut cells = 0usize;
    for previous in 0..counts.vocabulary() as u32 {
        let total = counts.total_after(previous);
        if total == 0 {
            continue;
        }
        let start = previous as usize * counts.vocabulary();
        let mut divergence = 0.0;
        for (next, &count) in counts.row(previous).iter().enumerate() {
            let counted = f64::from(count) / f64::from(total);
            let trained = probability(start + next);
            let apart = (trained - counted).abs();
            gap.mean += apart;
            if apart > gap.largest {
                (gap.largest, gap.previous, gap.next) = (apart, previous, next as u32);
            }
            if count > 0 {
                divergence += counted * (libm::log(counted) - libm::log(trained));
            }
        }
        gap.divergence += divergence * f64::from(total);
        cells += counts.vocabulary();
    }
    gap.mean /= cells.max(1) as f64;
    gap.divergence /= counts.total().max(1) as f64;
    gap
}

impl Study {
    /// Answers everything but [`ask::Curve`].
    pub(super) fn answer(&self, question: &Question, known: &Known) -> Result<Packed, Refusal> {
        Ok(match question {
            Question::Matrix(question @ ask::Matrix { order, most }) => {
                question.answered(&self.matrix(*order, *most, known))
            }
            Question::Row(question @ ask::Row { character }) => {
                question.answered(&self.row(*character, known))
            }
            Question::Scores(question @ ask::Scores { k }) => {
                question.answered(&self.scores(f64::from(*k), known))
            }
            Question::Curve(question) => question.answered(&self.draw_curve()),
            Question::Sentence(question @ ask::Sentence { text, k }) => {
                question.answered(&self.sentence(text, f64::from(*k), known)?)
            }
            Question::Writing(question @ ask::Writing { from, k, dice, drawn }) => {
                question.answered(&self.writing(*from, f64::from(*k), *dice, *drawn, known))
            }
        })
    }

    /// Position of a pair in the flat table.
    pub(super) fn index(&self, previous: u32, next: u32) -> usize {
        previous as usize * self.training.vocabulary() + next as usize
    }

    fn matrix(&self, order: Order, most: u32, known: &Known) -> Matrix {
        let mut ids = self.training.by_frequency();
        ids.truncate(most.clamp(2, MOST_SHOWN) as usize);
        if order == Order::Alphabetical {
            // The unknown character has id 0 but no place in any alphabet, so it goes last.
            ids.sort_unstable_by_key(|&id| id.wrapping_sub(1));
        }
        let pairs = || ids.iter().flat_map(|&a| ids.iter().map(move |&b| (a, b)));
        let trained = |(a, b)| known.probability(self.index(a, b)) as f32;
        Matrix {
            counts: pairs().map(|(a, b)| self.training.count(a, b)).collect(),
            totals: ids.iter().map(|&id| self.training.total_after(id)).collect(),
            trained: Array {
                shape: vec![ids.len() as u32; 2],
                values: pairs().map(trained).collect(),
            },
            ids,
        }
    }

    fn row(&self, character: u32, known: &Known) -> Row {
        let named = char::from_u32(character).filter(|_| character != NONE);
        let id = match named.map(|c| (c, self.tokenizer.id(c))) {
            Some((UNKNOWN, id)) => id,
            Some((_, id)) if id > 0 => id,
            _ => self.telling(),
        };
        let (start, end) = (self.index(id, 0), self.index(id + 1, 0));
        Row {
            id,
            total: self.training.total_after(id),
            pairs: self.training.total(),
            counts: self.training.row(id).to_vec(),
            logits: known.logits[start..end].to_vec(),
            trained: (start..end).map(|index| known.probability(index) as f32).collect(),
        }
    }

    /// The letter that says most about what comes next: the row of least entropy, or the most
    /// frequent such row.
    fn telling(&self) -> u32 {
        let entropy = |id: u32| {
            let total = f64::from(self.training.total_after(id));
            let shares = self.training.row(id).iter().map(|&count| f64::from(count) / total);
            shares.filter(|share| *share > 0.0).map(|share| -share * libm::log(share)).sum::<f64>()
        };
        let letter = |id: &u32| self.tokenizer.character(*id).is_alphabetic();
        let mut rows = self.training.by_frequency();
        rows.retain(|&id| self.training.total_after(id) >= TELLING);
        if rows.iter().any(letter) {
            rows.retain(letter);
        }
        // Ties go to the first row, because rows are ordered by frequency.
        let best = rows
            .into_iter()
            .map(|id| (id, entropy(id)))
            .reduce(|best, next| if next.1 < best.1 { next } else { best });
        best.map_or(self.training.by_frequency()[0], |(id, _)| id)
    }

    fn scores(&self, k: f64, known: &Known) -> Scores {
        let vocabulary = self.training.vocabulary();
        let trained = |pair: &Pair| known.probability(self.index(pair.previous, pair.next));
        let mut gap = gap(&self.training, &|index| known.probability(index));
        let unseen_logits = (0..vocabulary as u32)
            .filter(|&previous| self.training.total_after(previous) > 0)
            .flat_map(|previous| (0..vocabulary as u32).map(move |next| (previous, next)))
            .filter(|&(previous, next)| self.training.count(previous, next) == 0);
        for (previous, next) in unseen_logits {
            let logit = f64::from(known.logits[self.index(previous, next)]);
            if logit < gap.lowest {
                (gap.lowest, gap.lowest_previous, gap.lowest_next) = (logit, previous, next);
            }
        }
        let mut unseen: Vec<Unseen> = (self.held_out.pairs().iter())
            .filter(|pair| self.training.count(pair.previous, pair.next) == 0)
            .map(|pair| Unseen { previous: pair.previous, next: pair.next, count: pair.count })
            .collect();
        unseen.sort_by_key(|pair| core::cmp::Reverse(pair.count));
        let (unseen_kinds, unseen_pairs) =
            (unseen.len() as u32, unseen.iter().map(|pair| u64::from(pair.count)).sum());
        unseen.truncate(MOST_NAMED);
        Scores {
            uniform: libm::log(vocabulary as f64),
            counts: self.score(|pair| self.smoothed(pair, 0.0)),
            smoothed: self.score(|pair| self.smoothed(pair, k)),
            trained: self.score(trained),
            gap,
            training_pairs: self.training.total(),
            held_out_pairs: self.held_out.total(),
            unseen_kinds,
            unseen_pairs,
            unseen,
        }
    }

    fn score(&self, probability: impl Fn(&Pair) -> f64) -> Score {
        Score {
            training: self.training.surprise(&probability).expect("a text has at least one pair"),
            held_out: self.held_out.surprise(&probability),
        }
    }

    /// Probability of a pair by smoothed counts; 0 if nothing ever followed its first token.
    fn smoothed(&self, pair: &Pair, k: f64) -> f64 {
        let count = self.training.count(pair.previous, pair.next);
        let total = self.training.total_after(pair.previous);
        smoothed(count, total, k, self.training.vocabulary()).unwrap_or(0.0)
    }

    /// The whole answer to [`ask::Curve`], which does not depend on training.
    pub(super) fn draw_curve(&self) -> Curve {
        let point = |k: f64| {
            let score = self.score(|pair| self.smoothed(pair, k));
            CurvePoint { k, training: score.training, held_out: score.held_out }
        };
        // Divided, small ones are the numbers that their decimals name.
        let at = |decade: i32, first: f64| match libm::pow(10.0, f64::from(decade.abs())) {
            power if decade < 0 => first / power,
            power => first * power,
        };
        let places = DECADES.flat_map(|decade| PLACES.map(|first| at(decade, first)));
        let points: Vec<CurvePoint> = places.chain([at(DECADES.end, 1.0)]).map(point).collect();
        let raw = point(0.0);
        let least = points
            .iter()
            .map(|point| point.held_out)
            .enumerate()
            .reduce(|best, next| if next.1 < best.1 { next } else { best });
        let best = match least {
            // If even a tiny k gains nothing, the raw counts are best.
            Some((0, held_out)) if raw.held_out <= held_out => Some(raw),
            Some((place, Some(_))) => Some(point(self.best_between(
                points[place.saturating_sub(1)].k,
                points[(place + 1).min(points.len() - 1)].k,
            ))),
            _ => None,
        };
        Curve { raw, points, best: best.filter(|best| best.held_out.is_some()) }
    }

    /// The k of least held-out surprise between `low` and `high`, by golden-section search on its
    /// logarithm.
    fn best_between(&self, low: f64, high: f64) -> f64 {
        let surprise = |log_k: f64| {
            let k = libm::exp(log_k);
            self.held_out.surprise(|pair| self.smoothed(pair, k))
        };
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (libm::log(low), libm::log(high));
        for _ in 0..16 {
            let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
            if surprise(left) < surprise(right) { high = right } else { low = left }
        }
        libm::exp((low + high) / 2.0)
    }

    fn sentence(&self, text: &str, k: f64, known: &Known) -> Result<Sentence, Refusal> {
        let tokens = self.tokenizer.encode(text);
        let pairs = tokens.len().saturating_sub(1);
        if pairs == 0 {
            return Err(Refusal(
                "A score takes two characters: one to come from and one to guess.".to_owned(),
            ));
        }
        let term = |pair: &[u32]| {
            let (previous, next) = (pair[0], pair[1]);
            let pair = Pair { previous, next, count: 1 };
            Term {
                previous,
                next,
                count: self.training.count(previous, next),
                total: self.training.total_after(previous),
                counts: self.smoothed(&pair, 0.0),
                smoothed: self.smoothed(&pair, k),
                trained: known.probability(self.index(previous, next)),
            }
        };
        let terms: Vec<Term> = tokens.windows(2).take(MOST_TERMS).map(term).collect();
        let mean = |of: fn(&Term) -> f64| {
            terms.iter().map(|term| -libm::log(of(term))).sum::<f64>() / terms.len() as f64
        };
        let mut unknown: Vec<char> =
            text.chars().filter(|&c| c != UNKNOWN && self.tokenizer.id(c) == 0).collect();
        unknown.sort_unstable();
        unknown.dedup();
        Ok(Sentence {
            left_out: (pairs - terms.len()) as u32,
            unknown: unknown.into_iter().take(MOST_NAMED).map(String::from).collect(),
            counts: mean(|term| term.counts),
            smoothed: mean(|term| term.smoothed),
            trained: mean(|term| term.trained),
            uniform: libm::log(self.training.vocabulary() as f64),
            terms,
        })
    }
}
