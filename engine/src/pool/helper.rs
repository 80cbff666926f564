//! A worker that computes one shard of every step.

use burn::tensor::Device;
use unroll_model::{ShardPass, ShardSlice, Trainer};
use unroll_protocol::Limits;

use super::{Numbers, Parcel, State};

/// A replica of the first worker's trainer and the shard it computes.
///
/// It receives the state once. Then it computes its shard of the next step, sends it, applies the
/// step when the sum of all shards arrives, and goes on to the next. Weights never travel after the
/// start: the same arithmetic on the same numbers keeps all replicas equal to the last bit.
pub struct Helper {
    device: Device,
    replica: Option<Replica>,
}

struct Replica {
    epoch: u32,
    shard: u32,
    shards: u32,
    trainer: Trainer,
    /// The shard being computed; `None` once it is sent.
    pass: Option<ShardPass>,
}

impl Helper {
    /// A helper that waits for a state.
    pub fn new(device: Device) -> Self {
        Self { device, replica: None }
    }

    /// Receives a message from the first worker. Messages that are malformed, from another epoch or
    /// step, or of another size are dropped.
    ///
    /// # Errors
    ///
    /// A sentence if a state can't be loaded: then this helper is of no use.
    pub fn receive(&mut self, parcel: Parcel) -> Result<(), String> {
        match parcel {
            Parcel::State(bytes) => match State::read(&bytes) {
                Some(state) => self.take_up(state),
                None => Ok(()),
            },
            Parcel::Numbers(words) => {
                if let Some(Numbers::Sum { epoch, step, learning_rate, gradient }) =
                    Numbers::read(words)
                {
                    self.take_step(epoch, step, learning_rate, gradient);
                }
                Ok(())
            }
        }
    }

    /// Whether [`Self::advance`] has anything to do.
    pub fn has_work(&self) -> bool {
        self.replica.as_ref().is_some_and(|replica| replica.pass.is_some())
    }

    /// Computes one slice of the current shard. Returns what to send once the shard is complete.
    pub async fn advance(&mut self) -> Option<Parcel> {
        let replica = self.replica.as_mut()?;
        match replica.pass.take()?.advance() {
            ShardSlice::More(pass) => {
                replica.pass = Some(pass);
                None
            }
            ShardSlice::Computed(computed) => {
                let shard = computed.read().await.ok()?;
                Some(Numbers::shard(replica.epoch, replica.trainer.step(), &shard))
            }
        }
    }

    fn take_up(&mut self, state: State) -> Result<(), String> {
        let State { epoch, shard, shards, text, checkpoint } = state;
        let stale = self.replica.as_ref().is_some_and(|replica| epoch <= replica.epoch);
        if stale || shard >= shards || shards > checkpoint.spec.batch {
            return Ok(());
        }
        // The old replica is dropped first: there may not be memory for two.
        self.replica = None;
        // The first worker has checked it against its own limits.
        let limits = &Limits::NATIVE;
        let trainer = Trainer::from_checkpoint_within(limits, &checkpoint, &text, &self.device)
            .map_err(|error| error.to_string())?;
        let pass = Some(trainer.start_shard(shard as usize, shards as usize));
        self.replica = Some(Replica { epoch, shard, shards, trainer, pass });
        Ok(())
    }

    fn take_step(&mut self, epoch: u32, step: u32, learning_rate: f32, gradient: Vec<f32>) {
        let Some(replica) = &mut self.replica else { return };
        let trainer = &mut replica.trainer;
        if epoch != replica.epoch || step != trainer.step() {
            return;
        }
        // This worker has no use for the loss.
        let sum = unroll_model::Shard { loss: 0.0, gradient };
        if trainer.set_learning_rate(learning_rate).is_err() || trainer.set_gradients(sum).is_none()
        {
            return;
        }
        // It holds on to the weights that are about to be overwritten.
        replica.pass = None;
        trainer.apply();
        let shards = replica.shards as usize;
        replica.pass = Some(trainer.start_shard(replica.shard as usize, shards));
    }
}
