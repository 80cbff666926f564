//! What the learner steers with: small components over the one [`Store`](crate::store::Store).
//!
//! Every component finds the store in its context, reads signals and calls the store's methods;
//! none talks to an engine. `use_*` functions are hooks: call them once, from the page's root.

mod copy_link;
mod device_badge;
mod diverged;
mod field;
mod format;
mod intake;
mod learning_rate;
mod notices;
mod packing;
mod probe;
mod schedule;
mod segments;
mod settings;
mod slider_field;
mod source_bar;
mod start_over;
mod text_chooser;
mod text_file;
mod theme;
mod timer;
mod url;
mod view_switch;
mod words;
mod writing;

pub use copy_link::{CopyLink, to_clipboard};
pub use device_badge::{DeviceBadge, MEMORY};
pub use diverged::DivergedAlert;
pub use format::{
    counted, four_digits, general, grouped, in_words, model_name, shape_name, tiny_share,
};
pub use notices::Notices;
pub use probe::{TokenField, unknown_sentence, use_probe};
#[cfg(test)]
pub use schedule::OPTIMIZER;
pub use segments::Segments;
pub use settings::Settings;
pub use slider_field::{ChoiceField, FlagField, SliderField};
pub use source_bar::{Source, SourceBar};
pub use text_chooser::TextChooser;
pub use theme::{ThemeChoice, use_face, use_theme};
pub use timer::{Timer, use_timer};
pub use url::{pairs_of, public_address, read_first_url, read_query, share, use_url};
pub use view_switch::ViewSwitch;
pub use writing::{Writing, in_a_line as written_line};
