//! The page: starts the store, then shows it.

mod chapters;
mod controls;
mod corpora;
mod embed;
mod figures;
mod page;
mod store;
#[expect(dead_code, unused_imports, reason = "chapters will use all of it")]
mod teaching;
mod worker;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(page::Page);
}
