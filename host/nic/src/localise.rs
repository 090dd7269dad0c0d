//! Localisation of faults from probe results.
//!
//! In: results of the probes for each [`TurnPoint`], and the state of the NIC's ports. Out: findings in order of
//! confidence, each with its counts. Invariants: a switch or cable is named only if nothing before it on the path is
//! dead, and losses before it do not explain its own. So one fault gives one finding.

use serde::Serialize;

use crate::long_probes::{LongProbes, NARROW_RUN};
use crate::schedule::TurnPoint;
use crate::wire::SELF_PROBE_BYTES as SHORT_BYTES;

/// Number of results that are kept per turn point.
const MEMORY: u32 = 64;

/// The results of probes for one turn point.
#[derive(Debug, Clone, Copy, Default)]
pub struct Record {
    /// The most recent results, the latest in the lowest bit; 1 is a loss.
    losses: u64,
    /// Number of results in `losses`.
    n: u32,
    /// Probes sent since the start.
    pub sent: u64,
    /// Probes lost since the start.
    pub lost: u64,
    /// Lost probes that returned with changed bytes.
    pub damaged: u64,
    /// Round trip of the last probe that returned.
    pub rtt_ns: u64,
    /// Number of consecutive lost probes.
    pub in_a_row: u32,
    /// Results of long probes, which are counted separately.
    pub(crate) long: LongProbes,
}

impl Record {
    /// An empty record for the turn point at this index of the schedule.
    pub(crate) fn at(place: usize) -> Record {
        Record { long: LongProbes::with_stagger(place), ..Record::default() }
    }

    /// Records a result.
    pub fn result(&mut self, rtt_ns: Option<u64>) {
        let lost = rtt_ns.is_none();
        self.losses = self.losses << 1 | u64::from(lost);
        self.n = (self.n + 1).min(MEMORY);
        self.sent += 1;
        self.lost += u64::from(lost);
        self.in_a_row = if lost { self.in_a_row + 1 } else { 0 };
        self.rtt_ns = rtt_ns.unwrap_or(self.rtt_ns);
    }

    /// Returns the numbers of lost and of all recent probes.
    pub fn lately(&self) -> (u32, u32) {
        (self.losses.count_ones(), self.n)
    }

    /// Returns whether probes no longer return.
    pub fn is_dead(&self) -> bool {
        self.in_a_row >= 3
    }

    /// Returns whether the last probe returned.
    pub(crate) fn is_good(&self) -> bool {
        self.in_a_row == 0 && self.sent > 0
    }

    /// Returns whether short packets pass but long ones do not.
    pub(crate) fn is_narrow(&self) -> bool {
        self.is_good() && self.long.is_narrow()
    }
}

/// A faulty element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Culprit {
    /// The NIC's own port has no carrier.
    OwnPort {
        /// The plane.
        plane: u8,
    },
    /// The cable to the T0, or the T0 itself.
    NicCable {
        /// The plane.
        plane: u8,
    },
    /// The cable from the T0 to the T1 on one uplink.
    Uplink {
        /// The plane.
        plane: u8,
        /// The uplink.
        uplink: u16,
    },
    /// The cable from a T1 to a T2, or the T2 itself.
    T1Uplink {
        /// The plane.
        plane: u8,
        /// The T0's uplink to that T1.
        uplink: u16,
        /// The uplink of the T1.
        t1_uplink: u16,
    },
    /// A T1, because all of its parallel cables to the T0 fail at once.
    T1 {
        /// The plane.
        plane: u8,
        /// The T1, from 0.
        t1: u16,
    },
}

/// One finding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Finding {
    /// The faulty element.
    #[serde(flatten)]
    pub culprit: Culprit,
    /// Whether only some packets are lost.
    pub gray: bool,
    /// Recent probes that were lost.
    pub lost: u32,
    /// Recent probes.
    pub sent: u32,
    /// Confidence, 0 to 1, that the losses are explained neither by chance nor by an element before this one.
    pub confidence: f64,
    /// Length of the longest IP packet that passed, in bytes, if only short packets pass. The counts are then those of
    /// long probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_bytes: Option<u16>,
    /// Length of the shortest IP packet that did not pass, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loses_bytes: Option<u16>,
}

