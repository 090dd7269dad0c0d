//! Statistics of a job.
//!
//! In: samples, times, losses. Out: rates, percentiles, and the time for which paths were still used after their
//! first loss. Invariants: pure functions. A value without enough data is absent, never 0.

use std::collections::BTreeMap;

use super::record::{Change, Loss, Sample};

/// A path: sender, receiver, entropy value.
type Path = (usize, usize, u32);

/// Bytes received per second between two times.
pub(crate) fn rate(samples: &[Sample], from_ns: u64, to_ns: u64) -> Option<f64> {
    let bytes = at(samples, to_ns)? - at(samples, from_ns)?;
    (to_ns > from_ns).then(|| bytes * 1e9 / (to_ns - from_ns) as f64)
}

/// Bytes received until a time, interpolated linearly between samples.
fn at(samples: &[Sample], ns: u64) -> Option<f64> {
    let after = samples.iter().position(|sample| sample.at_ns >= ns)?;
    let sum = |sample: &Sample| sample.received.iter().sum::<u64>() as f64;
    let next = &samples[after];
    let Some(before) = after.checked_sub(1).map(|at| &samples[at]) else {
        return (next.at_ns == ns).then(|| sum(next));
    };
    let share = (ns - before.at_ns) as f64 / (next.at_ns - before.at_ns).max(1) as f64;
    Some(sum(before) + (sum(next) - sum(before)) * share)
}

/// Rates of consecutive intervals: the middle of each interval, and bytes per second.
pub(crate) fn series(samples: &[Sample], width_ns: u64, end_ns: u64) -> Vec<(u64, f64)> {
    let starts = (0..).map(|n| n * width_ns).take_while(|start| start + width_ns <= end_ns);
    starts.filter_map(|start| Some((start + width_ns / 2, rate(samples, start, start + width_ns)?))).collect()
}

/// The lowest rate of an interval of some length: its start, and bytes per second.
pub(crate) fn lowest(samples: &[Sample], from_ns: u64, to_ns: u64, width_ns: u64) -> Option<(u64, f64)> {
    let starts = samples.iter().map(|sample| sample.at_ns).filter(|at| *at >= from_ns);
    let inside = starts.filter(|start| start + width_ns <= to_ns);
    let rates = inside.filter_map(|start| Some((start, rate(samples, start, start + width_ns)?)));
    rates.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Time until the start of the first interval with at least the required rate.
pub(crate) fn back(samples: &[Sample], from_ns: u64, to_ns: u64, width_ns: u64, wanted: f64) -> Option<u64> {
    let later = samples.iter().map(|sample| sample.at_ns).filter(|at| *at > from_ns);
    let mut starts = std::iter::once(from_ns).chain(later).filter(|start| start + width_ns <= to_ns);
    let first =
        starts.find(|start| rate(samples, *start, start + width_ns).is_some_and(|rate| rate >= wanted));
    first.map(|start| start - from_ns)
}

/// The nearest-rank percentile.
pub(crate) fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Maximum time for which paths were still used after the first sign of a loss. Each period between recoveries of a
/// path counts separately, from the detection of its first loss to the transmission of its last lost packet.
pub(crate) fn max_use_after_signal(losses: &[Loss], changes: &[Change]) -> Option<u64> {
    let mut returns: BTreeMap<Path, Vec<u64>> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.states.0 == "ASSUMED_BAD") {
        returns.entry((change.from, change.to, change.entropy)).or_default().push(change.at_ns);
    }
    // By path and number of earlier recoveries: detection of the first loss, and last transmission of a lost packet.
    let mut seen: BTreeMap<(Path, usize), (u64, u64)> = BTreeMap::new();
    for loss in losses.iter().filter_map(|loss| loss.report) {
        let path = (loss.from, loss.to, loss.entropy);
        let came_back =
            returns.get(&path).map_or(0, |times| times.iter().filter(|at| **at <= loss.sent_ns).count());
        let known_ns = loss.known_ns.unwrap_or(u64::MAX);
        let entry = seen.entry((path, came_back)).or_insert((known_ns, loss.sent_ns));
        *entry = (entry.0.min(known_ns), entry.1.max(loss.sent_ns));
    }
    seen.values()
        .filter(|(known, _)| *known < u64::MAX)
        .map(|(known, sent)| sent.saturating_sub(*known))
        .max()
}

