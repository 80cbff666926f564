//! The bar of the parameters: a piece for each part, as long as its share of all.

use unroll_protocol::gpt::{Sizes, Stage};

use super::{
    callout::{extent, under},
    scene::Scene,
};

/// A piece of the bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    pub x: f64,
    pub width: f64,
    /// How dark it is, so that neighbors can be told apart.
    pub strength: f64,
    pub label: String,
    pub count: u64,
}

/// Left and width of the bar: as wide as the picture. Where that scrolls it stands under the blocks that it
/// tells of, in sight as a whole.
pub fn span(scene: &Scene) -> (f64, f64) {
    if scene.is_scrolled() {
        under(scene, extent(scene, Stage::Further))
    } else {
        (1.0, scene.width - 2.0)
    }
}

/// The pieces from left to right; together as wide as the bar, and as many as all parameters.
pub fn segments(sizes: &Sizes, scene: &Scene) -> Vec<Segment> {
    let mut parts =
        vec![("embedding".to_owned(), sizes.tokens), ("position".to_owned(), sizes.positions)];
    for (at, block) in sizes.blocks.iter().enumerate() {
        if at == scene.shape.open {
            parts.push(("attention".to_owned(), block.attention));
            parts.push(("feed-forward".to_owned(), block.feed_forward));
            parts.push(("norms".to_owned(), block.norms));
        } else {
            parts.push((format!("block {}", at + 1), block.total()));
        }
    }
    parts.push(("final norm".to_owned(), sizes.final_norm));
    parts.push(("output".to_owned(), sizes.head));
    parts.retain(|(_, count)| *count > 0);
    let total = sizes.total().max(1) as f64;
    let (mut x, all) = span(scene);
    let segment = |(at, (label, count)): (usize, (String, u64))| {
        let width = all * count as f64 / total;
        let strength = [0.85, 0.5, 0.68][at % 3];
        let segment = Segment { x, width, strength, label, count };
        x += width;
        segment
    };
    parts.into_iter().enumerate().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters::machine::{cells::tests::pass, scene::Shape};

    #[test]
    fn on_a_phone_the_bar_is_seen_whole() {
        let pass = pass(4, 2);
        for open in 0..2 {
            let scene = Scene::new(Shape { open, ..Shape::of(&pass) }, (366.0, 264.0));
            let segments = segments(&pass.sizes, &scene);
            let (first, last) = (segments.first().unwrap(), segments.last().unwrap());
            let (left, right) = (first.x, last.x + last.width);
            assert!(left > 0.0 && right < scene.width, "{left} {right}");
            assert!((300.0..scene.view).contains(&(right - left)), "{left} {right}");
        }
    }

    #[test]
    fn the_pieces_add_up() {
        let pass = pass(4, 2);
        for open in 0..2 {
            let scene = Scene::new(Shape { open, ..Shape::of(&pass) }, (1000.0, 600.0));
            let segments = segments(&pass.sizes, &scene);
            let count: u64 = segments.iter().map(|segment| segment.count).sum();
            assert_eq!(count, pass.sizes.total());
            let last = segments.last().unwrap();
            assert!((last.x + last.width - (scene.width - 1.0)).abs() < 1e-6);
        }
    }
}