impl Finding {
    /// Makes a finding from short probes.
    fn new(culprit: Culprit, gray: bool, (lost, sent): (u32, u32), confidence: f64) -> Finding {
        Finding { culprit, gray, lost, sent, confidence, passes_bytes: None, loses_bytes: None }
    }
}

/// Finds faulty elements. `up` returns whether a plane's port is up; `parallel` is the number of cables between a T0
/// and a T1.
pub fn localise(records: &[(TurnPoint, Record)], up: impl Fn(u8) -> bool, parallel: u16) -> Vec<Finding> {
    let mut findings = narrow(records, &up);
    let t0s = records.iter().filter_map(|(turn, record)| match turn {
        TurnPoint::T0 { plane } => Some((*plane, *record)),
        TurnPoint::T1 { .. } | TurnPoint::T2 { .. } => None,
    });
    for (plane, t0) in t0s {
        let (lost, sent) = t0.lately();
        let finding = |culprit, gray, confidence| Finding::new(culprit, gray, (lost, sent), confidence);
        if !up(plane) {
            findings.push(finding(Culprit::OwnPort { plane }, false, 1.0));
            continue;
        }
        if t0.is_dead() {
            let confidence = unlikely(lost.max(t0.in_a_row.min(sent)), sent, BACKGROUND);
            findings.push(finding(Culprit::NicCable { plane }, false, confidence));
            continue;
        }
        let confidence = unlikely(lost, sent, BACKGROUND);
        if is_sure(lost, confidence) {
            findings.push(finding(Culprit::NicCable { plane }, true, confidence));
        }
        let before = (f64::from(lost) / f64::from(sent.max(1))).max(BACKGROUND);
        findings.extend(uplinks(records, plane, before, parallel));
        findings.extend(t1_uplinks(records, plane, before));
    }
    findings.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    findings
}

/// Checks the uplinks of a plane, given the share `before` of lost probes to the T0.
fn uplinks(records: &[(TurnPoint, Record)], plane: u8, before: f64, parallel: u16) -> Vec<Finding> {
    let of_plane: Vec<(u16, Record)> = records
        .iter()
        .filter_map(|(turn, record)| match turn {
            TurnPoint::T1 { plane: p, uplink } if *p == plane => Some((*uplink, *record)),
            TurnPoint::T0 { .. } | TurnPoint::T1 { .. } | TurnPoint::T2 { .. } => None,
        })
        .collect();
    let dead_t1 = |uplink: u16| {
        let t1 = uplink / parallel.max(1);
        let mut siblings = of_plane.iter().filter(|(other, _)| other / parallel.max(1) == t1).peekable();
        parallel > 1 && siblings.peek().is_some() && siblings.all(|(_, record)| record.is_dead())
    };
    let mut out: Vec<Finding> = Vec::new();
    for (uplink, record) in &of_plane {
        let (lost, sent) = record.lately();
        let confidence = unlikely(lost, sent, before);
        let (dead, t1) = (record.is_dead(), uplink / parallel.max(1));
        let culprit = if dead && dead_t1(*uplink) {
            Culprit::T1 { plane, t1 }
        } else {
            Culprit::Uplink { plane, uplink: *uplink }
        };
        let known = out.iter().any(|finding| finding.culprit == culprit);
        if !known && (dead || is_sure(lost, confidence)) {
            out.push(Finding::new(culprit, !dead, (lost, sent), confidence));
        }
    }
    out
}

/// Checks the cables from good T1s of a plane to T2s.
fn t1_uplinks(records: &[(TurnPoint, Record)], plane: u8, before: f64) -> Vec<Finding> {
    let mut out = Vec::new();
    for (turn, record) in records {
        let TurnPoint::T2 { plane: p, uplink, t1_uplink } = *turn else { continue };
        let t1 = records.iter().find(|(other, _)| *other == TurnPoint::T1 { plane, uplink });
        let t1 = t1.map(|(_, record)| *record).unwrap_or_default();
        if p != plane || t1.is_dead() {
            continue;
        }
        let (lost, sent) = record.lately();
        let (t1_lost, t1_sent) = t1.lately();
        let before = before.max(f64::from(t1_lost) / f64::from(t1_sent.max(1)));
        let (confidence, dead) = (unlikely(lost, sent, before), record.is_dead());
        if dead || is_sure(lost, confidence) {
            let culprit = Culprit::T1Uplink { plane, uplink, t1_uplink };
            out.push(Finding::new(culprit, !dead, (lost, sent), confidence));
        }
    }
    out
}

