//! The cells of LSTM and GRU. Both have the letter's wire and the hidden state's wire along the
//! bottom, the gates above them, and the memory as a line along the top.

use super::plan::{Look, Plan, Point, Rect, width_of};
use crate::figures::{Hue, pen::Anchor};

/// Where both cells have their heights, in pixels, and their panel's edges.
struct Frame {
    line: f64,
    knots: f64,
    gates: f64,
    /// Of the wires along the bottom: hidden state, letter.
    hidden: f64,
    letter: f64,
    gate: (f64, f64),
}

/// The panel, the letter below, the output above at `out`.
fn frame(plan: &mut Plan, out: f64) -> Frame {
    let (f, thin, wide) = (plan.font, plan.thin(), plan.is_wide());
    let height = plan.height;
    let level = |share: f64| height * share;
    let edge = plan.width * if wide { 0.075 } else { 0.115 };
    let panel = Rect::between((edge, level(0.225)), (plan.width - edge, level(0.80)));
    let frame = Frame {
        line: level(0.315),
        knots: level(0.445),
        gates: level(0.6),
        hidden: level(0.71),
        letter: level(0.757),
        gate: ((plan.width * 0.155).min(9.6 * f), if wide { 3.3 * f } else { 2.4 * f }),
    };
    plan.panel(Hue::Hidden, panel);
    let x = plan.width / 2.0;
    let (chip, strip) = (level(0.945), level(0.865));
    plan.wire(Hue::Input, thin, &[(x, chip), (x, strip)]);
    plan.wire(Hue::Input, thin, &[(x, strip), (x, frame.letter)]);
    plan.dot(Hue::Input, (x, frame.letter));
    plan.chip("letter", (x, chip), "s");
    let size = (4.8 * f, 1.15 * f);
    let rect = Rect::around((x, strip), size);
    plan.put("letter", Look::OneHot(4), rect, &[], "");
    let (softmax, next) = (level(0.145), level(0.05));
    let width = (8.4 * f).min(2.0 * (plan.width - out) - f);
    plan.arrow(Hue::Output, thin, &[(out, softmax), (out, next + f)]);
    let rect = Rect::around((out, softmax), (width, 2.1 * f));
    plan.put("softmax", Look::Box, rect, &["V, softmax", "softmax"], "");
    plan.chip("next", (out, next), "a");
    if wide {
        let place = (x + 3.2 * f, strip + 0.3 * f);
        plan.note(Hue::Muted, place, Anchor::Start, "letter xₜ, one-hot");
        let place = (panel.x + 0.3 * f, panel.y - 0.6 * f);
        plan.name(Hue::Hidden, place, Anchor::Start, "the cell, at one step");
    }
    frame
}

/// A state's name at the cell's left or right edge.
fn end(plan: &mut Plan, id: &str, y: f64, right: bool, name: &str) -> Rect {
    let (f, margin) = (plan.font, 0.3 * plan.font);
    let width = if plan.is_wide() { 3.4 * f } else { 2.75 * f };
    let x = if right { plan.width - margin - width / 2.0 } else { margin + width / 2.0 };
    plan.put(id, Look::Box, Rect::around((x, y), (width, 1.9 * f)), &[name], "")
}

/// A gate's box with a wire from the letter and one from the hidden state.
fn gate(
    plan: &mut Plan,
    at: &Frame,
    id: &str,
    (x, width): (f64, f64),
    names: &[&str],
    under: &str,
    (letter, hidden): (bool, bool),
) -> Rect {
    let thin = plan.thin();
    let rect = Rect::around((x, at.gates), (width, at.gate.1));
    let (low, side) = (rect.bottom().1, width * 0.24);
    if letter {
        plan.arrow(Hue::Input, thin, &[(x - side, at.letter), (x - side, low)]);
        plan.dot(Hue::Input, (x - side, at.letter));
    }
    if hidden {
        plan.arrow(Hue::Hidden, thin, &[(x + side, at.hidden), (x + side, low)]);
        plan.dot(Hue::Hidden, (x + side, at.hidden));
    }
    plan.put(id, Look::Box, rect, names, under)
}

/// Just outside of a knot at `at`: below, beside.
fn below(plan: &Plan, (x, y): Point) -> Point {
    (x, y + 0.88 * plan.font)
}

