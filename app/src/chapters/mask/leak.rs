//! The leak test: one token is changed, and each output says whether it knew.

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    study::mask::{Combine, Pattern, Preset, Seen},
};

use super::{Page, Presets, Refused, exact};
use crate::{
    controls::SliderField,
    course::{Sentence, use_setting},
    figures::{Matrix, MatrixFigure, ValueMap, own, token},
    reactive::memo,
};

/// Changes are drawn up to this, whatever the mask, so that its pictures can be compared. The changed
/// token's own output moves more: on a scale that holds it all others would be pale.
const LARGEST: f32 = 2.0;

pub fn view(page: Page) -> AnyView {
    let change = use_setting(|link: &mut Link| &mut link.mask.change);
    let letter = use_setting(|link: &mut Link| &mut link.mask.letter);
    let matrix = page.derive(matrix);
    let column = page.derive(|seen| seen.leak.as_ref().map(|leak| leak.position as usize));
    let width = memo(move || width(&page.settings.with(|s| s.pattern)));
    // Many of them move too little for the eye.
    let marked = page.derive(|seen| {
        let leak = seen.leak.iter();
        let rows = leak.flat_map(|leak| [&leak.masked, &leak.unmasked].into_iter().enumerate());
        let cells = rows.flat_map(|(row, moved)| {
            moved.iter().enumerate().map(move |(at, by)| ((row, at), *by))
        });
        cells.filter(|(_, by)| *by != 0.0).map(|(place, _)| place).collect::<Vec<_>>()
    });
    let on_pick = Callback::new(move |(_, column): (usize, usize)| change.set(column as u32 + 1));
    let put = page
        .derive(|seen| seen.leak.as_ref().map_or(String::new(), |leak| token::mark(&leak.letter)));
    let title = page.derive(|seen| match &seen.leak {
        Some(leak) => {
            let at = leak.position as usize;
            let before = seen.tokens.get(at).map_or(String::new(), |t| token::name_at(t, at));
            format!("Change of each output when {before} becomes ‘{}’", token::mark(&leak.letter))
        }
        None => "Change of each output: no token is changed".to_owned(),
    });
    let before = memo(move || {
        let of = |unmasked| page.seen.with(|s| earlier(s.as_deref()?, unmasked));
        Some((of(false)?, of(true)?))
    });
    let moves = |id: &'static str, most: f32| {
        let says = match most {
            0.0 => "don’t move at all".to_owned(),
            most => format!("move by at most {}", exact(most)),
        };
        view! { <b data-testid=id data-value=most.to_string()>{says}</b> }.into_any()
    };
    let before = move || {
        before.get().map(|(masked, unmasked)| {
            view! {
                "Outputs before the changed token " {moves("mask-leak-masked", masked)}
                " under the mask shown, and " {moves("mask-leak-unmasked", unmasked)} " without a mask. "
            }
        })
    };
    let verdict = page.derive(verdict);
    let reach = page.derive(reach);
    view! {
        <Sentence label="Sentence" problem=page.problem(true)/>
        <div class="view-bar mask-bar mask-change">
            <Presets page/>
            <div class="view-bar-together">
                <SliderField name="mask-change" most=32.0/>
                <label class="mask-letter" title="New character; if empty, the next of the vocabulary">
                    <span>"becomes"<span class="visually-hidden">" the new character"</span></span>
                    <input type="text" size="2" data-testid="control-mask-letter" autocomplete="off"
                        autocapitalize="off" spellcheck="false" prop:value=put aria-describedby=own("hint", "mask-letter")
                        on:input=move |e| letter.set(
                            event_target_value(&e).chars().last().map_or(0, |c| c as u32)
                        )/>
                    <span class="visually-hidden" id=own("hint", "mask-letter")>"if empty, the next of the vocabulary"</span>
                </label>
            </div>
        </div>
        <Refused page/>
        <MatrixFigure name="mask-leak" title matrix column marked on_pick provenance=page.provenance
            describe=Callback::new(move |(row, column, value): (usize, usize, f32)| {
                let name = page.seen.with(|s| {
                    let tokens = s.as_ref().and_then(|s| s.tokens.get(column).cloned());
                    tokens.map_or(String::new(), |t| token::name_at(&t, column))
                });
                let mask = if row == 0 { "this mask" } else { "no mask" };
                let beyond = if value > LARGEST { ", beyond the scale" } else { "" };
                format!("{name} with {mask}: {}{beyond}.", exact(value))
            })/>
        <p class="view-note mask-moves">
            {before} <span data-testid="mask-leak-verdict">{verdict}</span> " "
            <span data-testid="mask-leak-reach">{reach}" "{width}</span>
        </p>
    }
    .into_any()
}

/// The largest change of any output before the changed token; `None` where there is none.
fn earlier(seen: &Seen, unmasked: bool) -> Option<f32> {
    let leak = seen.leak.as_ref()?;
    let moved = if unmasked { &leak.unmasked } else { &leak.masked };
    let before = moved.get(..leak.position as usize).filter(|before| !before.is_empty())?;
    Some(before.iter().copied().fold(0.0, f32::max))
}