/// Finds elements that pass only short packets. On each path, the first one is named.
fn narrow(records: &[(TurnPoint, Record)], up: impl Fn(u8) -> bool) -> Vec<Finding> {
    let is_wide = |turn: TurnPoint| {
        let before = records.iter().find(|(other, _)| *other == turn);
        before.is_none_or(|(_, record)| !record.long.is_narrow())
    };
    let culprit = |turn: TurnPoint| match turn {
        TurnPoint::T0 { plane } => Some(Culprit::NicCable { plane }),
        TurnPoint::T1 { plane, uplink } => {
            is_wide(TurnPoint::T0 { plane }).then_some(Culprit::Uplink { plane, uplink })
        }
        TurnPoint::T2 { plane, uplink, t1_uplink } => {
            let before = [TurnPoint::T0 { plane }, TurnPoint::T1 { plane, uplink }];
            before.into_iter().all(is_wide).then_some(Culprit::T1Uplink { plane, uplink, t1_uplink })
        }
    };
    let all = records.iter().filter(|(turn, record)| up(turn.plane()) && record.is_narrow());
    let finding = |(turn, record): &(TurnPoint, Record)| {
        let (lost, sent) = record.lately();
        let share = (f64::from(lost) / f64::from(sent.max(1))).max(GRAY_MAX);
        let run = record.long.in_a_row;
        let confidence = 1.0 - share.powf(f64::from(run));
        let (passes, loses) = record.long.bounds(SHORT_BYTES);
        let found = Finding::new(culprit(*turn)?, true, (run, run), confidence);
        Some(Finding { passes_bytes: Some(passes), loses_bytes: Some(loses), ..found })
    };
    all.filter_map(finding)
        .filter(|finding| finding.lost >= NARROW_RUN && finding.confidence >= 0.99)
        .collect()
}

/// Minimum loss rate of short probes that is assumed when losses of long probes are evaluated.
const GRAY_MAX: f64 = 0.05;

/// Loss rate of a good path.
const BACKGROUND: f64 = 0.000_1;

fn is_sure(lost: u32, confidence: f64) -> bool {
    lost >= 2 && confidence >= 0.99
}

