//! The figures on the page that make files, by name: what a page around this one can ask for.

use leptos::prelude::*;

use super::{
    download::{Choice, File},
    writers::WRITERS,
};

/// Which figures are on the page now. `Copy`: a handle of the page's root.
#[derive(Clone, Copy)]
pub struct Exporters(StoredValue<Vec<(&'static str, Choice)>>);

/// Has figures made from here on be known. Call once, from the page's root.
pub fn provide_exporters() -> Exporters {
    let exporters = Exporters(StoredValue::new(Vec::new()));
    provide_context(exporters);
    exporters
}

/// Makes the figure known for as long as its owner lives, if its files include JSON.
pub(super) fn use_exporter(figure: &'static str, choices: &[Choice]) {
    let Some(Exporters(known)) = use_context::<Exporters>() else { return };
    let Some(json) = choices.iter().find(|choice| choice.id == "json").copied() else { return };
    known.update_value(|known| known.push((figure, json)));
    on_cleanup(move || {
        known.try_update_value(|known| {
            // The newest of this name: a view may be remade before the old one is gone.
            if let Some(at) = known.iter().position(|(name, _)| *name == figure) {
                known.remove(at);
            }
        });
    });
}

impl Exporters {
    /// The names of the figures on the page.
    pub fn names(self) -> Vec<&'static str> {
        self.0.with_value(|known| known.iter().map(|(name, _)| *name).collect())
    }

    /// The figure's own JSON.
    ///
    /// # Errors
    ///
    /// A sentence, where there is nothing to export yet or what makes files can't be fetched.
    pub async fn json(self, figure: &'static str) -> Result<String, String> {
        let found =
            self.0.with_value(|known| known.iter().find(|(name, _)| *name == figure).copied());
        let none_yet = || format!("There is no {figure} to export yet.");
        let (_, choice) = found.ok_or_else(none_yet)?;
        let Ok(writers) = WRITERS().await else {
            return Err(
                "The part of the page that makes files could not be loaded. Try again.".to_owned()
            );
        };
        let (_, file) = choice.make.try_run(writers).flatten().ok_or_else(none_yet)?;
        match file.take() {
            File::Json(text) => Ok(text),
            File::JsonPieces(pieces) => Ok(pieces.collect()),
            _ => Err(none_yet()),
        }
    }
}
