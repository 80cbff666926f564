//! The inspector's steps, from the vectors to the row's output.

use leptos::{html, prelude::*};
use unroll_protocol::attention::Scoring;
use wasm_bindgen::JsCast;

use super::{Naming, Shown, bracketed, fixed, tables};
use crate::figures::scale::limit;
use crate::{figures::Colors, reactive::memo};

type Cell = Memo<Option<Shown>>;

/// A way to each of the steps, most of which do not fit on one screen.
pub fn links(naming: Naming, gone_to: RwSignal<Option<usize>>) -> AnyView {
    let root = NodeRef::<html::Div>::new();
    let go = move |at: usize| {
        gone_to.set(Some(at));
        let inspector = root.get_untracked().and_then(|root| root.closest(".inspector").ok()?);
        let heading = inspector
            .and_then(|all| all.query_selector_all(".inspector-steps h4").ok()?.item(at as u32));
        if let Some(heading) = heading {
            let heading = heading.unchecked_into::<web_sys::HtmlElement>();
            // Once the step is open, where one is at a time.
            request_animation_frame(move || {
                heading.scroll_into_view();
                // Whoever goes by keyboard goes on from there. A heading that is there takes the focus.
                let _ = heading.focus();
            });
        }
    };
    let one = |(at, name): (usize, &&'static str)| {
        let link = move |_| go(at);
        view! {
            <button type="button" class="button" data-testid=format!("inspector-step-{}", at + 1)
                aria-current=move || (gone_to.get() == Some(at)).then_some("step")
                on:click=link>{at + 1}" "<span>{*name}</span></button>
        }
    };
    view! {
        <div class="inspector-links" role="group" aria-label="Steps" node_ref=root>
            {naming.steps().iter().enumerate().map(one).collect_view()}
        </div>
    }
    .into_any()
}

/// All steps, in order.
pub fn steps(
    shown: Cell,
    naming: Naming,
    gone_to: RwSignal<Option<usize>>,
    colors: Memo<Colors>,
    go: Callback<(usize, usize)>,
) -> AnyView {
    let [all_terms, all_keys, all_values] = [(); 3].map(|()| RwSignal::new(false));
    let additive = memo(move || {
        shown.with(|shown| {
            shown.as_ref().is_some_and(|s| matches!(s.row.scoring, Scoring::Additive { .. }))
        })
    });
    let of =
        move |make: fn(&Shown) -> AnyView| move || shown.with(|shown| shown.as_ref().map(make));
    let strips = move || {
        shown.with(|shown| shown.as_ref().map(|shown| colors.with(|c| score_strips(shown, c))))
    };
    let values = move || {
        shown.with(|shown| shown.as_ref().map(|shown| colors.with(|c| value_strips(shown, c))))
    };
    let terms = move || {
        let all = all_terms.get();
        shown.with(|shown| shown.as_ref().map(|shown| tables::terms(shown, all)))
    };
    let keys = move || {
        let all = all_keys.get();
        shown.with(|shown| shown.as_ref().map(|shown| tables::keys(shown, all, go)))
    };
    let output = move || {
        let all = all_values.get();
        shown.with(|shown| shown.as_ref().map(|shown| tables::output(shown, all)))
    };
    // What a step comes to stands in its heading, in sight also where its last line is not.
    let heading = move |at: usize, name: AnyView, of: Option<fn(&Shown) -> f64>| {
        let value = of.map(|of| {
            let value = move || shown.with(|shown| shown.as_ref().map(|shown| fixed(of(shown))));
            view! { ": "<span class="number">{value}</span> }
        });
        let open = move |_| gone_to.set(Some(at));
        view! { <h4 tabindex="-1" on:click=open>{name}{value}</h4> }.into_any()
    };
    // Of those that a style sheet shows one at a time.
    let is_open = move |at: usize| move || gone_to.get().unwrap_or_default() == at;
    let last = naming.steps().len() - 1;
    let count = move |of: fn(&Shown) -> usize| {
        memo(move || shown.with(|shown| shown.as_ref().map_or(0, of)))
    };
    let [product, softmax, mix, keys_of, keys_word, output_of, numbers] = match naming {
        Naming::Heads => [
            "Multiply query and key",
            "Softmax over the row",
            "Times the value, summed over the keys: the head’s output",
            "Keys of the row",
            "keys",
            "Dimensions of the output",
            "dimensions",
        ],
        Naming::States => [
            "Multiply the two states",
            "Softmax turns scores into weights",
            "Weights times encoder states, added up: the context c",
            "Source characters of the row",
            "source characters",
            "Numbers of the context",
            "numbers",
        ],
    };
    view! {
        <ol class="inspector-steps">
            <li class:open=is_open(0)>
                {heading(
                    0,
                    (move || if additive.get() { "A small network scores the pair" } else { product }).into_any(),
                    Some(|shown| shown.worked().sum),
                )}
                {strips}
                {tables::scroller("Terms of the score", terms.into_any())}
                {more("terms", all_terms, count(|shown| shown.terms().len()), "terms")}
                {of(sum)}
            </li>
            // There is nothing else to be done to the score of two states.
            {(naming == Naming::Heads).then(|| view! {
                <li class:open=is_open(1)>
                    {heading(1, "Scale and mask".into_any(), Some(|shown| shown.worked().score))}
                    {of(score)}
                </li>
            })}
            <li class:open=is_open(last - 1)>
                {heading(last - 1, softmax.into_any(), Some(|shown| shown.worked().weight))}
                {of(exponent)}
                {tables::scroller(keys_of, keys.into_any())}
                {more("keys", all_keys, count(|shown| shown.row.tokens.len()), keys_word)}
                {of(weight)}
            </li>
            <li class:open=is_open(last)>
                {heading(last, mix.into_any(), None)}
                {values}
                {tables::scroller(output_of, output.into_any())}
                {more("values", all_values, count(|shown| shown.paper.output.len()), numbers)}
                {of(compared)}
            </li>
        </ol>
    }
    .into_any()
}

