//! Translates a denied element into the paths that a sender must not use.
//!
//! In: an element, a sender. Out: the denial for the sender's agent. Invariants: every path over the element is denied.
//! Other paths are denied only if an agent's denial cannot distinguish them. Numbers start at 0, as in path tables.

use closc_nic::agent::Ban;
use closc_topology::{Link, Nic, NicPort, Switch, TierId, Topology};

use crate::element::Element;

/// Returns the denial for a sender; `None` if the sender needs none. Reason and end time are not set.
pub(crate) fn ban(topology: &Topology, element: Element, sender: Nic) -> Option<Ban> {
    let plane = element.plane().map(|plane| plane.0);
    let any = Ban { plane, ..Ban::default() };
    match element {
        Element::Plane(_) => Some(any),
        Element::Port(port) | Element::Cable(Link::Host(port)) => Some(nic(port.nic, sender, any)),
        // A denied NIC receives nothing. It needs no denial itself.
        Element::Nic(whole) => (whole != sender).then(|| nic(whole, sender, any)),
        Element::Switch(switch) => Some(of_switch(topology, switch, sender, any)),
        Element::Cable(Link::Fabric { lower, up }) => of_cable(topology, lower, up, sender, any),
    }
}

fn nic(denied: Nic, sender: Nic, any: Ban) -> Ban {
    if denied == sender {
        return any;
    }
    Ban { zone: Some(denied.zone.0), group: Some(denied.group), downlink: Some(denied.downlink), ..any }
}

fn of_switch(topology: &Topology, switch: Switch, sender: Nic, any: Ban) -> Ban {
    let k0 = topology.t0.parallel.max(1);
    let zone = (switch.zone != sender.zone).then_some(switch.zone.0);
    match switch.tier {
        TierId::T0 if sender.t0(switch.plane) == switch => any,
        TierId::T0 => Ban { zone: Some(switch.zone.0), group: Some(switch.index), ..any },
        // A path uses the same uplink number in both T0s, so one denial covers the T1s with this index on both sides.
        TierId::T1 => Ban { uplinks: Some(range(switch.index, k0)), zone, ..any },
        TierId::T2 => {
            let k1 = topology.t1.parallel.max(1);
            let rows = topology.t2_rows();
            let step = switch.index / rows;
            // A denial has only one range of T0 uplinks, but the T1s of a row are not adjacent. If rows have several
            // T1s, the denial also includes the T2s at the same place in other rows.
            let alone = rows > 1 && rows >= topology.t1_count;
            let row = alone.then(|| range(switch.index % rows, k0));
            Ban { uplinks: row, t1_uplinks: Some(range(step, k1)), ..any }
        }
    }
}

fn of_cable(topology: &Topology, lower: Switch, up: u16, sender: Nic, any: Ban) -> Option<Ban> {
    match lower.tier {
        TierId::T0 if sender.t0(lower.plane) == lower => Some(Ban { uplinks: Some((up, up)), ..any }),
        TierId::T0 => {
            let (zone, group) = (Some(lower.zone.0), Some(lower.index));
            Some(Ban { uplinks: Some((up, up)), zone, group, ..any })
        }
        TierId::T1 => {
            let uplinks = Some(range(lower.index, topology.t0.parallel.max(1)));
            let zone = (lower.zone != sender.zone).then_some(lower.zone.0);
            Some(Ban { uplinks, t1_uplinks: Some((up, up)), zone, ..any })
        }
        TierId::T2 => None,
    }
}

/// Returns the first and the last uplink to the neighbour with an index.
fn range(neighbour: u16, parallel: u16) -> (u16, u16) {
    (neighbour * parallel, neighbour * parallel + parallel - 1)
}

