//! Lines of plots as points: thinned, clipped, dashed.

use super::plot::Axis;

/// The line cut where it has a gap (a value that is not finite, or has no place on a log axis), and
/// with the lowest and highest value of each of `buckets` equal spans of x only, in the order they
/// came, so that no spike is lost where many points share a pixel. What lies outside `x` is left
/// out, save one point either side.
pub fn thin(points: &[(f64, f64)], x: Axis, log: bool, buckets: usize) -> Vec<Vec<(f64, f64)>> {
    let first = points.partition_point(|p| p.0 < x.from).saturating_sub(1);
    let last = (points.partition_point(|p| p.0 <= x.to) + 1).min(points.len());
    let within = &points[first.min(last)..last];
    let placed = |p: &(f64, f64)| p.1.is_finite() && (!log || p.1 > 0.0);
    let runs = within.split(|p| !placed(p)).filter(|run| !run.is_empty());
    if within.len() <= 2 * buckets {
        return runs.map(<[_]>::to_vec).collect();
    }
    let bucket_of = |p: &(f64, f64)| (x.share(p.0).unwrap_or(0.0) * buckets as f64).floor() as i64;
    let thin_run = |run: &[(f64, f64)]| {
        let mut line = vec![];
        for bucket in run.chunk_by(|a, b| bucket_of(a) == bucket_of(b)) {
            // Of a chunk, the first is there; ends are kept so that lines meet their gaps.
            let at = |better: fn(f64, f64) -> bool| {
                (1..bucket.len())
                    .fold(0, |best, i| if better(bucket[i].1, bucket[best].1) { i } else { best })
            };
            let (low, high) = (at(|a, b| a < b), at(|a, b| a > b));
            line.push(bucket[low.min(high)]);
            if low != high {
                line.push(bucket[low.max(high)]);
            }
        }
        line
    };
    runs.map(thin_run).collect()
}

/// How far, up or down, a polyline keeps from a box between `left` and `right`, `top` and `bottom`:
/// 0 where it runs through it, infinite where it is nowhere above or below.
pub fn clearance(line: &[(f64, f64)], (left, right): (f64, f64), (top, bottom): (f64, f64)) -> f64 {
    let gap = |low: f64, high: f64| (low - bottom).max(top - high).max(0.0);
    if let &[(x, y)] = line {
        return if (left..=right).contains(&x) { gap(y, y) } else { f64::INFINITY };
    }
    let gaps = line.windows(2).filter_map(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let (from, to) = (a.0.min(b.0).max(left), a.0.max(b.0).min(right));
        let at =
            |x: f64| if a.0 == b.0 { a.1 } else { a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0) };
        let ends = if a.0 == b.0 { [a.1, b.1] } else { [at(from), at(to)] };
        (from <= to).then(|| gap(ends[0].min(ends[1]), ends[0].max(ends[1])))
    });
    gaps.fold(f64::INFINITY, f64::min)
}

/// The parts of a polyline that lie between `top` and `bottom`.
pub fn clip(line: &[(f64, f64)], top: f64, bottom: f64) -> Vec<Vec<(f64, f64)>> {
    let inside = |p: (f64, f64)| (top..=bottom).contains(&p.1);
    let mut pieces = vec![];
    let mut piece: Vec<(f64, f64)> =
        line.first().copied().filter(|&p| inside(p)).into_iter().collect();
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if !inside(a) || !inside(b) {
            // Where the segment crosses an edge, in the order of travel.
            let crossing = |edge: f64| {
                let t = (edge - a.1) / (b.1 - a.1);
                ((0.0..=1.0).contains(&t) && a.1 != b.1).then_some((a.0 + t * (b.0 - a.0), edge))
            };
            let edges = if a.1 < b.1 { [top, bottom] } else { [bottom, top] };
            for cut in edges.into_iter().filter_map(crossing) {
                piece.push(cut);
                if piece.len() > 1 && !inside(b) {
                    pieces.push(std::mem::take(&mut piece));
                }
            }
        }
        if inside(b) {
            piece.push(b);
        } else if !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.push(piece);
    pieces.retain(|p| !p.is_empty());
    pieces
}

