//! A distribution as a figure: labeled bars, caption, exports.

use std::fmt::Write;

use super::pen::{FACE, MONO};
use crate::reactive::memo;
use leptos::{html, prelude::*};
use serde_json::json;

use super::{
    bars::{Bar, Bars},
    canvas::use_latest,
    export::{Provenance, axis, csv_comment, field, head},
    frame::{Caption, Files, Frame, choices},
    hue::Hue,
    sight::use_visible,
    svg::{escape, write_rect},
    theme::{Colors, use_colors},
};

/// What is drawn, with what the exports need to name.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    bars: Vec<Bar>,
    hue: Hue,
    value_name: String,
    compare_name: String,
}

/// `bars` in the order given, `top` lines tall (or as many as there are), from 0 to 1.
///
/// `compare_name` is what the thin bars are; `note` a line below.
#[component]
pub fn BarsFigure(
    name: &'static str,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] bars: Signal<Vec<Bar>>,
    #[prop(into)] provenance: Signal<Provenance>,
    #[prop(optional)] top: Option<usize>,
    #[prop(default = Hue::Muted)] hue: Hue,
    #[prop(into, optional)] compare_name: String,
    #[prop(into, default = "probability".into())] value_name: String,
    #[prop(into, optional)] note: Signal<String>,
    #[prop(optional)] on_pick: Option<Callback<usize>>,
) -> impl IntoView {
    let root = NodeRef::<html::Section>::new();
    let colors = use_colors();
    let legend = StoredValue::new((value_name.clone(), compare_name.clone()));
    let source = Signal::derive(move || {
        let (value_name, compare_name) = legend.get_value();
        Shown { bars: bars.get(), hue, value_name, compare_name }
    });
    let shown = use_latest(source, use_visible(root));
    let list = memo(move || {
        let bars = &shown.get().bars;
        bars[..top.unwrap_or(bars.len()).min(bars.len())].to_vec()
    });
    let rows = memo(move || top.unwrap_or_else(|| list.with(Vec::len)));
    let empty = Signal::derive(move || list.with(Vec::is_empty));
    let files = Files { json: bars_json, csv: bars_csv, svg: bars_svg };
    let none = Signal::stored(None);
    view! {
        <Frame
            name
            kind="bars"
            title
            root
            empty
            choices=choices(name, title, shown, none, provenance, colors, files)
        >
            <div class="figure-box bars-room" style=format!("--bar: {}", hue.css())>
                {(!compare_name.is_empty())
                    .then(|| {
                        view! {
                            <p class="bars-legend">
                                <span class="bars-key">{value_name}</span>
                                <span aria-hidden="true">"/"</span>
                                <span class="bars-key bars-key-compare">{compare_name}</span>
                            </p>
                        }
                    })}
                // Scrolls where there are many, so it takes the focus; lines that can be chosen do.
                <div class="bars-body" role="group" aria-label=title
                    tabindex=on_pick.is_none().then_some("0")>
                    {match on_pick {
                        Some(on_pick) => view! { <Bars bars=list rows role="bars-full" on_pick /> }.into_any(),
                        None => view! { <Bars bars=list rows role="bars-full" /> }.into_any(),
                    }}
                </div>
            </div>
            <Show when=move || note.with(|n| !n.is_empty())>
                <p class="panel-note">{note}</p>
            </Show>
        </Frame>
    }
}

fn bars_json(shown: &Shown, caption: &Caption, provenance: &Provenance) -> String {
    let mut map = head(caption.name, &caption.title, provenance);
    let names: Vec<&str> = shown.bars.iter().map(|b| b.name.as_str()).collect();
    let compared = shown.bars.iter().any(|b| b.compare.is_some());
    map.insert("shape".into(), json!([names.len()]));
    map.insert("axes".into(), json!([axis("bar", names)]));
    map.insert("value".into(), json!(shown.value_name));
    let target = shown.bars.iter().position(|b| b.marked);
    map.insert("target".into(), json!(target));
    // Through text: `json!` would widen each f32 and write digits it does not have.
    let list = |f: fn(&Bar) -> Option<f32>| {
        let values: Vec<Option<f32>> = shown.bars.iter().map(f).collect();
        serde_json::to_string(&values).unwrap_or_default()
    };
    let mut text = serde_json::Value::Object(map).to_string();
    text.pop();
    text.push_str(&format!(",\"values\":{}", list(|b| Some(b.probability))));
    if compared {
        text.push_str(&format!(",\"compare_name\":{}", json!(shown.compare_name)));
        text.push_str(&format!(",\"compare\":{}", list(|b| b.compare)));
    }
    text.push('}');
    text
}

