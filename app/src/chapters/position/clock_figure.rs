//! A sinusoidal position as a clock: each pair of dimensions is the tip of a hand.

use core::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::reactive::memo;
use leptos::{ev, html, prelude::*};
use unroll_protocol::study::position::Clock;
use web_sys::Element;

use super::clock_export::{Drawn, clock_csv, clock_json, clock_svg, tip};
use crate::controls::grouped;
use crate::figures::{
    canvas::use_latest,
    drag::dragging,
    export::Provenance,
    frame::{Files, Frame, choices},
    reading::is_shortcut,
    sight::use_visible,
    theme::use_colors,
};

/// Length of a hand in the picture's units: of the fastest, and of a slower one beside it, as on a clock.
const LONG: f64 = 88.0;
const SHORT: f64 = 60.0;
/// So far along its hand a name stands.
const NAMED_AT: f64 = 0.55;
/// Width of the whole picture.
const FACE: f64 = 204.0;

/// How fast a hand turns by so many radians each position.
fn pace(frequency: f64) -> String {
    let turn = TAU / frequency;
    let turn = if turn < 100.0 { format!("{turn:.1}") } else { grouped(turn.round() as u64) };
    format!("a full turn every {turn}\u{a0}positions")
}

/// How long the hand of the chosen pair is: the fastest is the long one.
fn lit_length(pair: usize) -> f64 {
    if pair == 0 { LONG } else { SHORT }
}

/// A line from the middle to the tip.
fn hand(encoding: &[f64], pair: usize, length: f64, class: &'static str) -> Option<AnyView> {
    let (x, y) = tip(encoding, pair, length)?;
    let (x, y) = (format!("{x:.2}"), format!("{y:.2}"));
    Some(
        view! {
            <line class=class x1="0" y1="0" x2=x.clone() y2=y.clone()></line>
            <circle class=class cx=x cy=y r="4"></circle>
        }
        .into_any(),
    )
}

/// The name of a hand beside it, on the side where the other hands leave more room.
fn hand_name(
    clock: &Clock,
    (pair, other): (usize, usize),
    length: f64,
    class: &'static str,
) -> Option<AnyView> {
    let (x, y) = tip(&clock.here, pair, 1.0)?;
    let room = |way: f64| {
        // The other hand has a name, too: half of what lies between is for that.
        let hands =
            [(&clock.here, other, 0.5), (&clock.there, other, 1.0), (&clock.there, pair, 1.0)];
        let rooms = hands.into_iter().filter_map(|(encoding, hand, part)| {
            let (to_x, to_y) = tip(encoding, hand, 1.0)?;
            let angle = way * (x * to_y - y * to_x).atan2(x * to_x + y * to_y);
            // Without a shift, or with one hand alone, it is itself among them.
            (angle != 0.0).then(|| part * angle.rem_euclid(TAU))
        });
        rooms.fold(TAU, f64::min)
    };
    let side = if room(1.0) < room(-1.0) { 1.0 } else { -1.0 };
    let (across, down) = (side * y, -side * x);
    let at = |along: f64| 50.0 + along * length * NAMED_AT * 100.0 / FACE;
    // Its own half, and a little more, away from the hand: also of a tilted one, that a corner would meet.
    let off = |part: f64| {
        let own = 50.0 * (2.0 * part).clamp(-1.0, 1.0) - 50.0;
        format!("calc({own:.2}% + {:.2}px)", 7.0 * part)
    };
    let place =
        format!("left:{:.2}%;top:{:.2}%;translate:{} {}", at(x), at(y), off(across), off(down));
    let speed = if pair == 0 { "fastest" } else { "slower" };
    // On a small dial the speed alone has room.
    let dimensions = format!("{}, {}: ", 2 * pair, 2 * pair + 1);
    Some(view! { <span class=class style=place><span>{dimensions}</span>{speed}</span> }.into_any())
}

/// What is dragged: a hand where it stands, or where it is `k` positions on.
#[derive(Clone, Copy)]
struct Drag {
    later: bool,
    /// Where the pointer was, in radians from 12 o'clock.
    angle: f64,
    /// The hand's radians for each position.
    speed: f64,
    /// The position, or `k`, with its fraction.
    reached: f64,
}

