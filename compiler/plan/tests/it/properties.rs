//! Properties of every fabric: addresses are unique, every segment list leads to its NIC over exactly its cables, and
//! growth changes nothing that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use closc_artefacts::{Address, Routing};
use closc_fabric::Shape as Numbers;
use closc_plan::{DeviceIntent, EntropySets, Peer, Plan, Target};
use closc_tests::exceptions::shapes_with_exceptions;
use closc_tests::shape::{Shape, T2, any_routing, by_nic, in_blocks, one_tier, plan, three_tiers, two_tiers};
use closc_topology::{Link, Nic, Switch, TierId};
use proptest::prelude::*;

/// Position of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PacketPosition {
    Switch(Switch),
    Nic(Nic),
}

/// Forwards by intents only: own segments are removed, routes are followed, and all other packets are dropped.
struct Walker<'a> {
    devices: BTreeMap<Switch, DeviceIntent<'a>>,
}

impl<'a> Walker<'a> {
    fn new(plan: &'a Plan) -> Self {
        Walker { devices: plan.switches().map(|switch| (switch, plan.device(switch))).collect() }
    }

    /// Returns the cables used and where the packet ends; `None` if it is dropped.
    fn walk(&self, first: Switch, destination: Ipv6Addr) -> Option<(Vec<Link>, Nic)> {
        let (mut at, mut bits, mut cables) =
            (PacketPosition::Switch(first), u128::from(destination), Vec::new());
        for _ in 0..16 {
            let PacketPosition::Switch(switch) = at else { break };
            let device = self.devices.get(&switch)?;
            let own = &device.srv6.as_ref()?.locators;
            if own.iter().any(|locator| locator.prefix.contains(&Ipv6Addr::from(bits))) {
                bits = bits >> 96 << 96 | (bits << 16) & ((1 << 96) - 1);
            }
            let address = Ipv6Addr::from(bits);
            let route = device
                .routes
                .iter()
                .filter(|route| route.prefix.contains(&Address::from(address)))
                .max_by_key(|route| route.prefix.prefix_len())?;
            let Target::Ports(hops) = &route.target else { return None };
            let connection = device.ports[hops[0].port].connection.as_ref()?;
            cables.push(connection.link);
            at = match &connection.peer {
                Peer::Switch(peer) => PacketPosition::Switch(peer.switch),
                Peer::Nic(peer) => PacketPosition::Nic(peer.port.nic),
            };
        }
        match at {
            PacketPosition::Nic(nic) => Some((cables, nic)),
            PacketPosition::Switch(_) => None,
        }
    }
}

/// Array indices of links and NICs are invertible, those of links are unique, and computed T2s agree with the
/// wiring.
fn indices_agree_with_the_wiring(plan: &Plan) {
    let (fabric, numbers) = (plan.fabric(), Numbers::new(plan.topology()));
    for nic in fabric.nics() {
        assert_eq!(numbers.nic_at(numbers.nic(nic)), nic);
        assert_eq!(numbers.zone(numbers.group(nic.zone, nic.group)), usize::from(nic.zone.0));
    }
    let mut seen = BTreeSet::new();
    for plane in plan.topology().plane_ids() {
        for link in fabric.switch_links(plane) {
            let Link::Fabric { lower, up } = link else { panic!("a link between switches") };
            let place = numbers.place(link).expect("a link between switches has a place");
            assert!(seen.insert((plane, lower.tier, place)), "{link:?}");
            let (upper, _) = fabric.upper_end(link).expect("a link has an upper end");
            if lower.tier == TierId::T0 {
                assert_eq!(numbers.t0_link(plane, place), link);
                continue;
            }
            assert_eq!(numbers.t1_link(plane, place), link);
            let (t1, t2, up) = (usize::from(lower.index), usize::from(upper.index), usize::from(up));
            assert_eq!(numbers.t2_of(t1, up), t2);
            let (t1s, uplinks) = numbers.t2_downlinks(t2);
            for other in 0..numbers.t1_up {
                let reaches = t1s.clone().any(|other| other == t1) && uplinks.contains(&other);
                assert_eq!(reaches, numbers.t2_of(t1, other) == t2, "{lower:?} {other}");
            }
        }
    }
}

