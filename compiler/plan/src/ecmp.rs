//! Static routes with next-hop groups: the routes of a switch with `routing: ecmp-static`.
//!
//! In: a switch with its ports. Out: its routes, each longer prefix before the prefixes that contain it. Invariants:
//! packets go up, then down, never up again, so there are no loops. Switches have no default route, and the pool of
//! host addresses is a blackhole. Downward routes are per T0 group, upward routes per zone. A group gets an upward
//! route of its own only if its next hops differ from those of its zone. Tables therefore stay small, and growth adds
//! routes and hops without changing others.
//!
//! | switch | routes |
//! |---|---|
//! | T0 | a /128 for each NIC; a blackhole for the rest of its group; each zone over all uplinks; with `ecmp.pin` a /128 over one uplink for each NIC elsewhere, with `ecmp.pins` for those that the file names |
//! | T1 | a /64 for each T0 group of its zone; every other zone over all uplinks |
//! | T2 | each zone over its T1s |

pub(crate) mod capacity;
pub(crate) mod fraction;
mod weights;

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::{Prefix, Routing};
use closc_platform::Os;
use closc_platform::capability::Capability;
use closc_topology::{Link, Nic, Pin, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId};

use crate::intent::{Hop, Peer, PortIntent, Route, Target};
use crate::plan::Plan;
use capacity::{Capacities, Scope, in_order};
use fraction::{NOTHING, WHOLE};
use weights::{GroupCapacity, Share, Weighting};

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

/// Returns the local routes of a T0: its NICs, and a blackhole for the rest of its group.
pub(crate) fn local(plan: &Plan, switch: Switch, ports: &[PortIntent]) -> Vec<Route> {
    let addresses = plan.addresses();
    let mut routes: Vec<Route> = ports
        .iter()
        .enumerate()
        .filter_map(|(port, intent)| {
            let Peer::Nic(nic) = &intent.connection.as_ref()?.peer else { return None };
            let prefix = Prefix::from(nic.inner);
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
    capacity: GroupCapacity,
    /// Capacities without drained equipment, and capacities with it, for destinations that are not reachable
    /// otherwise.
    capacities: [Capacities<'a>; 2],
    /// T0 groups with absent or drained T0s or uplinks, in the plane of the switch.
    odd: BTreeSet<(ZoneId, u16)>,
    is_whole: bool,
}

/// Next hops of the switches of a plane: cables with the weights of their next-hop groups, without pins.
///
/// With `ecmp-static` these are the weights of the routes. BGP computes weights at run time from link bandwidths; the
/// same capacities model that. A switch whose system or neighbours lack bandwidths divides traffic equally.
pub struct NextHops<'a> {
    groups: Groups<'a>,
}

impl<'a> NextHops<'a> {
    /// Creates the next hops of a plane, for a plan in which switches choose paths.
    pub fn new(plan: &'a Plan, plane: PlaneId) -> Self {
        let first = Switch { plane, tier: TierId::T0, zone: ZoneId(0), index: 0 };
        NextHops { groups: Groups::new(plan, first) }
    }

    /// Returns the cables, with weights, over which a switch of the plane sends packets to a T0 group. Empty if only
    /// drained cables lead there. A T0 has no next hops to its own group, so do not call this for it.
    pub fn to(&mut self, switch: Switch, zone: ZoneId, group: u16) -> Vec<(Link, u16)> {
        let groups = &mut self.groups;
        groups.switch = switch;
        groups.capacity = group_capacity(groups.plan, switch);
        let scope = if switch.tier == TierId::T1 && switch.zone == zone {
            Scope::Group(zone, group)
        } else {
            groups.scope(zone, group)
        };
        groups.cable_hops(0, scope).into_iter().map(|(link, hop)| (link, hop.weight)).collect()
    }
}

/// A next hop towards a destination, with the inputs of its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextHop {
    /// Index in [`crate::DeviceIntent::ports`].
    pub port: usize,
    /// The switch at the other end.
    pub neighbour: Switch,
    /// Remaining share of the planned capacity through that neighbour, as numerator and denominator.
    pub remaining: (u64, u64),
    /// Cables to that neighbour that share the capacity.
    pub cables: u64,
    /// Weight in the group; 0 if it is not a member.
    pub weight: u16,
}

impl NextHops<'_> {
    /// Returns all candidates for the next hops of a route, and whether drained ones are used because there are no
    /// others. Returns `None` if the prefix belongs to neither a zone nor a T0 group, or cannot be reached.
    pub fn next_hops(&mut self, switch: Switch, prefix: Prefix) -> Option<(Vec<NextHop>, bool)> {
        let groups = &mut self.groups;
        let (topology, addresses) = (groups.plan.topology(), groups.plan.addresses());
        let in_zone = |zone: ZoneId| {
            if prefix.prefix_len() != addresses.group_length() {
                return None;
            }
            (0..topology.hosts.groups)
                .find(|group| addresses.group(zone, *group) == prefix)
                .map(|group| Scope::Group(zone, group))
        };
        let scope = topology.zone_ids().find_map(|zone| {
            if addresses.zone(zone) == prefix { Some(Scope::Zone(zone)) } else { in_zone(zone) }
        })?;
        groups.switch = switch;
        groups.capacity = group_capacity(groups.plan, switch);
        let at = (0..groups.capacities.len()).find(|at| !groups.hops(*at, scope).is_empty())?;
        let hops = groups.hops(at, scope);
        let weight = |port| hops.iter().find(|hop| hop.port == port).map_or(0, |hop| hop.weight);
        let way = |(share, neighbour, _): (Share, Switch, Link)| NextHop {
            port: share.port,
            neighbour,
            remaining: share.remaining.into_raw(),
            cables: share.cables,
            weight: weight(share.port),
        };
        Some((groups.shares(at, scope).into_iter().map(way).collect(), at > 0))
    }
}

