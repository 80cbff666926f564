//! Points over several x quantities and one shared y: the same things in small plots side by side.

use std::fmt::Write;

use crate::figures::pen::FACE;
use crate::reactive::memo;
use leptos::{ev, html, prelude::*};
use serde_json::{Map, json};

use crate::figures::{
    Hue,
    canvas::{use_latest, use_size},
    color::Palette,
    export::{Provenance, axis, csv_comment, field},
    frame::{Caption, Files, Frame, choices},
    plot::Axis,
    reading::{Reading, step_along},
    readout::SpokenReading,
    select::Pointing,
    short,
    sight::use_visible,
    svg::escape,
    table::TableData,
    theme::{Colors, use_colors},
};

/// One small plot: where each point lies along x.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    pub name: String,
    pub hue: Option<Hue>,
    /// One for each point, in `0..=1`.
    pub xs: Vec<f64>,
}

/// What a [`ScatterFigure`] shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What the points are called.
    pub points: Vec<String>,
    pub x_label: String,
    pub y_label: String,
    pub y_range: (f64, f64),
    pub y_log: bool,
    /// One for each point.
    pub ys: Vec<f64>,
    pub clouds: Vec<Cloud>,
}

/// Of one plot in a file.
const IN_FILE: Plot = Plot { width: 268.0, height: 232.0 };
const LEFT: f64 = 48.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 46.0;

/// Size of one small plot, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plot {
    width: f64,
    height: f64,
}

impl Plot {
    /// How many of `count` plots stand side by side in a box, and how large each is: the way that
    /// leaves the largest plots of a pleasing shape.
    fn fit(count: usize, width: f64, height: f64) -> (usize, Self) {
        let of = |columns: usize| {
            let rows = count.div_ceil(columns) as f64;
            let (width, height) = (width / columns as f64, height / rows);
            (columns, Self { width: width.max(120.0), height: height.max(90.0) })
        };
        let side = |plot: &Self| plot.width.min(1.2 * plot.height);
        let ways = (1..=count.max(1)).map(of);
        // One way at least there is.
        ways.max_by(|a, b| side(&a.1).total_cmp(&side(&b.1))).unwrap_or((1, IN_FILE))
    }
}

impl Scatter {
    fn axis(&self) -> Axis {
        Axis { from: self.y_range.0, to: self.y_range.1, log: self.y_log }
    }

    /// Where a point lies in its plot; `None` for what has no place.
    fn place(&self, cloud: usize, point: usize, plot: Plot) -> Option<(f64, f64)> {
        let Plot { width, height } = plot;
        let x = *self.clouds.get(cloud)?.xs.get(point)?;
        let y = self.axis().share(*self.ys.get(point)?)?.clamp(0.0, 1.0);
        let x = LEFT + x * (width - LEFT - RIGHT);
        x.is_finite().then_some((x, height - BOTTOM - y * (height - TOP - BOTTOM)))
    }

    /// The sentence for a point.
    fn describe(&self, point: usize) -> String {
        let Some(name) = self.points.get(point) else { return String::new() };
        let xs = self.clouds.iter().map(|c| {
            format!("{} {}", c.name, c.xs.get(point).map_or("–".into(), |x| format!("{x:.3}")))
        });
        let y = self.ys.get(point).map_or("–".into(), |y| format!("{y:.1}"));
        format!("{name}: {}, {} {y}", xs.collect::<Vec<_>>().join(", "), self.y_label)
    }
}

