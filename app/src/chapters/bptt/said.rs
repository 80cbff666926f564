//! What comes back to the letter through the RNN, in words that stay true while it trains.

use unroll_protocol::study::bptt::{Cell, Flow, LossKind, Settings};

use super::curves::{FADED, amount, arriving, each_step, number};
use crate::controls::grouped;

/// Less than this is faint.
pub const FAINT: f64 = 0.1;
/// More than this has grown on the way.
pub const GROWN: f64 = 2.0;
/// As far as this, either way, the rule of thumb may miss what is measured: over 30 steps it is a
/// factor of 4.
const MISSES: f64 = 0.05;

/// One of four endings, by how much of the last step's gradient arrives; none where it was cut off.
fn ending(share: f64, endings: [&'static str; 4]) -> &'static str {
    let [vanished, faint, arrives, grown] = endings;
    match share {
        0.0 => "",
        _ if share < FADED => vanished,
        _ if share < FAINT => faint,
        _ if share <= GROWN => arrives,
        _ => grown,
    }
}

fn moment(flow: &Flow) -> String {
    match flow.step {
        0 => "Before training".to_owned(),
        step => format!("At training step {}", grouped(step.into())),
    }
}

/// What the RNN's gradient comes to now; of the loss at the last step.
pub fn now(flow: &Flow) -> Option<String> {
    let share = arriving(flow, Cell::Rnn, false)?;
    let endings = [
        ": it vanishes on the way",
        ": faint, but not gone",
        ": it does not vanish",
        ": it grows on the way",
    ];
    Some(format!(
        "{}, your RNN’s letter gets {} the last step’s gradient{}.",
        moment(flow),
        amount(share),
        ending(share, endings)
    ))
}

/// The same of what is only a part where every step has a loss.
pub fn part_now(flow: &Flow) -> Option<String> {
    let share = arriving(flow, Cell::Rnn, false)?;
    let endings = [": almost nothing", ": faint", ": healthy, too", ": more than at the “?”"];
    Some(format!(
        "{}, along it the letter gets {} the last step’s gradient{}.",
        moment(flow),
        amount(share),
        ending(share, endings)
    ))
}

/// What the formula beside the curves says, with the RNN's numbers where it is the RNN's: those of its
/// rescaled copy while that is what the learner changes.
pub fn in_words(flow: &Flow, settings: &Settings) -> String {
    let mut shown = flow.networks.iter().filter(|network| settings.shown.shows(network.cell));
    let Some(rnn) = shown.find(|network| network.cell == Cell::Rnn) else {
        return "Each step back multiplies by a gate, and other paths add to that.".into();
    };
    if flow.loss == LossKind::Every {
        return "A step’s gradient is that of its own loss, plus what comes back from later steps."
            .into();
    }
    let (whose, size, slope, norms) = match &flow.rescaled {
        Some(copy) => {
            let whose = format!(" at radius {}", number(copy.asked));
            (whose, copy.asked, copy.kept, &copy.hidden)
        }
        None => (String::new(), flow.radius, rnn.kept, &rnn.hidden),
    };
    // Of the numbers on show.
    let [size, slope] = [size, slope].map(|factor| (f64::from(factor) * 100.0).round() / 100.0);
    let rule = size * slope;
    let measured = each_step(flow, norms).map_or_else(String::new, |each| {
        let does = match each - rule {
            off if off.abs() <= MISSES * rule => "holds here.",
            off if off > 0.0 => {
                "fails here: most of the gradient can come back through units whose slope is above the mean."
            }
            _ => "fails here: much of the gradient can come back through units whose slope is below the mean.",
        };
        format!(" Measured: {each:.2}. The rule {does}")
    });
    format!(
        "Share left per step{whose}, by a rule of thumb: size of U × mean slope of tanh = {size:.2} × {slope:.2} = \
         {rule:.2}.{measured}"
    )
}

/// When that rule holds, and why it fails in training, in either direction.
pub const WHEN: &str = "It holds while all slopes of tanh are nearly equal. Then each step back multiplies by nearly \
                        the same matrix, and over many steps U’s size (its spectral radius) sets the pace. Training \
                        flattens some units and not others. Through steep units more comes back than the mean \
                        slope says, through flat ones less. And the curve is one length over 16 sequences: those \
                        in which most comes back decide it.";

#[cfg(test)]
mod tests {
    use unroll_protocol::study::bptt::{BATCH, Rescaled};

    use super::{super::curves::tests::flow, *};

    #[test]
    fn words_follow_the_numbers() {
        let said = |step, first| now(&Flow { step, ..flow(&[first, 0.5, 1.0]) }).unwrap();
        assert_eq!(
            said(0, 3e-6),
            "Before training, your RNN’s letter gets about 3 parts in a million of the last step’s gradient: it \
             vanishes on the way."
        );
        assert_eq!(
            said(1000, 0.65),
            "At training step 1,000, your RNN’s letter gets 65% of the last step’s gradient: it does not vanish."
        );
        assert!(
            said(300, 0.03).ends_with("gets 3% of the last step’s gradient: faint, but not gone.")
        );
        assert!(
            said(300, 4.0)
                .ends_with("gets 4.00 times the last step’s gradient: it grows on the way.")
        );
        assert!(said(300, 0.0).ends_with("gets none of the last step’s gradient."));
        let part = part_now(&Flow { step: 50, ..flow(&[0.65, 0.5, 1.0]) }).unwrap();
        assert_eq!(
            part,
            "At training step 50, along it the letter gets 65% of the last step’s gradient: healthy, too."
        );
    }

    #[test]
    fn the_rule_is_held_to_what_is_measured() {
        let settings = Settings::default();
        let said = |flow: &Flow| in_words(flow, &settings);
        assert_eq!(
            said(&flow(&[0.5, 1.0, 2.0])),
            "Share left per step, by a rule of thumb: size of U × mean slope of tanh = 1.00 × 1.00 = 1.00. \
             Measured: 0.50. The rule fails here: much of the gradient can come back through units whose slope is below \
             the mean."
        );
        assert!(said(&flow(&[1.9, 1.9, 2.0])).ends_with("Measured: 0.97. The rule holds here."));
        assert!(said(&flow(&[0.0, 1.0, 2.0])).ends_with("= 1.00."), "none arrives");
        let (asked, radius, hidden) = (4.0, 4.0, vec![8.0, 4.0, 2.0]);
        let copy = Rescaled { asked, radius, hidden, kept: 0.25, loss: 1.0 };
        assert_eq!(
            said(&Flow { rescaled: Some(copy), ..flow(&[0.5, 1.0, 2.0]) }),
            "Share left per step at radius 4, by a rule of thumb: size of U × mean slope of tanh = 4.00 × 0.25 = 1.00. \
             Measured: 2.00. The rule fails here: most of the gradient can come back through units whose slope is above \
             the mean."
        );
        let every = Flow { loss: LossKind::Every, ..flow(&[1.0; 3]) };
        assert!(said(&every).contains("its own loss"));
        assert!(WHEN.contains(&format!("over {BATCH} sequences")));
        assert!(WHEN.split_whitespace().count() <= 75);
    }
}
