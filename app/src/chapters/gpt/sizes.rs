//! The published GPTs beside the one in training.

use leptos::prelude::*;
use unroll_protocol::Started;

use crate::{
    controls::grouped, course::use_right, reactive::memo, store::Store, teaching::GuessFirst,
};

/// Parameters of GPT-3.
const LARGEST: u64 = 175_000_000_000;
/// Where one option ends and the next begins, in models like the learner's.
const BOUNDS: [u64; 2] = [10_000, 1_000_000];
const OPTIONS: [&str; 3] = ["Fewer than 10,000", "10,000 to a million", "More than a million"];

/// What the papers print, and of the learner's model the same.
struct Row {
    name: &'static str,
    /// Of GPT-1, GPT-2 and GPT-3.
    published: [&'static str; 3],
    own: fn(&Started) -> String,
}

const ROWS: [Row; 6] = [
    Row {
        name: "Parameters",
        published: ["117 M", "1.5 B", "175 B"],
        own: |model| grouped(model.parameters),
    },
    Row {
        name: "Layers",
        published: ["12", "48", "96"],
        own: |model| model.spec.gpt.layers.to_string(),
    },
    Row {
        name: "Width",
        published: ["768", "1,600", "12,288"],
        own: |model| grouped(model.spec.gpt.width.into()),
    },
    Row {
        name: "Heads",
        published: ["12", "25", "96"],
        own: |model| model.spec.gpt.heads.to_string(),
    },
    Row {
        name: "Context",
        published: ["512", "1,024", "2,048"],
        own: |model| grouped(model.spec.gpt.context.into()),
    },
    Row {
        name: "Text",
        published: ["7,000 books", "40 GB", "300 B tokens"],
        own: |model| format!("{} {}s", grouped(model.training_tokens), model.spec.tokens.unit()),
    },
];

/// How many of the learner's models are as large as GPT-3, and then the table.
pub fn sizes(store: Store) -> AnyView {
    let parameters = memo(move || store.started.with(|s| s.as_ref().map(|model| model.parameters)));
    view! {
        <GuessFirst id="gpt-size"
            question=Signal::stored("How many models like yours would it take to match GPT-3’s parameters?".to_owned())
            options=Signal::stored(OPTIONS.map(str::to_owned).to_vec())
            answer=Signal::derive(move || parameters.get().map(|own| option_of(LARGEST / own.max(1))))
            explain=Signal::derive(move || explain(parameters.get().unwrap_or_default()))
            on_right=use_right("gpt-size")>
            {table(store)}
        </GuessFirst>
    }
    .into_any()
}

fn option_of(times: u64) -> usize {
    BOUNDS.iter().filter(|&&bound| times >= bound).count()
}

fn explain(own: u64) -> String {
    // To two digits.
    let times = LARGEST / own.max(1);
    let unit = 10_u64.pow(times.max(10).ilog10() - 1);
    let times = grouped((times + unit / 2) / unit * unit);
    format!("175 billion divided by your {} is about {times}.", grouped(own))
}

/// The numbers as published, with their sources, and in the last column the live model's.
fn table(store: Store) -> AnyView {
    let row = move |row: &'static Row| {
        let own = move || store.started.with(|s| s.as_ref().map(|model| (row.own)(model)));
        view! {
            <tr>
                <th scope="row">{row.name}</th>
                {row.published.map(|number| view! { <td>{number}</td> })}
                <td class="sizes-own">{own}</td>
            </tr>
        }
    };
    view! {
        <div class="sizes" tabindex="0" role="group" aria-label="The published GPTs beside yours">
            <table data-testid="gpt-sizes">
                <thead>
                    <tr>
                        <td></td>
                        <th scope="col">"GPT-1 (2018)"</th>
                        <th scope="col">"GPT-2 (2019)"</th>
                        <th scope="col">"GPT-3 (2020)"</th>
                        <th scope="col">"Yours, now"</th>
                    </tr>
                </thead>
                <tbody>{ROWS.iter().map(row).collect_view()}</tbody>
            </table>
        </div>
        <p>
            "Almost nothing changed but the size. GPT-2 moved each norm to before its layer and added one at the end. \
             In GPT-3, every other block looks mostly at nearby tokens."
        </p>
        <p class="hint">
            "M is a million, and B is a billion. The first three columns are as published by Radford and others (2018, 2019) and Brown and others (2020). \
             The first paper gives no number of parameters: the 117 million are in the second. The 25 heads are in the settings released with GPT-2, not in its paper. The last row is what each one learned from. The books, \
             over 7,000, are BooksCorpus, and the 40 GB are WebText. GPT-3 read 300 billion tokens of several collections."
        </p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use unroll_protocol::Link;

    use super::*;

    #[test]
    fn the_option_is_that_of_the_ratio() {
        assert_eq!([0, 9_999, 10_000, 999_999, 1_000_000].map(option_of), [0, 0, 1, 1, 2]);
        assert_eq!(explain(175_000), "175 billion divided by your 175,000 is about 1,000,000.");
    }

    #[test]
    fn the_last_column_is_the_models_own() {
        let started = Started {
            spec: Link::default().experiment(),
            parameters: 104_960,
            vocabulary: Vec::new(),
            training_tokens: 90_000,
            held_out_tokens: 10_000,
            training_characters: 90_000,
            held_out_characters: 10_000,
            notes: Vec::new(),
            step: 0,
            workers: 1,
            kept: None,
        };
        let own = ROWS.map(|row| (row.own)(&started));
        assert_eq!(own, ["104,960", "2", "64", "4", "48", "90,000 characters"]);
    }
}
