//! Reading the picture: which place lies where, and what is said of it.

use unroll_protocol::{gpt::Pass, link::Chapter};

use super::{
    cells::{Cells, cells},
    draw::Way,
    paint::small_maps,
    scene::{Part, Scene},
    sizes::segments,
};
use crate::{
    controls::{counted, grouped},
    figures::{four_decimals, largest, percent, short, token},
};

/// What can be read. Rows, heads and pieces count from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// The name over a column.
    Name(Part),
    Row(Part, usize),
    Number(Part, usize, usize),
    /// A head's small map: its block and its number.
    Head(usize, usize),
    /// A piece of the bar of the parameters.
    Size(usize),
}

/// How far the shapes reach below the parts.
const SHAPES: f64 = 22.0;

/// The place at a point of the picture.
pub fn hit(scene: &Scene, pass: &Pass, (x, y): (f64, f64)) -> Option<Place> {
    let within = |&(_, _, [left, top, side]): &(usize, usize, [f64; 3])| {
        (left..=left + side).contains(&x) && (top..=top + side).contains(&y)
    };
    if let Some((block, head, _)) = small_maps(scene).into_iter().find(within) {
        return Some(Place::Head(block, head));
    }
    if y > scene.height - 40.0 {
        let pieces = segments(&pass.sizes, scene);
        let at = pieces.iter().position(|piece| (piece.x..piece.x + piece.width).contains(&x))?;
        return Some(Place::Size(at));
    }
    let column = scene.columns.iter().find(|c| (c.x - 5.0..=c.end() + 5.0).contains(&x))?;
    if y < scene.top {
        return Some(Place::Name(column.part));
    }
    if column.part == Part::Next {
        return match scene.bar_at(y) {
            Some(at) => Some(Place::Number(Part::Next, 0, at)),
            None => (y < scene.list).then_some(Place::Name(Part::Next)),
        };
    }
    if y > scene.foot() {
        // The shapes.
        return (y < scene.foot() + SHAPES).then_some(Place::Name(column.part));
    }
    let row = scene.row_at(y)?;
    if column.count == 0 || !(column.x..column.end()).contains(&x) {
        return Some(Place::Row(column.part, row));
    }
    let drawn = column.drawn();
    let cell = ((x - column.x) / column.width * drawn as f64) as usize;
    Some(Place::Number(column.part, row, column.number(cell.min(drawn - 1))))
}

/// Where a key leads: left and right to the next part, up and down to the next row.
pub fn step(scene: &Scene, key: &str, at: Place, chosen: usize) -> Option<Place> {
    let (part, row) = match at {
        Place::Name(part) => (part, None),
        Place::Row(part, row) | Place::Number(part, row, _) => (part, Some(row)),
        Place::Head(block, _) if block != scene.shape.open => (Part::Folded(block), None),
        Place::Head(..) => (Part::Weights, None),
        Place::Size(_) => (Part::Tokens, None),
    };
    let column = scene.columns.iter().position(|column| column.part == part).unwrap_or(0);
    let last = scene.columns.len().checked_sub(1)?;
    let part_at = |column: usize| scene.columns[column].part;
    let of = |part: Part, row: Option<usize>| match row {
        Some(row) => Place::Row(part, row),
        None => Place::Name(part),
    };
    Some(match key {
        "ArrowLeft" => of(part_at(column.saturating_sub(1)), row),
        "ArrowRight" => of(part_at((column + 1).min(last)), row),
        "Home" => of(part_at(0), row),
        "End" => of(part_at(last), row),
        "ArrowUp" => of(part, row.and_then(|row| row.checked_sub(1))),
        "ArrowDown" => match row {
            None => of(part, Some(if part == Part::Next { chosen } else { 0 })),
            Some(row) => of(part, Some((row + 1).min(scene.shape.rows.saturating_sub(1)))),
        },
        _ => return None,
    })
}

/// The chapter that a part has to itself.
pub fn door(part: Part) -> Chapter {
    match part {
        Part::Tokens | Part::Embedding => Chapter::Tokens,
        Part::Position => Chapter::Position,
        Part::Folded(_) => Chapter::Heads,
        Part::Query | Part::Key | Part::Value => Chapter::Qkv,
        Part::Weights => Chapter::Mask,
        Part::Mix | Part::Attention => Chapter::Heads,
        Part::FeedForward => Chapter::Block,
        Part::FinalNorm => Chapter::Norm,
        Part::Next => Chapter::Bigram,
    }
}

/// The part that a place belongs to.
pub fn part_of(place: Place, scene: &Scene) -> Part {
    match place {
        Place::Name(part) | Place::Row(part, _) | Place::Number(part, ..) => part,
        Place::Head(block, _) if block == scene.shape.open => Part::Weights,
        Place::Head(block, _) => Part::Folded(block),
        Place::Size(_) => Part::Tokens,
    }
}

