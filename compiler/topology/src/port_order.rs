//! The ports of the cables between T0s and T1s, if the file lists other stages of the fabric (`port_order`).
//!
//! In: the counts of those stages; the last one is the fabric itself. Out: the place of each port on its side of the
//! panel. Invariants: a place is a function of the counts. No two ports have the same place. A cable is identified by
//! its switches and its number among the parallel ones. If two consecutive stages have a cable, it has the same
//! places in both. So a change of counts moves only cables whose place does not exist in the new stage.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use serde::Serialize;

use crate::coordinate::Side;

/// The counts of a stage whose port order is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PortStage {
    /// T0 groups of a zone.
    pub groups: u16,
    /// Uplinks of a T0.
    pub up: u16,
    /// Parallel cables between a T0 and a T1.
    pub parallel: u16,
}

/// The switches that a switch reaches on one side, and its parallel cables to each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fan {
    pub(crate) switches: u16,
    pub(crate) parallel: u16,
}

impl fmt::Display for PortStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PortStage { groups, up, parallel } = self;
        write!(f, "{{ groups: {groups}, up: {up}, parallel: {parallel} }}")
    }
}

impl PortStage {
    /// Returns the T1s above a T0.
    pub(crate) fn t1_fan(self) -> Fan {
        Fan { switches: self.up / self.parallel.max(1), parallel: self.parallel }
    }

    /// Returns the T0s below a T1.
    pub(crate) fn t0_fan(self) -> Fan {
        Fan { switches: self.groups, parallel: self.parallel }
    }
}

/// Returns the switch at the far end of each place on a side of the panel: T1s above a T0, or T0s below a T1. Places
/// without a cable have `None`. The last stage is the fabric, and the earlier ones are its port order.
pub fn far_switches(stages: &[PortStage], side: Side) -> Vec<Option<u16>> {
    let fan = |stage: &PortStage| match side {
        Side::Up => stage.t1_fan(),
        Side::Down => stage.t0_fan(),
    };
    let parallel = stages.last().map_or(1, |own| own.parallel.max(1));
    let places = places(stages.iter().map(fan));
    let count = places.iter().max().map_or(0, |last| usize::from(*last) + 1);
    let mut found = vec![None; count];
    for (port, place) in (0..).zip(places) {
        found[usize::from(place)] = Some(port / parallel);
    }
    found
}

/// Returns the place of each port in the last stage. Port `switch * parallel + cable` has cable number `cable` of the
/// parallel ones to a switch. In the first stage, ports are in this order. In each further stage, cables of the
/// previous stage keep their places, and the others take the remaining places in order.
pub(crate) fn places(fans: impl Iterator<Item = Fan>) -> Vec<u16> {
    let mut last = Fan { switches: 0, parallel: 0 };
    let mut places: Vec<u16> = Vec::new();
    for fan in fans {
        let kept = |switch: u16, cable: u16| {
            let index = usize::from(switch) * usize::from(last.parallel) + usize::from(cable);
            (switch < last.switches && cable < last.parallel).then(|| places[index])
        };
        let cables = (0..fan.switches).flat_map(|switch| (0..fan.parallel).map(move |cable| (switch, cable)));
        let taken: BTreeSet<u16> = cables.clone().filter_map(|(switch, cable)| kept(switch, cable)).collect();
        let mut free = (0..u16::MAX).filter(|place| !taken.contains(place));
        let next = cables.map_while(|(switch, cable)| kept(switch, cable).or_else(|| free.next())).collect();
        places = next;
        last = fan;
    }
    places
}

/// The ports of one side of a switch, and their places in the port order.
#[derive(Debug, Clone, Default)]
pub(crate) struct SideOrder {
    /// The place of each port.
    pub(crate) places: Vec<u16>,
    /// The port at each place.
    pub(crate) ports: Vec<u16>,
}

impl SideOrder {
    /// Orders a side. Spare ports take the remaining places.
    pub(crate) fn new(fans: impl Iterator<Item = Fan>, count: u16, spare: u16) -> SideOrder {
        let mut places = places(fans);
        places.truncate(count.into());
        let used: BTreeSet<u16> = places.iter().copied().collect();
        places.extend((0..count + spare).filter(|place| !used.contains(place)));
        let mut ports: Vec<u16> = (0..).take(places.len()).collect();
        ports.sort_unstable_by_key(|port| places[usize::from(*port)]);
        SideOrder { places, ports }
    }
}

/// The port orders of T0 uplinks and T1 downlinks, computed on first use. A copy of a topology computes them again,
/// because an edit of the copy can change them.
#[derive(Default)]
pub struct PortOrders(pub(crate) OnceLock<[SideOrder; 2]>);

impl Clone for PortOrders {
    fn clone(&self) -> Self {
        PortOrders::default()
    }
}

impl fmt::Debug for PortOrders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PortOrders")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fan((switches, parallel): (u16, u16)) -> Fan {
        Fan { switches, parallel }
    }

    fn of(fans: &[(u16, u16)]) -> Vec<u16> {
        places(fans.iter().copied().map(fan))
    }

    #[test]
    fn one_fabric_is_in_the_order_of_numbers() {
        assert_eq!(of(&[(4, 2)]), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn cables_that_remain_keep_their_ports() {
        assert_eq!(of(&[(2, 4), (4, 2)]), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(of(&[(4, 2), (2, 4)]), [0, 1, 4, 5, 2, 3, 6, 7], "room for the later fabric");
    }

    #[test]
    fn more_switches_move_nothing() {
        for parallel in 1..4 {
            let small = of(&[(2, 4), (5, parallel)]);
            assert_eq!(of(&[(2, 4), (9, parallel)])[..small.len()], small[..]);
        }
    }

    /// Tests every chain of three stages with few switches and cables.
    #[test]
    fn ports_are_distinct_and_kept() {
        let fans: Vec<(u16, u16)> = (1..5).flat_map(|n| (1..5).map(move |k| (n, k))).collect();
        for first in &fans {
            for second in &fans {
                for third in &fans {
                    let (before, after) = (of(&[*first, *second]), of(&[*first, *second, *third]));
                    let distinct: BTreeSet<u16> = after.iter().copied().collect();
                    assert_eq!(distinct.len(), usize::from(third.0 * third.1));
                    for switch in 0..second.0.min(third.0) {
                        for cable in 0..second.1.min(third.1) {
                            let [old, new] =
                                [second, third].map(|(_, parallel)| usize::from(switch * parallel + cable));
                            assert_eq!(before[old], after[new], "{first:?} {second:?} {third:?}");
                        }
                    }
                }
            }
        }
    }
}
