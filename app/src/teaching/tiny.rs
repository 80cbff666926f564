//! The tiny live figures of the glossary: a definition worked out from what the learner drags.
//!
//! They show what a word means, not what a model did. One component draws them all.

mod pictures;
mod statistics;
mod training;
mod writing;

use crate::reactive::memo;
use leptos::prelude::*;
use unroll_protocol::read_number;

use super::pen::{HEIGHT, WIDTH};
use pictures::plain;

/// What a tiny figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toy {
    Around,
    Batch,
    Cell,
    Clip,
    ContextWindow,
    Correlation,
    Decay,
    Descent,
    Deviation,
    Divergence,
    Dot,
    Dropout,
    Embedding,
    Entropy,
    Gate,
    Gelu,
    Gru,
    Hidden,
    KvCache,
    Line,
    Logit,
    Mask,
    MinP,
    Mix,
    Normalize,
    OneHot,
    Perplexity,
    Powers,
    Relu,
    Schedule,
    Seed,
    Sigmoid,
    Slope,
    Smoothing,
    Softmax,
    Spiral,
    StandardError,
    Surprise,
    Tanh,
    Temperature,
    Token,
    TopK,
    TopP,
    Vocabulary,
    Window,
}

/// One thing to drag.
struct Slider {
    label: &'static str,
    min: f64,
    max: f64,
    step: f64,
    first: f64,
}

const fn slider(label: &'static str, min: f64, max: f64, step: f64, first: f64) -> Slider {
    Slider { label, min, max, step, first }
}