/// The plot of one cloud as the inside of an SVG. `paint` names its colors, which on the page are
/// properties of the style sheet and in a file numbers.
fn plot(
    scatter: &Scatter,
    cloud: usize,
    size: Plot,
    lit: &[usize],
    paint: &dyn Fn(Option<Hue>) -> String,
) -> String {
    let mut svg = String::new();
    let Some(shown) = scatter.clouds.get(cloud) else { return svg };
    let (ink, muted) = (paint(Some(Hue::Ink)), paint(Some(Hue::Muted)));
    let (right, bottom) = (size.width - RIGHT, size.height - BOTTOM);
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{muted}"/><text x="{LEFT}" y="14" font-size="13" fill="{ink}">{}</text>"#,
        escape(&shown.name)
    );
    for (value, label) in scatter.axis().ticks(5.0) {
        let Some(share) = scatter.axis().share(value) else { continue };
        let y = bottom - share * (bottom - TOP);
        let _ = write!(
            svg,
            r#"<path d="M{LEFT} {y:.1}h-4" stroke="{muted}"/><text x="{}" y="{:.1}" font-size="12" text-anchor="end" fill="{muted}">{label}</text>"#,
            LEFT - 7.0,
            y + 4.0
        );
    }
    let marks: &[f64] =
        if right - LEFT < 150.0 { &[0.0, 0.5, 1.0] } else { &[0.0, 0.25, 0.5, 0.75, 1.0] };
    for &value in marks {
        let x = LEFT + value * (right - LEFT);
        let _ = write!(
            svg,
            r#"<path d="M{x:.1} {bottom}v4" stroke="{muted}"/><text x="{x:.1}" y="{}" font-size="12" text-anchor="middle" fill="{muted}">{value}</text>"#,
            bottom + 18.0
        );
    }
    let _ = write!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" font-size="12" text-anchor="middle" fill="{muted}">{}</text>"#,
        f64::midpoint(LEFT, right),
        bottom + 38.0,
        escape(&scatter.x_label)
    );
    // Its first word alone where there is no room for all: the sentence for a point has it whole.
    let high = bottom - TOP;
    let fits = |name: &&str| 7.0 * name.chars().count() as f64 <= high;
    let first = scatter.y_label.split(' ').next().unwrap_or_default();
    if let Some(name) = [scatter.y_label.as_str(), first].into_iter().find(fits) {
        let _ = write!(
            svg,
            r#"<text transform="translate(13 {:.1}) rotate(-90)" font-size="12" text-anchor="middle" fill="{muted}">{}</text>"#,
            f64::midpoint(TOP, bottom),
            escape(name)
        );
    }
    let (color, paper) = (paint(shown.hue), paint(None));
    // What is lit lies over the others.
    let order = (0..scatter.points.len()).filter(|p| !lit.contains(p)).chain(lit.iter().copied());
    for point in order {
        let Some((x, y)) = scatter.place(cloud, point, size) else { continue };
        let is_lit = lit.contains(&point);
        let (radius, opacity) = if is_lit { (6.5, 1.0) } else { (4.5, 0.9) };
        // The edge keeps dots apart that lie over each other.
        let (edge, thick) = if is_lit { (&ink, 2) } else { (&paper, 1) };
        let _ = write!(
            svg,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{color}" fill-opacity="{opacity}" stroke="{edge}" stroke-width="{thick}"/>"#
        );
        if is_lit {
            let (at, anchor) =
                if x > size.width - 80.0 { (x - 10.0, "end") } else { (x + 10.0, "start") };
            let _ = write!(
                svg,
                r#"<text x="{at:.1}" y="{:.1}" font-size="12" font-weight="600" text-anchor="{anchor}" fill="{ink}" stroke="{}" stroke-width="3" paint-order="stroke">{}</text>"#,
                (y - 8.0).max(TOP - 6.0),
                paper,
                escape(&scatter.points[point])
            );
        }
    }
    svg
}

