//! How a twin follows the run that leads: its settings, its steps and the moment it shows.

use leptos::{prelude::*, task::spawn_local};
use unroll_protocol::{RunState, link::Corpus};

use super::{
    Leader,
    changes::{taken_over, twin_of},
};
use crate::{
    corpora,
    course::{Labs, Run, run::Series},
    kept,
    reactive::{effect, effect_with_last, memo},
    store::{Severity, Source, Store},
};

/// Steps that a twin takes at once, rather than look for what was kept of it.
const FAR: u32 = 20;

/// Keeps the links of a run and its twin together, whichever of the two is changed.
pub fn follow_link(leader: Leader, twin: Store) {
    let Leader { store, link: base, chapter, .. } = leader;
    effect(move || {
        let now = base.with(|base| store.link.with(|link| twin_of(base, link)));
        if twin.link.with_untracked(|link| *link != now) {
            twin.link.set(now);
        }
    });
    effect(move || {
        let now = twin.link.get();
        if now.chapter != chapter || now == leader.twin() {
            return;
        }
        let link = store.link.get_untracked();
        let next = base.with_untracked(|base| taken_over(base, &link, &now));
        store.link.set(next);
    });
    // Another chapter has a twin of its own.
    on_cleanup(move || {
        let is_left =
            store.link.with_untracked(|link| link.chapter != chapter && !link.twin.is_empty());
        if is_left {
            store.link.update(|link| link.twin.clear());
        }
    });
    if !chapter.shows_lab() {
        return;
    }
    // The lab builds no model before it is told to.
    effect(move || {
        let (link, built) = (twin.link.get(), twin.built.get_untracked());
        let rate = link.gpt.learning_rate;
        let mut with_rate = built;
        with_rate.gpt.learning_rate = rate;
        if link.experiment() == with_rate.experiment() && link.gpt.workers == with_rate.gpt.workers
        {
            if twin.built.with_untracked(|built| built.gpt.learning_rate != rate) {
                twin.set_learning_rate(rate);
            }
        } else {
            twin.start_over();
        }
    });
    // The controls of what is written are the run's.
    effect_with_last(move |before: Option<()>| {
        store.rewritten.track();
        if before.is_some() {
            twin.opening.set(store.opening.get_untracked());
            twin.throws.set(store.throws.get_untracked());
            twin.write_again();
        }
    });
    // One sentence for both.
    effect(move || {
        let probe = store.probe.get();
        if twin.probe.with_untracked(|old| *old != probe) {
            twin.set_probe(probe);
        }
    });
    effect(move || {
        let probe = twin.probe.get();
        if store.probe.with_untracked(|old| *old != probe) {
            store.set_probe(probe);
        }
    });
}

/// Has the twin learn the text of the run, unless its link names another.
pub fn follow_text(leader: Leader, twin: Store) {
    let Leader { store, chapter, .. } = leader;
    let learn = move |source: Source| {
        if twin.source.with_untracked(|old| *old != source) {
            twin.source.set(source);
            if chapter.shows_lab() {
                twin.start_over();
            }
        }
    };
    let wanted = memo(move || twin.link.with(|link| link.corpus));
    effect(move || {
        let (corpus, source) = (wanted.get(), store.source.get());
        if corpus == source.corpus || corpus == Corpus::Own {
            return learn(source);
        }
        spawn_local(async move {
            let text = corpora::load(corpus).await;
            // The twin may be gone by now, or learn something else.
            if wanted.try_get_untracked() != Some(corpus) {
                return;
            }
            match text {
                Ok(text) => learn(Source { corpus, name: corpora::name(corpus).to_owned(), text }),
                Err(sentence) => store.notify(Severity::Refusal, sentence),
            }
        });
    });
}

/// Has the twin take as many steps as the run, and show the same moment of them.
pub fn follow_run(leader: Leader, twin: Run) {
    let run = leader.run;
    let store = expect_context::<Store>();
    let lab = expect_context::<Labs>().of(leader.chapter);
    let diverged = move || match lab {
        Some(lab) => lab.diverged.with(Option::is_some),
        None => store.diverged.with(Option::is_some),
    };
    // Of which model it was looked whether it was this far before the page was opened, and whether that is
    // still being looked for.
    let (sought, seeks) = (StoredValue::new(None::<u32>), RwSignal::new(false));
    // From which step of which model it was last told to go on. It is told where to stop, not how far
    // to go: a model that is just being made anew has another step by the time it hears.
    let told = StoredValue::new(None::<(u32, u32)>);
    effect(move || {
        let (to, from) = (run.step.get(), twin.step.get());
        let of = twin.questions.generation.get();
        let can = twin.idle.with(Option::is_none) && twin.told.get() == RunState::Paused;
        if lab.is_none() && can && to.saturating_sub(from) > FAR && sought.get_value() != Some(of) {
            sought.set_value(Some(of));
            seeks.set(true);
            let led = run.questions.generation.get_untracked();
            spawn_local(async move {
                kept::rejoin(store, to).await;
                // The run may have started over meanwhile.
                let is_led = run.questions.generation.try_get_untracked() == Some(led);
                if !is_led && store.step.try_get_untracked().is_some() {
                    store.start_over();
                }
                seeks.try_set(false);
            });
        }
        if can && from < to && !diverged() && !seeks.get() && told.get_value() != Some((of, from)) {
            told.set_value(Some((of, from)));
            twin.questions.train_until(to);
        }
    });
    // Whoever starts over does so with the twin.
    effect_with_last(move |before: Option<u32>| {
        let now = run.questions.generation.get();
        let is_ahead = twin.step.get_untracked() > run.step.get_untracked();
        if before.is_some_and(|before| before != now) && is_ahead {
            match lab {
                Some(lab) => lab.start_over(),
                None => store.start_over(),
            }
        }
        now
    });
    effect(move || {
        let at = run.questions.at.get();
        let nearest = |at: u32| twin.questions.recorded.with(|all| all.nearest(at));
        twin.questions.look_at(at.and_then(nearest));
    });
    effect(move || {
        let first = twin.track.with(|all| all.first().cloned());
        let named = |first: Series| Series { name: format!("{} of the twin", first.name), ..first };
        run.beside.set(first.map(named));
    });
    if lab.is_none() {
        leader.store.beside.set(Some(("the twin", store.curve)));
        store.beside.set(Some(("the first run", leader.store.curve)));
    }
    on_cleanup(move || {
        run.beside.try_set(None);
        leader.store.beside.try_set(None);
    });
}
