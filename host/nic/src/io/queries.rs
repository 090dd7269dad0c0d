//! Decides when to query the kernel for the neighbour of a port.
//!
//! In: the state of a port at each check, the time. Out: whether to query. Invariants: a port whose neighbour is known
//! and answers causes no queries. If the T0 does not answer, the port may have been moved to another one, so the kernel
//! is queried at growing intervals.

/// Longest interval between two queries for a T0 that does not answer.
const WAIT_MAX_NS: u64 = 8_000_000_000;
const WAIT_MIN_NS: u64 = 1_000_000_000;

/// State of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The neighbour is not known.
    Unknown,
    /// It answers, or the port has no carrier.
    Fine,
    /// It is known but does not answer.
    Silent,
}

/// The queries for one port.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuerySchedule {
    next_ns: u64,
    wait_ns: u64,
}

impl QuerySchedule {
    /// Returns whether to query now.
    pub(super) fn is_due(&mut self, neighbour: Neighbour, now_ns: u64) -> bool {
        match neighbour {
            Neighbour::Unknown => true,
            Neighbour::Fine => {
                *self = QuerySchedule::default();
                false
            }
            Neighbour::Silent if now_ns < self.next_ns => false,
            Neighbour::Silent => {
                self.wait_ns = (2 * self.wait_ns).clamp(WAIT_MIN_NS, WAIT_MAX_NS);
                self.next_ns = now_ns + self.wait_ns;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_neighbour_is_asked_for_less_and_less_often() {
        let mut asking = QuerySchedule::default();
        let second = 1_000_000_000;
        let mut asked = |neighbour, from: u64, to: u64| -> Vec<u64> {
            (from..to).filter(|at| asking.is_due(neighbour, at * second)).collect()
        };
        assert!(asked(Neighbour::Fine, 0, 100).is_empty());
        assert_eq!(asked(Neighbour::Silent, 100, 140), [100, 101, 103, 107, 115, 123, 131, 139]);
        assert!(asked(Neighbour::Fine, 140, 141).is_empty());
        assert_eq!(asked(Neighbour::Silent, 141, 144), [141, 142], "from the beginning");
        assert_eq!(asked(Neighbour::Unknown, 144, 147), [144, 145, 146]);
    }
}
