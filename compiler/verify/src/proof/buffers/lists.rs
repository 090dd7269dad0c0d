//! Buffer dependencies of segment lists, by which hosts choose the path.
//!
//! In: the fabric. Out: a violation with a cycle, if there is one. A channel is one direction of a cable. A packet in
//! the buffer behind one channel waits for the next channel of its path. If such dependencies form a cycle, PFC can
//! stop all its channels forever. Invariants: all paths that tables produce and switches forward are considered. In
//! fabrics with few paths, every channel is a vertex of its own. In larger ones, channels between the same two tiers
//! are merged. A cycle of channels would also be a cycle of merged channels, so without the latter a deadlock is
//! impossible.

use std::collections::BTreeMap;

use closc_paths::{Choice, Kind};

use super::{Channel, has_pauses, rings};
use crate::bind::nics::NicCables;
use crate::check::tables::kind;
use crate::finding::TraceStep;
use crate::finding::{Findings, Violation};
use crate::forward::packet::Network;
use crate::model::cabling::Side;
use crate::model::fabric::Fabric;
use crate::model::group::{destination, list};
use crate::model::segment::Tier;
use crate::rules::rings::RING;

/// Dependencies, each with the sending and receiving group of a path that causes it.
type Dependencies<N> = BTreeMap<(N, N), (usize, usize)>;

/// Searches for a cycle: by channels if there are few paths, otherwise by tiers.
pub(crate) fn check(fabric: &Fabric, nics: &NicCables, most: u128, findings: &mut Findings) {
    let Some(first) = fabric.groups.first().filter(|_| has_pauses(fabric)) else { return };
    let h = *first.table().header();
    let choices = usize::from(h.planes) * usize::from(h.t0_uplinks.max(1)) * usize::from(h.t1_uplinks.max(1));
    if (fabric.groups.len() * fabric.groups.len() * choices) as u128 <= most {
        let waits = channels(fabric, nics);
        findings.count_facts(&RING, waits.len() as u64);
        if let Some(ring) = ring(&waits) {
            findings.report(violation(fabric, &waits, &ring));
        }
    } else {
        let waits = tiers(fabric);
        findings.count_facts(&RING, (fabric.groups.len() * fabric.groups.len()) as u64);
        if let Some(ring) = ring(&waits) {
            let (from, to) = waits[&(ring[0], ring[1 % ring.len()])];
            let message = format!("lists lead down and up again, over tiers {}", format_ring(&ring));
            let target = &fabric.groups[to];
            let place = fabric.groups[from].destination_place(target.zone, target.group);
            findings.report(Violation::new(&RING, place, message));
        }
    }
}

/// Returns the dependencies of paths from one NIC of each group to one NIC of every group, over all planes
/// and uplinks.
fn channels(fabric: &Fabric, nics: &NicCables) -> Dependencies<Channel> {
    let network = Network::new(fabric);
    let mut waits = Dependencies::new();
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

/// Returns the dependencies of segment lists between tiers. NIC cables are omitted: paths only begin or end there, so
/// no cycle contains them.
fn tiers(fabric: &Fabric) -> Dependencies<(Tier, Tier)> {
    let mut waits = Dependencies::new();
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

/// Returns a cycle, if there is one, starting with its smallest member.
fn ring<N: Copy + Ord>(waits: &Dependencies<N>) -> Option<Vec<N>> {
    let all: Vec<(N, N)> = waits.keys().copied().collect();
    let mut ring = rings(&all, &all).into_iter().next()?;
    let least = (0..ring.len()).min_by_key(|at| ring[*at])?;
    ring.rotate_left(least);
    Some(ring)
}

/// Returns the violation for a cycle. Each step names the table whose path waits.
fn violation(fabric: &Fabric, waits: &Dependencies<Channel>, ring: &[Channel]) -> Violation {
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
        violation.trace.push(TraceStep { text, place: Some(place) });
    }
    violation
}

fn format_ring(ring: &[(Tier, Tier)]) -> String {
    let shown: Vec<String> = ring.iter().map(|(from, to)| format!("{from}-{to}")).collect();
    shown.join(", ")
}
