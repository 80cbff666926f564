//! Formulas with their sources.

use leptos::prelude::*;

use super::notebooks;
use crate::{
    course::notebook,
    figures::Hue,
    teaching::{Formula, MathSym, Names, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("Q", "q", Hue::Query),
    ("K", "k", Hue::Key),
    ("V", "v", Hue::Value),
    ("q", "q", Hue::Query),
    ("k", "k", Hue::Key),
];

const SIZES: &str = "In the model that learns your text, T = 24, d = 32 and d_k = 16.";

pub fn more() -> AnyView {
    view! {
        <Formula label="Queries, keys and values are linear in the input" source="Vaswani and others 2017, section 3.2. GPT-2 adds biases. Keys get none here, because a bias there adds the same number to every score of a row, which softmax ignores">
            <MathSym part="q" role=Hue::Query>"Q"</MathSym><mo>"="</mo><mi>"X"</mi><msub><mi>"W"</mi><mi>"Q"</mi></msub>
            <mo>","</mo><mspace width="1em"/>
            <MathSym part="k" role=Hue::Key>"K"</MathSym><mo>"="</mo><mi>"Y"</mi><msub><mi>"W"</mi><mi>"K"</mi></msub>
            <mo>","</mo><mspace width="1em"/>
            <MathSym part="v" role=Hue::Value>"V"</MathSym><mo>"="</mo><mi>"Y"</mi><msub><mi>"W"</mi><mi>"V"</mi></msub>
        </Formula>
        <Snippet of=include_str!("code/project.py") names=NAMES sizes=SIZES/>
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
        <Snippet of=notebooks::ATTENTION.code names=NAMES sizes=SIZES notebook=|| notebook(&notebooks::ATTENTION)/>
        <Formula label="One weight" source="The row’s largest score m is subtracted first, which changes nothing in the result. A score that a mask blocks is minus infinity">
            <msub><mi>"w"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"="</mo>
            <mfrac>
                <msup><mi>"e"</mi><mrow><msub><mi>"s"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"−"</mo><mi>"m"</mi></mrow></msup>
                <mrow><msub><mo>"∑"</mo><mi>"l"</mi></msub>
                    <msup><mi>"e"</mi><mrow><msub><mi>"s"</mi><mrow><mi>"i"</mi><mi>"l"</mi></mrow></msub><mo>"−"</mo><mi>"m"</mi></mrow></msup></mrow>
            </mfrac>
        </Formula>
        <Snippet of=include_str!("code/weight.py") names=NAMES sizes=SIZES/>
        <Formula label="The variance of a product of random vectors" source="Vaswani and others 2017, section 3.2.1, footnote 4: each term has mean 0 and variance 1">
            <mtext>"Var"</mtext><mo>"("</mo><msubsup><mo>"∑"</mo><mrow><mi>"i"</mi><mo>"="</mo><mn>"1"</mn></mrow><msub><mi>"d"</mi><mi>"k"</mi></msub></msubsup>
            <msub><MathSym part="q" role=Hue::Query>"q"</MathSym><mi>"i"</mi></msub>
            <msub><MathSym part="k" role=Hue::Key>"k"</MathSym><mi>"i"</mi></msub><mo>")"</mo><mo>"="</mo>
            <msub><mi>"d"</mi><mi>"k"</mi></msub>
        </Formula>
        <Snippet of=include_str!("code/variance.py") names=NAMES/>
        <Formula label="The derivative of softmax" source="It vanishes where one weight is near 1 and all others near 0">
            <mfrac>
                <mrow><mi>"∂"</mi><msub><mi>"w"</mi><mi>"i"</mi></msub></mrow>
                <mrow><mi>"∂"</mi><msub><mi>"s"</mi><mi>"j"</mi></msub></mrow>
            </mfrac><mo>"="</mo><msub><mi>"w"</mi><mi>"i"</mi></msub><mo>"("</mo>
            <msub><mi>"δ"</mi><mrow><mi>"i"</mi><mi>"j"</mi></mrow></msub><mo>"−"</mo><msub><mi>"w"</mi><mi>"j"</mi></msub><mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/slope.py") names=NAMES sizes=SIZES/>
        <p>
            "From alignment: Bahdanau and others (2015) score with vᵀ tanh(W s + U h), Luong and others (2015) also with sᵀ h and \
             sᵀ W h. Split W in two, one factor for each side, and the last one is the inner product of a query and a key. \
             Britz and others (2017) scored in this way, with the inner product of W₁ h and W₂ s. They found \
             that the small network did slightly better. Vaswani and others (2017) cite them, suspect that \
             without scaling the products grow too large, and divide by the root."
        </p>
        <p>
            "Haviv and others (2022) trained causal language models without positions and found that they had learned where \
             tokens stand. With one layer a token can know which tokens came before it, but not their order. \
             From the second layer on it can also use how much each of those saw."
        </p>
        <p>
            "In PyTorch the whole formula is one call: "
            <code translate="no">"torch.nn.functional.scaled_dot_product_attention(q, k, v)"</code>
            ". With "<code translate="no">"is_causal=True"</code>" it has a causal mask. Each of q, k and v has the shape (batch, heads, T, d_k), and so has the result if v is as wide as q."
        </p>
        <p>
            "Cost, for width d: attention does in the order of T² d multiplications and keeps T² weights per head. A recurrent \
             layer does in the order of T d², in T steps that wait for each other (Vaswani and others 2017, table 1)."
        </p>
    }
    .into_any()
}
