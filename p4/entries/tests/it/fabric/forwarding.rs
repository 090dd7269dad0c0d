//! Effect of the entries of random small fabrics on packets. Packets follow every path of the plan over exactly its
//! cables. Packets that a NIC may not send are dropped. Groups have the right weights. The entries are read back from
//! their file.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_entries::{Pipeline, entries_file};
use closc_plan::{DeviceIntent, Hop, Peer, Plan, Target};
use closc_runtime::check;
use closc_tests::shape::{Shape, T2, three_tiers, two_tiers};
use closc_topology::{Link, Nic, Switch};
use proptest::prelude::*;

use crate::fabric::{plan, shape, updates};
use crate::support::{Outcome, State};

/// A switch with its entries loaded.
struct Device<'a> {
    intent: DeviceIntent<'a>,
    state: State<'static>,
}

impl<'a> Device<'a> {
    fn new(intent: DeviceIntent<'a>) -> Self {
        let pipeline = Pipeline::fabric();
        let updates = updates(&intent);
        for update in &updates {
            check::check_update(pipeline.info(), update).expect("every update fits the P4Info");
        }
        let state = State::load(pipeline.info(), &updates);
        Device { intent, state }
    }

    /// Returns the number of the port that a cable is plugged into.
    fn port_of(&self, link: Link) -> u128 {
        let here = |port: &&closc_plan::PortIntent| port.connection.as_ref().is_some_and(|c| c.link == link);
        self.intent.ports.iter().find(here).expect("the cable is plugged in here").physical.number.into()
    }
}

struct Packet {
    source: Ipv6Addr,
    inner_source: Ipv6Addr,
    destination: u128,
}

/// The cable over which a packet left a switch, or the action that dropped it.
type Fate = Result<Link, String>;

/// Forwards one packet through one switch, with its tables in the order of the pipeline.
fn forward(device: &Device<'_>, enters: Link, packet: &mut Packet) -> Fate {
    let state = &device.state;
    let port = device.port_of(enters);
    match state.call("port_role", &[("ingress_port", port)]).action.as_str() {
        "fabric_port" => {}
        "nic_port" => filter_ingress(state, port, packet)?,
        other => return Err(other.to_owned()),
    }
    if state.call("my_sid", &[("sid", packet.destination >> 80)]).action == "un" {
        let bits = packet.destination;
        packet.destination = bits >> 96 << 96 | (bits << 16) & ((1 << 96) - 1);
        if (packet.destination >> 80) as u16 == 0 {
            return Err("next uSID is zero".to_owned());
        }
    }
    let route = state.call("ipv6_route", &[("dst", packet.destination)]);
    if route.action != "set_nexthop_id" {
        return Err(route.action);
    }
    let hop = state.call("nexthop", &[("nexthop_id", route.argument("nexthop_id"))]);
    assert_eq!(hop.action, "set_nexthop", "the next hop of a route exists");
    let port =
        device.intent.ports.iter().find(|port| u128::from(port.physical.number) == hop.argument("port"));
    let connection = port.and_then(|port| port.connection.as_ref()).expect("a next hop leads to a cable");
    let mac = |mac: closc_plan::Mac| mac.0.iter().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    assert_eq!(hop.argument("src_mac"), mac(device.intent.system.mac));
    assert_eq!(
        hop.argument("dst_mac"),
        mac(connection.peer.mac().expect("every neighbour of a P4 switch has a MAC address"))
    );
    Ok(connection.link)
}

fn filter_ingress(state: &State<'_>, port: u128, packet: &Packet) -> Result<(), String> {
    let destination = state.call("nic_destination", &[("dst", packet.destination)]);
    if destination.action != "permit_encapsulated" {
        return Err(destination.action);
    }
    let source = [("ingress_port", port), ("src", packet.source.to_bits())];
    let inner = [("ingress_port", port), ("src", packet.inner_source.to_bits())];
    for (table, key) in [("nic_source", source), ("nic_inner_source", inner)] {
        let call = state.call(table, &key);
        if call.action.starts_with("deny") {
            return Err(call.action);
        }
    }
    Ok(())
}

struct Fabric<'a> {
    plan: &'a Plan,
    devices: BTreeMap<Switch, Device<'a>>,
}

impl<'a> Fabric<'a> {
    fn new(plan: &'a Plan) -> Self {
        let devices = plan.switches().map(|switch| (switch, Device::new(plan.device(switch))));
        Fabric { plan, devices: devices.collect() }
    }

