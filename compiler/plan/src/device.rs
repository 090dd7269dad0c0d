//! The intent of one switch.
//!
//! In: a plan and a coordinate. Out: [`DeviceIntent`]. Invariants: ports are in order, downlinks first, and are indexed
//! by position.

use std::fmt::Write as _;
use std::net::IpAddr;

use closc_artefacts::{Address, Prefix, Routing};
use closc_fabric::{End, Port, PortUse};
use closc_platform::capability::Capability;
use closc_platform::{Balance, Os};
use closc_topology::{Link, NicPort, PortRef, Switch, TierId, Topology};
use smol_str::SmolStr;

use crate::address::{AddressPlan, CableEnd};
use crate::intent::{
    BalanceIntent, Connection, DeviceIntent, Locator, Management, NicPeer, Peer, PortIntent, Srv6Intent,
    SwitchPeer, System,
};
use crate::plan::Plan;
use crate::{bgp, ecmp, port_name, routes};

impl Plan {
    /// Creates the intent of a switch.
    pub fn device(&self, switch: Switch) -> DeviceIntent<'_> {
        intent(self, switch)
    }
}

fn intent(plan: &Plan, switch: Switch) -> DeviceIntent<'_> {
    let topology = plan.topology();
    let (platform, os) = topology.hardware(switch);
    let ports: Vec<PortIntent> = plan.fabric().ports(switch).map(|p| port(plan, switch, &p)).collect();
    let (srv6, bgp, routes) = match topology.routing {
        Routing::Srv6Static => (Some(srv6(plan, switch)), None, routes::srv6(topology, switch, &ports)),
        Routing::EcmpStatic => (None, None, ecmp::routes(plan, switch, &ports)),
        Routing::BgpUnnumbered => {
            (None, Some(bgp::intent(plan, switch, &ports)), bgp::routes(plan, switch, &ports))
        }
    };
    DeviceIntent {
        switch,
        name: topology.naming.switch(switch),
        fabric: &topology.name,
        platform,
        hardware: hardware(topology, switch),
        os,
        release: topology.release(os),
        routing: topology.routing,
        system: system(plan, switch),
        srv6,
        bgp,
        ports,
        routes,
        balance: balance(topology, switch.tier, os),
        has_isolation: topology.exceptions.has_isolation && os.renders(Capability::Isolation),
        qos: &topology.qos,
        base_rtt: plan.delay_of_tier(switch.tier).base_rtt,
    }
}

/// Returns the load balancing of a tier, if it is not by hash.
fn balance(topology: &Topology, tier: TierId, os: Os) -> Option<BalanceIntent> {
    let kind = topology.balance(tier);
    let most = os.balanced_groups_max().map_or(u64::MAX, u64::from);
    (kind != Balance::Hash).then(|| BalanceIntent { kind, groups: topology.next_hop_groups(tier).min(most) })
}

/// Returns the SONiC hwsku of a switch, which depends on how its cages are split, or the platform id.
fn hardware(topology: &Topology, switch: Switch) -> SmolStr {
    let (platform, _) = topology.hardware(switch);
    platform.hwsku(topology.cages_in_use(switch)).map_or_else(|| platform.id.clone(), SmolStr::from)
}

fn system(plan: &Plan, switch: Switch) -> System<'_> {
    let addresses = plan.addresses();
    let management = addresses
        .management(switch)
        .zip(addresses.management_gateway(switch))
        .map(|(address, gateway)| Management { address, gateway });
    System {
        mac: addresses.switch_mac(switch),
        loopback: addresses.loopback(switch),
        asn: plan.topology().routing.speaks_bgp().then(|| addresses.asn(switch)),
        management,
        services: &plan.topology().services,
    }
}

fn srv6(plan: &Plan, switch: Switch) -> Srv6Intent {
    let segments = plan.segments();
    let locators = segments
        .switch_usids(switch)
        .map(|usid| Locator { usid, prefix: segments.prefix(switch.plane, usid) })
        .collect();
    Srv6Intent { block: plan.topology().srv6.block(switch.plane), locators }
}

fn port(plan: &Plan, switch: Switch, port: &Port) -> PortIntent {
    let topology = plan.topology();
    let (connection, description) = match port.usage {
        PortUse::Link { link, peer: far } => {
            let connection = connection(plan, switch, link, far);
            let description = describe(&connection.peer);
            (Some(connection), description)
        }
        PortUse::Absent { link } => (None, format!("absent: {}", plan.link_name(link))),
        PortUse::Spare => (None, String::from("spare")),
    };
    PortIntent {
        at: port.at,
        physical: physical(plan, switch, port.at),
        mtu: topology.mtu.link,
        connection,
        description,
    }
}

/// Returns the name of a port on the device.
fn physical(plan: &Plan, switch: Switch, at: PortRef) -> closc_platform::PhysicalPort {
    let topology = plan.topology();
    topology.hardware(switch).0.port(topology.slot(switch, at))
}

fn describe(peer: &Peer) -> String {
    match peer {
        Peer::Switch(peer) => {
            let mut text = String::with_capacity(peer.name.len() + peer.port.len() + 1);
            let _ = write!(text, "{}:{}", peer.name, peer.port);
            text
        }
        Peer::Nic(peer) => peer.name.to_string(),
    }
}

fn connection(plan: &Plan, switch: Switch, link: Link, far: End) -> Connection {
    let addresses = plan.addresses();
    let is_lower = matches!(link, Link::Fabric { lower, .. } if lower == switch);
    let (own, other) =
        if is_lower { (CableEnd::Lower, CableEnd::Upper) } else { (CableEnd::Upper, CableEnd::Lower) };
    let address = addresses.link(link, own);
    let far_address = addresses.link(link, other);
    Connection {
        link,
        cable: plan.fabric().cable(link).clone(),
        drained: plan.fabric().is_drained(link),
        isolated: plan.fabric().is_isolated(link),
        address: Prefix::new_assert(address, AddressPlan::LINK_PREFIX),
        unnumbered: plan.topology().routing.speaks_bgp() && matches!(far, End::Switch { .. }),
        peer: match far {
            End::Switch { switch, port } => Peer::Switch(switch_peer(plan, switch, port, far_address)),
            End::Nic(port) => Peer::Nic(nic_peer(plan, port, far_address)),
        },
    }
}

fn switch_peer(plan: &Plan, far: Switch, port: PortRef, address: Address) -> SwitchPeer {
    let topology = plan.topology();
    let addresses = plan.addresses();
    SwitchPeer {
        switch: far,
        name: topology.naming.switch(far),
        port: plan.port_name(far, port),
        hardware: hardware(topology, far),
        address,
        mac: (!plan.os(far).has_own_macs()).then(|| addresses.switch_mac(far)),
        loopback: addresses.loopback(far),
        management: addresses.management(far).map(|net| -> IpAddr { net.addr() }),
    }
}

fn nic_peer(plan: &Plan, port: NicPort, address: Address) -> NicPeer {
    let topology = plan.topology();
    let addresses = plan.addresses();
    let (node, number) = topology.node_of(port.nic);
    let mut nics = (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(node, number));
    let first = nics.find(|nic| plan.fabric().has_nic(*nic)).unwrap_or(port.nic);
    NicPeer {
        port,
        node: topology.naming.node(node),
        name: SmolStr::from(topology.naming.nic_port(node, number, port.plane)),
        interface: port_name::interface(number, port.plane),
        address,
        mac: addresses.nic_mac(port),
        inner: addresses.nic(port.nic),
        node_source: addresses.nic(first),
    }
}
