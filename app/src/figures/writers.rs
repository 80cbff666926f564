//! What makes files of the figures that are part of the page's own wasm. It is fetched when the
//! first file is asked for: most visits ask for none.

use core::{cell::Cell, pin::Pin};

use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::{
    curve::Curve,
    download::{Choice, File, save},
    export::{Provenance, attention_csv, attention_json, attention_json_all, loss_csv, loss_json},
    frame::Caption,
    lines_plot::lines_svg,
    loss::loss_lines,
    matrix_svg::matrix_svg,
    theme::Colors,
    view::HeadView,
};
use crate::fetched::{Fetch, part};

/// Ends when the browser has taken the file.
type Saving = Pin<Box<dyn Future<Output = Result<(), JsValue>>>>;

/// One function for each figure, which takes the id of the menu's line, and one to hand files over.
#[derive(Clone, Copy)]
pub struct Writers {
    pub attention: fn(&str, &HeadView, &Provenance, &Colors) -> Option<File>,
    pub loss: fn(&str, &Curve, usize, &Provenance, &Colors) -> Option<File>,
    pub save: fn(String, File) -> Saving,
    /// Has a film made of what this line draws.
    pub film: fn(Choice),
}

pub const WRITERS: Fetch<Writers> = part!(writers: Writers = Writers {
    attention,
    loss,
    save: |name, file| Box::pin(save(name, file)),
    film: |picture| {
        // Nobody where the run has left the page.
        let _ = FILMS.get().and_then(|films| films.try_run(picture));
    },
});

thread_local! {
    /// Whoever plays the run on the page makes films, see [`set_films`].
    static FILMS: Cell<Option<Callback<Choice>>> = const { Cell::new(None) };
}

/// From here on `films` makes films of figures, for as long as its owner lives.
pub fn set_films(films: Callback<Choice>) {
    FILMS.set(Some(films));
}

fn attention(id: &str, view: &HeadView, provenance: &Provenance, colors: &Colors) -> Option<File> {
    let svg = || {
        let (title, source) = (view.title(), provenance.caption());
        let caption = Caption { name: "attention", title, marker: None, source };
        matrix_svg(&HeadView::to_matrix(Some(view)), &caption, colors)
    };
    Some(match id {
        "json" => File::Json(attention_json(view, provenance)),
        "json-all" => File::JsonPieces(Box::new(attention_json_all(view, provenance))),
        "csv" => File::Csv(attention_csv(view, provenance)),
        "svg" => File::Svg(svg()),
        "png" => File::Png(svg()),
        _ => return None,
    })
}

fn loss(
    id: &str,
    curve: &Curve,
    vocabulary: usize,
    provenance: &Provenance,
    colors: &Colors,
) -> Option<File> {
    let svg = || {
        let (title, source) = ("Loss".into(), provenance.caption());
        let caption = Caption { name: "loss", title, marker: None, source };
        lines_svg(&loss_lines(curve, vocabulary), &caption, colors)
    };
    Some(match id {
        "json" => File::Json(loss_json(curve, vocabulary, provenance)),
        "csv" => File::Csv(loss_csv(curve, provenance)),
        "svg" => File::Svg(svg()),
        "png" => File::Png(svg()),
        _ => return None,
    })
}