/// Small plots side by side; a point is the same thing in each. `chosen` is lit from outside,
/// `on_pick` hears of a click or Enter on a point.
#[component]
pub fn ScatterFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] scatter: Signal<Scatter>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(into, optional)] chosen: Signal<Option<usize>>,
    on_pick: Callback<usize>,
) -> impl IntoView {
    let root = NodeRef::new();
    let colors = use_colors();
    let shown = use_latest(scatter, use_visible(root));
    let count = memo(move || shown.get().points.len());
    let clouds = memo(move || shown.get().clouds.len());
    let points = NodeRef::<html::Div>::new();
    let size = use_size(points);
    let fit = memo(move || Plot::fit(clouds.get(), size.get().width, size.get().height));
    let pointing = Pointing::new(move |point: &usize| *point < count.get());
    let lit = move || {
        let mut lit: Vec<usize> = chosen.get().into_iter().collect();
        lit.extend(pointing.shown().filter(|p| !lit.contains(p)));
        lit
    };
    let css = |hue: Option<Hue>| hue.map_or("var(--paper)".to_owned(), |hue| hue.css().to_owned());
    let hit = move |e: ev::MouseEvent| {
        let target: web_sys::Element = event_target(&e);
        let svg = target.closest("svg").ok().flatten()?;
        let cloud = svg.get_attribute("data-cloud")?.parse().ok()?;
        let area = svg.get_bounding_client_rect();
        let (x, y) = (f64::from(e.client_x()) - area.left(), f64::from(e.client_y()) - area.top());
        let (scatter, plot) = (shown.get_untracked(), fit.get_untracked().1);
        let away = |point: usize| {
            let (px, py) = scatter.place(cloud, point, plot)?;
            Some((point, (px - x).hypot(py - y)))
        };
        let near = (0..scatter.points.len()).filter_map(away).min_by(|a, b| a.1.total_cmp(&b.1));
        near.filter(|near| near.1 < 24.0).map(|near| near.0)
    };
    let small = move |cloud: usize| {
        view! {
            <svg class="scatter-plot" aria-hidden="true" data-cloud=cloud.to_string()
                inner_html=move || plot(&shown.get(), cloud, fit.get().1, &lit(), &css)>
            </svg>
        }
        .into_any()
    };
    // Along the keys' way the points lie by their y.
    let order = move || {
        let scatter = shown.get_untracked();
        let mut order: Vec<usize> = (0..scatter.points.len()).collect();
        order.sort_by(|&a, &b| scatter.ys[a].total_cmp(&scatter.ys[b]));
        order
    };
    let start = move || {
        let first = || order().first().copied();
        pointing.shown_untracked().or(chosen.get_untracked()).or_else(first)
    };
    let step = move |(key, now): (String, usize)| {
        let order = order();
        let at = order.iter().position(|&p| p == now).unwrap_or(0);
        step_along(&key, at, order.len()).map(|to| order[to])
    };
    let reader = Reading {
        pointing,
        hit: Callback::new(hit),
        start: Callback::new(move |()| start()),
        step: Callback::new(step),
        pick: Some(on_pick),
        tap_reads: false,
        focus_reads: false,
    };
    let files = Files { json: scatter_json, csv: scatter_csv, svg: scatter_svg };
    let table = TableData {
        name,
        summary: "Values as a table",
        caption: title,
        shape: Signal::derive(move || (count.get(), clouds.get() + 1)),
        along: ("points", "columns"),
        row_name: Callback::new(move |i: usize| {
            shown.get().points.get(i).cloned().unwrap_or_default()
        }),
        column_name: Callback::new(move |i: usize| {
            let scatter = shown.get();
            scatter.clouds.get(i).map_or_else(|| scatter.y_label.clone(), |c| c.name.clone())
        }),
        cell: Callback::new(move |(row, column): (usize, usize)| {
            let scatter = shown.get();
            let value = match scatter.clouds.get(column) {
                Some(cloud) => cloud.xs.get(row),
                None => scatter.ys.get(row),
            };
            value.map(|v| short(*v))
        }),
        absent: "–",
        start: Callback::new(move |()| Some((chosen.get().unwrap_or(0), 0))),
    };
    view! {
        <Frame name kind="scatter" title root empty=Signal::derive(move || count.get() == 0) table
            choices=choices(name, title, shown, Signal::stored(None), provenance, colors, files)>
            <div {..reader.handlers()} class="figure-box scatter" node_ref=points tabindex="0"
                style=move || format!("--columns:{}", fit.get().0) 
                role="application" aria-roledescription="scatter plot"
                data-testid=format!("{name}-points")
                aria-label=move || format!(
                    "{}: {} points. Arrow keys move between points, Enter chooses one.", title.get(), count.get())>
                {move || (0..clouds.get()).map(small).collect_view()}
            </div>
            <p class="readout" data-testid=format!("{name}-readout")
                data-point=move || pointing.shown().map(|p| p.to_string())>
                {move || match pointing.shown().or(chosen.get()) {
                    Some(point) => shown.get().describe(point).into_any(),
                    None => view! { <span class="hint">"Point at a dot to read it."</span> }.into_any(),
                }}
            </p>
            <SpokenReading shown=Signal::derive(move || pointing.shown())
                words=Callback::new(move |point| shown.get_untracked().describe(point))/>
        </Frame>
    }
    .into_any()
}

