//! The drawing of a tree of continuations.

use serde_json::json;
use unroll_protocol::{
    gpt::{Grown, Sampling, likeliest, shares},
    signs,
};

use super::picture::{Drawing, Spot, smaller};
use crate::figures::{
    Hue, Sheet, decimals,
    pen::{Anchor, Pen},
    percent,
    theme::Colors,
    tint::{Grounds, Run},
    token,
};

/// Branches of an open node: of the sentence, of one that beam search kept, and of one that was
/// pressed. What is open itself is always shown.
const FIRST: usize = 3;
const FEW: usize = 2;
const MANY: usize = 5;

/// Characters of the longest name of a token.
const LONGEST_NAME: usize = 10;
/// Share of a column that is kept for branches.
const BRANCHES: f64 = 0.28;
/// Tokens of the sentence's end, or characters.
const LONGEST_END: usize = 10;

/// One token of a continuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The continuation up to and with it, as ids.
    pub ending: Vec<u32>,
    /// The same as text.
    text: String,
    /// The text as it is read: where tokens need not be characters, one sees where each ends.
    shown: String,
    token: String,
    /// Its share after what is before it.
    pub share: f32,
    /// The logarithm of the probability of the whole continuation.
    pub log_probability: f64,
    /// The place of its parent among the nodes; the first node is the sentence itself.
    pub parent: Option<usize>,
    pub open: bool,
    /// Its rank among what beam search kept at last, or at least on the way there.
    pub rank: Option<usize>,
    /// Which search ends here with the best that it found: nothing where none does.
    found_by: &'static str,
    depth: usize,
    /// Where it stands among the rows; a half for one between two.
    row: f64,
}

/// The tree, its nodes in the order in which they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub nodes: Vec<Node>,
    /// The end of the sentence.
    sentence: Vec<Run>,
    rows: usize,
    /// Whether each token has a ground of its own, for it need not be a character.
    tinted: bool,
}

/// What an open node's logits say: the ids of its branches, the likeliest first, and all shares.
struct Open<'a> {
    ending: &'a [u32],
    shares: Vec<f32>,
}

impl Tree {
    /// `pressed` are the nodes that the learner opened. `tokens` are the sentence's, where they need not be
    /// characters.
    pub fn new(grown: &Grown, pressed: &[Vec<u32>], tokens: Option<&[Run]>) -> Option<Self> {
        let Grown { after, beams, greedy } = grown;
        let known = after.vocabulary.len();
        let rows = after.endings.iter().zip(after.logits.values.chunks(known.max(1)));
        let opened: Option<Vec<Open>> = rows
            .map(|(ending, logits)| {
                let shares = shares(logits, &Sampling::PLAIN).ok()?;
                Some(Open { ending, shares })
            })
            .collect();
        let kept: Vec<&[u32]> = beams.kept.last()?.iter().map(|beam| &*beam.tokens).collect();
        let sentence = match tokens {
            Some(runs) => runs[runs.len().saturating_sub(LONGEST_END)..].to_vec(),
            None => {
                // One more than is shown tells whether there are more.
                let start = after.text.chars().count().saturating_sub(LONGEST_END + 1);
                let text = after.text.chars().skip(start).collect();
                vec![Run { text, tokens: Vec::new() }]
            }
        };
        let mut tree = Self {
            nodes: vec![Node {
                ending: Vec::new(),
                text: String::new(),
                shown: String::new(),
                token: String::new(),
                share: 1.0,
                log_probability: 0.0,
                parent: None,
                open: true,
                rank: Some(0),
                found_by: "",
                depth: 0,
                row: 0.0,
            }],
            sentence,
            rows: 0,
            tinted: tokens.is_some(),
        };
        tree.grow(0, &opened?, &after.vocabulary, &kept, pressed);
        let greedy = greedy.best().map(|greedy| &*greedy.tokens);
        for node in tree.nodes.iter_mut().filter(|node| !node.open) {
            let is = |found: Option<&[u32]>| found == Some(&*node.ending);
            node.found_by = match (is(greedy), is(kept.first().copied())) {
                (true, true) if kept.len() > 1 => "both",
                (true, _) => "greedy",
                (_, true) => "beam",
                _ => "",
            };
        }
        Some(tree)
    }

