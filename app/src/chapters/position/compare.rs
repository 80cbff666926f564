//! Six models that differ in nothing but their positions.

use leptos::{html, prelude::*};
use unroll_protocol::{
    architecture::Positions,
    study::position::{
        Asked, CONTEXT, CountFrom, LONGEST, MEASURED, ModelReading, Reading, Settings,
        accuracy_series, ask,
    },
};

use super::{Page, check::EARLY, look, reading::use_reading};
use crate::{
    controls::ViewSwitch,
    course::{Lab, use_lab},
    figures::{
        self, Dash, Frame, Hue, Line, Lines, LinesFigure, Matrix, ValueMap, matrix_choices, short,
    },
    reactive::memo,
};

/// A length nobody was trained on.
pub const LONGER: u32 = 16;
/// The lengths in the table.
const LENGTHS: [u32; 2] = [LONGEST, LONGER];

/// What share of the sequences of this length a model gets right, as measured last.
fn share(positions: Positions, length: u32) -> Option<f32> {
    share_of(use_lab(), positions, length)
}

/// The same, where the lab is at hand.
pub fn share_of(lab: Lab, positions: Positions, length: u32) -> Option<f32> {
    let name = accuracy_series(positions, length);
    lab.history.with(|history| history.named(&name).and_then(|series| series.last()))
}

/// The step of the last measurement.
fn measured_at() -> Option<f64> {
    let name = accuracy_series(Positions::None, LONGEST);
    use_lab().history.with(|history| history.named(&name)?.points().last().map(|point| point.0))
}

pub fn percent(share: f32) -> String {
    figures::percent(share, 0)
}

/// What each can do, and how it came to that.
pub fn models(page: Page) -> AnyView {
    view! {
        <div class="view-fill">
            {switch()}
            <div class="view-split position-pair">
                <div>{table(page)}</div>
                <div>{curves(page)}</div>
            </div>
        </div>
    }
    .into_any()
}

/// Chooses between the two views of the six models.
fn switch() -> AnyView {
    const VIEWS: &[(&str, &str)] = &[("models", "During training"), ("longer", "By length")];
    view! { <div class="view-bar"><ViewSwitch label="What is compared" views=VIEWS/></div> }
        .into_any()
}

/// The question whose answer a swap changes: the first symbol is always one of those that trade
/// places, so the number asks for it.
fn first_symbol(settings: &Settings) -> Asked {
    let number = match settings.from {
        CountFrom::Start => 1,
        CountFrom::End => LONGEST,
    };
    Asked { example: settings.example, length: LONGEST, number }
}

/// The places that trade, and what is asked of them.
fn swap_said(reading: &Reading) -> String {
    let (first, second) = reading.exchanged;
    format!(
        "Last column: symbols {} and {} of {} trade places, and the number {} asks for the first of them.",
        first + 1,
        second + 1,
        reading.tokens[..reading.tokens.len().saturating_sub(1)].concat(),
        reading.tokens.last().map_or("", String::as_str),
    )
}

