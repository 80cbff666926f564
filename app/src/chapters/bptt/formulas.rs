//! The chapter's formulas.

use leptos::prelude::*;
use unroll_protocol::study::bptt::{Cell, LossKind};

use super::notebooks;
use crate::{
    course::notebook,
    store::Store,
    teaching::{Formula, Hue, MathSym, Names, Snippet},
};

/// The formulas' names in the code.
pub const NAMES: Names = &[
    ("s", "state", Hue::Hidden),
    ("h", "state", Hue::Hidden),
    ("J", "jacobian", Hue::Weight),
    ("U", "recurrent", Hue::Weight),
    ("c", "cell", Hue::Cell),
];

/// `top / ds_t` with the given subscripts.
fn slope(top: &'static str, of: &'static str, by: AnyView) -> AnyView {
    view! {
        <mfrac>
            <mrow><mi>"∂"</mi><msub><mi>{top}</mi><mi>{of}</mi></msub></mrow>
            <mrow><mi>"∂"</mi>{by}</mrow>
        </mfrac>
    }
    .into_any()
}

/// s with a subscript.
fn state(at: &'static str) -> AnyView {
    view! {
        <msub><MathSym part="state" role=Hue::Hidden>"s"</MathSym><mi>{at}</mi></msub>
    }
    .into_any()
}

/// J with a subscript.
fn jacobian(at: AnyView) -> AnyView {
    view! { <msub><MathSym part="jacobian" role=Hue::Weight>"J"</MathSym>{at}</msub> }.into_any()
}

fn plus_one() -> AnyView {
    view! { <mrow><mi>"t"</mi><mo>"+"</mo><mn>"1"</mn></mrow> }.into_any()
}

/// How the gradient of the loss at the last step, or of losses at every step, goes back.
pub fn recursion(loss: LossKind) -> AnyView {
    match loss {
        LossKind::Last => view! {
            <Formula label="The gradient at step t is that at the last step T times the Jacobians J of steps T down to t plus 1, in this order">
                {slope("L", "T", state("t"))}
                <mo>"="</mo>
                {slope("L", "T", state("T"))}
                {jacobian(view! { <mi>"T"</mi> }.into_any())}
                {jacobian(view! { <mrow><mi>"T"</mi><mo>"−"</mo><mn>"1"</mn></mrow> }.into_any())}
                <mo>"⋯"</mo>
                {jacobian(plus_one())}
            </Formula>
        }
        .into_any(),
        LossKind::Every => view! {
            <Formula label="D at step t is the gradient of that step’s own loss plus D at the next step times the next step’s Jacobian">
                <msub><mi>"D"</mi><mi>"t"</mi></msub>
                <mo>"="</mo>
                {slope("L", "t", state("t"))}
                <mo>"+"</mo>
                <msub><mi>"D"</mi>{plus_one()}</msub>
                {jacobian(plus_one())}
            </Formula>
        }
        .into_any(),
    }
}

/// What the letters of [`recursion`] are.
pub fn jacobian_is() -> AnyView {
    view! {
        <Formula label="J at step k is the diagonal matrix of 1 minus s squared, times U">
            {jacobian(view! { <mi>"k"</mi> }.into_any())}
            <mo>"="</mo>
            <mi>"diag"</mi><mo>"("</mo><mn>"1"</mn><mo>"−"</mo>
            <msubsup><MathSym part="state" role=Hue::Hidden>"s"</MathSym><mi>"k"</mi><mn>"2"</mn></msubsup>
            <mo>")"</mo><MathSym part="recurrent" role=Hue::Weight>"U"</MathSym>
        </Formula>
    }
    .into_any()
}

