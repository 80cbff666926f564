//! A question whose answer is the largest weight of a row of the live model.

use leptos::prelude::*;

use super::{FOUND, Page};
use crate::{
    course::use_right,
    figures::{percent, token::name_at},
    reactive::memo,
    teaching::CheckYourself,
};

/// Written characters of which the story says what they read.
const TOLD: usize = 2;

#[component]
pub fn Check(page: Page) -> impl IntoView {
    let count = RwSignal::new(0usize);
    // The character asked about, and the weights of its row.
    let asked = memo(move || {
        page.alignment.with(|a| {
            let decoded = a.decoded.iter().find(|d| !d.weights.is_empty())?;
            // The story tells of the first two.
            let later = decoded.tokens.len().checked_sub(TOLD).filter(|later| *later > 0)?;
            let at = TOLD + 3 * count.get() % later;
            let row = decoded.row(at).to_vec();
            (row.len() > 1).then(|| (decoded.tokens[at].clone(), at, row))
        })
    });
    let right = memo(move || {
        asked.with(|asked| {
            let (_, _, row) = asked.as_ref()?;
            (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b]))
        })
    });
    // Four places: the right one, the same place, and others, in order.
    let places = memo(move || {
        let (Some(right), Some((at, length))) =
            (right.get(), asked.with(|a| a.as_ref().map(|(_, at, row)| (*at, row.len()))))
        else {
            return Vec::new();
        };
        let mut places = vec![right];
        for place in [at.min(length - 1), (right + length / 3 + 1) % length, (right + 1) % length]
            .into_iter()
            .chain(0..length)
        {
            if places.len() < 4 && !places.contains(&place) {
                places.push(place);
            }
        }
        places.sort_unstable();
        places
    });
    let label = move |place: usize| {
        page.alignment.with(|a| a.source.get(place).map_or(String::new(), |s| name_at(s, place)))
    };
    let question = Signal::derive(move || {
        asked.with(|asked| match asked {
            Some((_, at, _)) => format!(
                "When the decoder writes character {} for the source shown, which source character has the \
                 largest weight?",
                at + 1
            ),
            None => "This question needs a model with attention that writes at least three characters. Give a longer source, or \
                 train some more.".to_owned(),
        })
    });
    let options = Signal::derive(move || places.get().into_iter().map(label).collect::<Vec<_>>());
    let answer = Signal::derive(move || {
        let right = right.get()?;
        places.with(|places| places.iter().position(|place| *place == right))
    });
    let explain = Signal::derive(move || {
        asked.with(|asked| {
            let Some((token, at, row)) = asked else { return String::new() };
            let each = places.get().into_iter().map(|place| {
                format!("{} {}", label(place), percent(*row.get(place).unwrap_or(&0.0), 2))
            });
            let each = each.collect::<Vec<_>>().join(", ");
            format!("It wrote {} with these weights: {each}.", name_at(token, *at))
        })
    });
    // The largest of weights that are all alike is chance.
    let too_early = Signal::derive(move || {
        let stands_out =
            |(_, _, row): &(String, usize, Vec<f32>)| row.iter().any(|weight| *weight >= FOUND);
        let is_early = asked.with(|asked| asked.as_ref().is_some_and(|asked| !stands_out(asked)));
        is_early
            .then(|| "The question comes as soon as one source character stands out.".to_owned())
    });
    let on_another = Callback::new(move |()| count.update(|count| *count += 1));
    view! {
        <CheckYourself id="alignment" question options answer explain too_early on_right=use_right("alignment") on_another/>
    }
    .into_any()
}