fn walk_everything(plan: &Plan) {
    let walker = Walker::new(plan);
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for from in &nics {
        for to in nics.iter().filter(|to| *to != from) {
            for path in plan.paths(*from, *to) {
                let named: Vec<Link> = path.hops.iter().map(|hop| hop.link).collect();
                let walked = walker.walk(from.t0(path.plane), path.destination);
                assert_eq!(walked, Some((named, *to)), "{path:?}");
                assert!(path.list.len() <= 6);
                assert!(path.hops.iter().all(|hop| hop.switch.plane == path.plane));
                let again = plan.path_by_entropy(*from, *to, path.entropy).unwrap();
                assert_eq!(again, path);
            }
        }
    }
}

fn check_addresses_unique(plan: &Plan) {
    let mut seen = BTreeSet::new();
    let mut once = |what: String| assert!(seen.insert(what.clone()), "{what} twice");
    let addresses = plan.addresses();
    // With other routing modes, switches do not use their uSIDs, and those of different zones may be equal.
    let is_source_routed = plan.topology().routing.is_source_routed();
    for switch in plan.switches() {
        once(addresses.loopback(switch).to_string());
        once(addresses.router_id(switch).to_string());
        once(addresses.switch_mac(switch).to_string());
        once(addresses.management(switch).unwrap().to_string());
        once(plan.topology().naming.switch(switch).to_string());
        for usid in plan.segments().switch_usids(switch).filter(|_| is_source_routed) {
            once(format!("usid {}", plan.segments().prefix(switch.plane, usid)));
            assert!((1..=0xdfff).contains(&usid.0));
        }
        for port in plan.device(switch).ports {
            if let Some(connection) = port.connection {
                once(connection.address.addr().to_string());
            }
        }
    }
    for node in plan.nodes() {
        let host = plan.host(node);
        once(host.name.to_string());
        for nic in host.nics {
            once(nic.address.to_string());
            for port in nic.ports {
                once(port.address.addr().to_string());
                once(port.mac.to_string());
            }
        }
    }
}

/// Ports, routes, BGP and SRv6 settings of every switch and the NICs of every node as text, one per line.
fn intent_lines(plan: &Plan) -> BTreeMap<String, BTreeSet<String>> {
    let devices = plan.switches().map(|switch| {
        let device = plan.device(switch);
        let mut lines: BTreeSet<String> = device
            .ports
            .iter()
            .filter(|port| port.connection.is_some())
            .map(|port| format!("{} {:?}", port.physical.name, port.connection))
            .collect();
        for route in &device.routes {
            match &route.target {
                Target::Ports(hops) => lines
                    .extend(hops.iter().map(|hop| {
                        format!("{} over {}", route.prefix, device.ports[hop.port].physical.name)
                    })),
                Target::Blackhole => drop(lines.insert(format!("{} blackhole", route.prefix))),
            }
        }
        if let Some(bgp) = &device.bgp {
            lines.insert(format!("AS {}, {} paths, {:?}", bgp.asn, bgp.multipath, bgp.networks));
            lines.extend(bgp.neighbours.iter().map(|neighbour| {
                let port = &device.ports[neighbour.port].physical.name;
                format!("{port} to AS {} {:?}", neighbour.asn, neighbour.direction)
            }));
        }
        lines.insert(format!("{:?} {:?}", device.system, device.srv6));
        (device.name.to_string(), lines)
    });
    let hosts = plan.nodes().map(|node| {
        let host = plan.host(node);
        (host.name.to_string(), host.nics.iter().map(|nic| format!("{nic:?}")).collect())
    });
    devices.chain(hosts).collect()
}

/// Returns the number of lines that growth added, after checking that it removed none.
fn growth_removes_nothing(before: &Plan, after: &Plan) -> usize {
    let (before, after) = (intent_lines(before), intent_lines(after));
    let mut added = 0;
    for (device, lines) in &before {
        let now = after.get(device).unwrap_or_else(|| panic!("{device} is gone"));
        let gone: Vec<_> = lines.difference(now).collect();
        assert!(gone.is_empty(), "{device} lost {gone:#?}");
        added += now.difference(lines).count();
    }
    added
}

