//! The thread that trains, with the session that a worker of the page has too.

use std::{
    path::PathBuf,
    sync::{
        LazyLock,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use burn::tensor::Device;
use pollster::block_on;
use unroll_engine::{
    pool::{self, Helper, Parcel},
    session::{NoStudies, Session},
};
use unroll_protocol::{Command, CommandKind, Event, Limits, native::Note, pool::workers, wire};

use crate::{
    device::Place,
    keep::{Kept, affordable},
    line::{Ended, Mouth},
    run::Known,
    say,
};

/// What the page is told that another one follows, at most 123 bytes.
const TAKEN_OVER: &str = "The native engine works for another page now: it has one at a time.";

/// What the thread hears of.
pub enum Said {
    /// A page has come, with this number, and takes the place of the one before.
    Came(u64, Mouth),
    /// It said something.
    Command(u64, Vec<u8>),
    Left(u64),
    /// A page that is about to come asks what there is, as bytes for it.
    Find(Sender<Vec<u8>>),
    Note(Note),
    /// From a helper.
    Parcel(u32, Parcel),
    HelperLost(u32),
    /// The process is about to end. Answered when what is kept here is written.
    End(Sender<()>),
}

/// Milliseconds on a monotonic clock.
fn now() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64() * 1000.0
}

/// Starts the thread. It goes on for as long as the process.
///
/// Of runs that are too large for the page, it keeps the states in the folder `keep`.
pub fn start(place: Place, keep: PathBuf) -> Sender<Said> {
    let (said, inbox) = mpsc::channel();
    let helpers = said.clone();
    thread::spawn(move || {
        // A page that is told of this process's end goes on in its tab.
        let end = Ending;
        Engine::new(place, keep, helpers).serve(&inbox);
        drop(end);
    });
    said
}

/// Ends the process with the thread: without its session there is nothing to serve.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        std::process::exit(1);
    }
}

/// The page in front of which the session works.
struct Page {
    number: u64,
    mouth: Mouth,
    /// It has a model here. Before that, it would take what is said of the run that
    /// it finds for its own.
    has_begun: bool,
}

/// What hears the session's events.
struct Desk {
    page: Option<Page>,
    known: Known,
    kept: Kept,
}

impl Desk {
    fn post(&mut self, mut event: Event) {
        match &mut event {
            Event::Started(started) => self.kept.began(started, false),
            Event::Restored(started) => self.kept.began(started, true),
            _ => {}
        }
        self.known.heard(&event);
        self.tell(&event);
    }

    /// Of what comes of itself, and not in answer to a command.
    fn go_on(&mut self, event: &Event) {
        self.known.heard(event);
        if self.page.as_ref().is_some_and(|page| page.has_begun) {
            self.tell(event);
        }
    }

    /// How long it is until the run's state is to be written; `None` where there is nothing to write.
    fn due_in(&self) -> Option<Duration> {
        self.kept.due_in(self.known.step()?.0)
    }

    /// The page has a model here.
    fn begins(&mut self) {
        if let Some(page) = &mut self.page {
            page.has_begun = true;
        }
    }

    fn tell(&mut self, event: &Event) {
        let Some(Err(ended)) = self.page.as_ref().map(|page| page.mouth.say(event)) else { return };
        self.page = None;
        // Its reader ends, too, and then it is told that the page is closed.
        if ended == Ended::Silent {
            say(
                "The page takes nothing of what it is sent, so the line to it is ended. Reload it \
                 to see the run again.",
            );
        }
    }
}

struct Engine {
    session: Session,
    desk: Desk,
    place: Place,
    said: Sender<Said>,
    /// Helpers that were started: their numbers are 1 to this.
    helpers: u32,
}

impl Engine {
    fn new(place: Place, keep: PathBuf, said: Sender<Said>) -> Self {
        let desk = Desk { page: None, known: Known::default(), kept: Kept::new(keep) };
        Self {
            session: Session::<NoStudies>::within(Limits::NATIVE, place.device.clone(), now),
            desk,
            place,
            said,
            helpers: 0,
        }
    }

    fn serve(mut self, inbox: &Receiver<Said>) {
        loop {
            while let Ok(said) = inbox.try_recv() {
                self.hear(said);
            }
            if self.desk.due_in() == Some(Duration::ZERO) {
                self.keep();
            }
            let Self { session, desk, .. } = &mut self;
            let said = if session.has_work() && !session.is_waiting() {
                block_on(session.advance(&mut |event| desk.go_on(&event)));
                continue;
            } else if session.is_waiting() {
                match inbox.recv_timeout(Duration::from_millis(pool::TICK as u64)) {
                    Err(RecvTimeoutError::Timeout) => {
                        session.tick();
                        continue;
                    }
                    said => said.ok(),
                }
            } else if let Some(left) = desk.due_in() {
                match inbox.recv_timeout(left) {
                    Err(RecvTimeoutError::Timeout) => continue,
                    said => said.ok(),
                }
            } else {
                inbox.recv().ok()
            };
            match said {
                Some(said) => self.hear(said),
                None => return,
            }
        }
    }

