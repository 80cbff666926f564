//! What is said of a model that others trained.

use crate::{
    course::{Beat, Script, Trial},
    teaching::{Kind, Quiz},
};

pub const SCRIPT: Script = Script {
    before: "A model from elsewhere, in the figures you know.",
    beats: &[
        Beat {
            title: "",
            text: "You opened this model from files. It has {weights} million [parameters](parameter) in {blocks} \
                   blocks, with {heads} [heads](head) in each. It knows {vocabulary} [tokens](token): pieces of text, \
                   from single characters to whole words. This is how it writes:\n\n\
                   {written}\n\n\
                   It has the form of GPT-2, which Radford and others published in 2019. The small GPT of this course is \
                   built the same way, so you can read every figure as before. The model runs in your tab, and your \
                   files stay on your computer.\n\n\
                   The one thing you can’t do here is train it. To train a model of your own again, open the settings \
                   and press “Start over”.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Where it looks",
            text: "Click the sentence and write your own. Then point at a token. The arcs show how much one head, at this \
                   token, looks at it and at each token before it. This is [attention](attention).\n\n\
                   The small pictures beside the figure are the other heads: one row for each of the {blocks} layers. \
                   Press some. Do they look at different tokens?",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Where spare weight goes",
            text: "Each small picture is one head. How many have one column of strong color at the left? Such a head puts \
                   most of its weight on the first token. Change the sentence in the view “Attention”, and look again: \
                   does the column stay?\n\n\
                   The weights of a row add up to 1, so a head must put them somewhere, even when no token is of use. \
                   That is how Xiao and others (2023) explain why large models look so much at the first few tokens. \
                   They named these **attention sinks**. In the test in the next section, more than half of \
                   the weight goes to the first token in {sinks}.",
            set: |link| link.view = "heads".into(),
            asks: &[],
        },
        Beat {
            title: "Heads with a job",
            text: "What does a head do? Test it. The model reads {random} random tokens, and then the same ones again. \
                   The figure says where each head looks.\n\n\
                   Choose a job, then press a cell with a strong color. That head opens on your own sentence. For an \
                   induction head, write one that says something twice.\n\n\
                   One job stands out. An **induction head** finds where the current token stood before, and \
                   looks at the token that came next there. It makes that token more probable now (Olsson \
                   and others 2022). {best}.\n\n\
                   Such heads let a model continue what it has read once, even nonsense. In this test, the model’s \
                   [loss](loss) is {copies}. If the second number is much lower, the model copies.",
            set: |link| link.view = "jobs".into(),
            asks: &["opened-induction"],
        },
        Beat {
            title: "When does it know?",
            text: "The [residual stream](residual-stream) runs through all blocks, and only what comes out at the end \
                   becomes the distribution of the next token. But you can read the stream earlier. Take it \
                   after any block, and treat that block as the last. This is the **logit lens** \
                   (nostalgebraist 2020).\n\n\
                   Choose a token in the sentence. The table gives the best guess after each block. The grid shows how \
                   probable the final guess is there: the stronger the color, the more probable. Does it rise slowly, or \
                   all at once?",
            set: |link| link.view = "next".into(),
            asks: &["opened-lens"],
        },
        Beat {
            title: "Which token carries it?",
            text: "These two sentences, after Wang and others (2022), differ in one name. GPT-2 goes on with “Mary” after \
                   the first, and with “John” after the second. Now the model reads the second. But at one token, after \
                   one block, its stream is replaced by that of the first sentence. This is **activation patching**. Vig \
                   and others (2020) and Meng and others (2022) tested language models in this way.\n\n\
                   Press “Patch each token”. A strong color means: this one swap was enough to bring back the answer of \
                   the first sentence. Tokens before the name that differs change nothing, because their \
                   streams are the same. In the top row everything depends on that name, and in the bottom \
                   row on the last token. Between which blocks does it move?",
            set: |link| link.view = "patching".into(),
            asks: &[],
        },
        Beat {
            title: "How it writes",
            text: "It writes one token at a time, like every GPT. It keeps the keys and values of all earlier tokens in a \
                   [cache](kv-cache), so each new token takes less work. Change the temperature: when does it begin to \
                   ramble?\n\n\
                   The chapters “Choosing the next token” and “The whole machine” show this model, too.",
            set: |link| link.view = "writing".into(),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can open a model from elsewhere and ask how it arrives at its answer. Where does each head look? \
                   After which block can the answer be read? Which token carries it? Researchers ask with the same three \
                   tools: attention patterns, the logit lens and activation patching. Their field is called \
                   **mechanistic interpretability**.",
            set: |_| {},
            asks: &[],
        },
    ],
    tries: &[
        Trial {
            text: "“It” stands for the box here. Point at “it” and try several heads: does any look at “box”? Then change \
                   “small” to “large”, so that “it” is the cat. At “it” nothing can change: the last word comes later. \
                   Does a head at the last word look elsewhere now?",
            label: "Write this sentence",
            id: "opened-it",
            set: |_| {},
            sentence: Some("The cat did not fit into the box because it was too small"),
        },
        Trial {
            text: "A line of nonsense comes twice, but the second time its last word is missing. Choose the last “under”: \
                   does the model expect “chair”? After which block? Then open the view “Head jobs” and press the \
                   strongest induction head: does it look from “under” to “chair”?",
            label: "Write this line",
            id: "opened-twice",
            set: |link| link.view = "next".into(),
            sentence: Some("blue seven under chair. blue seven under"),
        },
        Trial {
            text: "Can it copy without its induction heads? Read off this figure which heads they are. Then go to “All \
                   heads”, press “Switch heads off”, and switch off the strongest. How likely is “chair” now? Often other \
                   heads do the same job, so losing just one may cost little.",
            label: "Write the line, show the jobs",
            id: "opened-off",
            set: |link| link.view = "jobs".into(),
            sentence: Some("blue seven under chair. blue seven under"),
        },
    ],
    quizzes: &[
        Quiz {
            id: "opened-induction",
            kind: Kind::FindError,
            asks: "“An induction head knows which token usually comes after the current one.” What is wrong?",
            options: &[
                (
                    "It looks at what came next earlier in this text.",
                    "What usually comes next is learned and kept in the weights. An induction head reads it off the text, \
                     so it works on random tokens, too.",
                ),
                (
                    "It looks at the token before the current one.",
                    "That is another job: “Previous token” in the figure.",
                ),
                (
                    "Nothing is wrong.",
                    "The tokens of the test are random, so no token usually comes after another. Yet such heads do their \
                     job.",
                ),
            ],
            right: 0,
        },
        Quiz {
            id: "opened-lens",
            kind: Kind::Explain,
            asks: "Suppose the lens shows the final guess in the last blocks only. Was it not in the stream before?",
            options: &[
                (
                    "No. What the lens does not show is not in the stream.",
                    "The lens reads the stream in one way only: by the final norm and the unembedding. More may be in it.",
                ),
                (
                    "It may have been, in a form that only the later blocks can read.",
                    "The unembedding was trained for the end of the stream. Patching can find what the lens can’t see: it \
                     tests what the stream does.",
                ),
                (
                    "Yes. Every block has the final guess.",
                    "The stream is the embedding plus what the blocks so far have written. The later ones have not \
                     written yet.",
                ),
            ],
            right: 1,
        },
    ],
};
