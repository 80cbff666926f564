//! The Web Worker that trains. Nothing else talks to the model.
//!
//! [`session`] is the engine itself and is independent of browsers: commands in, events out, work
//! done in slices of a few milliseconds. [`host`] connects it to a worker's message port. The three
//! binaries differ only in the [`device`] they use and in whether they train the chapters' models.

pub mod meter;
pub mod pool;
pub mod session;

#[cfg(target_arch = "wasm32")]
pub mod device;
#[cfg(target_arch = "wasm32")]
pub mod host;

/// Serves the page until it ends the worker. If the page gives a worker the port of another one, it
/// becomes that worker's helper instead.
#[cfg(target_arch = "wasm32")]
pub async fn serve<S: session::Studies>(
    device: burn::tensor::Device,
    report: unroll_protocol::DeviceReport,
) {
    use host::Incoming;
    use unroll_protocol::{Command, Event, wire};

    let mut inbox = match host::Inbox::listen() {
        Ok(inbox) => inbox,
        Err(error) => {
            let message = format!("The engine could not listen to the page ({error:?}).");
            return host::post(&Event::Failed { message });
        }
    };
    let mut post = |event: Event| host::post(&event);
    let mut session = session::Session::<S>::new(device.clone(), host::now);
    post(Event::Ready(report));
    loop {
        while let Some(incoming) = inbox.take() {
            match incoming {
                Incoming::Page(bytes) => match wire::decode::<Command>(&bytes) {
                    Ok(command) => session.handle(command, &mut post).await,
                    Err(error) => session.refuse_unreadable(error.to_string(), &mut post),
                },
                // Only steps of the lab's model are shared.
                Incoming::Port(0, port) if S::lab().is_some() => {
                    return help(device, inbox, port).await;
                }
                Incoming::Port(0, _) => {}
                Incoming::Port(number, port) => {
                    session.add_helper(number, inbox.open(number, port));
                }
                Incoming::Parcel(number, parcel) => session.hear_helper(number, parcel),
            }
        }
        if session.is_waiting() {
            if !inbox.wait_at_most(pool::TICK).await {
                session.tick();
            }
        } else if session.has_work() {
            session.advance(&mut post).await;
            inbox.breathe().await;
        } else {
            inbox.wait().await;
        }
    }
}

/// Computes a shard of every step for the worker at the other end of `port`, until the page ends
/// this worker.
#[cfg(target_arch = "wasm32")]
async fn help(device: burn::tensor::Device, mut inbox: host::Inbox, port: web_sys::MessagePort) {
    let send = inbox.open(0, port);
    let mut helper = pool::Helper::new(device);
    loop {
        while let Some(incoming) = inbox.take() {
            if let host::Incoming::Parcel(_, parcel) = incoming
                && let Err(message) = helper.receive(parcel)
            {
                return host::post(&unroll_protocol::Event::Failed { message });
            }
        }
        if helper.has_work() {
            if let Some(parcel) = helper.advance().await {
                send(parcel);
            }
            inbox.breathe().await;
        } else {
            inbox.wait().await;
        }
    }
}
