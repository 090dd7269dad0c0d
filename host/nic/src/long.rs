//! Probes as long as the path MTU allows: cables and switches that pass short packets only.
//!
//! In: results of long probes of one turn. Out: the length of the next one, how many of full length were lost in a row, the
//! longest packet that passed and the shortest that did not. Invariants: only a full-length probe that returns clears a turn; short
//! probes are counted elsewhere; once several were lost, probes of lengths between find the limit.

use serde::{Deserialize, Serialize};

/// Every so many short probes of a turn are followed by a long one.
const EVERY: u8 = 16;
/// While a turn is in doubt, a long probe follows every short one, up to so many losses; afterwards one in [`LATER`].
const EAGER: u32 = 12;
const LATER: u8 = 4;
/// Full-length probes lost in a row after which a turn passes short packets only, if short probes return.
pub(crate) const NARROW_RUN: u32 = 5;
/// Lengths are not searched more finely than this.
const STEP: u16 = 8;

/// The results of long probes of one turn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Long {
    /// Long probes sent since the start.
    pub(crate) sent: u64,
    /// Long probes lost since the start.
    pub(crate) lost: u64,
    /// Full-length probes lost in a row.
    pub(crate) in_a_row: u32,
    /// Whether one of full length returned since the start.
    has_passed: bool,
    /// The longest packet that passed since a full one was lost; 0 before the first.
    passed: u16,
    /// The shortest that did not; 0 while full-length packets pass.
    failed: u16,
    /// Short probes until the next long one.
    wait: u8,
    /// Whether the last one searched for the limit: the next is of full length again.
    has_searched: bool,
}

/// A turn whose last long probe was lost, or that none returned from since the agent started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongView {
    /// Its plane.
    pub plane: u8,
    /// Tier of the switch where it turns.
    pub tier: u8,
    /// The T0's uplink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<u16>,
    /// The T1's uplink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1_uplink: Option<u16>,
    /// Full-length probes lost in a row; 0 where none was answered or lost yet.
    pub lost: u32,
    /// Bytes of the longest IP packet that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_bytes: Option<u16>,
    /// Bytes of the shortest IP packet that did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loses_bytes: Option<u16>,
}

impl Long {
    /// A turn whose first long probe follows the short probe of this number, so that turns do not send theirs together.
    pub(crate) fn staggered(place: usize) -> Long {
        Long { wait: (place % usize::from(EVERY)) as u8, ..Long::default() }
    }

    /// Counts a short probe. Tells whether a long one is to follow.
    pub(crate) fn is_due(&mut self) -> bool {
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    /// Has a long probe follow the next short one: data was lost over this turn.
    pub(crate) fn doubt(&mut self) {
        if self.in_a_row == 0 {
            self.wait = self.wait.min(1);
        }
    }

    /// Returns the length of the next probe, between that of a short one and the full one.
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
        // At the end of the search the limit is tried again: chance may have lost one probe.
        if high.saturating_sub(low) <= STEP { high } else { low.midpoint(high) }
    }

    /// Takes the result of a probe of a length.
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

    /// Tells whether packets of full length do not pass, which says nothing of short ones.
    pub(crate) fn is_narrow(&self) -> bool {
        self.in_a_row >= NARROW_RUN
    }

    /// Tells whether a full-length probe was the last to be answered or lost, and returned.
    pub(crate) fn passes(&self) -> bool {
        self.has_passed && self.in_a_row == 0
    }

    /// Returns the longest packet that passed, at least as long as a short probe, and the shortest that did not.
    pub(crate) fn bounds(&self, short: u16) -> (u16, u16) {
        (self.passed.max(short), self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: u16 = 84;
    const FULL: u16 = 4000;

    /// Sends long probes over a turn that passes packets of up to some bytes.
    fn probe(long: &mut Long, limit: u16, n: usize) {
        for _ in 0..n {
            let len = long.next_len(SHORT, FULL);
            long.result(len, FULL, len <= limit);
        }
    }

    #[test]
    fn the_limit_is_found_and_only_a_full_probe_clears_it() {
        let mut long = Long::staggered(0);
        probe(&mut long, FULL, 3);
        assert!(long.passes() && !long.is_narrow());
        probe(&mut long, 1300, 4);
        assert!(!long.passes() && !long.is_narrow());
        probe(&mut long, 1300, 40);
        let (passes, loses) = long.bounds(SHORT);
        assert!(passes <= 1300 && loses > 1300 && loses - passes <= 2 * STEP, "{passes} {loses}");
        assert!(long.is_narrow());
        // Shorter ones that return clear nothing.
        long.result(FULL - 1, FULL, true);
        assert!(long.is_narrow() && !long.passes());
        long.result(FULL, FULL, true);
        assert!(long.passes());
        assert_eq!(long.bounds(SHORT), (FULL, 0));
    }

    #[test]
    fn a_probe_that_chance_lost_during_the_search_is_tried_again() {
        let mut long = Long::default();
        probe(&mut long, 1300, 8);
        long.result(200, FULL, false);
        probe(&mut long, 1300, 60);
        let (passes, loses) = long.bounds(SHORT);
        assert!(passes <= 1300 && loses > 1300 && passes > 1200, "{passes} {loses}");
    }

    #[test]
    fn long_probes_are_rare_until_one_is_lost() {
        let mut long = Long::staggered(3);
        let due = |long: &mut Long, n: usize| {
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
