//! The Web Worker that trains: it alone talks to the model.
//!
//! [`session`] is the engine itself and knows no browser: commands in, events out, work done in
//! slices of a few milliseconds. [`host`] puts it behind a worker's message port. The three binaries
//! differ only in the [`device`] they start it on and in whether they train chapters' models.

pub mod meter;
pub mod session;

#[cfg(target_arch = "wasm32")]
pub mod device;
#[cfg(target_arch = "wasm32")]
pub mod host;

/// Serves the page until it ends the worker.
#[cfg(target_arch = "wasm32")]
pub async fn serve<S: session::Studies>(
    device: burn::tensor::Device,
    report: unroll_protocol::DeviceReport,
) {
    use unroll_protocol::{Command, Event, wire};

    let mut inbox = match host::Inbox::listen() {
        Ok(inbox) => inbox,
        Err(error) => {
            let message = format!("The engine could not listen to the page ({error:?}).");
            return host::post(&Event::Failed { message });
        }
    };
    let mut post = |event: Event| host::post(&event);
    let mut session = session::Session::<S>::new(device, host::now);
    post(Event::Ready(report));
    loop {
        while let Some(bytes) = inbox.take() {
            match wire::decode::<Command>(&bytes) {
                Ok(command) => session.handle(command, &mut post).await,
                Err(error) => session.refuse_unreadable(error.to_string(), &mut post),
            }
        }
        if session.has_work() {
            session.advance(&mut post).await;
            inbox.breathe().await;
        } else {
            inbox.wait().await;
        }
    }
}
