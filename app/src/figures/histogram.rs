//! How values are spread: one histogram, or several small ones on the same axes.

use crate::{pointer::worded, reactive::memo};
use leptos::{html, prelude::*};
use serde_json::json;

use super::{
    canvas::{use_latest, use_size},
    export::{Provenance, axis, csv_comment, field, head},
    frame::{Caption, Files, Frame, choices},
    histogram_plot::{self, Grid, histogram_svg},
    hue::Hue,
    numbers::short,
    plot::use_plot,
    reading::{Reading, offset, step_cell},
    readout::SpokenReading,
    select::Pointing,
    sight::use_visible,
    table::TableData,
    theme::use_colors,
};

/// How many values fell into each of equal bins, and how many outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    pub name: String,
    pub hue: Hue,
    pub counts: Vec<f64>,
    pub below: f64,
    pub above: f64,
}

impl Bins {
    #[cfg(test)]
    /// Counts `values` in `bins` equal parts of `range`, its upper end included. What is not a
    /// number is not counted.
    pub fn of(
        name: impl Into<String>,
        hue: Hue,
        values: &[f32],
        range: (f64, f64),
        bins: usize,
    ) -> Self {
        let mut it =
            Self { name: name.into(), hue, counts: vec![0.0; bins.max(1)], below: 0.0, above: 0.0 };
        let last = it.counts.len() - 1;
        for value in values.iter().map(|v| f64::from(*v)).filter(|v| !v.is_nan()) {
            let share = (value - range.0) / (range.1 - range.0);
            if share < 0.0 {
                it.below += 1.0;
            } else if share > 1.0 {
                it.above += 1.0;
            } else {
                it.counts[((share * (last + 1) as f64) as usize).min(last)] += 1.0;
            }
        }
        it
    }

    /// Values counted, in and outside.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum::<f64>() + self.below + self.above
    }

    /// Percent of all values in each bin: comparable between groups of any size.
    pub fn percents(&self) -> impl Iterator<Item = f64> {
        let all = self.total();
        self.counts.iter().map(move |n| if all > 0.0 { 100.0 * n / all } else { 0.0 })
    }
}

/// Groups counted over the same `range` in the same number of bins; several are small multiples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    pub x_label: String,
    pub range: (f64, f64),
    pub groups: Vec<Bins>,
    /// So many groups belong side by side, or where there is no room, an equal part of them; 0 for as many as fit.
    pub across: usize,
}

impl Histogram {
    fn bins(&self) -> usize {
        self.groups.first().map_or(0, |bins| bins.counts.len())
    }

    fn edges(&self, bin: usize) -> (f64, f64) {
        let width = (self.range.1 - self.range.0) / self.bins().max(1) as f64;
        (self.range.0 + bin as f64 * width, self.range.0 + (bin + 1) as f64 * width)
    }

    /// What a bin holds, in words.
    fn describe(&self, (group, bin): (usize, usize)) -> String {
        let Some(bins) = self.groups.get(group) else { return String::new() };
        let (from, to) = self.edges(bin);
        let count = bins.counts.get(bin).copied().unwrap_or(0.0);
        let percent = if bins.total() > 0.0 { 100.0 * count / bins.total() } else { 0.0 };
        format!(
            "{}, {} from {} to {}: {} of {} ({percent:.2}%)",
            bins.name,
            self.x_label,
            short(from),
            short(to),
            short(count),
            short(bins.total())
        )
    }
}

/// Histograms on shared axes, read bin by bin.
#[component]
pub fn HistogramFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] histogram: Signal<Histogram>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let size = use_size(canvas);
    let colors = use_colors();
    let shown = use_latest(histogram, use_visible(root));
    let shape = memo(move || (shown.get().groups.len(), shown.get().bins()));
    let grid = memo(move || {
        let size = size.get();
        Grid::new(shape.get().0, shown.with(|shown| shown.across), size.width, size.height)
    });
    let pointing = Pointing::new(move |&(group, bin): &(usize, usize)| {
        group < shape.get().0 && bin < shape.get().1
    });
    use_plot(canvas, size, colors, move |surface, palette| {
        histogram_plot::draw(surface, &shown.get(), grid.get(), palette)
    });
    let start = move || {
        let (groups, bins) = shape.get_untracked();
        let start = pointing.shown_untracked().unwrap_or((0, bins / 2));
        (groups > 0 && bins > 0).then_some(start)
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(move |e| {
            let ((x, y), (groups, bins)) = (offset(&e), shape.get_untracked());
            grid.get_untracked().hit(x, y, groups, bins)
        }),
        start: Callback::new(move |()| start()),
        step: Callback::new(move |(key, at): (String, _)| {
            step_cell(&key, at, shape.get_untracked())
        }),
        pick: None,
        tap_reads: false,
        focus_reads: false,
    };
    let mark = move || {
        let ((group, bin), (_, bins)) = (pointing.shown()?, shape.get());
        let (left, right, top, bottom) = grid.get().plot(group);
        let width = (right - left) / bins.max(1) as f64;
        let (left, height) = (left + bin as f64 * width, bottom - top);
        let style = format!("left:{left}px;top:{top}px;width:{width}px;height:{height}px");
        Some(view! { <div class="histogram-mark" style=style></div> })
    };
    let files = Files { json: histogram_json, csv: histogram_csv, svg: histogram_svg };
    let table = TableData {
        name,
        summary: "Counts as a table",
        caption: title,
        shape: Signal::derive(move || (shape.get().1, shape.get().0)),
        along: ("bins", "groups"),
        row_name: Callback::new(move |bin: usize| {
            let (from, to) = shown.get().edges(bin);
            format!("{} to {}", short(from), short(to))
        }),
        column_name: Callback::new(move |group: usize| {
            shown.get().groups.get(group).map_or(String::new(), |bins| bins.name.clone())
        }),
        cell: Callback::new(move |(bin, group): (usize, usize)| {
            Some(short(*shown.get().groups.get(group)?.counts.get(bin)?))
        }),
        absent: "–",
        start: Callback::new(move |()| {
            pointing.shown().map(|(group, bin)| (bin, group)).or(Some((0, 0)))
        }),
    };
    let none = Signal::stored(None);
    view! {
        <Frame
            name
            kind="histogram"
            title
            root
            empty=Signal::derive(move || shown.get().groups.iter().all(|bins| bins.total() == 0.0))
            table
            choices=choices(name, title, shown, none, provenance, colors, files)
        >
            <div
                {..reader.handlers()}
                class="histogram-box"
                tabindex="0"
                role="application"
                aria-roledescription="histogram"
                aria-label=move || format!("{}. Arrow keys move between bins.", title.get())
            >
                <canvas node_ref=canvas aria-hidden="true"></canvas>
                {mark}
            </div>
            <p class="readout" translate="no" data-testid=format!("{name}-readout")>
                {move || match pointing.shown() {
                    Some(place) => shown.get().describe(place).into_any(),
                    None => {
                        view! { <span class="hint">{worded("Point at a bar to read how many values it holds.")}</span> }
                            .into_any()
                    }
                }}
            </p>
            <SpokenReading
                shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |place| shown.get_untracked().describe(place))
            />
        </Frame>
    }
}