    fn grow(
        &mut self,
        at: usize,
        opened: &[Open],
        vocabulary: &[String],
        kept: &[&[u32]],
        pressed: &[Vec<u32>],
    ) {
        let (ending, text) = (self.nodes[at].ending.clone(), self.nodes[at].text.clone());
        let Some(open) = opened.iter().find(|open| open.ending == ending) else {
            self.nodes[at].row = self.rows as f64;
            self.rows += 1;
            return;
        };
        let order = likeliest(&open.shares);
        let count = match at {
            _ if pressed.contains(&ending) => MANY,
            0 => FIRST,
            _ => FEW,
        };
        let mut shown = Vec::new();
        for (place, &id) in order.iter().enumerate() {
            let Some(token) = vocabulary.get(id) else { continue };
            let child = [ending.as_slice(), &[id as u32]].concat();
            let rank = kept.iter().position(|kept| kept.starts_with(&child));
            let is_open = opened.iter().any(|open| open.ending == child);
            if place < count || rank.is_some() || is_open {
                shown.push((id, token, child, rank, is_open));
            }
        }
        let (log_probability, depth) = (self.nodes[at].log_probability, self.nodes[at].depth);
        let shown_before = self.nodes[at].shown.clone();
        let mut middle = Vec::new();
        for (id, token, child, rank, open_too) in shown {
            let share = open.shares[id];
            let bar = if self.tinted && at > 0 { "|" } else { "" };
            let text = signs::joined(&format!("{text}{token}"));
            self.nodes.push(Node {
                ending: child,
                shown: match self.tinted {
                    true => format!("{shown_before}{bar}{}", token::mark(token)),
                    false => marked(&text),
                },
                text,
                token: token.clone(),
                share,
                log_probability: log_probability + f64::from(share).ln(),
                parent: Some(at),
                open: open_too,
                rank,
                found_by: "",
                depth: depth + 1,
                row: 0.0,
            });
            let new = self.nodes.len() - 1;
            self.grow(new, opened, vocabulary, kept, pressed);
            middle.push(self.nodes[new].row);
        }
        let sum: f64 = middle.iter().sum();
        self.nodes[at].row = sum / middle.len().max(1) as f64;
    }

    /// The runs of the sentence's end that fit before `right`, each with its left edge and the width of
    /// its letters.
    fn ending(&self, right: f64, beside: f64, font: f64) -> Vec<(Run, f64, f64)> {
        let mut end = right;
        let mut shown = Vec::new();
        for run in self.sentence.iter().rev() {
            let mut run = Run { text: marked(&run.text), ..run.clone() };
            // Of a longer one its end.
            let fits = ((end / (0.62 * font)) as usize).max(3);
            if !self.tinted {
                run.text = from_word(&run.text, fits.min(LONGEST_END));
            }
            let long = run.text.chars().count().saturating_sub(fits);
            if long > 0 && !shown.is_empty() {
                break;
            }
            run.text = run.text.chars().skip(long).collect();
            let letters = 0.62 * font * token::columns(&run.text);
            let left = end - beside - letters;
            if left - beside < 0.0 && !shown.is_empty() {
                break;
            }
            shown.push((run, left, letters));
            end = left - beside;
        }
        shown
    }

    fn columns(&self) -> usize {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or_default()
    }

    fn words(&self, node: &Node) -> String {
        let Some(parent) = node.parent.map(|at| &self.nodes[at]) else {
            let bar = if self.tinted { "|" } else { "" };
            let end: Vec<String> = self.sentence.iter().map(|run| token::mark(&run.text)).collect();
            return format!("The sentence ends with “{}”.", end.join(bar));
        };
        let name = token::mark(&node.token);
        let before = match parent.shown.as_str() {
            "" => "the sentence".to_owned(),
            text => format!("“{text}”"),
        };
        format!(
            "‘{name}’ after {before}: share {}. “{}” as a whole: {}, logarithm {}.",
            percent(node.share, 1),
            node.shown,
            small(node.log_probability.exp()),
            decimals(node.log_probability, 2)
        )
    }
}

/// The end of a marked text, from the beginning of a word if there is one, with a sign for what is left out.
pub fn from_word(text: &str, fits: usize) -> String {
    let signs: Vec<char> = text.chars().collect();
    if signs.len() <= fits {
        return text.to_owned();
    }
    let rest = &signs[signs.len() - fits..];
    let gap = rest[..fits - 1].iter().position(|sign| matches!(sign, '␣' | '⏎'));
    ['…'].iter().chain(&rest[gap.unwrap_or_default() + 1..]).collect()
}

