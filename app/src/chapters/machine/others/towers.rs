//! The transformer of 2017: two towers, norms after the sums as in the paper.

use super::plan::{Look, Plan, Point, Rect};
use crate::figures::{Hue, pen::Anchor};

/// One tower: where its middle is, how wide its boxes are, and which side its bypasses take.
struct Tower {
    x: f64,
    width: f64,
    outward: f64,
}

/// Levels of a block's boxes, as shares of the height: what works, and its sum and norm.
const BLOCK: [(f64, f64); 3] = [(0.695, 0.622), (0.528, 0.455), (0.361, 0.288)];

/// As high as a box may be in a low drawing, so that it leaves its neighbors their room.
const HIGHEST: f64 = 0.07;

fn tall(plan: &Plan, lines: f64) -> f64 {
    (lines * plan.font).min(HIGHEST * plan.height)
}

pub fn transformer(plan: &mut Plan) {
    let (f, wide) = (plan.font, plan.is_wide());
    let width = if wide { (plan.width * 0.30).min(17.0 * f) } else { plan.width * 0.295 };
    let tower = |x: f64, outward| Tower { x: plan.width * x, width, outward };
    let encoder = tower(0.255, -1.0);
    let decoder = tower(0.745, 1.0);
    for (tower, name) in [(&encoder, "encoder"), (&decoder, "decoder")] {
        let panel = panel(plan, tower);
        plan.panel(Hue::Hidden, panel);
        let left = tower.outward < 0.0;
        let anchor = if left == wide { Anchor::End } else { Anchor::Start };
        let edge = if left { panel.x } else { panel.x + panel.width };
        if wide {
            let (x, y) = (edge + tower.outward * 0.7 * f, panel.center().1);
            plan.name(Hue::Hidden, (x, y), anchor, name);
            plan.note(Hue::Hidden, (x, y + 1.3 * f), anchor, "6 ×");
        } else {
            let place = (edge - tower.outward * 0.4 * f, panel.y - 0.6 * f);
            plan.name(Hue::Hidden, place, anchor, "6 ×");
        }
    }
    source(plan, &encoder, "source", &["s", "a", "i", "d"]);
    source(plan, &decoder, "previous", &["▸", "d", "i", "a"]);
    let height = plan.height;
    let level = |share: f64| height * share;
    let [start, exit] = [0.745, 0.215].map(level);
    let top = across(plan, &encoder, exit);
    // The encoder has nobody to ask: its line passes where the decoder asks.
    let begin = (encoder.x, start);
    let after = sublayer(
        plan,
        &encoder,
        begin,
        0,
        "self",
        &["multi-head self-attention", "self-attention", "attention"],
    );
    let after = sublayer(plan, &encoder, after, 2, "feedforward", &["feed-forward", "FFN"]);
    plan.wire(Hue::Hidden, plan.thick(), &[after, (encoder.x, exit), (top.0, exit)]);
    let begin = (decoder.x, start);
    let names = ["masked self-attention", "masked self-att.", "masked att.", "masked"];
    let after = sublayer(plan, &decoder, begin, 0, "masked", &names);
    let after = sublayer(plan, &decoder, after, 1, "cross", &["cross-attention", "cross-att."]);
    let after = sublayer(plan, &decoder, after, 2, "feedforward", &["feed-forward", "FFN"]);
    let [linear, softmax, target] = [0.19, 0.115, 0.04].map(level);
    let (thin, high) = (plan.thin(), 0.85 * f);
    plan.arrow(Hue::Hidden, plan.thick(), &[after, (decoder.x, linear + high)]);
    plan.arrow(Hue::Output, thin, &[(decoder.x, linear), (decoder.x, softmax + high)]);
    plan.arrow(Hue::Output, thin, &[(decoder.x, softmax), (decoder.x, target + 0.9 * f)]);
    let size = (width * 0.7, tall(plan, 1.7));
    for (id, y) in [("linear", linear), ("softmax", softmax)] {
        plan.put(id, Look::Box, Rect::around((decoder.x, y), size), &[id], "");
    }
    let rect = Rect::around((decoder.x, target), (1.8 * f, tall(plan, 1.8)));
    plan.put("target", Look::Chip, rect, &["s"], "");
}

fn panel(plan: &Plan, tower: &Tower) -> Rect {
    let f = plan.font;
    let (near, far) = (0.7 * f, 1.8 * f);
    let half = tower.width / 2.0;
    let (left, right) = if tower.outward < 0.0 { (far, near) } else { (near, far) };
    Rect::between(
        (tower.x - half - left, plan.height * 0.288 - 1.6 * f),
        (tower.x + half + right, plan.height * 0.765),
    )
}

