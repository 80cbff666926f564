//! Writing letter by letter: a number between 0 and 1 falls into one of the next token's segments.

use unroll_protocol::study::bigram::{Draw, Estimate, MOST_DRAWN, Segment, Writing, smoothed};

use super::{Study, answers::Known};
use crate::random::{Purpose, stream, unit};

impl Study {
    /// The text after `drawn` draws, or as far as it goes. The number of a draw depends on `dice`
    /// and its position alone, so that two estimates can be compared on the same numbers.
    pub(super) fn writing(
        &self,
        from: Estimate,
        k: f64,
        dice: u32,
        drawn: u32,
        known: &Known,
    ) -> Writing {
        let start = self.start();
        let (mut previous, mut draws) = (start, Vec::new());
        loop {
            let segments = self.segments(from, k, previous, known);
            let position = draws.len() as u32;
            let number = unit(&mut stream(dice, Purpose::BigramDraw, [position, 0, 0]));
            let segment = fallen_into(&segments, number);
            let next = segment.map(|segment| Draw { previous, number, segment });
            match next {
                Some(draw) if position < drawn.min(MOST_DRAWN) => {
                    draws.push(draw);
                    previous = draw.segment.id;
                }
                _ => return Writing { start, draws, next, segments },
            }
        }
    }

    /// The token before the first draw: a line break, else a space, else the most frequent token.
    fn start(&self) -> u32 {
        let [newline, space] = ['\n', ' '].map(|c| self.tokenizer.id(c));
        let usual = [newline, space].into_iter().find(|&id| {
            // The tokenizer gives id 0 to characters that the text lacks.
            id > 0 && self.training.total_after(id) > 0
        });
        usual.unwrap_or_else(|| self.training.by_frequency()[0])
    }

    /// What may follow `previous`, as adjoining segments, likeliest first; empty if nothing may.
    fn segments(&self, from: Estimate, k: f64, previous: u32, known: &Known) -> Vec<Segment> {
        let k = if from == Estimate::Counts { 0.0 } else { k };
        let total = self.training.total_after(previous);
        let probability = |id: u32| match from {
            Estimate::Trained => known.probability(self.index(previous, id)),
            Estimate::Counts | Estimate::Smoothed => {
                let count = self.training.count(previous, id);
                smoothed(count, total, k, self.training.vocabulary()).unwrap_or(0.0)
            }
        };
        let all = (0..self.training.vocabulary() as u32).map(|id| (id, probability(id)));
        let mut likely: Vec<(u32, f64)> = all.filter(|(_, p)| *p > 0.0).collect();
        // The sort is stable: ties go to the lower id.
        likely.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut sum = 0.0;
        let segment = |(id, probability): (u32, f64)| {
            let from = sum;
            sum += probability;
            Segment { id, from, to: sum }
        };
        likely.into_iter().map(segment).collect()
    }
}

/// The segment that holds `number`.
fn fallen_into(segments: &[Segment], number: f64) -> Option<Segment> {
    // Rounding can leave the last end just below 1.
    segments.iter().find(|segment| number < segment.to).or(segments.last()).copied()
}