fn before(plan: &Plan, (x, y): Point) -> Point {
    (x - 0.88 * plan.font, y)
}

fn after(plan: &Plan, (x, y): Point) -> Point {
    (x + 0.88 * plan.font, y)
}

pub fn lstm(plan: &mut Plan) {
    let width = plan.width;
    let at = |share: f64| width * share;
    let [forget, input, candidate, output] = [0.21, 0.385, 0.56, 0.735].map(at);
    let (plus, tap, out) = ((input + candidate) / 2.0, at(0.645), at(0.845));
    let at = frame(plan, out);
    let (f, thin, thick) = (plan.font, plan.thin(), plan.thick());
    let c_before = end(plan, "cell", at.line, false, "cₜ₋₁");
    let c_after = end(plan, "cell", at.line, true, "cₜ");
    let h_before = end(plan, "hidden", at.hidden, false, "hₜ₋₁");
    let h_after = end(plan, "hidden", at.hidden, true, "hₜ");
    // Along the bottom: the letter and the state before.
    let side = at.gate.0 * 0.24;
    plan.wire(Hue::Hidden, thick, &[h_before.right(), (output + side, at.hidden)]);
    plan.wire(Hue::Input, thick, &[(forget - side, at.letter), (output - side, at.letter)]);
    let (keep, add) = ((forget, at.line), (plus, at.line));
    let (write, show) = ((plus, at.knots), (output, at.knots));
    let top = at.gates - at.gate.1 / 2.0;
    plan.arrow(Hue::Weight, thin, &[(forget, top), below(plan, keep)]);
    plan.arrow(Hue::Input, thin, &[(input, top), (input, at.knots), before(plan, write)]);
    plan.arrow(Hue::Value, thin, &[(candidate, top), (candidate, at.knots), after(plan, write)]);
    plan.arrow(Hue::Value, thin, &[write, below(plan, add)]);
    plan.arrow(Hue::Output, thin, &[(output, top), below(plan, show)]);
    plan.arrow(Hue::Cell, thin, &[(tap, at.line), (tap, at.knots), before(plan, show)]);
    // What is shown goes up to the output and on to the next step.
    plan.wire(Hue::Hidden, thin, &[show, (out, at.knots)]);
    plan.arrow(Hue::Hidden, thin, &[(out, at.knots), (out, plan.height * 0.145 + 1.05 * f)]);
    plan.arrow(Hue::Hidden, thick, &[(out, at.knots), (out, at.hidden), h_after.left()]);
    plan.dot(Hue::Hidden, (out, at.knots));
    plan.dot(Hue::Cell, (tap, at.line));
    plan.arrow(Hue::Cell, 1.5 * thick, &[c_before.right(), c_after.left()]);
    // The sums of all gates or of none.
    let sums = ["σ(W x + U h + b)", "tanh(W x + U h + b)"];
    let room = at.gate.0 - 0.7 * f;
    let fit = sums.iter().all(|sum| width_of(sum, plan.small(), false) <= room);
    let [sum, squashed] = if fit { sums } else { [""; 2] };
    let each: [(&str, f64, &[&str], &str); 4] = [
        ("forget", forget, &["forget f", "forget", "f"], sum),
        ("input", input, &["input i", "input", "i"], sum),
        ("candidate", candidate, &["candidate g", "candidate", "cand. g", "g"], squashed),
        ("output", output, &["output o", "output", "o"], sum),
    ];
    for (id, x, names, under) in each {
        gate(plan, &at, id, (x, at.gate.0), names, under, (true, true));
    }
    plan.knot("forget", keep, "×");
    plan.knot("cell", add, "+");
    plan.knot("input", write, "×");
    plan.knot("output", show, "×");
    let rect = Rect::around((tap, (at.line + at.knots) / 2.0), (3.5 * f, 1.7 * f));
    plan.put("squash", Look::Box, rect, &["tanh"], "");
    if plan.is_wide() {
        let y = at.line + 1.5 * f;
        plan.note(Hue::Muted, ((forget + plus) / 2.0, y), Anchor::Middle, "f · cₜ₋₁");
        let (x, y) = (plus + 1.1 * f, (at.line + at.knots) / 2.0 + 0.3 * f);
        plan.note(Hue::Muted, (x, y), Anchor::Start, "i · g");
        let (shown, place) = ("o · tanh(cₜ)", ((output + out) / 2.0 + 0.4 * f, at.knots + 1.5 * f));
        if width_of(shown, plan.small(), false) < out - output - 1.4 * f {
            plan.note(Hue::Muted, place, Anchor::Middle, shown);
        }
    }
}

