//! Neighbour reports, generated from the plan and then changed. The findings must name exactly the changes.

use std::collections::{BTreeMap, BTreeSet};

use closc_cabling::{Device, Finding, Judge, Neighbour, Report, Sighting};
use closc_plan::Plan;
use closc_topology::Link;
use proptest::prelude::*;

/// A port, as device and port name.
type Port = (String, String);

fn lab() -> Plan {
    closc_tests::shape::plan(include_str!("../../../../topologies/lab/eight-planes.yaml"))
}

/// Connections, in both directions.
type Cabling = BTreeMap<Port, Port>;

fn planned_cabling(plan: &Plan) -> Cabling {
    let mut cabling = Cabling::new();
    for link in plan.fabric().links() {
        let (a, b) = ends(plan, link);
        connect(&mut cabling, a, b);
    }
    cabling
}

fn ends(plan: &Plan, link: Link) -> (Port, Port) {
    let ends = plan.cable_ends(link);
    let port =
        |(device, port): (smol_str::SmolStr, smol_str::SmolStr)| (device.to_string(), port.to_string());
    (port(ends.lower), port(ends.upper))
}

fn connect(cabling: &mut Cabling, a: Port, b: Port) {
    cabling.insert(a.clone(), b.clone());
    cabling.insert(b, a);
}

/// Compares reports in which each neighbour describes itself with the given function.
fn compare(
    plan: &Plan,
    cabling: &Cabling,
    reporting: &BTreeSet<Device>,
    describe: impl Fn(&Port) -> Neighbour,
) -> Report {
    let mut seen: BTreeMap<Device, Vec<Sighting>> = BTreeMap::new();
    for ((device, port), far) in cabling {
        let device = Device::find(plan, device).expect("a device of the plan");
        let sighting =
            Sighting { port: port.clone(), neighbours: vec![describe(far)], ..Sighting::default() };
        seen.entry(device).or_default().push(sighting);
    }
    let mut judge = Judge::new(plan);
    for device in reporting {
        judge.device(*device, seen.get(device).map_or(&[][..], Vec::as_slice));
    }
    judge.finish()
}

fn all(plan: &Plan) -> BTreeSet<Device> {
    let switches = plan.switches().map(Device::Switch);
    switches.chain(plan.nodes().map(Device::Node)).collect()
}

fn full((device, port): &Port) -> Neighbour {
    Neighbour { system: Some(device.clone()), chassis: None, ports: vec![port.clone()] }
}

/// A neighbour that sends its name with a domain, but no port.
fn by_device((device, _): &Port) -> Neighbour {
    Neighbour {
        system: Some(format!("{device}.pod.example")),
        chassis: None,
        ports: vec!["52:54:00:12:34:56".to_owned()],
    }
}

fn names(finding: &Finding) -> Vec<&str> {
    match finding {
        Finding::Exchanged { cables, .. } | Finding::Wrong { instead_of: cables, .. } => {
            cables.iter().map(|cable| cable.name.as_str()).collect()
        }
        Finding::Missing { cable, .. } | Finding::OneWay { cable, .. } => vec![&cable.name],
        other => panic!("a finding without cables: {other:?}"),
    }
}

#[test]
fn cabling_as_planned_has_no_findings() {
    let plan = lab();
    let (cabling, all) = (planned_cabling(&plan), all(&plan));
    let cables = plan.fabric().links().count() as u64;
    let report = compare(&plan, &cabling, &all, full);
    assert_eq!((report.findings.len(), report.cables, report.by_device_only), (0, cables, 0));
    let report = compare(&plan, &cabling, &all, by_device);
    assert_eq!((report.findings.len(), report.cables, report.by_device_only), (0, cables, cables));
    let switches: BTreeSet<Device> = plan.switches().map(Device::Switch).collect();
    let report = compare(&plan, &cabling, &switches, full);
    assert_eq!((report.findings.len(), report.cables), (0, cables), "the switches report every cable");
}

#[test]
fn neighbours_without_a_name_are_ignored_and_counted() {
    let plan = lab();
    let mac = |_: &Port| Neighbour { chassis: Some("52:54:00:12:34:56".to_owned()), ..Neighbour::default() };
    let report = compare(&plan, &planned_cabling(&plan), &all(&plan), mac);
    assert_eq!((report.findings.len(), report.cables), (0, 0));
    assert_eq!(report.nameless, 2 * plan.fabric().links().count() as u64);
}

#[test]
fn one_matching_neighbour_of_several_is_enough() {
    let plan = lab();
    let cabling = planned_cabling(&plan);
    let device = Device::Switch(plan.switches().next().expect("there is a switch"));
    let sightings: Vec<Sighting> = cabling
        .iter()
        .filter(|((name, _), _)| Device::find(&plan, name) == Some(device))
        .map(|((_, port), far)| {
            let stray = Neighbour {
                system: Some("p1-t1-001".to_owned()),
                chassis: None,
                ports: vec!["x".to_owned()],
            };
            Sighting { port: port.clone(), neighbours: vec![stray, full(far)], ..Sighting::default() }
        })
        .collect();
    let mut judge = Judge::new(&plan);
    judge.device(device, &sightings);
    let report = judge.finish();
    assert_eq!((report.findings.len(), report.cables), (0, sightings.len() as u64));
}