fn scatter_json(scatter: &Scatter, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = Map::new();
    let columns: Vec<&str> = scatter.clouds.iter().map(|c| c.name.as_str()).collect();
    map.insert("unroll".into(), json!(1));
    map.insert("figure".into(), json!(caption.name));
    map.insert(
        "axes".into(),
        json!([
            axis("point", &scatter.points),
            axis(
                "column",
                columns.iter().copied().chain([scatter.y_label.as_str()]).collect::<Vec<_>>()
            )
        ]),
    );
    let row = |point: usize| {
        let xs = scatter.clouds.iter().map(|c| c.xs.get(point).copied());
        xs.chain([scatter.ys.get(point).copied()]).collect::<Vec<_>>()
    };
    map.insert("values".into(), json!((0..scatter.points.len()).map(row).collect::<Vec<_>>()));
    provenance.write_into(&mut map);
    serde_json::Value::Object(map).to_string()
}

fn scatter_csv(scatter: &Scatter, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    let names = scatter.clouds.iter().map(|c| field(&c.name));
    let names: Vec<String> = names.chain([field(&scatter.y_label)]).collect();
    text.push_str(&format!("point,{}\n", names.join(",")));
    for (i, point) in scatter.points.iter().enumerate() {
        let xs = scatter.clouds.iter().map(|c| c.xs.get(i));
        let values: Vec<String> = xs
            .chain([scatter.ys.get(i)])
            .map(|v| v.map_or(String::new(), |v| format!("{v:?}")))
            .collect();
        text.push_str(&format!("{},{}\n", field(point), values.join(",")));
    }
    text
}

fn scatter_svg(scatter: &Scatter, caption: &Caption, colors: &Colors) -> String {
    let palette = colors.palette;
    let paint = |hue: Option<Hue>| paint(palette, hue);
    let count = scatter.clouds.len().max(1) as f64;
    let (width, height) = (count * IN_FILE.width + 24.0, IN_FILE.height + 70.0);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FACE}"><title>{title}</title><rect width="100%" height="100%" fill="{paper}"/><text x="16" y="24" font-size="15" fill="{ink}">{title}</text><text x="16" y="44" font-size="12" fill="{muted}">up: {y}</text><text x="16" y="{foot}" font-size="12" fill="{muted}">{source}</text>"#,
        title = escape(&caption.title),
        y = escape(&scatter.y_label),
        source = escape(&caption.source),
        paper = paint(None),
        ink = paint(Some(Hue::Ink)),
        muted = paint(Some(Hue::Muted)),
        foot = height - 8.0,
    );
    for cloud in 0..scatter.clouds.len() {
        let x = 12.0 + cloud as f64 * IN_FILE.width;
        let _ = write!(svg, r#"<g transform="translate({x} 52)">"#);
        svg.push_str(&plot(scatter, cloud, IN_FILE, &[], &paint));
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    svg
}

fn paint(palette: &Palette, hue: Option<Hue>) -> String {
    hue.map_or(palette.paper, |hue| hue.of(palette)).css()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_within_their_plot() {
        let scatter = Scatter {
            points: vec!["unit 1".into(), "unit 2".into()],
            x_label: "mean opening".into(),
            y_label: "steps".into(),
            y_range: (0.5, 24.0),
            y_log: true,
            ys: vec![0.1, 24.0],
            clouds: vec![Cloud { name: "f".into(), hue: Some(Hue::Cell), xs: vec![0.0, 1.0] }],
        };
        let size = Plot { width: 300.0, height: 200.0 };
        assert_eq!(scatter.place(0, 0, size), Some((LEFT, 200.0 - BOTTOM)));
        assert_eq!(scatter.place(0, 1, size), Some((300.0 - RIGHT, TOP)));
        assert_eq!(scatter.place(0, 2, size), None);
        assert_eq!(scatter.describe(1), "unit 2: f 1.000, steps 24.0");
        let svg = plot(&scatter, 0, size, &[1], &|_| "red".into());
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    #[test]
    fn plots_share_their_box() {
        let way = |count, width, height| Plot::fit(count, width, height).0;
        assert_eq!((way(3, 900.0, 300.0), way(3, 300.0, 900.0), way(4, 700.0, 500.0)), (3, 1, 2));
        let (columns, plot) = Plot::fit(3, 900.0, 400.0);
        assert!(columns as f64 * plot.width <= 900.0 && plot.height <= 400.0);
        assert_eq!(way(0, 900.0, 400.0), 1);
    }
}
