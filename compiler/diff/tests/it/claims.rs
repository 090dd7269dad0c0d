//! Compares the addresses and names that `grow` and `diff` report with the devices of both plans.

use std::collections::BTreeMap;

use closc_diff::grow::{Action, WorkOrder};
use closc_diff::{AddressKind, Options, Report, Side};
use closc_plan::Plan;
use closc_tests::shape::plan;

fn report(old: &Plan, new: &Plan) -> Report {
    let side = |source: &str| Side { source: source.into(), fabric: "g".into(), digest: source.into() };
    Report::of_plans((old, side("old")), (new, side("new")), Options { list: true })
}

/// Returns the lines of a report, each with subject, text and warning.
fn changes(old: &Plan, new: &Plan) -> Vec<String> {
    let line = |line: &closc_diff::Line| {
        let warning = line.warning.as_ref().map(|warning| format!(" ({warning})")).unwrap_or_default();
        format!("{} {}{warning}", line.subject, line.text)
    };
    report(old, new).changes.iter().map(line).collect()
}

/// Returns a fabric with the given number of zones, T0 settings, address widths, and further fields.
fn fabric(zones: u8, t0: &str, widths: &str, more: &str) -> Plan {
    let (up, t2) = if zones > 1 { (", up: 2", "\n  t2: { platform: linux, os: frr }") } else { ("", "") };
    plan(&format!(
        "fabric: g\nrouting: ecmp-static\nplanes: 2\nzones: {zones}\n\
         hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
         tiers:\n  t0: {{ platform: linux, os: frr, {t0} }}\n  t1: {{ platform: linux, os: frr{up} }}{t2}\nqos: none\n\
         addresses: {{ hosts: 2001:db8:1000::/36, links: 2001:db8:2000::/36, loopbacks: 2001:db8:3000::/48, \
         management: 10.64.0.0/12, widths: {{ {widths} }} }}\n{more}"
    ))
}

fn count(order: &WorkOrder, kind: AddressKind) -> Option<(u64, u64)> {
    let found = order.addresses.kinds.iter().find(|found| found.kind == kind)?;
    Some((found.changed, found.of))
}

/// Zone 0 has the same addresses with any width of the zone field.
#[test]
fn another_width_of_the_zone_renumbers_the_nics_of_other_zones() {
    let (old, new) = (fabric(2, "up: 2", "zone: 4", ""), fabric(2, "up: 2", "zone: 5", ""));
    let order = WorkOrder::compare(&old, &new);
    assert_eq!(count(&order, AddressKind::Nic), Some((4, 8)));
    assert_eq!(count(&order, AddressKind::NicMac), Some((8, 16)));
    let text = order.summary();
    assert!(
        text.contains("renumber 8 of 16 MAC addresses of NIC ports, `z1-su001-n001/nic0.p0` from"),
        "{text}"
    );
    assert!(!text.contains("addresses.widths.zone"), "{text}");
    let found = changes(&old, &new);
    assert!(found.iter().any(|line| line.starts_with("addresses renumbers 4 of 8 NICs")), "{found:#?}");
    assert!(found.iter().all(|line| !line.contains("all 8 NICs")), "{found:#?}");
}

/// Returns a fabric of SONiC switches with one zone in two tiers, or two zones in three.
fn sonic(zones: u8, routing: &str, addresses: &str, width: &str) -> Plan {
    let (up, t2) =
        if zones > 1 { (", up: 4", "\n  t2: { platform: th5-64x800g, os: sonic }") } else { ("", "") };
    plan(&format!(
        "fabric: g\nrouting: {routing}\nplanes: 2\nzones: {zones}\n\
         hosts: {{ groups: 4, per_group: 4, nics_per_node: 2, nic: {{ speed: 800G }} }}\n\
         tiers:\n  t0: {{ platform: th5-64x800g, os: sonic, down: {{ count: 4, breakout: 2x400G }}, up: 4 }}\n  \
         t1: {{ platform: th5-64x800g, os: sonic{up} }}{t2}\n\
         cables: {{ t0-t1: {{ length: 30m, medium: dr8 }}, nic-t0: {{ length: 2m, medium: dac }} }}\nqos: none\n\
         addresses: {{ {addresses}widths: {{ {width} }} }}\n"
    ))
}

/// Returns what files of switches are made from: routes, neighbours, addresses, and settings of BGP.
fn intents(plan: &Plan) -> Vec<String> {
    let text = |switch| {
        let intent = plan.device(switch);
        format!("{:?} {:?} {:?} {:?}", intent.system, intent.routes, intent.bgp, intent.ports.len())
    };
    plan.switches().map(text).collect()
}

