//! Named probabilities as bars from 0 to 1.

use leptos::{ev, prelude::*};

use super::{percent, token, view::largest};
use crate::reactive::memo;

/// Columns of the longest name that a bar leaves room for, and of the shortest: "space" comes and goes.
const LONGEST_NAME: f64 = 12.0;
const SHORTEST_NAME: f64 = 4.0;

/// One line: what, where the bar ends (0 to 1), and whether it is the one that came true.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    pub name: String,
    pub spoken: String,
    pub probability: f32,
    pub marked: bool,
    /// Another probability of the same, drawn as a thinner bar below.
    pub compare: Option<f32>,
}

impl Bar {
    /// A word for a mark that says little, alone or before a number, and what is written as it is.
    pub(super) fn label(&self) -> (Option<&'static str>, &str) {
        let (mark, rest) = self.name.split_at(self.name.find(' ').unwrap_or(self.name.len()));
        token::word(mark).map_or((None, &self.name), |word| (Some(word), rest))
    }

    /// How many columns that takes.
    fn columns(&self) -> f64 {
        let (word, rest) = self.label();
        let word = word.map_or(0.0, token::word_columns);
        // Nothing would take a column.
        if rest.is_empty() { word } else { word + token::columns(rest) }
    }

    /// What stands beside it.
    pub(super) fn number(&self) -> String {
        let probability = percent(self.probability, 1);
        self.compare
            .map_or(probability.clone(), |other| format!("{probability} / {}", percent(other, 1)))
    }
}

/// The `n` likeliest tokens; `target` is marked, and stands last where it is not among them.
pub fn top_bars(
    probabilities: &[f32],
    vocabulary: &[String],
    n: usize,
    target: Option<usize>,
) -> Vec<Bar> {
    let mut top = largest(probabilities, n);
    let missing = target.filter(|t| *t < probabilities.len() && top.iter().all(|b| b.0 != *t));
    if let Some(target) = missing {
        top.truncate(n.saturating_sub(1));
        top.push((target, probabilities[target]));
    }
    let bar = |(id, probability): (usize, f32)| {
        let token = vocabulary.get(id).map_or("", String::as_str);
        Bar {
            name: token::mark(token),
            spoken: token::spoken(token),
            probability,
            marked: target == Some(id),
            compare: None,
        }
    };
    top.into_iter().map(bar).collect()
}

/// `rows` bars in the order given, always as tall as when there are so many. `role` is the class
/// that colors them. With `on_pick` each line can be chosen.
#[component]
pub fn Bars(
    #[prop(into)] bars: Signal<Vec<Bar>>,
    #[prop(into)] rows: Signal<usize>,
    #[prop(into)] role: String,
    #[prop(optional)] on_pick: Option<Callback<usize>>,
) -> impl IntoView {
    let bars = memo(move || bars.get());
    let rows = memo(move || rows.get());
    let comparing = memo(move || bars.with(|b| b.iter().any(|b| b.compare.is_some())));
    let row = move |i: usize| {
        // Each line follows its own place in the list: elements stay, only numbers change.
        let bar = memo(move || bars.with(|b| b.get(i).cloned()));
        let text = move |f: fn(&Bar) -> String| bar.with(|b| b.as_ref().map_or(String::new(), f));
        let width = move |f: fn(&Bar) -> f32| {
            let share = bar.with(|b| b.as_ref().map_or(0.0, f));
            format!("width:{}%", share.clamp(0.0, 1.0) * 100.0)
        };
        let content = move || {
            view! {
                <span class="bar-name" title=move || text(|b| b.spoken.clone())>
                    {move || bar.with(|b| b.as_ref().and_then(|b| b.label().0)).map(|word| view! { <span class="bar-word">{word}</span> })}
                    {move || text(|b| b.label().1.to_owned())}
                </span>
                <span class="bar-track" aria-hidden="true">
                    <i style=move || width(|b| b.probability)></i>
                    <Show when=move || comparing.get()>
                        <i class="bar-compare" style=move || width(|b| b.compare.unwrap_or(0.0))></i>
                    </Show>
                </span>
                <span class="bar-value">{move || text(Bar::number)}</span>
            }
        };
        let inner = match on_pick {
            None => content().into_any(),
            Some(on_pick) => {
                let on_click = move |_: ev::MouseEvent| {
                    if bar.with_untracked(Option::is_some) {
                        on_pick.run(i);
                    }
                };
                view! {
                    <button
                        type="button"
                        class="bar-button"
                        class:empty=move || bar.with(Option::is_none)
                        disabled=move || bar.with(Option::is_none)
                        on:click=on_click
                    >
                        {content()}
                    </button>
                }
                .into_any()
            }
        };
        view! { <li class:marked=move || bar.with(|b| b.as_ref().is_some_and(|b| b.marked))>{inner}</li> }
    };
    // Room for tokens of several characters, in whole steps so that little moves.
    let widest = memo(move || {
        bars.with(|bars| {
            let columns = bars.iter().map(Bar::columns);
            columns.fold(SHORTEST_NAME, f64::max).min(LONGEST_NAME).ceil()
        })
    });
    view! {
        <ol class=format!("bars {role}") translate="no" class:comparing=move || comparing.get()
            style=move || format!("--name:{}ch", widest.get())>
            {move || (0..rows.get()).map(row).collect_view()}
        </ol>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_called_so() {
        let bar = |name: &str| Bar { name: name.into(), ..Bar::default() };
        let labels = ["␣", "⏎ 12", "␣the", "a", "unit 3"].map(bar);
        let labels = labels.each_ref().map(Bar::label);
        assert_eq!(labels[..2], [(Some("space"), ""), (Some("new line"), " 12")]);
        assert_eq!(labels[2..], [(None, "␣the"), (None, "a"), (None, "unit 3")]);
        assert_eq!(["␣", "a", "␣ 12"].map(|name| bar(name).columns().ceil()), [4.0, 1.0, 7.0]);
    }

    #[test]
    fn the_target_is_always_there() {
        let vocabulary: Vec<String> = ["a", " ", "c", "d"].map(String::from).to_vec();
        let bars = top_bars(&[0.1, 0.6, 0.25, 0.05], &vocabulary, 2, Some(3));
        assert_eq!(bars.len(), 2);
        assert_eq!((bars[0].name.as_str(), bars[0].spoken.as_str()), ("␣", "space"));
        assert!(bars[1].marked && bars[1].name == "d");
        let bars = top_bars(&[0.1, 0.6, 0.25, 0.05], &vocabulary, 2, Some(2));
        assert_eq!(bars.iter().map(|b| b.marked).collect::<Vec<_>>(), [false, true]);
        assert!(top_bars(&[], &vocabulary, 2, Some(0)).is_empty());
    }
}
