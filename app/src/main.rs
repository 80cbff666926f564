//! The page: starts the store, then shows it.

mod chapters;
mod controls;
mod corpora;
mod course;
mod embed;
mod figures;
mod page;
mod store;
#[expect(dead_code, unused_imports, reason = "chapters will use all of it")]
mod teaching;
mod worker;

use unroll_protocol::link::Corpus;

fn main() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(async {
        // The page begins with its text; where that can't be had, it says so.
        let (link, _) = controls::read_url();
        if link.corpus != Corpus::Own {
            let _ = corpora::load(link.corpus).await;
        }
        leptos::mount::mount_to_body(page::Page);
    });
}
