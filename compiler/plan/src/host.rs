//! The intent of one node.
//!
//! In: a plan and a coordinate. Out: [`HostIntent`]. Invariants: port p of a NIC belongs to plane p; ports without a
//! cable are omitted.

mod reach;
pub(crate) mod route_counts;
pub(crate) mod routes;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use closc_artefacts::{Prefix, Routing};
use closc_topology::{
    DomainRule, HostSlot, Link, Nic, NicPort, Node, PacketOrder, PortRef, Side, Subject, Topology,
};
use ipnet::Ipv6Net;
use smol_str::SmolStr;

use crate::address::{AddressPlan, CableEnd};
use crate::intent::{HostIntent, NicIntent, NicPortIntent, NicRoute};
use crate::plan::Plan;
use crate::port_name;
use reach::{PlaneState, Reach};

impl Plan {
    /// Creates the intent of a node.
    pub fn host(&self, node: Node) -> HostIntent<'_> {
        intent(self, node)
    }
}

fn intent(plan: &Plan, node: Node) -> HostIntent<'_> {
    let topology = plan.topology();
    let mut reach = (!plan.is_source_routed()).then(|| Reach::new(plan));
    let mut nics: Vec<NicIntent> = (0..topology.hosts.nics_per_node)
        .filter(|number| plan.fabric().has_nic(topology.nic_of(node, *number)))
        .map(|number| nic(plan, reach.as_mut(), node, number))
        .collect();
    // Packets of unbound sockets use the first NIC with a usable route. The first NIC of the node would not work if
    // all of its cables are absent: packets would be dropped, although other NICs can send.
    let unbound = nics.iter().position(|nic| nic.routes.iter().any(|route| !route.ports.is_empty()));
    let unbound = unbound.unwrap_or(0);
    follow(&mut nics, unbound);
    HostIntent {
        node,
        name: topology.naming.node(node),
        fabric: &topology.name,
        routing: topology.routing,
        blocks: blocks(plan),
        nics,
        unbound,
        reach: topology.addresses.hosts,
        island: topology.island(),
        has_t2: topology.t2.is_some(),
        is_rail_optimised: topology.hosts.rails > 1,
        queue_pairs: queue_pairs(topology),
        reorders: reorders(topology),
        os: topology.hosts.os,
        outputs: &topology.hosts.outputs,
        mtu: topology.mtu.link,
        payload_mtu: topology.mtu.payload,
        qos: &topology.qos,
        delay: plan.zone_delay(node.zone),
    }
}

/// Returns the blocks of the segments: a single one, or one per plane.
fn blocks(plan: &Plan) -> Vec<Ipv6Net> {
    let topology = plan.topology();
    if !plan.is_source_routed() {
        return Vec::new();
    }
    let mut blocks: Vec<Ipv6Net> = topology.plane_ids().map(|plane| topology.srv6.block(plane)).collect();
    blocks.dedup();
    blocks
}

/// Returns the slot of a NIC, or of its adapter.
fn slot(topology: &Topology, number: u8) -> Option<&HostSlot> {
    topology.hosts.slots.get(usize::from(number / topology.hosts.nics_per_adapter.max(1)))
}

fn nic(plan: &Plan, reach: Option<&mut Reach<'_>>, node: Node, number: u8) -> NicIntent {
    let topology = plan.topology();
    let nic = topology.nic_of(node, number);
    let ports: Vec<NicPortIntent> = topology
        .plane_ids()
        .map(|plane| NicPort { plane, nic })
        .filter(|port| plan.fabric().has_link(Link::Host(*port)))
        .map(|at| port(plan, number, at))
        .collect();
    let routes = reach.map_or_else(Vec::new, |reach| routes(plan, reach, nic, &ports));
    NicIntent {
        nic,
        number,
        name: SmolStr::from(topology.naming.nic(node, number)),
        address: plan.addresses().nic(nic),
        group: plan.addresses().group(nic.zone, nic.group),
        adapter: number / topology.hosts.nics_per_adapter.max(1),
        in_adapter: number % topology.hosts.nics_per_adapter.max(1),
        slot: slot(topology, number).cloned(),
        ports,
        routes,
    }
}

