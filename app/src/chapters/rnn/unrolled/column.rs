//! One copy of the cell, and the loop that holds the copies not yet laid out.

use core::ops::Range;
use std::sync::Arc;

use leptos::prelude::*;

use super::{
    data::{BARS, Diagram, Face},
    lap::Lap,
    layout::{Layout, Places},
};
use crate::{
    figures::{Hue, motion::is_still, percent, token},
    reactive::memo,
};

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
    diagram: Signal<Arc<Diagram>>,
    layout: Memo<Layout>,
    /// Where it stands, on its way there too.
    places: Memo<Arc<Places>>,
    /// Steps that are drawn at all.
    near: Memo<Range<i64>>,
    /// The step that is pointed at.
    pointed: Memo<Option<usize>>,
) -> impl IntoView {
    let away = memo(move || near.with(|near| !near.contains(&(t as i64))));
    // What is away follows nothing: it is of the present when it comes near.
    let face = Memo::new(move |last: Option<&Face>| match last {
        Some(last) if away.get() => last.clone(),
        _ => diagram.with(|d| d.columns.get(t).map_or_else(Face::default, |c| c.face.clone())),
    });
    let layout = Memo::new(move |last: Option<&Layout>| match last {
        Some(last) if away.get() => *last,
        _ => layout.get(),
    });
    let x = move || places.with(|p| p.columns.get(t).copied().unwrap_or_default());
    // Where there is no room for the letters of all copies, they stand at one, and where one points.
    let named = memo(move || t == 0 || !layout.get().is_tight() || pointed.get() == Some(t));
    view! {
        <g class:rnn-away=away class:rnn-unnamed=move || !named.get()
            transform=move || format!("translate({:.1} 0)", x())
            data-testid=format!("rnn-column-{}", t + 1)>
            <text class="rnn-time" x=move || layout.get().middle() y=move || layout.get().time_foot()>
                {move || time_at(&layout.get(), t)}
            </text>
            <Cell face layout/>
            <Arrow part=U label="U" layout path=Signal::derive(move || from_before(&layout.get()))/>
        </g>
    }
    .into_any()
}

