//! V16: no cyclic buffer dependency, where priorities are paused.
//!
//! In: the fabric. Out: a violation with the cycle, if there is one. A channel is one direction of a cable. A packet
//! that holds the buffer behind one channel waits for the next one of its path; where such waits form a ring, pauses
//! can stop all of it for ever. Always: paths are those that the tables make and the routes of the switches lead
//! over. Fabrics with few paths are followed channel by channel. In large ones channels of the same two tiers count
//! as one: a ring of channels would be a ring there too, so where there is none, there is none.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use closc_diagnostics::Rule;
use closc_paths::{Choice, Kind};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{Graph, NodeIndex};

use crate::check::nics::NicCables;
use crate::check::tables::kind;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, Side};
use crate::model::fabric::Fabric;
use crate::model::group::{destination, list};
use crate::model::segment::Tier;
use crate::walk::journey::Step;
use crate::walk::packet::Network;

/// Waits form no ring.
pub(crate) static RING: Rule = Rule {
    code: "V1601",
    title: "a cyclic buffer dependency",
    what: "Where priorities are paused, no ring of cables waits for each other: over the paths that tables make and \
           switches forward, each cable with the next one of a path, there is no cycle.",
    why: "Pauses travel along such a ring and stop every switch of it at once; nothing moves until a watchdog drops \
          packets of a class that must not lose any.",
    example: "paths T0 1 - T1 1 - T0 2 - T1 2 - T0 1 and T0 2 - T1 2 - T0 1 - T1 1 - T0 2",
    fix: "Paths may go up and then down, never down and up again; compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&RING];

/// One direction of a cable: the side that sends.
type Channel = (CableId, Side);

/// What waits for what, with the groups (sending, receiving) of a path that does.
type Waits<N> = BTreeMap<(N, N), (usize, usize)>;

/// Looks for a ring: channel by channel where there are at most so many lists.
pub(crate) fn check(fabric: &Fabric, nics: &NicCables, most: u128, findings: &mut Findings) {
    let pauses =
        fabric.facts.iter().any(|facts| facts.qos.as_ref().is_some_and(|qos| !qos.pauses.is_empty()));
    let Some(first) = fabric.groups.first().filter(|_| pauses) else { return };
    let h = *first.table().header();
    let choices = usize::from(h.planes) * usize::from(h.t0_uplinks.max(1)) * usize::from(h.t1_uplinks.max(1));
    if (fabric.groups.len() * fabric.groups.len() * choices) as u128 <= most {
        let waits = channels(fabric, nics);
        findings.checked(&RING, waits.len() as u64);
        if let Some(ring) = ring(&waits) {
            findings.broken(told(fabric, &waits, &ring));
        }
    } else {
        let waits = tiers(fabric);
        findings.checked(&RING, (fabric.groups.len() * fabric.groups.len()) as u64);
        if let Some(ring) = ring(&waits) {
            let (from, to) = waits[&(ring[0], ring[1 % ring.len()])];
            let message = format!("lists lead down and up again, over tiers {}", shown(&ring));
            let target = &fabric.groups[to];
            let place = fabric.groups[from].destination_place(target.zone, target.group);
            findings.broken(Violation::new(&RING, place, message));
        }
    }
}

/// The waits of every path between a NIC of each group and one of each other, over all planes and uplinks.
fn channels(fabric: &Fabric, nics: &NicCables) -> Waits<Channel> {
    let network = Network::new(fabric);
    let mut waits = Waits::new();
    for (from, group) in fabric.groups.iter().enumerate() {
        let table = group.table();
        let h = *table.header();
        for plane in 0..h.planes {
            let cable = |nic| nics.cable(from, group.planes.len(), nic, usize::from(plane));
            let Some(start) = (0..group.nics.len()).find_map(cable) else { continue };
            for (to, target) in fabric.groups.iter().enumerate() {
                let Some(receiver) = target.nics.first() else { continue };
                let found = destination(&table, target.zone, target.group, receiver.downlink);
                let Some(found) = found else { continue };
                let (t0, t1) = match kind((group.zone, group.group), (target.zone, target.group)) {
                    Kind::Local => (1, 1),
                    Kind::Zone => (h.t0_uplinks, 1),
                    Kind::Far => (h.t0_uplinks, h.t1_uplinks),
                };
                for choice in (0..t0).flat_map(|t0_uplink| {
                    (0..t1).map(move |t1_uplink| Choice { plane, t0_uplink, t1_uplink })
                }) {
                    let mut last: Channel = (start, Side::Lower);
                    network.walk(start, list(&table, &found, choice).0, |hop| {
                        if let Some(next) = hop.out {
                            waits.entry((last, next)).or_insert((from, to));
                            last = next;
                        }
                    });
                }
            }
        }
    }
    waits
}

/// The waits of every list between tiers; the ends at NICs wait for nothing that could wait for them.
fn tiers(fabric: &Fabric) -> Waits<(Tier, Tier)> {
    let mut waits = Waits::new();
    for (from, group) in fabric.groups.iter().enumerate() {
        let table = group.table();
        for (to, target) in fabric.groups.iter().enumerate() {
            let Some(found) = destination(&table, target.zone, target.group, 0) else { continue };
            let choice = Choice { plane: 0, t0_uplink: 0, t1_uplink: 0 };
            let usids = list(&table, &found, choice).1;
            let on_the_way = usids.iter().take_while(|usid| usid.0 != 0);
            let tiers: Vec<Tier> = on_the_way.filter_map(|usid| group.layout.tier(*usid)).collect();
            for three in tiers.windows(3) {
                waits.entry(((three[0], three[1]), (three[1], three[2]))).or_insert((from, to));
            }
        }
    }
    waits
}

/// Returns a ring, if there is one: each member waits for the next, the last for the first.
fn ring<N: Copy + Ord>(waits: &Waits<N>) -> Option<Vec<N>> {
    let names: BTreeSet<N> = waits.keys().flat_map(|(a, b)| [*a, *b]).collect();
    let mut graph: Graph<N, ()> = Graph::new();
    let index: BTreeMap<N, NodeIndex> = names.into_iter().map(|name| (name, graph.add_node(name))).collect();
    for (a, b) in waits.keys() {
        graph.add_edge(index[a], index[b], ());
    }
    let mut parts = tarjan_scc(&graph).into_iter();
    let part = parts.find(|part| part.len() > 1 || graph.contains_edge(part[0], part[0]))?;
    // Every member of such a part has a way back to itself inside it: the shortest of the first one's.
    let start = *part.iter().min_by_key(|at| graph[**at])?;
    let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        let mut next: Vec<NodeIndex> = graph.neighbors(at).filter(|next| part.contains(next)).collect();
        next.sort_by_key(|next| graph[*next]);
        for next in next {
            if next == start {
                let mut ring = vec![at];
                while let Some(earlier) = before.get(ring.last().unwrap_or(&start)) {
                    ring.push(*earlier);
                }
                return Some(ring.iter().rev().map(|at| graph[*at]).collect());
            }
            if let Entry::Vacant(entry) = before.entry(next) {
                entry.insert(at);
                open.push_back(next);
            }
        }
    }
    None
}

