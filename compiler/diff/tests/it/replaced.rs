//! Replaced equipment in work orders and reports: switches, NICs and cables of both fabrics.

use closc_diff::grow::{Action, WorkOrder};
use closc_diff::{Options, Report, Side};
use closc_plan::Plan;
use closc_tests::shape::plan;

fn side(source: &str) -> Side {
    Side { source: source.into(), fabric: "s".into(), digest: source.into() }
}

/// Returns a small SONiC fabric of two planes. The arguments are hardware and ports of both tiers, cables,
/// and further keys of the NIC.
fn fabric(tiers: [&str; 2], cables: &str, nic: &str) -> Plan {
    plan(&file(tiers, cables, nic))
}

fn file([t0, t1]: [&str; 2], cables: &str, nic: &str) -> String {
    format!(
        "fabric: s\nrouting: bgp-unnumbered\nplanes: 2\n\
         hosts: {{ groups: 4, per_group: 16, nics_per_node: 4, nic: {{ speed: 800G{nic} }} }}\n\
         tiers:\n  t0: {{ {t0}, os: sonic, parallel: 4 }}\n  t1: {{ {t1}, os: sonic }}\n\
         cables: {{ t0-t1: {{ length: 30m, medium: dr4 }}, nic-t0: {{ length: 3m, medium: dac }} }}\nqos: none\n{cables}"
    )
}

const T0: &str = "platform: th5-64x800g, down: { count: 16, breakout: 2x400G }, up: 16";
const T1: &str = "platform: th5-64x800g";

fn plain() -> Plan {
    fabric([T0, T1], "", "")
}

#[test]
fn replaced_cables_are_jobs() {
    let old = plain();
    let one =
        fabric([T0, T1], "exceptions: { cables: { \"p0-t0-001--p0-t1-001#1\": { length: 50m } } }\n", "");
    let order = WorkOrder::compare(&old, &one);
    let jobs: Vec<_> = order.jobs.iter().map(|job| (job.action, job.length.as_str())).collect();
    assert_eq!(jobs, [(Action::Replace, "50m")]);
    assert!(!order.is_empty());
    let text = order.summary();
    assert!(
        text.contains("replace t0-t1: 1 cable of 30m dr4 with another of 50m dr4, 50m in all\n"),
        "{text}"
    );
    assert!(text.contains("no plugged cable moves\n"), "{text}");
    assert!(order.csv().contains("\nreplace,0,t0-t1,p0-t0-001,"), "{}", order.csv());
    assert!(WorkOrder::compare(&old, &plain()).is_empty());
}

#[test]
fn replaced_switches_are_named_by_tier() {
    let old = plain();
    let order = WorkOrder::compare(&old, &fabric([T0, "platform: arista-7060x6-64de"], "", ""));
    assert!(order.jobs.len() == 128 && order.jobs.iter().all(|job| job.action == Action::Replug));
    let text = order.summary();
    let line = "replace 8 T1s: `th5-64x800g` -> `arista-7060x6-64de`, 128 cables to replug\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn nics_with_other_cages_are_replaced() {
    let old = plain();
    let order = WorkOrder::compare(&old, &fabric([T0, T1], "", ", cages: 2"));
    assert!(!order.is_empty());
    let text = order.summary();
    assert!(text.contains("replace 64 NICs: 800G, 8 lanes, 1 cage -> 800G, 8 lanes, 2 cages\n"), "{text}");
}