#[cfg(test)]
mod tests {
    use super::super::record::LossReport;
    use super::*;

    const MS: u64 = 1_000_000;

    /// Samples of 1,000 bytes per millisecond from two NICs; none from 1,000 to 1,200 ms.
    fn samples() -> Vec<Sample> {
        let sample = |n: u64| {
            let bytes = 1000 * (n.min(1000) + n.saturating_sub(1200));
            Sample { at_ns: n * MS, received: vec![bytes / 2, bytes / 2] }
        };
        (0..=30).map(|n| sample(n * 100)).collect()
    }

    #[test]
    fn rates_are_those_of_the_line_between_samples() {
        let samples = samples();
        assert_eq!(rate(&samples, 0, 1000 * MS), Some(1e6));
        assert_eq!(rate(&samples, 150 * MS, 250 * MS), Some(1e6));
        assert_eq!(rate(&samples, 1000 * MS, 1200 * MS), Some(0.0));
        assert_eq!(rate(&samples, 900 * MS, 1100 * MS), Some(5e5));
        assert_eq!((rate(&samples, 0, 4000 * MS), rate(&samples, 5, 5), rate(&[], 0, 1)), (None, None, None));
    }

    #[test]
    fn the_lowest_stretch_and_the_way_back_are_found() {
        let samples = samples();
        assert_eq!(lowest(&samples, 0, 3000 * MS, 400 * MS), Some((800 * MS, 5e5)));
        assert_eq!(lowest(&samples, 0, 100 * MS, 400 * MS), None);
        assert_eq!(back(&samples, 1000 * MS, 3000 * MS, 300 * MS, 0.95e6), Some(200 * MS));
        assert_eq!(back(&samples, 1300 * MS, 3000 * MS, 300 * MS, 0.95e6), Some(0));
        assert_eq!(back(&samples, 1000 * MS, 3000 * MS, 300 * MS, 2e6), None);
        let series = series(&samples, 500 * MS, 3000 * MS);
        assert_eq!(series.len(), 6);
        assert_eq!((series[0], series[2]), ((250 * MS, 1e6), (1250 * MS, 6e5)));
    }

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let sorted: Vec<u64> = (1..=1000).collect();
        let of = |share| percentile(&sorted, share);
        assert_eq!((of(0.5), of(0.99), of(0.999), of(1.0)), (Some(500), Some(990), Some(999), Some(1000)));
        assert_eq!((percentile(&[7], 0.5), percentile(&[], 0.5)), (Some(7), None));
    }

    #[test]
    fn a_path_that_came_back_and_failed_again_is_two_stories() {
        let loss = |entropy, sent_ns, known_ns| Loss {
            lost_ns: sent_ns,
            step: None,
            in_switch: false,
            is_probe: false,
            report: Some(LossReport { from: 0, to: 1, entropy, sent_ns, known_ns: Some(known_ns) }),
        };
        let silent = Loss {
            report: Some(LossReport { from: 0, to: 1, entropy: 7, sent_ns: 5, known_ns: None }),
            ..loss(7, 5, 6)
        };
        assert_eq!(max_use_after_signal(&[silent], &[]), None, "there was no word of it");
        let change = |was: &str, now: &str, at_ns| Change {
            from: 0,
            to: 1,
            entropy: 5,
            states: (was.to_owned(), now.to_owned()),
            at_ns,
        };
        let losses = [loss(5, 100, 200), loss(5, 230, 400), loss(5, 1000, 1100), loss(6, 150, 300)];
        let changes = [change("GOOD", "ASSUMED_BAD", 200), change("ASSUMED_BAD", "GOOD", 900)];
        assert_eq!(max_use_after_signal(&losses, &changes), Some(30));
        assert_eq!(max_use_after_signal(&losses, &[]), Some(800), "nothing says that it came back");
        assert_eq!(max_use_after_signal(&[], &[]), None);
    }
}
