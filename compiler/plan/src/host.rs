//! The intent of one node.
//!
//! In: a plan and a coordinate. Out: [`HostIntent`]. Always: port p of a NIC belongs to plane p; ports without a
//! cable are left out.

use std::collections::BTreeSet;

use closc_platform::Os;
use closc_topology::{
    Link, Nic, NicPort, Node, PlaneId, PortRef, Routing, Side, Switch, TierId, Topology, ZoneId,
};
use ipnet::Ipv6Net;
use smol_str::{SmolStr, format_smolstr};

use crate::address::{AddressPlan, CableEnd};
use crate::device;
use crate::intent::{HostIntent, NicIntent, NicPortIntent, NicRoute};
use crate::plan::Plan;

pub(crate) fn intent(plan: &Plan, node: Node) -> HostIntent<'_> {
    let topology = plan.topology();
    let nics = (0..topology.hosts.nics_per_node)
        .filter(|number| plan.fabric().has_nic(topology.nic_of(node, *number)))
        .map(|number| nic(plan, node, number))
        .collect();
    HostIntent {
        node,
        name: topology.naming.node(node),
        fabric: &topology.name,
        routing: topology.routing,
        block: plan.is_source_routed().then_some(topology.srv6.block),
        nics,
        reach: topology.addresses.hosts,
        is_rail_optimised: topology.hosts.rails > 1,
        queue_pairs: queue_pairs(topology),
        os: topology.hosts.os,
        outputs: &topology.hosts.outputs,
        mtu: topology.mtu.link,
        payload_mtu: topology.mtu.payload,
        qos: &topology.qos,
    }
}

fn nic(plan: &Plan, node: Node, number: u8) -> NicIntent {
    let topology = plan.topology();
    let nic = topology.nic_of(node, number);
    let ports: Vec<NicPortIntent> = topology
        .plane_ids()
        .map(|plane| NicPort { plane, nic })
        .filter(|port| plan.fabric().has_link(Link::Host(*port)))
        .map(|at| port(plan, number, at))
        .collect();
    let routes = if plan.is_source_routed() { Vec::new() } else { routes(plan, &ports) };
    NicIntent {
        nic,
        number,
        name: SmolStr::from(topology.naming.nic(node, number)),
        address: plan.addresses().nic(nic),
        group: plan.addresses().group(nic.zone, nic.group),
        slot: topology.hosts.slots.get(usize::from(number)).cloned(),
        ports,
        routes,
    }
}

/// Returns the routes of a NIC: everything over every plane, and what cannot be reached in some planes over the
/// others. What is drained is used where nothing else is left.
fn routes(plan: &Plan, ports: &[NicPortIntent]) -> Vec<NicRoute> {
    let addresses = plan.addresses();
    let (nics, groups) = elsewhere(plan.topology());
    let whole = NicRoute { prefix: addresses.hosts(), ports: usable(ports, |_| Way::Open) };
    let nics = nics.into_iter().map(|nic| NicRoute {
        prefix: Ipv6Net::new_assert(addresses.nic(nic), 128),
        ports: usable(ports, |port| way(plan, Link::Host(NicPort { plane: port.plane, nic }))),
    });
    let groups = groups.into_iter().map(|(zone, group)| NicRoute {
        prefix: addresses.group(zone, group),
        ports: usable(ports, |port| {
            let t0 = Switch { plane: port.plane, tier: TierId::T0, zone, index: group };
            let exceptions = &plan.topology().exceptions;
            match (exceptions.absent_switches.contains(&t0), exceptions.drained_switches.contains(&t0)) {
                (true, _) => Way::Gone,
                (false, true) => Way::Drained,
                (false, false) => Way::Open,
            }
        }),
    });
    let differs = |route: &NicRoute| route.ports != whole.ports;
    let mut routes: Vec<NicRoute> = nics.chain(groups).filter(differs).collect();
    routes.push(whole);
    routes
}

