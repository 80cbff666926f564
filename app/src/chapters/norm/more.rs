//! Formulas with their sources.

use leptos::prelude::*;

use crate::{
    figures::Hue,
    teaching::{Formula, MathSym},
};

pub fn more() -> AnyView {
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
        <Formula label="Running statistics" source="As PyTorch keeps them, with momentum m = 0.1; in use they take the place of μ and σ²">
            <msub><mi>"μ"</mi><mtext>"run"</mtext></msub><mo>"←"</mo>
            <mo>"("</mo><mn>"1"</mn><mo>"−"</mo><mi>"m"</mi><mo>")"</mo><msub><mi>"μ"</mi><mtext>"run"</mtext></msub>
            <mo>"+"</mo><mi>"m"</mi><mi>"μ"</mi><mo>","</mo><mspace width="1em"/>
            <msubsup><mi>"σ"</mi><mtext>"run"</mtext><mn>"2"</mn></msubsup><mo>"←"</mo>
            <mo>"("</mo><mn>"1"</mn><mo>"−"</mo><mi>"m"</mi><mo>")"</mo>
            <msubsup><mi>"σ"</mi><mtext>"run"</mtext><mn>"2"</mn></msubsup>
            <mo>"+"</mo><mi>"m"</mi><mfrac><mi>"B"</mi><mrow><mi>"B"</mi><mo>"−"</mo><mn>"1"</mn></mrow></mfrac>
            <msup><mi>"σ"</mi><mn>"2"</mn></msup>
        </Formula>
        <p>
            "Training divides by the batch's own, biased variance (the sum over B), because it is that batch that is to \
             have spread 1. The running average takes the unbiased one (the sum over B − 1): it is to estimate the spread \
             of all data. Ioffe and Szegedy average over many batches after training; PyTorch, and this page, keep a \
             moving average while training."
        </p>
        <p>
            "The gradient goes through μ and σ², too. “Runaway b” is the opposite: Ioffe and Szegedy, \
             section 2, show for a layer u + b with its mean taken away that b then grows without end."
        </p>
        <p>
            "Why? The gradient that ignores the mean says: raise b for the characters that are guessed too seldom. \
             b is raised, the mean rises by exactly as much, and the difference is what it was: the same output, \
             the same loss, the same gradient. So the next step does the same again. If the gradient flows through \
             the mean, its two paths cancel: dL/db is 0 but for rounding, and b stays. An offset that is to matter \
             must come after the mean is gone. That is β."
        </p>
        <p>
            "Where it stands differs: Ioffe and Szegedy normalize the sums W x before the non-linearity and drop the \
             layer's bias, since the mean would take it away; so does this page. Transformers (the GPT of this course) \
             use LayerNorm on what goes into a block."
        </p>
        <p>
            "In a recurrent network Ba, Kiros and Hinton (2016, sections 1 and 3.1) note that BatchNorm would have to keep \
             statistics for each time step, and has none for steps later than any it trained on. Cooijmans and others (2017) \
             do keep them for each step, as the network here does; they go on with the last step's where the sequence goes \
             on. Column 12 in “Over time” shows how well that does here."
        </p>
    }
    .into_any()
}
