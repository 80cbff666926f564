//! The page's own address: read once, then kept in step with what is shown.

use core::time::Duration;

use leptos::prelude::*;
use unroll_protocol::{
    Link,
    link::{Chapter, Corpus, FragmentError, LinkProblem, Written},
    study::mask::Drawn,
};
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use super::{packing, timer::use_timer};
use crate::reactive::effect;
use crate::{
    corpora,
    store::Store,
    worker::{apart, secret, take_secret},
};

/// Browsers refuse to change the address more than about a hundred times in half a minute.
const PAUSE: Duration = Duration::from_millis(400);
/// No own text longer than this is tried: packing it takes time, and prose of an eighth of it
/// already fills the fragment.
const MOST_TRIED: usize = 128 * 1024;

/// Reads the address that the page was opened with.
pub async fn read_first_url() -> (Link, Vec<String>, Vec<LinkProblem>) {
    let pairs = query_pairs();
    let (mut link, mut problems) = parse(&pairs);
    let mut given: Vec<String> = pairs.into_iter().map(|(name, _)| name).collect();
    let hash = window().location().hash().unwrap_or_default();
    let fragment = take_secret(hash.strip_prefix('#').unwrap_or(&hash));
    if !fragment.is_empty() {
        // A part that can't be fetched is as good as a fragment that can't be read.
        let written = match packing::fetch().await {
            Some(packing) => (packing.unpack)(fragment),
            None => Err(FragmentError::Damaged),
        };
        problems.extend(link.take_written(written).err());
        given.push("written".to_owned());
    }
    (link, given, problems)
}

/// Reads the settings in the address of the page, without what was written.
pub fn read_query() -> (Link, Vec<LinkProblem>) {
    parse(&query_pairs())
}