impl Toy {
    const fn sliders(self) -> &'static [Slider] {
        const SCORES: &[Slider] = &[
            slider("score a", -4.0, 4.0, 0.1, 2.0),
            slider("score b", -4.0, 4.0, 0.1, 1.0),
            slider("score c", -4.0, 4.0, 0.1, -1.0),
        ];
        const X: &[Slider] = &[slider("x", -6.0, 6.0, 0.1, 1.0)];
        const ID: &[Slider] = &[slider("id", 0.0, 4.0, 1.0, 2.0)];
        match self {
            Self::Around => {
                const { &[slider("slope", 0.0, 1.0, 0.05, 0.3), slider("layers", 2.0, 12.0, 1.0, 8.0)] }
            }
            Self::Batch => const { &[slider("examples", 1.0, 16.0, 1.0, 4.0)] },
            Self::Cell => {
                const {
                    &[
                        slider("forget f", 0.0, 1.0, 0.01, 0.9),
                        slider("input i", 0.0, 1.0, 0.01, 0.5),
                        slider("new g", -1.0, 1.0, 0.01, 0.8),
                    ]
                }
            }
            Self::Clip => {
                const { &[slider("gradient", 0.1, 5.0, 0.1, 4.0), slider("limit", 0.5, 5.0, 0.1, 2.0)] }
            }
            Self::ContextWindow => {
                const { &[slider("window", 1.0, 12.0, 1.0, 6.0), slider("written", 2.0, 17.0, 1.0, 9.0)] }
            }
            Self::Correlation => {
                const {
                    &[
                        slider("dot 1", -5.0, 5.0, 0.1, -2.0),
                        slider("dot 2", -5.0, 5.0, 0.1, -3.0),
                        slider("dot 3", -5.0, 5.0, 0.1, 2.0),
                        slider("dot 4", -5.0, 5.0, 0.1, 3.0),
                    ]
                }
            }
            Self::Decay => {
                const {
                    &[
                        slider("decay", 0.0, 0.3, 0.01, 0.1),
                        slider("pull back", 0.0, 0.1, 0.01, 0.0),
                    ]
                }
            }
            Self::Descent => const { &[slider("rate", 0.01, 1.1, 0.01, 0.15)] },
            Self::Deviation => {
                const {
                    &[
                        slider("dot 1", -5.0, 5.0, 0.1, -3.0),
                        slider("dot 2", -5.0, 5.0, 0.1, -1.0),
                        slider("dot 3", -5.0, 5.0, 0.1, 0.0),
                        slider("dot 4", -5.0, 5.0, 0.1, 4.0),
                    ]
                }
            }
            Self::Divergence => {
                const {
                    &[
                        slider("true p(a)", 0.01, 0.99, 0.01, 0.5),
                        slider("believed q(a)", 0.01, 0.99, 0.01, 0.9),
                    ]
                }
            }
            Self::Dot => const { &[slider("angle", 0.0, 180.0, 1.0, 40.0)] },
            Self::Dropout => {
                const { &[slider("step", 1.0, 20.0, 1.0, 2.0), slider("dropout p", 0.0, 0.9, 0.05, 0.3)] }
            }
            Self::Embedding | Self::OneHot => ID,
            Self::Entropy => {
                const {
                    &[
                        slider("parts of a", 0.0, 10.0, 1.0, 2.0),
                        slider("parts of b", 0.0, 10.0, 1.0, 1.0),
                        slider("parts of c", 0.0, 10.0, 1.0, 1.0),
                    ]
                }
            }
            Self::Gate => {
                const { &[slider("gate g", 0.0, 1.0, 0.01, 0.3), slider("input x", -2.0, 2.0, 0.1, 1.5)] }
            }
            Self::Gelu | Self::Relu => const { &[slider("x", -4.0, 4.0, 0.1, 1.0)] },
            Self::Gru => {
                const {
                    &[
                        slider("update z", 0.0, 1.0, 0.01, 0.9),
                        slider("new n", -1.0, 1.0, 0.01, -0.5),
                    ]
                }
            }
            Self::Hidden => const { &[slider("weight u", -1.5, 1.5, 0.05, 0.8)] },
            Self::KvCache => const { &[slider("tokens", 2.0, writing::MOST as f64, 1.0, 10.0)] },
            Self::Line => {
                const {
                    &[
                        slider("weight w", -2.0, 2.0, 0.1, 0.7),
                        slider("bias b", -1.0, 1.0, 0.1, 0.2),
                    ]
                }
            }
            Self::Logit => const { &[slider("logit of a", -5.0, 5.0, 0.1, 1.0)] },
            Self::Mask => const { &[slider("token", 1.0, 6.0, 1.0, 3.0)] },
            Self::MinP => const { &[slider("min p", 0.0, 1.0, 0.05, 0.2)] },
            Self::Mix | Self::Softmax => SCORES,
            Self::Normalize => {
                const {
                    &[
                        slider("a", -5.0, 5.0, 0.1, 4.0),
                        slider("b", -5.0, 5.0, 0.1, 2.0),
                        slider("c", -5.0, 5.0, 0.1, -1.0),
                    ]
                }
            }
            Self::Perplexity => const { &[slider("loss", 0.0, 4.0, 0.01, 2.08)] },
            Self::Powers => {
                const { &[slider("factor", 0.5, 1.3, 0.01, 0.8), slider("steps", 2.0, 40.0, 1.0, 20.0)] }
            }
            Self::Schedule => {
                const { &[slider("step", 1.0, 100.0, 1.0, 5.0), slider("warm-up", 0.0, 50.0, 1.0, 10.0)] }
            }
            Self::Seed => const { &[slider("seed", 0.0, 99.0, 1.0, 7.0)] },
            Self::Sigmoid | Self::Tanh => X,
            Self::Slope => const { &[slider("weight w", -2.0, 2.0, 0.05, 1.2)] },
            Self::Smoothing => const { &[slider("k", 0.0, 5.0, 0.1, 1.0)] },
            Self::Spiral => const { &[slider("radius", 0.7, 1.15, 0.01, 0.9)] },
            Self::StandardError => {
                const {
                    &[
                        slider("examples n", 1.0, 100.0, 1.0, 4.0),
                        slider("spread", 0.5, 5.0, 0.1, 4.0),
                    ]
                }
            }
            Self::Surprise => const { &[slider("p", 0.01, 1.0, 0.01, 0.25)] },
            Self::Temperature => const { &[slider("temperature", 0.1, 5.0, 0.1, 1.0)] },
            Self::Token => const { &[slider("pieces", 0.0, 2.0, 1.0, 1.0)] },
            Self::TopK => const { &[slider("top k", 1.0, 5.0, 1.0, 2.0)] },
            Self::TopP => const { &[slider("top p", 0.05, 1.0, 0.05, 0.8)] },
            Self::Vocabulary => const { &[slider("read", 1.0, 18.0, 1.0, 9.0)] },
            Self::Window => const { &[slider("position", 0.0, 13.0, 1.0, 3.0)] },
        }
    }
}

