//! Search for the T0 that a port is plugged into, while its own T0 does not answer.
//!
//! In: the state of the port's own T0, answers of other planes' T0s to probes over the port, frames for other
//! NICs. Out: planes to probe next, and the T0 port found. Invariants: only a few probes are sent per probe
//! to the port's own T0. A result is dropped if it is not confirmed, or when the port's own T0 answers.

use serde::{Deserialize, Serialize};

/// Number of planes that are probed per probe to the own T0.
const AT_A_TIME: u8 = 4;
/// Number of consecutive missing answers after which a result is dropped.
const MISSED_MAX: u8 = 3;

/// A port of a T0 of the NIC's group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct T0Port {
    /// The plane of the T0.
    pub plane: u8,
    /// The downlink, from 0.
    pub downlink: u16,
}

/// The search of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Search {
    cursor: u8,
    t0_port: Option<T0Port>,
    missed: u8,
}

impl Search {
    /// Returns the planes to probe now: the one that was found, or the next few of the others.
    pub(crate) fn next(&mut self, own: u8, planes: u8) -> impl Iterator<Item = u8> + use<> {
        let others = planes.saturating_sub(1);
        let from = self.cursor;
        let (found, count) = match self.t0_port {
            Some(found) if found.plane != own => (Some(found.plane), 1),
            Some(_) | None => (None, others.min(AT_A_TIME)),
        };
        if found.is_none() && others > 0 {
            self.cursor = (from + count) % others;
        }
        // Start after the port's own plane, so that all planes except this one are probed.
        let other = move |n: u8| {
            let step = (u16::from(from) + u16::from(n)) % u16::from(others.max(1)) + 1;
            ((u16::from(own) + step) % u16::from(planes.max(1))) as u8
        };
        (0..count).map(move |n| found.unwrap_or_else(|| other(n)))
    }

    /// Records the T0 port that was found. Returns whether it is new.
    pub(crate) fn record_port(&mut self, port: T0Port) -> bool {
        self.missed = 0;
        self.t0_port.replace(port) != Some(port)
    }

    /// Records that the T0 of another plane did not answer.
    pub(crate) fn record_miss(&mut self, plane: u8) {
        if self.t0_port.is_some_and(|found| found.plane == plane) {
            self.missed += 1;
            if self.missed >= MISSED_MAX {
                *self = Search { cursor: self.cursor, ..Search::default() };
            }
        }
    }

    /// Resets the search.
    pub(crate) fn end(&mut self) {
        *self = Search::default();
    }

    /// Returns the T0 port that was found.
    pub(crate) fn place(self) -> Option<T0Port> {
        self.t0_port
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_other_plane_has_its_turn_and_the_own_none() {
        for (own, planes) in [(0, 8), (5, 8), (7, 8), (1, 2), (2, 4)] {
            let mut search = Search::default();
            let rounds = usize::from((planes - 1_u8).div_ceil(AT_A_TIME));
            let tried: BTreeSet<u8> =
                (0..rounds).flat_map(|_| search.next(own, planes).collect::<Vec<_>>()).collect();
            assert_eq!(tried, (0..planes).filter(|plane| *plane != own).collect(), "{own} of {planes}");
        }
        assert_eq!(Search::default().next(0, 1).count(), 0);
    }

    #[test]
    fn what_was_found_is_confirmed_or_dropped() {
        let mut search = Search::default();
        let at = T0Port { plane: 3, downlink: 1 };
        assert!(search.record_port(at) && !search.record_port(at));
        assert_eq!(search.next(0, 8).collect::<Vec<_>>(), [3]);
        for plane in [2, 3, 3] {
            search.record_miss(plane);
        }
        assert_eq!(search.place(), Some(at));
        assert!(!search.record_port(at));
        for _ in 0..MISSED_MAX {
            search.record_miss(3);
        }
        assert_eq!((search.place(), search.next(0, 8).count()), (None, usize::from(AT_A_TIME)));
    }
}
