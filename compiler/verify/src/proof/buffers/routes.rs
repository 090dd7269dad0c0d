//! Buffer dependencies of static and BGP routes, by which switches choose the path.
//!
//! In: the treatment of each class of destinations by every switch. Out: a violation for every cycle. Invariants:
//! buffers are ranked by direction and tier: from a NIC, up, up, down, down. The rank rises with every step up, every
//! step down, and the turn from up to down. Only a *reversal* lowers it: a packet from above that goes up again. It is
//! therefore enough to search for reversals: for every route that leads down, find the classes that the lower switch
//! would send up. Without reversals a cycle is impossible, so no graph is built. This suffices for every correct
//! fabric, regardless of its size.
//!
//! If there are reversals, the graph is built. It has a vertex for each direction of each cable. These vertices are
//! connected through two vertices per switch: one for packets from below, one for packets from above. The graph
//! therefore grows with cables, not with pairs of ports. Reversals are added one by one. Packets from below are assumed
//! to leave through any cable that a route uses. All priorities use the same routes, so one graph represents all of
//! them.

use std::collections::BTreeSet;
use std::ops::Range;

use closc_artefacts::Prefix;
use rayon::prelude::*;

use super::{Channel, has_pauses, rings};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, DeviceId, Side, SwitchId};
use crate::model::choice::{ClassId, ClassSet, Row};
use crate::model::fact::FactKind;
use crate::proof::chosen::network::Network;
use crate::rules::rings::CIRCLE;

/// A packet that comes down one cable and goes up another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reversal {
    switch: SwitchId,
    from: CableId,
    to: CableId,
    /// The route that sends the packet up.
    prefix: Prefix,
}

/// A waiting buffer: the one behind a cable, or all buffers of a switch for packets from below or from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Buffer {
    Behind(Channel),
    FromBelow(SwitchId),
    FromAbove(SwitchId),
}

/// Searches for cycles, if any port uses PFC.
pub(crate) fn check(network: &Network<'_>, findings: &mut Findings) {
    let fabric = network.fabric;
    if !has_pauses(fabric) {
        return;
    }
    let switches = 0..fabric.switches.len() as u32;
    let rising: Vec<UpwardRoutes<'_>> =
        switches.clone().into_par_iter().map(|id| UpwardRoutes::of(network, SwitchId(id))).collect();
    let found: Vec<(u64, Vec<Reversal>)> =
        switches.into_par_iter().map(|id| reversals(network, &rising, SwitchId(id))).collect();
    let mut turns = BTreeSet::new();
    for (facts, found) in found {
        findings.count_facts(&CIRCLE, facts);
        turns.extend(found);
    }
    if turns.is_empty() {
        return;
    }
    let over: Vec<(Buffer, Buffer)> = turns.iter().map(ends).collect();
    let mut waits = waits(network);
    waits.extend(&over);
    for ring in rings(&waits, &over) {
        // A cycle begins after one of the reversals.
        let turn = turns.iter().find(|turn| {
            let (from, to) = ends(turn);
            ring.first() == Some(&to) && ring.last() == Some(&from)
        });
        if let Some(turn) = turn {
            findings.report(violation(network, &ring, *turn));
        }
    }
}

fn ends(turn: &Reversal) -> (Buffer, Buffer) {
    (Buffer::Behind((turn.from, Side::Upper)), Buffer::Behind((turn.to, Side::Lower)))
}

/// The upward routes of a switch, in ascending order of the class ranges that they apply to.
struct UpwardRoutes<'a>(Vec<(&'a Range<ClassId>, &'a Row)>);

impl<'a> UpwardRoutes<'a> {
    fn of(network: &'a Network<'_>, id: SwitchId) -> Self {
        let rows = network.choices[id.0 as usize].rows.iter();
        let rows = rows.filter(|row| ups(network, id, row).next().is_some());
        let mut runs: Vec<(&Range<ClassId>, &Row)> =
            rows.flat_map(|row| row.classes.runs().iter().map(move |run| (run, row))).collect();
        // Only one route applies to each class, so ranges do not overlap.
        runs.sort_unstable_by_key(|(run, _)| run.start);
        UpwardRoutes(runs)
    }