/// A text with its spaces and line breaks to be seen.
pub fn marked(text: &str) -> String {
    text.chars().map(|c| token::mark(c.encode_utf8(&mut [0; 4]))).collect()
}

/// A probability that may be far below a percent: those are compared as counts.
pub fn small(probability: f64) -> String {
    match probability {
        p if p >= 0.01 => percent(p, 2),
        p if p >= 0.000_001 => {
            format!("1 in {}", crate::controls::grouped((1.0 / p).round() as u64))
        }
        _ => "less than 1 in a million".to_owned(),
    }
}

impl Drawing for Tree {
    fn height(&self, _: f64, font: f64) -> f64 {
        1.2 * font * self.rows as f64 + 0.5 * font
    }

    fn draw(&self, (width, height): (f64, f64), pen: &mut Pen, _: &Colors) -> Vec<Spot> {
        let font = pen.font;
        let columns = self.columns().max(1) as f64;
        let root = (7.5 * font).min(width * 0.24);
        // The last column holds its label and a share, and behind it stands who found it.
        let is_found = self.nodes.iter().any(|node| !node.found_by.is_empty());
        let behind = if is_found { 3.6 * font } else { 0.5 * font };
        let column = (width - root - behind) / columns;
        let line = (height - 0.5 * font) / self.rows.max(1) as f64;
        let y = |node: &Node| 0.25 * font + (node.row + 0.5) * line;
        let x = |node: &Node| root + (node.depth as f64 - 1.0) * column;
        // Labels stand at the ends of their branches.
        let room = ((1.0 - BRANCHES) * column - 0.7 * font) / (0.62 * font);
        let name = |node: &Node| token::fitted_mark(&node.token, LONGEST_NAME, room);
        let long = |node: &Node| 0.62 * font * (token::columns(&name(node)) - 1.0);
        let longest = self.nodes.iter().map(long).fold(0.0, f64::max);
        let reach = (column - 5.4 * font - longest).max(BRANCHES * column);
        let label_left = |node: &Node| x(node) + reach + 0.35 * font;
        let beside = if self.tinted { 0.25 * font } else { 0.0 };
        // Left out where it has no room.
        let share = |node: &Node| {
            let left = label_left(node) + 1.3 * font + long(node) + beside;
            let places = if node.share < 0.1 { 1 } else { 0 };
            (left + beside + 2.3 * font < x(node) + column)
                .then(|| (left, percent(node.share, places)))
        };
        // Its branches leave a node right after its label, next to each other.
        let label_end = |node: &Node| match (node.parent, share(node)) {
            (None, _) => root,
            (_, Some((left, share))) => {
                left + smaller(font) * (0.64 * share.len() as f64 + 0.3) + 0.35 * font
            }
            (_, None) => label_left(node) + long(node) + 0.9 * font + beside,
        };
        let thickest = (0.8 * line).min(1.1 * font).max(3.0);
        let thick = |node: &Node| (f64::from(node.share) * thickest).max(0.75);
        let mut starts: Vec<f64> = self.nodes.iter().map(y).collect();
        for node in &self.nodes {
            if let Some(parent) = node.parent {
                starts[parent] -= thick(node) / 2.0;
            }
        }
        for node in &self.nodes {
            let Some(at) = node.parent else { continue };
            let thick = thick(node);
            let from = (label_end(&self.nodes[at]), starts[at] + thick / 2.0);
            starts[at] += thick;
            let to = (x(node) + reach, y(node));
            let bend = from.0 + 0.55 * (to.0 - from.0);
            let hue = if node.rank.is_some() { Hue::Output } else { Hue::Muted };
            let shade = if node.rank.is_some() { 0.9 } else { 0.35 };
            let color = pen.hue(hue);
            // Ends that are cut straight: round ones would run into the letters.
            pen.svg.push_str(&format!(
                r#"<path d="M{:.1} {:.1}C{bend:.1} {:.1} {bend:.1} {:.1} {:.1} {:.1}" fill="none" stroke="{color}" stroke-width="{thick:.2}" opacity="{shade}"/>"#,
                from.0, from.1, from.1, to.1, to.0, to.1
            ));
        }
        let sentence = self.ending(root - 0.4 * font, beside, font);
        if self.tinted {
            let mut grounds = Grounds::default();
            let mut add = |token: &str, left: f64, width: f64, middle: f64| {
                grounds.add(token, (left, middle - 0.68 * font), (width, 1.36 * font));
            };
            for (run, left, letters) in &sentence {
                // Tokens that share a character share its ground.
                let width = (letters + 2.0 * beside) / run.tokens.len().max(1) as f64;
                for (at, token) in run.tokens.iter().enumerate() {
                    add(token, left - beside + at as f64 * width, width, y(&self.nodes[0]));
                }
            }
            for node in self.nodes.iter().filter(|node| node.parent.is_some()) {
                let width = long(node) + 0.62 * font + 2.0 * beside;
                add(&node.token, label_left(node) - beside, width, y(node));
            }
            grounds.draw(pen);
        }
        let mut spots = Vec::new();
        for node in &self.nodes {
            let base = y(node) + 0.35 * font;
            if node.parent.is_none() {
                for (run, left, letters) in &sentence {
                    pen.mono(Hue::Ink, true, (left + letters, base), Anchor::End, &run.text);
                }
                let place = [0.0, y(node) - line / 2.0, root, line];
                spots.push(Spot { place, words: self.words(node) });
                continue;
            }
            let left = label_left(node);
            let best = node.rank == Some(0);
            let hue = if node.rank.is_some() { Hue::Ink } else { Hue::Muted };
            pen.mono(hue, best, (left, base), Anchor::Start, &name(node));
            if let Some((left, share)) = share(node) {
                pen.sized(Hue::Muted, false, smaller(font), (left, base), Anchor::Start, &share);
            }
            let end = (label_end(node), base);
            pen.sized(Hue::Output, true, smaller(font), end, Anchor::Start, node.found_by);
            let wide = (width - x(node)).min(column);
            let place = [x(node), y(node) - line / 2.0, wide, line];
            spots.push(Spot { place, words: self.words(node) });
        }
        spots
    }

