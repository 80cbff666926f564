//! The chapter's question to the learner.

use leptos::prelude::*;
use unroll_protocol::study::qkv::{Models, ask};

use super::{is_of, shuffle};
use crate::{
    course::{use_lab, use_right},
    questions::use_answer,
    reactive::memo,
    store::Store,
    teaching::CheckYourself,
};

/// What is asked, one after the other.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// The variance of products of this width.
    Variance(u32),
    /// A shuffle with positions, with a causal mask.
    Shuffle(bool, bool),
}

// Not what the figure beside the first question shows: no positions and no mask.
const ASKED: [Asked; 4] = [
    Asked::Shuffle(false, true),
    Asked::Variance(64),
    Asked::Shuffle(true, false),
    Asked::Variance(16),
];
/// A number of its own, so that the answer is not on the page already.
const DRAW: u32 = 999;

pub fn check() -> AnyView {
    let store = expect_context::<Store>();
    let lab = use_lab();
    let right = use_right("qkv");
    let round = RwSignal::new(0usize);
    // The models that learn order read no sentence: of them only the products are asked.
    let asked = memo(move || match ASKED[round.get() % ASKED.len()] {
        Asked::Shuffle(..) if !is_of(lab, Models::Text) => Asked::Variance(64),
        asked => asked,
    });
    let built = memo(move || lab.started.with(Option::is_some));
    let scale = use_answer(lab, move || match asked.get() {
        Asked::Variance(dimensions) if built.get() => Some(ask::Scale { dimensions, draw: DRAW }),
        _ => None,
    })
    .shown_in(lab.check_seen);
    let shuffle = use_answer(lab, move || match asked.get() {
        Asked::Shuffle(positions, causal) if built.get() => {
            Some(ask::Shuffle { text: store.probe.get(), draw: DRAW, positions, causal })
        }
        _ => None,
    })
    .shown_in(lab.check_seen);
    // The right option and the numbers, of what is asked now: the last answer stays until the next
    // is there.
    let found = memo(move || match asked.get() {
        Asked::Variance(width) => {
            let scale = scale.answer.get().filter(|scale| scale.dimensions == width)?;
            let distance = |option: f32| (scale.variance / option).ln().abs();
            let options = variances(width);
            let nearest = (0..options.len())
                .min_by(|a, b| distance(options[*a]).total_cmp(&distance(options[*b])))?;
            let (variance, products) = (scale.variance, scale.products);
            let explain = format!(
                "The variance of {products} products drawn now is {variance:.1}. Each of the {width} terms adds about 1."
            );
            Some((nearest, explain))
        }
        Asked::Shuffle(positions, causal) => {
            let shuffled = shuffle.answer.get()?;
            if (shuffled.positions, shuffled.causal) != (positions, causal) {
                return None;
            }
            let same = shuffle::is_same(&shuffled);
            let most = shuffle::most(&shuffled);
            let why = if same {
                "Every token sees the same others, and nothing tells it where they stand."
            } else if causal {
                "After the shuffle other tokens come before it, and only those may be seen."
            } else {
                "What is added for the position is different at another position."
            };
            let explain = format!(
                "The largest difference is {most:.7}, where outputs go up to {:.2}. {why}",
                shuffled.largest
            );
            Some((usize::from(!same), explain))
        }
    });
    let question = Signal::derive(move || match asked.get() {
        Asked::Variance(width) => format!(
            "q and k each hold {width} independent random numbers, with mean 0 and variance 1. What is the variance of q · k?"
        ),
        Asked::Shuffle(positions, causal) => format!(
            "Your sentence is shuffled. The model has {} and {}. What happens to each token’s output from the last layer?",
            if positions { "positions" } else { "no positions" },
            if causal { "a causal mask" } else { "no mask" }
        ),
    });
    let options = Signal::derive(move || match asked.get() {
        Asked::Variance(width) => variances(width).iter().map(|v| format!("About {v}")).collect(),
        Asked::Shuffle(..) => {
            ["It moves with its token, unchanged but for rounding", "Its numbers change"]
                .map(str::to_owned)
                .to_vec()
        }
    });
    let answer = Signal::derive(move || found.with(|found| found.as_ref().map(|found| found.0)));
    let explain = Signal::derive(move || {
        found.with(|found| found.as_ref().map_or(String::new(), |found| found.1.clone()))
    });
    view! {
        <CheckYourself id="qkv" question options answer explain on_right=right
            on_another=Callback::new(move |()| round.update(|round| *round += 1))/>
    }
    .into_any()
}

/// The options for the variance of products of `width` terms.
fn variances(width: u32) -> [f32; 4] {
    let width = width as f32;
    [1.0, width.sqrt(), width, width * width]
}
