//! The page: starts the store, then shows it.

mod chapters;
mod controls;
mod corpora;
mod course;
mod embed;
mod fetched;
mod figures;
mod kept;
mod page;
mod pointer;
mod questions;
mod reactive;
mod store;
mod teaching;
mod worker;

use unroll_protocol::link::Corpus;

fn main() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(async {
        let (link, given, problems) = controls::read_first_url().await;
        // The page begins with its text; where that can't be had, or the learner's own is not one,
        // with the tales; and without any it says so.
        let own = link.corpus == Corpus::Own;
        if own || corpora::load(link.corpus).await.is_err() {
            let _ = corpora::load(Corpus::Tales).await;
        }
        leptos::mount::mount_to_body(move || page::page(link, given, &problems));
    });
}