fn matrix(seen: &Seen) -> Matrix {
    let Some(leak) = &seen.leak else { return Matrix::default() };
    let values = [&leak.masked[..], &leak.unmasked[..]].concat();
    Matrix {
        row_axis: String::new(),
        column_axis: "output at".into(),
        rows: vec!["this mask".into(), "no mask".into()],
        columns: seen.tokens.clone(),
        values,
        map: ValueMap::Size { limit: LARGEST },
        value_name: "largest change".into(),
        absent: String::new(),
    }
}

/// What the test says of the mask on show.
fn verdict(seen: &Seen) -> String {
    let Some(leak) = &seen.leak else {
        return "The changed token lies beyond the end, or none is chosen. Click a column, or move \
                the slider."
            .to_owned();
    };
    let at = leak.position as usize;
    if seen.tokens.get(at).is_some_and(|token| *token == leak.letter) {
        return "The same character stands there already, so nothing changes.".to_owned();
    }
    if at == 0 {
        return "Nothing comes before the first token. Change a later one.".to_owned();
    }
    let knew = moved(&leak.masked[..at]);
    match knew.len() {
        0 if at == 1 => "No leak: the output before it is the same to the last bit.".to_owned(),
        0 => format!("No leak: all {at} outputs before it are the same to the last bit."),
        n if n == at => format!("Leak: every output before it, {at} of {at}, moved."),
        n => format!("Leak: of the {at} outputs before it, {n} moved: {}.", places(&knew)),
    }
}

/// The outputs that moved, counted from 1.
fn moved(by: &[f32]) -> Vec<usize> {
    by.iter().enumerate().filter(|(_, by)| **by != 0.0).map(|(at, _)| at + 1).collect()
}

/// Which ones, in words: `2 to 4` where none between them is left out.
fn places(all: &[usize]) -> String {
    match all {
        [first, .., last] if last - first + 1 == all.len() => format!("{first} to {last}"),
        _ => all.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Which outputs move under the mask on show.
fn reach(seen: &Seen) -> String {
    let Some(leak) = &seen.leak else { return String::new() };
    let moved = moved(&leak.masked);
    let (Some(first), Some(last)) = (moved.first(), moved.last()) else { return String::new() };
    let which = match moved.len() {
        1 => return format!("Under this mask only output {first} moves."),
        n if last - first + 1 == n => format!("Under this mask outputs {} move.", places(&moved)),
        n => return format!("Under this mask {n} outputs move: {}.", places(&moved)),
    };
    if *last == leak.masked.len() {
        return which;
    }
    format!("{which} Outputs after {last} stay exactly the same.")
}

/// How wide the band is, where it narrows the mask.
fn width(pattern: &Pattern) -> String {
    let narrows = pattern.uses(Preset::Band)
        && (pattern.combine != Combine::Or || pattern.base == pattern.other);
    match pattern.band {
        _ if !narrows => String::new(),
        1 => "The band has a width of 1: each token sees only itself.".to_owned(),
        2 => "The band has a width of 2: no token looks farther than one place away.".to_owned(),
        wide => format!(
            "The band has a width of {wide}: no token looks farther than {} places away.",
            wide - 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::study::mask::Leak;

    use super::*;

    fn seen(masked: &[f32]) -> Seen {
        let leak = Leak { position: 1, masked: masked.to_vec(), ..Leak::default() };
        Seen { leak: Some(leak), ..Seen::default() }
    }

    #[test]
    fn what_moves_is_named() {
        for (masked, says) in [
            (
                &[0.0, 1.0, 0.5, 0.06, 0.0][..],
                "outputs 2 to 4 move. Outputs after 4 stay exactly the same.",
            ),
            (&[0.0, 1.0, 0.5], "outputs 2 to 3 move."),
            (&[0.0, 1.0, 0.0], "only output 2 moves."),
            (&[0.1, 1.0, 0.0, 0.3], "3 outputs move: 1, 2, 4."),
        ] {
            assert_eq!(reach(&seen(masked)), format!("Under this mask {says}"));
        }
        assert_eq!(reach(&seen(&[0.0, 0.0])), "");
    }

    #[test]
    fn a_leak_says_which_outputs_knew() {
        let said = |masked: &[f32], position: u32| {
            let mut seen = seen(masked);
            if let Some(leak) = &mut seen.leak {
                leak.position = position;
            }
            verdict(&seen)
        };
        assert_eq!(said(&[0.1, 0.2, 0.3, 1.0], 3), "Leak: every output before it, 3 of 3, moved.");
        let some = "Leak: of the 3 outputs before it, 2 moved: 2 to 3.";
        assert_eq!(said(&[0.0, 0.2, 0.3, 1.0], 3), some);
    }

    #[test]
    fn a_band_says_its_width() {
        let band = Pattern { combine: Combine::And, band: 2, ..Pattern::default() };
        assert!(width(&band).contains("one place"));
        assert_eq!(width(&Pattern::default()), "");
        assert_eq!(width(&Pattern { combine: Combine::Or, ..band }), "");
    }
}
