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
            text: "This model, from your files, has the form of GPT-2 (Radford and others, 2019). It has {weights} \
                   million [parameters](parameter) in {blocks} blocks, with {heads} [heads](head) in each. It \
                   knows {vocabulary} [tokens](token), from single characters to whole words. This is how it \
                   writes:\n\n\
                   {written}\n\n\
                   You can’t train it. To train your own again, press “Start over” in the settings.\n\n\
                   + Where does it run?\n\n\
                   The model runs in your tab, and your files stay on your computer. The small GPT of this course \
                   is built the same way, so you can read every figure as before.",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Where it looks",
            text: "Click the sentence to write your own, then point at a token. The arcs show how much one head \
                   looks from there at each token so far. This is [attention](attention). The small pictures are \
                   the other heads, in {blocks} layers.\n\n\
                   ! Press a few heads: do they look at different tokens?\n\n\
                   + How does a head know where a token stands?\n\n\
                   The model learned a vector for each position, and adds it to the token’s [embedding](embedding). In \
                   GPT-2, nearby positions have similar vectors. To see this, choose “Positions” in the [view “Head jobs”](@jobs).",
            set: |_| {},
            asks: &[],
        },
        Beat {
            title: "Where spare weight goes",
            text: "Each small picture is one head. How many have a column of strong color at the left? Such a head \
                   puts most of its weight on the first token.\n\n\
                   ! [Open the view “Attention”](@attention) and change the sentence: does the column stay?\n\n\
                   + Why the first token?\n\n\
                   The weights of a row add up to 1, so a head must put them somewhere, even when no token is of \
                   use. That is how Xiao and others (2023) explain why large models look so much at the first few \
                   tokens. They named these **attention sinks**. In the next section’s test, more than half of the \
                   weight goes to the first token in {sinks}.",
            set: |link| link.view = "heads".into(),
            asks: &[],
        },
        Beat {
            title: "Heads with a job",
            text: "In this test, the model reads {random} random tokens, then the same ones again. An \
                   **induction head** finds where the current token stood before, and looks at what came next \
                   there.\n\n\
                   ! Choose a job, then press a cell with a strong color. That head opens on your sentence.\n\n\
                   + What are induction heads good for?\n\n\
                   Each looks at a token that may come again. {best}. Such a head makes that token more probable \
                   now (Olsson and others 2022).\n\n\
                   So a model can continue what it has read once, even nonsense. In this test, its [loss](loss) \
                   is {copies}. If the second number is much lower, it copies. To see this yourself, write a \
                   sentence that says something twice.",
            set: |link| link.view = "jobs".into(),
            asks: &["opened-induction"],
        },
        Beat {
            title: "When does it know?",
            text: "Only what leaves the last block becomes the distribution of the next token. But the **logit \
                   lens** (nostalgebraist 2020) reads the [residual stream](residual-stream) after any block, as \
                   if that block were the last.\n\n\
                   ! Choose a token. Does the final guess become probable slowly, or all at once?\n\n\
                   + How to read the table and the grid\n\n\
                   The table gives the best guess after each block. The grid shows how probable the final guess is \
                   there: the stronger the color, the more probable.",
            set: |link| link.view = "next".into(),
            asks: &["opened-lens"],
        },
        Beat {
            title: "Which token carries it?",
            text: "These two sentences differ in one name, and GPT-2 continues them with “Mary” and “John.” In \
                   **activation patching**, the model reads the second. But at one token, after one block, its \
                   stream becomes the first sentence’s.\n\n\
                   ! Press “Patch each token.” Which swaps bring back the first sentence’s answer?\n\n\
                   + Where does the answer move?\n\n\
                   Tokens before the name that differs change nothing, because their streams are the same. In \
                   the top row everything depends on that name, and in the bottom row on the last token. Between \
                   which blocks does it move?\n\n\
                   The sentences are after Wang and others (2022). Vig and others (2020) and Meng and others \
                   (2022) tested language models in this way.",
            set: |link| link.view = "patching".into(),
            asks: &[],
        },
        Beat {
            title: "How it writes",
            text: "Like every GPT, it writes one token at a time. A [cache](kv-cache) keeps the keys and values \
                   of earlier tokens, so each new one takes less work. The chapters “Choosing the next token” \
                   and “The whole machine” show this, too.\n\n\
                   ! Change the temperature: when does the model begin to ramble?",
            set: |link| link.view = "writing".into(),
            asks: &[],
        },
        Beat {
            title: "What you can do now",
            text: "You can open a model and ask where each head looks, after which block the answer can be read, \
                   and which token carries it. Researchers use the same three tools: attention patterns, the logit \
                   lens and activation patching. Their field is called **mechanistic interpretability**.",
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
                   does the model expect “chair”? After which block? Then [open the view “Head jobs”](@jobs) and press the \
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
                    "It looks at what came after that token earlier in this text.",
                    "What usually comes next is learned and kept in the weights. An induction head reads it off the text, \
                     so it works on random tokens, too.",
                ),
                (
                    "It looks at the token before the current one, and copies that token.",
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
            asks: "Suppose the lens shows the final guess in the last blocks only. Was it in the stream before \
                   that?",
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
