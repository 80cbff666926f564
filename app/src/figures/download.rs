//! Handing a figure to the learner as a file.

use super::{
    exporters::use_exporter,
    writers::{WRITERS, Writers},
};
use crate::reactive::next_task;
use leptos::{ev, html, prelude::*, task::spawn_local};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, HtmlAnchorElement, HtmlCanvasElement,
    HtmlImageElement, Url,
};

/// The menu's line that is not written here but by whoever plays the run. The style sheet shows it
/// while there is a run to play.
const FILM: &str = "film";

/// PNG pixels for each SVG unit: sharp on slides and in print.
const PNG_SCALE: u32 = 2;

/// A file before it is saved.
pub enum File {
    Json(String),
    /// A Jupyter notebook.
    Notebook(String),
    /// A long document in pieces, made and gathered without holding up the page.
    JsonPieces(Box<dyn Iterator<Item = String>>),
    Csv(String),
    Svg(String),
    /// Drawn from this SVG.
    Png(String),
    /// An animated PNG in pieces, each an array of bytes.
    Film(js_sys::Array),
}

/// One line of the menu. `make` returns the file's name without its ending; `None` says that
/// there is nothing to export yet. The figures of the page's own wasm leave writing to the
/// [`Writers`], which are fetched.
#[derive(Clone, Copy)]
pub struct Choice {
    /// Ends the button's test id: `export-<figure>-<id>`.
    pub id: &'static str,
    pub label: &'static str,
    pub make: Callback<Writers, Option<(String, LocalFile)>>,
}

/// Files hold iterators that never leave the page's thread; callbacks want `Send`.
pub type LocalFile = send_wrapper::SendWrapper<File>;

/// "Export" as a menu of buttons over the page, so that opening it moves nothing.
#[component]
pub fn ExportMenu(figure: &'static str, choices: Vec<Choice>) -> impl IntoView {
    use_exporter(figure, &choices);
    // What can be a picture can be one at every moment of a run.
    let png = choices.iter().find(|choice| choice.id == "png").copied();
    let film = png.map(|png| Choice { id: FILM, label: "Film of the run", ..png });
    let details = NodeRef::<html::Details>::new();
    let problem = RwSignal::new("");
    // Where the picture's numbers stand above it there is no room over them.
    let downward = RwSignal::new(false);
    let place = move |_| {
        let Some(details) = details.get_untracked().filter(|details| details.open()) else {
            return;
        };
        let menu =
            details.last_element_child().map(|menu| menu.get_bounding_client_rect().height());
        let view = details.closest(".view").ok().flatten();
        if let Some((height, view)) = menu.zip(view) {
            let (own, view) = (details.get_bounding_client_rect(), view.get_bounding_client_rect());
            let (above, below) = (own.top() - view.top(), view.bottom() - own.bottom());
            downward.set(above < height && above < below);
        }
    };
    let close = move || {
        if let Some(details) = details.get_untracked() {
            details.set_open(false);
        }
    };
    let on_key = move |e: ev::KeyboardEvent| {
        if e.key() == "Escape" {
            close();
        }
    };
    let buttons = choices.into_iter().chain(film).map(|choice| {
        let save = move |_| {
            problem.set("");
            spawn_local(async move {
                let Ok(writers) = WRITERS().await else {
                    problem.try_set("The part of the page that makes files could not be loaded. Try again.");
                    return;
                };
                if choice.id == FILM {
                    close();
                    return (writers.film)(choice);
                }
                // The figure may be gone by now.
                let Some(made) = choice.make.try_run(writers) else { return };
                let Some((name, file)) = made else {
                    problem.try_set("There is nothing to export yet.");
                    return;
                };
                close();
                if (writers.save)(name, file.take()).await.is_err() {
                    problem.try_set("This browser did not let the file be made.");
                }
            });
        };
        view! {
            <button type="button" class=choice.id data-testid=format!("export-{figure}-{}", choice.id) on:click=save>
                {choice.label}
            </button>
        }
    });
    view! {
        <details class="export" class:export-down=downward node_ref=details on:keydown=on_key on:toggle=place>
            <summary data-testid=format!("export-{figure}")>"Export"</summary>
            <div class="export-menu">
                {buttons.collect_view()} <p role="status" class="export-problem">{problem}</p>
            </div>
        </details>
    }
}

