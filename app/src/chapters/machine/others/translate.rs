//! Encoder and decoder as two recurrent networks: with one vector between them, and with attention.

use super::plan::{Look, Plan, Rect};
use crate::figures::{Hue, pen::Anchor};

const SOURCE: [&str; 4] = ["s", "a", "i", "d"];
const TARGET: [&str; 4] = ["d", "i", "a", "s"];
const START: &str = "▸";

pub fn encoder_decoder(plan: &mut Plan) {
    const SOURCE_STATES: [&str; 4] = ["h₁", "h₂", "h₃", "h₄"];
    const TARGET_STATES: [&str; 4] = ["s₁", "s₂", "s₃", "s₄"];
    let (f, thin, thick, wide) = (plan.font, plan.thin(), plan.thick(), plan.is_wide());
    let steps = if wide { 4 } else { 3 };
    let (edge, neck) = (0.4 * f, if wide { 4.2 * f } else { 2.2 * f });
    let middle = plan.width / 2.0;
    let spacing = (middle - neck - edge) / steps as f64;
    let source = |step: usize| edge + spacing * (step as f64 + 0.5);
    let target = |step: usize| middle + neck + spacing * (step as f64 + 0.5);
    let height = plan.height;
    let level = |share: f64| height * share;
    let [input, bus, cell, softmax, output] = [0.925, 0.75, 0.56, 0.3, 0.09].map(level);
    let size = ((spacing - 1.6 * f).clamp(2.2 * f, 4.4 * f), 2.9 * f);
    let tall = size.1 / 2.0 + 1.5 * f;
    // Two halls and a narrow neck between them.
    let vector = Rect::around((middle, cell), (1.9 * f, 5.2 * f));
    plan.grounds.push((Hue::Hidden, hourglass(plan.width, cell, (edge, neck, tall, 0.9 * f), f)));
    if wide {
        let y = cell - tall - 0.6 * f;
        plan.name(Hue::Hidden, (edge + 0.3 * f, y), Anchor::Start, "encoder");
        plan.name(Hue::Hidden, (target(0) - 0.8 * f, y), Anchor::End, "decoder");
    }
    let half = size.0 / 2.0;
    for step in 0..steps {
        let x = source(step);
        plan.arrow(Hue::Input, thin, &[(x, input), (x, cell + size.1 / 2.0)]);
        let to = if step + 1 < steps { source(step + 1) - half } else { vector.x };
        plan.arrow(Hue::Hidden, thick, &[(x + half, cell), (to, cell)]);
    }
    let first = target(0) - half;
    plan.arrow(Hue::Hidden, thick, &[vector.right(), (first, cell)]);
    // The vector again, at every step.
    let last = target(steps - 1) - 0.28 * size.0;
    plan.wire(Hue::Hidden, thin, &[vector.bottom(), (middle, bus), (last, bus)]);
    for step in 0..steps {
        let x = target(step);
        let side = x - 0.28 * size.0;
        plan.arrow(Hue::Hidden, thin, &[(side, bus), (side, cell + size.1 / 2.0)]);
        plan.dot(Hue::Hidden, (side, bus));
        plan.arrow(Hue::Input, thin, &[(x, input), (x, cell + size.1 / 2.0)]);
        plan.arrow(Hue::Hidden, thin, &[(x, cell - size.1 / 2.0), (x, softmax + f)]);
        plan.arrow(Hue::Output, thin, &[(x, softmax - f), (x, output + f)]);
        if step + 1 < steps {
            let next = target(step + 1);
            plan.arrow(Hue::Hidden, thick, &[(x + half, cell), (next - half, cell)]);
            // What is written comes back in.
            let between = (x + next) / 2.0;
            let (from, to) = ((x + f, output), (next - f, input));
            plan.arrow(Hue::Output, thin, &[from, (between, output), (between, input), to]);
        }
    }
    for step in 0..steps {
        plan.chip("source", (source(step), input), SOURCE[step]);
        let rect = Rect::around((source(step), cell), size);
        plan.put("encoder", Look::Box, rect, &[SOURCE_STATES[step]], "");
    }
    plan.put("context", Look::Strip(3), vector, &[], "");
    let place = (middle, vector.y - 0.6 * f);
    plan.name(Hue::Hidden, place, Anchor::Middle, "c");
    for step in 0..steps {
        let x = target(step);
        let letter = step.checked_sub(1).map_or(START, |step| TARGET[step]);
        plan.chip("previous", (x, input), letter);
        let rect = Rect::around((x, cell), size);
        plan.put("decoder", Look::Box, rect, &[TARGET_STATES[step]], "");
        let rect = Rect::around((x, softmax), ((spacing - 0.9 * f).min(6.0 * f), 2.0 * f));
        plan.put("softmax", Look::Box, rect, &["softmax", "p"], "");
        plan.chip("target", (x, output), TARGET[step]);
    }
}

