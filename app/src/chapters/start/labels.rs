//! Labels that keep clear of what is drawn.

use crate::figures::{
    hue::Hue,
    pen::{Anchor, Pen},
};

/// Where a label may stand: its baseline's place, and which part of it stands there.
pub type Place = ((f64, f64), Anchor);

/// Writes labels where nothing is drawn yet.
pub struct Labels {
    size: (f64, f64),
    /// What is drawn, as places on the screen close to each other.
    taken: Vec<(f64, f64)>,
}

impl Labels {
    /// In a picture of this size.
    pub fn new(size: (f64, f64)) -> Self {
        Self { size, taken: Vec::new() }
    }

    /// Labels keep clear of this line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = (dx.hypot(dy) / 5.0).ceil().clamp(1.0, 1000.0) as u32;
        self.taken.extend((0..=steps).map(|i| {
            let share = f64::from(i) / f64::from(steps);
            (from.0 + share * dx, from.1 + share * dy)
        }));
    }

    /// And of this handle.
    pub fn ring(&mut self, (x, y): (f64, f64)) {
        const RADIUS: f64 = 11.0;
        for i in [-0.8_f64, -0.4, 0.0, 0.4, 0.8] {
            let half = RADIUS * (1.0 - i * i).sqrt();
            self.line((x - half, y + i * RADIUS), (x + half, y + i * RADIUS));
        }
    }

    /// At the first of the places that is free or, where none is, that covers least, moved into the picture.
    pub fn write(&mut self, pen: &mut Pen, style: (Hue, bool), places: &[Place], text: &str) {
        let font = pen.font;
        let wide = 0.6 * font * text.chars().count() as f64;
        let before = |anchor: Anchor| match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => wide / 2.0,
            Anchor::End => wide,
        };
        let moved = |((x, y), anchor): Place| {
            let least = before(anchor);
            let most = (self.size.0 - wide + least).max(least);
            let y = y.clamp(font, (self.size.1 - 0.3 * font).max(font));
            ((x.clamp(least, most), y), anchor)
        };
        let covers = |place: Place| {
            let ((x, y), anchor) = moved(place);
            let left = x - before(anchor);
            let is_under = |at: &&(f64, f64)| {
                (left - 4.0..left + wide + 4.0).contains(&at.0)
                    && (y - 0.95 * font..y + 0.3 * font).contains(&at.1)
            };
            // Rather over something than far from its place.
            let far = (place.0.0 - x).hypot(place.0.1 - y);
            self.taken.iter().filter(is_under).count() + far as usize
        };
        let Some(place) = places.iter().min_by_key(|place| covers(**place)) else { return };
        let ((x, y), anchor) = moved(*place);
        pen.haloed(style, font, (x, y), anchor, text);
        let left = x - before(anchor);
        for y in [y - 0.8 * font, y - 0.35 * font, y] {
            self.line((left, y), (left + wide, y));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::pen::Paint;

    #[test]
    fn a_label_stands_at_the_first_free_place_inside() {
        let mut labels = Labels::new((100.0, 100.0));
        labels.line((0.0, 20.0), (100.0, 20.0));
        let places = [((50.0, 24.0), Anchor::Middle), ((150.0, 60.0), Anchor::Start)];
        let mut pen = Pen::new(12.0, Paint::page());
        labels.write(&mut pen, (Hue::Ink, false), &places[..1], "ab");
        assert!(pen.svg.contains(r#"x="50.0" y="24.0""#), "nothing else to choose: {}", pen.svg);
        let mut pen = Pen::new(12.0, Paint::page());
        let near = [places[0], ((50.0, 60.0), Anchor::Middle), places[1]];
        labels.write(&mut pen, (Hue::Ink, false), &near, "ab");
        assert!(pen.svg.contains(r#"x="50.0" y="60.0""#), "{}", pen.svg);
        let mut pen = Pen::new(12.0, Paint::page());
        labels.write(&mut pen, (Hue::Ink, false), &places[1..], "ab");
        assert!(pen.svg.contains(r#"x="85.6" y="60.0""#), "inside: {}", pen.svg);
    }
}
