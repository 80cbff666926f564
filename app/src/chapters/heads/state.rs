//! What the parts of the chapter share.

use std::sync::Arc;

use leptos::prelude::*;
use unroll_protocol::{
    AttentionRow, RunState, Trace,
    study::heads::{self, Cost, HeadAt, Seen, Settings},
};

use super::INFO;
use crate::{
    course::{Lab, use_lab, use_provenance, use_setting},
    figures::{Provenance, Slot},
    questions::use_answer,
    reactive::{effect, memo},
    store::Store,
};

#[derive(Clone, Copy)]
pub struct Page {
    pub store: Store,
    pub lab: Lab,
    pub settings: Memo<Settings>,
    /// The head that is enlarged, as the settings have it.
    pub layer: Slot<u32>,
    pub head: Slot<u32>,
    /// Layers and heads of the model on show.
    pub shape: Memo<(u32, u32)>,
    /// The enlarged head of the model on show.
    pub at: Memo<HeadAt>,
    /// Query and key of the pinned cell, from 0.
    pub cell: Memo<Option<(usize, usize)>>,
    pub seen: Signal<Option<Arc<Seen>>>,
    pub trace: Signal<Option<Arc<Trace>>>,
    pub problem: Signal<Option<String>>,
    /// The row that is worked out: layer, head and query, from 0.
    pub wanted: RwSignal<Option<[u32; 3]>>,
    pub row: Signal<Option<Arc<AttentionRow>>>,
    /// What each head alone costs the model on show, as far as that is measured.
    pub costs: Memo<Vec<Cost>>,
    pub cost_problem: Signal<Option<String>>,
    /// What all heads that are off cost together.
    pub joint: Signal<Option<Cost>>,
    pub joint_problem: Signal<Option<String>>,
    pub provenance: Signal<Provenance>,
}

impl Page {
    pub fn new() -> Self {
        let store = expect_context::<Store>();
        let lab = use_lab();
        let settings = memo(move || store.link.with(|link| link.many_heads.clone()));
        let off = memo(move || settings.with(|s| s.off.clone()));
        let wanted = RwSignal::new(None::<[u32; 3]>);
        // The row comes along with the picture, so that they are never of different steps.
        let answered = use_answer(lab, move || {
            let row = wanted.get().map(|[layer, head, query]| {
                let at = HeadAt { layer: layer + 1, head: head + 1 };
                (at, query)
            });
            Some(heads::ask::Seen { text: store.probe.get(), off: off.get(), row })
        })
        .shown_in(lab.on_view("head"))
        .shown_in(lab.on_view("heads"))
        .shown_in(lab.on_view("numbers"));
        let seen = answered.answer;
        let trace = Memo::new_with_compare(
            move |_| seen.with(|seen| seen.as_ref().map(|seen| seen.trace.clone())),
            |old, new| match (old, new) {
                (Some(Some(old)), Some(Some(new))) => !Arc::ptr_eq(old, new),
                _ => true,
            },
        );
        let shape = memo(move || {
            let of_model = seen.with(|seen| match seen.as_ref()?.written.shape.as_slice() {
                &[layers, heads] => Some((layers, heads)),
                _ => None,
            });
            of_model.unwrap_or_else(|| settings.with(|s| (s.layers, s.heads)))
        });
        let (layer, head) =
            (use_setting(|l| &mut l.many_heads.layer), use_setting(|l| &mut l.many_heads.head));
        let at = memo(move || {
            let (layers, heads) = shape.get();
            HeadAt { layer: layer.get().clamp(1, layers), head: head.get().clamp(1, heads) }
        });
        let cell = memo(move || {
            settings.with(|s| Some((s.query.checked_sub(1)? as usize, s.key as usize - 1)))
        });
        let row = memo(move || {
            wanted.get()?;
            seen.with(|seen| seen.as_ref()?.row.clone().map(Arc::new))
        });
        let (joint, joint_problem) = use_joint(lab, off);
        let (alone, cost_problem) = use_alone(lab, shape);
        Self {
            store,
            lab,
            settings,
            layer,
            head,
            shape,
            at,
            cell,
            seen,
            trace: trace.into(),
            problem: answered.problem,
            wanted,
            row: row.into(),
            costs: memo(move || {
                let step = lab.shown();
                alone.with(|alone| alone.iter().filter(|cost| cost.step == step).cloned().collect())
            }),
            cost_problem,
            joint,
            joint_problem,
            provenance: use_provenance(),
        }
    }

