//! Properties of `routing: ecmp-static`. For every hash result, a packet arrives if a path exists, is dropped
//! otherwise, and never loops. Weights follow the remaining capacity.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_artefacts::Routing;
use closc_fabric::Fabric;
use closc_plan::{DeviceIntent, Hop, NextHops, Peer, Plan, Target};
use closc_tests::exceptions::{islands_with_exceptions, shapes_with_exceptions, sparse_shapes};
use closc_tests::shape::{Shape, T2, plan, try_plan};
use closc_topology::{Link, Nic, NicPort, Pins, PlaneId, Switch, TierId};
use num_rational::Ratio;
use proptest::prelude::*;

/// Switches that forward by longest-prefix match, over every next hop of a next-hop group.
struct Walker<'a> {
    plan: &'a Plan,
    devices: BTreeMap<Switch, DeviceIntent<'a>>,
}

/// Number of packet copies by how they ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ends {
    delivered: usize,
    dropped: Vec<Switch>,
}

impl<'a> Walker<'a> {
    fn new(plan: &'a Plan) -> Self {
        Walker { plan, devices: plan.switches().map(|switch| (switch, plan.device(switch))).collect() }
    }

    fn group(&self, at: Switch, to: Nic) -> &[Hop] {
        let address = self.plan.addresses().nic(to);
        let routes = self.devices[&at].routes.iter().filter(|route| route.prefix.contains(&address));
        match routes.max_by_key(|route| route.prefix.prefix_len()).map(|route| &route.target) {
            Some(Target::Ports(hops)) => hops,
            Some(Target::Blackhole) | None => &[],
        }
    }

    /// Sends a copy over every next hop.
    fn flood(&self, at: Switch, to: Nic, passed: usize, ends: &mut Ends) {
        assert!(passed < 5, "{at:?}: forwarding loop of the packet to {to:?}");
        let hops = self.group(at, to);
        if hops.is_empty() {
            ends.dropped.push(at);
        }
        for hop in hops {
            let connection =
                self.devices[&at].ports[hop.port].connection.as_ref().expect("a hop has a cable");
            assert!(hop.weight > 0 && connection.link.plane() == at.plane);
            match &connection.peer {
                Peer::Nic(peer) => {
                    assert_eq!(peer.port.nic, to, "misdelivered");
                    ends.delivered += 1;
                }
                Peer::Switch(peer) => self.flood(peer.switch, to, passed + 1, ends),
            }
        }
    }

    fn ends(&self, from: Nic, plane: PlaneId, to: Nic) -> Ends {
        let mut ends = Ends::default();
        self.flood(from.t0(plane), to, 0, &mut ends);
        ends
    }
}

/// Returns whether a path up and down exists, by trying all of them.
fn is_reachable(plan: &Plan, from: Nic, plane: PlaneId, to: Nic) -> bool {
    let fabric = plan.fabric();
    plan.paths(from, to).filter(|path| path.plane == plane).any(|path| {
        path.hops.iter().all(|hop| fabric.has_link(hop.link))
            && fabric.has_link(Link::Host(NicPort { plane, nic: to }))
    }) || path_exists(plan, from, plane, to)
}

/// Returns whether a path exists, including paths that go up and down over different uplink numbers. Paths of
/// the plan use the same number up and down. With ECMP, every switch chooses its own.
fn path_exists(plan: &Plan, from: Nic, plane: PlaneId, to: Nic) -> bool {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let t1s = |zone| (0..topology.t1_count).map(move |index| Switch { plane, tier: TierId::T1, zone, index });
    let cabled = |lower: Switch, upper: Switch| {
        let count = topology.tier(lower.tier).map_or(0, |tier| tier.parallel);
        (0..count)
            .filter_map(|cable| topology.uplink(lower, upper, cable))
            .any(|up| fabric.has_link(Link::Fabric { lower, up }))
    };
    if from.t0(plane) == to.t0(plane) || !fabric.has_link(Link::Host(NicPort { plane, nic: to })) {
        return false;
    }
    let t2s = || {
        let count = topology.count(TierId::T2);
        (0..count).map(|index| Switch { plane, tier: TierId::T2, zone: closc_topology::ZoneId(0), index })
    };
    t1s(from.zone).filter(|t1| cabled(from.t0(plane), *t1)).any(|up| {
        let mut downs = t1s(to.zone).filter(|t1| cabled(to.t0(plane), *t1));
        if from.zone == to.zone {
            return downs.any(|down| down == up);
        }
        downs.any(|down| t2s().any(|t2| cabled(up, t2) && cabled(down, t2)))
    })
}

