//! The whole machine in small, with the part lit that a chapter is about: where one is in the story.

use leptos::prelude::*;
use unroll_protocol::link::Chapter;

use super::ChapterLink;
use crate::store::Store;

/// A part of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Station {
    Text,
    Embedding,
    Position,
    Queries,
    Weights,
    Values,
    Mix,
    FeedForward,
    Panels,
    Others,
    Norm,
    Next,
}

const ALL: [Station; 12] = [
    Station::Panels,
    Station::Text,
    Station::Embedding,
    Station::Position,
    Station::Queries,
    Station::Weights,
    Station::Values,
    Station::Mix,
    Station::FeedForward,
    Station::Others,
    Station::Norm,
    Station::Next,
];

/// A part of the drawing and what it is called.
type Lit = (&'static str, &'static [Station]);

/// What a chapter shows, for the list of chapters, and what of the drawing it is about; `None` where that
/// is all of it, or none: the machine itself, the arithmetic before it, and what its blocks replaced.
fn told(chapter: Chapter) -> (&'static str, Option<Lit>) {
    use Station::{
        Embedding, FeedForward, Mix, Next, Norm, Others, Panels, Position, Queries, Text, Values,
        Weights,
    };
    match chapter {
        Chapter::Start => ("arrows, shares and slopes, by hand", None),
        Chapter::Tokens => {
            ("characters, bytes, byte pairs", Some(("text and embedding", &[Text, Embedding])))
        }
        Chapter::Bigram => {
            ("which letter follows which", Some(("the next character", &[Text, Next])))
        }
        Chapter::Rnn => ("reading with a memory", None),
        Chapter::Bptt => ("an error travels back in time", None),
        Chapter::Gates => ("what to keep and what to forget", None),
        Chapter::Birnn => ("the future counts too", None),
        Chapter::Norm => ("BatchNorm and LayerNorm", Some(("the norms", &[Norm]))),
        Chapter::Seq2seq => ("a whole source in one vector", None),
        Chapter::Alignment => {
            ("looking back while writing", Some(("weights and mix", &[Weights, Mix])))
        }
        Chapter::Qkv => (
            "one attention weight, term by term",
            Some(("queries, keys, values", &[Queries, Values])),
        ),
        Chapter::Mask => ("no peeking at the future", Some(("who may look back", &[Weights]))),
        Chapter::Heads => {
            ("several ways to look at once", Some(("all the maps", &[Weights, Mix, Others])))
        }
        Chapter::Position => ("how a token learns its place", Some(("the positions", &[Position]))),
        Chapter::Block => (
            "residuals, norms, feed-forward",
            Some(("one whole block", &[Panels, Queries, Weights, Values, Mix, FeedForward])),
        ),
        Chapter::Machine => ("a GPT in one picture", None),
        Chapter::Decode => {
            ("temperature, top k, beams, cache", Some(("the next token", &[Next, Text])))
        }
        Chapter::Gpt => ("train one on your own text", Some(("all of it", &ALL))),
    }
}

/// What a chapter shows, in a few words.
pub(super) fn about(chapter: Chapter) -> &'static str {
    told(chapter).0
}

/// Rectangles of a part: left, top, width, height.
fn shapes(station: Station) -> Vec<[f64; 4]> {
    let rows = [6.0, 16.0, 26.0, 36.0];
    let column = |x: f64, width: f64| rows.map(|y| [x, y, width, 6.0]).to_vec();
    let long = |x: f64, lengths: [f64; 4]| {
        rows.iter().zip(lengths).map(|(y, width)| [x, *y, width, 6.0]).collect()
    };
    match station {
        Station::Text => column(2.0, 10.0),
        Station::Embedding => column(18.0, 20.0),
        Station::Position => column(44.0, 14.0),
        Station::Panels => vec![[66.0, 0.0, 138.0, 48.0], [210.0, 0.0, 26.0, 48.0]],
        Station::Queries => [column(72.0, 8.0), column(84.0, 8.0)].concat(),
        Station::Weights => long(98.0, [7.0, 14.0, 21.0, 28.0]),
        Station::Values => column(132.0, 8.0),
        Station::Mix => column(158.0, 12.0),
        Station::FeedForward => column(180.0, 18.0),
        Station::Others => (0..4).map(|i| [217.0, 3.0 + 11.0 * f64::from(i), 9.0, 9.0]).collect(),
        Station::Norm => column(242.0, 12.0),
        Station::Next => long(262.0, [50.0, 26.0, 14.0, 6.0]),
    }
}

/// The map, with the part lit that the chapter on show is about.
#[component]
pub fn Map() -> impl IntoView {
    let chapter = expect_context::<Store>().link.with_untracked(|link| link.chapter);
    let Some((words, parts)) = told(chapter).1 else { return ().into_any() };
    let station = |station: &Station| {
        let on = parts.contains(station);
        let class = match (station, on) {
            (Station::Panels, true) => "map-panel map-on",
            (Station::Panels, false) => "map-panel",
            (_, true) => "map-on",
            (_, false) => "",
        };
        let rects = shapes(*station).into_iter().map(|[x, y, width, height]| {
            view! { <rect x=x y=y width=width height=height rx="1.5"></rect> }
        });
        view! { <g class=class>{rects.collect_view()}</g> }
    };
    view! {
        <ChapterLink chapter=Chapter::Machine testid="machine-map">
            <svg viewBox="0 0 314 48" aria-hidden="true">
                <path class="map-lines" d="M12 9H262M12 19H262M12 29H262M12 39H262"></path>
                {ALL.iter().map(station).collect_view()}
            </svg>
            <span>"In the whole machine: "{words}</span>
        </ChapterLink>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_on_parts_of_the_machine_have_their_place() {
        for chapter in Chapter::ALL {
            let (about, lit) = told(*chapter);
            assert!((10..40).contains(&about.len()), "{chapter:?}: {about}");
            let whole = matches!(chapter, Chapter::Start | Chapter::Machine);
            let before = matches!(
                chapter,
                Chapter::Rnn | Chapter::Bptt | Chapter::Gates | Chapter::Birnn | Chapter::Seq2seq
            );
            assert_eq!(lit.is_none(), whole || before, "{chapter:?}");
            assert!(lit.is_none_or(|(words, parts)| !words.is_empty() && !parts.is_empty()));
        }
    }

    #[test]
    fn parts_lie_beside_each_other() {
        let inner = ALL.iter().filter(|station| **station != Station::Panels);
        let all: Vec<[f64; 4]> = inner.flat_map(|station| shapes(*station)).collect();
        for (i, a) in all.iter().enumerate() {
            assert!(a[0] + a[2] <= 314.0 && a[1] + a[3] <= 48.0);
            for b in &all[i + 1..] {
                let apart = a[0] + a[2] <= b[0]
                    || b[0] + b[2] <= a[0]
                    || a[1] + a[3] <= b[1]
                    || b[1] + b[3] <= a[1];
                assert!(apart, "{a:?} {b:?}");
            }
        }
    }
}
