//! Marks of a map that keep out of each other's way.

/// Where a mark's point lies, and how far the mark reaches from its middle to its sides.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub at: (f32, f32),
    pub half: (f32, f32),
}

/// Rounds in which marks push each other. Bounded, for a map is drawn at every step of a training.
const ROUNDS: usize = 16;
/// How far from its point a mark may go, as so many times half its height.
const FARTHEST: f32 = 3.0;
/// Marks nearer to each other than this share of what would keep them apart can't both be read.
const READABLE: f32 = 0.72;

/// Middles of the marks in a room of this width and height, each as near to its point as its
/// neighbors let it be. `None` for a mark that finds no room: of two the first stays.
pub fn spread(marks: &[Mark], room: (f32, f32)) -> Vec<Option<(f32, f32)>> {
    let mut middles: Vec<(f32, f32)> = marks.iter().map(|mark| mark.at).collect();
    for _ in 0..ROUNDS {
        let mut moved = false;
        for one in 0..marks.len() {
            for other in one + 1..marks.len() {
                let Some((x, y)) = push(marks, &middles, one, other) else { continue };
                middles[one] = (middles[one].0 - x, middles[one].1 - y);
                middles[other] = (middles[other].0 + x, middles[other].1 + y);
                moved = true;
            }
        }
        for (middle, mark) in middles.iter_mut().zip(marks) {
            *middle = kept(*middle, *mark, room);
        }
        if !moved {
            break;
        }
    }
    let mut places: Vec<Option<(f32, f32)>> = vec![None; marks.len()];
    for one in 0..marks.len() {
        let free = (0..one)
            .filter(|&other| places[other].is_some())
            .all(|other| apart(marks, &middles, one, other).0 >= READABLE);
        places[one] = free.then_some(middles[one]);
    }
    places
}

/// How far two marks are apart, 1 where they just touch, and the way from the first to the second.
fn apart(marks: &[Mark], middles: &[(f32, f32)], one: usize, other: usize) -> (f32, (f32, f32)) {
    let (a, b) = (marks[one].half, marks[other].half);
    let way = (middles[other].0 - middles[one].0, middles[other].1 - middles[one].1);
    ((way.0 / (a.0 + b.0)).hypot(way.1 / (a.1 + b.1)), way)
}

/// How far each of two marks must go to clear the other.
fn push(marks: &[Mark], middles: &[(f32, f32)], one: usize, other: usize) -> Option<(f32, f32)> {
    let (far, way) = apart(marks, middles, one, other);
    if far >= 1.0 {
        return None;
    }
    if far < 1e-3 {
        // On one point any way is right, and each pair has its own.
        let turn = (one * 31 + other) as f32;
        let (a, b) = (marks[one].half, marks[other].half);
        return Some((turn.cos() * (a.0 + b.0) / 4.0, turn.sin() * (a.1 + b.1) / 4.0));
    }
    let by = (1.0 / far - 1.0) / 2.0;
    Some((way.0 * by, way.1 * by))
}

/// Near the mark's point, and in the room.
fn kept((x, y): (f32, f32), mark: Mark, room: (f32, f32)) -> (f32, f32) {
    let way = (x - mark.at.0, y - mark.at.1);
    let far = way.0.hypot(way.1);
    let by = (FARTHEST * mark.half.1 / far.max(1e-6)).min(1.0);
    let within = |at: f32, half: f32, room: f32| at.min(room - half).max(half);
    (
        within(mark.at.0 + way.0 * by, mark.half.0, room.0),
        within(mark.at.1 + way.1 * by, mark.half.1, room.1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: (f32, f32) = (400.0, 300.0);

    fn marks(points: &[(f32, f32)]) -> Vec<Mark> {
        points.iter().map(|&at| Mark { at, half: (11.0, 11.0) }).collect()
    }

    #[test]
    fn marks_with_room_stay_on_their_points() {
        let points = [(50.0, 50.0), (80.0, 50.0), (50.0, 90.0)];
        let places: Vec<_> = points.map(Some).to_vec();
        assert_eq!(spread(&marks(&points), ROOM), places);
        assert!(spread(&[], ROOM).is_empty());
    }

    #[test]
    fn neighbors_make_room_near_their_points() {
        let points = [(100.0, 100.0), (104.0, 100.0), (104.0, 100.0), (2.0, 298.0)];
        let marks = marks(&points);
        let places = spread(&marks, ROOM);
        let middles: Vec<(f32, f32)> = places.iter().map(|place| place.unwrap()).collect();
        for one in 0..3 {
            for other in one + 1..3 {
                assert!(apart(&marks, &middles, one, other).0 >= READABLE, "{middles:?}");
            }
        }
        for (at, middle) in points.iter().zip(&middles) {
            assert!((at.0 - middle.0).hypot(at.1 - middle.1) <= 34.0, "{middles:?}");
        }
        assert_eq!(middles[3], (11.0, 289.0));
        assert_eq!(spread(&marks, ROOM), places, "always the same");
    }

    #[test]
    fn where_too_many_meet_the_first_ones_stay() {
        let places = spread(&marks(&[(100.0, 100.0); 40]), ROOM);
        let left = places.iter().flatten().count();
        assert!(places[0].is_some() && (5..40).contains(&left), "{left}");
    }
}
