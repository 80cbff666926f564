//! The Web Worker that trains. Nothing else talks to the model.
//!
//! [`session`] is the engine itself and is independent of browsers: commands in, events out, work
//! done in slices of a few milliseconds. [`host`] connects it to a worker's message port. The three
//! binaries differ only in the [`device`] they use and in whether they train the chapters' models.

pub mod device;
pub mod meter;
pub mod pool;
pub mod session;

#[cfg(target_arch = "wasm32")]
pub mod host;

/// A session with its line to the page.
#[cfg(target_arch = "wasm32")]
struct Served<S: session::Studies> {
    room: host::Room,
    session: session::Session<S>,
    post: Box<dyn FnMut(unroll_protocol::Event)>,
}

/// Serves the page until it ends the worker. The page may ask for further sessions: the course's
/// chapters share one worker, and each has a session of its own. If the page gives a worker the port
/// of another one, it becomes that worker's helper instead.
#[cfg(target_arch = "wasm32")]
pub async fn serve<S: session::Studies>(
    device: burn::tensor::Device,
    report: unroll_protocol::DeviceReport,
) {
    use host::{FIRST, Incoming};
    use unroll_protocol::{Command, Event, wire};

    let mut inbox = match host::Inbox::listen() {
        Ok(inbox) => inbox,
        Err(error) => {
            let message = format!("The engine could not listen to the page ({error:?}).");
            return host::post(&Event::Failed { message });
        }
    };
    let new_session = || session::Session::<S>::new(device.clone(), host::now);
    let mut served = vec![Served {
        room: FIRST,
        session: new_session(),
        post: Box::new(|event| host::post(&event)),
    }];
    let mut next: host::Room = FIRST + 1;
    (served[0].post)(Event::Ready(report.clone()));
    loop {
        while let Some(incoming) = inbox.take() {
            match incoming {
                Incoming::Page(room, bytes) => {
                    let to = served.iter_mut().find(|served| served.room == room);
                    // Its last words may come after it has left.
                    let Some(Served { session, post, .. }) = to else { continue };
                    match wire::decode::<Command>(&bytes) {
                        Ok(command) => session.handle(command, post).await,
                        Err(error) => session.refuse_unreadable(error.to_string(), post),
                    }
                }
                // Chapters share an engine; the lab has one of its own, without the code for it.
                Incoming::Join(port) if S::lab().is_none() => {
                    let mut post = Box::new(inbox.join(next, port));
                    post(Event::Ready(report.clone()));
                    served.push(Served { room: next, session: new_session(), post });
                    next += 1;
                }
                Incoming::Join(_) => {}
                Incoming::Leave(room) => {
                    served.retain(|served| served.room != room);
                    inbox.leave(room);
                }
                // Only steps of the lab's model are shared.
                Incoming::Port(0, port) if S::lab().is_some() => {
                    return help(device, inbox, port).await;
                }
                Incoming::Port(0, _) => {}
                Incoming::Port(number, port) => {
                    served[0].session.add_helper(number, inbox.open(number, port));
                }
                Incoming::Parcel(number, parcel) => served[0].session.hear_helper(number, parcel),
            }
        }
        let mut worked = false;
        for Served { session, post, .. } in &mut served {
            if session.has_work() && !session.is_waiting() {
                session.advance(post).await;
                worked = true;
            }
        }
        if worked {
            inbox.breathe().await;
        } else if served[0].session.is_waiting() {
            if !inbox.wait_at_most(pool::TICK).await {
                served[0].session.tick();
            }
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