/// Returns the group capabilities of a switch.
fn group_capacity(plan: &Plan, switch: Switch) -> GroupCapacity {
    let (_, os) = plan.topology().hardware(switch);
    let weighting = match plan.topology().routing {
        Routing::BgpUnnumbered if os.renders(Capability::Bandwidths) => Weighting::Capacity,
        Routing::BgpUnnumbered => Weighting::Equal,
        Routing::EcmpStatic | Routing::Srv6Static if weighs(os) => Weighting::Capacity,
        Routing::EcmpStatic | Routing::Srv6Static => Weighting::Selected,
    };
    GroupCapacity { width: u64::from(width(plan, switch)), weighting }
}

/// Returns the maximum number of members of a group, which is that of the platform. If that number is assumed and the
/// fabric needs more, returns what the fabric needs; W0904 warns about it.
pub(crate) fn width(plan: &Plan, switch: Switch) -> u32 {
    let topology = plan.topology();
    let needed = match switch.tier {
        TierId::T0 => topology.t0.up.count,
        TierId::T1 => topology.t1.up.count.max(topology.t0.parallel),
        TierId::T2 => topology.t2.as_ref().map_or(0, |t2| t2.zone_ports),
    };
    let width = topology.group_width(switch);
    if width.assumption.is_some() { width.members.max(needed.into()) } else { width.max_width(needed.into()) }
}

impl<'a> Groups<'a> {
    fn new(plan: &'a Plan, switch: Switch) -> Self {
        let room = group_capacity(plan, switch);
        let fabric = plan.fabric();
        Groups {
            plan,
            switch,
            capacity: room,
            capacities: [false, true].map(|with_drained| Capacities::new(fabric, with_drained)),
            odd: odd_groups(plan.topology(), switch.plane),
            is_whole: is_whole(plan.topology(), switch.plane),
        }
    }

    /// Returns the scope of the routes to a T0 group: the group if it has losses, else its zone.
    fn scope(&self, zone: ZoneId, group: u16) -> Scope {
        if self.odd.contains(&(zone, group)) { Scope::Group(zone, group) } else { Scope::Zone(zone) }
    }