/// One tiny figure with its sliders.
#[component]
pub fn TinyFigure(toy: Toy) -> impl IntoView {
    let sliders = toy.sliders();
    let values = RwSignal::new(sliders.iter().map(|slider| slider.first).collect::<Vec<_>>());
    let drawn = memo(move || values.with(|values| toy.draw(values)));
    let rows = sliders.iter().enumerate().map(|(i, slider)| {
        let value = move || values.with(|values| plain(values[i]));
        let set = move |event| {
            if let Some(value) = read_number(&event_target_value(&event)) {
                values.update(|values| values[i] = value as _);
            }
        };
        view! {
            <div class="toy-slider">
                <label>
                    <span>{slider.label}</span>
                    <input type="range" min=slider.min.to_string() max=slider.max.to_string()
                        step=slider.step.to_string() prop:value=slider.first.to_string() on:input=set/>
                </label>
                <span class="toy-number" aria-hidden="true">{value}</span>
            </div>
        }
    });
    view! {
        <div class="toy" data-toy=format!("{toy:?}")>
            <svg viewBox=format!("0 -4 {WIDTH} {}", HEIGHT + 8.0) aria-hidden="true"
                inner_html=move || drawn.with(|drawn| drawn.0.clone())></svg>
            <p class="toy-words" role="status">{move || drawn.with(|drawn| drawn.1.clone())}</p>
            {rows.collect_view()}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::teaching::word::WORDS;

    #[test]
    fn every_figure_draws_at_the_ends_of_its_sliders() {
        for toy in WORDS.iter().filter_map(|entry| entry.toy) {
            let ends: [fn(&Slider) -> f64; 3] = [|s| s.min, |s| s.first, |s| s.max];
            for end in ends {
                let (markup, words) = toy.draw(&toy.sliders().iter().map(end).collect::<Vec<_>>());
                assert!(markup.starts_with('<'), "{toy:?}");
                for text in [&markup, &words] {
                    assert!(!text.contains("NaN") && !text.contains("inf"), "{toy:?}: {text}");
                }
            }
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_definitions() {
        let said = |toy: Toy, v: &[f64]| toy.draw(v).1;
        assert_eq!(said(Toy::Surprise, &[0.25]), "−ln(0.25) = 1.386");
        assert_eq!(said(Toy::Surprise, &[1.0]), "−ln(1) = 0");
        assert_eq!(said(Toy::Sigmoid, &[0.0]), "σ(0) = 0.5000, slope 0.2500");
        assert_eq!(said(Toy::Tanh, &[1.0]), "tanh(1) = 0.7616, slope 0.4200");
        assert_eq!(said(Toy::Perplexity, &[2.0]), "exp(2) = 7.389");
        assert_eq!(said(Toy::Gate, &[0.3, 1.5]), "0.3 · 1.5 = 0.4500");
        assert_eq!(said(Toy::Clip, &[4.0, 2.0]), "4 · 2 / 4 = 2.000");
        assert_eq!(said(Toy::Dot, &[90.0]), "q · k = 2 · 2 · cos 90° = 0");
        assert_eq!(said(Toy::Smoothing, &[1.0]), "c: (0 + 1) / (9 + 3 · 1) = 0.08333");
        // e² / (e² + e + e⁻¹)
        assert_eq!(said(Toy::Softmax, &[2.0, 1.0, -1.0]), "a: exp(2) / 10.48 = 0.7054");
        assert_eq!(said(Toy::Powers, &[0.8, 20.0]), "0.8 multiplied 20 times: 0.01153");
        assert_eq!(said(Toy::Descent, &[0.5]), "w goes from 1.8 to 0, and after 8 steps to 0");
        assert_eq!(said(Toy::Powers, &[1.1, 40.0]), "1.1 multiplied 40 times: 45.26");
        assert_eq!(
            said(Toy::Entropy, &[5.0, 5.0, 0.0]),
            "Entropy 0.6931 nats; the maximum is ln 3 = 1.099"
        );
        assert_eq!(said(Toy::Divergence, &[0.3, 0.3]), "KL(p ‖ q) = 0 nats, KL(q ‖ p) = 0");
        assert_eq!(
            said(Toy::Deviation, &[-1.0, 1.0, -1.0, 1.0]),
            "Mean 0, standard deviation 1.000"
        );
        assert_eq!(said(Toy::Correlation, &[3.0, 1.0, -1.0, -3.0]), "Correlation −1.000");
        assert_eq!(said(Toy::StandardError, &[16.0, 2.0]), "Standard error: 2 / √16 = 0.5000");
        assert_eq!(said(Toy::Relu, &[-2.0]), "ReLU(−2) = 0, slope 0");
        assert_eq!(said(Toy::Gelu, &[1.0]), "GELU(1) = 0.8413, slope 1.083");
        assert_eq!(
            said(Toy::Around, &[0.5, 2.0]),
            "Without residual connections: 0.5^2 = 0.2500. With them: 1.5^2 = 2.250"
        );
        assert_eq!(said(Toy::Schedule, &[5.0, 10.0]), "Step 5: 5 / 10 = 0.5000 of the peak");
        assert_eq!(
            said(Toy::Schedule, &[55.0, 10.0]),
            "Step 55: 0.5500 of the peak, on the cosine"
        );
        assert_eq!(
            said(Toy::Decay, &[0.1, 0.0]),
            "At each step w becomes 0.9 · w. After 20 steps it is 0.1216"
        );
        assert_eq!(
            said(Toy::ContextWindow, &[6.0, 9.0]),
            "Seen: “be␣or␣”. Lost: 3 of 9 characters"
        );
        assert_eq!(
            said(Toy::KvCache, &[10.0]),
            "Keys computed for 10 tokens: 10 with the cache, 55 without"
        );
        // At an edge the rule itself decides, though sliders give numbers as near as 32 bits come.
        let near = |x: f32| [f64::from(x)];
        assert_eq!(said(Toy::TopK, &[2.0]), "2 of 5 tokens stay: a has 0.5 / 0.75 = 0.6667");
        assert_eq!(said(Toy::TopP, &near(0.9)), "3 of 5 tokens stay: a has 0.5 / 0.9 = 0.5556");
        assert_eq!(said(Toy::TopP, &near(1.0)), "5 of 5 tokens stay: a has 0.5 / 1 = 0.5000");
        assert_eq!(said(Toy::MinP, &near(0.3)), "3 of 5 tokens stay: a has 0.5 / 0.9 = 0.5556");
        assert_eq!(said(Toy::MinP, &near(1.0)), "1 of 5 tokens stays: a has 0.5 / 0.5 = 1.000");
        assert_eq!(said(Toy::Gru, &[0.9, -0.5]), "0.9 · 1 + 0.1 · −0.5 = 0.8500");
        assert_eq!(said(Toy::Window, &[0.0]), "From “to␣b” guess “e”");
    }
}
