//! Steps shared by several workers without shared memory.
//!
//! The first worker, which talks to the page, has a [`Pool`]; every other worker is a [`Helper`]. A
//! step is divided into as many shards as the run has workers. Shard 0 is the first worker's; the
//! others come from the helpers or, if one is missing, are computed by the first worker too. They
//! are summed in order. So a run depends on the number of workers it was *started for*, and not on
//! which of them came late, were slow, or died.

mod helper;
mod parcel;

use unroll_model::{ReadError, Shard, ShardPass, ShardSlice, Trainer};
use unroll_protocol::{PoolReport, pool::MOST_WORKERS};

pub use helper::Helper;
pub use parcel::{Numbers, Parcel, State};

/// Interval in milliseconds at which a first worker that waits for its helpers calls
/// [`Pool::tick`].
///
/// Silence is counted in ticks instead of time, so that a machine that was asleep does not lose its
/// helpers.
pub const TICK: f64 = 250.0;
/// Ticks of silence after which a helper is given up, in addition to the time its share may take.
const PATIENCE: u32 = 20;
/// The same before its first share, for which it must build a replica.
const FIRST_PATIENCE: u32 = 80;
/// How many times as long as the last whole step a share may take.
const SLOWNESS: f64 = 8.0;

/// Sends a parcel to one helper.
pub type Sender = Box<dyn Fn(Parcel)>;

/// The first worker's side.
pub struct Pool {
    now: fn() -> f64,
    shards: usize,
    text: String,
    epoch: u32,
    /// Helpers by number, from 1.
    helpers: Vec<Place>,
    told: PoolReport,
    /// Number of steps taken, and whether the next one was started.
    step: u32,
    begun: bool,
    parameters: usize,
    /// The step's shards received so far.
    shares: Vec<Option<Shard>>,
    /// The shard this worker is computing, and its number.
    pass: Option<(usize, ShardPass)>,
    /// Ticks spent waiting in silence.
    silent: u32,
    began_at: f64,
    step_took: f64,
}

/// Whether a helper is connected, may still connect, or is lost.
enum Place {
    Empty,
    Taken(Remote),
    Lost,
}

/// A connected helper.
struct Remote {
    send: Sender,
    /// The epoch of the state it was sent.
    epoch: Option<u32>,
    /// Whether it has delivered a share.
    delivered: bool,
}

/// Result of a slice of a shared step.
pub enum Shared {
    /// There is more to compute.
    More,
    /// Everything that is computed here is done; some helpers are not.
    Waiting,
    /// The sum of all shards, or the reason why there is none.
    Sum(Result<Shard, ReadError>),
}

impl Pool {
    /// A pool without helpers, for a single shard.
    pub fn new(now: fn() -> f64) -> Self {
        Self {
            now,
            shards: 1,
            text: String::new(),
            epoch: 0,
            helpers: (1..MOST_WORKERS).map(|_| Place::Empty).collect(),
            told: PoolReport::default(),
            step: 0,
            begun: false,
            parameters: 0,
            shares: Vec::new(),
            pass: None,
            silent: 0,
            began_at: 0.0,
            step_took: 0.0,
        }
    }

    /// Another run starts, with `shards` shards a step, on `text`.
    pub fn start(&mut self, shards: u32, text: String) {
        self.shards = shards.clamp(1, MOST_WORKERS) as usize;
        self.text = text;
        self.state_was_set();
    }

    /// Number of shards of a step; the pool has work only if there are several.
    pub fn shards(&self) -> u32 {
        self.shards as u32
    }

    /// The trainer's state was changed other than by a step: helpers must receive it again.
    pub fn state_was_set(&mut self) {
        self.epoch += 1;
        self.shares.clear();
        self.pass = None;
        self.begun = false;
    }

    /// Helper `number`, counted from 1, can be reached. A helper that is already connected stays.
    pub fn add(&mut self, number: u32, send: Sender) {
        if let Some(place @ Place::Empty) = self.place(number) {
            *place = Place::Taken(Remote { send, epoch: None, delivered: false });
        }
    }

    /// Helper `number` is gone. From now on its shares are computed here.
    pub fn lose(&mut self, number: u32) {
        if let Some(place) = self.place(number) {
            *place = Place::Lost;
        }
    }

    fn place(&mut self, number: u32) -> Option<&mut Place> {
        self.helpers.get_mut((number as usize).checked_sub(1)?)
    }

    fn remote(&self, shard: usize) -> Option<&Remote> {
        match self.helpers.get(shard.checked_sub(1)?)? {
            Place::Taken(remote) => Some(remote),
            Place::Empty | Place::Lost => None,
        }
    }

    /// Whether a helper has the current state, so that its share can be expected.
    fn expects(&self, shard: usize) -> bool {
        self.remote(shard).is_some_and(|remote| remote.epoch == Some(self.epoch))
    }

