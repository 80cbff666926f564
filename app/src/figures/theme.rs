//! Which of the two themes figures are drawn in.

use std::sync::{Arc, OnceLock};

use crate::reactive::memo;
use leptos::prelude::*;

use super::color::{Palette, Ramp, SignedRamp};

/// Provided as context by the page, once, above every figure.
#[derive(Clone, Copy)]
pub struct FigureTheme {
    /// Whether `data-theme` of the document is `dark`; figures are redrawn when it changes.
    pub dark: Signal<bool>,
    /// Whether the page's face has come: what canvases wrote before is written again.
    pub face: Signal<bool>,
}

/// The colors of the present theme and the two maps made of them.
#[derive(Clone)]
pub struct Colors {
    pub palette: &'static Palette,
    pub ramp: Arc<Ramp>,
    pub signed: Arc<SignedRamp>,
    /// As in [`FigureTheme`].
    face: bool,
}

impl Colors {
    pub fn new(palette: &'static Palette) -> Self {
        let (ramp, signed) = (Ramp::new(palette), SignedRamp::new(palette));
        Self { palette, ramp: Arc::new(ramp), signed: Arc::new(signed), face: true }
    }

    /// Of a theme. The maps are worked out once: every cell of a table asks for them.
    fn of(dark: bool) -> Self {
        static KNOWN: [OnceLock<Colors>; 2] = [const { OnceLock::new() }; 2];
        KNOWN[usize::from(dark)].get_or_init(|| Self::new(Palette::of(dark))).clone()
    }
}

impl PartialEq for Colors {
    fn eq(&self, other: &Self) -> bool {
        (self.palette, self.face) == (other.palette, other.face)
    }
}

/// The colors to draw with, from [`FigureTheme`]; light where no page provides one.
pub fn use_colors() -> Memo<Colors> {
    let theme = use_context::<FigureTheme>();
    memo(move || {
        let (dark, face) = theme.map_or((false, true), |t| (t.dark.get(), t.face.get()));
        Colors { face, ..Colors::of(dark) }
    })
}
