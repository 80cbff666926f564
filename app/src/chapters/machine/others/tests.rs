//! Every machine at every size: whole, apart, within the picture.

use super::{
    plan::{Plan, Rect},
    *,
};
use crate::{chapters, figures::color::Palette};

const SIZES: [(f64, f64); 7] = [
    (1000.0, 600.0),
    (1500.0, 850.0),
    (700.0, 520.0),
    (560.0, 480.0),
    (340.0, 420.0),
    (320.0, 460.0),
    (844.0, 340.0),
];

fn plans() -> impl Iterator<Item = Plan> {
    Machine::ALL.into_iter().flat_map(|machine| SIZES.map(|size| plan(machine, size)))
}

fn apart(a: Rect, b: Rect) -> bool {
    a.x + a.width <= b.x + 0.5
        || b.x + b.width <= a.x + 0.5
        || a.y + a.height <= b.y + 0.5
        || b.y + b.height <= a.y + 0.5
}

#[test]
fn every_part_is_drawn_at_every_size() {
    for machine in Machine::ALL {
        for size in SIZES.into_iter().chain([(120.0, 90.0), (1.0, 1.0)]) {
            let svg = draw(machine, size, Paint::page(), Some(parts(machine)[0].id));
            for part in parts(machine) {
                let mark = format!(r#"<g data-part="{}" class="machine-part">"#, part.id);
                assert!(svg.contains(&mark), "{machine:?}: {}", part.id);
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{machine:?} {size:?}");
        }
        assert_eq!(draw(machine, (0.0, 0.0), Paint::page(), None), "");
    }
}

#[test]
fn boxes_lie_apart_and_within_the_picture() {
    let mut wrong = Vec::new();
    for plan in plans() {
        let size = (plan.machine, plan.width, plan.height);
        for (i, a) in plan.pieces.iter().enumerate() {
            let r = a.rect;
            let inside = r.x >= 0.0
                && r.y >= 0.0
                && r.x + r.width <= plan.width
                && r.y + r.height <= plan.height;
            if !inside {
                wrong.push(format!("{size:?}: {} is outside: {r:?}", a.part.id));
            }
            for b in &plan.pieces[i + 1..] {
                if !apart(r, b.rect) {
                    wrong.push(format!("{size:?}: {} on {}", a.part.id, b.part.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_fit_their_boxes_and_lie_on_nothing() {
    let mut wrong = Vec::new();
    for plan in plans() {
        let size = (plan.machine, plan.width, plan.height);
        assert!(plan.small() >= plan::SMALLEST);
        for piece in &plan.pieces {
            if plan::width_of(&piece.text, plan.font, true) > piece.rect.width + 1.0 {
                wrong.push(format!("{size:?}: “{}” is too long", piece.text));
            }
        }
        for (i, note) in plan.notes.iter().enumerate() {
            let extent = plan.extent(note);
            if extent.x < 0.0 || extent.x + extent.width > plan.width {
                wrong.push(format!("{size:?}: “{}” is outside", note.text));
            }
            let boxes = plan.pieces.iter().map(|piece| piece.rect);
            let notes = plan.notes[i + 1..].iter().map(|note| plan.extent(note));
            for other in boxes.chain(notes) {
                if !apart(extent, other) {
                    wrong.push(format!("{size:?}: “{}” on {other:?}", note.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wires_stay_in_the_picture() {
    for plan in plans() {
        for (x, y) in plan.wires.iter().flat_map(|wire| &wire.points) {
            let inside = (0.0..=plan.width).contains(x) && (0.0..=plan.height).contains(y);
            assert!(inside, "{:?} {} {}: {x} {y}", plan.machine, plan.width, plan.height);
        }
    }
}

#[test]
fn doors_are_chapters_and_words_are_short() {
    for machine in Machine::ALL {
        let list = parts(machine);
        for (i, part) in list.iter().enumerate() {
            assert!(chapters::ALL.iter().any(|entry| entry.id == part.door));
            assert!(list[i + 1..].iter().all(|other| other.id != part.id), "{}", part.id);
            assert!(part.does.len() < 110 && part.does.ends_with('.'), "{}", part.does);
            assert!(part.math.chars().count() < 48 && part.shape.len() < 12, "{}", part.math);
            assert!(part.name.len() < 24);
        }
        assert!(list.iter().any(|part| part.new) && list.iter().any(|part| !part.new));
        let changed = changed(machine);
        assert!(changed.starts_with("New here: ") && changed.contains("Kept: "));
        assert!(changed.len() < 200, "{changed}");
        assert!(!spoken(machine).contains('—'));
    }
}

#[test]
fn files_read_back() {
    use crate::figures::{Colors, Provenance, frame::Caption};
    let caption =
        Caption { name: "machine-gru", title: "a < b".into(), marker: None, source: "here".into() };
    let (machine, none) = (Machine::Gru, Provenance::default());
    let json = (files::FILES.json)(&machine, &caption, &none);
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["parts"].as_array().unwrap().len(), parts(machine).len());
    let csv = (files::FILES.csv)(&machine, &caption, &none);
    assert_eq!(csv.lines().filter(|line| line.starts_with("reset,")).count(), 1);
    let svg = (files::FILES.svg)(&machine, &caption, &Colors::new(&Palette::DARK));
    assert!(svg.contains("a &lt; b (filled: new here)"));
}
