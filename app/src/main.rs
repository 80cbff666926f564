//! The page: starts the store, then shows it.

mod chapters;
mod controls;
mod corpora;
mod course;
mod embed;
mod figures;
mod page;
mod store;
mod worker;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(page::Page);
}