/// Ports of other hardware have other names and cages. A cable is plugged into the port of the same number on
/// the new switch, so it does not count as moved. The list of cables contains its old and new port.
#[test]
fn other_hardware_moves_no_cable() {
    let old = plain();
    let t0 = "platform: arista-7060x6-64de, down: { count: 16, breakout: 2x400G }, up: { count: 16 }";
    let new = fabric([t0, "platform: arista-7060x6-64de"], "", "");
    let order = WorkOrder::compare(&old, &new);
    assert_eq!(order.count_unplugged(), 0, "{}", order.summary());
    let replaced: Vec<_> =
        order.switches_replaced.iter().map(|found| (found.switches, found.cables)).collect();
    assert_eq!(replaced, [(8, 256), (8, 128)]);
    // NIC cables have one end in a switch, and other cables have two.
    let replugged: Vec<_> = order.jobs.iter().map(|job| (job.action, job.kind)).collect();
    let count = |kind| replugged.iter().filter(|own| **own == (Action::Replug, kind)).count();
    assert_eq!((count("nic-t0"), count("t0-t1"), replugged.len()), (128, 256, 384));
    assert_eq!(order.csv().lines().filter(|line| line.starts_with("replug,")).count(), 384);
    let text = order.summary();
    assert!(text.contains("replug t0-t1: 128 cables (256 ends to plug into new switches)"), "{text}");
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    assert!(report.changes.iter().all(|line| !line.text.contains("to other ports")), "{:#?}", report.changes);
    // On the same hardware, another cage is a move.
    let cage = T0.replace("up: 16", "up: { count: 16, first_cage: 40 }");
    let order = WorkOrder::compare(&old, &fabric([&cage, T1], "", ""));
    assert_eq!(order.count_unplugged(), 128);
    // The same applies if only the switches at the other end are replaced.
    let order = WorkOrder::compare(&old, &fabric([&cage, "platform: arista-7060x6-64de"], "", ""));
    assert_eq!(order.count_unplugged(), 128);
    assert_eq!(order.jobs.iter().filter(|job| job.action == Action::Replug).count(), 128);
}

/// Two catalogue entries describe the same switch with different breakouts.
#[test]
fn another_port_layout_replaces_no_switch() {
    let old = plain();
    let t0 = "platform: th5-128x400g, down: { count: 16 }, up: { count: 16, breakout: 1x800G }";
    let new = fabric([t0, "platform: th5-128x400g, down: { breakout: 1x800G }"], "", "");
    let order = WorkOrder::compare(&old, &new);
    assert!(order.is_empty(), "{}", order.summary());
    let text = changes(&old, &new).join("\n");
    assert!(!text.contains("replaced:"), "{text}");
    assert!(text.contains("tiers.t0.platform th5-64x800g -> th5-128x400g"), "{text}");
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    let steps = report.rollout.expect("plans have one").steps.join("\n");
    assert!(steps.contains("same hardware") && !steps.contains("replaced"), "{steps}");
}

/// Returns the lines of a report about changes.
fn changes(old: &Plan, new: &Plan) -> Vec<String> {
    let report = Report::of_plans((old, side("old")), (new, side("new")), Options::default());
    report.changes.iter().map(|line| format!("{} {}", line.subject, line.text)).collect()
}

/// Returns the lines of a work order about replaced equipment.
fn replaced(order: &WorkOrder) -> Vec<String> {
    let text = order.summary();
    let is_one = |line: &&str| ["replace", "remove", "plug in"].iter().any(|word| line.starts_with(word));
    text.lines().filter(is_one).map(str::to_owned).collect()
}

fn optical(nic: &str) -> Plan {
    plan(&file([T0, T1], "", nic).replace("3m, medium: dac", "30m, medium: dr4"))
}

/// The plugs of a NIC with two cages have fewer lanes each, so cables and modules are replaced.
#[test]
fn cables_and_modules_of_other_nic_cages_are_replaced() {
    let (old, new) = (optical(""), optical(", cages: 2"));
    let order = WorkOrder::compare(&old, &new);
    let cages = "NIC cage: 2 ports on 8 lanes of 100G -> 1 port on 4 lanes of 100G";
    assert_eq!(
        replaced(&order),
        [
            "replace 64 NICs: 800G, 8 lanes, 1 cage -> 800G, 8 lanes, 2 cages".to_owned(),
            "plug in 128 modules of NICs (dr4, 4 lanes of 100G)".to_owned(),
            "remove 64 modules of NICs (dr4, 8 lanes of 100G)".to_owned(),
            format!("replace nic-t0: 128 cables of 30m dr4 with others of 30m dr4, 3840m in all; {cages}"),
        ]
    );
    let found = changes(&old, &new);
    for line in [
        "nics 64 NICs are replaced: 800G, 8 lanes, 1 cage -> 800G, 8 lanes, 2 cages".to_owned(),
        format!("cables 128 nic-t0 cables are replaced: 30m dr4 -> 30m dr4; {cages}"),
        "modules 64 modules of NICs, dr4, 8 lanes of 100G".to_owned(),
        "modules 128 modules of NICs, dr4, 4 lanes of 100G".to_owned(),
    ] {
        assert!(found.contains(&line), "{line}: {found:#?}");
    }
    // Plugs of copper cables are part of the cable.
    let copper = WorkOrder::compare(&plain(), &fabric([T0, T1], "", ", cages: 2"));
    assert!(copper.modules_changed.is_empty() && copper.jobs.len() == 128, "{}", copper.summary());
}

