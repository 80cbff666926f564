//! Byte-pair encoding compared with counting everything anew.

use unroll_model::{BpeLearner, Pair};

/// Lines of a text that are not blank.
fn lines(text: &str) -> Vec<&str> {
    text.split('\n').filter(|line| !line.trim().is_empty()).collect()
}

/// Byte pairs the slow way: counts everything anew for each merge.
fn merges_counted_anew(text: &str, merges: usize) -> Vec<(Pair, usize)> {
    let mut documents: Vec<Vec<u32>> =
        lines(text).iter().map(|line| line.bytes().map(u32::from).collect()).collect();
    let replace = |document: &[u32], two: [u32; 2], id: u32| {
        let (mut out, mut at) = (Vec::new(), 0);
        while at < document.len() {
            let found = document[at..].starts_with(&two);
            out.push(if found { id } else { document[at] });
            at += if found { 2 } else { 1 };
        }
        out
    };
    (0..merges)
        .map(|merge| {
            let mut pairs: Vec<[u32; 2]> =
                documents.iter().flat_map(|d| d.windows(2)).map(|w| [w[0], w[1]]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let length = |documents: &[Vec<u32>]| documents.iter().map(Vec::len).sum::<usize>();
            let before = length(&documents);
            // A pair's count is by how much merging it shortens the text.
            let merged = |two: [u32; 2]| -> Vec<Vec<u32>> {
                documents.iter().map(|d| replace(d, two, 257 + merge as u32)).collect()
            };
            let counted = pairs.iter().map(|&two| (before - length(&merged(two)), two));
            // The first of those with the highest count; pairs are in order.
            let best = counted.max_by_key(|&(count, two)| (count, core::cmp::Reverse(two)));
            let (count, two) = best.unwrap();
            documents = merged(two);
            let pair = Pair { left: two[0], right: two[1], count: count as u64 };
            (pair, length(&documents))
        })
        .collect()
}

#[test]
fn merges_are_those_of_counting_everything_anew() {
    let text = "aaaa aaa banana\nbandana aaab\n\nthe then other there\nçà et là là";
    let expected = merges_counted_anew(text, 12);
    let mut learner = BpeLearner::new(lines(text), false, 12);
    for (index, (pair, tokens)) in expected.iter().enumerate() {
        assert_eq!(learner.next(), Some(*pair), "merge {index}");
        assert!(learner.merge());
        assert_eq!(learner.tokens(), *tokens as u64);
        assert_eq!(learner.text().map(|d| d.len()).sum::<usize>(), *tokens);
    }
}
