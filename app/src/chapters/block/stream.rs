//! The stream as a sum: how large each term is, and what it adds to one logit.

use leptos::{ev, prelude::*};
use serde_json::{Value, json};
use unroll_protocol::study::block::{Shown, Source, Stream};
use web_sys::Element;

use super::{Page, arithmetic, models, name_of};
use crate::{
    course::Sentence,
    figures::{
        BarsFigure, Hue, Matrix, MatrixFigure, Sheet, SheetExport, ValueMap, decimals, exact,
        largest,
        scroll::{self, Land, place_in},
        token::mark,
        top_bars,
    },
    reactive::memo,
};

/// Likeliest tokens on show.
const TOP: usize = 6;

pub fn view(page: Page) -> AnyView {
    let Page { provenance, stream, .. } = page;
    let matrix =
        memo(move || stream.with(|s| s.as_ref().map_or_else(Matrix::default, |s| sizes(s))));
    let column = Signal::derive(move || stream.with(|s| Some(s.as_ref()?.position as usize)));
    let marked = Signal::derive(move || {
        let term = (page.term.get() as usize).checked_sub(1);
        let cell = term.zip(column.get()).filter(|(term, _)| {
            stream.with(|s| s.as_ref().is_some_and(|s| *term < s.sources.len()))
        });
        cell.into_iter().collect::<Vec<_>>()
    });
    let pick = Callback::new(move |(row, column): (usize, usize)| {
        page.store.link.update(|link| {
            link.block.position = column as u32 + 1;
            link.block.term = row as u32 + 1;
        });
    });
    let bars = memo(move || {
        page.vocabulary.with(|vocabulary| {
            stream.with(|s| {
                s.as_ref().map_or_else(Vec::new, |s| {
                    top_bars(&s.probabilities, vocabulary, TOP, Some(s.token as usize))
                })
            })
        })
    });
    let choose = Callback::new(move |bar: usize| {
        let id = stream.with_untracked(|s| {
            let s = s.as_ref()?;
            // As `top_bars` lays them out.
            let mut top: Vec<usize> =
                largest(&s.probabilities, TOP).into_iter().map(|t| t.0).collect();
            if !top.contains(&(s.token as usize)) {
                top.truncate(TOP - 1);
                top.push(s.token as usize);
            }
            top.get(bar).copied()
        });
        if let Some(id) = id {
            page.token.set(id as u32 + 1);
        }
    });
    let describe = Callback::new(move |(row, column, value): (usize, usize, f32)| {
        stream.with_untracked(|s| {
            let Some(s) = s.as_ref() else { return String::new() };
            let name = s.sources.get(row).map(|source| source.name()).unwrap_or_default();
            let token = s.tokens.get(column).map(|t| mark(t)).unwrap_or_default();
            format!("{name} at {} ‘{token}’: length {value:.4}", column + 1)
        })
    });
    let title =
        Signal::derive(move || format!("Length of every term in the stream, {}", model(page)));
    let next = Signal::derive(move || {
        stream.with(|s| {
            s.as_ref().map_or_else(
                || "Next character".to_owned(),
                |s| format!("Next after ‘{}’", seen(s)),
            )
        })
    });
    let adds = Callback::new(move |()| {
        page.vocabulary.with(|v| stream.with(|s| s.as_ref().map(|s| contributions_sheet(s, v))))
    });
    let folds = arithmetic::folds();
    view! {
        <Sentence label="Your sentence" problem=page.problem/>
        <div class="block-stream">
            <div class="block-terms">
                <div class="view-bar">{models(page)}</div>
                <MatrixFigure name="block-sizes" title matrix provenance column marked describe
                    on_pick=pick/>
            </div>
            {move || arithmetic::panel(page, folds)}
            <div class="block-logit">
                <BarsFigure name="block-next" title=next bars provenance top=TOP hue=Hue::Output on_pick=choose/>
                <section class="figure block-sum" data-testid="figure-block-adds"
                    data-state=move || if stream.with(Option::is_some) { "live" } else { "empty" }
                    aria-label="What adds up to the logit">
                    {move || contributions(page)}
                    <SheetExport name="block-adds" title="What each term adds to the logit" provenance sheet=adds/>
                </section>
            </div>
        </div>
    }
    .into_any()
}

/// The model on show, in words.
pub fn model(page: Page) -> String {
    match page.shown.get() {
        Shown::Full => "full model".to_owned(),
        Shown::Cut => format!("model without {}", name_of(page.without.get())),
    }
}

/// The tokens up to the position on show, the last few of them.
pub fn seen(stream: &Stream) -> String {
    let end = (stream.position as usize + 1).min(stream.tokens.len());
    let tokens = &stream.tokens[end.saturating_sub(8)..end];
    tokens.iter().map(|token| mark(token)).collect()
}

