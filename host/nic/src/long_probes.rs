//! Long probes, up to the path MTU. They detect cables and switches that pass only short packets.
//!
//! In: results of long probes for one [`TurnPoint`](crate::schedule::TurnPoint). Out: the length of the next probe, the
//! number of consecutive lost full-length probes, the longest packet that passed, and the shortest that did not.
//! Invariants: after losses, only a full-length probe that returns ends the suspicion. Short probes are counted
//! elsewhere. After several losses, probes of intermediate lengths search for the limit.

use serde::{Deserialize, Serialize};

/// One in this many short probes of a turn point is followed by a long one.
const EVERY: u8 = 16;
/// After a loss, every short probe is followed by a long one, until this many are lost; then one in [`LATER`].
const EAGER: u32 = 12;
const LATER: u8 = 4;
/// Number of consecutive lost full-length probes, while short probes return, after which long packets count as lost.
pub(crate) const NARROW_RUN: u32 = 5;
/// Resolution of the search for the limit, in bytes.
const STEP: u16 = 8;

/// The results of long probes of one turn point.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LongProbes {
    /// Long probes sent since the start.
    pub(crate) sent: u64,
    /// Long probes lost since the start.
    pub(crate) lost: u64,
    /// Number of consecutive lost full-length probes.
    pub(crate) in_a_row: u32,
    /// Whether a full-length probe has returned since the start.
    has_passed: bool,
    /// Longest packet that passed since a full-length one was lost; 0 before the first.
    passed: u16,
    /// Shortest packet that did not pass; 0 while full-length packets pass.
    failed: u16,
    /// Short probes until the next long one.
    wait: u8,
    /// Whether the last probe was part of the search. The next one is then of full length.
    has_searched: bool,
}

/// A turn point whose last full-length probe was lost, or for which none has returned since the agent
/// started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongProbeView {
    /// Its plane.
    pub plane: u8,
    /// Tier of the switch at which it turns.
    pub tier: u8,
    /// The uplink of the T0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<u16>,
    /// The uplink of the T1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1_uplink: Option<u16>,
    /// Number of consecutive lost full-length probes; 0 if there is no result yet.
    pub lost: u32,
    /// Length of the longest IP packet that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_bytes: Option<u16>,
    /// Length of the shortest IP packet that did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loses_bytes: Option<u16>,
}

impl LongProbes {
    /// Creates the state of a turn point. `place` staggers the first long probes, so that turn points do not
    /// send them together.
    pub(crate) fn with_stagger(place: usize) -> LongProbes {
        LongProbes { wait: (place % usize::from(EVERY)) as u8, ..LongProbes::default() }
    }

    /// Counts a short probe. Returns whether a long one must follow.
    pub(crate) fn is_due(&mut self) -> bool {
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    /// Requests a long probe after the next short one, because a path over this turn point lost data.
    pub(crate) fn doubt(&mut self) {
        if self.in_a_row == 0 {
            self.wait = self.wait.min(1);
        }
    }

    /// Returns the length of the next probe: the full length, or a step of the search.
    pub(crate) fn next_len(&mut self, short: u16, full: u16) -> u16 {
        self.sent += 1;
        self.wait = match self.in_a_row {
            0 => EVERY,
            1..EAGER => 1,
            _ => LATER,
        };
        self.has_searched = self.in_a_row >= NARROW_RUN && !self.has_searched;
        if !self.has_searched {
            return full;
        }
        let (low, high) = (self.passed.max(short), self.failed.min(full));
        // At the end of the search the shortest failed length is probed again, in case a probe was lost by chance.
        if high.saturating_sub(low) <= STEP { high } else { low.midpoint(high) }
    }

    /// Records the result of a probe of a given length.
    pub(crate) fn result(&mut self, len: u16, full: u16, returned: bool) {
        self.lost += u64::from(!returned);
        match (returned, len >= full) {
            (true, true) => {
                (self.in_a_row, self.passed, self.failed, self.has_passed) = (0, len, 0, true);
                self.wait = EVERY;
            }
            (true, false) => {
                self.passed = self.passed.max(len);
                if self.failed <= len {
                    self.failed = full;
                }
            }
            (false, is_full) => {
                if is_full {
                    if self.in_a_row == 0 {
                        (self.passed, self.failed) = (0, len);
                    }
                    self.in_a_row = self.in_a_row.saturating_add(1);
                    self.wait = self.wait.min(if self.in_a_row < EAGER { 1 } else { LATER });
                }
                self.failed = self.failed.min(len);
                if self.passed >= self.failed {
                    self.passed = 0;
                }
            }
        }
    }

    /// Returns whether full-length packets do not pass. Short packets are not considered.
    pub(crate) fn is_narrow(&self) -> bool {
        self.in_a_row >= NARROW_RUN
    }

    /// Returns whether the last full-length probe with a result returned.
    pub(crate) fn passes(&self) -> bool {
        self.has_passed && self.in_a_row == 0
    }

    /// Returns the longest packet that passed, at least that of a short probe, and the shortest that did not.
    pub(crate) fn bounds(&self, short: u16) -> (u16, u16) {
        (self.passed.max(short), self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: u16 = 84;
    const FULL: u16 = 4000;

    /// Sends long probes over an element that passes at most `limit` bytes.
    fn probe(long: &mut LongProbes, limit: u16, n: usize) {
        for _ in 0..n {
            let len = long.next_len(SHORT, FULL);
            long.result(len, FULL, len <= limit);
        }
    }

    #[test]
    fn the_limit_is_found_and_only_a_full_probe_clears_it() {
        let mut long = LongProbes::with_stagger(0);
        probe(&mut long, FULL, 3);
        assert!(long.passes() && !long.is_narrow());
        probe(&mut long, 1300, 4);
        assert!(!long.passes() && !long.is_narrow());
        probe(&mut long, 1300, 40);
        let (passes, loses) = long.bounds(SHORT);
        assert!(passes <= 1300 && loses > 1300 && loses - passes <= 2 * STEP, "{passes} {loses}");
        assert!(long.is_narrow());
        // Shorter probes that return do not end the suspicion.
        long.result(FULL - 1, FULL, true);
        assert!(long.is_narrow() && !long.passes());
        long.result(FULL, FULL, true);
        assert!(long.passes());
        assert_eq!(long.bounds(SHORT), (FULL, 0));
    }

    #[test]
    fn a_probe_that_chance_lost_during_the_search_is_tried_again() {
        let mut long = LongProbes::default();
        probe(&mut long, 1300, 8);
        long.result(200, FULL, false);
        probe(&mut long, 1300, 60);
        let (passes, loses) = long.bounds(SHORT);
        assert!(passes <= 1300 && loses > 1300 && passes > 1200, "{passes} {loses}");
    }

    #[test]
    fn long_probes_are_rare_until_one_is_lost() {
        let mut long = LongProbes::with_stagger(3);
        let due = |long: &mut LongProbes, n: usize| {
            (0..n).filter(|_| long.is_due() && long.next_len(SHORT, FULL) > 0).count()
        };
        assert_eq!(due(&mut long, 160), 10);
        long.doubt();
        assert_eq!(due(&mut long, 1), 1, "data was lost");
        assert_eq!(due(&mut long, 15), 0);
        long.result(FULL, FULL, false);
        assert_eq!(due(&mut long, 4), 4, "in doubt");
    }
}
