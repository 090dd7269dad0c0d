//! Addresses of existing elements: `grow` and `diff` report exactly the differences between the devices of
//! both plans.
//!
//! Addresses are read from the intents of switches, not by the crate's own comparison.

use std::collections::BTreeMap;

use closc_artefacts::Routing;
use closc_diff::grow::WorkOrder;
use closc_diff::{AddressKind, ChangedFamily, Difference, Options, Report, RolloutMode, Side, judge};
use closc_plan::Plan;
use closc_tests::shape::{Shape, any_routing, plan, three_tiers, try_plan, two_tiers, with_ipv4};
use proptest::prelude::*;

fn side(source: &str) -> Side {
    Side { source: source.into(), fabric: "shape".into(), digest: source.into() }
}

/// Returns the addresses of switches, cables and NICs, by kind and name.
fn addresses(plan: &Plan) -> BTreeMap<(AddressKind, String), String> {
    let mut found = BTreeMap::new();
    for switch in plan.switches() {
        let intent = plan.device(switch);
        let name = intent.name.to_string();
        found.insert((AddressKind::Loopback, name.clone()), intent.system.loopback.to_string());
        for connection in intent.ports.iter().filter_map(|port| port.connection.as_ref()) {
            if !connection.unnumbered {
                let key = (AddressKind::Cable, format!("{name} {}", plan.link_name(connection.link)));
                found.insert(key, connection.address.to_string());
            }
        }
    }
    for nic in plan.fabric().nics() {
        let (node, number) = plan.topology().node_of(nic);
        let name = plan.topology().naming.nic(node, number);
        found.insert((AddressKind::Nic, name), plan.addresses().nic(nic).to_string());
    }
    found
}

/// Returns the addresses of interfaces by device and port.
fn interfaces(plan: &Plan) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for switch in plan.switches() {
        let intent = plan.device(switch);
        for port in &intent.ports {
            if let Some(connection) = port.connection.as_ref().filter(|own| !own.unnumbered) {
                let key = (intent.name.to_string(), port.physical.name.to_string());
                found.insert(key, connection.address.to_string());
            }
        }
    }
    found
}

/// Counts the addresses of both plans that differ, by kind. A cable has an address at each end that is on a
/// switch.
fn count_differing(old: &Plan, new: &Plan) -> BTreeMap<AddressKind, usize> {
    let (before, after) = (addresses(old), addresses(new));
    let mut found = BTreeMap::new();
    for (key, address) in &before {
        if after.get(key).is_some_and(|other| other != address) {
            *found.entry(key.0).or_insert(0) += 1;
        }
    }
    found
}

fn check(old: &Plan, new: &Plan) -> Result<(), TestCaseError> {
    let order = WorkOrder::compare(old, new);
    let differing = count_differing(old, new);
    for kind in [AddressKind::Nic, AddressKind::Loopback] {
        let named = order.addresses.kinds.iter().find(|found| found.kind == kind);
        prop_assert_eq!(
            named.map_or(0, |found| found.changed as usize),
            differing.get(&kind).copied().unwrap_or(0)
        );
        prop_assert!(named.is_none_or(|found| found.addresses.len() as u64 == found.changed));
    }
    let cables = order.addresses.kinds.iter().any(|found| found.kind == AddressKind::Cable);
    prop_assert_eq!(cables, differing.contains_key(&AddressKind::Cable));
    if !order.is_renumbering() {
        let (before, after) = (interfaces(old), interfaces(new));
        let other = before.iter().find(|(port, own)| after.get(*port).is_some_and(|other| other != *own));
        prop_assert_eq!(other, None);
    }
    if !differing.is_empty() {
        let difference = Difference::compare(old.fabric(), new.fabric());
        let modes = difference.changes.iter().map(|change| judge(change, old.fabric(), new.fabric()).mode);
        prop_assert!(modes.max().is_some_and(|mode| mode > RolloutMode::NodeByNode), "{:?}", differing);
    }
    Ok(())
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![two_tiers(), three_tiers()].prop_filter("small", |shape| shape.planes <= 6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_changed_address_is_named(
        shape in shapes(), planes in 1..=6u8, by in any::<[u8; 5]>(), routing in any_routing(), ipv4: bool,
    ) {
        let grown = Shape { planes, ..shape.resize(by.map(|by| i32::from(by % 2))) };
        let of = |shape: &Shape| {
            let yaml = shape.yaml_with_routing(routing);
            try_plan(&if ipv4 && !routing.is_source_routed() { with_ipv4(&yaml) } else { yaml })
        };
        if let (Ok(old), Ok(new)) = (of(&shape), of(&grown)) {
            check(&old, &new)?;
        }
    }
}

/// Returns an IPv4 fabric with `count` planes.
fn planes(count: u8, widths: &str) -> Plan {
    plan(&format!(
        "fabric: g\nrouting: ecmp-static\nplanes: {count}\n\
         hosts: {{ groups: 2, per_group: 2, nic: {{ speed: {count}00G, lanes: {count} }} }}\n\
         tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n\
         addresses: {{ hosts: 10.0.0.0/16, links: 100.64.0.0/10, loopbacks: 192.168.0.0/20, widths: {{ {widths} }} }}\n"
    ))
}

#[test]
fn more_planes_renumber_ipv4_unless_their_bits_are_reserved() {
    let (old, new) = (planes(2, "zone: 4"), planes(4, "zone: 4"));
    let order = WorkOrder::compare(&old, &new);
    let kinds: Vec<_> =
        order.addresses.kinds.iter().map(|found| (found.kind, found.changed, found.of)).collect();
    // The plane is between the kind and the rest of an address. So plane 0 keeps its addresses only if their
    // kind is 0.
    assert_eq!(kinds, [(AddressKind::Cable, 8, 16), (AddressKind::Loopback, 4, 8)]);
    let text = order.summary();
    assert!(!text.contains("unchanged"), "{text}");
    let line = "renumber 4 of 8 loopbacks, `p1-t0-001` from 192.168.2.1 to 192.168.1.1\n";
    assert!(text.contains(line), "{text}");
    let reason = "IPv4 addresses have other widths: `addresses.widths.plane` 1 -> 2; set them before the first rollout";
    assert!(text.contains(reason), "{text}");
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options { list: true });
    let lines: Vec<_> =
        report.changes.iter().filter(|line| line.subject == "addresses").map(|line| line.count).collect();
    assert_eq!(lines, [8, 4], "{:#?}", report.changes);
    assert!(!report.rollout.expect("plans have one").steps[0].contains("existing switches do not change"));
    for (less, more) in [(1, 2), (2, 4), (3, 8), (4, 16)] {
        let order = WorkOrder::compare(&planes(less, "plane: 4"), &planes(more, "plane: 4"));
        assert!(!order.is_renumbering(), "{less} to {more}: {:#?}", order.addresses.kinds);
        assert!(order.summary().contains("existing addresses are unchanged\n"));
    }
}