/// T0s already have modules of the new kind towards the NICs. The modules of their uplinks are still
/// replaced.
#[test]
fn modules_of_a_kind_that_others_have_are_replaced() {
    let of = |medium: &str| {
        let file = file([T0, T1], "", "").replace("3m, medium: dac", "30m, medium: dr4");
        plan(&file.replace(
            "t0-t1: { length: 30m, medium: dr4 }",
            &format!("t0-t1: {{ length: 30m, medium: {medium} }}"),
        ))
    };
    let order = WorkOrder::compare(&of("dr8"), &of("dr4"));
    let modules: Vec<_> = order
        .modules_changed
        .iter()
        .map(|own| (own.place, own.medium.as_str(), own.removed, own.added))
        .collect();
    let uplinks = 8 * 16;
    let expected = [
        ("T0", "dr4", 0, uplinks),
        ("T0", "dr8", uplinks, 0),
        ("T1", "dr4", 0, uplinks),
        ("T1", "dr8", uplinks, 0),
    ];
    assert_eq!(modules, expected);
}

/// If the breakout changes at both ends, the first port of a cage stays, but its cable is replaced.
#[test]
fn cables_of_another_breakout_are_replaced() {
    let old = plain();
    let t0 = T0.replace("up: 16", "up: { count: 32, breakout: 2x400G }");
    let file = file([&t0, "platform: th5-64x800g, down: { breakout: 2x400G }"], "", "");
    let new = plan(&file.replace("parallel: 4", "parallel: 8"));
    let order = WorkOrder::compare(&old, &new);
    let count = |action| order.jobs.iter().filter(|job| job.action == action).count();
    assert_eq!(count(Action::Move), 0, "{}", order.summary());
    // All 128 old cables are removed, and all 256 new ones are added.
    let (replaced, removed, added) = (count(Action::Replace), count(Action::Remove), count(Action::Add));
    assert_eq!((replaced + removed, replaced + added), (128, 256));
    assert!(replaced > 0);
    let cages = "T0 cage: 1 port on 8 lanes of 100G -> 2 ports on 8 lanes of 100G; T1 cage: 1 port on 8 lanes of 100G";
    assert!(order.summary().contains(cages), "{}", order.summary());
    assert!(changes(&old, &new).iter().any(|line| line.contains("128 t0-t1 cables are replaced")));
}

/// With more planes, the cages of NICs and T0s are split into more ports.
#[test]
fn cables_of_other_planes_are_replaced() {
    let of = |planes, breakout: &str| {
        let t0 = T0.replace("2x400G", breakout);
        plan(&file([&t0, T1], "", "").replace("planes: 2", &format!("planes: {planes}")))
    };
    let (old, new) = (of(2, "2x400G"), of(4, "4x200G"));
    let order = WorkOrder::compare(&old, &new);
    let count =
        |action, kind| order.jobs.iter().filter(|job| (job.action, job.kind) == (action, kind)).count();
    // The 64 NICs have a cable in each of two planes. Four T0 ports now share a cage that had two, so half of
    // the cables also move.
    let (replaced, removed) = (count(Action::Replace, "nic-t0"), count(Action::Remove, "nic-t0"));
    assert_eq!(replaced + removed, 128, "{}", order.summary());
    assert_eq!(count(Action::Add, "nic-t0"), 256 - replaced);
    assert!(order.nics_replaced.is_empty());
    assert!(order.summary().contains("NIC cage: 2 ports on 8 lanes of 100G -> 4 ports on 8 lanes"));
}

/// If a new cable uses a free port of a cage, the other cables of the cage are not replaced.
#[test]
fn more_cables_in_the_same_cages_replace_none() {
    let of = |nics: u16| {
        let t0 = T0.replace("count: 16", &format!("count: {nics}"));
        let file = file([&t0, T1], "", "");
        plan(&file.replace("per_group: 16, nics_per_node: 4", &format!("per_group: {nics}")))
    };
    let order = WorkOrder::compare(&of(15), &of(16));
    assert!(order.jobs.iter().all(|job| job.action == Action::Add), "{}", order.summary());
    assert!(order.modules_changed.is_empty() && order.nics_replaced.is_empty());
}