/// Returns the routes of a NIC: a route to all destinations over every plane, and routes over fewer planes for
/// destinations that some planes do not reach. Drained equipment is only a last resort.
fn routes(plan: &Plan, reach: &mut Reach<'_>, nic: Nic, ports: &[NicPortIntent]) -> Vec<NicRoute> {
    let (topology, addresses) = (plan.topology(), plan.addresses());
    let everything = NicRoute {
        prefix: addresses.hosts(),
        ports: usable(ports, |port| reach.anywhere(nic.t0(port.plane))),
    };
    let mut zones: Vec<NicRoute> = Vec::new();
    for zone in topology.zone_ids().filter(|_| topology.zones > 1) {
        let ports = usable(ports, |port| reach.zone(nic.t0(port.plane), zone));
        if ports != everything.ports {
            zones.push(NicRoute { prefix: addresses.zone(zone), ports });
        }
    }
    let mut groups: Vec<NicRoute> = Vec::new();
    for (zone, group) in reach.groups((nic.zone, nic.group)) {
        let prefix = addresses.group(zone, group);
        let ports = usable(ports, |port| reach.group(nic.t0(port.plane), zone, group));
        if ports != containing_route(&zones, prefix).unwrap_or(&everything).ports {
            groups.push(NicRoute { prefix, ports });
        }
    }
    let mut nics: Vec<NicRoute> = Vec::new();
    for other in odd_nics(topology) {
        let prefix = Prefix::from(addresses.nic(other));
        let ports = usable(ports, |port| {
            let cable = plane_state(plan, Link::Host(NicPort { plane: port.plane, nic: other }));
            cable.and(reach.group(nic.t0(port.plane), other.zone, other.group))
        });
        let wider = containing_route(&groups, prefix)
            .or_else(|| containing_route(&zones, prefix))
            .unwrap_or(&everything);
        if ports != wider.ports {
            nics.push(NicRoute { prefix, ports });
        }
    }
    nics.into_iter().chain(groups).chain(zones).chain([everything]).collect()
}

/// Adds the prefixes of one NIC to all NICs of a node. Routes also apply to sockets that are not bound to an address,
/// and the kernel matches the longest prefix before the source address. If only one NIC had a route to a prefix, its
/// ports would attract packets of the other NICs.
fn follow(nics: &mut [NicIntent], unbound: usize) {
    let Some(routes) = nics.get(unbound).map(|nic| nic.routes.clone()) else { return };
    let others = nics.iter_mut().enumerate().filter(|(at, _)| *at != unbound);
    for (_, other) in others {
        for route in &routes {
            let own = other.routes.iter().find(|own| own.prefix.contains(&route.prefix));
            let Some(own) = own.filter(|own| own.prefix != route.prefix) else { continue };
            let ports = own.ports.clone();
            other.routes.push(NicRoute { prefix: route.prefix, ports });
            other.routes.sort_by_key(|route| (Reverse(route.prefix.prefix_len()), route.prefix));
        }
    }
}

/// Returns the route whose prefix contains the given one.
fn containing_route(routes: &[NicRoute], prefix: Prefix) -> Option<&NicRoute> {
    routes.iter().find(|route| route.prefix.contains(&prefix))
}

/// Returns the NICs with absent or drained cables.
fn odd_nics(topology: &Topology) -> BTreeSet<Nic> {
    let exceptions = &topology.exceptions;
    let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let nics = links.filter_map(|link| match link {
        Link::Host(port) => Some(port.nic),
        Link::Fabric { .. } => None,
    });
    nics.collect()
}

fn plane_state(plan: &Plan, link: Link) -> PlaneState {
    match (plan.fabric().has_link(link), plan.fabric().is_drained(link)) {
        (false, _) => PlaneState::Gone,
        (true, true) => PlaneState::Drained,
        (true, false) => PlaneState::Open,
    }
}