#[test]
fn a_cable_between_planes_is_reported_as_such() {
    let plan = lab();
    let mut cabling = planned_cabling(&plan);
    let mut uplinks = plan.fabric().links().filter(|link| matches!(link, Link::Fabric { .. }));
    let one = uplinks.next().expect("there are uplinks");
    let other = uplinks.find(|link| link.plane() != one.plane()).expect("there are planes");
    let ((a, b), (c, d)) = (ends(&plan, one), ends(&plan, other));
    connect(&mut cabling, a, d);
    connect(&mut cabling, c, b);
    let report = compare(&plan, &cabling, &all(&plan), full);
    assert_eq!(report.findings.len(), 1);
    assert!(report.findings[0].to_string().starts_with("swapped: "), "{}", report.findings[0]);
    assert!(report.findings[0].to_string().ends_with("this connects two planes"), "{}", report.findings[0]);
}

#[test]
fn a_cable_at_a_port_of_an_absent_cable_is_found() {
    let text = include_str!("../../../../topologies/lab/eight-planes.yaml");
    let plan = closc_tests::shape::plan(text);
    let link = plan.link_name(plan.fabric().links().last().expect("there are cables"));
    let text = format!("{text}\nexceptions: {{ absent: [{link}] }}\n");
    let less = closc_tests::shape::try_plan(&text).expect("an absent cable is allowed");
    let report = compare(&less, &planned_cabling(&plan), &all(&less), full);
    assert_eq!(report.findings.len(), 1, "{}", report.text(10, true));
    assert!(report.findings[0].to_string().starts_with("wrong: "), "{}", report.text(10, true));
}

/// Kinds of wrong cabling.
#[derive(Debug, Clone)]
enum Damage {
    Pulled,
    Swapped,
    Rotated,
    Crossed,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_is_named_exactly(
        damage in prop_oneof![Just(Damage::Pulled), Just(Damage::Swapped), Just(Damage::Rotated), Just(Damage::Crossed)],
        picks in proptest::sample::subsequence((0_usize..64).collect::<Vec<_>>(), 3),
        only_switches in any::<bool>(),
    ) {
        let plan = lab();
        let mut cabling = planned_cabling(&plan);
        let links: Vec<Link> = plan.fabric().links().collect();
        let picked: Vec<Link> = picks.iter().map(|at| links[at * links.len() / 64]).collect();
        let plugs: Vec<(Port, Port)> = picked.iter().map(|link| ends(&plan, *link)).collect();
        let damaged = match damage {
            Damage::Pulled => {
                cabling.remove(&plugs[0].0);
                cabling.remove(&plugs[0].1);
                1
            }
            Damage::Swapped => {
                connect(&mut cabling, plugs[0].0.clone(), plugs[1].1.clone());
                connect(&mut cabling, plugs[1].0.clone(), plugs[0].1.clone());
                2
            }
            Damage::Rotated => {
                for at in 0..3 {
                    connect(&mut cabling, plugs[at].0.clone(), plugs[(at + 1) % 3].1.clone());
                }
                3
            }
            // Connects upper ends with each other, and lower ends with each other.
            Damage::Crossed => {
                connect(&mut cabling, plugs[0].0.clone(), plugs[1].0.clone());
                connect(&mut cabling, plugs[0].1.clone(), plugs[1].1.clone());
                2
            }
        };
        let reporting: BTreeSet<Device> = if only_switches {
            plan.switches().map(Device::Switch).collect()
        } else {
            all(&plan)
        };
        // If two NICs are connected with each other, no switch reports it.
        let hidden = matches!(damage, Damage::Crossed)
            && only_switches
            && picked[..2].iter().all(|link| matches!(link, Link::Host(_)));
        prop_assume!(!hidden);
        let report = compare(&plan, &cabling, &reporting, full);
        prop_assert_eq!(report.findings.len(), 1, "{}", report.text(10, true));
        let mut expected: Vec<String> = picked[..damaged].iter().map(|link| plan.link_name(*link)).collect();
        expected.sort();
        let mut found = names(&report.findings[0]);
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}

/// A fabric whose panels have more ports than it uses.
fn spacious() -> Plan {
    closc_tests::shape::try_plan(
        "fabric: m1\nplanes: 2\nhosts: { groups: 3, per_group: 4, nic: { speed: 400G, lanes: 2 } }\n\
         tiers:\n  t0: { platform: spectrum4-sn5600-256x200g, up: 4 }\n  t1: { platform: spectrum4-sn5600-256x200g }\nqos: none\n",
    )
    .expect("it is a fabric")
}

fn port(device: &str, port: &str) -> Port {
    (device.to_owned(), port.to_owned())
}

/// Returns the findings after a change of connections.
fn judge_change(change: impl FnOnce(&mut Cabling)) -> (Vec<String>, Report) {
    let plan = spacious();
    let mut cabling = planned_cabling(&plan);
    change(&mut cabling);
    let report = compare(&plan, &cabling, &all(&plan), full);
    (report.findings.iter().map(ToString::to_string).collect(), report)
}

#[test]
fn a_cable_between_ports_that_are_not_in_use_is_wrong() {
    let across = |cabling: &mut Cabling| {
        connect(cabling, port("p0-t0-001", "Ethernet8"), port("p1-t1-001", "Ethernet300"));
    };
    let (findings, report) = judge_change(across);
    assert_eq!(
        findings,
        ["wrong: p0-t0-001 Ethernet8 -- p1-t1-001 Ethernet300 is connected; this connects two planes"]
    );
    assert_eq!((report.cables, report.other_interfaces), (48, 0));
    let within = |cabling: &mut Cabling| {
        let far = cabling[&port("p0-t0-001", "Ethernet0")].clone();
        cabling.remove(&port("p0-t0-001", "Ethernet0"));
        connect(cabling, port("p0-t0-001", "Ethernet8"), far);
    };
    let (findings, report) = judge_change(within);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("wrong: ") && findings[0].contains("; planned: "), "{findings:?}");
    assert_eq!(report.cables, 47);
}

