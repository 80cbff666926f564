//! Elman's network.

use super::plan::{Look, Plan, Rect};
use crate::figures::{Hue, pen::Anchor};

pub fn elman(plan: &mut Plan) {
    const LETTERS: [&str; 6] = ["s", "a", "i", "d", "␣", "F"];
    let (f, thin, thick, wide) = (plan.font, plan.thin(), plan.thick(), plan.is_wide());
    let steps = if wide || plan.width >= 560.0 { 5 } else { 3 };
    let (left, right) = if wide { (7.6 * f, 2.6 * f) } else { (2.7 * f, 1.6 * f) };
    let spacing = (plan.width - left - right) / steps as f64;
    let column = |step: usize| left + spacing * (step as f64 + 0.5);
    let height = plan.height;
    let level = |share: f64| height * share;
    let [letter, onehot, w, cell, state, v, softmax, next] =
        [0.94, 0.85, 0.75, 0.615, 0.455, 0.335, 0.205, 0.06].map(level);
    let cell_width =
        if wide { (spacing - 3.4 * f).min(8.0 * f) } else { (spacing - 4.4 * f).min(5.0 * f) };
    let cell_size = (cell_width, if wide { 3.4 * f } else { 2.4 * f });
    let strip = (if wide { 4.8 * f } else { 3.4 * f }, 1.15 * f);
    // A row of the picture is one kind of thing: said once, at the left.
    if wide {
        let rows = [
            (letter, "letter"),
            (onehot, "one-hot x"),
            (cell, "cell"),
            (state, "state s"),
            (softmax, "chances y"),
            (next, "next letter"),
        ];
        for (y, name) in rows {
            plan.note(Hue::Muted, (0.5 * f, y + 0.3 * f), Anchor::Start, name);
        }
    }
    plan.panel(
        Hue::Hidden,
        Rect::between(
            (if wide { left - 2.0 * f } else { 0.1 * f }, state - 1.4 * f),
            (plan.width - 0.3 * f, cell + cell_size.1 / 2.0 + f),
        ),
    );
    let first = if wide { left - 0.3 * f } else { 1.4 * f };
    // What is before the first letter: a state of zeros.
    let cell_left = column(0) - cell_size.0 / 2.0;
    let zero = Rect::around((first, cell), (2.2 * f, 1.6 * f));
    for step in 0..steps {
        let x = column(step);
        let boxes = [letter, onehot, w, cell, state, v, softmax, next];
        let halves = [f, 0.575 * f, 0.775 * f, cell_size.1 / 2.0, strip.1 / 2.0, 0.775 * f, f, f];
        for i in 0..7 {
            let hue = match i {
                0..2 => Hue::Input,
                2 => Hue::Weight,
                3 | 4 => Hue::Hidden,
                _ => Hue::Output,
            };
            let ends = [(x, boxes[i] - halves[i]), (x, boxes[i + 1] + halves[i + 1])];
            if [1, 4].contains(&i) {
                plan.wire(hue, thin, &ends);
            } else {
                plan.arrow(hue, thin, &ends);
            }
        }
        // The state goes on, weighed by U on its way.
        let out = (x + strip.0 / 2.0, state);
        if step + 1 < steps {
            let to = (column(step + 1) - cell_size.0 / 2.0, cell);
            plan.sweep(Hue::Hidden, thick, out, to);
        } else {
            plan.arrow(Hue::Hidden, thick, &[out, (plan.width - 0.5 * f, state)]);
        }
    }
    plan.arrow(Hue::Hidden, thick, &[zero.right(), (cell_left, cell)]);
    plan.put("state", Look::Box, zero, &["s₀"], "");
    for step in 0..steps {
        let x = column(step);
        plan.chip("letter", (x, letter), LETTERS[step]);
        let one = [4, 0, 2, 1, 5][step];
        plan.put("onehot", Look::OneHot(one), Rect::around((x, onehot), strip), &[], "");
        plan.pill("w", (x, w), "W");
        let names: &[&str] = &["tanh"];
        plan.put("cell", Look::Box, Rect::around((x, cell), cell_size), names, "W x + U s + b");
        if step + 1 < steps {
            let from = x + strip.0 / 2.0;
            let to = column(step + 1) - cell_size.0 / 2.0;
            plan.pill("u", ((from + to) / 2.0, (state + cell) / 2.0), "U");
        }
        plan.put("state", Look::Strip(step), Rect::around((x, state), strip), &[], "");
        plan.pill("v", (x, v), "V");
        let size = ((5.4 * f).min(spacing - 0.8 * f), 2.0 * f);
        plan.put("softmax", Look::Box, Rect::around((x, softmax), size), &["softmax"], "");
        plan.chip("next", (x, next), LETTERS[step + 1]);
    }
}
