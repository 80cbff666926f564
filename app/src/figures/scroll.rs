//! Bringing something into sight in a room that scrolls.

use web_sys::Element;

/// From where to where something is along one axis.
pub type Span = [f64; 2];

/// Where what was out of sight comes to be.
#[derive(Clone, Copy)]
pub enum Land {
    /// As near as it can be, so far from the room's edge.
    AtEdge(f64),
    InMiddle,
}

impl Land {
    /// How far a room has to be scrolled along one axis for something to be seen in it. What is longer than
    /// the room is seen from its start.
    fn way(self, [start, end]: Span, [from, to]: Span) -> f64 {
        match self {
            Self::AtEdge(margin) if start < from => start - from - margin,
            Self::AtEdge(margin) if end > to => (end - to + margin).min(start - from - margin),
            Self::InMiddle if start < from || end > to => (start + end - from - to) / 2.0,
            Self::AtEdge(_) | Self::InMiddle => 0.0,
        }
    }
}

/// Scrolls a room sideways as far as it takes to see what is there in it; nothing else is scrolled.
pub fn across(room: &Element, place: Span, land: Land) {
    let from = room.scroll_left();
    let by = way(place, from, room.client_width(), land);
    // What does not scroll stays where it is.
    if by != 0 {
        room.set_scroll_left(from + by);
    }
}

/// As [`across`], up or down.
pub fn down(room: &Element, place: Span, land: Land) {
    let from = room.scroll_top();
    let by = way(place, from, room.client_height(), land);
    if by != 0 {
        room.set_scroll_top(from + by);
    }
}

fn way(place: Span, from: i32, length: i32, land: Land) -> i32 {
    land.way(place, [f64::from(from), f64::from(from + length)]).round() as i32
}

/// Where an element is in what a room holds: across and down.
pub fn place_in(room: &Element, element: &Element) -> [Span; 2] {
    let (it, seen) = (element.get_bounding_client_rect(), room.get_bounding_client_rect());
    let left = seen.left() + f64::from(room.client_left() - room.scroll_left());
    let top = seen.top() + f64::from(room.client_top() - room.scroll_top());
    [[it.left() - left, it.right() - left], [it.top() - top, it.bottom() - top]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_out_of_sight_is_scrolled_to() {
        let way = |place| Land::AtEdge(0.0).way(place, [100.0, 300.0]);
        assert_eq!(way([120.0, 280.0]), 0.0);
        assert_eq!(way([350.0, 400.0]), 100.0);
        assert_eq!(way([50.0, 90.0]), -50.0);
        // Longer than the room: from its start.
        assert_eq!(way([150.0, 900.0]), 50.0);
        assert_eq!(way([100.0, 900.0]), 0.0);
    }

    #[test]
    fn it_comes_to_the_edge_or_to_the_middle() {
        let way = |land: Land| {
            [[120.0, 280.0], [350.0, 400.0], [50.0, 90.0]]
                .map(|place| land.way(place, [100.0, 300.0]))
        };
        assert_eq!(way(Land::AtEdge(8.0)), [0.0, 108.0, -58.0]);
        assert_eq!(way(Land::InMiddle), [0.0, 175.0, -130.0]);
        // Longer than the room: what is before its start is seen, too, and it stays so.
        assert_eq!(Land::AtEdge(8.0).way([100.0, 900.0], [100.0, 300.0]), -8.0);
        assert_eq!(Land::AtEdge(8.0).way([108.0, 908.0], [100.0, 300.0]), 0.0);
        // A point, as the middle of a token.
        assert_eq!(Land::InMiddle.way([310.0, 310.0], [100.0, 300.0]), 110.0);
    }
}
