//! What beam search found for a source, beside the greedy choice.

use leptos::{context::Provider, prelude::*};
use serde_json::json;
use unroll_protocol::transduction::{Candidate, Search};

use super::{Provenance, Sheet, SheetExport, exact, four_decimals, power_of_ten};
use crate::{
    fetched::{Fetch, Fetched, View, part},
    reactive::memo,
};

/// What the figure is made of.
#[derive(Clone)]
struct Found {
    name: &'static str,
    model: Signal<&'static str>,
    search: Memo<Option<Search>>,
    provenance: Signal<Provenance>,
    width: ViewFn,
}

/// The table of what was found; `width` is the control of the beam's width, `model` says which model is
/// searched, where there are several. It is fetched when it is first shown.
pub fn search_figure(
    name: &'static str,
    model: Signal<&'static str>,
    search: Memo<Option<Search>>,
    provenance: Signal<Provenance>,
    width: impl Into<ViewFn>,
) -> AnyView {
    const FIGURE: Fetch = part!(search: View = || figure(expect_context()));
    let found = Found { name, model, search, provenance, width: width.into() };
    view! {
        <Provider value=found>
            <Fetched fetch=FIGURE what="The table" style=Some("search") around=|notice| notice/>
        </Provider>
    }
    .into_any()
}

/// A probability in few digits, however small.
pub fn probability(p: f32) -> String {
    if p >= 0.001 { format!("{p:.4}") } else { power_of_ten(p.into(), 1) }
}

/// Whether greedy found the likeliest, and what would be right.
fn verdict(search: &Search) -> Option<String> {
    let (greedy, best) = (&search.greedy, search.found.first()?);
    let by = best.log_probability - greedy.log_probability;
    let sure = four_decimals(greedy.log_probability);
    let said = if best.text == greedy.text {
        format!("Greedy found the likeliest of these too, with ln p = {sure}.")
    } else if by > 0.0 {
        format!(
            "Greedy wrote {} with ln p = {sure}. The beam’s best is {:.2} times as likely.",
            greedy.text,
            by.exp()
        )
    } else {
        format!("Greedy’s answer, with ln p = {sure}, is likelier than all that the beam kept.")
    };
    let right = search.right.as_ref().map(|right| format!(" Correct answer: {right}."));
    Some(said + &right.unwrap_or_default())
}

/// Bytes of the first letters that two texts share.
fn shared(text: &str, other: &str) -> usize {
    let both = text.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    both.map(|(letter, _)| letter.len_utf8()).sum()
}

/// A line for a sequence. Where it leaves the way of the first one is marked: from there they are two.
fn row(search: &Search, rank: String, found: &Candidate) -> AnyView {
    let best = search.found.first().unwrap_or(found);
    let right = search.right.as_ref().map(|right| *right == found.text);
    let (mark, what) = match (right, found.text == search.greedy.text) {
        (Some(true), true) => ("✓", "greedy, right"),
        (Some(true), false) => ("✓", "right"),
        (Some(false), true) => ("✗", "greedy, wrong"),
        (Some(false), false) => ("✗", "wrong"),
        (None, true) => ("", "greedy"),
        (None, false) => ("", ""),
    };
    // A way of its own begins with the letter that differs.
    let common = if found.text == best.text { 0 } else { shared(&found.text, &best.text) };
    let (before, rest) = found.text.split_at(common);
    let next = rest.chars().next().filter(|_| found.text != best.text).map_or(0, char::len_utf8);
    let (parts, after) = rest.split_at(next);
    // The greedy one may be likelier than all that the beam kept.
    let likeliest = best.log_probability.max(search.greedy.log_probability);
    view! {
        <tr>
            <th scope="row">{rank}" "<span aria-hidden="true">{mark}</span></th>
            <td class="search-text search-letters" translate="no">
                <span class="search-shared">{before.to_owned()}</span>
                <span class="search-parts">{parts.to_owned()}</span>
                {after.to_owned()}
                {(!found.ended).then_some(" …")}
            </td>
            <td>{four_decimals(found.log_probability)}</td>
            <td class="search-share">
                <i style=format!("width:{:.2}%", 100.0 * (found.log_probability - likeliest).exp())></i>
            </td>
            <td>{probability(found.log_probability.exp())}</td>
            <td>{what}</td>
        </tr>
    }
    .into_any()
}

/// A line for each sequence found.
fn rows(search: &Search) -> AnyView {
    let found = search.found.iter().enumerate();
    found
        .map(|(index, found)| row(search, (index + 1).to_string(), found))
        .collect_view()
        .into_any()
}

/// The greedy choice, where the beam has lost it.
fn lost(search: &Search) -> Option<&Candidate> {
    let kept = search.found.iter().any(|found| found.text == search.greedy.text);
    Some(&search.greedy).filter(|_| !kept && !search.found.is_empty())
}

