//! Formulas with their sources.

use leptos::prelude::*;

use crate::{
    figures::Hue,
    teaching::{Formula, MathSym},
};

pub fn more() -> AnyView {
    view! {
        <Formula label="Queries, keys and values are linear in the input" source="Vaswani and others 2017, section 3.2; GPT-2 adds biases, this page none to the keys, to which softmax is blind">
            <MathSym part="q" role=Hue::Query>"Q"</MathSym><mo>"="</mo><mi>"X"</mi><msub><mi>"W"</mi><mi>"Q"</mi></msub>
            <mo>","</mo><mspace width="1em"/>
            <MathSym part="k" role=Hue::Key>"K"</MathSym><mo>"="</mo><mi>"Y"</mi><msub><mi>"W"</mi><mi>"K"</mi></msub>
            <mo>","</mo><mspace width="1em"/>
            <MathSym part="v" role=Hue::Value>"V"</MathSym><mo>"="</mo><mi>"Y"</mi><msub><mi>"W"</mi><mi>"V"</mi></msub>
        </Formula>
        <p>"Self-attention: Y = X. Cross-attention: Y is another sequence, of any length."</p>
        <Formula label="Scaled dot-product attention" source="Vaswani and others 2017, equation 1">
            <mtext>"Attention"</mtext><mo>"("</mo>
            <MathSym part="q" role=Hue::Query>"Q"</MathSym><mo>","</mo><MathSym part="k" role=Hue::Key>"K"</MathSym><mo>","</mo>
            <MathSym part="v" role=Hue::Value>"V"</MathSym><mo>")"</mo><mo>"="</mo><mtext>"softmax"</mtext><mo>"("</mo>
            <mfrac>
                <mrow><MathSym part="q" role=Hue::Query>"Q"</MathSym>
                    <msup><MathSym part="k" role=Hue::Key>"K"</MathSym><mi>"T"</mi></msup></mrow>
                <msqrt><msub><mi>"d"</mi><mi>"k"</mi></msub></msqrt>
            </mfrac>
            <mo>")"</mo><MathSym part="v" role=Hue::Value>"V"</MathSym>
        </Formula>
        <Formula label="One weight" source="The largest score m is taken away first, which cancels; blocked scores are minus infinity">
            <msub><mi>"w"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"="</mo>
            <mfrac>
                <msup><mi>"e"</mi><mrow><msub><mi>"s"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"−"</mo><mi>"m"</mi></mrow></msup>
                <mrow><msub><mo>"∑"</mo><mi>"l"</mi></msub>
                    <msup><mi>"e"</mi><mrow><msub><mi>"s"</mi><mrow><mi>"i"</mi><mi>"l"</mi></mrow></msub><mo>"−"</mo><mi>"m"</mi></mrow></msup></mrow>
            </mfrac>
        </Formula>
        <Formula label="The variance of a product of random vectors" source="Vaswani and others 2017, section 3.2.1, footnote 4: each term has mean 0 and variance 1">
            <mtext>"Var"</mtext><mo>"("</mo><msubsup><mo>"∑"</mo><mrow><mi>"i"</mi><mo>"="</mo><mn>"1"</mn></mrow><msub><mi>"d"</mi><mi>"k"</mi></msub></msubsup>
            <msub><MathSym part="q" role=Hue::Query>"q"</MathSym><mi>"i"</mi></msub>
            <msub><MathSym part="k" role=Hue::Key>"k"</MathSym><mi>"i"</mi></msub><mo>")"</mo><mo>"="</mo>
            <msub><mi>"d"</mi><mi>"k"</mi></msub>
        </Formula>
        <Formula label="The derivative of softmax" source="It vanishes where one weight is near 1 and all others near 0">
            <mfrac>
                <mrow><mi>"∂"</mi><msub><mi>"w"</mi><mi>"i"</mi></msub></mrow>
                <mrow><mi>"∂"</mi><msub><mi>"s"</mi><mi>"j"</mi></msub></mrow>
            </mfrac><mo>"="</mo><msub><mi>"w"</mi><mi>"i"</mi></msub><mo>"("</mo>
            <msub><mi>"δ"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"−"</mo><msub><mi>"w"</mi><mi>"j"</mi></msub><mo>")"</mo>
        </Formula>
        <p>
            "From alignment: Bahdanau and others (2015) score with vᵀ tanh(W s + U h), Luong and others (2015) also with sᵀ h and \
             sᵀ W h. The last is an inner product already; splitting W in two, one factor for each side, gives query and key. \
             Luong did not divide by a root; Vaswani and others did, after finding that inner products fell behind the small \
             network at large widths."
        </p>
        <p>
            "That a causal mask alone lets a model tell order is no accident of this page: Haviv and others (2022) trained \
             language models without positions and found they had learned where tokens stand. In one layer each token sees \
             only which tokens came before; from the second layer on it can use how much each of those saw."
        </p>
        <p>
            "Cost: for width d, attention does T² d multiplications and keeps T² weights, a recurrent layer T d² in T steps that \
             wait for each other (Vaswani and others 2017, table 1)."
        </p>
    }
    .into_any()
}
