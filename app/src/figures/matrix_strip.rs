//! Strips above and below a matrix, in line with its columns.

use std::sync::Arc;

use leptos::prelude::*;

/// Where the columns of a matrix stand, in CSS pixels from the left of its row labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Across {
    /// Left of the first column.
    pub left: f64,
    pub cell: f64,
    pub count: usize,
    /// Of labels and cells together.
    pub width: f64,
}

impl Across {
    pub fn middle(&self, column: usize) -> f64 {
        self.left + self.cell * (column as f64 + 0.5)
    }
}

/// What a strip holds, given where the columns stand.
type Content = Arc<dyn Fn(Signal<Across>) -> AnyView + Send + Sync>;

/// A strip in line with a matrix's columns: it takes its height from the matrix and scrolls with it.
#[derive(Clone)]
pub struct ColumnStrip {
    pub(super) height: Signal<f64>,
    content: Content,
}

impl ColumnStrip {
    /// A strip of a height in CSS pixels, 0 for none.
    pub fn new(
        height: impl Into<Signal<f64>>,
        content: impl Fn(Signal<Across>) -> AnyView + Send + Sync + 'static,
    ) -> Self {
        Self { height: height.into(), content: Arc::new(content) }
    }

    pub(super) fn view(self, across: Signal<Across>) -> AnyView {
        let Self { height, content } = self;
        let style = move || format!("width:{}px;height:{}px", across.get().width, height.get());
        view! { <div class="matrix-strip" style=style>{content(across)}</div> }.into_any()
    }
}