/// Plans a shape. With `blocks`, each plane has its own uSID block, otherwise all planes share one.
fn plan_shape(shape: &Shape, blocks: bool) -> Plan {
    if blocks { plan(&in_blocks(&shape.yaml())) } else { shape.plan() }
}

/// Shapes to which a T1 can be added without moving cables: there are no rows, or a row is free for the new
/// T1.
fn expandable_shapes() -> impl Strategy<Value = Shape> {
    let has_room = |shape: &Shape| shape.t2.as_ref().is_none_or(|t2| t2.rows == 0 || t2.rows > shape.t1);
    prop_oneof![two_tiers(), three_tiers()].prop_filter("a row for another T1", has_room)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn two_tier_lists_walk_to_their_nic(shape in two_tiers(), blocks in any::<bool>()) {
        walk_everything(&plan_shape(&shape, blocks));
    }

    #[test]
    fn three_tier_lists_walk_to_their_nic(shape in three_tiers(), blocks in any::<bool>()) {
        walk_everything(&plan_shape(&shape, blocks));
    }

    #[test]
    fn indices_of_all_tiers_agree_with_the_wiring(shape in prop_oneof![two_tiers(), three_tiers()]) {
        indices_agree_with_the_wiring(&shape.plan());
    }

    #[test]
    fn counts_equal_the_lengths_of_listings(shape in shapes_with_exceptions()) {
        let plan = shape.plan();
        let (fabric, counts) = (plan.fabric(), plan.fabric().counts());
        let tier = |tier| fabric.switches().filter(|switch| switch.tier == tier).count() as u64;
        prop_assert_eq!((counts.t0, counts.t1, counts.t2), (tier(TierId::T0), tier(TierId::T1), tier(TierId::T2)));
        prop_assert_eq!((counts.nics, counts.nodes), (fabric.nics().count() as u64, fabric.nodes().count() as u64));
        let hosts = fabric.links().filter(|link| matches!(link, Link::Host(_))).count() as u64;
        prop_assert_eq!(counts.host_links, hosts);
        prop_assert_eq!(counts.fabric_links, fabric.links().count() as u64 - hosts);
    }

    #[test]
    fn one_tier_has_places_and_addresses_too(shape in one_tier()) {
        let plan = shape.plan();
        indices_agree_with_the_wiring(&plan);
        check_addresses_unique(&plan);
        let group = Shape { groups: shape.groups + u16::from(shape.rails), ..shape.clone() };
        let nic = Shape { per_group: shape.per_group + 1, ..shape.clone() };
        for grown in [group, nic] {
            growth_removes_nothing(&plan, &grown.plan());
        }
        // Adding T1s changes routes, but not names or addresses. Shapes of three planes are skipped, because
        // their files set other address widths once there are T1s.
        let with_t1s = Shape { t1: 2, ..shape.clone() }.plan_with_routing(Routing::EcmpStatic);
        for nic in plan.fabric().nics().filter(|_| shape.planes != 3) {
            prop_assert_eq!(plan.addresses().nic(nic), with_t1s.addresses().nic(nic));
            prop_assert_eq!(plan.topology().node_of(nic), with_t1s.topology().node_of(nic));
        }
    }

    #[test]
    fn planes_by_nic_have_places_and_addresses_too(shape in by_nic(), bgp in any::<bool>()) {
        let routed = |shape: &Shape| {
            shape.plan_with_routing(if bgp { Routing::BgpUnnumbered } else { Routing::EcmpStatic })
        };
        let plan = routed(&shape);
        indices_agree_with_the_wiring(&plan);
        check_addresses_unique(&plan);
        for by in [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]] {
            growth_removes_nothing(&plan, &routed(&shape.resize(by)));
        }
        // T2s change routes, but not names or addresses.
        let t2 = shape.t2.as_ref().map(|t2| T2 { steps: 1, rows: 8, ..t2.clone() });
        let with_t2s = Shape { t2, ..shape.clone() }.plan_with_routing(Routing::EcmpStatic);
        for nic in plan.fabric().nics() {
            prop_assert_eq!(plan.addresses().nic(nic), with_t2s.addresses().nic(nic));
            prop_assert_eq!(plan.topology().node_of(nic), with_t2s.topology().node_of(nic));
        }
        let lower = with_t2s.switches().filter(|switch| switch.tier != TierId::T2);
        for (one, other) in plan.switches().zip(lower) {
            prop_assert_eq!(plan.switch_name(one), with_t2s.switch_name(other));
        }
    }

    #[test]
    fn addresses_are_unique(shape in prop_oneof![two_tiers(), three_tiers()], blocks in any::<bool>()) {
        check_addresses_unique(&plan_shape(&shape, blocks));
    }

    #[test]
    fn ipv4_addresses_are_unique(shape in prop_oneof![two_tiers(), three_tiers()], routing in any_routing()) {
        check_addresses_unique(&shape.plan_with_family(routing, true));
    }

    #[test]
    fn growth_renumbers_nothing(shape in expandable_shapes(), routing in any_routing(), ipv4 in any::<bool>()) {
        let routed = |shape: &Shape| shape.plan_with_family(routing, ipv4);
        let before = routed(&shape);
        let t1 = Shape { t1: shape.t1 + 1, ..shape.clone() };
        let group = Shape { groups: shape.groups + u16::from(shape.rails), ..shape.clone() };
        let nic = Shape { per_group: shape.per_group + 1, ..shape.clone() };
        for grown in [t1, group, nic] {
            growth_removes_nothing(&before, &routed(&grown));
        }
        if let Some(t2) = &shape.t2 {
            let zone = T2 { zones: t2.zones + t2.node_zones, ..t2.clone() };
            let step = T2 { steps: t2.steps + 1, ..t2.clone() };
            for grown in [zone, step] {
                let grown = Shape { t2: Some(grown), ..shape.clone() };
                growth_removes_nothing(&before, &routed(&grown));
            }
        }
    }

    /// If each plane has its own block, growth renumbers nothing, even if a plane is added.
    #[test]
    fn growth_renumbers_nothing_in_blocks(shape in expandable_shapes()) {
        let before = plan_shape(&shape, true);
        let t1 = Shape { t1: shape.t1 + 1, ..shape.clone() };
        let group = Shape { groups: shape.groups + u16::from(shape.rails), ..shape.clone() };
        let nic = Shape { per_group: shape.per_group + 1, ..shape.clone() };
        for grown in [t1, group, nic] {
            growth_removes_nothing(&before, &plan_shape(&grown, true));
        }
        if let Some(t2) = &shape.t2 {
            let zone = T2 { zones: t2.zones + t2.node_zones, ..t2.clone() };
            let step = T2 { steps: t2.steps + 1, ..t2.clone() };
            for grown in [zone, step] {
                let grown = Shape { t2: Some(grown), ..shape.clone() };
                growth_removes_nothing(&before, &plan_shape(&grown, true));
            }
        }
        let plane = plan_shape(&Shape { planes: shape.planes % 16 + 1, ..shape.clone() }, true);
        for switch in before.switches().filter(|switch| plane.fabric().has_switch(*switch)) {
            prop_assert_eq!(before.device(switch).srv6, plane.device(switch).srv6);
        }
    }

    #[test]
    fn entropy_sets_are_equal_in_every_plane_and_disjoint(shape in two_tiers()) {
        let plan = shape.plan();
        for (zone, group) in plan.groups() {
            let sets = EntropySets::new(plan.topology(), zone, group);
            for nic in plan.fabric().group_nics(zone, group) {
                for plane in plan.topology().plane_ids() {
                    let order = sets.order(plane);
                    let (active, backup) = (sets.active(&order, nic), sets.backup(&order, nic));
                    prop_assert_eq!(active.len(), usize::from(sets.active_per_plane()));
                    prop_assert_eq!(backup.len(), usize::from(sets.backup_per_plane()));
                    let all: BTreeSet<_> = active.iter().chain(&backup).map(|c| c.t0).collect();
                    prop_assert_eq!(all.len(), active.len() + backup.len());
                }
            }
        }
    }
}