/// NICs and T0 groups that some plane does not lead to as planned.
fn elsewhere(topology: &Topology) -> (BTreeSet<Nic>, BTreeSet<(ZoneId, u16)>) {
    let exceptions = &topology.exceptions;
    let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let nics = links.filter_map(|link| match link {
        Link::Host(port) => Some(port.nic),
        Link::Fabric { .. } => None,
    });
    let switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    let t0s = switches.filter(|switch| switch.tier == TierId::T0);
    (nics.collect(), t0s.map(|switch| (switch.zone, switch.index)).collect())
}

/// What a plane is worth as a way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    Drained,
    Gone,
}

fn way(plan: &Plan, link: Link) -> Way {
    match (plan.fabric().has_link(link), plan.fabric().is_drained(link)) {
        (false, _) => Way::Gone,
        (true, true) => Way::Drained,
        (true, false) => Way::Open,
    }
}

/// Returns the ports that lead somewhere, without drained ones where others are left.
fn usable(ports: &[NicPortIntent], far: impl Fn(&NicPortIntent) -> Way) -> Vec<usize> {
    let worth = |port: &NicPortIntent| match far(port) {
        Way::Open if port.drained => Way::Drained,
        other => other,
    };
    let with = |wanted: Way| ports.iter().enumerate().filter(move |(_, port)| worth(port) == wanted);
    let open: Vec<usize> = with(Way::Open).map(|(at, _)| at).collect();
    if open.is_empty() { with(Way::Drained).map(|(at, _)| at).collect() } else { open }
}

/// The first routing table of NIC ports: above those that the kernel and most daemons use.
const FIRST_TABLE: u16 = 1000;

/// Tables kept for each NIC, so that another plane moves none.
const PLANES_MAX: u16 = 16;

/// Where switches choose the uplink, as many flows as give them a choice; where the NIC does, one.
fn queue_pairs(topology: &Topology) -> u16 {
    match topology.routing {
        Routing::Srv6Static => 1,
        Routing::EcmpStatic | Routing::BgpUnnumbered => topology.ecmp.qps_per_connection,
    }
}

/// The name of a NIC port on Linux: NIC and plane, both from 0.
pub(crate) fn interface(number: u8, plane: PlaneId) -> SmolStr {
    format_smolstr!("nic{number}p{plane}")
}

fn port(plan: &Plan, number: u8, at: NicPort) -> NicPortIntent {
    let topology = plan.topology();
    let addresses = plan.addresses();
    let segments = plan.segments();
    let link = Link::Host(at);
    let t0 = at.nic.t0(at.plane);
    let t0_port = PortRef { side: Side::Down, index: at.nic.downlink };
    let srv6 = topology.routing == Routing::Srv6Static;
    let slot = topology.hosts.slots.get(usize::from(number));
    NicPortIntent {
        plane: at.plane,
        interface: interface(number, at.plane),
        mac: addresses.nic_mac(at),
        is_static: matches!(topology.hardware(t0).1, Os::P4 | Os::Linux),
        pci: slot.and_then(|slot| slot.pci.function(at.plane.0)),
        speed: topology.port_speed(),
        table: FIRST_TABLE + u16::from(number) * PLANES_MAX + u16::from(at.plane.0),
        address: Ipv6Net::new_assert(addresses.link(link, CableEnd::Lower), AddressPlan::LINK_PREFIX),
        t0: topology.naming.switch(t0),
        t0_port: device::port_name(plan, t0, t0_port),
        gateway: addresses.link(link, CableEnd::Upper),
        gateway_mac: addresses.switch_mac(t0),
        decapsulate: srv6.then(|| segments.prefix(segments.nic(at.plane, at.nic))),
        first_segment: srv6.then(|| segments.prefix(segments.switch(t0, 0))),
        drained: plan.fabric().is_drained(link),
        cable: plan.fabric().cable(link).clone(),
    }
}