/// Letters, their embedding and where they stand, up to the tower's foot.
fn source(plan: &mut Plan, tower: &Tower, id: &str, letters: &[&str]) {
    let (f, thin, x) = (plan.font, plan.thin(), tower.x);
    let height = plan.height;
    let level = |share: f64| height * share;
    let [chips, embedding, position] = [0.955, 0.878, 0.81].map(level);
    let width = tower.width * 0.8;
    let each = width / letters.len() as f64;
    let (side, high) = ((1.8 * f).min(each - 2.0), tall(plan, 1.8).min(each - 2.0));
    for (i, letter) in letters.iter().enumerate() {
        let at = (x - width / 2.0 + each * (i as f64 + 0.5), chips);
        plan.arrow(Hue::Input, thin, &[at, (at.0, embedding + 0.85 * f)]);
        plan.put(id, Look::Chip, Rect::around(at, (side, high)), &[letter], "");
    }
    plan.wire(Hue::Hidden, plan.thick(), &[(x, embedding), (x, level(0.745))]);
    let wave = (x + tower.outward * width * 0.36, position);
    plan.arrow(Hue::Weight, thin, &[wave, (x + tower.outward * 0.85 * f, position)]);
    let rect = Rect::around((x, embedding), (width, tall(plan, 1.7)));
    plan.put("embedding", Look::Box, rect, &["embedding"], "");
    let knot = tall(plan, 1.6);
    let rect = Rect::around((x, position), (knot, knot));
    plan.put("position", Look::Knot, rect, &["+"], "");
    let rect = Rect::around(wave, (1.1875 * knot, 1.1875 * knot));
    plan.put("position", Look::Wave, rect, &[], "");
    if plan.is_wide() {
        let beside = wave.0 + tower.outward * 1.4 * f;
        let anchor = if tower.outward < 0.0 { Anchor::End } else { Anchor::Start };
        plan.note(Hue::Muted, (beside, position + 0.3 * f), anchor, "position");
    }
}

/// Keys and values on their way from the encoder's top to the decoder's side; where they set out.
fn across(plan: &mut Plan, encoder: &Tower, exit: f64) -> Point {
    let (f, thick) = (plan.font, plan.thick());
    let middle = plan.width / 2.0;
    let cross = plan.height * BLOCK[1].0;
    let side = plan.width - encoder.x - encoder.width / 2.0;
    let split = (middle - 0.5 * f, exit);
    let lines = [(Hue::Key, -0.45, -0.45, "keys"), (Hue::Value, 0.45, 0.45, "values")];
    for (hue, dx, dy, name) in lines {
        // The outer of the two turns later, so that they run side by side.
        let (x, y) = (middle - dx * f, cross + dy * f);
        plan.arrow(hue, thick, &[(split.0, exit), (x, exit), (x, y), (side, y)]);
        if plan.is_wide() {
            let (shift, anchor) = if dx < 0.0 { (0.6, Anchor::Start) } else { (-0.6, Anchor::End) };
            let place = (x + shift * f, (exit + cross) / 2.0);
            plan.note(hue, place, anchor, name);
        }
    }
    (middle - 0.45 * f, exit)
}

/// One layer with its bypass, sum and norm; from where the line comes to where it goes on.
fn sublayer(
    plan: &mut Plan,
    tower: &Tower,
    from: Point,
    level: usize,
    id: &str,
    names: &[&str],
) -> Point {
    let (f, thin, thick) = (plan.font, plan.thin(), plan.thick());
    let (work, norm) = (plan.height * BLOCK[level].0, plan.height * BLOCK[level].1);
    let tall = tall(plan, 1.85);
    let (x, up) = (tower.x, tall / 2.0);
    let low = work + up;
    // Where the line splits: around the layer, and into it.
    let gap = (plan.height * (BLOCK[0].1 - BLOCK[1].0) - tall).max(0.0);
    let fork = low + 0.62 * gap;
    let outside = x + tower.outward * (tower.width / 2.0 + 0.95 * f);
    let edge = x + tower.outward * tower.width / 2.0;
    plan.wire(Hue::Hidden, thick, &[from, (x, fork)]);
    plan.arrow(Hue::Hidden, thin, &[(x, fork), (outside, fork), (outside, norm), (edge, norm)]);
    plan.dot(Hue::Hidden, (x, fork));
    let spread = tower.width * 0.2;
    let hues: &[(Hue, f64)] = match id {
        "cross" => &[(Hue::Query, 0.0)],
        "feedforward" => &[(Hue::Hidden, 0.0)],
        _ => &[(Hue::Key, -1.0), (Hue::Value, 1.0), (Hue::Query, 0.0)],
    };
    let fan = low + 0.42 * gap;
    for &(hue, side) in hues {
        let to = x + side * spread;
        plan.arrow(hue, 1.4 * thin, &[(x, fork), (x, fan), (to, fan), (to, low)]);
    }
    plan.wire(Hue::Hidden, thick, &[(x, work), (x, norm)]);
    plan.put(id, Look::Box, Rect::around((x, work), (tower.width, tall)), names, "");
    let rect = Rect::around((x, norm), (tower.width, tall * 0.86));
    plan.put("addnorm", Look::Box, rect, &["add & norm"], "");
    (x, norm - 0.43 * tall)
}