/// The loop: one cell that stands for all steps that are not unrolled, and shows the first of them.
#[component]
pub fn LoopView(
    diagram: Memo<Arc<Diagram>>,
    /// What goes around it.
    lap: Lap,
    layout: Memo<Layout>,
    /// Where it stands, on its way there too.
    places: Memo<Arc<Places>>,
    /// Width of what is in view.
    seen: Signal<f64>,
) -> impl IntoView {
    // All that stands at the cell is of one step.
    let step = memo(move || diagram.with(|d| d.loop_step(lap.at.get())));
    let face = memo(move || {
        let face = diagram.with(|d| d.columns.get(step.get()).map(|c| c.face.clone()));
        Face { token: String::new(), replaced: None, ..face.unwrap_or_default() }
    });
    let at = move || places.with(|p| p.rest.unwrap_or_default());
    let ahead = memo(move || layout.get().ahead > 0);
    // What the cell reads and, where they have places of their own, each that is to come; or all from what is
    // read on, in letters as far as one sees, but at least over the column and the loop.
    let rest = move || {
        diagram.with(|d| {
            let from = |first: usize, room: usize| {
                let rest = d.columns.iter().skip(first).map(|c| c.face.token.as_str());
                token::short_mark(&rest.collect::<String>(), room)
            };
            layout.with(|l| {
                if l.ahead > 0 {
                    let read = d.columns.get(step.get()).map(|c| token::mark(&c.face.token));
                    return read.unwrap_or_default() + &from(l.first_ahead(), l.ahead);
                }
                let reach = seen.get() - l.x_of(l.unrolled);
                let room = reach.max(l.column + l.loop_reach()) - l.letters_left();
                from(step.get(), (room / (0.78 * l.text)) as usize)
            })
        })
    };
    // Before the character that is followed, that one, and after it.
    let rest = memo(move || {
        let rest = rest();
        let place = |rest: &str, n| rest.char_indices().nth(n).map_or(rest.len(), |(at, _)| at);
        let (from, to) = match lap.at.get() {
            // Behind that of the cell.
            Some(t) if ahead.get() => (place(&rest, t + 1), place(&rest, t + 2)),
            Some(_) => (0, place(&rest, 1)),
            None => (place(&rest, 1), place(&rest, 1)),
        };
        [&rest[..from], &rest[from..to], &rest[to..]].map(str::to_owned)
    });
    let right = move || layout.with(|l| l.strip_x() + l.strip_width());
    // How far the curve's ends stand from the strip's middle.
    let spread = move || layout.with(|l| (0.16 * l.strip_height).clamp(12.0, 64.0));
    let far = move || layout.with(|l| l.strip_x() + l.loop_reach());
    let mid = move || layout.get().strip_middle();
    let label_x = move || right() + far() - 10.0;
    // Under the loop or, above a band, beside it, within what is in sight.
    let count_x = move || {
        layout.with(|l| match l.banded {
            true => (label_x() + 38.0).min(l.width() - l.x_of(l.unrolled) - 28.0),
            false => right() + 0.5 * far() + 4.0,
        })
    };
    let count_y = move || {
        layout.with(|l| match l.banded {
            true => mid() - 0.2 * l.text,
            false => mid() + 1.7 * spread() + 1.5 * l.text,
        })
    };
    let is_low = move || layout.with(|l| !l.banded && count_y() + 1.4 * l.text > l.token_y);
    let count = move || {
        // The first of the steps in it takes U from the column before.
        diagram.with(|d| match d.length().saturating_sub(step.get() + 1) {
            0 => [String::new(), String::new()],
            1 => ["once ".to_owned(), "more".to_owned()],
            // “Times” would stand over the letters.
            n if is_low() => [format!("{n} more"), String::new()],
            n => [format!("{n} more "), "times".to_owned()],
        })
    };
    let circle = memo(move || {
        let (right, mid, spread) = (right(), layout.get().strip_middle(), spread());
        // A curve reaches three quarters of the way to its handles; beyond it stands the label.
        let handle = right + (far() - 22.0) / 0.75;
        let (x, end) = (right + 3.0, mid + spread);
        let curve = format!(
            "M{right} {} C{handle} {}, {handle} {}, {x} {end}",
            mid - spread,
            mid - 2.4 * spread,
            mid + 2.4 * spread,
        );
        // The head points along the end of the curve.
        (curve, format!(" l4.2 6.8 M{x} {end} l8 -0.2"))
    });
    // A new dot for each step: its way begins anew. The last state does not come back.
    let dot = move || {
        let length = diagram.with_untracked(|d| d.length());
        lap.at.get().filter(|t| t + 1 < length && lap.plays.get() && !is_still()).map(|_| {
            let way = circle.with(|(curve, _)| format!("offset-path: path(\"{curve}\")"));
            view! { <circle class="rnn-dot" r="7" style=way/> }
        })
    };
    view! {
        <g class="rnn-loop" transform=move || format!("translate({} 0)", at()) data-testid="rnn-loop">
            <text class="rnn-time" x=move || layout.get().middle() y=move || layout.get().time_foot()>
                {move || time_at(&layout.get(), step.get())}
            </text>
            <Cell face layout/>
            // From the second lap on, U takes what came around the loop.
            <g class:rnn-behind=move || layout.get().unrolled < step.get()>
                <Arrow part=U label="U" layout path=Signal::derive(move || from_before(&layout.get()))/>
            </g>
            <g data-part=U class=format!("rnn-arrow {}", Hue::Weight.class())>
                <rect class="rnn-hit" x=right y=move || mid() - 2.0 * spread() width=far
                    height=move || 4.0 * spread() rx="6"/>
                <path d=move || circle.with(|(curve, head)| format!("{curve}{head}"))/>
                <text x=label_x y=move || mid() + 5.0>"U"</text>
            </g>
            {dot}
            <path class="rnn-ghosts" d=move || layout.with(|l| l.outlines_ahead(lap.count()))/>
            <text class="rnn-rest" x=move || layout.with(Layout::letters_x)
                y=move || layout.with(Layout::letters_y)
                style:font-size=move || format!("{:.1}px", layout.with(Layout::letters))
                style:text-anchor=move || if ahead.get() { "middle" } else { "start" }>
                {move || rest.get()[0].clone()}
                <tspan class="rnn-now">{move || rest.get()[1].clone()}</tspan>
                <tspan class="rnn-ahead">{move || rest.get()[2].clone()}</tspan>
            </text>
            <text class="rnn-small" y=count_y>
                <tspan x=count_x>{move || count()[0].clone()}</tspan>
                <tspan x=count_x dy="1.2em">{move || count()[1].clone()}</tspan>
            </text>
        </g>
    }
    .into_any()
}

