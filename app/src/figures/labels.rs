//! Text in plots: how wide it is, where it breaks, and labels that keep out of each other's way.

/// Where labels of `height` go that would like to be at `wanted`: as near as can be without one
/// over another, within `low` and `high`, in the order of what they want.
pub fn place_labels(wanted: &[f64], height: f64, low: f64, high: f64) -> Vec<f64> {
    let n = wanted.len();
    if n == 0 {
        return vec![];
    }
    // Too many for the space: closer together, never out of it.
    let height = if n > 1 { height.min((high - low) / (n - 1) as f64) } else { height };
    // A handful: the library's sort would be a hundred times as much code.
    let mut order: Vec<usize> = Vec::with_capacity(n);
    for label in 0..n {
        let below = |&other: &usize| wanted[other].total_cmp(&wanted[label]).is_le();
        order.insert(order.partition_point(below), label);
    }
    // What is left after taking off the heights above must not fall: pool neighbors that do.
    let mut pools: Vec<(f64, usize)> = vec![];
    for (i, &label) in order.iter().enumerate() {
        pools.push((wanted[label] - i as f64 * height, 1));
        while let [.., (above, a), (below, b)] = pools[..]
            && above > below
        {
            pools.truncate(pools.len() - 2);
            pools.push(((above * a as f64 + below * b as f64) / (a + b) as f64, a + b));
        }
    }
    let mut places = vec![0.0; n];
    let flat = pools.iter().flat_map(|&(place, count)| std::iter::repeat_n(place, count));
    for (i, (&label, place)) in order.iter().zip(flat).enumerate() {
        let place = place.clamp(low, (high - (n - 1) as f64 * height).max(low));
        places[label] = place + i as f64 * height;
    }
    places
}

/// About how wide text of so many CSS pixels is in the page's font, whichever the system has: by its
/// letters, as the widest of the usual fonts draws them. A file is drawn for fonts that nobody knows.
pub fn text_width(text: &str, size: f64) -> f64 {
    let ems = text.chars().map(|letter| match letter {
        ' ' | '.' | ',' | ':' | ';' | '!' | '|' | '\'' | '’' | '‘' | 'i' | 'j' | 'l' | 'I'
        | 'J' => 0.32,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' | '·' | '“' | '”' | '"' => 0.42,
        'c' | 'k' | 's' | 'z' => 0.56,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '→' | '←' | '—' => 0.98,
        'O' | 'Q' | 'D' | 'G' | 'H' | 'N' | 'U' | '=' | '+' | '−' | '<' | '>' => 0.8,
        'A'..='Z' => 0.69,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.42,
        letter if (letter as u32) < 0x2e80 => 0.64,
        _ => 1.0,
    });
    ems.sum::<f64>() * size
}

/// `text` in a line of at most `most` CSS pixels, or in two where `rows` are: broken at the space
/// that makes them most alike, and cut where even that is too wide.
pub fn in_lines(text: &str, size: f64, most: f64, rows: usize) -> Vec<String> {
    let width = |text: &str| text_width(text, size);
    if width(text) <= most {
        return vec![text.to_owned()];
    }
    let halves = text.match_indices(' ').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let wider = |(a, b): &(&str, &str)| width(a).max(width(b));
    let best = halves.min_by(|a, b| wider(a).total_cmp(&wider(b)));
    if let Some((first, second)) = best.filter(|halves| rows > 1 && wider(halves) <= most) {
        return vec![first.to_owned(), second.to_owned()];
    }
    let mut cut = String::new();
    for letter in text.chars() {
        if width(&cut) + width(&format!("{letter}…")) > most {
            break;
        }
        cut.push(letter);
    }
    vec![cut.trim_end().to_owned() + "…"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_room_it_takes() {
        // As wide as DejaVu Sans, the widest font that "system-ui" is likely to be, draws them.
        for (text, ems) in [("RNN", 2.19), ("guessing", 4.47), ("Elman, held out", 7.88)] {
            let width = text_width(text, 1.0);
            assert!((ems..1.15 * ems).contains(&width), "{text}: {width}");
        }
        assert_eq!(in_lines("held out", 13.0, 100.0, 2), ["held out"]);
        let long = "BatchNorm, step 1’s everywhere";
        assert_eq!(in_lines(long, 13.0, 150.0, 2), ["BatchNorm, step", "1’s everywhere"]);
        assert_eq!(in_lines(long, 13.0, 90.0, 1), ["BatchNorm…"]);
    }

    #[test]
    fn labels_do_not_overlap() {
        let places = place_labels(&[50.0, 52.0, 10.0, 51.0], 16.0, 0.0, 200.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] > 15.99), "{places:?}");
        assert_eq!(places[2], 10.0);
        assert!((places[3] - 51.0).abs() < 1e-9, "the middle one stays: {places:?}");
        let low = place_labels(&[199.0, 198.0], 16.0, 0.0, 200.0);
        assert_eq!(low, [200.0, 184.0]);
        let crowded = place_labels(&[5.0; 30], 16.0, 0.0, 100.0);
        assert!(crowded.iter().all(|p| (0.0..=100.001).contains(p)));
        assert!(place_labels(&[], 16.0, 0.0, 1.0).is_empty());
    }
}
