//! The figures on the page that make files, by name: what a page around this one can ask for.

use leptos::prelude::*;

use super::{
    download::{Choice, File},
    named::Named,
    second::Second,
    writers::WRITERS,
};

/// Which figures are on the page now. `Copy`: a handle of the page's root.
#[derive(Clone, Copy)]
pub struct Exporters(StoredValue<Named<Choice>>);

/// Has figures made from here on be known. Call once, from the page's root.
pub fn provide_exporters() -> Exporters {
    let exporters = Exporters(StoredValue::new(Named::new()));
    provide_context(exporters);
    exporters
}

/// Makes the figure known for as long as its owner lives, if its files include JSON. Those of a twin have
/// the names of the run's, which is what is asked for.
pub(super) fn use_exporter(figure: &'static str, choices: &[Choice]) {
    let Some(Exporters(known)) = use_context::<Exporters>() else { return };
    if use_context::<Second>().is_some() {
        return;
    }
    let Some(json) = choices.iter().find(|choice| choice.id == "json").copied() else { return };
    let id = known.try_update_value(|known| known.add(figure, json));
    on_cleanup(move || {
        known.try_update_value(|known| id.map(|id| known.remove(id)));
    });
}

impl Exporters {
    /// The names of the figures on the page.
    pub fn names(self) -> Vec<&'static str> {
        self.0.with_value(Named::names)
    }

    /// The figure's own JSON.
    ///
    /// # Errors
    ///
    /// A sentence, where there is nothing to export yet or what makes files can't be fetched.
    pub async fn json(self, figure: &'static str) -> Result<String, String> {
        let none_yet = || format!("There is no {figure} to export yet.");
        let choice = self.0.with_value(|known| known.find(figure)).ok_or_else(none_yet)?;
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