    fn sheet(&self) -> Sheet {
        let mut sheet =
            Sheet::new(&["continuation", "share", "probability", "log_probability", "rank"]);
        let row = |node: &Node| {
            vec![
                json!(node.text),
                crate::figures::exact(node.share),
                json!(node.log_probability.exp()),
                json!(node.log_probability),
                node.rank.map_or(json!(null), |rank| json!(rank + 1)),
            ]
        };
        sheet.rows = self.nodes[1..].iter().map(row).collect();
        sheet
    }
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{
        Array,
        gpt::{After, Beam, Beams},
    };

    use super::{super::picture::keeps_to_its_room, *};
    use crate::figures::{color::Palette, pen::Paint};

    /// The ids of letters from a on.
    fn ids(text: &str) -> Vec<u32> {
        text.bytes().map(|letter| u32::from(letter - b'a') + 1).collect()
    }

    fn tree(pressed: &[&str]) -> Tree {
        tree_on(pressed, None)
    }

    fn tree_on(pressed: &[&str], tokens: Option<&[Run]>) -> Tree {
        let vocabulary: Vec<String> = "\u{fffd}abcdefg".chars().map(String::from).collect();
        let mut endings = ["", "a", "ab", "b", "ba"].map(ids).to_vec();
        endings.extend(pressed.iter().map(|ending| ids(ending)));
        let one = [-5.0, 3.0, 2.5, 1.0, 0.0, -1.0, -2.0, -3.0];
        let values = endings.iter().flat_map(|_| one).collect();
        let shape = vec![endings.len() as u32, 8];
        let text = "the cat sat".to_owned();
        let after = After { text, endings, vocabulary, logits: Array { shape, values } };
        let beam =
            |text: &str| Beam { tokens: ids(text), text: text.to_owned(), log_probability: -1.0 };
        let beams = Beams { kept: vec![vec![beam("aba"), beam("bab")]] };
        let pressed: Vec<_> = pressed.iter().map(|ending| ids(ending)).collect();
        let greedy = Beams { kept: vec![vec![beam("aaa")]] };
        Tree::new(&Grown { after, beams, greedy }, &pressed, tokens).unwrap()
    }

    #[test]
    fn nodes_carry_the_product_of_their_shares() {
        let tree = tree(&[]);
        let node = |ending: &str| tree.nodes.iter().find(|node| node.text == ending).unwrap();
        let product = f64::from(node("a").share) * f64::from(node("ab").share);
        assert!((node("ab").log_probability - product.ln()).abs() < 1e-9);
        assert_eq!((node("ab").rank, node("ba").rank, node("c").rank), (Some(0), Some(1), None));
        assert!(node("ab").open && !node("abb").open);
        assert_eq!(["aba", "bab", "aa"].map(|ending| node(ending).found_by), ["beam", "", ""]);
        // Three branches of the sentence, two of each other, and no two leaves in one row.
        assert_eq!(tree.nodes.len(), 1 + 3 + 4 * 2);
        let mut rows: Vec<f64> =
            tree.nodes.iter().filter(|node| !node.open).map(|node| node.row).collect();
        rows.sort_by(f64::total_cmp);
        assert_eq!(rows, (0..rows.len()).map(|row| row as f64).collect::<Vec<_>>());
        assert!(tree.words(node("ab")).starts_with("‘b’ after “a”: share "));
    }

