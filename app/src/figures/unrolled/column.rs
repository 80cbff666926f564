//! One copy of the cell, and the loop that holds the copies not yet laid out.

use core::ops::Range;
use std::sync::Arc;

use leptos::prelude::*;

use super::data::{
    BAR_HEIGHT, BAR_LENGTH, BARS, BARS_Y, COLUMN, Diagram, Face, MIDDLE, MOVED_Y, STRIP_HEIGHT,
    STRIP_WIDTH, STRIP_X, STRIP_Y, TOKEN_SIZE, TOKEN_Y, x_of,
};
use crate::figures::{Hue, token};

/// The parts of a copy that text and formulas speak of too.
pub const W: &str = "w";
pub const U: &str = "u";
pub const V: &str = "v";
pub const INPUT: &str = "input";
pub const STATE: &str = "state";
pub const OUTPUT: &str = "output";

/// The copy at step `t`, from 0.
#[component]
pub fn ColumnView(
    t: usize,
    diagram: Memo<Arc<Diagram>>,
    /// Steps that are drawn at all.
    near: Memo<Range<i64>>,
) -> impl IntoView {
    let away = Memo::new(move |_| near.with(|near| !near.contains(&(t as i64))));
    // What is away follows nothing: it is of the present when it comes near.
    let face = Memo::new(move |last: Option<&Face>| match last {
        Some(last) if away.get() => last.clone(),
        _ => diagram.with(|d| d.columns.get(t).map_or_else(Face::default, |c| c.face.clone())),
    });
    view! {
        <g class:rnn-away=away
            transform=format!("translate({} 0)", x_of(t)) data-testid=format!("rnn-column-{}", t + 1)>
            <text class="rnn-time" x=MIDDLE y="14">{format!("t = {}", t + 1)}</text>
            <Cell face/>
            <Arrow part=U label="U" path=from_before()/>
        </g>
    }
    .into_any()
}

/// The loop: one cell that stands for all steps that are not unrolled.
#[component]
pub fn LoopView(diagram: Memo<Arc<Diagram>>) -> impl IntoView {
    let face = Memo::new(move |_| {
        let last = diagram.with(|d| d.columns.last().map(|c| c.face.clone()));
        Face { token: String::new(), replaced: None, ..last.unwrap_or_default() }
    });
    let at = move || diagram.with(|d| x_of(d.unrolled));
    let time = move || {
        diagram.with(|d| match (d.unrolled + 1, d.length()) {
            (first, last) if first >= last => format!("t = {last}"),
            (first, last) => format!("t = {first} … {last}"),
        })
    };
    let rest = move || {
        diagram.with(|d| {
            let rest = d.columns[d.unrolled..].iter().map(|c| c.face.token.as_str());
            token::short_mark(&rest.collect::<String>(), 9)
        })
    };
    let count = move || {
        diagram.with(|d| match d.length() - d.unrolled {
            1 => "once".to_owned(),
            n => format!("{n} times"),
        })
    };
    let mid = STRIP_Y + STRIP_HEIGHT / 2.0;
    let right = STRIP_X + STRIP_WIDTH;
    // The head points along the end of the curve.
    let (x, end) = (right + 3.0, mid + 26.0);
    let far = right + 66.0;
    let circle = format!(
        "M{right} {} C{far} {}, {far} {}, {x} {end} l4.2 6.8 M{x} {end} l8 -0.2",
        mid - 26.0,
        mid - 60.0,
        mid + 60.0,
    );
    view! {
        <g class="rnn-loop" transform=move || format!("translate({} 0)", at()) data-testid="rnn-loop">
            <text class="rnn-time" x=MIDDLE y="14">{time}</text>
            <Cell face/>
            <Arrow part=U label="U" path=from_before()/>
            <g data-part=U class=format!("rnn-arrow {}", Hue::Weight.class())>
                <rect class="rnn-hit" x=right y=mid - 46.0 width="60" height="92" rx="6"/>
                <path d=circle/>
                <text x=right + 58.0 y=mid + 4.0>"U"</text>
            </g>
            <text class="rnn-rest" x=MIDDLE y=TOKEN_Y + 19.0>{rest}</text>
            <text class="rnn-small" x=right + 40.0 y=mid + 64.0>{count}</text>
        </g>
    }
    .into_any()
}

