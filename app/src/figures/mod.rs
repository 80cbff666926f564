//! Figures: pictures of plain data.
//!
//! Each takes signals of data and signals to write the learner's choice into. None talks to an
//! engine or a store. Every one is drawn at most once a frame, and not at all while out of sight.

// Generic figures that await the chapters of the course.
pub mod alignment;
mod arcs;
mod attention;
mod bars;
mod bars_figure;
pub mod birnn;
mod canvas;
mod clock;
mod clock_export;
mod color;
mod curve;
mod download;
mod export;
mod frame;
mod head_grid;
mod heatmap;
mod heatmap_paint;
mod heatmap_svg;
mod histogram;
mod histogram_plot;
mod hue;
mod inspector;
mod lines;
mod lines_data;
mod lines_plot;
mod loss;
mod loss_plot;
pub mod mask_editor;
mod matrix;
mod matrix_data;
mod matrix_paint;
mod matrix_svg;
mod next;
pub mod norm;
mod plot;
mod readout;
mod row;
mod scale;
mod scatter;
mod select;
mod strip;
mod table;
pub mod text;
mod theme;
pub mod token;
mod tokens;
mod transfer;
pub mod unrolled;
mod view;
mod writers;

pub use attention::{AttentionFigure, Inspection, KeptCell};
pub use bars::{Bar, top_bars};
pub use bars_figure::BarsFigure;
pub use canvas::{rest_left, set_training, use_visible};
pub use clock::ClockFigure;
pub use curve::Curve;
pub use export::{Experiment, Provenance, attention_json, loss_json};
pub use head_grid::Switches;
pub use histogram::{Bins, Histogram, HistogramFigure};
pub use hue::{Dash, Hue};
pub use inspector::CellInspector;
pub use lines::LinesFigure;
pub use lines_data::{Line, Lines, Reference, YScale};
pub use loss::LossFigure;
pub use matrix::MatrixFigure;
pub use matrix_data::Matrix;
pub use plot::short;
pub use scale::ValueMap;
pub use scatter::{Cloud, Scatter, ScatterFigure};
pub use theme::{Colors, FigureTheme};
pub use transfer::{Transfer, TransferFigure, Written};
pub use view::largest;