    /// Receives a message from helper `number`. Messages that are malformed, duplicate, or of
    /// another epoch, step or size are dropped.
    pub fn receive(&mut self, number: u32, parcel: Parcel) {
        let Parcel::Numbers(words) = parcel else { return };
        let Some(Numbers::Shard { epoch, step, shard }) = Numbers::read(words) else { return };
        let index = number as usize;
        let fits =
            epoch == self.epoch && step == self.step && shard.gradient.len() == self.parameters;
        if !fits || !self.expects(index) {
            return;
        }
        let Some(share @ None) = self.shares.get_mut(index) else { return };
        *share = Some(shard);
        self.silent = 0;
        if let Some(Place::Taken(remote)) = self.place(number) {
            remote.delivered = true;
        }
    }

    /// This worker has waited for a [`TICK`]. Helpers that have been silent for too long are given
    /// up.
    pub fn tick(&mut self) {
        self.silent += 1;
        let share = (SLOWNESS * self.step_took / TICK) as u32;
        for shard in 1..self.shards {
            let missing = matches!(self.shares.get(shard), Some(None));
            let Some(remote) = self.remote(shard).filter(|_| missing) else { continue };
            let patience = if remote.delivered { PATIENCE } else { FIRST_PATIENCE };
            if self.silent > patience.saturating_add(share) {
                self.lose(shard as u32);
            }
        }
    }

    /// Drops a half-computed shard. Complete ones stay: computed again, they would be the same.
    pub fn discard(&mut self) {
        self.pass = None;
    }

    /// Computes one slice of the next step.
    pub async fn advance(&mut self, trainer: &Trainer) -> Shared {
        if !self.begun
            && let Err(error) = self.begin(trainer).await
        {
            return Shared::Sum(Err(error));
        }
        if let Some((index, pass)) = self.pass.take() {
            match pass.advance() {
                ShardSlice::More(pass) => self.pass = Some((index, pass)),
                ShardSlice::Computed(computed) => match computed.read().await {
                    // A helper may have delivered it first.
                    Ok(shard) => self.shares[index] = Some(shard),
                    Err(error) => return Shared::Sum(Err(error)),
                },
            }
            return Shared::More;
        }
        let missing = |index: &usize| self.shares[*index].is_none();
        if let Some(index) = (0..self.shards).filter(missing).find(|&index| !self.expects(index)) {
            self.pass = Some((index, trainer.start_shard(index, self.shards)));
            return Shared::More;
        }
        if (0..self.shards).any(|index| missing(&index)) {
            return Shared::Waiting;
        }
        let mut shares = self.shares.drain(..).flatten();
        let mut sum = shares.next().expect("there is at least one shard");
        shares.for_each(|share| sum.add(&share));
        Shared::Sum(Ok(sum))
    }

    async fn begin(&mut self, trainer: &Trainer) -> Result<(), ReadError> {
        let behind = |pool: &Self, shard: &usize| {
            pool.remote(*shard).is_some_and(|remote| remote.epoch != Some(pool.epoch))
        };
        let late: Vec<usize> = (1..self.shards).filter(|shard| behind(self, shard)).collect();
        if !late.is_empty() {
            let checkpoint = trainer.checkpoint().await?;
            for shard in late {
                let place = [self.epoch, shard as u32, self.shards as u32];
                let parcel = State::parcel(place, &self.text, &checkpoint);
                if let Place::Taken(remote) = &mut self.helpers[shard - 1] {
                    remote.epoch = Some(self.epoch);
                    (remote.send)(parcel);
                }
            }
        }
        self.parameters = trainer.parameter_count() as usize;
        self.step = trainer.step();
        self.shares.resize(self.shards, None);
        self.silent = 0;
        self.began_at = (self.now)();
        self.begun = true;
        Ok(())
    }

    /// The step is applied with `sum`: helpers apply it too and go on to the next. Call this before
    /// the trainer applies it, so that all work at the same time;
    /// [`state_was_set`](Self::state_was_set) undoes it.
    pub fn step_is_taken(&mut self, trainer: &Trainer, sum: &Shard) {
        let rate = trainer.spec().optimizer.learning_rate;
        for shard in 1..self.shards {
            if let Some(remote) = self.remote(shard).filter(|_| self.expects(shard)) {
                (remote.send)(Numbers::sum(self.epoch, self.step, rate, &sum.gradient));
            }
        }
        self.step_took = (self.now)() - self.began_at;
        self.step = self.step.saturating_add(1);
        // Shares of the next step may arrive before it is started here.
        self.shares.clear();
        self.shares.resize(self.shards, None);
        self.begun = false;
    }

    /// How many helpers share the steps, if that changed since the last report.
    pub fn take_report(&mut self) -> Option<PoolReport> {
        let count = |which: fn(&Place) -> bool| {
            let places = self.helpers.iter().take(self.shards - 1);
            places.filter(|place| which(place)).count() as u32
        };
        let report = PoolReport {
            working: count(|place| matches!(place, Place::Taken(remote) if remote.delivered)),
            lost: count(|place| matches!(place, Place::Lost)),
        };
        let changed = report != self.told;
        self.told = report;
        changed.then_some(report)
    }
}