/// Opens and closes a long table.
fn more(id: &'static str, all: RwSignal<bool>, count: Memo<usize>, what: &'static str) -> AnyView {
    view! {
        <Show when=move || tables::is_long(count.get())>
            <button type="button" class="button button-quiet" data-testid=format!("inspector-all-{id}")
                aria-expanded=move || all.get().to_string()
                on:click=move |_| all.update(|all| *all = !*all)>
                {move || if all.get() {
                    "Show fewer".to_owned()
                } else {
                    format!("All {} {what}", count.get())
                }}
            </button>
        </Show>
    }
    .into_any()
}

/// A line of arithmetic: what is worked out, how, and to what.
fn line(id: &'static str, name: AnyView, how: AnyView, value: f64) -> AnyView {
    view! {
        <p class="inspector-line">
            <span>{name}</span>" "
            <span>{how}" = "</span>
            <b class="number" data-testid=format!("inspector-{id}") data-value=value.to_string()>{fixed(value)}</b>
        </p>
    }
    .into_any()
}

fn score_strips(shown: &Shown, colors: &Colors) -> AnyView {
    let terms = shown.terms();
    let list = |of: fn(&unroll_protocol::attention::Term) -> f64| -> Vec<f64> {
        terms.iter().map(of).collect()
    };
    let (query, key, product) = (list(|t| t.query), list(|t| t.key), list(|t| t.product));
    let vectors = limit(query.iter().chain(&key).copied());
    // To the strongest, which the learner looks for.
    let products = product.iter().fold(1e-4, |most: f64, value| most.max(value.abs()));
    let most = plain(products);
    let [q, k, p] = tables::terms_named(shown);
    // Where the two came from: the words above them are only letters.
    let from = match (shown.naming, &shown.row.scoring) {
        (Naming::Heads, _) => "",
        (_, Scoring::Product { .. }) => {
            "s is the decoder’s state, and h is the encoder’s state at this source character."
        }
        (_, Scoring::Additive { .. }) => {
            "a = Wₛ s comes from the decoder’s state s, and b = Wₕ h from the encoder’s state h. Wₛ, \
             Wₕ and v are learned."
        }
    };
    view! {
        {(!from.is_empty()).then(|| view! { <p class="hint">{from}</p> })}
        {tables::strip(q, "role-query", &query, vectors, colors)}
        {tables::strip(k, "role-key", &key, vectors, colors)}
        {tables::strip(p, "", &product, products, colors)}
        <p class="hint">{format!(
            "Colors of {q} and {k}: −{vectors} to {vectors}; of {p}: −{most} to {most}."
        )}</p>
    }
    .into_any()
}

fn sum(shown: &Shown) -> AnyView {
    let terms = shown.terms();
    let name = match shown.row.scoring {
        Scoring::Product { .. } => {
            let [q, k, _] = tables::terms_named(shown);
            view! { <b class="role-query">{q}</b>" · "<b class="role-key">{k}</b>"," }.into_any()
        }
        Scoring::Additive { .. } => view! { "The score," }.into_any(),
    };
    line(
        "dot",
        name,
        format!("the sum of the {} products", terms.len()).into_any(),
        shown.worked().sum,
    )
}

