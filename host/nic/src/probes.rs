//! Probes in flight.
//!
//! In: probes as they are sent and as they return. Out: results. Invariants: an answer counts once, and only if it
//! belongs to a probe of this process; memory is bounded.

use crate::schedule::TurnPoint;

/// Maximum number of probes in flight.
const ROOM: usize = 1024;

/// The target of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A switch, and its index in the schedule.
    Switch(TurnPoint, usize),
    /// A switch and its index, as above, with a long probe and the length of its IP packet.
    Long(TurnPoint, usize, u16),
    /// The T0 of another plane, over a port whose own T0 does not answer.
    Other {
        /// The port, by its plane.
        port: u8,
        /// The plane of the T0.
        plane: u8,
    },
    /// A path to a NIC.
    Path {
        /// The address of the NIC.
        address: [u8; 16],
        /// Its plane.
        plane: u8,
        /// Its entropy value.
        entropy: u32,
        /// Whether the probe is as long as a full-length data packet.
        is_long: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct ProbeInFlight {
    id: u32,
    target: Target,
    /// Time at which it was sent: on the clock that stops while the process does not run, and in real time.
    sent_ns: u64,
    at_ns: u64,
    open: bool,
}

/// The probes of one NIC.
#[derive(Debug)]
pub struct Probes {
    ring: Vec<ProbeInFlight>,
    next: u32,
    oldest: u32,
    timeout_ns: u64,
}

impl Probes {
    /// Creates an empty set of probes.
    pub fn new(timeout_ns: u64) -> Self {
        let target = Target::Switch(TurnPoint::T0 { plane: 0 }, 0);
        let none = ProbeInFlight { id: 0, target, sent_ns: 0, at_ns: 0, open: false };
        Probes { ring: vec![none; ROOM], next: 1, oldest: 1, timeout_ns }
    }

    /// Records a probe and returns its number. `sent_ns` is the time on the clock that stops while the process does not
    /// run, `at_ns` the real time. Returns `None` if too many are in flight.
    pub fn register(&mut self, target: Target, sent_ns: u64, at_ns: u64) -> Option<u32> {
        if self.next.wrapping_sub(self.oldest) as usize >= ROOM {
            return None;
        }
        let id = self.next;
        self.ring[id as usize % ROOM] = ProbeInFlight { id, target, sent_ns, at_ns, open: true };
        self.next = self.next.wrapping_add(1);
        Some(id)
    }

    /// Handles an answer that arrived at `came_ns` in real time. Returns the target and the round trip.
    pub fn record_answer(&mut self, id: u32, came_ns: u64) -> Option<(Target, u64)> {
        let probe = &mut self.ring[id as usize % ROOM];
        if probe.id != id || !probe.open {
            return None;
        }
        probe.open = false;
        Some((probe.target, came_ns.saturating_sub(probe.at_ns)))
    }

    /// Returns a probe that timed out, and when it was sent.
    pub fn pop_expired(&mut self, now_ns: u64) -> Option<(Target, u64)> {
        while self.oldest != self.next {
            let probe = &mut self.ring[self.oldest as usize % ROOM];
            if probe.open && now_ns.saturating_sub(probe.sent_ns) < self.timeout_ns {
                return None;
            }
            self.oldest = self.oldest.wrapping_add(1);
            if std::mem::take(&mut probe.open) {
                return Some((probe.target, probe.sent_ns));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_and_in_time() {
        let mut probes = Probes::new(100);
        let target = Target::Switch(TurnPoint::T1 { plane: 1, uplink: 2 }, 3);
        let (first, second) =
            (probes.register(target, 0, 1_000).unwrap(), probes.register(target, 10, 1_010).unwrap());
        assert_eq!(probes.record_answer(second, 1_015), Some((target, 5)));
        assert_eq!((probes.record_answer(second, 16), probes.record_answer(second + 7, 16)), (None, None));
        assert_eq!(probes.pop_expired(99), None);
        assert_eq!(probes.pop_expired(100), Some((target, 0)));
        assert_eq!((probes.pop_expired(1000), probes.record_answer(first, 1000)), (None, None));
    }

    #[test]
    fn no_more_are_under_way_than_there_is_room_for() {
        let mut probes = Probes::new(100);
        let target = Target::Switch(TurnPoint::T0 { plane: 0 }, 0);
        assert_eq!((0..5000).filter_map(|_| probes.register(target, 0, 0)).count(), ROOM);
        assert_eq!(std::iter::from_fn(|| probes.pop_expired(100)).count(), ROOM);
        assert!(probes.register(target, 101, 101).is_some());
    }
}