pub fn gru(plan: &mut Plan) {
    let width = plan.width;
    let at = |share: f64| width * share;
    let [update, rest, new, knot, recurrent, reset] =
        [0.235, 0.335, 0.44, 0.567, 0.675, 0.81].map(at);
    let (tap, out) = (at(0.136), at(0.845));
    let [narrow, middling] = [0.11, 0.14].map(at);
    let at = frame(plan, out);
    let (f, thin, thick) = (plan.font, plan.thin(), plan.thick());
    let h_before = end(plan, "hidden", at.line, false, "hₜ₋₁");
    let h_after = end(plan, "hidden", at.line, true, "hₜ");
    let side = at.gate.0 * 0.24;
    let reset_side = middling * 0.24;
    plan.wire(
        Hue::Hidden,
        thick,
        &[(tap, at.line), (tap, at.hidden), (reset + reset_side, at.hidden)],
    );
    plan.wire(Hue::Input, thick, &[(update - side, at.letter), (reset - reset_side, at.letter)]);
    let (keep, add, take) = ((update, at.line), (new, at.line), (new, at.knots));
    let heard = (knot, at.gates);
    let top = at.gates - at.gate.1 / 2.0;
    let half = 1.9 * f;
    plan.arrow(Hue::Weight, thin, &[(update, top), below(plan, keep)]);
    plan.arrow(Hue::Weight, thin, &[(update, at.knots), (rest - half, at.knots)]);
    plan.dot(Hue::Weight, (update, at.knots));
    plan.arrow(Hue::Weight, thin, &[(rest, at.knots), before(plan, take)]);
    plan.arrow(Hue::Value, thin, &[(new, top), below(plan, take)]);
    plan.arrow(Hue::Value, thin, &[take, below(plan, add)]);
    plan.arrow(Hue::Hidden, thin, &[(recurrent, at.gates), after(plan, heard)]);
    let high = top - 1.3 * f;
    let over = (knot, at.gates - 0.88 * f);
    plan.arrow(Hue::Key, thin, &[(reset, top), (reset, high), (knot, high), over]);
    plan.arrow(Hue::Hidden, thin, &[heard, (new + at.gate.0 / 2.0, at.gates)]);
    plan.arrow(Hue::Hidden, 1.5 * thick, &[h_before.right(), h_after.left()]);
    plan.arrow(Hue::Hidden, thin, &[(out, at.line), (out, plan.height * 0.145 + 1.05 * f)]);
    plan.dot(Hue::Hidden, (out, at.line));
    plan.dot(Hue::Hidden, (tap, at.line));
    let wide = (update, at.gate.0);
    let sum = "σ(W x + U h + b)";
    gate(plan, &at, "update", wide, &["update z", "update", "z"], sum, (true, true));
    let names = ["candidate n", "candidate", "cand. n", "n"];
    gate(plan, &at, "candidate", (new, at.gate.0), &names, "tanh(W x + b + …)", (true, false));
    let names = ["U h + b", "U h"];
    gate(plan, &at, "recurrent", (recurrent, narrow), &names, "", (false, true));
    let names = ["reset r", "reset", "r"];
    gate(plan, &at, "reset", (reset, middling), &names, sum, (true, true));
    plan.knot("update", keep, "×");
    plan.knot("hidden", add, "+");
    plan.knot("rest", take, "×");
    plan.knot("reset", heard, "×");
    let rect = Rect::around((rest, at.knots), (2.0 * half, 1.8 * f));
    plan.put("rest", Look::Box, rect, &["1 − z"], "");
    if plan.is_wide() {
        let y = at.line + 1.5 * f;
        plan.note(Hue::Muted, ((update + new) / 2.0, y), Anchor::Middle, "z · hₜ₋₁");
        let place = (new + 1.1 * f, (at.line + at.knots) / 2.0 + 0.3 * f);
        plan.note(Hue::Muted, place, Anchor::Start, "(1 − z) · n");
        let place = (knot, at.gates + 2.0 * f);
        plan.note(Hue::Muted, place, Anchor::Middle, "r · (U h + b)");
    }
}
