//! What every figure needs of the browser: its size and pixel ratio, and one redraw a frame however
//! often the data changes.

use core::time::Duration;
use std::{
    cell::{Cell, OnceCell, RefCell},
    sync::Arc,
};

use crate::reactive::effect;
use leptos::{html::ElementType, prelude::*, tachys::html::node_ref::NodeRefContainer};
use wasm_bindgen::{Clamped, JsCast, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, ImageData, ResizeObserver};

type Disconnect = Box<dyn Fn()>;

/// A frame that takes longer than this, in milliseconds, has cost another one at 60 Hz.
const SMOOTH: f64 = 25.0;
/// After such a frame no figure takes over new data for so many times as long as it took, but
/// not for longer than this many milliseconds: the page stays smooth on a slow machine, and still
/// shows several steps a second.
const REST: f64 = 2.5;
const LONGEST_REST: f64 = 250.0;
/// In training, figures that have not begun to take over new data after so many milliseconds of a
/// frame wait for the next: all of them together would hold up the page.
const FULL: f64 = 5.0;
/// The same of what belongs to an answer that others show in this frame.
const FULL_TOGETHER: f64 = 16.0;

thread_local! {
    /// Until when figures rest, on the page's clock.
    static RESTING: Cell<f64> = const { Cell::new(0.0) };
    /// When figures began to take over new data in this frame, if they did.
    static BEGUN: Cell<Option<f64>> = const { Cell::new(None) };
    /// What is to change on the page in the next frame, see [`show_in_frame`].
    static SHOWS: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
    /// Whether that is changing: texts and figures that follow from it do so in the same frame.
    static SHOWING: Cell<bool> = const { Cell::new(false) };
    /// How many engines train: a twin's beside that of the run.
    static TRAINING: Cell<u32> = const { Cell::new(0) };
    /// Where text is drawn before it is copied to where it belongs.
    static ASIDE: OnceCell<Option<HtmlCanvasElement>> = const { OnceCell::new() };
}

/// One more engine trains, or one less. Figures rest only while any does: what is drawn afterwards stays.
pub fn count_training(more: bool) {
    let count = TRAINING.get();
    TRAINING.set(if more { count + 1 } else { count.saturating_sub(1) });
    if !is_training() {
        RESTING.set(0.0);
    }
}

fn is_training() -> bool {
    TRAINING.get() > 0
}

/// For how many milliseconds nothing new is asked for and figures take over nothing, because redrawing was
/// slow just now. Only an answer that was on its way is shown still, see [`show_in_frame`].
pub fn rest_left() -> f64 {
    (RESTING.get() - clock()).max(0.0)
}

/// Whether so much was drawn in this frame that more should wait for the next.
fn frame_is_full(most: f64) -> bool {
    is_training() && BEGUN.get().is_some_and(|begun| clock() - begun > most)
}

/// Times the frame in which this is called, with all that is drawn, laid out and painted in it, so
/// that figures rest where it is slow.
pub fn time_frame() {
    if !is_training() || BEGUN.get().is_some() {
        return;
    }
    let begun = clock();
    BEGUN.set(Some(begun));
    request_animation_frame(move || {
        BEGUN.set(None);
        let (now, hidden) = (clock(), document().hidden());
        let took = now - begun;
        // Behind another tab there are no frames.
        if took > SMOOTH && !hidden && is_training() {
            let rest = (RESTING.get() - now).max(0.0) + REST * took;
            RESTING.set(now + rest.min(LONGEST_REST));
        }
    });
}

/// In training, does `show` in the next frame, with whatever else is to be shown in it and whatever
/// follows from that, so that two places never give one quantity two values; at once otherwise.
pub fn show_in_frame(show: impl FnOnce() + 'static) {
    let waiting = SHOWS.with_borrow(|shows| !shows.is_empty());
    // What came first is shown first.
    if !is_training() && !waiting {
        return show();
    }
    SHOWS.with_borrow_mut(|shows| shows.push(Box::new(show)));
    if waiting {
        return;
    }
    request_animation_frame(|| {
        time_frame();
        SHOWING.set(true);
        for show in SHOWS.take() {
            show();
        }
        // What follows is computed in microtasks, so before this.
        set_timeout(|| SHOWING.set(false), Duration::ZERO);
    });
}

/// Milliseconds on the page's monotonic clock.
pub fn clock() -> f64 {
    window().performance().map_or(0.0, |performance| performance.now())
}

/// An observer with its callback; gives both back when its owner is disposed.
struct Observing {
    disconnect: Disconnect,
    _callback: Closure<dyn FnMut(js_sys::Array)>,
}

impl Drop for Observing {
    fn drop(&mut self) {
        (self.disconnect)();
    }
}