/// What a part does, in a sentence.
fn does(part: Part) -> &'static str {
    match part {
        Part::Tokens => "The text, one token per row. The model knows each by its id.",
        Part::Embedding => "Each token is looked up in a table of learned numbers.",
        Part::Position => {
            "A second table says where each token stands. It is added to the embedding."
        }
        Part::Folded(_) => "Another block of the same build. Press it to open it.",
        Part::Query => "What each row looks for: the normalized row times a learned matrix.",
        Part::Key => "What each row can be found by: the normalized row times another matrix.",
        Part::Weights => {
            "Each query times every key it may see, scaled (unless you turned that off), then softmax: how \
             much a row takes from each row."
        }
        Part::Value => {
            "What a row hands over to the rows that look at it: the normalized row times a third matrix."
        }
        Part::Mix => "The values, each times its weight, added up.",
        Part::Attention => {
            "The mixes of all heads side by side, times one more matrix. This is added to the row."
        }
        Part::FeedForward => {
            "Each row by itself: its neurons, four times as many as its numbers. They are brought back to the row’s width, and that is added to the row."
        }
        Part::FinalNorm => {
            "The row after the last block, normalized. Its numbers decide the next token."
        }
        Part::Next => "A score for each token the model knows, turned into shares by softmax.",
    }
}

/// A part's shape as it stands under the picture, and what each of its numbers counts; nothing of a part that has
/// no numbers of its own.
fn shape(part: Part, scene: &Scene) -> String {
    let Some(column) = scene.column(part).filter(|column| column.count > 0) else {
        return String::new();
    };
    let of = |count: usize, noun| (count, counted(count as u64, noun));
    let (heads, tokens) = (of(scene.shape.heads, "head"), of(scene.shape.rows, "token"));
    let axes = match part {
        Part::Weights => vec![heads, tokens, of(column.count, "token")],
        Part::Query | Part::Key | Part::Value | Part::Mix => {
            vec![heads, tokens, of(column.count, "number")]
        }
        _ => vec![tokens, of(column.count, "number")],
    };
    let (counts, names): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
    format!(" {counts:?}: {}.", names.join(" × "))
}

/// The token of a row, as readouts name it.
fn name(pass: &Pass, row: usize) -> String {
    pass.tokens.get(row).map_or(String::new(), |text| token::name_at(text, row))
}

/// What is said of a place.
pub fn said(pass: &Pass, scene: &Scene, way: Way, place: Place) -> String {
    let all = cells(pass, scene, way.head);
    let of = |part: Part| all.iter().find(|cells| cells.column.part == part);
    let head = way.head + 1;
    match place {
        Place::Name(part) => does(part).to_owned() + &shape(part, scene),
        Place::Row(Part::Next, row) => next(pass, row),
        Place::Row(Part::Tokens, row) => {
            let id = pass.ids.get(row).copied().unwrap_or_default();
            format!(
                "{}, id {id}, of the ids 0 to {} that the model knows",
                name(pass, row),
                pass.vocabulary.len().saturating_sub(1)
            )
        }
        Place::Row(part, row) => of(part)
            .map_or_else(|| does(part).to_owned(), |cells| whole_row(pass, cells, row, head)),
        Place::Number(Part::Next, _, at) => match pass.probabilities.block(&[way.row]) {
            Some(shares) => largest(shares, at + 1).last().map_or(String::new(), |(id, share)| {
                let next = pass.vocabulary.get(*id).map_or("", String::as_str);
                format!(
                    "after {}, {} has the share {}",
                    name(pass, way.row),
                    token::spoken(next),
                    percent(*share, 2)
                )
            }),
            None => String::new(),
        },
        Place::Number(part, row, at) => {
            let Some(cells) = of(part) else { return String::new() };
            let Some(value) = cells.get(row, at) else {
                return format!(
                    "{} may not look at {}, which comes later",
                    name(pass, row),
                    name(pass, at)
                );
            };
            if part == Part::Weights {
                return format!(
                    "head {head}: {} looks at {} with weight {value:.4}",
                    name(pass, row),
                    name(pass, at)
                );
            }
            format!(
                "{} of {}{}: number {} of {} is {}",
                part.name(),
                name(pass, row),
                of_head(part, head),
                at + 1,
                cells.column.count,
                four_decimals(value)
            )
        }
        Place::Head(block, head) if block == scene.shape.open => {
            format!("Head {} of block {}. Press to see its numbers.", head + 1, block + 1)
        }
        Place::Head(block, head) => {
            format!("Head {} of block {}. Press to open the block.", head + 1, block + 1)
        }
        Place::Size(at) => segments(&pass.sizes, scene).get(at).map_or(String::new(), |piece| {
            let share = 100.0 * piece.count as f64 / pass.sizes.total().max(1) as f64;
            format!("{}: {} parameters, {share:.1}% of all", piece.label, grouped(piece.count))
        }),
    }
}

