//! Figures: pictures of plain data.
//!
//! Each takes signals of data and signals to write the learner's choice into. None talks to an
//! engine or a store. Every one is drawn at most once a frame, and not at all while out of sight.
//!
//! Here is what at least two chapters use, and what such figures are made of; a figure of one
//! chapter is with that chapter.

pub mod apng;
mod arcs;
mod attention;
mod bars;
mod bars_figure;
pub mod canvas;
mod cells;
pub mod color;
mod curve;
pub mod download;
pub mod drag;
mod editor;
pub mod export;
mod exporters;
mod fading;
pub mod frame;
mod head_grid;
mod head_grid_paint;
mod heatmap;
mod histogram;
mod histogram_plot;
pub mod hue;
mod inspector;
pub mod labels;
mod lines;
mod lines_data;
mod lines_plot;
mod loss;
mod matrix;
pub mod matrix_data;
mod matrix_paint;
mod matrix_strip;
pub mod matrix_svg;
pub mod motion;
mod named;
mod next;
mod numbers;
pub mod pen;
pub mod plot;
mod polyline;
pub mod reading;
pub mod readout;
mod row;
pub mod scale;
pub mod scroll;
mod search;
mod second;
pub mod select;
mod sheet;
pub mod sight;
pub mod since;
pub mod slot;
mod steps;
pub mod svg;
pub mod table;
pub mod theme;
pub mod tint;
pub mod token;
mod tokens;
pub mod view;
pub mod writers;

pub use attention::{
    AttentionFigure, HeadsFigure, InsideFigure, Inspection, KeptCell, SentenceFigure,
};
pub use bars::{Bar, top_bars};
pub use bars_figure::BarsFigure;
pub use canvas::{
    clock, count_training, hidden_canvas, next_frame, rest_left, show_in_frame, use_frame,
};
pub use curve::Curve;
pub use download::hand_over;
pub use editor::Editor;
pub use export::{Experiment, Provenance, attention_json, loss_json};
pub use exporters::{Exporters, provide_exporters};
pub use frame::{Frame, matrix_choices};
pub use head_grid::{Job, Switches};
pub use histogram::{Bins, Histogram, HistogramFigure};
pub use hue::{Dash, Hue};
pub use inspector::{CellInspector, Naming};
pub use lines::{LinesFigure, Ruler};
pub use lines_data::{Line, Lines, Reference, Stroke, YScale};
pub use loss::LossFigure;
pub use matrix::MatrixFigure;
pub use matrix_data::Matrix;
pub use matrix_strip::{Across, ColumnStrip};
pub use next::NextFigure;
pub use numbers::{brief, decimals, four_decimals, percent, power_of_ten, short, superscript};
pub use scale::ValueMap;
pub use search::{probability, search_figure};
pub use second::{Second, own};
pub use select::Selection;
pub use sheet::{Sheet, SheetExport, exact, sheet_csv, sheet_json};
pub use sight::{Sight, use_visible};
pub use slot::Slot;
pub use steps::StepRow;
pub use theme::{Colors, FigureTheme};
pub use view::largest;
