//! Figures move from what they showed to what a beat of the story shows, so that the eye can follow.
//! Only the picture moves: what is read and exported is what is there.

use core::{
    cell::Cell,
    task::{Context, Poll, Waker},
    time::Duration,
};
use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};
use web_sys::{ScrollBehavior, ScrollToOptions};

use super::{
    canvas::{NextFrame, clock, use_next_frame},
    fading,
};
use crate::fetched::{Fetch, Fetching, part};

/// How long a figure moves, in milliseconds.
const MOVES: f64 = 220.0;
/// After a beat figures move to whatever is new for so many milliseconds, for the model's answer takes
/// a while to come. Later changes are drawn as they come.
const LISTENS: u64 = 800;

/// Fetched behind the first picture.
const FADE: Fetch<fn()> = part!(fade: fn() = fading::fade);

/// On the page while figures move, for what style sheets move.
const CLASS: &str = "moving";

thread_local! {
    /// How many beats have lately set the stage.
    static MOVING: Cell<u32> = const { Cell::new(0) };
}

/// How something is scrolled to: at once where the learner has asked for less motion.
pub fn scrolling() -> ScrollToOptions {
    let options = ScrollToOptions::new();
    options.set_behavior(if is_still() { ScrollBehavior::Auto } else { ScrollBehavior::Smooth });
    options
}

/// Whether the learner has asked for less motion.
pub fn is_still() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)").ok().flatten();
    query.is_some_and(|query| query.matches())
}

/// A beat sets the stage now: what figures show next is moved to.
pub fn begin() {
    if is_still() {
        return;
    }
    let mut fade = FADE();
    match fade.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(fade) => _ = fade.map(|fade| fade()),
        // Until it is here, drawings jump.
        Poll::Pending => fetch_ahead(fade),
    }
    set(MOVING.get() + 1);
    set_timeout(|| set(MOVING.get().saturating_sub(1)), Duration::from_millis(LISTENS));
}

/// What drawings fade with is here before the first beat.
pub fn be_ready() {
    fetch_ahead(FADE());
}

fn fetch_ahead(fade: Fetching<fn()>) {
    spawn_local(async move { drop(fade.await) });
}

/// What moves is there at its next drawing.
pub fn end() {
    set(0);
}

fn set(moving: u32) {
    MOVING.set(moving);
    let body = document().body().map(|body| body.class_list());
    // A class that can't be set leaves the bars without their motion.
    let _ = body.map(|classes| classes.toggle_with_force(CLASS, moving > 0));
}

/// What can be drawn on the way from one state to another.
pub trait Between: Sized {
    /// `share` of the way from `self` to `to`; `None` where there is no way: they differ in more than
    /// their values.
    fn between(&self, to: &Self, share: f64) -> Option<Self>;
}

/// A figure's motion. `Copy`: a handle of the owner it was made under.
pub struct Motion<T: 'static> {
    way: StoredValue<Way<T>>,
    tick: RwSignal<()>,
    next: NextFrame,
}

impl<T> Clone for Motion<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Motion<T> {}

struct Way<T> {
    /// What was drawn last.
    drawn: Option<Arc<T>>,
    to: Option<Arc<T>>,
    /// What was drawn when `to` became another, when that was, and when `to` is to be there.
    from: Option<(Arc<T>, f64, f64)>,
    /// Whether it moves without a beat, too.
    always: bool,
}

pub(super) fn use_motion<T: Between + Send + Sync>() -> Motion<T> {
    moving(false)
}

/// Of a figure whose motion says something itself: what the learner changes in it moves as well.
pub fn use_own_motion<T: Between + Send + Sync>() -> Motion<T> {
    moving(true)
}

fn moving<T: Between + Send + Sync>(always: bool) -> Motion<T> {
    let way = Way { drawn: None, to: None, from: None, always };
    Motion { way: StoredValue::new(way), tick: RwSignal::new(()), next: use_next_frame() }
}

impl<T: Between + Send + Sync> Motion<T> {
    /// What to draw now on the way to `to`. Tracks the frames until it is there.
    pub fn toward(self, to: Arc<T>) -> Arc<T> {
        self.tick.track();
        let now = clock();
        let drawn = self.way.try_update_value(|way| way.at(&to, now));
        let Some((drawn, is_there)) = drawn else { return to };
        if !is_there && !self.next.is_asked() {
            // `Some` where the figure is gone.
            self.next.ask(move || _ = self.tick.try_set(()));
        }
        drawn
    }
}

impl<T: Between> Way<T> {
    /// What is drawn at `now`, and whether that is `to` itself.
    fn at(&mut self, to: &Arc<T>, now: f64) -> (Arc<T>, bool) {
        let is_new = self.to.as_ref().is_none_or(|old| !Arc::ptr_eq(old, to));
        if is_new {
            self.to = Some(to.clone());
            // What is on its way already has only the rest of its time.
            let there = self.from.take().map_or(now + MOVES, |(_, _, there)| there);
            self.from = self.drawn.take().map(|drawn| (drawn, now, there));
        }
        let from = self.from.as_ref();
        let moving = from.filter(|_| if self.always { !is_still() } else { MOVING.get() > 0 });
        let on_the_way = moving.and_then(|(from, begun, there)| {
            let share = (now - begun) / (there - begun);
            // Slower at the end.
            (share < 1.0).then(|| from.between(to, 1.0 - (1.0 - share).powi(3)))?
        });
        let is_there = on_the_way.is_none();
        let drawn = on_the_way.map_or_else(|| to.clone(), Arc::new);
        if is_there {
            self.from = None;
        }
        self.drawn = Some(drawn.clone());
        (drawn, is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Between for f64 {
        fn between(&self, to: &Self, share: f64) -> Option<Self> {
            (*self < 100.0).then(|| self + (to - self) * share)
        }
    }

    #[test]
    fn after_a_beat_the_picture_moves_and_arrives() {
        let mut way = Way { drawn: None, to: None, from: None, always: false };
        let [one, two, far] = [1.0, 2.0, 200.0].map(Arc::new);
        assert_eq!(way.at(&one, 0.0), (one.clone(), true), "nothing to move from");
        assert_eq!(way.at(&two, 0.0), (two.clone(), true), "no beat");
        MOVING.set(1);
        assert_eq!(way.at(&one, 10.0), (two.clone(), false), "begins where it was");
        let (half, is_there) = way.at(&one, 10.0 + MOVES / 2.0);
        assert!(1.0 < *half && *half < 1.5 && !is_there, "{half}");
        // Another state on the way: from where the picture is.
        assert_eq!(way.at(&two, 130.0), (half.clone(), false));
        assert!(*way.at(&two, 200.0).0 > *half);
        assert_eq!(way.at(&two, 10.0 + MOVES), (two.clone(), true), "by the first one’s time");
        assert_eq!(way.at(&far, 400.0), (two.clone(), false));
        way.at(&far, 400.0 + MOVES);
        assert_eq!(way.at(&one, 700.0), (one.clone(), true), "there is no way from there");
        way.at(&two, 800.0);
        MOVING.set(0);
        assert_eq!(way.at(&two, 810.0), (two, true), "ended");
    }
}