/// Has the browser save `file` under `name` and the ending of its kind.
pub async fn save(name: String, file: File) -> Result<(), JsValue> {
    let (blob, ending) = match file {
        File::Json(text) => (text_blob(&[text], "application/json")?, "json"),
        File::JsonPieces(pieces) => {
            let mut gathered = vec![];
            for piece in pieces {
                gathered.push(piece);
                next_task().await;
            }
            (text_blob(&gathered, "application/json")?, "json")
        }
        File::Notebook(text) => (text_blob(&[text], "application/x-ipynb+json")?, "ipynb"),
        File::Csv(text) => (text_blob(&[text], "text/csv")?, "csv"),
        File::Svg(text) => (text_blob(&[text], "image/svg+xml")?, "svg"),
        File::Png(svg) => (png(svg).await?, "png"),
        File::Film(pieces) => {
            let options = BlobPropertyBag::new();
            options.set_type("image/png");
            (Blob::new_with_u8_array_sequence_and_options(&pieces, &options)?, "png")
        }
    };
    hand_over(&blob, &format!("{name}.{ending}"))
}

/// Has the browser save a file of this name.
pub fn hand_over(blob: &Blob, name: &str) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(name);
    link.click();
    // The browser has taken hold of the blob when the click returns.
    Url::revoke_object_url(&url)
}

fn text_blob(pieces: &[String], kind: &str) -> Result<Blob, JsValue> {
    let parts: js_sys::Array = pieces.iter().map(|piece| JsValue::from_str(piece)).collect();
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    Blob::new_with_str_sequence_and_options(&parts, &options)
}

/// The browser's own rendering of the SVG, enlarged.
async fn png(svg: String) -> Result<Blob, JsValue> {
    let image = image_of(svg).await?;
    let (width, height) = (image.natural_width() * PNG_SCALE, image.natural_height() * PNG_SCALE);
    let (canvas, context) = canvas_of_size(width, height)?;
    let (width, height) = (f64::from(width), f64::from(height));
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    png_of(&canvas).await
}

/// The SVG as an image.
pub async fn image_of(svg: String) -> Result<HtmlImageElement, JsValue> {
    let url = Url::create_object_url_with_blob(&text_blob(&[svg], "image/svg+xml")?)?;
    let image = HtmlImageElement::new()?;
    image.set_src(&url);
    let loaded = JsFuture::from(image.decode()).await;
    Url::revoke_object_url(&url)?;
    loaded?;
    Ok(image)
}

/// An empty canvas that is on no page.
pub fn canvas_of_size(
    width: u32,
    height: u32,
) -> Result<(HtmlCanvasElement, CanvasRenderingContext2d), JsValue> {
    let canvas: HtmlCanvasElement = document().create_element("canvas")?.unchecked_into();
    canvas.set_width(width);
    canvas.set_height(height);
    let none = || JsValue::from_str("no canvas");
    let options = js_sys::Object::new();
    // Kept where pixels are read, not on the graphics card.
    js_sys::Reflect::set(&options, &"willReadFrequently".into(), &true.into())?;
    let context = canvas.get_context_with_context_options("2d", &options)?;
    let context = context.ok_or_else(none)?.unchecked_into();
    Ok((canvas, context))
}

/// What is on the canvas, as a PNG file.
pub async fn png_of(canvas: &HtmlCanvasElement) -> Result<Blob, JsValue> {
    let promise = js_sys::Promise::new(&mut |resolve, reject| {
        let take = Closure::once_into_js(move |blob: JsValue| {
            // Resolving a promise cannot fail.
            let _ = resolve.call1(&JsValue::NULL, &blob);
        });
        if let Err(e) = canvas.to_blob(take.unchecked_ref()) {
            let _ = reject.call1(&JsValue::NULL, &e);
        }
    });
    JsFuture::from(promise).await?.dyn_into()
}
