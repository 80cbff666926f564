//! What is around every generic figure: its caption, its reading, a table, the export menu.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    download::{Choice, ExportMenu, File, LocalFile},
    export::Provenance,
    matrix_data::{Matrix, matrix_csv, matrix_json},
    matrix_svg::matrix_svg,
    table::{SlicedTable, TableData},
    theme::{Colors, use_colors},
};

/// A section with `title` above, `children`, and below them the table and the export menu.
///
/// `empty` is whether there is nothing to see yet.
#[component]
pub fn Frame(
    name: &'static str,
    kind: &'static str,
    title: Signal<String>,
    root: NodeRef<html::Section>,
    empty: Signal<bool>,
    #[prop(optional)] table: Option<TableData>,
    /// The comparison with another moment.
    #[prop(optional_no_strip)]
    since: Option<ViewFn>,
    choices: Vec<Choice>,
    children: Children,
) -> impl IntoView {
    view! {
        <section
            class=format!("figure figure-{kind}")
            node_ref=root
            aria-label=title
            data-testid=format!("figure-{name}")
            data-state=move || if empty.get() { "empty" } else { "live" }
        >
            <h3 class="figure-title">{title}</h3>
            {children()}
            <div class="figure-foot">
                {table.map(|data| view! { <SlicedTable data /> })}
                {since.map(|since| since.run())} <ExportMenu figure=name choices />
            </div>
        </section>
    }
}

/// How a figure's data becomes files.
pub struct Files<T> {
    pub json: fn(&T, &Caption, &Provenance) -> String,
    pub csv: fn(&T, &Caption, &Provenance) -> String,
    pub svg: fn(&T, &Caption, &Colors) -> String,
}

/// Makes one file of what is drawn.
type Make<T> = Arc<dyn Fn(&T, &Caption, &Provenance, &Colors) -> File + Send + Sync>;

/// What an exported file is called, inside and out.
#[derive(Clone, Debug, PartialEq)]
pub struct Caption {
    pub name: &'static str,
    pub title: String,
    /// A plot's marker.
    pub marker: Option<f64>,
    /// One line on where the numbers come from, for pictures.
    pub source: String,
}

/// The export menu's lines for data of any kind. Files are made of what is drawn, when asked for.
pub fn choices<T: Send + Sync + 'static>(
    name: &'static str,
    title: Signal<String>,
    data: Memo<Arc<T>>,
    marker: Signal<Option<f64>>,
    provenance: Signal<Provenance>,
    colors: Memo<Colors>,
    files: Files<T>,
) -> Vec<Choice> {
    let Files { json, csv, svg } = files;
    let choice = |id, label, make: Make<T>| Choice {
        id,
        label,
        make: Callback::new(move |_| {
            let (data, provenance) = (data.get_untracked(), provenance.get_untracked());
            let caption = Caption {
                name,
                title: title.get_untracked(),
                marker: marker.get_untracked(),
                source: provenance.caption(),
            };
            let file = colors.with_untracked(|colors| make(&data, &caption, &provenance, colors));
            Some((provenance.file_name(name), LocalFile::new(file)))
        }),
    };
    vec![
        choice("json", "JSON", Arc::new(move |d, c, p, _| File::Json(json(d, c, p)))),
        choice("csv", "CSV", Arc::new(move |d, c, p, _| File::Csv(csv(d, c, p)))),
        choice("svg", "SVG", Arc::new(move |d, c, _, colors| File::Svg(svg(d, c, colors)))),
        choice("png", "PNG", Arc::new(move |d, c, _, colors| File::Png(svg(d, c, colors)))),
    ]
}

/// [`choices`] for a figure of another kind whose numbers are those of a matrix.
pub fn matrix_choices(
    name: &'static str,
    title: Signal<String>,
    data: Memo<Arc<Matrix>>,
    provenance: Signal<Provenance>,
) -> Vec<Choice> {
    let files = Files { json: matrix_json, csv: matrix_csv, svg: matrix_svg };
    choices(name, title, data, Signal::stored(None), provenance, use_colors(), files)
}