/// What `U` comes along: from the state before, left of the column.
fn from_before() -> String {
    let y = STRIP_Y + STRIP_HEIGHT / 2.0;
    let from = STRIP_X + STRIP_WIDTH - COLUMN + 2.0;
    format!(
        "M{from} {y}H{} M{} {}L{} {y}L{} {}",
        STRIP_X - 3.0,
        STRIP_X - 9.0,
        y - 5.0,
        STRIP_X - 2.0,
        STRIP_X - 9.0,
        y + 5.0
    )
}

/// Input, state and output with the arrows between them.
#[component]
fn Cell(face: Memo<Face>) -> impl IntoView {
    let read_out = Memo::new(move |_| face.with(|f| f.output.is_some()));
    let up = |from: f64, to: f64| {
        format!(
            "M{MIDDLE} {from}V{to} M{} {}L{MIDDLE} {}L{} {}",
            MIDDLE - 5.0,
            to + 7.0,
            to,
            MIDDLE + 5.0,
            to + 7.0
        )
    };
    let token = move || face.with(|f| token::mark(&f.token));
    let replaced =
        move || face.with(|f| f.replaced.as_deref().map(token::mark)).unwrap_or_default();
    let unknown = move || face.with(|f| f.token == token::UNKNOWN);
    let edited = move || face.with(|f| f.replaced.is_some());
    let boxed = move || face.with(|f| !f.token.is_empty());
    let moved = Memo::new(move |_| face.with(|f| f.moved));
    let moved_text = move || match moved.get() {
        None => String::new(),
        Some(0.0) => "Δ 0".to_owned(),
        Some(moved) => format!("Δ {}", rounded(moved)),
    };
    // Most that two states of tanh units of this many could differ is far more; what occurs is
    // seen best on a scale that ends at 4.
    let moved_width =
        move || f64::from(moved.get().unwrap_or(0.0).min(4.0)) / 4.0 * (COLUMN - 12.0);
    view! {
        <Show when=move || read_out.get()>
            <Arrow part=V label="V" path=up(STRIP_Y - 2.0, BARS_Y + BAR_HEIGHT * BARS as f64 + 4.0)/>
            <OutputView face/>
        </Show>
        <rect class="rnn-strip" data-part=STATE x=STRIP_X - 0.5 y=STRIP_Y - 0.5
            width=STRIP_WIDTH + 1.0 height=STRIP_HEIGHT + 1.0/>
        <Arrow part=W label="W" path=up(TOKEN_Y - 2.0, STRIP_Y + STRIP_HEIGHT + 4.0)/>
        <g class="rnn-token" class:unknown=unknown class:edited=edited data-part=INPUT>
            <rect x=STRIP_X y=TOKEN_Y width=TOKEN_SIZE height=TOKEN_SIZE rx="4"
                style:display=move || if boxed() { "" } else { "none" }/>
            <text x=MIDDLE y=TOKEN_Y + 19.0>{token}</text>
            <text class="rnn-replaced" x=STRIP_X + TOKEN_SIZE + 6.0 y=TOKEN_Y + 19.0>{replaced}</text>
        </g>
        <rect class="rnn-moved" x="6" y=MOVED_Y width=moved_width height="8"/>
        <text class="rnn-small" x=MIDDLE y=MOVED_Y + 22.0>{moved_text}</text>
    }
    .into_any()
}

/// Two decimals; what would round to 0 without being it says so.
fn rounded(value: f32) -> String {
    if value > 0.0 && value < 0.005 { "<0.01".to_owned() } else { format!("{value:.2}") }
}