/// Returns the indices of the usable ports. Drained ports are included only if there are no others.
fn usable(ports: &[NicPortIntent], mut far: impl FnMut(&NicPortIntent) -> PlaneState) -> Vec<usize> {
    let near = |port: &NicPortIntent| if port.drained { PlaneState::Drained } else { PlaneState::Open };
    let worth: Vec<PlaneState> = ports.iter().map(|port| far(port).and(near(port))).collect();
    let best = worth.iter().copied().max().filter(|best| *best != PlaneState::Gone);
    (0..ports.len()).filter(|at| Some(worth[*at]) == best).collect()
}

/// The first routing table of NIC ports, above those that the kernel and most daemons use.
const FIRST_TABLE: u16 = 1000;

/// Tables reserved per NIC, so that an added plane does not change table numbers.
const PLANES_MAX: u16 = 16;

/// Returns the number of queue pairs. If switches choose the uplink, there are several, so that flows spread over
/// uplinks. If the NIC chooses, there is one.
pub(crate) fn queue_pairs(topology: &Topology) -> u16 {
    match topology.routing {
        Routing::Srv6Static => 1,
        Routing::EcmpStatic | Routing::BgpUnnumbered => topology.ecmp.qps_per_connection,
    }
}

/// Returns whether switches reorder packets and NICs accept them in any order. Files of senders then state this.
pub(crate) fn reorders(topology: &Topology) -> bool {
    topology.reorders() && topology.hosts.packet_order == PacketOrder::Any
}

fn port(plan: &Plan, number: u8, at: NicPort) -> NicPortIntent {
    let topology = plan.topology();
    let addresses = plan.addresses();
    let segments = plan.segments();
    let link = Link::Host(at);
    let t0 = at.nic.t0(at.plane);
    let t0_port = PortRef { side: Side::Down, index: at.nic.downlink };
    let srv6 = topology.routing.is_source_routed();
    let slot = slot(topology, number);
    let cable = plan.fabric().cable(link).clone();
    let os = plan.os(t0);
    NicPortIntent {
        plane: at.plane,
        interface: port_name::interface(number, at.plane),
        mac: addresses.nic_mac(at),
        is_static: topology.hardware(t0).1.has_static_neighbours(),
        pci: slot.and_then(|slot| slot.pci.function(u8::try_from(topology.adapter_port(at)).ok()?)),
        speed: topology.port_speed(at.nic.zone),
        table: FIRST_TABLE + u16::from(number) * PLANES_MAX + u16::from(at.plane.0),
        address: Prefix::new_assert(addresses.link(link, CableEnd::Lower), AddressPlan::LINK_PREFIX),
        t0: topology.naming.switch(t0),
        t0_port: plan.port_name(t0, t0_port),
        gateway: addresses.link(link, CableEnd::Upper),
        gateway_mac: (!plan.os(t0).has_own_macs()).then(|| addresses.switch_mac(t0)),
        decapsulate: srv6.then(|| segments.prefix(at.plane, segments.nic(at.plane, at.nic))),
        first_segment: srv6.then(|| segments.prefix(at.plane, segments.switch(t0, 0))),
        drained: plan.fabric().is_drained(link),
        domains: domains(topology, at),
        negotiates: os.negotiates(topology.release(os)).filter(|_| cable.is_copper()),
        cable,
    }
}

/// Returns the declared domains that a port depends on. Domains of the node itself do not count, because their
/// failure also takes down every possible backup.
fn domains(topology: &Topology, port: NicPort) -> BTreeSet<SmolStr> {
    let t0 = port.nic.t0(port.plane);
    let is_in = |subject: &Subject| match subject {
        Subject::Plane(plane) => *plane == port.plane,
        Subject::Switch(switch) => *switch == t0,
        Subject::Nic(nic) => *nic == port.nic,
        Subject::Link(link) => *link == Link::Host(port),
        Subject::Node(_) => false,
    };
    let of = |(kind, rule): (&SmolStr, &DomainRule)| match rule {
        DomainRule::Members(members) => members.iter().any(is_in).then(|| kind.clone()),
        DomainRule::Position(_) => topology.domain(kind, t0),
    };
    topology.domains.iter().filter_map(of).collect()
}
