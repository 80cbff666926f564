//! The losses of a run as a table: a line a step, as docs/train.py writes it too.

use std::fmt::Write;

use unroll_protocol::CurvePoint;

/// What each column holds: nats per token, and the global gradient norm before clipping. The last is empty
/// where it was not measured.
pub const COLUMNS: &str = "step,loss,gradient_norm,learning_rate,held_out_loss";

/// The lines of these steps.
pub fn written(points: &[CurvePoint]) -> String {
    let mut lines = String::new();
    for CurvePoint { step, loss, held_out, gradient_norm, learning_rate } in points {
        let held_out = held_out.map(|loss| loss.to_string()).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{step},{loss},{gradient_norm},{learning_rate},{held_out}");
    }
    lines
}

/// The step that a line is about; `None` for the head, and for a line that was cut off.
pub fn read(line: &str) -> Option<CurvePoint> {
    let mut fields = line.trim_end().split(',');
    let mut next = || fields.next();
    let number =
        |field: Option<&str>| field?.parse().ok().filter(|number: &f32| number.is_finite());
    let step = next()?.parse().ok()?;
    let [loss, gradient_norm, learning_rate] = [number(next()), number(next()), number(next())];
    let held_out = number(Some(next()?));
    Some(CurvePoint {
        step,
        loss: loss?,
        held_out,
        gradient_norm: gradient_norm?,
        learning_rate: learning_rate?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_bit_for_bit() {
        let point = |step, held_out| CurvePoint {
            step,
            loss: 1.0 / step as f32,
            held_out,
            gradient_norm: 1e-20,
            learning_rate: 0.005,
        };
        let points = [point(1, None), point(7, Some(2.345_678_9)), point(9, None)];
        let table = format!("{COLUMNS}\n{}", written(&points));
        assert_eq!(table.lines().filter_map(read).collect::<Vec<_>>(), points);
        assert_eq!(table.replace('\n', "\r\n").lines().filter_map(read).count(), 3);
    }

    #[test]
    fn lines_that_are_wrong_are_no_steps() {
        for line in ["", "7", "7,1.5", "7,1.5,1,0.1", "7,NaN,1,0.1,", "-1,1,1,0.1,", "x,1,1,1,1"] {
            assert_eq!(read(line), None, "{line}");
        }
        assert_eq!(read("7,1.5,1,0.1,").map(|point| (point.step, point.held_out)), Some((7, None)));
    }
}
