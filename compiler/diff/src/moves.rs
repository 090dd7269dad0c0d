//! The devices that route around drained elements, according to the artefacts.
//!
//! In: a difference and the artefacts that change with it. Out: whether a drain moves traffic away, as text.
//! Invariants: a device routes around an element only if one of its artefacts changes. Nothing is claimed
//! about other devices.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_fabric::{LossScope, UsablePaths};
use closc_plan::Plan;
use closc_topology::{Link, PlaneId, TierId, Topology, ZoneId};

use crate::change::{Change, Exception, ExceptionTarget, Toggle};
use crate::compare::Difference;
use crate::touched_artefacts::Artefacts;

/// The kinds of devices that change when an element is drained and switches choose paths.
#[derive(Debug, Clone)]
pub(crate) struct Movers {
    switches: bool,
    nodes: bool,
    announces: bool,
    /// The planes in which switches of the new side use drained equipment, because no other path is left.
    last_resort: BTreeSet<PlaneId>,
}

/// The effect of a drain on traffic through the element.
pub(crate) struct DrainEffect {
    /// Whether packet loss is avoided: traffic leaves the element first, or returns to it.
    pub(crate) hitless: bool,
    /// The devices that move the traffic, or the work that remains for the operator.
    pub(crate) reason: String,
}

impl Movers {
    /// Determines the devices from the artefacts. Returns `None` if hosts choose paths, or if the difference
    /// contains more than drains.
    pub(crate) fn of(
        difference: &Difference,
        artefacts: &[Artefacts],
        old: &Plan,
        new: &Plan,
    ) -> Option<Movers> {
        let announces = match old.topology().routing {
            Routing::Srv6Static => return None,
            Routing::EcmpStatic => false,
            Routing::BgpUnnumbered => true,
        };
        let drains = |change: &Change| matches!(change, Change::Exception(Exception::Drained(..)));
        let change = |kind: &str| artefacts.iter().any(|found| found.kind == kind && found.changed > 0);
        (difference.implied_exceptions.is_empty() && difference.changes.iter().all(drains)).then(|| Movers {
            switches: change("switches"),
            nodes: change("nodes"),
            announces,
            last_resort: last_resort(new.topology()),
        })
    }

    /// Returns the effect of a change on traffic through the element that it drains or undrains.
    pub(crate) fn judge(&self, change: &Change, old: &Plan) -> Option<DrainEffect> {
        let Change::Exception(Exception::Drained(turn, thing)) = change else { return None };
        Some(match turn {
            Toggle::On => self.drain_effect(*thing, old),
            Toggle::Off => DrainEffect { hitless: true, reason: self.back().to_owned() },
        })
    }

    fn drain_effect(&self, thing: ExceptionTarget, old: &Plan) -> DrainEffect {
        // Within a plane, a T0 is the only path to its NICs. Their traffic has to use another plane.
        let (by_nodes, plane) = match thing {
            ExceptionTarget::Plane(_) | ExceptionTarget::Nic(_) | ExceptionTarget::Link(Link::Host(_)) => {
                (true, None)
            }
            ExceptionTarget::Switch(switch) => (switch.tier == TierId::T0, Some(switch.plane)),
            ExceptionTarget::Link(link @ Link::Fabric { .. }) => (false, Some(link.plane())),
        };
        let lost = plane.filter(|plane| !by_nodes && self.last_resort.contains(plane));
        let by_nodes = by_nodes || lost.is_some();
        let moves = if by_nodes { self.nodes } else { self.switches };
        let name = lost.map(|plane| format!("plane {plane}, where only drained paths lead to some NICs"));
        let name = name.unwrap_or_else(|| match thing {
            ExceptionTarget::Plane(plane) => format!("plane {plane}"),
            ExceptionTarget::Switch(switch) => old.topology().naming.switch(switch).to_string(),
            ExceptionTarget::Link(link) => old.link_name(link),
            ExceptionTarget::Nic(nic) => {
                let (node, number) = old.topology().node_of(nic);
                old.topology().naming.nic(node, number)
            }
        });
        let why = match (moves, by_nodes) {
            (true, true) if self.switches => {
                "nodes route around it before it is changed, and so do switches that have other paths"
                    .to_owned()
            }
            (true, true) => "nodes route around it before it is changed; switches do not change".to_owned(),
            (true, false) if self.announces => {
                "it announces that it is a last resort (RFC 8326), and neighbours route around it".to_owned()
            }
            (true, false) => "switches route around it before it is changed".to_owned(),
            (false, true) => {
                let switches = if self.switches { "switches change, but " } else { "" };
                format!(
                    "{switches}no artefact makes nodes avoid {name}: keep their traffic off it yourself \
                     before it is changed (`hosts.os: linux` and `hosts.outputs` give nodes routes around it \
                     where possible)"
                )
            }
            (false, false) => format!(
                "no artefact moves traffic away from {name}: stop its users yourself before it is changed"
            ),
        };
        DrainEffect { hitless: moves, reason: why }
    }

    fn back(&self) -> &'static str {
        match (self.switches, self.nodes) {
            (true, true) => "switches and nodes use it again; it must be up before",
            (true, false) => "switches use it again; it must be up before",
            (false, true) => "nodes use it again; it must be up before",
            (false, false) => "no artefact routes around it, so only cable lists change",
        }
    }
}

/// Returns the planes in which T0 groups can reach each other only over drained equipment. Completely drained
/// planes are not included.
fn last_resort(topology: &Topology) -> BTreeSet<PlaneId> {
    let [all, used] =
        [LossScope::Absent, LossScope::AbsentOrDrained].map(|taken| UsablePaths::of(topology, taken));
    let apart: BTreeSet<(ZoneId, u16)> = all.special_groups().chain(used.special_groups()).collect();
    let ordinary = (0..topology.zones).map(ZoneId).filter_map(|zone| {
        let group = (0..topology.hosts.groups).find(|group| !apart.contains(&(zone, *group)))?;
        Some((zone, group))
    });
    // Groups with the same losses form one kind.
    let kind = |(zone, group)| Some((zone, all.profile(zone, group)?, used.profile(zone, group)?));
    let kinds: BTreeSet<(ZoneId, usize, usize)> =
        ordinary.chain(apart.iter().copied()).filter_map(kind).collect();
    let mut found = BTreeSet::new();
    for from in &kinds {
        for to in &kinds {
            let planned = all.pair_paths((from.0, from.1), (to.0, to.1));
            let left = used.pair_paths((from.0, from.2), (to.0, to.2));
            let ends = used.local(from.2).into_iter().zip(used.local(to.2));
            for (plane, ((planned, left), (one, other))) in (0..).zip(planned.into_iter().zip(left).zip(ends))
            {
                if planned > 0 && left == 0 && one > 0 && other > 0 {
                    found.insert(PlaneId(plane));
                }
            }
        }
    }
    found
}
