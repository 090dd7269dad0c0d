//! Static routes with next-hop groups: what a switch holds with `routing: ecmp-static`.
//!
//! In: a switch with its ports. Out: its routes, the longest prefixes first. Always: packets go up, then down, never up
//! again, so nothing loops; there is no default route, and the hosts' pool is a blackhole. What is down is told by
//! T0 group, what is up by zone: a prefix of its own is written for a group only where its way differs from its zone's,
//! so tables stay small and growth adds routes and hops without changing others.
//!
//! | switch | routes |
//! |---|---|
//! | T0 | a /128 for each NIC; a blackhole for the rest of its group; each zone over all uplinks; with `ecmp.pin` a /128 over one uplink for each NIC elsewhere |
//! | T1 | a /64 for each T0 group of its zone; every other zone over all uplinks |
//! | T2 | each zone over its T1s |

mod capacity;
mod fraction;
mod weights;

use std::collections::BTreeSet;

use closc_platform::Os;
use closc_topology::{Link, Pin, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId};
use ipnet::Ipv6Net;

use crate::intent::{Hop, Peer, PortIntent, Route, Target};
use crate::plan::Plan;
use capacity::{Capacities, Scope, in_order};
use fraction::Fraction;
use weights::{Room, Share};

/// Returns the routes of a switch.
pub(crate) fn routes(plan: &Plan, switch: Switch, ports: &[PortIntent]) -> Vec<Route> {
    let topology = plan.topology();
    let mut routes = match switch.tier {
        TierId::T0 => local(plan, switch, ports),
        TierId::T1 | TierId::T2 => Vec::new(),
    };
    let mut groups = Groups::new(plan, switch);
    for zone in topology.zone_ids() {
        routes.extend(groups.zone(zone));
    }
    routes.push(Route { prefix: plan.addresses().hosts(), target: Target::Blackhole });
    routes
}

/// Returns what a T0 delivers itself: its NICs, and nothing else of its group.
pub(crate) fn local(plan: &Plan, switch: Switch, ports: &[PortIntent]) -> Vec<Route> {
    let addresses = plan.addresses();
    let mut routes: Vec<Route> = ports
        .iter()
        .enumerate()
        .filter_map(|(port, intent)| {
            let Peer::Nic(nic) = &intent.connection.as_ref()?.peer else { return None };
            let prefix = Ipv6Net::new_assert(nic.inner, 128);
            Some(Route { prefix, target: Target::Ports(vec![Hop { port, weight: 1 }]) })
        })
        .collect();
    let prefix = addresses.group(switch.zone, switch.index);
    routes.push(Route { prefix, target: Target::Blackhole });
    routes
}

/// The groups of one switch.
struct Groups<'a> {
    plan: &'a Plan,
    switch: Switch,
    room: Room,
    /// Without what is drained, and with it where nothing else is left.
    capacities: [Capacities<'a>; 2],
    /// T0 groups whose cables or T0 are not as planned, in the plane of the switch.
    odd: BTreeSet<(ZoneId, u16)>,
    is_whole: bool,
}

impl<'a> Groups<'a> {
    fn new(plan: &'a Plan, switch: Switch) -> Self {
        let (platform, os) = plan.topology().hardware(switch);
        let room = Room { width: u64::from(platform.limits.ecmp_width), weighs: weighs(os) };
        let fabric = plan.fabric();
        Groups {
            plan,
            switch,
            room,
            capacities: [false, true].map(|with_drained| Capacities::new(fabric, with_drained)),
            odd: odd_groups(plan.topology(), switch.plane),
            is_whole: is_whole(plan.topology(), switch.plane),
        }
    }

    /// Returns the routes to a zone: those of its groups that stand out, then the zone's own.
    fn zone(&mut self, zone: ZoneId) -> Vec<Route> {
        let addresses = self.plan.addresses();
        let from_above = self.switch.tier == TierId::T1 && self.switch.zone == zone;
        if from_above {
            let groups = 0..self.plan.topology().t0.count;
            let routes = groups.map(|group| (addresses.group(zone, group), Scope::Group(zone, group)));
            return routes.map(|(prefix, scope)| self.route(prefix, scope)).filter(is_way).collect();
        }
        let own = (self.switch.tier == TierId::T0).then_some((self.switch.zone, self.switch.index));
        let whole = self.route(addresses.zone(zone), Scope::Zone(zone));
        let odd: Vec<(ZoneId, u16)> =
            self.odd.iter().copied().filter(|group| group.0 == zone && Some(*group) != own).collect();
        let odd: Vec<Route> = odd
            .into_iter()
            .map(|(zone, group)| self.route(addresses.group(zone, group), Scope::Group(zone, group)))
            .filter(|route| route.target != whole.target)
            .collect();
        let mut routes = self.pins(zone, &odd, &whole);
        routes.extend(odd);
        routes.extend(Some(whole).filter(is_way));
        routes
    }