/// A width of the zone changes addresses, routes or nothing, by routing and pool. The rollout says which.
#[test]
fn another_width_of_the_zone_is_judged_by_its_effect() {
    const V4: &str = "hosts: 10.0.0.0/8, links: 100.64.0.0/10, loopbacks: 192.168.0.0/16, ";
    const MANAGEMENT: &str = "management: 172.16.0.0/12, ";
    let none = "hitless: no address changes";
    for (zones, routing, addresses, index, step, differs) in [
        (
            1,
            "ecmp-static",
            "",
            "",
            "not hitless, drain plane by plane (T0): the prefix of a zone gets another length",
            true,
        ),
        (1, "bgp-unnumbered", "", "", none, false),
        (1, "srv6-static", "", "", "hitless: no address changes; only path tables state the width", false),
        (1, "ecmp-static", V4, "", none, false),
        (1, "bgp-unnumbered", MANAGEMENT, "", none, false),
        (1, "bgp-unnumbered", MANAGEMENT, ", index: 9", "hitless: only management addresses change", true),
        (2, "ecmp-static", "", "", "not hitless, the whole fabric stops: the zone moves to other bits", true),
        (2, "ecmp-static", V4, "", none, false),
        (
            2,
            "bgp-unnumbered",
            V4,
            "",
            "not hitless, drain plane by plane (T2): no address changes, but T2s accept",
            true,
        ),
    ] {
        let of = |width: u8| sonic(zones, routing, addresses, &format!("zone: {width}{index}"));
        let (old, new) = (of(4), of(5));
        let case = format!("{zones} {routing} {addresses} {index}");
        assert_eq!(intents(&old) != intents(&new), differs, "{case}");
        let steps = report(&old, &new).rollout.expect("plans have one").steps;
        assert!(steps.len() == 1 && steps[0].starts_with(step), "{case}: {steps:#?}");
        let order = WorkOrder::compare(&old, &new);
        let is_limit = step.contains("T2s accept");
        assert_eq!(order.is_renumbering(), differs && !is_limit, "{case}: {}", order.summary());
    }
}

#[test]
fn what_changes_no_address_renumbers_nothing() {
    let old = fabric(1, "up: 2", "zone: 4", "");
    // The first zone has the same management addresses with any width of the index.
    for new in [
        fabric(1, "up: 2", "zone: 4, index: 9", ""),
        fabric(1, "up: { count: 2, first_cage: 100 }", "zone: 4", ""),
    ] {
        let order = WorkOrder::compare(&old, &new);
        assert!(!order.is_renumbering(), "{}", order.summary());
        assert!(order.summary().contains("existing addresses are unchanged\n"), "{}", order.summary());
        let found = changes(&old, &new);
        assert!(found.iter().all(|line| !line.contains("renumbers")), "{found:#?}");
    }
}

#[test]
fn renamed_devices_are_counted() {
    let old = fabric(1, "up: 2", "", "");
    let naming = "naming: { t0: \"leaf-{plane}-{index:03}\", t1: \"spine-{plane}-{index:03}\", node: \"gpu-{unit}-{node}\" }\n";
    let new = fabric(1, "up: 2", "", naming);
    let order = WorkOrder::compare(&old, &new);
    let renamed: Vec<_> = order.renamed.iter().map(|own| (own.kind, own.renamed, own.of)).collect();
    assert_eq!(renamed, [("T0", 4, 4), ("T1", 4, 4), ("node", 4, 4)]);
    let text = order.summary();
    assert!(text.contains("rename 4 of 4 T0s, `p0-t0-001` to `leaf-0-001`\n"), "{text}");
    assert!(!text.contains("naming") && !text.contains("unchanged"), "{text}");
    assert!(!order.is_empty() && order.is_renumbering());
    // New nodes and switches do not have an old name.
    let larger = plan(
        "fabric: g\nrouting: ecmp-static\nplanes: 2\n\
         hosts: { groups: 3, per_group: 2, nic: { speed: 200G, lanes: 2 } }\n\
         tiers:\n  t0: { platform: linux, os: frr, up: 2 }\n  t1: { platform: linux, os: frr }\nqos: none\n\
         naming: { node: \"gpu-{unit}-{node}\" }\n",
    );
    let found = changes(&old, &larger);
    assert!(found.iter().any(|line| line.starts_with("naming.node 4 nodes renamed")), "{found:#?}");
}