/// A ground as wide as the picture, round about `y`, that narrows to `2 * waist` in its middle.
fn hourglass(
    width: f64,
    y: f64,
    (edge, neck, tall, waist): (f64, f64, f64, f64),
    f: f64,
) -> String {
    let (left, right, middle, round) = (edge, width - edge, width / 2.0, 0.8 * f);
    // Its corners from the upper left on, then the lower edge backwards.
    let half = |sign: f64| {
        let (far, near) = (y + sign * tall, y + sign * waist);
        let [a, b, c, d] = [-1.35, -0.5, 0.5, 1.35].map(|share| middle + share * neck);
        let (e, g) = (middle - 0.75 * neck, middle + 0.75 * neck);
        if sign < 0.0 {
            format!(
                "L{:.1} {far:.1}H{a:.1}C{e:.1} {far:.1} {e:.1} {near:.1} {b:.1} {near:.1}H{c:.1}C{g:.1} {near:.1} {g:.1} {far:.1} {d:.1} {far:.1}H{:.1}",
                left + round,
                right - round
            )
        } else {
            format!(
                "L{:.1} {far:.1}H{d:.1}C{g:.1} {far:.1} {g:.1} {near:.1} {c:.1} {near:.1}H{b:.1}C{e:.1} {near:.1} {e:.1} {far:.1} {a:.1} {far:.1}H{:.1}",
                right - round,
                left + round
            )
        }
    };
    let (top, bottom) = (y - tall, y + tall);
    format!(
        "M{left:.1} {:.1}Q{left:.1} {top:.1} {:.1} {top:.1}{}Q{right:.1} {top:.1} {right:.1} {:.1}V{:.1}Q{right:.1} {bottom:.1} {:.1} {bottom:.1}{}Q{left:.1} {bottom:.1} {left:.1} {:.1}z",
        top + round,
        left + round,
        half(-1.0),
        top + round,
        bottom - round,
        right - round,
        half(1.0),
        bottom - round,
    )
}

/// Levels of the machine with attention, in pixels.
struct Levels {
    input: f64,
    forward: f64,
    backward: f64,
    /// Of the states on both sides.
    states: f64,
    /// Of the wire that asks.
    asked: f64,
    scores: f64,
    weights: f64,
    times: f64,
    sum: f64,
    softmax: f64,
    output: f64,
}