    /// Returns the routes of a T0 to NICs that take one uplink, as long as no other leads there better.
    fn pins(&self, zone: ZoneId, odd: &[Route], whole: &Route) -> Vec<Route> {
        let (topology, addresses) = (self.plan.topology(), self.plan.addresses());
        match (self.switch.tier, topology.ecmp.pin) {
            (TierId::T0, Pin::Downlink) => {}
            (TierId::T0, Pin::None) | (TierId::T1 | TierId::T2, _) => return Vec::new(),
        }
        let uplinks = topology.t0.up.count.max(1);
        let groups =
            (0..topology.t0.count).filter(|group| (zone, *group) != (self.switch.zone, self.switch.index));
        let mut routes = Vec::new();
        for group in groups {
            let prefix = addresses.group(zone, group);
            let way = odd.iter().find(|route| route.prefix == prefix).unwrap_or(whole);
            let Target::Ports(hops) = &way.target else { continue };
            let best = hops.iter().map(|hop| hop.weight).max();
            for nic in self.plan.fabric().group_nics(zone, group) {
                let up = nic.downlink % uplinks;
                let port = port_of(self.plan, self.switch, Link::Fabric { lower: self.switch, up });
                if let Some(hop) = hops.iter().find(|hop| Some(hop.port) == port && Some(hop.weight) == best)
                {
                    let target = Target::Ports(vec![Hop { port: hop.port, weight: 1 }]);
                    routes.push(Route { prefix: Ipv6Net::new_assert(addresses.nic(nic), 128), target });
                }
            }
        }
        routes
    }

    fn route(&mut self, prefix: Ipv6Net, scope: Scope) -> Route {
        let hops = (0..self.capacities.len()).map(|at| self.hops(at, scope)).find(|hops| !hops.is_empty());
        Route { prefix, target: hops.map_or(Target::Blackhole, Target::Ports) }
    }

    fn hops(&mut self, at: usize, scope: Scope) -> Vec<Hop> {
        let (switch, capacities) = (self.switch, &mut self.capacities[at]);
        let neighbours: Vec<Switch> = match (switch.tier, scope) {
            (TierId::T1, Scope::Group(zone, index)) if switch.zone == zone => {
                vec![Switch { tier: TierId::T0, index, ..switch }]
            }
            (TierId::T0 | TierId::T1, _) => capacities.above(switch).collect(),
            (TierId::T2, _) => capacities.below_t2(switch, scope.zone()).collect(),
        };
        let mut shares = Vec::new();
        for neighbour in neighbours {
            let (lower, upper) = in_order(switch, neighbour);
            let left =
                if self.is_whole { Fraction::ONE } else { capacities.through(switch, neighbour, scope) };
            let links: Vec<Link> = capacities.cables(lower, upper).collect();
            let cables = links.len() as u64;
            let share = |port| Share { port, left, cables };
            shares.extend(links.into_iter().filter_map(|link| port_of(self.plan, switch, link).map(share)));
        }
        shares.sort_by_key(|share| share.port);
        weights::hops(&shares, self.room)
    }
}

/// Returns the index in the intent of the port of a switch that a cable is in.
fn port_of(plan: &Plan, switch: Switch, link: Link) -> Option<usize> {
    let at = match link {
        Link::Fabric { lower, up } if lower == switch => PortRef { side: Side::Up, index: up },
        Link::Fabric { .. } | Link::Host(_) => plan.fabric().upper_end(link)?.1,
    };
    let down = plan.topology().tier(switch.tier)?.down;
    Some(match at.side {
        Side::Down => usize::from(at.index),
        Side::Up => usize::from(down.count + down.spare + at.index),
    })
}

fn is_way(route: &Route) -> bool {
    route.target != Target::Blackhole
}

/// Tells whether members of a group can weigh differently: not in `STATIC_ROUTE`, whose next hops are a set, nor in
/// static routes of FRR.
fn weighs(os: Os) -> bool {
    match os {
        Os::Linux | Os::P4 => true,
        Os::Sonic | Os::Frr => false,
    }
}

/// Returns the T0 groups of a plane whose T0 or cables to T1s are absent or drained.
fn odd_groups(topology: &Topology, plane: PlaneId) -> BTreeSet<(ZoneId, u16)> {
    let exceptions = &topology.exceptions;
    let links =
        exceptions.absent_links.iter().chain(&exceptions.drained_links).filter_map(|link| match link {
            Link::Fabric { lower, .. } => Some(lower),
            Link::Host(_) => None,
        });
    let switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    links
        .chain(switches)
        .filter(|switch| switch.plane == plane && switch.tier == TierId::T0)
        .map(|switch| (switch.zone, switch.index))
        .collect()
}

/// Tells whether every cable between switches of a plane is there and in use.
fn is_whole(topology: &Topology, plane: PlaneId) -> bool {
    let exceptions = &topology.exceptions;
    let mut switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    let mut links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    !switches.any(|switch| switch.plane == plane)
        && !links.any(|link| matches!(link, Link::Fabric { .. }) && link.plane() == plane)
        && !exceptions.drained_planes.contains(&plane)
}
