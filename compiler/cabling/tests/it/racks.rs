//! Rack positions in lists. Every key of `racks` has an effect, no two devices share a unit, and growth does not move
//! devices.

use std::collections::{BTreeMap, BTreeSet};

use closc_cabling::list::{self, Form, LabelPattern};
use closc_plan::Plan;
use closc_topology::RackPlace;

fn plan(edit: &dyn Fn(String) -> String) -> Plan {
    let text = include_str!("../../../../topologies/examples/racks.yaml").replace("groups: 64", "groups: 16");
    closc_tests::shape::plan(&edit(text))
}

/// Returns all lists with rack positions.
fn lists(plan: &Plan) -> Vec<String> {
    let planes: Vec<_> = plan.planes().collect();
    let labels: LabelPattern =
        "{rack} U{unit} {port} > {far_rack} U{far_unit} {far_port}".parse().expect("a pattern");
    assert_eq!(labels.tier_without_racks(plan.topology()), None);
    vec![
        list::devices(plan, &planes),
        list::racks(plan, &planes).expect("the file has racks"),
        list::device_types(plan),
        Form::PointToPoint.render(plan, planes[0], &labels),
        Form::NetBox.render(plan, planes[0], &labels),
    ]
}

#[test]
fn every_field_of_racks_has_an_effect() {
    let base = lists(&plan(&|text| text));
    // Each key, with the line before and after the change.
    let changes = [
        ("height", "height: 48", "height: 47"),
        ("t0.name", "A{rack:02}-NET", "B{rack:02}-NET"),
        ("t0.per_rack", "per_rack: 4, first_unit: 5", "per_rack: 2, first_unit: 5"),
        ("t0.first_unit", "first_unit: 5", "first_unit: 6"),
        ("t0.units", "first_unit: 5", "first_unit: 5, units: 2, face: rear"),
        ("t1.per_row", "per_row: 8", "per_row: 2"),
        ("t1.name", "R{row:02}.{rack}-P{plane}", "R{row:02}_{rack}-P{plane}"),
        ("t1.units", "per_row: 8", "per_row: 8, units: 3"),
        ("hosts.units", "units: 4", "units: 5"),
        ("hosts.face", "face: rear", "face: front"),
        ("hosts.per_rack", "per_rack: 8, units", "per_rack: 7, units"),
    ];
    for (leaf, before, after) in changes {
        let changed = lists(&plan(&|text| {
            assert!(text.contains(before), "{leaf}");
            text.replacen(before, after, 1)
        }));
        assert_ne!(base, changed, "{leaf}");
    }
}

/// Returns every device with its rack position.
fn places(plan: &Plan) -> BTreeMap<String, RackPlace> {
    let topology = plan.topology();
    let switches = plan.switches().map(|own| (plan.switch_name(own).to_string(), topology.switch_place(own)));
    let nodes = plan.nodes().map(|own| (plan.node_name(own).to_string(), topology.node_place(own)));
    switches.chain(nodes).map(|(name, place)| (name, place.expect("all kinds have racks"))).collect()
}

#[test]
fn no_two_devices_share_a_unit_and_growth_moves_no_device() {
    let small = places(&plan(&|text| text));
    let mut taken = BTreeSet::new();
    for (name, place) in &small {
        for unit in place.unit..place.unit + u32::from(place.units) {
            assert!((1..=48).contains(&unit), "{name}: {place:?}");
            assert!(taken.insert((place.rack.clone(), unit)), "{name}: {place:?}");
        }
    }
    let large = places(&plan(&|text| {
        text.replace("groups: 16", "groups: 32").replace("per_group: 64", "per_group: 65")
    }));
    assert!(large.len() > small.len());
    for (name, place) in &small {
        assert_eq!(large.get(name), Some(place), "{name}");
    }
}

#[test]
fn labels_with_racks_need_racks_in_the_file() {
    let without = closc_tests::shape::plan(include_str!("../../../../topologies/examples/minimal.yaml"));
    let labels = |text: &str| text.parse::<LabelPattern>().expect("a pattern");
    assert_eq!(labels("{rack}").tier_without_racks(without.topology()), Some("t0"));
    assert_eq!(labels("{far_unit} {port}").tier_without_racks(without.topology()), Some("t0"));
    assert_eq!(labels(LabelPattern::DEFAULT).tier_without_racks(without.topology()), None);
    assert_eq!(list::racks(&without, &[]), None);
    let hosts =
        plan(&|text| text.split_inclusive('\n').filter(|line| !line.starts_with("  hosts: {")).collect());
    assert_eq!(labels("{rack}").tier_without_racks(hosts.topology()), Some("hosts"));
}

#[test]
fn a_row_contains_both_ends_and_the_bundle() {
    let plan = plan(&|text| text);
    let labels: LabelPattern = "{rack} U{unit} > {far_rack} U{far_unit}".parse().expect("a pattern");
    let plane = plan.planes().next().expect("a plane");
    let text = Form::PointToPoint.render(&plan, plane, &labels);
    let mut lines = csv_rows(&text);
    let first = lines.next().expect("a cable");
    assert_eq!(
        (&*first["a_rack"], &*first["a_unit"], &*first["b_rack"], &*first["b_unit"]),
        ("A01-1", "3", "A01-NET", "5")
    );
    assert_eq!((&*first["a_label"], &*first["bundle"]), ("A01-1 U3 > A01-NET U5", "p0: A01-1 > A01-NET"));
    let last = csv_rows(&text).last().expect("a cable");
    assert_eq!(
        (&*last["a_rack"], &*last["a_unit"], &*last["b_rack"], &*last["b_unit"]),
        ("A04-NET", "11", "R01.4-P0", "31")
    );
    assert_eq!(
        list::device_types(&plan),
        "manufacturer,model,slug,u_height\nclosc,node,node,4\nclosc,th5-512x100g,th5-512x100g,2\n"
    );
    assert!(
        list::devices(&plan, &[plane])
            .contains("p0-t0-002,t0,closc,th5-512x100g,planned,racks,A01-NET,7,front\n")
    );
    assert!(
        list::racks(&plan, &[plane]).is_some_and(|racks| racks.contains("racks,R01.4-P0,planned,19,48\n"))
    );
}

fn csv_rows(text: &str) -> impl Iterator<Item = BTreeMap<String, String>> + '_ {
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().expect("a head").split(',').collect();
    lines.map(move |line| {
        let cells = line.split(',').map(|cell| cell.trim_matches('"').to_owned());
        heads.iter().map(|head| (*head).to_owned()).zip(cells).collect()
    })
}
