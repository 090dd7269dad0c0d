//! Elements that can be faulty or denied, and the cables that a probe uses.
//!
//! In: a plan and a coordinate or name. Out: names, the cables of an element, indexes of cables. Invariants: an element
//! found by name is in the fabric. Every cable has one index.

use std::ops::Range;

use closc_fabric::Shape;
use closc_nic::schedule::TurnPoint;
use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId, Topology};

/// A part of the fabric that can be faulty or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// A whole plane.
    Plane(PlaneId),
    /// A switch.
    Switch(Switch),
    /// A NIC, over all of its ports.
    Nic(Nic),
    /// A port of a NIC.
    Port(NicPort),
    /// A cable.
    Cable(Link),
}

/// A NIC port and its cable have the same name; this prefix marks the port.
const PORT: &str = "port ";

impl Element {
    /// Returns the keyword of its kind.
    pub fn kind(self) -> &'static str {
        match self {
            Element::Plane(_) => "plane",
            Element::Switch(_) => "switch",
            Element::Nic(_) => "NIC",
            Element::Port(_) => "NIC port",
            Element::Cable(_) => "cable",
        }
    }

    /// Returns the name of the element, without its kind.
    pub fn name(self, plan: &Plan) -> String {
        let topology = plan.topology();
        match self {
            Element::Plane(plane) => plane.to_string(),
            Element::Switch(switch) => topology.naming.switch(switch).to_string(),
            Element::Nic(nic) => nic_name(topology, nic),
            Element::Port(port) => plan.link_name(Link::Host(port)),
            Element::Cable(link @ Link::Host(port)) => {
                let t0 = topology.naming.switch(port.nic.t0(port.plane));
                format!("{}--{t0}", plan.link_name(link))
            }
            Element::Cable(link) => plan.link_name(link),
        }
    }

    /// Returns the name that [`Element::parse`] accepts.
    pub fn key(self, plan: &Plan) -> String {
        match self {
            Element::Plane(plane) => format!("plane {plane}"),
            Element::Port(port) => format!("{PORT}{}", plan.link_name(Link::Host(port))),
            Element::Cable(link) => plan.link_name(link),
            Element::Switch(_) | Element::Nic(_) => self.name(plan),
        }
    }

    /// Finds an element of the fabric by name: `plane 3`, a switch, a NIC, `port NIC.p3`, or a cable by its two ends or
    /// its NIC port.
    pub fn parse(plan: &Plan, name: &str) -> Option<Element> {
        let (topology, fabric) = (plan.topology(), plan.fabric());
        if let Some(number) = name.strip_prefix("plane ") {
            let plane = PlaneId(number.parse().ok()?);
            return (plane.0 < topology.planes).then_some(Element::Plane(plane));
        }
        if let Some(port) = name.strip_prefix(PORT) {
            return match topology.parse_link(port)? {
                link @ Link::Host(port) => fabric.has_link(link).then_some(Element::Port(port)),
                Link::Fabric { .. } => None,
            };
        }
        if let Some(switch) = topology.naming.parse_switch(name) {
            return fabric.has_switch(switch).then_some(Element::Switch(switch));
        }
        if let Some((node, number)) = topology.naming.parse_nic(name).filter(|_| !name.contains(".p")) {
            let known = topology.numbers_node(node) && number < topology.hosts.nics_per_node;
            let nic = known.then(|| topology.nic_of(node, number))?;
            return fabric.has_nic(nic).then_some(Element::Nic(nic));
        }
        // The cable of a NIC has two names.
        let name = match name.split_once("--") {
            Some((lower, _)) if lower.contains('/') => lower,
            Some(_) | None => name,
        };
        let link = topology.parse_link(name)?;
        fabric.has_link(link).then_some(Element::Cable(link))
    }

    /// Returns whether all traffic over a cable also passes this element.
    pub(crate) fn covers(self, topology: &Topology, link: Link) -> bool {
        match self {
            Element::Plane(plane) => link.plane() == plane,
            Element::Cable(own) => own == link,
            Element::Port(port) => link == Link::Host(port),
            Element::Nic(nic) => matches!(link, Link::Host(port) if port.nic == nic),
            Element::Switch(switch) => ends(topology, link).contains(&Some(switch)),
        }
    }

    /// Returns whether two elements are the same, or one of them is a cable of the other.
    pub(crate) fn overlaps(self, topology: &Topology, other: Element) -> bool {
        match (self, other) {
            (Element::Cable(link), _) => other.covers(topology, link),
            (_, Element::Cable(link)) => self.covers(topology, link),
            _ => self == other,
        }
    }

    /// Returns the plane of the element; `None` for a NIC, which is in several planes.
    pub(crate) fn plane(self) -> Option<PlaneId> {
        match self {
            Element::Plane(plane) => Some(plane),
            Element::Switch(switch) => Some(switch.plane),
            Element::Nic(_) => None,
            Element::Port(port) => Some(port.plane),
            Element::Cable(link) => Some(link.plane()),
        }
    }
}

/// Returns the name of a NIC.
pub(crate) fn nic_name(topology: &Topology, nic: Nic) -> String {
    let (node, number) = topology.node_of(nic);
    topology.naming.nic(node, number)
}

/// Returns the switches at the ends of a cable, the lower first.
pub(crate) fn ends(topology: &Topology, link: Link) -> [Option<Switch>; 2] {
    match link {
        Link::Host(port) => [None, Some(port.nic.t0(port.plane))],
        Link::Fabric { lower, up } => [Some(lower), topology.upper(lower, up).map(|(switch, _)| switch)],
    }
}

fn t0_uplink(nic: Nic, plane: u8, up: u16) -> Link {
    Link::Fabric { lower: nic.t0(PlaneId(plane)), up }
}

