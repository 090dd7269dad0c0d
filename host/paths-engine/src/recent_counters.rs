//! Compares recent packets of one path with those of the other paths of its plane. Decides whether the path itself
//! loses packets.
//!
//! In: packets that arrived, packets that a full queue may have dropped, packets that met congestion. Out: whether the
//! path dropped more packets than the other paths explain. Invariants: old packets count less, so the counters are
//! bounded, and the effect of old drops ends.

/// Packets after which all counters are halved.
const MEMORY: u16 = 512;
/// Number of additional drops that are attributed to chance.
const CHANCE: f64 = 3.0;
/// Number of standard deviations of the expected drops that are also attributed to chance.
const DEVIATIONS: f64 = 4.0;

/// Counters of one path, or the sum of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecentCounters {
    arrived: u16,
    dropped: u16,
    /// Packets that were marked or trimmed, because a queue on the path is full.
    congested: u16,
}

impl RecentCounters {
    pub(crate) fn record_arrival(&mut self) {
        self.arrived += 1;
        self.age();
    }

    pub(crate) fn record_drop(&mut self) {
        self.dropped += 1;
        self.age();
    }

    pub(crate) fn record_congestion(&mut self) {
        self.congested += 1;
        self.age();
    }

    fn age(&mut self) {
        if self.arrived + self.dropped >= MEMORY || self.congested >= MEMORY {
            let RecentCounters { arrived, dropped, congested } = self;
            (*arrived, *dropped, *congested) = (*arrived / 2, *dropped / 2, *congested / 2);
        }
    }

    /// Adds another path.
    pub(crate) fn add(self, other: RecentCounters) -> RecentCounters {
        RecentCounters {
            arrived: self.arrived.saturating_add(other.arrived),
            dropped: self.dropped.saturating_add(other.dropped),
            congested: self.congested.saturating_add(other.congested),
        }
    }

    fn packets(self) -> f64 {
        f64::from(self.arrived) + f64::from(self.dropped)
    }

    /// Returns whether the path dropped more packets than full queues explain. Full queues can be on the path
    /// itself, or at the last hop, which all paths of the plane share. Returns false if there are no packets
    /// on other paths.
    pub(crate) fn stands_out(self, others: RecentCounters) -> bool {
        if others.packets() == 0.0 {
            return false;
        }
        // Add one drop, so that the share is never 0.
        let share = (f64::from(others.dropped) + 1.0) / (others.packets() + 1.0);
        let expected = self.packets() * share;
        let explained = expected + DEVIATIONS * expected.sqrt() + CHANCE + f64::from(self.congested);
        f64::from(self.dropped) > explained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrived: u16, dropped: u16, congested: u16) -> RecentCounters {
        RecentCounters { arrived, dropped, congested }
    }

    #[test]
    fn a_path_that_loses_alone_stands_out_and_one_among_others_does_not() {
        assert!(of(20, 6, 0).stands_out(of(200, 0, 0)), "nothing arrives, and of others everything does");
        assert!(!of(20, 3, 0).stands_out(of(200, 0, 0)), "chance");
        assert!(!of(10, 60, 0).stands_out(of(10, 60, 0)), "a queue of all of them is full");
        assert!(!of(200, 20, 0).stands_out(of(200, 10, 0)));
        assert!(!of(20, 6, 6).stands_out(of(200, 0, 0)), "a queue of its own is full");
        assert!(!of(0, 60, 0).stands_out(of(0, 0, 0)), "it is the only one");
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut path = RecentCounters::default();
        (0..60).for_each(|_| path.record_drop());
        (0..10 * MEMORY).for_each(|_| path.record_arrival());
        (0..10 * MEMORY).for_each(|_| path.record_congestion());
        assert!(path.dropped == 0 && path.arrived < MEMORY && path.congested < MEMORY, "{path:?}");
    }
}
