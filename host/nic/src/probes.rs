//! Probes under way.
//!
//! In: probes as they are sent and as they come back. Out: results. Invariants: an answer counts once, and only if it is
//! to a probe of this process; what is remembered is bounded.

use crate::schedule::Turn;

/// Probes that are remembered.
const ROOM: usize = 1024;

/// Probed elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A switch, and its place in the schedule.
    Switch(Turn, usize),
    /// The same by a long probe, and the bytes of its IP packet.
    Long(Turn, usize, u16),
    /// The T0 of another plane, by a port that its own T0 does not answer to.
    Other {
        /// The port, by its plane.
        port: u8,
        /// The plane of the T0.
        plane: u8,
    },
    /// A path to a NIC, by its channel.
    Path {
        /// Its address.
        address: [u8; 16],
        /// Its plane.
        plane: u8,
        /// Its entropy value.
        entropy: u32,
        /// Whether the probe is as long as packets of data may be.
        is_long: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct UnderWay {
    id: u32,
    target: Target,
    /// When it left, by the time that the process ran and by the real one.
    sent_ns: u64,
    at_ns: u64,
    open: bool,
}

/// The probes of one NIC.
#[derive(Debug)]
pub struct Probes {
    ring: Vec<UnderWay>,
    next: u32,
    oldest: u32,
    timeout_ns: u64,
}

impl Probes {
    /// Nothing is under way.
    pub fn new(timeout_ns: u64) -> Self {
        let target = Target::Switch(Turn::T0 { plane: 0 }, 0);
        let none = UnderWay { id: 0, target, sent_ns: 0, at_ns: 0, open: false };
        Probes { ring: vec![none; ROOM], next: 1, oldest: 1, timeout_ns }
    }

    /// Remembers a probe and returns its number: when it left, by the time that the process ran and by the real one. Nothing, if
    /// too many are under way.
    pub fn sent(&mut self, target: Target, sent_ns: u64, at_ns: u64) -> Option<u32> {
        if self.next.wrapping_sub(self.oldest) as usize >= ROOM {
            return None;
        }
        let id = self.next;
        self.ring[id as usize % ROOM] = UnderWay { id, target, sent_ns, at_ns, open: true };
        self.next = self.next.wrapping_add(1);
        Some(id)
    }

    /// Takes an answer that came at a time, the real one: what was probed, and the round trip.
    pub fn answered(&mut self, id: u32, came_ns: u64) -> Option<(Target, u64)> {
        let probe = &mut self.ring[id as usize % ROOM];
        if probe.id != id || !probe.open {
            return None;
        }
        probe.open = false;
        Some((probe.target, came_ns.saturating_sub(probe.at_ns)))
    }

    /// Returns one probe that did not come back in time, and when it was sent.
    pub fn missed(&mut self, now_ns: u64) -> Option<(Target, u64)> {
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
        let target = Target::Switch(Turn::T1 { plane: 1, uplink: 2 }, 3);
        let (first, second) =
            (probes.sent(target, 0, 1_000).unwrap(), probes.sent(target, 10, 1_010).unwrap());
        assert_eq!(probes.answered(second, 1_015), Some((target, 5)));
        assert_eq!((probes.answered(second, 16), probes.answered(second + 7, 16)), (None, None));
        assert_eq!(probes.missed(99), None);
        assert_eq!(probes.missed(100), Some((target, 0)));
        assert_eq!((probes.missed(1000), probes.answered(first, 1000)), (None, None));
    }

    #[test]
    fn no_more_are_under_way_than_there_is_room_for() {
        let mut probes = Probes::new(100);
        let target = Target::Switch(Turn::T0 { plane: 0 }, 0);
        assert_eq!((0..5000).filter_map(|_| probes.sent(target, 0, 0)).count(), ROOM);
        assert_eq!(std::iter::from_fn(|| probes.missed(100)).count(), ROOM);
        assert!(probes.sent(target, 101, 101).is_some());
    }
}
