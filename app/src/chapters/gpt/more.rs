//! The formulas of the whole model, as code.

use leptos::prelude::*;

use super::notebooks;
use crate::{
    course::notebook,
    store::Store,
    teaching::{Formula, Hue, MathSym, Names, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("x", "gpt-stream", Hue::Hidden),
    ("out", "gpt-stream", Hue::Hidden),
    ("W", "gpt-head", Hue::Weight),
    ("p", "gpt-bet", Hue::Output),
];

/// The stream after so many blocks.
fn stream(blocks: &'static str) -> AnyView {
    view! { <msub><MathSym part="gpt-stream" role=Hue::Hidden>"x"</MathSym><mi>{blocks}</mi></msub> }
        .into_any()
}

pub fn more() -> AnyView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        let (context, width, heads) =
            store.link.with(|link| (link.gpt.context, link.gpt.width, link.gpt.heads));
        format!(
            "In your model, T is at most {context}, C = {width} and h = {heads}. Each head is {} wide.",
            width / heads.max(1)
        )
    });
    view! {
        <p>
            "The plan is that of GPT-2: "<cite>"Language Models are Unsupervised Multitask Learners"</cite>
            " (Radford, Wu, Child, Luan, Amodei, Sutskever, 2019). The first GPT came a year before: "
            <cite>"Improving Language Understanding by Generative Pre-Training"</cite>
            " (Radford, Narasimhan, Salimans, Sutskever, 2018). GPT-2 moved its norms in front of the layers and added one \
             more at the end. It also scaled down some of the starting weights, and had a larger vocabulary, context \
             and batch."
        </p>
        <Formula label="One block: add what the heads gather, then add what the feed-forward layer makes of it"
            source="Radford et al. 2019, section 2.3">
            <mtable>
                <mtr><mtd>
                    <mi>"y"</mi><mo>"="</mo>{stream("l")}<mo>"+"</mo><mi>"heads"</mi><mo>"("</mo><mi>"LN"</mi>
                    <mo>"("</mo>{stream("l")}<mo>")"</mo><mo>")"</mo>
                </mtd></mtr>
                <mtr><mtd>
                    <msub>
                        <MathSym part="gpt-stream" role=Hue::Hidden>"x"</MathSym>
                        <mrow><mi>"l"</mi><mo>"+"</mo><mn>"1"</mn></mrow>
                    </msub>
                    <mo>"="</mo><mi>"y"</mi><mo>"+"</mo><mi>"FFN"</mi><mo>"("</mo><mi>"LN"</mi><mo>"("</mo>
                    <mi>"y"</mi><mo>")"</mo><mo>")"</mo>
                </mtd></mtr>
            </mtable>
        </Formula>
        <Snippet of=notebooks::BLOCK.code names=NAMES sizes notebook=|| notebook(&notebooks::BLOCK)/>
        <Formula label="The distribution: softmax of the final norm of the stream after all N blocks, times W"
            source="Radford et al. 2018, section 3.1; the final norm 2019">
            <MathSym part="gpt-bet" role=Hue::Output>"p"</MathSym><mo>"="</mo><mi>"softmax"</mi><mo>"("</mo>
            <mi>"LN"</mi><mo>"("</mo>{stream("N")}<mo>")"</mo>
            <MathSym part="gpt-head" role=Hue::Weight>"W"</MathSym><mo>")"</mo>
        </Formula>
        <Snippet of=notebooks::WHOLE.code names=NAMES sizes notebook=|| notebook(&notebooks::WHOLE)/>
        <p>
            "GPT-2 uses its table of embeddings again as W, transposed. Your model has a separate matrix there \
             unless you tie the two in the settings. Its keys have no bias: one would add the same to all scores of a \
             row, and softmax ignores that. Its GELU is the exact one, where GPT-2’s code has an approximation by tanh."
        </p>
    }
    .into_any()
}