/// What is written above the column of step `t`, from 0.
fn time_at(layout: &Layout, t: usize) -> String {
    if layout.is_roomy() { format!("t = {}", t + 1) } else { (t + 1).to_string() }
}

/// What `U` comes along: from the state before, left of the column.
fn from_before(l: &Layout) -> String {
    let y = l.strip_middle();
    let (from, to) = (l.strip_x() + l.strip_width() - l.column + 2.0, l.strip_x() - 3.0);
    format!("M{from} {y}H{to} M{0} {1}L{to} {y}L{0} {2}", to - 6.0, y - 5.0, y + 5.0)
}

/// An arrow upwards in the middle of a column.
fn up(l: &Layout, from: f64, to: f64) -> String {
    let (x, head) = (l.middle(), to + 7.0);
    format!("M{x} {from}V{to} M{} {head}L{x} {to}L{} {head}", x - 5.0, x + 5.0)
}

/// Input, state and output with the arrows between them.
#[component]
fn Cell(face: Memo<Face>, layout: Memo<Layout>) -> impl IntoView {
    let read_out = memo(move || face.with(|f| f.output.is_some()));
    let to_output =
        Signal::derive(move || layout.with(|l| up(l, l.strip_y - 2.0, l.arrow_end() + 4.0)));
    let to_state = Signal::derive(move || {
        layout.with(|l| up(l, l.token_y - 2.0, l.strip_y + l.strip_height + 4.0))
    });
    let token = move || face.with(|f| token::mark(&f.token));
    let replaced = move || {
        let replaced = face.with(|f| f.replaced.as_deref().map(token::mark));
        replaced.filter(|_| !layout.get().is_tight()).unwrap_or_default()
    };
    let unknown = move || face.with(|f| f.token == token::UNKNOWN);
    let edited = move || face.with(|f| f.replaced.is_some());
    let boxed = move || face.with(|f| !f.token.is_empty());
    let token_x = move || layout.with(|l| l.middle() - l.token_size / 2.0);
    let moved = memo(move || face.with(|f| f.moved));
    let moved_text = move || match moved.get() {
        None => String::new(),
        Some(0.0) => "Δ 0".to_owned(),
        Some(moved) if layout.get().is_roomy() => format!("Δ {}", rounded(moved)),
        Some(moved) => fitted(moved, &layout.get()),
    };
    // Most that two states of tanh units of this many could differ is far more; what occurs is
    // seen best on a scale that ends at 4.
    let moved_width = move || {
        let share = f64::from(moved.get().unwrap_or(0.0).min(4.0)) / 4.0;
        share * (layout.get().column - 8.0)
    };
    let middle = move || layout.get().middle();
    view! {
        <Show when=move || read_out.get()>
            <Arrow part=V label="V" layout path=to_output/>
            <OutputView face layout/>
        </Show>
        <rect class="rnn-strip" data-part=STATE x=move || layout.get().strip_x() - 0.5
            y=move || layout.get().strip_y - 0.5 width=move || layout.get().strip_width() + 1.0
            height=move || layout.get().strip_height + 1.0 rx="2"/>
        <Arrow part=W label="W" layout path=to_state/>
        <g class="rnn-token" class:unknown=unknown class:edited=edited data-part=INPUT
            style:font-size=move || format!("{:.0}px", 0.62 * layout.get().token_size)>
            <rect x=token_x y=move || layout.get().token_y width=move || layout.get().token_size
                height=move || layout.get().token_size rx="6"
                style:display=move || if boxed() { "" } else { "none" }/>
            <text x=middle y=move || layout.with(|l| l.token_y + 0.7 * l.token_size)>{token}</text>
            <text class="rnn-replaced" x=move || layout.with(|l| l.middle() + l.token_size / 2.0 + 2.0)
                y=move || layout.get().token_y + 12.0>{replaced}</text>
        </g>
        <rect class="rnn-moved" x="4" y=move || layout.get().moved_y width=moved_width height="8"/>
        <text class="rnn-small" x=middle y=move || layout.get().moved_end()>{moved_text}</text>
    }
    .into_any()
}

