//! Formulas with their sources.

use leptos::prelude::*;
use unroll_protocol::study::norm::{FEATURES, LAYERS};

use super::notebooks;
use crate::{
    course::notebook,
    figures::Hue,
    store::Store,
    teaching::{Formula, MathSym, Names, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names =
    &[("x", "x", Hue::Input), ("x_hat", "x", Hue::Input), ("y", "y", Hue::Output)];

pub fn more() -> AnyView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        let batch = store.link.with(|link| link.norm.batch);
        format!("In the networks with {LAYERS} layers, B = {batch} and d = {FEATURES}.")
    });
    view! {
        <Formula label="Mean and variance over n values" source="Ioffe and Szegedy 2015, algorithm 1; Ba, Kiros and Hinton 2016, equation 3">
            <mi>"μ"</mi><mo>"="</mo><mfrac><mn>"1"</mn><mi>"n"</mi></mfrac><mo>"∑"</mo>
            <msub><MathSym part="x" role=Hue::Input>"x"</MathSym><mi>"i"</mi></msub>
            <mo>","</mo><mspace width="1em"/>
            <msup><mi>"σ"</mi><mn>"2"</mn></msup><mo>"="</mo><mfrac><mn>"1"</mn><mi>"n"</mi></mfrac><mo>"∑"</mo>
            <msup><mrow><mo>"("</mo>
                <msub><MathSym part="x" role=Hue::Input>"x"</MathSym><mi>"i"</mi></msub><mo>"−"</mo><mi>"μ"</mi>
            <mo>")"</mo></mrow><mn>"2"</mn></msup>
        </Formula>
        <Snippet of=include_str!("code/statistics.py") names=NAMES sizes/>
        <Formula label="Normalize, then scale and shift" source="The same in both; γ and β are learned, one pair for each feature">
            <mover><MathSym part="x" role=Hue::Input>"x"</MathSym><mo>"^"</mo></mover><mo>"="</mo>
            <mfrac>
                <mrow><MathSym part="x" role=Hue::Input>"x"</MathSym><mo>"−"</mo><mi>"μ"</mi></mrow>
                <msqrt><mrow><msup><mi>"σ"</mi><mn>"2"</mn></msup><mo>"+"</mo><mi>"ε"</mi></mrow></msqrt>
            </mfrac>
            <mo>","</mo><mspace width="1em"/>
            <MathSym part="y" role=Hue::Output>"y"</MathSym><mo>"="</mo><mi>"γ"</mi>
            <mover><MathSym part="x" role=Hue::Input>"x"</MathSym><mo>"^"</mo></mover><mo>"+"</mo><mi>"β"</mi>
        </Formula>
        <Snippet of=notebooks::NORMALIZE.code names=NAMES sizes notebook=|| notebook(&notebooks::NORMALIZE)/>
        <Formula label="Running statistics" source="As PyTorch keeps them, with ρ = 0.1, which it calls momentum; at inference they take the place of μ and σ²">
            <msub><mi>"μ"</mi><mtext>"run"</mtext></msub><mo>"←"</mo>
            <mo>"("</mo><mn>"1"</mn><mo>"−"</mo><mi>"ρ"</mi><mo>")"</mo><msub><mi>"μ"</mi><mtext>"run"</mtext></msub>
            <mo>"+"</mo><mi>"ρ"</mi><mi>"μ"</mi><mo>","</mo><mspace width="1em"/>
            <msubsup><mi>"σ"</mi><mtext>"run"</mtext><mn>"2"</mn></msubsup><mo>"←"</mo>
            <mo>"("</mo><mn>"1"</mn><mo>"−"</mo><mi>"ρ"</mi><mo>")"</mo>
            <msubsup><mi>"σ"</mi><mtext>"run"</mtext><mn>"2"</mn></msubsup>
            <mo>"+"</mo><mi>"ρ"</mi><mfrac><mi>"B"</mi><mrow><mi>"B"</mi><mo>"−"</mo><mn>"1"</mn></mrow></mfrac>
            <msup><mi>"σ"</mi><mn>"2"</mn></msup>
        </Formula>
        <Snippet of=include_str!("code/running.py") names=NAMES sizes/>
        <p>
            "In training the divisor comes from the batch’s own, biased variance (the sum divided by B), so that this very \
             batch gets spread 1. The running average takes the unbiased variance (the sum divided by B − 1), because \
             it estimates the spread of all data. Ioffe and Szegedy average over many batches after training. PyTorch \
             and this page keep a moving average during training."
        </p>
        <p>
            "γ and β can undo BatchNorm: with γ = √(σ² + ε) and β = μ, y is x again. They can’t undo LayerNorm, which \
             takes a μ and σ from each example, while γ and β are the same for all. At inference BatchNorm’s μ and σ are fixed \
             numbers. Then BatchNorm is one scale and one offset for each feature, which can be merged into W and a \
             bias."
        </p>
        <p>
            "The gradient flows through μ and σ², too. The view “Mean ignored” shows what happens if it does \
             not. Ioffe and Szegedy show in section 2, for a layer u + b with its mean subtracted, that b \
             then grows without end."
        </p>
        <p>
            "Why? A gradient that ignores the mean says: raise b for the characters that are guessed too seldom. b is \
             raised, the mean rises by exactly as much, and the difference stays. So the output, the loss and the \
             gradient stay the same, and the next step does the same again. If the gradient flows through the mean, its \
             two paths cancel. Then dL/db is 0 except for rounding, and b stays. An offset that should matter must be \
             added after the mean is subtracted. That is β."
        </p>
        <p>
            "Papers differ in where they normalize. Ioffe and Szegedy normalize the sums W x before the non-linearity, \
             and so does this page. They drop the layer’s bias, since subtracting the mean would remove it. Transformers \
             such as the GPT of this course apply LayerNorm to what goes into each layer of a block: the \
             attention and the feed-forward layer."
        </p>
        <p>
            "Why it helps is still debated. Ioffe and Szegedy named internal covariate shift. Santurkar, Tsipras, Ilyas \
             and Madry (2018) found little link between that shift and what BatchNorm gains. They found that it makes the \
             loss smoother."
        </p>
        <p>
            "Ba, Kiros and Hinton (2016, sections 1 and 3.1) note that in a recurrent network BatchNorm would need \
             statistics for each time step, and has none for steps later than any it was trained on. Cooijmans and \
             others (2017) do keep them for each step, as the network here does. Where a sequence goes on beyond that, \
             they use those of the last step. Column 12 in the view “Over time” shows how well that works \
             here."
        </p>
    }
    .into_any()
}