/// A term's name as there is room for beside a figure.
pub fn short(source: Source) -> String {
    match source {
        Source::Token => "token".to_owned(),
        Source::Position => "position".to_owned(),
        Source::Attention(block) => format!("attn {block}"),
        Source::FeedForward(block) => format!("feed {block}"),
        Source::NormOffsets => "norms β".to_owned(),
    }
}

/// Terms by tokens.
fn sizes(stream: &Stream) -> Matrix {
    Matrix {
        row_axis: "term".into(),
        column_axis: "position".into(),
        rows: stream.sources.iter().map(|source| short(*source)).collect(),
        columns: stream.tokens.clone(),
        values: stream.sizes.values.clone(),
        // As far as the longest: beyond the scale its row would be one flat color.
        map: ValueMap::size_of_most(&[stream.sizes.values.iter().copied().fold(0.0, f32::max)]),
        value_name: "length".into(),
        absent: String::new(),
    }
}

/// What bars are drawn to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarScale {
    /// Where they begin: at 0, or left of it where some value is negative.
    pub low: f64,
    /// How much their width stands for.
    pub span: f64,
}

impl BarScale {
    /// Holds these values, and no more: no room is left for signs that none of them has.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) =
            values.fold((0f64, 0f64), |(low, high), value| (low.min(value), high.max(value)));
        Self { low, span: (high - low).max(1e-6) }
    }

    /// `value` as a bar to the right of 0, or to the left where it is negative.
    pub fn bar(self, value: f64) -> AnyView {
        let share = |value: f64| (100.0 * value / self.span).clamp(0.0, 100.0);
        let (zero, left, width) =
            (share(-self.low), share(value.min(0.0) - self.low), share(value.abs()));
        let class = if value < 0.0 { "block-bar block-less" } else { "block-bar" };
        view! {
            <span class=class style=format!("--zero:{zero:.2}%") aria-hidden="true">
                <i style=format!("left:{left:.2}%;width:{width:.2}%")></i>
            </span>
        }
        .into_any()
    }
}

/// All contributions to the logit.
fn sum(stream: &Stream) -> f64 {
    stream.contributions.iter().map(|c| f64::from(*c)).sum::<f64>() + f64::from(stream.offset)
}

/// The length of a term at the position on show.
pub fn size(stream: &Stream, term: usize) -> Option<f32> {
    let at = term * stream.tokens.len() + stream.position as usize;
    stream.sizes.values.get(at).copied()
}

/// Each term's size and what it adds, down to their sum and the logit.
fn contributions(page: Page) -> Option<AnyView> {
    let stream = page.stream.get()?;
    let token =
        page.vocabulary.with(|v| v.get(stream.token as usize).map(|t| mark(t))).unwrap_or_default();
    let sum = sum(&stream);
    let values = stream.contributions.iter().chain([&stream.offset]);
    let scale = BarScale::of(values.map(|value| f64::from(*value)));
    let whole = stream.whole.get(stream.position as usize).copied();
    let bar = move |value: f32| scale.bar(f64::from(value));
    let row = |(index, source): (usize, &Source)| {
        let value = stream.contributions[index];
        let size = size(&stream, index);
        let number = index as u32 + 1;
        let open = page.term.get() == number;
        let press = move |event: ev::MouseEvent| {
            page.term.update(|term| *term = if *term == number { 0 } else { number });
            // On a phone it is worked out one swipe beside this table, over the terms.
            let parts = event_target::<Element>(&event).closest(".block-stream").ok().flatten();
            let terms =
                parts.as_ref().and_then(|parts| parts.query_selector(".block-terms").ok()?);
            if let Some((parts, terms)) = parts.zip(terms) {
                scroll::across(&parts, place_in(&parts, &terms)[0], Land::AtEdge(0.0));
            }
        };
        view! {
            <tr>
                <th scope="row">
                    <button type="button" class="block-term" aria-expanded=open.to_string()
                        data-testid=format!("block-term-{number}") on:click=press>{source.name()}</button>
                </th>
                <td>{size.map(|size| format!("{size:.2}"))}</td>
                <td data-testid=format!("block-adds-{number}") data-value=value.to_string()>{decimals(value, 3)}</td>
                <td class="block-bars">{bar(value)}</td>
            </tr>
        }
    };
    let rows = stream.sources.iter().enumerate().map(row).collect_view();
    let offset = stream.deviation.map(|_| view! {
        <tr>
            <th scope="row">"final norm’s offset β"</th>
            <td></td>
            <td data-testid="block-offset" data-value=stream.offset.to_string()>{decimals(stream.offset, 3)}</td>
            <td class="block-bars">{bar(stream.offset)}</td>
        </tr>
    });
    Some(
        view! {
            <div class="figure-box view-scroll" tabindex="0" role="region" aria-label="What each term adds to the logit">
                <table class="block-table block-adds" data-testid="block-contributions"
                    data-position=stream.position.to_string() data-token=stream.token.to_string()
                    data-shown=stream.shown.id()>
                    <caption class="visually-hidden">{format!("What adds up to the logit of ‘{token}’ after ‘{}’", seen(&stream))}</caption>
                    <thead><tr>
                        <th scope="col">"term"</th><th scope="col">"length"</th><th scope="col">{format!("adds to ‘{token}’")}</th>
                        <th scope="col"><span class="visually-hidden">"as a bar"</span></th>
                    </tr></thead>
                    <tbody>{rows}{offset}</tbody>
                    // No foot: only of rows in bodies a browser shares the height among all.
                    <tbody class="block-total">
                        <tr>
                            <th scope="row">"sum: the stream"</th>
                            <td data-testid="block-whole">{whole.map(|length| format!("{length:.2}"))}</td>
                            <td data-testid="block-sum" data-value=sum.to_string()>{decimals(sum, 4)}</td><td></td>
                        </tr>
                        <tr>
                            <th scope="row">"the model’s logit"</th><td></td>
                            <td data-testid="block-logit" data-value=stream.logit.to_string()>
                                {decimals(stream.logit, 4)}
                            </td><td></td>
                        </tr>
                    </tbody>
                </table>
            </div>
        }
        .into_any(),
    )
}