fn histogram_json(histogram: &Histogram, caption: &Caption, provenance: &Provenance) -> String {
    let names: Vec<&str> = histogram.groups.iter().map(|bins| bins.name.as_str()).collect();
    let edges: Vec<f64> = (0..histogram.bins())
        .map(|bin| histogram.edges(bin).0)
        .chain([histogram.range.1])
        .collect();
    let list = |f: fn(&Bins) -> f64| histogram.groups.iter().map(f).collect::<Vec<f64>>();
    let mut map = head(caption.name, &caption.title, provenance);
    map.insert("shape".into(), json!([names.len(), histogram.bins()]));
    map.insert("axes".into(), json!([axis("group", names), axis(&histogram.x_label, "edges")]));
    map.insert("edges".into(), json!(edges));
    map.insert("below".into(), json!(list(|bins| bins.below)));
    map.insert("above".into(), json!(list(|bins| bins.above)));
    let counts: Vec<&Vec<f64>> = histogram.groups.iter().map(|bins| &bins.counts).collect();
    map.insert("values".into(), json!(counts));
    serde_json::Value::Object(map).to_string()
}

fn histogram_csv(histogram: &Histogram, caption: &Caption, provenance: &Provenance) -> String {
    let what = format!("{}: counts of {}", caption.title, histogram.x_label);
    let mut text = csv_comment(&what, provenance);
    text.push_str("group,from,to,count\n");
    for bins in &histogram.groups {
        let name = field(&bins.name);
        let (low, high) = histogram.range;
        text.push_str(&format!("{name},,{low:?},{:?}\n", bins.below));
        for (i, count) in bins.counts.iter().enumerate() {
            let (from, to) = histogram.edges(i);
            text.push_str(&format!("{name},{from:?},{to:?},{count:?}\n"));
        }
        text.push_str(&format!("{name},{high:?},,{:?}\n", bins.above));
    }
    text
}

#[cfg(test)]
pub mod tests {
    use serde_json::Value;

    use super::*;

    pub fn two() -> Histogram {
        let range = (-1.0, 1.0);
        Histogram {
            x_label: "activation".into(),
            range,
            across: 0,
            groups: vec![
                Bins::of("layer 1", Hue::Hidden, &[-1.0, -0.9, 0.1, 1.0], range, 4),
                Bins::of("layer 2", Hue::Hidden, &[0.0, 0.2, 2.0, 0.3, f32::NAN], range, 4),
            ],
        }
    }

    pub fn caption() -> Caption {
        Caption { name: "spread", title: "Spread".into(), marker: None, source: "here".into() }
    }

    #[test]
    fn counts_every_value_once() {
        let h = two();
        assert_eq!(h.groups[0].counts, [2.0, 0.0, 1.0, 1.0]);
        assert_eq!((h.groups[1].total(), h.groups[1].above), (4.0, 1.0));
        assert_eq!(h.groups[0].percents().collect::<Vec<_>>(), [50.0, 0.0, 25.0, 25.0]);
        assert_eq!(h.describe((0, 0)), "layer 1, activation from −1 to −0.5: 2 of 4 (50.00%)");
        assert_eq!(Bins::default().percents().count(), 0);
    }

    #[test]
    fn files_read_back() {
        let provenance = Provenance::default();
        let read: Value =
            serde_json::from_str(&histogram_json(&two(), &caption(), &provenance)).unwrap();
        assert_eq!(read["shape"], json!([2, 4]));
        assert_eq!(read["edges"], json!([-1.0, -0.5, 0.0, 0.5, 1.0]));
        assert_eq!(read["above"], json!([0.0, 1.0]));
        let csv = histogram_csv(&two(), &caption(), &provenance);
        assert_eq!(csv.lines().count(), 2 + 2 * 6);
        assert_eq!(csv.lines().nth(3), Some("layer 1,-1.0,-0.5,2.0"));
    }
}