#[test]
fn a_foreign_device_at_an_unused_port_is_unplanned() {
    let printer = |cabling: &mut Cabling| {
        cabling.insert(port("p0-t0-001", "Ethernet8"), port("printer", "eth0"));
        cabling.insert(port("p0-t0-001", "eth0"), port("management", "1"));
    };
    let (findings, report) = judge_change(printer);
    assert_eq!(findings, ["unplanned: p0-t0-001 Ethernet8 is unused, but has neighbour printer eth0"]);
    assert_eq!((report.cables, report.other_interfaces), (48, 1));
}

#[test]
fn a_port_that_reports_itself_lists_its_cable_once() {
    let (findings, report) = judge_change(|cabling| {
        cabling.insert(port("p0-t1-001", "Ethernet0"), port("p0-t1-001", "Ethernet0"));
    });
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].matches("p0-t0-001--p0-t1-001").count(), 1, "{findings:?}");
    assert_eq!(report.cables, 47);
}

#[test]
fn case_of_host_names_is_ignored() {
    let plan = spacious();
    let loud = |(device, port): &Port| Neighbour {
        system: Some(format!("{}.Pod.Example", device.to_uppercase())),
        chassis: None,
        ports: vec![port.clone()],
    };
    let report = compare(&plan, &planned_cabling(&plan), &all(&plan), loud);
    assert_eq!((report.findings.len(), report.cables), (0, 48), "{}", report.text(10, true));
}

#[test]
fn neighbours_of_a_port_that_is_down_are_ignored() {
    let plan = spacious();
    let device = Device::find(&plan, "p0-t0-001").expect("a switch of the plan");
    let sightings: Vec<Sighting> = planned_cabling(&plan)
        .iter()
        .filter(|((name, _), _)| name == "p0-t0-001")
        .map(|((_, port), far)| Sighting {
            port: port.clone(),
            neighbours: vec![full(far)],
            is_down: port == "Ethernet0",
            ..Sighting::default()
        })
        .collect();
    let mut judge = Judge::new(&plan);
    judge.device(device, &sightings);
    let report = judge.finish();
    assert_eq!((report.findings.len(), report.cables), (1, sightings.len() as u64 - 1));
    assert!(report.findings[0].to_string().ends_with("p0-t0-001 Ethernet0, and the port is down"));
}

/// One T0 reports two swapped cables and silent hosts. That gives two causes instead of one line per port.
#[test]
fn findings_are_grouped_by_their_cause() {
    let plan = spacious();
    let mut cabling = planned_cabling(&plan);
    let device = "p0-t0-001";
    let ports: Vec<(Port, Port)> = cabling
        .iter()
        .filter(|((name, _), (far, _))| name == device && far.contains("t1"))
        .map(|(port, far)| (port.clone(), far.clone()))
        .collect();
    let [(a, far_a), (b, far_b)] = &ports[..2] else { panic!("{ports:?}") };
    cabling.insert(a.clone(), far_b.clone());
    cabling.insert(b.clone(), far_a.clone());
    cabling.retain(|_, (far, _)| !far.starts_with("su"));
    let reporting = BTreeSet::from([Device::find(&plan, device).expect("a switch of the plan")]);
    let cabling = cabling.into_iter().filter(|((name, _), _)| name == device).collect();
    let report = compare(&plan, &cabling, &reporting, full);
    let text = report.text(10, false);
    assert!(report.findings.len() > 2, "{text}");
    assert_eq!(report.causes.len(), 2, "{text}");
    assert!(report.causes[0].certain && report.causes[0].text.starts_with("swapped: "), "{text}");
    assert!(report.causes[0].text.contains(&format!("swap {} and {} of {device}", a.1, b.1)), "{text}");
    assert!(!report.causes[1].certain && report.causes[1].text.starts_with("hosts send no LLDP"), "{text}");
    let explained: usize = report.causes.iter().map(|cause| cause.findings.len()).sum();
    assert_eq!(explained, report.findings.len());
}