/// Returns the addresses of interfaces by device and port, from the intents of switches.
fn interfaces(plan: &Plan) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for switch in plan.switches() {
        let intent = plan.device(switch);
        for port in &intent.ports {
            if let Some(connection) = &port.connection {
                let key = (intent.name.to_string(), port.physical.name.to_string());
                found.insert(key, connection.address.to_string());
            }
        }
    }
    found
}

/// With fewer parallel cables, T1 ports get other cables, and therefore other addresses.
#[test]
fn interfaces_of_moved_cables_are_renumbered() {
    let (old, new) = (fabric(1, "up: 8, parallel: 4", "", ""), fabric(1, "up: 4, parallel: 2", "", ""));
    let order = WorkOrder::compare(&old, &new);
    let (before, after) = (interfaces(&old), interfaces(&new));
    let differ =
        before.iter().filter(|(key, address)| after.get(*key).is_some_and(|other| other != *address));
    let differ = differ.count() as u64;
    assert!(differ > 0);
    let (changed, of) = count(&order, AddressKind::UpperInterface).expect("interfaces change");
    // The total contains interfaces that keep their cable.
    let is_kept = |key: &&(String, String)| key.0.contains("-t1-") && after.contains_key(*key);
    assert_eq!((changed, of), (differ, before.keys().filter(is_kept).count() as u64));
    assert!(changed < of);
    let text = order.summary();
    assert!(text.contains(&format!("renumber {changed} of {of} interfaces of T1s and T2s")), "{text}");
    assert!(!text.contains("unchanged"), "{text}");
}

/// The reason for a changed ratio names the side (downlinks or uplinks) that differs.
#[test]
fn oversubscription_names_the_side_that_changes() {
    let fabric = |per_group: u16| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 1\n\
             hosts: {{ groups: 2, per_group: {per_group}, nic: {{ speed: 100G, lanes: 1 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n"
        ))
    };
    let found = changes(&fabric(2), &fabric(4));
    let line = "tiers.t0.oversubscription 1:1 -> 2:1: downlinks of each T0 have 400 Gb/s instead of 200";
    assert!(found.contains(&line.to_owned()), "{found:#?}");
    assert!(found.iter().all(|line| !line.contains("200 Gb/s instead of 200")));
}

/// T0 groups and NICs that a smaller zone does not have are not exceptions.
#[test]
fn a_larger_zone_is_named_as_such() {
    let of = |hosts: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 1\nzones: 2\n\
             hosts: {{ groups: 3, per_group: 2, {hosts}nic: {{ speed: 100G, lanes: 1 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr, up: 2 }}\n  \
             t2: {{ platform: linux, os: frr }}\nqos: none\n"
        ))
    };
    let subjects = |old: &Plan, new: &Plan| {
        let report = report(old, new);
        let all = report.changes.into_iter().map(|line| line.subject);
        all.filter(|subject| subject.contains('.')).collect::<std::collections::BTreeSet<String>>()
    };
    let (one, two) = (of("groups_by_zone: { 1: 1 }, "), of("groups_by_zone: { 1: 2 }, "));
    for (old, new) in [(&one, &two), (&two, &one), (&one, &of(""))] {
        let found = subjects(old, new);
        assert!(found.contains("hosts.groups_by_zone") && !found.contains("exceptions.absent"), "{found:?}");
    }
    let found = subjects(&of("per_group_by_zone: { 1: 1 }, "), &of(""));
    assert!(found.contains("hosts.per_group_by_zone") && !found.contains("exceptions.absent"), "{found:?}");
}

