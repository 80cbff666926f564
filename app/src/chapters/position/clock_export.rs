//! The clock of a position as files.

use std::{fmt::Write, sync::Arc};

use serde_json::{Map, Value, json};
use unroll_protocol::study::position::Clock;

use crate::figures::pen::FACE;
use crate::figures::{
    export::{Provenance, csv_comment},
    frame::Caption,
    svg::escape,
    theme::Colors,
};

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    pub clock: Option<Arc<Clock>>,
    /// The lit pair, from 0.
    pub pair: usize,
}

/// Tip of the hand of `pair`: sine to the right, cosine upwards.
pub fn tip(encoding: &[f64], pair: usize, length: f64) -> Option<(f64, f64)> {
    let (sin, cos) = (encoding.get(2 * pair)?, encoding.get(2 * pair + 1)?);
    Some((sin * length, -cos * length))
}

/// `frequencies` has a number for each pair, the encodings a sine and a cosine.
pub fn clock_json(drawn: &Drawn, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = Map::new();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(caption.name));
    map.insert("title".into(), json!(caption.title));
    map.insert("pair".into(), json!(drawn.pair));
    provenance.write_into(&mut map);
    if let Some(clock) = &drawn.clock {
        map.insert("at".into(), json!(clock.at));
        map.insert("k".into(), json!(clock.k));
        map.insert("frequencies".into(), json!(clock.frequencies));
        map.insert("here".into(), json!(clock.here));
        map.insert("turned".into(), json!(clock.turned));
        map.insert("there".into(), json!(clock.there));
    }
    Value::Object(map).to_string()
}

/// One line a pair.
pub fn clock_csv(drawn: &Drawn, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    text.push_str("pair,frequency,sin,cos,turned sin,turned cos,there sin,there cos\n");
    let Some(clock) = &drawn.clock else { return text };
    for (pair, frequency) in clock.frequencies.iter().enumerate() {
        let _ = write!(text, "{},{frequency:?}", pair + 1);
        for encoding in [&clock.here, &clock.turned, &clock.there] {
            for value in encoding.iter().skip(2 * pair).take(2) {
                let _ = write!(text, ",{value:?}");
            }
        }
        text.push('\n');
    }
    text
}

pub fn clock_svg(drawn: &Drawn, caption: &Caption, colors: &Colors) -> String {
    let palette = colors.palette;
    let (title, source) = (escape(&caption.title), escape(&caption.source));
    let (ink, muted, paper) = (palette.ink.css(), palette.muted.css(), palette.paper.css());
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 340" width="640" height="340" font-family="{FACE}" font-size="13"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="16" y="26" font-size="15" fill="{ink}">{title}</text><text x="16" y="328" font-size="12" fill="{muted}">{source}</text><g transform="translate(320 175)"><circle r="120" fill="none" stroke="{muted}"/>"#
    );
    if let Some(clock) = &drawn.clock {
        let lit = if drawn.pair == 0 { 0.9 } else { 0.6 };
        for (pair, share, color) in [(0, 0.9, &muted), (drawn.pair, lit, &ink)] {
            for (encoding, dash) in [(&clock.here, ""), (&clock.there, "5 6")] {
                if let Some((x, y)) = tip(encoding, pair, 120.0 * share) {
                    let _ = write!(
                        svg,
                        r#"<path d="M0 0L{x:.2} {y:.2}" stroke="{color}" stroke-width="4" stroke-linecap="round" stroke-dasharray="{dash}"/>"#
                    );
                }
            }
        }
    }
    svg.push_str("</g></svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_every_pair() {
        let clock = Clock {
            at: 5,
            k: 3,
            frequencies: vec![1.0, 0.1],
            here: vec![0.0, 1.0, 1.0, 0.0],
            turned: vec![0.5; 4],
            there: vec![0.5; 4],
            ..Clock::default()
        };
        let drawn = Drawn { clock: Some(Arc::new(clock)), pair: 1 };
        let caption =
            Caption { name: "clock", title: "<5>".into(), marker: None, source: "here".into() };
        let json: Value =
            serde_json::from_str(&clock_json(&drawn, &caption, &Provenance::default())).unwrap();
        assert_eq!(json["here"], json!([0.0, 1.0, 1.0, 0.0]));
        let csv = clock_csv(&drawn, &caption, &Provenance::default());
        assert!(csv.ends_with("2,0.1,1.0,0.0,0.5,0.5,0.5,0.5\n"), "{csv}");
        assert_eq!(tip(&[0.0, 1.0], 0, 2.0), Some((0.0, -2.0)));
        assert_eq!(tip(&[0.0, 1.0], 1, 2.0), None);
    }
}