/// Two decimals; what would round to 0 without being it says so.
fn rounded(value: f32) -> String {
    if value > 0.0 && value < 0.005 { "<0.01".to_owned() } else { format!("{value:.2}") }
}

/// With as many decimals as a column has room for.
fn fitted(value: f32, layout: &Layout) -> String {
    match value {
        _ if !layout.is_tight() => rounded(value),
        0.0..0.1 => "<.1".to_owned(),
        _ => format!("{value:.1}"),
    }
}

/// A character as it stands on axes, a word as it is.
pub fn name_of(class: &str) -> String {
    if is_word(class) { class.to_owned() } else { token::mark(class) }
}

fn is_word(class: &str) -> bool {
    class.chars().nth(1).is_some()
}

/// What words need where there is room for letters only.
const WORDS: f64 = 96.0;
/// Share of a column that has room to spare: its bars stand over the strip's middle.
const CENTERED: f64 = 0.76;
/// Where each bar has its number beside it and the list the whole column; and the number's room, in letters.
const NUMBERED: f64 = 100.0;
const NUMBER: f64 = 2.7;

/// The likeliest outputs as bars, the likeliest on top, right under the truth that it is compared with,
/// or where many columns are drawn the likeliest alone; then the loss.
#[component]
fn OutputView(face: Memo<Face>, layout: Memo<Layout>) -> impl IntoView {
    let output = memo(move || face.with(|f| f.output.clone().unwrap_or_default()));
    let words = memo(move || output.with(|o| o.bars.iter().any(|(name, _)| is_word(name))));
    let numbered =
        memo(move || !words.get() && layout.with(|l| !l.one_guess && l.column >= NUMBERED));
    // Words stand where only the last step is read out, and reach over those before.
    let width = memo(move || {
        let l = layout.get();
        match words.get() {
            true => l.column.max(WORDS),
            false if l.is_roomy() && !numbered.get() => CENTERED * l.column,
            false => l.column,
        }
    });
    let left = move || {
        let spare = layout.get().column - width.get();
        if words.get() { spare } else { spare / 2.0 }
    };
    let one_guess = memo(move || layout.get().one_guess);
    let heads = move || layout.get().told();
    let target = move || {
        if heads() < 1 {
            return String::new();
        }
        output.with(|o| {
            let Some((name, p)) = &o.target else { return "end".to_owned() };
            let said = format!("{} p={}", name_of(name), rounded(*p)).replace("=<", "<");
            // Its letters all have the same width, and one is free before the next column's.
            let room = layout.with(|l| l.column / (0.62 * l.told_size)) as usize;
            if is_word(name) || said.chars().count() >= room { name_of(name) } else { said }
        })
    };
    let loss = move || {
        if heads() < 2 {
            return String::new();
        }
        // The text ends: nothing comes that the guess could be compared with.
        output.with(|o| o.loss().map_or_else(|| "–".to_owned(), |loss| fitted(loss, &layout.get())))
    };
    let row = move |i: usize| layout.with(|l| l.bars_y + l.bar_height * i as f64);
    let shown = move |i: usize| i < layout.get().bars;
    // Bars under their names have the whole width, and what height the letters leave.
    let under = memo(move || words.get() || layout.get().is_tight());
    let told_size = move || format!("{}px", layout.get().told_size);
    let start = move || if under.get() { 3.0 } else { 1.3 * layout.get().text };
    // What a probability of 1 would be as long as.
    let reach = move || {
        let number = if numbered.get() { NUMBER * layout.get().text } else { 0.0 };
        width.get() - start() - 4.0 - number
    };
    let thick = move || layout.with(|l| (l.bar_height - l.text - 2.0).clamp(1.0, 3.0));
    let is_true = move |i: usize| {
        output.with(|o| {
            let name = o.bars.get(i).map(|bar| &bar.0);
            name.is_some() && name == o.target.as_ref().map(|target| &target.0)
        })
    };
    let bar = move |i: usize| {
        let path = move || {
            output.with(|o| {
                let Some((_, p)) = o.bars.get(i).filter(|_| shown(i) && !one_guess.get()) else {
                    return String::new();
                };
                let bar_height = layout.get().bar_height;
                let (y, height) = match under.get() {
                    true => (row(i) + bar_height - thick() - 1.0, thick()),
                    false => (row(i) + 2.0, bar_height - 4.0),
                };
                let length = reach() * f64::from(*p);
                format!("M{} {y}h{length:.1}v{height}h-{length:.1}z", start())
            })
        };
        let name = move || {
            let name = output.with(|o| o.bars.get(i).map(|(name, _)| name_of(name)));
            name.filter(|_| shown(i)).unwrap_or_default()
        };
        let share = move || {
            let share = output.with(|o| o.bars.get(i).map(|(_, p)| percent(*p, 0)));
            share.filter(|_| numbered.get() && shown(i)).unwrap_or_default()
        };
        let y = move || {
            let l = layout.get();
            // Their tails end where the bar begins.
            row(i)
                + match under.get() {
                    _ if l.one_guess => l.bar_height / 2.0 + 0.35 * l.told_size,
                    true => l.bar_height - thick() - 1.0 - 0.36 * l.text,
                    false => l.bar_height / 2.0 + 0.35 * l.text,
                }
        };
        let x = move || match under.get() {
            _ if one_guess.get() => width.get() / 2.0,
            true => 3.0,
            false => 5.0,
        };
        view! {
            <path class="rnn-bars" class:rnn-true=move || is_true(i) d=path/>
            <text class="rnn-bar-name" class:rnn-true=move || is_true(i) class:rnn-alone=one_guess x=x y=y
                style:font-size=move || one_guess.get().then(told_size)>{name}</text>
            <text class="rnn-share" x=move || width.get() - 4.0 y=y>{share}</text>
        }
    };
    // Where bars could reach: seen, it says what the middle is.
    let tracks = move || {
        let l = layout.get();
        let rows = if under.get() || l.one_guess { 0 } else { l.bars };
        let rows = rows.min(output.with(|o| o.bars.len()));
        let length = reach();
        let track = |i| {
            format!(
                "M{} {}h{length:.1}v{}h-{length:.1}z",
                start(),
                row(i) + 2.0,
                l.bar_height - 4.0
            )
        };
        (0..rows).map(track).collect::<String>()
    };
    let bars = (0..BARS).map(bar).collect_view();
    let middle = move || width.get() / 2.0;
    view! {
        <g data-part=OUTPUT class=Hue::Output.class()
            transform=move || format!("translate({} 0)", left())>
            <rect class="rnn-hit" x="1" y=move || 1.4 * layout.get().text width=move || width.get() - 2.0
                height=move || layout.with(|l| l.output_end() - 1.4 * l.text) rx="6"/>
            <text class="rnn-target" x=middle y=move || layout.get().truth_foot()
                style:font-size=told_size>{target}</text>
            <path class="rnn-reach" d=tracks/>
            {bars}
            <text class="rnn-small" x=middle y=move || layout.get().loss_foot()>{loss}</text>
        </g>
    }
    .into_any()
}