#[test]
fn one_more_t1_adds_one_port_to_each_t0() {
    let shape = Shape {
        planes: 2,
        groups: 24,
        per_group: 2,
        rails: 1,
        t1: 8,
        parallel: 1,
        t2: None,
        exceptions: String::new(),
    };
    let grown = Shape { t1: 9, ..shape.clone() };
    let added = growth_removes_nothing(&shape.plan(), &grown.plan());
    // Each of 2 x 24 T0s gains one port and one route.
    assert_eq!(added, 96);
    println!("8 spines x 24 leaves x 2 planes, one more T1 per plane: 0 lines removed, {added} added");
}

/// Four T1s of a zone share two rows. Every list reaches its NIC, and more T1s in the rows renumber nothing.
#[test]
fn t1s_share_rows() {
    let t2 = T2 { zones: 2, steps: 2, parallel: 2, rows: 8, node_zones: 1 };
    let shape = Shape {
        planes: 2,
        groups: 2,
        per_group: 1,
        rails: 1,
        t1: 4,
        parallel: 1,
        t2: Some(t2),
        exceptions: String::new(),
    };
    let shared =
        |shape: &Shape| plan(&in_blocks(&shape.yaml()).replace("rows: 8", "rows: 2, ports_per_zone: 8"));
    let before = shared(&shape);
    assert_eq!(before.topology().count(TierId::T2), 4);
    walk_everything(&before);
    indices_agree_with_the_wiring(&before);
    check_addresses_unique(&before);
    let after = shared(&Shape { t1: 6, ..shape.clone() });
    walk_everything(&after);
    assert!(growth_removes_nothing(&before, &after) > 0);
}