/// Remaining share of the cables between two neighbours: those that exist and are in use.
fn cables_left(plan: &Plan, lower: Switch, upper: Switch) -> Ratio<u64> {
    let topology = plan.topology();
    let parallel = topology.tier(lower.tier).map_or(0, |tier| tier.parallel);
    let link = |cable| Some(Link::Fabric { lower, up: topology.uplink(lower, upper, cable)? });
    let links = (0..parallel).filter_map(link);
    let left = links.filter(|link| plan.fabric().has_link(*link) && !plan.fabric().is_drained(*link)).count();
    Ratio::new(left as u64, u64::from(parallel))
}

/// Remaining capacity from a switch to a T0, by definition and one neighbour at a time: the mean over its neighbours.
/// Each contributes the smaller of its remaining cables and the remaining capacity behind it.
fn remaining_capacity(plan: &Plan, at: Switch, to: Switch) -> Ratio<u64> {
    let topology = plan.topology();
    if at.tier == TierId::T1 && at.zone == to.zone {
        return cables_left(plan, to, at);
    }
    let ups = topology.tier(at.tier).map_or(0, |tier| tier.up.count);
    let above = || (0..ups).filter_map(|up| Some(topology.upper(at, up)?.0)).collect::<BTreeSet<Switch>>();
    let t1s = (0..topology.t1_count).map(|index| Switch { tier: TierId::T1, zone: to.zone, index, ..at });
    let next: Vec<(Switch, Ratio<u64>)> = match at.tier {
        TierId::T0 | TierId::T1 => above().into_iter().map(|to| (to, cables_left(plan, at, to))).collect(),
        TierId::T2 => t1s
            .filter(|t1| topology.uplink(*t1, at, 0).is_some())
            .map(|t1| (t1, cables_left(plan, t1, at)))
            .collect(),
    };
    let sum: Ratio<u64> =
        next.iter().map(|(next, cables)| remaining_capacity(plan, *next, to).min(*cables)).sum();
    sum / (next.len() as u64).max(1)
}

/// The capacities used for weights are equal to those of the definition, for every switch and T0 group.
fn capacities_equal_their_definition(plan: &Plan) {
    for at in plan.switches() {
        let mut ways = NextHops::new(plan, at.plane);
        let groups = plan.groups().filter(|group| at.tier != TierId::T0 || *group != (at.zone, at.index));
        for (zone, index) in groups {
            let to = Switch { plane: at.plane, tier: TierId::T0, zone, index };
            let prefix = plan.addresses().group(zone, index);
            // Drained equipment counts only as a last resort.
            let Some((found, false)) = ways.next_hops(at, prefix) else { continue };
            for way in found.iter().filter(|way| way.neighbour != to) {
                let (lower, upper) =
                    if at.tier < way.neighbour.tier { (at, way.neighbour) } else { (way.neighbour, at) };
                let behind = remaining_capacity(plan, way.neighbour, to).min(cables_left(plan, lower, upper));
                assert_eq!(
                    Ratio::new(way.remaining.0, way.remaining.1),
                    behind,
                    "{at:?} over {way:?} to {to:?}"
                );
            }
        }
    }
}

fn check_copies_arrive(plan: &Plan) {
    let walker = Walker::new(plan);
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for plane in plan.topology().plane_ids() {
        for from in nics.iter().filter(|nic| plan.fabric().has_switch(nic.t0(plane))) {
            for to in nics.iter().filter(|to| *to != from) {
                let ends = walker.ends(*from, plane, *to);
                if is_reachable(plan, *from, plane, *to) {
                    assert_eq!(ends.dropped, [], "{from:?} to {to:?} in plane {plane}");
                } else {
                    assert_eq!(ends.delivered, 0, "{from:?} to {to:?} in plane {plane}");
                }
            }
        }
    }
}