pub fn bahdanau(plan: &mut Plan) {
    let (f, wide) = (plan.font, plan.is_wide());
    let steps = if wide { 4 } else { 3 };
    let edge = 0.4 * f;
    let spacing = (plan.width * 0.52 - edge) / steps as f64;
    let columns: Vec<f64> = (0..steps).map(|step| edge + spacing * (step as f64 + 0.5)).collect();
    let size = ((spacing - 1.9 * f).clamp(2.4 * f, 5.0 * f), 1.9 * f);
    let [input, forward, backward, states, asked, scores, weights, times, sum, softmax, output] =
        [0.94, 0.815, 0.715, 0.585, 0.495, 0.415, 0.305, 0.195, 0.09, 0.3, 0.09]
            .map(|share| plan.height * share);
    let at = Levels {
        input,
        forward,
        backward,
        states,
        asked,
        scores,
        weights,
        times,
        sum,
        softmax,
        output,
    };
    let up = size.1 / 2.0;
    let end = edge + spacing * steps as f64;
    let encoder = Rect::between((edge, states - up - 0.7 * f), (end, forward + up + 0.7 * f));
    plan.panel(Hue::Hidden, encoder);
    let attention = Rect::between((edge, sum - 1.1 * f), (end, asked + 0.5 * f));
    plan.panel(Hue::Query, attention);
    let [last, now] = [0.685, 0.875].map(|share| plan.width * share);
    let state = ((0.13 * plan.width).min(5.4 * f).max(3.2 * f), 2.9 * f);
    // The state before asks all source states at once.
    let ask = [(last, states - state.1 / 2.0), (last, asked), (columns[0] - 0.3 * size.0, asked)];
    plan.wire(Hue::Query, plan.thick(), &ask);
    for step in 0..steps {
        read(plan, &at, &columns, step, size);
        attend(plan, &at, columns[step], step, size);
    }
    let context = Rect::around(
        (plan.width * if wide { 0.61 } else { 0.59 }, sum),
        (if wide { 6.4 * f } else { 2.5 * f }, 2.1 * f),
    );
    plan.arrow(Hue::Value, plan.thick(), &[(columns[0], times), (columns[0], sum), context.left()]);
    decode(plan, &at, context, (last, now), state);
    for (step, &x) in columns.iter().enumerate() {
        plan.chip("source", (x, input), SOURCE[step]);
        let mut put = |id, y, name: &str| {
            plan.put(id, Look::Box, Rect::around((x, y), size), &[name], "");
        };
        put("forward", forward, "→");
        put("backward", backward, "←");
        put("states", states, ["h₁", "h₂", "h₃", "h₄"][step]);
        put("score", scores, ["e₁", "e₂", "e₃", "e₄"][step]);
        plan.knot("context", (x, times), "×");
    }
    let right = columns[steps - 1] + size.0 / 2.0;
    let rect = Rect::between((columns[0] - size.0 / 2.0, weights - up), (right, weights + up));
    plan.put("weights", Look::Box, rect, &["softmax: weights α", "softmax"], "");
    plan.put("context", Look::Box, context, &["cᵢ = Σ α h", "cᵢ"], "");
    for (x, name) in [(last, "sᵢ₋₁"), (now, "sᵢ")] {
        plan.put("decoder", Look::Box, Rect::around((x, states), state), &[name], "");
    }
    if wide {
        // What the rows are, beside them.
        let rows = [
            (Hue::Value, times, "values, weighted"),
            (Hue::Muted, scores, "scores"),
            (Hue::Key, (states + asked) / 2.0 + 0.1 * f, "keys"),
            (Hue::Muted, backward, "right to left"),
            (Hue::Muted, forward, "left to right"),
        ];
        let x = end + 0.7 * f;
        for (hue, y, name) in rows {
            plan.note(hue, (x, y + 0.3 * f), Anchor::Start, name);
        }
        plan.note(Hue::Query, (x, asked - 0.5 * f), Anchor::Start, "query");
        plan.name(Hue::Hidden, (x, input), Anchor::Start, "encoder");
        let place = (last, states + state.1 / 2.0 + 1.4 * f);
        plan.name(Hue::Hidden, place, Anchor::Middle, "decoder");
    }
}

/// One column of the encoder: a letter into both chains, both chains into one state.
fn read(plan: &mut Plan, at: &Levels, columns: &[f64], step: usize, size: (f64, f64)) {
    let (f, thin, thick, x) = (plan.font, plan.thin(), plan.thick(), columns[step]);
    let (half, up) = (size.0 / 2.0, size.1 / 2.0);
    plan.arrow(Hue::Input, thin, &[(x, at.input), (x, at.forward + up)]);
    let (beside, low) = (x + half + 0.7 * f, at.input - 1.4 * f);
    let path = [(x, low), (beside, low), (beside, at.backward), (x + half, at.backward)];
    plan.arrow(Hue::Input, thin, &path);
    plan.dot(Hue::Input, (x, low));
    let side = x - half - 0.7 * f;
    let path =
        [(x - half, at.forward), (side, at.forward), (side, at.states), (x - half, at.states)];
    plan.arrow(Hue::Hidden, thin, &path);
    plan.arrow(Hue::Hidden, thin, &[(x, at.backward - up), (x, at.states + up)]);
    if let Some(next) = columns.get(step + 1) {
        let (there, back) = (at.forward + 0.45 * f, at.backward - 0.45 * f);
        plan.arrow(Hue::Hidden, thick, &[(x + half, there), (next - half, there)]);
        plan.arrow(Hue::Hidden, thick, &[(next - half, back), (x + half, back)]);
    }
}

