//! A run as a film in a file: a figure at its recorded moments, one picture each.
//!
//! The file is an animated PNG, not a video. Recorders of video guess at pixels and halve the
//! resolution of colors, while a figure says what it says in small text and exact colors; they take
//! as long as the film runs; and what one browser writes, another does not play.

use core::pin::Pin;
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::{Clamped, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{CanvasRenderingContext2d, HtmlImageElement, ImageData};

use super::play::chosen;
use crate::{
    fetched::{Fetch, part},
    figures::{
        apng::{self, Area},
        download::{Choice, File, canvas_of_size, image_of, png_of},
        next_frame, rest_left,
        writers::{WRITERS, Writers},
    },
    questions::Questions,
};

/// Most pictures of a film.
const MOST: usize = 120;
/// Most pixels of a picture, and pixels for each SVG unit.
const MOST_PIXELS: f64 = 3.2e6;
const SCALE: f64 = 2.0;
/// Most bytes of a film: what is larger, few places take.
const MOST_BYTES: usize = 60_000_000;
/// How long the last picture stays, in milliseconds, before the film begins again.
const HOLDS: f64 = 1500.0;
/// Height of the line at a picture's foot that names the step, in SVG units.
const FOOT: f64 = 30.0;
/// A figure draws an answer in the frame after it, and a full page one or two frames later.
const FRAMES: u32 = 4;

/// Hears how many pictures of how many are taken; says whether to go on.
type Told = Rc<dyn Fn(usize, usize) -> bool>;

/// Ends with what became of it, as a sentence.
type Filming = Pin<Box<dyn Future<Output = String>>>;

/// Makes a film of what a figure draws, of so many seconds, and has the browser save it.
type Film = fn(Choice, Questions, u32, Told) -> Filming;

/// Most visits make none.
pub const FILM: Fetch<Film> = part!(film: Film = |picture, questions, seconds, told| {
    Box::pin(make_film(picture, questions, seconds, told))
});

async fn make_film(picture: Choice, questions: Questions, seconds: u32, told: Told) -> String {
    let before = questions.at.get_untracked();
    let made = shoot(picture, questions, seconds, &told).await;
    // Who has looked elsewhere meanwhile wants to be there.
    if !matches!(made, Err(Cut::Elsewhere)) {
        questions.look_at(before);
    }
    made.unwrap_or_else(|cut| match cut {
        Cut::Elsewhere | Cut::Stopped => "The film was stopped.".to_owned(),
        Cut::Failed(why) => why.to_owned(),
    })
}

/// Why there is no film.
enum Cut {
    /// Somebody looked at another moment.
    Elsewhere,
    Stopped,
    /// A sentence.
    Failed(&'static str),
}

impl From<JsValue> for Cut {
    fn from(_: JsValue) -> Self {
        Self::Failed("This browser could not make the film.")
    }
}

impl From<&'static str> for Cut {
    fn from(why: &'static str) -> Self {
        Self::Failed(why)
    }
}

async fn shoot(
    picture: Choice,
    questions: Questions,
    seconds: u32,
    told: &Told,
) -> Result<String, Cut> {
    let writers = WRITERS()
        .await
        .map_err(|_| "The part of the page that makes films could not be loaded. Try again.")?;
    let recorded = questions.recorded.get_untracked();
    let moments = chosen(&recorded.steps, MOST, 1000.0 * f64::from(seconds));
    let Some((last, _)) = moments.last() else { return Err("No moments are kept.".into()) };
    // A figure that shows the same at every moment is soon found out.
    let mut figure = Figure { picture, writers, questions, name: String::new() };
    let at_last = image_of(figure.at(*last, &|| told(0, moments.len())).await?).await?;
    let mut images = Vec::with_capacity(moments.len());
    for (number, (step, wait)) in moments.iter().enumerate() {
        let go_on = || told(number, moments.len());
        let svg = match figure.at(*step, &go_on).await {
            Ok(svg) => svg,
            // Training has gone on, and the moment has made room for a later one.
            Err(Cut::Elsewhere) if !figure.is_kept(*step) => continue,
            Err(cut) => return Err(cut),
        };
        let image = image_of(svg).await?;
        if images.is_empty() && size_of(&image) == size_of(&at_last) {
            let camera = Camera::for_pictures([&image])?;
            let (first, last) = (camera.take(&image)?, camera.take(&at_last)?);
            let area = apng::change(&first, &last, camera.width).map(|change| change.0);
            if area.is_none_or(|area| f64::from(area.y) >= camera.foot) {
                return Err("This figure shows the same at every moment of the run.".into());
            }
        }
        let hold = if step == last { HOLDS } else { 0.0 };
        images.push((image, wait + hold));
    }
    // Where the figure changes its size, each picture has room for the largest.
    let camera = Camera::for_pictures(images.iter().map(|(image, _)| image))?;
    let mut film = apng::Film::default();
    let (parts, mut bytes) = (js_sys::Array::new(), 0);
    let mut before: Vec<u8> = Vec::new();
    for (image, wait) in &images {
        if !told(images.len(), images.len()) {
            return Err(Cut::Stopped);
        }
        let now = camera.take(image)?;
        let change = if before.is_empty() {
            (camera.whole(), now.clone())
        } else {
            // A picture that is as the one before is one transparent pixel.
            let none = (Area { x: 0, y: 0, width: 1, height: 1 }, vec![0; 4]);
            apng::change(&before, &now, camera.width).unwrap_or(none)
        };
        let png = camera.png(change.0, change.1).await?;
        let chunks = film.picture(&png, change.0, wait.round() as u16)?;
        bytes += chunks.len();
        if bytes > MOST_BYTES {
            return Err("This film would be too large. Try a smaller figure.".into());
        }
        parts.push(&js_sys::Uint8Array::from(&chunks[..]));
        before = now;
    }
    parts.unshift(&js_sys::Uint8Array::from(&film.head()[..]));
    parts.push(&js_sys::Uint8Array::from(&apng::end()[..]));
    (writers.save)(format!("{}-film", figure.name), File::Film(parts)).await?;
    Ok(format!("Saved: {} pictures, {:.1} MB.", film.pictures(), bytes as f64 / 1e6))
}

/// What is filmed.
struct Figure {
    picture: Choice,
    writers: Writers,
    questions: Questions,
    /// Its name as a file, after the last moment.
    name: String,
}

impl Figure {
    /// Its SVG at the moment after `step` steps, once it is drawn.
    async fn at(&mut self, step: u32, go_on: &impl Fn() -> bool) -> Result<String, Cut> {
        let questions = self.questions;
        if !self.is_kept(step) {
            return Err(Cut::Elsewhere);
        }
        questions.look_at(Some(step));
        let mut frames = 0;
        while frames < FRAMES {
            next_frame().await;
            if questions.at.get_untracked() != Some(step) {
                return Err(Cut::Elsewhere);
            }
            if !go_on() {
                return Err(Cut::Stopped);
            }
            // An answer may bring another question with it.
            let is_there = questions.behind.get_untracked() == 0 && rest_left() == 0.0;
            frames = if is_there { frames + 1 } else { 0 };
        }
        self.drawn()
    }

    /// Its SVG as it is.
    fn drawn(&mut self) -> Result<String, Cut> {
        // The figure may be gone by now.
        let made = self.picture.make.try_run(self.writers).flatten();
        match made.map(|(name, file)| (name, file.take())) {
            Some((name, File::Png(svg))) => {
                self.name = name;
                Ok(svg)
            }
            _ => Err("The figure is no longer on the page.".into()),
        }
    }

    fn is_kept(&self, step: u32) -> bool {
        self.questions.recorded.with_untracked(|recorded| recorded.steps.contains(&step))
    }
}

/// In SVG units.
fn size_of(image: &HtmlImageElement) -> (u32, u32) {
    (image.natural_width(), image.natural_height())
}

/// Turns SVGs into pixels, and pixels into PNG files.
struct Camera {
    context: CanvasRenderingContext2d,
    /// Pixels for each SVG unit.
    scale: f64,
    width: u32,
    height: u32,
    /// Where the line at the foot begins.
    foot: f64,
}

impl Camera {
    /// Has room for the largest of them.
    fn for_pictures<'a>(
        images: impl IntoIterator<Item = &'a HtmlImageElement>,
    ) -> Result<Self, Cut> {
        let sizes = images.into_iter().map(size_of);
        let most = sizes.fold((1, 1), |most, size| (most.0.max(size.0), most.1.max(size.1)));
        let scale = SCALE.min((MOST_PIXELS / (f64::from(most.0) * f64::from(most.1))).sqrt());
        let (width, height) = (scaled(most.0, scale), scaled(most.1, scale));
        let (_, context) = canvas_of_size(width, height)?;
        let foot = f64::from(height) - FOOT * scale;
        Ok(Self { context, scale, width, height, foot })
    }

    fn whole(&self) -> Area {
        Area { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// The picture's RGBA pixels.
    fn take(&self, image: &HtmlImageElement) -> Result<Vec<u8>, Cut> {
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        let size = size_of(image);
        let size = (scaled(size.0, self.scale), scaled(size.1, self.scale));
        let (own_width, own_height) = (f64::from(size.0), f64::from(size.1));
        self.context.clear_rect(0.0, 0.0, width, height);
        self.context.draw_image_with_html_image_element_and_dw_and_dh(
            image, 0.0, 0.0, own_width, own_height,
        )?;
        let mut pixels = self.context.get_image_data(0.0, 0.0, width, height)?.data().0;
        fill_around(&mut pixels, self.width, size);
        Ok(pixels)
    }

    /// These pixels as a PNG file.
    async fn png(&self, area: Area, pixels: Vec<u8>) -> Result<Vec<u8>, Cut> {
        // The canvas that reads pixels back stays as large as it is.
        let (canvas, context) = canvas_of_size(area.width, area.height)?;
        let data =
            ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), area.width, area.height)?;
        context.put_image_data(&data, 0.0, 0.0)?;
        let bytes = JsFuture::from(png_of(&canvas).await?.array_buffer()).await?;
        Ok(js_sys::Uint8Array::new(&bytes).to_vec())
    }
}

fn scaled(units: u32, scale: f64) -> u32 {
    ((f64::from(units) * scale).round() as u32).max(1)
}

/// Gives what is right of a picture of this size and below it the color of its first pixel, which is paper.
/// The RGBA pixels are `width` in a row.
fn fill_around(pixels: &mut [u8], width: u32, size: (u32, u32)) {
    let (pixels, _) = pixels.as_chunks_mut::<4>();
    let paper = pixels[0];
    for (y, row) in pixels.chunks_mut(width as usize).enumerate() {
        let drawn = if y < size.1 as usize { size.0 as usize } else { 0 };
        row[drawn..].fill(paper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_picture_has_its_paper_around_it() {
        let [paper, ink, none] = [[9; 4], [1; 4], [0; 4]];
        let mut pixels = [paper, ink, none, none, none, none].concat();
        fill_around(&mut pixels, 3, (2, 1));
        assert_eq!(pixels, [paper, ink, paper, paper, paper, paper].concat());
        let whole = pixels.clone();
        fill_around(&mut pixels, 3, (3, 2));
        assert_eq!(pixels, whole);
    }
}