/// A polyline cut into dashes of `pattern`.
pub fn dashes(line: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let (Some(&first), false) = (line.first(), pattern.is_empty()) else {
        return vec![line.to_vec()];
    };
    let mut pieces = vec![];
    let (mut part, mut left, mut piece) = (0, pattern[0], vec![first]);
    for pair in line.windows(2) {
        let (mut a, b) = (pair[0], pair[1]);
        loop {
            let length = (b.0 - a.0).hypot(b.1 - a.1);
            if length < left {
                left -= length;
                break;
            }
            let t = left / length;
            a = (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1));
            if part % 2 == 0 {
                piece.push(a);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![a];
            }
            part = (part + 1) % pattern.len();
            left = pattern[part];
        }
        if part % 2 == 0 {
            piece.push(b);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_distance() {
        let line = [(0.0, 0.0), (100.0, 100.0)];
        assert_eq!(clearance(&line, (0.0, 10.0), (30.0, 40.0)), 20.0);
        assert_eq!(clearance(&line, (30.0, 60.0), (40.0, 50.0)), 0.0);
        assert_eq!(clearance(&line, (200.0, 210.0), (0.0, 10.0)), f64::INFINITY);
        assert_eq!(clearance(&[(5.0, 5.0)], (0.0, 10.0), (8.0, 20.0)), 3.0);
        assert_eq!(clearance(&[], (0.0, 10.0), (8.0, 20.0)), f64::INFINITY);
    }

    #[test]
    fn many_points_keep_their_spikes_and_gaps() {
        let mut points: Vec<(f64, f64)> = (0..20_000).map(|i| (f64::from(i), 1.0)).collect();
        points[7_777].1 = 9.0;
        points[12_000].1 = f64::NAN;
        points[15_000].1 = 0.0;
        let x = Axis { from: 0.0, to: 20_000.0, log: false };
        let lines = thin(&points, x, true, 500);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().map(Vec::len).sum::<usize>() <= 1010);
        assert_eq!(lines.iter().flatten().map(|p| p.1).fold(0.0, f64::max), 9.0);
        assert!(lines.iter().flatten().map(|p| p.0).is_sorted());
        assert_eq!(thin(&points, x, false, 500).len(), 2);
        assert_eq!(thin(&[], x, false, 500), Vec::<Vec<_>>::new());
        let cut = Axis { from: 10.0, to: 20.0, log: false };
        assert_eq!(thin(&points, cut, false, 500)[0].len(), 13);
    }

    #[test]
    fn lines_stay_in_their_plot() {
        let line = [(0.0, -10.0), (10.0, 10.0), (20.0, 30.0), (30.0, 5.0)];
        let pieces = clip(&line, 0.0, 20.0);
        assert_eq!(pieces[0], [(5.0, 0.0), (10.0, 10.0), (15.0, 20.0)]);
        assert_eq!(pieces[1], [(24.0, 20.0), (30.0, 5.0)]);
        assert_eq!(clip(&[(0.0, -5.0), (10.0, 25.0)], 0.0, 20.0).len(), 1);
        assert_eq!(clip(&[(0.0, 5.0)], 0.0, 20.0), [[(0.0, 5.0)]]);
        assert!(clip(&[(0.0, -5.0), (1.0, -9.0)], 0.0, 20.0).is_empty());
    }

    #[test]
    fn dashes_follow_the_line() {
        let pieces = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], &[6.0, 2.0]);
        assert_eq!(pieces[0], [(0.0, 0.0), (6.0, 0.0)]);
        assert_eq!(pieces[1], [(8.0, 0.0), (10.0, 0.0), (10.0, 4.0)]);
        assert_eq!(pieces[2], [(10.0, 6.0), (10.0, 10.0)]);
        assert_eq!(dashes(&[(0.0, 0.0)], &[6.0, 2.0]), Vec::<Vec<_>>::new());
    }
}
