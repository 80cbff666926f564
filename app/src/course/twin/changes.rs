//! What a twin has otherwise, as the link holds it: `seed:2;layers:3`.

use unroll_protocol::{
    Link,
    link::{Corpus, Setting, Value, settings},
};

use super::super::story::model_of;

/// What the link says of a twin that has nothing otherwise yet.
pub const NO_CHANGE: &str = "same";

/// Settings that are about the page, not about a run or what is seen of it.
const OF_THE_PAGE: [&str; 11] = [
    "chapter",
    "idea",
    "device",
    "adapter",
    "moments",
    "autostart",
    "step",
    "twin",
    "embed",
    "hide",
    "theme",
];

/// The setting that says which text is learned.
const TEXT: &str = "corpus";

/// Whether a setting can have this value in a twin: the learner's own text is that of the run.
fn is_possible(name: &str, value: &Value) -> bool {
    let is_own_text = name == TEXT && *value == Value::Choice(Corpus::Own.id());
    !(is_own_text || OF_THE_PAGE.contains(&name))
}

/// Whether another value of this setting makes another model, or the same one of another text.
fn is_of_model(link: &Link, setting: &Setting, value: &Value) -> bool {
    if setting.name == TEXT {
        return true;
    }
    let mut with = link.clone();
    (setting.set)(&mut with, value.clone());
    model_of(&with) != model_of(link)
}

/// The changes that a link names, those that can't be read left out.
pub fn changes(link: &Link) -> Vec<(&'static Setting, Value)> {
    let named = link.twin.split(';').filter_map(|change| change.split_once(':'));
    let read = |(name, value): (&str, &str)| {
        let setting = settings().find(|setting| setting.name == name)?;
        Some((setting, setting.kind.parse(value).filter(|value| is_possible(name, value))?))
    };
    named.filter_map(read).collect()
}

/// The link of the twin that `link` describes, of a run with the settings of `base`.
pub fn twin_of(base: &Link, link: &Link) -> Link {
    let mut twin = base.clone();
    for (setting, value) in changes(link) {
        (setting.set)(&mut twin, value);
    }
    Link { twin: String::new(), autostart: false, step: 0, embed: true, hide: Vec::new(), ..twin }
}

/// `link` after the twin's own controls have made `twin` of it: what makes another model is the
/// twin's alone, what is looked at is the same in both.
pub fn taken_over(base: &Link, link: &Link, twin: &Link) -> Link {
    let mut next = link.clone();
    let mut changes = Vec::new();
    for setting in settings().filter(|setting| !OF_THE_PAGE.contains(&setting.name)) {
        let theirs = (setting.get)(twin);
        if theirs == (setting.get)(base) || !is_possible(setting.name, &theirs) {
            continue;
        }
        // Some settings matter only beside another that the twin has otherwise too.
        let mut without = twin.clone();
        (setting.set)(&mut without, (setting.get)(base));
        if is_of_model(base, setting, &theirs) || model_of(&without) != model_of(twin) {
            changes.push(format!("{}:{theirs}", setting.name));
        } else {
            (setting.set)(&mut next, theirs);
        }
    }
    next.twin = if changes.is_empty() { NO_CHANGE.to_owned() } else { changes.join(";") };
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use unroll_protocol::link::Chapter;

    fn parsed(query: &str) -> Link {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let (link, problems) = Link::parse_query(pairs);
        assert_eq!(problems, [], "{query}");
        link
    }

    #[test]
    fn a_twin_differs_in_what_the_link_says_and_in_nothing_else() {
        let link = parsed("chapter=norm&norm-batch=8&twin=seed:2;norm-batch:16");
        let twin = twin_of(&link, &link);
        assert_eq!((twin.seed, twin.norm.batch, twin.twin.as_str()), (2, 16, ""));
        let same = Link { seed: link.seed, norm: link.norm.clone(), ..twin.clone() };
        assert_eq!(same.study(), link.study());
        assert_eq!(taken_over(&link, &link, &twin), link, "nothing is lost on the way back");
        // It goes through an address and back.
        assert_eq!(parsed(&link.query()), link);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let link = parsed(
            "chapter=norm&twin=seed:x;nothing:1;embed:1;layers:99;corpus:own;moments:8;seed:3",
        );
        let named: Vec<_> = changes(&link).iter().map(|(s, v)| format!("{}={v}", s.name)).collect();
        assert_eq!(named, ["seed=3"]);
    }

    #[test]
    fn a_twin_records_as_many_moments_as_the_run() {
        let link = parsed("chapter=rnn&moments=16&twin=seed:2");
        let twin = twin_of(&link, &link);
        assert_eq!(twin.moments, 16);
        assert_eq!(taken_over(&link, &link, &twin), link);
    }

    #[test]
    fn a_twin_can_learn_another_text() {
        let link = parsed("chapter=rnn&twin=corpus:names");
        let twin = twin_of(&link, &link);
        assert_eq!((twin.corpus, twin.study()), (Corpus::Names, link.study()));
        assert_eq!(taken_over(&link, &link, &twin), link);
        let own = Link { corpus: Corpus::Own, ..link.clone() };
        let twin = twin_of(&own, &own);
        assert_eq!(twin.corpus, Corpus::Names, "beside a text of one's own");
        assert_eq!(taken_over(&own, &own, &twin), own);
    }

    #[test]
    fn what_is_looked_at_is_the_same_in_both() {
        let link = Link { chapter: Chapter::Gpt, twin: NO_CHANGE.to_owned(), ..Link::default() };
        let mut twin = twin_of(&link, &link);
        twin.gpt.head = 2;
        twin.view = "heads".into();
        let after = taken_over(&link, &link, &twin);
        assert_eq!(
            (after.gpt.head, after.view.as_str(), after.twin.as_str()),
            (2, "heads", NO_CHANGE)
        );
        twin.gpt.layers += 1;
        let after = taken_over(&link, &link, &twin);
        assert_eq!(after.gpt.layers, link.gpt.layers);
        assert_eq!(after.twin, format!("layers:{}", link.gpt.layers + 1));
        // Back to what the run itself has.
        twin.gpt.layers -= 1;
        assert_eq!(taken_over(&link, &after, &twin).twin, NO_CHANGE);
    }
}
