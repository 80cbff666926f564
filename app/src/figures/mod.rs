//! Figures: pictures of plain data.
//!
//! Each takes signals of data and signals to write the learner's choice into. None talks to an
//! engine or a store. Every one is drawn at most once a frame, and not at all while out of sight.

mod arcs;
mod attention;
mod bars;
mod canvas;
mod color;
mod curve;
mod download;
mod export;
mod head_grid;
mod heatmap;
mod heatmap_paint;
mod heatmap_svg;
mod loss;
mod loss_plot;
mod next;
mod readout;
#[cfg_attr(not(test), expect(dead_code, reason = "chapters will use all of it"))]
mod role;
mod row;
mod select;
mod table;
mod theme;
mod token;
mod tokens;
mod view;

pub use attention::AttentionFigure;
pub use curve::Curve;
pub use export::{Provenance, attention_json, loss_json};
pub use loss::LossFigure;
pub use role::Role;
pub use theme::FigureTheme;