/// Returns the cable before the switch at which a probe turns, if it exists.
pub(crate) fn last_link(topology: &Topology, nic: Nic, turn: TurnPoint) -> Option<Link> {
    links(topology, nic, turn).into_iter().flatten().last()
}

/// Returns the cables that a probe uses, from the NIC upward; `None` for each that the fabric does not have.
pub(crate) fn links(topology: &Topology, nic: Nic, turn: TurnPoint) -> [Option<Link>; 3] {
    let plane = turn.plane();
    let host = Link::Host(NicPort { plane: PlaneId(plane), nic });
    let t0 = |uplink: u16| (uplink < topology.t0.up.count).then(|| t0_uplink(nic, plane, uplink));
    if plane >= topology.planes {
        return [None; 3];
    }
    match turn {
        TurnPoint::T0 { .. } => [Some(host), None, None],
        TurnPoint::T1 { uplink, .. } => t0(uplink).map_or([None; 3], |link| [Some(host), Some(link), None]),
        TurnPoint::T2 { uplink, t1_uplink, .. } => {
            let has_t2 = topology.t2.is_some() && t1_uplink < topology.t1.up.count;
            let Some(first) = t0(uplink).filter(|_| has_t2) else { return [None; 3] };
            let index = uplink / topology.t0.parallel.max(1);
            let t1 = Switch { plane: PlaneId(plane), tier: TierId::T1, zone: nic.zone, index };
            [Some(host), Some(first), Some(Link::Fabric { lower: t1, up: t1_uplink })]
        }
    }
}

/// Assigns an index to each cable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places(Shape);

impl Places {
    pub(crate) fn new(topology: &Topology) -> Self {
        Places(Shape::new(topology))
    }

    pub(crate) fn count(&self) -> usize {
        let Shape { planes, zones, groups, per_group, t0_up, t1s, t1_up, .. } = self.0;
        planes * zones * (groups * (per_group + t0_up) + t1s * t1_up)
    }

    pub(crate) fn of(&self, link: Link) -> usize {
        let Shape { planes, zones, groups, per_group, t0_up, t1s, t1_up, .. } = self.0;
        let all = planes * zones * groups;
        match link {
            Link::Host(NicPort { plane, nic }) => {
                let group = self.group(plane.0, nic.zone.0, nic.group, groups);
                group * per_group + usize::from(nic.downlink)
            }
            Link::Fabric { lower, up } if lower.tier == TierId::T0 => {
                let group = self.group(lower.plane.0, lower.zone.0, lower.index, groups);
                all * per_group + group * t0_up + usize::from(up)
            }
            Link::Fabric { lower, up } => {
                let t1 = self.group(lower.plane.0, lower.zone.0, lower.index, t1s);
                all * (per_group + t0_up) + t1 * t1_up + usize::from(up)
            }
        }
    }

    /// Returns the indexes of all cables that end at the switches of a tier from below.
    pub(crate) fn downlink_range(&self, plane: u8, tier: TierId) -> Range<usize> {
        let Shape { planes, zones, groups, per_group, t0_up, t1s, t1_up, .. } = self.0;
        let all = planes * zones * groups;
        let (first, each) = match tier {
            TierId::T0 => (0, zones * groups * per_group),
            TierId::T1 => (all * per_group, zones * groups * t0_up),
            TierId::T2 => (all * (per_group + t0_up), zones * t1s * t1_up),
        };
        let from = first + usize::from(plane) * each;
        from..from + each
    }

    fn group(&self, plane: u8, zone: u16, index: u16, count: usize) -> usize {
        (usize::from(plane) * self.0.zones + usize::from(zone)) * count + usize::from(index)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing;

    #[test]
    fn every_cable_has_a_place_of_its_own() {
        for plan in [testing::eight_planes(), testing::three_tiers()] {
            let places = Places::new(plan.topology());
            let all: BTreeSet<usize> = plan.fabric().links().map(|link| places.of(link)).collect();
            assert_eq!(all.len(), plan.fabric().links().count());
            assert!(all.last().is_some_and(|last| *last < places.count()));
            for link in plan.fabric().links() {
                let (upper, _) = plan.fabric().upper_end(link).expect("it has an end");
                let holds =
                    |plane: PlaneId, tier| places.downlink_range(plane.0, tier).contains(&places.of(link));
                let found =
                    plan.topology().plane_ids().flat_map(|plane| TierId::ALL.map(|tier| (plane, tier)));
                let found: Vec<_> = found.filter(|(plane, tier)| holds(*plane, *tier)).collect();
                assert_eq!(found, [(upper.plane, upper.tier)]);
            }
        }
    }

    #[test]
    fn elements_are_found_by_their_names() {
        let plan = testing::three_tiers();
        let links = plan.fabric().links().map(Element::Cable);
        let switches = plan.fabric().switches().map(Element::Switch);
        let nics = plan.fabric().nics().map(Element::Nic);
        let ports = plan.fabric().nics().map(|nic| Element::Port(NicPort { plane: PlaneId(1), nic }));
        let planes = plan.topology().plane_ids().map(Element::Plane);
        for element in links.chain(switches).chain(nics).chain(ports).chain(planes) {
            assert_eq!(Element::parse(&plan, &element.key(&plan)), Some(element));
            assert!(
                element.kind() != "cable" || Element::parse(&plan, &element.name(&plan)) == Some(element)
            );
        }
        for name in
            ["", "plane 9", "p9-t0-001", "--", "/nic0", "port ", "su001-n001/nic9", "p0-t0-001--p1-t1-001"]
        {
            assert_eq!(Element::parse(&plan, name), None, "{name}");
        }
    }
}
