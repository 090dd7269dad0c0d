//! Combines the counters of switches, to find out whether each direction of a cable loses packets.
//!
//! In: rounds in which every switch was read twice. All first reads precede all second reads. Out: for each direction
//! of a cable, a lower bound of the lost packets. Invariants: a packet in flight during a round never counts as lost.
//! Decreasing counters mean that the switch was restarted. Memory is bounded by the number of cables.

use std::collections::BTreeMap;

use closc_deploy::Counters;
use closc_plan::Plan;
use closc_topology::{Link, Switch};

use crate::evidence::DEAD_RUN;

/// Counters of a switch in a round, at the first and the second read.
pub type CounterReads = [Counters; 2];

/// A loss counts for at least this time, and at most for twice as long.
const WINDOW_MS: u64 = 60_000;

/// A direction of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// From the lower switch to the upper one.
    Up,
    /// From the upper switch to the lower one.
    Down,
}

/// Counters at both ends of one direction, in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ends {
    sent: [u64; 2],
    received: [u64; 2],
}

impl Ends {
    fn is_after(&self, before: &Ends) -> bool {
        let grows = |now: [u64; 2], before: [u64; 2]| now[0] >= before[1] && now[1] >= now[0];
        grows(self.sent, before.sent) && grows(self.received, before.received)
    }

    /// Returns a lower bound of the packets sent since an earlier round, and an upper bound of those received.
    fn since(&self, before: &Ends) -> (u64, u64) {
        (self.sent[0].saturating_sub(before.sent[1]), self.received[1].saturating_sub(before.received[0]))
    }
}

/// One direction of a cable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    old: (Ends, u64),
    middle: (Ends, u64),
    last: Ends,
    /// Packets sent since the last one was received.
    silent: u64,
    pub(crate) last_seen_ms: u64,
    /// Time of the first loss within the window.
    pub(crate) since_ms: u64,
}

impl Flow {
    fn new(ends: Ends, now_ms: u64) -> Flow {
        let first = (ends, now_ms);
        Flow { old: first, middle: first, last: ends, silent: 0, last_seen_ms: now_ms, since_ms: 0 }
    }

    fn add(&mut self, ends: Ends, now_ms: u64) {
        if !ends.is_after(&self.last) {
            *self = Flow::new(ends, now_ms);
            return;
        }
        let (left, came) = ends.since(&self.last);
        if came == 0 {
            self.silent += left;
        } else if self.is_dead() {
            // Losses of an outage do not count as gray loss after it.
            *self = Flow::new(ends, now_ms);
            return;
        } else {
            self.silent = 0;
        }
        (self.last, self.last_seen_ms) = (ends, now_ms);
        if now_ms.saturating_sub(self.middle.1) >= WINDOW_MS {
            (self.old, self.middle) = (self.middle, (ends, now_ms));
        }
        let is_losing = self.loss_counts().0 > 0 || self.is_dead();
        self.since_ms = match (is_losing, self.since_ms) {
            (false, _) => 0,
            (true, 0) => now_ms,
            (true, since) => since,
        };
    }

    /// Returns a lower bound of the packets lost, and the packets sent.
    pub(crate) fn loss_counts(&self) -> (u64, u64) {
        let (left, came) = self.last.since(&self.old.0);
        (left.saturating_sub(came), left)
    }

    /// Returns the packets sent since the last one was received.
    pub(crate) fn silent(&self) -> u64 {
        self.silent
    }

    /// Returns whether packets no longer arrive.
    pub(crate) fn is_dead(&self) -> bool {
        self.silent >= u64::from(DEAD_RUN)
    }

    /// Returns whether packets arrived within the window.
    pub(crate) fn carries(&self) -> bool {
        !self.is_dead() && self.last.since(&self.old.0).1 > 0
    }
}

/// The cables of a switch, by port number.
type Ports = BTreeMap<u16, Link>;

/// All counters of switches.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    ports: BTreeMap<Switch, Ports>,
    latest: BTreeMap<Switch, Counters>,
    pub(crate) flows: BTreeMap<(Link, Direction), Flow>,
    /// Errors of switches that do not answer.
    pub(crate) faults: BTreeMap<Switch, String>,
    pub(crate) failures: u64,
}

/// Returns the ports of a switch with cables to other switches or to NICs.
fn ports_of(plan: &Plan, switch: Switch) -> Ports {
    let intent = plan.device(switch);
    let cabled = intent.ports.iter().filter_map(|port| {
        let connection = port.connection.as_ref()?;
        Some((port.physical.device, connection.link))
    });
    cabled.collect()
}

impl Switches {
    /// Returns the latest counters of all switches.
    pub(crate) fn latest(&self) -> impl ExactSizeIterator<Item = (Switch, &Counters)> {
        self.latest.iter().map(|(switch, counters)| (*switch, counters))
    }

