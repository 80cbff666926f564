//! One logit taken apart: what each direction adds to it.

use leptos::prelude::*;
use unroll_protocol::{
    Array,
    study::birnn::{Reader, Reading},
};

use super::figure::{reader_id, softmax};
use super::{Page, panels::of_position};
use crate::{
    figures::{decimals, four_decimals, token::mark},
    reactive::memo,
};

/// The parts of one model's logit.
#[derive(Clone, Debug, PartialEq)]
struct Parts {
    reader: Reader,
    /// `V_f h_f` and `V_b h_b`, where there is such a direction.
    forward: Option<f64>,
    backward: Option<f64>,
    bias: f64,
    logit: f32,
    probability: f32,
    /// Direction, unit from 1, state, weight: what the sums are made of.
    units: Vec<(bool, usize, f32, f32)>,
}

/// One answer at one position, by every model that has one.
#[derive(Clone, Debug, Default, PartialEq)]
struct Apart {
    position: usize,
    answer: String,
    models: Vec<Parts>,
}

fn apart(reading: &Reading, at: usize, answer: usize) -> Option<Apart> {
    let run = reading.edited.as_ref().map_or(&reading.run, |(_, run)| run);
    let models = reading.readouts.iter().zip(&run.models).filter_map(|(readout, model)| {
        let logits = model.logits.block(&[at])?;
        let late = match readout.reader {
            Reader::Delayed(by) => by as usize,
            _ => 0,
        };
        let mut units = Vec::new();
        let mut part = |weights: &Array, states: &Array, backward: bool| {
            let (weights, states) = (weights.block(&[answer])?, states.block(&[at + late])?);
            if weights.is_empty() {
                return None;
            }
            let pairs = states.iter().zip(weights);
            units.extend(pairs.clone().enumerate().map(|(u, (h, v))| (backward, u + 1, *h, *v)));
            Some(pairs.map(|(h, v)| f64::from(*h) * f64::from(*v)).sum())
        };
        let forward = part(&readout.forward, &model.forward, false);
        let backward = part(&readout.backward, &model.backward, true);
        Some(Parts {
            reader: readout.reader,
            forward,
            backward,
            bias: f64::from(*readout.bias.get(answer)?),
            logit: *logits.get(answer)?,
            probability: *softmax(logits).get(answer)?,
            units,
        })
    });
    Some(Apart {
        position: at,
        answer: mark(reading.answers.get(answer)?),
        models: models.collect(),
    })
}

/// The parts of the logit as a table.
#[component]
pub fn Arithmetic(page: Page) -> impl IntoView {
    let Page { settings, reading, .. } = page;
    let at = memo(move || settings.with(|s| s.at).checked_sub(1).map(|at| at as usize));
    let right = memo(move || {
        let at = at.get()?;
        reading.with(|reading| {
            let reading = reading.as_ref()?;
            let run = reading.edited.as_ref().map_or(&reading.run, |(_, run)| run);
            run.targets.get(at).copied().flatten()
        })
    });
    let chosen = memo(move || {
        let answer = settings.with(|s| s.answer).checked_sub(1);
        answer.or(right.get()).map_or(0, |id| id as usize)
    });
    let shown =
        memo(move || reading.with(|reading| apart(reading.as_ref()?, at.get()?, chosen.get())));
    let answers =
        memo(move || reading.with(|r| r.as_ref().map_or_else(Vec::new, |r| r.answers.clone())));
    let choose = move |event| {
        if let Ok(id) = event_target_value(&event).parse::<u32>() {
            page.set(|settings| settings.answer = id);
        }
    };
    let number = |value: f64| four_decimals(value);
    let part = move |value: Option<f64>| value.map_or("–".to_owned(), number);
    let row = move |parts: Parts| {
        let id = reader_id(parts.reader);
        view! {
            <tr data-testid=format!("birnn-parts-{id}")>
                <th scope="row">{parts.reader.name()}</th>
                <td data-part="birnn-forward" class="role-hidden">{part(parts.forward)}</td>
                <td data-part="birnn-backward" class="role-hidden birnn-back">{part(parts.backward)}</td>
                <td data-part="birnn-bias">{number(parts.bias)}</td>
                <td data-part="birnn-logit"><strong>{number(parts.logit.into())}</strong></td>
                <td>{number(parts.probability.into())}</td>
            </tr>
        }
    };
    let units = move || {
        let both = shown.get()?.models.into_iter().find(|m| m.reader == Reader::Both)?;
        let line = |(backward, unit, h, v): (bool, usize, f32, f32)| {
            view! {
                <tr>
                    <th scope="row">{if backward { "backward " } else { "forward " }}{unit}</th>
                    <td>{h.to_string().replace('-', "−")}</td>
                    <td>{v.to_string().replace('-', "−")}</td>
                    <td>{decimals(f64::from(h) * f64::from(v), 6)}</td>
                </tr>
            }
        };
        Some(both.units.into_iter().map(line).collect_view())
    };
    let open = RwSignal::new(false);
    view! {
        {move || shown.with(Option::is_none).then(|| view! {
            <p class="view-note">"Choose a position."</p>
        })}
        <div class="birnn-apart" hidden=move || shown.with(Option::is_none)>
            <label class="birnn-choose">
                <span>{move || shown.with(|s| s.as_ref().map_or_else(String::new, |s| {
                    let place = of_position(page, s.position as u32);
                    format!("Answer {place}:")
                }))}</span>
                <select data-testid="control-birnn-answer" on:change=choose
                    prop:value=move || { answers.track(); settings.with(|s| s.answer).to_string() }>
                    <option value="0">"the right answer"</option>
                    {move || answers.get().iter().enumerate().map(|(id, answer)| view! {
                        <option value=(id + 1).to_string()>{mark(answer)}</option>
                    }).collect_view()}
                </select>
            </label>
            <div class="birnn-table" tabindex="0" role="region" aria-label="Parts of the logit">
                <table>
                    <caption>{move || shown.with(|s| s.as_ref().map_or_else(String::new, |s| {
                        format!("Logit of ‘{}’: the parts add up, to rounding.", s.answer)
                    }))}</caption>
                    <thead><tr>
                        <th scope="col">"model"</th>
                        <th scope="col">"from forward: V→h→"</th>
                        <th scope="col">"from backward: V←h←"</th>
                        <th scope="col">"bias c"</th>
                        <th scope="col">"sum: logit"</th>
                        <th scope="col">"probability"</th>
                    </tr></thead>
                    <tbody>{move || shown.get().map(|s| s.models.into_iter().map(row).collect_view())}</tbody>
                </table>
            </div>
            <details on:toggle=move |_| open.update(|open| *open = !*open)>
                <summary>"Both ways, unit by unit"</summary>
                {move || open.get().then(|| view! {
                    <div class="birnn-table birnn-units" tabindex="0" role="region"
                        aria-label="Units of both states">
                        <table>
                            <thead><tr>
                                <th scope="col">"unit"</th>
                                <th scope="col">"state h"</th>
                                <th scope="col">"weight V"</th>
                                <th scope="col">"product"</th>
                            </tr></thead>
                            <tbody>{units}</tbody>
                        </table>
                    </div>
                })}
            </details>
        </div>
    }
}