fn figure(found: Found) -> AnyView {
    let Found { name, model, search, provenance, width } = found;
    let said = memo(move || search.with(|search| search.as_ref().and_then(verdict)));
    let state = move || if search.with(Option::is_some) { "live" } else { "empty" };
    let source = move || search.with(|search| search.as_ref().map(|search| search.source.clone()));
    let whose = move || match model.get() {
        "" => String::new(),
        model => format!("Model: {model}. "),
    };
    let sheet = Callback::new(move |()| search.with(|search| search.as_ref().map(sheet_of)));
    view! {
        <p class="view-note">
            "Greedy decoding takes the likeliest character at every step. Beam search keeps several beginnings \
             and continues the likeliest ones. A less likely character can lead to a likelier whole."
        </p>
        <div class="view-bar search-bar">
            <div class="search-width">{width.run()}</div>
            <p role="status" data-testid=format!("{name}-said")>{said}</p>
        </div>
        <section class="figure figure-search" data-testid=format!("figure-{name}") data-state=state
            aria-label="Beam search">
            <div class="figure-box view-scroll search-table" tabindex="0" role="region" aria-label="What beam search found">
                <table data-testid=format!("{name}-table")
                    style=move || search.with(|search| {
                        search.as_ref().map(|search| format!("--rows:{}", search.found.len() + usize::from(lost(search).is_some())))
                    })>
                    <caption>
                        {whose}"Input: "<span class="search-text" translate="no">{source}</span>
                    </caption>
                    <thead><tr>
                        <th scope="col">"rank"</th><th scope="col">"written"</th>
                        <th scope="col">"ln p"</th>
                        <th scope="col" colspan="2">"p (bar: share of the largest)"</th>
                        <th scope="col"><span class="visually-hidden">"is"</span></th>
                    </tr></thead>
                    <tbody>{move || search.with(|search| search.as_ref().map(rows))}</tbody>
                    <tfoot>{move || search.with(|search| {
                        let search = search.as_ref()?;
                        lost(search).map(|greedy| row(search, "–".to_owned(), greedy))
                    })}</tfoot>
                </table>
            </div>
            <SheetExport name title="What beam search found" provenance sheet/>
        </section>
    }
    .into_any()
}

fn sheet_of(search: &Search) -> Sheet {
    let columns =
        ["rank", "source", "written", "ended", "ln_probability", "probability", "right", "greedy"];
    let mut sheet = Sheet::new(&columns);
    let line = |(index, found): (usize, &Candidate)| {
        let right = search.right.as_ref().map(|right| *right == found.text);
        vec![
            json!(index + 1),
            json!(search.source),
            json!(found.text),
            json!(found.ended),
            exact(found.log_probability),
            exact(found.log_probability.exp()),
            json!(right),
            json!(found.text == search.greedy.text),
        ]
    };
    sheet.rows = search.found.iter().enumerate().map(line).collect();
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, log_probability: f32) -> Candidate {
        Candidate { text: text.to_owned(), log_probability, ended: true }
    }

    fn search() -> Search {
        Search {
            source: "ba".to_owned(),
            right: Some("ab".to_owned()),
            greedy: found("b", -0.2),
            found: vec![
                found("ab", -0.1),
                found("b", -0.2),
                Candidate { ended: false, ..found("aa", -1.0) },
            ],
        }
    }

    #[test]
    fn the_beam_is_written_down_with_what_is_right_and_what_is_greedy() {
        let sheet = sheet_of(&search());
        assert!(sheet.rows.iter().all(|row| row.len() == sheet.columns.len()));
        let p = exact((-0.1f32).exp());
        let first = [json!(1), json!("ba"), json!("ab"), json!(true), json!(-0.1), p];
        assert_eq!(sheet.rows[0][..6], first);
        let marks: Vec<_> = sheet.rows.iter().map(|row| row[6..].to_vec()).collect();
        let is = |right: bool, greedy: bool| vec![json!(right), json!(greedy)];
        assert_eq!(marks, [is(true, false), is(false, true), is(false, false)]);
        assert_eq!(sheet.rows[2][3], json!(false));
        let unknown = sheet_of(&Search { right: None, ..search() });
        assert!(unknown.rows.iter().all(|row| row[6].is_null()));
    }

    #[test]
    fn sequences_part_at_the_first_letter_that_differs() {
        assert_eq!(["", "b", "ab", "abd", "abc"].map(|text| shared(text, "abc")), [0, 0, 2, 2, 3]);
        assert_eq!(shared("1998-05-03", "1998-05-13"), 8);
    }

    #[test]
    fn the_verdict_compares_whole_sequences() {
        let said = |greedy: Candidate| verdict(&Search { greedy, ..search() }).unwrap();
        assert_eq!(
            said(found("b", -0.2)),
            "Greedy wrote b with ln p = −0.2000. The beam’s best is 1.11 times as likely. Correct answer: ab."
        );
        assert!(said(found("ab", -0.1)).starts_with("Greedy found the likeliest of these too"));
        let likelier = said(found("c", -0.05));
        assert!(likelier.contains("is likelier than all that the beam kept."));
        assert_eq!(verdict(&Search::default()), None);
    }
}