    /// Returns the latest counters of a switch.
    pub(crate) fn of(&self, switch: Switch) -> Option<&Counters> {
        self.latest.get(&switch)
    }

    /// Handles a round.
    pub(crate) fn take(&mut self, plan: &Plan, round: BTreeMap<Switch, CounterReads>, now_ms: u64) {
        for switch in round.keys() {
            self.ports.entry(*switch).or_insert_with(|| ports_of(plan, *switch));
        }
        // The ends of each cable in this round, the lower first.
        let mut ends: BTreeMap<Link, [Option<(Switch, u16)>; 2]> = BTreeMap::new();
        for switch in round.keys() {
            for (number, link) in &self.ports[switch] {
                if let Link::Fabric { lower, .. } = link {
                    ends.entry(*link).or_default()[usize::from(lower != switch)] = Some((*switch, *number));
                }
            }
        }
        for (link, both) in ends {
            let [Some(lower), Some(upper)] = both else { continue };
            for (direction, from, to) in [(Direction::Up, lower, upper), (Direction::Down, upper, lower)] {
                let left = round[&from.0].each_ref().map(|counters| counters.sent_packets(from.1));
                let came = round[&to.0].each_ref().map(|counters| counters.received.get(&to.1));
                let [Some(first), Some(second)] = came else { continue };
                let ends = Ends { sent: left, received: [first.packets, second.packets] };
                let flow = self.flows.entry((link, direction)).or_insert_with(|| Flow::new(ends, now_ms));
                flow.add(ends, now_ms);
            }
        }
        for (switch, [_, last]) in round {
            self.faults.remove(&switch);
            self.latest.insert(switch, last);
        }
    }

    /// Records that a switch could not be read. Returns whether the error is new: the first since the
    /// switch was last read, or another one.
    pub(crate) fn record_failure(&mut self, switch: Switch, fault: &str) -> bool {
        self.failures += 1;
        self.latest.remove(&switch);
        let fault: String = fault.chars().take(300).collect();
        self.faults.insert(switch, fault.clone()) != Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(left: [u64; 2], came: [u64; 2]) -> Ends {
        Ends { sent: left, received: came }
    }

    #[test]
    fn what_is_under_way_is_not_lost() {
        // A thousand packets are sent between the two reads of a round. None counts as lost, whenever each switch is
        // read.
        for skew in [0_u64, 500, 1000] {
            let at = |round: u64| {
                let n = round * 100_000;
                ends([n, n + 1000], [n.saturating_sub(skew), n + 1000 - skew])
            };
            let mut flow = Flow::new(at(1), 0);
            for round in 2..200 {
                flow.add(at(round), round * 1000);
                assert_eq!(flow.loss_counts().0, 0, "round {round}, skew {skew}");
            }
            assert!(flow.carries() && !flow.is_dead() && flow.since_ms == 0);
        }
    }

    #[test]
    fn losses_are_counted_for_two_minutes_at_most() {
        let at = |n: u64, lost: u64| ends([n, n + 10], [n - lost, n + 10 - lost]);
        let mut flow = Flow::new(at(1000, 0), 0);
        for second in 1..=60 {
            flow.add(at(1000 + second * 1000, second * 5), second * 1000);
        }
        // Half a percent is lost. Packets that may have been in flight are not counted.
        let (lost, sent) = flow.loss_counts();
        assert!((270..=300).contains(&lost) && sent > 59_000, "{lost} of {sent}");
        let since = flow.since_ms;
        assert!((1000..=5000).contains(&since), "{since}");
        for second in 61..=240 {
            flow.add(at(1000 + second * 1000, 300), second * 1000);
        }
        assert_eq!((flow.loss_counts().0, flow.since_ms), (0, 0));
    }

    #[test]
    fn nothing_that_comes_is_seen_at_once_and_a_restart_is_no_loss() {
        let mut flow = Flow::new(ends([100, 100], [100, 100]), 0);
        flow.add(ends([200, 200], [200, 200]), 1000);
        flow.add(ends([202, 202], [200, 200]), 2000);
        assert!(!flow.is_dead());
        flow.add(ends([210, 210], [200, 200]), 3000);
        assert!(flow.is_dead() && flow.silent() == 10);
        // A packet that arrives ends the outage. Losses during it do not count as gray loss.
        flow.add(ends([300, 300], [290, 290]), 4000);
        assert!(!flow.is_dead() && flow.loss_counts().0 == 0);
        flow.add(ends([5, 5], [390, 390]), 5000);
        assert_eq!((flow.loss_counts(), flow.is_dead()), ((0, 0), false));
    }
}