/// The same as a sheet; each line says which model read what, and whose logit it is.
fn contributions_sheet(stream: &Stream, vocabulary: &[String]) -> Sheet {
    let mut sheet = Sheet::new(&["model", "read", "token", "term", "length", "adds"]);
    let end = (stream.position as usize + 1).min(stream.tokens.len());
    let read = stream.tokens[..end].concat();
    let token = vocabulary.get(stream.token as usize);
    let line = |term: &str, length: Option<f32>, adds: Value| {
        let length = length.map_or(Value::Null, exact);
        vec![json!(stream.shown.id()), json!(read), json!(token), json!(term), length, adds]
    };
    let terms = stream.sources.iter().zip(&stream.contributions).enumerate();
    sheet.rows = terms
        .map(|(index, (source, adds))| line(&source.name(), size(stream, index), exact(*adds)))
        .collect();
    if stream.deviation.is_some() {
        sheet.rows.push(line("final norm’s offset β", None, exact(stream.offset)));
    }
    let whole = stream.whole.get(stream.position as usize).copied();
    sheet.rows.push(line("sum: the stream", whole, json!(sum(stream))));
    sheet.rows.push(line("the model’s logit", None, exact(stream.logit)));
    sheet
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Array;

    use super::*;

    #[test]
    fn bars_begin_where_there_is_something_to_draw() {
        let positive = BarScale::of([0.2, 0.5].into_iter());
        assert_eq!((positive.low, positive.span), (0.0, 0.5));
        let both = BarScale::of([-0.25, 0.75].into_iter());
        assert_eq!((both.low, both.span), (-0.25, 1.0));
    }

    #[test]
    fn contributions_are_written_down_to_the_last_digit() {
        let mut stream = Stream {
            shown: Shown::Full,
            tokens: ["a", "b", "c"].map(str::to_owned).to_vec(),
            dropped: 0,
            position: 1,
            token: 1,
            next: None,
            sources: vec![Source::Token, Source::Attention(1)],
            sizes: Array { shape: vec![2, 3], values: vec![1.0, 1.1, 1.2, 2.0, 2.1, 2.2] },
            whole: vec![3.0, 3.1, 3.2],
            terms: Array::default(),
            deviation: Some(0.5),
            gamma: Vec::new(),
            unembedding: Vec::new(),
            contributions: vec![0.123_456_79, -0.25],
            offset: 0.75,
            logit: 0.623_456_8,
            probabilities: Vec::new(),
        };
        let vocabulary = ["x", "y"].map(str::to_owned);
        let sheet = contributions_sheet(&stream, &vocabulary);
        let of = [json!("full"), json!("ab"), json!("y")];
        assert!(sheet.rows.iter().all(|row| row.len() == sheet.columns.len() && row[..3] == of));
        let rest: Vec<_> = sheet.rows.iter().map(|row| row[3..].to_vec()).collect();
        let sum = f64::from(0.123_456_79f32) - 0.25 + 0.75;
        assert_eq!(
            rest,
            [
                vec![json!(Source::Token.name()), json!(1.1), json!(0.123_456_79)],
                vec![json!(Source::Attention(1).name()), json!(2.1), json!(-0.25)],
                vec![json!("final norm’s offset β"), json!(null), json!(0.75)],
                vec![json!("sum: the stream"), json!(3.1), json!(sum)],
                vec![json!("the model’s logit"), json!(null), json!(0.623_456_8)],
            ]
        );
        stream.deviation = None;
        let names = contributions_sheet(&stream, &vocabulary).rows.len();
        assert_eq!(names, 4, "no offset where there is no final norm");
    }
}