fn bars_csv(shown: &Shown, caption: &Caption, provenance: &Provenance) -> String {
    let mut text = csv_comment(&caption.title, provenance);
    let compare = if shown.compare_name.is_empty() { "compare" } else { &shown.compare_name };
    text.push_str(&format!("name,{},target,{}\n", field(&shown.value_name), field(compare)));
    for bar in &shown.bars {
        let compare = bar.compare.map_or(String::new(), |c| format!("{c:?}"));
        let (name, marked) = (field(&bar.name), u8::from(bar.marked));
        text.push_str(&format!("{name},{:?},{marked},{compare}\n", bar.probability));
    }
    text
}

fn bars_svg(shown: &Shown, caption: &Caption, colors: &Colors) -> String {
    const LEFT: f64 = 110.0;
    const WIDTH: f64 = 380.0;
    const ROW: f64 = 26.0;
    let palette = colors.palette;
    let top = 52.0;
    let height = top + ROW * shown.bars.len() as f64 + 60.0;
    let (title, source) = (escape(&caption.title), escape(&caption.source));
    let (ink, muted) = (palette.ink.css(), palette.muted.css());
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height}" width="640" height="{height}" font-family="{FACE}" font-size="13"><title>{title}</title><rect width="100%" height="100%" fill="{}"/><text x="16" y="26" font-size="15" fill="{ink}">{title}</text><text x="16" y="{}" font-size="12" fill="{muted}">{source}</text>"#,
        palette.paper.css(),
        height - 12.0,
    );
    for (i, bar) in shown.bars.iter().enumerate() {
        let y = top + i as f64 * ROW;
        let (word, rest) = bar.label();
        let (name, weight) = (escape(rest), if bar.marked { "bold" } else { "normal" });
        let tick = if bar.marked { " ✓" } else { "" };
        let (baseline, end) = (y + 15.0, LEFT + WIDTH + 8.0);
        let number = bar.number();
        // Writing to a String cannot fail.
        let _ = write!(
            svg,
            r#"<g font-weight="{weight}" fill="{ink}"><text x="{}" y="{baseline}" text-anchor="end" font-family="{}">{}{name}{tick}</text><text x="{end}" y="{baseline}">{number}</text></g>"#,
            LEFT - 8.0,
            if word.is_some() { FACE } else { MONO },
            word.unwrap_or_default(),
        );
        write_rect(&mut svg, LEFT, y + 4.0, WIDTH, 14.0, palette.line);
        let width = |p: f32| WIDTH * f64::from(p.clamp(0.0, 1.0));
        let thick = if bar.compare.is_some() { 9.0 } else { 14.0 };
        write_rect(&mut svg, LEFT, y + 4.0, width(bar.probability), thick, shown.hue.of(palette));
        if let Some(compare) = bar.compare {
            write_rect(&mut svg, LEFT, y + 14.0, width(compare), 4.0, palette.ink);
        }
    }
    let axis = top + ROW * shown.bars.len() as f64 + 14.0;
    let _ = write!(svg, r#"<g fill="{muted}" text-anchor="middle">"#);
    for (share, tick) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        let _ = write!(svg, r#"<text x="{}" y="{axis}">{tick}</text>"#, LEFT + WIDTH * share);
    }
    let mut legend = escape(&shown.value_name);
    if !shown.compare_name.is_empty() {
        legend += &format!(" (thin: {})", escape(&shown.compare_name));
    }
    let (middle, below) = (LEFT + WIDTH / 2.0, axis + 16.0);
    let _ = write!(svg, r#"<text x="{middle}" y="{below}">{legend}</text></g></svg>"#);
    svg.push('\n');
    svg
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::figures::color::Palette;

    #[test]
    fn files_read_back() {
        let bar = |name: &str, probability, compare| Bar {
            name: name.into(),
            probability,
            compare,
            marked: name == "<",
            ..Bar::default()
        };
        let shown = Shown {
            bars: vec![bar("<", 0.7, Some(0.1)), bar(",", 0.3, None)],
            value_name: "probability".into(),
            compare_name: "before".into(),
            ..Shown::default()
        };
        let caption = Caption {
            name: "next",
            title: "Next & so".into(),
            marker: None,
            source: "here".into(),
        };
        let read: Value =
            serde_json::from_str(&bars_json(&shown, &caption, &Provenance::default())).unwrap();
        assert_eq!(read["values"][0].as_f64().unwrap() as f32, 0.7);
        assert_eq!(read["compare"][1], Value::Null);
        assert_eq!(read["target"], json!(0));
        let csv = bars_csv(&shown, &caption, &Provenance::default());
        assert_eq!(csv.lines().last(), Some("\",\",0.3,0,"));
        let svg = bars_svg(&shown, &caption, &Colors::new(&Palette::LIGHT));
        assert!(
            svg.contains("&lt; ✓") && svg.contains("Next &amp; so") && svg.contains("thin: before")
        );
    }
}
