//! A machine as a file: its parts, its picture.

use std::fmt::Write;

use serde_json::json;

use super::{Machine, changed, draw, parts};
use crate::figures::{
    Colors, Provenance,
    export::{csv_comment, field, head},
    frame::{Caption, Files},
    pen::Paint,
    svg::sheet,
};

pub const FILES: Files<Machine> = Files { json, csv, svg };

fn json(machine: &Machine, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = head(caption.name, &caption.title, provenance);
    map.insert("changed".into(), json!(changed(*machine)));
    let part = |part: &super::Part| {
        json!({
            "id": part.id,
            "name": part.name,
            "does": part.does,
            "math": part.math,
            "shape": part.shape,
            "chapter": part.door.id(),
            "new": part.new,
        })
    };
    map.insert("parts".into(), parts(*machine).iter().map(part).collect());
    serde_json::Value::Object(map).to_string()
}

fn csv(machine: &Machine, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("part,name,math,shape,does,chapter,new\n");
    for part in parts(*machine) {
        let [name, math, shape, does] = [part.name, part.math, part.shape, part.does].map(field);
        let (door, new) = (part.door.id(), u8::from(part.new));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{name},{math},{shape},{does},{door},{new}", part.id);
    }
    text
}

fn svg(machine: &Machine, caption: &Caption, colors: &Colors) -> String {
    const SIZE: (f64, f64) = (1200.0, 720.0);
    let inside = draw(*machine, SIZE, Paint::of(colors.palette), None);
    let title = format!("{} (filled: new here)", caption.title);
    sheet(&inside, SIZE, &Caption { title, ..caption.clone() }, colors.palette)
}