/// A segment list of one plane has no route in another plane, so the first switch drops the packet.
#[test]
fn a_list_of_another_plane_dies_at_the_first_switch() {
    let shape = Shape {
        planes: 3,
        groups: 2,
        per_group: 1,
        rails: 1,
        t1: 2,
        parallel: 1,
        t2: Some(T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 }),
        exceptions: String::new(),
    };
    let plan = plan_shape(&shape, true);
    let walker = Walker::new(&plan);
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let mut tried = 0;
    for path in plan.paths(nics[0], nics[3]) {
        let here = path.hops.iter().map(|hop| hop.destination).chain([path.destination]);
        for address in here {
            for switch in plan.switches().filter(|switch| switch.plane != path.plane) {
                assert_eq!(walker.walk(switch, address), None, "{address} at {switch:?}");
                let device = plan.device(switch);
                let matches = |route: &&closc_plan::Route| route.prefix.contains(&Address::from(address));
                assert_eq!(device.routes.iter().find(matches), None, "{address} at {switch:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried} tried");
}

#[test]
fn an_unknown_segment_dies_at_the_first_switch() {
    let shape = Shape::SMALL;
    let plan = shape.plan();
    let walker = Walker::new(&plan);
    let first = plan.switches().next().unwrap();
    // Own uSID, then that of a T1 of the other plane.
    assert_eq!(walker.walk(first, "fcbb:bbbb:1:4801:2:8001::".parse().unwrap()), None);
    assert!(walker.walk(first, "fcbb:bbbb:1:4001:2:8001::".parse().unwrap()).is_some());
}

/// A T0 of a fabric with one tier uses all ports for NICs. Regression: its last NIC had the first address of the next
/// T0's prefix.
#[test]
fn ipv4_addresses_of_a_full_panel_are_unique() {
    let plan = closc_tests::shape::plan(
        "fabric: full
routing: ecmp-static
planes: 1
hosts: { groups: 2, per_group: 32, nics_per_node: 2, rails: 2, nic: { speed: 400G } }
tiers: { t0: { platform: th3-32x400g, os: sonic, down: 32 } }
qos: none
addresses: { hosts: 10.0.0.0/16 }
",
    );
    let mut seen = BTreeSet::new();
    for node in plan.nodes() {
        for nic in plan.host(node).nics {
            assert!(seen.insert(nic.address), "{} twice", nic.address);
        }
    }
    assert_eq!(seen.len(), 64);
}