/// Calls `see` whenever the observer that `observe` makes has something to say about the element.
/// Both live until the calling owner is disposed.
pub(super) fn use_observer<E>(
    target: NodeRef<E>,
    observe: fn(&js_sys::Function, &Element) -> Option<Disconnect>,
    see: impl Fn(js_sys::Array) + Clone + 'static,
) where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
    NodeRef<E>: NodeRefContainer<E>,
{
    effect(move || {
        let Some(element) = target.get() else { return };
        let callback = Closure::new(see.clone());
        let disconnect = observe(callback.as_ref().unchecked_ref(), element.as_ref());
        if let Some(disconnect) = disconnect {
            // Owned by this effect: dropped, and so disconnected, when it runs again or ends.
            StoredValue::new_local(Observing { disconnect, _callback: callback });
        }
    });
}

/// Size of an element in CSS pixels, and device pixels for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    pub width: f64,
    pub height: f64,
    pub scale: f64,
}

impl Size {
    /// In whole device pixels; `None` where there is less than one.
    fn pixels(self) -> Option<(f64, f64)> {
        let pixels = |length: f64| (length * self.scale).round();
        let (width, height) = (pixels(self.width), pixels(self.height));
        (width >= 1.0 && height >= 1.0).then_some((width, height))
    }
}

/// The element's present size; zero until it is laid out.
pub fn use_size<E>(target: NodeRef<E>) -> Signal<Size>
where
    E: ElementType + 'static,
    E::Output: JsCast + Clone + AsRef<Element> + 'static,
    NodeRef<E>: NodeRefContainer<E>,
{
    let size = RwSignal::new(Size::default());
    use_observer(
        target,
        |callback, element| {
            let observer = ResizeObserver::new(callback).ok()?;
            observer.observe(element);
            Some(Box::new(move || observer.disconnect()))
        },
        move |_| {
            let Some(element) = target.get_untracked() else { return };
            let element: &Element = element.as_ref();
            let now = Size {
                width: f64::from(element.client_width()),
                height: f64::from(element.client_height()),
                scale: window().device_pixel_ratio().max(1.0),
            };
            size.try_maybe_update(|s| (std::mem::replace(s, now) != now, ()));
        },
    );
    size.into()
}

/// Ends in the next frame.
pub async fn next_frame() {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        // A page that is left has no further frames, and nothing to draw.
        let _ = window().request_animation_frame(&resolve);
    });
    let _ = JsFuture::from(promise).await;
}

/// Something to do in the next frame, once, taken back when its owner is gone. `Copy`, as
/// [`crate::controls::use_timer`]'s.
#[derive(Clone, Copy)]
pub(super) struct NextFrame(StoredValue<Option<AnimationFrameRequestHandle>>);

/// A next frame of the present owner, not asked for.
pub(super) fn use_next_frame() -> NextFrame {
    let next = NextFrame(StoredValue::new(None));
    on_cleanup(move || next.cancel());
    next
}

impl NextFrame {
    pub(super) fn ask(self, action: impl FnOnce() + 'static) {
        let request = request_animation_frame_with_handle(move || {
            // `Some` where the owner is gone.
            if self.0.try_set_value(None).is_none() {
                action();
            }
        });
        self.0.try_set_value(request.ok());
    }

    /// Does it not.
    fn cancel(self) {
        if let Some(Some(request)) = self.0.try_update_value(Option::take) {
            request.cancel();
        }
    }

    pub(super) fn is_asked(self) -> bool {
        self.0.try_with_value(Option::is_some).unwrap_or(false)
    }
}

/// The latest value of `source`, taken over at most once a frame and only while `visible`: a
/// figure that nobody sees costs nothing, and one that is seen never falls behind. Where redrawing
/// is slow it is taken over less often (see [`rest_left`]).
///
/// Between a change and the frame that takes it over, and while nobody looks, `source` is not
/// followed: however many messages change it meanwhile, it is not computed for any of them.
pub fn use_frame<T>(source: Signal<T>, visible: Signal<bool>) -> Signal<T>
where
    T: Clone + Send + Sync + 'static,
{
    let shown = RwSignal::new(source.get_untracked());
    let next = use_next_frame();
    // Notified in the frame in which the next value is to be taken over.
    let due = RwSignal::new(false);
    // Whoever has just come into sight has nothing to show yet: the first value does not rest.
    let fresh = StoredValue::new(true);
    effect(move || {
        let due_now = due.get();
        if !visible.get() {
            fresh.set_value(true);
            return;
        }
        let with_others = SHOWING.get();
        if next.is_asked() && !with_others {
            return;
        }
        next.cancel();
        if due_now || with_others && !frame_is_full(FULL_TOGETHER) {
            // In the frame still: what follows from it is drawn in it. Followed from here on; the
            // next change runs this again, which then waits for its frame.
            time_frame();
            shown.set(source.get());
            due.update_untracked(|due| *due = false);
            fresh.set_value(false);
        } else {
            let kept = with_others || fresh.get_value();
            wait_for_frame(next, kept, move || _ = due.try_set(true));
        }
    });
    shown.into()
}

