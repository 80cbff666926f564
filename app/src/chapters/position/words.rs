//! The chapter's words.

use leptos::prelude::*;
use unroll_protocol::{architecture::Positions, study::position::CountFrom};

use super::notebooks;
use crate::{
    course::{Beat, Script, Trial, notebook},
    store::Store,
    teaching::{Formula, Hue, Kind, MathSym, Names, Quiz, Snippet},
};

pub const SCRIPT: Script = Script {
    before: "Attention without a mask has no sense of order: shuffle the tokens, and each gets the same output as \
             before.",
    beats: &[
        Beat {
            title: "",
            text: "To [attention](attention), “dog bites man” and “man bites dog” would be the same: its output is a \
                   sum, and sums have no order. So a transformer must be told where each [token](token) stands. \
                   Here six models learn to name the n-th symbol. Only their [encoding](positional-encoding) \
                   differs: how they are told the positions.\n\n\
                   ! Press “Replay”: which answers become right?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Without positions there is no order",
            text: "@ figure-compare\n\n\
                   Without positions, the symbols are like letters in a bag: you can count them, but you can’t say \
                   which came third. In the table’s last column, the symbol that is asked for trades places with \
                   another.\n\n\
                   ! Look down that column: whose [logits](logit) stay as they are?\n\n\
                   + How well can it guess?\n\n\
                   All it can do is guess the symbol that the bag holds most often. At 8 symbols it is right in \
                   {none} of the cases so far.",
            set: |link| {
                link.position.encoding = Positions::None;
                link.view = "models".into();
            },
            asks: &["position-shuffle"],
        },
        Beat {
            title: "Two orders, one sum",
            text: "“Bad, not good” and “good, not bad” have the same words and opposite meanings. In the second row \
                   of the figure, two symbols trade places. Without positions attention adds up the same terms, so \
                   the difference is 0, up to rounding.\n\n\
                   ! [Choose another encoding](>position-encodings): does the sum change?",
            set: |link| {
                (link.position.encoding, link.position.number) = (Positions::None, 1);
                link.view = "swap".into();
            },
            asks: &[],
        },
        Beat {
            title: "The plain number swamps the rest",
            text: "@ figure-position-swamping\n\n\
                   Why not add the position as it is? By position 20, one number among small ones has grown by \
                   20, like a singer getting ever louder. The figure compares ‘a’ and ‘b’ at each position: at a \
                   cosine of 1, they look the same.\n\n\
                   ! Follow “Integer” to the right: which line comes closest to 1?",
            set: |link| {
                link.position.encoding = Positions::Integer;
                link.view = "encoding".into();
            },
            asks: &[],
        },
        Beat {
            title: "Many clocks at once",
            text: "@ figure-clock\n\n\
                   How can small numbers count far? A clock’s fast hand tells seconds apart, and its slow hand \
                   tells hours apart. Vaswani and his colleagues made each pair of numbers a hand with its own \
                   speed: a sine and a cosine, always between −1 and 1.\n\n\
                   ! [Drag a hand](>clock-dial), and see how the others follow.",
            set: |link| {
                (link.position.k, link.position.at) = (0, 5);
                link.view = "encoding".into();
            },
            asks: &["position-hands"],
        },
        Beat {
            title: "A step is a turn",
            text: "@ figure-clock\n\n\
                   Move k positions forward, and every hand turns by k times its speed, wherever it began. So \
                   one matrix makes this step from every position.\n\n\
                   ! [Drag k](>control-position-k), and watch the dashed hands: which of them runs ahead?\n\n\
                   + How exact is the step, and what for?\n\n\
                   The line under the matrix says how exact it is, from this position and from others. A \
                   model may want to look “k places back.” Vaswani and his colleagues hoped that such turns \
                   would make this easy to learn.",
            set: |link| {
                link.position.k = 2;
                link.view = "turn".into();
            },
            asks: &[],
        },
        Beat {
            title: "A table ends",
            text: "Why not let the model learn a vector for each position, like an [embedding](embedding)? GPT-2 \
                   does. But the table ends with the longest sequence in training. For the next position there is no \
                   row, so the model has no answer at all.\n\n\
                   ! Find in the figure where the rows end.\n\n\
                   + How well does it do before the table ends?\n\n\
                   In your run, such a model gets {learned} right at 8 symbols so far.",
            set: |link| {
                (link.position.encoding, link.position.length) = (Positions::Learned, 12);
                link.view = "encoding".into();
            },
            asks: &["position-rows"],
        },
        Beat {
            title: "Only the distance",
            text: "@ figure-position-scores\n\n\
                   Rotary encoding turns [queries](query) and [keys](key) by their positions, so positions \
                   enter a score only by how far back the key is. ALiBi’s scores only fade with \
                   distance: they can’t pick “exactly 3 back.” Here models count from the end.\n\n\
                   ! Look along a diagonal: are the scores the same? Then train: [which models learn it](@models)?\n\n\
                   + Why only the distance?\n\n\
                   Does a word matter because it is word number 412, or because it came right before? Rotary and \
                   ALiBi bet on the second. With ALiBi, {alibi} of answers are right at 8 symbols so far. With \
                   no positions at all, {none} are. ALiBi favors nearby tokens. It was made for language and for \
                   longer texts. This task often asks for a symbol far away.",
            set: |link| {
                (link.position.encoding, link.position.from) = (Positions::Rotary, CountFrom::End);
                link.view = "distance".into();
            },
            asks: &["position-offset", "position"],
        },
        Beat {
            title: "Longer than anything trained on",
            text: "@ figure-position-lengths\n\n\
                   The models that count from the first symbol are back. In training no sequence has more than 8 \
                   symbols, but the figure goes up to 24. Right of the mark the models must **extrapolate**: go \
                   beyond what they have seen.\n\n\
                   ! There, which lines hold up, and which drop? Then press Train: does that change?\n\n\
                   + And at 2 symbols?\n\n\
                   In training, no sequence has fewer than 4 symbols. So 2 is as new to the models as 12: a line \
                   can drop there, too.",
            set: |link| link.view = "longer".into(),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can say why attention needs positions, name five ways to give them, and read sines and \
                   cosines as hands of a clock. You can say which encodings mark places, which mark distances, and \
                   why a learned table ends. The next chapter puts attention into a whole block.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "Count back from the end instead, which sounds just as hard. Which model wins now, and which ones \
                   still work at 16? Keep training: the sines learn this, too, but late.",
            label: "Count back",
            id: "end",
            set: |link| {
                link.position.from = CountFrom::End;
                link.view = "models".into();
            },
            sentence: None,
        },
        Trial {
            text: "Give the model no positions, but two layers and a [causal mask](causal-mask). Does a swap still \
                   leave its logits unchanged?",
            label: "Past only, two layers",
            id: "causal",
            set: |link| {
                link.position.encoding = Positions::None;
                (link.position.causal, link.position.layers) = (true, 2);
                link.view = "models".into();
            },
            sentence: None,
        },
        Trial {
            text: "Ask for one of 20 symbols, when no sequence in training had more than 8. Which model has no \
                   answer at all?",
            label: "20 symbols",
            id: "long",
            set: |link| {
                (link.position.encoding, link.position.length) = (Positions::Learned, 20);
                link.view = "reading".into();
            },
            sentence: None,
        },
        Trial {
            text: "Go to position 1,000,000, and take a step of 4,096. Is the turn still right? To how many digits?",
            label: "Go far",
            id: "far",
            set: |link| {
                (link.position.at, link.position.k) = (1_000_000, 4096);
                link.view = "turn".into();
            },
            sentence: None,
        },
        Trial {
            text: "Give two heads 15 dimensions each. Which model can’t be built, and why?",
            label: "Width 30",
            id: "odd",
            set: |link| {
                (link.position.width, link.position.encoding) = (30, Positions::Rotary);
                link.view = "encoding".into();
            },
            sentence: None,
        },
    ],
    quizzes: &[
        Quiz {
            id: "position-shuffle",
            kind: Kind::FindError,
            asks: "“The bag can tell ‘abc’ from ‘cab’, but not from ‘abb’.” What is wrong?",
            options: &[
                (
                    "It can’t tell ‘abc’ from either of them, because a bag has no order.",
                    "You can count what is in a bag: ‘abb’ has two b’s and no c.",
                ),
                (
                    "Nothing is wrong.",
                    "Put ‘cab’ into a bag. It holds one a, one b and one c, and so does the bag of ‘abc’.",
                ),
                (
                    "‘abc’ and ‘cab’ make the same bag. ‘abb’ makes another.",
                    "A bag keeps how many there are of each letter, and forgets their order. That is all that a model \
                     without positions can use here.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "position-hands",
            kind: Kind::Explain,
            asks: "Why many hands, and not one fast hand alone?",
            options: &[
                (
                    "A fast hand comes around again, so two positions look alike.",
                    "A slower hand tells the rounds apart, as the hour hand tells 3:15 from 4:15.",
                ),
                (
                    "One fast hand would soon leave the range from −1 to 1 and never return.",
                    "Sine and cosine never leave it, at any speed.",
                ),
                (
                    "One fast hand can’t tell neighbors apart.",
                    "It does that well. It is far positions that it can confuse.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "position-rows",
            kind: Kind::Explain,
            asks: "Give the table 16 rows, but train on at most 8 symbols, as before. What is in row 12 then?",
            options: &[
                (
                    "It continues the pattern of the rows before it.",
                    "A sine does that, because it is computed. A table has no rule that leads from one row to the \
                     next.",
                ),
                (
                    "Nearly the same as in row 8.",
                    "Nothing ties a row to its neighbors. Each learns only from sequences that reach it.",
                ),
                (
                    "Random numbers, much as at the start.",
                    "No sequence reaches this row, so no example ever teaches it anything.",
                ),
            ],
            right: 2,
        },
        Quiz {
            id: "position-offset",
            kind: Kind::Explain,
            asks: "Why does counting back from the end suit an encoding that knows only distances?",
            options: &[
                (
                    "Sequences are shorter when they are read backward.",
                    "They are as long as before, and nothing is read backward: only the numbering changed.",
                ),
                (
                    "For each n, the symbol is then always n places back.",
                    "The same distance every time, whatever the length. Counted from the start, the distance changes \
                     with the length.",
                ),
                (
                    "Distances are larger near the end, so the model can tell them apart better.",
                    "A distance of 3 is 3 anywhere. That is the point of such an encoding.",
                ),
            ],
            right: 1,
        },
    ],
};

/// The formulas' names in the code.
pub const NAMES: Names = &[("q", "position-query", Hue::Query), ("k", "position-key", Hue::Key)];

pub fn more() -> AnyView {
    let store = expect_context::<Store>();
    let sizes = Signal::derive(move || {
        store.link.with(|link| format!("In every model here, d = {}.", link.position.width))
    });
    view! {
        <Formula label="PE of a position in even dimensions is the sine, in odd ones the cosine, of the position times a speed"
            source="Vaswani et al. 2017, section 3.5">
            <mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>","</mo><mn>"2"</mn><mi>"i"</mi><mo>")"</mo><mo>"="</mo>
            <mi>"sin"</mi><mo>"("</mo><mi>"p"</mi><msub><mi>"ω"</mi><mi>"i"</mi></msub><mo>")"</mo><mo>","</mo>
            <mspace width="1em"/>
            <mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>","</mo><mn>"2"</mn><mi>"i"</mi><mo>"+"</mo><mn>"1"</mn><mo>")"</mo><mo>"="</mo>
            <mi>"cos"</mi><mo>"("</mo><mi>"p"</mi><msub><mi>"ω"</mi><mi>"i"</mi></msub><mo>")"</mo><mo>","</mo>
            <mspace width="1em"/>
            <msub><mi>"ω"</mi><mi>"i"</mi></msub><mo>"="</mo>
            <msup><mn>"10000"</mn><mrow><mo>"−"</mo><mn>"2"</mn><mi>"i"</mi><mo>"/"</mo><mi>"d"</mi></mrow></msup>
        </Formula>
        <Snippet of=notebooks::SINUSOID.code names=NAMES sizes notebook=|| notebook(&notebooks::SINUSOID)/>
        <Formula label="PE of p plus k is M k times PE of p; each block of M k turns a pair by k times its speed"
            source="Vaswani et al. 2017 suppose that models can use such a linear map; angle sums of sine and cosine">
            <mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>"+"</mo><mi>"k"</mi><mo>")"</mo><mo>"="</mo>
            <msub><mi>"M"</mi><mi>"k"</mi></msub><mi>"PE"</mi><mo>"("</mo><mi>"p"</mi><mo>")"</mo><mo>","</mo>
            <mspace width="1em"/>
            <mtext>"blocks "</mtext>
            <mrow><mo>"("</mo><mtable>
                <mtr><mtd><mi>"cos"</mi><mi>"k"</mi><mi>"ω"</mi></mtd><mtd><mi>"sin"</mi><mi>"k"</mi><mi>"ω"</mi></mtd></mtr>
                <mtr><mtd><mo>"−"</mo><mi>"sin"</mi><mi>"k"</mi><mi>"ω"</mi></mtd><mtd><mi>"cos"</mi><mi>"k"</mi><mi>"ω"</mi></mtd></mtr>
            </mtable><mo>")"</mo></mrow>
        </Formula>
        <Snippet of=include_str!("code/shift.py") names=&[] sizes/>
        <Formula label="Rotary: the product of a turned query and a turned key depends on the difference of their positions"
            source="Su et al. 2021, section 3.2">
            <msup><mrow><mo>"("</mo><msub><mi>"R"</mi><mi>"m"</mi></msub><MathSym part="position-query" role=Hue::Query>"q"</MathSym><mo>")"</mo></mrow><mi>"T"</mi></msup>
            <mo>"("</mo><msub><mi>"R"</mi><mi>"n"</mi></msub><MathSym part="position-key" role=Hue::Key>"k"</MathSym><mo>")"</mo><mo>"="</mo>
            <msup><MathSym part="position-query" role=Hue::Query>"q"</MathSym><mi>"T"</mi></msup>
            <msub><mi>"R"</mi><mrow><mi>"n"</mi><mo>"−"</mo><mi>"m"</mi></mrow></msub>
            <MathSym part="position-key" role=Hue::Key>"k"</MathSym>
        </Formula>
        <Snippet of=include_str!("code/rotary.py") names=NAMES/>
        <Formula label="ALiBi: the score falls by the head’s slope with each step of distance"
            source="Press, Smith and Lewis 2022; slopes from 2^(−8/n) on for n heads">
            <msub><mi>"s"</mi><mi>"mn"</mi></msub><mo>"="</mo>
            <mfrac><mrow>
                <msup><MathSym part="position-query" role=Hue::Query>"q"</MathSym><mi>"T"</mi></msup>
                <MathSym part="position-key" role=Hue::Key>"k"</MathSym>
            </mrow><msqrt><msub><mi>"d"</mi><mi>"k"</mi></msub></msqrt></mfrac>
            <mo>"−"</mo><mi>"slope"</mi><mo>"·"</mo><mo>"|"</mo><mi>"m"</mi><mo>"−"</mo><mi>"n"</mi><mo>"|"</mo>
        </Formula>
        <Snippet of=include_str!("code/alibi.py") names=NAMES/>
        <p>
            "The paper adds PE to embeddings multiplied by √d. This page does so too where vectors are fixed. GPT-2 learns \
             a vector for each position instead. Rotary and ALiBi add nothing to the embedding: they act \
             inside every attention layer. For both, d_k is the width of a head, and rotary’s speeds have \
             d_k in place of d. ALiBi was made for models that see only the past. Here its scores fall the \
             same way on both sides when nothing is masked. Its slopes tell near from far, but they single \
             out no place: see in the table how far two heads get with them."
        </p>
        <p>
            "A model without positions is not always blind to order. Under a causal mask the first token sees one \
             token, the second sees two. With a second layer on top, that leaves a trace of order. Haviv et al. (2022) \
             trained large causal models without positions and could read the position from their states. Here the \
             swap shows whether such a trace is there. With one layer, or without a mask, it is 0."
        </p>
        <p>
            "The models train on lengths of 4 to 8 symbols, a different one at each step. Answers are measured on 96 \
             sequences of each length, which no model trains on."
        </p>
    }
    .into_any()
}