/// The factor of a step back along what a gate carries: an LSTM's cell state, or a GRU's state.
pub fn carried(cell: Cell) -> AnyView {
    let is_lstm = cell == Cell::Lstm;
    let carried = move || match is_lstm {
        true => view! { <MathSym part="cell" role=Hue::Cell>"c"</MathSym> }.into_any(),
        false => view! { <MathSym part="state" role=Hue::Hidden>"h"</MathSym> }.into_any(),
    };
    let (gate, label) = match is_lstm {
        true => (
            "f",
            "The derivative of the cell state with respect to the one before is the diagonal of the forget gate plus the path through h",
        ),
        false => (
            "z",
            "The derivative of the GRU’s state with respect to the one before is the diagonal of the update gate plus the paths through the gates and the candidate",
        ),
    };
    let path = match is_lstm {
        true => view! {
            <mtext>"path via"</mtext><mspace width="0.3em"/>
            <msub><MathSym part="state" role=Hue::Hidden>"h"</MathSym><mi>"t"</mi></msub>
        }
        .into_any(),
        false => view! { <mtext>"other paths"</mtext> }.into_any(),
    };
    view! {
        <Formula label>
            <mfrac>
                <mrow><mi>"∂"</mi><msub>{carried()}{plus_one()}</msub></mrow>
                <mrow><mi>"∂"</mi><msub>{carried()}<mi>"t"</mi></msub></mrow>
            </mfrac>
            <mo>"="</mo><mi>"diag"</mi><mo>"("</mo>
            <msub><mi>{gate}</mi>{plus_one()}</msub><mo>")"</mo>
            <mo>"+"</mo>{path}
        </Formula>
    }
    .into_any()
}