/// An arrow that carries one of the shared matrices.
#[component]
fn Arrow(
    part: &'static str,
    label: &'static str,
    layout: Memo<Layout>,
    path: Signal<String>,
) -> impl IntoView {
    // Left, top, width and height of what can be hit.
    let hit = move || {
        layout.with(|l| {
            let side = l.middle() - 20.0;
            match part {
                W => (
                    side,
                    l.strip_y + l.strip_height + 2.0,
                    40.0,
                    l.token_y - l.strip_y - l.strip_height - 3.0,
                ),
                V => (side, l.arrow_end() + 1.0, 40.0, l.strip_y - l.arrow_end() - 2.0),
                _ => {
                    let left = l.strip_x() + l.strip_width() - l.column + 1.0;
                    (left, l.strip_middle() - 24.0, l.column - l.strip_width() - 2.0, 40.0)
                }
            }
        })
    };
    let label_at = move || {
        let (left, top, width, height) = hit();
        match part {
            W | V => (layout.get().middle() + 12.0, top + height / 2.0 + 5.0),
            _ => (left + width / 2.0 - 1.0, top + 16.0),
        }
    };
    view! {
        <g data-part=part class=format!("rnn-arrow {}", Hue::Weight.class())>
            <rect class="rnn-hit" x=move || hit().0 y=move || hit().1 width=move || hit().2.max(0.0)
                height=move || hit().3.max(0.0) rx="6"/>
            <path d=path/>
            <text class="rnn-letter-of" x=move || label_at().0 y=move || label_at().1>{label}</text>
        </g>
    }
    .into_any()
}