/// If the lanes of the ports at its ends change, a cable is replaced, even if the switches at both ends are
/// also replaced.
#[test]
fn cables_of_other_lanes_are_replaced() {
    let of = |platform: &str, lanes: u8| {
        plan(&format!(
            "fabric: s\nrouting: bgp-unnumbered\nplanes: 1\n\
             hosts: {{ groups: 4, per_group: 16, nics_per_node: 4, nic: {{ speed: 400G, lanes: {lanes} }} }}\n\
             tiers:\n  t0: {{ platform: {platform}, os: sonic, down: {{ count: 16, breakout: {0} }}, \
             up: {{ count: 8, breakout: {0} }} }}\n  t1: {{ platform: {platform}, os: sonic, down: {{ breakout: {0} }} }}\n\
             cables: {{ t0-t1: {{ length: 30m, medium: dr4 }}, nic-t0: {{ length: 2m, medium: dac }} }}\nqos: none\n",
            if lanes == 8 { "1x400G" } else { "2x400G" }
        ))
    };
    let order = WorkOrder::compare(&of("th4-64x400g", 8), &of("th5-64x800g", 4));
    let replaced = order.jobs.iter().filter(|job| job.action == Action::Replace).count();
    assert_eq!((replaced, order.jobs.len()), (64 + 32, 96), "{}", order.summary());
    let modules: Vec<_> =
        order.modules_changed.iter().map(|own| (own.place, own.removed, own.added)).collect();
    assert_eq!(modules, [("T0", 32, 0), ("T0", 0, 16), ("T1", 32, 0), ("T1", 0, 16)]);
}

#[test]
fn a_report_counts_what_is_replaced() {
    let old = plain();
    let found = changes(&old, &fabric([T0, "platform: arista-7060x6-64de"], "", ""));
    assert!(
        found.contains(&"switches 8 T1s are replaced: `th5-64x800g` -> `arista-7060x6-64de`".to_owned()),
        "{found:#?}"
    );
    let longer = plan(&file([T0, T1], "", "").replace("30m", "50m"));
    let found = changes(&old, &longer);
    assert!(
        found.contains(&"cables 128 t0-t1 cables are replaced: 30m dr4 -> 50m dr4".to_owned()),
        "{found:#?}"
    );
}

/// Replaced cables and moved ends do not count as replugged into the new switches.
#[test]
fn replugged_cables_are_those_that_stay() {
    let of = |platform: &str, lanes: u8, breakout: &str, addresses: &str| {
        plan(&format!(
            "fabric: s\nrouting: ecmp-static\nplanes: 1\n\
             hosts: {{ groups: 4, per_group: 16, nics_per_node: 4, nic: {{ speed: 400G, lanes: {lanes} }} }}\n\
             tiers:\n  t0: {{ platform: {platform}, os: sonic, down: {{ count: 16, breakout: {breakout} }}, \
             up: {{ count: 8, breakout: {breakout} }} }}\n  t1: {{ platform: {platform}, os: sonic, down: {{ breakout: {breakout} }} }}\n\
             cables: {{ t0-t1: {{ length: 30m, medium: dr4 }}, nic-t0: {{ length: 2m, medium: dac }} }}\nqos: none\n{addresses}"
        ))
    };
    let (old, new) = (of("th4-64x400g", 8, "1x400G", ""), of("th5-64x800g", 4, "2x400G", ""));
    let order = WorkOrder::compare(&old, &new);
    let counts: Vec<_> = order.switches_replaced.iter().map(|own| (own.switches, own.cables)).collect();
    assert_eq!(counts, [(4, 0), (8, 0)]);
    let text = order.summary();
    assert!(text.contains("replace 4 T0s: `th4-64x400g` -> `th5-64x800g`\n"), "{text}");
    assert!(!text.contains("replug"), "{text}");
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    let switches = report.changes.iter().filter(|line| line.subject == "switches");
    assert!(switches.clone().count() == 2 && switches.clone().all(|line| line.warning.is_none()));
    // One half of the cables moves, so that only the other half is replugged.
    let old = plain();
    let t1 = "platform: arista-7060x6-64de, down: { first_cage: 40 }";
    let order = WorkOrder::compare(&old, &fabric([T0, t1], "", ""));
    let jobs = order.jobs.iter().filter(|job| job.action == Action::Replug).count() as u64;
    assert_eq!(order.switches_replaced.iter().map(|own| own.cables).sum::<u64>(), jobs);
}