/// The head that a part's numbers are of, where each head has its own.
fn of_head(part: Part, head: usize) -> String {
    match part {
        Part::Query | Part::Key | Part::Value | Part::Mix => format!(" in head {head}"),
        _ => String::new(),
    }
}

fn whole_row(pass: &Pass, cells: &Cells, row: usize, head: usize) -> String {
    let part = cells.column.part;
    let numbers = (0..cells.column.count).filter_map(|at| cells.get(row, at));
    if part == Part::Weights {
        let most = numbers.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        return most.map_or(String::new(), |(key, weight)| {
            format!(
                "head {head}: {} looks most at {}: {weight:.4}",
                name(pass, row),
                name(pass, key)
            )
        });
    }
    let (least, most) =
        numbers.fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let crate::figures::ValueMap::Signed { limit } = cells.map else { return String::new() };
    let (count, drawn) = (cells.column.count, cells.column.drawn());
    let some = if drawn < count { format!(" ({drawn} of them drawn)") } else { String::new() };
    format!(
        "{} of {}{}: {count} numbers{some} from {} to {}; colors reach ±{}",
        part.name(),
        name(pass, row),
        of_head(part, head),
        four_decimals(least),
        four_decimals(most),
        short(f64::from(limit)),
    )
}

fn next(pass: &Pass, row: usize) -> String {
    let Some(shares) = pass.probabilities.block(&[row]) else { return String::new() };
    let best = largest(shares, 3).into_iter().map(|(id, share)| {
        let next = pass.vocabulary.get(id).map_or("", String::as_str);
        format!("{} {}", token::spoken(next), percent(share, 2))
    });
    format!("after {}: {}", name(pass, row), best.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapters::machine::{cells::tests::pass, scene::Shape};

    #[test]
    fn every_place_is_found_and_said() {
        let pass = pass(4, 2);
        let scene = Scene::new(Shape::of(&pass), (1000.0, 600.0));
        let way = Way { head: 1, row: 3, reached: 9, lines: false };
        for column in &scene.columns {
            let x = column.middle();
            let above = hit(&scene, &pass, (x, scene.top - 10.0));
            assert_eq!(above, Some(Place::Name(column.part)));
            assert!(!said(&pass, &scene, way, above.unwrap()).is_empty());
            if let Some(place) = hit(&scene, &pass, (x, scene.middle(2))) {
                let text = said(&pass, &scene, way, place);
                assert!(!text.is_empty() && !text.contains("inf"), "{place:?}: {text}");
                assert_eq!(part_of(place, &scene), column.part);
            }
        }
        let query = Place::Name(Part::Query);
        let under = (scene.column(Part::Query).unwrap().middle(), scene.foot() + 14.0);
        assert_eq!(hit(&scene, &pass, under), Some(query));
        assert!(
            said(&pass, &scene, way, query).ends_with("[2, 4, 4]: 2 heads × 4 tokens × 4 numbers.")
        );
        let weights = scene.column(Part::Weights).unwrap();
        let cell = weights.width / 4.0;
        let at = |key: usize| (weights.x + cell * (key as f64 + 0.5), scene.middle(1));
        let seen = hit(&scene, &pass, at(0)).unwrap();
        assert_eq!(seen, Place::Number(Part::Weights, 1, 0));
        let value = pass.weights.get(&[0, 1, 1, 0]).unwrap();
        assert!(said(&pass, &scene, way, seen).contains(&format!("{value:.4}")));
        let later = hit(&scene, &pass, at(2)).unwrap();
        assert!(said(&pass, &scene, way, later).contains("later"));
        let (x, y, side) = scene.heads[1];
        assert_eq!(hit(&scene, &pass, (x + side / 2.0, y + side / 2.0)), Some(Place::Head(0, 1)));
        let size = hit(&scene, &pass, (5.0, scene.height - 30.0)).unwrap();
        assert_eq!(said(&pass, &scene, way, size), "embedding: 24 parameters, 1.2% of all");
    }

    #[test]
    fn keys_reach_every_part_and_every_row() {
        let pass = pass(4, 2);
        let scene = Scene::new(Shape::of(&pass), (1000.0, 600.0));
        let mut at = Place::Name(Part::Tokens);
        let mut seen = vec![at];
        for _ in 1..scene.columns.len() {
            at = step(&scene, "ArrowRight", at, 3).unwrap();
            seen.push(at);
        }
        let names: Vec<Place> = scene.columns.iter().map(|c| Place::Name(c.part)).collect();
        assert_eq!(seen, names);
        let mut at = Place::Name(Part::Query);
        for row in 0..4 {
            at = step(&scene, "ArrowDown", at, 3).unwrap();
            assert_eq!(at, Place::Row(Part::Query, row));
        }
        assert_eq!(
            step(&scene, "ArrowUp", Place::Row(Part::Query, 0), 3),
            Some(Place::Name(Part::Query))
        );
        assert_eq!(step(&scene, "x", at, 3), None);
    }
}