/// All of them, with their sources.
pub fn all() -> AnyView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In all three networks, H = {}.", link.bptt.hidden))
    });
    view! {
        <h3>"The nudge"</h3>
        <p>
            "A number of the state, raised by d, changes the loss. Divided by d, that change comes close \
             to the derivative that backpropagation gives:"
        </p>
        <Formula label="The loss with unit u of the state at step t raised by d, minus the loss without, divided by d, is about the derivative of the loss with respect to that unit">
            <mfrac>
                <mrow>
                    <mi>"L"</mi><mo>"("</mo>{state("t")}<mo>"+"</mo><mi>"d"</mi><msub><mi>"e"</mi><mi>"u"</mi></msub>
                    <mo>")"</mo><mo>"−"</mo><mi>"L"</mi><mo>"("</mo>{state("t")}<mo>")"</mo>
                </mrow>
                <mi>"d"</mi>
            </mfrac>
            <mo>"≈"</mo>
            <mfrac>
                <mrow><mi>"∂"</mi><mi>"L"</mi></mrow>
                <mrow>
                    <mi>"∂"</mi>
                    <msub><MathSym part="state" role=Hue::Hidden>"s"</MathSym>
                        <mrow><mi>"t"</mi><mo>","</mo><mi>"u"</mi></mrow></msub>
                </mrow>
            </mfrac>
        </Formula>
        <Snippet of=include_str!("code/nudge.py") names=NAMES sizes/>
        <p class="hint">
            "This is a finite difference, taken on one side. It is off by about d times half the second \
             derivative, so a smaller nudge is more exact. But the two losses come from 32-bit logits, and \
             dividing by d enlarges their rounding error. A nudge that is too small measures only rounding. \
             A slope below about 0.00001 is too small for a nudge of 0.01."
        </p>
        <h3>"The RNN"</h3>
        <p>
            "Gradients are row vectors and multiply from the left, so the last step’s Jacobian comes \
             first. With a loss at the last step alone:"
        </p>
        {recursion(LossKind::Last)}
        <Snippet of=notebooks::LAST.code names=NAMES sizes notebook=|| notebook(&notebooks::LAST)/>
        <p>"With a loss at every step, each step’s own gradient joins what comes back:"</p>
        {recursion(LossKind::Every)}
        <Snippet of=include_str!("code/every.py") names=NAMES sizes/>
        {jacobian_is()}
        <Snippet of=include_str!("code/jacobian.py") names=NAMES sizes/>
        <p class="hint">
            "Hochreiter 1991; Bengio, Simard and Frasconi 1994; Pascanu, Mikolov and Bengio 2013. The \
             slope of tanh is never above 1. U has no such limit. Nor does U have to commute with its \
             transpose. If it does not, it is called a non-normal matrix, and a product of such matrices may \
             grow for a while even where the spectral radius is below 1."
        </p>
        <h3>"The LSTM’s cell"</h3>
        {carried(Cell::Lstm)}
        <Snippet of=include_str!("code/cell.py") names=NAMES sizes/>
        <p class="hint">
            "Hochreiter and Schmidhuber 1997; the forget gate is from Gers, Schmidhuber and Cummins \
             2000. The GRU’s (1 − z) n + z h has the update gate z in its place (PyTorch’s form). Its \
             other paths lead through the gates and the candidate:"
        </p>
        {carried(Cell::Gru)}
        <h3>"The weights"</h3>
        <p>"The same U acts at every step, so its gradient is a sum over the steps:"</p>
        <Formula label="The gradient with respect to U is the sum over t of delta t times the transpose of s at t minus 1">
            <mfrac><mrow><mi>"∂"</mi><mi>"L"</mi></mrow>
                <mrow><mi>"∂"</mi><MathSym part="recurrent" role=Hue::Weight>"U"</MathSym></mrow></mfrac>
            <mo>"="</mo>
            <munderover><mo>"∑"</mo><mrow><mi>"t"</mi><mo>"="</mo><mn>"1"</mn></mrow><mi>"T"</mi></munderover>
            <msubsup><mi>"δ"</mi><mi>"t"</mi><mo>"⊤"</mo></msubsup>
            <msubsup><MathSym part="state" role=Hue::Hidden>"s"</MathSym>
                <mrow><mi>"t"</mi><mo>"−"</mo><mn>"1"</mn></mrow><mo>"⊤"</mo></msubsup>
            <mo>","</mo>
            <msub><mi>"δ"</mi><mi>"t"</mi></msub><mo>"="</mo>
            {slope("L", "", state("t"))}
            <mi>"diag"</mi><mo>"("</mo><mn>"1"</mn><mo>"−"</mo>
            <msubsup><MathSym part="state" role=Hue::Hidden>"s"</MathSym><mi>"t"</mi><mn>"2"</mn></msubsup>
            <mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/weights.py") names=NAMES sizes/>
        <p>"Clipping comes after that sum, and scales it as a whole:"</p>
        <Formula label="The gradient g is multiplied by the smaller of 1 and c over the norm of g" source="Pascanu, Mikolov and Bengio 2013">
            <mi>"g"</mi><mo>"←"</mo><mi>"g"</mi><mo>"·"</mo><mi>"min"</mi><mo>"("</mo>
            <mn>"1"</mn><mo>","</mo><mfrac><mi>"c"</mi><mrow><mo>"‖"</mo><mi>"g"</mi><mo>"‖"</mo></mrow></mfrac>
            <mo>")"</mo>
        </Formula>
        <Snippet of=include_str!("code/clip.py") names=&[]/>
        <h3>"The experiment"</h3>
        <p>
            "16 letters to recall, 16 distractors, 16 sequences per step, AdamW at 0.005 without decay, \
             weights as PyTorch draws them: the same for all three, from one seed. Each sequence has a gap \
             of its own, drawn from 1 to n evenly on a log scale. Distractors also stand before the letter, \
             so that all sequences are equally long. Accuracy is measured on 64 held-out sequences for each \
             gap. Training asks at the last step only. Curves are taken on 16 held-out sequences of the \
             longest gap, over batch and units together. The nudge is tried on the first of such sequences \
             alone. Truncation cuts the sequence into pieces, counted from its beginning, as training on a \
             long text does."
        </p>
    }
    .into_any()
}