    /// Returns the routes to a zone: pins, groups that differ from the zone, then the zone itself. A T1 has one route
    /// per group of its own zone instead.
    fn zone(&mut self, zone: ZoneId) -> Vec<Route> {
        let addresses = self.plan.addresses();
        let from_above = self.switch.tier == TierId::T1 && self.switch.zone == zone;
        if from_above {
            let groups = 0..self.plan.topology().hosts.groups;
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

    /// Returns the routes of a T0 that pin a NIC to one uplink. Pins of the file apply if the uplink reaches the NIC at
    /// all; pins by downlink also require that no other uplink has more capacity to it.
    fn pins(&mut self, zone: ZoneId, odd: &[Route], whole: &Route) -> Vec<Route> {
        if self.switch.tier != TierId::T0 {
            return Vec::new();
        }
        let (topology, addresses) = (self.plan.topology(), self.plan.addresses());
        let none = BTreeMap::new();
        let named = topology.ecmp.pins.get(&self.switch).unwrap_or(&none);
        let by_downlink = topology.ecmp.pin == Pin::Downlink;
        let own = (self.switch.zone, self.switch.index);
        let groups = (0..topology.hosts.groups).filter(|group| (zone, *group) != own);
        let mut routes = Vec::new();
        for group in groups.filter(|group| by_downlink || has_pin(named, zone, *group)) {
            let prefix = addresses.group(zone, group);
            let way = odd.iter().find(|route| route.prefix == prefix).unwrap_or(whole);
            let Target::Ports(hops) = &way.target else { continue };
            let scope = self.scope(zone, group);
            // A drained path is only a last resort.
            let Some(at) = (0..self.capacities.len()).find(|at| !self.hops(*at, scope).is_empty()) else {
                continue;
            };
            for nic in self.plan.fabric().group_nics(zone, group) {
                let port = match named.get(&nic) {
                    Some(up) => self.port_that_leads(at, *up, scope),
                    None if by_downlink => self.port_that_leads_best(nic, hops),
                    None => None,
                };
                if let Some(port) = port {
                    let target = Target::Ports(vec![Hop { port, weight: 1 }]);
                    routes.push(Route { prefix: Prefix::from(addresses.nic(nic)), target });
                }
            }
        }
        routes
    }

    /// Returns the port of an uplink; `None` if the uplink does not reach the destination.
    fn port_that_leads(&mut self, at: usize, up: u16, scope: Scope) -> Option<usize> {
        let link = Link::Fabric { lower: self.switch, up };
        let (upper, _) = self.plan.fabric().upper_end(link)?;
        let capacities = &mut self.capacities[at];
        let leads = capacities.cables(self.switch, upper).any(|cable| cable == link)
            && capacities.through(self.switch, upper, scope) > NOTHING;
        leads.then(|| port_of(self.plan, self.switch, link)).flatten()
    }

    /// Returns the port of the uplink whose number is the NIC's downlink modulo the number of uplinks; `None` if
    /// it is not a next hop, or if another uplink has more capacity.
    fn port_that_leads_best(&self, nic: Nic, hops: &[Hop]) -> Option<usize> {
        let up = nic.downlink % self.plan.topology().t0.up.count.max(1);
        let port = port_of(self.plan, self.switch, Link::Fabric { lower: self.switch, up });
        let best = hops.iter().map(|hop| hop.weight).max();
        hops.iter().find(|hop| Some(hop.port) == port && Some(hop.weight) == best).map(|hop| hop.port)
    }

    fn route(&mut self, prefix: Prefix, scope: Scope) -> Route {
        let hops = (0..self.capacities.len()).map(|at| self.hops(at, scope)).find(|hops| !hops.is_empty());
        Route { prefix, target: hops.map_or(Target::Blackhole, Target::Ports) }
    }

    fn hops(&mut self, at: usize, scope: Scope) -> Vec<Hop> {
        self.cable_hops(at, scope).into_iter().map(|(_, hop)| hop).collect()
    }

    /// Returns the cables of a group with their hops, in port order.
    fn cable_hops(&mut self, at: usize, scope: Scope) -> Vec<(Link, Hop)> {
        let found = self.shares(at, scope);
        let shares: Vec<Share> = found.iter().map(|(share, ..)| *share).collect();
        let cable_of: BTreeMap<usize, Link> =
            found.iter().map(|(share, _, link)| (share.port, *link)).collect();
        let mut capacity = self.capacity;
        // A switch weights paths only if it knows the bandwidth of each.
        let announces = |switch: Switch| self.plan.os(switch).renders(Capability::Bandwidths);
        if self.plan.topology().routing.speaks_bgp()
            && !found.iter().all(|(_, neighbour, _)| announces(*neighbour))
        {
            capacity.weighting = Weighting::Equal;
        }
        weights::hops(&shares, capacity).into_iter().map(|hop| (cable_of[&hop.port], hop)).collect()
    }

    /// Returns the remaining capacity over each usable cable, with its neighbour, in port order.
    fn shares(&mut self, at: usize, scope: Scope) -> Vec<(Share, Switch, Link)> {
        let switch = self.switch;
        if !self.plan.topology().island().leads(switch, scope.zone()) {
            return Vec::new();
        }
        let capacities = &mut self.capacities[at];
        let neighbours: Vec<Switch> = match (switch.tier, scope) {
            (TierId::T1, Scope::Group(zone, index)) if switch.zone == zone => {
                vec![Switch { tier: TierId::T0, index, ..switch }]
            }
            (TierId::T0 | TierId::T1, _) => capacities.neighbours_above(switch).collect(),
            (TierId::T2, _) => capacities.t1s_below(switch, scope.zone()).collect(),
        };
        let mut shares = Vec::new();
        for neighbour in neighbours {
            let (lower, upper) = in_order(switch, neighbour);
            let left = if self.is_whole { WHOLE } else { capacities.through(switch, neighbour, scope) };
            let links: Vec<Link> = capacities.cables(lower, upper).collect();
            let cables = links.len() as u64;
            for link in links {
                if let Some(port) = port_of(self.plan, switch, link) {
                    shares.push((Share { port, remaining: left, cables }, neighbour, link));
                }
            }
        }
        shares.sort_by_key(|(share, ..)| share.port);
        shares
    }
}

/// Returns whether a NIC of a T0 group is pinned.
fn has_pin(pins: &BTreeMap<Nic, u16>, zone: ZoneId, group: u16) -> bool {
    let first = Nic { zone, group, downlink: 0 };
    pins.range(first..).next().is_some_and(|(nic, _)| (nic.zone, nic.group) == (zone, group))
}

/// Returns the index of a cable's port in the intent of a switch.
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

/// Returns whether members of a group can have different weights. Next hops in SONiC's `STATIC_ROUTE` and in static
/// routes of FRR cannot.
fn weighs(os: Os) -> bool {
    os.renders(Capability::StaticWeights)
}

/// Returns the T0 groups of a plane with an absent or drained T0 or cable to a T1.
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

/// Returns whether every cable between switches of a plane exists and is in use.
fn is_whole(topology: &Topology, plane: PlaneId) -> bool {
    let exceptions = &topology.exceptions;
    let mut switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    let mut links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    !switches.any(|switch| switch.plane == plane)
        && !links.any(|link| matches!(link, Link::Fabric { .. }) && link.plane() == plane)
        && !exceptions.drained_planes.contains(&plane)
}