/// Positions that smaller zones keep free are counted, and not named: neither fabric has them.
#[test]
fn devices_in_neither_fabric_are_not_listed() {
    let of = |zones: u8, hosts: &str, more: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 1\nzones: {zones}\n\
             hosts: {{ per_group: 2, {hosts}, nic: {{ speed: 100G, lanes: 1 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr, up: 2 }}\n  \
             t2: {{ platform: linux, os: frr }}\nqos: none\n{more}"
        ))
    };
    let lines = |old: &Plan, new: &Plan, subject: &str| -> Vec<(String, u64, Vec<String>)> {
        let all = report(old, new).changes.into_iter().filter(|line| line.subject == subject);
        all.map(|line| (line.text, line.count, line.names)).collect()
    };
    let (small, large) = (
        of(2, "groups: 3, groups_by_zone: { 1: 1 }", ""),
        of(2, "groups: 5, groups_by_zone: { 0: 3, 1: 1 }", ""),
    );
    let field = "hosts.groups_by_zone";
    let omits = "omits 8 NICs, 4 T0s that neither fabric has";
    assert_eq!(lines(&small, &large, field), [(omits.to_owned(), 12, Vec::new())]);
    assert_eq!(lines(&large, &small, field), [(format!("no longer {omits}"), 12, Vec::new())]);
    // Another zone with fewer NICs per group.
    let (one, two) = (of(1, "groups: 2", ""), of(2, "groups: 2, per_group_by_zone: { 1: 1 }", ""));
    let omits = "omits 2 NICs that neither fabric has";
    assert_eq!(lines(&one, &two, "hosts.per_group_by_zone"), [(omits.to_owned(), 2, Vec::new())]);
    // A new zone, of which a switch is never built.
    let two = of(2, "groups: 2", "exceptions: { absent: [z1-p0-t1-002] }\n");
    let omits = "omits 1 T1 that neither fabric has";
    assert_eq!(lines(&one, &two, "exceptions.absent"), [(omits.to_owned(), 1, Vec::new())]);
}

/// New pairs that have no path are not denied.
#[test]
fn pairs_without_a_path_are_not_denied() {
    let of = |groups: u16, drained: &str| {
        plan(&format!(
            "fabric: g\nrouting: ecmp-static\nplanes: 2\n\
             hosts: {{ groups: {groups}, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n\
             exceptions: {{ drained: [{drained}] }}\n"
        ))
    };
    let old = of(3, "");
    let denial = "no pair is cut off".to_owned();
    let lines = closc_diff::show::impact(&report(&old, &of(3, "p0-t1-001")));
    assert!(lines.contains(&denial), "{lines:#?}");
    let lines = closc_diff::show::impact(&report(&old, &of(4, "p0-t1-001, p0-t0-004, p1-t0-004")));
    assert!(lines.iter().any(|line| line.contains("with 0 paths")) && !lines.contains(&denial), "{lines:#?}");
}

/// Returns the T0 and port, and the address, of each NIC port, by the name of the NIC port.
fn nic_ports(plan: &Plan) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    for link in plan.fabric().links() {
        let closc_topology::Link::Host(port) = link else { continue };
        let (t0, at) = plan.cable_ends(link).upper;
        found
            .insert(plan.link_name(link), (format!("{t0} {at}"), plan.addresses().nic(port.nic).to_string()));
    }
    found
}

/// With other rails or NICs of a node, a NIC is on another T0 and has another address.
#[test]
fn cables_of_nics_on_other_rails_move() {
    let of = |routing: &str, nics: u8, rails: u8| {
        plan(&format!(
            "fabric: g\nrouting: {routing}\nplanes: 2\n\
             hosts: {{ groups: 4, per_group: 4, nics_per_node: {nics}, rails: {rails}, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n"
        ))
    };
    let kinds = [(4, 4), (4, 2), (4, 1), (8, 4), (2, 2), (1, 1)];
    for (old, new) in kinds.into_iter().flat_map(|old| kinds.map(|new| (old, new))) {
        let (before, after) = (of("ecmp-static", old.0, old.1), of("ecmp-static", new.0, new.1));
        let (ports, new_ports) = (nic_ports(&before), nic_ports(&after));
        let both = || ports.iter().filter_map(|(name, own)| Some((own, new_ports.get(name)?)));
        let moved = both().filter(|(one, other)| one.0 != other.0).count();
        let renumbered = both().filter(|(one, other)| one.1 != other.1).count();
        let order = WorkOrder::compare(&before, &after);
        let jobs = |action| order.jobs.iter().filter(|job| job.action == action).count();
        let counts = (jobs(Action::Move), jobs(Action::Remove), jobs(Action::Add));
        let common = both().count();
        assert_eq!(counts, (moved, ports.len() - common, new_ports.len() - common), "{old:?} {new:?}");
        assert_eq!((order.nics_added, order.nics_removed), (counts.2 / 2, counts.1 / 2), "{old:?} {new:?}");
        // Both planes of a NIC have its address.
        let nics = count(&order, AddressKind::Nic).map_or(0, |(changed, _)| changed);
        assert_eq!(nics as usize * 2, renumbered, "{old:?} {new:?}");
        let text = order.summary();
        assert_eq!(text.contains("no plugged cable moves\n"), moved == 0, "{text}");
        assert_eq!(text.contains("would renumber"), moved + counts.1 > 0, "{old:?} {new:?} {text}");
        let found = changes(&before, &after);
        let line = format!("cables {moved} cables move to other ports (they must be unplugged)");
        assert_eq!(found.contains(&line), moved > 0, "{found:#?}");
    }
}