/// Larger hardware renumbers IPv4 addresses. That does not hide that switches are replaced.
#[test]
fn replaced_switches_are_a_reason_beside_other_addresses() {
    let of = |platforms: [&str; 2]| {
        plan(&format!(
            "fabric: s\nrouting: ecmp-static\nplanes: 1\n\
             hosts: {{ groups: 4, per_group: 16, nics_per_node: 4, nic: {{ speed: 400G }} }}\n\
             tiers:\n  t0: {{ platform: {}, os: sonic, down: {{ count: 16, breakout: 1x400G }}, \
             up: {{ count: 4, breakout: 1x400G }} }}\n  t1: {{ platform: {}, os: sonic, down: {{ breakout: 1x400G }} }}\nqos: none\n\
             addresses: {{ hosts: 10.0.0.0/16, links: 100.64.0.0/10, loopbacks: 192.168.0.0/20 }}\n",
            platforms[0], platforms[1]
        ))
    };
    let old = of(["th3-32x400g", "th3-32x400g"]);
    let new = of(["th4-64x400g", "th3-32x400g"]);
    let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
    let steps = report.rollout.expect("plans have one").steps;
    assert!(steps.iter().any(|step| step.contains("has another width")), "{steps:#?}");
    let replaced = "not hitless, drain plane by plane (T0): switches are replaced";
    assert!(steps.iter().any(|step| step == replaced), "{steps:#?}");
}

/// Without ECN, no threshold follows the delay of the longest path.
#[test]
fn thresholds_are_named_if_there_are_some() {
    let steps = |qos: &str| {
        let of =
            |length: &str| plan(&file([T0, T1], "", "").replace("30m", length).replace("qos: none", qos));
        let (old, new) = (of("30m"), of("500m"));
        let report = Report::of_plans((&old, side("old")), (&new, side("new")), Options::default());
        report.rollout.expect("plans have one").steps.join("\n")
    };
    let (none, marked) = (steps("qos: none"), steps("qos: lossy-trim"));
    assert!(none.ends_with("a cable is down while it is replaced"), "{none}");
    assert!(marked.contains("ECN thresholds of switches follow the longest path"), "{marked}");
}

/// `diff` and `grow` count the same cables as replaced. A port of another breakout has another name, unless it begins
/// with the same lane.
#[test]
fn cables_of_another_breakout_are_in_other_ports() {
    let of = |nic: &str, breakout: &str| {
        let text = file([&T0.replace("2x400G", breakout), T1], "", "");
        plan(&text.replace("nic: { speed: 800G }", nic))
    };
    let (old, new) =
        (of("nic: { speed: 400G, lanes: 4 }", "4x200G"), of("nic: { speed: 800G, lanes: 8 }", "2x400G"));
    let order = WorkOrder::compare(&old, &new);
    let count = |action| order.jobs.iter().filter(|job| job.action == action).count();
    let port = |plan: &Plan, link| plan.cable_ends(link).upper.1;
    let hosts = || old.fabric().links().filter(|link| matches!(link, closc_topology::Link::Host(_)));
    let renamed = hosts().filter(|link| port(&old, *link) != port(&new, *link)).count();
    assert_eq!((hosts().count(), renamed), (128, 120));
    assert_eq!((count(Action::Replace), count(Action::Remove), count(Action::Add)), (8, 120, 120));
    let text = order.summary();
    assert!(
        text.contains(
            "128 cables are replaced: 8 in the same ports, 120 in other ports (removed and added)\n"
        ),
        "{text}"
    );
    let found = changes(&old, &new);
    let line = "cables 128 nic-t0 cables are replaced, 120 in other ports: 3m dac -> 3m dac; ";
    assert!(found.iter().any(|found| found.starts_with(line)), "{found:#?}");
}