    fn hear(&mut self, said: Said) {
        match said {
            Said::Came(number, mouth) => self.welcome(number, mouth),
            Said::Command(number, bytes) => {
                // Its last words may come after another has taken its place.
                if self.desk.page.as_ref().is_some_and(|page| page.number == number) {
                    self.carry_out(&bytes);
                }
            }
            Said::Left(number) => {
                if self.desk.page.as_ref().is_none_or(|page| page.number == number) {
                    self.desk.page = None;
                    self.session.forget_questions();
                    match self.desk.known.step() {
                        Some((step, true)) => {
                            say(&format!("The page is closed. Training goes on from step {step}."));
                        }
                        _ => say("The page is closed."),
                    }
                }
            }
            Said::Find(answer) => {
                // Who asked may be gone.
                let _ = answer.send(wire::encode(&self.desk.known.found()));
            }
            Said::Note(note) => self.desk.known.set_note(note),
            Said::Parcel(number, parcel) => self.session.hear_helper(number, parcel),
            Said::HelperLost(number) => {
                let Self { session, desk, .. } = self;
                block_on(
                    session.handle(Command::HelperLost(number), &mut |event| desk.post(event)),
                );
            }
            Said::End(done) => {
                self.keep_news();
                let _ = done.send(());
            }
        }
    }

    /// Writes the run's state to its file, where there is one and it has another.
    fn keep_news(&mut self) {
        if self.desk.due_in().is_some() {
            self.keep();
        }
    }

    /// Writes the run's state to its file. Training waits.
    fn keep(&mut self) {
        let Self { session, desk, .. } = self;
        let mut saved = None;
        block_on(session.handle(Command::Save, &mut |event| match event {
            Event::Checkpoint(checkpoint) => saved = Some(checkpoint),
            event => desk.post(event),
        }));
        if let Some(checkpoint) = saved {
            say(&desk.kept.write(&checkpoint, desk.known.text_name()));
        }
    }

    fn welcome(&mut self, number: u64, mouth: Mouth) {
        let page = Page { number, mouth, has_begun: false };
        if let Some(before) = self.desk.page.replace(page) {
            before.mouth.end(TAKEN_OVER);
        }
        self.session.forget_questions();
        self.desk.tell(&Event::Ready(self.place.report.clone()));
        match self.desk.known.step() {
            Some((step, _)) if step > 0 => {
                say(&format!("A page is open. The run is at step {step}."));
            }
            _ => say("A page is open."),
        }
    }

    fn carry_out(&mut self, bytes: &[u8]) {
        let Self { session, desk, .. } = self;
        let command = match wire::decode(bytes) {
            Ok(command) => command,
            Err(error) => {
                let mut post = |event| desk.post(event);
                return session.refuse_unreadable(error.to_string(), &mut post);
            }
        };
        let command = match command {
            Command::Start { resume: Some(named), spec, text, workers }
                if named.is_of_present() =>
            {
                if let Some(events) = desk.known.told_again(&named) {
                    desk.begins();
                    events.iter().for_each(|event| desk.tell(event));
                    return;
                }
                // Another page began another run in between. This one is not left without a model.
                Command::Start { spec, text, resume: None, workers }
            }
            Command::Save if desk.kept.is_here() => {
                let reason =
                    "This model is too large for the page to keep: the engine keeps it itself.";
                let (command, reason) = (CommandKind::Save, reason.to_owned());
                return desk.post(Event::Refused { command, reason });
            }
            command => command,
        };
        let command = match command {
            Command::Start { spec, text, resume, workers: asked } => {
                self.keep_news();
                let threads = self.place.threads;
                let workers = match asked {
                    0 => workers(&spec, 0, affordable(&spec, threads)),
                    asked => workers(&spec, asked.min(threads), threads),
                };
                self.desk.known.is_starting(text.clone(), asked);
                Command::Start { spec, text, resume, workers }
            }
            Command::SetLearningRate(rate) => {
                let mut refused = false;
                block_on(session.handle(command, &mut |event| {
                    refused |= matches!(event, Event::Refused { .. });
                    desk.post(event);
                }));
                if !refused {
                    desk.known.set_learning_rate(rate);
                }
                return;
            }
            command => command,
        };
        let mut most = 0;
        let Self { session, desk, .. } = self;
        block_on(session.handle(command, &mut |event| {
            if let Event::Started(started) = &event {
                most = started.workers;
                desk.begins();
            }
            desk.post(event);
        }));
        self.call_helpers(most);
    }

    /// Starts the helpers that are missing for steps shared by so many.
    fn call_helpers(&mut self, workers: u32) {
        while self.helpers + 1 < workers {
            self.helpers += 1;
            self.session.add_helper(self.helpers, helper(self.helpers, self.said.clone()));
        }
    }
}

/// Starts a thread that computes a shard of every step, on the processor. It ends when what is returned is dropped.
fn helper(number: u32, said: Sender<Said>) -> pool::Sender {
    let (send, inbox) = mpsc::channel::<Parcel>();
    thread::spawn(move || {
        // Also told when this thread panics: the engine then does its share.
        let _lost = Lost(number, said.clone());
        let mut helper = Helper::new(Device::flex());
        loop {
            let parcel = if helper.has_work() { inbox.try_recv().ok() } else { inbox.recv().ok() };
            match parcel {
                Some(parcel) => {
                    if helper.receive(parcel).is_err() {
                        return;
                    }
                }
                None if !helper.has_work() => return,
                None => {
                    if let Some(parcel) = block_on(helper.advance()) {
                        let _ = said.send(Said::Parcel(number, parcel));
                    }
                }
            }
        }
    });
    Box::new(move |parcel| {
        // The thread may have ended; then its loss is on the way.
        let _ = send.send(parcel);
    })
}

/// Tells the engine that a helper ended.
struct Lost(u32, Sender<Said>);

impl Drop for Lost {
    fn drop(&mut self) {
        let _ = self.1.send(Said::HelperLost(self.0));
    }
}