/// A character as it stands on axes, a word as it is.
pub fn name_of(class: &str) -> String {
    if is_word(class) { class.to_owned() } else { token::mark(class) }
}

fn is_word(class: &str) -> bool {
    class.chars().nth(1).is_some()
}

/// The likeliest outputs as bars, and above them the truth.
#[component]
fn OutputView(face: Memo<Face>) -> impl IntoView {
    let output = Memo::new(move |_| face.with(|f| f.output.clone().unwrap_or_default()));
    let target = move || {
        output.with(|o| match &o.target {
            None => "end of text".to_owned(),
            Some((name, _)) if is_word(name) => format!("✓ {name}"),
            Some((name, p)) => format!("✓ {} {}", name_of(name), rounded(*p)),
        })
    };
    let loss = move || {
        output.with(|o| match (&o.target, o.loss()) {
            (Some((name, p)), Some(loss)) if is_word(name) => {
                format!("p {}, loss {loss:.2}", rounded(*p))
            }
            (_, Some(loss)) => format!("loss {loss:.2}"),
            _ => String::new(),
        })
    };
    // Words get more room than letters, and bars less.
    let words = Memo::new(move |_| output.with(|o| o.bars.iter().any(|(name, _)| is_word(name))));
    let start = move || if words.get() { 4.0 } else { 20.0 };
    let bars = move || {
        output.with(|o| {
            let bars = o.bars.iter().enumerate().map(|(i, (_, p))| {
                let y = BARS_Y + BAR_HEIGHT * i as f64 + 3.0;
                let length = BAR_LENGTH * f64::from(*p);
                format!("M{} {y}h{length:.1}v9h-{length:.1}z", start())
            });
            bars.collect::<String>()
        })
    };
    let label = move |i: usize| {
        let name =
            move || output.with(|o| o.bars.get(i).map_or(String::new(), |(name, _)| name_of(name)));
        let y = BARS_Y + BAR_HEIGHT * i as f64 + 11.0;
        view! { <text class="rnn-bar-name" x=move || if words.get() { 6.0 } else { 9.0 } y=y>{name}</text> }
    };
    view! {
        <g data-part=OUTPUT class=Hue::Output.class()>
            <rect class="rnn-hit" x="2" y="20" width=COLUMN - 6.0 height=BARS_Y + BAR_HEIGHT * BARS as f64 - 20.0 rx="6"/>
            <text class="rnn-target" x=MIDDLE y="34">{target}</text>
            <text class="rnn-small" x=MIDDLE y="50">{loss}</text>
            <path class="rnn-bars" class:rnn-bars-words=words d=bars/>
            {(0..BARS).map(label).collect_view()}
        </g>
    }
    .into_any()
}

/// An arrow that carries one of the shared matrices.
#[component]
fn Arrow(part: &'static str, label: &'static str, path: String) -> impl IntoView {
    let (x, y, hit) = match part {
        W => (MIDDLE + 16.0, TOKEN_Y - 9.0, (STRIP_X - 4.0, TOKEN_Y - 28.0, 42.0, 26.0)),
        V => (MIDDLE + 16.0, STRIP_Y - 7.0, (STRIP_X - 4.0, STRIP_Y - 26.0, 42.0, 24.0)),
        _ => (
            0.0,
            STRIP_Y + STRIP_HEIGHT / 2.0 - 9.0,
            (
                STRIP_X + STRIP_WIDTH - COLUMN + 3.0,
                STRIP_Y + STRIP_HEIGHT / 2.0 - 28.0,
                COLUMN - STRIP_WIDTH - 6.0,
                42.0,
            ),
        ),
    };
    let (left, top, width, height) = hit;
    view! {
        <g data-part=part class=format!("rnn-arrow {}", Hue::Weight.class())>
            <rect class="rnn-hit" x=left y=top width=width height=height rx="6"/>
            <path d=path/>
            <text x=x y=y>{label}</text>
        </g>
    }
    .into_any()
}