    pub fn set(self, change: impl FnOnce(&mut Settings)) {
        self.store.link.update(|link| change(&mut link.many_heads));
    }

    /// Every head of the model on show.
    pub fn all(self) -> Vec<HeadAt> {
        HeadAt::all(self.shape.get_untracked())
    }

    pub fn toggle(self, at: HeadAt) {
        self.set(|s| at.toggle(&mut s.off));
    }

    /// What `at` alone costs the model as it is now, if that is measured.
    pub fn cost_of(self, at: HeadAt) -> Option<Cost> {
        self.costs.with(|costs| costs.iter().find(|cost| cost.off == [at]).cloned())
    }
}

/// The token that the enlarged head is shown with until one is chosen.
#[derive(Clone, Default, PartialEq)]
struct Rest {
    at: Option<HeadAt>,
    tokens: Vec<String>,
    query: Option<usize>,
}

/// The token whose attention is the sharpest. In training it stays what it was: only another sentence or
/// another head makes it another one, or the steps that the chapter takes by itself.
pub fn rest(page: Page) -> Memo<Option<usize>> {
    let rest = Memo::new(move |before: Option<&Rest>| {
        let at = page.at.get();
        page.trace.with(|trace| {
            let Some(trace) = trace else { return Rest::default() };
            let stays = |rest: &&Rest| {
                trace.step > INFO.warm_steps && rest.at == Some(at) && rest.tokens == trace.tokens
            };
            before.filter(stays).cloned().unwrap_or_else(|| Rest {
                at: Some(at),
                tokens: trace.tokens.clone(),
                query: sharpest(trace, at),
            })
        })
    });
    memo(move || rest.with(|rest| rest.query))
}

/// The query that is farthest from spreading its weight evenly, in nats.
fn sharpest(trace: &Trace, at: HeadAt) -> Option<usize> {
    let size = trace.tokens.len().max(1);
    let weights = trace.weights.block(&[at.layer as usize - 1, at.head as usize - 1])?;
    let rows = weights.chunks(size).zip(trace.mask.chunks(size));
    let sharpness = rows.map(|(weights, mask)| {
        let open = mask.iter().filter(|open| **open).count() as f32;
        let seen = weights.iter().filter(|weight| **weight > 0.0);
        open.ln() + seen.map(|weight| weight * weight.ln()).sum::<f32>()
    });
    sharpness.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|most| most.0)
}

fn use_joint(lab: Lab, off: Memo<Vec<HeadAt>>) -> (Signal<Option<Cost>>, Signal<Option<String>>) {
    let answered = use_answer(lab, move || {
        let off = off.get();
        (!off.is_empty()).then_some(heads::ask::Cost { off })
    })
    .shown_in(lab.on_view("heads"));
    let joint = memo(move || {
        let off = off.get();
        let cost = answered.read(Clone::clone)?;
        // One switch ago it was about other heads.
        (cost.off.len() == off.len() && cost.off.iter().all(|at| off.contains(at))).then_some(cost)
    });
    (joint.into(), answered.problem)
}

/// Measures one head after the other while nothing trains: in training every step would outdate it.
fn use_alone(lab: Lab, shape: Memo<(u32, u32)>) -> (RwSignal<Vec<Cost>>, Signal<Option<String>>) {
    let alone = RwSignal::new(Vec::<Cost>::new());
    let shown = lab.on_view("numbers");
    let answered = use_answer(lab, move || {
        let step = lab.shown();
        let needed = shown.get() || lab.check_seen.get();
        if !needed || lab.state.get() == RunState::Running || step < INFO.warm_steps {
            return None;
        }
        let is_known = |at: &HeadAt| {
            alone.with(|alone| alone.iter().any(|cost| cost.step == step && cost.off == [*at]))
        };
        let next = HeadAt::all(shape.get()).into_iter().find(|at| !is_known(at))?;
        Some(heads::ask::Cost { off: vec![next] })
    });
    effect(move || {
        let Some(cost) = answered.read(Clone::clone) else { return };
        alone.update(|alone| {
            alone.retain(|old| (&old.off, old.step) != (&cost.off, cost.step));
            alone.push(cost);
        });
    });
    effect(move || {
        lab.generation.track();
        alone.update(Vec::clear);
    });
    (alone, answered.problem)
}
