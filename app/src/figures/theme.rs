//! Which of the two themes figures are drawn in.

use leptos::prelude::*;

use super::color::{Palette, Ramp, SignedRamp};

/// Provided as context by the page, once, above every figure.
#[derive(Clone, Copy)]
pub struct FigureTheme {
    /// Whether `data-theme` of the document is `dark`; figures are redrawn when it changes.
    pub dark: Signal<bool>,
}

/// The colours of the present theme and the two maps made of them.
#[derive(Clone)]
pub struct Colors {
    pub palette: &'static Palette,
    pub ramp: Ramp,
    pub signed: SignedRamp,
}

impl Colors {
    pub fn new(palette: &'static Palette) -> Self {
        Self { palette, ramp: Ramp::new(palette), signed: SignedRamp::new(palette) }
    }
}

impl PartialEq for Colors {
    fn eq(&self, other: &Self) -> bool {
        self.palette == other.palette
    }
}

/// The colours to draw with, from [`FigureTheme`]; light where no page provides one.
pub fn use_colors() -> Memo<Colors> {
    let theme = use_context::<FigureTheme>();
    Memo::new(move |_| Colors::new(Palette::of(theme.is_some_and(|t| t.dark.get()))))
}