/// Two hands of the clock, the fastest and that of `pair` (from 0), where they stand now and,
/// dashed, `k` positions on. Dragging a hand or the arrow keys give a new position to `go`, dragging
/// a dashed hand a new k to `shift`; every pair has a small clock that chooses it.
#[component]
pub fn ClockFigure(
    #[prop(into)] clock: Signal<Option<Arc<Clock>>>,
    #[prop(into)] pair: Signal<usize>,
    go: Callback<u32>,
    shift: Callback<u32>,
    choose: Callback<usize>,
    #[prop(into)] provenance: Signal<Provenance>,
) -> impl IntoView {
    let dial = NodeRef::<html::Div>::new();
    let held = RwSignal::new(None::<Drag>);
    let count = memo(move || clock.with(|c| c.as_ref().map_or(0, |c| c.frequencies.len())));
    let pair = memo(move || pair.get().min(count.get().saturating_sub(1)));

    let angle_of = move |e: &ev::PointerEvent| {
        let dial = dial.get_untracked()?;
        let dial: &Element = &dial;
        let place = dial.get_bounding_client_rect();
        let x = f64::from(e.client_x()) - place.left() - place.width() / 2.0;
        let y = f64::from(e.client_y()) - place.top() - place.height() / 2.0;
        Some(x.atan2(-y))
    };
    let take = move |e: &ev::PointerEvent| {
        let (angle, clock) = (angle_of(e)?, clock.get_untracked()?);
        let away = |encoding: &[f64], pair: usize| {
            let angle_of = tip(encoding, pair, 1.0).map_or(0.0, |(x, y)| x.atan2(-y));
            let turn = (angle_of - angle).rem_euclid(TAU);
            turn.min(TAU - turn)
        };
        // The hand that points there; of two that do, the one that is drawn over the other.
        let lit = pair.get_untracked();
        let mut held = (lit, false, away(&clock.here, lit));
        let later = (clock.k > 0).then_some(&clock.there);
        for (pair, encoding, is_later) in
            [(0, Some(&clock.here), false), (lit, later, true), (0, later, true)]
        {
            let away = encoding.map_or(f64::INFINITY, |encoding| away(encoding, pair));
            if away < held.2 {
                held = (pair, is_later, away);
            }
        }
        let (pair, later, _) = held;
        let speed = clock.frequencies.get(pair).copied().unwrap_or(1.0);
        let reached = f64::from(if later { clock.k } else { clock.at });
        Some(Drag { later, angle, speed, reached })
    };
    let drag = move |e: &ev::PointerEvent, now: Drag| {
        let Some(angle) = angle_of(e) else { return };
        let turn = (angle - now.angle + PI).rem_euclid(TAU) - PI;
        let reached = (now.reached + turn / now.speed).max(0.0);
        held.set(Some(Drag { angle, reached, ..now }));
        let to = if now.later { shift } else { go };
        to.run(reached.round() as u32);
    };
    let on_key = move |e: ev::KeyboardEvent| {
        if is_shortcut(&e) {
            return;
        }
        let Some(at) = clock.with_untracked(|c| c.as_ref().map(|c| c.at)) else { return };
        let to = match e.key().as_str() {
            "ArrowRight" | "ArrowUp" => at.saturating_add(1),
            "ArrowLeft" | "ArrowDown" => at.saturating_sub(1),
            "Home" => 0,
            _ => return,
        };
        e.prevent_default();
        go.run(to);
    };
    let is_shifted = memo(move || clock.with(|c| c.as_ref().is_some_and(|c| c.k > 0)));
    let at = move || clock.with(|c| c.as_ref().map_or(0, |c| c.at));
    let said = move || {
        clock.with(|clock| {
            clock.as_ref().map_or(String::new(), |clock| {
                let lit = pair.get();
                let each = |of: usize| {
                    // A value stays on the line of its name.
                    format!(
                        "Dimensions {} and {}, {}: sin\u{a0}{:.4}, cos\u{a0}{:.4}.",
                        2 * of,
                        2 * of + 1,
                        pace(clock.frequencies[of]),
                        clock.here[2 * of],
                        clock.here[2 * of + 1]
                    )
                };
                let other = (lit != 0).then(|| format!(" {}", each(lit)));
                let text =
                    format!("Position {}. {}{}", clock.at, each(0), other.unwrap_or_default());
                text.replace('-', "−")
            })
        })
    };
    let hands = move || {
        clock.with(|clock| {
            let clock = clock.as_ref()?;
            let lit = pair.get();
            let of = |encoding: &[f64], names: [&'static str; 2]| {
                [
                    (lit != 0).then(|| hand(encoding, 0, LONG, names[0])).flatten(),
                    hand(encoding, lit, lit_length(lit), names[1]),
                ]
            };
            Some(
                view! {
                    {(clock.k > 0).then(|| of(&clock.there, ["clock-fast clock-later", "clock-lit clock-later"]))}
                    {of(&clock.here, ["clock-fast", "clock-lit"])}
                }
                .into_any(),
            )
        })
    };
    let names = move || {
        clock.with(|clock| {
            let clock = clock.as_ref()?;
            let lit = pair.get();
            // Where it is alone there is no other hand to keep away from.
            let fast = (lit != 0)
                .then(|| hand_name(clock, (0, lit), LONG, "clock-name clock-name-fast"))
                .flatten();
            Some([fast, hand_name(clock, (lit, 0), lit_length(lit), "clock-name")])
        })
    };
    let small = move |of: usize| {
        let speed = move || {
            clock.with(|c| {
                c.as_ref().and_then(|c| c.frequencies.get(of).copied()).map_or(String::new(), pace)
            })
        };
        let name = move || format!("Dimensions {}, {}: {}", 2 * of, 2 * of + 1, speed());
        view! {
            <button type="button" class="clock-small" data-testid=format!("clock-pair-{}", of + 1)
                aria-pressed=move || (pair.get() == of).to_string() aria-label=name title=name
                on:click=move |_| choose.run(of)>
                <svg viewBox="-22 -22 44 44" aria-hidden="true">
                    <circle class="clock-face" cx="0" cy="0" r="20"></circle>
                    {move || clock.with(|c| hand(&c.as_ref()?.here, of, 16.0, "clock-lit"))}
                </svg>
                <span aria-hidden="true">{format!("{}, {}", 2 * of, 2 * of + 1)}</span>
            </button>
        }
    };
    let root = NodeRef::<html::Section>::new();
    let colors = use_colors();
    let source = Signal::derive(move || Drawn { clock: clock.get(), pair: pair.get() });
    let drawn = use_latest(source, use_visible(root));
    let empty = Signal::derive(move || count.get() == 0);
    let title = Signal::derive(move || format!("Position {} as hands of a clock", at()));
    let none = Signal::stored(None);
    let files = Files { json: clock_json, csv: clock_csv, svg: clock_svg };
    let tick = |hour: usize| {
        let turned = format!("rotate({})", 30 * hour);
        view! { <line class="clock-tick" y1="-94" y2="-100" transform=turned></line> }
    };
    view! {
        <Frame name="clock" kind="clock" title root empty choices=choices("clock", title, drawn, none, provenance, colors, files)>
            <div class="figure-box clock-box">
                <div class="clock-parts">
                    <div {..dragging(held, take, drag)} class="clock-dial" node_ref=dial tabindex="0" role="slider" data-testid="clock-dial"
                        aria-label="Position" aria-valuemin="0" aria-valuenow=move || at().to_string()
                        aria-valuetext=said on:keydown=on_key>
                        <svg viewBox="-102 -102 204 204" aria-hidden="true">
                            <circle class="clock-face" cx="0" cy="0" r="100"></circle>
                            {(0..12).map(tick).collect_view()}
                            {hands}
                        </svg>
                        <div aria-hidden="true">{names}</div>
                    </div>
                    <div class="clock-all" role="group" aria-label="All pairs of dimensions">
                        {move || (0..count.get()).map(small).collect_view()}
                    </div>
                </div>
            </div>
            <p class="panel-note">
                "A hand for each pair of dimensions: sine to the right, cosine upward. Drag one."
                {move || is_shifted.get().then_some(" Dashed: k positions on.")}
            </p>
            <p class="readout clock-said" data-testid="clock-said">{said}</p>
        </Frame>
    }
    .into_any()
}
