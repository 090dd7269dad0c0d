//! The intent of one node.
//!
//! In: a plan and a coordinate. Out: [`HostIntent`]. Always: port p of a NIC belongs to plane p; ports without a
//! cable are left out.

use closc_topology::{Link, NicPort, Node, PlaneId, PortRef, Routing, Side};
use ipnet::Ipv6Net;
use smol_str::{SmolStr, format_smolstr};

use crate::address::{AddressPlan, CableEnd};
use crate::device;
use crate::intent::{HostIntent, NicIntent, NicPortIntent};
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
        mtu: topology.mtu.link,
        payload_mtu: topology.mtu.payload,
        qos: &topology.qos,
    }
}

fn nic(plan: &Plan, node: Node, number: u8) -> NicIntent {
    let topology = plan.topology();
    let nic = topology.nic_of(node, number);
    let ports = topology
        .plane_ids()
        .map(|plane| NicPort { plane, nic })
        .filter(|port| plan.fabric().has_link(Link::Host(*port)))
        .map(|at| port(plan, number, at))
        .collect();
    NicIntent {
        nic,
        number,
        name: SmolStr::from(topology.naming.nic(node, number)),
        address: plan.addresses().nic(nic),
        group: plan.addresses().group(nic.zone, nic.group),
        ports,
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
    NicPortIntent {
        plane: at.plane,
        interface: interface(number, at.plane),
        mac: addresses.nic_mac(at),
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