/// Hardware with more ports needs a wider port field in IPv4 addresses, unless the file sets the width.
#[test]
fn larger_hardware_renumbers_ipv4_unless_its_bits_are_reserved() {
    let of = |platform: &str, widths: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 1\n\
             hosts: {{ groups: 4, per_group: 16, nics_per_node: 4, nic: {{ speed: 400G }} }}\n\
             tiers:\n  t0: {{ platform: {platform}, os: sonic, down: {{ count: 16, breakout: 1x400G }}, \
             up: {{ count: 4, breakout: 1x400G }} }}\n  t1: {{ platform: {platform}, os: sonic, down: {{ breakout: 1x400G }} }}\nqos: none\n\
             addresses: {{ hosts: 10.0.0.0/16, links: 100.64.0.0/10, widths: {{ {widths} }} }}\n"
        ))
    };
    let order = |widths: &str| WorkOrder::compare(&of("th3-32x400g", widths), &of("th4-64x400g", widths));
    let changed = order("zone: 4");
    let kinds: Vec<_> = changed.addresses.kinds.iter().map(|found| (found.kind, found.changed)).collect();
    assert_eq!(kinds, [(AddressKind::Nic, 48), (AddressKind::Cable, 60)]);
    let widths: Vec<_> = changed.addresses.widths.iter().map(|width| width.field.as_str()).collect();
    assert_eq!(widths, ["addresses.widths.t0_downlink", "addresses.widths.t0_uplink"]);
    let reserved = order("t0_downlink: 6, t0_uplink: 6");
    assert!(reserved.addresses.is_empty(), "{:#?}", reserved.addresses.kinds);
}

/// With other pools, widths are not the reason.
#[test]
fn another_ip_version_is_the_reason() {
    let v6 = |count: u8| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: {count}\n\
             hosts: {{ groups: 2, per_group: 2, nic: {{ speed: {count}00G, lanes: {count} }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n"
        ))
    };
    for widths in ["", "plane: 4, t0_downlink: 10"] {
        let order = WorkOrder::compare(&v6(2), &planes(2, widths));
        assert!(order.addresses.widths.is_empty(), "{:#?}", order.addresses.widths);
        let of = |field: &str| ChangedFamily { field: field.into(), old: "IPv6".into(), new: "IPv4".into() };
        let pools = ["addresses.hosts", "addresses.links", "addresses.loopbacks"];
        assert_eq!(order.addresses.families, pools.map(of));
        let text = order.summary();
        let reason = "\n`addresses.hosts` changes from IPv6 to IPv4; `addresses.links` changes from IPv6 to IPv4; \
                      `addresses.loopbacks` changes from IPv6 to IPv4\n";
        assert!(text.ends_with(reason), "{text}");
    }
    assert!(
        WorkOrder::compare(&planes(2, ""), &v6(2))
            .summary()
            .contains("`addresses.hosts` changes from IPv4 to IPv6")
    );
}

/// Fields in IPv6 addresses have fixed positions, so only pools and stated widths change them.
#[test]
fn ipv6_is_never_renumbered_by_growth() {
    for routing in [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered] {
        let of = |planes| Shape { planes, ..Shape::SMALL }.plan_with_routing(routing);
        let order = WorkOrder::compare(&of(1), &of(4));
        assert!(order.addresses.is_empty(), "{routing:?}: {:#?}", order.addresses.kinds);
    }
}