/// One column of the attention: as a key the state is scored, as a value it is weighed.
fn attend(plan: &mut Plan, at: &Levels, x: f64, step: usize, size: (f64, f64)) {
    let (f, thin) = (plan.font, plan.thin());
    let (half, up) = (size.0 / 2.0, size.1 / 2.0);
    // Some column gets most: its wires are the thickest.
    let share = thin * [1.1, 3.0, 1.6, 0.9][step];
    plan.arrow(Hue::Key, thin, &[(x, at.states - up), (x, at.scores + up)]);
    let asks = x - 0.3 * size.0;
    plan.arrow(Hue::Query, thin, &[(asks, at.asked), (asks, at.scores + up)]);
    plan.dot(Hue::Query, (asks, at.asked));
    plan.arrow(Hue::Query, thin, &[(x, at.scores - up), (x, at.weights + up)]);
    plan.arrow(Hue::Query, share, &[(x, at.weights - up), (x, at.times + 0.88 * f)]);
    let past = x + half + 0.7 * f;
    let to = (x + 0.88 * f, at.times);
    plan.arrow(
        Hue::Value,
        share,
        &[(x + half, at.states), (past, at.states), (past, at.times), to],
    );
    if step > 0 {
        plan.wire(Hue::Value, share, &[(x, at.times), (x, at.sum)]);
        plan.dot(Hue::Value, (x, at.sum));
    }
}

/// The decoder’s side: what goes into the next state and out of it.
fn decode(plan: &mut Plan, at: &Levels, context: Rect, (last, now): (f64, f64), state: (f64, f64)) {
    let (f, thin, thick) = (plan.font, plan.thin(), plan.thick());
    let (half, up) = (state.0 / 2.0, state.1 / 2.0);
    let (turn, (right, y)) = ((last + now) / 2.0, context.right());
    let width = (2.0 * (now - turn) - 2.4 * f).min(6.0 * f);
    let low = at.states + 0.6 * f;
    plan.wire(Hue::Hidden, thick, &[(last - half - 1.2 * f, low), (last - half, low)]);
    plan.arrow(Hue::Hidden, thick, &[(last + half, low), (now - half, low)]);
    plan.arrow(Hue::Hidden, thick, &[(now + half, low), (plan.width - 0.3 * f, low)]);
    let high = at.states - 0.6 * f;
    plan.arrow(Hue::Value, thick, &[(right, y), (turn, y), (turn, high), (now - half, high)]);
    plan.arrow(Hue::Value, thin, &[(turn, at.softmax), (now - width / 2.0, at.softmax)]);
    plan.dot(Hue::Value, (turn, at.softmax));
    plan.arrow(Hue::Hidden, thin, &[(now, at.states - up), (now, at.softmax + f)]);
    plan.arrow(Hue::Output, thin, &[(now, at.softmax), (now, at.output + f)]);
    plan.arrow(Hue::Input, thin, &[(now, at.input), (now, at.states + up)]);
    // The letter before has a say in the output too.
    let (beside, fork) = (now + half + 0.6 * f, at.states + up + 1.4 * f);
    let (bend, into) = (at.softmax + 2.2 * f, now + 0.3 * width);
    let path = [(now, fork), (beside, fork), (beside, bend), (into, bend), (into, at.softmax + f)];
    plan.arrow(Hue::Input, thin, &path);
    plan.dot(Hue::Input, (now, fork));
    plan.chip("previous", (now, at.input), TARGET[0]);
    let rect = Rect::around((now, at.softmax), (width, 2.0 * f));
    plan.put("softmax", Look::Box, rect, &["softmax", "p"], "");
    plan.chip("target", (now, at.output), TARGET[1]);
}