/// Returns the losses of pairs that both sides have, or their gains: planned paths, fewer and more usable paths, and
/// the number of pairs.
fn changed_paths(old: &Plan, new: &Plan) -> Vec<(u64, u64, u64, u64)> {
    let rows = closc_diff::impact(old.fabric(), new.fabric());
    let both = rows.iter().filter_map(|row| Some((row.old?, row.new?, row.pairs)));
    let row = |(old, new, pairs): (closc_diff::Share, closc_diff::Share, u64)| {
        (old.planned, old.usable.min(new.usable), old.usable.max(new.usable), pairs)
    };
    let mut rows: Vec<_> = both.map(row).collect();
    rows.sort_unstable();
    rows
}

/// A pair whose directions have different paths gains what it lost before.
#[test]
fn a_repair_gains_the_paths_that_the_failure_took() {
    let three_tiers = |more: &str| {
        plan(&format!(
            "fabric: tw\nplanes: 2\nzones: 2\nrouting: bgp-unnumbered\n\
             hosts: {{ groups: 2, per_group: 4, nic: {{ speed: 800G, lanes: 8 }} }}\n\
             tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, up: 4 }}\n\
             \x20 t1: {{ platform: th5-128x400g, os: sonic, up: 4 }}\n\
             \x20 t2: {{ platform: th5-128x400g, os: sonic, ports_per_zone: 4 }}\nqos: none\n{more}"
        ))
    };
    let two_tiers = |more: &str| {
        plan(&format!(
            "fabric: tw\nplanes: 1\nrouting: ecmp-static\n\
             hosts: {{ groups: 2, per_group: 4, nic: {{ speed: 400G, lanes: 4 }} }}\n\
             tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, up: 8, parallel: 2 }}\n\
             \x20 t1: {{ platform: th5-128x400g, os: sonic }}\nqos: none\n{more}"
        ))
    };
    let cases = [
        (three_tiers("exceptions: { absent: [z1-p0-t1-003] }\n"), three_tiers("")),
        (
            three_tiers("exceptions: { absent: [z1-p0-t1-003], drained: [z0-p1-t1-001, z1-p1-t1-002] }\n"),
            three_tiers(""),
        ),
        (two_tiers("exceptions: { absent: [p0-t0-001--p0-t1-003] }\n"), two_tiers("")),
    ];
    for (broken, intact) in &cases {
        let (losses, gains) = (changed_paths(intact, broken), changed_paths(broken, intact));
        assert!(!losses.is_empty());
        assert_eq!(gains, losses);
    }
    let text = closc_diff::show::impact(&report(&cases[2].0, &cases[2].1)).join("\n");
    assert!(text.contains("gain 1 upward path") && !text.contains("keep"), "{text}");
}

/// With zones as planes by NIC, nodes with more NICs get T0s of new zones. Existing NICs keep their places.
#[test]
fn more_nics_per_node_in_new_zones_are_growth() {
    let of = |zones: u8| {
        let nics = 2 * zones;
        plan(&format!(
            "fabric: h1\nplanes: 2\nzones: {zones}\nrouting: ecmp-static\n\
             hosts: {{ groups: 4, per_group: 4, nics_per_node: {nics}, rails: {nics}, zones_per_node: {zones}, \
             nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 4 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n"
        ))
    };
    let (old, new) = (of(2), of(4));
    assert!(report(&old, &new).rollout.expect("plans have one").hitless);
    let order = WorkOrder::compare(&old, &new);
    assert_eq!(order.renumbers, Vec::<String>::new());
    // Other rails move existing NICs to other T0s.
    let other = |rails: u8| {
        plan(&format!(
            "fabric: h1\nplanes: 2\nrouting: ecmp-static\n\
             hosts: {{ groups: 4, per_group: 4, nics_per_node: 4, rails: {rails}, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 4 }}\n  t1: {{ platform: linux, os: frr }}\nqos: none\n"
        ))
    };
    let rollout = report(&other(2), &other(4)).rollout.expect("plans have one");
    assert!(
        !rollout.hitless && rollout.steps.join(" ").contains("NICs belong to other nodes"),
        "{rollout:?}"
    );
}