/// A NIC sends into exactly the planes that reach another NIC. Drained equipment counts only as a last
/// resort.
fn nics_send_where_planes_lead(plan: &Plan) {
    let exceptions = &plan.topology().exceptions;
    let is_drained = !exceptions.drained_links.is_empty()
        || !exceptions.drained_planes.is_empty()
        || !exceptions.drained_switches.is_empty();
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for host in plan.nodes().map(|node| plan.host(node)) {
        for own in &host.nics {
            for to in nics.iter().filter(|to| **to != own.nic) {
                let address = plan.addresses().nic(*to);
                let route = own.routes.iter().find(|route| route.prefix.contains(&address));
                let over = &route.expect("there is a route to everything").ports;
                let over: Vec<PlaneId> = over.iter().map(|at| own.ports[*at].plane).collect();
                let planes = own.ports.iter().map(|port| port.plane);
                let leads: Vec<PlaneId> =
                    planes.filter(|plane| is_reachable(plan, own.nic, *plane, *to)).collect();
                assert!(over.iter().all(|plane| leads.contains(plane)), "{:?} to {to:?}: {over:?}", own.nic);
                assert!(is_drained || over == leads, "{:?} to {to:?}: {over:?}, not {leads:?}", own.nic);
                assert_eq!(over.is_empty(), leads.is_empty(), "{:?} to {to:?}", own.nic);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn weights_use_the_remaining_capacity(shape in prop_oneof![shapes_with_exceptions(), sparse_shapes()]) {
        capacities_equal_their_definition(&shape.plan_with_routing(Routing::EcmpStatic));
    }

    #[test]
    fn packets_arrive_wherever_a_path_is_left(shape in shapes_with_exceptions()) {
        check_copies_arrive(&shape.plan_with_routing(Routing::EcmpStatic));
    }

    #[test]
    fn packets_arrive_within_islands(shape in islands_with_exceptions()) {
        let plan = shape.plan();
        capacities_equal_their_definition(&plan);
        check_copies_arrive(&plan);
        nics_send_where_planes_lead(&plan);
    }

    #[test]
    fn nics_avoid_planes_without_a_path(shape in shapes_with_exceptions(), with_bgp in any::<bool>()) {
        let routing = if with_bgp { Routing::BgpUnnumbered } else { Routing::EcmpStatic };
        nics_send_where_planes_lead(&shape.plan_with_routing(routing));
    }

    #[test]
    fn packets_with_pins_arrive_wherever_a_path_is_left(shape in shapes_with_exceptions(), seed in any::<u64>()) {
        let plan = shape.plan_with_routing(Routing::EcmpStatic);
        let t0s: Vec<Switch> = plan.switches().filter(|switch| switch.tier == TierId::T0).collect();
        let ups = u64::from(plan.topology().t0.up.count);
        let mut pins = Pins::new();
        for (at, switch) in t0s.iter().enumerate() {
            for nic in plan.fabric().nics().filter(|nic| (nic.zone, nic.group) != (switch.zone, switch.index)) {
                let number = seed.rotate_left(at as u32) ^ u64::from(nic.group) << 8 ^ u64::from(nic.downlink);
                pins.entry(*switch).or_default().insert(nic, (number % ups) as u16);
            }
        }
        let pinned = with_pins(&plan, pins.clone());
        check_copies_arrive(&pinned);
        check_pins_hold(&pinned, &pins);
    }
}

fn with_pins(plan: &Plan, pins: Pins) -> Plan {
    let mut topology = plan.topology().clone();
    topology.ecmp.pins = Arc::new(pins);
    Plan::new(Fabric::new(Arc::new(topology)))
}

/// A pinned packet leaves through its uplink. It uses the next-hop group if every path over that uplink is absent or
/// drained.
fn check_pins_hold(plan: &Plan, pins: &Pins) {
    let walker = Walker::new(plan);
    for (switch, of) in pins {
        for (to, up) in of {
            let link = Link::Fabric { lower: *switch, up: *up };
            let cable =
                |hop: &Hop| walker.devices[switch].ports[hop.port].connection.as_ref().map(|c| c.link);
            let hops: Vec<Option<Link>> = walker.group(*switch, *to).iter().map(cable).collect();
            let upper = plan.fabric().upper_end(link).filter(|_| plan.fabric().has_link(link));
            let leads = upper.is_some_and(|(upper, _)| {
                let mut ends = Ends::default();
                walker.flood(upper, *to, 1, &mut ends);
                // If the NIC has no cable, its T0 drops the packet, but the uplink reaches that T0.
                ends.delivered > 0 || ends.dropped.contains(&to.t0(switch.plane))
            });
            if hops == [Some(link)] {
                assert!(leads, "{switch:?} sends packets for {to:?} to an uplink without a path");
            } else if leads && plan.topology().exceptions.drained_switches.is_empty() {
                let is_drained = plan.fabric().is_drained(link);
                assert!(
                    is_drained || is_plane_drained(plan, link),
                    "{switch:?} does not keep the pin of {to:?}"
                );
            }
        }
    }
}

/// Returns whether the plane of a cable, or any cable of that plane, is drained. A drained path is only a last
/// resort.
fn is_plane_drained(plan: &Plan, link: Link) -> bool {
    let exceptions = &plan.topology().exceptions;
    exceptions.drained_links.iter().any(|drained| drained.plane() == link.plane())
        || exceptions.drained_planes.contains(&link.plane())
}

/// A T0 has lost all uplinks. NICs of other groups avoid its plane when they send to its NICs. Its own NICs
/// use the plane only within their group.
#[test]
fn a_t0_without_uplinks_is_avoided() {
    let mut shape = shape("exceptions: { absent: [\"p0-t0-002--p0-t1-[001-004]\"] }\n");
    (shape.planes, shape.parallel) = (2, 1);
    let plan = shape.plan_with_routing(Routing::EcmpStatic);
    nics_send_where_planes_lead(&plan);
    let routes = |node: usize| {
        let host = plan.host(plan.nodes().nth(node).expect("there is such a node"));
        let routes = host.nics[0].routes.iter();
        routes.map(|route| (route.prefix.to_string(), route.ports.clone())).collect::<Vec<_>>()
    };
    let group = plan.addresses().group(closc_topology::ZoneId(0), 1).to_string();
    let all = plan.topology().addresses.hosts.to_string();
    assert_eq!(routes(0), [(group.clone(), vec![1]), (all.clone(), vec![0, 1])]);
    assert_eq!(routes(2), [(group, vec![0, 1]), (all, vec![1])]);
}

fn shape(exceptions: &str) -> Shape {
    Shape {
        planes: 1,
        groups: 3,
        per_group: 2,
        rails: 1,
        t1: 4,
        parallel: 2,
        t2: None,
        exceptions: exceptions.to_owned(),
    }
}

/// Ports and weights of the route from the first T0 to a group.
fn next_hops(plan: &Plan, group: u16) -> Vec<(String, u16)> {
    let walker = Walker::new(plan);
    let from = plan.switches().next().expect("a T0");
    let to = Nic { zone: closc_topology::ZoneId(0), group, downlink: 0 };
    let name = |hop: &Hop| (walker.devices[&from].ports[hop.port].description.clone(), hop.weight);
    walker.group(from, to).iter().map(name).collect()
}

fn weights(plan: &Plan, group: u16) -> Vec<u16> {
    next_hops(plan, group).into_iter().map(|(_, weight)| weight).collect()
}

/// Without losses, a T0 needs a single upward route.
#[test]
fn a_complete_fabric_needs_one_upward_route() {
    let plan = shape("").plan_with_routing(Routing::EcmpStatic);
    let t0 = plan.device(plan.switches().next().expect("a T0"));
    let prefixes: Vec<String> = t0.routes.iter().map(|route| route.prefix.to_string()).collect();
    assert_eq!(
        prefixes,
        [
            "fd00:c105:1:1::1/128",
            "fd00:c105:1:1::2/128",
            "fd00:c105:1:1::/64",
            "fd00:c105:1::/52",
            "fd00:c105:1::/48"
        ]
    );
    assert_eq!(t0.routes[2].target, Target::Blackhole);
    assert_eq!(t0.routes[4].target, Target::Blackhole);
    assert_eq!(weights(&plan, 1), [1; 8]);
}

/// A T1 with one of two cables left to the destination gets half the weight.
#[test]
fn weights_follow_surviving_capacity() {
    let plan =
        shape("exceptions: { absent: [ p0-t0-002--p0-t1-003 ] }\n").plan_with_routing(Routing::EcmpStatic);
    assert_eq!(weights(&plan, 1), [2, 2, 2, 2, 1, 1, 2, 2]);
    assert_eq!(weights(&plan, 2), [1; 8], "other groups are not affected");
    let both = "exceptions: { absent: [ p0-t0-002--p0-t1-003, p0-t0-002--p0-t1-003#2 ] }\n";
    let plan = shape(both).plan_with_routing(Routing::EcmpStatic);
    assert_eq!(weights(&plan, 1), [1; 6], "a T1 without a cable to the group is omitted");
    assert!(next_hops(&plan, 1).iter().all(|(to, _)| !to.starts_with("p0-t1-003:")));
}

/// FRR cannot weight static routes. Three T1s with full capacity carry more than four T1s if one of them has half its
/// capacity.
#[test]
fn without_weights_a_half_t1_is_omitted() {
    let exceptions = "exceptions: { absent: [ p0-t0-002--p0-t1-003 ] }\n";
    let routed =
        shape(exceptions).yaml().replace("os: linux }", "os: frr }").replace("os: linux,", "os: frr,");
    let plan = plan(&routed.replace("tiers:", "routing: ecmp-static\ntiers:"));
    assert_eq!(weights(&plan, 1), [1; 6]);
}

#[test]
fn drained_equipment_is_the_last_resort() {
    let drained = "exceptions: { drained: [ p0-t1-001, p0-t0-003--p0-t1-002 ] }\n";
    let plan = shape(drained).plan_with_routing(Routing::EcmpStatic);
    assert_eq!(weights(&plan, 1), [1; 6]);
    assert!(next_hops(&plan, 1).iter().all(|(to, _)| !to.starts_with("p0-t1-001:")));
    let all = "exceptions: { drained: [ p0-t0-002 ] }\n";
    let plan = shape(all).plan_with_routing(Routing::EcmpStatic);
    assert_eq!(weights(&plan, 1), [1; 8], "a drained T0 can be reached until it is gone");
    check_copies_arrive(&plan);
}

/// Two of three T2s lost one of two T1s of the other zone.
#[test]
fn a_loss_behind_the_third_tier_is_weighed_at_the_first() {
    let t2 = T2 { zones: 2, steps: 3, parallel: 1, rows: 0, node_zones: 1 };
    let exceptions = "exceptions: { absent: [ z1-p0-t1-002--p0-t2-001, z1-p0-t1-002--p0-t2-003 ] }\n";
    let shape = Shape { t1: 2, parallel: 1, t2: Some(t2), ..shape(exceptions) };
    let plan = shape.plan_with_routing(Routing::EcmpStatic);
    let walker = Walker::new(&plan);
    let far = Nic { zone: closc_topology::ZoneId(1), group: 0, downlink: 0 };
    let t1 = plan.switches().find(|switch| switch.tier == TierId::T1).expect("a T1");
    let hops: Vec<u16> = walker.group(t1, far).iter().map(|hop| hop.weight).collect();
    assert_eq!(hops, [1, 2, 1]);
    check_copies_arrive(&plan);
}

/// Meta's pinning: the downlink of the destination selects the uplink. Destinations that the uplink does not
/// reach use the next-hop group.
#[test]
fn pins_take_their_uplink_while_it_leads_there() {
    let pinned = |exceptions: &str| {
        let yaml = shape(exceptions).yaml().replace("parallel: 2", "parallel: 1").replace("up: 8", "up: 3");
        plan(&yaml.replace("tiers:", "routing: ecmp-static\necmp: { pin: downlink }\ntiers:"))
    };
    let uplink = |plan: &Plan, group: u16, downlink: u16| -> Vec<String> {
        let walker = Walker::new(plan);
        let from = plan.switches().next().expect("a T0");
        let to = Nic { zone: closc_topology::ZoneId(0), group, downlink };
        let hops = walker.group(from, to).iter();
        hops.map(|hop| walker.devices[&from].ports[hop.port].description.clone()).collect()
    };
    let whole = pinned("");
    assert_eq!(uplink(&whole, 1, 0), ["p0-t1-001:eth1"]);
    assert_eq!(uplink(&whole, 2, 1), ["p0-t1-002:eth1"]);
    check_copies_arrive(&whole);
    let cut = pinned("exceptions: { absent: [ p0-t0-002--p0-t1-001 ] }\n");
    assert_eq!(uplink(&cut, 1, 0), ["p0-t1-002:eth1", "p0-t1-003:eth1"], "the remaining uplinks");
    assert_eq!(uplink(&cut, 1, 1), ["p0-t1-002:eth1"]);
    assert_eq!(uplink(&cut, 2, 0), ["p0-t1-001:eth1"], "other groups keep their pin");
    check_copies_arrive(&cut);
}

/// A pin in the fabric file uses its uplink even if less capacity remains there. It takes precedence over
/// `pin: downlink`.
#[test]
fn pins_of_the_file_take_any_uplink_that_leads_there() {
    let base = |lines: &str| {
        let yaml = shape("exceptions: { absent: [ p0-t0-002--p0-t1-003 ] }\n").yaml();
        plan(&yaml.replace("tiers:", &format!("routing: ecmp-static\n{lines}tiers:")))
    };
    let from = |plan: &Plan| plan.switches().next().expect("a T0");
    for lines in ["", "ecmp: { pin: downlink }\n"] {
        let plan = base(lines);
        let to = |group, downlink| Nic { zone: closc_topology::ZoneId(0), group, downlink };
        let of = [(to(1, 0), 4), (to(1, 1), 7), (to(2, 1), 5)].into();
        let plan = with_pins(&plan, [(from(&plan), of)].into());
        let walker = Walker::new(&plan);
        let taken = |nic: Nic| -> Vec<(String, u16)> {
            let name =
                |hop: &Hop| (walker.devices[&from(&plan)].ports[hop.port].description.clone(), hop.weight);
            walker.group(from(&plan), nic).iter().map(name).collect()
        };
        // Uplinks 4 and 5 lead to the third T1, which has one of two cables left to the second group.
        assert_eq!(taken(to(1, 0)), [("p0-t1-003:eth1".to_owned(), 1)], "{lines}");
        assert_eq!(taken(to(1, 1)), [("p0-t1-004:eth2".to_owned(), 1)], "{lines}");
        assert_eq!(taken(to(2, 1)), [("p0-t1-003:eth2".to_owned(), 1)], "{lines}");
        check_copies_arrive(&plan);
    }
}

/// Port, remaining capacity and weight of each candidate.
type Values = Vec<(usize, (u64, u64), u16)>;

/// Routes of IPv4 fabrics have the same candidates and capacities as those of IPv6 ones.
#[test]
fn next_hops_are_found_for_ipv4_prefixes() {
    let yaml = shape("exceptions: { absent: [ p0-t0-002--p0-t1-003 ] }\n").yaml();
    let yaml = yaml.lines().filter(|line| !line.starts_with("srv6:")).collect::<Vec<_>>().join("\n");
    let yaml = yaml.replace("tiers:", "routing: ecmp-static\ntiers:");
    let of_ipv4 = yaml.replace("addresses: {", "addresses: { hosts: 10.0.0.0/16,");
    assert_ne!(yaml, of_ipv4);
    let found = |plan: &Plan| -> Vec<Option<Values>> {
        let at = plan.switches().next().expect("a T0");
        let mut next_hops = NextHops::new(plan, at.plane);
        let prefixes = plan.groups().skip(1).map(|(zone, group)| plan.addresses().group(zone, group));
        let values = |hop: closc_plan::NextHop| (hop.port, hop.remaining, hop.weight);
        let hops = |prefix| Some(next_hops.next_hops(at, prefix)?.0.into_iter().map(values).collect());
        prefixes.map(hops).collect()
    };
    let of_ipv6 = found(&plan(&yaml));
    assert!(of_ipv6.iter().all(Option::is_some));
    assert_eq!(found(&plan(&of_ipv4)), of_ipv6);
}

/// The pool, a zone and its only T0 group have different routes, so they need different prefixes. With every accepted
/// pool length, no switch has two routes to one prefix.
#[test]
fn prefixes_of_a_switch_differ() {
    let fabric = |zones: u16, groups: u16, length: u8, more: &str| {
        let t2 = if zones > 1 {
            ", up: 2 }\n  t2: { platform: linux, os: linux, ports_per_zone: 2 }"
        } else {
            " }"
        };
        format!(
            "fabric: ip\nplanes: 1\nzones: {zones}\nrouting: ecmp-static\n\
             hosts: {{ groups: {groups}, per_group: 4, nic: {{ speed: 100G, lanes: 1 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: linux, up: 2 }}\n  t1: {{ platform: linux, os: linux{t2}\n\
             addresses: {{ hosts: 10.0.0.0/{length} }}\nqos: none\n{more}"
        )
    };
    for (zones, groups) in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)] {
        let cable = if zones > 1 { "z0-p0-t0-001--z0-p0-t1-002" } else { "p0-t0-001--p0-t1-002" };
        for more in [String::new(), format!("exceptions: {{ absent: [{cable}] }}\n")] {
            let mut accepted = 0;
            for length in 8..32 {
                let Ok(plan) = try_plan(&fabric(zones, groups, length, &more)) else { continue };
                accepted += 1;
                for switch in plan.switches() {
                    let device = plan.device(switch);
                    let prefixes: BTreeSet<_> = device.routes.iter().map(|route| route.prefix).collect();
                    assert_eq!(
                        prefixes.len(),
                        device.routes.len(),
                        "{zones} zones of {groups} groups, /{length}, {switch:?}: {:?}",
                        device.routes
                    );
                }
            }
            assert!(accepted > 8, "{zones} zones of {groups} groups: {accepted} lengths are accepted");
        }
    }
}