fn parse(pairs: &[(String, String)]) -> (Link, Vec<LinkProblem>) {
    Link::parse_query(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Names and values in the query of the page's address.
fn query_pairs() -> Vec<(String, String)> {
    pairs_of(&window().location().search().unwrap_or_default())
}

/// Names and values in a query.
pub fn pairs_of(query: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    if let Ok(parameters) = UrlSearchParams::new_with_str(query)
        && let Ok(Some(entries)) = js_sys::try_iter(&parameters)
    {
        for entry in entries.flatten() {
            let entry = js_sys::Array::from(&entry);
            if let (Some(name), Some(value)) = (entry.get(0).as_string(), entry.get(1).as_string())
            {
                pairs.push((name, value));
            }
        }
    }
    pairs
}

/// The present address without the secret in it, for files that may get about.
pub fn public_address() -> String {
    let address = window().location().href().unwrap_or_default();
    without_secret(&address)
}

fn without_secret(address: &str) -> String {
    let (page, fragment) = address.split_once('#').unwrap_or((address, ""));
    match apart(fragment).1 {
        "" => page.to_owned(),
        fragment => format!("{page}#{fragment}"),
    }
}

/// Keeps the address of the page in step with the settings and with what was written, so that
/// reloading, going back to it later, and copying it from the address bar all work.
pub fn use_url(store: Store) {
    let timer = use_timer();
    effect(move || {
        store.link.track();
        store.usual.track();
        store.probe.track();
        store.source.track();
        packing::track();
        if timer.is_running() {
            return;
        }
        timer.start(PAUSE, move || {
            let link = store.link.get_untracked();
            let address = untrack(|| share(store, &link)).own();
            // Refused in a sandboxed frame, whose address nobody sees.
            let _ = window().history().and_then(|history| {
                history.replace_state_with_url(&JsValue::NULL, "", Some(&address))
            });
        });
    });
}

/// What a link says, and which of the learner's writing it could not take along.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    query: String,
    fragment: String,
    pub without_text: bool,
    pub without_probe: bool,
}

impl Share {
    /// The address from the site's root on, for this page alone: it leads to the same engine.
    pub fn own(&self) -> String {
        self.address(&secret())
    }

    /// The whole address, for others.
    pub fn absolute(&self) -> String {
        format!("{}{}", window().location().origin().unwrap_or_default(), self.address(""))
    }

    fn address(&self, secret: &str) -> String {
        let path = window().location().pathname().unwrap_or_default();
        format!("{path}?{}{}", self.query, self.hash(secret))
    }

    fn hash(&self, secret: &str) -> String {
        let mut hash = String::new();
        for part in [secret, &self.fragment] {
            if !part.is_empty() {
                hash.push(if hash.is_empty() { '#' } else { '&' });
                hash += part;
            }
        }
        hash
    }
}

/// The link to `link` with the present probe and text. Tracks both, and whether what packs them is
/// here: until then the link goes without them.
pub fn share(store: Store, link: &Link) -> Share {
    let probe = store.probe.get();
    let usual = store.usual.get();
    let same = (usual.chapter, usual.idea) == (link.chapter, link.idea);
    let usual = if same { usual } else { Link::default() };
    store
        .source
        .with(|source| pack(link, &usual, source.corpus, &source.text, probe, packing::pack))
}

fn pack(
    link: &Link,
    usual: &Link,
    corpus: Corpus,
    text: &str,
    probe: String,
    pack: impl Fn(&Written) -> Result<String, FragmentError>,
) -> Share {
    let own = corpus == Corpus::Own;
    let is_usual = match corpus {
        Corpus::Own => probe.is_empty(),
        corpus => corpora::is_first_probe(&probe, corpus, text),
    };
    let probe = (!is_usual).then_some(probe);
    let tried = (own && text.len() <= MOST_TRIED).then(|| text.to_owned());
    let drawn = link.chapter == Chapter::Mask;
    let mask = if drawn { link.mask.drawn.clone() } else { Drawn::default() };
    // As much as fits: all, the probe and what was drawn, that alone, which always fits.
    let tries = [
        Written { probe: probe.clone(), text: tried, mask: mask.clone() },
        Written { probe: probe.clone(), text: None, mask: mask.clone() },
        Written { mask, ..Written::default() },
    ];
    let (written, fragment) = tries
        .into_iter()
        .find_map(|written| Some((written.clone(), pack(&written).ok()?)))
        .unwrap_or_default();
    Share {
        query: Link { corpus, ..link.clone() }.query_beside(usual),
        fragment,
        without_text: own && written.text.is_none(),
        without_probe: probe.is_some() && written.probe.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text in which nothing repeats.
    fn noise(length: u32) -> String {
        (0..length).filter_map(|i| char::from_u32(0x4e00 + i * 7919 % 20000)).collect()
    }

    #[test]
    fn a_secret_is_in_the_page_s_own_address_and_in_no_other() {
        for (fragment, own) in [("", "#native=5e"), ("w=x&m=y", "#native=5e&w=x&m=y")] {
            let share = Share { fragment: fragment.to_owned(), ..Share::default() };
            assert_eq!(share.hash("native=5e"), own);
            let public = share.hash("");
            assert!(!public.contains("5e"));
            assert_eq!(
                without_secret(&format!("http://x/?a=1{own}")),
                format!("http://x/?a=1{public}")
            );
            assert_eq!(apart(own.trim_start_matches('#')), ("native=5e", fragment));
        }
    }

    #[test]
    fn takes_along_what_was_written_as_far_as_it_fits() {
        let link = Link::default();
        let usual = corpora::probe(Corpus::Tales).to_owned();
        let share =
            pack(&link, &Link::default(), Corpus::Tales, "whatever", usual, Written::encode);
        assert_eq!(share, Share { query: "chapter=gpt".into(), ..Share::default() });

        let share = pack(
            &link,
            &Link::default(),
            Corpus::Own,
            "short text",
            "probe".into(),
            Written::encode,
        );
        let (probe, text) = (Some("probe".into()), Some("short text".into()));
        let written = Written { probe, text, ..Written::default() };
        assert_eq!(Written::decode(&share.fragment), Ok(written));
        assert_eq!(share.query, "chapter=gpt&corpus=own");
        assert!(!share.without_text && !share.without_probe);

        for long in [noise(9000), "a".repeat(MOST_TRIED + 1)] {
            let share =
                pack(&link, &Link::default(), Corpus::Own, &long, "probe".into(), Written::encode);
            let written = Written { probe: Some("probe".into()), ..Written::default() };
            assert_eq!(Written::decode(&share.fragment), Ok(written));
            assert!(share.without_text && !share.without_probe);
        }

        let share = pack(&link, &Link::default(), Corpus::Tales, "", noise(9000), Written::encode);
        assert_eq!(share.fragment, "");
        assert!(share.without_probe && !share.without_text);

        // What was drawn goes along, in its chapter.
        let mut link = link;
        link.mask.drawn.set(&link.mask.pattern, 9, (0, 3), true);
        assert_eq!(
            pack(&link, &Link::default(), Corpus::Tales, "", noise(9000), Written::encode).fragment,
            ""
        );
        link.chapter = Chapter::Mask;
        let share = pack(&link, &Link::default(), Corpus::Tales, "", noise(9000), Written::encode);
        assert_eq!(Written::decode(&share.fragment).unwrap().mask, link.mask.drawn);
        assert!(share.without_probe);
    }
}