/// Does `draw` in the next frame in which figures do not rest and that is not full. Whoever was `kept`
/// waiting, by a full frame or by being out of sight, does not wait for the end of the rest.
pub(super) fn wait_for_frame(next: NextFrame, kept: bool, draw: impl FnOnce() + 'static) {
    next.ask(move || {
        if !kept && rest_left() > 0.0 {
            wait_for_frame(next, false, draw);
        } else if frame_is_full(FULL) {
            wait_for_frame(next, true, draw);
        } else {
            draw();
        }
    });
}

/// While something trains, `source` as [`use_frame`] takes it over from a frame before, or from longer
/// ago where redrawing is slow; at once otherwise, but for the first change after training. A figure too
/// large to be drawn anew in one frame draws each part after the one before.
pub fn use_turn<T>(source: Signal<T>, visible: Signal<bool>) -> Signal<T>
where
    T: Clone + Send + Sync + 'static,
{
    let late = use_frame(source, visible);
    Signal::derive(move || if is_training() { late.get() } else { source.get() })
}

/// As [`use_frame`] for data worth sharing: what is drawn, read and exported is one snapshot.
pub fn use_latest<T>(source: Signal<T>, visible: Signal<bool>) -> Memo<Arc<T>>
where
    T: Clone + Send + Sync + 'static,
{
    let latest = Memo::new_with_compare(move |_| Arc::new(source.get()), |_, _| true);
    let shown = use_frame(Signal::<Arc<T>>::from(latest), visible);
    Memo::new_with_compare(move |_| shown.get(), |_, _| true)
}

/// Makes the canvas's pixels match its size on screen and returns it cleared, ready to draw on in
/// device pixels. `None` while it has no size.
pub fn prepare(canvas: &HtmlCanvasElement, size: Size) -> Option<CanvasRenderingContext2d> {
    let (width, height) = size.pixels()?;
    // Setting a size reallocates the canvas, even to the same one.
    if (f64::from(canvas.width()), f64::from(canvas.height())) != (width, height) {
        canvas.set_width(width as u32);
        canvas.set_height(height as u32);
    }
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.unchecked_into();
    context.clear_rect(0.0, 0.0, width, height);
    Some(context)
}

/// A canvas that is part of no page.
pub fn hidden_canvas() -> Option<HtmlCanvasElement> {
    Some(document().create_element("canvas").ok()?.unchecked_into())
}

/// Has `write` draw text, in CSS pixels, on a canvas of this size and copies that to the upper left of the
/// other. When a canvas of the page gets a font, the browser styles and lays out the whole page first; one
/// that is in no page spares that.
pub fn with_text(
    context: &CanvasRenderingContext2d,
    size: Size,
    write: impl FnOnce(&CanvasRenderingContext2d) -> Option<()>,
) -> Option<()> {
    let aside = ASIDE.with(|aside| aside.get_or_init(hidden_canvas).clone())?;
    let (width, height) = size.pixels()?;
    // It only grows, for a size that is set is memory that is taken anew.
    if f64::from(aside.width()) < width {
        aside.set_width(width as u32);
    }
    if f64::from(aside.height()) < height {
        aside.set_height(height as u32);
    }
    let text: CanvasRenderingContext2d = aside.get_context("2d").ok()??.unchecked_into();
    text.clear_rect(0.0, 0.0, width, height);
    text.set_transform(size.scale, 0.0, 0.0, size.scale, 0.0, 0.0).ok()?;
    let written = write(&text);
    text.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
    written?;
    context.save();
    let copied = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).and_then(|()| {
        context.draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
            &aside, 0.0, 0.0, width, height, 0.0, 0.0, width, height,
        )
    });
    context.restore();
    copied.ok()
}

/// Puts one RGBA pixel for each cell of a rectangle of `columns` by any number of rows on the
/// canvas.
pub fn put_pixels(canvas: &HtmlCanvasElement, pixels: &[u8], columns: u32) -> Option<()> {
    let rows = pixels.len() as u32 / columns.max(1) / 4;
    if (canvas.width(), canvas.height()) != (columns, rows) {
        canvas.set_width(columns);
        canvas.set_height(rows);
    }
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.unchecked_into();
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(pixels), columns, rows).ok()?;
    context.put_image_data(&image, 0.0, 0.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_lasts_until_the_last_engine_rests() {
        let after = |more| {
            count_training(more);
            is_training()
        };
        assert_eq!([true, true, false, false].map(after), [true, true, true, false]);
        RESTING.set(9.0);
        assert!(after(true) && RESTING.get() == 9.0);
        assert!(!after(false) && RESTING.get() == 0.0);
    }
}