/// Returns the cables whose probes show that an element has recovered; empty if the element is too large.
pub(crate) fn probed_links(plan: &closc_plan::Plan, element: Element) -> Vec<Link> {
    let own = |link: Link| plan.fabric().has_link(link).then_some(link);
    match element {
        Element::Cable(link) => own(link).into_iter().collect(),
        Element::Port(port) => own(Link::Host(port)).into_iter().collect(),
        Element::Nic(nic) => {
            plan.topology().plane_ids().filter_map(|plane| own(Link::Host(NicPort { plane, nic }))).collect()
        }
        Element::Switch(switch) => {
            let ports = plan.fabric().ports(switch).filter_map(|port| match port.usage {
                closc_fabric::PortUse::Link { link, .. } => Some((port.at.side, link)),
                closc_fabric::PortUse::Absent { .. } | closc_fabric::PortUse::Spare => None,
            });
            ports.filter(|(side, _)| *side == closc_topology::Side::Down).map(|(_, link)| link).collect()
        }
        Element::Plane(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use closc_paths::{Choice, Kind, Scope};
    use closc_plan::{PathKind, Plan};

    use super::*;
    use crate::testing;

    fn covers(ban: &Ban, plan: &Plan, from: Nic, to: Nic, path: &closc_plan::Path) -> bool {
        let kind = match PathKind::classify(from, to) {
            PathKind::Local => Kind::Local,
            PathKind::Zone => Kind::Zone,
            PathKind::Far => Kind::Far,
        };
        let (uplinks, t1_uplinks) = (ban.uplinks, ban.t1_uplinks);
        let (zone, group, downlink) = (ban.zone, ban.group, ban.downlink);
        let scope = Scope { source: None, uplinks, t1_uplinks, zone, group, downlink };
        let choice = Choice { plane: path.plane.0, t0_uplink: path.choice.t0, t1_uplink: path.choice.t1 };
        let plane = ban.plane.unwrap_or(path.plane.0);
        assert!(ban.plane.is_some() || ban.zone.is_some(), "a denial names something: {ban:?}");
        let denied = closc_paths::TableDenial { plane, reason: closc_paths::Reason::Drained, scope };
        assert!(plan.topology().zones > to.zone.0);
        denied.covers(kind, from.downlink, (to.zone.0, to.group, to.downlink), choice)
    }

    /// Tests every path of small fabrics. A denial must cover exactly the paths over the element.
    #[test]
    fn a_denial_covers_the_paths_over_the_element() {
        let rows = closc_tests::shape::Shape {
            planes: 1,
            groups: 2,
            per_group: 1,
            rails: 1,
            t1: 2,
            parallel: 2,
            t2: Some(closc_tests::shape::T2 { zones: 2, steps: 2, parallel: 1, rows: 8, node_zones: 1 }),
            exceptions: String::new(),
        };
        for plan in [testing::three_tiers(), rows.plan()] {
            let nics: Vec<Nic> = plan.fabric().nics().filter(|nic| nic.group < 2).collect();
            let links: Vec<Link> = plan.fabric().links().collect();
            let elements = links.iter().map(|link| Element::Cable(*link));
            let elements = elements.chain(plan.fabric().switches().map(Element::Switch));
            let elements: Vec<Element> = elements.chain(nics.iter().map(|nic| Element::Nic(*nic))).collect();
            for (from, to) in nics.iter().flat_map(|from| nics.iter().map(move |to| (*from, *to))) {
                if from == to {
                    continue;
                }
                for path in plan.paths(from, to) {
                    for element in &elements {
                        let on = path.hops.iter().map(|hop| hop.link).chain([path.first]);
                        let mut on = on.map(|link| element.covers(plan.topology(), link));
                        let on = on.any(|on| on);
                        // A denied NIC gets no denial itself.
                        if *element == Element::Nic(from) {
                            continue;
                        }
                        let denied = ban(plan.topology(), *element, from);
                        let denied = denied.is_some_and(|ban| covers(&ban, &plan, from, to, &path));
                        assert_eq!(
                            denied,
                            on,
                            "{} from {from:?} to {to:?}: {:?}",
                            element.name(&plan),
                            path.choice
                        );
                    }
                }
            }
        }
    }
}