    /// Sends a packet from a NIC. Returns the cables it took, and the action that dropped it, if any.
    fn send(&self, from: Nic, first: Link, packet: &mut Packet) -> (Vec<Link>, Option<String>) {
        let Link::Host(port) = first else { panic!("a NIC sends over its own cable") };
        let (mut at, mut enters, mut cables) = (from.t0(port.plane), first, Vec::new());
        for _ in 0..16 {
            let link = match forward(&self.devices[&at], enters, packet) {
                Ok(link) => link,
                Err(why) => return (cables, Some(why)),
            };
            cables.push(link);
            let port = self.devices[&at].intent.ports.iter().filter_map(|port| port.connection.as_ref());
            match &port.into_iter().find(|connection| connection.link == link).expect("its own cable").peer {
                Peer::Nic(_) => return (cables, None),
                Peer::Switch(peer) => (at, enters) = (peer.switch, link),
            }
        }
        panic!("forwarding loop: {cables:?}")
    }

    fn walk_everything(&self) -> usize {
        let nics: Vec<Nic> = self.plan.fabric().nics().collect();
        let address = |nic: &Nic| self.plan.addresses().nic(*nic).to_ipv6();
        let mut walked = 0;
        for from in &nics {
            for to in nics.iter().filter(|to| *to != from) {
                for path in self.plan.paths(*from, *to) {
                    let mut packet = Packet {
                        source: address(from),
                        inner_source: address(from),
                        destination: path.destination.to_bits(),
                    };
                    let taken = self.send(*from, path.first, &mut packet);
                    let named: Vec<Link> = path.hops.iter().map(|hop| hop.link).collect();
                    assert_eq!(taken, (named, None), "{path:?}");
                    let last = path.hops.last().expect("at least one switch");
                    assert_eq!(packet.destination, last.destination.to_bits());
                    walked += 1;
                }
            }
        }
        walked
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn two_tier_paths_arrive(shape in two_tiers()) {
        let plan = plan(&shape);
        Fabric::new(&plan).walk_everything();
    }

    #[test]
    fn three_tier_paths_arrive(shape in three_tiers()) {
        let plan = plan(&shape);
        Fabric::new(&plan).walk_everything();
    }

    #[test]
    fn the_same_intent_gives_the_same_bytes(shape in two_tiers()) {
        let plan = plan(&shape);
        let switch = plan.switches().next().expect("at least one switch");
        let render = || entries_file(Pipeline::fabric(), &plan.device(switch)).expect("it fits");
        prop_assert_eq!(render(), render());
    }

    /// Routes over several ports: the members of a group have the weights of the route.
    #[test]
    fn weights_are_kept(weights in proptest::collection::vec(0u16..40, 4), other in 1u16..5) {
        let plan = plan(&shape(1, 2, 1, 4));
        let switch = plan.switches().next().expect("at least one switch");
        let mut intent = plan.device(switch);
        let up: Vec<usize> = (0..intent.ports.len()).filter(|port| !intent.ports[*port].is_down()).collect();
        prop_assert_eq!(up.len(), 4);
        let hops: Vec<Hop> =
            up.iter().zip(&weights).map(|(port, weight)| Hop { port: *port, weight: *weight }).collect();
        let doubled = hops.iter().map(|hop| Hop { weight: hop.weight * other, ..*hop }).rev().collect();
        intent.routes[0].target = Target::Ports(hops.clone());
        intent.routes[1].target = Target::Ports(doubled);
        let device = Device::new(intent);
        let forwarding = |route: usize| {
            let prefix = device.intent.routes[route].prefix.network().to_ipv6().to_bits();
            device.state.call("ipv6_route", &[("dst", prefix)])
        };
        let used: Vec<&Hop> = hops.iter().filter(|hop| hop.weight > 0).collect();
        match used.as_slice() {
            [] => prop_assert_eq!(forwarding(0).action, "blackhole"),
            [hop] => {
                prop_assert_eq!(
                    forwarding(0).argument("nexthop_id"),
                    u128::from(device.intent.ports[hop.port].physical.number)
                );
            }
            [..] => {
                // The same shares, so the same group.
                prop_assert_eq!(forwarding(0), forwarding(1));
                let id = forwarding(0).argument("wcmp_group_id");
                let Some(Outcome::Group(group)) = device.state.look("wcmp_group", &[("wcmp_group_id", id)]) else {
                    panic!("group {id} is missing")
                };
                let total: i32 = used.iter().map(|hop| i32::from(hop.weight)).sum();
                let members = device.state.group(group);
                let held: i32 = members.iter().map(|(_, weight)| weight).sum();
                prop_assert_eq!(members.len(), used.len());
                for (hop, (call, weight)) in used.iter().zip(&members) {
                    let number = u128::from(device.intent.ports[hop.port].physical.number);
                    prop_assert_eq!(call.argument("nexthop_id"), number);
                    prop_assert_eq!(weight * total, i32::from(hop.weight) * held);
                }
                prop_assert!(device.state.call("wcmp_hash", &[]).argument("seed") != 0);
            }
        }
    }
}

#[test]
fn packets_arrive_on_all_paths_of_the_eight_plane_lab() {
    let plan = plan(&shape(8, 4, 2, 4));
    // 8 NICs send to 6 others over 8 planes and 4 uplinks, and to 1 in their own group over 8 planes.
    assert_eq!(Fabric::new(&plan).walk_everything(), 8 * (6 * 8 * 4 + 8));
}

/// Seeds of switches differ, which avoids hash polarisation between tiers.
#[test]
fn every_switch_has_a_seed_of_its_own() {
    let plan = plan(&shape(4, 6, 2, 6));
    let seeds: Vec<u128> = plan
        .switches()
        .map(|switch| {
            let mut intent = plan.device(switch);
            intent.routes[0].target =
                Target::Ports(vec![Hop { port: 0, weight: 1 }, Hop { port: 1, weight: 1 }]);
            Device::new(intent).state.call("wcmp_hash", &[]).argument("seed")
        })
        .collect();
    let distinct: std::collections::BTreeSet<&u128> = seeds.iter().collect();
    assert_eq!(distinct.len(), 4 * (6 + 6));
}

#[test]
fn parallel_links_and_rows_arrive() {
    let t2 = T2 { zones: 2, steps: 2, parallel: 2, rows: 8, node_zones: 1 };
    let plan = plan(&Shape { parallel: 2, t2: Some(t2), ..shape(2, 2, 1, 2) });
    assert!(Fabric::new(&plan).walk_everything() > 0);
}

#[test]
fn nic_packets_need_a_path_from_this_switch_and_their_own_source() {
    let plan = plan(&shape(2, 2, 2, 2));
    let fabric = Fabric::new(&plan);
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let path = plan.paths(nics[0], nics[2]).next().expect("a path");
    let own = plan.addresses().nic(nics[0]).to_ipv6();
    let other = plan.addresses().nic(nics[1]).to_ipv6();
    let send = |source, inner_source, destination: u128| {
        fabric.send(nics[0], path.first, &mut Packet { source, inner_source, destination }).1
    };
    let list = path.destination.to_bits();
    assert_eq!(send(own, own, list), None);
    assert_eq!(send(other, own, list).as_deref(), Some("deny_source"));
    assert_eq!(send(own, other, list).as_deref(), Some("deny_inner_source"));
    // A list that begins at another switch, and an address outside of the block.
    let elsewhere = path.hops[0].destination.to_bits();
    assert_eq!(send(own, own, elsewhere).as_deref(), Some("deny"));
    assert_eq!(send(own, own, other.to_bits()).as_deref(), Some("deny"));
    // A segment that no switch has, and a list that ends at the switch.
    let segments = plan.segments();
    let first = segments.switch_usids(path.hops[0].switch).next().expect("one uSID");
    let unknown = segments.address(path.plane, &[first, closc_topology::Usid(0x3fff)]);
    assert_eq!(send(own, own, unknown.to_bits()).as_deref(), Some("blackhole"));
    assert_eq!(
        send(own, own, segments.address(path.plane, &[first]).to_bits()).as_deref(),
        Some("next uSID is zero")
    );
}

/// A Linux node uses one outer source address for all its NICs.
#[test]
fn a_node_may_use_the_address_of_its_first_nic_on_every_nic() {
    let plan = plan(&Shape { rails: 2, ..shape(2, 2, 2, 2) });
    let fabric = Fabric::new(&plan);
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let (first, second) = (plan.topology().nic_of(plan.topology().node_of(nics[0]).0, 0), nics.last());
    let second = *second.expect("a fabric has NICs");
    let node = plan.topology().node_of(second).0;
    let source = plan.addresses().nic(plan.topology().nic_of(node, 0)).to_ipv6();
    let path = plan.paths(second, first).next().expect("a path");
    let inner_source = plan.addresses().nic(second).to_ipv6();
    assert_ne!(source, inner_source);
    let mut packet = Packet { source, inner_source, destination: path.destination.to_bits() };
    assert_eq!(fabric.send(second, path.first, &mut packet).1, None);
}

#[test]
fn absent_cables_have_no_entries() {
    let whole = shape(1, 2, 2, 2);
    let intact = plan(&whole);
    let lower = intact.switches().next().expect("one switch");
    let name = intact.link_name(Link::Fabric { lower, up: 0 });
    let exceptions = format!("exceptions: {{ absent: [{name:?}] }}\n");
    let cut = plan(&Shape { exceptions, ..whole });
    let count = |plan: &Plan, table: &str| Device::new(plan.device(lower)).state.count(table);
    for table in ["port_role", "nexthop", "ipv6_route"] {
        assert_eq!(count(&cut, table) + 1, count(&intact, table), "{table}");
    }
}