    /// Returns the routes that apply to any of these classes, once per overlapping range.
    fn overlapping_routes(&self, classes: &'a ClassSet) -> impl Iterator<Item = &'a Row> + '_ {
        classes.runs().iter().flat_map(|wanted| {
            let first = self.0.partition_point(|(run, _)| run.end <= wanted.start);
            self.0[first..].iter().take_while(|(run, _)| run.start < wanted.end).map(|(_, row)| *row)
        })
    }
}

/// Returns the cables through which a route leads up.
fn ups<'a>(network: &'a Network<'_>, id: SwitchId, row: &'a Row) -> impl Iterator<Item = CableId> + 'a {
    row.next_hops.iter().filter_map(move |way| {
        let (cable, _, side) = network.fabric.slot_cable(id, way.slot?);
        (side == Side::Lower).then_some(cable)
    })
}

/// Returns the reversals of packets that a switch sends down.
fn reversals(network: &Network<'_>, rising: &[UpwardRoutes<'_>], id: SwitchId) -> (u64, Vec<Reversal>) {
    let (mut facts, mut turns) = (0, Vec::new());
    for row in &network.choices[id.0 as usize].rows {
        for way in row.next_hops.iter() {
            let Some(slot) = way.slot else { continue };
            let (from, cable, side) = network.fabric.slot_cable(id, slot);
            let (Side::Upper, DeviceId::Switch(switch)) = (side, cable.lower.party) else { continue };
            facts += 1;
            for above in rising[switch.0 as usize].overlapping_routes(&row.classes) {
                let turn = |to| Reversal { switch, from, to, prefix: above.prefix };
                turns.extend(ups(network, switch, above).map(turn));
            }
        }
    }
    (facts, turns)
}

/// Returns the dependencies other than reversals.
fn waits(network: &Network<'_>) -> Vec<(Buffer, Buffer)> {
    let cabling = &network.fabric.cabling;
    let mut waits = Vec::new();
    for id in cabling.switch_ids() {
        for plug in cabling.at_switch(id) {
            let joint = match plug.side() {
                Side::Upper => Buffer::FromBelow(id),
                Side::Lower => Buffer::FromAbove(id),
            };
            let sender = match plug.side() {
                Side::Upper => Side::Lower,
                Side::Lower => Side::Upper,
            };
            waits.push((Buffer::Behind((plug.cable(), sender)), joint));
        }
        for slot in routed_slots(network, id) {
            let (cable, _, side) = network.fabric.slot_cable(id, slot);
            waits.push((Buffer::FromBelow(id), Buffer::Behind((cable, side))));
            if side == Side::Upper {
                waits.push((Buffer::FromAbove(id), Buffer::Behind((cable, side))));
            }
        }
    }
    waits
}

/// Returns the slots that routes use.
fn routed_slots(network: &Network<'_>, id: SwitchId) -> BTreeSet<u16> {
    let odd = network.fabric.switch(id).into_iter().flat_map(|switch| switch.other_routes.iter());
    odd.flat_map(|route| route.next_hops.iter().filter_map(|way| way.slot)).collect()
}

fn violation(network: &Network<'_>, ring: &[Buffer], turn: Reversal) -> Violation {
    let cabling = &network.fabric.cabling;
    let port = |buffer: &Buffer| match buffer {
        Buffer::Behind((cable, sender)) => {
            Some(format!("`{}`", cabling.end(cabling.cable(*cable).ends(*sender).1)))
        }
        Buffer::FromBelow(_) | Buffer::FromAbove(_) => None,
    };
    let ports: Vec<String> = ring.iter().filter_map(port).collect();
    let text = turn.prefix.to_string();
    let message = format!(
        "`{text}` at `{}` sends packets from above up again: the buffers of {} -> {} wait for each other",
        cabling.switch(turn.switch),
        ports.join(" -> "),
        ports[0]
    );
    Violation::new(&CIRCLE, network.fabric.place(turn.switch, FactKind::Route(&text)), message)
        .and(cabling.place(turn.from))
}
