//! Networks that train side by side on the same batches, one of them with BatchNorm.

use burn::{module::Module, tensor::Tensor};

use super::{
    super::{Built, Holder, Keeper, StudySlice},
    Corpus, measured, optimizer,
};
use crate::{
    Named,
    norm::RunningStatistics,
    study::learner::{Gradients, Learner},
};

/// What tells a network from the others.
pub struct Kind {
    /// Its name in files.
    pub id: &'static str,
    /// Its name on its curve.
    pub label: &'static str,
    pub has_batch_norm: bool,
}

/// See the module.
pub struct Training<M> {
    kinds: Vec<Kind>,
    /// As of the last whole step, in the order of `kinds`.
    pub state: State<M>,
    /// The step under way: what it has made so far, and what it measured of each network.
    pending: Option<(State<M>, Vec<Measured>)>,
    rate: f32,
}

/// A network's loss and the norm of its gradients; `None` of one that can't be trained.
pub type Measured = Option<[Tensor<1>; 2]>;

/// Models of type `M` and their optimizers.
#[derive(Clone)]
pub struct State<M> {
    pub step: u32,
    pub learners: Vec<Learner<M>>,
    /// BatchNorm's running statistics: one for each layer, or for each time step.
    pub running: Vec<RunningStatistics>,
}

impl<M: Module + 'static> Training<M> {
    /// `of` makes the network of each kind.
    pub fn new(
        kinds: Vec<Kind>,
        of: impl Fn(usize) -> M,
        running: Vec<RunningStatistics>,
        rate: f32,
    ) -> Self {
        let learners = (0..kinds.len()).map(|which| Learner::new(of(which), &optimizer()));
        let state = State { step: 0, learners: learners.collect(), running };
        Self { kinds, state, pending: None, rate }
    }

    pub fn built(&self, corpus: &Corpus) -> Built {
        Built {
            parameters: self.state.learners.iter().map(Learner::parameters).sum(),
            vocabulary: corpus.tokenizer.vocabulary(),
            series: self.kinds.iter().map(|kind| kind.label.to_owned()).collect(),
            notes: corpus.data.notes.clone(),
        }
    }

    pub fn named_parameters(&self, model: usize) -> Vec<Named> {
        Learner::parameters_of(&self.state.learners, model)
    }

    pub fn hold(&mut self, holder: &mut Holder<'_>) {
        holder.hold(&mut self.state, |state| State {
            step: state.step,
            learners: Learner::all_held(&state.learners),
            running: state.running.clone(),
        });
    }

    pub fn keep(&mut self, keeper: &mut Keeper<'_>) {
        let State { step, learners, running } = &mut self.state;
        for (learner, kind) in learners.iter_mut().zip(&self.kinds) {
            learner.keep(kind.id, keeper);
        }
        let batch = self.kinds.iter().find(|kind| kind.has_batch_norm).map_or("", |kind| kind.id);
        for (at, running) in running.iter_mut().enumerate() {
            let name = |what: &str| format!("{batch}.running.{at}.{what}");
            keeper.tensor(name("mean"), &mut running.mean);
            keeper.tensor(name("variance"), &mut running.variance);
        }
        keeper.step(step);
    }

    pub fn step(&self) -> u32 {
        self.state.step
    }

    /// One slice trains one network, by `learn`.
    pub async fn advance(
        &mut self,
        learn: impl FnOnce(&mut State<M>, usize, f64) -> Measured,
    ) -> StudySlice {
        let (mut state, mut all) =
            self.pending.take().unwrap_or_else(|| (self.state.clone(), Vec::new()));
        all.push(learn(&mut state, all.len(), f64::from(self.rate)));
        if all.len() < self.kinds.len() {
            self.pending = Some((state, all));
            return StudySlice::More;
        }
        let trained: Vec<bool> = all.iter().map(Option::is_some).collect();
        match measured(all.into_iter().flatten().flatten().collect()).await {
            Err(loss) => StudySlice::Diverged { loss },
            Ok(values) => {
                state.step += 1;
                self.state = state;
                let mut losses = values.into_iter().step_by(2);
                let loss = |trained| if trained { losses.next() } else { None };
                StudySlice::Step(trained.into_iter().map(loss).collect())
            }
        }
    }

    pub fn discard(&mut self) {
        self.pending = None;
    }

    pub fn set_learning_rate(&mut self, rate: f32) {
        self.rate = rate;
    }
}

impl<M: Module> State<M> {
    /// Updates one network by the loss of `tracked`, its copy that is followed by autodiff.
    pub fn update(
        &mut self,
        which: usize,
        tracked: &M,
        loss: Tensor<1>,
        rate: f64,
    ) -> [Tensor<1>; 2] {
        let gradients = Gradients::of(tracked, loss);
        let measured = [gradients.loss.clone(), gradients.norm.clone()];
        self.learners[which].update(gradients, rate);
        measured
    }
}