    #[test]
    fn a_pressed_node_shows_more() {
        let tree = tree(&["c"]);
        assert_eq!(tree.nodes.iter().filter(|node| node.text.starts_with('c')).count(), 1 + 5);
    }

    #[test]
    fn tokens_of_several_characters_have_grounds_and_bars_between_them() {
        let plain = tree(&[]);
        let runs = crate::figures::tint::runs(&["the", " cat", " sat"].map(str::to_owned));
        let tree = tree_on(&[], Some(&runs));
        keeps_to_its_room(&tree);
        let grounds = |tree: &Tree| {
            let mut pen = Pen::new(14.0, Paint::of(&Palette::LIGHT));
            tree.draw((1100.0, 620.0), &mut pen, &Colors::new(&Palette::LIGHT));
            let paths = pen.svg.split("<path class=\"grounds\" d=\"").skip(1);
            paths.map(|path| path.split('"').next().unwrap().matches('M').count()).sum::<usize>()
        };
        assert_eq!(grounds(&plain), 0);
        // “the” has no room: of the sentence’s tokens two, and one for each node.
        let nodes = tree.nodes.len() - 1;
        assert!((nodes + 1..=nodes + 3).contains(&grounds(&tree)), "{}", grounds(&tree));
        let node = tree.nodes.iter().find(|node| node.text == "ab").unwrap();
        assert!(tree.words(node).contains("“a|b” as a whole"), "{}", tree.words(node));
        assert!(tree.words(&tree.nodes[0]).ends_with("“the|␣cat|␣sat”."));
    }

    #[test]
    fn branches_leave_a_node_side_by_side_and_after_its_label() {
        let tree = tree(&[]);
        let mut pen = Pen::new(14.0, Paint::of(&Palette::LIGHT));
        tree.draw((1100.0, 620.0), &mut pen, &Colors::new(&Palette::LIGHT));
        let number = |text: &str| text.parse::<f64>().unwrap();
        let branch = |path: &str| {
            let (start, rest) = path.split_once('C').unwrap();
            let (x, y) = start.split_once(' ').unwrap();
            let thick = rest.split("stroke-width=\"").nth(1).unwrap().split('"').next().unwrap();
            (number(x), number(y), number(thick))
        };
        let branches: Vec<_> = pen.svg.split("<path d=\"M").skip(1).map(branch).collect();
        assert_eq!(branches.len(), tree.nodes.len() - 1);
        let of = |at: usize| {
            let places =
                (1..tree.nodes.len()).filter(move |node| tree.nodes[*node].parent == Some(at));
            places.map(|node| branches[node - 1]).collect::<Vec<_>>()
        };
        for pair in of(0).windows(2) {
            let [(x, y, thick), (next_x, next_y, next_thick)] = pair else { unreachable!() };
            assert_eq!(x, next_x);
            assert!((next_y - y - (thick + next_thick) / 2.0).abs() < 0.2, "{pair:?}");
        }
    }

    #[test]
    fn the_sentence_is_cut_before_a_word() {
        let cut = |text| from_word(text, 10);
        assert_eq!(cut("had␣one"), "had␣one");
        assert_eq!(cut("who␣had␣one"), "…had␣one");
        assert_eq!(cut("a␣wandering"), "…wandering");
        assert_eq!(cut("unfathomable"), "…athomable");
        assert_eq!(cut("wanderings␣"), "…nderings␣");
    }

    #[test]
    fn the_tree_keeps_to_its_room() {
        keeps_to_its_room(&tree(&[]));
        keeps_to_its_room(&tree(&["c", "cd", "cde", "cdef"]));
    }

    #[test]
    fn small_probabilities_are_said_in_words() {
        assert_eq!(small(0.0123), "1.23%");
        assert_eq!(small(0.0004), "1 in 2,500");
        assert_eq!(small(1e-9), "less than 1 in a million");
    }
}