/// Chooses the encoding on show, beside what its model can do.
fn table(page: Page) -> AnyView {
    let reading = page.ask(|s| Some(ask::Reading { asked: first_symbol(s) })).answer;
    let measured = memo(move || {
        let shares = Positions::ALL.iter().map(|of| LENGTHS.map(|length| share(*of, length)));
        (measured_at(), shares.collect::<Vec<_>>())
    });
    let step = memo(move || measured.with(|measured| measured.0));
    let lab = use_lab();
    let is_early = memo(move || lab.shown() < EARLY);
    let row = move |(place, &positions): (usize, &'static Positions)| {
        let id = positions.id();
        let of_model = move || {
            reading.with(|reading| {
                let models = &reading.as_ref()?.models;
                let model = models.iter().find(|model| model.positions == positions)?;
                Some(swapped(model, is_early.get()))
            })
        };
        let bar = move |column: usize| {
            let length = LENGTHS[column];
            let ended = positions == Positions::Learned && length >= CONTEXT;
            move || {
                let name = format!("position-right-{id}-{length}");
                match measured.with(|(_, shares)| shares[place][column]) {
                    Some(share) => {
                        let width = format!("width: {:.1}%", 100.0 * share);
                        view! {
                            <span class="position-bar" aria-hidden="true"><i style=width></i></span>
                            <span data-testid=name data-value=share.to_string()>{percent(share)}</span>
                        }
                        .into_any()
                    }
                    None if ended => {
                        view! { <span class="hint" data-testid=name>"no rows"</span> }.into_any()
                    }
                    // As high as what will stand there.
                    None => view! {
                        <span class="position-bar" aria-hidden="true"></span>
                        <span class="hint" data-testid=name>"…"</span>
                    }
                    .into_any(),
                }
            }
        };
        view! {
            <tr class:is-chosen=move || page.encoding.get() == positions>
                <th scope="row">
                    <label>
                        <input type="radio" name="position-encoding" value=id data-testid=format!("position-encoding-{id}")
                            prop:checked=move || page.encoding.get() == positions
                            on:change=move |_| page.set(|settings| settings.encoding = positions)/>
                        {positions.label()}
                    </label>
                </th>
                <td>{bar(0)}</td>
                <td>{bar(1)}</td>
                <td data-testid=format!("position-swap-{id}")>{of_model}</td>
            </tr>
        }
    };
    let counting = move || {
        reading.with(|reading| {
            let at = MEASURED.iter().position(|length| *length == LONGEST)?;
            let reading = reading.as_ref()?;
            Some(format!(
                "Counting which symbol is most frequent gets {} right at {LONGEST} symbols. {}",
                percent(*reading.counting.get(at)?),
                swap_said(reading)
            ))
        })
    };
    let title = Signal::derive(move || {
        let when = step.get().map_or(String::new(), |step| format!(", after step {step}"));
        let from = match page.settings.with(|s| s.from) {
            CountFrom::Start => "",
            CountFrom::End => ", from the end",
        };
        format!("Repeat the n-th symbol{from}{when}")
    });
    let measured_all = memo(move || std::sync::Arc::new(all_shares()));
    let choices = matrix_choices("compare", title, measured_all, page.provenance);
    let empty = Signal::derive(move || step.with(Option::is_none));
    let root = NodeRef::<html::Section>::new();
    view! {
        <Frame name="compare" kind="compare" title root empty choices>
        <div class="figure-box" tabindex="0" role="region" aria-label="Six models with six ways to encode positions">
            <table class="position-table">
                <caption class="visually-hidden">"Six models with six ways to encode positions"</caption>
                <thead><tr>
                    <th scope="col">"Positions"</th>
                    <th scope="col">"right at "{LONGEST}" symbols"</th>
                    <th scope="col">"at "{LONGER}<span>", longer than trained"</span></th>
                    <th scope="col">"logits after a swap (largest change)"</th>
                </tr></thead>
                <tbody>{Positions::ALL.iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
        <p class="readout hint" data-testid="position-counting">{counting}</p>
        </Frame>
    }
    .into_any()
}

/// Every share that was measured: what the table's files hold.
fn all_shares() -> Matrix {
    let row = |of: &Positions| MEASURED.map(|length| share(*of, length).unwrap_or(f32::NAN));
    let values: Vec<f32> = Positions::ALL.iter().flat_map(row).collect();
    if values.iter().all(|share| share.is_nan()) {
        return Matrix::default();
    }
    Matrix {
        row_axis: "positions".into(),
        column_axis: "symbols".into(),
        rows: Positions::ALL.iter().map(|of| of.label().to_owned()).collect(),
        columns: MEASURED.iter().map(ToString::to_string).collect(),
        values,
        map: ValueMap::Probability,
        value_name: "share right".into(),
        absent: "no rows for this many".into(),
    }
}

/// How far the logits moved, or why that can't be said.
fn swapped(model: &ModelReading, is_early: bool) -> AnyView {
    let moved = f64::from(model.swapped);
    match &model.refusal {
        Some(_) => view! { <span class="hint">"can’t read it"</span> }.into_any(),
        // An untrained model moves hardly more than rounding: what stays is told of trained ones alone.
        None if moved < 1e-4 && is_early => {
            view! { <span class="hint" data-value=moved.to_string()>"too early"</span> }.into_any()
        }
        // Sums in another order round differently.
        None if moved < 1e-4 => {
            view! { <span data-value=moved.to_string()>"stay"</span> }.into_any()
        }
        None => {
            let said = format!("move ({})", two_digits(moved));
            view! { <span data-value=moved.to_string()>{said}</span> }.into_any()
        }
    }
}

/// A number above 0, for a glance.
fn two_digits(number: f64) -> String {
    let unit = 10f64.powf(number.log10().floor() - 1.0);
    short((number / unit).round() * unit)
}

/// Accuracy while training, at the longest trained length.
pub fn curves(page: Page) -> AnyView {
    let lab = use_lab();
    let lines = memo(move || {
        let line = |positions: &Positions| {
            let name = accuracy_series(*positions, LONGEST);
            let points =
                lab.history.with(|h| h.named(&name).map_or(Vec::new(), |series| series.points()));
            let (hue, dash) = look(*positions);
            Line::new(positions.label(), hue, dash, points)
        };
        Lines {
            x_label: "training step".into(),
            y_label: "share right".into(),
            series: Positions::ALL.iter().map(line).collect(),
            x_range: Lines::steps(lab.step.get()),
            y_range: Some((0.0, 1.0)),
            is_share: true,
            ..Lines::default()
        }
    });
    view! {
        <LinesFigure name="position-curves" title=format!("Same seed, same batches: right at {LONGEST} symbols") lines
            provenance=page.provenance hint="Measured from step 1 on."/>
    }
    .into_any()
}

/// Accuracy against length.
pub fn longer(page: Page) -> AnyView {
    let lab = use_lab();
    let reading = use_reading(page).answer;
    let lines = memo(move || {
        lab.history.track();
        let line = |positions: &Positions| {
            let point =
                |length: &u32| Some((f64::from(*length), f64::from(share(*positions, *length)?)));
            let (hue, dash) = look(*positions);
            let points = MEASURED.iter().filter_map(point).collect();
            // Its name stands at the right edge, far from its end.
            let name = match positions {
                Positions::Learned => format!("Learned (to {LONGEST})"),
                other => other.label().to_owned(),
            };
            Line::new(name, hue, dash, points)
        };
        let mut series: Vec<Line> = Positions::ALL.iter().map(line).collect();
        let counting = reading.with(|r| r.as_ref().map_or(Vec::new(), |r| r.counting.clone()));
        let counted = MEASURED.iter().zip(counting);
        series.push(Line::new(
            "counting alone",
            Hue::Muted,
            Dash::Solid,
            counted.map(|(length, share)| (f64::from(*length), f64::from(share))).collect(),
        ));
        Lines {
            x_label: "symbols in the sequence".into(),
            y_label: "share right".into(),
            series,
            x_range: Some((2.0, f64::from(MEASURED[MEASURED.len() - 1]))),
            y_range: Some((0.0, 1.0)),
            is_share: true,
            ..Lines::default()
        }
    });
    let marker = Signal::derive(|| Some(f64::from(LONGEST)));
    let on_pick = Callback::new(move |length: f64| {
        page.store.link.update(|link| {
            link.position.length = length.round() as u32;
            link.view = "reading".into();
        });
    });
    view! {
        <div class="view-fill">
            {switch()}
            <LinesFigure name="position-lengths" title="Right, by length; trained up to the mark" lines marker on_pick
                provenance=page.provenance hint="Measured from step 1 on."/>
            <p class="view-note" data-testid="position-learned-ends">
                "Learned positions stop at "{LONGEST}" symbols: beyond that, they have no row, and no answer to \
                 measure. Click a length to read such a sequence."
            </p>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_read_at_a_glance() {
        let read = [0.00077772, 0.21138, 0.0996, 3.456, 12.3].map(two_digits);
        assert_eq!(read, ["0.00078", "0.21", "0.1", "3.5", "12"]);
    }

    #[test]
    fn a_swap_moves_the_symbol_that_is_asked_for() {
        for (from, number) in [(CountFrom::Start, 1), (CountFrom::End, LONGEST)] {
            let asked = first_symbol(&Settings { from, length: 20, ..Settings::default() });
            assert_eq!((asked.length, asked.number), (LONGEST, number));
        }
        let tokens = ["c", "c", "f", "1"].map(str::to_owned).to_vec();
        let said = swap_said(&Reading { tokens, exchanged: (0, 2), ..Reading::default() });
        assert!(said.ends_with(
            "symbols 1 and 3 of ccf trade places, and the number 1 asks for the first of them."
        ));
    }
}