/// Tells the ring as steps, each with the table whose path waits.
fn told(fabric: &Fabric, waits: &Waits<Channel>, ring: &[Channel]) -> Violation {
    let cabling = &fabric.cabling;
    let name = |(cable, side): Channel| {
        let (own, far) = cabling.cable(cable).ends(side);
        format!("`{} -> {}`", cabling.end(own), cabling.end(far))
    };
    let place = |at: usize| {
        let (from, to) = waits[&(ring[at], ring[(at + 1) % ring.len()])];
        let (group, target) = (&fabric.groups[from], &fabric.groups[to]);
        (group.destination_place(target.zone, target.group), group.name(), target.name())
    };
    let message = format!("{} cables wait for each other in a ring, from {}", ring.len(), name(ring[0]));
    let mut violation = Violation::new(&RING, place(0).0, message);
    for at in 0..ring.len() {
        let (place, from, to) = place(at);
        let (own, next) = (name(ring[at]), name(ring[(at + 1) % ring.len()]));
        let text = format!("{own} waits for {next}, on a path from `{from}` to `{to}`");
        violation.journey.push(Step { text, place: Some(place) });
    }
    violation
}

fn shown(ring: &[(Tier, Tier)]) -> String {
    let shown: Vec<String> = ring.iter().map(|(from, to)| format!("{from}-{to}")).collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(pairs: &[(u8, u8)]) -> Waits<u8> {
        pairs.iter().map(|pair| (*pair, (0, 0))).collect()
    }

    #[test]
    fn up_and_down_is_no_ring() {
        assert_eq!(ring(&waits(&[(1, 2), (2, 3), (1, 3), (3, 4)])), None);
    }

    #[test]
    fn a_ring_is_told_once_around() {
        assert_eq!(ring(&waits(&[(9, 1), (1, 2), (2, 3), (3, 4), (4, 1), (3, 7)])), Some(vec![1, 2, 3, 4]));
        assert_eq!(ring(&waits(&[(5, 5)])), Some(vec![5]));
    }
}