fn score(shown: &Shown) -> AnyView {
    let (worked, divisor) = (shown.worked(), shown.paper.divisor);
    let scaled = match &shown.row.scoring {
        Scoring::Product { query, .. } if divisor != 1.0 => {
            let width = query.len();
            let root = (divisor * divisor - width as f64).abs() < 1e-3;
            let by = if root { format!("√{width} = {}", plain(divisor)) } else { plain(divisor) };
            let how = format!("{} / {}", fixed(worked.sum), plain(divisor)).into_any();
            line("scaled", view! { {format!("Divided by {by}:")} }.into_any(), how, worked.scaled)
        }
        Scoring::Product { .. } => view! { <p>"Not divided by anything here."</p> }.into_any(),
        Scoring::Additive { .. } => view! { <p>"Such a score is not scaled."</p> }.into_any(),
    };
    let bias = shown.row.bias.iter().any(|bias| *bias != 0.0).then(|| {
        let how = format!("{} + {}", fixed(worked.scaled), bracketed(worked.bias)).into_any();
        let total = unroll_protocol::attention::rounded(worked.scaled + worked.bias);
        line("biased", view! { "Plus the bias for the distance (ALiBi):" }.into_any(), how, total)
    });
    let mask = if worked.allowed {
        view! {
            <p data-testid="inspector-mask" data-allowed="true">
                <b class="role-query">{shown.query_name()}</b>" may look here: the score stays "
                <b class="number" data-testid="inspector-score" data-value=worked.score.to_string()>
                    {fixed(worked.score)}
                </b>"."
            </p>
        }
        .into_any()
    } else {
        view! {
            <p data-testid="inspector-mask" data-allowed="false">
                <b class="role-query">{shown.query_name()}</b>" may not look here: the mask makes the score "
                <b class="number" data-testid="inspector-score" data-value="-Infinity">{fixed(worked.score)}</b>
                ", so its weight will be exactly 0."
            </p>
        }
        .into_any()
    };
    view! { {scaled}{bias}{mask} }.into_any()
}

/// As few decimals as the number needs, and no more than are shown.
fn plain(value: f64) -> String {
    let text = fixed(value);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn exponent(shown: &Shown) -> AnyView {
    let (worked, Some(largest)) = (shown.worked(), shown.paper.largest) else {
        return view! { <p>"Nothing is allowed in this row."</p> }.into_any();
    };
    let top = shown.paper.keys[largest].score;
    let how = if worked.allowed {
        let x = worked.score - top;
        view! {
            "e"<sup>{fixed(worked.score)}" − "{bracketed(top)}</sup>" = e"<sup>{plain(x)}</sup>
        }
        .into_any()
    } else {
        view! { "e"<sup>"−∞"</sup> }.into_any()
    };
    view! {
        <p>
            <i>"m"</i>" is the row’s largest score, "<b class="number">{fixed(top)}</b>" ("
            <span class="role-key">{shown.key_name(largest)}</span>
            "). Subtracting it changes no weight and keeps the numbers small."
        </p>
        {line("exponent", view! { "This cell:" }.into_any(), how, worked.exponent)}
    }
    .into_any()
}

fn weight(shown: &Shown) -> AnyView {
    let (worked, total) = (shown.worked(), shown.paper.sum);
    let how = format!("{} / {}", fixed(worked.exponent), fixed(total)).into_any();
    let name = if shown.of_states() { "The weight α:" } else { "Weight:" };
    view! {
        {line("sum", view! { "The row’s sum," }.into_any(),
            format!("of {} exponentials", shown.paper.keys.len()).into_any(), total)}
        {line("weight", view! { {name} }.into_any(), how, worked.weight)}
    }
    .into_any()
}

fn value_strips(shown: &Shown, colors: &Colors) -> AnyView {
    let paper = &shown.paper;
    let shares: Vec<(f64, f64)> =
        (0..paper.output.len()).map(|dimension| shown.share(dimension)).collect();
    let (values, shares): (Vec<f64>, Vec<f64>) = shares.into_iter().unzip();
    let limit = limit(values.iter().chain(&paper.output).copied());
    let (value, share, output, weight) = match shown.naming {
        Naming::Heads => ("v", "w × v", "output", "w"),
        Naming::States => ("h", "α × h", "c", "α"),
    };
    let [of_value, of_output] = shown.naming.mixing();
    view! {
        {tables::strip(value, of_value, &values, limit, colors)}
        {tables::strip(share, of_value, &shares, limit, colors)}
        {tables::strip(output, of_output, &paper.output, limit, colors)}
        <p class="hint">{format!("Colors: −{limit} to {limit}. {weight} is the weight.")}</p>
    }
    .into_any()
}

fn compared(shown: &Shown) -> AnyView {
    let (weight, output) = shown.apart();
    let own = shown.row.weights.get(shown.key).map_or(0.0, |weight| f64::from(*weight));
    let silent = shown.row.mixed.iter().all(|value| *value == 0.0)
        && shown.paper.output.iter().any(|value| *value != 0.0);
    let outcome = if silent {
        "This head is switched off: its output counts as 0.".to_owned()
    } else {
        let what = if shown.of_states() { "context" } else { "output" };
        format!("The {what} differs from the model’s by at most {}.", fixed(output))
    };
    view! {
        <p class="hint" data-testid="inspector-compared" data-weight=own.to_string()
            data-apart=weight.max(if silent { 0.0 } else { output }).to_string()>
            {format!(
                "Each line is worked out from the numbers shown. They are rounded, so a last digit may be off \
                 by one. The model’s own weight is {}, {} from this. {outcome}",
                fixed(own),
                fixed(weight)
            )}
        </p>
    }
    .into_any()
}