/// Returns the probability that fewer than `lost` of `n` probes are lost if each is lost with probability `share`. A
/// value near 1 means that chance does not explain the losses.
fn unlikely(lost: u32, n: u32, share: f64) -> f64 {
    if lost == 0 || n == 0 {
        return 0.0;
    }
    if share >= 1.0 {
        return 0.0;
    }
    let mut term = (1.0 - share).powf(f64::from(n));
    let mut below = 0.0;
    for k in 0..lost {
        below += term;
        term *= f64::from(n - k) / f64::from(k + 1) * share / (1.0 - share);
    }
    below.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(results: &[bool]) -> Record {
        let mut record = Record::default();
        for good in results {
            record.result(good.then_some(1000));
        }
        record
    }

    fn plane(t0: Record, uplinks: &[Record]) -> Vec<(TurnPoint, Record)> {
        let t1 = uplinks.iter().enumerate().map(|(n, r)| (TurnPoint::T1 { plane: 0, uplink: n as u16 }, *r));
        [(TurnPoint::T0 { plane: 0 }, t0)].into_iter().chain(t1).collect()
    }

    #[test]
    fn a_dead_cable_is_named_and_nothing_behind_it() {
        let (good, dead) = (record(&[true; 20]), record(&[true, false, false, false, false]));
        let found = localise(&plane(good, &[good, dead, good]), |_| true, 1);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].culprit, found[0].gray), (Culprit::Uplink { plane: 0, uplink: 1 }, false));
        assert!(found[0].confidence > 0.999);
        let found = localise(&plane(dead, &[dead, dead, dead]), |_| true, 1);
        assert_eq!(found.iter().map(|f| f.culprit).collect::<Vec<_>>(), [Culprit::NicCable { plane: 0 }]);
        let found = localise(&plane(dead, &[dead]), |_| false, 1);
        assert_eq!(found.iter().map(|f| f.culprit).collect::<Vec<_>>(), [Culprit::OwnPort { plane: 0 }]);
    }

    #[test]
    fn a_t1_is_named_where_all_its_cables_fail() {
        let (good, dead) = (record(&[true; 20]), record(&[false; 5]));
        let found = localise(&plane(good, &[good, good, dead, dead]), |_| true, 2);
        assert_eq!(found.iter().map(|f| f.culprit).collect::<Vec<_>>(), [Culprit::T1 { plane: 0, t1: 1 }]);
        let found = localise(&plane(good, &[good, good, good, dead]), |_| true, 2);
        assert_eq!(found[0].culprit, Culprit::Uplink { plane: 0, uplink: 3 });
    }

    #[test]
    fn gray_loss_belongs_to_the_first_cable_that_has_it() {
        let good = record(&[true; 64]);
        let gray = record(&std::array::from_fn::<bool, 64, _>(|n| n % 16 != 3));
        let found = localise(&plane(good, &[good, gray]), |_| true, 1);
        assert_eq!((found.len(), found[0].gray, found[0].lost, found[0].sent), (1, true, 4, 64));
        assert_eq!(found[0].culprit, Culprit::Uplink { plane: 0, uplink: 1 });
        let found = localise(&plane(gray, &[gray, gray]), |_| true, 1);
        assert_eq!(found.iter().map(|f| f.culprit).collect::<Vec<_>>(), [Culprit::NicCable { plane: 0 }]);
    }

    #[test]
    fn a_cable_behind_a_t1_is_named_if_the_t1_is_good() {
        let (good, dead) = (record(&[true; 20]), record(&[false; 5]));
        let t2 = |t1_uplink| TurnPoint::T2 { plane: 0, uplink: 1, t1_uplink };
        let with = |t1: Record| {
            let mut records = plane(good, &[good, t1]);
            records.extend([(t2(0), good), (t2(1), dead)]);
            localise(&records, |_| true, 1).iter().map(|f| f.culprit).collect::<Vec<_>>()
        };
        assert_eq!(with(good), [Culprit::T1Uplink { plane: 0, uplink: 1, t1_uplink: 1 }]);
        assert_eq!(with(dead), [Culprit::Uplink { plane: 0, uplink: 1 }]);
    }

    #[test]
    fn the_first_element_that_passes_short_packets_only_is_named() {
        let good = record(&[true; 40]);
        let narrow = |n: u32| {
            let mut narrow = good;
            for _ in 0..n {
                narrow.long.result(4000, 4000, false);
            }
            narrow
        };
        let found = localise(&plane(good, &[good, narrow(5)]), |_| true, 1);
        assert_eq!((found.len(), found[0].culprit), (1, Culprit::Uplink { plane: 0, uplink: 1 }));
        let (passes, loses) = (found[0].passes_bytes, found[0].loses_bytes);
        assert_eq!((passes, loses, found[0].lost), (Some(SHORT_BYTES), Some(4000), 5));
        let found = localise(&plane(narrow(6), &[narrow(5), narrow(5)]), |_| true, 1);
        assert_eq!(found.iter().map(|f| f.culprit).collect::<Vec<_>>(), [Culprit::NicCable { plane: 0 }]);
        assert!(localise(&plane(good, &[good, narrow(4)]), |_| true, 1).is_empty(), "too few to tell");
        let dead = record(&[false; 5]);
        let found = localise(&plane(good, &[good, Record { long: narrow(9).long, ..dead }]), |_| true, 1);
        assert_eq!(found.iter().map(|f| f.passes_bytes).collect::<Vec<_>>(), [None], "dead, and not narrow");
    }

    #[test]
    fn one_lost_probe_is_nothing() {
        let mut one = record(&[true; 40]);
        one.result(None);
        one.result(Some(1000));
        assert!(localise(&plane(one, &[one]), |_| true, 1).is_empty());
    }
}
